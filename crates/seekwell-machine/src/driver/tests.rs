use super::*;
use crate::array::{Layout, Level, Rotation};
use crate::fake::FakeDrive;
use proptest::prelude::*;

fn entry(owner: u32, start: u64, urgent: bool) -> QueuedAccess {
    QueuedAccess { urgent, ..QueuedAccess::new(owner, Op::Read, start, 8, Nanos(u64::from(owner))) }
}

/// The order in which a queue of reads at 50, 10, 90, 60 is emptied after one at 55.
fn order(policy: Policy) -> Vec<u64> {
    let mut queue = Queue::new(QueueParams { policy, ..QueueParams::PLAIN });
    queue.add(entry(0, 55, false));
    queue.take(Nanos(0));
    for (owner, start) in [(1, 50), (2, 10), (3, 90), (4, 60)] {
        queue.add(entry(owner, start, false));
    }
    std::iter::from_fn(|| queue.take(Nanos(9)).map(|entry| entry.start)).collect()
}

#[test]
fn a_queue_is_emptied_in_its_order() {
    assert_eq!(order(Policy::Fcfs), [50, 10, 90, 60]);
    assert_eq!(order(Policy::CLook), [60, 90, 10, 50]);
    assert_eq!(order(Policy::Look), [60, 90, 50, 10]);
    // From where the one before ended.
    assert_eq!(order(Policy::Sstf), [60, 50, 90, 10]);
}

#[test]
fn what_is_urgent_or_late_goes_first() {
    let late = Some((Nanos(100), Policy::Fcfs));
    let urgent = Some(Policy::CLook);
    let mut queue = Queue::new(QueueParams { urgent, late, ..QueueParams::PLAIN });
    for (owner, start, urgent) in [(1, 70, false), (2, 10, false), (3, 40, true), (4, 20, false)] {
        queue.add(entry(owner, start, urgent));
    }
    queue.raise(4);
    let mut next = |now| queue.take(Nanos(now)).map(|entry| entry.start);
    assert_eq!([next(50), next(50)], [Some(20), Some(40)]);
    // Both are late by now; late and urgent have one order.
    assert_eq!([next(500), next(500), next(500)], [Some(70), Some(10), None]);
}

#[test]
fn what_continues_each_other_becomes_one() {
    let params = QueueParams { joins_reads: true, most_joined: 24, ..QueueParams::PLAIN };
    let mut queue = Queue::new(params);
    for (owner, start) in [(1, 0), (2, 16), (3, 8), (4, 24)] {
        queue.add(entry(owner, start, false));
    }
    let joined = queue.take(Nanos(9)).expect("three in one");
    assert_eq!((joined.start, joined.sectors), (0, 24));
    let mut owners: Vec<u32> = joined.owners.iter().map(|(owner, _)| *owner).collect();
    owners.sort_unstable();
    assert_eq!(owners, [1, 2, 3]);
    assert_eq!(queue.take(Nanos(9)).map(|entry| entry.start), Some(24), "more would be too much");
    assert!(queue.is_empty());
}

/// Nine devices of 8 whole units of 64 sectors and half a one.
fn raid(level: Level) -> Organisation {
    let layout = Layout::new(level, Rotation::LeftSymmetric, 9, 64 * 512, 544 * 512);
    Organisation::Array {
        devices: (0..9).collect(),
        layout,
        rest: 32,
        modify_below: 4,
        synchronous: false,
    }
}

/// Device, operation, first sector, sectors, and what it waits for.
fn shown(accesses: &[Access]) -> Vec<(usize, Op, u64, u64, Vec<usize>)> {
    let show = |a: &Access| (a.device, a.op, a.start, a.sectors, a.after.clone());
    accesses.iter().map(show).collect()
}

#[test]
fn new_parity_waits_for_all_that_is_old_and_new_data_for_its_own() {
    let small = raid(Level::Raid5).accesses(Op::Write, 70, 8);
    let expected = [
        (1, Op::Read, 6, 8, vec![]),
        (8, Op::Read, 6, 8, vec![]),
        (1, Op::Write, 6, 8, vec![0]),
        (8, Op::Write, 6, 8, vec![0, 1]),
    ];
    assert_eq!(shown(&small), expected);
    // Two pieces without parity in common, far enough apart not to become one.
    let two = raid(Level::Raid5).accesses(Op::Write, 60, 8);
    let parity: Vec<u64> = two.iter().filter(|a| a.device == 8).map(|a| a.start).collect();
    assert_eq!(parity, [0, 60, 0, 60]);
    let whole = raid(Level::Raid5).accesses(Op::Write, 0, 512);
    assert!(whole.len() == 9 && whole.iter().all(|a| a.op == Op::Write && a.after.is_empty()));
    let most = raid(Level::Raid4).accesses(Op::Write, 0, 448);
    let reads: Vec<usize> = most.iter().filter(|a| a.op == Op::Read).map(|a| a.device).collect();
    assert_eq!(reads, [7], "what does not change is read instead");
}

#[test]
fn the_shorter_last_stripe_is_used_too() {
    let stripes = 8 * 64 * 8;
    let last = raid(Level::Raid5).accesses(Op::Read, stripes + 40, 8);
    // In the ninth stripe parity is on the first device, and data begins after it.
    assert_eq!(shown(&last), [(2, Op::Read, 512 + 8, 8, vec![])]);
    let across = raid(Level::Raid0).accesses(Op::Read, 9 * 64 * 8 - 8, 16);
    assert_eq!(shown(&across), [(0, Op::Read, 512, 8, vec![]), (8, Op::Read, 504, 8, vec![])]);
}

/// Does requests one after the other and says how many accesses and requests ended.
fn done(driver: &mut Driver<FakeDrive>, requests: &[Request]) -> (usize, usize) {
    let mut ended = Vec::new();
    for request in requests {
        driver.submit(*request, Nanos::ZERO);
    }
    while driver.next() < Nanos::MAX {
        driver.advance(driver.next(), &mut ended);
    }
    let accesses = ended.iter().filter(|end| matches!(end, Ended::Access(..))).count();
    (accesses, ended.len() - accesses)
}

fn request(id: u32, op: Op, start: u64, sectors: u64) -> Request {
    Request { id, volume: 0, op, start, sectors, urgent: false }
}

#[test]
fn a_small_write_takes_two_turns_of_the_devices() {
    let drives = (0..9).map(|_| (FakeDrive::new(1, 10), 1)).collect();
    let mut driver = Driver::new(vec![raid(Level::Raid5)], drives, QueueParams::PLAIN);
    driver.submit(request(7, Op::Write, 70, 8), Nanos(5));
    let mut ended = Vec::new();
    while driver.next() < Nanos::MAX {
        driver.advance(driver.next(), &mut ended);
    }
    assert_eq!(ended.len(), 5);
    assert_eq!(ended.last(), Some(&Ended::Request(7, Nanos(20))));
}

proptest! {
    /// Every request ends, whatever it is, and reads take as many sectors as were asked for.
    #[test]
    fn every_request_ends(
        level in prop::sample::select(vec![Level::Raid0, Level::Raid4, Level::Raid5]),
        synchronous: bool,
        requests in prop::collection::vec((any::<bool>(), 0u64..4000, 1u64..350), 1..20),
    ) {
        let organisation = match raid(level) {
            Organisation::Array { devices, layout, rest, modify_below, .. } => {
                Organisation::Array { devices, layout, rest, modify_below, synchronous }
            }
            other => other,
        };
        let mut all = Vec::new();
        for (id, (reads, start, sectors)) in requests.into_iter().enumerate() {
            let op = if reads { Op::Read } else { Op::Write };
            let accesses = organisation.accesses(op, start, sectors);
            let covered: u64 = accesses.iter().map(|access| access.sectors).sum();
            prop_assert!(op == Op::Write || covered >= sectors);
            prop_assert!(accesses.iter().all(|access| access.start + access.sectors <= 544));
            all.push(request(id as u32, op, start, sectors));
        }
        let drives = (0..9).map(|_| (FakeDrive::new(2, 10), 2)).collect();
        let params = QueueParams { policy: Policy::CLook, ..QueueParams::PLAIN };
        let mut driver = Driver::new(vec![organisation], drives, params);
        prop_assert_eq!(done(&mut driver, &all).1, all.len());
    }
}
