//! Who is connected, and whose turn it is. A guest that has to be waited for, or waits itself until
//! its answer can be made, can lose its place to a newcomer. The newest goes first: when
//! there are more requests than can be answered, those that came first are given up already.

use seekwell_sys::seats::{Seat, Seats, Taken, peer};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SEATS: Seats = Seats { all: 32, per_peer: 24 };
/// Answers that are made at a time.
const MOST_MADE: usize = 4;
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[derive(Default)]
pub struct Guests {
    list: Mutex<List>,
    changed: Condvar,
}

#[derive(Default)]
struct List {
    came: u64,
    there: BTreeMap<u64, There>,
}

struct There {
    stream: Arc<TcpStream>,
    peer: IpAddr,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// It has to say or take something.
    Awaited(Instant),
    /// It waits for its turn.
    Asks(Instant),
    /// Its answer is made.
    Served,
}

impl List {
    fn taken(&self) -> impl Iterator<Item = Taken<IpAddr, Instant>> {
        self.there.iter().map(|(&id, one)| {
            let idle_since = match one.state {
                State::Awaited(since) | State::Asks(since) => Some(since),
                State::Served => None,
            };
            Taken { id, peer: one.peer, idle_since }
        })
    }

    fn is_next(&self, id: u64) -> bool {
        let served = self.there.values().filter(|one| matches!(one.state, State::Served));
        let mut later = self.there.range(id + 1..);
        served.count() < MOST_MADE && !later.any(|(_, one)| matches!(one.state, State::Asks(_)))
    }
}

impl Guests {
    /// A place for a connection that has said nothing yet, if there is one.
    pub fn seat(self: &Arc<Self>, stream: &Arc<TcpStream>, from: IpAddr) -> Option<Guest> {
        let mut list = self.list();
        let peer = peer(from);
        match SEATS.find(&peer, list.taken()) {
            Seat::Free => {}
            Seat::Of(id) => {
                let left = list.there.remove(&id)?;
                if let State::Asks(_) = left.state {
                    // A few bytes fit into any socket's buffer: this does not wait.
                    let _ = (&*left.stream).write_all(TURNED_AWAY);
                }
                // Its thread wakes up and ends.
                let _ = left.stream.shutdown(Shutdown::Both);
                self.changed.notify_all();
            }
            Seat::Nowhere => return None,
        }
        list.came += 1;
        let (id, stream) = (list.came, Arc::clone(stream));
        list.there.insert(id, There { stream, peer, state: State::Awaited(Instant::now()) });
        Some(Guest { of: Arc::clone(self), id })
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for as long as it lives, a panic in its thread included.
pub struct Guest {
    of: Arc<Guests>,
    id: u64,
}

impl Guest {
    /// From now on it has to say or take something.
    pub fn is_awaited(&self) {
        self.set(&mut self.of.list(), State::Awaited(Instant::now()));
    }

    /// Waits for its turn to have its answer made. False: its place was given away.
    pub fn has_turn(&self) -> bool {
        let mut list = self.of.list();
        self.set(&mut list, State::Asks(Instant::now()));
        let waits = |list: &mut List| list.there.contains_key(&self.id) && !list.is_next(self.id);
        let waited = self.of.changed.wait_while(list, waits);
        self.set(&mut waited.unwrap_or_else(PoisonError::into_inner), State::Served)
    }

    fn set(&self, list: &mut List, state: State) -> bool {
        self.of.changed.notify_all();
        list.there.get_mut(&self.id).map(|one| one.state = state).is_some()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.of.list().there.remove(&self.id);
        self.of.changed.notify_all();
    }
}
