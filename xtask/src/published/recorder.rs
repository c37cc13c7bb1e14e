//! `seekwell record` for as long as something lasts.

use crate::Failure;
use seekwell_trace::store::part_of;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const READY: Duration = Duration::from_secs(20);

/// A recording that goes on. Dropping it kills it.
pub struct Recorder {
    child: Child,
    trace: PathBuf,
    said: PathBuf,
}

impl Recorder {
    /// Begins to record `device` into `trace` by `program`, and returns once it does.
    pub fn start(mut program: Command, device: &Path, trace: &Path) -> Result<Self, Failure> {
        let said = trace.with_extension("json");
        let child = program
            .args(["record", "--json", "--force", "-o"])
            .arg(trace)
            .arg(device)
            .stdin(Stdio::null())
            .stdout(File::create(&said)?)
            .stderr(Stdio::null())
            .spawn()?;
        let mut recorder = Self { child, trace: trace.to_owned(), said };
        // The file is made once the kernel's events are on.
        let start = Instant::now();
        while part_of(trace).is_none() {
            if let Some(status) = recorder.child.try_wait()? {
                return Err(format!("the recording ended at its start ({status})").into());
            }
            if start.elapsed() > READY {
                return Err("the recording did not begin".into());
            }
            sleep(Duration::from_millis(5));
        }
        Ok(recorder)
    }

    /// Ends it. Lost events are an error.
    pub fn stop(mut self) -> Result<(), Failure> {
        signal(&self.child, rustix::process::Signal::INT);
        let status = self.child.wait()?;
        let said: Value = serde_json::from_slice(&fs::read(&self.said)?)?;
        if !status.success() || said["lost_events"] != 0 {
            let trace = self.trace.display();
            return Err(format!("recording {trace}: {status}, lost {}", said["lost_events"]).into());
        }
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Both fail where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a child that has not been waited for.
pub fn signal(child: &Child, signal: rustix::process::Signal) {
    // It may have ended by itself, which waiting for it shows.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
}
