//! A test twin of the live system: a view built by hand.
//!
//! Code that reads the kernel's files is tested on this, so that devices that are not at hand,
//! files that fail and files that lie can all be had in a test. It holds no behaviour of its own
//! beyond a file tree's.

use crate::tree::{Node, Tree};
use crate::view::{View, ViewError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A view built by hand. Directories above an entry come by themselves.
///
/// ```
/// use seekwell_sys::{View, fake::Fake};
/// use std::path::Path;
///
/// let fake = Fake::new()
///     .symlink("/sys/block/sda", "../devices/x/block/sda")
///     .file("/sys/devices/x/block/sda/size", "2048\n");
/// assert_eq!(fake.number(Path::new("/sys/block/sda/size")), Ok(2048));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fake {
    tree: Tree,
}

impl Fake {
    pub fn new() -> Self {
        Self::default()
    }

    /// A fake that starts as what a snapshot holds, to change one thing in it.
    pub fn of(snapshot: crate::Snapshot) -> Self {
        Self { tree: snapshot.into_tree() }
    }

    fn with(mut self, path: impl AsRef<Path>, node: Node) -> Self {
        self.tree.put(path.as_ref(), node);
        self
    }

    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, text: impl Into<String>) -> Self {
        self.with(path, Node::File(text.into().into_bytes()))
    }

    #[must_use]
    pub fn bytes(self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(path, Node::File(bytes.into()))
    }

    #[must_use]
    pub fn dir(self, path: impl AsRef<Path>) -> Self {
        self.with(path, Node::Dir)
    }

    #[must_use]
    pub fn symlink(self, path: impl AsRef<Path>, to: impl Into<PathBuf>) -> Self {
        self.with(path, Node::Link(to.into()))
    }

    /// A file that fails to be read with this error.
    #[must_use]
    pub fn error(self, path: impl AsRef<Path>, kind: ErrorKind) -> Self {
        self.with(path, Node::Error(kind))
    }

    #[must_use]
    pub fn denied(self, path: impl AsRef<Path>) -> Self {
        self.error(path, ErrorKind::PermissionDenied)
    }

    /// A file that holds 4 KiB that mean nothing: control bytes, broken UTF-8, no line end.
    #[must_use]
    pub fn garbage(self, path: impl AsRef<Path>) -> Self {
        let bytes: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(167) >> 3) as u8).collect();
        self.bytes(path, bytes)
    }

    /// Without this path and everything below it.
    #[must_use]
    pub fn without(mut self, path: impl AsRef<Path>) -> Self {
        self.tree.remove(path.as_ref());
        self
    }
}

impl View for Fake {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        self.tree.read(path)
    }

    crate::forward_view!(tree);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{View, ViewError};

    #[test]
    fn relative_links_resolve_from_where_they_stand() {
        let fake = Fake::new()
            .symlink("/sys/block/sda", "../devices/pci/block/sda")
            .symlink("/sys/devices/pci/block/sda/device", "../../dev")
            .file("/sys/devices/pci/dev/model", "X\n");
        let device = Path::new("/sys/block/sda/device");
        assert_eq!(fake.canonical(device), Ok(PathBuf::from("/sys/devices/pci/dev")));
        assert_eq!(fake.link(device), Ok(PathBuf::from("../../dev")));
        assert_eq!(fake.text(&device.join("model")), Ok("X".to_owned()));
        assert_eq!(fake.list(Path::new("/sys")), Ok(vec!["block".into(), "devices".into()]));
        assert_eq!(fake.list(device), Ok(vec!["model".into()]));
    }

    #[test]
    fn links_in_a_circle_fail_instead_of_hanging() {
        let fake = Fake::new().symlink("/a", "/b").symlink("/b", "/a");
        let error = fake.read(Path::new("/a")).unwrap_err();
        assert!(matches!(error, ViewError::Failed { .. }), "{error:?}");
        assert!(fake.exists(Path::new("/a")), "a link is there even where it leads nowhere");
        let error = fake.canonical(Path::new("/a/c")).unwrap_err();
        assert!(matches!(error, ViewError::Failed { .. }), "{error:?}");
    }

    #[test]
    fn a_link_to_nothing_is_absent_and_yet_a_link() {
        let fake = Fake::new().symlink("/sys/x/driver", "../../bus/drivers/ahci");
        let path = Path::new("/sys/x/driver");
        assert!(matches!(fake.canonical(path), Err(ViewError::Absent { .. })));
        assert_eq!(fake.link(path), Ok(PathBuf::from("../../bus/drivers/ahci")));
    }

    #[test]
    fn errors_are_filed_as_the_live_system_files_them() {
        let fake = Fake::new().denied("/x").error("/y", ErrorKind::InvalidInput).file("/f", "1");
        assert!(matches!(fake.read(Path::new("/x")), Err(ViewError::Denied { .. })));
        assert!(matches!(fake.read(Path::new("/y")), Err(ViewError::Failed { .. })));
        assert!(matches!(fake.read(Path::new("/z")), Err(ViewError::Absent { .. })));
        assert!(matches!(fake.read(Path::new("/f/below")), Err(ViewError::Absent { .. })));
        assert!(matches!(fake.read(Path::new("/")), Err(ViewError::Failed { .. })));
        assert!(matches!(fake.list(Path::new("/f")), Err(ViewError::Absent { .. })));
        assert_eq!(fake.canonical(Path::new("/../..")), Ok(PathBuf::from("/")));
    }

    #[test]
    fn a_name_that_begins_with_another_is_not_listed_under_it() {
        let fake = Fake::new().file("/d/a/x", "").file("/d/a.b", "").file("/d/ab/y", "");
        assert_eq!(fake.list(Path::new("/d/a")), Ok(vec!["x".into()]));
        assert_eq!(fake.list(Path::new("/d")).unwrap().len(), 3);
    }
}
