//! A folder in the suite's directory for one step, so that only one step's room is needed at a
//! time.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, StepResult};
use std::path::PathBuf;

/// A step whose stage is a new folder of this name, gone when the step ends.
pub fn each_time(
    name: String,
    run: impl Fn(&Stage<'_>) -> Result<StepResult, SuiteError> + 'static,
) -> impl Fn(&Stage<'_>) -> Result<StepResult, SuiteError> {
    move |stage| {
        let folder = Folder::make(stage.path.join(&name))?;
        run(&Stage { path: &folder.0, ..*stage })
    }
}

struct Folder(PathBuf);

impl Folder {
    fn make(path: PathBuf) -> Result<Self, SuiteError> {
        std::fs::create_dir(&path).doing("making", &path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The suite's directory is removed with all that is in it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
