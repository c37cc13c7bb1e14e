//! Tests of whole job files.

mod effects;
mod hostile;
mod layout;
mod meaning;
mod syntax;

use crate::job::{Job, JobFile};
use crate::{JobError, Surroundings, parse_text};
use std::path::Path;

/// Reads a file of this text on a fixed machine.
fn read(text: &str) -> Result<JobFile, JobError> {
    parse_text(text, Path::new("test.fio"), &Surroundings::fixed())
}

/// The jobs of a file that is right.
fn jobs(text: &str) -> Vec<Job> {
    read(text).expect("a job file").jobs
}

/// The one job of a file with these options, separated by blanks.
fn job(options: &str) -> Job {
    jobs(&format!("[a]\n{}", options.replace(' ', "\n"))).remove(0)
}

/// What is said of a file that is wrong.
fn error(text: &str) -> String {
    read(text).expect_err("an error").to_string()
}
