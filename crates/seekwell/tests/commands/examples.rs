//! Every example in the README, the documentation and the help is a command that works.

use crate::common::{self, seekwell};
use clap::{CommandFactory, Parser};
use seekwell::cli::Cli;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a person reads before typing.
const PAGES: [&str; 10] = [
    "README.md",
    "docs/guide.md",
    "docs/inspect.md",
    "docs/machines.md",
    "docs/formats.md",
    "docs/storagemark.md",
    "docs/statistics.md",
    "docs/published-traces.md",
    "docs/scale.md",
    "docs/fleet.md",
];

/// Parts of examples that measure or change a real disk, wait, or take minutes: their options are
/// read, and other tests run such commands, on devices of their own.
const NOT_RUN: [&str; 18] = [
    "reproduce",
    "blogbench.fio",
    "beside-writes.fio",
    "/dev/",
    "/srv",
    "/mnt",
    "/var",
    "--on .",
    "checkup",
    "serve",
    "fleet report",
    "--watch",
    "record ",
    "seekwell top",
    "tune ",
    "experiment ",
    "nightly.fio",
    "SEEKWELL_PUSH",
];

/// Examples about drives and systems of DiskSim, each with a file it needs.
const DISKSIM: [(&str, &str); 2] =
    [("atlas", "atlas10k.diskspecs"), ("synthraid5", "hp_c3323a.diskspecs")];

/// Examples of one text: indented lines that call the program, without the remarks beside them.
fn examples(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split("\\\n").map(str::trim).collect();
    let lines = lines.join(" ");
    let calls = lines.lines().filter(|line| line.starts_with("  "));
    let calls = calls.filter_map(|line| {
        let line = line.trim_start();
        let from = line.find("seekwell ").filter(|at| {
            let before = &line[..*at];
            ["", "sudo ", "journalctl -k | "].contains(&before)
        })?;
        let call = &line[from..];
        let end =
            ["   ", "  ", " #", " | ", " > ", " &&"].iter().filter_map(|e| call.find(e)).min();
        Some(call[..end.unwrap_or(call.len())].trim_end().to_owned())
    });
    calls.collect()
}

fn of_help(command: &clap::Command, all: &mut Vec<String>) {
    for help in [command.get_after_help(), command.get_after_long_help()].into_iter().flatten() {
        all.extend(examples(&help.to_string()));
    }
    command.get_subcommands().for_each(|sub| of_help(sub, all));
}

fn all_examples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all: Vec<String> = PAGES
        .iter()
        .flat_map(|page| examples(&fs::read_to_string(root.join(page)).expect("a page")))
        .collect();
    of_help(&Cli::command(), &mut all);
    all.sort();
    all.dedup();
    all
}

fn words(call: &str) -> Vec<String> {
    let script = format!("seekwell() {{ printf '%s\\0' \"$@\"; }}; {call}");
    let output = Command::new("/bin/sh").args(["-c", &script]).output().expect("a shell");
    assert!(output.status.success(), "{call}");
    let text = String::from_utf8(output.stdout).expect("plain words");
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The files that examples name.
fn furnish(home: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let put = |name: &str, text: &str| fs::write(home.join(name), text).expect("writes");
    let machine = fs::read_to_string(root.join("machines/sata-7200.toml")).expect("a machine");
    put("mine.toml", &machine);
    put("mine.csv", "ts,lba,bytes,rw\n10,8,4096,read\n25,64,4096,write\n");
    put("web_2.csv.gz", "128166372003061629,web,2,Read,4096,8192,413\n");
    put("lsmod.txt", "Module                  Size  Used by\nahci                   49152  3\n");
    put("lspci.txt", "00:1f.2 SATA controller [0106]: Intel Corporation 82801JI [8086:3a22]\n");
    put("dmesg.txt", "[    1.234567] ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)\n");
    for (before, after) in [("old.csv", "new.csv"), ("before.csv", "after.csv")] {
        put(before, common::bonnie::PIIX);
        put(after, common::bonnie::AHCI);
    }
    let run = |args: &[&str]| {
        let done =
            common::done(seekwell(home).args(args).current_dir(home).output().expect("runs"));
        assert_eq!(done.status, 0, "{args:?}: {}", done.err);
        done.out
    };
    for name in ["machine.txt", "before.txt", "after.txt", "here.txt", "there.txt"] {
        run(&["inspect", "--save", name]);
    }
    run(&["compare", "before.csv", "after.csv", "--phoronix", "composite.xml"]);
    let fio = ["bench", "--on", "sata-7200.toml", "--runtime=1s", "--format", "fio-json"];
    for name in ["before.json", "after.json"] {
        put(name, &run(&fio));
    }
    for name in ["db.parquet", "build.parquet", "two.parquet"] {
        fs::copy(root.join("traces/db-heavy.parquet"), home.join(name)).expect("copies");
    }
    for shard in ["1", "2"] {
        let (of_two, part) = (format!("{shard}/2"), format!("{shard}.stats"));
        run(&["trace", "stats", "db.parquet", "--shard", &of_two, "-o", &part]);
    }
    let disksim = fs::read_dir(root.join("../shared/data/disksim")).into_iter().flatten();
    for file in disksim.flatten() {
        let _ = fs::copy(file.path(), home.join(file.file_name()));
    }
    for label in ["before", "after", "piix", "ahci"] {
        for _ in 0..2 {
            run(&["bench", "--on", "sata-7200.toml", "--runtime=1s", "--label", label]);
        }
    }
}

#[test]
fn every_example_names_options_and_values_there_are() {
    let all = all_examples();
    assert!(all.len() > 80, "{} examples", all.len());
    for call in &all {
        let parsed = Cli::try_parse_from([vec!["seekwell".to_owned()], words(call)].concat());
        if let Err(error) = parsed {
            panic!("{call}\n{error}");
        }
    }
}

/// An option of `bench` that had been renamed stood in the help of `machine` for months, and a
/// trace in the documentation was found only inside the repository.
#[test]
fn every_example_that_needs_no_real_disk_works_in_any_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let home: PathBuf = folder.path().to_owned();
    furnish(&home);
    let mut failed = Vec::new();
    for call in all_examples() {
        if NOT_RUN.iter().any(|part| call.contains(part)) {
            continue;
        }
        let missing =
            |(part, file): &(&str, &str)| call.contains(part) && !home.join(file).exists();
        if DISKSIM.iter().any(missing) {
            common::skip(&call);
            continue;
        }
        if call.contains("fit last") {
            let checkup = ["checkup", "--quick", "sata-7200.toml"];
            let done = seekwell(&home).args(checkup).output().expect("starts");
            assert_eq!(done.status.code(), Some(0));
        }
        let shorter = call.replace("--runtime=60s", "--runtime=2s");
        let words = words(&shorter.replace("report A B", "report last last"));
        // What an example writes is not there yet.
        for (_, output) in
            words.iter().zip(&words[1..]).filter(|(o, _)| *o == "-o" || *o == "--save")
        {
            let _ = fs::remove_file(home.join(output));
        }
        let done =
            common::done(seekwell(&home).current_dir(&home).args(words).output().expect("starts"));
        // Equal machines are not faster than each other.
        if done.status != i32::from(call.contains("--expect")) {
            failed.push(format!("{call}\n{}{}", done.out, done.err));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
