//! What inspection looks at only on request: a log in a file, and the disk itself.

use crate::context::Context;
use crate::exit::CommandError;
use seekwell_inspect::log::{LogError, LogReport, LogSource, read};
use seekwell_inspect::probe::{SgIo, probe};
use seekwell_inspect::{Device, Fact, Inspection};
use seekwell_sys::KMSG;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// A log from a file, or from standard input for `-`.
///
/// # Errors
/// When it cannot be read.
pub fn log_of(path: &Path) -> Result<LogReport, LogError> {
    if path == Path::new("-") {
        return read(LogSource::Stream("standard input", &mut std::io::stdin().lock()), None);
    }
    // An endless device would be read forever; the kernel's own is not one.
    let kind = path.metadata().map(|m| m.file_type());
    if kind.is_ok_and(|kind| kind.is_char_device()) && path != Path::new(KMSG) {
        let source = std::io::Error::other("it is a character device and not a log");
        return Err(LogError::File { path: path.to_path_buf(), source });
    }
    read(LogSource::File(path.to_path_buf()), None)
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
