//! The stamps that `dmesg`, syslog and the journal put before a kernel message.

use serde::{Deserialize, Serialize};

/// When a line was printed, as far as the log shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Microseconds since boot, by the kernel's log clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_us: Option<u64>,
    /// Microseconds since 1970 (UTC; local time where the log does not say its zone). A syslog
    /// line without a year counts as of 1972.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_us: Option<i64>,
}

impl Stamp {
    /// Microseconds on the clock this stamp has, the boot clock first: two stamps of one boot and
    /// one log differ by their distance.
    pub(crate) fn order(&self) -> Option<i64> {
        self.boot_us.map(|us| i64::try_from(us).unwrap_or(i64::MAX)).or(self.wall_us)
    }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Syslog's classic stamp has no year; a leap year knows every day.
const NO_YEAR: i64 = 1972;

/// Takes every stamp off the start of a line, sets what it says and gives the message.
pub(crate) fn strip<'a>(line: &'a str, time: &mut Stamp) -> &'a str {
    let mut rest = line;
    if let Some((wall, after)) = syslog(rest).or_else(|| iso(rest)) {
        time.wall_us = Some(wall);
        rest = behind_host(after);
    }
    if let Some((inside, after)) = bracket(rest) {
        if let Some(us) = seconds(inside) {
            time.boot_us = Some(us);
        } else if let Some(wall) = ctime(inside) {
            time.wall_us = Some(wall);
        } else {
            return rest;
        }
        rest = after;
        // The caller: a task or a processor.
        if let Some((inside, after)) = bracket(rest.trim_start_matches(' '))
            && inside.trim_start().starts_with(['T', 'C'])
            && inside.trim_start()[1..].bytes().all(|b| b.is_ascii_digit())
        {
            rest = after;
        }
        rest = behind_host(rest.strip_prefix(' ').unwrap_or(rest));
    }
    rest
}

/// What follows `host kernel: `, or the text itself.
fn behind_host(text: &str) -> &str {
    match text.split_once(" kernel: ") {
        Some((host, rest)) if !host.is_empty() && !host.contains([' ', ':']) => rest,
        _ => text.strip_prefix("kernel: ").unwrap_or(text),
    }
}

/// `[inside]rest`.
fn bracket(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[').and_then(|t| t.split_once(']'))
}

/// `   12.345678` as microseconds.
fn seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.')?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(micros(fraction)?)
}

/// Digits behind the point, as microseconds.
fn micros(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut us = 0;
    for i in 0..6 {
        us = us * 10 + digits.as_bytes().get(i).map_or(0, |b| u64::from(b - b'0'));
    }
    Some(us)
}

/// `Nov 16 12:00:01 rest`.
fn syslog(line: &str) -> Option<(i64, &str)> {
    let (head, rest) = (line.get(..15)?, line.get(15..)?.strip_prefix(' ')?);
    let month = MONTHS.iter().position(|m| head.starts_with(m))? as i64 + 1;
    let day: i64 = head.get(4..6)?.trim().parse().ok()?;
    Some((wall(NO_YEAR, month, day, head.get(7..)?)?, rest))
}

/// `2026-11-16T12:00:01.123456+01:00 rest`, with either mark for the fraction.
fn iso(line: &str) -> Option<(i64, &str)> {
    let (stamp, rest) = line.split_once(' ')?;
    if stamp.as_bytes().get(10) != Some(&b'T') || stamp.len() > 40 {
        return None;
    }
    let mut date = stamp.get(..10)?.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let base = wall(year, month, day, stamp.get(11..19)?)?;
    let mut tail = stamp.get(19..)?;
    let mut us = 0;
    if let Some(fraction) = tail.strip_prefix(['.', ',']) {
        let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        us = i64::try_from(micros(&fraction[..end])?).ok()?;
        tail = &fraction[end..];
    }
    Some((base + us - offset(tail)?, rest))
}

/// `+01:00`, `+0100`, `Z` or nothing, in microseconds.
fn offset(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone == "Z" {
        return Some(0);
    }
    let sign = match zone.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = zone[1..].chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (digits.get(..2)?, digits.get(2..4)?);
    let minutes: i64 = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    Some(sign * minutes * 60_000_000)
}

/// `Mon Nov 16 12:00:01 2026`, as `dmesg -T` writes it.
fn ctime(text: &str) -> Option<i64> {
    let mut words = text.split_ascii_whitespace().skip(1);
    let month = words.next()?;
    let month = MONTHS.iter().position(|m| *m == month)? as i64 + 1;
    let day = words.next()?.parse().ok()?;
    let clock = words.next()?;
    let year = words.next()?.parse().ok()?;
    wall(year, month, day, clock)
}

/// A civil date and `hh:mm:ss` as microseconds since 1970.
fn wall(year: i64, month: i64, day: i64, clock: &str) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut clock = clock.split(':').map(str::parse::<i64>);
    let (h, m, s) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    if !(0..24).contains(&h) || !(0..60).contains(&m) || !(0..=60).contains(&s) {
        return None;
    }
    // Days since 1970, counting years from March so that the leap day comes last.
    let (y, m_from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * m_from_march + 2) / 5 + day - 1;
    let days = y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719_468;
    Some((days * 86_400 + h * 3600 + m * 60 + s) * 1_000_000)
}
