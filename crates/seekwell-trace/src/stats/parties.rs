//! The same few numbers for each device and each process.

use super::document::Party;
use super::ratio::share;
use super::seen::{Reads, Seen};
use super::sum::{sums, total};
use crate::record::Fields;
use seekwell_io::request::Op;
use std::collections::BTreeMap;

/// Parties shown.
const SHOWN: usize = 64;

sums! {
    /// Numbers of one party.
    struct Counted {
        requests: [u64; 4],
        bytes: [u64; 4],
        sequential: u64,
        timed: u64,
        latency_ns: u128,
    }
}

impl Reads for Counted {
    const FIELDS: Fields = Fields::LENGTH;
}

impl Counted {
    /// A request, and where known how long it took.
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>, sequential: bool, took_ns: Option<u64>) {
        let op = record.op() as usize;
        self.requests[op] += 1;
        self.bytes[op] += u64::from(record.len());
        self.sequential += u64::from(sequential);
        if let Some(ns) = took_ns {
            self.timed += 1;
            self.latency_ns += u128::from(ns);
        }
    }
}

/// Processes counted separately on one device.
const RECENT: usize = 16;

/// Where the last request of each of the last processes on a device ended, the latest first.
#[derive(Debug, Default)]
pub(super) struct Ends(Vec<(u32, u64)>);

impl Reads for Ends {
    const FIELDS: Fields = Fields::PROCESS.and(Fields::OFFSET).and(Fields::LENGTH);
}

impl Ends {
    /// Whether a request begins where the one before it, of this process on this device, ended.
    #[inline]
    pub fn follows(&mut self, record: &Seen<Self>) -> bool {
        if !matches!(record.op(), Op::Read | Op::Write) || record.len() == 0 {
            return false;
        }
        let process = record.process();
        let at = self.0.iter().position(|(known, _)| *known == process);
        let at = at.unwrap_or_else(|| {
            self.0.truncate(RECENT - 1);
            self.0.push((process, u64::MAX));
            self.0.len() - 1
        });
        self.0[..=at].rotate_right(1);
        std::mem::replace(&mut self.0[0].1, record.end()) == record.offset()
    }
}

/// The busiest first; what is sequential where that was looked at.
pub(super) fn parties(all: &BTreeMap<String, Counted>, in_order: bool) -> Vec<Party> {
    let of_all = all.values().fold(0_u64, |sum, c| sum.saturating_add(total(&c.requests)));
    let one = |(name, c): (&String, &Counted)| {
        let requests = total(&c.requests);
        let of = |op: Op| c.requests[op as usize];
        Party {
            name: name.clone(),
            requests,
            share: share(requests, of_all).unwrap_or(0.0),
            reads: of(Op::Read),
            writes: of(Op::Write),
            flushes: of(Op::Flush),
            discards: of(Op::Discard),
            read_bytes: c.bytes[Op::Read as usize],
            written_bytes: c.bytes[Op::Write as usize],
            sequential_share: share(c.sequential, of(Op::Read) + of(Op::Write))
                .filter(|_| in_order),
            latency_ns_mean: (c.timed > 0).then(|| c.latency_ns as f64 / c.timed as f64),
        }
    };
    let mut parties: Vec<Party> = all.iter().map(one).filter(|p| p.requests > 0).collect();
    parties.sort_by_key(|party| std::cmp::Reverse(party.requests));
    parties.truncate(SHOWN);
    parties
}
