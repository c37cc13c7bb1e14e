//! What the machine did during a repeat, as values of that repeat.

use seekwell_runs::Repeat;
use seekwell_sys::{Background, HostActivity};
use std::collections::BTreeMap;

/// Less than this changes no number by more than its repeats differ.
const OTHERS_TOLD: f64 = 0.05;
/// Processors are reported as busy from this share on.
const BUSY_TOLD: f64 = 0.8;

/// The share of one processor from which background work is reported. CPU time says little about
/// the load on a disk: zeroing 140 MiB/s of inode tables took 0.15 % of one processor.
const fn background_told(of: Background) -> f64 {
    match of {
        // It runs all the time; less than this is no load for a disk.
        Background::Reclaim => 0.01,
        _ => 1e-4,
    }
}

/// The values by their names.
pub(crate) fn values(host: &HostActivity) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    let mut tell = |name: &str, value: Option<f64>| {
        values.extend(value.map(|value| (name.to_owned(), value)));
    };
    let percent = |share: Option<f64>, told: f64| share.filter(|s| *s >= told).map(|s| 100.0 * s);
    tell(Repeat::OTHERS, percent(host.others, OTHERS_TOLD));
    tell(Repeat::BUSY, percent(host.busy, BUSY_TOLD));
    let swapped = host.swapped.unwrap_or_default();
    for (name, bytes) in Repeat::SWAPPED.into_iter().zip([swapped.in_bytes, swapped.out_bytes]) {
        tell(name, (bytes > 0).then_some(bytes as f64));
    }
    tell(Repeat::DEEP_IDLES, host.deep_idles.map(|count| count as f64));
    for (of, share) in &host.background {
        tell(&Repeat::background(*of), percent(Some(*share), background_told(*of)));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::Swapped;

    #[test]
    fn what_a_machine_hardly_did_is_left_out_and_idle_states_are_always_told() {
        let mut host = HostActivity {
            others: Some(0.04),
            busy: Some(0.95),
            swapped: Some(Swapped { in_bytes: 0, out_bytes: 8192 }),
            deep_idles: Some(0),
            background: BTreeMap::new(),
        };
        host.background.insert(Background::ArraySync, 0.02);
        host.background.insert(Background::InodeTables, 5e-4);
        host.background.insert(Background::BtrfsCleaner, 1e-6);
        host.background.insert(Background::Reclaim, 0.005);
        let told: Vec<_> = values(&host).into_iter().collect();
        let expected = [
            ("background_ext4lazyinit_percent", 0.05),
            ("background_md_resync_percent", 2.0),
            ("deep_idle_count", 0.0),
            ("processors_busy_percent", 95.0),
            ("swapped_out_bytes", 8192.0),
        ];
        assert_eq!(told, expected.map(|(name, value)| (name.to_owned(), value)));
        assert!(values(&HostActivity::default()).is_empty());
    }
}
