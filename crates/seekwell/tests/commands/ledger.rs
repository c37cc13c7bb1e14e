//! `seekwell flush-ledger`, on loop devices; the lab cuts the power of modelled disks.

use crate::common::schema::complete;
use crate::common::{Loop, Ran, done, run, seekwell};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

/// Writes for a while; the ledger comes through a pipe.
fn write(home: &Path, disk: &Loop, more: &[&str]) -> Ran {
    let backing = disk.backing.to_str().expect("text");
    let words = ["flush-ledger", "write", &disk.device, "--destroy", backing, "--runtime", "300ms"];
    run(home, &[&words, more].concat()).ends(0)
}

fn check(home: &Path, device: &str, ledger: &str, more: &[&str]) -> Ran {
    let file = home.join("ledger");
    fs::write(&file, ledger).expect("it is written");
    let from = ["--ledger", file.to_str().expect("text")];
    run(home, &[&["flush-ledger", "check", device], &from[..], more].concat())
}

#[test]
fn everything_that_was_acknowledged_is_there_until_something_overwrites_it() {
    let home = tempfile::tempdir().expect("a folder");
    let Some(disk) = Loop::new(64 << 20) else { return };
    for how in [&["--size", "8m"][..], &["--fua", "--bs", "16k", "--iodepth", "4"]] {
        let ledger = write(home.path(), &disk, how).out;
        let head: Value =
            serde_json::from_str(ledger.lines().next().expect("a line")).expect("JSON");
        complete(&["flush-ledger-1.json"], &[head], &[]);
        let kept = check(home.path(), &disk.device, &ledger, &[]).ends(0).out;
        assert!(kept.starts_with("KEPT: "), "{kept}");
        // All but the last acknowledgement got lost, which proves less and is no fault.
        let early: String = ledger.split_inclusive('\n').take(2).collect();
        check(home.path(), &disk.device, &early, &[]).ends(0);

        let device = File::options().write(true).open(&disk.device).expect("it is there");
        device.write_all_at(&[0; 4 << 20], 0).expect("it is written");
        drop(device);
        let lost = check(home.path(), &disk.device, &ledger, &[]).ends(1);
        assert!(lost.out.starts_with("LOST: ") && lost.out.contains("journal"), "{}", lost.out);
        assert!(lost.out.lines().all(|line| line.chars().count() <= 80), "{}", lost.out);
        let lost = check(home.path(), &disk.device, &ledger, &["--json"]).ends(1).json();
        assert!(lost["missing"].as_u64() > Some(0), "{lost}");
        let absent = [(
            "flush-check-1.json#/properties/losses/items/properties/found",
            "zeroes are of no write",
        )];
        complete(&["flush-check-1.json"], &[lost], &absent);
    }
}

#[test]
fn what_would_prove_nothing_or_destroy_something_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let on = |words: &[&str], status| {
        run(home.path(), &[&["flush-ledger", "write"], words].concat()).ends(status).err
    };
    let folder = on(&[home.path().to_str().expect("text")], 2);
    assert!(folder.contains("losetup"), "{folder}");
    let Some(disk) = Loop::new(64 << 20) else { return };
    let backing = disk.backing.to_str().expect("text");
    assert!(on(&[&disk.device], 3).contains("--destroy SERIAL"));
    assert!(on(&[&disk.device, "--destroy", "other"], 3).contains("the serial given"));
    let own = [&*disk.device, "--destroy", backing];
    assert!(on(&[&own[..], &["--size", "1t"]].concat(), 2).contains("holds 67108864"));
    assert!(on(&[&own[..], &["--iodepth", "2000"]].concat(), 2).contains("1 to 1024"));
    // The loop device's file and the ledger are on one disk.
    let beside = disk.backing.with_file_name("ledger");
    let mut command = seekwell(home.path());
    let command = command.args(["flush-ledger", "write"]).args(own).stderr(Stdio::piped());
    let file = File::create(&beside).expect("it is made");
    let same = done(command.stdout(file).output().expect("the program starts"));
    if same.status == 0 {
        crate::common::skip("the file of a loop device lies on no block device here");
    } else {
        assert!(same.ends(3).err.contains("on the disk of"));
    }
    assert_eq!(fs::read(&beside).expect("it is there").len(), 0);
}

#[test]
fn what_is_no_ledger_is_named_and_another_device_is_too_small() {
    let home = tempfile::tempdir().expect("a folder");
    let Some(disk) = Loop::new(1 << 20) else { return };
    let wrong = check(home.path(), &disk.device, "hello\n", &[]).ends(2).err;
    assert!(wrong.contains("this is not a ledger"), "{wrong}");
    let head = |blocks| {
        format!(
            "{{\"schema\":\"seekwell/flush-ledger/1\",\"device\":\"/dev/sdx\",\"plan\":{{\"id\":1,\
             \"block_bytes\":4096,\"blocks\":{blocks},\"batch\":16,\"durable\":\"flush\"}}}}\n"
        )
    };
    let small = check(home.path(), &disk.device, &head(1024), &[]).ends(2).err;
    assert!(small.contains("it is another device"), "{small}");
    let other = check(home.path(), &disk.device, &(head(64) + "16\n"), &[]).ends(1).out;
    assert!(other.contains("nothing of this ledger is on the device"), "{other}");
    let empty = check(home.path(), &disk.device, &head(64), &[]).ends(0).out;
    assert!(empty.starts_with("NOTHING TO CHECK"), "{empty}");
}
