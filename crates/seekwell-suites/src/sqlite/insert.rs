//! Timed insertions: rows into an indexed table, each a transaction of its own.
//!
//! Table and statement are those of the Phoronix Test Suite's profile pts/sqlite (its first
//! versions, whose table has a primary key that SQLite keeps in an index of its own; later ones
//! left the key out), which fed 12,500 such statements as text to the sqlite3 program. The text is
//! parsed here too, statement by statement, so that the work is the same.

use super::database::{Database, expect, number};
use super::journal::Journal;
use super::workers::{self, Enough, Tally, Took, Worker};
use crate::error::SuiteError;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub const TABLE: &str = "CREATE TABLE pts1 ('I' SMALLINT NOT NULL, \
     'DT' TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, 'F1' VARCHAR(4) NOT NULL, \
     'F2' VARCHAR(16) NOT NULL, PRIMARY KEY ('I'), UNIQUE ('I'));";

/// Rows of different threads in one table are this far apart.
const APART: u64 = 1 << 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insertions {
    /// How transactions are made atomic.
    pub journal: Journal,
    pub threads: u32,
    /// Whether all insert into one database, and not each into its own.
    pub shared: bool,
    /// When a thread has inserted enough.
    pub enough: Enough,
    pub seed: u64,
}

/// The statements of one thread, without end.
pub struct Statements {
    random: Xoshiro256PlusPlus,
    next: u64,
}

impl Statements {
    /// Those of a thread.
    pub fn new(seed: u64, thread: u32) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ u64::from(thread));
        Self { random, next: u64::from(thread) * APART }
    }
}

impl Iterator for Statements {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let (row, few, many) = (self.next, self.random.next_u64(), self.random.next_u64());
        self.next += 1;
        let (few, many) = (1_000 + few % 9_000, 10u64.pow(15) + many % (9 * 10u64.pow(15)));
        Some(format!(
            "INSERT INTO pts1 ('I', 'DT', 'F1', 'F2') \
             VALUES ('{row}', CURRENT_TIMESTAMP, '{few}', '{many}');"
        ))
    }
}

/// Makes the databases in `dir`, each with its empty table.
///
/// # Errors
/// [`SuiteError`].
pub fn prepare(dir: &Path, what: &Insertions) -> Result<Vec<Database>, SuiteError> {
    let create = |n: u32| {
        let database = Database::create(&dir.join(format!("insert-{n}.db")), what.journal)?;
        let table = database.connect()?.execute_batch(TABLE);
        table.map_err(|e| database.failed("creating the table", e))?;
        Ok(database)
    };
    (0..if what.shared { 1 } else { what.threads }).map(create).collect()
}

/// Inserts.
///
/// # Errors
/// [`SuiteError`].
pub fn run(
    databases: &[Database],
    what: &Insertions,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Tally, SuiteError> {
    workers::run(what.threads, what.enough, stop, progress, |thread| {
        let database = &databases[thread as usize % databases.len()];
        let connection = database.connect()?;
        let mut statements = Statements::new(what.seed, thread);
        let worker: Worker<'_> = Box::new(move |_| {
            let sql = statements.next().unwrap_or_default();
            let began = Instant::now();
            connection.execute_batch(&sql).map_err(|e| database.failed("inserting a row", e))?;
            let took = began.elapsed();
            Ok(Took { transaction: took, commit: took })
        });
        Ok(worker)
    })
}

/// Counts the rows that are there.
///
/// # Errors
/// [`super::SqliteError::Lost`] when they are not those that were committed.
pub fn check(databases: &[Database], tally: &Tally) -> Result<(), SuiteError> {
    let rows = databases
        .iter()
        .map(|database| number(database, &database.connect()?, "SELECT count(*) FROM pts1"));
    let rows = rows.sum::<Result<i64, SuiteError>>()?;
    expect("rows", rows, tally.transaction.count() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::{Class, Classified};
    use std::time::Duration;

    fn whole(dir: &Path, what: &Insertions, stop: bool) -> Result<Tally, SuiteError> {
        let databases = prepare(dir, what)?;
        let within = |share| assert!((0.0..=1.0).contains(&share));
        let tally = run(&databases, what, &AtomicBool::new(stop), &within)?;
        check(&databases, &tally)?;
        Ok(tally)
    }

    fn insertions(journal: Journal, threads: u32, shared: bool) -> Insertions {
        let enough = Enough { transactions: Some(40), time: None };
        Insertions { journal, threads, shared, enough, seed: 7 }
    }

    #[test]
    fn each_thread_inserts_its_number_into_its_own_database_or_one_that_is_shared() {
        for journal in Journal::ALL {
            for shared in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let what = insertions(journal, 3, shared);
                let tally = whole(dir.path(), &what, false).unwrap();
                assert_eq!(tally.transaction.count(), 120, "{journal} {shared}");
                assert!(tally.elapsed.0 > 0);
                assert_eq!(dir.path().join("insert-2.db").exists(), !shared);
            }
        }
    }

    #[test]
    fn it_ends_when_its_time_is_over_or_somebody_asks() {
        let dir = tempfile::tempdir().unwrap();
        let time = Some(Duration::from_millis(50));
        let timed = Insertions {
            enough: Enough { transactions: None, time },
            ..insertions(Journal::Wal, 1, false)
        };
        let tally = whole(dir.path(), &timed, false).unwrap();
        assert!(tally.transaction.count() > 0 && tally.elapsed.0 >= 50_000_000);
        let dir = tempfile::tempdir().unwrap();
        let stopped = whole(dir.path(), &timed, true).unwrap_err();
        assert!(matches!(stopped, SuiteError::Interrupted));
    }

    #[test]
    fn a_row_that_was_committed_and_is_not_there_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let what = insertions(Journal::Wal, 1, false);
        let databases = prepare(dir.path(), &what).unwrap();
        let tally = run(&databases, &what, &AtomicBool::new(false), &|_| ()).unwrap();
        databases[0].connect().unwrap().execute_batch("DELETE FROM pts1 WHERE I = 7").unwrap();
        let lost = check(&databases, &tally).unwrap_err();
        assert_eq!(lost.to_string(), "rows: 39 in the database where 40 were committed");
        assert_eq!(lost.class(), Class::Invalid);
    }

    #[test]
    fn the_statements_are_those_of_the_phoronix_profile() {
        let first = Statements::new(1, 0).next().unwrap();
        let digits = |text: &str| text.trim_matches('\'').parse::<u64>().unwrap();
        let values = first.rsplit_once("VALUES (").unwrap().1.trim_end_matches(");");
        let values: Vec<_> = values.split(", ").collect();
        assert_eq!((values[0], values[1]), ("'0'", "CURRENT_TIMESTAMP"));
        assert!((1_000..10_000).contains(&digits(values[2])), "{first}");
        assert_eq!(digits(values[3]).to_string().len(), 16, "{first}");
    }
}
