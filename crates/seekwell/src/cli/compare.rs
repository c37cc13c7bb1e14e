//! `seekwell compare` and `seekwell runs trend`: what can be typed.

use super::values::ValueError;
use super::{Force, ReadFrom};
use clap::{Args, ValueHint};
use seekwell_compare::{Claim, Margin};
use std::path::PathBuf;

/// A claim that is to be checked, with the margin it names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expect {
    /// The claim.
    pub claim: Claim,
    /// The margin after the colon.
    pub margin: Option<Margin>,
}

/// `seekwell compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  seekwell bench --on /srv --label piix     a few times, then change one thing, then
  seekwell bench --on /srv --label ahci     as often again
  seekwell compare piix ahci                what changed, and is it significant?
  seekwell compare before.json after.json   two outputs of fio --output-format=json
  seekwell compare before.csv after.csv     bonnie++ lines; one file of two lines will do
  seekwell compare composite.xml            the systems of a Phoronix result file
  seekwell compare piix ahci --expect faster && echo keep it

A verdict takes four runs of each side. One run of each is a table of changes, never a verdict.")]
pub struct Compare {
    /// Labels, runs, bundles, or files of fio, hdparm, bonnie++ and Phoronix; the first is the
    /// baseline
    ///
    /// Resolved in this order: all complete runs with this label; a run ID, part of one, or
    /// `last`; a bundle, a file, or a folder of files, each file being a run. Several with
    /// commas between are one side. FILE#NAME is one system of a Phoronix file. A single file that
    /// holds several bonnie++ lines or Phoronix systems is compared within itself.
    #[arg(required = true, value_name = "SIDE", value_hint = ValueHint::AnyPath)]
    pub sides: Vec<String>,
    /// The metric that decides: METRIC or WORKLOAD/METRIC, such as
    /// rand-read-4k-d32/read.requests_per_s
    ///
    /// Its verdict stands alone; those of the other workloads are adjusted for their number (Holm),
    /// and the rest is exploratory.
    #[arg(long)]
    pub metric: Option<String>,
    /// Smallest difference that matters [default: 2% for rates, 5% for latencies]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<Margin>,
    /// Exit with status 1 unless the data show this: faster, slower, equivalent or
    /// equivalent:PERCENT
    ///
    /// Undecided counts as not shown. Applies to the metric named with --metric; with several
    /// sides, of each against the first.
    #[arg(long, value_name = "CLAIM", value_parser = expect)]
    pub expect: Option<Expect>,
    /// Show numbers of different workloads side by side, without any verdict
    #[arg(long)]
    pub different_workloads: bool,
    /// Show every metric and every difference
    #[arg(long)]
    pub all: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Write the comparison as one page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Also write the sides and their runs to FILE as a result file of the Phoronix Test Suite
    ///
    /// Put it at ~/.phoronix-test-suite/test-results/NAME/composite.xml to see it there.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub phoronix: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Where runs are read from.
    #[command(flatten)]
    pub from: ReadFrom,
}

/// `seekwell runs trend`.
#[derive(Debug, Args)]
pub struct Trend {
    /// The metric: read.requests_per_s, or PHASE/METRIC
    pub metric: String,
    /// The phase, where several have the metric
    #[arg(long)]
    pub phase: Option<String>,
    /// Only runs with this label [default: that of the newest run with this metric]
    #[arg(long)]
    pub label: Option<String>,
    /// Only runs of this host
    #[arg(long)]
    pub host: Option<String>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Where runs are read from.
    #[command(flatten)]
    pub from: ReadFrom,
}

/// A margin in percent: `2%`, `2`, `0.5 %`.
///
/// # Errors
/// [`ValueError`] when it is not a number above 0 and below 100.
pub fn margin(text: &str) -> Result<Margin, ValueError> {
    let found = || text.chars().take(40).collect();
    let number = text.trim().trim_end_matches('%').trim_end();
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let percent = number.parse::<f64>().ok().filter(|_| plain).ok_or_else(|| {
        ValueError::Unreadable { found: found(), what: "margin", example: "2% or 0.5%" }
    })?;
    let out_of_range =
        |_| ValueError::OutOfRange { found: found(), range: "above 0 % and below 100 %" };
    Margin::new(percent / 100.0).map_err(out_of_range)
}

/// A claim: `faster`, `slower`, `equivalent`, `equivalent:3%`.
///
/// # Errors
/// [`ValueError`] when it is something else.
pub fn expect(text: &str) -> Result<Expect, ValueError> {
    let (claim, after) = match text.split_once(':') {
        Some((claim, margin)) => (claim, Some(margin)),
        None => (text, None),
    };
    match (claim, after) {
        ("faster", None) => Ok(Expect { claim: Claim::Faster, margin: None }),
        ("slower", None) => Ok(Expect { claim: Claim::Slower, margin: None }),
        ("equivalent", after) => {
            Ok(Expect { claim: Claim::Equivalent, margin: after.map(margin).transpose()? })
        }
        _ => Err(ValueError::Unreadable {
            found: text.chars().take(40).collect(),
            what: "claim",
            example: "faster, slower, equivalent or equivalent:3%",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_percent_with_or_without_the_sign() {
        for text in ["2%", "2", "2.0 %"] {
            assert_eq!(margin(text), Ok(Margin::THROUGHPUT), "{text}");
        }
        for text in ["", "%", "x", "-1", "0", "100%", "inf", "1e1"] {
            assert!(margin(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_claim_may_name_its_margin_where_that_means_something() {
        assert_eq!(expect("faster"), Ok(Expect { claim: Claim::Faster, margin: None }));
        let equivalent = expect("equivalent:5%").unwrap();
        assert_eq!((equivalent.claim, equivalent.margin), (Claim::Equivalent, Some(Margin::P99)));
        for text in ["", "Faster", "faster:3%", "equivalent:", "same"] {
            assert!(expect(text).is_err(), "{text}");
        }
    }
}
