//! What limits each phase of a run.
//!
//! Every request passes a chain of stations: processor, controller, link, medium. In a closed loop
//! the rate is bounded by the slowest of them and by how many requests are outstanding (operational
//! analysis: Denning and Buzen 1978; Lazowska et al., *Quantitative System Performance*, 1984).
//! [`judge`] names, for each phase, the station that is full, or says that none is. It sees what a
//! document holds and nothing else, so that it treats models, real disks and old documents alike.
//!
//! Ceilings come first that hardware and kernel declare (link, bus, transfer mode, tags,
//! `io.max`); what is left follows from the shape of the rates over depth, size and operation. A
//! wrong answer costs more than none: where nothing fits, the answer is `unknown`, with the reason.

mod ceilings;
mod curve;
mod decide;
mod now;
mod point;
mod summary;
mod words;

pub use ceilings::declared;
pub use now::{Activity, Now, Rates, now};

use point::{Op, Point};
use seekwell_inspect::{Device, Fact, TargetKind};
use seekwell_runs::limits::{Ceiling, PhaseLimit, Station};
use seekwell_runs::{Phase, RunDocument, Study};

/// What [`judge`] says of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// What limits the disk, in one or two sentences; empty if no phase was run.
    pub summary: Vec<String>,
    /// One statement for each phase that was run, in their order.
    pub limits: Vec<PhaseLimit>,
    /// What is known to bound the rate, declared and found.
    pub ceilings: Vec<Ceiling>,
}

/// Names what limits each phase. Of a run on several disks at once, whose phases are of no single
/// path, it says nothing.
pub fn judge(document: &RunDocument) -> Judged {
    if matches!(document.study, Some(Study::Together(_))) {
        return Judged::default();
    }
    let run = Run::new(document);
    let was_run = |phase: &&Phase| !phase.repeats.is_empty() || !phase.metrics.is_empty();
    let mut limits: Vec<PhaseLimit> =
        document.phases.iter().filter(was_run).map(|phase| decide::limit(&run, phase)).collect();
    decide::what_comes_next(&run, &mut limits);
    let ceilings = ceilings::all(&run, &limits);
    Judged { summary: summary::sentences(&run, &limits), limits, ceilings }
}

/// A run as the statements see it.
struct Run<'a> {
    document: &'a RunDocument,
    /// The one disk under the target, if there is one.
    disk: Option<&'a Device>,
    /// What is measured belongs to another machine, whose parts cannot be seen.
    is_virtual: bool,
    /// Whether the medium rotates, if that is known.
    rotates: Option<bool>,
    /// The phases whose numbers are the device's.
    points: Vec<Point<'a>>,
    /// The ceilings that hardware and kernel declare.
    declared: Vec<Ceiling>,
}

impl<'a> Run<'a> {
    fn new(document: &'a RunDocument) -> Self {
        let inspection = &document.inspection;
        let disk = inspection.disk();
        let members = inspection.disks();
        let is_virtual = members.iter().any(|d| inspection.virtual_evidence(d).is_some());
        let points: Vec<_> = document.phases.iter().filter_map(Point::of).collect();
        let flag = |d: &&Device| d.queue.rotational.as_ref().map(|fact| fact.value);
        let rotational = members.first().and_then(flag);
        let rotational = rotational.filter(|_| members.iter().all(|d| flag(d) == rotational));
        // No hard drive answers a random read within a millisecond, and no flash takes three.
        let one = points.iter().find(|p| p.is_random_read(1)).map(|p| 1.0 / p.requests_per_s);
        let rotates = match (rotational, one) {
            _ if is_virtual => seeks(&points).then_some(true),
            (Some(true), Some(s)) if s < 1e-3 => None,
            (Some(false), Some(s)) if s > 3e-3 => None,
            (known, _) => known,
        };
        let declared = declared(inspection);
        Self { document, disk, is_virtual, rotates, points, declared }
    }

    /// The most commands that the disk may have at once.
    fn tags(&self) -> Option<&'a Fact<u64>> {
        self.disk?.queue.queue_depth.as_ref().filter(|tags| tags.value > 0)
    }

    /// What lies behind it cannot be seen: another machine's disk, or a volume of a network.
    fn is_unseen(&self) -> bool {
        let has_link = self.declared.iter().any(|c| c.by == Station::Link);
        self.is_virtual || self.disk.is_some() && self.rotates.is_none() && !has_link
    }

    fn is_null(&self) -> bool {
        self.document.inspection.kind == TargetKind::Null
    }

    /// The level of the array that the disk is: `raid5`.
    fn level(&self) -> Option<&'a str> {
        let mut at = self.document.inspection.device.as_ref()?;
        loop {
            let md = at.detail.md.as_ref().and_then(|md| md.level.as_ref());
            let modelled = at.role.as_ref().filter(|_| self.document.modelled);
            match (md.or(modelled), at.below.as_slice()) {
                (Some(level), _) => return Some(&level.value),
                (None, [below]) => at = below,
                (None, _) => return None,
            }
        }
    }
}

/// Whether a disk that cannot be seen takes an arm's time for each place, gains from depth as one
/// does that may choose the nearest, and passes large transfers quickly: no cap does all three.
fn seeks(points: &[Point<'_>]) -> bool {
    let rate = |depth| points.iter().find(|p| p.is_random_read(depth)).map(|p| p.requests_per_s);
    let large = points.iter().filter(|p| p.op == Op::Read && p.sequential && p.is_large());
    let large = large.map(|p| p.bytes_per_s).max_by(f64::total_cmp);
    let (Some(one), Some(deep), Some(large)) = (rate(1), rate(32), large) else { return false };
    (20.0..300.0).contains(&one) && (1.2..4.0).contains(&(deep / one)) && large > 1e6 * one
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
