//! The token domains of Linux's kyber (block/kyber-iosched.c): each kind of request has tokens and
//! a turn of its own. Kyber also takes tokens away from a domain that makes latencies miss their
//! targets; that part is not modelled, so these are its bounds without load.

use super::{Dispatcher, Tags};
use crate::request::{Op, Request};
use crate::units::Nanos;
use std::collections::VecDeque;

/// By [`Op`] number: tokens, and requests in one turn.
const DOMAINS: [(u32, u32); 4] = [(256, 16), (128, 8), (16, 1), (64, 1)];

#[derive(Debug, Default)]
struct Domain {
    waiting: VecDeque<Request>,
    out: u32,
}

/// Four domains over one pool of tags, three quarters of which writes may hold.
#[derive(Debug)]
pub struct Domains {
    tags: Tags,
    domains: [Domain; 4],
    turn: usize,
    batched: u32,
}

impl Domains {
    /// Over `tags` tags, at least one.
    pub fn new(tags: u32) -> Self {
        Self { tags: Tags::new(tags), domains: Default::default(), turn: 0, batched: 0 }
    }

    fn limit(&self, domain: usize) -> u32 {
        let tokens = DOMAINS[domain].0;
        if domain == Op::Read as usize {
            tokens
        } else {
            tokens.min((self.tags.all * 3 / 4).max(1))
        }
    }
}

impl Dispatcher for Domains {
    fn queue(&mut self, request: Request, _: Nanos) {
        self.domains[request.op as usize].waiting.push_back(request);
    }

    fn release(&mut self, _: Nanos) -> Option<Request> {
        if !self.tags.any_free() {
            return None;
        }
        // The domain whose turn it is may come a second time, after all others had nothing.
        for _ in 0..=DOMAINS.len() {
            let limit = self.limit(self.turn);
            let domain = &mut self.domains[self.turn];
            if self.batched < DOMAINS[self.turn].1
                && domain.out < limit
                && let Some(request) = domain.waiting.pop_front()
            {
                domain.out += 1;
                self.tags.take();
                self.batched += 1;
                return Some(request);
            }
            (self.turn, self.batched) = ((self.turn + 1) % DOMAINS.len(), 0);
        }
        None
    }

    fn complete(&mut self, op: Op) {
        let out = &mut self.domains[op as usize].out;
        debug_assert!(*out > 0, "more requests completed than released");
        *out -= 1;
        self.tags.put_back();
    }
}
