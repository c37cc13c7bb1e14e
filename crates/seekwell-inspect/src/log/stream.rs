//! Lines out of a stream of bytes.

use super::assemble::Assembler;
use super::catalogue;
use super::facts;
use super::map::Names;
use super::matcher::automaton;
use super::record::Record;
use super::report::LogReport;
use super::stamp::Stamp;
use aho_corasick::AhoCorasick;
use memchr::{memchr, memmem};
use seekwell_sys::View;
use std::io::{self, Read};
use std::sync::OnceLock;

/// The most that is read of one line, in bytes: a kernel's record has 1 KiB, an entry of the
/// journal a few.
pub const MAX_LINE: usize = 64 << 10;

/// How many lines from the top the kernel's first line may be.
const TOP: u64 = 100;

/// How much is read at once.
const CHUNK: usize = 256 << 10;

/// Takes a kernel log in, in pieces of any size, and says what it adds up to.
///
/// A watcher makes one for each stretch of new lines.
#[derive(Default)]
pub struct Collector {
    assembler: Assembler,
    pending: Option<Record>,
    lines: u64,
    cut: u64,
    first: Option<Stamp>,
    /// The first record's number in the ring buffer.
    first_seq: Option<u64>,
    banner_on_top: bool,
    /// The latest line with a message, for its time.
    tail: Vec<u8>,
    /// The start of a line whose end has not come.
    rest: Vec<u8>,
    /// The line in `rest` is over its bound; its tail is passed over.
    over: bool,
    lost: bool,
}

impl Collector {
    /// With the device tree of the machine the log is of, when it is this one's or was saved with
    /// it; without, disks are known from the log alone.
    pub fn new(view: Option<&dyn View>) -> Self {
        Self { assembler: Assembler::new(Names::new(view)), ..Self::default() }
    }

    /// Reads to the end of a stream, in bounded memory.
    ///
    /// # Errors
    /// Those of reading, except for being interrupted.
    pub fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => self.push(&chunk[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.end();
        Ok(())
    }

    /// Takes a piece of the log in; lines may be split anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.rest.is_empty() && !self.over {
                self.line(line);
            } else {
                self.keep(line);
                let whole = std::mem::take(&mut self.rest);
                self.over = false;
                self.line(&whole);
            }
            bytes = rest;
        }
        self.keep(bytes);
    }

    /// The log is at its end: a last line without a line end counts.
    pub fn end(&mut self) {
        if !self.rest.is_empty() {
            let whole = std::mem::take(&mut self.rest);
            self.over = false;
            self.line(&whole);
        }
        self.flush();
    }

    pub(crate) fn lost_lines(&mut self) {
        self.lost = true;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.rest.len().min(MAX_LINE);
        if bytes.len() > room && !self.over {
            self.over = true;
            self.cut += 1;
        }
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let line = if line.len() > MAX_LINE {
            self.cut += 1;
            &line[..MAX_LINE]
        } else {
            line
        };
        if let Some(record) = &mut self.pending
            && line.first() == Some(&b' ')
            && record.note(line)
        {
            return;
        }
        self.flush();
        if self.lines <= TOP && memmem::find(line, b"Linux version ").is_some() {
            self.banner_on_top = true;
        }
        if line.first().is_some_and(|b| *b != b' ') {
            self.tail.clear();
            self.tail.extend_from_slice(line);
        }
        let wanted = words().is_match(line) || is_bytes(line);
        if self.first.is_some() && !wanted {
            return;
        }
        let Some(record) = Record::parse(line) else { return };
        if self.first.is_none() && record.time.order().is_some() {
            self.first = Some(record.time);
            self.first_seq = record.seq;
        }
        if wanted {
            self.pending = Some(record);
        }
    }

    fn flush(&mut self) {
        if let Some(record) = self.pending.take() {
            self.assembler.take(&record);
        }
    }

    /// What it adds up to. `source` says where it was read from.
    pub fn report(mut self, source: &str) -> LogReport {
        self.end();
        let missing = match self.first_seq {
            Some(seq) => seq > 0,
            None => !self.banner_on_top,
        };
        let last = Record::parse(&self.tail).map(|r| r.time);
        let boots = self.assembler.boots;
        let (incidents, facts, left_out) = self.assembler.finish();
        LogReport {
            source: source.to_owned(),
            instead_of: None,
            lines: self.lines,
            cut: self.cut,
            boots,
            incomplete_since: self.first.filter(|_| missing || self.lost),
            first: self.first,
            last: last.filter(|t| t.order().is_some()),
            incidents,
            left_out,
            facts,
        }
    }
}

/// An entry of the journal whose message is given as a list of bytes, which hides its words.
fn is_bytes(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && memmem::find(line, b"\"MESSAGE\":[").is_some()
}

/// Every line that matters holds one of these; nearly every other line none.
fn words() -> &'static AhoCorasick {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words: Vec<&'static str> =
            catalogue::compiled().set.words().chain(facts::set().words()).collect();
        words.sort_unstable();
        words.dedup();
        automaton(&words)
    })
}
