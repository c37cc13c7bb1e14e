//! Man pages and completions are committed, so that packagers need no Rust; this says when they
//! drift from the command line they are made from.

use std::process::Command;

#[test]
fn man_pages_and_completions_are_what_the_command_line_says() {
    for what in ["man", "completions"] {
        let check = Command::new(env!("CARGO_BIN_EXE_xtask")).args([what, "--check"]).output();
        let check = check.expect("xtask starts");
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    }
}
