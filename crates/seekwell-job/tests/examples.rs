//! fio's own examples. They are not part of this tree: the test looks for them where Debian's
//! `fio-examples` puts them, or in the folder that `SEEKWELL_FIO_EXAMPLES` names.

use seekwell_job::{JobError, Surroundings, parse_text};
use std::path::{Path, PathBuf};

/// Engines for files and block devices of the kernel, and the null engine.
const GENERAL: &[&str] = &[
    "libaio", "io_uring", "sync", "psync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "null",
];

/// The examples as name and text; `None` if they are not there.
fn examples() -> Option<Vec<(PathBuf, String)>> {
    let folder = std::env::var("SEEKWELL_FIO_EXAMPLES");
    let folder = folder.unwrap_or_else(|_| "/usr/share/doc/fio/examples".to_owned());
    let entries = std::fs::read_dir(&folder).ok()?;
    let mut files: Vec<(PathBuf, String)> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "fio"))
        .filter_map(|path| Some((path.clone(), std::fs::read_to_string(&path).ok()?)))
        .collect();
    files.sort();
    if files.is_empty() { None } else { Some(files) }
}

/// Whether every engine that the file names is a general one.
fn general(text: &str) -> bool {
    let named = |line: &str| {
        Some(line.trim().strip_prefix("ioengine")?.trim().strip_prefix('=')?.trim().to_owned())
    };
    text.lines().filter_map(named).all(|engine| GENERAL.contains(&engine.as_str()))
}

/// A machine on which every variable that an example uses is set.
fn around(text: &str) -> Surroundings {
    let mut around = Surroundings::fixed();
    for part in text.split("${").skip(1) {
        if let Some((name, _)) = part.split_once('}') {
            let value = match name {
                "FIO_RW" => "read",
                "FIO_BS" => "4k",
                _ => "1",
            };
            around.variables.insert(name.to_owned(), value.to_owned());
        }
    }
    around
}

#[test]
fn the_examples_of_general_engines_are_read_and_the_others_are_refused_in_a_sentence() {
    let Some(examples) = examples() else {
        eprintln!("skipped: no examples of fio (SEEKWELL_FIO_EXAMPLES=FOLDER)");
        return;
    };
    let (mut all, mut read) = (0, 0);
    for (path, text) in &examples {
        let parsed = parse_text(text, Path::new(path.file_name().unwrap()), &around(text));
        let general = general(text);
        all += u32::from(general);
        match parsed {
            Ok(file) => {
                read += u32::from(general);
                assert!(!file.jobs.is_empty());
            }
            Err(error) => {
                let said = error.to_string();
                eprintln!("{} {said}", if general { "general:" } else { "special:" });
                assert!(said.len() < 400 && !said.contains('\n'), "{said}");
                assert!(
                    general
                        || matches!(
                            error,
                            JobError::Refused { .. } | JobError::UnknownOption { .. }
                        ),
                    "{said}"
                );
            }
        }
    }
    eprintln!("{read} of {all} examples of general engines are read; {} in all", examples.len());
    // A depth that is stepped through within one run.
    assert!(all >= 39 && all - read <= 1, "{read} of {all}");
}
