//! Whether the processor and not the disk was the limit, and how fast it may run.

use crate::look::main_rate;
use crate::words::{evidence, fact, ns, per_s, quote};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Device;
use seekwell_runs::limits::{Confidence, PhaseLimit, Station};
use seekwell_runs::{Phase, PhaseId, Repeat};
use seekwell_sys::{DEEP_IDLE_US, cpu_list};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: LIMIT,
        about: "the CPU was the limit, not the disk",
        means: "At the highest rate the threads that issue requests had no CPU time left.",
        known: "In the phase with the most requests a second, the issuing threads used at least 90 \
                % of the CPU time they could have had. The cached-read phase is not judged.",
        why: "with its issuing threads busy all the time, the disk was never asked for more; its \
              own limit lies above this number",
        fix: "measure with more threads: seekwell bench --numjobs=4",
        tune: None,
        check: Check::Run(limit),
    },
    Rule {
        id: "SW-CPU-002",
        about: "the processors are held at their lowest frequency",
        means: "The frequency governor never raises the processors' frequency.",
        known: "The governor is powersave and the driver is neither intel_pstate nor \
                amd-pstate-epp, whose powersave governor follows the load. The disk is not \
                rotational.",
        why: "Every request takes processor time, so the rates of a fast disk fall with the \
              frequency.",
        fix: "sudo seekwell tune try DISK cpu.governor=schedutil, or performance while you measure",
        tune: Some("Set cpu.governor."),
        check: Check::Host(held_slow),
    },
    Rule {
        id: "SW-CPU-004",
        about: "one CPU takes all interrupts of a disk's controller",
        means: "The controller has a vector for each of several queues, and all of them interrupt \
                the same CPU.",
        known: "Four or more message vectors, on a machine of four or more CPUs, have the same \
                effective_affinity_list.",
        why: "Completions of all queues are processed one after the other: that CPU is the limit \
              long before the disk is.",
        fix: "start irqbalance, or spread them with sudo seekwell tune try, irq_affinity.N=CPU",
        tune: Some("Set irq_affinity of each vector."),
        check: Check::Device(one_cpu),
    },
    Rule {
        id: ASLEEP,
        about: "waking an idle CPU may be much of a read's latency",
        means: "With one request at a time the CPU sleeps while it waits, and has to wake up \
                for each completion.",
        known: "The deepest idle state that is not disabled takes at least a quarter of the mean \
                latency of random reads at depth 1 to leave. Where idle states are counted \
                during the run, those that take at least 20 µs to leave were entered once for two \
                of these reads or more often.",
        why: "The deeper the idle state, the longer the CPU takes to leave it. What that adds to a \
              read depends on which state the idle governor chose, so measure it.",
        fix: "sudo seekwell tune auto DISK --rw=randread --iodepth=1 compares reads with idle \
              states and without them",
        tune: Some("Try cpu.idle_latency=n/a, or the longest exit latency that you can afford."),
        check: Check::Run(asleep),
    },
    Rule {
        id: "SW-CPU-006",
        about: "this process may only run on CPUs of another memory node than the disk's",
        means: "A cpuset, taskset or a container keeps this process away from the CPUs that are \
                next to the disk's controller.",
        known: "Cpus_allowed_list of the process and local_cpulist of the controller have no CPU \
                in common.",
        why: "Each request and all of its data cross the link between the nodes: latencies are \
              higher, and fast drives together can fill that link.",
        fix: "measure on the disk's own node: numactl --cpunodebind=NODE --membind=NODE seekwell …",
        tune: None,
        check: Check::Device(far),
    },
];
const LIMIT: &str = "SW-CPU-001";
const ASLEEP: &str = "SW-CPU-005";

fn limit(input: &Observed<'_>) -> Option<Found> {
    let rated = input.phases().iter().filter(|p| !p.is(PhaseId::CachedRead));
    let (phase, rate) = rated
        .filter_map(|p| Some((p, main_rate(p)?.1.median)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let by_processor = |l: &&PhaseLimit| {
        let shown = (l.by, l.confidence) == (Station::Processor, Confidence::Shown);
        shown && l.phase == phase.name
    };
    let limit = input.limits.iter().find(by_processor)?;
    let mut proof = vec![evidence(format!("the highest rate: {}", per_s(rate)), &phase.name)];
    proof.extend(limit.evidence.iter().cloned());
    if let Some(cost) = phase.median("cpu_ns_per_request") {
        proof.push(evidence(format!("CPU time for each request: {}", ns(cost)), &phase.name));
    }
    if let Some(cost) = input.engine.and_then(|e| e.cost_ns_per_request) {
        let seen = format!("of it seekwell's own: {}", ns(cost));
        proof.push(evidence(seen, "the null target"));
    }
    proof.extend(input.inspection.host.cpus.as_ref().map(|c| fact("CPUs", c)));
    let mitigations = input.inspection.host.mitigations.iter();
    proof.extend(mitigations.map(|m| fact("mitigation that each system call pays", m)));
    Some(
        Found::info("The highest rate is the processor's limit and not the disk's")
            .evidence(proof)
            .remedy(format!(
                "measure with more threads: seekwell bench --on {} --rw=randread \
             --bs=4k --iodepth=64 --numjobs=4 --runtime=10s",
                quote(&input.inspection.target)
            )),
    )
}

fn held_slow(input: &Observed<'_>) -> Option<Found> {
    /// Drivers whose `powersave` governor follows the load.
    const FOLLOWS: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];
    let power = &input.inspection.host.power;
    let governor = power.governor.as_ref().filter(|g| g.value == "powersave")?;
    let driver = power.driver.as_ref().filter(|d| !FOLLOWS.contains(&d.value.as_str()))?;
    let is_solid = |d: &&Device| d.queue.rotational.as_ref().is_some_and(|r| !r.value);
    input.inspection.disks().into_iter().find(|d| is_solid(d) && !input.is_virtual(d))?;
    Some(
        Found::warning("The processors are held at their lowest frequency")
            .fact("frequency governor", governor)
            .fact("frequency driver", driver),
    )
}

fn one_cpu(input: &Observed<'_>, d: &Device) -> Option<Found> {
    const SEVERAL: u64 = 4;
    let cpus = input.inspection.host.cpus.as_ref().filter(|n| n.value >= SEVERAL)?;
    let controller = d.detail.controller().filter(|c| c.vectors >= SEVERAL)?;
    let taken = controller.vector_cpus.as_ref().filter(|n| n.value == 1)?;
    Some(
        Found::warning("one CPU takes all interrupts of its controller")
            .seen(format!("{} vectors interrupt one CPU", controller.vectors), &taken.from)
            .fact("CPUs", cpus),
    )
}

fn asleep(input: &Observed<'_>) -> Option<Found> {
    const MUCH: f64 = 0.25;
    /// Of all reads; a few CPUs that have nothing to do with the run go to sleep meanwhile, too.
    const OFTEN: f64 = 0.5;
    let one = PhaseId::RandomRead(1);
    let latency_ns = input.phase(one)?.median("read.latency_ns_mean")?;
    let power = &input.inspection.host.power;
    let exit =
        power.idle_exit_us.as_ref().filter(|us| us.value as f64 * 1e3 >= MUCH * latency_ns)?;
    let per_read = deep_idles_per_request(input.phase(one)?);
    if per_read.is_some_and(|times| times < OFTEN) {
        return None;
    }
    let counted = per_read.map(|times| {
        let deep = format!("an idle state that takes at least {DEEP_IDLE_US} µs to leave");
        let from = "/sys/devices/system/cpu/cpu*/cpuidle";
        evidence(format!("CPUs went {times:.2} times a read into {deep}"), from)
    });
    Some(
        Found::info("Waking an idle CPU may be much of a read's latency")
            .evidence(vec![evidence(format!("latency of one read: {}", ns(latency_ns)), one)])
            .seen(format!("the deepest idle state takes {} µs to leave", exit.value), &exit.from)
            .evidence(counted)
            .remedy(format!(
                "sudo seekwell tune auto {} --rw=randread --iodepth=1 measures it",
                quote(&input.inspection.target)
            )),
    )
}

fn far(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let allowed = input.inspection.host.allowed_cpus.as_ref()?;
    let controller = d.detail.controller()?;
    let (node, local) = (controller.numa_node.as_ref()?, controller.local_cpus.as_ref()?);
    let [ours, its] = [allowed, local].map(|list| cpu_list(&list.value));
    let node = node.value;
    ours?.is_disjoint(&its?).then(|| {
        Found::info(format!("this process may not run on any CPU of its memory node {node}"))
            .fact("CPUs of this process", allowed)
            .fact("CPUs of the controller's node", local)
            .remedy(format!(
                "numactl --cpunodebind={node} --membind={node} seekwell …, or give the cpuset of \
                 this process CPUs of node {node}"
            ))
    })
}

/// How often CPUs went into deep idle states for each request of a phase, where that was counted.
/// The share of time that they spent there would say less: on a machine with many CPUs most of them
/// sleep whatever the one does that waits for the disk.
fn deep_idles_per_request(phase: &Phase) -> Option<f64> {
    let requests = |r: &Repeat| r.ops.values().map(|op| op.requests).sum::<u64>() as f64;
    let counts =
        phase.repeats.iter().map(|r| Some((*r.values.get(Repeat::DEEP_IDLES)?, requests(r))));
    let sum = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    let (deep, requests) = counts.flatten().reduce(sum)?;
    (requests > 0.0).then(|| deep / requests)
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet, sata_hdd};

    fn frequency(governor: &'static str, driver: &'static str) -> impl Fn(&mut Machine) {
        move |m| {
            let power = &mut m.inspection.host.power;
            power.governor = fact(governor.to_owned(), "scaling_governor");
            power.driver = fact(driver.to_owned(), "scaling_driver");
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let interrupted = |vectors: u64, cpus: u64| {
            move |m: &mut Machine| {
                m.controller().vectors = vectors;
                m.controller().vector_cpus = fact(cpus, "effective_affinity_list");
            }
        };
        let bound = |allowed: &'static str| {
            move |m: &mut Machine| {
                m.inspection.host.allowed_cpus = fact(allowed.to_owned(), "status");
                m.controller().numa_node = fact(1, "numa_node");
                m.controller().local_cpus = fact("8-15,24-31".to_owned(), "local_cpulist");
            }
        };
        vec![
            fires("SW-CPU-006", nvme, bound("0-7,16-23")).info(),
            quiet("SW-CPU-006", nvme, bound("0-8")),
            quiet("SW-CPU-006", nvme, bound("0-7")).and(|m| m.inspection.host.allowed_cpus = None),
            fires("SW-CPU-004", nvme, interrupted(9, 1)).warning(),
            quiet("SW-CPU-004", nvme, interrupted(9, 8)),
            quiet("SW-CPU-004", nvme, interrupted(2, 1)),
            quiet("SW-CPU-004", nvme, interrupted(9, 1))
                .and(|m| m.inspection.host.cpus = fact(2, "cpus")),
            fires("SW-CPU-002", nvme, frequency("powersave", "acpi-cpufreq")).warning(),
            quiet("SW-CPU-002", nvme, frequency("powersave", "intel_pstate")),
            quiet("SW-CPU-002", nvme, frequency("schedutil", "acpi-cpufreq")),
            quiet("SW-CPU-002", sata_hdd, frequency("powersave", "acpi-cpufreq")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_runs::OpSummary;

    fn busy(case: Case, percent: f64) -> Case {
        case.with(|c| c.set("rand-read-4k-d256", "cpu_percent", percent))
    }

    #[test]
    fn a_busy_thread_at_the_highest_rate_is_a_finding() {
        let f = busy(Case::nvme(), 97.0).finding(LIMIT);
        assert!(f.evidence[0].seen.contains("530k requests/s"), "{f:?}");
        assert!(f.evidence[1].seen.starts_with("97 % "), "{f:?}");
        assert!(f.evidence.iter().any(|e| e.seen.contains("seekwell's own: 120 ns")), "{f:?}");
        assert!(f.remedy.contains("--on /srv "), "{f:?}");
    }

    #[test]
    fn a_busy_thread_elsewhere_or_a_busy_page_cache_test_is_none() {
        let elsewhere = |c: &mut Case| c.set("rand-read-4k-d1", "cpu_percent", 99.0);
        Case::nvme().with(elsewhere).quiet(LIMIT);
        assert_eq!(Case::nvme().phase_mut(PhaseId::CachedRead).median("cpu_percent"), Some(99.0));
        busy(Case::nvme(), 85.0).quiet(LIMIT);
    }

    #[test]
    fn an_idle_state_that_takes_long_to_leave_is_told_beside_short_reads_alone() {
        let exit = |us: u64| {
            move |c: &mut Case| c.inspection.host.power.idle_exit_us = fact(us, "state3/latency")
        };
        let read = |c: &mut Case| c.set("rand-read-4k-d1", "read.latency_ns_mean", 80e3);
        let f = Case::nvme().with(read).with(exit(133)).finding(ASLEEP);
        assert!(f.evidence[1].seen.contains("133 µs"), "{f:?}");
        Case::nvme().with(read).with(exit(10)).quiet(ASLEEP);
        Case::nvme().with(read).quiet(ASLEEP);
    }

    #[test]
    fn idle_states_that_were_hardly_entered_cost_no_read_anything() {
        let entered = |count: f64| {
            Case::nvme().with(|c| {
                c.inspection.host.power.idle_exit_us = fact(133, "state3/latency");
                for repeat in &mut c.phase_mut("rand-read-4k-d1").repeats {
                    let read = OpSummary { requests: 8000, ..OpSummary::default() };
                    repeat.ops.insert("read".into(), read);
                    repeat.values.insert("deep_idle_count".into(), count);
                }
            })
        };
        let f = entered(7600.0).finding(ASLEEP);
        assert!(f.evidence[2].seen.starts_with("CPUs went 0.95 times a read into"), "{f:?}");
        entered(300.0).quiet(ASLEEP);
    }

    #[test]
    fn mitigations_are_part_of_what_a_request_costs() {
        let paid = |c: &mut Case| {
            c.inspection.host.mitigations.extend(fact("meltdown: PTI".into(), "meltdown"));
        };
        let f = busy(Case::nvme(), 97.0).with(paid).finding(LIMIT);
        let seen = f.evidence.last().map(|e| e.seen.as_str());
        assert_eq!(seen, Some("mitigation that each system call pays: meltdown: PTI"));
    }

    #[test]
    fn a_pool_of_threads_may_use_more_than_one_cpu() {
        let pool = |c: &mut Case| c.engine.as_mut().expect("an engine").name = "threads".into();
        busy(Case::nvme(), 400.0).with(pool).quiet(LIMIT);
        busy(Case::nvme(), 780.0).with(pool).finding(LIMIT);
        let two = |c: &mut Case| c.inspection.host.cpus = fact(2, "/proc/cpuinfo");
        busy(Case::nvme(), 190.0).with(pool).with(two).finding(LIMIT);
    }
}
