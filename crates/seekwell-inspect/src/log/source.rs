//! Where the kernel log is kept.

use super::report::LogReport;
use super::stamp::Stamp;
use super::stream::Collector;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, Timespec, clock_gettime};
use seekwell_sys::{Class, KMSG, KmsgReader, KmsgRecord, View, classify};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the journal may take to answer.
const JOURNAL_TIME: Duration = Duration::from_secs(10);

pub enum LogSource<'a> {
    /// This machine's: the ring buffer, else the journal.
    Live,
    /// A file: records of `/dev/kmsg`, output of `dmesg` or `journalctl`, or a syslog file.
    File(PathBuf),
    /// Any stream of the same, under the name it is to be shown by.
    Stream(&'a str, &'a mut dyn Read),
}

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The kernel shows its log to root only, and the journal has none for this user either.
    #[error(
        "this user may not read the kernel log{}: {fix}; the journal: {journal}",
        restrict.map(|v| format!(" (kernel.dmesg_restrict is {v})")).unwrap_or_default()
    )]
    Denied {
        /// The value of `kernel.dmesg_restrict`, when it can be read.
        restrict: Option<u64>,
        fix: &'static str,
        journal: String,
    },
    /// The ring buffer could not be read for another reason, and the journal did not help.
    #[error("{} could not be read: {source}; the journal: {journal}", path.display())]
    Unreadable { path: PathBuf, source: io::Error, journal: String },
    #[error("{} could not be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{name} could not be read: {source}")]
    Stream { name: String, source: io::Error },
}

classify!(LogError {
    Refused: Denied, Unreadable, Stream;
    | Self::File { source, .. } => Class::of_file(source),
});

/// Reads a kernel log. `view` is the device tree of the machine it is of, or `None` when there is
/// none; without it, disks are known only from what the log itself says.
///
/// # Errors
/// [`LogError`] when there is nothing to read. What is wrong inside a log is no error.
pub fn read(source: LogSource<'_>, view: Option<&dyn View>) -> Result<LogReport, LogError> {
    match source {
        LogSource::Live => live(view),
        LogSource::File(path) => {
            let failed = |source| LogError::File { path: path.clone(), source };
            if path == Path::new(KMSG) {
                // Not a file: read like one it would wait for the next message forever.
                return ring_buffer(&path, view).map_err(failed);
            }
            let mut file = File::open(&path).map_err(failed)?;
            let mut collector = Collector::new(view);
            collector.read(&mut file).map_err(failed)?;
            Ok(collector.report(&path.display().to_string()))
        }
        LogSource::Stream(name, stream) => {
            let mut collector = Collector::new(view);
            let failed = |source| LogError::Stream { name: name.to_owned(), source };
            collector.read(stream).map_err(failed)?;
            Ok(collector.report(name))
        }
    }
}

const FIX: &str = "run as root, or let every user: sysctl -w kernel.dmesg_restrict=0";

fn live(view: Option<&dyn View>) -> Result<LogReport, LogError> {
    let error = match ring_buffer(Path::new(KMSG), view) {
        Ok(report) if report.incomplete_since.is_none() => return Ok(report),
        Ok(report) => return Ok(further_back(report, view)),
        Err(error) => error,
    };
    match journal(view) {
        Ok(mut report) => {
            report.instead_of = Some(format!("{KMSG}: {error}"));
            Ok(report)
        }
        Err(journal) if error.kind() == io::ErrorKind::PermissionDenied => {
            let setting = Path::new("/proc/sys/kernel/dmesg_restrict");
            let text = std::fs::read_to_string(setting).ok();
            Err(LogError::Denied {
                restrict: text.and_then(|t| t.trim().parse().ok()),
                fix: FIX,
                journal,
            })
        }
        Err(journal) => Err(LogError::Unreadable { path: KMSG.into(), source: error, journal }),
    }
}

/// The journal's report where it reaches back to the start and the ring buffer does not.
fn further_back(ring: LogReport, view: Option<&dyn View>) -> LogReport {
    match journal(view) {
        Ok(mut report) if report.incomplete_since.is_none() => {
            report.instead_of = Some(format!("{KMSG}: older lines were overwritten"));
            report
        }
        _ => ring,
    }
}

/// Reads every record the ring buffer holds now.
fn ring_buffer(path: &Path, view: Option<&dyn View>) -> io::Result<LogReport> {
    let mut reader = KmsgReader::open(path)?;
    let mut collector = Collector::new(view);
    while let Some(record) = reader.next_record()? {
        match record {
            KmsgRecord::Text(text) => collector.push(&text),
            KmsgRecord::Lost => collector.lost_lines(),
        }
    }
    let mut report = collector.report(KMSG);
    add_wall_clock(&mut report);
    Ok(report)
}

/// The ring buffer counts from boot. Good to the seconds the machine slept or its clock was set.
fn add_wall_clock(report: &mut LogReport) {
    let us = |t: Timespec| t.tv_sec * 1_000_000 + t.tv_nsec / 1000;
    let boot = us(clock_gettime(ClockId::Realtime)) - us(clock_gettime(ClockId::Monotonic));
    let set = |stamp: &mut Stamp| {
        let since = stamp.boot_us.and_then(|t| i64::try_from(t).ok());
        stamp.wall_us = stamp.wall_us.or(since.and_then(|t| t.checked_add(boot)));
    };
    for stamp in [&mut report.first, &mut report.last, &mut report.incomplete_since] {
        stamp.iter_mut().for_each(set);
    }
    for incident in &mut report.incidents {
        set(&mut incident.first);
        set(&mut incident.last);
        incident.recovered.iter_mut().for_each(set);
    }
}

/// The journal's kernel messages of this boot, or why they cannot be read.
fn journal(view: Option<&dyn View>) -> Result<LogReport, String> {
    let mut command = Command::new("journalctl");
    command.args(["-k", "-b", "-o", "json", "--no-pager", "--quiet"]);
    from_child(command, JOURNAL_TIME, view)
}

fn from_child(
    mut command: Command,
    time: Duration,
    view: Option<&dyn View>,
) -> Result<LogReport, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => Running(child),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(format!("{name} is not installed"));
        }
        Err(e) => return Err(format!("{name} could not be started: {e}")),
    };
    let Some(stdout) = child.0.stdout.take() else {
        return Err(format!("{name} gave no output"));
    };
    let mut timed = Timed { from: OwnedFd::from(stdout), until: Instant::now() + time };
    let mut collector = Collector::new(view);
    collector.read(&mut timed).map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => format!("{name} took more than {} s", time.as_secs()),
        _ => format!("{name} could not be read: {e}"),
    })?;
    let report = collector.report("the journal (journalctl -k -b)");
    if report.first.is_none() {
        return Err("it has no kernel messages of this boot that this user may read".to_owned());
    }
    Ok(report)
}

/// A child that does not outlive its reader.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for a child that is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads from a pipe until a moment.
struct Timed {
    from: OwnedFd,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        let wait = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&self.from, PollFlags::IN)];
        if poll(&mut fds, Some(&wait))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(rustix::io::read(&self.from, into)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, time: Duration) -> Result<LogReport, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        from_child(command, time, None)
    }

    #[test]
    fn a_journal_that_hangs_is_given_up_and_its_process_ended() {
        let start = Instant::now();
        let error = shell("echo x; exec sleep 100", Duration::from_millis(300));
        assert!(error.is_err_and(|e| e.contains("took more than")));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_journal_without_messages_or_program_says_so() {
        let long = Duration::from_secs(10);
        assert!(shell("exit 1", long).is_err_and(|e| e.contains("no kernel messages")));
        let missing = from_child(Command::new("/nonexistent/journalctl"), long, None);
        assert!(missing.is_err_and(|e| e.contains("not installed")));
    }

    #[test]
    fn entries_of_the_journal_become_incidents() {
        let entry = r#"{"MESSAGE":"ata1.00: NCQ disabled due to excessive errors",
            "_SOURCE_MONOTONIC_TIMESTAMP":"7","__REALTIME_TIMESTAMP":"8"}"#;
        let script = format!("echo '{}'", entry.replace('\n', ""));
        let report = shell(&script, Duration::from_secs(10)).expect("a report");
        assert_eq!(report.incidents[0].id.as_str(), "KL-003");
        assert_eq!(report.incidents[0].first, Stamp { boot_us: Some(7), wall_us: Some(8) });
    }

    #[test]
    fn a_refusal_names_the_setting_and_what_makes_the_log_readable() {
        let error = LogError::Denied { restrict: Some(1), fix: FIX, journal: "none".into() };
        let text = error.to_string();
        assert!(text.contains("kernel.dmesg_restrict is 1"), "{text}");
        assert!(text.contains("sysctl -w kernel.dmesg_restrict=0"), "{text}");
        let missing = ring_buffer(Path::new("/nonexistent/kmsg"), None).map(|r| r.lines);
        assert_eq!(missing.map_err(|e| e.kind()), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn the_live_log_is_read_or_its_absence_explained() {
        match read(LogSource::Live, None) {
            Ok(report) => {
                assert!(report.lines > 0);
                assert!(report.incidents.iter().all(|i| i.first.wall_us.is_some()));
            }
            Err(error) => assert!(error.to_string().contains("journal"), "{error}"),
        }
    }
}
