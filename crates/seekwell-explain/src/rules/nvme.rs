//! NVMe controllers: their state, their queues, their paths, their temperature.

use crate::look::{is, text};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::NvmeFacts;
use seekwell_inspect::{Device, DeviceKind, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-NVME-001",
        about: "the NVMe controller is not live",
        means: "The controller is resetting, connecting, being removed or dead. Requests wait or \
                fail.",
        known: "state of the controller is anything but live.",
        why: "Until then nothing can be read or written.",
        fix: "sudo dmesg | grep nvme shows what it is doing; if it was lost to a power-saving \
              state, boot with nvme_core.default_ps_max_latency_us=0 pcie_aspm=off on the kernel's \
              command line",
        tune: None,
        check: Check::Nvme(not_live),
    },
    Rule {
        id: "SW-NVME-002",
        about: "the NVMe drive has fewer queues than the machine has CPUs",
        means: "Several CPUs share a submission queue.",
        known: "I/O queues (queue_count without the admin queue) against CPUs online. Over TCP \
                only a single queue counts.",
        why: "CPUs that share a queue share its lock and its interrupt. A single queue for all \
              CPUs is a bottleneck from a few hundred thousand requests a second; below that it \
              hardly shows.",
        fix: "check MSI-X vectors and nvme.poll_queues/write_queues; many small drives offer no \
              more; over TCP, connect without --nr-io-queues=1",
        tune: None,
        check: Check::Nvme(few_queues),
    },
    Rule {
        id: "SW-NVME-003",
        about: "the NVMe controller has no message-signalled interrupts",
        means: "All completions come over one line interrupt on one CPU.",
        known: "No vector in msi_irqs of the PCI function.",
        why: "One CPU handles the completions of all CPUs; latency and rate suffer severely.",
        fix: "remove pci=nomsi from the kernel's command line; look for a firmware update",
        tune: None,
        check: Check::Nvme(line_interrupt),
    },
    Rule {
        id: "SW-NVME-004",
        about: "only one path of a multipath NVMe namespace is left",
        means: "The subsystem has several controllers and the namespace is reached through one \
                live path.",
        known: "The paths below the multipath head and the state of their controllers.",
        why: "The next failure makes the disk unreachable.",
        fix: "sudo nvme list-subsys shows the paths; bring the missing controller back",
        tune: None,
        check: Check::Device(last_path),
    },
    Rule {
        id: "SW-NVME-005",
        about: "multipath uses one of several paths",
        means: "The policy numa sends everything over the nearest path, so a second path on the \
                same memory node stays idle.",
        known: "iopolicy is numa, the head has two or more live paths, all on one node.",
        why: "Two paths carry up to twice as much with round-robin or queue-depth.",
        fix: "echo round-robin into iopolicy of the NVMe subsystem",
        tune: Some("Set iopolicy on trial."),
        check: Check::Device(idle_path),
    },
    Rule {
        id: "SW-NVME-006",
        about: "the NVMe drive is hot",
        means: "The drive is at or above its warning temperature.",
        known: "hwmon's temp1_input against temp1_max and temp1_crit, which the drive itself \
                gives.",
        why: "A hot drive throttles to a fraction of its rate, and one at its critical temperature \
              switches off.",
        fix: "improve its cooling (heat sink, air flow); compare its rate when cool",
        tune: None,
        check: Check::Nvme(hot),
    },
    Rule {
        id: "SW-NVME-007",
        about: "the NVMe drive's host memory buffer is off",
        means: "The drive keeps its mapping table in host memory, and the kernel gave it none.",
        known: "hmb of the controller is 0. The attribute exists only if the drive requests a host \
                memory buffer.",
        why: "Random reads over a large part of the drive are slower: each may have to read the \
              mapping from flash first.",
        fix: "echo 1 into hmb of the controller, as root; if it stays 0, raise \
              nvme.max_host_mem_size_mb on the kernel's command line",
        tune: None,
        check: Check::Nvme(no_host_memory),
    },
];

fn not_live(_: &Observed<'_>, _: &Device, nvme: &NvmeFacts) -> Option<Found> {
    let state = nvme.state.as_ref().filter(|s| s.value != "live")?;
    let title = format!("its controller {} is {}", nvme.controller, state.value);
    Some(Found::error(title).fact("state", state))
}

fn few_queues(input: &Observed<'_>, d: &Device, nvme: &NvmeFacts) -> Option<Found> {
    let queues = nvme.io_queues.as_ref()?;
    let cpus = input.inspection.host.cpus.as_ref()?;
    // Between half and all CPUs two share a queue at most, which does not show. Over TCP a few
    // connections carry what the network does.
    let enough = queues.value > 1 && is(&d.transport, "nvme-tcp");
    if queues.value == 0 || queues.value * 2 > cpus.value || enough {
        return None;
    }
    let alone = queues.value == 1 && cpus.value >= 4;
    let severity = if alone { Severity::Warning } else { Severity::Info };
    let title = match queues.value {
        1 => format!("one queue for {} CPUs", cpus.value),
        several => format!("{several} queues for {} CPUs", cpus.value),
    };
    Some(Found::new(severity, title).fact("I/O queues", queues).fact("CPUs", cpus))
}

fn line_interrupt(_: &Observed<'_>, d: &Device, nvme: &NvmeFacts) -> Option<Found> {
    let interrupt = d.detail.controller()?.interrupt.as_ref()?;
    (interrupt.value == "intx").then(|| {
        Found::warning(format!("{} has no MSI-X", nvme.controller)).fact("interrupt", interrupt)
    })
}

fn live_paths(head: &Device) -> Vec<&NvmeFacts> {
    let paths = head.below.iter().filter_map(|p| p.detail.nvme.as_ref());
    paths.filter(|n| n.state.as_ref().is_none_or(|s| s.value == "live")).collect()
}

fn last_path(_: &Observed<'_>, head: &Device) -> Option<Found> {
    if head.kind != DeviceKind::MultipathHead {
        return None;
    }
    let live = live_paths(head).len();
    let known = head.below.iter().find_map(|p| p.detail.nvme.as_ref()?.controllers.as_ref());
    let wanted = known.map_or(head.below.len(), |c| c.value as usize).max(head.below.len());
    let from = known.map(|c| c.from.clone()).or_else(|| Some(head.below.first()?.name.clone()));
    (live < 2 && wanted > 1).then(|| {
        Found::warning(format!("{live} of {wanted} paths left"))
            .seen(format!("{live} live of {wanted}"), from.unwrap_or_default())
    })
}

fn idle_path(_: &Observed<'_>, head: &Device) -> Option<Found> {
    if head.kind != DeviceKind::MultipathHead {
        return None;
    }
    let live = live_paths(head);
    let policy = live.first()?.io_policy.as_ref().filter(|p| p.value == "numa")?;
    let node = |n: &&NvmeFacts| n.numa_node.as_ref().map(|f| f.value);
    let same = live.iter().all(|n| node(n) == node(&live[0]));
    (live.len() > 1 && same).then(|| {
        Found::info(format!("one of {} paths is used", live.len()))
            .fact("policy", policy)
            .remedy(format!("echo round-robin | sudo tee {}", policy.from))
    })
}

fn hot(_: &Observed<'_>, d: &Device, nvme: &NvmeFacts) -> Option<Found> {
    let now = nvme.temperature_mc.as_ref()?;
    // A limit of 0 K is what a drive without one gives.
    let over = |limit: &Option<Fact<i64>>| {
        limit.as_ref().is_some_and(|l| l.value > 0 && now.value >= l.value)
    };
    let severity = if over(&nvme.temperature_critical_mc) {
        Severity::Error
    } else if over(&nvme.temperature_max_mc) {
        Severity::Warning
    } else {
        return None;
    };
    let celsius = |mc: i64| format!("{} °C", mc / 1000);
    let limit = nvme.temperature_max_mc.as_ref().or(nvme.temperature_critical_mc.as_ref())?;
    Some(
        Found::new(severity, format!("the drive has {}", celsius(now.value)))
            .seen(format!("temperature {}", celsius(now.value)), &now.from)
            .seen(format!("it warns at {}", celsius(limit.value)), &limit.from)
            .facts("driver", d.driver.as_ref().filter(|_| !text(&d.driver).is_empty())),
    )
}

fn no_host_memory(_: &Observed<'_>, _: &Device, nvme: &NvmeFacts) -> Option<Found> {
    let given = nvme.host_memory.as_ref().filter(|given| !given.value)?;
    Some(
        Found::warning("its host memory buffer is off")
            .seen("hmb 0", &given.from)
            .remedy(format!("echo 1 | sudo tee {}", given.from)),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet};
    use seekwell_inspect::DeviceKind;

    /// A multipath head with two paths.
    fn head() -> Machine {
        let mut machine = nvme();
        machine.nvme().controllers = fact(2, "subsystem");
        let path = machine.disk().clone();
        let head = machine.disk();
        head.kind = DeviceKind::MultipathHead;
        *head.detail = seekwell_inspect::facts::Detail::default();
        for (name, controller) in [("nvme0c0n1", "nvme0"), ("nvme0c1n1", "nvme1")] {
            let mut path = path.clone();
            path.name = name.into();
            let facts = path.detail.nvme.as_mut().unwrap();
            facts.controller = controller.into();
            facts.io_policy = fact("round-robin".into(), "iopolicy");
            head.below.push(path);
        }
        machine
    }

    pub(crate) fn all() -> Vec<Case> {
        vec![
            fires("SW-NVME-001", nvme, |m| m.nvme().state = fact("resetting".into(), "state"))
                .error(),
            quiet("SW-NVME-001", nvme, |m| m.nvme().state = None),
            fires("SW-NVME-002", nvme, |m| m.nvme().io_queues = fact(1, "queue_count")).warning(),
            fires("SW-NVME-002", nvme, |m| m.nvme().io_queues = fact(2, "queue_count")).info(),
            quiet("SW-NVME-002", nvme, |m| m.nvme().io_queues = fact(5, "queue_count")),
            fires("SW-NVME-003", nvme, |m| m.controller().interrupt = fact("intx".into(), "irq"))
                .warning(),
            quiet("SW-NVME-003", nvme, |m| m.controller().interrupt = None),
            fires("SW-NVME-004", head, |m| {
                let path = &mut m.disk().below[1];
                path.detail.nvme.as_mut().unwrap().state = fact("connecting".into(), "state");
                path.kind = DeviceKind::Disk;
            })
            .warning(),
            quiet("SW-NVME-004", head, |_| ()),
            fires("SW-NVME-005", head, |m| {
                for path in &mut m.disk().below {
                    path.detail.nvme.as_mut().unwrap().io_policy = fact("numa".into(), "iopolicy");
                }
            })
            .info(),
            quiet("SW-NVME-005", head, |m| {
                for (node, path) in (0..).zip(&mut m.disk().below) {
                    let facts = path.detail.nvme.as_mut().unwrap();
                    facts.io_policy = fact("numa".into(), "iopolicy");
                    facts.numa_node = fact(node, "numa_node");
                }
            }),
            fires("SW-NVME-006", nvme, |m| m.nvme().temperature_mc = fact(81000, "t")).warning(),
            fires("SW-NVME-006", nvme, |m| m.nvme().temperature_mc = fact(86000, "t")).error(),
            quiet("SW-NVME-006", nvme, |m| {
                m.nvme().temperature_max_mc = fact(-273_150, "temp1_max");
                m.nvme().temperature_critical_mc = None;
            }),
            fires("SW-NVME-007", nvme, |m| m.nvme().host_memory = fact(false, "hmb")).warning(),
            quiet("SW-NVME-007", nvme, |m| m.nvme().host_memory = fact(true, "hmb")),
            quiet("SW-NVME-007", nvme, |m| m.nvme().host_memory = None),
        ]
    }
}
