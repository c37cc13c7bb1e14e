//! A modelled machine that is served as a block device, for the lab and for benchmarks.

use crate::Failure;
use rustix::process::{Pid, Signal, kill_process};
use seekwell_machine::Model;
use seekwell_machine::library::{Shelf, machine};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it listens; busy hosts are slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, which ends with the value.
pub struct Served {
    child: Child,
    socket: PathBuf,
}

/// A machine that ships.
pub fn model(name: &str) -> Result<Model, Failure> {
    let text = machine(name).ok_or_else(|| format!("no machine {name} ships"))?;
    Ok(Model::read(name, text, &[], &Shelf::default())?)
}

/// The address at which a socket is reached.
pub fn uri(socket: &Path) -> String {
    format!("nbd+unix:///?socket={}", socket.display())
}

impl Served {
    /// Serves a machine at a socket that is not there yet, and waits until it listens. What the
    /// server says goes to `log`.
    pub fn start(
        seekwell: &Path,
        machine: &str,
        socket: &Path,
        more: &[String],
        log: &File,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(seekwell);
        command.args(["machine", "serve", &format!("{machine}.toml")]);
        command.arg("--nbd").arg(format!("unix:{}", socket.display())).args(more);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        // SAFETY: between fork and exec nothing but two system calls is made: no lock is taken and
        // no memory allocated.
        unsafe { command.pre_exec(crate::process::follow_parent) };
        let mut served = Self { child: command.spawn()?, socket: socket.to_path_buf() };
        let begun = Instant::now();
        while !served.socket.exists() {
            if let Some(status) = served.child.try_wait()? {
                return Err(format!("{machine} is not served ({status})").into());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{machine} is not served after {PATIENCE:?}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(served)
    }

    /// Where it is reached.
    pub fn uri(&self) -> String {
        uri(&self.socket)
    }
}

impl Drop for Served {
    /// Ends it as Ctrl-C would, so that it says how late it was; kills it if it does not.
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}
