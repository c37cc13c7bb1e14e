//! The logs that jobs ask for: fio's names, columns and counts.

use super::{Desk, count};
use crate::common::{done, skip, tool};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The rows of a log, each with as many columns as the first.
pub fn rows(path: &Path) -> Vec<Vec<u64>> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let row = |line: &str| line.split(", ").map(|field| field.parse().unwrap()).collect();
    text.lines().map(row).collect()
}

/// The directory in which fio ran the same job file and left its logs.
fn fio_logs(desk: &Desk, text: &str) -> Option<TempDir> {
    if tool("fio", &["--version"]).is_none() {
        skip("fio is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut fio = Command::new("fio");
    fio.arg("--output=/dev/null").arg(desk.file(text)).current_dir(folder.path());
    assert_eq!(done(fio.output().unwrap()).status, 0);
    Some(folder)
}

#[test]
fn each_request_has_a_line_in_each_log_as_fio_writes_them() {
    let Some(desk) = Desk::new() else { return };
    let text = "[global]\nsize=1m\nbs=4k\nrw=randwrite\nlog_offset=1\n\
                [a]\nnumjobs=2\nwrite_bw_log=x\nwrite_iops_log=x\nwrite_lat_log=x\n\
                [b]\nbs=64k\nwrite_lat_log=y\n";
    let ran = desk.bench(text, &["--json", "--no-keep"]);
    assert_eq!(ran.status, 0, "{}\n{}", ran.err, ran.out);
    assert!(!ran.out.contains("has no effect"), "{}", ran.out);
    let logs = |dir: &Path| -> Vec<String> {
        let mut names = super::common::names(dir);
        names.retain(|name| name.ends_with(".log") && !name.contains("_slat"));
        names.sort();
        names
    };
    let ours = logs(desk.dir());
    for name in &ours {
        let of_b = name.starts_with('y');
        let rows = rows(&desk.dir().join(name));
        assert_eq!(rows.len(), if of_b { 16 } else { 256 }, "{name}");
        let len = if of_b { 65536 } else { 4096 };
        assert!(rows.iter().all(|r| r.len() == 6 && r[2] == 1 && r[3] == len), "{name}");
        assert!(rows.windows(2).all(|w| w[0][0] <= w[1][0]), "{name}");
        let mut offsets: Vec<u64> = rows.iter().map(|r| r[4] / len).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..rows.len() as u64).collect::<Vec<_>>(), "{name}: each block once");
    }
    let Some(theirs) = fio_logs(&desk, text) else { return };
    assert_eq!(ours, logs(theirs.path()));
    for name in &ours {
        let theirs = rows(&theirs.path().join(name));
        let ours = rows(&desk.dir().join(name));
        assert_eq!((ours.len(), ours[0].len()), (theirs.len(), theirs[0].len()), "{name}");
    }
}

#[test]
fn windows_add_up_to_the_requests_and_clones_share_a_log_where_that_is_asked_for() {
    let Some(desk) = Desk::new() else { return };
    let text = "[w]\nsize=4m\nbs=4k\nrw=randread\nrate_iops=500\nruntime=1s\ntime_based\n\
                numjobs=2\nwrite_iops_log\nwrite_bw_log\nlog_avg_msec=200\nper_job_logs=0\n";
    let ran = desk.bench(text, &["--json", "--no-keep"]).ends(0);
    let mut names = super::common::names(desk.dir());
    names.sort();
    assert_eq!(names, ["w_bw.log", "w_iops.log"]);
    let made = count(&ran.json(), "w", "read").0 as f64;
    let iops = rows(&desk.dir().join("w_iops.log"));
    // Two clones of five windows and perhaps a last one of a part.
    assert!((10..=12).contains(&iops.len()), "{iops:?}");
    let (mut before, mut sum) = (0, 0.0);
    for row in &iops {
        // The second clone's windows come after the first's. A last one may be of less than 1 ms.
        before = if row[0] >= before { before } else { 0 };
        sum += row[1] as f64 * (row[0] - before) as f64 / 1e3;
        before = row[0];
        assert_eq!((row.len(), row[2], row[3]), (5, 0, 0), "{row:?}");
    }
    assert!((sum / made - 1.0).abs() < 0.03, "{sum} of {made}");
    // A second run replaces the logs of the first on request.
    let refused = desk.bench(text, &["--no-keep"]);
    assert_eq!((refused.status, refused.out.as_str()), (3, ""));
    assert!(refused.err.contains("w_bw.log exists; replace it with --force"), "{}", refused.err);
    assert_eq!(desk.bench(text, &["--no-keep", "--force"]).status, 0);
    assert!((10..=12).contains(&rows(&desk.dir().join("w_iops.log")).len()));
    // Each repeat has logs of its own.
    desk.bench(text, &["--no-keep", "--force", "--repeats=2"]).ends(0);
    assert!(!rows(&desk.dir().join("repeat-2/w_bw.log")).is_empty());
}

#[test]
fn a_histogram_log_has_fios_columns_and_each_request_once() {
    let Some(desk) = Desk::new() else { return };
    let text = "[h]\nsize=4m\nbs=4k\nrw=randrw\nrate_iops=400\nruntime=1s\ntime_based\n\
                write_hist_log\nlog_hist_msec=200\nlog_hist_coarseness=2\n";
    let ran = desk.bench(text, &["--json", "--no-keep"]).ends(0);
    assert_eq!(super::common::names(desk.dir()), ["h_clat_hist.1.log"]);
    let ours = rows(&desk.dir().join("h_clat_hist.1.log"));
    let document = ran.json();
    for (direction, op) in [(0, "read"), (1, "write")] {
        let of = ours.iter().filter(|row| row[1] == direction);
        let counted: u64 = of.map(|row| row[3..].iter().sum::<u64>()).sum();
        assert_eq!(counted, count(&document, "h", op).0, "{op}");
    }
    let windows: Vec<u64> = ours.iter().map(|row| row[0]).collect();
    assert!(windows.is_sorted() && (8..=12).contains(&windows.len()), "{windows:?}");
    let Some(folder) = fio_logs(&desk, text) else { return };
    let theirs = rows(&folder.path().join("h_clat_hist.1.log"));
    let shape = |rows: &[Vec<u64>]| (rows[0].len(), rows[0][2]);
    assert_eq!(shape(&ours), shape(&theirs));
    // A bin stands for the same latency: the median bins are a factor of 32 apart at most, which
    // are five powers of two of sixteen bins.
    let median = |rows: &[Vec<u64>]| {
        let bins = rows[0].len() - 3;
        let sums: Vec<u64> =
            (0..bins).map(|bin| rows.iter().map(|row| row[3 + bin]).sum()).collect();
        let half = sums.iter().sum::<u64>() / 2;
        let mut seen = 0;
        sums.iter().position(|n| {
            seen += n;
            seen > half
        })
    };
    let (ours, theirs) = (median(&ours).unwrap(), median(&theirs).unwrap());
    assert!(ours.abs_diff(theirs) <= 5 * 16, "bin {ours} here, {theirs} by fio");
}

#[test]
fn the_time_of_issue_is_logged_where_it_can_be() {
    let Some(desk) = Desk::new() else { return };
    let job = "[i]\nsize=1m\nbs=4k\nrw=read\nlog_issue_time=1\n";
    let ran = desk.bench(job, &["--no-keep"]).ends(2);
    assert!(ran.err.contains("write_lat_log and log_offset=1 too"), "{}", ran.err);
    desk.bench(&format!("{job}log_offset=1\nwrite_lat_log=i\n"), &["--no-keep"]).ends(0);
    for row in rows(&desk.dir().join("i_clat.1.log")) {
        // Time in ms, latency and issue in ns.
        assert!(row.len() == 7 && (row[6] + row[1]) / 1_000_000 == row[0], "{row:?}");
    }
    assert!(rows(&desk.dir().join("i_lat.1.log")).iter().all(|row| row[6] == 0));
}

#[test]
fn a_log_that_cannot_be_written_or_would_overwrite_a_file_is_refused_before_measuring() {
    let Some(desk) = Desk::new() else { return };
    let job = "[l]\nsize=1m\nrw=read\nwrite_lat_log=";
    for (prefix, words) in
        [("mine", "exists; replace it with --force"), ("missing/x", "cannot write")]
    {
        fs::write(desk.dir().join("mine_lat.1.log"), "dear diary\n").unwrap();
        let ran = desk.bench(&format!("{job}{prefix}\n"), &["--no-keep"]);
        assert_eq!((ran.status, ran.out.as_str()), (3, ""), "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
        let shown = desk.bench(&format!("{job}{prefix}\n"), &["--show"]);
        assert!(shown.out.contains("would be refused"), "{}", shown.out);
    }
    assert_eq!(fs::read_to_string(desk.dir().join("mine_lat.1.log")).unwrap(), "dear diary\n");
    assert_eq!(super::common::names(desk.dir()), ["mine_lat.1.log"]);
}
