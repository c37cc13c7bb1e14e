//! Which recorded device is played on which target, and how its requests are placed there.

use super::{ReplayError, Surveyed};
use crate::cli::replay::{Fit as FitChoice, Replay};
use crate::context::Context;
use crate::exit::CommandError;
use crate::progress::Line;
use seekwell_access::{Consent, FsSpace, plan_size};
use seekwell_inspect::{Inspection, TargetKind};
use seekwell_run::replay_bounds::bounds;
use seekwell_run::{SMALLEST, Source, Wanted, look, prepare as open};
use seekwell_runs::Medium;
use seekwell_trace::replay::{DeviceSurvey, Fit, Placing};
use std::path::{Path, PathBuf};

/// One recorded device on one target.
pub struct Lane {
    /// Its number in the trace; `None` where the trace has only one.
    pub device: Option<u32>,
    /// Its name, where one of several was chosen.
    pub recorded: Option<String>,
    /// What is asked of it.
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
    args: &Replay,
    surveyed: &Surveyed,
    context: &Context,
    line: &Line,
) -> Result<Vec<Lane>, CommandError> {
    let mut pairs = pairs(args, surveyed)?;
    match args.destroy.as_slice() {
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
    pairs.into_iter().map(|pair| lane(pair, args, context, line)).collect()
}

fn pairs(args: &Replay, surveyed: &Surveyed) -> Result<Vec<Pair>, ReplayError> {
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
    let Some(on) = &args.on else {
        let twice = args.map.iter().enumerate().find(|(i, (recorded, _))| {
            args.map[..*i].iter().any(|(earlier, _)| earlier == recorded)
        });
        if let Some((_, (name, _))) = twice {
            return Err(ReplayError::MappedTwice { name: name.clone() });
        }
        return args.map.iter().map(|(recorded, path)| pair(recorded, path)).collect();
    };
    match (&args.device, played.as_slice()) {
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

fn lane(pair: Pair, args: &Replay, context: &Context, line: &Line) -> Result<Lane, CommandError> {
    let Pair { device, recorded, survey, path, destroy } = pair;
    let inspection = look(&context.view, &path)?;
    let end = survey.end_bytes.max(1);
    let fit = fit(args.fit);
    let refused = |source| ReplayError::Fit { source, path: path.clone() };
    let placed =
        |block, bytes| Placing::new(fit, block, end, survey.longest_bytes, bytes).map_err(refused);
    if inspection.kind == TargetKind::Directory {
        // Refused before anything is laid out.
        let space = FsSpace::of(&path)?;
        placed(1, plan_size(args.size.unwrap_or(end.max(SMALLEST)), SMALLEST, &space)?)?;
    }
    let wanted = Wanted {
        inspection: &inspection,
        size_bytes: args.size.or((inspection.kind == TargetKind::Null).then_some(end)),
        default_bytes: end.max(SMALLEST),
        destroy: destroy.as_deref().map(|serial| Consent { serial, accepted: &args.accept_data }),
        writes: false,
        set: &args.set,
    };
    let ready = open(&wanted, context.host(), line)?;
    let writes = match &ready.source {
        Source::Null | Source::Modelled(_) => true,
        Source::Opened { opened, .. } => opened.writable(),
    };
    if !writes && survey.requests[0] == 0 {
        return Err(ReplayError::NoReads { path }.into());
    }
    let block = ready.inputs.logical_block_bytes;
    let placing = placed(block, ready.inputs.region_bytes)?;
    let (depth, longest_bytes) = bounds(survey.longest_bytes, block, args.depth);
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
    })
}

/// The choice in the library's words.
pub const fn fit(choice: FitChoice) -> Fit {
    match choice {
        FitChoice::Fail => Fit::Fail,
        FitChoice::Modulo => Fit::Modulo,
        FitChoice::Scale => Fit::Scale,
    }
}
