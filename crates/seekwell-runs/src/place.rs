//! Where runs are kept by default: the XDG base directory rules.

use crate::error::StoreError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder for runs: `$XDG_DATA_HOME/seekwell/runs`, else `$HOME/.local/share/seekwell/runs`.
/// A variable that is empty or relative counts as not set, as the XDG rules say.
///
/// # Errors
/// [`StoreError::NoPlace`] when neither variable helps.
pub fn default_dir(
    xdg_data_home: Option<&OsStr>,
    home: Option<&OsStr>,
) -> Result<PathBuf, StoreError> {
    let absolute = |p: &&Path| p.is_absolute();
    let (data, home) = (xdg_data_home.map(Path::new), home.map(Path::new));
    let data = match (data.filter(absolute), home.filter(absolute)) {
        (Some(data), _) => data.to_path_buf(),
        (None, Some(home)) => home.join(".local/share"),
        (None, None) => return Err(StoreError::NoPlace),
    };
    Ok(data.join("seekwell/runs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(xdg: Option<&str>, home: Option<&str>) -> Result<PathBuf, StoreError> {
        default_dir(xdg.map(OsStr::new), home.map(OsStr::new))
    }

    #[test]
    fn the_data_home_comes_before_the_home() {
        assert_eq!(dir(Some("/d"), Some("/h")).unwrap(), Path::new("/d/seekwell/runs"));
        assert_eq!(dir(None, Some("/h")).unwrap(), Path::new("/h/.local/share/seekwell/runs"));
    }

    #[test]
    fn an_empty_or_relative_variable_is_as_good_as_none() {
        assert_eq!(dir(Some(""), Some("/h")).unwrap(), dir(None, Some("/h")).unwrap());
        assert_eq!(dir(Some("data"), Some("/h")).unwrap(), dir(None, Some("/h")).unwrap());
    }

    #[test]
    fn with_neither_the_error_says_what_to_set() {
        let text = dir(Some("data"), None).unwrap_err().to_string();
        assert!(text.contains("XDG_DATA_HOME") && text.contains("HOME"), "{text}");
    }
}
