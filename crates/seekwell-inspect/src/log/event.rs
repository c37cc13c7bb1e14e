//! The kernel's storage messages by name.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! events {
    ($($name:ident $id:literal)*) => {
        /// One thing the kernel can say; [`super::catalogue::entry`] says what it means.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum KernelEvent {
            $(
                #[doc = concat!("`", $id, "`")]
                #[serde(rename = $id)]
                $name,
            )*
        }

        impl KernelEvent {
            /// The stable identifier: `KL-001`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }
        }
    };
}

events! {
    SataSpeedLimited "KL-001"
    TransferModeLowered "KL-002"
    NcqDisabled "KL-003"
    AtaException "KL-004"
    QueuedCommandFailed "KL-005"
    CommandFailed "KL-006"
    AtaMediaError "KL-007"
    InterfaceCrc "KL-008"
    LinkNoise "KL-009"
    LinkLost "KL-010"
    InterfaceFatal "KL-011"
    LinkReset "KL-012"
    SlowToRespond "KL-013"
    ResetFailed "KL-014"
    AtaDisabled "KL-015"
    IdentifyTimeout "KL-016"
    AtaLostInterrupt "KL-017"
    ConfiguredForPio "KL-018"
    FortyWireCable "KL-019"
    DmaBlocked "KL-020"
    BridgeLimits "KL-021"
    NcqNotUsed "KL-022"
    NcqDepth "KL-023"
    ForcedSetting "KL-024"
    LpmBroken "KL-025"
    RemappedNvme "KL-026"
    ControllerQuirk "KL-027"
    LinkDown "KL-028"
    HiddenArea "KL-029"
    FirmwareWarning "KL-030"
    SataAsIde "KL-031"
    WriteProtected "KL-032"
    CacheUnknown "KL-033"
    WriteCacheReport "KL-034"
    ScsiCommandFailed "KL-035"
    ScsiMediaError "KL-036"
    ScsiReset "KL-037"
    ScsiOffline "KL-038"
    NotReady "KL-039"
    IoError "KL-040"
    BlockError "KL-041"
    BufferError "KL-042"
    NvmeTimeout "KL-043"
    NvmeReset "KL-044"
    NvmePolled "KL-045"
    NvmeDown "KL-046"
    NvmeRemoved "KL-047"
    NvmeNoQueues "KL-048"
    NvmeQueueCount "KL-049"
    HostMemoryBuffer "KL-050"
    NvmeError "KL-051"
    PcieBandwidth "KL-052"
    PcieCorrected "KL-053"
    PcieUncorrected "KL-054"
    PcieNotReady "KL-055"
    UsbReset "KL-056"
    UasIgnored "KL-057"
    UsbSlow "KL-058"
    MmcDegraded "KL-059"
    BarriersDisabled "KL-060"
    FilesystemStopped "KL-061"
    BtrfsErrors "KL-062"
    ArrayMemberLost "KL-063"
    Misaligned "KL-064"
    InterruptDisabled "KL-065"
    TaskBlocked "KL-066"
    IommuFault "KL-067"
    InvalidOptimalSize "KL-068"
    CapacityChanged "KL-069"
    DuplicateIdentifiers "KL-070"
}

impl fmt::Display for KernelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
