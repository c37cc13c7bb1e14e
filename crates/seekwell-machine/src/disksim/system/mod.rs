//! A whole host: drives, buses, controllers, volumes, the driver's queues, and the load.

mod controllers;
mod devices;
mod queue;
mod run;
mod volumes;
mod workload;

#[cfg(test)]
mod tests;

pub use run::SystemTimes;
pub(super) use volumes::{Striping, striping};

use super::error::DisksimError;
use super::keys::{Keys, number};
use super::tree::{Block, Document};
use crate::driver::QueueParams;
use crate::synthetic::Workload;
use controllers::Port;
use devices::{Device, Open};
use volumes::Volumes;

/// A host as a parameter file describes it, with its synthetic workload.
#[derive(Debug, Clone)]
pub struct System {
    devices: Vec<Device>,
    ports: Vec<Port>,
    volumes: Volumes,
    queue: QueueParams,
    /// Whether devices are given as much as they take.
    queues_below: bool,
    workload: Workload,
    not_modelled: Vec<String>,
}

/// Makes a system of a document. `open` gives the tables of seek times.
///
/// # Errors
/// [`DisksimError`] with file and line of the first thing that is wrong, missing or not modelled.
pub fn system(document: &Document, open: Open<'_>) -> Result<System, DisksimError> {
    if let Some(block) = document.blocks.iter().find(|block| block.kind == "disksim_iomap") {
        return Err(refused(block));
    }
    let mut not_modelled = Vec::new();
    let devices = devices::read(document, open, &mut not_modelled)?;
    let mut sectors = Vec::new();
    for device in &devices {
        sectors.push(devices::sectors(&device.build(0)?));
    }
    let ports = controllers::ports(document, &devices, &mut not_modelled)?;
    let volumes = Volumes::read(document, &devices, &ports, &sectors)?;
    let driver = driver(document)?;
    let keys = Keys::new(driver);
    let made = System {
        queue: queue::read(keys.block("Scheduler")?)?,
        queues_below: number(keys.need("Use queueing in subsystem")?)? != 0.0,
        workload: workload::read(document, &volumes)?,
        devices,
        ports,
        volumes,
        not_modelled,
    };
    // What cannot be built is found here.
    made.driver()?;
    Ok(made)
}

fn driver(document: &Document) -> Result<&Block, DisksimError> {
    let what = || DisksimError::NoSuch { what: "disksim_iodriver in the topology".to_owned() };
    let root = document.topology.as_ref().ok_or_else(what)?;
    let block = document.block_of(&root.name).filter(|block| block.kind == "disksim_iodriver");
    block.ok_or_else(what)
}

fn refused(block: &Block) -> DisksimError {
    DisksimError::Expected {
        place: block.place.clone(),
        expected: "a block that is modelled",
        found: block.kind.clone(),
    }
}

impl System {
    /// The workload.
    pub const fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The same system with another seed for its workload and its drives' angles.
    #[must_use]
    pub const fn with_seed(mut self, seed: u32) -> Self {
        self.workload.seed = seed;
        self
    }

    /// `KEY = VALUE` of what the drives' files say and no layer models.
    pub fn not_modelled(&self) -> &[String] {
        &self.not_modelled
    }
}
