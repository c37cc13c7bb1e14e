//! What becomes of written data: from the buffer to the log, and garbage collection along with it.

use super::events::{Event, Events};
use super::flash::{DieWork, Reader};
use super::ftl::Mapping;
use super::params::{SsdParams, UNIT_BYTES, WritePause};
use super::{Ssd, UNIT};
use crate::part::Command;
use seekwell_io::units::Nanos;

/// Writes of at least this many bytes are laid out in sequence wherever they begin.
const RUN_BYTES: u32 = 64 << 10;

/// Keeps writes out of the buffer during a pause of the firmware, and spaces them from when the
/// buffer was full until none waits any longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gate {
    gap: Nanos,
    pause: Option<WritePause>,
    pressed: bool,
    opens: Nanos,
    awaited: bool,
}

impl Gate {
    /// One that is open.
    pub(super) fn new(params: &SsdParams) -> Self {
        let (gap, pause) = (Nanos(params.write_gap_ns.into()), params.write_pause);
        Self { gap, pause, pressed: false, opens: Nanos::ZERO, awaited: false }
    }

    /// When the next write may pass.
    fn opens(&self, now: Nanos) -> Nanos {
        let at = self.opens.max(now);
        match self.pause.map(|pause| (at.0 % u64::from(pause.every_ns), pause.lasts_ns.into())) {
            Some((into, lasts)) if into < lasts => Nanos(at.0 - into + lasts),
            _ => at,
        }
    }

    /// Units went through.
    fn passed(&mut self, units: u32, now: Nanos) {
        if self.pressed {
            self.opens = self.opens.max(now) + Nanos(self.gap.0 * u64::from(units));
        }
    }

    fn wait(&mut self, until: Nanos, events: &mut Events) {
        if !std::mem::replace(&mut self.awaited, true) {
            events.arrange(until, Event::Open);
        }
    }
}

impl Ssd {
    /// The gate for writes opens.
    pub(super) fn open(&mut self, now: Nanos) {
        self.gate.awaited = false;
        self.admit(now);
    }

    /// Takes into the buffer what there is room for.
    pub(super) fn admit(&mut self, now: Nanos) {
        while let Some(index) = self.waiting.front().copied() {
            let opens = self.gate.opens(now);
            if now < opens {
                self.gate.wait(opens, &mut self.events);
                return;
            }
            let active = self.actives[index as usize];
            let Command { offset, len, durable, .. } = active.command;
            let end = offset + u64::from(len);
            let n = active.left.min(self.buffer.room());
            let first = end.div_ceil(UNIT) - u64::from(active.left);
            self.merge(first, n, offset, end, now);
            let in_sequence = active.continues || len >= RUN_BYTES || self.params.zones.is_some();
            self.log(first, n, in_sequence, now);
            self.gate.passed(n, now);
            self.actives[index as usize].left -= n;
            if n < active.left {
                self.gate.pressed = true;
                return;
            }
            self.waiting.pop_front();
            self.writes_begun -= 1;
            self.begin_held_up(now);
            if durable {
                self.make_durable(index, now);
            } else {
                let latency = Nanos(u64::from(self.params.write_latency_ns));
                self.events.arrange(now + latency, Event::Done(index));
            }
        }
        self.gate.pressed = false;
    }

    /// Reads what a write leaves of the first or last unit it touches.
    fn merge(&mut self, first: u64, count: u32, offset: u64, end: u64, now: Nanos) {
        let in_flash =
            |it: &Self, unit| it.ftl.place(unit) != Mapping::Unmapped && !it.buffer.holds(unit);
        let last = first + u64::from(count);
        let (head, tail) = (offset / UNIT, end / UNIT);
        let cut_head = !offset.is_multiple_of(UNIT) && (first..last).contains(&head);
        let cut_tail = !end.is_multiple_of(UNIT) && (first..last).contains(&tail);
        if cut_head && in_flash(self, head) {
            self.sense(self.home(head), head, Reader::Merge, UNIT_BYTES, now);
        }
        if cut_tail && (tail != head || !cut_head) && in_flash(self, tail) {
            self.sense(self.home(tail), tail, Reader::Merge, UNIT_BYTES, now);
        }
    }

    /// Appends units to the log.
    fn log(&mut self, first: u64, count: u32, in_sequence: bool, now: Nanos) {
        self.ftl.write(first, u64::from(count), in_sequence);
        for unit in first..first + u64::from(count) {
            if let Some(piece) = self.buffer.take(unit) {
                self.program(piece, now);
            }
            if self.ahead.pages() > 0 {
                self.ahead.forget(unit * UNIT / u64::from(self.params.page_bytes));
            }
        }
        if !in_sequence {
            self.map_debt += count * self.params.map_percent;
            self.pad(self.map_debt / 100, now);
            self.map_debt %= 100;
        }
    }

    /// Appends units to the log that hold no data of the host.
    pub(super) fn pad(&mut self, count: u32, now: Nanos) {
        self.ftl.append_overhead(count);
        for _ in 0..count {
            if let Some(piece) = self.buffer.gather() {
                self.program(piece, now);
            }
        }
    }

    /// A command is done when everything written so far is in flash.
    pub(super) fn make_durable(&mut self, index: u32, now: Nanos) {
        if !self.params.buffer_protected {
            self.pad(self.buffer.lacking(), now);
            if self.buffer.wait(self.buffer.next_piece(), index) {
                return;
            }
        }
        self.events.arrange(now, Event::Done(index));
    }

    /// Gives a piece of log to the next die, and what garbage collection does meanwhile.
    fn program(&mut self, piece: u64, now: Nanos) {
        let slc = self.slc.take();
        let job = if slc { DieWork::ProgramSlc(piece) } else { DieWork::Program(piece) };
        let die = self.next_die.host.turn(self.params.dies());
        self.flash.work(die, job, now, &mut self.events);
        let units = self.params.program_units();
        self.moves += self.ftl.take_moves(units);
        let dies = self.params.dies();
        let at_once = self.params.moves_at_once;
        let at_once = if self.gate.pressed { at_once.pressed } else { at_once.relaxed };
        let least = u64::from((at_once * dies).max(1) * units);
        if self.moves >= least {
            for _ in 0..self.moves / u64::from(units) {
                let die = self.next_die.moves.turn(dies);
                self.flash.work(die, DieWork::Move, now, &mut self.events);
            }
            self.moves %= u64::from(units);
        }
        for _ in
            0..self.erases.due(self.ftl.take_erases() * dies, dies * self.params.pages_per_block)
        {
            let die = self.next_die.erases.turn(dies);
            self.flash.work(die, DieWork::Erase, now, &mut self.events);
        }
    }

    /// No command is left: begins to wait for the time to fold.
    pub(super) fn rest(&mut self, now: Nanos) {
        if let Some(at) = self.slc.rest(now) {
            self.events.arrange(at, Event::Idle);
        }
    }

    /// The time to fold has come, unless a command came before it.
    pub(super) fn begin_folding(&mut self, now: Nanos) {
        match self.slc.look(now) {
            Some(at) => drop(self.events.arrange(at, Event::Idle)),
            None => (0..self.params.dies()).for_each(|die| self.fold(die, now)),
        }
    }

    fn fold(&mut self, die: u32, now: Nanos) {
        if self.slc.fold() {
            self.flash.work(die, DieWork::Fold, now, &mut self.events);
        }
    }

    pub(super) fn worked(&mut self, die: u32, event: u64, now: Nanos) {
        let job = self.flash.worked(die, event, now, &mut self.events);
        let piece = match job {
            Some(DieWork::Program(piece) | DieWork::ProgramSlc(piece)) => piece,
            Some(DieWork::Fold) => {
                self.slc.folded_one();
                return self.fold(die, now);
            }
            _ => return,
        };
        self.buffer.programmed(piece);
        while let Some(index) = self.buffer.released() {
            self.events.arrange(now, Event::Done(index));
        }
        self.admit(now);
    }
}
