//! The file systems and swap areas on a device, on its partitions or on what is built of it.

use crate::find;
use crate::model::{Fact, Filesystem};
use crate::mount;
use crate::reader::{Reader, clean, show};
use crate::sysfs::name;
use seekwell_sys::{DevId, Mount, unescape};
use std::path::{Path, PathBuf};

/// The most devices looked at above one disk.
const MAX_DEVICES: usize = 256;

/// The folders of the device at `dir` and of everything above it: partitions, and what is built on
/// them.
pub(crate) fn stands_above(r: &Reader<'_>, dir: &Path) -> Vec<PathBuf> {
    let mut pending = vec![dir.to_path_buf()];
    let mut seen: Vec<PathBuf> = Vec::new();
    while let Some(at) = pending.pop() {
        if seen.contains(&at) || seen.len() >= MAX_DEVICES {
            continue;
        }
        pending.extend(above(r, &at));
        seen.push(at);
    }
    seen
}

/// The mounts from the devices at these folders.
pub(crate) fn mounted(r: &Reader<'_>, seen: &[PathBuf], mounts: &[Mount]) -> Vec<Filesystem> {
    let numbers: Vec<DevId> =
        seen.iter().filter_map(|d| r.hint(&d.join("dev"))?.parse().ok()).collect();
    let stands = |m: &&Mount| {
        // A mount with an anonymous device number is known by its source alone.
        numbers.contains(&m.dev)
            || (m.dev.major == 0
                && m.source.starts_with("/dev/")
                && find::by_node(r, &m.source).is_some_and(|d| seen.contains(&d)))
    };
    mounts.iter().filter(stands).map(|m| mount::filesystem(m, None)).collect()
}

/// The active swap areas on the devices at these folders: partitions, and files on their file
/// systems.
pub(crate) fn swaps(r: &Reader<'_>, seen: &[PathBuf], mounts: &[Mount]) -> Vec<Fact<String>> {
    let table = Path::new("/proc/swaps");
    let text = r.view.text(table).unwrap_or_default();
    let area = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (path, kind) = (unescape(words.next()?), words.next()?);
        let dir = match kind {
            "partition" => find::by_node(r, &path),
            _ => mount::device_dir(r, mount::holding(mounts, Path::new(&path), None)?, None),
        }?;
        seen.contains(&dir).then(|| Fact::new(clean(&path), show(table)))
    };
    text.lines().skip(1).filter_map(area).collect()
}

/// Partitions and holders.
fn above(r: &Reader<'_>, at: &Path) -> Vec<PathBuf> {
    let partition = |n: &String| r.view.exists(&at.join(n).join("partition"));
    let name = name(at);
    let children = r.names(at).into_iter().filter(|n| n.starts_with(name)).filter(partition);
    let mut found: Vec<PathBuf> = children.map(|n| at.join(n)).collect();
    let holders = at.join("holders");
    found.extend(r.names(&holders).iter().filter_map(|n| r.view.canonical(&holders.join(n)).ok()));
    found
}
