//! Writes the pages of the sample runs to a folder, to be looked at in a browser:
//! `cargo run -p seekwell-report --example pages -- FOLDER`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use seekwell_report::{SideRuns, html_comparison, html_experiment, html_fleet};
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
    let kept = |name: &str, runs| SideRuns { name: name.to_owned(), runs };
    let sides = [
        kept("piix", vec![sample::degraded(), sample::rich()]),
        kept("ahci", vec![sample::rich()]),
    ];
    for (name, comparison) in
        [("published", sample::questions::published()), ("several", sample::questions::several())]
    {
        let page = html_comparison(&comparison, &sides)?;
        fs::write(folder.join(format!("{name}.html")), page)?;
    }
    for (name, effect) in [("experiment", 1.031), ("equivalent", 1.0)] {
        let document = sample::questions::experiment(effect, "/dev/sda");
        fs::write(folder.join(format!("{name}.html")), html_experiment(&document)?)?;
    }
    fs::write(folder.join("fleet.html"), html_fleet(&sample::fleet::fleet())?)?;
    Ok(())
}
