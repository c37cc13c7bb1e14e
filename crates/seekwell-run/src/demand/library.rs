//! The demands that ship with the program.

use super::file::unknown;
use crate::RunError;
use seekwell_sys::{MAX_TEXT, read_text};
use std::io::ErrorKind;
use std::path::Path;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../demands/", $name, ".toml")))),*]
    };
}

/// Names and texts, in alphabetical order.
pub const DEMANDS: &[(&str, &str)] = shipped!(
    "backup",
    "ceph-db",
    "elasticsearch",
    "etcd",
    "etcd-heavy",
    "kafka",
    "mysql",
    "postgresql",
    "prometheus",
    "sd-a1",
    "sd-a2",
    "sd-v30",
    "sqlite",
    "video-4k",
    "vm-host",
    "zfs-slog",
    "zookeeper",
);

/// The text of a built-in demand.
pub fn named(name: &str) -> Option<&'static str> {
    DEMANDS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The name and the text of a demand: a file, or a built-in one if there is no such file.
pub(super) fn text(path: &Path) -> Result<(String, String), RunError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match (read_text(path, MAX_TEXT), named(&stem)) {
        (Ok(text), _) => Ok((stem, text)),
        (Err(e), Some(shipped)) if e.kind() == ErrorKind::NotFound => {
            Ok((stem, shipped.to_owned()))
        }
        (Err(e), None) if e.kind() == ErrorKind::NotFound => {
            let known: Vec<&str> = DEMANDS.iter().map(|(name, _)| *name).collect();
            Err(unknown(&path.display().to_string(), &known))
        }
        (Err(source), _) => Err(RunError::Read { path: path.to_path_buf(), source }),
    }
}
