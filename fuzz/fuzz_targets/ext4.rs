//! A superblock and group descriptors come from whatever disk is mounted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_inspect::ext4_groups;
use std::io;

// The device from the superblock on.
fuzz_target!(|data: &[u8]| {
    let mut read = |at: u64, into: &mut [u8]| {
        let from = at.checked_sub(1024).and_then(|at| usize::try_from(at).ok());
        let bytes = from.and_then(|from| data.get(from..)?.get(..into.len()));
        into.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    if let Ok(groups) = ext4_groups(&mut read) {
        assert!(groups.uninitialised <= groups.total);
    }
});
