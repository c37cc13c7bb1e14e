//! The ring buffers of a tracefs instance.

use super::error::CaptureError;
use super::page::PageLayout;
use super::plan::{Events, Plan};
use super::tracefs::{Instance, Tracefs, failed};
use super::transport::{CHUNK, Chunk, Encoding, Transport};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Larger pages mean fewer system calls; kernels from 6.8 on can be asked for them.
const PAGE_KIB: usize = 16;

struct Cpu {
    number: u16,
    raw: File,
    stats: PathBuf,
}

/// An instance with its buffers open.
pub(super) struct Ring {
    // Closed before the instance is removed: the kernel refuses to remove one that is read.
    cpus: Vec<Cpu>,
    instance: Instance,
    page_bytes: usize,
    capacity: usize,
    _tracefs: Tracefs,
}

impl Ring {
    /// Makes an instance whose events are set up and not yet switched on.
    pub fn open(plan: &Plan) -> Result<(Self, Encoding), CaptureError> {
        let tracefs = Tracefs::find()?;
        tracefs.remove_leftovers();
        let events = Events::load(&tracefs, plan)?;
        let layout = page_layout(&tracefs)?;
        let mut instance = tracefs.instance()?;
        instance.guard();
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono")?;
        // What comes while a buffer is full is lost, not what was there: the gap is one and known.
        instance.write("options/overwrite", "0")?;
        let page_bytes = match instance.write("buffer_subbuf_size_kb", &PAGE_KIB.to_string()) {
            Ok(()) => PAGE_KIB << 10,
            Err(_) => layout.page_bytes,
        };
        let capacity = usize::try_from(plan.buffer_bytes_per_cpu).unwrap_or(usize::MAX);
        let capacity = capacity.max(2 * page_bytes);
        instance.write("buffer_size_kb", &(capacity >> 10).to_string()).map_err(
            |error| match error {
                CaptureError::Io { source, .. } => {
                    CaptureError::NoMemory { bytes_per_cpu: capacity as u64, source }
                }
                other => other,
            },
        )?;
        for event in events.all() {
            let folder = format!("events/{}", event.path);
            if let Some(filter) = &event.filter {
                instance.write(&format!("{folder}/filter"), filter)?;
            }
            instance.write(&format!("{folder}/enable"), "1")?;
        }
        let cpus = open_cpus(&instance)?;
        assert!(capacity >= 2 * page_bytes, "a buffer holds a page to write and one to read");
        let ring = Self { cpus, instance, page_bytes, capacity, _tracefs: tracefs };
        Ok((ring, Encoding::Pages(events, layout, page_bytes)))
    }
}

impl Transport for Ring {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn start(&mut self) -> Result<(), CaptureError> {
        self.instance.write("tracing_on", "1")
    }

    fn drain(&mut self, send: &mut dyn FnMut(Chunk)) -> Result<usize, CaptureError> {
        let mut most = 0;
        for cpu in &mut self.cpus {
            let mut read = 0;
            // A CPU that fills its buffer as fast as it is read must not keep the others waiting.
            while read < self.capacity {
                let got = chunk(&mut cpu.raw, self.page_bytes).map_err(|source| {
                    let path = self.instance.path("per_cpu").join(format!("cpu{}", cpu.number));
                    failed("reading", &path, source)
                })?;
                if got.is_empty() {
                    break;
                }
                debug_assert!(got.len().is_multiple_of(self.page_bytes) && got.len() <= CHUNK);
                read += got.len();
                let part = got.len() < CHUNK;
                send(Chunk { cpu: cpu.number, bytes: got });
                if part {
                    break;
                }
            }
            most = most.max(read);
        }
        Ok(most)
    }

    fn lost(&mut self) -> Result<u64, CaptureError> {
        let mut lost = 0;
        for cpu in &self.cpus {
            let text = std::fs::read_to_string(&cpu.stats)
                .map_err(|source| failed("reading", &cpu.stats, source))?;
            lost += losses(&text);
        }
        Ok(lost)
    }

    fn stop(&mut self) -> Result<(), CaptureError> {
        self.instance.write("tracing_on", "0")
    }
}

/// Whole pages, up to [`CHUNK`] bytes; the kernel hands out one at each call.
fn chunk(raw: &mut File, page_bytes: usize) -> io::Result<Vec<u8>> {
    assert!(0 < page_bytes && page_bytes <= CHUNK, "a chunk holds at least one page");
    let mut bytes = Vec::new();
    let mut filled = 0;
    while filled + page_bytes <= CHUNK {
        if bytes.len() < filled + page_bytes {
            // An idle CPU costs one page, a busy one a whole chunk.
            let size = if filled == 0 { page_bytes } else { CHUNK };
            bytes.resize(size, 0);
        }
        match raw.read(&mut bytes[filled..filled + page_bytes]) {
            Ok(0) => break,
            Ok(_) => filled += page_bytes,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    assert!(filled <= bytes.len(), "every byte handed out was read");
    bytes.truncate(filled);
    Ok(bytes)
}

fn open_cpus(instance: &Instance) -> Result<Vec<Cpu>, CaptureError> {
    let folder = instance.path("per_cpu");
    let entries = std::fs::read_dir(&folder).map_err(|e| failed("listing", &folder, e))?;
    let mut cpus = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("cpu")).and_then(|n| n.parse().ok());
        let Some(number) = number else { continue };
        let path = entry.path().join("trace_pipe_raw");
        let raw = OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
            .open(&path);
        match raw {
            Ok(raw) => cpus.push(Cpu { number, raw, stats: entry.path().join("stats") }),
            // A CPU that was never there has no buffer.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error()) => {}
            Err(source) => return Err(failed("opening", &path, source)),
        }
    }
    cpus.sort_by_key(|cpu| cpu.number);
    Ok(cpus)
}

/// What a CPU's `stats` count as lost, in whatever way.
fn losses(stats: &str) -> u64 {
    let counts = stats.lines().filter_map(|line| line.split_once(':'));
    let lost = counts
        .filter(|(name, _)| matches!(name.trim(), "overrun" | "commit overrun" | "dropped events"));
    lost.filter_map(|(_, n)| n.trim().parse::<u64>().ok()).sum()
}

fn page_layout(tracefs: &Tracefs) -> Result<PageLayout, CaptureError> {
    let page = tracefs.read("events/header_page")?;
    let event = tracefs.read("events/header_event")?;
    PageLayout::parse(&page, &event).map_err(|wrong| CaptureError::Layout {
        path: tracefs.root().join("events/header_page"),
        wrong,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_loss_counts() {
        let stats = "entries: 120\noverrun: 3\ncommit overrun: 1\nbytes: 4096\n\
                     oldest event ts:  1817.223500\nnow ts:  1818.1\ndropped events: 40\n\
                     read events: 7\n";
        assert_eq!(losses(stats), 44);
        assert_eq!(losses(""), 0);
    }
}
