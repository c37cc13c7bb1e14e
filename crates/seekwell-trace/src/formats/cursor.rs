//! Walking over the lines that blkparse and perf print.

use super::digits;
use crate::pair::Event;

/// Reads a line from left to right, several times faster than splitting it into fields.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline(always)]
    pub const fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// What is left of the line.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    #[inline(always)]
    fn next(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Skips this many bytes, which the line has.
    #[inline(always)]
    pub const fn step(&mut self, bytes: usize) {
        self.at += bytes;
    }

    #[inline(always)]
    pub fn blanks(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Steps over this byte, if it comes next.
    #[inline(always)]
    pub fn takes(&mut self, byte: u8) -> bool {
        let taken = self.next() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    /// Digits, and how many; `None` if there are none or too many for 64 bits.
    #[inline(always)]
    pub fn number(&mut self) -> Option<(u64, usize)> {
        let word = digits::word(self.line, self.at);
        let n = digits::count(word);
        if n == 0 {
            return None;
        }
        self.at += n;
        let value = digits::value(word, n);
        if n < 8 { Some((value, n)) } else { self.more_digits(value) }
    }

    /// What comes after the first eight digits.
    #[inline]
    fn more_digits(&mut self, first: u64) -> Option<(u64, usize)> {
        let word = digits::word(self.line, self.at);
        let n = digits::count(word);
        if n == 0 {
            return Some((first, 8));
        }
        self.at += n;
        let mut value = digits::shifted(first, n) + digits::value(word, n);
        let mut all = 8 + n;
        // Only numbers of 16 digits and more can overflow.
        while n == 8
            && let Some(digit) = self.next().map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            self.at += 1;
            all += 1;
        }
        Some((value, all))
    }

    /// Seconds with three to nine digits after the point, in nanoseconds.
    #[inline(always)]
    pub fn seconds(&mut self) -> Option<u64> {
        let (whole, _) = self.number()?;
        if !self.takes(b'.') {
            return None;
        }
        let (fraction, digits) = self.number()?;
        let scale = match digits {
            9 => 1,
            6 => 1000,
            3..9 => 10_u64.pow(9 - digits as u32),
            _ => return None,
        };
        whole.checked_mul(1_000_000_000)?.checked_add(fraction * scale)
    }

    /// What stands before the next blank.
    #[inline(always)]
    pub fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Steps over `(…)`, if it comes next; false if it does not end.
    #[inline(always)]
    pub fn parenthesis(&mut self) -> bool {
        if self.next() != Some(b'(') {
            return true;
        }
        let Some(end) = memchr::memchr(b')', self.rest()) else { return false };
        self.at += end + 1;
        true
    }

    /// `sector + sectors`, blanks around the plus, as bytes. What is longer than 4 GiB is cut.
    #[inline(always)]
    pub fn range(&mut self) -> Option<(u64, u32)> {
        let (sector, _) = self.number()?;
        if self.rest().starts_with(b" + ") {
            self.at += 3;
        } else {
            self.blanks();
            if !self.takes(b'+') {
                return None;
            }
            self.blanks();
        }
        let (sectors, _) = self.number()?;
        Some((Event::offset_of(sector), bytes(sectors)))
    }

    /// `sector / sector` of a split: where it begins and the bytes that stay in front. Some
    /// versions of blkparse print the lower half of the second number only; the difference needs
    /// no more.
    pub fn halves(&mut self) -> Option<(u64, u32)> {
        let (first, _) = self.number()?;
        self.blanks();
        if !self.takes(b'/') {
            return None;
        }
        self.blanks();
        let (second, _) = self.number()?;
        let front = (second as u32).wrapping_sub(first as u32);
        Some((Event::offset_of(first), bytes(u64::from(front))))
    }

    /// What stands in the `[…]` that ends the line.
    #[inline(always)]
    pub fn bracketed(&self) -> Option<&'a [u8]> {
        let inside = self.rest().trim_ascii().strip_prefix(b"[")?;
        inside.strip_suffix(b"]")
    }

    /// The same with anything before the bracket.
    pub fn bracketed_last(&self) -> Option<&'a [u8]> {
        let inside = self.rest().trim_ascii_end().strip_suffix(b"]")?;
        let start = memchr::memrchr(b'[', inside)?;
        Some(&inside[start + 1..])
    }
}

/// Sectors of 512 bytes in bytes, as far as a length can say.
#[inline(always)]
fn bytes(sectors: u64) -> u32 {
    u32::try_from(sectors.saturating_mul(512)).unwrap_or(!511)
}
