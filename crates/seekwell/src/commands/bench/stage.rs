//! What every kind of bench needs before it measures: the session, the medium, and the medium's
//! state.

use crate::cli::Bench;
use crate::context::Context;
use crate::exit::CommandError;
use crate::progress::Line;
use crate::session::{self, RunOptions, Session};
use seekwell_checkup::{ExecuteError, Executor};
use seekwell_experiment::Options;
use seekwell_inspect::TargetKind;
use seekwell_io::measurement::Stopped;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_run::RealExecutor;
use seekwell_run::look;
use seekwell_run::{Ready, Wanted, prepare};
use seekwell_runs::{Preconditioning, RunKind};
use std::path::Path;

const GIB: u64 = 1 << 30;
/// Preconditioning writes so much at once, as the SNIA test specification does.
const LARGE: u32 = 128 << 10;
/// Requests outstanding while preconditioning: enough for any drive, and nothing is measured.
const DEPTH: u32 = 32;
/// How often the region is written in each way.
const TIMES: u64 = 2;

/// A session and what it measures on.
pub struct Stage<'a> {
    /// The session.
    pub session: Session<'a>,
    /// Executes workloads.
    pub executor: RealExecutor,
    /// Bytes in reach from the start of the target.
    region_bytes: u64,
    /// Whether the target can be driven past the page cache.
    direct: bool,
}

impl<'a> Stage<'a> {
    /// Begins, with a medium that may be written if any of the `options` writes.
    ///
    /// # Errors
    /// Whatever the target, the safety rules or the kernel refuse.
    pub fn begin(
        args: &Bench,
        context: &'a Context,
        options: &[&Options],
    ) -> Result<Self, CommandError> {
        let on = args.on.as_deref().unwrap_or(Path::new("."));
        let inspection = look(&context.view, on)?;
        let asked = RunOptions {
            kind: RunKind::Bench,
            label: args.label.as_deref(),
            keep: !args.no_keep,
            engine: args.workload.engine,
        };
        // Checked before anything is laid out, with a region that any request fits in.
        for options in options {
            options.workload(u64::from(options.block_bytes), true, args.seed).check()?;
        }
        let modelled = inspection.kind == TargetKind::Machine;
        let line = Line::live(args.beyond.progress, context, modelled);
        let mut session = session::begin_with(line, context, asked, inspection.clone())?;
        let wanted = Wanted {
            inspection: &inspection,
            size_bytes: args.workload.size,
            default_bytes: GIB,
            destroy: args.destroy.consent(),
            writes: args.beyond.precondition || options.iter().any(|o| o.writes()),
            set: &args.set,
        };
        let ready: Ready = prepare(&wanted, context.host(), &session.line)?;
        let (region_bytes, direct) = (ready.inputs.region_bytes, ready.inputs.direct);
        let tags = options.first().and_then(|o| o.tags());
        let mut executor = session.executor(ready, tags);
        if args.beyond.precondition || args.beyond.steady {
            executor.keep_machine();
        }
        Ok(Self { session, executor, region_bytes, direct })
    }

    /// The workload of some options on this target.
    ///
    /// # Errors
    /// When the target has no room for it.
    pub fn workload(&self, options: &Options, seed: u64) -> Result<Workload, CommandError> {
        let room = self.region_bytes.saturating_sub(options.offset_bytes);
        let workload = options.workload(room, self.direct, seed);
        workload.check()?;
        Ok(workload)
    }

    /// Writes the region of a workload twice from start to end, then as much at random in its
    /// request size. Gives whether it was interrupted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn precondition(&mut self, like: &Workload) -> Result<bool, CommandError> {
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

    /// Writes the region twice; gives how many bytes and how long it took, or nothing where it was
    /// interrupted.
    fn overwrite(
        &mut self,
        like: &Workload,
        pattern: Pattern,
        bytes: u32,
    ) -> Result<Option<(u64, Nanos)>, CommandError> {
        let bytes = u64::from(bytes).min(like.region_bytes) as u32;
        let mut workload = Workload::closed(pattern, 0, bytes, DEPTH, like.region_bytes);
        workload.offset_bytes = like.offset_bytes;
        workload.direct = like.direct;
        workload.seed = like.seed;
        workload.runtime_ns = Nanos::ZERO;
        workload.requests = (TIMES * like.region_bytes).div_ceil(u64::from(bytes));
        let how = if pattern == Pattern::Sequential { "from start to end" } else { "at random" };
        let what = format!("writing {} MiB twice {how}", like.region_bytes >> 20);
        self.session.line.count(&what, workload.requests);
        let measured = self.executor.execute(&workload);
        let m = match measured {
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
            _ => Ok(Some((m.bytes(), m.elapsed))),
        }
    }
}
