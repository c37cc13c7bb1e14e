//! The server: one thread that waits for clients and for the model.
//!
//! A request arrives when it is read, is given to the machine at that time of the machine's clock,
//! and is answered when the real clock reaches the time at which the machine is done. One thread
//! does it all, because a hand-over between threads costs as much as a fast disk's read.

use crate::connection::Connection;
use crate::disk::{Answer, Disk, bytes_of};
use crate::fault::Fault;
use crate::place::{ListenError, Listener, Place};
use crate::protocol::{Export, MIN_BLOCK, ProtocolError};
use crate::store::{DataError, Lost, Store};
use crate::tally::{Tally, op_of};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_io::clock::Clock;
use seekwell_io::units::Nanos;
use seekwell_machine::Model;
use seekwell_machine::describe::Value;
use seekwell_sys::classify;
use seekwell_sys::seats::{Seat, Seats};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Connections at a time: a client may have sixteen, and there is room for another.
const SEATS: Seats = Seats { all: 32, per_peer: 16 };
/// How often the stop flag is looked at while nothing happens.
const TURN: Nanos = Nanos::from_millis(200);
/// For this long before an answer is due, and after a client was heard or answered, the server
/// watches the clock and the clients without sleeping: a sleep ends tens of microseconds late,
/// which is half of a fast disk's read.
const WATCH: Nanos = Nanos::from_micros(100);
/// Bytes read from a client at once.
const ROOM: usize = 256 << 10;

/// Why a machine cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// Where.
        place: Place,
        /// Why not.
        source: ListenError,
    },
    /// The data cannot be kept.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file with the data fails.
    #[error("the file with the data cannot be written; what was not flushed is lost")]
    Medium,
    /// The kernel does not let it wait.
    #[error("cannot wait for clients: {0}")]
    Wait(#[from] io::Error),
}

classify!(ServeError {
    Refused: Listen, Medium, Wait;
    | Self::Data(error) => seekwell_sys::Classified::class(error),
});

/// How a machine is served.
#[derive(Debug, Clone)]
pub struct Options {
    /// The export's name.
    pub name: String,
    /// The file that holds the data; without one it is in memory.
    pub data: Option<PathBuf>,
    /// Memory for the data, in bytes; writes beyond it fail with ENOSPC.
    pub memory_bytes: u64,
    /// Seed of the machine and of what a power cut takes.
    pub seed: u64,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// How long the power stays off after a cut.
    pub down: Nanos,
    /// Flushes are answered at once and make nothing durable.
    pub lies: bool,
}

/// Something that happened and is worth a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// For a second, requests took a tenth longer than modelled. Told once.
    CannotKeepUp,
    /// The power is off.
    PowerCut(Lost),
    /// It is on again.
    PowerOn,
    /// A client does not speak the protocol, and was hung up on.
    HungUp(ProtocolError),
}

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// Requests and how late they were.
    pub tally: Tally,
    /// Connections.
    pub clients: u64,
    /// What each power cut took.
    pub cuts: Vec<Lost>,
    /// How long it served.
    pub lasted: Nanos,
}

/// A server that listens, and answers once it [runs](Server::run).
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    place: Place,
    export: Export,
    disk: Disk,
    down: Nanos,
    connections: BTreeMap<u64, Connection>,
    /// When the power comes on, while it is off.
    off_until: Option<Nanos>,
    /// When a client was last heard or answered.
    active: Nanos,
    served: Served,
}

impl Server {
    /// Listens at a place.
    ///
    /// # Errors
    /// [`ServeError`] when the place or the file for the data cannot be had.
    pub fn open(model: Model, place: &Place, options: Options) -> Result<Self, ServeError> {
        let min_block = model.sector_bytes().max(MIN_BLOCK);
        let size_bytes = model.capacity() / u64::from(min_block) * u64::from(min_block);
        let store = match &options.data {
            Some(path) => Store::in_file(path, size_bytes)?,
            None => Store::in_memory(options.memory_bytes),
        };
        let kind = model.description().root().get("drive").and_then(|drive| drive.get("kind"));
        let is = |word: &str| kind.is_some_and(|k| matches!(&k.value, Value::Text(t) if t == word));
        let (rotational, trims) = (is("hdd"), is("ssd"));
        let export = Export { name: options.name, size_bytes, min_block, rotational, trims };
        let (listener, place) = Listener::open(place)
            .map_err(|source| ServeError::Listen { place: place.clone(), source })?;
        let disk = Disk::new(model, store, options.faults, options.lies, options.seed);
        Ok(Self {
            listener,
            place,
            export,
            disk,
            down: options.down,
            connections: BTreeMap::new(),
            off_until: None,
            active: Nanos::ZERO,
            served: Served::default(),
        })
    }

    /// Where it listens.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Serves until `stop` is set, and makes everything durable then.
    ///
    /// # Errors
    /// When the kernel does not let it wait, or the file for the data cannot be written.
    pub fn run(
        mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Event),
    ) -> Result<Served, ServeError> {
        // Sleeps end when they should. Where the kernel refuses, they end 50 µs later.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let (clock, mut room, mut answers) = (Clock::real(), vec![0; ROOM], Vec::new());
        let begin = clock.now();
        while !stop.load(Relaxed) {
            let now = clock.now() - begin;
            self.switch(now, tell)?;
            if self.off_until.is_none() {
                self.disk.advance(now, &mut answers);
                self.answer(&mut answers, || clock.now() - begin, tell);
            }
            let ready = self.wait(now)?;
            for (client, flags) in ready {
                self.attend(client, flags, now, &mut room);
            }
            self.hear(&clock, begin, tell);
        }
        self.disk.switch_off().map_err(|_| ServeError::Medium)?;
        self.served.lasted = clock.now() - begin;
        Ok(self.served)
    }

    /// Tells clients what is due, each all of it at once.
    fn answer(
        &mut self,
        answers: &mut Vec<Answer>,
        now: impl Fn() -> Nanos,
        tell: &mut dyn FnMut(Event),
    ) {
        for answer in &*answers {
            if let Some(client) = self.connections.get_mut(&answer.client) {
                client.answer(answer);
            }
        }
        self.connections.retain(|_, client| client.send().is_ok());
        let sent = now();
        if !answers.is_empty() {
            self.active = sent;
        }
        for answer in answers.drain(..) {
            // Who is gone was not answered.
            if !self.connections.contains_key(&answer.client) {
                continue;
            }
            let (bytes, op) = (bytes_of(&answer.request.command), op_of(&answer.request.command));
            let times = [answer.arrived, answer.due, sent];
            let of = (op, bytes.end - bytes.start);
            if self.served.tally.add(of, answer.result.is_err(), times) {
                tell(Event::CannotKeepUp);
            }
        }
    }

    /// Cuts the power or switches it on, when it is time.
    fn switch(&mut self, now: Nanos, tell: &mut dyn FnMut(Event)) -> Result<(), ServeError> {
        match self.off_until {
            Some(until) if now >= until => {
                self.off_until = None;
                tell(Event::PowerOn);
            }
            None if self.disk.wants_cut(now) => {
                let until = now + self.down;
                let lost = self.disk.cut(until).map_err(|_| ServeError::Medium)?;
                self.connections.clear();
                self.off_until = Some(until);
                self.served.cuts.push(lost);
                tell(Event::PowerCut(lost));
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits for clients and for the model, and says which clients can be attended to; 0 stands for
    /// one that is new.
    fn wait(&self, now: Nanos) -> Result<Vec<(u64, PollFlags)>, ServeError> {
        let next = self.off_until.unwrap_or_else(|| self.disk.next());
        let sleep = match now.since(self.active) < WATCH {
            true => Nanos::ZERO,
            false => next.since(now).min(TURN).since(WATCH),
        };
        let timeout = Timespec {
            tv_sec: (sleep.0 / 1_000_000_000).cast_signed(),
            tv_nsec: (sleep.0 % 1_000_000_000).cast_signed(),
        };
        let mut ids = Vec::with_capacity(self.connections.len() + 1);
        let mut waits = Vec::with_capacity(self.connections.len() + 1);
        if self.off_until.is_none() {
            ids.push(0);
            waits.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        for (id, client) in &self.connections {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, client.listens());
            flags.set(PollFlags::OUT, client.has_to_send());
            ids.push(*id);
            waits.push(PollFd::new(&client.stream, flags));
        }
        match poll(&mut waits, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(ServeError::Wait(errno.into())),
        }
        let ready = ids.into_iter().zip(&waits).map(|(id, wait)| (id, wait.revents()));
        Ok(ready.filter(|(_, flags)| !flags.is_empty()).collect())
    }

    /// Accepts a client, or moves bytes from and to one.
    fn attend(&mut self, id: u64, flags: PollFlags, now: Nanos, room: &mut [u8]) {
        if id == 0 {
            // A connection that is gone again or has no descriptor is the client's to try again.
            if let Ok(accepted) = self.listener.accept() {
                self.admit(Connection::new(accepted, now, self.export.clone()));
            }
            return;
        }
        let Some(client) = self.connections.get_mut(&id) else { return };
        let gone = PollFlags::HUP | PollFlags::ERR;
        let heard = match client.listens() && flags.intersects(PollFlags::IN | gone) {
            true => client.receive(room).unwrap_or(false),
            false => !flags.intersects(gone),
        };
        if !heard || client.send().is_err() {
            self.connections.remove(&id);
        }
    }

    /// Gives a client a place, if need be that of one that has not said what it wants.
    fn admit(&mut self, client: Connection) {
        let taken = self.connections.iter().map(|(id, client)| client.taken(*id));
        match SEATS.find(&client.taken(0).peer, taken) {
            Seat::Free => {}
            Seat::Of(id) => drop(self.connections.remove(&id)),
            Seat::Nowhere => return,
        }
        self.served.clients += 1;
        self.connections.insert(self.served.clients, client);
    }

    /// Takes the requests that clients have made.
    fn hear(&mut self, clock: &Clock, begin: Nanos, tell: &mut dyn FnMut(Event)) {
        let mut over = Vec::new();
        for (id, client) in &mut self.connections {
            loop {
                match client.request() {
                    Ok(Some(request)) => {
                        // Between two requests the machine does what is to be done until then; its
                        // answers wait for the next turn.
                        self.active = clock.now() - begin;
                        self.disk.submit(*id, request, self.active);
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tell(Event::HungUp(error));
                        over.push(*id);
                        break;
                    }
                }
            }
            let late = client.is_late(clock.now() - begin);
            if late {
                tell(Event::HungUp(ProtocolError::Late));
            }
            if late || client.send().is_err() || client.is_over() {
                over.push(*id);
            }
        }
        over.iter().for_each(|id| drop(self.connections.remove(id)));
    }
}

#[cfg(test)]
mod tests;
