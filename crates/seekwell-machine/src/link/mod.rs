//! What drives hang on: a link each, or a bus for several.

mod pcie;
mod sata;
mod scsi;

#[cfg(test)]
mod sata_tests;
#[cfg(test)]
mod scsi_tests;

pub use pcie::{OnPcie, PcieParams, PcieWire};
pub use sata::{LinkSleep, SataLink, SataParams, SataSpeed, SataWire};
pub use scsi::{OnScsi, ScsiParams, ScsiWire};
