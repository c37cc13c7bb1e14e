//! SCSI: log pages (SPC-5, 7.3; SBC-4, 6.4).

use super::cell::big;
use super::{DrivePages, Health, Measure as M, Outcome, SelfTest, Warning};

const WRITE_ERRORS: u8 = 0x02;
const READ_ERRORS: u8 = 0x03;
const SELF_TESTS: u8 = 0x10;
const EXCEPTIONS: u8 = 0x2f;

/// Page, parameter, first byte and bytes of its value, and what they are.
const VALUES: &[(u8, u16, usize, usize, M)] = &[
    (WRITE_ERRORS, 5, 0, 8, M::Written),
    (WRITE_ERRORS, 6, 0, 8, M::MediaErrors),
    (READ_ERRORS, 5, 0, 8, M::Read),
    (READ_ERRORS, 6, 0, 8, M::MediaErrors),
    (0x05, 6, 0, 8, M::MediaErrors),
    (0x06, 0, 0, 8, M::NonMediumErrors),
    (0x0d, 0, 1, 1, M::Temperature),
    (0x0d, 1, 1, 1, M::TemperatureWarning),
    (0x0e, 4, 0, 4, M::StartStopCycles),
    (0x11, 1, 3, 1, M::PercentUsed),
    (0x15, 0, 0, 4, M::PowerOnHours),
];

/// The page that REQUEST SENSE gives.
const SENSE: &str = "scsi-sense";

/// Whether the disk says that it has been stopped; `None` if it says nothing.
pub(super) fn is_stopped(pages: &mut DrivePages<'_, '_>) -> Option<bool> {
    Some(sleeps(&pages.get(SENSE)?.bytes))
}

pub(super) fn read(pages: &mut DrivePages<'_, '_>) -> Option<Health> {
    if is_stopped(pages)? {
        pages.miss(SENSE, "the disk is stopped, and asking might start it");
        return None;
    }
    let list = pages.get("log-sense-00")?;
    let mut health = Health::default();
    for page in supported(&list.bytes) {
        let asked = [SELF_TESTS, EXCEPTIONS].contains(&page) || VALUES.iter().any(|v| v.0 == page);
        let Some(log) = asked.then(|| pages.get(&format!("log-sense-{page:02x}"))).flatten() else {
            continue;
        };
        for (measure, value) in values(page, &log.bytes) {
            let fact = health.values.entry(measure).or_insert_with(|| log.fact(0));
            // Reads, writes and verifications count their own errors.
            fact.value = fact.value.saturating_add(value);
        }
        match page {
            SELF_TESTS => health.self_tests = Some(log.fact(self_tests(&log.bytes))),
            EXCEPTIONS => health.warnings = warnings(&log.bytes).map(|w| log.fact(w)),
            _ => {}
        }
    }
    Some(health)
}

/// Whether sense data say that the disk has been stopped or saves power.
fn sleeps(sense: &[u8]) -> bool {
    let [key, code, qualifier] = crate::probe::sense_codes(sense);
    matches!((key, code, qualifier), (2, 0x04, 0x02) | (_, 0x5e, _))
}

/// The pages listed on page 00h.
fn supported(list: &[u8]) -> Vec<u8> {
    let pages = body(0, list).unwrap_or_default();
    pages.iter().copied().filter(|p| (1..=0x3f).contains(p)).collect()
}

/// What follows the header of a page, which says its number and its length.
fn body(page: u8, bytes: &[u8]) -> Option<&[u8]> {
    let [number, _, high, low, rest @ ..] = bytes else { return None };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    (number & 0x3f == page).then(|| &rest[..length.min(rest.len())])
}

/// The parameters of a page: code and value.
fn parameters(page: u8, bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut rest = body(page, bytes).unwrap_or_default();
    let mut found = Vec::new();
    while let [high, low, _, length, tail @ ..] = rest {
        let Some((value, next)) = tail.split_at_checked(usize::from(*length)) else { break };
        found.push((u16::from_be_bytes([*high, *low]), value));
        rest = next;
    }
    found
}

fn values(page: u8, bytes: &[u8]) -> super::Values {
    let all = parameters(page, bytes);
    let one = |(_, code, at, most, measure): &(u8, u16, usize, usize, M)| {
        let (_, value) = all.iter().find(|(c, _)| c == code)?;
        // Counters have as many bytes as the drive likes, up to eight.
        let field = &value[*at..value.len().min(at + most)];
        let number = i64::try_from(big(field)?).ok()?;
        match measure {
            M::Temperature | M::TemperatureWarning if number == 255 => None,
            // Page 15h counts minutes.
            M::PowerOnHours => Some((*measure, number / 60)),
            _ => Some((*measure, number)),
        }
    };
    let short = |row: &&(u8, u16, usize, usize, M)| {
        row.0 == page && all.iter().any(|(c, v)| *c == row.1 && v.len() > row.2)
    };
    VALUES.iter().filter(short).filter_map(one).collect()
}

fn warnings(bytes: &[u8]) -> Option<Vec<Warning>> {
    let all = parameters(EXCEPTIONS, bytes);
    let (_, value) = all.iter().find(|(code, _)| *code == 0)?;
    Some(match value.first()? {
        0x5d => vec![Warning::Failing],
        0x0b => vec![Warning::Temperature],
        _ => Vec::new(),
    })
}

fn self_tests(bytes: &[u8]) -> Vec<SelfTest> {
    let test = |(_, e): (u16, &[u8])| {
        let (first, hours, lba) = (*e.first()?, e.get(2..4)?, e.get(4..12)?);
        let outcome = match first & 15 {
            0 if first == 0 && big(hours)? == 0 => return None,
            0 => Outcome::Passed,
            1 | 2 => Outcome::Aborted,
            3..=7 => Outcome::Failed,
            15 => Outcome::Running,
            _ => return None,
        };
        let lba = big(lba)? as u64;
        Some(SelfTest {
            outcome,
            extended: matches!(first >> 5, 2 | 6),
            hours: big(hours)? as u64,
            failed_lba: (outcome == Outcome::Failed && lba != u64::MAX).then_some(lba),
        })
    };
    parameters(SELF_TESTS, bytes).into_iter().filter_map(test).collect()
}
