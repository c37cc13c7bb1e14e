//! The published figures, one file for each document.

mod r0;
mod r1;
mod r2;
mod r3;
mod r4;

use crate::row::Row;

/// All rows, in the order of the documents.
pub fn rows() -> Vec<Row> {
    [r0::rows(), r1::rows(), r2::rows(), r3::rows(), r4::rows()].concat()
}

/// Why a modelled figure is not near, for rows where it is known to be so.
pub fn why_missed(id: &str) -> Option<&'static str> {
    MISSED.iter().find_map(|(begin, why)| id.starts_with(begin).then_some(*why))
}

/// The beginning of ids, and a sentence for all of them.
const MISSED: [(&str, &str); 0] = [];
