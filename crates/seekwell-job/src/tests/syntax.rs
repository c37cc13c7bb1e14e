//! Sections, comments, variables, includes, arguments.

use super::{error, job, jobs};
use crate::job::{Amount, Blocks};
use crate::{Surroundings, parse_arguments, parse_files, parse_text};
use std::path::Path;

#[test]
fn each_global_section_holds_for_the_jobs_below_it() {
    let jobs =
        jobs("[global]\nbs=8k\n[a]\n[global]\niodepth=4\nioengine=libaio\n[b]\nbs=1k\n[c]\n");
    let told: Vec<(u32, u32)> =
        jobs.iter().map(|job| (job.blocks.read.max(), job.engine.depth)).collect();
    assert_eq!(told, [(8192, 1), (1024, 4), (8192, 4)]);
}

#[test]
fn a_comment_ends_a_value_and_blanks_do_not_count() {
    let jobs = jobs("; first\n# second\n [a] \n  rw = write # why\nsize=1m;half\n\n\tbs =2k\n");
    assert_eq!(jobs[0].extent.size, Some(Amount::Bytes(1 << 20)));
    assert_eq!(jobs[0].blocks.write, Blocks::Fixed(2048));
    assert!(jobs[0].destroys());
}

#[test]
fn variables_and_keywords_are_replaced() {
    let mut around = Surroundings::fixed();
    around.variables.insert("DEV".to_owned(), "/dev/sdz".to_owned());
    let text = "[a]\nfilename=${DEV}${NOTHING}1\nsize=8*$mb_memory\nnumjobs=$ncpus\nbs=$pagesize\n";
    let file = parse_text(text, Path::new("x.fio"), &around).unwrap();
    let job = &file.jobs[0];
    assert_eq!(job.files.names, [Path::new("/dev/sdz1")]);
    assert_eq!(job.extent.size, Some(Amount::Bytes(8 * 8192)));
    assert_eq!((job.clones, job.blocks.read.max()), (4, 4096));
}

#[test]
fn an_included_file_is_looked_for_beside_the_one_that_includes_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::create_dir(file("part")).unwrap();
    std::fs::write(file("top.fio"), "[a]\ninclude part/common.fio\nbs=1k\n").unwrap();
    std::fs::write(file("part/common.fio"), "rw=randread\nbs=2k\ninclude more.fio\n").unwrap();
    std::fs::write(file("part/more.fio"), "iodepth=3\nioengine=io_uring\n").unwrap();
    let read = parse_files(&[file("top.fio")], &Surroundings::here()).unwrap();
    let job = &read.jobs[0];
    assert!(job.access.random);
    assert_eq!((job.engine.depth, job.blocks.read.max()), (3, 1024));

    std::fs::write(file("part/more.fio"), "include common.fio\n").unwrap();
    let said = parse_files(&[file("top.fio")], &Surroundings::here()).unwrap_err().to_string();
    assert!(said.contains("part/more.fio:1: include of common.fio: it includes itself"), "{said}");
    // `include` of the passwords' file showed its first line.
    for foreign in ["[secret]", "secret", "root:secret:19000:0:::", "secret=1"] {
        std::fs::write(file("part/more.fio"), format!("iodepth=3\n{foreign}\n")).unwrap();
        let said = parse_files(&[file("top.fio")], &Surroundings::here()).unwrap_err().to_string();
        assert!(said.contains("part/more.fio:2: an included file may hold only options"), "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
}

#[test]
fn arguments_give_the_same_jobs_as_a_file() {
    let text = "[global]\ndirect=1\ntime_based\nruntime=5\n[a]\nrw=randread\nbs=4k\n\
                [b]\nrw=write\nsize=1g\n";
    let arguments = [
        "--direct=1",
        "--time_based",
        "--runtime",
        "5",
        "--name=a",
        "--rw=randread",
        "--bs",
        "4k",
        "--name=b",
        "--readwrite=write",
        "--size=1g",
    ];
    let mut said = parse_arguments(&arguments, &Surroundings::fixed()).unwrap();
    let mut written = super::read(text).unwrap();
    for job in said.jobs.iter_mut().chain(&mut written.jobs) {
        job.origin = crate::job::Origin { file: String::new(), line: 0 };
    }
    assert_eq!(said, written);
    let said = parse_arguments(&["--name=a", "job.fio"], &Surroundings::fixed()).unwrap_err();
    assert_eq!(said.to_string(), "arguments:2: found `job.fio`; needed: --option=value");
    let said = parse_arguments(&["--output-format=json"], &Surroundings::fixed()).unwrap_err();
    assert!(said.to_string().contains("an option of the fio command"), "{said}");
}

#[test]
fn jobs_of_a_second_file_wait_for_those_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("[{name}1]\n[{name}2]\n")).unwrap();
        path
    });
    let jobs = parse_files(&names, &Surroundings::here()).unwrap().jobs;
    let told: Vec<(bool, u32)> =
        jobs.iter().map(|job| (job.group.stonewall, job.group.number)).collect();
    assert_eq!(told, [(false, 0), (false, 0), (true, 1), (false, 1)]);
}

#[test]
fn what_is_wrong_is_said_with_line_option_and_need() {
    let said = [
        (
            "rw=read\n",
            "test.fio:1: found `rw=read`; needed: a section such as [job1] or [global] before the \
             first option",
        ),
        ("[a]\nreadwrit=read\n", "test.fio:2: job `a`: no such option: readwrit; near: readwrite"),
        (
            "[a]\nbs=4q\n",
            "test.fio:2: job `a`: bs=4q; needed: a whole number, with k, m, g, t or p when it is \
             large",
        ),
        ("[a]\ndirect\n", "test.fio:2: job `a`: direct=; needed: a value after ="),
        ("[a]\niodepth=0\n", "test.fio:2: job `a`: iodepth=0; needed: 1 to 4294967295"),
        (
            "[a]\nioengine=libaoi\n",
            "test.fio:2: job `a`: ioengine=libaoi; needed: libaio, or another of fio's engines for \
             files and block devices",
        ),
        (
            "[a]\nuid=0\n",
            "test.fio:2: job `a`: uid=0 is not supported: run seekwell as that user, or in that \
             control group, instead",
        ),
        ("[a\n", "test.fio:1: found `[a`; needed: ] at the end"),
        (
            "[global]\nbs=4k\n",
            "test.fio: no job in it; needed: a section such as [job1], or --name=job1",
        ),
        (
            "[a]\nrate=1m\nrate_iops=5\n",
            "test.fio:3: job `a`: rate_iops=5; needed: either rate or rate_iops",
        ),
        (
            "[a]\nwait_for=b\n[b]\n",
            "test.fio:1: job `a`: wait_for=b; needed: the name of exactly one job above this one",
        ),
    ];
    for (text, sentence) in said {
        assert_eq!(error(text), sentence);
    }
}

#[test]
fn every_option_and_alias_has_one_meaning() {
    let mut names = std::collections::BTreeSet::new();
    for spec in crate::options::specs() {
        for name in spec.aliases.iter().chain([&spec.name]) {
            assert!(names.insert(*name), "{name} is there twice");
            assert_eq!(crate::options::find(name).map(|s| s.name), Some(spec.name));
        }
    }
    assert!(names.len() > 250, "{}", names.len());
}

#[test]
fn a_flag_is_set_by_its_name_alone_and_can_be_taken_back() {
    assert!(job("time_based runtime=1").timing.time_based);
    assert!(job("stonewall").group.stonewall);
    assert!(!job("stonewall=1 stonewall=0").group.stonewall);
    assert_eq!(job("write_bw_log").logs.bandwidth.as_deref(), Some("a"));
}
