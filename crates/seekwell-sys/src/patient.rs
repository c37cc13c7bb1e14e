//! A view that waits only so long for each answer.
//!
//! Some sysfs files ask the hardware when they are read, and hung hardware does not answer. Each
//! question therefore goes to a helper thread; one that does not come back in time is left behind
//! with its question, and a new helper takes the next. A path that did not answer once is not asked
//! again, and neither is anything in a folder in which [`ENOUGH`] did not: the kernel answers all
//! files of a disk's queue under one lock, and who holds that may hold it for good.

use crate::thread::start;
use crate::view::{View, ViewError};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// So many silent files speak for their folder.
const ENOUGH: usize = 2;

/// Another view, with a limit on how long each of its answers may take.
pub struct Patient<V> {
    inner: Arc<V>,
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    helper: Option<Sender<Job>>,
    silent: HashSet<PathBuf>,
}

impl State {
    /// Whether enough beside `path` did not answer.
    fn is_silent_around(&self, path: &Path) -> bool {
        self.silent.iter().filter(|silent| silent.parent() == path.parent()).count() >= ENOUGH
    }
}

impl<V: View + 'static> Patient<V> {
    /// Waits at most `limit` for each answer of `inner`.
    pub fn new(inner: V, limit: Duration) -> Self {
        Self { inner: Arc::new(inner), limit, state: Mutex::default() }
    }

    fn ask<T: Send + 'static>(
        &self,
        path: &Path,
        question: impl FnOnce(&V, &Path) -> Result<T, ViewError> + Send + 'static,
    ) -> Result<T, ViewError> {
        let late = || ViewError::Failed { path: path.to_owned(), kind: io::ErrorKind::TimedOut };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.silent.contains(path) || state.is_silent_around(path) {
            return Err(late());
        }
        let (answer, answers) = channel();
        let (inner, owned) = (Arc::clone(&self.inner), path.to_owned());
        // Whoever asked may have gone when the answer comes at last.
        let job: Job = Box::new(move || drop(answer.send(question(&inner, &owned))));
        let helper = state.helper.get_or_insert_with(helper);
        if helper.send(job).is_err() {
            state.helper = None;
            return Err(ViewError::Failed { path: path.to_owned(), kind: io::ErrorKind::Other });
        }
        match answers.recv_timeout(self.limit) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                state.helper = None;
                state.silent.insert(path.to_owned());
                Err(late())
            }
            Err(RecvTimeoutError::Disconnected) => {
                state.helper = None;
                Err(ViewError::Failed { path: path.to_owned(), kind: io::ErrorKind::Other })
            }
        }
    }
}

/// A thread that does one job after the other until all senders are gone.
fn helper() -> Sender<Job> {
    let (jobs, todo): (Sender<Job>, Receiver<Job>) = channel();
    // Without a thread the receiver is dropped, and the first job sent says so.
    let _ = start("seekwell-view", move || todo.into_iter().for_each(|job| job()));
    jobs
}

impl<V: View + 'static> View for Patient<V> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        self.ask(path, |view, path| view.read(path))
    }

    fn list(&self, path: &Path) -> Result<Vec<String>, ViewError> {
        self.ask(path, |view, path| view.list(path))
    }

    fn link(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.inner.link(path)
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, ViewError> {
        self.inner.canonical(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// No busy machine keeps an answer that long.
    const PATIENCE: Duration = Duration::from_secs(3);

    /// Answers at once but for some files, which never do; counts how often it is asked for those.
    struct Hung(Fake, Arc<AtomicUsize>);

    impl View for Hung {
        fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
            if path == Path::new("/sys/hung") || path.starts_with("/sys/queue") {
                self.1.fetch_add(1, Relaxed);
                std::thread::sleep(Duration::from_secs(3600));
            }
            self.0.read(path)
        }

        crate::forward_view!(0);
    }

    #[test]
    fn a_file_that_blocks_is_missing_with_its_reason_and_the_rest_is_read() {
        let fake = Fake::new().file("/sys/hung", "x").file("/sys/well", "7");
        let asked = Arc::default();
        let view = Patient::new(Hung(fake, Arc::clone(&asked)), PATIENCE);
        for _ in 0..3 {
            let error = view.text(Path::new("/sys/hung")).unwrap_err();
            let late = matches!(error, ViewError::Failed { kind: io::ErrorKind::TimedOut, .. });
            assert!(late, "{error}");
            assert_eq!(view.number(Path::new("/sys/well")), Ok(7));
        }
        assert_eq!(asked.load(Relaxed), 1, "asked once and not again");
    }

    #[test]
    fn two_files_that_block_speak_for_their_folder() {
        let names: Vec<String> = (0..40).map(|n| format!("/sys/queue/file{n}")).collect();
        let fake = names.iter().fold(Fake::new(), |fake, name| fake.file(name, "x"));
        let asked = Arc::default();
        let hung = Hung(fake.file("/sys/well", "7"), Arc::clone(&asked));
        let view = Patient::new(hung, PATIENCE);
        assert!(names.iter().all(|name| view.text(Path::new(name)).is_err()));
        assert_eq!(asked.load(Relaxed), 2);
        assert_eq!(view.number(Path::new("/sys/well")), Ok(7), "other folders are asked");
    }

    #[test]
    fn answers_and_errors_pass_through() {
        let fake = Fake::new().file("/sys/a/b", "text").denied("/sys/a/c");
        let view = Patient::new(fake, Duration::from_secs(10));
        assert_eq!(view.text(Path::new("/sys/a/b")).as_deref(), Ok("text"));
        assert!(matches!(view.read(Path::new("/sys/a/c")), Err(ViewError::Denied { .. })));
        assert!(matches!(view.read(Path::new("/sys/a/d")), Err(ViewError::Absent { .. })));
        assert_eq!(view.list(Path::new("/sys/a")).unwrap(), ["b", "c"]);
    }
}
