use super::*;
use crate::apply::Left;
use crate::apply::WriteError;
use crate::setting::Stage;

pub(crate) fn begin() -> Begin {
    let original = |key: &str| Original {
        key: key.to_owned(),
        path: Path::new("/sys/q").join(key),
        value: "1".to_owned(),
        stage: Stage::Rest,
        freezes: false,
    };
    Begin {
        version: VERSION,
        machine: Machine { machine_id: "m".into(), boot_id: "b".into() },
        disk: Identity { name: "sda".into(), dev: "8:0".into(), ..Identity::default() },
        dir: "/sys/x".into(),
        started_unix_s: 1,
        for_ms: 1000,
        changes: vec![Change {
            key: "nomerges".to_owned(),
            path: "/sys/q/nomerges".into(),
            value: "2".to_owned(),
            stage: Stage::Rest,
            freezes: false,
            prove: true,
        }],
        resets: BTreeSet::from(["read_ahead_kb".to_owned()]),
        originals: ["nomerges", "iostats", "read_ahead_kb"].map(original).to_vec(),
        limits: Limits::default(),
        canary_ms: None,
        owner: None,
        watch_ms: 100,
    }
}

fn whole() -> Vec<JournalEntry> {
    vec![
        JournalEntry::Write { key: "nomerges".into(), to: "2".into() },
        JournalEntry::Applied { side_effects: Vec::new() },
        JournalEntry::Rollback { reason: Reason::TimeUp },
        JournalEntry::Ended { outcome: RestoreOutcome::default() },
    ]
}

fn text(entries: &[JournalEntry]) -> Vec<u8> {
    let first = JournalEntry::Begin(Box::new(begin()));
    let lines = [&first, &first].into_iter().chain(entries).map(|e| line_of(e).unwrap());
    lines.collect::<String>().into_bytes()
}

/// What a journal with a sound first line says.
fn state(bytes: &[u8]) -> JournalState {
    JournalState::parse(bytes).unwrap().unwrap()
}

#[test]
fn a_journal_cut_at_any_byte_says_no_more_than_what_was_synced() {
    let entries = whole();
    let all = text(&entries);
    let ends: Vec<usize> = (0..all.len()).filter(|i| all[*i] == b'\n').map(|i| i + 1).collect();
    use Phase::{Applying, Ended, RollingBack, Trying};
    let phases = [Applying, Applying, Applying, Trying, RollingBack, Ended];
    for cut in 0..=all.len() {
        let lines = ends.iter().filter(|end| **end <= cut).count();
        if lines == 0 {
            let damage = if cut == 0 { Damage::Empty } else { Damage::CutShort };
            assert_eq!(JournalState::parse(&all[..cut]), Err((damage, Vec::new())), "cut at {cut}");
            continue;
        }
        let state = state(&all[..cut]);
        assert_eq!(state.entries, entries[..lines.saturating_sub(2)], "cut at {cut}");
        assert_eq!(state.phase(), phases[lines - 1], "cut at {cut}");
        assert_eq!(state.unfinished(), lines < 6, "cut at {cut}");
        assert_eq!(state.cut_short, cut > 0 && !ends.contains(&cut), "cut at {cut}");
        assert_eq!(state.damaged, 0);
        assert_eq!(state.begin, begin());
    }
}

#[test]
fn a_changed_byte_is_noticed_wherever_it_is_and_the_originals_survive_it() {
    // With a byte of the first line changed, a journal said that no trial went on.
    let mut entries = whole();
    entries.truncate(2);
    let all = text(&entries);
    let first_end = all.iter().position(|b| *b == b'\n').unwrap();
    for at in 0..all.len() {
        let mut bad = all.clone();
        bad[at] ^= 0x01;
        if at == first_end {
            // Both copies are one line now.
            let named = vec!["nomerges".to_owned()];
            assert_eq!(JournalState::parse(&bad), Err((Damage::FirstLine, named)));
            continue;
        }
        let state = state(&bad);
        assert_eq!(state.begin, begin(), "byte {at}");
        assert!(state.damaged > 0 || state.cut_short, "byte {at}");
        // What is not known to be untouched is put back.
        if state.damaged > 0 {
            assert_eq!(state.ours().len(), 3, "byte {at}");
        }
    }
}

#[test]
fn a_journal_without_its_first_line_is_never_taken_for_nothing() {
    let lines = |entries: &[JournalEntry]| {
        let lines = entries.iter().map(|e| line_of(e).unwrap());
        ("garbage\n".to_owned() + &lines.collect::<String>()).into_bytes()
    };
    let entries = whole();
    let named = vec!["nomerges".to_owned()];
    for (bytes, damage, named) in [
        (Vec::new(), Damage::Empty, vec![]),
        (vec![0; 4096], Damage::Zeros, vec![]),
        (b"\xff\xfe no journal".to_vec(), Damage::CutShort, vec![]),
        (b"no journal\nat all\n".to_vec(), Damage::FirstLine, vec![]),
        (lines(&entries[..1]), Damage::FirstLine, named.clone()),
        (lines(&entries[..3]), Damage::FirstLine, named.clone()),
        (lines(&[entries[0].clone(), JournalEntry::Kept]), Damage::FirstLine, named),
    ] {
        assert_eq!(JournalState::parse(&bytes), Err((damage, named)), "{bytes:?}");
    }
    assert_eq!(JournalState::parse(&lines(&entries)), Ok(None), "everything was put back");
}

#[test]
fn a_journal_that_cannot_be_understood_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let files = TrialFiles::new(dir.path(), "8:0");
    assert!(files.state().unwrap().is_none(), "no journal was written yet");
    std::fs::write(files.journal(), "garbage\n").unwrap();
    let said = files.state().unwrap_err().to_string();
    let path = files.journal();
    assert!(said.starts_with(&format!("the journal {} is damaged", path.display())), "{said}");
    assert!(said.contains("reboot") && said.contains("remove the file"), "{said}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(files.state(), Err(JournalError::Io { .. })), "unreadable");
}

#[test]
fn only_what_was_changed_is_ours_once_it_is_known() {
    let mut entries = whole();
    entries.truncate(1);
    let before = state(&text(&entries));
    assert_eq!(before.ours().len(), 3, "before it was looked at, everything may have changed");
    let effect = Difference { key: "iostats".into(), was: "1".into(), is: "0".into() };
    let applied = JournalEntry::Applied { side_effects: vec![effect] };
    let seen = state(&text(&[entries[0].clone(), applied]));
    assert_eq!(seen.ours().len(), 3);
    let state = state(&text(&whole()[..2]));
    let ours: Vec<String> = state.ours().into_iter().collect();
    assert_eq!(ours, ["nomerges", "read_ahead_kb"], "asked for, and known to go with it");
}

#[test]
fn a_rollback_that_was_not_complete_is_not_the_end() {
    let left = Left {
        key: "nomerges".into(),
        path: "/sys/q/nomerges".into(),
        wanted: "1".into(),
        error: WriteError::Blocked { after_ms: 5 },
    };
    let mut entries = whole();
    entries[3] = JournalEntry::Ended {
        outcome: RestoreOutcome { left: vec![left], ..RestoreOutcome::default() },
    };
    assert!(state(&text(&entries)).unfinished());
    entries.push(JournalEntry::Ended { outcome: RestoreOutcome::default() });
    assert!(!state(&text(&entries)).unfinished());
}

#[test]
fn a_keep_that_was_cut_short_is_no_keep() {
    let mut kept = whole();
    kept.truncate(2);
    kept.push(JournalEntry::Kept);
    let all = text(&kept);
    assert_eq!(state(&all).phase(), Phase::Kept);
    assert_eq!(state(&all[..all.len() - 1]).phase(), Phase::Trying);
}

#[test]
fn going_on_after_a_line_that_was_cut_short_spoils_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let files = TrialFiles::new(dir.path(), "8:0");
    drop(Journal::begin(&files, begin()).unwrap());
    let path = files.journal();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"sum\":\"00000000\",\"ent");
    std::fs::write(&path, bytes).unwrap();
    let mut journal = Journal::resume(&path).unwrap();
    journal.append(&JournalEntry::Applied { side_effects: Vec::new() }).unwrap();
    let state = files.state().unwrap().unwrap();
    assert_eq!((state.phase(), state.damaged), (Phase::Trying, 1));
}

#[test]
fn one_disk_has_one_lock_and_it_goes_with_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let files = TrialFiles::new(dir.path(), "8:0");
    let lock = files.lock().unwrap().expect("nobody has it");
    assert!(files.is_lock(&lock));
    assert!(files.lock().unwrap().is_none());
    assert!(TrialFiles::new(dir.path(), "8:16").lock().unwrap().is_some());
    drop(lock);
    assert!(files.lock().unwrap().is_some());
}

#[test]
fn a_journal_of_another_version_is_not_guessed_at() {
    let dir = tempfile::tempdir().unwrap();
    let files = TrialFiles::new(dir.path(), "8:0");
    for version in [VERSION - 1, VERSION + 1] {
        drop(Journal::begin(&files, Begin { version, ..begin() }).unwrap());
        assert!(matches!(files.state(), Err(JournalError::Version { .. })));
    }
}

#[test]
#[should_panic(expected = "does not follow in phase Applying")]
fn nothing_is_kept_that_was_not_applied() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::begin(&TrialFiles::new(dir.path(), "8:0"), begin()).unwrap();
    let _ = journal.append(&JournalEntry::Kept);
}

#[test]
fn a_journal_goes_through_its_phases_and_is_resumed_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let files = TrialFiles::new(dir.path(), "8:0");
    let mut journal = Journal::begin(&files, begin()).unwrap();
    for entry in whole() {
        assert_eq!(Journal::resume(&files.journal()).unwrap().phase(), journal.phase());
        journal.append(&entry).unwrap();
    }
    assert_eq!(journal.phase(), Some(Phase::Ended));
}

#[test]
fn a_change_whose_old_value_is_unknown_cannot_be_undone() {
    let mut begin = begin();
    let change = begin.changes[0].clone();
    assert!(begin.can_undo(&change));
    begin.originals.retain(|o| o.key != change.key);
    assert!(!begin.can_undo(&change));
    let of_scheduler = Change { stage: Stage::Iosched, ..change.clone() };
    assert!(!begin.can_undo(&of_scheduler), "the scheduler stays");
    begin.changes.push(Change { stage: Stage::Scheduler, ..change });
    assert!(begin.can_undo(&of_scheduler), "it goes with its scheduler");
}
