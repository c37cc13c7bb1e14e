//! The ways around `O_TMPFILE`, which the file systems at hand all have, are asked for here.

use super::*;
use crate::GIB;
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;

fn create(dir: &Path, way: Option<Way>) -> Result<Scratch, AccessError> {
    let stop = AtomicBool::new(false);
    let fill = Fill {
        wanted_bytes: 2 * MIB,
        minimum_bytes: MIB,
        seed: 7,
        stop: &stop,
        progress: &mut |_, _| {},
    };
    Scratch::create_as(dir, fill, way)
}

/// A directory with room for a file of ours: memory will do for these.
fn place() -> Option<tempfile::TempDir> {
    let roomy = [std::env::temp_dir(), PathBuf::from("/dev/shm")]
        .into_iter()
        .find(|dir| FsSpace::of(dir).is_ok_and(|space| plan_size(GIB, GIB, &space).is_ok()));
    if roomy.is_none() {
        eprintln!("skipped: neither the disk nor memory has 1 GiB to spare");
    }
    roomy.map(|dir| tempfile::tempdir_in(dir).unwrap())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_whose_name_is_removed_at_once_leaves_no_name_and_works() {
    let Some(dir) = place() else { return };
    let scratch = create(dir.path(), Some(Way::Unlinked)).unwrap();
    assert_eq!(names(dir.path()), Vec::<String>::new());
    assert_eq!(scratch.path(), None);
    let mut bytes = vec![0; 4096];
    let file = fs::File::from(scratch.fd.try_clone().unwrap());
    rustix::fs::fcntl_setfl(&file, OFlags::empty()).unwrap();
    file.read_exact_at(&mut bytes, MIB).unwrap();
    assert!(bytes.iter().any(|b| *b != 0));
}

#[test]
fn a_file_that_keeps_its_name_is_spared_by_the_sweep_and_removed_on_drop() {
    let Some(dir) = place() else { return };
    let scratch = create(dir.path(), Some(Way::Named)).unwrap();
    let path = scratch.path().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 2 * MIB);
    assert_eq!(crate::sweep(dir.path()).unwrap(), []);
    assert!(path.exists());
    drop(scratch);
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn a_name_that_was_given_to_another_file_is_not_removed() {
    let Some(dir) = place() else { return };
    let scratch = create(dir.path(), Some(Way::Named)).unwrap();
    let path = scratch.path().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "somebody else's").unwrap();
    drop(scratch);
    assert_eq!(fs::read(&path).unwrap(), b"somebody else's");
}

#[test]
fn a_fill_that_fails_removes_the_name_too() {
    let Some(dir) = place() else { return };
    let stop = AtomicBool::new(true);
    let fill = Fill {
        wanted_bytes: MIB,
        minimum_bytes: MIB,
        seed: 0,
        stop: &stop,
        progress: &mut |_, _| {},
    };
    let error = Scratch::create_as(dir.path(), fill, Some(Way::Named)).unwrap_err();
    assert!(matches!(error, AccessError::Stopped { written_bytes: 0, .. }), "{error}");
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

#[test]
fn room_that_is_reserved_has_its_size_holds_nothing_and_can_be_written() {
    let Some(dir) = place() else { return };
    for allocate in [true, false] {
        let scratch = Scratch::reserve(dir.path(), 3 * MIB + 512, allocate).unwrap();
        assert_eq!(scratch.size_bytes(), 3 * MIB + 512);
        let file = fs::File::from(scratch.fd.try_clone().unwrap());
        assert_eq!(file.metadata().unwrap().len(), 3 * MIB + 512);
        let blocks = std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap());
        assert!(allocate || blocks == 0, "{blocks} blocks of a hole");
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).unwrap();
        let mut bytes = vec![7; 4096];
        file.read_exact_at(&mut bytes, MIB).unwrap();
        assert!(bytes.iter().all(|b| *b == 0));
        file.write_all_at(&[1; 4096], 2 * MIB).unwrap();
        assert_eq!(names(dir.path()), Vec::<String>::new());
    }
    let error = Scratch::reserve(dir.path(), 1 << 60, true).unwrap_err();
    assert!(matches!(error, AccessError::TooLittleRoom { .. }), "{error}");
}
