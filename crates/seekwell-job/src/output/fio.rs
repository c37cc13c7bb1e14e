//! fio's JSON (`stat.c` of fio 3.33: names, order and units), with or without the bins of json+.
//!
//! Service time, submission to completion, stands as both completion and total latency, as from
//! fio's engines that do not time submission; and as from those, `slat_ns` is of no values.

use super::distribution::{
    Bins as Counts, Ordered, by_middle, classes, deviation, percentiles, total,
};
use super::job::{Job, jobs};
use super::samples::{FIO_SAMPLE, Samples, Span, spans};
use super::{File, OutputError, logs};
use jiff::{Timestamp, fmt::strtime};
use seekwell_io::request::Op;
use seekwell_io::workload::Pace;
use seekwell_runs::{Detail, Latency, RunDocument, SteadyState};
use serde::Serialize;
use std::collections::BTreeSet;

/// Bytes in the unit of `bw`.
const KIB: u64 = 1024;
/// Unit of a block device's own counters.
const SECTOR: u64 = 512;

/// Whether histograms are written in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bins {
    /// As `--output-format=json` does.
    Without,
    /// As `--output-format=json+` does.
    With,
}

#[derive(Serialize)]
struct Output<'a> {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    jobs: Vec<JobOutput<'a>>,
    disk_util: Vec<DiskUtil<'a>>,
    seekwell: Origin<'a>,
}

/// What fio has no word for.
#[derive(Serialize)]
struct Origin<'a> {
    version: &'a str,
    run: &'a str,
    target: &'a str,
    modelled: bool,
    invalid: &'a [String],
}

#[derive(Serialize)]
struct JobOutput<'a> {
    jobname: &'a str,
    groupid: usize,
    error: i32,
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: &'a Ordered<String>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    iodepth_level: Option<Ordered<f64>>,
    latency_ns: Ordered<f64>,
    latency_us: Ordered<f64>,
    latency_ms: Ordered<f64>,
    desc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<Steady>,
}

#[derive(Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Distribution,
    clat_ns: Distribution,
    lat_ns: Distribution,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: usize,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: usize,
}

#[derive(Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Distribution,
}

#[derive(Clone, Default, Serialize)]
struct Distribution {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Ordered<u64>>,
}

/// Whether a job was steady.
#[derive(Serialize)]
struct Steady {
    ss: String,
    duration: u64,
    attained: u8,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    data: SteadyData,
}

/// The last window.
#[derive(Serialize)]
struct SteadyData {
    bw_mean: u64,
    iops_mean: u64,
    iops: Vec<u64>,
    bw: Vec<u64>,
}

/// What the device counted over all jobs.
#[derive(Serialize)]
struct DiskUtil<'a> {
    name: &'a str,
    read_sectors: u64,
    write_sectors: u64,
}

/// The whole run as one document in fio's shape.
///
/// # Errors
/// [`OutputError`] for a suite, for a measured repeat without its detail, and for a document whose
/// times are none.
pub fn document(
    document: &RunDocument,
    detail: &Detail,
    bins: Bins,
) -> Result<String, OutputError> {
    let jobs = jobs(document, detail)?;
    output(document, &jobs, bins)
}

/// Files as fio-plot looks for them: for each job `RW-DEPTH-JOBS.json` (json+), and the logs of
/// `RW-iodepth-DEPTH-numjobs-JOBS_{bw,iops,lat}.1.log`. Further repeats are in folders
/// `repeat-2`, … beside them; what would overwrite a phase before it is in a folder of its name.
///
/// # Errors
/// As for [`document()`].
pub fn plot_files(document: &RunDocument, detail: &Detail) -> Result<Vec<File>, OutputError> {
    let mut files: Vec<File> = Vec::new();
    let mut taken = BTreeSet::new();
    for job in jobs(document, detail)? {
        let stem = job.stem(["-", "-"]);
        let mut folder = std::path::PathBuf::new();
        if job.number > 1 {
            folder.push(format!("repeat-{}", job.number));
        }
        if taken.contains(&folder.join(&stem)) {
            folder.push(job.folder());
        }
        taken.insert(folder.join(&stem));
        let prefix = job.stem(["-iodepth-", "-numjobs-"]);
        let written = logs::of(&job, 1);
        files.extend(
            written.into_iter().map(|(suffix, text)| File {
                path: folder.join(format!("{prefix}{suffix}")),
                text,
            }),
        );
        let text = output(document, &[job], Bins::With)?;
        files.push(File { path: folder.join(format!("{stem}.json")), text });
    }
    Ok(files)
}

fn output(document: &RunDocument, jobs: &[Job<'_>], bins: Bins) -> Result<String, OutputError> {
    let ended = document.ended_at.as_deref().unwrap_or(&document.started_at);
    let bad_time = || OutputError::Time { found: ended.chars().take(40).collect() };
    let ended: Timestamp = ended.parse().map_err(|_| bad_time())?;
    let time = strtime::format("%a %b %e %H:%M:%S %Y", ended).map_err(|_| bad_time())?;
    let output = Output {
        version: format!("fio-3.33-seekwell-{}", document.tool.version),
        timestamp: ended.as_second(),
        timestamp_ms: ended.as_millisecond(),
        time,
        jobs: (0..).zip(jobs).map(|(number, job)| job_output(job, number, bins)).collect(),
        disk_util: disk_util(document, jobs).into_iter().collect(),
        seekwell: Origin {
            version: &document.tool.version,
            run: &document.id,
            target: &document.inspection.path,
            modelled: document.modelled,
            invalid: &document.invalid,
        },
    };
    let mut text = serde_json::to_string_pretty(&output)
        .expect("a document of numbers, texts and maps with texts as keys can be written");
    text.push('\n');
    Ok(text)
}

fn disk_util<'a>(document: &'a RunDocument, jobs: &[Job<'_>]) -> Option<DiskUtil<'a>> {
    let name = &document.inspection.device.as_ref()?.name;
    let mut counted = jobs.iter().filter_map(|job| job.repeat.device).peekable();
    counted.peek()?;
    let (read, written) = counted.fold((0_u64, 0_u64), |(read, written), d| {
        (read.saturating_add(d.read_bytes), written.saturating_add(d.written_bytes))
    });
    Some(DiskUtil { name, read_sectors: read / SECTOR, write_sectors: written / SECTOR })
}

fn job_output<'a>(job: &'a Job<'_>, number: usize, bins: Bins) -> JobOutput<'a> {
    let repeat = job.repeat;
    let spans = job.detail.map(|d| spans(&d.series, repeat.elapsed_ns, FIO_SAMPLE));
    let spans = spans.unwrap_or_default();
    let milliseconds = repeat.elapsed_ns.0 / 1_000_000;
    let job_ns = repeat.elapsed_ns.0.saturating_mul(job.threads()).max(1) as f64;
    let moved = [Op::Read, Op::Write, Op::Discard];
    let latencies = classes(moved.iter().map(|op| counts(job, *op)));
    JobOutput {
        jobname: &job.name,
        groupid: number,
        error: job.error(),
        eta: 0,
        elapsed: (repeat.elapsed_ns + job.ramp()).0.div_ceil(1_000_000_000),
        options: &job.options,
        read: direction(job, Op::Read, &spans, bins),
        write: direction(job, Op::Write, &spans, bins),
        trim: direction(job, Op::Discard, &spans, bins),
        sync: sync(job, bins),
        job_runtime: milliseconds.saturating_mul(job.threads()),
        usr_cpu: 100.0 * repeat.cpu_user_ns.0 as f64 / job_ns,
        sys_cpu: 100.0 * repeat.cpu_system_ns.0 as f64 / job_ns,
        iodepth_level: depth_level(job),
        latency_ns: latencies.ns,
        latency_us: latencies.us,
        latency_ms: latencies.ms,
        desc: job.description(),
        steadystate: repeat.steady_state.as_ref().map(steady),
    }
}

/// The histogram of an operation.
fn counts<'a>(job: &Job<'a>, op: Op) -> &'a Counts {
    job.detail.and_then(|d| d.latency_bins.get(op.name())).map_or(&[], Vec::as_slice)
}

fn direction(job: &Job<'_>, op: Op, spans: &[Span], bins: Bins) -> Direction {
    let summary = job.repeat.ops.get(op.name());
    let (requests, io_bytes) = summary.map_or((0, 0), |s| (s.requests, s.bytes));
    let bw_bytes = summary.map_or(0.0, |s| s.rate_bytes_per_s);
    let latency = distribution(summary.map(|s| &s.latency), counts(job, op), bins);
    // Bytes over time are known of reads and writes only.
    let spans = if requests == 0 { &[] } else { spans };
    let bytes = |s: &Span| Some(*s.sum.bytes.get(op as usize)? as f64 / KIB as f64 / s.seconds);
    let bw = Samples::of(&spans.iter().filter_map(bytes).collect::<Vec<_>>());
    let per_s = |s: &Span| s.sum.requests[op as usize] as f64 / s.seconds;
    let iops = Samples::of(&spans.iter().map(per_s).collect::<Vec<_>>());
    let all = bw_bytes / KIB as f64;
    Direction {
        io_bytes,
        io_kbytes: io_bytes / KIB,
        bw_bytes: bw_bytes as u64,
        bw: all as u64,
        iops: summary.map_or(0.0, |s| s.requests_per_s),
        runtime: if requests == 0 { 0 } else { job.repeat.elapsed_ns.0 / 1_000_000 },
        total_ios: requests,
        short_ios: 0,
        drop_ios: 0,
        slat_ns: Distribution::default(),
        clat_ns: latency.clone(),
        lat_ns: latency,
        bw_min: bw.min,
        bw_max: bw.max,
        bw_agg: if all > 0.0 { (100.0 * bw.mean / all).min(100.0) } else { 0.0 },
        bw_mean: bw.mean,
        bw_dev: bw.deviation,
        bw_samples: bw.count,
        iops_min: iops.min,
        iops_max: iops.max,
        iops_mean: iops.mean,
        iops_stddev: iops.deviation,
        iops_samples: iops.count,
    }
}

/// `steadystate`, whose criterion is a percentage or in the unit of the metric.
fn steady(state: &SteadyState) -> Steady {
    let percent = if state.percent { "%" } else { "" };
    let found = state.found.unwrap_or(0.0);
    let own = if state.percent { found / 100.0 * state.mean } else { found };
    let is_slope = state.criterion.ends_with("_slope");
    let whole = |rates: &[f64]| rates.iter().map(|rate| *rate as u64).collect::<Vec<_>>();
    let mean = |rates: &[f64]| (rates.iter().sum::<f64>() / rates.len().max(1) as f64) as u64;
    let (iops, bw) = (&state.window_requests_per_s, &state.window_bytes_per_s);
    Steady {
        ss: format!("{}:{:.6}{percent}", state.criterion, state.limit),
        duration: state.window_ns.0 / 1_000_000_000,
        attained: state.attained.into(),
        criterion: format!("{found:.6}{percent}"),
        max_deviation: if is_slope { 0.0 } else { own },
        slope: if is_slope { own } else { 0.0 },
        data: SteadyData {
            bw_mean: mean(bw),
            iops_mean: mean(iops),
            iops: whole(iops),
            bw: whole(bw),
        },
    }
}

fn sync(job: &Job<'_>, bins: Bins) -> Sync {
    let summary = job.repeat.ops.get(Op::Flush.name());
    Sync {
        total_ios: summary.map_or(0, |s| s.requests),
        lat_ns: distribution(summary.map(|s| &s.latency), counts(job, Op::Flush), bins),
    }
}

/// Lowest, highest and mean are exact; the rest is from the bins. Zeros of no values, as in fio.
fn distribution(latency: Option<&Latency>, counts: &Counts, bins: Bins) -> Distribution {
    let Some(latency) = latency else { return Distribution::default() };
    let known = percentiles(counts);
    Distribution {
        min: latency.ns_min,
        max: latency.ns_max,
        mean: latency.ns_mean,
        stddev: deviation(counts),
        n: total(counts),
        percentile: (!known.0.is_empty()).then_some(known),
        bins: (bins == Bins::With).then(|| by_middle(counts)),
    }
}

/// How deep requests were outstanding, by fio's classes of depth. A closed loop holds its depth by
/// what it is; of anything else it was not measured.
fn depth_level(job: &Job<'_>) -> Option<Ordered<f64>> {
    let Pace::Closed { depth } = job.phase.workload.drawn()?.pace else { return None };
    if job.repeat.ops.is_empty() {
        return None;
    }
    let labels = ["1", "2", "4", "8", "16", "32", ">=64"];
    let class = depth.max(1).ilog2().min(6) as usize;
    let share = |i| if i == class { 100.0 } else { 0.0 };
    Some(Ordered((0..).zip(labels).map(|(i, label)| (label.to_owned(), share(i))).collect()))
}
