//! Which files the clones of jobs use, and which part of each: nothing is made or written for it.

use super::error::JobRunError;
use super::trace::{Trace, Traces};
use rustix::fs::{FileType, Stat};
use seekwell_access::AccessError;
use seekwell_jobs::job::{Amount, EngineKind, Fallocate, Job};
use seekwell_jobs::layout::{look as found, paths};
use seekwell_jobs::play::source::walk::Region;
use seekwell_sys::classify;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is at a path before anything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// Nothing: a temporary file stands in for it.
    Nothing,
    /// A file of the user's.
    File,
    /// A block device.
    Device,
    /// Requests go nowhere.
    Null,
    /// A part of a modelled machine.
    Modelled,
}

/// One file or device that jobs use.
#[derive(Debug, Clone)]
pub struct Place {
    /// As the first job named it.
    pub path: PathBuf,
    /// What is there.
    pub there: There,
    /// Its size, where it is there.
    pub size_bytes: u64,
    /// Where the farthest job ends in it.
    pub end: u64,
    /// The first job that writes to it.
    pub written_by: Option<String>,
    /// What it holds matters before it was written: some job reads it, or it is to be overwritten.
    pub is_read: bool,
    /// Room is made for the whole of it before it is written.
    pub allocated: bool,
}

/// A clone's part in a place.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// Which place.
    pub place: usize,
    /// Which part of it.
    pub region: Region,
}

/// What one clone does.
#[derive(Debug, Clone)]
pub struct Member {
    /// Number of the job.
    pub job: usize,
    /// Number of the clone in it.
    pub clone: u32,
    /// Its files.
    pub uses: Vec<Use>,
    /// Bytes to transfer in each loop.
    pub loop_bytes: u64,
    /// The trace it plays in place of drawing requests.
    pub trace: Option<Arc<Trace>>,
}

/// All clones of all jobs with all their files.
#[derive(Debug, Default)]
pub struct Layout {
    /// Files and devices, each once.
    pub places: Vec<Place>,
    /// The clones in the order of their jobs.
    pub members: Vec<Member>,
    known: HashMap<Key, usize>,
    /// Bytes of the modelled machine that everything is on, where it is.
    machine: Option<u64>,
}

/// What makes two paths the same place: for what is there its numbers, else its folder and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Inode(u64, u64),
    Device(u64),
    Name(PathBuf),
    Null(PathBuf),
}

impl Layout {
    /// Of jobs that passed the parser.
    ///
    /// # Errors
    /// When a path cannot be used, or a size is not known or does not fit.
    pub fn of(jobs: &[Job], traces: &Traces, machine: Option<u64>) -> Result<Self, LayoutError> {
        let mut layout = Self { machine, ..Self::default() };
        for (number, job) in jobs.iter().enumerate() {
            for clone in 0..job.clones {
                let files = job.replay.as_ref().map_or(1, |replay| replay.files.len().max(1));
                let member = match traces.get(&(number, clone as usize % files)) {
                    Some(trace) => layout.replayed(job, number, clone, trace)?,
                    None => layout.member(job, number, clone)?,
                };
                layout.members.push(member);
            }
        }
        let needed = layout.places.iter().zip(layout.bases()).map(|(p, b)| b.saturating_add(p.end));
        let needed = needed.max().unwrap_or(0);
        match machine {
            Some(capacity) if needed > capacity => {
                Err(JobRunError::TooLargeForMachine { needed, capacity }.into())
            }
            _ => Ok(layout),
        }
    }

    /// Where each place begins on a machine: one after the other, on whole blocks.
    pub fn bases(&self) -> Vec<u64> {
        let mut next = 0_u64;
        let base = |place: &Place| {
            let base = next;
            next =
                next.saturating_add(place.end).checked_next_multiple_of(4096).unwrap_or(u64::MAX);
            base
        };
        self.places.iter().map(base).collect()
    }

    fn member(&mut self, job: &Job, number: usize, clone: u32) -> Result<Member, LayoutError> {
        let paths = paths(job, clone, found);
        let count = paths.len() as u64;
        let mut uses = Vec::with_capacity(paths.len());
        for (i, path) in paths.into_iter().enumerate() {
            let place = self.place(job, &path)?;
            let region = self.region(job, clone, (i as u64, count), place)?;
            let known = &mut self.places[place];
            known.end = known.end.max(region.start + region.bytes);
            if job.destroys() && job.verify.as_ref().is_none_or(|v| !v.only) {
                known.written_by.get_or_insert_with(|| job.name.clone());
            }
            known.is_read |= job.access.kind.reads() || job.files.creation.overwrite;
            uses.push(Use { place, region });
        }
        let whole: u64 = uses.iter().map(|u| u.region.bytes).sum();
        let amount = match job.files.file_bytes {
            Some(_) => job.extent.io_size.or(job.extent.size),
            None => job.extent.io_size,
        };
        let loop_bytes = amount.map_or(whole, |amount| amount.of(whole));
        Ok(Member { job: number, clone, uses, loop_bytes, trace: None })
    }

    /// A clone that plays a trace: each of its files from the start to where the trace ends in it.
    fn replayed(
        &mut self,
        job: &Job,
        number: usize,
        clone: u32,
        trace: &Arc<Trace>,
    ) -> Result<Member, LayoutError> {
        let mut uses = Vec::with_capacity(trace.files.len());
        for (path, asked) in &trace.files {
            let place = self.place(job, path)?;
            let known = &mut self.places[place];
            // Whole blocks, as far as there are any.
            let end = asked.end_bytes.max(1);
            let whole = end.checked_next_multiple_of(4096).unwrap_or(u64::MAX);
            let bytes = match known.there {
                There::File | There::Device => whole.min(known.size_bytes.max(end)),
                There::Nothing | There::Null | There::Modelled => whole,
            };
            if matches!(known.there, There::File | There::Device | There::Modelled)
                && end > known.size_bytes
            {
                let (job, path, size) = (job.name.clone(), path.clone(), known.size_bytes);
                return Err(JobRunError::TooSmall { job, path, start: 0, end, size }.into());
            }
            known.end = known.end.max(bytes);
            let [reads, writes, _, discards] = asked.requests.map(|requests| requests > 0);
            if writes || discards {
                known.written_by.get_or_insert_with(|| job.name.clone());
            }
            known.is_read |= reads;
            uses.push(Use { place, region: Region { start: 0, bytes } });
        }
        let loop_bytes = uses.iter().fold(0_u64, |sum, u| sum.saturating_add(u.region.bytes));
        let trace = Some(Arc::clone(trace));
        Ok(Member { job: number, clone, uses, loop_bytes, trace })
    }

    /// The place of a path, new or known.
    fn place(&mut self, job: &Job, path: &Path) -> Result<usize, LayoutError> {
        let (there, size_bytes, key) = if let Some(capacity) = self.machine {
            (There::Modelled, capacity, Key::Null(path.to_path_buf()))
        } else if job.engine.kind == EngineKind::Null {
            (There::Null, u64::MAX >> 8, Key::Null(path.to_path_buf()))
        } else {
            look(job, path)?
        };
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        self.known.insert(key, self.places.len());
        self.places.push(Place {
            path: path.to_path_buf(),
            there,
            size_bytes,
            end: 0,
            written_by: None,
            is_read: false,
            allocated: !matches!(
                job.files.creation.fallocate,
                Fallocate::None | Fallocate::Truncate
            ),
        });
        Ok(self.places.len() - 1)
    }

    fn region(
        &self,
        job: &Job,
        clone: u32,
        (index, count): (u64, u64),
        place: usize,
    ) -> Result<Region, LayoutError> {
        let place = &self.places[place];
        let name = || job.name.clone();
        let wanted = file_bytes(job, clone, index, count);
        let whole = match place.there {
            There::Nothing => match wanted {
                Some(Amount::Bytes(bytes)) => bytes,
                // A job before this one makes it.
                _ if place.end > 0 => place.end,
                _ => {
                    let (job, path) = (name(), place.path.clone());
                    return Err(JobRunError::NoSize { job, path }.into());
                }
            },
            There::Null => match wanted {
                Some(Amount::Bytes(bytes)) => bytes,
                _ => 1 << 40,
            },
            // A file that a job before this one made.
            There::Modelled if wanted.is_none() && place.end > 0 => place.end,
            There::File | There::Device | There::Modelled => place.size_bytes,
        };
        let start = start(job, clone, whole);
        let rest = whole.saturating_sub(start);
        let bytes = match wanted {
            Some(amount @ Amount::Percent(_)) => amount.of(whole).min(rest),
            Some(Amount::Bytes(bytes)) => bytes,
            None => rest,
        };
        let end = start.saturating_add(bytes);
        let is_bounded = matches!(place.there, There::File | There::Device | There::Modelled);
        if is_bounded && end > place.size_bytes {
            let (path, size) = (place.path.clone(), place.size_bytes);
            return Err(JobRunError::TooSmall { job: name(), path, start, end, size }.into());
        }
        let block = job.min_block();
        if bytes < u64::from(block) {
            let path = place.path.clone();
            return Err(JobRunError::NoRoom { job: name(), path, bytes, block }.into());
        }
        Ok(Region { start, bytes })
    }
}

/// Why there is no layout.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The jobs ask for what is not there.
    #[error(transparent)]
    Job(#[from] JobRunError),
    /// A path cannot be used.
    #[error(transparent)]
    Access(#[from] AccessError),
}

classify!(LayoutError {
    | Self::Job(error) => error.class(),
    | Self::Access(error) => error.class(),
});

/// What a clone uses of one file; none for all there is.
fn file_bytes(job: &Job, clone: u32, index: u64, count: u64) -> Option<Amount> {
    if let Some(range) = job.files.file_bytes {
        let span = range.max.saturating_sub(range.min).saturating_add(1);
        // Any length between, the same in each run.
        let draw = (u64::from(clone) * count + index).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        return Some(Amount::Bytes(range.min + draw % span));
    }
    match job.extent.size {
        Some(Amount::Bytes(0)) => None,
        Some(Amount::Bytes(bytes)) => Some(Amount::Bytes(bytes / count)),
        other => other,
    }
}

/// Where a clone begins in a file of `whole` bytes.
fn start(job: &Job, clone: u32, whole: u64) -> u64 {
    let extent = &job.extent;
    let step = extent.offset_increment.of(whole).saturating_mul(u64::from(clone));
    let start = extent.offset.of(whole).saturating_add(step);
    let percent = [extent.offset, extent.offset_increment]
        .iter()
        .any(|amount| matches!(amount, Amount::Percent(_)));
    let align = match extent.offset_align_bytes {
        0 => u64::from(job.min_block()),
        bytes => bytes,
    };
    if percent { start - start % align.max(1) } else { start }
}

fn look(job: &Job, path: &Path) -> Result<(There, u64, Key), LayoutError> {
    match rustix::fs::stat(path) {
        Ok(stat) => known(path, &stat),
        Err(rustix::io::Errno::NOENT) => {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            let missing = |path: &Path| AccessError::Missing { path: path.to_path_buf() };
            let folder = std::fs::canonicalize(parent).map_err(|_| missing(parent))?;
            // A mistyped device is an error and never becomes a file.
            if holds_devices(&folder) {
                return Err(missing(path).into());
            }
            if !job.files.creation.allowed {
                let (job, path) = (job.name.clone(), path.to_path_buf());
                return Err(JobRunError::NotAllowed { job, path }.into());
            }
            let name = path.file_name().ok_or_else(|| missing(path))?;
            Ok((There::Nothing, 0, Key::Name(folder.join(name))))
        }
        Err(errno) => {
            let path = path.to_path_buf();
            Err(AccessError::Io { what: "looking at", path, source: errno.into() }.into())
        }
    }
}

fn known(path: &Path, stat: &Stat) -> Result<(There, u64, Key), LayoutError> {
    let not = |kind| AccessError::NotMeasurable { path: path.to_path_buf(), kind };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => {
            let opened = seekwell_access::open_read_only(path)?;
            Ok((There::Device, opened.size_bytes, Key::Device(stat.st_rdev)))
        }
        FileType::RegularFile => {
            let size = stat.st_size.cast_unsigned();
            Ok((There::File, size, Key::Inode(stat.st_dev, stat.st_ino)))
        }
        FileType::Directory => Err(not("directory").into()),
        FileType::CharacterDevice => Err(not("character device").into()),
        _ => Err(not("pipe or socket").into()),
    }
}

/// Whether a folder is one of device nodes: /dev and what is below it, but for the memory that
/// people put files in there.
fn holds_devices(folder: &Path) -> bool {
    folder.starts_with("/dev") && !folder.starts_with("/dev/shm")
}
