use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut all: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort_unstable();
    all
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn write(path: &Path, force: bool) -> Result<(), OutputError> {
    let mut output = OutputFile::create(path, force)?;
    output.write_all(b"new").unwrap();
    output.finish()
}

#[test]
fn an_output_appears_when_it_is_finished_and_is_private_until_then() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    for hidden in [true, false] {
        let temporary = name::fresh(TempKind::File).unwrap();
        let output = OutputFile::create_as(&path, temporary.as_ref(), false, hidden);
        let mut output = output.unwrap();
        if !output.is_nameless {
            assert_eq!(mode(&output.temporary()), 0o600);
        }
        assert_eq!(crate::sweep(dir.path()).unwrap(), [], "it is in use");
        output.write_all(b"new").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(names(dir.path()), ["page.html"]);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(mode(&path), 0o666 & !umask().bits());
        fs::remove_file(&path).unwrap();
    }
}

// A page that was half written when memory ran out stayed under its temporary name.
#[test]
fn an_output_has_no_name_that_a_killed_process_could_leave() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("skipped: there is no /dev/shm");
    };
    let path = dir.path().join("page.html");
    for (force, data, before) in [(false, b"one", &[][..]), (true, b"two", &["page.html"])] {
        let mut output = OutputFile::create(&path, force).unwrap();
        output.write_all(data).unwrap();
        assert_eq!(names(dir.path()), before);
        output.finish_unsynced().unwrap();
        assert_eq!(names(dir.path()), ["page.html"]);
        assert_eq!(fs::read(&path).unwrap(), data);
    }
}

#[test]
fn an_output_that_is_not_finished_leaves_nothing_and_keeps_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    fs::write(&path, "old").unwrap();
    let mut output = OutputFile::create(&path, true).unwrap();
    output.write_all(b"new").unwrap();
    drop(output);
    assert_eq!(names(dir.path()), ["page.html"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

// A page of a file that only its owner could read became readable to everybody.
#[test]
fn a_file_is_replaced_only_when_told_to_and_keeps_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(write(&path, false), Err(OutputError::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    write(&path, true).unwrap();
    assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"new"[..], 0o640));
    OutputFile::create(&path, true).unwrap().finish_private().unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names(dir.path()), ["page.html"]);
}

#[test]
fn a_file_that_is_replaced_keeps_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    fs::write(&path, "old").unwrap();
    if std::os::unix::fs::chown(&path, Some(65534), Some(65534)).is_err() {
        eprintln!("skipped: only root can give a file to somebody else");
        return;
    }
    write(&path, true).unwrap();
    let stat = rustix::fs::stat(&path).unwrap();
    assert_eq!((stat.st_uid, stat.st_gid), (65534, 65534));
}

// As root, an output named /dev/null was renamed over it, for the whole system.
#[test]
fn nothing_but_a_regular_file_is_ever_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "theirs").unwrap();
    let at = |name: &str| dir.path().join(name);
    symlink(&victim, at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), fifo, Mode::RWXU, 0).unwrap();
    let before = names(dir.path());
    for (name, kind) in [
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("folder", "directory"),
        ("socket", "socket"),
        ("fifo", "FIFO"),
    ] {
        for force in [false, true] {
            let error = OutputFile::check(&at(name), force).unwrap_err().to_string();
            assert!(error.contains(&format!("is a {kind}")), "{error}");
        }
        // Neither waits for the other end of a FIFO, nor follows a link.
        assert!(!crate::begins_with(&at(name), b""), "{name}");
        let error = crate::open_private(&at(name)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{name}");
    }
    for path in [at("folder/"), at("folder/.."), at("new/")] {
        assert!(OutputFile::check(&path, true).is_err(), "{path:?}");
    }
    assert_eq!(names(dir.path()), before);
    assert!(fs::symlink_metadata(at("fifo")).unwrap().file_type().is_fifo());
    assert_eq!(fs::read(victim).unwrap(), b"theirs");
}

#[test]
fn a_name_that_was_taken_meanwhile_costs_neither_side_its_data() {
    let dir = tempfile::tempdir().unwrap();
    for (name, force) in [("a", false), ("b", true)] {
        let path = dir.path().join(name);
        let mut output = OutputFile::create(&path, force).unwrap();
        output.write_all(b"ours").unwrap();
        if force {
            fs::create_dir(&path).unwrap();
        } else {
            fs::write(&path, "theirs").unwrap();
        }
        let OutputError::Overtaken { kept, .. } = output.finish().unwrap_err() else {
            panic!("it was taken");
        };
        assert_eq!(fs::read(&kept).unwrap(), b"ours");
        assert!(kept.to_str().unwrap().ends_with(".seekwell"), "{kept:?} would be swept");
    }
    assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"theirs");
    assert_eq!(names(dir.path()).len(), 4);
}

#[test]
fn a_part_is_left_unfinished_only_when_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace.parquet");
    drop(OutputFile::create_part(&path, false).unwrap());
    assert_eq!(names(dir.path()), Vec::<String>::new());
    let mut part = OutputFile::create_part(&path, false).unwrap();
    part.keep_unfinished(true);
    let temporary = part.temporary();
    drop(part);
    assert!(temporary.exists());
    assert!(OutputFile::is_part_of(&path, temporary.file_name().unwrap()), "{temporary:?}");
    for other in ["trace.parquet.part", "trace.parquet", "trace.parquet.0123456789ABCDEF.part"] {
        assert!(!OutputFile::is_part_of(&path, other.as_ref()), "{other}");
    }
    let mut another = OutputFile::create_part(&path, false).unwrap();
    another.keep_unfinished(true);
    another.finish().unwrap();
    assert!(temporary.exists() && path.exists());
    assert_eq!(names(dir.path()).len(), 2);
}
