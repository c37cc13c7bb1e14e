//! A channel of an IDE controller: one command at a time for one or two devices, moved word by word
//! by the processor (PIO) or by the controller (DMA).
//!
//! Cycle times: ATA/ATAPI-6 (INCITS 361) tables of PIO, multiword DMA and Ultra DMA transfer modes;
//! the register cycles are those of eight bits.

use super::ide_mode::{IdeMode, PortWidth};
use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use crate::wire::shorter;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Add;

const SECTOR_BYTES: u32 = 512;

/// A channel of an IDE controller, its mode and the host's costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdeParams {
    /// Transfer mode both ends are set to.
    pub mode: IdeMode,
    /// How the processor moves words under PIO (`hdparm -c`).
    pub width: PortWidth,
    /// Sectors moved at each interrupt under PIO (`hdparm -m`); 0 is one, by the commands that know
    /// no more.
    pub multcount: u32,
    /// Register cycles of giving a command: device, count, address, command, and reads of the
    /// status.
    pub register_cycles: u32,
    /// What an access to a port costs the processor beside the cycle at the device: instruction,
    /// and the buses on the way, in nanoseconds.
    pub access_ns: u32,
    /// Driver time of giving a command, in nanoseconds: under DMA with building the table of
    /// memory regions.
    pub command_ns: u32,
    /// Driver time of an interrupt, in nanoseconds.
    pub interrupt_ns: u32,
    /// Thousandths by which words move faster than the mode has them: a mode that cannot be had, by
    /// which one learns what a faster one would give; no part of a description.
    #[serde(skip)]
    pub faster_permille: u32,
}

/// A channel that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum IdeError {
    #[error(transparent)]
    Range(#[from] OutOfRange),
    #[error("{devices} devices on one channel, where one or two can be")]
    Devices { devices: usize },
}

impl IdeParams {
    /// A channel as Linux 2.2 leaves it, on a PC of 1998: PIO 4, sixteen bits, an interrupt a
    /// sector.
    ///
    /// `access_ns` is ten clocks of PCI; `interrupt_ns` is fitted to the first row of R4 (3.58
    /// MB/s).
    pub const PLAIN: Self = Self {
        mode: IdeMode::Pio4,
        width: PortWidth::Bits16,
        multcount: 0,
        register_cycles: 9,
        access_ns: 300,
        command_ns: 20_000,
        interrupt_ns: 23_100,
        faster_permille: 0,
    };

    /// Whether such a channel can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("multcount", self.multcount, 0..=128)?;
        within("register_cycles", self.register_cycles, 1..=64)?;
        within("access_ns", self.access_ns, 0..=100_000)?;
        within("command_ns", self.command_ns, 0..=10_000_000)?;
        within("interrupt_ns", self.interrupt_ns, 0..=10_000_000)
    }

    /// Giving a command: processor time.
    fn give(&self) -> Nanos {
        let cycle = self.mode.register_cycle_ns() + u64::from(self.access_ns);
        let cycles = Nanos(u64::from(self.register_cycles) * cycle);
        Nanos(u64::from(self.command_ns)) + self.faster(cycles)
    }

    /// A time of the mode, less where words move faster than it has them.
    fn faster(&self, time: Nanos) -> Nanos {
        shorter(time, 1.0 + f64::from(self.faster_permille) / 1000.0)
    }

    fn move_data(&self, len: u32) -> Nanos {
        let words = u64::from(len.div_ceil(2));
        let cycles = words * self.mode.cycle_ns();
        if !self.mode.is_pio() {
            return self.faster(Nanos(cycles));
        }
        let (accesses, extra) = match self.width {
            PortWidth::Bits16 => (words, 0),
            PortWidth::Bits32 => (words.div_ceil(2), 0),
            PortWidth::Bits32Sync => (words.div_ceil(2), 3 * self.blocks(len)),
        };
        let register = self.mode.register_cycle_ns();
        let accesses = (accesses + extra) * u64::from(self.access_ns);
        self.faster(Nanos(cycles + accesses + extra * register))
    }

    /// Bytes moved at one interrupt under PIO.
    fn block(&self) -> u32 {
        self.multcount.max(1) * SECTOR_BYTES
    }

    /// Interrupts of moving that many bytes under PIO.
    fn blocks(&self, len: u32) -> u64 {
        u64::from(len.div_ceil(self.block()))
    }

    /// The data's way across the cable under PIO: the blocks, each moved by the processor, and that
    /// many interrupts.
    fn pio(&self, len: u32, interrupts: u64) -> Nanos {
        self.move_data(len) + Nanos(interrupts * u64::from(self.interrupt_ns))
    }
}

/// One or two devices on a channel of an IDE controller, their addresses one after the other's.
/// A flush goes to the device its offset lies in.
///
/// [`Part::depth`] is 1, for that is what the channel does; more may be given and wait in the
/// driver's queue, in order.
#[derive(Debug)]
pub struct Ide<P> {
    params: IdeParams,
    devices: Vec<P>,
    waiting: VecDeque<Command>,
    /// The command the channel is busy with.
    active: Option<Active>,
    /// Host processor time spent.
    processor: Nanos,
    finished: Vec<Done>,
}

#[derive(Debug, Clone, Copy)]
struct Active {
    command: Command,
    device: usize,
    stage: Stage,
}

/// What a command waits for.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The device gets the command, and what is written, at that time.
    Giving(Nanos),
    /// The device is at work, and data that goes to it by DMA has crossed at that time.
    Device(Nanos),
    /// The host has what is read, or the status, at that time.
    Taking(Nanos),
}

impl<P: Part> Ide<P> {
    /// A channel with its devices.
    ///
    /// # Errors
    /// [`IdeError`] for parameters out of range, and for none or more than two devices.
    pub fn new(params: IdeParams, devices: Vec<P>) -> Result<Self, IdeError> {
        params.check()?;
        if !(1..=2).contains(&devices.len()) {
            return Err(IdeError::Devices { devices: devices.len() });
        }
        Ok(Self {
            params,
            devices,
            waiting: VecDeque::new(),
            active: None,
            processor: Nanos::ZERO,
            finished: Vec::new(),
        })
    }

    /// The devices, master first.
    pub fn devices(&self) -> &[P] {
        &self.devices
    }

    /// Begins with the next command, if there is one.
    fn give(&mut self, now: Nanos) {
        let Some(mut command) = self.waiting.pop_front() else { return };
        let master = self.devices[0].capacity();
        let device = usize::from(command.offset >= master && self.devices.len() > 1);
        if device == 1 {
            command.offset -= master;
        }
        let give = self.params.give();
        self.processor += give;
        let data = match command.op {
            // The processor finds the first block asked for without an interrupt.
            Op::Write if self.params.mode.is_pio() => {
                let blocks = self.params.blocks(command.len);
                let moved = self.params.pio(command.len, blocks.saturating_sub(1));
                self.processor += moved;
                moved
            }
            // Under DMA it crosses while the device is already at work.
            Op::Write | Op::Read | Op::Flush | Op::Discard => Nanos::ZERO,
        };
        let stage = Stage::Giving(now + give + data);
        self.active = Some(Active { command, device, stage });
    }

    /// The device has done its part at `done.at`, and has all data at `crossed`: when the host has
    /// everything.
    fn take(&mut self, done: Done, command: Command, crossed: Nanos) -> Nanos {
        let interrupt = Nanos(u64::from(self.params.interrupt_ns));
        let pio = self.params.mode.is_pio();
        if command.op == Op::Read && pio {
            // Each block is announced by an interrupt, and the last ends the command.
            let whole = self.params.pio(command.len, self.params.blocks(command.len));
            let last = self.params.pio(command.len.min(self.params.block()), 1);
            self.processor += whole;
            return (done.ready + whole).max(done.at + last);
        }
        self.processor += interrupt;
        if command.op == Op::Read {
            let whole = self.params.move_data(command.len);
            let last = self.params.move_data(command.len.min(SECTOR_BYTES));
            return (done.ready + whole).max(done.at + last) + interrupt;
        }
        done.at.max(crossed) + interrupt
    }
}

impl<P: Part> Part for Ide<P> {
    fn capacity(&self) -> u64 {
        self.devices.iter().map(Part::capacity).sum()
    }

    fn depth(&self) -> u32 {
        1
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        self.waiting.push_back(command);
        if self.active.is_none() {
            self.give(now);
        }
    }

    fn next(&self) -> Nanos {
        let own = match self.active.map(|active| active.stage) {
            Some(Stage::Giving(at) | Stage::Taking(at)) => at,
            Some(Stage::Device(_)) | None => Nanos::MAX,
        };
        self.devices.iter().map(Part::next).fold(own, Nanos::min)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now || at == Nanos::MAX {
                return;
            }
            for device in &mut self.devices {
                if device.next() <= at {
                    device.advance(at, &mut self.finished);
                }
            }
            if let Some(end) = self.finished.pop()
                && let Some(active) = self.active
                && let Stage::Device(crossed) = active.stage
            {
                let taken = self.take(end, active.command, crossed);
                self.active = Some(Active { stage: Stage::Taking(taken), ..active });
            }
            match self.active {
                Some(Active { stage: Stage::Giving(given), command, device }) if given <= at => {
                    self.devices[device].submit(command, at);
                    let is_dma_write = command.op == Op::Write && !self.params.mode.is_pio();
                    let data =
                        if is_dma_write { self.params.move_data(command.len) } else { Nanos::ZERO };
                    self.active = Some(Active { command, device, stage: Stage::Device(at + data) });
                }
                Some(Active { stage: Stage::Taking(taken), command, .. }) if taken <= at => {
                    done.push(Done { tag: command.tag, ready: taken, at: taken });
                    self.active = None;
                    self.give(at);
                }
                _ => {}
            }
        }
    }

    fn usage(&self) -> Usage {
        let own = Usage::of_processor(self.processor);
        self.devices.iter().map(Part::usage).fold(own, Add::add)
    }
}
