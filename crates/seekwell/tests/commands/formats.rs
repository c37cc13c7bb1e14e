//! Results in forms that other programs read, read by those programs: fio's own tools, fio-plot,
//! promtool, and our own comparison.

use crate::common::{Place, Ran, run, skip, tool};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn named(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn run(&self, args: &[&str]) -> Ran {
        run(self.0.path(), args)
    }

    /// Measures a mix with commits on a temporary file for long enough to count. `None` if no
    /// disk here has room for it.
    fn mix(&self, args: &[&str]) -> Option<Ran> {
        let place = Place::with_room(16 << 20)?;
        let on = place.path().to_str().unwrap();
        let fixed = ["bench", "--on", on, "--size=16M", "--rw=randrw", "--fsync=8", "--bs=4k"];
        Some(self.run(&[&fixed[..], &["--iodepth=4", "--runtime=700ms"], args].concat()).ends(0))
    }

    /// Measures the engine itself for long enough to count.
    fn null(&self, args: &[&str]) -> Ran {
        self.run(&[&["bench", "--on", "null", "--runtime=600ms"][..], args].concat()).ends(0)
    }
}

/// A JSON text with the order of its keys.
enum Shape {
    Leaf,
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Shape;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("JSON")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Shape::Map(out))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
                let mut out = Vec::new();
                while let Some(item) = list.next_element()? {
                    out.push(item);
                }
                Ok(Shape::List(out))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
                Ok(Shape::Leaf)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
                Ok(Shape::Leaf)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
                Ok(Shape::Leaf)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
                Ok(Shape::Leaf)
            }
            fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
                Ok(Shape::Leaf)
            }
        }
        from.deserialize_any(Any)
    }
}

/// Asserts that every key of ours is one of fio's, in fio's order, and notes those it lacks.
/// Options, percentiles and bins are not of a fixed set, and what is said of a disk differs between
/// versions of fio.
fn within(ours: &Shape, fios: &Shape, at: &str, lacks: &mut BTreeSet<String>) {
    match (ours, fios) {
        (Shape::Map(ours), Shape::Map(fios)) => {
            let mut rest = fios.iter();
            for (key, value) in ours.iter().filter(|(key, _)| key != "seekwell") {
                let found = rest.by_ref().find(|(theirs, _)| {
                    let same = theirs == key;
                    if !same {
                        lacks.insert(format!("{at}{theirs}"));
                    }
                    same
                });
                let (_, theirs) = found.unwrap_or_else(|| panic!("{at}{key} is not fio's"));
                if !["job options", "percentile", "bins", "disk_util"].contains(&key.as_str()) {
                    within(value, theirs, &format!("{at}{key}."), lacks);
                }
            }
            lacks.extend(rest.map(|(theirs, _)| format!("{at}{theirs}")));
        }
        (Shape::List(ours), Shape::List(fios)) => {
            ours.iter().zip(fios).for_each(|(a, b)| within(a, b, at, lacks));
        }
        (Shape::Leaf, Shape::Leaf) => {}
        _ => panic!("{at} is of another kind than fio's"),
    }
}

/// What docs/formats.md says is left out.
const LEFT_OUT: [&str; 9] = [
    "jobs.ctx",
    "jobs.iodepth_complete",
    "jobs.iodepth_submit",
    "jobs.latency_depth",
    "jobs.latency_percentile",
    "jobs.latency_target",
    "jobs.latency_window",
    "jobs.majf",
    "jobs.minf",
];

#[test]
fn it_has_fios_keys_in_fios_order_and_lacks_what_the_documentation_says() {
    let Some(version) = tool("fio", &["--version"]) else { return skip("fio is not installed") };
    let home = Home::new();
    let Some(ours) = home.mix(&["--format=fio-json+", "--no-keep"]) else { return };
    let file = home.named("fio");
    let fio = [
        "--name=a",
        &format!("--filename={file}"),
        "--size=16m",
        "--rw=randrw",
        "--fsync=8",
        "--ioengine=psync",
        "--runtime=1",
        "--time_based",
        "--description=x",
        "--clat_percentiles=1",
        "--lat_percentiles=1",
        "--output-format=json+",
    ];
    let fios = tool("fio", &fio).expect("fio runs");
    let shape = |text: &str| serde_json::from_str::<Shape>(text).expect("one JSON document");
    let mut lacks = BTreeSet::new();
    within(&shape(&ours.out), &shape(&fios), "", &mut lacks);
    if version.trim() == "fio-3.33" {
        assert_eq!(lacks.iter().map(String::as_str).collect::<Vec<_>>(), LEFT_OUT);
    }
}

#[test]
fn fios_own_tool_takes_every_bin_of_it() {
    let tool_name = "fio_jsonplus_clat2csv";
    if tool(tool_name, &["--help"]).is_none() {
        return skip("fio_jsonplus_clat2csv does not run here");
    }
    let home = Home::new();
    let Some(ran) = home.mix(&["--format=fio-json+", "--repeats=2"]) else { return };
    let (json, csv) = (home.named("out.json"), home.named("out.csv"));
    std::fs::write(&json, &ran.out).unwrap();
    tool(tool_name, &[&json, &csv]).expect("it is read");
    let validated = tool(tool_name, &[&json, &csv, "--validate"]).expect("it validates");
    assert_eq!(validated.matches("validated").count(), 2, "one for each job: {validated}");
    for number in 0..2 {
        let rows = std::fs::read_to_string(home.path(&format!("out_job{number}.csv"))).unwrap();
        let heads: Vec<_> = rows.lines().next().unwrap().split(", ").collect();
        let reads = heads.iter().position(|h| *h == "read_clat_ns_count").unwrap();
        let count = |row: &str| row.split(", ").nth(reads)?.trim().parse::<u64>().ok();
        let counted: u64 = rows.lines().skip(1).filter_map(count).sum();
        assert_eq!(counted, ran.json()["jobs"][number]["read"]["total_ios"].as_u64().unwrap());
    }
}

/// Whether this is a picture of some size.
fn is_picture(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|png| png.starts_with(b"\x89PNG") && png.len() > 10_000)
}

#[test]
fn fio_plot_draws_what_is_written_for_it() {
    if tool("fio-plot", &["--help"]).is_none() {
        return skip("fio-plot is not installed");
    }
    let home = Home::new();
    let dir = home.named("plot");
    for depth in ["--iodepth=1", "--iodepth=8"] {
        home.null(&[depth, "--no-keep", "--output-dir", &dir]);
    }
    let chart = |name: &str, kind: &[&str]| {
        let out = home.named(name);
        let fixed = ["-i", &dir, "-T", "title", "-r", "randread", "-n", "1", "-o", &out];
        tool("fio-plot", &[&fixed[..], kind].concat()).expect("fio-plot draws");
        assert!(is_picture(&home.path(name)), "{name}");
    };
    chart("bars.png", &["-l", "-d", "1", "8"]);
    chart("space.png", &["-L", "-d", "1", "8", "-t", "iops"]);
    chart("histogram.png", &["-H", "-d", "8"]);
    chart("time.png", &["-g", "-d", "1", "8", "-t", "bw", "iops", "lat"]);
}

#[test]
fn logs_have_fios_columns_and_never_more_requests_than_were_made() {
    let home = Home::new();
    let Some(ran) = home.mix(&["--write-logs", &home.named("x"), "--json", "--no-keep"]) else {
        return;
    };
    let read = &ran.json()["phases"][0]["repeats"][0]["ops"]["read"];
    let rows = |kind: &str| -> Vec<[u64; 5]> {
        let text = std::fs::read_to_string(home.path(&format!("x_{kind}.1.log"))).unwrap();
        let row = |line: &str| {
            let fields = line.split(", ").map(|f| f.parse().unwrap()).collect::<Vec<_>>();
            <[u64; 5]>::try_from(fields).expect("five columns")
        };
        text.lines().map(row).filter(|row| row[2] == 0).collect()
    };
    let (bw, iops, lat) = (rows("bw"), rows("iops"), rows("lat"));
    assert!(!iops.is_empty() && iops.len() == bw.len() && iops.len() == lat.len());
    // A rate is that of the window which ends there; one without requests has no row.
    let ends: Vec<u64> = std::iter::once(0).chain(iops.iter().map(|row| row[0])).collect();
    assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "time goes on: {ends:?}");
    let window = ends.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap() as f64 / 1e3;
    let requests: f64 = iops.iter().map(|row| row[1] as f64 * window).sum();
    let made = read["requests"].as_f64().unwrap();
    // Milliseconds and whole rates are rounded.
    assert!(requests <= made * 1.02 + iops.len() as f64, "{requests} of {made}");
    let longest = read["latency"]["ns_max"].as_u64().unwrap();
    assert!(lat.iter().all(|row| row[1] > 0 && row[1] <= longest), "means below the longest");
    let sizes = bw.iter().zip(&iops).all(|(bw, iops)| bw[1].abs_diff(iops[1] * 4) <= 4);
    assert!(sizes, "KiB a second are four times the requests of 4 KiB");
}

#[test]
fn promtool_accepts_the_metrics() {
    let home = Home::new();
    let label = r#"--label=a "quoted" \ name"#;
    let Some(ran) = home.mix(&["--format=prometheus", label]) else { return };
    let older = ran.out;
    assert!(older.contains(r#"label="a \"quoted\" \\ name""#), "{older}");
    assert!(older.contains("seekwell_requests_per_second{"), "{older}");
    let file = home.path("seekwell.prom");
    let named = home.named("seekwell.prom");
    let newer = home.run(&["report", "last", "--format=openmetrics", "--textfile", &named]);
    assert_eq!(newer.out, std::fs::read_to_string(&file).unwrap());
    // It replaces its own file and no other.
    let again = ["report", "last", "--textfile", &named];
    assert_eq!(home.run(&again).status, 0);
    std::fs::write(&file, "node_load1 3\n").unwrap();
    let refused = home.run(&again);
    assert_eq!(refused.status, 3, "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "node_load1 3\n");
    let kept = home.run(&["runs", "show", "last", "--json"]).json();
    let made = kept["phases"][0]["repeats"][0]["ops"]["read"]["requests"].as_u64().unwrap();
    let count = |end: &str| {
        let line = |line: &&str| line.contains("op=\"read\"") && line.contains(end);
        let found =
            newer.out.lines().filter(|l| l.starts_with("seekwell_latency_seconds_")).find(line);
        found.unwrap().rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((count("le=\"+Inf\""), count("_count")), (made, made));
    if tool("promtool", &["--version"]).is_none() {
        return skip("promtool is not installed");
    }
    for text in [older, newer.out] {
        std::fs::write(&file, &text).unwrap();
        let checked = std::process::Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(std::fs::File::open(&file).unwrap())
            .output()
            .unwrap();
        assert!(checked.status.success(), "{checked:?}");
        assert!(checked.stdout.is_empty() && checked.stderr.is_empty(), "{checked:?}");
    }
}

#[test]
fn our_comparison_finds_the_same_figures_in_it_as_were_measured() {
    let home = Home::new();
    let Some(ran) = home.mix(&["--format=fio-json"]) else { return };
    let file = home.named("ours.json");
    std::fs::write(&file, &ran.out).unwrap();
    let kept = home.run(&["runs", "show", "last", "--json"]).json();
    let compared = home.run(&["compare", &file, &file, "--json"]).json();
    let metrics = compared["against"][0]["metrics"].as_array().expect("metrics");
    let found = |name: &str| {
        let metric = metrics.iter().find(|m| m["metric"] == name);
        metric.unwrap_or_else(|| panic!("no {name}"))["a"]["median"].as_f64().unwrap()
    };
    for op in ["read", "write"] {
        for metric in ["requests_per_s", "latency_ns_mean", "latency_ns_max", "latency_ns_p50"] {
            let name = format!("{op}.{metric}");
            let measured = kept["phases"][0]["metrics"][&name]["median"].as_f64().unwrap();
            let near = (found(&name) / measured - 1.0).abs();
            assert!(near < 1e-9, "{name}: {} and {measured}", found(&name));
        }
        let name = format!("{op}.rate_bytes_per_s");
        let measured = kept["phases"][0]["metrics"][&name]["median"].as_f64().unwrap();
        assert!((found(&name) - measured).abs() <= 1.0, "fio has whole bytes");
    }
}

#[test]
fn a_kept_run_is_written_later_as_it_was_at_first() {
    let home = Home::new();
    let first = home.null(&["--format=fio-json+"]).out;
    let later = home.run(&["report", "last", "--format=fio-json+"]);
    assert_eq!((later.status, &later.out), (0, &first));
    let ran = home.run(&["report", "last", "--format=csv"]);
    let kept = home.run(&["runs", "show", "last", "--json"]).json();
    let metrics = kept["phases"][0]["metrics"].as_object().unwrap();
    assert_eq!(ran.out.lines().count(), 1 + metrics.len());
    let rate = metrics["read.requests_per_s"]["median"].as_f64().unwrap();
    let row = ran.out.lines().find(|l| l.contains(",read.requests_per_s,")).expect("a row");
    assert!(row.ends_with(&format!(",{rate},{rate},{rate},1")), "{row}");
    let two = home.run(&["report", "last", "last", "--format=fio-json"]);
    assert_eq!((two.status, two.out.as_str()), (2, ""));
}

#[test]
fn nothing_but_the_document_is_on_standard_output_even_of_an_invalid_run() {
    let home = Home::new();
    let ran = home.run(&["bench", "--on", "null", "--runtime=100ms", "--format=fio-json"]).ends(4);
    let json: Value = ran.json();
    assert!(json["jobs"][0]["desc"].as_str().unwrap().contains("invalid: too short"));
    assert!(!json["seekwell"]["invalid"].as_array().unwrap().is_empty());
    assert!(ran.err.contains("too short"), "{}", ran.err);
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_measured() {
    let home = Home::new();
    let missing = home.named("missing/x");
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--on", "null", "--format=bonnie-csv"], 2, "suite fs"),
        (&["--on", "null", "--format=csv", "--json"], 2, "cannot be used with"),
        (&["--suite", "sqlite", "--on", ".", "--format=fio-json"], 2, "no fio jobs"),
        (&["--suite", "sqlite", "--on", ".", "--output-dir=x"], 2, "no fio jobs"),
        (&["--on", "null", "--write-logs", &missing], 3, "cannot write"),
    ];
    for (args, status, says) in cases {
        let ran = home.run(&[&["bench"][..], args].concat());
        assert_eq!(ran.status, status, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
    let kept = home.run(&["runs", "list", "--json"]);
    assert_eq!(kept.json()["runs"].as_array().map(Vec::len), Some(0), "{}", kept.out);
}
