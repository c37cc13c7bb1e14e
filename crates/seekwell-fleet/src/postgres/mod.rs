//! Kept runs in PostgreSQL: the tables of an export, and beside them each run's whole document, so
//! that it is read back as it was kept.
//!
//! A run is one transaction, and is replaced if it is there already: a client that is not sure that
//! it was sent sends it again.

mod place;
mod schema;
mod tls;

pub use place::Place;

use crate::day::Day;
use crate::error::FleetError;
use crate::survey::Survey;
use crate::tables::{rows, tables};
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use schema::{VERSION, cells, copy, lines, names, selected, statements, storable};
use seekwell_runs::{
    Detail, Filter, Listing, Measured, RunDocument, RunEntry, RunKind, RunState, Runs, Spread,
    Status, StoreError, read,
};
use seekwell_sys::thread::start;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::iter::successors;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;
use tls::Tls;

/// What programs that make the tables at the same time wait for; any number that is ours.
const MAKING_TABLES: i64 = 0x7365_656b_7765_6c6c;
/// The candidates that are named where several runs are meant.
const CANDIDATES: i64 = 20;

const ADDED: &str = "
    INSERT INTO seekwell.documents (host, run, target, started_at, ended_at, document, detail)
    VALUES ($1, $2, $3, $4, $5, $6::text::json, $7::text::json)
    ON CONFLICT (host, run) DO UPDATE SET target = excluded.target,
      started_at = excluded.started_at, ended_at = excluded.ended_at,
      document = excluded.document, detail = excluded.detail
    RETURNING xmax <> 0";

const NEWEST_FIRST: &str = "substr(r.run, 1, 15) DESC, r.started_at DESC, r.run DESC";

/// A connection to a database of kept runs.
pub struct Database {
    client: RefCell<Client>,
    name: String,
}

/// A database that runs are sent to.
pub struct Sender {
    database: Database,
    added: Statement,
    copies: [Statement; 5],
}

impl Database {
    /// Connects in order to read.
    ///
    /// # Errors
    /// [`StoreError::Database`] if it cannot be reached, [`FleetError::Empty`] if no run was
    /// ever sent to it, [`FleetError::NewerSchema`] if a newer version of this program made it.
    pub fn open(place: &Place) -> Result<Self, FleetError> {
        let database = Self::connect(place)?;
        if database.version()?.is_none() {
            return Err(FleetError::Empty { store: database.name });
        }
        database.made()
    }

    /// Refuses to write from now on, and ends a query that takes longer than this.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn only_read(&self, limit: Duration) -> Result<(), StoreError> {
        let sql = format!(
            "SET default_transaction_read_only = on; SET statement_timeout = {}",
            limit.as_millis()
        );
        self.client.borrow_mut().batch_execute(&sql).map_err(failed(&self.name))
    }

    /// Whether the connection is lost.
    pub fn is_lost(&self) -> bool {
        self.client.borrow().is_closed()
    }

    /// A metric on each day on which disks of a model were measured, oldest first. Model and
    /// firmware are those of a [`crate::Group`]; one that is not known is empty.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn days(
        &self,
        model: &str,
        firmware: Option<&str>,
        phase: &str,
        metric: &str,
    ) -> Result<Vec<Day>, StoreError> {
        // As `Member` has it: the disks below the target, each with its number.
        let joined = |column: &str| {
            format!(
                "coalesce((SELECT string_agg(CASE n WHEN 1 THEN text ELSE n || ' × ' || text END,
                                             ' + ' ORDER BY text COLLATE \"C\")
                  FROM (SELECT {column} AS text, count(*) AS n FROM seekwell.disks d
                        WHERE d.host = r.host AND d.run = r.run AND {column} <> '' GROUP BY text
                  ) AS each), '')"
            )
        };
        let sql = format!(
            "SELECT to_char(r.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T00:00:00Z\"') AS day,
                    percentile_cont(0.5) WITHIN GROUP (ORDER BY m.median),
                    min(m.median), max(m.median), count(DISTINCT r.host),
                    (array_agg(r.host ORDER BY r.started_at DESC, r.host))[1],
                    (array_agg(r.run ORDER BY r.started_at DESC, r.host))[1]
             FROM seekwell.metrics m JOIN seekwell.runs r ON r.host = m.host AND r.run = m.run
             WHERE m.phase = $3 AND m.metric = $4 AND {model_is} = $1
               AND ($2::text IS NULL OR {firmware_is} = $2)
               AND r.status = 'complete' AND r.invalid IS NULL AND NOT r.modelled
             GROUP BY day ORDER BY day",
            model_is = joined("d.model"),
            firmware_is = joined("d.firmware"),
        );
        let rows = self.ask(&sql, &[&model, &firmware, &phase, &metric])?;
        let day = |row: &Row| Day {
            at: row.get(0),
            median: row.get(1),
            low: row.get(2),
            high: row.get(3),
            hosts: row.get::<_, i64>(4).try_into().unwrap_or_default(),
            host: row.get(5),
            run: row.get(6),
        };
        Ok(rows.iter().map(day).collect())
    }

    fn connect(place: &Place) -> Result<Self, FleetError> {
        let name = place.name().to_owned();
        let tls = Tls::new(place)?;
        let (config, hosts) = (place.config.clone(), place.config.get_hosts().len().max(1) as u32);
        let limit = config.get_connect_timeout().copied().unwrap_or_default() * hosts;
        let (tell, told) = channel();
        // The library waits for ever for a server that accepts and says nothing.
        start("connect", move || {
            let connected = config.connect(tls).and_then(|mut client| {
                client.batch_execute("SET lock_timeout = '30s'")?;
                Ok(client)
            });
            let _ = tell.send(connected);
        })?;
        let Ok(connected) = told.recv_timeout(limit + Duration::from_secs(1)) else {
            let reason = format!("no answer within {} s", limit.as_secs());
            return Err(StoreError::Database { store: name, reason }.into());
        };
        let client = connected.map_err(failed(&name))?.into();
        Ok(Self { client, name })
    }

    fn ask(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        self.client.borrow_mut().query(sql, values).map_err(failed(&self.name))
    }

    /// The version of the tables, if there are any.
    fn version(&self) -> Result<Option<i32>, StoreError> {
        let there =
            "SELECT 1 FROM pg_tables WHERE schemaname = 'seekwell' AND tablename = 'version'";
        if self.ask(there, &[])?.is_empty() {
            return Ok(None);
        }
        let version = self.ask("SELECT version FROM seekwell.version", &[])?;
        Ok(version.first().map(|row| row.get(0)))
    }

    /// Makes the tables, or brings those of an older version up to date.
    fn made(self) -> Result<Self, FleetError> {
        match self.version()? {
            Some(VERSION) => return Ok(self),
            Some(found) if found > VERSION => {
                return Err(FleetError::NewerSchema { store: self.name, found, known: VERSION });
            }
            _ => {}
        }
        let make = || {
            let mut client = self.client.borrow_mut();
            let mut change = client.transaction()?;
            change.execute("SELECT pg_advisory_xact_lock($1)", &[&MAKING_TABLES])?;
            change.batch_execute(&statements())?;
            change.commit()
        };
        make().map_err(failed(&self.name))?;
        Ok(self)
    }

    /// The one run that a name means: its host and id.
    fn find(&self, name: &str) -> Result<(String, String), StoreError> {
        let (host, id) = match name.rsplit_once(':') {
            Some((host, id)) => (Some(host), id),
            None => (None, name),
        };
        let newest = id == "last";
        let sql = format!(
            "SELECT r.host, r.run FROM seekwell.runs r
             WHERE ($1 OR starts_with(r.run, $2) OR length($2) = 4 AND right(r.run, 5) = '-' || $2)
               AND ($3::text IS NULL OR r.host = $3)
             ORDER BY {NEWEST_FIRST} LIMIT $4"
        );
        let most = if newest { 1 } else { CANDIDATES };
        let found = match id {
            "" => Vec::new(),
            id => self.ask(&sql, &[&newest, &id, &host, &most])?,
        };
        match found.as_slice() {
            [] => Err(StoreError::NotFound {
                wanted: name.to_owned(),
                place: self.name.clone(),
                nearest: Vec::new(),
            }),
            [one] => Ok((one.get(0), one.get(1))),
            several => {
                let named =
                    |row: &Row| format!("{}:{}", row.get::<_, &str>(0), row.get::<_, &str>(1));
                let candidates = several.iter().map(named).collect();
                Err(StoreError::Ambiguous { wanted: name.to_owned(), candidates })
            }
        }
    }
}

impl Runs for Database {
    fn list(&self, filter: &Filter) -> Result<Listing, StoreError> {
        let status = match filter.state {
            None => None,
            // Nothing is sent while it is measured.
            Some(RunState::Running) => return Ok(Listing::default()),
            Some(RunState::Killed) => Some(Status::Running),
            Some(RunState::Complete) => Some(Status::Complete),
            Some(RunState::Interrupted) => Some(Status::Interrupted),
            Some(RunState::Failed) => Some(Status::Failed),
        };
        let each = match filter.newest {
            true => "r.host, r.target, r.status = 'complete' AND r.invalid IS NULL",
            false => "",
        };
        let (once, order) = match each {
            "" => (String::new(), NEWEST_FIRST.to_owned()),
            each => (format!("DISTINCT ON ({each})"), format!("{each}, {NEWEST_FIRST}")),
        };
        let sql = format!(
            "SELECT {once} r.host, r.run, r.kind, r.status, r.label, r.modelled, c.target, d.model,
                    d.serial, r.kernel, r.version, c.started_at, c.ended_at, r.invalid IS NOT NULL
             FROM seekwell.runs r
             JOIN seekwell.documents c ON c.host = r.host AND c.run = r.run
             LEFT JOIN seekwell.disks d ON d.host = r.host AND d.run = r.run AND d.position = 0
             WHERE ($1::text IS NULL OR r.kind = $1) AND ($2::text IS NULL OR r.status = $2)
               AND ($3::text IS NULL OR r.label = $3) AND ($4::text IS NULL OR r.host = $4)
               AND ($5::text IS NULL OR
                    strpos(lower(concat_ws(chr(10), c.target, d.model, d.serial)), lower($5)) > 0)
               AND ($7::bigint IS NULL OR r.started_at >= to_timestamp($7 / 1e6))
             ORDER BY {order} LIMIT $6"
        );
        let (kind, status) = (filter.kind.map(RunKind::name), status.map(Status::name));
        let limit = filter.limit.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let since = filter.since.map(|since| since.as_microsecond());
        let values: [&(dyn ToSql + Sync); 7] =
            [&kind, &status, &filter.label, &filter.host, &filter.target, &limit, &since];
        let rows = self.ask(&sql, &values)?;
        Ok(Listing { runs: rows.iter().filter_map(entry).collect(), unreadable: Vec::new() })
    }

    fn load(&self, name: &str) -> Result<(RunDocument, Detail), StoreError> {
        let (host, run) = self.find(name)?;
        let sql = "SELECT document::text, detail::text FROM seekwell.documents
                   WHERE host = $1 AND run = $2";
        let found = self.ask(sql, &[&host, &run])?;
        let (place, nearest) = (self.name.clone(), Vec::new());
        let gone = || StoreError::NotFound { wanted: name.to_owned(), place, nearest };
        let row = found.first().ok_or_else(gone)?;
        let path = Path::new(&self.name).join(&host).join(&run);
        let document = read::run(row.get::<_, &str>(0).as_bytes(), &path)?;
        Ok((document, read::detail(row.get::<_, &str>(1).as_bytes(), &path)?))
    }

    fn each(
        &self,
        runs: &[&RunEntry],
        take: &mut dyn FnMut(RunDocument),
    ) -> Result<(), StoreError> {
        let (hosts, ids): (Vec<&str>, Vec<&str>) =
            runs.iter().map(|run| (run.host.as_str(), run.id.as_str())).unzip();
        let sql = "SELECT document::text
                   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (host, run, at)
                   JOIN seekwell.documents USING (host, run) ORDER BY at";
        let found = self.ask(sql, &[&hosts, &ids])?;
        if found.len() < runs.len() {
            let (store, reason) = (self.name.clone(), "a run was removed meanwhile".to_owned());
            return Err(StoreError::Database { store, reason });
        }
        for (row, run) in found.iter().zip(runs) {
            let path = Path::new(&self.name).join(&run.host).join(&run.id);
            take(read::run(row.get::<_, &str>(0).as_bytes(), &path)?);
        }
        Ok(())
    }

    fn history(&self, metric: &str, phase: Option<&str>) -> Result<Vec<Measured>, StoreError> {
        let sql = "SELECT host, run, phase, median, low, high, repeats FROM seekwell.metrics
                   WHERE metric = $1 AND ($2::text IS NULL OR phase = $2)";
        let measured = |row: &Row| Measured {
            host: row.get(0),
            run: row.get(1),
            phase: row.get(2),
            spread: Spread {
                median: row.get(3),
                low: row.get(4),
                high: row.get(5),
                n: row.get::<_, i64>(6).try_into().unwrap_or(u32::MAX),
            },
        };
        Ok(self.ask(sql, &[&metric, &phase])?.iter().map(measured).collect())
    }
}

impl Survey for Database {
    fn rows(&self, runs: &[&RunEntry]) -> Result<[Vec<crate::Row>; 5], StoreError> {
        let (hosts, ids): (Vec<&str>, Vec<&str>) =
            runs.iter().map(|run| (run.host.as_str(), run.id.as_str())).unzip();
        let mut all: [Vec<crate::Row>; 5] = Default::default();
        for (table, all) in tables().iter().zip(&mut all) {
            let rates = match table.name {
                "histograms" => continue,
                "metrics" => "WHERE metric LIKE '%per\\_s'",
                _ => "",
            };
            let sql = format!(
                "SELECT {} FROM unnest($1::text[], $2::text[]) AS wanted (host, run)
                 JOIN seekwell.{} USING (host, run) {rates} ORDER BY {}",
                selected(table),
                table.name,
                names(table, table.key)
            );
            let found = self.ask(&sql, &[&hosts, &ids])?;
            *all = found.iter().map(|row| cells(table, row)).collect();
        }
        Ok(all)
    }
}

fn entry(row: &Row) -> Option<RunEntry> {
    let status = Status::of_name(row.get(3))?;
    Some(RunEntry {
        host: row.get(0),
        id: row.get(1),
        kind: RunKind::of_name(row.get(2))?,
        state: RunState::left_at(status),
        label: row.get(4),
        modelled: row.get(5),
        target: row.get(6),
        device_model: row.get(7),
        device_serial: row.get(8),
        kernel: row.get(9),
        tool_version: row.get(10),
        started_at: row.get(11),
        ended_at: row.get(12),
        invalid: row.get(13),
        path: None,
    })
}

impl Sender {
    /// Connects in order to send runs; the tables are made where they are missing.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(place: &Place) -> Result<Self, FleetError> {
        let database = Database::connect(place)?.made()?;
        let prepare = || {
            let mut client = database.client.borrow_mut();
            let mut copies = Vec::new();
            for table in tables() {
                copies.push(client.prepare(&copy(&table))?);
            }
            Ok((client.prepare(ADDED)?, copies))
        };
        let (added, copies) = prepare().map_err(failed(&database.name))?;
        let copies = copies.try_into().expect("a statement for each table");
        Ok(Self { database, added, copies })
    }

    /// Host and id of all runs that are there.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn there(&self) -> Result<BTreeSet<[String; 2]>, StoreError> {
        let all = self.database.ask("SELECT host, run FROM seekwell.runs", &[])?;
        Ok(all.iter().map(|row| [row.get(0), row.get(1)]).collect())
    }

    /// Sends a run, in place of what is there of it. When this returns, it is there.
    ///
    /// # Errors
    /// [`StoreError::Database`]; the run may be there all the same when the connection was lost.
    pub fn send(&mut self, run: &RunDocument, detail: &Detail) -> Result<(), StoreError> {
        let not_storable = |e: serde_json::Error| StoreError::NotStorable {
            id: run.id.clone(),
            reason: e.to_string(),
        };
        let document = serde_json::to_string(run).map_err(not_storable)?;
        let histograms = serde_json::to_string(detail).map_err(not_storable)?;
        let host = run.inspection.host.label();
        let target: String = run.inspection.target.chars().map(storable).collect();
        let send = || {
            let mut client = self.database.client.borrow_mut();
            let mut change = client.transaction()?;
            let values: [&(dyn ToSql + Sync); 7] =
                [&host, &run.id, &target, &run.started_at, &run.ended_at, &document, &histograms];
            // From here on other senders of this run wait.
            if change.query_one(&self.added, &values)?.get(0) {
                for table in tables() {
                    let sql =
                        format!("DELETE FROM seekwell.{} WHERE host = $1 AND run = $2", table.name);
                    change.execute(&sql, &[&host, &run.id])?;
                }
            }
            for (rows, copy) in rows(run, detail).iter().zip(&self.copies) {
                if !rows.is_empty() {
                    let mut out = change.copy_in(copy)?;
                    out.write_all(lines(rows).as_bytes()).map_err(Failed::Io)?;
                    out.finish()?;
                }
            }
            Ok::<_, Failed>(change.commit()?)
        };
        send().map_err(|error| match error {
            Failed::Io(error) => {
                let (store, reason) = (self.database.name.clone(), error.to_string());
                StoreError::Database { store, reason }
            }
            Failed::Postgres(error) => failed(&self.database.name)(error),
        })
    }

    /// Whether the connection is lost, and with it what would be sent next.
    pub fn is_lost(&self) -> bool {
        self.database.is_lost()
    }
}

#[derive(Debug)]
enum Failed {
    Io(std::io::Error),
    Postgres(postgres::Error),
}

impl From<postgres::Error> for Failed {
    fn from(error: postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

/// An error of the database with its place, as a sentence.
fn failed(name: &str) -> impl Fn(postgres::Error) -> StoreError {
    let store = name.to_owned();
    move |error| {
        let mut reason = match error.as_db_error() {
            Some(said) => said.message().to_owned(),
            None => successors(Some(&error as &dyn Error), |&error| error.source())
                .map(ToString::to_string)
                .reduce(
                    |said, cause| if said.contains(&cause) { said } else { said + ": " + &cause },
                )
                .unwrap_or_default(),
        };
        if reason.contains("password") {
            reason += "; give it in PGPASSWORD or in a PGPASSFILE that only you can read";
        } else if reason.contains("certificate") {
            reason += "; name the file of its CA with sslrootcert=FILE in the address";
        }
        StoreError::Database { store: store.clone(), reason }
    }
}
