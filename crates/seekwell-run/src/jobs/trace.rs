//! The traces that jobs play (`read_iolog`): looked at once before the run, so that it is known
//! which files they use, how far, and whether they write.

use super::error::{JobRunError, TraceFault};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_job::job::{By, EngineKind, Job, Kind, Replay};
use seekwell_job::layout::Recorded;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Reading};
use seekwell_trace::record::{Flags, Record};
use seekwell_trace::replay::{DeviceSurvey, Moment, survey};
use seekwell_trace::source::{About, Tables, TraceSource};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A trace as a job plays it.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The file it is in.
    pub path: PathBuf,
    rule: Replay,
    /// The recorded devices that are played, by their numbers in the trace.
    devices: Vec<u32>,
    /// The file each of them is played on, and how.
    pub files: Vec<Recorded>,
    /// Its longest read or write, in bytes.
    pub longest_bytes: u32,
    /// Time of its first request.
    pub first: Nanos,
}

/// The traces of all jobs, by number of the job and of the trace in its list.
pub type Traces = BTreeMap<(usize, usize), Arc<Trace>>;

/// The trace that a clone plays, where its job plays any.
pub fn of<'t>(traces: &'t Traces, jobs: &[Job], job: usize, clone: u32) -> Option<&'t Arc<Trace>> {
    let files = jobs[job].replay.as_ref()?.files.len();
    traces.get(&(job, clone as usize % files.max(1)))
}

/// Looks at every trace; a job is from then on known to read and write as its traces do.
pub fn look(jobs: &mut [Job]) -> Result<Traces, JobRunError> {
    let mut traces = Traces::new();
    for (number, job) in jobs.iter_mut().enumerate() {
        let Some(rule) = job.replay.clone() else { continue };
        let mut all = By::all(false);
        for (index, path) in rule.files.iter().enumerate().take(job.clones as usize) {
            let trace = Trace::look(job, &rule, path)?;
            for By { read, write, trim } in trace.files.iter().map(|file| file.makes) {
                (all.read, all.write, all.trim) =
                    (all.read | read, all.write | write, all.trim | trim);
            }
            traces.insert((number, index), Arc::new(trace));
        }
        let By { read: reads, write: writes, trim: discards } = all;
        let kind = match (reads, writes, discards) {
            (true, false, false) => Kind::Read,
            (false, true, false) => Kind::Write,
            (false, false, true) => Kind::Trim,
            _ => Kind::ReadWrite,
        };
        if let Some(asked) = rule.kind {
            let against = [
                (reads && !asked.reads(), "read"),
                (writes && !asked.writes(), "write"),
                (discards && !asked.trims(), "trim"),
            ];
            if let Some((_, word)) = against.into_iter().find(|(against, _)| *against) {
                return Err(TraceFault::Against { rw: job.options["rw"].clone(), word }.of(job));
            }
        }
        job.access.kind = kind;
    }
    Ok(traces)
}

impl Trace {
    fn look(job: &Job, rule: &Replay, path: &Path) -> Result<Self, JobRunError> {
        let wrong = |error| TraceFault::Unreadable(Box::new(error)).of(job);
        let source = formats::open_file(path, &Reading::default()).map_err(wrong)?;
        let mut source = Altered { source, rule: rule.clone(), devices: None };
        let found = survey(&mut source, Moment::Queue).map_err(wrong)?;
        let used = |device: &DeviceSurvey| device.total() > 0;
        let devices: Vec<u32> =
            (0..).zip(&found.devices).filter(|(_, d)| used(d)).map(|(n, _)| n).collect();
        let (mut files, mut longest_bytes) = (Vec::new(), 1);
        for device in &devices {
            let name = source.tables().devices.get(*device as usize).map(|d| d.name.as_str());
            let path = place(job, rule, name.unwrap_or_default(), source.about())?;
            let DeviceSurvey { requests, end_bytes, longest_bytes: longest, .. } =
                found.devices[*device as usize];
            let [read, write, _, trim] = requests.map(|requests| requests > 0);
            files.push(Recorded { path, end_bytes, makes: By { read, write, trim } });
            longest_bytes = longest.max(longest_bytes);
        }
        // Flushes alone have no place of their own.
        if files.iter().all(|file| file.end_bytes == 0) {
            return Err(TraceFault::Empty(path.to_path_buf()).of(job));
        }
        let (path, first) = (path.to_path_buf(), found.first);
        Ok(Self { path, rule: rule.clone(), devices, files, longest_bytes, first })
    }

    /// The first byte that no request reaches, in any file.
    pub fn end_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.end_bytes).max().unwrap_or(0).max(1)
    }

    /// Its requests; their device is the number of the file.
    pub fn open(&self) -> Result<Box<dyn TraceSource + Send>, TraceError> {
        let source = formats::open_file(&self.path, &Reading::default())?;
        let numbers = (0..).zip(&self.devices).map(|(file, device)| (*device, file)).collect();
        Ok(Box::new(Altered { source, rule: self.rule.clone(), devices: Some(numbers) }))
    }
}

/// Where a recorded device is played: where the job says, or under its own name.
fn place(job: &Job, rule: &Replay, name: &str, about: &About) -> Result<PathBuf, JobRunError> {
    if let Some(path) = &rule.redirect {
        return Ok(path.clone());
    }
    let is_path = name.contains('/') || (about.format == "iolog" && !name.is_empty());
    if !is_path && job.engine.kind != EngineKind::Null {
        return Err(TraceFault::NoPlace(name.to_owned()).of(job));
    }
    let recorded = Path::new(name);
    let recorded = match recorded.file_name() {
        Some(last) if rule.base_names => Path::new(last),
        _ => recorded,
    };
    // fio puts the folder before every name, also before an absolute one.
    Ok(match job.files.directories.first() {
        Some(folder) => folder.join(recorded.strip_prefix("/").unwrap_or(recorded)),
        None => recorded.to_path_buf(),
    })
}

/// A trace with what its job leaves out or changes.
struct Altered {
    source: Box<dyn TraceSource + Send>,
    rule: Replay,
    /// Numbers of files by number of the device; none before they are known.
    devices: Option<HashMap<u32, u32>>,
}

impl Altered {
    fn alter(&self, record: &mut Record) -> bool {
        let skip = &self.rule.skip;
        let skipped = match record.op {
            Op::Read => skip.read,
            Op::Write => skip.write,
            Op::Discard => skip.trim,
            Op::Flush => self.rule.skip_flush,
        };
        if skipped || record.flags.has(Flags::OTHER) {
            return false;
        }
        record.offset /= u64::from(self.rule.scale.max(1));
        record.offset -= record.offset % u64::from(self.rule.align_bytes.max(1));
        if self.rule.redirect.is_some() {
            record.device = 0;
        }
        match &self.devices {
            None => true,
            Some(numbers) => match numbers.get(&record.device) {
                Some(file) => {
                    record.device = *file;
                    true
                }
                None => false,
            },
        }
    }
}

impl TraceSource for Altered {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let before = out.len();
        loop {
            self.source.read(out)?;
            if out.len() == before {
                return Ok(());
            }
            let read = out.split_off(before);
            out.extend(
                read.into_iter().filter_map(|mut record| self.alter(&mut record).then_some(record)),
            );
            // Nothing left of a batch is not the end of the trace.
            if out.len() > before {
                return Ok(());
            }
        }
    }

    fn about(&self) -> &About {
        self.source.about()
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }
}
