//! One port of an AHCI controller with its driver's queue.
//!
//! Queued (NCQ) and other commands never mix at the drive: a queued one waits until no other is
//! active, another until no queued one is. What waits does so in order, and so a FLUSH or an
//! unqueued TRIM drains the drive and holds back everything behind it. Sources: Serial ATA AHCI
//! 1.3.1 (32 slots a port); the rule as in DragonFly BSD `sys/dev/disk/ahci/ahci.c` and in Linux
//! `ata_std_qc_defer`.

use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use crate::serial::{ByTag, Serial};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How the controller calls the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interrupt {
    /// A line, perhaps shared: the handler reads the controller's status over the bus to learn
    /// whose it is, and again to clear it.
    Line,
    /// A message (MSI): not shared, and nothing to read first.
    Message,
}

/// A port of an AHCI controller, its driver and the host's costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AhciParams {
    /// Command slots of the port.
    pub slots: u32,
    /// Slots the driver keeps back for error recovery.
    pub reserved_slots: u32,
    /// Whether reads and writes are queued at the drive.
    pub ncq: bool,
    /// The most unqueued commands given to the controller at once. The drive does one at a time;
    /// DragonFly's driver gives four.
    pub unqueued_at_once: u32,
    /// How the controller calls the host.
    pub interrupt: Interrupt,
    /// Host processor time of giving one command, in nanoseconds.
    pub issue_ns: u32,
    /// Host processor time of taking one interrupt by message, in nanoseconds.
    pub interrupt_ns: u32,
    /// What an interrupt by line costs more: reads of the controller's registers, in nanoseconds.
    pub line_ns: u32,
    /// Host processor time of ending one command, in nanoseconds.
    pub completion_ns: u32,
}

impl AhciParams {
    /// A port whose host costs are those of a processor of about 2010.
    pub const TYPICAL: Self = Self {
        slots: 32,
        reserved_slots: 0,
        ncq: true,
        unqueued_at_once: 1,
        interrupt: Interrupt::Message,
        issue_ns: 1_000,
        interrupt_ns: 1_500,
        line_ns: 1_000,
        completion_ns: 1_000,
    };

    /// Whether such a port can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("slots", self.slots, 1..=32)?;
        within("reserved_slots", self.reserved_slots, 0..=u64::from(self.slots) - 1)?;
        within("unqueued_at_once", self.unqueued_at_once, 1..=u64::from(self.slots))?;
        within("issue_ns", self.issue_ns, 0..=1_000_000)?;
        within("interrupt_ns", self.interrupt_ns, 0..=1_000_000)?;
        within("line_ns", self.line_ns, 0..=1_000_000)?;
        within("completion_ns", self.completion_ns, 0..=1_000_000)
    }
}

/// A drive at a port of an AHCI controller.
///
/// [`Part::depth`] is the number of commands that can be at the drive; more may be given and wait
/// in the driver's queue, in order.
#[derive(Debug)]
pub struct Ahci<P> {
    params: AhciParams,
    /// An interrupt's whole cost.
    interrupt: Nanos,
    drive: P,
    /// The most queued and the most other commands at the drive.
    most: [u32; 2],
    /// How many of each are there; one of the two is always zero.
    active: [u32; 2],
    host: Serial,
    /// Commands not yet at the drive, by the time from when on they may be.
    waiting: VecDeque<(Nanos, Command)>,
    class: ByTag<Class>,
    /// What the drive has done, by the time at which the host has noticed.
    noticed: VecDeque<Done>,
    finished: Vec<Done>,
    /// When something happens next, here or at the drive.
    due: Nanos,
}

/// The two kinds that never mix; indexes `most` and `active`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Queued = 0,
    Other = 1,
}

impl<P: Part> Ahci<P> {
    /// A drive at a port.
    ///
    /// # Errors
    /// As [`AhciParams::check`].
    pub fn new(params: AhciParams, drive: P) -> Result<Self, OutOfRange> {
        params.check()?;
        let slots = (params.slots - params.reserved_slots).min(drive.depth());
        let line = if params.interrupt == Interrupt::Line { params.line_ns } else { 0 };
        Ok(Self {
            interrupt: Nanos(u64::from(params.interrupt_ns) + u64::from(line)),
            most: [slots, params.unqueued_at_once.min(slots)],
            active: [0, 0],
            params,
            drive,
            host: Serial::default(),
            waiting: VecDeque::new(),
            class: ByTag::default(),
            noticed: VecDeque::new(),
            finished: Vec::new(),
            due: Nanos::MAX,
        })
    }

    /// The same with that many times the slots, which may be more than there can be.
    pub(crate) fn with_times_the_slots(self, factor: f64) -> Self {
        let slots = f64::from(self.params.slots - self.params.reserved_slots) * factor;
        let most = (slots.round() as u32).min(self.drive.depth());
        Self { most: [most, self.most[1]], ..self }
    }

    /// The drive.
    pub const fn drive(&self) -> &P {
        &self.drive
    }

    fn class(&self, op: Op) -> Class {
        let data = matches!(op, Op::Read | Op::Write);
        if data && self.params.ncq { Class::Queued } else { Class::Other }
    }

    /// When the first that waits can go to the drive, as things stand.
    fn next_issue(&self) -> Nanos {
        let Some((at, command)) = self.waiting.front() else { return Nanos::MAX };
        let class = self.class(command.op) as usize;
        let free = self.active[class] < self.most[class] && self.active[1 - class] == 0;
        if free { *at } else { Nanos::MAX }
    }

    /// Lets the host notice what the drive has done: by an interrupt, or by the handler that is
    /// still at work on the one before.
    fn notice(&mut self) {
        let completion = Nanos(u64::from(self.params.completion_ns));
        for done in self.finished.drain(..) {
            let active = &mut self.active[self.class.get(done.tag) as usize];
            debug_assert!(*active > 0, "the drive ended a command that it was not given");
            *active -= 1;
            let in_handler = self.noticed.back().is_some_and(|last| last.at > done.at);
            let cost = if in_handler { completion } else { self.interrupt + completion };
            let at = self.host.reserve(done.at, cost) + cost;
            self.noticed.push_back(Done { tag: done.tag, ready: at, at });
        }
    }
}

impl<P: Part> Part for Ahci<P> {
    fn capacity(&self) -> u64 {
        self.drive.capacity()
    }

    fn depth(&self) -> u32 {
        self.most[self.class(Op::Read) as usize]
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let cost = Nanos(u64::from(self.params.issue_ns));
        let at = self.host.reserve(now, cost) + cost;
        self.class.set(command.tag, self.class(command.op));
        self.waiting.push_back((at, command));
        self.due = self.due.min(self.next_issue());
    }

    fn next(&self) -> Nanos {
        self.due
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        while self.due <= now && self.due < Nanos::MAX {
            let at = self.due;
            if self.drive.next() <= at {
                self.drive.advance(at, &mut self.finished);
                self.notice();
            }
            while self.noticed.front().is_some_and(|end| end.at <= at) {
                done.extend(self.noticed.pop_front());
            }
            while self.next_issue() <= at
                && let Some((_, command)) = self.waiting.pop_front()
            {
                let class = self.class(command.op) as usize;
                self.active[class] += 1;
                debug_assert!(self.active[class] <= self.most[class], "more commands than slots");
                debug_assert_eq!(self.active[1 - class], 0, "queued and other commands mix");
                self.drive.submit(command, at);
            }
            let noticed = self.noticed.front().map_or(Nanos::MAX, |end| end.at);
            self.due = self.drive.next().min(noticed).min(self.next_issue());
        }
    }

    fn usage(&self) -> Usage {
        Usage::of_processor(self.host.busy()) + self.drive.usage()
    }
}
