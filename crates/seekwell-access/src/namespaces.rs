//! The mounts of all mount namespaces: every process shows those of its own, so one process of each
//! is read.

use seekwell_sys::{Mount, View, ViewError, parse_mountinfo};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The mounts of a namespace, and a process of it; none of our own.
type Table = (Option<u32>, Vec<Mount>);

/// The tables of all mount namespaces that can be read, ours first.
///
/// # Errors
/// When our own mounts, or any table that was readable, cannot be understood.
pub(crate) fn tables(view: &dyn View) -> Result<Vec<Table>, ViewError> {
    let own = Path::new("/proc/self/mountinfo");
    let mut found = vec![(None, parse_mountinfo(&view.text(own)?, own)?)];
    let mut seen = HashSet::new();
    seen.extend(view.link(Path::new("/proc/self/ns/mnt")).ok());
    for name in view.list(Path::new("/proc"))? {
        let Ok(pid) = name.parse::<u32>() else { continue };
        let folder = PathBuf::from(format!("/proc/{pid}"));
        if let Ok(namespace) = view.link(&folder.join("ns/mnt"))
            && !seen.insert(namespace)
        {
            continue;
        }
        // A process that ended meanwhile, or that we may not look at, shows nothing.
        let path = folder.join("mountinfo");
        let Ok(text) = view.text(&path) else { continue };
        found.push((Some(pid), parse_mountinfo(&text, &path)?));
    }
    Ok(found)
}
