//! A snapshot comes from the reporter of a bug.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_inspect::watch::hot_plug;
use seekwell_inspect::{all_disks, inspect, saved};
use seekwell_sys::{Bundle, FORMAT};

fuzz_target!(|data: &[u8]| {
    // Past the first line, which a fuzzer would have to guess.
    let content = [FORMAT.as_bytes(), b"\n", data].concat();
    let Ok(bundle) = Bundle::parse("fuzz", &content) else { return };
    for target in saved::of_snapshot(&bundle).iter().chain(&all_disks(&bundle.snapshot)).take(64) {
        let found = inspect(&bundle.snapshot, target);
        let text = serde_json::to_string(&found).expect("an inspection is JSON");
        assert!(!text.is_empty());
    }
    let all = (saved::inspections(&bundle), hot_plug(&bundle.snapshot));
    serde_json::to_string(&all).expect("they are JSON");
    // What was read can be written, and is then the same.
    let mut text = Vec::new();
    if bundle.write(&mut text).expect("into memory") == 0 {
        let again = Bundle::parse("again", &text).expect("what was written is a snapshot");
        let mut twice = Vec::new();
        again.write(&mut twice).expect("into memory");
        assert_eq!(String::from_utf8_lossy(&text), String::from_utf8_lossy(&twice));
    }
});
