use super::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use seekwell_inspect::{Fact, Inspection, TargetKind};
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::{Series, Stopped};
use seekwell_io::units::Nanos;
use seekwell_runs::{Engine, Phase, Repeat, RepeatDetail, RunKind, Tool};
use std::collections::BTreeMap;

/// A run of a host with one phase of these latencies.
fn run(host: &str, id: &str, day: &str, latencies: &[u64]) -> (RunDocument, Detail) {
    let tool = Tool { version: "0.1.0".into(), git_commit: None };
    let engine = Engine { name: "io_uring".into(), notice: None, cost_ns_per_request: None };
    let mut inspection = Inspection::new("/dev/sda", TargetKind::BlockDevice);
    inspection.host.name = Some(Fact::new(host.to_owned(), "/proc/sys/kernel/hostname"));
    let at = format!("{day}T10:00:00Z");
    let mut run = RunDocument::new(id, RunKind::Bench, at, (tool, engine), inspection);
    let workload = seekwell_io::workload::Workload::closed(
        seekwell_io::workload::Pattern::Random,
        100,
        4096,
        1,
        1 << 30,
    );
    let mut phase = Phase::new("randread", "random read", workload);
    phase.repeats.push(Repeat::new(1, Stopped::Finished));
    run.phases.push(phase);
    let mut histogram = Histogram::default();
    latencies.iter().for_each(|ns| histogram.record(Nanos(*ns)));
    let repeat = RepeatDetail {
        phase: "randread".into(),
        repeat: 0,
        latency_bins: BTreeMap::from([("read".to_owned(), histogram.sparse())]),
        response_bins: BTreeMap::from([("read".to_owned(), Vec::new())]),
        series: Series::new(Nanos::from_millis(50)),
    };
    (run, Detail { repeats: vec![repeat] })
}

fn export(dir: &Path, runs: &[(RunDocument, Detail)]) -> Exported {
    let mut export = Export::open(dir).unwrap();
    runs.iter().for_each(|(run, detail)| export.add(run, detail).unwrap());
    export.finish().unwrap()
}

/// All rows of a table, as what the library reads.
fn read(dir: &Path, name: &str) -> Vec<Vec<(String, Field)>> {
    let table = tables().into_iter().find(|table| table.name == name).unwrap();
    let mut rows = Vec::new();
    for (file, _) in files(dir, &table).unwrap() {
        let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            rows.push(row.unwrap().into_columns());
        }
    }
    rows
}

fn numbers(field: &Field) -> Vec<i64> {
    let Field::ListInternal(list) = field else { panic!("{field:?} is no list") };
    let number = |field: &Field| match field {
        Field::Long(number) => *number,
        other => panic!("{other:?}"),
    };
    list.elements().iter().map(number).collect()
}

#[test]
fn a_percentile_over_hosts_is_that_of_all_requests_together() {
    let dir = tempfile::tempdir().unwrap();
    let fast: Vec<u64> = (1..2000).map(|n| n * 100).collect();
    let slow: Vec<u64> = (1..500).map(|n| n * 90_000).collect();
    let runs = [run("a", "r1", "2026-10-31", &fast), run("b", "r1", "2026-11-01", &slow)];
    assert_eq!(export(dir.path(), &runs), Exported { runs: 2, known: 0 });
    let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
    for row in read(dir.path(), "histograms") {
        let (ns, counts) = (numbers(&row[7].1), numbers(&row[8].1));
        assert_eq!(ns.len(), counts.len());
        let is_response = row[5].1 == Field::Str("response".into());
        assert_eq!(ns.is_empty(), is_response, "an empty list stays one");
        ns.iter().zip(counts).for_each(|(ns, n)| *bins.entry(*ns).or_default() += n as u64);
    }
    let mut all = Histogram::default();
    fast.iter().chain(&slow).for_each(|ns| all.record(Nanos(*ns)));
    let total: u64 = bins.values().sum();
    assert_eq!(total, all.count());
    for q in [0.5, 0.9, 0.99] {
        let mut seen = 0;
        let reached = |(_, n): &(&i64, &u64)| {
            seen += **n;
            seen as f64 >= q * total as f64
        };
        let found = *bins.iter().find(reached).unwrap().0 as u64;
        assert_eq!(Nanos(found), all.quantile(q).unwrap(), "{q}");
    }
}

#[test]
fn a_run_is_there_once_however_often_it_is_exported_and_months_are_partitions() {
    let dir = tempfile::tempdir().unwrap();
    let mut runs = vec![run("a", "r1", "2026-10-31", &[5]), run("a", "r2", "2026-11-01", &[5])];
    assert_eq!(export(dir.path(), &runs), Exported { runs: 2, known: 0 });
    runs.push(run("a", "r3", "2026-11-02", &[5]));
    // Another host's run of the same name is another run.
    runs.push(run("b", "r1", "2026-11-02", &[5]));
    assert_eq!(export(dir.path(), &runs), Exported { runs: 2, known: 2 });
    assert_eq!(read(dir.path(), "runs").len(), 4);
    assert_eq!(read(dir.path(), "histograms").len(), 8);
    let months = entries(&dir.path().join("runs")).unwrap();
    let mut months: Vec<_> = months.iter().map(|m| m.file_name().unwrap().to_owned()).collect();
    months.sort();
    assert_eq!(months, ["month=2026-10", "month=2026-11"]);
    assert!(Export::open(dir.path()).unwrap().there().contains(&["b", "r1"].map(str::to_owned)));
}

/// An export that was killed after some tables of a batch left rows that the next one wrote again.
#[test]
fn what_a_killed_export_left_is_not_counted_twice() {
    let dir = tempfile::tempdir().unwrap();
    export(dir.path(), &[run("a", "r1", "2026-11-01", &[5])]);
    export(dir.path(), &[run("a", "r2", "2026-11-01", &[5]), run("a", "r3", "2026-11-01", &[5])]);
    // The second batch loses its last file, as if that had not been written yet.
    fs::remove_file(dir.path().join("runs/month=2026-11/a-r2.parquet")).unwrap();
    assert_eq!(read(dir.path(), "histograms").len(), 6);
    // Meanwhile the first of its runs was removed.
    export(dir.path(), &[run("a", "r3", "2026-11-01", &[5])]);
    assert_eq!((read(dir.path(), "runs").len(), read(dir.path(), "histograms").len()), (2, 4));
}

#[test]
fn two_exports_to_one_folder_do_not_run_at_once_and_a_foreign_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let first = Export::open(dir.path()).unwrap();
    assert!(matches!(Export::open(dir.path()), Err(FleetError::Busy { .. })));
    drop(first);
    let folder = dir.path().join("runs/month=2026-11");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("x.parquet"), b"PAR1 nonsense PAR1").unwrap();
    let error = Export::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("x.parquet is not a file of such an export"), "{error}");
}
