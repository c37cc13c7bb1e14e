//! Tells the program how it was built: from which commit, where it is built from a checkout, by
//! which compiler, for which machine and in which profile.

use std::env;
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
    let commit = said(Command::new("git").args(describe));
    if let Some(commit) = &commit {
        println!("cargo:rustc-env=SEEKWELL_GIT_COMMIT={commit}");
    }
    let of = |name: &str| env::var(name).unwrap_or_default();
    let compiler = said(Command::new(of("RUSTC")).arg("--version")).unwrap_or_default();
    // OUT_DIR is PROFILE/build/seekwell-HASH/out.
    let out = of("OUT_DIR");
    let profile = Path::new(&out).ancestors().nth(3).and_then(Path::file_name).unwrap_or_default();
    println!(
        "cargo:rustc-env=SEEKWELL_BUILD={} (commit {}, {} build for {}, {compiler})",
        of("CARGO_PKG_VERSION"),
        commit.as_deref().unwrap_or("not known"),
        profile.display(),
        of("TARGET"),
    );
}

/// The line that a command prints, where it ends well.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
