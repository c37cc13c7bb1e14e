//! A calibration may be any text. What is read has numbers, none of them known yet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_run::calibration::CalibrationFile;

fuzz_target!(|text: &str| {
    let Ok(file) = CalibrationFile::of("fuzz", text) else { return };
    let calibration = file.calibration();
    assert!(!calibration.quantities.is_empty() && calibration.text.is_none());
    assert!(calibration.quantities.iter().all(|quantity| quantity.known().is_none()));
});
