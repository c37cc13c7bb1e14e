//! The document of a machine.

use super::{ChainLink, Model};
use serde::Serialize;

/// The document `seekwell/machine/1`: layers, and parameters with where each is from.
#[derive(Debug, Serialize)]
pub struct Described<'a> {
    capacity_bytes: u64,
    chain: Vec<ChainLink>,
    parameters: Vec<DescribedParameter<'a>>,
    schema: &'static str,
    title: &'a str,
}

#[derive(Debug, Serialize)]
struct DescribedParameter<'a> {
    fitted_on: &'a [String],
    key: &'a str,
    note: Option<&'a str>,
    place: String,
    source: &'static str,
    value: &'a str,
}

impl Model {
    /// Its document.
    pub fn described(&self) -> Described<'_> {
        let parameters = self.parameters().iter().map(|p| DescribedParameter {
            fitted_on: &p.origin.on,
            key: &p.key,
            note: p.note.as_deref(),
            place: p.place.to_string(),
            source: p.origin.source.name(),
            value: &p.value,
        });
        Described {
            capacity_bytes: self.capacity(),
            chain: self.chain(),
            parameters: parameters.collect(),
            schema: "seekwell/machine/1",
            title: self.title(),
        }
    }
}
