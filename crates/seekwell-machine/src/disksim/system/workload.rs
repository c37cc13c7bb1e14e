//! A `disksim_synthio` block.

use super::super::error::DisksimError;
use super::super::keys::{Keys, list, number, unsupported, whole, wrong};
use super::super::tree::{Block, Document, Parameter, Value};
use super::Volumes;
use crate::synthetic::{Distribution, GeneratorParams, LARGEST_POISSON_MEAN, Workload};
use seekwell_io::units::Nanos;

pub(super) fn read(document: &Document, volumes: &Volumes) -> Result<Workload, DisksimError> {
    let block = document.only("disksim_synthio")?;
    let keys = Keys::new(block);
    keys.zero(&["System call/return with each request"])?;
    let seconds = keys.number("Maximum time of trace generated")?;
    let (processors, scale) = match document.blocks.iter().find(|block| block.kind == "disksim_pf")
    {
        Some(block) => {
            let keys = Keys::new(block);
            (keys.count("Number of processors")?, keys.number("Process-Flow Time Scale")?)
        }
        None => (1, 1.0),
    };
    let legal = (0.0..=1e6).contains(&scale) && (1..=MOST_PROCESSORS).contains(&processors);
    if !legal {
        let what = "a disksim_pf block with 1 to 20 processors and a scale from 0 to 1000000";
        return Err(DisksimError::NoSuch { what: what.to_owned() });
    }
    let mut generators = Vec::new();
    for value in keys.list("Generators")? {
        match value {
            Value::Block(block) => generators.push(generator(block, volumes)?),
            _ => return Err(wrong(keys.need("Generators")?, "a list of blocks")),
        }
    }
    if generators.is_empty() {
        return Err(wrong(keys.need("Generators")?, "a generator"));
    }
    Ok(Workload {
        requests: whole(keys.need("Number of I/O requests to generate")?)?,
        until: Nanos::from_secs_f64(seconds.clamp(0.0, 1e9)),
        processors,
        scale,
        seed: seed(document)?,
        generators,
    })
}

/// The most processors that DiskSim has.
const MOST_PROCESSORS: u32 = 20;

/// The seed of the run, 1 where the file has none.
fn seed(document: &Document) -> Result<u32, DisksimError> {
    let global = document.blocks.iter().find(|block| block.kind == "disksim_global");
    let Some(block) = global else { return Ok(1) };
    if let Some(warm_up) = block.get("Statistic warm-up period") {
        let text = warm_up.value.to_string();
        let length = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        if length != Some(0.0) {
            return Err(unsupported(warm_up));
        }
    }
    let keys = Keys::new(block);
    let Some(parameter) = keys.find("Real Seed").or_else(|| keys.find("Init Seed")) else {
        return Ok(1);
    };
    u32::try_from(whole(parameter)?).map_err(|_| wrong(parameter, "a number below 2³²"))
}

fn generator(block: &Block, volumes: &Volumes) -> Result<GeneratorParams, DisksimError> {
    let keys = Keys::new(block);
    let capacity = keys.need("Storage capacity per device")?;
    let sectors = whole(capacity)?;
    let devices = keys.need("devices")?;
    let mut used = Vec::new();
    for value in list(devices)? {
        let volume = volumes.of(&value.to_string())?;
        if sectors > volumes.sectors(volume) {
            return Err(wrong(capacity, "no more than the device holds"));
        }
        used.push(volume);
    }
    let blocking = keys.need("Blocking factor")?;
    let blocks = whole(blocking)?;
    if used.is_empty() || !(1..=1 << 20).contains(&blocks) || sectors < 2 * blocks {
        return Err(wrong(blocking, "devices that hold two blocks of 1 to 1048576 sectors"));
    }
    let share = |key| {
        let parameter = keys.need(key)?;
        let value = number(parameter)?;
        let legal = (0.0..=1.0).contains(&value);
        legal.then_some(value).ok_or_else(|| wrong(parameter, "a probability from 0 to 1"))
    };
    let variable = |key| distribution(keys.need(key)?);
    Ok(GeneratorParams {
        volumes: used,
        sectors,
        blocking: blocks,
        sequential: share("Probability of sequential access")?,
        local: share("Probability of local access")?,
        read: share("Probability of read access")?,
        critical: share("Probability of time-critical request")?,
        limited: share("Probability of time-limited request")?,
        limit_ms: variable("Time-limited think times")?,
        general_ms: variable("General inter-arrival times")?,
        sequential_ms: variable("Sequential inter-arrival times")?,
        local_ms: variable("Local inter-arrival times")?,
        local_sectors: variable("Local distances")?,
        size_sectors: variable("Sizes")?,
    })
}

/// A random variable: its name and two or three numbers.
fn distribution(parameter: &Parameter) -> Result<Distribution, DisksimError> {
    let bad = || wrong(parameter, "a distribution and its numbers, like [ normal, 30.0, 100.0 ]");
    let values = list(parameter)?;
    let Some((Value::Word(name), rest)) = values.split_first() else { return Err(bad()) };
    let numbers: Option<Vec<f64>> = rest
        .iter()
        .map(|value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    let numbers = numbers.ok_or_else(bad)?;
    Ok(match (name.as_str(), numbers.as_slice()) {
        ("uniform", &[least, most]) if least < most => Distribution::Uniform { least, most },
        ("normal", &[mean, deviation]) => Distribution::Normal { mean, deviation },
        ("exponential", &[base, mean]) if mean >= 0.0 => Distribution::Exponential { base, mean },
        ("poisson", &[base, mean]) if (0.0..=LARGEST_POISSON_MEAN).contains(&mean) => {
            Distribution::Poisson { base, mean }
        }
        ("twovalue", &[default, second, probability]) if (0.0..=1.0).contains(&probability) => {
            Distribution::TwoValue { default, second, probability }
        }
        _ => return Err(bad()),
    })
}
