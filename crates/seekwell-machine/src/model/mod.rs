//! From a description to a machine.
//!
//! A description's tables are the machine's layers, from the host outwards; each but the drive may
//! be left out:
//!
//! ```text
//! [front]       an SSD cache in front of everything below, with the SSD in [front.fast]
//! [bus]         PCI between the host's memory and the controller
//! [controller]  kind = "ide" | "ahci" | "none"; with an array, one port for each member
//! [memory]      the array controller's cache
//! [array]       members that look like one drive
//! [scsi]        one parallel SCSI bus for all drives, or
//! [link]        SATA between port and drive
//! [drive]       kind = "hdd" | "ssd" | "flow"; count = how many, for arrays
//! [host]        tags = "split", openings = 31: the driver's tag policy
//! [fit]         error_percent = how far the machine is from what it was fitted to
//! ```

mod build;
mod chain;
mod described;
mod host;
mod import;
mod misfit;
mod scaled;
mod speedup;

pub use chain::ChainLink;
pub use described::Described;
pub use host::HostParams;
pub use import::{ImportError, Imported, import};
pub use misfit::Misfit;
pub use speedup::{Speedup, Station};

use crate::Machine;
use crate::describe::{DescribeError, Description, Parameter, Parts, Value};
use crate::part::Part;
use crate::ssd::{WritePointers, ZoneLayout};
use seekwell_io::dispatch::TagPolicy;
use speedup::Change;

/// A part of whatever kind.
pub type AnyPart = Box<dyn Part>;

/// A machine that can be built, as often as is wanted.
#[derive(Debug, Clone)]
pub struct Model {
    description: Description,
    parameters: Vec<Parameter>,
    host: HostParams,
    fit: Option<Misfit>,
    title: String,
    capacity: u64,
    zones: Option<ZoneLayout>,
    /// What is faster in it than the description says.
    speedup: Option<Speedup>,
}

impl Model {
    /// Reads a description, makes it different as `set` asks (`controller.kind=ide`), and sees that
    /// it can be built.
    ///
    /// # Errors
    /// [`DescribeError`] with file, line and key of the first thing that is wrong.
    pub fn read(
        file: &str,
        text: &str,
        set: &[(String, String)],
        parts: &dyn Parts,
    ) -> Result<Self, DescribeError> {
        let mut description = Description::read(file, text, parts)?;
        for (key, value) in set {
            description.set(key, value, parts)?;
        }
        let parameters = description.parameters()?;
        let host = build::host(description.root())?;
        let fit = build::fit(description.root())?;
        let capacity = build::part(description.root(), 0, &Change::of(None))?.capacity();
        let zones = build::zones(description.root())?;
        let title = match description.root().get("title").map(|node| &node.value) {
            Some(Value::Text(title)) => title.clone(),
            _ => file.to_owned(),
        };
        let speedup = None;
        Ok(Self { description, parameters, host, fit, title, capacity, zones, speedup })
    }

    /// Its name.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// All its parameters with where each is from.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The description.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Bytes that can be addressed.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The zones of its drive, if it has any. Such a drive only accepts writes at the write
    /// pointers of its zones.
    pub const fn zones(&self) -> Option<ZoneLayout> {
        self.zones
    }

    /// Bytes of a sector, 512 if nothing says otherwise: requests are of whole sectors.
    pub fn sector_bytes(&self) -> u32 {
        let root = self.description.root();
        let fast = root.get("front").and_then(|front| front.get("fast"));
        let drives = root.get("drive").into_iter().chain(fast);
        let sectors = drives.filter_map(|drive| match drive.get("sector_bytes")?.value {
            Value::Integer(bytes) => u32::try_from(bytes).ok(),
            _ => None,
        });
        sectors.max().unwrap_or(512)
    }

    /// The driver's tag policy and the tags it has, where the host has one for the whole machine:
    /// with a cache in front, each of the two devices has its own.
    pub fn tags(&self) -> Option<(TagPolicy, u32)> {
        let policy = self.host.tags.filter(|_| self.description.root().get("front").is_none());
        policy.map(|policy| (policy, self.host.openings))
    }

    /// What the host costs.
    pub const fn host(&self) -> &HostParams {
        &self.host
    }

    /// How far it is from what it was fitted to, where it was fitted to measurements as a whole.
    pub const fn fit(&self) -> Option<Misfit> {
        self.fit
    }

    /// The outermost part, new and at time zero.
    ///
    /// # Panics
    /// Never: [`Model::read`] has built it once.
    pub fn part(&self, seed: u64) -> AnyPart {
        let change = Change::of(self.speedup);
        build::part(self.description.root(), seed, &change).expect("it was built before")
    }

    /// The machine, new and at time zero. Equal seeds give machines that behave equally.
    ///
    /// # Panics
    /// Never, as [`Model::part`].
    pub fn build(&self, seed: u64) -> Machine<AnyPart> {
        let pointers = self.zones.map(|layout| WritePointers::new(layout, self.capacity));
        let machine =
            Machine::new(self.part(seed)).with_sectors(self.sector_bytes()).with_zones(pointers);
        let is_nvme = self.description.root().get("pcie").is_some();
        if is_nvme { machine.with_queues() } else { machine }
    }

    /// The same machine with one station faster; `None` if it has no such station, or none that
    /// takes any time.
    pub fn faster(&self, by: Speedup) -> Option<Self> {
        let change = Change::of(Some(by));
        let host = change.to(self.host.clone());
        build::part(self.description.root(), 0, &change).ok()?;
        change.was_felt().then(|| Self { host, speedup: Some(by), ..self.clone() })
    }

    /// The stations it has, and the machine with each of them that many times as fast.
    pub fn faster_each(&self, factor: impl Fn(Station) -> f64) -> Vec<(Speedup, Self)> {
        let all = Station::ALL.map(|station| Speedup { station, factor: factor(station) });
        all.into_iter().filter_map(|by| Some((by, self.faster(by)?))).collect()
    }
}
