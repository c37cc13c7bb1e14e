//! Standard suites: named, fixed sets of steps, each defined by the tool it comes from.
//!
//! A [`Suite`] is data: what it does, what it writes, what can be tuned, and a function that makes
//! its [`Step`]s. A [`Round`] runs them once in a directory of its own. What a step gave is a
//! [`StepResult`], which [`record`] puts into the run document.

pub mod blog;
pub mod commit;
pub mod error;
mod folder;
pub mod frame;
pub mod fs;
pub mod fsmark;
pub mod hdparm;
mod limit;
mod lists;
pub mod load;
mod memory;
#[cfg(test)]
mod places;
pub mod record;
mod round;
mod settings;
pub mod sqlite;
pub mod storagemark;
pub mod suite;
#[cfg(test)]
mod testing;
pub mod threaded;
pub mod web;
mod work;
pub mod written;

pub use error::SuiteError;
pub use frame::{Meter, Stage, Step, StepResult};
pub use round::{Place, Round};
pub use settings::{Level, Settings, Tunable, Values};
pub use suite::{Needs, On, Suite};

/// All suites, in the order they are listed.
pub fn suites() -> Vec<&'static Suite> {
    vec![
        &hdparm::SUITE,
        &fs::SUITE,
        &fsmark::SUITE,
        &commit::SUITE,
        &threaded::SUITE,
        &sqlite::SUITE,
        &web::SUITE,
        &blog::SUITE,
        &storagemark::SUITE,
        &written::SUSTAINED,
        &written::AMPLIFICATION,
        &written::PTS,
    ]
}

/// The suite of this name.
///
/// # Errors
/// [`SuiteError::NoSuchSuite`] with the names there are.
pub fn find(name: &str) -> Result<&'static Suite, SuiteError> {
    let all = suites();
    let known = || all.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|s| s.name == name).copied();
    found.ok_or_else(|| SuiteError::NoSuchSuite { name: name.into(), known: known() })
}
