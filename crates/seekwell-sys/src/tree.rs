//! A file tree in memory: what snapshots and fakes are made of.

use crate::view::{MAX_BYTES, View, ViewError};
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

/// The kernel follows at most this many links in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Dir,
    File(Vec<u8>),
    /// A symbolic link with its target as written.
    Link(PathBuf),
    /// A file for which the kernel returns an error.
    Error(io::ErrorKind),
}

/// Absolute paths and what is at them. Every parent of an entry is a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

impl Tree {
    /// Puts an entry in, with the directories above it. A later entry replaces an earlier one; a
    /// path that is not absolute or has `..` in it is taken from the root down.
    pub(crate) fn put(&mut self, path: &Path, node: Node) {
        let path = clean(path);
        for above in path.ancestors().skip(1) {
            if matches!(self.nodes.get(above), Some(Node::Dir | Node::Link(_))) {
                break;
            }
            self.nodes.insert(above.to_path_buf(), Node::Dir);
        }
        // What was below is not there any more when this is no directory.
        while node != Node::Dir
            && let Some((below, _)) = self
                .nodes
                .range::<Path, _>((Bound::Excluded(path.as_path()), Bound::Unbounded))
                .next()
            && below.starts_with(&path)
        {
            let below = below.clone();
            self.nodes.remove(&below);
        }
        self.nodes.insert(path, node);
    }

    /// Takes an entry and everything below it out.
    pub(crate) fn remove(&mut self, path: &Path) {
        let path = clean(path);
        self.nodes.retain(|have, _| !have.starts_with(&path));
    }

    /// Every entry, directories included, a directory before what is in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_path(), node))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The path with links resolved, but for a link in its last part where `last` is false.
    fn resolve(&self, path: &Path, last: bool) -> Result<PathBuf, ViewError> {
        let absent = || ViewError::Absent { path: path.to_path_buf() };
        let mut todo: Vec<PathBuf> = parts(path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if part == Path::new("..") {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            match self.nodes.get(&next) {
                Some(Node::Link(to)) if last || !todo.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        let kind = io::Error::from(rustix::io::Errno::LOOP).kind();
                        return Err(ViewError::Failed { path: path.to_path_buf(), kind });
                    }
                    if to.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    todo.extend(parts(to));
                }
                Some(Node::Dir) => at = next,
                Some(_) if todo.is_empty() => at = next,
                _ => return Err(absent()),
            }
        }
        Ok(at)
    }

    fn node(&self, path: &Path, last: bool) -> Result<(PathBuf, &Node), ViewError> {
        let at = self.resolve(path, last)?;
        let node = match self.nodes.get(&at) {
            Some(node) => node,
            None if at == Path::new("/") => &Node::Dir,
            None => return Err(ViewError::Absent { path: path.to_path_buf() }),
        };
        Ok((at, node))
    }
}

/// The parts of a path, last first.
pub(crate) fn parts(path: &Path) -> Vec<PathBuf> {
    let keep = |c: Component<'_>| match c {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        _ => None,
    };
    let mut parts: Vec<PathBuf> = path.components().filter_map(keep).collect();
    parts.reverse();
    parts
}

fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::from("/");
    for part in parts(path).into_iter().rev() {
        if part == Path::new("..") {
            clean.pop();
        } else {
            clean.push(part);
        }
    }
    clean
}

/// Within an `impl View`: every method except [`crate::View::read`] answers as the given field
/// does.
#[macro_export]
macro_rules! forward_view {
    ($field:tt) => {
        fn list(&self, path: &std::path::Path) -> Result<Vec<String>, $crate::ViewError> {
            $crate::View::list(&self.$field, path)
        }

        fn link(&self, path: &std::path::Path) -> Result<std::path::PathBuf, $crate::ViewError> {
            $crate::View::link(&self.$field, path)
        }

        fn canonical(
            &self,
            path: &std::path::Path,
        ) -> Result<std::path::PathBuf, $crate::ViewError> {
            $crate::View::canonical(&self.$field, path)
        }

        fn exists(&self, path: &std::path::Path) -> bool {
            $crate::View::exists(&self.$field, path)
        }
    };
}

impl View for Tree {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let failed = |kind| Err(ViewError::Failed { path: path.to_path_buf(), kind });
        match self.node(path, true)?.1 {
            Node::File(bytes) => {
                let most = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes[..most].to_vec())
            }
            Node::Dir => failed(io::ErrorKind::IsADirectory),
            Node::Link(_) => Err(ViewError::Absent { path: path.to_path_buf() }),
            Node::Error(kind) => Err(ViewError::from_io(path, &io::Error::from(*kind))),
        }
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        let (at, node) = self.node(path, true)?;
        match node {
            Node::Dir => {}
            Node::Error(kind) => return Err(ViewError::from_io(path, &io::Error::from(*kind))),
            _ => return Err(ViewError::Absent { path: path.to_path_buf() }),
        }
        let below = self.nodes.range(at.clone()..).take_while(|(p, _)| p.starts_with(&at));
        let direct = below.filter(|(p, _)| p.parent() == Some(&at));
        let name = |p: &PathBuf| Some(p.file_name()?.to_str()?.to_owned());
        let mut names: Vec<String> = direct.filter_map(|(p, _)| name(p)).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        match self.node(path, false)?.1 {
            Node::Link(to) => Ok(to.clone()),
            _ => {
                let kind = io::ErrorKind::InvalidInput;
                Err(ViewError::Failed { path: path.to_path_buf(), kind })
            }
        }
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        Ok(self.node(path, true)?.0)
    }

    fn exists(&self, path: &Path) -> bool {
        self.node(path, false).is_ok()
    }
}
