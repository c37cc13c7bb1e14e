//! `seekwell reproduce`.

use super::Force;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `seekwell reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Only these documents: R0 to R6 [default: R0 to R4; R5 and R6 take a minute]
    #[arg(value_name = "DOCUMENT", value_parser = ["R0", "R1", "R2", "R3", "R4", "R5", "R6"])]
    pub documents: Vec<String>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Also show what limits each modelled figure: the station that, made 10 % faster, improves it
    /// most; takes about eight times as long
    #[arg(long)]
    pub limits: bool,
    /// Write a page with published and modelled figures side by side to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}
