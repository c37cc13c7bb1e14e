//! One round of a suite's steps, in a directory that is new and gone afterwards.

use crate::error::SuiteError;
use crate::frame::{Stage, Step, StepResult};
use crate::settings::Settings;
use crate::suite::{On, Suite};
use seekwell_access::{Opened, ScratchDir, open_read_only};
use seekwell_io::engine::Control;
use seekwell_io::measurement::Stopped;
use seekwell_io::units::Nanos;
use seekwell_machine::Model;
use seekwell_sys::DevId;
use std::path::{Path, PathBuf};

pub enum Place {
    /// A directory, in which it makes one of its own.
    Directory(PathBuf),
    /// A device or file, which it only reads.
    Reads { path: PathBuf, opened: Opened },
    /// A modelled machine, which plays the load of each step.
    Machine(Box<Model>),
}

impl Place {
    /// Opens a device or file that a suite will only read.
    ///
    /// # Errors
    /// [`SuiteError::WrongTarget`] for a suite that writes, [`SuiteError::Access`] for what cannot
    /// be opened.
    pub fn reads(suite: &Suite, path: PathBuf) -> Result<Self, SuiteError> {
        if suite.on == On::Directory {
            return Err(suite.wrong(&path, if path.is_file() { "file" } else { "device" }));
        }
        let opened = Opened::ReadOnly(open_read_only(&path)?);
        Ok(Self::Reads { path, opened })
    }

    /// Why a step cannot be run here, if it cannot.
    pub fn lacks(&self, step: &Step) -> Option<String> {
        if let Self::Machine(model) = self { step.load.missing(model) } else { None }
    }

    /// About how long a step takes, in real time.
    ///
    /// # Errors
    /// [`SuiteError::Play`] where a modelled machine does not play its beginning.
    pub fn takes(&self, step: &Step, control: &Control) -> Result<Nanos, SuiteError> {
        match self {
            Self::Machine(model) => Ok(step.load.takes(model, control)?),
            _ => Ok(step.expected),
        }
    }
}

/// One round of a suite. Its directory and all in it are gone when this is dropped.
pub struct Round<'a> {
    // Dropped before the directory: steps hold files open in it.
    steps: Vec<Step>,
    place: &'a Place,
    device: Option<DevId>,
    seed: u64,
    dir: Option<ScratchDir>,
}

impl<'a> Round<'a> {
    /// Makes the steps ready. `device` is where the data lie, if that is one that counts.
    ///
    /// # Errors
    /// [`SuiteError`]: the wrong kind of target, no room, no right to write.
    pub fn begin(
        suite: &'static Suite,
        settings: &Settings,
        place: &'a Place,
        device: Option<DevId>,
        seed: u64,
    ) -> Result<Self, SuiteError> {
        let steps = (suite.steps)(settings);
        let dir = match place {
            Place::Reads { .. } => None,
            Place::Directory(path) => {
                let needs = (suite.needs)(settings);
                // The directory itself is one more.
                Some(ScratchDir::create(path, needs.bytes, needs.files + 1)?)
            }
            Place::Machine(_) => {
                let mut why: Vec<_> = steps.iter().map_while(|step| place.lacks(step)).collect();
                if why.len() == steps.len() {
                    why.dedup();
                    let why = why.join("; ");
                    return Err(SuiteError::NotModelled { suite: suite.name, why });
                }
                None
            }
        };
        Ok(Self { steps, place, device, seed, dir })
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
        control: &Control,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<StepResult, SuiteError> {
        let (seed, device, stop) = (self.seed, self.device, &control.stop);
        let step = &mut self.steps[index];
        let (path, opened): (&Path, _) = match (self.place, &self.dir) {
            (Place::Machine(model), _) => return played(step, model, seed, control),
            (Place::Reads { path, opened }, _) => (path, Some(opened)),
            (Place::Directory(path), dir) => (dir.as_ref().map_or(path, |dir| dir.path()), None),
        };
        let stage = Stage { path, opened, seed, stop, progress, device };
        stage.go_on()?;
        (step.run)(&stage)
    }
}

fn played(
    step: &Step,
    model: &Model,
    seed: u64,
    control: &Control,
) -> Result<StepResult, SuiteError> {
    let outcome = step.load.play(model, seed, control)?;
    if outcome.measurement.stopped == Stopped::Interrupted {
        return Err(SuiteError::Interrupted);
    }
    Ok(StepResult::modelled(outcome, step, step.load.words(model)))
}
