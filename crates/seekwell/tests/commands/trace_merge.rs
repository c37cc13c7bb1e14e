//! Statistics gathered in parts, as a person or a cluster types it.

use crate::common::{Ran, done, run, seekwell};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A trace of seven volumes.
fn trace(folder: &Path) -> PathBuf {
    let mut text = String::new();
    for i in 0..4000_u64 {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let (op, block) = (if mixed & 3 == 0 { "W" } else { "R" }, mixed % 97 * (mixed % 31));
        let at = 1_577_808_000_000_000 + i * 70_000 + mixed % 50_000;
        writeln!(text, "{},{op},{},4096,{at}", mixed % 7 + 400, block * 4096).expect("memory");
    }
    let path = folder.join("volumes.csv");
    fs::write(&path, text).expect("writes");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn good(folder: &Path, args: &[&str]) -> Ran {
    let done = run(folder, args);
    assert_eq!(done.status, 0, "{args:?}: {}", done.err);
    done
}

/// All but what the trace is called.
fn figures(done: &Ran) -> serde_json::Value {
    let mut told = done.json();
    told["file"] = serde_json::Value::Null;
    told
}

const POLICIES: &str = "lru,fifo,clock,s3-fifo,sieve,arc";

#[test]
fn shards_threads_and_split_files_give_the_figures_and_digest_of_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    let stats = |file: &Path, more: &[&str]| {
        let args = ["trace", "stats", text(file), "--rate-log2", "1", "--policy", POLICIES];
        good(home, &[&args[..], &["--json"], more].concat())
    };
    let whole = figures(&stats(&input, &["--threads", "1"]));
    assert_eq!(whole["devices"].as_array().map(Vec::len), Some(7));
    assert_eq!(whole["policies"].as_array().map(Vec::len), Some(6));
    assert_eq!(whole["digest"].as_str().map(str::len), Some(64));
    assert_eq!(figures(&stats(&input, &["--threads", "3"])), whole);
    let merged = |parts: &[PathBuf]| {
        let mut args = vec!["trace", "merge", "--json"];
        args.extend(parts.iter().map(|part| text(part)));
        figures(&good(home, &args))
    };
    let parts: Vec<PathBuf> = (1..=3).map(|i| home.join(format!("{i}.stats"))).collect();
    for (i, part) in parts.iter().enumerate() {
        stats(&input, &["--shard", &format!("{}/3", i + 1), "-o", text(part)]);
    }
    assert_eq!(merged(&parts), whole);
    let half = home.join("half.stats");
    good(home, &["trace", "merge", text(&parts[2]), text(&parts[0]), "-o", text(&half)]);
    assert_eq!(merged(&[parts[1].clone(), half]), whole);
    for (into, more, files) in [("each", &[][..], 7), ("two", &["--parts", "2"][..], 2)] {
        let into = home.join(into);
        let args = ["trace", "split", text(&input), "--by", "device", "--into", text(&into)];
        let split = good(home, &[&args[..], more, &["--json"]].concat()).json();
        let written = split["files"].as_array().expect("files");
        assert_eq!(written.len(), files);
        let requests = written.iter().filter_map(|file| file["requests_written"].as_u64());
        assert_eq!(requests.sum::<u64>(), 4000);
        let gather = |(i, file): (usize, &serde_json::Value)| {
            let part = into.join(format!("{i}.stats"));
            stats(Path::new(file["file"].as_str().expect("a name")), &["-o", text(&part)]);
            part
        };
        let parts: Vec<PathBuf> = written.iter().enumerate().map(gather).collect();
        assert_eq!(merged(&parts), whole);
    }
}

// Figures of three shards of four were shown as those of the trace.
#[test]
fn a_missing_shard_is_named_and_figures_without_it_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    // More shards than devices: some are empty.
    let parts: Vec<String> = (1..=12).map(|i| format!("{i}.stats")).collect();
    for (i, part) in parts.iter().enumerate() {
        let (shard, part) = (format!("{}/12", i + 1), home.join(part));
        good(home, &["trace", "stats", text(&input), "--shard", &shard, "-o", text(&part)]);
    }
    let merge = |parts: &[&String], more: &[&str]| {
        let paths: Vec<PathBuf> = parts.iter().map(|part| home.join(part)).collect();
        let paths: Vec<&str> = paths.iter().map(|path| text(path)).collect();
        run(home, &[&["trace", "merge"], &paths[..], more].concat())
    };
    let all: Vec<&String> = parts.iter().collect();
    assert_eq!(merge(&all, &[]).status, 0);
    let lacking = [&all[..2], &all[3..7], &all[8..]].concat();
    let refused = merge(&lacking, &[]);
    assert_eq!((refused.status, refused.out.as_str()), (1, ""), "{}", refused.err);
    assert!(refused.err.contains("shards are missing: 3/12, 8/12; "), "{}", refused.err);
    assert_eq!(merge(&lacking, &["--partial"]).status, 0);
    let half = "half.stats".to_owned();
    let output = home.join(&half);
    assert_eq!(merge(&lacking, &["-o", text(&output)]).status, 0);
    let refused = merge(&[&half, all[2]], &[]);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("shards are missing: 8/12; "), "{}", refused.err);
    assert_eq!(merge(&[&half, all[2], all[7]], &[]).status, 0);
    let mut named = 0;
    for part in all.iter().copied() {
        let twice = merge(&[part, part], &[]);
        named += usize::from(twice.err.contains("/12 is in more than one of them"));
        assert!(twice.status > 0 && merge(&[&all[..], &[part]].concat(), &[]).status > 0);
    }
    assert!(named > 1, "shards with devices are named");
}

// A trace that was cut to one device was split into a file for each that it had.
#[test]
fn a_device_without_requests_gets_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let (input, cut, into) = (trace(home), home.join("cut.parquet"), home.join("into"));
    good(home, &["trace", "cut", text(&input), text(&cut), "--device", "401"]);
    good(home, &["trace", "split", text(&cut), "--by", "device", "--into", text(&into)]);
    let files: Vec<_> = fs::read_dir(&into).expect("lists").flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn a_damaged_or_foreign_part_is_named_and_nothing_is_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    let part = |name: &str, more: &[&str]| {
        let path = home.join(name);
        let args = ["trace", "stats", text(&input), "-o", text(&path)];
        good(home, &[&args[..], more].concat());
        path
    };
    let one = part("one.stats", &["--shard", "1/2"]);
    let two = part("two.stats", &["--shard", "2/2"]);
    let rate = part("rate.stats", &["--shard", "2/2", "--rate-log2", "3"]);
    let mut bytes = fs::read(&two).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let (torn, damaged) = (home.join("torn.stats"), home.join("damaged.stats"));
    fs::write(&torn, &bytes[..middle]).expect("writes");
    fs::write(&damaged, &bytes).expect("writes");
    for (other, status, said) in [
        (&damaged, 4, "damaged or cut short"),
        (&torn, 4, "damaged or cut short"),
        (&input, 4, "no statistics to merge"),
        (&one, 2, "is in more than one of them"),
        (&rate, 2, "--rate-log2"),
        (&home.join("absent.stats"), 2, "No such file"),
    ] {
        let refused = run(home, &["trace", "merge", text(&one), text(other)]);
        assert_eq!((refused.status, refused.out.as_str()), (status, ""), "{}", refused.err);
        let name = other.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(refused.err.contains(name) && refused.err.contains(said), "{}", refused.err);
    }
    let shown = good(home, &["trace", "merge", text(&one), text(&two)]);
    assert!(shown.out.contains("4,000") && shown.out.contains("digest"), "{}", shown.out);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    for more in [
        &["--shard", "0/2"][..],
        &["--shard", "3/2"],
        &["--rate-log2", "33"],
        &["--exact", "--rate-log2", "2"],
        &["--policy", "best"],
        &["--only", "counts", "--no-reuse"],
        &["--threads", "0"],
    ] {
        let refused = run(home, &[&["trace", "stats", text(&input)], more].concat());
        assert_eq!(refused.status, 2, "{more:?} {}", refused.err);
    }
    let into = home.join("into");
    let split = ["trace", "split", text(&input), "--by", "device", "--into", text(&into)];
    let refused = run(home, &[&split[..], &["--format", "alibaba"]].concat());
    assert_eq!(refused.status, 2, "{}", refused.err);
    good(home, &split);
    let again = run(home, &split);
    assert_eq!(again.status, 3, "{}", again.err);
    assert!(again.err.contains("replace it with --force"), "{}", again.err);
    let left: Vec<_> = fs::read_dir(&into).expect("lists").flatten().collect();
    assert_eq!(left.len(), 7, "{left:?}");
}

#[test]
fn some_figures_are_a_document_of_their_own_keys_and_merge_with_the_same_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    let refused = run(home, &["trace", "stats", text(&input), "--only", "counts,nonsense"]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    for word in ["nonsense", "counts", "sizes", "arrivals", "processes"] {
        assert!(refused.err.contains(word), "{}", refused.err);
    }
    let some = ["trace", "stats", text(&input), "--only", "sizes,queue"];
    let document = good(home, &[&some[..], &["--json"]].concat()).json();
    let keys: Vec<&str> =
        document.as_object().expect("an object").keys().map(String::as_str).collect();
    let always = ["about", "digest", "file", "policies", "rate_log2", "schema", "sentences"];
    let expected = [&always[..], &["sizes", "queue", "device_queue"]].concat();
    assert_eq!(BTreeSet::from_iter(keys), BTreeSet::from_iter(expected));
    let whole = good(home, &["trace", "stats", text(&input), "--json"]).json();
    assert_eq!((&document["sizes"], &document["queue"]), (&whole["sizes"], &whole["queue"]));
    let shown = good(home, &some).out;
    assert!(shown.contains("median") && !shown.contains("--verbose"), "{shown}");
    let (one, two, all) = (home.join("1.stats"), home.join("2.stats"), home.join("all.stats"));
    good(home, &[&some[..], &["--shard", "1/2", "-o", text(&one)]].concat());
    good(home, &[&some[..], &["--shard", "2/2", "-o", text(&two)]].concat());
    let merged = good(home, &["trace", "merge", text(&one), text(&two), "--json"]).json();
    assert_eq!(merged["digest"], document["digest"]);
    good(home, &["trace", "stats", text(&input), "--shard", "2/2", "-o", text(&all)]);
    let refused = run(home, &["trace", "merge", text(&one), text(&all)]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(refused.err.contains("one holds sizes,queue and another"), "{}", refused.err);
    let page = home.join("some.html");
    good(home, &[&some[..], &["-o", text(&page)]].concat());
}

#[test]
fn more_devices_than_files_that_may_be_open_need_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let lines = (0..300).map(|i| format!("{i},R,0,4096,{}\n", 1_577_808_000_000_000_u64 + i));
    fs::write(home.join("many.csv"), lines.collect::<String>()).expect("writes");
    let split = ["trace", "split", "many.csv", "--by", "device", "--into", "into"];
    let ran = |args: &[&str]| {
        done(seekwell(home).current_dir(home).args(args).output().expect("the program starts"))
    };
    let refused = ran(&split);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(refused.err.contains("--parts 256"), "{}", refused.err);
    assert_eq!(fs::read_dir(home.join("into")).expect("lists").count(), 0);
    let split = ran(&[&split[..], &["--parts", "8"]].concat());
    assert!(
        split.out.starts_with("300 requests to 300 devices written to 8 files"),
        "{}",
        split.err
    );
}

/// The files for Slurm and Kubernetes do what they say, without either.
#[test]
fn the_example_files_gather_parts_that_merge() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let input = trace(home);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scale");
    let program = seekwell(home).get_program().to_owned();
    let bin = Path::new(&program).parent().expect("a folder").to_owned();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let shell = |args: &[&str], variables: &[(&str, &str)]| {
        let mut shell = Command::new("/bin/sh");
        shell.args(args).env("PATH", &path).envs(variables.iter().copied());
        let done = done(shell.output().expect("a shell"));
        assert_eq!(done.status, 0, "{args:?} {}", done.err);
    };
    let whole = good(home, &["trace", "stats", text(&input), "--rate-log2", "12", "--json"]);
    let digest = whole.json()["digest"].clone();
    let merged = |parts: &Path| {
        let files = fs::read_dir(parts).expect("lists").flatten().map(|file| file.path());
        let files: Vec<PathBuf> = files.collect();
        let mut args = vec!["trace", "merge", "--json"];
        args.extend(files.iter().map(|file| text(file)));
        (files.len(), good(home, &args).json()["digest"].clone())
    };
    let slurm = home.join("slurm");
    fs::create_dir(&slurm).expect("a folder");
    let script = docs.join("stats.sbatch");
    for task in ["1", "2", "3"] {
        let variables = [("SLURM_ARRAY_TASK_ID", task), ("SLURM_ARRAY_TASK_COUNT", "3")];
        shell(&[text(&script), text(&input), text(&slurm)], &variables);
    }
    assert_eq!(merged(&slurm), (3, digest.clone()));
    let job = fs::read_to_string(docs.join("stats-job.yaml")).expect("reads");
    let (_, call) = job.split_once("- |\n").expect("a script");
    let (call, _) = call.split_once("          resources:").expect("what follows it");
    let kubernetes = home.join("kubernetes");
    fs::create_dir(&kubernetes).expect("a folder");
    let call = call.replace("/traces/all.parquet", text(&input));
    let call = call.replace("/parts/", &format!("{}/", text(&kubernetes)));
    for index in 0..16 {
        shell(&["-ec", &call], &[("JOB_COMPLETION_INDEX", &index.to_string())]);
    }
    assert_eq!(merged(&kubernetes), (16, digest));
}
