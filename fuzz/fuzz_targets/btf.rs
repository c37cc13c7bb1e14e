//! A kernel's description of its types may be anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_trace::count::check_types;

fuzz_target!(|types: &[u8]| {
    let _ = check_types(types);
});
