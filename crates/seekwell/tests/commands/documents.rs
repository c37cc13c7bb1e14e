//! Every JSON document of every command, as it was when it was last looked at. Modelled targets,
//! saved machines and the virtual clock make them the same on any machine, so that a
//! change inside shows what it changes for users of the data.
//!
//! `SEEKWELL_KEEP_DOCUMENTS=1 cargo test --workspace --test commands documents` keeps what
//! is printed now.

use crate::common::{self, seekwell};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/documents.jsonl");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A name and a command line: TMP is a folder with the inputs of [`prepare`], SAVED the folder of
/// saved machines. Commands run in this order and share their kept runs.
const COMMANDS: &[(&str, &str)] = &[
    ("bench", "bench --on sata-7200.toml --rw=randread --iodepth=4 --runtime=2s --label=a"),
    ("bench-b", "bench --on sata-7200.toml --rw=randread --iodepth=32 --runtime=2s --label=b"),
    ("bench-mix", "bench --on sata-ssd.toml --rw=randrw --rwmixread=70 --bs=16k --iodepth=8"),
    ("bench-commits", "bench --on p4sbe-ich8-ahci.toml --rw=write --fsync=1 --repeats=2"),
    ("bench-zipf", "bench --on nvme-ssd.toml --rw=randread --random_distribution=zipf:1.1"),
    ("bench-rate", "bench --on nvme-ssd.toml --rw=randread --rate_iops=5000 --iodepth=64"),
    ("bench-threads", "bench --on nvme-ssd.toml --rw=randread --iodepth=4 --numjobs=4"),
    (
        "bench-tags",
        "bench --on sata-7200.toml --rw=randrw --iodepth=64 --tags=32 \
        --tag-policy=split",
    ),
    (
        "bench-set",
        "bench --on p4sbe-ich8-ahci.toml --rw=randread --iodepth=8 \
        --set controller.slots=4",
    ),
    ("bench-offset", "bench --on sata-7200.toml --rw=read --bs=1m --offset=1g --size=4g"),
    ("bench-sweep", "bench --on sata-ssd.toml --rw=randread --sweep depth=1..16 --runtime=600ms"),
    (
        "bench-sweep-two",
        "bench --on sata-ssd.toml --rw=randread --sweep depth=1,8 \
        --sweep bs=4k,64k --runtime=600ms",
    ),
    (
        "bench-limit",
        "bench --on nvme-ssd.toml --rw=randread --iodepth=64 --limit p99=1ms \
        --runtime=600ms",
    ),
    ("bench-steady", "bench --on sata-7200.toml --rw=randread --steady --runtime=600ms"),
    ("job", "bench --on sata-7200.toml TMP/job.fio"),
    ("job-swap", "bench --on nvme-ssd.toml TMP/job.fio --format=fio-json+"),
    ("job-trace", "bench --on sata-ssd.toml TMP/trace.fio"),
    ("job-csv", "bench --on nvme-ssd.toml TMP/job.fio --format=csv"),
    ("job-prometheus", "bench --on nvme-ssd.toml TMP/job.fio --format=prometheus"),
    ("show", "bench --on sata-7200.toml TMP/job.fio --show"),
    ("checkup-c300", "checkup --quick c300-before.toml"),
    ("checkup-ide", "checkup --quick x8dtl-ide.toml"),
    ("checkup-raid", "checkup --quick megaraid1600-pci32-33.toml"),
    ("checkup-nvme", "checkup --quick nvme-ssd.toml"),
    ("replay-timed", "replay TMP/long.csv --on sata-7200.toml"),
    ("replay-depth", "replay TMP/long.csv --on nvme-ssd.toml --mode=depth --depth=8"),
    ("replay-recorded", "replay TMP/long.csv --on nvme-ssd.toml --mode=depth --speed=2 --depth=16"),
    ("replay-dependent", "replay TMP/long.csv --on sata-ssd.toml --mode=dependent"),
    ("compare", "compare a b --different-workloads"),
    (
        "compare-one",
        "compare a b --different-workloads --all --metric read.requests_per_s --margin 5%",
    ),
    (
        "experiment-aa",
        "experiment --aa --on sata-7200.toml --rw=randread --runtime=600ms --seed=1 --blocks=8",
    ),
    (
        "experiment",
        "experiment --on sata-7200.toml --rw=randread --runtime=600ms --a iodepth=1 --b iodepth=8 \
         --seed=1 --blocks=8",
    ),
    ("trend", "runs trend read.requests_per_s --phase=rand-read-4k-d1"),
    ("runs", "runs list"),
    ("runs-show", "runs show last"),
    ("trace-info", "trace info TMP/long.csv"),
    ("trace-stats", "trace stats TMP/long.csv"),
    ("trace-convert", "trace convert TMP/long.csv TMP/out.iolog"),
    ("trace-list", "trace list"),
    ("machine-list", "machine list"),
    ("machine-show", "machine show p4sbe-ich8-ahci.toml"),
    ("machine-check", "machine check dragonfly-hdd-before.toml"),
    ("inspect-ahci", "inspect --from SAVED/ahci"),
    ("inspect-piix", "inspect --from SAVED/piix"),
    ("inspect-raid", "inspect --from SAVED/megaraid"),
    ("inspect-nvme", "inspect --from SAVED/nvme-2ctrl"),
    ("inspect-usb", "inspect --from SAVED/usb-uas"),
    ("inspect-slow", "inspect --from SAVED/ahci-1.5Gbps"),
    ("diff", "diff SAVED/piix SAVED/ahci"),
    ("inspect-log", "inspect --log SAVED/ahci-1.5Gbps/dmesg.txt"),
    ("explain", "inspect --explain SW-LINK-001"),
];

/// What is of the moment or of this machine.
const VOLATILE: &[&str] = &[
    "id",
    "started_at",
    "ended_at",
    "created_at",
    "version",
    "git_commit",
    "host",
    "run",
    "date",
    "captured_at",
    "began_at",
    "boot_id",
    "bundle",
    "tool",
    "runs_dir",
    "dir",
    "seconds",
    "time",
    "timestamp",
    "timestamp_ms",
    "kernel",
];

#[test]
fn documents_are_as_they_were() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let saved = Path::new(ROOT).join("../shared/fixtures");
    let mut printed = BTreeMap::new();
    for (name, line) in COMMANDS {
        if line.contains("SAVED") && !saved.exists() {
            common::skip(&format!("{name}: no saved machines beside the project"));
            continue;
        }
        printed.insert((*name).to_owned(), document(home.path(), &saved, name, line));
    }
    if std::env::var_os("SEEKWELL_KEEP_DOCUMENTS").is_some() {
        let line =
            |(name, value): (&String, &Value)| format!("{}\n", serde_json::json!([name, value]));
        fs::write(KEPT, printed.iter().map(line).collect::<String>()).unwrap();
        return;
    }
    let kept = fs::read_to_string(KEPT).unwrap();
    let mut changes = Vec::new();
    let mut known = Vec::new();
    for line in kept.lines() {
        let (name, before): (String, Value) = serde_json::from_str(line).unwrap();
        if let Some(now) = printed.get(&name) {
            differences(&name, &before, now, &mut changes);
        }
        known.push(name);
    }
    changes.extend(printed.keys().filter(|n| !known.contains(n)).map(|n| format!("{n}: new")));
    let shown = changes.iter().take(30).map(|c| format!("  {c}\n")).collect::<String>();
    assert!(changes.is_empty(), "{} changes:\n{shown}", changes.len());
}

/// Runs one command; a document that is not JSON is kept as lines of text.
fn document(home: &Path, saved: &Path, name: &str, line: &str) -> Value {
    let words = line.split_whitespace().map(|word| {
        let word = word.replace("TMP", home.to_str().unwrap());
        word.replace("SAVED", saved.to_str().unwrap())
    });
    let mut command = seekwell(home);
    command.current_dir(home).args(words);
    if !line.contains("--format") && !line.contains("--show") {
        command.arg("--json");
    }
    let ran = common::done(command.output().unwrap());
    let mut value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|_| Value::from(ran.out.lines().map(str::to_owned).collect::<Vec<_>>()));
    if value == Value::from(Vec::<Value>::new()) {
        value = Value::from(format!("{name}: {}", ran.err));
    }
    let words = [(home.to_str().unwrap(), "TMP"), (saved.to_str().unwrap(), "SAVED")];
    neutral(&mut value, &words);
    serde_json::json!({ "exit": ran.status, "document": value })
}

/// Puts placeholders for what is of the moment or of this machine.
fn neutral(value: &mut Value, words: &[(&str, &str)]) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_volatile = VOLATILE.contains(&key.as_str()) || key.starts_with("cpu_");
                if is_volatile && !value.is_null() {
                    *value = Value::from("…");
                } else {
                    neutral(value, words);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| neutral(item, words)),
        Value::String(text) => {
            for (from, to) in words {
                *text = text.replace(from, to);
            }
            if text.contains("start_timestamp") {
                *text = "…".to_owned();
            }
            *text = text.split_inclusive([' ', '/', '"']).map(without_id).collect();
        }
        _ => {}
    }
}

/// `20261122-090852-bench-dbc0` is another one each time.
fn without_id(word: &str) -> &str {
    let mut parts = word.split('-');
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|p| p.len() == count && p.bytes().all(|b| b.is_ascii_digit()))
    };
    if digits(parts.next(), 8) && digits(parts.next(), 6) { "ID" } else { word }
}

/// Where two documents differ, as paths.
fn differences(at: &str, before: &Value, now: &Value, out: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(b), Value::Object(n)) => {
            for key in b.keys().chain(n.keys().filter(|k| !b.contains_key(*k))) {
                let path = format!("{at}.{key}");
                match (b.get(key), n.get(key)) {
                    (Some(b), Some(n)) => differences(&path, b, n, out),
                    (Some(_), None) => out.push(format!("{path}: gone")),
                    _ => out.push(format!("{path}: new")),
                }
            }
        }
        (Value::Array(b), Value::Array(n)) if b.len() == n.len() => {
            let pairs = b.iter().zip(n).enumerate();
            pairs.for_each(|(i, (b, n))| differences(&format!("{at}[{i}]"), b, n, out));
        }
        _ if before == now => {}
        _ => {
            let short = |v: &Value| v.to_string().chars().take(90).collect::<String>();
            out.push(format!("{at}: {} → {}", short(before), short(now)));
        }
    }
}

/// A trace and two job files.
fn prepare(home: &Path) {
    let mut trace = "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,pid,\
        process,cpu,error,flags\n"
        .to_owned();
    for i in 0..6_000_u64 {
        let (at, offset) = (i * 250_000, i * 7919 % 100_003 * 4096);
        let op = if i % 4 == 0 { "write" } else { "read" };
        let done = at + 90_000 + i % 7 * 1000;
        trace +=
            &format!("{at},{},{done},{op},{offset},4096,\"8,0\",{},db,0,0,\n", at + 500, i % 3 + 1);
    }
    fs::write(home.join("long.csv"), trace).unwrap();
    let job = "[global]\nsize=256m\nruntime=2\n[reader]\nrw=randread\nbs=4k\niodepth=8\n\
        ioengine=libaio\n[writer]\nrw=write\nbssplit=4k/50:64k/50\nfsync=8\n[late]\nstonewall\n\
        rw=randrw\nrwmixread=60\nrandom_distribution=zoned:60/10:40/90\nnumjobs=2\n\
        group_reporting\nrate_iops=200\n";
    fs::write(home.join("job.fio"), job).unwrap();
    let mut iolog = "fio version 2 iolog\n/d/f add\n/d/f open\n".to_owned();
    for i in 0..2_000 {
        iolog += &format!("/d/f read {} 4096\n", i * 977 % 5000 * 4096);
    }
    fs::write(home.join("reads.iolog"), iolog + "/d/f close\n").unwrap();
    let path: PathBuf = home.join("reads.iolog");
    let job = format!("[trace]\nread_iolog={}\nreplay_no_stall=1\niodepth=4\n", path.display());
    fs::write(home.join("trace.fio"), job).unwrap();
}
