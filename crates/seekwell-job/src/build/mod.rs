//! From sections of options to jobs.

mod asked;
mod data;
mod observe;
mod pace;
mod place;
mod unused;
mod what;

use crate::effects;
use crate::error::{Asking, JobError, shortened};
use crate::job::{Job, JobFile, Origin, Warning};
use crate::options::{self, Spec, Takes, Tier};
use crate::surroundings::Surroundings;
use crate::syntax::{Section, Written, expand};
use crate::value;
use asked::{Asked, Given, Options};
use std::collections::BTreeMap;

/// Jobs with their clones in one run, as in fio.
const MOST_CLONES: u64 = 4096;
/// Files of all jobs and clones together.
const MOST_FILES: u64 = 1 << 18;
/// Bytes of options over all jobs, those of `[global]` counted for each job.
const MOST_OPTION_BYTES: u64 = 32 << 20;

/// Turns the sections of one file into jobs, which [`relate`] then ties together.
pub(crate) fn build(
    sections: &[Section],
    file: &str,
    around: &Surroundings,
) -> Result<JobFile, JobError> {
    let mut global = Options::new();
    let mut out = JobFile::default();
    let mut limits = Limits::default();
    let mut order = 0;
    for section in sections {
        let mut options = if section.global() { Options::new() } else { global.clone() };
        for written in &section.options {
            order += 1;
            let given = admit(&section.name, written, order, around)?;
            lay(if section.global() { &mut global } else { &mut options }, given);
        }
        if section.global() {
            continue;
        }
        limits.options(section, &options)?;
        let asked = Asked::new(&section.name, &section.at, &options)?;
        let job = job(&asked, &options, around)?;
        limits.job(section, &job)?;
        out.warnings.extend(effects::of(&job, &warned(&job, &options)));
        out.jobs.push(job);
    }
    if out.jobs.is_empty() {
        return Err(JobError::NoJob { file: file.to_owned() });
    }
    Ok(out)
}

/// Sums over all jobs that bound memory and the number of threads.
#[derive(Default)]
struct Limits {
    clones: u64,
    files: u64,
    /// Bytes of options of all.
    bytes: u64,
}

impl Limits {
    /// Counts the options of one more job.
    fn options(&mut self, section: &Section, options: &Options) -> Result<(), JobError> {
        self.bytes += options.values().map(|given| given.value.len() as u64 + 64).sum::<u64>();
        let why = "those of [global] counted for each job";
        within(&section.at, "bytes of options", self.bytes, MOST_OPTION_BYTES, why)
    }

    /// Counts one more job.
    fn job(&mut self, section: &Section, job: &Job) -> Result<(), JobError> {
        let clones = u64::from(job.clones);
        self.clones += clones;
        self.files += clones * u64::from(job.files.count);
        let why = "each is a thread; fio's bound is the same";
        within(&section.at, "jobs with their clones", self.clones, MOST_CLONES, why)?;
        let why = "each is opened and laid out before the run";
        within(&section.at, "files of all jobs and clones", self.files, MOST_FILES, why)
    }
}

/// Refuses more than `most`.
fn within(
    at: &Origin,
    what: &'static str,
    found: u64,
    most: u64,
    why: &'static str,
) -> Result<(), JobError> {
    if found <= most {
        return Ok(());
    }
    Err(JobError::TooMany { at: at.clone(), what, found, most, why })
}

/// Looks an option up, replaces its variables, and refuses it if it is one to be refused.
fn admit(
    job: &str,
    written: &Written,
    order: u32,
    around: &Surroundings,
) -> Result<Given, JobError> {
    let Written { name, value, at } = written;
    let asking = |option: &str| Asking::new(at, job, option, value.as_deref().unwrap_or_default());
    let refused =
        |option: &str, why: &str| JobError::Refused { asking: asking(option), why: why.to_owned() };
    let Some(spec) = options::find(name) else {
        return Err(match options::command_option(name) {
            Some(why) => refused(name, why),
            None => JobError::UnknownOption {
                at: at.clone(),
                job: shortened(job),
                option: shortened(name),
                nearest: options::near(name),
            },
        });
    };
    if let Tier::Refused(why) = spec.tier {
        return Err(refused(spec.name, why));
    }
    let needs =
        |needed: &str| JobError::Value { asking: asking(spec.name), needed: needed.to_owned() };
    let text = match (value, spec.takes) {
        (Some(text), _) => text,
        (None, Takes::Flag) => "1",
        (None, _) if may_be_empty(spec) => "",
        (None, _) => return Err(needs("a value after =")),
    };
    let (value, keyword) = expand(text, around)
        .ok_or_else(|| needs("at most 8192 bytes once variables are replaced"))?;
    if value.trim().is_empty() && !may_be_empty(spec) {
        return Err(needs("a value after ="));
    }
    Ok(Given { spec, value, keyword, at: at.clone(), order })
}

/// Whether nothing is a value: logs are then named after the job, and words for people may be none.
fn may_be_empty(spec: &Spec) -> bool {
    spec.name == "description" || (spec.name.starts_with("write_") && spec.name.ends_with("_log"))
}

/// Adds an option to those that hold. A later one takes the place of an earlier, but for kinds of
/// request that it leaves out.
fn lay(options: &mut Options, mut given: Given) {
    if given.spec.takes == Takes::Triple
        && let Some(earlier) = options.get(given.spec.name)
        && let Some(both) = value::overlay(&earlier.value, &given.value)
    {
        given.keyword |= earlier.keyword;
        given.value = both;
    }
    options.insert(given.spec.name, given);
}

/// Builds one job.
fn job(asked: &Asked<'_>, options: &Options, around: &Surroundings) -> Result<Job, JobError> {
    let access = what::access(asked)?;
    let engine = what::engine(asked)?;
    let blocks = what::blocks(asked)?;
    let align_bytes = what::alignment(asked, &access, &blocks)?;
    let verify = data::verify(asked, &access, &blocks, around)?;
    let dedupe = data::dedupe(asked, blocks.write.min())?;
    let zones = place::zones(asked)?;
    let job = Job {
        name: asked.text("name").unwrap_or_else(|| asked.job.to_owned()),
        origin: asked.origin.clone(),
        clones: asked.count("numjobs", 0, 1)?.max(1),
        group: what::group(asked)?,
        access,
        unaligned: asked.flag("bs_unaligned", false)?,
        files: place::files(asked)?,
        extent: place::extent(asked)?,
        timing: what::timing(asked)?,
        random: pace::random(asked, (&access, &blocks), &align_bytes)?,
        rate: pace::rate(asked)?,
        thinktime: pace::thinktime(asked)?,
        thinkcycles: asked.count("thinkcycles", 0, 0)?,
        engine,
        durability: what::durability(asked)?,
        buffers: data::buffers(asked, &access, (verify.is_some(), dedupe), around)?,
        verify,
        strided: zones.0,
        zoned: zones.1,
        latency_target: observe::latency_target(asked)?,
        max_latency: observe::max_latency(asked)?,
        flow: pace::flow(asked)?,
        steady_state: observe::steady_state(asked)?,
        report: observe::report(asked)?,
        logs: observe::logs(asked)?,
        errors: observe::errors(asked)?,
        exit: what::exit(asked)?,
        replay: place::replay(asked, access.kind)?,
        record: asked.text("write_iolog").map(Into::into),
        hints: pace::hints(asked)?,
        options: BTreeMap::new(),
        blocks,
        align_bytes,
    };
    place::check(asked, &job)?;
    unused::check(asked)?;
    Ok(Job { options: told(&job, options), ..job })
}

/// The options as given, and the four that readers of results always look for.
fn told(job: &Job, options: &Options) -> BTreeMap<String, String> {
    let mut told: BTreeMap<String, String> =
        options.iter().map(|(name, given)| ((*name).to_owned(), given.value.clone())).collect();
    let mut always = |name: &str, value: String| {
        told.entry(name.to_owned()).or_insert(value);
    };
    always("rw", "read".to_owned());
    always("bs", what::blocks_told(&job.blocks));
    always("iodepth", "1".to_owned());
    always("numjobs", "1".to_owned());
    told
}

/// Names of options that hold, with the reasons known from the table alone why some make no
/// difference.
fn warned(job: &Job, options: &Options) -> Vec<(&'static str, Option<Warning>)> {
    let warning = |given: &Given| {
        let why = match given.spec.tier {
            Tier::Inert(why) => why.to_owned(),
            _ if given.spec.engines.is_empty() => return None,
            _ if given.spec.engines.contains(&job.engine.kind.name()) => return None,
            _ => {
                let engines = given.spec.engines.join(", ");
                format!("only {engines} has it, and the engine is {}", job.engine.kind.name())
            }
        };
        Some(Warning { job: job.name.clone(), option: given.spec.name.to_owned(), why })
    };
    options.values().map(|given| (given.spec.name, warning(given))).collect()
}

/// What depends on more than one job: reporting groups, `wait_for`, `exitall`.
pub(crate) fn relate(jobs: &mut [Job]) -> Result<(), JobError> {
    let mut number = 0;
    for (n, job) in jobs.iter_mut().enumerate() {
        if n > 0 && (job.group.stonewall || job.group.new_group) {
            number += 1;
        }
        job.group.number = number;
    }
    // fio keeps one such switch for the whole run.
    if jobs.iter().any(|job| job.exit.all) {
        jobs.iter_mut().for_each(|job| job.exit.all = true);
    }
    for (n, job) in jobs.iter().enumerate() {
        let Some(name) = &job.group.wait_for else { continue };
        let before = jobs[..n].iter().filter(|other| other.name == *name).count();
        if before != 1 {
            return Err(JobError::Value {
                asking: Asking::new(&job.origin, &job.name, "wait_for", name),
                needed: "the name of exactly one job above this one".to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_is_done_is_asked_for() {
        let origin = Origin { file: "f".to_owned(), line: 1 };
        let options = Options::new();
        let asked = Asked::new("a", &origin, &options).unwrap();
        job(&asked, &options, &Surroundings::fixed()).unwrap();
        let seen = asked.seen.borrow();
        let done = |s: &&Spec| s.tier == Tier::Done;
        let ignored: Vec<&str> =
            options::specs().filter(done).map(|s| s.name).filter(|n| !seen.contains(n)).collect();
        assert_eq!(ignored, Vec::<&str>::new(), "these would be ignored silently");
    }
}
