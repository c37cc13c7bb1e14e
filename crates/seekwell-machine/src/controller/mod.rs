//! Controllers: what stands between the host's driver and the drives, and what it costs the host.

mod ahci;
mod ide;
mod ide_mode;

#[cfg(test)]
mod ahci_tests;
#[cfg(test)]
mod ide_tests;

pub use ahci::{Ahci, AhciParams, Interrupt};
pub use ide::{Ide, IdeError, IdeParams};
pub use ide_mode::{IdeMode, PortWidth};
