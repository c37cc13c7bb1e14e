//! Names that say which process something temporary belongs to.
//!
//! A process id alone is not enough, because ids are reused. Together with the start time of the
//! process (proc(5), field 22 of `stat`) it is unique until the machine restarts.

use seekwell_sys::{Live, View, ViewError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

/// What a name says: `seekwell-PID-START-RANDOM`, the last as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub pid: u32,
    /// In clock ticks after the machine started.
    pub start_ticks: u64,
}

/// Something temporary in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TempKind {
    /// `.seekwell-PID-START-RANDOM.tmp`
    File,
    /// `.seekwell-suite-PID-START-RANDOM`
    Dir,
}

/// A unique name of this process that cannot be guessed: `seekwell-PID-START-RANDOM`.
///
/// # Errors
/// When `/proc` does not show this process.
pub fn owned_name() -> Result<String, ViewError> {
    Ok(format!("seekwell-{}", middle()?))
}

/// Whether [`owned_name`] made this name in a process that is gone.
pub fn is_left_behind(name: &str) -> bool {
    let owner = name.strip_prefix("seekwell-").and_then(owner);
    owner.is_some_and(|owner| is_gone(&Live::system(), owner))
}

/// A name for a temporary file or directory of this process.
pub(crate) fn fresh(kind: TempKind) -> Result<String, ViewError> {
    let middle = middle()?;
    Ok(match kind {
        TempKind::File => format!(".seekwell-{middle}.tmp"),
        TempKind::Dir => format!(".seekwell-suite-{middle}"),
    })
}

fn middle() -> Result<String, ViewError> {
    let start = start_ticks(&Live::system(), "self")?;
    Ok(format!("{}-{start}-{}", std::process::id(), random()))
}

/// 16 hexadecimal digits that cannot be guessed.
pub(crate) fn random() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Whether this is what [`random`] gives.
pub(crate) fn is_random(text: &[u8]) -> bool {
    text.len() == 16 && text.iter().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(c))
}

/// Reads a name back. Only what [`fresh`] can have made is ours.
pub(crate) fn parse(name: &str) -> Option<(TempKind, Owner)> {
    if let Some(middle) = name.strip_prefix(".seekwell-suite-") {
        return Some((TempKind::Dir, owner(middle)?));
    }
    let middle = name.strip_prefix(".seekwell-")?.strip_suffix(".tmp")?;
    Some((TempKind::File, owner(middle)?))
}

fn owner(middle: &str) -> Option<Owner> {
    let mut parts = middle.split('-');
    let (pid, start, random) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !is_random(random.as_bytes()) {
        return None;
    }
    Some(Owner { pid: u32::try_from(decimal(pid)?).ok()?, start_ticks: decimal(start)? })
}

/// A decimal number as the formatter writes it: no sign, no leading zero.
fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn start_ticks(view: &dyn View, pid: &str) -> Result<u64, ViewError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text = view.text(&path)?;
    // The command name, in parentheses, may hold anything; the last one closes it.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    fields.and_then(|mut fields| fields.nth(19)?.parse().ok()).ok_or_else(|| ViewError::Malformed {
        path,
        expected: "a stat line of a process",
        found: text.chars().take(80).collect(),
    })
}

/// Whether the process is certainly gone. When in doubt it is not.
pub(crate) fn is_gone(view: &dyn View, owner: Owner) -> bool {
    match start_ticks(view, &owner.pid.to_string()) {
        Ok(start) => start != owner.start_ticks,
        // Without our own entry this is not a proc that shows processes.
        Err(ViewError::Absent { .. }) => start_ticks(view, "self").is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_name_is_read_back_as_this_process() {
        let view = Live::system();
        for kind in [TempKind::File, TempKind::Dir] {
            let name = fresh(kind).unwrap();
            let (found, owner) = parse(&name).unwrap();
            assert_eq!((found, owner.pid), (kind, std::process::id()));
            assert!(!is_gone(&view, owner));
            assert!(is_gone(&view, Owner { start_ticks: owner.start_ticks + 1, ..owner }));
            assert_ne!(fresh(kind).unwrap(), name);
        }
    }

    #[test]
    fn only_names_of_dead_processes_are_left_behind() {
        assert!(!is_left_behind(&owned_name().unwrap()));
        // No process has the largest number, and the first did not start in tick 7 of 2^60.
        assert!(is_left_behind("seekwell-4294967295-7-0123456789abcdef"));
        assert!(is_left_behind("seekwell-1-1152921504606846976-0123456789abcdef"));
        for other in ["other", "seekwell-", "seekwell-1", "seekwell-1-7", "seekwell-1-7-mine"] {
            assert!(!is_left_behind(other), "{other}");
        }
    }

    #[test]
    fn names_that_only_look_alike_are_not_ours() {
        assert!(parse(".seekwell-12-345-0123456789abcdef.tmp").is_some());
        for other in [
            "seekwell-12-345-0123456789abcdef.tmp",
            ".seekwell-12-345-0123456789abcdef.tmp.bak",
            ".seekwell-12-345-0123456789ABCDEF.tmp",
            ".seekwell-12-345-0123456789abcde.tmp",
            ".seekwell-+12-345-0123456789abcdef.tmp",
            ".seekwell-012-345-0123456789abcdef.tmp",
            ".seekwell-12-345-6-0123456789abcdef.tmp",
            ".seekwell--345-0123456789abcdef.tmp",
            ".seekwell-99999999999-345-0123456789abcdef.tmp",
            ".seekwell-12-0123456789abcdef.tmp",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn without_a_view_of_processes_nobody_is_gone() {
        let nothing = tempfile::tempdir().unwrap();
        let view = Live::rooted(nothing.path());
        assert!(!is_gone(&view, Owner { pid: 1, start_ticks: 0 }));
    }
}
