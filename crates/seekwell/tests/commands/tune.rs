//! Settings tried, kept and put back by the real program, on loop devices made for each test: what
//! is killed, hung up on or replaced meanwhile must leave every attribute as it was.

mod cut_off;
mod iocost;
mod measure;
mod persist;
pub mod rig;

use crate::common::{self, LONG, done, skip, tool};
use rig::{Rig, kill};
use seekwell_tune::journal::{Journal, Phase};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_trial_changes_the_disk_and_nobody_saying_keep_puts_it_back() {
    let Some(rig) = Rig::new() else { return };
    let settings = [
        "scheduler=mq-deadline",
        "nr_requests=64",
        "iosched.fifo_batch=8",
        "read_ahead_kb=512",
        "rq_affinity=2",
        "nomerges=1",
        "iostats=0",
        "max_sectors_kb=512",
    ];
    let args = [&["try", rig.device(), "--for", "5s", "--json"], &settings[..]].concat();
    let document = rig.tune(&args).ends(0).json();
    assert_eq!(document["schema"], "seekwell/tune-try/1");
    assert_eq!(document["changed"].as_array().unwrap().len(), settings.len());
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap();
        assert_eq!(rig.value(&key.replace('.', "/")), value, "{key}");
    }
    let status = rig.tune(&["status", "--json"]).json();
    assert_eq!(status["trials"][0]["phase"], "trying");
    assert_eq!(status["trials"][0]["guarded"], true);
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after the time was up");
    let status = rig.tune(&["status", "--json"]).json();
    assert_eq!(status["trials"][0]["phase"], "ended");
    assert!(status["trials"][0]["ended_because"].as_str().unwrap().contains("in time"));
    let late = rig.tune(&["keep", rig.device()]).ends(3);
    assert!(late.err.contains("everything was put back"), "{}", late.err);
}

#[test]
fn what_is_kept_stays_and_undo_goes_back_through_every_trial() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["scheduler=mq-deadline"], "60s");
    assert_eq!(rig.tune(&["keep"]).status, 0);
    rig.wait_for_guard_to_end();
    assert_eq!(rig.value("scheduler"), "mq-deadline");
    rig.begin(&["scheduler=kyber", "nr_requests=100"], "60s");
    assert_eq!(rig.tune(&["undo"]).status, 0);
    assert_eq!(rig.value("scheduler"), "mq-deadline", "the trial alone was undone");
    rig.wait_for_guard_to_end();
    rig.begin(&["read_ahead_kb=64"], "60s");
    assert_eq!(rig.tune(&["keep", rig.device()]).status, 0);
    rig.tune(&["undo", rig.device()]).ends(0);
    rig.assert_as_before("after everything kept was undone");
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 2, "there is nothing left to undo");
}

#[test]
fn what_was_kept_can_be_undone_after_a_later_trial_was_put_back() {
    // The later trial's journal said that all is over, and the one that was kept was forgotten.
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    assert_eq!(rig.tune(&["keep"]).status, 0);
    rig.wait_for_guard_to_end();
    rig.begin(&["read_ahead_kb=64"], "60s");
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.wait_for_guard_to_end();
    assert_eq!(rig.value("nomerges"), "2", "the trial alone was undone");
    rig.tune(&["undo"]).ends(0);
    rig.assert_as_before("after the kept one was undone too");
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 2, "there is nothing left to undo");
}

#[test]
fn a_persisted_state_is_a_rule_that_undo_takes_back_even_after_a_reboot() {
    let Some(rig) = Rig::new() else { return };
    let rules = rig.home.path().join("rules");
    for rebooted in [false, true] {
        rig.begin(&["scheduler=mq-deadline", "nr_requests=64"], "60s");
        rig.tune(&["keep", "--persist", "--json"]).ends(0);
        let names = common::names(&rules);
        assert_eq!(names.len(), 1, "{names:?}");
        assert!(names[0].starts_with("61-seekwell-") && names[0].ends_with(".rules"), "{names:?}");
        let text = fs::read_to_string(rules.join(&names[0])).unwrap();
        let backing = rig.backing.display();
        let order = format!(
            "ATTR{{loop/backing_file}}==\"{backing}\", ATTR{{queue/scheduler}}=\"mq-deadline\", \
             ATTR{{queue/nr_requests}}=\"64\""
        );
        assert!(text.contains(&order), "{text}");
        rig.wait_for_guard_to_end();
        if rebooted {
            fs::remove_dir_all(rig.run_dir()).unwrap();
        }
        rig.tune(&["undo", rig.device()]).ends(0);
        assert_eq!(common::names(&rules), Vec::<String>::new());
        rig.assert_as_before("after the rule was taken back");
    }
}

#[test]
fn a_rule_that_cannot_be_written_leaves_the_trial_as_it_is() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    let rules = rig.home.path().join("rules");
    fs::remove_dir(&rules).unwrap();
    fs::write(&rules, "a file where the directory should be").unwrap();
    rig.tune(&["keep", "--persist"]).ends(3);
    assert_eq!(rig.phase(), Some(Phase::Trying));
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
}

#[test]
fn a_second_trial_on_a_disk_is_refused_and_harms_the_first_in_nothing() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    let ran = rig.tune(&["try", rig.device(), "rq_affinity=0"]).ends(3);
    assert!(ran.err.contains("a trial is already running"), "{}", ran.err);
    assert_eq!((rig.value("nomerges"), rig.value("rq_affinity")), ("2".into(), "1".into()));
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let Some(rig) = Rig::new() else { return };
    for (setting, status, said) in [
        ("schedular=none", 2, "did you mean scheduler?"),
        ("scheduler=deadline", 2, "not one of"),
        ("nr_requests=2", 2, "out of range: 4 to"),
        ("rq_affinity=3", 2, "out of range: 0 to 2"),
        ("read_ahead_kb=5", 2, "the kernel would round it to 4"),
        ("read_ahead_kb", 2, "expected KEY=VALUE"),
        ("queue_depth=3", 3, "only SCSI and ATA disks have it"),
        ("write_cache=write through", 3, "may lose data"),
        ("hdparm-d=1", 3, "no ATA disk"),
        ("look_ahead=0", 3, "the drive does not offer it"),
        ("nvme.apst=0", 3, "it is no NVMe disk"),
        ("nvme.asps=0", 2, "did you mean nvme.apst?"),
        ("read_only=1", 3, "may lose data"),
        ("read_only=2", 2, "out of range: 0 or 1"),
    ] {
        let ran = rig.tune(&["try", rig.device(), setting]);
        assert_eq!(ran.status, status, "{setting}: {}", ran.err);
        assert!(ran.err.contains(said), "{setting}: {}", ran.err);
        assert!(!ran.err.contains("panicked") && ran.out.is_empty());
    }
    rig.tune(&["try", rig.device(), "nomerges=1", "nomerges=2"]).ends(2);
    assert_eq!(rig.tune(&["keep"]).status, 2);
    assert_eq!(rig.tune(&["plan", "/dev/loopzz"]).status, 2);
    rig.assert_as_before("after refusals");
}

#[test]
fn one_setting_the_kernel_refuses_puts_the_others_back() {
    let Some(rig) = Rig::new() else { return };
    // Each scheduler has a limit of its own that only the kernel knows.
    let args = ["try", rig.device(), "scheduler=mq-deadline", "nr_requests=100000000"];
    let ran = rig.tune(&args);
    assert_eq!(ran.status, 3, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("nr_requests was not set"), "{}", ran.err);
    assert!(ran.err.contains("everything is as it was"), "{}", ran.err);
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after the refusal");
}

#[test]
fn what_may_lose_data_is_never_tried_on_a_mounted_disk() {
    let Some(rig) = Rig::new() else { return };
    if tool("mkfs.ext4", &["-q", "-F", rig.device()]).is_none() {
        return skip("no mkfs.ext4");
    }
    let point = tempfile::tempdir().unwrap();
    let at = point.path().to_str().unwrap();
    tool("mount", &[rig.device(), at]).expect("the loop device can be mounted");
    let args = ["try", rig.device(), "write_cache=write through", "--allow-risk", "D"];
    let ran = rig.tune(&args);
    tool("umount", &[at]);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.err.contains("is mounted on"), "{}", ran.err);
    rig.assert_as_before("after the refusal");
}

#[test]
fn the_read_only_flag_is_set_by_ioctl_read_back_and_put_back_by_the_guard() {
    let Some(rig) = Rig::new() else { return };
    let shown = || fs::read_to_string(rig.sysfs().join("ro")).unwrap().trim().to_owned();
    let args = ["try", rig.device(), "--allow-risk", "d", "--for", "1s", "--", "-r1"];
    let ran = rig.tune(&args).ends(0);
    assert!(ran.out.contains("read_only  0 → 1"), "{}", ran.out);
    assert_eq!(shown(), "1", "the kernel itself says so");
    assert!(fs::write(rig.device(), [0; 512]).is_err());
    rig.wait_for_guard_to_end();
    assert_eq!(shown(), "0");
    rig.tune(&["try", rig.device(), "read_only=0", "--for", "30s"]).ends(0);
    let ran = rig.tune(&["keep", "--persist"]).ends(3);
    assert!(ran.err.contains("no attribute"), "{}", ran.err);
    assert_eq!(rig.tune(&["undo"]).status, 0);
}

#[test]
fn a_journal_that_was_cut_short_is_put_right_by_what_is_left_of_it() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2", "read_ahead_kb=512"], "60s");
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    let journal = rig.place().journal();
    let bytes = fs::read(&journal).unwrap();
    let first = bytes.iter().position(|b| *b == b'\n').unwrap();
    // In the middle of the second copy: which of the settings were written is not known any more.
    fs::write(&journal, &bytes[..first + 20]).unwrap();
    let status = rig.tune(&["status"]);
    assert!(status.out.contains("was cut short"), "{}", status.out);
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 0);
    rig.assert_as_before("after undo by half a journal");
}

#[test]
fn a_journal_whose_first_line_is_damaged_still_puts_everything_back() {
    // `tune undo` said that no trial went on while the setting was still changed.
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2", "read_ahead_kb=512"], "60s");
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    let journal = rig.place().journal();
    let mut bytes = fs::read(&journal).unwrap();
    bytes[..30].fill(b'x');
    fs::write(&journal, &bytes).unwrap();
    let status = rig.tune(&["status"]);
    assert!(status.out.contains("damaged lines in its journal: 1"), "{}", status.out);
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo by the second copy");
}

#[test]
fn a_journal_that_cannot_be_understood_is_an_error_and_never_nothing() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    let journal = rig.place().journal();
    let bytes = fs::read(&journal).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    for (damaged, said) in [
        (&b""[..], "it is empty"),
        (&[0; 4096], "it holds nothing but zeros"),
        (b"\xffgarbage", "its first line is cut short"),
        (&bytes[..40], "its first line is cut short"),
        (&lines[2..].concat(), "(it still names nomerges)"),
    ] {
        fs::write(&journal, damaged).unwrap();
        for words in [&["undo"][..], &["undo", rig.device()], &["status"], &["keep"]] {
            let ran = rig.tune(words);
            assert_eq!(ran.status, 5, "{words:?}: {}", ran.err);
            assert!(ran.err.contains(journal.to_str().unwrap()), "{words:?}: {}", ran.err);
            assert!(ran.err.contains(said) && ran.err.contains("reboot"), "{words:?}: {}", ran.err);
        }
        rig.tune(&["try", rig.device(), "iostats=0"]).ends(5);
        let other = done(rig.program().args(["runs", "list"]).output().unwrap());
        assert!(other.err.contains("is damaged") && other.status == 0, "{}", other.err);
    }
    assert_eq!(rig.value("nomerges"), "2");
    // As the message says.
    fs::remove_file(&journal).unwrap();
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 2);
}

#[test]
fn a_living_guard_puts_back_what_a_damaged_journal_has_lost() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    fs::write(rig.place().journal(), "garbage\n").unwrap();
    let ran = rig.tune(&["undo"]).ends(0);
    assert!(ran.out.contains("is damaged"), "{}", ran.out);
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after undo by the guard");
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 2, "nothing is left to undo");
}

#[test]
fn who_may_not_see_trials_is_not_told_that_there_are_none() {
    // A user saw that nothing was tried while a trial of root's went on.
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    fs::set_permissions(rig.home.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let as_nobody = |words: &[&str]| {
        let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let program = rig.program();
        let mut command = Command::new("setpriv");
        command.args(ids).arg(program.get_program()).args(words);
        command.envs(program.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command.output().ok().map(done)
    };
    if as_nobody(&["--version"]).is_none_or(|ran| ran.status != 0) {
        return skip("the program cannot be run as another user");
    }
    for words in [&["tune", "status"][..], &["tune", "status", "--json"], &["tune", "undo"]] {
        let ran = as_nobody(words).unwrap();
        assert_eq!((ran.status, ran.out.as_str()), (3, ""), "{words:?}: {}", ran.err);
        assert!(ran.err.contains("cannot tell whether"), "{words:?}: {}", ran.err);
        assert!(ran.err.contains("run it again with sudo"), "{words:?}: {}", ran.err);
    }
    assert_eq!(rig.tune(&["undo"]).status, 0);
}

#[test]
fn hang_up_and_ctrl_c_are_not_heard_and_a_request_to_end_puts_everything_back() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["scheduler=mq-deadline", "read_ahead_kb=512"], "60s");
    let guard = rig.guard().expect("a guard lives");
    kill(guard, "HUP");
    kill(guard, "INT");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(rig.guard(), Some(guard));
    assert_eq!(rig.value("scheduler"), "mq-deadline");
    kill(guard, "TERM");
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after SIGTERM");
    assert_eq!(rig.phase(), Some(Phase::Ended));
}

#[test]
fn a_closed_terminal_does_not_take_the_way_back_with_it() {
    // iptables-apply deletes its backup on SIGHUP and then has nothing to restore.
    let Some(rig) = Rig::new() else { return };
    if !Path::new("/usr/bin/script").exists() {
        return skip("no script(1) to make a terminal");
    }
    let command = format!(
        "{} tune try {} scheduler=mq-deadline --for 5s",
        env!("CARGO_BIN_EXE_seekwell"),
        rig.device()
    );
    let status = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("SEEKWELL_RUN_DIR", rig.run_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(rig.value("scheduler"), "mq-deadline", "the trial outlives its terminal");
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after the terminal was closed");
}

#[test]
fn a_line_of_the_kernel_about_the_disk_puts_everything_back_and_is_named() {
    let Some(rig) = Rig::new() else { return };
    let name = rig.device().trim_start_matches("/dev/");
    rig.begin(&["scheduler=mq-deadline", "nomerges=2"], "60s");
    let said = "op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2";
    // Another disk's trouble is not ours.
    for (disk, trouble) in [("loop65535", false), (name, true)] {
        let line = format!("<3>I/O error, dev {disk}, sector 8 {said}\n");
        if let Err(error) = fs::write("/dev/kmsg", line) {
            return skip(&format!("the kernel log cannot be written: {error}"));
        }
        if trouble {
            let begun = Instant::now();
            rig.wait_for_guard_to_end();
            assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
        } else {
            std::thread::sleep(Duration::from_millis(300));
            assert!(rig.guard().is_some());
        }
    }
    rig.assert_as_before("after the kernel's line");
    let status = rig.tune(&["status"]).out;
    assert!(status.contains("the kernel reports: ") && status.contains("sector 8"), "{status}");
}

#[test]
fn journals_of_another_boot_and_another_machine_are_known_as_such() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.wait_for_guard_to_end();
    let begin = rig.place().state().unwrap().unwrap().begin;
    let mut earlier = begin.clone();
    earlier.machine.boot_id = "00000000-0000-0000-0000-000000000000".into();
    drop(Journal::begin(&rig.place(), earlier).unwrap());
    let status = rig.tune(&["status"]);
    assert!(status.out.contains("of an earlier boot"), "{}", status.out);
    assert_eq!(seekwell_tune::unfinished(&rig.run_dir()).unwrap(), None);
    let mut foreign = begin;
    foreign.machine.machine_id = "f".repeat(32);
    drop(Journal::begin(&rig.place(), foreign).unwrap());
    let ran = rig.tune(&["undo", rig.device()]).ends(3);
    assert!(ran.err.contains("belongs to another machine"), "{}", ran.err);
    rig.assert_as_before("nothing of it was touched");
}

#[test]
fn every_command_says_that_a_trial_was_cut_off() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    let ran = done(rig.program().args(["runs", "list"]).output().unwrap());
    assert_eq!(ran.status, 0);
    assert!(ran.err.contains("cut off") && ran.err.contains("tune undo"), "{}", ran.err);
    rig.tune(&["try", rig.device(), "nomerges=1"]).ends(3);
    assert!(rig.tune(&["status"]).out.contains("its guard is dead"));
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
    let ran = done(rig.program().args(["runs", "list"]).output().unwrap());
    assert!(!ran.err.contains("cut off"), "{}", ran.err);
}
