//! Which files the clones of jobs use, and which part of each. A [`Layout`] is what the run obeys
//! and what `--show` prints; nothing is made or written for it.

use crate::job::{Amount, By, EngineKind, Fallocate, Files, Job};
use crate::play::source::walk::Region;
use rustix::fs::FileType;
use rustix::io::Errno;
use seekwell_access::{AccessError, folder_of};
use seekwell_sys::{Live, classify, nvme};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is at a path before anything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl There {
    /// Whether its size bounds what can be used of it.
    pub const fn is_bounded(self) -> bool {
        matches!(self, Self::File | Self::Device | Self::Modelled)
    }
}

/// What makes two paths the same place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Device and inode number of a file.
    Inode(u64, u64),
    /// Number of a block device.
    Device(u64),
    /// Where nothing is: its folder without links, and its name.
    Path(PathBuf),
}

/// What a look at a path finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What is there.
    pub there: There,
    /// Its size; 0 for nothing.
    pub size_bytes: u64,
    /// Which one it is.
    pub identity: Identity,
}

/// One file or device that jobs use.
#[derive(Debug, Clone)]
pub struct Place {
    /// As the first job named it.
    pub path: PathBuf,
    /// What is there.
    pub there: There,
    /// Its size, if it is there.
    pub size_bytes: u64,
    /// Where the farthest job ends in it.
    pub end: u64,
    /// The first job that writes to it.
    pub written_by: Option<String>,
    /// Some job writes to it without following its zones.
    pub any_order: bool,
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
}

/// What a recorded trace asks of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file it is played on.
    pub path: PathBuf,
    /// First byte after its highest request.
    pub end_bytes: u64,
    /// Which kinds of request it makes there.
    pub makes: By<bool>,
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

/// One place as one job uses it, over all its clones.
#[derive(Debug, Clone)]
pub struct Share<'l> {
    /// The place.
    pub place: &'l Place,
    /// How many clones use it.
    pub clones: u32,
    /// From the first byte of all clones to the last.
    pub span: Range<u64>,
    /// What is done there: in all loops, or in one pass where time ends the job. Zero where a trace
    /// says it.
    pub traffic: Traffic,
}

/// All clones of all jobs with all their files.
#[derive(Debug, Default)]
pub struct Layout {
    /// Files and devices, each once.
    pub places: Vec<Place>,
    /// The clones in the order of their jobs.
    pub members: Vec<Member>,
    known: HashMap<(There, Identity), usize>,
    /// Bytes of the modelled machine that everything is on, where it is.
    machine: Option<u64>,
}

impl Layout {
    /// Lays out jobs that passed the parser. `recorded` gives what the trace of a clone asks for,
    /// where it plays one; `look` says what is at a path ([`look`] asks the system); `machine` is
    /// the size of the modelled machine that everything is on.
    ///
    /// # Errors
    /// When a path cannot be used, or a size is not known or does not fit.
    pub fn of<'t>(
        jobs: &[Job],
        recorded: impl Fn(usize, u32) -> Option<&'t [Recorded]>,
        machine: Option<u64>,
        look: impl Fn(&Path) -> Result<Found, AccessError>,
    ) -> Result<Self, LayoutError> {
        let mut layout = Self { machine, ..Self::default() };
        for (number, job) in jobs.iter().enumerate() {
            for clone in 0..job.clones {
                let (uses, loop_bytes) = match recorded(number, clone) {
                    Some(files) => layout.replayed(job, files, &look)?,
                    None => layout.drawn(job, clone, &look)?,
                };
                layout.members.push(Member { job: number, clone, uses, loop_bytes });
            }
        }
        let needed = layout.places.iter().zip(layout.bases()).map(|(p, b)| b.saturating_add(p.end));
        let needed = needed.max().unwrap_or(0);
        match machine {
            Some(capacity) if needed > capacity => {
                Err(LayoutError::TooLargeForMachine { needed, capacity })
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

    /// The places of one job, in the order of their first use.
    pub fn shares(&self, number: usize, job: &Job) -> Vec<Share<'_>> {
        let mut shares: Vec<(usize, Share<'_>)> = Vec::new();
        for member in self.members.iter().filter(|member| member.job == number) {
            let whole = whole(&member.uses);
            for used in &member.uses {
                let Region { start, bytes } = used.region;
                let traffic = traffic(job, bytes, whole, member.loop_bytes);
                match shares.iter_mut().find(|(place, _)| *place == used.place) {
                    Some((_, share)) => share.add(&(start..start + bytes), traffic),
                    None => {
                        let (place, span) = (&self.places[used.place], start..start + bytes);
                        shares.push((used.place, Share { place, clones: 1, span, traffic }));
                    }
                }
            }
        }
        shares.into_iter().map(|(_, share)| share).collect()
    }

    /// The files of a clone that draws its requests, and the bytes of one loop.
    fn drawn(
        &mut self,
        job: &Job,
        clone: u32,
        look: impl Fn(&Path) -> Result<Found, AccessError>,
    ) -> Result<(Vec<Use>, u64), LayoutError> {
        let paths = paths(job, clone, &look);
        let count = paths.len() as u64;
        let mut uses = Vec::with_capacity(paths.len());
        for (i, path) in paths.into_iter().enumerate() {
            let place = self.place(job, &path, &look)?;
            let region = region(job, clone, (i as u64, count), &self.places[place])?;
            let known = &mut self.places[place];
            known.end = known.end.max(region.start + region.bytes);
            if job.destroys() && job.verify.as_ref().is_none_or(|v| !v.only) {
                known.written_by.get_or_insert_with(|| job.name.clone());
                known.any_order |= job.zoned.is_none();
            }
            known.is_read |= job.access.kind.reads() || job.files.creation.overwrite;
            uses.push(Use { place, region });
        }
        let (whole, block) = (whole(&uses), u64::from(job.min_block().max(1)));
        if let Some(rule) = job.random.precondition {
            return Ok((uses, rule.physical_blocks(whole / block).saturating_mul(block)));
        }
        let amount = match job.files.file_bytes {
            Some(_) => job.extent.io_size.or(job.extent.size),
            None => job.extent.io_size,
        };
        // A pass over a file ends when no request fits any more.
        let fit = |used: &Use| used.region.bytes / block * block;
        let pass = || uses.iter().map(fit).fold(0, u64::saturating_add);
        let bytes = amount.map_or_else(pass, |amount| amount.of(whole));
        Ok((uses, bytes))
    }

    /// The files of a clone that plays a trace: each from its start to where the trace ends in it.
    fn replayed(
        &mut self,
        job: &Job,
        files: &[Recorded],
        look: impl Fn(&Path) -> Result<Found, AccessError>,
    ) -> Result<(Vec<Use>, u64), LayoutError> {
        let mut uses = Vec::with_capacity(files.len());
        for file in files {
            let place = self.place(job, &file.path, &look)?;
            let known = &mut self.places[place];
            // Whole blocks, as far as there are any.
            let end = file.end_bytes.max(1);
            let whole = end.checked_next_multiple_of(4096).unwrap_or(u64::MAX);
            let bytes = match known.there {
                There::File | There::Device => whole.min(known.size_bytes.max(end)),
                There::Nothing | There::Null | There::Modelled => whole,
            };
            if known.there.is_bounded() && end > known.size_bytes {
                let size = known.size_bytes;
                return Err(Unfit::TooSmall { start: 0, end, size }.of(job, &file.path));
            }
            known.end = known.end.max(bytes);
            if file.makes.write || file.makes.trim {
                known.written_by.get_or_insert_with(|| job.name.clone());
                known.any_order = true;
            }
            known.is_read |= file.makes.read;
            uses.push(Use { place, region: Region { start: 0, bytes } });
        }
        let loop_bytes = whole(&uses);
        Ok((uses, loop_bytes))
    }

    /// The place of a path, new or known.
    fn place(
        &mut self,
        job: &Job,
        path: &Path,
        look: impl Fn(&Path) -> Result<Found, AccessError>,
    ) -> Result<usize, LayoutError> {
        let unreal = |there, size_bytes| {
            let identity = Identity::Path(path.to_path_buf());
            Found { there, size_bytes, identity }
        };
        let Found { there, size_bytes, identity } = match self.machine {
            Some(capacity) => unreal(There::Modelled, capacity),
            None if job.engine.kind == EngineKind::Null => unreal(There::Null, u64::MAX >> 8),
            None => look(path)?,
        };
        if there == There::Nothing && !job.files.creation.allowed {
            return Err(Unfit::NotAllowed.of(job, path));
        }
        let next = self.places.len();
        let number = *self.known.entry((there, identity)).or_insert(next);
        if number == next {
            let fallocate = job.files.creation.fallocate;
            self.places.push(Place {
                path: path.to_path_buf(),
                there,
                size_bytes,
                end: 0,
                written_by: None,
                any_order: false,
                is_read: false,
                allocated: !matches!(fallocate, Fallocate::None | Fallocate::Truncate),
            });
        }
        Ok(number)
    }
}

impl Share<'_> {
    /// Adds what another clone does there.
    fn add(&mut self, span: &Range<u64>, more: Traffic) {
        self.clones += 1;
        self.span = self.span.start.min(span.start)..self.span.end.max(span.end);
        self.traffic += more;
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, more: Self) {
        self.read = self.read.saturating_add(more.read);
        self.write = self.write.saturating_add(more.write);
        self.trim = self.trim.saturating_add(more.trim);
    }
}

/// The bytes of all parts together.
fn whole(uses: &[Use]) -> u64 {
    uses.iter().fold(0, |sum, used| sum.saturating_add(used.region.bytes))
}

/// The part of a place that a clone uses; the file is number `index` of its `count`.
fn region(
    job: &Job,
    clone: u32,
    (index, count): (u64, u64),
    place: &Place,
) -> Result<Region, LayoutError> {
    let wanted = file_bytes(job, clone, index, count);
    let whole = match (place.there, wanted) {
        (There::Nothing | There::Null, Some(Amount::Bytes(bytes))) => bytes,
        (There::Null, _) => 1 << 40,
        // A job before this one makes it.
        (There::Nothing, _) | (There::Modelled, None) if place.end > 0 => place.end,
        (There::Nothing, _) => return Err(Unfit::NoSize.of(job, &place.path)),
        (There::File | There::Device | There::Modelled, _) => place.size_bytes,
    };
    let start = start(job, clone, whole);
    let rest = whole.saturating_sub(start);
    let bytes = match wanted {
        Some(amount @ Amount::Percent(_)) => amount.of(whole).min(rest),
        Some(Amount::Bytes(bytes)) => bytes,
        None => rest,
    };
    let end = start.saturating_add(bytes);
    let bytes = end - start;
    if place.there.is_bounded() && end > place.size_bytes {
        let size = place.size_bytes;
        return Err(Unfit::TooSmall { start, end, size }.of(job, &place.path));
    }
    let block = job.min_block();
    if bytes < u64::from(block) {
        return Err(Unfit::NoRoom { bytes, block }.of(job, &place.path));
    }
    Ok(Region { start, bytes })
}

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

/// What one clone does to one file, whose region is `bytes` of the clone's `whole`.
fn traffic(job: &Job, bytes: u64, whole: u64, loop_bytes: u64) -> Traffic {
    if job.files.creation.only || job.replay.is_some() {
        return Traffic::default();
    }
    let requests = u128::from(job.extent.number_ios.unwrap_or(u64::MAX));
    let most = requests.saturating_mul(u128::from(job.max_block()));
    let all = u128::from(loop_bytes).min(most).saturating_mul(u128::from(job.extent.loops));
    let share = all.saturating_mul(u128::from(bytes)).checked_div(u128::from(whole)).unwrap_or(0);
    let done = u64::try_from(share).unwrap_or(u64::MAX);
    let kind = job.access.kind;
    let mut read = match (kind.reads(), kind.writes()) {
        (true, true) => (u128::from(done) * u128::from(job.access.read_percent) / 100) as u64,
        (true, false) => done,
        _ => 0,
    };
    let write = if kind.writes() { done - read } else { 0 };
    if job.verify.as_ref().is_some_and(|verify| verify.read_back) {
        read = read.saturating_add(write);
    }
    Traffic { read, write, trim: if kind.trims() { done } else { 0 } }
}

/// The files of one clone, in their order. `look` is asked only whether the job's own name is that
/// of a device, which fio then takes for its file.
pub(crate) fn paths(
    job: &Job,
    clone: u32,
    look: impl Fn(&Path) -> Result<Found, AccessError>,
) -> Vec<PathBuf> {
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
    let is_no_file = || match look(own) {
        Ok(found) => found.there == There::Device,
        Err(error) => matches!(error, AccessError::NotMeasurable { .. }),
    };
    if *count == 1 && is_no_file() {
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

/// What is at a path. A device is opened, for reading, because only that shows whether it can be.
///
/// # Errors
/// Whatever makes it unusable: something else than a file or block device, no folder to make a file
/// in, no permission.
pub fn look(path: &Path) -> Result<Found, AccessError> {
    let path = &*nvme::disk_node(&Live::system(), path);
    let stat = match rustix::fs::stat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return nothing(path),
        Err(errno) => {
            let path = path.to_path_buf();
            return Err(AccessError::Io { what: "looking at", path, source: errno.into() });
        }
    };
    let not = |kind| Err(AccessError::NotMeasurable { path: path.to_path_buf(), kind });
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => {
            let size_bytes = seekwell_access::open_read_only(path)?.size_bytes;
            Ok(Found { there: There::Device, size_bytes, identity: Identity::Device(stat.st_rdev) })
        }
        FileType::RegularFile => Ok(Found {
            there: There::File,
            size_bytes: stat.st_size.cast_unsigned(),
            identity: Identity::Inode(stat.st_dev, stat.st_ino),
        }),
        FileType::Directory => not("directory"),
        FileType::CharacterDevice => not("character device"),
        _ => not("pipe or socket"),
    }
}

/// A path at which nothing is, and a file could be. A mistyped device is an error and never becomes
/// a file: under /dev, people put files only into the memory that is at /dev/shm.
fn nothing(path: &Path) -> Result<Found, AccessError> {
    let missing = |path: &Path| AccessError::Missing { path: path.to_path_buf() };
    let parent = folder_of(path);
    let folder = std::fs::canonicalize(parent).map_err(|_| missing(parent))?;
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        return Err(missing(path));
    }
    let name = path.file_name().ok_or_else(|| missing(path))?;
    let identity = Identity::Path(folder.join(name));
    Ok(Found { there: There::Nothing, size_bytes: 0, identity })
}

/// Why there is no layout.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LayoutError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("job `{job}`: {} {why}", path.display())]
    Unfit { job: String, path: PathBuf, why: Unfit },
    #[error(
        "the files of the jobs take {needed} bytes one after the other, and the machine holds \
         {capacity}: give smaller sizes"
    )]
    TooLargeForMachine {
        /// Bytes of all files.
        needed: u64,
        /// Bytes of the machine.
        capacity: u64,
    },
}

classify!(LayoutError {
    Usage: Unfit, TooLargeForMachine;
    | Self::Access(error) => error.class(),
});

/// Why a file or device does not fit a job.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Unfit {
    #[error("does not exist, and allow_file_create is 0")]
    NotAllowed,
    #[error("does not exist, and neither size nor filesize says how large it should be")]
    NoSize,
    #[error(
        "has {size} bytes, and the job uses bytes {start} to {end}: give a smaller size or offset"
    )]
    TooSmall {
        /// First byte wanted.
        start: u64,
        end: u64,
        size: u64,
    },
    #[error("has {bytes} bytes for the job, too few for a request of {block}")]
    NoRoom { bytes: u64, block: u32 },
}

impl Unfit {
    fn of(self, job: &Job, path: &Path) -> LayoutError {
        LayoutError::Unfit { job: job.name.clone(), path: path.to_path_buf(), why: self }
    }
}
