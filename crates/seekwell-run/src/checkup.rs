//! The checkup of one target: a fixed plan of workloads. Of several: see [`several()`].

mod several;

pub use several::{Disks, SeveralError, disks, several};

use crate::medium::below;
use crate::{Finished, Host, Purpose, RunError, Session, Wanted, Watcher, look, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{Level, Plan, PlanInputs, PlanMedium};
use std::path::Path;

/// How a target is checked.
#[derive(Debug, Clone)]
pub struct CheckupOptions<'a> {
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

/// Inspects a target, measures it by the plan of a level, and finds what follows. A directory that
/// has no place for a temporary file is given back with that error; the run then holds reads of the
/// device below where it may be read, or the inspection alone.
///
/// # Errors
/// [`RunError`] for what the target, the safety rules or the kernel refuse.
pub fn checkup<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    target: &Path,
    options: &CheckupOptions<'_>,
) -> Result<(Finished, Result<(), RunError>), RunError> {
    let inspection = look(&host.drives(), target)?;
    let mut session = Session::begin(host, watcher, purpose, inspection.clone())?;
    let default_bytes = options.level.wanted_region_bytes();
    let wanted = Wanted {
        set: options.set,
        inspection: &inspection,
        offset_bytes: 0,
        size_bytes: options.size_bytes,
        default_bytes,
        blank: false,
        destroy: options.destroy,
        writes: false,
    };
    let (ready, no_place) = match prepare(&wanted, host, &session.line) {
        Err(RunError::Access(error)) if error.is_no_place() => {
            (below(&wanted).transpose(), Some(error))
        }
        ready => {
            let mut ready = ready?;
            ready.keep_to_written(&wanted, &session.line);
            (Ok(Some(ready)), None)
        }
    };
    let nowhere = PlanInputs {
        medium: PlanMedium::Scratch,
        offset_bytes: 0,
        region_bytes: default_bytes,
        logical_block_bytes: 512,
        direct: true,
        seed: options.seed,
    };
    let inputs = ready.as_ref().ok().and_then(Option::as_ref).map_or(nowhere, |r| r.inputs);
    let mut plan = Plan::new(options.level, PlanInputs { seed: options.seed, ..inputs });
    if let Some(no_place) = &no_place {
        let unreadable = match &ready {
            Ok(Some(_)) => None,
            Ok(None) => Some(no_place),
            Err(error) => Some(error),
        };
        for spec in &mut plan.phases {
            let why = if spec.workload.destroys() { Some(no_place) } else { unreadable };
            spec.skipped = why.map(ToString::to_string).or(spec.skipped.take());
        }
    }
    match ready {
        Ok(Some(ready)) => {
            let mut executor = session.executor(ready, None);
            let interrupted = session.run(&plan, &mut executor);
            drop(executor);
            let wanted = options.size_bytes.unwrap_or(default_bytes);
            session.conclude(interrupted, Some(wanted));
        }
        _ => session.unmeasured(&plan),
    }
    Ok((session.end(), no_place.map_or(Ok(()), |error| Err(error.into()))))
}
