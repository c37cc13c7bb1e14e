//! What `--show` prints is what the run does.

use super::{Desk, logs};
use crate::common::Loop;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Bytes as `--show` prints them: `4 KiB`, or `1.2 MiB (1310720 bytes)`.
fn bytes(text: &str) -> u64 {
    if let Some((_, exact)) = text.split_once('(') {
        return exact.trim_end_matches(" bytes)").parse().unwrap();
    }
    let (number, unit) = text.split_once(' ').unwrap_or_else(|| panic!("{text:?}"));
    let power = ["B", "KiB", "MiB", "GiB"].iter().position(|u| *u == unit).unwrap();
    number.parse::<u64>().unwrap() << (10 * power)
}

/// The part of each file that `--show` says is used.
fn shown(text: &str) -> Vec<(u64, u64)> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("file "));
    let part = |line: &str| {
        let (place, does) = line.rsplit_once(": ").unwrap();
        assert!(does.starts_with("read ") || does.starts_with("write "), "{line}");
        match place.rsplit_once(" from ") {
            Some((_, part)) => {
                let (start, end) = part.split_once(" to ").unwrap();
                (bytes(start), bytes(end))
            }
            None => {
                let size = &place[place.find('(').unwrap() + 1..place.len() - 1];
                let size = size.trim_start_matches("temporary file of ");
                (0, bytes(size.trim_start_matches("block device, ")))
            }
        }
    };
    lines.map(part).collect()
}

/// The blocks of 4 KiB that were asked for, by the logs of each clone in a folder.
fn asked(folder: &Path) -> BTreeSet<u64> {
    let logs = super::common::names(folder).into_iter().filter(|n| n.ends_with("_lat.log"));
    let rows = logs.flat_map(|name| logs::rows(&folder.join(name)));
    rows.map(|row| row[4] / (4 * KIB)).collect()
}

/// --show once decided by rules of its own: it rounded offsets up where the run rounds them down,
/// and let regions reach beyond the end of a file.
#[test]
fn what_is_shown_is_what_the_run_uses() {
    let Some(desk) = Desk::new() else { return };
    let old = desk.runs.path().join("old");
    fs::write(&old, vec![7; MIB as usize + 512]).unwrap();
    let old = |options: &str| format!("filename={} {options}", old.display());
    let mut cases = vec![
        ("rw=write size=1m".to_owned(), vec![(0, MIB)]),
        ("rw=write size=1m offset=256k".to_owned(), vec![(256 * KIB, MIB + 256 * KIB)]),
        ("size=768k nrfiles=3".to_owned(), vec![(0, 256 * KIB); 3]),
        (
            "rw=write size=256k numjobs=3 filename=shared offset_increment=128k".to_owned(),
            vec![(0, 512 * KIB)],
        ),
        ("filesize=64k numjobs=2".to_owned(), vec![(0, 64 * KIB); 2]),
        (old("size=50%"), vec![(0, MIB / 2 + 256)]),
        (old("offset=25% size=25%"), vec![(256 * KIB, 512 * KIB + 128)]),
        (old("file_append=1 size=64k"), vec![(0, 64 * KIB)]),
    ];
    let disk = Loop::new(16 * MIB);
    for (options, start, end) in
        [("offset=1m size=2m", 1, 3), ("offset=50%", 8, 16), ("size=4m", 0, 4), ("", 0, 16)]
    {
        let Some(disk) = &disk else { break };
        let options = format!("filename={} {options}", disk.device);
        cases.push((options, vec![(start * MIB, end * MIB)]));
    }
    for (options, expected) in cases {
        let text = format!(
            "[a]\nbs=4k\nlog_offset=1\nper_job_logs=0\nwrite_lat_log=log\n{}\n",
            options.replace(' ', "\n")
        );
        let told = desk.bench(&text, &["--show"]);
        assert_eq!(shown(&told.out), expected, "{options}\n{}", told.out);
        let ran = desk.bench(&text, &["--json", "--no-keep", "--force"]);
        assert_eq!(ran.status, 0, "{options}: {}", ran.err);
        let blocks = expected.iter().flat_map(|(start, end)| start / (4 * KIB)..end / (4 * KIB));
        assert_eq!(asked(desk.dir()), blocks.collect::<BTreeSet<_>>(), "{options}");
    }
}

#[test]
fn what_cannot_be_laid_out_is_said_and_nothing_else_is() {
    let Some(desk) = Desk::new() else { return };
    let old = desk.runs.path().join("old");
    fs::write(&old, vec![7; MIB as usize]).unwrap();
    let of_old = format!("filename={}\nrw=read\n", old.display());
    for (text, words) in [
        ("rw=read\n".to_owned(), "how large"),
        (format!("{of_old}size=2m\n"), "has 1048576 bytes"),
        ("filename=/dev/loopzz\nsize=1m\n".to_owned(), "does not exist"),
        ("directory=/no/such\nsize=1m\n".to_owned(), "does not exist"),
    ] {
        let told = desk.bench(&format!("[a]\n{text}"), &["--show"]);
        assert_eq!(told.status, 0, "{text}: {}", told.err);
        assert!(told.out.contains("would be refused"), "{text}: {}", told.out);
        assert!(told.out.contains(words), "{text}: {}", told.out);
        assert_eq!(shown(&told.out), [], "{text}");
        let ran = desk.bench(&format!("[a]\n{text}"), &["--no-keep"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{text}: {}", ran.err);
        let why = told.out.rsplit_once("refused: ").unwrap().1.trim_end();
        assert!(ran.err.contains(why), "{text}: {} and {why}", ran.err);
    }
}
