//! The SAS phys on the way to a disk.

use crate::model::Fact;
use crate::reader::Reader;
use crate::sysfs::name;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One phy: a transmitter and receiver pair. A rate is in words, `12.0 Gbit`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SasPhy {
    /// `phy-0:3`.
    pub name: String,
    pub negotiated: Option<Fact<String>>,
    pub maximum: Option<Fact<String>>,
    pub maximum_hardware: Option<Fact<String>>,
    pub enabled: Option<Fact<bool>>,
    /// Words that arrived garbled.
    pub invalid_dwords: Option<Fact<u64>>,
    pub disparity_errors: Option<Fact<u64>>,
    /// Times synchronisation was lost.
    pub sync_losses: Option<Fact<u64>>,
    pub reset_problems: Option<Fact<u64>>,
}

impl SasPhy {
    pub fn errors(&self) -> u64 {
        let all =
            [&self.invalid_dwords, &self.disparity_errors, &self.sync_losses, &self.reset_problems];
        all.into_iter().flatten().fold(0, |sum, f| sum.saturating_add(f.value))
    }
}

/// The phys of every port and of the end device on the way.
pub(super) fn read(r: &mut Reader<'_>, stations: &[PathBuf]) -> Vec<SasPhy> {
    let ports = stations.iter().rev().filter(|s| {
        let name = name(s);
        name.starts_with("port-") || name.starts_with("end_device-")
    });
    let mut phys: Vec<SasPhy> = Vec::new();
    for port in ports {
        for phy in r.names(port).into_iter().filter(|n| n.starts_with("phy-")) {
            let folder = port.join(&phy).join("sas_phy").join(&phy);
            if phys.iter().all(|p| p.name != phy) && r.view.exists(&folder) {
                phys.push(one(r, &folder, phy));
            }
        }
    }
    phys
}

fn one(r: &mut Reader<'_>, folder: &Path, phy: String) -> SasPhy {
    let at = |file: &str| folder.join(file);
    SasPhy {
        name: phy,
        negotiated: r.optional(&at("negotiated_linkrate"), "SAS link rate"),
        maximum: r.optional(&at("maximum_linkrate"), "largest SAS link rate"),
        maximum_hardware: r.optional(&at("maximum_linkrate_hw"), "link rate of the hardware"),
        enabled: r
            .count(&at("enable"), "whether the phy is on")
            .map(|f| Fact::new(f.value != 0, f.from)),
        invalid_dwords: r.count(&at("invalid_dword_count"), "invalid words"),
        disparity_errors: r.count(&at("running_disparity_error_count"), "disparity errors"),
        sync_losses: r.count(&at("loss_of_dword_sync_count"), "losses of synchronisation"),
        reset_problems: r.count(&at("phy_reset_problem_count"), "failed resets"),
    }
}
