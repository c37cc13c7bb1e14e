//! `seekwell bench FILE.fio`: fio's job files, run as they are.

mod check;
mod error;
mod layout;
mod logs;
mod media;
mod member;
mod modelled;
mod record;
mod replay;
mod stage;
mod steady;
mod trace;

pub use error::JobRunError;

use crate::Ended;
use crate::cli::Bench;
use crate::commands::format;
use crate::context::Context;
use crate::exit::CommandError;
use crate::session::{self, RunOptions, Session};
use layout::{Layout, There};
use media::Media;
use modelled::Modelled;
use record::{Given, Naming, Phases};
use seekwell_access::Consent;
use seekwell_inspect::Inspection;
use seekwell_io::clock::Clock;
use seekwell_jobs::job::{EngineKind, Job, JobFile};
use seekwell_jobs::{Surroundings, layout as known_layout, parse_files};
use seekwell_machine::Model;
use seekwell_run::{RunError, is_modelled, look, machine, model};
use seekwell_runs::{Medium, RunKind};
use seekwell_sys::path_text;
use stage::{Run, stages};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs job files, or shows what they would do.
///
/// # Errors
/// Whatever is wrong with them or refused, before anything is written.
pub fn run(args: &Bench, context: &Context) -> Ended {
    format::check(&args.results, None, context)?;
    let mut parsed = parse_files(&args.jobs, &Surroundings::here()).map_err(JobRunError::from)?;
    if let Some(target) = &args.on {
        redirect(&mut parsed, target)?;
    }
    let model = modelled_by(args)?;
    if model.is_some() {
        let more: Vec<_> = parsed.jobs.iter().flat_map(check::idle_on_machine).collect();
        parsed.warnings.extend(more);
        check::on_machine(&parsed.jobs).map_err(CommandError::from)?;
    }
    let capacity = model.as_ref().map(Model::capacity);
    if args.show {
        return show_only(&parsed, capacity, args, context);
    }
    check::jobs(&parsed.jobs)?;
    parsed.jobs.iter_mut().for_each(check::read_only);
    let traces = trace::look(&mut parsed.jobs)?;
    let layout = Layout::of(&parsed.jobs, &traces, capacity)?;
    check::memory(&parsed.jobs, &layout)?;
    let destroy = args.destroy.consent();
    media::check(&layout, destroy)?;
    logs::check(&parsed.jobs, &layout, args, context)?;
    let inspection = match (&model, &args.on) {
        (Some(_), Some(machine)) => look(&context.view, machine)?,
        _ => inspected(&layout, context)?,
    };
    let options = RunOptions {
        kind: RunKind::Bench,
        label: args.label.as_deref(),
        keep: !args.no_keep,
        engine: args.workload.engine,
    };
    let mut session = session::begin(context, options, inspection)?;
    let mut media = media::open(&layout, destroy, context, &session.line)?;
    check::alignment(&parsed.jobs, &layout, &media)?;
    session.document.medium = Some(match &model {
        Some(model) => machine(model, &args.set),
        None => medium(&layout, &media, destroy),
    });
    let model = model.as_ref();
    let ended = Whole { parsed: &parsed, layout: &layout, args, context, model };
    let logged = ended.measure(&mut session, &mut media);
    drop(media);
    let interrupted = context.control.stop.load(Relaxed);
    // Jobs are as large as they were asked to be.
    let asked = layout.places.iter().map(|place| place.end).sum();
    session.conclude(interrupted, Some(asked));
    let exit = format::finish(context, &session::end(session), &args.results)?;
    logged.map(|()| exit)
}

/// The machine that all jobs are on, where it is a modelled one.
fn modelled_by(args: &Bench) -> Result<Option<Model>, CommandError> {
    match &args.on {
        Some(machine) if is_modelled(machine) => Ok(Some(model(machine, &args.set)?)),
        on if !args.set.is_empty() => {
            Err(RunError::NoParameters { path: on.clone().unwrap_or_default() }.into())
        }
        _ => Ok(None),
    }
}

/// Sends all jobs to one target: a directory for their files, or one file or device for all.
fn redirect(parsed: &mut JobFile, target: &Path) -> Result<(), CommandError> {
    if is_modelled(target) {
        return Ok(());
    }
    for job in &mut parsed.jobs {
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
    Ok(())
}

/// Prints jobs as understood, with what would be refused, and does nothing.
fn show_only(parsed: &JobFile, capacity: Option<u64>, args: &Bench, context: &Context) -> Ended {
    let known = known_layout::layout(parsed, known_layout::look);
    let mut text = seekwell_jobs::show(parsed, &known);
    for job in &parsed.jobs {
        let told = parsed.warnings.iter().filter(|w| w.job == job.name).count();
        for remark in check::said(parsed, job).iter().skip(told) {
            text += &format!("\nwarning: job `{}`: {remark}\n", job.name);
        }
    }
    let checked = check::jobs(&parsed.jobs).map_err(CommandError::from).and_then(|()| {
        let mut jobs = parsed.jobs.clone();
        jobs.iter_mut().for_each(check::read_only);
        let traces = trace::look(&mut jobs)?;
        let layout = Layout::of(&jobs, &traces, capacity)?;
        check::memory(&jobs, &layout)?;
        media::check(&layout, args.destroy.consent())?;
        logs::check(&jobs, &layout, args, context)?;
        Ok(layout)
    });
    text.push('\n');
    text += &match checked {
        Ok(layout) => {
            let made = layout.places.iter().filter(|p| p.there == There::Nothing);
            let (n, bytes) = made.fold((0, 0_u64), |(n, b), p| (n + 1, b.saturating_add(p.end)));
            match n {
                0 => "Nothing was done. No file would be made.\n".to_owned(),
                _ => format!(
                    "Nothing was done. {n} temporary files of {} together would be made \
                     in place of those that do not exist, and removed.\n",
                    seekwell_jobs::bytes(bytes)
                ),
            }
        }
        Err(error) => format!("Nothing was done. The run would be refused: {error}\n"),
    };
    context.print(&text)?;
    Ok(crate::exit::Exit::Done)
}

/// The first file or device that is used, or nothing where all requests go nowhere.
fn inspected(layout: &Layout, context: &Context) -> Result<Inspection, CommandError> {
    match layout.places.iter().find(|place| place.there != There::Null) {
        Some(place) => Ok(look(&context.view, media::target_of(place))?),
        None => Ok(Inspection::null()),
    }
}

/// What the data lay in: what may be overwritten comes first.
fn medium(layout: &Layout, media: &Media, destroy: Option<Consent<'_>>) -> Medium {
    let places = || layout.places.iter().enumerate();
    let of = |there: There| places().find(move |(_, place)| place.there == there);
    let direct = |place: usize| media.direct(place);
    let destroyed = places().find(|(_, p)| p.there == There::Device && p.written_by.is_some());
    if let (Some((i, place)), Some(consent)) = (destroyed, destroy) {
        let (serial, size_bytes) = (consent.serial.to_owned(), place.size_bytes);
        return Medium::Destroyed { serial, size_bytes, direct: direct(i) };
    }
    if let Some((i, place)) = of(There::Nothing) {
        let size_bytes = places().filter(|(_, p)| p.there == There::Nothing).map(|(_, p)| p.end);
        return Medium::TemporaryFile {
            directory: path_text(media::target_of(place)),
            size_bytes: size_bytes.sum(),
            direct: direct(i),
        };
    }
    match of(There::Device).or_else(|| of(There::File)) {
        Some((i, place)) => Medium::ReadOnly { size_bytes: place.size_bytes, direct: direct(i) },
        None => Medium::Null,
    }
}

/// All repeats of all stages.
struct Whole<'a> {
    parsed: &'a JobFile,
    layout: &'a Layout,
    args: &'a Bench,
    context: &'a Context,
    model: Option<&'a Model>,
}

impl Whole<'_> {
    /// Runs everything, keeping what each stage gave as soon as it is over.
    ///
    /// # Errors
    /// The first log that could not be written; everything was measured all the same.
    fn measure(&self, session: &mut Session<'_>, media: &mut Media) -> Result<(), CommandError> {
        let mut logged = Ok(());
        let mut written = logs::Written::none(self.args.results.replace);
        let file = self.args.jobs.first().and_then(|p| p.file_name()).unwrap_or_default();
        let file = file.to_string_lossy().into_owned();
        let naming = |media| Naming {
            parsed: self.parsed,
            file: &file,
            engine: session.engine(),
            layout: self.layout,
            media,
            modelled: self.model.is_some(),
        };
        let (all, phases) = naming(media).phases();
        session.document.phases = phases;
        for job in &self.parsed.jobs {
            for said in check::said(self.parsed, job) {
                self.context.note(&format!("job `{}`: {said}", job.name));
            }
        }
        session.save();
        for round in 0..self.args.repeats {
            let run = Run {
                jobs: &self.parsed.jobs,
                layout: self.layout,
                engine: session.engine(),
                context: self.context,
                begun: Clock::real().now(),
                all_end: AtomicBool::new(false),
                seed: self.seed(round),
            };
            let mut machine = self.model.map(|model| Modelled::new(model, self.layout, run.seed));
            for stage in stages(&self.parsed.jobs) {
                if self.context.control.stop.load(Relaxed) || run.all_end.load(Relaxed) {
                    break;
                }
                let played =
                    self.stage(&run, &stage, session, (media, &mut machine), (&all, &file));
                let jobs = &self.parsed.jobs;
                let done =
                    logs::write(jobs, self.layout, &played, round, &mut written, self.context);
                logged = logged.and(done);
                session.save();
            }
        }
        session.widen(|number, _| {
            let group = &all.iter().find(|phases| phases.main == number)?.group;
            let jobs = || group.iter().map(|job| &self.parsed.jobs[*job]);
            let depth = jobs().map(|job| job.engine.depth.saturating_mul(job.clones)).sum();
            Some((jobs().any(Job::destroys), depth))
        });
        for phase in &mut session.document.phases {
            if phase.repeats.is_empty() && self.context.control.stop.load(Relaxed) {
                phase.skipped = Some(seekwell_runs::Skipped::Interrupted);
            }
        }
        logged
    }

    /// The seed of a round: offsets differ from round to round, and from run to run only where the
    /// jobs ask for that.
    fn seed(&self, round: u32) -> u64 {
        let base = self.args.seed.wrapping_add(u64::from(round));
        if self.parsed.jobs.iter().all(|job| job.random.repeat) {
            return base;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        base ^ now.as_nanos() as u64
    }

    fn stage(
        &self,
        run: &Run<'_>,
        stage: &[usize],
        session: &mut Session<'_>,
        (media, machine): (&mut Media, &mut Option<Modelled<'_>>),
        (all, file): (&[Phases], &str),
    ) -> Vec<stage::Outcome> {
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
        let before = media.counters(&places, &self.context.view);
        let played = match machine {
            Some(machine) => machine.stage(run, &measured),
            None => run.stage(&measured, media, &session.line),
        };
        let after = media.counters(&places, &self.context.view);
        let requests = |played: &stage::Outcome| {
            played
                .1
                .as_ref()
                .map_or(0, |p| p.main.requests() + p.back.as_ref().map_or(0, |b| b.requests()))
        };
        let whole: u64 = played.iter().map(requests).sum();
        let asked: u64 = played.iter().map(stage::moved).sum();
        let device = before.zip(after).and_then(|(b, a)| stage::counted(&a.since(&b), asked));
        let naming = Naming {
            parsed: self.parsed,
            file,
            engine: run.engine,
            layout: self.layout,
            media,
            modelled: self.model.is_some(),
        };
        for phases in all {
            let of_group = |p: &&stage::Outcome| {
                let job = self.layout.members[p.0].job;
                phases.group.contains(&job)
            };
            let mine: Vec<&stage::Outcome> = played.iter().filter(of_group).collect();
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
