//! fio's job files, run: the laws of each option by counts of the program and of the kernel, what
//! is verified, what is refused, and fio itself beside it.

mod beside_fio;
mod contents;
mod iolog;
mod laws;
mod layout;
mod logs;
mod models;
mod pace;
mod refuses;
mod steady;
mod verify;

use crate::common::{self, Loop, Place, Ran, seekwell};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with room, job files in it and the runs beside them.
struct Desk {
    place: Place,
    runs: tempfile::TempDir,
}

impl Desk {
    /// `None` if no disk here has room for a temporary file.
    fn new() -> Option<Self> {
        Some(Self { place: Place::with_room(1 << 30)?, runs: tempfile::tempdir().unwrap() })
    }

    fn dir(&self) -> &Path {
        self.place.path()
    }

    /// Writes a job file beside the runs, where no job works.
    fn file(&self, text: &str) -> PathBuf {
        let path = self.runs.path().join("test.fio");
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs a job file with these further arguments, in the folder.
    fn bench(&self, text: &str, args: &[&str]) -> Ran {
        let file = self.file(text);
        let mut command = seekwell(self.runs.path());
        command.current_dir(self.dir()).arg("bench").arg(file).args(args);
        common::done(command.output().expect("the program starts"))
    }

    /// The document of a run that ends well. Nothing is left in the folder.
    fn measured(&self, text: &str) -> Value {
        let ran = self.bench(text, &["--json", "--no-keep"]);
        assert_eq!(ran.status, 0, "{}\n{}", ran.err, ran.out);
        assert_eq!(common::names(self.dir()), Vec::<String>::new());
        ran.json()
    }
}

/// Runs a job file that may destroy a loop device. A run that ends well.
fn destroying(home: &Path, disk: &Loop, text: &str) -> Ran {
    let file = home.join("destroying.fio");
    fs::write(&file, text).unwrap();
    let serial = disk.backing.to_str().unwrap();
    let args = ["bench", file.to_str().unwrap(), "--destroy", serial, "--json", "--no-keep"];
    common::run(home, &args).ends(0)
}

fn phase<'d>(document: &'d Value, name: &str) -> &'d Value {
    let phases = document["phases"].as_array().unwrap();
    let found = phases.iter().find(|p| p["name"] == name);
    found.unwrap_or_else(|| {
        panic!("no phase {name} among {:?}", phases.iter().map(|p| &p["name"]).collect::<Vec<_>>())
    })
}

/// Requests and bytes of one operation in the first repeat of a phase.
fn count(document: &Value, name: &str, op: &str) -> (u64, u64) {
    let op = &phase(document, name)["repeats"][0]["ops"][op];
    (op["requests"].as_u64().unwrap_or(0), op["bytes"].as_u64().unwrap_or(0))
}
