//! How a trace is to be read if its first bytes do not show it: its format, its columns, its unit
//! of time.

use super::Format;
use super::mapping::Mapping;
use super::time_unit::TimeUnit;
use crate::error::TraceError;
use crate::record::{Fields, Record, Stamp};
use crate::source::{About, Tables, TraceSource};
use seekwell_io::units::Nanos;
use std::fmt;

/// How a trace is to be read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Its format; if `None`, the first bytes decide.
    pub format: Option<&'static Format>,
    /// Which of its columns holds what.
    pub columns: Option<Mapping>,
    /// What its times are in; else what its format says.
    pub unit: Option<TimeUnit>,
}

impl From<&'static Format> for Reading {
    fn from(format: &'static Format) -> Self {
        Self { format: Some(format), ..Self::default() }
    }
}

/// The source with its times in another unit than its format says.
///
/// # Errors
/// [`TraceError::Known`] where the format leaves no doubt.
pub(super) fn in_unit(
    source: Box<dyn TraceSource + Send>,
    format: &'static Format,
    unit: TimeUnit,
) -> Result<Box<dyn TraceSource + Send>, TraceError> {
    let Some(assumed) = format.unit else {
        return Err(TraceError::Known {
            format: format.name,
            what: "times are in",
            option: "--time-unit",
        });
    };
    Ok(Box::new(Rescaled { source, from_ns: assumed.ns(), to_ns: unit.ns() }))
}

struct Rescaled {
    source: Box<dyn TraceSource + Send>,
    from_ns: u64,
    to_ns: u64,
}

impl TraceSource for Rescaled {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let first = out.len();
        self.source.read(out)?;
        let scaled = |at: Nanos| {
            let ns = u128::from(at.0) * u128::from(self.to_ns) / u128::from(self.from_ns);
            Stamp::at(Nanos(u64::try_from(ns).unwrap_or(u64::MAX - 1)))
        };
        for record in &mut out[first..] {
            for stamp in [&mut record.queued, &mut record.issued, &mut record.completed] {
                *stamp = stamp.get().map_or(Stamp::NONE, scaled);
            }
        }
        Ok(())
    }

    fn about(&self) -> &About {
        self.source.about()
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn narrow(&mut self, to: Fields) {
        self.source.narrow(to);
    }
}

/// Traces are of hours or weeks.
const LONGEST_NS: u64 = 180 * 24 * 3600 * 1_000_000_000;
/// No disk, and no host of one, does more requests in a second.
const MOST_PER_S: u64 = 100_000_000;
/// Fewer requests than this say nothing about a rate.
const FEW: u64 = 100;

/// Why the times of a trace cannot be believed: they were read in the wrong unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    span_ns: u64,
    requests: u64,
    assumed: Option<TimeUnit>,
}

impl Doubt {
    /// Whether there is one about a trace that came in this format and spans that much time.
    pub fn of(about: &About, requests: u64, span_ns: Option<u64>) -> Option<Self> {
        let span_ns = span_ns?;
        // Traces without times have all of them at one.
        let is_dense = requests >= FEW
            && span_ns > 0
            && u128::from(requests) * 1_000_000_000 > u128::from(span_ns) * u128::from(MOST_PER_S);
        let is_doubtful = span_ns > LONGEST_NS || (is_dense && about.time_step_ns.is_none());
        let assumed = Format::named(&about.format).and_then(|format| format.unit);
        is_doubtful.then_some(Self { span_ns, requests, assumed })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { span_ns, requests, assumed } = self;
        if *span_ns > LONGEST_NS {
            let days = span_ns / (24 * 3600 * 1_000_000_000);
            write!(f, "the trace spans {days} days, which is hardly true")?;
        } else {
            write!(f, "{requests} requests within {} are hardly true", Nanos(*span_ns))?;
        }
        match assumed {
            Some(unit) => write!(f, ": times were read as {unit}; --time-unit says another unit"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::disksim;
    use crate::source::{Capture, Clock};

    #[test]
    fn a_span_is_doubted_where_no_trace_is_so_long_or_so_dense() {
        let about = About::new(disksim::FORMAT.name, Clock::Start, Capture::Queue);
        let doubt = |requests, span_ns| {
            Doubt::of(&about, requests, Some(span_ns)).map(|doubt| doubt.to_string())
        };
        let long = doubt(2, 60_055_212_345_000_000).expect("is doubted");
        assert!(long.starts_with("the trace spans 695 days"), "{long}");
        let dense = doubt(10_000, 60_000).expect("is doubted");
        assert_eq!(
            dense,
            "10000 requests within 60.0 µs are hardly true: times were read as milliseconds; \
             --time-unit says another unit"
        );
        assert_eq!(doubt(1_000_000, 90 * 24 * 3600 * 1_000_000_000), None);
        assert_eq!((doubt(1000, 0), doubt(50, 1)), (None, None));
    }
}
