//! Comparisons through the real program: two published lines, kept runs, fio's own output, a result
//! file of the Phoronix Test Suite, claims and exit codes, and input that means harm.

use crate::common::bonnie::{AHCI, PIIX};
use crate::common::{self, run, skip, tool};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn run(&self, args: &[&str]) -> common::Ran {
        run(self.0.path(), args)
    }

    /// Measures the null target for long enough to count and keeps it.
    fn bench(&self, label: &str, depth: &str) {
        let args = ["bench", "--on", "null", "--runtime=600ms", "--json", "--label", label];
        self.run(&[&args[..], &["--iodepth", depth]].concat()).ends(0);
    }

    /// Keeps copies of the newest run that was made, as made on `day` with these rates.
    fn copies(&self, label: &str, day: &str, rates: &[f64], change: impl Fn(usize, &mut Value)) {
        common::copies(self.0.path(), label, day, rates, change);
    }
}

fn metric<'a>(document: &'a Value, name: &str) -> &'a Value {
    let metrics = document["against"][0]["metrics"].as_array().expect("metrics");
    metrics.iter().find(|m| m["metric"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn figures_that_hdparm_prints_in_mib_are_told_apart_from_mb() {
    // They are 4.9 % apart, and only the checkup said so.
    const SAID: &str = "hdparm prints MiB/s as MB/sec, figures 4.6 % lower";
    let said = |ran: &common::Ran| ran.out.replace("\n", " ").contains(SAID);
    let home = Home::new();
    let text = |rate: u32| {
        let timing = format!("{rate} MB in  3.00 seconds = {rate}.00 MB/sec");
        format!("/dev/sda:\n Timing buffered disk reads: {timing}\n")
    };
    let [one, two] = [100, 120].map(|rate| home.file(&format!("{rate}.txt"), text(rate)));
    let ran = home.run(&["compare", &one, &two]);
    assert!(ran.out.contains("105 MB/s") && said(&ran), "{}{}", ran.err, ran.out);
    assert!(said(&home.run(&["compare", "--markdown", &one, &two])));
    let Some(place) = common::Place::with_room(64 << 20) else { return };
    let on = place.path().display().to_string();
    let suite = ["bench", "--suite", "hdparm", "--quick", "--set", "cached=500", "--on", &on];
    for label in ["one", "two"] {
        let ran = home.run(&[&suite[..], &["--label", label]].concat());
        assert!(ran.status == 0 && said(&ran), "{}{}", ran.err, ran.out);
    }
    let ran = home.run(&["compare", "one", "two"]);
    assert!(said(&ran), "{}{}", ran.err, ran.out);
    // Without results of hdparm no tool is named.
    home.bench("null", "1");
    home.bench("deep", "8");
    assert!(!said(&home.run(&["compare", "null", "deep"])));
}

#[test]
fn of_the_two_published_lines_it_says_that_only_create_and_delete_differ() {
    let home = Home::new();
    let (piix, ahci) = (home.file("piix", PIIX), home.file("ahci", AHCI));
    let ran = home.run(&["compare", &piix, &ahci]).ends(0);
    assert!(ran.out.contains("Only create and delete differ by more than runs usually do."));
    assert!(ran.out.starts_with("ahci against piix: bonnie++, one run each\n"), "{}", ran.out);
    assert!(ran.out.lines().all(|l| l.chars().count() <= 80), "{}", ran.out);
    let document = home.run(&["compare", &piix, &ahci, "--json"]).json();
    assert_eq!(document["schema"], "seekwell/compare/1");
    assert_eq!(document["against"][0]["design"], "one-each");
    assert_eq!(metric(&document, "seeks.requests_per_s")["conclusion"], "one-each");
    assert_eq!(metric(&document, "seq_del.files_per_s")["usual"]["beyond"], true);
    // The same from one file, and from the text of the document as it was published.
    let both = home.file("both.csv", format!("# two runs\n{PIIX}{AHCI}"));
    assert!(home.run(&["compare", &both]).out.contains("Only create and delete differ"));
    let markdown = home.run(&["compare", &piix, &ahci, "--markdown"]);
    assert!(markdown.out.contains("| sequential delete | 777.0/s | 1,645/s | +111.7 % |"));
}

#[test]
fn the_lines_are_read_out_of_the_published_document_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let document = std::fs::read_dir(&root).ok().and_then(|entries| {
        let paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.into_iter().find(|p| p.to_string_lossy().contains("000_"))
    });
    let Some(document) = document else {
        return skip("the published document is not here");
    };
    let text: Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();
    let home = Home::new();
    let page = home.file("page.html", text["content"]["rendered"].as_str().unwrap());
    let ran = home.run(&["compare", &page]);
    assert!(ran.out.contains("Only create and delete differ"), "{} {}", ran.out, ran.err);
}

#[test]
fn a_claim_on_one_run_each_is_not_shown_and_exits_1() {
    let home = Home::new();
    let (piix, ahci) = (home.file("piix", PIIX), home.file("ahci", AHCI));
    let claim = ["compare", &piix, &ahci, "--expect", "faster"];
    let ran = home.run(&claim);
    assert_eq!(ran.status, 2, "which metric? {}", ran.out);
    assert!(ran.err.contains("--metric"), "{}", ran.err);
    let ran = home.run(&[&claim[..], &["--metric", "seq_del.files_per_s"]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("is not shown"), "{}", ran.out);
    assert_eq!(home.run(&["compare", &piix, &ahci, "--expect", "better"]).status, 2);
    assert_eq!(home.run(&["compare", &piix, &ahci, "--margin", "0"]).status, 2);
}

#[test]
fn two_labels_of_one_workload_get_a_verdict_and_two_workloads_are_refused_unless_forced() {
    let home = Home::new();
    for _ in 0..4 {
        home.bench("a", "8");
        home.bench("b", "8");
    }
    home.bench("c", "32");
    let document = home.run(&["compare", "a", "b", "--json"]).ends(0).json();
    let against = &document["against"][0];
    assert_eq!(against["design"], "separate");
    assert_eq!(against["setup_known"], true);
    let rate = metric(&document, "read.requests_per_s");
    assert_eq!((&rate["a"]["n"], &rate["role"]), (&json!(4), &json!("primary")));
    let interval = &rate["interval95_percent"];
    let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
    let change = rate["change_percent"].as_f64().unwrap();
    assert!(low <= change && change <= high, "{low} {change} {high}");
    let known = ["faster", "slower", "equivalent", "undecided"];
    assert!(known.iter().any(|k| rate["conclusion"] == *k), "{rate}");
    // Whatever came out, exactly the claim that was found is the one that holds.
    for (claim, found) in [("faster", "faster"), ("slower", "slower")] {
        let status = home.run(&["compare", "a", "b", "--expect", claim]).status;
        assert_eq!(status == 0, rate["conclusion"] == found, "{claim}: {rate}");
    }
    assert_eq!(home.run(&["compare", "a", "a", "--expect", "slower"]).status, 1);

    let ran = home.run(&["compare", "a", "c"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("depth 8") && ran.err.contains("depth 32"), "{}", ran.err);
    let ran = home.run(&["compare", "a", "c", "--different-workloads"]);
    assert_eq!(ran.status, 0);
    assert!(ran.out.contains("DIFFERENT WORKLOADS"), "{}", ran.out);
    assert_eq!(
        home.run(&["compare", "a", "c", "--different-workloads", "--expect", "faster"]).status,
        1
    );
    let ran = home.run(&["compare", "a", "nothing"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("labels: a, b, c"), "{}", ran.err);
    let three = home.run(&["compare", "a", "b", "a", "--json"]).json();
    assert_eq!(three["against"].as_array().unwrap().len(), 2);
}

#[test]
fn a_clear_difference_between_kept_runs_holds_as_a_claim_with_its_margin() {
    let home = Home::new();
    home.bench("seed", "8");
    home.copies("slow", "20200101", &[1000.0, 1001.0, 1002.0, 1003.0, 1004.0], |_, _| {});
    home.copies("fast", "20200102", &[1100.0, 1101.0, 1102.0, 1103.0, 1104.0], |_, run| {
        run["inspection"]["host"]["kernel"]["value"] = json!("9.9.9-other");
    });
    let ran = home.run(&["compare", "slow", "fast", "--expect", "faster"]);
    assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("9.9.9-other"), "the kernel differed: {}", ran.out);
    assert!(ran.out.contains("fast is faster by 10.0 %"), "{}", ran.out);
    let equivalent = |claim| home.run(&["compare", "slow", "fast", "--expect", claim]).status;
    assert_eq!(equivalent("equivalent"), 1);
    assert_eq!(equivalent("equivalent:20%"), 0);
    assert_eq!(equivalent("slower"), 1);
    // A run's id and its bundle's folder name a side too.
    let bundle = home.0.path().join("runs/20200101-000000-bench-0000");
    let ran = home.run(&["compare", "20200102-000000", bundle.to_str().unwrap()]).ends(0);
    assert!(ran.out.contains("one run each"));
}

#[test]
fn runs_of_one_label_in_two_set_ups_failed_runs_and_runs_without_numbers_are_named() {
    let home = Home::new();
    home.bench("seed", "8");
    let rates = [1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0];
    home.copies("mixed", "20200101", &rates, |i, run| {
        if i >= 3 {
            run["inspection"]["host"]["kernel"]["value"] = json!("9.9.9-other");
        }
        if i == 5 {
            run["phases"][0]["metrics"] = json!({});
            run["phases"][0]["repeats"][0]["invalid"] = json!("a cache answered");
        }
    });
    let ran = home.run(&["compare", "seed", "mixed"]).ends(0);
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("NOT ONE SET-UP: the runs of mixed differ in kernel"), "{text}");
    assert!(text.contains("randread-4096-d8: a cache answered"), "{text}");
    assert!(text.contains("no verdict: 1 and 5 runs"), "{text}");
    home.copies("failed", "20200102", &rates, |i, run| {
        run["phases"][0]["repeats"][0]["failed"] = json!(if i == 2 { 7 } else { 0 });
    });
    let ran = home.run(&["compare", "mixed", "failed", "--expect", "slower"]);
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("invalid, because 7 requests failed"), "{}", ran.out);
    home.copies("killed", "20200103", &rates[..2], |_, run| run["status"] = json!("running"));
    let ran = home.run(&["compare", "mixed", "killed"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("no run with the label \"killed\" is complete"), "{}", ran.err);
}

#[test]
fn the_history_of_a_metric_shows_where_it_changed() {
    let home = Home::new();
    home.bench("nightly", "8");
    let noise = |i: usize| [0.0, 3.0, -2.0, 1.0, -3.0, 2.0][i % 6];
    let rates: Vec<f64> = (0..24).map(|i| if i < 12 { 1000.0 } else { 800.0 } + noise(i)).collect();
    home.copies("history", "20200101", &rates, |_, _| {});
    let args = ["runs", "trend", "read.requests_per_s", "--label", "history"];
    let document = home.run(&[&args[..], &["--json"]].concat()).json();
    assert_eq!(document["schema"], "seekwell/trend/1");
    assert_eq!(document["points"].as_array().unwrap().len(), 24);
    let changes = document["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["index"], 12);
    let ran = home.run(&args);
    assert!(ran.out.contains("Worse since 20200101-000012-bench-000c"), "{}", ran.out);
    assert!(ran.out.lines().all(|l| l.chars().count() <= 80), "{}", ran.out);
    let ran = home.run(&["runs", "trend", "read.speed"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("read.speed"), "{}", ran.err);
    assert_eq!(home.run(&["runs", "trend", "other-phase/read.requests_per_s"]).status, 2);
    assert_eq!(home.run(&["runs", "trend", "read.requests_per_s", "--label", "x"]).status, 2);
}

#[test]
fn two_outputs_of_the_real_fio_are_compared_and_two_of_different_jobs_are_not() {
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let home = Home::new();
    let data = home.0.path().join("data");
    let fio = |name: &str, bs: &str, format: &str| {
        let out = home.0.path().join(name).display().to_string();
        let file = data.display().to_string();
        let args = [
            "--name=rr",
            "--rw=randread",
            "--size=4M",
            "--runtime=2s",
            "--time_based=1",
            &format!("--bs={bs}"),
            &format!("--filename={file}"),
            &format!("--output={out}"),
            &format!("--output-format={format}"),
        ];
        tool("fio", &args).expect("fio runs");
        out
    };
    let (one, two) = (fio("one.json", "4k", "json"), fio("two.json", "4096", "json+"));
    let large = fio("large.json", "64k", "json");
    let document = home.run(&["compare", &one, &two, "--json"]).ends(0).json();
    let text: Value = serde_json::from_slice(&std::fs::read(&one).unwrap()).unwrap();
    let iops = &text["jobs"][0]["read"]["iops"];
    assert_eq!(&metric(&document, "read.requests_per_s")["a"]["median"], iops);
    assert!(metric(&document, "read.completion_ns_p99")["a"]["median"].as_f64().unwrap() > 0.0);
    let ran = home.run(&["compare", &one, &large]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("bs of rr is 4096 and 65536"), "{}", ran.err);
    let sides = [format!("{one},{two}"), format!("{two},{one}")];
    let document = home.run(&["compare", &sides[0], &sides[1], "--json"]).json();
    assert_eq!(metric(&document, "read.requests_per_s")["a"]["n"], 2);
}

#[test]
fn the_systems_of_a_phoronix_file_are_compared_with_their_trials_as_runs() {
    let entry = |system: &str, value: &str, raw: &str| {
        format!(
            "<Entry><Identifier>{system}</Identifier><Value>{value}</Value>\
             <RawString>{raw}</RawString></Entry>"
        )
    };
    let system = |name: &str, kernel: &str| {
        format!(
            "<System><Identifier>{name}</Identifier><Hardware>Disk: ST250DM000</Hardware>\
             <Software>OS: Debian, Kernel: {kernel}</Software></System>"
        )
    };
    let text = format!(
        "<?xml version=\"1.0\"?><PhoronixTestSuite>{}{}<Result>\
         <Identifier>pts/sqlite-1.8.0</Identifier><Title>SQLite</Title><AppVersion>3.7</AppVersion>\
         <Arguments></Arguments><Description>Timed Insertions</Description><Scale>Seconds</Scale>\
         <Proportion>LIB</Proportion><DisplayFormat>BAR_GRAPH</DisplayFormat><Data>{}{}</Data>\
         </Result></PhoronixTestSuite>",
        system("IDE", "2.6.32"),
        system("AHCI", "2.6.35"),
        entry("IDE", "1708.55", "1700:1705:1709:1715:1720"),
        entry("AHCI", "794.92", "790:793:795:797:800"),
    );
    let home = Home::new();
    let file = home.file("composite.xml", &text);
    let ran = home.run(&["compare", &file, "--expect", "faster"]);
    assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("AHCI is faster: 53.5 % lower"), "{}", ran.out);
    assert!(ran.out.contains("Kernel: 2.6.32 → 2.6.35"), "{}", ran.out);
    let again = home.0.path().join("again.xml").display().to_string();
    home.run(&["compare", &file, "--phoronix", &again]).ends(0);
    assert_eq!(home.run(&["compare", &again]).out.matches("−53.5 %").count(), 1);
    let nowhere = ["compare", &file, "--phoronix", "/nonexistent/folder/x.xml"];
    assert_eq!(home.run(&nowhere).status, 3);
    let named = [format!("{file}#AHCI"), format!("{file}#IDE")];
    home.run(&["compare", &named[0], &named[1], "--expect", "slower"]).ends(0);
    let ran = home.run(&["compare", &file, &file]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("IDE, AHCI"), "{}", ran.err);
}

#[test]
fn input_that_means_harm_is_refused_in_one_sentence() {
    let home = Home::new();
    let good = home.file("good", PIIX);
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"{}\"><!ENTITY b \"&a;&a;\">]>\
         <PhoronixTestSuite>&b;</PhoronixTestSuite>",
        "x".repeat(1000)
    );
    let cases: [(&str, Vec<u8>, &str); 7] = [
        ("bomb.xml", bomb.into_bytes(), "document type"),
        ("cut.csv", PIIX[..200].into(), "fields"),
        ("cut.json", br#"{"fio version":"fio-3.33","jobs":[{"jobname":"#.to_vec(), "line 1"),
        ("old.json", br#"{"fio version":"fio-2.1","jobs":[]}"#.to_vec(), "fio-3.0"),
        ("deep.json", format!("{{\"fio version\":{}", "[".repeat(100_000)).into_bytes(), "line"),
        ("binary", vec![0, 159, 146, 150, 255], "neither"),
        ("empty", Vec::new(), "neither"),
    ];
    for (name, bytes, words) in cases {
        let path = home.file(name, bytes);
        let ran = home.run(&["compare", &good, &path]);
        assert_eq!(ran.status, 2, "{name}: {}", ran.err);
        assert!(ran.err.contains(words) && ran.err.contains(name), "{name}: {}", ran.err);
        assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 1), "{name}: {}", ran.err);
    }
    let escape = home.file("escape", PIIX.replace("kvm", "\u{1b}[31mkvm"));
    let ran = home.run(&["compare", &good, &escape]).ends(0);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    assert_eq!(home.run(&["compare", &good]).status, 2, "one side is no comparison");
}
