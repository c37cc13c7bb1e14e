//! A report of zones comes from a driver, and of what a device says it passes on most.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_access::reported_zones;

// Where the report is to begin, and the report.
fuzz_target!(|data: (u64, &[u8])| {
    let (start, report) = data;
    let mut at = start;
    for zone in reported_zones(report, start).unwrap_or_default() {
        assert_eq!(zone.start, at, "zones lie one after the other");
        assert!(zone.start <= zone.write_pointer && zone.write_pointer <= zone.end());
        at = zone.end();
    }
});
