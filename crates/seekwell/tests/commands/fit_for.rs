//! `seekwell fit-for`: demands of programs, put to models and to this machine's disk.

use crate::common::schema::complete;
use crate::common::{Loop, Place, run};
use std::fs;
use std::path::Path;

fn fit_for(home: &Path, words: &[&str]) -> crate::common::Ran {
    run(home, &[&["fit-for"], words, &["--no-keep"]].concat())
}

fn names(home: &Path) -> Vec<String> {
    let list = run(home, &["fit-for", "--json"]).ends(0).json();
    complete(&["demands-1.json"], std::slice::from_ref(&list), &[]);
    let demands = list["demands"].as_array().expect("demands");
    demands.iter().map(|demand| demand["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn every_demand_measures_what_it_bounds() {
    let home = tempfile::tempdir().expect("a folder");
    for name in names(home.path()) {
        let once = [&*name, "--on", "volume-gp3", "--repeats", "1", "--json"];
        let document = fit_for(home.path(), &once).ends(1).json();
        let study = &document["study"];
        assert_eq!((&study["kind"], &study["verdict"]), (&"demand".into(), &"undecided".into()));
        for bound in study["bounds"].as_array().expect("bounds") {
            assert_eq!(bound["values"].as_array().map(Vec::len), Some(1), "{name}: {bound}");
        }
    }
}

#[test]
fn a_model_fits_or_does_not_and_the_report_says_what_limits_it() {
    let home = tempfile::tempdir().expect("a folder");
    let fits = fit_for(home.path(), &["etcd", "--on", "nvme-ssd"]).ends(0).out;
    assert!(fits.contains("FITS etcd: all bounds are kept"), "{fits}");
    let slow = fit_for(home.path(), &["etcd", "--on", "sata-7200"]).ends(1).out;
    assert!(slow.contains("DOES NOT FIT etcd."), "{slow}");
    let words = slow.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("What limits it: seeks and rotation."), "{slow}");
    for text in [fits, slow] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    // Not one read in a run is enough for its percentile.
    let never = ["elasticsearch", "--on", "sata-7200", "--json"];
    let document = fit_for(home.path(), &never).ends(1).json();
    assert_eq!(document["study"]["verdict"], "does-not-fit");
}

const OWN: &str = r#"
title = "a log of mine"
sources = ["me"]
job = "[log]\nioengine=sync\nrw=write\nbs=4k\nfdatasync=1\nsize=1m\ntime_based\nruntime=600ms\n"
[[bound]]
job = "log"
metric = "write.requests_per_s"
at_least = 1
why = "it is too slow"
"#;

#[test]
fn a_demand_of_ones_own_is_measured_in_a_folder_and_leaves_nothing_there() {
    let home = tempfile::tempdir().expect("a folder");
    let Some(folder) = Place::with_room(64 << 20) else { return };
    let own = home.path().join("own.toml");
    let on = ["--on", folder.path().to_str().expect("text"), "--json"];
    let put = |text: &str| {
        fs::write(&own, text).expect("it is written");
        fit_for(home.path(), &[&[own.to_str().expect("text")], &on[..]].concat())
    };
    let document = put(OWN).ends(0).json();
    assert_eq!(document["study"]["verdict"], "fits");
    assert_eq!(document["phases"][0]["repeats"].as_array().map(Vec::len), Some(5));
    let hard = OWN.replace("at_least = 1", "at_least = 1e12");
    assert_eq!(put(&hard).ends(1).json()["study"]["verdict"], "does-not-fit");
    // A bound on a metric that does not exist stays undecided.
    let unknown = put(&OWN.replace("write.requests_per_s", "wriet.requests_per_s")).ends(1).json();
    assert_eq!(unknown["study"]["verdict"], "undecided");
    assert_eq!(unknown["phases"][0]["repeats"].as_array().map(Vec::len), Some(5));
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}

#[test]
fn what_is_unknown_impossible_or_would_overwrite_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let unknown = fit_for(home.path(), &["ectd"]).ends(2).err;
    assert!(unknown.contains("did you mean etcd?"), "{unknown}");
    let own = home.path().join("own.toml");
    fs::write(&own, OWN.replace("at_least = 1", "at_least = 0")).expect("it is written");
    let impossible = fit_for(home.path(), &[own.to_str().expect("text")]).ends(2).err;
    assert!(impossible.contains("needed is a number above 0"), "{impossible}");
    let file = home.path().join("precious");
    let data = vec![7; 32 << 20];
    fs::write(&file, &data).expect("it is written");
    let refused = fit_for(home.path(), &["etcd", "--on", file.to_str().expect("text")]).ends(3);
    assert!(refused.err.contains("would be overwritten"), "{}", refused.err);
    assert_eq!(fs::read(&file).expect("it is there"), data);
    let Some(disk) = Loop::new(64 << 20) else { return };
    let refused = fit_for(home.path(), &["etcd", "--on", &disk.device]).ends(3);
    assert!(refused.err.contains("--destroy"), "{}", refused.err);
}

#[test]
fn what_a_demand_asks_for_is_shown_with_its_sources() {
    let home = tempfile::tempdir().expect("a folder");
    let shown = run(home.path(), &["fit-for", "etcd", "--show"]).ends(0).out;
    for part in ["at most 10.0 ms", "https://etcd.io/docs", "sequential writes", "2300 bytes"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn several_targets_stand_side_by_side_with_the_bound_that_is_tightest() {
    let home = tempfile::tempdir().expect("a folder");
    let both = ["etcd", "--on", "sata-7200", "--on", "nvme-ssd"];
    let table = fit_for(home.path(), &both).ends(0).out;
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert!(rows[0].contains("does not fit") && rows[0].contains("(modelled)"), "{table}");
    assert!(rows.iter().any(|row| row.contains("nvme-ssd") && row.contains("fits")), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let document = fit_for(home.path(), &[&both[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(document["targets"][1]["verdict"], "fits");
    complete(&["fit-1.json"], &[document], &[]);
    fit_for(home.path(), &["etcd", "--on", "sata-7200", "--on", "sata-7200"]).ends(1);
}
