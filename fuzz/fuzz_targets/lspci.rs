//! The output of `lspci` and `lsmod` is pasted from anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_explain::{Observed, findings};
use seekwell_inspect::text::{inspections, parse_lsmod, parse_lspci};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (lspci, lsmod) = text.split_once('\u{1}').unwrap_or((&text, ""));
    let functions = parse_lspci(lspci);
    assert!(functions.len() <= lspci.lines().count(), "a line starts one function at most");
    for function in &functions {
        assert!(!function.words().contains(|c: char| c.is_control()), "plain words");
    }
    assert!(parse_lsmod(lsmod).len() <= lsmod.lines().count());
    for inspection in inspections("text", lspci, Some(lsmod)) {
        for finding in findings(&Observed::new(&inspection)) {
            assert!(!finding.evidence.is_empty(), "{} needs evidence", finding.id);
        }
    }
});
