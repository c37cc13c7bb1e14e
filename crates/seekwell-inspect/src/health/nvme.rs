//! NVMe: identify data and log pages 01h, 02h and 06h (NVM Express Base Specification 2.0, §5.16.1
//! and §5.17.2; NVM Command Set 1.0, §4.1.5.1), C0h (OCP Datacenter NVMe SSD 2.0, §4.8.6), and D0h
//! of Amazon's volumes (Amazon EBS user guide, "Amazon EBS detailed performance statistics").

use super::cell::{Cell, ONE, Scale, little, values};
use super::{
    DrivePages, Health, LbaFormat, LoggedError, Measure as M, Outcome, Page, SelfTest, Values,
    Warning,
};
use crate::model::Fact;
use std::collections::BTreeMap;

/// Data units are a thousand blocks of 512 bytes.
const DATA_UNIT: u64 = 512_000;

const HEALTH: &[Cell] = &[
    (M::Temperature, 1, 2, Scale::Kelvin),
    (M::Spare, 3, 1, ONE),
    (M::SpareThreshold, 4, 1, ONE),
    (M::PercentUsed, 5, 1, ONE),
    (M::Read, 32, 16, Scale::Times(DATA_UNIT)),
    (M::Written, 48, 16, Scale::Times(DATA_UNIT)),
    (M::ReadCommands, 64, 16, ONE),
    (M::WriteCommands, 80, 16, ONE),
    (M::BusyTime, 96, 16, ONE),
    (M::PowerCycles, 112, 16, ONE),
    (M::PowerOnHours, 128, 16, ONE),
    (M::UnsafeShutdowns, 144, 16, ONE),
    (M::MediaErrors, 160, 16, ONE),
    (M::LoggedErrors, 176, 16, ONE),
    (M::WarmTime, 192, 4, ONE),
    (M::HotTime, 196, 4, ONE),
    (M::LightThrottles, 216, 4, ONE),
    (M::HeavyThrottles, 220, 4, ONE),
    (M::LightThrottleTime, 224, 4, ONE),
    (M::HeavyThrottleTime, 228, 4, ONE),
];
const HEALTH_BYTES: usize = 512;

/// Bits of the first byte of the health log.
const WARNINGS: [Warning; 6] = [
    Warning::SpareLow,
    Warning::Temperature,
    Warning::Unreliable,
    Warning::ReadOnly,
    Warning::BackupFailed,
    Warning::MemoryRegion,
];

const OCP: &[Cell] = &[
    (M::MediaWritten, 0, 16, ONE),
    (M::MediaRead, 16, 16, ONE),
    (M::BadBlocks, 32, 6, Scale::Unless1s),
    (M::EndToEndErrors, 72, 4, ONE),
    (M::ThrottleEvents, 96, 1, ONE),
    (M::ThrottleLevel, 97, 1, ONE),
    (M::IncompleteShutdowns, 112, 4, ONE),
    (M::FreeBlocks, 120, 1, ONE),
    (M::CapacitorHealth, 128, 2, Scale::Unless1s),
];
const OCP_BYTES: usize = 512;
/// Where the page says what it is, and what it says.
const OCP_GUID_AT: usize = 496;
const OCP_GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;
/// By which a controller's list of UUIDs says that vendor-specific pages are OCP's.
const OCP_UUID: u128 = 0xc194_d55b_e094_4794_a21d_2999_8f56_be6f;

/// Times in microseconds since the volume was attached.
const VOLUME: &[Cell] = &[
    (M::VolumeIopsExceeded, 56, 8, ONE),
    (M::VolumeRateExceeded, 64, 8, ONE),
    (M::InstanceIopsExceeded, 72, 8, ONE),
    (M::InstanceRateExceeded, 80, 8, ONE),
];
/// The page of a volume's only namespace, and its magic number.
const VOLUME_PAGE: &str = "log-ns-1-d0-4096";
const VOLUME_MAGIC: u128 = 0x3c23_b510;
/// Model number of every volume, and its place in the identify data.
pub(super) const VOLUME_MODEL: &str = "Amazon Elastic Block Store";
const MODEL_AT: usize = 24;

const CONTROLLER: &[Cell] = &[
    (M::TemperatureWarning, 266, 2, Scale::Kelvin),
    (M::TemperatureCritical, 268, 2, Scale::Kelvin),
    (M::AutonomousPower, 265, 1, ONE),
];

/// The most entries of the error log that are read.
const ERRORS: usize = 16;
const ERROR_BYTES: usize = 64;
const SELF_TESTS_BYTES: usize = 564;

pub(super) fn read(pages: &mut DrivePages<'_, '_>, namespace: Option<u32>) -> Option<Health> {
    let controller = pages.get("identify-01-0")?;
    let id = |at: usize| controller.bytes.get(at).copied().unwrap_or(0);
    let mut health = Health::default();
    if let Some(log) = pages.get(&format!("log-02-{HEALTH_BYTES}")) {
        health.warnings = warnings(&log.bytes).map(|w| log.fact(w));
        health.take(values(HEALTH, &log.bytes), &log.from);
    }
    let entries = ERRORS.min(usize::from(id(262)) + 1);
    if let Some(log) = pages.get(&format!("log-01-{}", entries * ERROR_BYTES)) {
        health.errors = Some(log.fact(errors(&log.bytes)));
    }
    if id(256) & 1 << 4 != 0
        && let Some(log) = pages.get(&format!("log-06-{SELF_TESTS_BYTES}"))
    {
        health.self_tests = Some(log.fact(self_tests(&log.bytes)));
    }
    if let Some(log) = ocp_page(pages, &controller) {
        health.take(ocp(&log.bytes), &log.from);
    }
    let model = controller.bytes.get(MODEL_AT..);
    if model.is_some_and(|model| model.starts_with(VOLUME_MODEL.as_bytes())) {
        health.values.extend(exceeded(pages));
    }
    health.take(limits(&controller.bytes), &controller.from);
    if let Some(n) = namespace
        && let Some(page) = pages.get(&format!("identify-00-{n}"))
    {
        health.formats = Some(page.fact(formats(&page.bytes)));
        health.take(granularity(&page.bytes), &page.from);
    }
    Some(health)
}

/// Page C0h, where the controller says that it has it: by OCP's UUID, or in its list of pages.
fn ocp_page(pages: &mut DrivePages<'_, '_>, controller: &Page) -> Option<Page> {
    let bit = |at: usize, bit: u8| controller.bytes.get(at).is_some_and(|b| b & 1 << bit != 0);
    if bit(97, 1)
        && let Some(list) = pages.get("identify-17-0")
        && let Some(index) = ocp_index(&list.bytes)
    {
        return pages.get(&format!("log-c0-{OCP_BYTES}-{index}"));
    }
    let listed = bit(261, 5) && pages.get("log-00-1024")?.bytes.get(4 * 0xc0)? & 1 != 0;
    listed.then(|| pages.get(&format!("log-c0-{OCP_BYTES}")))?
}

/// How long demand has exceeded the limits of a cloud volume and of its instance.
pub(super) fn exceeded(pages: &mut DrivePages<'_, '_>) -> BTreeMap<M, Fact<i64>> {
    let page = pages.get(VOLUME_PAGE).filter(|p| little(&p.bytes, 0, 4) == Some(VOLUME_MAGIC));
    let Some(page) = page else { return BTreeMap::new() };
    values(VOLUME, &page.bytes).into_iter().map(|(m, us)| (m, page.fact(us))).collect()
}

/// The place of OCP's UUID in the list, from 1.
fn ocp_index(list: &[u8]) -> Option<usize> {
    let uuid = OCP_UUID.to_be_bytes();
    list.chunks_exact(32).skip(1).take(127).position(|e| e[16..] == uuid).map(|i| i + 1)
}

fn warnings(log: &[u8]) -> Option<Vec<Warning>> {
    let bits = *log.first()?;
    let set = (0..).zip(WARNINGS).filter(|(bit, _)| bits & 1 << bit != 0);
    Some(set.map(|(_, warning)| warning).collect())
}

fn errors(log: &[u8]) -> Vec<LoggedError> {
    let entry = |e: &[u8]| {
        let count = little(e, 0, 8).filter(|n| *n > 0)? as u64;
        // An error that is about no block may say so by all ones.
        let lba = little(e, 16, 8).map(|n| n as u64).filter(|n| *n != u64::MAX);
        Some(LoggedError { count, status: (little(e, 12, 2)? as u16) >> 1, lba })
    };
    log.chunks_exact(ERROR_BYTES).filter_map(entry).collect()
}

fn self_tests(log: &[u8]) -> Vec<SelfTest> {
    let entry = |e: &[u8]| {
        let outcome = match e[0] & 15 {
            0 => Outcome::Passed,
            1..=4 | 8 | 9 => Outcome::Aborted,
            5..=7 => Outcome::Failed,
            _ => return None,
        };
        Some(SelfTest {
            outcome,
            extended: e[0] >> 4 == 2,
            hours: little(e, 4, 8)? as u64,
            failed_lba: little(e, 16, 8).map(|n| n as u64).filter(|_| e[2] & 2 != 0),
        })
    };
    log.get(4..).unwrap_or_default().chunks_exact(28).take(20).filter_map(entry).collect()
}

fn ocp(page: &[u8]) -> Values {
    let is_ocp = little(page, OCP_GUID_AT, 16) == Some(OCP_GUID);
    if is_ocp { values(OCP, page) } else { Vec::new() }
}

/// What the controller's identify data say of its limits.
fn limits(id: &[u8]) -> Values {
    let mut found = values(CONTROLLER, id);
    // A power of two of memory pages; 0 is no limit.
    let transfer = id.get(77).filter(|n| (1..32).contains(*n));
    found.extend(transfer.map(|n| (M::MaxTransfer, 4096 << n)));
    found.extend(id.get(263).map(|n| (M::PowerStates, i64::from(*n) + 1)));
    found
}

fn formats(id: &[u8]) -> Vec<LbaFormat> {
    let Some((last, used)) = id.get(25).zip(id.get(26)) else { return Vec::new() };
    let used = used & 15 | (used >> 5 & 3) << 4;
    let format = |index: u8| {
        let at = 128 + 4 * usize::from(index);
        let entry = id.get(at..at + 4)?;
        // Sizes are powers of two from 512 bytes; 0 is a format that is not to be used.
        let data_bytes = 1_u64 << Some(entry[2]).filter(|n| (9..32).contains(n))?;
        Some(LbaFormat {
            index,
            data_bytes,
            metadata_bytes: u64::from(u16::from_le_bytes([entry[0], entry[1]])),
            performance: entry[3] & 3,
            in_use: index == used,
        })
    };
    (0..=(*last).min(63)).filter_map(format).collect()
}

/// Sizes the namespace prefers, which it gives in blocks less one.
fn granularity(id: &[u8]) -> Values {
    let Some(format) = formats(id).into_iter().find(|f| f.in_use) else { return Vec::new() };
    if id.get(24).is_none_or(|features| features & 1 << 4 == 0) {
        return Vec::new();
    }
    let fields = [
        (M::WriteGranularity, 64),
        (M::WriteAlignment, 66),
        (M::DeallocateGranularity, 68),
        (M::OptimalWrite, 72),
    ];
    let bytes = |blocks: u128| i64::try_from((blocks + 1) * u128::from(format.data_bytes)).ok();
    fields.iter().filter_map(|(m, at)| Some((*m, bytes(little(id, *at, 2)?)?))).collect()
}
