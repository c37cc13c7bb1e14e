//! The same few numbers for each device and each process.

use super::document::Party;
use super::latency::between;
use super::ratio::share;
use crate::record::Record;
use seekwell_io::request::Op;

/// Parties told apart; further ones count as the last.
const MOST: usize = 1 << 14;
/// Parties shown.
const SHOWN: usize = 64;

#[derive(Debug, Clone, Default)]
struct Counts {
    requests: [u64; 4],
    bytes: [u64; 4],
    sequential: u64,
    last: Option<(u32, u64)>,
    timed: u64,
    latency_ns: u64,
}

/// Numbers by an index.
#[derive(Debug, Default)]
pub(super) struct Parties {
    all: Vec<Counts>,
}

impl Parties {
    #[inline]
    pub fn add(&mut self, index: u32, record: &Record) {
        let at = (index as usize).min(MOST - 1);
        if at >= self.all.len() {
            self.all.resize_with(at + 1, Counts::default);
        }
        let counts = &mut self.all[at];
        let op = record.op as usize;
        counts.requests[op] += 1;
        counts.bytes[op] += u64::from(record.len);
        if matches!(record.op, Op::Read | Op::Write) && record.len > 0 {
            counts.sequential += u64::from(counts.last == Some((record.device, record.offset)));
            counts.last = Some((record.device, record.end()));
        }
        if let Some(ns) = between(record.arrival(), record.completed) {
            counts.timed += 1;
            counts.latency_ns = counts.latency_ns.saturating_add(ns);
        }
    }

    /// Indices that occur.
    pub fn used(&self) -> impl Iterator<Item = usize> + '_ {
        let used = |c: &Counts| c.requests.iter().sum::<u64>() > 0;
        self.all.iter().enumerate().filter(move |(_, c)| used(c)).map(|(i, _)| i)
    }

    /// The busiest first.
    pub fn finish(&self, name: impl Fn(usize) -> String) -> Vec<Party> {
        let all: u64 = self.all.iter().flat_map(|c| c.requests).sum();
        let one = |at: usize| {
            let c = &self.all[at];
            let requests = c.requests.iter().sum();
            let of = |op: Op| c.requests[op as usize];
            Party {
                name: name(at),
                requests,
                share: share(requests, all).unwrap_or(0.0),
                reads: of(Op::Read),
                writes: of(Op::Write),
                flushes: of(Op::Flush),
                discards: of(Op::Discard),
                read_bytes: c.bytes[Op::Read as usize],
                written_bytes: c.bytes[Op::Write as usize],
                sequential_share: share(c.sequential, of(Op::Read) + of(Op::Write)),
                latency_ns_mean: share(c.latency_ns, c.timed),
            }
        };
        let mut parties: Vec<Party> = self.used().map(one).collect();
        parties.sort_by_key(|party| std::cmp::Reverse(party.requests));
        parties.truncate(SHOWN);
        parties
    }
}
