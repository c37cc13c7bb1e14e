//! Patterns: `0xdeadbeef`, `12`, `"text"`, `'file'` and `%o`, one after the other.

use super::Parsed;
use crate::job::{Pattern, PatternPart};
use std::path::Path;

/// The longest pattern, in bytes; fio's own bound.
const MOST: usize = 512;
/// What a pattern is made of.
const NEEDED: &str = "a pattern of at most 512 bytes: 0x and digits, a number, \"text\", 'file', \
                      or %o where blocks have headers";

/// Reads a pattern. `'file'` is read through `read`. `offset` allows `%o`.
pub(crate) fn pattern(
    text: &str,
    offset: bool,
    read: impl Fn(&Path) -> Option<Vec<u8>>,
) -> Parsed<Pattern> {
    let mut parts: Vec<PatternPart> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (part, after) = match rest.as_bytes()[0] {
            b'"' => {
                let (inside, after) = rest[1..].split_once('"').ok_or(NEEDED)?;
                (PatternPart::Bytes(inside.as_bytes().to_vec()), after)
            }
            b'\'' => {
                let (name, after) = rest[1..].split_once('\'').ok_or(NEEDED)?;
                (PatternPart::Bytes(read(Path::new(name)).ok_or(NEEDED)?), after)
            }
            b'%' if offset && rest.starts_with("%o") => (PatternPart::Offset, &rest[2..]),
            _ => number(rest)?,
        };
        match (parts.last_mut(), part) {
            (Some(PatternPart::Bytes(before)), PatternPart::Bytes(more)) => before.extend(more),
            (_, part) => parts.push(part),
        }
        rest = after.trim_start();
    }
    let pattern = Pattern { parts };
    if (1..=MOST).contains(&pattern.len()) { Ok(pattern) } else { Err(NEEDED) }
}

/// A number at the start. One of base 16 gives its digits' bytes in their order; one of base 10 is
/// a 32-bit number, little-endian, without zeroes at its end.
fn number(text: &str) -> Parsed<(PatternPart, &str)> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let bytes;
    let rest;
    if let Some(hex) = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        if end == 0 || end > 2 * MOST || negative {
            return Err(NEEDED);
        }
        let even = if end % 2 == 1 { format!("0{}", &hex[..end]) } else { hex[..end].to_owned() };
        let digit = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
        bytes = even.as_bytes().chunks(2).map(|c| digit(c[0]) << 4 | digit(c[1])).collect();
        rest = &hex[end..];
    } else {
        let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
        let value: i64 = body[..end].parse().map_err(|_| NEEDED)?;
        let value = if negative { -value } else { value };
        let word = match (i32::try_from(value), u32::try_from(value)) {
            (Ok(signed), _) => signed.to_le_bytes(),
            (_, Ok(unsigned)) => unsigned.to_le_bytes(),
            _ => return Err(NEEDED),
        };
        let used = word.iter().rposition(|&b| b != 0).map_or(1, |last| last + 1);
        bytes = word[..used].to_vec();
        rest = &body[end..];
    }
    Ok((PatternPart::Bytes(bytes), rest))
}
