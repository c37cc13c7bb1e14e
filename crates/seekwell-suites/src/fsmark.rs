//! FS-Mark: threads make files, write them, sync them and close them, and only files a second
//! count. The seven sync methods are fs_mark's `-S`.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::load::{Counts, Load, Pace, Played};
use crate::settings::Values::{Bytes, Count, OneOf};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, any, through_cache};
use crate::work::{Buffer, WorkerGroup, create, open, together, write_all};
use rustix::fs::{Mode, OFlags};
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What one write call hands over.
const IO_BYTES: u64 = 16 << 10;

/// fs_mark's names of its methods, by number.
const METHODS: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];

pub static SUITE: Suite = Suite {
    name: "fsmark",
    title: "FS-Mark: files made, written, synced and closed",
    does: "Makes files of one size in one or many directories, syncs them by one of fs_mark's \
           seven methods, and counts files a second.",
    takes: ["5 s", "10 s to 5 min"],
    writes: "the files, 1000 of 1 MiB",
    source: "fs_mark 3.3: -S 0 none, 1 fsync before close, 2 sync then fsync of one file, 3 fsync \
             of all in reverse order, 4 sync then 3, 5 fsync of all in order, 6 sync then 5; \
             defaults as the Phoronix Test Suite runs it",
    on: On::Directory,
    tunables: tunables! {
        "files" Count(1, 100_000_000), "200" | "1000": "files of each thread";
        "size" Bytes(0, 1 << 40), "256k" | "1m": "size of each file";
        "directories" Count(1, 100_000), "1" | "1": "directories the files lie in";
        "threads" Count(1, 1024), "1" | "1": "threads";
        "sync" OneOf(&METHODS), "1" | "1": "sync method, as fs_mark numbers them";
        "runtime" Count(0, 3_600_000), "1000" | "1000":
            "milliseconds to last at least; more rounds of files are made until then";
    },
    check: any,
    needs,
    direct: through_cache,
    steps,
};

fn needs(settings: &Settings) -> Needs {
    let files = settings.number("files") * settings.number("threads");
    let bytes = files.saturating_mul(settings.number("size").next_multiple_of(4096));
    Needs { bytes, files: files + settings.number("directories") }
}

/// 200 files of 1 MiB by one thread, each synced.
pub const RECORDED: Played = Played::whole("fsmark-1m", Pace::OneProgram, Counts::InAll(200.0));

#[derive(Debug, Clone, Copy)]
struct Job {
    files: u64,
    size: u64,
    directories: u64,
    threads: u32,
    sync: u8,
    runtime: Nanos,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let job = Job {
        files: settings.number("files"),
        size: settings.number("size"),
        directories: settings.number("directories"),
        threads: settings.number("threads") as u32,
        sync: settings.number("sync") as u8,
        runtime: Nanos::from_millis(settings.number("runtime")),
    };
    let title = format!("files of {} made and synced", seekwell_io::units::exact(job.size));
    let expected = Nanos::from_millis(job.files * u64::from(job.threads) * 5).max(job.runtime);
    let one = [("size", "1048576"), ("directories", "1"), ("threads", "1"), ("sync", "1")];
    let step = Step::new("create", title, "files_per_s", expected, move |stage| run(stage, job));
    vec![step.on_model(Load::Played(RECORDED).only_with(settings, &one))]
}

#[derive(Default)]
struct Times {
    open: Histogram,
    write: Histogram,
    sync: Histogram,
    close: Histogram,
}

impl Times {
    fn merge(&mut self, other: &Self) {
        self.open.merge(&other.open);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
        self.close.merge(&other.close);
    }
}

fn run(stage: &Stage<'_>, job: Job) -> Result<StepResult, SuiteError> {
    for i in 0..job.directories {
        let path = directory(stage.path, i);
        fs::create_dir(&path).doing("making", &path)?;
    }
    let mut all = Times::default();
    let whole = job.files * u64::from(job.threads);
    let (mut result, passes) = stage.passes(
        job.runtime,
        |pass| if pass > 0 { remove(stage, job) } else { Ok(()) },
        |_| {
            let one = |thread, group: &WorkerGroup<'_>| one(stage.path, job, thread, group);
            let given = together(stage, job.threads, whole, one)?;
            given.iter().for_each(|times| all.merge(times));
            Ok(())
        },
    )?;
    result.rate("files_per_s", whole * passes);
    result.requests(Op::Write, whole * passes * job.size, &all.write);
    result.latency("open", &all.open);
    result.latency("sync", &all.sync);
    result.latency("close", &all.close);
    Ok(result)
}

fn directory(root: &Path, number: u64) -> PathBuf {
    root.join(format!("{number:05}"))
}

fn file(root: &Path, job: Job, thread: u32, number: u64) -> PathBuf {
    directory(root, number % job.directories).join(format!("{thread:04}-{number:010}"))
}

fn remove(stage: &Stage<'_>, job: Job) -> Result<(), SuiteError> {
    for thread in 0..job.threads {
        for number in 0..job.files {
            stage.go_on()?;
            let path = file(stage.path, job, thread, number);
            fs::remove_file(&path).doing("removing", &path)?;
        }
    }
    Ok(())
}

/// One thread's files. Method 1 syncs each before it is closed; the others open all again.
fn one(root: &Path, job: Job, thread: u32, group: &WorkerGroup<'_>) -> Result<Times, SuiteError> {
    let (clock, mut times) = (Clock::real(), Times::default());
    let chunk = Buffer::random(IO_BYTES.min(job.size) as usize, u64::from(thread));
    for number in 0..job.files {
        group.go_on()?;
        let path = file(root, job, thread, number);
        let begin = clock.now();
        let fd = create(&path, OFlags::empty())?;
        let mut now = clock.now();
        times.open.record(now.since(begin));
        let mut left = job.size;
        while left > 0 {
            let len = left.min(IO_BYTES);
            write_all(&fd, &chunk.get()[..len as usize], &path)?;
            left -= len;
            let then = std::mem::replace(&mut now, clock.now());
            times.write.record(now.since(then));
        }
        if job.sync == 1 {
            sync_one(&fd, &path, &mut times.sync)?;
        }
        let before = clock.now();
        drop(fd);
        times.close.record(clock.now().since(before));
        group.did(1);
    }
    sync_all(root, job, thread, &mut times.sync)?;
    Ok(times)
}

fn sync_one(fd: &OwnedFd, path: &Path, times: &mut Histogram) -> Result<(), SuiteError> {
    let begin = Clock::real().now();
    rustix::io::retry_on_intr(|| rustix::fs::fsync(fd)).doing("syncing", path)?;
    times.record(Clock::real().now().since(begin));
    Ok(())
}

/// What methods 2 to 6 do after all files are written. `sync` is that of this file system alone:
/// other disks are none of our business.
fn sync_all(root: &Path, job: Job, thread: u32, times: &mut Histogram) -> Result<(), SuiteError> {
    let order: Vec<u64> = match job.sync {
        2 => vec![job.files - 1],
        3 | 4 => (0..job.files).rev().collect(),
        5 | 6 => (0..job.files).collect(),
        _ => Vec::new(),
    };
    if matches!(job.sync, 2 | 4 | 6) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(root, flags, Mode::empty()).doing("opening", root)?;
        let begin = Clock::real().now();
        rustix::fs::syncfs(&dir).doing("syncing", root)?;
        times.record(Clock::real().now().since(begin));
    }
    for number in order {
        let path = file(root, job, thread, number);
        sync_one(&open(&path, OFlags::empty())?, &path, times)?;
    }
    Ok(())
}
