//! What devices below a target count: what a drive has written, read before and after each
//! run that writes; how long a cloud volume's limits were exceeded; how long the metadata of a thin
//! pool was busy.
//!
//! The pages are asked for between runs and touch no medium. A drive that sleeps, or that this user
//! may not ask, is asked once and then left alone.

use seekwell_checkup::Wear;
use seekwell_inspect::Pages;
use seekwell_inspect::facts::MapperTarget;
use seekwell_inspect::health::{exceeded, health};
use seekwell_inspect::{Device, DeviceKind, Inspection};
use seekwell_runs::Repeat;
use seekwell_sys::{DevId, DiskCounters, Live, View};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the coarsest counter in bytes that is common advances by: NVMe's data units.
const UNIT_BYTES: u64 = 512_000;

/// The drive under a target, as long as it reports.
#[derive(Debug, Default)]
pub struct Counting {
    drive: Option<Device>,
    /// The metadata device of a thin pool.
    metadata: Option<DevId>,
}

impl Counting {
    /// The one drive under a target; none if there are several, or none.
    pub fn under(inspection: &Inspection) -> Self {
        let drive = match inspection.disks()[..] {
            [disk] if disk.kind == DeviceKind::Disk && !disk.dev.is_empty() => Some(disk.clone()),
            _ => None,
        };
        Self { drive, metadata: inspection.device.as_ref().and_then(pool_metadata) }
    }

    /// Times counted so far, in µs, by the names of the values that give their share of a repeat:
    /// how long demand has exceeded each limit of a cloud volume ([`Repeat::EXCEEDED`]), and how
    /// long the metadata of a thin pool has been busy.
    pub fn times(&self) -> BTreeMap<&'static str, i64> {
        let mut times = self.drive.as_ref().map_or_else(BTreeMap::new, |drive| {
            let counted = exceeded(&Pages::new(Live::system()), drive);
            let named = |(measure, name, _)| Some((name, counted.get(&measure)?.value));
            Repeat::EXCEEDED.into_iter().filter_map(named).collect()
        });
        let metadata = self.metadata.and_then(|dev| DiskCounters::read(&Live::system(), dev).ok());
        times.extend(metadata.and_then(|counted| {
            let busy_us = counted.busy_ms.saturating_add(counted.flush_ms).saturating_mul(1000);
            Some((Repeat::POOL_METADATA, i64::try_from(busy_us).ok()?))
        }));
        times
    }

    /// What the drive has counted so far.
    pub fn read(&mut self) -> Option<Wear> {
        let found = wear(&Pages::new(Live::system()), self.drive.as_ref()?);
        if found.is_none() {
            self.drive = None;
        }
        found
    }
}

/// The metadata device of the first thin pool from a device downwards.
fn pool_metadata(device: &Device) -> Option<DevId> {
    let targets = device.detail.mapper.iter().flat_map(|mapper| &mapper.targets);
    let own = targets.filter_map(|target| match &target.value {
        MapperTarget::ThinPool(pool) => pool.metadata_device.parse().ok(),
        _ => None,
    });
    own.chain(device.below.iter().filter_map(pool_metadata)).next()
}

/// What a drive has counted so far, through a view.
pub fn wear(view: &dyn View, drive: &Device) -> Option<Wear> {
    let written = health(view, drive)?.written()?;
    let (host_bytes, media_bytes) = (written.host_bytes, written.media_bytes);
    Some(Wear { host_bytes, media_bytes, unit_bytes: UNIT_BYTES, ..Wear::default() })
}

/// By how much counters in µs grew, in percent of `time`; counters that went backwards are left
/// out.
pub fn shares(
    before: &BTreeMap<&'static str, i64>,
    after: &BTreeMap<&'static str, i64>,
    time: Duration,
) -> BTreeMap<&'static str, f64> {
    let share = |(name, us): (&&'static str, &i64)| {
        let gained = us.checked_sub(*before.get(name)?).filter(|us| *us >= 0)?;
        // The volume updates its counters in steps, which may include time before the run.
        Some((*name, (gained as f64 / 1e4 / time.as_secs_f64()).min(100.0)))
    };
    after.iter().filter_map(share).filter(|(_, share)| share.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_checkup::WentBack;
    use seekwell_inspect::Fact;
    use seekwell_inspect::facts::NvmeFacts;
    use seekwell_inspect::health::Measure;
    use seekwell_sys::fake::Fake;

    fn drive() -> Device {
        let mut drive = Device::new("nvme0n1", "259:0", DeviceKind::Disk);
        drive.detail.nvme =
            Some(NvmeFacts { controller: "nvme0".to_owned(), ..NvmeFacts::default() });
        drive
    }

    /// An NVMe drive after `units` data units from the host; with OCP's page, which says how many
    /// bytes went to its flash, where `media_bytes` is there.
    fn after(units: u64, media_bytes: Option<u64>) -> Fake {
        let page = |fields: &[(usize, Vec<u8>)]| {
            let mut page = vec![0_u8; 4096];
            for (at, bytes) in fields {
                page[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            page
        };
        // Log pages beyond the health log are listed, and the list has C0h.
        let listed = u8::from(media_bytes.is_some()) << 5;
        let fake = Fake::new()
            .bytes("/dev/nvme0/page/identify-01-0", page(&[(261, vec![listed])]))
            .bytes("/dev/nvme0/page/log-00-1024", page(&[(4 * 0xc0, vec![1])]))
            .bytes("/dev/nvme0/page/log-02-512", page(&[(48, units.to_le_bytes().to_vec())]));
        let Some(media_bytes) = media_bytes else { return fake };
        let guid = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5_u128.to_le_bytes();
        let fields = [(0, media_bytes.to_le_bytes().to_vec()), (496, guid.to_vec())];
        fake.bytes("/dev/nvme0/page/log-c0-512", page(&fields))
    }

    fn between(before: &Fake, after: &Fake) -> Result<Wear, WentBack> {
        let [before, after] = [before, after].map(|view| wear(view, &drive()).expect("it counts"));
        after.since(before)
    }

    #[test]
    fn what_pages_moved_by_between_two_readings_is_what_was_written() {
        let found = between(&after(1_000, Some(900_000_000)), &after(3_000, Some(3_972_000_000)));
        let wear = found.expect("both grew");
        assert_eq!((wear.host_bytes, wear.media_bytes), (1_024_000_000, Some(3_072_000_000)));
        assert_eq!(wear.amplification(), Some(3.0));
        let untold = between(&after(1_000, None), &after(3_000, None)).expect("it grew");
        assert_eq!((untold.host_bytes, untold.amplification()), (1_024_000_000, None));
    }

    #[test]
    fn a_volume_was_above_a_limit_for_the_share_of_the_time_that_its_counter_grew() {
        let counted = |us: i64| BTreeMap::from([("volume_iops_exceeded_percent", us)]);
        let share = |before, after| {
            let found = shares(&counted(before), &counted(after), Duration::from_secs(2));
            found.get("volume_iops_exceeded_percent").copied()
        };
        assert_eq!(share(5_000_000, 6_500_000), Some(75.0));
        assert_eq!(share(5_000_000, 9_000_000), Some(100.0), "counted in steps");
        assert_eq!(share(5_000_000, 4_000_000), None);
        assert!(shares(&BTreeMap::new(), &counted(1), Duration::from_secs(1)).is_empty());
        let mut volume = drive();
        let page = |magic: u32| {
            let mut page = vec![0; 4096];
            page[..4].copy_from_slice(&magic.to_le_bytes());
            page[56..64].copy_from_slice(&7_000_u64.to_le_bytes());
            Fake::new().bytes("/dev/nvme0/page/log-ns-1-d0-4096", page)
        };
        assert!(exceeded(&page(0x3c23_b510), &volume).is_empty(), "it is not a volume");
        volume.model = Some(Fact::new("Amazon Elastic Block Store".to_owned(), "model"));
        let found = exceeded(&page(0x3c23_b510), &volume);
        assert_eq!(found[&Measure::VolumeIopsExceeded].value, 7_000);
        assert!(exceeded(&page(1), &volume).is_empty(), "another maker's page");
    }

    #[test]
    fn few_units_give_no_ratio_and_counters_that_go_back_give_nothing() {
        let few = between(&after(10, Some(0)), &after(109, Some(99 << 20))).expect("both grew");
        assert_eq!((few.host_bytes, few.amplification()), (99 * 512_000, None));
        assert_eq!(between(&after(10, Some(0)), &after(9, Some(1))), Err(WentBack));
        assert_eq!(between(&after(10, Some(5)), &after(11, Some(4))), Err(WentBack));
        assert_eq!(wear(&Fake::new(), &drive()), None, "nobody may ask");
    }
}
