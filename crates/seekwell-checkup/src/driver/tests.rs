//! The driver on fakes: a simulated disk on a virtual clock, and disks that fail.

use super::*;
use crate::plan::{Group, Level, PlanInputs, PlanMedium};
use seekwell_io::request::Op;
use seekwell_io::workload::Pattern;

/// A disk in closed form: `servers` requests at a time, each `service` long; the rest wait. Writes
/// cost the same, a flush costs a service time more.
struct Disk {
    clock: Nanos,
    servers: u32,
    service: Nanos,
    executed: Vec<Workload>,
    /// What happens at the n-th execution, from 0, in place of the model.
    faults: BTreeMap<usize, Fault>,
    wear: Option<Result<Wear, WentBack>>,
    shares: BTreeMap<&'static str, f64>,
}

#[derive(Clone)]
enum Fault {
    Error(ExecuteError),
    /// A measurement that ended like this.
    Ends(Stopped, Option<Failure>),
    /// The stop flag is set while it runs, but it finishes.
    RaisesStop(&'static AtomicBool),
    /// The most requests served at a time.
    Servers(u32),
}

impl Disk {
    fn new(servers: u32, service: Nanos) -> Self {
        let (executed, faults, wear) = (vec![], BTreeMap::new(), None);
        let shares = BTreeMap::new();
        Self { clock: Nanos(5), servers, service, executed, faults, wear, shares }
    }

    fn with(mut self, at: usize, fault: Fault) -> Self {
        self.faults.insert(at, fault);
        self
    }

    fn measure(&self, w: &Workload) -> Measurement {
        let depth = u64::from(w.pace.depth());
        let busy = depth.min(u64::from(self.servers));
        let latency = Nanos(self.service.0 * depth / busy);
        let requests = (w.runtime_ns.0 * busy / self.service.0).max(1);
        let mut m = Measurement::new(Nanos::from_millis(100));
        m.elapsed = w.runtime_ns;
        let reads = requests * u64::from(w.read_percent) / 100;
        for (op, n) in [(Op::Read, reads), (Op::Write, requests - reads)] {
            let o = &mut m.ops[op as usize];
            o.requests = n;
            o.bytes = n * u64::from(w.max_bytes());
            // The histogram is sampled: thousands of equal values say what hundreds do.
            (0..n.min(2_000)).for_each(|_| o.service.record(latency));
        }
        m
    }
}

impl Executor for Disk {
    fn execute(&mut self, w: &Workload) -> Result<Execution, ExecuteError> {
        w.check().map_err(EngineError::from)?;
        let number = self.executed.len();
        self.executed.push(w.clone());
        self.clock += w.ramp_ns + w.runtime_ns;
        let mut measurement = self.measure(w);
        match self.faults.get(&number) {
            Some(Fault::Error(e)) => return Err(e.clone()),
            Some(Fault::Ends(stopped, failure)) => {
                measurement.stopped = *stopped;
                measurement.first_failure = *failure;
                measurement.failed = u64::from(failure.is_some());
            }
            Some(Fault::Servers(servers)) => {
                let service = self.service;
                measurement = Self::new(*servers, service).measure(w);
            }
            Some(Fault::RaisesStop(stop)) => stop.store(true, Ordering::Relaxed),
            None => {}
        }
        let shares = self.shares.clone();
        Ok(Execution { wear: self.wear, shares, ..Execution::of(measurement) })
    }

    fn now(&self) -> Nanos {
        self.clock
    }

    fn settle(&mut self, pause: Nanos) {
        self.clock += pause;
    }
}

fn plan(level: Level) -> Plan {
    plan_of(level, PlanMedium::Scratch)
}

fn plan_of(level: Level, medium: PlanMedium) -> Plan {
    let inputs = PlanInputs {
        medium,
        offset_bytes: 0,
        region_bytes: 1 << 30,
        logical_block_bytes: 512,
        direct: true,
        seed: 1,
    };
    Plan::new(level, inputs)
}

fn go(plan: &Plan, disk: &mut Disk) -> Results {
    run(plan, disk, &mut (), &AtomicBool::new(false))
}

fn phase<'a>(results: &'a Results, name: &str) -> &'a Phase {
    results.phases.iter().find(|p| p.name == name).expect(name)
}

fn eio() -> Failure {
    Failure { op: Op::Read, offset: 4096, len: 4096, kind: FailureKind::Errno { errno: 5 } }
}

#[test]
fn a_disk_that_serves_one_at_a_time_gets_no_faster_and_its_curve_is_not_extended() {
    let results = go(&plan(Level::Normal), &mut Disk::new(1, Nanos::from_micros(500)));
    let rate =
        |d: u32| phase(&results, &format!("rand-read-4k-d{d}")).median("read.requests_per_s");
    let (one, many) = (rate(1).expect("d1"), rate(32).expect("d32"));
    assert!((one - 2000.0).abs() < 2.0, "{one}");
    assert!((many / one - 1.0).abs() < 0.01, "{many}");
    for d in [64, 128, 256] {
        let p = phase(&results, &format!("rand-read-4k-d{d}"));
        let why = p.skipped.as_deref().expect("left out");
        let stopped = "left out: the curve had stopped rising (+0 % from rand-read-4k-d16";
        let before = "left out: the curve had stopped rising before rand-read-4k-d";
        assert!(why.starts_with(if d == 64 { stopped } else { before }), "{d}: {why}");
    }
    let p50 = phase(&results, "rand-read-4k-d32").median("read.latency_ns_p50");
    assert_eq!(p50.map(|ns| (ns / 1e6).round()), Some(16.0));
}

#[test]
fn a_curve_that_still_rises_is_extended_until_it_stops() {
    let results = go(&plan(Level::Normal), &mut Disk::new(100, Nanos::from_micros(100)));
    let skipped = |d: u32| phase(&results, &format!("rand-read-4k-d{d}")).skipped.clone();
    assert_eq!(skipped(64), None, "32 is twice as fast as 16");
    assert_eq!(skipped(128), None, "64 is twice as fast as 32");
    assert_eq!(skipped(256), None, "100 servers are 56 % faster than 64");
    assert_eq!(phase(&results, "rand-read-4k-d256").repeats.len(), 3);

    let results = go(&plan(Level::Normal), &mut Disk::new(68, Nanos::from_micros(100)));
    let why = phase(&results, "rand-read-4k-d256").skipped.clone().expect("68 is 6 % above 64");
    assert!(why.contains("(+6 % from rand-read-4k-d64 to rand-read-4k-d128)"), "{why}");
}

#[test]
fn a_curve_is_extended_in_a_later_round_where_the_first_was_an_accident() {
    // "The curve had stopped rising (+0 %)" stood over a table that showed +20 %.
    let plan = plan(Level::Normal);
    let run = |p: &&PhaseSpec| p.skipped.is_none() && p.name != "rand-read-4k-d32";
    let before = plan.phases.iter().take_while(|p| p.name != "rand-read-4k-d32").filter(run);
    let number = before.count();
    let mut disk = Disk::new(100, Nanos::from_micros(100)).with(number, Fault::Servers(16));
    let results = go(&plan, &mut disk);
    let first = phase(&results, "rand-read-4k-d32").repeats[0].ops["read"].requests_per_s;
    assert!(first < 170_000.0, "no more than at depth 16 in the first round: {first}");
    assert_eq!(phase(&results, "rand-read-4k-d64").repeats.len(), 2, "left out of that round");
    assert_eq!(phase(&results, "rand-read-4k-d64").skipped, None);
}

#[test]
fn a_disk_that_takes_longer_than_planned_is_measured_in_fewer_rounds() {
    // "About 60 s" took 296 s where every phase waited for slow writes.
    let mut plan = plan(Level::Normal);
    plan.budget = Some(Nanos(plan.duration().0 / 6));
    let results = go(&plan, &mut Disk::new(1, Nanos::from_micros(500)));
    let counts = results.phases.iter().filter(|p| p.skipped.is_none()).map(|p| p.repeats.len());
    assert!(counts.clone().all(|n| n == 1), "{:?}", counts.collect::<Vec<_>>());
    // Nothing said why there was but one repeat.
    let run = results.phases.iter().filter(|p| !p.repeats.is_empty());
    assert!(run.clone().all(|p| p.cut_short == Some(Skipped::OutOfTime)));
    assert!(run.count() > 0);
}

#[test]
fn a_model_is_measured_in_all_rounds_however_long_the_host_computes() {
    // On a busy machine the checkup of a model lost its second round.
    let mut plan = plan_of(Level::Quick, PlanMedium::Modelled);
    plan.settle = Nanos(Level::Quick.budget().0 / 10);
    let mut disk = Disk::new(1, Nanos::from_micros(100));
    let results = go(&plan, &mut disk);
    assert!(disk.clock > Level::Quick.budget(), "it took {}", disk.clock);
    assert!(results.phases.iter().all(|p| p.cut_short.is_none()));
}

#[test]
fn repeats_are_interleaved_and_differ_in_nothing_but_the_seed() {
    let plan = plan(Level::Quick);
    let mut disk = Disk::new(1, Nanos::from_micros(100));
    let results = go(&plan, &mut disk);
    let half = disk.executed.len() / 2;
    assert_eq!(half, 9);
    let mut seeds: Vec<_> = disk.executed.iter().map(|w| w.seed).collect();
    for (first, second) in disk.executed[..half].iter().zip(&disk.executed[half..]) {
        assert_ne!(first.seed, second.seed);
        assert_eq!(Workload { seed: 0, ..first.clone() }, Workload { seed: 0, ..second.clone() });
    }
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), disk.executed.len(), "no two executions share a seed");
    let kept: Vec<_> = phase(&results, "seq-read-1m").repeats.iter().map(|r| r.seed).collect();
    assert_eq!(kept, [disk.executed[1].seed, disk.executed[half + 1].seed]);
    assert_eq!(results.detail.repeats.len(), disk.executed.len());
    assert!(results.phases.iter().all(|p| p.cut_short.is_none()));
}

#[test]
fn a_run_takes_what_was_planned() {
    let plan = plan(Level::Normal);
    let mut disk = Disk::new(1000, Nanos::from_micros(100));
    go(&plan, &mut disk);
    assert!(disk.clock <= plan.duration() + Nanos(5), "{} {}", disk.clock, plan.duration());
    assert!(disk.clock.0 > plan.duration().0 / 10 * 9);
}

#[test]
fn an_io_error_marks_its_repeat_and_the_rest_goes_on() {
    for fault in [Fault::Ends(Stopped::Failed, Some(eio())), Fault::Error(ExecuteError::Io(eio()))]
    {
        let mut disk = Disk::new(1, Nanos::from_micros(100)).with(2, fault);
        let results = go(&plan(Level::Quick), &mut disk);
        assert_eq!(disk.executed.len(), 18, "nothing was left out");
        let hit = phase(&results, "rand-read-4k-d1");
        let why = hit.repeats[0].invalid.as_deref().expect("marked");
        assert!(why.contains("read of 4096 bytes at offset 4096: Input/output error"), "{why}");
        assert_eq!(hit.repeats[0].failure, Some(eio()));
        assert_eq!(hit.metrics["read.requests_per_s"].n, 1, "the other repeat counts");
        assert_eq!(phase(&results, "commit-4k").metrics["write.requests_per_s"].n, 2);
        assert!(!results.interrupted);
    }
}

#[test]
fn when_the_device_is_gone_the_rest_is_skipped_with_that_reason() {
    let nodev = Failure { kind: FailureKind::Errno { errno: 19 }, ..eio() };
    let path = "/dev/sdb".to_owned();
    let ways = [
        Fault::Error(ExecuteError::DeviceGone { errno: 19 }),
        Fault::Error(ExecuteError::OpenFailed { path, errno: 6 }),
        Fault::Error(ExecuteError::Io(nodev)),
        Fault::Ends(Stopped::Failed, Some(nodev)),
    ];
    for fault in ways {
        let mut disk = Disk::new(1, Nanos::from_micros(100)).with(3, fault);
        let results = go(&plan(Level::Quick), &mut disk);
        assert_eq!(disk.executed.len(), 4, "no further request to a device that is not there");
        assert_eq!(phase(&results, "commit-4k").skipped, Some(Skipped::DeviceGone));
        assert!(phase(&results, "rand-read-4k-d32").repeats[0].invalid.is_some());
        let left_out = phase(&results, "rand-read-4k-d2").skipped.as_deref();
        assert_eq!(left_out, Some("left out of --quick"), "keeps its own reason");
        assert_eq!(phase(&results, "seq-read-1m").repeats.len(), 1, "what was done is kept");
    }
}

#[test]
fn a_target_that_cannot_be_opened_for_a_phase_drops_that_phase_only() {
    let error = ExecuteError::OpenFailed { path: "/mnt/f".into(), errno: 13 };
    let mut disk = Disk::new(1, Nanos::from_micros(100)).with(0, Fault::Error(error));
    let results = go(&plan(Level::Quick), &mut disk);
    let why = phase(&results, "cached-read").skipped.as_deref().expect("skipped");
    assert!(why.starts_with("cannot open /mnt/f: Permission denied"), "{why}");
    assert_eq!(disk.executed.len(), 17, "not tried again in the second round");
}

#[test]
fn one_stall_is_borne_and_a_second_ends_the_run() {
    let stall = |at| {
        let waited = Nanos::from_millis(30_000);
        (at, Fault::Error(ExecuteError::Stalled { waited, outstanding: 3 }))
    };
    let mut once = Disk::new(1, Nanos::from_micros(100)).with(2, stall(2).1);
    let results = go(&plan(Level::Quick), &mut once);
    assert_eq!(once.executed.len(), 18);
    let why = phase(&results, "rand-read-4k-d1").repeats[0].invalid.clone().expect("marked");
    assert_eq!(&*why, "nothing completed for 30.0 s, with 3 requests outstanding");

    let mut twice = Disk::new(1, Nanos::from_micros(100))
        .with(2, stall(2).1)
        .with(4, Fault::Ends(Stopped::Stalled, None));
    let results = go(&plan(Level::Quick), &mut twice);
    assert_eq!(twice.executed.len(), 5);
    assert_eq!(phase(&results, "commit-4k").skipped, Some(Skipped::DeviceStalled));
}

#[test]
fn an_interruption_ends_the_run_and_keeps_what_was_finished() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut disk = Disk::new(1, Nanos::from_micros(100)).with(1, Fault::RaisesStop(&STOP));
    let results = run(&plan(Level::Quick), &mut disk, &mut (), &STOP);
    assert!(results.interrupted);
    assert_eq!(disk.executed.len(), 2);
    assert_eq!(phase(&results, "seq-read-1m").metrics["read.requests_per_s"].n, 1);
    assert_eq!(phase(&results, "commit-4k").skipped, Some(Skipped::Interrupted));
    let once = results.phases.iter().find(|p| p.repeats.len() == 1).expect("one was measured");
    assert_eq!(once.cut_short, Some(Skipped::Interrupted), "it was to be repeated");
    assert_eq!(phase(&results, "commit-4k").repeats.len(), 0);

    let ends = Fault::Ends(Stopped::Interrupted, None);
    for fault in [ends, Fault::Error(ExecuteError::Interrupted)] {
        let mut disk = Disk::new(1, Nanos::from_micros(100)).with(3, fault);
        let results = go(&plan(Level::Quick), &mut disk);
        assert!(results.interrupted);
        assert_eq!(disk.executed.len(), 4);
        assert!(phase(&results, "rand-read-4k-d32").metrics.is_empty());
    }
}

#[derive(Default)]
struct Watcher {
    started: Vec<(String, u32)>,
    finished: Vec<(Nanos, Nanos, Nanos)>,
    saved: Vec<(usize, usize)>,
}

impl Observer for Watcher {
    fn started(&mut self, at: &Progress<'_>) {
        self.started.push((at.phase.name.clone(), at.round));
    }
    fn finished(&mut self, at: &Progress<'_>, so_far: &Results) {
        self.finished.push((at.elapsed, at.done, at.remaining));
        let repeats = so_far.phases.iter().map(|p| p.repeats.len()).sum();
        let open = so_far.phases.iter().filter(|p| p.skipped == Some(Skipped::NotReached)).count();
        self.saved.push((repeats, open));
    }
}

#[test]
fn the_observer_can_tell_the_time_left_and_save_after_every_execution() {
    let plan = plan(Level::Quick);
    let mut watcher = Watcher::default();
    let mut disk = Disk::new(1, Nanos::from_micros(100));
    run(&plan, &mut disk, &mut watcher, &AtomicBool::new(false));
    assert_eq!(watcher.started.len(), 18);
    assert_eq!(watcher.started[9], ("cached-read".into(), 1));
    assert_eq!(watcher.saved[0], (1, 8), "a killed run says which phases it never reached");
    assert_eq!(watcher.saved[17], (18, 0));
    let total = plan.duration();
    for (elapsed, done, remaining) in &watcher.finished {
        assert_eq!(*done + *remaining, total);
        assert!(elapsed <= done);
    }
    assert_eq!(watcher.finished[17].2, Nanos::ZERO);
}

#[test]
fn a_curve_that_is_not_extended_shortens_the_time_left_at_once() {
    let plan = plan(Level::Normal);
    let mut watcher = Watcher::default();
    run(&plan, &mut Disk::new(1, Nanos::from_micros(100)), &mut watcher, &AtomicBool::new(false));
    let (_, done, remaining) = watcher.finished[watcher.finished.len() - 1];
    assert_eq!(remaining, Nanos::ZERO);
    let each = plan.duration_of(&plan.phases[0]);
    assert_eq!(plan.duration() - done, Nanos(each.0 * 9), "three depths, three rounds");
}

#[test]
fn the_time_left_is_stretched_where_the_run_is_slower_than_planned() {
    let plan = plan(Level::Quick);
    let s = |s: u64| Nanos::from_millis(s * 1000);
    let at = |elapsed, done, remaining| Progress {
        phase: &plan.phases[0],
        round: 0,
        rounds: 2,
        elapsed,
        done,
        remaining,
    };
    assert_eq!(at(s(3), s(3), s(10)).eta(), s(10));
    assert_eq!(at(s(6), s(3), s(10)).eta(), s(20));
    assert_eq!(at(s(1), s(0), s(10)).eta(), s(10));
}

#[test]
fn phases_of_the_users_own_may_have_different_numbers_of_repeats() {
    let workload = |read_percent| {
        Workload::closed(seekwell_io::workload::Pattern::Random, read_percent, 4096, 1, 1 << 20)
    };
    let spec = |name: &str, repeats| {
        PhaseSpec::new(name, name, crate::plan::Group::Custom, workload(100), repeats)
    };
    let plan = Plan::of(vec![spec("once", 1), spec("thrice", 3)], Nanos::ZERO);
    assert_eq!(plan.rounds(), 3);
    let results = go(&plan, &mut Disk::new(1, Nanos::from_micros(100)));
    let repeats: Vec<_> = results.phases.iter().map(|p| p.repeats.len()).collect();
    assert_eq!(repeats, [1, 3]);
}

/// Two targets, each alone and then both, in three rounds.
fn both() -> Plan {
    let spec = |name: &str, target, beside| {
        let workload = Workload::closed(Pattern::Random, 100, 4096, 8, 1 << 30);
        let spec = PhaseSpec::new(name, name, Group::Custom, workload, 3);
        PhaseSpec { target, beside, ..spec }
    };
    let phases = vec![
        spec("a", 0, None),
        spec("b", 1, None),
        spec("a+", 0, Some(0)),
        spec("b+", 1, Some(0)),
    ];
    Plan::of(phases, Nanos::ZERO)
}

#[test]
fn phases_beside_each_other_take_the_time_of_one() {
    let plan = both();
    let one = plan.duration_of(&plan.phases[0]);
    assert_eq!(plan.duration(), Nanos(9 * one.0));
    let results = go(&plan, &mut Disk::new(1, Nanos::from_micros(500)));
    let repeats: Vec<_> = results.phases.iter().map(|p| p.repeats.len()).collect();
    assert_eq!(repeats, [3, 3, 3, 3]);
}

#[test]
fn a_target_that_is_lost_takes_none_of_the_numbers_of_the_others() {
    let gone = Fault::Error(ExecuteError::DeviceGone { errno: 19 });
    let failed = Fault::Ends(Stopped::Failed, Some(eio()));
    for (fault, why) in [(gone, "the device is gone"), (failed, "read of 4096 bytes")] {
        // The second run of b alone: a, b, a+, b+, a, and then it.
        let results = go(&both(), &mut Disk::new(1, Nanos::from_micros(500)).with(5, fault));
        let repeats: Vec<_> = results.phases.iter().map(|p| p.repeats.len()).collect();
        assert_eq!(repeats, [3, 2, 1, 1]);
        for lost in ["b", "b+"] {
            let said = phase(&results, lost).cut_short.as_deref().expect(lost);
            assert!(said.starts_with(why), "{lost}: {said}");
        }
        assert_eq!(phase(&results, "a").cut_short, None);
        assert!(!results.interrupted);
    }
}

#[test]
fn a_target_that_fails_at_once_leaves_nothing_to_run_the_other_beside() {
    let failed = Fault::Ends(Stopped::Failed, Some(eio()));
    let results = go(&both(), &mut Disk::new(1, Nanos::from_micros(500)).with(1, failed));
    assert_eq!(phase(&results, "a").repeats.len(), 3);
    let why = phase(&results, "a+").skipped.as_deref();
    assert_eq!(why, Some("nothing is left to run beside it"));
    let why = phase(&results, "b+").skipped.as_deref().expect("not run");
    assert!(why.starts_with("read of 4096 bytes"), "{why}");
}

#[test]
fn what_a_drive_counted_is_among_the_values_and_counters_that_went_back_are_a_note() {
    let mut disk = Disk::new(1, Nanos::from_millis(1));
    let wear = Wear {
        host_bytes: 1 << 30,
        media_bytes: Some(3 << 30),
        unit_bytes: 512_000,
        ..Wear::default()
    };
    disk.wear = Some(Ok(wear));
    let workload = Workload::closed(Pattern::Random, 0, 4096, 1, 1 << 30);
    let spec = PhaseSpec::new("writes", "writes", Group::Custom, workload, 1);
    let plan = Plan::of(vec![spec], Nanos::ZERO);
    let stop = AtomicBool::new(false);
    let phase = |disk: &mut Disk| run(&plan, disk, &mut (), &stop).phases.remove(0);
    disk.shares.insert("volume_iops_exceeded_percent", 80.0);
    let told = phase(&mut disk);
    assert_eq!(told.median("volume_iops_exceeded_percent"), Some(80.0));
    assert_eq!(told.median("write_amplification"), Some(3.0));
    assert_eq!(told.median("host_written_bytes"), Some(1_073_741_824.0));
    disk.wear = Some(Err(WentBack));
    let silent = phase(&mut disk);
    assert_eq!(silent.median("host_written_bytes"), None);
    assert!(silent.repeats[0].notes[0].contains("went backwards"), "{silent:?}");
}
