//! A plain job from `KEY=VALUE` words.

use super::PlainJob;
use crate::options::{self, Tier};
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::target::Engine;
use seekwell_io::value::{ValueError, block_size, clip, distribution};
use seekwell_io::workload::Rw;
use seekwell_sys::{classify, did_you_mean, nearest};

/// Requests a plain NCQ drive takes: the pool of tags if no number is given.
const NCQ_TAGS: u32 = 32;

/// An option of a plain job.
struct Key {
    /// As on the command line.
    name: &'static str,
    /// Sets a value, or says what would be accepted.
    set: fn(&mut PlainJob, &str) -> Result<(), String>,
}

/// All of them, without the runtime: runs of unequal length would favour an arm.
static KEYS: [Key; 15] = [
    Key { name: "rw", set: |o, v| put(&mut o.rw, direction(v)) },
    Key { name: "bs", set: |o, v| put(&mut o.block_bytes, said(block_size(v))) },
    Key { name: "iodepth", set: |o, v| put(&mut o.iodepth, number(v, 1, 4096)) },
    Key { name: "numjobs", set: |o, v| put(&mut o.numjobs, number(v, 1, 256)) },
    Key { name: "direct", set: |o, v| put(&mut o.direct, flag(v)) },
    Key { name: "atomic", set: |o, v| put(&mut o.flags.atomic, flag(v)) },
    Key { name: "uncached", set: |o, v| put(&mut o.flags.uncached, flag(v)) },
    Key { name: "hipri", set: |o, v| put(&mut o.flags.polled, flag(v)) },
    Key { name: "engine", set: |o, v| put(&mut o.engine, engine(v)) },
    Key { name: "tags", set: tags },
    Key {
        name: "rwmixread",
        set: |o, v| put(&mut o.mix_read_percent, number(v, 0, 100).map(|n| n as u8)),
    },
    Key { name: "rate_iops", set: |o, v| put(&mut o.rate_iops, rate(v).map(Some)) },
    Key { name: "rate_process", set: |o, v| put(&mut o.poisson, is_poisson(v)) },
    Key {
        name: "random_distribution",
        set: |o, v| put(&mut o.distribution, said(distribution(v))),
    },
    Key { name: "fsync", set: |o, v| put(&mut o.fsync, number(v, 0, u32::MAX)) },
];

impl Key {
    fn of(name: &str) -> Option<&'static Self> {
        let name = canonical(name);
        KEYS.iter().find(|key| key.name == name)
    }
}

/// An option's own name: that of fio's for its other names, `iodepth` for `depth`, `tags` for a
/// machine's key.
pub fn canonical(name: &str) -> &str {
    match name {
        "depth" => "iodepth",
        "host.tags" => "tags",
        name => options::find(name).map_or(name, |spec| spec.name),
    }
}

/// The options of plain jobs, without the runtime: runs of unequal length would favour one.
pub fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
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

fn flag(value: &str) -> Result<bool, String> {
    number(value, 0, 1).map(|n| n == 1)
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
fn tags(job: &mut PlainJob, value: &str) -> Result<(), String> {
    let (name, count) = match value.split_once(':') {
        Some((name, count)) => (name, Some(count)),
        None if value.starts_with(|c: char| c.is_ascii_digit()) => ("shared", Some(value)),
        None => (value, None),
    };
    if (name, count) == ("none", None) {
        return put(&mut job.tags, Ok(None));
    }
    let policy = TagPolicy::ALL.into_iter().find(|policy| policy.name() == name);
    let count = count.map_or(Ok(NCQ_TAGS), |count| number(count, 1, 4096));
    let (Some(policy), Ok(count)) = (policy, count) else {
        let all = TagPolicy::ALL.map(|policy| format!("{}:N", policy.name())).join(", ");
        return Err(format!("none, N, {all}, with N from 1 to 4096, is needed"));
    };
    (job.tags, job.tag_policy) = (Some(count), policy);
    Ok(())
}

/// Why a word says nothing of a plain job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlainError {
    /// No option has this name.
    #[error(
        "there is no option {key}{}",
        did_you_mean(near.as_ref())
    )]
    Unknown {
        /// As typed.
        key: String,
        /// The nearest name.
        near: Option<String>,
    },
    /// fio has it.
    #[error("{key} cannot be given here: {why}; {} can", every_name())]
    NotPlain {
        /// As typed.
        key: String,
        /// Half a sentence.
        why: &'static str,
    },
    /// The option does not take this value.
    #[error("{key}={value}: {why}")]
    Value {
        /// Its own name.
        key: &'static str,
        /// As typed, shortened.
        value: String,
        /// What is needed.
        why: String,
    },
}

classify!(PlainError: Usage);

fn every_name() -> String {
    names().collect::<Vec<_>>().join(", ")
}

impl PlainJob {
    /// A job in one word: a direction and options, `randread,iodepth=32`; without a direction
    /// single random reads of 4 KiB.
    ///
    /// # Errors
    /// [`PlainError`] for an unknown option or a value that it does not take.
    pub fn parse(word: &str) -> Result<Self, PlainError> {
        let mut job = Self::default();
        for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or(("rw", part));
            job.set(key.trim(), value.trim())?;
        }
        Ok(job)
    }

    /// Sets one option by any of its names.
    ///
    /// # Errors
    /// [`PlainError`] for an unknown option or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PlainError> {
        let Some(found) = Key::of(key) else {
            let key = clip(key);
            return Err(match options::find(&key).map(|spec| spec.tier) {
                Some(Tier::Done) => PlainError::NotPlain { key, why: "it needs a job file" },
                Some(Tier::Inert(why) | Tier::Refused(why)) => PlainError::NotPlain { key, why },
                None => {
                    let near = nearest(&key, names()).first().map(|near| (*near).to_owned());
                    PlainError::Unknown { key, near }
                }
            });
        };
        let value_error = |why| PlainError::Value { key: found.name, value: clip(value), why };
        (found.set)(self, value).map_err(value_error)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_goes_by_fios_names_and_says_why_it_cannot_be_given() {
        let job = PlainJob::parse("readwrite=randrw,blocksize=8k,depth=4,host.tags=2").unwrap();
        assert_eq!((job.rw, job.block_bytes, job.iodepth), (Rw::RandRw, 8192, 4));
        assert_eq!(job.tags(), Some((TagPolicy::Shared, 2)));
        let error = |word| PlainJob::parse(word).unwrap_err().to_string();
        assert!(error("thinktime=1ms").contains("thinktime cannot be given here: it needs a job"));
        assert!(error("ioscheduler=none").contains("`seekwell tune` changes the scheduler"));
        assert_eq!(error("iodept=4"), "there is no option iodept; did you mean iodepth?");
        assert!(error("iodepth=0").contains("a whole number from 1 to 4096"));
    }

    #[test]
    fn tags_are_a_number_a_policy_or_both() {
        let read = |text: &str| {
            let mut job = PlainJob { tags: Some(3), ..PlainJob::default() };
            tags(&mut job, text).map(|()| job.tags())
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
