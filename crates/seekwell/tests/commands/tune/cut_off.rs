//! What is killed, hangs or is replaced in the middle of a trial.

use super::rig::{Frozen, MIB, Numbered, Rig, kill};
use crate::common::{self, Mounted, tool, wait_for};
use seekwell_tune::Disk;
use seekwell_tune::apply::Limits;
use seekwell_tune::journal::Phase;
use seekwell_tune::setting::Risk;
use seekwell_tune::trial::{TrialRequest, Tuner};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn a_disk_replaced_between_try_and_keep_is_noticed() {
    let Some(disk) = Numbered::new() else { return };
    let disk = std::sync::Arc::new(disk);
    let backing = disk.dir.path().join("first.img");
    let Some(rig) = Rig::on(disk.device(), backing, Box::new(disk.clone())) else { return };
    let args = ["try", rig.device(), "nomerges=2", "--for", "60s", "--no-canary"];
    assert_eq!(rig.tune(&args).status, 0);
    disk.detach();
    disk.attach("second.img").expect("it can be attached again");
    let ran = rig.tune(&["keep", rig.device()]).ends(3);
    assert!(ran.err.contains("is not the disk the trial was begun on"), "{}", ran.err);
    // The kernel's queue is still the one that was tuned, and the guard holds it open.
    assert_eq!(rig.tune(&["undo", rig.device()]).status, 0);
    assert_eq!(rig.value("nomerges"), "0");
    rig.wait_for_guard_to_end();
    // Without a guard nothing is written to a disk that is another one.
    assert_eq!(rig.tune(&args).status, 0);
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    disk.detach();
    disk.attach("first.img").expect("it can be attached again");
    rig.tune(&["undo", rig.device()]).ends(3);
    assert_eq!(rig.value("nomerges"), "2");
    assert_eq!(seekwell_tune::unfinished(&rig.run_dir()).unwrap(), None, "it is said once");
    // That of a disk which is gone was "cut off and not put back", and no undo could change that.
    assert_eq!(rig.tune(&args).status, 0);
    kill(rig.guard().expect("a guard lives"), "KILL");
    rig.wait_for_guard_to_end();
    disk.detach();
    let said = seekwell_tune::unfinished(&rig.run_dir()).unwrap().expect("a trial").to_string();
    assert!(said.contains("on which nomerges was tried, is gone"), "{said}");
    let undone = rig.tune(&["undo"]).ends(0);
    assert!(undone.out.contains("the disk is gone; its trial is cleared"), "{}", undone.out);
    assert_eq!(seekwell_tune::unfinished(&rig.run_dir()).unwrap(), None);
}

#[test]
fn a_keep_cut_off_while_it_writes_the_rule_leaves_the_whole_rule_or_none() {
    let Some(rig) = Rig::new() else { return };
    let rules = rig.home.path().join("rules");
    let mut seed = 7;
    let mut seen: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    for _ in 0..25 {
        rig.begin(&["nomerges=2", "read_ahead_kb=512"], "60s");
        let mut program = rig
            .program()
            .args(["tune", "keep", "--persist"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(spread(&mut seed) % 100_000));
        let _ = program.kill();
        program.wait().unwrap();
        let written: Vec<String> =
            common::names(&rules).into_iter().filter(|n| n.ends_with(".rules")).collect();
        for name in &written {
            let text = fs::read_to_string(rules.join(name)).unwrap();
            assert!(text.ends_with("ATTR{queue/read_ahead_kb}=\"512\"\n"), "{text:?}");
        }
        let kept = rig.phase() == Some(Phase::Kept);
        assert!(kept || written.is_empty(), "a rule for what was not kept");
        *seen.entry((kept, !written.is_empty())).or_default() += 1;
        rig.tune(&["undo", rig.device()]).ends(0);
        rig.wait_for_guard_to_end();
        assert!(common::names(&rules).iter().all(|n| !n.ends_with(".rules")));
        rig.assert_as_before("after undo");
    }
    eprintln!("(kept, rule written): {seen:?}");
}

#[test]
fn a_disk_that_hangs_is_reported_the_rest_put_back_and_the_work_ended_when_it_comes_to() {
    // A write to `scheduler` waits for requests in flight, in a state no signal ends. Here they
    // are in flight for as long as the file system under the loop device is frozen.
    let Some(below) = Mounted::ext4(96 * MIB, "defaults") else { return };
    let backing = below.point.join("disk.img");
    fs::write(&backing, vec![0u8; 16 << 20]).unwrap();
    let made = tool("losetup", &["--find", "--show", backing.to_str().unwrap()]);
    let device = made.expect("a second loop device").trim().to_owned();
    struct Detach(String);
    impl Drop for Detach {
        fn drop(&mut self) {
            tool("losetup", &["--detach", &self.0]);
        }
    }
    let rig = Rig::on(device.clone(), backing, Box::new(Detach(device.clone()))).unwrap();
    let view = seekwell_sys::Live::system();
    let tuner = Tuner {
        view: &view,
        run_dir: rig.run_dir(),
        rules_dir: rig.home.path().join("rules"),
        program: env!("CARGO_BIN_EXE_seekwell").into(),
    };
    let disk = Disk::of(&view, Path::new(&device)).unwrap();
    let request = TrialRequest {
        words: vec!["scheduler=mq-deadline".into(), "bdi.max_ratio=50".into()],
        time: Duration::from_secs(60),
        allow: Risk::B,
        limits: Limits { plain_ms: 1_500, freezing_ms: 2_500 },
        canary: false,
        owned: false,
    };
    tuner.begin(&disk, &request).unwrap();
    let ratio = rig.sysfs().join("bdi/max_ratio");
    assert_eq!(fs::read_to_string(&ratio).unwrap().trim(), "50");
    tool("fsfreeze", &["--freeze", below.point.to_str().unwrap()]).expect("it can be frozen");
    let frozen = Frozen(&below.point);
    let to = format!("of={device}");
    let mut writer = Command::new("dd")
        .args(["if=/dev/zero", &to, "bs=4k", "count=1", "oflag=direct"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let inflight = rig.sysfs().join("inflight");
    wait_for("a request in flight", || {
        fs::read_to_string(&inflight).unwrap().split_whitespace().any(|n| n != "0")
    });
    let ran = rig.tune(&["undo"]);
    assert_eq!(ran.status, 5, "{} {}", ran.out, ran.err);
    assert!(
        ran.out.contains("scheduler should be none: writing it has not returned"),
        "{}",
        ran.out
    );
    assert_eq!(fs::read_to_string(&ratio).unwrap().trim(), "100", "the rest is put back");
    assert!(rig.guard().is_some(), "the guard stays at it");
    drop(frozen);
    writer.wait().unwrap();
    rig.wait_for_guard_to_end();
    rig.assert_as_before("after the disk came to");
    let story = rig.place().state().unwrap().unwrap();
    assert!(!story.unfinished(), "{:?}", story.entries);
}

/// Numbers without a crate: moments need to be spread, not random.
fn spread(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Program,
    Guard,
    Both,
}

/// One trial with something killed in the middle of it. Says how far it had come.
fn cut_off(rig: &Rig, victim: Victim, after: Duration) -> Option<Phase> {
    let mut program: Child = rig
        .program()
        .args(["tune", "try", rig.device(), "--for", "150ms"])
        .args(["scheduler=mq-deadline", "nr_requests=64", "read_ahead_kb=512", "nomerges=2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let phase = rig.phase();
    if victim != Victim::Guard {
        let _ = program.kill();
    }
    if victim != Victim::Program
        && let Some(guard) = rig.guard()
    {
        kill(guard, "KILL");
    }
    program.wait().unwrap();
    if victim == Victim::Program {
        // Without anybody's help, unless it was killed before there was a guard.
        wait_for("the guard's own rollback", || {
            let story = rig.place().state().unwrap();
            story.is_none_or(|s| s.phase() == Phase::Ended || s.entries.is_empty())
        });
    }
    rig.wait_for_guard_to_end();
    // The next start; 2 is "there is nothing to undo".
    let ran = rig.tune(&["undo", rig.device()]);
    assert!([0, 2].contains(&ran.status), "{victim:?} after {after:?}: {}", ran.err);
    rig.assert_as_before(&format!("{victim:?} killed after {after:?} in {phase:?}"));
    phase
}

#[test]
fn killed_at_two_hundred_moments_every_attribute_is_as_it_was() {
    const MOMENTS: usize = 201;
    const AT_ONCE: usize = 6;
    let rigs: Vec<Rig> = (0..AT_ONCE).map_while(|_| Rig::new()).collect();
    if rigs.is_empty() {
        return;
    }
    let todo: Mutex<Vec<(Victim, Duration)>> = Mutex::new({
        let mut seed = 0x5eed_5eed;
        let victims = [Victim::Program, Victim::Guard, Victim::Both].into_iter().cycle();
        let moment = |v| (v, Duration::from_micros(spread(&mut seed) % 700_000));
        victims.take(MOMENTS).map(moment).collect()
    });
    let seen: Mutex<BTreeMap<String, usize>> = Mutex::default();
    std::thread::scope(|scope| {
        for rig in &rigs {
            scope.spawn(|| {
                while let Some((victim, after)) = { todo.lock().unwrap().pop() } {
                    let phase = cut_off(rig, victim, after);
                    *seen.lock().unwrap().entry(format!("{phase:?}")).or_default() += 1;
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.values().sum::<usize>(), MOMENTS);
    eprintln!("killed in: {seen:?}");
}
