//! Inputs that documents do not state: the range of each, and samples of them.

use crate::error::ReproduceError;
use crate::row::{How, Row};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use seekwell_suites::load::{Drawn, Load, Pace, Played, Shape};
use serde::Deserialize;
use std::sync::LazyLock;

/// The ranges and their sources. `unstated.lock` records those that were reviewed.
const RANGES: &str = include_str!("unstated.toml");

/// An input that a document does not state.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unstated {
    /// The beginnings of the ids of the rows that depend on it.
    pub rows: Vec<String>,
    /// What it is, with its unit.
    pub name: String,
    /// What it sets.
    pub set: Key,
    /// Its range.
    pub range: Range,
    /// The source of the range.
    pub source: String,
}

/// What an input sets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Key {
    /// An input of the load.
    Load(Knob),
    /// A key of the machine's description.
    Machine(String),
    /// A factor on the figure: how much one run of a measurement differs from the next.
    RunToRun,
}

/// An input of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knob {
    /// Requests outstanding.
    Depth,
    /// Bytes of a request.
    Bytes,
    /// Bytes of the disk in use, from its start.
    Region,
    /// The share of requests that the page cache serves.
    Cached,
    /// Concurrent writes outstanding.
    BesideDepth,
    /// Bytes of a concurrent write.
    BesideBytes,
}

const KNOBS: [(&str, Knob); 6] = [
    ("load.depth", Knob::Depth),
    ("load.bytes", Knob::Bytes),
    ("load.region_bytes", Knob::Region),
    ("load.cached", Knob::Cached),
    ("load.beside_depth", Knob::BesideDepth),
    ("load.beside_bytes", Knob::BesideBytes),
];

impl From<String> for Key {
    fn from(set: String) -> Self {
        match KNOBS.iter().find(|(name, _)| *name == set) {
            Some((_, knob)) => Self::Load(*knob),
            None if set == "run_to_run" => Self::RunToRun,
            None => Self::Machine(set),
        }
    }
}

/// The range of an input.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Range {
    /// A continuous range.
    Between {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// Whether it is uniform on a logarithmic scale rather than a linear one.
        #[serde(default)]
        log: bool,
    },
    /// One of these, equally likely.
    OneOf(Vec<toml::Value>),
}

impl Range {
    /// The value at a place from 0 to 1.
    fn at(&self, place: f64) -> toml::Value {
        match self {
            Self::OneOf(values) => {
                let index = (place * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Self::Between { low, high, log: true } => (low * (high / low).powf(place)).into(),
            Self::Between { low, high, log: false } => (low + (high - low) * place).into(),
        }
    }

    /// The part of the range that a place falls in: a value, or a quarter of a continuous range.
    pub(crate) fn part(&self, place: f64) -> usize {
        let parts = match self {
            Self::OneOf(values) => values.len(),
            Self::Between { .. } => 4,
        };
        (place * parts as f64) as usize
    }

    fn words(&self) -> String {
        match self {
            Self::Between { low, high, .. } => format!("{low} to {high}"),
            Self::OneOf(values) => {
                let word = |value: &toml::Value| value.to_string().replace('"', "");
                values.iter().map(word).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// All of them, in the order of the documents.
pub fn unstated() -> &'static [Unstated] {
    #[derive(Deserialize)]
    struct File {
        input: Vec<Unstated>,
    }
    static ALL: LazyLock<Vec<Unstated>> = LazyLock::new(|| {
        let file: File = toml::from_str(RANGES).expect("the ranges are tested");
        file.input
    });
    &ALL
}

impl Unstated {
    /// Its range in words.
    pub fn words(&self) -> String {
        self.range.words()
    }

    /// Whether a row depends on it.
    pub fn is_of(&self, row: &Row) -> bool {
        let id = row.id();
        self.rows.iter().any(|begin| id.starts_with(begin))
    }

    /// The inputs of a row, without run-to-run variation.
    pub fn of(row: &Row) -> impl Iterator<Item = &'static Self> {
        unstated().iter().filter(move |input| input.set != Key::RunToRun && input.is_of(row))
    }
}

/// One sample of the inputs of a test: each with its place in its range, from 0 to 1.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    inputs: Vec<(&'static Unstated, f64)>,
}

impl Sample {
    /// A Latin hypercube of the inputs of a test. All configurations of the test share it, so that
    /// the ratio of two of them varies only where they respond differently.
    pub fn of(row: &Row, count: usize) -> Vec<Self> {
        let inputs: Vec<&Unstated> = Unstated::of(row).collect();
        let name = format!("{} {}", row.document, row.what);
        let columns: Vec<Vec<f64>> =
            inputs.iter().map(|input| column(&format!("{name} {}", input.name), count)).collect();
        let sample = |index: usize| {
            let places = inputs.iter().zip(&columns).map(|(input, column)| (*input, column[index]));
            Self { inputs: places.collect() }
        };
        (0..count).map(sample).collect()
    }

    /// Each input and its place.
    pub fn inputs(&self) -> &[(&'static Unstated, f64)] {
        &self.inputs
    }

    /// The machine's parameters that it sets.
    pub fn machine(&self) -> Vec<(String, String)> {
        let set = self.inputs.iter().filter_map(|(input, place)| match &input.set {
            Key::Machine(key) => {
                let value = input.range.at(*place);
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Some((key.clone(), text))
            }
            _ => None,
        });
        set.collect()
    }

    /// The row's load with the inputs that it sets.
    ///
    /// # Errors
    /// [`ReproduceError::NoInput`] where the load has no such input.
    pub fn load(&self, row: &Row, load: &Load) -> Result<Load, ReproduceError> {
        let mut load = load.clone();
        for (input, place) in &self.inputs {
            if let Key::Load(knob) = input.set {
                let missing =
                    || ReproduceError::NoInput { row: row.id(), name: input.name.clone() };
                load = with_input(load, knob, &input.range.at(*place)).ok_or_else(missing)?;
            }
        }
        Ok(load)
    }
}

/// Run-to-run factors, one for each sample; each configuration has its own.
pub(crate) fn run_to_run(row: &Row, count: usize) -> Vec<f64> {
    let input = unstated().iter().find(|input| input.set == Key::RunToRun && input.is_of(row));
    let Some(input) = input else { return vec![1.0; count] };
    let factor = |place| input.range.at(place).as_float().unwrap_or(1.0);
    column(&format!("{} {}", row.id(), input.name), count).into_iter().map(factor).collect()
}

/// The load with one input set; `None` if it has no such input.
fn with_input(load: Load, knob: Knob, value: &toml::Value) -> Option<Load> {
    let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let whole = number.map(|number| number.round() as u32);
    Some(match (load, knob) {
        (Load::Drawn(drawn), knob) => Load::Drawn(match (drawn.shape, knob) {
            (Shape::Random { read_percent, bytes, depth }, Knob::Depth | Knob::Bytes) => {
                let is_depth = knob == Knob::Depth;
                let (bytes, depth) = if is_depth { (bytes, whole?) } else { (whole?, depth) };
                Drawn { shape: Shape::Random { read_percent, bytes, depth }, ..drawn }
            }
            (_, Knob::Region) => Drawn { region_bytes: number? as u64, ..drawn },
            (_, Knob::Cached) => Drawn { cached: number?, ..drawn },
            (_, Knob::BesideDepth) => {
                let (_, bytes) = drawn.beside_writes?;
                Drawn { beside_writes: Some((whole?, bytes)), ..drawn }
            }
            (_, Knob::BesideBytes) => {
                let (depth, _) = drawn.beside_writes?;
                Drawn { beside_writes: Some((depth, whole?)), ..drawn }
            }
            _ => return None,
        }),
        (Load::Played(played), Knob::Depth) => {
            Load::Played(Played { pace: Pace::Depth(whole?), ..played })
        }
        _ => return None,
    })
}

/// A column of a Latin hypercube: one value in each of `count` equal parts of 0 to 1, in random
/// order (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979). The seed is the
/// input's own, so that adding an input leaves the others as they are.
fn column(seed: &str, count: usize) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(hash(seed));
    let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut places: Vec<f64> = (0..count).map(|i| (i as f64 + unit()) / count as f64).collect();
    for last in (1..count).rev() {
        places.swap(last, ((last + 1) as f64 * unit()) as usize);
    }
    places
}

/// FNV-1a, the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether unstated inputs change the load that gives the row's figure.
pub(crate) fn is_sampled(row: &Row) -> bool {
    matches!(row.how, How::Load { .. }) && Unstated::of(row).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;
    use std::collections::BTreeMap;

    /// Of each input, its range and the hash of its source, in the form of `unstated.lock`.
    fn now() -> String {
        let line = |input: &Unstated| {
            let Unstated { rows, set, range, source, .. } = input;
            format!("{} {set:?} = {range:?} from {:016x}\n", rows.join("; "), hash(source))
        };
        unstated().iter().map(line).collect()
    }

    /// The inputs whose range differs between two locks though its source does not.
    fn moved<'a>(before: &'a str, now: &'a str) -> Vec<&'a str> {
        let parse = |text: &'a str| -> BTreeMap<&'a str, (&'a str, &'a str)> {
            let entry = |line: &'a str| {
                let (input, rest) = line.split_once(" = ")?;
                Some((input, rest.rsplit_once(" from ")?))
            };
            text.lines().filter_map(entry).collect()
        };
        let (before, now) = (parse(before), parse(now));
        let is_moved = |input: &&&str| match (before.get(**input), now.get(**input)) {
            (Some(before), Some(now)) => before.0 != now.0 && before.1 == now.1,
            _ => false,
        };
        now.keys().filter(is_moved).copied().collect()
    }

    /// A range that moves without its source follows the published figure. After a review,
    /// `REVIEWED=1` writes the lock, and refuses this too.
    #[test]
    fn a_range_moves_only_with_its_source() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/src/unstated.lock");
        let reviewed = std::fs::read_to_string(lock).unwrap_or_default();
        let now = now();
        assert_eq!(moved(&reviewed, &now), [""; 0], "their ranges moved, their sources did not");
        if std::env::var_os("REVIEWED").is_some() {
            std::fs::write(lock, &now).expect("the lock can be written");
        } else {
            assert_eq!(now, reviewed, "review it: REVIEWED=1 cargo test -p seekwell-reproduce");
        }
    }

    #[test]
    fn a_moved_range_is_found_and_a_new_source_or_input_is_not_one() {
        let before = "a = 1 to 2 from 77\nb = 3 from 88\n";
        assert_eq!(moved(before, "a = 1 to 9 from 77\nb = 3 from 88\n"), ["a"]);
        assert_eq!(moved(before, "new = 1 from 1\na = 1 to 9 from 78\nb = 3 from 89\n"), [""; 0]);
    }

    #[test]
    fn every_range_is_of_some_row_and_can_be_set() {
        let rows = rows();
        for input in unstated() {
            let of: Vec<&Row> = rows.iter().filter(|row| input.is_of(row)).collect();
            assert!(!of.is_empty(), "{} is of no row", input.name);
            assert!(!input.source.trim().is_empty(), "{} has no source", input.name);
        }
        for row in rows.iter().filter(|row| is_sampled(row)) {
            let How::Load { load, .. } = &row.how else { continue };
            for sample in Sample::of(row, 3) {
                sample.load(row, load).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }

    #[test]
    fn samples_fill_every_part_of_a_range_and_configurations_share_them() {
        let mut places = column("x", 40);
        places.sort_by(f64::total_cmp);
        assert!(places.iter().enumerate().all(|(i, place)| (place * 40.0) as usize == i));
        let of = |id: &str| {
            let rows = rows();
            let row = rows.iter().find(|row| row.id() == id).expect("it is a row");
            let samples = Sample::of(row, 5);
            samples.iter().map(|sample| sample.inputs()[0].1).collect::<Vec<_>>()
        };
        assert_eq!(of("R0 random seeks, piix"), of("R0 random seeks, AHCI"));
        assert_ne!(of("R0 random seeks, piix"), of("R0 random create, piix"));
    }
}
