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
    /// Whether its host memory buffer is enabled; `None` if the drive does not request one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<Fact<bool>>,
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
        host_memory: r
            .parsed::<u8>(&at.join("hmb"))
            .map(|given| Fact::new(given.value != 0, given.from)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn the_host_memory_buffer_is_read_where_the_drive_requests_one() {
        let at = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0";
        let found = |fake: &Fake| {
            let facts = read(&mut Reader::new(fake), Path::new("/x"), &[at.into()]);
            facts.expect("a controller").host_memory.map(|given| (given.value, given.from))
        };
        let with = |hmb: &str| Fake::new().file(format!("{at}/hmb"), hmb);
        assert_eq!(found(&with("0\n")), Some((false, format!("{at}/hmb"))));
        assert_eq!(found(&with("1\n")).map(|(given, _)| given), Some(true));
        assert_eq!(found(&with("maybe\n")), None);
        assert_eq!(found(&Fake::new().file(format!("{at}/state"), "live\n")), None);
    }
}
