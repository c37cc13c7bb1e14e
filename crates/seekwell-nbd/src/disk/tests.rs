use super::*;
use seekwell_machine::library::{Shelf, machine};

fn model(name: &str) -> Model {
    Model::read(name, machine(name).unwrap(), &[], &Shelf::default()).unwrap()
}

fn disk(name: &str, faults: &[&str], lies: bool, seed: u64) -> Disk {
    let faults = faults.iter().map(|text| text.parse().unwrap()).collect();
    Disk::new(model(name), Store::in_memory(64 << 20), faults, lies, seed)
}

fn read(offset: u64, len: u32) -> Command {
    Command::Read { offset, len }
}

fn write(offset: u64, byte: u8) -> Command {
    Command::Write { offset, data: vec![byte; 4096], fua: false }
}

/// Does one command and nothing else; how long it took, and what came of it.
fn one(disk: &mut Disk, command: Command, now: &mut Nanos) -> (Nanos, Result<Vec<u8>, Failure>) {
    disk.submit(1, Request { cookie: 1, command }, *now);
    let mut out = Vec::new();
    while out.is_empty() {
        assert_ne!(disk.next(), Nanos::MAX, "it is never answered");
        *now = (*now).max(disk.next());
        disk.advance(*now, &mut out);
    }
    let answer = out.remove(0);
    (answer.due - answer.arrived, answer.result)
}

#[test]
fn requests_take_as_long_as_on_the_machine_itself() {
    let mut part = model("p4sbe-ich8-ahci").part(1);
    let mut disk = disk("p4sbe-ich8-ahci", &[], false, 1);
    let (mut now, mut done, mut at) = (Nanos::ZERO, Vec::new(), Nanos::ZERO);
    for n in 0..200_u64 {
        let offset = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 37) / 4096 * 4096;
        let (took, _) = one(&mut disk, read(offset, 4096), &mut now);
        let op = request::Op::Read;
        let command = seekwell_machine::Command { tag: 0, op, offset, len: 4096, durable: false };
        part.submit(command, at);
        let begin = at;
        while done.is_empty() {
            at = at.max(part.next());
            part.advance(at, &mut done);
        }
        assert_eq!(took, done.remove(0).at - begin, "request {n}");
    }
    assert!(now > Nanos::from_millis(500), "an arm moved 200 times in {now}");
}

#[test]
fn faults_fail_delay_and_hold_back() {
    let faults = ["error=1m+4k", "slow=2m+4k:1s", "hang=100s:30s"];
    let mut disk = disk("nvme-ssd", &faults, false, 1);
    let mut now = Nanos::ZERO;
    let (_, failed) = one(&mut disk, read((1 << 20) - 4096, 8192), &mut now);
    assert_eq!(failed, Err(Failure::Io));
    assert_eq!(one(&mut disk, write(1 << 20, 1), &mut now).1, Err(Failure::Io));
    let (took, fine) = one(&mut disk, read((1 << 20) - 4096, 4096), &mut now);
    assert!(fine.is_ok() && took < Nanos::from_millis(10), "{took}");
    let (took, _) = one(&mut disk, read(2 << 20, 4096), &mut now);
    assert!(took >= Nanos::from_millis(1000), "{took}");
    now = Nanos::from_millis(110_000);
    let (took, _) = one(&mut disk, Command::Flush, &mut now);
    assert_eq!((now, took), (Nanos::from_millis(130_000), Nanos::from_millis(20_000)));
}

/// A journal: a record of two blocks, the second of which says how many there are; then a flush;
/// then the place of the record says that it is there. What a data base does for a commit.
const RECORD: u64 = 8192;
const LOG: u64 = 1 << 20;

/// Commits until the power goes, and comes back; how many commits were acknowledged.
fn commit_until_the_power_goes(disk: &mut Disk, cut_after: u64) -> u64 {
    let mut now = Nanos::ZERO;
    let mut acknowledged = 0;
    for n in 0.. {
        let (at, byte) = (LOG + n * RECORD, n as u8 + 1);
        let steps = [write(at, byte), write(at + 4096, byte), Command::Flush];
        for (step, command) in steps.into_iter().enumerate() {
            if 3 * n + step as u64 == cut_after {
                // The power goes while this is under way.
                disk.submit(1, Request { cookie: 1, command }, now);
                disk.cut(now + Nanos::from_millis(1000)).unwrap();
                return acknowledged;
            }
            one(disk, command, &mut now).1.unwrap();
        }
        acknowledged += 1;
    }
    acknowledged
}

/// How many records from the beginning of the journal are whole.
fn recovered(disk: &mut Disk) -> u64 {
    let mut now = Nanos::from_millis(3_600_000);
    let mut whole = |n: u64| {
        let data = one(disk, read(LOG + n * RECORD, 8192), &mut now).1.unwrap();
        data.iter().all(|byte| *byte == n as u8 + 1)
    };
    (0..).take_while(|n| whole(*n)).count() as u64
}

#[test]
fn of_fifty_power_cuts_none_takes_a_commit_unless_the_disk_lies() {
    let mut caught = 0;
    for seed in 1..=50 {
        let cut_after = seed * 7 % 90;
        for lies in [false, true] {
            let mut disk = disk("nvme-ssd", &[], lies, seed);
            let acknowledged = commit_until_the_power_goes(&mut disk, cut_after);
            let found = recovered(&mut disk);
            if lies {
                caught += u32::from(found < acknowledged);
            } else {
                assert!(found >= acknowledged, "seed {seed}: {found} of {acknowledged}");
            }
        }
    }
    assert!(caught >= 30, "a disk that lies about flushes was caught {caught} times of 50");
}

#[test]
fn a_disk_that_lies_drops_what_was_to_be_durable_at_once() {
    let lost = |lies| {
        (1..=20).any(|seed| {
            let mut disk = disk("nvme-ssd", &[], lies, seed);
            let command = Command::Write { offset: 0, data: vec![1; 4096], fua: true };
            let mut now = Nanos::ZERO;
            one(&mut disk, command, &mut now).1.unwrap();
            disk.cut(now).unwrap();
            one(&mut disk, read(0, 4096), &mut now).1.unwrap() != [1; 4096]
        })
    };
    assert!(!lost(false));
    assert!(lost(true));
}

#[test]
fn after_a_cut_the_machine_starts_again_with_nothing_under_way() {
    let mut disk = disk("sata-7200", &["power-cut=3writes", "power-cut=90s"], false, 1);
    for n in 0..3 {
        assert!(!disk.wants_cut(Nanos::ZERO), "after {n} writes");
        disk.submit(1, Request { cookie: n, command: write(n << 20, 1) }, Nanos::ZERO);
    }
    assert!(disk.wants_cut(Nanos::ZERO));
    let lost = disk.cut(Nanos::from_millis(2000)).unwrap();
    assert_eq!(lost.kept_sectors + lost.lost_sectors, 24);
    assert_eq!(disk.next(), Nanos::from_millis(90_000));
    let mut now = Nanos::from_millis(2000);
    let (took, data) = one(&mut disk, read(1 << 30, 4096), &mut now);
    assert!(took > Nanos::ZERO && data.is_ok());
}
