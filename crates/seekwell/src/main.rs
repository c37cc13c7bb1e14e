//! The program: parse, run, say how it ended.

use clap::Parser;
use seekwell::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    seekwell::on_own_stack(|| seekwell::run(Cli::parse())).into()
}
