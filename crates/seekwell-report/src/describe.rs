//! A run in words: what the target is and how it is attached, and its main figures as a sentence.

use crate::fidelity::fidelity;
use crate::figures::{Figure, Key, figures};
use crate::study::study;
use crate::suite;
use crate::text::clean;
use crate::units::{capacity, iops, percent};
use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, TargetKind};
use seekwell_runs::{Medium, Phase, RunDocument, Work};

fn value(fact: Option<&Fact<String>>) -> Option<String> {
    fact.map(|f| clean(&f.value)).filter(|v| !v.is_empty())
}

/// What the target is and how it is attached, in one line of clean text:
/// `Samsung SSD 980 PRO, 1 TB, nvme (nvme at 0000:01:00.0), ext4 at /home`.
pub fn heading(inspection: &Inspection) -> String {
    let disks = inspection.device.as_ref().map(disks_under).unwrap_or_default();
    let device = inspection.device.as_ref().filter(|_| inspection.kind != TargetKind::Machine);
    let mut parts = match (device, disks.as_slice()) {
        (Some(top), [disk]) => one_disk(top, disk),
        (Some(top), [_, _, ..]) => many_disks(top, &disks),
        _ => Vec::new(),
    };
    if let Some(fs) = &inspection.filesystem {
        let (kind, at) = (clean(&fs.fstype.value), clean(&fs.mount_point.value));
        let from = clean(&fs.source.value);
        parts.push(match disks.is_empty() {
            true => format!("{kind} at {at} from {from}, no block device"),
            false => format!("{kind} at {at}"),
        });
    }
    if parts.is_empty() {
        parts.push(match inspection.kind {
            TargetKind::Null => "the null target, the engine's own cost".to_owned(),
            TargetKind::Machine => format!("the modelled machine {}", clean(&inspection.target)),
            _ => clean(&inspection.path),
        });
    }
    parts.join(", ")
}

/// The headings of all targets of a run; of many, the first three and how many more.
pub fn headings(document: &RunDocument) -> String {
    const SHOWN: usize = 4;
    let all: Vec<&Inspection> = document.inspections().collect();
    let shown = if all.len() > SHOWN { SHOWN - 1 } else { all.len() };
    let mut parts: Vec<String> = all[..shown].iter().map(|i| heading(i)).collect();
    parts.extend((all.len() > shown).then(|| format!("{} more", all.len() - shown)));
    parts.join("; ")
}

/// The disks under a device; several paths to one disk are one disk.
fn disks_under(device: &Device) -> Vec<&Device> {
    match device.below.as_slice() {
        [] => vec![device],
        [path, ..] if several_paths(device) => {
            vec![if device.model.is_some() { device } else { path }]
        }
        below => below.iter().flat_map(disks_under).collect(),
    }
}

fn several_paths(device: &Device) -> bool {
    let role = device.role.as_ref().map(|f| f.value.as_str());
    device.kind == DeviceKind::MultipathHead || role.is_some_and(|r| r.starts_with("multipath"))
}

fn one_disk(top: &Device, disk: &Device) -> Vec<String> {
    let name = match value(disk.model.as_ref()) {
        Some(model) => format!("{model} ({})", clean(&disk.name)),
        None => clean(&disk.name),
    };
    let mut parts = vec![name];
    parts.extend(disk.size_bytes.as_ref().map(|f| capacity(f.value)));
    parts.extend(attached(disk));
    let plain = matches!(top.kind, DeviceKind::Partition) || std::ptr::eq(top, disk);
    if !plain {
        parts.push(format!("under {}", layer(top)));
    }
    parts
}

fn many_disks(top: &Device, disks: &[&Device]) -> Vec<String> {
    let mut models: Vec<String> = disks.iter().filter_map(|d| value(d.model.as_ref())).collect();
    models.sort();
    models.dedup();
    let mut parts = vec![format!("{} over {} disks", layer(top), disks.len())];
    if !models.is_empty() {
        parts.push(models.join(" and "));
    }
    let mut ways: Vec<String> = disks.iter().filter_map(|d| attached(d)).collect();
    ways.sort();
    ways.dedup();
    match ways.as_slice() {
        [] => {}
        [way] => parts.push(way.clone()),
        _ => parts.extend(transports(disks)),
    }
    parts
}

/// What disks at several controllers speak: `virtio-blk`, or `nvme and sata`.
fn transports(disks: &[&Device]) -> Option<String> {
    let mut spoken: Vec<String> =
        disks.iter().filter_map(|d| value(d.transport.as_ref())).collect();
    spoken.sort();
    spoken.dedup();
    (!spoken.is_empty()).then(|| spoken.join(" and "))
}

fn layer(device: &Device) -> String {
    match value(device.role.as_ref()) {
        Some(role) => format!("{} ({role})", clean(&device.name)),
        None => clean(&device.name),
    }
}

fn attached(disk: &Device) -> Option<String> {
    if let Some(path) = disk.below.first().filter(|_| several_paths(disk)) {
        return attached(path).map(|way| format!("{way}, {} paths", disk.below.len()));
    }
    let transport = value(disk.transport.as_ref());
    let controller = match (value(disk.driver.as_ref()), value(disk.pci.as_ref())) {
        (Some(driver), Some(pci)) => Some(format!("{driver} at {pci}")),
        (driver, pci) => driver.or(pci),
    };
    match (transport, controller) {
        (Some(t), Some(c)) => Some(format!("{t} ({c})")),
        (t, c) => t.or(c),
    }
}

/// The main figures of a run as one sentence, or why there are none.
pub fn sentence(document: &RunDocument) -> String {
    let answer = study(document).into_iter().flat_map(|told| told.sentences).next();
    if let Some(answer) = answer {
        return answer;
    }
    let all = figures(document);
    let text = |key| all.iter().find(|f| f.key == key).map(Figure::with_unit);
    let mut parts = Vec::new();
    match (text(Key::SequentialRead), text(Key::SequentialWrite)) {
        (Some(r), Some(w)) => parts.push(format!("reads {r} and writes {w} in sequence")),
        (Some(r), None) => parts.push(format!("reads {r} in sequence")),
        (None, Some(w)) => parts.push(format!("writes {w} in sequence")),
        (None, None) => {}
    }
    let value = |key| all.iter().find(|f| f.key == key);
    if let Some(one) = value(Key::RandomRead) {
        let mut text =
            format!("answers {} random reads a second at depth {}", one.value, one.depth);
        if let Some(best) = value(Key::RandomReadBest) {
            text += &format!(" and {} at depth {}", best.value, best.depth);
        }
        parts.push(text);
    }
    if let Some(commit) = value(Key::Commit) {
        parts.push(format!("makes {} writes a second durable", commit.value));
    }
    let who = match device_below(document) {
        Some(device) => format!("The device below it, {device},"),
        None if document.modelled => "The model".to_owned(),
        None => "It".to_owned(),
    };
    match parts.as_slice() {
        [] if document.phases.iter().any(|p| p.repeats.iter().any(|r| r.fidelity.is_some())) => {
            let all = fidelity(document);
            let worst = all.iter().max_by_key(|f| f.badness());
            worst.map(|f| f.sentence.clone()).unwrap_or_default()
        }
        [] => suite::sentence(document)
            .or_else(|| jobs(document))
            .or_else(|| {
                let mut drawn = document.phases.iter().filter(|p| p.workload.drawn().is_some());
                Some(format!("{who} made {}.", drawn.find_map(made)?))
            })
            .unwrap_or_else(|| "Nothing was measured.".to_owned()),
        [one] => format!("{who} {one}."),
        [some @ .., last] => format!("{who} {}, and {last}.", some.join(", ")),
    }
}

/// What the first jobs of a job file made, as a sentence; `None` if there are none or they were
/// too short for a rate.
fn jobs(document: &RunDocument) -> Option<String> {
    const NAMED: usize = 3;
    let told = document.phases.iter().filter_map(|phase| {
        let Work::Job(job) = &phase.workload else { return None };
        Some(format!("{} made {}", clean(&job.jobs.join("+")), made(phase)?))
    });
    let told: Vec<String> = told.collect();
    let more = match told.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; {more} more are in the table"),
    };
    let named = told.get(..NAMED.min(told.len()))?.join("; ");
    (!named.is_empty()).then(|| format!("Of the jobs, {named}{more}."))
}

/// How many requests of each kind a phase made in a second; `None` if it was too short for that.
fn made(phase: &Phase) -> Option<String> {
    let kinds = [("read", "reads"), ("write", "writes"), ("discard", "discards")];
    let kinds = kinds.into_iter().filter_map(|(op, word)| {
        let rate = phase.median(&format!("{op}.requests_per_s"))?;
        Some(format!("{} {word} a second", iops(rate)))
    });
    kinds.reduce(|all, one| format!("{all} and {one}"))
}

/// The device that was read in place of a directory without room for a temporary file.
pub(crate) fn device_below(document: &RunDocument) -> Option<String> {
    match &document.medium {
        Some(Medium::ReadOnly { device, .. }) => device.as_deref().map(clean),
        _ => None,
    }
}

/// Whose figures these are, if they are not a disk's: a word and a clause.
pub(crate) fn not_a_disk(document: &RunDocument) -> Option<(&'static str, String)> {
    if let Some(said) = modelled(document) {
        return Some(("◇ MODELLED", said));
    }
    memory(&document.inspection)
        .map(|what| ("▲ MEMORY", format!("figures of {what}, not of a disk")))
        .or_else(|| Some(("▲ CACHED", from_cache(document)?)))
}

fn memory(inspection: &Inspection) -> Option<String> {
    let in_memory = |kind: &str| matches!(kind, "tmpfs" | "ramfs");
    let fs = inspection.filesystem.as_ref().filter(|fs| in_memory(&fs.fstype.value));
    if let Some(fs) = fs {
        let (kind, at) = (clean(&fs.fstype.value), clean(&fs.mount_point.value));
        return Some(format!("memory ({kind} at {at})"));
    }
    let disk = inspection.disks().into_iter().next()?;
    let name = clean(&disk.name);
    match disk.kind {
        DeviceKind::Zram => Some(format!("compressed memory ({name})")),
        DeviceKind::Loop => Some(format!("a file in memory ({})", layer(disk))),
        _ if name.strip_prefix("ram").is_some_and(|n| n.parse::<u32>().is_ok()) => {
            Some(format!("a RAM disk ({name})"))
        }
        _ => None,
    }
}

/// How little of the bytes behind the main figures reached a device, where it was little.
fn from_cache(document: &RunDocument) -> Option<String> {
    const MOST: f64 = 0.9;
    let figures = figures(document);
    let shares = figures
        .iter()
        .filter_map(|f| document.phase(&f.phase)?.median("device_share").filter(|s| *s < MOST));
    let least = shares.reduce(f64::min)?;
    let disks = document.inspection.disks();
    let disk = disks.first().map_or_else(|| "a device".to_owned(), |d| clean(&d.name));
    Some(format!(
        "figures of the page cache, in part or as a whole: of some only {} of the bytes reached \
         {disk}",
        percent(least)
    ))
}

/// Whose figures these are, where they are of a model, and how wrong they may be.
fn modelled(document: &RunDocument) -> Option<String> {
    let said = "figures of a model, not of a disk";
    if !document.modelled {
        return None;
    }
    let Some(error) = fit_error(document) else { return Some(said.to_owned()) };
    let mut said = format!(
        "{said}; the model was fitted to one, and the ranges include the fit's error of \
                 {error} %"
    );
    let Some(Medium::Machine { model_depth: Some(reads), model_write_depth: Some(writes), .. }) =
        document.medium
    else {
        return Some(said);
    };
    let run = document.phases.iter().filter(|p| p.skipped.is_none());
    let is_deeper = |w: &seekwell_io::workload::Workload| {
        w.pace.depth() * w.threads > if w.destroys() { writes } else { reads }
    };
    if run.filter_map(|p| p.workload.drawn()).any(is_deeper) {
        said += &format!(
            ", measured at queue depths up to {reads} for reads and {writes} for writes; at \
             greater depths the ranges are widened in proportion, because what limits the disk \
             there is not known"
        );
    }
    Some(said)
}

/// By how much a fitted machine may be wrong, in percent.
pub(crate) fn fit_error(document: &RunDocument) -> Option<f64> {
    match &document.medium {
        Some(Medium::Machine { model_error_percent, .. }) => *model_error_percent,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_partition_is_described_as_its_disk_and_an_array_as_its_members() {
        let rich = testing::rich();
        insta::assert_snapshot!(heading(&rich.0.inspection), @"Example NV-1000 Pro (nvme0n1), 1 TB, nvme (nvme at 0000:01:00.0), ext4 at /home");
        let array = testing::array();
        insta::assert_snapshot!(heading(&array.0.inspection), @"dm-0 (lvm vg0-srv) over 2 disks, EXAMPLE HD-2000 A and EXAMPLE HD-2000 B, sata (ahci at 0000:00:17.0), xfs at /srv");
    }

    #[test]
    fn several_paths_to_a_disk_are_one_disk() {
        let mut inspection = testing::rich().0.inspection;
        let disk = inspection.disks()[0].clone();
        let nameless = Device { model: None, below: Vec::new(), ..disk.clone() };
        let head = Device {
            kind: DeviceKind::MultipathHead,
            transport: None,
            driver: None,
            pci: None,
            attachment: Vec::new(),
            below: vec![nameless.clone(), nameless],
            ..disk
        };
        inspection.device = Some(head);
        insta::assert_snapshot!(heading(&inspection), @"Example NV-1000 Pro (nvme0n1), 1 TB, nvme (nvme at 0000:01:00.0), 2 paths, ext4 at /home");
    }

    #[test]
    fn a_target_without_a_disk_is_described_by_its_file_system() {
        let mut inspection = testing::rich().0.inspection;
        inspection.device = None;
        insta::assert_snapshot!(heading(&inspection), @"ext4 at /home from /dev/nvme0n1p2, no block device");
        inspection.filesystem = None;
        assert_eq!(heading(&inspection), inspection.path);
    }

    #[test]
    fn the_sentence_names_what_was_measured_and_nothing_else() {
        insta::assert_snapshot!(sentence(&testing::rich().0), @"It reads 3,423 MB/s and writes 2,723 MB/s in sequence, answers 13.4k random reads a second at depth 1 and 339k at depth 128, and makes 1,409 writes a second durable.");
        insta::assert_snapshot!(sentence(&testing::degraded().0), @"It answers 414 random reads a second at depth 1.");
    }
}
