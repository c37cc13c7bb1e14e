//! Numbers as all reports write them. Rates are in MB/s of 10^6 bytes, said once per report;
//! latencies are written by `seekwell-io`.

use seekwell_io::units::{Nanos, three_digits};

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

/// Requests a second: `9,532`, `13.2k`, `1.02M`.
pub fn iops(per_s: f64) -> String {
    match per_s {
        x if x < 99.95 => three_digits(x),
        x if x < 9_999.5 => grouped(x),
        x if x < 999_500.0 => format!("{}k", three_digits(x / 1e3)),
        x => format!("{}M", three_digits(x / 1e6)),
    }
}

/// A time given in nanoseconds: `72.1 µs`.
pub fn time(ns: f64) -> String {
    Nanos(ns.round().max(0.0) as u64).to_string()
}

/// A share as a percentage: 0.021 is `2.1 %`.
pub fn percent(share: f64) -> String {
    let p = share * 100.0;
    if p.abs() >= 9.95 { format!("{p:.0} %") } else { format!("{p:.1} %") }
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

/// A size that is a power of two by nature: `4 KiB`, `128 KiB`.
pub fn binary(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut at = 0;
    let mut value = bytes as f64;
    while value >= 1024.0 && at + 1 < UNITS.len() {
        value /= 1024.0;
        at += 1;
    }
    let number = if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) };
    format!("{number} {}", UNITS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_in_millions_of_bytes_with_a_comma_at_the_thousands() {
        assert_eq!(rate(3_412_000_000.0), "3,412");
        assert_eq!(rate(54_067_200.0), "54.1");
        assert_eq!(rate(999_600_000.0), "1,000");
        assert_eq!(rate(0.0), "0.00");
    }

    #[test]
    fn requests_a_second_keep_three_digits_at_every_size() {
        let written = [57.6, 9_532.4, 9_999.6, 13_244.0, 999_600.0, 1_020_000.0].map(iops);
        assert_eq!(written, ["57.6", "9,532", "10.0k", "13.2k", "1.00M", "1.02M"]);
    }

    #[test]
    fn capacities_lose_zeros_that_say_nothing() {
        let written = [0, 999, 512_110_190_592, 2_000_398_934_016, 1_000].map(capacity);
        assert_eq!(written, ["0 B", "999 B", "512 GB", "2 TB", "1 kB"]);
    }

    #[test]
    fn powers_of_two_are_written_as_such() {
        assert_eq!(
            [512, 4096, 131_072, 1536].map(binary),
            ["512 B", "4 KiB", "128 KiB", "1.50 KiB"]
        );
    }

    #[test]
    fn a_time_that_is_no_whole_number_is_rounded_to_nanoseconds() {
        assert_eq!(time(72_140.6), "72.1 µs");
        assert_eq!(time(-1.0), "0 ns");
    }
}
