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

fn whole() -> Vec<Entry> {
    vec![
        Entry::Write { key: "nomerges".into(), to: "2".into() },
        Entry::Applied { side_effects: Vec::new() },
        Entry::Rollback { reason: Reason::TimeUp },
        Entry::Ended { outcome: Outcome::default() },
    ]
}

fn text(entries: &[Entry]) -> Vec<u8> {
    let first = Entry::Begin(Box::new(begin()));
    let lines = [&first, &first].into_iter().chain(entries).map(|e| line_of(e).unwrap());
    lines.collect::<String>().into_bytes()
}

/// What a journal with a sound first line says.
fn story(bytes: &[u8]) -> Story {
    Story::parse(bytes).unwrap().unwrap()
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
            assert_eq!(Story::parse(&all[..cut]), Err((damage, Vec::new())), "cut at {cut}");
            continue;
        }
        let story = story(&all[..cut]);
        assert_eq!(story.entries, entries[..lines.saturating_sub(2)], "cut at {cut}");
        assert_eq!(story.phase(), phases[lines - 1], "cut at {cut}");
        assert_eq!(story.unfinished(), lines < 6, "cut at {cut}");
        assert_eq!(story.cut_short, cut > 0 && !ends.contains(&cut), "cut at {cut}");
        assert_eq!(story.damaged, 0);
        assert_eq!(story.begin, begin());
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
            assert_eq!(Story::parse(&bad), Err((Damage::FirstLine, named)));
            continue;
        }
        let story = story(&bad);
        assert_eq!(story.begin, begin(), "byte {at}");
        assert!(story.damaged > 0 || story.cut_short, "byte {at}");
        // What is not known to be untouched is put back.
        if story.damaged > 0 {
            assert_eq!(story.ours().len(), 3, "byte {at}");
        }
    }
}

#[test]
fn a_journal_without_its_first_line_is_never_taken_for_nothing() {
    let lines = |entries: &[Entry]| {
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
        (lines(&[entries[0].clone(), Entry::Kept]), Damage::FirstLine, named),
    ] {
        assert_eq!(Story::parse(&bytes), Err((damage, named)), "{bytes:?}");
    }
    assert_eq!(Story::parse(&lines(&entries)), Ok(None), "everything was put back");
}

#[test]
fn a_journal_that_cannot_be_understood_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path(), "8:0");
    assert!(place.story().unwrap().is_none(), "there is none");
    std::fs::write(place.journal(), "garbage\n").unwrap();
    let said = place.story().unwrap_err().to_string();
    let path = place.journal();
    assert!(said.starts_with(&format!("the journal {} is damaged", path.display())), "{said}");
    assert!(said.contains("reboot") && said.contains("remove the file"), "{said}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(place.story(), Err(JournalError::Io { .. })), "unreadable");
}

#[test]
fn only_what_was_changed_is_ours_once_it_is_known() {
    let mut entries = whole();
    entries.truncate(1);
    let before = story(&text(&entries));
    assert_eq!(before.ours().len(), 3, "before it was looked at, everything may have changed");
    let effect = Difference { key: "iostats".into(), was: "1".into(), is: "0".into() };
    let applied = Entry::Applied { side_effects: vec![effect] };
    let seen = story(&text(&[entries[0].clone(), applied]));
    assert_eq!(seen.ours().len(), 3);
    let story = story(&text(&whole()[..2]));
    let ours: Vec<String> = story.ours().into_iter().collect();
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
    entries[3] = Entry::Ended { outcome: Outcome { left: vec![left], ..Outcome::default() } };
    assert!(story(&text(&entries)).unfinished());
    entries.push(Entry::Ended { outcome: Outcome::default() });
    assert!(!story(&text(&entries)).unfinished());
}

#[test]
fn a_keep_that_was_cut_short_is_no_keep() {
    let mut kept = whole();
    kept.truncate(2);
    kept.push(Entry::Kept);
    let all = text(&kept);
    assert_eq!(story(&all).phase(), Phase::Kept);
    assert_eq!(story(&all[..all.len() - 1]).phase(), Phase::Trying);
}

#[test]
fn going_on_after_a_line_that_was_cut_short_spoils_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path(), "8:0");
    drop(Journal::begin(&place, begin()).unwrap());
    let path = place.journal();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"sum\":\"00000000\",\"ent");
    std::fs::write(&path, bytes).unwrap();
    let mut journal = Journal::resume(&path).unwrap();
    journal.append(&Entry::Kept).unwrap();
    let story = place.story().unwrap().unwrap();
    assert_eq!((story.phase(), story.damaged), (Phase::Kept, 1));
}

#[test]
fn one_disk_has_one_lock_and_it_goes_with_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path(), "8:0");
    let lock = place.lock().unwrap().expect("nobody has it");
    assert!(place.is_lock(&lock));
    assert!(place.lock().unwrap().is_none());
    assert!(Place::new(dir.path(), "8:16").lock().unwrap().is_some());
    drop(lock);
    assert!(place.lock().unwrap().is_some());
}

#[test]
fn a_journal_of_another_version_is_not_guessed_at() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path(), "8:0");
    for version in [VERSION - 1, VERSION + 1] {
        drop(Journal::begin(&place, Begin { version, ..begin() }).unwrap());
        assert!(matches!(place.story(), Err(JournalError::Version { .. })));
    }
}
