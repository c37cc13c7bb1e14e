//! Which figures and logs are wanted, when a job is good enough, what errors do.

use super::asked::Asked;
use crate::error::JobError;
use crate::job::{
    By, Errors, LatencyTarget, Logs, Metric, Percentiles, Report, SteadyState, WindowValue,
};
use crate::value::{self, Bare, Parsed};
use seekwell_io::units::Nanos;

/// fio's own percentiles.
const PERCENTILES: &[f64] = &[
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// The most percentiles; fio's own bound.
const MOST_PERCENTILES: usize = 20;

/// A share of 100 with a fraction.
fn share(text: &str) -> Parsed<f64> {
    let needed = "numbers from 0 to 100 with : between them, at most 20";
    value::float(text).ok().filter(|p| (0.0..=100.0).contains(p)).ok_or(needed)
}

/// A latency to search the depth for.
pub(super) fn latency_target(asked: &Asked<'_>) -> Result<Option<LatencyTarget>, JobError> {
    let target = asked.time("latency_target", Bare::Micros)?;
    let percentile = asked.parse("latency_percentile", |text, _| share(text))?;
    let wanted = LatencyTarget {
        target,
        window: asked.time("latency_window", Bare::Micros)?,
        percentile: percentile.unwrap_or(100.0),
        keep_adjusting: asked.flag("latency_run", false)?,
    };
    Ok((target > Nanos::ZERO).then_some(wanted))
}

/// The longest that a request may take.
pub(super) fn max_latency(asked: &Asked<'_>) -> Result<By<Option<Nanos>>, JobError> {
    let read = |text: &str, how| value::triple(text, |one| value::time(one, Bare::Micros, how));
    let values = asked.parse("max_latency", read)?.unwrap_or_default();
    Ok(values.map(|value| value.filter(|value| *value > Nanos::ZERO)))
}

/// `steadystate=METRIC:LIMIT`, with a `%` or without. Without a duration it is off.
pub(super) fn steady_state(asked: &Asked<'_>) -> Result<Option<SteadyState>, JobError> {
    let duration = asked.time("steadystate_duration", Bare::Seconds)?;
    let ramp = asked.time("steadystate_ramp_time", Bare::Seconds)?;
    let interval = asked.time("steadystate_check_interval", Bare::Seconds)?;
    let (mut metric, mut slope) = (Metric::Iops, true);
    let (mut limit, mut percent) = (0.01, true);
    if let Some(given) = asked.given("steadystate") {
        let needed = "a metric and its limit, such as iops:10 or bw_slope:0.3%";
        let (word, text) =
            given.value.trim().split_once(':').ok_or_else(|| asked.bad(given, needed))?;
        let words = [
            ("iops", (Metric::Iops, false)),
            ("iops_slope", (Metric::Iops, true)),
            ("bw", (Metric::Bandwidth, false)),
            ("bw_slope", (Metric::Bandwidth, true)),
            ("lat", (Metric::Latency, false)),
            ("lat_slope", (Metric::Latency, true)),
        ];
        (metric, slope) = asked.pick(given, word.trim(), &words)?;
        percent = text.trim().ends_with('%');
        let how = asked.reading(given);
        let value = match (text.trim().strip_suffix('%'), metric) {
            (Some(text), _) => value::float(text),
            (None, Metric::Iops) => value::float(text),
            (None, Metric::Bandwidth) => value::number(text, how).map(|v| v as f64),
            (None, Metric::Latency) => value::time(text, Bare::Micros, how).map(|v| v.0 as f64),
        };
        limit = value.ok().filter(|v| *v >= 0.0).ok_or_else(|| asked.bad(given, needed))?;
    }
    let second = Nanos::from_millis(1000);
    let check_interval = if interval > Nanos::ZERO { interval } else { second };
    Ok((duration > Nanos::ZERO).then_some(SteadyState {
        metric,
        slope,
        limit,
        percent,
        duration,
        ramp,
        check_interval,
    }))
}

/// Which figures are wanted.
pub(super) fn report(asked: &Asked<'_>) -> Result<Report, JobError> {
    let list = asked.parse("percentile_list", |text, _| {
        let mut list = text.split(':').map(share).collect::<Parsed<Vec<f64>>>()?;
        list.sort_by(f64::total_cmp);
        list.dedup();
        if list.len() <= MOST_PERCENTILES { Ok(list) } else { Err("at most 20 percentiles") }
    })?;
    let reduced = asked.flag("gtod_reduce", false)?;
    let measured = |name| Ok::<_, JobError>(!asked.flag(name, reduced)?);
    let (slat, clat) = (measured("disable_slat")?, measured("disable_clat")?);
    let lat = measured("disable_lat")?;
    Ok(Report {
        percentile_list: list.unwrap_or_else(|| PERCENTILES.to_vec()),
        percentiles: Percentiles {
            slat: asked.flag("slat_percentiles", false)? && slat,
            clat: asked.flag("clat_percentiles", true)? && clat,
            lat: asked.flag("lat_percentiles", false)? && lat,
        },
    })
}

/// Which log files are wanted. One without a name gets the job's.
pub(super) fn logs(asked: &Asked<'_>) -> Result<Logs, JobError> {
    let name = |option| {
        let named = |text: String| if text.is_empty() { asked.job.to_owned() } else { text };
        asked.text(option).map(named)
    };
    let window = [
        ("avg", WindowValue::Mean),
        ("max", WindowValue::Max),
        ("both", WindowValue::Both),
        ("0", WindowValue::Mean),
        ("1", WindowValue::Max),
    ];
    let (offset, issue_time) =
        (asked.flag("log_offset", false)?, asked.flag("log_issue_time", false)?);
    if issue_time && !(offset && asked.has("write_lat_log")) {
        return Err(asked.bad_option("log_issue_time", "write_lat_log and log_offset=1 too"));
    }
    Ok(Logs {
        bandwidth: name("write_bw_log"),
        latency: name("write_lat_log"),
        iops: name("write_iops_log"),
        histogram: name("write_hist_log"),
        average: asked.millis("log_avg_msec", 0)?,
        window: asked.word("log_max_value", &window, WindowValue::Mean)?,
        issue_time,
        offset,
        prio: asked.flag("log_prio", false)?,
        per_job: asked.flag("per_job_logs", true)?,
        unix_epoch: asked.flag("log_unix_epoch", false)?,
        histogram_every: asked.millis("log_hist_msec", 0)?,
        histogram_coarseness: asked.number("log_hist_coarseness", 0, 6)?.unwrap_or(0) as u8,
    })
}

/// Names of error numbers 1 to 34 on Linux (`errno-base.h`), in order.
const ERRNO: &[&str] = &[
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];

/// Error numbers or names with `:` between them.
fn errno_list(text: &str) -> Parsed<Vec<i32>> {
    let needed = "error numbers or names such as EIO:ENOSPC, for reads, writes and verifying";
    let one = |word: &str| {
        let known = ERRNO.iter().position(|name| *name == word).map(|n| n as i32 + 1);
        let number = || word.trim_start_matches('-').parse::<i32>().ok();
        known.or_else(number).filter(|n| (1..4096).contains(n)).ok_or(needed)
    };
    text.split(':').map(str::trim).filter(|word| !word.is_empty()).map(one).collect()
}

/// What a failed request does. To ignore some errors of a kind is to go on after them.
pub(super) fn errors(asked: &Asked<'_>) -> Result<Errors, JobError> {
    let words = [
        ("none", (false, false, false)),
        ("read", (true, false, false)),
        ("write", (false, true, false)),
        ("io", (true, true, false)),
        ("verify", (false, false, true)),
        ("all", (true, true, true)),
        ("0", (false, false, false)),
        ("1", (true, true, true)),
    ];
    let (read, write, verify) = asked.word("continue_on_error", &words, (false, false, false))?;
    let lists = asked.parse("ignore_error", |text, _| {
        let mut kinds = text.split(',');
        let mut list = || kinds.next().map_or(Ok(Vec::new()), errno_list);
        let lists = By { read: list()?, write: list()?, trim: list()? };
        if kinds.next().is_some() { Err("at most three lists") } else { Ok(lists) }
    })?;
    Ok(Errors {
        continue_read: read,
        continue_write: write,
        continue_verify: verify,
        ignore: lists.unwrap_or_default(),
    })
}
