//! A bus or link that all members of an array share.

use crate::words::{bytes_per_s, evidence, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Device;

pub(super) const RULES: &[Rule] = &[Rule {
    id: SHARED,
    about: "a shared bus or link is the limit of the array",
    means: "The members together are faster than the way to them.",
    known: "The best sequential rate of an array is at least 75 % of what a bus or link that all \
            its members share carries: the PCI Express link of one controller, a parallel \
            PCI or SCSI bus. Single disks are not judged.",
    why: "more or faster disks gain nothing; PCI at 32 bits and 33 MHz carries 133 MB/s, which two \
          disks of 2008 fill",
    fix: "put the controller into a wider or faster slot, or divide the members between two \
          controllers",
    tune: None,
    check: Check::Run(shared),
}];
const SHARED: &str = "SW-ARRAY-001";

/// Headers, arbitration and waits take up to a quarter of what a bus or link carries.
const USED_UP: f64 = 0.75;

/// A bus or link: its name, bytes a second, and where they were read.
type Way = (String, f64, String);

fn shared(input: &Observed<'_>) -> Option<Found> {
    let (phase, rate) = input.best_sequential()?;
    // A controller's cache answers faster than the bus to its members.
    let used_up = |way: &Way| (USED_UP * way.1..=1.05 * way.1).contains(&rate);
    let (name, most, from) = ways(input)?.into_iter().find(used_up)?;
    let top = input.inspection.device.as_ref()?;
    Some(Found::warning(format!("{}: {name} limits the whole array", top.name)).evidence([
        evidence(
            format!("the best sequential rate: {}, {}", bytes_per_s(rate), percent(rate / most)),
            &phase.name,
        ),
        evidence(format!("{name} carries at most {}", bytes_per_s(most)), from),
    ]))
}

/// What all members of an array share; `None` of a target that is not one.
fn ways(input: &Observed<'_>) -> Option<Vec<Way>> {
    let members: Vec<&Device> = input.inspection.disks();
    let first = members.first()?;
    if members.len() < 2 && first.detail.raid_controller().is_none() {
        return None;
    }
    let channels = first.detail.channels.iter();
    let mut ways: Vec<Way> =
        channels.map(|c| (c.value.name.clone(), c.value.bytes_per_s, c.from.clone())).collect();
    for function in &first.detail.pci {
        let common = members
            .iter()
            .all(|m| m.detail.pci.iter().any(|other| other.address == function.address));
        if let Some(link) = function.link.as_ref().filter(|_| common) {
            let name = format!("the PCI Express link of {}", function.address);
            ways.push((name, link.value.gigabytes_per_s() * 1e9, link.from.clone()));
        }
    }
    Some(ways)
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
            c.set("seq-read-1m", "read.rate_bytes_per_s", bytes_per_s);
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
