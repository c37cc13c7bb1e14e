//! A part of statistics may be damaged or made to do harm. What is read has one form, merges with
//! itself into an error at most, and is not empty.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_trace::stats::{Options, Stats};
use sha2::{Digest, Sha256};

fuzz_target!(|figures: &[u8]| {
    let _ = Stats::from_bytes(figures);
    // Past the checksum, which no fuzzer finds.
    let len = (figures.len() as u64).to_le_bytes();
    let mut bytes = [&b"SKWSTAT1"[..], &len, figures, b"{}"].concat();
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);
    let Ok(mut stats) = Stats::from_bytes(&bytes) else { return };
    assert_eq!(stats.to_bytes(), bytes);
    let again = Stats::from_bytes(&bytes).expect("it was read before");
    let _ = Stats::new(Options::default()).merge(again);
    let again = Stats::from_bytes(&bytes).expect("it was read before");
    let _ = stats.merge(again);
    stats.finish("fuzzed");
});
