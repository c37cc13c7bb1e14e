//! A file system that a process serves (`fs/fuse/control.c` of the kernel).

use crate::model::FuseFacts;
use crate::reader::Reader;
use seekwell_sys::Mount;
use std::path::Path;

/// The limits of a FUSE mount; `None` for other file systems. Only its owner and root can read
/// them.
pub(crate) fn fuse(r: &mut Reader<'_>, mount: &Mount) -> Option<FuseFacts> {
    let kind = mount.fstype.as_str();
    if !["fuse", "fuseblk"].contains(&kind) && !kind.starts_with("fuse.") {
        return None;
    }
    // The kernel names the folder of a connection by its internal form of the device number.
    let number = u64::from(mount.dev.major) << 20 | u64::from(mount.dev.minor);
    let connection = Path::new("/sys/fs/fuse/connections").join(number.to_string());
    let mut limit = |file: &str, what: &str| r.count(&connection.join(file), what);
    Some(FuseFacts {
        max_background: limit("max_background", "most background requests of FUSE"),
        congestion_threshold: limit(
            "congestion_threshold",
            "background requests that congest FUSE",
        ),
    })
}
