//! `seekwell trace`, as a person types it.

use crate::common::schema::complete;
use crate::common::{self, Ran, done, python_with, run, seekwell, tool};
use std::fs;
use std::path::{Path, PathBuf};

const MSR: &str = "128166372003061629,web,2,Read,4096,8192,413\n\
                   128166372013061629,web,2,Write,8192,512,500\n\
                   128166372023061629,web,0,Read,0,4096,100\n\
                   128166372033061629,web,0,Write,512,512,\n";

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("web.csv");
    fs::write(&input, MSR).expect("writes");
    (folder, input)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn run_in(folder: &Path, args: &[&str]) -> Ran {
    done(seekwell(folder).current_dir(folder).args(args).output().expect("the program starts"))
}

#[test]
fn info_counts_a_foreign_trace_and_a_store_says_the_same_unread() {
    let (folder, input) = folder();
    let home = folder.path();
    let store = home.join("web.parquet");
    let done = run(home, &["trace", "convert", text(&input), text(&store)]).ends(0);
    assert!(done.out.starts_with("4 requests written to "), "{}", done.out);
    let foreign = run(home, &["trace", "info", text(&input), "--json"]).json();
    let mut stored = run(home, &["trace", "info", text(&store), "--json"]).json();
    assert_eq!((&foreign["format"], &stored["format"]), (&"msr".into(), &"seekwell".into()));
    assert_eq!(stored["has_checksums"], true);
    assert_eq!(stored["span_ns"], 3_000_000_000_u64);
    assert_eq!(stored["by_operation"]["read"]["bytes"], 12_288);
    assert_eq!(stored["devices"][1]["name"], "web_0");
    assert_eq!(stored["requests_with_completion"], 3);
    for key in ["file", "format", "has_checksums"] {
        stored[key] = foreign[key].clone();
    }
    assert_eq!(stored, foreign);
    let shown = run(home, &["trace", "info", text(&store)]);
    assert!(
        shown.out.contains("seekwell, from msr") && shown.out.contains("web_2"),
        "{}",
        shown.out
    );
    complete(&["trace-info-1.json", "common.json#/$defs/about"], &[foreign], &[]);
}

// A bit flipped in a stored trace changed thousands of offsets, and every command went on.
#[test]
fn a_damaged_store_is_refused_by_name() {
    let (folder, input) = folder();
    let store = folder.path().join("web.parquet");
    assert_eq!(run(folder.path(), &["trace", "convert", text(&input), text(&store)]).status, 0);
    let mut bytes = fs::read(&store).expect("reads");
    bytes[40] ^= 1;
    fs::write(&store, bytes).expect("writes");
    let commands: [&[&str]; 2] =
        [&["trace", "stats", text(&store)], &["replay", text(&store), "--on", "null"]];
    for command in commands {
        let refused = run(folder.path(), command).ends(2);
        let said = "group 1 of 1 of its requests was damaged after it was written";
        assert!(
            refused.err.contains("web.parquet") && refused.err.contains(said),
            "{}",
            refused.err
        );
    }
}

#[test]
fn an_output_that_exists_is_refused_until_it_is_forced() {
    let (folder, input) = folder();
    let output = folder.path().join("out.iolog");
    fs::write(&output, "mine").expect("writes");
    let args = ["trace", "convert", text(&input), text(&output)];
    let refused = run(folder.path(), &args);
    assert_eq!(refused.status, 3);
    assert!(refused.err.contains("exists; replace it with --force"), "{}", refused.err);
    assert_eq!(fs::read_to_string(&output).expect("reads"), "mine");
    run(folder.path(), &[&args[..], &["--force"]].concat()).ends(0);
    assert!(fs::read_to_string(&output).expect("reads").starts_with("fio version 3 iolog\n"));
}

#[test]
fn a_bad_line_is_named_and_nothing_is_left_behind() {
    let (folder, input) = folder();
    fs::write(&input, format!("{MSR}oops\n")).expect("writes");
    let output = folder.path().join("out.parquet");
    let failed = run(folder.path(), &["trace", "convert", text(&input), text(&output)]);
    assert_eq!(failed.status, 2);
    assert!(failed.err.contains("msr, line 5: "), "{}", failed.err);
    let names: Vec<_> = fs::read_dir(folder.path()).expect("lists").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_file_that_is_no_trace_is_said_to_be_none_and_a_format_can_be_named() {
    let (folder, input) = folder();
    fs::write(&input, "hello\n").expect("writes");
    let unknown = run(folder.path(), &["trace", "info", text(&input)]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("not a trace in any known format"), "{}", unknown.err);
    let named = run(folder.path(), &["trace", "info", text(&input), "--from", "spc"]);
    assert!(named.err.contains("spc, line 1: "), "{}", named.err);
    assert_eq!(named.status, 2);
    for bytes in [&b"PAR1 and no footer PAR1"[..], b"\x1f\x8b\x08 no gzip", b"\x28\xb5\x2f\xfd no"]
    {
        fs::write(&input, bytes).expect("writes");
        run(folder.path(), &["trace", "stats", text(&input)]).ends(2);
    }
    run(folder.path(), &["trace", "info", "no-such-trace.csv"]).ends(2);
    let to = run(folder.path(), &["trace", "convert", text(&input), "x.bin"]);
    assert_eq!(to.status, 2);
    assert!(to.err.contains("name the format with --to (seekwell, "), "{}", to.err);
}

#[test]
fn cut_keeps_a_time_a_device_and_an_operation() {
    let (folder, input) = folder();
    let home = folder.path();
    let cut = |more: &[&str]| {
        let output = home.join("part.csv");
        let args = ["trace", "cut", text(&input), text(&output), "--force", "--json"];
        let done = run(home, &[&args[..], more].concat()).ends(0);
        (done.json()["requests_written"].as_u64().expect("a number"), done)
    };
    assert_eq!(cut(&["--start", "1s", "--end", "3s"]).0, 2);
    assert_eq!(cut(&["--device", "web_0"]).0, 2);
    assert_eq!(cut(&["--op", "write"]).0, 2);
    assert_eq!(cut(&["--op", "write", "--device", "web_2"]).0, 1);
    assert_eq!(cut(&["--pid", "7"]).0, 0);
    let (none, done) = cut(&["--device", "sda"]);
    assert_eq!(none, 0);
    assert!(done.err.contains("no request goes to a device named \"sda\""), "{}", done.err);
    complete(&["trace-convert-1.json"], &[done.json()], &[]);
}

#[test]
fn requests_that_a_format_has_no_place_for_are_counted_in_words() {
    let (folder, input) = folder();
    fs::write(&input, "fio version 3 iolog\n0 f add\n0 f open\n0 f read 0 512\n5 f sync 0 0\n")
        .expect("writes");
    let output = folder.path().join("out.ascii");
    let args = ["trace", "convert", text(&input), text(&output), "--to", "disksim"];
    let done = run(folder.path(), &args).ends(0);
    assert!(
        done.err.contains("1 left out: disksim has no place for flush, discard"),
        "{}",
        done.err
    );
    assert_eq!(fs::read_to_string(&output).expect("reads"), "0.000000\t0\t0\t1\t1\n");
}

#[test]
fn list_names_every_format_and_what_it_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = run(folder.path(), &["trace", "list", "--json"]).json();
    let formats = listed["formats"].as_array().expect("a list");
    assert_eq!(formats.len(), seekwell_trace::formats::Format::ALL.len());
    let oracle = formats.iter().find(|f| f["name"] == "oracle").expect("is there");
    assert_eq!(
        (&oracle["time_step_ns"], &oracle["is_written"]),
        (&1_000_000_000.into(), &true.into())
    );
    complete(&["trace-formats-1.json"], std::slice::from_ref(&listed), &[]);
    let traces = listed["traces"].as_array().expect("a list");
    assert!(traces.iter().any(|trace| trace["name"] == "db-heavy"));
}

// `replay db-heavy.parquet` worked in the repository only.
#[test]
fn a_trace_that_ships_is_taken_by_its_name_from_any_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let info = run_in(home, &["trace", "info", "bonnie-create-seq", "--json"]).json();
    assert_eq!((&info["has_checksums"], &info["requests"]), (&true.into(), &5475.into()));
    for name in ["fsmark-1m", "fsmark-1m.parquet"] {
        for command in [
            vec!["trace", "stats", name],
            vec!["trace", "cut", name, "part.iolog", "--end", "1s", "--force"],
            vec!["replay", name, "--on", "null", "--speed", "1000", "--no-keep"],
        ] {
            let done = run_in(home, &command);
            assert!([0, 4].contains(&done.status), "{command:?}: {}", done.err);
        }
    }
    let missing = run_in(home, &["trace", "info", "nowhere"]);
    assert!(missing.status == 2 && missing.err.contains("nowhere"), "{}", missing.err);
    // A file of that name goes first.
    fs::write(home.join("fsmark-1m"), MSR).expect("writes");
    assert_eq!(run_in(home, &["trace", "info", "fsmark-1m", "--json"]).json()["format"], "msr");
}

#[test]
fn examples_in_help_and_documents_that_use_a_shipped_trace_work_from_any_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = ["README.md", "docs/guide.md", "docs/machines.md", "docs/formats.md"].map(|page| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page))
            .expect("a page")
    });
    let help = run(folder.path(), &["trace", "--help"]).out;
    let lines = pages.iter().chain([&help]).flat_map(|page| page.lines());
    let examples = lines.filter_map(|line| line.trim().strip_prefix("seekwell "));
    let mut ran = 0;
    for example in examples {
        let command = example.split("  ").next().expect("a part").split(" #").next();
        let words: Vec<&str> = command.expect("a part").split_whitespace().collect();
        let ships = seekwell_trace::shipped::TRACES.iter().any(|t| words.contains(&t.name));
        if ships && words.iter().all(|word| !word.starts_with('/')) {
            let done = run_in(folder.path(), &words);
            assert_eq!(done.status, 0, "{words:?}: {}", done.err);
            ran += 1;
        }
    }
    assert!(ran >= 6, "{ran} examples were run");
}

// 172 lines for one trace: what one asks first had scrolled away.
#[test]
fn stats_fit_on_a_screen_and_a_half_and_verbose_shows_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let stats = |more: &[&str]| {
        let mut program = seekwell(folder.path());
        let args = [&["trace", "stats", "db-heavy"], more].concat();
        done(program.env("COLUMNS", "80").args(args).output().expect("the program starts")).out
    };
    let (brief, all) = (stats(&[]), stats(&["--verbose"]));
    assert!(brief.lines().count() <= 36, "{brief}");
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
    assert!(brief.contains("1,190 requests") && brief.contains("whole, read"), "{brief}");
    assert!(all.lines().count() > 150 && all.contains("seek distance"), "{all}");
}

// MQSim's 60 s were read as DiskSim's 695 days, and nothing was said.
#[test]
fn an_implausible_span_names_the_unit_that_was_assumed_and_the_option() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mqsim.trace");
    fs::write(&path, "0 0 8 16 0\n60055212345 1 24 8 1\n").expect("writes");
    let info = run_in(folder.path(), &["trace", "info", text(&path)]);
    assert!(info.out.contains("mqsim") && info.out.contains("60.055 s"), "{}", info.out);
    for command in [
        vec!["trace", "info", text(&path), "--from", "disksim"],
        vec!["trace", "stats", text(&path), "--from", "disksim"],
        vec!["trace", "convert", text(&path), "out.csv", "--from", "disksim"],
    ] {
        let done = run_in(folder.path(), &command);
        let said = format!("{}{}", done.out, done.err).replace('\n', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["spans 695 days", "read as milliseconds", "--time-unit"] {
            assert!(said.contains(part), "{command:?}: {said}");
        }
    }
    let as_ns = ["trace", "info", text(&path), "--from", "disksim", "--time-unit", "ns"];
    let info = run_in(folder.path(), &as_ns);
    assert!(info.out.contains("60.055 s") && !info.out.contains("days"), "{}", info.out);
}

#[test]
fn every_command_that_takes_a_trace_takes_a_mapping() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.csv");
    fs::write(&path, "ts,lba,size,rw\n0.001,8,4096,R\n0.002,16,4096,R\n").expect("writes");
    let columns = "time=ts*s,offset=lba*512,length=size,op=rw";
    for command in [
        vec!["trace", "info", text(&path)],
        vec!["trace", "stats", text(&path)],
        vec!["trace", "convert", text(&path), "out.parquet", "--force"],
        vec!["trace", "cut", text(&path), "cut.parquet", "--op", "read", "--force"],
        vec!["replay", text(&path), "--on", "null", "--no-keep"],
    ] {
        let done = run_in(folder.path(), &[&command[..], &["--columns", columns]].concat());
        assert!([0, 4].contains(&done.status), "{command:?}: {}", done.err);
        let refused = run_in(folder.path(), &[&command[..], &["--columns", "time=when"]].concat());
        assert_eq!(refused.status, 2, "{command:?}");
        let said = "there is no column \"when\" for the time of a request, only ts, lba, size, rw";
        assert!(refused.err.contains(said), "{command:?}: {}", refused.err);
    }
    run_in(folder.path(), &["trace", "convert", "out.parquet", "out.csv"]).ends(0);
    let csv = fs::read_to_string(folder.path().join("out.csv")).expect("reads");
    assert!(csv.lines().nth(1).expect("a row").starts_with("1000000,,,read,4096,4096,disk,"));
}

#[test]
fn devices_that_are_renumbered_or_put_together_are_named() {
    let (folder, input) = folder();
    let to = |name: &str, format: &str| {
        let output = folder.path().join(name);
        run_in(folder.path(), &["trace", "convert", text(&input), text(&output), "--to", format])
    };
    let disksim = to("web.trace", "disksim");
    assert!(
        disksim.err.contains("knows devices by number: web_2 is 0, web_0 is 1"),
        "{}",
        disksim.err
    );
    assert!(!to("web.msr", "msr").err.contains("web_2"));
    assert!(to("web.blk", "blktrace").err.contains("web_2 is 240,0, web_0 is 240,1"));
    assert!(to("web.bin", "oracle").err.contains("keeps no devices: requests to all 2 are one"));
}

/// Another program's Parquet reader, where one is installed, sees what ours wrote.
#[test]
fn duckdb_and_pyarrow_read_the_store() {
    let (folder, input) = folder();
    let store = folder.path().join("web.parquet");
    run(folder.path(), &["trace", "convert", text(&input), text(&store)]).ends(0);
    let duckdb = format!(
        "import duckdb; print(duckdb.sql(\"select count(*), sum(length_bytes), \
         max(queued_ns) - min(queued_ns), count(completed_ns), sum(op) from '{}'\").fetchall()[0])",
        text(&store)
    );
    let pyarrow = format!(
        "import json, pyarrow.parquet as p\nt = p.read_table('{}')\nm = t.schema.metadata\n\
         d = json.loads(m[b'seekwell.tables'])['devices']\n\
         print([d[i]['name'] for i in t['device'].to_pylist()], t['offset_bytes'].to_pylist())",
        text(&store)
    );
    let wanted = [
        (duckdb, "(4, 13312, 3000000000, 3, 2)"),
        (pyarrow, "['web_2', 'web_2', 'web_0', 'web_0'] [4096, 8192, 0, 512]"),
    ];
    for ((script, wanted), module) in wanted.iter().zip(["duckdb", "pyarrow"]) {
        let Some(python) = python_with(module) else { continue };
        let found = tool(&python, &["-c", script]).expect("reads the store");
        assert_eq!(found.trim(), *wanted, "{module}");
    }
}

#[test]
fn a_reader_of_a_pipe_heeds_the_first_signal() {
    // It waited in open or read until it was killed.
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(tool("mkfifo", &[text(&fifo)]).is_some());
    let output = folder.path().join("out.csv");
    for writer in [false, true] {
        // Opened for reading too, opening it does not wait.
        let held = writer.then(|| fs::File::options().read(true).write(true).open(&fifo).unwrap());
        for (words, signal) in [
            (&["trace", "stats", text(&fifo)][..], "TERM"),
            (&["trace", "info", text(&fifo)], "INT"),
            (&["trace", "convert", text(&fifo), text(&output)], "TERM"),
        ] {
            let mut child = common::seekwell(folder.path())
                .args(words)
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            // It has installed its handlers once it has this thread.
            common::wait_for_threads(&child, "signals", 1);
            common::signal(&child, signal);
            let mut status = None;
            common::wait_for("the end", || {
                status = child.try_wait().unwrap();
                status.is_some()
            });
            assert_eq!(status.unwrap().code(), Some(130), "{words:?}");
        }
        drop(held);
    }
    assert_eq!(common::names(folder.path()), ["fifo"], "nothing is left behind");
}

#[test]
fn a_trace_comes_through_a_pipe_and_what_reads_it_twice_says_so() {
    let (folder, input) = folder();
    let script = "cat \"$1\" | \"$2\" trace info /dev/stdin --json";
    let program = env!("CARGO_BIN_EXE_seekwell");
    let words = ["-c", script, "sh", text(&input), program];
    let out = tool("sh", &words).expect("it is read");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["requests"], 4, "{document}");
    let fifo = folder.path().join("fifo");
    assert!(tool("mkfifo", &[text(&fifo)]).is_some());
    let ran = run(folder.path(), &["replay", text(&fifo), "--on", "null"]).ends(2);
    assert!(ran.err.contains("write the trace to a file first"), "{}", ran.err);
}
