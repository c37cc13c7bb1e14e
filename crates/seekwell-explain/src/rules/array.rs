//! A bus or link that all members of an array share.

use crate::words::{bytes_per_s, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_runs::limits::Station;

pub(super) const RULES: &[Rule] = &[Rule {
    id: SHARED,
    about: "a shared bus or link is the limit of the array",
    means: "The members together are faster than the way to them.",
    known: "What limits large transfers is a bus or link that all members share: the PCI Express \
            link of one controller at 75 % of what it carries or more, a parallel PCI or SCSI \
            bus at 60 %. Single disks are not judged.",
    why: "more or faster disks gain nothing; PCI at 32 bits and 33 MHz carries 133 MB/s, which two \
          disks of 2008 fill",
    fix: "put the controller into a wider or faster slot, or divide the members between two \
          controllers",
    tune: None,
    check: Check::Run(shared),
}];
const SHARED: &str = "SW-ARRAY-001";

fn shared(input: &Observed<'_>) -> Option<Found> {
    let limit = input.limited_by(Station::Bus)?;
    let (rate, share) = (limit.measured?, limit.share?);
    let top = input.inspection.device.as_ref()?;
    let best = format!("the best sequential rate: {}, {}", bytes_per_s(rate), percent(share));
    let title = format!("{}: {} limits the whole array", top.name, limit.name);
    Some(Found::warning(title).seen(best, &limit.phase).evidence(limit.evidence.iter().cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::DeviceKind;
    use seekwell_inspect::facts::{PciFunction, PcieLink};

    /// Two disks behind one controller with a link of 250 MB/s, or each behind its own.
    fn two(addresses: [&str; 2], bytes_per_s: f64) -> Case {
        Case::hdd().with(|c| {
            for large in ["seq-read-1m", "rand-read-128k-d8"] {
                c.set(large, "read.rate_bytes_per_s", bytes_per_s);
            }
            let top = c.inspection.device.as_mut().expect("a device");
            top.kind = DeviceKind::Md;
            let mut disk = top.below.remove(0);
            for address in addresses {
                disk.detail.pci = vec![PciFunction {
                    address: address.into(),
                    link: fact(PcieLink { gts: 2.5, width: 1 }, "current_link_speed"),
                    ..PciFunction::default()
                }];
                top.below.push(disk.clone());
            }
        })
    }

    #[test]
    fn an_array_that_fills_the_link_of_its_controller_is_limited_by_it() {
        let f = two(["0000:03:00.0"; 2], 210e6).finding(SHARED);
        assert!(f.title.contains("the PCI Express link of 0000:03:00.0"), "{f:?}");
        assert!(f.evidence[0].seen.ends_with("84 %"), "{f:?}");
        two(["0000:03:00.0"; 2], 150e6).quiet(SHARED);
        two(["0000:03:00.0", "0000:04:00.0"], 240e6).quiet(SHARED);
    }
}
