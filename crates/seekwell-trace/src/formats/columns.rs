//! Formats whose lines are a row of columns: each declares its columns, and one reader parses them.
//!
//! The columns are constants of a type, so the compiler makes a parser of its own for each format,
//! as fast as one written by hand.

use super::format::{Certainty, Format, Holds, Opened, Reader, Sample, Step};
use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, Separator, TextSource, Wrong, blocks, flag_empty, length};
use super::time_unit::TimeUnit;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Clock, Tables};
use memchr::memrchr2;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// 1970-01-01 in ticks of 100 ns since 1601-01-01.
pub const UNIX_EPOCH_TICKS: u64 = 116_444_736_000_000_000;
/// One such tick.
pub const TICK_NS: u64 = 100;

/// Times as whole seconds or parts of them are too coarse to replay from here on.
const COARSE_NS: u64 = 1_000_000_000;

/// A format made of columns.
pub trait Table: 'static {
    /// What it is.
    const FORMAT: Format;
    /// What its times count from.
    const CLOCK: Clock;
    /// What stands between columns.
    const SEPARATOR: Separator = Separator::Comma;
    /// Its first line.
    const HEADER: Header = Header::None;
    /// Its columns, from left to right; at most [`MOST_COLUMNS`].
    const COLUMNS: &'static [Column];
}

/// A line of column names.
#[derive(Clone, Copy)]
pub enum Header {
    None,
    /// Lines that begin like this are passed over.
    Optional(&'static [u8]),
    /// The first line is exactly this one.
    Required {
        line: &'static [u8],
        /// What is needed, for the error.
        expected: &'static str,
    },
}

/// The unit of a time.
#[derive(Clone, Copy)]
pub enum Time {
    /// A unit of ten to the power of `places` nanoseconds, with any decimals.
    Decimal {
        /// What is expected, for the error.
        expected: &'static str,
        /// The power of ten.
        places: usize,
    },
    /// Ticks of 100 ns since 1601. Tools that do not know the date count them from 0 instead.
    Ticks,
}

/// The unit of an offset or a length.
#[derive(Clone, Copy)]
pub enum Unit {
    Bytes,
    /// Blocks of 512 bytes.
    Blocks,
}

/// The words of a column and what they mean.
#[derive(Clone, Copy)]
pub struct Words<T: 'static> {
    /// What is expected, for the error.
    pub expected: &'static str,
    /// Each word with its meaning; upper and lower case are the same.
    pub words: &'static [(&'static [u8], T)],
}

/// Flags by name, joined with `+` in the last column.
pub(super) const FLAGS: Words<Flags> = Words {
    expected: "names of flags",
    words: &[
        (b"sync", Flags::SYNC),
        (b"fua", Flags::FUA),
        (b"preflush", Flags::PREFLUSH),
        (b"meta", Flags::META),
        (b"readahead", Flags::READ_AHEAD),
        (b"hit", Flags::CACHE_HIT),
        (b"other", Flags::OTHER),
        (b"secure", Flags::SECURE),
        (b"bio", Flags::BIO),
        (b"request", Flags::REQUEST),
    ],
};

/// `R` and `W`.
pub const R_OR_W: Words<Option<Op>> =
    Words { expected: "R or W", words: &[(b"R", Some(Op::Read)), (b"W", Some(Op::Write))] };

/// What a column holds.
#[derive(Clone, Copy)]
pub enum Column {
    /// When the request arrived.
    Arrival(Time),
    /// One of its times, or nothing.
    Stamp(Step),
    /// From its arrival, which stands before, to its completion. It may be blank.
    Response(Time),
    /// From its issue to its completion, where one request was issued after the other.
    Service(Time),
    /// From its completion to the issue of the next one.
    Think(Time),
    /// The operation; a word for none means that it is not known, and then there may be no range.
    Op(Words<Option<Op>>),
    /// Hexadecimal flags, of which bit 0 means a read and its absence a write.
    ReadBit,
    Offset(Unit),
    Length(Unit),
    /// The name of the device, in quotes if it has to be.
    Device,
    /// Two columns that name the device together, with what goes between them.
    DevicePair(&'static str),
    /// No column: all requests go to this device.
    OnlyDevice(&'static [u8]),
    Pid,
    /// The name of the process, in quotes if it has to be.
    Process,
    /// The name of the process, with any blanks in it, before this many more columns.
    ProcessBefore(usize),
    Cpu,
    Error,
    /// Words for flags, joined with `+`.
    Flags(Words<Flags>),
    /// A column that says nothing about the request.
    Ignored,
    /// Any number of further columns, which say nothing about the request.
    Rest,
    /// Nothing: a further column is an error.
    End(&'static str),
}

/// No format has more columns.
pub const MOST_COLUMNS: usize = 12;

/// A format of these columns that is only read.
pub(super) const fn format<T: Table>(
    name: &'static str,
    description: &'static str,
    holds: Holds,
    unit: Option<TimeUnit>,
) -> Format {
    Format {
        name,
        description,
        holds,
        reader: Reader::Stream(open::<T>),
        writer: None,
        ending: None,
        looks_like: looks_like::<T>,
        locate: None,
        unit,
    }
}

/// Reads a format made of columns.
///
/// # Errors
/// None.
pub fn open<T: Table>(input: Input) -> Opened {
    const { assert!(T::COLUMNS.len() <= MOST_COLUMNS) }
    let holds = T::FORMAT.holds;
    let mut about = About::new(T::FORMAT.name, T::CLOCK, holds.capture());
    about.unix_ns_at_zero = (T::CLOCK == Clock::Unix).then_some(0);
    about.time_step_ns = (holds.step_ns >= COARSE_NS).then_some(holds.step_ns);
    Ok(Box::new(TextSource::new(input, Rows::<T>::new(), about)))
}

/// How certain the beginning of a file is: whether one of its first lines can be parsed whole.
pub fn looks_like<T: Table>(sample: &Sample<'_>) -> Option<Certainty> {
    sample.by_lines(is_row::<T>)
}

/// Whether a line can be parsed whole.
pub fn is_row<T: Table>(line: &[u8]) -> bool {
    let mut about = About::new(T::FORMAT.name, T::CLOCK, T::FORMAT.holds.capture());
    let mut tables = Tables::default();
    let rest = Rows::<T>::new().row(line, &mut about, &mut tables).map(|(_, rest)| rest);
    rest.is_ok_and(|rest| rest.is_over())
}

/// A reader of rows, with what it has to remember from one to the next.
struct Rows<T> {
    devices: Names,
    processes: Names,
    has_begun: bool,
    /// Ticks that are time zero, once the first row showed which.
    zero_ticks: Option<u64>,
    /// When the next request is issued, in traces of one at a time.
    next_issue_ns: u64,
    table: std::marker::PhantomData<fn() -> T>,
}

impl<T: Table> Rows<T> {
    fn new() -> Self {
        Self {
            devices: Names::default(),
            processes: Names::default(),
            has_begun: false,
            zero_ticks: None,
            next_issue_ns: 0,
            table: std::marker::PhantomData,
        }
    }

    #[inline(always)]
    fn is_header(&mut self, line: &[u8]) -> Result<bool, Wrong> {
        match T::HEADER {
            Header::None => Ok(false),
            Header::Optional(prefix) => Ok(line.starts_with(prefix)),
            Header::Required { .. } if self.has_begun => Ok(false),
            Header::Required { line: wanted, expected } => {
                self.has_begun = line == wanted;
                if self.has_begun { Ok(true) } else { Err(Wrong::new(expected, line)) }
            }
        }
    }

    /// The record of a line, and what is left of the line.
    #[inline(always)]
    fn row<'a>(
        &mut self,
        line: &'a [u8],
        about: &mut About,
        tables: &mut Tables,
    ) -> Result<(Record, Fields<'a>), Wrong> {
        // Not one structure: only what no call is handed stays in registers.
        let (mut fields, mut record) =
            (Fields::new(line, T::SEPARATOR), Record::new(Op::Read, 0, 0));
        let mut row = Row { line, about, tables };
        self.column::<0>(&mut fields, &mut record, &mut row)?;
        self.column::<1>(&mut fields, &mut record, &mut row)?;
        self.column::<2>(&mut fields, &mut record, &mut row)?;
        self.column::<3>(&mut fields, &mut record, &mut row)?;
        self.column::<4>(&mut fields, &mut record, &mut row)?;
        self.column::<5>(&mut fields, &mut record, &mut row)?;
        self.column::<6>(&mut fields, &mut record, &mut row)?;
        self.column::<7>(&mut fields, &mut record, &mut row)?;
        self.column::<8>(&mut fields, &mut record, &mut row)?;
        self.column::<9>(&mut fields, &mut record, &mut row)?;
        self.column::<10>(&mut fields, &mut record, &mut row)?;
        self.column::<11>(&mut fields, &mut record, &mut row)?;
        Ok((record, fields))
    }

    /// Parses column `N`. What the column is, is known when this is compiled.
    #[inline(always)]
    fn column<const N: usize>(
        &mut self,
        fields: &mut Fields<'_>,
        record: &mut Record,
        row: &mut Row<'_>,
    ) -> Result<(), Wrong> {
        let Some(column) = (const { nth(T::COLUMNS, N) }) else { return Ok(()) };
        match column {
            Column::Arrival(time) => {
                let at = match time {
                    Time::Decimal { expected, places } => fields.scaled(expected, places)?,
                    Time::Ticks => self.ticks(fields, row)?,
                };
                record.queued = Stamp::at(Nanos(at));
            }
            Column::Stamp(step) => stamp(fields, record, step)?,
            Column::Response(time) => response(fields, record, time)?,
            Column::Service(time) => {
                let service = duration(fields, time)?;
                let done = self.next_issue_ns.checked_add(service);
                let done = done.ok_or_else(|| Wrong::new("shorter times", row.line))?;
                record.issued = Stamp::at(Nanos(self.next_issue_ns));
                record.completed = Stamp::at(Nanos(done));
            }
            Column::Think(time) => {
                let think = duration(fields, time)?;
                let done = record.completed.get().map_or(0, |done| done.0);
                let next = done.checked_add(think);
                self.next_issue_ns = next.ok_or_else(|| Wrong::new("shorter times", row.line))?;
            }
            Column::Op(words) => match words.meaning(fields.text())? {
                Some(op) => record.op = op,
                None => record.flags = record.flags | Flags::OTHER,
            },
            Column::ReadBit => record.op = read_bit(fields.text())?,
            Column::Offset(unit) => {
                record.offset = range(
                    fields,
                    record.flags,
                    unit,
                    "an offset in bytes",
                    "an offset in blocks of 512 bytes",
                )?;
            }
            Column::Length(unit) => {
                let len = range(
                    fields,
                    record.flags,
                    unit,
                    "a length in bytes",
                    "a length in blocks of 512 bytes",
                )?;
                record.len = length(len)?;
            }
            Column::Device => {
                record.device = self.devices.device(&fields.quoted()?, row.tables)?;
            }
            Column::DevicePair(between) => {
                let pair = fields.text_pair();
                record.device = self.devices.device_as(pair, row.tables, |name| {
                    name.replacen(T::SEPARATOR.character(), between, 1)
                })?;
            }
            Column::OnlyDevice(name) => {
                record.device = self.devices.device(name, row.tables)?;
            }
            Column::Pid => record.pid = fields.number_u32("a process number")?,
            Column::Process => {
                record.process = self.processes.process(&fields.quoted()?, row.tables)?;
            }
            Column::ProcessBefore(columns) => {
                let (name, rest) = split_before(fields.rest(), columns)?;
                record.process = self.processes.process(name, row.tables)?;
                *fields = Fields::new(rest, T::SEPARATOR);
            }
            Column::Cpu => record.cpu = fields.number_u16("a CPU number")?,
            Column::Error => record.error = fields.number_u16("an error number")?,
            Column::Flags(words) => {
                let all = fields.text();
                for word in all.split(|&b| b == b'+').filter(|word| !word.is_empty()) {
                    record.flags = record.flags | words.meaning(word)?;
                }
            }
            Column::Ignored => _ = fields.text(),
            Column::Rest => *fields = Fields::new(b"", T::SEPARATOR),
            Column::End(expected) => {
                if !fields.is_over() {
                    return Err(Wrong::new(expected, row.line));
                }
            }
        }
        Ok(())
    }

    /// Nanoseconds since time zero.
    #[inline(always)]
    fn ticks(&mut self, fields: &mut Fields<'_>, row: &mut Row<'_>) -> Result<u64, Wrong> {
        let ticks = fields.number("a time in ticks of 100 ns since 1601")?;
        let zero = match self.zero_ticks {
            Some(zero) => zero,
            None => *self.zero_ticks.insert(zero_of(ticks, row.about)),
        };
        let since = ticks.checked_sub(zero).and_then(|t| t.checked_mul(TICK_NS));
        since.ok_or_else(|| Wrong::new("a time after 1970", row.line))
    }
}

/// Ticks that are time zero, by those of the first request.
#[cold]
fn zero_of(first_ticks: u64, about: &mut About) -> u64 {
    if first_ticks >= UNIX_EPOCH_TICKS {
        return UNIX_EPOCH_TICKS;
    }
    about.clock = Clock::Start;
    about.unix_ns_at_zero = None;
    0
}

impl<T: Copy> Words<T> {
    /// What a word means.
    #[inline(always)]
    pub fn meaning(self, word: &[u8]) -> Result<T, Wrong> {
        match self.words.iter().find(|(known, _)| *known == word) {
            Some((_, meaning)) => Ok(*meaning),
            None => self.in_any_case(word),
        }
    }

    #[cold]
    fn in_any_case(self, word: &[u8]) -> Result<T, Wrong> {
        let found = self.words.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| Wrong::new(self.expected, word))
    }
}

/// A line, and what its trace knows so far.
struct Row<'a> {
    line: &'a [u8],
    about: &'a mut About,
    tables: &'a mut Tables,
}

#[inline(always)]
fn duration(fields: &mut Fields<'_>, time: Time) -> Result<u64, Wrong> {
    match time {
        Time::Decimal { expected, places } => fields.scaled(expected, places),
        Time::Ticks => {
            let before = fields.rest();
            let ticks = fields.number("a response time in ticks of 100 ns")?;
            ticks.checked_mul(TICK_NS).ok_or_else(|| Wrong::new("a shorter response time", before))
        }
    }
}

#[inline(always)]
fn response(fields: &mut Fields<'_>, record: &mut Record, time: Time) -> Result<(), Wrong> {
    if fields.is_blank() {
        fields.text();
        return Ok(());
    }
    let before = fields.rest();
    let response = duration(fields, time)?;
    let done = record.queued.get().and_then(|at| at.0.checked_add(response));
    let done = done.ok_or_else(|| Wrong::new("a shorter response time", before))?;
    record.completed = Stamp::at(Nanos(done));
    Ok(())
}

#[inline(always)]
fn stamp(fields: &mut Fields<'_>, record: &mut Record, step: Step) -> Result<(), Wrong> {
    if fields.is_blank() {
        fields.text();
        return Ok(());
    }
    let at = Stamp::at(Nanos(fields.number("a time in nanoseconds")?));
    match step {
        Step::Queued => record.queued = at,
        Step::Issued => record.issued = at,
        Step::Completed => record.completed = at,
    }
    Ok(())
}

/// An offset or a length in bytes.
#[inline(always)]
fn range(
    fields: &mut Fields<'_>,
    flags: Flags,
    unit: Unit,
    in_bytes: &'static str,
    in_blocks: &'static str,
) -> Result<u64, Wrong> {
    if flags.has(Flags::OTHER) && fields.is_blank() {
        fields.text();
        return Ok(0);
    }
    match unit {
        Unit::Bytes => fields.number(in_bytes),
        Unit::Blocks => blocks(fields.number(in_blocks)?, in_blocks),
    }
}

const fn nth(columns: &[Column], n: usize) -> Option<Column> {
    if n < columns.len() { Some(columns[n]) } else { None }
}

fn read_bit(flags: &[u8]) -> Result<Op, Wrong> {
    let hex = std::str::from_utf8(flags).ok();
    let bits = hex
        .and_then(|hex| u64::from_str_radix(hex.strip_prefix("0x").unwrap_or(hex), 16).ok())
        .ok_or_else(|| Wrong::new("flags in hexadecimal", flags))?;
    Ok(if bits & 1 == 0 { Op::Write } else { Op::Read })
}

/// A name that may contain blanks, and the columns behind it.
fn split_before(rest: &[u8], columns: usize) -> Result<(&[u8], &[u8]), Wrong> {
    let mut end = rest.trim_ascii_end().len();
    for _ in 0..columns {
        let blank = memrchr2(b' ', b'\t', &rest[..end]);
        let blank =
            blank.ok_or_else(|| Wrong::new("a process name and all columns after it", rest))?;
        end = rest[..blank].trim_ascii_end().len();
    }
    Ok((&rest[..end], &rest[end..]))
}

impl<T: Table> LineFormat for Rows<T> {
    const NAME: &'static str = T::FORMAT.name;

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if self.is_header(line)? {
            return Ok(());
        }
        let (record, _) = self.row(line, about, tables)?;
        out.push(flag_empty(record));
        Ok(())
    }
}
