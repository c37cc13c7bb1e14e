//! What every kind of bench needs before it measures: the session, the medium, and the medium's
//! state.

use super::{BenchOptions, Question};
use crate::wear::Counting;
use crate::{
    Host, Purpose, Ready, RealExecutor, RunError, Session, Wanted, Watcher, look, prepare,
};
use seekwell_checkup::{ExecuteError, Executor, Plan, PlanInputs, Wear};
use seekwell_inspect::TargetKind;
use seekwell_io::measurement::{Measurement, Stopped};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_job::PlainJob;
use seekwell_runs::Preconditioning;

const GIB: u64 = 1 << 30;
/// A file that the smaller write caches fit in.
const SUSTAINED_FILE: u64 = 8 * GIB;
/// Preconditioning writes so much at once, as the SNIA test specification does.
const LARGE: u32 = 128 << 10;
/// Requests outstanding while preconditioning: enough for any drive, and nothing is measured.
const DEPTH: u32 = 32;
/// How often the region is written in each way.
const TIMES: u64 = 2;

/// A session and what it measures on.
pub struct Stage<'a, W> {
    /// The session.
    pub session: Session<'a, W>,
    /// Executes workloads.
    pub executor: RealExecutor,
    /// The part of the target in reach.
    inputs: PlanInputs,
    /// The size that was asked for, from the start of the target.
    pub wanted_bytes: Option<u64>,
}

impl<'a, W: Watcher> Stage<'a, W> {
    /// Begins, with a medium that may be written if any workload writes.
    ///
    /// # Errors
    /// Whatever the target, the safety rules or the kernel refuse.
    pub fn begin(
        host: Host<'a>,
        watcher: W,
        purpose: Purpose,
        options: &BenchOptions<'_>,
        question: &Question,
    ) -> Result<Self, RunError> {
        let workloads = question.workloads();
        let inspection = look(&host.drives(), options.target)?;
        // Checked before anything is laid out, with a region that any request fits in.
        for workload in &workloads {
            workload.workload(u64::from(workload.block_bytes), true, options.seed).check()?;
        }
        let wears = matches!(question, Question::Amplification { .. });
        let model = inspection.kind == TargetKind::Machine;
        let told = |wear: Option<Wear>| {
            let told = wear.is_some_and(|wear| wear.media_bytes.is_some());
            let path = options.target.to_path_buf();
            if wears && !told { Err(RunError::WearNotTold { path }) } else { Ok(()) }
        };
        // Of a real drive before anything is written, and so before a file is laid out.
        if wears && !model {
            told(Counting::under(&inspection).read())?;
        }
        let mut session = Session::begin(host, watcher, purpose, inspection.clone())?;
        let sustained = matches!(question, Question::Sustained { .. });
        let wanted = Wanted {
            inspection: &inspection,
            offset_bytes: workloads.iter().map(|w| w.offset_bytes).max().unwrap_or(0),
            size_bytes: options.size_bytes,
            default_bytes: if sustained { SUSTAINED_FILE } else { GIB },
            blank: sustained,
            destroy: options.destroy,
            writes: options.precondition || workloads.iter().any(|w| w.writes()),
            set: options.set,
        };
        let mut ready: Ready = prepare(&wanted, host, &session.line)?;
        ready.keep_to_written(&wanted, &session.line);
        if ready.inputs.region_bytes == 0 {
            return Err(RunError::NothingToRead { path: options.target.to_path_buf() });
        }
        ready.source.open_commands(session.engine(), &workloads, host.view)?;
        for workload in &workloads {
            ready.source.check(workload.flags, workload.block_bytes)?;
        }
        let inputs = ready.inputs;
        let tags = workloads.first().and_then(|w| w.tags());
        let mut executor = session.executor(ready, tags);
        if model {
            told(executor.wear())?;
        }
        if options.precondition || sustained || wears || question.goes_by_rounds() {
            executor.keep_machine();
        }
        let wanted_bytes = wanted.end_bytes();
        Ok(Self { session, executor, inputs, wanted_bytes })
    }

    /// Runs a plan, on a preconditioned region where that is asked for, and says `note` before its
    /// first phase; gives whether it was interrupted.
    ///
    /// # Errors
    /// As for [`Stage::precondition`].
    pub fn run(
        &mut self,
        plan: &Plan,
        precondition: bool,
        note: Option<String>,
    ) -> Result<bool, RunError> {
        if precondition && self.precondition(&plan.phases[0].workload)? {
            return Ok(true);
        }
        note.iter().for_each(|text| self.session.line.note(text));
        Ok(self.session.run(plan, &mut self.executor))
    }

    /// The workload of some options on this target.
    ///
    /// # Errors
    /// When the target has no room for it, or larger sectors than its requests.
    pub fn workload(&self, options: &PlainJob, seed: u64) -> Result<Workload, RunError> {
        let PlanInputs { offset_bytes, region_bytes, direct, .. } = self.inputs;
        let room = region_bytes.saturating_sub(options.offset_bytes);
        let mut workload = options.workload(room, direct, seed);
        workload.offset_bytes += offset_bytes;
        workload.check()?;
        let sector = self.inputs.logical_block_bytes;
        let mut units = workload.sizes.iter().map(|size| size.bytes).chain([workload.alignment()]);
        match units.find(|bytes| workload.direct && sector > 0 && !bytes.is_multiple_of(sector)) {
            Some(bytes) => Err(RunError::PartOfSector { bytes, sector }),
            None => Ok(workload),
        }
    }

    /// Writes the region of a workload twice from start to end, then as much at random in its
    /// request size. Gives whether it was interrupted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn precondition(&mut self, like: &Workload) -> Result<bool, RunError> {
        let large = LARGE.max(like.max_bytes());
        let sequential = self.overwrite(like, Pattern::Sequential, large)?;
        let Some((sequential_bytes, sequential_ns)) = sequential else { return Ok(true) };
        let random = self.overwrite(like, Pattern::Random, like.max_bytes())?;
        let Some((random_bytes, random_ns)) = random else { return Ok(true) };
        let took_ns = (sequential_ns + random_ns).0;
        let done = Preconditioning { sequential_bytes, random_bytes, took_ns };
        self.session.document.preconditioning = Some(done);
        Ok(false)
    }

    /// Writes the region of a workload twice. Returns how many bytes that were and how long it
    /// took; `None` if it was interrupted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn overwrite(
        &mut self,
        like: &Workload,
        pattern: Pattern,
        bytes: u32,
    ) -> Result<Option<(u64, Nanos)>, RunError> {
        let bytes = u64::from(bytes).min(like.region_bytes) as u32;
        let mut workload = Workload::closed(pattern, 0, bytes, DEPTH, like.region_bytes);
        workload.offset_bytes = like.offset_bytes;
        workload.direct = like.direct;
        workload.seed = like.seed;
        workload.runtime_ns = Nanos::ZERO;
        workload.requests = (TIMES * like.region_bytes).div_ceil(u64::from(bytes));
        let how = if pattern == Pattern::Sequential { "from start to end" } else { "at random" };
        let what = format!("writing {} MiB twice {how}", like.region_bytes >> 20);
        let measured = self.drive(&what, &workload)?;
        Ok(measured.map(|m| (m.bytes(), m.elapsed)))
    }

    /// Runs a workload that is no phase; gives `None` if it was interrupted.
    ///
    /// # Errors
    /// When a request fails, or none completes for long.
    pub fn drive(
        &mut self,
        what: &str,
        workload: &Workload,
    ) -> Result<Option<Measurement>, RunError> {
        self.session.line.count(what, workload.requests);
        let m = match self.executor.execute(workload) {
            Err(ExecuteError::Interrupted) => return Ok(None),
            measured => measured?.measurement,
        };
        match (m.stopped, m.first_failure) {
            (Stopped::Interrupted, _) => Ok(None),
            (_, Some(failure)) => Err(ExecuteError::Io(failure).into()),
            (Stopped::Stalled, _) => {
                let waited = m.elapsed;
                Err(ExecuteError::Stalled { waited, outstanding: m.abandoned }.into())
            }
            _ => Ok(Some(m)),
        }
    }
}
