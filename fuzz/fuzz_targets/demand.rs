//! A demand may be any text. What is read has bounds on jobs that it has, each a number above 0.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_run::demand::DemandFile;

fuzz_target!(|text: &str| {
    let Ok(file) = DemandFile::of("fuzz", text) else { return };
    let bounds = &file.demand().bounds;
    assert!(!bounds.is_empty());
    assert!(bounds.iter().all(|bound| bound.bound.is_finite() && bound.bound > 0.0));
});
