use super::super::{DisksimError, read, system};
use super::System;
use proptest::prelude::*;
use std::io::{Error, ErrorKind};

/// A host with one simple disk of 10 ms, and one process that reads it.
const SMALL: &str = "disksim_global G { Real Seed = 7 }
disksim_iodriver DRIVER { type = 1, Constant access time = 0.0, Use queueing in subsystem = 1,
  Scheduler = QUEUE }
disksim_bus BUS { type = 1, Arbitration time = 0.0, Read block transfer time = 0.0,
  Write block transfer time = 0.0 }
disksim_ctlr CTLR { type = 1, Scale for delays = 0.0, Bulk sector transfer time = 0.0,
  Maximum queue length = 0 EXTRA }
disksim_simpledisk SD { Block count = 100000, Access time = 9.5, Command overhead = 0.5,
  Bulk sector transfer time = 0.0, Never disconnect = 0, Max queue length = 1 }
instantiate [ driver0 ] as DRIVER
instantiate [ bus0, bus1 ] as BUS
instantiate [ ctlr0 ] as CTLR
instantiate [ sd0 .. sd3 ] as SD
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_ctlr ctlr0 [ disksim_bus bus1 [
  disksim_simpledisk sd0 [], disksim_simpledisk sd1 [], disksim_simpledisk sd2 [],
  disksim_simpledisk sd3 [] ] ] ] ]
disksim_logorg org0 { Addressing mode = Parts, Distribution scheme = Asis,
  Redundancy scheme = Noredun, devices = [ sd0 ] }
disksim_logorg org1 { Addressing mode = Array, Distribution scheme = Striped,
  Redundancy scheme = Parity_rotated, devices = [ sd1 .. sd3 ], Stripe unit = 64,
  Parity stripe unit = 64, Parity rotation type = 1, RMW vs. reconstruct = 0.5 }
disksim_pf P { Number of processors = 1, Process-Flow Time Scale = 1.0 }
disksim_synthio S { Number of I/O requests to generate = 500,
  Maximum time of trace generated = 1000.0, System call/return with each request = 0,
  Generators = [ disksim_synthgen { Storage capacity per device = 100000, devices = [ sd0 ],
    Blocking factor = 8, Probability of sequential access = 0.1,
    Probability of local access = 0.2, Probability of read access = 0.66,
    Probability of time-critical request = 1.0, Probability of time-limited request = 0.0,
    Time-limited think times = [ normal, 30.0, 100.0 ],
    General inter-arrival times = [ exponential, 0.0, 5.0 ],
    Sequential inter-arrival times = [ uniform, 0.0, 5.0 ],
    Local inter-arrival times = [ poisson, 0.0, 5.0 ],
    Local distances = [ twovalue, 80.0, -80.0, 0.5 ], Sizes = [ exponential, 0.0, 8.0 ] } ] }";

const QUEUE: &str = "disksim_ioqueue { Scheduling policy = 3, Sequential stream scheme = 0,
  Maximum concat size = 0, Scheduling timeout scheme = 0, Timeout time/weight = 30,
  Scheduling priority scheme = 0 }";

/// The small host with one text in place of another.
fn made(from: &str, to: &str) -> Result<System, DisksimError> {
    let changed = SMALL.replace(from, to);
    assert!(from.is_empty() || changed != SMALL, "{from} is not there");
    let text = changed.replace("QUEUE", QUEUE).replace("EXTRA", "");
    let mut open = |name: &str| {
        if name == "s.parv" { Ok(text.clone()) } else { Err(Error::from(ErrorKind::NotFound)) }
    };
    let document = read("s.parv", &mut open)?;
    system(&document, &mut open)
}

fn why_not(from: &str, to: &str) -> String {
    made(from, to).expect_err("it is not modelled").to_string()
}

#[test]
fn a_process_that_always_waits_sees_the_disk_alone() {
    let outcome = made("", "").expect("legal").run().expect("it runs");
    assert_eq!((outcome.requests.count(), outcome.requests.mean_ns()), (500, 10e6));
    assert_eq!(outcome.devices.len(), 4);
    assert_eq!(outcome.devices[0].1, outcome.accesses);
    let again = made("", "").expect("legal");
    assert_eq!(again.run().expect("it runs"), outcome, "equal seeds, equal times");
    assert_ne!(again.with_seed(8).run().expect("it runs").span, outcome.span);
}

#[test]
fn an_array_is_addressed_by_its_name_or_its_number() {
    for name in ["org1", "sd1"] {
        let outcome = made(
            "devices = [ sd0 ],\n    Blocking",
            &format!("devices = [ {name} ],\n    Blocking"),
        );
        let outcome = outcome.expect("legal").run().expect("it runs");
        let accesses: Vec<usize> = outcome.devices.iter().map(|(_, times)| times.count()).collect();
        assert_eq!(accesses[0], 0);
        assert!(accesses[1..].iter().all(|count| *count > 200), "{accesses:?}");
        assert!(outcome.requests.mean_ns() > 12e6, "a write takes two turns");
    }
}

#[test]
fn what_is_not_modelled_is_named() {
    let cases = [
        ("Arbitration time = 0.0", "Arbitration time = 0.1", "Arbitration time = 0.1"),
        ("CTLR { type = 1", "CTLR { type = 2", "s.parv:8: type = 2"),
        ("Scale for delays = 0.0", "Scale for delays = 1.0", "Scale for delays = 1"),
        ("Constant access time = 0.0", "Constant access time = 5.0", "Constant access time = 5"),
        ("Real Seed = 7", "Statistic warm-up period = 9 I/Os", "Statistic warm-up period = 9 I/Os"),
        ("Never disconnect = 0", "Never disconnect = 1", "Never disconnect = 1"),
        ("each request = 0", "each request = 1", "System call/return with each request = 1"),
        ("= Parity_rotated", "= Shadowed", "Redundancy scheme = Shadowed"),
        ("Parity stripe unit = 64", "Parity stripe unit = 128", "Parity stripe unit = 128"),
    ];
    for (from, to, named) in cases {
        let why = why_not(from, to);
        assert!(why.contains(named) && why.ends_with("is not supported"), "{to}: {why}");
    }
    assert!(why_not("[ poisson, 0.0, 5.0 ]", "[ zipf, 1.0 ]").contains("expected a distribution"));
    assert!(
        why_not("capacity per device = 100000", "capacity per device = 100001")
            .contains("no more than the device holds")
    );
    assert_eq!(why_not("disksim_synthio S", "disksim_none S"), "there is no disksim_synthio");
    let plain = "type = 1, Scale for delays = 0.0, Bulk sector transfer time = 0.0,
  Maximum queue length = 0";
    let smart = plain.replace("type = 1", "type = 3");
    let cache = "Scheduler = QUEUE, Max per-disk pending count = 1,
        Cache = disksim_cachemem { Line size = 8 }";
    let why = why_not(plain, &format!("{smart}, {cache}"));
    assert!(why.contains("has no “SLRU segments”"), "{why}");
}

proptest! {
    /// Whatever is cut out of a file or put into it: an answer, never a panic.
    #[test]
    fn no_text_makes_it_panic(
        from in 0usize..3000,
        length in 0usize..40,
        put in "[a-z0-9\\[\\]{}=,#. \n-]{0,12}",
    ) {
        let mut text = SMALL.replace("QUEUE", QUEUE).replace("EXTRA", "");
        let from = from % text.len();
        text.replace_range(from..(from + length).min(text.len()), &put);
        let mut open = |name: &str| {
            if name == "s.parv" { Ok(text.clone()) } else { Err(Error::from(ErrorKind::NotFound)) }
        };
        if let Ok(document) = read("s.parv", &mut open)
            && let Ok(system) = system(&document, &mut open)
            && system.workload().requests < 10_000
        {
            let outcome = system.run().expect("it was built before");
            prop_assert!(outcome.requests.count() <= 10_000);
        }
    }
}
