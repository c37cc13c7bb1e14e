//! A file that is in use by another name than the target's, and users without a descriptor.

use super::{Target, background, each, until};
use crate::Failure;
use crate::bench_safety::Section;
use crate::bench_safety::rig::{MIB, Rig, tool};
use crate::devices::{Loop, Mount};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::any::Any;
use std::ffi::c_void;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

/// How somebody uses a file.
type Use = (&'static str, fn(&Path, &Path) -> Result<Box<dyn Any>, Failure>);

const USES: &[Use] = &[
    ("shown by a loop device", |file, _| Ok(Box::new(Loop::over(file, &[])?))),
    ("shown read-only at an offset", |file, _| {
        Ok(Box::new(Loop::over(file, &["--read-only", "--offset=16777216"])?))
    }),
    ("mounted at an offset", |file, dir| {
        let disk = Loop::over(file, &["--offset=16777216", "--sizelimit=33554432"])?;
        tool("mke2fs", ["-q", "-F", disk.name()])?;
        let mount = Mount::new(&[disk.name()], &dir.join("mounted"))?;
        Ok(Box::new((mount, disk)))
    }),
    ("open for writing", |file, dir| {
        let ready = dir.join("ready");
        let script =
            format!("exec 3<>{}; touch {}; exec sleep 60", file.display(), ready.display());
        let holder = background(Command::new("sh").args(["-c", &script]))?;
        until(|| ready.exists())?;
        Ok(Box::new(holder))
    }),
    ("mapped", |file, _| Ok(Box::new(Mapped::new(file, MapFlags::SHARED)?))),
];

/// A file under two names: what shows it, the target's name, the user's.
type Name = (&'static str, fn(&Path) -> Result<Mount, Failure>, &'static str, &'static str);

const NAMES: &[Name] = &[
    ("an overlay's upper file", overlay, "both/up", "upper/up"),
    ("the overlay above an upper file", overlay, "upper/up", "both/up"),
    ("the overlay above a lower file", overlay, "lower/low", "both/low"),
    ("a file renamed through an overlay", renamed, "both/renamed", "upper/renamed"),
    ("the overlay above a renamed file", renamed, "upper/renamed", "both/renamed"),
    ("a file that FUSE shows", fuse, "both/up", "upper/up"),
    ("FUSE above a file", fuse, "upper/up", "both/up"),
];

/// Every use of every file by another name, and every mapping of a device.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let uses = if rig.quick { &USES[2..3] } else { USES };
    for (name, make, shown, used) in NAMES {
        for (how, begin) in uses {
            // A lower file is the one that is shown only as long as writing through it is
            // impossible.
            let lower = *shown == "lower/low" && *how != "shown read-only at an offset";
            if lower && !rig.quick {
                continue;
            }
            let begin = if lower { USES[1].1 } else { *begin };
            each(rig, section, &format!("{name}, {how}"), |_, dir| {
                let mount = make(dir)?;
                let used = begin(&dir.join(used), dir)?;
                let target = Target::disk(Loop::over(&dir.join(shown), &[])?);
                Ok(target.holding(mount).holding(used))
            })?;
        }
    }
    for (how, flags) in [("shared", MapFlags::SHARED), ("private", MapFlags::PRIVATE)] {
        each(rig, section, &format!("mapped, {how}"), |_, dir| {
            let disk = Loop::sparse(dir, "image", 64 * MIB)?;
            let mapped = Mapped::new(&disk.node, flags)?;
            Ok(Target::disk(disk).holding(mapped))
        })?;
        each(rig, section, &format!("its file mapped, {how}"), |_, dir| {
            let disk = Loop::sparse(dir, "image", 64 * MIB)?;
            let mapped = Mapped::new(&disk.backing, flags)?;
            Ok(Target::disk(disk).holding(mapped))
        })?;
    }
    Ok(())
}

/// An overlay at `both` of `lower` and `upper`, each with a file.
pub fn overlay(dir: &Path) -> Result<Mount, Failure> {
    folders(dir)?;
    let at = |name: &str| dir.join(name).display().to_string();
    let options =
        format!("lowerdir={},upperdir={},workdir={}", at("lower"), at("upper"), at("work"));
    Mount::new(&["-t", "overlay", "-o", &options, "overlay"], &dir.join("both"))
}

fn renamed(dir: &Path) -> Result<Mount, Failure> {
    let mount = overlay(dir)?;
    fs::rename(dir.join("both/up"), dir.join("both/renamed"))?;
    Ok(mount)
}

/// The same folder once more, through FUSE.
fn fuse(dir: &Path) -> Result<Mount, Failure> {
    folders(dir)?;
    let source = PathBuf::from(format!("bindfs#{}", dir.join("upper").display()));
    Mount::new(&[Path::new("-t"), Path::new("fuse"), &source], &dir.join("both"))
}

fn folders(dir: &Path) -> Result<(), Failure> {
    for (name, file) in [("lower", "low"), ("upper", "up"), ("work", "")] {
        fs::create_dir(dir.join(name))?;
        if !file.is_empty() {
            // A size of its own: what FUSE shows may be any file of its size, other programs' too.
            let bytes = 64 * MIB + 4096 * (1 + u64::from(std::process::id() % 4096));
            File::create(dir.join(name).join(file))?.set_len(bytes)?;
        }
    }
    Ok(())
}

/// A page of a file or device, which is mapped and no longer open.
struct Mapped(*mut c_void);

impl Mapped {
    fn new(path: &Path, flags: MapFlags) -> Result<Self, Failure> {
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: a new mapping at an address of the kernel's choice, which nothing touches.
        let at = unsafe { mmap(ptr::null_mut(), 4096, ProtFlags::READ, flags, &file, 0) }?;
        Ok(Self(at))
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the page was mapped by `new`, and nothing else has its address.
        let _ = unsafe { munmap(self.0, 4096) };
    }
}
