//! hdparm's two timings. `-T` reads the first 2 MiB of the device again and again for 2 s: memory,
//! the page cache and the processor, no disk. `-t` forgets what is cached and reads the device from
//! its start, 2 MiB at a time through the page cache, for 3 s. Before each everything is written
//! out and nothing done for 3 s.
//!
//! hdparm stops at the end of the device, and on a small fast one that is too soon for a figure;
//! here the cache is dropped again and reading goes on from the start, until the time is over.

use crate::error::{Describe, SuiteError};
use crate::frame::{Stage, Step, StepResult};
use crate::load::{Counts, Drawn, Load, Shape};
use crate::settings::Values::{Bytes, Count};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, any, through_cache};
use crate::work::{Buffer, create, settle, write_all};
use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use seekwell_access::Way;
use seekwell_checkup::SHORTEST_RATE;
use seekwell_io::clock::Clock;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

const CHUNK: usize = 2 << 20;
const SECTOR: usize = 512;
/// `BLKFLSBUF` of linux/fs.h: write back and forget the page cache of a block device.
const FLUSH_BUFFERS: libc::Ioctl = 0x1261;

pub static SUITE: Suite = Suite {
    name: "hdparm",
    title: "hdparm's cached and device read timings",
    does: "Reads the first 2 MiB again and again from the page cache (-T), then the target from \
           its start through an empty page cache (-t), 2 MiB at a time. On a directory, a \
           temporary file is read in place of the device.",
    takes: ["2 s", "11 s"],
    writes: "nothing on a device or file; a temporary file on a directory",
    source: "hdparm 9.65, -T and -t",
    on: On::Anything,
    tunables: tunables! {
        "cached" Count(500, 600_000), "700" | "2000": "milliseconds of cached reads";
        "device" Count(500, 600_000), "1000" | "3000": "milliseconds of device reads";
        "settle" Count(0, 600_000), "0" | "3000":
            "milliseconds without anything to do before each of them";
        "size" Bytes(CHUNK as u64, 1 << 40), "64m" | "1g":
            "size of the temporary file, on a directory";
    },
    check: any,
    needs: |settings| Needs { bytes: settings.number("size"), files: 1 },
    direct: through_cache,
    steps,
};

fn steps(settings: &Settings) -> Vec<Step> {
    let [cached, device] = ["cached", "device"].map(|n| Nanos::from_millis(settings.number(n)));
    let settle = Nanos::from_millis(settings.number("settle"));
    let size = settings.number("size");
    let step = |name, title, limit: Nanos, time: fn(&Stage<'_>, u64, Nanos) -> _| {
        Step::new(name, title, "read_bytes_per_s", settle + limit, move |stage| {
            quiet(stage, settle).and_then(|()| time(stage, size, limit))
        })
    };
    vec![
        step("cached", "cached reads (-T)", cached, time_cached).on_model(CACHED),
        step("device", "device reads (-t)", device, time_device).on_model(device_load(device)),
    ]
}

/// The first 2 MiB again and again: memory.
pub const CACHED: Load = Load::Host { work: "cached_megabyte", things: (1 << 20) as f64 };

/// The disk from its start.
pub const fn device_load(runs: Nanos) -> Load {
    let stream = Drawn::new(Shape::Reads { streams: 1 }, 0, runs, Counts::Bytes(1.0));
    Load::Drawn(Drawn { thinks: Some("copy_request"), ..stream })
}

/// Writes out what waits for it, of the whole system, and lets that time pass.
fn quiet(stage: &Stage<'_>, settle: Nanos) -> Result<(), SuiteError> {
    if settle == Nanos::ZERO {
        return Ok(());
    }
    rustix::fs::sync();
    let clock = Clock::real();
    let begun = clock.now();
    while clock.now().since(begun) < settle {
        stage.go_on()?;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// What is read: the target itself, or a file of our own.
struct Disk {
    file: OwnedFd,
    path: PathBuf,
    size: u64,
    is_own: bool,
}

impl Disk {
    fn open(stage: &Stage<'_>, size: u64) -> Result<Self, SuiteError> {
        let Some(opened) = stage.opened else { return Self::lay_out(stage, size) };
        let (path, size) = (stage.path.to_path_buf(), opened.size_bytes());
        stage.at_least(size, CHUNK as u64)?;
        let file = opened.reopen(Way::default()).doing("opening", &path)?;
        let disk = Self { file, path, size, is_own: false };
        disk.start().map(|()| disk)
    }

    fn lay_out(stage: &Stage<'_>, size: u64) -> Result<Self, SuiteError> {
        let path = stage.path.join("hdparm");
        if !path.exists() {
            let file = create(&path, OFlags::empty())?;
            let chunk = Buffer::random(CHUNK, stage.seed);
            for _ in 0..size / CHUNK as u64 {
                stage.go_on()?;
                write_all(&file, chunk.get(), &path)?;
            }
            settle(&file, &path)?;
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::empty()).doing("opening", &path)?;
        Ok(Self { file, path, size: size - size % CHUNK as u64, is_own: true })
    }

    /// Forgets what is cached of it and goes back to its start.
    fn rewind(&self) -> Result<(), SuiteError> {
        if !self.is_own {
            // SAFETY: BLKFLSBUF takes no argument and touches no memory of ours. A file, and a
            // user who is not root, is refused; then the advice does it.
            let _ = unsafe { libc::ioctl(self.file.as_raw_fd(), FLUSH_BUFFERS, 0) };
        }
        let advice = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
        advice.doing("dropping the cache of", &self.path)?;
        self.start()
    }

    fn start(&self) -> Result<(), SuiteError> {
        rustix::fs::seek(&self.file, SeekFrom::Start(0)).doing("seeking in", &self.path).map(drop)
    }

    fn read(&self, buffer: &mut [u8]) -> Result<(), SuiteError> {
        let mut done = 0;
        while done < buffer.len() {
            let n = rustix::io::retry_on_intr(|| rustix::io::read(&self.file, &mut buffer[done..]))
                .doing("reading", &self.path)?;
            if n == 0 {
                let end = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                return Err(SuiteError::io("reading", &self.path, end));
            }
            done += n;
        }
        // As hdparm does, to be sure that it has come: each sector is touched.
        buffer.iter_mut().step_by(SECTOR).for_each(|byte| *byte &= 1);
        Ok(())
    }

    fn say(&self, result: &mut StepResult) {
        if self.is_own {
            let size = seekwell_io::units::exact(self.size);
            result.notes.push(format!("a temporary file of {size} was read in place of a device"));
        }
    }
}

fn time_cached(stage: &Stage<'_>, size: u64, limit: Nanos) -> Result<StepResult, SuiteError> {
    let disk = Disk::open(stage, size)?;
    let mut buffer = Buffer::new(CHUNK);
    disk.read(buffer.get_mut())?;
    let meter = stage.begin();
    let mut reads = 0_u64;
    while meter.elapsed() < limit {
        stage.go_on()?;
        disk.start()?;
        disk.read(buffer.get_mut())?;
        reads += 1;
        (stage.progress)(meter.elapsed().0 as f64 / limit.0 as f64);
    }
    let mut result = meter.end();
    // As hdparm does, what the loop costs without its reads is taken off.
    let loops = stage.begin();
    for _ in 0..reads {
        disk.start()?;
        let _ = loops.elapsed();
    }
    let took = result.measurement.elapsed.since(loops.elapsed());
    result.set("read_bytes_per_s", (reads * CHUNK as u64) as f64 / took.as_secs_f64());
    disk.say(&mut result);
    Ok(result)
}

fn time_device(stage: &Stage<'_>, size: u64, limit: Nanos) -> Result<StepResult, SuiteError> {
    let disk = Disk::open(stage, size)?;
    let mut buffer = Buffer::new(CHUNK);
    let (clock, mut times) = (Clock::real(), Histogram::default());
    let chunks = disk.size / CHUNK as u64;
    // As with hdparm, the end of a small device is the end, unless there is no rate yet.
    let (mut result, passes) = stage.passes(
        limit.min(SHORTEST_RATE),
        |_| disk.rewind(),
        |pass| {
            let (begin, mut before) = (clock.now(), clock.now());
            let left = limit.since(Nanos(times.mean_ns().unwrap_or(0.0) as u64 * times.count()));
            for _ in 0..chunks {
                stage.go_on()?;
                disk.read(buffer.get_mut())?;
                let now = clock.now();
                times.record(now.since(std::mem::replace(&mut before, now)));
                let took = now.since(begin);
                if took >= left {
                    break;
                }
                if pass == 0 {
                    (stage.progress)(took.0 as f64 / limit.0 as f64);
                }
            }
            Ok(())
        },
    )?;
    let bytes = times.count() * CHUNK as u64;
    result.requests(Op::Read, bytes, &times);
    result.rate("read_bytes_per_s", bytes);
    if passes > 1 {
        result.notes.push(format!(
            "the target is small: it was read {passes} times, the cache dropped between"
        ));
    }
    disk.say(&mut result);
    Ok(result)
}
