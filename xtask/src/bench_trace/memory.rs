//! What the statistics of a trace that fits into no memory need: 10⁹ requests, made while they are
//! read, through a pipe.

use super::Bench;
use super::import::write_msr;
use crate::Failure;
use crate::bench_engine::tools::finish_fed;
use crate::report::{Page, Row, Unit, Wanted};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Command;

const REQUESTS: u64 = 1_000_000_000;
const DISKS: u64 = 4000;
/// What is promised.
const MOST_BYTES: f64 = 512e6;

/// Once: `seekwell trace stats` of MSR CSV, reuse distances and all.
pub fn memory(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let requests = if bench.quick { REQUESTS / 100 } else { REQUESTS };
    let mut command = Command::new(&bench.seekwell);
    command.args(["trace", "stats", "--from", "msr", "--json", "/dev/stdin"]);
    let (text, used) =
        finish_fed(command, |stdin| write_msr(File::from(OwnedFd::from(stdin)), requests, DISKS))?;
    let told: serde_json::Value = serde_json::from_slice(&text)?;
    if told["requests"].as_u64() != Some(requests) {
        return Err(format!("{} requests were counted of {requests}", told["requests"]).into());
    }
    let what = format!("statistics of {requests} requests to {DISKS} disks with SHARDS");
    let rate = requests as f64 / (used.user_ns + used.system_ns) * 1e9;
    page.rows.extend([
        Row::new(
            format!("{what}: most memory"),
            Unit::Bytes,
            vec![used.peak_bytes],
            Wanted::AtMost(MOST_BYTES),
        ),
        Row::new(
            format!("{what}: MSR CSV through a pipe"),
            Unit::Named("requests/s of CPU"),
            vec![rate],
            Wanted::Nothing,
        ),
    ]);
    Ok(())
}
