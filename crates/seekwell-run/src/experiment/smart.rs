//! Counts of errors that a disk keeps itself, read around each run: a disk that reallocates a
//! sector or meets a bad cable in the middle of a run was slow for that, not for the setting.
//!
//! Reading those pages does not touch the medium, and they are asked for between runs. Only
//! those are taken that no healthy disk counts up, so not the entries of NVMe's error log: a
//! command that a drive does not know is one.

use seekwell_inspect::Pages;
use seekwell_inspect::health::{Health, Measure, health};
use seekwell_sys::Live;
use seekwell_tune::Disk;
use std::collections::BTreeMap;

/// The counts of a disk; none if it keeps none, or this user may not ask.
pub fn counts(disk: &Disk) -> BTreeMap<String, u64> {
    health(&Pages::new(Live::system()), &disk.device).map_or_else(BTreeMap::new, |h| of(&h))
}

fn of(health: &Health) -> BTreeMap<String, u64> {
    let count = |measure: &Measure| {
        let count = u64::try_from(health.get(*measure)?.value).ok()?;
        Some((measure.words().to_owned(), count))
    };
    Measure::TROUBLE.iter().filter_map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_inspect::Fact;

    #[test]
    fn counts_of_trouble_are_taken_and_hours_and_starts_are_not() {
        let mut health = Health::default();
        for (measure, value) in [
            (Measure::PowerOnHours, 8760),
            (Measure::ReallocatedSectors, 3),
            (Measure::CrcErrors, 70_000),
            (Measure::LoggedErrors, 40),
        ] {
            health.values.insert(measure, Fact::new(value, "page"));
        }
        let want = [("CRC errors of the cable", 70_000), ("reallocated sectors", 3)];
        let found = of(&health);
        assert!(found.iter().map(|(k, v)| (k.as_str(), *v)).eq(want), "{found:?}");
    }
}
