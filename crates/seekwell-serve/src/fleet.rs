//! The runs of many hosts, in a database.

use crate::connections::{Busy, Connections};
use crate::http::{Answer, Request};
use crate::{kept, not_kept, page, unreadable};
use seekwell_compare::{TrendError, TrendOptions, trend};
use seekwell_fleet::{Database, Day, FleetError, Place, Scope, fleet};
use seekwell_report::{Choice, History, HistoryPoint, Kept, Served, clean};
use seekwell_runs::{Filter, RunState, Runs, StoreError, is_id};
use seekwell_sys::{Class, Classified};

/// The newest runs that a list shows.
const MOST_LISTED: usize = 500;

pub struct Fleet {
    connections: Connections,
}

/// Why a question has no answer.
enum Failure {
    Busy,
    Fleet(FleetError),
    Store(StoreError),
    Trend(TrendError),
}

impl From<Busy> for Failure {
    fn from(_: Busy) -> Self {
        Self::Busy
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        Self::Fleet(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<TrendError> for Failure {
    fn from(error: TrendError) -> Self {
        Self::Trend(error)
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        let unreachable =
            |why: String| Self::refusal(503, &format!("{why}.\nLoad this page again to retry."));
        match failure {
            Failure::Busy => unreachable("The database is busy with other questions".to_owned()),
            Failure::Store(StoreError::NotFound { .. } | StoreError::Ambiguous { .. }) => {
                not_kept("run")
            }
            Failure::Store(error @ StoreError::Database { .. }) => unreachable(error.to_string()),
            Failure::Fleet(FleetError::Store(error)) => Failure::Store(error).into(),
            Failure::Fleet(error @ FleetError::NoRuns { .. }) => {
                Self::refusal(404, &format!("{error}."))
            }
            Failure::Fleet(error) => unreachable(error.to_string()),
            Failure::Trend(error) if error.class() == Class::Usage => {
                Self::refusal(404, &format!("{error}."))
            }
            Failure::Trend(error) => unreachable(error.to_string()),
            Failure::Store(error) => unreadable(error),
        }
    }
}

impl Fleet {
    /// Connects to a database.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(place: Box<Place>) -> Result<Self, FleetError> {
        Ok(Self { connections: Connections::open(place)? })
    }

    /// What is at an address; `None` if nothing can be.
    pub fn show(
        &self,
        what: &str,
        api: bool,
        request: &Request,
        token: &str,
    ) -> Option<Result<Answer, Answer>> {
        let given = |name| request.parameter(name);
        Some(match (what, what.split_once('/')) {
            ("", _) if !api => self.overview(given("label"), api, token),
            ("fleet", _) if api => self.overview(given("label"), api, token),
            ("runs", _) => self.list(given("host"), api, token),
            ("trend", _) => {
                let (phase, metric) = (given("phase")?, given("metric")?);
                match (given("host"), given("model")) {
                    (host @ Some(_), None) => {
                        let (phase, target) = (Some(phase), given("target"));
                        self.trend(&TrendOptions { metric, phase, label: None, host, target }, api)
                    }
                    (None, Some(model)) => {
                        self.trend_of_model(&model, given("firmware"), &phase, &metric, api)
                    }
                    _ => return None,
                }
            }
            (_, Some(("run", id))) if is_id(id) => self.run(id, given("host"), api),
            _ => return None,
        })
    }

    /// All hosts side by side, or a list if there is nothing to compare.
    fn overview(&self, label: Option<String>, api: bool, token: &str) -> Result<Answer, Answer> {
        let scope = Scope { label, since: None };
        match self.connections.ask(|database| Ok::<_, Failure>(fleet(database, &scope)?)) {
            Ok(fleet) => page(Ok(Served::fleet(&fleet)), api),
            Err(Failure::Fleet(FleetError::NoRuns { label: None, .. })) if !api => {
                self.list(None, api, token)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    fn list(&self, host: Option<String>, api: bool, token: &str) -> Result<Answer, Answer> {
        let filter = Filter { host, limit: Some(MOST_LISTED), ..Filter::default() };
        let list: Result<_, Failure> =
            self.connections.ask(|database| Ok(database.list(&filter)?.runs));
        let list: Vec<Kept> = list?.into_iter().map(kept).collect();
        let most = if list.len() == MOST_LISTED { "The newest 500 runs" } else { "Runs" };
        let of = match &filter.host {
            Some(host) => format!("{most} of {}", clean(host)),
            None => format!("{most} of all hosts"),
        };
        page(Ok(Served::list(&list, Some(&of), token)), api)
    }

    fn run(&self, id: &str, host: Option<String>, api: bool) -> Result<Answer, Answer> {
        let name = host.map_or_else(|| id.to_owned(), |host| format!("{host}:{id}"));
        let run = self.connections.ask(|database| Ok::<_, Failure>(database.load(&name)?))?;
        page(Ok(Served::run(&run, RunState::left_at(run.0.status).name())), api)
    }

    fn trend(&self, options: &TrendOptions, api: bool) -> Result<Answer, Answer> {
        let host = options.host.as_deref().unwrap_or_default();
        let history = self.connections.ask(|database| {
            let found = trend(database, options)?;
            let choices = found.points.last().map(|newest| choices(database, host, &newest.run));
            let choices = choices.transpose()?.unwrap_or_default();
            Ok::<_, Failure>(History::of_host(&found, host, choices))
        })?;
        page(Ok(Served::history(&history)), api)
    }

    fn trend_of_model(
        &self,
        model: &str,
        firmware: Option<String>,
        phase: &str,
        metric: &str,
        api: bool,
    ) -> Result<Answer, Answer> {
        let firmware = firmware.as_deref();
        let history: Result<_, Failure> = self.connections.ask(|database| {
            let days = database.days(model, firmware, phase, metric)?;
            Ok(history_of(model, firmware, phase, metric, days, database)?)
        });
        match history? {
            Some(history) => page(Ok(Served::history(&history)), api),
            None => Err(Answer::refusal(404, "No disk of this model was measured so.")),
        }
    }
}

/// The history of a model's disks, titled as in its newest run; `None` if it has no runs.
fn history_of(
    model: &str,
    firmware: Option<&str>,
    phase: &str,
    metric: &str,
    days: Vec<Day>,
    database: &Database,
) -> Result<Option<History>, StoreError> {
    let Some(newest) = days.last() else { return Ok(None) };
    let choices = choices(database, &newest.host, &newest.run)?;
    let chosen = choices.iter().find(|choice| choice.phase == phase);
    let titles = chosen.and_then(|choice| {
        let (_, title) = choice.metrics.iter().find(|(name, _)| name == metric)?;
        Some([choice.title.clone(), title.clone()])
    });
    let [workload, title] = titles.unwrap_or([phase, metric].map(str::to_owned));
    let mut disks = if model.is_empty() { "Disks of unknown model" } else { model }.to_owned();
    if let Some(firmware) = firmware.filter(|firmware| !firmware.is_empty()) {
        disks += &format!(", firmware {firmware}");
    }
    let most = days.iter().map(|day| day.hosts).max().unwrap_or(0);
    let points = days.into_iter().map(|day| HistoryPoint {
        at: day.at,
        value: day.median,
        low: day.low,
        high: day.high,
        level: None,
        hosts: Some(day.hosts),
        host: day.host,
        run: day.run,
    });
    Ok(Some(History {
        heading: clean(&format!("{disks}, {workload}: {title}")),
        about: format!("Median of the hosts measured each day, up to {most} of them"),
        sentences: Vec::new(),
        phase: phase.to_owned(),
        metric: metric.to_owned(),
        choices,
        points: points.collect(),
    }))
}

fn choices(database: &Database, host: &str, run: &str) -> Result<Vec<Choice>, StoreError> {
    Ok(Choice::all(&database.load(&format!("{host}:{run}"))?.0))
}
