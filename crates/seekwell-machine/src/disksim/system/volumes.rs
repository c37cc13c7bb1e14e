//! The logical organisations of a file as volumes.

use super::super::error::DisksimError;
use super::super::keys::{Keys, number, unsupported, whole};
use super::super::tree::{Block, Document, Parameter};
use super::controllers::Port;
use super::devices::{Device, number_of};
use crate::array::{Layout, Level, Rotation};
use crate::driver::Organisation;

/// Volumes, and which of them a name means.
#[derive(Debug, Clone)]
pub(super) struct Volumes {
    /// How each lies, and how many sectors it has.
    all: Vec<(Organisation, u64)>,
    /// Of each logical organisation its name and its volumes.
    organisations: Vec<(String, Vec<Covered>)>,
    devices: Vec<String>,
}

/// A volume of a logical organisation, and of one addressed by parts the number of its device.
#[derive(Debug, Clone, Copy)]
struct Covered {
    device: Option<usize>,
    volume: usize,
}

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Striping {
    pub level: Level,
    /// Sectors of a stripe unit.
    pub unit: u64,
    pub rotation: Rotation,
    /// Share of the members below which parity is updated from its old self.
    pub modify_below: f64,
}

const LARGEST_UNIT: u64 = 1 << 32;

impl Volumes {
    /// Reads all logical organisations. `sectors` has how many each device holds.
    pub fn read(
        document: &Document,
        devices: &[Device],
        ports: &[Port],
        sectors: &[u64],
    ) -> Result<Self, DisksimError> {
        let names = devices.iter().map(|device| device.name.clone()).collect();
        let mut made = Self { all: Vec::new(), organisations: Vec::new(), devices: names };
        for block in document.blocks.iter().filter(|block| block.kind == "disksim_logorg") {
            let volumes = made.add(block, devices, ports, sectors)?;
            // One that is instantiated goes by the name it gets there.
            let instance = document.instances.iter().find(|made| made.of == block.name);
            let name = instance.and_then(|made| made.names.first()).unwrap_or(&block.name);
            made.organisations.push((name.clone(), volumes));
        }
        Ok(made)
    }

    /// How the volumes lie.
    pub fn organisations(&self) -> Vec<Organisation> {
        self.all.iter().map(|(organisation, _)| organisation.clone()).collect()
    }

    /// Sectors of a volume.
    pub fn sectors(&self, volume: usize) -> u64 {
        self.all[volume].1
    }

    /// The volume that a generator means by a device or a logical organisation.
    ///
    /// As in DiskSim, either is a number, and the first organisation that covers it is meant: one
    /// addressed as an array covers its own number, one addressed by parts those of its devices.
    pub fn of(&self, name: &str) -> Result<usize, DisksimError> {
        let named = self.organisations.iter().position(|(other, _)| other == name);
        let number = self.devices.iter().position(|other| other == name).or(named);
        let found = self.organisations.iter().enumerate().find_map(|(index, (_, volumes))| {
            let covers = |one: &&Covered| Some(one.device.unwrap_or(index)) == number;
            volumes.iter().find(covers).map(|one| one.volume)
        });
        found.ok_or_else(|| DisksimError::NoSuch { what: format!("volume on {name}") })
    }

    fn add(
        &mut self,
        block: &Block,
        devices: &[Device],
        ports: &[Port],
        sectors: &[u64],
    ) -> Result<Vec<Covered>, DisksimError> {
        let keys = Keys::new(block);
        let mut members = Vec::new();
        for value in keys.list("devices")? {
            let number = number_of(devices, value, &keys)?;
            let port = ports.iter().position(|port| port.device == number);
            // The device that a controller keeps its copies on is not the driver's.
            members.push((number, port.ok_or_else(|| not_addressed(&devices[number]))?));
        }
        Ok(match striping(&keys)? {
            None => {
                let part = |(number, device): (usize, usize)| {
                    self.all.push((Organisation::Whole { device }, sectors[number]));
                    Covered { device: Some(number), volume: self.all.len() - 1 }
                };
                members.into_iter().map(part).collect()
            }
            Some(striping) => {
                self.all.push(array(&keys, striping, members, sectors)?);
                vec![Covered { device: None, volume: self.all.len() - 1 }]
            }
        })
    }
}

fn not_addressed(device: &Device) -> DisksimError {
    DisksimError::NoSuch { what: format!("{} that the driver addresses", device.name) }
}

/// How a logical organisation is striped; `None` if its devices are as they are.
pub(in super::super) fn striping(keys: &Keys<'_>) -> Result<Option<Striping>, DisksimError> {
    let addressing = keys.need("Addressing mode")?;
    let distribution = keys.need("Distribution scheme")?;
    let redundancy = keys.need("Redundancy scheme")?;
    let choice = |parameter: &Parameter| parameter.value.to_string();
    let level = match (&*choice(addressing), &*choice(distribution), &*choice(redundancy)) {
        ("Parts", "Asis", "Noredun") => return Ok(None),
        ("Array", "Striped", "Noredun") => Level::Raid0,
        ("Array", "Striped", "Parity_disk") => Level::Raid4,
        ("Array", "Striped", "Parity_rotated") => Level::Raid5,
        ("Array", "Striped", _) | ("Parts", "Asis", _) => return Err(unsupported(redundancy)),
        ("Array", _, _) => return Err(unsupported(distribution)),
        _ => return Err(unsupported(addressing)),
    };
    let stripe = keys.need("Stripe unit")?;
    let unit = whole(stripe)?;
    if !(1..=LARGEST_UNIT).contains(&unit) {
        return Err(unsupported(stripe));
    }
    let mut rotation = Rotation::LeftSymmetric;
    if level == Level::Raid5 {
        let parity = keys.need("Parity stripe unit")?;
        if whole(parity)? != unit {
            return Err(unsupported(parity));
        }
        let turn = keys.need("Parity rotation type")?;
        rotation = match whole(turn)? {
            1 => Rotation::LeftSymmetric,
            2 => Rotation::LeftAsymmetric,
            3 => Rotation::RightAsymmetric,
            4 => Rotation::RightSymmetric,
            _ => return Err(unsupported(turn)),
        };
    }
    let point = keys.need("RMW vs. reconstruct")?;
    let modify_below = number(point)?;
    if !(0.0..=1.0).contains(&modify_below) {
        return Err(unsupported(point));
    }
    Ok(Some(Striping { level, unit, rotation, modify_below }))
}

/// An array of devices, each with its number in the file and in the driver.
fn array(
    keys: &Keys<'_>,
    striping: Striping,
    members: Vec<(usize, usize)>,
    sectors: &[u64],
) -> Result<(Organisation, u64), DisksimError> {
    let Striping { level, unit, rotation, modify_below } = striping;
    let smallest = members.iter().map(|&(number, _)| sectors[number]).min().unwrap_or(0);
    let least = if level == Level::Raid0 { 1 } else { 3 };
    if members.len() < least || unit > smallest {
        return Err(unsupported(keys.need("Stripe unit")?));
    }
    let layout = Layout::new(level, rotation, members.len() as u32, unit * 512, smallest * 512);
    let rest = smallest % unit;
    let organisation = Organisation::Array {
        modify_below: (modify_below * members.len() as f64) as u32,
        devices: members.into_iter().map(|(_, device)| device).collect(),
        layout,
        rest,
        synchronous: keys.flag("Synch writes for safety")?,
    };
    Ok((organisation, layout.capacity() / 512 + rest * u64::from(layout.columns())))
}
