//! Connections to a database: a few, each opened when it is first needed and again when it is lost.

use seekwell_fleet::{Database, FleetError, Place};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Questions that are answered at a time; the others wait.
const MOST: usize = 3;
/// A question waits no longer than this for its turn, and is answered within the same time.
const LIMIT: Duration = Duration::from_secs(10);

pub struct Connections {
    place: Box<Place>,
    /// Idle ones; `None` if one is to be opened first.
    free: Mutex<Vec<Option<Database>>>,
    returned: Condvar,
}

/// All connections are in use, and stay so.
pub struct Busy;

impl Connections {
    /// Opens the first one.
    ///
    /// # Errors
    /// As for [`Database::open`].
    pub fn open(place: Box<Place>) -> Result<Self, FleetError> {
        let free = std::iter::once(Some(reader(&place)?));
        let free = free.chain((1..MOST).map(|_| None)).collect();
        Ok(Self { place, free: Mutex::new(free), returned: Condvar::new() })
    }

    /// Asks a question, once more on a new connection where the old one turns out to be lost.
    ///
    /// # Errors
    /// What the question gives, or why there is no connection.
    pub fn ask<T, E: From<FleetError> + From<Busy>>(
        &self,
        question: impl Fn(&Database) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut turn = self.turn()?;
        if let Some(database) = &turn.database {
            match question(database) {
                Err(_) if database.is_lost() => turn.database = None,
                answer => return answer,
            }
        }
        let answer = question(turn.database.insert(reader(&self.place)?));
        turn.database.take_if(|database| database.is_lost());
        answer
    }

    fn turn(&self) -> Result<Turn<'_>, Busy> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.returned.wait_timeout_while(free, LIMIT, |free| free.is_empty());
        let (mut free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // One that is open, before another is opened.
        let open = free.iter().position(Option::is_some).unwrap_or(0);
        if free.is_empty() {
            return Err(Busy);
        }
        Ok(Turn { of: self, database: free.swap_remove(open) })
    }
}

fn reader(place: &Place) -> Result<Database, FleetError> {
    let database = Database::open(place)?;
    database.only_read(LIMIT)?;
    Ok(database)
}

/// A connection in use, given back also when its user panics.
struct Turn<'a> {
    of: &'a Connections,
    database: Option<Database>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut free = self.of.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.database.take());
        self.of.returned.notify_one();
    }
}
