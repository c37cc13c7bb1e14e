//! Sizes, durations and distributions as somebody may type them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell::cli::values;
use seekwell_sys::units::{Decimal, byte_prefix, exact, parse_size, parse_time, time_option};

fuzz_target!(|text: &str| {
    if let Ok(bytes) = values::block_size(text) {
        assert_eq!(values::size(text), Ok(u64::from(bytes)), "both read the same number");
    }
    if let Some(bytes) = parse_size(text) {
        assert_eq!(parse_size(&exact(bytes)), Some(bytes), "what is written is read back");
    }
    if let Some(time) = parse_time(text).filter(|time| time.0 < 1 << 52) {
        assert_eq!(parse_time(&time_option(time)), Some(time), "what is written is read back");
    }
    let _ = (values::duration(text), values::distribution(text));
    let _ = text.parse::<seekwell_trace::formats::Mapping>();
    let _ = (byte_prefix(text), Decimal::split(text).map(|(number, _)| number.exactly(1 << 60)));
});
