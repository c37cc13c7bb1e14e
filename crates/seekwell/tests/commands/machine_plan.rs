//! `seekwell machine plan`: which machines bear a load, and how much of it.

use crate::common::run;
use crate::common::schema::complete;
use crate::page::data;
use serde_json::Value;
use std::fs;

/// A drive that serves one request at a time, each in 100 us.
const ONE_SERVER: &str = "\
title = \"one server\"
about = \"serves one request at a time\"
[drive]
from = \"assumed\"
kind = \"flow\"
capacity_bytes = 1073741824
depth = 64
mixed = 1.0
flush_ns = 0
[drive.read]
from = \"assumed\"
law = \"bottleneck\"
alone_ns = 100000.0
each_ns = 100000.0
byte_ns = 0.0
[drive.write]
from = \"assumed\"
law = \"bottleneck\"
alone_ns = 100000.0
each_ns = 100000.0
byte_ns = 0.0
";

#[test]
fn machines_are_planned_by_rate_depth_and_trace_and_every_key_is_described() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("one.toml").display().to_string();
    fs::write(&file, ONE_SERVER).expect("writes");
    let plan = |machines: &[&str], more: &[&str]| {
        run(home.path(), &[&["machine", "plan"], machines, more].concat())
    };
    let price = format!("{file}=50");
    let asked = ["--workload", "randread,iodepth=64,rate_iops=4000", "--limit", "p50=5ms"];
    let asked = [&asked[..], &["--price", &price, "--requests", "5000"]].concat();
    let document = plan(&[&file, "nvme-ssd.toml"], &[&asked[..], &["--json"]].concat()).json();
    complete(&["plan-1.json"], std::slice::from_ref(&document), &[]);
    let row = |document: &Value, n: usize| document["rows"][n].clone();
    let of = |value: &Value| value.as_f64().expect("a number");
    let (one, nvme) = (row(&document, 0), row(&document, 1));
    assert_eq!((&one["given"]["holds"], &nvme["given"]["holds"]), (&true.into(), &true.into()));
    // It serves 10,000 a second, whatever comes.
    let most = 4000.0 * of(&one["most"]["factor"]);
    assert!((9_000.0..10_700.0).contains(&most), "{one}");
    assert!(of(&nvme["most"]["factor"]) > 5.0 * of(&one["most"]["factor"]), "{nvme}");
    let price = of(&one["price_per_1000_per_s"]) * of(&one["most"]["requests_per_s"]) / 1000.0;
    assert!((price - 50.0).abs() < 1e-6 && nvme["price"].is_null(), "{one}");
    let text = plan(&[&file, "nvme-ssd.toml"], &asked).ends(0).out;
    assert!(text.contains("holds") && text.contains("price"), "{text}");

    let closed = ["--workload", "randread,iodepth=2", "--limit", "mean=1050us", "--json"];
    let closed = [&closed[..], &["--sweep", "drive.read.each_ns=100000.0,50000.0"]].concat();
    let page = home.path().join("plan.html");
    let closed = [&closed[..], &["-o", page.to_str().expect("a path")]].concat();
    let document = plan(&[&file], &closed).json();
    let shown = data(&page);
    assert_eq!(shown["document"], document, "the page holds what was printed");
    let drawn = &shown["plan"]["plots"][0];
    let curve = drawn["curves"][0]["points"].as_array().expect("points");
    assert_eq!((&drawn["figure"], &drawn["bound"]), (&"mean".into(), &1_050_000.0.into()));
    assert_eq!(curve.len(), document["rows"][0]["trials"].as_array().map_or(0, Vec::len));
    // Each request waits for all that came before it.
    for (point, trial) in curve.iter().zip(document["rows"][0]["trials"].as_array().unwrap()) {
        let (depth, ns) = (of(&point[0]), of(&point[1]));
        assert!((ns / (1e5 * depth) - 1.0).abs() < 0.05, "{point}");
        assert_eq!(trial["holds"] == true, ns <= 1_050_000.0, "{trial}");
    }
    let depth = |n: usize| document["rows"][n]["most"]["depth"].as_u64();
    assert_eq!((depth(0), depth(1)), (Some(10), Some(21)), "{document}");

    let trace = plan(&["nvme-ssd.toml"], &["--workload", "web-light", "--limit", "p99=5ms"]);
    assert!(trace.ends(0).out.contains("web-light"), "a trace that ships");
}

#[test]
fn a_limit_or_a_load_that_says_nothing_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let plan = |workload: &str, limit: &str| {
        let asked = ["machine", "plan", "nvme-ssd.toml", "--workload", workload, "--limit", limit];
        run(home.path(), &asked)
    };
    for limit in ["p98=1ms", "p99", "p99=0", "iops=-5", "iops=inf"] {
        plan("randread", limit).ends(2);
    }
    plan("randread,bogus=1", "p99=1ms").ends(2);
    let few = plan("randread,iodepth=4", "p99.99=1ms").ends(4);
    assert!(few.err.contains("it takes 100000"), "{}", few.err);
}
