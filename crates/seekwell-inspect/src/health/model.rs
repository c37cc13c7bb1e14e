//! What a drive said, decoded.

use super::Measure;
use super::cell::Values;
use crate::model::Fact;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Health, wear and what the drive prefers, as the drive itself reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// What the drive warns of; empty if it says that all is well, absent if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Fact<Vec<Warning>>>,
    /// Counters and levels.
    pub values: BTreeMap<Measure, Fact<i64>>,
    /// SMART attributes of an ATA drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Fact<Vec<Attribute>>>,
    /// Self-tests, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_tests: Option<Fact<Vec<SelfTest>>>,
    /// Entries of the error log of an NVMe controller, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Fact<Vec<LoggedError>>>,
    /// LBA formats of an NVMe namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formats: Option<Fact<Vec<LbaFormat>>>,
    /// Commands that the kernel counted as failed because they were asked: an ATA command that
    /// answers in registers is one.
    #[serde(skip_serializing_if = "is_zero")]
    pub provoked: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What was written in the life of a drive, as it counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// By the host.
    pub host_bytes: u64,
    /// To the medium; `None` if the drive does not report it.
    pub media_bytes: Option<u64>,
}

impl Health {
    /// What was written so far; `None` if the drive does not count what the host writes.
    pub fn written(&self) -> Option<Written> {
        let bytes = |measure| u64::try_from(self.get(measure)?.value).ok();
        let media_bytes = bytes(Measure::MediaWritten);
        Some(Written { host_bytes: bytes(Measure::Written)?, media_bytes })
    }
}

/// Something a drive warns of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// The spare capacity is below its threshold.
    SpareLow,
    /// The temperature is outside its limits.
    Temperature,
    /// Errors of the medium or inside the drive have made it unreliable.
    Unreliable,
    /// It takes no more writes.
    ReadOnly,
    /// What keeps its volatile memory over a power cut has failed.
    BackupFailed,
    /// Its persistent memory region is unreliable or read-only.
    MemoryRegion,
    /// It predicts that it will fail.
    Failing,
}

impl Warning {
    /// As a clause of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::SpareLow => "its spare capacity is below the threshold",
            Self::Temperature => "its temperature is outside the limits",
            Self::Unreliable => "errors have made it unreliable",
            Self::ReadOnly => "it has become read-only",
            Self::BackupFailed => "its power-loss protection has failed",
            Self::MemoryRegion => "its persistent memory region is unreliable",
            Self::Failing => "it predicts its own failure",
        }
    }
}

/// A SMART attribute. Values count down towards the threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    pub id: u8,
    pub value: u8,
    pub worst: u8,
    /// `None` if the drive gives none; 0 is never reached.
    pub threshold: Option<u8>,
    pub raw: u64,
    /// At or below the threshold it predicts failure; otherwise it says that the drive is old.
    pub pre_fail: bool,
}

impl Attribute {
    /// Whether the value is at or below its threshold.
    pub fn has_failed(&self) -> bool {
        self.threshold.is_some_and(|t| t > 0 && (1..=253).contains(&self.value) && self.value <= t)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    /// By a command, a reset or a power cut.
    Aborted,
    Failed,
    Running,
}

/// A self-test that the drive remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    pub outcome: Outcome,
    /// It was an extended one, which reads the whole medium.
    pub extended: bool,
    /// Hours the drive had been powered on.
    pub hours: u64,
    /// The first block that failed, if it is reported.
    pub failed_lba: Option<u64>,
}

/// A command that failed. One that the controller does not know counts too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedError {
    /// Its number; the drive counts them over its whole life.
    pub count: u64,
    /// Status code in bits 7:0, type in bits 10:8.
    pub status: u16,
    /// The first block it concerned, where it was about blocks.
    pub lba: Option<u64>,
}

/// A size of blocks a namespace can be formatted to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbaFormat {
    /// What `nvme format --lbaf` takes.
    pub index: u8,
    pub data_bytes: u64,
    pub metadata_bytes: u64,
    /// 0 best, 1 better, 2 good, 3 degraded.
    pub performance: u8,
    pub in_use: bool,
}

impl Health {
    /// What a drive was asked and answered, where it answered anything.
    pub(super) fn told(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    pub fn get(&self, measure: Measure) -> Option<&Fact<i64>> {
        self.values.get(&measure)
    }

    /// Bytes written to flash for each byte the host wrote, where the drive counts both.
    pub fn write_amplification(&self) -> Option<f64> {
        let of = |measure| self.get(measure).map(|f| f.value as f64).filter(|v| *v > 0.0);
        Some(of(Measure::MediaWritten)? / of(Measure::Written)?)
    }

    /// The newest self-test that came to an end.
    pub fn last_test(&self) -> Option<&SelfTest> {
        let ended = |t: &&SelfTest| matches!(t.outcome, Outcome::Passed | Outcome::Failed);
        self.self_tests.as_ref()?.value.iter().find(ended)
    }

    pub(super) fn take(&mut self, values: Values, from: &str) {
        for (measure, value) in values {
            self.values.entry(measure).or_insert_with(|| Fact::new(value, from));
        }
    }
}
