//! What one clone asks for: requests that are drawn, or those of a trace.

use super::replay::{Ended, JobReplay};
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use seekwell_job::play::source::written::Written;
use seekwell_job::play::source::{Cut, JobSource};
use seekwell_job::play::zones::ChangeTimes;

/// The requests of one clone, and what is left of them at the end.
pub enum Requests {
    /// As its options say.
    Drawn(Box<JobSource>),
    /// As they were recorded.
    Played(Box<JobReplay>),
}

impl Requests {
    /// Why it ended early, if it did.
    pub const fn cut(&self) -> Option<Cut> {
        match self {
            Self::Drawn(drawn) => drawn.cut(),
            Self::Played(played) => played.cut(),
        }
    }

    /// The depth that `latency_target` found, if it was asked for.
    pub fn found_depth(&self) -> Option<Option<u32>> {
        match self {
            Self::Drawn(drawn) => drawn.found_depth(),
            Self::Played(_) => None,
        }
    }

    /// How long resets and finishes of zones took, where they are followed.
    pub fn zone_times(&self) -> Option<ChangeTimes> {
        match self {
            Self::Drawn(drawn) => drawn.zone_times(),
            Self::Played(_) => None,
        }
    }

    /// What was written and not read back, and what became of a trace.
    pub fn end(self) -> (Option<Written>, Option<Ended>) {
        match self {
            Self::Drawn(drawn) => (drawn.into_written(), None),
            Self::Played(played) => (None, Some(played.finish())),
        }
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Drawn(drawn) => &mut **drawn,
            Self::Played(played) => &mut **played,
        }
    }
}

impl Source for Requests {
    fn next(&mut self, now: Nanos) -> Next {
        self.source().next(now)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.source().submitted(request, at);
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.source().completed(request, submitted, completion);
    }

    fn tolerates(&mut self, failure: &Failure) -> bool {
        self.source().tolerates(failure)
    }
}
