//! The kept experiments, for readers: nothing is locked, so one that is being made goes on.

use seekwell_experiment::{Decision, Document, ExperimentError, ExperimentStore};
use seekwell_report::Kept;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What is said of one in the list, and when that was read.
type Line = (SystemTime, Kept);

/// The folder of experiments, and what was read of it so far.
#[derive(Debug)]
pub struct Experiments {
    place: ExperimentStore,
    /// Documents are megabytes, and a page asks for the list every other second.
    known: Mutex<BTreeMap<String, Line>>,
}

impl Experiments {
    /// Those at this place. Nothing is read yet.
    pub fn new(place: ExperimentStore) -> Self {
        Self { place, known: Mutex::default() }
    }

    /// What is kept, newest first. What cannot be read is left out.
    pub fn list(&self) -> Vec<Kept> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = BTreeMap::new();
        for id in self.place.ids() {
            let Some(saved_at) = self.place.saved_at(&id) else { continue };
            let line = match known.remove(&id) {
                // One that runs can be killed without being saved again.
                Some(line) if line.0 == saved_at && line.1.state != "running" => line,
                _ => match self.load(&id) {
                    Ok((document, state)) => (saved_at, kept(&document, state)),
                    Err(_) => continue,
                },
            };
            now.insert(id, line);
        }
        *known = now;
        known.values().rev().map(|(_, kept)| kept.clone()).collect()
    }

    /// One of them, and how it stands.
    ///
    /// # Errors
    /// As for [`ExperimentStore::read`].
    pub fn load(&self, id: &str) -> Result<(Document, &'static str), ExperimentError> {
        let once = || -> Result<_, ExperimentError> {
            let document = self.place.read(id)?;
            let state = self.place.state(&document);
            Ok((document, state))
        };
        match once()? {
            // It may have come to its end between reading it and looking for its writer.
            (_, "killed") => once(),
            found => Ok(found),
        }
    }
}

fn kept(document: &Document, state: &str) -> Kept {
    let (a, b) = (&document.a, &document.b);
    let compared = if document.design.aa {
        "self-test".to_owned()
    } else {
        format!("{} against {}", b.label(a), a.label(b))
    };
    let device = document.sessions.first().and_then(|s| s.before.device.as_ref());
    Kept {
        id: document.id.clone(),
        host: None,
        kind: "experiment".to_owned(),
        state: state.to_owned(),
        label: Some(compared),
        target: document.target.clone(),
        device_model: device.and_then(|d| d.model.as_ref()).map(|m| m.value.clone()),
        started_at: document.started_at.clone(),
        modelled: false,
        invalid: document.conclusion.as_ref().is_some_and(|c| c.decision == Decision::Invalid),
    }
}
