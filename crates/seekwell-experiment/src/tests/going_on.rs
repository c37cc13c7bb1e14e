//! Interrupted, killed, rebooted: whether an experiment goes on as if nothing had happened.

use super::*;
use crate::{Conclusion, Next, next};
use seekwell_sys::{Class, Classified};

/// What must not depend on interruptions: the numbers and what follows from them.
fn numbers(document: &Document) -> (Vec<(u64, Vec<u64>)>, Conclusion) {
    let bits =
        |run: &crate::Run| (run.seed, run.values.values().map(|v| v.to_bits()).collect::<Vec<_>>());
    let mut conclusion = document.conclusion.clone().expect("it has ended");
    // How many sessions it took is in the document, and may be.
    conclusion.checks.retain(|c| c.name != "sessions");
    (document.runs.iter().map(bits).collect(), conclusion)
}

fn uninterrupted() -> (Document, Saved) {
    let (mut document, mut saved) = (document(42), Saved::default());
    session(&mut document, &mut Virtual::new(1.03, 0.012, 1.0), &mut saved);
    (document, saved)
}

#[test]
fn stopped_in_any_run_and_resumed_it_gives_the_same_bit_for_bit() {
    let (whole, _) = uninterrupted();
    for stop_in in 0..whole.runs.len() as u32 {
        let mut document = document(42);
        let mut machine = Virtual::new(1.03, 0.012, 1.0);
        machine.stop_in = Some(stop_in);
        session(&mut document, &mut machine, &mut Nowhere);
        assert_eq!(document.status, Status::Interrupted, "in run {stop_in}");
        assert_eq!(document.runs.len() as u32, stop_in);
        assert_eq!(document.conclusion, None);
        machine.stop.store(false, Ordering::Relaxed);
        session(&mut document, &mut machine, &mut Nowhere);
        assert_eq!(document.status, Status::Complete);
        assert_eq!(document.discarded.len() as u32, stop_in % 4);
        assert_eq!(numbers(&document), numbers(&whole), "stopped in run {stop_in}");
    }
}

#[test]
fn killed_after_any_save_and_resumed_it_gives_the_same_bit_for_bit() {
    let (whole, saved) = uninterrupted();
    assert!(saved.0.len() > 40, "it is saved after every run");
    for (i, bytes) in saved.0.iter().enumerate() {
        let mut document: Document = serde_json::from_slice(bytes).expect("a whole document");
        let mut machine = Virtual::new(1.03, 0.012, 1.0);
        // A killed session leaves its arm's settings behind.
        machine.settings.insert("scheduler".to_owned(), "none".to_owned());
        session(&mut document, &mut machine, &mut Nowhere);
        assert_eq!(numbers(&document), numbers(&whole), "killed after save {i}");
    }
}

#[test]
fn a_document_is_the_same_after_being_written_and_read() {
    let (whole, _) = uninterrupted();
    let text = serde_json::to_string_pretty(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), whole);
}

#[test]
fn it_does_not_go_on_on_a_machine_that_has_changed() {
    let mut document = document(1);
    let mut machine = Virtual::new(1.0, 0.01, 1.0);
    machine.stop_in = Some(9);
    session(&mut document, &mut machine, &mut Nowhere);
    machine.stop.store(false, Ordering::Relaxed);
    machine.inspection = other_kernel("9.9.9-other");
    let before = document.clone();
    let error = begin(&mut document, &mut machine, None).unwrap_err();
    assert!(
        error.class() == Class::Invalid && error.to_string().contains("9.9.9-other"),
        "{error}"
    );
    assert_eq!(document, before, "a refusal changes nothing");
}

#[test]
fn nothing_goes_on_after_an_invalid_end_and_nothing_is_needed_after_a_complete_one() {
    let (whole, _) = uninterrupted();
    assert_eq!(next(&whole).unwrap(), Next::Nothing);
    let mut machine = Virtual::new(1.0, 0.01, 1.0);
    machine.fails_at = Some(2);
    let mut document = document(1);
    session(&mut document, &mut machine, &mut Nowhere);
    assert_eq!(next(&document).unwrap_err().class(), Class::Usage);
}

/// A machine whose mode a person sets: the mode shows in the inspection, here as the kernel.
struct Modes {
    document: Document,
    machine: Virtual,
    boots: u32,
}

impl Modes {
    fn new(seed: u64) -> Self {
        let mut document = document(seed);
        document.design.reboot_between = true;
        document.design.shape = Shape::Pairs;
        document.design.blocks = Some(8);
        document.b.job = document.a.job.clone();
        document.a.mode = Some("AHCI in the BIOS".to_owned());
        document.b.mode = Some("IDE in the BIOS".to_owned());
        Self { document, machine: Virtual::new(0.8, 0.01, 1.0), boots: 0 }
    }

    fn reboot(&mut self, into: Arm) {
        self.boots += 1;
        self.machine.boot = format!("boot-{}", self.boots);
        self.machine.arm = into;
        self.machine.inspection = other_kernel(&format!("{into:?}"));
    }

    fn resume(&mut self) -> Result<(), ExperimentError> {
        let mode = self.machine.arm;
        begin(&mut self.document, &mut self.machine, Some(mode))?;
        let stop = AtomicBool::new(false);
        conduct(&mut self.document, &mut self.machine, &mut Nowhere, &mut (), &stop)
    }
}

#[test]
fn across_reboots_it_remembers_the_mode_that_is_next_until_all_pairs_are_made() {
    let mut modes = Modes::new(6);
    modes.reboot(Arm::A);
    modes.resume().unwrap();
    while let Next::Mode(arm) = next(&modes.document).unwrap() {
        assert_eq!(modes.document.status, Status::Waiting);
        let said = crate::text::unfinished(&modes.document);
        let mode = modes.document.arm(arm).mode.clone().unwrap();
        assert!(said.contains(&mode) && said.contains("experiment resume"), "{said}");
        modes.reboot(arm);
        modes.resume().unwrap();
        assert!(modes.boots < 20, "more boots than runs");
    }
    let of = |arm: Arm| modes.document.runs.iter().filter(move |r| r.arm == arm).count();
    assert_eq!((of(Arm::A), of(Arm::B)), (8, 8));
    for run in &modes.document.runs {
        assert_eq!(modes.document.sessions[run.session as usize].mode, Some(run.arm));
    }
    let said = &modes.document.conclusion.as_ref().unwrap().sentence;
    assert!(said.starts_with("B is slower by "), "{said}");
    assert!(modes.boots < 16, "{} boots: runs of one mode in a row need no reboot", modes.boots);
}

#[test]
fn without_a_reboot_or_in_the_wrong_mode_it_does_not_go_on() {
    let mut modes = Modes::new(6);
    modes.reboot(Arm::A);
    modes.resume().unwrap();
    let Next::Mode(wanted) = next(&modes.document).unwrap() else { panic!("it is complete") };
    assert_eq!(wanted, Arm::B, "it waits for the other mode");
    assert!(matches!(modes.resume(), Err(ExperimentError::NotRebooted { .. })));
    modes.reboot(Arm::A);
    let error = modes.resume().unwrap_err();
    assert!(matches!(error, ExperimentError::NotInMode { .. }), "{error}");
    modes.reboot(wanted);
    modes.resume().unwrap();
}

#[test]
fn a_mode_that_is_not_as_it_was_in_an_earlier_boot_is_refused() {
    let mut modes = Modes::new(6);
    modes.reboot(Arm::A);
    modes.resume().unwrap();
    modes.reboot(Arm::B);
    modes.resume().unwrap();
    modes.reboot(Arm::A);
    modes.machine.inspection = other_kernel("a third mode");
    let error = modes.resume().unwrap_err();
    assert!(matches!(error, ExperimentError::EnvironmentChanged { .. }), "{error}");
}
