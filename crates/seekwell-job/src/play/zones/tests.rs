//! Laws of what zones answer, held against a device that follows its own rules.

use super::*;
use crate::job::Job;
use crate::play::ramp::Ramp;
use crate::play::source::walk::Region;
use crate::play::source::{Cut, JobSource, Setup};
use crate::{Surroundings, parse_text};
use proptest::prelude::*;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::Stopped;
use seekwell_io::request::{Op, Request};
use seekwell_io::target::{Fixed, Served};
use seekwell_io::units::Nanos;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

const BLOCK: u64 = 4096;
/// Length of a zone.
const LEN: u64 = 16 * BLOCK;

/// A device with zones, which asserts what such devices demand.
#[derive(Debug)]
struct Device {
    zones: Mutex<Vec<Zone>>,
    refuses: bool,
    /// Changes take time on the clock of the run.
    is_timed: bool,
}

impl Device {
    fn of(zones: &[Zone]) -> Self {
        Self { zones: Mutex::new(zones.to_vec()), refuses: false, is_timed: false }
    }

    fn new(zones: &[Zone]) -> Arc<Self> {
        Arc::new(Self::of(zones))
    }

    fn serve(&self, request: &Request, beyond: bool) {
        let mut zones = self.zones.lock().unwrap();
        let (at, end) = (request.offset, request.offset + u64::from(request.len));
        let plain = zones.iter().take_while(|zone| zone.kind == ZoneKind::Conventional);
        let plain_end = plain.last().map_or(0, Zone::end);
        let zone = zones.iter_mut().find(|zone| zone.start <= at && at < zone.end()).unwrap();
        assert!(at.is_multiple_of(BLOCK) && end.is_multiple_of(BLOCK), "{request:?}");
        match (request.op, zone.kind) {
            // The kernel cuts a read at the end of a zone.
            (Op::Read, _) if beyond => {}
            (_, ZoneKind::Conventional) => assert!(end <= plain_end, "{request:?}"),
            (Op::Write, _) => {
                assert_eq!(at, zone.write_pointer, "a write goes to the write pointer");
                assert!(end <= zone.capacity_end(), "a write ends within the capacity");
                zone.write_pointer = end;
            }
            _ => assert!(end <= zone.write_pointer, "{request:?} is of nothing written"),
        }
    }

    fn change(&self, zone: &Zone, change: ZoneChange) {
        let mut zones = self.zones.lock().unwrap();
        let zone = zones.iter_mut().find(|z| z.start == zone.start).unwrap();
        zone.write_pointer = match change {
            ZoneChange::Reset => zone.start,
            ZoneChange::Finish => zone.capacity_end(),
        };
    }

    /// How many zones it has to keep open.
    fn open(&self) -> usize {
        let zones = self.zones.lock().unwrap();
        let open = |zone: &&Zone| {
            zone.kind != ZoneKind::Conventional
                && zone.start < zone.write_pointer
                && zone.write_pointer < zone.capacity_end()
        };
        zones.iter().filter(open).count()
    }

    fn written(&self) -> Vec<u64> {
        let zones = self.zones.lock().unwrap();
        zones.iter().map(|zone| (zone.write_pointer - zone.start) / BLOCK).collect()
    }
}

impl ChangeZones for Device {
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Takes> {
        if self.refuses {
            return Err(io::Error::from_raw_os_error(5));
        }
        Self::change(self, zone, change);
        let time = Nanos::from_micros(zone.start / LEN + 1);
        Ok(if self.is_timed { Takes::WillTake(time) } else { Takes::Took(time) })
    }
}

/// Zones of `capacity` blocks with `written` blocks in each; the first `plain` are conventional.
fn zones(capacity: u64, written: &[u64], plain: usize) -> Vec<Zone> {
    let zone = |(i, written): (usize, &u64)| {
        let (start, plain) = (i as u64 * LEN, i < plain);
        let capacity = if plain { LEN } else { capacity * BLOCK };
        let pointer = (start + written * BLOCK).min(start + capacity);
        let condition = match (plain, pointer - start) {
            (true, _) => ZoneCondition::NoPointer,
            (_, 0) => ZoneCondition::Empty,
            (_, written) if written == capacity => ZoneCondition::Full,
            _ => ZoneCondition::ImplicitlyOpen,
        };
        let kind = if plain { ZoneKind::Conventional } else { ZoneKind::SequentialRequired };
        let write_pointer = if plain { start + LEN } else { pointer };
        Zone { start, len: LEN, capacity, write_pointer, kind, condition }
    };
    written.iter().enumerate().map(zone).collect()
}

fn asker(range: Range<usize>, random: bool, shortest: u64) -> Asker {
    Asker { clone: 0, range, random, shortest, beyond: false, most_open: usize::MAX }
}

fn job(options: &str) -> Job {
    let text = format!("[j]\nioengine=libaio\nzonemode=zbd\n{options}\n");
    let parsed = parse_text(&text, Path::new("test.fio"), &Surroundings::fixed());
    parsed.unwrap_or_else(|e| panic!("{e}")).jobs.remove(0)
}

/// The source of a job on all of a device's zones.
fn source(job: &Job, device: &Arc<Device>, most_open: Option<u32>) -> JobSource {
    let all = device.zones.lock().unwrap().clone();
    let bytes = all.last().unwrap().end();
    let range = 0..all.len();
    let zones = Zones::new(all, most_open);
    let loop_bytes = zones.capacity_bytes(&range);
    let shared = Arc::new(SharedZones::new(zones, Arc::clone(device) as Arc<dyn ChangeZones>));
    let beyond = job.zoned.unwrap().read_beyond;
    let by = asker(range, job.access.random, u64::from(job.min_block()));
    let by = Asker { beyond, ..by };
    JobSource::new(Setup {
        job,
        regions: vec![Region { start: 0, bytes }],
        zones: vec![Follow::new(shared, by, None)],
        loop_bytes: job.extent.io_size.map_or(loop_bytes, |amount| amount.of(bytes)),
        depth: job.engine.depth,
        seed: 7,
        flow: None,
        ramp: Ramp::new(&job.timing, Arc::default()),
        ends: Arc::default(),
    })
}

/// Runs a job, every request taking 10 µs; the device is asked at the start of each. Its requests.
fn run(job: &Job, device: &Arc<Device>, most_open: Option<u32>) -> (Vec<Request>, JobSource) {
    let mut source = source(job, device, most_open);
    let mut seen = Vec::new();
    let mut target = Fixed::new(job.engine.depth, |request| {
        device.serve(request, job.zoned.unwrap().read_beyond);
        seen.push(*request);
        Served::whole(request, Nanos::from_micros(10))
    });
    let (depth, none) = (job.engine.depth, Nanos::ZERO);
    let bounds = Bounds { depth, ramp: none, runtime: job.timing.runtime, spin: none };
    let rule = &mut Unlimited::default();
    let measured = run_source(&mut source, bounds, &mut target, rule, &Control::default()).unwrap();
    assert_eq!(measured.stopped, Stopped::Finished);
    drop(target);
    (seen, source)
}

/// How many zones were reset, and how many finished.
fn changed(source: &JobSource) -> (u64, u64) {
    let times = source.zone_times().unwrap();
    (times.resets.count(), times.finishes.count())
}

fn places(seen: &[Request]) -> Vec<u64> {
    seen.iter().map(|request| request.offset / BLOCK).collect()
}

#[test]
fn writes_in_order_go_from_zone_to_zone_and_full_ones_are_reset() {
    let device = Device::new(&zones(3, &[3, 0, 1], 0));
    let (seen, source) = run(&job("rw=write\nbs=4k\niodepth=4"), &device, None);
    assert_eq!(places(&seen), [0, 1, 2, 16, 17, 18, 33, 34], "the third goes on where it was");
    assert_eq!((changed(&source), device.written()), ((1, 0), vec![3, 3, 3]));
}

#[test]
fn what_is_left_of_a_zone_and_too_short_for_a_write_is_finished() {
    let device = Device::new(&zones(5, &[0, 0], 0));
    let (seen, source) = run(&job("rw=write\nbs=8k\niodepth=2"), &device, Some(1));
    assert_eq!(places(&seen), [0, 2, 16, 18], "a pass over the zones is all of it");
    assert_eq!((changed(&source), device.written()), ((0, 2), vec![5, 5]));
    let finishes = source.zone_times().unwrap().finishes;
    assert_eq!((finishes.mean_ns(), finishes.max()), (Some(1500.0), Some(Nanos(2000))));
}

#[test]
fn what_is_left_is_finished_where_zones_are_no_multiples_of_requests() {
    let device = Device::new(&zones(16, &[0, 0, 0], 0));
    let (seen, source) = run(&job("rw=write\nbs=12k"), &device, None);
    assert_eq!((seen.len(), changed(&source)), (15, (0, 2)));
    assert_eq!(device.written(), [16, 16, 15], "the last zone may yet be written to");
}

#[test]
fn reads_in_order_leave_out_what_was_not_written() {
    let device = Device::new(&zones(8, &[2, 0, 8, 1], 0));
    let (seen, _) = run(&job("rw=read\nbs=4k\niodepth=8"), &device, None);
    assert_eq!(places(&seen), [0, 1, 32, 33, 34, 35, 36, 37, 38, 39, 48]);
    let (seen, _) = run(&job("rw=randread\nbs=4k"), &Device::new(&zones(8, &[0, 0], 0)), None);
    assert!(seen.is_empty(), "nothing can be read");
}

#[test]
fn a_job_with_time_begins_again_with_the_first_zone() {
    let device = Device::new(&zones(4, &[0, 0], 0));
    let timed = job("rw=write\nbs=4k\ntime_based\nruntime=200us");
    let (seen, source) = run(&timed, &device, None);
    assert_eq!(places(&seen)[..9], [0, 1, 2, 3, 16, 17, 18, 19, 0]);
    assert!(changed(&source).0 >= 1, "{:?}", changed(&source));
    let io_size = job("rw=write\nbs=4k\nio_size=48k");
    let (seen, _) = run(&io_size, &Device::new(&zones(4, &[0, 0], 0)), None);
    assert_eq!(seen.len(), 12, "a size that was given goes on into the next pass");
}

#[test]
fn the_first_request_of_a_mix_on_an_empty_device_is_a_write() {
    let device = Device::new(&zones(8, &[0, 0, 0], 0));
    let (seen, _) =
        run(&job("rw=randrw\nbs=4k\nrwmixread=90\nnumber_ios=200\nio_size=1m"), &device, None);
    assert_eq!((seen[0].op, seen.len()), (Op::Write, 200));
    assert!(seen.iter().any(|request| request.op == Op::Read));
}

#[test]
fn a_zone_that_cannot_be_reset_ends_the_job() {
    let all = zones(3, &[3, 3], 0);
    let device = Arc::new(Device { refuses: true, ..Device::of(&all) });
    let (seen, source) = run(&job("rw=write\nbs=4k"), &device, None);
    assert!(seen.is_empty());
    let wanted = Unchanged { at: 0, change: ZoneChange::Reset, errno: 5 };
    assert_eq!(source.cut(), Some(Cut::Zone(wanted)));
}

#[test]
fn writes_stay_in_the_open_zones_until_one_is_full() {
    let mut zones = Zones::new(zones(4, &[0; 8], 0), Some(2));
    let by = asker(0..8, true, BLOCK);
    let mut used = BTreeSet::new();
    for wish in [7 * LEN, 0, 3 * LEN, 5 * LEN, 2 * LEN] {
        let Step::Go { at, .. } = zones.write(&by, wish, BLOCK, false) else { panic!("{zones:?}") };
        zones.written(at, false);
        used.insert(at / LEN);
    }
    assert_eq!(used, BTreeSet::from([0, 7]));
    let each = Asker { most_open: 1, clone: 1, ..by };
    assert!(matches!(zones.write(&each, LEN, BLOCK, false), Step::Go { .. }), "theirs will do");
}

#[test]
fn open_zones_that_a_clone_does_not_use_are_finished_when_it_may_open_no_other() {
    let mut zones = Zones::new(zones(4, &[1, 0, 0, 0], 0), Some(1));
    let by = asker(2..4, true, BLOCK);
    let step = zones.write(&by, 2 * LEN, BLOCK, false);
    assert_eq!(step, Step::Change { zone: 0, change: ZoneChange::Finish });
    assert_eq!(zones.write(&by, 2 * LEN, BLOCK, false), Step::Wait);
    zones.changed(0, ZoneChange::Finish);
    assert_eq!(zones.write(&by, 2 * LEN, BLOCK, false), Step::Go { at: 2 * LEN, len: BLOCK });
    assert_eq!(zones.write(&by, 2 * LEN, BLOCK, false), Step::Wait, "one write a zone");
    assert_eq!(zones.read(&by, 2 * LEN, BLOCK), Step::Through, "not before it is done");
    zones.written(2 * LEN, true);
    let again = Step::Go { at: 2 * LEN, len: BLOCK };
    assert_eq!(zones.write(&by, 2 * LEN, BLOCK, false), again, "what failed is not written");
}

#[test]
fn a_zone_that_is_reset_before_it_is_full_stays_open_for_its_write() {
    let mut zones = Zones::new(zones(4, &[2, 0, 4, 4], 0), Some(1));
    let by = asker(0..4, true, BLOCK);
    let step = zones.write(&by, 3 * LEN, BLOCK, true);
    assert_eq!(step, Step::Change { zone: 0, change: ZoneChange::Reset });
    zones.changed(0, ZoneChange::Reset);
    let step = zones.write(&by, 3 * LEN, BLOCK, false);
    assert_eq!(step, Step::Go { at: 0, len: BLOCK }, "the full zone that was drawn keeps its data");
}

#[test]
fn zones_of_a_host_aware_device_are_written_and_read_anywhere() {
    let mut all = zones(16, &[2, 0, 16, 0], 0);
    for zone in &mut all {
        zone.kind = ZoneKind::SequentialPreferred;
    }
    all[3].condition = ZoneCondition::Offline;
    let mut zones = Zones::new(all, Some(1));
    let by = asker(0..4, true, BLOCK);
    let inside = LEN + 5 * BLOCK;
    for collect in [false, true] {
        let step = zones.write(&by, inside, BLOCK, collect);
        assert_eq!(step, Step::Go { at: inside, len: BLOCK }, "no zone is opened or reset");
    }
    let across = 2 * LEN - BLOCK;
    assert_eq!(zones.read(&by, across, 3 * BLOCK), Step::Go { at: across, len: 3 * BLOCK });
    let last = 3 * LEN - BLOCK;
    let by = Asker { random: false, ..by };
    assert_eq!(zones.read(&by, last, 3 * BLOCK), Step::Go { at: last, len: BLOCK });
    assert_eq!(zones.read(&by, 3 * LEN, BLOCK), Step::Through, "an offline zone cannot be read");
}

#[test]
fn written_zones_are_given_up_as_often_as_was_asked_once_enough_is_written() {
    let all = zones(16, &[2; 5], 1);
    let device = Device::new(&all);
    let shared = SharedZones::new(Zones::new(all, None), Arc::clone(&device) as Arc<_>);
    let shared = Arc::new(shared);
    let collecting = |from| Some(Collecting { every: 5, from });
    let resets = |from| {
        let by = asker(0..5, true, BLOCK);
        let mut follow = Follow::new(Arc::clone(&shared), by, collecting(from));
        for i in 0..20 {
            let wish = (i % 4 + 1) * LEN;
            let place = follow.place(Op::Write, wish, BLOCK, Nanos::ZERO).unwrap();
            let Placed::At(at, _) = place else { panic!("{place:?}") };
            follow.done(Op::Write, at, false);
        }
        follow.times().resets.count()
    };
    assert_eq!(resets(0.9), 0, "the conventional zone does not count as written");
    assert_eq!(resets(0.1), 3);
}

#[test]
fn a_change_that_takes_time_is_over_when_it_has_passed() {
    let all = zones(16, &[16, 0], 0);
    let device = Arc::new(Device { is_timed: true, ..Device::of(&all) });
    let shared = Arc::new(SharedZones::new(Zones::new(all, None), device as Arc<_>));
    let mut follow = Follow::new(Arc::clone(&shared), asker(0..2, true, BLOCK), None);
    let mut at = |now| follow.place(Op::Write, 0, BLOCK, Nanos(now)).unwrap();
    assert_eq!(at(100), Placed::NotBefore(Nanos(1100)));
    assert_eq!(at(1099), Placed::NotBefore(Nanos(1100)), "asked again too early");
    assert_eq!(shared.lock().write(&asker(0..2, true, BLOCK), 0, BLOCK, false), Step::Wait);
    assert_eq!(at(1100), Placed::At(0, BLOCK));
    assert_eq!(follow.times().resets.count(), 1);
}

proptest! {
    #[test]
    fn whatever_a_job_asks_for_the_device_takes_it(
        random: bool, kind in 0usize..3, blocks in 1u64..4, more in 0u64..3, depth in 1u32..9,
        capacity in 6u64..=16, written in proptest::collection::vec(0u64..=16, 2..10),
        plain in 0usize..3, most_open in 1u32..5, beyond: bool,
    ) {
        let order = if random { "rand" } else { "" };
        let kind = ["read", "write", "rw"][kind];
        let (least, most) = (blocks * BLOCK, (blocks + more) * BLOCK);
        let job = job(&format!(
            "rw={order}{kind}\nbsrange={least}-{most}\niodepth={depth}\nio_size=1m\n\
             read_beyond_wp={}",
            u8::from(beyond),
        ));
        let before = zones(capacity, &written, plain);
        let device = Device::new(&before);
        let open = device.open();
        let (seen, _) = run(&job, &device, Some(most_open));
        prop_assert!(device.open() <= open.max(most_open as usize));
        prop_assert!(kind == "read" || !seen.is_empty());
        prop_assert!(seen.iter().all(|r| u64::from(r.len) % least == 0));
    }
}
