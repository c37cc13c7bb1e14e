//! A running guest: QEMU in software emulation, its monitor, and the serial line on which the guest
//! runs commands. It ends when its value is dropped.

use super::disk::{self, Board, Disk};
use super::image;
use super::parts::{Parts, Without};
use super::scenario::Scenario;
use crate::serve::Served;
use crate::{Failure, process};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a boot with all its steps may take; busy hosts are slow.
pub const LIMIT: Duration = Duration::from_secs(300);

/// What the guest said of one script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
    pub power_cut: bool,
}

pub struct Machine {
    child: Child,
    monitor: Line,
    serial: Line,
    log: File,
}

/// The disks of a scenario, which stay when a machine goes; removed with the value.
pub struct Images {
    /// The modelled machines among them, which end before their files go.
    _served: Vec<Served>,
    dir: TempDir,
}

impl Images {
    /// Makes the images, and serves those of modelled machines; what servers say is added to `log`.
    pub fn make(scenario: &Scenario, parts: &Parts, log: &Path) -> Result<Self, Without> {
        let dir = tempfile::Builder::new().prefix("seekwell-lab-").tempdir()?;
        let mut served = Vec::new();
        for (disk, name) in scenario.disks.iter().zip(disk::names(&scenario.disks)) {
            let image = dir.path().join(format!("{name}.img"));
            image::make(disk, &image, || parts.tree(scenario))?;
            if let Some(fault) = disk.fault {
                let journal = || image::journal_sector(&image).map(Some);
                let sector = if fault.journal { journal()? } else { fault.sector };
                fs::write(dir.path().join(format!("{name}.cfg")), fault.config(sector))?;
            }
            if let Some(machine) = &disk.machine {
                let mut more = vec!["--data".to_owned(), image.display().to_string()];
                more.extend(disk.serve.iter().cloned());
                let log = File::options().append(true).create(true).open(log)?;
                let socket = disk::socket(dir.path(), &name);
                served.push(Served::start(&parts.program, machine, &socket, &more, &log)?);
            }
        }
        Ok(Self { _served: served, dir })
    }
}

/// When to give up: at a time, or when somebody asks.
#[derive(Clone)]
pub struct Until {
    pub deadline: Instant,
    /// Set when somebody asks.
    pub stop: Arc<AtomicBool>,
}

impl Until {
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() > self.deadline
    }

    fn check(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Err("interrupted".into());
        }
        if Instant::now() > self.deadline {
            return Err(format!("not done after {} s", LIMIT.as_secs()).into());
        }
        Ok(())
    }
}

impl Machine {
    /// Boots a scenario's machine on its disks and waits until the guest takes orders; its console
    /// is added to `log`.
    pub fn boot(
        scenario: &Scenario,
        images: &Images,
        parts: &Parts,
        log: &Path,
        until: &Until,
    ) -> Result<Self, Without> {
        let dir = images.dir.path();
        fs::write(dir.join("initramfs"), parts.initramfs(scenario)?)?;
        let (monitor, serial) = (listen(&dir.join("monitor"))?, listen(&dir.join("serial"))?);
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(arguments(scenario, &scenario.disks, dir, &parts.kernel, log));
        let mut said = File::options().append(true).create(true).open(log)?;
        writeln!(said, "\n{qemu:?}\n")?;
        qemu.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?);
        // SAFETY: between fork and exec nothing but two system calls is made: no lock is taken and
        // no memory allocated.
        unsafe { qemu.pre_exec(process::follow_parent) };
        let child = qemu.spawn()?;
        let mut child = Reaped(Some(child));
        let monitor = Line::accept(&monitor, &mut child, until)?;
        let serial = Line::accept(&serial, &mut child, until)?;
        let child = child.0.take().ok_or("there is no child")?;
        let mut machine = Self { child, monitor, serial, log: said };
        machine.greet(until)?;
        machine.wait_until_ready(until)?;
        Ok(machine)
    }

    /// Takes the monitor out of its negotiation.
    fn greet(&mut self, until: &Until) -> Result<(), Failure> {
        self.monitor.line(&mut self.child, until)?;
        self.monitor.send(&json!({"execute": "qmp_capabilities"}).to_string())?;
        self.answer(until).map(drop)
    }

    fn answer(&mut self, until: &Until) -> Result<Value, Failure> {
        loop {
            let line = self.monitor.line(&mut self.child, until)?;
            let value: Value = serde_json::from_str(&line)?;
            if let Some(error) = value.get("error") {
                return Err(format!("the monitor says {error}").into());
            }
            if let Some(value) = value.get("return") {
                return Ok(value.clone());
            }
        }
    }

    fn wait_until_ready(&mut self, until: &Until) -> Result<(), Failure> {
        loop {
            let line = self.serial.line(&mut self.child, until)?;
            match line.strip_prefix("@@") {
                Some("ready") => return Ok(()),
                Some(text) if text.starts_with("note ") => return Err(text[5..].to_owned().into()),
                _ => {}
            }
        }
    }

    /// Runs a command of the human monitor. It complains in words; those are an error.
    pub fn monitor(&mut self, command: &str, until: &Until) -> Result<(), Failure> {
        let call = json!({
            "execute": "human-monitor-command", "arguments": {"command-line": command}
        });
        self.monitor.send(&call.to_string())?;
        let answer = self.answer(until)?;
        let text = answer.as_str().unwrap_or_default().trim();
        self.write(&format!("\n=== monitor: {command}\n{text}\n"))?;
        let complaint = ["Error", "unknown command", "Device '", "Bus '", "Property '"];
        if complaint.iter().any(|c| text.starts_with(c)) {
            return Err(format!("monitor: {command}: {text}").into());
        }
        Ok(())
    }

    /// Runs a script in the guest; `marked` is called with the name of each mark it makes, but for
    /// `cut`: then the machine is gone.
    pub fn run(
        &mut self,
        script: &str,
        until: &Until,
        mut marked: impl FnMut(&mut Self, &str) -> Result<(), Failure>,
    ) -> Result<Ran, Failure> {
        self.serial.send(&format!("run {}", STANDARD.encode(script)))?;
        let mut ran = Ran::default();
        loop {
            let line = self.serial.line(&mut self.child, until)?;
            let Some((word, rest)) =
                line.strip_prefix("@@").map(|l| l.split_once(' ').unwrap_or((l, "")))
            else {
                continue;
            };
            match word {
                "out" => ran.out = text(rest)?,
                "err" => ran.err = text(rest)?,
                "mark" if rest == "cut" => {
                    self.child.kill()?;
                    self.child.wait()?;
                    return Ok(Ran { power_cut: true, ..Ran::default() });
                }
                "mark" => {
                    marked(self, rest)?;
                    self.serial.send("acted")?;
                }
                "done" => {
                    ran.status = rest.parse()?;
                    return Ok(ran);
                }
                _ => return Err(format!("the guest said {line:?}").into()),
            }
        }
    }

    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.log.write_all(text.as_bytes())?)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Reaped(Option<Child>);

impl Drop for Reaped {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A socket in the place of the one an earlier machine had.
fn listen(path: &Path) -> std::io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => UnixListener::bind(path),
    }
}

fn text(base64: &str) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&STANDARD.decode(base64)?).into_owned())
}

/// One end of a socket, in lines.
struct Line {
    stream: UnixStream,
    pending: Vec<u8>,
    /// Bytes of `pending` known to hold no end of a line.
    searched: usize,
}

const PATIENCE: Duration = Duration::from_millis(100);

impl Line {
    fn accept(listener: &UnixListener, child: &mut Reaped, until: &Until) -> Result<Self, Failure> {
        listener.set_nonblocking(true)?;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    return Ok(Self { stream, pending: Vec::new(), searched: 0 });
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.into()),
            }
            until.check()?;
            if let Some(child) = &mut child.0 {
                alive(child)?;
            }
            std::thread::sleep(PATIENCE / 4);
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Failure> {
        Ok(self.stream.write_all(format!("{line}\n").as_bytes())?)
    }

    fn line(&mut self, child: &mut Child, until: &Until) -> Result<String, Failure> {
        let mut room = vec![0; 1 << 16];
        loop {
            if let Some(at) = self.pending[self.searched..].iter().position(|b| *b == b'\n') {
                let rest = self.pending.split_off(self.searched + at + 1);
                let line = std::mem::replace(&mut self.pending, rest);
                self.searched = 0;
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            self.searched = self.pending.len();
            match self.stream.read(&mut room) {
                Ok(0) => return Err(hung_up(child, "QEMU has hung up".into())),
                Ok(n) => self.pending.extend(&room[..n]),
                Err(e) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&e.kind()) => {
                    alive(child)?;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(hung_up(child, e.into())),
            }
            until.check()?;
        }
    }
}

/// Why a socket is dead: that QEMU has ended is worth more than what the socket says of it.
fn hung_up(child: &mut Child, otherwise: Failure) -> Failure {
    std::thread::sleep(2 * PATIENCE);
    alive(child).err().unwrap_or(otherwise)
}

fn alive(child: &mut Child) -> Result<(), Failure> {
    match child.try_wait()? {
        Some(status) => Err(format!("QEMU has ended ({status}); the log says why").into()),
        None => Ok(()),
    }
}

fn arguments(
    scenario: &Scenario,
    disks: &[Disk],
    dir: &Path,
    kernel: &Path,
    log: &Path,
) -> Vec<String> {
    let board = match scenario.machine {
        Board::Pc => "pc",
        Board::Q35 => "q35",
        Board::Microvm => "microvm,acpi=on,isa-serial=off",
    };
    let socket = |name: &str| format!("socket,id={name},path={}", dir.join(name).display());
    // A busy host gives the emulated timer no turn in time, and the kernel would give up on it.
    // Mitigations protect nothing here, and page table isolation is slow in emulation.
    let mut append = vec!["console=ttyS0", "loglevel=5", "panic=-1", "nokaslr", "no_timer_check"];
    append.push("mitigations=off");
    append.extend(scenario.kernel.iter().map(String::as_str));
    let mut out: Vec<String> = ["-accel", "tcg", "-nodefaults", "-no-user-config", "-no-reboot"]
        .map(str::to_owned)
        .to_vec();
    let mut add = |key: &str, value: String| out.extend([key.to_owned(), value]);
    add("-machine", board.to_owned());
    add("-smp", scenario.cpus.to_string());
    add("-m", scenario.memory_mib.to_string());
    add("-display", "none".to_owned());
    add("-kernel", kernel.display().to_string());
    add("-initrd", dir.join("initramfs").display().to_string());
    add("-append", append.join(" "));
    add("-chardev", format!("file,id=console,append=on,path={}", log.display()));
    add("-chardev", socket("serial"));
    add("-chardev", socket("monitor"));
    add("-device", "isa-serial,chardev=console".to_owned());
    add("-device", "isa-serial,chardev=serial".to_owned());
    add("-mon", "chardev=monitor,mode=control".to_owned());
    out.extend(disk::arguments(scenario.machine, disks, dir));
    out.extend(scenario.qemu.iter().cloned());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_is_always_emulated_in_software() {
        let scenario = &super::super::scenario::all().unwrap()[0];
        let dir = Path::new("/lab");
        let all = arguments(scenario, &scenario.disks, dir, Path::new("/k"), Path::new("/log"));
        let accel = all.iter().position(|a| a == "-accel").unwrap();
        assert_eq!(all[accel + 1], "tcg");
        assert!(!all.iter().any(|a| a.contains("kvm")), "{all:?}");
    }
}
