use super::*;
use proptest::prelude::*;

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
    let sizes = [0, 512, 1536, 131_072, (1 << 30) + 4096, u64::MAX];
    let written = ["0 B", "512 B", "1.50 KiB", "128 KiB", "1.00 GiB", "16.0 EiB"];
    assert_eq!(sizes.map(binary), written);
    assert_eq!(bytes(512), "512 bytes");
    assert_eq!(binary_and_bytes(1536), "1.5 KiB (1536 bytes)");
    assert_eq!(
        sizes[..4].iter().map(|n| exact(*n)).collect::<Vec<_>>(),
        ["0 B", "512 B", "1536 B", "128 KiB"]
    );
    assert_eq!([0, 1536, 4096, 3 << 20].map(size_option), ["0", "1536", "4k", "3m"]);
}

#[test]
fn times_are_rounded_to_what_the_eye_takes_in() {
    assert_eq!(time(72_140.6), "72.1 µs");
    assert_eq!(time(-1.0), "0 ns");
    assert_eq!([300_999, 7].map(round_time), ["300 µs", "7 ns"]);
    assert_eq!(
        [500, 119_000, 121_000].map(|ms| time_left(Nanos::from_millis(ms))),
        ["1 s", "119 s", "3 min"]
    );
    assert_eq!(
        [60, 3_060, 99_400, 480_500, 9_000_000].map(|ms| time_about(Nanos::from_millis(ms))),
        ["0.1 s", "3.1 s", "99 s", "8 min", "2.5 h"]
    );
    assert_eq!(
        [5_000_000, 3_000_000_000, 1_500].map(|ns| time_option(Nanos(ns))),
        ["5ms", "3s", "1.5us"]
    );
}

#[test]
fn sizes_are_read_as_fio_reads_them() {
    let cases = [
        ("512", 512),
        ("512 bytes", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("1M", 1 << 20),
        ("2GiB", 2 << 30),
        ("1.5k", 1536),
        ("10 MB", 10 << 20),
        ("99999999999999999999", u64::MAX),
    ];
    for (text, bytes) in cases {
        assert_eq!(parse_size(text), Some(bytes), "{text}");
    }
    for text in ["", ".", "k", "4x", "ib", "4ib", "four", "-1", "1e3", "4kk", "1.2.3", "4kibib"] {
        assert_eq!(parse_size(text), None, "{text}");
    }
}

#[test]
fn times_are_seconds_unless_they_say_otherwise() {
    let cases = [("5", 5_000_000_000), ("0.5ms", 500_000), ("2m", 120_000_000_000), ("7 ns", 7)];
    for (text, ns) in cases {
        assert_eq!(parse_time(text), Some(Nanos(ns)), "{text}");
    }
    assert_eq!(parse_time("5 weeks"), None);
}

/// Three digits are right to half of the last one.
fn is_near(read: u64, n: u64) -> bool {
    read.abs_diff(n) as f64 <= n as f64 * 0.005 + 0.5
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_within_its_digits(n: u64, power in 0..64) {
        let n = n >> power;
        for text in [binary(n), bytes(n)] {
            prop_assert!(parse_size(&text).is_some_and(|read| is_near(read, n)), "{text}");
        }
        for text in [exact(n), size_option(n)] {
            prop_assert_eq!(parse_size(&text), Some(n), "{}", text);
        }
        let text = Nanos(n).to_string();
        prop_assert!(parse_time(&text).is_some_and(|read| is_near(read.0, n)), "{text}");
        let text = time_option(Nanos(n >> 12));
        prop_assert_eq!(parse_time(&text), Some(Nanos(n >> 12)), "{}", text);
        let text = round_time(n);
        let near = parse_time(&text).is_some_and(|read| read.0 <= n && n / 2 <= read.0);
        prop_assert!(near, "{text}");
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,30}") {
        let _ = (parse_size(&text), parse_time(&text), byte_prefix(&text));
    }
}
