//! A drive-managed shingled disk: a hard drive whose tracks overlap and cannot be written singly.
//!
//! Tracks are grouped into *bands*, which can only be written from the beginning on. Writes
//! therefore go to a *media cache*, a conventional region at the outer edge, in the order in which
//! they come, and a map remembers where the newest data is. A *cleaner* empties the cache, oldest
//! write first: it reads a whole band and what the cache holds of it, writes the result to a
//! scratch band, so that a power cut loses nothing, and then in its place. It works when no command
//! came for a while, and whenever a write finds the cache, or the map, full; such writes wait. A
//! stream of writes that reaches the beginning of a band goes on in the band itself. When it stops
//! within a band, the rest of the band is in the cache from then on; copying it there takes no time
//! here.
//!
//! Structure, and what drives of this kind were found to do: A. Aghayev and P. Desnoyers,
//! "Skylight: A Window on Shingled Disk Operation" (FAST '15). Writing to a scratch band is
//! assumed.

use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage, Written};
use crate::serial::ByTag;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Streams of writes that are followed at once.
const STREAMS: usize = 8;

/// What shingling adds to a hard drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShingledParams {
    /// Bytes of the media cache, the first of the drive's.
    pub cache_bytes: u64,
    /// Ranges that its map can hold: about as many writes as the cache takes, however short.
    pub cache_ranges: u32,
    /// Bytes of a band.
    pub band_bytes: u32,
    /// Time without a command after which bands are cleaned, in nanoseconds.
    pub idle_ns: u64,
}

impl ShingledParams {
    /// Whether a drive of this many bytes can be divided like this.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that does not fit.
    pub fn check(&self, capacity: u64) -> Result<(), OutOfRange> {
        within("band_bytes", self.band_bytes, 4096..=1 << 31)?;
        let band = u64::from(self.band_bytes);
        let most = capacity.saturating_sub(2 * band).max(2 * band);
        within("cache_bytes", self.cache_bytes, 2 * band..=most)?;
        within("cache_ranges", self.cache_ranges, 1..=1 << 30)?;
        within("idle_ns", self.idle_ns, 1..=3_600_000_000_000)
    }
}

/// A range whose newest data is in the cache; known by where it begins.
#[derive(Debug, Clone, Copy)]
struct Cached {
    end: u64,
    /// Where in the cache.
    at: u64,
    /// Number of the write that brought it.
    write: u64,
}

/// A write in the cache's log.
#[derive(Debug, Clone, Copy)]
struct Logged {
    start: u64,
    end: u64,
    /// Where it is, counted without end.
    at: u64,
    number: u64,
}

/// Where the cache holds what.
#[derive(Debug)]
struct MediaCache {
    params: ShingledParams,
    ranges: BTreeMap<u64, Cached>,
    /// Oldest first. Some may have been written over, or cleaned.
    log: VecDeque<Logged>,
    head: u64,
    number: u64,
}

impl MediaCache {
    /// The cached ranges that overlap `start..end`, whole.
    fn overlapping(&self, start: u64, end: u64) -> Vec<(u64, Cached)> {
        let before = self.ranges.range(..start).next_back();
        let before = before.filter(|(_, cached)| cached.end > start);
        before.into_iter().chain(self.ranges.range(start..end)).map(|(k, c)| (*k, *c)).collect()
    }

    /// Forgets what writes before `number` brought of a range.
    fn forget(&mut self, start: u64, end: u64, number: u64) {
        for (from, old) in self.overlapping(start, end) {
            if old.write >= number {
                continue;
            }
            self.ranges.remove(&from);
            if from < start {
                self.ranges.insert(from, Cached { end: start, ..old });
            }
            if old.end > end {
                self.ranges.insert(end, Cached { at: old.at + (end - from), ..old });
            }
        }
    }

    /// Where the next write of that length would go, counted without end: none is cut in two.
    const fn place(&self, len: u64) -> u64 {
        let left = self.params.cache_bytes - self.head % self.params.cache_bytes;
        if len > left { self.head + left } else { self.head }
    }

    fn has_room(&self, len: u64) -> bool {
        let tail = self.log.front().map_or(self.place(len), |oldest| oldest.at);
        self.place(len) + len - tail <= self.params.cache_bytes
            && self.ranges.len() < self.params.cache_ranges as usize
    }

    /// Adds a write to the log; returns where it is in the cache.
    fn append(&mut self, start: u64, end: u64) -> u64 {
        let at = self.place(end - start);
        self.head = at + (end - start);
        self.number += 1;
        self.log.push_back(Logged { start, end, at, number: self.number });
        self.forget(start, end, u64::MAX);
        let at = at % self.params.cache_bytes;
        self.ranges.insert(start, Cached { end, at, write: self.number });
        at
    }

    /// The oldest range that is still needed. What lies before it in the log is free from now on.
    fn oldest(&mut self) -> Option<u64> {
        while let Some(Logged { start, end, number, .. }) = self.log.front().copied() {
            let mut ranges = self.ranges.range(start..end);
            if let Some((from, _)) = ranges.find(|(_, cached)| cached.write == number) {
                return Some(*from);
            }
            self.log.pop_front();
        }
        None
    }
}

/// A stream of writes.
#[derive(Debug, Clone, Copy)]
struct Stream {
    next: u64,
    /// It writes to bands, not to the cache.
    direct: bool,
}

/// A band that is being cleaned.
#[derive(Debug)]
struct Cleaning {
    start: u64,
    end: u64,
    /// Writes with this number and later ones came too late for it.
    before: u64,
    steps: VecDeque<(Op, u64, u64)>,
}

/// A command that is not done.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    left: usize,
    ready: Nanos,
}

/// A shingled disk.
#[derive(Debug)]
pub struct Shingled<P> {
    part: P,
    cache: MediaCache,
    capacity: u64,
    streams: VecDeque<Stream>,
    cleaning: Option<Cleaning>,
    open: ByTag<Open>,
    /// Commands of the host that are not done.
    outstanding: usize,
    /// Since when there have been none; [`Nanos::MAX`] while there are.
    resting_since: Nanos,
    /// Writes for which the cache has no room, and flushes behind them.
    waiting: VecDeque<Command>,
    /// What the drive has no place for yet, and whose it is: none is the cleaner's.
    ready: VecDeque<(Option<u32>, Command)>,
    /// Whose the drive's commands are, by tag.
    owners: Vec<Option<u32>>,
    free: Vec<u32>,
    finished: Vec<Done>,
    written: Written,
}

impl<P: Part> Shingled<P> {
    /// A drive with an empty cache.
    ///
    /// # Errors
    /// As [`ShingledParams::check`].
    pub fn new(params: ShingledParams, part: P) -> Result<Self, OutOfRange> {
        params.check(part.capacity())?;
        let depth = part.depth();
        Ok(Self {
            capacity: part.capacity() - params.cache_bytes - u64::from(params.band_bytes),
            cache: MediaCache {
                params,
                ranges: BTreeMap::new(),
                log: VecDeque::new(),
                head: 0,
                number: 0,
            },
            streams: VecDeque::new(),
            cleaning: None,
            open: ByTag::default(),
            outstanding: 0,
            resting_since: Nanos::ZERO,
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            owners: vec![None; depth as usize],
            free: (0..depth).rev().collect(),
            finished: Vec::new(),
            written: Written::default(),
            part,
        })
    }

    fn band(&self) -> u64 {
        u64::from(self.cache.params.band_bytes)
    }

    /// Where the drive has what the host knows by `offset`: behind the cache and the scratch band.
    fn home(&self, offset: u64) -> u64 {
        self.cache.params.cache_bytes + self.band() + offset
    }

    /// The end of the band that holds `offset`.
    fn band_end(&self, offset: u64) -> u64 {
        (offset / self.band() * self.band() + self.band()).min(self.capacity)
    }

    /// Gives the drive a piece of a command, as soon as it has a place for it.
    fn give(&mut self, owner: Option<u32>, piece: Command, now: Nanos) {
        if piece.op == Op::Write {
            self.written.media_bytes += u64::from(piece.len);
        }
        self.ready.push_back((owner, piece));
        self.fill(now);
    }

    fn fill(&mut self, now: Nanos) {
        while !self.ready.is_empty()
            && let Some(tag) = self.free.pop()
            && let Some((owner, piece)) = self.ready.pop_front()
        {
            self.owners[tag as usize] = owner;
            self.part.submit(Command { tag, ..piece }, now);
        }
    }

    fn read(&mut self, command: Command, now: Nanos) {
        let (start, end) = (command.offset, command.offset + u64::from(command.len));
        let (mut pieces, mut at) = (Vec::new(), start);
        for (from, cached) in self.cache.overlapping(start, end) {
            let (first, last) = (from.max(start), cached.end.min(end));
            if at < first {
                pieces.push((self.home(at), first - at));
            }
            pieces.push((cached.at + (first - from), last - first));
            at = last;
        }
        if at < end || pieces.is_empty() {
            pieces.push((self.home(at), end - at));
        }
        self.open.set(command.tag, Open { left: pieces.len(), ready: now });
        for (offset, len) in pieces {
            self.give(Some(command.tag), Command { offset, len: len as u32, ..command }, now);
        }
    }

    fn write(&mut self, command: Command, now: Nanos) {
        let end = command.offset + u64::from(command.len);
        let pieces = end.div_ceil(self.band()).saturating_sub(command.offset / self.band()).max(1);
        self.open.set(command.tag, Open { left: pieces as usize, ready: now });
        self.written.host_bytes += u64::from(command.len);
        let known = self.streams.iter().position(|stream| stream.next == command.offset);
        let known = known.and_then(|index| self.streams.remove(index));
        let mut direct = known.is_some_and(|stream| stream.direct);
        let mut at = command.offset;
        for _ in 0..pieces {
            let last = self.band_end(at).min(end);
            let piece = Command { offset: at, len: (last - at) as u32, ..command };
            direct |= known.is_some() && at.is_multiple_of(self.band());
            if direct {
                self.cache.forget(at, last, u64::MAX);
                let offset = self.home(at);
                self.give(Some(command.tag), Command { offset, ..piece }, now);
            } else {
                self.waiting.push_back(piece);
            }
            at = last;
        }
        self.streams.push_back(Stream { next: end, direct });
        if self.streams.len() > STREAMS {
            self.end_stream();
        }
    }

    /// Follows the oldest stream no longer. The rest of the band it was writing is in the cache.
    fn end_stream(&mut self) {
        if let Some(Stream { next, direct: true }) = self.streams.pop_front()
            && !next.is_multiple_of(self.band())
            && next < self.capacity
        {
            self.cache.append(next, self.band_end(next));
        }
    }

    /// Takes writes that wait into the cache and, where they or the host's rest ask for it, cleans
    /// the next band.
    fn go_on(&mut self, now: Nanos) {
        self.cache.oldest();
        while let Some(command) = self.waiting.front().copied()
            && (command.sectors().is_none() || self.cache.has_room(command.len.into()))
        {
            self.waiting.pop_front();
            let end = command.offset + u64::from(command.len);
            let offset = match command.sectors() {
                Some(_) => self.cache.append(command.offset, end),
                None => command.offset,
            };
            self.give(Some(command.tag), Command { offset, ..command }, now);
        }
        let rested = self.resting_since != Nanos::MAX && self.resting_since + self.idle() <= now;
        if self.cleaning.is_some() || (self.waiting.is_empty() && !rested) {
            return;
        }
        if rested {
            (0..self.streams.len()).for_each(|_| self.end_stream());
        }
        if let Some(oldest) = self.cache.oldest() {
            self.clean(oldest, now);
        }
    }

    const fn idle(&self) -> Nanos {
        Nanos(self.cache.params.idle_ns)
    }

    fn clean(&mut self, offset: u64, now: Nanos) {
        let (start, end) = (offset / self.band() * self.band(), self.band_end(offset));
        let home = self.home(start);
        let mut cached: Vec<(u64, u64)> = Vec::new();
        for (from, range) in self.cache.overlapping(start, end) {
            let (first, last) = (from.max(start), range.end.min(end));
            cached.push((range.at + (first - from), last - first));
        }
        cached.sort_unstable();
        // What lies in a row in the cache is one read.
        cached.dedup_by(|next, before| {
            let joins = before.0 + before.1 == next.0;
            before.1 += if joins { next.1 } else { 0 };
            joins
        });
        let mut steps = VecDeque::from([(Op::Read, home, end - start)]);
        steps.extend(cached.into_iter().map(|(at, len)| (Op::Read, at, len)));
        steps.push_back((Op::Write, self.cache.params.cache_bytes, end - start));
        steps.push_back((Op::Write, home, end - start));
        let before = self.cache.number + 1;
        self.cleaning = Some(Cleaning { start, end, before, steps });
        self.next_step(now);
    }

    fn next_step(&mut self, now: Nanos) {
        let Some(cleaning) = &mut self.cleaning else { return };
        if let Some((op, offset, len)) = cleaning.steps.pop_front() {
            let durable = op == Op::Write;
            self.give(None, Command { tag: 0, op, offset, len: len as u32, durable }, now);
        } else {
            self.cache.forget(cleaning.start, cleaning.end, cleaning.before);
            self.cleaning = None;
        }
    }

    /// A piece is done.
    fn end_piece(&mut self, end: Done, done: &mut Vec<Done>) {
        self.free.push(end.tag);
        let Some(tag) = self.owners[end.tag as usize] else { return self.next_step(end.at) };
        let Open { left, ready } = self.open.get(tag);
        let open = Open { left: left - 1, ready: ready.max(end.ready) };
        self.open.set(tag, open);
        if open.left == 0 {
            done.push(Done { tag, ready: open.ready, at: end.at });
            self.outstanding -= 1;
            if self.outstanding == 0 {
                self.resting_since = end.at;
            }
        }
    }
}

impl<P: Part> Part for Shingled<P> {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn depth(&self) -> u32 {
        self.part.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        self.outstanding += 1;
        self.resting_since = Nanos::MAX;
        match command.op {
            Op::Read => self.read(command, now),
            Op::Write if command.len > 0 => self.write(command, now),
            Op::Write | Op::Flush | Op::Discard => {
                self.open.set(command.tag, Open { left: 1, ready: now });
                self.waiting.push_back(command);
            }
        }
        self.go_on(now);
    }

    fn next(&self) -> Nanos {
        let rests = self.resting_since != Nanos::MAX && self.cleaning.is_none();
        let due = rests && (!self.cache.log.is_empty() || !self.streams.is_empty());
        self.part.next().min(if due { self.resting_since + self.idle() } else { Nanos::MAX })
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now || at == Nanos::MAX {
                return;
            }
            let mut finished = std::mem::take(&mut self.finished);
            self.part.advance(at, &mut finished);
            for end in finished.drain(..) {
                self.end_piece(end, done);
            }
            self.finished = finished;
            self.fill(at);
            self.go_on(at);
        }
    }

    fn usage(&self) -> Usage {
        Usage { written: Some(self.written), ..self.part.usage() }
    }
}

#[cfg(test)]
mod tests;
