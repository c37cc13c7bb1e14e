//! A hard drive from measurements.
//!
//! A curve over depth shows how long a read takes alone, which is arm and platter, and how
//! much is won by choosing among those that wait. The arm's mean time is found from the first for
//! each of some choices of what bounds the second; the one that meets the curve best is taken. Then
//! the density is set by sequential reads, and what writing back and flushing cost by random writes
//! and commits.

use super::observed::{Facts, Observed, Role};
use super::play::{Length, play};
use super::text::Text;
use super::{Candidate, link_table};
use crate::describe::Provenance;

/// Random reads played of each phase.
const READS: u64 = 1_500;
/// Repeats of a phase that writes.
const REPEATS: u32 = 3;
/// Corrections of a time by what a phase is off with it.
const CORRECTIONS: u32 = 4;
/// Times between two commands that wait, in nanoseconds, that are tried.
const TURNAROUNDS: [u64; 8] =
    [0, 500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000];
/// Margins by which a sector counts as missed, in nanoseconds, that are tried.
const MARGINS: [u64; 2] = [300_000, 1_000_000];
/// Thousandths of its waiting time by which a command is preferred that are tried.
const AGEINGS: [u32; 2] = [0, 20];
/// A curve that rises by less than this factor is that of a drive without a queue.
const RISE: f64 = 1.15;
/// Speeds of rotation, where a drive does not say, with the usual time of a random read in
/// milliseconds: mean seek of the data sheets and half a revolution.
const USUAL: [(f64, f64); 4] = [(5400.0, 17.6), (7200.0, 12.7), (10_000.0, 7.7), (15_000.0, 5.5)];
/// Sectors on the outermost track if they are unknown: a terabyte on a platter.
const SECTORS: f64 = 3000.0;

#[derive(Debug, Clone)]
struct Values {
    rpm: f64,
    average_ms: f64,
    turnaround_ns: u64,
    margin_ns: u64,
    ageing: u32,
    depth: u32,
    sectors: f64,
    write_back: bool,
    destage_ns: u64,
    flush_ns: u64,
}

/// A hard drive as a candidate.
pub struct HddFit<'a> {
    facts: &'a Facts,
    used: Vec<(&'a Observed, Role)>,
    values: Values,
    unseen: Vec<f64>,
}

impl<'a> HddFit<'a> {
    /// Fits a drive to phases of which at least two are points of the curve.
    pub fn new(facts: &'a Facts, rpm: f64, used: &[&'a Observed]) -> Self {
        let used: Vec<(&Observed, Role)> =
            used.iter().filter_map(|observed| Some((*observed, observed.role()?))).collect();
        let mut fit =
            Self { facts, values: first_guess(facts, rpm, &used), used, unseen: Vec::new() };
        fit.density();
        fit.curve();
        fit.density();
        fit.writes();
        fit
    }

    /// How far the drive is from points of the curve when those are left out of choosing it.
    pub fn unseen_errors(&self) -> Vec<f64> {
        self.unseen.clone()
    }

    /// Points of the curve by depth.
    fn points(&self) -> Vec<&'a Observed> {
        let curve = self.used.iter().filter(|(_, role)| matches!(role, Role::Curve(_)));
        let mut points: Vec<&Observed> = curve.map(|(observed, _)| *observed).collect();
        points.sort_by_key(|observed| observed.depth());
        points
    }

    /// The phase of a role, the deepest if there are several.
    fn deepest(&self, fits: impl Fn(Role) -> bool) -> Option<&'a Observed> {
        let fitting = self.used.iter().filter(|(_, role)| fits(*role));
        fitting.map(|(observed, _)| *observed).max_by_key(|observed| observed.depth())
    }

    /// Requests a second of the present values.
    fn rate(&self, observed: &Observed) -> f64 {
        let Ok(model) = self.model() else { return 0.0 };
        play(&model, &observed.workload, self.length(observed)).requests_per_s
    }

    /// Sets a time so that a phase has the rate it was measured at. Each request takes longer by
    /// what the time is made longer, or nearly, so that a few corrections are enough.
    fn meet(&mut self, observed: &Observed, lengthen: impl Fn(&mut Values, f64)) {
        for _ in 0..CORRECTIONS {
            let rate = self.rate(observed);
            if rate > 0.0 {
                lengthen(&mut self.values, 1e9 / observed.requests_per_s - 1e9 / rate);
            }
        }
    }

    /// Arm and queue by the curve. Every choice of what bounds the queue is held against all
    /// points, which also shows which would have been taken without one of them.
    fn curve(&mut self) {
        let points = self.points();
        let Some((first, deeper)) = points.split_first() else { return };
        let queued = self.values.depth > 1;
        let mut tried: Vec<(Values, Vec<f64>)> = Vec::new();
        for turnaround_ns in TURNAROUNDS.into_iter().take(if queued { usize::MAX } else { 1 }) {
            self.values.turnaround_ns = turnaround_ns;
            // A queue's choice is of no matter where the lowest depth is 1.
            self.meet(first, |values, ns| {
                values.average_ms = (values.average_ms + ns / 1e6).clamp(0.2, 100.0);
            });
            for (margin_ns, ageing) in MARGINS.into_iter().flat_map(|m| AGEINGS.map(|a| (m, a))) {
                let now = Values { margin_ns, ageing, ..self.values.clone() };
                self.values = now.clone();
                let error = |observed: &&Observed| self.rate(observed) / observed.requests_per_s;
                tried.push((now, points.iter().map(|o| error(o) - 1.0).collect()));
                if !queued {
                    break;
                }
            }
        }
        let best = |but: Option<usize>| {
            let squares = |errors: &[f64]| -> f64 {
                let kept = errors.iter().enumerate().filter(|(i, _)| Some(*i) != but);
                kept.map(|(_, e)| e * e).sum()
            };
            tried.iter().min_by(|a, b| squares(&a.1).total_cmp(&squares(&b.1)))
        };
        let unseen = |index: usize| best(Some(index)).map(|(_, errors)| errors[index].abs());
        self.unseen = (1..=deeper.len()).filter_map(unseen).collect();
        if let Some((values, _)) = best(None) {
            self.values = values.clone();
        }
    }

    /// Density by sequential reads.
    fn density(&mut self) {
        let Some(phase) = self.deepest(|role| role == Role::SequentialRead) else { return };
        for _ in 0..4 {
            let rate = self.rate(phase);
            if rate <= 0.0 {
                return;
            }
            let factor = (phase.requests_per_s / rate).clamp(0.25, 4.0);
            self.values.sectors = (self.values.sectors * factor).clamp(20.0, 60_000.0);
        }
    }

    /// Writing back by random writes, flushes by commits.
    fn writes(&mut self) {
        let longer = |time: &mut u64, ns: f64| *time = (*time as f64 + ns).clamp(0.0, 9e7) as u64;
        let deepest = self.deepest(|role| matches!(role, Role::Writes(_)));
        if let Some(phase) = deepest.filter(|_| self.values.write_back) {
            self.meet(phase, |values, ns| longer(&mut values.destage_ns, ns));
        }
        if let Some(phase) = self.deepest(|role| role == Role::Commit) {
            self.meet(phase, |values, ns| longer(&mut values.flush_ns, ns));
        }
    }

    fn phases(&self, fits: impl Fn(Role) -> bool) -> Vec<String> {
        let fitting = self.used.iter().filter(|(_, role)| fits(*role));
        fitting.map(|(observed, _)| observed.phase.clone()).collect()
    }

    fn layout(&self, text: &mut Text) {
        const ZONES: u32 = 8;
        let Values { rpm, sectors: outer, .. } = self.values;
        let sectors = self.facts.capacity_bytes / u64::from(self.facts.sector_bytes);
        let surfaces = self.surfaces();
        // The innermost track holds half of what the outermost does.
        let track = |zone: u32| {
            let share = 1.0 - f64::from(zone) / f64::from(ZONES - 1) / 2.0;
            (outer * share).round().max(8.0)
        };
        let all: f64 = (0..ZONES).map(track).sum();
        let each = (sectors as f64 / (all * f64::from(surfaces))).ceil().max(2.0) as u32;
        let revolution_ms = 60_000.0 / rpm;
        let sequential = self.phases(|role| role == Role::SequentialRead);
        let zones: Vec<String> = (0..ZONES)
            .map(|zone| {
                let track = track(zone);
                let skew = |ms: f64| (track * ms / revolution_ms).ceil();
                let (first, last) = (zone * each, (zone + 1) * each - 1);
                format!(
                    "{{ first_cylinder = {first}, last_cylinder = {last}, sectors_per_track = \
                     {track}, track_skew = {}, cylinder_skew = {} }}",
                    skew(0.9),
                    skew(1.1),
                )
            })
            .collect();
        text.table("drive.layout");
        text.value("order", "\"reversed-by-cylinder\"", Provenance::Assumed);
        text.value("sparing", "\"none\"", Provenance::Assumed);
        text.value("sectors", sectors, Provenance::Measured);
        text.fitted_or_assumed("zones", format_args!("[{}]", zones.join(", ")), &sequential);
    }

    /// About half a terabyte a surface, as drives of the 2010s have.
    fn surfaces(&self) -> u32 {
        ((self.facts.capacity_bytes as f64 / 5e11).round() as u32).clamp(1, 16)
    }
}

impl Candidate for HddFit<'_> {
    fn kind(&self) -> &'static str {
        "hdd"
    }

    fn toml(&self, head: Text) -> String {
        let mut text = head;
        let v = &self.values;
        let curve = self.phases(|role| matches!(role, Role::Curve(_)));
        let writes = self.phases(|role| matches!(role, Role::Writes(_)));
        let commits = self.phases(|role| role == Role::Commit);
        link_table(&mut text, self.facts);
        text.table("drive");
        text.word("part", "hdd-common");
        let said = self.facts.rpm.map_or(Provenance::Assumed, |_| Provenance::Measured);
        text.value("rpm", format_args!("{:?}", v.rpm), said);
        text.value("surfaces", self.surfaces(), Provenance::Assumed);
        text.value("sector_bytes", self.facts.sector_bytes, Provenance::Measured);
        text.value("head_switch_ns", 800_000, Provenance::Assumed);
        text.table("drive.seek.three-point");
        text.value("one_ms", format_args!("{:?}", one_ms(v.average_ms)), Provenance::Assumed);
        text.fitted("average_ms", format_args!("{:.4}", v.average_ms), &curve);
        text.fitted("full_ms", format_args!("{:.4}", v.average_ms * 1.9), &curve);
        text.table("drive.overhead");
        text.fitted("turnaround_ns", v.turnaround_ns, &curve);
        text.table("drive.queue");
        text.fitted("depth", v.depth, &curve);
        text.fitted("window", v.depth, &curve);
        text.fitted("miss_margin_ns", v.margin_ns, &curve);
        text.fitted("ageing_permille", v.ageing, &curve);
        text.table("drive.write");
        text.fitted_or_assumed("write_back", v.write_back, &writes);
        text.value("extents", 256, Provenance::Assumed);
        text.value("extent_sectors", 4096, Provenance::Assumed);
        text.fitted_or_assumed("destage_overhead_ns", v.destage_ns, &writes);
        text.fitted_or_assumed("flush_overhead_ns", v.flush_ns, &commits);
        text.table("drive.cache");
        text.value("segment_sectors", 4096, Provenance::Assumed);
        self.layout(&mut text);
        text.finish()
    }

    fn length(&self, observed: &Observed) -> Length {
        match observed.workload.destroys() {
            true => Length::AsMeasured(REPEATS),
            false => Length::Requests(READS),
        }
    }
}

fn one_ms(average_ms: f64) -> f64 {
    (average_ms / 4.0).min(1.0)
}

/// Speeds of rotation to try: what the drive says, else the two that such a time of a random read
/// is most usual of.
pub fn speeds(facts: &Facts, alone: &Observed) -> Vec<f64> {
    if let Some(rpm) = facts.rpm {
        return vec![rpm];
    }
    let alone_ms = alone.time_ns() / 1e6;
    let far = |ms: f64| (ms / alone_ms).ln().abs();
    let mut usual = USUAL;
    usual.sort_by(|a, b| far(a.1).total_cmp(&far(b.1)));
    usual[..2].iter().map(|(rpm, _)| *rpm).collect()
}

/// What can be said before anything is played.
fn first_guess(facts: &Facts, rpm: f64, used: &[(&Observed, Role)]) -> Values {
    let mut curve: Vec<&Observed> = Vec::new();
    let mut writes: Vec<&Observed> = Vec::new();
    for (observed, role) in used {
        match role {
            Role::Curve(_) => curve.push(observed),
            Role::Writes(_) => writes.push(observed),
            _ => {}
        }
    }
    curve.sort_by_key(|o| o.depth());
    writes.sort_by_key(|o| o.depth());
    let alone_ms = curve.first().map_or(12.7, |o| o.time_ns() / 1e6);
    let best = curve.iter().map(|o| o.requests_per_s).fold(0.0, f64::max);
    let rises = curve.first().is_some_and(|first| best > RISE * first.requests_per_s);
    let depth = facts.depth.filter(|depth| *depth > 1).unwrap_or(32);
    let buffered = writes.first().is_some_and(|w| w.time_ns() < 0.8 * alone_ms * 1e6);
    Values {
        rpm,
        average_ms: 8.5,
        turnaround_ns: 0,
        margin_ns: MARGINS[0],
        ageing: AGEINGS[0],
        depth: if rises { depth } else { 1 },
        sectors: SECTORS,
        write_back: writes.is_empty() || buffered,
        destage_ns: 0,
        flush_ns: 0,
    }
}
