use super::*;
use crate::setting::tests::{ahci, disk};
use seekwell_sys::fake::Fake;

fn change(view: &Fake, key: &str, value: &str) -> Change {
    let found =
        find(view, &disk(view), key, Some("")).or_else(|_| find(view, &disk(view), key, None));
    let attribute = found.unwrap();
    Change {
        key: key.to_owned(),
        path: attribute.path,
        value: value.to_owned(),
        stage: attribute.setting.stage,
        freezes: false,
        prove: false,
    }
}

fn with_serial() -> Fake {
    let db = "S:disk/by-id/x\nE:ID_SERIAL=WDC_WD40EFRX_WD-123\nE:ID_WWN=0x50014ee2\n";
    ahci().file("/run/udev/data/b8:0", db)
}

#[test]
fn a_rule_names_the_disk_by_its_serial_and_sets_in_the_order_of_resets() {
    let view = with_serial();
    let changes = [
        change(&view, "read_ahead_kb", "512"),
        change(&view, "iosched.fifo_batch", "8"),
        change(&view, "nr_requests", "256"),
        change(&view, "scheduler", "mq-deadline"),
        change(&view, "link_power", "max_performance"),
        change(&view, "pm", "on"),
    ];
    let was =
        [Difference { key: "scheduler".into(), was: "none".into(), is: "mq-deadline".into() }];
    let rule = rule(&view, &disk(&view), &changes, &was, Path::new("/r")).unwrap();
    let name = rule.path.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("61-seekwell-WDC_WD40EFRX_WD-123-") && name.ends_with(".rules"),
        "{name}"
    );
    assert_eq!(
        rule.text,
        "# Written by `seekwell tune keep --persist`; `seekwell tune undo` removes it.\n\
         # was: scheduler=none\n\
         ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", \
         ENV{ID_SERIAL}==\"WDC_WD40EFRX_WD-123\", ATTR{queue/scheduler}=\"mq-deadline\", \
         ATTR{queue/nr_requests}=\"256\", ATTR{queue/iosched/fifo_batch}=\"8\", \
         ATTR{device/../../scsi_host/*/link_power_management_policy}=\"max_performance\", \
         ATTR{queue/read_ahead_kb}=\"512\"\n\
         ACTION==\"add|change\", SUBSYSTEM==\"pci\", KERNEL==\"0000:00:1f.2\", \
         ATTR{power/control}=\"on\"\n"
    );
}

#[test]
fn a_line_of_io_cost_is_written_for_the_number_the_disk_then_has() {
    let mounted = |at: &str| {
        let line = format!("30 1 0:27 / {at} rw - cgroup2 cgroup2 rw\n");
        with_serial()
            .file("/proc/self/mountinfo", line)
            .file(format!("{}/io.cost.qos", at.replace("\\040", " ")), "")
    };
    let view = mounted("/sys/fs/cgroup");
    let changes = [change(&view, "io.cost.qos", "enable=1 min=75.00")];
    let made = rule(&view, &disk(&view), &changes, &[], Path::new("/r")).unwrap();
    let run = "RUN+=\"/bin/sh -c 'echo $major:$minor enable=1 min=75.00 \
               >/sys/fs/cgroup/io.cost.qos'\"\n";
    assert!(made.text.ends_with(run), "{}", made.text);
    let odd = mounted("/my\\040groups");
    let changes = [change(&odd, "io.cost.qos", "enable=1")];
    let error = rule(&odd, &disk(&odd), &changes, &[], Path::new("/r")).unwrap_err();
    assert!(matches!(error, PersistError::Quoting { .. }), "{error}");
}

#[test]
fn who_else_writes_lines_of_io_cost_is_reported() {
    let db = "E:ID_SERIAL=X\nE:IOCOST_SOLUTIONS=naive\n";
    let view = ahci()
        .file("/proc/self/mountinfo", "30 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .file("/sys/fs/cgroup/io.cost.qos", "")
        .file("/usr/lib/udev/rules.d/90-iocost.rules", "RUN+=\"iocost apply $devnode\"\n");
    let all = |view: &Fake| {
        let attribute = find(view, &disk(view), "io.cost.qos", None).unwrap();
        others(view, &disk(view), &attribute).len()
    };
    assert_eq!(all(&view), 0, "its database has nothing of this disk");
    assert_eq!(all(&view.file("/run/udev/data/b8:0", db)), 1);
}

#[test]
fn what_must_not_be_in_a_rule_is_refused() {
    let view = with_serial();
    let made = |key: &str, value: &str| {
        rule(&view, &disk(&view), &[change(&view, key, value)], &[], Path::new("/r"))
    };
    assert!(matches!(made("write_cache", "write through"), Err(PersistError::NotForRules { .. })));
    assert!(matches!(made("irq_affinity.24", "0"), Err(PersistError::NotForRules { .. })));
    assert!(matches!(made("scheduler", "x\", RUN+=\"sh"), Err(PersistError::Quoting { .. })));
    let nameless = ahci();
    let changes = [change(&nameless, "scheduler", "none")];
    let error = rule(&nameless, &disk(&nameless), &changes, &[], Path::new("/r")).unwrap_err();
    assert!(matches!(error, PersistError::NoIdentity { .. }), "{error}");
}

#[test]
fn rules_of_others_that_set_the_same_are_reported_and_comparisons_are_not() {
    let view = with_serial()
        .file(
            "/etc/udev/rules.d/60-ioschedulers.rules",
            "# ATTR{queue/scheduler}=\"no\"\nACTION==\"add\", ATTR{queue/rotational}==\"1\", \\\n  \
             ATTR{queue/scheduler}=\"bfq\"\n",
        )
        .file("/usr/lib/udev/rules.d/64-x.rules", "ATTR{queue/scheduler}==\"bfq\", TAG+=\"y\"\n")
        .file("/usr/lib/udev/rules.d/60-ioschedulers.rules", "ATTR{queue/scheduler}=\"hidden\"\n")
        .file(
            "/usr/lib/udev/rules.d/64-zoned.rules",
            "ATTR{queue/rotational}==\"0\", ATTR{queue/scheduler}=\"not-for-this-disk\"\n",
        )
        .file("/etc/tuned/active_profile", "mine\n")
        .file("/etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[disk]\nreadahead=>4096\n")
        .file("/usr/lib/tuned/base/tuned.conf", "[disk]\nelevator=kyber\n")
        .file("/etc/tlp.conf", "#DISK_IOSCHED=\"no\"\nDISK_IOSCHED=\"mq-deadline\"\n");
    let changes = [change(&view, "scheduler", "none")];
    let rule = rule(&view, &disk(&view), &changes, &[], Path::new("/r")).unwrap();
    let who: Vec<(&str, &str)> =
        rule.conflicts.iter().map(|o| (o.who.as_str(), o.says.as_str())).collect();
    assert_eq!(who.len(), 3, "{who:?}");
    assert!(who[0].0 == "udev" && who[0].1.ends_with("ATTR{queue/scheduler}=\"bfq\""), "{who:?}");
    assert_eq!(who[1], ("tuned", "elevator=kyber"));
    assert_eq!(who[2], ("TLP", "DISK_IOSCHED=\"mq-deadline\""));
}

#[test]
fn a_rule_is_written_whole_or_not_at_all_and_only_ours_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let view = with_serial();
    let changes = [change(&view, "nr_requests", "256")];
    let was = [Difference { key: "nr_requests".into(), was: "64".into(), is: "256".into() }];
    let rule = rule(&view, &disk(&view), &changes, &was, dir.path()).unwrap();
    let prepared = prepare(&rule).unwrap();
    assert!(!rule.path.exists());
    drop(prepared);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    prepare(&rule).unwrap().write().unwrap();
    assert_eq!(std::fs::read_to_string(&rule.path).unwrap(), rule.text);
    assert_eq!(originals_in(&rule.path).unwrap(), [("nr_requests".into(), "64".into())]);
    assert!(remove(&rule.path) && !rule.path.exists() && !remove(&rule.path));
    std::fs::write(&rule.path, "# mine\n").unwrap();
    assert!(matches!(prepare(&rule), Err(PersistError::NotOurs { .. })));
    assert!(!remove(&rule.path) && rule.path.exists());
}

#[test]
fn what_a_killed_writer_left_is_swept_and_what_another_is_writing_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let long_ago = std::time::SystemTime::now() - STALE - Duration::from_secs(60);
    let make = |name: &str, at: std::time::SystemTime| {
        let file = File::create(dir.path().join(name)).unwrap();
        file.set_modified(at).unwrap();
    };
    make(".seekwell-1.rules", long_ago);
    make(".seekwell-2.rules", std::time::SystemTime::now());
    make(".seekwell-3.tmp", long_ago);
    make("61-theirs.rules", long_ago);
    sweep(dir.path(), ".rules");
    let mut left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".seekwell-2.rules", ".seekwell-3.tmp", "61-theirs.rules"]);
}
