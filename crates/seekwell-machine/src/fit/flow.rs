//! A flow-equivalent drive from measurements.
//!
//! The times of the laws are found by least squares. What is between drive and program (a link, the
//! engine that takes completions together) has its part in what was measured, so the model is
//! played as the disk was, and the points the laws go through are corrected by what came out.

use super::law::{Point, Shape, plain, shaped, unseen_errors};
use super::observed::{Facts, Observed, Role, Times};
use super::play::Length;
use super::text::Text;
use super::{Candidate, link_table};
use crate::describe::Provenance;
use crate::flow::{Distribution, FlowParams, Law, OpParams};

/// Requests played of each phase.
const REQUESTS: u64 = 8_000;
/// Rounds of playing and correcting. The corrections shrink by far more than half each.
const ROUNDS: u32 = 5;
/// Queue depth of a drive that does not report one: as many commands as the host gives.
const DEPTH: u32 = 1024;

/// A phase that is used, with its correction.
struct Seen<'a> {
    observed: &'a Observed,
    role: Role,
    /// Time of the law over the time that came out, with all that lies between.
    share: f64,
}

/// Time of the bytes of requests of a size, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Sized {
    bytes: u32,
    ns: f64,
}

/// A candidate of one shape.
pub struct FlowFit<'a> {
    facts: &'a Facts,
    shape: Shape,
    /// By size, ascending.
    read_sizes: Vec<Sized>,
    write_sizes: Vec<Sized>,
    seen: Vec<Seen<'a>>,
    params: FlowParams,
}

impl<'a> FlowFit<'a> {
    /// Fits a drive to phases of which at least one is a point of the curve.
    pub fn new(facts: &'a Facts, shape: Shape, used: &[&'a Observed]) -> Self {
        let seen: Vec<Seen<'_>> = used
            .iter()
            .filter_map(|observed| Some(Seen { observed, role: observed.role()?, share: 1.0 }))
            .collect();
        let none = plain(shape.law, 0.0, 0.0);
        let params = FlowParams {
            capacity_bytes: facts.capacity_bytes,
            depth: facts.depth.unwrap_or(DEPTH).max(1),
            read: none.clone(),
            write: none,
            mixed: 1.0,
            flush_ns: 0,
        };
        let (read_sizes, write_sizes) = (sizes(&seen, larger_reads), sizes(&seen, larger_writes));
        let mut fit = Self { facts, shape, read_sizes, write_sizes, seen, params };
        fit.solve();
        for _ in 0..ROUNDS {
            fit.correct();
            fit.solve();
        }
        fit
    }

    /// How far the law is from points of the curve it has not seen.
    pub fn unseen_errors(&self) -> Vec<f64> {
        unseen_errors(self.shape, &self.points(curve))
    }

    /// The drive's own times by depth, of reads or of writes.
    fn points(&self, of: fn(Role) -> Option<u32>) -> Vec<Point> {
        let points = self.seen.iter();
        let point = |s: &Seen<'_>| Some((of(s.role)?, s.observed.time_ns() * s.share));
        let mut points: Vec<Point> = points.filter_map(point).collect();
        points.sort_by_key(|(n, _)| *n);
        points
    }

    /// The times for the points as they are now.
    fn solve(&mut self) {
        let mut read = shaped(self.shape, &self.points(curve));
        let writes = self.points(writes);
        let mut write = match writes.as_slice() {
            [] => read.clone(),
            // The curve's shape, at the height of the one depth that was measured.
            [(n, time)] => {
                let factor = time / read.time_ns(*n);
                let (alone_ns, each_ns) = (read.alone_ns * factor, read.each_ns * factor);
                OpParams { alone_ns, each_ns, ..read.clone() }
            }
            points => shaped(Shape { law: Law::Balanced, ..self.shape }, points),
        };
        set_bytes(&mut read, &self.read_sizes);
        set_bytes(&mut write, &self.write_sizes);
        read.variation = self.variation(curve, |observed| &observed.reads);
        write.variation = self.variation(self::writes, |observed| &observed.writes);
        if write.variation.is_empty() {
            write.variation.clone_from(&read.variation);
        }
        (self.params.read, self.params.write) = (read, write);
    }

    /// Plays every phase and sets right what it is to set right.
    fn correct(&mut self) {
        let Ok(model) = self.model() else { return };
        let (mut read_sizes, mut write_sizes) = (Vec::new(), Vec::new());
        let mut mixes = Vec::new();
        for Seen { observed, role, share } in &mut self.seen {
            let played = super::play::play(&model, &observed.workload, Length::Requests(REQUESTS));
            if played.requests_per_s <= 0.0 {
                continue;
            }
            let longer_ns = 1e9 / observed.requests_per_s - 1e9 / played.requests_per_s;
            let params = &mut self.params;
            let took = 1e9 * f64::from(observed.depth()) / played.requests_per_s;
            let longer = Sized { bytes: observed.workload.max_bytes(), ns: longer_ns };
            match role {
                Role::Curve(n) => *share = params.read.time_ns(*n) / took,
                Role::Writes(n) => *share = params.write.time_ns(*n) / took,
                Role::SequentialRead | Role::OtherRead => read_sizes.push(longer),
                Role::SequentialWrite | Role::OtherWrite => write_sizes.push(longer),
                Role::Mix => mixes.push((observed.requests_per_s / played.requests_per_s).ln()),
                Role::Commit => {
                    let flush_ns = params.flush_ns as f64 + longer_ns;
                    params.flush_ns = flush_ns.clamp(0.0, 6e10) as u64;
                }
            }
        }
        add(&mut self.read_sizes, &read_sizes);
        add(&mut self.write_sizes, &write_sizes);
        let factor = super::mean(mixes.into_iter()).exp();
        self.params.mixed = (self.params.mixed * factor).clamp(0.1, 10.0);
    }

    /// How single times vary at each depth at which they are known.
    fn variation(
        &self,
        of: fn(Role) -> Option<u32>,
        times: fn(&Observed) -> &Times,
    ) -> Vec<(u32, Distribution)> {
        let mut known: Vec<(u32, Distribution)> = self
            .seen
            .iter()
            .filter_map(|s| Some((of(s.role)?, times(s.observed).factors()?)))
            .collect();
        known.sort_by_key(|(n, _)| *n);
        known.dedup_by_key(|(n, _)| *n);
        known
    }

    fn phases(&self, fits: impl Fn(Role) -> bool) -> Vec<String> {
        let fitting = self.seen.iter().filter(|s| fits(s.role));
        fitting.map(|s| s.observed.phase.clone()).collect()
    }

    /// `times` are the phases that the times were fitted on. One alone says nothing of the law.
    fn operation(&self, text: &mut Text, name: &str, op: &OpParams, times: &[String]) {
        let several = if times.len() > 1 { times } else { &[] };
        let larger = if name == "read" { larger_reads } else { larger_writes };
        let bytes = self.phases(larger);
        text.table(&format!("drive.{name}"));
        let law = match op.law {
            Law::Balanced => "balanced",
            Law::Bottleneck => "bottleneck",
        };
        text.fitted_or_assumed("law", format_args!("\"{law}\""), several);
        text.fitted_or_assumed("alone_ns", format_args!("{:.1}", op.alone_ns), times);
        text.fitted_or_assumed("each_ns", format_args!("{:.2}", op.each_ns), several);
        text.fitted_or_assumed(
            "depths",
            list(&op.depths, |factor| format!("{factor:.4}")),
            several,
        );
        text.fitted_or_assumed("byte_ns", format_args!("{:.5}", op.byte_ns), &bytes);
        text.fitted_or_assumed("sizes", list(&op.sizes, |factor| format!("{factor:.4}")), &bytes);
        let points = |points: &Distribution| {
            let points: Vec<String> = points.iter().map(|(q, f)| format!("[{q}, {f:?}]")).collect();
            format!("[{}]", points.join(", "))
        };
        text.fitted_or_assumed("variation", list(&op.variation, points), times);
    }
}

impl Candidate for FlowFit<'_> {
    fn kind(&self) -> &'static str {
        "flow"
    }

    fn toml(&self, head: Text) -> String {
        let mut text = head;
        link_table(&mut text, self.facts);
        let FlowParams { capacity_bytes, depth, read, write, mixed, flush_ns } = &self.params;
        let curve = self.phases(|role| curve(role).is_some());
        text.table("drive");
        let known = self.facts.depth.map_or(Provenance::Assumed, |_| Provenance::Measured);
        text.value("kind", "\"flow\"", Provenance::Assumed);
        text.value("capacity_bytes", capacity_bytes, Provenance::Measured);
        text.value("depth", depth, known);
        let mix = self.phases(|role| role == Role::Mix);
        text.fitted_or_assumed("mixed", format_args!("{mixed:.4}"), &mix);
        let commits = self.phases(|role| role == Role::Commit);
        text.fitted_or_assumed("flush_ns", flush_ns, &commits);
        self.operation(&mut text, "read", read, &curve);
        self.operation(&mut text, "write", write, &self.phases(|role| writes(role).is_some()));
        text.finish()
    }

    fn length(&self, _: &Observed) -> Length {
        Length::Requests(REQUESTS)
    }
}

fn curve(role: Role) -> Option<u32> {
    if let Role::Curve(n) = role { Some(n) } else { None }
}

fn writes(role: Role) -> Option<u32> {
    if let Role::Writes(n) = role { Some(n) } else { None }
}

/// Whether it shows the time of bytes read.
pub fn larger_reads(role: Role) -> bool {
    matches!(role, Role::SequentialRead | Role::OtherRead)
}

/// Whether it shows the time of bytes written.
pub fn larger_writes(role: Role) -> bool {
    matches!(role, Role::SequentialWrite | Role::OtherWrite)
}

/// The sizes of phases, each once, with no time yet.
fn sizes(seen: &[Seen<'_>], fits: fn(Role) -> bool) -> Vec<Sized> {
    let fitting = seen.iter().filter(|s| fits(s.role));
    let mut sizes: Vec<u32> = fitting.map(|s| s.observed.workload.max_bytes()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().map(|bytes| Sized { bytes, ns: 0.0 }).collect()
}

/// Adds to the time of each size what phases of that size lack in the mean, which may be negative.
fn add(sizes: &mut [Sized], longer: &[Sized]) {
    for size in sizes {
        let same = longer.iter().filter(|longer| longer.bytes == size.bytes);
        size.ns = (size.ns + super::mean(same.map(|longer| longer.ns))).max(0.0);
    }
}

/// The time of a byte in the largest requests, and of smaller ones by it.
fn set_bytes(op: &mut OpParams, sizes: &[Sized]) {
    let each = |size: &Sized| size.ns / f64::from(size.bytes.saturating_sub(4096).max(1));
    op.byte_ns = sizes.last().map_or(0.0, each);
    op.sizes.clear();
    if sizes.len() > 1 && op.byte_ns > 0.0 {
        let factor = |size: &Sized| (size.bytes, (each(size) / op.byte_ns).clamp(0.001, 1e3));
        op.sizes = sizes.iter().map(factor).collect();
    }
}

/// Entries by place as a description has them.
fn list<T>(entries: &[(u32, T)], show: impl Fn(&T) -> String) -> String {
    let entries: Vec<String> =
        entries.iter().map(|(at, value)| format!("[{at}, {}]", show(value))).collect();
    format!("[{}]", entries.join(", "))
}
