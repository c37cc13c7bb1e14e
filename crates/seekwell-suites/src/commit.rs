//! Group commit: threads append a record to a log of their own and sync it, as databases do, and
//! the file system joins their syncs. More threads, more commits a second; how many of them share
//! a flush of the disk's cache is the disk's own count.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::lists;
use crate::settings::Values::{Bytes, Count, OneOf, Text};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, through_cache};
use crate::work::{Buffer, create, together};
use rustix::fs::OFlags;
use rustix::io::retry_on_intr;
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

pub static SUITE: Suite = Suite {
    name: "commit",
    title: "Group commit: records appended and synced by 1 to 64 threads",
    does: "Each thread appends a record to its own log and syncs it, for a growing number of \
           threads, and counts commits a second and commits per flush of the disk.",
    takes: ["5 s", "40 s"],
    writes: "a log for each thread, of 16 MiB at most",
    source: "the write-ahead logs of databases: an append and an fsync (PostgreSQL, SQLite's WAL) \
             or, log=recycled, an overwrite and an fdatasync (PostgreSQL's recycled segments)",
    on: On::Directory,
    tunables: tunables! {
        "threads" Text, "1,4,16" | "1,2,4,8,16,32,64": "numbers of threads, one step each";
        "record" Bytes(512, 1 << 20), "4k" | "4k": "size of a record";
        "size" Bytes(1 << 20, 1 << 40), "16m" | "16m": "size of a log, which then starts again";
        "log" OneOf(&["grow", "recycled"]), "grow" | "grow":
            "append and fsync, or overwrite what is there and fdatasync";
        "runtime" Count(1, 3_600_000), "1000" | "5000": "milliseconds of each step";
    },
    check: |settings| threads(settings).map(drop),
    needs,
    direct: through_cache,
    steps,
};

fn threads(settings: &Settings) -> Result<Vec<u32>, SuiteError> {
    lists::numbers(settings, "threads", 1, 1024)
}

fn needs(settings: &Settings) -> Needs {
    let most = u64::from(threads(settings).unwrap_or_default().into_iter().max().unwrap_or(0));
    Needs { bytes: most.saturating_mul(settings.number("size")), files: most }
}

#[derive(Debug, Clone, Copy)]
struct Job {
    threads: u32,
    record: usize,
    size: u64,
    recycled: bool,
    runtime: Nanos,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let job = |threads| Job {
        threads,
        record: settings.number("record") as usize,
        size: settings.number("size"),
        recycled: settings.word("log") == "recycled",
        runtime: Nanos::from_millis(settings.number("runtime")),
    };
    let step = |threads| {
        let job = job(threads);
        let title = match threads {
            1 => "commits by 1 thread".to_owned(),
            n => format!("commits by {n} threads"),
        };
        let name = format!("threads-{threads}");
        Step::new(name, title, "commits_per_s", job.runtime, move |stage| run(stage, job))
    };
    threads(settings).unwrap_or_default().into_iter().map(step).collect()
}

/// One thread's log.
struct Log {
    path: PathBuf,
    file: OwnedFd,
    record: Buffer,
    job: Job,
}

impl Log {
    fn new(root: &Path, job: Job, thread: u32) -> Result<Self, SuiteError> {
        let path = root.join(format!("log-{thread:04}"));
        let file = create(&path, OFlags::empty())?;
        let log = Self { path, file, record: Buffer::random(job.record, thread.into()), job };
        if job.recycled {
            let mut at = 0;
            while log.fits(at) {
                at = log.write(at)?;
            }
        }
        retry_on_intr(|| rustix::fs::fsync(&log.file)).doing("syncing", &log.path)?;
        Ok(log)
    }

    fn fits(&self, at: u64) -> bool {
        at + self.job.record as u64 <= self.job.size
    }

    /// Writes the record, and gives where the next one goes.
    fn write(&self, mut at: u64) -> Result<u64, SuiteError> {
        let mut left = self.record.get();
        while !left.is_empty() {
            let wrote = retry_on_intr(|| rustix::io::pwrite(&self.file, left, at));
            let wrote = wrote.doing("writing", &self.path)?;
            (left, at) = (&left[wrote..], at + wrote as u64);
        }
        Ok(at)
    }

    /// Writes the record and makes it durable. A full log starts again.
    fn commit(&self, mut at: u64) -> Result<u64, SuiteError> {
        let (file, path) = (&self.file, &self.path);
        if !self.fits(at) {
            at = 0;
            if !self.job.recycled {
                retry_on_intr(|| rustix::fs::ftruncate(file, 0)).doing("emptying", path)?;
            }
        }
        let next = self.write(at)?;
        let sync = || match self.job.recycled {
            true => rustix::fs::fdatasync(file),
            false => rustix::fs::fsync(file),
        };
        retry_on_intr(sync).doing("syncing", path)?;
        Ok(next)
    }
}

fn run(stage: &Stage<'_>, job: Job) -> Result<StepResult, SuiteError> {
    let logs = (0..job.threads).map(|thread| Log::new(stage.path, job, thread));
    let logs: Vec<Log> = logs.collect::<Result<_, _>>()?;
    let meter = stage.begin();
    let given = together(stage, job.threads, 0, |thread, group| {
        let (clock, mut times, mut at) = (Clock::real(), Histogram::default(), 0);
        let begun = clock.now();
        let mut now = begun;
        while now.since(begun) < job.runtime {
            group.go_on()?;
            at = logs[thread as usize].commit(at)?;
            let then = std::mem::replace(&mut now, clock.now());
            times.record(now.since(then));
            group.reached(now.since(begun).as_secs_f64() / job.runtime.as_secs_f64());
        }
        Ok(times)
    })?;
    let mut result = meter.end();
    let mut times = Histogram::default();
    given.iter().for_each(|of_one| times.merge(of_one));
    let commits = times.count();
    result.rate("commits_per_s", commits);
    result.requests(Op::Write, commits * job.record as u64, &times);
    result.latency("commit", &times);
    if let Some(device) = result.device.filter(|device| device.flushes > 0) {
        result.set("commits_per_flush_count", commits as f64 / device.flushes as f64);
    }
    for Log { path, .. } in &logs {
        std::fs::remove_file(path).doing("removing", path)?;
    }
    Ok(result)
}
