//! R0: `bonnie++ -s 0`, its small files alone, one trace for each phase that makes or deletes.
//!
//! The program says on its standard error when a phase begins and ends. It is stopped there while a
//! recording begins or ends, so that each trace holds one phase and no more.

use super::recorder::signal;
use super::report::{Ran, Report};
use super::stage::{Cpu, Stage, cpu_s};
use crate::Failure;
use rustix::process::Signal;
use std::io::{ErrorKind, Read};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Instant;

/// Files in units of 1024: a quarter of the document's 384.
const FILES: u64 = 96;
/// With `--quick`.
const FEW: u64 = 8;
/// bonnie++ 2.00 ends each phase with a sync of every file system of the machine, most of which are
/// none of this scene's; it is answered without being done. The tracer is a process beside the
/// program, which is thus the one that was started.
const NO_SYNC: [&str; 7] =
    ["-D", "-f", "--seccomp-bpf", "--trace=sync", "--inject=sync:retval=0", "-o", "/dev/null"];
/// Phases in bonnie++'s order, and whether they are recorded: looking at files asks no disk.
const PHASES: [(&str, bool); 6] = [
    ("bonnie-create-seq", true),
    ("bonnie-stat-seq", false),
    ("bonnie-delete-seq", true),
    ("bonnie-create-random", true),
    ("bonnie-stat-random", false),
    ("bonnie-delete-random", true),
];

pub fn run(stage: &Stage, report: &mut Report) -> Result<(), Failure> {
    let thousands = if stage.quick { FEW } else { FILES };
    let program = format!("bonnie++ -s 0 -n {thousands}");
    stage.place.disk.pace(true);
    let mut bonnie = Bonnie::start(stage, thousands)?;
    for (name, recorded) in PHASES {
        bonnie.until(stage, "...")?;
        signal(&bonnie.child, Signal::STOP);
        let recorder = recorded.then(|| stage.record(name)).transpose()?;
        let (served, cpu, begun) = (stage.served()?, bonnie.cpu_s()?, Instant::now());
        signal(&bonnie.child, Signal::CONT);
        bonnie.until(stage, "done.")?;
        signal(&bonnie.child, Signal::STOP);
        let ran = Ran {
            program: program.clone(),
            count: thousands * 1024,
            unit: "files",
            seconds: begun.elapsed().as_secs_f64(),
            cpu_s: bonnie.cpu_s()? - cpu,
        };
        match recorder {
            Some(recorder) => stage.recorded(recorder, name, ran, report)?,
            None => report.cached(name, ran, served, stage.served()?),
        }
        signal(&bonnie.child, Signal::CONT);
    }
    let status = bonnie.child.wait()?;
    if !status.success() {
        return Err(format!("bonnie++ failed ({status})").into());
    }
    Ok(())
}

/// The running program. Dropping it kills it.
struct Bonnie {
    child: Child,
    errors: ChildStderr,
}

impl Bonnie {
    fn start(stage: &Stage, thousands: u64) -> Result<Self, Failure> {
        let mut child = stage
            .command("strace")
            .args(NO_SYNC)
            .args(["bonnie++", "-u", "root", "-s", "0", "-n", &thousands.to_string(), "-d"])
            .arg(stage.place.root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let errors = child.stderr.take().ok_or("bonnie++ has no standard error")?;
        Ok(Self { child, errors })
    }

    fn until(&mut self, stage: &Stage, end: &str) -> Result<(), Failure> {
        let (mut text, mut byte) = (Vec::new(), [0]);
        while !text.ends_with(end.as_bytes()) {
            match self.errors.read(&mut byte) {
                Ok(0) => {
                    stage.go_on()?;
                    let text = String::from_utf8_lossy(&text);
                    return Err(format!("bonnie++ ended: {}", text.trim()).into());
                }
                Ok(_) => text.extend(byte),
                Err(error) if error.kind() == ErrorKind::Interrupted => stage.go_on()?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn cpu_s(&self) -> Result<f64, Failure> {
        cpu_s(&self.child.id().to_string(), Cpu::Own)
    }
}

impl Drop for Bonnie {
    fn drop(&mut self) {
        // Both fail where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
