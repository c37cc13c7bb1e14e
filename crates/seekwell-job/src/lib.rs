//! What fio's users have and read: job files in, results in fio's shapes out.
//!
//! [`parse_files`] and [`parse_arguments`] read jobs as fio does and give typed [`job::Job`]s;
//! [`layout`] says which files they use and which part of each, before anything runs; [`show()`]
//! writes both as text, and [`play`] makes requests of them. Every option of fio
//! is known ([`options`]): it is done, or it is refused with the reason, or it is taken with a
//! [`job::Warning`] that it makes no difference. Nothing is ignored silently.

#![warn(missing_docs)]

mod build;
mod effects;
mod error;
pub mod job;
pub mod layout;
pub mod options;
pub mod output;
pub mod plain;
pub mod play;
mod show;
mod surroundings;
mod syntax;
mod value;

#[cfg(test)]
mod tests;

pub use error::{Asking, JobError};
pub use plain::{PlainError, PlainJob};
pub use seekwell_io::units::binary_and_bytes as bytes;
pub use show::show;
pub use surroundings::Surroundings;

use job::JobFile;
use options::Takes;
use std::path::Path;

/// Reads job files. The jobs of each further file wait for those of the one before it, as in fio.
///
/// # Errors
/// [`JobError`] with the line, for the first thing that is wrong.
pub fn parse_files<P: AsRef<Path>>(
    files: &[P],
    around: &Surroundings,
) -> Result<JobFile, JobError> {
    let mut all = JobFile::default();
    for file in files {
        let file = file.as_ref();
        let bytes = (around.read)(file)
            .map_err(|source| JobError::Read { file: file.display().to_string(), source })?;
        let mut one = unrelated(&String::from_utf8_lossy(&bytes), file, around)?;
        if let (Some(first), false) = (one.jobs.first_mut(), all.jobs.is_empty()) {
            first.group.stonewall = true;
        }
        all.jobs.append(&mut one.jobs);
        all.warnings.append(&mut one.warnings);
    }
    build::relate(&mut all.jobs)?;
    Ok(all)
}

/// Reads the text of one job file; included files are looked for beside `file`.
///
/// # Errors
/// As [`parse_files`].
pub fn parse_text(text: &str, file: &Path, around: &Surroundings) -> Result<JobFile, JobError> {
    let mut jobs = unrelated(text, file, around)?;
    build::relate(&mut jobs.jobs)?;
    Ok(jobs)
}

/// The jobs of one file, without what depends on other jobs.
fn unrelated(text: &str, file: &Path, around: &Surroundings) -> Result<JobFile, JobError> {
    let sections = syntax::read_lines(text, file, around)?;
    build::build(&sections, &file.display().to_string(), around)
}

/// Reads the long command line form: `--name=a --rw=randread …`, without the program's name. What
/// comes before the first `--name` holds for all jobs.
///
/// # Errors
/// As [`parse_files`]; lines are numbers of arguments.
pub fn parse_arguments<S: AsRef<str>>(
    arguments: &[S],
    around: &Surroundings,
) -> Result<JobFile, JobError> {
    let takes_value = |name: &str| options::find(name).is_none_or(|spec| spec.takes != Takes::Flag);
    let sections = syntax::read_arguments(arguments, takes_value)?;
    let mut jobs = build::build(&sections, syntax::ARGUMENTS, around)?;
    build::relate(&mut jobs.jobs)?;
    Ok(jobs)
}
