//! `seekwell tune plan --iocost`: the six numbers of the kernel's linear cost model, measured as
//! `tools/cgroup/iocost_coef_gen.py` of the kernel defines them.
//!
//! Each is the mean rate of one run past the page cache by one job: bytes per second of sequential
//! requests of 128 MiB, one at a time, and requests per second of 4 KiB, 64 outstanding, sequential
//! and random. Meanwhile the disk has no scheduler, merges only simple cases and is not controlled,
//! as there. The latency targets follow the rule that resctl-bench calls naive: the 99th percentile
//! of the random runs, and rates between 75 and 100 % of the model's.

use crate::experiment::Setter;
use crate::{Host, RealExecutor, RunError, Wanted, Watcher, is_modelled, look, pick, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{ExecuteError, Executor, metrics, summarize};
use seekwell_experiment::{Applied, NotRestored, Setting};
use seekwell_inspect::TargetKind;
use seekwell_io::measurement::Stopped;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_sys::{View, path_text};
use seekwell_tune::apply::current;
use seekwell_tune::setting::{COEFFICIENTS, Values, find};
use seekwell_tune::{Commanded, Disk, Identity, TuneError};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long each run takes where nothing else is asked for, as in the kernel's script.
pub const IOCOST_RUNTIME: Nanos = Nanos::from_millis(120_000);

/// The script's file; a disk with a fast region needs more.
const FILE_BYTES: u64 = 16 << 30;

const LARGE: u32 = 128 << 20;
const PAGE: u32 = 4096;
const DEPTH: u32 = 64;

/// What the disk has meanwhile.
const MEANWHILE: [(&str, &str); 3] =
    [("io.cost.qos", "enable=0 ctrl=auto"), ("scheduler", "none"), ("nomerges", "1")];

/// What is measured, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct IocostOptions<'a> {
    /// A disk, a directory on it, or a modelled machine.
    pub target: &'a Path,
    /// Of each run.
    pub runtime: Nanos,
    /// Size of the temporary file, or of the part of the target used.
    pub size_bytes: Option<u64>,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
}

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct IocostRun {
    /// The number it gives, as the kernel names it.
    pub name: &'static str,
    /// The number: bytes or requests per second.
    pub value: u64,
    /// Size of its requests.
    pub request_bytes: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Its 99th percentile of latency, where it made enough requests.
    pub latency_ns_p99: Option<u64>,
}

/// What was measured, and what follows: the document `seekwell/tune-iocost/1`.
#[derive(Debug, Clone, Serialize)]
pub struct IocostDocument {
    /// `seekwell/tune-iocost/1`.
    pub schema: &'static str,
    /// What was measured.
    pub target: String,
    /// The disk; of a modelled machine there is none.
    pub disk: Option<Identity>,
    /// Time of each run.
    pub runtime_ns: Nanos,
    /// Bytes of the target that were used.
    pub region_bytes: u64,
    /// Settings that the disk had meanwhile only.
    pub meanwhile: Vec<Applied>,
    /// Every run; without writes where nothing may be written.
    pub runs: Vec<IocostRun>,
    /// The value of `io.cost.model`.
    pub model: String,
    /// A value for `io.cost.qos`.
    pub qos: String,
    /// The command that tries both.
    pub try_command: Option<Vec<String>>,
    /// What could not be put back.
    pub not_restored: Vec<NotRestored>,
}

/// Measures the model of a disk, or of a machine.
///
/// # Errors
/// [`RunError`] when the target cannot be measured, or a run gave no valid number.
pub fn iocost(
    host: Host<'_>,
    watcher: &impl Watcher,
    options: &IocostOptions<'_>,
) -> Result<IocostDocument, RunError> {
    let inspection = look(host.view, options.target)?;
    let writes = matches!(inspection.kind, TargetKind::Directory | TargetKind::Machine)
        || options.destroy.is_some();
    let modelled = is_modelled(options.target);
    let view = Commanded::new(host.view);
    let disk = match modelled {
        true => None,
        false => Some(Disk::of(&view, options.target).map_err(TuneError::from)?),
    };
    let engine = match modelled {
        true => Engine::Auto,
        false => pick(Engine::Auto, |text| watcher.note(text))?.0,
    };
    let wanted = Wanted {
        set: &[],
        inspection: &inspection,
        offset_bytes: 0,
        size_bytes: options.size_bytes,
        default_bytes: FILE_BYTES,
        blank: false,
        destroy: options.destroy,
        writes,
    };
    let ready = prepare(&wanted, host, watcher)?;
    if !ready.inputs.direct {
        let why = "the target cannot be read past the page cache".to_owned();
        return Err(RunError::NotMeasured { why });
    }
    let region_bytes = ready.inputs.region_bytes;
    let mut executor = RealExecutor::new(ready.source, engine, None, Arc::clone(host.control));
    executor.keep_machine();
    let plan: Vec<(&'static str, Workload)> = COEFFICIENTS
        .into_iter()
        .take(if writes { 6 } else { 3 })
        .map(|name| {
            (name, Workload { runtime_ns: options.runtime, ..workload(name, region_bytes) })
        })
        .collect();
    plan.iter().try_for_each(|(_, workload)| workload.check())?;
    let mut setter =
        disk.as_ref().map(|disk| meanwhile(&view, disk, &plan, options)).transpose()?;
    let meanwhile = match &mut setter {
        Some((setter, settings)) => set(setter, settings, watcher)?,
        None => Vec::new(),
    };
    let mut runs = Vec::new();
    let count = plan.len();
    for (number, (name, workload)) in plan.into_iter().enumerate() {
        watcher.doing(&format!("measuring {name}, {} of {count}", number + 1));
        runs.push(run(&mut executor, name, &workload)?);
    }
    let not_restored = setter.map(|(mut setter, _)| setter.restore()).unwrap_or_default();
    watcher.clear();
    let (model, qos) = (model(&runs), qos(&runs));
    let try_command = disk.as_ref().map(|disk| {
        let words = ["seekwell", "tune", "try"].map(str::to_owned).into_iter();
        // Commas, so that nothing need be quoted.
        let settings = [("model", &model), ("qos", &qos)];
        let settings = settings.map(|(k, v)| format!("io.cost.{k}={}", v.replace(' ', ",")));
        words.chain([path_text(&disk.node())]).chain(settings).collect()
    });
    Ok(IocostDocument {
        schema: "seekwell/tune-iocost/1",
        target: path_text(options.target),
        disk: disk.map(|disk| disk.identity),
        runtime_ns: options.runtime,
        region_bytes,
        meanwhile,
        runs,
        model,
        qos,
        try_command,
        not_restored,
    })
}

/// The run that gives one of the numbers.
fn workload(name: &str, region_bytes: u64) -> Workload {
    let reads = if name.starts_with('r') { 100 } else { 0 };
    let pattern = if name.ends_with("randiops") { Pattern::Random } else { Pattern::Sequential };
    let large = region_bytes.min(u64::from(LARGE)) as u32 / PAGE * PAGE;
    let (bytes, depth) = if name.ends_with("bps") { (large, 1) } else { (PAGE, DEPTH) };
    Workload::closed(pattern, reads, bytes, depth, region_bytes)
}

/// What sets and puts back what the disk has meanwhile, and what of it it has not yet.
fn meanwhile(
    view: &dyn View,
    disk: &Disk,
    plan: &[(&str, Workload)],
    options: &IocostOptions<'_>,
) -> Result<(Setter, Vec<Setting>), RunError> {
    let settings = MEANWHILE.into_iter().filter_map(|(key, value)| {
        let attribute = find(view, disk, key, None).ok()?;
        let now = current(&view.text(&attribute.path).ok()?);
        let takes = (attribute.setting.values)(view, disk, &attribute.path);
        // Of a line, `enable` alone decides.
        let first = value.split(' ').next().unwrap_or(value);
        let differs = !Values::same(&now, first) && takes.check(value).is_ok();
        differs.then(|| Setting { key: attribute.key, value: value.to_owned() })
    });
    let settings: Vec<Setting> = settings.collect();
    let keys = settings.iter().map(|s| s.key.clone()).collect();
    let time = Duration::from(options.runtime) * (plan.len() as u32 + 1);
    Ok((Setter::new(options.target, time, keys, false)?, settings))
}

/// Applies the settings, or says what it means that they cannot be.
fn set(
    setter: &mut Setter,
    settings: &[Setting],
    watcher: &impl Watcher,
) -> Result<Vec<Applied>, RunError> {
    match setter.apply(settings) {
        Ok(applied) => Ok(applied),
        Err(error) if error.incomplete() => Err(error.into()),
        Err(error) => {
            let words: Vec<String> =
                settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect();
            watcher.note(&format!(
                "measured without {}, so the numbers are also the scheduler's: {error}",
                words.join(", ")
            ));
            Ok(Vec::new())
        }
    }
}

fn run(
    executor: &mut RealExecutor,
    name: &'static str,
    workload: &Workload,
) -> Result<IocostRun, RunError> {
    let execution = executor.execute(workload)?;
    if execution.measurement.stopped == Stopped::Interrupted {
        return Err(ExecuteError::Interrupted.into());
    }
    let repeat = summarize(&execution.measurement, execution.device, workload.seed);
    if let Some(why) = repeat.invalid {
        return Err(RunError::NotMeasured { why: format!("{name}: {why}") });
    }
    let metrics = metrics(&[repeat]);
    let op = if name.starts_with('r') { "read" } else { "write" };
    let median = |metric: &str| metrics.get(&format!("{op}.{metric}")).map(|s| s.median);
    let rate = if name.ends_with("bps") { "rate_bytes_per_s" } else { "requests_per_s" };
    Ok(IocostRun {
        name,
        value: median(rate).unwrap_or(0.0).round() as u64,
        request_bytes: workload.max_bytes(),
        depth: workload.pace.depth(),
        latency_ns_p99: median("latency_ns_p99").map(|ns| ns as u64),
    })
}

fn model(runs: &[IocostRun]) -> String {
    runs.iter().map(|r| format!("{}={}", r.name, r.value)).collect::<Vec<_>>().join(" ")
}

/// Without a run of that direction, its latency does not count (a percentile of 0).
fn qos(runs: &[IocostRun]) -> String {
    let target = |name: &str, op: char| {
        let run = runs.iter().find(|r| r.name == name);
        match run.and_then(|r| r.latency_ns_p99) {
            Some(ns) => format!("{op}pct=99.00 {op}lat={}", ns.div_ceil(1000)),
            None => format!("{op}pct=0.00"),
        }
    };
    let (read, write) = (target("rrandiops", 'r'), target("wrandiops", 'w'));
    format!("enable=1 {read} {write} min=75.00 max=100.00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_measured_by_the_run_that_defines_it() {
        let of = |name| {
            let w = workload(name, 1 << 30);
            (w.pattern, w.read_percent, w.max_bytes(), w.pace.depth(), w.threads)
        };
        assert_eq!(of("rbps"), (Pattern::Sequential, 100, 128 << 20, 1, 1));
        assert_eq!(of("rseqiops"), (Pattern::Sequential, 100, 4096, 64, 1));
        assert_eq!(of("rrandiops"), (Pattern::Random, 100, 4096, 64, 1));
        assert_eq!(of("wbps"), (Pattern::Sequential, 0, 128 << 20, 1, 1));
        assert_eq!(of("wseqiops"), (Pattern::Sequential, 0, 4096, 64, 1));
        assert_eq!(of("wrandiops"), (Pattern::Random, 0, 4096, 64, 1));
        assert_eq!(workload("rbps", (64 << 20) + 512).max_bytes(), 64 << 20);
    }

    #[test]
    fn latency_targets_are_those_of_the_random_runs_and_what_was_not_measured_does_not_count() {
        let run = |name, value, p99| IocostRun {
            name,
            value,
            request_bytes: PAGE,
            depth: DEPTH,
            latency_ns_p99: p99,
        };
        let reads = [run("rbps", 5, None), run("rrandiops", 7, Some(1_234_500))];
        assert_eq!(model(&reads), "rbps=5 rrandiops=7");
        let qos_of_reads = "enable=1 rpct=99.00 rlat=1235 wpct=0.00 min=75.00 max=100.00";
        assert_eq!(qos(&reads), qos_of_reads);
    }
}
