//! The real clock: nanoseconds since the program first asked.
//!
//! Where the processor's time-stamp counter runs at one rate whatever the processor does, and the
//! kernel trusts it too, it is read directly (a few nanoseconds); elsewhere `CLOCK_MONOTONIC`.

use crate::units::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;

/// How long the counter is compared with the kernel's clock. Both ends are read within about 50 ns,
/// so the rate is known to about 5 parts in a million.
#[cfg(target_arch = "x86_64")]
const CALIBRATION: Nanos = Nanos::from_millis(10);

/// The real clock. Copies agree with each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Source);

#[derive(Debug, Clone, Copy)]
enum Source {
    /// `ns = (tsc − base) · mult / 2³²`.
    #[cfg(target_arch = "x86_64")]
    Tsc {
        base: u64,
        mult: u64,
    },
    Monotonic {
        base: Nanos,
    },
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

impl Clock {
    /// The clock of this process; the first call takes some milliseconds to calibrate it.
    pub fn real() -> Self {
        *CLOCK.get_or_init(|| Self(calibrate()))
    }

    /// Time since the clock was made.
    #[inline]
    pub fn now(&self) -> Nanos {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc { base, mult } => {
                let ticks = tsc().saturating_sub(base);
                Nanos(((u128::from(ticks) * u128::from(mult)) >> 32) as u64)
            }
            Source::Monotonic { base } => monotonic() - base,
        }
    }
}

fn monotonic() -> Nanos {
    let t = clock_gettime(ClockId::Monotonic);
    Nanos(t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned())
}

#[cfg(not(target_arch = "x86_64"))]
fn calibrate() -> Source {
    Source::Monotonic { base: monotonic() }
}

#[cfg(target_arch = "x86_64")]
fn calibrate() -> Source {
    let base = monotonic();
    if !tsc_is_trusted() {
        return Source::Monotonic { base };
    }
    let (t0, c0) = both();
    while monotonic().since(t0) < CALIBRATION {
        std::hint::spin_loop();
    }
    let (t1, c1) = both();
    let (ns, ticks) = (t1.since(t0).0, c1.saturating_sub(c0));
    // Between 100 MHz and 100 GHz; anything else is a counter that stood still or jumped.
    if ticks < ns / 10 || ticks > ns * 100 {
        return Source::Monotonic { base };
    }
    Source::Tsc { base: c0, mult: ((u128::from(ns) << 32) / u128::from(ticks)) as u64 }
}

/// The kernel's clock and the counter at one moment: of several tries the one that took least time,
/// since this thread may be put aside between the two.
#[cfg(target_arch = "x86_64")]
fn both() -> (Nanos, u64) {
    let tries = (0..16).map(|_| {
        let (before, time, after) = (tsc(), monotonic(), tsc());
        (after.saturating_sub(before), time, before + after.saturating_sub(before) / 2)
    });
    let (_, time, counter) = tries.min().expect("sixteen tries");
    (time, counter)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn tsc() -> u64 {
    // SAFETY: RDTSC has no preconditions on x86-64 and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Invariant by CPUID (leaf 8000_0007, EDX bit 8) and not distrusted by the kernel, which drops
/// `tsc` from its clock sources when it saw it drift.
#[cfg(target_arch = "x86_64")]
fn tsc_is_trusted() -> bool {
    use core::arch::x86_64::__cpuid;
    let leaves = __cpuid(0x8000_0000).eax;
    let invariant = leaves >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let kernel_has_it = std::fs::read_to_string(sources)
        .is_ok_and(|names| names.split_whitespace().any(|name| name == "tsc"));
    invariant && kernel_has_it
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_agrees_with_the_kernel_within_a_tenth_of_a_percent() {
        let clock = Clock::real();
        // Of several pairs the one read closest together: the thread may be put aside between two
        // reads.
        let both = || {
            let tries = (0..16).map(|_| {
                let (before, ours, after) = (monotonic(), clock.now(), monotonic());
                (after - before, before, ours)
            });
            tries.min().unwrap()
        };
        let (_, t0, c0) = both();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let (_, t1, c1) = both();
        let ratio = (c1 - c0).0 as f64 / (t1 - t0).0 as f64;
        assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    }

    #[test]
    fn the_clock_never_runs_backwards() {
        let clock = Clock::real();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
