//! Jobs as text, as they were understood and before anything runs.

use crate::job::{Access, Blocks, By, Distribution, Engine, Job, JobFile, Kind, Replay};
use crate::layout::{Layout, Share, There, Traffic};
use seekwell_io::units::{Nanos, binary_and_bytes as bytes};
use seekwell_io::workload::Law;
use std::fmt::Write as _;

/// Files of one job that are written out; the others are summed up.
const MOST_FILES: usize = 16;

/// The jobs, where they would read and write, and every warning. `layout` is that of the same jobs,
/// if they have one.
pub fn show(file: &JobFile, layout: Option<&Layout>) -> String {
    let mut out = String::new();
    for (n, job) in file.jobs.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "  {name:<10} {value}");
        };
        let told = facts(job);
        let title = match job.clones {
            1 => job.name.clone(),
            clones => format!("{} × {clones}", job.name),
        };
        told.iter().for_each(|(name, value)| line(name, value.clone()));
        if let Some(layout) = layout {
            files(&mut line, layout, n, job);
        }
        let at = out.rfind("\n\n").map_or(0, |at| at + 2);
        out.insert_str(at, &format!("job {title}, group {}\n", job.group.number));
    }
    for warning in &file.warnings {
        let _ = writeln!(out, "\nwarning: {warning}");
    }
    out
}

/// What a job does, in words.
fn facts(job: &Job) -> Vec<(&'static str, String)> {
    let mut facts = match &job.replay {
        Some(replay) => vec![("requests", recorded(replay))],
        None => vec![("requests", requests(&job.access)), ("size", sizes(job))],
    };
    facts.push(("engine", engine(&job.engine)));
    facts.push(("starts", starts(job)));
    facts.push(("ends", ends(job)));
    let (ramp, moved) = (job.timing.ramp, job.timing.ramp_bytes);
    let ramp = (ramp > Nanos::ZERO).then(|| ramp.to_string());
    let ramp: Vec<String> = ramp.into_iter().chain((moved > 0).then(|| bytes(moved))).collect();
    if !ramp.is_empty() {
        facts.push(("measures", format!("after the first {}", ramp.join(" or "))));
    }
    if job.access.random && job.replay.is_none() {
        facts.push(("offsets", offsets(job)));
    }
    if let Some(zoned) = job.zoned {
        let most = zoned.most_open.map(|most| format!(", at most {most} open"));
        facts.push(("zones", format!("write pointers followed{}", most.unwrap_or_default())));
    }
    if job.rate.limits() {
        let by = |unit: &str, values: By<Option<u64>>| {
            let names = ["read", "write", "discard"];
            let made = job.makes();
            let told = names.iter().zip(values.iter()).zip(made.iter());
            told.filter_map(|((n, v), made)| Some(format!("{n} {} {unit}", v.filter(|_| *made)?)))
                .collect::<Vec<_>>()
        };
        let mut limits = by("bytes/s", job.rate.bytes_per_s);
        limits.extend(by("requests/s", job.rate.iops.map(|v| v.map(u64::from))));
        facts.push(("at most", limits.join(", ")));
    }
    if let Some(verify) = &job.verify {
        let how = if verify.read_back { "read back and compared" } else { "not read back" };
        facts.push(("verify", format!("{:?}, {how}", verify.checksum)));
    }
    facts
}

/// Which traces are played and how.
fn recorded(replay: &Replay) -> String {
    let files = replay.files.iter().map(|file| file.display().to_string());
    let files = files.collect::<Vec<_>>().join(", ");
    let how = match (replay.no_stall, replay.time_scale_percent) {
        (true, _) => "as fast as they are done".to_owned(),
        (false, 100) => "at their recorded times".to_owned(),
        (false, percent) => format!("at {percent} % of their recorded pace"),
    };
    let on = replay.redirect.as_ref().map(|path| format!(", on {}", path.display()));
    format!("those of {files}, {how}{}", on.unwrap_or_default())
}

fn requests(access: &Access) -> String {
    let order = if access.random { "random" } else { "sequential" };
    match access.kind {
        Kind::Read => format!("{order} reads"),
        Kind::Write => format!("{order} writes"),
        Kind::Trim => format!("{order} discards"),
        Kind::ReadWrite => format!("{order} reads and writes, {} % reads", access.read_percent),
        Kind::TrimWrite => format!("{order}, each block discarded and then written"),
    }
}

/// The sizes of the requests that a job makes.
fn sizes(job: &Job) -> String {
    let made = job.makes();
    let mut told: Vec<String> = Vec::new();
    for (made, blocks) in made.iter().zip(job.blocks.iter()) {
        let text = match blocks {
            Blocks::Fixed(size) => bytes(u64::from(*size)),
            Blocks::Range { min, max } => {
                format!("{} to {}", bytes(u64::from(*min)), bytes(u64::from(*max)))
            }
            Blocks::Split(shares) => {
                let one = |s: &crate::job::BlockShare| {
                    format!("{} % {}", s.percent, bytes(u64::from(s.bytes)))
                };
                shares.iter().map(one).collect::<Vec<_>>().join(" + ")
            }
        };
        if *made && !told.contains(&text) {
            told.push(text);
        }
    }
    told.join(", then ")
}

/// How requests are handed over.
fn engine(engine: &Engine) -> String {
    let cache = if engine.direct { "past the page cache" } else { "through the page cache" };
    format!("{}, {} outstanding, {cache}", engine.kind.name(), engine.depth)
}

/// What a job waits for.
fn starts(job: &Job) -> String {
    let mut told = Vec::new();
    if job.group.stonewall {
        told.push("when all jobs above are done".to_owned());
    }
    if let Some(name) = &job.group.wait_for {
        told.push(format!("when {name} is done"));
    }
    if job.group.start_delay.max > Nanos::ZERO {
        told.push(format!("after {}", job.group.start_delay.max));
    }
    if told.is_empty() { "at once".to_owned() } else { told.join(", ") }
}

fn ends(job: &Job) -> String {
    let mut told = Vec::new();
    if job.timing.runtime > Nanos::ZERO {
        told.push(format!("after {}", job.timing.runtime));
    }
    if job.replay.is_some() {
        told.push("when its trace is played".to_owned());
    } else if !job.timing.time_based {
        let loops = if job.extent.loops > 1 {
            format!("{} times over", job.extent.loops)
        } else {
            String::new()
        };
        told.push(format!("when its size is done {loops}").trim_end().to_owned());
    }
    if let Some(number) = job.extent.number_ios {
        told.push(format!("after {number} requests"));
    }
    if job.steady_state.is_some() {
        told.push("when it is steady".to_owned());
    }
    told.join(", or ")
}

/// Where random requests go.
fn offsets(job: &Job) -> String {
    let law = match &job.random.distribution {
        Distribution::Law(Law::Uniform) => "anywhere with equal chance".to_owned(),
        Distribution::Law(Law::Zipf { theta, .. }) => format!("by Zipf's law, theta {theta}"),
        Distribution::Law(Law::Pareto { power, .. }) => format!("by Pareto's law, power {power}"),
        Distribution::Law(Law::Normal { deviation, .. }) => {
            let percent = (deviation * 1e11).round() / 1e9;
            format!("around a middle, ±{percent} %")
        }
        Distribution::Law(Law::Zoned(_)) | Distribution::Zoned(_) => "by zones".to_owned(),
        Distribution::Sequence { blocks, .. } => format!("in a given order of {}", blocks.len()),
    };
    match job.random.precondition {
        Some(rule) => {
            format!("each block once, and some again, in {} regions (sprandom)", rule.regions)
        }
        None if job.random.once_each => format!("{law}, each block once"),
        None => law,
    }
}

/// The files, and what is done there.
fn files(line: &mut impl FnMut(&str, String), layout: &Layout, number: usize, job: &Job) {
    let mut shares = layout.shares(number, job);
    shares.retain(|share| share.place.there != There::Null);
    let does = |sum: Traffic| match (&job.replay, job.timing.runtime) {
        (Some(_), _) => "as its trace says".to_owned(),
        (None, Nanos::ZERO) => traffic(sum),
        (None, _) => format!("{}, in one pass", traffic(sum)),
    };
    for share in shares.iter().take(MOST_FILES) {
        line("file", format!("{}: {}", place(share), does(share.traffic)));
    }
    if let Some(more) = shares.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        let mut sum = Traffic::default();
        shares.iter().for_each(|share| sum += share.traffic);
        line("", format!("and {more} more files"));
        line("together", does(sum));
    }
    if shares.is_empty() {
        line("file", "none".to_owned());
    }
}

/// One file, what it is, and which part of it is used if that is not all of it.
fn place(share: &Share<'_>) -> String {
    let Share { place, span, .. } = share;
    let (there, end) = match place.there {
        There::Nothing => (format!("temporary file of {}", bytes(place.end)), place.end),
        There::File => (bytes(place.size_bytes), place.size_bytes),
        There::Device => (format!("block device, {}", bytes(place.size_bytes)), place.size_bytes),
        There::Null | There::Modelled => ("modelled".to_owned(), place.end),
    };
    let part = match *span == (0..end) {
        true => String::new(),
        false => format!(" from {} to {}", bytes(span.start), bytes(span.end)),
    };
    format!("{} ({there}){part}", place.path.display())
}

/// Bytes by what is done with them.
fn traffic(traffic: Traffic) -> String {
    let Traffic { read, write, trim } = traffic;
    let all = [("read", read), ("write", write), ("discard", trim)];
    let told: Vec<String> = all
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {}", bytes(*n)))
        .collect();
    if told.is_empty() { "no bytes".to_owned() } else { told.join(", ") }
}
