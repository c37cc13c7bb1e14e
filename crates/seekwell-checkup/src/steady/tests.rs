//! Rounds on a fake whose rate is known for every round.

use crate::driver::{ExecuteError, Execution, Executor, Results, resume, run};
use crate::plan::{Group, PhaseSpec, Plan, Rounds, Tracked};
use crate::steady::{ROUNDS, conclude, window};
use seekwell_io::measurement::Measurement;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::{Measure, Phase, SteadyOutcome};
use std::sync::atomic::{AtomicBool, Ordering};

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
    spec.rounds = Rounds::OWN_RATE;
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

/// Two cells of which the second is tracked, with the rates of both in each round.
fn cells(
    rounds: u32,
    so_far: Results,
    stop_after: usize,
    per_s: impl Fn(usize) -> u64,
) -> (Results, Vec<u64>) {
    let workload = Workload::closed(Pattern::Random, 0, 4096, 32, 1 << 30);
    let tracked = Tracked { place: 1, measure: Measure::RequestsPerS };
    let spec = |name: &str| {
        let spec = PhaseSpec::new(name, name, Group::Custom, workload.clone(), rounds);
        PhaseSpec { rounds: Rounds::UntilSteady(tracked), ..spec }
    };
    let mut plan = Plan::of(vec![spec("before"), spec("tracked"), spec("after")], Nanos::ZERO);
    plan.detailed_rounds = Some(1);
    let stop = AtomicBool::new(false);
    let done = so_far.phases.iter().map(|phase| phase.repeats.len()).sum::<usize>();
    let mut executor = Rated {
        per_s: |i: usize| {
            stop.store(i + 1 == stop_after, Ordering::Relaxed);
            per_s(done + i)
        },
        seeds: Vec::new(),
    };
    let outcome = resume(&plan, so_far, &mut executor, &mut (), &stop);
    (outcome, executor.seeds)
}

fn repeats(results: &Results) -> Vec<usize> {
    results.phases.iter().map(|phase| phase.repeats.len()).collect()
}

#[test]
fn cells_end_with_the_round_in_which_the_tracked_one_is_steady() {
    // The others never settle, and the tracked one does from its third round on.
    let per_s = |i: usize| match (i % 3, i / 3) {
        (1, round) => {
            if round < 2 {
                4000
            } else {
                1000
            }
        }
        (_, round) => 1000 + 900 * (round as u64 % 2),
    };
    let (results, seeds) = cells(ROUNDS, Results::default(), 0, per_s);
    assert_eq!((repeats(&results), seeds.len()), (vec![7; 3], 21));
    let left_out = |phase: &Phase| phase.repeats.iter().filter(|r| r.invalid.is_some()).count();
    assert!(results.phases.iter().all(|phase| left_out(phase) == 2), "{results:?}");
    assert_eq!(window(&results.phases[1], Measure::RequestsPerS), Some(2..7));
    let details: Vec<u32> = results.detail.repeats.iter().map(|detail| detail.repeat).collect();
    assert_eq!(details, [6; 3], "histograms of the last round");
    let (results, _) = cells(6, Results::default(), 0, per_s);
    assert_eq!(
        (repeats(&results), window(&results.phases[1], Measure::RequestsPerS)),
        (vec![6; 3], None)
    );
}

#[test]
fn a_plan_that_was_stopped_goes_on_where_it_was_and_gives_the_same() {
    let per_s = |i: usize| 1000 + i as u64 % 3;
    let (whole, seeds) = cells(ROUNDS, Results::default(), 0, per_s);
    for stopped in 1..seeds.len() {
        let (part, first) = cells(ROUNDS, Results::default(), stopped, per_s);
        assert!(part.interrupted, "{stopped}");
        let (rest, second) = cells(ROUNDS, part, 0, per_s);
        assert_eq!([first, second].concat(), seeds, "stopped after {stopped}");
        assert_eq!(rest.phases, whole.phases, "stopped after {stopped}");
        assert!(!rest.interrupted);
    }
    // At its end nothing is left to do.
    let (again, none) = cells(ROUNDS, whole.clone(), 0, per_s);
    assert_eq!((again.phases, none), (whole.phases, vec![]));
}
