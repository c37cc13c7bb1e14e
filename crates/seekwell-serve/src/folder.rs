//! What is kept in a folder: runs, and the experiments beside them.

use crate::experiments::Experiments;
use crate::http::Answer;
use crate::{kept, not_kept, page, unreadable};
use seekwell_experiment::{ExperimentError, ExperimentStore};
use seekwell_report::{Kept, Served};
use seekwell_runs::{Detail, Filter, RunDocument, RunState, Runs, Store, StoreError, is_id};

#[derive(Debug)]
pub struct Folder {
    store: Store,
    experiments: Experiments,
}

impl Folder {
    pub fn new(store: Store) -> Self {
        let experiments = Experiments::new(ExperimentStore::beside(store.dir()));
        Self { store, experiments }
    }

    /// What is at an address; `None` if nothing can be.
    pub fn show(&self, what: &str, api: bool, token: &str) -> Option<Result<Answer, Answer>> {
        Some(match (what, what.split_once('/')) {
            ("", _) if !api => self.list(api, token),
            ("runs", _) if api => self.list(api, token),
            (_, Some(("run", id))) if is_id(id) => self.run(id, api),
            (_, Some(("experiment", id))) if is_id(id) => self.experiment(id, api),
            _ => return None,
        })
    }

    fn list(&self, api: bool, token: &str) -> Result<Answer, Answer> {
        let listing = self.store.list(&Filter::default()).map_err(unreadable)?;
        // All are of this host.
        let of_here = |run| Kept { host: None, ..kept(run) };
        let mut list: Vec<Kept> = listing.runs.into_iter().map(of_here).collect();
        list.extend(self.experiments.list());
        list.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        page(Ok(Served::list(&list, None, token)), api)
    }

    fn run(&self, id: &str, api: bool) -> Result<Answer, Answer> {
        let (run, state) = self.load(id).map_err(|error| match error {
            StoreError::NotFound { .. } | StoreError::Ambiguous { .. } => not_kept("run"),
            error => unreadable(error),
        })?;
        page(Ok(Served::run(&run, state.name())), api)
    }

    fn experiment(&self, id: &str, api: bool) -> Result<Answer, Answer> {
        let (document, state) = self.experiments.load(id).map_err(|error| match error {
            ExperimentError::NotFound { .. } => not_kept("experiment"),
            error => unreadable(error),
        })?;
        page(Served::experiment(&document, state), api)
    }

    fn load(&self, id: &str) -> Result<((RunDocument, Detail), RunState), StoreError> {
        let dir = self.store.dir().join(id);
        let once = || -> Result<_, StoreError> {
            let run = self.store.load(id)?;
            let state = Store::state(&dir, run.0.status);
            Ok((run, state))
        };
        match once()? {
            // It may have come to its end between reading it and looking for its writer.
            (_, RunState::Killed) => once(),
            found => Ok(found),
        }
    }
}
