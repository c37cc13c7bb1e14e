//! Which recorded device is played on which target, and how its requests are placed there.

use super::{ReplayError, ReplayOptions, Surveyed, Targets};
use crate::medium::{SMALLEST, Wanted, prepare as open};
use crate::{Host, RunError, Source, Watcher, look};
use seekwell_access::{Consent, FsSpace, plan_size};
use seekwell_inspect::{Inspection, TargetKind};
use seekwell_io::target::{Engine, Threads, Uring};
use seekwell_runs::{Medium, ReplayMode};
use seekwell_trace::replay::{DeviceSurvey, Placing};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Requests outstanding at most, if nothing else is asked for.
pub const DEPTH: u32 = 256;
/// Longer requests are split.
const LONGEST: u32 = 4 << 20;
/// Buffers of one target take no more.
const BUFFERS: u32 = 256 << 20;

/// One recorded device on one target.
pub struct Lane {
    /// Its number in the trace; `None` if the trace has only one.
    pub device: Option<u32>,
    /// Its name, where one of several was chosen.
    pub recorded: Option<String>,
    /// What it is to do.
    pub survey: DeviceSurvey,
    /// The target as it was given.
    pub path: PathBuf,
    /// Where it is attached.
    pub inspection: Inspection,
    /// For the document.
    pub medium: Medium,
    /// Where requests go.
    pub source: Source,
    /// Where on the target.
    pub placing: Placing,
    /// Whether writes, discards and flushes are played.
    pub writes: bool,
    /// The most requests outstanding.
    pub depth: u32,
    /// Longer reads and writes are split.
    pub longest_bytes: u32,
    /// Which thread takes them to the device.
    pub taken: Taken,
}

/// Which thread takes requests to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The one that keeps the times; the device does many at once.
    ByIssuer,
    /// The same, and it waits for each.
    OneByOne,
    /// Others, and when those got there is not known.
    ByOthers,
}

impl Lane {
    /// Settles which thread takes requests to the device once it is known what issues them. What
    /// is wanted at a time is handed to no other thread where the issuing one can do it itself:
    /// how late others are would not be known.
    pub fn settle(&mut self, engine: Engine, options: &ReplayOptions, watcher: &impl Watcher) {
        let Source::Opened { opened, .. } = &self.source else { return };
        let hands_over = Uring::hands_over(opened.as_fd());
        let others = hands_over || engine == Engine::Threads;
        if !others || options.mode == ReplayMode::Depth || self.depth == 1 {
            return;
        }
        let path = self.path.display();
        let may_choose = engine != Engine::IoUring && options.depth.is_none();
        if hands_over && may_choose && Threads::is_prompt(opened.as_fd()) {
            (self.taken, self.depth) = (Taken::OneByOne, 1);
            watcher.note(&format!(
                "{path} cannot be asked without waiting: the thread that keeps the times makes \
                 each request itself, one after the other"
            ));
        } else {
            self.taken = Taken::ByOthers;
            watcher.note(&format!(
                "requests reach {path} through other threads: lateness counts until they are \
                 handed over, and when each got there is not known"
            ));
        }
    }
}

/// What is to be played where.
struct Pair {
    device: Option<u32>,
    recorded: Option<String>,
    survey: DeviceSurvey,
    path: PathBuf,
    destroy: Option<String>,
}

/// Opens all targets.
///
/// # Errors
/// [`ReplayError`], and whatever the rules of access refuse.
pub fn prepare(
    options: &ReplayOptions,
    surveyed: &Surveyed,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<Vec<Lane>, RunError> {
    let mut pairs = pairs(&options.targets, surveyed)?;
    match options.destroy.as_slice() {
        [] => {}
        given if given.len() == pairs.len() => {
            for (pair, serial) in pairs.iter_mut().zip(given) {
                pair.destroy = Some(serial.clone()).filter(|s| s != "none");
            }
        }
        given => {
            let (given, targets) = (given.len(), pairs.len());
            return Err(ReplayError::Destroy { given, targets }.into());
        }
    }
    pairs.into_iter().map(|pair| lane(pair, options, host, watcher)).collect()
}

fn pairs(targets: &Targets, surveyed: &Surveyed) -> Result<Vec<Pair>, ReplayError> {
    let devices = &surveyed.survey.devices;
    let name = |i: usize| {
        let known = surveyed.tables.devices.get(i).map(|d| d.name.clone());
        known.filter(|n| !n.is_empty()).unwrap_or_else(|| format!("#{i}"))
    };
    let played: Vec<usize> = (0..devices.len()).filter(|i| devices[*i].total() > 0).collect();
    let names = || played.iter().map(|i| name(*i)).collect::<Vec<_>>();
    let pair = |recorded: &String, path: &Path| {
        let found = played.iter().find(|i| name(**i) == *recorded);
        let index = *found
            .ok_or_else(|| ReplayError::NoSuchDevice { name: recorded.clone(), names: names() })?;
        Ok(Pair {
            device: Some(index as u32),
            recorded: Some(recorded.clone()),
            survey: devices[index],
            path: path.to_path_buf(),
            destroy: None,
        })
    };
    let (on, device) = match targets {
        Targets::One { on, device } => (on, device),
        Targets::Mapped(map) => {
            let twice = map.iter().enumerate().find(|(i, (recorded, _))| {
                map[..*i].iter().any(|(earlier, _)| earlier == recorded)
            });
            if let Some((_, (name, _))) = twice {
                return Err(ReplayError::MappedTwice { name: name.clone() });
            }
            return map.iter().map(|(recorded, path)| pair(recorded, path)).collect();
        }
    };
    match (device, played.as_slice()) {
        (Some(recorded), _) => Ok(vec![pair(recorded, on)?]),
        (None, [index]) => Ok(vec![Pair {
            device: None,
            recorded: None,
            survey: devices[*index],
            path: on.clone(),
            destroy: None,
        }]),
        (None, _) => Err(ReplayError::SeveralDevices { names: names() }),
    }
}

fn lane(
    pair: Pair,
    options: &ReplayOptions,
    host: Host<'_>,
    watcher: &impl Watcher,
) -> Result<Lane, RunError> {
    let Pair { device, recorded, survey, path, destroy } = pair;
    let inspection = look(host.view, &path)?;
    let end = survey.end_bytes.max(1);
    let refused = |source| ReplayError::Fit { source, path: path.clone() };
    let placed = |block, bytes| {
        Placing::new(options.fit, block, end, survey.longest_bytes, bytes).map_err(refused)
    };
    if inspection.kind == TargetKind::Directory {
        // Refused before anything is laid out.
        let space = FsSpace::of(&path)?;
        placed(1, plan_size(options.size_bytes.unwrap_or(end.max(SMALLEST)), SMALLEST, &space)?)?;
    }
    let wanted = Wanted {
        inspection: &inspection,
        offset_bytes: 0,
        size_bytes: options.size_bytes.or((inspection.kind == TargetKind::Null).then_some(end)),
        default_bytes: end.max(SMALLEST),
        blank: false,
        destroy: destroy
            .as_deref()
            .map(|serial| Consent { serial, accepted: &options.accept_data }),
        writes: false,
        set: &options.set,
    };
    let ready = open(&wanted, host, watcher)?;
    let writes = match &ready.source {
        Source::Null | Source::Modelled(_) => true,
        Source::Opened { opened, .. } => opened.writable(),
    };
    if !writes && survey.requests[0] == 0 {
        return Err(ReplayError::NoReads { path }.into());
    }
    let block = ready.inputs.logical_block_bytes;
    let placing = placed(block, ready.inputs.region_bytes)?;
    let (depth, longest_bytes) = bounds(survey.longest_bytes, block, options.depth);
    Ok(Lane {
        device,
        recorded,
        survey,
        path,
        inspection,
        medium: ready.medium,
        source: ready.source,
        placing,
        writes,
        depth,
        longest_bytes,
        taken: Taken::ByIssuer,
    })
}

/// How many requests may be outstanding, and how long each may be, so that buffers stay small.
/// Placing may make a request longer by a block at each end.
pub fn bounds(longest: u32, block: u32, depth: Option<u32>) -> (u32, u32) {
    let block = block.max(1);
    let whole = |bytes: u32| (bytes / block * block).max(block);
    let needed = longest.min(LONGEST).saturating_add(2 * block - 1);
    let longest = whole(needed.min(LONGEST));
    match depth {
        Some(depth) => (depth, whole(longest.min(BUFFERS / depth / 4096 * 4096))),
        None => ((BUFFERS / longest.next_multiple_of(4096)).clamp(1, DEPTH), longest),
    }
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn buffers_stay_below_a_quarter_of_a_gigabyte_whatever_is_asked_for() {
        for longest in [1, 512, 4096, 65_536, 1 << 20, (4 << 20) + 1, u32::MAX] {
            for block in [1, 512, 4096] {
                for depth in [None, Some(1), Some(256), Some(4096)] {
                    let (tags, bytes) = bounds(longest, block, depth);
                    let taken = u64::from(tags) * u64::from(bytes.next_multiple_of(4096));
                    assert!(taken <= 256 << 20, "{longest} {block} {depth:?}: {tags} x {bytes}");
                    assert!(bytes % block == 0 && bytes > 0);
                    assert!(depth.is_none_or(|depth| depth == tags));
                }
            }
        }
        assert_eq!(bounds(4096, 512, None), (256, 4608));
        assert_eq!(bounds(4 << 20, 512, None).0, 64);
    }
}
