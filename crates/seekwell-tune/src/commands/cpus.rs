//! A file that every CPU has, such as `cpufreq/scaling_governor`: one setting for all of them.
//!
//! It reads as one word if all CPUs have the same value, otherwise as one word per CPU in order of
//! their numbers. It is written likewise, so CPUs that differed get their own values back.
//!
//! Source: Documentation/ABI/testing/sysfs-devices-system-cpu.

use super::knobs::{Knobs, not_offered};
use rustix::fs::{Mode, OFlags};
use seekwell_sys::{Live, View, ViewError};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Stands for the folder of every CPU.
pub const EVERY_CPU: &str = "/sys/devices/system/cpu/cpu*";

/// Splits a path through `cpu*` into the folder of all CPUs and the path below each.
pub(super) fn star(path: &Path) -> Option<(&Path, &Path)> {
    let every = path.ancestors().find(|above| above.ends_with("cpu*"))?;
    Some((every.parent()?, path.strip_prefix(every).ok()?))
}

/// The actual paths of the CPUs that have the file, in order of their numbers.
fn each(view: &dyn View, path: &Path) -> Result<Vec<PathBuf>, ViewError> {
    let Some((all, below)) = star(path) else { return Ok(Vec::new()) };
    let number = |name: &String| name.strip_prefix("cpu")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = view.list(all)?.iter().filter_map(number).collect();
    numbers.sort_unstable();
    let paths = numbers.iter().map(|n| all.join(format!("cpu{n}")).join(below));
    Ok(paths.filter(|path| view.exists(path)).collect())
}

/// The value or values of all CPUs, as one text.
pub(super) fn shown(view: &dyn View, path: &Path) -> Result<String, ViewError> {
    let texts: Result<Vec<String>, _> = each(view, path)?.iter().map(|p| view.text(p)).collect();
    joined(&texts?).map_err(|error| ViewError::from_io(path, &error))
}

fn joined(texts: &[String]) -> io::Result<String> {
    let first = texts.first().ok_or_else(not_offered)?;
    Ok(if texts.iter().all(|text| text == first) { first.clone() } else { texts.join(" ") })
}

/// The folder of each CPU, held open.
#[derive(Debug)]
pub struct Cpus {
    folders: Vec<OwnedFd>,
}

impl Cpus {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let folders = each(&Live::system(), folder).map_err(io::Error::other)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &PathBuf| Ok(rustix::fs::open(path, flags, Mode::empty())?);
        Ok(Self { folders: folders.iter().map(open).collect::<io::Result<_>>()? })
    }
}

fn file(folder: &OwnedFd, name: &str, how: OFlags) -> io::Result<File> {
    Ok(rustix::fs::openat(folder, name, how | OFlags::CLOEXEC, Mode::empty())?.into())
}

impl Knobs for Cpus {
    fn read(&self, name: &str) -> io::Result<String> {
        let text = |folder| {
            let mut text = String::new();
            file(folder, name, OFlags::RDONLY)?.read_to_string(&mut text)?;
            Ok(text.trim().to_owned())
        };
        joined(&self.folders.iter().map(text).collect::<io::Result<Vec<String>>>()?)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let all = self.folders.len();
        if words.len() != 1 && words.len() != all {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} values for {all} CPUs", words.len()),
            ));
        }
        for (folder, word) in self.folders.iter().zip(words.into_iter().cycle()) {
            file(folder, name, OFlags::WRONLY)?.write_all(format!("{word}\n").as_bytes())?;
        }
        Ok(())
    }
}
