//! What a drive writes to its medium for each byte it is given, round after round.

use super::BenchOptions;
use super::stage::Stage;
use crate::{RunError, Watcher};
use seekwell_checkup::steady::{ROUNDS, conclude};
use seekwell_checkup::{Group, PhaseSpec, Plan, Rounds};
use seekwell_io::units::Nanos;
use seekwell_job::PlainJob;
use seekwell_runs::{Amplification, AmplificationOf, Phase, Repeat, Study};

/// Runs each workload until it is steady; gives whether it was interrupted.
///
/// # Errors
/// [`RunError`] where the target has no room for it.
pub fn rounds<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    workloads: [(&str, &PlainJob); 2],
) -> Result<bool, RunError> {
    let mut study = Amplification { workloads: Vec::new() };
    let mut precondition = options.precondition;
    for (name, job) in workloads {
        let drawn = stage.workload(job, options.seed)?;
        let (phase, title) = (format!("wa-{name}"), format!("{}, {name}", job.title()));
        let mut spec = PhaseSpec::new(phase, title, Group::Custom, drawn, ROUNDS);
        spec.rounds = Rounds::OWN_RATE;
        let plan = Plan::of(vec![spec], Nanos::ZERO);
        let interrupted = stage.run(&plan, std::mem::take(&mut precondition), None)?;
        study.workloads.extend(stage.session.document.phases.last().map(found));
        stage.session.document.study = Some(Study::Amplification(study.clone()));
        if interrupted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the rounds of a phase gave: of the steady ones if there are any, else of all.
fn found(phase: &Phase) -> AmplificationOf {
    let value = |round: &Repeat, name: &str| round.values.get(name).copied();
    let valid = || phase.repeats.iter().filter(|round| round.invalid.is_none());
    let sum = |name| valid().filter_map(|round| value(round, name)).sum::<f64>();
    let (host, media) = (sum("host_written_bytes"), sum("media_written_bytes"));
    AmplificationOf {
        steady: conclude(phase),
        rounds: phase.repeats.iter().map(|r| value(r, Repeat::AMPLIFICATION)).collect(),
        host_written_bytes: host as u64,
        media_written_bytes: media as u64,
        write_amplification: (host > 0.0).then(|| media / host),
    }
}
