//! The Markdown that `bench-trace` writes: the machine, one table, raw values.

use super::Bench;
use crate::Failure;
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// One thing measured several times.
pub struct Row {
    /// What was measured.
    pub what: String,
    /// Its unit, as in `requests/s of CPU`.
    pub unit: &'static str,
    /// One value for each round.
    pub values: Vec<f64>,
    /// The least that is promised, where something is.
    pub at_least: Option<f64>,
}

/// Everything measured.
pub struct Page {
    machine: Vec<String>,
    /// Each with the most that is promised, where something is.
    rows: Vec<(Row, Option<f64>)>,
    missing: Vec<(String, String)>,
}

impl Page {
    /// An empty one that knows the machine; neither a host name nor a path is in it.
    pub fn new(bench: &Bench) -> Result<Self, Failure> {
        let cpu = fs::read_to_string("/proc/cpuinfo")?;
        let cpu = cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
        let version = Command::new(&bench.seekwell).arg("--version").output()?.stdout;
        let machine = vec![
            format!("CPU: {}", cpu.map_or(std::env::consts::ARCH, |(_, name)| name)),
            format!("CPUs online: {}", std::thread::available_parallelism()?),
            format!("kernel: {}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim()),
            format!("seekwell: {}", String::from_utf8_lossy(&version).trim()),
        ];
        Ok(Self { machine, rows: Vec::new(), missing: Vec::new() })
    }

    /// Adds what was measured.
    pub fn row(&mut self, row: Row) {
        self.rows.push((row, None));
    }

    /// Adds what was measured and may be so much at most.
    pub fn at_most(&mut self, row: Row, most: f64) {
        self.rows.push((row, Some(most)));
    }

    /// Adds what could not be measured, and why.
    pub fn missing(&mut self, what: &str, why: String) {
        self.missing.push((what.to_owned(), why));
    }

    /// Whether every promise was kept.
    pub fn all_met(&self) -> bool {
        self.rows.iter().all(|(row, most)| row.promise(*most).is_none_or(|(_, met)| met))
    }

    /// The page.
    pub fn text(&self, date: &str) -> String {
        let mut out = format!("# Traces, {date}\n\n");
        for line in &self.machine {
            writeln!(out, "- {line}").expect("memory takes it");
        }
        out.push_str(
            "\nMade by `cargo xtask bench-trace`. Whole processes of the release build, start-up \
             included; rates are per second of CPU time, user and kernel, so that other load on \
             the machine counts little. Medians and ranges.\n\n\
             | | median | range | wanted | met |\n|---|---|---|---|---|\n",
        );
        for (row, most) in &self.rows {
            out.push_str(&row.line(*most));
        }
        for (what, why) in &self.missing {
            writeln!(out, "| {what} | not measured: {why} | | | – |").expect("memory takes it");
        }
        out.push_str("\n## Raw values\n\n```csv\nwhat,unit,in order of rounds\n");
        for (row, _) in &self.rows {
            let values: Vec<String> = row.values.iter().map(|v| format!("{v:.0}")).collect();
            let line = format!("\"{}\",\"{}\",{}", row.what, row.unit, values.join(","));
            writeln!(out, "{line}").expect("memory takes it");
        }
        out.push_str("```\n");
        out
    }
}

impl Row {
    fn sorted(&self) -> Vec<f64> {
        let mut all = self.values.clone();
        all.sort_by(f64::total_cmp);
        all
    }

    /// The middle value; of two, the lower.
    pub fn median(&self) -> f64 {
        let all = self.sorted();
        all.get(all.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
    }

    /// What is promised, in words, and whether it was kept.
    fn promise(&self, most: Option<f64>) -> Option<(String, bool)> {
        let median = self.median();
        let least = self.at_least.map(|n| (format!("≥ {}", show(n)), median >= n));
        least.or_else(|| most.map(|n| (format!("≤ {}", show(n)), median <= n)))
    }

    fn line(&self, most: Option<f64>) -> String {
        let all = self.sorted();
        let (low, high) = (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0));
        let (wanted, met) = match self.promise(most) {
            Some((wanted, true)) => (wanted, "yes"),
            Some((wanted, false)) => (wanted, "**no**"),
            None => ("–".to_owned(), "–"),
        };
        let (what, unit, median) = (&self.what, self.unit, show(self.median()));
        format!(
            "| {what} | {median} {unit} | {} … {} | {wanted} | {met} |\n",
            show(low),
            show(high)
        )
    }
}

fn show(value: f64) -> String {
    if value >= 1e6 { format!("{:.2} M", value / 1e6) } else { format!("{value:.0}") }
}
