//! A job's options in fio's words. Direction, request size, depth and number of jobs are always
//! there, defaults too: programs that read fio's results distinguish jobs by them.

use super::distribution::Ordered;
use seekwell_inspect::TargetKind;
use seekwell_io::units::{Nanos, size_option};
use seekwell_io::workload::{Discards, Pace, Pattern, Rw, SizeShare, Workload};
use seekwell_runs::{JobWork, OpSummary, Phase, Repeat, Replay, ReplayMode, RunDocument, Work};
use std::collections::BTreeMap;

/// Options by name, in the order they were put in.
pub(super) type Options = Ordered<String>;

impl Options {
    /// A value.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    fn put(&mut self, key: &str, value: impl ToString) {
        self.0.push((key.to_owned(), value.to_string()));
    }
}

/// Those of one repeat of a phase.
pub(super) fn of(document: &RunDocument, phase: &Phase, repeat: &Repeat, name: &str) -> Options {
    let mut options = Ordered(Vec::new());
    options.put("name", name);
    match &phase.workload {
        Work::Drawn(workload) => {
            place(&mut options, document);
            drawn(&mut options, workload, repeat.seed);
        }
        Work::Replayed(replay) => {
            place(&mut options, document);
            replayed(&mut options, replay, &repeat.ops);
        }
        Work::Job(job) => of_job(&mut options, job),
        Work::Suite(_) => {}
    }
    options
}

/// As the job file has them; the engine is the one that carried out the requests.
fn of_job(options: &mut Options, job: &JobWork) {
    options.put("ioengine", &job.engine);
    let given = job.options.iter().filter(|(key, _)| !["name", "ioengine"].contains(&key.as_str()));
    given.for_each(|(key, value)| options.put(key, value));
}

fn place(options: &mut Options, document: &RunDocument) {
    options.put("ioengine", &document.engine.name);
    let inspection = &document.inspection;
    let key = match inspection.kind {
        TargetKind::Directory => "directory",
        _ => "filename",
    };
    options.put(key, &inspection.path);
}

fn drawn(options: &mut Options, w: &Workload, seed: u64) {
    let mixed = !matches!(w.read_percent, 0 | 100);
    let random = w.pattern != Pattern::Sequential;
    options.put("rw", Rw::of(random, w.read_percent, w.discards).name());
    sizes(options, &w.sizes);
    options.put("iodepth", w.pace.depth());
    options.put("numjobs", w.threads);
    options.put("thread", 1);
    options.put("group_reporting", 1);
    options.put("direct", u8::from(w.direct));
    options.put("size", w.region_bytes);
    options.put("offset", w.offset_bytes);
    if mixed {
        options.put("rwmixread", w.read_percent);
    }
    if w.align_bytes != 0 {
        options.put("blockalign", w.align_bytes);
    }
    if random {
        options.put("norandommap", 1);
        options.put("randseed", seed);
    }
    if let Some(distribution) = w.pattern.distribution() {
        options.put("random_distribution", distribution);
    }
    if let Pace::Open { requests_per_s, poisson, .. } = w.pace {
        // fio bounds reads and writes apart.
        let share = |percent: u8| requests_per_s * f64::from(percent) / 100.0;
        let both = format!("{},{}", share(w.read_percent), share(100 - w.read_percent));
        options.put("rate_iops", if mixed { both } else { requests_per_s.to_string() });
        options.put("rate_process", if poisson { "poisson" } else { "linear" });
    }
    if w.flush_every > 0 {
        options.put("fsync", w.flush_every);
    }
    if w.requests > 0 {
        options.put("number_ios", w.requests);
    }
    if w.runtime_ns > Nanos::ZERO {
        options.put("runtime", time(w.runtime_ns));
        options.put("time_based", 1);
    }
    if w.ramp_ns > Nanos::ZERO {
        options.put("ramp_time", time(w.ramp_ns));
    }
}

/// A trace has sizes of its own, so there is no `bs`.
fn replayed(options: &mut Options, replay: &Replay, ops: &BTreeMap<String, OpSummary>) {
    let read_percent = match (ops.contains_key("read"), ops.contains_key("write")) {
        (true, false) => 100,
        (false, true) => 0,
        _ => 50,
    };
    options.put("rw", Rw::of(true, read_percent, Discards::None).name());
    options.put("iodepth", replay.depth);
    options.put("numjobs", 1);
    options.put("read_iolog", &replay.trace);
    if replay.mode == ReplayMode::Depth {
        options.put("replay_no_stall", 1);
    }
}

/// One size as `bs`; several as their range, and how they share in `bssplit`, of which fio takes
/// whole percentages: rounded so that they add up to 100.
fn sizes(options: &mut Options, sizes: &[SizeShare]) {
    let of = |s: &SizeShare| size_option(s.bytes.into());
    let (Some(smallest), Some(largest)) =
        (sizes.iter().min_by_key(|s| s.bytes), sizes.iter().max_by_key(|s| s.bytes))
    else {
        return;
    };
    if smallest.bytes == largest.bytes {
        return options.put("bs", of(smallest));
    }
    options.put("bs", format!("{}-{}", of(smallest), of(largest)));
    let total = sizes.iter().map(|s| u64::from(s.weight)).sum::<u64>().max(1);
    let mut sum = 0;
    let parts: Vec<String> = sizes
        .iter()
        .map(|size| {
            let before = sum * 100 / total;
            sum += u64::from(size.weight);
            format!("{}/{}", of(size), sum * 100 / total - before)
        })
        .collect();
    options.put("bssplit", parts.join(":"));
}

/// Whole seconds as fio has them, anything else in milliseconds.
fn time(t: Nanos) -> String {
    match t.0 / 1_000_000 {
        ms if ms % 1000 == 0 => (ms / 1000).to_string(),
        ms => format!("{ms}ms"),
    }
}
