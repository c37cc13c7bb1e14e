//! Names of runs: `20261120-231502-checkup-5f3a`.
//!
//! They sort by time, say what made them, and end in four random digits so that two started in one
//! second differ. An id is also a folder name, so what does not look like one is never joined to
//! a path.

use crate::document::RunKind;
use jiff::Timestamp;
use std::hash::{BuildHasher, RandomState};

impl RunKind {
    /// The name used in ids and documents: `checkup`, `bench`, `replay`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkup => "checkup",
            Self::Bench => "bench",
            Self::Replay => "replay",
        }
    }
}

/// A fresh id of what a command of this name makes. Whether it is free, only creating its folder
/// can tell.
pub fn fresh_id(command: &str, now: Timestamp) -> String {
    let random = RandomState::new().hash_one(()) as u16;
    format!("{}-{command}-{random:04x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// The ids that a name may mean: the beginning of one, or its last four digits.
pub fn ids_meant(name: &str, ids: &[String]) -> Vec<String> {
    let end = format!("-{name}");
    let means = |id: &&String| id.starts_with(name) || (name.len() == 4 && id.ends_with(&end));
    ids.iter().filter(|id| !name.is_empty() && means(id)).cloned().collect()
}

/// Whether this is the shape of an id: `DATE-TIME-KIND-HEX`, of lower-case letters, digits and `-`.
pub fn is_id(text: &str) -> bool {
    let digits = |part: &str, n| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let [date, time, kind @ .., hex] = parts.as_slice() else { return false };
    digits(date, 8)
        && digits(time, 6)
        && text.len() <= 64
        && !kind.is_empty()
        && kind.iter().all(|k| !k.is_empty() && k.bytes().all(|b| b.is_ascii_lowercase()))
        && hex.len() == 4
        && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The date and time of an id: what "newest" is decided by.
pub(crate) fn time_of(id: &str) -> &str {
    id.get(..15).unwrap_or(id)
}

/// The ids most like `wanted`, best first, at most three.
pub(crate) fn nearest(wanted: &str, ids: &[String]) -> Vec<String> {
    let mut ranked: Vec<(usize, &String)> =
        ids.iter().map(|id| (distance(wanted, id), id)).collect();
    // Of equally like ones the newest first.
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(a.1)));
    ranked.into_iter().take(3).map(|(_, id)| id.clone()).collect()
}

/// Levenshtein's distance. What is missing at the end of `wanted` costs nothing: it is a prefix.
fn distance(wanted: &str, id: &str) -> usize {
    let wanted: Vec<char> = wanted.chars().take(64).collect();
    let id: Vec<char> = id.chars().collect();
    let mut row: Vec<usize> = (0..=id.len()).collect();
    for (i, w) in wanted.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, c) in id.iter().enumerate() {
            let replaced = diagonal + usize::from(w != c);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row.into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_is_an_id_and_begins_with_the_time_in_utc() {
        let now: Timestamp = "2026-11-20T23:15:02Z".parse().unwrap();
        let id = fresh_id("checkup", now);
        assert!(id.starts_with("20261120-231502-checkup-"), "{id}");
        assert!(is_id(&id), "{id}");
        assert_eq!(time_of(&id), "20261120-231502");
    }

    #[test]
    fn what_could_leave_the_folder_is_not_an_id() {
        for bad in [
            "",
            "..",
            "last",
            "20261120-231502-../x-5f3a",
            "20261120-231502--5f3a",
            "20261120-231502-5f3a",
            "20261120-231502-checkup-5F3A",
            "20261120-231502-checkup-5f3a/",
            "2026112-2315020-checkup-5f3a",
        ] {
            assert!(!is_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_typing_error_finds_its_id_and_newer_ones_come_first() {
        let ids: Vec<String> = ["20261120-231502-checkup-5f3a", "20261121-231502-bench-0001"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(nearest("20261120-231520", &ids)[0], ids[0]);
        assert_eq!(nearest("20261121-23150x-bench", &ids)[0], ids[1]);
        assert_eq!(nearest("", &ids)[0], ids[1]);
    }
}
