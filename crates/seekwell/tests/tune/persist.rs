//! Asking udev about a rule before it is put in its place: a `udevadm` of the test's own stands
//! first in PATH, for Debian 12's has no `verify`.

use crate::common::{self, Ran, done};
use crate::rig::Rig;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// `tune keep --persist` with a `udevadm` that does this.
fn keep(rig: &Rig, udevadm: &str) -> Ran {
    let bin = rig.home.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("udevadm");
    fs::write(&program, format!("#!/bin/sh\n{udevadm}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", bin.display());
    let mut command = rig.program();
    command.env("PATH", path).args(["tune", "keep", "--persist", "--json"]);
    done(command.output().unwrap())
}

fn rules(rig: &Rig) -> Vec<String> {
    common::names(&rig.home.path().join("rules"))
}

#[test]
fn a_rule_that_udev_finds_sound_is_written_without_a_word() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    let seen = rig.home.path().join("seen");
    let asked = format!("[ \"$1\" = verify ] || exit 9; cp \"$2\" {}", seen.display());
    let ran = keep(&rig, &asked).ends(0);
    assert!(ran.json()["not_verified"].is_null(), "{}", ran.out);
    let names = rules(&rig);
    assert_eq!(names.len(), 1, "{names:?}");
    let written = fs::read_to_string(rig.home.path().join("rules").join(&names[0])).unwrap();
    assert_eq!(fs::read_to_string(&seen).unwrap(), written, "what was verified is what is written");
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
}

#[test]
fn a_rule_that_udev_finds_unsound_is_not_written_and_the_trial_goes_on() {
    let Some(rig) = Rig::new() else { return };
    rig.begin(&["nomerges=2"], "60s");
    let ran = keep(&rig, "echo 'x.rules:3 Invalid operator for ATTR.' >&2; exit 1");
    assert_eq!(ran.status, 3, "{}", ran.out);
    assert!(ran.err.contains("Invalid operator for ATTR"), "{}", ran.err);
    assert_eq!(rules(&rig), Vec::<String>::new());
    assert_eq!(rig.phase(), Some(seekwell_tune::journal::Phase::Trying));
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
}

#[test]
fn where_udev_cannot_be_asked_the_rule_is_written_and_that_is_said() {
    let Some(rig) = Rig::new() else { return };
    for (udevadm, said) in [
        ("echo 'Unknown command verb verify.' >&2; exit 1", "cannot verify rules (systemd 254"),
        // One that crashes has said nothing of the rule.
        ("kill -9 $$", "udevadm ended by itself"),
    ] {
        rig.begin(&["nomerges=2"], "60s");
        let ran = keep(&rig, udevadm).ends(0);
        assert!(ran.err.contains(said), "{}", ran.err);
        assert_eq!(rules(&rig).len(), 1);
        assert_eq!(rig.tune(&["undo"]).status, 0);
        rig.assert_as_before("after undo");
    }
}

#[test]
fn what_was_kept_until_the_next_boot_is_made_to_last_by_a_second_keep() {
    // It was "no trial", and without /etc/udev/rules.d nothing could be kept at all.
    let Some(rig) = Rig::new() else { return };
    fs::remove_dir(rig.home.path().join("rules")).ok();
    rig.begin(&["nomerges=2"], "60s");
    assert_eq!(rig.tune(&["keep"]).status, 0);
    keep(&rig, "exit 0").ends(0);
    assert_eq!(rules(&rig).len(), 1);
    assert_eq!(rig.tune(&["undo"]).status, 0);
    rig.assert_as_before("after undo");
    assert_eq!(rules(&rig), Vec::<String>::new());
}
