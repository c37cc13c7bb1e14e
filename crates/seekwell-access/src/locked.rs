//! Files and folders that one process has at a time.

use std::fs::{File, TryLockError};
use std::io;

/// A file or folder that is locked with flock(2) for as long as this lives.
///
/// Dropping it unlocks it at once. Closing the descriptor alone might not: a child that another
/// thread is starting has a copy until it calls exec(2).
#[derive(Debug)]
pub struct Locked(File);

impl Locked {
    /// Takes the lock; `None` if it is held elsewhere.
    ///
    /// # Errors
    /// As the kernel answers.
    pub fn of(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_although_a_child_has_a_copy_of_the_descriptor() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lock = |file| Locked::of(file).unwrap();
        let open = || File::open(file.path()).unwrap();
        let first = open();
        let _inherited = first.try_clone().unwrap();
        let held = lock(first).expect("it is not locked yet");
        assert!(lock(open()).is_none());
        drop(held);
        assert!(lock(open()).is_some());
    }
}
