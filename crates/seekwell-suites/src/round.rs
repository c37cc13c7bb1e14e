//! One round of a suite's steps, in a directory that is new and gone afterwards.

use crate::error::SuiteError;
use crate::frame::{Stage, Step, StepResult};
use crate::suite::{On, Settings, Suite};
use seekwell_access::ScratchDir;
use seekwell_sys::DevId;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// One round of a suite. Its directory and all in it are gone when this is dropped.
pub struct Round {
    // Dropped before the directory: steps hold files open in it.
    steps: Vec<Step>,
    path: PathBuf,
    device: Option<DevId>,
    seed: u64,
    dir: Option<ScratchDir>,
}

impl Round {
    /// Makes the steps ready on `target`, a directory where `is_dir`.
    ///
    /// # Errors
    /// [`SuiteError`]: the wrong kind of target, no room, no right to write.
    pub fn begin(
        suite: &'static Suite,
        settings: &Settings,
        target: &Path,
        is_dir: bool,
        device: Option<DevId>,
        seed: u64,
    ) -> Result<Self, SuiteError> {
        if !is_dir && suite.on == On::Directory {
            return Err(SuiteError::WrongTarget {
                suite: suite.name,
                path: target.to_path_buf(),
                needed: "a directory",
                found: if target.is_file() { "file" } else { "device" },
            });
        }
        let needs = (suite.needs)(settings);
        // The directory itself is one more.
        let make = || ScratchDir::create(target, needs.bytes, needs.files + 1);
        let dir = is_dir.then(make).transpose()?;
        let path = dir.as_ref().map_or_else(|| target.to_path_buf(), |d| d.path().to_path_buf());
        Ok(Self { steps: (suite.steps)(settings), path, device, seed, dir })
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Runs the step at a place.
    ///
    /// # Errors
    /// [`SuiteError`]; the round is best dropped then.
    pub fn run(
        &mut self,
        index: usize,
        stop: &AtomicBool,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<StepResult, SuiteError> {
        let is_dir = self.dir.is_some();
        let (path, seed, device) = (&self.path, self.seed, self.device);
        let stage = Stage { path, is_dir, seed, stop, progress, device };
        stage.go_on()?;
        (self.steps[index].run)(&stage)
    }
}
