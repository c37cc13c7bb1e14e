//! One block device, by number and name.

use seekwell_sys::{DevId, View, ViewError};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub dev: DevId,
    /// The kernel's name, `sda1`.
    pub name: String,
    /// Its folder in sysfs with all links resolved.
    pub sysfs: PathBuf,
}

impl Member {
    pub(crate) fn at(view: &dyn View, sysfs: PathBuf) -> Result<Self, ViewError> {
        let name = sysfs.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = sysfs.join("dev");
        let text = view.text(&path)?;
        let dev = text.parse().map_err(|()| ViewError::Malformed {
            path,
            expected: "a device number",
            found: text.chars().take(40).collect(),
        })?;
        Ok(Self { dev, name, sysfs })
    }

    /// Its usual node, `/dev/sda1`. For sentences, never for opening.
    pub(crate) fn node(&self) -> String {
        // The kernel writes the slash of names such as cciss/c0d0 as an exclamation mark.
        format!("/dev/{}", self.name.replace('!', "/"))
    }
}

/// The name of what a loop device shows, as the kernel writes it. For sentences and identities; to
/// say what it is, ask what it shows.
pub(crate) fn backing_file(view: &dyn View, disk: &Member) -> Option<String> {
    view.text(&disk.sysfs.join("loop/backing_file")).ok().filter(|text| !text.is_empty())
}
