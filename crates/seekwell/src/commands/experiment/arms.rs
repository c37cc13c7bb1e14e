//! From `KEY=VALUE` words to the two arms.

use crate::cli::experiment::{Experiment, Workload};
use crate::cli::values::{ValueError, block_size, distribution};
use crate::cli::{Engine as EngineChoice, RateProcess, Rw as RwChoice};
use clap::ValueEnum;
use seekwell_experiment::{ArmSpec, Engine, Options, Rw, Setting};
use seekwell_tune::setting::{nearest, registry};

/// Options that an arm may have otherwise. Not the runtime: runs of unequal length favour an arm.
const KEYS: [&str; 12] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "direct",
    "engine",
    "tags",
    "rwmixread",
    "rate_iops",
    "rate_process",
    "random_distribution",
    "fsync",
];

/// Why the arms make no experiment.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// A word without a value.
    #[error("{word:?} is no KEY=VALUE")]
    NoValue {
        /// As it was typed.
        word: String,
    },
    /// Neither an option nor a setting.
    #[error(
        "there is no option or setting {key}{}",
        near.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default()
    )]
    Unknown {
        /// As it was typed.
        key: String,
        /// The most similar.
        near: Option<String>,
    },
    /// A value its option does not take.
    #[error("{key}={value}: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// As it was typed.
        value: String,
        /// What would be right.
        why: String,
    },
    /// One key twice in an arm.
    #[error("{key} is given twice for one arm")]
    Twice {
        /// The key.
        key: String,
    },
    /// Nothing differs.
    #[error(
        "the two arms are the same: name what differs with --a and --b (or --a-cmd, --b-cmd, \
         --reboot-between), or measure the machine's noise with --aa"
    )]
    Same,
    /// Settings of the disk on something without one.
    #[error("{key} is a setting of a disk, and {target} is on none: {why}")]
    NoDisk {
        /// The key.
        key: String,
        /// The target.
        target: String,
        /// Why.
        why: String,
    },
}

/// The two arms.
pub fn arms(args: &Experiment) -> Result<(ArmSpec, ArmSpec), ArmError> {
    let base = options(&args.workload);
    let mut a = arm(&base, &args.a)?;
    a.command.clone_from(&args.a_cmd);
    if args.aa {
        return Ok((a.clone(), a));
    }
    let mut b = arm(&base, &args.b)?;
    b.command.clone_from(&args.b_cmd);
    a.mode.clone_from(&args.a_mode);
    b.mode.clone_from(&args.b_mode);
    if a == b { Err(ArmError::Same) } else { Ok((a, b)) }
}

fn options(w: &Workload) -> Options {
    Options {
        rw: rw(w.rw),
        block_bytes: w.bs,
        iodepth: w.iodepth,
        numjobs: w.numjobs,
        direct: w.direct == 1,
        engine: engine(w.engine),
        tags: w.tags,
        mix_read_percent: w.rwmixread,
        rate_iops: w.rate_iops,
        poisson: w.rate_process == RateProcess::Poisson,
        distribution: w.random_distribution,
        fsync: w.fsync,
        offset_bytes: w.offset,
        runtime_ns: w.runtime,
        ramp_ns: w.ramp_time,
    }
}

const fn rw(choice: RwChoice) -> Rw {
    match choice {
        RwChoice::Read => Rw::Read,
        RwChoice::Write => Rw::Write,
        RwChoice::RandRead => Rw::RandRead,
        RwChoice::RandWrite => Rw::RandWrite,
        RwChoice::ReadWrite => Rw::ReadWrite,
        RwChoice::RandRw => Rw::RandRw,
    }
}

const fn engine(choice: EngineChoice) -> Engine {
    match choice {
        EngineChoice::Auto => Engine::Auto,
        EngineChoice::IoUring => Engine::IoUring,
        EngineChoice::Threads => Engine::Threads,
    }
}

fn arm(base: &Options, words: &[String]) -> Result<ArmSpec, ArmError> {
    let mut arm = ArmSpec::new(base.clone());
    let mut seen: Vec<&str> = Vec::new();
    for word in words {
        let (key, value) = word
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
            .filter(|(key, value)| !key.is_empty() && !value.is_empty())
            .ok_or_else(|| ArmError::NoValue { word: word.chars().take(80).collect() })?;
        if seen.contains(&key) {
            return Err(ArmError::Twice { key: key.to_owned() });
        }
        seen.push(key);
        match KEYS.iter().find(|k| **k == key) {
            Some(key) => set(&mut arm.options, key, value)?,
            None if is_setting(key) => {
                arm.settings.push(Setting { key: key.to_owned(), value: value.to_owned() });
            }
            None => {
                let all = KEYS.iter().copied().chain(registry().map(|s| s.key));
                return Err(ArmError::Unknown { key: key.to_owned(), near: nearest(key, all) });
            }
        }
    }
    Ok(arm)
}

/// Whether tune may know it: a key, or one of a family such as `iosched.*`. Whether this disk has
/// it is told when the disk is looked at.
fn is_setting(key: &str) -> bool {
    registry().any(|s| match s.key.strip_suffix('*') {
        Some(stem) => key.starts_with(stem) || key == stem.trim_end_matches('.'),
        None => s.key == key,
    })
}

fn set(options: &mut Options, key: &'static str, value: &str) -> Result<(), ArmError> {
    let bad = |why: String| ArmError::Value { key, value: value.chars().take(40).collect(), why };
    let of = |e: ValueError| bad(e.to_string());
    let number = |least: u32, most: u32| {
        let number = value.parse().ok().filter(|n: &u32| (least..=most).contains(n));
        number.ok_or_else(|| bad(format!("a whole number from {least} to {most} is needed")))
    };
    match key {
        "rw" => options.rw = rw(RwChoice::from_str(value, true).map_err(bad)?),
        "bs" => options.block_bytes = block_size(value).map_err(of)?,
        "iodepth" => options.iodepth = number(1, 4096)?,
        "numjobs" => options.numjobs = number(1, 256)?,
        "direct" => options.direct = number(0, 1)? == 1,
        "engine" => options.engine = engine(EngineChoice::from_str(value, true).map_err(bad)?),
        "tags" => options.tags = Some(number(1, 4096)?),
        "rwmixread" => options.mix_read_percent = number(0, 100)? as u8,
        "rate_iops" => {
            let rate = value.parse().ok().filter(|r: &f64| *r > 0.0 && *r <= 1e9);
            options.rate_iops = Some(rate.ok_or_else(|| bad("a rate above 0 is needed".into()))?);
        }
        "rate_process" => {
            let process = RateProcess::from_str(value, true).map_err(bad)?;
            options.poisson = process == RateProcess::Poisson;
        }
        "random_distribution" => options.distribution = distribution(value).map_err(of)?,
        "fsync" => options.fsync = number(0, u32::MAX)?,
        _ => return Err(ArmError::Unknown { key: key.to_owned(), near: None }),
    }
    Ok(())
}
