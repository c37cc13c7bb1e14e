//! Real drives: measured service times of recorded requests against those modelled from the same
//! drives' DiskSim files, nothing fitted.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use seekwell_io::request::Op;
use seekwell_machine::disksim;
use seekwell_machine::hdd::Hdd;
use seekwell_machine::validate::{Measured, Validation, validate};
use std::path::{Path, PathBuf};

/// The drives and the demerit figure that DiskSim 4 reaches on each, in microseconds.
const DRIVES: [(&str, u32); 6] = [
    ("atlas10k", 268),
    ("barracuda", 349),
    ("cheetah4LP", 318),
    ("ibm18es", 135),
    ("hp_c2247a", 90),
    ("hp_c2490a", 254),
];

fn folder() -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/disksim"));
    let there = folder.join("atlas10k.parv").is_file();
    if !there {
        eprintln!("skipped: no DiskSim files in {}", folder.display());
    }
    there.then(|| folder.to_owned())
}

fn drive(folder: &Path, name: &str, seed: u64) -> Hdd {
    let mut open = |file: &str| std::fs::read_to_string(folder.join(file));
    let document = disksim::read(&format!("{name}.parv"), &mut open).expect("well-formed");
    let drive = disksim::drive(&document, None, &mut open).expect("a drive");
    Hdd::new(drive.params, seed).expect("legal parameters")
}

/// `R|W hit block blocks service-µs think-µs`, a request a line.
fn requests(folder: &Path, name: &str) -> Vec<Measured> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.trace"))).expect("readable");
    let one = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| fields[index].parse::<f64>().expect("a number");
        Measured {
            op: if fields[0] == "R" { Op::Read } else { Op::Write },
            offset: number(2) as u64 * 512,
            len: number(3) as u32 * 512,
            service_ns: (number(4) * 1e3).round() as u64,
            think_ns: (number(5) * 1e3).round() as u64,
        }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(one).collect()
}

fn played(folder: &Path, name: &str, seed: u64) -> Validation {
    validate(&mut drive(folder, name, seed), requests(folder, name))
}

#[test]
fn six_measured_drives_are_met_about_as_well_as_by_disksim() {
    let Some(folder) = folder() else { return };
    for (name, theirs_us) in DRIVES {
        let theirs = f64::from(theirs_us) / 1000.0;
        let played = played(&folder, name, 1);
        let ours = played.demerit_ms();
        let (measured, modelled) = (&played.measured, &played.modelled);
        eprintln!(
            "{name:10} demerit {ours:.4} ms (DiskSim {theirs}); mean {:.3} ms modelled {:.3}; \
             99 % below {:.2} ms modelled {:.2}",
            measured.mean_ns() / 1e6,
            modelled.mean_ns() / 1e6,
            measured.quantile_ns(0.99) / 1e6,
            modelled.quantile_ns(0.99) / 1e6,
        );
        assert_eq!(played.beyond, 0, "{name}");
        assert!(ours <= 1.5 * theirs, "{name}: demerit {ours} ms, DiskSim's is {theirs}");
        let means = modelled.mean_ns() / measured.mean_ns();
        assert!((means - 1.0).abs() < 0.06, "{name}: means differ by a factor of {means}");
    }
}

#[test]
fn the_same_drive_and_seed_give_the_same_times() {
    let Some(folder) = folder() else { return };
    let times = |seed| played(&folder, "barracuda", seed).played;
    assert_eq!(times(5), times(5));
    assert_ne!(times(5), times(6));
}

#[test]
fn every_recorded_request_lies_within_its_drive() {
    let Some(folder) = folder() else { return };
    for (name, _) in DRIVES {
        let last = requests(&folder, name).iter().map(|r| r.offset + u64::from(r.len)).max();
        let capacity = seekwell_machine::Part::capacity(&drive(&folder, name, 0));
        assert!(last.expect("some") <= capacity, "{name}: {capacity}");
    }
}
