//! The saved machines that tests are made on.
#![allow(clippy::print_stderr)]

use std::path::PathBuf;

/// Their folder, which lies beside the repository.
pub fn corpus() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let there = folder.join("INDEX.md").exists();
    if !there {
        eprintln!("skipped: there are no saved machines at {}", folder.display());
    }
    there.then_some(folder)
}
