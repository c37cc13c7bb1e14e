//! Warnings: nothing is ignored silently.

use super::read;
use crate::options::{self, Tier};

/// The options that a job with these options is warned of.
fn warned(options: &str) -> Vec<String> {
    let file = read(&format!("[a]\n{}\n", options.replace(' ', "\n"))).unwrap();
    file.warnings.into_iter().map(|warning| warning.option).collect()
}

#[test]
fn an_option_that_cannot_matter_is_warned_of_with_the_reason() {
    for (options, names) in [
        ("iodepth=8", vec!["iodepth"]),
        ("iodepth=8 ioengine=libaio", vec![]),
        ("size=1g runtime=10", vec!["runtime"]),
        ("size=1g runtime=10 time_based", vec![]),
        ("time_based", vec!["time_based"]),
        ("rwmixread=70", vec!["rwmixread"]),
        ("rw=randrw rwmixread=70", vec![]),
        ("rw=randrw rwmixread=70 rwmixwrite=70", vec!["rwmixread"]),
        ("norandommap", vec!["norandommap"]),
        ("rw=randread norandommap", vec![]),
        ("end_fsync=1", vec!["end_fsync"]),
        ("rw=write end_fsync=1 verify_fatal=1", vec!["verify_fatal"]),
        ("numa_mem_policy=local", vec!["numa_mem_policy"]),
        ("hipri ioengine=libaio", vec!["hipri"]),
        ("hipri ioengine=io_uring", vec![]),
        ("threads=4", vec!["threads"]),
        ("zonemode=zbd zonesize=64m read_beyond_wp=1", vec![]),
        ("zonemode=zbd max_open_zones=4 zoneskip=1m", vec!["max_open_zones", "zoneskip"]),
        ("rw=write zonemode=zbd zone_reset_threshold=.5", vec!["zone_reset_threshold"]),
        ("max_open_zones=4", vec!["max_open_zones"]),
        ("bs=4k bsrange=1k-4k", vec!["bs"]),
        ("log_avg_msec=100", vec!["log_avg_msec"]),
        ("allow_mounted_write=1", vec!["allow_mounted_write"]),
        ("rw=write time_based runtime=5 verify=md5", vec!["verify"]),
    ] {
        assert_eq!(warned(options), names, "{options}");
    }
    let file = read("[a]\niodepth=8\n").unwrap();
    assert_eq!(
        file.warnings[0].to_string(),
        "job `a`: iodepth: the engine is synchronous: one request is outstanding in each clone"
    );
}

#[test]
fn every_rule_is_about_options_that_are_done() {
    for name in crate::effects::ruled() {
        let spec = options::find(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(spec.name, name, "rules have canonical names");
        assert_eq!(spec.tier, Tier::Done, "{name}");
    }
}
