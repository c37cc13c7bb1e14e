//! `sqlite`: timed insertions and an update mix on a real SQLite.
//!
//! A commit is as slow as the disk's flush, so this is the plainest of all tests of one. The
//! library is the one built into this program, so that a result does not depend on the machine's.

mod database;
pub(crate) mod error;
mod insert;
mod journal;
mod update;
mod workers;

pub use database::Database;
pub use error::SqliteError;
pub use insert::{Insertions, Statements, TABLE};
pub use journal::Journal;
pub use update::Updates;
pub use workers::{Enough, Tally};

use crate::error::SuiteError;
use crate::folder;
use crate::frame::{Step, StepResult};
use crate::limit::{Watch, Workers};
use crate::lists;
use crate::load::{Counts, Load, Pace, Played};
use crate::settings::Values::{Count, OneOf, Text};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, through_cache};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::time::Duration;

pub static SUITE: Suite = Suite {
    name: "sqlite",
    title: "SQLite insertions and updates",
    does: "Inserts rows into an indexed table, each in a transaction of its own, by each journal \
           mode and by several threads; then runs pgbench's update mix. Every commit is synced.",
    takes: ["half a minute", "from a minute on an SSD to two hours on a hard disk"],
    writes: "databases of some megabytes, up to 40 MiB more for each step of scale",
    source: "Phoronix Test Suite, pts/sqlite; PostgreSQL's pgbench, script tpcb-like",
    on: On::Directory,
    tunables: tunables! {
        "insertions" Count(0, 10_000_000), "0" | "12500":
            "insertions by each thread; 0: as many as fit into the time";
        "seconds" Count(1, 3600), "2" | "30": "time of a step that is not bounded by a number";
        "journals" Text, "delete,truncate,wal" | "delete,truncate,persist,wal":
            "journal modes, a list; the first with every number of threads";
        "threads" Text, "1,2,4" | "1,2,4,8":
            "threads that insert, a list; the first with every journal mode";
        "database" OneOf(&["own", "shared"]), "own" | "own":
            "whether each thread inserts into its own database, or all into one";
        "clients" Text, "1,4" | "1,4": "connections of the update mix, a list";
        "scale" Count(0, 1000), "1" | "10":
            "pgbench's scale factor: 100,000 accounts each; 0: no update mix";
    },
    check: |settings| Chosen::of(settings).map(drop),
    needs,
    direct: through_cache,
    steps,
};

/// A row with its entry in the index, the journal's pages for it not counted; measured 60.
const ROW_BYTES: u64 = 100;
/// Insertions of each thread in the Phoronix test, whose figure is the time they take.
const PHORONIX: u64 = 2_500;
/// More commits a second than any disk makes.
const MOST_PER_S: u64 = 20_000;
/// Accounts, tellers and branches of one step of scale, and once more for a write-ahead log.
const SCALE_BYTES: u64 = 40 << 20;

/// The lists of the settings, read.
struct Chosen {
    journals: Vec<Journal>,
    threads: Vec<u32>,
    clients: Vec<u32>,
}

impl Chosen {
    fn of(settings: &Settings) -> Result<Self, SuiteError> {
        let known = Journal::ALL.map(|journal| (journal.name(), journal));
        Ok(Self {
            journals: lists::words(settings, "journals", &known)?,
            threads: lists::numbers(settings, "threads", 1, 256)?,
            clients: lists::numbers(settings, "clients", 1, 256)?,
        })
    }
}

fn needs(settings: &Settings) -> Needs {
    let most = |list: Result<Vec<u32>, SuiteError>| list.unwrap_or_default().into_iter().max();
    let chosen = Chosen::of(settings);
    let threads = chosen.map(|c| c.threads.into_iter().chain(c.clients).collect());
    let threads = u64::from(most(threads).unwrap_or(1));
    let commits = match settings.number("insertions") {
        0 => settings.number("seconds") * MOST_PER_S,
        insertions => insertions * threads,
    };
    let bytes = commits * ROW_BYTES + settings.number("scale") * SCALE_BYTES + threads * (8 << 20);
    // Each database has a journal, or a log and its index.
    Needs { bytes, files: 4 * threads }
}

fn steps(settings: &Settings) -> Vec<Step> {
    let Ok(Chosen { journals, threads, clients }) = Chosen::of(settings) else {
        return Vec::new();
    };
    let first = journals.iter().map(|journal| (*journal, threads[0]));
    let more = threads.iter().skip(1).map(|threads| (journals[0], *threads));
    let mut steps: Vec<_> = first
        .chain(more)
        .map(|(journal, threads)| insertions(settings, journal, threads))
        .collect();
    if settings.number("scale") > 0 {
        let first = journals.iter().map(|journal| (*journal, clients[0]));
        let last = journals.last().copied().unwrap_or(Journal::Delete);
        let more = clients.iter().skip(1).map(|clients| (last, *clients));
        steps.extend(first.chain(more).map(|(journal, n)| updates(settings, journal, n)));
    }
    steps
}

fn plural(n: u32, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

fn timed(settings: &Settings) -> Duration {
    Duration::from_secs(settings.number("seconds"))
}

fn insertions(settings: &Settings, journal: Journal, threads: u32) -> Step {
    let number = settings.number("insertions");
    let counted = Some(number).filter(|n| *n > 0);
    let time = counted.is_none().then(|| timed(settings));
    let enough = Enough { transactions: counted, time };
    let shared = settings.word("database") == "shared" && threads > 1;
    let whose = match (threads, shared) {
        (1, _) => "",
        (_, true) => ", one database",
        (_, false) => ", each its own database",
    };
    let expected = time.unwrap_or_else(|| Duration::from_millis(number));
    let name = format!("insert-{journal}-t{threads}");
    let title = format!("insertions, journal {journal}, {}{whose}", plural(threads, "thread"));
    let run = folder::each_time(name.clone(), move |stage| {
        let what = Insertions { journal, threads, shared, enough, seed: stage.seed };
        let databases = insert::prepare(stage.path, &what)?;
        let watch = Watch::begin(stage, Workers::Own(u64::from(threads)));
        let tally = insert::run(&databases, &what, stage.stop, stage.progress)?;
        let mut result = measured(watch, &tally);
        result.rate("insertions_per_s", tally.transaction.count());
        result.latency("commit_latency", &tally.commit);
        result.set("insertions_count", tally.transaction.count() as f64);
        if counted.is_some() {
            result.set("insertions_time_ns", tally.elapsed.0 as f64);
        }
        phoronix(&mut result, threads);
        insert::check(&databases, &tally)?;
        Ok(result)
    });
    let load = match (journal, threads) {
        (Journal::Delete, 1) => Load::Played(RECORDED),
        _ => Load::None {
            why: "only insertions by one thread, journal delete, were recorded".into(),
        },
    };
    let step = Step::new(name, title, "insertions_per_s", expected.into(), run).on_model(load);
    Step { derive: |result| phoronix(result, 1), ..step }
}

/// 2,500 insertions by one thread, journal delete.
pub const RECORDED: Played =
    Played::whole("sqlite-insert", Pace::OneProgram, Counts::InAll(PHORONIX as f64));

/// Adds the figure of the Phoronix test.
fn phoronix(result: &mut StepResult, threads: u32) {
    let of_test = PHORONIX * u64::from(threads);
    let per_s = result.values.get("insertions_per_s").copied().unwrap_or(0.0);
    let seconds = of_test as f64 / per_s;
    result.set("phoronix_time_ns", (seconds * 1e9).round());
    result.notes.push(format!(
        "as pts/sqlite counts: {seconds:.2} s for {of_test} insertions, lower is better"
    ));
}

fn updates(settings: &Settings, journal: Journal, clients: u32) -> Step {
    let (time, scale) = (timed(settings), settings.number("scale") as u32);
    let enough = Enough { transactions: None, time: Some(time) };
    let name = format!("update-{journal}-c{clients}");
    let title = format!("update mix, journal {journal}, {}", plural(clients, "client"));
    let run = folder::each_time(name.clone(), move |stage| {
        let what = Updates { journal, clients, scale, enough, seed: stage.seed };
        let database = update::prepare(stage.path, &what)?;
        let watch = Watch::begin(stage, Workers::Own(u64::from(clients)));
        let tally = update::run(&database, &what, stage.stop, stage.progress)?;
        let mut result = measured(watch, &tally);
        result.rate("transactions_per_s", tally.transaction.count());
        result.latency("transaction_latency", &tally.transaction);
        result.latency("commit_latency", &tally.commit);
        result.set("transactions_count", tally.transaction.count() as f64);
        update::check(&database, &tally)?;
        Ok(result)
    });
    let why = "the update mix was not recorded".into();
    Step::new(name, title, "transactions_per_s", time.into(), run).on_model(Load::None { why })
}

/// Ends measuring. A commit counts as a flush: it is what makes data durable.
fn measured(watch: Watch, tally: &Tally) -> StepResult {
    let mut result = watch.end();
    // Threads stop by their own clocks; the last to end ends the measured time.
    result.measurement.elapsed = tally.elapsed.max(Nanos(1));
    result.requests(Op::Flush, 0, &tally.commit);
    result
}

#[cfg(test)]
mod tests;
