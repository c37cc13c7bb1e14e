//! The figures that head a report. They are chosen by what the workloads are, not by what the
//! phases are called, so a run of the user's own phases has them too.

use crate::units::{iops, rate, time};
use seekwell_io::workload::{Pace, Pattern, Workload};
use seekwell_runs::{Phase, RunDocument, Spread, Study};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    SequentialRead,
    SequentialWrite,
    /// Random reads at the lowest depth.
    RandomRead,
    /// Random reads at the depth that gave most.
    RandomReadBest,
    Commit,
}

/// One figure, written out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    pub key: Key,
    pub label: String,
    /// The median of the repeats, without its unit where [`Figure::unit`] has one.
    pub value: String,
    pub unit: String,
    /// Lowest and highest repeat, if they are written differently; of commits what one takes.
    pub range: Option<String>,
    pub repeats: u32,
    pub phase: String,
    pub depth: u32,
}

impl Figure {
    /// The value and its unit: `3,412 MB/s`.
    pub fn with_unit(&self) -> String {
        format!("{} {}", self.value, self.unit)
    }
}

/// The figures of a run. A run on several targets has none, as they share no figure, and neither
/// has one of the SNIA suite, whose tests have figures of their own.
pub fn figures(document: &RunDocument) -> Vec<Figure> {
    if matches!(document.study, Some(Study::Together(_) | Study::Pts(_))) {
        return Vec::new();
    }
    let phases: Vec<&Phase> = document.phases.iter().filter(|p| p.skipped.is_none()).collect();
    let mut out = Vec::new();
    let sequential = [(Key::SequentialRead, 100, "read"), (Key::SequentialWrite, 0, "write")];
    for (key, reads, op) in sequential {
        let metric = format!("{op}.rate_bytes_per_s");
        if let Some((phase, spread)) = sequential_phase(&phases, reads, &metric) {
            out.push(figure(key, format!("sequential {op}"), phase, spread, "MB/s", rate));
        }
    }
    out.extend(random_reads(&phases));
    out.extend(commit(&phases));
    out
}

fn figure(
    key: Key,
    label: String,
    phase: &Phase,
    spread: Spread,
    unit: &str,
    write: fn(f64) -> String,
) -> Figure {
    let (low, high) = (write(spread.low), write(spread.high));
    Figure {
        key,
        label,
        value: write(spread.median),
        unit: unit.to_owned(),
        range: (low != high).then(|| format!("{low} – {high}")),
        repeats: spread.n,
        phase: phase.name.clone(),
        depth: depth(phase),
    }
}

/// Requests outstanding in each thread of a phase that drew them; 0 elsewhere.
fn depth(phase: &Phase) -> u32 {
    phase.workload.drawn().map_or(0, |w| w.pace.depth())
}

/// Large requests in sequence; of several such phases the one over most data, past the page cache
/// if there is one, so that a test of the cache does not pass for the disk.
fn sequential_phase<'a>(
    phases: &[&'a Phase],
    reads: u8,
    metric: &str,
) -> Option<(&'a Phase, Spread)> {
    let fits = |w: &Workload| {
        w.pattern == Pattern::Sequential
            && w.read_percent == reads
            && w.discards.is_none()
            && w.flush_every == 0
            && w.sizes.iter().all(|s| s.bytes >= 64 << 10)
    };
    let candidates = phases.iter().filter(|p| p.workload.drawn().is_some_and(fits));
    let measured = candidates.filter_map(|p| p.metrics.get(metric).map(|s| (*p, *s)));
    measured.max_by_key(|(p, _)| p.workload.drawn().map(|w| (w.direct, w.region_bytes)))
}

/// The workload with all that may differ along a curve over depth made the same.
fn without_depth(workload: &Workload) -> Workload {
    let mut w = workload.clone();
    w.pace = Pace::Closed { depth: 1 };
    (w.seed, w.requests) = (0, 0);
    w.runtime_ns = seekwell_io::units::Nanos::ZERO;
    w.ramp_ns = seekwell_io::units::Nanos::ZERO;
    w
}

/// Random reads in closed loops that differ in depth only, the most telling curve of the run: the
/// one of 4 KiB, else the one with most depths; by depth.
pub(crate) fn depth_curve<'a>(phases: &[&'a Phase]) -> Vec<(&'a Phase, Spread)> {
    let mut curves: Vec<(Workload, Vec<(&Phase, Spread)>)> = Vec::new();
    for phase in phases {
        let Some(w) = phase.workload.drawn() else { continue };
        let closed = matches!(w.pace, Pace::Closed { .. });
        let Some(spread) = phase.metrics.get("read.requests_per_s") else { continue };
        if w.pattern == Pattern::Sequential || w.read_percent != 100 || !closed {
            continue;
        }
        let question = without_depth(w);
        match curves.iter_mut().find(|(q, _)| *q == question) {
            Some((_, curve)) => curve.push((phase, *spread)),
            None => curves.push((question, vec![(phase, *spread)])),
        }
    }
    let weight = |w: &Workload, n: usize| (w.max_bytes() == 4096 && w.sizes.len() == 1, n);
    let best = curves.into_iter().max_by_key(|(w, curve)| weight(w, curve.len()));
    let mut curve = best.map(|(_, curve)| curve).unwrap_or_default();
    curve.sort_by_key(|(p, _)| depth(p));
    curve
}

fn random_reads(phases: &[&Phase]) -> Vec<Figure> {
    let curve = depth_curve(phases);
    let Some((first, spread)) = curve.first() else { return Vec::new() };
    let size = crate::units::binary(first.workload.drawn().map_or(0, |w| w.max_bytes().into()));
    let label = |p: &Phase| format!("random read {size}, depth {}", depth(p));
    let mut out = vec![figure(Key::RandomRead, label(first), first, *spread, "IOPS", iops)];
    let best = curve.iter().max_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if let Some((phase, spread)) = best.filter(|(p, _)| p.name != first.name) {
        out.push(figure(Key::RandomReadBest, label(phase), phase, *spread, "IOPS", iops));
    }
    out
}

fn commit(phases: &[&Phase]) -> Option<Figure> {
    let fits = |w: &Workload| w.flush_every == 1 && w.pace.depth() == 1 && w.threads == 1;
    phases.iter().filter(|p| p.workload.drawn().is_some_and(fits)).find_map(|phase| {
        let spread = *phase.metrics.get("flush.requests_per_s")?;
        let label = "commits (write and flush)".into();
        let mut out = figure(Key::Commit, label, phase, spread, "/s", iops);
        // The mean is what the rate follows from; commits too few for p99 show their longest.
        let of =
            |end: &'static str| Some((end, phase.median(&format!("flush.response_ns_{end}"))?));
        let tail = of("p99").or_else(|| of("max").map(|(_, ns)| ("max", ns)));
        let told = of("mean").into_iter().chain(tail);
        let told: Vec<String> = told.map(|(word, ns)| format!("{word} {}", time(ns))).collect();
        out.range = (!told.is_empty()).then(|| told.join(", "));
        Some(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn keys(document: &RunDocument) -> Vec<Key> {
        figures(document).iter().map(|f| f.key).collect()
    }

    #[test]
    fn a_test_of_the_page_cache_never_passes_for_the_disk() {
        let (document, _) = testing::rich();
        let cached = document.phase("cached-read").expect("the sample reads the cache");
        let read = &figures(&document)[0];
        assert_eq!((read.key, read.phase.as_str()), (Key::SequentialRead, "seq-read-1m"));
        assert!(cached.median("read.rate_bytes_per_s") > Some(5e9));
    }

    #[test]
    fn the_best_depth_is_left_out_where_it_is_the_only_one() {
        let (mut document, _) = testing::rich();
        assert!(keys(&document).contains(&Key::RandomReadBest));
        document
            .phases
            .retain(|p| !p.name.starts_with("rand-read-4k-d") || p.name.ends_with("-d1"));
        assert!(keys(&document).contains(&Key::RandomRead));
        assert!(!keys(&document).contains(&Key::RandomReadBest));
    }

    #[test]
    fn what_was_skipped_or_has_no_valid_repeat_has_no_figure() {
        let (document, _) = testing::degraded();
        assert_eq!(keys(&document), [Key::RandomRead]);
    }
}
