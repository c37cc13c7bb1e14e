//! What of a run is a job to fio: each repeat of each phase, in the order of the phases. Repeats
//! are never added up, for requests of several runs together are the distribution of none of them.

use super::OutputError;
use super::options::{self, Options};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::Nanos;
use seekwell_runs::{Detail, Phase, Repeat, RepeatDetail, RunDocument, Work};

/// One repeat of a phase.
pub(super) struct Job<'a> {
    /// The phase's name, with the number of the repeat if there are several.
    pub(super) name: String,
    pub(super) phase: &'a Phase,
    /// Number of the repeat, from 1.
    pub(super) number: u32,
    pub(super) repeat: &'a Repeat,
    /// Absent only if no request was completed.
    pub(super) detail: Option<&'a RepeatDetail>,
    pub(super) options: Options,
}

/// All jobs of a run.
///
/// # Errors
/// [`OutputError`] for a suite, and where a measured repeat lacks its detail.
pub(super) fn jobs<'a>(
    document: &'a RunDocument,
    detail: &'a Detail,
) -> Result<Vec<Job<'a>>, OutputError> {
    let mut out = Vec::new();
    for phase in &document.phases {
        if matches!(phase.workload, Work::Suite(_)) {
            return Err(OutputError::Suite { phase: phase.name.clone() });
        }
        for (number, repeat) in (1..).zip(&phase.repeats) {
            let wanted = |d: &&RepeatDetail| d.phase == phase.name && d.repeat + 1 == number;
            let detail = detail.repeats.iter().find(wanted);
            if detail.is_none() && !repeat.ops.is_empty() {
                let phase = phase.name.clone();
                return Err(OutputError::NoDetail { phase, repeat: number });
            }
            let name = match phase.repeats.len() {
                1 => phase.name.clone(),
                _ => format!("{}.{number}", phase.name),
            };
            let options = options::of(document, phase, repeat, &name);
            out.push(Job { name, phase, number, repeat, detail, options });
        }
    }
    Ok(out)
}

impl Job<'_> {
    /// An option's value.
    pub(super) fn option(&self, key: &str) -> Option<&str> {
        self.options.get(key)
    }

    /// Threads that did it together.
    pub(super) fn threads(&self) -> u64 {
        match &self.phase.workload {
            Work::Drawn(workload) => workload.threads.into(),
            Work::Job(job) => job.clones.into(),
            Work::Replayed(_) | Work::Suite(_) => 1,
        }
    }

    /// Time before measuring.
    pub(super) fn ramp(&self) -> Nanos {
        self.phase.workload.drawn().map_or(Nanos::ZERO, |w| w.ramp_ns)
    }

    /// The errno it ended with, 0 for none; what moved too little is an input/output error.
    pub(super) fn error(&self) -> i32 {
        const EIO: i32 = 5;
        const ETIMEDOUT: i32 = 110;
        match (self.repeat.failure.map(|f| f.kind), self.repeat.stopped) {
            (Some(kind), _) => kind.errno(),
            (None, Stopped::Failed) => EIO,
            (None, Stopped::Stalled) => ETIMEDOUT,
            (None, Stopped::Finished | Stopped::Interrupted) => 0,
        }
    }

    /// What it is, and why its figures do not count if they do not.
    pub(super) fn description(&self) -> String {
        match &self.repeat.invalid {
            None => self.phase.title.clone(),
            Some(why) => format!("{} (invalid: {why})", self.phase.title),
        }
    }

    /// How fio-plot finds it: the name of a file without its ending, of characters that are safe in
    /// one; `/` and `..` of a job file's values lead nowhere.
    pub(super) fn stem(&self, between: [&str; 2]) -> String {
        let part = |key| plain(self.option(key).unwrap_or("0"));
        let [depth, jobs] = between;
        format!("{}{depth}{}{jobs}{}", part("rw"), part("iodepth"), part("numjobs"))
    }

    /// The folder of results that would overwrite an earlier phase's.
    pub(super) fn folder(&self) -> String {
        plain(&self.phase.name)
    }
}

/// A text as part of a file name.
fn plain(text: &str) -> String {
    let safe = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '_',
    };
    text.chars().map(safe).take(100).collect()
}
