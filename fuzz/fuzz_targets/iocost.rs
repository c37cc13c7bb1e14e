//! The files of io.cost, and lines for them as somebody may type them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_tune::commands::lines::line;
use seekwell_tune::setting::{cost_model, cost_qos};
use std::path::Path;

fuzz_target!(|text: &str| {
    for (key, takes) in [("io.cost.model", cost_model()), ("io.cost.qos", cost_qos())] {
        let file = Path::new("/sys/fs/cgroup").join(key);
        let shown = line(&file, text, "8:0");
        if let Ok(shown) = &shown {
            let again = line(&file, &format!("259:0 x\n8:0 {shown}\n8:16 y\n"), "8:0");
            assert_eq!(again.as_ref().ok(), Some(shown), "what is shown is read back");
        }
        if let Ok(value) = takes.check(text) {
            assert_eq!(takes.check(&value), Ok(value), "what is written is taken again");
        }
    }
});
