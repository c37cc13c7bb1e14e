//! Dated pages of measurements: facts about the machine, one table, raw values.

use crate::{Failure, process, root};
use seekwell_io::units;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Ns,
    PerSecond,
    BytesPerSecond,
    Bytes,
    /// Any other, as it is written after the number.
    Named(&'static str),
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::PerSecond => "per_s",
            Self::BytesPerSecond => "bytes_per_s",
            Self::Bytes => "bytes",
            Self::Named(name) => name,
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Ns => units::time(value),
            Self::PerSecond => format!("{}/s", units::iops(value)),
            Self::BytesPerSecond => units::bytes_per_s(value),
            Self::Bytes => units::capacity(value as u64),
            Self::Named(name) => format!("{} {name}", number(value)).trim_end().to_owned(),
        }
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{:.2} M", value / 1e6),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// The bound that a row must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wanted {
    AtLeast(f64),
    AtMost(f64),
    /// Ours over theirs, and so below.
    RatioAtLeast(f64),
    RatioAtMost(f64),
    /// Differs from 1 by at most this.
    RatioWithin(f64),
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub what: String,
    pub unit: Unit,
    /// In order of rounds.
    pub ours: Vec<f64>,
    /// The rival's values in the same rounds.
    pub theirs: Option<Vec<f64>>,
    pub wanted: Wanted,
}

/// Median, smallest and largest.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let spread = seekwell_runs::Spread::of(values);
    spread.map_or((f64::NAN, f64::NAN, f64::NAN), |s| (s.median, s.low, s.high))
}

impl Row {
    /// A row without a rival.
    pub fn new(what: impl Into<String>, unit: Unit, values: Vec<f64>, wanted: Wanted) -> Self {
        Self { what: what.into(), unit, ours: values, theirs: None, wanted }
    }

    /// A row beside its rival's.
    pub fn beside(
        what: impl Into<String>,
        unit: Unit,
        (ours, theirs): (Vec<f64>, Vec<f64>),
        wanted: Wanted,
    ) -> Self {
        Self { what: what.into(), unit, ours, theirs: Some(theirs), wanted }
    }

    /// Adds the values of another round.
    pub fn add(&mut self, round: Self) {
        self.ours.extend(round.ours);
        if let Some(theirs) = &mut self.theirs {
            theirs.extend(round.theirs.unwrap_or_default());
        }
    }

    /// Ours over theirs, by round.
    fn ratios(&self) -> Option<Vec<f64>> {
        let theirs = self.theirs.as_ref()?;
        Some(self.ours.iter().zip(theirs).map(|(a, b)| a / b).collect())
    }

    /// Whether the medians keep the bound; `None` if there is none.
    pub fn met(&self) -> Option<bool> {
        let ours = spread(&self.ours).0;
        let ratio = self.ratios().map_or(f64::NAN, |r| spread(&r).0);
        match self.wanted {
            Wanted::AtLeast(least) => Some(ours >= least),
            Wanted::AtMost(most) => Some(ours <= most),
            Wanted::RatioAtLeast(least) => Some(ratio >= least),
            Wanted::RatioAtMost(most) => Some(ratio <= most),
            Wanted::RatioWithin(margin) => Some((ratio - 1.0).abs() <= margin),
            Wanted::Nothing => None,
        }
    }

    /// Its cells; those of the rival only where the table has any.
    fn cells(&self, rivals: bool) -> Vec<String> {
        let none = || "–".to_owned();
        let show = |values: &[f64]| {
            let (median, low, high) = spread(values);
            let bound = |v| match self.unit {
                Unit::Named(_) => number(v),
                unit => unit.show(v),
            };
            match values.len() {
                1 => self.unit.show(median),
                _ => format!("{} ({} … {})", self.unit.show(median), bound(low), bound(high)),
            }
        };
        let ratio = self.ratios().map(|r| {
            let (median, low, high) = spread(&r);
            format!("{median:.2} ({low:.2} … {high:.2})")
        });
        let wanted = match self.wanted {
            Wanted::AtLeast(least) => format!("≥ {}", self.unit.show(least)),
            Wanted::AtMost(most) => format!("≤ {}", self.unit.show(most)),
            Wanted::RatioAtLeast(least) => format!("ratio ≥ {least:.2}"),
            Wanted::RatioAtMost(most) => format!("ratio ≤ {most:.2}"),
            Wanted::RatioWithin(margin) => {
                format!("ratio {:.2} … {:.2}", 1.0 - margin, 1.0 + margin)
            }
            Wanted::Nothing => none(),
        };
        let met = self.met().map_or("–", |met| if met { "yes" } else { "**no**" });
        let mut cells = vec![self.what.clone(), show(&self.ours)];
        if rivals {
            cells.push(self.theirs.as_deref().map_or_else(none, show));
            cells.push(ratio.unwrap_or_else(none));
        }
        cells.extend([wanted, met.to_owned()]);
        cells
    }
}

pub struct Page {
    /// What the rival is called.
    rival: &'static str,
    facts: Vec<(&'static str, String)>,
    pub rows: Vec<Row>,
    /// What could not be measured, and why.
    missing: Vec<(String, String)>,
}

impl Page {
    /// An empty one that knows the machine, but neither its name nor a path on it.
    pub fn new(rival: &'static str) -> Result<Self, Failure> {
        let mut describe = Command::new("git");
        describe.args(["describe", "--always", "--dirty"]).current_dir(root());
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let facts = vec![
            ("CPU", cpu_model()?),
            ("CPUs online", std::thread::available_parallelism()?.to_string()),
            ("kernel", kernel.trim().to_owned()),
            ("commit", process::first_line(&mut describe)),
        ];
        Ok(Self { rival, facts, rows: Vec::new(), missing: Vec::new() })
    }

    /// The same, with the version of the program that is measured.
    pub fn of(seekwell: &Path, rival: &'static str) -> Result<Self, Failure> {
        let mut page = Self::new(rival)?;
        page.fact("seekwell", process::first_line(Command::new(seekwell).arg("--version")));
        Ok(page)
    }

    pub fn fact(&mut self, key: &'static str, value: String) {
        self.facts.push((key, value));
    }

    pub fn missing(&mut self, what: impl Into<String>, why: impl ToString) {
        self.missing.push((what.into(), why.to_string()));
    }

    /// Whether no bound is broken.
    pub fn all_met(&self) -> bool {
        self.rows.iter().all(|row| row.met() != Some(false))
    }

    pub fn table(&self) -> String {
        let rivals = self.rows.iter().any(|row| row.theirs.is_some());
        let heads: &[&str] = if rivals {
            &["", "seekwell", self.rival, "ratio", "wanted", "met"]
        } else {
            &["", "seekwell", "wanted", "met"]
        };
        let rows = self.rows.iter().map(|row| row.cells(rivals));
        let missing = self.missing.iter().map(|(what, why)| {
            let mut cells = vec![what.clone(), format!("not measured: {why}")];
            cells.resize(heads.len(), String::new());
            cells
        });
        table(heads, rows.chain(missing))
    }

    fn text(&self, title: &str, how: &str) -> String {
        let mut out = format!("# {title}\n\n");
        for (key, value) in &self.facts {
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

    /// [`Self::write`], and whether no bound is broken.
    pub fn finish(
        &self,
        out: Option<&Path>,
        name: &str,
        title: &str,
        how: &str,
    ) -> Result<ExitCode, Failure> {
        self.write(out, name, title, how)?;
        Ok(if self.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Prints the table and writes the page to `out`, or to docs/bench under its name and today's
    /// date. `how` says how it was measured.
    #[expect(clippy::print_stdout, reason = "the table is the result")]
    pub fn write(
        &self,
        out: Option<&Path>,
        name: &str,
        title: &str,
        how: &str,
    ) -> Result<(), Failure> {
        let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
        let out: PathBuf = out.map_or_else(
            || root().join(format!("docs/bench/{today}-{name}.md")),
            Path::to_path_buf,
        );
        out.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&out, self.text(&format!("{title}, {today}"), how))?;
        println!("{}\nWritten to {}.", self.table(), out.display());
        Ok(())
    }
}

/// A table in Markdown. All columns but the first are figures.
pub fn table(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(heads);
    out += &format!("|---|{}\n", "---:|".repeat(heads.len() - 1));
    for row in rows {
        out += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    out
}

fn cpu_model() -> Result<String, Failure> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let line = text.lines().find(|l| l.starts_with("model name"));
    let model = line.and_then(|l| l.split_once(':')).map(|(_, model)| model.trim());
    Ok(model.unwrap_or(std::env::consts::ARCH).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(wanted: Wanted, ours: &[f64], theirs: &[f64]) -> Row {
        Row::beside("loop: rate", Unit::PerSecond, (ours.to_vec(), theirs.to_vec()), wanted)
    }

    fn page(rows: Vec<Row>) -> Page {
        Page { rival: "fio", facts: Vec::new(), rows, missing: Vec::new() }
    }

    #[test]
    fn a_row_that_is_lost_says_no() {
        let lost = row(Wanted::RatioAtLeast(1.0), &[90e3, 95e3, 99e3], &[100e3, 100e3, 100e3]);
        let page = page(vec![lost]);
        assert!(!page.all_met());
        assert_eq!(
            page.table().lines().nth(2).unwrap(),
            "| loop: rate | 95.0k/s (90.0k/s … 99.0k/s) | 100k/s (100k/s … 100k/s) \
             | 0.95 (0.90 … 0.99) | ratio ≥ 1.00 | **no** |"
        );
    }

    #[test]
    fn a_table_without_a_rival_has_no_columns_for_one() {
        let per_s = Unit::Named("requests/s of CPU");
        let mut page = page(vec![
            Row::new("import", per_s, vec![9e6, 8.5e6, 8.1e6], Wanted::AtLeast(8e6)),
            Row::new("drift", Unit::Named("ppm"), vec![0.125], Wanted::AtMost(1000.0)),
        ]);
        page.missing("zram", "needs root");
        assert!(page.all_met());
        assert_eq!(
            page.table(),
            "|  | seekwell | wanted | met |\n|---|---:|---:|---:|\n\
             | import | 8.50 M requests/s of CPU (8.10 M … 9.00 M) | ≥ 8.00 M requests/s of CPU | yes |\n\
             | drift | 0.12 ppm | ≤ 1000 ppm | yes |\n\
             | zram | not measured: needs root |  |  |\n"
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
}
