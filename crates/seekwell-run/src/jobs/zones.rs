//! The zones that jobs follow: read once all devices are open, then shared by all clones.

use super::error::{Fault, JobRunError};
use super::media::{Media, Medium};
use seekwell_access::{Zone, ZoneChange, ZoneCondition, ZoneKind};
use seekwell_job::job::{Job, Zoned};
use seekwell_job::layout::{Layout, Member, Use};
use seekwell_job::play::zones::{
    Asker, ChangeZones, Collecting, Follow, SharedZones, Takes, Zones,
};
use seekwell_machine::Model;
use seekwell_machine::ssd::ZoneParams;
use seekwell_sys::{DevId, View};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the zones of each place whose zones are followed.
///
/// # Errors
/// If it is not a zoned device, or none of its zones fits the job.
pub fn follow(
    jobs: &[Job],
    layout: &Layout,
    media: &mut Media,
    view: &dyn View,
) -> Result<(), JobRunError> {
    for member in &layout.members {
        let job = &jobs[member.job];
        let Some(zoned) = job.zoned else { continue };
        for used in &member.uses {
            let path = || layout.places[used.place].path.clone();
            let medium = &mut media.media[used.place];
            let shared = match medium.zones.take() {
                Some(known) => known,
                None => {
                    let is_here = |m: &&Member| m.uses.iter().any(|u| u.place == used.place);
                    let here = layout.members.iter().filter(is_here);
                    let followed = here.filter_map(|member| jobs[member.job].zoned);
                    let limit = medium.device.and_then(|device| limit_of(device, view));
                    let most = most_open(followed, limit);
                    ask(medium, most, path).map_err(|fault| fault.of(job))?
                }
            };
            fits(job, zoned, &shared.lock(), used, path).map_err(|fault| fault.of(job))?;
            medium.zones = Some(shared);
        }
    }
    Ok(())
}

/// A modelled drive, in which changing a zone only takes time.
#[derive(Debug)]
struct Timed(ZoneParams);

impl ChangeZones for Timed {
    fn change(&self, zone: &Zone, change: ZoneChange) -> io::Result<Takes> {
        let written = zone.write_pointer - zone.start;
        Ok(Takes::WillTake(match change {
            ZoneChange::Reset => self.0.reset(written),
            ZoneChange::Finish => self.0.finish(written),
        }))
    }
}

/// Checks that the jobs can follow the zones of a modelled machine, as [`follow`] does.
///
/// # Errors
/// If none of its zones fits a job, or there is more than one file.
pub fn check_modelled(model: &Model, jobs: &[Job], layout: &Layout) -> Result<(), JobRunError> {
    let Some(shared) = modelled(model, jobs, layout) else { return Ok(()) };
    if layout.places.len() > 1 {
        let why = "the zones of a modelled machine are one file; give all jobs the same filename";
        return Err(Fault::NotHere(why).of(&jobs[0]));
    }
    for member in &layout.members {
        let job = &jobs[member.job];
        let Some(zoned) = job.zoned else { continue };
        for used in &member.uses {
            let path = || layout.places[used.place].path.clone();
            fits(job, zoned, &shared.lock(), used, path).map_err(|fault| fault.of(job))?;
        }
    }
    Ok(())
}

/// The zones of a modelled machine that was just built, if jobs follow them.
pub fn modelled(model: &Model, jobs: &[Job], layout: &Layout) -> Option<Arc<SharedZones>> {
    let found = model.zones()?;
    let followed = layout.members.iter().filter_map(|member| jobs[member.job].zoned);
    followed.clone().next()?;
    let most = most_open(followed, found.params.most_open);
    let zone = |(start, write_pointer)| Zone {
        start,
        len: found.params.zone_bytes,
        capacity: found.params.capacity_bytes,
        write_pointer,
        kind: ZoneKind::SequentialRequired,
        condition: if found.full { ZoneCondition::Full } else { ZoneCondition::Empty },
    };
    let zones = Zones::new(found.zones(model.capacity()).map(zone).collect(), most);
    Some(Arc::new(SharedZones::new(zones, Arc::new(Timed(found.params)))))
}

/// The zones of an open device.
fn ask(
    medium: &Medium,
    most_open: Option<u32>,
    path: impl Fn() -> PathBuf,
) -> Result<Arc<SharedZones>, Fault> {
    let opened = medium.opened.as_ref().ok_or_else(|| Fault::NotZoned { path: path() })?;
    let zones = opened.zones().map_err(|source| Fault::Zones { path: path(), source })?;
    if zones.is_empty() {
        return Err(Fault::NotZoned { path: path() });
    }
    let device = Arc::clone(opened);
    Ok(Arc::new(SharedZones::new(Zones::new(zones, most_open), device)))
}

/// The most zones that may be open at once: what the jobs ask for and the device allows.
fn most_open(followed: impl Iterator<Item = Zoned> + Clone, limit: Option<u32>) -> Option<u32> {
    let limit = limit.filter(|_| !followed.clone().any(|zoned| zoned.past_limits));
    followed.filter_map(|zoned| zoned.most_open).chain(limit).min()
}

/// How many zones of a device may be open at once, by its queue.
fn limit_of(device: DevId, view: &dyn View) -> Option<u32> {
    let limits = ["queue/max_open_zones", "queue/max_active_zones"];
    let known = limits.into_iter().filter_map(|name| view.number(&device.sysfs().join(name)).ok());
    let least = known.filter(|most| *most > 0).min()?;
    Some(u32::try_from(least).unwrap_or(u32::MAX))
}

/// Checks that a job has a whole zone, of the expected size, that its requests fit into.
fn fits(
    job: &Job,
    zoned: Zoned,
    zones: &Zones,
    used: &Use,
    path: impl Fn() -> PathBuf,
) -> Result<(), Fault> {
    let zone = zones.zone(0).len;
    if let Some(given) = zoned.zone_bytes.filter(|given| *given != zone) {
        return Err(Fault::ZoneSize { path: path(), given, zone });
    }
    let range = zones.within(part(used));
    let least = range.clone().map(|number| zones.zone(number).capacity).min();
    let Some(capacity) = least else {
        return Err(Fault::NoWholeZone { path: path(), zone });
    };
    let found = job.max_block();
    if job.access.kind.writes() && u64::from(found) > capacity {
        return Err(Fault::BeyondZone { path: path(), found, capacity });
    }
    Ok(())
}

fn part(used: &Use) -> Range<u64> {
    used.region.start..used.region.start + used.region.bytes
}

/// The zones of each file of clone `number`, of which `known` gives those of a place; empty if it
/// follows none.
pub fn of<'z>(
    known: impl Fn(usize) -> Option<&'z Arc<SharedZones>>,
    number: usize,
    member: &Member,
    job: &Job,
) -> Vec<Follow> {
    let Some(zoned) = job.zoned else { return Vec::new() };
    let one = |used: &Use| {
        let shared = known(used.place).expect("zones that are followed were asked for");
        let by = Asker {
            clone: number as u32,
            range: shared.lock().within(part(used)),
            random: job.access.random,
            shortest: u64::from(job.min_block()),
            beyond: zoned.read_beyond,
            most_open: zoned.most_open_each.map_or(usize::MAX, |most| most as usize),
        };
        let collecting =
            zoned.reset_every.map(|every| Collecting { every, from: zoned.reset_from });
        Follow::new(Arc::clone(shared), by, collecting)
    };
    member.uses.iter().map(one).collect()
}
