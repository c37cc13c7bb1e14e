//! Saved runs, handed on to where they are not yet: tables, a database.

use crate::context::Context;
use crate::exit::CommandError;
use seekwell_runs::{Detail, Filter, Listing, RunDocument, RunState, Runs, Store};

/// What became of runs that were to be handed on.
#[derive(Default)]
pub struct HandedOn {
    pub given: usize,
    /// They were there.
    pub known: usize,
    /// They are still being measured.
    pub running: usize,
    /// They cannot be read.
    pub left_out: Vec<String>,
}

impl HandedOn {
    /// A sentence with the number of runs handed on.
    pub fn sentence(&self, count: usize, done: &str) -> String {
        let running = match self.running {
            0 => String::new(),
            running => format!(", {running} still running"),
        };
        format!("{count} runs {done}, {} were there already{running}\n", self.known)
    }
}

/// Gives every finished run, oldest first, to `add`, but for those of which host and id are known.
pub fn hand_on(
    store: &Store,
    context: &Context,
    known: impl Fn(&str, &str) -> bool,
    mut add: impl FnMut(&RunDocument, &Detail) -> Result<(), CommandError>,
) -> Result<HandedOn, CommandError> {
    let Listing { runs, unreadable } = store.list(&Filter::default())?;
    let mut done = HandedOn::default();
    for entry in runs.iter().rev() {
        if entry.state == RunState::Running {
            done.running += 1;
        } else if known(&entry.host, &entry.id) {
            done.known += 1;
        } else {
            let (document, detail) = store.load(&entry.id)?;
            add(&document, &detail)?;
            done.given += 1;
        }
    }
    for (id, error) in unreadable {
        context.note(&format!("{id} is left out: {error}"));
        done.left_out.push(id);
    }
    Ok(done)
}
