//! The real targets on real files.

use super::{Payload, Stamped, Target, TargetError, Threads, Uring};
use crate::dispatch::Unlimited;
use crate::engine::{Control, run};
use crate::measurement::{FailureKind, Measurement, Stopped};
use crate::request::{Flags, Op, Request, Tagged};
use crate::units::Nanos;
use crate::workload::{Pattern, Workload};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

const SIZE: u64 = 4 << 20;

fn file() -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![7; SIZE as usize]).unwrap();
    file
}

/// On each way of making requests.
fn on_all(workload: &Workload, file: &File, check: impl Fn(&str, Measurement)) {
    let (depth, bytes) = (workload.pace.depth(), workload.max_bytes());
    let mut threads = Threads::new(file.as_fd(), depth, bytes, 1).unwrap();
    check("threads", measure(workload, &mut threads));
    let mut calls = Threads::calls(&[file.as_fd()], depth, bytes, Stamped::new(1)).unwrap();
    check("calls", measure(workload, &mut calls));
    match Uring::new(file.as_fd(), depth, bytes, 1) {
        Ok(mut uring) => check("io_uring", measure(workload, &mut uring)),
        Err(e @ TargetError::RingRefused { .. }) => eprintln!("skipped: {e}"),
        Err(e) => panic!("{e}"),
    }
}

fn measure<T: Target>(workload: &Workload, target: &mut T) -> Measurement {
    run(workload, 0, target, &mut Unlimited::default(), &Control::default()).unwrap()
}

fn requests(pattern: Pattern, read_percent: u8, bytes: u32, depth: u32, n: u64) -> Workload {
    let mut workload = Workload::closed(pattern, read_percent, bytes, depth, SIZE);
    workload.runtime_ns = Nanos::ZERO;
    workload.requests = n;
    workload
}

#[test]
fn reads_of_a_real_file_all_complete_at_any_depth() {
    let file = file();
    for depth in [1, 2, 7, 32, 256] {
        let workload = requests(Pattern::Random, 100, 4096, depth, 2000);
        on_all(&workload, &file, |name, m| {
            assert_eq!(m.stopped, Stopped::Finished, "{name} {depth}");
            assert_eq!(m.op(Op::Read).requests, 2000, "{name} {depth}");
            assert!(m.elapsed > Nanos::ZERO && m.syscalls > 0, "{name} {depth}");
        });
    }
}

#[test]
fn sequential_writes_change_every_block_and_no_two_alike() {
    for which in ["threads", "io_uring"] {
        let file = file();
        let blocks = SIZE / 4096;
        let workload = requests(Pattern::Sequential, 0, 4096, 8, blocks);
        let m = match which {
            "threads" => measure(&workload, &mut Threads::new(file.as_fd(), 8, 4096, 3).unwrap()),
            _ => match Uring::new(file.as_fd(), 8, 4096, 3) {
                Ok(mut uring) => measure(&workload, &mut uring),
                Err(e) => return eprintln!("skipped: {e}"),
            },
        };
        assert_eq!(m.op(Op::Write).bytes, SIZE, "{which}");
        let mut seen = std::collections::HashSet::new();
        for block in 0..blocks {
            let mut data = vec![0; 4096];
            file.read_exact_at(&mut data, block * 4096).unwrap();
            assert!(data != vec![7; 4096], "{which} block {block} was not written");
            assert!(seen.insert(data), "{which} block {block} holds the data of another");
        }
    }
}

#[test]
fn every_sector_written_bears_the_mark_even_where_its_buffer_was_read_into() {
    // The buffer of a slot serves its reads too. A write that followed a read of a blank device
    // carried zeros and a stamp, and the next run took them for the data of somebody else.
    let lengths = [512, 16384, 4096];
    for which in ["threads", "io_uring"] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for bytes in lengths {
            let workload = requests(Pattern::Random, 50, bytes, 2, 400);
            let m = match which {
                "threads" => {
                    measure(&workload, &mut Threads::new(file.as_fd(), 2, bytes, 3).unwrap())
                }
                _ => match Uring::new(file.as_fd(), 2, bytes, 3) {
                    Ok(mut uring) => measure(&workload, &mut uring),
                    Err(e) => return eprintln!("skipped: {e}"),
                },
            };
            assert!(m.op(Op::Read).requests > 0 && m.op(Op::Write).requests > 0, "{which}");
        }
        let mut data = vec![0; SIZE as usize];
        file.read_exact_at(&mut data, 0).unwrap();
        let blank = |sector: &[u8]| sector.iter().all(|b| *b == 0);
        let strange = data.chunks(512).find(|s| !blank(s) && !seekwell_sys::mark::is_on(s));
        assert_eq!(strange, None, "{which}");
    }
}

#[test]
fn commits_write_and_flush_a_real_file() {
    let file = file();
    let mut workload = requests(Pattern::Sequential, 0, 4096, 1, 50);
    workload.flush_every = 1;
    on_all(&workload, &file, |name, m| {
        assert_eq!(m.op(Op::Flush).requests, 50, "{name}");
        let (flush, commit) = (&m.op(Op::Flush).service, &m.op(Op::Flush).response);
        assert!(commit.mean_ns() > flush.mean_ns(), "{name}: a commit is longer than its flush");
    });
}

#[test]
fn reading_past_the_end_is_a_short_transfer_and_ends_the_run() {
    let file = file();
    let mut workload = requests(Pattern::Sequential, 100, 4096, 4, 100_000);
    workload.region_bytes = 2 * SIZE;
    on_all(&workload, &file, |name, m| {
        assert_eq!(m.stopped, Stopped::Failed, "{name}");
        assert_eq!(m.first_failure.unwrap().kind, FailureKind::Short { moved: 0 }, "{name}");
        assert_eq!(m.op(Op::Read).requests, SIZE / 4096, "{name}");
    });
}

#[test]
fn writing_through_a_descriptor_opened_for_reading_fails_with_the_kernels_errno() {
    let path = tempfile::NamedTempFile::new().unwrap();
    path.as_file().set_len(SIZE).unwrap();
    let read_only = File::open(path.path()).unwrap();
    let workload = requests(Pattern::Random, 0, 4096, 1, 10);
    on_all(&workload, &read_only, |name, m| {
        let kind = m.first_failure.unwrap().kind;
        assert_eq!(kind, FailureKind::Errno { errno: libc::EBADF }, "{name}");
        assert_eq!(m.op(Op::Write).requests, 0, "{name}");
    });
}

/// Zeroes, written atomically.
struct Atomic;

impl Payload for Atomic {
    fn place(&self, request: &Request) -> (u32, u64) {
        (0, request.offset)
    }

    fn flags(&self) -> Flags {
        Flags { atomic: true, ..Flags::NONE }
    }

    fn begin(&mut self, buffer: &mut [u8]) {
        buffer.fill(0);
    }

    fn prepare(&mut self, _: &Tagged, _: &mut [u8]) {}
}

#[test]
fn both_engines_ask_the_kernel_for_atomic_writes() {
    // Through the page cache no file has them, and so the kernel refuses: it was asked.
    let file = file();
    let workload = requests(Pattern::Random, 0, 4096, 2, 10);
    let files = [file.as_fd()];
    let check = |name: &str, measured: Measurement| {
        let failure = measured.first_failure.unwrap_or_else(|| panic!("{name} wrote"));
        assert_eq!(failure.kind, FailureKind::Errno { errno: libc::EOPNOTSUPP }, "{name}");
    };
    check("threads", measure(&workload, &mut Threads::with(&files, 2, 4096, Atomic).unwrap()));
    match Uring::with(&files, 2, 4096, Atomic) {
        Ok(mut uring) => check("io_uring", measure(&workload, &mut uring)),
        Err(e) => eprintln!("skipped: {e}"),
    }
}
