//! ATA: SMART data, thresholds and status, and through the general purpose logs the device
//! statistics, the error log and the self-tests (ACS-4, 7.43, 9.4 to 9.6; thresholds: SFF-8035i).

use super::cell::{Cell, ONE, Scale, little, scaled};
use super::{Attribute, DrivePages, Health, Measure as M, Outcome, SelfTest, Values, Warning};
use crate::facts::IdentifyData;
use crate::probe::Power;

/// Attributes whose raw value means the same with nearly every maker. The upper bytes of a raw
/// value hold other things on some drives.
const ATTRIBUTES: [(u8, M, usize); 12] = [
    (5, M::ReallocatedSectors, 4),
    (9, M::PowerOnHours, 3),
    (12, M::PowerCycles, 4),
    (184, M::EndToEndErrors, 4),
    (187, M::MediaErrors, 4),
    (188, M::CommandTimeouts, 2),
    (190, M::Temperature, 1),
    (194, M::Temperature, 1),
    (196, M::Reallocations, 4),
    (197, M::PendingSectors, 4),
    (198, M::UncorrectableSectors, 4),
    (199, M::CrcErrors, 4),
];

/// The pages of the device statistics, and where a value begins on each; its last byte, the eighth,
/// says whether it is there. Written and read are in logical sectors.
const SECTORS: Scale = ONE;
const STATISTICS: &[(u8, &[Cell])] = &[
    (
        1,
        &[
            (M::PowerCycles, 8, 4, ONE),
            (M::PowerOnHours, 16, 4, ONE),
            (M::Written, 24, 6, SECTORS),
            (M::WriteCommands, 32, 6, ONE),
            (M::Read, 40, 6, SECTORS),
            (M::ReadCommands, 48, 6, ONE),
        ],
    ),
    (3, &[(M::ReallocatedSectors, 32, 4, ONE)]),
    (4, &[(M::MediaErrors, 8, 4, ONE)]),
    (5, &[(M::Temperature, 8, 1, Scale::Signed)]),
    (6, &[(M::CrcErrors, 24, 4, ONE)]),
    (7, &[(M::PercentUsed, 8, 1, ONE)]),
];

const BLOCK: usize = 512;
/// Entries of the tables of attributes and of thresholds, from byte 2 on.
const ENTRIES: usize = 30;
const ENTRY: usize = 12;

/// Addresses of general purpose logs.
const ERROR_LOG: u8 = 0x03;
const DEVICE_STATISTICS: u8 = 0x04;
const SELF_TESTS: u8 = 0x07;

/// The page that CHECK POWER MODE gives.
const POWER: &str = "ata-power";

/// Flash has nothing to spin up.
pub(super) fn spins(id: &IdentifyData) -> bool {
    id.rotation_rpm != Some(1)
}

pub(super) fn power(pages: &mut DrivePages<'_, '_>) -> Power {
    Power::of(pages.get(POWER).and_then(|page| page.bytes.first().copied()))
}

pub(super) fn read(pages: &mut DrivePages<'_, '_>, id: &IdentifyData) -> Option<Health> {
    let mut health = Health::default();
    if spins(id) {
        match power(pages) {
            Power::Active | Power::Idle => health.provoked += 1,
            Power::Standby => {
                pages.miss(POWER, "the disk is in standby, and asking would wake it");
                return None;
            }
            Power::Unknown => return None,
        }
    }
    if id.logs {
        logs(pages, id, &mut health);
    }
    if id.smart.1 {
        smart(pages, &mut health);
    }
    Some(health)
}

fn smart(pages: &mut DrivePages<'_, '_>, health: &mut Health) {
    if let Some(data) = pages.get("smart-data") {
        let limits = pages.get("smart-thresholds").map(|t| t.bytes).unwrap_or_default();
        match attributes(&data.bytes, &limits) {
            Some(table) => {
                health.take(by_attributes(&table), &data.from);
                health.warnings = by_thresholds(&table).map(|w| data.fact(w));
                health.attributes = Some(data.fact(table));
            }
            None => pages.miss("smart-data", "its checksum is wrong"),
        }
    }
    // The drive's own verdict is no more than that a threshold is reached.
    if health.warnings.is_none()
        && let Some(status) = pages.get("smart-status")
    {
        health.provoked += 1;
        health.warnings = failing(&status.bytes).map(|w| status.fact(w));
    }
}

/// What the thresholds say; `None` if the drive gives none.
fn by_thresholds(table: &[Attribute]) -> Option<Vec<Warning>> {
    let failed = table.iter().any(|a| a.pre_fail && a.has_failed());
    let known = table.iter().any(|a| a.threshold.is_some());
    known.then(|| if failed { vec![Warning::Failing] } else { Vec::new() })
}

fn logs(pages: &mut DrivePages<'_, '_>, id: &IdentifyData, health: &mut Health) {
    let log = |address: u8, page: u8| format!("log-ext-{address:02x}-{page:02x}");
    let Some(directory) = pages.get(&log(0, 0)) else { return };
    // How many pages each log has.
    let has = |address: u8| little(&directory.bytes, 2 * usize::from(address), 2).unwrap_or(0) > 0;
    if has(DEVICE_STATISTICS)
        && let Some(list) = pages.get(&log(DEVICE_STATISTICS, 0))
    {
        for (page, table) in STATISTICS.iter().filter(|(p, _)| listed(&list.bytes, *p)) {
            let Some(found) = pages.get(&log(DEVICE_STATISTICS, *page)) else { continue };
            health.take(statistics(*page, table, &found.bytes, id.logical_bytes), &found.from);
        }
    }
    if has(ERROR_LOG)
        && let Some(page) = pages.get(&log(ERROR_LOG, 0))
    {
        let count = little(&page.bytes, 500, 2).map(|n| (M::LoggedErrors, n as i64));
        health.take(count.into_iter().collect(), &page.from);
    }
    if has(SELF_TESTS)
        && let Some(page) = pages.get(&log(SELF_TESTS, 0))
    {
        health.self_tests = Some(page.fact(self_tests(&page.bytes)));
    }
}

/// Whether the first page of the device statistics lists this page.
fn listed(list: &[u8], page: u8) -> bool {
    let count = list.get(8).copied().unwrap_or(0);
    list.iter().skip(9).take(usize::from(count)).any(|p| *p == page)
}

/// The values of a page of the device statistics that the drive marks as supported and valid.
fn statistics(number: u8, table: &[Cell], page: &[u8], sector_bytes: u64) -> Values {
    if page.get(2) != Some(&number) {
        return Vec::new();
    }
    let cell = |(measure, at, bytes, scale): &Cell| {
        page.get(at + 7).filter(|flags| **flags & 0xc0 == 0xc0)?;
        let unit = match measure {
            M::Written | M::Read => Scale::Times(sector_bytes.max(BLOCK as u64)),
            _ => *scale,
        };
        Some((*measure, scaled(little(page, *at, *bytes)?, *bytes, unit)?))
    };
    table.iter().filter_map(cell).collect()
}

/// The attributes with their thresholds; `None` if the bytes do not add up to zero, or are all
/// zero.
fn attributes(data: &[u8], limits: &[u8]) -> Option<Vec<Attribute>> {
    let whole = |page: &[u8]| {
        let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        page.len() == BLOCK && sum == 0 && page.iter().any(|b| *b != 0)
    };
    if !whole(data) {
        return None;
    }
    let entries = |page: &'_ [u8]| -> Vec<[u8; ENTRY]> {
        let table = page.get(2..2 + ENTRIES * ENTRY).unwrap_or_default();
        table.chunks_exact(ENTRY).filter_map(|e| e.try_into().ok()).collect()
    };
    let limits = if whole(limits) { entries(limits) } else { Vec::new() };
    let attribute = |e: &[u8; ENTRY]| {
        let limit = limits.iter().find(|l| l[0] == e[0]);
        (e[0] != 0).then(|| Attribute {
            id: e[0],
            value: e[3],
            worst: e[4],
            threshold: limit.map(|l| l[1]),
            raw: little(e, 5, 6).unwrap_or(0) as u64,
            pre_fail: e[1] & 1 != 0,
        })
    };
    Some(entries(data).iter().filter_map(attribute).collect())
}

fn by_attributes(table: &[Attribute]) -> Values {
    let one = |a: &Attribute| {
        let (_, measure, bytes) = ATTRIBUTES.iter().find(|(id, ..)| *id == a.id)?;
        Some((*measure, (a.raw & ((1 << (8 * bytes)) - 1)) as i64))
    };
    table.iter().filter_map(one).collect()
}

/// What the middle and high byte of the address say after SMART RETURN STATUS.
fn failing(registers: &[u8]) -> Option<Vec<Warning>> {
    match registers {
        [0x4f, 0xc2] => Some(Vec::new()),
        [0xf4, 0x2c] => Some(vec![Warning::Failing]),
        _ => None,
    }
}

/// Newest first; the page says which is the newest, and is a ring.
fn self_tests(page: &[u8]) -> Vec<SelfTest> {
    const TEST: usize = 26;
    let entries: Vec<&[u8]> =
        page.get(4..).unwrap_or_default().chunks_exact(TEST).take(19).collect();
    let newest = little(page, 2, 2).unwrap_or(0) as usize;
    if newest == 0 || newest > entries.len() {
        return Vec::new();
    }
    let (now, before) = entries.split_at(newest);
    let test = |e: &&[u8]| {
        let outcome = match e[1] >> 4 {
            0 => Outcome::Passed,
            1 | 2 => Outcome::Aborted,
            3..=8 => Outcome::Failed,
            15 => Outcome::Running,
            _ => return None,
        };
        let lba = little(e, 5, 6).filter(|_| outcome == Outcome::Failed).map(|n| n as u64);
        Some(SelfTest {
            outcome,
            extended: e[0] & 0x7f == 2,
            hours: little(e, 2, 2)? as u64,
            failed_lba: lba.filter(|n| *n != 0xffff_ffff_ffff),
        })
    };
    let used = |e: &&&[u8]| e.iter().any(|b| *b != 0);
    now.iter().rev().chain(before.iter().rev()).filter(used).filter_map(test).collect()
}
