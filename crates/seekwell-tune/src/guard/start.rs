//! Bringing a guard into the world.

use super::protocol::{Report, receive};
use rustix::fs::MemfdFlags;
use seekwell_access::by_descriptor;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a guard that was started has said.
pub(crate) enum Started {
    /// It has done what it was to do, or put it back.
    Told(Report),
    /// It ended without a word.
    Lost,
    /// It works longer than anything should take.
    Silent(io::Error),
}

/// Starts a guard on a journal that was begun, and waits for its report. `lock` is the disk's; the
/// guard holds it from then on.
///
/// # Errors
/// When no process can be started; nothing was changed then.
pub(crate) fn start(
    program: &Path,
    journal: &Path,
    lock: &File,
    limit: Duration,
) -> io::Result<Started> {
    let (ours, theirs) = UnixStream::pair()?;
    let copy = in_memory(program);
    let executable = match &copy {
        Ok(copy) => by_descriptor(copy),
        // Kernels that forbid executable memory files run it from where it is.
        Err(_) => program.to_path_buf(),
    };
    let child = Command::new(executable)
        .arg("tune-guard")
        .arg(journal)
        .current_dir("/")
        .stdin(Stdio::from(lock.try_clone()?))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()?;
    // It outlives this program on purpose, and is never waited for.
    drop(child);
    drop(copy);
    let mut ours = ours;
    ours.set_read_timeout(Some(limit))?;
    match receive::<Report>(&mut ours) {
        Ok(report) => {
            // Without this word the guard puts everything back at once.
            let applied = matches!(report, Report::Applied { .. });
            if applied && ours.write_all(b"k").is_err() {
                return Ok(Started::Lost);
            }
            Ok(Started::Told(report))
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Started::Lost),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Started::Lost),
        Err(error) => Ok(Started::Silent(error)),
    }
}

/// A copy of the program that no disk is needed to read.
fn in_memory(program: &Path) -> io::Result<File> {
    let mut from = File::open(program)?;
    let make = |flags| rustix::fs::memfd_create("seekwell-guard", flags);
    // Kernels before 6.3 do not know the flag that says that it will be executed.
    let fd = make(MemfdFlags::CLOEXEC | MemfdFlags::EXEC).or_else(|_| make(MemfdFlags::CLOEXEC))?;
    let mut copy = File::from(fd);
    io::copy(&mut from, &mut copy)?;
    copy.rewind()?;
    // Open for writing, it could not be executed.
    File::open(by_descriptor(&copy))
}
