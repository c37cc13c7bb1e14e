//! Where records come from, a batch at a time.

use crate::error::TraceError;
use crate::record::{Fields, Record};
use serde::{Deserialize, Serialize};

/// Records asked for at once: large enough that a call costs nothing, small enough for the cache.
pub const BATCH: usize = 4096;

/// What the times of a trace count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The trace's own start.
    Start,
    /// The start of that machine (CLOCK_MONOTONIC).
    Monotonic,
    /// 1970-01-01 UTC.
    Unix,
}

/// Which moment of a request the `queued` time of the records is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capture {
    /// Requests as programs and file systems made them, before the scheduler (Q).
    Queue,
    /// Requests as the device got them (D).
    Issue,
    /// Both.
    Both,
}

/// A disk, partition or volume that requests went to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// `sda`, `8,0`, `web_2`: what the trace calls it.
    pub name: String,
    /// Its size in bytes, if the trace has it.
    pub size_bytes: Option<u64>,
    /// Model, if the trace has it.
    pub model: Option<String>,
    /// Serial number or WWN, if the trace has it.
    pub serial: Option<String>,
}

/// What was lost while recording. Anything above zero makes a trace incomplete forever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Events the kernel could not keep.
    pub lost_events: u64,
    /// Requests seen to begin whose end was never seen.
    pub unfinished: u64,
    /// Completions that belong to no request seen.
    pub orphans: u64,
    /// Requests that stood so late in the input that they were given the time of the one before.
    #[serde(default)]
    pub moved: u64,
}

/// What is known of a trace as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Name of the format it was read from, as `--from` takes it.
    pub format: String,
    /// What times count from.
    pub clock: Clock,
    /// Which moments were recorded.
    pub capture: Capture,
    /// Wall-clock time of the trace's time zero, in nanoseconds since 1970, where known.
    pub unix_ns_at_zero: Option<i64>,
    /// Kernel of the machine, where known.
    pub kernel: Option<String>,
    /// Host name, where known.
    pub host: Option<String>,
    /// The command that ran while it was recorded.
    pub command: Option<String>,
    /// CPU time that recording cost, in nanoseconds per request, if it was measured.
    pub recording_cost_ns_per_request: Option<u64>,
    /// Step of its times in nanoseconds, if it is too coarse to replay them (1 s).
    #[serde(default)]
    pub time_step_ns: Option<u64>,
    /// Set when a recording was ended from outside before it could be closed.
    pub cut_short: bool,
    /// Set when more than one request in a hundred has no end.
    #[serde(default)]
    pub ends_missing: bool,
    /// What was lost; final only once a source is at its end.
    pub losses: Losses,
}

impl About {
    /// Nothing is known but the format and its clock.
    pub fn new(format: &str, clock: Clock, capture: Capture) -> Self {
        Self {
            format: format.to_owned(),
            clock,
            capture,
            unix_ns_at_zero: None,
            kernel: None,
            host: None,
            command: None,
            recording_cost_ns_per_request: None,
            time_step_ns: None,
            cut_short: false,
            ends_missing: false,
            losses: Losses::default(),
        }
    }

    /// What holds of two traces together. What they differ in is not known.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        fn same<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.filter(|one| other.as_ref() == Some(one))
        }
        let several = || "several".to_owned();
        let (a, b) = (self.losses, other.losses);
        Self {
            format: if self.format == other.format { self.format } else { several() },
            clock: self.clock.min(other.clock),
            capture: self.capture.min(other.capture),
            unix_ns_at_zero: same(self.unix_ns_at_zero, other.unix_ns_at_zero),
            kernel: same(self.kernel, other.kernel),
            host: same(self.host, other.host),
            command: same(self.command, other.command),
            recording_cost_ns_per_request: same(
                self.recording_cost_ns_per_request,
                other.recording_cost_ns_per_request,
            ),
            time_step_ns: self.time_step_ns.max(other.time_step_ns),
            cut_short: self.cut_short | other.cut_short,
            ends_missing: self.ends_missing | other.ends_missing,
            // Parts of one trace all know what was lost of the whole.
            losses: Losses {
                lost_events: a.lost_events.max(b.lost_events),
                unfinished: a.unfinished.max(b.unfinished),
                orphans: a.orphans.max(b.orphans),
                moved: a.moved.max(b.moved),
            },
        }
    }

    /// Takes what was lost of this many requests.
    pub fn lose(&mut self, losses: Losses, requests: u64) {
        self.ends_missing = losses.unfinished.saturating_mul(100) > requests;
        self.losses = losses;
    }

    /// Whether nothing is known to be missing.
    pub fn complete(&self) -> bool {
        self.losses.lost_events == 0 && !self.cut_short && !self.ends_missing
    }
}

/// Names that records refer to by number. They grow while a trace is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Devices, in order of appearance.
    pub devices: Vec<Device>,
    /// Names of processes; the first is empty and means unknown.
    pub processes: Vec<String>,
}

/// Something that hands out the requests of a trace.
///
/// Records come in the order of [`Record::arrival`]; a format that does not keep that order is read
/// through [`crate::order::Ordered`].
pub trait TraceSource {
    /// Appends up to about [`BATCH`] records. Nothing appended means the end.
    ///
    /// # Errors
    /// [`TraceError`] with the place in the input. Records appended before it are good.
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError>;

    /// What is known of the trace so far.
    fn about(&self) -> &About;

    /// The names known so far; whole once the end was reached.
    fn tables(&self) -> &Tables;

    /// Only these fields of the records to come are looked at. A source that keeps fields apart
    /// reads and checks no others and leaves them blank, so the caller must be the only reader.
    fn narrow(&mut self, _to: Fields) {}
}

/// Hands all requests of a source to `each`, a batch at a time, until that says `false`. Whether
/// the end was reached.
///
/// # Errors
/// What the source finds wrong.
pub fn each_batch(
    source: &mut (impl TraceSource + ?Sized),
    mut each: impl FnMut(&[Record]) -> bool,
) -> Result<bool, TraceError> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        source.read(&mut batch)?;
        if batch.is_empty() {
            return Ok(true);
        }
        if !each(&batch) {
            return Ok(false);
        }
    }
}

impl<S: TraceSource + ?Sized> TraceSource for Box<S> {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        (**self).read(out)
    }
    fn about(&self) -> &About {
        (**self).about()
    }
    fn tables(&self) -> &Tables {
        (**self).tables()
    }
    fn narrow(&mut self, to: Fields) {
        (**self).narrow(to);
    }
}

/// Something that requests are written into, in the order of [`Record::arrival`].
///
/// What is dropped before [`Sink::finish`] leaves no output behind, except our own store, which
/// leaves what [`crate::store`] can recover.
pub trait Sink {
    /// Adds records. `tables` names everything that they refer to.
    ///
    /// # Errors
    /// [`TraceError::Io`], or [`TraceError::Inexpressible`] where the format has no place for a
    /// record.
    fn write(&mut self, records: &[Record], tables: &Tables) -> Result<(), TraceError>;

    /// Ends the output and puts it under its name.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    fn finish(self: Box<Self>, about: &About, tables: &Tables) -> Result<Written, TraceError>;

    /// Gives it up and leaves nothing behind.
    fn discard(self: Box<Self>) {}
}

/// What a [`Sink`] did with the records it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Records in the output.
    pub records: u64,
    /// Records that the format has no place for, such as flushes.
    pub left_out: u64,
    /// Devices that the output calls otherwise than the trace: its name for each, and the new one.
    pub renamed: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of 177,305 requests, 77,305 of them without an end, was called complete.
    #[test]
    fn a_trace_is_incomplete_once_more_than_one_request_in_a_hundred_has_no_end() {
        let complete = |unfinished, requests| {
            let mut about = About::new("test", Clock::Start, Capture::Both);
            about.lose(Losses { unfinished, ..Losses::default() }, requests);
            about.complete()
        };
        assert!(complete(0, 0) && complete(1, 100) && !complete(2, 100));
        assert!(!complete(77_305, 177_305));
    }
}
