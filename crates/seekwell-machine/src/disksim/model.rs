//! The model block of a drive: geometry and mechanics.

use super::error::DisksimError;
use super::keys::{Keys, list, numbers, unsupported, whole, wrong};
use super::parse::Files;
use super::tree::{Block, Parameter, Value};
use crate::file_line::FileLine;
use crate::hdd::{Layout, SeekCurve, Sparing, SurfaceOrder, Zone};
use seekwell_io::units::Nanos;

pub(super) struct Model {
    pub rpm: f64,
    pub surfaces: u32,
    pub layout: Layout,
    pub seek: SeekCurve,
    pub head_switch: Nanos,
    pub write_settle_ns: i64,
}

type Open<'o> = &'o mut dyn FnMut(&str) -> std::io::Result<String>;

pub(super) fn read(
    block: &Block,
    open: Open<'_>,
    left: &mut Vec<String>,
) -> Result<Model, DisksimError> {
    let keys = Keys::new(block);
    let surfaces = keys.count("Number of data surfaces")?;
    keys.find("Number of cylinders");
    // The drive offers what its zones hold, as in DiskSim, which replaces this number by their sum.
    keys.find("Block count").map(whole).transpose()?;
    let mechanics = Keys::new(keys.block("Mechanical Model")?);
    let settle = mechanics.number_or_zero("Add. write settling delay")?;
    if let Some(access) = mechanics.find("Access time type")
        && access.value != Value::Word("trackSwitchPlusRotation".to_owned())
    {
        return Err(unsupported(access));
    }
    let model = Model {
        rpm: mechanics.number("Rotation speed (in rpms)")?,
        surfaces,
        layout: layout(keys.need("Layout Model")?, left)?,
        seek: seek(&mechanics, open)?,
        head_switch: mechanics.span("Head switch time", 1.0)?,
        write_settle_ns: (settle * 1e6).round() as i64,
    };
    for unused in ["Single cylinder seek time", "Average seek time", "Full strobe seek time"] {
        mechanics.find(unused);
    }
    mechanics.left(left);
    keys.left(left);
    Ok(model)
}

fn layout(parameter: &Parameter, left: &mut Vec<String>) -> Result<Layout, DisksimError> {
    let Value::Block(block) = &parameter.value else {
        return Err(wrong(parameter, "a block"));
    };
    if block.kind != "dm_layout_g1" {
        return Err(unsupported(parameter));
    }
    let keys = Keys::new(block);
    let mapping = keys.need("LBN-to-PBN mapping scheme")?;
    let order = match whole(mapping)? {
        0 => SurfaceOrder::Same,
        1 => SurfaceOrder::ReversedByZone,
        2 => SurfaceOrder::ReversedByCylinder,
        _ => return Err(unsupported(mapping)),
    };
    let in_turns = match keys.find("Skew units").map(|unit| unit.value.to_string()) {
        None => false,
        Some(unit) => unit.starts_with("rev"),
    };
    let sparing = sparing(&keys)?;
    let mut zones = Vec::new();
    for value in keys.list("Zones")? {
        match value {
            Value::Block(block) => zones.push(zone(block, in_turns, left)?),
            _ => return Err(wrong(keys.need("Zones")?, "a list of blocks")),
        }
    }
    keys.left(left);
    Ok(Layout { order, sparing, zones, sectors: None })
}

fn sparing(keys: &Keys<'_>) -> Result<Sparing, DisksimError> {
    let scheme = keys.need("Sparing scheme used")?;
    let range = keys.need("Rangesize for sparing")?;
    let cylinder = |at_front, to_zone_end| Sparing::PerCylinder { at_front, to_zone_end };
    Ok(match whole(scheme)? {
        0 => Sparing::None,
        1 => Sparing::Tracks,
        2 => cylinder(false, false),
        3 => Sparing::PerTrack,
        4 => cylinder(false, true),
        5 => cylinder(true, false),
        6 => cylinder(true, true),
        7 => Sparing::AtEnd,
        8 => {
            let cylinders = u32::try_from(whole(range)?).map_err(|_| wrong(range, "cylinders"))?;
            Sparing::PerRange(cylinders)
        }
        9 => Sparing::PerZone { beside: false },
        10 => Sparing::PerZone { beside: true },
        _ => return Err(unsupported(scheme)),
    })
}

fn zone(block: &Block, in_turns: bool, left: &mut Vec<String>) -> Result<Zone, DisksimError> {
    let keys = Keys::new(block);
    let sectors_per_track = keys.count("Blocks per track")?;
    let scale = if in_turns { f64::from(sectors_per_track) } else { 1.0 };
    let mut slips = keys.find("slips").map_or(Ok(Vec::new()), numbers)?;
    if slips.iter().any(|slip| *slip < 0.0 || slip.fract() != 0.0) {
        return Err(wrong(keys.need("slips")?, "a list of whole numbers"));
    }
    slips.sort_by(f64::total_cmp);
    if let Some(defects) = keys.find("defects") {
        let remapped = list(defects)?.len() / 2;
        if remapped > 0 {
            let place = &block.place;
            left.push(format!("defects = {remapped} sectors kept elsewhere (zone at {place})"));
        }
    }
    let zone = Zone {
        first_cylinder: keys.count("First cylinder number")?,
        last_cylinder: keys.count("Last cylinder number")?,
        sectors_per_track,
        first_offset: keys.number("Offset of first block")? * scale,
        reserved: keys.count("Empty space at zone front")?,
        track_skew: keys.number("Skew for track switch")? * scale,
        cylinder_skew: keys.number("Skew for cylinder switch")? * scale,
        spares: keys.count("Number of spares")?,
        slips: slips.into_iter().map(|slip| slip as u64).collect(),
    };
    keys.left(left);
    Ok(zone)
}

fn seek(keys: &Keys<'_>, open: Open<'_>) -> Result<SeekCurve, DisksimError> {
    let kind = keys.need("Seek type")?;
    let one = || keys.number("Single cylinder seek time");
    let average = || keys.number("Average seek time");
    let full = || keys.number("Full strobe seek time");
    Ok(match kind.value.to_string().to_ascii_lowercase().as_str() {
        "constant" => SeekCurve::Constant { ms: average()? },
        "linear" => SeekCurve::Lines { one_ms: one()?, average_ms: average()?, full_ms: full()? },
        "curve" => {
            SeekCurve::ThreePoint { one_ms: one()?, average_ms: average()?, full_ms: full()? }
        }
        "hpl" => hpl(keys, Vec::new())?,
        "hplplus10" => hpl(keys, numbers(keys.need("First ten seek times")?)?)?,
        "extracted" => {
            let file = keys.need("Full seek curve")?;
            let name = keys.word("Full seek curve")?;
            let text = Files::new(open).text(&name, Some(&file.place))?;
            SeekCurve::Table(table(&text, &name)?)
        }
        _ => return Err(unsupported(kind)),
    })
}

/// The equation of Ruemmler and Wilkes: division, root constant and factor, line constant and
/// factor, time of a single cylinder (−1 for what the equation gives).
fn hpl(keys: &Keys<'_>, first: Vec<f64>) -> Result<SeekCurve, DisksimError> {
    let parameter = keys.need("HPL seek equation values")?;
    let [from, root_ms, per_root_ms, line_ms, per_cylinder_ms, single] = numbers(parameter)?[..]
    else {
        return Err(wrong(parameter, "a list of six numbers"));
    };
    if !(0.0..=1e9).contains(&from) {
        return Err(wrong(parameter, "a distance first"));
    }
    let first_ms = match first.is_empty() && single >= 0.0 {
        true => vec![single],
        false => first,
    };
    let from = from as u32;
    Ok(SeekCurve::RootThenLine {
        first_ms,
        line_from: from,
        root_ms,
        per_root_ms,
        line_ms,
        per_cylinder_ms,
    })
}

/// Lines of distance and time, after one that says how many.
fn table(text: &str, name: &str) -> Result<Vec<(u32, f64)>, DisksimError> {
    let mut points = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(|c: char| !c.is_ascii_digit()) {
            continue;
        }
        let mut fields = line.split([',', ' ', '\t']).filter(|field| !field.is_empty());
        let distance = fields.next().and_then(|field| field.parse().ok());
        let time = fields.next().and_then(|field| field.parse::<f64>().ok());
        let (Some(distance), Some(time)) = (distance, time.filter(|time| time.is_finite())) else {
            return Err(DisksimError::Expected {
                place: FileLine { file: name.into(), line: index as u32 + 1 },
                expected: "a distance in cylinders and a time in milliseconds",
                found: line.to_owned(),
            });
        };
        points.push((distance, time));
    }
    Ok(points)
}
