//! How far what was issued is from what was recorded, and who is to blame.
//!
//! A request that was handed over later than it was due is late. It is late because of the device
//! where all tags were taken at a time after it was due: it could not have been issued. Otherwise
//! it is late because of the program. Latencies of a replay in which the program was late are no
//! evidence about the device (Anderson et al., Buttress, FAST 2004, on what such errors do).

use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;

/// Who kept the pace and who did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// At most one request in a hundred was later than the bound.
    KeptUp,
    /// More were, most of them because the device had all it can take.
    DeviceFull,
    /// More were, most of them because the program could not issue in time.
    ProgramLate,
    /// Nothing was to be issued at a time.
    Untimed,
}

impl Verdict {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeptUp => "kept-up",
            Self::DeviceFull => "device-full",
            Self::ProgramLate => "program-late",
            Self::Untimed => "untimed",
        }
    }
}

/// What one device's replay differed in from the recording.
#[derive(Debug, Clone, Default)]
pub struct Fidelity {
    /// Requests later than this count as late.
    pub bound: Nanos,
    /// Requests handed over.
    pub issued: u64,
    /// Handed over minus due, of requests that were due at a time.
    pub lateness: Histogram,
    /// Late because all tags were taken.
    pub late_device: u64,
    /// Late for any other reason.
    pub late_program: u64,
    /// Handed over after a request that came later in the trace.
    pub reordered: u64,
    planned_gaps: Histogram,
    issued_gaps: Histogram,
    depth: u32,
    in_flight: u32,
    /// Last time at which a completion ended a state in which all tags were taken.
    full_until: Nanos,
    ends: Option<Ends>,
    highest_id: u32,
    compared: u64,
    squared: f64,
    recorded_sum: f64,
    issued_sum: f64,
}

/// First and last of the times due and issued.
#[derive(Debug, Clone, Copy)]
struct Ends {
    due_first: Nanos,
    due_last: Nanos,
    issued_first: Nanos,
    issued_last: Nanos,
}

impl Fidelity {
    /// Nothing issued yet, on a target with `depth` tags.
    pub fn new(depth: u32, bound: Nanos) -> Self {
        Self { bound, depth, ..Self::default() }
    }

    /// A request that was due then was handed over `at`; `recorded` were outstanding when it came.
    pub(crate) fn issue(&mut self, id: u32, due: Option<Nanos>, recorded: Option<u32>, at: Nanos) {
        debug_assert!(u64::from(self.in_flight) <= self.issued);
        self.issued += 1;
        if let Some(recorded) = recorded {
            let (was, is) = (f64::from(recorded), f64::from(self.in_flight));
            self.compared += 1;
            self.squared += (is - was) * (is - was);
            self.recorded_sum += was;
            self.issued_sum += is;
        }
        self.in_flight += 1;
        // Numbers wrap around; half of them are ahead.
        if self.issued > 1 && self.highest_id.wrapping_sub(id) < u32::MAX / 2 {
            self.reordered += 1;
        } else {
            self.highest_id = id;
        }
        let Some(due) = due else { return };
        let late = at.since(due);
        self.lateness.record(late);
        if late > self.bound {
            if self.full_until > due {
                self.late_device += 1;
            } else {
                self.late_program += 1;
            }
        }
        match &mut self.ends {
            None => {
                let (due_first, issued_first) = (due, at);
                self.ends = Some(Ends { due_first, due_last: due, issued_first, issued_last: at });
            }
            Some(ends) => {
                self.planned_gaps.record(due.since(ends.due_last));
                self.issued_gaps.record(at.since(ends.issued_last));
                (ends.due_last, ends.issued_last) = (due, at);
            }
        }
    }

    /// A request was done. `held` says that a tag policy kept others back until then.
    pub(crate) fn complete(&mut self, at: Nanos, held: bool) {
        if held || self.in_flight == self.depth {
            self.full_until = at;
        }
        assert!(self.in_flight > 0, "only what was issued completes");
        self.in_flight -= 1;
    }

    /// Requests outstanding now.
    pub(crate) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// How much longer issuing took than it should have, as a share: 0.001 is 0.1 % too slow.
    pub fn drift(&self) -> Option<f64> {
        let ends = self.ends?;
        let planned = ends.due_last.since(ends.due_first).as_secs_f64();
        let issued = ends.issued_last.since(ends.issued_first).as_secs_f64();
        (planned > 0.0).then(|| issued / planned - 1.0)
    }

    /// Root mean square of the difference in requests outstanding as each request came.
    pub fn in_flight_error(&self) -> Option<f64> {
        (self.compared > 0).then(|| (self.squared / self.compared as f64).sqrt())
    }

    /// Requests outstanding as each request came, on average: recorded and in the replay.
    pub fn in_flight_means(&self) -> Option<(f64, f64)> {
        let n = self.compared as f64;
        (self.compared > 0).then(|| (self.recorded_sum / n, self.issued_sum / n))
    }

    /// The largest difference between the distributions of gaps due and gaps issued (the
    /// Kolmogorov–Smirnov distance, 0 to 1), within the resolution of the histogram.
    pub fn gap_distance(&self) -> Option<f64> {
        let n = self.planned_gaps.count();
        if n == 0 {
            return None;
        }
        let (mut left, mut right) = (self.planned_gaps.sparse(), self.issued_gaps.sparse());
        left.reverse();
        right.reverse();
        let (mut below_left, mut below_right, mut worst) = (0u64, 0u64, 0.0f64);
        while !left.is_empty() || !right.is_empty() {
            let next = |side: &Vec<(u32, u64)>| side.last().map_or(u32::MAX, |bin| bin.0);
            let bin = next(&left).min(next(&right));
            for (side, below) in [(&mut left, &mut below_left), (&mut right, &mut below_right)] {
                if side.last().is_some_and(|top| top.0 == bin) {
                    *below += side.pop().map_or(0, |top| top.1);
                }
            }
            worst = worst.max(below_left.abs_diff(below_right) as f64 / n as f64);
        }
        Some(worst)
    }

    /// Who kept the pace.
    pub fn verdict(&self) -> Verdict {
        let (timed, late) = (self.lateness.count(), self.late_device + self.late_program);
        if timed == 0 {
            Verdict::Untimed
        } else if late * 100 <= timed {
            Verdict::KeptUp
        } else if self.late_device >= self.late_program {
            Verdict::DeviceFull
        } else {
            Verdict::ProgramLate
        }
    }

    /// Adds what another device's replay differed in.
    pub fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.lateness.merge(&other.lateness);
        self.late_device += other.late_device;
        self.late_program += other.late_program;
        self.reordered += other.reordered;
        self.planned_gaps.merge(&other.planned_gaps);
        self.issued_gaps.merge(&other.issued_gaps);
        self.compared += other.compared;
        self.squared += other.squared;
        self.recorded_sum += other.recorded_sum;
        self.issued_sum += other.issued_sum;
        self.ends = match (self.ends, other.ends) {
            (Some(a), Some(b)) => Some(Ends {
                due_first: a.due_first.min(b.due_first),
                due_last: a.due_last.max(b.due_last),
                issued_first: a.issued_first.min(b.issued_first),
                issued_last: a.issued_last.max(b.issued_last),
            }),
            (a, b) => a.or(b),
        };
    }
}
