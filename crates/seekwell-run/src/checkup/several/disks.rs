//! Every disk that can be read.

use super::SeveralError;
use crate::RunError;
use seekwell_inspect::{DeviceKind, Overlap, all_disks, health, inspect, overlap};
use seekwell_sys::View;
use std::path::PathBuf;

/// The disks of this machine that are measured together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disks {
    /// Their nodes.
    pub nodes: Vec<PathBuf>,
    /// What is left out, and why, one sentence each.
    pub left_out: Vec<String>,
}

/// Every disk of this machine: no partitions, nothing that is built on disks, no loop, ram and zram
/// devices, one path of each, and none that sleeps. `view` asks drives whether they do.
///
/// # Errors
/// [`SeveralError::NoDisk`].
pub fn disks(view: &dyn View) -> Result<Disks, RunError> {
    let (mut nodes, mut left_out, mut known) = (Vec::new(), Vec::new(), Vec::new());
    let mut asleep = 0;
    for target in all_disks(view) {
        let found = inspect(view, &target);
        let Some(device) = &found.device else { continue };
        let is_disk = match device.kind {
            DeviceKind::Disk | DeviceKind::MultipathHead => true,
            DeviceKind::Network => device.size_bytes.is_some(),
            _ => false,
        };
        // A reader without a card.
        if !is_disk || device.size_bytes.as_ref().is_some_and(|size| size.value == 0) {
            continue;
        }
        let same = known.iter().find(|other| overlap(other, &found) == Some(Overlap::Same));
        if let Some(same) = same {
            left_out.push(format!("{} is another path to {}", target.given, same.target));
            continue;
        }
        if health::is_asleep(view, device) {
            asleep += 1;
            left_out.push(format!("{} sleeps, and reading would wake it", target.given));
            continue;
        }
        nodes.push(PathBuf::from(&target.given));
        known.push(found);
    }
    if nodes.is_empty() {
        return Err(SeveralError::NoDisk { asleep }.into());
    }
    Ok(Disks { nodes, left_out })
}

#[cfg(test)]
#[allow(clippy::print_stderr)]
mod tests {
    use super::*;
    use seekwell_sys::Snapshot;
    use std::path::Path;

    #[test]
    fn every_disk_is_taken_and_nothing_that_is_built_on_disks() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
        for (machine, nodes) in [
            ("stack-md-dm-loop", &["/dev/sda", "/dev/sdb"][..]),
            ("nvme-2ctrl", &["/dev/nvme0n1", "/dev/nvme1n1"]),
            ("piix-2disks-cd", &["/dev/sda", "/dev/sdb"]),
            ("sdcard", &["/dev/mmcblk0"]),
        ] {
            let Ok(view) = Snapshot::open(&corpus.join(machine)) else {
                return eprintln!("skipped: there are no saved machines at {}", corpus.display());
            };
            let found = disks(&view).unwrap();
            assert_eq!(found.nodes, nodes.iter().map(PathBuf::from).collect::<Vec<_>>());
            assert_eq!(found.left_out, [""; 0], "{machine}");
        }
    }
}
