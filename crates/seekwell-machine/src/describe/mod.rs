//! Machines as TOML: every value with where it is from, parts in files of their own, and errors
//! that name the file, the line and the key.

mod description;
mod error;
mod node;
mod read;

#[cfg(test)]
mod tests;

pub use description::{Description, Parameter, Parts};
pub use error::{DescribeError, Problem};
pub use node::{Node, Origin, Provenance, Value};
pub use read::read;
