//! `seekwell tune auto`: screen, confirm, propose.
//!
//! The best of many noisy numbers is flattered by having been chosen: what looks best after a few
//! runs is mostly luck. So screening only picks one candidate (its p values are adjusted by Holm,
//! and shown), and the claim that this one helps rests on an experiment of fresh runs that the
//! choice has not seen. Screening and confirmation are both `seekwell experiment`'s machinery.

mod document;
mod text;

use super::show;
use crate::Ended;
use crate::cli::tune::{Auto, Goal};
use crate::commands::experiment::rig::Machine;
use crate::commands::experiment::setter::Setter;
use crate::commands::experiment::{Shown, arms, heed_signals, machine_with, minutes, run_time};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use document::{Confirmed, Document, Outcome, Screened};
use jiff::Timestamp;
use seekwell_experiment::{
    ArmSpec, Claim, Design, Document as Experiment, ExperimentError, ExperimentStore, Keeper,
    Options, Setting, Shape, Status, begin, better, conduct, default_margin, identity,
};
use seekwell_inspect::Inspection;
use seekwell_io::units::Nanos;
use seekwell_run::look;
use seekwell_runs::Tool;
use seekwell_stats::{Better, Verdict, holm, percent};
use seekwell_sys::{View, path_text};
use seekwell_tune::candidates::{Candidate, Load, candidates};
use seekwell_tune::setting::{Request, parse};
use seekwell_tune::{Disk, TuneError};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Measured time of a run: as `seekwell experiment` has it.
const RUNTIME: Nanos = Nanos::from_millis(5000);

/// Screening is kept in memory: its numbers go into the document of the whole.
struct InMemory;

impl Keeper for InMemory {
    fn save(&mut self, _: &Experiment) -> Result<(), ExperimentError> {
        Ok(())
    }
}

/// Everything that stays the same from run to run.
struct Search<'a> {
    args: &'a Auto,
    context: &'a Context,
    target: PathBuf,
    inspection: Inspection,
    options: Options,
    seed: u64,
}

pub fn run(args: &Auto, context: &Context, view: &dyn View) -> Ended {
    let mut options = arms::workload(&args.workload)?;
    options.runtime_ns = args.length.runtime.unwrap_or(RUNTIME);
    options.workload(u64::from(options.block_bytes), true, 1).check()?;
    let target = std::path::absolute(&args.target).unwrap_or_else(|_| args.target.clone());
    let disk = Disk::of(view, &target)?;
    let wanted = match args.candidates.as_slice() {
        [] => candidates(view, &disk, &load(&options))?,
        words => words.iter().map(|w| typed(view, &disk, w)).collect::<Result<_, _>>()?,
    };
    let fresh = || RandomState::new().hash_one(()) & 0xFFFF_FFFF;
    let search = Search {
        inspection: look(&context.view, &target)?,
        seed: args.seed.unwrap_or_else(fresh),
        args,
        context,
        target,
        options,
    };
    heed_signals(context)?;
    let place = ExperimentStore::beside(context.store()?.dir());
    let document = search.whole(&disk, wanted, &place)?;
    let exit = document.outcome.exit();
    show(context, &document, || text::result(&document), exit)
}

/// What of the workload decides which settings can matter.
fn load(options: &Options) -> Load {
    use seekwell_experiment::Rw;
    Load {
        reads: options.read_percent() > 0,
        writes: options.writes(),
        sequential: matches!(options.rw, Rw::Read | Rw::Write | Rw::ReadWrite),
        direct: options.direct,
        request_bytes: u64::from(options.block_bytes),
        outstanding: u64::from(options.iodepth) * u64::from(options.numjobs),
    }
}

/// A candidate as it was typed; whether the disk takes the value is found out by setting it.
fn typed(view: &dyn View, disk: &Disk, word: &str) -> Result<Candidate, TuneError> {
    use seekwell_tune::setting::{SettingError, find, hdparm};
    let mut request = parse(word).map_err(SettingError::from)?;
    if let Request::Classic(switch) = &request {
        request = hdparm::translate(switch, disk).map_err(SettingError::from)?;
    }
    let Request::Set { key, value } = request else {
        return Err(TuneError::NoTrial { disk: None });
    };
    let attribute = find(view, disk, &key, None)?;
    let takes = (attribute.setting.values)(view, disk, &attribute.path);
    let value = takes.check(&value).map_err(|problem| SettingError::Value {
        key: key.clone(),
        value: value.clone(),
        problem,
    })?;
    let text = view.text(&attribute.path).unwrap_or_default();
    Ok(Candidate { key: attribute.key, value, was: seekwell_tune::apply::current(&text) })
}

impl Search<'_> {
    fn metric(&self) -> String {
        let op = if self.options.read_percent() > 0 { "read" } else { "write" };
        let what = match self.args.goal {
            Goal::Rate => "requests_per_s",
            Goal::P99 if self.options.rate_iops.is_some() => "response_ns_p99",
            Goal::P99 => "latency_ns_p99",
        };
        format!("{op}.{what}")
    }

    fn whole(
        &self,
        disk: &Disk,
        wanted: Vec<Candidate>,
        place: &ExperimentStore,
    ) -> Result<Document, CommandError> {
        let metric = self.metric();
        let mut document = Document {
            schema: Document::SCHEMA.to_owned(),
            disk: disk.identity.clone(),
            target: path_text(&self.target),
            workload: self.options.words().into_iter().collect(),
            goal: metric,
            seed: self.seed,
            screening_pairs: self.args.screen,
            candidates: wanted.into_iter().map(Screened::new).collect(),
            winner: None,
            confirmation: None,
            outcome: Outcome::NothingToTry,
            not_restored: Vec::new(),
            keep: None,
        };
        let mut line = Line::new(self.context.progress, Arc::clone(&self.context.control));
        self.prove(&mut document)?;
        let able = document.candidates.iter().filter(|c| c.not_tried.is_none()).count();
        if able == 0 {
            if !document.candidates.is_empty() {
                document.outcome = Outcome::NotMeasured;
            }
            return Ok(document);
        }
        self.forecast(able);
        let first = self.experiment("", "", Some(self.args.screen), 0);
        let keys = document.candidates.iter().map(|c| c.key.clone()).collect();
        let setter = Setter::new(&self.target, run_time(&first), keys, false)?;
        let inspection = self.inspection.clone();
        let accepted = self.args.length.destroy.accept_data.as_slice();
        let mut machine =
            machine_with(&first, Some(setter), inspection, self.context, &line, accepted)?;
        for i in 0..document.candidates.len() {
            if document.candidates[i].not_tried.is_some() {
                continue;
            }
            line = self.screen(&mut document, i, able, &mut machine, line)?;
            if !document.not_restored.is_empty() || document.outcome == Outcome::Interrupted {
                return Ok(document);
            }
        }
        adjust(&mut document.candidates);
        document.winner = self.winner(&document.candidates);
        match document.winner {
            Some(winner) => self.confirm(&mut document, winner, machine, place, line)?,
            None if document.candidates.iter().any(Screened::screened) => {
                document.outcome = Outcome::NothingHelps;
            }
            None => document.outcome = Outcome::NotMeasured,
        }
        Ok(document)
    }

    /// Sets every candidate once and puts it back; what the kernel does not take is not measured.
    fn prove(&self, document: &mut Document) -> Result<(), CommandError> {
        let time = std::time::Duration::from_secs(10);
        let keys = document.candidates.iter().map(|c| c.key.clone()).collect();
        let mut setter = Setter::new(&self.target, time, keys, false)?;
        for candidate in &mut document.candidates {
            match setter.apply(&[candidate.setting()]) {
                Ok(_) => {}
                // What concerns the disk or this user concerns every candidate.
                Err(
                    error @ (TuneError::Busy { .. }
                    | TuneError::Unfinished { .. }
                    | TuneError::Unwell { .. }
                    | TuneError::RunDir { .. }),
                ) => return Err(error.into()),
                Err(error) if error.incomplete() => return Err(error.into()),
                Err(error) => candidate.not_tried = Some(error.to_string()),
            }
            document.not_restored.extend(setter.restore());
            if !document.not_restored.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn forecast(&self, candidates: usize) {
        let each = self.options.runtime_ns + self.options.ramp_ns + self.args.settle;
        let screening = candidates as f64 * f64::from(self.args.screen) * 2.0;
        let confirming = f64::from(seekwell_stats::BLOCKS_DEFAULT) * 4.0;
        let seconds = each.as_secs_f64();
        self.context.note(&format!(
            "{candidates} candidates: {} to screen them, and {} or more to confirm the best",
            minutes(screening * seconds),
            minutes(confirming * seconds)
        ));
    }

    /// The experiment of one candidate against the disk as it is.
    fn experiment(&self, key: &str, value: &str, pairs: Option<u32>, n: u64) -> Experiment {
        let metric = self.metric();
        let margin = self.args.margin.unwrap_or_else(|| default_margin(&metric));
        let a = ArmSpec::new(self.options.clone());
        let mut b = a.clone();
        if !key.is_empty() {
            b.settings.push(Setting { key: key.to_owned(), value: value.to_owned() });
        }
        Experiment {
            schema: Experiment::SCHEMA.to_owned(),
            id: String::new(),
            status: Status::Running,
            started_at: Timestamp::now().to_string(),
            ended_at: None,
            tool: Tool {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                git_commit: option_env!("SEEKWELL_GIT_COMMIT").map(str::to_owned),
            },
            command: self.command(key, value, n),
            target: path_text(&self.target),
            identity: identity(&self.inspection),
            size_bytes: self.args.length.size,
            destroy: self.args.length.destroy.destroy.clone(),
            design: Design {
                better: better(&metric),
                metric,
                margin,
                // Other requests and another order than any screening had.
                seed: (self.seed + n) & 0xFFFF_FFFF,
                shape: if pairs.is_some() { Shape::Pairs } else { Shape::Fours },
                blocks: pairs,
                settle_ns: self.args.settle,
                aa: false,
                reboot_between: false,
            },
            expect: pairs.is_none().then_some(Claim::Faster),
            a,
            b,
            region: None,
            forecast: None,
            planned_blocks: None,
            sessions: Vec::new(),
            runs: Vec::new(),
            discarded: Vec::new(),
            invalid: None,
            not_restored: Vec::new(),
            conclusion: None,
        }
    }

    /// The command line of the confirming experiment by itself.
    fn command(&self, key: &str, value: &str, n: u64) -> Vec<String> {
        let mut words: Vec<String> = ["seekwell", "experiment", "--on"].map(str::to_owned).to_vec();
        words.push(path_text(&self.target));
        words.extend(["--b".to_owned(), format!("{key}={value}")]);
        words.push(format!("--metric={}", self.metric()));
        let options = self.options.words().into_iter();
        words.extend(options.map(|(key, value)| format!("--{key}={value}")));
        words.extend(self.args.length.size.map(|size| format!("--size={size}")));
        let destroy = self.args.length.destroy.destroy.iter();
        words.extend(destroy.map(|serial| format!("--destroy={serial}")));
        words.push(format!("--seed={}", (self.seed + n) & 0xFFFF_FFFF));
        words
    }

    fn screen(
        &self,
        document: &mut Document,
        i: usize,
        of: usize,
        machine: &mut Machine,
        line: Line,
    ) -> Result<Line, CommandError> {
        let candidate = &document.candidates[i];
        let (key, value) = (candidate.key.clone(), candidate.value.clone());
        let n = i as u64 + 1;
        let mut experiment = self.experiment(&key, &value, Some(self.args.screen), n);
        begin(&mut experiment, machine, None)?;
        let done = document.candidates.iter().filter(|c| c.screened()).count() + 1;
        let mut shown = Shown { line, lead: format!("{done} of {of}, {key}={value}: ") };
        let stop = &self.context.control.stop;
        conduct(&mut experiment, machine, &mut InMemory, &mut shown, stop)?;
        document.not_restored.extend(experiment.not_restored);
        if experiment.status == Status::Interrupted {
            document.outcome = Outcome::Interrupted;
        }
        let candidate = &mut document.candidates[i];
        if let Some(why) = experiment.invalid {
            candidate.not_tried = Some(why);
        } else if let Some(estimate) = experiment.conclusion.and_then(|c| c.estimate) {
            candidate.percent = Some(percent(estimate.centre));
            candidate.interval95 = estimate.interval95.map(seekwell_stats::Interval::percent);
            candidate.p = Some(estimate.p);
        }
        Ok(shown.line)
    }

    /// The candidate that gained most, where that is more than half of what matters: less than
    /// that, confirming it would take longer than the gain is worth.
    fn winner(&self, candidates: &[Screened]) -> Option<usize> {
        let metric = self.metric();
        let margin = self.args.margin.unwrap_or_else(|| default_margin(&metric));
        let gain = |c: &Screened| {
            let percent = c.percent?;
            Some(if better(&metric) == Better::Higher { percent } else { -percent })
        };
        let gains = candidates.iter().enumerate().filter_map(|(i, c)| Some((i, gain(c)?)));
        gains
            .filter(|(_, gain)| *gain > margin.percent() / 2.0)
            .max_by(|(_, x), (_, y)| x.total_cmp(y))
            .map(|(i, _)| i)
    }

    fn confirm(
        &self,
        document: &mut Document,
        winner: usize,
        mut machine: Machine,
        place: &ExperimentStore,
        line: Line,
    ) -> Result<(), CommandError> {
        let (key, value) =
            (document.candidates[winner].key.clone(), document.candidates[winner].value.clone());
        let n = document.candidates.len() as u64 + 1;
        let mut experiment = self.experiment(&key, &value, None, n);
        let mut folder = place.create(Timestamp::now())?;
        folder.id().clone_into(&mut experiment.id);
        if let Err(error) = begin(&mut experiment, &mut machine, None) {
            folder.discard();
            return Err(error.into());
        }
        let mut shown = Shown { line, lead: format!("confirming {key}={value}: ") };
        let stop = &self.context.control.stop;
        let kept = conduct(&mut experiment, &mut machine, &mut folder, &mut shown, stop);
        drop(machine);
        shown.line.clear();
        kept?;
        document.outcome = outcome(&experiment);
        if document.outcome == Outcome::Helps {
            document.keep = Some(keep(&self.args.target, &key, &value));
        }
        document.not_restored.extend(experiment.not_restored);
        document.confirmation = experiment.conclusion.map(|conclusion| Confirmed {
            experiment: experiment.id,
            sentence: conclusion.sentence,
            verdict: conclusion.verdict,
        });
        Ok(())
    }
}

/// What a confirming experiment came to.
fn outcome(experiment: &Experiment) -> Outcome {
    use seekwell_experiment::Decision;
    let Some(conclusion) = &experiment.conclusion else { return Outcome::Interrupted };
    match (conclusion.decision, &conclusion.verdict) {
        (Decision::Invalid, _) => Outcome::Invalid,
        (Decision::Undecided, _) => Outcome::Undecided,
        (_, Some(Verdict::Faster { below_margin: false, .. })) => Outcome::Helps,
        _ => Outcome::NothingHelps,
    }
}

/// Holm's adjustment over every candidate that was screened.
fn adjust(candidates: &mut [Screened]) {
    let tests: Vec<(usize, f64)> =
        candidates.iter().enumerate().filter_map(|(i, c)| Some((i, c.p?))).collect();
    for adjusted in holm(&tests) {
        candidates[adjusted.name].adjusted_p = Some(adjusted.adjusted);
    }
}

/// The commands that keep it.
fn keep(target: &Path, key: &str, value: &str) -> Vec<Vec<String>> {
    let target = target.display().to_string();
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    vec![
        words(&["seekwell", "tune", "try", &target, &format!("{key}={value}")]),
        words(&["seekwell", "tune", "keep", &target]),
    ]
}

impl Outcome {
    /// The status it ends with.
    const fn exit(self) -> Exit {
        match self {
            Self::Helps => Exit::Done,
            Self::NothingToTry | Self::NothingHelps | Self::Undecided => Exit::NotShown,
            Self::Invalid | Self::NotMeasured => Exit::Invalid,
            Self::Interrupted => Exit::Interrupted,
        }
    }
}
