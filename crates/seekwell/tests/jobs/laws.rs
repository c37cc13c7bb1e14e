//! What each option makes of the requests, by counts.

use super::common::Loop;
use super::{Desk, count, destroying, phase};
use serde_json::Value;
use std::fs;

const MIB: u64 = 1 << 20;

#[test]
fn a_job_transfers_its_size_once_and_every_loop_again() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=4m\nbs=4k\nioengine=libaio\niodepth=8\ndirect=1\n\
         [once]\nrw=read\n[thrice]\nrw=randread\nloops=3\n[half]\nrw=randwrite\nio_size=2m\n\
         [over]\nrw=write\nio_size=9m\n[few]\nrw=randread\nnumber_ios=77\n",
    );
    assert_eq!(count(&document, "once", "read"), (1024, 4 * MIB));
    assert_eq!(count(&document, "thrice", "read"), (3072, 12 * MIB));
    assert_eq!(count(&document, "half", "write"), (512, 2 * MIB));
    assert_eq!(count(&document, "over", "write"), (2304, 9 * MIB));
    assert_eq!(count(&document, "few", "read"), (77, 77 * 4096));
}

#[test]
fn clones_have_files_of_their_own_and_are_reported_with_their_group() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=1m\nbs=4k\nrw=write\n\
         [alone]\nnumjobs=3\n\
         [a]\nstonewall\ngroup_reporting\nnumjobs=2\n[b]\ngroup_reporting\nnrfiles=4\n",
    );
    assert_eq!(count(&document, "alone", "write"), (768, 3 * MIB));
    assert_eq!(count(&document, "a", "write"), (768, 3 * MIB));
    let work = &phase(&document, "a")["workload"];
    assert_eq!(work["jobs"], serde_json::json!(["a", "b"]));
    assert_eq!((work["clones"].as_u64(), work["group"].as_u64()), (Some(3), Some(1)));
    let files: Vec<&str> =
        work["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.0.0", "a.1.0", "b.0.0", "b.0.1", "b.0.2", "b.0.3"]);
    let options = &work["options"];
    assert_eq!(options["rw"], "write");
    assert_eq!((options["numjobs"].as_str(), options["iodepth"].as_str()), (Some("2"), Some("1")));
}

#[test]
fn the_kernel_counts_what_the_program_counts() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        "[global]\nfilename={}\ndirect=1\nioengine=libaio\niodepth=4\nbs=8k\n\
         [w]\nrw=randwrite\nsize=16m\n[r]\nstonewall\nrw=read\nsize=24m\n\
         [m]\nstonewall\nrw=randrw\nrwmixread=75\nio_size=8m\n",
        disk.device
    );
    let document = destroying(home.path(), &disk, &text).json();
    let device = |name: &str, key: &str| {
        phase(&document, name)["repeats"][0]["device"][key].as_u64().unwrap()
    };
    assert_eq!(count(&document, "w", "write"), (2048, 16 * MIB));
    assert_eq!(device("w", "written_bytes"), 16 * MIB);
    assert_eq!(count(&document, "r", "read"), (3072, 24 * MIB));
    assert_eq!(device("r", "read_bytes"), 24 * MIB);
    let (reads, writes) = (count(&document, "m", "read"), count(&document, "m", "write"));
    assert_eq!(reads.1 + writes.1, 8 * MIB);
    // 768 expected of 1024, with a standard deviation of 14: five of them either way.
    assert!((698..838).contains(&reads.0), "{reads:?}");
    assert_eq!((device("m", "read_bytes"), device("m", "written_bytes")), (reads.1, writes.1));
    assert_eq!(document["medium"]["kind"], "destroyed");
}

#[test]
fn every_block_is_written_once_before_any_comes_again() {
    let Some(disk) = Loop::new(8 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let bench = |options: &str| {
        fs::write(&disk.backing, vec![0; 8 << 20]).unwrap();
        let text = format!(
            "[w]\nfilename={}\ndirect=1\nioengine=libaio\niodepth=4\nrw=randwrite\n{options}",
            disk.device
        );
        let ran = destroying(home.path(), &disk, &text);
        let data = fs::read(&disk.backing).unwrap();
        let written = data.chunks(4096).filter(|block| block.iter().any(|b| *b != 0)).count();
        (written, count(&ran.json(), "w", "write"))
    };
    assert_eq!(bench("bs=4k\n"), (2048, (2048, 8 * MIB)));
    let (written, (_, bytes)) = bench("bsrange=4k-32k\n");
    assert_eq!((written, bytes), (2048, 8 * MIB));
    // With a map turned off, a share of 1/e stays untouched: 753 ± 21 of 2048.
    let (written, counted) = bench("bs=4k\nnorandommap\n");
    assert_eq!(counted, (2048, 8 * MIB));
    assert!((1190..1400).contains(&written), "{written}");
    // Only the offset's part is touched.
    let (written, _) = bench("bs=4k\noffset=2m\nsize=4m\n");
    assert_eq!(written, 1024);
}

#[test]
fn sizes_come_as_the_split_says() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[s]\nsize=64m\nrw=randread\nnorandommap\nbssplit=4k/75:16k/25\nnumber_ios=8000\n\
         io_size=1g\nioengine=libaio\niodepth=8\ndirect=1\n",
    );
    let (requests, bytes) = count(&document, "s", "read");
    assert_eq!(requests, 8000);
    let mean = bytes as f64 / requests as f64 / 1024.0;
    // 7 KiB expected, with a standard deviation of the mean of 0.058.
    assert!((6.7..7.3).contains(&mean), "{mean}");
}

#[test]
fn strides_leave_out_what_is_to_be_skipped() {
    let Some(disk) = Loop::new(8 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        "[z]\nfilename={}\ndirect=1\nrw=write\nbs=4k\nzonemode=strided\nzonesize=64k\n\
         zonerange=128k\nzoneskip=128k\nio_size=1m\n",
        disk.device
    );
    destroying(home.path(), &disk, &text);
    let data = fs::read(&disk.backing).unwrap();
    let written: Vec<usize> = (0..data.len() / 65536)
        .filter(|i| data[i * 65536..(i + 1) * 65536].iter().any(|b| *b != 0))
        .collect();
    assert_eq!(written, (0..16).map(|i| i * 4).collect::<Vec<_>>());
}

#[test]
fn syncs_come_after_so_many_writes_and_all_writes_are_counted() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=1m\nbs=4k\nrw=write\n\
         [f]\nfsync=8\n[d]\nstonewall\nfdatasync=16\n[e]\nstonewall\nend_fsync=1\n\
         [s]\nstonewall\nsync=dsync\nsize=64k\n",
    );
    assert_eq!(count(&document, "f", "write").0, 256);
    assert_eq!(count(&document, "f", "flush").0, 32);
    assert_eq!(count(&document, "d", "flush").0, 16);
    assert_eq!(count(&document, "e", "flush").0, 0);
    let took = &phase(&document, "e")["repeats"][0]["values"]["end_fsync_ns"];
    assert!(took.as_f64() > Some(0.0), "{took}");
    assert_eq!(count(&document, "s", "write").0, 16);
}

#[test]
fn discards_are_made_and_followed_by_writes_where_asked() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nsize=1m\nbs=64k\nioengine=libaio\niodepth=4\n\
         [t]\nrw=trim\n[tw]\nstonewall\nrw=trimwrite\n",
    );
    assert_eq!(count(&document, "t", "discard"), (16, MIB));
    assert_eq!(count(&document, "tw", "discard"), (16, MIB));
    assert_eq!(count(&document, "tw", "write"), (16, MIB));
}

#[test]
fn files_take_turns_as_the_service_says() {
    let Some(desk) = Desk::new() else { return };
    for service in ["roundrobin", "sequential", "random", "roundrobin:8"] {
        let document = desk.measured(&format!(
            "[n]\nsize=4m\nnrfiles=8\nbs=4k\nrw=randread\nfile_service_type={service}\n\
             ioengine=libaio\niodepth=4\ndirect=1\n"
        ));
        // All files to their end, whatever the turns.
        assert_eq!(count(&document, "n", "read"), (1024, 4 * MIB), "{service}");
        let files = phase(&document, "n")["workload"]["files"].as_array().unwrap().len();
        assert_eq!(files, 8, "{service}");
    }
}

#[test]
fn percentiles_that_are_asked_for_are_told_and_options_without_effect_are_said() {
    let Some(desk) = Desk::new() else { return };
    let text = "[p]\nsize=8m\nbs=4k\nrw=randread\npercentile_list=25:75\nhipri\nioengine=mmap\n\
                iodepth=9\n";
    let ran = desk.bench(text, &["--json", "--no-keep"]).ends(0);
    assert!(ran.err.contains("iodepth: the engine is synchronous"), "{}", ran.err);
    let document = ran.json();
    let values = &phase(&document, "p")["repeats"][0]["values"];
    let at = |p: &str| values[format!("read_latency_p{p}_ns")].as_f64().unwrap();
    assert!(at("25") > 0.0 && at("25") <= at("75"), "{values}");
    let warnings = phase(&document, "p")["workload"]["warnings"].to_string();
    assert!(warnings.contains("mmap") && warnings.contains("iodepth"), "{warnings}");
    let shown = desk.bench(text, &["--no-keep"]);
    let flat = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("no mapping is made"), "{}", shown.out);
}

#[test]
fn the_null_engine_touches_nothing() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[n]\nioengine=null\nfilename=/dev/nothing-here\nsize=100g\nrw=randwrite\nbs=4k\n\
         iodepth=8\nnumber_ios=100000\n",
    );
    assert_eq!(count(&document, "n", "write").0, 100_000);
    assert_eq!(document["medium"]["kind"], Value::from("null"));
    assert_eq!(phase(&document, "n")["workload"]["engine"], "null");
}

#[test]
fn a_job_without_a_size_takes_the_file_that_one_before_it_makes() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[global]\nfilename=shared\nbs=16k\n[w]\nrw=write\nsize=3m\n[r]\nstonewall\nrw=read\n",
    );
    assert_eq!(count(&document, "r", "read"), (192, 3 * MIB));
}
