//! What is counted and measured.

use seekwell_sys::units;
use serde::{Deserialize, Serialize};

/// What a value is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Percent,
    Celsius,
    /// A volume, shown in decimal units.
    Bytes,
    /// The size of something in memory or on the drive, shown in binary units.
    Size,
    Hours,
    Minutes,
    Seconds,
    Microseconds,
}

macro_rules! measures {
    ($($(#[$doc:meta])* $name:ident: $words:literal, $unit:ident;)*) => {
        /// A counter or a level that a drive reports, whatever its command set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Measure { $($(#[$doc])* $name,)* }

        impl Measure {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub const fn words(self) -> &'static str {
                match self { $(Self::$name => $words),* }
            }

            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit),* }
            }
        }
    };
}

measures! {
    /// Of the endurance the maker estimates; above 100 where it outlasts that.
    PercentUsed: "wear", Percent;
    /// Spare capacity left.
    Spare: "spare capacity", Percent;
    SpareThreshold: "spare capacity threshold", Percent;
    Temperature: "temperature", Celsius;
    TemperatureWarning: "warning temperature", Celsius;
    TemperatureCritical: "critical temperature", Celsius;
    /// By the host.
    Written: "written", Bytes;
    Read: "read", Bytes;
    /// Physically, copies inside the drive included.
    MediaWritten: "written to flash", Bytes;
    MediaRead: "read from flash", Bytes;
    PowerOnHours: "powered on", Hours;
    PowerCycles: "power cycles", Count;
    UnsafeShutdowns: "unsafe shutdowns", Count;
    IncompleteShutdowns: "incomplete shutdowns", Count;
    StartStopCycles: "start-stop cycles", Count;
    /// Data that could not be delivered.
    MediaErrors: "media errors", Count;
    ReallocatedSectors: "reallocated sectors", Count;
    Reallocations: "reallocations", Count;
    /// Sectors that could not be read and wait to be written.
    PendingSectors: "pending sectors", Count;
    UncorrectableSectors: "sectors that cannot be corrected", Count;
    EndToEndErrors: "end-to-end errors", Count;
    BadBlocks: "bad flash blocks", Count;
    CrcErrors: "CRC errors of the cable", Count;
    CommandTimeouts: "command time-outs", Count;
    NonMediumErrors: "errors beside the medium", Count;
    /// Failed commands of any kind, ones the drive does not know included.
    LoggedErrors: "error log entries", Count;
    /// 0: at full speed; 1 to 3: how strongly it is slowed down now.
    ThrottleLevel: "throttling level", Count;
    ThrottleEvents: "throttling events", Count;
    LightThrottles: "slowdowns for its heat", Count;
    HeavyThrottles: "heavy slowdowns for its heat", Count;
    LightThrottleTime: "slowed down for its heat", Seconds;
    HeavyThrottleTime: "slowed down heavily for its heat", Seconds;
    WarmTime: "above the warning temperature", Minutes;
    HotTime: "above the critical temperature", Minutes;
    /// Charge of the capacitors that save cached data when power fails.
    CapacitorHealth: "capacitor health", Percent;
    FreeBlocks: "free flash blocks", Percent;
    BusyTime: "controller busy", Minutes;
    ReadCommands: "read commands", Count;
    WriteCommands: "write commands", Count;
    /// Demand exceeded the provisioned IOPS of a cloud volume.
    VolumeIopsExceeded: "above the volume's IOPS limit", Microseconds;
    VolumeRateExceeded: "above the volume's throughput limit", Microseconds;
    /// Demand on all volumes of its virtual machine exceeded that machine's IOPS limit.
    InstanceIopsExceeded: "above the instance's IOPS limit", Microseconds;
    InstanceRateExceeded: "above the instance's throughput limit", Microseconds;
    /// Assuming memory pages of 4 KiB.
    MaxTransfer: "largest transfer", Size;
    PowerStates: "power states", Count;
    /// 1: it changes power states on its own (APST).
    AutonomousPower: "autonomous power states", Count;
    WriteGranularity: "preferred write granularity", Size;
    WriteAlignment: "preferred write alignment", Size;
    OptimalWrite: "optimal write size", Size;
    DeallocateGranularity: "preferred deallocate granularity", Size;
}

impl Measure {
    /// Counts that no healthy drive increases.
    pub const TROUBLE: &[Self] = &[
        Self::MediaErrors,
        Self::ReallocatedSectors,
        Self::Reallocations,
        Self::PendingSectors,
        Self::UncorrectableSectors,
        Self::EndToEndErrors,
        Self::CrcErrors,
        Self::CommandTimeouts,
        Self::LightThrottles,
        Self::HeavyThrottles,
        Self::WarmTime,
        Self::HotTime,
    ];

    /// A value with its unit.
    pub fn text(self, value: i64) -> String {
        match self.unit() {
            Unit::Count => value.to_string(),
            Unit::Percent => format!("{value} %"),
            Unit::Celsius => format!("{value} °C"),
            Unit::Bytes => units::capacity(value.unsigned_abs()),
            Unit::Size => units::binary(value.unsigned_abs()),
            Unit::Hours => format!("{value} h"),
            Unit::Minutes => format!("{value} min"),
            Unit::Seconds => format!("{value} s"),
            Unit::Microseconds => format!("{:.1} s", value as f64 / 1e6),
        }
    }

    /// Properties of the drive, which do not change as it is used.
    pub const fn is_limit(self) -> bool {
        self as u8 >= Self::MaxTransfer as u8
    }
}
