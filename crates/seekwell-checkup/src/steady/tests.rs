//! Rounds on a fake whose rate is known for every round.

use crate::driver::{ExecuteError, Execution, Executor, run};
use crate::plan::{Group, PhaseSpec, Plan, Rounds};
use crate::steady::{ROUNDS, conclude};
use seekwell_io::measurement::Measurement;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::{Phase, SteadyOutcome};
use std::sync::atomic::AtomicBool;

/// Gives each round the next rate.
struct Rated<F> {
    per_s: F,
    seeds: Vec<u64>,
}

impl<F: Fn(usize) -> u64> Executor for Rated<F> {
    fn execute(&mut self, workload: &Workload) -> Result<Execution, ExecuteError> {
        let mut measurement = Measurement::new(Nanos::from_millis(100));
        measurement.elapsed = Nanos::from_millis(1000);
        let n = (self.per_s)(self.seeds.len());
        measurement.ops[1].requests = n;
        (0..n).for_each(|_| measurement.ops[1].service.record(Nanos(1000)));
        self.seeds.push(workload.seed);
        Ok(Execution::of(measurement))
    }

    fn now(&self) -> Nanos {
        Nanos::ZERO
    }

    fn settle(&mut self, _pause: Nanos) {}
}

fn rounds(per_s: impl Fn(usize) -> u64) -> (Phase, Vec<u64>) {
    let workload = Workload::closed(Pattern::Random, 0, 4096, 32, 1 << 30);
    let mut spec = PhaseSpec::new("w", "writes", Group::Custom, workload, ROUNDS);
    spec.rounds = Rounds::UntilSteady;
    let plan = Plan::of(vec![spec], Nanos::ZERO);
    let mut executor = Rated { per_s, seeds: Vec::new() };
    let mut outcome = run(&plan, &mut executor, &mut (), &AtomicBool::new(false));
    (outcome.phases.remove(0), executor.seeds)
}

#[test]
fn rounds_end_with_the_fifth_steady_one_and_those_before_do_not_count() {
    let (phase, seeds) = rounds(|i| if i < 3 { 4000 - 1000 * i as u64 } else { 1000 });
    assert_eq!(seeds.len(), 8);
    let before = phase
        .repeats
        .iter()
        .filter(|r| r.invalid == Some(seekwell_runs::Invalid::BeforeSteady))
        .count();
    assert_eq!(before, 3);
    let spread = phase.metrics["write.requests_per_s"];
    assert_eq!((spread.median, spread.n), (1000.0, 5));
    let steady = conclude(&phase);
    let reached = SteadyOutcome::Reached { from: 3, mean_per_s: 1000.0 };
    assert_eq!(steady.outcome, Some(reached), "the same after rounds were left out");
    assert_eq!(steady.rounds_per_s[..4], [4000.0, 3000.0, 2000.0, 1000.0]);
}

#[test]
fn a_rate_that_never_settles_takes_all_rounds_and_says_so() {
    let (phase, seeds) = rounds(|i| if i % 2 == 0 { 1000 } else { 500 });
    assert_eq!(seeds.len(), ROUNDS as usize);
    assert_eq!(conclude(&phase).outcome, Some(SteadyOutcome::NotReached));
    assert_eq!(phase.metrics["write.requests_per_s"].n, ROUNDS, "all of them count");
}

#[test]
fn no_round_repeats_the_requests_of_another() {
    let (_, mut seeds) = rounds(|_| 1000);
    assert_eq!(seeds.len(), 5);
    seeds.dedup();
    assert_eq!(seeds.len(), 5);
}
