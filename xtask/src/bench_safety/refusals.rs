//! Devices that must not be overwritten, on every road that leads to an overwrite.

mod data;
mod names;

use super::Section;
use super::rig::{Background, Ended, MIB, Rig, digest, tool};
use crate::devices::{Loop, Mount};
use crate::{Failure, devices};
use std::any::Any;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something that somebody may name as a target, and what must be as it was afterwards.
struct Target {
    path: PathBuf,
    serial: PathBuf,
    watched: Vec<PathBuf>,
    _held: Vec<Box<dyn Any>>,
}

impl Target {
    fn disk(disk: Loop) -> Self {
        Self {
            path: disk.node.clone(),
            serial: disk.backing.clone(),
            watched: vec![disk.backing.clone()],
            _held: vec![Box::new(disk)],
        }
    }

    fn holding(mut self, held: impl Any) -> Self {
        // Dropped in this order: what was put on top goes first.
        self._held.insert(0, Box::new(held));
        self
    }
}

type Case = (&'static str, fn(&Rig, &Path) -> Result<Target, Failure>);

/// Programs that put something on a device: name, program, words, size of the device in MiB.
const MADE: &[(&str, &str, &[&str], u64)] = &[
    ("ext2", "mke2fs", &["-q", "-F", "-t", "ext2"], 32),
    ("ext4", "mke2fs", &["-q", "-F", "-t", "ext4"], 32),
    ("ext4 journal", "mke2fs", &["-q", "-F", "-O", "journal_dev"], 32),
    ("xfs", "mkfs.xfs", &["-q", "-f"], 320),
    ("btrfs", "mkfs.btrfs", &["-q", "-f"], 128),
    ("vfat", "mkfs.vfat", &[], 32),
    ("fat12", "mkfs.vfat", &["-F", "12"], 8),
    ("exfat", "mkfs.exfat", &[], 32),
    ("ntfs", "mkfs.ntfs", &["-Q", "-F"], 32),
    ("f2fs", "mkfs.f2fs", &["-q", "-f"], 128),
    ("nilfs2", "mkfs.nilfs2", &["-q", "-f"], 256),
    ("udf", "mkudffs", &[], 32),
    ("minix 1", "mkfs.minix", &["-1"], 16),
    ("minix 2", "mkfs.minix", &["-2"], 16),
    ("minix 3", "mkfs.minix", &["-3"], 16),
    ("bfs", "mkfs.bfs", &[], 16),
    ("swap", "mkswap", &[], 16),
    ("LVM", "pvcreate", &["-ff", "-y", "-q"], 32),
    ("LUKS", "cryptsetup", LUKS, 32),
];

/// A passphrase of its own from nowhere: `/dev/null` as the key file would be empty.
const LUKS: &[&str] = &[
    "luksFormat",
    "-q",
    "--pbkdf=pbkdf2",
    "--pbkdf-force-iterations=1000",
    "--key-file",
    "/etc/hostname",
    "--keyfile-size=1",
];

/// Headers by hand: name, offset (from the end where negative), bytes.
const BY_HAND: &[(&str, i64, &[u8])] = &[
    ("LUKS1", 0, b"LUKS\xba\xbe\0\x01aes\0"),
    ("LUKS2 backup header", 0x4000, b"SKUL\xba\xbe\0\x02"),
    ("MD 1.2", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("MD 1.0", -8192, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("GPT backup", -512, b"EFI PART\0\0\x01\0"),
    ("xfs log", 0, b"\xfe\xed\xba\xbe\0\0\0\x01\0\0\0\x02"),
    ("romfs", 0, b"-rom1fs-\0\0\x10\0"),
    ("UBI", 0, b"UBI#\x01\0\0\0"),
    ("AIX label", 0, b"\xc9\xc2\xd4\xc1"),
    ("Oracle ASM", 32, b"ORCLDISK"),
    ("ZFS uberblock", 128 << 10, b"\x0c\xb1\xba\0\0\0\0\0"),
    ("Intel RAID", -1024, b"Intel Raid ISM Cfg Sig. "),
    ("a raw database page", 8192, b"\0\0\0\0\x78\x56\x34\x12 tablespace 1"),
    ("one byte at the end", -1, b"\x01"),
    ("one byte in the first MiB", 777_777, b"\x01"),
];

const IN_USE: &[Case] = &[
    ("mounted", |_, dir| {
        let disk = ext4(dir)?;
        let mount = Mount::new(&[disk.name()], &dir.join("mounted"))?;
        Ok(Target::disk(disk).holding(mount))
    }),
    ("mounted, by a symlink", |_, dir| {
        let disk = ext4(dir)?;
        let mount = Mount::new(&[disk.name()], &dir.join("mounted"))?;
        let link = dir.join("by-id");
        std::os::unix::fs::symlink(&disk.node, &link)?;
        Ok(Target { path: link, ..Target::disk(disk).holding(mount) })
    }),
    ("mounted in another namespace", |_, dir| {
        let disk = ext4(dir)?;
        let (point, ready) = (dir.join("elsewhere"), dir.join("ready"));
        fs::create_dir(&point)?;
        let script = format!(
            "mount {} {} && touch {} && exec sleep 60",
            disk.name(),
            point.display(),
            ready.display()
        );
        let inside = background(Command::new("unshare").args(["-m", "sh", "-c", &script]))?;
        until(|| ready.exists())?;
        Ok(Target::disk(disk).holding(inside))
    }),
    ("a second loop device over a mounted image, its other name gone", |_, dir| {
        // Data at an offset, so that only who shares the file shows that it is in use.
        let (first, second) = (dir.join("first"), dir.join("second"));
        File::create(&first)?.set_len(64 * MIB)?;
        fs::hard_link(&first, &second)?;
        let inner = Loop::over(&first, &["--offset=16777216", "--sizelimit=33554432"])?;
        tool("mke2fs", ["-q", "-F", inner.name()])?;
        let mount = Mount::new(&[inner.name()], &dir.join("mounted"))?;
        fs::remove_file(&first)?;
        let target = Target::disk(Loop::over(&second, &[])?);
        Ok(target.holding(inner).holding(mount))
    }),
    ("swap", |_, dir| {
        let disk = Loop::sparse(dir, "swap", 16 * MIB)?;
        // What the kernel swaps out meanwhile goes here first.
        let first = Loop::sparse(dir, "first", 256 * MIB)?;
        tool("mkswap", [first.name()])?;
        tool("swapon", ["--priority=100", first.name()])?;
        let first = (Swap(first.node.clone()), first);
        tool("mkswap", [disk.name()])?;
        tool("swapon", [disk.name()])?;
        let off = Swap(disk.node.clone());
        Ok(Target::disk(disk).holding(off).holding(first))
    }),
    ("open for writing in another process", |_, dir| {
        let disk = Loop::sparse(dir, "held", 16 * MIB)?;
        let ready = dir.join("ready");
        let script = format!("exec 3<>{}; touch {}; exec sleep 60", disk.name(), ready.display());
        let holder = background(Command::new("sh").args(["-c", &script]))?;
        until(|| ready.exists())?;
        Ok(Target::disk(disk).holding(holder))
    }),
    ("its backing file open for writing in another process", |_, dir| {
        let disk = Loop::sparse(dir, "held", 16 * MIB)?;
        let ready = dir.join("ready");
        let file = disk.backing.display();
        let script = format!("exec 3<>{file}; touch {}; exec sleep 60", ready.display());
        let holder = background(Command::new("sh").args(["-c", &script]))?;
        until(|| ready.exists())?;
        Ok(Target::disk(disk).holding(holder))
    }),
    ("a partition of it is mounted", |_, dir| {
        let (disk, part) = partitioned(dir)?;
        tool("mke2fs", [Path::new("-q"), Path::new("-F"), &part.2])?;
        let mount = Mount::new(&[part.2.to_str().unwrap_or_default()], &dir.join("mounted"))?;
        Ok(Target::disk(disk).holding(part).holding(mount))
    }),
    ("a partition whose table is gone holds a file system", |_, dir| {
        let (disk, part) = partitioned(dir)?;
        tool("mkfs.ext4", [Path::new("-q"), Path::new("-F"), &part.2])?;
        drop_cache(&disk)?;
        Ok(Target::disk(disk).holding(part))
    }),
    ("the disk of a mounted loop device over it", |_, dir| {
        let disk = Loop::sparse(dir, "below", 32 * MIB)?;
        let above = Loop::over(&disk.node, &[])?;
        tool("mke2fs", ["-q", "-F", above.name()])?;
        let mount = Mount::new(&[above.name()], &dir.join("mounted"))?;
        Ok(Target::disk(disk).holding(above).holding(mount))
    }),
    ("read-only", |_, dir| {
        let disk = Loop::sparse(dir, "ro", 16 * MIB)?;
        tool("blockdev", ["--setro", disk.name()])?;
        let lock = ReadOnly(disk.node.clone());
        Ok(Target::disk(disk).holding(lock))
    }),
    ("a wrong serial number", |_, dir| {
        let disk = Loop::sparse(dir, "other", 16 * MIB)?;
        Ok(Target { serial: PathBuf::from("WD-12345"), ..Target::disk(disk) })
    }),
    ("a regular file", |rig, dir| plain(rig, dir, |path| Ok(fs::write(path, "mine")?))),
    ("a pipe", |rig, dir| plain(rig, dir, |path| tool("mkfifo", [path]).map(drop))),
    ("a character device", |rig, dir| {
        plain(rig, dir, |path| {
            let words = [path, Path::new("c"), Path::new("1"), Path::new("3")];
            tool("mknod", words).map(drop)
        })
    }),
];

/// Every target on every road, then the controls.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    if let Err(why) = devices::need_root() {
        section.leave_out("refusals", why);
        return Ok(());
    }
    for (name, program, words, size) in MADE {
        each(rig, section, name, |_, dir| {
            let disk = Loop::sparse(dir, "image", size * MIB)?;
            tool(program, words.iter().copied().chain([disk.name()]))?;
            drop_cache(&disk)?;
            Ok(Target::disk(disk))
        })?;
    }
    for (name, at, bytes) in BY_HAND {
        each(rig, section, name, |_, dir| {
            let disk = Loop::sparse(dir, "image", 16 * MIB)?;
            let at = if *at < 0 { 16 * MIB - at.unsigned_abs() } else { *at as u64 };
            File::options().write(true).open(&disk.backing)?.write_all_at(bytes, at)?;
            Ok(Target::disk(disk))
        })?;
    }
    let mut noise = vec![0; 8 * MIB as usize];
    rig.fill(&mut noise);
    each(rig, section, "random data", |_, dir| {
        fs::write(dir.join("image"), &noise)?;
        Ok(Target::disk(Loop::over(&dir.join("image"), &[])?))
    })?;
    for (name, make) in IN_USE {
        each(rig, section, name, make)?;
    }
    data::run(rig, section)?;
    names::run(rig, section)?;
    controls(rig, section)?;
    more_controls(rig, section)
}

fn each(
    rig: &Rig,
    section: &mut Section,
    name: &str,
    make: impl Fn(&Rig, &Path) -> Result<Target, Failure>,
) -> Result<(), Failure> {
    let dir = rig.folder("disks")?;
    let target = match make(rig, &dir) {
        Ok(target) => target,
        Err(why) => {
            section.leave_out(name, why);
            return Ok(());
        }
    };
    let roads = roads(rig, &target.path, &target.serial)?;
    let before = digests(&target)?;
    let is_device = fs::metadata(&target.path)?.file_type().is_block_device();
    // The short form takes one road for each target, another each time.
    let chosen = (section.tried as usize % roads.len(), if rig.quick { 1 } else { roads.len() });
    for (road, args) in roads.iter().cycle().skip(chosen.0).take(chosen.1) {
        let ended = rig.run(args)?;
        let mut outcome = ended.documented();
        if outcome.is_ok() && ended.code() != Some(3) && (is_device || ended.code() != Some(2)) {
            outcome = Err(format!("exit status {:?}", ended.code()));
        }
        if outcome.is_ok() && !ended.out.is_empty() {
            outcome = Err("something was printed on standard output".to_owned());
        }
        if digests(&target)? != before {
            outcome = Err("DATA LOST: the device was changed".to_owned());
        }
        section.count(&format!("{name}, {road}"), outcome);
    }
    Ok(())
}

fn digests(target: &Target) -> Result<Vec<u64>, Failure> {
    target.watched.iter().map(|path| digest(path)).collect()
}

/// Every way to ask for an overwrite.
fn roads(
    rig: &Rig,
    path: &Path,
    serial: &Path,
) -> Result<Vec<(&'static str, Vec<String>)>, Failure> {
    let (job, log) = (rig.path("job.fio"), rig.path("writes.iolog"));
    let device = path.display();
    let text = format!("[overwrite]\nfilename={device}\nrw=randwrite\nbs=4k\nsize=4m\nruntime=1\n");
    fs::write(&job, text)?;
    let log_of = |more: &str| format!("fio version 2 iolog\n/d add\n/d open\n{more}/d close\n");
    fs::write(&log, log_of("/d write 0 4096\n/d write 65536 4096\n/d write 1048576 4096\n"))?;
    let words = |words: &[&str]| -> Vec<String> {
        let end = ["--destroy", &serial.display().to_string()].map(str::to_owned);
        words.iter().map(|w| (*w).to_owned()).chain(end).collect()
    };
    let (path, job, log) = (device.to_string(), job.display(), log.display());
    let (job, log) = (job.to_string(), log.to_string());
    Ok(vec![
        ("bench", words(&["bench", "--rw=randwrite", "--runtime=600ms", "--on", &path])),
        ("a job file", words(&["bench", &job])),
        ("replay", words(&["replay", &log, "--mode=depth", "--depth=4", "--on", &path])),
        ("sequential writes by threads", {
            words(&["bench", "--rw=write", "--engine=threads", "--runtime=600ms", "--on", &path])
        }),
        ("checkup", words(&["checkup", "--quick", &path])),
        ("experiment", {
            let arms =
                ["--rw=randwrite", "--runtime=600ms", "--a", "iodepth=1", "--b", "iodepth=2"];
            words(&[&["experiment", "--on", &path][..], &arms].concat())
        }),
    ])
}

/// A free device must be written, again and again.
fn controls(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let dir = rig.folder("disks")?;
    let disk = match Loop::sparse(&dir, "blank", 64 * MIB) {
        Ok(disk) => disk,
        Err(why) => {
            section.leave_out("controls", why);
            return Ok(());
        }
    };
    let roads = roads(rig, &disk.node, &disk.backing)?;
    let blank = digest(&disk.backing)?;
    for (road, args) in roads.iter().take(4) {
        let ended = rig.run(args)?;
        // Three requests are played, but give no rate unless the machine was busy enough.
        let wanted = if *road == "replay" && ended.code() != Some(0) { 4 } else { 0 };
        section.count(&format!("control: a blank device, {road}"), ended.ended_with(wanted));
    }
    let written = digest(&disk.backing)? != blank;
    section.count(
        "control: a blank device is written",
        if written { Ok(()) } else { Err("nothing was written to it".to_owned()) },
    );
    for _ in 0..3 {
        let mut child =
            rig.command(&roads[0].1).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(std::time::Duration::from_millis(200 + rig.below(500)));
        child.kill()?;
        child.wait()?;
        section.count("control: again after a kill", rig.run(&roads[0].1)?.ended_with(0));
    }
    Ok(())
}

/// Devices that are free although that takes a look: of any size, shown by an overlay, beside a
/// partition in use, and with data that was accepted.
fn more_controls(rig: &Rig, section: &mut Section) -> Result<(), Failure> {
    let bench = |path: &Path, serial: &Path, more: &[&str]| -> Result<Ended, Failure> {
        let words = ["bench", "--rw=randwrite", "--runtime=600ms", "--on"].map(Path::new);
        let more = more.iter().map(Path::new);
        rig.run(words.into_iter().chain([path, Path::new("--destroy"), serial]).chain(more))
    };
    for size in if rig.quick { &[8][..] } else { &[8, 80, 900, 5000, 1 << 20] } {
        let disk = Loop::sparse(&rig.folder("disks")?, "blank", size * MIB)?;
        for what in ["blank", "written before"] {
            let ended = bench(&disk.node, &disk.backing, &[])?;
            section.count(&format!("control: {size} MiB, {what}"), ended.ended_with(0));
        }
    }
    let dir = rig.folder("disks")?;
    let overlay = names::overlay(&dir)?;
    for file in ["both/up", "upper/up", "both/low"] {
        let disk = Loop::over(&dir.join(file), &[])?;
        let ended = bench(&disk.node, &disk.backing, &[])?;
        section.count(&format!("control: {file}, alone"), ended.ended_with(0));
    }
    drop(overlay);
    let (disk, part) = partitioned(&rig.folder("disks")?)?;
    tool("addpart", [disk.name(), "2", "67584", "60000"])?;
    let second = Partition(disk.node.clone(), "2", PathBuf::from(format!("{}p2", disk.name())));
    until(|| second.2.exists())?;
    tool("mke2fs", [Path::new("-q"), Path::new("-F"), &part.2])?;
    let mount = Mount::new(&[&part.2], &rig.path("disks").join("mounted"))?;
    let ended = bench(&second.2, &disk.backing, &[])?;
    let told = ended.err.contains("another partition of the same disk");
    let outcome = ended.ended_with(0).and(told.then_some(()).ok_or("it is not told".to_owned()));
    section.count("control: beside a mounted partition", outcome);
    drop((mount, second, part));
    for at in [0, 5, 33] {
        let disk = Loop::sparse(&rig.folder("disks")?, "data", 64 * MIB)?;
        let file = File::options().write(true).open(&disk.backing)?;
        file.write_all_at(b"row 1 of a table that may go", at * MIB)?;
        drop(file);
        let refused = bench(&disk.node, &disk.backing, &[])?;
        let accept = refused.err.split("--accept-data ").nth(1).and_then(|rest| rest.get(..8));
        for (what, more) in [("accepted", accept.map(|it| ["--accept-data", it])), ("then", None)] {
            let more = more.as_ref().map_or(&[][..], |words| &words[..]);
            let ended = bench(&disk.node, &disk.backing, more)?;
            section.count(&format!("control: data at {at} MiB, {what}"), ended.ended_with(0));
        }
    }
    Ok(())
}

fn ext4(dir: &Path) -> Result<Loop, Failure> {
    let disk = Loop::sparse(dir, "ext4", 32 * MIB)?;
    tool("mke2fs", ["-q", "-F", "-t", "ext4", disk.name()])?;
    Ok(disk)
}

/// A disk with one partition from 1 MiB on, and the partition's node.
fn partitioned(dir: &Path) -> Result<(Loop, Partition), Failure> {
    let disk = Loop::sparse(dir, "parts", 64 * MIB)?;
    tool("addpart", [disk.name(), "1", "2048", "65536"])?;
    let part = Partition(disk.node.clone(), "1", PathBuf::from(format!("{}p1", disk.name())));
    until(|| part.2.exists())?;
    Ok((disk, part))
}

/// The disk, its partition's number and node. The kernel forgets it when this goes.
struct Partition(PathBuf, &'static str, PathBuf);

impl Drop for Partition {
    fn drop(&mut self) {
        let _ = tool("delpart", [self.0.as_path(), Path::new(self.1)]);
    }
}

fn plain(
    _: &Rig,
    dir: &Path,
    make: impl Fn(&Path) -> Result<(), Failure>,
) -> Result<Target, Failure> {
    let path = dir.join("plain");
    make(&path)?;
    let regular = path.symlink_metadata()?.is_file();
    let watched = if regular { vec![path.clone()] } else { Vec::new() };
    Ok(Target { serial: path.clone(), path, watched, _held: Vec::new() })
}

struct Swap(PathBuf);

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = tool("swapoff", [&self.0]);
    }
}

/// The kernel keeps the mark for the next device with the same number.
struct ReadOnly(PathBuf);

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = tool("blockdev", [Path::new("--setrw"), &self.0]);
    }
}

fn background(command: &mut Command) -> Result<Background, Failure> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(Background(quiet.spawn()?))
}

fn until(mut ready: impl FnMut() -> bool) -> Result<(), Failure> {
    for _ in 0..500 {
        if ready() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Err("it was not ready within 5 s".into())
}

/// What was written to one of the device and its backing file is seen through the other.
fn drop_cache(disk: &Loop) -> Result<(), Failure> {
    let node = File::options().read(true).write(true).open(&disk.node)?;
    node.sync_all()?;
    tool("blockdev", ["--flushbufs", disk.name()]).map(drop)
}
