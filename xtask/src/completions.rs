//! Completions for the shells people use.

use crate::{Failure, dist};
use clap_complete::{Generator, Shell, generate};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Writes or checks dist/completions.
pub fn run(args: &dist::Args) -> Result<ExitCode, Failure> {
    let mut command = seekwell::cli::command();
    let mut files = BTreeMap::new();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut script = Vec::new();
        generate(shell, &mut command, "seekwell", &mut script);
        files.insert(shell.file_name("seekwell"), script);
    }
    dist::write_or_check(args, "completions", &files)
}
