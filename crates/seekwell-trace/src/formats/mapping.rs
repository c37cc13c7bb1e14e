//! Tables whose columns have names, as other programs write them: which column holds what, and how
//! its cells become a record. CSV and Parquet are read through it.

use super::columns::{FLAGS, Words};
use super::names::Names;
use super::text::{Wrong, flag_empty, length};
use super::time_unit::TimeUnit;
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::str::FromStr;

/// What a column holds of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    Time,
    Issued,
    Completed,
    Response,
    Offset,
    Length,
    Op,
    Device,
    Pid,
    Process,
    Cpu,
    Error,
    Flags,
}

/// Each with its word in `--columns` and the name that our own column of it has.
const FIELDS: [(Holding, &str, &str); 13] = [
    (Holding::Time, "time", "queued_ns"),
    (Holding::Issued, "issued", "issued_ns"),
    (Holding::Completed, "completed", "completed_ns"),
    (Holding::Response, "response", "response_ns"),
    (Holding::Offset, "offset", "offset_bytes"),
    (Holding::Length, "length", "length_bytes"),
    (Holding::Op, "op", "op"),
    (Holding::Device, "device", "device"),
    (Holding::Pid, "pid", "pid"),
    (Holding::Process, "process", "process"),
    (Holding::Cpu, "cpu", "cpu"),
    (Holding::Error, "error", "error"),
    (Holding::Flags, "flags", "flags"),
];
/// Without these a row is no request.
const NEEDED: [Holding; 3] = [Holding::Offset, Holding::Length, Holding::Op];

const OPS: Words<Option<Op>> = Words {
    expected: "an operation: read, write, flush or discard, its first letter, or 0 to 3",
    words: &[
        (b"read", Some(Op::Read)),
        (b"write", Some(Op::Write)),
        (b"flush", Some(Op::Flush)),
        (b"discard", Some(Op::Discard)),
        (b"trim", Some(Op::Discard)),
        (b"r", Some(Op::Read)),
        (b"w", Some(Op::Write)),
        (b"f", Some(Op::Flush)),
        (b"d", Some(Op::Discard)),
        (b"0", Some(Op::Read)),
        (b"1", Some(Op::Write)),
        (b"2", Some(Op::Flush)),
        (b"3", Some(Op::Discard)),
        (b"", None),
    ],
};

/// Which column holds what, `time=ts*us,offset=lba*512`; what it does not name is looked for under
/// the names of our own columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping(Vec<Mapped>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mapped {
    holding: Holding,
    column: String,
    factor: Option<u64>,
}

/// A column as its table has it: what it holds, and what its numbers are multiplied by, where the
/// mapping says it.
pub(super) type Cell = (Holding, Option<u64>);

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all: Vec<Mapped> = Vec::new();
        for part in text.split(',') {
            let known = |word: &str| FIELDS.iter().find(|(_, name, _)| *name == word.trim());
            let (field, column) = part
                .split_once('=')
                .and_then(|(field, column)| Some((known(field)?, column.trim())))
                .filter(|(_, column)| !column.is_empty())
                .ok_or_else(|| {
                    let names = FIELDS.map(|(_, name, _)| name).join(", ");
                    format!("{part:?}: FIELD=COLUMN or FIELD=COLUMN*UNIT is needed ({names})")
                })?;
            let factor = |text: &str| {
                let unit = text.parse().map(TimeUnit::ns);
                unit.ok().or_else(|| text.parse().ok().filter(|n| *n > 0))
            };
            let scaled = column.rsplit_once('*').and_then(|(name, n)| Some((name, factor(n)?)));
            let (column, factor) = scaled.map_or((column, None), |(name, n)| (name, Some(n)));
            if all.iter().any(|mapped| mapped.holding == field.0) {
                return Err(format!("{} is given twice", field.1));
            }
            all.push(Mapped { holding: field.0, column: column.to_owned(), factor });
        }
        Ok(Self(all))
    }
}

impl Mapping {
    /// Whether all columns are called by their numbers.
    pub(super) fn is_by_number(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|mapped| mapped.column.parse::<usize>().is_ok())
    }

    /// What each of these columns holds; `None` if it says nothing of a request.
    ///
    /// # Errors
    /// [`TraceError::NoColumn`].
    pub(super) fn of(
        &self,
        format: &'static str,
        columns: &[&str],
    ) -> Result<Vec<Option<Cell>>, TraceError> {
        let mut cells = vec![None; columns.len()];
        for (holding, field, own) in FIELDS {
            let mapped = self.0.iter().find(|mapped| mapped.holding == holding);
            let name = mapped.map_or(own, |mapped| mapped.column.as_str());
            let at = columns.iter().position(|column| *column == name);
            match at.filter(|at| cells[*at].is_none()) {
                Some(at) => cells[at] = Some((holding, mapped.and_then(|mapped| mapped.factor))),
                None if mapped.is_none() && !NEEDED.contains(&holding) => {}
                None => {
                    let (name, found) = (name.to_owned(), shown(columns));
                    return Err(TraceError::NoColumn { format, field, name, found });
                }
            }
        }
        Ok(cells)
    }
}

fn shown(columns: &[&str]) -> String {
    let all = columns.join(", ");
    match all.char_indices().nth(200) {
        Some((cut, _)) => format!("{}…", &all[..cut]),
        None => all,
    }
}

/// What is known of a table with these columns.
pub(super) fn about(format: &str, cells: &[Option<Cell>], clock: Clock) -> About {
    let has = |holding| cells.iter().flatten().any(|(held, _)| *held == holding);
    let capture = match (has(Holding::Time), has(Holding::Issued)) {
        (true, true) => Capture::Both,
        (false, true) => Capture::Issue,
        (_, false) => Capture::Queue,
    };
    let mut about = About::new(format, clock, capture);
    about.unix_ns_at_zero = (clock == Clock::Unix).then_some(0);
    about
}

/// Makes a record of the cells of a row.
pub(super) struct Row {
    devices: Names,
    processes: Names,
    is_numbered: bool,
}

impl Row {
    /// `is_numbered` where devices and processes are numbers in lists that the file has.
    pub fn new(is_numbered: bool) -> Self {
        Self { devices: Names::default(), processes: Names::default(), is_numbered }
    }

    /// The record; `cells` are those that hold something, with their texts.
    ///
    /// # Errors
    /// What is wrong with a cell.
    pub fn record<'a>(
        &mut self,
        cells: impl Iterator<Item = (Cell, &'a [u8])>,
        tables: &mut Tables,
    ) -> Result<Record, Wrong> {
        let mut record = Record::new(Op::Read, 0, 0);
        let (mut response, mut has_device) = (None, false);
        for ((holding, factor), text) in cells {
            let number = |what: &'static str| match text {
                b"" => Ok(0),
                _ => scaled(text, factor.unwrap_or(1)).ok_or_else(|| Wrong::new(what, text)),
            };
            let time = || match text {
                b"" => Ok(Stamp::NONE),
                _ => Ok(Stamp::at(Nanos(number("a time of zero or more")?))),
            };
            match holding {
                Holding::Time => record.queued = time()?,
                Holding::Issued => record.issued = time()?,
                Holding::Completed => record.completed = time()?,
                Holding::Response => response = time()?.get(),
                Holding::Offset => record.offset = number("an offset of zero or more")?,
                Holding::Length => record.len = length(number("a length of zero or more")?)?,
                Holding::Op => match OPS.meaning(text)? {
                    Some(op) => record.op = op,
                    None => record.flags = record.flags | Flags::OTHER,
                },
                Holding::Device => {
                    has_device = true;
                    record.device = self.device(text, tables)?;
                }
                Holding::Pid => record.pid = below(number("a process number")?, text)?,
                Holding::Process => record.process = self.process(text, tables)?,
                Holding::Cpu => record.cpu = below(number("a CPU number")?, text)?,
                Holding::Error => record.error = below(number("an error number")?, text)?,
                Holding::Flags => record.flags = record.flags | flags(text)?,
            }
        }
        if !has_device {
            record.device = self.devices.device(b"disk", tables)?;
        }
        if let (Some(at), Some(response)) = (record.queued.get(), response) {
            record.completed = Stamp::at(Nanos(at.0.saturating_add(response.0)));
        }
        Ok(flag_empty(record))
    }

    fn device(&mut self, text: &[u8], tables: &mut Tables) -> Result<u32, Wrong> {
        if !self.is_numbered {
            return self.devices.device(text, tables);
        }
        let number = scaled(text, 1).filter(|n| (*n as usize) < tables.devices.len());
        number.map(|n| n as u32).ok_or_else(|| Wrong::new("a device that the file names", text))
    }

    fn process(&mut self, text: &[u8], tables: &mut Tables) -> Result<u32, Wrong> {
        match scaled(text, 1) {
            Some(0) => Ok(0),
            Some(n) if self.is_numbered && (n as usize) < tables.processes.len() => Ok(n as u32),
            _ => self.processes.process(text, tables),
        }
    }
}

fn below<T: TryFrom<u64>>(number: u64, text: &[u8]) -> Result<T, Wrong> {
    T::try_from(number).map_err(|_| Wrong::new("a smaller number", text))
}

/// The words of our own text, or their number in the store.
fn flags(text: &[u8]) -> Result<Flags, Wrong> {
    if let Some(bits) = scaled(text, 1) {
        return below(bits, text).map(Flags);
    }
    let words = text.split(|&b| b == b'+').filter(|word| !word.is_empty());
    words.map(|word| FLAGS.meaning(word)).try_fold(Flags(0), |all, flag| Ok(all | flag?))
}

/// A number of zero or more, with decimals or an exponent, times a factor, to the nearest whole.
fn scaled(text: &[u8], factor: u64) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        let number: f64 = text.parse().ok()?;
        let product = (number * factor as f64).round();
        return (0.0..=9e18).contains(&product).then_some(product as u64);
    }
    let fraction = &fraction[..fraction.len().min(15)];
    let scale = 10_u128.pow(fraction.len() as u32);
    let parts = (u128::from(whole.parse::<u64>().ok()?), fraction.parse::<u128>().unwrap_or(0));
    let product = (parts.0 * scale + parts.1).checked_mul(u128::from(factor))?;
    u64::try_from((product + scale / 2) / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_exactly_and_to_the_nearest_whole() {
        assert_eq!(scaled(b"1.000000001", 1_000_000_000), Some(1_000_000_001));
        assert_eq!(scaled(b"0.30000000000000004", 1_000_000_000), Some(300_000_000));
        assert_eq!(scaled(b"18446744073709551615", 1), Some(u64::MAX));
        assert_eq!(scaled(b"1.5e3", 512), Some(768_000));
        assert_eq!(scaled(b"4096.0", 1), Some(4096));
        for bad in ["-1", "x", "", "nan", "1e30", "36893488147419103232", "18446744073709551615"] {
            assert_eq!(scaled(bad.as_bytes(), 512), None, "{bad}");
        }
    }

    #[test]
    fn a_mapping_says_what_is_wrong_with_it() {
        let error = |text: &str| text.parse::<Mapping>().expect_err("is wrong");
        assert!(error("time").starts_with("\"time\": FIELD=COLUMN or FIELD=COLUMN*UNIT"));
        assert!(error("when=ts").contains("(time, issued, completed, "));
        assert_eq!(error("time=a,time=b"), "time is given twice");
        let mapping: Mapping = "time=ts*us,offset=lba*512,length=a*b,op=rw".parse().expect("reads");
        let columns = ["ts", "lba", "a*b", "rw", "note"];
        let cells = mapping.of("csv", &columns).expect("all are there");
        assert_eq!(cells[0], Some((Holding::Time, Some(1000))));
        assert_eq!(cells[1], Some((Holding::Offset, Some(512))));
        assert_eq!((cells[2], cells[4]), (Some((Holding::Length, None)), None));
        let missing = mapping.of("csv", &columns[1..]).expect_err("no time");
        assert_eq!(
            missing.to_string(),
            "csv: there is no column \"ts\" for the time of a request, only lba, a*b, rw, note; \
             say which it is with --columns time=NAME"
        );
    }
}
