//! `seekwell machine limits`: what limits each phase, by making each station faster.

use crate::common::run;
use crate::common::schema::complete;
use serde_json::Value;

#[test]
fn a_machine_says_which_of_its_stations_each_load_follows() {
    let home = tempfile::tempdir().expect("a folder");
    let limits = |more: &[&str]| run(home.path(), &[&["machine", "limits"], more].concat());
    let slow = ["sata-ssd", "--set", "link.speed=1.5Gbps"];
    let document = limits(&[&slow[..], &["read,bs=1m,iodepth=4", "randread", "--json"]].concat());
    let document = document.json();
    complete(&["machine-limits-1.json"], std::slice::from_ref(&document), &[]);
    let phase = |n: usize| &document["phases"][n];
    let of = |n: usize, station: &str| -> f64 {
        let gains = phase(n)["gains"].as_array().expect("gains");
        let gain = gains.iter().find(|gain| gain["station"] == station).expect("it has one");
        gain["elasticity"].as_f64().expect("a number")
    };
    assert_eq!(phase(0)["limit"], "link", "{document}");
    assert!(of(0, "link") > 0.8 && of(0, "flash").abs() < 0.05, "{document}");
    assert_eq!(phase(1)["limit"], "latency", "one request at a time: {document}");
    assert!(of(1, "flash") > of(1, "link"), "{document}");

    let text = limits(&["volume-gp3"]).ends(0).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let row = text.lines().find(|line| line.starts_with("throttle")).expect("a row");
    assert!(row.contains("1.00◆"), "{text}");
    assert!(text.contains("Without effect: tags × 2"), "{text}");
}

#[test]
fn a_load_at_a_fixed_rate_has_no_depth_and_what_cannot_be_asked_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let limits = |more: &[&str]| run(home.path(), &[&["machine", "limits"], more].concat());
    let paced = limits(&["nvme-ssd", "randread,iodepth=8,rate_iops=2000", "--json"]).json();
    assert_eq!(paced["phases"][0]["limit"], Value::Null, "{paced}");
    let gains = paced["phases"][0]["gains"].as_array().expect("gains");
    assert!(gains.iter().all(|gain| gain["station"] != "latency"), "{paced}");
    limits(&["nvme-ssd", "randread,bogus=1"]).ends(2);
    limits(&["no-such-machine"]).ends(2);
    limits(&["nvme-ssd", "--set", "link.speed=warp"]).ends(2);
}
