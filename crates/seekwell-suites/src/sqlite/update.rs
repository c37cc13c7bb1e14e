//! The update mix of pgbench (its built-in script `tpcb-like`, after TPC-B) on SQLite: three
//! updates, a select and an insertion in each transaction.
//!
//! Tables and sizes as pgbench makes them for a scale factor of S: S branches, 10 S tellers,
//! 100,000 S accounts and an empty history, with its fillers
//! (<https://www.postgresql.org/docs/current/pgbench.html>). A transaction begins as `IMMEDIATE`,
//! because in SQLite two readers that both want to write can only wait for each other.

use super::database::{Database, expect, number};
use super::journal::Journal;
use super::workers::{self, Enough, Tally, Took, Worker};
use crate::error::SuiteError;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const TELLERS: u32 = 10;
const ACCOUNTS: u32 = 100_000;

const TABLES: &str = "
    CREATE TABLE pgbench_branches (bid INTEGER NOT NULL PRIMARY KEY, bbalance INT, filler CHAR(88));
    CREATE TABLE pgbench_tellers (tid INTEGER NOT NULL PRIMARY KEY, bid INT, tbalance INT,
        filler CHAR(84));
    CREATE TABLE pgbench_accounts (aid INTEGER NOT NULL PRIMARY KEY, bid INT, abalance INT,
        filler CHAR(84));
    CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP,
        filler CHAR(22));";

const ACCOUNT: &str = "UPDATE pgbench_accounts SET abalance = abalance + ?1 WHERE aid = ?2";
const BALANCE: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = ?1";
const TELLER: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + ?1 WHERE tid = ?2";
const BRANCH: &str = "UPDATE pgbench_branches SET bbalance = bbalance + ?1 WHERE bid = ?2";
const HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (?1, ?2, ?3, ?4, CURRENT_TIMESTAMP)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Updates {
    /// How transactions are made atomic.
    pub journal: Journal,
    /// Connections to the one database, each on a thread of its own.
    pub clients: u32,
    pub scale: u32,
    /// When a client has done enough.
    pub enough: Enough,
    pub seed: u64,
}

/// Makes and fills the database in `dir`.
///
/// # Errors
/// [`SuiteError`].
pub fn prepare(dir: &Path, what: &Updates) -> Result<Database, SuiteError> {
    let database = Database::create(&dir.join("update.db"), what.journal)?;
    fill(&database, what.scale)?;
    Ok(database)
}

/// Updates.
///
/// # Errors
/// [`SuiteError`].
pub fn run(
    database: &Database,
    what: &Updates,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Tally, SuiteError> {
    workers::run(what.clients, what.enough, stop, progress, |client| {
        let connection = database.connect()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(what.seed ^ u64::from(client));
        let worker: Worker<'_> = Box::new(move |_| {
            transact(&connection, what.scale, &mut random)
                .map_err(|e| database.failed("a transaction of the update mix", e))
        });
        Ok(worker)
    })
}

/// Checks that what was committed is there and that the balances add up.
///
/// # Errors
/// [`super::SqliteError::Lost`] when the balances and the history disagree.
pub fn check(database: &Database, tally: &Tally) -> Result<(), SuiteError> {
    let connection = database.connect()?;
    let find = |sql: &str| number(database, &connection, sql);
    let done = tally.transaction.count() as i64;
    expect("transactions", find("SELECT count(*) FROM pgbench_history")?, done)?;
    let history = find("SELECT coalesce(sum(delta), 0) FROM pgbench_history")?;
    expect("account balances", find("SELECT sum(abalance) FROM pgbench_accounts")?, history)?;
    expect("teller balances", find("SELECT sum(tbalance) FROM pgbench_tellers")?, history)?;
    expect("branch balances", find("SELECT sum(bbalance) FROM pgbench_branches")?, history)
}

fn fill(database: &Database, scale: u32) -> Result<(), SuiteError> {
    let statement = |e| database.failed("filling the tables", e);
    let mut connection = database.connect()?;
    let rows = |tx: &Connection, sql: &str, n: u32, per_branch: u32| {
        let mut insert = tx.prepare(sql)?;
        (0..n).try_for_each(|i| insert.execute(params![i + 1, i / per_branch + 1]).map(drop))
    };
    let tx = connection.transaction().map_err(statement)?;
    tx.execute_batch(TABLES).map_err(statement)?;
    let (branch, teller, account) = (
        "INSERT INTO pgbench_branches SELECT ?1, 0, printf('%88s', '') WHERE ?2 > 0",
        "INSERT INTO pgbench_tellers VALUES (?1, ?2, 0, printf('%84s', ''))",
        "INSERT INTO pgbench_accounts VALUES (?1, ?2, 0, printf('%84s', ''))",
    );
    rows(&tx, branch, scale, 1).map_err(statement)?;
    rows(&tx, teller, scale * TELLERS, TELLERS).map_err(statement)?;
    rows(&tx, account, scale * ACCOUNTS, ACCOUNTS).map_err(statement)?;
    tx.commit().map_err(statement)
}

fn transact(
    connection: &Connection,
    scale: u32,
    random: &mut Xoshiro256PlusPlus,
) -> rusqlite::Result<Took> {
    let mut draw = |most: u32| (random.next_u64() % u64::from(most)) as u32 + 1;
    let (aid, bid, tid) = (draw(scale * ACCOUNTS), draw(scale), draw(scale * TELLERS));
    let delta = i64::from(draw(10_001)) - 5_001;
    let began = Instant::now();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values).map(drop)
    };
    run("BEGIN IMMEDIATE", &[])?;
    run(ACCOUNT, &[&delta, &aid])?;
    let balance = connection.prepare_cached(BALANCE)?.query_row([aid], |r| r.get::<_, i64>(0))?;
    std::hint::black_box(balance);
    run(TELLER, &[&delta, &tid])?;
    run(BRANCH, &[&delta, &bid])?;
    run(HISTORY, &[&tid, &bid, &aid, &delta])?;
    let committing = Instant::now();
    run("COMMIT", &[])?;
    Ok(Took { transaction: began.elapsed(), commit: committing.elapsed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_books_balance_after_updates_by_several_clients() {
        for journal in [Journal::Delete, Journal::Wal] {
            let dir = tempfile::tempdir().unwrap();
            let enough = Enough { transactions: Some(25), time: None };
            let what = Updates { journal, clients: 3, scale: 1, enough, seed: 3 };
            let database = prepare(dir.path(), &what).unwrap();
            let tally = run(&database, &what, &AtomicBool::new(false), &|_| ()).unwrap();
            assert_eq!(tally.transaction.count(), 75, "{journal}");
            assert!(tally.commit.max() <= tally.transaction.max());
            check(&database, &tally).unwrap();
            let cheat = "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 3";
            database.connect().unwrap().execute_batch(cheat).unwrap();
            let lost = check(&database, &tally).unwrap_err().to_string();
            assert!(lost.starts_with("teller balances: "), "{lost}");
        }
    }
}
