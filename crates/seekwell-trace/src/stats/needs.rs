//! What figures need of each request: what their accumulators read.

use super::blocks::Blocks;
use super::device::{Clocked, Served, Swept};
use super::figure::{Asked, Figure};
use super::seen::{ALWAYS, Reads};
use super::which::Options;
use super::{counts, latency, order, parties};
use crate::record::Fields;

impl Figure {
    /// What it reads of each request.
    const fn fields(self) -> Fields {
        match self {
            Self::Counts => counts::Operations::FIELDS.and(Clocked::FIELDS),
            Self::Sizes => counts::SizeCounts::FIELDS,
            Self::Arrivals => Clocked::FIELDS,
            Self::Queue => Clocked::FIELDS.and(Swept::FIELDS).and(Served::FIELDS),
            Self::Latencies => latency::Latencies::FIELDS,
            Self::Order => order::Sequence::FIELDS,
            Self::Space | Self::Reuse => Blocks::FIELDS,
            Self::Alignment => counts::Alignments::FIELDS,
            Self::Idle => Clocked::FIELDS.and(Served::FIELDS),
            Self::Devices => parties::Counted::FIELDS,
            Self::Processes => parties::Counted::FIELDS.and(Fields::PROCESS),
        }
    }
}

impl Asked {
    /// What of each request they need.
    pub(super) fn fields(self) -> Fields {
        let asked = Figure::ALL.into_iter().filter(|figure| self.has(*figure));
        asked.fold(ALWAYS, |fields, figure| fields.and(figure.fields()))
    }
}

impl Options {
    /// What of each request is read.
    pub fn fields(&self) -> Fields {
        let fields = self.asked.fields();
        if self.policies.is_empty() { fields } else { fields.and(Blocks::FIELDS) }
    }
}
