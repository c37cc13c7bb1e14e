//! A fleet that was measured day after day, made up for tests.

#[path = "../../../../seekwell-report/tests/sample/mod.rs"]
mod sample;

use seekwell_inspect::facts::AtaFacts;
use seekwell_inspect::{Device, Fact};
use seekwell_runs::{Detail, RunDocument};
use std::path::Path;

/// Saves a run of each host on each of the first days of November 2026, all alike but for their
/// host and what `change` makes of them. Histograms are of the first host alone.
pub fn keep(
    home: &Path,
    hosts: usize,
    days: u8,
    change: impl Fn(usize, u8, &mut RunDocument),
) -> Vec<String> {
    let (like, detail) = sample::rich();
    let mut ids = Vec::new();
    for (day, host) in (1..=days).flat_map(|day| (1..=hosts).map(move |host| (day, host))) {
        let mut run = like.clone();
        run.id = format!("202611{day:02}-{host:06}-checkup-{host:04x}");
        run.started_at = format!("2026-11-{day:02}T00:{:02}:{:02}Z", host / 60, host % 60);
        run.inspection.host.name = Some(Fact::new(format!("web{host}"), "uname(2)"));
        let disk = disk(&mut run);
        disk.serial = Some(Fact::new(format!("S{host:04}"), "sysfs"));
        link(disk, "6.0 Gbps");
        change(host, day, &mut run);
        let folder = home.join("runs").join(&run.id);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
        let detail = if host == 1 { detail.clone() } else { Detail::default() };
        std::fs::write(folder.join("detail.json"), serde_json::to_vec(&detail).unwrap()).unwrap();
        ids.push(run.id);
    }
    ids
}

/// The disk at the bottom.
pub fn disk(run: &mut RunDocument) -> &mut Device {
    let mut disk = run.inspection.device.as_mut().unwrap();
    while !disk.below.is_empty() {
        disk = &mut disk.below[0];
    }
    disk
}

pub fn link(disk: &mut Device, speed: &str) {
    let link_speed = Some(Fact::new(speed.to_owned(), "/sys/class/ata_link/link1/sata_spd"));
    disk.detail.ata = Some(AtaFacts { link_speed, ..AtaFacts::default() });
}

/// Makes every request take this many times as long.
pub fn slow_down(run: &mut RunDocument, times: f64) {
    for (name, spread) in run.phases.iter_mut().flat_map(|phase| &mut phase.metrics) {
        let by = match name {
            _ if name.contains("_per_s") => 1.0 / times,
            _ if name.contains("_ns_") => times,
            _ => 1.0,
        };
        for value in [&mut spread.median, &mut spread.low, &mut spread.high] {
            *value *= by;
        }
    }
}
