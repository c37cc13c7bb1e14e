use super::*;
use seekwell_io::request::Op;
use seekwell_sys::fake::Fake;
use seekwell_trace::record::{Flags, Stamp};
use seekwell_trace::source::Device;
use seekwell_trace::stats::document::Span;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn tables(disks: &[&str]) -> Tables {
    let device = |name: &&str| Device { name: (*name).to_owned(), ..Device::default() };
    let processes = ["", "db", "kworker"].map(str::to_owned).to_vec();
    Tables { devices: disks.iter().map(device).collect(), processes }
}

/// A system with these disks.
fn system(disks: &[&str]) -> Fake {
    let add = |fake: Fake, name: &&str| fake.file(format!("/sys/class/block/{name}/dev"), "8:0");
    disks.iter().fold(Fake::new(), add)
}

/// A read of 4 KiB that waits `queue` in the queue and takes `device` there.
fn read(at: u64, queue: u64, device: u64) -> Record {
    Record {
        queued: Stamp::at(Nanos(at)),
        issued: Stamp::at(Nanos(at + queue)),
        completed: Stamp::at(Nanos(at + queue + device)),
        pid: 7,
        process: 1,
        ..Record::new(Op::Read, 0, 4096)
    }
}

fn waiting(at: u64) -> Record {
    Record { completed: Stamp::NONE, ..read(at, MS, 0) }
}

fn end(meter: &mut Meter, until: u64, outstanding: &[Record]) -> Vec<Disk> {
    let (tables, view) = (tables(&["sda"]), system(&["sda"]));
    meter.end(Nanos(until), outstanding.iter().copied(), 0, &tables, &view).1
}

#[test]
fn an_interval_holds_the_rates_times_and_depth_of_what_completed_in_it() {
    let mut meter = Meter::new(Nanos(0), 5);
    // Two at a time, each 4 ms, one of them in the queue.
    let records: Vec<Record> = (0..500).map(|i| read(i / 2 * 4 * MS, MS, 3 * MS)).collect();
    meter.add(&records);
    let disks = end(&mut meter, 2 * SECOND, &[]);
    let [disk] = &disks[..] else { panic!("{disks:?}") };
    assert_eq!((disk.seen, disk.requests, disk.requests_per_s), (Some(Seen::Requests), 500, 250.0));
    assert_eq!(disk.flow(Op::Read).map(|flow| flow.bytes_per_s), Some(250.0 * 4096.0));
    assert_eq!(disk.flow(Op::Write), None);
    assert_eq!(disk.requests_at_device, Some(500));
    let median = |span| disk.latency(span).unwrap().latency_ns_p50.unwrap() / MS;
    assert_eq!([Span::QueueToIssue, Span::IssueToComplete].map(median), [1, 3]);
    let response = disk.latency(Span::QueueToComplete).unwrap();
    assert_eq!((response.latency_ns_max, response.latency_ns_p99_9), (4 * MS, None));
    assert_eq!((disk.depth_mean, disk.depth_max, disk.busy_share), (1.0, Some(2), 0.5));
    assert_eq!((disk.outstanding, disk.oldest_ns), (0, None));
    let process = &disk.processes[0];
    assert_eq!((process.process.as_str(), process.pid, process.requests), ("db", 7, 500));
    assert_eq!(process.waited_ns, 500 * 4 * MS);
    // The next one begins with nothing.
    let disks = end(&mut meter, 3 * SECOND, &[]);
    assert_eq!((disks[0].requests, disks[0].depth_mean, disks[0].depth_max), (0, 0.0, Some(0)));
    assert!(disks[0].latencies.is_empty() && disks[0].processes.is_empty());
}

/// A hung disk completes nothing, so a view of what completes shows it as idle.
#[test]
fn a_request_that_never_completes_is_seen_in_every_interval() {
    let mut meter = Meter::new(Nanos(0), 5);
    let hung = [waiting(SECOND / 2)];
    let disk = &end(&mut meter, SECOND, &hung)[0];
    assert_eq!((disk.requests, disk.outstanding, disk.oldest_ns), (0, 1, Some(SECOND / 2)));
    assert_eq!((disk.depth_mean, disk.depth_max, disk.busy_share), (0.5, Some(1), 0.5));
    let disk = &end(&mut meter, 12 * SECOND, &hung)[0];
    assert_eq!(disk.oldest_ns, Some(11 * SECOND + SECOND / 2));
    assert_eq!((disk.depth_mean, disk.depth_max, disk.busy_share), (1.0, Some(1), 1.0));
    // It ends after all.
    meter.add(&[read(SECOND / 2, MS, 12 * SECOND)]);
    let disk = &end(&mut meter, 13 * SECOND, &[])[0];
    assert_eq!((disk.requests, disk.oldest_ns), (1, None));
    assert_eq!(disk.latencies[0].latency_ns_max, MS);
}

#[test]
fn bios_of_a_driver_without_a_queue_have_a_response_time_alone() {
    let mut meter = Meter::new(Nanos(0), 5);
    let bio = |at| Record { issued: Stamp::NONE, ..read(at, 0, MS) };
    meter.add(&[bio(0), bio(2 * MS)]);
    let disk = &end(&mut meter, SECOND, &[])[0];
    assert_eq!((disk.seen, disk.requests_at_device), (Some(Seen::Bios), None));
    let spans: Vec<Span> = disk.latencies.iter().map(|latency| latency.span).collect();
    assert_eq!(spans, [Span::QueueToComplete]);
}

#[test]
fn merged_requests_count_as_they_were_asked_for_and_their_carrier_at_the_device() {
    let mut meter = Meter::new(Nanos(0), 5);
    let bio = Record { flags: Flags::BIO, ..read(0, MS, MS) };
    let carrier =
        Record { queued: Stamp::NONE, flags: Flags::REQUEST, len: 8192, ..read(0, MS, MS) };
    meter.add(&[bio, bio, carrier]);
    let disk = &end(&mut meter, SECOND, &[])[0];
    assert_eq!((disk.requests, disk.requests_at_device), (2, Some(1)));
    assert_eq!(disk.flow(Op::Read).map(|flow| flow.bytes), Some(8192));
    let counts = |span| disk.latency(span).map(|latency| latency.requests);
    assert_eq!(Span::ALL.map(counts), [Some(2), Some(1), Some(2)]);
    assert_eq!((disk.depth_max, disk.processes[0].requests), (Some(2), 2));
}

#[test]
fn disks_come_and_go_and_the_busiest_is_first() {
    let mut meter = Meter::new(Nanos(0), 5);
    let on = |device, record| Record { device, ..record };
    meter.add(&[on(0, read(0, 0, MS)), on(1, read(0, 0, 9 * MS))]);
    let names = |disks: &[Disk]| disks.iter().map(|d| d.device.clone()).collect::<Vec<_>>();
    let two = tables(&["sda", "sdb"]);
    let both = system(&["sda", "sdb"]);
    let (_, disks) = meter.end(Nanos(SECOND), std::iter::empty(), 0, &two, &both);
    assert_eq!(names(&disks), ["sdb", "sda"]);
    // One is unplugged while it is idle; a third appears.
    meter.add(&[on(2, read(SECOND, 0, MS))]);
    let three = tables(&["sda", "sdb", "sdc"]);
    let (_, disks) = meter.end(Nanos(2 * SECOND), std::iter::empty(), 0, &three, &system(&["sdb"]));
    assert_eq!(names(&disks), ["sdc", "sdb"]);
}

/// The end of a request was lost, and it was shown as outstanding for ever.
#[test]
fn after_lost_events_a_request_is_outstanding_only_while_the_kernel_has_any_under_way() {
    let tables = tables(&["sda"]);
    let view = |inflight| system(&["sda"]).file("/sys/class/block/sda/inflight", inflight);
    let (busy, idle) = (view("       1        0\n"), view("       0        0\n"));
    let mut meter = Meter::new(Nanos(0), 5);
    let mut outstanding = |until, lost, view: &Fake, all: &[u64]| {
        let all = all.iter().map(|at| waiting(*at));
        let (lost, disks) = meter.end(Nanos(until), all, lost, &tables, view);
        (lost, disks[0].outstanding)
    };
    assert_eq!(outstanding(SECOND, 0, &idle, &[5]), (0, 1));
    assert_eq!(outstanding(2 * SECOND, 9, &busy, &[5]), (9, 1));
    assert_eq!(outstanding(3 * SECOND, 9, &idle, &[5, 2 * SECOND + 1]), (0, 1));
    assert_eq!(outstanding(4 * SECOND, 9, &busy, &[5, 2 * SECOND + 1]), (0, 1));
}

/// Whoever looks because a disk hangs comes after its requests were queued.
#[test]
fn requests_that_hung_before_anybody_looked_are_those_the_kernel_counts() {
    let tables = tables(&["sda"]);
    let hung = system(&["sda"]).file("/sys/class/block/sda/inflight", "       1        2\n");
    let mut meter = Meter::new(Nanos(0), 5);
    let mut end = |until, view: &Fake| {
        let (_, disks) = meter.end(Nanos(until), std::iter::empty(), 0, &tables, view);
        (disks[0].outstanding, disks[0].oldest_ns, disks[0].depth_mean)
    };
    assert_eq!(end(SECOND, &hung), (0, None, 0.0), "it may have come since");
    assert_eq!(end(2 * SECOND, &hung), (3, Some(SECOND), 3.0));
    assert_eq!(end(9 * SECOND, &hung), (3, Some(8 * SECOND), 3.0));
    assert_eq!(end(10 * SECOND, &system(&["sda"])), (0, None, 0.0));
}

#[test]
fn threads_count_as_their_process_and_the_first_by_bytes_and_by_waiting_are_kept() {
    let view = system(&["sda"])
        .file("/proc/8/status", "Name:\tworker\nTgid:\t7\nPid:\t8\n")
        .file("/proc/7/comm", "database\n")
        .file("/proc/7/status", "Name:\tdatabase\nTgid:\t7\n");
    let by = |pid, process, len, took| Record { pid, process, len, ..read(0, 0, took) };
    let mut meter = Meter::new(Nanos(0), 1);
    // A name of the trace stays where the task is the process itself.
    meter.add(&[by(8, 1, 512, 90 * MS), by(9, 2, 1 << 20, MS), by(10, 2, 8, 2 * MS)]);
    let (_, disks) = meter.end(Nanos(SECOND), std::iter::empty(), 0, &tables(&["sda"]), &view);
    let told = |p: &Process| (p.process.clone(), p.pid, p.bytes);
    let told: Vec<_> = disks[0].processes.iter().map(told).collect();
    assert_eq!(told, [("kworker".to_owned(), 9, 1 << 20), ("database".to_owned(), 7, 512)]);
}

#[test]
fn the_depth_is_that_of_a_sweep_over_every_moment() {
    // Three at once for a moment far shorter than the interval, one from before it.
    let (mut arrivals, mut ends) = (vec![30, 10, 31, 32], vec![33, 34, 20, 35]);
    assert_eq!(sweep(&mut arrivals, &mut ends, 15, 100), (5 + 3 + 3 + 3, 5 + 5, 3));
    assert_eq!(sweep(&mut [], &mut [], 0, 100), (0, 0, 0));
    assert_eq!(sweep(&mut [7], &mut [7], 0, 100), (0, 0, 1));
}
