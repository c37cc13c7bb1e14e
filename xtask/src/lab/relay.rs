//! One TCP connection of a guest, which QEMU hands to a program's standard input, and a socket.
//!
//! QEMU would connect to the socket itself as it starts, and a server does not wait for a guest to
//! boot.

use crate::Failure;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
#[group(id = "lab_relay")]
pub struct Args {
    /// The socket.
    socket: PathBuf,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut to = UnixStream::connect(&args.socket)?;
    let mut from = to.try_clone()?;
    let answers = std::thread::spawn(move || copy(&mut from, &mut io::stdout()));
    copy(&mut io::stdin(), &mut to)?;
    to.shutdown(Shutdown::Write)?;
    answers.join().map_err(|_| "the answers could not be passed on")??;
    Ok(ExitCode::SUCCESS)
}

/// As it comes: standard output would hold back what does not end a line.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..n])?;
        to.flush()?;
    }
}

/// What QEMU runs for each connection.
pub fn command(program: &Path, socket: &Path) -> String {
    format!("{} lab-relay {}", program.display(), socket.display())
}
