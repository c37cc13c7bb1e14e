//! Write amplification: `bench --suite wa`, and as a value of any run on a drive that reports it.

use crate::common::{Loop, run};
use serde_json::Value;

/// A modelled drive of 1 GiB with a quarter more flash, three superblocks of 4 MiB for the log
/// itself, and its garbage collection in its steady state.
const SMALL: [&str; 6] = [
    "--on=nvme-ssd.toml",
    "--set=drive.capacity_bytes=1073741824",
    "--set=drive.flash_bytes=1354760192",
    "--set=drive.pages_per_block=4",
    "--set=drive.fill=random",
    "--json",
];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Desnoyers (2012): of greedy garbage collection under even writes, with `share` of the flash in
/// use, the victim's valid part v solves (1 − v)/(−ln v) = share, and 1/(1 − v) is written a write.
fn closed_form(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1.0 - 1e-9);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if (1.0 - middle) / -middle.ln() < share { low = middle } else { high = middle }
    }
    1.0 / (1.0 - low)
}

#[test]
fn a_modelled_drive_writes_what_the_closed_form_says_and_what_its_tallies_say() {
    let home = tempfile::tempdir().unwrap();
    let args = [&["bench", "--suite=wa", "--runtime=2s"], &SMALL[..]].concat();
    let document = run(home.path(), &args).ends(0).json();
    let study = &document["study"];
    assert_eq!(study["kind"], "amplification");
    let [even, skewed] = [&study["workloads"][0], &study["workloads"][1]];
    assert_eq!(even["steady"]["outcome"]["kind"], "reached", "{study}");
    let (found, wanted) = (number(&even["write_amplification"]), closed_form(1.0 / 1.25));
    assert!((found / wanted - 1.0).abs() < 0.03, "{found} for {wanted}");
    // The ratio of the sums, and of each round.
    let ratio = number(&even["media_written_bytes"]) / number(&even["host_written_bytes"]);
    assert!((found / ratio - 1.0).abs() < 1e-9, "{found} of {ratio}");
    let rounds = even["rounds"].as_array().unwrap();
    assert!(rounds.iter().all(|round| (number(round) / wanted - 1.0).abs() < 0.1), "{rounds:?}");
    assert!(number(&skewed["write_amplification"]) > 1.0, "{skewed}");
    let phase = &document["phases"][0];
    assert_eq!(phase["name"], "wa-even");
    // Blocks of 4 KiB, and those on their way when a round ended.
    let (host, asked) = (
        number(&phase["metrics"]["host_written_bytes"]["median"]),
        number(&phase["metrics"]["write.requests_per_s"]["median"]) * 2.0 * 4096.0,
    );
    assert!((host / asked - 1.0).abs() < 0.01, "{host} for {asked}");
    let shown = run(home.path(), &["runs", "show", "last"]).ends(0);
    assert!(shown.out.contains("bytes written to flash for each of the host's"), "{}", shown.out);
}

#[test]
fn any_run_that_writes_tells_what_a_modelled_drive_wrote_and_one_that_reads_does_not() {
    let home = tempfile::tempdir().unwrap();
    let metrics = |rw: &str| {
        let args = [&["bench", rw, "--runtime=1s", "--iodepth=32"], &SMALL[..]].concat();
        run(home.path(), &args).ends(0).json()["phases"][0]["metrics"].clone()
    };
    let ratio = number(&metrics("--rw=randwrite")["write_amplification"]["median"]);
    assert!((ratio / closed_form(0.8) - 1.0).abs() < 0.1, "{ratio}");
    assert_eq!(metrics("--rw=randread")["write_amplification"], Value::Null);
    let shown = run(home.path(), &["bench", "--rw=randwrite", "--runtime=1s", SMALL[0]]).ends(0);
    assert!(shown.out.contains("bytes to the medium for each written"), "{}", shown.out);
    let column = |page: &str| page.contains("| reached the device | write amplification |");
    let markdown = |rw| {
        run(home.path(), &["bench", rw, "--runtime=1s", SMALL[0]]).ends(0);
        run(home.path(), &["report", "last", "--markdown"]).ends(0).out
    };
    assert!(column(&markdown("--rw=randwrite")) && !column(&markdown("--rw=randread")));
}

#[test]
fn a_drive_that_does_not_tell_is_refused_before_anything_is_written() {
    let home = tempfile::tempdir().unwrap();
    let wa = ["bench", "--suite=wa", "--no-keep"];
    let ran = run(home.path(), &[&wa[..], &["--on=sata-7200.toml"]].concat()).ends(3);
    assert!(ran.err.contains("does not tell what it writes to its flash"), "{}", ran.err);
    let Some(disk) = Loop::new(64 << 20) else { return };
    let serial = disk.backing.to_str().unwrap();
    let on = ["--on", &disk.device, "--destroy", serial];
    let ran = run(home.path(), &[&wa[..], &on].concat()).ends(3);
    assert!(ran.err.contains("log page C0h"), "{}", ran.err);
    let held = std::fs::read(&disk.backing).unwrap();
    assert!(held.iter().all(|byte| *byte == 0), "the device was written");
}
