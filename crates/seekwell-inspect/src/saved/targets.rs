//! Targets in a snapshot's header, and finding others in it.

use crate::find;
use crate::model::TargetKind;
use crate::reader::Reader;
use crate::target::{FsSpace, Target, all_disks};
use seekwell_sys::{Bundle, DevId, classify};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub(super) const FIELD: &str = "target";

/// Why a snapshot does not hold a target.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    #[error("the snapshot does not hold {given}{}", has(there))]
    NotInSnapshot { given: String, there: Vec<String> },
}

classify!(SavedError {
    Usage: NotInSnapshot;
});

fn has(there: &[String]) -> String {
    if there.is_empty() { String::new() } else { format!("; it holds {}", there.join(", ")) }
}

#[derive(Serialize, Deserialize)]
struct Written {
    given: String,
    path: PathBuf,
    kind: TargetKind,
    #[serde(default)]
    dev: Option<String>,
    #[serde(default)]
    space: Option<Space>,
}

#[derive(Serialize, Deserialize)]
struct Space {
    size_bytes: u64,
    available_bytes: u64,
    inodes_available: Option<u64>,
}

pub(super) fn written(target: &Target) -> String {
    let space = target.space.map(|s| Space {
        size_bytes: s.size_bytes,
        available_bytes: s.available_bytes,
        inodes_available: s.inodes_available,
    });
    let written = Written {
        given: target.given.clone(),
        path: target.path.clone(),
        kind: target.kind,
        dev: target.dev.map(|d| d.to_string()),
        space,
    };
    // Only a path that is no text has no JSON; such a target is found by its number no more.
    serde_json::to_string(&written).unwrap_or_default()
}

fn read(line: &str) -> Option<Target> {
    let written: Written = serde_json::from_str(line).ok()?;
    Some(Target {
        given: written.given,
        path: written.path,
        kind: written.kind,
        dev: written.dev.and_then(|d| d.parse().ok()),
        space: written.space.map(|s| FsSpace {
            size_bytes: s.size_bytes,
            available_bytes: s.available_bytes,
            inodes_available: s.inodes_available,
        }),
    })
}

/// The targets a snapshot was made of; where it names none, every disk in it.
pub fn of_snapshot(bundle: &Bundle) -> Vec<Target> {
    let named: Vec<Target> = bundle.fields(FIELD).filter_map(read).collect();
    if named.is_empty() { all_disks(&bundle.snapshot) } else { named }
}

/// One target of a snapshot: one it was made of, a block device in it, or a path on one of its
/// mounts.
///
/// # Errors
/// [`SavedError::NotInSnapshot`] says what is there instead.
pub fn target_in(bundle: &Bundle, given: &str) -> Result<Target, SavedError> {
    let known = of_snapshot(bundle);
    let path = Path::new(given);
    if let Some(target) = known.iter().find(|t| t.given == given || t.path == path) {
        return Ok(target.clone());
    }
    let view = &bundle.snapshot;
    let r = Reader::new(view);
    if let Some(dir) = find::by_node(&r, given).or_else(|| find::by_name(&r, given))
        && let Some(dev) = r.hint(&dir.join("dev")).and_then(|d| d.parse::<DevId>().ok())
        && let Some(name) = dir.file_name().and_then(|n| n.to_str())
    {
        let mut target = Target::block_device(&name.replace('!', "/"), dev);
        given.clone_into(&mut target.given);
        return Ok(target);
    }
    let absent = || {
        let there = known.iter().map(|t| t.given.clone()).take(8).collect();
        SavedError::NotInSnapshot { given: given.to_owned(), there }
    };
    let mounts = crate::mount::read(&mut Reader::new(view), crate::reader::Need::Optional);
    if !path.is_absolute() || path.starts_with("/dev") || mounts.is_empty() {
        return Err(absent());
    }
    let path = path.to_path_buf();
    let kind = TargetKind::Directory;
    Ok(Target { given: given.to_owned(), path, kind, dev: None, space: None })
}
