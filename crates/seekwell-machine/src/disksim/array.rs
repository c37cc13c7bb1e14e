//! What of a file's devices one description can say.

use super::drive::{SMART, is_smart};
use super::error::DisksimError;
use super::keys::{Keys, unsupported, whole};
use super::system::{Striping, striping};
use super::tree::{Document, Value};
use crate::array::{ArrayParams, Order, ParityUpdate};

/// An array that a description can hold.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedArray {
    /// How many drives, all like the first.
    pub members: usize,
    /// The array.
    pub params: ArrayParams,
}

/// The array of a file that has one, of equal drives.
///
/// # Errors
/// [`DisksimError`] with what is missing or not modelled.
pub fn array(document: &Document) -> Result<Option<DescribedArray>, DisksimError> {
    let mut blocks = document.blocks.iter().filter(|block| block.kind == "disksim_logorg");
    let (Some(block), None) = (blocks.next(), blocks.next()) else { return Ok(None) };
    let keys = Keys::new(block);
    let Some(Striping { level, unit, rotation, modify_below }) = striping(&keys)? else {
        return Ok(None);
    };
    let devices = keys.need("devices")?;
    let members = keys.list("devices")?;
    let model = |value: &Value| document.block_of(&value.to_string()).map(|block| &block.name);
    let equal = members.windows(2).all(|pair| model(&pair[0]) == model(&pair[1]));
    let unit_bytes = u32::try_from(unit * 512).ok().filter(|_| equal);
    let stripe_unit_bytes = unit_bytes.ok_or_else(|| unsupported(devices))?;
    let percent = (modify_below * 100.0).round() as u32;
    let params = ArrayParams {
        rotation,
        parity_update: ParityUpdate::Threshold { percent },
        order: order(document)?,
        ..ArrayParams::bare(level, stripe_unit_bytes)
    };
    Ok(Some(DescribedArray { members: members.len(), params }))
}

/// The order of the driver's queues.
fn order(document: &Document) -> Result<Order, DisksimError> {
    let Some(block) = document.blocks.iter().find(|block| block.kind == "disksim_iodriver") else {
        return Ok(Order::Arrival);
    };
    let scheduler = Keys::new(block).block("Scheduler")?;
    let policy = Keys::new(scheduler).need("Scheduling policy")?;
    match whole(policy)? {
        1 => Ok(Order::Arrival),
        3 => Ok(Order::Upwards),
        _ => Err(unsupported(policy)),
    }
}

/// What a file has besides its first `drives` drives that a description cannot express.
pub fn beside(document: &Document, drives: usize) -> Vec<String> {
    let kinds = ["disksim_disk", "disksim_simpledisk"];
    let all: usize = kinds.iter().map(|kind| document.components(kind).count()).sum();
    let mut left = Vec::new();
    if all > drives {
        left.push(format!("devices = {all}, of which {drives} are described"));
    }
    for controller in document.components("disksim_ctlr") {
        if document.block_of(controller).is_some_and(is_smart) {
            left.push(format!("type = {SMART} of {controller}, its queue and its cache"));
        }
    }
    left
}
