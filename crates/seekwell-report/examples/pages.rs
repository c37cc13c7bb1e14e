//! Writes the pages of the sample runs to a folder, to be looked at in a browser:
//! `cargo run -p seekwell-report --example pages -- FOLDER`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::args_os().nth(1).ok_or("name a folder")?);
    let all = [
        ("rich", vec![sample::rich()]),
        ("array", vec![sample::array()]),
        ("degraded", vec![sample::degraded()]),
        ("two", vec![sample::rich(), sample::array()]),
    ];
    for (name, runs) in all {
        fs::write(folder.join(format!("{name}.html")), seekwell_report::html(&runs)?)?;
    }
    Ok(())
}
