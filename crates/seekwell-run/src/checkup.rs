//! The checkup of one target: a fixed plan of workloads.

use crate::{Finished, Host, Purpose, RunError, Session, Wanted, Watcher, look, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{Level, Plan, PlanInputs};
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

/// Inspects a target, measures it by the plan of a level, and finds what follows.
///
/// # Errors
/// [`RunError`] for what the target, the safety rules or the kernel refuse.
pub fn checkup<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    options: &CheckupOptions<'_>,
) -> Result<Finished, RunError> {
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
    let ready = prepare(&wanted, host, &session.line)?;
    let plan = Plan::new(options.level, PlanInputs { seed: options.seed, ..ready.inputs });
    let mut executor = session.executor(ready, None);
    let interrupted = session.run(&plan, &mut executor);
    drop(executor);
    session.conclude(interrupted, Some(options.size_bytes.unwrap_or(default_bytes)));
    Ok(session.end())
}
