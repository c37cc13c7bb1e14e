//! The six tests of small files, one tree for each copy.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, StepResult};
use crate::settings::Settings;
use crate::work::{Buffer, LEAST, WorkerGroup, create, together, write_all};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// bonnie++ counts files in units of this.
pub(super) const FILES_UNIT: u64 = 1024;

/// Letters and digits that make names differ in length, 12 at most.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MOST_LETTERS: u64 = 12;
/// The one file that links are to, beside the directories.
const LINKED: &str = "linked";

/// In which order files are made, looked at and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Made by number, then as the directory lists them.
    Names,
    /// Names begin with random letters; then shuffled.
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Files,
    /// Names of one file.
    HardLinks,
    /// Links to the name of one file.
    Symlinks,
}

/// A file: the number of its directory, its name in it, its size.
struct Entry {
    dir: u32,
    name: CString,
    size: u64,
}

pub struct Trees {
    files: u64,
    sizes: (u64, u64),
    directories: u32,
    chunk: usize,
    copies: u32,
    what: What,
    sync_each: bool,
    /// What is there now, by copy.
    entries: Vec<Vec<Entry>>,
}

impl Trees {
    /// From the tunables; nothing is made yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            files: settings.number("files") * FILES_UNIT,
            sizes: (settings.number("min_size"), settings.number("max_size")),
            directories: settings.number("directories") as u32,
            chunk: settings.number("file_chunk") as usize,
            copies: settings.number("concurrency") as u32,
            what: match settings.word("kind") {
                "hard-links" => What::HardLinks,
                "symlinks" => What::Symlinks,
                _ => What::Files,
            },
            sync_each: settings.word("sync") == "each",
            entries: Vec::new(),
        }
    }

    pub fn create(&mut self, stage: &Stage<'_>, order: Order) -> Result<StepResult, SuiteError> {
        let seed = stage.seed ^ ((order as u64 + 1) << 8);
        self.entries = (0..self.copies).map(|c| self.names(order, seed ^ u64::from(c))).collect();
        let prepare = |pass| {
            if pass > 0 {
                self.clear(stage)?;
            }
            self.directories(stage.path)
        };
        self.measure(stage, prepare, |copy, group| self.make(stage.path, copy, group))
    }

    /// Looks at every file; reads it where it holds anything.
    pub fn look(&mut self, stage: &Stage<'_>, order: Order) -> Result<StepResult, SuiteError> {
        self.shuffle(order, stage.seed ^ 1);
        self.measure(
            stage,
            |_| Ok(()),
            |copy, group| match order {
                Order::Names => self.listed(stage.path, copy, group, |dir, name, path| {
                    self.look_at(dir, name, path)
                }),
                Order::Random => self.known(stage.path, copy, group, |dir, entry, path| {
                    self.look_at(dir, &entry.name, path)
                }),
            },
        )
    }

    /// Removes every file, and the directories.
    pub fn delete(&mut self, stage: &Stage<'_>, order: Order) -> Result<StepResult, SuiteError> {
        self.shuffle(order, stage.seed ^ 2);
        let unlink = |dir: &OwnedFd, name: &CString, path: &Path| {
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).doing("removing", path)?;
            self.changed(dir, path)
        };
        let prepare = |pass| match pass {
            0 => Ok(()),
            _ => self.restore(stage),
        };
        self.measure(stage, prepare, |copy, group| {
            let times = match order {
                Order::Names => self.listed(stage.path, copy, group, unlink),
                Order::Random => self.known(stage.path, copy, group, |dir, entry, path| {
                    unlink(dir, &entry.name, path)
                }),
            }?;
            for number in 0..self.directories {
                let path = directory(stage.path, copy, number);
                fs::remove_dir(&path).doing("removing", &path)?;
            }
            Ok(times)
        })
    }

    fn measure(
        &self,
        stage: &Stage<'_>,
        mut prepare: impl FnMut(u64) -> Result<(), SuiteError>,
        work: impl Fn(u32, &WorkerGroup<'_>) -> Result<Histogram, SuiteError> + Sync,
    ) -> Result<StepResult, SuiteError> {
        let mut all = Histogram::default();
        let whole = self.files * u64::from(self.copies);
        let (mut result, _) = stage.passes(LEAST, &mut prepare, |_| {
            let given = together(stage, self.copies, whole, &work)?;
            given.iter().for_each(|times| all.merge(times));
            Ok(())
        })?;
        result.rate("files_per_s", all.count());
        result.latency("call", &all);
        Ok(result)
    }

    /// Names as bonnie++ makes them: a number of seven digits, and up to twelve letters before or
    /// after it.
    fn names(&self, order: Order, seed: u64) -> Vec<Entry> {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let in_each = self.files.div_ceil(u64::from(self.directories));
        let one = |number: u64| {
            let len = draw.next_u64() % (MOST_LETTERS + 1);
            let letter = |_| LETTERS[(draw.next_u64() % LETTERS.len() as u64) as usize] as char;
            let letters: String = (0..len).map(letter).collect();
            let name = match order {
                Order::Names => format!("{number:07}{letters}"),
                Order::Random => format!("{letters}{number:07}"),
            };
            let (low, high) = self.sizes;
            Entry {
                dir: (number / in_each) as u32,
                name: CString::new(name).expect("letters and digits"),
                size: low + draw.next_u64() % (high - low + 1),
            }
        };
        (0..self.files).map(one).collect()
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, order: Order, seed: u64) {
        if order == Order::Names {
            return;
        }
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        for entries in &mut self.entries {
            for i in (1..entries.len()).rev() {
                entries.swap(i, (draw.next_u64() % (i as u64 + 1)) as usize);
            }
        }
    }

    fn directories(&self, root: &Path) -> Result<(), SuiteError> {
        for copy in 0..self.copies {
            for number in 0..self.directories {
                let path = directory(root, copy, number);
                fs::create_dir_all(&path).doing("making", &path)?;
            }
        }
        let path = root.join(LINKED);
        if self.what != What::Files && !path.exists() {
            drop(create(&path, OFlags::empty())?);
        }
        Ok(())
    }

    /// What is to follow a change of a directory.
    fn changed(&self, dir: &OwnedFd, path: &Path) -> Result<(), SuiteError> {
        if !self.sync_each {
            return Ok(());
        }
        rustix::io::retry_on_intr(|| rustix::fs::fsync(dir)).doing("syncing", path)
    }

    /// Removes what is there, unmeasured.
    fn clear(&self, stage: &Stage<'_>) -> Result<(), SuiteError> {
        for copy in 0..self.copies {
            for number in 0..self.directories {
                stage.go_on()?;
                let path = directory(stage.path, copy, number);
                fs::remove_dir_all(&path).doing("removing", &path)?;
            }
        }
        Ok(())
    }

    /// Makes again what was removed, unmeasured.
    fn restore(&self, stage: &Stage<'_>) -> Result<(), SuiteError> {
        self.directories(stage.path)?;
        together(stage, self.copies, u64::MAX, |copy, group| self.make(stage.path, copy, group))
            .map(drop)
    }

    fn make(
        &self,
        root: &Path,
        copy: u32,
        group: &WorkerGroup<'_>,
    ) -> Result<Histogram, SuiteError> {
        let data = Buffer::random(self.chunk, u64::from(copy));
        let linked = root.join(LINKED);
        self.known(root, copy, group, |dir, entry, path| {
            let name = &entry.name;
            match self.what {
                What::Files => self.write(dir, entry, data.get(), path)?,
                What::HardLinks => {
                    rustix::fs::linkat(CWD, &linked, dir, name, AtFlags::empty())
                        .doing("linking into", path)?;
                }
                What::Symlinks => {
                    rustix::fs::symlinkat(&linked, dir, name).doing("linking into", path)?;
                }
            }
            self.changed(dir, path)
        })
    }

    /// Makes a file of its size.
    fn write(
        &self,
        dir: &OwnedFd,
        entry: &Entry,
        data: &[u8],
        path: &Path,
    ) -> Result<(), SuiteError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = rustix::fs::openat(dir, &entry.name, flags, mode).doing("making", path)?;
        let mut left = entry.size;
        while left > 0 {
            let len = left.min(self.chunk as u64);
            write_all(&fd, &data[..len as usize], path)?;
            left -= len;
        }
        if self.sync_each && entry.size > 0 {
            rustix::io::retry_on_intr(|| rustix::fs::fsync(&fd)).doing("syncing", path)?;
        }
        Ok(())
    }

    /// Does something with every file in the order of the entries.
    fn known(
        &self,
        root: &Path,
        copy: u32,
        group: &WorkerGroup<'_>,
        work: impl Fn(&OwnedFd, &Entry, &Path) -> Result<(), SuiteError>,
    ) -> Result<Histogram, SuiteError> {
        let dirs: Vec<_> =
            (0..self.directories).map(|n| handle(root, copy, n)).collect::<Result<_, _>>()?;
        let mut watch = Watch::new(group);
        for entry in &self.entries[copy as usize] {
            let (dir, path) = &dirs[entry.dir as usize];
            work(dir, entry, path)?;
            watch.lap()?;
        }
        Ok(watch.finish())
    }

    /// Does something with every file in the order the directories list them.
    fn listed(
        &self,
        root: &Path,
        copy: u32,
        group: &WorkerGroup<'_>,
        work: impl Fn(&OwnedFd, &CString, &Path) -> Result<(), SuiteError>,
    ) -> Result<Histogram, SuiteError> {
        let mut watch = Watch::new(group);
        for number in 0..self.directories {
            let (dir, path) = handle(root, copy, number)?;
            for entry in Dir::read_from(&dir).doing("listing", &path)? {
                let entry = entry.doing("listing", &path)?;
                if entry.file_name().to_bytes().starts_with(b".") {
                    continue;
                }
                work(&dir, &entry.file_name().to_owned(), &path)?;
                watch.lap()?;
            }
        }
        Ok(watch.finish())
    }

    fn look_at(&self, dir: &OwnedFd, name: &CString, path: &Path) -> Result<(), SuiteError> {
        let stat = rustix::fs::statat(dir, name, AtFlags::empty()).doing("looking at", path)?;
        if stat.st_size == 0 {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(dir, name, flags, Mode::empty()).doing("opening", path)?;
        let mut buffer = vec![0; self.chunk];
        while rustix::io::retry_on_intr(|| rustix::io::read(&fd, &mut buffer[..]))
            .doing("reading", path)?
            > 0
        {}
        Ok(())
    }
}

fn directory(root: &Path, copy: u32, number: u32) -> PathBuf {
    root.join(format!("tree-{copy}-{number:05}"))
}

fn handle(root: &Path, copy: u32, number: u32) -> Result<(OwnedFd, PathBuf), SuiteError> {
    let path = directory(root, copy, number);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((rustix::fs::open(&path, flags, Mode::empty()).doing("opening", &path)?, path))
}

/// Times one thing after the other.
struct Watch<'a> {
    group: &'a WorkerGroup<'a>,
    clock: Clock,
    before: Nanos,
    times: Histogram,
}

impl<'a> Watch<'a> {
    fn new(group: &'a WorkerGroup<'a>) -> Self {
        let clock = Clock::real();
        Self { group, clock, before: clock.now(), times: Histogram::default() }
    }

    fn lap(&mut self) -> Result<(), SuiteError> {
        let now = self.clock.now();
        self.times.record(now.since(std::mem::replace(&mut self.before, now)));
        if self.times.count().is_multiple_of(64) {
            self.group.go_on()?;
            self.group.did(64);
        }
        Ok(())
    }

    fn finish(self) -> Histogram {
        self.times
    }
}
