//! An NVMe controller.

use crate::model::Fact;
use crate::pages::page;
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
    /// The memory node it is on; `None` if the machine has one or does not say.
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
    /// Microseconds it takes to wake from the deepest state that it may enter by itself while idle;
    /// absent if it enters none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_exit_us: Option<Fact<u64>>,
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
    facts.idle_exit_us = idle_exit(r, &at, &facts.controller);
    subsystem(r, dir, &mut facts);
    temperature(r, &at, &mut facts);
    Some(facts)
}

/// As the kernel sets up autonomous power state transitions: of the non-operational states of the
/// identify data the deepest whose exit latency is within the tolerance (NVM Express Base
/// Specification 2.0, figure 275 and 276).
fn idle_exit(r: &Reader<'_>, at: &Path, controller: &str) -> Option<Fact<u64>> {
    const STATES: usize = 2048;
    let tolerance = r.hint(&at.join("power/pm_qos_latency_tolerance_us"))?;
    let tolerance = match tolerance.as_str() {
        // No state is too slow.
        "any" | "auto" => u64::MAX,
        number => number.parse().ok()?,
    };
    let page = page(controller, "identify-01-0");
    let identify = r.view.read(&page).ok()?;
    let (last, apsta) = (usize::from(*identify.get(263)?), *identify.get(265)?);
    if apsta & 1 == 0 {
        return None;
    }
    let exit = |state: usize| {
        let entry = identify.get(STATES + state * 32..)?.get(..12)?;
        let exit = u32::from_le_bytes(entry[8..12].try_into().ok()?);
        (entry[3] & 2 != 0).then_some(u64::from(exit))
    };
    let deepest = (0..=last.min(31)).rev().filter_map(exit).find(|exit| *exit <= tolerance)?;
    Some(Fact::new(deepest, show(&page)))
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
    fn the_deepest_state_within_the_tolerance_counts() {
        let at = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0";
        let mut identify = vec![0; 4096];
        (identify[263], identify[265]) = (4, 1);
        for (state, flags, exit) in [(3_usize, 2, 1_200_u32), (4, 2, 9_000), (2, 0, 20_000)] {
            identify[2048 + state * 32 + 3] = flags;
            identify[2048 + state * 32 + 8..][..4].copy_from_slice(&exit.to_le_bytes());
        }
        let found = |identify: &[u8], tolerance: &str| {
            let fake = Fake::new()
                .file(format!("{at}/power/pm_qos_latency_tolerance_us"), tolerance)
                .bytes("/dev/nvme0/page/identify-01-0", identify);
            let facts = read(&mut Reader::new(&fake), Path::new("/x"), &[at.into()]);
            facts.unwrap().idle_exit_us.map(|f| f.value)
        };
        assert_eq!(found(&identify, "100000\n"), Some(9_000));
        assert_eq!(found(&identify, "any\n"), Some(9_000));
        assert_eq!(found(&identify, "auto\n"), Some(9_000));
        assert_eq!(found(&identify, "5500\n"), Some(1_200));
        assert_eq!(found(&identify, "0\n"), None);
        assert_eq!(found(&identify[..2100], "100000\n"), None);
        identify[265] = 0;
        assert_eq!(found(&identify, "100000\n"), None, "it does not change states by itself");
    }

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
