//! Saved runs to PostgreSQL: `seekwell runs push`, and what --push sends after a measurement.

use super::hand_on::{HandedOn, hand_on};
use crate::Ended;
use crate::cli::{Push, PushTo};
use crate::context::{Context, place};
use crate::exit::{CommandError, Exit};
use seekwell_fleet::{Place, Sender};
use seekwell_runs::{Detail, RunDocument, Runs, Store, StoreError, is_being_written};
use serde_json::json;
use std::sync::atomic::Ordering::Relaxed;

pub fn run(args: &Push, store: &Store, context: &Context) -> Ended {
    let place = place(&args.database)?;
    let mut post = Post::open(&place, store)?;
    let mut failed = Vec::new();
    let done = if args.runs.is_empty() {
        let there = post.sender.there()?;
        let known = |host: &str, id: &str| there.contains(&[host.to_owned(), id.to_owned()]);
        hand_on(store, context, known, |run, detail| match post.send(run, detail) {
            Err(error) if !post.sender.is_lost() => {
                context.note(&format!("{} is left out: {error}", run.id));
                failed.push(run.id.clone());
                Ok(())
            }
            sent => sent,
        })?
    } else {
        for name in &args.runs {
            let dir = store.find(name)?;
            if is_being_written(&dir) {
                return Err(StoreError::StillRunning { id: name.clone() }.into());
            }
            let (run, detail) = store.load(name)?;
            post.send(&run, &detail)?;
        }
        HandedOn { given: args.runs.len(), ..HandedOn::default() }
    };
    let pushed = done.given - failed.len();
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Refused };
    if context.json {
        let left_out: Vec<_> = done.left_out.iter().chain(&failed).collect();
        context.print_json(&json!({
            "schema": "seekwell/push/1", "pushed": pushed, "already_there": done.known,
            "still_running": done.running, "left_out": left_out,
        }))?;
    } else {
        context.print(&done.sentence(pushed, "pushed"))?;
    }
    Ok(exit)
}

/// Sends what waits for the database of --push: the runs just made, and what could not be sent
/// before. A run that cannot be sent now waits for the next time.
pub fn send_waiting(push: &PushTo, kept: bool, context: &Context) {
    // What is wrong with the address was said before the measurement.
    let (Some(Ok(place)), Ok(store)) = (push.url().map(place), context.store()) else { return };
    if !kept {
        context.note("the run is not saved, and so not sent to the database");
    }
    let waiting = store.waiting_for(place.name());
    if waiting.is_empty() {
        return;
    }
    let send = || -> Result<(), CommandError> {
        let mut post = Post::open(&place, &store)?;
        for id in &waiting {
            let sent = store.load(id).map_err(CommandError::from);
            match sent.and_then(|(run, detail)| post.send(&run, &detail)) {
                Err(error) if post.sender.is_lost() => return Err(error),
                Err(error) => context.note(&format!("{id} is not sent: {error}")),
                Ok(()) => {}
            }
            if context.control.stop.load(Relaxed) {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = send() {
        context.note(&format!("cannot send runs: {error}"));
    }
    match store.waiting_for(place.name()).len() {
        0 => {}
        runs => context.note(&format!(
            "runs that are saved and still to be sent: {runs}; the next --push or seekwell runs \
             push sends them"
        )),
    }
}

/// Sends runs of a store, and notes which were sent.
struct Post<'a> {
    sender: Sender,
    store: &'a Store,
    place: &'a Place,
}

impl<'a> Post<'a> {
    fn open(place: &'a Place, store: &'a Store) -> Result<Self, CommandError> {
        Ok(Self { sender: Sender::open(place)?, store, place })
    }

    fn send(&mut self, run: &RunDocument, detail: &Detail) -> Result<(), CommandError> {
        self.sender.send(run, detail)?;
        Ok(self.store.sent(&run.id, self.place.name())?)
    }
}
