//! The suite as a whole, and the point where it breaks.

use super::*;
use crate::settings::Level;
use crate::testing::{SmallFs, round};
use seekwell_sys::{Class, Classified};

#[test]
fn what_was_counted_is_what_was_timed() {
    let set = [
        ("intervals", "4"),
        ("seconds", "1"),
        ("size", "64m"),
        ("writers", "2"),
        ("commenters", "2"),
        ("readers", "4"),
    ];
    let Some(steps) = round(&SUITE, &set) else { return };
    let (_, result) = &steps[0];
    let (m, values) = (&result.measurement, &result.values);
    let sum = |what: &str| -> f64 {
        BlogFile::ALL.iter().map(|k| values[&format!("{}_{what}_per_s", k.name())]).sum()
    };
    // Counted at the end of the last interval; what was in hand then is timed too.
    for (op, what) in [(Op::Read, "reads"), (Op::Write, "writes")] {
        let timed = m.op(op).requests as f64;
        assert!(timed >= 4.0 * sum(what) - 1e-6 && timed <= 4.0 * sum(what) + 8.0, "{what}");
    }
    let series: u64 = m.series.steps.iter().map(|s| s.requests[Op::Read as usize]).sum();
    assert_eq!(series, m.op(Op::Read).requests);
    assert!(values["read_score_count"] > 0.0 && values["write_score_count"] > 0.0);
    let said = "Files read in each interval: ";
    let intervals = result.notes.iter().find(|n| n.starts_with(said)).unwrap();
    assert_eq!(intervals.matches(", ").count(), 3, "{intervals}");
}

#[test]
fn where_it_broke_and_when_the_room_was_used_up_is_said() {
    let (dir, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let path = dir.path();
    let stage = Stage { path, opened: None, seed: 1, stop: &stop, progress: &|_| (), device: None };
    let mut result = stage.begin().end();
    let at = |blogs_written, read| Counted { blogs_written, read: [read, 0, 0], ..<_>::default() };
    let course = [at(0, 0), at(10, 1000), at(30, 2000), at(50, 2200), at(60, 2500)];
    remark(&mut result, &course, &BlogStore::new(path, 1 << 20), Some(4));
    assert_eq!(result.values["reads_hold_until_blog_count"], 30.0);
    assert_eq!(result.notes[0], "Files read in each interval: 1000, 1000, 200, 300.");
    let broke = "The rate of reads held until blog 30 and fell to under half in interval 3.";
    assert_eq!(result.notes[2], broke);
    assert!(result.notes[3].starts_with("From interval 4 on the room was used up"));
}

#[test]
fn a_rate_breaks_where_it_halves_and_stays_low() {
    assert_eq!(breaks_at(&[100.0, 110.0, 90.0, 30.0, 40.0, 20.0]), Some(3));
    assert_eq!(breaks_at(&[100.0, 110.0, 30.0, 100.0, 105.0]), None, "one slow interval");
    assert_eq!(breaks_at(&[100.0, 90.0, 80.0, 70.0, 60.0, 51.0]), None, "slower and slower");
    assert_eq!(breaks_at(&[100.0, 100.0, 10.0]), None, "the last alone says nothing");
    assert_eq!(breaks_at(&[]), None);
}

#[test]
fn too_little_room_for_so_many_writers_is_refused() {
    let set = |size: &str| {
        let set = [("size".to_owned(), size.to_owned()), ("writers".to_owned(), "8".to_owned())];
        SUITE.settings(Level::Quick, &set)
    };
    assert_eq!(set("64m").unwrap_err().class(), Class::Usage);
    assert!(set("1g").is_ok());
}

#[test]
fn a_file_system_that_fills_up_ends_all_threads_with_a_sentence() {
    let Some(small) = SmallFs::ext4(24 << 20, 4096) else { return };
    let cast = Cast {
        people: [(Role::Writer, 2), (Role::Rewriter, 1), (Role::Commenter, 1), (Role::Reader, 3)],
        intervals: 60,
        interval: Duration::from_secs(1),
        room_bytes: 1 << 40,
        read_bytes: 4096,
    };
    let stop = AtomicBool::new(false);
    let path = small.path();
    let stage =
        Stage { path: &path, opened: None, seed: 1, stop: &stop, progress: &|_| (), device: None };
    let full = grow(&stage, &cast).unwrap_err();
    assert!(matches!(&full, SuiteError::Full { .. }), "{full}");
}
