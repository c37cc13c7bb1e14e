//! A view that remembers everything it was asked.
//!
//! What inspection reads is known only to inspection. Recording it, instead of keeping a list of
//! paths, means that a snapshot always holds all an inspection needs, errors included.

use crate::snapshot::Snapshot;
use crate::tree::{Node, Tree, parts};
use crate::view::{View, ViewError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kernel follows at most this many links in one path.
const MAX_LINKS: usize = 40;

/// Links that lead to this very process: what is below them is kept as theirs.
const OWN: [&str; 2] = ["/proc/self", "/proc/thread-self"];

/// Answers from another view and keeps every answer. A file is read once: asked again, it gives
/// what it gave the first time, so that all that is read of one recording belongs together.
pub struct Recording<'v, V: View + ?Sized> {
    inner: &'v V,
    seen: Mutex<BTreeMap<PathBuf, Node>>,
}

/// A file that is there, of which nothing more is known.
fn unread() -> Node {
    Node::Error(io::ErrorKind::NotFound)
}

impl<'v, V: View + ?Sized> Recording<'v, V> {
    /// Begins to record what is read of `inner`.
    pub fn new(inner: &'v V) -> Self {
        Self { inner, seen: Mutex::default() }
    }

    /// Keeps a file whose content no view gives, such as the kernel log.
    pub fn keep(&self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) {
        self.seen().insert(path.into(), Node::File(content.into()));
    }

    /// All that was read.
    pub fn into_snapshot(self) -> Snapshot {
        let seen = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut tree = Tree::default();
        seen.into_iter().for_each(|(path, node)| tree.put(&path, node));
        Snapshot::from(tree)
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Node>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a path leads to, with the links on the way kept; `None` for links in a circle.
    fn place(&self, path: &Path, last: bool) -> Option<PathBuf> {
        let mut todo = parts(path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if part == Path::new("..") {
                at.pop();
                continue;
            }
            let next = at.join(part);
            match self.target(&next).filter(|_| last || !todo.is_empty()) {
                Some(to) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return None;
                    }
                    if to.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    todo.extend(parts(&to));
                }
                None => at = next,
            }
        }
        Some(at)
    }

    /// Where the link at this place points, which is kept; `None` when it is no link.
    fn target(&self, at: &Path) -> Option<PathBuf> {
        match self.seen().get(at) {
            Some(Node::Link(to)) => return Some(to.clone()),
            Some(_) => return None,
            None => {}
        }
        if OWN.iter().any(|own| at == Path::new(own)) {
            return None;
        }
        let found = self.inner.link(at).ok();
        match &found {
            Some(to) => self.note(at, Node::Link(to.clone())),
            // Not asked again for every path below.
            None if self.inner.list(at).is_ok() => self.note(at, Node::Dir),
            None => {}
        }
        found
    }

    /// Keeps an answer unless a better one is there.
    fn note(&self, at: &Path, node: Node) {
        let mut seen = self.seen();
        if seen.get(at).is_none_or(|have| *have == unread()) {
            seen.insert(at.to_path_buf(), node);
        }
    }

    fn note_error(&self, path: &Path, error: &ViewError) {
        let kind = match error {
            ViewError::Absent { .. } | ViewError::Malformed { .. } => return,
            ViewError::Denied { .. } => io::ErrorKind::PermissionDenied,
            // A directory that is read, and a file that is asked where it points.
            ViewError::Failed { kind: io::ErrorKind::IsADirectory, .. } => {
                self.place(path, true).iter().for_each(|at| self.note(at, Node::Dir));
                return;
            }
            ViewError::Failed { kind, .. } => *kind,
        };
        if let Some(at) = self.place(path, true) {
            self.note(&at, Node::Error(kind));
        }
    }

    fn present(&self, at: &Path) {
        if self.target(at).is_none() {
            let node = if self.inner.list(at).is_ok() { Node::Dir } else { unread() };
            self.note(at, node);
        }
    }
}

impl<V: View + ?Sized> View for Recording<'_, V> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        let place = self.place(path, true);
        if let Some(at) = &place
            && let Some(Node::File(bytes)) = self.seen().get(at)
        {
            return Ok(bytes.clone());
        }
        let answer = self.inner.read(path);
        match (&answer, place) {
            (Ok(bytes), Some(at)) => self.note(&at, Node::File(bytes.clone())),
            (Err(error), _) => self.note_error(path, error),
            (Ok(_), None) => {}
        }
        answer
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        let answer = self.inner.list(path);
        match (&answer, self.place(path, true)) {
            (Ok(names), Some(at)) => {
                self.note(&at, Node::Dir);
                names.iter().for_each(|name| self.present(&at.join(name)));
            }
            (Err(error @ ViewError::Denied { .. }), _) => self.note_error(path, error),
            _ => {}
        }
        answer
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        let answer = self.inner.link(path);
        if let Some(at) = self.place(path, false) {
            match &answer {
                Ok(to) => self.note(&at, Node::Link(to.clone())),
                Err(ViewError::Failed { .. }) => self.present(&at),
                Err(_) => {}
            }
        }
        answer
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        let answer = self.inner.canonical(path);
        if let (Ok(_), Some(at)) = (&answer, self.place(path, true)) {
            self.present(&at);
        }
        answer
    }

    fn exists(&self, path: &Path) -> bool {
        let answer = self.inner.exists(path);
        if let (true, Some(at)) = (answer, self.place(path, false)) {
            self.present(&at);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn machine() -> Fake {
        Fake::new()
            .symlink("/sys/block/sda", "../devices/pci/block/sda")
            .symlink("/sys/devices/pci/block/sda/device", "../../dev")
            .symlink("/sys/devices/pci/dev/driver", "../../../bus/drivers/ahci")
            .file("/sys/devices/pci/dev/model", "X\n")
            .bytes("/sys/devices/pci/dev/page", vec![0, 1, 255])
            .error("/sys/devices/pci/dev/wwid", io::ErrorKind::InvalidInput)
            .denied("/sys/devices/pci/dev/id")
            .dir("/sys/devices/pci/block/sda/slaves")
            .symlink("/sys/loop", "loop")
    }

    /// Asks everything and gives the answers.
    fn ask(view: &dyn View) -> Vec<String> {
        let paths = [
            "/sys/block/sda",
            "/sys/block/sda/device",
            "/sys/block/sda/device/model",
            "/sys/block/sda/device/page",
            "/sys/block/sda/device/wwid",
            "/sys/block/sda/device/id",
            "/sys/block/sda/device/driver",
            "/sys/block/sda/slaves",
            "/sys/block/sda/nothing",
            "/sys/loop/x",
            "/sys",
        ];
        let mut answers = Vec::new();
        for path in paths.map(Path::new) {
            answers.push(format!("read {path:?} {:?}", view.read(path)));
            answers.push(format!("list {path:?} {:?}", view.list(path)));
            answers.push(format!("link {path:?} {:?}", view.link(path)));
            answers.push(format!("canonical {path:?} {:?}", view.canonical(path)));
            answers.push(format!("exists {path:?} {:?}", view.exists(path)));
        }
        answers
    }

    #[test]
    fn a_recording_answers_like_the_view_and_its_snapshot_like_both() {
        let machine = machine();
        let recording = Recording::new(&machine);
        let live = ask(&machine);
        assert_eq!(ask(&recording), live);
        assert_eq!(ask(&recording.into_snapshot()), live);
    }

    #[test]
    fn each_question_alone_is_answered_the_same_later() {
        let machine = machine();
        let model = Path::new("/sys/block/sda/device/model");
        let recording = Recording::new(&machine);
        assert!(recording.exists(model));
        let snapshot = recording.into_snapshot();
        assert!(snapshot.exists(model));
        assert!(matches!(snapshot.read(model), Err(ViewError::Absent { .. })));
        let recording = Recording::new(&machine);
        assert!(recording.read(model).is_ok());
        let snapshot = recording.into_snapshot();
        assert_eq!(snapshot.read(model), Ok(b"X\n".to_vec()));
        assert!(!snapshot.exists(Path::new("/sys/block/sda/device/page")), "nobody asked for it");
    }

    #[test]
    fn a_file_that_changes_gives_what_it_gave_first() {
        struct Counter(Mutex<u32>);
        impl View for Counter {
            fn read(&self, _: &Path) -> Result<Vec<u8>, ViewError> {
                let mut count = self.0.lock().unwrap();
                *count += 1;
                Ok(format!("{count}\n").into_bytes())
            }
            fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
                Err(ViewError::Absent { path: path.to_path_buf() })
            }
            fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
                Err(ViewError::Absent { path: path.to_path_buf() })
            }
            fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
                Ok(path.to_path_buf())
            }
            fn exists(&self, _: &Path) -> bool {
                true
            }
        }
        let counter = Counter(Mutex::new(0));
        let recording = Recording::new(&counter);
        let path = Path::new("/proc/meminfo");
        assert_eq!(recording.read(path), recording.read(path));
        assert_eq!(recording.into_snapshot().read(path), Ok(b"1\n".to_vec()));
    }
}
