//! Plan, engine, driver, summary and rules together, on a disk that exists on a virtual clock only.

use super::checkup::Case;
use seekwell_checkup::driver::{ExecuteError, Execution, Executor, Results, run};
use seekwell_checkup::plan::{Level, Plan, PlanInputs, PlanMedium};
use seekwell_inspect::Severity;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{self, Control};
use seekwell_io::request::{Op, Request};
use seekwell_io::target::{Fixed, Served, Target};
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use std::sync::atomic::AtomicBool;

/// Runs every workload on a fresh target of `servers` that serves as `serve` says.
struct Virtual<F> {
    servers: u32,
    serve: F,
    clock: Nanos,
}

impl<F: FnMut(&Request) -> Served> Executor for Virtual<F> {
    fn execute(&mut self, workload: &Workload) -> Result<Execution, ExecuteError> {
        let mut target = Fixed::new(self.servers, &mut self.serve);
        let control = Control::default();
        let ran = engine::run(workload, 0, &mut target, &mut Unlimited::default(), &control);
        self.clock += target.now();
        Ok(Execution::of(ran?))
    }

    fn now(&self) -> Nanos {
        self.clock
    }

    fn settle(&mut self, pause: Nanos) {
        self.clock += pause;
    }
}

fn checkup(servers: u32, serve: impl FnMut(&Request) -> Served) -> (Results, Case) {
    let inputs = PlanInputs {
        medium: PlanMedium::Scratch,
        offset_bytes: 0,
        region_bytes: 1 << 30,
        logical_block_bytes: 512,
        direct: true,
        seed: 3,
    };
    let plan = Plan::new(Level::Quick, inputs);
    let mut executor = Virtual { servers, serve, clock: Nanos::ZERO };
    let outcome = run(&plan, &mut executor, &mut (), &AtomicBool::new(false));
    assert!(executor.clock <= Level::Quick.measuring_budget() + Nanos::from_millis(200));
    let phases = outcome.phases.clone();
    let case = Case::sata_ssd().with(|c| c.phases = phases);
    (outcome, case)
}

fn takes(request: &Request, us: u64) -> Served {
    Served::whole(request, Nanos::from_micros(us))
}

/// Slow flash: a millisecond a request, flushes included; 16 for 1 MiB, so that four make 262 MB/s.
fn flash(request: &Request) -> Served {
    takes(request, if request.len < 1 << 20 { 1000 } else { 16000 })
}

#[test]
fn a_disk_that_serves_what_its_depth_promises_has_no_findings() {
    let (outcome, case) = checkup(32, flash);
    let rate = |name: &str| {
        let phase = outcome.phases.iter().find(|p| p.name == name).expect(name);
        phase.median("read.requests_per_s").expect(name)
    };
    let gain = rate("rand-read-4k-d32") / rate("rand-read-4k-d1");
    assert!((31.0..=33.0).contains(&gain), "{gain}");
    assert!(case.explain().is_empty(), "{:#?}", case.explain());
}

#[test]
fn a_disk_that_serves_one_command_at_a_time_is_found_out() {
    let (_, case) = checkup(1, flash);
    let f = case.finding("SW-QUEUE-001");
    assert!(f.evidence[1].seen.contains("1.00 times"), "{f:?}");
    assert_eq!(case.explain().len(), 1, "and nothing else: {:#?}", case.explain());
}

#[test]
fn a_disk_that_ignores_flushes_is_found_out() {
    let lies = |request: &Request| match request.op {
        Op::Read => takes(request, 1000),
        _ => takes(request, 8),
    };
    let (outcome, case) = checkup(32, lies);
    let commit = outcome.phases.iter().find(|p| p.name == "commit-4k").expect("commits");
    let median = commit.median("flush.response_ns_p50").expect("measured from the write on");
    assert!((15_500.0..=16_500.0).contains(&median), "{median}");
    assert_eq!(case.finding("SW-COMMIT-001").severity, Severity::Warning);
}

#[test]
fn a_disk_that_fails_its_thousandth_read_is_found_out_and_measured_all_the_same() {
    let mut reads = 0;
    let fails = move |request: &Request| {
        reads += u32::from(request.op == Op::Read);
        let result = if reads == 1000 { Err(5) } else { Ok(request.len) };
        Served { takes: Nanos::from_millis(1), result }
    };
    let (outcome, case) = checkup(32, fails);
    let f = case.finding("SW-IO-001");
    assert_eq!(f.title, "A request failed");
    let marked = outcome.phases.iter().flat_map(|p| &p.repeats).filter(|r| r.invalid.is_some());
    assert_eq!(marked.count(), 1);
    assert!(outcome.phases.iter().all(|p| p.repeats.is_empty() || !p.metrics.is_empty()));
}
