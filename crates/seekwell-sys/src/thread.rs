//! The one place that starts threads. A limit on processes or memory refuses one, which `spawn` and
//! `Scope::spawn` of the standard library turn into a panic: those begun before may wait for ever.

use crate::classify;
use rustix::process::{Resource, getrlimit};
use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// A thread that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot start a thread: {why}; {limits}")]
pub struct NoThread {
    why: String,
    limits: String,
}

classify!(NoThread: Refused);

impl NoThread {
    fn new(error: &io::Error) -> Self {
        let limit = |what, unit, resource| {
            let most = getrlimit(resource).current?;
            Some(format!("{} {what}", most / unit))
        };
        let limits = [
            limit("KiB of memory (`ulimit -v`)", 1024, Resource::As),
            limit("processes of this user (`ulimit -u`)", 1, Resource::Nproc),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" or ");
        let limits = match limits.as_str() {
            "" => "raise pids.max of its control group, or free memory".to_owned(),
            _ => format!("raise the limit that was reached: {limits}"),
        };
        Self { why: error.to_string(), limits }
    }
}

impl From<NoThread> for io::Error {
    fn from(error: NoThread) -> Self {
        Self::other(error)
    }
}

/// Starts a thread.
///
/// # Errors
/// [`NoThread`].
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NoThread> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|e| NoThread::new(&e))
}

/// The same with a stack of a size of its own.
///
/// # Errors
/// [`NoThread`].
pub fn start_with_stack<T: Send + 'static>(
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NoThread> {
    let builder = Builder::new().name(name.to_owned()).stack_size(stack_bytes);
    builder.spawn(work).map_err(|e| NoThread::new(&e))
}

/// Starts a thread that ends before its scope does. Where this fails, `work` is dropped with all
/// that it holds.
///
/// # Errors
/// [`NoThread`].
pub fn start_scoped<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, NoThread> {
    let builder = Builder::new().name(name.to_owned());
    builder.spawn_scoped(scope, work).map_err(|e| NoThread::new(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_cannot_be_started_is_an_error_that_names_the_limits() {
        let error = start_with_stack("large", 1 << 62, || ()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot start a thread: "), "{text}");
        assert!(text.contains("ulimit -") || text.contains("pids.max"), "{text}");
    }
}
