//! Units as types, and the one place where sizes, times, rates and counts are written and read.
//!
//! Sizes are written in powers of 1024 with an `i`, capacities and rates in powers of 1000. What
//! is typed counts in powers of 1024 either way, as in fio, so a capacity is not read back.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// Nanoseconds: a point on a target's own clock or a span of it. Integer, so models stay exact.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The beginning of a clock, or an empty span.
    pub const ZERO: Self = Self(0);
    /// Later than any time that occurs.
    pub const MAX: Self = Self(u64::MAX);

    #[inline]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    #[inline]
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// Seconds, rounded to the nanosecond; negative and absurd values become the nearest legal one.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to `self`, zero when it is not earlier.
    #[inline]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(n: Nanos) -> Self {
        Self::from_nanos(n.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..1_000_000 => write!(f, "{} µs", three_digits(ns / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} ms", three_digits(ns / 1e6)),
            _ => write!(f, "{} s", three_digits(ns / 1e9)),
        }
    }
}

/// A number with three significant digits, no exponent and no trailing zeros lost: `1.25`, `87.3`,
/// `950`.
pub fn three_digits(x: f64) -> String {
    match x.abs() {
        a if a >= 99.95 => format!("{x:.0}"),
        a if a >= 9.995 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// A whole number with a comma at the thousands: `1,234,567`.
pub fn grouped(x: f64) -> String {
    let digits = format!("{:.0}", x.abs());
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if x < -0.5 { format!("-{out}") } else { out }
}

/// Bytes a second in MB/s (10^6), without the unit: `3,412`, `54.1`.
pub fn rate(bytes_per_s: f64) -> String {
    let mb = bytes_per_s / 1e6;
    if mb >= 999.5 { grouped(mb) } else { three_digits(mb) }
}

/// Bytes a second with a decimal unit: `512 MB/s`.
pub fn bytes_per_s(rate: f64) -> String {
    match rate {
        r if r >= 1e9 => format!("{} GB/s", three_digits(r / 1e9)),
        r if r >= 1e6 => format!("{} MB/s", three_digits(r / 1e6)),
        r => format!("{} kB/s", three_digits(r / 1e3)),
    }
}

/// Requests a second: `9,532`, `13.2k`, `1.02M`.
pub fn iops(per_s: f64) -> String {
    match per_s {
        x if x < 99.95 => three_digits(x),
        x if x < 9_999.5 => grouped(x),
        x if x < 999_500.0 => format!("{}k", three_digits(x / 1e3)),
        x => format!("{}M", three_digits(x / 1e6)),
    }
}

/// Requests a second in a sentence: `13.2k requests/s`.
pub fn requests_per_s(rate: f64) -> String {
    format!("{} requests/s", iops(rate))
}

/// A time given in nanoseconds: `72.1 µs`.
pub fn time(ns: f64) -> String {
    Nanos(ns.round().max(0.0) as u64).to_string()
}

/// A time in whole units, rounded down: `300 µs`.
pub fn round_time(ns: u64) -> String {
    match ns {
        1_000_000_000.. => format!("{} s", ns / 1_000_000_000),
        1_000_000.. => format!("{} ms", ns / 1_000_000),
        1_000.. => format!("{} µs", ns / 1_000),
        _ => format!("{ns} ns"),
    }
}

/// A value of a metric, whose name ends in its unit: `flush.latency_ns_p99`.
pub fn amount(metric: &str, value: f64) -> String {
    if metric.contains("_ns") {
        return time(value);
    }
    match metric.rsplit('.').next() {
        Some("requests_per_s") => requests_per_s(value),
        Some("rate_bytes_per_s") => bytes_per_s(value),
        Some("cpu_percent") => format!("{} %", three_digits(value)),
        _ => three_digits(value),
    }
}

/// A time still to wait, rounded up: `90 s`, `3 min`, `5 h`, `7 days`.
pub fn time_left(left: Nanos) -> String {
    match left.0.div_ceil(1_000_000_000) {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7_200 => format!("{} min", s.div_ceil(60)),
        s @ 7_200..172_800 => format!("{} h", s.div_ceil(3_600)),
        s => format!("{} days", s.div_ceil(86_400)),
    }
}

/// A time that is expected, rounded to what its reader waits for: `3.1 s`, `40 s`, `5 min`.
pub fn time_about(time: Nanos) -> String {
    match time.as_secs_f64() {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A time as an option's value, exact: `5s`, `500ms`, `1.5us`.
pub fn time_option(time: Nanos) -> String {
    match time.0 {
        ns if ns.is_multiple_of(1_000_000_000) => format!("{}s", ns / 1_000_000_000),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns as f64 / 1e3),
    }
}

/// A share as a percentage: 0.021 is `2.1 %`, and nothing is `0 %`.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p.abs() >= 9.95 || p == 0.0 { format!("{p:.0} %") } else { format!("{p:.1} %") }
}

/// A share in whole percent: `43 %`.
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A number of things in a sentence: `7.5`, `1,234`, `1.2 million`.
pub fn count(x: f64) -> String {
    match x {
        x if x >= 999_500.0 => format!("{:.1} million", x / 1e6),
        x if x >= 9.95 => grouped(x),
        x => format!("{x:.1}"),
    }
}

/// A capacity in powers of ten, as vendors count it: `512 GB`.
pub fn capacity(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1e3;
    let mut at = 0;
    while value >= 999.5 && at + 1 < UNITS.len() {
        value /= 1e3;
        at += 1;
    }
    let number = three_digits(value);
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        &number
    };
    format!("{number} {}", UNITS[at])
}

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// The largest power of 1024 that is not above a number of bytes.
fn magnitude(bytes: u64) -> usize {
    bytes.checked_ilog2().unwrap_or(0) as usize / 10
}

/// A size that is a power of two by nature: `4 KiB`, `1.50 KiB`.
pub fn binary(bytes: u64) -> String {
    let power = magnitude(bytes);
    let unit = 1_u64 << (10 * power);
    let number = if bytes.is_multiple_of(unit) {
        (bytes / unit).to_string()
    } else {
        three_digits(bytes as f64 / unit as f64)
    };
    format!("{number} {}", BINARY[power])
}

/// A size in a sentence: `512 bytes`, `1.50 KiB`.
pub fn bytes(n: u64) -> String {
    if n < 1024 { format!("{n} bytes") } else { binary(n) }
}

/// A size, with the number of bytes if that is rounded: `4 KiB`, `1.5 KiB (1536 bytes)`.
pub fn binary_and_bytes(n: u64) -> String {
    let power = magnitude(n);
    let unit = 1_u64 << (10 * power);
    if n.is_multiple_of(unit) {
        return binary(n);
    }
    format!("{:.1} {} ({n} bytes)", n as f64 / unit as f64, BINARY[power])
}

/// The largest power of 1024 that divides a number of bytes.
fn whole(bytes: u64) -> (u64, usize) {
    let power = if bytes == 0 { 0 } else { bytes.trailing_zeros() as usize / 10 };
    (bytes >> (10 * power), power)
}

/// A size in the largest unit that leaves no rest: `1 GiB`, `1000 B`.
pub fn exact(bytes: u64) -> String {
    let (number, power) = whole(bytes);
    format!("{number} {}", BINARY[power])
}

/// A size as an option's value, exact: `4k`, `1m`, `512`.
pub fn size_option(bytes: u64) -> String {
    let (number, power) = whole(bytes);
    format!("{number}{}", ["", "k", "m", "g", "t", "p", "e"][power])
}

/// A decimal number as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    /// 10 to the number of digits after the point.
    scale: u128,
}

impl Decimal {
    /// The number at the start of a text, without a sign, and what follows it.
    pub fn split(text: &str) -> Option<(Self, &str)> {
        let is_other = |c: char| !c.is_ascii_digit() && c != '.';
        let (number, rest) = text.split_at(text.find(is_other).unwrap_or(text.len()));
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + part.len() == 0 || part.contains('.') || part.len() > 18 {
            return None;
        }
        let digits = format!("{whole}{part}").parse().unwrap_or(u128::MAX);
        Some((Self { digits, scale: 10_u128.pow(part.len() as u32) }, rest))
    }

    /// So many of a unit, rounded; the largest number if it is more.
    fn times(self, unit: u64) -> u64 {
        let product = self.digits.saturating_mul(unit.into()).saturating_add(self.scale / 2);
        u64::try_from(product / self.scale).unwrap_or(u64::MAX)
    }

    /// So many of a unit, if that is a whole number.
    pub fn exactly(self, unit: i128) -> Option<i128> {
        let product = i128::try_from(self.digits).ok()?.checked_mul(unit)?;
        let scale = i128::try_from(self.scale).ok()?;
        (product % scale == 0).then_some(product / scale)
    }

    /// The nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / self.scale as f64
    }
}

/// What comes before `B` in a unit of bytes: the power of 1000 or 1024, and whether an `i` says
/// that it is 1024. `k`, `KB`, `KiB`; nothing, `B` and `bytes` are the power 0.
pub fn byte_prefix(unit: &str) -> Option<(u32, bool)> {
    let unit = unit.to_ascii_lowercase();
    if matches!(unit.as_str(), "" | "b" | "bytes") {
        return Some((0, false));
    }
    let power = "kmgtpe".find(unit.chars().next()?)? as u32 + 1;
    match &unit[1..] {
        "" | "b" => Some((power, false)),
        "i" | "ib" => Some((power, true)),
        _ => None,
    }
}

pub fn time_unit(unit: &str) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    Some(match unit.to_ascii_lowercase().as_str() {
        "ns" | "nsec" => 1,
        "us" | "µs" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" | "seconds" => SECOND,
        "m" | "min" => 60 * SECOND,
        "h" | "hour" => 3600 * SECOND,
        "d" | "day" => 86_400 * SECOND,
        _ => return None,
    })
}

/// Bytes as people type them: `512`, `4k`, `1.5M`, `2 GiB`. Factors are 1024, as in fio; what is
/// not a whole number is rounded, what is too large becomes the largest number.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = Decimal::split(text.trim())?;
    let (power, _) = byte_prefix(unit.trim_start())?;
    Some(number.times(1 << (10 * power)))
}

/// A time as people type it: `5s`, `500ms`, `2m`; a bare number is seconds, as in fio.
pub fn parse_time(text: &str) -> Option<Nanos> {
    let (number, unit) = Decimal::split(text.trim())?;
    let unit = match unit.trim_start() {
        "" => "s",
        unit => unit,
    };
    Some(Nanos(number.times(time_unit(unit)?)))
}

#[cfg(test)]
mod tests;
