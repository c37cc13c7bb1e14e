//! The columns of a line as blkparse prints them by default, with the format
//! `%D %2c %8s %5T.%9t %5p %2a %3d`.
//!
//! Up to the process every field has its place unless a number is too wide for it. Where the places
//! are known, the fields need not be found one behind the other, which is most of the work. The
//! sequence is of no use and is not looked at.

use crate::formats::digits::{column, count, value, word};
use seekwell_io::units::Nanos;

/// Where columns end: the major and the minor number, the CPU, the sequence, the seconds, their
/// fraction.
const MAJOR: usize = 3;
const MINOR: usize = 7;
const CPU: usize = 10;
const SEQUENCE: usize = 19;
const SECONDS: usize = 25;
const FRACTION: usize = 35;
/// Where the process begins, its usual width and the most that is read here.
const PID: usize = 36;
const PID_WIDTH: usize = 5;
const PID_MOST: usize = 8;
/// The shortest end of a line: action, letters and what follows.
const REST: usize = 9;

/// The part of a line that all actions share.
pub(super) struct Head<'a> {
    pub device: &'a [u8],
    pub cpu: u16,
    pub at: Nanos,
    pub pid: u32,
    pub action: &'a [u8],
    pub letters: &'a [u8],
    /// Bytes up to what follows.
    pub len: usize,
}

/// The part that all actions share; `None` if a column is not in its place.
#[inline(always)]
pub(super) fn head(line: &[u8]) -> Option<Head<'_>> {
    let fixed: &[u8; PID + PID_MOST + REST] = line.first_chunk()?;
    let ends = [MINOR, CPU, SEQUENCE, FRACTION].iter().all(|at| fixed[*at] == b' ');
    if !ends || fixed[MAJOR] != b',' || fixed[SECONDS] != b'.' {
        return None;
    }
    let seconds = column(fixed, SECONDS, SECONDS - SEQUENCE - 1)?;
    let end = pid_end(fixed);
    let pid = column(fixed, end, end - PID)?;
    let shown = |byte: u8| byte > b' ';
    let action = match fixed[end..end + 4] {
        [b' ', b' ', a, b' '] if shown(a) => &line[end + 2..end + 3],
        [b' ', a, b, b' '] if shown(a) && shown(b) => &line[end + 1..end + 3],
        _ => return None,
    };
    let start = match fixed[end + 4..end + 8] {
        [b' ', b' ', a, b' '] if shown(a) => end + 6,
        [b' ', a, b, b' '] if shown(a) && shown(b) => end + 5,
        [a, b, c, b' '] if shown(a) && shown(b) && shown(c) => end + 4,
        _ => return None,
    };
    Some(Head {
        device: &fixed[..MINOR + 1],
        cpu: column(fixed, CPU, 2)? as u16,
        at: Nanos(seconds * 1_000_000_000 + fraction(fixed)?),
        pid: pid as u32,
        action,
        letters: &fixed[start..end + 7],
        len: end + 8,
    })
}

/// Nanoseconds of nine digits.
#[inline(always)]
fn fraction(fixed: &[u8]) -> Option<u64> {
    let first = fixed[SECONDS + 1].wrapping_sub(b'0');
    let rest = word(fixed, FRACTION - 8);
    let all = first < 10 && count(rest) == 8;
    all.then(|| u64::from(first) * 100_000_000 + value(rest, 8))
}

/// Behind the process, which is wider than usual where its number is.
#[inline(always)]
fn pid_end(fixed: &[u8]) -> usize {
    let usual = PID + PID_WIDTH;
    let more = fixed[usual..PID + PID_MOST].iter().take_while(|b| b.is_ascii_digit());
    usual + more.count()
}
