//! `seekwell tune auto`: screen, confirm, propose.
//!
//! The best of many noisy numbers is flattered by having been chosen: what looks best after a few
//! runs is mostly luck. So screening only picks one candidate (its p values are adjusted by Holm,
//! and shown), and the claim that this one helps rests on an experiment of fresh runs that the
//! choice has not seen. Screening and confirmation are both `seekwell experiment`'s machinery.

use super::document::{AutoDocument, AutoOutcome, Confirmed, Screened};
use crate::experiment::{Setter, Shown, ThisMachine, ready, run_time};
use crate::{Host, RunError, Watcher, look};
use jiff::Timestamp;
use seekwell_access::Fingerprint;
use seekwell_experiment::{
    ArmSpec, Claim, Decision, Design, Document as Experiment, ExperimentError, ExperimentStore,
    Keeper, Setting, Shape, Status, begin, conduct, identity,
};
use seekwell_inspect::Inspection;
use seekwell_io::units::{Nanos, time_about};
use seekwell_job::PlainJob;
use seekwell_runs::Tool;
use seekwell_stats::{Better, Margin, Verdict, holm, percent};
use seekwell_sys::path_text;
use seekwell_tune::candidates::{Candidate, Load, candidates};
use seekwell_tune::{Commanded, Disk, TuneError};
use std::path::PathBuf;
use std::time::Duration;

/// A candidate is set for so long to find out whether the kernel takes it.
const PROOF: Duration = Duration::from_secs(10);

/// Screening is kept in memory: its numbers go into the document of the whole.
struct InMemory;

impl Keeper for InMemory {
    fn save(&mut self, _: &Experiment) -> Result<(), ExperimentError> {
        Ok(())
    }
}

/// What a setting is searched for.
#[derive(Debug, Clone)]
pub struct AutoOptions {
    /// The target that is measured.
    pub target: PathBuf,
    /// The workload.
    pub workload: PlainJob,
    /// What is to get better.
    pub goal: Goal,
    /// `KEY=VALUE` words of the candidates; if there are none they are chosen by the workload.
    pub candidates: Vec<String>,
    /// Pairs of runs for each candidate.
    pub screening_pairs: u32,
    /// The smallest gain that matters, if it is not the metric's default.
    pub margin: Option<Margin>,
    /// Pause before every run.
    pub settle: Nanos,
    /// Of every order and request.
    pub seed: u64,
    /// Size of the temporary file, or of the part of the target used.
    pub size_bytes: Option<u64>,
    /// The device that may be overwritten, by its serial number.
    pub destroy: Option<String>,
    /// Fingerprints of unknown data that may be overwritten.
    pub accept_data: Vec<Fingerprint>,
}

/// What is to get better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Requests per second.
    Rate,
    /// The 99th percentile of the time a request takes.
    P99,
}

impl Goal {
    /// Its word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::P99 => "p99",
        }
    }
}

/// Searches for a setting that helps a workload, and puts everything back.
///
/// # Errors
/// [`RunError`] when nothing can be tried, measured or kept.
pub fn auto(
    host: Host<'_>,
    watcher: &impl Watcher,
    tool: Tool,
    options: &AutoOptions,
    place: &ExperimentStore,
) -> Result<AutoDocument, RunError> {
    let workload = &options.workload;
    workload.workload(u64::from(workload.block_bytes), true, 1).check()?;
    let view = Commanded::new(host.view);
    let disk = Disk::of(&view, &options.target).map_err(TuneError::from)?;
    let wanted = match options.candidates.as_slice() {
        [] => candidates(&view, &disk, &load(workload))?,
        words => {
            words.iter().map(|w| Candidate::parse(&view, &disk, w)).collect::<Result<_, _>>()?
        }
    };
    let inspection = look(host.view, &options.target)?;
    Search { options, host, watcher, tool, inspection }.whole(&disk, wanted, place)
}

/// What of the workload decides which settings can matter.
fn load(options: &PlainJob) -> Load {
    Load {
        reads: options.read_percent() > 0,
        writes: options.writes(),
        sequential: !options.rw.is_random(),
        direct: options.direct,
        request_bytes: u64::from(options.block_bytes),
        outstanding: u64::from(options.iodepth) * u64::from(options.numjobs),
    }
}

/// Everything that stays the same from run to run.
struct Search<'a, W> {
    options: &'a AutoOptions,
    host: Host<'a>,
    watcher: &'a W,
    tool: Tool,
    inspection: Inspection,
}

impl<'a, W: Watcher> Search<'a, W> {
    fn metric(&self) -> String {
        let workload = &self.options.workload;
        let op = workload.main_op();
        let what = match self.options.goal {
            Goal::Rate => "requests_per_s",
            Goal::P99 if workload.rate_iops.is_some() => "response_ns_p99",
            Goal::P99 => "latency_ns_p99",
        };
        format!("{op}.{what}")
    }

    fn whole(
        &self,
        disk: &Disk,
        wanted: Vec<Candidate>,
        place: &ExperimentStore,
    ) -> Result<AutoDocument, RunError> {
        let mut document = AutoDocument {
            schema: AutoDocument::SCHEMA.to_owned(),
            disk: disk.identity.clone(),
            target: path_text(&self.options.target),
            workload: self.options.workload.words().into_iter().collect(),
            goal: self.metric(),
            seed: self.options.seed,
            screening_pairs: self.options.screening_pairs,
            candidates: wanted.into_iter().map(Screened::new).collect(),
            winner: None,
            confirmation: None,
            outcome: AutoOutcome::NothingToTry,
            not_restored: Vec::new(),
            keep: None,
        };
        self.prove(&mut document)?;
        let able = document.candidates.iter().filter(|c| c.not_tried.is_none()).count();
        if able == 0 {
            if !document.candidates.is_empty() {
                document.outcome = AutoOutcome::NotMeasured;
            }
            return Ok(document);
        }
        self.announce(able);
        let first = self.experiment(None, Some(self.options.screening_pairs), 0);
        let keys = document.candidates.iter().map(|c| c.key.clone()).collect();
        let setter = Setter::new(&self.options.target, run_time(&first), keys, false)?;
        let (inspection, accepted) = (self.inspection.clone(), &self.options.accept_data);
        let mut machine =
            ready(&first, Some(setter), inspection, self.host, self.watcher, accepted)?;
        for i in 0..document.candidates.len() {
            if document.candidates[i].not_tried.is_some() {
                continue;
            }
            self.screen(&mut document, i, able, &mut machine)?;
            if !document.not_restored.is_empty() || document.outcome == AutoOutcome::Interrupted {
                return Ok(document);
            }
        }
        adjust(&mut document.candidates);
        document.winner = self.winner(&document.candidates);
        match document.winner {
            Some(winner) => self.confirm(&mut document, winner, machine, place)?,
            None if document.candidates.iter().any(Screened::screened) => {
                document.outcome = AutoOutcome::NothingHelps;
            }
            None => document.outcome = AutoOutcome::NotMeasured,
        }
        Ok(document)
    }

    /// Sets every candidate once and puts it back; what the kernel does not take is not measured.
    fn prove(&self, document: &mut AutoDocument) -> Result<(), RunError> {
        let keys = document.candidates.iter().map(|c| c.key.clone()).collect();
        let mut setter = Setter::new(&self.options.target, PROOF, keys, false)?;
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

    /// Says how long it will take.
    fn announce(&self, candidates: usize) {
        let each = self.options.workload.run_time() + self.options.settle;
        let screening = candidates as f64 * f64::from(self.options.screening_pairs) * 2.0;
        let confirming = f64::from(seekwell_stats::BLOCKS_DEFAULT) * 4.0;
        let about = |runs: f64| time_about(Nanos::from_secs_f64(runs * each.as_secs_f64()));
        self.watcher.note(&format!(
            "{candidates} candidates: about {} to screen them, and about {} or more to confirm the \
             best",
            about(screening),
            about(confirming)
        ));
    }

    /// The experiment number `n`: a candidate against the disk as it is. `pairs` fixes the number
    /// of runs for screening; without it the experiment decides, and claims a gain.
    fn experiment(&self, setting: Option<Setting>, pairs: Option<u32>, n: u64) -> Experiment {
        // Each has other requests and another order than those before it.
        let seed = self.options.seed.wrapping_add(n) & 0xFFFF_FFFF;
        let design = Design {
            shape: if pairs.is_some() { Shape::Pairs } else { Shape::Fours },
            blocks: pairs,
            settle_ns: self.options.settle,
            ..Design::new(self.metric(), self.options.margin, seed)
        };
        let a = ArmSpec::new(self.options.workload.clone());
        let mut b = a.clone();
        b.settings.extend(setting);
        let target = path_text(&self.options.target);
        Experiment {
            command: self.command(&b, seed),
            identity: identity(&self.inspection),
            size_bytes: self.options.size_bytes,
            destroy: self.options.destroy.clone(),
            expect: pairs.is_none().then_some(Claim::Faster),
            ..Experiment::new(self.tool.clone(), target, design, a, b)
        }
    }

    /// The command line of one experiment by itself.
    fn command(&self, b: &ArmSpec, seed: u64) -> Vec<String> {
        let mut words: Vec<String> = ["seekwell", "experiment", "--on"].map(str::to_owned).to_vec();
        words.extend([path_text(&self.options.target), "--b".to_owned()]);
        words.extend(b.settings.iter().map(|s| format!("{}={}", s.key, s.value)));
        words.push(format!("--metric={}", self.metric()));
        let options = self.options.workload.words().into_iter();
        words.extend(options.map(|(key, value)| format!("--{key}={value}")));
        words.extend(self.options.size_bytes.map(|size| format!("--size={size}")));
        words.extend(self.options.destroy.iter().map(|serial| format!("--destroy={serial}")));
        words.push(format!("--seed={seed}"));
        words
    }

    fn screen(
        &self,
        document: &mut AutoDocument,
        i: usize,
        of: usize,
        machine: &mut ThisMachine<'a>,
    ) -> Result<(), RunError> {
        let setting = document.candidates[i].setting();
        let done = document.candidates.iter().filter(|c| c.screened()).count() + 1;
        let lead = format!("{done} of {of}, {}={}: ", setting.key, setting.value);
        let pairs = Some(self.options.screening_pairs);
        let mut experiment = self.experiment(Some(setting), pairs, i as u64 + 1);
        begin(&mut experiment, machine, None)?;
        let mut shown = Shown { watcher: self.watcher, lead };
        let stop = &self.host.control.stop;
        conduct(&mut experiment, machine, &mut InMemory, &mut shown, stop)?;
        document.not_restored.extend(experiment.not_restored);
        if experiment.status == Status::Interrupted {
            document.outcome = AutoOutcome::Interrupted;
        }
        let candidate = &mut document.candidates[i];
        if let Some(why) = experiment.invalid {
            candidate.not_tried = Some(why);
        } else if let Some(estimate) = experiment.conclusion.and_then(|c| c.estimate) {
            candidate.percent = Some(percent(estimate.centre));
            candidate.interval95 = estimate.interval95.map(seekwell_stats::Interval::percent);
            candidate.p = Some(estimate.p);
        }
        Ok(())
    }

    /// The candidate that gained most, if that is more than half of what matters: less than
    /// that, confirming it would take longer than the gain is worth.
    fn winner(&self, candidates: &[Screened]) -> Option<usize> {
        let design = Design::new(self.metric(), self.options.margin, 0);
        let gain = |c: &Screened| {
            let percent = c.percent?;
            Some(if design.better == Better::Higher { percent } else { -percent })
        };
        let gains = candidates.iter().enumerate().filter_map(|(i, c)| Some((i, gain(c)?)));
        gains
            .filter(|(_, gain)| *gain > design.margin.percent() / 2.0)
            .max_by(|(_, x), (_, y)| x.total_cmp(y))
            .map(|(i, _)| i)
    }

    fn confirm(
        &self,
        document: &mut AutoDocument,
        winner: usize,
        mut machine: ThisMachine<'a>,
        place: &ExperimentStore,
    ) -> Result<(), RunError> {
        let setting = document.candidates[winner].setting();
        let word = format!("{}={}", setting.key, setting.value);
        let n = document.candidates.len() as u64 + 1;
        let mut experiment = self.experiment(Some(setting), None, n);
        let mut folder = place.create(Timestamp::now())?;
        folder.id().clone_into(&mut experiment.id);
        if let Err(error) = begin(&mut experiment, &mut machine, None) {
            folder.discard();
            return Err(error.into());
        }
        let mut shown = Shown { watcher: self.watcher, lead: format!("confirming {word}: ") };
        let stop = &self.host.control.stop;
        let kept = conduct(&mut experiment, &mut machine, &mut folder, &mut shown, stop);
        drop(machine);
        self.watcher.clear();
        kept?;
        document.outcome = outcome(&experiment);
        if document.outcome == AutoOutcome::Helps {
            let target = self.options.target.display().to_string();
            let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
            document.keep = Some(vec![
                words(&["seekwell", "tune", "try", &target, &word]),
                words(&["seekwell", "tune", "keep", &target]),
            ]);
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
fn outcome(experiment: &Experiment) -> AutoOutcome {
    let Some(conclusion) = &experiment.conclusion else { return AutoOutcome::Interrupted };
    match (conclusion.decision, &conclusion.verdict) {
        (Decision::Invalid, _) => AutoOutcome::Invalid,
        (Decision::Undecided, _) => AutoOutcome::Undecided,
        (_, Some(Verdict::Faster { below_margin: false, .. })) => AutoOutcome::Helps,
        _ => AutoOutcome::NothingHelps,
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
