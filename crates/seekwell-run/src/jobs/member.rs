//! One clone from start to end: its target, its requests, reading back what it wrote.

use super::logs::{Noted, epoch_ms};
use super::replay::{Ended, JobReplay};
use super::stage::MemberError;
use super::trace::Trace;
use crate::replay::{SPIN, bounds};
use rustix::io::Errno;
use rustix::thread::CpuSet;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, Control, EngineError, run_source};
use seekwell_io::measurement::{Measurement, Stopped};
use seekwell_io::target::Engine;
use seekwell_io::target::{Null, Target, TargetError, Threads, Uring};
use seekwell_io::units::Nanos;
use seekwell_io::workload::Source;
use seekwell_jobs::job::{EngineKind as Asked, Job, Kind};
use seekwell_jobs::layout::Member;
use seekwell_jobs::play::address::Address;
use seekwell_jobs::play::data::{Bad, Data};
use seekwell_jobs::play::log::Recorder;
use seekwell_jobs::play::source::back::ReadBack;
use seekwell_jobs::play::source::pace::FlowShare;
use seekwell_jobs::play::source::written::Written;
use seekwell_jobs::play::source::{Cut, JobSource, Setup};
use seekwell_jobs::play::steady::Steady;
use seekwell_jobs::play::watched::Watched;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What one clone needs.
pub struct Part<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its number, files and quota.
    pub member: &'a Member,
    /// The trace it plays in place of drawing requests.
    pub trace: Option<&'a Arc<Trace>>,
    /// Its files, in the order of its uses; none where requests go nowhere.
    pub files: Vec<Arc<OwnedFd>>,
    /// What its requests have to be whole multiples of, in bytes, where a trace says them.
    pub block_bytes: u32,
    /// How asynchronous engines are carried out here.
    pub engine: Engine,
    /// Of everything that is drawn.
    pub seed: u64,
    /// Set when another job's end ends it.
    pub ends: Arc<AtomicBool>,
}

/// What of a clone is used up as it runs.
pub struct Own {
    /// Its part of a flow.
    pub flow: Option<FlowShare>,
    /// What notes its requests for its logs.
    pub log: Option<Recorder>,
    /// Ends it when it is steady, with those it is reported with.
    pub steady: Option<Arc<Steady>>,
}

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

/// What a clone asks for, and what is left of it at the end.
pub trait Requests: Source {
    /// Why it ended early, if it did.
    fn cut(&self) -> Option<Cut>;
    /// The depth that `latency_target` found, where it was asked for.
    fn found_depth(&self) -> Option<Option<u32>>;
    /// What was written and not read back, and what became of a trace.
    fn end(self) -> (Option<Written>, Option<Ended>);
}

impl Requests for JobSource {
    fn cut(&self) -> Option<Cut> {
        Self::cut(self)
    }

    fn found_depth(&self) -> Option<Option<u32>> {
        Self::found_depth(self)
    }

    fn end(self) -> (Option<Written>, Option<Ended>) {
        (self.into_written(), None)
    }
}

impl Requests for JobReplay {
    fn cut(&self) -> Option<Cut> {
        Self::cut(self)
    }

    fn found_depth(&self) -> Option<Option<u32>> {
        None
    }

    fn end(self) -> (Option<Written>, Option<Ended>) {
        (None, Some(self.finish()))
    }
}

/// A target and the data that its requests carry, where they carry any.
pub trait Carrier: Target {
    /// The data.
    fn data(&mut self) -> Option<&mut Data>;
}

impl Carrier for Null {
    fn data(&mut self) -> Option<&mut Data> {
        None
    }
}

impl Carrier for Uring<Data> {
    fn data(&mut self) -> Option<&mut Data> {
        Some(self.payload())
    }
}

impl Carrier for Threads<Data> {
    fn data(&mut self) -> Option<&mut Data> {
        Some(self.payload())
    }
}

/// What carries out a job's requests, as documents name it.
pub const fn engine_name(job: &Job, engine: Engine) -> &'static str {
    match (job.engine.kind, job.engine.kind.synchronous()) {
        (Asked::Null, _) => "null",
        (_, true) => Engine::Threads.issuer(),
        (_, false) => engine.issuer(),
    }
}

impl Part<'_> {
    /// The most that one request moves.
    fn longest(&self) -> u32 {
        match self.trace {
            Some(trace) => {
                bounds(trace.longest_bytes, self.block_bytes, Some(self.job.engine.depth)).1
            }
            None => self.job.max_block().max(1),
        }
    }

    /// Sets itself up, waits at `gate` for all others, and runs.
    ///
    /// # Errors
    /// When the target cannot be set up or fails as a whole.
    pub fn run<G>(&self, own: Own, control: &Control, gate: G) -> Result<Played, MemberError>
    where
        G: FnOnce(Result<(), EngineError>) -> Result<(), EngineError>,
    {
        let (depth, bytes) = (self.job.engine.depth, self.longest());
        let address = Address::new(self.member.uses.len());
        let data = || Data::new(self.job, address, depth, self.member.clone, self.seed);
        let files: Vec<BorrowedFd<'_>> = self.files.iter().map(|fd| fd.as_fd()).collect();
        match (self.job.engine.kind, self.job.engine.kind.synchronous(), self.engine) {
            (Asked::Null, ..) => self.on(Ok(Null::new()), own, control, gate),
            (_, false, Engine::Auto | Engine::IoUring) => {
                self.on(Uring::with(&files, depth, bytes, data()), own, control, gate)
            }
            _ => self.on(Threads::with(&files, depth, bytes, data()), own, control, gate),
        }
    }

    fn on<T: Carrier, G>(
        &self,
        opened: Result<T, TargetError>,
        own: Own,
        control: &Control,
        gate: G,
    ) -> Result<Played, MemberError>
    where
        G: FnOnce(Result<(), EngineError>) -> Result<(), EngineError>,
    {
        self.stay_on_cpus();
        let mut target = match opened {
            Ok(target) => target,
            Err(error) => {
                return Err(gate(Err(error.into())).err().unwrap_or(EngineError::Thread))?;
            }
        };
        let ramp = self.job.timing.ramp;
        if let Some(trace) = self.trace {
            let lengths = (self.block_bytes, self.longest());
            let source =
                JobReplay::new(self.job, Arc::clone(trace), lengths, Arc::clone(&self.ends));
            let source = match source {
                Ok(source) => Watched::new(source, ramp, own.log, own.steady),
                Err(error) => {
                    let _ = gate(Err(EngineError::Thread));
                    return Err(error.into());
                }
            };
            gate(Ok(()))?;
            return Ok(self.requests(&mut target, source, control)?);
        }
        let setup = Setup {
            job: self.job,
            regions: self.member.uses.iter().map(|u| u.region).collect(),
            loop_bytes: self.member.loop_bytes,
            depth: self.job.engine.depth,
            seed: self.seed,
            flow: own.flow,
            ends: Arc::clone(&self.ends),
        };
        let source = Watched::new(JobSource::new(setup), ramp, own.log, own.steady);
        gate(Ok(()))?;
        Ok(self.requests(&mut target, source, control)?)
    }

    fn requests<T: Carrier, S: Requests>(
        &self,
        target: &mut T,
        mut source: Watched<S>,
        control: &Control,
    ) -> Result<Played, EngineError> {
        let timing = &self.job.timing;
        let bounds = Bounds {
            depth: self.job.engine.depth,
            ramp: timing.ramp,
            runtime: timing.runtime,
            spin: self.spin(),
        };
        let no_rule = &mut Unlimited::default();
        let main = run_source(&mut source, bounds, target, no_rule, control)?;
        let end_sync = self.end_sync(target, &main);
        let log = source.take_log().map(|(recorder, started)| Noted {
            recorded: recorder.finish(),
            epoch_ms: epoch_ms(started),
        });
        let (source, steady) = (source.source, source.steady);
        let (cut, found_depth) = (source.cut(), source.found_depth());
        let goes_on = main.stopped == Stopped::Finished && cut.is_none();
        let (written, replayed) = source.end();
        let back = match written {
            Some(written) if goes_on && self.reads_back() => {
                Some(self.read_back(target, &written, control)?)
            }
            _ => None,
        };
        let mut played = Played {
            main,
            back,
            cut,
            found_depth,
            end_sync,
            bad: Vec::new(),
            bad_count: 0,
            checked: 0,
            log,
            steady,
            replayed,
        };
        if let Some(data) = target.data() {
            played.bad = std::mem::take(&mut data.bad);
            (played.bad_count, played.checked) = (data.bad_count, data.checked);
        }
        Ok(played)
    }

    /// What is to be issued at a time is watched for, where there is a processor for that.
    fn spin(&self) -> Nanos {
        let timed = self.job.replay.as_ref().is_some_and(|replay| !replay.no_stall);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if timed && processors > 1 && self.job.clones == 1 { SPIN } else { Nanos::ZERO }
    }

    /// Not after a job that takes the whole of its time to write, as in fio.
    fn reads_back(&self) -> bool {
        let timing = &self.job.timing;
        let all_time = timing.time_based && timing.runtime > Nanos::ZERO;
        !all_time && self.job.verify.as_ref().is_some_and(|v| v.read_back)
    }

    /// Reads back all that was written, however long the job was to run.
    fn read_back<T: Target>(
        &self,
        target: &mut T,
        written: &Written,
        control: &Control,
    ) -> Result<Measurement, EngineError> {
        let fatal = self.job.verify.as_ref().is_some_and(|v| v.fatal);
        let mut source = ReadBack::new(written, !fatal || self.job.errors.continue_verify);
        let bounds = Bounds {
            depth: self.job.engine.depth,
            ramp: Nanos::ZERO,
            runtime: Nanos::ZERO,
            spin: Nanos::ZERO,
        };
        run_source(&mut source, bounds, target, &mut Unlimited::default(), control)
    }

    /// Syncs each file at the end, where that was asked: how long it took.
    fn end_sync<T: Target>(&self, target: &T, main: &Measurement) -> Option<Result<Nanos, Errno>> {
        let durability = &self.job.durability;
        let asked = durability.end_fsync || durability.fsync_on_close;
        if !asked || self.job.access.kind == Kind::Read || main.stopped == Stopped::Stalled {
            return None;
        }
        let begun = target.now();
        let done = self.files.iter().try_for_each(rustix::fs::fsync);
        Some(done.map(|()| target.now().since(begun)))
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

/// Whether a signal or another job ended a clone before it began.
pub fn is_called_off(control: &Control, ends: &AtomicBool) -> bool {
    control.stop.load(Relaxed) || ends.load(Relaxed)
}
