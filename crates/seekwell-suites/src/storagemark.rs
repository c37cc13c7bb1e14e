//! The four traces of StorageMark 2004, re-recorded (docs/storagemark.md tells how), played back
//! as that test did: no recorded times, as many requests outstanding as there were, and the
//! requests a second that come of it.

use crate::error::{StorageMarkError, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::suite::Values::{Bytes, Count};
use crate::suite::{Level, Needs, On, Settings, Suite, Tunable, any};
use crate::work::{Buffer, LEAST, create, open, settle, write_all};
use rustix::fs::OFlags;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::{Failure, FailureKind, Measurement};
use seekwell_io::request::Op;
use seekwell_io::target::{Engine, Real, Stamped};
use seekwell_io::units::Nanos;
use seekwell_trace::error::TraceError;
use seekwell_trace::record::Record;
use seekwell_trace::replay::{
    Closed, DeviceSurvey, Feed, Fidelity, Fit, Moment, Picked, Placing, Survey, survey,
};
use seekwell_trace::shipped::Shipped;
use seekwell_trace::source::{About, Tables, TraceSource};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Names of shipped traces, and what each is of.
const TRACES: [(&str, &str); 4] = [
    ("web-light", "picture server, 2 clients"),
    ("web-heavy", "picture server, 20 clients"),
    ("db-light", "database server, 10 clients"),
    ("db-heavy", "database server, 50 clients"),
];

pub static SUITE: Suite = Suite {
    name: "storagemark",
    title: "StorageMark's four server traces, played back",
    does: "Plays the recorded requests of a picture server and a database server, light and heavy, \
           on a file: in recorded order and depth, without recorded times, around the page cache.",
    takes: ["10 s", "10 s to 10 min"],
    writes: "one file, 256 MiB or 3 GiB, and what the traces write into it",
    source: "StorageMark 2004 of Tweakers (IPEAK trace and playback); traces re-recorded",
    on: On::Directory,
    tunables: &[
        Tunable::new(
            "size",
            "size of the file; addresses shrink evenly to one that is smaller than recorded",
            Bytes(16 << 20, 1 << 40),
            ["256m", "3g"],
        ),
        Tunable::new(
            "requests",
            "the most requests of each trace",
            Count(1, 1 << 32),
            ["3000", "4294967296"],
        ),
    ],
    check: any,
    needs: |s| Needs { bytes: s.number("size"), files: 1 },
    direct: |_| true,
    steps,
};

/// Most requests outstanding.
const DEPTH: u32 = 256;
/// Reads and writes longer than this are split.
const LONGEST: u32 = 1 << 20;
/// Addresses and lengths are multiples of this, so that any disk takes them around the cache.
const BLOCK: u32 = 4096;
/// A request may take this long.
const STALL: Nanos = Nanos::from_millis(30_000);
/// Between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy)]
struct Job {
    size: u64,
    requests: u64,
    expected: Nanos,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let expected = if settings.level == Level::Quick { 3_000 } else { 60_000 };
    let job = Job {
        size: settings.number("size") / (2 << 20) * (2 << 20),
        requests: settings.number("requests"),
        expected: Nanos::from_millis(expected),
    };
    let step = |(name, title)| {
        let run = move |stage: &Stage<'_>| run(stage, name, job);
        Step::new(name, title, "requests_per_s", job.expected, run)
    };
    TRACES.into_iter().map(step).collect()
}

fn run(stage: &Stage<'_>, trace: &str, job: Job) -> Result<StepResult, SuiteError> {
    let (file, path) = lay_out(stage, job.size)?;
    let survey =
        survey(&mut recorded(trace, job)?, Moment::Queue).map_err(StorageMarkError::from)?;
    let played = survey.devices.first().copied().unwrap_or_default();
    let picked = picked(&survey, &played, job.size)?;
    let (meter, mut plays) = (stage.begin(), Vec::<Measurement>::new());
    while plays.iter().map(|one| one.elapsed.0).sum::<u64>() < LEAST.0 {
        settle(&file, &path)?;
        let mut feed = Feed::start(recorded(trace, job)?, picked);
        feed.peek();
        let (measured, feed) = play(stage, &file, feed, &played, picked.longest_bytes)?;
        feed.finish().map_err(StorageMarkError::from)?;
        if let Some(why) = why_ended(&measured) {
            return Err(StorageMarkError::Ended { why }.into());
        }
        plays.push(measured);
    }
    let (mut result, times) = (meter.end(), plays.len());
    let measured = one_after_the_other(plays);
    if times > 1 {
        result.notes.push(format!("over too soon for a figure, so it was played {times} times"));
    }
    let bytes = [Op::Read, Op::Write].map(|op| measured.op(op).bytes).iter().sum();
    let services = [Op::Read, Op::Write].map(|op| (op, measured.op(op).service.clone()));
    let requests = measured.requests();
    result.measurement = measured;
    result.rate("requests_per_s", requests);
    result.rate("bytes_per_s", bytes);
    services.iter().for_each(|(op, times)| result.latency(op.name(), times));
    Ok(result)
}

/// What several plays of a trace came to; the course of time is that of the first.
fn one_after_the_other(plays: Vec<Measurement>) -> Measurement {
    let sum = |of: fn(&Measurement) -> Nanos| Nanos(plays.iter().map(|one| of(one).0).sum());
    let elapsed = sum(|one| one.elapsed);
    let (cpu_user, cpu_system) = (sum(|one| one.cpu_user), sum(|one| one.cpu_system));
    let mut plays = plays.into_iter();
    let mut all = plays.next().unwrap_or_else(|| Measurement::new(Nanos(1)));
    for mut later in plays {
        later.series.steps.clear();
        all.merge(later);
    }
    Measurement { elapsed, cpu_user, cpu_system, ..all }
}

/// Why a trace was not played to its end, if it was not.
fn why_ended(measured: &Measurement) -> Option<String> {
    if measured.abandoned > 0 {
        return Some(format!("{} requests never completed", measured.abandoned));
    }
    let failure = measured.first_failure.as_ref()?;
    let how = match failure.kind {
        FailureKind::Errno { errno } => std::io::Error::from_raw_os_error(errno).to_string(),
        FailureKind::Short { moved } => format!("only {moved} bytes were moved"),
    };
    let Failure { op, offset, len, .. } = failure;
    Some(format!("a {} of {len} bytes at byte {offset} failed: {how}", op.name()))
}

/// The file that all traces are played on, made the first time.
fn lay_out(stage: &Stage<'_>, size: u64) -> Result<(OwnedFd, PathBuf), SuiteError> {
    let path = stage.path.join("disk");
    if !path.exists() {
        let file = create(&path, OFlags::empty())?;
        let chunk = Buffer::random(2 << 20, stage.seed);
        for _ in 0..size / chunk.get().len() as u64 {
            stage.go_on()?;
            write_all(&file, chunk.get(), &path)?;
        }
        settle(&file, &path)?;
    }
    Ok((open(&path, OFlags::DIRECT)?, path))
}

/// The requests of a shipped trace that are played.
fn recorded(trace: &str, job: Job) -> Result<Box<dyn TraceSource + Send>, SuiteError> {
    let trace = Shipped::named(trace).expect("the suite's traces ship with the program");
    let source = trace.open().map_err(StorageMarkError::from)?;
    Ok(Box::new(First { source, left: job.requests }))
}

/// The first requests of a trace.
struct First {
    source: Box<dyn TraceSource + Send>,
    left: u64,
}

impl TraceSource for First {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if self.left == 0 {
            return Ok(());
        }
        let before = out.len();
        self.source.read(out)?;
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        out.truncate(before.saturating_add(most));
        self.left -= (out.len() - before) as u64;
        Ok(())
    }

    fn about(&self) -> &About {
        self.source.about()
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }
}

fn picked(survey: &Survey, played: &DeviceSurvey, size: u64) -> Result<Picked, SuiteError> {
    let fit = if played.end_bytes > size { Fit::Scale } else { Fit::Fail };
    let longest = played.longest_bytes.next_multiple_of(BLOCK);
    let placing = Placing::new(fit, BLOCK, played.end_bytes, longest, size)
        .map_err(StorageMarkError::from)?;
    Ok(Picked {
        device: None,
        moment: Moment::Queue,
        first: survey.first,
        writes: true,
        placing,
        // Placing may make a request longer by a block at each end.
        longest_bytes: (longest + 2 * BLOCK).min(LONGEST),
        untimed: true,
        dependencies: false,
        device_shift: None,
    })
}

fn play(
    stage: &Stage<'_>,
    file: &OwnedFd,
    feed: Feed,
    played: &DeviceSurvey,
    longest: u32,
) -> Result<(Measurement, Feed), SuiteError> {
    let data = || Stamped::new(stage.seed);
    let mut target = Real::open(Engine::Auto, &[file.as_fd()], (DEPTH, longest), false, data)
        .map_err(|e| StorageMarkError::Engine(e.into()))?;
    let (control, over) = (Control::new(STALL), AtomicBool::new(false));
    // The bound of lateness does not count here: nothing is due at a time.
    let mut source = Closed::new(feed, None, Fidelity::new(DEPTH, STALL));
    let bounds =
        Bounds { depth: DEPTH, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    let measured = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                control.stop.fetch_or(stage.stop.load(Relaxed), Relaxed);
                let done = control.requests.load(Relaxed) as f64 / played.total().max(1) as f64;
                (stage.progress)(done.min(1.0));
                std::thread::sleep(LOOK);
            }
        });
        let dispatcher = &mut Unlimited::default();
        let measured = run_source(&mut source, bounds, &mut target, dispatcher, &control);
        over.store(true, Relaxed);
        measured
    });
    let measured = measured.map_err(StorageMarkError::from)?;
    stage.go_on()?;
    Ok((measured, source.finish().0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use seekwell_checkup::SHORTEST_RATE;

    #[test]
    fn the_traces_that_ship_are_whole_and_small_and_know_when_requests_were_done() {
        let job = Job { size: 0, requests: u64::MAX, expected: Nanos::ZERO };
        for (name, _) in TRACES {
            assert!(Shipped::named(name).unwrap().parquet.len() <= 4_000_000, "{name}");
            let mut source = recorded(name, job).unwrap();
            let survey = survey(&mut source, Moment::Queue).unwrap();
            assert!(source.about().complete(), "{name}");
            let [one] = survey.devices.as_slice() else { panic!("{name}: {survey:?}") };
            assert!(one.requests[0] > 1_000 && one.requests[1] > 100, "{name}: {one:?}");
            assert!(one.with_completion * 100 > one.total() * 99, "{name}: {one:?}");
        }
    }

    #[test]
    fn each_trace_is_played_to_the_asked_number_of_requests() {
        let set = [("size", "32m"), ("requests", "500")];
        let Some(results) = testing::round(&SUITE, &set) else { return };
        let names: Vec<_> = results.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, TRACES.map(|(name, _)| name));
        for (name, result) in &results {
            let requests = result.measurement.requests();
            // Long requests are split, and a trace that is over too soon is played again, whole.
            let times = result.notes.iter().find_map(|n| n.rsplit(' ').nth(1)?.parse().ok());
            let times = times.unwrap_or(1_u64);
            assert!((500 * times..1_000 * times).contains(&requests), "{name}: {requests}");
            assert!(result.measurement.elapsed >= SHORTEST_RATE, "{name}");
            assert!(result.values["bytes_per_s"] > 0.0, "{name}: {:?}", result.values);
        }
    }
}
