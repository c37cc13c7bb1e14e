//! A `detail.json` that is accepted has bins and series other code can use without looking.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_runs::read;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    if let Ok(detail) = read::detail(data, Path::new("detail.json")) {
        for repeat in &detail.repeats {
            assert!(repeat.series.step_ns.0 > 0);
            for bins in repeat.latency_bins.values().chain(repeat.response_bins.values()) {
                let total: u64 = bins.iter().map(|(_, n)| n).sum();
                assert!(bins.iter().all(|(bin, n)| *n <= total && (*bin as usize) < 1856));
            }
        }
    }
});
