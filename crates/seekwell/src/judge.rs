//! From what inspection saw to what is wrong: the kernel log, the pass-through probe and the rules.

use crate::context::Context;
use crate::exit::CommandError;
use seekwell_explain::{Observed, findings, incidents};
use seekwell_inspect::log::{Incident, LogError, LogReport, Source, read};
use seekwell_inspect::probe::{SgIo, probe};
use seekwell_inspect::{Device, Fact, Finding, Inspection, Missing};
use seekwell_sys::{KMSG, View};
use serde::Serialize;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// An inspection with what follows from it.
#[derive(Serialize)]
pub struct Judged {
    /// The facts.
    #[serde(flatten)]
    pub inspection: Inspection,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What the kernel log says happened to the disks below the target.
    pub incidents: Vec<Incident>,
}

/// Applies the rules to an inspection, the log of its machine, and the same targets `before`,
/// against which error counters are judged.
pub fn judge(inspection: Inspection, log: Option<&LogReport>, before: &[Inspection]) -> Judged {
    let disk = |i: &Inspection| i.device.as_ref().map(|d| (d.serial.clone(), d.name.clone()));
    let same = |earlier: &&Inspection| match (disk(&inspection), disk(earlier)) {
        (Some((Some(now), _)), Some((Some(then), _))) => now.value == then.value,
        (Some((None, now)), Some((None, then))) => now == then,
        _ => false,
    };
    let earlier = before.iter().find(same);
    let input = Observed { log, earlier, ..Observed::new(&inspection) };
    let findings = findings(&input);
    let incidents = incidents(&input).into_iter().cloned().collect();
    Judged { inspection, findings, incidents }
}

/// The running kernel's log; where it cannot be read, `missing` hears why.
pub fn live_log(view: &dyn View, missing: &mut Vec<Missing>) -> Option<LogReport> {
    match read(Source::Live, Some(view)) {
        Ok(report) => Some(report),
        Err(error) => {
            missing.push(Missing {
                what: "what the kernel said of the disk".into(),
                from: KMSG.into(),
                reason: error.to_string(),
            });
            None
        }
    }
}

/// A log from a file, or from standard input for `-`.
///
/// # Errors
/// When it cannot be read.
pub fn log_of(path: &Path) -> Result<LogReport, LogError> {
    if path == Path::new("-") {
        return read(Source::Stream("standard input", &mut std::io::stdin().lock()), None);
    }
    // An endless device would be read for ever; the kernel's own is not one.
    let kind = path.metadata().map(|m| m.file_type());
    if kind.is_ok_and(|kind| kind.is_char_device()) && path != Path::new(KMSG) {
        let source = std::io::Error::other("it is a character device and not a log");
        return Err(LogError::File { path: path.to_path_buf(), source });
    }
    read(Source::File(path.to_path_buf()), None)
}

/// Asks every ATA disk below the target what it accepts, and files the answers with the facts.
///
/// # Errors
/// When this user may not ask.
pub fn ask(inspection: &mut Inspection, context: &Context) -> Result<(), CommandError> {
    inspection.device.as_mut().map_or(Ok(()), |device| ask_device(device, context))
}

fn ask_device(device: &mut Device, context: &Context) -> Result<(), CommandError> {
    device.below.iter_mut().try_for_each(|below| ask_device(below, context))?;
    let ata = device.detail.ata.is_some() || device.detail.identify.is_some();
    if !device.below.is_empty() || !ata {
        return Ok(());
    }
    let node = format!("/dev/{}", device.name);
    let mut disk = SgIo::open(&node)?;
    match probe(&mut disk) {
        Ok(answers) => device.detail.probe = Some(Fact::new(answers, format!("SG_IO on {node}"))),
        Err(seekwell_inspect::probe::ProbeError::NotScsi { .. }) => {
            context.note(&format!("{node} takes no ATA commands"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
