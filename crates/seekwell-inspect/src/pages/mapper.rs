//! Tables and status of device-mapper devices by ioctl (`linux/dm-ioctl.h`), as lines of
//! `START LENGTH KIND PARAMETERS`, lengths in sectors of 512 bytes.
//!
//! A table can hold keys: the kernel gives those of dm-crypt and dm-integrity in clear. They are
//! taken out here, before anything else sees the text, and parameters of a target whose form is not
//! known are left out altogether.

use rustix::fs::{Mode, OFlags};
use seekwell_sys::DevId;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// `_IOWR(0xfd, 12, struct dm_ioctl)`.
const TABLE_STATUS: libc::Ioctl = 0xc138_fd0c_u32 as libc::Ioctl;
const HEADER: usize = 312;
const TARGET: usize = 40;
/// A longer table is an error.
const LONGEST: usize = 1 << 20;

/// `DM_STATUS_TABLE_FLAG`.
const AS_TABLE: u32 = 1 << 4;
/// `DM_BUFFER_FULL_FLAG`.
const FULL: u32 = 1 << 8;
/// `DM_NOFLUSH_FLAG`: a pool is not made to commit its metadata first.
const NO_FLUSH: u32 = 1 << 11;
/// `DM_SECURE_DATA_FLAG`: the kernel wipes its copy.
const SECURE: u32 = 1 << 15;

/// What a device is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// How it is built.
    Table,
    /// What state it is in.
    Status,
}

/// Asks the device mapper behind `control` about a device.
///
/// # Errors
/// As the kernel answers; [`io::ErrorKind::NotFound`] where no such mapping exists.
pub(super) fn ask(control: &Path, dev: DevId, ask: Ask) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let control = rustix::fs::open(control, flags, Mode::empty())?;
    let mut size = 16 << 10;
    loop {
        let mut data = request(dev, ask, size);
        // SAFETY: the buffer begins with a header laid out as in linux/dm-ioctl.h that gives its
        // whole length, which the kernel does not write beyond; it lives until the call returns.
        let status = unsafe { libc::ioctl(control.as_raw_fd(), TABLE_STATUS, data.as_mut_ptr()) };
        if status != 0 {
            let error = io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::ENXIO) => io::ErrorKind::NotFound.into(),
                _ => error,
            });
        }
        let is_full = word(&data, 28).is_some_and(|flags| flags & FULL != 0);
        let text = lines(&data, ask);
        data.fill(0);
        if !is_full {
            return Ok(text.into_bytes());
        }
        size *= 4;
        if size > LONGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
}

/// `struct dm_ioctl` and room for the answer.
fn request(dev: DevId, ask: Ask, size: usize) -> Vec<u8> {
    let mut data = vec![0; size];
    let flags = match ask {
        Ask::Table => AS_TABLE | SECURE,
        Ask::Status => NO_FLUSH,
    };
    let words = [(0, 4), (12, size as u32), (16, HEADER as u32), (28, flags)];
    for (at, value) in words {
        data[at..at + 4].copy_from_slice(&u32::to_ne_bytes(value));
    }
    data[40..48].copy_from_slice(&huge_encode(dev).to_ne_bytes());
    data
}

/// As `huge_encode_dev` of the kernel.
fn huge_encode(dev: DevId) -> u64 {
    let (major, minor) = (u64::from(dev.major), u64::from(dev.minor));
    minor & 0xff | major << 8 | (minor & !0xff) << 12
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

fn double(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(data.get(at..at + 8)?.try_into().ok()?))
}

/// The targets of an answer, a line each.
fn lines(data: &[u8], ask: Ask) -> String {
    let start = word(data, 16).unwrap_or(0) as usize;
    let count = word(data, 20).unwrap_or(0) as usize;
    let body = data.get(start..).unwrap_or_default();
    let mut out = String::new();
    let mut at = 0;
    for _ in 0..count.min(body.len() / TARGET) {
        let Some(line) = target(body, at, ask) else { break };
        out += &line;
        at = word(body, at + 20).unwrap_or(0) as usize;
    }
    out
}

/// `struct dm_target_spec` and the text behind it.
fn target(body: &[u8], at: usize, ask: Ask) -> Option<String> {
    let (start, length) = (double(body, at)?, double(body, at + 8)?);
    let kind = until_nul(body.get(at + 24..at + TARGET)?);
    let parameters = until_nul(body.get(at + TARGET..)?);
    let shown = match ask {
        Ask::Table => without_keys(&kind, &parameters),
        Ask::Status => parameters,
    };
    Some(format!("{start} {length} {kind} {shown}\n"))
}

fn until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|b| *b == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).replace('\n', " ")
}

/// The parameters of a table's target, without what must stay secret.
fn without_keys(kind: &str, parameters: &str) -> String {
    const OPEN: [&str; 12] = [
        "cache",
        "era",
        "linear",
        "mirror",
        "raid",
        "snapshot",
        "snapshot-merge",
        "snapshot-origin",
        "striped",
        "thin",
        "thin-pool",
        "writecache",
    ];
    let words = parameters.split(' ');
    match kind {
        "crypt" => {
            let hidden = words.enumerate().map(|(n, word)| if n == 1 { "-" } else { word });
            hidden.collect::<Vec<_>>().join(" ")
        }
        // Its options name algorithms together with their keys.
        "integrity" => words.take(4).collect::<Vec<_>>().join(" "),
        kind if OPEN.contains(&kind) => parameters.to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer as the kernel lays it out.
    fn answer(targets: &[(&str, &str)]) -> Vec<u8> {
        let mut data = vec![0; HEADER];
        data[16..20].copy_from_slice(&(HEADER as u32).to_ne_bytes());
        data[20..24].copy_from_slice(&(targets.len() as u32).to_ne_bytes());
        for (n, (kind, text)) in targets.iter().enumerate() {
            let begin = data.len();
            let end = (begin + TARGET + text.len() + 1).next_multiple_of(8);
            data.resize(end, 0);
            data[begin..begin + 8].copy_from_slice(&(n as u64 * 8).to_ne_bytes());
            data[begin + 8..begin + 16].copy_from_slice(&8_u64.to_ne_bytes());
            data[begin + 20..begin + 24].copy_from_slice(&((end - HEADER) as u32).to_ne_bytes());
            data[begin + 24..begin + 24 + kind.len()].copy_from_slice(kind.as_bytes());
            let text_at = begin + TARGET;
            data[text_at..text_at + text.len()].copy_from_slice(text.as_bytes());
        }
        data
    }

    #[test]
    fn an_answer_becomes_a_line_for_each_target() {
        let data = answer(&[("linear", "8:0 2048"), ("striped", "2 128 8:0 0 8:16 0")]);
        let text = lines(&data, Ask::Table);
        assert_eq!(text, "0 8 linear 8:0 2048\n8 8 striped 2 128 8:0 0 8:16 0\n");
        for cut in 0..data.len() {
            lines(&data[..cut], Ask::Table);
        }
    }

    #[test]
    fn keys_never_leave_a_table() {
        let crypt = "aes-xts-plain64 0123456789abcdef 0 8:0 2048 1 allow_discards";
        let integrity = "8:0 0 - J 2 internal_hash:hmac(sha256):00ff journal_crypt:ctr(aes):11ee";
        let other = "aes 0123456789abcdef 8:0";
        let data = answer(&[("crypt", crypt), ("integrity", integrity), ("default-key", other)]);
        let text = lines(&data, Ask::Table);
        for key in ["0123456789abcdef", "00ff", "11ee"] {
            assert!(!text.contains(key), "{text}");
        }
        assert!(text.contains("crypt aes-xts-plain64 - 0 8:0 2048 1 allow_discards"), "{text}");
        assert!(text.contains("integrity 8:0 0 - J\n"), "{text}");
    }

    #[test]
    fn a_device_is_named_as_the_kernel_encodes_it() {
        assert_eq!(huge_encode(DevId { major: 253, minor: 3 }), 253 << 8 | 3);
        assert_eq!(huge_encode(DevId { major: 253, minor: 300 }), 253 << 8 | 44 | 256 << 12);
    }
}
