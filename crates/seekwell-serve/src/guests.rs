//! Who is connected. A guest that is being waited for, for its request or until it takes its
//! answer, can lose its place to a newcomer; one whose answer is being made cannot.

use seekwell_sys::seats::{Seat, Seats, Taken, peer};
use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SEATS: Seats = Seats { all: 32, per_peer: 24 };

#[derive(Default)]
pub struct Guests(Mutex<List>);

#[derive(Default)]
struct List {
    came: u64,
    there: BTreeMap<u64, There>,
}

struct There {
    stream: Arc<TcpStream>,
    peer: IpAddr,
    awaited_since: Option<Instant>,
}

impl Guests {
    /// A place for a connection that has said nothing yet, if there is one.
    pub fn seat(self: &Arc<Self>, stream: &Arc<TcpStream>, from: IpAddr) -> Option<Guest> {
        let mut list = self.list();
        let peer = peer(from);
        let taken = list.there.iter().map(|(&id, one)| Taken {
            id,
            peer: one.peer,
            idle_since: one.awaited_since,
        });
        match SEATS.find(&peer, taken) {
            Seat::Free => {}
            Seat::Of(id) => {
                // Its thread wakes up and ends.
                let left = list.there.remove(&id)?;
                let _ = left.stream.shutdown(Shutdown::Both);
            }
            Seat::Nowhere => return None,
        }
        list.came += 1;
        let (id, stream) = (list.came, Arc::clone(stream));
        list.there.insert(id, There { stream, peer, awaited_since: Some(Instant::now()) });
        Some(Guest { of: Arc::clone(self), id })
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.set(Some(Instant::now()));
    }

    /// From now on its answer is made. False: its place was given away.
    pub fn is_served(&self) -> bool {
        self.set(None)
    }

    fn set(&self, awaited_since: Option<Instant>) -> bool {
        let mut list = self.of.list();
        let there = list.there.get_mut(&self.id);
        there.map(|one| one.awaited_since = awaited_since).is_some()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.of.list().there.remove(&self.id);
    }
}
