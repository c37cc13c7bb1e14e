//! Which files jobs would use, and how much they would read and write there. Nothing is opened.

use crate::job::{Amount, Blocks, EngineKind, Files, Job, JobFile};
use seekwell_io::units::Nanos;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// A file of this many bytes.
    File(u64),
    /// A block device of this many bytes, where the kernel says so.
    Device(Option<u64>),
    /// A folder, a pipe, a character device …: nothing that jobs can run on.
    Other,
    /// It cannot be looked at.
    Hidden,
}

/// What bounds a job's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Its size: byte counts are totals over all loops.
    Work,
    /// Time: byte counts are those of one pass, which may be begun over or cut short.
    Time(Nanos),
    /// Room: it writes until there is none.
    Room,
    /// Its trace, which was not read: byte counts are zero.
    Trace,
    /// Nothing known before the run: there is no size, and a file to take it from is absent.
    Unknown,
}

/// Bytes of one job, by what is done with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Read, those read back to verify among them.
    pub read: u64,
    /// Written.
    pub write: u64,
    /// Discarded.
    pub trim: u64,
}

/// One file of a job, over all its clones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Its path as the job has it.
    pub path: PathBuf,
    /// What is there.
    pub found: Found,
    /// Clones that use it.
    pub clones: u32,
    /// How long it has to be, in bytes: where the last clone's region ends. Zero where unknown.
    pub length: u64,
    /// Bytes that have to be written, or room that has to be made, before the job can run.
    pub prepare: u64,
    /// What is done there.
    pub traffic: Traffic,
}

/// All that one job would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLayout {
    /// Its name.
    pub job: String,
    /// What bounds it.
    pub bound: Bound,
    /// Its files, each once, in their order of first use.
    pub files: Vec<FileUse>,
}

impl JobLayout {
    /// The sums over all files.
    pub fn total(&self) -> Traffic {
        let add = |a: Traffic, file: &FileUse| Traffic {
            read: a.read.saturating_add(file.traffic.read),
            write: a.write.saturating_add(file.traffic.write),
            trim: a.trim.saturating_add(file.traffic.trim),
        };
        self.files.iter().fold(Traffic::default(), add)
    }
}

/// What every job would touch. `look` says what is at a path; [`look`] asks the system.
pub fn layout(file: &JobFile, look: impl Fn(&Path) -> Found) -> Vec<JobLayout> {
    file.jobs.iter().map(|job| of_job(job, &look)).collect()
}

/// What is at a path. A device's size is asked of sysfs, so that nothing is opened.
pub fn look(path: &Path) -> Found {
    let there = match std::fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Absent,
        Err(_) => return Found::Hidden,
    };
    if there.file_type().is_block_device() {
        let (major, minor) = (rustix::fs::major(there.rdev()), rustix::fs::minor(there.rdev()));
        let sectors = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size"));
        let sectors = sectors.ok().and_then(|text| text.trim().parse::<u64>().ok());
        return Found::Device(sectors.map(|sectors| sectors.saturating_mul(512)));
    }
    if there.is_file() { Found::File(there.len()) } else { Found::Other }
}

/// The files of one clone, in their order. `look` is asked only whether the job's own name is that
/// of a device, which fio then takes for its file.
pub fn paths(job: &Job, clone: u32, look: impl Fn(&Path) -> Found) -> Vec<PathBuf> {
    let Files { names, directories, count, .. } = &job.files;
    let made = names.is_empty();
    let folder = directories.get(if made { clone as usize % directories.len().max(1) } else { 0 });
    // fio puts the folder before every name, also before an absolute one.
    let place = |name: PathBuf| match folder {
        Some(folder) => {
            let mut path = folder.clone().into_os_string();
            path.push("/");
            path.push(name);
            PathBuf::from(path)
        }
        None => name,
    };
    if !made {
        return names.iter().cloned().map(place).collect();
    }
    let own = Path::new(&job.name);
    if *count == 1 && matches!(look(own), Found::Device(_) | Found::Other) {
        return vec![own.to_owned()];
    }
    (0..*count).map(|n| place(PathBuf::from(made_name(job, clone, n)))).collect()
}

/// A name made after `filename_format`, whose words fio reads in small and large letters.
fn made_name(job: &Job, clone: u32, file: u32) -> String {
    let words = [
        ("$jobname", job.name.clone()),
        ("$jobnum", clone.to_string()),
        ("$filenum", file.to_string()),
        ("$clientuid", String::new()),
    ];
    let mut out = String::new();
    let mut rest = job.files.format.as_str();
    while let Some(c) = rest.chars().next() {
        let word = words.iter().find(|(word, _)| {
            rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        });
        match word {
            Some((word, value)) => {
                out.push_str(value);
                rest = &rest[word.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// What one job would touch. The null engine touches nothing.
fn of_job(job: &Job, look: &impl Fn(&Path) -> Found) -> JobLayout {
    let mut files: Vec<FileUse> = Vec::new();
    let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut bound = bound(job);
    // A trace names its files itself.
    let named = job.engine.kind != EngineKind::Null && job.replay.is_none();
    let clones = if named { job.clones } else { 0 };
    for clone in 0..clones {
        let paths = paths(job, clone, look);
        let mut regions = Vec::with_capacity(paths.len());
        for path in paths {
            let n = *known.entry(path.clone()).or_insert_with(|| {
                let found = look(&path);
                let traffic = Traffic::default();
                files.push(FileUse { path, found, clones: 0, length: 0, prepare: 0, traffic });
                files.len() - 1
            });
            let region = region(job, clone, files[n].found);
            if region.is_none() && bound == Bound::Work {
                bound = Bound::Unknown;
            }
            regions.push((n, region.unwrap_or_default()));
        }
        let whole: u64 = regions.iter().fold(0, |sum, (_, r)| sum.saturating_add(r.bytes));
        for (n, region) in regions {
            let file = &mut files[n];
            file.clones += 1;
            file.length = file.length.max(region.start.saturating_add(region.bytes));
            if !job.files.creation.only {
                add(&mut file.traffic, traffic(job, region.bytes, whole));
            }
        }
    }
    for file in &mut files {
        let there = match file.found {
            Found::File(bytes) => bytes,
            Found::Absent => 0,
            _ => u64::MAX,
        };
        file.prepare = file.length.saturating_sub(there);
    }
    JobLayout { job: job.name.clone(), bound, files }
}

/// What bounds a job, as far as it is known without its files.
fn bound(job: &Job) -> Bound {
    if job.replay.is_some() {
        Bound::Trace
    } else if job.extent.fill_device {
        Bound::Room
    } else if job.timing.runtime > Nanos::ZERO {
        Bound::Time(job.timing.runtime)
    } else {
        Bound::Work
    }
}

/// The part of a file that one clone uses.
#[derive(Debug, Clone, Copy, Default)]
struct Region {
    /// Its first byte.
    start: u64,
    /// Its length.
    bytes: u64,
}

/// The part of a file that a clone uses; none where it depends on a file that is not there.
fn region(job: &Job, clone: u32, found: Found) -> Option<Region> {
    let there = match found {
        Found::File(bytes) => Some(bytes),
        Found::Device(bytes) => bytes,
        _ => None,
    };
    let extent = &job.extent;
    let least = u64::from(job.blocks.iter().map(Blocks::min).min().unwrap_or(1));
    let align = if extent.offset_align_bytes > 0 { extent.offset_align_bytes } else { least };
    let at = |amount: Amount| match amount {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(_) => amount.of(there?).checked_next_multiple_of(align),
    };
    let step = at(extent.offset_increment)?.saturating_mul(u64::from(clone));
    let start = at(extent.offset)?.saturating_add(step);
    let start = if job.files.append { start.max(there.unwrap_or(0)) } else { start };
    let room = there.map(|bytes| bytes.saturating_sub(start));
    let count = u64::from(job.files.count);
    let bytes = match (job.files.file_bytes, extent.size) {
        (Some(range), _) => range.max.saturating_sub(start),
        (None, Some(Amount::Bytes(bytes))) => bytes / count,
        (None, Some(percent)) => percent.of(there?).min(room?),
        (None, None) => room?,
    };
    // A device ends where it ends; a file is made longer.
    let bytes = match found {
        Found::Device(_) => bytes.min(room.unwrap_or(bytes)),
        _ => bytes,
    };
    Some(Region { start, bytes })
}

/// What one clone does to one file, whose region is `bytes` of the clone's `whole`.
fn traffic(job: &Job, bytes: u64, whole: u64) -> Traffic {
    let extent = &job.extent;
    let all = match extent.io_size {
        Some(amount) => amount.of(whole),
        None if job.files.file_bytes.is_some() => extent.size.map_or(whole, |size| size.of(whole)),
        None => whole,
    };
    let requests = u128::from(extent.number_ios.unwrap_or(u64::MAX));
    let loops = u128::from(extent.loops);
    let most = requests.saturating_mul(u128::from(job.max_block()));
    let all = u128::from(all).min(most).saturating_mul(loops);
    let share = |part: u128, of: u128| {
        let share = all.saturating_mul(part).checked_div(of).unwrap_or(0);
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    let (bytes, whole) = (u128::from(bytes), u128::from(whole));
    let done = share(bytes, whole);
    let percent = |percent: u8| (u128::from(done) * u128::from(percent) / 100) as u64;
    let kind = job.access.kind;
    let reads = match (kind.reads(), kind.writes()) {
        (true, true) => percent(job.access.read_percent),
        (true, false) => done,
        _ => 0,
    };
    let writes = if kind.writes() { done - reads } else { 0 };
    let trims = if kind.trims() { done } else { 0 };
    match &job.verify {
        Some(verify) if verify.only => Traffic { read: done, write: 0, trim: 0 },
        Some(verify) if verify.read_back => {
            Traffic { read: reads.saturating_add(writes), write: writes, trim: trims }
        }
        _ => Traffic { read: reads, write: writes, trim: trims },
    }
}

/// Adds up.
fn add(sum: &mut Traffic, more: Traffic) {
    sum.read = sum.read.saturating_add(more.read);
    sum.write = sum.write.saturating_add(more.write);
    sum.trim = sum.trim.saturating_add(more.trim);
}
