//! A part at the end of a wire that one thing at a time can use: a link, a bus.

use crate::part::{Command, Done, Part, Usage};
use crate::serial::{ByTag, Serial};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Which way data goes on a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Written: from the host towards the medium.
    Out,
    /// Read: from the medium towards the host.
    In,
}

/// How long a wire is taken by what crosses it.
pub trait Wire: Send {
    /// The words that give a command.
    fn command(&self) -> Nanos;

    /// The words that say that it is done.
    fn status(&self) -> Nanos;

    /// That many bytes of data.
    fn data(&self, len: u32, way: Way) -> Nanos;

    /// Bytes that cross as one unit: after the last of them came from the medium, this much of the
    /// data is still to cross.
    fn unit(&self) -> u32;

    /// Until the wire can be used again after the part was idle for that long.
    fn wake(&self, _idle: Nanos) -> Nanos {
        Nanos::ZERO
    }
}

/// When a wire is taken: by one part alone, or by all that hang on it.
#[derive(Debug)]
enum Line {
    Own(Serial),
    Shared(Arc<Mutex<Serial>>),
}

impl Line {
    fn with<R>(&mut self, use_it: impl FnOnce(&mut Serial) -> R) -> R {
        match self {
            Self::Own(line) => use_it(line),
            Self::Shared(line) => use_it(&mut line.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn busy(&self) -> Nanos {
        match self {
            Self::Own(line) => line.busy(),
            Self::Shared(line) => line.lock().unwrap_or_else(PoisonError::into_inner).busy(),
        }
    }
}

/// A part and the wire it is attached by.
///
/// Data waits its turn. Commands and status are short and go between the units of whatever is
/// crossing, and what crosses next begins later by as much. What is written has crossed before the
/// part sees the command. What is read may cross while the medium still gives the rest of it; it
/// begins as late as it can without ending later, so that the wire never waits for a medium.
#[derive(Debug)]
pub struct Attached<W, P> {
    wire: W,
    /// How many times as fast as the wire says everything crosses.
    faster: f64,
    part: P,
    line: Line,
    /// What goes to the host, if it does not share the line with what comes from there.
    inward: Option<Line>,
    /// Of each command outstanding: what it does, and its length.
    outstanding: ByTag<(Kind, u32)>,
    /// Commands without data on their way to the part, by time of arrival.
    commands: VecDeque<(Nanos, Command)>,
    /// Writes on their way to the part, by time of arrival.
    writes: VecDeque<(Nanos, Command)>,
    /// Reads on their way from the part, by time of arrival.
    reads: VecDeque<Done>,
    /// Everything else on its way from the part, by time of arrival.
    statuses: VecDeque<Done>,
    finished: Vec<Done>,
    /// When something happens next, here or in the part.
    due: Nanos,
    pending: u32,
    /// Since when there are none.
    idle_since: Nanos,
    /// From when on the wire can be used.
    awake: Nanos,
}

/// Whether the end of a command brings data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    Read,
    #[default]
    Other,
}

/// When the first of a queue arrives.
fn head<T>(queue: &VecDeque<T>, at: impl Fn(&T) -> Nanos) -> Nanos {
    queue.front().map_or(Nanos::MAX, at)
}

/// The first of a queue, if it arrives at `now` or has before.
fn arrived<T>(queue: &mut VecDeque<T>, now: Nanos, at: impl Fn(&T) -> Nanos) -> Option<T> {
    if head(queue, at) <= now { queue.pop_front() } else { None }
}

/// A time at that many times the speed.
pub(crate) fn shorter(time: Nanos, faster: f64) -> Nanos {
    if faster == 1.0 { time } else { Nanos((time.0 as f64 / faster).round() as u64) }
}

impl<W: Wire, P: Part> Attached<W, P> {
    /// A part on a wire of its own.
    pub fn new(wire: W, part: P) -> Self {
        Self::on(Line::Own(Serial::default()), wire, part)
    }

    /// A part on a wire of its own that carries both directions at once.
    pub fn duplex(wire: W, part: P) -> Self {
        Self { inward: Some(Line::Own(Serial::default())), ..Self::new(wire, part) }
    }

    /// Parts on one wire. Whoever holds them calls all of them in order of time.
    pub fn all(wire: W, parts: Vec<P>) -> Vec<Self>
    where
        W: Clone,
    {
        let line = Arc::new(Mutex::new(Serial::default()));
        let on = |part| Self::on(Line::Shared(Arc::clone(&line)), wire.clone(), part);
        parts.into_iter().map(on).collect()
    }

    fn on(line: Line, wire: W, part: P) -> Self {
        Self {
            wire,
            faster: 1.0,
            part,
            line,
            inward: None,
            outstanding: ByTag::default(),
            commands: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            statuses: VecDeque::new(),
            finished: Vec::new(),
            due: Nanos::MAX,
            pending: 0,
            idle_since: Nanos::ZERO,
            awake: Nanos::ZERO,
        }
    }

    /// The same, with everything crossing that many times as fast as the wire says: a wire that
    /// cannot be had, by which one learns what a faster one would give.
    pub(crate) fn faster(self, faster: f64) -> Self {
        Self { faster, ..self }
    }

    /// What is at the other end.
    pub const fn part(&self) -> &P {
        &self.part
    }

    /// How long the wire was taken, reservations included.
    pub fn busy(&self) -> Nanos {
        let inward = self.inward.as_ref().map_or(Nanos::ZERO, Line::busy);
        self.line.busy() + inward
    }

    /// When something happens next, by what is on the way and by the part.
    fn earliest(&self) -> Nanos {
        let outward = head(&self.commands, |c| c.0).min(head(&self.writes, |c| c.0));
        let inward = head(&self.reads, |d| d.at).min(head(&self.statuses, |d| d.at));
        self.part.next().min(outward).min(inward)
    }

    /// Puts what the part has done on the wire.
    fn bring(&mut self) {
        let faster = self.faster;
        let data = |len| shorter(self.wire.data(len, Way::In), faster);
        let status = shorter(self.wire.status(), faster);
        let line = self.inward.as_mut().unwrap_or(&mut self.line);
        for done in self.finished.drain(..) {
            match self.outstanding.get(done.tag) {
                (Kind::Read, len) => {
                    let whole = data(len) + status;
                    let unit = data(len.min(self.wire.unit()));
                    let latest = (done.at + unit + status).since(whole);
                    let start = line.with(|line| line.reserve(done.ready.max(latest), whole));
                    let (ready, at) = (start + unit, start + whole);
                    self.reads.push_back(Done { tag: done.tag, ready, at });
                }
                (Kind::Other, _) => {
                    let at = line.with(|line| line.slip_in(done.at, status));
                    self.statuses.push_back(Done { tag: done.tag, ready: at, at });
                }
            }
        }
    }
}

impl<W: Wire, P: Part> Part for Attached<W, P> {
    fn capacity(&self) -> u64 {
        self.part.capacity()
    }

    fn depth(&self) -> u32 {
        self.part.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let kind = if command.op == Op::Read { Kind::Read } else { Kind::Other };
        self.outstanding.set(command.tag, (kind, command.len));
        if self.pending == 0 {
            self.awake = now + self.wire.wake(now.since(self.idle_since));
        }
        self.pending += 1;
        let from = now.max(self.awake);
        let words = shorter(self.wire.command(), self.faster);
        if command.op == Op::Write {
            let data = self.wire.data(command.len, Way::Out);
            let whole = words + shorter(data, self.faster);
            let start = self.line.with(|line| line.reserve(from, whole));
            self.writes.push_back((start + whole, command));
            self.due = self.due.min(start + whole);
        } else {
            let at = self.line.with(|line| line.slip_in(from, words));
            self.commands.push_back((at, command));
            self.due = self.due.min(at);
        }
    }

    fn next(&self) -> Nanos {
        self.due
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        while self.due <= now && self.due < Nanos::MAX {
            let at = self.due;
            if self.part.next() <= at {
                self.part.advance(at, &mut self.finished);
                self.bring();
            }
            let before = done.len();
            while let Some(end) = arrived(&mut self.reads, at, |d| d.at) {
                done.push(end);
            }
            while let Some(end) = arrived(&mut self.statuses, at, |d| d.at) {
                done.push(end);
            }
            self.pending -= (done.len() - before) as u32;
            self.idle_since = at;
            while let Some((_, command)) = arrived(&mut self.commands, at, |c| c.0) {
                self.part.submit(command, at);
            }
            while let Some((_, command)) = arrived(&mut self.writes, at, |c| c.0) {
                self.part.submit(command, at);
            }
            self.due = self.earliest();
        }
    }

    fn usage(&self) -> Usage {
        self.part.usage()
    }
}
