//! Files with one line for each disk, `8:0 ctrl=user rbps=…`: `io.cost.model` and `io.cost.qos` of
//! the root control group. The line of one disk looks like a file below (`io.cost.model/8:0`), and
//! the lines of others are never written.
//!
//! A disk that was never configured has no line, and is as if it said that the kernel chooses; from
//! its first write on it has one until it is gone. Under `ctrl=auto` the kernel shows numbers of
//! its own that change by themselves and become the user's when written, so they are left out.
//!
//! Sources: Documentation/admin-guide/cgroup-v2.rst; `ioc_qos_write`, `ioc_qos_prfill` and their
//! twins for the model in block/blk-iocost.c.

use super::knobs::Knobs;
use seekwell_sys::{DevId, MAX_TEXT};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What a disk without a line has, by the name of the file.
const UNLISTED: [(&str, &str); 2] =
    [("io.cost.model", "ctrl=auto"), ("io.cost.qos", "enable=0 ctrl=auto")];

fn unlisted(file: &Path) -> Option<&'static str> {
    let name = file.file_name()?;
    UNLISTED.iter().find(|(file, _)| name == *file).map(|(_, line)| *line)
}

/// Whether a file has such lines.
pub fn holds(file: &Path) -> bool {
    unlisted(file).is_some()
}

/// The line of one disk in the text of such a file, without its number.
///
/// # Errors
/// When it is not made of `name=value`, or `file` is no such file.
pub fn line(file: &Path, text: &str, dev: &str) -> io::Result<String> {
    let malformed = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let wanted: DevId = dev.parse().map_err(|()| malformed("not MAJOR:MINOR"))?;
    let own = |line: &&str| line.split_whitespace().next().is_some_and(|w| w.parse() == Ok(wanted));
    let Some(line) = text.lines().find(own) else {
        return unlisted(file).map(str::to_owned).ok_or_else(|| io::ErrorKind::NotFound.into());
    };
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    if let Some(word) = words.iter().find(|w| !w.contains('=')) {
        return Err(malformed(&format!("its line has {word:?} where name=value should be")));
    }
    let auto = words.contains(&"ctrl=auto");
    let counts = |w: &&str| !auto || w.starts_with("ctrl=") || w.starts_with("enable=");
    Ok(words.into_iter().filter(counts).collect::<Vec<_>>().join(" "))
}

#[derive(Debug)]
pub struct Lines {
    name: PathBuf,
    file: File,
}

impl Lines {
    pub fn open(path: &Path) -> io::Result<Self> {
        let both = File::options().read(true).write(true).open(path);
        // Anyone may read it.
        let file = both.or_else(|_| File::open(path))?;
        Ok(Self { name: path.to_path_buf(), file })
    }
}

impl Knobs for Lines {
    fn read(&self, dev: &str) -> io::Result<String> {
        let (mut text, mut page) = (Vec::new(), [0; 4096]);
        while (text.len() as u64) < MAX_TEXT {
            match self.file.read_at(&mut page, text.len() as u64)? {
                0 => break,
                read => text.extend_from_slice(&page[..read]),
            }
        }
        line(&self.name, &String::from_utf8_lossy(&text), dev)
    }

    fn write(&self, dev: &str, text: &str) -> io::Result<()> {
        let line = format!("{dev} {text}\n");
        self.file.write_at(line.as_bytes(), 0).map(drop).map_err(|error| {
            match error.raw_os_error() {
                Some(libc::ENODEV) => io::ErrorKind::NotFound.into(),
                Some(libc::EOPNOTSUPP) => io::Error::other(
                    "the disk has no request queue of its own, and io.cost works on those alone",
                ),
                Some(libc::EBUSY) => {
                    io::Error::other("another I/O controller of the kernel holds the disk's queue")
                }
                _ => error,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{Sysfs, Writer};

    const MODEL: &str = "/sys/fs/cgroup/io.cost.model";
    const QOS: &str = "/sys/fs/cgroup/io.cost.qos";

    fn shown(file: &str, text: &str) -> String {
        line(Path::new(file), text, "8:0").unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn a_disk_has_its_own_line_and_nobody_elses() {
        let text =
            "259:0 ctrl=user model=linear rbps=1\n8:0 ctrl=user model=linear rbps=2 wbps=3\n";
        assert_eq!(shown(MODEL, text), "ctrl=user model=linear rbps=2 wbps=3");
        assert_eq!(shown(MODEL, &text.replace("8:0", "8:01")), "ctrl=auto");
        assert_eq!(shown(MODEL, &text.replace("8:0", "18:0")), "ctrl=auto");
    }

    #[test]
    fn a_disk_never_configured_is_as_one_the_kernel_chooses_for() {
        assert_eq!(shown(MODEL, ""), "ctrl=auto");
        assert_eq!(shown(QOS, ""), "enable=0 ctrl=auto");
        let auto = "8:0 enable=0 ctrl=auto rpct=0.00 rlat=0 wpct=0.00 wlat=0 min=1.00 max=1.00\n";
        assert_eq!(shown(QOS, auto), "enable=0 ctrl=auto");
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        assert!(shown(QOS, "8:0 enable=1 ctrl\n").contains("\"ctrl\" where name=value"));
        assert_eq!(shown(QOS, "\u{0}\u{0}8:0\n\n8:0"), "");
        let other = line(Path::new("/sys/fs/cgroup/io.max"), "", "8:0");
        assert_eq!(other.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(line(Path::new(QOS), "", "sda").is_err());
    }

    #[test]
    fn every_line_of_a_long_file_is_read_and_a_written_one_names_its_disk() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("io.cost.model");
        let many: String = (1..500).map(|n| format!("8:{} ctrl=user rbps={n}\n", 16 * n)).collect();
        std::fs::write(&path, &many).unwrap();
        let lines = Lines::open(&path).unwrap();
        assert!(many.len() > 2 * 4096);
        assert_eq!(lines.read("8:7984").unwrap(), "ctrl=user rbps=499");
        lines.write("8:16", "rbps=7").unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("8:16 rbps=7\n"));
    }

    #[test]
    fn a_number_that_another_disk_has_by_now_is_not_written_for() {
        // The disk was pulled out during its trial, and the next one plugged in got its number.
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("dev"), "8:0\n").unwrap();
        std::fs::write(at("io.cost.qos"), "").unwrap();
        let mut writer = Sysfs::new();
        writer.hold_dir(dir.path()).unwrap();
        writer.hold(&at("io.cost.qos/8:0"));
        writer.write(&at("io.cost.qos/8:0"), "enable=1").unwrap();
        assert_eq!(writer.read(&at("io.cost.qos/8:0")).unwrap(), "enable=1");
        std::fs::write(at("dev"), "8:16\n").unwrap();
        let error = writer.write(&at("io.cost.qos/8:0"), "enable=0").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        std::fs::remove_file(at("dev")).unwrap();
        assert!(writer.write(&at("io.cost.qos/8:0"), "enable=0").is_err());
        assert_eq!(std::fs::read_to_string(at("io.cost.qos")).unwrap(), "8:0 enable=1\n");
    }
}
