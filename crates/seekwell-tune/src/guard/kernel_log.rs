//! What the kernel says while settings are on trial.

use crate::reason::Trouble;
use seekwell_inspect::Severity;
use seekwell_inspect::log::Collector;
use seekwell_sys::{KMSG, KmsgReader, KmsgRecord, View};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

#[derive(Debug, Clone, Default)]
struct Names {
    disk: String,
    /// `ata1`, `nvme0`, `0:0:0:0`: names of what it hangs on.
    others: Vec<String>,
}

/// New lines of the kernel log that speak of trouble with one disk.
pub struct LogWatch {
    reader: Option<KmsgReader>,
    names: Names,
}

impl LogWatch {
    /// From now on.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn new(disk: &str, dir: &Path) -> io::Result<Self> {
        let mut reader = KmsgReader::open(Path::new(KMSG))?;
        reader.skip_to_end()?;
        Ok(Self { reader: Some(reader), names: Names::of(disk, dir) })
    }

    /// Without a log of its own: for lines from elsewhere.
    pub fn of_lines(disk: &str, dir: &Path) -> Self {
        Self { reader: None, names: Names::of(disk, dir) }
    }

    /// What to wait on for new lines.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.reader.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is new.
    pub(super) fn look(&mut self, view: &dyn View) -> Option<Trouble> {
        let mut new = Vec::new();
        while let Some(reader) = &mut self.reader {
            match reader.next_record() {
                Ok(Some(KmsgRecord::Text(text))) => new.extend_from_slice(&text),
                Ok(Some(KmsgRecord::Lost)) => {}
                Ok(None) => break,
                Err(_) => self.reader = None,
            }
        }
        if new.is_empty() { None } else { self.judge(view, &new) }
    }

    /// The first line among raw records of `/dev/kmsg` that means trouble for the disk.
    pub fn judge(&self, view: &dyn View, records: &[u8]) -> Option<Trouble> {
        let mut collector = Collector::new(Some(view));
        collector.push(records);
        let report = collector.report("the kernel log");
        let bad = report.incidents.into_iter().find(|incident| {
            let named = |name: &str| self.names.is(name);
            let ours = incident.disk.as_deref().map(named);
            let subject = incident.subject.as_deref().is_some_and(named);
            incident.severity >= Severity::Warning && ours.unwrap_or(subject)
        })?;
        let line = bad.samples.into_iter().next().unwrap_or(bad.meaning);
        Some(Trouble::KernelLog { line })
    }
}

impl Names {
    fn of(disk: &str, dir: &Path) -> Self {
        let parts = dir.iter().filter_map(|p| p.to_str());
        let telling = |p: &&str| {
            let numbered = |stem: &str| {
                p.strip_prefix(stem).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            };
            ["ata", "nvme", "usb", "host", "virtio", "mmc"].iter().any(|stem| numbered(stem))
                || p.contains(':')
        };
        Self { disk: disk.to_owned(), others: parts.filter(telling).map(str::to_owned).collect() }
    }

    /// `sda`, its partition `sda1`, `ata1` and its device `ata1.00`.
    fn is(&self, name: &str) -> bool {
        let part = |whole: &str| {
            name.strip_prefix(whole).is_some_and(|rest| {
                rest.is_empty()
                    || rest.strip_prefix('p').unwrap_or(rest).bytes().all(|b| b.is_ascii_digit())
                        && (!whole.ends_with(|c: char| c.is_ascii_digit()) || rest.starts_with('p'))
            })
        };
        let device = |whole: &String| {
            name.strip_prefix(whole.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        part(&self.disk) || self.others.iter().any(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_known_by_its_partitions_and_its_port_but_not_by_its_neighbours() {
        let dir = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        let names = Names::of("sda", Path::new(dir));
        for ours in ["sda", "sda1", "ata1", "ata1.00", "0:0:0:0", "host0", "0000:00:1f.2"] {
            assert!(names.is(ours), "{ours}");
        }
        for other in ["sdaa", "sdb", "ata10", "ata2.00", "0:0:1:0", "host1", "pci0000"] {
            assert!(!names.is(other), "{other}");
        }
        let nvme = Names::of(
            "nvme0n1",
            Path::new("/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1"),
        );
        assert!(nvme.is("nvme0n1p2") && nvme.is("nvme0"));
        assert!(!nvme.is("nvme0n12") && !nvme.is("nvme1"));
    }

    #[test]
    fn what_real_kernels_said_when_disks_failed_is_trouble_and_a_healthy_boot_is_not() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures");
        let view = seekwell_sys::fake::Fake::new();
        let dir = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        let watch = LogWatch::of_lines("sda", Path::new(dir));
        for (name, trouble) in [("fault/ahci-timeout", true), ("virtio-scsi", false)] {
            let path = Path::new(fixtures).join(name).join("kmsg.txt");
            let Ok(log) = std::fs::read(&path) else {
                eprintln!("skipped: {} is not here", path.display());
                continue;
            };
            assert_eq!(watch.judge(&view, &log).is_some(), trouble, "{name}");
        }
    }
}
