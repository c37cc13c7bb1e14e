//! Typed access to a block, which notes what was asked for.

use super::error::DisksimError;
use super::tree::{Block, Parameter, Value};
use seekwell_io::units::Nanos;
use std::cell::RefCell;

/// A block of which the keys that were asked for are known.
pub(super) struct Keys<'b> {
    block: &'b Block,
    asked: RefCell<Vec<bool>>,
}

impl<'b> Keys<'b> {
    pub fn new(block: &'b Block) -> Self {
        Self { block, asked: RefCell::new(vec![false; block.parameters.len()]) }
    }

    pub fn find(&self, key: &str) -> Option<&'b Parameter> {
        let same = |parameter: &Parameter| parameter.key.eq_ignore_ascii_case(key);
        let index = self.block.parameters.iter().position(same)?;
        self.asked.borrow_mut()[index] = true;
        Some(&self.block.parameters[index])
    }

    pub fn need(&self, key: &'static str) -> Result<&'b Parameter, DisksimError> {
        self.find(key).ok_or_else(|| DisksimError::Missing {
            place: self.block.place.clone(),
            block: self.block.kind.clone(),
            key,
        })
    }

    pub fn number(&self, key: &'static str) -> Result<f64, DisksimError> {
        number(self.need(key)?)
    }

    /// A number, 0 where the key is not there.
    pub fn number_or_zero(&self, key: &str) -> Result<f64, DisksimError> {
        self.find(key).map_or(Ok(0.0), number)
    }

    /// A whole number below 2³².
    pub fn count(&self, key: &'static str) -> Result<u32, DisksimError> {
        let parameter = self.need(key)?;
        u32::try_from(whole(parameter)?).map_err(|_| wrong(parameter, "a number below 2³²"))
    }

    /// Whether a switch is on; off where the key is not there.
    pub fn flag(&self, key: &str) -> Result<bool, DisksimError> {
        Ok(self.number_or_zero(key)? != 0.0)
    }

    /// Milliseconds as a span, scaled; 0 where the key is not there.
    pub fn span(&self, key: &str, scale: f64) -> Result<Nanos, DisksimError> {
        let Some(parameter) = self.find(key) else { return Ok(Nanos::ZERO) };
        span(parameter, number(parameter)? * scale)
    }

    pub fn word(&self, key: &'static str) -> Result<String, DisksimError> {
        Ok(self.need(key)?.value.to_string())
    }

    pub fn block(&self, key: &'static str) -> Result<&'b Block, DisksimError> {
        let parameter = self.need(key)?;
        match &parameter.value {
            Value::Block(block) => Ok(block),
            _ => Err(wrong(parameter, "a block")),
        }
    }

    /// Refuses keys that are there and not 0, because what they ask for is not modelled.
    pub fn zero(&self, keys: &[&str]) -> Result<(), DisksimError> {
        let set = |parameter: &&Parameter| parameter.value != Value::Number(0.0);
        match keys.iter().filter_map(|key| self.find(key)).find(set) {
            Some(parameter) => Err(unsupported(parameter)),
            None => Ok(()),
        }
    }

    pub fn list(&self, key: &'static str) -> Result<&'b [Value], DisksimError> {
        list(self.need(key)?)
    }

    /// The keys that were not used, as `KEY = VALUE`; those that are 0 switch off what they are
    /// about and are left out, as is what would be printed.
    pub fn left(&self, into: &mut Vec<String>) {
        let asked = self.asked.borrow();
        let left = self.block.parameters.iter().zip(asked.iter()).filter(|(parameter, asked)| {
            !**asked
                && parameter.value != Value::Number(0.0)
                && !parameter.key.to_ascii_lowercase().starts_with("print")
        });
        into.extend(left.map(|(parameter, _)| format!("{} = {}", parameter.key, parameter.value)));
    }
}

pub(super) fn wrong(parameter: &Parameter, expected: &'static str) -> DisksimError {
    let found = format!("{} = {}", parameter.key, parameter.value);
    DisksimError::Expected { place: parameter.place.clone(), expected, found }
}

pub(super) fn unsupported(parameter: &Parameter) -> DisksimError {
    DisksimError::Unsupported {
        place: parameter.place.clone(),
        key: parameter.key.clone(),
        value: parameter.value.to_string(),
    }
}

pub(super) fn number(parameter: &Parameter) -> Result<f64, DisksimError> {
    match parameter.value {
        Value::Number(number) => Ok(number),
        _ => Err(wrong(parameter, "a number")),
    }
}

pub(super) fn whole(parameter: &Parameter) -> Result<u64, DisksimError> {
    let value = number(parameter)?;
    let legal = (0.0..=1e15).contains(&value) && value.fract() == 0.0;
    if legal { Ok(value as u64) } else { Err(wrong(parameter, "a whole number from 0 on")) }
}

pub(super) fn span(parameter: &Parameter, ms: f64) -> Result<Nanos, DisksimError> {
    if !(0.0..=1e6).contains(&ms) {
        return Err(wrong(parameter, "milliseconds from 0 to 1000000"));
    }
    Ok(Nanos((ms * 1e6).round() as u64))
}

pub(super) fn list(parameter: &Parameter) -> Result<&[Value], DisksimError> {
    match &parameter.value {
        Value::List(values) => Ok(values),
        _ => Err(wrong(parameter, "a list")),
    }
}

pub(super) fn numbers(parameter: &Parameter) -> Result<Vec<f64>, DisksimError> {
    let number = |value: &Value| match value {
        Value::Number(number) => Ok(*number),
        _ => Err(wrong(parameter, "a list of numbers")),
    };
    list(parameter)?.iter().map(number).collect()
}
