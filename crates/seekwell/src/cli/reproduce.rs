//! `seekwell reproduce`.

use super::Force;
use clap::{Args, ValueHint};
use seekwell_reproduce::SAMPLES;
use std::path::PathBuf;

/// `seekwell reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Only these documents: R0 to R6 [default: R0 to R4; R5 and R6 take a minute]
    #[arg(value_name = "DOCUMENT", value_parser = ["R0", "R1", "R2", "R3", "R4", "R5", "R6"])]
    pub documents: Vec<String>,
    /// Samples of the inputs that documents do not state (8 to 1024); 0 uses the assumed values
    /// alone
    #[arg(long, value_name = "N", default_value_t = SAMPLES, value_parser = samples)]
    pub samples: usize,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Also show what limits each modelled figure: the station that, made 10 % faster, improves it
    /// most; takes about twice as long
    #[arg(long)]
    pub limits: bool,
    /// Write a page with published and modelled figures side by side to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

fn samples(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(samples @ (0 | 8..=1024)) => Ok(samples),
        _ => Err("must be 0, or from 8 to 1024".to_owned()),
    }
}
