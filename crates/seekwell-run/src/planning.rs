//! How much of a load machines bear: what is asked, and the answer as a document.

use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;
use seekwell_job::PlainJob;
use seekwell_machine::plan::{Limit, Load, Planned, plan};
use seekwell_machine::{LoadError, Model};
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Reading};
use seekwell_trace::record::Flags;
use seekwell_trace::source::each_batch;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What machines are to bear.
#[derive(Debug, Clone)]
pub enum Burden {
    /// A job, of which this many requests are drawn.
    Job(Box<PlainJob>, u64),
    /// Requests at their times.
    Trace(Vec<Request>),
}

/// A row of `seekwell/plan/1`.
#[derive(Debug, Clone, Serialize)]
pub struct PlanRow {
    /// The file, or the name of a built-in machine.
    pub machine: String,
    /// What the description calls it.
    pub title: String,
    /// `KEY=VALUE` of what differs from the description.
    pub set: Vec<String>,
    /// What it bears.
    #[serde(flatten)]
    pub planned: Planned,
    /// What it costs, in any unit.
    pub price: Option<f64>,
    /// The price of 1,000 requests a second at the highest load it bears.
    pub price_per_1000_per_s: Option<f64>,
    /// What rates, means and medians of a fitted machine may be wrong by.
    pub model_error_percent: Option<f64>,
    /// The same of higher percentiles.
    pub model_tail_error_percent: Option<f64>,
}

/// One machine that is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The file, or the name of a built-in machine.
    pub machine: String,
    /// What differs from the description.
    pub set: Vec<(String, String)>,
    /// The machine.
    pub model: Model,
    /// What it costs, in any unit.
    pub price: Option<f64>,
}

impl Asked {
    /// The machine, with what differs from its description.
    pub fn name(&self) -> String {
        let words = self.set.iter().map(|(key, value)| format!(" {key}={value}"));
        format!("{}{}", self.machine, words.collect::<String>())
    }

    fn row(&self, planned: Planned) -> PlanRow {
        let (price, fit) = (self.price, self.model.fit());
        let per_1000 = |most: f64| Some(1000.0 * price? / most);
        PlanRow {
            machine: self.machine.clone(),
            title: self.model.title().to_owned(),
            set: self.set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
            price,
            price_per_1000_per_s: planned.most.as_ref().and_then(|m| per_1000(m.requests_per_s)),
            planned,
            model_error_percent: fit.map(|fit| fit.error_percent),
            model_tail_error_percent: fit.map(|fit| fit.tail_error_percent),
        }
    }
}

/// What of a trace came to a device, by the time at which it came.
///
/// # Errors
/// [`TraceError`].
pub fn arrivals(path: &Path, how: &Reading) -> Result<Vec<Request>, TraceError> {
    let mut source = formats::open(path, how, &Arc::default())?;
    let mut requests: Vec<Request> = Vec::new();
    each_batch(&mut *source, |batch| {
        requests.extend(batch.iter().filter(|r| r.reached_device()).filter_map(|record| {
            Some(Request {
                op: record.op,
                offset: record.offset,
                len: record.len,
                wanted: Some(record.arrival().get()?),
                id: 0,
                durable: record.flags.has(Flags::FUA) && record.op == Op::Write,
                queue: 0,
            })
        }));
        true
    })?;
    requests.sort_by_key(|request| request.wanted.unwrap_or(Nanos::ZERO));
    Ok(requests)
}

/// What each machine bears within limits, in the machines' order; see [`plan`].
///
/// # Errors
/// For each machine, [`LoadError`].
pub fn plan_rows(
    asked: &[Asked],
    burden: &Burden,
    limits: &[Limit],
    seed: u64,
    threads: usize,
) -> Vec<Result<PlanRow, LoadError>> {
    let machines: Vec<&Model> = asked.iter().map(|asked| &asked.model).collect();
    let planned = match burden {
        Burden::Trace(requests) => plan(&machines, Load::Trace(requests), limits, seed, threads),
        Burden::Job(job, requests) => {
            let workload = job.workload(u64::MAX, true, seed);
            let load = Load::Job { workload: &workload, requests: *requests };
            plan(&machines, load, limits, seed, threads)
        }
    };
    asked.iter().zip(planned).map(|(asked, found)| Ok(asked.row(found?))).collect()
}
