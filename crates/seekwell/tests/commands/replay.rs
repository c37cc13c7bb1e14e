//! `seekwell replay` as a user runs it: on temporary files, on loop devices of its own, on the null
//! target. What reached a device is read from the kernel's own counters and the backing file.

use crate::common::zram::Zram;
use crate::common::{self, Loop, Place, Ran, done, run, seekwell};
use crate::common::{played_ns, signal, skip, wait_for};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const HEADER: &str = "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,pid,\
                      process,cpu,error,flags\n";
const MIB: u64 = 1 << 20;

/// One request as our own text has it; it took 80 us.
fn line(at_us: u64, op: &str, offset: u64, len: u64, device: &str, flags: &str) -> String {
    let at = at_us * 1000;
    format!("{at},{},{},{op},{offset},{len},{device},1,test,0,0,{flags}\n", at + 2000, at + 80_000)
}

fn trace(dir: &Path, name: &str, lines: impl IntoIterator<Item = String>) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, lines.into_iter().fold(HEADER.to_owned(), |all, line| all + &line)).unwrap();
    path
}

/// 1000 requests in 600 ms: of five, one read, two writes (one durable), a flush and a discard.
/// None is next to another, so the kernel merges none.
fn mixed(dir: &Path) -> PathBuf {
    let each = (0..1000u64).map(|i| {
        let at = i * 8192;
        match i % 5 {
            0 => line(600 * i, "read", at, 4096, "sda", ""),
            1 => line(600 * i, "write", at, 4096, "sda", ""),
            2 => line(600 * i, "write", at, 4096, "sda", "fua"),
            3 => line(600 * i, "flush", 0, 0, "sda", ""),
            _ => line(600 * i, "discard", at, 4096, "sda", ""),
        }
    });
    trace(dir, "mixed.csv", each)
}

fn reads(dir: &Path, count: u64, gap_us: u64) -> PathBuf {
    let each = (0..count).map(|i| line(gap_us * i, "read", i % 1000 * 8192, 4096, "sda", ""));
    trace(dir, "reads.csv", each)
}

fn replay(home: &Path, trace: &Path, more: &[&str]) -> Ran {
    let mut words = vec!["replay", trace.to_str().unwrap(), "--late", "10s"];
    words.extend(more);
    run(home, &words)
}

fn fidelity(document: &Value, phase: usize) -> &Value {
    &document["phases"][phase]["repeats"][0]["fidelity"]
}

fn requests(document: &Value, phase: usize, op: &str) -> u64 {
    document["phases"][phase]["repeats"][0]["ops"][op]["requests"].as_u64().unwrap_or(0)
}

/// What the kernel counted of a disk: reads, sectors written, sectors discarded, flushes. (An empty
/// write that carries a flush counts as a write, so writes show nothing.)
fn counted(device: &str) -> [u64; 4] {
    let all = common::counters(device);
    [all[0], all[6], all[13], all[15]]
}

fn since(device: &str, before: [u64; 4]) -> [u64; 4] {
    let now = counted(device);
    std::array::from_fn(|i| now[i] - before[i])
}

#[test]
fn a_trace_is_played_whole_on_a_temporary_file_and_kept_like_any_run() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    let trace = mixed(home.path());
    let on = home.path().to_str().unwrap();
    let document =
        replay(home.path(), &trace, &["--on", on, "--json", "--label", "mine"]).ends(0).json();
    assert_eq!(document["kind"], "replay");
    assert_eq!(document["medium"]["kind"], "temporary-file");
    let counts = ["read", "write", "flush", "discard"].map(|op| requests(&document, 0, op));
    assert_eq!(counts, [200, 400, 200, 200]);
    let workload = &document["phases"][0]["workload"];
    assert_eq!(
        (&workload["trace"], &workload["mode"], &workload["writes"]),
        (&Value::from("mixed.csv"), &Value::from("timed"), &Value::from(true))
    );
    let faith = fidelity(&document, 0);
    assert_eq!((&faith["verdict"], &faith["issued"]), (&"kept-up".into(), &1000.into()));
    let [typical, latest] =
        ["ns_p90", "ns_max"].map(|key| faith["lateness"][key].as_u64().unwrap());
    // Issuing took 600 ms, and as much longer as the last request was late.
    let drift_ns = faith["drift_percent"].as_f64().unwrap() / 100.0 * 600e6;
    assert!(typical <= latest && drift_ns <= latest as f64 * 1.01, "{faith}");
    let metrics = document["phases"][0]["metrics"].as_object().unwrap();
    assert!(
        metrics.contains_key("read.response_ns_p50") && metrics.contains_key("lateness_ns_p90")
    );

    let again = replay(home.path(), &trace, &["--on", on, "--label", "theirs"]).ends(0);
    assert!(again.out.contains("kept up"), "{}", again.out);
    assert!(again.out.contains("lateness p50"), "{}", again.out);
    let listed = run(home.path(), &["runs", "list"]);
    assert!(
        ["mine", "theirs"].iter().all(|l| listed.out.matches(l).count() == 1),
        "{}",
        listed.out
    );
    let page = home.path().join("page.html");
    run(home.path(), &["report", "last", "-o", page.to_str().unwrap()]).ends(0);
    assert!(fs::read_to_string(&page).unwrap().contains("<h2>Fidelity</h2>"));
    let markdown = run(home.path(), &["report", "last", "--markdown"]);
    assert!(markdown.out.contains("Fidelity of replay mixed.csv"), "{}", markdown.out);
    let compared = run(home.path(), &["compare", "mine", "theirs"]);
    assert!(matches!(compared.status, 0 | 1), "{}{}", compared.out, compared.err);
    assert!(compared.out.contains("mixed.csv"), "{}", compared.out);
}

#[test]
fn writes_never_reach_a_device_that_was_not_given_to_be_destroyed() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let data: Vec<u8> = (0..64 * MIB).map(|i| (i % 251) as u8).collect();
    fs::write(&disk.backing, &data).unwrap();
    let home = tempfile::tempdir().unwrap();
    let trace = mixed(home.path());
    let before = counted(&disk.device);
    let ran = replay(home.path(), &trace, &["--on", &disk.device, "--json", "--no-keep"]).ends(0);
    assert!(ran.err.contains("400 writes, 200 flushes and 200 discards"), "{}", ran.err);
    let [reads, writes, discards, _] = since(&disk.device, before);
    assert_eq!((writes, discards), (0, 0));
    // Whoever looks at a new disk may read a little of it, too.
    assert!((200..260).contains(&reads), "{reads}");
    assert!(fs::read(&disk.backing).unwrap() == data, "the backing file has changed");
    let document = ran.json();
    assert_eq!(requests(&document, 0, "read"), 200);
    assert_eq!(requests(&document, 0, "write"), 0);
    let skipped = &fidelity(&document, 0)["skipped"];
    assert_eq!(
        (&skipped["write"], &skipped["flush"], &skipped["discard"]),
        (&400.into(), &200.into(), &200.into())
    );
}

#[test]
fn a_device_given_to_be_destroyed_gets_every_request_of_the_trace() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let trace = mixed(home.path());
    let serial = disk.backing.to_str().unwrap();
    let before = counted(&disk.device);
    let words = ["--on", &disk.device, "--destroy", serial, "--json", "--no-keep"];
    let document = replay(home.path(), &trace, &words).ends(0).json();
    let counts = ["read", "write", "flush", "discard"].map(|op| requests(&document, 0, op));
    assert_eq!(counts, [200, 400, 200, 200]);
    let [reads, writes, discards, flushes] = since(&disk.device, before);
    // A punched hole counts as a write or as a discard, by the kernel; 8 sectors each.
    assert_eq!(writes + discards, 8 * 600, "{writes} and {discards}");
    assert!((200..260).contains(&reads), "{reads}");
    // Flushes that wait for the same one are merged.
    assert!((20..=400).contains(&flushes), "{flushes}");
    let written = fs::read(&disk.backing).unwrap();
    assert!(written[8192..8192 + 4096].iter().any(|byte| *byte != 0));
    assert!(written[4 * 8192..5 * 8192].iter().all(|byte| *byte == 0), "the discard's place");

    replay(home.path(), &trace, &["--on", &disk.device, "--destroy", "S0ME0NE"]).ends(3);
}

#[test]
fn several_recorded_devices_need_a_choice_and_play_at_once_on_targets_of_their_own() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    let each = (0..2000u64).map(|i| {
        let device = if i % 4 == 0 { "sdb" } else { "sda" };
        line(1200 * i, "read", i % 500 * 8192, 4096, device, "")
    });
    let trace = trace(home.path(), "two.csv", each);
    let refused = replay(home.path(), &trace, &["--on", "null"]);
    assert_eq!(refused.status, 2);
    for word in ["sda", "sdb", "--device", "--map"] {
        assert!(refused.err.contains(word), "{}", refused.err);
    }
    replay(home.path(), &trace, &["--on", "null", "--device", "sdc"]).ends(2);
    replay(home.path(), &trace, &["--map", "sda=null", "--map", "sda=null"]).ends(2);
    let one = replay(home.path(), &trace, &["--on", "null", "--device", "sdb", "--json"]);
    assert_eq!((one.status, requests(&one.json(), 0, "read")), (0, 500));

    let file = format!("sdb={}", home.path().display());
    let words = ["--map", "sda=null", "--map", &file, "--json"];
    let document = replay(home.path(), &trace, &words).ends(0).json();
    assert_eq!((requests(&document, 0, "read"), requests(&document, 1, "read")), (1500, 500));
    assert_eq!(document["phases"][1]["workload"]["recorded_device"], "sdb");
    // One clock for both: each took its 2.4 s, and all took less than one after the other would.
    let at = |key: &str| document[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let all = at("ended_at").duration_since(at("started_at")).as_nanos() as u64;
    let each = [0, 1].map(|phase| played_ns(&document["phases"][phase]["repeats"][0]));
    assert!(each.iter().all(|(took, late)| took + late >= 1_996 * 1_200_000), "{each:?}");
    assert!(all < each.iter().map(|(took, _)| took).sum(), "{all} ns for {each:?}");
}

#[test]
fn a_trace_of_a_larger_disk_is_refused_with_both_sizes_unless_it_is_told_how_to_fit() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    let each = (0..1500u64).map(|i| line(400 * i, "read", i * 8 * MIB, 4096, "sda", ""));
    let trace = trace(home.path(), "large.csv", each);
    let on = home.path().to_str().unwrap();
    let refused = replay(home.path(), &trace, &["--on", on, "--size", "64M"]).ends(2);
    for word in ["12574527488", "67108864", "--fit modulo", "--fit scale"] {
        assert!(refused.err.contains(word), "{}", refused.err);
    }
    for fit in ["modulo", "scale"] {
        let words = ["--on", on, "--size", "64M", "--fit", fit, "--json", "--no-keep"];
        let document = replay(home.path(), &trace, &words).ends(0).json();
        assert_eq!(requests(&document, 0, "read"), 1500);
        assert!(fidelity(&document, 0)["altered"].as_u64().unwrap() > 1000);
    }
}

#[test]
fn what_the_trace_does_not_tell_is_not_made_up() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    let mut text = "fio version 2 iolog\nd add\nd open\n".to_owned();
    (0..3000u64).for_each(|i| writeln!(text, "d read {} 4096", i % 1000 * 8192).unwrap());
    text += "d close\n";
    let untimed = home.path().join("untimed.iolog");
    fs::write(&untimed, text).unwrap();
    let refused = replay(home.path(), &untimed, &["--on", "null"]).ends(2);
    assert!(refused.err.contains("--mode depth --depth N"), "{}", refused.err);
    let refused = replay(home.path(), &untimed, &["--on", "null", "--mode", "depth"]).ends(2);
    assert!(refused.err.contains("when requests were done"), "{}", refused.err);
    let on = home.path().to_str().unwrap();
    let words = ["--on", on, "--mode", "depth", "--depth", "4", "--json", "--no-keep"];
    let played = replay(home.path(), &untimed, &words);
    assert!(matches!(played.status, 0 | 4), "{}", played.err);
    assert_eq!(requests(&played.json(), 0, "read"), 3000);
    assert_eq!(fidelity(&played.json(), 0)["verdict"], "untimed");

    let timed = home.path().join("timed.iolog");
    fs::write(&timed, "fio version 3 iolog\n0 d add\n0 d open\n10 d read 0 4096\n").unwrap();
    let refused = replay(home.path(), &timed, &["--on", "null", "--mode", "dependent"]).ends(2);
    assert!(refused.err.contains("had waited for"), "{}", refused.err);
}

#[test]
fn the_verdict_tells_a_full_device_from_a_late_program() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    // 1 MiB every 10 us, one at a time: no device does that.
    let each = (0..1500u64).map(|i| line(10 * i, "read", i % 60 * MIB, MIB, "sda", ""));
    let heavy = trace(home.path(), "heavy.csv", each);
    let on = home.path().to_str().unwrap();
    let words = ["replay", heavy.to_str().unwrap(), "--on", on, "--depth", "1", "--json"];
    let full = run(home.path(), &words);
    let document = full.json();
    assert_eq!(fidelity(&document, 0)["verdict"], "device-full", "{}", full.out);
    let lasted = document["phases"][0]["repeats"][0]["elapsed_ns"].as_u64().unwrap();
    // A run too short for a rate is not valid, whatever was late.
    assert_eq!(full.status, if lasted < 500_000_000 { 4 } else { 0 }, "{}", full.err);

    // Nobody can hand over in no time, and the null target is never full.
    let light = reads(home.path(), 1000, 600);
    let words = ["replay", light.to_str().unwrap(), "--on", "null", "--late", "0", "--json"];
    let late = run(home.path(), &words).ends(4);
    let document = late.json();
    assert_eq!(fidelity(&document, 0)["verdict"], "program-late");
    assert!(document["phases"][0]["metrics"].as_object().unwrap().is_empty());
    let why = document["invalid"][0].as_str().unwrap();
    assert!(why.contains("the program was late"), "{why}");
}

#[test]
fn tags_bound_what_is_outstanding_whatever_the_policy() {
    let Some(home) = Place::with_room(64 * MIB) else { return };
    let trace = reads(home.path(), 1000, 600);
    let on = home.path().to_str().unwrap();
    for policy in ["shared", "split", "reads-first", "deadline", "domains"] {
        let words = ["--on", on, "--tags", "4", "--tag-policy", policy, "--json", "--no-keep"];
        let ran = replay(home.path(), &trace, &words);
        assert_eq!(ran.status, 0, "{policy}: {}", ran.err);
        assert_eq!(requests(&ran.json(), 0, "read"), 1000, "{policy}");
        let played = &ran.json()["phases"][0]["workload"];
        assert_eq!((&played["tags"], &played["tag_policy"]), (&4.into(), &policy.into()));
        let words = ["bench", "--on", "null", "--rw=randrw", "--iodepth=16", "--runtime=600ms"];
        let more = ["--tags=4", "--tag-policy", policy, "--json", "--no-keep"];
        let ran = run(home.path(), &[&words[..], &more].concat());
        assert_eq!(ran.status, 0, "{policy}: {}", ran.err);
        let name = format!("randrw-4096-d16-{policy}-4");
        assert_eq!(ran.json()["phases"][0]["name"], name.as_str());
    }
    run(home.path(), &["bench", "--on", "null", "--tag-policy", "split"]).ends(2);
}

#[test]
fn a_trace_that_ends_within_a_mebibyte_gets_a_file_that_holds_all_of_it() {
    // The file was rounded down, and nearly every trace refused in a directory by default.
    let Some(dir) = Place::with_room(80 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let far = 70 * MIB + 4096;
    let at = |i| far - (i % 50 + 1) * 4096;
    let lines = (0..1000).map(|i| line(600 * i, "read", at(i), 4096, "sda", ""));
    let trace = trace(home.path(), "far.csv", lines);
    let ran =
        replay(home.path(), &trace, &["--on", dir.path().to_str().unwrap(), "--json"]).ends(0);
    assert_eq!(requests(&ran.json(), 0, "read"), 1000);
    assert_eq!(ran.json()["medium"]["size_bytes"], 71 * MIB);
}

#[test]
fn speed_and_dependent_mode_shorten_a_replay() {
    let home = tempfile::tempdir().unwrap();
    let trace = reads(home.path(), 2000, 600);
    let played = |on: &str, more: &[&str]| {
        let words = [&["--on", on, "--json", "--no-keep"], more].concat();
        let document = replay(home.path(), &trace, &words).ends(0).json();
        assert_eq!(requests(&document, 0, "read"), 2000);
        let late_ns = fidelity(&document, 0)["lateness"]["ns_max"].as_u64().unwrap_or(0);
        let repeat = &document["phases"][0]["repeats"][0];
        let service = repeat["ops"]["read"]["latency"]["ns_mean"].as_f64().unwrap();
        (repeat["elapsed_ns"].as_f64().unwrap() / 1e6, late_ns as f64 / 1e6, service / 1e6)
    };
    // Another program may hold the processor for a while: a replay is as much shorter as its first
    // request is late, and as much longer as its last is.
    for (speed, ms) in [("1", 1199.4), ("2", 599.7)] {
        let (took, late, _) = played("null", &["--speed", speed]);
        assert!((ms - late - 1.0..ms + late + 100.0).contains(&took), "{took} ms, {late} late");
        let (took, _, service) = played("nvme-ssd.toml", &["--speed", speed]);
        assert!((took - ms - service).abs() < 1.0, "{took} ms of the model's time");
    }
    // Each took 80 us of its 600; in the model's time it takes what the model takes.
    let (took, _, service) = played("nvme-ssd.toml", &["--mode", "dependent"]);
    let wanted = 1999.0 * 0.52 + 2000.0 * service;
    assert!((took / wanted - 1.0).abs() < 0.02, "{took} ms beside {wanted}");
}

/// Requests to zram went through kernel threads of the ring: at 10,000/s a replay said that 99 of
/// 100 were at most 58 µs late, where the kernel queued them up to 300 µs late.
#[test]
fn lateness_on_a_device_without_queues_is_what_the_kernel_sees() {
    let Some(zram) = Zram::new() else { return };
    let home = tempfile::tempdir().unwrap();
    let (count, gap_us) = (4000, 400);
    let trace = reads(home.path(), count, gap_us);
    let seen = home.path().join("seen.csv");
    let device = format!("/dev/{}", zram.0);
    let play = ["replay", trace.to_str().unwrap(), "--on", &device, "--late", "10s", "--json"];
    let program = seekwell(home.path());
    let ran = done(
        seekwell(home.path())
            .args(["record", &device, "-o", seen.to_str().unwrap(), "--"])
            .arg(program.get_program())
            .args(play)
            .arg("--no-keep")
            .output()
            .unwrap(),
    );
    if ran.status == 3 {
        skip(&format!("no recording here: {}", ran.err));
        return;
    }
    assert_eq!(ran.status, 0, "{}", ran.err);
    let text = fs::read_to_string(&seen).unwrap();
    let queued = text.lines().skip(1).map(|l| l.split(',').next().unwrap().parse::<u64>().unwrap());
    let queued: Vec<u64> = queued.collect();
    // What was read to look at the device came before.
    let queued = &queued[queued.len() - count as usize..];
    let mut late: Vec<u64> =
        queued.iter().zip(0..).map(|(at, i): (_, u64)| at - i * gap_us * 1000).collect();
    late.sort_unstable();
    let kernel_ns = late[late.len() * 99 / 100] - late[0];
    let document = ran.json();
    let own_ns = fidelity(&document, 0)["lateness"]["ns_p99"].as_u64().unwrap();
    let apart = own_ns.abs_diff(kernel_ns);
    assert!(apart < 100_000 + own_ns.max(kernel_ns) / 4, "{own_ns} and {kernel_ns} ns");
    assert_eq!(fidelity(&document, 0)["handed_over"], false);

    // A ring is used on request, with a note of what is not known then.
    let ran = run(home.path(), &[&play[..], &["--no-keep", "--engine", "io_uring"]].concat());
    assert_eq!(fidelity(&ran.json(), 0)["handed_over"], true, "{}", ran.err);
    assert!(ran.err.contains("through other threads"), "{}", ran.err);
}

/// Four jobs with a think time of 1 ms each were played as one: at a quarter of their rate.
#[test]
fn independent_jobs_keep_their_rate_in_a_dependent_replay_on_a_parallel_device() {
    let home = tempfile::tempdir().unwrap();
    let mut lines: Vec<(u64, String)> = Vec::new();
    for job in 0..4_u64 {
        for i in 0..500 {
            let at = 1_080_000 * i + 270_000 * job;
            let (end, offset) = (at + 80_000, (i * 4 + job) * 8192);
            lines
                .push((at, format!("{at},{at},{end},read,{offset},4096,sda,{},x,0,0,\n", 7 + job)));
        }
    }
    lines.sort();
    let trace = trace(home.path(), "jobs.csv", lines.into_iter().map(|(_, line)| line));
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/nvme-ssd.toml");
    let document = replay(home.path(), &trace, &["--on", machine, "--mode", "dependent", "--json"])
        .ends(0)
        .json();
    let fidelity = fidelity(&document, 0);
    assert_eq!(fidelity["tasks"], 4);
    let ratio = fidelity["time_ratio"].as_f64().unwrap();
    assert!((0.9..1.1).contains(&ratio), "it took {ratio} of the recorded time");
}

/// A trace of a week began to play without a word.
#[test]
fn a_replay_that_takes_long_says_so_before_it_begins() {
    let home = tempfile::tempdir().unwrap();
    let trace = reads(home.path(), 2016, 300_000_000);
    let words = ["replay", trace.to_str().unwrap(), "--on", "null", "--no-keep"];
    let mut child = seekwell(home.path())
        .args(words)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let said = errors.lines().map_while(Result::ok).find(|line| line.contains("this takes"));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = said.expect("it says so");
    assert!(said.contains("7 days") && said.contains("--speed"), "{said}");
    // What is played as fast as it goes is not announced so.
    let ran = replay(home.path(), &trace, &["--on", "null", "--mode", "depth", "--no-keep"]);
    assert!(!ran.err.contains("this takes"), "{}", ran.err);
}

#[test]
fn an_interrupted_replay_is_kept_and_ends_with_130() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let trace = reads(home.path(), 20_000, 1000);
    let mut command = seekwell(home.path());
    command.args(["replay", trace.to_str().unwrap(), "--on", &disk.device, "--json"]);
    let before = counted(&disk.device);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("300 of 20,000 reads", || since(&disk.device, before)[0] > 300);
    signal(&child, "INT");
    let document = common::done(child.wait_with_output().unwrap()).ends(130).json();
    assert_eq!(document["status"], "interrupted");
    let played = requests(&document, 0, "read");
    assert!((1..20_000).contains(&played), "{played}");
    let shown = run(home.path(), &["runs", "show", "last", "--json"]);
    assert_eq!(shown.json()["status"], "interrupted");
}

#[test]
fn hostile_traces_are_refused_or_played_but_never_break_the_program() {
    let home = tempfile::tempdir().unwrap();
    let most = u64::MAX;
    let cases = [
        ("empty.csv", String::new()),
        ("header.csv", HEADER.to_owned()),
        ("noise.csv", "\u{0}\u{1b}[2J,,,,\n\u{ffff}".repeat(50)),
        ("cut.csv", format!("{HEADER}100,200,30")),
        ("far.csv", format!("{HEADER}0,0,1,read,{most},4096,a,1,x,0,0,\n")),
        ("edge.csv", format!("{HEADER}0,0,1,read,{},4294967295,a,1,x,0,0,\n", most - 7)),
        ("none.csv", format!("{HEADER},,,read,0,4096,a,1,x,0,0,\n")),
        ("zero.csv", format!("{HEADER}1,1,2,read,0,0,a,1,x,0,0,\n")),
        (
            "back.csv",
            format!(
                "{HEADER}900000,900000,1,read,1,1,a,1,x,0,0,\n5,5,4,write,3,7,a,1,x,0,0,other\n"
            ),
        ),
        ("long.csv", format!("{HEADER}0,0,1,write,0,4294967295,a,1,x,0,0,\n")),
        ("name.csv", format!("{HEADER}0,0,9,read,0,512,\u{1b}[2J../..,1,x,0,0,\n")),
    ];
    for (name, text) in cases {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        for more in [
            &["--on", "null"][..],
            &["--on", "null", "--mode", "depth", "--depth", "4096", "--fit", "modulo"],
            &["--on", "null", "--mode", "dependent", "--size", "4k", "--fit", "scale"],
        ] {
            let ran = replay(home.path(), &path, more);
            assert!([0, 2, 3, 4].contains(&ran.status), "{name} {more:?}: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{name} {more:?}: {}", ran.err);
            assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{name}");
        }
    }
    replay(home.path(), &home.path().join("nothing.csv"), &["--on", "null"]).ends(2);
}
