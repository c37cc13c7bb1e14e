//! What all line-by-line formats share: fields, the source around a line's parser, the sink around
//! a line's writer.

use super::digits;
use super::input::{Input, Lines};
use super::output::Output;
use crate::error::{At, TraceError};
use crate::record::{Flags, Record};
use crate::source::{About, BATCH, Sink, Tables, TraceSource, Written};
use memchr::{memchr, memchr2};
use seekwell_io::request::Op;
use std::borrow::Cow;

/// What is wrong with a line: what was needed, and what stands there.
#[derive(Debug)]
pub struct Wrong {
    /// What was needed.
    pub what: &'static str,
    /// What stands there.
    pub found: String,
}

impl Wrong {
    /// Shows at most 40 bytes of what was found.
    #[cold]
    pub fn new(what: &'static str, found: &[u8]) -> Self {
        let cut = &found[..found.len().min(40)];
        Self { what, found: String::from_utf8_lossy(cut).into_owned() }
    }
}

impl Separator {
    /// One of them.
    pub const fn character(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Blanks => ' ',
        }
    }
}

/// Walks over the fields of a line, parsing as it goes.
pub struct Fields<'a> {
    rest: &'a [u8],
    separator: Separator,
}

/// What stands between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// A comma, with any blanks around it.
    Comma,
    /// Any number of blanks and tabs.
    Blanks,
}

const POWERS: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

impl<'a> Fields<'a> {
    /// The fields of a line. Blanks in front of the first one do not count.
    #[inline]
    pub fn new(line: &'a [u8], separator: Separator) -> Self {
        let is_blanks = separator == Separator::Blanks;
        Self { rest: if is_blanks { trim_start(line) } else { line }, separator }
    }

    /// Whether the next field is empty or missing.
    #[inline]
    pub fn is_blank(&self) -> bool {
        let next = trim_start(self.rest).first();
        next.is_none() || (self.separator == Separator::Comma && next == Some(&b','))
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        trim_start(self.rest).is_empty()
    }

    /// The next field, empty if the line is over.
    #[inline]
    pub fn text(&mut self) -> &'a [u8] {
        let end = match self.separator {
            Separator::Comma => self.rest.iter().position(|&b| b == b','),
            Separator::Blanks => memchr2(b' ', b'\t', self.rest),
        };
        let (field, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = if self.separator == Separator::Blanks { trim_start(rest) } else { rest };
        field.trim_ascii()
    }

    /// What is left of the line.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next two fields with what stands between them.
    #[inline]
    pub fn text_pair(&mut self) -> &'a [u8] {
        let before = self.rest;
        self.text();
        self.text();
        let both = &before[..before.len() - self.rest.len()];
        both.strip_suffix(b",").unwrap_or(both).trim_ascii()
    }

    /// A whole number without a sign.
    #[inline]
    pub fn number(&mut self, what: &'static str) -> Result<u64, Wrong> {
        self.scaled(what, 0)
    }

    /// A whole number of at most 32 bits.
    #[inline]
    pub fn number_u32(&mut self, what: &'static str) -> Result<u32, Wrong> {
        let before = self.rest;
        u32::try_from(self.number(what)?).map_err(|_| Wrong::new(what, before))
    }

    /// A whole number of at most 16 bits.
    pub fn number_u16(&mut self, what: &'static str) -> Result<u16, Wrong> {
        let before = self.rest;
        u16::try_from(self.number(what)?).map_err(|_| Wrong::new(what, before))
    }

    /// The next field, which may be in double quotes between commas (RFC 4180).
    ///
    /// # Errors
    /// Where a quote is not closed, or something stands behind the closing one.
    #[inline(always)]
    pub fn quoted(&mut self) -> Result<Cow<'a, [u8]>, Wrong> {
        match self.rest.strip_prefix(b"\"") {
            Some(rest) if self.separator == Separator::Comma => self.unquote(rest).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(self.text())),
        }
    }

    #[cold]
    fn unquote(&mut self, mut rest: &'a [u8]) -> Result<Vec<u8>, Wrong> {
        let mut unquoted = Vec::new();
        loop {
            let end = memchr(b'"', rest).ok_or_else(|| Wrong::new("a closing quote", self.rest))?;
            unquoted.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.first() {
                Some(b'"') => {
                    unquoted.push(b'"');
                    rest = &rest[1..];
                }
                None | Some(b',') => {
                    self.rest = rest.strip_prefix(b",").unwrap_or(rest);
                    return Ok(unquoted);
                }
                Some(_) => return Err(Wrong::new("a comma behind the quote", rest)),
            }
        }
    }

    /// A number times ten to the power of `places` (at most 9); digits beyond are cut off. With
    /// `places` 0, a fraction is an error.
    #[inline]
    pub fn scaled(&mut self, what: &'static str, places: usize) -> Result<u64, Wrong> {
        let before = self.rest;
        self.rest = trim_start(self.rest);
        let (whole, digits) = self.digits(usize::MAX).ok_or_else(|| Wrong::new(what, before))?;
        let mut value = if places == 0 {
            whole
        } else {
            whole.checked_mul(POWERS[places]).ok_or_else(|| Wrong::new(what, before))?
        };
        let has_fraction = places > 0 && self.rest.first() == Some(&b'.');
        let mut fraction_digits = 0;
        if has_fraction {
            self.rest = &self.rest[1..];
            let (fraction, n) = self.digits(places).unwrap_or((0, 0));
            fraction_digits = n;
            value = value
                .checked_add(fraction * POWERS[places - n])
                .ok_or_else(|| Wrong::new(what, before))?;
            while self.rest.first().is_some_and(u8::is_ascii_digit) {
                self.rest = &self.rest[1..];
            }
        }
        if digits + fraction_digits == 0 || !self.step_over() {
            return Err(Wrong::new(what, before));
        }
        Ok(value)
    }

    /// The value of up to `most` digits, and how many there are; `None` if it overflows.
    #[inline(always)]
    fn digits(&mut self, most: usize) -> Option<(u64, usize)> {
        let (mut value, mut n) = (0_u64, 0);
        loop {
            let word = digits::word(self.rest, n);
            let more = digits::count(word).min(most - n);
            if more > 0 {
                value = value.checked_mul(digits::shifted(1, more))?;
                value = value.checked_add(digits::value(word, more))?;
                n += more;
            }
            if more < 8 {
                self.rest = &self.rest[n..];
                return Some((value, n));
            }
        }
    }

    /// Steps over what separates this field from the next; false if more of it stands there.
    #[inline]
    fn step_over(&mut self) -> bool {
        match (self.rest.first(), self.separator) {
            (None, _) => true,
            (Some(b','), Separator::Comma) => {
                self.rest = &self.rest[1..];
                true
            }
            (Some(b' ' | b'\t'), separator) => {
                self.rest = trim_start(self.rest);
                match (separator, self.rest.first()) {
                    (Separator::Blanks, _) | (Separator::Comma, None) => true,
                    (Separator::Comma, Some(b',')) => {
                        self.rest = &self.rest[1..];
                        true
                    }
                    (Separator::Comma, Some(_)) => false,
                }
            }
            (Some(_), _) => false,
        }
    }
}

fn trim_start(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    bytes
}

/// A count of 512-byte blocks as bytes.
#[inline]
pub fn blocks(count: u64, what: &'static str) -> Result<u64, Wrong> {
    count.checked_mul(512).ok_or_else(|| Wrong::new(what, count.to_string().as_bytes()))
}

/// A length in bytes, which every format here keeps below 4 GiB.
#[inline]
pub fn length(bytes: u64) -> Result<u32, Wrong> {
    u32::try_from(bytes)
        .map_err(|_| Wrong::new("a length below 4 GiB", bytes.to_string().as_bytes()))
}

/// A read, write or discard of no bytes asks nothing of a disk: it is counted and never replayed.
#[inline]
pub fn flag_empty(mut record: Record) -> Record {
    if record.len == 0 && record.op != Op::Flush {
        record.flags = record.flags | Flags::OTHER;
    }
    record
}

/// How one line of a format becomes records.
pub trait LineFormat {
    /// The format's name.
    const NAME: &'static str;

    /// Reads a line that is neither empty nor blank. It may give a record, several or none.
    ///
    /// # Errors
    /// What is wrong with it.
    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong>;

    /// Gives what it still holds back, at the end of the input and before an error in it. It may
    /// be called again.
    fn end(&mut self, _about: &mut About, _out: &mut Vec<Record>) {}
}

/// Reads a [`LineFormat`] from its file.
pub struct TextSource<F> {
    lines: Lines,
    format: F,
    about: About,
    tables: Tables,
}

impl<F: LineFormat> TextSource<F> {
    /// Begins to read. `about` is what the format says of all its traces.
    pub fn new(input: Input, format: F, about: About) -> Self {
        let tables = Tables { devices: Vec::new(), processes: vec![String::new()] };
        Self { lines: input.lines(F::NAME), format, about, tables }
    }
}

impl<F: LineFormat> TraceSource for TextSource<F> {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let enough = out.len() + BATCH;
        while out.len() < enough {
            let line = match self.lines.next_line() {
                Ok(Some(line)) => line,
                ended => {
                    self.format.end(&mut self.about, out);
                    return ended.map(|_| ());
                }
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Err(wrong) = self.format.line(line, &mut self.about, &mut self.tables, out) {
                self.format.end(&mut self.about, out);
                return Err(refused(F::NAME, &self.lines, wrong));
            }
        }
        Ok(())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }
}

#[cold]
fn refused(format: &'static str, lines: &Lines, wrong: Wrong) -> TraceError {
    let at = At::Line(lines.number());
    if lines.is_whole() {
        TraceError::Malformed { format, at, wrong: wrong.what, found: wrong.found }
    } else {
        TraceError::Truncated { format, at, what: "a line" }
    }
}

/// How one record becomes a line of a format.
pub trait LineWriter {
    /// What the file begins with.
    fn head(&mut self, _out: &mut Vec<u8>) {}

    /// Appends the line with its end; false if the format has no place for the record.
    ///
    /// # Errors
    /// [`TraceError::Inexpressible`] where the whole trace cannot be kept.
    fn line(
        &mut self,
        record: &Record,
        tables: &Tables,
        out: &mut Vec<u8>,
    ) -> Result<bool, TraceError>;

    /// What the file ends with.
    fn end(&mut self, _out: &mut Vec<u8>) {}

    /// Devices that it calls otherwise than the trace.
    fn renamed(&self, _tables: &Tables) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Writes lines into an [`Output`].
pub struct TextSink<W> {
    output: Output,
    writer: W,
    buffer: Vec<u8>,
    written: Written,
}

impl<W: LineWriter> TextSink<W> {
    /// Begins with the format's head.
    ///
    /// # Errors
    /// [`TraceError::Io`].
    pub fn new(mut output: Output, mut writer: W) -> Result<Self, TraceError> {
        let mut buffer = Vec::new();
        writer.head(&mut buffer);
        output.put(&buffer)?;
        Ok(Self { output, writer, buffer, written: Written::default() })
    }
}

impl<W: LineWriter> Sink for TextSink<W> {
    fn write(&mut self, records: &[Record], tables: &Tables) -> Result<(), TraceError> {
        for batch in records.chunks(BATCH) {
            self.buffer.clear();
            for record in batch {
                if self.writer.line(record, tables, &mut self.buffer)? {
                    self.written.records += 1;
                } else {
                    self.written.left_out += 1;
                }
            }
            self.output.put(&self.buffer)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &About, tables: &Tables) -> Result<Written, TraceError> {
        self.written.renamed = self.writer.renamed(tables);
        self.buffer.clear();
        self.writer.end(&mut self.buffer);
        self.output.put(&self.buffer)?;
        self.output.commit()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_of_any_length_are_what_they_say(
            text in "0{0,9}[0-9]{1,22}", rest in ",[ -~]{0,9}",
        ) {
            let line = format!("{text}{rest}");
            let read = comma(line.as_bytes()).number("n").ok();
            prop_assert_eq!(read, text.parse::<u64>().ok());
        }
    }

    fn comma(line: &[u8]) -> Fields<'_> {
        Fields::new(line, Separator::Comma)
    }

    fn blank(line: &[u8]) -> Fields<'_> {
        Fields::new(line, Separator::Blanks)
    }

    #[test]
    fn numbers_are_exact_to_the_last_digit_and_overflow_is_an_error() {
        let mut fields = comma(b"18446744073709551615, 1.5 ,.25,7.1234567899");
        assert_eq!(fields.number("n").expect("fits"), u64::MAX);
        assert_eq!(fields.scaled("n", 3).expect("fits"), 1500);
        assert_eq!(fields.scaled("n", 6).expect("fits"), 250_000);
        assert_eq!(fields.scaled("n", 9).expect("fits"), 7_123_456_789);
        assert!(fields.number("n").is_err(), "nothing is left");
        assert!(comma(b"18446744073709551616").number("n").is_err());
        assert!(comma(b"18446744073709551615").scaled("n", 9).is_err());
        assert!(comma(b"-1").number("n").is_err());
        assert!(comma(b".").scaled("n", 9).is_err());
        assert!(comma(b"12x,").number("n").is_err());
        assert!(comma(b"1 2").number("n").is_err());
        assert!(comma(b"1e9").scaled("n", 9).is_err());
    }

    #[test]
    fn blanks_and_tabs_of_any_number_separate_fields() {
        let mut fields = blank(b"  1\t\t2.5   name ");
        assert_eq!(fields.number("n").expect("fits"), 1);
        assert_eq!(fields.scaled("n", 1).expect("fits"), 25);
        assert_eq!(fields.text(), b"name");
        assert!(fields.is_over());
    }
}
