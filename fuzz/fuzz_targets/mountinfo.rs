//! `/proc/*/mountinfo` holds paths that any user may have chosen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().filter(|l| !l.trim().is_empty()).count();
    if let Ok(mounts) = seekwell_sys::parse_mountinfo(&text, Path::new("mountinfo")) {
        assert_eq!(mounts.len(), lines, "no line is lost");
        for layer in mounts.iter().flat_map(seekwell_sys::Mount::overlay_layers) {
            assert!(!layer.as_os_str().is_empty(), "a layer has a name");
        }
    }
});
