//! The short form of the safety campaign, against the program as it is built for tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program, built beside this test's own.
fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_xtask")).parent().unwrap();
    let target = folder.parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--bin", "seekwell", "--target-dir"])
        .arg(target)
        // It is set for this test; ring, and all above it, is built again where it changes.
        .env_remove("CARGO_MANIFEST_DIR")
        .status()
        .unwrap();
    assert!(built.success(), "the program does not build");
    folder.join("seekwell")
}

#[test]
fn nothing_is_lost_and_nothing_is_left_behind_in_the_short_campaign() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["bench-safety", "--quick", "--seekwell"])
        .arg(program())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    for line in table.lines().filter(|line| line.contains("not measured: ")) {
        eprintln!("skipped: safety campaign: {}", line.trim_matches(['|', ' ']));
    }
    assert!(output.status.success(), "{table}");
}
