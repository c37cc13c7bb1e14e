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
/// When there is none.
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
