//! Measuring a zoned device.

use clap::{Args, ValueEnum};

/// How the zones of a device are used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Zoned devices")]
pub struct Zones {
    /// Follow the write pointers of a zoned device: write at them, reset full zones before
    /// rewriting them, read below them
    #[arg(
        long, value_name = "HOW", requires = "on",
        conflicts_with_all = [
            "jobs", "suite", "sweep", "beside", "limit", "steady", "precondition", "tags",
            "rate_iops",
        ]
    )]
    pub zonemode: Option<ZoneMode>,
    /// The most zones open at once [default: the device's limit]
    #[arg(
        long = "max_open_zones", value_name = "N", requires = "zonemode",
        value_parser = clap::value_parser!(u32).range(1..=4096)
    )]
    pub max_open_zones: Option<u32>,
}

/// fio's word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ZoneMode {
    /// For host-managed and host-aware zoned block devices
    Zbd,
}
