//! TOML files with jobs that ship with the program, and those of the user's own: demands and
//! calibrations.

use crate::RunError;
use crate::jobs::JobRunError;
use seekwell_job::Surroundings;
use seekwell_job::job::JobFile;
use seekwell_sys::{MAX_TEXT, classify, nearest, read_text};
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::Path;

/// Why there is no such file, or what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FileError {
    #[error(
        "there is no file {name}, and no built-in {kind} has this name{}; see: seekwell {command}",
        near.first().map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
    )]
    Unknown { kind: &'static str, command: &'static str, name: String, near: Vec<String> },
    #[error("{name} is not a {kind}: {why}")]
    Written { kind: &'static str, name: String, why: String },
    #[error("{name}: {what} is of job {job}, and the jobs are: {}", jobs.join(", "))]
    Job { name: String, what: String, job: String, jobs: Vec<String> },
}

classify!(FileError {
    Usage: Unknown, Written, Job;
});

/// A kind of file.
pub(crate) struct Shipped {
    /// What such a file is: `demand`.
    pub kind: &'static str,
    /// The command that takes them.
    pub command: &'static str,
    /// Names and texts of the built-in ones, in alphabetical order.
    pub files: &'static [(&'static str, &'static str)],
}

/// The files of these names in a folder of the source tree.
macro_rules! shipped {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../../../", $folder, "/", $name, ".toml"))
        )),*]
    };
}
pub(crate) use shipped;

impl Shipped {
    /// The name and the text of a file, or of the built-in one if there is no such file.
    pub(crate) fn text(&self, path: &Path) -> Result<(String, String), RunError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match read_text(path, MAX_TEXT) {
            Ok(text) => Ok((stem, text)),
            // A program's folder often has its name.
            Err(e) if e.kind() == ErrorKind::NotFound || path.is_dir() => {
                let built_in = self.find(&stem).map(str::to_owned);
                let text = built_in.ok_or_else(|| self.unknown(&path.display().to_string()))?;
                Ok((stem, text))
            }
            Err(source) => Err(RunError::Read { path: path.to_path_buf(), source }),
        }
    }

    /// The text of a built-in file.
    pub(crate) fn built_in(&self, name: &str) -> Result<&'static str, FileError> {
        self.find(name).ok_or_else(|| self.unknown(name))
    }

    fn find(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    fn unknown(&self, name: &str) -> FileError {
        let near = nearest(name, self.files.iter().map(|(known, _)| *known));
        let (name, near) = (name.to_owned(), near.into_iter().map(str::to_owned).collect());
        FileError::Unknown { kind: self.kind, command: self.command, name, near }
    }

    /// What a text says.
    pub(crate) fn written<T: DeserializeOwned>(
        &self,
        name: &str,
        text: &str,
    ) -> Result<T, FileError> {
        toml::from_str(text).map_err(|e| {
            let (name, why) = (name.to_owned(), e.to_string().trim_end().to_owned());
            FileError::Written { kind: self.kind, name, why }
        })
    }
}

/// The jobs of a file; each of `used`, a thing and the job it is of, has to be one of them.
pub(crate) fn jobs<'a>(
    name: &str,
    text: &str,
    used: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<JobFile, RunError> {
    let file = Path::new(name).with_extension("fio");
    let parsed = seekwell_job::parse_text(text, &file, &Surroundings::here());
    let parsed = parsed.map_err(|e| JobRunError::from(Box::new(e)))?;
    let is_there = |job: &str| parsed.jobs.iter().any(|known| known.name == job);
    let missing = { used }.find(|(_, job)| !is_there(job));
    match missing {
        None => Ok(parsed),
        Some((what, job)) => {
            let jobs = parsed.jobs.iter().map(|job| job.name.clone()).collect();
            let (name, what, job) = (name.to_owned(), what.to_owned(), job.to_owned());
            Err(FileError::Job { name, what, job, jobs }.into())
        }
    }
}
