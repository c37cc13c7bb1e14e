//! Real fio as the judge, if it is installed: the same files, options and values are taken, what
//! it makes of a file is what is read here, and as many bytes are moved as were foretold.

use seekwell_job::job::{JobFile, Origin};
use seekwell_job::layout::{Layout, Traffic, look};
use seekwell_job::{Surroundings, parse_arguments, parse_files, parse_text};
use std::path::{Path, PathBuf};
use std::process::Command;

fn fio() -> bool {
    Command::new("fio").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// The job files beside this test.
fn own_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    let entries = std::fs::read_dir(folder).expect("tests/jobs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Jobs without the places where they were written.
fn placeless(mut file: JobFile) -> JobFile {
    for job in &mut file.jobs {
        job.origin = Origin { file: String::new(), line: 0 };
    }
    file
}

/// The arguments of a line such as fio prints.
fn words(line: &str) -> Vec<String> {
    line.split(" --").skip(1).map(|word| format!("--{}", word.trim())).collect()
}

#[test]
fn the_arguments_that_fio_makes_of_a_file_are_the_same_jobs() {
    if !fio() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    for path in own_files() {
        if path.ends_with("stages.fio") {
            continue; // fio prints a second [global] as options of the job before it
        }
        let said = Command::new("fio").arg("--showcmd").arg(&path).output().expect("fio runs");
        let said = String::from_utf8(said.stdout).expect("text");
        let around = Surroundings::here();
        let read = placeless(parse_files(&[&path], &around).expect("our own file"));
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("--")).collect();
        let arguments: Vec<String> = lines.iter().flat_map(|line| words(line)).collect();
        let shown = placeless(parse_arguments(&arguments, &around).expect("fio's own words"));
        assert_eq!(read.jobs.len(), shown.jobs.len(), "{}: {said}", path.display());
        assert_eq!(read, shown, "{}: {said}", path.display());
    }
}

#[test]
fn fio_takes_every_file_that_is_taken_here() {
    if !fio() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    for path in own_files() {
        let taken = Command::new("fio").arg("--parse-only").arg(&path).output().expect("fio runs");
        assert!(taken.status.success(), "{}", path.display());
        parse_files(&[&path], &Surroundings::here()).expect("our own file");
    }
}

/// Options of which some are right.
const VALUES: &[&str] = &[
    "bs=4k",
    "bs=0",
    "bs=4096b",
    "bs=4KiB",
    "bs=0x1000",
    "bs=4k,8k,16k",
    "bs=,8k",
    "bs=",
    "rw=",
    "rw=randread:8",
    "rw=readx",
    "rw=trimwrite",
    "rw=randtrimwrite",
    "rw=write:4k",
    "direct=1",
    "direct=2",
    "direct=yes",
    "direct",
    "time_based",
    "time_based=1",
    "time_based=",
    "norandommap",
    "bsrange=8k",
    "bsrange=1k-4k,2k-8k",
    "bsrange=1k:4k",
    "iodepth=0",
    "iodepth=32",
    "rwmixread=101",
    "rwmixread=100",
    "size=50%",
    "size=101%",
    "size=0",
    "offset=10%",
    "percentile_list=99:50",
    "percentile_list=101",
    "filesize=1k-4k",
    "filesize=0",
    "startdelay=1-5",
    "startdelay=5s-10s",
    "rate=1m,500k",
    "rate=,500k",
    "rate=1m,,2m",
    "random_distribution=zipf:1.0",
    "random_distribution=zipf:1.2",
    "random_distribution=pareto:0.5",
    "random_distribution=pareto:1.5",
    "random_distribution=normal:10",
    "random_distribution=zoned:60/10:40/90",
    "random_distribution=zoned:60/10:30/90",
    "random_distribution=gamma",
    "ioengine=nosuch",
    "size=18446744073709551616",
    "thinktime=1ms",
    "fallocate=posix",
    "fallocate=no",
    "verify=crc32c-intel",
    "verify=crc32cx",
    "verify=xxhash",
    "nice=-5",
    "nice=-21",
    "prio=7",
    "prio=8",
    "prioclass=3",
    "prioclass=4",
    "kb_base=1001",
    "continue_on_error=foo",
    "continue_on_error=io",
    "sync=dsync",
    "sync=2",
    "exit_what=foo",
    "exit_what=all",
    "flow=2",
    "write_bw_log=x",
    "write_bw_log",
    "unknown=3",
    "bssplit=4k/50:8k",
    "bssplit=4k/60:8k/40,16k",
    "buffer_pattern=0xdeadbeef",
    "buffer_pattern=zz",
    "stonewall",
    "wait_for_previous=1",
    "io_limit=1m",
    "blocksize=2k",
    "ss=iops:10",
    "ss=iops",
    "ss=foo:1",
    "log_hist_coarseness=2",
    "dedupe_percentage=30",
    "dedupe_percentage=101",
    "dedupe_mode=working_set",
    "dedupe_mode=foo",
    "dedupe_global=2",
    "dedupe_working_set_percentage=101",
    "significant_figures=11",
    "verify_interval=10",
    "zonemode=strided",
    "zonemode=foo",
    "file_service_type=roundrobin:4",
    "file_service_type=zipf:1.2",
    "file_service_type=foo",
    "cpus_allowed_policy=split",
    "cpus_allowed_policy=foo",
    "unified_rw_reporting=mixed",
    "unified_rw_reporting=3",
    "rate_process=poisson",
    "rate_process=foo",
    "io_submit_mode=offload",
    "lat_percentiles=1",
    "gtod_reduce=1",
    "latency_target=500us",
    "latency_percentile=99.5",
    "latency_percentile=101",
    "numjobs=4",
];

/// What fio takes as long as it only parses, and refuses or cannot do when it runs.
const STRICTER: &[&str] = &["zonemode=strided", "size=101%", "ioengine=nosuch"];

/// Whether fio takes a file of these jobs, each with one more option.
fn taken(path: &Path, values: &[&str]) -> bool {
    let job = |value: &&str| format!("[a]\nioengine=null\nrw=randwrite\nsize=1m\n{value}\n");
    std::fs::write(path, values.iter().map(job).collect::<String>()).expect("written");
    let said = Command::new("fio").arg("--parse-only").arg(path).output().expect("fio runs");
    said.status.success()
}

#[test]
fn values_are_taken_and_refused_as_fio_does() {
    if !fio() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.fio");
    let around = Surroundings::here();
    let ours = |value: &&&str| {
        let text = format!("[a]\nioengine=null\nrw=randwrite\nsize=1m\n{value}\n");
        parse_text(&text, &path, &around).is_ok()
    };
    let (right, wrong): (Vec<&str>, Vec<&str>) = VALUES.iter().partition(ours);
    assert!(right.len() > 50 && wrong.len() > 30, "{} and {}", right.len(), wrong.len());
    assert!(taken(&path, &right), "fio refuses one of {right:?}");
    for value in wrong {
        assert_eq!(taken(&path, &[value]), STRICTER.contains(&value), "{value}");
    }
}

#[test]
fn as_many_bytes_are_moved_as_were_foretold() {
    if !fio() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let jobs = [
        "rw=write size=1m bs=4k",
        "rw=read size=1m bs=64k nrfiles=4",
        "rw=randwrite size=1m bs=4k loops=3 numjobs=2",
        "rw=randread size=1m io_size=256k",
        "rw=write size=1m number_ios=10 bs=8k",
        "rw=write filesize=128k nrfiles=3",
        "rw=write size=512k verify=crc32c",
        "rw=read size=1m offset=256k filename=shared offset_increment=64k numjobs=3",
    ];
    for (n, options) in jobs.iter().enumerate() {
        let directory = folder.path().join(n.to_string());
        std::fs::create_dir(&directory).expect("a folder");
        let path = directory.join("job.fio");
        let options = options.replace(' ', "\n");
        let text = format!("[a]\ngroup_reporting\ndirectory={}\n{options}\n", directory.display());
        std::fs::write(&path, text).expect("written");
        let file = parse_files(&[&path], &Surroundings::here()).expect("our own file");
        let layout = Layout::of(&file.jobs, |_, _| None, None, look).expect("a layout");
        let shares = layout.shares(0, &file.jobs[0]);
        let ran = Command::new("fio")
            .args(["--output-format=json", "--eta=never"])
            .arg(&path)
            .current_dir(&directory)
            .output()
            .expect("fio runs");
        assert!(ran.status.success(), "{options}");
        let said: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
        let bytes = |kind: &str| said["jobs"][0][kind]["io_bytes"].as_u64().expect("a number");
        let mut total = Traffic::default();
        shares.iter().for_each(|share| total += share.traffic);
        assert_eq!((total.read, total.write), (bytes("read"), bytes("write")), "{options}");
        for place in &layout.places {
            let there = std::fs::metadata(&place.path).expect("the file foretold").len();
            assert!(there >= place.end, "{options}: {there} for {}", place.end);
        }
    }
}

#[test]
fn groups_sizes_and_depths_are_those_that_fio_prints() {
    if !fio() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let jobs = [
        "bs=4k",
        "bs=4k,8k",
        "bs=,8k,\nstonewall",
        "bsrange=1k-4k,2k-8k",
        "bs=4k\nbssplit=1k/50:2k/50",
        "bs=2*$pagesize\nnew_group",
        "bs=5k\niodepth=7",
        "bsrange=1k-2k\nbs=8k\nrw=randtrim",
        "kb_base=1000\nbs=4k\nstonewall\nrw=trimwrite",
        "bs=0x1000\nrw=randwrite\nwait_for_previous=0",
        "rw=write:4k\nbs=512",
        "ba=2k\nrw=randread:3",
    ];
    let job = |(n, options): (usize, &&str)| format!("[j{n}]\n{options}\n[global]\nbs=,2k,\n");
    let jobs: String = jobs.iter().enumerate().map(job).collect();
    let text = format!("[global]\nioengine=null\nsize=64k\nrw=randrw\n{jobs}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.fio");
    std::fs::write(&path, text).expect("written");
    let said = Command::new("fio").arg("--eta=never").arg(&path).output().expect("fio runs");
    let said = String::from_utf8(said.stdout).expect("text");
    let theirs: Vec<&str> = said.lines().filter(|line| line.contains(": (g=")).take(12).collect();
    let file = parse_files(&[&path], &Surroundings::here()).expect("our own file");
    let ours = file.jobs.iter().map(|job| {
        let sizes = job.blocks.map(|b| format!("{}B-{}B", b.min(), b.max()));
        let rw = job.options["rw"].split(':').next().expect("a word");
        format!(
            "{}: (g={}): rw={rw}, bs=(R) {}, (W) {}, (T) {}, ioengine=null, iodepth={}",
            job.name, job.group.number, sizes.read, sizes.write, sizes.trim, job.engine.depth,
        )
    });
    assert_eq!(ours.collect::<Vec<_>>(), theirs);
}
