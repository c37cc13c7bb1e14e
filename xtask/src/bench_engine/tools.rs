//! Running seekwell and fio, and reading what they say and what they used.

use crate::{Failure, process};
use seekwell_runs::RunDocument;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

pub struct Tools {
    pub seekwell: PathBuf,
    pub seconds: u32,
    /// fio's `t/io_uring`, where it was named.
    pub t_io_uring: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub iops: f64,
    /// CPU time of the whole process per read, user and kernel mode, start-up included.
    pub process_cpu_ns: f64,
    /// The same, user mode only.
    pub process_user_ns: f64,
    /// CPU time per read as the tool itself counts it while it measures.
    pub own_cpu_ns: f64,
    /// The same, user mode only.
    pub own_user_ns: f64,
    /// From before the submitting call to completion, median.
    pub latency_ns_p50: f64,
    /// The same, 99 %.
    pub latency_ns_p99: f64,
    /// From when the submitting call has returned, median; fio counts it, seekwell does not.
    pub after_submit_ns_p50: Option<f64>,
    pub peak_bytes: f64,
}

/// CPU time of a process and all it waited for, and its memory.
pub struct Used {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: f64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: f64,
    /// Most memory resident at once.
    pub peak_bytes: f64,
}

impl Tools {
    /// A random read of 4 KiB through seekwell. `on` is a target, `more` further options.
    pub fn seekwell(&self, on: &Path, depth: u32, more: &[&str]) -> Result<Sample, Failure> {
        self.seekwell_for(self.seconds, on, depth, more)
    }

    /// The same, for `seconds` seconds.
    pub fn seekwell_for(
        &self,
        seconds: u32,
        on: &Path,
        depth: u32,
        more: &[&str],
    ) -> Result<Sample, Failure> {
        let mut command = Command::new(&self.seekwell);
        command.args(["bench", "--rw=randread", "--bs=4k"]);
        command.arg(format!("--iodepth={depth}"));
        command.arg(format!("--runtime={seconds}s"));
        command.arg("--on").arg(on).args(more);
        let (run, used) = measured(command)?;
        of_seekwell(&run, &used)
    }

    /// Random reads of 4 KiB, one at a time, on every device at once, a job and a thread for each:
    /// reads a second of all together.
    pub fn seekwell_together(&self, devices: &[PathBuf]) -> Result<f64, Failure> {
        use std::fmt::Write as _;
        let mut jobs = format!(
            "[global]\nrw=randread\nbs=4k\ndirect=1\nioengine=psync\n\
             time_based\nruntime={}\nnorandommap\n",
            self.seconds
        );
        for (number, device) in devices.iter().enumerate() {
            writeln!(jobs, "[on{number}]\nfilename={}", device.display())?;
        }
        let file = tempfile::Builder::new().suffix(".fio").tempfile()?;
        std::fs::write(file.path(), jobs)?;
        let mut command = Command::new(&self.seekwell);
        command.arg("bench").arg(file.path());
        let (run, _) = measured(command)?;
        let rates = run.phases.iter().map(|phase| phase.median("read.requests_per_s"));
        let rates: Option<Vec<f64>> = rates.collect();
        Ok(rates.ok_or("a job gave no rate")?.iter().sum())
    }

    /// Random reads of 4 KiB a second by `t/io_uring`: registered files and buffers, batches of 32,
    /// no latencies.
    pub fn t_io_uring(&self, program: &Path, on: &Path, depth: u32) -> Result<f64, Failure> {
        let mut command = Command::new(program);
        command.args(["-b4096", "-c32", "-s32", "-p0", "-F1", "-B1", "-n1", "-O1"]);
        command.arg(format!("-d{depth}")).arg(format!("-r{}", self.seconds)).arg(on);
        let (text, _) = finish(command)?;
        let text = String::from_utf8_lossy(&text);
        let told = text.lines().filter_map(|line| line.strip_prefix("IOPS="));
        let rates: Option<Vec<f64>> = told.map(|rest| thousands(rest.split(',').next()?)).collect();
        let rates = rates.filter(|rates| !rates.is_empty()).ok_or("t/io_uring told no rate")?;
        Ok(rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// A random read of 4 KiB through fio. `engine` is fio's name, `more` further options.
    pub fn fio(&self, engine: &str, depth: u32, more: &[String]) -> Result<Sample, Failure> {
        let mut command = Command::new("fio");
        command.args(["--name=bench-engine", "--rw=randread", "--bs=4k", "--time_based"]);
        command.args(["--output-format=json", "--readonly", "--lat_percentiles=1"]);
        command.arg(format!("--ioengine={engine}"));
        command.arg(format!("--iodepth={depth}"));
        command.arg(format!("--runtime={}", self.seconds)).args(more);
        let (text, used) = finish(command)?;
        of_fio(&process::fio_json(&text)?, &used)
    }
}

/// A number as `t/io_uring` prints it: `383K`, `1.25M`.
fn thousands(text: &str) -> Option<f64> {
    let (digits, factor) = match (text.strip_suffix('K'), text.strip_suffix('M')) {
        (Some(digits), _) => (digits, 1e3),
        (None, Some(digits)) => (digits, 1e6),
        (None, None) => (text, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * factor)
}

/// Runs `seekwell bench` with `--json`: its document, and what it used.
fn measured(mut command: Command) -> Result<(RunDocument, Used), Failure> {
    // Runs of a benchmark of the program are not the user's runs.
    let kept = tempfile::tempdir()?;
    command.arg("--json").env("XDG_DATA_HOME", kept.path());
    let (text, used) = finish(command)?;
    Ok((seekwell_runs::read::run(&text, Path::new("seekwell bench --json"))?, used))
}

fn of_seekwell(run: &RunDocument, used: &Used) -> Result<Sample, Failure> {
    let phase = run.phases.first().ok_or("seekwell measured no phase")?;
    let (mut requests, mut own, mut own_user) = (0.0, 0.0, 0.0);
    for repeat in &phase.repeats {
        requests += repeat.ops.get("read").map_or(0, |op| op.requests) as f64;
        own_user += repeat.cpu_user_ns.0 as f64;
        own += (repeat.cpu_user_ns + repeat.cpu_system_ns).0 as f64;
    }
    if requests == 0.0 {
        return Err("seekwell completed no read".into());
    }
    let median = |name: &str| {
        phase.median(name).ok_or_else(|| format!("seekwell gave no {name} for {}", phase.name))
    };
    Ok(Sample {
        iops: median("read.requests_per_s")?,
        process_cpu_ns: (used.user_ns + used.system_ns) / requests,
        process_user_ns: used.user_ns / requests,
        own_cpu_ns: own / requests,
        own_user_ns: own_user / requests,
        latency_ns_p50: median("read.latency_ns_p50")?,
        latency_ns_p99: median("read.latency_ns_p99")?,
        after_submit_ns_p50: None,
        peak_bytes: used.peak_bytes,
    })
}

fn of_fio(json: &Value, used: &Used) -> Result<Sample, Failure> {
    let job = &json["jobs"][0];
    let number = |value: &Value, name: &str| {
        value.as_f64().ok_or_else(|| format!("fio's JSON has no number {name}"))
    };
    if job["error"].as_i64() != Some(0) {
        return Err(format!("fio failed with error {}", job["error"]).into());
    }
    let read = &job["read"];
    let requests = number(&read["total_ios"], "total_ios")?;
    // Its shares are per cent of the job's own running time.
    let span_ns = number(&job["job_runtime"], "job_runtime")? * 1e6;
    let user = number(&job["usr_cpu"], "usr_cpu")? / 100.0 * span_ns;
    let system = number(&job["sys_cpu"], "sys_cpu")? / 100.0 * span_ns;
    let percentile = |p: &str| number(&read["lat_ns"]["percentile"][p], p);
    Ok(Sample {
        iops: number(&read["iops"], "iops")?,
        process_cpu_ns: (used.user_ns + used.system_ns) / requests,
        process_user_ns: used.user_ns / requests,
        own_cpu_ns: (user + system) / requests,
        own_user_ns: user / requests,
        latency_ns_p50: percentile("50.000000")?,
        latency_ns_p99: percentile("99.000000")?,
        after_submit_ns_p50: read["clat_ns"]["percentile"]["50.000000"].as_f64(),
        peak_bytes: used.peak_bytes,
    })
}

fn finish(command: Command) -> Result<(Vec<u8>, Used), Failure> {
    finish_fed(command, |_| Ok(()))
}

/// The same with what is written into its standard input.
pub fn finish_fed(
    mut command: Command,
    feed: impl FnOnce(ChildStdin) -> Result<(), Failure>,
) -> Result<(Vec<u8>, Used), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or(&name).to_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{name} could not be started: {e}"))?;
    // Read stderr beside stdout: a full pipe must not stop the program.
    let mut errors = child.stderr.take().ok_or("no stderr")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    // Where it does not take all of it, its status says why.
    let fed = feed(child.stdin.take().ok_or("no stdin")?);
    let mut text = Vec::new();
    child.stdout.take().ok_or("no stdout")?.read_to_end(&mut text)?;
    let (status, used) = wait(child.id())?;
    let errors = reader.join().unwrap_or_default();
    if status != 0 {
        let last = errors.trim().lines().last().unwrap_or("").to_owned();
        return Err(format!("{name} failed (wait status {status:#x}): {last}").into());
    }
    fed.map(|()| (text, used))
}

fn wait(pid: u32) -> Result<(i32, Used), Failure> {
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the right type.
        let got = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
        if got == pid as i32 {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error.into());
        }
    }
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    let used = Used {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        peak_bytes: usage.ru_maxrss as f64 * 1024.0,
    };
    Ok((status, used))
}

/// A path as one word of a shell.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
