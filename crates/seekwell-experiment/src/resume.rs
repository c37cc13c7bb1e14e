//! Beginning, and going on: whether the machine is what the next run needs.

use crate::document::{Document, Run, Session, Status};
use crate::error::ExperimentError;
use crate::rig::Rig;
use seekwell_inspect::Inspection;
use seekwell_inspect::diff::{Change, diff};
use seekwell_stats::Arm;

/// What an experiment needs to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it is complete.
    Nothing,
    /// Runs of either arm, at once.
    Runs,
    /// The machine in this arm's mode.
    Mode(Arm),
}

/// What comes next.
///
/// # Errors
/// [`ExperimentError::EndedInvalid`] when nothing can.
pub fn next(document: &Document) -> Result<Next, ExperimentError> {
    if let Status::Invalid = document.status {
        return Err(ExperimentError::EndedInvalid {
            id: document.id.clone(),
            why: document.invalid.clone().unwrap_or_else(|| "a gate closed".to_owned()),
        });
    }
    Ok(match document.next_slot() {
        None => Next::Nothing,
        Some(slot) if document.design.reboot_between => Next::Mode(slot.arm),
        Some(_) => Next::Runs,
    })
}

/// Begins a session: looks whether the target is as it was (or, where arms are modes, whether it is
/// now in the mode that is next) and starts over a block that was cut off. Whatever a killed
/// session had set is put back first. `mode` is the mode the machine is in, for a first session of
/// an experiment on modes.
///
/// # Errors
/// [`ExperimentError::EnvironmentChanged`], [`ExperimentError::NotRebooted`] or
/// [`ExperimentError::NotInMode`]; the document is as it was then.
pub fn begin(
    document: &mut Document,
    rig: &mut dyn Rig,
    mode: Option<Arm>,
) -> Result<(), ExperimentError> {
    rig.put_back();
    let (now, boot_id) = (rig.inspect(), rig.boot_id());
    let mode = if document.design.reboot_between {
        Some(mode_now(document, &now, &boot_id)?.unwrap_or(mode.unwrap_or(Arm::A)))
    } else {
        if let Some(first) = document.sessions.first() {
            unchanged(document, &first.before, &now)?;
        }
        begin_block_again(document);
        None
    };
    if document.planned_blocks.is_none() {
        document.planned_blocks = document.design.blocks;
    }
    document.region = Some(rig.region());
    document.sessions.push(Session {
        started_at: rig.timestamp(),
        boot_id,
        mode,
        first_run: document.runs.len() as u32,
        before: now,
        after: None,
    });
    Ok(())
}

/// The mode the machine must be in now, by what is known of earlier boots; `None` for the first.
fn mode_now(
    document: &Document,
    now: &Inspection,
    boot_id: &str,
) -> Result<Option<Arm>, ExperimentError> {
    let (Some(last), Some(slot)) = (document.sessions.last(), document.next_slot()) else {
        return Ok(None);
    };
    let named = |arm: Arm| document.arm(arm).mode.clone().unwrap_or_else(|| format!("{arm:?}"));
    let seen = document.sessions.iter().find(|s| s.mode == Some(slot.arm));
    if last.mode != Some(slot.arm) {
        if last.boot_id == boot_id {
            return Err(ExperimentError::NotRebooted { wanted: named(slot.arm) });
        }
        if changes(&last.before, now).is_empty() {
            let other = last.mode.map_or_else(String::new, named);
            return Err(ExperimentError::NotInMode { wanted: named(slot.arm), other });
        }
    }
    if let Some(seen) = seen {
        unchanged(document, &seen.before, now)?;
    }
    Ok(Some(slot.arm))
}

fn unchanged(
    document: &Document,
    before: &Inspection,
    now: &Inspection,
) -> Result<(), ExperimentError> {
    let changes = changes(before, now);
    if changes.is_empty() {
        return Ok(());
    }
    Err(ExperimentError::EnvironmentChanged { id: document.id.clone(), changes })
}

/// What differs and may change how fast a disk is.
pub(crate) fn changes(before: &Inspection, after: &Inspection) -> Vec<Change> {
    diff(before, after).into_iter().filter(|c| c.matters).collect()
}

/// Runs of a block are compared because they were neighbours. A block that was cut off is run
/// again, with the same order and requests; its runs so far are kept aside.
fn begin_block_again(document: &mut Document) {
    let whole = document.complete_blocks() * document.design.shape.runs();
    let cut: Vec<Run> = document.runs.drain(whole as usize..).collect();
    document.discarded.extend(cut);
}
