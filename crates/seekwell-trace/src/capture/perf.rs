//! The same events through perf_event_open, for machines whose tracefs can be read but not written.
//!
//! One descriptor for each event on each CPU; those of a CPU share one ring. Everything is gone
//! with the descriptors, so nothing can be left behind. It costs the traced programs about twice
//! what a tracefs instance costs them, so it comes second.

use super::error::CaptureError;
use super::plan::{Event, Events, Plan};
use super::transport::{CHUNK, Chunk, Encoding, Transport};
use perf_event_open_sys as sys;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::{CString, c_void};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Head of every record in the ring: type, misc, size.
const HEAD: usize = 8;

/// The ring of one CPU and the events that go into it.
struct Cpu {
    number: u16,
    ring: Mapping,
    events: Vec<std::fs::File>,
    /// Lost, as records in the ring told.
    told_lost: u64,
}

pub(super) struct Perf {
    cpus: Vec<Cpu>,
    capacity: usize,
    /// Whether the kernel (6.0 and later) counts losses where they can be asked for.
    counts_lost: bool,
}

impl Perf {
    /// Opens every event on every CPU, not yet switched on.
    pub fn open(events: &Events, plan: &Plan) -> Result<Self, CaptureError> {
        let page = rustix::param::page_size();
        let wanted = usize::try_from(plan.buffer_bytes_per_cpu).unwrap_or(usize::MAX / 4);
        let pages = (wanted / page).max(1).next_power_of_two();
        let mut perf = Self { cpus: Vec::new(), capacity: pages * page, counts_lost: true };
        for number in online() {
            let mut opened = Vec::new();
            for event in events.all() {
                opened.push(perf.event(event, number)?);
            }
            let Some(first) = opened.first() else { continue };
            let ring = Mapping::new(first, page, pages).map_err(|source| {
                CaptureError::NoMemory { bytes_per_cpu: (pages * page) as u64, source }
            })?;
            for (event, other) in events.all().zip(&opened).skip(1) {
                // SAFETY: both are descriptors of events that are open.
                let done = unsafe { sys::ioctls::SET_OUTPUT(other.as_raw_fd(), first.as_raw_fd()) };
                check(done, event)?;
            }
            perf.cpus.push(Cpu { number, ring, events: opened, told_lost: 0 });
        }
        Ok(perf)
    }

    fn event(&mut self, event: &Event, cpu: u16) -> Result<std::fs::File, CaptureError> {
        let opened = match open(event, cpu, self.counts_lost) {
            Err(e) if self.counts_lost && e.raw_os_error() == Some(libc::EINVAL) => {
                self.counts_lost = false;
                open(event, cpu, false)
            }
            opened => opened,
        };
        let opened = opened.map_err(|source| refused(event, source))?;
        if let Some(filter) = &event.filter {
            let filter = CString::new(filter.as_str()).unwrap_or_default();
            // SAFETY: the text ends with a NUL and lives until the call is over.
            let done =
                unsafe { sys::ioctls::SET_FILTER(opened.as_raw_fd(), filter.as_ptr().cast_mut()) };
            check(done, event)?;
        }
        Ok(opened)
    }

    fn each(&self, act: unsafe fn(libc::c_int, u32) -> libc::c_int) -> Result<(), CaptureError> {
        for event in self.cpus.iter().flat_map(|cpu| &cpu.events) {
            // SAFETY: the descriptor is open, and enabling or disabling takes no memory of ours.
            if unsafe { act(event.as_raw_fd(), 0) } < 0 {
                return Err(CaptureError::Thread(io::Error::last_os_error()));
            }
        }
        Ok(())
    }
}

impl Transport for Perf {
    fn encoding(&self) -> Encoding {
        Encoding::Samples
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn start(&mut self) -> Result<(), CaptureError> {
        self.each(sys::ioctls::ENABLE)
    }

    fn drain(&mut self, send: &mut dyn FnMut(Chunk)) -> Result<usize, CaptureError> {
        let mut most = 0;
        for cpu in &mut self.cpus {
            let bytes = cpu.ring.take();
            most = most.max(bytes.len());
            cpu.told_lost += records(&bytes)
                .filter(|(kind, _)| *kind == sys::bindings::PERF_RECORD_LOST)
                .filter_map(|(_, body)| body.get(8..16))
                .map(|lost| u64::from_ne_bytes(lost.try_into().expect("eight bytes")))
                .sum::<u64>();
            for part in cut(&bytes) {
                send(Chunk { cpu: cpu.number, bytes: part.to_vec() });
            }
        }
        Ok(most)
    }

    fn lost(&mut self) -> Result<u64, CaptureError> {
        let told = self.cpus.iter().map(|cpu| cpu.told_lost).sum::<u64>();
        let mut counted = 0;
        if self.counts_lost {
            for event in self.cpus.iter_mut().flat_map(|cpu| &mut cpu.events) {
                let mut value = [0; 16];
                if event.read(&mut value).is_ok_and(|n| n == 16) {
                    counted += u64::from_ne_bytes(value[8..].try_into().expect("eight bytes"));
                }
            }
        }
        Ok(told.max(counted))
    }

    fn stop(&mut self) -> Result<(), CaptureError> {
        self.each(sys::ioctls::DISABLE)
    }
}

fn open(event: &Event, cpu: u16, counts_lost: bool) -> io::Result<std::fs::File> {
    let mut attr = sys::bindings::perf_event_attr::default();
    attr.type_ = sys::bindings::PERF_TYPE_TRACEPOINT;
    attr.size = size_of::<sys::bindings::perf_event_attr>() as u32;
    attr.config = u64::from(event.format.id);
    attr.sample_type = u64::from(sys::bindings::PERF_SAMPLE_TIME | sys::bindings::PERF_SAMPLE_RAW);
    attr.clockid = libc::CLOCK_MONOTONIC;
    attr.sample_period = 1;
    if counts_lost {
        attr.read_format = u64::from(sys::bindings::PERF_FORMAT_LOST);
    }
    attr.set_disabled(1);
    attr.set_use_clockid(1);
    // SAFETY: the attributes are whole, their size is told, and they live until the call is over.
    let fd = unsafe {
        sys::perf_event_open(
            &mut attr,
            -1,
            i32::from(cpu),
            -1,
            libc::c_ulong::from(sys::bindings::PERF_FLAG_FD_CLOEXEC),
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us and nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) }.into())
}

fn check(done: libc::c_int, event: &Event) -> Result<(), CaptureError> {
    if done < 0 { Err(refused(event, io::Error::last_os_error())) } else { Ok(()) }
}

fn refused(event: &Event, source: io::Error) -> CaptureError {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    CaptureError::Perf {
        event: event.path.clone(),
        source,
        paranoid: paranoid.map_or_else(|_| "unknown".to_owned(), |p| p.trim().to_owned()),
    }
}

/// Numbers of the CPUs that are online.
fn online() -> Vec<u16> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    ranges(text.trim())
}

/// `0-3,8` as numbers.
fn ranges(text: &str) -> Vec<u16> {
    let parts = text.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    parts.flatten().collect()
}

/// Type and body of every record.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        let kind = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
        let size = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
        let body = bytes.get(HEAD..size)?;
        bytes = &bytes[size..];
        Some((kind, body))
    })
}

/// Whole records, about [`CHUNK`] bytes at a time.
fn cut(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let mut end = 0;
        for (_, body) in records(bytes) {
            end += HEAD + body.len();
            if end >= CHUNK {
                break;
            }
        }
        let part = &bytes[..end];
        bytes = &bytes[end..];
        (!part.is_empty()).then_some(part)
    })
}

/// Time and raw bytes of a sample, for the `sample_type` asked for.
pub(super) fn sample(body: &[u8]) -> Option<(u64, &[u8])> {
    let time = u64::from_ne_bytes(body.get(..8)?.try_into().ok()?);
    let size = u32::from_ne_bytes(body.get(8..12)?.try_into().ok()?) as usize;
    Some((time, body.get(12..12 + size)?))
}

/// The pages that a CPU's events are written to: one that says where, and a power of two of data.
struct Mapping {
    base: NonNull<u8>,
    page: usize,
    size: usize,
}

// SAFETY: the mapping is used by one thread at a time: nothing but `&mut self` reads it.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(event: &std::fs::File, page: usize, pages: usize) -> io::Result<Self> {
        let size = pages * page;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours.
        let base = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                page + size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                event,
                0,
            )
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, page, size })
    }

    /// Takes what was written since the last time.
    fn take(&mut self) -> Vec<u8> {
        let control = self.base.as_ptr().cast::<sys::bindings::perf_event_mmap_page>();
        // SAFETY: the first page of the mapping is this structure; the kernel writes `data_head`
        // and reads `data_tail`, both as whole words.
        let (head, tail) = unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*control).data_head),
                AtomicU64::from_ptr(&raw mut (*control).data_tail),
            )
        };
        // The kernel's records are written before its head is.
        let end = head.load(Ordering::Acquire);
        let begin = tail.load(Ordering::Relaxed);
        let length = (end.wrapping_sub(begin) as usize).min(self.size);
        let from = (begin as usize) & (self.size - 1);
        let first = length.min(self.size - from);
        let mut bytes = Vec::with_capacity(length);
        // SAFETY: both parts lie in the data pages, and the kernel writes nothing between tail and
        // head until the tail is moved below.
        unsafe {
            let data = self.base.as_ptr().add(self.page);
            bytes.extend_from_slice(std::slice::from_raw_parts(data.add(from), first));
            bytes.extend_from_slice(std::slice::from_raw_parts(data, length - first));
        }
        tail.store(end, Ordering::Release);
        bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size and nothing points into it any more.
        let _ = unsafe {
            rustix::mm::munmap(self.base.as_ptr().cast::<c_void>(), self.page + self.size)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(0_u16.to_ne_bytes());
        bytes.extend(((HEAD + body.len()) as u16).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!(ranges("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(ranges("0"), [0]);
        assert!(ranges("").is_empty());
    }

    #[test]
    fn a_sample_is_its_time_and_the_event_in_it() {
        let mut body = 77_u64.to_ne_bytes().to_vec();
        body.extend(4_u32.to_ne_bytes());
        body.extend([1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(sample(&body), Some((77, &[1, 2, 3, 4][..])));
        assert_eq!(sample(&body[..14]), None);
    }

    #[test]
    fn chunks_hold_whole_records() {
        let bytes: Vec<u8> = (0..20).flat_map(|_| record(9, &[7; 40_000])).collect();
        let parts: Vec<&[u8]> = cut(&bytes).collect();
        assert!(parts.len() > 1);
        assert_eq!(parts.concat(), bytes);
        assert!(parts.iter().all(|part| part.len().is_multiple_of(40_008)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic_or_hang(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            for (_, body) in records(&bytes) {
                let _ = sample(body);
            }
            let _ = cut(&bytes).count();
        }
    }
}
