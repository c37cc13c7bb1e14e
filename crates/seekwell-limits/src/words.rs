//! Names and commands.

use crate::Run;
use seekwell_inspect::Evidence;
use seekwell_runs::limits::Station;

pub fn evidence(seen: impl Into<String>, from: impl Into<String>) -> Evidence {
    Evidence { seen: seen.into(), from: from.into() }
}

/// What a station is called where nothing more is known of it.
pub const fn station_name(station: Station) -> &'static str {
    match station {
        Station::Link => "the link",
        Station::Bus => "the bus",
        Station::TransferMode => "the transfer mode",
        Station::Controller => "the controller",
        Station::Tags => "the number of commands at once",
        Station::Processor => "the processor",
        Station::Mechanics => "seeks and rotation",
        Station::Medium => "the medium",
        Station::Flash => "the flash",
        Station::Collection => "garbage collection",
        Station::WriteCache => "the write cache",
        Station::Throttle => "a rate limit",
        Station::Credits => "burst credits",
        Station::Parity => "parity",
        Station::Latency => "latency",
        Station::Pace => "the load itself",
        Station::Memory => "the page cache",
        Station::Unknown => "unknown",
    }
}

/// The command that measures the target again, with this option.
pub fn command(run: &Run<'_>, option: &str) -> String {
    match option {
        "--depths" => format!("seekwell checkup {}", run.document.inspection.target),
        _ => format!("seekwell bench --on {} {option}", run.document.inspection.target),
    }
}
