//! Parameter files of DiskSim 4 and the drives they describe.
//!
//! A `.parv` file names a `.diskspecs` file, that a `.model` file, and that a table of seek times.
//! [`read()`] follows them; [`drive()`] makes a [`crate::hdd`] of a disk block, and [`system()`] a
//! whole host of a file: its drives, buses, controllers, volumes, queues and synthetic workload.
//!
//! The format and the meaning of its keys are those of the DiskSim 4 manual (J. Bucy et al.,
//! CMU-PDL-08-101, 2008).

mod array;
mod drive;
mod error;
mod keys;
mod model;
mod parse;
mod system;
mod tree;

#[cfg(test)]
mod tests;

pub use array::{DescribedArray, array, beside};
pub use drive::{Drive, drive};
pub use error::DisksimError;
pub use system::{System, SystemTimes, system};
pub use tree::{Block, Document, Instance, Node, Parameter, Value};

use parse::Files;

/// Reads a parameter file and all it names. `open` gives a file's text by its name as the files
/// have it, which is relative to the first one's folder.
pub fn read(
    name: &str,
    open: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> Result<Document, DisksimError> {
    let mut document = Document::default();
    parse::file(&mut Files::new(open), name, None, &mut document)?;
    Ok(document)
}
