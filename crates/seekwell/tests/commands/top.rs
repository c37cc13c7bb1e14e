//! The live view, on devices made for it.

use crate::common::schema::complete;
use crate::common::{Loop, counters, done, is_root, seekwell, signal, skip, tool, wait_for};
use crate::common::{Ran, run, terminal::Terminal, zram::Zram};
use seekwell_io::histogram::Histogram;
use seekwell_trace::formats;
use seekwell_trace::record::Record;
use seekwell_trace::source::TraceSource;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A loop device and a home; nothing if nothing can be traced.
struct Scene {
    disk: Loop,
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Option<Self> {
        let scene = Self { disk: Loop::new(64 << 20)?, home: tempfile::tempdir().unwrap() };
        let ran = scene.run(&["top", &scene.disk.device, "--for", "1ms"]);
        if ran.status == 3 {
            skip(&format!("no recording here: {}", ran.err));
            return None;
        }
        assert_eq!(ran.status, 0, "{}", ran.err);
        Some(scene)
    }

    fn run(&self, words: &[&str]) -> Ran {
        run(self.home.path(), words)
    }

    /// Starts a view whose output is kept, and waits until it traces.
    fn view(&self, words: &[&str], out: impl Into<Stdio>) -> Child {
        let mut program = seekwell(self.home.path());
        program.arg("top").args(words).stdout(out).stderr(Stdio::piped());
        let view = program.spawn().unwrap();
        let process = format!("/proc/{}", view.id());
        let reads = || {
            let threads = fs::read_dir(format!("{process}/task")).unwrap().flatten();
            let mut names = threads.map(|t| fs::read_to_string(t.path().join("comm")));
            names.any(|name| name.is_ok_and(|name| name.contains("-trace")))
        };
        // A thread reads events, or the last of four programs is in its place.
        let links = || {
            let files = fs::read_dir(format!("{process}/fdinfo")).unwrap().flatten();
            let texts = files.map(|file| fs::read_to_string(file.path()).unwrap_or_default());
            texts.filter(|text| text.contains("link_type:")).count()
        };
        wait_for("tracing", || reads() || links() == 4);
        view
    }

    fn name(&self) -> &str {
        self.disk.device.trim_start_matches("/dev/")
    }
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Random reads at depth 4 by the program itself, and what it says of them.
fn load(scene: &Scene, device: &str) -> Value {
    let words = ["bench", "--on", device, "--rw=randread", "--bs=4k", "--iodepth=4"];
    let words = [&words[..], &["--rate_iops=2000", "--runtime=6s", "--no-keep", "--json"]].concat();
    let ran = scene.run(&words);
    assert!([0, 4].contains(&ran.status), "{}", ran.err);
    ran.json()
}

/// The most completions that a test accepts as missed: some kernels skip programs while process 1
/// runs. One completed request may stand for 256 merged writes.
const MOST_LOST: u64 = 300;

fn lost(intervals: &[Value]) -> u64 {
    intervals.iter().map(|interval| interval["lost_events"].as_u64().unwrap()).sum()
}

/// What an interval says of a disk.
fn of<'a>(interval: &'a Value, name: &str) -> Option<&'a Value> {
    interval["devices"].as_array().unwrap().iter().find(|disk| disk["device"] == name)
}

/// The intervals of a view in which there was a load.
fn busy<'a>(intervals: &'a [Value], name: &str) -> Vec<&'a Value> {
    let all = intervals.iter().filter_map(|interval| of(interval, name));
    all.filter(|disk| number(&disk["requests_per_s"]) > 1000.0).collect()
}

#[test]
fn the_rate_the_times_and_the_process_are_those_of_the_load() {
    let Some(scene) = Scene::new() else { return };
    let view = scene.view(&[&scene.disk.device, "--json", "--for", "7s"], Stdio::piped());
    let document = load(&scene, &scene.disk.device);
    let seen = done(view.wait_with_output().unwrap()).ends(0);
    let intervals = lines(&seen);
    assert!((6..=7).contains(&intervals.len()), "{}", seen.out);
    complete(&["top-1.json", "common.json#/$defs/latency"], &intervals, &[]);
    assert!(lost(&intervals) <= MOST_LOST, "{}", seen.out);
    let busy = busy(&intervals, scene.name());
    assert!(busy.len() >= 3, "{}", seen.out);
    // On a busy machine a request comes later, in another interval.
    let in_one = |interval: &Value| {
        let disk = of(interval, scene.name());
        disk.map_or(0.0, |disk| number(&disk["requests_per_s"]) * number(&interval["interval_s"]))
    };
    let counted: f64 = intervals.iter().map(in_one).sum();
    let repeat = &document["phases"][0]["repeats"][0];
    let theirs = number(&repeat["ops"]["read"]["requests"]);
    assert!((0.98..1.1).contains(&(counted / theirs)), "{counted}, bench says {theirs}");
    // The first and the last are parts.
    for disk in &busy[1..busy.len() - 1] {
        assert_eq!(disk["seen"], "requests");
        assert_eq!((&disk["operations"][0]["op"], &disk["failed"]), (&"read".into(), &0.into()));
        assert_eq!(disk["processes"][0]["process"], "seekwell", "{disk}");
        let spans: Vec<_> = disk["latencies"].as_array().unwrap().iter().collect();
        assert_eq!(spans.len(), 3, "{disk}");
        // Less than what the program waited, for it is seen nearer to the disk.
        let p50 = number(&spans[2]["latency_ns_p50"]);
        let whole = number(&repeat["ops"]["read"]["latency"]["ns_p50"]);
        assert!(p50 > whole / 20.0 && p50 < whole * 2.0, "{p50} ns, bench says {whole} ns");
        assert!(number(&disk["depth_mean"]) <= 4.0 && number(&disk["busy_share"]) <= 1.0);
    }
}

#[test]
fn a_disk_that_hangs_is_seen_though_nothing_completes() {
    let Some(scene) = Scene::new() else { return };
    // Frozen, the file system below keeps a write of the loop device from ending.
    let Some(lower) = crate::common::Mounted::ext4(96 << 20, "defaults") else { return };
    let file = lower.point.join("inner.img");
    fs::File::create(&file).unwrap().set_len(16 << 20).unwrap();
    let Some(upper) = tool("losetup", &["--find", "--show", file.to_str().unwrap()]) else {
        return skip("a second loop device cannot be set up here");
    };
    let upper = Attached { device: upper.trim().to_owned(), below: lower.point.clone() };
    if tool("fsfreeze", &["--freeze", lower.point.to_str().unwrap()]).is_none() {
        return skip("no file system to be frozen");
    }
    let early = scene.view(&["--json", "--for", "6s"], Stdio::piped());
    let target = format!("of={}", upper.device);
    let mut write = Command::new("dd");
    write.args(["if=/dev/zero", &target, "bs=4k", "count=1", "oflag=direct", "conv=notrunc"]);
    let mut write = write.stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(SECOND / 2);
    // Whoever looks because it hangs comes later.
    let late = scene.view(&["--json", "--for", "5s"], Stdio::piped());
    let both = [early, late].map(|view| done(view.wait_with_output().unwrap()));
    upper.thaw();
    write.wait().unwrap();
    for seen in both {
        let name = upper.device.trim_start_matches("/dev/");
        let seen = lines(&seen.ends(0));
        let disks = seen.last().unwrap()["devices"].as_array().unwrap();
        let disk = disks.iter().find(|disk| disk["device"] == name).expect("it is there");
        assert_eq!(disk["outstanding"], 1, "{disk}");
        assert!(number(&disk["oldest_ns"]) > 2e9, "{disk}");
        let (depth, busy) = (number(&disk["depth_mean"]), number(&disk["busy_share"]));
        assert!((depth - 1.0).abs() < 0.01 && busy > 0.98 && busy <= 1.0, "{disk}");
    }
}

/// A loop device over a file system that is thawed and let go, whatever comes.
struct Attached {
    device: String,
    below: std::path::PathBuf,
}

impl Attached {
    fn thaw(&self) {
        tool("fsfreeze", &["--unfreeze", self.below.to_str().unwrap()]);
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if tool("findmnt", &["--noheadings", self.below.to_str().unwrap()]).is_some() {
            self.thaw();
        }
        tool("losetup", &["--detach", &self.device]);
    }
}

#[test]
fn a_device_without_a_request_queue_says_that_bios_are_seen() {
    let Some(scene) = Scene::new() else { return };
    let Some(zram) = Zram::new() else { return };
    let device = format!("/dev/{}", zram.0);
    let view = scene.view(&[&device, "--json", "--for", "2s"], Stdio::piped());
    let target = format!("of={device}");
    tool("dd", &["if=/dev/zero", &target, "bs=4k", "count=50", "oflag=direct", "conv=notrunc"]);
    let seen = lines(&done(view.wait_with_output().unwrap()).ends(0));
    let disks: Vec<&Value> = seen.iter().map(|interval| &interval["devices"][0]).collect();
    let written: f64 = disks
        .iter()
        .flat_map(|disk| disk["operations"].as_array().unwrap())
        .filter(|flow| flow["op"] == "write")
        .map(|flow| number(&flow["requests"]))
        .sum();
    assert_eq!(written, 50.0, "{disks:?}");
    let last = disks.last().unwrap();
    assert_eq!((&last["seen"], &last["requests_at_device"]), (&"bios".into(), &Value::Null));
}

/// Every request of a trace that took at least this long, as a line says it.
fn slow_in(trace: &Path, least_ns: u64) -> Vec<(String, u64, u64, u64)> {
    let mut source = formats::open_file(trace, &formats::Reading::default()).unwrap();
    let (mut records, mut before) = (Vec::new(), usize::MAX);
    while records.len() != before {
        before = records.len();
        source.read(&mut records).unwrap();
    }
    let total = |record: &Record| {
        Some(record.completed.get()?.0 - record.arrival().get()?.0).filter(|ns| *ns >= least_ns)
    };
    let asked = records.iter().filter(|record| record.was_asked_for());
    let one = |r: &Record| Some((r.op.name().to_owned(), r.offset, r.len.into(), total(r)?));
    let mut slow: Vec<_> = asked.filter_map(one).collect();
    slow.sort();
    slow
}

#[test]
fn min_latency_prints_exactly_the_requests_that_took_so_long() {
    let Some(scene) = Scene::new() else { return };
    let device = &scene.disk.device;
    let trace = scene.home.path().join("t.parquet");
    // Copying a megabyte takes longer than 100 µs anywhere; most of the small reads take less.
    let dd = format!(
        "dd if=/dev/zero of={device} bs=1M count=40 oflag=direct conv=notrunc status=none; \
         dd if={device} of=/dev/null bs=4k count=500 iflag=direct status=none; echo out"
    );
    let shown = scene.home.path().join("shown.jsonl");
    let words = [device, "--min-latency", "100us", "--json", "--for", "10min"];
    let view = scene.view(&words, fs::File::create(&shown).unwrap());
    let mut program = seekwell(scene.home.path());
    program.args(["record", device, "--min-latency", "100us", "-o"]).arg(&trace);
    let recorded = done(program.args(["--", "sh", "-c", &dd]).output().unwrap()).ends(0);
    assert_eq!(recorded.out, "out\n", "the command's output stays its own");
    let expected = slow_in(&trace, 100_000);
    assert!(!expected.is_empty(), "nothing took 100 µs");
    let printed: Vec<&str> =
        recorded.err.lines().filter(|line| line.contains(": queue ")).collect();
    assert_eq!(printed.len(), expected.len(), "{}", recorded.err);
    for (op, offset, length, _) in &expected {
        let place = format!(" {} {op} {offset}+{length}: queue ", scene.name());
        assert!(printed.iter().any(|line| line.contains(&place)), "{place}: {printed:?}");
    }
    // Everything that `top` prints about it by then is the same.
    let seen = || fs::read_to_string(&shown).unwrap();
    let (later, input) = (format!("\"offset_bytes\":{}", 48 << 20), format!("if={device}"));
    wait_for("a later slow request", || {
        tool("dd", &[&input, "of=/dev/null", "bs=1M", "skip=48", "count=1", "iflag=direct"]);
        seen().lines().any(|line| line.contains(&later))
    });
    signal(&view, "INT");
    done(view.wait_with_output().unwrap()).ends(130);
    let seen = seen();
    let before = seen.lines().take_while(|line| !line.contains(&later));
    let all: Vec<Value> = before.map(|line| serde_json::from_str(line).unwrap()).collect();
    complete(&["slow-1.json"], &all, &[]);
    let place = |slow: &Value| {
        assert_eq!(
            (&slow["schema"], &slow["device"]),
            (&"seekwell/slow/1".into(), &scene.name().into())
        );
        let number = |key: &str| slow[key].as_u64().unwrap();
        (slow["op"].as_str().unwrap().to_owned(), number("offset_bytes"), number("length_bytes"))
    };
    let by_dd = all.iter().filter(|slow| slow["process"] == "dd").map(place);
    let by_dd: BTreeSet<_> = by_dd.collect();
    let all: BTreeSet<_> = all.iter().map(place).collect();
    let places = |least_ns| {
        let slow = slow_in(&trace, least_ns).into_iter();
        slow.map(|(op, offset, length, _)| (op, offset, length)).collect::<BTreeSet<_>>()
    };
    // Each tracer takes its own time of an event, a little before or after the other.
    let missing = places(120_000).difference(&all).count();
    let wrong = by_dd.difference(&places(80_000)).count();
    let most = 1 + expected.len() / 50;
    assert!(missing <= most && wrong <= most, "{missing} and {wrong} of {}", expected.len());
}

/// A terminal kept the alternate screen, or typed letters were not shown any more.
#[test]
fn every_way_out_gives_the_terminal_back() {
    let Some(scene) = Scene::new() else { return };
    for way in ["q", "INT", "TERM", "HUP"] {
        let mut command = seekwell(scene.home.path());
        command.args(["top", &scene.disk.device, "--interval", "200ms"]);
        let terminal = Terminal::of_all(&mut command, 80, 24);
        let modes = terminal.modes();
        wait_for("the table", || terminal.written().contains(scene.name()));
        let during = terminal.written();
        assert!(during.starts_with("\x1b[?1049h\x1b[?25l"), "{during:?}");
        assert_ne!(terminal.modes(), modes, "keys need no Enter");
        let widest = during.split(['\n', '\x1b']).map(|line| line.chars().count()).max();
        assert!(widest < Some(80), "{during:?}");
        if way == "q" {
            terminal.press("q");
        } else {
            signal(&terminal.child, way);
        }
        let (status, written, after) = terminal.end_with_modes();
        assert_eq!(status, 0, "{way}: {written:?}");
        assert!(written.trim_end().ends_with("\x1b[?25h\x1b[?1049l"), "{way}: {written:?}");
        assert_eq!(after, modes, "{way}");
    }
}

#[test]
fn without_a_terminal_a_block_per_interval_is_printed_and_errors_are_those_of_record() {
    let Some(scene) = Scene::new() else { return };
    let ran = scene.run(&["top", &scene.disk.device, "--for", "600ms", "--interval", "300ms"]);
    let ran = ran.ends(0);
    let blocks: Vec<&str> = ran.out.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 2, "{}", ran.out);
    assert!(blocks[0].lines().nth(1).unwrap().starts_with("disk"), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'), "{}", ran.out);
    let absent = scene.run(&["top", "/no/such/disk", "--for", "1s"]).ends(2);
    assert!(absent.err.contains("/no/such/disk"), "{}", absent.err);
    assert_eq!(scene.run(&["top", "--interval", "never"]).status, 2);
    if !is_root() || tool("setpriv", &["--version"]).is_none() {
        return skip("no way to be somebody else");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    let open = tempfile::Builder::new();
    let open = { open }.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let copy = open.unwrap();
    let file = copy.path().join("seekwell");
    crate::common::install(Path::new(seekwell(copy.path()).get_program()), &file);
    let refused = done(command.arg(&file).args(["top", "--for", "1s"]).output().unwrap()).ends(3);
    assert!(refused.err.contains("recording reads the kernel's block events"), "{}", refused.err);
}

/// What intervals of the first disk add up to: requests by operation, and bins of the response.
fn summed(intervals: &[Value]) -> (BTreeMap<String, u64>, BTreeMap<u64, u64>) {
    let (mut requests, mut bins) = (BTreeMap::new(), BTreeMap::new());
    for flow in intervals.iter().flat_map(|i| i["devices"][0]["operations"].as_array().unwrap()) {
        let op = flow["op"].as_str().unwrap().to_owned();
        *requests.entry(op).or_default() += flow["requests"].as_u64().unwrap();
        for bin in flow["bins"].as_array().unwrap() {
            let (bin, n) = (bin[0].as_u64().unwrap(), bin[1].as_u64().unwrap());
            *bins.entry(bin).or_default() += n;
        }
    }
    (requests, bins)
}

#[test]
fn counts_are_exact_and_agree_with_events_read_beside_them() {
    let Some(scene) = Scene::new() else { return };
    let device = &scene.disk.device;
    let counts = scene.view(&[device, "--json", "--for", "5s"], Stdio::piped());
    let events = [device, "--json", "--for", "5s", "--via", "tracefs"];
    let events = scene.view(&events, Stdio::piped());
    let (from, to) = (format!("if={device}"), format!("of={device}"));
    let before = counters(device)[0];
    let dd = |more: &[&str]| tool("dd", &[&["bs=4k", "status=none"], more].concat()).unwrap();
    dd(&[&from, "of=/dev/null", "count=1234", "iflag=direct"]);
    dd(&["if=/dev/zero", &to, "count=321", "oflag=direct", "conv=notrunc,fsync"]);
    // Merged on their way: 256 pages of one write of the page cache.
    dd(&["if=/dev/zero", &to, "count=256", "conv=notrunc,fsync"]);
    let [counts, events] = [counts, events].map(|view| done(view.wait_with_output().unwrap()));
    let (counts, events) = (lines(&counts.ends(0)), lines(&events.ends(0)));
    if counts[0]["source"] == "events" {
        return skip("the kernel does not let its requests be counted here");
    }
    complete(&["top-1.json", "common.json#/$defs/latency"], &counts, &[]);
    let lost = lost(&counts);
    let (counted, bins) = summed(&counts);
    let (read, event_bins) = summed(&events);
    let kernel = counters(device)[0] - before;
    let seen = format!("{counted:?} and {lost}, {read:?} of events, {kernel} reads of the disk");
    assert_eq!((read.get("read"), kernel), (Some(&1234), 1234), "{seen}");
    // What the kernel hid from the programs is reported as lost.
    let sum = |requests: &BTreeMap<String, u64>| requests.values().sum::<u64>();
    assert_eq!(sum(&counted) + lost, sum(&read), "{seen}");
    assert!(lost <= MOST_LOST && (lost > 0 || counted == read), "{seen}");
    // A moment passes between one program's look at the clock and the other's.
    let median = |bins: &BTreeMap<u64, u64>| {
        let half = bins.values().sum::<u64>() / 2;
        let mut seen = 0;
        let found = bins.iter().find(|(_, n)| (seen += **n, seen > half).1);
        Histogram::middle_of(*found.unwrap().0 as usize) as f64
    };
    let (ours, theirs) = (median(&bins), median(&event_bins));
    assert!((ours - theirs).abs() < 2_000.0 + theirs / 32.0, "{ours} ns and {theirs} ns");
}

#[test]
fn metrics_are_served_while_it_runs_and_a_bad_address_is_refused() {
    let Some(scene) = Scene::new() else { return };
    for address in ["127.0.0.1", "127.0.0.1:x", "localhost:9187", "1.2.3:4"] {
        let refused = scene.run(&["top", "--metrics", address, "--for", "1s"]).ends(2);
        assert!(refused.err.contains("--metrics"), "{}", refused.err);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = scene.run(&["top", "--metrics", &address, "--for", "1s"]).ends(3);
    assert!(refused.err.contains(&format!("cannot listen on {address}")), "{}", refused.err);
    drop(taken);
    let device = &scene.disk.device;
    let words = [device, "--json", "--for", "1min", "--interval", "200ms", "--metrics", &address];
    let view = scene.view(&words, Stdio::null());
    tool("dd", &[&format!("if={device}"), "of=/dev/null", "bs=4k", "count=99", "iflag=direct"]);
    let ask = || {
        let mut stream = std::net::TcpStream::connect(&address).ok()?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    };
    let labels = format!("{{disk=\"{}\",op=\"read\"}}", scene.name());
    let lines = [
        format!("seekwell_disk_requests_total{labels} 99"),
        format!("seekwell_disk_bytes_total{labels} {}", 99 * 4096),
        format!("seekwell_disk_response_seconds_count{labels} 99"),
    ];
    let all = |answer: &String| lines.iter().all(|line| answer.lines().any(|l| l == line));
    wait_for("the metrics of 99 reads", || ask().is_some_and(|answer| all(&answer)));
    let answer = ask().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    signal(&view, "INT");
    done(view.wait_with_output().unwrap()).ends(130);
    if tool("promtool", &["--version"]).is_none() {
        return skip("promtool is not installed");
    }
    let mut check = Command::new("promtool");
    let mut check = check.args(["check", "metrics"]).stdin(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success(), "{body}");
}
