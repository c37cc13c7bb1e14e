//! A small plot of text: a mark for each value, axes with a few names.

use crate::text::columns;
use crate::units::{bytes_per_s, iops, time};
use serde::Serialize;

const ROWS: usize = 8;
/// Values further apart than this factor are drawn on a log scale.
const WIDE: f64 = 20.0;
/// A mark for each line; where two fall on one place there is a [`BOTH`].
const MARKS: [char; 12] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
/// The mark of a plot with one line.
const ONE: char = '●';
/// Several lines at one place.
const BOTH: char = '*';

/// One plot: lines over places that all of them share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// What is drawn, with its unit.
    pub title: String,
    pub along: String,
    pub places: Vec<String>,
    /// The lines: a name and a value for each place.
    pub lines: Vec<(String, Vec<Option<f64>>)>,
    pub unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    PerSecond,
    BytesPerSecond,
    Time,
}

impl Unit {
    /// A value with its unit.
    pub fn write(self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".to_owned(),
            Self::PerSecond => iops(value),
            Self::BytesPerSecond => bytes_per_s(value),
            Self::Time => time(value),
        }
    }
}

impl Panel {
    /// Whether there is anything to see: two places and two values.
    pub fn is_worth_it(&self) -> bool {
        self.places.len() > 1 && self.values().count() > 1
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.lines.iter().flat_map(|(_, values)| values).filter_map(|value| *value)
    }

    /// The mark of each line with its name; nothing of a single line.
    pub fn legend(&self) -> Option<String> {
        let names =
            self.lines.iter().enumerate().map(|(i, (name, _))| format!("{} {name}", mark(i)));
        (self.lines.len() > 1).then(|| names.collect::<Vec<_>>().join("   "))
    }

    /// The same plot with at most `most` points, each the mean of adjacent ones.
    fn thinned(&self, most: usize) -> Self {
        let each = self.places.len().div_ceil(most.max(1)).max(1);
        let mean = |values: &[Option<f64>]| {
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let line = |(name, values): &(String, Vec<Option<f64>>)| {
            (name.clone(), values.chunks(each).map(mean).collect())
        };
        let places = self.places.chunks(each).map(|chunk| chunk[chunk.len() - 1].clone());
        let (places, lines) = (places.collect(), self.lines.iter().map(line).collect());
        Self { places, lines, ..self.clone() }
    }

    /// The plot in lines of at most `width` columns.
    pub fn draw(&self, width: usize) -> Vec<String> {
        /// The axis on the left.
        const MARGIN: usize = 16;
        if self.places.len() + MARGIN > width.max(2 * MARGIN) {
            return self.thinned(width.saturating_sub(MARGIN).max(MARGIN)).draw(width);
        }
        let high = self.values().fold(f64::MIN_POSITIVE, f64::max);
        let least = self.values().filter(|v| *v > 0.0).fold(high, f64::min);
        let log = high / least > WIDE;
        let low = if log { least } else { 0.0 };
        // The value in the middle of a row, from the top.
        let value = |row: usize| {
            let share = 1.0 - row as f64 / (ROWS - 1) as f64;
            if log { low * (high / low).powf(share) } else { low + (high - low) * share }
        };
        let names: Vec<String> = (0..ROWS)
            .map(|row| {
                if row % 3 == 0 || row == ROWS - 1 {
                    self.unit.write(value(row))
                } else {
                    String::new()
                }
            })
            .map(|name| if name.is_empty() { name } else { format!("{name} ┤") })
            .collect();
        let margin = names.iter().map(|n| columns(n)).max().unwrap_or(0);
        let room = width.saturating_sub(margin + 1).max(self.places.len());
        let column = |place: usize| place * (room - 1) / (self.places.len() - 1).max(1);
        let row_of = |v: f64| {
            let share = if log { (v / low).ln() / (high / low).ln() } else { v / high };
            ((1.0 - share).clamp(0.0, 1.0) * (ROWS - 1) as f64).round() as usize
        };
        let mut cells = vec![vec![' '; room]; ROWS];
        for (i, (_, values)) in self.lines.iter().enumerate() {
            let mark = if self.lines.len() == 1 { ONE } else { mark(i) };
            for (place, v) in values.iter().enumerate() {
                let Some(v) = v.filter(|v| *v > 0.0) else { continue };
                let cell = &mut cells[row_of(v)][column(place)];
                *cell = if *cell == ' ' { mark } else { BOTH };
            }
        }
        let scale = if log { ", log scale" } else { "" };
        let mut out = vec![format!("{}{scale}", self.title)];
        for (name, cells) in names.iter().zip(&cells) {
            let border = if name.is_empty() { "│" } else { "" };
            let line = cells.iter().collect::<String>();
            let pad = " ".repeat(margin - columns(name) - columns(border));
            out.push(format!("{pad}{name}{border}{line}").trim_end().to_owned());
        }
        out.push(format!("{}└{}", " ".repeat(margin - 1), "─".repeat(room)));
        out.push(
            format!("{}{}", " ".repeat(margin), self.axis(room, column)).trim_end().to_owned(),
        );
        out.iter().map(|line| line.chars().take(width).collect()).collect()
    }

    /// The names of the places, as many as there is room for, the last always.
    fn axis(&self, room: usize, column: impl Fn(usize) -> usize) -> String {
        let mut line = vec![' '; room];
        let last = self.places.len() - 1;
        let mut taken = 0;
        let start = |place: usize| {
            let len = columns(&self.places[place]);
            column(place).saturating_sub(len / 2).min(room.saturating_sub(len))
        };
        for (place, name) in self.places.iter().enumerate() {
            let (from, to) = (start(place), start(place) + columns(name));
            let free = from >= taken && (place == last || to < start(last));
            if free && to <= room {
                line.splice(from..to, name.chars());
                taken = to + 1;
            }
        }
        line.into_iter().collect()
    }
}

const fn mark(line: usize) -> char {
    MARKS[line % MARKS.len()]
}

/// Two plots side by side where both fit, else one below the other.
pub fn beside(panels: &[Panel], width: usize) -> Vec<String> {
    const GAP: usize = 2;
    const NARROWEST: usize = 34;
    let half = width.saturating_sub(GAP) / 2;
    let [left, right] = panels else {
        return panels.iter().flat_map(|panel| panel.draw(width)).collect();
    };
    if half < NARROWEST {
        return panels.iter().flat_map(|panel| panel.draw(width)).collect();
    }
    let pairs = left.draw(half).into_iter().zip(right.draw(half));
    let line = |(a, b): (String, String)| {
        let pad = " ".repeat(half + GAP - columns(&a));
        format!("{a}{pad}{b}").trim_end().to_owned()
    };
    pairs.map(line).collect()
}
