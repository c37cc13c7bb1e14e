//! The values that options take: numbers with units, times, ranges, lists, patterns.
//!
//! Each function takes the text of one value and gives what it means, or what would have been
//! accepted. fio reads the digits at the start of a number and drops what follows; here a value is
//! taken whole or refused.

mod expression;
mod pattern;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use pattern::pattern;
pub(crate) use split::{bssplit, zones};

use crate::job::{Amount, By, FixedRange};
use seekwell_io::units::{Nanos, byte_prefix, time_unit};

/// A value, or what would have been accepted.
pub(crate) type Parsed<T> = Result<T, &'static str>;

/// How numbers are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// `kb_base=1024`, where `k` is 1024 and `ki` is 1000; else the other way round.
    pub(crate) compatible: bool,
    /// A `$keyword` stood in the value, so that arithmetic needs no parentheses.
    pub(crate) arithmetic: bool,
}

/// What a number without a unit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    /// Microseconds.
    Micros,
    /// Seconds.
    Seconds,
}

/// What every number needs.
const NUMBER: &str = "a whole number, with k, m, g, t or p when it is large";
/// What every time needs.
const TIME: &str = "a whole number with us, ms, s, m, h or d, below 584 years";

/// A count or a number of bytes.
pub(crate) fn number(text: &str, how: Reading) -> Parsed<u64> {
    let unit = |suffix: &str| byte_unit(suffix, how.compatible);
    let value = evaluate(text, how.arithmetic, &unit).ok_or(NUMBER)?;
    u64::try_from(value).ok().filter(|&v| v <= i64::MAX as u64).ok_or(NUMBER)
}

/// A number that may be negative.
pub(crate) fn signed(text: &str, how: Reading) -> Parsed<i64> {
    match text.trim().strip_prefix('-') {
        Some(rest) => number(rest, how).map(|n| -(n as i64)),
        None => number(text, how).map(|n| n as i64),
    }
}

/// A time. In arithmetic a number without a unit counts microseconds, as in fio.
pub(crate) fn time(text: &str, bare: Bare, how: Reading) -> Parsed<Nanos> {
    let text = text.trim();
    let expression = text.starts_with('(');
    let none = match bare {
        _ if expression => 1_000,
        Bare::Micros => 1_000,
        Bare::Seconds => 1_000_000_000,
    };
    let unit = |suffix: &str| in_unit(suffix, none);
    let value = evaluate(text, how.arithmetic, &unit).ok_or(TIME)?;
    u64::try_from(value).map(Nanos).map_err(|_| TIME)
}

/// One number or, when allowed, arithmetic; none when it is neither.
fn evaluate(text: &str, bare: bool, unit: &expression::Unit<'_>) -> Option<i128> {
    let text = text.trim();
    if let Some(value) = expression::literal(text, unit) {
        return Some(value);
    }
    if text.starts_with('(') || bare { expression::value(text, unit) } else { None }
}

fn byte_unit(suffix: &str, compatible: bool) -> Option<i128> {
    let (power, is_marked) = byte_prefix(suffix)?;
    Some(if is_marked == compatible { 1000_i128 } else { 1024 }.pow(power))
}

/// Nanoseconds in a unit.
fn in_unit(suffix: &str, none: i128) -> Option<i128> {
    if suffix.is_empty() { Some(none) } else { time_unit(suffix).map(i128::from) }
}

/// Bytes or percent. `z` counts zones of a zoned device, which have no length here.
pub(crate) fn amount(text: &str, how: Reading) -> Parsed<Amount> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let needed = "0% to 100%, or a number of bytes";
        let percent: u8 = percent.trim().parse().map_err(|_| needed)?;
        return if percent <= 100 { Ok(Amount::Percent(percent)) } else { Err(needed) };
    }
    if text.ends_with(['z', 'Z']) {
        return Err("bytes or percent: sizes in zones are not supported");
    }
    number(text, how).map(Amount::Bytes)
}

/// A number, or two with `-` or `:` between them; put in order.
pub(crate) fn range<T: Ord + Copy>(
    text: &str,
    one: impl Fn(&str) -> Parsed<T>,
) -> Parsed<FixedRange<T>> {
    let Some((low, high)) = text.split_once(['-', ':']) else {
        return one(text).map(|v| FixedRange { min: v, max: v });
    };
    let (low, high) = (one(low)?, one(high)?);
    Ok(FixedRange { min: low.min(high), max: low.max(high) })
}

/// Up to three values with commas between them: for reads, writes, discards. A value that no comma
/// ends holds for what follows as well; an empty one says nothing.
pub(crate) fn cells(text: &str) -> Parsed<By<Option<&str>>> {
    let mut parts = text.split(',').map(str::trim);
    let mut cell = [None; 3];
    let mut last = None;
    let mut n = 0;
    for slot in &mut cell {
        let Some(part) = parts.next() else { break };
        last = (!part.is_empty()).then_some(part);
        *slot = last;
        n += 1;
    }
    if parts.next().is_some() {
        return Err("at most three values: for reads, writes and discards");
    }
    cell[n..].fill(last);
    let [read, write, trim] = cell;
    Ok(By { read, write, trim })
}

/// [`cells`], each read by `one`.
pub(crate) fn triple<T>(text: &str, one: impl Fn(&str) -> Parsed<T>) -> Parsed<By<Option<T>>> {
    let cells = cells(text)?;
    let read = |cell: Option<&str>| cell.map(&one).transpose();
    Ok(By { read: read(cells.read)?, write: read(cells.write)?, trim: read(cells.trim)? })
}

/// The text of a triple laid over an earlier one: what the later leaves out stays as it was.
pub(crate) fn overlay(earlier: &str, later: &str) -> Option<String> {
    let (below, above) = (cells(earlier).ok()?, cells(later).ok()?);
    let cell =
        |above: Option<&str>, below: Option<&str>| above.or(below).unwrap_or_default().to_owned();
    let (read, write) = (cell(above.read, below.read), cell(above.write, below.write));
    let trim = cell(above.trim, below.trim);
    // Two equal values at the end need not be written out, and read better when they are not.
    Some(match (read == write, write == trim) {
        (true, true) => read,
        _ => format!("{read},{write},{trim}"),
    })
}

/// A number with a fraction.
pub(crate) fn float(text: &str) -> Parsed<f64> {
    let value: f64 = text.trim().parse().map_err(|_| "a number")?;
    if value.is_finite() { Ok(value) } else { Err("a number") }
}

/// Words with `:` between them, where `\:` is a colon of the word itself; empty ones fall out.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let here = names.last_mut().expect("there is always a last name");
        match c {
            '\\' if chars.peek() == Some(&':') => here.extend(chars.next()),
            ':' => names.push(String::new()),
            _ => here.push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// CPU numbers: `0,2-4`. Numbers above 4095 are refused: no kernel has that many.
pub(crate) fn cpus(text: &str) -> Parsed<Vec<u32>> {
    let needed = "CPU numbers such as 0,2-4, below 4096";
    let one = |text: &str| match text.trim().parse::<u32>() {
        Ok(n) if n < 4096 => Ok(n),
        _ => Err(needed),
    };
    let mut found = std::collections::BTreeSet::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let FixedRange { min, max } = range(part, one)?;
        found.extend(min..=max);
    }
    if found.is_empty() { Err(needed) } else { Ok(found.into_iter().collect()) }
}
