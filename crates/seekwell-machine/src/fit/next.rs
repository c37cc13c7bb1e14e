//! Which measurement would narrow a fit most.
//!
//! The drive is fitted again without each of the phases. A job of which the rate then changes much
//! hangs on few phases, and the square root of the sum of the squares of these changes is taken for
//! its uncertainty, as the jackknife does (J. Tukey, 1958). What was not measured at all, such as
//! requests of another size, hangs on the one phase it is derived from.

use super::flow::{FlowFit, larger_reads, larger_writes};
use super::law::Shape;
use super::observed::{Facts, Observed, Role};
use super::play::{Length, play};
use super::{Candidate, LEAST_DEPTHS};
use crate::sweep::on_threads;
use seekwell_io::workload::{Pace, Pattern, Workload};

/// Requests played of each job.
const REQUESTS: u64 = 4_000;
/// Depths at which reads and writes of 4 KiB may be measured.
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 12, 16, 24, 32, 64];
/// Shares of reads of mixes, in percent, and their depth.
const MIXES: [u8; 3] = [30, 50, 90];
const MIX_DEPTH: u32 = 16;
/// Larger requests, and their depth.
const SIZES: [u32; 2] = [16 << 10, 128 << 10];
const SIZE_DEPTH: u32 = 8;

/// A job that is worth measuring.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// What to measure; its region and times are those of the phases.
    pub workload: Workload,
    /// The job most like it of those that were measured: measured again beside it, it shows how the
    /// disk has changed since; see [`join`](super::join).
    pub anchor: Workload,
    /// By how much the fit may be wrong about it, in percent.
    pub range_percent: f64,
}

/// The job that the fit knows least about, among random reads of 4 KiB, and larger requests, writes
/// and mixes where some were measured; on up to `threads` threads. `None` if the curve has too
/// few depths for a phase to be left out, or all jobs have been measured.
pub fn next(facts: &Facts, observed: &[Observed], threads: usize) -> Option<Next> {
    let used: Vec<&Observed> = observed.iter().filter(|o| o.role().is_some()).collect();
    let like = used.iter().find(|o| matches!(o.role(), Some(Role::Curve(_))))?;
    let jobs = jobs(&like.workload, &used);
    let shape = Shape::ALL.into_iter().min_by(|a, b| {
        let unseen =
            |shape| super::mean(FlowFit::new(facts, shape, &used).unseen_errors().into_iter());
        unseen(*a).total_cmp(&unseen(*b))
    })?;
    // The whole first, then without each phase in turn.
    let rates = on_threads(used.len() + 1, threads, |left_out| {
        let kept = used.iter().enumerate().filter(|(index, _)| index + 1 != left_out);
        let kept: Vec<&Observed> = kept.map(|(_, observed)| *observed).collect();
        rates(facts, shape, &kept, &jobs)
    });
    let (whole, without) = rates.split_first()?;
    let whole = whole.as_ref()?;
    let range = |job: usize| {
        let changes = without.iter().flatten().map(|rates| (rates[job] / whole[job]).ln().powi(2));
        100.0 * (changes.sum::<f64>().sqrt().exp() - 1.0)
    };
    let ranges = jobs.into_iter().enumerate().map(|(job, workload)| (workload, range(job)));
    // A job that hangs on nothing that could be left out has no range.
    let (workload, range_percent) = ranges
        .filter(|(_, range)| range.is_finite() && *range > 0.0)
        .reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let anchor = anchor(&workload, &used)?;
    Some(Next { workload, anchor, range_percent })
}

/// The random job most like another: of the same mix if there is one, then of about the same size
/// and depth.
fn anchor(job: &Workload, used: &[&Observed]) -> Option<Workload> {
    let far = |of: &Workload| {
        let apart = |a: u32, b: u32| (f64::from(a) / f64::from(b)).ln().abs();
        let depth = |w: &Workload| w.pace.depth() * w.threads;
        let mix = f64::from(of.read_percent.abs_diff(job.read_percent)) / 10.0;
        mix + apart(of.max_bytes(), job.max_bytes()) + apart(depth(of), depth(job))
    };
    let random = used.iter().map(|o| &o.workload).filter(|w| w.pattern == Pattern::Random);
    random.min_by(|a, b| far(a).total_cmp(&far(b))).cloned()
}

/// What a drive fitted to these phases gives for each job; `None` if they are too few.
fn rates(facts: &Facts, shape: Shape, kept: &[&Observed], jobs: &[Workload]) -> Option<Vec<f64>> {
    let curve = kept.iter().filter(|o| matches!(o.role(), Some(Role::Curve(_))));
    if curve.count() < LEAST_DEPTHS {
        return None;
    }
    let model = FlowFit::new(facts, shape, kept).model().ok()?;
    let rate = |job: &Workload| play(&model, job, Length::Requests(REQUESTS)).requests_per_s;
    Some(jobs.iter().map(rate).collect())
}

/// Every job that may be measured and was not, of the kinds of which something was: leaving a phase
/// out says nothing of a kind that none is of.
fn jobs(like: &Workload, used: &[&Observed]) -> Vec<Workload> {
    let small = like.max_bytes();
    let job = |read_percent, bytes, depth| {
        let (offset_bytes, seed) = (like.offset_bytes, like.seed);
        let region = like.region_bytes;
        let base = Workload::closed(Pattern::Random, read_percent, bytes, depth, region);
        Workload { offset_bytes, seed, ..base }
    };
    let has = |fits: fn(Role) -> bool| used.iter().filter_map(|o| o.role()).any(fits);
    let mut jobs = Vec::new();
    let mut add = |has: bool, read_percent: u8, sizes: &[u32], depths: &[u32]| {
        let each = sizes.iter().flat_map(|bytes| depths.iter().map(move |depth| (*bytes, *depth)));
        jobs.extend(each.filter(|_| has).map(|(bytes, depth)| job(read_percent, bytes, depth)));
    };
    add(true, 100, &[small], &DEPTHS);
    add(has(larger_reads), 100, &SIZES, &[SIZE_DEPTH]);
    add(has(|role| matches!(role, Role::Writes(_))), 0, &[small], &DEPTHS);
    add(has(larger_writes), 0, &SIZES, &[SIZE_DEPTH]);
    for read_percent in MIXES {
        add(has(|role| role == Role::Mix), read_percent, &[small], &[MIX_DEPTH]);
    }
    let deepest = used.iter().map(|o| o.depth()).max().unwrap_or(1);
    let deep = |job: &Workload| matches!(job.pace, Pace::Closed { depth } if depth > deepest);
    jobs.retain(|job| !used.iter().any(|o| o.measured(job)) && !deep(job));
    jobs
}
