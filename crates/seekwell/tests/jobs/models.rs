//! Job files on modelled machines: the same counts as on files, in the model's own time.

use super::{Desk, count, phase};
use serde_json::Value;
use std::fs;

const MIB: u64 = 1 << 20;
const MACHINE: &str = "sata-7200.toml";

/// The document of jobs on a machine.
fn modelled(desk: &Desk, text: &str) -> Value {
    let ran = desk.bench(text, &["--on", MACHINE, "--json", "--no-keep"]);
    assert_eq!(ran.status, 0, "{}\n{}", ran.err, ran.out);
    assert_eq!(super::common::names(desk.dir()), Vec::<String>::new());
    ran.json()
}

fn elapsed_s(document: &Value, name: &str) -> f64 {
    phase(document, name)["repeats"][0]["elapsed_ns"].as_u64().unwrap() as f64 / 1e9
}

#[test]
fn jobs_make_the_same_requests_on_a_machine_as_on_files_and_the_same_each_time() {
    let Some(desk) = Desk::new() else { return };
    let text = "[global]\nsize=1m\nbs=4k\nioengine=libaio\niodepth=4\ndirect=1\n\
                [w]\nrw=randwrite\nnumjobs=2\n[r]\nstonewall\nrw=randread\nloops=2\n\
                [few]\nstonewall\nrw=read\nnumber_ios=7\n[mixed]\nrw=randrw\nrwmixread=100\n";
    let (files, machine) = (desk.measured(text), modelled(&desk, text));
    for name in ["w", "r", "few", "mixed"] {
        for op in ["read", "write"] {
            assert_eq!(count(&machine, name, op), count(&files, name, op), "{name} {op}");
        }
    }
    assert_eq!(machine["modelled"], true);
    assert_eq!(machine["medium"]["kind"], "machine");
    assert_eq!(machine["engine"]["name"], "model");
    let work = &phase(&machine, "w")["workload"];
    assert_eq!(work["engine"], "model");
    assert_eq!(work["files"][0]["kind"], "modelled");
    let again = modelled(&desk, text);
    assert_eq!(machine["phases"], again["phases"], "a model gives the same each time");
}

#[test]
fn time_is_the_models_and_jobs_share_the_machine() {
    let Some(desk) = Desk::new() else { return };
    // A minute of a disk takes a moment of ours.
    let alone = "[global]\nsize=1g\nbs=4k\nrw=randread\ndirect=1\nruntime=60s\ntime_based\n[a]\n";
    let one = modelled(&desk, alone);
    assert!((59.0..60.5).contains(&elapsed_s(&one, "a")), "{}", elapsed_s(&one, "a"));
    let two = modelled(&desk, &format!("{alone}[b]\n"));
    let reads = |document: &Value, name: &str| count(document, name, "read").0 as f64;
    let share = reads(&two, "a") / reads(&one, "a");
    assert!((0.35..0.8).contains(&share), "two jobs share one disk: {share}");
    assert!((reads(&two, "a") / reads(&two, "b") - 1.0).abs() < 0.1);
    // What is before measuring and what starts later.
    let late = modelled(
        &desk,
        "[global]\nsize=64m\nbs=4k\nrw=randread\ndirect=1\n\
         [first]\nnumber_ios=100\n[waits]\nwait_for=first\nnumber_ios=100\n\
         [paced]\nrate_iops=10\nruntime=20s\ntime_based\nramp_time=5s\nstartdelay=3s\n",
    );
    assert_eq!(count(&late, "waits", "read").0, 100);
    let paced = count(&late, "paced", "read").0;
    assert!((195..=201).contains(&paced), "{paced}");
}

#[test]
fn logs_steady_state_and_traces_go_by_the_models_clock() {
    let Some(desk) = Desk::new() else { return };
    let log = desk.runs.path().join("m").display().to_string();
    let trace = desk.runs.path().join("t.iolog");
    let text = "fio version 3 iolog\n0 a add\n0 a open\n0 a write 0 4096\n3000000 a read 0 4096\n\
                9000000 a read 65536 4096\n9000000 a close\n";
    fs::write(&trace, text).unwrap();
    let document = modelled(
        &desk,
        &format!(
            "[s]\nsize=1g\nbs=4k\nrw=randread\ndirect=1\nruntime=100s\ntime_based\nss=iops:40%\n\
             ss_dur=5\nwrite_iops_log={log}\nlog_avg_msec=1000\n\
             [t]\nstonewall\nread_iolog={}\ndirect=1\n",
            trace.display()
        ),
    );
    let steady = &phase(&document, "s")["repeats"][0]["steady_state"];
    assert_eq!(steady["attained"], true, "{steady}");
    assert!((4.9..90.0).contains(&elapsed_s(&document, "s")));
    let log = fs::read_to_string(format!("{log}_iops.1.log")).unwrap();
    assert!(log.lines().count() >= 5 && log.starts_with("1000, "), "{log}");
    assert_eq!((count(&document, "t", "read").0, count(&document, "t", "write").0), (2, 1));
    assert!((8.9..9.2).contains(&elapsed_s(&document, "t")), "{}", elapsed_s(&document, "t"));
}

#[test]
fn what_a_model_cannot_do_is_refused_and_what_makes_no_difference_is_said() {
    let Some(desk) = Desk::new() else { return };
    let cases = [
        ("rw=write\nsize=1m\nverify=crc32c\n", "keeps none"),
        ("rw=read\nsize=3t\n", "give a smaller size"),
        ("rw=read\nsize=1t\nnumjobs=3\n", "the machine holds"),
    ];
    for (options, words) in cases {
        let ran = desk.bench(&format!("[m]\n{options}"), &["--on", MACHINE, "--no-keep"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(words), "{options}: {}", ran.err);
    }
    let buffered = modelled(&desk, "[m]\nrw=read\nsize=64m\nbs=64k\n");
    let warnings = &phase(&buffered, "m")["workload"]["warnings"];
    assert!(warnings[0].as_str().unwrap().contains("no page cache"), "{warnings}");
    assert_eq!(count(&buffered, "m", "read").1, 64 * MIB);
    // A machine may be made different, and only a machine.
    let different = ["--on", MACHINE, "--set", "drive.rpm=5400", "--json", "--no-keep"];
    let ran = desk.bench("[m]\nrw=read\nsize=64m\nbs=64k\n", &different).ends(0);
    assert_eq!(ran.json()["medium"]["set"][0], "drive.rpm=5400");
    desk.bench("[m]\nrw=read\nsize=1m\n", &["--set", "drive.rpm=5400"]).ends(2);
}
