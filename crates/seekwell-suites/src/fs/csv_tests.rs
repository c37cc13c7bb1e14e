use super::*;
use crate::settings::Level;
use crate::{find, record};
use seekwell_inspect::Inspection;
use seekwell_io::measurement::Stopped;
use seekwell_io::units::Nanos;
use seekwell_runs::{Engine, RunKind, Status, Tool};
use std::io::Write;
use std::process::{Command, Stdio};

/// A run whose i-th step has the rate (i + 1) · 1000.4 and a longest call of 10^i µs.
fn document(set: &[(&str, &str)]) -> RunDocument {
    let suite = find("fs").unwrap();
    let set: Vec<_> = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let settings = suite.settings(Level::Full, &set).unwrap();
    let phases = (suite.steps)(&settings).into_iter().enumerate().map(|(i, step)| {
        let mut phase = record::phase(suite, &step, &settings);
        let mut repeat = Repeat::new(42, Stopped::Finished);
        repeat.elapsed_ns = Nanos(2_000_000_000);
        repeat.cpu_user_ns = Nanos(200_000_000);
        repeat.cpu_system_ns = Nanos(100_000_000);
        let unit = if step.primary == "rate_bytes_per_s" { 1024.0 } else { 1.0 };
        repeat.values.insert(step.primary.clone(), (i + 1) as f64 * 1000.4 * unit);
        repeat.values.insert("call_ns_max".into(), 1e3 * 10f64.powi(i as i32));
        phase.repeats.push(repeat);
        phase
    });
    let tool = Tool { version: "0".into(), git_commit: None };
    let engine = Engine { name: String::new(), notice: None, cost_ns_per_request: None };
    RunDocument {
        status: Status::Complete,
        label: Some("one, two".into()),
        phases: phases.collect(),
        ..RunDocument::new("x", RunKind::Bench, "", (tool, engine), Inspection::null())
    }
}

#[test]
fn the_line_has_the_fields_of_its_version_in_their_order() {
    let set = [("size", "300m"), ("char_size", "20m"), ("directories", "9"), ("files", "384")];
    let document = document(&set);
    let new = line(&document, 0, Version::V1_98);
    let rates = "1000,15,2001,15,3001,15,4002,15,5002,15,6002.4,15";
    let files = "7003,15,8003,15,9004,15,10004,15,11004,15,12005,15";
    let latencies = "1us,10us,100us,1000us,10000us,100ms,1000ms,10000ms,100s,1000s,10000s,100000s";
    assert_eq!(
        new,
        format!("1.98,2.00a,one  two,1,42,300M,,8192,5,{rates},384,,,9,,{files},{latencies}")
    );
    assert_eq!(new.split(',').count(), 50);
    for (version, name) in [(Version::V1_97, "1.97"), (Version::V1_96, "1.96")] {
        let old = line(&document, 0, version);
        assert_eq!(
            old,
            format!("{name},{name},one  two,1,42,300M,,{rates},384,,,9,,{files},{latencies}")
        );
        assert_eq!(old.split(',').count(), 48);
    }
}

#[test]
fn what_gave_no_figure_is_plus_signs_and_what_was_not_run_is_empty() {
    let mut document = document(&[]);
    document.phases[1].repeats[0].invalid = Some("too short".into());
    document.phases[2].repeats.clear();
    let line = line(&document, 0, Version::V1_98);
    let fields: Vec<&str> = line.split(',').collect();
    assert_eq!(fields[5], "4G");
    assert_eq!(&fields[9..15], ["1000", "15", "+++++", "+++", "", ""]);
    assert_eq!(repeats(&document), 1);
}

#[test]
fn compare_reads_every_version_of_our_line_back_as_the_figures_it_was_made_of() {
    let document = document(&[("directories", "3"), ("file_chunk", "4k"), ("max_size", "9000")]);
    for version in [Version::V1_96, Version::V1_97, Version::V1_98] {
        let text = line(&document, 0, version);
        let read = seekwell_compare::sources::contents(text.as_bytes(), "a.csv").unwrap();
        let group = &read.configurations[0].1[0].groups[0];
        for (i, step) in STEPS.iter().enumerate() {
            let (suffix, unit) = match i {
                5 => ("requests_per_s", 1.0),
                0..5 => ("rate_bytes_per_s", 1024.0),
                _ => ("files_per_s", 1.0),
            };
            let rate = group.value(&format!("{step}.{suffix}")).unwrap().value;
            assert!((rate / unit - (i + 1) as f64 * 1000.4).abs() <= 0.5, "{step}: {rate}");
            let longest = group.value(&format!("{step}.latency_ns_max")).unwrap().value;
            assert_eq!(longest, 1e3 * 10f64.powi(i as i32), "{step}");
            assert_eq!(group.value(&format!("{step}.cpu_percent")).unwrap().value, 15.0);
        }
        let of = |name: &str| group.identity[name].as_str();
        let small = [of("num_files"), of("max_size"), of("num_dirs"), of("file_chunk")];
        assert_eq!(small, ["128", "9000", "3", "4096"]);
        assert_eq!(of("file_size_bytes"), (4_u64 << 30).to_string());
    }
}

#[test]
fn links_are_named_where_bonnie_has_the_size_of_the_largest_file() {
    for (kind, word) in [("hard-links", "link"), ("symlinks", "symlink"), ("files", "")] {
        let line = line(&document(&[("kind", kind)]), 0, Version::V1_98);
        assert_eq!(line.split(',').nth(22), Some(word));
    }
}

#[test]
fn bonnies_own_program_makes_its_page_of_our_line() {
    let child = Command::new("bon_csv2html")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no bon_csv2html here");
        return;
    };
    let line = line(&document(&[]), 0, Version::V1_98);
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let output = child.wait_with_output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    for shown in ["one  two", "4G", "4002", "6002.4", "12005", "10000us", "100ms"] {
        assert!(page.contains(shown), "{shown} is not in {page}");
    }
}
