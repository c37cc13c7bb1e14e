//! A file whose bytes lie on a real disk and whose answers come when a modelled one would give
//! them.
//!
//! A loop device over a plain file answers out of the page cache or at the speed of whatever lies
//! below, and then nothing queues. Throttling by cgroup gives answers in volleys of 100 ms. So the
//! file under the loop device is served by this process through FUSE, and every answer waits for
//! its time.

use crate::Failure;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The only name in the file system.
const NAME: &str = "disk";
const INODE: INodeNo = INodeNo(2);
const TTL: Duration = Duration::from_secs(3600);

/// The clockwork of a modelled disk. Times are nanoseconds on the caller's clock, and each call
/// comes no earlier than the one before.
pub trait Timing: Send {
    /// When a read that comes `now` is done.
    fn read(&mut self, now: u64, offset: u64, len: u64) -> u64;
    /// When a write that comes `now` is answered.
    fn write(&mut self, now: u64, offset: u64, len: u64) -> u64;
    /// When a flush that comes `now` is answered.
    fn flush(&mut self, now: u64) -> u64;
}

/// The served file. Dropping it ends the service; nothing may use it then.
pub struct Disk {
    path: PathBuf,
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
}

/// An answer that waits for its time.
struct Answer {
    at_ns: u64,
    number: u64,
    send: Box<dyn FnOnce() + Send>,
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Answer {}
impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Answer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}

struct Waiting {
    timing: Box<dyn Timing>,
    answers: BinaryHeap<Reverse<Answer>>,
    numbers: u64,
    ended: bool,
}

struct Shared {
    start: Instant,
    /// Whether answers wait at all.
    paced: AtomicBool,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Shared {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sends an answer at the time that `when` names for a request that came `came`.
    fn answer(
        &self,
        came: u64,
        when: impl FnOnce(&mut dyn Timing, u64) -> u64,
        send: impl FnOnce() + Send + 'static,
    ) {
        if !self.paced.load(Ordering::Relaxed) {
            return send();
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ns = when(waiting.timing.as_mut(), came);
        waiting.numbers += 1;
        let number = waiting.numbers;
        waiting.answers.push(Reverse(Answer { at_ns, number, send: Box::new(send) }));
        drop(waiting);
        self.changed.notify_one();
    }

    /// Sends answers as they come due, until the end; then all that are left.
    fn deliver(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = match waiting.answers.peek() {
                Some(Reverse(next)) => next.at_ns.saturating_sub(self.now_ns()),
                None if waiting.ended => return,
                None => u64::MAX,
            };
            if left == 0 || (waiting.ended && left != u64::MAX) {
                if let Some(Reverse(answer)) = waiting.answers.pop() {
                    drop(waiting);
                    (answer.send)();
                    waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                }
                continue;
            }
            let nap = Duration::from_nanos(left).min(Duration::from_secs(1));
            waiting =
                self.changed.wait_timeout(waiting, nap).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Disk {
    /// Makes a file of `size` bytes at `backing` and serves it below `mountpoint`, at full speed.
    pub fn new(
        backing: &Path,
        mountpoint: &Path,
        size: u64,
        timing: Box<dyn Timing>,
    ) -> Result<Self, Failure> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(backing)?;
        file.set_len(size)?;
        let shared = Arc::new(Shared {
            start: Instant::now(),
            paced: AtomicBool::new(false),
            waiting: Mutex::new(Waiting {
                timing,
                answers: BinaryHeap::new(),
                numbers: 0,
                ended: false,
            }),
            changed: Condvar::new(),
        });
        let deliverer = Arc::clone(&shared);
        thread::Builder::new().name("modelled-disk".into()).spawn(move || deliverer.deliver())?;
        let served = Served { file: Arc::new(file), size, shared: Arc::clone(&shared) };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("seekwell-scene".into())];
        let session = fuser::spawn_mount(served, mountpoint, &config)
            .map_err(|e| format!("the modelled disk could not be mounted (is FUSE there?): {e}"))?;
        Ok(Self { path: mountpoint.join(NAME), shared, session: Some(session) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether answers wait for their time.
    pub fn pace(&self, paced: bool) {
        self.shared.paced.store(paced, Ordering::Relaxed);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.pace(false);
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.changed.notify_all();
        if let Some(session) = self.session.take() {
            let _ = session.umount_and_join();
        }
    }
}

struct Served {
    file: Arc<File>,
    size: u64,
    shared: Arc<Shared>,
}

impl Served {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0),
            INODE => (FileType::RegularFile, self.size),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm: 0o700,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Served {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        // The default of 12 would be the depth of the disk.
        let _ = config.set_max_background(512);
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(INODE) {
            Some(found) if parent == INodeNo::ROOT && name == NAME => {
                reply.entry(&TTL, &found, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(found) => reply.attr(&TTL, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let came = self.shared.now_ns();
        let len = u64::from(size).min(self.size.saturating_sub(offset));
        let mut data = vec![0; len as usize];
        let send: Box<dyn FnOnce() + Send> = match self.file.read_exact_at(&mut data, offset) {
            Ok(()) => Box::new(move || reply.data(&data)),
            Err(error) => return reply.error(Errno::from(error)),
        };
        self.shared.answer(came, |timing, now| timing.read(now, offset, len), send);
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let came = self.shared.now_ns();
        let Ok(len) = u32::try_from(data.len()) else { return reply.error(Errno::EINVAL) };
        if offset.saturating_add(u64::from(len)) > self.size {
            return reply.error(Errno::ENOSPC);
        }
        if let Err(error) = self.file.write_all_at(data, offset) {
            return reply.error(Errno::from(error));
        }
        let when = |timing: &mut dyn Timing, now| timing.write(now, offset, u64::from(len));
        self.shared.answer(came, when, move || reply.written(len));
    }

    fn fsync(&self, _req: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let came = self.shared.now_ns();
        self.shared.answer(came, |timing, now| timing.flush(now), move || reply.ok());
    }
}
