//! A workload alone and beside others, in turn: what the others do to it.

use super::BenchOptions;
use super::stage::Stage;
use crate::ratio::typical;
use crate::{RunError, Watcher};
use seekwell_checkup::{Group, PhaseSpec, Plan, metrics};
use seekwell_io::units::{Nanos, time_about};
use seekwell_job::PlainJob;
use seekwell_runs::{Beside, Effect, Phase, Study};

/// Measures both in every round; gives whether it was interrupted. The others run as long as the
/// workload does.
///
/// # Errors
/// [`RunError`] where the target has no room for one of them.
pub fn measure<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    job: &PlainJob,
    others: &[PlainJob],
) -> Result<bool, RunError> {
    let spec = |name: String, title: String, job: &PlainJob, beside| {
        let drawn = stage.workload(job, options.seed)?;
        let spec = PhaseSpec::new(name, title, Group::Custom, drawn, options.repeats);
        Ok::<_, RunError>(PhaseSpec { beside, ..spec })
    };
    let (name, title) = (job.name(), job.title());
    let mut phases = vec![
        spec(format!("{name}/alone"), format!("{title}, alone"), job, None)?,
        spec(format!("{name}/beside"), format!("{title}, beside"), job, Some(0))?,
    ];
    for (number, other) in (1..).zip(others) {
        let as_long =
            PlainJob { runtime_ns: job.runtime_ns, ramp_ns: job.ramp_ns, ..other.clone() };
        let name = format!("other-{number}/{}", other.name());
        phases.push(spec(name, other.title(), &as_long, Some(0))?);
    }
    let names: Vec<String> = phases.iter().map(|phase| phase.name.clone()).collect();
    let plan = Plan::of(phases, Nanos::ZERO);
    let about = time_about(plan.duration());
    let said = format!("alone and beside, {} rounds: about {about}", options.repeats);
    let interrupted = stage.run(&plan, options.precondition, Some(said))?;
    let document = &stage.session.document;
    let effects = match (document.phase(&names[0]), document.phase(&names[1])) {
        (Some(alone), Some(beside)) => effects(job.main_op(), alone, beside),
        _ => Vec::new(),
    };
    let (alone, beside, others) = (names[0].clone(), names[1].clone(), names[2..].to_vec());
    stage.session.document.study = Some(Study::Beside(Beside { alone, beside, others, effects }));
    Ok(interrupted)
}

/// Rate and response times of the rounds in which both were valid.
fn effects(op: &str, alone: &Phase, beside: &Phase) -> Vec<Effect> {
    let of = |metric: &str| {
        let value = |phase: &Phase, round: usize| {
            let one = metrics(phase.repeats.get(round..=round)?);
            one.get(metric).map(|spread| spread.median).filter(|value| *value > 0.0)
        };
        let ratio = |round| Some(value(beside, round)? / value(alone, round)?);
        let rounds: Vec<f64> = (0..alone.repeats.len()).filter_map(ratio).collect();
        let ratio = typical(&rounds);
        Effect { metric: metric.to_owned(), rounds, ratio }
    };
    let all = ["requests_per_s", "latency_ns_p50", "latency_ns_p99"];
    all.iter().map(|name| of(&format!("{op}.{name}"))).collect()
}
