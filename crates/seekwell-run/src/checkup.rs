//! The checkup of one target: a fixed plan of workloads.

use crate::{Finished, Host, Purpose, RunError, Session, Wanted, Watcher, look, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{Level, Plan, PlanInputs, PlanMedium};
use std::path::Path;

/// What is checked, and how thoroughly.
#[derive(Debug, Clone)]
pub struct CheckupOptions<'a> {
    /// The target.
    pub target: &'a Path,
    /// Which plan.
    pub level: Level,
    /// Size of the temporary file, or of the part of the target used; the plan's own without it.
    pub size_bytes: Option<u64>,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
    /// Changed parameters of a modelled machine.
    pub set: &'a [(String, String)],
    /// Of all requests.
    pub seed: u64,
}

/// Inspects a target, measures it by the plan of a level, and finds what follows. Where there is no
/// place to measure in, the run holds what inspection saw, and beside it comes why.
///
/// # Errors
/// [`RunError`] for what the target, the safety rules or the kernel refuse.
pub fn checkup<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    options: &CheckupOptions<'_>,
) -> Result<(Finished, Result<(), RunError>), RunError> {
    let inspection = look(host.view, options.target)?;
    let mut session = Session::begin(host, watcher, purpose, inspection.clone())?;
    let default_bytes = options.level.wanted_region_bytes();
    let wanted = Wanted {
        set: options.set,
        inspection: &inspection,
        offset_bytes: 0,
        size_bytes: options.size_bytes,
        default_bytes,
        destroy: options.destroy,
        writes: false,
    };
    let ready = match prepare(&wanted, host, &session.line) {
        Err(RunError::Access(error)) if error.is_no_place() => {
            let inputs = PlanInputs {
                medium: PlanMedium::Scratch,
                region_bytes: default_bytes,
                logical_block_bytes: 512,
                direct: true,
                seed: options.seed,
            };
            session.unmeasured(&Plan::new(options.level, inputs), &error.to_string());
            return Ok((session.end(), Err(error.into())));
        }
        ready => ready?,
    };
    let plan = Plan::new(options.level, PlanInputs { seed: options.seed, ..ready.inputs });
    let mut executor = session.executor(ready, None);
    let interrupted = session.run(&plan, &mut executor);
    drop(executor);
    session.conclude(interrupted, Some(options.size_bytes.unwrap_or(default_bytes)));
    Ok((session.end(), Ok(())))
}
