//! The zones that jobs follow: read once all devices are open, then shared by all clones.

use super::error::{Fault, JobRunError};
use super::media::{Media, Medium};
use seekwell_job::job::{Job, Zoned};
use seekwell_job::layout::{Layout, Member, Use};
use seekwell_job::play::zones::{Asker, Collecting, Follow, SharedZones, Zones};
use seekwell_sys::{DevId, View};
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
                    let most = most_open(followed, medium.device, view);
                    ask(medium, most, path).map_err(|fault| fault.of(job))?
                }
            };
            fits(job, zoned, &shared.lock(), used, path).map_err(|fault| fault.of(job))?;
            medium.zones = Some(shared);
        }
    }
    Ok(())
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

/// The most zones that may be open at once, by the jobs and by the device.
fn most_open(
    followed: impl Iterator<Item = Zoned> + Clone,
    device: Option<DevId>,
    view: &dyn View,
) -> Option<u32> {
    let asked = followed.clone().filter_map(|zoned| zoned.most_open).min();
    let past = followed.clone().any(|zoned| zoned.past_limits);
    let limits = ["queue/max_open_zones", "queue/max_active_zones"];
    let known = device
        .filter(|_| !past)
        .into_iter()
        .flat_map(|device| limits.map(|name| view.number(&device.sysfs().join(name)).unwrap_or(0)));
    let known = known.filter(|most| *most > 0).map(|most| u32::try_from(most).unwrap_or(u32::MAX));
    known.chain(asked).min()
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

/// The zones of each file of clone `number`; empty if it follows none.
pub fn of(media: &Media, number: usize, member: &Member, job: &Job) -> Vec<Follow> {
    let Some(zoned) = job.zoned else { return Vec::new() };
    let one = |used: &Use| {
        let shared = media.media[used.place].zones.as_ref();
        let shared = shared.expect("zones that are followed were asked for");
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
