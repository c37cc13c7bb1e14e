//! The text that a program reads, with placeholders for numbers and facts: `{read_iops}`,
//! `{device}`. A number may be in a larger unit: `{read_ns/1000}` is in microseconds.

use super::error::CalibrationError;
use super::facts::{FACTS, fact};
use seekwell_inspect::Inspection;
use seekwell_runs::Quantity;

/// A text with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Plain(String),
    Fact(&'static str),
    /// The number of a quantity, in multiples of this many of its unit.
    Quantity {
        number: usize,
        unit: u32,
    },
}

impl Template {
    /// Reads a text that uses every quantity.
    pub(super) fn of(
        name: &str,
        text: &str,
        quantities: &[Quantity],
    ) -> Result<Self, CalibrationError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').unwrap_or((after, ""));
            let fact = FACTS.iter().find(|fact| **fact == inside);
            let (called, unit) = inside.split_once('/').unwrap_or((inside, "1"));
            let quantity = quantities.iter().position(|quantity| quantity.name == called);
            let unit = unit.parse().ok().filter(|unit| *unit > 0);
            let piece = match (fact, quantity.zip(unit)) {
                (Some(fact), _) => Piece::Fact(fact),
                (None, Some((number, unit))) => Piece::Quantity { number, unit },
                (None, None) => {
                    let facts = FACTS.iter().map(|fact| (*fact).to_owned());
                    let known = quantities.iter().map(|q| q.name.clone()).chain(facts).collect();
                    let (name, placeholder) = (name.to_owned(), inside.to_owned());
                    return Err(CalibrationError::Placeholder { name, placeholder, known });
                }
            };
            pieces.extend([Piece::Plain(plain.to_owned()), piece]);
            rest = after;
        }
        pieces.push(Piece::Plain(rest.to_owned()));
        let is_of =
            |piece: &Piece, of| matches!(piece, Piece::Quantity { number, .. } if *number == of);
        let has = |of| pieces.iter().any(|piece| is_of(piece, of));
        if let Some(unused) = (0..quantities.len()).find(|number| !has(*number)) {
            let (name, quantity) = (name.to_owned(), quantities[unused].name.clone());
            return Err(CalibrationError::Unused { name, quantity });
        }
        Ok(Self(pieces))
    }

    /// The text with the numbers, rounded to integers; `None` if one is not known.
    pub(super) fn filled(&self, quantities: &[Quantity], target: &Inspection) -> Option<String> {
        let one = |piece: &Piece| match piece {
            Piece::Plain(text) => Some(text.clone()),
            Piece::Fact(name) => Some(fact(name, target).unwrap_or_else(|| name.to_uppercase())),
            Piece::Quantity { number, unit } => {
                let value = quantities[*number].known()?.mean / f64::from(*unit);
                Some(format!("{value:.0}"))
            }
        };
        self.0.iter().map(one).collect()
    }
}
