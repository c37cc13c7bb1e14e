//! Tells the program which commit it was built from, where it is built from a checkout.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git");
    for file in ["HEAD", "logs/HEAD"] {
        let path = git.join(file);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let Ok(output) = Command::new("git").args(describe).output() else { return };
    let commit = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && !commit.trim().is_empty() {
        println!("cargo:rustc-env=SEEKWELL_GIT_COMMIT={}", commit.trim());
    }
}
