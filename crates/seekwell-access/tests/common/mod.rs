//! Real devices for the tests, taken down again whatever happens, and a view that lies.
#![allow(dead_code, clippy::print_stderr)]

mod place;

#[allow(unused_imports, reason = "not every program of tests measures")]
pub use place::Place;

use seekwell_access::{Consent, Fingerprint, Order, Refusal, WritableDevice, open_for_destruction};
use seekwell_sys::{Live, View, ViewError};
use std::any::Any;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// Runs a command and gives its output, or says in one line why it could not.
pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Result<String, String> {
    let words: Vec<_> = args.iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
    let output = Command::new(program)
        .args(&words)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{program} cannot be started: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let why = String::from_utf8_lossy(&output.stderr);
        Err(format!("{program} {}: {}", words.join(" "), why.trim()))
    }
}

/// Lets one test of a program run at a time. A process that one test is starting has, until it
/// executes, a copy of every descriptor of the others: devices stay claimed and mounts stay busy.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tries for five seconds. Other programs, `losetup --find` and udev among them, open or claim any
/// device for a moment.
pub fn patiently<T, E: fmt::Display>(mut what: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..100 {
        if let Ok(done) = what() {
            return Ok(done);
        }
        thread::sleep(Duration::from_millis(50));
    }
    what()
}

/// Asks the guard for a device, accepting no unknown data.
pub fn destroy(view: &dyn View, node: &Path, serial: &str) -> Result<WritableDevice, Refusal> {
    open_for_destruction(view, node, Consent { serial, accepted: &[] }, Order::Any)
}

/// Opens a device that has to open.
pub fn opened(view: &dyn View, node: &Path, serial: &str) -> WritableDevice {
    opened_although(view, node, serial, &[])
}

/// The same, with unknown data on it that is accepted.
pub fn opened_although(
    view: &dyn View,
    node: &Path,
    serial: &str,
    accepted: &[Fingerprint],
) -> WritableDevice {
    open_for_destruction(view, node, Consent { serial, accepted }, Order::Any)
        .unwrap_or_else(|refusal| panic!("{refusal}"))
}

pub fn cached_pages(file: impl AsFd, len: usize) -> usize {
    let mut pages = vec![0u8; len.div_ceil(4096)];
    // SAFETY: a new read-only mapping of `len` bytes at an address of the kernel's choice; mincore
    // writes one byte for each of its pages into a vector of that many; nothing reads through the
    // mapping, and it is unmapped before anything else can see it.
    unsafe {
        let fd = file.as_fd().as_raw_fd();
        let at = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        assert_ne!(at, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        let answer = libc::mincore(at, len, pages.as_mut_ptr());
        assert_eq!(libc::munmap(at, len), 0);
        assert_eq!(answer, 0);
    }
    pages.iter().filter(|page| **page & 1 == 1).count()
}

pub fn skip(reason: impl AsRef<str>) {
    eprintln!("skipped: {}", reason.as_ref());
}

/// A loop device, detached when it is dropped and at no other time: once its node is free, another
/// program may have it.
pub struct Attached(PathBuf);

impl Attached {
    pub fn to(file: &Path, options: &[&str]) -> Result<Self, String> {
        let mut args = vec!["--find", "--show"];
        args.extend(options);
        args.push(file.to_str().unwrap());
        run("losetup", &args).map(|node| Self(PathBuf::from(node)))
    }
}

impl Deref for Attached {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Attached {
    /// Waits until it is free: while anybody has it open the kernel only remembers to detach it.
    fn drop(&mut self) {
        let attribute = Path::new("/sys/block").join(self.0.file_name().unwrap());
        let attribute = attribute.join("loop/backing_file");
        let file = fs::read_to_string(&attribute).ok();
        if let Err(why) = run("losetup", &["--detach", self.0.to_str().unwrap()]) {
            eprintln!("{why}");
        }
        let free = || match fs::read_to_string(&attribute).ok() {
            now if now.is_some() && now == file => Err("still attached"),
            _ => Ok(()),
        };
        if let Err(why) = patiently(free) {
            eprintln!("{}: {why}", self.0.display());
        }
    }
}

/// A loop device on a sparse file of its own.
pub struct Loop {
    pub node: Attached,
    pub file: PathBuf,
    pub dir: TempDir,
}

impl Loop {
    /// `None`, with the reason printed, if loop devices cannot be made.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::with(bytes, &[])
    }

    pub fn with(bytes: u64, options: &[&str]) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disk.img");
        fs::File::create(&file).unwrap().set_len(bytes).unwrap();
        match Attached::to(&file, options) {
            Ok(node) => Some(Self { node, file, dir }),
            Err(why) => {
                skip(why);
                None
            }
        }
    }

    pub fn serial(&self) -> &str {
        self.file.to_str().unwrap()
    }

    pub fn name(&self) -> &str {
        self.node.file_name().unwrap().to_str().unwrap()
    }

    pub fn mkfs(&self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut args = args.to_vec();
        args.push(self.node.to_str().unwrap());
        run(program, &args).map(drop)
    }

    /// Makes the device hold this, and nothing of what the page cache remembers of it.
    pub fn hold(&self, image: &[u8]) {
        fs::write(&self.file, image).unwrap();
        run("blockdev", &["--flushbufs", self.node.to_str().unwrap()]).unwrap();
    }

    /// Every byte of the backing file, to see whether anything was written.
    pub fn content(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }
}

/// Undoes something when dropped.
pub struct Undo<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Undo<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Mounts until dropped.
pub fn mount(
    node: &Path,
    at: &Path,
    options: &[&str],
) -> Result<Undo<impl FnMut() + use<>>, String> {
    fs::create_dir_all(at).unwrap();
    let mut args = options.to_vec();
    args.extend([node.to_str().unwrap(), at.to_str().unwrap()]);
    run("mount", &args)?;
    let at = at.to_str().unwrap().to_owned();
    Ok(Undo(move || {
        if let Err(why) = patiently(|| run("umount", &[&at])) {
            eprintln!("{why}");
        }
    }))
}

/// A file system of its own on a sparse file, until dropped.
pub struct Mounted {
    _mount: Box<dyn Any>,
    pub point: PathBuf,
    pub disk: Loop,
}

impl Mounted {
    /// None, with the reason printed, where that cannot be done.
    pub fn ext4(bytes: u64, options: &str) -> Option<Self> {
        let disk = Loop::new(bytes)?;
        let point = disk.dir.path().join("mnt");
        let made = disk
            .mkfs("mkfs.ext4", &["-q", "-m", "0", "-E", "lazy_itable_init=1,nodiscard"])
            .and_then(|()| mount(&disk.node, &point, &["-o", options]));
        match made {
            Ok(undo) => Some(Self { _mount: Box::new(undo), point, disk }),
            Err(why) => {
                skip(why);
                None
            }
        }
    }
}

/// A child that is ended and waited for when dropped.
pub struct Running(pub Child, Option<BufReader<ChildStdout>>);

impl Running {
    /// Starts a command and waits until it prints a line that begins with `ready`.
    pub fn until_ready(command: &mut Command) -> Result<Self, String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut running = Self(child.map_err(|e| e.to_string())?, None);
        let mut out = BufReader::new(running.0.stdout.take().unwrap());
        let mut line = String::new();
        while out.read_line(&mut line).map_err(|e| e.to_string())? > 0 {
            if line.starts_with("ready") {
                // Kept open: a child that prints into a closed pipe ends for the wrong reason.
                running.1 = Some(out);
                return Ok(running);
            }
            line.clear();
        }
        Err(format!("the child ended early: {:?}", running.0.wait()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This test executable again, running one test with a role in its environment.
pub fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("SEEKWELL_ACCESS_ROLE", role);
    command
}

pub fn role() -> Option<String> {
    std::env::var("SEEKWELL_ACCESS_ROLE").ok()
}

/// The live system with some files laid over it, and perhaps something that happens when one of
/// them is read.
pub struct Overlay {
    root: TempDir,
    over: Live,
    live: Live,
    event: Option<Event>,
    denied: Option<PathBuf>,
}

type Event = (PathBuf, Box<dyn Fn() + Send + Sync>);

impl Overlay {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let over = Live::rooted(root.path());
        Self { over, root, live: Live::system(), event: None, denied: None }
    }

    fn at(&self, path: &str) -> PathBuf {
        let path = self.root.path().join(path.strip_prefix('/').unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub fn file(self, path: &str, content: &str) -> Self {
        fs::write(self.at(path), content).unwrap();
        self
    }

    pub fn when_read(mut self, path: &str, then: impl Fn() + Send + Sync + 'static) -> Self {
        self.event = Some((PathBuf::from(path), Box::new(then)));
        self
    }

    /// A folder that this user may not list.
    pub fn denied(mut self, path: &str) -> Self {
        self.denied = Some(PathBuf::from(path));
        self
    }

    pub fn link(self, path: &str, to: &str) -> Self {
        std::os::unix::fs::symlink(to, self.at(path)).unwrap();
        self
    }
}

impl View for Overlay {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        if let Some((_, then)) = self.event.as_ref().filter(|(at, _)| at == path) {
            then();
        }
        self.over.read(path).or_else(|_| self.live.read(path))
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        if self.denied.as_deref() == Some(path) {
            return Err(ViewError::Denied { path: path.to_path_buf() });
        }
        match (self.over.list(path), self.live.list(path)) {
            (Ok(mut over), Ok(live)) => {
                over.extend(live);
                over.sort_unstable();
                over.dedup();
                Ok(over)
            }
            (Ok(names), Err(_)) | (Err(_), Ok(names)) => Ok(names),
            (Err(_), Err(error)) => Err(error),
        }
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.over.link(path).or_else(|_| self.live.link(path))
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.over.canonical(path).or_else(|_| self.live.canonical(path))
    }

    fn exists(&self, path: &Path) -> bool {
        self.over.exists(path) || self.live.exists(path)
    }
}
