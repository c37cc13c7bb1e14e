//! A flow-equivalent drive from measurements.
//!
//! The times of the laws are found by least squares. What is between drive and program (a link, the
//! engine that takes completions together) has its part in what was measured, so the model is
//! played as the disk was, and the points the laws go through are corrected by what came out.

use super::law::{Point, nearest, unseen_errors};
use super::observed::{Facts, Observed, Role};
use super::play::Length;
use super::text::Text;
use super::{Candidate, link_table};
use crate::describe::Provenance;
use crate::flow::{FlowParams, Law, OpParams};

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

/// A candidate by one law.
pub struct FlowFit<'a> {
    facts: &'a Facts,
    law: Law,
    seen: Vec<Seen<'a>>,
    params: FlowParams,
}

impl<'a> FlowFit<'a> {
    /// Fits a drive to phases of which at least one is a point of the curve.
    pub fn new(facts: &'a Facts, law: Law, used: &[&'a Observed]) -> Self {
        let seen = used
            .iter()
            .filter_map(|observed| Some(Seen { observed, role: observed.role()?, share: 1.0 }))
            .collect();
        let none = OpParams { law, alone_ns: 0.0, each_ns: 0.0, byte_ns: 0.0 };
        let params = FlowParams {
            capacity_bytes: facts.capacity_bytes,
            depth: facts.depth.unwrap_or(DEPTH).max(1),
            read: none,
            write: none,
            mixed: 1.0,
            flush_ns: 0,
            variation: Vec::new(),
        };
        let mut fit = Self { facts, law, seen, params };
        fit.params.variation = fit.variation();
        fit.solve();
        for _ in 0..ROUNDS {
            fit.correct();
            fit.solve();
        }
        fit
    }

    /// How far the law is from points of the curve it has not seen.
    pub fn unseen_errors(&self) -> Vec<f64> {
        unseen_errors(self.law, &self.points(curve))
    }

    /// The drive's own times by depth, of reads or of writes.
    fn points(&self, of: fn(Role) -> Option<u32>) -> Vec<Point> {
        let points = self.seen.iter();
        let point = |s: &Seen<'_>| Some((of(s.role)?, s.observed.time_ns() * s.share));
        let mut points: Vec<Point> = points.filter_map(point).collect();
        points.sort_by_key(|(n, _)| *n);
        points
    }

    /// The laws' times for the points as they are now.
    fn solve(&mut self) {
        let bytes = |op: OpParams| op.byte_ns;
        let (read_byte, write_byte) = (bytes(self.params.read), bytes(self.params.write));
        let mut read = nearest(self.law, &self.points(curve));
        let writes = self.points(writes);
        let mut write = match writes.as_slice() {
            [] => read,
            // The curve's shape, at the height of the one depth that was measured.
            [(n, time)] => {
                let factor = time / read.time_ns(*n);
                OpParams {
                    alone_ns: read.alone_ns * factor,
                    each_ns: read.each_ns * factor,
                    ..read
                }
            }
            points => nearest(Law::Balanced, points),
        };
        (read.byte_ns, write.byte_ns) = (read_byte, write_byte);
        (self.params.read, self.params.write) = (read, write);
    }

    /// Plays every phase and sets right what it is to set right.
    fn correct(&mut self) {
        let Ok(model) = self.model() else { return };
        for index in 0..self.seen.len() {
            let Seen { observed, role, .. } = self.seen[index];
            let played = super::play::play(&model, &observed.workload, Length::Requests(REQUESTS));
            if played.requests_per_s <= 0.0 {
                continue;
            }
            let ratio = observed.requests_per_s / played.requests_per_s;
            let longer_ns = 1e9 / observed.requests_per_s - 1e9 / played.requests_per_s;
            let bytes = f64::from(observed.workload.max_bytes());
            let params = &mut self.params;
            let took = 1e9 * f64::from(observed.depth()) / played.requests_per_s;
            match role {
                Role::Curve(n) => self.seen[index].share = params.read.time_ns(n) / took,
                Role::Writes(n) => self.seen[index].share = params.write.time_ns(n) / took,
                Role::SequentialRead => add(&mut params.read.byte_ns, longer_ns / bytes),
                Role::SequentialWrite => add(&mut params.write.byte_ns, longer_ns / bytes),
                Role::Mix => params.mixed = (params.mixed * ratio).clamp(0.1, 10.0),
                Role::Commit => {
                    let flush_ns = params.flush_ns as f64 + longer_ns;
                    params.flush_ns = flush_ns.clamp(0.0, 6e10) as u64;
                }
            }
        }
    }

    /// How single times vary: as those of reads at the lowest depth, where they are known.
    fn variation(&self) -> Vec<(f64, f64)> {
        let curve = self.seen.iter().filter(|s| curve(s.role).is_some());
        let Some(lowest) = curve.min_by_key(|s| s.observed.depth()) else { return Vec::new() };
        let mean = lowest.observed.read_ns_mean.unwrap_or(0.0);
        let times = &lowest.observed.read_times;
        if times.len() < 2 || mean <= 0.0 {
            return Vec::new();
        }
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        times.iter().map(|(share, ns)| (*share, rounded(ns / mean))).collect()
    }

    fn phases(&self, fits: impl Fn(Role) -> bool) -> Vec<String> {
        let fitting = self.seen.iter().filter(|s| fits(s.role));
        fitting.map(|s| s.observed.phase.clone()).collect()
    }

    /// `times` are the phases that the times were fitted on. One alone says nothing of the law.
    fn operation(&self, text: &mut Text, name: &str, op: &OpParams, times: &[String]) {
        let several = if times.len() > 1 { times } else { &[] };
        let sequential = match name {
            "read" => Role::SequentialRead,
            _ => Role::SequentialWrite,
        };
        let bytes = self.phases(|role| role == sequential);
        text.table(&format!("drive.{name}"));
        let law = match op.law {
            Law::Balanced => "balanced",
            Law::Bottleneck => "bottleneck",
        };
        text.fitted_or_assumed("law", format_args!("\"{law}\""), several);
        text.fitted_or_assumed("alone_ns", format_args!("{:.1}", op.alone_ns), times);
        text.fitted_or_assumed("each_ns", format_args!("{:.2}", op.each_ns), several);
        text.fitted_or_assumed("byte_ns", format_args!("{:.5}", op.byte_ns), &bytes);
    }
}

impl Candidate for FlowFit<'_> {
    fn kind(&self) -> &'static str {
        "flow"
    }

    fn toml(&self, head: Text) -> String {
        let mut text = head;
        link_table(&mut text, self.facts);
        let FlowParams { capacity_bytes, depth, read, write, mixed, flush_ns, variation } =
            &self.params;
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
        let points: Vec<String> = variation.iter().map(|(q, f)| format!("[{q}, {f:?}]")).collect();
        let points = format!("[{}]", points.join(", "));
        let on: Vec<String> = curve.first().cloned().into_iter().collect();
        match variation.is_empty() {
            true => text.value("variation", points, Provenance::Assumed),
            false => text.fitted("variation", points, &on),
        }
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

/// Adds what may be negative to a time that may not.
fn add(time: &mut f64, more: f64) {
    *time = (*time + more).max(0.0);
}
