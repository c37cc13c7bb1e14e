//! What was written is read back and compared; one flipped bit is found.

use super::common::{self, Loop, Ran, run, skip, tool};
use super::{Desk, count, phase};
use std::fs;
use std::path::Path;

const MIB: u64 = 1 << 20;

#[test]
fn whatever_was_written_is_read_back_whole_with_every_sum() {
    let Some(desk) = Desk::new() else { return };
    let sums = [
        "crc32c", "md5", "sha256", "sha512", "xxhash", "crc32", "crc64", "crc16", "crc7", "sha1",
        "sha3-256", "pattern", "null",
    ];
    let jobs: String = sums
        .iter()
        .map(|sum| {
            let pattern = if *sum == "pattern" { "verify_pattern=0xdeadbeef\n" } else { "" };
            format!("[{sum}]\nverify={sum}\n{pattern}")
        })
        .collect();
    let document = desk.measured(&format!(
        "[global]\nsize=256k\nbsrange=4k-16k\nrw=randwrite\nioengine=libaio\niodepth=4\n{jobs}"
    ));
    for sum in sums {
        assert_eq!(count(&document, sum, "write").1, 256 << 10, "{sum}");
        let back = count(&document, &format!("{sum}-verify"), "read");
        assert_eq!(back.1, 256 << 10, "{sum}");
    }
}

#[test]
fn blocks_written_over_are_read_back_as_they_were_written_last() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[v]\nsize=1m\nbs=4k\nrw=randwrite\nnorandommap\nio_size=3m\nioengine=libaio\niodepth=16\n\
         verify=crc32c\nverify_interval=1024\n\
         [mixed]\nsize=1m\nbs=4k\nrw=randrw\nverify=md5\n",
    );
    assert_eq!(count(&document, "v", "write").1, 3 * MIB);
    let (reads, bytes) = count(&document, "v-verify", "read");
    // 1 − e⁻³ of 256 blocks: 243 ± 3.3.
    assert!((225..=256).contains(&reads) && bytes == reads * 4096, "{reads}");
    let written = count(&document, "mixed", "write");
    assert_eq!(count(&document, "mixed-verify", "read"), written);
}

#[test]
fn a_backlog_is_read_back_meanwhile_and_only_the_rest_after() {
    let Some(desk) = Desk::new() else { return };
    let document = desk.measured(
        "[b]\nsize=1m\nbs=4k\nrw=randwrite\nioengine=libaio\niodepth=4\nverify=crc32c\n\
         verify_backlog=50\n",
    );
    let (during, after) = (count(&document, "b", "read").0, count(&document, "b-verify", "read").0);
    assert_eq!(count(&document, "b", "write").0, 256);
    assert_eq!(during + after, 256);
    assert!(during >= 200, "{during}");
    assert_eq!(phase(&document, "b")["repeats"][0]["values"]["verified_requests"], 256.0);
}

fn on_device(home: &Path, disk: &Loop, options: &str, args: &[&str]) -> Ran {
    let file = home.join("v.fio");
    let text = format!(
        "[v]\nfilename={}\ndirect=1\nioengine=libaio\niodepth=4\nbs=4k\nsize=4m\n{options}",
        disk.device
    );
    fs::write(&file, text).unwrap();
    let mut all = vec!["bench", file.to_str().unwrap(), "--json", "--no-keep"];
    all.extend(args);
    run(home, &all)
}

fn flip(path: &Path, byte: usize) {
    let mut data = fs::read(path).unwrap();
    data[byte] ^= 1;
    fs::write(path, data).unwrap();
}

#[test]
fn one_flipped_bit_is_found_with_its_place_and_nothing_is_written() {
    let Some(disk) = Loop::new(8 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let serial = disk.backing.to_str().unwrap().to_owned();
    let write = "rw=randwrite\nverify=crc32c\ndo_verify=0\n";
    on_device(home.path(), &disk, write, &["--destroy", &serial]).ends(0);
    for check in ["rw=read\nverify=crc32c\n", "rw=randwrite\nverify=crc32c\nverify_only=1\n"] {
        let ran = on_device(home.path(), &disk, check, &[]);
        assert_eq!(ran.status, 0, "{check}: {}\n{}", ran.err, ran.out);
        let document = ran.json();
        assert_eq!(count(&document, "v", "read").0, 1024, "{check}");
        assert_eq!(phase(&document, "v")["repeats"][0]["values"]["verified_requests"], 1024.0);
    }
    flip(&disk.backing, 777 * 4096 + 100);
    let before = fs::read(&disk.backing).unwrap();
    let document = on_device(home.path(), &disk, "rw=read\nverify=crc32c\n", &[]).ends(4).json();
    let found = &phase(&document, "v")["repeats"][0]["mismatches"][0];
    assert_eq!(found["offset"], 777 * 4096);
    assert_eq!(found["what"], "checksum");
    assert_eq!(found["path"], disk.device.as_str());
    assert_ne!(found["expected"], found["found"]);
    let invalid = document["invalid"][0].as_str().unwrap();
    assert!(invalid.contains("1 block does not verify"), "{invalid}");
    assert!(invalid.contains(&(777 * 4096).to_string()), "{invalid}");
    assert_eq!(fs::read(&disk.backing).unwrap(), before);
}

#[test]
fn a_pattern_with_offsets_tells_the_byte_and_all_of_it_is_looked_at_unless_the_first_is_fatal() {
    let Some(disk) = Loop::new(8 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let serial = disk.backing.to_str().unwrap().to_owned();
    let pattern = "verify=pattern\nverify_pattern=0xabcd%o\n";
    let write = format!("rw=write\ndo_verify=0\n{pattern}");
    on_device(home.path(), &disk, &write, &["--destroy", &serial]).ends(0);
    for byte in [5 * 4096 + 7, 900 * 4096, 901 * 4096 + 4095] {
        flip(&disk.backing, byte);
    }
    let bad = |options: &str| {
        let document = on_device(home.path(), &disk, &format!("rw=read\n{pattern}{options}"), &[])
            .ends(4)
            .json();
        let repeat = &phase(&document, "v")["repeats"][0];
        let found = repeat["mismatches"].as_array().unwrap();
        let reads = count(&document, "v", "read").0;
        (found.iter().map(|m| m["differs_at"].as_u64().unwrap()).collect::<Vec<_>>(), reads)
    };
    let (all, reads) = bad("continue_on_error=verify\n");
    assert_eq!(all, [5 * 4096 + 7, 900 * 4096, 901 * 4096 + 4095]);
    assert_eq!(reads, 1021);
    let (first, reads) = bad("verify_fatal=1\n");
    assert_eq!(first, [5 * 4096 + 7]);
    assert!(reads < 100, "{reads}");
}

#[test]
fn a_stray_write_between_writing_and_reading_back_is_found_and_dumped() {
    let Some(desk) = Desk::new() else { return };
    let ran = desk.bench(
        "[global]\nfilename=shared\nsize=1m\nbs=4k\nverify_dump=1\n\
         [good]\nrw=write\nverify=crc32c\ndo_verify=0\n\
         [stray]\nstonewall\nrw=write\noffset=40960\nsize=4k\nverify=md5\ndo_verify=0\n\
         [check]\nstonewall\nrw=read\nverify=crc32c\n",
        &["--json", "--no-keep"],
    );
    assert_eq!(ran.status, 4, "{}", ran.err);
    let document = ran.json();
    let repeat = &phase(&document, "check")["repeats"][0];
    assert_eq!(repeat["mismatches"][0]["offset"], 40960);
    assert_eq!(repeat["mismatches"][0]["what"], "type");
    assert_eq!(common::names(desk.dir()), ["shared.40960.received"]);
    assert_eq!(fs::read(desk.dir().join("shared.40960.received")).unwrap().len(), 4096);
}

#[test]
fn what_fio_wrote_is_checked_and_a_flipped_byte_of_it_is_found() {
    let Some(desk) = Desk::new() else { return };
    if tool("fio", &["--version"]).is_none() {
        return skip("fio is not installed");
    }
    let file = desk.runs.path().join("by-fio");
    let name = format!("--filename={}", file.display());
    for sum in ["crc32c", "md5", "xxhash", "crc16", "crc7", "sha3-256"] {
        let verify = format!("--verify={sum}");
        let job = ["--name=w", &name, "--rw=randwrite", "--bs=4k", "--size=1m", &verify];
        // Without a file of its own in the folder it was started in.
        let args = [&job[..], &["--do_verify=0", "--verify_state_save=0"]].concat();
        tool("fio", &args).expect("fio writes a file");
        let check = format!("[r]\nfilename={}\nrw=read\nbs=4k\nverify={sum}\n", file.display());
        let ran = desk.bench(&check, &["--json", "--no-keep"]);
        assert_eq!(ran.status, 0, "{sum}: {}\n{}", ran.err, ran.out);
        flip(&file, 33 * 4096 + 2000);
        let ran = desk.bench(&check, &["--json", "--no-keep"]);
        assert_eq!(ran.status, 4, "{sum}: {}", ran.err);
        let found = ran.json()["phases"][0]["repeats"][0]["mismatches"][0]["offset"].clone();
        assert_eq!(found, 33 * 4096, "{sum}");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_pattern_with_an_offset_starts_over_at_its_interval() {
    let Some(disk) = Loop::new(4 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        "[p]\nfilename={}\nrw=write\nbs=16k\nverify=pattern\nverify_pattern=%o\n\
         verify_pattern_interval=512\nend_syncfs=1\n",
        disk.device
    );
    let document = super::destroying(home.path(), &disk, &text).json();
    assert_eq!(count(&document, "p-verify", "read").1, 4 * MIB);
    tool("sync", &[]);
    let data = fs::read(&disk.backing).unwrap();
    for (number, sector) in (0_u64..).zip(data.chunks(512)) {
        let expected = (number * 512).to_le_bytes();
        assert!(sector.chunks(8).all(|word| word == expected), "sector {number}");
    }
}
