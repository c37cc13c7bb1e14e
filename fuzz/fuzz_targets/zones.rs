//! A report of zones comes from a driver, which passes on most of what a device says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_access::reported_zones;

fuzz_target!(|data: &[u8]| {
    let mut at = 0;
    for zone in reported_zones(data, at).unwrap_or_default() {
        assert_eq!(zone.start, at, "zones lie one after the other");
        assert!(zone.start <= zone.write_pointer && zone.write_pointer <= zone.end());
        at = zone.end();
    }
});
