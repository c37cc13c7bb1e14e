//! Sizes, durations and distributions as somebody may type them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell::cli::values;

fuzz_target!(|text: &str| {
    if let Ok(bytes) = values::block_size(text) {
        assert_eq!(values::size(text), Ok(u64::from(bytes)), "both read the same number");
    }
    let _ = (values::duration(text), values::distribution(text));
});
