//! What limits a disk at a moment, from no more than its counters and the ceilings on its path.

use crate::ceilings::{declared, usual};
use seekwell_inspect::Inspection;
use seekwell_runs::limits::{Ceiling, Station, Unit};
use serde::Serialize;

/// Reads or writes a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
}

/// What a disk does, from its counters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activity {
    pub read: Rates,
    pub write: Rates,
    /// Requests outstanding on average.
    pub depth: f64,
    /// Part of the time with any request outstanding, 0 to 1.
    pub busy: f64,
}

/// What limits a disk, as far as its counters show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Now {
    /// The station that is full, or why none is.
    pub by: Station,
    /// Its name on this machine: `the SATA link at 1.5 Gbps`.
    pub name: String,
    /// The share of a declared rate that is in use, 0 to 1.
    pub share: Option<f64>,
}

/// A disk that is idle more than half of the time does not limit its load.
const IDLE: f64 = 0.5;
/// With no more outstanding than this, each request waits for the one before.
const ALONE: f64 = 1.25;

/// Names the declared ceiling that a disk has reached, else what its queue shows; `None` without
/// requests. Medium, flash and caches show in no counter: then the answer is `unknown`.
pub fn now(inspection: &Inspection, activity: &Activity) -> Option<Now> {
    if activity.read.requests_per_s + activity.write.requests_per_s <= 0.0 {
        return None;
    }
    let share = |ceiling: &Ceiling| activity.rate(ceiling) / ceiling.rate;
    let full = declared(inspection).into_iter().map(|ceiling| (share(&ceiling), ceiling));
    let full = full.filter(|(share, ceiling)| *share >= usual(ceiling));
    if let Some((share, ceiling)) = full.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let (by, name) = (ceiling.by, format!("the {}", ceiling.name));
        return Some(Now { by, name, share: Some(share.min(1.0)) });
    }
    let disk = inspection.disk();
    let tags = disk.and_then(|disk| disk.queue.queue_depth.as_ref()).map_or(0, |tags| tags.value);
    let told = |by: Station, name: String| Some(Now { by, name, share: None });
    match activity {
        _ if activity.busy < IDLE => told(Station::Pace, Station::Pace.words().to_owned()),
        _ if activity.depth <= ALONE => told(Station::Latency, Station::Latency.words().to_owned()),
        _ if tags > 1 && activity.depth >= 0.95 * tags as f64 => {
            told(Station::Tags, format!("its {tags} tags"))
        }
        _ => told(Station::Unknown, Station::Unknown.words().to_owned()),
    }
}

impl Activity {
    /// The rate that a ceiling bounds.
    fn rate(&self, ceiling: &Ceiling) -> f64 {
        let one = |rates: Rates| match ceiling.unit {
            Unit::BytesPerS => rates.bytes_per_s,
            Unit::RequestsPerS => rates.requests_per_s,
            Unit::Commands => 0.0,
        };
        match ceiling.op.as_deref() {
            Some("read") => one(self.read),
            Some(_) => one(self.write),
            // PCI Express and SAS carry both ways at once.
            None => one(self.read).max(one(self.write)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Case;
    use seekwell_inspect::Fact;

    fn reads(requests_per_s: f64, bytes: f64, depth: f64, busy: f64) -> Activity {
        let read = Rates { requests_per_s, bytes_per_s: requests_per_s * bytes };
        Activity { read, write: Rates::default(), depth, busy }
    }

    #[test]
    fn a_full_link_comes_first_then_an_idle_disk_a_lone_request_and_full_tags() {
        let case = Case::disk(Some(false)).sata("1.5 Gbps");
        let case = case.with(|d| d.queue.queue_depth = Some(Fact::new(32, "queue_depth")));
        let at =
            |activity: Activity| now(&case.0.inspection, &activity).map(|now| (now.by, now.name));
        let named = |by: Station, name: &str| Some((by, name.to_owned()));
        let link = named(Station::Link, "the SATA link at 1.5 Gbps");
        assert_eq!(at(reads(140.0, 1e6, 3.0, 1.0)), link);
        assert_eq!(
            at(reads(100.0, 4096.0, 0.2, 0.2)),
            named(Station::Pace, "the pace of the load")
        );
        assert_eq!(at(reads(100.0, 4096.0, 1.0, 1.0)), named(Station::Latency, "latency"));
        assert_eq!(at(reads(9000.0, 4096.0, 40.0, 1.0)), named(Station::Tags, "its 32 tags"));
        assert_eq!(at(reads(9000.0, 4096.0, 8.0, 1.0)), named(Station::Unknown, "not known"));
        assert_eq!(at(Activity::default()), None);
    }

    #[test]
    fn reads_and_writes_may_pass_a_link_at_once() {
        let case = Case::disk(Some(false)).sata("3.0 Gbps");
        let half = Rates { requests_per_s: 150.0, bytes_per_s: 150e6 };
        let both = Activity { read: half, write: half, depth: 8.0, busy: 1.0 };
        let by = |activity: &Activity| now(&case.0.inspection, activity).map(|now| now.by);
        assert_eq!(by(&both), Some(Station::Unknown));
        let most = Rates { requests_per_s: 270.0, bytes_per_s: 270e6 };
        assert_eq!(by(&Activity { write: most, ..both }), Some(Station::Link));
    }
}
