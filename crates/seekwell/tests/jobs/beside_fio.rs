//! fio itself beside this program: the same requests and bytes of the same job files, and its own
//! examples.

use super::common::{done, run, seekwell, skip, tool};
use super::{Desk, count};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Requests and bytes by fio of one job: read, write, trim.
fn by_fio(document: &Value, job: &str) -> [(u64, u64); 3] {
    let jobs = document["jobs"].as_array().unwrap();
    let job = jobs.iter().find(|j| j["jobname"] == job).unwrap();
    ["read", "write", "trim"].map(|op| {
        let op = &job[op];
        (op["total_ios"].as_u64().unwrap(), op["io_bytes"].as_u64().unwrap())
    })
}

#[test]
fn fio_makes_as_many_requests_of_as_many_bytes() {
    let Some(desk) = Desk::new() else { return };
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let jobs = [
        "rw=read\nsize=2m\nbs=64k\n",
        "rw=randwrite\nsize=2m\nbs=4k\nioengine=libaio\niodepth=8\ndirect=1\n",
        "rw=randread\nsize=1m\nbs=4k\nloops=3\n",
        "rw=write\nsize=1m\nbs=4k\nio_size=3m\n",
        "rw=randread\nsize=4m\nbs=4k\nnumber_ios=100\n",
        "rw=write\nsize=1m\nnrfiles=4\nbs=16k\n",
        "rw=read\nsize=1m\nbs=4k\nnumjobs=3\ngroup_reporting\n",
        "rw=write\nsize=1m\nbs=4k\nzonemode=strided\nzonesize=64k\nzonerange=128k\n",
        "rw=randread\nsize=2m\nbs=4k\noffset=1m\nsize=1m\n",
        "rw=randrw\nsize=1m\nbs=4k\nrwmixread=100\n",
        "rw=read:4k\nsize=1m\nbs=4k\n",
        "rw=randread:8\nsize=1m\nbs=4k\n",
    ];
    let text: String =
        jobs.iter().enumerate().map(|(i, job)| format!("[j{i}]\nstonewall\n{job}")).collect();
    let ours = desk.measured(&text);
    let file = desk.file(&text);
    let theirs = tempfile::tempdir().unwrap();
    let mut fio = Command::new("fio");
    fio.arg("--output-format=json").arg(file).current_dir(theirs.path());
    let theirs = done(fio.output().unwrap()).ends(0).json();
    for (i, job) in jobs.iter().enumerate() {
        let name = format!("j{i}");
        let mine = ["read", "write", "discard"].map(|op| count(&ours, &name, op));
        assert_eq!(mine, by_fio(&theirs, &name), "{job}");
    }
}

/// fio's own examples, where they are installed or named by `SEEKWELL_FIO_EXAMPLES`.
fn examples() -> Option<Vec<PathBuf>> {
    let named = std::env::var_os("SEEKWELL_FIO_EXAMPLES").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| "/usr/share/doc/fio/examples".into());
    let entries = fs::read_dir(folder).ok()?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "fio"))
        .collect();
    files.sort();
    (!files.is_empty()).then_some(files)
}

/// Whether a job file keeps to engines that every machine has.
fn is_general(text: &str) -> bool {
    const GENERAL: [&str; 10] = [
        "libaio", "io_uring", "sync", "psync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap",
        "null",
    ];
    text.lines()
        .filter_map(|line| line.split_once('='))
        .all(|(option, value)| option.trim() != "ioengine" || GENERAL.contains(&value.trim()))
}

/// The same jobs, done within a second on small files.
fn shortened(text: &str) -> String {
    // What has no end of its own ends too.
    let mut out = "[global]\nruntime=2s\n".to_owned();
    for line in text.lines() {
        let line = line.split([';', '#']).next().unwrap_or("");
        let option = line.split('=').next().unwrap_or("").trim();
        let short = match option {
            "runtime" | "timeout" => "runtime=600ms".to_owned(),
            "ramp_time" => "ramp_time=100ms".to_owned(),
            "startdelay" => "startdelay=0".to_owned(),
            "size" | "filesize" => format!("{option}=32m"),
            // Devices have a size of their own; files in their place need one.
            "filename" if line.contains(['/', '$']) => "filename=own\nsize=32m".to_owned(),
            "loops" => "loops=2".to_owned(),
            "io_size" | "io_limit" => "io_size=32m".to_owned(),
            "offset" => "offset=0".to_owned(),
            "offset_increment" => "offset_increment=64m".to_owned(),
            "fill_device" => "size=32m".to_owned(),
            "allow_file_create" | "directory" => continue,
            _ => line.to_owned(),
        };
        out.push_str(&short);
        out.push('\n');
    }
    out
}

#[test]
fn fios_own_examples_run_shortened_on_files_of_their_own() {
    let Some(desk) = Desk::new() else { return };
    let Some(files) = examples() else { return skip("fio's examples are not here") };
    let (mut accepted, mut refused, mut all) = (0, Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if !is_general(&text) {
            continue;
        }
        all += 1;
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let copy = desk.file(&shortened(&text));
        let mut command = seekwell(desk.runs.path());
        command.current_dir(desk.dir()).arg("bench").arg(copy).args(["--json", "--no-keep"]);
        command.envs([("DISK", "d"), ("SIZE", "4m"), ("NUMJOBS", "1"), ("IODEPTH", "2")]);
        command.envs([("FIO_BS", "4k"), ("FIO_RW", "randwrite"), ("FIO_IODEPTH", "2")]);
        let ran = done(command.output().unwrap());
        match ran.status {
            0 => accepted += 1,
            status => refused.push(format!("{name}: {status}: {}", ran.err.trim())),
        }
        let (logs, left): (Vec<String>, _) =
            super::common::names(desk.dir()).into_iter().partition(|name| name.ends_with(".log"));
        assert_eq!(left, Vec::<String>::new(), "{name} left files");
        assert!(logs.is_empty() || text.contains("_log"), "{name} wrote {logs:?}");
        logs.iter().for_each(|log| fs::remove_file(desk.dir().join(log)).unwrap());
    }
    let list = refused.join("\n");
    assert!(accepted + 4 >= all, "{accepted} of {all} ran; refused:\n{list}");
    eprintln!("{accepted} of {all} examples ran; refused:\n{list}");
}

#[test]
fn a_kept_run_of_jobs_is_compared_by_its_options() {
    let Some(desk) = Desk::new() else { return };
    let text = "[c]\nrw=randread\nsize=8m\nbs=4k\nruntime=600ms\ntime_based\n";
    for label in ["before", "after"] {
        let ran = desk.bench(text, &["--label", label]).ends(0);
        assert!(ran.out.contains("Of the jobs, c made "), "{}", ran.out);
    }
    let home: &Path = desk.runs.path();
    let ran = run(home, &["compare", "before", "after", "--json"]);
    assert!(ran.status == 0 || ran.status == 1, "{}", ran.err);
    assert!(ran.out.contains("read requests"), "{}", ran.out);
    let page = run(home, &["report", "last", "--markdown"]);
    assert!(page.out.contains("c: random reads of 4k"), "{}", page.out);
}
