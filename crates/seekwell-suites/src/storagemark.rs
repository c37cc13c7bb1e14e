//! The four traces of StorageMark 2004, re-recorded (docs/storagemark.md says how), played back
//! as that test did: no recorded times, as many requests outstanding as there were, and the
//! requests a second that come of it.

use crate::error::{Describe, PlayError, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::load::{Counts, Load, Medium, Pace, Played, Playing};
use crate::settings::Values::{Bytes, Count};
use crate::settings::{Level, Settings, tunables};
use crate::suite::{Needs, On, Suite, any};
use crate::work::{Buffer, LEAST, create, open, settle, write_all};
use rustix::fs::OFlags;
use seekwell_access::{Way, drop_cache};
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::Control;
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_io::target::{Engine, Real, Stamped};
use seekwell_io::units::Nanos;
use seekwell_sys::thread::start_scoped;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
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
           on a file: in recorded order and depth, without recorded times, around the page cache. \
           On a device or a file of yours, only their reads.",
    takes: ["10 s", "10 s to 10 min"],
    writes: "one file, 256 MiB or 3 GiB, and what the traces write into it; nothing on a device or \
             a file of yours",
    source: "StorageMark 2004 of Tweakers (IPEAK trace and playback); traces re-recorded",
    on: On::Anything,
    tunables: tunables! {
        "size" Bytes(SMALLEST, 1 << 40), "256m" | "3g":
            "size of the file; addresses shrink evenly to one that is smaller than recorded";
        "requests" Count(1, 1 << 32), "3000" | "4294967296": "the most requests of each trace";
    },
    check: any,
    needs: |s| Needs { bytes: s.number("size"), files: 1 },
    direct: |_| true,
    steps,
};

const SMALLEST: u64 = 16 << 20;
const CHUNK: usize = 2 << 20;
const DEPTH: u32 = 256;
/// Reads and writes longer than this are split.
const LONGEST: u32 = 1 << 20;
/// Addresses and lengths are multiples of this, so that any disk takes them around the cache.
const BLOCK: u32 = 4096;
/// A request may take this long.
const STALL: Nanos = Nanos::from_millis(30_000);
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy)]
struct Job {
    size: u64,
    requests: u64,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let expected = if settings.level == Level::Quick { 3_000 } else { 60_000 };
    let job = Job { size: settings.number("size"), requests: settings.number("requests") };
    let step = |(name, title)| {
        let run = move |stage: &Stage<'_>| run(stage, name, job);
        let load = Played { requests: job.requests, ..load(name, Pace::RecordedDepth) };
        let expected = Nanos::from_millis(expected);
        Step::new(name, title, "requests_per_s", expected, run).on_model(Load::Played(load))
    };
    TRACES.into_iter().map(step).collect()
}

/// A trace without its recorded times.
pub const fn load(trace: &'static str, pace: Pace) -> Played {
    Played::whole(trace, pace, Counts::Requests(1.0))
}

/// What the traces are played on: a file of our own, or the reads of them on what is only read.
struct Disk {
    file: OwnedFd,
    path: PathBuf,
    medium: Medium,
}

impl Disk {
    fn open(stage: &Stage<'_>, size: u64) -> Result<Self, SuiteError> {
        let path = stage.path.join("disk");
        let (file, path, bytes, block) = match stage.opened {
            None => (lay_out(stage, size, &path)?, path, size, BLOCK),
            Some(opened) => {
                let (path, size) = (stage.path.to_path_buf(), opened.size_bytes());
                stage.at_least(size, SMALLEST)?;
                let way = Way { direct: opened.direct(), ..Way::default() };
                let file = opened.reopen(way).doing("opening", &path)?;
                (file, path, size, opened.logical_block_bytes().max(BLOCK))
            }
        };
        let bytes = bytes / CHUNK as u64 * CHUNK as u64;
        let writes = stage.opened.is_none();
        let medium = Medium { bytes, block, writes, depth: DEPTH, longest: LONGEST };
        Ok(Self { file, path, medium })
    }

    fn settle(&self) -> Result<(), SuiteError> {
        match self.medium.writes {
            true => settle(&self.file, &self.path),
            false => drop_cache(&self.file).doing("dropping the cache of", &self.path),
        }
    }
}

fn run(stage: &Stage<'_>, trace: &str, job: Job) -> Result<StepResult, SuiteError> {
    let disk = Disk::open(stage, job.size)?;
    let playing = Playing::survey(trace, job.requests)?;
    let (meter, mut plays) = (stage.begin(), Vec::<Measurement>::new());
    while plays.iter().map(|one| one.elapsed.0).sum::<u64>() < LEAST.0 {
        disk.settle()?;
        plays.push(play(stage, &disk, &playing)?);
    }
    let (mut result, times) = (meter.end(), plays.len());
    let measured = one_after_the_other(plays);
    if times > 1 {
        result.notes.push(format!("over too soon for a figure, so it was played {times} times"));
    }
    let (reads, all) = (playing.on(&disk.medium), playing.requests);
    if reads < all {
        result.notes.push(format!(
            "only its {reads} reads of {all} requests were played: the target is not written to, \
             and this is not StorageMark's figure"
        ));
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

/// The file that all traces are played on, made the first time.
fn lay_out(stage: &Stage<'_>, size: u64, path: &Path) -> Result<OwnedFd, SuiteError> {
    if !path.exists() {
        let file = create(path, OFlags::empty())?;
        let chunk = Buffer::random(CHUNK, stage.seed);
        for _ in 0..size / CHUNK as u64 {
            stage.go_on()?;
            write_all(&file, chunk.get(), path)?;
        }
        settle(&file, path)?;
    }
    open(path, OFlags::DIRECT)
}

fn play(stage: &Stage<'_>, disk: &Disk, playing: &Playing) -> Result<Measurement, SuiteError> {
    let data = || Stamped::new(stage.seed);
    let size = (DEPTH, playing.longest(&disk.medium));
    let mut target = Real::open(Engine::Auto, &[disk.file.as_fd()], size, data)
        .map_err(|e| PlayError::Engine(e.into()))?;
    let (control, over) = (Control::new(STALL), AtomicBool::new(false));
    let whole = playing.on(&disk.medium).max(1);
    let measured = std::thread::scope(|scope| {
        start_scoped(scope, "progress", || {
            while !over.load(Relaxed) {
                control.stop.fetch_or(stage.stop.load(Relaxed), Relaxed);
                let done = control.requests.load(Relaxed) as f64 / whole as f64;
                (stage.progress)(done.min(1.0));
                std::thread::sleep(LOOK);
            }
        })?;
        let (pace, rule) = ((Pace::RecordedDepth, 1.0), &mut Unlimited::default());
        let measured = playing.play(&disk.medium, pace, &mut target, rule, &control);
        over.store(true, Relaxed);
        Ok::<_, SuiteError>(measured)
    })?;
    stage.go_on()?;
    Ok(measured?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use seekwell_checkup::SHORTEST_RATE;
    use seekwell_trace::replay::{Moment, survey};
    use seekwell_trace::shipped::Shipped;

    #[test]
    fn the_traces_that_ship_are_whole_and_small_and_know_when_requests_were_done() {
        for (name, _) in TRACES {
            let shipped = Shipped::named(name).unwrap();
            let mut source = shipped.open().unwrap();
            let survey = survey(&mut *source, Moment::Queue).unwrap();
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
