//! One layer after the other, from the drive to the host.

use super::speedup::{Change, Station};
use super::{AnyPart, HostParams, Misfit};
use crate::array::{Array, ArrayError, ArrayParams, CacheParams, Cached};
use crate::bus::{OnPci, PciParams};
use crate::controller::{Ahci, AhciParams, Ide, IdeError, IdeParams};
use crate::describe::{DescribeError, Description, Node, Problem, Value, read};
use crate::driver::{Elevator, ElevatorParams, Tagged};
use crate::flow::{Flow, FlowParams};
use crate::hdd::{self, Hdd, ParamsError};
use crate::joined::Joined;
use crate::limits::OutOfRange;
use crate::link::{OnPcie, OnScsi, PcieParams, SataLink, SataParams, ScsiParams};
use crate::part::Part;
use crate::shingled::Shingled;
use crate::ssd::{Fill, Ssd, SsdParams, ZoneLayout};
use crate::ssd_cache::{ReadCache, ReadCacheParams, Swapcache, SwapcacheParams};
use crate::throttle::{Throttle, ThrottleParams};
use seekwell_sys::nearest;
use serde::de::DeserializeOwned;

/// Tables of a description.
const LAYERS: [&str; 13] = [
    "fit",
    "host",
    "front",
    "scheduler",
    "throttle",
    "bus",
    "controller",
    "memory",
    "array",
    "scsi",
    "link",
    "pcie",
    "drive",
];
const MOST_DRIVES: i64 = 255;
const MOST_ACTUATORS: i64 = 8;

/// A table of a description and its key.
#[derive(Clone, Copy)]
struct Layer<'a> {
    node: &'a Node,
    key: &'a str,
}

impl<'a> Layer<'a> {
    fn of(root: &'a Node, key: &'a str) -> Option<Self> {
        root.get(key).map(|node| Self { node, key })
    }

    fn wrong(&self, key: &str, problem: Problem) -> DescribeError {
        let place = self.node.get(key).unwrap_or(self.node).place.clone();
        let dotted =
            if key.is_empty() { self.key.to_owned() } else { format!("{}.{key}", self.key) };
        DescribeError::new(place, &dotted, problem)
    }

    fn out(&self, error: &OutOfRange) -> DescribeError {
        self.wrong(error.field, Problem::Illegal { why: error.to_string() })
    }

    /// What the parameters of a part say of themselves.
    fn illegal(&self, error: &impl std::fmt::Display) -> DescribeError {
        self.wrong("", Problem::Illegal { why: error.to_string() })
    }

    /// The parameters of a part: all keys but those named.
    fn params<T: DeserializeOwned>(&self, but: &[&str]) -> Result<T, DescribeError> {
        let mut node = self.node.clone();
        for key in but {
            node.take(key);
        }
        read(&node, self.key)
    }

    /// The whole number under `key`, from 1 to `most`; 1 if it is not given.
    fn number(&self, key: &str, most: i64) -> Result<u64, DescribeError> {
        match self.node.get(key).map(|node| &node.value) {
            None => Ok(1),
            Some(Value::Integer(number)) if (1..=most).contains(number) => Ok(*number as u64),
            Some(_) => {
                let why = format!("not a whole number from 1 to {most}");
                Err(self.wrong(key, Problem::Illegal { why }))
            }
        }
    }

    /// The word under `kind`, one of `among`.
    fn kind(&self, among: &[&'static str]) -> Result<&'static str, DescribeError> {
        let Some(node) = self.node.get("kind") else {
            return Err(self.wrong("", Problem::Missing { key: "kind".to_owned() }));
        };
        let found = match &node.value {
            Value::Text(word) => word.as_str(),
            _ => node.kind(),
        };
        among.iter().copied().find(|word| *word == found).ok_or_else(|| {
            let among = among.iter().map(|word| (*word).to_owned()).collect();
            self.wrong("kind", Problem::NotAmong { found: found.to_owned(), among })
        })
    }
}

/// The host's own parameters. Tables that mean nothing are found here.
pub fn host(root: &Node) -> Result<HostParams, DescribeError> {
    let known = || LAYERS.iter().chain(&Description::WORDS).map(|key| (*key).to_owned());
    for (key, node) in root.entries() {
        if !known().any(|k| k == *key) {
            let problem =
                Problem::UnknownKey { nearest: nearest(key, known()), known: known().collect() };
            return Err(DescribeError::new(node.place.clone(), key, problem));
        }
    }
    let Some(layer) = Layer::of(root, "host") else { return Ok(HostParams::PLAIN) };
    let host: HostParams = layer.params(&[])?;
    host.check().map_err(|e| layer.out(&e))?;
    Ok(host)
}

/// How far a fitted machine is from what it was fitted to.
pub fn fit(root: &Node) -> Result<Option<Misfit>, DescribeError> {
    let Some(layer) = Layer::of(root, "fit") else { return Ok(None) };
    let fit: Misfit = layer.params(&[])?;
    fit.check().map_err(|field| {
        layer.wrong(field, Problem::Illegal { why: "not a number from 0 to 1000".to_owned() })
    })?;
    Ok(Some(fit))
}

/// The whole machine, from the drive upwards.
pub fn part(root: &Node, seed: u64, change: &Change) -> Result<AnyPart, DescribeError> {
    let mut part = below_bus(root, seed, change)?;
    if let Some(layer) = Layer::of(root, "memory") {
        let params: CacheParams = change.to(layer.params(&[])?);
        part = Box::new(Cached::new(params, part).map_err(|e| layer.out(&e))?);
    }
    if let Some(layer) = Layer::of(root, "bus") {
        let params: PciParams = change.to(layer.params(&[])?);
        let bus = OnPci::pci(&params, part).map_err(|e| layer.out(&e))?;
        part = Box::new(bus.faster(change.factor(Station::Bus).unwrap_or(1.0)));
    }
    if let Some(layer) = Layer::of(root, "throttle") {
        let params: ThrottleParams = change.to(layer.params(&[])?);
        part = Box::new(Throttle::new(params, part).map_err(|e| layer.out(&e))?);
    }
    if let Some(layer) = Layer::of(root, "scheduler") {
        let params: ElevatorParams = layer.params(&[])?;
        part = Box::new(Elevator::new(params, part).map_err(|e| layer.out(&e))?);
    }
    if let Some(layer) = Layer::of(root, "front") {
        part = in_front(root, &layer, part, seed, change)?;
    }
    Ok(part)
}

/// The array, or the one drive, with what each drive hangs on.
fn below_bus(root: &Node, seed: u64, change: &Change) -> Result<AnyPart, DescribeError> {
    let Some(layer) = Layer::of(root, "drive") else {
        let problem = Problem::Missing { key: "drive".to_owned() };
        return Err(DescribeError::new(root.place.clone(), "", problem));
    };
    let count = layer.number("count", MOST_DRIVES)?;
    let drives = (0..count)
        .map(|index| drive(&layer, seed.wrapping_mul(1021).wrapping_add(index), change))
        .collect::<Result<Vec<_>, _>>()?;
    let mut members = wired(root, drives, change)?
        .into_iter()
        .map(|member| port(root, member, change))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(array) = Layer::of(root, "array") {
        let params: ArrayParams = change.to(array.params(&[])?);
        let made = Array::new(params, members).map_err(|error| match error {
            ArrayError::Range(error) => array.out(&error),
            other => array.illegal(&other),
        })?;
        return Ok(Box::new(made));
    }
    match members.pop() {
        Some(only) if members.is_empty() => Ok(only),
        _ => {
            let why = format!("{count} drives without an [array] are no one disk");
            Err(layer.wrong("count", Problem::Illegal { why }))
        }
    }
}

/// Drives on what they hang on: all on one SCSI bus, each on a link of its own (SATA or PCI
/// Express), or nothing.
fn wired(
    root: &Node,
    drives: Vec<AnyPart>,
    change: &Change,
) -> Result<Vec<AnyPart>, DescribeError> {
    let attached = ["scsi", "pcie", "link"].map(|key| Layer::of(root, key));
    if let [first, second, ..] = attached.iter().flatten().collect::<Vec<_>>()[..] {
        let why = format!("the drive has one attachment, and that is {} here", first.key);
        return Err(second.wrong("", Problem::Illegal { why }));
    }
    if let Some(layer) = Layer::of(root, "scsi") {
        let params: ScsiParams = layer.params(&[])?;
        let drives = OnScsi::scsi(params, drives).map_err(|e| layer.out(&e))?;
        let faster = change.factor(Station::Bus).unwrap_or(1.0);
        return Ok(drives.into_iter().map(|drive| boxed(drive.faster(faster))).collect());
    }
    if let Some(layer) = Layer::of(root, "pcie") {
        let params: PcieParams = layer.params(&[])?;
        let faster = change.factor(Station::Link).unwrap_or(1.0);
        let linked = |drive| {
            let linked = OnPcie::pcie(params, drive).map_err(|e| layer.out(&e))?;
            Ok(boxed(linked.faster(faster)))
        };
        return drives.into_iter().map(linked).collect();
    }
    let Some(layer) = Layer::of(root, "link") else { return Ok(drives) };
    let params: SataParams = layer.params(&[])?;
    let faster = change.factor(Station::Link).unwrap_or(1.0);
    let linked = |drive| {
        let linked = SataLink::sata(params, drive).map_err(|e| layer.out(&e))?;
        Ok(boxed(linked.faster(faster)))
    };
    drives.into_iter().map(linked).collect()
}

fn boxed(part: impl Part + 'static) -> AnyPart {
    Box::new(part)
}

/// What hangs there, at a port of the controller.
fn port(root: &Node, part: AnyPart, change: &Change) -> Result<AnyPart, DescribeError> {
    let Some(layer) = Layer::of(root, "controller") else { return Ok(part) };
    Ok(match layer.kind(&["none", "ide", "ahci"])? {
        "ide" => {
            let params: IdeParams = change.to(layer.params(&["kind"])?);
            let made = Ide::new(params, vec![part]).map_err(|error| match error {
                IdeError::Range(error) => layer.out(&error),
                other @ IdeError::Devices { .. } => layer.illegal(&other),
            })?;
            Box::new(made)
        }
        "ahci" => {
            let params: AhciParams = change.to(layer.params(&["kind"])?);
            let port = Ahci::new(params, part).map_err(|e| layer.out(&e))?;
            let slots = change.factor(Station::Tags).unwrap_or(1.0);
            Box::new(port.with_times_the_slots(slots))
        }
        _ => part,
    })
}

fn drive(layer: &Layer<'_>, seed: u64, change: &Change) -> Result<AnyPart, DescribeError> {
    let but = ["kind", "count"];
    Ok(match layer.kind(&["hdd", "ssd", "flow"])? {
        "hdd" => hard_drive(layer, seed, change)?,
        "ssd" => {
            let params: SsdParams = change.to(layer.params(&but)?);
            let params = SsdParams { seed, ..params };
            Box::new(Ssd::new(params).map_err(|e| layer.out(&e))?)
        }
        _ => {
            let params: FlowParams = change.to(layer.params(&but)?);
            Box::new(Flow::new(params, seed).map_err(|e| layer.out(&e))?)
        }
    })
}

/// The zones of the one drive of a machine, if it has any.
pub(super) fn zones(root: &Node) -> Result<Option<ZoneLayout>, DescribeError> {
    let Some(layer) = Layer::of(root, "drive").filter(|it| it.node.get("zones").is_some()) else {
        return Ok(None);
    };
    let params: SsdParams = layer.params(&["kind", "count"])?;
    if let Some(above) =
        ["front", "memory", "array"].into_iter().find(|key| root.get(key).is_some())
    {
        let why = format!("zones cannot be written through [{above}]; leave one of the two out");
        return Err(layer.wrong("zones", Problem::Illegal { why }));
    }
    let full = params.fill == Fill::Sequential;
    Ok(params.zones.map(|params| ZoneLayout { params, full }))
}

/// A hard drive. What is described is what each of its actuators has.
fn hard_drive(layer: &Layer<'_>, seed: u64, change: &Change) -> Result<AnyPart, DescribeError> {
    let actuators = layer.number("actuators", MOST_ACTUATORS)?;
    let described: hdd::Params = layer.params(&["kind", "count", "actuators", "shingled"])?;
    let made = |params: &hdd::Params, seed| {
        Hdd::new(params.clone(), seed).map_err(|error| match error {
            ParamsError::Range { field, .. } => {
                layer.wrong(field, Problem::Illegal { why: error.to_string() })
            }
            other => layer.illegal(&other),
        })
    };
    let mut params = change.to(described.clone());
    if params.layout != described.layout {
        let bytes = made(&described, seed)?.capacity();
        params.layout.sectors = Some(bytes / u64::from(params.sector_bytes));
    }
    let arm = |index: u64| made(&params, seed.wrapping_add(index << 48));
    if let Some(node) = layer.node.get("shingled") {
        let layer = Layer { node, key: "drive.shingled" };
        let whole = Joined::new((0..actuators).map(arm).collect::<Result<Vec<_>, _>>()?);
        return Ok(Box::new(
            Shingled::new(change.to(layer.params(&[])?), whole).map_err(|e| layer.out(&e))?,
        ));
    }
    if actuators == 1 {
        return Ok(Box::new(arm(0)?));
    }
    Ok(Box::new(Joined::new((0..actuators).map(arm).collect::<Result<Vec<_>, _>>()?)))
}

/// An SSD cache before everything below it. Each of the two devices has the driver's tags to
/// itself, and the SSD a port like that of the disk.
fn in_front(
    root: &Node,
    layer: &Layer<'_>,
    below: AnyPart,
    seed: u64,
    change: &Change,
) -> Result<AnyPart, DescribeError> {
    let kind = layer.kind(&["swapcache", "read-cache"])?;
    let Some(node) = layer.node.get("fast") else {
        return Err(layer.wrong("", Problem::Missing { key: "fast".to_owned() }));
    };
    let mut fast = drive(&Layer { node, key: "front.fast" }, seed.wrapping_add(1 << 32), change)?;
    if root.get("array").is_none() {
        let only = wired(root, vec![fast], change)?.pop().expect("as many as were given");
        fast = port(root, only, change)?;
    }
    let host = change.to(host(root)?);
    let [fast, below] = [fast, below].map(|part| -> AnyPart {
        match host.tags {
            Some(policy) => Box::new(Tagged::new(policy, host.openings, part)),
            None => part,
        }
    });
    let but = ["kind", "fast"];
    Ok(match kind {
        "swapcache" => {
            let params: SwapcacheParams = layer.params(&but)?;
            Box::new(Swapcache::new(params, fast, below).map_err(|e| layer.out(&e))?)
        }
        _ => {
            let params: ReadCacheParams = layer.params(&but)?;
            Box::new(ReadCache::new(params, fast, below).map_err(|e| layer.out(&e))?)
        }
    })
}
