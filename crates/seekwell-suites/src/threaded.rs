//! Threaded I/O as tiobench does it: some threads, each with a file of its own, write it from start
//! to end, overwrite random blocks, read it from start to end, read random blocks. Throughput, mean
//! and longest latency, and the share of requests that took longer than 2 s and 10 s.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::load::{Counts, Drawn, ENOUGH, Load, Pace, Played, Shape};
use crate::settings::Values::{Bytes, Count, OneOf};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, told_direct};
use crate::work::{Buffer, WorkerGroup, create, open, settle, together};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::OFlags;
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

pub static SUITE: Suite = Suite {
    name: "threaded",
    title: "threaded I/O, as tiobench does it",
    does: "Threads write, overwrite at random, read and read at random a file each. Writes end \
           with a sync that counts; with cache=drop the page cache is empty before reads.",
    takes: ["10 s", "1 to 10 min"],
    writes: "a file for each thread, 32 of 64 MiB",
    source: "tiobench 0.4 (threaded I/O bench); sizes as the Phoronix Test Suite runs it",
    on: On::Directory,
    tunables: tunables! {
        "threads" Count(1, 1024), "4" | "32": "threads, each with a file";
        "size" Bytes(1 << 16, 1 << 40), "64m" | "64m": "size of each file";
        "block" Bytes(512, 1 << 26), "4k" | "4k": "size of each request";
        "random" Count(1, 1 << 32), "4000" | "4000": "random requests of each thread";
        "cache" OneOf(&["drop", "keep", "direct"]), "drop" | "drop":
            "the page cache: dropped before each step, kept, or passed by (O_DIRECT)";
        "runtime" Count(0, 3_600_000), "1000" | "1000":
            "milliseconds a step lasts at least; it is repeated until then";
    },
    check,
    needs: |s| Needs { bytes: s.number("threads") * s.number("size"), files: s.number("threads") },
    direct: told_direct,
    steps,
};

/// Requests that took longer than these are counted, as a share.
const SLOW: [(Nanos, &str); 2] =
    [(Nanos::from_millis(2_000), "over_2s_share"), (Nanos::from_millis(10_000), "over_10s_share")];

fn check(settings: &Settings) -> Result<(), SuiteError> {
    let (block, size) = (settings.number("block"), settings.number("size"));
    let bad = |needed: &str| SuiteError::BadValue {
        name: "block".into(),
        value: block.to_string(),
        needed: needed.into(),
    };
    if size % block != 0 {
        return Err(bad("a file is a whole number of blocks"));
    }
    if settings.word("cache") == "direct" && block % 512 != 0 {
        return Err(bad("direct requests are multiples of 512 bytes"));
    }
    Ok(())
}

/// What every step needs.
#[derive(Debug, Clone, Copy)]
struct Job {
    threads: u32,
    blocks: u64,
    block: usize,
    random: u64,
    drop: bool,
    direct: bool,
    runtime: Nanos,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let block = settings.number("block");
    let job = Job {
        threads: settings.number("threads") as u32,
        blocks: settings.number("size") / block,
        block: block as usize,
        random: settings.number("random"),
        drop: settings.word("cache") == "drop",
        direct: settings.word("cache") == "direct",
        runtime: Nanos::from_millis(settings.number("runtime")),
    };
    let kinds = [
        ("sequential-write", "sequential write", Op::Write, false),
        ("random-write", "random write", Op::Write, true),
        ("sequential-read", "sequential read", Op::Read, false),
        ("random-read", "random read", Op::Read, true),
    ];
    let step = |(name, title, op, random): (&str, &str, Op, bool)| {
        let title = format!("{title}, {} threads", job.threads);
        let primary = format!("{}_bytes_per_s", op.name());
        let expected = job.runtime.max(Nanos::from_millis(2_000));
        Step::new(name, title, primary, expected, move |stage| run(stage, job, op, random))
            .on_model(load(settings, job, op, random))
    };
    kinds.into_iter().map(step).collect()
}

/// 32 threads writing at random, and the bytes they wrote.
pub const RANDOM_WRITE: Played =
    Played::whole("threaded-randwrite", Pace::Dependent, Counts::InAll(32_000.0 * 4096.0));
/// Reads that the page cache answers.
pub const CACHED: Load = Load::Host { work: "read_megabyte", things: 1e6 };

fn load(settings: &Settings, job: Job, op: Op, random: bool) -> Load {
    let whole = u64::from(job.threads) * job.blocks * job.block as u64;
    let drawn = |shape| {
        let runs = Nanos::from_millis(20_000);
        Drawn { requests: ENOUGH, ..Drawn::new(shape, whole, runs, Counts::Bytes(1.0)) }
    };
    if op == Op::Read && settings.word("cache") == "keep" {
        return CACHED;
    }
    let load = match (op, random) {
        (Op::Write, true) => {
            let recorded = [("threads", "32"), ("size", "67108864"), ("block", "4096")];
            Load::Played(RANDOM_WRITE).only_with(settings, &recorded)
        }
        (Op::Write, false) => Load::Drawn(drawn(Shape::Writes)),
        (_, false) => Load::Drawn(drawn(Shape::Reads { streams: job.threads })),
        (_, true) => {
            let (bytes, depth) = (job.block as u32, job.threads);
            // A block that is drawn again is in the page cache.
            let (blocks, drawings) = (job.blocks as f64, job.random as f64);
            let cached = 1.0 - blocks * (1.0 - (-drawings / blocks).exp()) / drawings;
            let shape = Shape::Random { read_percent: 100, bytes, depth };
            Load::Drawn(Drawn { cached, ..drawn(shape) })
        }
    };
    load.only_with(settings, &[("cache", "drop")])
}

fn run(stage: &Stage<'_>, job: Job, op: Op, random: bool) -> Result<StepResult, SuiteError> {
    let files = files(stage, job)?;
    let each = if random { job.random } else { job.blocks };
    let seed = stage.seed ^ ((op as u64) << 32);
    let mut times = Histogram::default();
    let mut slow = [0_u64; 2];
    let (mut result, _) = stage.passes(
        job.runtime,
        |_| match job.drop {
            true => files.iter().try_for_each(|(file, path)| settle(file, path)),
            false => Ok(()),
        },
        |pass| {
            let whole = each * u64::from(job.threads);
            let given = together(stage, job.threads, whole, |thread, group| {
                let seed = random.then_some(seed ^ (u64::from(thread) << 16) ^ pass);
                one(&files[thread as usize], job, op, seed, group)
            })?;
            for (mine, late) in given {
                times.merge(&mine);
                (0..2).for_each(|i| slow[i] += late[i]);
            }
            Ok(())
        },
    )?;
    let bytes = times.count() * job.block as u64;
    result.requests(op, bytes, &times);
    result.rate(format!("{}_bytes_per_s", op.name()), bytes);
    for (count, (_, name)) in slow.iter().zip(SLOW) {
        result.set(name, *count as f64 / times.count().max(1) as f64);
    }
    Ok(result)
}

/// The files of all threads: made and laid out whole the first time, so that a later write never
/// has to find room.
fn files(stage: &Stage<'_>, job: Job) -> Result<Vec<(OwnedFd, PathBuf)>, SuiteError> {
    let flags = if job.direct { OFlags::DIRECT } else { OFlags::empty() };
    let one = |thread| {
        let path = stage.path.join(format!("thread-{thread}"));
        if !path.exists() {
            drop(create(&path, OFlags::empty())?);
        }
        Ok((open(&path, flags)?, path))
    };
    (0..job.threads).map(one).collect()
}

/// One thread's requests, the sync that ends its writes among them.
fn one(
    (file, path): &(OwnedFd, PathBuf),
    job: Job,
    op: Op,
    random: Option<u64>,
    group: &WorkerGroup<'_>,
) -> Result<(Histogram, [u64; 2]), SuiteError> {
    let (clock, mut times, mut slow) = (Clock::real(), Histogram::default(), [0; 2]);
    let mut buffer = Buffer::random(job.block, 1);
    let mut draw = random.map(Xoshiro256PlusPlus::seed_from_u64);
    let count = if random.is_some() { job.random } else { job.blocks };
    let mut before = clock.now();
    for i in 0..count {
        if i % 64 == 0 {
            group.go_on()?;
            group.did(64.min(count - i));
        }
        let block = draw.as_mut().map_or(i, |d| d.next_u64() % job.blocks);
        let at = block * job.block as u64;
        let moved = match op {
            Op::Write => rustix::io::retry_on_intr(|| rustix::io::pwrite(file, buffer.get(), at)),
            _ => rustix::io::retry_on_intr(|| rustix::io::pread(file, buffer.get_mut(), at)),
        };
        let what = if op == Op::Write { "writing" } else { "reading" };
        if moved.doing(what, path)? != job.block {
            let short = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
            return Err(SuiteError::io(what, path, short));
        }
        let now = clock.now();
        let time = now.since(before);
        before = now;
        times.record(time);
        (0..2).for_each(|k| slow[k] += u64::from(time > SLOW[k].0));
    }
    if op == Op::Write {
        rustix::io::retry_on_intr(|| rustix::fs::fsync(file)).doing("syncing", path)?;
    }
    Ok((times, slow))
}
