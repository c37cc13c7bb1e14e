//! One line of the kernel log, whatever it was kept in.
//!
//! The ring buffer itself, `dmesg`, syslog and the journal each wrap the same message differently.
//! [`Record::parse`] takes a line of any of them; a file may mix them.

use super::stamp::{self, Stamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub time: Stamp,
    /// Syslog priority 0 to 7, when the log keeps it. Not to be trusted with I/O errors: some are
    /// printed as information.
    pub priority: Option<u8>,
    /// Sequence number in the ring buffer.
    pub seq: Option<u64>,
    /// The device the line was printed for, as the kernel tags it (`+scsi:0:0:0:0`, `c189:129`).
    pub device: Option<String>,
    /// The message, escapes undone; a message of several lines keeps its line ends.
    pub text: String,
}

impl Record {
    /// Reads one line, without its line end. `None` when it holds no message: an empty line, a
    /// dictionary line of `/dev/kmsg`, or a line of the journal that is not the kernel's.
    pub fn parse(line: &[u8]) -> Option<Self> {
        match line.first()? {
            b'0'..=b'9' => Self::kmsg(line).or_else(|| Self::text(line)),
            b'{' => Self::journal(line).unwrap_or_else(|| Self::text(line)),
            b' ' if dictionary(line).is_some() => None,
            _ => Self::text(line),
        }
    }

    /// `prio,seq,usec,flags;message`.
    fn kmsg(line: &[u8]) -> Option<Self> {
        let semicolon = line.iter().take(128).position(|b| *b == b';')?;
        let mut fields = std::str::from_utf8(&line[..semicolon]).ok()?.split(',');
        let prefix: u64 = fields.next()?.parse().ok()?;
        let seq = fields.next()?.parse().ok()?;
        let boot_us = fields.next()?.parse().ok()?;
        // The facility is above the lowest three bits.
        let priority = Some((prefix & 7) as u8);
        let mut lines = line[semicolon + 1..].split(|b| *b == b'\n');
        let text = unescape(lines.next().unwrap_or_default());
        let mut record = Self {
            time: Stamp { boot_us: Some(boot_us), wall_us: None },
            priority,
            seq: Some(seq),
            device: None,
            text,
        };
        for line in lines {
            record.note(line);
        }
        Some(record)
    }

    /// Takes over a dictionary line that followed the record: ` DEVICE=+pci:0000:00:1f.2`.
    /// Says whether it was one.
    pub(crate) fn note(&mut self, line: &[u8]) -> bool {
        let Some((key, value)) = dictionary(line) else { return false };
        if key == b"DEVICE" {
            self.device = Some(unescape(value));
        }
        true
    }

    /// One entry of `journalctl -o json`; `Some(None)` when it is not the kernel's.
    fn journal(line: &[u8]) -> Option<Option<Self>> {
        #[derive(Deserialize)]
        struct CatalogueEntry {
            #[serde(rename = "MESSAGE")]
            message: Message,
            #[serde(rename = "PRIORITY")]
            priority: Option<String>,
            #[serde(rename = "_TRANSPORT")]
            transport: Option<String>,
            #[serde(rename = "_SOURCE_MONOTONIC_TIMESTAMP")]
            source: Option<String>,
            #[serde(rename = "__MONOTONIC_TIMESTAMP")]
            monotonic: Option<String>,
            #[serde(rename = "__REALTIME_TIMESTAMP")]
            realtime: Option<String>,
            #[serde(rename = "_KERNEL_DEVICE")]
            device: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Message {
            Text(String),
            Bytes(Vec<u8>),
        }
        let entry: CatalogueEntry = serde_json::from_slice(line).ok()?;
        if entry.transport.is_some_and(|t| t != "kernel") {
            return Some(None);
        }
        let boot_us = entry.source.or(entry.monotonic).and_then(|t| t.parse().ok());
        let text = match entry.message {
            Message::Text(text) => text,
            Message::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        };
        Some(Some(Self {
            time: Stamp { boot_us, wall_us: entry.realtime.and_then(|t| t.parse().ok()) },
            priority: entry.priority.and_then(|p| p.parse().ok()),
            seq: None,
            device: entry.device,
            text,
        }))
    }

    /// A line of `dmesg` in any of its formats, of syslog or of `journalctl`, or a bare message.
    fn text(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let rest = line.trim_end_matches(['\r', '\0']);
        if rest.trim().is_empty() {
            return None;
        }
        let mut record = Self::default();
        let (rest, priority) = priority(rest);
        record.priority = priority;
        let rest = stamp::strip(rest, &mut record.time);
        record.text = rest.replace("#012", "\n");
        Some(record)
    }
}

/// `<6>` in front, or the facility and level of `dmesg -x`.
fn priority(line: &str) -> (&str, Option<u8>) {
    if let Some((number, rest)) = line.strip_prefix('<').and_then(|l| l.split_once('>'))
        && let Ok(number) = number.parse::<u32>()
    {
        return (rest, Some((number & 7) as u8));
    }
    if let Some((level, rest)) = line.strip_prefix("kern  :").and_then(|l| l.split_once(": ")) {
        const LEVELS: [&str; 8] =
            ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];
        let level = LEVELS.iter().position(|l| *l == level.trim());
        if let Some(level) = level {
            return (rest, Some(level as u8));
        }
    }
    (line, None)
}

/// ` KEY=value`.
fn dictionary(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = line.strip_prefix(b" ")?;
    let equals = inner.iter().take(64).position(|b| *b == b'=')?;
    let (key, value) = inner.split_at(equals);
    let upper = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    (!key.is_empty() && key.iter().all(upper)).then(|| (key, &value[1..]))
}

/// Undoes the kernel's `\xHH`, which stands for every byte that is not printable ASCII.
fn unescape(raw: &[u8]) -> String {
    if !raw.contains(&b'\\') {
        return String::from_utf8_lossy(raw).into_owned();
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut i = 0;
    while i < raw.len() {
        let digits = raw.get(i..i + 4).filter(|s| s.starts_with(b"\\x"));
        let byte = digits
            .and_then(|s| std::str::from_utf8(&s[2..]).ok())
            .and_then(|s| u8::from_str_radix(s, 16).ok());
        bytes.push(byte.unwrap_or(raw[i]));
        i += if byte.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Text of a log for showing: no control characters, and at most `most` characters.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let shown = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Record {
        Record::parse(line.as_bytes()).expect("a record")
    }

    #[test]
    fn a_kmsg_record_gives_its_fields_and_its_escapes_are_undone() {
        let mut r = parse("3,374,10043086,-;ata1.00: cmd 60/40 in\\x0a         res 40/00");
        assert_eq!(r.text, "ata1.00: cmd 60/40 in\n         res 40/00");
        assert_eq!((r.priority, r.seq, r.time.boot_us), (Some(3), Some(374), Some(10_043_086)));
        assert!(r.note(b" SUBSYSTEM=scsi") && r.note(b" DEVICE=+scsi:0:0:0:0"));
        assert_eq!(r.device.as_deref(), Some("+scsi:0:0:0:0"));
        assert!(!r.note(b"         res 40/00"));
        let whole = parse("30,1,2,c;x\n DEVICE=b8:0\n");
        assert_eq!((whole.priority, whole.device.as_deref()), (Some(6), Some("b8:0")));
    }

    #[test]
    fn an_escape_cut_short_is_left_as_it_is() {
        assert_eq!(parse("6,1,2,-;a\\x0").text, "a\\x0");
        assert_eq!(parse("6,1,2,-;a\\xzz\\x5cb").text, "a\\xzz\\b");
    }

    #[test]
    fn the_stamps_of_dmesg_syslog_and_the_journal_all_give_the_same_message() {
        let message = "ata1.00: failed command: READ DMA";
        for line in [
            "[   12.345678] ata1.00: failed command: READ DMA",
            "<3>[   12.345678] ata1.00: failed command: READ DMA",
            "kern  :err   : [   12.345678] ata1.00: failed command: READ DMA",
            "[   12.345678][  T123] ata1.00: failed command: READ DMA",
            "Nov 16 12:00:01 box kernel: [   12.345678] ata1.00: failed command: READ DMA",
            "2026-11-16T12:00:01+01:00 b kernel: [   12.345678] ata1.00: failed command: READ DMA",
            "[   12.345678] box kernel: ata1.00: failed command: READ DMA",
        ] {
            let r = parse(line);
            assert_eq!(r.text, message, "{line}");
            assert_eq!(r.time.boot_us, Some(12_345_678), "{line}");
        }
        for line in [
            "Nov 16 12:00:01 box kernel: ata1.00: failed command: READ DMA",
            "[Mon Nov 16 12:00:01 2026] ata1.00: failed command: READ DMA",
            "2026-11-16T12:00:01,5+01:00 ata1.00: failed command: READ DMA",
            "2026-11-16T12:00:01+0100 box kernel: ata1.00: failed command: READ DMA",
        ] {
            let r = parse(line);
            assert_eq!(r.text, message, "{line}");
            assert!(r.time.boot_us.is_none() && r.time.wall_us.is_some(), "{line}");
        }
        let bare = parse(message);
        assert_eq!((bare.text.as_str(), bare.time), (message, Stamp::default()));
    }

    #[test]
    fn wall_clock_times_are_the_right_second() {
        let at = |line: &str| parse(line).time.wall_us;
        assert_eq!(at("[Mon Nov 16 12:00:01 2026] x y"), Some(1_794_830_401_000_000));
        assert_eq!(at("2026-11-16T12:00:01.25+01:00 b kernel: x"), Some(1_794_826_801_250_000));
        assert_eq!(at("2026-11-16T12:00:01Z b kernel: x"), Some(1_794_830_401_000_000));
        let (a, b) = (at("Feb 29 23:59:59 b kernel: x"), at("Mar  1 00:00:00 b kernel: x"));
        assert_eq!(b.unwrap() - a.unwrap(), 1_000_000);
    }

    #[test]
    fn a_journal_entry_gives_message_times_and_device() {
        let r = parse(
            r#"{"_TRANSPORT":"kernel","MESSAGE":"ata1: EH complete\nx","PRIORITY":"6",
            "_SOURCE_MONOTONIC_TIMESTAMP":"42","__REALTIME_TIMESTAMP":"1794830401000000",
            "_KERNEL_DEVICE":"+scsi:0:0:0:0","_HOSTNAME":["a","b"]}"#,
        );
        assert_eq!(r.text, "ata1: EH complete\nx");
        assert_eq!((r.time.boot_us, r.time.wall_us), (Some(42), Some(1_794_830_401_000_000)));
        assert_eq!(r.device.as_deref(), Some("+scsi:0:0:0:0"));
        assert_eq!(parse(r#"{"MESSAGE":[97,98,255]}"#).text, "ab\u{fffd}");
        assert_eq!(Record::parse(br#"{"_TRANSPORT":"syslog","MESSAGE":"x"}"#), None);
    }

    #[test]
    fn lines_that_are_no_message_are_none() {
        for line in ["", "   ", " SUBSYSTEM=scsi", "\r"] {
            assert_eq!(Record::parse(line.as_bytes()), None, "{line:?}");
        }
    }
}
