//! `seekwell reproduce`.

use super::Force;
use clap::{Args, ValueHint};
use seekwell_reproduce::POINTS;
use std::path::PathBuf;

/// `seekwell reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Only these documents: R0 to R6 [default: R0 to R4; R5 and R6 take a minute]
    #[arg(value_name = "DOCUMENT", value_parser = ["R0", "R1", "R2", "R3", "R4", "R5", "R6"])]
    pub documents: Vec<String>,
    /// Model each figure that a document's inputs leave open at this many points of their ranges;
    /// 0 for the assumed inputs alone
    #[arg(long, value_name = "N", default_value_t = POINTS, value_parser = points)]
    pub points: usize,
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

fn points(text: &str) -> Result<usize, String> {
    let points: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    match points {
        0 | 8..=1024 => Ok(points),
        _ => Err("0, or 8 to 1024".to_owned()),
    }
}
