//! Maps and programs in the kernel, by bpf(2). All are held by descriptors of this process and go
//! with it, however it ends.

use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};

// enum bpf_cmd, enum bpf_map_type and others of include/uapi/linux/bpf.h.
const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROG_LOAD: i32 = 5;
const RAW_TRACEPOINT_OPEN: i32 = 17;
const MAP_LOOKUP_AND_DELETE_BATCH: i32 = 25;
const MMAPABLE: u32 = 1 << 10;
const TRACING: u32 = 26;
const TRACE_RAW_TP: u32 = 23;
/// The kernel only admits such programs under the GPL; these are under either licence.
const LICENSE: &std::ffi::CStr = c"Dual MIT/GPL";

/// The kind of a map.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Hash = 1,
    Array = 2,
    /// One value for each processor; the least recently used keys make room.
    LruPerCpu = 10,
}

#[repr(C)]
#[derive(Default)]
struct Create {
    kind: u32,
    key_size: u32,
    value_size: u32,
    most: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct Batch {
    from: u64,
    next: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attached_as: u32,
    btf: [u32; 9],
    attached_to: u32,
    _pad: [u32; 2],
}

#[repr(C)]
#[derive(Default)]
struct Attach {
    name: u64,
    program: u32,
    _pad: u32,
}

fn bpf<T>(command: i32, of: &mut T) -> io::Result<i32> {
    // SAFETY: `of` is the beginning of the kernel's `union bpf_attr` for this command and has the
    // size passed; the caller keeps what it points to alive during the call.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, ptr::from_mut(of), size_of::<T>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as i32) }
}

fn made(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor, and it has no other owner.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn at<T>(of: &[T]) -> u64 {
    of.as_ptr() as u64
}

/// A type that is plain bytes: any bytes are a value of it.
///
/// # Safety
/// It has no invalid values and is `repr(C)`.
pub unsafe trait Plain: Copy + Default {}

// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

/// A map from `K` to `V`.
#[derive(Debug)]
pub struct Map<K, V> {
    fd: OwnedFd,
    most: u32,
    /// Values of one key: one, or one for each processor.
    values: usize,
    of: PhantomData<(K, V)>,
}

impl<K: Plain, V> Map<K, V> {
    /// A map of at most `most` keys. `cpus` is the number of possible processors.
    pub fn new(kind: Kind, most: u32, cpus: usize) -> io::Result<Self> {
        let flags = if matches!(kind, Kind::Array) { MMAPABLE } else { 0 };
        let (key_size, value_size) = (size_of::<K>() as u32, size_of::<V>() as u32);
        let mut create = Create { kind: kind as u32, key_size, value_size, most, flags };
        let fd = made(bpf(MAP_CREATE, &mut create)?);
        let values = if matches!(kind, Kind::LruPerCpu) { cpus } else { 1 };
        Ok(Self { fd, most, values, of: PhantomData })
    }

    /// Its descriptor, by which programs refer to it.
    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }
}

impl<K: Plain, V: Plain> Map<K, V> {
    /// Puts a value under a key.
    pub fn put(&self, key: K, value: V) -> io::Result<()> {
        let (map, key, value) = (self.fd() as u32, [key], [value]);
        let (key, value) = (at(&key), at(&value));
        bpf(MAP_UPDATE, &mut Element { map, key, value, ..Element::default() }).map(|_| ())
    }

    /// Empties it and returns the keys with their values.
    pub fn take(&self) -> io::Result<Vec<(K, Vec<V>)>> {
        let most = self.most as usize;
        let mut keys = vec![K::default(); most];
        let mut values = vec![V::default(); most * self.values];
        // A place in the map: for a hash the number of a bucket.
        let (mut from, mut next) = ([0_u32], [0_u32]);
        let (mut found, mut begun) = (0, false);
        loop {
            let mut batch = Batch {
                from: if begun { at(&from) } else { 0 },
                next: next.as_mut_ptr() as u64,
                keys: keys[found..].as_mut_ptr() as u64,
                values: values[found * self.values..].as_mut_ptr() as u64,
                count: (most - found) as u32,
                map: self.fd() as u32,
                ..Batch::default()
            };
            let done = bpf(MAP_LOOKUP_AND_DELETE_BATCH, &mut batch);
            found += batch.count as usize;
            match done {
                // The end, or no room for keys added since.
                Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENOSPC)) => break,
                Err(error) => return Err(error),
                Ok(_) if found >= most || batch.count == 0 => break,
                Ok(_) => (from, begun) = (next, true),
            }
        }
        let values = values.chunks_exact(self.values).map(<[V]>::to_vec);
        Ok(keys.into_iter().zip(values).take(found).collect())
    }
}

/// The values of an array, as the kernel holds them.
#[derive(Debug)]
pub struct Mapped<V> {
    base: NonNull<V>,
    most: usize,
}

// SAFETY: nothing else in this process uses the mapping, and only `at` leads into it.
unsafe impl<V> Send for Mapped<V> {}

impl<V> Mapped<V> {
    /// Maps an array whose values have sizes that are multiples of eight.
    pub fn of(array: &Map<u32, V>) -> io::Result<Self> {
        assert!(size_of::<V>().is_multiple_of(8), "the kernel rounds sizes up to that");
        let most = array.most as usize;
        let size = most * size_of::<V>();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours.
        let base = unsafe {
            rustix::mm::mmap(ptr::null_mut(), size, access, MapFlags::SHARED, &array.fd, 0)
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, most })
    }

    /// How many values it has.
    pub const fn len(&self) -> usize {
        self.most
    }

    /// Where a value is. Programs change it at any time: it is read and written as volatile.
    pub fn at(&self, index: usize) -> *mut V {
        assert!(index < self.most, "it is in the array");
        // SAFETY: the mapping holds that many values.
        unsafe { self.base.as_ptr().add(index) }
    }
}

impl<V> Drop for Mapped<V> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size and nothing points into it any more.
        let _ = unsafe {
            rustix::mm::munmap(self.base.as_ptr().cast::<c_void>(), self.most * size_of::<V>())
        };
    }
}

/// A program at its tracepoint. /proc/PID/fdinfo of its descriptor has how often it was skipped
/// and, with `kernel.bpf_stats_enabled`, how often and how long it ran.
#[derive(Debug)]
pub struct Attached {
    program: OwnedFd,
    _link: OwnedFd,
}

impl Attached {
    /// How often the kernel skipped it because it was already running on that processor; 0 before
    /// Linux 5.12, which does not count that.
    pub fn misses(&self) -> u64 {
        let path = format!("/proc/self/fdinfo/{}", self.program.as_raw_fd());
        let info = std::fs::read_to_string(path).unwrap_or_default();
        let misses = info.lines().find_map(|line| line.strip_prefix("recursion_misses:"));
        misses.and_then(|misses| misses.trim().parse().ok()).unwrap_or(0)
    }
}

/// Loads a program and attaches it to the tracepoint of this type.
pub fn attach(code: &[u8], tracepoint: u32) -> io::Result<Attached> {
    let mut load = Load {
        kind: TRACING,
        instructions: (code.len() / 8) as u32,
        code: at(code),
        license: LICENSE.as_ptr() as u64,
        name: *b"seekwell\0\0\0\0\0\0\0\0",
        attached_as: TRACE_RAW_TP,
        attached_to: tracepoint,
        ..Load::default()
    };
    let program = made(bpf(PROG_LOAD, &mut load)?);
    let mut attach = Attach { program: program.as_raw_fd() as u32, ..Attach::default() };
    let link = made(bpf(RAW_TRACEPOINT_OPEN, &mut attach)?);
    Ok(Attached { program, _link: link })
}
