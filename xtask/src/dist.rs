//! `cargo xtask dist`: man pages and shell completions, generated from the command line.

use crate::{Failure, root};
use clap::Command;
use clap_complete::{Generator, Shell, generate};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// Folder to write to; its folders man and completions are replaced [default: dist].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let out = args.out.clone().unwrap_or_else(|| root().join("dist"));
    let mut command = seekwell::cli::command().disable_help_subcommand(true);
    command.build();
    man_pages(&command, &emptied(&out.join("man"))?)?;
    completions(&emptied(&out.join("completions"))?)?;
    Ok(ExitCode::SUCCESS)
}

/// An empty folder: a page of a command that is gone must not be packed.
fn emptied(dir: &Path) -> Result<PathBuf, Failure> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    Ok(dir.to_path_buf())
}

/// One page per visible command and subcommand.
fn man_pages(command: &Command, dir: &Path) -> Result<(), Failure> {
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        man_pages(inner, dir)?;
    }
    let man = clap_mangen::Man::new(command.clone())
        .source(format!("seekwell {}", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(fs::write(dir.join(man.get_filename()), page)?)
}

fn completions(dir: &Path) -> Result<(), Failure> {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut script = Vec::new();
        generate(shell, &mut seekwell::cli::command(), "seekwell", &mut script);
        fs::write(dir.join(shell.file_name("seekwell")), script)?;
    }
    Ok(())
}
