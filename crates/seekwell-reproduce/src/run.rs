//! Every row run, and what it amounts to.

use crate::recorded::recorded;
use crate::row::{Better, How, NEAR, Row};
use crate::rows::why_missed;
use seekwell_io::engine::Control;
use seekwell_machine::describe::{DescribeError, Provenance};
use seekwell_machine::what_if::{FASTER, Relief, faster};
use seekwell_machine::{Model, Speedup, library};
use seekwell_suites::load::{Load, Outcome, PlayError};
use seekwell_sys::classify;
use seekwell_sys::thread::start_scoped;
use seekwell_trace::shipped::Shipped;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A modelled figure within this share of a fitted sibling's repeats it.
const REPEATS: f64 = 0.005;
/// Published figures further apart than this are an effect, which a model has to show.
const EFFECT: f64 = 0.03;
/// A modelled effect is shown if it is at most this many times the published one, and the
/// other way round.
const MAGNITUDE: f64 = 3.0;
/// Of everything drawn.
const SEED: u64 = 1;

#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    #[error(transparent)]
    Describe(Box<DescribeError>),
    #[error("{row}: {source}")]
    Play { row: String, source: PlayError },
    #[error("{row}: there is no {name}")]
    Missing { row: String, name: String },
    #[error("interrupted")]
    Interrupted,
}

classify!(ReproduceError {
    Refused: Describe, Play, Missing;
    Interrupted: Interrupted;
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// No row that was fitted determines it.
    Predicted,
    /// It repeats the figure of a row that was fitted, or is a property of a re-recorded trace.
    CarriedOver,
    /// A parameter of the machine was fitted on it.
    Fitted,
    /// No model gives this figure.
    NotModelled,
}

impl Basis {
    /// The word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::CarriedOver => "carried over",
            Self::Fitted => "fitted",
            Self::NotModelled => "not modelled",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Reproduced {
    /// What was published, and how it is modelled.
    pub row: Row,
    /// The modelled figure, where a model tells it.
    pub modelled: Option<f64>,
    /// What limits the modelled figure, where it was asked for and a load gives the figure.
    pub limited_by: Option<Relief>,
    /// Parameters of the machine that were fitted on this row.
    pub fitted: Vec<String>,
    pub basis: Basis,
}

impl Reproduced {
    /// Modelled over published, less one.
    pub fn error(&self) -> Option<f64> {
        self.modelled.map(|modelled| modelled / self.row.published - 1.0)
    }

    /// Whether the figure is as near as [`crate::Reading::near`] says, or rounds to a published
    /// share of the processor, which has no decimals; `None` where there is no figure.
    pub fn is_near(&self) -> Option<bool> {
        let modelled = self.modelled?;
        let is_printed_so = self.row.unit == "%CP" && modelled.round() == self.row.published;
        let near = if let How::Load { reads, .. } = &self.row.how { reads.near() } else { NEAR };
        Some(is_printed_so || self.error()?.abs() <= near)
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

/// Rows of one basis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub rows: usize,
    pub near: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: usize,
    pub predicted: Count,
    pub carried_over: Count,
    pub fitted: Count,
    pub not_modelled: usize,
    /// Neighbouring configurations whose published figures differ, not fitted at both ends.
    pub effects: usize,
    /// How many of these the models show.
    pub shown: usize,
}

/// Runs the rows on as many threads as `threads`; `progress` hears the share that is done. With
/// `limits`, every load is also played on machines with one station faster each.
///
/// # Errors
/// [`ReproduceError`] for the first row that cannot be run.
pub fn reproduce(
    rows: Vec<Row>,
    threads: usize,
    limits: bool,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Reproduced>, ReproduceError> {
    let models = models(&rows)?;
    let played = played(&rows);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let figures = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    let work = || {
        while let Some(group) = played.get(next.fetch_add(1, Relaxed)) {
            if stop.load(Relaxed) {
                return;
            }
            match figures_of(group, &rows, &models, limits) {
                Ok(of) => lock(&figures).extend(group.iter().copied().zip(of)),
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                    return;
                }
            }
            progress(done.fetch_add(group.len(), Relaxed) + group.len(), rows.len());
        }
    };
    std::thread::scope(|scope| {
        // What cannot be started is done by the others.
        (1..threads).for_each(|_| drop(start_scoped(scope, "model", work)));
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
        let figure = figures.remove(&index).unwrap_or_default();
        Reproduced {
            fitted: models.get(row.machine).map_or_else(Vec::new, |m| fitted(m, &row)),
            modelled: figure.modelled,
            limited_by: figure.limited_by,
            basis: Basis::NotModelled,
            row,
        }
    });
    let mut reproduced: Vec<Reproduced> = reproduced.collect();
    for index in 0..reproduced.len() {
        reproduced[index].modelled = match processor(&reproduced[index].row, &reproduced, &models)?
        {
            Some(share) => share,
            None => reproduced[index].modelled,
        };
    }
    for index in 0..reproduced.len() {
        reproduced[index].basis = basis(&reproduced[index], &reproduced);
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

/// The figures of rows that are read off one playing.
fn figures_of(
    group: &[usize],
    rows: &[Row],
    models: &BTreeMap<&'static str, Model>,
    limits: bool,
) -> Result<Vec<Figure>, ReproduceError> {
    let row = &rows[group[0]];
    let missing = |name: String| ReproduceError::Missing { row: row.id(), name };
    let model = || models.get(row.machine).ok_or_else(|| missing(row.machine.to_owned()));
    let shipped = |name: &str| Shipped::named(name).ok_or_else(|| missing(format!("trace {name}")));
    let failed = |source: PlayError| ReproduceError::Play { row: row.id(), source };
    Ok(match &row.how {
        How::NotModelled { .. } | How::Processor { .. } => vec![Figure::default()],
        How::Load { load, .. } => {
            let model = model()?;
            let play = |on: &Model| load.play(on, SEED, &Control::default()).map_err(failed);
            let outcome = play(model)?;
            let others = if limits { faster(model, FASTER) } else { Vec::new() };
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

pub fn summary(rows: &[Reproduced]) -> Summary {
    let mut sum = Summary { rows: rows.len(), ..Summary::default() };
    for row in rows {
        let count = match row.basis {
            Basis::Predicted => &mut sum.predicted,
            Basis::CarriedOver => &mut sum.carried_over,
            Basis::Fitted => &mut sum.fitted,
            Basis::NotModelled => {
                sum.not_modelled += 1;
                continue;
            }
        };
        count.rows += 1;
        count.near += usize::from(row.is_near() == Some(true));
    }
    for pair in effects(rows) {
        sum.effects += 1;
        sum.shown += usize::from(is_shown(pair));
    }
    sum
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

/// Neighbouring configurations of one test whose published figures differ, by more than a rounded
/// share of the processor can; not those fitted at both ends, where the model has no say.
pub fn effects(rows: &[Reproduced]) -> impl Iterator<Item = [&Reproduced; 2]> {
    rows.iter().enumerate().filter_map(|(index, b)| {
        let same = |a: &&Reproduced| {
            a.row.document == b.row.document
                && a.row.what == b.row.what
                && !b.row.machine.is_empty()
        };
        let a = rows[..index].iter().rev().find(same)?;
        let rounding = if b.row.unit == "%CP" { 1.0 } else { 0.0 };
        let by = (b.row.published - a.row.published).abs();
        let differ = by > rounding && by / a.row.published > EFFECT;
        let is_free = a.fitted.is_empty() || b.fitted.is_empty();
        (differ && is_free && a.modelled.is_some() && b.modelled.is_some()).then_some([a, b])
    })
}

/// How many times as large the second figure is as the first, published and modelled.
pub fn ratios([a, b]: [&Reproduced; 2]) -> Option<[f64; 2]> {
    Some([b.row.published / a.row.published, b.modelled? / a.modelled?])
}

/// Whether the models differ as the published figures do: in the same direction, and by a third to
/// three times as much.
pub fn is_shown(pair: [&Reproduced; 2]) -> bool {
    let Some([published, modelled]) = ratios(pair).map(|ratios| ratios.map(f64::ln)) else {
        return false;
    };
    (1.0 / MAGNITUDE..=MAGNITUDE).contains(&(modelled / published))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: &str, published: f64, modelled: f64, fitted: bool) -> Reproduced {
        Reproduced {
            row: Row {
                document: "R9",
                what: what.to_owned(),
                configuration: "",
                machine: "some",
                unit: "/s",
                better: Better::Higher,
                published,
                how: How::NotModelled { why: "" },
            },
            modelled: Some(modelled),
            limited_by: None,
            fitted: if fitted { vec!["drive.rpm".to_owned()] } else { Vec::new() },
            basis: Basis::NotModelled,
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

    #[test]
    fn an_effect_is_shown_with_its_direction_and_a_third_of_its_size() {
        let shown = |published, modelled, fitted| {
            let rows = [row("a", 100.0, 100.0, fitted), row("a", published, modelled, fitted)];
            effects(&rows).map(is_shown).collect::<Vec<_>>()
        };
        assert_eq!(shown(200.0, 130.0, false), [true]);
        assert_eq!(shown(200.0, 120.0, false), [false], "a right direction alone is nothing");
        assert_eq!(shown(200.0, 50.0, false), [false]);
        assert_eq!(shown(110.0, 200.0, false), [false], "seven times the published effect");
        assert_eq!(shown(102.0, 130.0, false), [false; 0], "no effect was published");
        assert_eq!(shown(200.0, 200.0, true), [true; 0], "both ends were fitted");
    }
}
