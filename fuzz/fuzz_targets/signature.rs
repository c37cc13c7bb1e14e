//! The first and last bytes of a disk are whatever was written there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Seek, SeekFrom, Write};

fuzz_target!(|data: &[u8]| {
    // The data as the start of a small disk, and as its end.
    for front in [true, false] {
        let mut disk = tempfile::tempfile().expect("a temporary file");
        let size = 1_u64 << 20;
        disk.set_len(size).expect("a sparse file");
        let at = if front { 0 } else { size.saturating_sub(data.len() as u64) };
        disk.seek(SeekFrom::Start(at)).expect("within the file");
        disk.write_all(data).expect("within the file");
        let found = seekwell_access::signatures_of(&disk, size).expect("the file can be read");
        if data.iter().all(|byte| *byte == 0) {
            assert!(found.is_empty(), "zeros carry no signature: {found:?}");
        }
    }
});
