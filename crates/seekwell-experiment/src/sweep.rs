//! Sweeps: one workload for each combination of values.

use seekwell_io::units::{Nanos, size_option, time_left};
use seekwell_io::value::{clip, size};
use seekwell_job::plain::canonical;
use seekwell_job::{PlainError, PlainJob};
use seekwell_sys::classify;

/// The most points of one sweep: more do not fit on a screen or into an afternoon.
const MOST_POINTS: u64 = 256;

/// Why a sweep makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Job(#[from] PlainError),
    #[error("--sweep {word:?}: write it like iodepth=1..256, rwmixread=0..100:25 or bs=512,4k,64k")]
    Unreadable { word: String },
    #[error(
        "--sweep {key}={range}: a range goes up from a number to a larger one; one that doubles \
         begins at 1 or more, and one that steps is written 0..100:25"
    )]
    Range { key: String, range: String },
    /// A model issues requests by itself.
    #[error("engine cannot be swept on a modelled machine: no engine issues its requests")]
    NoEngine,
    #[error(
        "{key} is a parameter of modelled machines, and this target is not one: `seekwell \
         machine list` shows the built-in machines"
    )]
    NotModelled { key: String },
    #[error(
        "a sweep of {key} builds a new machine for each point, which --precondition does not fill: \
         leave it out, or start with a full SSD: --set drive.fill=random"
    )]
    NotPreconditioned { key: String },
    #[error("two points of this sweep are the same, {phase}: give each value once")]
    Same { phase: String },
    #[error("{key} is swept twice: give all its values at once")]
    Twice { key: String },
    #[error(
        "this sweep has {points} points{}: at most {MOST_POINTS} are measured at once; give fewer \
         values", time.map(|t| format!(", which take {}", time_left(t))).unwrap_or_default()
    )]
    TooMany { points: u64, time: Option<Nanos> },
}

classify!(SweepError {
    Usage: Job, Unreadable, Range, NoEngine, NotModelled, NotPreconditioned, Same, Twice, TooMany;
});

/// One option and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Axis {
    key: String,
    values: Vec<String>,
}

impl Axis {
    fn parse(word: &str) -> Result<Self, SweepError> {
        let unreadable = || SweepError::Unreadable { word: word.chars().take(80).collect() };
        let (key, list) = word.split_once('=').ok_or_else(unreadable)?;
        let key = canonical(key.trim());
        let mut values: Vec<String> = Vec::new();
        for part in list.split(',').map(str::trim) {
            if key.is_empty() || part.is_empty() {
                return Err(unreadable());
            }
            for value in expand(key, part)? {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        Ok(Self { key: key.into(), values })
    }
}

/// A value as it is, or those of a range: `1..256` doubles, `0..100:25` steps; both ends belong to
/// it.
fn expand(key: &str, part: &str) -> Result<Vec<String>, SweepError> {
    // A tag policy stands before its numbers: split:1..32.
    if key == "tags"
        && let Some((policy, numbers)) = part.split_once(':')
        && policy.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        let all = expand(key, numbers)?.into_iter();
        return Ok(all.map(|number| format!("{policy}:{number}")).collect());
    }
    let Some((from, rest)) = part.split_once("..") else { return Ok(vec![part.to_owned()]) };
    let wrong = || SweepError::Range { key: key.into(), range: clip(part) };
    let number = |text: &str| size(text).map_err(|_| wrong());
    let (to, step) = match rest.split_once(':') {
        Some((to, step)) => (number(to)?, Some(number(step)?)),
        None => (number(rest)?, None),
    };
    let from = number(from)?;
    let rises = from <= to && step.map_or(from > 0, |step| step > 0);
    if !rises {
        return Err(wrong());
    }
    let count = step.map_or(64, |step| (to - from) / step + 1);
    if count > MOST_POINTS {
        return Err(SweepError::TooMany { points: count, time: None });
    }
    let next = |at: &u64| match step {
        Some(step) => at.checked_add(step),
        None => at.checked_mul(2),
    };
    let mut values: Vec<u64> =
        std::iter::successors(Some(from), next).take_while(|n| *n < to).collect();
    values.push(to);
    Ok(values.into_iter().map(|n| written(key, n)).collect())
}

/// A number as people write it for this key.
fn written(key: &str, n: u64) -> String {
    if key == "bs" { size_option(n) } else { n.to_string() }
}

/// All combinations, the first key's values next to each other.
fn product(axes: &[Axis]) -> Vec<Vec<String>> {
    let mut points = vec![Vec::new()];
    for axis in axes.iter().rev() {
        let longer = |value: &String, point: &Vec<String>| {
            std::iter::once(value.clone()).chain(point.iter().cloned()).collect()
        };
        points = points
            .iter()
            .flat_map(|point| axis.values.iter().map(move |value| longer(value, point)))
            .collect();
    }
    points
}

/// The axes of a sweep, and how many points they have.
fn axes(words: &[String]) -> Result<(Vec<Axis>, u64), SweepError> {
    let mut axes: Vec<Axis> = Vec::new();
    for word in words {
        let axis = Axis::parse(word)?;
        if axes.iter().any(|known| known.key == axis.key) {
            return Err(SweepError::Twice { key: axis.key });
        }
        axes.push(axis);
    }
    let counts = axes.iter().map(|axis| axis.values.len() as u64);
    let points = counts.fold(1_u64, u64::saturating_mul);
    Ok((axes, points))
}

/// Every combination of what is swept, as keys and values; one without any for no words.
///
/// # Errors
/// [`SweepError`] for a word that makes no sense, and for too many combinations.
pub fn combinations(words: &[String]) -> Result<Vec<Vec<(String, String)>>, SweepError> {
    let (axes, points) = axes(words)?;
    if points > MOST_POINTS {
        return Err(SweepError::TooMany { points, time: None });
    }
    let keyed = |values: Vec<String>| {
        axes.iter().zip(values).map(|(axis, value)| (axis.key.clone(), value)).collect()
    };
    Ok(product(&axes).into_iter().map(keyed).collect())
}

/// Whether a key is a parameter of a machine: those have dots, options of jobs have none.
fn is_of_machine(key: &str) -> bool {
    key.contains('.')
}

/// The job of a point, and what its machine is to have different.
fn job(
    base: &PlainJob,
    point: &[(String, String)],
) -> Result<(PlainJob, Vec<(String, String)>), PlainError> {
    let (set, options): (Vec<_>, Vec<_>) =
        point.iter().cloned().partition(|(key, _)| is_of_machine(key));
    let mut job = base.clone();
    for (key, value) in options {
        // Numbers of tags are under the policy that was asked for.
        let plain = key == "tags" && value.starts_with(|c: char| c.is_ascii_digit());
        match base.tags.filter(|_| plain) {
            Some(_) => {
                let policy = base.tag_policy.name();
                job.set(&key, &format!("{policy}:{value}"))?;
            }
            None => job.set(&key, &value)?,
        }
    }
    Ok((job, set))
}

/// What names and titles do not already say of a point.
fn rest<'p>(
    point: &'p [(String, String)],
    job: &PlainJob,
) -> impl Iterator<Item = &'p (String, String)> {
    let said = ["rw", "bs", "iodepth", if job.tags.is_some() { "tags" } else { "" }];
    point.iter().filter(move |(key, _)| !said.contains(&key.as_str()))
}

/// All points of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub keys: Vec<String>,
    /// The points, the first key's values next to each other.
    pub points: Vec<GridPoint>,
}

/// One point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct GridPoint {
    /// A value for each key.
    pub values: Vec<String>,
    pub job: PlainJob,
    /// What its machine has different.
    pub set: Vec<(String, String)>,
    /// The name of its phase.
    pub phase: String,
    pub title: String,
}

impl Grid {
    /// Reads what is to be swept: `iodepth=1..256`, `bs=512,4k,64k`. Each point is measured
    /// `repeats` times.
    ///
    /// # Errors
    /// [`SweepError`] for a word that makes no sense, and for more points than anybody waits for.
    pub fn parse(words: &[String], base: &PlainJob, repeats: u32) -> Result<Self, SweepError> {
        let each = base.run_time().0.saturating_mul(u64::from(repeats));
        let time = |points: u64| Some(Nanos(each.saturating_mul(points)));
        let all = combinations(words).map_err(|e| match e {
            SweepError::TooMany { points, .. } => {
                SweepError::TooMany { points, time: time(points) }
            }
            error => error,
        })?;
        let keys = all.iter().take(1).flatten().map(|(key, _)| key.clone()).collect();
        let mut points: Vec<GridPoint> = Vec::with_capacity(all.len());
        for point in all {
            let (job, set) = job(base, &point)?;
            let (mut phase, mut title) = (job.name(), job.title());
            for (key, value) in rest(&point, &job) {
                phase += &format!("-{key}-{value}");
                title += &format!(", {key} {value}");
            }
            if points.iter().any(|known| known.phase == phase) {
                return Err(SweepError::Same { phase });
            }
            let values = point.into_iter().map(|(_, value)| value).collect();
            points.push(GridPoint { values, job, set, phase, title });
        }
        Ok(Self { keys, points })
    }

    /// The first key that is a parameter of a machine.
    pub fn machine_key(&self) -> Option<&str> {
        self.keys.iter().map(String::as_str).find(|key| is_of_machine(key))
    }

    /// Whether points differ in how requests are issued.
    pub fn sweeps_engine(&self) -> bool {
        self.keys.iter().any(|key| key == "engine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(word: &str) -> Vec<String> {
        Axis::parse(word).unwrap_or_else(|e| panic!("{word}: {e}")).values
    }

    #[test]
    fn ranges_double_or_step_and_keep_both_ends() {
        assert_eq!(values("iodepth=1..32"), ["1", "2", "4", "8", "16", "32"]);
        assert_eq!(values("depth=1..24"), ["1", "2", "4", "8", "16", "24"]);
        assert_eq!(values("rwmixread=0..100:25"), ["0", "25", "50", "75", "100"]);
        assert_eq!(values("rwmixread=0..100:30"), ["0", "30", "60", "90", "100"]);
        assert_eq!(values("bs=512..8k"), ["512", "1k", "2k", "4k", "8k"]);
        assert_eq!(values("bs=512,4k,64k,4k"), ["512", "4k", "64k"]);
        assert_eq!(values("iodepth=7..7"), ["7"]);
        assert_eq!(values("tags=1..4"), ["1", "2", "4"]);
        assert_eq!(values("tags=none,split:8..24:8"), ["none", "split:8", "split:16", "split:24"]);
        assert_eq!(values("engine=io_uring,threads"), ["io_uring", "threads"]);
    }

    #[test]
    fn what_is_no_range_says_how_to_write_one() {
        for word in ["iodepth=0..8", "iodepth=8..1", "rwmixread=0..100:0", "bs=x..4k"] {
            let error = Axis::parse(word).unwrap_err();
            assert!(matches!(error, SweepError::Range { .. }), "{word}: {error}");
        }
        for word in ["", "iodepth", "iodepth=", "=1..4", "bs=4k,,8k"] {
            let error = Axis::parse(word).unwrap_err();
            assert!(matches!(error, SweepError::Unreadable { .. }), "{word}: {error}");
        }
        let words = ["depth=1".to_owned(), "iodepth=2".to_owned()];
        assert!(matches!(axes(&words), Err(SweepError::Twice { .. })));
    }

    #[test]
    fn a_range_of_a_billion_values_is_refused_before_it_is_made() {
        let error = Axis::parse("iodepth=1..1000000000:1").unwrap_err();
        assert_eq!(error, SweepError::TooMany { points: 1_000_000_000, time: None });
    }

    #[test]
    fn the_first_key_runs_through_its_values_first() {
        let words = ["iodepth=1..2".to_owned(), "bs=4k,8k".to_owned()];
        let (axes, count) = axes(&words).unwrap();
        let all = product(&axes);
        assert_eq!(count, 4);
        assert_eq!(all, [["1", "4k"], ["2", "4k"], ["1", "8k"], ["2", "8k"]]);
    }

    proptest! {
        #[test]
        fn any_range_rises_from_its_first_to_its_last_value(
            from in 1u64..1000, more in 0u64..100_000, step in prop::option::of(400u64..5000),
        ) {
            let to = from + more;
            let step = step.map(|s| format!(":{s}")).unwrap_or_default();
            let found = values(&format!("iodepth={from}..{to}{step}"));
            let numbers: Vec<u64> = found.iter().map(|v| v.parse().unwrap()).collect();
            prop_assert_eq!((numbers[0], numbers[numbers.len() - 1]), (from, to));
            prop_assert!(numbers.windows(2).all(|w| w[0] < w[1]));
        }

        #[test]
        fn no_text_makes_the_reader_panic(word in ".{0,40}") {
            let _ = Axis::parse(&word);
        }
    }
}
