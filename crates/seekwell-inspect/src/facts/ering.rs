//! libata's error ring: the last 32 errors of a device, newest first, which nothing else shows.
//!
//! The kernel stamps them with its 64-bit tick counter, which starts five minutes before it wraps
//! around 32 bits, and prints that as seconds. So the tick rate shows in the offset, and the offset
//! gives the time since boot.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtaErrorClass {
    Device,
    /// Host and device disagreed about the state of a command.
    HostStateMachine,
    Timeout,
    Media,
    /// The cable or link: CRC errors and worse.
    Bus,
    HostBus,
    System,
    Invalid,
    /// None of these; one such entry is left by probing and is no error.
    Unknown,
    /// The device may be gone.
    NoDevice,
    Ncq,
    Other,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AtaError {
    /// Seconds after boot; `None` if the tick rate is unknown.
    pub at_s: Option<f64>,
    pub class: AtaErrorClass,
}

/// Tick rates kernels are built with.
const RATES: [f64; 5] = [100.0, 250.0, 300.0, 1000.0, 1024.0];
const ENTRIES: usize = 32;

/// Decodes the text of `ering`. `uptime_s` settles which tick rate it is after long uptimes.
pub(super) fn decode(text: &str, uptime_s: Option<f64>) -> Vec<AtaError> {
    let lines = text.split(['\n', '|']).filter_map(|line| {
        let (time, class) = line.trim().strip_prefix('[')?.split_once(']')?;
        let seconds: f64 = time.parse().ok()?;
        Some((seconds, class_of(class.trim())))
    });
    let entries: Vec<_> = lines.take(ENTRIES).collect();
    let newest = entries.iter().map(|(s, _)| *s).fold(f64::NEG_INFINITY, f64::max);
    let oldest = entries.iter().map(|(s, _)| *s).fold(f64::INFINITY, f64::min);
    let base = base(oldest, newest, uptime_s);
    let since_boot = |s: f64| base.map(|b| s - b).filter(|at| *at >= 0.0);
    entries.into_iter().map(|(s, class)| AtaError { at_s: since_boot(s), class }).collect()
}

/// The latest start that no entry lies before: the oldest is usually the one left by probing,
/// seconds after boot.
fn base(oldest: f64, newest: f64, uptime_s: Option<f64>) -> Option<f64> {
    let bases = RATES.iter().map(|hz| 2f64.powi(32) / hz - 300.0);
    let fits = |base: &f64| oldest >= *base && uptime_s.is_none_or(|up| newest - base <= up + 1.0);
    bases.filter(fits).max_by(f64::total_cmp)
}

fn class_of(word: &str) -> AtaErrorClass {
    match word {
        "DeviceError" => AtaErrorClass::Device,
        "HostStateMachineError" => AtaErrorClass::HostStateMachine,
        "Timeout" => AtaErrorClass::Timeout,
        "MediaError" => AtaErrorClass::Media,
        "BusError" => AtaErrorClass::Bus,
        "HostBusError" => AtaErrorClass::HostBus,
        "SystemError" => AtaErrorClass::System,
        "InvalidArg" => AtaErrorClass::Invalid,
        "Unknown" => AtaErrorClass::Unknown,
        "NoDeviceHint" => AtaErrorClass::NoDevice,
        "NCQError" => AtaErrorClass::Ncq,
        _ => AtaErrorClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_rate_is_told_from_the_offset() {
        for (text, at) in [
            ("[17179573.124000000]Unknown", 3.94),
            ("[4294667.796000000]Unknown", 0.5),
            ("[42949373.960000000]Unknown", 1.0),
        ] {
            let entry = &decode(text, None)[0];
            assert!((entry.at_s.unwrap() - at).abs() < 1e-6, "{text}: {entry:?}");
        }
    }

    #[test]
    fn after_months_the_probe_or_the_uptime_settles_which_rate_it_is() {
        // 150 days after boot at 1000 ticks a second look like 21 hours at 250.
        let text = "[17254667.296000000]Timeout";
        let months = 150.0 * 86400.0;
        let with_probe = format!("{text}\n[4294671.296000000]Unknown");
        let at = decode(&with_probe, Some(months + 20.0))[0].at_s.unwrap();
        assert!((at - months).abs() < 1e-3, "{at}");
        let short = decode(text, Some(80000.0))[0].at_s.unwrap();
        assert!((short - 75098.112).abs() < 1e-3, "{short}");
    }

    #[test]
    fn a_ring_of_timeouts_is_read_newest_first() {
        let ring = decode(
            "[17179624.736000000]Timeout\n[17179620.896000000]Timeout\n[17179572.856000000]Unknown",
            None,
        );
        let classes: Vec<_> = ring.iter().map(|e| e.class).collect();
        assert_eq!(classes[0], AtaErrorClass::Timeout);
        assert_eq!(classes[2], AtaErrorClass::Unknown);
        assert!(ring[0].at_s > ring[1].at_s);
    }

    #[test]
    fn hostile_rings_are_bounded_and_never_panic() {
        for text in ["", "[", "[]", "[x]Timeout", "[NaN]Timeout", "[1e308]Odd", "[-5]Timeout"] {
            assert!(decode(text, None).len() <= 1, "{text}");
            decode(text, Some(f64::NAN));
        }
        assert_eq!(decode(&"[17179573.1]Timeout\n".repeat(5000), None).len(), ENTRIES);
        assert_eq!(decode("[5.0]Timeout", None)[0].at_s, None);
    }
}
