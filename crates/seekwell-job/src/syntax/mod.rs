//! The lines of a job file, and the arguments of the long command line form, as sections of
//! options. What the options mean is not known here.

mod arguments;
mod expand;
mod lines;

pub(crate) use arguments::{ARGUMENTS, read_arguments};
pub(crate) use expand::expand;
pub(crate) use lines::read_lines;

use crate::job::Origin;

/// One option as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its name as written.
    pub(crate) name: String,
    /// What follows `=`; none without `=`.
    pub(crate) value: Option<String>,
    /// Where.
    pub(crate) at: Origin,
}

/// One `[section]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// What is between the brackets.
    pub(crate) name: String,
    /// Where it begins.
    pub(crate) at: Origin,
    /// Its options in their order.
    pub(crate) options: Vec<Written>,
}

impl Section {
    /// Whether its options hold for the jobs below it. As in fio, the beginning of the name
    /// decides.
    pub(crate) fn global(&self) -> bool {
        self.name.starts_with("global")
    }
}
