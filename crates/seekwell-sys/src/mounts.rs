//! Device numbers and `/proc/*/mountinfo` (proc(5)).

use crate::view::ViewError;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A device number: the one name of a block device that no link or rename changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevId {
    pub major: u32,
    pub minor: u32,
}

impl DevId {
    /// From the `st_rdev` or `st_dev` of a `stat`.
    pub fn from_raw(dev: u64) -> Self {
        Self { major: rustix::fs::major(dev), minor: rustix::fs::minor(dev) }
    }

    /// Its folder, `/sys/dev/block/8:1`: a link to the device's own.
    pub fn sysfs(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{self}"))
    }
}

impl fmt::Display for DevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DevId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.trim().split_once(':').ok_or(())?;
        Ok(Self { major: major.parse().map_err(|_| ())?, minor: minor.parse().map_err(|_| ())? })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Its number, which `statx` returns for a file on it.
    pub id: u64,
    /// `st_dev` of files on it. Anonymous (major 0) for overlay, tmpfs, btrfs, network.
    pub dev: DevId,
    /// The part of the file system that is mounted, `/` but for bind mounts and subvolumes.
    pub root: String,
    pub mount_point: PathBuf,
    pub fstype: String,
    /// What was mounted, as it was named then.
    pub source: String,
    /// Mount options, then superblock options.
    pub options: Vec<String>,
}

impl Mount {
    /// The folders that an overlay shows, the topmost first, as named at the mount.
    pub fn overlay_layers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for key in ["upperdir=", "lowerdir=", "lowerdir+=", "datadir+="] {
            for value in self.options.iter().filter_map(|option| option.strip_prefix(key)) {
                // A colon that is part of a name stands behind a backslash.
                let value = unescape(value).replace("\\:", "\0");
                let names = value.split(':').filter(|name| !name.is_empty());
                found.extend(names.map(|name| PathBuf::from(name.replace('\0', ":"))));
            }
        }
        found
    }
}

/// Reads a whole mountinfo file. `from` is named in the error.
///
/// # Errors
/// [`ViewError::Malformed`] holds the start of the first line that is not one.
pub fn parse_mountinfo(text: &str, from: &Path) -> Result<Vec<Mount>, ViewError> {
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines
        .map(|line| {
            parse_line(line).ok_or_else(|| ViewError::Malformed {
                path: from.to_path_buf(),
                expected: "a line of mountinfo",
                found: line.chars().take(80).collect(),
            })
        })
        .collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let id = left.next()?.parse().ok()?;
    let dev = left.nth(1)?.parse().ok()?;
    let root = unescape(left.next()?);
    let mount_point = PathBuf::from(unescape(left.next()?));
    let mut options: Vec<String> = left.next()?.split(',').map(str::to_owned).collect();
    let mut right = right.split(' ');
    let fstype = right.next().filter(|t| !t.is_empty())?.to_owned();
    let source = unescape(right.next()?);
    for option in right.next().unwrap_or("").split(',').filter(|o| !o.is_empty()) {
        if !options.iter().any(|have| have == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount { id, dev, root, mount_point, fstype, source, options })
}

/// A path as `/proc` shows it: space, tab, newline and backslash are three octal digits (`\040`).
pub fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digits =
            bytes.get(i + 1..i + 4).filter(|d| d.iter().all(|c| (b'0'..=b'7').contains(c)));
        match digits {
            Some(d) if bytes[i] == b'\\' && d[0] <= b'3' => {
                out.push((d[0] - b'0') * 64 + (d[1] - b'0') * 8 + (d[2] - b'0'));
                i += 4;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_space_is_unescaped() {
        let text =
            "36 35 8:17 / /mnt/my\\040disk rw,noatime shared:1 - ext4 /dev/sdb1 rw,discard\n";
        let mounts = parse_mountinfo(text, Path::new("/proc/self/mountinfo")).unwrap();
        assert_eq!(mounts.len(), 1);
        assert_eq!(mounts[0].id, 36);
        assert_eq!(mounts[0].mount_point, Path::new("/mnt/my disk"));
        assert_eq!(mounts[0].dev, DevId { major: 8, minor: 17 });
        assert_eq!(mounts[0].options, ["rw", "noatime", "discard"]);
    }

    #[test]
    fn an_overlay_names_its_layers_the_topmost_first() {
        let text = "40 35 0:50 / /m rw - overlay overlay \
                    rw,lowerdir=/l\\134:1:/two\\040l,upperdir=/u,workdir=/w,redirect_dir=on\n";
        let mounts = parse_mountinfo(text, Path::new("/proc/self/mountinfo")).unwrap();
        let layers = ["/u", "/l:1", "/two l"].map(PathBuf::from);
        assert_eq!(mounts[0].overlay_layers(), layers);
    }

    #[test]
    fn a_line_cut_short_is_named() {
        let error = parse_mountinfo("36 35 8:17 /", Path::new("/x")).unwrap_err();
        assert!(error.to_string().contains("36 35 8:17 /"), "{error}");
    }
}
