//! Runs every row on its machine.

use crate::error::ReproduceError;
use crate::interval::Interval;
use crate::recorded::recorded;
use crate::reproduced::{Basis, REPEATS, Reproduced};
use crate::row::{Better, How, Row};
use crate::unstated::{Sample, is_sampled};
use seekwell_io::engine::Control;
use seekwell_machine::describe::Provenance;
use seekwell_machine::what_if::{FASTER, Relief, faster};
use seekwell_machine::{Model, Speedup, library};
use seekwell_suites::load::{Load, Outcome, PlayError};
use seekwell_sys::thread::start_scoped;
use seekwell_trace::shipped::Shipped;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Of everything drawn.
const SEED: u64 = 1;

/// How much work to do.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Threads that run models.
    pub threads: usize,
    /// Samples of the unstated inputs; 0 uses the assumed values alone.
    pub samples: usize,
    /// Whether to find what limits each figure: every load also runs on machines with one station
    /// made faster.
    pub limits: bool,
}

/// One run of a load: the rows read off it, and the sample of their inputs; `None` for the assumed
/// values.
#[derive(Debug, Clone, Copy)]
struct Task {
    group: usize,
    sample: Option<usize>,
}

/// Runs the rows; `progress` is called with how many runs are done, and of how many.
///
/// # Errors
/// [`ReproduceError`] for the first row that cannot be run.
pub fn reproduce(
    rows: Vec<Row>,
    effort: Effort,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Reproduced>, ReproduceError> {
    let models = models(&rows)?;
    let played = played(&rows);
    let samples: Vec<Vec<Sample>> = played
        .iter()
        .map(|group| match is_sampled(&rows[group[0]]) {
            true => Sample::of(&rows[group[0]], effort.samples),
            false => Vec::new(),
        })
        .collect();
    let of_group = |group: usize| {
        let samples = (0..samples[group].len()).map(Some);
        std::iter::once(None).chain(samples).map(move |sample| Task { group, sample })
    };
    let tasks: Vec<Task> = (0..played.len()).flat_map(of_group).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let figures = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    let work = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Relaxed)) {
            if stop.load(Relaxed) {
                return;
            }
            let group = &played[task.group];
            let sample = task.sample.map(|sample| &samples[task.group][sample]);
            match figures_of(group, &rows, &models, sample, effort.limits && sample.is_none()) {
                Ok(of) => {
                    let of = group.iter().map(|row| (*row, task.sample)).zip(of);
                    lock(&figures).extend(of);
                }
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                    return;
                }
            }
            progress(done.fetch_add(1, Relaxed) + 1, tasks.len());
        }
    };
    std::thread::scope(|scope| {
        // What cannot be started is done by the others.
        (1..effort.threads).for_each(|_| drop(start_scoped(scope, "model", work)));
        work();
    });
    if let Some(error) = lock(&failed).take() {
        return Err(error);
    }
    if stop.load(Relaxed) {
        return Err(ReproduceError::Interrupted);
    }
    let mut figures = lock(&figures);
    let reproduced = rows.into_iter().enumerate().map(|(index, row)| {
        let figure = figures.remove(&(index, None)).unwrap_or_default();
        let samples: Option<Vec<f64>> = match is_sampled(&row) {
            true => (0..effort.samples)
                .map(|sample| figures.remove(&(index, Some(sample)))?.modelled)
                .collect(),
            // Nothing unstated changes it.
            false => figure.modelled.map(|same| vec![same; effort.samples]),
        };
        Reproduced {
            fitted: models.get(row.machine).map_or_else(Vec::new, |m| fitted(m, &row)),
            modelled: figure.modelled,
            samples: samples.unwrap_or_default(),
            interval: None,
            limited_by: figure.limited_by,
            basis: Basis::NotModelled,
            row,
        }
    });
    let mut reproduced: Vec<Reproduced> = reproduced.collect();
    for index in 0..reproduced.len() {
        if let Some((modelled, samples)) = processor(&reproduced[index].row, &reproduced, &models)?
        {
            (reproduced[index].modelled, reproduced[index].samples) = (modelled, samples);
        }
    }
    for index in 0..reproduced.len() {
        let basis = basis(&reproduced[index], &reproduced);
        let row = &mut reproduced[index];
        row.basis = basis;
        if basis == Basis::Predicted {
            row.interval = Interval::of(&row.row, &row.samples);
        }
    }
    Ok(reproduced)
}

/// Rows by number, those together that are read off one playing.
fn played(rows: &[Row]) -> Vec<Vec<usize>> {
    let same = |a: &Row, b: &Row| match (&a.how, &b.how) {
        (How::Load { load: of_a, .. }, How::Load { load: of_b, .. }) => {
            a.machine == b.machine && of_a == of_b
        }
        _ => false,
    };
    let mut played: Vec<Vec<usize>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        match played.iter_mut().find(|group| same(&rows[group[0]], row)) {
            Some(group) => group.push(index),
            None => played.push(vec![index]),
        }
    }
    played
}

fn basis(this: &Reproduced, rows: &[Reproduced]) -> Basis {
    let Some(modelled) = this.modelled else { return Basis::NotModelled };
    if !this.fitted.is_empty() {
        return Basis::Fitted;
    }
    let repeats = |other: &Reproduced| {
        !other.fitted.is_empty()
            && (other.row.document, &other.row.what) == (this.row.document, &this.row.what)
            && other.modelled.is_some_and(|fitted| (modelled / fitted - 1.0).abs() <= REPEATS)
    };
    let is_given = match &this.row.how {
        How::Recorded { .. } => true,
        // The host alone takes all of the processor, whatever one of its works takes.
        How::Processor { of, .. } => about(&this.row, of, rows).is_some_and(|other| {
            matches!(other.row.how, How::Load { load: Load::Host { .. }, .. })
        }),
        _ => false,
    };
    if is_given || rows.iter().any(repeats) { Basis::CarriedOver } else { Basis::Predicted }
}

/// Shares of the processor, in percent: with the assumed inputs, and of every sample.
type Shares = (Option<f64>, Vec<f64>);

/// For a row that gives a share of the processor, that share, computed from the row it is about;
/// `None` for other rows.
fn processor(
    row: &Row,
    rows: &[Reproduced],
    models: &BTreeMap<&'static str, Model>,
) -> Result<Option<Shares>, ReproduceError> {
    let How::Processor { of, work, each } = &row.how else { return Ok(None) };
    let ns = work_ns(row, work, models)?;
    let share = |rate: f64| (100.0 * rate * each * ns / 1e9).min(100.0);
    let other = about(row, of, rows);
    let samples = other.map(|other| other.samples.iter().map(|rate| share(*rate)).collect());
    let modelled = other.and_then(|other| other.modelled).map(share);
    Ok(Some((modelled, samples.unwrap_or_default())))
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
        if !models.contains_key(row.machine) {
            models.insert(row.machine, model(row, &[])?);
        }
    }
    Ok(models)
}

/// The machine of a row, with these parameters overridden.
fn model(row: &Row, set: &[(String, String)]) -> Result<Model, ReproduceError> {
    let name = row.machine;
    let Some(text) = library::machine(name) else {
        let (row, name) = (row.id(), format!("machine {name}"));
        return Err(ReproduceError::Missing { row, name });
    };
    Model::read(&format!("{name}.toml"), text, set, &library::Shelf::default())
        .map_err(|e| ReproduceError::Describe(Box::new(e)))
}

/// Parameters that were fitted on a row, or on all rows of its configuration.
fn fitted(model: &Model, row: &Row) -> Vec<String> {
    let names = [row.id(), format!("{} {}", row.document, row.configuration)];
    let on = model.parameters().iter().filter(|p| {
        p.origin.source == Provenance::Fitted && p.origin.on.iter().any(|on| names.contains(on))
    });
    on.map(|parameter| parameter.key.clone()).collect()
}

/// What a model gives for a row.
#[derive(Debug, Clone, Copy, Default)]
struct Figure {
    modelled: Option<f64>,
    limited_by: Option<Relief>,
}

/// The figures of rows that share one run of a load.
fn figures_of(
    group: &[usize],
    rows: &[Row],
    models: &BTreeMap<&'static str, Model>,
    sample: Option<&Sample>,
    limits: bool,
) -> Result<Vec<Figure>, ReproduceError> {
    let row = &rows[group[0]];
    let missing = |name: String| ReproduceError::Missing { row: row.id(), name };
    let shipped = |name: &str| Shipped::named(name).ok_or_else(|| missing(format!("trace {name}")));
    let failed = |source: PlayError| ReproduceError::Play { row: row.id(), source };
    Ok(match &row.how {
        How::NotModelled { .. } | How::Processor { .. } => vec![Figure::default()],
        How::Load { load, .. } => {
            let own = || models.get(row.machine).ok_or_else(|| missing(row.machine.to_owned()));
            let (model, load) = match sample {
                None => (own()?.clone(), load.clone()),
                Some(sample) => (model(row, &sample.machine())?, sample.load(row, load)?),
            };
            let play = |on: &Model| load.play(on, SEED, &Control::default()).map_err(failed);
            let outcome = play(&model)?;
            let others = if limits { faster(&model, FASTER) } else { Vec::new() };
            let others = others.iter().map(|(by, other)| Ok((*by, play(other)?)));
            let others = others.collect::<Result<Vec<_>, ReproduceError>>()?;
            group.iter().map(|index| Figure::read(&rows[*index], &outcome, &others)).collect()
        }
        How::Recorded { trace, property } => {
            let modelled = recorded(shipped(trace)?, *property).map_err(|e| failed(e.into()))?;
            vec![Figure { modelled: Some(modelled), limited_by: None }]
        }
    })
}

impl Figure {
    /// What a row reads off a playing, and the station that improves it most on faster machines.
    fn read(row: &Row, outcome: &Outcome, others: &[(Speedup, Outcome)]) -> Self {
        let How::Load { reads, .. } = &row.how else { return Self::default() };
        let modelled = reads.of(outcome);
        let gain = |(by, other): &(Speedup, Outcome)| {
            let ratio = reads.of(other)? / modelled?;
            Some((*by, if row.better == Better::Higher { ratio } else { 1.0 / ratio }))
        };
        Self { modelled, limited_by: Relief::most(others.iter().filter_map(gain)) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduced::tests::row;
    use crate::unstated::{Key, Unstated};

    /// The fit of one row holds for the others of its machine.
    #[test]
    fn what_a_fit_has_determined_is_not_sampled() {
        let rows = crate::rows();
        let models = models(&rows).expect("the machines are built in");
        for row in rows.iter().filter(|row| models.contains_key(row.machine)) {
            for input in Unstated::of(row) {
                let Key::Machine(key) = &input.set else { continue };
                let parameters = models[row.machine].parameters();
                let found = parameters.iter().find(|parameter| parameter.key == *key);
                let found = found.unwrap_or_else(|| panic!("{} has no {key}", row.machine));
                assert_ne!(found.origin.source, Provenance::Fitted, "{key} of {}", row.id());
            }
        }
    }

    #[test]
    fn a_figure_that_repeats_a_fitted_one_is_no_prediction() {
        let rows = [
            row("a", 100.0, 100.0, true),
            row("a", 104.0, 100.4, false),
            row("a", 104.0, 100.6, false),
            row("b", 104.0, 100.0, false),
        ];
        let bases = rows.each_ref().map(|row| basis(row, &rows));
        use Basis::{CarriedOver, Fitted, Predicted};
        assert_eq!(bases, [Fitted, CarriedOver, Predicted, Predicted]);
    }
}
