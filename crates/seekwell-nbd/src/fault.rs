//! What goes wrong with a served disk, and when.

use seekwell_io::units::{Nanos, parse_size, parse_time};
use std::ops::Range;
use std::str::FromStr;

/// The longest time a fault may name: a day.
const MOST_TIME: Nanos = Nanos::from_millis(86_400_000);

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Reads and writes that touch these bytes fail with EIO, after the time they take.
    Error {
        /// Bytes of the disk.
        range: Range<u64>,
    },
    /// Reads and writes that touch these bytes take longer.
    Slow {
        /// Bytes of the disk.
        range: Range<u64>,
        /// By how much.
        by: Nanos,
    },
    /// Nothing is answered for a while; what would have been is answered at its end.
    Hang {
        /// When it begins, after the start of the server.
        at: Nanos,
        /// How long it lasts.
        lasts: Nanos,
    },
    /// The power goes, once.
    PowerCut(Moment),
}

/// When the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// At a time after the start of the server.
    Time(Nanos),
    /// When this many writes have come.
    Writes(u64),
}

/// A text that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no fault: {wanted}")]
pub struct FaultError {
    /// What was written.
    pub found: String,
    /// How such a fault is written.
    pub wanted: &'static str,
}

fn range(text: &str) -> Option<Range<u64>> {
    let (offset, len) = text.split_once('+')?;
    let (offset, len) = (parse_size(offset)?, parse_size(len)?);
    (len > 0).then_some(offset..offset.checked_add(len)?)
}

fn time(text: &str) -> Option<Nanos> {
    parse_time(text).filter(|time| *time <= MOST_TIME)
}

fn error(text: &str) -> Option<Fault> {
    Some(Fault::Error { range: range(text)? })
}

fn slow(text: &str) -> Option<Fault> {
    let (places, by) = text.split_once(':')?;
    Some(Fault::Slow { range: range(places)?, by: time(by)? })
}

fn hang(text: &str) -> Option<Fault> {
    let (at, lasts) = text.split_once(':')?;
    Some(Fault::Hang { at: time(at)?, lasts: time(lasts)? })
}

fn power_cut(text: &str) -> Option<Fault> {
    let moment = match text.strip_suffix("writes") {
        Some(writes) => Moment::Writes(writes.trim_end().parse().ok().filter(|n| *n > 0)?),
        None => Moment::Time(time(text)?),
    };
    Some(Fault::PowerCut(moment))
}

/// A fault's name, how its value is written and read.
type Kind = (&'static str, &'static str, fn(&str) -> Option<Fault>);

const KINDS: [Kind; 4] = [
    ("error", "error=OFFSET+LENGTH, such as error=1g+4k", error),
    ("slow", "slow=OFFSET+LENGTH:TIME, such as slow=1g+1m:200ms", slow),
    ("hang", "hang=AT:TIME, such as hang=10s:30s", hang),
    ("power-cut", "power-cut=TIME or power-cut=COUNTwrites, such as power-cut=5s", power_cut),
];

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let kind = KINDS.iter().find(|(known, _, _)| *known == name);
        let any = "write error=…, slow=…, hang=… or power-cut=…";
        let wrong = |wanted| FaultError { found: text.chars().take(60).collect(), wanted };
        let (_, form, read) = kind.ok_or_else(|| wrong(any))?;
        read(value).ok_or_else(|| wrong(form))
    }
}

/// The faults of a server, asked one question at a time.
#[derive(Debug, Default)]
pub struct Faults {
    all: Vec<Fault>,
}

impl Faults {
    /// These.
    pub const fn new(all: Vec<Fault>) -> Self {
        Self { all }
    }

    /// Whether a request to these bytes fails.
    pub fn fails(&self, bytes: &Range<u64>) -> bool {
        self.all.iter().any(|f| matches!(f, Fault::Error { range } if overlap(range, bytes)))
    }

    /// When a request to these bytes is answered that the machine has done at a time.
    pub fn answered(&self, bytes: &Range<u64>, done: Nanos) -> Nanos {
        let slower = self.all.iter().map(|fault| match fault {
            Fault::Slow { range, by } if overlap(range, bytes) => by.0,
            _ => 0,
        });
        let mut due = Nanos(done.0 + slower.sum::<u64>());
        for fault in &self.all {
            if let Fault::Hang { at, lasts } = fault {
                let end = Nanos(at.0 + lasts.0);
                if (*at..end).contains(&due) {
                    due = end;
                }
            }
        }
        due
    }

    /// The next time at which the power goes.
    pub fn next_cut(&self) -> Option<Nanos> {
        let times = self.all.iter().filter_map(|fault| match fault {
            Fault::PowerCut(Moment::Time(at)) => Some(*at),
            _ => None,
        });
        times.min()
    }

    /// Whether the power goes now, after this many writes. Each cut happens once.
    pub fn cuts(&mut self, now: Nanos, writes: u64) -> bool {
        let before = self.all.len();
        self.all.retain(|fault| match fault {
            Fault::PowerCut(Moment::Time(at)) => *at > now,
            Fault::PowerCut(Moment::Writes(count)) => *count > writes,
            _ => true,
        });
        self.all.len() < before
    }
}

const fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written() {
        let second = 1_000_000_000;
        for (text, fault) in [
            ("error=1g+4k", Fault::Error { range: 1 << 30..(1 << 30) + 4096 }),
            ("slow=0+512:200ms", Fault::Slow { range: 0..512, by: Nanos(second / 5) }),
            ("hang=10s:30s", Fault::Hang { at: Nanos(10 * second), lasts: Nanos(30 * second) }),
            ("power-cut=5s", Fault::PowerCut(Moment::Time(Nanos(5 * second)))),
            ("power-cut=500writes", Fault::PowerCut(Moment::Writes(500))),
        ] {
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
    }

    #[test]
    fn what_is_no_fault_is_told_how_to_write_one() {
        for (text, how) in [
            ("", "power-cut=…"),
            ("explode=1", "hang=…"),
            ("error=4k", "OFFSET+LENGTH"),
            ("error=4k+0", "OFFSET+LENGTH"),
            ("error=18446744073709551615+4k", "OFFSET+LENGTH"),
            ("slow=0+512", "200ms"),
            ("hang=10s", "hang=10s:30s"),
            ("hang=10s:40d", "hang=10s:30s"),
            ("power-cut=0writes", "COUNTwrites"),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(how), "{error}");
        }
    }

    #[test]
    fn what_would_be_answered_in_a_hang_is_answered_at_its_end() {
        let fault = |text: &str| text.parse::<Fault>().unwrap();
        let faults = Faults::new(vec![fault("slow=0+4k:1s"), fault("hang=10s:30s")]);
        let at = |ms| Nanos::from_millis(ms);
        assert_eq!(faults.answered(&(8192..12_288), at(9_500)), at(9_500));
        assert_eq!(faults.answered(&(0..512), at(8_500)), at(9_500));
        assert_eq!(faults.answered(&(0..512), at(9_500)), at(40_000));
        assert_eq!(faults.answered(&(8192..12_288), at(40_000)), at(40_000));
    }

    #[test]
    fn the_power_goes_once_for_each_cut() {
        let all = ["power-cut=5s", "power-cut=10writes"].map(|text| text.parse().unwrap());
        let mut faults = Faults::new(all.to_vec());
        assert_eq!(faults.next_cut(), Some(Nanos::from_millis(5000)));
        assert!(!faults.cuts(Nanos::from_millis(4999), 9));
        assert!(faults.cuts(Nanos::from_millis(5000), 9));
        assert_eq!(faults.next_cut(), None);
        assert!(faults.cuts(Nanos::from_millis(5001), 10));
        assert!(!faults.cuts(Nanos::from_millis(5001), 11));
    }
}
