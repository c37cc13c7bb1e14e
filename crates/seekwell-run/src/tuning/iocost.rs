//! `seekwell tune plan --iocost`: the six numbers of the kernel's linear cost model, measured as
//! `tools/cgroup/iocost_coef_gen.py` of the kernel defines them.
//!
//! Each is the mean rate of one run of a job of the calibration `blk-iocost`, which repeats them on
//! a device that has settled. There the disk has no scheduler, merges only simple cases
//! and is not controlled. A plan changes nothing: what of that the disk has not is named with the
//! trial that sets it, under which the numbers are those of the definition. Two more runs give
//! latency targets: the 95th percentile of random requests that arrive at half the rate just
//! measured. The range of 75 to 100 % of the model's rates, left when latency is missed, is that
//! of resctl-bench's solution `naive`; its targets are those of a saturated disk, which a queue
//! as deep as the measurement's never misses.

use crate::calibration::{CALIBRATIONS, CalibrationFile};
use crate::{Host, RealExecutor, RunError, Wanted, Watcher, is_modelled, look, pick, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{ExecuteError, Executor, summarize};
use seekwell_inspect::TargetKind;
use seekwell_io::measurement::Stopped;
use seekwell_io::request::Op;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pace, Workload};
use seekwell_sys::{View, path_text};
use seekwell_tune::apply::current;
use seekwell_tune::setting::{COEFFICIENTS, Values, find};
use seekwell_tune::{Commanded, Disk, Identity, TuneError};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// How long each run takes if nothing else is asked for, as in the kernel's script.
pub const IOCOST_RUNTIME: Nanos = Nanos::from_millis(120_000);

/// The script's file; a disk with a fast region needs more.
const FILE_BYTES: u64 = 16 << 30;

const PAGE: u32 = 4096;

/// A temporary file is written before the first run.
const PREPARATION_S: u64 = 120;

/// What the disk has where the numbers are defined.
const DEFINED: [(&str, &str); 3] =
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

/// Every run, by the number that it gives.
const RUNS: [&str; 8] =
    ["rbps", "rseqiops", "rrandiops", "rlat", "wbps", "wseqiops", "wrandiops", "wlat"];

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct IocostRun {
    /// The number it gives, as the kernel names it.
    pub name: &'static str,
    /// The number: bytes or requests per second, or a latency in µs.
    pub value: u64,
    /// Size of its requests.
    pub request_bytes: u32,
    /// Requests outstanding at most.
    pub depth: u32,
}

/// A setting that is part of the numbers, and is not as their definition has it.
#[derive(Debug, Clone, Serialize)]
pub struct Influence {
    /// Its name.
    pub key: String,
    /// What it was throughout.
    pub is: String,
    /// What it is in the definition.
    pub wanted: String,
}

/// What was measured, and what follows: the document `seekwell/tune-iocost/2`.
#[derive(Debug, Clone, Serialize)]
pub struct IocostDocument {
    /// `seekwell/tune-iocost/2`.
    pub schema: &'static str,
    /// What was measured.
    pub target: String,
    /// The disk; `None` for a modelled machine.
    pub disk: Option<Identity>,
    /// Time of each run.
    pub runtime_ns: Nanos,
    /// Bytes of the target that were used.
    pub region_bytes: u64,
    /// Settings that are not as the definition has them.
    pub influences: Vec<Influence>,
    /// The command that tries those for as long as a measurement takes.
    pub prepare_command: Option<Vec<String>>,
    /// Every run; without writes where nothing may be written.
    pub runs: Vec<IocostRun>,
    /// The value of `io.cost.model`.
    pub model: String,
    /// A value for `io.cost.qos`.
    pub qos: String,
    /// The command that tries both.
    pub try_command: Option<Vec<String>>,
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
    let jobs = CALIBRATIONS.built_in("blk-iocost")?;
    let names = if writes { &RUNS[..] } else { &RUNS[..4] };
    let influences = disk.as_ref().map(|disk| influences(&view, disk)).unwrap_or_default();
    let mut runs: Vec<IocostRun> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        watcher.doing(&format!("measuring {name}, {} of {}", number + 1, names.len()));
        let mut workload =
            workload(&jobs, name, region_bytes, runs.last().map_or(0, |run| run.value));
        workload.runtime_ns = options.runtime;
        match run(&mut executor, name, &workload)? {
            Some(run) => runs.push(run),
            None => watcher.note(&format!("{name} needs a longer --runtime and is left out")),
        }
    }
    watcher.clear();
    let (model, qos) = (model(&runs), qos(&runs));
    let try_command = disk.as_ref().map(|disk| {
        trial(disk, [("io.cost.model", model.as_str()), ("io.cost.qos", qos.as_str())])
    });
    let prepare_command = disk.as_ref().filter(|_| !influences.is_empty()).map(|disk| {
        let seconds = options.runtime.0.div_ceil(1_000_000_000) * (names.len() as u64 + 1);
        let wanted = influences.iter().map(|i| (i.key.as_str(), i.wanted.as_str()));
        let mut words = trial(disk, wanted);
        words.extend(["--for".to_owned(), format!("{}s", seconds + PREPARATION_S)]);
        words
    });
    Ok(IocostDocument {
        schema: "seekwell/tune-iocost/2",
        target: path_text(options.target),
        disk: disk.map(|disk| disk.identity),
        runtime_ns: options.runtime,
        region_bytes,
        influences,
        prepare_command,
        runs,
        model,
        qos,
        try_command,
    })
}

/// The run that gives one of the numbers; `before` is what the run before it gave.
fn workload(jobs: &CalibrationFile, name: &str, region_bytes: u64, before: u64) -> Workload {
    let (number, is_latency) = match name {
        "rlat" => ("rrandiops", true),
        "wlat" => ("wrandiops", true),
        number => (number, false),
    };
    let plain = jobs.workload(number, region_bytes);
    let mut workload = plain.expect("each job of the calibration is a plain workload");
    let most = region_bytes.min(u64::from(u32::MAX)) as u32 / PAGE * PAGE;
    workload.sizes.iter_mut().for_each(|size| size.bytes = size.bytes.min(most));
    if is_latency {
        let (requests_per_s, depth) = (before as f64 / 2.0, workload.pace.depth());
        workload.pace = Pace::Open { requests_per_s, poisson: true, depth };
    }
    workload
}

/// What of the definition's settings the disk has not.
fn influences(view: &dyn View, disk: &Disk) -> Vec<Influence> {
    let settings = DEFINED.into_iter().filter_map(|(key, wanted)| {
        let attribute = find(view, disk, key, None).ok()?;
        let is = current(&view.text(&attribute.path).ok()?);
        let takes = (attribute.setting.values)(view, disk, &attribute.path);
        // Of a line, `enable` alone decides.
        let first = wanted.split(' ').next().unwrap_or(wanted);
        let differs = !Values::same(&is, first) && takes.check(wanted).is_ok();
        differs.then(|| Influence { key: attribute.key, is, wanted: wanted.to_owned() })
    });
    settings.collect()
}

/// A trial of settings on a disk. Commas, so that nothing need be quoted.
fn trial<'a>(disk: &Disk, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let words = ["seekwell", "tune", "try"].map(str::to_owned).into_iter();
    let settings = settings.into_iter().map(|(k, v)| format!("{k}={}", v.replace(' ', ",")));
    words.chain([path_text(&disk.node())]).chain(settings).collect()
}

/// Nothing where it made too few requests for the number.
fn run(
    executor: &mut RealExecutor,
    name: &'static str,
    workload: &Workload,
) -> Result<Option<IocostRun>, RunError> {
    let execution = executor.execute(workload)?;
    if execution.measurement.stopped == Stopped::Interrupted {
        return Err(ExecuteError::Interrupted.into());
    }
    let op = if name.starts_with('r') { Op::Read } else { Op::Write };
    let p95 = execution.measurement.op(op).service.quantile(0.95);
    let repeat = summarize(&execution.measurement, execution.device, workload.seed);
    if let Some(why) = repeat.invalid {
        return Err(RunError::NotMeasured { why: format!("{name}: {why}") });
    }
    let done = repeat.ops.get(op.name());
    let value = if name.ends_with("lat") {
        p95.map(|ns| ns.0.div_ceil(1000))
    } else if name.ends_with("bps") {
        done.map(|done| done.rate_bytes_per_s.round() as u64)
    } else {
        done.map(|done| done.requests_per_s.round() as u64)
    };
    let (request_bytes, depth) = (workload.max_bytes(), workload.pace.depth());
    Ok(value.map(|value| IocostRun { name, value, request_bytes, depth }))
}

fn model(runs: &[IocostRun]) -> String {
    let numbers = runs.iter().filter(|r| COEFFICIENTS.contains(&r.name));
    numbers.map(|r| format!("{}={}", r.name, r.value)).collect::<Vec<_>>().join(" ")
}

/// What was not measured does not count: a percentile of 0.
fn qos(runs: &[IocostRun]) -> String {
    let target = |op: char| {
        let run = runs.iter().find(|r| r.name.ends_with("lat") && r.name.starts_with(op));
        match run {
            Some(run) => format!("{op}pct=95.00 {op}lat={}", run.value),
            None => format!("{op}pct=0.00"),
        }
    };
    format!("enable=1 {} {} min=75.00 max=100.00", target('r'), target('w'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_io::workload::Pattern;

    fn workload(name: &str, region_bytes: u64, before: u64) -> Workload {
        let jobs = CALIBRATIONS.built_in("blk-iocost").unwrap();
        super::workload(&jobs, name, region_bytes, before)
    }

    #[test]
    fn each_number_is_measured_by_the_run_that_defines_it() {
        let of = |name| {
            let w = workload(name, 1 << 30, 1000);
            (w.pattern, w.read_percent, w.max_bytes(), w.pace.depth(), w.threads)
        };
        assert_eq!(of("rbps"), (Pattern::Sequential, 100, 128 << 20, 1, 1));
        assert_eq!(of("rseqiops"), (Pattern::Sequential, 100, 4096, 64, 1));
        assert_eq!(of("rrandiops"), (Pattern::Random, 100, 4096, 64, 1));
        assert_eq!(of("wbps"), (Pattern::Sequential, 0, 128 << 20, 1, 1));
        assert_eq!(of("wseqiops"), (Pattern::Sequential, 0, 4096, 64, 1));
        assert_eq!(of("wrandiops"), (Pattern::Random, 0, 4096, 64, 1));
        assert_eq!(workload("rbps", (64 << 20) + 512, 0).max_bytes(), 64 << 20);
        let half = Pace::Open { requests_per_s: 500.0, poisson: true, depth: 64 };
        assert_eq!(workload("wlat", 1 << 30, 1000).pace, half);
        assert_eq!(of("wlat").0, Pattern::Random);
    }

    #[test]
    fn settings_are_made_of_what_was_measured_and_the_rest_does_not_count() {
        let run = |name, value| IocostRun { name, value, request_bytes: PAGE, depth: 64 };
        let reads = [run("rbps", 5), run("rrandiops", 7), run("rlat", 1235)];
        assert_eq!(model(&reads), "rbps=5 rrandiops=7");
        let of_reads = "enable=1 rpct=95.00 rlat=1235 wpct=0.00 min=75.00 max=100.00";
        assert_eq!(qos(&reads), of_reads);
    }
}
