//! Tests of whole job files.

mod effects;
mod hostile;
mod layout;
mod meaning;
mod syntax;

use crate::job::{Job, JobFile};
use crate::layout::{Found, Identity, Layout, LayoutError, There};
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

/// The layout of jobs where the same thing is at every path.
fn laid_out(jobs: &[Job], there: There, size_bytes: u64) -> Result<Layout, LayoutError> {
    let look = |path: &Path| {
        let identity = Identity::Path(path.to_path_buf());
        Ok(Found { there, size_bytes, identity })
    };
    Layout::of(jobs, |_, _| None, None, look)
}

/// What is said of a file that is wrong.
fn error(text: &str) -> String {
    read(text).expect_err("an error").to_string()
}
