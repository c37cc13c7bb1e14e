use super::rand48::Rand48;
use super::*;
use proptest::prelude::*;
use seekwell_io::request::Op;
use std::collections::HashMap;

/// A generator of random requests that no process waits for.
fn free() -> GeneratorParams {
    let ms = |mean| Distribution::Exponential { base: 0.0, mean };
    GeneratorParams {
        volumes: vec![0],
        sectors: 80_000,
        blocking: 8,
        sequential: 0.0,
        local: 0.0,
        read: 0.66,
        critical: 0.0,
        limited: 0.0,
        limit_ms: ms(30.0),
        general_ms: ms(10.0),
        sequential_ms: ms(10.0),
        local_ms: ms(10.0),
        local_sectors: Distribution::Normal { mean: 0.0, deviation: 800.0 },
        size_sectors: ms(8.0),
    }
}

fn workload(generators: Vec<GeneratorParams>, processors: u32) -> Workload {
    let until = Nanos(u64::MAX);
    Workload { requests: 2000, until, processors, scale: 1.0, seed: 42, generators }
}

/// Runs processes against something that does every request in `service_ns`: what was issued, when,
/// and the most that was outstanding.
fn played(workload: &Workload, service_ns: u64) -> (Vec<(Nanos, Issued)>, usize) {
    let mut processes = Processes::new(workload);
    let mut outstanding: HashMap<u32, Nanos> = HashMap::new();
    let (mut issued, mut most) = (Vec::new(), 0);
    while processes.ended().is_none() {
        let first =
            outstanding.iter().min_by_key(|(id, at)| (**at, **id)).map(|(id, at)| (*id, *at));
        let next = processes.next();
        if let Some((id, at)) = first.filter(|(_, at)| *at <= next) {
            outstanding.remove(&id);
            processes.done(id, at);
        } else if let Some(Sign::Issue(request)) = processes.advance(next) {
            outstanding.insert(request.id, next + Nanos(service_ns));
            most = most.max(outstanding.len());
            issued.push((next, request));
        }
    }
    (issued, most)
}

#[test]
fn random_numbers_are_those_of_drand48() {
    // As printed by Perl's rand() after srand(42), which is the same generator.
    let mut random = Rand48::new(42);
    for expected in [0.744_525_000_061, 0.342_701_478_719] {
        assert!((random.draw() - expected).abs() < 1e-11);
    }
}

#[test]
fn distributions_have_the_means_that_they_say() {
    let all = [
        (Distribution::Uniform { least: 2.0, most: 6.0 }, 4.0),
        (Distribution::Normal { mean: 5.0, deviation: 2.0 }, 5.0),
        (Distribution::Exponential { base: 1.0, mean: 3.0 }, 4.0),
        (Distribution::Poisson { base: 1.0, mean: 6.0 }, 7.0),
        (Distribution::TwoValue { default: 1.0, second: 11.0, probability: 0.3 }, 4.0),
    ];
    for (distribution, mean) in all {
        let mut random = Rand48::new(7);
        let values: Vec<f64> = (0..100_000).map(|_| distribution.draw(&mut random)).collect();
        let found = values.iter().sum::<f64>() / values.len() as f64;
        assert!((found - mean).abs() < 0.05, "{distribution:?}: {found}");
    }
    let mut random = Rand48::new(7);
    let normal = Distribution::Normal { mean: 0.0, deviation: 2.0 };
    let squares = (0..100_000).map(|_| normal.draw(&mut random).powi(2)).sum::<f64>() / 1e5;
    assert!((squares - 4.0).abs() < 0.1, "{squares}");
    let never = Distribution::Uniform { least: -2.0, most: -1.0 };
    assert_eq!(never.draw_positive(&mut random), None);
}

#[test]
fn a_process_that_waits_for_everything_has_one_request_outstanding() {
    let critical = GeneratorParams { critical: 1.0, ..free() };
    let (issued, most) = played(&workload(vec![critical.clone()], 1), 5_000_000);
    assert_eq!((issued.len(), most), (2000, 1));
    let five = played(&workload(vec![critical; 5], 5), 500_000_000);
    assert_eq!(five.1, 5);
}

#[test]
fn a_process_that_waits_for_nothing_keeps_its_pace_however_slow_the_disk() {
    let (fast, _) = played(&workload(vec![free()], 1), 1);
    let (slow, most) = played(&workload(vec![free()], 1), 1_000_000_000);
    assert_eq!(fast, slow);
    assert!(most > 50, "{most}");
    let last = fast.last().expect("some").0.0 as f64;
    assert!((last / 2000.0 / 1e7 - 1.0).abs() < 0.05, "{last}");
}

#[test]
fn a_processor_belongs_to_a_process_until_it_waits() {
    let on = |volume| GeneratorParams { volumes: vec![volume], ..free() };
    let volumes = |processors| {
        let (issued, _) = played(&workload(vec![on(0), on(1), on(2)], processors), 1_000);
        let mut all: Vec<usize> = issued.iter().map(|(_, one)| one.request.volume).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    // The last generator is the first in line.
    assert_eq!(volumes(1), [2]);
    assert_eq!(volumes(2), [1, 2]);
    assert_eq!(volumes(3), [0, 1, 2]);
}

#[test]
fn a_limited_request_is_waited_for_after_its_thought() {
    let general_ms = Distribution::TwoValue { default: 1.0, second: 100.0, probability: 0.5 };
    let limit_ms = Distribution::Uniform { least: 2.0, most: 3.0 };
    let limited = GeneratorParams { limited: 1.0, limit_ms, general_ms, ..free() };
    let run = |service| played(&workload(vec![limited.clone()], 1), service);
    // What is done before its limit holds nothing up.
    let (at_once, soon) = (run(1), run(1_000_000));
    assert_eq!(at_once.0, soon.0);
    // What is not holds everything up until it is.
    let late = run(1_000_000_000);
    assert!(late.0[1999].0.0 > 5 * soon.0[1999].0.0, "{}", late.0[1999].0);
}

#[test]
fn a_generator_that_can_never_ask_ends_the_workload() {
    let never = Distribution::Uniform { least: -2.0, most: -1.0 };
    let silent = GeneratorParams { general_ms: never, ..free() };
    assert_eq!(played(&workload(vec![silent], 1), 1).0.len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever its options, a generator stays within its volume and its blocks, and what continues
    /// a request begins where that ended.
    #[test]
    fn requests_lie_within_their_volume(
        sequential in 0.0..0.5f64,
        local in 0.0..0.5f64,
        deviation in 0.0..1e6f64,
        mean in 1.0..500.0f64,
        blocking in 1u64..64,
        seed in 0u32..1000,
    ) {
        let params = GeneratorParams {
            sequential, local, blocking,
            local_sectors: Distribution::Normal { mean: 0.0, deviation },
            size_sectors: Distribution::Exponential { base: 0.0, mean },
            ..free()
        };
        let requests = Workload { requests: 200, seed, ..workload(vec![params], 1) };
        let (issued, _) = played(&requests, 1);
        prop_assert_eq!(issued.len(), 200);
        for (_, Issued { request, .. }) in issued {
            prop_assert!(request.sectors > 0 && request.start + request.sectors <= 80_000);
            prop_assert_eq!((request.start % blocking, request.sectors % blocking), (0, 0));
            prop_assert!(matches!(request.op, Op::Read | Op::Write));
        }
    }
}
