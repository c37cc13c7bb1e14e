//! What is asked before anything is changed. None of it gets as far as a guard.

use super::{TrialRequest, Tuner, unfinished};
use crate::apply::{Difference, Limits};
use crate::disk::{DiskError, Identity, Machine};
use crate::error::TuneError;
use crate::guard;
use crate::journal::{self, Journal, JournalEntry, Phase, TrialFiles};
use crate::setting::Risk;
use crate::setting::tests::{ahci, disk};
use seekwell_sys::fake::Fake;
use seekwell_sys::{View, ViewError};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

const SDEV: &str = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";

fn ata(view: Fake, file: &str, text: &str) -> Fake {
    let device = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/link1/dev1.0/ata_device/dev1.0";
    view.symlink("/sys/class/ata_device/dev1.0", device)
        .file(format!("{device}/class"), "ata\n")
        .file(format!("{device}/{file}"), text)
}

/// One whose journals and rules are in `dir`, and which can start no guard.
fn tuner<'a>(view: &'a Fake, dir: &Path) -> Tuner<'a> {
    let program = PathBuf::from("/nonexistent/seekwell");
    Tuner { view, run_dir: dir.to_path_buf(), rules_dir: dir.to_path_buf(), program }
}

fn refused(view: &Fake, words: &[&str], allow: Risk) -> TuneError {
    let run = tempfile::tempdir().unwrap();
    let tuner = tuner(view, &run.path().join("run"));
    let request = TrialRequest {
        words: words.iter().map(|w| (*w).to_owned()).collect(),
        time: Duration::from_secs(1),
        allow,
        limits: Limits::default(),
        canary: false,
        owned: false,
    };
    let error = tuner.begin(&disk(view), &request).expect_err("there is no program to start");
    assert!(!run.path().join("run").exists(), "refused before a word was written: {error}");
    error
}

#[test]
fn a_disk_in_trouble_is_left_in_peace() {
    let blocked = ahci().file(format!("{SDEV}/state"), "blocked\n");
    let said = refused(&blocked, &["rq_affinity=2"], Risk::B).to_string();
    assert!(said.contains("its state is blocked"), "{said}");
    // At 250 ticks a second the counter starts at 17179569.184: this is 931 s after boot.
    let ring = "[17180500.184000] Timeout\n[17179569.184000] Unknown\n";
    let late = ata(ahci(), "ering", ring).file("/proc/uptime", "1000.0 500.0\n");
    let said = refused(&late, &["rq_affinity=2"], Risk::B).to_string();
    assert!(said.contains("an error of kind Timeout 69 s ago"), "{said}");
    let pio = ata(ahci(), "xfer_mode", "XFER_PIO_4\n");
    let said = refused(&pio, &["queue_depth=1"], Risk::B).to_string();
    assert!(said.contains("once lowered cannot be raised again"), "{said}");
}

#[test]
fn what_may_hang_or_lose_data_must_be_named() {
    let view = ahci();
    for (word, class) in [("timeout=5", Risk::C), ("write_cache=write through", Risk::D)] {
        let error = refused(&view, &[word], Risk::B);
        assert!(matches!(error, TuneError::Risk { risk, .. } if risk == class), "{error}");
    }
    let error = refused(&view, &["write_cache=write through"], Risk::C);
    assert!(matches!(error, TuneError::Risk { risk: Risk::D, .. }), "{error}");
    let mounted = ahci().file(
        "/proc/self/mountinfo",
        "36 35 8:0 / /srv rw,noatime shared:1 - ext4 /dev/sda rw,errors=continue\n",
    );
    let error = refused(&mounted, &["write_cache=write through"], Risk::D);
    assert!(matches!(&error, TuneError::InUse { by, .. } if by.contains("/srv")), "{error}");
    let unknown = ahci().without("/proc/self/mountinfo");
    let error = refused(&unknown, &["write_cache=write through"], Risk::D);
    let unsure = matches!(error, TuneError::Disk(DiskError::Unsure { .. }));
    assert!(unsure, "what cannot be told is in use: {error}");
}

#[test]
fn a_value_that_could_not_be_put_back_is_not_changed() {
    // A PIIX disk begins with 2 requests, and 4 is the least the kernel takes: once changed it can
    // never be as it was.
    let requests = disk(&ahci()).at("queue/nr_requests");
    let piix = ahci().file(requests, "2\n");
    let error = refused(&piix, &["nr_requests=16"], Risk::B);
    assert!(error.to_string().contains("nr_requests is 2 now"), "{error}");
    assert!(error.to_string().contains("4 or more"), "{error}");
}

#[test]
fn a_switch_that_does_nothing_today_is_not_taken_for_done() {
    // hdparm prints sense data for -X and exits 0, though libata rejected it.
    let error = refused(&ahci(), &["-X66"], Risk::B);
    assert!(error.to_string().contains("libata rejects SET FEATURES"), "{error}");
}

#[test]
fn no_journal_and_a_folder_that_is_not_there_are_nothing_unfinished() {
    assert_eq!(unfinished(Path::new("/nonexistent/seekwell")).unwrap(), None);
    let run = tempfile::tempdir().unwrap();
    std::fs::write(run.path().join("b8:0.journal"), "{\"sum\":\"0000").unwrap();
    assert!(unfinished(run.path()).is_err_and(|e| e.incomplete()), "it may have changed anything");
}

/// Remembers which files were read.
struct Asked {
    files: Fake,
    read: Mutex<Vec<PathBuf>>,
}

impl View for Asked {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        self.read.lock().unwrap().push(path.to_path_buf());
        self.files.read(path)
    }

    seekwell_sys::forward_view!(files);
}

#[test]
fn that_a_disk_is_still_the_same_is_told_without_a_look_at_its_queue() {
    // Files of a queue wait for a write that waits for requests in flight: on a disk that hangs,
    // forever.
    let files = ahci()
        .file(format!("{SDEV}/scsi_level"), "6\n")
        .bytes(format!("{SDEV}/vpd_pg80"), b"\x00\x80\x00\x04LAB1");
    let view = Asked { files, read: Mutex::default() };
    let was = disk(&view).identity;
    assert_eq!(was.serial.as_deref(), Some("LAB1"));
    view.read.lock().unwrap().clear();
    assert_eq!(guard::replaced(&view, &was), None);
    let read = std::mem::take(&mut *view.read.lock().unwrap());
    assert!(read.iter().any(|p| p.ends_with("vpd_pg80")), "{read:?}");
    assert!(!read.iter().any(|p| p.iter().any(|part| part == "queue")), "{read:?}");
    let other = Identity { serial: Some("LAB2".to_owned()), ..was };
    let told = guard::replaced(&view, &other).unwrap();
    assert_eq!(told, "serial number was LAB2, is LAB1");
}

#[test]
fn status_looks_at_no_setting_while_a_guard_is_too_busy_to_answer() {
    let run = tempfile::tempdir().unwrap();
    let setting = run.path().join("nomerges");
    std::fs::write(&setting, "2\n").unwrap();
    let view = ahci();
    let tuner = tuner(&view, run.path());
    let files = TrialFiles::new(run.path(), "8:0");
    let mut begin = journal::tests::begin();
    begin.machine = Machine::read(&view);
    begin.disk = disk(&view).identity;
    begin.originals[0].path = setting;
    let mut journal = Journal::begin(&files, begin).unwrap();
    journal.append(&JournalEntry::Write { key: "nomerges".into(), to: "2".into() }).unwrap();

    let lock = files.lock().unwrap();
    let busy = tuner.status(None).unwrap().remove(0);
    assert_eq!((busy.guarded, busy.remaining_ms), (true, None));
    assert_eq!(busy.changed, []);
    drop(lock);
    let dead = tuner.status(None).unwrap().remove(0);
    let changed = Difference { key: "nomerges".into(), was: "1".into(), is: "2".into() };
    assert_eq!((dead.guarded, dead.changed), (false, vec![changed]));
}

// What was tried on a disk that was pulled out could be cleared by a reboot only.
#[test]
fn a_trial_whose_disk_is_gone_says_so_and_undo_clears_it() {
    let run = tempfile::tempdir().unwrap();
    let view = ahci();
    let tuner = tuner(&view, run.path());
    let mut begin = journal::tests::begin();
    begin.machine = Machine::read(&view);
    begin.disk.dev = "8:99".to_owned();
    let mut journal = Journal::begin(&TrialFiles::new(run.path(), "8:99"), begin).unwrap();
    journal.append(&JournalEntry::Write { key: "nomerges".into(), to: "2".into() }).unwrap();
    drop(journal);
    let status = tuner.status(None).unwrap().remove(0);
    assert!(status.gone && !status.guarded && status.notes.is_empty(), "{status:?}");
    let undone = tuner.undo(None).unwrap();
    assert!(undone.gone && undone.outcome.complete(), "{undone:?}");
    assert_eq!(tuner.status(None).unwrap()[0].phase, Phase::Ended);
    assert!(matches!(tuner.undo(None), Err(TuneError::NoTrial { .. })));
}
