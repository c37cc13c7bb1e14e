//! A figure of a suite and of its peer, measured in turn.

use crate::Failure;
use seekwell_suites::{Level, Round, Settings, find};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The same figure, ours and theirs, one of each for every round. Higher is better.
pub struct Pair {
    /// What was measured.
    pub what: String,
    /// The other program.
    pub peer: &'static str,
    /// Of both.
    pub unit: &'static str,
    /// How far apart they may be.
    pub allowed_percent: f64,
    /// Ours by round.
    pub ours: Vec<f64>,
    /// Theirs by round.
    pub theirs: Vec<f64>,
}

impl Pair {
    /// Ours over theirs in each round, sorted.
    pub fn ratios(&self) -> Vec<f64> {
        let mut ratios: Vec<_> =
            self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }
}

/// Measures both in every round, taking turns at going first.
pub fn alternate(
    rounds: u32,
    mut ours: impl FnMut() -> Result<f64, Failure>,
    mut theirs: impl FnMut() -> Result<f64, Failure>,
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            a.push(ours()?);
            b.push(theirs()?);
        } else {
            b.push(theirs()?);
            a.push(ours()?);
        }
    }
    Ok((a, b))
}

/// One value of one step of a suite, run in this process.
pub fn run_suite(
    name: &str,
    set: &[(&str, &str)],
    dir: &Path,
    step: usize,
    value: &str,
) -> Result<f64, Failure> {
    let suite = find(name)?;
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let settings = Settings::new(suite, Level::Quick, &set)?;
    let mut round = Round::begin(suite, &settings, dir, true, None, 1)?;
    let result = round.run(step, &AtomicBool::new(false), &|_| ())?;
    result.values.get(value).copied().ok_or_else(|| format!("{name} gave no {value}").into())
}
