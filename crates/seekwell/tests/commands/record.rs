//! Recording, on loop devices made for it: what was issued is what is in the trace.

use crate::common::{
    self, LONG, Loop, Ran, done, is_root, run, seekwell, signal, skip, tool, wait_for,
};
use seekwell_io::request::Op;
use seekwell_trace::formats;
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{About, Tables, TraceSource};
use seekwell_trace::store;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

/// A loop device and a folder for what is recorded of it; nothing if recording is impossible.
struct Scene {
    disk: Loop,
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Option<Self> {
        let disk = Loop::new(64 << 20)?;
        let home = tempfile::tempdir().unwrap();
        let scene = Self { disk, home };
        let ran = scene.record(&[], &["true"]);
        if ran.status == 3 {
            skip(&format!("no recording here: {}", ran.err));
            return None;
        }
        assert_eq!(ran.status, 0, "{}", ran.err);
        fs::remove_file(scene.trace()).unwrap();
        Some(scene)
    }

    fn trace(&self) -> PathBuf {
        self.home.path().join("t.parquet")
    }

    /// Records while a command runs.
    fn record(&self, switches: &[&str], command: &[&str]) -> Ran {
        let mut program = seekwell(self.home.path());
        program.args(["record", &self.disk.device, "--json", "-o"]).arg(self.trace());
        program.args(switches).arg("--").args(command);
        done(program.output().unwrap())
    }

    /// Records in the background, and waits until it does.
    fn begin(&self, via: &str) -> Child {
        let mut program = seekwell(self.home.path());
        let words = ["record", &self.disk.device, "--via", via, "--json", "-o"];
        program.args(words).arg(self.trace());
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The output is begun once the events are switched on.
        wait_for("the recording", || store::part_of(&self.trace()).is_some());
        child
    }

    fn file(&self) -> fs::File {
        fs::OpenOptions::new().read(true).write(true).open(&self.disk.device).unwrap()
    }
}

fn queue_of(device: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("/sys/block/{}/queue/{name}", device.trim_start_matches("/dev/")))
}

/// Where tracefs is; the tests that look into it need it mounted at its place.
fn tracefs() -> Option<&'static Path> {
    let place = Path::new("/sys/kernel/tracing");
    if place.join("instances").is_dir() {
        return Some(place);
    }
    skip("tracefs is not mounted at /sys/kernel/tracing");
    None
}

/// The one instance of a process that records.
fn instance_of(pid: u32) -> PathBuf {
    let place = Path::new("/sys/kernel/tracing/instances");
    let begins = format!("seekwell-{pid}-");
    let of_it = common::names(place).into_iter().find(|name| name.starts_with(&begins));
    place.join(of_it.expect("it records"))
}

fn read(path: &Path) -> (Vec<Record>, About, Tables) {
    let mut source = formats::open_file(path, &formats::Reading::default()).unwrap();
    let (mut records, mut before) = (Vec::new(), usize::MAX);
    while records.len() != before {
        before = records.len();
        source.read(&mut records).unwrap();
    }
    (records, source.about().clone(), source.tables().clone())
}

/// Operation, first byte and bytes of each request, sorted.
fn places(records: &[Record]) -> Vec<(u8, u64, u32)> {
    let mut places: Vec<_> = records.iter().map(|r| (r.op as u8, r.offset, r.len)).collect();
    places.sort_unstable();
    places
}

/// Reads, sectors read, writes and sectors written, as the kernel counts them.
fn counted(device: &str) -> [u64; 4] {
    let fields = common::counters(device);
    [fields[0], fields[2], fields[4], fields[6]]
}

/// Requests of known places and sizes by dd, past the page cache and one at a time.
fn load(device: &str) -> String {
    format!(
        "dd if=/dev/zero of={device} bs=8k count=50 seek=10 oflag=direct conv=notrunc status=none \
         && \
         dd if={device} of=/dev/null bs=4k count=70 skip=300 iflag=direct status=none && \
         dd if=/dev/zero of={device} bs=64k count=3 seek=100 oflag=direct conv=notrunc,fsync \
         status=none"
    )
}

#[test]
fn what_was_issued_is_in_the_trace_request_by_request() {
    let Some(scene) = Scene::new() else { return };
    for via in ["tracefs", "bpf"] {
        let before = counted(&scene.disk.device);
        let ran = scene.record(&["--via", via], &["sh", "-c", &load(&scene.disk.device)]);
        assert_eq!(ran.status, 0, "{via}: {}", ran.err);
        let after = counted(&scene.disk.device);
        let (records, about, tables) = read(&scene.trace());
        let by_dd: Vec<Record> = records
            .iter()
            .filter(|r| tables.processes[r.process as usize] == "dd" && r.was_asked_for())
            .copied()
            .collect();
        let mut expected: Vec<(u8, u64, u32)> = Vec::new();
        expected.extend((0..50).map(|i| (Op::Write as u8, (10 + i) * 8192, 8192)));
        expected.extend((0..70).map(|i| (Op::Read as u8, (300 + i) * 4096, 4096)));
        expected.extend((0..3).map(|i| (Op::Write as u8, (100 + i) * 65536, 65536)));
        expected.push((Op::Flush as u8, 0, 0));
        expected.sort_unstable();
        assert_eq!(places(&by_dd), expected, "{via}");
        let whole = |op: Op| records.iter().filter(move |r| r.op == op && r.reached_device());
        let count = |op| whole(op).count() as u64;
        let sectors = |op| whole(op).map(|r| u64::from(r.len) / 512).sum::<u64>();
        let at_device = records.iter().filter(|r| r.reached_device()).count();
        let [reads, sectors_read, writes, sectors_written] =
            std::array::from_fn(|i| after[i] - before[i]);
        assert_eq!((count(Op::Read), sectors(Op::Read)), (reads, sectors_read), "{via}");
        // What asks for a flush is counted as a write of nothing.
        let written = count(Op::Write) + count(Op::Flush);
        assert_eq!((written, sectors(Op::Write)), (writes, sectors_written), "{via}");
        for r in &by_dd {
            assert!(r.queued.get().is_some() && r.queued.get() <= r.completed.get(), "{r:?}");
        }
        assert!(about.complete() && about.losses.unfinished == 0, "{via}: {about:?}");
        assert!(about.recording_cost_ns_per_request.is_some());
        let json = ran.json();
        assert_eq!(json["schema"], "seekwell/record/1");
        assert_eq!(json["via"], via);
        let asked = records.iter().filter(|r| r.was_asked_for()).count();
        assert_eq!(
            (&json["requests"], &json["requests_at_device"]),
            (&asked.into(), &at_device.into())
        );
        common::schema::complete(&["record-1.json"], std::slice::from_ref(&json), &[]);
        fs::remove_file(scene.trace()).unwrap();
    }
}

/// Whether the kernel is one of those of virtual machines that do not run BPF programs while PID 1
/// runs: requests that complete in that time were issued and never end.
fn hides_pid_1() -> bool {
    let types = fs::read("/sys/kernel/btf/vmlinux").unwrap_or_default();
    types.windows(10).any(|name| name == b"init_owned")
}

/// Where there is no tag the kernel refuses what must not wait, and the ring asks again: 100,000
/// reads were recorded as 177,305, of which 77,305 never ended, and the status was 0.
#[test]
fn a_ring_deeper_than_the_devices_tags_is_recorded_request_by_request() {
    let Some(scene) = Scene::new() else { return };
    if tool("fio", &["--version"]).is_none() {
        skip("no fio");
        return;
    }
    let file = format!("--filename={}", scene.disk.device);
    let mut command = vec!["fio", "--name=x", &file, "--rw=randread", "--bs=4k", "--direct=1"];
    command.extend(["--ioengine=io_uring", "--iodepth=256", "--loops=2"]);
    for via in ["tracefs", "bpf"] {
        let before = counted(&scene.disk.device);
        let ran = scene.record(&["--via", via], &command);
        let after = counted(&scene.disk.device);
        if ran.status == 1 {
            skip(&format!("fio has no io_uring here: {}", ran.err));
            return;
        }
        assert_eq!(ran.status, 0, "{}", ran.err);
        let json = ran.json();
        let (records, about, tables) = read(&scene.trace());
        let by_fio = |r: &&Record| {
            let name = &tables.processes[r.process as usize];
            r.was_asked_for() && (name == "fio" || name.starts_with("iou-"))
        };
        assert_eq!(records.iter().filter(by_fio).count(), 2 * (64 << 20) / 4096);
        let at_device = records.iter().filter(|r| r.reached_device() && r.op == Op::Read);
        assert_eq!(at_device.count() as u64, after[0] - before[0]);
        let unfinished: Vec<_> = records.iter().filter(|r| r.completed == Stamp::NONE).collect();
        assert!(unfinished.iter().all(|r| r.issued != Stamp::NONE), "{json} {unfinished:?}");
        let most = if via == "bpf" && hides_pid_1() { records.len() / 10 } else { 0 };
        assert!(unfinished.len() <= most && about.losses.lost_events == 0, "{json}");
        assert_eq!(json["unfinished"].as_u64(), Some(unfinished.len() as u64));
        assert!(about.complete() || !unfinished.is_empty(), "{json}");
        if json["refused"] == 0 {
            skip("this kernel refused nothing, so there was nothing to count twice");
        }
        fs::remove_file(scene.trace()).unwrap();
    }
}

/// 60,000 buffered writes reached the device as 469 requests; the trace had only the 60,000, so it
/// showed thousands under way on a device of 128 tags, and a replay blamed a full device.
#[test]
fn merged_writes_are_recorded_with_the_requests_that_carried_them() {
    let Some(scene) = Scene::new() else { return };
    let load = format!(
        "dd if=/dev/zero of={} bs=4k count=8000 conv=notrunc,fsync status=none",
        scene.disk.device
    );
    let before = counted(&scene.disk.device);
    let ran = scene.record(&[], &["sh", "-c", &load]);
    let after = counted(&scene.disk.device);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let (records, ..) = read(&scene.trace());
    let of = |op: Op, keep: fn(&Record) -> bool| {
        let kept: Vec<_> = records.iter().filter(|r| r.op == op && keep(r)).copied().collect();
        (kept.len() as u64, kept.iter().map(|r| u64::from(r.len) / 512).sum::<u64>())
    };
    let (asked, asked_sectors) = of(Op::Write, Record::was_asked_for);
    let (got, got_sectors) = of(Op::Write, Record::reached_device);
    assert!(asked >= 8000 && got < asked / 2, "{asked} writes, {got} at the device");
    // What asks for a flush is counted as a write of nothing.
    let flushes = of(Op::Flush, Record::was_asked_for).0;
    assert_eq!(got + flushes, after[2] - before[2]);
    assert_eq!((asked_sectors, got_sectors), (after[3] - before[3], after[3] - before[3]));
    let json = ran.json();
    assert_eq!(json["requests"].as_u64(), Some(asked + flushes));
    assert_eq!(
        json["requests_at_device"].as_u64(),
        Some(got + of(Op::Flush, Record::reached_device).0)
    );

    let trace = scene.trace();
    let trace = trace.to_str().unwrap();
    let stats = run(scene.home.path(), &["trace", "stats", trace, "--json"]).json();
    let tags = fs::read_to_string(queue_of(&scene.disk.device, "nr_requests")).unwrap();
    let tags: u64 = tags.trim().parse().unwrap();
    assert!(stats["device_queue"]["deepest"].as_u64().unwrap() <= tags, "{stats}");
    assert_eq!(stats["device_queue"]["requests"], json["requests_at_device"]);
    let info = run(scene.home.path(), &["trace", "info", trace, "--json"]).json();
    assert_eq!(info["requests_at_device"], json["requests_at_device"]);
    for times in ["queue", "issue"] {
        let words = ["replay", trace, "--on", "null", "--times", times, "--late", "10s"];
        let played = run(scene.home.path(), &[&words[..], &["--json", "--no-keep"]].concat());
        let fidelity = &played.json()["phases"][0]["repeats"][0]["fidelity"];
        assert_eq!(fidelity["issued"], json["requests_at_device"], "{}", played.err);
        assert_eq!(fidelity["verdict"], "kept-up", "{times}");
    }
    // Written for another program and read again it is the same.
    let other = scene.home.path().join("t.blktrace");
    let other = other.to_str().unwrap();
    assert_eq!(
        run(scene.home.path(), &["trace", "convert", trace, other, "--to", "blktrace"]).status,
        0
    );
    let info = run(scene.home.path(), &["trace", "info", other, "--json"]).json();
    assert_eq!(info["requests"], json["requests"]);
    assert_eq!(info["requests_at_device"], json["requests_at_device"]);
}

#[test]
fn the_status_of_the_command_is_passed_on() {
    let Some(scene) = Scene::new() else { return };
    assert_eq!(scene.record(&[], &["sh", "-c", "exit 42"]).status, 42);
    fs::remove_file(scene.trace()).unwrap();
    let absent = scene.record(&[], &["/no/such/program"]).ends(127);
    assert!(absent.err.contains("/no/such/program"));
}

#[test]
fn requests_of_other_processes_are_left_out_when_one_is_named() {
    let Some(scene) = Scene::new() else { return };
    let other = format!("cat {} > /dev/null; {}", scene.disk.device, load(&scene.disk.device));
    scene.record(&["--process", "dd"], &["sh", "-c", &other]).ends(0);
    let (records, _, tables) = read(&scene.trace());
    let asked = records.iter().filter(|r| r.was_asked_for());
    assert_eq!(asked.count(), 50 + 70 + 3 + 1);
    assert!(records.iter().all(|r| tables.processes[r.process as usize] == "dd"));
    fs::remove_file(scene.trace()).unwrap();
    // The shell itself makes no requests, and dd is another process.
    let mut shell = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pid = shell.id().to_string();
    let ran = scene.record(&["--pid", &pid], &["sh", "-c", &load(&scene.disk.device)]);
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!((ran.status, ran.json()["requests"].as_u64()), (0, Some(0)), "{}", ran.err);
    assert_eq!(ran.json()["unfinished"], 0);
}

#[test]
fn a_recording_without_an_end_is_ended_by_ctrl_c_and_leaves_nothing_in_tracefs() {
    let Some(scene) = Scene::new() else { return };
    if tracefs().is_none() {
        return;
    }
    let ways = [("INT", "tracefs"), ("TERM", "tracefs"), ("HUP", "tracefs"), ("INT", "auto")];
    for (name, via) in ways {
        let child = scene.begin(via);
        let instance = (via == "tracefs").then(|| instance_of(child.id()));
        scene.file().write_all_at(&[7; 4096], 8192).unwrap();
        tool("sync", &[&scene.disk.device]).unwrap();
        signal(&child, name);
        let ran = done(child.wait_with_output().unwrap());
        assert_eq!(ran.status, 0, "{name}: {}", ran.err);
        assert!(instance.is_none_or(|instance| !instance.exists()), "{name}");
        let (records, about, _) = read(&scene.trace());
        let writes: Vec<_> = records.iter().filter(|r| r.op == Op::Write).collect();
        assert_eq!((writes.len(), writes[0].offset, writes[0].len), (1, 8192, 4096), "{name}");
        assert!(!about.cut_short);
        fs::remove_file(scene.trace()).unwrap();
    }
}

#[test]
fn what_a_killed_recording_leaves_is_removed_by_the_next_one() {
    let Some(scene) = Scene::new() else { return };
    if tracefs().is_none() {
        return;
    }
    let mut child = scene.begin("tracefs");
    let instance = instance_of(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel itself stops it and frees its buffers. Another test's command may remove the
    // instance at any moment from here on.
    let off = || match fs::read_to_string(instance.join("tracing_on")) {
        Ok(on) => on.trim() == "0",
        Err(_) => !instance.exists(),
    };
    wait_for("the end of tracing", off);
    let begun = Instant::now();
    assert_eq!(scene.record(&[], &["true"]).status, 0);
    assert!(!instance.exists());
    assert!(begun.elapsed() < LONG);
}

#[test]
fn every_command_that_measures_removes_what_a_killed_recording_left_in_tracefs_and_nothing_else() {
    let Some(tracefs) = tracefs().filter(|_| is_root()) else { return };
    let home = tempfile::tempdir().unwrap();
    // No process has the largest number.
    let left = tracefs.join("instances/seekwell-4294967295-1-0123456789abcdef");
    let theirs = tracefs.join(format!("instances/seekwell-{}-theirs", std::process::id()));
    fs::create_dir(&theirs).unwrap();
    let _clean = Instances([left.clone(), theirs.clone()]);
    for words in [
        &["replay", "no-such-trace.parquet", "--on", "null"][..],
        &["trace", "list"],
        &["bench", "--on", "null", "--rw=read", "--runtime=1ms", "--no-keep"],
        &["tune", "plan", "/no/such/disk"],
        &["record", "/no/such/disk", "-o", "t.parquet"],
    ] {
        fs::create_dir(&left).unwrap();
        run(home.path(), words);
        assert!(!left.exists() && theirs.exists(), "{words:?}");
    }
}

/// Instances that are gone when this is dropped.
struct Instances([PathBuf; 2]);

impl Drop for Instances {
    fn drop(&mut self) {
        for instance in &self.0 {
            let _ = fs::remove_dir(instance);
        }
    }
}

#[test]
fn a_buffer_that_is_too_small_loses_events_and_the_trace_says_so_for_ever() {
    let Some(scene) = Scene::new() else { return };
    if tool("fio", &["--version"]).is_none() {
        skip("no fio");
        return;
    }
    let file = format!("--filename={}", scene.disk.device);
    let mut command = vec!["fio", "--name=x", &file, "--rw=randread", "--bs=512", "--direct=1"];
    command.extend(["--ioengine=libaio", "--iodepth=64", "--time_based", "--runtime=2"]);
    let ran = scene.record(&["--buffer", "8k"], &command);
    let (_, about, _) = read(&scene.trace());
    if about.losses.lost_events == 0 {
        skip("this machine is too slow to lose events");
        return;
    }
    assert_eq!(ran.status, 4, "{}", ran.err);
    assert!(ran.err.contains("--buffer"), "{}", ran.err);
    assert!(!about.complete());
    assert_eq!(ran.json()["complete"], false);
}

#[test]
fn without_privileges_it_says_in_a_sentence_what_it_takes() {
    if !is_root() || tool("setpriv", &["--version"]).is_none() {
        skip("no way to be somebody else");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let program = seekwell(home.path());
    // A folder that every user can read.
    let copy = tempfile::Builder::new()
        .prefix("seekwell-record-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()
        .unwrap();
    let file = copy.path().join("seekwell");
    // By another program: a copy of our own is "text busy" while any test starts a child.
    tool("cp", &[program.get_program().to_str().unwrap(), file.to_str().unwrap()]);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&file);
    command.args(["record", "/", "-o", "/tmp/never.parquet", "--for", "1s"]);
    let ran = done(command.output().unwrap());
    if ran.status == 2 {
        skip(&format!("no disk under / here: {}", ran.err));
        return;
    }
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.err.contains("sudo"), "{}", ran.err);
}

#[test]
fn a_target_without_a_disk_is_refused_before_anything_is_made() {
    let home = tempfile::tempdir().unwrap();
    let trace = home.path().join("t.parquet");
    let ran = run(home.path(), &["record", "/proc", "-o", trace.to_str().unwrap(), "--for", "1s"])
        .ends(2);
    assert!(ran.err.contains("no block device"), "{}", ran.err);
    assert!(!trace.exists());
}
