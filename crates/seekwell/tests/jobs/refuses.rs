//! What jobs may not do, with the sentence and the status, and that nothing was changed.

use super::common::{Loop, Mounted, names, run, seekwell};
use super::{Desk, count};
use std::fs;
use std::path::Path;

const MIB: u64 = 1 << 20;

#[test]
fn an_existing_file_is_read_and_never_written() {
    let Some(desk) = Desk::new() else { return };
    let precious = desk.runs.path().join("precious");
    fs::write(&precious, vec![7; 1 << 20]).unwrap();
    let name = format!("filename={}\nbs=4k\n", precious.display());
    for writes in ["rw=write", "rw=randrw", "rw=trim", "rw=trimwrite"] {
        let ran = desk.bench(&format!("[w]\n{name}{writes}\n"), &["--no-keep"]);
        assert_eq!(ran.status, 3, "{writes}: {}", ran.err);
        assert!(ran.err.contains("precious") && ran.err.contains("--on"), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
    let larger = desk.bench(&format!("[r]\n{name}rw=read\nsize=2m\n"), &["--no-keep"]).ends(2);
    assert!(larger.err.contains("1048576"), "{}", larger.err);
    let ran = desk.bench(&format!("[r]\n{name}rw=read\n"), &["--json", "--no-keep"]).ends(0);
    assert_eq!(count(&ran.json(), "r", "read").1, MIB);
    assert_eq!(fs::read(&precious).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn a_device_is_written_only_with_its_serial() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("d.fio");
    let job = format!("[d]\nfilename={}\nrw=randwrite\nbs=4k\n", disk.device);
    fs::write(&file, job).unwrap();
    let before = fs::read(&disk.backing).unwrap();
    let file = file.to_str().unwrap();
    let ran = run(home.path(), &["bench", file, "--no-keep"]).ends(3);
    assert!(ran.err.contains("--destroy SERIAL"), "{}", ran.err);
    let ran = run(home.path(), &["bench", file, "--no-keep", "--destroy", "WD-123"]).ends(3);
    assert!(ran.err.contains("WD-123"), "{}", ran.err);
    assert!(fs::read(&disk.backing).unwrap() == before, "the device was changed");
    fs::write(home.path().join("r.fio"), format!("[r]\nfilename={}\nrw=read\n", disk.device))
        .unwrap();
    let read = home.path().join("r.fio");
    let serial = disk.backing.to_str().unwrap();
    let args = ["bench", read.to_str().unwrap(), "--no-keep", "--destroy", serial];
    let ran = run(home.path(), &args).ends(2);
    assert!(ran.err.contains("no job writes"), "{}", ran.err);
}

#[test]
fn a_mounted_device_is_not_written_through_a_link_and_not_even_discarded() {
    let Some(mounted) = Mounted::ext4(16 * MIB, "rw") else { return };
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("by-id");
    std::os::unix::fs::symlink(&mounted.disk.device, &link).unwrap();
    let before = fs::read(&mounted.disk.backing).unwrap();
    for rw in ["randwrite", "trim"] {
        let file = home.path().join("m.fio");
        let job =
            format!("[m]\nfilename={}\nrw={rw}\nbs=4k\nallow_mounted_write=1\n", link.display());
        fs::write(&file, job).unwrap();
        let serial = mounted.disk.backing.to_str().unwrap();
        let args = ["bench", file.to_str().unwrap(), "--no-keep", "--destroy", serial];
        let ran = run(home.path(), &args).ends(3);
        assert!(ran.err.contains("mounted"), "{}", ran.err);
    }
    assert!(fs::read(&mounted.disk.backing).unwrap() == before, "the device was changed");
}

#[test]
fn a_mistyped_device_never_becomes_a_file() {
    let Some(desk) = Desk::new() else { return };
    for name in ["/dev/loopzz", "/dev/nvme9n9", "/dev/disk/by-id/nothing"] {
        let ran = desk
            .bench(&format!("[d]\nfilename={name}\nrw=write\nsize=1m\n"), &["--no-keep"])
            .ends(2);
        assert!(ran.err.contains("does not exist"), "{}", ran.err);
        assert!(!Path::new(name).exists());
    }
}

#[test]
fn files_that_do_not_fit_together_are_refused_before_one_is_made() {
    let Some(desk) = Desk::new() else { return };
    let ran = desk.bench("[big]\nrw=write\nsize=100t\nnumjobs=2\n", &["--no-keep"]).ends(3);
    assert!(ran.err.contains("200 TiB") && ran.err.contains("must stay free"), "{}", ran.err);
    assert_eq!(names(desk.dir()), Vec::<String>::new());
    // Each alone would fit; both together do not.
    let space = seekwell_access::FsSpace::of(desk.dir()).unwrap();
    let half = (space.available_bytes - space.reserved_bytes()) / 4 * 3 / 4096 * 4096;
    desk.bench(&format!("[two]\nrw=write\nsize={half}\nnumjobs=2\n"), &["--no-keep"]).ends(3);
    assert_eq!(names(desk.dir()), Vec::<String>::new());
}

#[test]
fn what_is_wrong_with_a_job_is_said_before_another_writes() {
    let Some(desk) = Desk::new() else { return };
    let cases = [
        ("[b]\nrw=read\n", "size"),
        ("[b]\nrw=read\nsize=1m\nbs=1000\ndirect=1\n", "multiple of"),
        ("[b]\nrw=write\nsize=1m\nverify=sha512\nbs=64\n", "header"),
        ("[b]\nrw=read\nsize=1m\nwait_for=nobody\n", "nobody"),
        ("[b]\nrw=read\nsize=1m\nread_iolog=trace\n", "read_iolog"),
        ("[b]\nrw=read\nsize=1m\nallow_file_create=0\n", "allow_file_create"),
        ("[b]\nrw=reed\nsize=1m\n", "rw=reed"),
        ("[b]\nrw=read\nsize=1m\niodept=3\n", "iodepth"),
        ("[b]\nrw=read\nsize=1m\ndirectory=/no/such/place\n", "/no/such/place"),
    ];
    for (job, words) in cases {
        let ran = desk.bench(&format!("[a]\nrw=write\nsize=1m\n{job}"), &["--no-keep"]);
        assert_eq!(ran.status, 2, "{job}: {}", ran.err);
        assert!(ran.err.contains(words), "{job}: {}", ran.err);
        assert_eq!((ran.out.as_str(), names(desk.dir()).len()), ("", 0));
    }
}

#[test]
fn showing_says_where_how_much_would_be_written_and_does_nothing() {
    let Some(desk) = Desk::new() else { return };
    let precious = desk.runs.path().join("precious");
    fs::write(&precious, vec![7; 1 << 20]).unwrap();
    let text = "[w]\nrw=randwrite\nsize=3m\nnumjobs=2\nbs=4k\n";
    let ran = desk.bench(text, &["--show"]).ends(0);
    for words in ["w.0.0", "w.1.0", "write 3 MiB", "temporary files of 6 MiB", "Nothing was done"] {
        assert!(ran.out.contains(words), "{words:?}: {}", ran.out);
    }
    let ran = desk.bench(&format!("{text}filename={}\n", precious.display()), &["--show"]);
    assert!(ran.out.contains("would be refused"), "{}", ran.out);
    assert_eq!(names(desk.dir()), Vec::<String>::new());
}

#[test]
fn a_target_takes_the_place_of_what_the_file_names() {
    let Some(desk) = Desk::new() else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let file = desk.file("[g]\nfilename=/dev/sdzz\nrw=randwrite\nsize=1m\nbs=4k\n");
    let ran = |on: &str| {
        let mut command = seekwell(desk.runs.path());
        command.current_dir(elsewhere.path()).arg("bench").arg(&file);
        command.args(["--json", "--no-keep", "--on", on]);
        super::common::done(command.output().unwrap())
    };
    let on = ran(desk.dir().to_str().unwrap()).ends(0);
    assert_eq!(count(&on.json(), "g", "write").1, MIB);
    assert_eq!(on.json()["medium"]["directory"], desk.dir().to_str().unwrap());
    assert_eq!(ran("null").status, 0);
    assert_eq!(ran("nobody.toml").status, 2);
}
