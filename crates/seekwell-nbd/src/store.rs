//! What a served disk holds: durable data below, and above it what a power cut may take.
//!
//! Writes go to the topmost of several layers of volatile sectors. A flush closes that layer when
//! it is asked for and makes the layers below the new one durable when it is done. So a flush
//! covers exactly what had been acknowledged before, and what a power cut may drop is every sector
//! in a layer.

use crate::protocol::Failure;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::FlockOperation;
use seekwell_access::open_private;
use seekwell_io::workload::below;
use seekwell_sys::classify;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const SECTOR: u64 = 512;
const PAGE: u64 = 4096;
/// A drive's cache holds no more than this: the model of what can be lost does not either. Beyond
/// it, everything volatile is written to the medium.
const CACHE_BYTES: u64 = 64 << 20;

/// A file that cannot hold a disk's data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A device, a folder, a link or the like.
    #[error("{} is no regular file; data go to a file that seekwell makes", path.display())]
    NoFile {
        /// Where.
        path: PathBuf,
    },
    /// It was not made for this machine.
    #[error(
        "{} has {found} bytes, and the machine {wanted}: name a new file, or the one made for it",
        path.display()
    )]
    OtherSize {
        /// Where.
        path: PathBuf,
        /// Its bytes.
        found: u64,
        /// Those of the machine.
        wanted: u64,
    },
    /// Another server has it.
    #[error("{} is being served already", path.display())]
    Served {
        /// Where.
        path: PathBuf,
    },
    /// The kernel refuses.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

classify!(DataError: Refused);

/// Eight sectors, some of which are there.
struct Page {
    mask: u8,
    data: Box<[u8; PAGE as usize]>,
}

/// Sectors that are there, by page.
#[derive(Default)]
struct Pages(BTreeMap<u64, Page>);

/// A range in pieces that each lie in one page: page, first byte in it, place in the whole, length.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let end = offset + len;
    let mut at = offset;
    std::iter::from_fn(move || {
        let within = at % PAGE;
        let piece = (PAGE - within).min(end - at);
        let found =
            (piece > 0).then_some((at / PAGE, within as usize, (at - offset) as usize, piece));
        at += piece;
        found.map(|(page, within, whole, piece)| (page, within, whole, piece as usize))
    })
}

/// The bits of the sectors from a byte on.
fn mask(within: usize, len: usize) -> u8 {
    let (first, count) = (within / SECTOR as usize, len / SECTOR as usize);
    (((1_u16 << count) - 1) << first) as u8
}

impl Pages {
    fn write(&mut self, offset: u64, data: &[u8]) {
        for (page, within, at, len) in pieces(offset, data.len() as u64) {
            let blank = || Page { mask: 0, data: Box::new([0; PAGE as usize]) };
            let page = self.0.entry(page).or_insert_with(blank);
            page.mask |= mask(within, len);
            page.data[within..within + len].copy_from_slice(&data[at..at + len]);
        }
    }

    /// Puts what is there of a range over `into`.
    fn read(&self, offset: u64, into: &mut [u8]) {
        for (page, within, at, len) in pieces(offset, into.len() as u64) {
            let Some(page) = self.0.get(&page) else { continue };
            if page.mask == u8::MAX {
                into[at..at + len].copy_from_slice(&page.data[within..within + len]);
                continue;
            }
            for sector in (0..len).step_by(SECTOR as usize) {
                let from = within + sector;
                if page.mask & mask(from, SECTOR as usize) != 0 {
                    let to = from + SECTOR as usize;
                    into[at + sector..at + sector + SECTOR as usize]
                        .copy_from_slice(&page.data[from..to]);
                }
            }
        }
    }

    /// Forgets a range.
    fn remove(&mut self, offset: u64, len: u64) {
        let (first, end) = (offset / PAGE, (offset + len).div_ceil(PAGE));
        let touched: Vec<u64> = self.0.range(first..end).map(|(page, _)| *page).collect();
        for number in touched {
            let from = offset.max(number * PAGE) - number * PAGE;
            let to = (offset + len).min((number + 1) * PAGE) - number * PAGE;
            let Some(page) = self.0.get_mut(&number) else { continue };
            page.mask &= !mask(from as usize, (to - from) as usize);
            if page.mask == 0 {
                self.0.remove(&number);
            }
        }
    }

    /// Runs of sectors that are there, in order.
    fn runs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.0.iter().flat_map(|(number, page)| {
            let mut sector = 0_usize;
            std::iter::from_fn(move || {
                let there = |s: usize| s < 8 && page.mask & (1 << s) != 0;
                while sector < 8 && !there(sector) {
                    sector += 1;
                }
                let first = sector;
                while there(sector) {
                    sector += 1;
                }
                let (from, to) = (first * SECTOR as usize, sector * SECTOR as usize);
                (from < to).then(|| (number * PAGE + from as u64, &page.data[from..to]))
            })
        })
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

/// What is durable.
enum Medium {
    Memory(Pages),
    File(File),
}

impl Medium {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Memory(pages) => pages.write(offset, data),
            Self::File(file) => file.write_all_at(data, offset).map_err(|e| failed(&e))?,
        }
        Ok(())
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Memory(pages) => pages.read(offset, into),
            Self::File(file) => file.read_exact_at(into, offset).map_err(|e| failed(&e))?,
        }
        Ok(())
    }

    fn remove(&mut self, offset: u64, len: u64) -> Result<(), Failure> {
        match self {
            Self::Memory(pages) => pages.remove(offset, len),
            Self::File(file) => {
                use rustix::fs::{FallocateFlags, fallocate};
                let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // A file system without holes keeps the data, as a disk may.
                match fallocate(&*file, punch, offset, len) {
                    Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
                    Err(errno) => return Err(failed(&errno.into())),
                }
            }
        }
        Ok(())
    }
}

fn failed(error: &io::Error) -> Failure {
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    if full.contains(&error.kind()) { Failure::NoSpace } else { Failure::Io }
}

/// What a power cut did to volatile sectors, those of writes under way included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Sectors of 512 bytes that had reached the medium.
    pub kept_sectors: u64,
    /// Sectors of 512 bytes that had not.
    pub lost_sectors: u64,
}

/// The data of a served disk.
pub struct Store {
    medium: Medium,
    layers: VecDeque<Pages>,
    /// The number of the lowest layer, counted from the beginning.
    lowest: u64,
    /// Pages of memory at most.
    most_pages: u64,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({} layers, {} pages)", self.layers.len(), self.pages())
    }
}

impl Store {
    /// An empty disk in memory, which takes no more than `most_bytes`.
    pub fn in_memory(most_bytes: u64) -> Self {
        Self::over(Medium::Memory(Pages::default()), most_bytes)
    }

    /// A disk in a sparse file, made if it is not there, and locked while it is served.
    ///
    /// # Errors
    /// [`DataError`] for what is no regular file or has another size, and for a file that another
    /// process serves or that cannot be opened.
    pub fn in_file(path: &Path, size_bytes: u64) -> Result<Self, DataError> {
        let cannot = |source: io::Error| DataError::Open { path: path.to_path_buf(), source };
        let file = open_private(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => DataError::NoFile { path: path.to_path_buf() },
            _ => cannot(error),
        })?;
        let found = file.metadata().map_err(cannot)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| DataError::Served { path: path.to_path_buf() })?;
        match found.len() {
            0 => file.set_len(size_bytes).map_err(cannot)?,
            len if len == size_bytes => {}
            found => {
                let (path, wanted) = (path.to_path_buf(), size_bytes);
                return Err(DataError::OtherSize { path, found, wanted });
            }
        }
        Ok(Self::over(Medium::File(file), 2 * CACHE_BYTES))
    }

    fn over(medium: Medium, most_bytes: u64) -> Self {
        let layers = VecDeque::from([Pages::default()]);
        Self { medium, layers, lowest: 0, most_pages: most_bytes / PAGE }
    }

    fn pages(&self) -> u64 {
        let durable = match &self.medium {
            Medium::Memory(pages) => pages.count(),
            Medium::File(_) => 0,
        };
        durable + self.volatile_pages()
    }

    fn volatile_pages(&self) -> u64 {
        self.layers.iter().map(Pages::count).sum()
    }

    fn top(&mut self) -> &mut Pages {
        if self.layers.is_empty() {
            self.layers.push_back(Pages::default());
        }
        let last = self.layers.len() - 1;
        &mut self.layers[last]
    }

    /// The data of a range, volatile or not. What was never written is zeroes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), Failure> {
        into.fill(0);
        self.medium.read(offset, into)?;
        self.layers.iter().for_each(|layer| layer.read(offset, into));
        Ok(())
    }

    /// Writes a range; `durable` makes it survive a power cut.
    ///
    /// # Errors
    /// When there is no room, or the file cannot be written.
    pub fn write(&mut self, offset: u64, data: &[u8], durable: bool) -> Result<(), Failure> {
        let len = data.len() as u64;
        if self.volatile_pages() * PAGE > CACHE_BYTES {
            self.settle()?;
        }
        let memory_only = matches!(self.medium, Medium::Memory(_));
        if memory_only || !durable {
            let room = self.most_pages.saturating_sub(self.pages());
            let target = match &self.medium {
                Medium::Memory(pages) if durable => pages,
                _ => &self.layers[self.layers.len() - 1],
            };
            let fresh = |page: &u64| !target.0.contains_key(page);
            let new = (offset / PAGE..(offset + len).div_ceil(PAGE)).filter(fresh).count();
            if new as u64 > room {
                return Err(Failure::NoSpace);
            }
        }
        if durable {
            self.medium.write(offset, data)?;
            self.layers.iter_mut().for_each(|layer| layer.remove(offset, len));
        } else {
            self.top().write(offset, data);
        }
        Ok(())
    }

    /// Forgets a range at once and for good.
    ///
    /// # Errors
    /// When the file cannot be changed.
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<(), Failure> {
        self.layers.iter_mut().for_each(|layer| layer.remove(offset, len));
        self.medium.remove(offset, len)
    }

    /// A flush begins: what it covers is what was written until now. The mark is for
    /// [`Store::end_flush`].
    pub fn begin_flush(&mut self) -> u64 {
        if self.top().count() > 0 {
            self.layers.push_back(Pages::default());
        }
        self.lowest + self.layers.len() as u64 - 1
    }

    /// The flush is done: what it covers is durable.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end_flush(&mut self, mark: u64) -> Result<(), Failure> {
        while self.lowest < mark {
            let Some(layer) = self.layers.front() else { break };
            for (offset, data) in layer.runs() {
                self.medium.write(offset, data)?;
            }
            self.layers.pop_front();
            self.lowest += 1;
        }
        self.top();
        Ok(())
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let mark = self.begin_flush();
        self.end_flush(mark)
    }

    /// The power goes: of the volatile sectors, and of the writes under way, some have reached the
    /// medium. How large a share is drawn first, then which.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cut<'a>(
        &mut self,
        under_way: impl Iterator<Item = (u64, &'a [u8])>,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Lost, Failure> {
        let percent = below(rng, 5) * 25;
        let mut lost = Lost::default();
        let Self { medium, layers, .. } = self;
        let mut decide = |offset: u64, data: &[u8]| {
            for (at, sector) in
                (offset..).step_by(SECTOR as usize).zip(data.chunks(SECTOR as usize))
            {
                if below(rng, 100) < percent {
                    medium.write(at, sector)?;
                    lost.kept_sectors += 1;
                } else {
                    lost.lost_sectors += 1;
                }
            }
            Ok(())
        };
        for layer in &*layers {
            layer.runs().try_for_each(|(offset, data)| decide(offset, data))?;
        }
        for (offset, data) in under_way {
            decide(offset, data)?;
        }
        layers.clear();
        self.top();
        Ok(lost)
    }
}

#[cfg(test)]
mod tests;
