//! `read_iolog`: a trace played as a job.

use super::{Desk, count, destroying, phase};
use crate::common::{self, Loop, done, played_ns, run, skip, tool};
use std::fs;
use std::process::Command;

/// Two files, ten milliseconds between requests.
const V3: &str = "fio version 3 iolog\n0 one add\n0 two add\n1 one open\n1 two open\n\
                  1000 one write 0 4096\n11000 two write 65536 8192\n21000 one read 0 4096\n\
                  31000 two trim 0 4096\n41000 one sync 0 0\n51000 one read 4096 512\n\
                  61000 one close\n61000 two close\n";
/// No times but one wait.
const V2: &str = "fio version 2 iolog\none add\none open\none write 0 4096\none wait 20 0\n\
                  one read 0 4096\none read 8192 4096\none close\n";

/// Puts a trace beside the runs and gives its path.
fn trace(desk: &Desk, text: &str) -> String {
    let path = desk.runs.path().join("trace.iolog");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn every_request_of_a_trace_is_made_once_in_the_files_it_names() {
    let Some(desk) = Desk::new() else { return };
    let path = trace(&desk, V3);
    let document = desk.measured(&format!("[t]\nread_iolog={path}\nreplay_skip=trim\n"));
    assert_eq!(count(&document, "t", "write"), (2, 4096 + 8192));
    assert_eq!(count(&document, "t", "read"), (2, 4096 + 512));
    assert_eq!((count(&document, "t", "flush").0, count(&document, "t", "discard").0), (1, 0));
    let t = phase(&document, "t");
    let files: Vec<&str> = t["workload"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["one", "two"]);
    let repeat = &t["repeats"][0];
    let (took, late) = played_ns(repeat);
    let times_are_kept = took + late >= 50_000_000 && took < 400_000_000 + late;
    assert!(times_are_kept, "{took} ns, up to {late} late");
    assert_eq!(repeat["fidelity"]["issued"], 5);
    // As fast as it goes, half the distance, and all of it three times over.
    let fast = format!(
        "[t]\nread_iolog={path}\nreplay_skip=trim\nreplay_no_stall=1\nreplay_scale=2\n\
         replay_align=4096\nreplay_redirect=all\nloops=3\nwrite_lat_log=offsets\nlog_offset=1\n"
    );
    let ran = desk.bench(&fast, &["--json", "--no-keep"]).ends(0);
    assert_eq!(count(&ran.json(), "t", "write"), (6, 3 * (4096 + 8192)));
    let log = fs::read_to_string(desk.dir().join("offsets_lat.1.log")).unwrap();
    let offsets: Vec<&str> = log.lines().map(|l| l.split(", ").nth(4).unwrap()).take(4).collect();
    assert_eq!(offsets, ["0", "32768", "0", "0"], "{log}");
}

#[test]
fn fio_makes_as_many_requests_of_a_trace_with_waits() {
    let Some(desk) = Desk::new() else { return };
    let path = trace(&desk, V2);
    let text = format!("[t]\nread_iolog={path}\nreplay_redirect=one\n");
    let document = desk.measured(&text);
    assert_eq!(count(&document, "t", "read"), (2, 8192));
    assert_eq!(count(&document, "t", "write"), (1, 4096));
    let (took, late) = played_ns(&phase(&document, "t")["repeats"][0]);
    assert!(took + late >= 20_000_000, "{took} ns, up to {late} late");
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let theirs = tempfile::tempdir().unwrap();
    fs::write(theirs.path().join("one"), vec![1; 1 << 20]).unwrap();
    let mut fio = Command::new("fio");
    fio.arg("--output-format=json").arg(desk.file(&text)).current_dir(theirs.path());
    let ran = done(fio.output().unwrap()).ends(0);
    let job = &ran.json()["jobs"][0];
    for op in ["read", "write"] {
        let fios = (job[op]["total_ios"].as_u64().unwrap(), job[op]["io_bytes"].as_u64().unwrap());
        assert_eq!(count(&document, "t", op), fios, "{op}");
    }
}

#[test]
fn a_trace_that_writes_needs_its_device_given_and_one_that_reads_does_not() {
    let Some(disk) = Loop::new(8 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.iolog");
    let job = format!("[t]\nread_iolog={}\nreplay_redirect={}\n", path.display(), disk.device);
    let file = home.path().join("t.fio");
    let refused = |text: &str, job: &str| {
        fs::write(&path, text).unwrap();
        fs::write(&file, job).unwrap();
        run(home.path(), &["bench", file.to_str().unwrap(), "--json", "--no-keep"])
    };
    let before = fs::read(&disk.backing).unwrap();
    let ran = refused(V2, &job).ends(3);
    assert!(ran.err.contains("--destroy"), "{}", ran.err);
    assert_eq!(fs::read(&disk.backing).unwrap(), before);
    let ran = refused(V2, &format!("{job}replay_skip=write\n")).ends(0);
    assert_eq!(count(&ran.json(), "t", "read").0, 2);
    let ran = destroying(home.path(), &disk, &job);
    assert_eq!(count(&ran.json(), "t", "write"), (1, 4096));
}

#[test]
fn what_a_trace_contradicts_or_does_not_tell_is_refused_with_the_line() {
    let Some(desk) = Desk::new() else { return };
    let path = trace(&desk, V3);
    let empty = desk.runs.path().join("empty.iolog");
    fs::write(&empty, "fio version 3 iolog\n").unwrap();
    let bad = desk.runs.path().join("bad.iolog");
    fs::write(&bad, "fio version 3 iolog\n5 one read x\n").unwrap();
    let cases = [
        (format!("read_iolog={path}\nrw=read\n"), "replay_skip=write"),
        (format!("read_iolog={path}\nrate_iops=5\n"), "rate does not go with read_iolog"),
        (format!("read_iolog={path}\nverify=crc32c\n"), "verify does not go with read_iolog"),
        (format!("read_iolog={}\n", empty.display()), "no request that would be played"),
        (format!("read_iolog={}\n", bad.display()), "line 2"),
        ("read_iolog=/no/such/trace\n".to_owned(), "/no/such/trace"),
    ];
    for (options, words) in cases {
        let ran = desk.bench(&format!("[a]\nrw=write\nsize=1m\n[t]\n{options}"), &["--no-keep"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(words) && ran.err.contains("test.fio:4"), "{}", ran.err);
        assert_eq!(common::names(desk.dir()), Vec::<String>::new());
    }
    // The last bytes that a number can address, in two files.
    let far = format!("0 a read {0} 4096\n1 b write {0} 4096\n", u64::MAX - 4096);
    fs::write(&bad, format!("fio version 3 iolog\n{far}")).unwrap();
    for on in [&["--no-keep"][..], &["--no-keep", "--on", "sata-7200.toml"]] {
        let ran = desk.bench(&format!("[t]\nread_iolog={}\n", bad.display()), on);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
    }
}
