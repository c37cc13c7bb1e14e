//! What is wrong with jobs, and what of them makes no difference here: known from the jobs alone,
//! or once their files are open, and before the first request.

use super::error::{Fault, JobRunError, TraceFault};
use super::group::groups;
use super::media::Media;
use seekwell_io::target::AtomicUnits;
use seekwell_job::job::{
    Blocks, Checksum, EngineKind as Asked, Job, JobFile, Kind, OpenSync, Warning,
};
use seekwell_job::layout::{Layout, There};
use seekwell_job::play::address::Address;
use seekwell_job::play::data::header;
use seekwell_job::play::source::walk;
use seekwell_job::play::source::written::{Written, unit};
use seekwell_job::play::steady::samples;

/// The most memory that remembering what was written may take, for all clones together.
const MEMORY: u64 = 1 << 30;

/// Refuses jobs that cannot be run, whatever their files are.
pub fn jobs(jobs: &[Job]) -> Result<(), JobRunError> {
    for (number, job) in jobs.iter().enumerate() {
        let refuse = |what| Err(Fault::NotHere(what).of(job));
        if job.replay.is_some()
            && let Some((_, option)) = NOT_REPLAYED.iter().find(|(holds, _)| holds(job))
        {
            return Err(TraceFault::Option(option).of(job));
        }
        if job.extent.fill_device && job.access.kind.writes() {
            return refuse(
                "fill_device writes until nothing is free, and a tenth of a file system and 1 GiB \
                 always stay free here; give a size",
            );
        }
        if let Some(name) = &job.group.wait_for
            && !jobs[..number].iter().any(|before| before.name == *name)
        {
            return Err(Fault::NobodyToWaitFor(name.clone()).of(job));
        }
        verify(job)?;
        zoned(job)?;
        let durability = &job.durability;
        let flushes = durability.fsync_every > 0 || durability.fdatasync_every > 0;
        if job.engine.kind == Asked::IoUringCmd
            && let Some((_, what)) = NOT_BY_COMMAND.iter().find(|(holds, _)| holds(job))
        {
            return refuse(what);
        }
        if job.engine.flags.polled && (flushes || job.makes().trim) {
            return refuse("hipri polls for reads and writes alone, not for fsync or trim");
        }
        if job.steady_state.is_some_and(|rule| samples(&rule) < 2) {
            return refuse(
                "steadystate_duration has to be two steadystate_check_interval or longer",
            );
        }
    }
    for group in groups(jobs) {
        let odd = group.iter().find(|n| jobs[**n].steady_state != jobs[group[0]].steady_state);
        if let Some(odd) = odd {
            let what = "steadystate has to be the same in all jobs that group_reporting adds up";
            return Err(Fault::NotHere(what).of(&jobs[*odd]));
        }
    }
    Ok(())
}

/// Whether an option is set, and its name or what is wrong with it.
type Contradiction = (fn(&Job) -> bool, &'static str);

/// What decides requests that a trace decides already.
const NOT_REPLAYED: &[Contradiction] = &[
    (|job| job.verify.is_some(), "verify"),
    (|job| job.rate.limits(), "rate"),
    (|job| job.thinktime.is_some(), "thinktime"),
    (|job| job.latency_target.is_some(), "latency_target"),
    (|job| job.flow.is_some(), "flow"),
    (|job| job.strided.is_some() || job.zoned.is_some(), "zonemode"),
    (|job| job.extent.number_ios.is_some(), "number_ios"),
    (|job| given(job, "rate_min") || given(job, "rate_iops_min"), "rate_min"),
    (|job| job.engine.serialize_overlap, "serialize_overlap"),
    (|job| job.engine.flags.atomic, "atomic"),
    (|job| job.thinkcycles > 0, "thinkcycles"),
    (|job| job.random.precondition.is_some(), "sprandom"),
];

/// Refuses options that are incompatible with `zonemode=zbd`.
fn zoned(job: &Job) -> Result<(), JobRunError> {
    if job.zoned.is_none() {
        return Ok(());
    }
    let kind = job.access.kind;
    let rules = [
        (kind.trims(), "zonemode=zbd resets full zones itself; leave rw=trim out"),
        (
            kind.writes() && !job.engine.direct,
            "zonemode=zbd needs direct=1: the page cache writes back in any order",
        ),
        (
            kind.writes() && job.verify.is_some(),
            "zonemode=zbd resets zones, so their data cannot be verified; leave verify out",
        ),
        (job.unaligned, "zonemode=zbd needs whole blocks; leave bs_unaligned out"),
    ];
    match rules.into_iter().find(|(holds, _)| *holds) {
        Some((_, what)) => Err(Fault::NotHere(what).of(job)),
        None => Ok(()),
    }
}

/// What NVMe passthrough cannot do.
const NOT_BY_COMMAND: &[Contradiction] = &[
    (
        |job| job.engine.flags.atomic || job.engine.flags.uncached,
        "io_uring_cmd bypasses the block layer and cannot be atomic or uncached",
    ),
    (
        |job| job.durability.open != OpenSync::None || job.durability.syncs_at_end(),
        "io_uring_cmd has no file to sync; fsync=N sends a flush after N writes",
    ),
];

fn verify(job: &Job) -> Result<(), JobRunError> {
    let Some(verify) = &job.verify else { return Ok(()) };
    match verify.checksum {
        Checksum::Null => return Ok(()),
        Checksum::Pattern if verify.pattern.is_some() => return Ok(()),
        Checksum::Pattern => {
            return Err(Fault::NotHere("verify=pattern needs verify_pattern").of(job));
        }
        _ => {}
    }
    let header = header::len(verify.checksum);
    let bad = |what, found| Err(Fault::Interval { what, found, header }.of(job));
    let step = verify.interval_bytes.unwrap_or(job.min_block());
    if (step as usize) <= header {
        return bad(if verify.interval_bytes.is_some() { "verify_interval" } else { "bs" }, step);
    }
    let made = job.makes();
    let used = [(made.read, &job.blocks.read), (made.write, &job.blocks.write)];
    let sizes = used.iter().filter(|(used, _)| *used).flat_map(|(_, blocks)| sizes(blocks));
    match sizes.into_iter().find(|bytes| verify.interval_bytes.is_some() && bytes % step != 0) {
        Some(found) => bad("bs", found),
        None => Ok(()),
    }
}

/// Lengths that show what all lengths are multiples of.
fn sizes(blocks: &Blocks) -> Vec<u32> {
    match blocks {
        Blocks::Fixed(bytes) => vec![*bytes],
        Blocks::Range { min, .. } => vec![*min],
        Blocks::Split(shares) => shares.iter().map(|s| s.bytes).collect(),
    }
}

/// Refuses what a modelled machine cannot do, one whose drive has zones or none.
pub fn on_machine(jobs: &[Job], has_zones: bool) -> Result<(), JobRunError> {
    let rules = |job: &Job| {
        [
            (
                job.verify.is_some(),
                "verify needs data that was written, and a modelled machine keeps none",
            ),
            (
                job.zoned.is_some() && !has_zones,
                "this machine's drive has no zones; leave zonemode=zbd out, or choose one that \
                 has: seekwell machine list",
            ),
            (
                job.zoned.is_none() && has_zones && job.destroys(),
                "this machine's drive only accepts writes at the write pointers of its zones; add \
                 zonemode=zbd",
            ),
        ]
    };
    for job in jobs {
        if let Some((_, what)) = rules(job).into_iter().find(|(holds, _)| *holds) {
            return Err(Fault::NotHere(what).of(job));
        }
    }
    Ok(())
}

/// What of a job makes no difference on a modelled machine.
pub fn idle_on_machine(job: &Job) -> Vec<Warning> {
    let rules = [
        (!job.engine.direct, "direct", "a model has no page cache: requests reach the machine"),
        (job.durability.syncs_at_end(), "end_fsync", "files of a model are not synced at the end"),
        (job.logs.unix_epoch, "log_unix_epoch", "a model has a clock of its own"),
        (job.engine.flags.atomic, "atomic", "a model keeps no data"),
        (job.engine.flags.uncached, "uncached", "a model has no page cache"),
        (job.engine.flags.polled, "hipri", "a model has no interrupts"),
        (job.thinkcycles > 0, "thinkcycles", "a model has a clock of its own"),
        (job.hints.comm.is_some(), "comm", "all clones of a model run on one thread"),
        (!job.hints.cpus.is_empty(), "cpus_allowed", "a model is not run by the clones' CPUs"),
    ];
    let holds = rules.into_iter().filter(|(holds, ..)| *holds);
    let warning = |(_, option, why): (bool, &str, &str)| Warning {
        job: job.name.clone(),
        option: option.to_owned(),
        why: why.to_owned(),
    };
    holds.map(warning).collect()
}

/// Refuses what needs too much memory or cannot be addressed.
pub fn memory(jobs: &[Job], layout: &Layout) -> Result<(), JobRunError> {
    let mut all = 0_u64;
    for member in &layout.members {
        let job = &jobs[member.job];
        let end = member.uses.iter().map(|u| u.region.start + u.region.bytes).max().unwrap_or(0);
        if end >= Address::new(member.uses.len()).limit() {
            return Err(Fault::TooFar { files: member.uses.len(), bytes: end }.of(job));
        }
        let bytes: u64 = member.uses.iter().map(|u| u.region.bytes).sum();
        let unit = unit(job);
        if job.remembers() {
            all = all.saturating_add(Written::needs(bytes, unit));
        }
        if walk::covers(job) && job.access.random {
            all = all.saturating_add(bytes / unit.max(1) / 8);
        }
        if all > MEMORY {
            let (needed, limit) = (all, MEMORY);
            return Err(Fault::TooMuchToRemember { bytes, unit, needed, limit }.of(job));
        }
    }
    Ok(())
}

/// Refuses requests that the opened files cannot take past the page cache.
pub fn alignment(jobs: &[Job], layout: &Layout, media: &Media) -> Result<(), JobRunError> {
    for member in &layout.members {
        let job = &jobs[member.job];
        // Requests of a trace are placed on whole blocks.
        if !job.engine.direct || job.replay.is_some() {
            continue;
        }
        let made = job.makes();
        let used = [
            (made.read, &job.blocks.read, job.align_bytes.read),
            (made.write, &job.blocks.write, job.align_bytes.write),
        ];
        for used_place in &member.uses {
            let Some(opened) = &media.media[used_place.place].opened else { continue };
            if !opened.direct() {
                continue;
            }
            let block = opened.logical_block_bytes();
            let found = used.iter().filter(|(used, ..)| *used).find_map(|(_, blocks, align)| {
                let odd = |bytes: u64| !bytes.is_multiple_of(u64::from(block));
                let size = sizes(blocks).into_iter().map(u64::from).find(|b| odd(*b));
                let aligned = Some(*align).filter(|a| odd(*a));
                size.map(|b| ("bs", b)).or_else(|| aligned.map(|a| ("blockalign", a)))
            });
            let start = used_place.region.start;
            let found =
                found.or_else(|| (start % u64::from(block) != 0).then_some(("offset", start)));
            if let Some((what, found)) = found {
                let path = layout.places[used_place.place].path.clone();
                return Err(Fault::Unaligned { path, what, found, block }.of(job));
            }
        }
    }
    Ok(())
}

/// Refuses atomic writes that the opened files do not take whole.
pub fn atomic(jobs: &[Job], layout: &Layout, media: &Media) -> Result<(), JobRunError> {
    for member in &layout.members {
        let job = &jobs[member.job];
        if !job.engine.flags.atomic || !job.access.kind.writes() {
            continue;
        }
        for used in &member.uses {
            let Some(opened) = &media.media[used.place].opened else { continue };
            let path = || layout.places[used.place].path.clone();
            let Some(units @ AtomicUnits { least, most }) = AtomicUnits::of(&**opened) else {
                return Err(Fault::NoAtomicWrites { path: path() }.of(job));
            };
            let sizes = sizes(&job.blocks.write).into_iter().chain([job.blocks.write.max()]);
            // A write has to lie on a multiple of its own length.
            let (longest, start) = (u64::from(job.blocks.write.max()), used.region.start);
            let placed = job.align_bytes.write.is_multiple_of(longest)
                && start.is_multiple_of(longest)
                && matches!(job.blocks.write, Blocks::Fixed(_));
            let found = sizes.into_iter().find(|bytes| !units.takes(*bytes) || !placed);
            if let Some(found) = found {
                return Err(Fault::NotAtomic { path: path(), found, least, most }.of(job));
            }
        }
    }
    Ok(())
}

/// Options of a job that are done otherwise, or make no difference: what the parser knows,
/// and what it cannot know.
pub fn said(parsed: &JobFile, job: &Job) -> Vec<String> {
    let known: Vec<_> = parsed.warnings.iter().filter(|w| w.job == job.name).collect();
    let is_new = |text: &String| !known.iter().any(|w| text.starts_with(&w.option));
    let new: Vec<String> = remarks(job).into_iter().filter(is_new).collect();
    known.iter().map(|w| format!("{}: {}", w.option, w.why)).chain(new).collect()
}

/// What is done otherwise here, one sentence each.
fn remarks(job: &Job) -> Vec<String> {
    REMARKS.iter().filter(|(holds, _)| holds(job)).map(|(_, text)| (*text).to_owned()).collect()
}

fn given(job: &Job, option: &str) -> bool {
    job.options.contains_key(option)
}

/// Whether more than one request can be outstanding.
fn queued(job: &Job) -> bool {
    !job.engine.kind.synchronous() && job.engine.kind != Asked::Null
}

/// When something is to be said of a job, and what.
type Remark = (fn(&Job) -> bool, &'static str);

/// Everything that may be.
const REMARKS: &[Remark] = &[
    (
        |job| job.engine.kind == Asked::Mmap,
        "ioengine=mmap: requests are plain reads and writes, no mapping is made",
    ),
    (
        |job| matches!(job.engine.kind, Asked::Vsync),
        "ioengine=vsync: adjacent requests are not joined",
    ),
    (
        |job| {
            let batch = |o: &String| o.starts_with("iodepth_batch") || o == "iodepth_low";
            queued(job) && job.options.keys().any(batch)
        },
        "iodepth_batch…, iodepth_low have no effect: requests are handed over and taken as many \
         at a time as costs least",
    ),
    (|job| job.engine.offload, "io_submit_mode=offload has no effect: each clone submits itself"),
    (
        |job| given(job, "hipri") && !job.engine.flags.polled && job.engine.kind != Asked::Null,
        "hipri has no effect: only io_uring polls (the kernel ignores it for plain system calls \
         since Linux 6.0)",
    ),
    (|job| job.hints.sq_poll, "sqthread_poll has no effect: each clone submits itself"),
    (|job| job.hints.force_async > 0, "force_async has no effect"),
    (|job| job.hints.nowait, "nowait has no effect: requests may wait in the kernel"),
    (
        |job| ["prio", "prioclass", "priohint", "nice"].iter().any(|option| given(job, option)),
        "prio, prioclass, priohint, nice have no effect: clones run with this program's priority",
    ),
    (
        |job| job.options.keys().any(|option| option.starts_with("cmdprio")),
        "cmdprio… has no effect: all requests have the same priority",
    ),
    (|job| job.hints.huge_pages, "mem has no effect: buffers are in ordinary pages"),
    (|job| job.files.pre_read, "pre_read has no effect: files are not read before"),
    (|job| job.files.append, "file_append has no effect: temporary files begin empty"),
    (
        |job| given(job, "openfiles") && job.files.open < job.files.count,
        "openfiles has no effect: all files are open",
    ),
    (
        |job| job.files.creation.unlink_each_loop || given(job, "unlink"),
        "unlink… has no effect: temporary files are always removed, and yours never",
    ),
    (
        |job| ["create_on_open", "create_serialize", "create_fsync"].iter().any(|o| given(job, o)),
        "create_… has no effect: files are made before the first job begins",
    ),
    (|job| job.files.creation.only, "create_only: files are made and nothing is measured"),
    (
        |job| given(job, "bwavgtime") || given(job, "iopsavgtime"),
        "bwavgtime, iopsavgtime have no effect: windows of logs are of log_avg_msec",
    ),
    (
        |job| job.logs.any() && job.remembers(),
        "write_…_log: what is read back after the job is not in its logs",
    ),
    (|job| job.record.is_some(), "write_iolog has no effect: `seekwell record` records requests"),
    (
        |job| job.thinktime.is_some_and(|t| t.spin.0 > 0),
        "thinktime_spin: the pause is waited for without using the CPU",
    ),
    (
        |job| job.random.once_each && job.access.random && job.strided.is_some(),
        "zonemode=strided: blocks may come again within a zone",
    ),
    (
        |job| {
            job.verify.is_some() && job.destroys() && job.clones > 1 && !job.files.names.is_empty()
        },
        "verify: clones share files, and what one writes over of another's does not verify",
    ),
    (
        |job| job.random.once_each && job.access.random && job.unaligned,
        "bs_unaligned: blocks may come again before all were used",
    ),
    (
        |job| job.verify.as_ref().is_some_and(|v| v.trim),
        "trim_… has no effect: nothing is discarded between verified blocks",
    ),
    (
        |job| job.verify.as_ref().is_some_and(|v| v.threads > 0),
        "verify_async has no effect: each clone checks what it read",
    ),
    (
        |job| job.verify.is_some() && job.engine.kind == Asked::Null,
        "verify has no effect: the null engine keeps no data",
    ),
    (
        |job| job.verify.is_some() && job.extent.loops > 1 && job.access.kind.writes(),
        "verify: what was written is read back once, after the last loop",
    ),
    (
        |job| job.verify.is_some() && job.access.kind == Kind::ReadWrite,
        "verify: in a mix only what was written is checked, when it is read back",
    ),
];

/// What is to be said once files are open: which could not be driven as was asked.
pub fn of_media(job: &Job, number: usize, layout: &Layout, media: &Media) -> Option<String> {
    let mut places = layout.members.iter().filter(|m| m.job == number).flat_map(|m| &m.uses);
    let through_cache = places.find(|used| {
        !matches!(layout.places[used.place].there, There::Null | There::Modelled)
            && !media.direct(used.place)
    })?;
    job.engine.direct.then(|| {
        let path = layout.places[through_cache.place].path.display();
        format!("direct=1 was not possible on {path}: requests went through the page cache")
    })
}

/// A job that only checks what an earlier run wrote reads where it would have written.
pub fn read_only(job: &mut Job) {
    let only = job.verify.as_ref().is_some_and(|v| v.only);
    if only && job.access.kind.writes() {
        job.access.kind = Kind::Read;
        job.blocks.read = job.blocks.write.clone();
        job.align_bytes.read = job.align_bytes.write;
        job.access.percent_random.read = job.access.percent_random.write;
    }
}
