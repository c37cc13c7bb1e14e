//! The program as it is built for tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program, built beside this test's own: with all targets, as `make test` builds it, because
/// the tests' dependencies decide which features the shared crates have.
pub fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_xtask")).parent().unwrap();
    let target = folder.parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--all-targets", "--target-dir"])
        .arg(target)
        // It is set for this test; ring, and all above it, is built again where it changes.
        .env_remove("CARGO_MANIFEST_DIR")
        .status()
        .unwrap();
    assert!(built.success(), "the program does not build");
    folder.join("seekwell")
}
