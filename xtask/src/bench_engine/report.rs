//! The table of this program beside rivals, and the dated page with raw values.

use crate::{Failure, root};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Requests, files or whatever is counted, a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Bytes.
    Bytes,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::PerSecond => "per_s",
            Self::BytesPerSecond => "bytes_per_s",
            Self::Bytes => "bytes",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Ns if value >= 1e6 => format!("{:.1} ms", value / 1e6),
            Self::Ns if value >= 1e4 => format!("{:.1} µs", value / 1e3),
            Self::Ns => format!("{value:.0} ns"),
            Self::PerSecond if value >= 1e6 => format!("{:.2} M/s", value / 1e6),
            Self::PerSecond if value >= 1e3 => format!("{:.1} k/s", value / 1e3),
            Self::PerSecond => format!("{value:.1} /s"),
            Self::BytesPerSecond => format!("{:.1} MB/s", value / 1e6),
            Self::Bytes => format!("{:.1} MB", value / 1e6),
        }
    }
}

/// What a row must show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wanted {
    /// Our value is at most this.
    AtMost(f64),
    /// Ours over theirs is at least this.
    RatioAtLeast(f64),
    /// Ours over theirs is at most this.
    RatioAtMost(f64),
    /// Ours over theirs differs from 1 by at most this.
    RatioWithin(f64),
    /// It is only shown.
    Nothing,
}

/// One thing measured several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What, in words.
    pub what: String,
    /// Its unit.
    pub unit: Unit,
    /// seekwell's values, in order.
    pub ours: Vec<f64>,
    /// The rival's values, in order, of the same rounds.
    pub theirs: Option<Vec<f64>>,
    /// What is wanted.
    pub wanted: Wanted,
}

/// Median, smallest and largest.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let spread = seekwell_runs::Spread::of(values);
    spread.map_or((f64::NAN, f64::NAN, f64::NAN), |s| (s.median, s.low, s.high))
}

impl Row {
    /// Ours over theirs, by round.
    fn ratios(&self) -> Option<Vec<f64>> {
        let theirs = self.theirs.as_ref()?;
        Some(self.ours.iter().zip(theirs).map(|(a, b)| a / b).collect())
    }

    /// Whether what is wanted is met by the medians; `None` where nothing is wanted.
    pub fn met(&self) -> Option<bool> {
        let ratio = self.ratios().map_or(f64::NAN, |r| spread(&r).0);
        match self.wanted {
            Wanted::AtMost(most) => Some(spread(&self.ours).0 <= most),
            Wanted::RatioAtLeast(least) => Some(ratio >= least),
            Wanted::RatioAtMost(most) => Some(ratio <= most),
            Wanted::RatioWithin(margin) => Some((ratio - 1.0).abs() <= margin),
            Wanted::Nothing => None,
        }
    }

    fn line(&self) -> String {
        let show = |values: &[f64]| {
            let (median, low, high) = spread(values);
            if values.len() == 1 {
                return self.unit.show(median);
            }
            let unit = |v| self.unit.show(v);
            format!("{} ({} … {})", unit(median), unit(low), unit(high))
        };
        let ratio = self.ratios().map(|r| {
            let (median, low, high) = spread(&r);
            format!("{median:.2} ({low:.2} … {high:.2})")
        });
        let wanted = match self.wanted {
            Wanted::AtMost(most) => format!("≤ {}", self.unit.show(most)),
            Wanted::RatioAtLeast(least) => format!("ratio ≥ {least:.2}"),
            Wanted::RatioAtMost(most) => format!("ratio ≤ {most:.2}"),
            Wanted::RatioWithin(margin) => {
                format!("ratio {:.2} … {:.2}", 1.0 - margin, 1.0 + margin)
            }
            Wanted::Nothing => "–".to_owned(),
        };
        let met = self.met().map_or("–", |met| if met { "yes" } else { "**no**" });
        let theirs = self.theirs.as_deref().map_or_else(|| "–".to_owned(), show);
        let ratio = ratio.unwrap_or_else(|| "–".to_owned());
        let ours = show(&self.ours);
        format!("| {} | {ours} | {theirs} | {ratio} | {wanted} | {met} |", self.what)
    }
}

/// Everything measured.
pub struct Report {
    /// What the rival is called.
    rival: &'static str,
    machine: Vec<(String, String)>,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What was not, and why.
    pub not_measured: Vec<(String, String)>,
}

impl Report {
    /// An empty one that knows the machine. Neither a host name nor a path is in it.
    /// `versions` are the rivals' own words.
    pub fn new(
        seekwell: &Path,
        rival: &'static str,
        versions: Vec<String>,
    ) -> Result<Self, Failure> {
        let seekwell = first_line_of(Command::new(seekwell).arg("--version"));
        let commit = first_line_of(
            Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root()),
        );
        let machine = [
            ("CPU", cpu_model()?),
            ("CPUs online", std::thread::available_parallelism()?.to_string()),
            ("kernel", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned()),
            ("seekwell", format!("{seekwell}, commit {commit}")),
            ("rival", versions.join("; ")),
        ];
        let machine = machine.map(|(key, value)| (key.to_owned(), value)).to_vec();
        Ok(Self { rival, machine, rows: Vec::new(), not_measured: Vec::new() })
    }

    /// The table, as Markdown.
    pub fn table(&self) -> String {
        let mut out = format!(
            "| | seekwell | {} | ratio | wanted | met |\n|---|---|---|---|---|---|\n",
            self.rival
        );
        for row in &self.rows {
            let _ = writeln!(out, "{}", row.line());
        }
        for (what, why) in &self.not_measured {
            let _ = writeln!(out, "| {what} | not measured: {why} | | | | – |");
        }
        out
    }

    /// The whole page. `how` tells how it was measured.
    pub fn markdown(&self, title: &str, how: &str) -> String {
        let mut out = format!("# {title}\n\n");
        for (key, value) in &self.machine {
            let _ = writeln!(out, "- {key}: {value}");
        }
        let _ = write!(out, "\n{how}\n\n{}\n", self.table());
        out.push_str("## Raw values\n\n```csv\nwhat,tool,unit,values in order of rounds\n");
        for row in &self.rows {
            let rivals = [("seekwell", Some(&row.ours)), (self.rival, row.theirs.as_ref())];
            for (tool, values) in rivals {
                let Some(values) = values else { continue };
                let values: Vec<String> = values.iter().map(|v| format!("{v:.1}")).collect();
                let unit = row.unit.name();
                let _ = writeln!(out, "\"{}\",{tool},{unit},{}", row.what, values.join(","));
            }
        }
        out.push_str("```\n");
        out
    }
}

fn cpu_model() -> Result<String, Failure> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let line = text.lines().find(|l| l.starts_with("model name"));
    let model = line.and_then(|l| l.split_once(':')).map(|(_, model)| model.trim());
    Ok(model.unwrap_or(std::env::consts::ARCH).to_owned())
}

/// The first line a command prints, such as its version.
pub fn first_line_of(command: &mut Command) -> String {
    let output = command.output().map(|o| o.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    text.lines().next().map_or_else(|| "not known".to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(wanted: Wanted, ours: &[f64], theirs: &[f64]) -> Row {
        Row {
            what: "loop: rate".into(),
            unit: Unit::PerSecond,
            ours: ours.to_vec(),
            theirs: Some(theirs.to_vec()),
            wanted,
        }
    }

    #[test]
    fn a_row_that_is_lost_says_no() {
        let lost = row(Wanted::RatioAtLeast(1.0), &[90e3, 95e3, 99e3], &[100e3, 100e3, 100e3]);
        let line = lost.line();
        assert_eq!(
            line,
            "| loop: rate | 95.0 k/s (90.0 k/s … 99.0 k/s) | 100.0 k/s (100.0 k/s … 100.0 k/s) \
             | 0.95 (0.90 … 0.99) | ratio ≥ 1.00 | **no** |"
        );
    }

    #[test]
    fn ratios_are_formed_within_a_round_and_not_from_medians() {
        let drifting = row(Wanted::RatioAtMost(1.0), &[1.0, 10.0, 100.0], &[2.0, 20.0, 200.0]);
        assert_eq!(drifting.ratios(), Some(vec![0.5; 3]));
        assert_eq!(drifting.met(), Some(true));
    }

    #[test]
    fn within_a_margin_means_on_both_sides() {
        for (ours, met) in [(0.8, false), (0.95, true), (1.05, true), (1.2, false)] {
            assert_eq!(row(Wanted::RatioWithin(0.1), &[ours], &[1.0]).met(), Some(met), "{ours}");
        }
    }

    #[test]
    fn what_was_not_measured_stands_in_the_table_with_the_reason() {
        let report = Report {
            rival: "fio",
            machine: Vec::new(),
            rows: Vec::new(),
            not_measured: vec![("zram".into(), "needs root".into())],
        };
        assert!(report.table().contains("| zram | not measured: needs root |"));
    }
}
