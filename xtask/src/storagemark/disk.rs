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
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_machine::library::{Shelf, machine};
use seekwell_machine::{AnyPart, Command, Model, Part};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The only name in the file system.
const NAME: &str = "disk";
const INODE: INodeNo = INodeNo(2);
const TTL: Duration = Duration::from_secs(3600);
/// What stays together when distances are stretched.
const EXTENT: u64 = 8 << 20;

/// A built-in machine, changed as `set` asks.
pub fn model(name: &str, set: &[(&str, &str)]) -> Result<Model, Failure> {
    let text = machine(name).ok_or_else(|| format!("no built-in machine is named {name}"))?;
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Ok(Model::read(name, text, &set, &Shelf::default())?)
}

/// The served file. Dropping it ends the service; nothing may use it then.
pub struct Disk {
    path: PathBuf,
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
}

type Answer = Box<dyn FnOnce() + Send>;

/// The modelled disk, and the answers that wait for it.
struct Waiting {
    part: AnyPart,
    /// How many times farther apart extents lie on the modelled disk.
    stretch: u64,
    /// Of what the part holds, by tag: as many as it takes at once.
    held: Vec<Option<Answer>>,
    /// What has come while it was full.
    queued: VecDeque<(Command, Answer)>,
    ended: bool,
}

impl Waiting {
    fn new(part: AnyPart, stretch: u64) -> Self {
        let held = (0..part.depth()).map(|_| None).collect();
        Self { part, stretch, held, queued: VecDeque::new(), ended: false }
    }

    /// Adds a command that comes at `now`; gives the answers that have become due.
    fn submit(&mut self, op: Op, offset: u64, len: u32, now: Nanos, answer: Answer) -> Vec<Answer> {
        let due = self.advance(now);
        let offset = offset / EXTENT * EXTENT * self.stretch + offset % EXTENT;
        self.queued.push_back((Command { tag: 0, op, offset, len, durable: false }, answer));
        self.hand_over(now);
        due
    }

    /// Lets time pass; gives the answers that have become due, in their order.
    fn advance(&mut self, now: Nanos) -> Vec<Answer> {
        let (mut done, mut due) = (Vec::new(), Vec::new());
        while self.part.next() <= now {
            let at = self.part.next();
            self.part.advance(at, &mut done);
            due.extend(done.drain(..).filter_map(|done| self.held[done.tag as usize].take()));
            self.hand_over(at);
        }
        due
    }

    fn hand_over(&mut self, now: Nanos) {
        while let Some(free) = self.held.iter().position(Option::is_none) {
            let Some((command, answer)) = self.queued.pop_front() else { break };
            self.held[free] = Some(answer);
            self.part.submit(Command { tag: free as u32, ..command }, now);
        }
    }
}

struct Shared {
    start: Instant,
    /// Whether answers wait at all.
    paced: AtomicBool,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Shared {
    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers when the modelled disk would.
    fn answer(&self, op: Op, offset: u64, len: u32, send: impl FnOnce() + Send + 'static) {
        if !self.paced.load(Ordering::Relaxed) {
            return send();
        }
        let mut waiting = self.lock();
        // The clock is read under the lock: the part's time never goes back.
        let due = waiting.submit(op, offset, len, self.now(), Box::new(send));
        drop(waiting);
        self.changed.notify_one();
        due.into_iter().for_each(|send| send());
    }

    /// Sends answers as they come due, until the end; then all that are left.
    fn deliver(&self) {
        let mut waiting = self.lock();
        while !waiting.ended {
            let now = self.now();
            let due = waiting.advance(now);
            if due.is_empty() {
                let left = Duration::from_nanos(waiting.part.next().0.saturating_sub(now.0));
                let nap = left.min(Duration::from_secs(1));
                let woken = self.changed.wait_timeout(waiting, nap);
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drop(waiting);
                due.into_iter().for_each(|send| send());
                waiting = self.lock();
            }
        }
        let queued = std::mem::take(&mut waiting.queued).into_iter().map(|(_, send)| send);
        let held = std::mem::take(&mut waiting.held).into_iter().flatten();
        held.chain(queued).for_each(|send| send());
    }
}

impl Disk {
    /// Makes a file of `size` bytes at `backing` and serves it below `mountpoint`, at full speed.
    /// Distances on the modelled disk are `stretch` times as long.
    pub fn new(
        backing: &Path,
        mountpoint: &Path,
        size: u64,
        (model, stretch): (&Model, u64),
    ) -> Result<Self, Failure> {
        let needed = size.saturating_mul(stretch);
        if needed > model.capacity() {
            let capacity = model.capacity();
            let title = model.title();
            return Err(format!("{title} has {capacity} bytes and {needed} are needed").into());
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(backing)?;
        file.set_len(size)?;
        let shared = Arc::new(Shared {
            start: Instant::now(),
            paced: AtomicBool::new(false),
            waiting: Mutex::new(Waiting::new(model.part(1), stretch)),
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
        self.shared.lock().ended = true;
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
        let len = u64::from(size).min(self.size.saturating_sub(offset));
        let mut data = vec![0; len as usize];
        if let Err(error) = self.file.read_exact_at(&mut data, offset) {
            return reply.error(Errno::from(error));
        }
        self.shared.answer(Op::Read, offset, len as u32, move || reply.data(&data));
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
        let Ok(len) = u32::try_from(data.len()) else { return reply.error(Errno::EINVAL) };
        if offset.saturating_add(u64::from(len)) > self.size {
            return reply.error(Errno::ENOSPC);
        }
        if let Err(error) = self.file.write_all_at(data, offset) {
            return reply.error(Errno::from(error));
        }
        self.shared.answer(Op::Write, offset, len, move || reply.written(len));
    }

    fn fsync(&self, _req: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.shared.answer(Op::Flush, 0, 0, move || reply.ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    fn answer(to: &Sender<u64>, number: u64) -> Answer {
        let to = to.clone();
        Box::new(move || to.send(number).unwrap())
    }

    /// When the last of `reads` random reads is answered, given all at once.
    fn takes(waiting: &mut Waiting, reads: u64) -> Nanos {
        let (to, answered) = channel();
        for number in 0..reads {
            let offset = number * 7919 % 4096 * (1 << 20);
            let due = waiting.submit(Op::Read, offset, 4096, Nanos::ZERO, answer(&to, number));
            assert!(due.is_empty(), "a disk takes time");
        }
        let mut now = Nanos::ZERO;
        while answered.try_iter().count() == 0 || waiting.held.iter().any(Option::is_some) {
            now = waiting.part.next();
            waiting.advance(now).into_iter().for_each(|send| send());
        }
        now
    }

    #[test]
    fn more_requests_than_the_drive_takes_are_all_answered_and_reads_take_a_drives_time() {
        let model = model("x8dtl-ahci-intel", &[]).unwrap();
        let mut waiting = Waiting::new(model.part(1), 1);
        let reads = 4 * u64::from(model.part(1).depth());
        let each_ms = takes(&mut waiting, reads).0 as f64 / 1e6 / reads as f64;
        assert!(waiting.queued.is_empty());
        assert!((2.0..15.0).contains(&each_ms), "{each_ms} ms");
    }

    #[test]
    fn distances_that_are_stretched_take_longer_and_extents_stay_whole() {
        let time = |stretch| {
            let model = model("dragonfly-hdd-after", &[]).unwrap();
            takes(&mut Waiting::new(model.part(1), stretch), 500)
        };
        assert!(time(32) > time(1));
        let model = model("dragonfly-hdd-after", &[]).unwrap();
        let mut waiting = Waiting::new(model.part(1), 4);
        let depth = waiting.held.len();
        let (to, _answered) = channel();
        for number in 0..depth as u64 + 1 {
            waiting.submit(Op::Read, EXTENT + 4096, 4096, Nanos::ZERO, answer(&to, number));
        }
        assert_eq!(waiting.queued[0].0.offset, 4 * EXTENT + 4096);
    }

    #[test]
    fn every_scenes_disk_holds_it() {
        for scene in crate::published::SCENES {
            let (model, size) = (model(scene.machine(), &[]).unwrap(), scene.size());
            assert!(model.capacity() >= size, "{}", model.title());
        }
        let model = super::super::disk().unwrap();
        assert!(model.capacity() >= super::super::size(1));
    }
}
