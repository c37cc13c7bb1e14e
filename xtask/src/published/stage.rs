//! Where a scene plays: a modelled drive, a file system on it, memory as scarce as the document's.

use super::recorder::{Recorder, signal};
use super::report::{Ran, Report, Traced};
use crate::storagemark::confine::Room;
use crate::storagemark::disk::model;
use crate::storagemark::place::{EXT4, Layout, TestBed};
use crate::{Failure, bench, process};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Requests that the drive takes at a time, as AHCI's 32 tags less the one that Linux keeps.
const TAGS: &str = "31";
/// One part in this many of memory may be dirty: the kernel's `vm.dirty_ratio` of then, 10 %.
const DIRTY: u64 = 10;

/// The status of our own program when a step was too short for a figure; it was played all the
/// same.
const NO_FIGURE: i32 = 4;

/// What is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scene {
    /// R0: bonnie++'s small files.
    Bonnie,
    /// R1: SQLite, FS-Mark and Threaded I/O as the Phoronix Test Suite runs them.
    Phoronix,
    /// R2: blogs.
    Blog,
}

impl Scene {
    /// Memory of programs and page cache, in bytes.
    fn memory(self) -> u64 {
        match self {
            // A quarter of 2 GiB, as everything in this scene.
            Self::Bonnie => 512 << 20,
            Self::Phoronix => 4 << 30,
            Self::Blog => 256 << 20,
        }
    }

    /// Lets this program, and all it starts from now on, go before whatever else the machine does,
    /// which is not to show as time that the recorded programs thought. A hundred readers would
    /// keep the kernel's own threads waiting: blogs run at the usual priority.
    fn hurry(self) -> Result<(), Failure> {
        let [policy, priority] = match self {
            Self::Bonnie | Self::Phoronix => ["--rr", "1"],
            Self::Blog => ["--other", "0"],
        };
        let own = std::process::id().to_string();
        process::text(Command::new("chrt").args([policy, "--pid", priority, &own]))?;
        Ok(())
    }

    /// The machine that `seekwell reproduce` plays its trace on.
    pub const fn machine(self) -> &'static str {
        match self {
            Self::Bonnie => "p4sbe-ich8-ahci",
            Self::Phoronix => "x8dtl-ahci-intel",
            Self::Blog => "dragonfly-hdd-after",
        }
    }

    /// Bytes of the file system.
    pub const fn size(self) -> u64 {
        match self {
            Self::Bonnie => 32 << 30,
            Self::Phoronix | Self::Blog => 16 << 30,
        }
    }

    fn layout(self) -> Result<Layout, Failure> {
        // Kernels of then did not read bitmaps ahead.
        let (mkfs, mount) = match self {
            // A quarter of the inodes in each group and of the journal, for a quarter of the files.
            Self::Bonnie => (
                "mkfs.ext3 -q -E nodiscard -I 256 -i 65536 -J size=32",
                "relatime,barrier=0,no_prefetch_block_bitmaps",
            ),
            Self::Phoronix | Self::Blog => (EXT4, "relatime,no_prefetch_block_bitmaps"),
        };
        let model = model(self.machine(), &[])?;
        Ok(Layout { size: self.size(), model, stretch: 1, mkfs, mount })
    }
}

pub struct Stage {
    /// Dropped before the device goes.
    _tuned: Knobs,
    pub place: TestBed,
    /// Whether a small part is enough.
    pub quick: bool,
    kept: PathBuf,
    pub seekwell: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Stage {
    /// Sets `scene` up below `work`; traces go to `kept`.
    pub fn new(
        scene: Scene,
        work: &Path,
        kept: &Path,
        seekwell: &Path,
        stop: &Arc<AtomicBool>,
        quick: bool,
    ) -> Result<Self, Failure> {
        scene.hurry()?;
        let place = TestBed::new(work, scene.layout()?)?;
        place.confine.limit(scene.memory())?;
        let mut tuned = Knobs(Vec::new());
        // The device's own depth, before a scheduler has one of its own.
        tuned.turn(place.device(), "queue/scheduler", "none")?;
        tuned.turn(place.device(), "queue/nr_requests", TAGS)?;
        tuned.turn(place.device(), "queue/scheduler", "mq-deadline")?;
        if scene != Scene::Phoronix {
            tuned.turn(place.device(), "bdi/strict_limit", "1")?;
            // Restored as the ratio that the bytes are turned into.
            tuned.turn(place.device(), "bdi/max_ratio", "100")?;
            let dirty = (scene.memory() / DIRTY).to_string();
            fs::write(of(place.device(), "bdi/max_bytes"), dirty)?;
        }
        let (kept, seekwell) = (kept.to_owned(), seekwell.to_owned());
        Ok(Self { _tuned: tuned, place, quick, kept, seekwell, stop: Arc::clone(stop) })
    }

    /// Says what is done now. An error once somebody asked to stop.
    #[expect(clippy::print_stderr, reason = "it takes minutes")]
    pub fn step(&self, what: &str) -> Result<(), Failure> {
        eprintln!("{what}");
        self.go_on()
    }

    /// An error once somebody asked to stop.
    pub fn go_on(&self) -> Result<(), Failure> {
        bench::go_on(&self.stop)
    }

    /// Begins to record the drive into the trace `name`.
    pub fn record(&self, name: &str) -> Result<Recorder, Failure> {
        self.step(&format!("recording {name}"))?;
        let program = self.place.confine.command(Room::Free, &self.seekwell.to_string_lossy());
        Recorder::start(program, self.place.device(), &self.trace(name))
    }

    fn trace(&self, name: &str) -> PathBuf {
        self.kept.join(format!("{name}.parquet"))
    }

    /// Ends a recording and puts what it is into the report.
    pub fn recorded(
        &self,
        recorder: Recorder,
        name: &str,
        ran: Ran,
        report: &mut Report,
    ) -> Result<(), Failure> {
        recorder.stop()?;
        let path = self.trace(name);
        let stats = process::text(
            Command::new(&self.seekwell).args(["trace", "stats", "--json"]).arg(&path),
        )?;
        let bytes = fs::metadata(&path)?.len();
        report.traces.push(Traced::new(name, ran, &serde_json::from_str(&stats)?, bytes)?);
        Ok(())
    }

    /// A program in the scene's memory.
    pub fn command(&self, program: &str) -> Command {
        self.place.confine.command(Room::Limited, program)
    }

    /// Runs a program to its end: seconds it took and seconds of CPU.
    pub fn play(&self, command: &mut Command) -> Result<(f64, f64), Failure> {
        self.play_until(command, &[0])
    }

    /// The same for a program that ends well with one of `statuses`.
    fn play_until(&self, command: &mut Command, statuses: &[i32]) -> Result<(f64, f64), Failure> {
        let (begun, cpu) = (Instant::now(), cpu_s("self", Cpu::Waited)?);
        let mut child = command.spawn()?;
        let status = loop {
            if let Err(stopped) = self.go_on() {
                end(&mut child);
                return Err(stopped);
            }
            if let Some(status) = child.try_wait()? {
                break status;
            }
            sleep(Duration::from_millis(10));
        };
        if !status.code().is_some_and(|code| statuses.contains(&code)) {
            return Err(format!("{} failed ({status})", words(command)).into());
        }
        Ok((begun.elapsed().as_secs_f64(), cpu_s("self", Cpu::Waited)? - cpu))
    }

    /// Runs one of our suites in the file system: how it was called, seconds that its steps took
    /// and CPU time of it all, and its document.
    pub fn suite(
        &self,
        name: &str,
        settings: &[(&str, &str)],
    ) -> Result<(String, (f64, f64), Value), Failure> {
        let document = self.place.aside().join("suite.json");
        let mut command = self.command(&self.seekwell.to_string_lossy());
        command.args(["bench", "--json", "--no-keep", "--suite", name, "--on"]);
        command.arg(self.place.root()).stdin(Stdio::null()).stdout(File::create(&document)?);
        let mut called = format!("seekwell bench --suite {name}");
        for (key, value) in settings {
            let word = format!("{key}={value}");
            command.args(["--set", &word]);
            called += &format!(" --set {word}");
        }
        let (_, cpu_s) = self.play_until(&mut command, &[0, NO_FIGURE])?;
        let document: Value = serde_json::from_slice(&fs::read(&document)?)?;
        let phases = document["phases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let took = phases.iter().filter_map(|p| p["repeats"][0]["elapsed_ns"].as_f64());
        Ok((called, (took.sum::<f64>() / 1e9, cpu_s), document))
    }

    /// Reads and writes that the drive completed so far.
    pub fn served(&self) -> Result<[u64; 2], Failure> {
        let text = fs::read_to_string(of(self.place.device(), "stat"))?;
        let fields: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        match fields[..] {
            [reads, _, _, _, writes, ..] => Ok([reads, writes]),
            _ => Err("the kernel's statistics of the device are too short".into()),
        }
    }
}

/// A command as it is called, without the shell that puts it into its cgroup.
fn words(command: &Command) -> String {
    let all: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|w| w.to_string_lossy())
        .collect();
    let own = if all.first().is_some_and(|w| w == "/bin/sh") { 4 } else { 0 };
    all[own.min(all.len())..].join(" ")
}

/// Ends a program and waits for it.
fn end(child: &mut Child) {
    signal(child, Signal::TERM);
    sleep(Duration::from_secs(1));
    // Both fail where it has ended.
    let _ = child.kill();
    let _ = child.wait();
}

#[derive(Debug, Clone, Copy)]
pub enum Cpu {
    /// A process's own.
    Own,
    /// That of its children that ended and were waited for.
    Waited,
}

/// CPU time of a process (a number or `self`), in seconds.
pub fn cpu_s(process: &str, whose: Cpu) -> Result<f64, Failure> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    ticks(&text, whose)
        .map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
        .ok_or_else(|| format!("/proc/{process}/stat lacks CPU times").into())
}

/// User and system time in a line of `/proc/PID/stat`, in clock ticks.
fn ticks(line: &str, whose: Cpu) -> Option<u64> {
    // The name stands in brackets and may hold anything; fields are counted behind it.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let first = match whose {
        Cpu::Own => 11,
        Cpu::Waited => 13,
    };
    Some(fields.get(first)?.parse::<u64>().ok()? + fields.get(first + 1)?.parse::<u64>().ok()?)
}

/// A file below the device's folder in sysfs.
fn of(device: &Path, name: &str) -> PathBuf {
    Path::new("/sys/block").join(device.file_name().unwrap_or_default()).join(name)
}

/// Settings of the device as they were: files and their values. The next user of the loop device
/// would find what was left.
struct Knobs(Vec<(PathBuf, String)>);

impl Knobs {
    fn turn(&mut self, device: &Path, name: &str, to: &str) -> Result<(), Failure> {
        let path = of(device, name);
        let before = chosen(&fs::read_to_string(&path)?).to_owned();
        fs::write(&path, to).map_err(|e| format!("{}: {e}", path.display()))?;
        self.0.push((path, before));
        Ok(())
    }
}

impl Drop for Knobs {
    /// The last first: a depth that was set without a scheduler is put back without one.
    fn drop(&mut self) {
        while let Some((path, before)) = self.0.pop() {
            let _ = fs::write(path, before);
        }
    }
}

/// The value of a setting: the word in brackets if there is a choice.
fn chosen(text: &str) -> &str {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text.trim(), |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_setting_is_the_word_in_brackets_or_all_of_it() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(chosen("128\n"), "128");
    }

    #[test]
    fn cpu_time_is_found_behind_any_name() {
        let line = "7 (a) 1 (b) S 1 1 1 0 -1 4194560 5 6 7 8 11 13 17 19 20 0 1 0 100";
        assert_eq!(ticks(line, Cpu::Own), Some(24));
        assert_eq!(ticks(line, Cpu::Waited), Some(36));
        assert_eq!(ticks("7 (a) S 1", Cpu::Own), None);
    }
}
