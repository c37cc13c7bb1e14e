//! A result file may come from anywhere. What is accepted has finite numbers, and no more runs than
//! the limit of trials allows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_compare::sources::phoronix;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(systems) = phoronix::read(text, "file") else { return };
    assert!(systems.len() <= phoronix::MAX_SYSTEMS);
    let runs: Vec<_> = systems.iter().flat_map(|(_, runs)| runs).collect();
    assert!(runs.len() <= phoronix::MAX_TRIALS);
    for value in runs.iter().flat_map(|r| &r.groups).flat_map(|g| &g.values) {
        assert!(value.value.is_finite(), "{value:?}");
    }
});
