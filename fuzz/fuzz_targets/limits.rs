//! What limits the phases of any document that can be read: one statement for each phase that was
//! run, numbers that are numbers, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_runs::{RunDocument, Study};

fuzz_target!(|data: &[u8]| {
    let Ok(document) = serde_json::from_slice::<RunDocument>(data) else { return };
    let judged = seekwell_limits::judge(&document);
    let was_run = |p: &&seekwell_runs::Phase| !p.repeats.is_empty() || !p.metrics.is_empty();
    if !matches!(document.study, Some(Study::Together(_))) {
        assert_eq!(judged.limits.len(), document.phases.iter().filter(was_run).count());
    }
    for limit in &judged.limits {
        assert!(!limit.evidence.is_empty(), "a statement has a reason");
    }
    assert!(judged.ceilings.iter().all(|c| c.rate > 0.0 && c.rate.is_finite()));
    serde_json::to_vec(&judged.limits).expect("statements are numbers and text");
});
