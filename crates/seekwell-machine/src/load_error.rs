//! Why a load gives no figures on a machine.

use seekwell_io::engine::EngineError;
use seekwell_io::measurement::FailureKind;
use seekwell_sys::classify;

/// Why a load gives no figures on a machine.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LoadError {
    #[error("{requests} requests are too few for p{percent}: it takes {needed}")]
    TooFew { requests: u64, percent: f64, needed: u64 },
    #[error("a request failed: {0}")]
    Failed(FailureKind),
    #[error("the load has no requests")]
    Empty,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

classify!(LoadError {
    Invalid: TooFew, Failed, Empty;
    | Self::Engine(error) => error.class(),
});
