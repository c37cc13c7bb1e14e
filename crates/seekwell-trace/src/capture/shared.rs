//! Rings of moments that programs in the kernel fill (BPF): the cheapest way, where the kernel
//! permits it. Nothing is woken, copied or asked: the rings are looked at every few milliseconds.

use super::error::CaptureError;
use super::moment::{Moment, SIZE};
use super::plan::{Plan, Tracepoint};
use super::program::{Ends, POINTS, Places, Programs, Role};
use super::transport::{CHUNK, Chunk, Transport};
use crate::bpf::kernel::{Attached, Kind, Map, Mapped, attach};
use crate::bpf::{BpfError, Btf, Point, cpus, refused, types};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The rings and the programs that fill them.
pub(super) struct SharedRings {
    /// Of every CPU that there can be.
    ends: Mapped<Ends>,
    /// Of those that are online; what happens on others is lost.
    moments: Mapped<Moment>,
    ring: usize,
    /// Moments read of each CPU that has a ring.
    read: Vec<u64>,
    attached: Vec<Attached>,
    /// Moments that programs missed, once they are gone.
    missed: u64,
}

impl SharedRings {
    /// Makes the rings, and attaches the programs.
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
        let ends: Map<u32, Ends> =
            Map::new(Kind::Array, possible as u32, 1).map_err(refused("a map"))?;
        let moments: Map<u32, Moment> =
            Map::new(Kind::Array, (online << ring_bits) as u32, 1).map_err(no_memory)?;
        let mut own = Self {
            ends: Mapped::of(&ends).map_err(refused("a map"))?,
            moments: Mapped::of(&moments).map_err(no_memory)?,
            ring: 1 << ring_bits,
            read: vec![0; online],
            attached: Vec::new(),
            missed: 0,
        };
        let disks: Vec<u32> = match plan.others {
            true => Vec::new(),
            false => plan.disks.iter().map(|disk| disk.major << 20 | disk.minor).collect(),
        };
        let (ends, moments) = (ends.fd(), moments.fd());
        let programs = Programs { places: &places, disks: &disks, ends, moments, ring_bits };
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

    /// The next moments of a CPU, at most a chunk of them.
    fn take(&mut self, cpu: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < CHUNK {
            let place = self.moments.at(cpu * self.ring + self.read[cpu] as usize % self.ring);
            // SAFETY: the place lies in the mapping. Its number is written by a program and read
            // here as an atomic; once it is the one that is waited for, no program touches the
            // place before `read` says so.
            let moment = unsafe {
                let number = AtomicU64::from_ptr(&raw mut (*place).number);
                if number.load(Acquire) != self.read[cpu] + 1 {
                    break;
                }
                place.cast::<[u64; SIZE / 8]>().read_volatile()
            };
            if bytes.is_empty() {
                bytes.reserve(CHUNK);
            }
            moment.iter().for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
            self.read[cpu] += 1;
        }
        let ends = self.ends.at(cpu);
        // SAFETY: the ends lie in the mapping, and only this process writes `read`.
        let read = unsafe { AtomicU64::from_ptr(&raw mut (*ends).read) };
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
        for cpu in 0..self.ends.len() {
            let ends = self.ends.at(cpu);
            // SAFETY: the ends lie in the mapping; programs add to them meanwhile.
            let of = |count: *mut u64| unsafe { AtomicU64::from_ptr(count) }.load(Relaxed);
            // SAFETY: as above; only their addresses are taken.
            let (lost, stands_in) = unsafe { (&raw mut (*ends).lost, &raw mut (*ends).stood_in) };
            full += of(lost);
            stood_in += of(stands_in);
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
