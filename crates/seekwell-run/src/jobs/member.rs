//! One clone from start to end: its target, its requests, reading back what it wrote.

use super::noted::{Noted, epoch_ms};
use super::replay::Ended;
use super::requests::Requests;
use crate::replay::SPIN;
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::thread::CpuSet;
use seekwell_access::AccessError;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, Control, EngineError, run_source};
use seekwell_io::measurement::{Measurement, Stopped};
use seekwell_io::request::Op;
use seekwell_io::target::{Engine, Real, Target};
use seekwell_io::units::Nanos;
use seekwell_job::job::{EngineKind, Job, Kind};
use seekwell_job::layout::Member;
use seekwell_job::play::address::Address;
use seekwell_job::play::data::{Bad, Data};
use seekwell_job::play::source::Cut;
use seekwell_job::play::source::back::ReadBack;
use seekwell_job::play::source::written::Written;
use seekwell_job::play::steady::Steady;
use seekwell_job::play::watched::Watched;
use seekwell_job::play::zones::ChangeTimes;
use seekwell_trace::error::TraceError;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One clone, whatever its requests go to.
pub struct Part<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its number, files and quota.
    pub member: &'a Member,
    /// Of everything that is drawn.
    pub seed: u64,
    /// Of the clones that share data which come again.
    pub sharing: Vec<u64>,
    /// The most that one request moves.
    pub longest: u32,
    /// Its requests, and what looks on at them.
    pub source: Watched<Requests>,
    /// Set when another job's end ends it.
    pub ends: Arc<AtomicBool>,
    /// The job that has to end before it begins.
    pub waits_for: Option<usize>,
    /// Begins so long after the run.
    pub delay: Nanos,
}

/// One clone on an open target.
pub struct Ready<'a> {
    /// The clone.
    pub part: Part<'a>,
    files: Vec<Arc<OwnedFd>>,
    target: Real<Data>,
}

/// Why a clone gave nothing.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum MemberError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("stopped before it began")]
    NotBegun,
}

/// A clone's number in the layout and what it gave.
pub type Outcome = (usize, Result<Played, MemberError>);

/// What one clone gave.
pub struct Played {
    /// Of its own requests.
    pub main: Measurement,
    /// Of reading back what it wrote.
    pub back: Option<Measurement>,
    /// Why it ended early.
    pub cut: Option<Cut>,
    /// What `latency_target` found, once the search was over.
    pub found_depth: Option<Option<u32>>,
    /// How long its resets and finishes of zones took, where it followed zones.
    pub zone_times: Option<ChangeTimes>,
    /// How long the last syncs took, or with what they failed.
    pub end_sync: Option<Result<Nanos, Errno>>,
    /// The first blocks that did not verify.
    pub bad: Vec<Bad>,
    /// How many did not.
    pub bad_count: u64,
    /// How many were checked.
    pub checked: u64,
    /// What its logs are made of.
    pub log: Option<Noted>,
    /// Whether it was steady, with those it is reported with.
    pub steady: Option<Arc<Steady>>,
    /// What became of the trace it played.
    pub replayed: Option<Ended>,
}

impl Played {
    /// All that it measured.
    fn all(&self) -> impl Iterator<Item = &Measurement> {
        std::iter::once(&self.main).chain(&self.back)
    }

    /// Requests that were done.
    pub fn requests(&self) -> u64 {
        self.all().map(Measurement::requests).sum()
    }

    /// Bytes that were read and written.
    pub fn moved(&self) -> u64 {
        self.all().map(|m| m.op(Op::Read).bytes + m.op(Op::Write).bytes).sum()
    }

    /// What `source` and its measurement give, and what it wrote; `epoch_ms` says when its
    /// measuring began on the clock of its logs.
    pub fn of(
        main: Measurement,
        mut source: Watched<Requests>,
        epoch_ms: impl Fn(Nanos) -> u64,
    ) -> (Self, Option<Written>) {
        let log = source.take_log().map(|(recorder, started)| {
            let epoch_ms = epoch_ms(started);
            Noted { recorded: recorder.finish(), epoch_ms }
        });
        let (requests, steady) = (source.source, source.steady);
        let (cut, found_depth) = (requests.cut(), requests.found_depth());
        let zone_times = requests.zone_times();
        let (written, replayed) = requests.end();
        let (back, end_sync, bad, bad_count, checked) = (None, None, Vec::new(), 0, 0);
        let played = Self {
            main,
            back,
            cut,
            found_depth,
            zone_times,
            end_sync,
            bad,
            bad_count,
            checked,
            log,
            steady,
            replayed,
        };
        (played, written)
    }
}

/// How a job's requests are issued where asynchronous ones are by `engine`; `None` if they go
/// nowhere.
fn issued_by(job: &Job, engine: Engine) -> Option<Engine> {
    match (job.engine.kind, engine) {
        (EngineKind::Null, _) => None,
        (EngineKind::IoUringCmd, _) => Some(Engine::IoUringCmd),
        (kind, _) if kind.synchronous() => Some(Engine::Threads),
        // A job that names an asynchronous engine gets it at depth 1 too.
        (_, Engine::Auto | Engine::IoUring | Engine::IoUringCmd) => Some(Engine::IoUring),
        (_, Engine::Threads) => Some(Engine::Threads),
    }
}

/// What carries out a job's requests, as documents name it.
pub fn engine_name(job: &Job, engine: Engine) -> &'static str {
    issued_by(job, engine).map_or("null", Engine::issuer)
}

impl<'a> Part<'a> {
    /// Opens its target on its files, in the order of its uses, on the CPUs that the job names.
    pub fn open(self, files: Vec<Arc<OwnedFd>>, engine: Engine) -> Result<Ready<'a>, EngineError> {
        self.stay_on_cpus();
        self.take_name();
        let Self { job, member, .. } = self;
        let depth = job.engine.depth;
        let engine = issued_by(job, engine);
        let expected = if engine.is_some() { member.uses.len() } else { 0 };
        assert_eq!(files.len(), expected, "a clone opens each of its files once, or none");
        let data = || {
            let address = Address::new(member.uses.len());
            Data::new(job, address, depth, (member.clone, self.seed), &self.sharing)
        };
        let fds: Vec<BorrowedFd<'_>> = files.iter().map(|fd| fd.as_fd()).collect();
        let engine = engine.unwrap_or(Engine::Auto);
        let target = Real::open(engine, &fds, (depth, self.longest), data)?;
        Ok(Ready { part: self, files, target })
    }

    /// Gives this thread the name that the job asks for.
    fn take_name(&self) {
        let Some(name) = self.job.hints.comm.as_ref() else { return };
        if let Ok(name) = CString::new(name.as_str()) {
            // The kernel keeps the first 15 bytes.
            let _ = rustix::thread::set_name(&name);
        }
    }

    /// Keeps this thread on the CPUs that the job names.
    fn stay_on_cpus(&self) {
        let hints = &self.job.hints;
        let Some(count) = std::num::NonZeroUsize::new(hints.cpus.len()) else { return };
        let mut set = CpuSet::new();
        if hints.cpus_split {
            set.set(hints.cpus[self.member.clone as usize % count] as usize);
        } else {
            hints.cpus.iter().for_each(|cpu| set.set(*cpu as usize));
        }
        // Checked before: where the kernel refuses all the same, the run is merely not pinned.
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
}

impl Ready<'_> {
    /// Runs it to its end.
    pub fn run(self, control: &Control) -> Result<Played, EngineError> {
        let Self { part: Part { job, mut source, .. }, files, mut target } = self;
        let bounds = Bounds {
            depth: job.engine.depth,
            // Its source says when the ramp is over.
            ramp: Nanos::ZERO,
            runtime: job.timing.runtime,
            spin: spin(job),
        };
        let main =
            run_source(&mut source, bounds, &mut target, &mut Unlimited::default(), control)?;
        let end_sync = end_sync(job, &files, &target, &main);
        let (mut played, written) = Played::of(main, source, epoch_ms);
        assert!(written.is_none() || job.remembers(), "only what is to be verified is remembered");
        let goes_on = played.main.stopped == Stopped::Finished && played.cut.is_none();
        if let Some(written) = written.filter(|_| goes_on && reads_back(job)) {
            played.back = Some(read_back(job, &mut target, &written, control)?);
        }
        played.end_sync = end_sync;
        if let Some(data) = target.payload() {
            played.bad = std::mem::take(&mut data.bad);
            (played.bad_count, played.checked) = (data.bad_count, data.checked);
            assert!(played.bad.len() as u64 <= played.bad_count);
        }
        Ok(played)
    }
}

/// What is to be issued at a time is watched for, if there is a processor for that.
fn spin(job: &Job) -> Nanos {
    let timed = job.replay.as_ref().is_some_and(|replay| !replay.no_stall);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if timed && processors > 1 && job.clones == 1 { SPIN } else { Nanos::ZERO }
}

/// Not after a job that takes the whole of its time to write, as in fio.
fn reads_back(job: &Job) -> bool {
    let all_time = job.timing.time_based && job.timing.runtime > Nanos::ZERO;
    !all_time && job.verify.as_ref().is_some_and(|v| v.read_back)
}

/// Reads back all that was written, however long the job was to run.
fn read_back(
    job: &Job,
    target: &mut Real<Data>,
    written: &Written,
    control: &Control,
) -> Result<Measurement, EngineError> {
    let fatal = job.verify.as_ref().is_some_and(|v| v.fatal);
    let mut source = ReadBack::new(written, !fatal || job.errors.continue_verify);
    let none = Nanos::ZERO;
    let bounds = Bounds { depth: job.engine.depth, ramp: none, runtime: none, spin: none };
    run_source(&mut source, bounds, target, &mut Unlimited::default(), control)
}

/// Syncs each file at the end, where that was asked: how long it took.
fn end_sync(
    job: &Job,
    files: &[Arc<OwnedFd>],
    target: &Real<Data>,
    main: &Measurement,
) -> Option<Result<Nanos, Errno>> {
    if !job.durability.syncs_at_end()
        || job.access.kind == Kind::Read
        || main.stopped == Stopped::Stalled
    {
        return None;
    }
    let begun = target.now();
    let done = match job.durability.end_syncfs {
        false => files.iter().try_for_each(rustix::fs::fsync),
        true => sync_file_systems(files),
    };
    Some(done.map(|()| target.now().since(begun)))
}

/// Syncs each file system that holds one of the files, once.
fn sync_file_systems(files: &[Arc<OwnedFd>]) -> Result<(), Errno> {
    let mut synced = BTreeSet::new();
    for file in files {
        let stat = rustix::fs::fstat(file)?;
        // A device's node lies on a file system that holds none of its data.
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if !synced.insert(stat.st_dev) => {}
            FileType::RegularFile => rustix::fs::syncfs(file)?,
            _ => rustix::fs::fsync(file)?,
        }
    }
    Ok(())
}
