//! Runs this program made. One run gives one number per metric: the median of its repeats, which
//! are not runs of their own, since they share the minute they were made in.

use crate::model::{Better, Class, Group, Rank, RunValues, Unit, Value};
use seekwell_io::request::Op;
use seekwell_io::workload::{Discards, Pace, Pattern, Workload};
use seekwell_runs::limits::PhaseLimit;
use seekwell_runs::{Medium, Phase, Replay, ReplayMode, RunDocument, SuiteStep, Work};
use std::collections::BTreeMap;

/// A block of this size or more is spoken of in bytes a second, a smaller one in requests.
const LARGE_BLOCK: u32 = 64 << 10;

pub fn values(run: &RunDocument) -> RunValues {
    let mut about = BTreeMap::from([
        ("seekwell version".to_owned(), run.tool.version.clone()),
        ("engine".to_owned(), run.engine.name.clone()),
    ]);
    if let Some(commit) = &run.tool.git_commit {
        about.insert("seekwell commit".into(), commit.clone());
    }
    about.extend(run.medium.as_ref().map(|m| ("measured".to_owned(), medium(m))));
    if let Some(Medium::Machine { title, set, .. }) = &run.medium {
        about.insert("machine".into(), title.clone());
        let changed = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        about.extend(set.iter().filter_map(|s| s.split_once('=')).map(changed));
    }
    let (mut left_out, mut skipped) = (Vec::new(), BTreeMap::<&str, Vec<&str>>::new());
    let mut groups = Vec::new();
    for phase in &run.phases {
        let invalid =
            || phase.repeats.iter().find_map(|r| r.invalid.as_ref().map(ToString::to_string));
        if let Some(why) = &phase.skipped {
            skipped.entry(why).or_default().push(&phase.name);
        } else if phase.metrics.is_empty() {
            let why = invalid().unwrap_or_else(|| "nothing was measured".to_owned());
            left_out.push(format!("{}, {}: {why}", run.id, phase.name));
        } else {
            groups.push(group(phase));
        }
    }
    left_out.extend(skipped.into_iter().map(|(why, of)| format!("{why}: {}", of.join(", "))));
    RunValues {
        name: run.id.clone(),
        started_at: Some(run.started_at.clone()),
        modelled: run.modelled,
        about,
        inspection: Some(Box::new(run.inspection.clone())),
        groups,
        limits: run.limits.iter().filter(|limit| limit.is_known()).map(limited).collect(),
        left_out,
    }
}

fn limited(limit: &PhaseLimit) -> (String, String) {
    (limit.phase.clone(), limit.name.clone())
}

fn medium(medium: &Medium) -> String {
    match medium {
        Medium::TemporaryFile { .. } => "a temporary file".into(),
        Medium::ReadOnly { device: Some(_), .. } => "the device below it, read only".into(),
        Medium::ReadOnly { .. } => "the target itself, read only".into(),
        Medium::Destroyed { .. } => "a device given to be overwritten".into(),
        Medium::Null => "the null target".into(),
        Medium::Machine { .. } => "a modelled machine".into(),
    }
}

fn group(phase: &Phase) -> Group {
    let failed: u64 = phase.repeats.iter().map(|r| r.failed).sum();
    let invalid = (failed > 0).then(|| format!("{failed} requests failed"));
    // What a commit costs is what its flush answers; its write is part of it.
    let mut ops: Vec<Op> = Op::ALL.into_iter().filter(|op| occurs(phase, *op)).collect();
    if phase.workload.drawn().is_some_and(|w| w.flush_every == 1) {
        ops.sort_by_key(|op| *op != Op::Flush);
    }
    let values = phase.metrics.iter().filter_map(|(name, spread)| {
        let known = describe(name, &phase.workload, ops.first().copied())?;
        let repeats = (spread.n > 1).then_some((spread.low, spread.high));
        Some(Value { value: spread.median, repeats, ..known }).filter(|v| v.value.is_finite())
    });
    Group {
        name: phase.name.clone(),
        title: phase.title.clone(),
        identity: identity_of(&phase.workload),
        invalid,
        values: values.collect(),
    }
}

fn occurs(phase: &Phase, op: Op) -> bool {
    phase.metrics.contains_key(&format!("{}.requests_per_s", op.name()))
}

fn identity_of(work: &Work) -> BTreeMap<String, String> {
    match work {
        Work::Drawn(workload) => identity(workload),
        Work::Replayed(replay) => replayed(replay),
        Work::Suite(SuiteStep { suite, step, tunables, .. }) => {
            let mut out = tunables.clone();
            out.extend([("suite".into(), suite.clone()), ("step".into(), step.clone())]);
            out
        }
        Work::Job(job) => {
            let mut out = job.options.clone();
            out.insert("jobs".into(), job.jobs.join(", "));
            out.insert("clones".into(), job.clones.to_string());
            out.insert("reads_back".into(), job.reads_back.to_string());
            out
        }
    }
}

/// Everything that decides what is played back. The target's size is not among it.
fn replayed(replay: &Replay) -> BTreeMap<String, String> {
    let requests: Vec<String> = replay.requests.iter().map(|(op, n)| format!("{n} {op}")).collect();
    let mode = match replay.mode {
        ReplayMode::Timed => "timed",
        ReplayMode::Depth => "depth",
        ReplayMode::Dependent => "dependent",
    };
    let depth = match replay.recorded_depth {
        true => "as recorded".to_owned(),
        false => replay.depth.to_string(),
    };
    let fields = [
        ("trace", replay.trace.clone()),
        ("recorded_device", replay.recorded_device.clone().unwrap_or_default()),
        ("trace_requests", requests.join(", ")),
        ("span_ns", replay.span_ns.0.to_string()),
        ("mode", mode.to_owned()),
        ("times", replay.times.clone()),
        ("speed", replay.speed.to_string()),
        ("depth", depth),
        ("tags", replay.tags.map(|tags| tags.to_string()).unwrap_or_default()),
        ("tag_policy", replay.tag_policy.clone().unwrap_or_default()),
        ("fit", replay.fit.clone()),
        ("writes", replay.writes.to_string()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Everything that decides a workload's requests, but for the seed: repeats differ in it.
pub fn identity(w: &Workload) -> BTreeMap<String, String> {
    let sizes: Vec<String> = w.sizes.iter().map(|s| format!("{}x{}", s.bytes, s.weight)).collect();
    let pace = match w.pace {
        Pace::Closed { depth } => format!("closed loop, depth {depth}"),
        Pace::Open { requests_per_s, poisson, depth } => {
            let how = if poisson { "Poisson" } else { "even" };
            format!("{requests_per_s} arrivals a second, {how}, at most {depth} outstanding")
        }
    };
    let pattern = match (w.pattern, w.pattern.distribution()) {
        (_, Some(distribution)) => distribution.replace(':', " "),
        (Pattern::Sequential, None) => "sequential".to_owned(),
        _ => "random".to_owned(),
    };
    let discards = match w.discards {
        Discards::None => None,
        Discards::All => Some("all"),
        Discards::BeforeWrites => Some("before writes"),
    };
    let fields = [
        ("pattern", pattern),
        ("read_percent", w.read_percent.to_string()),
        ("sizes", sizes.join(" ")),
        ("alignment_bytes", w.alignment().to_string()),
        ("pace", pace),
        ("flush_every", w.flush_every.to_string()),
        ("offset_bytes", w.offset_bytes.to_string()),
        ("region_bytes", w.region_bytes.to_string()),
        ("threads", w.threads.to_string()),
        ("direct", w.direct.to_string()),
        ("runtime_ns", w.runtime_ns.0.to_string()),
        ("ramp_ns", w.ramp_ns.0.to_string()),
        ("requests", w.requests.to_string()),
    ];
    let discards = discards.map(|which| ("discards", which.to_owned()));
    fields.into_iter().chain(discards).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A metric of a run document in words, `read latency p99`; `None` for a name this version does not
/// know.
pub fn metric_title(name: &str, work: &Work) -> Option<String> {
    describe(name, work, None).map(|value| value.title)
}

/// What a metric of a phase is; `None` for a name this version does not know, which a later one
/// may have written.
fn describe(name: &str, work: &Work, first: Option<Op>) -> Option<Value> {
    let value = |title: &str, family: &str, about| Value::new(name, title, family, about, 0.0);
    let (neither, lower) = (Better::Neither, Better::Lower);
    let known = match name {
        "cpu_percent" => Some(("CPU", "CPU", (Unit::Percent, neither, Class::Cpu))),
        "cpu_ns_per_request" => {
            Some(("CPU for each request", "CPU", (Unit::Nanoseconds, lower, Class::Cpu)))
        }
        "requests_per_syscall" => {
            let about = (Unit::Count, neither, Class::Other);
            Some(("requests for each system call", "batching", about))
        }
        "device_share" => {
            let about = (Unit::Share, neither, Class::Other);
            Some(("share that reached the device", "device share", about))
        }
        _ => None,
    };
    if let Some((title, family, about)) = known {
        return Some(value(title, family, about));
    }
    if let Work::Suite(step) = work
        && !name.contains('.')
    {
        return by_unit(name, name == step.primary);
    }
    let (op, rest) = name.split_once('.')?;
    let op = Op::ALL.into_iter().find(|o| o.name() == op)?;
    let drawn = work.drawn();
    let large = drawn.is_some_and(|w| w.max_bytes() >= LARGE_BLOCK);
    let open = match work {
        Work::Drawn(w) => matches!(w.pace, Pace::Open { .. }),
        Work::Replayed(replay) => replay.mode != ReplayMode::Depth,
        Work::Suite(_) => false,
        Work::Job(job) => ["rate", "rate_iops"].iter().any(|o| job.options.contains_key(*o)),
    };
    let commits = op == Op::Flush && drawn.is_some_and(|w| w.flush_every > 0);
    let part_of_commit = op != Op::Flush && drawn.is_some_and(|w| w.flush_every == 1);
    let rank_of = |chosen: bool| match (chosen && !part_of_commit, first == Some(op)) {
        (true, true) => Rank::Headline,
        (true, false) => Rank::Main,
        (false, _) => Rank::Detail,
    };
    let rated = |title: String, unit, chosen| {
        let about = (unit, Better::Higher, Class::Throughput);
        value(&title, op.name(), about).ranked(rank_of(chosen))
    };
    match rest {
        "requests_per_s" => {
            let chosen = !large || matches!(op, Op::Flush | Op::Discard);
            return Some(rated(format!("{} requests", op.name()), Unit::PerSecond, chosen));
        }
        "rate_bytes_per_s" => {
            return Some(rated(format!("{} rate", op.name()), Unit::BytesPerSecond, large));
        }
        _ => {}
    }
    let (clock, quantile) = rest.split_once("_ns_")?;
    let (word, waits) = match clock {
        "latency" => ("latency", false),
        "response" => ("response time", true),
        _ => return None,
    };
    let (quantile, class) = match quantile {
        "mean" => ("mean", Class::TypicalLatency),
        "p50" => ("p50", Class::TypicalLatency),
        "p90" => ("p90", Class::TailLatency),
        "p99" => ("p99", Class::TailLatency),
        "p99_9" => ("p99.9", Class::TailLatency),
        "p99_99" => ("p99.99", Class::TailLatency),
        "max" => ("longest", Class::Maximum),
        _ => return None,
    };
    let chosen = quantile == "p99" && waits == (open || commits) && !part_of_commit;
    let title = format!("{} {word} {quantile}", op.name());
    let rank = if chosen { Rank::Main } else { Rank::Detail };
    Some(value(&title, op.name(), (Unit::Nanoseconds, lower, class)).ranked(rank))
}

/// A value of a suite's step: the end of its name is its unit, and its unit says which way is
/// better.
fn by_unit(name: &str, primary: bool) -> Option<Value> {
    let (higher, lower) = (Better::Higher, Better::Lower);
    let units = [
        ("_bytes_per_s", Unit::BytesPerSecond, higher, Class::Throughput),
        ("_per_s", Unit::PerSecond, higher, Class::Throughput),
        ("_ns_p99", Unit::Nanoseconds, lower, Class::TailLatency),
        ("_ns_max", Unit::Nanoseconds, lower, Class::Maximum),
        ("_ns_mean", Unit::Nanoseconds, lower, Class::TypicalLatency),
        ("_ns_p50", Unit::Nanoseconds, lower, Class::TypicalLatency),
        ("_ns", Unit::Nanoseconds, lower, Class::TypicalLatency),
        ("_percent", Unit::Percent, Better::Neither, Class::Cpu),
        ("_share", Unit::Share, Better::Neither, Class::Other),
        ("_count", Unit::Count, Better::Neither, Class::Other),
    ];
    let (stem, (suffix, unit, better, class)) =
        units.into_iter().find_map(|known| Some((name.strip_suffix(known.0)?, known)))?;
    let quantile = suffix.strip_prefix("_ns_").map_or(String::new(), |q| format!(" {q}"));
    let title = format!("{}{quantile}", stem.replace('_', " "));
    let rank = if primary { Rank::Headline } else { Rank::Detail };
    Some(Value::new(name, title, stem, (unit, better, class), 0.0).ranked(rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_runs::Spread;

    fn phase(workload: Workload, metrics: &[&str]) -> Phase {
        let spread = |name: &&str| (name.to_string(), Spread::of(&[1.0, 2.0, 3.0]).unwrap());
        Phase {
            metrics: metrics.iter().map(spread).collect(),
            ..Phase::new("phase", "a phase", workload)
        }
    }

    fn headline(phase: &Phase) -> Vec<String> {
        let group = group(phase);
        let headlines = group.values.iter().filter(|v| v.rank == Rank::Headline);
        headlines.map(|v| v.metric.clone()).collect()
    }

    #[test]
    fn small_blocks_are_about_requests_large_ones_about_bytes_and_commits_about_flushes() {
        let closed = |bytes| Workload::closed(Pattern::Random, 100, bytes, 1, 1 << 30);
        let rates = ["read.requests_per_s", "read.rate_bytes_per_s"];
        assert_eq!(headline(&phase(closed(4096), &rates)), ["read.requests_per_s"]);
        assert_eq!(headline(&phase(closed(1 << 20), &rates)), ["read.rate_bytes_per_s"]);
        let commit = Workload { flush_every: 1, read_percent: 0, ..closed(4096) };
        let rates = ["flush.requests_per_s", "write.requests_per_s", "flush.response_ns_p99"];
        assert_eq!(headline(&phase(commit.clone(), &rates)), ["flush.requests_per_s"]);
        let group = group(&phase(commit, &rates));
        assert_eq!(group.value("flush.response_ns_p99").unwrap().rank, Rank::Main);
        assert_eq!(group.value("write.requests_per_s").unwrap().rank, Rank::Detail);
    }

    #[test]
    fn a_run_gives_the_median_of_its_repeats_and_how_far_they_lie_apart() {
        let workload = Workload::closed(Pattern::Random, 100, 4096, 1, 1 << 30);
        let group = group(&phase(workload, &["read.latency_ns_p99", "read.later_version", "x"]));
        assert_eq!(group.values.len(), 1, "names of a later version are passed over");
        assert_eq!(group.values[0].value, 2.0);
        assert_eq!(group.values[0].repeats, Some((1.0, 3.0)));
    }

    #[test]
    fn the_seed_is_no_part_of_a_workload_and_everything_else_is() {
        let one = Workload::closed(Pattern::Random, 100, 4096, 1, 1 << 30);
        assert_eq!(identity(&one), identity(&Workload { seed: 99, ..one.clone() }));
        let others = [
            Workload { pattern: Pattern::Sequential, ..one.clone() },
            Workload { pattern: Pattern::Zipf { theta: 1.1 }, ..one.clone() },
            Workload { read_percent: 99, ..one.clone() },
            Workload { flush_every: 1, ..one.clone() },
            Workload { region_bytes: 1 << 29, ..one.clone() },
            Workload { offset_bytes: 4096, ..one.clone() },
            Workload { threads: 2, ..one.clone() },
            Workload { direct: false, ..one.clone() },
            Workload { align_bytes: 512, ..one.clone() },
            Workload::closed(Pattern::Random, 100, 8192, 1, 1 << 30),
            Workload::closed(Pattern::Random, 100, 4096, 2, 1 << 30),
        ];
        for other in &others {
            assert_ne!(identity(&one), identity(other), "{other:?}");
        }
    }
}
