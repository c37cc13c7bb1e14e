//! From `KEY=VALUE` words to options and arms.

use crate::arm::{ArmSpec, Options, Setting};
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::target::Engine;
use seekwell_io::value::{ValueError, block_size, clip, distribution};
use seekwell_io::workload::Rw;
use seekwell_sys::{classify, nearest};
use seekwell_tune::setting::{is_key, registry};

/// Requests a plain NCQ drive takes: the pool of tags where no number is given.
const NCQ_TAGS: u32 = 32;

/// An option that may differ between arms.
struct Key {
    /// Its names; the first is that on the command line.
    names: &'static [&'static str],
    /// Sets a value, or says what would be accepted.
    set: fn(&mut Options, &str) -> Result<(), String>,
}

/// All of them, without the runtime: runs of unequal length would favour an arm.
static KEYS: [Key; 12] = [
    Key { names: &["rw"], set: |o, v| put(&mut o.rw, direction(v)) },
    Key { names: &["bs"], set: |o, v| put(&mut o.block_bytes, said(block_size(v))) },
    Key { names: &["iodepth"], set: |o, v| put(&mut o.iodepth, number(v, 1, 4096)) },
    Key { names: &["numjobs"], set: |o, v| put(&mut o.numjobs, number(v, 1, 256)) },
    Key { names: &["direct"], set: |o, v| put(&mut o.direct, number(v, 0, 1).map(|n| n == 1)) },
    Key { names: &["engine"], set: |o, v| put(&mut o.engine, engine(v)) },
    Key { names: &["tags", "host.tags"], set: tags },
    Key {
        names: &["rwmixread"],
        set: |o, v| put(&mut o.mix_read_percent, number(v, 0, 100).map(|n| n as u8)),
    },
    Key { names: &["rate_iops"], set: |o, v| put(&mut o.rate_iops, rate(v).map(Some)) },
    Key { names: &["rate_process"], set: |o, v| put(&mut o.poisson, is_poisson(v)) },
    Key {
        names: &["random_distribution"],
        set: |o, v| put(&mut o.distribution, said(distribution(v))),
    },
    Key { names: &["fsync"], set: |o, v| put(&mut o.fsync, number(v, 0, u32::MAX)) },
];

impl Key {
    fn of(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.names.contains(&name))
    }

    fn all_names() -> impl Iterator<Item = &'static str> {
        KEYS.iter().flat_map(|key| key.names.iter().copied())
    }

    fn take(&self, options: &mut Options, value: &str) -> Result<(), ArmError> {
        (self.set)(options, value).map_err(|why| ArmError::Value {
            key: self.names[0],
            value: clip(value),
            why,
        })
    }
}

fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

fn said<T>(value: Result<T, ValueError>) -> Result<T, String> {
    value.map_err(|e| e.to_string())
}

fn number(value: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = value.parse().ok().filter(|n: &u32| (least..=most).contains(n));
    number.ok_or_else(|| format!("a whole number from {least} to {most} is needed"))
}

fn rate(value: &str) -> Result<f64, String> {
    let rate = value.parse().ok().filter(|r: &f64| *r > 0.0 && *r <= 1e9);
    rate.ok_or_else(|| "a rate above 0 is needed".to_owned())
}

fn is_poisson(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "linear" => Ok(false),
        "poisson" => Ok(true),
        _ => Err("linear or poisson is needed".to_owned()),
    }
}

/// No rule, or one over a number of tags: `none`, `8`, `split`, `split:8`.
fn tags(options: &mut Options, value: &str) -> Result<(), String> {
    let (name, count) = match value.split_once(':') {
        Some((name, count)) => (name, Some(count)),
        None if value.starts_with(|c: char| c.is_ascii_digit()) => ("shared", Some(value)),
        None => (value, None),
    };
    if (name, count) == ("none", None) {
        return put(&mut options.tags, Ok(None));
    }
    let policy = TagPolicy::ALL.into_iter().find(|policy| policy.name() == name);
    let count = count.map_or(Ok(NCQ_TAGS), |count| number(count, 1, 4096));
    let (Some(policy), Ok(count)) = (policy, count) else {
        let all = TagPolicy::ALL.map(|policy| format!("{}:N", policy.name())).join(", ");
        return Err(format!("none, N, {all}, with N from 1 to 4096, is needed"));
    };
    (options.tags, options.tag_policy) = (Some(count), policy);
    Ok(())
}

/// Why the arms make no experiment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// Not `KEY=VALUE`.
    #[error("expected KEY=VALUE, not {word:?}")]
    NoValue { word: String },
    #[error(
        "there is no option or setting {key}{}",
        near.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default()
    )]
    Unknown { key: String, near: Option<String> },
    #[error("{key}={value}: {why}")]
    Value { key: &'static str, value: String, why: String },
    #[error("{key} is given twice for one arm")]
    Twice { key: String },
    #[error(
        "the two arms are the same: name what differs with --a and --b (or --a-cmd, --b-cmd, \
         --reboot-between), or measure the machine's noise with --aa"
    )]
    Same,
    #[error("{key} is a setting of a disk, and {target} has none: {why}")]
    NoDisk { key: String, target: String, why: String },
}

classify!(ArmError {
    Usage: NoValue, Unknown, Value, Twice, Same, NoDisk;
});

impl Options {
    /// A workload in one word: a direction and options, `randread,iodepth=32`; without a direction
    /// single random reads of 4 KiB.
    ///
    /// # Errors
    /// [`ArmError`] for an unknown option or a value that it does not take.
    pub fn parse(word: &str) -> Result<Self, ArmError> {
        let mut options = Self::default();
        for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or(("rw", part));
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }

    /// Sets one option by its name.
    ///
    /// # Errors
    /// [`ArmError`] for an unknown option or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ArmError> {
        Key::of(key).ok_or_else(|| unknown(key, Key::all_names()))?.take(self, value)
    }
}

fn direction(word: &str) -> Result<Rw, String> {
    let names = || Rw::ALL.map(|(rw, _)| rw.name()).join(", ");
    Rw::named(word).ok_or_else(|| format!("one of {} is needed", names()))
}

fn engine(word: &str) -> Result<Engine, String> {
    let names = || Engine::ALL.map(|(engine, _)| engine.name()).join(", ");
    Engine::named(word).ok_or_else(|| format!("one of {} is needed", names()))
}

impl ArmSpec {
    /// An arm from `KEY=VALUE` words. A key that is not an option is a setting of the disk, or a
    /// parameter of a modelled machine.
    ///
    /// # Errors
    /// [`ArmError`] for an unknown key, a value that it does not take, or a key given twice.
    pub fn parse(base: &Options, words: &[String], modelled: bool) -> Result<Self, ArmError> {
        let mut arm = Self::new(base.clone());
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .filter(|(key, value)| !key.is_empty() && !value.is_empty())
                .ok_or_else(|| ArmError::NoValue { word: word.chars().take(80).collect() })?;
            let option = Key::of(key);
            let name = option.map_or(key, |option| option.names[0]);
            if seen.contains(&name) {
                return Err(ArmError::Twice { key: name.to_owned() });
            }
            seen.push(name);
            match option {
                Some(option) => option.take(&mut arm.options, value)?,
                None if modelled || is_key(key) => {
                    arm.settings.push(Setting { key: key.to_owned(), value: value.to_owned() });
                }
                None => {
                    let settings = registry().map(|s| s.key);
                    return Err(unknown(key, Key::all_names().chain(settings)));
                }
            }
        }
        Ok(arm)
    }
}

fn unknown<'a>(key: &str, all: impl Iterator<Item = &'a str>) -> ArmError {
    let near = nearest(key, all).first().map(|near| (*near).to_owned());
    ArmError::Unknown { key: key.to_owned(), near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_a_number_a_policy_or_both() {
        let read = |text: &str| {
            let mut options = Options { tags: Some(3), ..Options::default() };
            tags(&mut options, text).map(|()| options.tags())
        };
        assert_eq!(read("none"), Ok(None));
        assert_eq!(read("8"), Ok(Some((TagPolicy::Shared, 8))));
        assert_eq!(read("shared"), Ok(Some((TagPolicy::Shared, NCQ_TAGS))));
        assert_eq!(read("split:16"), Ok(Some((TagPolicy::Split, 16))));
        assert_eq!(read("reads-first"), Ok(Some((TagPolicy::ReadsFirst, NCQ_TAGS))));
        for wrong in ["", "0", "4097", "none:4", "halves", "split:", "split:x", "8:split"] {
            assert!(read(wrong).is_err_and(|e| e.contains("split:N")), "{wrong}");
        }
    }
}
