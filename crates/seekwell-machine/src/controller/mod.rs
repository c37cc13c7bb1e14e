//! Controllers: what stands between the host's driver and the drives, and what it costs the host.

mod ahci;
mod cache_device;
mod ide;
mod ide_mode;
mod memory;

#[cfg(test)]
mod ahci_tests;
#[cfg(test)]
mod cache_device_tests;
#[cfg(test)]
mod ide_tests;

pub use ahci::{Ahci, AhciParams, Interrupt};
pub use cache_device::{CacheDevice, CacheDeviceParams};
pub use ide::{Ide, IdeError, IdeParams};
pub use ide_mode::{IdeMode, PortWidth};
pub use memory::{MemoryCache, MemoryParams, WriteScheme};
