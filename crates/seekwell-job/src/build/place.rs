//! Which files a job uses, and where in them.

use super::asked::Asked;
use crate::error::JobError;
use crate::job::{
    Amount, By, Creation, Extent, Fallocate, Files, Job, Kind, Replay, Service, ServiceOrder,
    Strided, Zoned,
};
use crate::value;
use std::path::PathBuf;

/// fio's own way of making names.
const FORMAT: &str = "$jobname.$jobnum.$filenum";

/// The files.
pub(super) fn files(asked: &Asked<'_>) -> Result<Files, JobError> {
    let paths = |name| {
        let names = asked.text(name).map(|text| value::names(&text)).unwrap_or_default();
        names.into_iter().map(PathBuf::from).collect::<Vec<_>>()
    };
    let names = paths("filename");
    if asked.has("filename") && names.is_empty() {
        return Err(asked.bad_option("filename", "at least one name"));
    }
    if let Some(given) = asked.given("filename")
        && names.iter().any(|name| name.as_os_str() == "-")
    {
        return Err(asked.refuse(given, "standard input and output are not files to measure"));
    }
    let wanted = asked.count("nrfiles", 0, 1)?.max(1);
    let count = if names.is_empty() { wanted } else { names.len() as u32 };
    let open = asked.count("openfiles", 0, 0)?;
    let format = asked.text("filename_format").unwrap_or_else(|| FORMAT.to_owned());
    let pre_read = asked.flag("pre_read", false)?;
    let file_bytes = asked.byte_range("filesize")?;
    if file_bytes.is_some_and(|bytes| bytes.min == 0) {
        return Err(asked.bad_option("filesize", "at least 1 byte"));
    }
    Ok(Files {
        names,
        directories: paths("directory"),
        format,
        count,
        open: if open == 0 || open > count { count } else { open },
        service: service(asked)?,
        file_bytes,
        append: asked.flag("file_append", false)?,
        invalidate: asked.flag("invalidate", true)? && !pre_read,
        pre_read,
        creation: creation(asked)?,
    })
}

/// `file_service_type`: a word, and after `:` its parameter.
fn service(asked: &Asked<'_>) -> Result<Service, JobError> {
    let Some(given) = asked.given("file_service_type") else {
        return Ok(Service { order: ServiceOrder::RoundRobin, every: 1 });
    };
    let (word, rest) = given.value.trim().split_once(':').unwrap_or((given.value.trim(), ""));
    let default = |value: f64| match rest {
        "" => Ok(value),
        rest => value::float(rest.split(':').next().unwrap_or(rest)),
    };
    let bad = |needed: &str| asked.bad(given, needed.to_owned());
    let order = match word {
        "roundrobin" => ServiceOrder::RoundRobin,
        "sequential" => ServiceOrder::Sequential,
        "random" => ServiceOrder::Random,
        "zipf" => ServiceOrder::Zipf(default(1.1).map_err(bad)?),
        "pareto" => ServiceOrder::Pareto(default(0.2).map_err(bad)?),
        "normal" | "gauss" => ServiceOrder::Normal(default(0.0).map_err(bad)?),
        _ => return Err(bad("roundrobin, sequential, random, zipf, pareto or normal")),
    };
    let valid = match order {
        ServiceOrder::Zipf(theta) => theta > 0.0 && theta <= 10.0 && theta != 1.0,
        ServiceOrder::Pareto(power) => power > 0.0 && power < 1.0,
        ServiceOrder::Normal(deviation) => (0.0..100.0).contains(&deviation),
        _ => true,
    };
    if !valid {
        return Err(bad("a parameter of its distribution, as random_distribution takes it"));
    }
    let drawn =
        matches!(order, ServiceOrder::Zipf(_) | ServiceOrder::Pareto(_) | ServiceOrder::Normal(_));
    let every = match rest {
        "" => 1,
        _ if drawn => 1,
        rest => rest
            .trim()
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| bad("a number of requests after the colon"))?,
    };
    Ok(Service { order, every })
}

/// How and when files are made.
fn creation(asked: &Asked<'_>) -> Result<Creation, JobError> {
    let words = [
        ("none", Fallocate::None),
        ("native", Fallocate::Native),
        ("posix", Fallocate::Posix),
        ("keep", Fallocate::Keep),
        ("truncate", Fallocate::Truncate),
        ("0", Fallocate::None),
        ("1", Fallocate::Posix),
    ];
    Ok(Creation {
        fallocate: asked.word("fallocate", &words, Fallocate::Native)?,
        only: asked.flag("create_only", false)?,
        allowed: asked.flag("allow_file_create", true)?,
        overwrite: asked.flag("overwrite", false)?,
        unlink_each_loop: asked.flag("unlink_each_loop", false)?,
    })
}

/// How much is done, and where.
pub(super) fn extent(asked: &Asked<'_>) -> Result<Extent, JobError> {
    let size = asked.amount("size")?.filter(|size| !size.is_zero());
    let io_size = asked.amount("io_size")?.filter(|size| !size.is_zero());
    let number_ios = asked.number("number_ios", 0, i64::MAX as u64)?;
    let zero = Amount::Bytes(0);
    Ok(Extent {
        size,
        io_size,
        offset: asked.amount("offset")?.unwrap_or(zero),
        offset_increment: asked.amount("offset_increment")?.unwrap_or(zero),
        offset_align_bytes: asked.number("offset_align", 0, i64::MAX as u64)?.unwrap_or(0),
        number_ios: number_ios.filter(|n| *n > 0),
        loops: asked.count("loops", 0, 1)?.max(1),
        fill_device: asked.flag("fill_device", false)?,
    })
}

/// How zones of a file are used.
#[derive(Clone, Copy, PartialEq)]
enum ZoneMode {
    /// Not at all.
    None,
    /// So much used, so much skipped.
    Strided,
    /// As those of a zoned device.
    Zbd,
}

/// `zonemode`: strided, which `zonesize` alone also means, or a zoned device.
pub(super) fn zones(asked: &Asked<'_>) -> Result<(Option<Strided>, Option<Zoned>), JobError> {
    let words = [("none", ZoneMode::None), ("strided", ZoneMode::Strided), ("zbd", ZoneMode::Zbd)];
    let most = i64::MAX as u64;
    let bytes = |name| Ok::<_, JobError>(asked.number(name, 0, most)?.filter(|n| *n > 0));
    let (zone, range) = (bytes("zonesize")?, bytes("zonerange")?);
    let skip_bytes = match asked.amount("zoneskip")? {
        None => 0,
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(_)) => {
            return Err(asked.bad_option("zoneskip", "a number of bytes"));
        }
    };
    let zoned = zoned(asked, zone)?;
    let default = if zone.is_some() { ZoneMode::Strided } else { ZoneMode::None };
    match (asked.word("zonemode", &words, default)?, zone) {
        (ZoneMode::None, None) => Ok((None, None)),
        (ZoneMode::None, Some(_)) => Err(asked.bad_option("zonesize", "zonemode=strided")),
        (ZoneMode::Strided, None) => Err(asked.bad_option("zonemode", "zonesize above 0 too")),
        (ZoneMode::Strided, Some(zone_bytes)) => {
            let range_bytes = range.unwrap_or(zone_bytes);
            Ok((Some(Strided { zone_bytes, range_bytes, skip_bytes }), None))
        }
        (ZoneMode::Zbd, _) => Ok((None, Some(zoned))),
    }
}

/// How the zones of a device are used; the options are checked in any mode.
fn zoned(asked: &Asked<'_>, zone_bytes: Option<u64>) -> Result<Zoned, JobError> {
    let most = |name| Ok::<_, JobError>(asked.number(name, 0, 4096)?.filter(|n| *n > 0));
    let share = |name| {
        let read = |text: &str, _| {
            value::float(text).ok().filter(|share| (0.0..=1.0).contains(share)).ok_or("0 to 1")
        };
        Ok::<_, JobError>(asked.parse(name, read)?.unwrap_or(0.0))
    };
    let (from, frequency) = (share("zone_reset_threshold")?, share("zone_reset_frequency")?);
    Ok(Zoned {
        zone_bytes,
        read_beyond: asked.flag("read_beyond_wp", false)?,
        most_open: most("max_open_zones")?.map(|n| n as u32),
        most_open_each: most("job_max_open_zones")?.map(|n| n as u32),
        past_limits: asked.flag("ignore_zone_limits", false)?,
        reset_from: from,
        reset_every: (frequency > 0.0).then(|| (1.0 / frequency) as u64),
    })
}

/// `read_iolog` and how it is played.
pub(super) fn replay(asked: &Asked<'_>, kind: Kind) -> Result<Option<Replay>, JobError> {
    let no_stall = asked.flag("replay_no_stall", false)?;
    let redirect = asked.text("replay_redirect").map(PathBuf::from);
    let scale = asked.count("replay_scale", 0, 1)?.max(1);
    let align_bytes = asked.count("replay_align", 0, 0)?;
    let time_scale_percent = asked.count("replay_time_scale", 1, 100)?;
    let (mut skip, mut skip_flush) = (By::<bool>::default(), false);
    if let Some(given) = asked.given("replay_skip") {
        for word in given.value.split(',').map(str::trim) {
            match word {
                "read" => skip.read = true,
                "write" => skip.write = true,
                "trim" => skip.trim = true,
                "sync" => skip_flush = true,
                _ => return Err(asked.bad(given, "read, write, trim, sync")),
            }
        }
    }
    let Some(text) = asked.text("read_iolog") else { return Ok(None) };
    let files = value::names(&text).into_iter().map(PathBuf::from).collect();
    Ok(Some(Replay {
        files,
        no_stall,
        redirect,
        scale,
        align_bytes,
        time_scale_percent,
        skip,
        skip_flush,
        kind: asked.has("rw").then_some(kind),
        base_names: false,
    }))
}

/// Refuses what does not fit together.
pub(super) fn check(asked: &Asked<'_>, job: &Job) -> Result<(), JobError> {
    let made = job.makes();
    let used = [
        (made.read, &job.blocks.read),
        (made.write, &job.blocks.write),
        (made.trim, &job.blocks.trim),
    ];
    let least = used.iter().filter(|(made, _)| *made).map(|(_, blocks)| blocks.min()).min();
    let least = u64::from(least.unwrap_or(1));
    if let Some(Amount::Bytes(size)) = job.extent.size
        && size < least
    {
        return Err(asked.bad_option("size", format!("at least one block of {least} bytes")));
    }
    if let Some(strided) = job.strided
        && strided.zone_bytes.min(strided.range_bytes) < least
    {
        return Err(asked.bad_option("zonesize", format!("at least one block of {least} bytes")));
    }
    // Offsets are signed 64-bit numbers in the kernel.
    let last = u64::from(job.clones - 1);
    let end = |amount: Amount, times: u64| match amount {
        Amount::Bytes(bytes) => bytes.checked_mul(times),
        Amount::Percent(_) => Some(0),
    };
    let offset = end(job.extent.offset_increment, last)
        .and_then(|more| end(job.extent.offset, 1)?.checked_add(more))
        .and_then(|more| end(job.extent.size.unwrap_or(Amount::Bytes(0)), 1)?.checked_add(more));
    if offset.is_none_or(|end| end > i64::MAX as u64) {
        let option = if asked.has("offset_increment") { "offset_increment" } else { "offset" };
        return Err(asked.bad_option(option, "an end below 8 EiB for every clone"));
    }
    let files = u64::from(job.files.count);
    let total = job.files.file_bytes.map_or(Some(0), |bytes| bytes.max.checked_mul(files));
    if total.is_none_or(|total| total > i64::MAX as u64) {
        return Err(asked.bad_option("filesize", "files of together less than 8 EiB"));
    }
    Ok(())
}
