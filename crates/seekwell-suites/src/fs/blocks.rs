//! The six tests of large files, one file for each copy.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, StepResult};
use crate::memory::usable_bytes;
use crate::settings::Settings;
use crate::work::{Buffer, LEAST, WorkerGroup, create, open, settle, together, write_all};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{OFlags, SeekFrom};
use rustix::io::retry_on_intr;
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One seek in this many changes what it read.
const UPDATE: u64 = 10;

/// The options of the six tests.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    size: u64,
    chunk: usize,
    char_size: u64,
    seeks: u64,
    seekers: u32,
    copies: u32,
    drop: bool,
    direct: bool,
    sync_each: bool,
}

/// Calls of one worker: what each took, and reads and writes by themselves.
#[derive(Default)]
struct Times {
    call: Histogram,
    read: Histogram,
    write: Histogram,
}

impl Times {
    fn merge(&mut self, other: &Self) {
        self.call.merge(&other.call);
        self.read.merge(&other.read);
        self.write.merge(&other.write);
    }
}

/// An open file, its path, and a block of it.
struct File {
    fd: OwnedFd,
    path: PathBuf,
    buffer: Buffer,
    sync_each: bool,
}

impl File {
    fn read(&mut self) -> Result<(), SuiteError> {
        let len = self.buffer.get().len();
        let mut done = 0;
        while done < len {
            let rest = &mut self.buffer.get_mut()[done..];
            match retry_on_intr(|| rustix::io::read(&self.fd, &mut *rest)) {
                Ok(0) => {
                    let end = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                    return Err(SuiteError::io("reading", &self.path, end));
                }
                Ok(n) => done += n,
                Err(errno) => return Err(SuiteError::io("reading", &self.path, errno.into())),
            }
        }
        Ok(())
    }

    fn write(&self) -> Result<(), SuiteError> {
        write_all(&self.fd, self.buffer.get(), &self.path)?;
        self.written()
    }

    /// What is to follow a write.
    fn written(&self) -> Result<(), SuiteError> {
        if self.sync_each { self.sync() } else { Ok(()) }
    }

    /// Changes one byte of the block.
    fn touch(&mut self, at: u64) {
        let len = self.buffer.get().len() as u64;
        let byte = &mut self.buffer.get_mut()[(at % len) as usize];
        *byte = byte.wrapping_add(1);
    }

    fn seek(&self, to: SeekFrom) -> Result<(), SuiteError> {
        rustix::fs::seek(&self.fd, to).doing("seeking in", &self.path).map(drop)
    }

    /// As bonnie++ closes: output counts until it is on the disk.
    fn sync(&self) -> Result<(), SuiteError> {
        retry_on_intr(|| rustix::fs::fsync(&self.fd)).doing("syncing", &self.path)
    }
}

impl Blocks {
    pub fn new(settings: &Settings) -> Self {
        Self {
            size: settings.number("size"),
            chunk: settings.number("chunk") as usize,
            char_size: settings.number("char_size"),
            seeks: settings.number("seeks"),
            seekers: settings.number("seekers") as u32,
            copies: settings.number("concurrency") as u32,
            drop: settings.word("cache") == "drop",
            direct: settings.word("cache") == "direct",
            sync_each: settings.word("sync") == "each",
        }
    }

    fn path(root: &Path, copy: u32) -> PathBuf {
        root.join(format!("blocks-{copy}"))
    }

    fn flags(&self) -> OFlags {
        if self.direct { OFlags::DIRECT } else { OFlags::empty() }
    }

    /// A file that is new: what was there under its name is removed.
    fn fresh(&self, root: &Path, copy: u32, flags: OFlags) -> Result<File, SuiteError> {
        let path = Self::path(root, copy);
        let fd = create(&path, flags)?;
        let buffer = Buffer::random(self.chunk, u64::from(copy));
        Ok(File { fd, path, buffer, sync_each: self.sync_each })
    }

    fn reopen(&self, root: &Path, copy: u32, flags: OFlags) -> Result<File, SuiteError> {
        let path = Self::path(root, copy);
        let fd = open(&path, flags)?;
        let buffer = Buffer::new(self.chunk);
        Ok(File { fd, path, buffer, sync_each: self.sync_each })
    }

    /// Removes the files, so that they are created again.
    fn remove(&self, root: &Path) -> Result<(), SuiteError> {
        (0..self.copies)
            .map(|copy| Self::path(root, copy))
            .filter(|p| p.exists())
            .try_for_each(|path| fs::remove_file(&path).doing("removing", &path))
    }

    /// Drops what is cached of the files, where that was asked for.
    fn forget(&self, root: &Path) -> Result<(), SuiteError> {
        if !self.drop {
            return Ok(());
        }
        (0..self.copies)
            .map(|copy| Self::path(root, copy))
            .try_for_each(|path| settle(open(&path, OFlags::empty())?, &path))
    }

    /// Runs one of the sequential tests: `work` does a block at a time of `bytes` in each copy.
    fn sequential(
        &self,
        stage: &Stage<'_>,
        bytes: u64,
        prepare: impl Fn() -> Result<(), SuiteError>,
        work: impl Fn(u32, u64, &WorkerGroup<'_>) -> Result<Times, SuiteError> + Sync,
    ) -> Result<(StepResult, Times), SuiteError> {
        let (mut all, blocks) = (Times::default(), bytes / self.chunk as u64);
        let whole = bytes * u64::from(self.copies);
        let (mut result, passes) = stage.passes(
            LEAST,
            |_| prepare(),
            |_| {
                let given =
                    together(stage, self.copies, whole, |copy, group| work(copy, blocks, group))?;
                given.iter().for_each(|times| all.merge(times));
                Ok(())
            },
        )?;
        result.rate("rate_bytes_per_s", whole * passes);
        result.latency("call", &all.call);
        self.say(&mut result);
        Ok((result, all))
    }

    /// Which of the two ways keeps memory out of the figures, if any.
    fn say(&self, result: &mut StepResult) {
        let size = self.size * u64::from(self.copies);
        let twice = usable_bytes().is_some_and(|memory| size >= memory.saturating_mul(2));
        result.notes.push(if self.direct {
            "the page cache was passed by (O_DIRECT)".into()
        } else if self.drop {
            "the page cache was dropped before each step that reads".into()
        } else if twice {
            "the file is at least twice the memory that may be used".into()
        } else {
            "the page cache was kept, and it can hold the file: these are figures of memory".into()
        });
    }

    pub fn put_chars(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        let prepare = || self.remove(stage.path);
        let (result, _) =
            self.sequential(stage, self.char_size, prepare, |copy, blocks, group| {
                let file = self.fresh(stage.path, copy, OFlags::empty())?;
                let times = self.each(blocks, group, |_| {
                    for i in 0..self.chunk {
                        write_all(&file.fd, &[(i & 0x7f) as u8], &file.path)?;
                    }
                    file.written()
                })?;
                file.sync().map(|()| times)
            })?;
        Ok(result)
    }

    pub fn put_blocks(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        let prepare = || self.remove(stage.path);
        let (mut result, times) =
            self.sequential(stage, self.size, prepare, |copy, blocks, group| {
                let mut file = self.fresh(stage.path, copy, self.flags())?;
                let times = self.each(blocks, group, |i| {
                    file.touch(i);
                    file.write()
                })?;
                file.sync().map(|()| times)
            })?;
        let bytes = times.call.count() * self.chunk as u64;
        result.requests(Op::Write, bytes, &times.call);
        Ok(result)
    }

    /// Each block is read, changed and written back.
    pub fn rewrite(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        let prepare = || self.forget(stage.path);
        let (mut result, all) =
            self.sequential(stage, self.size, prepare, |copy, blocks, group| {
                let mut file = self.reopen(stage.path, copy, self.flags())?;
                let (clock, mut parts) = (Clock::real(), Times::default());
                let call = self.each(blocks, group, |i| {
                    let begin = clock.now();
                    file.read()?;
                    let read = clock.now();
                    file.touch(i);
                    file.seek(SeekFrom::Current(-(self.chunk as i64)))?;
                    file.write()?;
                    parts.read.record(read.since(begin));
                    parts.write.record(clock.now().since(read));
                    Ok(())
                })?;
                parts.call = call.call;
                file.sync().map(|()| parts)
            })?;
        let bytes = all.call.count() * self.chunk as u64;
        result.requests(Op::Read, bytes, &all.read);
        result.requests(Op::Write, bytes, &all.write);
        Ok(result)
    }

    pub fn get_chars(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        let prepare = || self.forget(stage.path);
        let (result, _) =
            self.sequential(stage, self.char_size, prepare, |copy, blocks, group| {
                let file = self.reopen(stage.path, copy, OFlags::empty())?;
                let mut seen = [0_u64; 256];
                let times = self.each(blocks, group, |_| {
                    for _ in 0..self.chunk {
                        let mut byte = [0];
                        retry_on_intr(|| rustix::io::read(&file.fd, &mut byte))
                            .doing("reading", &file.path)?;
                        seen[usize::from(byte[0])] += 1;
                    }
                    Ok(())
                });
                std::hint::black_box(&seen);
                times
            })?;
        Ok(result)
    }

    pub fn get_blocks(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        let prepare = || self.forget(stage.path);
        let (mut result, times) =
            self.sequential(stage, self.size, prepare, |copy, blocks, group| {
                let mut file = self.reopen(stage.path, copy, self.flags())?;
                self.each(blocks, group, |_| file.read())
            })?;
        let bytes = times.call.count() * self.chunk as u64;
        result.requests(Op::Read, bytes, &times.call);
        Ok(result)
    }

    /// Times each of some blocks.
    fn each(
        &self,
        blocks: u64,
        group: &WorkerGroup<'_>,
        mut one: impl FnMut(u64) -> Result<(), SuiteError>,
    ) -> Result<Times, SuiteError> {
        let (clock, mut times) = (Clock::real(), Times::default());
        let mut before = clock.now();
        for i in 0..blocks {
            if i % 16 == 0 {
                group.go_on()?;
                group.did(16.min(blocks - i) * self.chunk as u64);
            }
            one(i)?;
            let now = clock.now();
            times.call.record(now.since(std::mem::replace(&mut before, now)));
        }
        Ok(times)
    }

    /// Random reads by several threads in each copy, one in ten changing the block.
    pub fn seek(self, stage: &Stage<'_>) -> Result<StepResult, SuiteError> {
        self.forget(stage.path)?;
        let wanted = self.seeks * u64::from(self.copies);
        let taken = AtomicU64::new(0);
        let begin = stage.begin();
        let given = together(stage, self.copies * self.seekers, wanted, |worker, group| {
            let mut file = self.reopen(stage.path, worker % self.copies, self.flags())?;
            let mut draw =
                Xoshiro256PlusPlus::seed_from_u64(stage.seed ^ (u64::from(worker) << 32));
            let (clock, mut times) = (Clock::real(), Times::default());
            loop {
                let ticket = taken.fetch_add(1, Relaxed);
                if ticket >= wanted && begin.elapsed() >= LEAST {
                    break;
                }
                group.go_on()?;
                let chunk = draw.next_u64() % (self.size / self.chunk as u64);
                self.one_seek(&mut file, chunk, ticket.is_multiple_of(UPDATE), clock, &mut times)?;
                group.did(1);
            }
            file.sync().map(|()| times)
        })?;
        let mut result = begin.end();
        let mut all = Times::default();
        given.iter().for_each(|times| all.merge(times));
        result.rate("seeks_per_s", all.call.count());
        result.latency("call", &all.call);
        result.requests(Op::Read, all.read.count() * self.chunk as u64, &all.read);
        result.requests(Op::Write, all.write.count() * self.chunk as u64, &all.write);
        self.say(&mut result);
        Ok(result)
    }

    fn one_seek(
        &self,
        file: &mut File,
        chunk: u64,
        update: bool,
        clock: Clock,
        times: &mut Times,
    ) -> Result<(), SuiteError> {
        let at = SeekFrom::Start(chunk * self.chunk as u64);
        let begin = clock.now();
        file.seek(at)?;
        file.read()?;
        let read = clock.now();
        times.read.record(read.since(begin));
        if update {
            file.touch(chunk);
            file.seek(at)?;
            file.write()?;
            times.write.record(clock.now().since(read));
        }
        times.call.record(clock.now().since(begin));
        Ok(())
    }
}
