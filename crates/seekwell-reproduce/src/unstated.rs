//! Inputs that documents leave out: the range in which each lies, and points all over the ranges.

use crate::row::{How, Row};
use crate::run::ReproduceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use seekwell_suites::load::{Drawn, Load, Pace, Played, Shape};
use serde::Deserialize;
use std::sync::LazyLock;

/// The ranges and their sources. `unstated.lock` holds what was reviewed.
const RANGES: &str = include_str!("unstated.toml");

/// An input that a document leaves out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unstated {
    /// The beginnings of the ids of the rows that depend on it.
    pub rows: Vec<String>,
    /// What it is, with its unit.
    pub name: String,
    /// What it sets.
    pub set: Key,
    /// Where it lies.
    pub range: Range,
    /// Why it lies there.
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
    /// The figure itself: how much one run is from the next.
    Once,
}

/// An input of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knob {
    /// Requests under way at once.
    Depth,
    /// Bytes of a request.
    Bytes,
    /// Bytes of the disk that are used, from its start.
    Region,
    /// The share of requests that the page cache answers.
    Cached,
    /// Writes beside it under way at once.
    BesideDepth,
    /// Bytes of such a write.
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
            None if set == "once" => Self::Once,
            None => Self::Machine(set),
        }
    }
}

/// Where an input lies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Range {
    /// Anywhere between, ends included.
    Between {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// Whether each doubling is as likely as the next, and not each unit.
        #[serde(default)]
        log: bool,
    },
    /// One of these, each as likely.
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

    /// The part of the range in which a place is: each value for itself, or a quarter.
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
    /// Where it lies, in words.
    pub fn words(&self) -> String {
        self.range.words()
    }

    /// Whether a row depends on it.
    pub fn is_of(&self, row: &Row) -> bool {
        let id = row.id();
        self.rows.iter().any(|begin| id.starts_with(begin))
    }

    /// Those that a row depends on, but for the run itself.
    pub fn of(row: &Row) -> impl Iterator<Item = &'static Self> {
        unstated().iter().filter(move |input| input.set != Key::Once && input.is_of(row))
    }
}

/// A point of the ranges: a place from 0 to 1 for each input of a test.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    places: Vec<(&'static Unstated, f64)>,
}

impl Point {
    /// Points all over the ranges of what a test leaves out: the same for all its configurations,
    /// so that what is common to them does not blur their ratio.
    pub fn of(row: &Row, count: usize) -> Vec<Self> {
        let inputs: Vec<&Unstated> = Unstated::of(row).collect();
        let name = format!("{} {}", row.document, row.what);
        let columns: Vec<Vec<f64>> =
            inputs.iter().map(|input| spread(&format!("{name} {}", input.name), count)).collect();
        let point = |index: usize| {
            let places = inputs.iter().zip(&columns).map(|(input, column)| (*input, column[index]));
            Self { places: places.collect() }
        };
        (0..count).map(point).collect()
    }

    /// Where each input is.
    pub fn places(&self) -> &[(&'static Unstated, f64)] {
        &self.places
    }

    /// What the machine is set to.
    pub fn machine(&self) -> Vec<(String, String)> {
        let set = self.places.iter().filter_map(|(input, place)| match &input.set {
            Key::Machine(key) => {
                let value = input.range.at(*place);
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Some((key.clone(), text))
            }
            _ => None,
        });
        set.collect()
    }

    /// The row's load with its inputs.
    ///
    /// # Errors
    /// [`ReproduceError::NoInput`] where the load has no such input.
    pub fn load(&self, row: &Row, load: &Load) -> Result<Load, ReproduceError> {
        let mut load = load.clone();
        for (input, place) in &self.places {
            if let Key::Load(knob) = input.set {
                let missing =
                    || ReproduceError::NoInput { row: row.id(), name: input.name.clone() };
                load = turned(load, knob, &input.range.at(*place)).ok_or_else(missing)?;
            }
        }
        Ok(load)
    }
}

/// How much a measurement of one run is off, at each point: of each configuration by itself.
pub(crate) fn once(row: &Row, count: usize) -> Vec<f64> {
    let input = unstated().iter().find(|input| input.set == Key::Once && input.is_of(row));
    let Some(input) = input else { return vec![1.0; count] };
    let factor = |place| input.range.at(place).as_float().unwrap_or(1.0);
    spread(&format!("{} {}", row.id(), input.name), count).into_iter().map(factor).collect()
}

fn turned(load: Load, knob: Knob, value: &toml::Value) -> Option<Load> {
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

/// A place in each of `count` equal parts of 0 to 1, in random order: a column of a Latin
/// hypercube (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979).
fn spread(seed: &str, count: usize) -> Vec<f64> {
    // FNV-1a: each input its own numbers, whatever other inputs there are.
    let seed = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut places: Vec<f64> = (0..count).map(|i| (i as f64 + unit()) / count as f64).collect();
    for last in (1..count).rev() {
        places.swap(last, ((last + 1) as f64 * unit()) as usize);
    }
    places
}

/// Whether a row's figures come of a load that its inputs change.
pub(crate) fn is_sampled(row: &Row) -> bool {
    matches!(row.how, How::Load { .. }) && Unstated::of(row).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;
    use std::fmt::Write;

    /// A range that changes without its source would be a range that follows the figure.
    #[test]
    fn a_range_changes_only_with_its_source() {
        let mut now = String::new();
        for Unstated { rows, name, set, range, source } in unstated() {
            let fields = [format!("{rows:?} {set:?} {range:?}"), source.clone()];
            let [range, source] = fields.map(|field| spread(&field, 1)[0]);
            let _ = writeln!(now, "{name}: range {range:.9} source {source:.9}");
        }
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/src/unstated.lock");
        if std::env::var_os("REVIEWED").is_some() {
            std::fs::write(lock, &now).expect("the lock can be written");
        }
        let reviewed = std::fs::read_to_string(lock).unwrap_or_default();
        for (now, reviewed) in now.lines().zip(reviewed.lines()) {
            let [now, reviewed] = [now, reviewed].map(|line| line.split_once(" source "));
            let changed = now.map(|pair| pair.0) != reviewed.map(|pair| pair.0);
            let same_source = now.map(|pair| pair.1) == reviewed.map(|pair| pair.1);
            assert!(!(changed && same_source), "its range changed and not its source: {now:?}");
        }
        assert_eq!(now, reviewed, "after a review: REVIEWED=1 cargo test -p seekwell-reproduce");
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
            for point in Point::of(row, 3) {
                point.load(row, load).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }

    #[test]
    fn points_are_in_every_part_of_a_range_and_the_same_for_all_configurations() {
        let mut places = spread("x", 40);
        places.sort_by(f64::total_cmp);
        assert!(places.iter().enumerate().all(|(i, place)| (place * 40.0) as usize == i));
        let of = |id: &str| {
            let rows = rows();
            let row = rows.iter().find(|row| row.id() == id).expect("it is a row");
            let points = Point::of(row, 5);
            points.iter().map(|p| p.places()[0].1).collect::<Vec<_>>()
        };
        assert_eq!(of("R0 random seeks, piix"), of("R0 random seeks, AHCI"));
        assert_ne!(of("R0 random seeks, piix"), of("R0 random create, piix"));
    }
}
