//! Disks that together do less than each alone, and what they share.

use crate::look::HONEST_SHARE;
use crate::words::{bytes_per_s, evidence, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Severity, Shared, SharedKind};
use seekwell_runs::Study;
use seekwell_runs::together::{Comparison, Ratio, Together};

pub(super) const RULES: &[Rule] = &[Rule {
    id: LESS,
    about: "disks reach less together than the sum of what each reaches alone",
    means: "The disks were read one at a time and then at the same time, in turn. Together they \
            were slower than the sum of the parts, so they share something that is full.",
    known: "The 95 % interval of together over the sum of the parts, over interleaved rounds, lies \
            below 95 %. What the disks share is read from their attachment: the device below \
            them, PCI Express links, PCI buses, controllers, ATA ports, USB hubs. A shared part \
            explains the loss where what went through it is near what it carries after line \
            coding (80 % of a link, 60 % of a PCI bus or USB, whose protocols take the rest); \
            processors that were busy for 90 % of the time explain it where no part does.",
    why: "whatever uses these disks at the same time, an array above all, gets the rate of what \
          they share and not the sum of the disks",
    fix: "move one of the disks to a port, slot or controller that does not share this part",
    tune: None,
    check: Check::Run(less),
}];
const LESS: &str = "SW-SHARE-001";

/// Processors so busy leave no time to issue requests, in percent.
const BUSY: f64 = 90.0;

/// What a loss comes from.
enum Cause<'a> {
    /// A cache answered, and not the disks.
    Cache,
    /// All of them stand on this device.
    Below(&'a Shared),
    /// A part carries as much as it can.
    Full(&'a Shared),
    /// The processors have no time left.
    Busy(f64),
    /// A part is shared whose limit is not known.
    Unknown(&'a Shared),
    /// What is shared is far from its limit, or nothing is known to be shared.
    Nothing,
}

fn cause<'a>(together: &'a Together, of: &Comparison) -> Cause<'a> {
    let among = |s: &&Shared| {
        s.targets.iter().filter(|t| of.parts.iter().any(|p| p.target == **t)).count() > 1
    };
    let shared = || together.shared.iter().filter(among);
    let is_device = |s: &&Shared| s.kind == SharedKind::Device;
    let busy = of.busy_percent.filter(|busy| *busy >= BUSY);
    if of.reached.is_some_and(|reached| reached < HONEST_SHARE) {
        return busy.map_or(Cause::Cache, Cause::Busy);
    }
    match (shared().find(is_device), of.full(&together.shared), busy) {
        (Some(device), ..) => Cause::Below(device),
        (None, Some(full), _) => Cause::Full(full),
        (None, None, Some(busy)) => Cause::Busy(busy),
        (None, None, None) => {
            shared().find(|s| s.bytes_per_s.is_none()).map_or(Cause::Nothing, Cause::Unknown)
        }
    }
}

fn less(input: &Observed<'_>) -> Option<Found> {
    let Some(Study::Together(together)) = input.study else { return None };
    let loss = |of: &'_ Comparison| of.efficiency.filter(Ratio::is_less);
    let lost = together.workloads.iter().filter_map(|of| Some((of, loss(of)?)));
    let mut lost: Vec<_> = lost.collect();
    // The worst first: it heads the finding, and what explains it is named.
    lost.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let (worst, efficiency) = *lost.first()?;
    let cause = cause(together, worst);
    let (why, severity) = match &cause {
        Cause::Cache => ("a cache answered, and not the disks".to_owned(), Severity::Warning),
        Cause::Below(s) => (format!("they stand on the same {}", s.about), Severity::Info),
        Cause::Full(s) => (format!("the {} is full", s.about), Severity::Warning),
        Cause::Busy(busy) => {
            (format!("the processors were busy for {busy:.0} % of the time"), Severity::Warning)
        }
        Cause::Unknown(s) => (format!("they share the {}", s.about), Severity::Warning),
        Cause::Nothing => ("nothing they share explains it".to_owned(), Severity::Warning),
    };
    let title = format!("together {} of the sum of the parts: {why}", percent(efficiency.ratio));
    let measured = |(of, e): &(&Comparison, Ratio)| {
        let (together, alone) = (of.together.bytes_per_s, of.alone.bytes_per_s);
        let seen = format!(
            "{}: {} together, {} the sum of the parts: {} ({} … {}, {} rounds)",
            of.title,
            bytes_per_s(together),
            bytes_per_s(alone),
            percent(e.ratio),
            percent(e.low),
            percent(e.high),
            of.rounds.len(),
        );
        evidence(seen, format!("{} together", of.workload))
    };
    let through = |s: &Shared| {
        let went = worst.through(s);
        let most = s.bytes_per_s.map(|most| {
            format!(" of {} that it carries ({})", bytes_per_s(most), percent(went / most))
        });
        let (who, went) = (s.targets.join(" and "), bytes_per_s(went));
        evidence(
            format!(
                "{who} share the {}: {went} went through it{}",
                s.about,
                most.unwrap_or_default()
            ),
            &s.from,
        )
    };
    let mut found = Found::new(severity, title)
        .evidence(lost.iter().map(measured))
        .evidence(together.shared.iter().map(through));
    if let Some(reached) = worst.reached {
        let seen = format!("{} of the bytes asked for reached the device below", percent(reached));
        found = found.evidence([evidence(seen, "/sys/dev/block/*/stat")]);
    }
    if let Some(busy) = worst.busy_percent {
        found = found.seen(format!("processors busy: {busy:.0} %"), "/proc/stat");
    }
    Some(match cause {
        Cause::Cache => found.remedy(
            "losetup --direct-io=on for loop devices; name disks and not files that memory holds",
        ),
        Cause::Below(_) => found.remedy("nothing: it is one device, whatever stands on it"),
        Cause::Busy(_) => found.remedy(
            "use larger requests or a machine with more processors; see what else runs (top)",
        ),
        Cause::Nothing if input.inspection.host.virtualization.is_some() => found.remedy(
            "ask who runs the host: what the disks of a virtual machine share there cannot be \
             seen from inside",
        ),
        Cause::Full(_) | Cause::Unknown(_) | Cause::Nothing => found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use seekwell_runs::together::{Part, Rate};

    const LINK: f64 = 985e6;

    fn rate(bytes_per_s: f64) -> Rate {
        Rate { requests_per_s: bytes_per_s / (1 << 20) as f64, bytes_per_s }
    }

    fn part(target: &str, together: f64) -> Part {
        Part {
            target: target.into(),
            alone_phase: format!("{target}/seq-read-1m/alone"),
            together_phase: format!("{target}/seq-read-1m/together"),
            alone: rate(760e6),
            together: rate(together),
        }
    }

    fn shared(kind: SharedKind, bytes_per_s: Option<f64>) -> Shared {
        Shared {
            kind,
            name: "0000:00:1c.0".into(),
            about: "link of bridge 0000:00:1c.0".into(),
            targets: vec!["nvme0n1".into(), "nvme1n1".into()],
            bytes_per_s,
            from: "current_link_speed".into(),
        }
    }

    /// Two disks of 760 MB/s each.
    fn case(together: f64, shared: Vec<Shared>, busy: f64) -> Case {
        let ratio = together / 1520e6;
        let comparison = Comparison {
            workload: "seq-read-1m".into(),
            title: "sequential read 1 MiB, depth 4".into(),
            parts: vec![part("nvme0n1", together / 2.0), part("nvme1n1", together / 2.0)],
            alone: rate(1520e6),
            together: rate(together),
            rounds: vec![ratio; 6],
            efficiency: Some(Ratio { ratio, low: ratio - 0.02, high: ratio + 0.02 }),
            reached: Some(1.0),
            busy_percent: Some(busy),
        };
        let study = Together { targets: Vec::new(), workloads: vec![comparison], shared };
        Case::nvme().with(|c| c.study = Some(Study::Together(Box::new(study))))
    }

    #[test]
    fn a_full_link_is_named_with_what_went_through_it() {
        let f = case(930e6, vec![shared(SharedKind::PcieLink, Some(LINK))], 20.0).finding(LESS);
        assert_eq!(f.severity, Severity::Warning);
        assert_eq!(
            f.title,
            "together 61 % of the sum of the parts: the link of bridge 0000:00:1c.0 is full"
        );
        let seen = &f.evidence[1].seen;
        assert!(seen.contains("930 MB/s went through it of 985 MB/s that it carries"), "{seen}");
    }

    #[test]
    fn the_device_below_the_processors_and_an_unknown_limit_explain_a_loss_in_this_order() {
        let device = || vec![shared(SharedKind::Device, None)];
        let hba = || vec![shared(SharedKind::Controller, None)];
        let idle_link = || vec![shared(SharedKind::PcieLink, Some(8e9))];
        for (shared, busy, why, severity) in [
            (device(), 99.0, "they stand on the same", Severity::Info),
            (hba(), 99.0, "the processors were busy for 99 %", Severity::Warning),
            (hba(), 10.0, "they share", Severity::Warning),
            (idle_link(), 10.0, "nothing they share explains it", Severity::Warning),
            (Vec::new(), 10.0, "nothing they share explains it", Severity::Warning),
        ] {
            let f = case(760e6, shared, busy).finding(LESS);
            assert!(f.title.contains(why), "{why}: {}", f.title);
            assert_eq!(f.severity, severity);
        }
    }

    #[test]
    fn what_a_cache_answered_is_not_laid_to_the_device_below() {
        for (busy, why) in [(20.0, "a cache answered"), (96.0, "the processors were busy")] {
            let mut case = case(760e6, vec![shared(SharedKind::Device, None)], busy);
            if let Some(Study::Together(together)) = &mut case.study {
                together.workloads[0].reached = Some(0.02);
            }
            let f = case.finding(LESS);
            assert!(f.title.contains(why), "{}", f.title);
            assert!(f.evidence.iter().any(|e| e.seen.contains("2 % of the bytes")), "{f:?}");
        }
    }

    #[test]
    fn disks_that_lose_nothing_together_are_no_finding() {
        case(1500e6, vec![shared(SharedKind::PcieLink, Some(LINK))], 99.0).quiet(LESS);
    }
}
