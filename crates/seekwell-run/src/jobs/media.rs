//! Everything that jobs use, opened under the safety rules before the first of them begins.

use super::error::{Fault, JobRunError};
use crate::{Host, RunError, Watcher, medium, sweep};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seekwell_access::{
    AccessError, Consent, Fill, FsSpace, Opened, Order, Scratch, Way, drop_cache, folder_of,
    open_read_only, plan_size,
};
use seekwell_inspect::Target;
use seekwell_io::target::Passthrough;
use seekwell_job::job::{EngineKind, Job, OpenSync};
use seekwell_job::layout::{Layout, Member, Place, There, Use};
use seekwell_job::play::source::walk::Region;
use seekwell_job::play::zones::SharedZones;
use seekwell_sys::{DevId, DiskCounters, View};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Descriptors beside those of jobs: the terminal, rings, what is kept.
const OTHER_FILES: u64 = 64;

/// What a place became.
#[derive(Debug)]
pub struct Medium {
    /// `None` if requests go nowhere.
    pub opened: Option<Arc<Opened>>,
    /// The block device under it.
    pub device: Option<DevId>,
    /// Its zones, where jobs follow them.
    pub zones: Option<Arc<SharedZones>>,
}

/// All media of a run.
#[derive(Debug)]
pub struct Media {
    /// In the order of the layout's places.
    pub media: Vec<Medium>,
    ways: HashMap<(usize, Way), Arc<OwnedFd>>,
    commands: HashMap<usize, Arc<OwnedFd>>,
}

/// Refuses what the safety rules forbid, and what there is no room for. Nothing is written.
pub fn check(layout: &Layout, destroy: Option<Consent<'_>>) -> Result<(), RunError> {
    let mut destroys = false;
    for place in &layout.places {
        let Some(job) = place.written_by.clone() else { continue };
        let refuse = |why| Err(JobRunError::Job { job, why });
        let path = place.path.clone();
        match place.there {
            There::File => refuse(Fault::WouldOverwrite { path })?,
            There::Device if destroy.is_none() => refuse(Fault::WouldDestroy { path })?,
            There::Device => destroys = true,
            There::Nothing | There::Null | There::Modelled => {}
        }
    }
    if destroy.is_some() && !destroys {
        return Err(JobRunError::NothingToDestroy.into());
    }
    let mut needed: HashMap<u64, (PathBuf, u64)> = HashMap::new();
    for place in layout.places.iter().filter(|p| p.there == There::Nothing) {
        let folder = folder_of(&place.path);
        let stat = rustix::fs::stat(folder).map_err(|e| failed("looking at", folder, e.into()))?;
        let entry = needed.entry(stat.st_dev).or_insert_with(|| (folder.to_path_buf(), 0));
        entry.1 = entry.1.saturating_add(place.end.next_multiple_of(4096));
    }
    for (folder, bytes) in needed.values() {
        let space = FsSpace::of(folder)?;
        if space.read_only {
            return Err(AccessError::ReadOnlyFileSystem { dir: folder.clone() }.into());
        }
        plan_size(*bytes, *bytes, &space)?;
    }
    enough_descriptors(layout.places.len() as u64)
}

/// Each place may be open in two ways.
fn enough_descriptors(places: u64) -> Result<(), RunError> {
    let needed = places * 2 + OTHER_FILES;
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if enough(now.current) {
        return Ok(());
    }
    let limit = now.maximum.unwrap_or(needed);
    if !enough(now.maximum) {
        return Err(JobRunError::TooManyFiles { needed, limit }.into());
    }
    let raised = Rlimit { current: Some(needed), maximum: now.maximum };
    setrlimit(Resource::Nofile, raised)
        .map_err(|_| JobRunError::TooManyFiles { needed, limit: now.current.unwrap_or(0) }.into())
}

/// Opens everything, and lays out what is not there.
pub fn open(
    layout: &Layout,
    destroy: Option<Consent<'_>>,
    host: Host<'_>,
    line: &impl Watcher,
) -> Result<Media, RunError> {
    let folders: BTreeSet<&Path> = layout
        .places
        .iter()
        .filter(|p| p.there == There::Nothing)
        .map(|p| folder_of(&p.path))
        .collect();
    for folder in folders {
        sweep(folder, |text| line.note(text));
    }
    let mut media = Vec::with_capacity(layout.places.len());
    let mut devices: HashMap<&Path, Option<DevId>> = HashMap::new();
    for place in &layout.places {
        let opened = one(place, destroy, host, line)?;
        if let Some(now) = opened.as_ref().map(Opened::size_bytes).filter(|now| *now < place.end) {
            let path = place.path.clone();
            return Err(JobRunError::Shrunk { path, end: place.end, now }.into());
        }
        let may_write = opened.as_ref().is_none_or(Opened::writable);
        assert!(
            place.written_by.is_none() || may_write,
            "{place:?} is written, and was not opened so"
        );
        let device = match opened {
            None => None,
            Some(_) => {
                let target = target_of(place);
                *devices.entry(target).or_insert_with(|| device_of(target, host.view))
            }
        };
        media.push(Medium { opened: opened.map(Arc::new), device, zones: None });
    }
    Ok(Media { media, ways: HashMap::new(), commands: HashMap::new() })
}

/// The block device under a path, if it has one.
fn device_of(path: &Path, view: &dyn View) -> Option<DevId> {
    let target = Target::resolve(view, path).ok()?;
    seekwell_inspect::inspect(view, &target).device?.dev.parse().ok()
}

fn one(
    place: &Place,
    destroy: Option<Consent<'_>>,
    host: Host<'_>,
    line: &impl Watcher,
) -> Result<Option<Opened>, RunError> {
    Ok(Some(match (place.there, destroy) {
        (There::Null | There::Modelled, _) => return Ok(None),
        (There::Device, Some(consent)) if place.written_by.is_some() => {
            let order = if place.any_order { Order::Any } else { Order::ByZone };
            Opened::WritableDevice(medium::destroyed(&place.path, consent, order, host, line)?)
        }
        (There::Device | There::File, _) => Opened::ReadOnly(open_read_only(&place.path)?),
        (There::Nothing, _) => Opened::Scratch(lay_out(place, host, line)?),
    }))
}

/// A temporary file in place of one that is not there: filled where it is read before it was
/// written, else with room made for it.
fn lay_out(place: &Place, host: Host<'_>, line: &impl Watcher) -> Result<Scratch, RunError> {
    let folder = folder_of(&place.path);
    if !place.is_read {
        return Ok(Scratch::reserve(folder, place.end, place.allocated)?);
    }
    let what = format!("laying out {}", place.path.display());
    let mut progress = |done: u64, whole: u64| line.part(&what, done, whole);
    let fill = Fill {
        wanted_bytes: place.end,
        minimum_bytes: place.end,
        seed: 1,
        stop: &host.control.stop,
        progress: &mut progress,
    };
    Ok(Scratch::create(folder, fill)?)
}

/// What is inspected in place of a file that is not there: its folder.
pub fn target_of(place: &Place) -> &Path {
    match place.there {
        There::Nothing => folder_of(&place.path),
        There::File | There::Device | There::Null | There::Modelled => &place.path,
    }
}

impl Media {
    /// The descriptor of a place as a job needs it: for passthrough, or with or without the page
    /// cache and durable writes.
    pub fn descriptor(&mut self, place: usize, job: &Job) -> io::Result<Arc<OwnedFd>> {
        let Some(opened) = &self.media[place].opened else {
            unreachable!("jobs that go nowhere open nothing")
        };
        if job.engine.kind == EngineKind::IoUringCmd {
            return Ok(Arc::clone(&self.commands[&place]));
        }
        let way = Way {
            direct: job.engine.direct && opened.direct(),
            sync: job.durability.open == OpenSync::Sync,
            data_sync: job.durability.open == OpenSync::Dsync,
        };
        Ok(Arc::clone(match self.ways.entry((place, way)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Arc::new(opened.reopen(way)?)),
        }))
    }

    /// Opens the character devices of jobs that use NVMe passthrough.
    pub fn open_commands(
        &mut self,
        jobs: &[Job],
        layout: &Layout,
        view: &dyn View,
    ) -> Result<(), RunError> {
        let by_command = |m: &&Member| jobs[m.job].engine.kind == EngineKind::IoUringCmd;
        for member in layout.members.iter().filter(by_command) {
            let job = &jobs[member.job];
            for used in &member.uses {
                let Some(opened) = &self.media[used.place].opened else { continue };
                let commands = match self.commands.entry(used.place) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(Arc::new(opened.commands(view)?)),
                };
                Passthrough::check(commands.as_fd(), job.engine.flags, job.max_block())?;
            }
        }
        Ok(())
    }

    /// Makes sure of what the requests of a clone rely on: its part is inside of what was opened,
    /// and begins on a whole block.
    pub fn assert_usable(&self, used: &Use, job: &Job) {
        let Some(opened) = &self.media[used.place].opened else { return };
        let Region { start, bytes } = used.region;
        let end = start.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= opened.size_bytes()), "{used:?} is beyond the end");
        let block = self.block_bytes(std::iter::once(used), job);
        assert!(start.is_multiple_of(u64::from(block)), "{used:?} begins within a block");
    }

    /// Whether a place is driven past the page cache when a job asks for that.
    pub fn direct(&self, place: usize) -> bool {
        self.media[place].opened.as_ref().is_some_and(|opened| opened.direct())
    }

    /// How much of a device that may be overwritten was looked at for data of others.
    pub fn looked_at_bytes(&self, place: usize) -> Option<u64> {
        match self.media[place].opened.as_deref() {
            Some(Opened::WritableDevice(device)) => Some(device.looked_at_bytes()),
            _ => None,
        }
    }

    /// What requests of a job to some of its places have to be whole multiples of, in bytes.
    pub fn block_bytes<'u>(&self, uses: impl IntoIterator<Item = &'u Use>, job: &Job) -> u32 {
        let direct = |opened: &&Opened| job.engine.direct && opened.direct();
        let opened = uses.into_iter().filter_map(|u| self.media[u.place].opened.as_deref());
        let opened = opened.filter(direct);
        opened.map(Opened::logical_block_bytes).max().unwrap_or(1)
    }

    /// Drops what the page cache holds of a place.
    pub fn forget(&self, place: usize) {
        if let Some(opened) = &self.media[place].opened {
            // Advice; if it is not taken, the device's own counters show it.
            let _ = drop_cache(opened);
        }
    }

    /// What the block devices under some places have counted so far, each device once.
    pub fn counters(&self, places: &BTreeSet<usize>, view: &dyn View) -> Option<DiskCounters> {
        let devices: BTreeSet<DevId> =
            places.iter().filter_map(|place| self.media[*place].device).collect();
        if devices.is_empty() {
            return None;
        }
        devices
            .into_iter()
            .map(|device| DiskCounters::read(view, device))
            .sum::<Result<_, _>>()
            .ok()
    }
}

fn failed(what: &'static str, path: &Path, source: io::Error) -> AccessError {
    AccessError::Io { what, path: path.to_path_buf(), source }
}
