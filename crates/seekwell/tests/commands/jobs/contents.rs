//! What devices hold after a job wrote to them: repeated data, a pass that brings an SSD to its
//! steady state, writes that are done whole or not at all.

use super::{count, destroying};
use crate::common::{Loop, done, run, skip, tool};
use serde_json::json;
use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: u64 = 1 << 20;

/// Share of 4 KiB blocks in files that are the same as an earlier one, per cent.
fn duplicates(files: &[&Path]) -> f64 {
    let (mut blocks, mut seen, state) = (0, HashSet::new(), RandomState::new());
    for file in files {
        for block in fs::read(file).unwrap().chunks(4096) {
            blocks += 1;
            seen.insert(state.hash_one(block));
        }
    }
    100.0 * f64::from(blocks - seen.len() as i32) / f64::from(blocks)
}

/// What a job leaves on a loop device of 64 MiB, per cent of duplicates.
fn left_by(options: &str) -> Option<f64> {
    let disk = Loop::new(64 * MIB)?;
    let home = tempfile::tempdir().unwrap();
    let text = format!("[d]\nfilename={}\nsize=64m\nrw=write\nbs=4k\n{options}", disk.device);
    let document = destroying(home.path(), &disk, &text).json();
    assert_eq!(count(&document, "d", "write"), (16384, 64 * MIB), "{options}");
    tool("sync", &[]);
    Some(duplicates(&[&disk.backing]))
}

#[test]
fn as_many_blocks_repeat_earlier_ones_as_were_asked_for_and_as_fio_repeats() {
    let repeat = "dedupe_percentage=30\nend_fsync=1\n";
    let Some(ours) = left_by(repeat) else { return };
    assert!((ours - 30.0).abs() < 1.5, "{ours}");
    let set = "dedupe_percentage=60\ndedupe_mode=working_set\ndedupe_working_set_percentage=10\n\
               buffer_compress_percentage=50\nioengine=libaio\niodepth=8\ndirect=1\n";
    let Some(of_set) = left_by(set) else { return };
    assert!((of_set - 60.0).abs() < 1.5, "{of_set}");
    assert!(left_by("end_fsync=1\n").is_some_and(|plain| plain == 0.0));
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    for (options, ours) in [(repeat, ours), (set, of_set)] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("test.fio");
        let text = format!("[d]\nfilename=data\nsize=64m\nrw=write\nbs=4k\n{options}");
        fs::write(&file, text.replace("direct=1\n", "")).unwrap();
        let mut fio = Command::new("fio");
        fio.arg("--output=/dev/null").arg(&file).current_dir(dir.path());
        assert_eq!(done(fio.output().unwrap()).status, 0);
        let theirs = duplicates(&[&dir.path().join("data")]);
        assert!((ours - theirs).abs() < 2.5, "{ours} here, {theirs} by fio: {options}");
    }
}

#[test]
fn jobs_that_share_a_working_set_repeat_each_others_blocks() {
    let (Some(a), Some(b)) = (Loop::new(32 * MIB), Loop::new(32 * MIB)) else { return };
    let home = tempfile::tempdir().unwrap();
    let left = |shared: u8| {
        // One device can be destroyed in a run, so the jobs have a half of it each.
        let disk = if shared == 1 { &a } else { &b };
        let text = format!(
            "[global]\nfilename={}\nsize=16m\nrw=write\nbs=4k\ndedupe_percentage=50\n\
             dedupe_mode=working_set\ndedupe_working_set_percentage=50\ndedupe_global={shared}\n\
             end_fsync=1\n[a]\n[b]\noffset=16m\n",
            disk.device
        );
        destroying(home.path(), disk, &text);
        tool("sync", &[]);
        let data = fs::read(&disk.backing).unwrap();
        let half = |at: usize| -> HashSet<Vec<u8>> {
            data[at..at + (16 << 20)].chunks(4096).map(<[u8]>::to_vec).collect()
        };
        half(0).intersection(&half(16 << 20)).count()
    };
    assert!(left(1) > 500, "{}", left(1));
    assert_eq!(left(0), 0);
}

#[test]
fn sprandom_writes_every_block_and_as_much_again_as_the_drive_has_spare() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        "[p]\nfilename={}\nioengine=libaio\niodepth=16\ndirect=1\nrw=randwrite\nbs=4k\n\
         norandommap=1\nsprandom=1\nspr_op=0.2\nspr_num_regions=50\n",
        disk.device
    );
    let ran = destroying(home.path(), &disk, &text);
    let writes = count(&ran.json(), "p", "write").0 as f64;
    assert!((writes / 16384.0 - 1.2).abs() < 0.03, "{writes}");
    tool("sync", &[]);
    let data = fs::read(&disk.backing).unwrap();
    let empty = data.chunks(4096).filter(|block| block.iter().all(|b| *b == 0)).count();
    assert!(empty < 16384 / 40, "{empty} of 16384 blocks were not written");
    for (options, word) in [
        ("rw=randread\nsprandom=1\n", "rw=randwrite"),
        ("rw=randwrite\nsprandom=1\nbs=6k\n", "power of two"),
        ("rw=randwrite\nsprandom=1\nnumjobs=2\n", "one job on one file"),
        ("rw=randwrite\nsprandom=1\nspr_op=1.5\n", "above 0 and below 1"),
    ] {
        let file = home.path().join("wrong.fio");
        fs::write(&file, format!("[p]\nsize=1m\n{options}")).unwrap();
        let ran = run(home.path(), &["bench", file.to_str().unwrap(), "--no-keep"]).ends(2);
        assert!(ran.err.contains(word), "{}", ran.err);
    }
}

/// XFS on a loop device, which takes single blocks atomically by copying them on write.
struct Xfs {
    point: PathBuf,
    _disk: Loop,
    _dir: tempfile::TempDir,
}

impl Xfs {
    fn new() -> Option<Self> {
        // Sparse; a run leaves 1 GiB free.
        let disk = Loop::new(3072 * MIB)?;
        let Some(_) = tool("mkfs.xfs", &["-q", "-f", &disk.device]) else {
            skip("XFS cannot be made here");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join("mnt");
        fs::create_dir(&point).unwrap();
        let Some(_) = tool("mount", &[&disk.device, point.to_str().unwrap()]) else {
            skip("XFS cannot be mounted here");
            return None;
        };
        Some(Self { point, _disk: disk, _dir: dir })
    }
}

impl Drop for Xfs {
    fn drop(&mut self) {
        tool("umount", &["--lazy", self.point.to_str().unwrap()]);
    }
}

#[test]
fn atomic_writes_are_made_where_the_kernel_has_them_and_refused_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let bench = |name: &str, options: &str, args: &[&str]| {
        let file = home.path().join("atomic.fio");
        fs::write(&file, format!("[a]\n{name}rw=randwrite\natomic=1\n{options}")).unwrap();
        let mut all = vec!["bench", file.to_str().unwrap(), "--json", "--no-keep"];
        all.extend(args);
        run(home.path(), &all)
    };
    if let Some(disk) = Loop::new(16 * MIB) {
        let serial = disk.backing.to_str().unwrap().to_owned();
        let name = format!("filename={}\nbs=4k\n", disk.device);
        let ran = bench(&name, "", &["--destroy", &serial]).ends(3);
        assert!(ran.err.contains("reports no atomic writes of /dev/loop"), "{}", ran.err);
    }
    let Some(xfs) = Xfs::new() else { return };
    let name = format!("directory={}\nsize=4m\n", xfs.point.display());
    for engine in ["io_uring", "psync"] {
        let ran =
            bench(&name, &format!("bs=4k\nioengine={engine}\niodepth=4\nverify=crc32c\n"), &[]);
        if ran.err.contains("reports no atomic writes") {
            return skip("XFS has no atomic writes in this kernel");
        }
        assert_eq!(ran.status, 0, "{engine}: {}", ran.err);
        assert_eq!(count(&ran.json(), "a", "write").0, 1024, "{engine}");
    }
    for (options, words) in [
        ("bs=6k\n", "bs is 6144"),
        ("bs=64m\nsize=64m\n", "power of two from 4096 to"),
        ("bs=8k\nba=4k\n", "each at a multiple of it"),
        ("bsrange=4k-8k\n", "of one size"),
    ] {
        let ran = bench(&name, options, &[]);
        assert_eq!(ran.status, 2, "{options}: {}", ran.err);
        assert!(ran.err.contains(words), "{options}: {}", ran.err);
    }
}

#[test]
fn bench_asks_the_kernel_for_atomic_uncached_and_polled_requests_or_says_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let Some(xfs) = Xfs::new() else { return };
    let point = xfs.point.to_str().unwrap();
    let bench = |target: &str, words: &[&str]| {
        let all = ["bench", "--on", target, "--runtime=600ms", "--no-keep", "--json"];
        run(home.path(), &[&all[..], words].concat())
    };
    let ran = bench(point, &["--rw=randwrite", "--atomic", "--size=64m"]);
    if ran.err.contains("cannot be atomic here") {
        return skip("XFS has no atomic writes in this kernel");
    }
    let flags = &ran.ends(0).json()["phases"][0]["workload"]["flags"];
    assert_eq!(*flags, json!({ "atomic": true, "uncached": false, "polled": false }));
    for (words, said) in [
        (&["--rw=randwrite", "--atomic", "--bs=6k"][..], "6144 bytes cannot be atomic here"),
        (&["--rw=randwrite", "--atomic", "--direct=0"], "past the page cache (direct=1)"),
        (&["--hipri", "--fsync=1", "--rw=write"], "without fsync or trim"),
        (&["--hipri"], "the disk has no queues to poll"),
    ] {
        let ran = bench(point, words);
        assert!(matches!(ran.status, 2 | 3) && ran.err.contains(said), "{words:?}: {}", ran.err);
    }
    let ran = bench("null", &["--hipri"]).ends(2);
    assert!(ran.err.contains("no kernel does these requests"), "{}", ran.err);

    // What was read does not stay in the page cache, unless it may.
    let file = xfs.point.join("mine");
    fs::write(&file, vec![7; 64 << 20]).unwrap();
    tool("sync", &[]);
    let resident = || {
        let path = file.to_str().unwrap();
        tool("fincore", &["--bytes", "--noheadings", "--output=RES", path])
            .and_then(|text| text.trim().parse::<u64>().ok())
    };
    let Some(_) = resident() else { return skip("there is no fincore") };
    let read = |words: &[&str]| {
        seekwell_access::drop_cache(fs::File::open(&file).unwrap()).unwrap();
        let ran = bench(file.to_str().unwrap(), words);
        ran.ends(0);
        resident().unwrap()
    };
    for engine in ["threads", "io_uring"] {
        let (kept, left) = (read(&["--direct=0"]), read(&["--uncached", "--engine", engine]));
        assert!(left < kept / 8, "{engine}: {left} bytes stay in the page cache, of {kept}");
    }
}
