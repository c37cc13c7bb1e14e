//! What commands write where the user says: nothing but a regular file is ever replaced, that only
//! with --force, and what a killed command left is removed by the next one.

use crate::common::{self, Loop, Place, Ran, is_root, names, run, seekwell, skip, tool, wait_for};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MSR: &str = "128166372003061629,web,2,Read,4096,8192,413\n";
const MODEL: &str = "p4sbe-ich8-ahci.toml";

/// A folder for outputs, and one for what they are made of, with a kept run in it.
struct Desk {
    home: tempfile::TempDir,
    out: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        run(home.path(), &["checkup", "--quick", MODEL]).ends(0);
        fs::write(home.path().join("web.csv"), MSR.repeat(10)).unwrap();
        Self { home, out: tempfile::tempdir().unwrap() }
    }

    /// Runs words in which `TRACE` and `OUT` stand for paths.
    fn run(&self, words: &[&str], out: &Path) -> Ran {
        let trace = self.home.path().join("web.csv").display().to_string();
        let out = out.display().to_string();
        let put = |word: &&str| word.replace("TRACE", &trace).replace("OUT", &out);
        let words: Vec<String> = words.iter().map(put).collect();
        run(self.home.path(), &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.out.path().join(name)
    }
}

/// Every command that writes one file, and what follows the name it is given.
const COMMANDS: [(&[&str], &str); 13] = [
    (&["report", "last", "-o", "OUT"], ""),
    (&["checkup", "--quick", "--no-keep", MODEL, "-o", "OUT"], ""),
    (&["compare", "last", "last", "-o", "OUT"], ""),
    (&["compare", "last", "last", "--phoronix", "OUT"], ""),
    (&["reproduce", "R4", "-o", "OUT"], ""),
    (&["machine", "fit", "last", "-o", "OUT"], ""),
    (&["inspect", "/", "--save", "OUT"], ""),
    // Looking for a head of its own in what is there, it waited for a FIFO's other end for ever.
    (&["inspect", "/", "--textfile", "OUT"], ""),
    (&["trace", "stats", "TRACE", "-o", "OUT"], ""),
    (&["trace", "convert", "TRACE", "OUT", "--to", "csv"], ""),
    (&["trace", "cut", "TRACE", "OUT", "--to", "seekwell"], ""),
    (
        &["bench", "--on", MODEL, "--rw=read", "--runtime=1s", "--no-keep", "--write-logs", "OUT"],
        "_bw.1.log",
    ),
    (
        &["bench", "--on", MODEL, "--rw=read", "--runtime=1s", "--no-keep", "--output-dir", "OUT"],
        "/read-1-1.json",
    ),
];

/// Puts one of each thing that is not a regular file into a folder, and says what each is called.
fn plant(dir: &Path, name: &str) -> Vec<(PathBuf, &'static str)> {
    let victim = dir.join("victim");
    fs::write(&victim, "theirs").unwrap();
    let at = |kind: &str| dir.join(format!("{kind}{name}"));
    let mut planted = vec![
        (at("link"), "symbolic link"),
        (at("dangling"), "symbolic link"),
        (at("folder"), "directory"),
        (at("fifo"), "FIFO"),
    ];
    planted.iter().for_each(|(path, _)| fs::create_dir_all(path.parent().unwrap()).unwrap());
    symlink(&victim, at("link")).unwrap();
    symlink(dir.join("nowhere"), at("dangling")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    tool("mkfifo", &[at("fifo").to_str().unwrap()]).expect("a FIFO");
    // Nodes of our own: of the null device, and of a disk that no machine has.
    for (letter, number, kind) in
        [("c", ["1", "3"], "character device"), ("b", ["259", "1048575"], "block device")]
    {
        let path = at(letter);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let args = [path.to_str().unwrap(), letter, number[0], number[1]];
        match is_root().then(|| tool("mknod", &args)).flatten() {
            Some(_) => planted.push((path, kind)),
            None => skip("no device nodes without root"),
        }
    }
    planted
}

// `record … -o /dev/null`, as root, replaced /dev/null by a regular file for the whole system.
#[test]
fn no_output_replaces_or_follows_what_is_not_a_regular_file() {
    let desk = Desk::new();
    for (words, end) in COMMANDS {
        let dir = tempfile::tempdir_in(desk.out.path()).unwrap();
        for (path, kind) in plant(dir.path(), end) {
            let before = fs::symlink_metadata(&path).unwrap();
            let given = path.to_str().unwrap().strip_suffix(end).unwrap().to_owned();
            for force in [&[][..], &["--force"]] {
                let ran = desk.run(&[words, force].concat(), Path::new(&given));
                assert_eq!(ran.status, 3, "{words:?} {path:?}: {}", ran.err);
                assert!(ran.err.contains(kind), "{words:?} {path:?}: {}", ran.err);
                assert_eq!(ran.out, "", "{words:?}");
            }
            let after = fs::symlink_metadata(&path).unwrap();
            assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()), "{path:?}");
        }
        assert_eq!(fs::read(dir.path().join("victim")).unwrap(), b"theirs", "{words:?}");
        assert!(!dir.path().join("nowhere").exists(), "{words:?}");
        let hidden = |name: &String| name.starts_with(".seekwell");
        assert!(!names(dir.path()).iter().any(hidden), "{words:?}");
    }
}

// A page in place of a file that only its owner could read was readable to all users.
#[test]
fn an_output_that_exists_is_replaced_with_force_only_and_keeps_its_mode() {
    let desk = Desk::new();
    for (words, end) in COMMANDS {
        let given = desk.at("output");
        let path = desk.at(&format!("output{end}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let refused = desk.run(words, &given);
        assert_eq!((refused.status, refused.out.as_str()), (3, ""), "{words:?}: {}", refused.err);
        let said = format!("{} exists; replace it with --force", path.display());
        assert!(refused.err.contains(&said), "{words:?}: {}", refused.err);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let forced = desk.run(&[words, &["--force"][..]].concat(), &given);
        assert_eq!(forced.status, 0, "{words:?}: {}", forced.err);
        assert_ne!(fs::read(&path).unwrap(), b"old", "{words:?}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600, "{words:?}");
        for name in names(desk.out.path()) {
            assert!(name.starts_with("output"), "{words:?} left {name}");
            let _ = fs::remove_dir_all(desk.at(&name)).or_else(|_| fs::remove_file(desk.at(&name)));
        }
    }
}

#[test]
fn files_for_fio_plot_are_written_all_or_none_and_the_result_is_shown_all_the_same() {
    let desk = Desk::new();
    let words = ["bench", "--on", MODEL, "--rw=read", "--runtime=1s", "--output-dir", "OUT"];
    assert_eq!(desk.run(&words, &desk.at("plot")).status, 0);
    let json = desk.at("plot/read-1-1.json");
    // A log that only the end of the run comes upon.
    let log = desk.at("plot/read-iodepth-1-numjobs-1_bw.1.log");
    fs::remove_file(&json).unwrap();
    fs::write(&log, "theirs").unwrap();
    let again = desk.run(&words, &desk.at("plot")).ends(3);
    assert!(again.err.contains("_bw.1.log exists"), "{}", again.err);
    assert!(!again.out.is_empty() && !json.exists());
    assert_eq!(fs::read(&log).unwrap(), b"theirs");
    let later = ["report", "last", "--output-dir", "OUT", "--force"];
    assert_eq!(desk.run(&later, &desk.at("plot")).status, 0);
    assert_eq!(names(&desk.at("plot")).len(), 4);
}

#[test]
fn a_recording_refuses_what_is_not_a_file_before_it_records() {
    let Some(disk) = Loop::new(16 << 20) else { return };
    let desk = Desk::new();
    for (path, kind) in plant(desk.out.path(), ".parquet") {
        for force in [&[][..], &["--force"]] {
            let record = ["record", &disk.device, "-o", "OUT", "--json"];
            let ran = desk.run(&[&record, force, &["--", "false"][..]].concat(), &path);
            assert_eq!((ran.status, ran.out.as_str()), (3, ""), "{path:?}: {}", ran.err);
            assert!(ran.err.contains(kind), "{path:?}: {}", ran.err);
        }
    }
    assert_eq!(fs::read(desk.at("victim")).unwrap(), b"theirs");
}

/// Begins a command that reads a trace which does not end, and gives what waits for its output.
fn endless(desk: &Desk, words: &[&str]) -> std::process::Child {
    let fifo = desk.home.path().join("fifo");
    let _ = fs::remove_file(&fifo);
    tool("mkfifo", &[fifo.to_str().unwrap()]).expect("a FIFO");
    let out = desk.at("endless").display().to_string();
    let words = words.iter().map(|word| match *word {
        "FIFO" => fifo.display().to_string(),
        other => other.replace("OUT", &out),
    });
    let mut command = seekwell(desk.home.path());
    let child = command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Written until the reader is killed.
    std::thread::spawn(move || {
        let mut file = fs::File::options().write(true).open(fifo)?;
        loop {
            file.write_all(MSR.repeat(1000).as_bytes())?;
        }
        #[expect(unreachable_code, reason = "names the type")]
        Ok::<(), std::io::Error>(())
    });
    child
}

// An output that was cut off by a kill stayed as `.x.csv.PID.tmp` forever.
#[test]
fn a_killed_command_leaves_nothing_beside_its_output() {
    let desk = Desk::new();
    for words in [
        &["trace", "convert", "FIFO", "OUT", "--from", "msr", "--to", "csv"][..],
        &["trace", "stats", "FIFO", "--from", "msr", "-o", "OUT", "--no-reuse"],
    ] {
        let mut child = endless(&desk, words);
        let open = PathBuf::from(format!("/proc/{}/fd", child.id()));
        let is_there = |entry: fs::DirEntry| {
            let size = fs::metadata(entry.path()).map_or(0, |data| data.len());
            let leads_to = fs::read_link(entry.path()).unwrap_or_default();
            leads_to.starts_with(desk.out.path()) && (size > 0 || words[1] == "stats")
        };
        wait_for("the output", || {
            fs::read_dir(&open).is_ok_and(|entries| entries.flatten().any(is_there))
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(names(desk.out.path()), [""; 0], "{words:?}");
    }
}

// The directory of a killed suite, a quarter of a GiB, stayed until another suite ran there.
#[test]
fn the_directory_of_a_killed_suite_is_removed_by_any_command_that_writes_there() {
    let Some(place) = Place::with_room(512 << 20) else { return };
    let desk = Desk::new();
    let on = place.path().to_str().unwrap();
    let mut command = seekwell(desk.home.path());
    command.args(["bench", "--suite", "fs", "--quick", "--no-keep", "--on", on]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_files = |name: &String| {
        fs::read_dir(place.path().join(name)).is_ok_and(|mut entries| entries.next().is_some())
    };
    wait_for("the suite", || names(place.path()).iter().any(has_files));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(place.path()).len(), 1);
    let ran =
        desk.run(&["trace", "convert", "TRACE", "OUT"], &place.path().join("t.parquet")).ends(0);
    assert!(ran.err.contains("left by a killed run"), "{}", ran.err);
    assert_eq!(names(place.path()), ["t.parquet"]);
}

// A directory that somebody had bind-mounted in the directory of a dead suite was emptied.
#[test]
fn a_mount_in_the_directory_of_a_dead_suite_survives_with_what_is_in_it() {
    if !is_root() || tool("unshare", &["--mount", "true"]).is_none() {
        return skip("no mount namespace of one's own");
    }
    let desk = Desk::new();
    let treasure = desk.home.path().join("treasure");
    fs::create_dir(&treasure).unwrap();
    fs::write(treasure.join("gold"), "theirs").unwrap();
    let dead = desk.at(".seekwell-suite-4194304-1-0123456789abcdef");
    let point = dead.join("tree/deep");
    for over in [&point, &dead] {
        fs::create_dir_all(&point).unwrap();
        fs::write(dead.join("tree/file"), "ours").unwrap();
        // Seen by this one command alone.
        let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).args([&treasure, over]);
        command.arg(env!("CARGO_BIN_EXE_seekwell")).env("SEEKWELL_RUNS", desk.home.path());
        command.args(["trace", "convert", "--force"]);
        command.args([desk.home.path().join("web.csv"), desk.at("t.parquet")]);
        let ran = common::done(command.output().unwrap()).ends(0);
        let said = format!("something is mounted on {}", over.display());
        assert!(ran.err.contains(&said), "{}", ran.err);
        assert_eq!(fs::read(treasure.join("gold")).unwrap(), b"theirs");
        assert!(dead.exists());
    }
    assert_eq!(desk.run(&["trace", "stats", "TRACE", "-o", "OUT"], &desk.at("p")).status, 0);
    assert!(!dead.exists(), "nothing is mounted there any more");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn kept_runs_and_experiments_can_be_read_by_their_owner_only_also_those_of_earlier_versions() {
    let desk = Desk::new();
    let runs = desk.home.path().join("runs");
    assert_eq!(run(desk.home.path(), &["runs", "list"]).status, 0);
    let all = || {
        let found = tool("find", &[runs.to_str().unwrap(), "-printf", "%m %y %f\n"]).unwrap();
        let open = |line: &&str| !line.starts_with("700 d ") && !line.starts_with("600 f ");
        found.lines().filter(open).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(all(), Vec::<String>::new());
    assert!(runs.join("index.db").exists());
    // As an earlier version left them.
    tool("chmod", &["-R", "u=rwX,go=rX", runs.to_str().unwrap()]).unwrap();
    assert_ne!(all(), Vec::<String>::new());
    assert_eq!(run(desk.home.path(), &["checkup", "--quick", MODEL]).status, 0);
    assert_eq!(all(), Vec::<String>::new());
}

#[test]
fn a_folder_of_runs_that_holds_other_things_too_is_not_closed_to_others() {
    let home = tempfile::tempdir().unwrap();
    let shared = home.path().join("runs");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
    fs::write(shared.join("theirs"), "").unwrap();
    for _ in 0..2 {
        assert_eq!(run(home.path(), &["checkup", "--quick", MODEL]).status, 0);
    }
    assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, 0o1777);
    let id = names(&shared).into_iter().find(|name| name.contains("-checkup-")).unwrap();
    assert_eq!(mode(&shared.join(&id)), 0o700);
    assert_eq!(mode(&shared.join(&id).join("run.json")), 0o600);
}
