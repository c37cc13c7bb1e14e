//! Demands and calibrations as TOML files with jobs: built-in ones and the user's own.

use crate::RunError;
use crate::jobs::JobRunError;
use seekwell_job::Surroundings;
use seekwell_job::job::JobFile;
use seekwell_sys::{MAX_TEXT, classify, nearest, read_text};
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::Path;

/// Why a file cannot be used.
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

/// The files of a kind: those that ship with the program, and the user's own.
pub struct Library<T: 'static> {
    /// What such a file is: `demand`.
    pub(crate) kind: &'static str,
    /// The command that takes them.
    pub(crate) command: &'static str,
    /// Names and texts of the built-in ones, in alphabetical order.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Reads one from its name and text.
    pub(crate) of: fn(&str, &str) -> Result<T, RunError>,
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

impl<T> Library<T> {
    /// Reads a file, or the built-in one of this name if there is no such file.
    ///
    /// # Errors
    /// [`RunError`] for what is wrong with it, or if it cannot be read.
    pub fn read(&self, path: &Path) -> Result<T, RunError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        match read_text(path, MAX_TEXT) {
            Ok(text) => (self.of)(&name, &text),
            // A program's folder often has its name.
            Err(e) if e.kind() == ErrorKind::NotFound || path.is_dir() => {
                let text = self.text(&name);
                let text = text.ok_or_else(|| self.unknown(&path.display().to_string()))?;
                (self.of)(&name, text)
            }
            Err(source) => Err(RunError::Read { path: path.to_path_buf(), source }),
        }
    }

    /// Reads the built-in file of this name, whatever files there are.
    ///
    /// # Errors
    /// [`FileError::Unknown`] if no built-in file has this name.
    pub fn built_in(&self, name: &str) -> Result<T, RunError> {
        (self.of)(name, self.text(name).ok_or_else(|| self.unknown(name))?)
    }

    /// The names of the built-in files, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name)
    }

    fn text(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    fn unknown(&self, name: &str) -> FileError {
        let near = nearest(name, self.names());
        let (name, near) = (name.to_owned(), near.into_iter().map(str::to_owned).collect());
        FileError::Unknown { kind: self.kind, command: self.command, name, near }
    }
}

/// What a text says, which is to be a `kind` of this name.
pub(crate) fn written<T: DeserializeOwned>(
    kind: &'static str,
    name: &str,
    text: &str,
) -> Result<T, FileError> {
    toml::from_str(text).map_err(|e| {
        let (name, why) = (name.to_owned(), e.to_string().trim_end().to_owned());
        FileError::Written { kind, name, why }
    })
}

/// The jobs of a file. `used` pairs what uses a job with the job's name, which must be one of them.
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
