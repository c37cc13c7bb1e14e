//! How long requests take, by operation and part of the way.

use super::document::{Bins, Latency, Span};
use super::seen::{Reads, Seen};
use super::sum::sums;
use crate::record::{Fields, Stamp};
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

sums! {
    /// A histogram for each span and operation.
    struct Latencies {
        kinds: [[Histogram; 4]; 3],
    }
}

impl Reads for Latencies {
    const FIELDS: Fields = Fields::QUEUED.and(Fields::ISSUED).and(Fields::COMPLETED);
}

impl Latencies {
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>) {
        let op = record.op() as usize;
        let (queued, completed) = (record.queued(), record.completed());
        // A bio that was merged or split has no service time; the request that carried it has.
        let served = if record.reached_device() { record.issued() } else { Stamp::NONE };
        let spans = [(queued, record.issued()), (served, completed), (queued, completed)];
        for (kind, (from, to)) in self.kinds.iter_mut().zip(spans) {
            if let Some(ns) = between(from, to) {
                kind[op].record(Nanos(ns));
            }
        }
    }

    /// All that there are, operations apart and together.
    pub fn finish(&self) -> (Vec<Latency>, Vec<Bins>) {
        let (mut told, mut drawn) = (Vec::new(), Vec::new());
        for (span, kinds) in Span::ALL.into_iter().zip(&self.kinds) {
            let mut all = Histogram::default();
            kinds.iter().for_each(|kind| all.merge(kind));
            told.extend(Latency::of(span, None, &all));
            for (op, kind) in Op::ALL.into_iter().zip(kinds).filter(|(_, k)| k.count() > 0) {
                if kind.count() < all.count() {
                    told.extend(Latency::of(span, Some(op), kind));
                }
                drawn.push(Bins { span, op, bins: kind.sparse() });
            }
        }
        (told, drawn)
    }
}

/// A time that passed; `None` if a trace has the end before the beginning.
#[inline]
pub(super) fn between(from: Stamp, to: Stamp) -> Option<u64> {
    to.get()?.0.checked_sub(from.get()?.0)
}
