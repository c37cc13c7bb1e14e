//! Suites on modelled machines, which play what each step asks of a disk, and on devices and files
//! of the user's, which are only read.

use crate::common::{Loop, Ran, counters, run};
use serde_json::Value;
use std::path::Path;

/// The modelled figure that docs/reproduced.md has for a test on a machine; a test of
/// `seekwell-report` holds the page against the program.
fn reproduced(test: &str, configuration: &str) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduced.md");
    let page = std::fs::read_to_string(path).unwrap();
    let begin = format!("| {test} | {configuration} |");
    let row = page.lines().find(|line| line.starts_with(&begin));
    let row = row.unwrap_or_else(|| panic!("there is no row {begin}"));
    row.split('|').nth(5).unwrap().trim().parse().unwrap()
}

fn suite(home: &Path, name: &str, on: &str, more: &[&str]) -> Ran {
    run(home, &[&["bench", "--suite", name, "--on", on], more].concat())
}

fn median(document: &Value, phase: &str, value: &str) -> f64 {
    let phases = document["phases"].as_array().unwrap();
    let found = phases.iter().find(|p| p["name"] == phase);
    let found = found.unwrap_or_else(|| panic!("there is no phase {phase}"));
    found["metrics"][value]["median"].as_f64().unwrap_or_else(|| panic!("{found}"))
}

/// A step and its value, the row of the same test, and how many of the value's unit are one of the
/// row's.
type Same = (&'static str, &'static str, &'static str, f64);

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

const HDPARM: [Same; 2] = [
    ("hdparm-cached", "read_bytes_per_s", "R4 cached reads, -T", MIB),
    ("hdparm-device", "read_bytes_per_s", "R4 device reads, -t", MIB),
];
/// Of the row's seeks the page cache answers 45 %.
const FS: [Same; 12] = [
    ("fs-putc", "rate_bytes_per_s", "R0 sequential output, per character", KIB),
    ("fs-put_block", "rate_bytes_per_s", "R0 sequential output, block", KIB),
    ("fs-rewrite", "rate_bytes_per_s", "R0 rewrite", KIB),
    ("fs-getc", "rate_bytes_per_s", "R0 sequential input, per character", KIB),
    ("fs-get_block", "rate_bytes_per_s", "R0 sequential input, block", KIB),
    ("fs-seeks", "seeks_per_s", "R0 random seeks", 0.55),
    ("fs-seq_create", "files_per_s", "R0 sequential create", 1.0),
    ("fs-seq_stat", "files_per_s", "R0 sequential stat", 1.0),
    ("fs-seq_del", "files_per_s", "R0 sequential delete", 1.0),
    ("fs-ran_create", "files_per_s", "R0 random create", 1.0),
    ("fs-ran_stat", "files_per_s", "R0 random stat", 1.0),
    ("fs-ran_del", "files_per_s", "R0 random delete", 1.0),
];
const FSMARK: [Same; 1] = [("fsmark-create", "files_per_s", "R1 FS-Mark, 1000 files of 1 MB", 1.0)];
const THREADED: [Same; 1] =
    [("threaded-random-write", "write_bytes_per_s", "R1 Threaded I/O, random write", 1e6)];
/// The row is five times the insertions, in seconds.
const SQLITE: [Same; 1] =
    [("sqlite-insert-delete-t1", "phoronix_time_ns", "R1 SQLite timed insertions", 2e8)];
const WEB: [Same; 1] = [("web-warm-c2", "pages_per_s", "R1 Apache Benchmark, static page", 1.0)];
const STORAGEMARK: [Same; 3] = [
    ("storagemark-web-heavy", "requests_per_s", "R3 web heavy at its recorded depth", 1.0),
    ("storagemark-db-light", "requests_per_s", "R3 database light", 1.0),
    ("storagemark-db-heavy", "requests_per_s", "R3 database heavy", 1.0),
];

#[test]
fn a_suite_on_a_modelled_machine_gives_the_figures_that_reproduce_gives() {
    let home = tempfile::tempdir().unwrap();
    let x8dtl = ("x8dtl-ahci-bios.toml", "AHCI, BIOS ROM");
    let cases: [(&str, (&str, &str), &[Same]); 7] = [
        ("hdparm", ("pii350-default.toml", "defaults"), &HDPARM),
        ("fs", ("p4sbe-ich8-ahci.toml", "AHCI"), &FS),
        ("fsmark", x8dtl, &FSMARK),
        ("threaded", x8dtl, &THREADED),
        ("sqlite", x8dtl, &SQLITE),
        ("web", x8dtl, &WEB),
        ("storagemark", ("megaraid1600-pci64-66.toml", "MegaRAID 1600, PCI 64/66"), &STORAGEMARK),
    ];
    for (name, (machine, configuration), same) in cases {
        let ran = suite(home.path(), name, machine, &["--json"]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.err);
        let document = ran.json();
        assert_eq!(document["modelled"], true, "{name}");
        assert_eq!(document["engine"]["name"], "model", "{name}");
        for (step, value, test, unit) in same {
            let (own, row) =
                (median(&document, step, value) / unit, reproduced(test, configuration));
            assert!((own / row - 1.0).abs() < 0.01, "{step} gives {own}, and the row {row}");
        }
    }
}

#[test]
fn a_modelled_figure_never_looks_measured_and_what_is_not_played_is_said() {
    let home = tempfile::tempdir().unwrap();
    let ran = suite(home.path(), "hdparm", "c300-after.toml", &[]).ends(0);
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("◇ MODELLED: figures of a model, not of a disk"), "{text}");
    assert!(text.contains("played as sequential reads of 128 KiB, 2 outstanding"), "{text}");
    assert!(text.contains("hdparm-cached: not run: no disk takes part"), "{text}");
    let line = suite(home.path(), "fs", "c300-after.toml", &["--format", "bonnie-csv"]).ends(0);
    assert!(line.out.contains(",MODELLED seekwell,"), "{}", line.out);
}

#[test]
fn a_key_of_the_machine_and_a_tunable_are_set_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let rate = |set: &[&str]| {
        let document =
            suite(home.path(), "hdparm", "c300-after.toml", &[&["--json"], set].concat())
                .ends(0)
                .json();
        (median(&document, "hdparm-device", "read_bytes_per_s"), document)
    };
    let (plain, _) = rate(&[]);
    let (small, document) = rate(&["--set", "host.request_bytes=4096", "--set", "device=500"]);
    assert!(small < plain / 2.0, "{small} with requests of 4 KiB, {plain} without");
    assert_eq!(document["medium"]["set"][0], "host.request_bytes=4096");
    let elapsed = document["phases"][1]["repeats"][0]["elapsed_ns"].as_u64().unwrap();
    assert!((500_000_000..510_000_000).contains(&elapsed), "{elapsed} ns");
    suite(home.path(), "hdparm", "c300-after.toml", &["--set", "host.colour=1"]).ends(2);
    suite(home.path(), "hdparm", ".", &["--set", "host.request_bytes=4096"]).ends(2);
}

#[test]
fn a_suite_that_no_model_can_play_says_why_and_what_does() {
    let home = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["web"], "--suite storagemark plays"),
        (&["blog"], "seekwell replay blog --on MACHINE.toml"),
        (&["fsmark", "--set", "sync=3"], "with sync=1 only, not 3"),
        (&["sqlite", "--set", "journals=wal"], "only insertions by one thread"),
    ];
    for (args, why) in cases {
        let ran = suite(home.path(), args[0], "c300-after.toml", &args[1..]);
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
        assert_eq!(ran.err.trim().lines().count(), 1, "{args:?}: {}", ran.err);
    }
    assert!(!home.path().join("runs").exists(), "nothing is kept");
}

#[test]
fn what_a_suite_will_do_on_a_model_is_shown_with_its_real_time() {
    let home = tempfile::tempdir().unwrap();
    let shown = suite(home.path(), "sqlite", "c300-after.toml", &["--show"]).ends(0);
    for part in ["in real time", "insertions, journal delete, 1 thread: about", "not run: only"] {
        assert!(shown.out.contains(part), "{part} is not in {}", shown.out);
    }
    assert!(!home.path().join("runs").exists(), "nothing is run");
    let real = suite(home.path(), "fsmark", ".", &["--show", "--quick"]).ends(0);
    assert!(real.out.contains("takes 5 s"), "{}", real.out);
}

#[test]
fn suites_that_only_read_run_on_a_raw_device_and_leave_it_as_it_was() {
    let Some(disk) = Loop::new(64 << 20) else { return };
    let content: Vec<u8> =
        (0..64 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(&disk.backing, &content).unwrap();
    let home = tempfile::tempdir().unwrap();
    let writes = || counters(&disk.device)[4];
    let before = writes();
    for (name, phase, value) in [
        ("hdparm", "hdparm-device", "read_bytes_per_s"),
        ("storagemark", "storagemark-db-heavy", "requests_per_s"),
    ] {
        let ran = suite(home.path(), name, &disk.device, &["--quick", "--json"]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.err);
        let document = ran.json();
        assert!(median(&document, phase, value) > 0.0);
        assert_eq!(document["medium"]["kind"], "read-only", "{}", document["medium"]);
        let notes = document["phases"][0]["repeats"][0]["notes"].to_string();
        assert!(name == "hdparm" || notes.contains("is not written to"), "{notes}");
    }
    for name in ["fs", "fsmark", "commit", "threaded", "sqlite", "web", "blog"] {
        let ran = suite(home.path(), name, &disk.device, &["--quick"]);
        assert_eq!(ran.status, 2, "{name}: {}", ran.err);
        assert!(ran.err.contains("runs on a directory"), "{name}: {}", ran.err);
    }
    assert_eq!(writes(), before, "nothing was written");
    assert!(std::fs::read(&disk.backing).unwrap() == content, "and nothing changed");
}
