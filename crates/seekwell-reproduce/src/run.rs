//! Every row run, and what it amounts to.

use crate::play::{PlayError, drawn, played, recorded};
use crate::row::{Drawn, Figure, How, Played, Rate, Row};
use crate::rows::why_missed;
use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_machine::describe::{DescribeError, Provenance};
use seekwell_machine::{Model, library};
use seekwell_sys::classify;
use seekwell_trace::shipped::Shipped;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A modelled figure within this share of the published one is met.
pub const NEAR: f64 = 0.15;
/// Published figures further apart than this are an effect, whose direction a model has to show.
const EFFECT: f64 = 0.03;

/// Why the rows could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A description that ships is wrong.
    #[error(transparent)]
    Describe(Box<DescribeError>),
    /// A row could not be run.
    #[error("{row}: {source}")]
    Play {
        /// Its id.
        row: String,
        /// Why.
        source: PlayError,
    },
    /// A machine or trace that a row names does not ship.
    #[error("{row}: there is no {name}")]
    Missing {
        /// The row's id.
        row: String,
        /// What it names.
        name: String,
    },
    /// Someone asked to stop.
    #[error("interrupted")]
    Interrupted,
}

classify!(ReproduceError {
    Refused: Describe, Play, Missing;
    Interrupted: Interrupted;
});

/// A row and its modelled figure.
#[derive(Debug, Clone)]
pub struct Reproduced {
    /// What was published, and how it is modelled.
    pub row: Row,
    /// The modelled figure, where a model tells it.
    pub modelled: Option<f64>,
    /// Parameters of the machine that were fitted on this row; then it does not count.
    pub fitted: Vec<String>,
}

impl Reproduced {
    /// Modelled over published, less one.
    pub fn error(&self) -> Option<f64> {
        self.modelled.map(|modelled| modelled / self.row.published - 1.0)
    }

    /// Whether the figure is within [`NEAR`]; `None` where no model tells it.
    pub fn is_near(&self) -> Option<bool> {
        self.error().map(|error| error.abs() <= NEAR)
    }

    /// Why there is no figure, or why it is not near.
    pub fn why(&self) -> Option<&'static str> {
        match &self.row.how {
            How::NotModelled { why } => Some(why),
            _ if self.is_near() == Some(false) => why_missed(&self.row.id()),
            _ => None,
        }
    }
}

/// What all rows amount to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows.
    pub rows: usize,
    /// Rows that a parameter was fitted on.
    pub fitted: usize,
    /// Rows that no model tells.
    pub not_modelled: usize,
    /// Rows that were modelled and not fitted.
    pub predicted: usize,
    /// Of these, how many are near.
    pub near: usize,
    /// Predicted rows that rest on the host's own work alone: no disk takes part in them.
    pub host_alone: usize,
    /// Of these, how many are near.
    pub host_alone_near: usize,
    /// Effects: neighbouring configurations whose published figures differ.
    pub effects: usize,
    /// Of these, how many the models show in the same direction.
    pub directions: usize,
}

/// Runs the rows that `wanted` picks, on as many threads as `threads`; `progress` hears the share
/// that is done.
///
/// # Errors
/// [`ReproduceError`] for the first row that cannot be run.
pub fn reproduce(
    rows: Vec<Row>,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Reproduced>, ReproduceError> {
    let models = models(&rows)?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let figures = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    let work = || {
        while let Some(index) = Some(next.fetch_add(1, Relaxed)).filter(|i| *i < rows.len()) {
            if stop.load(Relaxed) {
                return;
            }
            match figure(&rows[index], &models) {
                Ok(figure) => lock(&figures).insert(index, figure),
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                    return;
                }
            };
            progress(done.fetch_add(1, Relaxed) + 1, rows.len());
        }
    };
    std::thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
    if let Some(error) = lock(&failed).take() {
        return Err(error);
    }
    if stop.load(Relaxed) {
        return Err(ReproduceError::Interrupted);
    }
    let mut figures = lock(&figures);
    let reproduced = rows.into_iter().enumerate().map(|(index, row)| Reproduced {
        fitted: models.get(row.machine).map_or_else(Vec::new, |m| fitted(m, &row.id())),
        modelled: figures.remove(&index).flatten(),
        row,
    });
    let mut reproduced: Vec<Reproduced> = reproduced.collect();
    for index in 0..reproduced.len() {
        reproduced[index].modelled = match processor(&reproduced[index].row, &reproduced, &models)?
        {
            Some(share) => share,
            None => reproduced[index].modelled,
        };
    }
    Ok(reproduced)
}

/// The share of the processor that a row tells, from the figure of the row it is about; `None` for
/// other rows.
fn processor(
    row: &Row,
    rows: &[Reproduced],
    models: &BTreeMap<&'static str, Model>,
) -> Result<Option<Option<f64>>, ReproduceError> {
    let How::Processor { of, work, each } = &row.how else { return Ok(None) };
    let ns = work_ns(row, work, models)?;
    let rate = about(row, of, rows).and_then(|other| other.modelled);
    Ok(Some(rate.map(|rate| (100.0 * rate * each * ns / 1e9).min(100.0))))
}

/// What one of the host's works takes, in nanoseconds.
fn work_ns(
    row: &Row,
    work: &str,
    models: &BTreeMap<&'static str, Model>,
) -> Result<f64, ReproduceError> {
    let ns = models.get(row.machine).and_then(|model| model.host().work_ns.get(work));
    ns.copied().ok_or_else(|| ReproduceError::Missing {
        row: row.id(),
        name: format!("host.work_ns.{work} in {}", row.machine),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The machines that rows name, by name.
fn models(rows: &[Row]) -> Result<BTreeMap<&'static str, Model>, ReproduceError> {
    let mut models = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.machine.is_empty()) {
        if models.contains_key(row.machine) {
            continue;
        }
        let Some(text) = library::machine(row.machine) else {
            let (row, name) = (row.id(), format!("machine {}", row.machine));
            return Err(ReproduceError::Missing { row, name });
        };
        let file = format!("{}.toml", row.machine);
        let model = Model::read(&file, text, &[], &library::Shelf::default())
            .map_err(|e| ReproduceError::Describe(Box::new(e)))?;
        models.insert(row.machine, model);
    }
    Ok(models)
}

/// Parameters that were fitted on a row.
fn fitted(model: &Model, id: &str) -> Vec<String> {
    let on = model.parameters().iter().filter(|p| {
        p.origin.source == Provenance::Fitted && p.origin.on.iter().any(|row| row == id)
    });
    on.map(|parameter| parameter.key.clone()).collect()
}

/// A row's modelled figure.
fn figure(
    row: &Row,
    models: &BTreeMap<&'static str, Model>,
) -> Result<Option<f64>, ReproduceError> {
    let missing = |name: String| ReproduceError::Missing { row: row.id(), name };
    let model = || models.get(row.machine).ok_or_else(|| missing(row.machine.to_owned()));
    let shipped = |name: &str| Shipped::named(name).ok_or_else(|| missing(format!("trace {name}")));
    let failed = |source: PlayError| ReproduceError::Play { row: row.id(), source };
    Ok(match &row.how {
        How::NotModelled { .. } | How::Processor { .. } => None,
        How::Drawn(workload) => {
            let measured = drawn(model()?, workload).map_err(failed)?;
            Some(read_off(&measured, workload))
        }
        How::Played(Played { trace, pace, figure, thinks }) => {
            let speed = match thinks {
                Some((work, recorded_ns)) => recorded_ns / work_ns(row, work, models)?,
                None => 1.0,
            };
            let measured = played(model()?, shipped(trace)?, *pace, speed).map_err(failed)?;
            let seconds = measured.elapsed.as_secs_f64();
            Some(match figure {
                Figure::PerSecond(things) => things / seconds,
                Figure::SecondsOf(share) => seconds / share,
                Figure::RequestsPerSecond => measured.requests() as f64 / seconds,
            })
        }
        How::Host { work, per_s } => Some(1e9 * per_s / work_ns(row, work, models)?),
        How::Recorded { trace, property } => {
            Some(recorded(shipped(trace)?, *property).map_err(failed)?)
        }
    })
}

fn read_off(measured: &Measurement, workload: &Drawn) -> f64 {
    // Writes beside the workload are none of its requests.
    let ops: &[Op] =
        if workload.beside_writes.is_some() { &[Op::Read] } else { &[Op::Read, Op::Write] };
    let seconds = measured.elapsed.as_secs_f64();
    let sum = |what: fn(&Measurement, Op) -> u64| -> f64 {
        ops.iter().map(|op| what(measured, *op) as f64).sum::<f64>() / seconds
    };
    match workload.reads_off {
        Rate::BytesPer(unit) => sum(|m, op| m.op(op).bytes) / unit,
        Rate::RequestsPer(unit) => sum(|m, op| m.op(op).requests) / unit,
    }
}

/// What all of `rows` amount to.
pub fn summary(rows: &[Reproduced]) -> Summary {
    let mut sum = Summary { rows: rows.len(), ..Summary::default() };
    for row in rows {
        match (row.modelled, row.fitted.is_empty()) {
            (None, _) => sum.not_modelled += 1,
            (Some(_), false) => sum.fitted += 1,
            (Some(_), true) => {
                let is_near = usize::from(row.is_near() == Some(true));
                let is_host_alone = usize::from(is_host_alone(&row.row, rows));
                sum.predicted += 1;
                sum.near += is_near;
                sum.host_alone += is_host_alone;
                sum.host_alone_near += is_host_alone * is_near;
            }
        }
    }
    for pair in effects(rows) {
        sum.effects += 1;
        sum.directions += usize::from(is_same_direction(pair));
    }
    sum
}

/// Whether a row is about the host's own work, or about the share of the processor that it takes.
fn is_host_alone(row: &Row, rows: &[Reproduced]) -> bool {
    match &row.how {
        How::Host { .. } => true,
        How::Processor { of, .. } => {
            about(row, of, rows).is_some_and(|other| matches!(other.row.how, How::Host { .. }))
        }
        _ => false,
    }
}

/// The row of the same configuration that is named.
fn about<'a>(row: &Row, of: &str, rows: &'a [Reproduced]) -> Option<&'a Reproduced> {
    let same = |other: &&Reproduced| {
        let other = &other.row;
        other.document == row.document
            && other.what == of
            && other.configuration == row.configuration
    };
    rows.iter().find(same)
}

/// Neighbouring configurations of one test whose published figures differ.
pub fn effects(rows: &[Reproduced]) -> impl Iterator<Item = [&Reproduced; 2]> {
    rows.iter().enumerate().filter_map(|(index, b)| {
        let same = |a: &&Reproduced| {
            a.row.document == b.row.document
                && a.row.what == b.row.what
                && !b.row.machine.is_empty()
        };
        let a = rows[..index].iter().rev().find(same)?;
        let differ = (b.row.published / a.row.published - 1.0).abs() > EFFECT;
        (differ && a.modelled.is_some() && b.modelled.is_some()).then_some([a, b])
    })
}

/// Whether the models differ as the published figures do.
pub fn is_same_direction([a, b]: [&Reproduced; 2]) -> bool {
    match (a.modelled, b.modelled) {
        (Some(x), Some(y)) => (y > x) == (b.row.published > a.row.published) && x != y,
        _ => false,
    }
}
