//! What of jobs goes into the run document: a phase for each job, or for each group that reports
//! together, and one for what is read back.

use super::group::{Group, groups};
use super::media::Media;
use super::member::{MemberError, Played, engine_name};
use super::plain::plain;
use super::steady;
use super::{Plan, check};
use crate::replay::{fidelity as in_document, judged};
use seekwell_access::OutputFile;
use seekwell_checkup::{detail, is_only_short, metrics, summarize};
use seekwell_io::histogram::Histogram;
use seekwell_io::measurement::{FailureKind, Measurement, Stopped};
use seekwell_io::request::Op;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_job::job::{Job, Kind};
use seekwell_job::layout::There;
use seekwell_job::play::data::Bad;
use seekwell_job::play::source::Cut;
use seekwell_job::play::source::failure::{MISMATCH, is_ignored};
use seekwell_job::play::zones::ChangeTimes;
use seekwell_runs::{
    Detail, DeviceCount, JobFile, JobWork, Mismatch, Phase, Repeat, RepeatDetail, Work,
};
use seekwell_sys::path_text;
use seekwell_trace::replay::{Fidelity, Skipped};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// The phases of one group: what its jobs do, and what is read back.
pub struct Phases {
    /// Which jobs.
    pub group: Group,
    /// Where the main phase is in the document.
    pub main: usize,
    /// Where reading back is, where that is done.
    pub back: Option<usize>,
}

/// What names phases.
pub struct Naming<'a> {
    /// The jobs, and where their requests go.
    pub plan: &'a Plan<'a, 'a>,
    /// What carries out asynchronous engines.
    pub engine: Engine,
    /// What was opened.
    pub media: &'a Media,
}

impl Naming<'_> {
    /// All phases, none of them run.
    pub fn phases(&self) -> (Vec<Phases>, Vec<Phase>) {
        let (mut all, mut phases) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for group in groups(&self.plan.parsed.jobs) {
            let jobs: Vec<&Job> = group.iter().map(|n| &self.plan.parsed.jobs[*n]).collect();
            let main = phases.len();
            let name = fresh(&slug(&jobs[0].name), &mut names);
            phases.push(self.phase(&group, name.clone(), title(&jobs), false));
            let back = jobs.iter().any(|j| j.remembers()).then(|| {
                let title = format!("{}: reading back what was written", names_of(&jobs));
                phases.push(self.phase(
                    &group,
                    fresh(&format!("{name}-verify"), &mut names),
                    title,
                    true,
                ));
                phases.len() - 1
            });
            all.push(Phases { group, main, back });
        }
        (all, phases)
    }

    fn phase(&self, group: &Group, name: String, title: String, reads_back: bool) -> Phase {
        let jobs: Vec<&Job> = group.iter().map(|n| &self.plan.parsed.jobs[*n]).collect();
        let mut files: Vec<JobFile> = Vec::new();
        let mut seen = BTreeSet::new();
        for member in self.plan.layout.members.iter().filter(|m| group.contains(&m.job)) {
            for used in member.uses.iter().filter(|u| seen.insert(u.place)) {
                let place = &self.plan.layout.places[used.place];
                files.push(JobFile {
                    path: path_text(&place.path),
                    kind: match (place.there, &place.written_by) {
                        (There::Nothing, _) => "temporary",
                        (There::Device, Some(_)) => "destroyed",
                        (There::File | There::Device, _) => "read-only",
                        (There::Null, _) => "null",
                        (There::Modelled, _) => "modelled",
                    }
                    .into(),
                    size_bytes: match place.there {
                        There::File | There::Device => place.size_bytes,
                        There::Nothing | There::Null | There::Modelled => place.end,
                    },
                });
            }
        }
        let mut warnings: Vec<String> = Vec::new();
        for number in group {
            let job = &self.plan.parsed.jobs[*number];
            let said = check::said(&self.plan.parsed, job);
            let opened = check::of_media(job, *number, &self.plan.layout, self.media);
            for text in said.into_iter().chain(opened) {
                if !warnings.contains(&text) {
                    warnings.push(text);
                }
            }
        }
        Phase {
            name,
            title,
            workload: Work::Job(Box::new(JobWork {
                jobs: jobs.iter().map(|j| j.name.clone()).collect(),
                job_file: self.plan.file(),
                group: jobs[0].group.number,
                clones: jobs.iter().map(|j| j.clones).sum(),
                engine: match self.plan.model {
                    Some(_) => "model",
                    None => engine_name(jobs[0], self.engine),
                }
                .into(),
                reads_back,
                plain: match group[..] {
                    [number] if !reads_back => {
                        let region = files.iter().map(|file| file.size_bytes).sum();
                        plain(&self.plan.parsed.jobs, number, region, self.plan.request.seed)
                    }
                    _ => None,
                },
                options: jobs[0].options.clone(),
                files,
                warnings: if reads_back { Vec::new() } else { warnings },
            })),
            skipped: Some(seekwell_runs::Skipped::NotReached),
            cut_short: None,
            repeats: Vec::new(),
            metrics: BTreeMap::new(),
        }
    }
}

fn names_of(jobs: &[&Job]) -> String {
    jobs.iter().map(|j| j.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// What a group does, in words.
fn title(jobs: &[&Job]) -> String {
    let job = jobs[0];
    if let Some(replay) = &job.replay {
        let file = |path: &std::path::PathBuf| {
            path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        let files: Vec<String> = replay.files.iter().map(file).collect();
        let how = if replay.no_stall { "as fast as it goes" } else { "at its recorded times" };
        let depth = job.engine.depth;
        return format!("{}: replay of {} {how}, depth {depth}", names_of(jobs), files.join(", "));
    }
    let order = if job.access.random { "random" } else { "sequential" };
    let what = match job.access.kind {
        Kind::Read => format!("{order} reads"),
        Kind::Write => format!("{order} writes"),
        Kind::Trim => format!("{order} discards"),
        Kind::ReadWrite => format!("{order} mix, {} % reads", job.access.read_percent),
        Kind::TrimWrite => format!("{order} discards, each followed by a write"),
    };
    let clones: u32 = jobs.iter().map(|j| j.clones).sum();
    let clones = if clones == 1 { String::new() } else { format!(", {clones} clones") };
    let bs = job.options.get("bs").map(String::as_str).unwrap_or_default();
    let more = if jobs.len() > 1 { " and others" } else { "" };
    format!("{}: {what} of {bs}, depth {}{clones}{more}", names_of(jobs), job.engine.depth)
}

/// Letters, digits and dashes of a name, so that a phase can be typed.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.chars().map(plain).take(60).collect();
    if name.is_empty() { "job".into() } else { name }
}

/// A name that no phase has yet.
fn fresh(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let found = std::iter::once(name.to_owned()).chain(numbered).find(|n| !names.contains(n));
    let found = found.unwrap_or_else(|| name.to_owned());
    names.insert(found.clone());
    found
}

/// What a stage gave to one group.
pub struct Given<'a> {
    /// What its clones gave, with their numbers in the layout.
    pub played: Vec<(usize, &'a Result<Played, MemberError>)>,
    /// What the devices counted during the stage.
    pub device: Option<DeviceCount>,
    /// Its part of the stage's requests, for what is counted by process.
    pub share: f64,
    /// Of this run.
    pub seed: u64,
}

/// A repeat of the main phase and one of reading back, with their histograms.
pub fn repeats(naming: &Naming<'_>, phases: &Phases, given: &Given<'_>) -> (Kept, Option<Kept>) {
    let main = given.played.iter().filter_map(|(i, p)| Some((*i, &p.as_ref().ok()?.main)));
    let mut kept = Kept::of(naming, main, given);
    let mut back = phases.back.map(|_| {
        let back = |p: &'_ &Result<Played, MemberError>| p.as_ref().ok()?.back.as_ref().map(|_| ());
        let read = given.played.iter().filter(|(_, p)| back(p).is_some());
        let read = read.filter_map(|(i, p)| Some((*i, p.as_ref().ok()?.back.as_ref()?)));
        let mut kept = Kept::of(naming, read, given);
        kept.repeat.device = None;
        kept
    });
    replayed(naming, given, &mut kept.repeat);
    for (member, played) in &given.played {
        match played {
            Ok(played) => {
                let of = naming.of(*member);
                notes(played, &mut kept.repeat);
                tolerate(of.job, &played.main, &mut kept.repeat);
                let read_back = played.back.as_ref().zip(back.as_mut());
                let to = match read_back {
                    Some((measured, back)) => {
                        tolerate(of.job, measured, &mut back.repeat);
                        &mut back.repeat
                    }
                    None => &mut kept.repeat,
                };
                differ(&of, played, to);
            }
            Err(error) => kept.repeat.invalid = Some(error.to_string().into()),
        }
    }
    zones_changed(given, &mut kept.repeat);
    (kept, back)
}

/// How often zones were reset and finished, and how long that took.
fn zones_changed(given: &Given<'_>, repeat: &mut Repeat) {
    let played = given.played.iter().filter_map(|(_, played)| played.as_ref().ok());
    let mut followed = played.filter_map(|played| played.zone_times.as_ref()).peekable();
    if followed.peek().is_none() {
        return;
    }
    let mut all = ChangeTimes::default();
    followed.for_each(|times| all.merge(times));
    let ways = [("reset", "reset", &all.resets), ("finish", "finished", &all.finishes)];
    for (verb, done, times) in ways {
        repeat.values.insert(format!("{verb}_zones"), times.count() as f64);
        let Some((mean, max)) = times.mean_ns().zip(times.max()) else { continue };
        repeat.values.insert(format!("{verb}_zone_ns_mean"), mean);
        repeat.values.insert(format!("{verb}_zone_ns_max"), max.0 as f64);
        let (count, each) = (times.count(), Nanos(mean.round() as u64));
        repeat.notes.push(format!("zones were {done} {count} times, {each} each on average"));
    }
}

/// How far the clones that played traces were from them, all together.
fn replayed(naming: &Naming<'_>, given: &Given<'_>, repeat: &mut Repeat) {
    let ended = given.played.iter();
    let ended = ended.filter_map(|(i, p)| Some((*i, p.as_ref().ok()?.replayed.as_ref()?)));
    let mut sum: Option<(Fidelity, Skipped)> = None;
    for (member, ended) in ended {
        if let Some(error) = &ended.error {
            repeat.invalid = Some(error.to_string().into());
        }
        match &mut sum {
            None => sum = Some((ended.fidelity.clone(), ended.skipped)),
            Some((fidelity, skipped)) => {
                fidelity.merge(&ended.fidelity);
                skipped.merge(&ended.skipped);
            }
        }
        let (path, _) = naming.of(member).place(0);
        if repeat.invalid.is_none() {
            repeat.invalid = judged(&ended.fidelity, &path);
        }
    }
    repeat.fidelity = sum.map(|(fidelity, skipped)| in_document(&fidelity, &skipped));
}

/// A repeat with its histograms, where it measured anything.
pub struct Kept {
    /// The numbers.
    pub repeat: Repeat,
    sum: Option<Measurement>,
}

/// A clone, its job and its files.
struct Of<'a> {
    job: &'a Job,
    member: usize,
    naming: &'a Naming<'a>,
}

impl Naming<'_> {
    fn of(&self, member: usize) -> Of<'_> {
        Of {
            job: &self.plan.parsed.jobs[self.plan.layout.members[member].job],
            member,
            naming: self,
        }
    }
}

impl Kept {
    fn of<'m>(
        naming: &Naming<'_>,
        all: impl Iterator<Item = (usize, &'m Measurement)>,
        given: &Given<'_>,
    ) -> Self {
        let mut sum: Option<Measurement> = None;
        for (member, measured) in all {
            let mut measured = measured.clone();
            if let Some(failure) = &mut measured.first_failure {
                failure.offset = naming.of(member).place(failure.offset).1;
            }
            match &mut sum {
                None => sum = Some(measured),
                Some(sum) => sum.merge(measured),
            }
        }
        let Some(measured) = &sum else {
            return Self { repeat: Repeat::new(given.seed, Stopped::Finished), sum };
        };
        let mut repeat = summarize(measured, given.device, given.seed);
        let part = |time: Nanos| Nanos((time.0 as f64 * given.share) as u64);
        (repeat.cpu_user_ns, repeat.cpu_system_ns) =
            (part(repeat.cpu_user_ns), part(repeat.cpu_system_ns));
        Self { repeat, sum }
    }

    /// Puts it into the document.
    pub fn keep(self, phase: &mut Phase, details: &mut Detail, percentiles: &[f64]) {
        let Self { mut repeat, sum } = self;
        let Some(sum) = sum else {
            let why = repeat.invalid.as_deref().unwrap_or("there was nothing to do");
            phase.skipped = Some(why.into());
            return;
        };
        let number = phase.repeats.len() as u32;
        if sum.requests() > 0 {
            let kept: RepeatDetail = detail(&phase.name, number, &sum);
            details.repeats.push(kept);
        }
        repeat.values.extend(asked_percentiles(&sum, percentiles));
        if is_only_short(&repeat) {
            repeat.notes.push(done(&sum));
        }
        phase.skipped = None;
        phase.repeats.push(repeat);
        phase.metrics = metrics(&phase.repeats);
    }
}

/// What was done, for jobs that are over before there is a rate.
fn done(sum: &Measurement) -> String {
    let used = Op::ALL.into_iter().filter(|op| sum.op(*op).requests > 0);
    let one = |op: Op| {
        let of = sum.op(op);
        match op {
            Op::Flush => format!("{} flushes", of.requests),
            _ => format!("{} {} requests of {} bytes together", of.requests, op.name(), of.bytes),
        }
    };
    format!("done: {} in {}", used.map(one).collect::<Vec<_>>().join(", "), sum.elapsed)
}

/// Percentiles that were asked for by name, if there are enough requests for them.
fn asked_percentiles(sum: &Measurement, percentiles: &[f64]) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for op in Op::ALL {
        let service: &Histogram = &sum.op(op).service;
        for percentile in percentiles.iter().filter(|_| service.count() > 0) {
            if let Some(ns) = service.quantile(percentile / 100.0) {
                let digits = percentile.to_string().replace('.', "_");
                out.push((format!("{}_latency_p{digits}_ns", op.name()), ns.0 as f64));
            }
        }
    }
    out
}

/// Failures that a job goes on after do not make its figures invalid; they are shown beside them.
fn tolerate(job: &Job, measured: &Measurement, repeat: &mut Repeat) {
    let Some(first) = measured.first_failure else { return };
    let is_mismatch = first.kind == FailureKind::Errno { errno: MISMATCH };
    if measured.stopped == Stopped::Finished && !is_mismatch {
        if !is_ignored(&job.errors, &first) {
            let why = repeat.invalid.take().map(|why| why.to_string()).unwrap_or_default();
            repeat.notes.push(format!("requests failed and are in none of the figures: {why}"));
        }
        let mut clean = measured.clone();
        (clean.failed, clean.first_failure) = (0, None);
        repeat.invalid = summarize(&clean, None, repeat.seed).invalid;
    }
}

/// What a clone has to say beside its figures.
fn notes(played: &Played, repeat: &mut Repeat) {
    let cut = played.cut.map(|cut| match cut {
        Cut::Slow(slow) => {
            let (op, unit, found, needed) = (slow.op.name(), slow.unit, slow.found, slow.needed);
            format!("too slow: {op} {found} {unit}, and at least {needed} were asked for")
        }
        Cut::Late { op, took } => format!("a {} took {took}, longer than max_latency", op.name()),
        Cut::Zone(unchanged) => unchanged.to_string(),
    });
    if let Some(why) = cut {
        repeat.invalid = Some(why.into());
    }
    if let Some(found) = played.found_depth {
        let text = match found {
            Some(0) => "latency_target is not met even with one request at a time".to_owned(),
            Some(depth) => format!("latency_target is met up to a depth of {depth}"),
            None => "latency_target: the run ended before a depth was found".to_owned(),
        };
        repeat.notes.push(text);
        if let Some(depth) = found {
            repeat.values.insert("latency_target_depth_requests".into(), f64::from(depth));
        }
    }
    if let Some(steady) = &played.steady {
        let found = steady::state(&steady.verdict());
        let text = steady::told(&found);
        if !repeat.notes.contains(&text) {
            repeat.notes.push(text);
        }
        repeat.steady_state = Some(found);
    }
    match played.end_sync {
        Some(Ok(took)) => {
            let longest = repeat.values.entry("end_fsync_ns".into()).or_insert(0.0);
            *longest = longest.max(took.0 as f64);
        }
        Some(Err(errno)) => {
            let why = std::io::Error::from(errno);
            repeat.invalid = Some(format!("syncing at the end failed: {why}").into());
        }
        None => {}
    }
    if played.checked > 0 {
        *repeat.values.entry("verified_requests".into()).or_insert(0.0) += played.checked as f64;
    }
}

/// Blocks that did not verify: the repeat is not valid, and says where the first is.
fn differ(of: &Of<'_>, played: &Played, repeat: &mut Repeat) {
    if played.bad_count == 0 {
        return;
    }
    let found: Vec<Mismatch> = played.bad.iter().map(|bad| mismatch(of, bad)).collect();
    if let Some(first) = found.first() {
        let at = first.differs_at.map_or(String::new(), |at| format!(" (from byte {at})"));
        let blocks = match played.bad_count {
            1 => "1 block does not verify".to_owned(),
            n => format!("{n} blocks do not verify"),
        };
        repeat.invalid = Some(
            format!(
                "{blocks}; {} of the one at byte {} of {}{at} is {}, expected {}",
                first.what, first.offset, first.path, first.found, first.expected
            )
            .into(),
        );
    }
    let room = seekwell_job::play::data::KEPT.saturating_sub(repeat.mismatches.len());
    repeat.mismatches.extend(found.into_iter().take(room));
    for bad in &played.bad {
        repeat.notes.extend(dump(of, bad));
    }
}

fn mismatch(of: &Of<'_>, bad: &Bad) -> Mismatch {
    let (path, offset) = of.place(bad.address);
    Mismatch {
        path,
        offset,
        len: bad.len,
        differs_at: bad.difference.at.map(|at| offset + at as u64),
        what: bad.difference.what.into(),
        expected: bad.difference.expected.clone(),
        found: bad.difference.found.clone(),
    }
}

impl Of<'_> {
    /// The path and the offset in it of one of the clone's own numbers.
    fn place(&self, address: u64) -> (String, u64) {
        let member = &self.naming.plan.layout.members[self.member];
        let (file, offset) =
            seekwell_job::play::address::Address::new(member.uses.len()).split(address);
        let place = &self.naming.plan.layout.places[member.uses[file as usize].place];
        (path_text(&place.path), offset)
    }
}

/// Writes what was read and what was expected to new files beside the caller.
fn dump(of: &Of<'_>, bad: &Bad) -> Option<String> {
    let (received, expected) = bad.data.as_ref()?;
    let (path, offset) = of.place(bad.address);
    let name = Path::new(&path).file_name()?.to_string_lossy().into_owned();
    let write = |kind: &str, bytes: &[u8]| {
        let to = format!("{name}.{offset}.{kind}");
        let file = OutputFile::create(Path::new(&to), false);
        let written = file.and_then(|file| file.filled(|out| out.write_all(bytes)));
        match written.and_then(OutputFile::finish_private) {
            Ok(()) => to,
            Err(error) => format!("nothing ({error})"),
        }
    };
    let received = write("received", received);
    let expected = expected.as_ref().map_or_else(
        || "nothing, because another run wrote the block".to_owned(),
        |bytes| write("expected", bytes),
    );
    Some(format!("verify_dump wrote {received} and {expected}"))
}
