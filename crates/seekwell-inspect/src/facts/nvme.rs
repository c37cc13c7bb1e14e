//! An NVMe controller.

use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::{name, numbered};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The controller a namespace is reached through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmeFacts {
    /// `nvme0`.
    pub controller: String,
    /// `pcie`, `tcp`, `rdma`, `fc` …
    pub transport: Option<Fact<String>>,
    /// `live`, `resetting`, `connecting`, `dead` …
    pub state: Option<Fact<String>>,
    /// I/O queues, without the admin queue.
    pub io_queues: Option<Fact<u64>>,
    pub queue_entries: Option<Fact<u64>>,
    /// The memory node it is on; `None` where the machine has one or does not say.
    pub numa_node: Option<Fact<u64>>,
    pub io_policy: Option<Fact<String>>,
    pub controllers: Option<Fact<u64>>,
    /// Temperature in millidegrees Celsius.
    pub temperature_mc: Option<Fact<i64>>,
    /// The temperature from which on it warns.
    pub temperature_max_mc: Option<Fact<i64>>,
    pub temperature_critical_mc: Option<Fact<i64>>,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path, stations: &[PathBuf]) -> Option<NvmeFacts> {
    let at = stations.iter().find(|s| numbered(name(s), "nvme"))?.clone();
    let queues = r.count(&at.join("queue_count"), "NVMe queues");
    let mut facts = NvmeFacts {
        controller: name(&at).to_owned(),
        transport: r.optional(&at.join("transport"), "NVMe transport"),
        state: r.optional(&at.join("state"), "controller state"),
        io_queues: queues.map(|q| Fact::new(q.value.saturating_sub(1), q.from)),
        queue_entries: r
            .count(&at.join("sqsize"), "entries of a queue")
            .and_then(|q| Some(Fact::new(q.value.checked_add(1)?, q.from))),
        numa_node: r.parsed(&at.join("numa_node")),
        ..NvmeFacts::default()
    };
    subsystem(r, dir, &mut facts);
    temperature(r, &at, &mut facts);
    Some(facts)
}

fn subsystem(r: &mut Reader<'_>, dir: &Path, facts: &mut NvmeFacts) {
    let all = Path::new("/sys/class/nvme-subsystem");
    for found in r.names(all) {
        let Ok(folder) = r.view.canonical(&all.join(found)) else { continue };
        let names = r.names(&folder);
        if !names.contains(&facts.controller) && !dir.starts_with(&folder) {
            continue;
        }
        let members = names.iter().filter(|n| numbered(n, "nvme")).count();
        facts.controllers = Some(Fact::new(members as u64, show(&folder)));
        facts.io_policy = r.optional(&folder.join("iopolicy"), "multipath policy");
        return;
    }
}

fn temperature(r: &Reader<'_>, at: &Path, facts: &mut NvmeFacts) {
    let folders = [at.to_path_buf(), at.join("hwmon")];
    let found = folders.iter().find_map(|folder| {
        let monitor = r.names(folder).into_iter().find(|n| numbered(n, "hwmon"))?;
        Some(folder.join(monitor))
    });
    let Some(monitor) = found else { return };
    facts.temperature_mc = r.parsed(&monitor.join("temp1_input"));
    facts.temperature_max_mc = r.parsed(&monitor.join("temp1_max"));
    facts.temperature_critical_mc = r.parsed(&monitor.join("temp1_crit"));
}
