//! Man pages, one for each command and subcommand.

use crate::{Failure, dist};
use clap::Command;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Writes or checks dist/man.
pub fn run(args: &dist::Args) -> Result<ExitCode, Failure> {
    let mut command = seekwell::cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = BTreeMap::new();
    add(&command, &mut pages)?;
    dist::write_or_check(args, "man", &pages)
}

fn add(command: &Command, pages: &mut BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        add(inner, pages)?;
    }
    let man = clap_mangen::Man::new(command.clone())
        .source(format!("seekwell {}", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.insert(man.get_filename(), page);
    Ok(())
}
