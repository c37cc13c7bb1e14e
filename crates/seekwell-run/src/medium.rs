//! Makes what is to be measured ready: opens a device or file, or lays out a temporary file.

use crate::executor::Source;
use crate::{Host, RunError, Watcher, target};
use seekwell_access::{
    AccessError, Consent, Fill, Opened, OpenedKind, Order, ReadOnly, Scratch, WritableDevice, Zone,
    open_for_destruction, open_read_only,
};
use seekwell_checkup::{PlanInputs, PlanMedium};
use seekwell_inspect::{Device, DeviceKind, Inspection, TargetKind};
use seekwell_machine::Model;
use seekwell_runs::Medium;
use seekwell_sys::{DevId, path_text, text_path};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The smallest temporary file that is worth measuring.
pub const SMALLEST: u64 = 64 << 20;
/// What the null target pretends to hold.
const NULL_BYTES: u64 = 1 << 40;

/// What was asked for.
pub struct Wanted<'a> {
    /// The target.
    pub inspection: &'a Inspection,
    /// First byte used, the largest of all workloads.
    pub offset_bytes: u64,
    /// How much of the target is used from there on.
    pub size_bytes: Option<u64>,
    /// How much of a temporary file is used if nothing else was asked for.
    pub default_bytes: u64,
    /// Whether a temporary file need hold nothing before the run, which writes before it reads.
    pub blank: bool,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
    /// Whether a workload writes.
    pub writes: bool,
    /// What is to be different in a modelled machine: `controller.kind=ide`.
    pub set: &'a [(String, String)],
}

impl Wanted<'_> {
    /// Where the used part ends, where that was asked for.
    pub fn end_bytes(&self) -> Option<u64> {
        self.size_bytes.map(|size| size.saturating_add(self.offset_bytes))
    }

    fn counted(&self) -> Counted {
        let own = self.inspection.device.as_ref();
        Counted {
            device: own.and_then(|d| d.dev.parse().ok()),
            counting: own.map(below_loops).and_then(|d| d.dev.parse().ok()),
        }
    }
}

/// What is measured, and how documents and plans name it.
pub struct Ready {
    /// Where requests go.
    pub source: Source,
    /// For the document.
    pub medium: Medium,
    /// For the plan.
    pub inputs: PlanInputs,
}

impl Ready {
    /// Restricts reads of a zoned disk to the longest contiguous written part: the rest is answered
    /// without the medium. Of a part that was asked for, says how much was never written. Without a
    /// zone report nothing is restricted.
    pub fn keep_to_written(&mut self, wanted: &Wanted<'_>, watcher: &impl Watcher) {
        let Source::Opened { opened, .. } = &self.source else { return };
        let zones = opened.zones().unwrap_or_default();
        if opened.writable() || zones.is_empty() {
            return;
        }
        if wanted.size_bytes.is_some() || wanted.offset_bytes > 0 {
            let never = never_written(&zones, wanted.offset_bytes..self.inputs.region_bytes);
            if never > 0.0 {
                watcher.note(&format!(
                    "{:.0} % of what is read of the zoned disk was never written: its medium has \
                     no part in these reads",
                    (100.0 * never).ceil()
                ));
            }
            return;
        }
        let (mut longest, mut run) = (0..0, 0..0);
        for written in zones.iter().map(Zone::written) {
            run = if run.end == written.start { run.start..written.end } else { written };
            if run.end - run.start > longest.end - longest.start {
                longest = run.clone();
            }
        }
        let (offset, bytes) = (longest.start, longest.end - longest.start);
        if bytes < self.inputs.region_bytes {
            watcher.note(&format!(
                "only the longest written part of the zoned disk is read: {bytes} bytes from byte \
                 {offset} on"
            ));
            (self.inputs.offset_bytes, self.inputs.region_bytes) = (offset, bytes);
        }
    }
}

/// The share of a part of a zoned disk on which nothing was written.
fn never_written(zones: &[Zone], part: Range<u64>) -> f64 {
    let written = |zone: &Zone| {
        let Range { start, end } = zone.written();
        end.min(part.end).saturating_sub(start.max(part.start))
    };
    let written: u64 = zones.iter().map(written).sum();
    let bytes = part.end.saturating_sub(part.start).max(1);
    bytes.saturating_sub(written) as f64 / bytes as f64
}

/// Opens the target under the safety rules.
///
/// # Errors
/// Whatever the rules or the kernel refuse.
pub fn prepare(
    wanted: &Wanted<'_>,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<Ready, RunError> {
    let path = &*text_path(&wanted.inspection.path);
    let device = wanted.counted();
    if wanted.inspection.kind != TargetKind::Machine && !wanted.set.is_empty() {
        return Err(RunError::NoParameters { path: path.to_path_buf() });
    }
    match (wanted.inspection.kind, wanted.destroy) {
        (TargetKind::Null, None) => Ok(null(wanted)),
        (TargetKind::Machine, None) => modelled(path, wanted),
        (TargetKind::BlockDevice, Some(consent)) => {
            let destroyed = destroyed(path, consent, Order::Any, host, watcher)?;
            let looked_at_bytes = Some(destroyed.looked_at_bytes());
            Ok(ready(Opened::WritableDevice(destroyed), device, wanted, |size_bytes, direct| {
                let serial = consent.serial.to_owned();
                Medium::Destroyed { serial, size_bytes, direct, looked_at_bytes }
            }))
        }
        (TargetKind::BlockDevice | TargetKind::File, None) => {
            if wanted.writes {
                let what = match wanted.inspection.kind {
                    TargetKind::File => "file",
                    _ => "device",
                };
                return Err(RunError::WouldWrite { path: path.to_path_buf(), what });
            }
            Ok(read_only(open_read_only(path)?, None, wanted))
        }
        (TargetKind::Directory, None) => {
            let scratch = lay_out(path, wanted, host, watcher)?;
            Ok(ready(Opened::Scratch(scratch), device, wanted, |size_bytes, direct| {
                let directory = path_text(path);
                Medium::TemporaryFile { directory, size_bytes, direct }
            }))
        }
        (kind, Some(_)) => {
            let what = match kind {
                TargetKind::Directory => "directory",
                TargetKind::File => "file",
                TargetKind::Null => "target without a device",
                TargetKind::Machine => "model",
                TargetKind::BlockDevice => unreachable!("matched above"),
            };
            Err(RunError::NothingToDestroy { path: path.to_path_buf(), what })
        }
    }
}

/// Opens a device that may be overwritten, and says what else is to be known of it.
pub fn destroyed(
    path: &Path,
    consent: Consent<'_>,
    order: Order,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<WritableDevice, RunError> {
    watcher.doing("looking for data of others");
    let device = open_for_destruction(host.view, path, consent, order)?;
    device.notes().iter().for_each(|note| watcher.note(note));
    Ok(device)
}

/// Opens the device below a directory in which no temporary file can be made; `None` if there
/// is no such device.
pub fn below(wanted: &Wanted<'_>) -> Option<Result<Ready, AccessError>> {
    let device = wanted.inspection.device.as_ref()?;
    let node = format!("/dev/{}", device.name.replace('!', "/"));
    let opened = match open_read_only(Path::new(&node)) {
        Err(AccessError::Missing { .. }) => return None,
        Err(error) => return Some(Err(error)),
        Ok(opened) => opened,
    };
    let of = wanted.counted().device;
    let is_own = of.is_some_and(|dev| opened.kind == OpenedKind::BlockDevice { dev });
    is_own.then(|| Ok(read_only(opened, Some(node), wanted)))
}

fn read_only(opened: ReadOnly, device: Option<String>, wanted: &Wanted<'_>) -> Ready {
    let medium = |size_bytes, direct| Medium::ReadOnly { size_bytes, direct, device };
    ready(Opened::ReadOnly(opened), wanted.counted(), wanted, medium)
}

/// Removes what killed runs left in a directory, and says so.
pub fn sweep(dir: &Path, tell: impl Fn(&str)) {
    match seekwell_access::sweep(dir) {
        Ok(found) => found.iter().for_each(|leftover| tell(&leftover.to_string())),
        Err(error) => tell(&error.to_string()),
    }
}

/// Lays out a temporary file, after removing what a killed process left in the directory.
fn lay_out(
    dir: &Path,
    wanted: &Wanted<'_>,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<Scratch, RunError> {
    sweep(dir, |text| watcher.note(text));
    let default_bytes = wanted.default_bytes.saturating_add(wanted.offset_bytes);
    let wanted_bytes = wanted.end_bytes().unwrap_or(default_bytes);
    if wanted.blank {
        let wanted_bytes = wanted_bytes.max(SMALLEST);
        return Ok(Scratch::reserve(dir, wanted_bytes, true)?);
    }
    let mut progress = |done: u64, whole: u64| {
        watcher.part(&format!("laying out a temporary file of {} MiB", whole >> 20), done, whole);
    };
    let fill = Fill {
        wanted_bytes,
        minimum_bytes: SMALLEST,
        seed: 1,
        stop: &host.control.stop,
        progress: &mut progress,
    };
    Ok(Scratch::create(dir, fill)?)
}

fn null(wanted: &Wanted<'_>) -> Ready {
    let region_bytes = wanted.end_bytes().unwrap_or(NULL_BYTES);
    let inputs = PlanInputs {
        medium: PlanMedium::Scratch,
        offset_bytes: 0,
        region_bytes,
        logical_block_bytes: 1,
        direct: true,
        seed: 1,
    };
    Ready { source: Source::Null, medium: Medium::Null, inputs }
}

fn modelled(path: &Path, wanted: &Wanted<'_>) -> Result<Ready, RunError> {
    let model = target::model(path, wanted.set)?;
    let region_bytes = wanted.end_bytes().unwrap_or(model.capacity());
    if region_bytes > model.capacity() {
        return Err(RunError::LargerThanMachine {
            asked: region_bytes,
            capacity: model.capacity(),
        });
    }
    if wanted.writes && model.zones().is_some() {
        return Err(RunError::OnlyInOrder { machine: path.to_path_buf() });
    }
    let medium = machine(&model, wanted.set);
    let inputs = PlanInputs {
        medium: plan_medium(&model),
        offset_bytes: 0,
        region_bytes,
        logical_block_bytes: model.sector_bytes(),
        direct: true,
        seed: 1,
    };
    Ok(Ready { source: Source::Modelled(Arc::new(model)), medium, inputs })
}

/// What a plan may do to a modelled machine.
pub const fn plan_medium(model: &Model) -> PlanMedium {
    if model.zones().is_some() { PlanMedium::ModelledZones } else { PlanMedium::Modelled }
}

/// How documents name a modelled machine that `set` makes different.
pub fn machine(model: &Model, set: &[(String, String)]) -> Medium {
    Medium::Machine {
        title: model.title().to_owned(),
        size_bytes: model.capacity(),
        set: set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        model_error_percent: model.fit().map(|fit| fit.error_percent),
        model_tail_error_percent: model.fit().map(|fit| fit.tail_error_percent),
        model_depth: model.fit().map(|fit| fit.depth),
        model_write_depth: model.fit().map(|fit| fit.write_depth),
    }
}

/// The target's device, and the one that counts what reaches a disk.
#[derive(Clone, Copy)]
struct Counted {
    device: Option<DevId>,
    counting: Option<DevId>,
}

/// The first device that is no loop over a file: a loop counts what the page cache answers.
fn below_loops(device: &Device) -> &Device {
    match (device.kind, device.below.as_slice()) {
        (DeviceKind::Loop, [below]) => below_loops(below),
        _ => device,
    }
}

fn ready(
    opened: Opened,
    Counted { device, counting }: Counted,
    wanted: &Wanted<'_>,
    medium: impl FnOnce(u64, bool) -> Medium,
) -> Ready {
    let direct = opened.direct();
    let region_bytes =
        wanted.end_bytes().map_or(opened.size_bytes(), |s| s.min(opened.size_bytes()));
    let inputs = PlanInputs {
        medium: match &opened {
            Opened::Scratch(_) => PlanMedium::Scratch,
            Opened::ReadOnly(_) => PlanMedium::ReadOnly,
            Opened::WritableDevice(_) => PlanMedium::Destroyed,
        },
        offset_bytes: 0,
        region_bytes,
        logical_block_bytes: opened.logical_block_bytes(),
        direct,
        seed: 1,
    };
    let medium = medium(opened.size_bytes(), direct);
    let source = Source::Opened { opened: Box::new(opened), device, counting, commands: None };
    Ready { source, medium, inputs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_access::{ZoneCondition, ZoneKind};

    #[test]
    fn what_was_never_written_is_counted_within_the_part_that_is_read() {
        let zone = |start, write_pointer| Zone {
            start,
            len: 100,
            capacity: 80,
            write_pointer,
            kind: ZoneKind::SequentialRequired,
            condition: ZoneCondition::Closed,
        };
        let zones = [zone(0, 80), zone(100, 100), zone(200, 220)];
        let share = |part| never_written(&zones, part);
        assert_eq!(share(0..80), 0.0);
        assert_eq!(share(0..100), 0.2);
        assert_eq!(share(60..210), 0.8);
        assert_eq!(share(100..200), 1.0);
    }
}
