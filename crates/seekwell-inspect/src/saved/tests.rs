#![allow(clippy::print_stderr)]

use super::*;
use crate::testing::corpus;
use seekwell_sys::{Live, Mask};

fn reread(bundle: &Bundle) -> Bundle {
    let mut text = Vec::new();
    bundle.write(&mut text).unwrap();
    Bundle::parse("snapshot", &text).unwrap()
}

fn json(found: &[Inspection]) -> String {
    serde_json::to_string_pretty(found).unwrap()
}

fn again(bundle: &Bundle) -> Vec<Inspection> {
    of_snapshot(bundle).iter().map(|t| inspect(&bundle.snapshot, t)).collect()
}

#[test]
fn a_snapshot_gives_the_same_inspection_as_the_machine_it_is_of() {
    let live = Live::system();
    let mut targets = all_disks(&live);
    targets.push(Target::resolve(&live, std::env::temp_dir()).unwrap());
    targets.push(Target::resolve(&live, "/proc").unwrap());
    let about = About { log: Some(b"6,1,2,-;hello\n".to_vec()), ..About::default() };
    let (bundle, found) = capture(&live, &targets, &about);
    let back = reread(&bundle);
    assert_eq!(of_snapshot(&back), targets);
    assert_eq!(json(&again(&back)), json(&found));
    assert_eq!(back.snapshot.text(Path::new(KMSG)), Ok("6,1,2,-;hello".to_owned()));
    assert!(back.snapshot.exists(Path::new("/proc/interrupts")));
}

#[test]
fn every_saved_machine_survives_being_saved_again_and_being_masked() {
    let Some(corpus) = corpus() else { return };
    let mut machines = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.join("sysfs.txt").exists() {
            continue;
        }
        machines += 1;
        let machine = open(&folder).unwrap();
        let targets = of_snapshot(&machine);
        assert!(!targets.is_empty(), "{}", folder.display());
        let (bundle, found) = capture(&machine.snapshot, &targets, &About::default());
        let back = reread(&bundle);
        assert_eq!(json(&again(&back)), json(&found), "{}", folder.display());

        let masked = reread(&Mask::new([7; 16]).bundle(&bundle));
        let shown = again(&masked);
        let mut text = Vec::new();
        masked.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for (before, after) in found.iter().zip(&shown) {
            compare(before, after, &text);
        }
    }
    assert!(machines > 15, "{machines}");
}

/// The same disk under other names.
fn compare(before: &Inspection, after: &Inspection, text: &str) {
    for (old, new) in before.disks().iter().zip(after.disks()) {
        assert_eq!((&old.model, &old.driver, &old.queue), (&new.model, &new.driver, &new.queue));
        assert_eq!(old.transport, new.transport);
        let (old, new) = (&old.serial, &new.serial);
        assert_eq!(old.is_some(), new.is_some());
        if let (Some(old), Some(new)) = (old, new) {
            assert_ne!(old.value, new.value);
            assert_eq!(old.value.len(), new.value.len());
            let telling = old.value.len() > 4 && old.value.bytes().any(|b| b.is_ascii_digit());
            assert!(!telling || !text.contains(&old.value), "{} survives", old.value);
        }
    }
}

#[test]
fn targets_are_found_in_a_snapshot_by_their_names() {
    let Some(corpus) = corpus() else { return };
    let machine = open(&corpus.join("ahci")).unwrap();
    for given in ["/dev/sda", "sda"] {
        assert_eq!(target_in(&machine, given).unwrap().dev.unwrap().to_string(), "8:0");
    }
    let error = target_in(&machine, "/dev/sdz").unwrap_err();
    assert_eq!(error.to_string(), "the snapshot does not hold /dev/sdz; it holds /dev/sda");
}

#[test]
fn the_log_of_a_saved_machine_is_read_with_its_disks() {
    let Some(corpus) = corpus() else { return };
    let machine = open(&corpus.join("ahci")).unwrap();
    let report = log(&machine).unwrap();
    assert!(report.lines > 200, "{}", report.lines);
    assert!(!report.facts.ports.is_empty(), "{:?}", report.facts);
    assert_eq!(log(&Bundle::default()), None);
}

#[test]
fn passwords_in_the_environment_of_the_first_process_are_not_kept() {
    let kept = only_container(b"DB_PASSWORD=x\0container=docker\0PATH=/\0");
    assert_eq!(kept, b"container=docker");
}

/// Lines of a snapshot, honest and not.
const LINES: [&str; 18] = [
    "target: {\"given\":\"/x\",\"path\":\"/x\",\"kind\":\"file\",\"dev\":\"8:1\"}",
    "target: {\"given\":1}",
    "== /proc/self/mountinfo",
    "|21 1 8:1 / / rw - ext4 /dev/sda1 rw",
    "|21 1 8:1",
    "/sys/block/sda -> ../devices/x/ata1/host0/target0:0:0/0:0:0:0/block/sda",
    "/sys/block/sdb -> sdb",
    "/sys/block/dm-0 -> /sys/block",
    "/sys/devices/x/ata1/host0/target0:0:0/0:0:0:0/block/sda/dev: 8:0",
    "/sys/devices/x/ata1/host0/target0:0:0/0:0:0:0/block/sda/size: 18446744073709551615",
    "/sys/devices/x/ata1/host0/target0:0:0/0:0:0:0/block/sda/slaves/sda -> ../../sda",
    "/sys/devices/x/ata1/link1/dev1.0/ata_device/dev1.0/id: hex:ffff",
    "/sys/devices/x/ata1/host0/target0:0:0/0:0:0:0/block/sda/queue/scheduler: !EIO",
    "/sys/dev/block/8:0 -> ../../block/sda",
    "/sys/class/block/sda: hex:00",
    "/sys/dev/block/8:1 -> ../../block/dm-0",
    "/dev/sda: !not-read",
    "/proc/cpuinfo: \\nflags : hypervisor\\n",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
    #[test]
    fn a_hostile_snapshot_is_refused_or_inspected_and_ends(
        order in proptest::collection::vec(0..LINES.len(), 1..60),
        cut in 0usize..4000,
        byte in 0u8..=255,
        at in 0usize..4000,
    ) {
        let lines: Vec<&str> = order.iter().map(|i| LINES[*i]).collect();
        let mut content = format!("{}\n{}\n", seekwell_sys::FORMAT, lines.join("\n")).into_bytes();
        if let Some(place) = content.get_mut(at) {
            *place = byte;
        }
        content.truncate(cut.max(40));
        if let Ok(bundle) = Bundle::parse("hostile", &content) {
            let found = again(&bundle);
            proptest::prop_assert_eq!(found.len(), of_snapshot(&bundle).len());
            let kept = reread(&bundle);
            proptest::prop_assert_eq!(json(&again(&kept)), json(&found));
            Mask::new([1; 16]).bundle(&bundle);
        }
    }
}
