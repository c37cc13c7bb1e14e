//! The short form of the safety campaign, against the program as it is built for tests.

mod program;

use program::program;
use std::process::{Command, Stdio};

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
