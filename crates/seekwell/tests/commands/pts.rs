//! `bench --suite pts`: its figures on a modelled drive against what the drive's parts can do, runs
//! that were stopped and go on, short forms on a loop device, and what is refused.

use crate::common::{Loop, done, names, run, seekwell, signal, wait_for};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

const MIB: f64 = 1_048_576.0;

/// A modelled drive of 1 GiB with two dies on a channel, a quarter more flash beside three
/// superblocks of 4 MiB for the log itself, and a buffer of 4 MiB.
const DRIVE: [&str; 9] = [
    "bench",
    "--suite=pts",
    "--on=nvme-ssd.toml",
    "--set=drive.capacity_bytes=1073741824",
    "--set=drive.flash_bytes=1354760192",
    "--set=drive.channels=1",
    "--set=drive.dies_per_channel=2",
    "--set=drive.pages_per_block=64",
    "--set=drive.buffer_bytes=4194304",
];

/// What its description says: bytes and microseconds.
mod part {
    pub const DIES: f64 = 2.0;
    pub const PAGE: f64 = 16_384.0;
    pub const PROGRAM: f64 = 32_768.0;
    /// Programs of a die's block.
    pub const BLOCK: f64 = 64.0;
    pub const SENSE: f64 = (29.76 + 41.76) / 2.0;
    pub const SLOWEST_SENSE: f64 = 41.76;
    pub const PROGRAM_TIME: f64 = 340.0;
    pub const ERASE: f64 = 4000.0;
    pub const READ_LATENCY: f64 = 21.5;
    pub const FIRMWARE: f64 = 0.88 + 1.12;
    pub const BUFFER: f64 = 4_194_304.0;

    /// Time of bytes on the channel, 800 MB/s.
    pub fn channel(bytes: f64) -> f64 {
        bytes / 800.0
    }

    /// Reads a second: a die senses a page and is occupied until it is carried away.
    pub fn reads(bytes: f64) -> f64 {
        let pages = (bytes / PAGE).ceil();
        DIES * 1e6 / (pages * SENSE + channel(bytes.max(512.0)))
    }

    /// Bytes a second of writes, of which a share `moved` of each block is moved before.
    pub fn writes(moved: f64) -> f64 {
        let own = (1.0 - moved) * BLOCK * (channel(PROGRAM) + PROGRAM_TIME);
        let move_time = 2.0 * channel(PROGRAM) + SLOWEST_SENSE + PROGRAM_TIME;
        let all = own + moved * BLOCK * move_time + ERASE;
        DIES * (1.0 - moved) * BLOCK * PROGRAM * 1e6 / all
    }

    /// What greedy collection under even writes moves of a block, with `share` of the flash in use
    /// (Desnoyers 2012): v solves (1 − v)/(−ln v) = share.
    pub fn moved(share: f64) -> f64 {
        let (mut low, mut high) = (1e-9_f64, 1.0 - 1e-9);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if (1.0 - middle) / -middle.ln() < share { low = middle } else { high = middle }
        }
        low
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn near(found: f64, wanted: f64, within: f64) {
    let error = found / wanted - 1.0;
    assert!(error.abs() <= within, "{found} is {error:+.3} from {wanted}");
}

fn pts(home: &Path, more: &[&str]) -> Value {
    run(home, &[&DRIVE, more, &["--json"]].concat()).ends(0).json()
}

fn test<'a>(document: &'a Value, kind: &str) -> &'a Value {
    let tests = document["study"]["tests"].as_array().unwrap();
    tests.iter().find(|test| test["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// A number that a cell of a test's last series gave.
fn cell(document: &Value, kind: &str, phase: &str, of: &str) -> f64 {
    let series = test(document, kind)["series"].as_array().unwrap();
    let cells = series.last().unwrap()["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["phase"] == phase);
    number(&cell.unwrap_or_else(|| panic!("no {phase}"))["found"][of])
}

#[test]
fn steady_figures_of_a_modelled_drive_are_those_of_its_parts() {
    let home = tempfile::tempdir().unwrap();
    let tests = "--set=tests=tp,tp-128k,latency,dirth,xsr";
    let document = pts(home.path(), &[tests, "--set=cell=1", "--set=stretch=12"]);
    let steady = |kind: &str| test(&document, kind)["series"].as_array().unwrap().clone();
    for series in ["tp", "tp-128k", "latency", "dirth"].iter().flat_map(|kind| steady(kind)) {
        assert_eq!(series["window"]["steady"], true, "{}", series["phase"]);
        assert!(number(&series["window"]["range"]) <= 0.2, "{}", series["window"]);
    }
    // Nothing is moved in sequence; a cell of a second also fills the buffer.
    let most = part::writes(0.0) + part::BUFFER;
    for (kind, phase) in [("tp", "tp-write"), ("tp-128k", "tp-128k-write")] {
        near(cell(&document, kind, phase, "rate_bytes_per_s"), most, 0.02);
        // Of large requests each die reads as many pages on average only.
        let reads = part::PAGE * part::reads(part::PAGE);
        let found = cell(&document, kind, &phase.replace("write", "read"), "rate_bytes_per_s");
        assert!((0.9..=1.0).contains(&(found / reads)), "{found} of {reads}");
    }
    let one = part::READ_LATENCY + part::FIRMWARE + part::SENSE + part::channel(4096.0);
    near(cell(&document, "latency", "latency-4k-r100", "latency_ns_mean"), 1e3 * one, 0.03);
    // Random writes with four fifths of the flash in use, at any demand that keeps it busy.
    let writes = part::writes(part::moved(1.0 / 1.25)) / 4096.0;
    for demand in ["t32-q32", "t4-q8", "t1-q1"] {
        let phase = format!("dirth-{demand}");
        near(cell(&document, "dirth", &phase, "requests_per_s"), writes, 0.03);
    }
    // Little's law.
    let waits = cell(&document, "dirth", "dirth-t32-q32", "latency_ns_mean");
    near(waits, 1024e9 / writes, 0.05);
    // The first load comes back to its rate after the second.
    let rounds = |at: usize| {
        let series = &test(&document, "xsr")["series"][at]["rounds"];
        series.as_array().unwrap().iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!([0, 1, 2].map(|load| rounds(load).len()), [12, 9, 12]);
    near(rounds(0)[11], part::writes(0.0), 0.02);
    assert!(rounds(2)[0] < 0.5 * part::writes(0.0), "{:?}", rounds(2));
    let shown = run(home.path(), &["runs", "show", "last"]).ends(0);
    let said =
        ["no result of the specification: cells of 1 s", "Demand intensity", "Latency of one"];
    assert!(said.iter().all(|said| shown.out.contains(said)), "{}", shown.out);
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
}

#[test]
fn no_cell_of_the_matrix_exceeds_what_the_drive_can_do() {
    let home = tempfile::tempdir().unwrap();
    let document = pts(home.path(), &["--set=tests=iops", "--set=cell=1", "--set=rounds=2"]);
    let series = &test(&document, "iops")["series"][0];
    let cells = series["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 56);
    let written = number(&test(&document, "iops")["written_first_bytes"]);
    near(written, 2048.0 * MIB, 1e-9);
    for cell in cells {
        let (bytes, reads) = (number(&cell["block_bytes"]), number(&cell["read_percent"]) / 100.0);
        let rate = number(&cell["found"]["requests_per_s"]);
        // The time of each kind of request adds up; what fits into the buffer takes none.
        let writes = part::writes(0.0) / bytes.max(4096.0);
        let most = 1.0 / (reads / part::reads(bytes) + (1.0 - reads) / writes);
        let buffered = part::BUFFER / bytes;
        assert!(rate <= most + buffered, "{cell}: at most {most}");
    }
    let reads = cell(&document, "iops", "iops-4k-r100", "requests_per_s");
    near(reads, part::reads(4096.0), 0.02);
    // Two rounds are no window of five, and the last rounds count.
    assert_eq!(series["window"]["steady"], false);
    let page = run(home.path(), &["report", "last", "--markdown"]).ends(0).out;
    let head = "| size | 0/100 | 5/95 | 35/65 | 50/50 | 65/35 | 95/5 | 100/0 |";
    assert!(page.contains(head), "{page}");
    assert!(page.contains("No steady state was reached by iops-4k-r0"), "{page}");
}

#[test]
fn a_run_on_a_model_that_was_killed_goes_on_and_gives_the_same() {
    let home = tempfile::tempdir().unwrap();
    let asked = ["--set=tests=tp,xsr", "--set=cell=1", "--set=stretch=80"];
    let whole = pts(home.path(), &asked);
    let before = names(&home.path().join("runs"));
    let quiet = || Stdio::null();
    let mut command = seekwell(home.path());
    command.args(DRIVE).args(asked).stdout(quiet()).stderr(quiet());
    let mut child = command.spawn().unwrap();
    let has = |what: &str| {
        let mut runs = names(&home.path().join("runs")).into_iter();
        let new = runs.find(|id| id.contains("-bench-") && !before.contains(id));
        let text = new.and_then(|id| {
            std::fs::read_to_string(home.path().join("runs").join(id).join("run.json")).ok()
        });
        text.is_some_and(|text| text.contains(what))
    };
    wait_for("the second load", || has("\"name\": \"xsr-2\""));
    signal(&child, "KILL");
    child.wait().unwrap();
    let shown = run(home.path(), &["runs", "show", "last"]).ends(0);
    assert!(shown.out.contains("the same command with --resume"), "{}", shown.out);
    // With other settings it is another run.
    let other = [&DRIVE[..], &asked[..2], &["--set=stretch=9", "--resume=last"]].concat();
    let refused = run(home.path(), &other).ends(2);
    assert!(refused.err.contains("its stretch was \"80\" and not \"9\""), "{}", refused.err);
    let again = pts(home.path(), &[&asked[..], &["--resume=last"]].concat());
    assert_eq!(again["status"], "complete");
    assert_eq!(again["study"], whole["study"]);
    assert_eq!(again["phases"], whole["phases"]);
    // What is complete has nothing left to run.
    let once_more = pts(home.path(), &[&asked[..], &["--resume=last"]].concat());
    assert_eq!((&once_more["id"], &once_more["phases"]), (&again["id"], &whole["phases"]));
    assert_eq!(once_more["study"], whole["study"]);
}

#[test]
fn a_short_form_on_a_loop_device_goes_on_with_the_cell_it_was_at() {
    let Some(disk) = Loop::new(64 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("runs")).unwrap();
    let serial = disk.backing.to_str().unwrap();
    let on = ["bench", "--suite=pts", "--quick", "--set=tests=tp", "--on", &disk.device];
    let asked = [&on[..], &["--destroy", serial, "--json"]].concat();
    let mut command = seekwell(home.path());
    command.args(&asked).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let kept = || {
        let id = names(&home.path().join("runs")).into_iter().find(|id| id.contains("-bench-"))?;
        let text = std::fs::read(home.path().join("runs").join(id).join("run.json")).ok()?;
        serde_json::from_slice::<Value>(&text).ok()
    };
    let repeats =
        |run: &Value, phase: usize| run["phases"][phase]["repeats"].as_array().map_or(0, Vec::len);
    wait_for("the second round", || kept().is_some_and(|run| repeats(&run, 1) >= 1));
    signal(&child, "INT");
    let before = done(child.wait_with_output().unwrap()).ends(130).json();
    assert_eq!(
        (&before["status"], &test(&before, "tp")["finished"]),
        (&"interrupted".into(), &false.into())
    );
    let after = run(home.path(), &[&asked[..], &["--resume=last"]].concat());
    let after = after.ends(0).json();
    assert_eq!(after["id"], before["id"]);
    assert_eq!(test(&after, "tp")["finished"], true);
    let first = |run: &Value| run["phases"][1]["repeats"][0]["ops"].clone();
    assert_eq!(first(&after), first(&before), "the rounds that were done are kept");
    assert_eq!([repeats(&after, 0), repeats(&after, 1)], [5, 5]);
    assert!(cell(&after, "tp", "tp-write", "rate_bytes_per_s") > 0.0);
}

#[test]
fn cells_smaller_than_a_sector_are_left_out_and_named() {
    let home = tempfile::tempdir().unwrap();
    let more = ["--set=drive.sector_bytes=4096", "--set=tests=latency", "--set=cell=1"];
    let document = pts(home.path(), &[&more[..], &["--set=rounds=1"]].concat());
    let test = test(&document, "latency");
    assert_eq!(test["finished"], true);
    let cells = test["series"][0]["cells"].as_array().unwrap();
    let missing = cells.iter().filter(|cell| cell["found"].is_null());
    assert!(missing.clone().all(|cell| cell["block_bytes"] == 512) && missing.count() == 3);
    let shown = run(home.path(), &["runs", "show", "last"]).ends(0);
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("3 cells of 512 B are left out: a sector has 4096 bytes"), "{said}");
}

#[test]
fn what_the_suite_does_not_have_is_refused_before_anything_is_written() {
    let home = tempfile::tempdir().unwrap();
    let refused = |more: &[&str], said: &str| {
        let ran = run(home.path(), &[&DRIVE, more].concat()).ends(2);
        assert!(ran.err.contains(said), "{more:?}: {}", ran.err);
        assert_eq!(ran.err.trim().lines().count(), 1, "{}", ran.err);
    };
    refused(&["--set=tests=iops,wsat"], "a list, with commas, of iops, tp, tp-128k, latency");
    refused(&["--set=tests=tp,tp"], "tests=tp,tp is not possible");
    refused(&["--set=rounds=26"], "1 to 25");
    refused(&["--set=cell=0"], "1 to 3600");
    refused(&["--runtime=5s"], "the suite pts takes no --runtime");
    refused(&["--resume=last"], "no run \"last\"");
    let wa = ["bench", "--suite=wa", "--on=nvme-ssd.toml", "--resume=last"];
    let ran = run(home.path(), &wa).ends(2);
    assert!(ran.err.contains("the suite wa takes no --resume"), "{}", ran.err);
    assert!(!home.path().join("runs").exists() || names(&home.path().join("runs")).is_empty());
    // A run of something else has nothing that this could go on with.
    run(home.path(), &["bench", "--on=nvme-ssd.toml", "--runtime=600ms"]).ends(0);
    refused(&["--resume=last"], "it is no run of this suite");
    let Some(disk) = Loop::new(64 << 20) else { return };
    let ran = run(home.path(), &["bench", "--suite=pts", "--on", &disk.device]).ends(3);
    assert!(ran.err.contains("--destroy SERIAL"), "{}", ran.err);
    let held = std::fs::read(&disk.backing).unwrap();
    assert!(held.iter().all(|byte| *byte == 0), "the device was written");
}
