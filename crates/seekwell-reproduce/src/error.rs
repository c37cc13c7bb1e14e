//! What can go wrong when rows are run.

use seekwell_machine::describe::DescribeError;
use seekwell_suites::load::PlayError;
use seekwell_sys::classify;

#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    #[error(transparent)]
    Describe(Box<DescribeError>),
    #[error("{row}: {source}")]
    Play { row: String, source: PlayError },
    #[error("{row}: there is no {name}")]
    Missing { row: String, name: String },
    #[error("{row}: its load has no {name}")]
    NoInput { row: String, name: String },
    #[error("interrupted")]
    Interrupted,
}

classify!(ReproduceError {
    Refused: Describe, Play, Missing, NoInput;
    Interrupted: Interrupted;
});
