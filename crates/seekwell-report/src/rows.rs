//! The table of phases: one row for each operation of each phase, as strings with their units taken
//! out where the column has one.

use crate::text::clean;
use crate::units::{binary, grouped, iops, percent, rate, time};
use seekwell_io::measurement::Issuer;
use seekwell_io::request::Op;
use seekwell_io::units::three_digits;
use seekwell_io::workload::{Pace, Workload};
use seekwell_runs::{Phase, Repeat, ReplayMode, RunDocument, Work};
use serde::Serialize;

/// What stands if nothing was measured.
pub const NONE: &str = "—";

/// What stands under figures in MB/s that hdparm's may be held against.
pub(crate) const BESIDE_HDPARM: &str = "hdparm prints MiB/s as MB/sec, figures 4.6 % lower";

/// One operation of one phase. All text is clean; what was not measured is `—`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    pub phase: String,
    pub title: String,
    /// The operation; `commit` for a flush after every write.
    pub op: String,
    pub rate: String,
    pub iops: String,
    pub p50: String,
    /// 99th percentile.
    pub p99: String,
    /// 99.9th percentile.
    pub p99_9: String,
    /// Highest less lowest repeat, over the median, of requests a second.
    pub spread: String,
    /// Nanoseconds of CPU time for each request of the phase.
    pub cpu: String,
    /// Requests of the phase for each system call to submit and to reap.
    pub calls: String,
    /// Bytes the device counted over bytes asked for.
    pub device_share: String,
    pub amplification: String,
    /// Moved by a modelled drive's garbage collection.
    pub collected: String,
    /// Superblocks that it erased.
    pub erased: String,
    /// Why it was not run, or which repeats were left out.
    pub remark: Option<String>,
}

/// The rows of a run, in the order of its phases. A phase that gave nothing has one row that says
/// why. The steps of a suite are no rows: see [`crate::steps`].
pub fn rows(document: &RunDocument) -> Vec<Row> {
    let of_requests = |p: &&Phase| !matches!(p.workload, Work::Suite(_));
    document.phases.iter().filter(of_requests).flat_map(rows_of).collect()
}

fn rows_of(phase: &Phase) -> Vec<Row> {
    let remark = remark(phase);
    let has = |op: &Op| phase.metrics.contains_key(&format!("{}.requests_per_s", op.name()));
    let ops: Vec<Op> = Op::ALL.into_iter().filter(has).collect();
    if ops.is_empty() {
        return vec![row(phase, None, remark)];
    }
    let rows = ops.into_iter().enumerate();
    rows.map(|(i, op)| row(phase, Some(op), remark.clone().filter(|_| i == 0))).collect()
}

/// Why a phase was not run, or which of its repeats were left out.
pub fn remark(phase: &Phase) -> Option<String> {
    if let Some(why) = &phase.skipped {
        return Some(format!("not run: {}", clean(why)));
    }
    let mut left_out: Vec<(String, Vec<String>)> = Vec::new();
    for (i, repeat) in phase.repeats.iter().enumerate() {
        let Some(why) = repeat.invalid.as_deref().map(clean) else { continue };
        let number = (i + 1).to_string();
        match left_out.iter_mut().find(|(known, _)| *known == why) {
            Some((_, numbers)) => numbers.push(number),
            None => left_out.push((why, vec![number])),
        }
    }
    let said = left_out.into_iter().map(|(why, numbers)| match numbers.as_slice() {
        [one] => format!("repeat {one} left out: {why}"),
        many => format!("repeats {} left out: {why}", many.join(", ")),
    });
    let mut all: Vec<String> = said.collect();
    all.extend(issued(phase).map(str::to_owned));
    let next = phase.repeats.len() + 1;
    let cut_short = phase.cut_short.as_deref().map(clean);
    all.extend(cut_short.map(|why| format!("not run from repeat {next} on: {why}")));
    all.extend(said_of_jobs(phase));
    match (all.is_empty(), phase.repeats.is_empty()) {
        (false, _) => Some(all.join("; ")),
        (true, true) => Some("not run".to_owned()),
        (true, false) => None,
    }
}

/// Who made the requests, if that is not who is asked for them.
fn issued(phase: &Phase) -> Option<&'static str> {
    let workload = phase.workload.drawn()?;
    match phase.repeats.iter().find_map(|repeat| repeat.issuer)? {
        Issuer::RingWorkers => Some(
            "made by threads of the kernel that serve the ring: the device cannot be asked \
             without waiting",
        ),
        Issuer::Calls if workload.pace.depth() > 1 => Some(
            "made by system calls, one after the other: the device completes each within the call",
        ),
        Issuer::Ring | Issuer::Calls | Issuer::Pool => None,
    }
}

/// What is to be known of a job's figures beside them: options without effect, notes of its runs.
fn said_of_jobs(phase: &Phase) -> Vec<String> {
    let Work::Job(job) = &phase.workload else { return Vec::new() };
    let notes = phase.repeats.iter().flat_map(|repeat| &repeat.notes);
    let mut said: Vec<String> = Vec::new();
    for text in job.warnings.iter().chain(notes).map(|text| clean(text)) {
        if !said.contains(&text) {
            said.push(text);
        }
    }
    said
}

fn row(phase: &Phase, op: Option<Op>, remark: Option<String>) -> Row {
    let name = op.map_or("", Op::name);
    let of = |metric: &str, write: fn(f64) -> String| {
        phase.median(metric).map_or_else(|| NONE.to_owned(), write)
    };
    let some = |metric: &str, write: fn(f64) -> String| {
        phase.median(metric).filter(|v| *v > 0.0).map_or_else(|| NONE.to_owned(), write)
    };
    let latency = |quantile: &str| {
        let clock = if waits(phase, op) { "response" } else { "latency" };
        let wanted = format!("{name}.{clock}_ns_{quantile}");
        let found = phase.median(&wanted);
        let found = found.or_else(|| phase.median(&format!("{name}.latency_ns_{quantile}")));
        found.map_or_else(|| NONE.to_owned(), time)
    };
    let moved = phase.median(&format!("{name}.rate_bytes_per_s")).filter(|r| *r > 0.0);
    let spread = phase.metrics.get(&format!("{name}.requests_per_s"));
    Row {
        phase: phase.name.clone(),
        title: clean(&phase.title),
        op: operation(phase, op),
        rate: moved.map_or_else(|| NONE.to_owned(), rate),
        iops: of(&format!("{name}.requests_per_s"), iops),
        p50: latency("p50"),
        p99: latency("p99"),
        p99_9: latency("p99_9"),
        spread: match spread {
            None => NONE.to_owned(),
            Some(s) if s.n < 2 => "one run".to_owned(),
            Some(s) => percent(s.relative()),
        },
        cpu: of("cpu_ns_per_request", grouped),
        calls: of("requests_per_syscall", three_digits),
        device_share: of("device_share", percent),
        amplification: of(Repeat::AMPLIFICATION, |ratio| format!("{ratio:.2}")),
        collected: some(Repeat::COLLECTED, |bytes| binary(bytes as u64)),
        erased: some(Repeat::ERASED, grouped),
        remark,
    }
}

/// Whether the latency that counts begins before the request was submitted: under a fixed rate, and
/// for a commit, which begins with its write.
fn waits(phase: &Phase, op: Option<Op>) -> bool {
    match &phase.workload {
        Work::Drawn(w) => is_open(w) || (op == Some(Op::Flush) && w.flush_every > 0),
        Work::Replayed(replay) => replay.mode != ReplayMode::Depth,
        Work::Suite(_) => false,
        // A flush is timed from its first write on; a request under a rate from when it was due.
        Work::Job(_) => op.is_some_and(|op| responds(phase, op)),
    }
}

/// Whether requests of this kind were wanted at a time.
fn responds(phase: &Phase, op: Op) -> bool {
    phase.repeats.iter().any(|r| r.ops.get(op.name()).is_some_and(|o| o.response.is_some()))
}

fn is_open(workload: &Workload) -> bool {
    matches!(workload.pace, Pace::Open { .. })
}

fn operation(phase: &Phase, op: Option<Op>) -> String {
    match op {
        None => NONE.to_owned(),
        Some(Op::Flush) if phase.workload.drawn().is_some_and(|w| w.flush_every == 1) => {
            "commit".to_owned()
        }
        Some(Op::Flush) if matches!(phase.workload, Work::Job(_)) => {
            "flush, with the writes before it".to_owned()
        }
        Some(op) if phase.workload.drawn().is_none_or(is_open) && waits(phase, Some(op)) => {
            format!("{}, from when it was due", op.name())
        }
        Some(op) => op.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use seekwell_io::measurement::Stopped;
    use seekwell_io::workload::Pattern;
    use seekwell_runs::{Repeat, Skipped};

    #[test]
    fn a_phase_that_was_cut_short_says_from_which_repeat_on() {
        // A slow disk had one repeat instead of three, and nothing said why.
        let workload = Workload::closed(Pattern::Random, 100, 4096, 1, 1 << 30);
        let phase = Phase {
            repeats: vec![Repeat::new(1, Stopped::Finished)],
            cut_short: Some(Skipped::OutOfTime),
            ..Phase::new("rand-read-4k-d1", "random read", workload)
        };
        let said = "not run from repeat 2 on: the time for the whole run was over";
        assert_eq!(remark(&phase).as_deref(), Some(said));
    }

    #[test]
    fn a_commit_counts_from_its_write_and_not_from_its_flush() {
        let (document, _) = testing::rich();
        let phase = document.phase("commit-4k").expect("the sample commits");
        let all = rows(&document);
        let commit = all.iter().find(|r| r.op == "commit").expect("a row for the commit");
        let response = phase.median("flush.response_ns_p50").expect("measured");
        assert_eq!(commit.p50, time(response));
        assert_ne!(Some(response), phase.median("flush.latency_ns_p50"));
        assert_eq!(commit.rate, NONE, "a flush moves no bytes");
    }

    #[test]
    fn a_mix_has_a_row_for_each_of_its_operations() {
        let (document, _) = testing::rich();
        let all = rows(&document);
        let mix: Vec<&str> =
            all.iter().filter(|r| r.phase.starts_with("mix")).map(|r| r.op.as_str()).collect();
        assert_eq!(mix, ["read", "write"]);
    }

    #[test]
    fn what_was_not_measured_is_a_dash_with_its_reason() {
        let (document, _) = testing::degraded();
        let all = rows(&document);
        let skipped = all.iter().find(|r| r.phase == "seq-write-1m").expect("a row");
        assert_eq!((skipped.rate.as_str(), skipped.op.as_str()), (NONE, NONE));
        assert_eq!(
            skipped.remark.as_deref(),
            Some("not run: the target is only read: writing would destroy what it holds")
        );
        let left_out = all.iter().find(|r| r.phase == "seq-read-1m").expect("a row");
        assert_eq!(left_out.remark.as_deref(), Some("repeat 1 left out: served by a cache"));
        let single = all.iter().find(|r| r.phase == "rand-read-4k-d1").expect("a row");
        assert_eq!((single.spread.as_str(), single.p99.as_str()), ("one run", NONE));
    }
}
