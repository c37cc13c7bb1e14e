//! The guard, and the handle that only it can make.
//!
//! What is checked is what is opened: the path is resolved to a device number once, every question
//! is asked about that number, and the descriptor that comes out must have it too. The questions
//! about use are asked again once the exclusive claim is held, so a mount that slipped in between
//! is seen, and none can follow.

use crate::device::Family;
use crate::identity::{Answer, check as check_identity, seed, udev_properties};
use crate::labels::{Fingerprint, Labels, PATIENCE, Survey};
use crate::opened_by::{Access, opened_by};
use crate::zones::{self, Zone, ZoneChange, ZoneKind, zones_of};
use crate::{Refusal, in_use};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use seekwell_sys::{DevId, View, ViewError, nvme};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A raw device that passed every check and is held exclusively until this is dropped. All that is
/// on it may be overwritten.
#[derive(Debug)]
pub struct WritableDevice {
    fd: OwnedFd,
    path: PathBuf,
    dev: DevId,
    name: String,
    size_bytes: u64,
    logical_block_bytes: u32,
    direct: bool,
    looked_at_bytes: u64,
    notes: Vec<String>,
}

impl WritableDevice {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its number.
    pub fn dev(&self) -> DevId {
        self.dev
    }

    /// The kernel's name for it, `sdb`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Whether requests go past the page cache.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// How much of it was looked at for data of others, holes of a file included.
    pub fn looked_at_bytes(&self) -> u64 {
        self.looked_at_bytes
    }

    /// What is to be known before it is used: who else uses the same disk.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl AsFd for WritableDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// What a person said to have a device overwritten.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    /// The device's own serial number or WWN; for a loop device the path of its backing file; for
    /// a disk made of memory (zram, brd, null_blk) its kernel name. For a partition it is that of
    /// its disk.
    pub serial: &'a str,
    /// The unknown data that may go. It stands for no signature and for no use.
    pub accepted: &'a [Fingerprint],
}

/// Where writes will go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Anywhere, which a host-managed zoned device does not allow.
    Any,
    /// Only at the write pointers of its zones, if it has zones.
    ByZone,
}

/// Opens a block device so that it may be overwritten, or says why not; for an NVMe namespace's
/// character device, its disk. Where unknown data was accepted, the places that were seen to hold
/// it are zeroed (sequential zones are reset), so that the consent is needed once.
///
/// # Errors
/// [`Refusal`], in the order: what the path is, read-only, the serial, mounts, swap, holders, loop
/// devices over it, processes that write to it, signatures, the exclusive open, zones that do
/// not allow writes in this order, unknown data. Nothing was written.
pub fn open_for_destruction(
    view: &dyn View,
    path: &Path,
    consent: Consent<'_>,
    order: Order,
) -> Result<WritableDevice, Refusal> {
    let path = &*nvme::disk_node(view, path);
    let unsure = |source| Refusal::Unsure { target: path.to_path_buf(), source };
    let dev = block_number(path)?;
    let family = Family::of(view, path, dev)?;
    let device = family.target.node();
    if view.number(&family.target.sysfs.join("ro")).map_err(unsure)? != 0 {
        return Err(Refusal::ReadOnlyDevice { target: path.to_path_buf(), device });
    }
    serial_is_right(view, path, &family, consent.serial)?;
    once_free(|| in_use::check(view, path, &family))?;
    let look = open(path, dev, OFlags::RDONLY | OFlags::NONBLOCK)
        .map_err(|e| e.refusal(path, "opened for reading"))?;
    let look = File::from(look);
    labels(view, path, &family, &look)?;

    let (fd, direct) = once_free(|| open_exclusively(view, path, &family))?;
    // Checked again, now that no other process can claim it.
    let family = Family::of(view, path, dev)?;
    once_free(|| in_use::check(view, path, &family))?;
    let zones = writable_zones(path, &look, order)?;
    let survey = is_nobodys(view, path, &family, (&look, &zones), consent)?;
    let failed = |errno| Refusal::io(path, "measured", errno);
    let device = WritableDevice {
        size_bytes: rustix::fs::seek(&fd, SeekFrom::End(0)).map_err(failed)?,
        logical_block_bytes: rustix::fs::ioctl_blksszget(&fd).map_err(failed)?,
        fd,
        path: path.to_path_buf(),
        dev,
        name: family.target.name.clone(),
        direct,
        looked_at_bytes: survey.looked_at_bytes,
        notes: in_use::beside(view, &family),
    };
    assert_eq!(family.target.dev, dev, "what was checked is what is opened");
    for area in survey.strange {
        let step = "zeroed where it holds accepted data";
        device.clear(&area, &zones).map_err(|source| Refusal::Failed {
            target: path.to_path_buf(),
            step,
            source,
        })?;
    }
    Ok(device)
}

/// How many times to try again while the obstacle may be temporary, and the pause before each. A
/// count rather than a deadline: a busy machine may stop this process for longer than any deadline.
const RETRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Retries while the obstacle may be temporary: `losetup --find`, udev and blkid open every device,
/// the kernel tears down the ring of a killed process after its death, and a container that ends
/// loses its mounts before the loop devices on them.
fn once_free<T>(mut ask: impl FnMut() -> Result<T, Refusal>) -> Result<T, Refusal> {
    for _ in 0..RETRIES {
        match ask() {
            Err(refusal) if may_pass(&refusal) => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
    ask()
}

fn may_pass(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::OpenForWriting { .. } | Refusal::Busy { .. } => true,
        Refusal::UnclearFile { fstype, .. } => fstype.is_empty(),
        _ => false,
    }
}

fn block_number(path: &Path) -> Result<DevId, Refusal> {
    let stat = rustix::fs::stat(path).map_err(|errno| Refusal::io(path, "looked at", errno))?;
    let target = path.to_path_buf();
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Ok(DevId::from_raw(stat.st_rdev)),
        FileType::RegularFile => Err(Refusal::RegularFile { target }),
        kind => Err(Refusal::NotBlockDevice { target, kind: crate::read_only::word(kind) }),
    }
}

fn serial_is_right(
    view: &dyn View,
    path: &Path,
    family: &Family,
    serial: &str,
) -> Result<(), Refusal> {
    let target = path.to_path_buf();
    match check_identity(view, family, serial) {
        Answer::Right => Ok(()),
        Answer::Nameless => Err(Refusal::NoSerial { target }),
        Answer::Wrong { wanted } => {
            Err(Refusal::WrongSerial { target, given: serial.to_owned(), wanted })
        }
    }
}

/// No signature is on the device or on a partition of it that the kernel knows, whether or not its
/// table is still there. Returns what the label areas hold.
fn labels(view: &dyn View, path: &Path, family: &Family, look: &File) -> Result<Survey, Refusal> {
    let target = || path.to_path_buf();
    let failed = |source| unread(path, source);
    let unsure = |source| Refusal::Unsure { target: target(), source };
    let size = rustix::fs::seek(look, SeekFrom::End(0)).map_err(|e| failed(e.into()))?;
    // A partition has a page cache of its own: what was changed through it may be stale here.
    crate::drop_cache(look).map_err(failed)?;
    let mut survey = Survey::new(size);
    for member in family.overwritten() {
        let device = member.node();
        let (start, size) = if member.dev == family.target.dev {
            (0, size)
        } else {
            let sectors = |name| view.number(&member.sysfs.join(name)).map_err(unsure);
            (sectors("start")?.saturating_mul(512), sectors("size")?.saturating_mul(512))
        };
        let labels = Labels::read(look, start, size).map_err(failed)?;
        let found = labels.signatures();
        if !found.is_empty() {
            return Err(Refusal::Signature { target: target(), device, found });
        }
        survey.add(&device, start, &labels);
    }
    for member in family.overwritten() {
        for (key, value) in udev_properties(view, member.dev) {
            // udev copies the properties of a disk to its partitions.
            let is_disk = member.dev == family.disk.dev;
            let table = key == "ID_PART_TABLE_TYPE" && is_disk;
            if (key == "ID_FS_TYPE" || table) && !value.is_empty() {
                let device = member.node();
                return Err(Refusal::UdevSignature { target: target(), device, key, value });
            }
        }
    }
    Ok(survey)
}

/// The zones of the device, none if it is not zoned; refused if it does not allow this order.
fn writable_zones(path: &Path, look: &File, order: Order) -> Result<Vec<Zone>, Refusal> {
    let target = || path.to_path_buf();
    let zones = zones_of(look).map_err(|source| Refusal::Zones { target: target(), source })?;
    if order == Order::Any && zones.iter().any(Zone::in_order) {
        return Err(Refusal::HostManaged { target: target() });
    }
    Ok(zones)
}

/// Nothing that may be somebody's is on the device, as far as is known, but data that was
/// accepted.
fn is_nobodys(
    view: &dyn View,
    path: &Path,
    family: &Family,
    (look, zones): (&File, &[Zone]),
    consent: Consent<'_>,
) -> Result<Survey, Refusal> {
    let mut survey = labels(view, path, family, look)?;
    let node = family.target.node();
    let limit = PATIENCE * if consent.accepted.is_empty() { 1 } else { 3 };
    let stored = match zones {
        [] => stored(view, family, look, survey.size_bytes)
            .unwrap_or_else(|| std::iter::once(0..survey.size_bytes).collect()),
        // Nothing is stored beyond a write pointer.
        zones => zones.iter().map(Zone::written).filter(|range| !range.is_empty()).collect(),
    };
    let seed = seed(view, family);
    survey
        .look_beyond((look, &node), &stored, seed, limit)
        // What was read must not serve a measurement later.
        .and_then(|()| crate::drop_cache(look))
        .map_err(|source| unread(path, source))?;
    match survey.unknown() {
        Some(seen) if !consent.accepted.contains(&seen.fingerprint) => {
            let (target, accepted) = (path.to_path_buf(), consent.accepted.to_vec());
            Err(Refusal::UnknownData { target, seen: Box::new(seen), accepted })
        }
        seen => {
            assert_eq!(seen.is_some(), !survey.strange.is_empty(), "all unknown data is accepted");
            Ok(survey)
        }
    }
}

fn unread(path: &Path, source: io::Error) -> Refusal {
    let step = "read to see whether it is empty";
    Refusal::Failed { target: path.to_path_buf(), step, source }
}

/// Where the file below a loop device holds anything, in bytes from the target's start; `None` if
/// that is unknown.
fn stored(
    view: &dyn View,
    family: &Family,
    look: &File,
    size_bytes: u64,
) -> Option<Vec<Range<u64>>> {
    let below = family.file.as_ref().filter(|below| below.by == family.disk)?;
    let file = below.file.open(view, &below.by)?;
    // What the page cache has of the loop device itself is in no file yet.
    rustix::fs::fdatasync(look).ok()?;
    let part = match view.number(&family.target.sysfs.join("start")) {
        Err(ViewError::Absent { .. }) => 0,
        other => other.ok()?.checked_mul(512)?,
    };
    let start = below.offset_bytes.checked_add(part)?;
    let end = start.checked_add(size_bytes)?;
    let (mut found, mut at) = (Vec::new(), start);
    while at < end {
        let data = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => break,
            other => other.ok()?,
        };
        at = rustix::fs::seek(&file, SeekFrom::Hole(data)).ok()?;
        found.push(data.min(end) - start..at.min(end) - start);
    }
    found.retain(|range| range.start < range.end);
    Some(found)
}

enum OpenFailure {
    Errno(Errno),
    Exchanged { checked: DevId, opened: DevId },
}

impl OpenFailure {
    fn refusal(self, path: &Path, step: &'static str) -> Refusal {
        match self {
            Self::Errno(errno) => Refusal::io(path, step, errno),
            Self::Exchanged { checked, opened } => {
                Refusal::Exchanged { target: path.to_path_buf(), checked, opened }
            }
        }
    }
}

/// Opens the path and makes sure that it is still the device that was checked.
fn open(path: &Path, checked: DevId, flags: OFlags) -> Result<OwnedFd, OpenFailure> {
    let opened = rustix::io::retry_on_intr(|| {
        rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())
    });
    let fd = opened.map_err(OpenFailure::Errno)?;
    let stat = rustix::fs::fstat(&fd).map_err(OpenFailure::Errno)?;
    let opened = DevId::from_raw(stat.st_rdev);
    let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if block && opened == checked {
        Ok(fd)
    } else {
        Err(OpenFailure::Exchanged { checked, opened })
    }
}

fn open_exclusively(
    view: &dyn View,
    path: &Path,
    family: &Family,
) -> Result<(OwnedFd, bool), Refusal> {
    let dev = family.target.dev;
    let flags = OFlags::RDWR | OFlags::EXCL;
    let (opened, direct) = match open(path, dev, flags | OFlags::DIRECT) {
        Err(OpenFailure::Errno(Errno::INVAL)) => (open(path, dev, flags), false),
        other => (other, true),
    };
    let device = family.target.node();
    let target = path.to_path_buf();
    match opened {
        Ok(fd) => Ok((fd, direct)),
        Err(OpenFailure::Errno(Errno::BUSY)) => {
            let by = opened_by(view, path, family, Access::Any).unwrap_or_default();
            Err(Refusal::Busy { target, device, by })
        }
        Err(OpenFailure::Errno(Errno::ROFS)) => Err(Refusal::ReadOnlyDevice { target, device }),
        Err(failure) => Err(failure.refusal(path, "opened for writing")),
    }
}

/// `_IO(0x12, 127)` of `linux/fs.h`: zero a range given as two 64-bit numbers.
const BLKZEROOUT: libc::Ioctl = 0x127f;

impl WritableDevice {
    /// Makes the data in this area unreadable.
    fn clear(&self, area: &Range<u64>, zones: &[Zone]) -> io::Result<()> {
        if zones.is_empty() {
            return self.zero(area);
        }
        for zone in zones.iter().filter(|zone| zone.start < area.end && area.start < zone.end()) {
            match zone.kind {
                ZoneKind::Conventional => {
                    self.zero(&(zone.start.max(area.start)..zone.end().min(area.end)))?;
                }
                ZoneKind::SequentialRequired | ZoneKind::SequentialPreferred => {
                    self.change_zone(zone, ZoneChange::Reset)?;
                }
            }
        }
        Ok(())
    }

    /// Resets or finishes one of its sequential zones, with no request outstanding there.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn change_zone(&self, zone: &Zone, change: ZoneChange) -> io::Result<()> {
        assert!(zone.end() <= self.size_bytes, "the zone is on the device");
        zones::change(&self.fd, zone, change)
    }

    fn zero(&self, area: &Range<u64>) -> io::Result<()> {
        let block = u64::from(self.logical_block_bytes);
        assert!(area.start < area.end && area.end <= self.size_bytes, "the area is on the device");
        assert!(area.start.is_multiple_of(block) && area.end.is_multiple_of(block));
        let access = rustix::fs::fcntl_getfl(&self.fd)? & OFlags::RWMODE;
        assert_eq!(access, OFlags::RDWR, "only a device that was opened to be written is");
        let range = [area.start, area.end - area.start];
        // SAFETY: the descriptor is open for as long as `self` is borrowed, and the request reads
        // exactly two u64 through the pointer, which points to an array of two.
        let answer = unsafe { libc::ioctl(self.fd.as_raw_fd(), BLKZEROOUT, range.as_ptr()) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
