//! Whether the I/O scheduler suits the kind of device.

use crate::look::ONE_READ;
use crate::words::{evidence, fact, ns, per_s, set_queue};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Severity;

pub(super) const RULES: &[Rule] = &[Rule {
    id: UNFIT,
    about: "the I/O scheduler does not suit the disk",
    means: "A fast NVMe drive has a scheduler that costs it part of its rate, or a rotating \
            disk has none.",
    known: "An NVMe drive reaches 100,000 random reads a second under a scheduler other than none \
            (a warning for bfq, by far the most expensive); or a directly attached disk that \
            rotates, judged by flag and latency, has none. Disks behind RAID controllers are not \
            judged.",
    why: "a scheduler costs CPU time on every request, which pays off only on disks with seeks; \
          without one, a rotating disk makes more seeks, and writes can starve reads",
    fix: "use none on fast NVMe drives and mq-deadline on rotating disks",
    tune: Some("Set the scheduler."),
    check: Check::Run(unfit),
}];
const UNFIT: &str = "SW-SCHED-001";

/// From here on a scheduler's lock and ordering cost a share of the rate that can be measured;
/// below, the device is slower than any scheduler.
const FAST: f64 = 100e3;
/// Controllers that order requests themselves: `none` above them is right.
const OWN_ORDER: [&str; 6] = ["megaraid_sas", "aacraid", "hpsa", "smartpqi", "arcmsr", "mpi3mr"];

fn unfit(input: &Observed<'_>) -> Option<Found> {
    let disk = input.disk()?;
    let scheduler = disk.queue.scheduler.as_ref()?;
    let driver = disk.driver.as_ref().map_or("", |d| d.value.as_str());
    let nvme = disk.transport.as_ref().is_some_and(|t| t.value == "nvme");
    let name = &disk.name;
    let curve = input.curve();
    let best = curve.iter().max_by(|a, b| a.2.total_cmp(&b.2));

    if let Some((_, phase, rate)) = best
        && nvme
        && scheduler.value != "none"
        && *rate >= FAST
    {
        let bfq = scheduler.value == "bfq";
        return Some(
            Found::new(
                if bfq { Severity::Warning } else { Severity::Info },
                format!(
                    "{name}: the scheduler {} costs a fast disk some of its rate",
                    scheduler.value
                ),
            )
            .evidence([fact("scheduler", scheduler), evidence(per_s(*rate), &phase.name)])
            .why(
                "an NVMe disk has a queue for every CPU and no seeks to avoid; a scheduler puts \
                 all requests through one ordered list again, which costs CPU time for each",
            )
            .remedy(set_queue(disk, "scheduler", "none")),
        );
    }
    if scheduler.value != "none" || input.rotates(disk) != Some(true) || OWN_ORDER.contains(&driver)
    {
        return None;
    }
    let mut proof = vec![fact("scheduler", scheduler)];
    proof.extend(disk.queue.rotational.as_ref().map(|r| fact("rotational", r)));
    if let Some(read) = input.one_read_ns() {
        proof.push(evidence(format!("one random read of 4 KiB, median: {}", ns(read)), ONE_READ));
    }
    Some(
        Found::warning(format!("{name} rotates and has no scheduler"))
            .evidence(proof)
            .why(
                "without a scheduler requests reach the disk in arrival order, seeks are not \
                 reduced, and nothing keeps a stream of writes from starving reads",
            )
            .remedy(set_queue(disk, "scheduler", "mq-deadline")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::Device;

    fn scheduler(name: &str) -> impl FnOnce(&mut Device) {
        let name = name.to_owned();
        move |d| d.queue.scheduler = fact(name, "/sys/block/x/queue/scheduler")
    }

    #[test]
    fn bfq_on_a_fast_nvme_disk_is_a_warning_and_a_lighter_one_information() {
        let f = Case::nvme().with_disk(scheduler("bfq")).finding(UNFIT);
        assert_eq!(f.severity, Severity::Warning);
        assert_eq!(f.remedy, "echo none | sudo tee /sys/block/nvme0n1/queue/scheduler");
        let f = Case::nvme().with_disk(scheduler("mq-deadline")).finding(UNFIT);
        assert_eq!(f.severity, Severity::Info);
    }

    #[test]
    fn a_slow_nvme_disk_may_have_a_scheduler() {
        let slow = |c: &mut Case| c.scale("rand-read", "read.requests_per_s", 0.1);
        Case::nvme().with(slow).with_disk(scheduler("mq-deadline")).quiet(UNFIT);
        Case::sata_ssd().with_disk(scheduler("bfq")).quiet(UNFIT);
    }

    #[test]
    fn a_rotating_disk_without_a_scheduler_is_a_finding() {
        let f = Case::hdd().with_disk(scheduler("none")).finding(UNFIT);
        assert_eq!(f.remedy, "echo mq-deadline | sudo tee /sys/block/sdb/queue/scheduler");
        Case::hdd().with_disk(scheduler("bfq")).quiet(UNFIT);
    }

    #[test]
    fn no_scheduler_is_right_above_a_raid_controller_a_host_or_flash() {
        let raid = |d: &mut Device| d.driver = fact("megaraid_sas".into(), "p");
        Case::hdd().with_disk(scheduler("none")).with_disk(raid).quiet(UNFIT);
        Case::sata_ssd().with_disk(scheduler("none")).quiet(UNFIT);
        let rotating = |d: &mut Device| d.queue.rotational = fact(true, "q");
        Case::virtio().with_disk(scheduler("none")).with_disk(rotating).quiet(UNFIT);
    }
}
