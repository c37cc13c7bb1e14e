//! A sosreport: folders `sys` and `proc` as they were copied from a machine, and what programs
//! printed beside them (sos's plug-ins `block`, `kernel`, `logs` and `pci`).
//!
//! Such a folder comes from elsewhere, and a link in it may point anywhere. It is therefore read
//! into memory first, without following a link, and only then looked at.

use crate::filler::{LSPCI, MAX_DEPTH, MAX_ENTRIES, MAX_HELD, SnapshotError, bytes};
use crate::kmsg::KMSG;
use crate::tree::{Node, Tree};
use crate::view::View;
use rustix::fs::OFlags;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The folders of a report that hold what a machine's paths of the same name held.
const COPIED: [&str; 4] = ["sys", "proc", "run/udev", "etc/modprobe.d"];

/// The most of one file that is kept, in bytes. Files in sysfs are a page.
const MAX_CONTENT: u64 = 4 << 20;

/// Where sosreports keep the kernel log and the list of modules, in newer and older versions.
const LOGS: [&str; 4] = [
    "sos_commands/kernel/dmesg",
    "sos_commands/kernel/dmesg_-T",
    "var/log/dmesg",
    "sos_commands/logs/journalctl_--no-pager_--boot",
];
const MODULES: [&str; 2] = ["sos_commands/kernel/lsmod", "sos_commands/hardware/lsmod"];
/// The folders with what `lspci` printed; its name there holds its switches.
const LSPCI_FOLDERS: [&str; 2] = ["sos_commands/pci", "sos_commands/hardware"];

/// Whether a folder is a report's.
pub(crate) fn is_one(folder: &Path) -> bool {
    ["sys", "sos_commands"].iter().any(|name| folder.join(name).is_dir())
}

pub(crate) fn read(folder: &Path) -> Result<Tree, SnapshotError> {
    let mut copy = Copy { tree: Tree::default(), held: 0 };
    for name in COPIED {
        let from = folder.join(name);
        // A link here would lead out of the report.
        if from.symlink_metadata().is_ok_and(|m| m.is_dir()) {
            copy.directory(&from, &Path::new("/").join(name))?;
        }
    }
    let mut tree = copy.tree;
    for name in LOGS {
        if let Some(log) = beside(folder, name)? {
            tree.put(Path::new(KMSG), Node::File(log));
            break;
        }
    }
    let modules = Path::new("/proc/modules");
    for name in MODULES.iter().filter(|_| !tree.exists(modules)) {
        if let Some(text) = beside(folder, name)? {
            tree.put(modules, Node::File(modules_of(&String::from_utf8_lossy(&text)).into_bytes()));
            break;
        }
    }
    if let Some(text) = lspci(folder)? {
        tree.put(Path::new(LSPCI), Node::File(text));
    }
    Ok(tree)
}

/// The longest of what `lspci` printed: it is printed as a tree, in short and at length.
fn lspci(folder: &Path) -> Result<Option<Vec<u8>>, SnapshotError> {
    let mut longest: Option<Vec<u8>> = None;
    for below in LSPCI_FOLDERS {
        let Ok(entries) = fs::read_dir(folder.join(below)) else { continue };
        let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
        for name in names.filter(|n| n.starts_with("lspci")) {
            let text = beside(folder, &format!("{below}/{name}"))?;
            longest = longest.into_iter().chain(text).max_by_key(Vec::len);
        }
    }
    Ok(longest)
}

/// A file of the report that no link leads to.
fn beside(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, SnapshotError> {
    let mut at = folder.to_path_buf();
    for part in Path::new(name) {
        at.push(part);
        if at.symlink_metadata().map_or(true, |m| m.is_symlink()) {
            return Ok(None);
        }
    }
    if at.is_file() { bytes(&at) } else { Ok(None) }
}

/// What `lsmod` printed, as the kernel's own table: name, size, users, their names, state.
fn modules_of(lsmod: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, size, users) = (words.next()?, words.next()?, words.next()?);
        let (_, _): (u64, u64) = (size.parse().ok()?, users.parse().ok()?);
        let by = words.next().map_or_else(|| "-".to_owned(), |by| format!("{by},"));
        Some(format!("{name} {size} {users} {by} Live 0x0000000000000000\n"))
    };
    lsmod.lines().filter_map(line).collect()
}

struct Copy {
    tree: Tree,
    held: usize,
}

impl Copy {
    fn directory(&mut self, from: &Path, to: &Path) -> Result<(), SnapshotError> {
        let mut todo: Vec<(PathBuf, PathBuf)> = vec![(from.to_path_buf(), to.to_path_buf())];
        while let Some((from, to)) = todo.pop() {
            self.put(&from, &to, Node::Dir)?;
            let Ok(entries) = fs::read_dir(&from) else { continue };
            for entry in entries.flatten() {
                let (from, to) = (entry.path(), to.join(entry.file_name()));
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    todo.push((from, to));
                } else if kind.is_symlink() {
                    if let Ok(link) = fs::read_link(&from) {
                        self.put(&from, &to, Node::Link(link))?;
                    }
                } else if kind.is_file() {
                    let node = content(&from).map_or_else(|e| Node::Error(e.kind()), Node::File);
                    self.put(&from, &to, node)?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, from: &Path, to: &Path, node: Node) -> Result<(), SnapshotError> {
        let content = if let Node::File(bytes) = &node { bytes.len() } else { 0 };
        self.held += content + to.as_os_str().len();
        let too_much = |what, limit| {
            let file = from.display().to_string();
            Err(SnapshotError::TooMuch { file, line: 0, what, limit })
        };
        if self.tree.len() >= MAX_ENTRIES {
            return too_much("there are too many entries", MAX_ENTRIES);
        }
        if self.held > MAX_HELD {
            return too_much("the folder is too large", MAX_HELD);
        }
        if to.components().count() > MAX_DEPTH {
            return too_much("the path is too deep", MAX_DEPTH);
        }
        self.tree.put(to, node);
        Ok(())
    }
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = fs::OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_CONTENT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_report_is_read_and_its_links_lead_nowhere_outside() {
        let dir = std::env::temp_dir().join(format!("seekwell-sos-{}", std::process::id()));
        let device = dir.join("sys/devices/x/block/sda");
        fs::create_dir_all(&device).unwrap();
        fs::create_dir_all(dir.join("sys/block")).unwrap();
        fs::create_dir_all(dir.join("sos_commands/kernel")).unwrap();
        fs::write(device.join("size"), "2048\n").unwrap();
        symlink("../devices/x/block/sda", dir.join("sys/block/sda")).unwrap();
        symlink("/etc/hostname", device.join("model")).unwrap();
        symlink("/proc", dir.join("proc")).unwrap();
        symlink("/etc/passwd", dir.join("sos_commands/kernel/dmesg")).unwrap();
        let lsmod = "Module                  Size  Used by\nahci 49152 2 libahci\nx 1 0\n";
        fs::write(dir.join(MODULES[0]), lsmod).unwrap();
        fs::create_dir_all(dir.join("sos_commands/pci")).unwrap();
        let long = "00:1f.2 IDE interface [0101]: X [8086:2820] (prog-if 8a)\n\tLatency: 0\n";
        fs::write(dir.join("sos_commands/pci/lspci_-nnvv"), long).unwrap();
        fs::write(dir.join("sos_commands/pci/lspci_-tv"), "-[0000:00]-+-00.0\n").unwrap();
        symlink("/etc/services", dir.join("sos_commands/pci/lspci_evil")).unwrap();
        let snapshot = Snapshot::open(&dir);
        fs::remove_dir_all(&dir).unwrap();
        let snapshot = snapshot.unwrap();
        assert_eq!(snapshot.number(Path::new("/sys/block/sda/size")), Ok(2048));
        assert!(snapshot.read(Path::new("/sys/block/sda/model")).is_err());
        assert!(!snapshot.exists(Path::new("/proc/version")));
        assert!(!snapshot.exists(Path::new(KMSG)));
        assert_eq!(snapshot.read(Path::new(LSPCI)), Ok(long.as_bytes().to_vec()));
        let modules = snapshot.text(Path::new("/proc/modules")).unwrap();
        assert!(modules.starts_with("ahci 49152 2 libahci, Live"), "{modules}");
    }

    #[test]
    fn a_report_of_printed_text_alone_is_one_too() {
        let dir = std::env::temp_dir().join(format!("seekwell-sos-text-{}", std::process::id()));
        fs::create_dir_all(dir.join("sos_commands/logs")).unwrap();
        let log = "Nov 16 12:00:01 box kernel: ata1: hard resetting link\n";
        fs::write(dir.join(LOGS[3]), log).unwrap();
        let snapshot = Snapshot::open(&dir);
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(snapshot.unwrap().read(Path::new(KMSG)), Ok(log.as_bytes().to_vec()));
    }
}
