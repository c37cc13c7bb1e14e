//! Several threads' sources as one, for a target that all of them share and one thread drives: a
//! modelled machine.

use super::{Next, Source};
use crate::request::{Completion, Request};
use crate::units::Nanos;

/// One source and what it has outstanding.
#[derive(Debug)]
struct Member<S> {
    source: S,
    depth: u32,
    outstanding: u32,
    /// It has no more requests.
    ended: bool,
}

/// Takes turns among sources, each with a bound of its own on what it has outstanding, and a
/// submission queue of its own. The sources' own `id`s are not kept: they name the member here.
#[derive(Debug)]
pub struct Together<S> {
    members: Vec<Member<S>>,
    turn: usize,
}

impl<S: Source> Together<S> {
    /// All of `sources`, each with the most requests it may have outstanding.
    pub fn new(sources: impl IntoIterator<Item = (S, u32)>) -> Self {
        let member = |(source, depth)| Member { source, depth, outstanding: 0, ended: false };
        Self { members: sources.into_iter().map(member).collect(), turn: 0 }
    }

    /// The most requests all may have outstanding together.
    pub fn depth(&self) -> u32 {
        self.members.iter().map(|member| member.depth).sum()
    }
}

impl<S: Source> Source for Together<S> {
    fn next(&mut self, now: Nanos) -> Next {
        let mut earliest = None;
        for step in 0..self.members.len() {
            let index = (self.turn + step) % self.members.len();
            let member = &mut self.members[index];
            if member.ended {
                continue;
            }
            // A completion of its own lets it go on.
            if member.outstanding == member.depth {
                earliest = earliest.or(Some(Nanos::MAX));
                continue;
            }
            match member.source.next(now) {
                Next::Request(mut request) => {
                    member.outstanding += 1;
                    request.id = index as u32;
                    request.queue = index as u16;
                    self.turn = index + 1;
                    return Next::Request(request);
                }
                Next::NotBefore(at) => {
                    earliest = Some(earliest.map_or(at, |e: Nanos| e.min(at)));
                }
                Next::Done => member.ended = true,
            }
        }
        earliest.map_or(Next::Done, Next::NotBefore)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.members[request.id as usize].source.submitted(request, at);
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        let member = &mut self.members[request.id as usize];
        member.outstanding -= 1;
        member.source.completed(request, submitted, completion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Unlimited;
    use crate::engine::{Bounds, Control, run_source};
    use crate::request::Op;
    use crate::target::{Fixed, Served};
    use crate::workload::{Generator, Pattern, Workload};

    #[test]
    fn every_thread_keeps_its_own_depth_and_its_own_place() {
        let mut workload = Workload::closed(Pattern::Sequential, 100, 4096, 2, 1 << 30);
        workload.threads = 3;
        workload.requests = 100;
        workload.runtime_ns = Nanos::ZERO;
        let threads = (0..workload.threads).map(|t| (Generator::new(&workload, t), 2));
        let mut source = Together::new(threads);
        let mut seen = Vec::new();
        let mut target = Fixed::new(1, |request| {
            seen.push(request.offset);
            Served::whole(request, Nanos::from_micros(10))
        });
        let bounds = Bounds { depth: source.depth(), ..Bounds::of(&workload) };
        let control = Control::default();
        let measured =
            run_source(&mut source, bounds, &mut target, &mut Unlimited::default(), &control)
                .expect("nothing fails");
        assert_eq!(measured.op(Op::Read).requests, 300, "each thread has 100");
        assert_eq!(measured.elapsed, Nanos::from_micros(3000), "one server for all of them");
        let share = (1 << 30) / 3 / 4096 * 4096;
        for thread in 0..3 {
            let from = thread * share;
            let own: Vec<u64> =
                seen.iter().copied().filter(|at| (from..from + 409_600).contains(at)).collect();
            let expected: Vec<u64> = (0..100).map(|i| from + i * 4096).collect();
            assert_eq!(own, expected, "thread {thread} reads its own share in order");
        }
    }
}
