//! Rings of events that BPF programs fill: the cheapest transport, if the kernel permits it. There
//! are no wake-ups, copies or system calls for events: the rings are polled every few milliseconds.

use super::error::CaptureError;
use super::plan::{Plan, Tracepoint};
use super::program::{POINTS, Places, Programs, RingState, Role};
use super::raw::{RawEvent, SIZE};
use super::transport::{CHUNK, Chunk, Transport};
use crate::bpf::kernel::{Attached, Kind, Map, Mapped, attach};
use crate::bpf::{BpfError, Btf, Point, cpus, refused, types};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The rings and the programs that fill them.
pub(super) struct SharedRings {
    /// For every possible CPU.
    states: Mapped<RingState>,
    /// For CPUs that were online at the start; events on others are lost.
    events: Mapped<RawEvent>,
    ring: usize,
    /// Events read so far, for each CPU that has a ring.
    read: Vec<u64>,
    attached: Vec<Attached>,
    /// Events missed by programs that were removed.
    missed: u64,
}

impl SharedRings {
    /// Creates the rings and attaches the programs.
    pub fn open(plan: &Plan) -> Result<Self, CaptureError> {
        let types = types()?;
        let btf = Btf::read(&types).map_err(BpfError::from)?;
        let places = Places::of(&btf).map_err(BpfError::from)?;
        let up_to = |which| cpus(which).last().map_or(1, |highest| *highest as usize + 1);
        let (possible, online) = (up_to("possible"), up_to("online"));
        let wanted = usize::try_from(plan.buffer_bytes_per_cpu).unwrap_or(usize::MAX) / SIZE;
        let ring_bits = wanted.clamp(1 << 10, 1 << 24).ilog2();
        let no_memory =
            |source| CaptureError::NoMemory { bytes_per_cpu: (SIZE as u64) << ring_bits, source };
        let states: Map<u32, RingState> =
            Map::new(Kind::Array, possible as u32, 1).map_err(refused("a map"))?;
        let events: Map<u32, RawEvent> =
            Map::new(Kind::Array, (online << ring_bits) as u32, 1).map_err(no_memory)?;
        let mut own = Self {
            states: Mapped::of(&states).map_err(refused("a map"))?,
            events: Mapped::of(&events).map_err(no_memory)?,
            ring: 1 << ring_bits,
            read: vec![0; online],
            attached: Vec::new(),
            missed: 0,
        };
        let disks: Vec<u32> = match plan.others {
            true => Vec::new(),
            false => plan.disks.iter().map(|disk| disk.major << 20 | disk.minor).collect(),
        };
        let (states, events) = (states.fd(), events.fd());
        let programs = Programs { places: &places, disks: &disks, states, events, ring_bits };
        for (name, kind, subject, needed) in POINTS {
            if kind == Tracepoint::Task && !plan.processes.follows_threads() {
                continue;
            }
            let point = match Point::of(&btf, name, subject) {
                Err(_) if !needed => continue,
                point => point.map_err(BpfError::from)?,
            };
            for role in Role::of(kind) {
                let code = programs.program(kind, *role, point);
                own.attached.push(attach(&code, point.id).map_err(refused("a program"))?);
            }
        }
        Ok(own)
    }

    /// How many programs it attached.
    #[cfg(test)]
    pub fn programs(&self) -> usize {
        self.attached.len()
    }

    /// How often the kernel skipped a program.
    fn misses(&self) -> u64 {
        self.attached.iter().map(Attached::misses).sum()
    }

    /// The next events of a CPU, at most a chunk of them.
    fn take(&mut self, cpu: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < CHUNK {
            let place = self.events.at(cpu * self.ring + self.read[cpu] as usize % self.ring);
            // SAFETY: the place lies in the mapping. Its number is written by a program and read
            // here as an atomic; once it is the expected one, no program touches the
            // slot until `read` has passed it.
            let raw = unsafe {
                let number = AtomicU64::from_ptr(&raw mut (*place).number);
                if number.load(Acquire) != self.read[cpu] + 1 {
                    break;
                }
                place.cast::<[u64; SIZE / 8]>().read_volatile()
            };
            if bytes.is_empty() {
                bytes.reserve(CHUNK);
            }
            raw.iter().for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
            self.read[cpu] += 1;
        }
        let states = self.states.at(cpu);
        // SAFETY: the states lie in the mapping, and only this process writes `read`.
        let read = unsafe { AtomicU64::from_ptr(&raw mut (*states).read) };
        read.store(self.read[cpu], Release);
        bytes
    }
}

impl Transport for SharedRings {
    fn capacity(&self) -> usize {
        self.ring * SIZE
    }

    fn start(&mut self) -> Result<(), CaptureError> {
        Ok(())
    }

    fn drain(&mut self, send: &mut dyn FnMut(Chunk)) -> Result<usize, CaptureError> {
        let mut most = 0;
        for cpu in 0..self.read.len() {
            let mut read = 0;
            // A CPU that fills its ring as fast as it is read must not keep the others waiting.
            while read < self.capacity() {
                let bytes = self.take(cpu);
                if bytes.is_empty() {
                    break;
                }
                read += bytes.len();
                send(Chunk { cpu: cpu as u16, bytes });
            }
            most = most.max(read);
        }
        Ok(most)
    }

    fn lost(&mut self) -> Result<u64, CaptureError> {
        let (mut full, mut stood_in) = (0, 0);
        for cpu in 0..self.states.len() {
            let states = self.states.at(cpu);
            // SAFETY: the states lie in the mapping; programs add to them meanwhile.
            let of = |count: *mut u64| unsafe { AtomicU64::from_ptr(count) }.load(Relaxed);
            // SAFETY: as above; only their addresses are taken.
            let (lost, stands_in, taken) = unsafe {
                (&raw mut (*states).lost, &raw mut (*states).stood_in, &raw mut (*states).taken)
            };
            full += of(lost);
            stood_in += of(stands_in);
            // Of a stopped program that never filled its slot, and all behind it.
            if self.attached.is_empty()
                && let Some(read) = self.read.get(cpu)
            {
                full += of(taken) - read;
            }
        }
        let missed = self.missed + self.misses();
        Ok(full + missed.saturating_sub(stood_in))
    }

    fn stop(&mut self) -> Result<(), CaptureError> {
        self.missed += self.misses();
        self.attached.clear();
        Ok(())
    }
}
