//! fio job files, run as they are: read, checked, laid out, opened, measured stage by stage.

mod check;
mod error;
mod group;
mod logs;
mod media;
mod member;
mod modelled;
mod noted;
mod plain;
mod record;
mod replay;
mod requests;
mod stage;
mod steady;
mod trace;
mod zones;

pub use error::JobRunError;
pub(crate) use plain::plain;

use crate::described::{self, credits_last};
use crate::executor::device_count;
use crate::{
    Finished, Host, Purpose, RunError, Session, Watcher, is_modelled, look, machine, model,
};
use media::Media;
use member::Played;
use modelled::Modelled;
use record::{Given, Naming, Phases};
use seekwell_access::Consent;
use seekwell_inspect::Inspection;
use seekwell_io::clock::Clock;
use seekwell_io::units::Nanos;
use seekwell_job::job::{EngineKind, Job, JobFile};
use seekwell_job::layout::{Layout, There, look as look_at};
use seekwell_job::{Surroundings, parse_files};
use seekwell_machine::Model;
use seekwell_runs::{Detail, Medium, RunDocument, Skipped};
use seekwell_sys::{View, path_text};
use stage::{Run, stages};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};
use trace::Traces;

/// Which job files are run, where, and how.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The job files.
    pub files: &'a [PathBuf],
    /// The target of all jobs, in place of the files that they name.
    pub on: Option<&'a Path>,
    /// Parameters of a modelled target: `controller.kind=ide`.
    pub set: &'a [(String, String)],
    /// How often everything is run.
    pub repeats: u32,
    /// Of all that is drawn.
    pub seed: u64,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
    /// Log files that exist are replaced.
    pub replace: bool,
    /// Whether a modelled target keeps its state between repeats, as a real one does; otherwise
    /// each repeat has a new one.
    pub ages: bool,
}

/// Job files that were read.
pub struct Jobs<'a> {
    request: Request<'a>,
    parsed: JobFile,
    model: Option<Model>,
}

impl<'a> Jobs<'a> {
    /// Reads job files. Nothing is looked at beside them and the description of a model.
    ///
    /// # Errors
    /// Whatever is wrong with them.
    pub fn read(request: Request<'a>) -> Result<Self, RunError> {
        let parsed =
            parse_files(request.files, &Surroundings::here()).map_err(JobRunError::from)?;
        Self::of(request, parsed)
    }

    /// Jobs that were read already; of `request.files` only the first one's name is used.
    ///
    /// # Errors
    /// What is wrong with the model, or cannot be done on it.
    pub fn of(request: Request<'a>, parsed: JobFile) -> Result<Self, RunError> {
        let model = match request.on {
            Some(on) if is_modelled(on) => Some(model(on, request.set)?),
            on if !request.set.is_empty() => {
                return Err(RunError::NoParameters { path: on.unwrap_or(Path::new("")).into() });
            }
            _ => None,
        };
        let mut jobs = Self { request, parsed, model };
        if let Some(model) = &jobs.model {
            let more: Vec<_> = jobs.parsed.jobs.iter().flat_map(check::idle_on_machine).collect();
            jobs.parsed.warnings.extend(more);
            check::on_machine(&jobs.parsed.jobs, model.zones().is_some())?;
        } else if let Some(target) = request.on {
            jobs.parsed.jobs.iter_mut().for_each(|job| redirect(job, target));
        }
        Ok(jobs)
    }

    /// Lays the jobs out and checks all that is known before anything is opened for writing. `tell`
    /// is called with what dead processes left behind where logs will be.
    ///
    /// # Errors
    /// The first reason not to run them.
    pub fn plan(&self, tell: impl Fn(&str)) -> Result<Plan<'a, '_>, RunError> {
        let plan = self.lay_out()?;
        plan.check(tell)?;
        Ok(plan)
    }

    /// The jobs as understood, with what they would do or why they would be refused.
    pub fn show(&self, tell: impl Fn(&str)) -> String {
        let plan = self.lay_out();
        let (parsed, layout) = match &plan {
            Ok(plan) => (&plan.parsed, Some(&plan.layout)),
            Err(_) => (&self.parsed, None),
        };
        let mut text = seekwell_job::show(parsed, layout);
        for job in &parsed.jobs {
            let told = parsed.warnings.iter().filter(|w| w.job == job.name).count();
            for remark in check::said(parsed, job).iter().skip(told) {
                text += &format!("\nwarning: job `{}`: {remark}\n", job.name);
            }
        }
        text += "\nNothing was done. ";
        text += &match plan.and_then(|plan| plan.check(tell).map(|()| plan.made())) {
            Ok((0, _)) => "No file would be made.\n".to_owned(),
            Ok((1, bytes)) => format!(
                "A temporary file of {} would be made, and removed.\n",
                seekwell_job::bytes(bytes)
            ),
            Ok((n, bytes)) => format!(
                "{n} temporary files of {} together would be made, and removed.\n",
                seekwell_job::bytes(bytes)
            ),
            Err(error) => format!("The run would be refused: {error}\n"),
        };
        text
    }

    /// How long the burst credits of a modelled target last; `None` if it has none.
    pub fn credits_last(&self) -> Option<Nanos> {
        credits_last(self.model.as_ref()?)
    }

    fn lay_out(&self) -> Result<Plan<'a, '_>, RunError> {
        let mut parsed = self.parsed.clone();
        check::jobs(&parsed.jobs)?;
        parsed.jobs.iter_mut().for_each(check::read_only);
        let traces = trace::look(&mut parsed.jobs)?;
        let recorded = |job, clone| Some(&*trace::of(&traces, &parsed.jobs, job, clone)?.files);
        let capacity = self.model.as_ref().map(Model::capacity);
        let layout =
            Layout::of(&parsed.jobs, recorded, capacity, look_at).map_err(JobRunError::from)?;
        Ok(Plan { request: self.request, parsed, traces, layout, model: self.model.as_ref() })
    }
}

/// Sends a job to one target: a directory for its files, or one file or device for all of them.
fn redirect(job: &mut Job, target: &Path) {
    let files = &mut job.files;
    if target == Path::new("null") {
        job.engine.kind = EngineKind::Null;
    } else if target.is_dir() {
        files.directories = vec![target.to_path_buf()];
        if let Some(replay) = &mut job.replay {
            (replay.redirect, replay.base_names) = (None, true);
        }
        files.names =
            files.names.iter().filter_map(|name| name.file_name()).map(PathBuf::from).collect();
    } else {
        files.directories.clear();
        if let Some(replay) = &mut job.replay {
            replay.redirect = Some(target.to_path_buf());
        }
        files.names = vec![target.to_path_buf()];
        files.count = 1;
    }
}

/// Jobs that can be run, and where.
pub struct Plan<'a, 'j> {
    request: Request<'a>,
    parsed: JobFile,
    traces: Traces,
    layout: Layout,
    model: Option<&'j Model>,
}

impl Plan<'_, '_> {
    fn check(&self, tell: impl Fn(&str)) -> Result<(), RunError> {
        check::memory(&self.parsed.jobs, &self.layout)?;
        media::check(&self.layout, self.request.destroy)?;
        Ok(logs::check(&self.parsed.jobs, &self.layout, &self.request, tell)?)
    }

    /// Temporary files that are made, and their bytes.
    fn made(&self) -> (usize, u64) {
        let made = self.layout.places.iter().filter(|p| p.there == There::Nothing);
        made.fold((0, 0), |(n, bytes), p| (n + 1, bytes.saturating_add(p.end)))
    }

    /// Opens everything under the safety rules, runs all repeats of all stages, keeping what each
    /// stage gave as soon as it is over, and explains what they gave. Temporary files are gone when
    /// this returns. Beside the run comes the first log that could not be written.
    ///
    /// # Errors
    /// [`RunError`] for what the target, the safety rules or the kernel refuse.
    pub fn run<W: Watcher>(
        &self,
        host: Host<'_>,
        watcher: W,
        purpose: Purpose,
    ) -> Result<(Finished, Result<(), RunError>), RunError> {
        self.run_until(host, watcher, purpose, |_, _| false)
    }

    /// The same, but stops after a repeat as soon as `enough` accepts the document and its detail.
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn run_until<W: Watcher>(
        &self,
        host: Host<'_>,
        watcher: W,
        purpose: Purpose,
        enough: impl FnMut(&mut RunDocument, &Detail) -> bool,
    ) -> Result<(Finished, Result<(), RunError>), RunError> {
        let mut session = Session::begin(host, watcher, purpose, self.inspection(host.view)?)?;
        let mut media = self.open(&mut session)?;
        let logged = self.rounds(&mut session, &mut media, enough);
        drop(media);
        let interrupted = host.control.stop.load(Relaxed);
        // Jobs are as large as they were asked to be.
        let asked = self.layout.places.iter().map(|place| place.end).sum();
        session.conclude(interrupted, Some(asked));
        Ok((session.end(), logged))
    }

    /// Inspects the target: the first file or device that is used.
    fn inspection(&self, view: &dyn View) -> Result<Inspection, RunError> {
        let used = self.layout.places.iter().find(|place| place.there != There::Null);
        match (self.model, self.request.on, used) {
            (Some(_), Some(machine), _) => look(view, machine),
            (_, _, Some(place)) => look(view, media::target_of(place)),
            _ => Ok(Inspection::null()),
        }
    }

    /// Opens everything and lays out the files that are not there. On an error, files laid out so
    /// far are gone.
    fn open<W: Watcher>(&self, session: &mut Session<'_, W>) -> Result<Media, RunError> {
        let destroy = self.request.destroy;
        let mut media = media::open(&self.layout, destroy, session.host(), &session.line)?;
        match self.model {
            Some(model) => zones::check_modelled(model, &self.parsed.jobs, &self.layout)?,
            None => {
                zones::follow(&self.parsed.jobs, &self.layout, &mut media, session.host().view)?;
            }
        }
        media.open_commands(&self.parsed.jobs, &self.layout, session.host().view)?;
        check::alignment(&self.parsed.jobs, &self.layout, &media)?;
        check::atomic(&self.parsed.jobs, &self.layout, &media)?;
        if let Some(model) = self.model {
            session.document.inspection.device = described::device(model);
        }
        session.document.medium = Some(match self.model {
            Some(model) => machine(model, self.request.set),
            None => self.medium(&media),
        });
        Ok(media)
    }

    /// What the data lay in: what may be overwritten comes first.
    fn medium(&self, media: &Media) -> Medium {
        let places = || self.layout.places.iter().enumerate();
        let of = |there: There| places().find(move |(_, place)| place.there == there);
        let direct = |place: usize| media.direct(place);
        let destroyed = places().find(|(_, p)| p.there == There::Device && p.written_by.is_some());
        if let (Some((i, place)), Some(consent)) = (destroyed, self.request.destroy) {
            let (serial, size_bytes) = (consent.serial.to_owned(), place.size_bytes);
            let looked_at_bytes = media.looked_at_bytes(i);
            return Medium::Destroyed { serial, size_bytes, direct: direct(i), looked_at_bytes };
        }
        if let Some((i, place)) = of(There::Nothing) {
            let size_bytes =
                places().filter(|(_, p)| p.there == There::Nothing).map(|(_, p)| p.end);
            return Medium::TemporaryFile {
                directory: path_text(media::target_of(place)),
                size_bytes: size_bytes.sum(),
                direct: direct(i),
            };
        }
        match of(There::Device).or_else(|| of(There::File)) {
            Some((i, place)) => {
                let (size_bytes, direct) = (place.size_bytes, direct(i));
                Medium::ReadOnly { size_bytes, direct, device: None }
            }
            None => Medium::Null,
        }
    }

    /// The name of the first job file.
    fn file(&self) -> String {
        let name = self.request.files.first().and_then(|file| file.file_name());
        name.unwrap_or_default().to_string_lossy().into_owned()
    }

    fn rounds<W: Watcher>(
        &self,
        session: &mut Session<'_, W>,
        media: &mut Media,
        mut enough: impl FnMut(&mut RunDocument, &Detail) -> bool,
    ) -> Result<(), RunError> {
        let (jobs, host) = (&self.parsed.jobs, session.host());
        let stop = &host.control.stop;
        let mut logged = Ok(());
        let mut written = logs::Written::none(self.request.replace);
        let (all, phases) = Naming { plan: self, engine: session.engine(), media }.phases();
        session.document.phases = phases;
        for job in jobs {
            for said in check::said(&self.parsed, job) {
                session.line.note(&format!("job `{}`: {said}", job.name));
            }
        }
        session.save();
        let mut machine: Option<Modelled<'_>> = None;
        for round in 0..self.request.repeats {
            let run = Run {
                jobs,
                traces: &self.traces,
                layout: &self.layout,
                engine: session.engine(),
                host,
                begun: Clock::real().now(),
                all_end: AtomicBool::new(false),
                seed: self.seed(round),
            };
            if machine.is_none() || !self.request.ages {
                let new = |model| Modelled::new(model, jobs, &self.layout, run.seed);
                machine = self.model.map(new);
            }
            for stage in stages(jobs) {
                if stop.load(Relaxed) || run.all_end.load(Relaxed) {
                    break;
                }
                let played = self.stage(&run, &stage, session, (media, &mut machine), &all);
                let tell = |text: &str| session.line.note(text);
                let done = logs::write(jobs, &self.layout, &played, round, &mut written, tell);
                logged = logged.and(done);
                session.save();
            }
            if enough(&mut session.document, &session.detail) {
                break;
            }
        }
        session.widen(|number, _| {
            let group = &all.iter().find(|phases| phases.main == number)?.group;
            let jobs = || group.iter().map(|job| &jobs[*job]);
            let depth = jobs().map(|job| job.engine.depth.saturating_mul(job.clones)).sum();
            Some((jobs().any(Job::destroys), depth))
        });
        for phase in &mut session.document.phases {
            if phase.repeats.is_empty() && stop.load(Relaxed) {
                phase.skipped = Some(Skipped::Interrupted);
            }
        }
        Ok(logged?)
    }

    /// The seed of a round: offsets differ from round to round, and from run to run only where the
    /// jobs ask for that.
    fn seed(&self, round: u32) -> u64 {
        let base = self.request.seed.wrapping_add(u64::from(round));
        if self.parsed.jobs.iter().all(|job| job.random.repeat) {
            return base;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        base ^ now.as_nanos() as u64
    }

    fn stage<W: Watcher>(
        &self,
        run: &Run<'_>,
        stage: &[usize],
        session: &mut Session<'_, W>,
        (media, machine): (&mut Media, &mut Option<Modelled<'_>>),
        all: &[Phases],
    ) -> Vec<member::Outcome> {
        let jobs = &self.parsed.jobs;
        let measured: Vec<usize> =
            stage.iter().copied().filter(|j| !jobs[*j].files.creation.only).collect();
        for job in stage.iter().filter(|j| jobs[**j].files.creation.only) {
            for phases in all.iter().filter(|p| p.group.contains(job)) {
                session.document.phases[phases.main].skipped =
                    Some("create_only: nothing is measured".into());
            }
        }
        let places: BTreeSet<usize> = self
            .layout
            .members
            .iter()
            .filter(|m| measured.contains(&m.job))
            .flat_map(|m| m.uses.iter().map(|u| u.place))
            .collect();
        // The kernel does not count passthrough commands.
        let counts = measured.iter().all(|j| jobs[*j].engine.kind != EngineKind::IoUringCmd);
        let counted =
            |media: &Media| counts.then(|| media.counters(&places, run.host.view)).flatten();
        let before = counted(media);
        let played = match machine {
            Some(machine) => machine.stage(run, &measured),
            None => run.stage(&measured, media, &session.line),
        };
        let after = counted(media);
        let requests = |(_, played): &member::Outcome| played.as_ref().map_or(0, Played::requests);
        let whole: u64 = played.iter().map(requests).sum();
        let asked =
            played.iter().filter_map(|(_, played)| played.as_ref().ok()).map(Played::moved).sum();
        let device = before.zip(after).and_then(|(b, a)| device_count(&a.since(&b), asked));
        let naming = Naming { plan: self, engine: run.engine, media };
        for phases in all {
            let of_group =
                |p: &&member::Outcome| phases.group.contains(&self.layout.members[p.0].job);
            let mine: Vec<&member::Outcome> = played.iter().filter(of_group).collect();
            if mine.is_empty() {
                continue;
            }
            let own: u64 = mine.iter().map(|p| requests(p)).sum();
            let given = Given {
                played: mine.iter().map(|(i, p)| (*i, p)).collect(),
                device,
                share: own as f64 / whole.max(1) as f64,
                seed: run.seed,
            };
            let (main, back) = record::repeats(&naming, phases, &given);
            let report = &jobs[phases.group[0]].report;
            let asked = match jobs[phases.group[0]].options.contains_key("percentile_list") {
                true => &report.percentile_list[..],
                false => &[],
            };
            let document = &mut session.document;
            main.keep(&mut document.phases[phases.main], &mut session.detail, asked);
            if let Some((back, at)) = back.zip(phases.back) {
                back.keep(&mut document.phases[at], &mut session.detail, asked);
            }
        }
        played
    }
}
