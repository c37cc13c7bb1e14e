//! What tests of suites need: small file systems of their own, and a whole round of a suite.
#![allow(clippy::print_stderr)]

use crate::error::SuiteError;
use crate::frame::StepResult;
use crate::round::{Place, Round};
use crate::settings::Level;
use crate::suite::Suite;
use seekwell_access::AccessError;
use seekwell_io::engine::Control;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

fn ran(program: &str, args: &[&str]) -> bool {
    let output = Command::new(program).args(args).output();
    output.is_ok_and(|o| o.status.success())
}

/// An ext4 file system on a loop device, unmounted when this is dropped.
pub struct SmallFs {
    dir: TempDir,
}

impl SmallFs {
    /// One of this size and number of inodes; `None`, with a message, if it cannot be created.
    pub fn ext4(bytes: u64, inodes: u64) -> Option<Self> {
        let dir = TempDir::new().unwrap();
        let small = Self { dir };
        let image = small.dir.path().join("disk.img");
        std::fs::File::create(&image).unwrap().set_len(bytes).unwrap();
        std::fs::create_dir(small.path()).unwrap();
        let (image, inodes) = (image.to_string_lossy().into_owned(), inodes.to_string());
        let point = small.path().to_string_lossy().into_owned();
        let plain = ["-q", "-F", "-m", "0", "-O", "^has_journal", "-N", &inodes, &image];
        if !ran("mkfs.ext4", &plain) || !ran("mount", &["-o", "loop", &image, &point]) {
            skip("no file system can be made and mounted on a loop device");
            return None;
        }
        Some(small)
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("mounted")
    }

    /// Lets it only be read from now on.
    pub fn only_read(&self) {
        let point = self.path().to_string_lossy().into_owned();
        assert!(ran("mount", &["-o", "remount,ro", &point]));
    }
}

impl Drop for SmallFs {
    fn drop(&mut self) {
        let point = self.path().to_string_lossy().into_owned();
        // The loop device goes with the last that uses it.
        let _ = ran("umount", &[&point]) || ran("umount", &["-l", &point]);
    }
}

/// Runs all steps of a suite in its quick form with some values set, and sees that nothing is left.
/// `None`, with a message, where the disk has no room.
pub fn round(suite: &'static Suite, set: &[(&str, &str)]) -> Option<Vec<(String, StepResult)>> {
    let target = TempDir::new().unwrap();
    let results = round_in(suite, set, target.path(), |_| ());
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "nothing is left");
    roomy(results).map(Result::unwrap)
}

/// The same, or `None`, with a message, where the disk had no room.
pub fn roomy<T>(results: Result<T, SuiteError>) -> Option<Result<T, SuiteError>> {
    if matches!(results, Err(SuiteError::Access(AccessError::TooLittleRoom { .. }))) {
        skip("the disk is full");
        return None;
    }
    Some(results)
}

/// The same in a directory that is there; `between` is called with the name of each step that has
/// ended.
pub fn round_in(
    suite: &'static Suite,
    set: &[(&str, &str)],
    target: &Path,
    between: impl Fn(&str),
) -> Result<Vec<(String, StepResult)>, SuiteError> {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let settings = suite.settings(Level::Quick, &set)?;
    let place = Place::Directory(target.to_path_buf());
    let mut round = Round::begin(suite, &settings, &place, None, 11)?;
    let within = |share| assert!((0.0..=1.0).contains(&share), "{share}");
    let mut results = Vec::new();
    for index in 0..round.steps().len() {
        let (name, primary) =
            (round.steps()[index].name.clone(), round.steps()[index].primary.clone());
        let result = round.run(index, &Control::default(), &within)?;
        assert!(result.values[&primary] > 0.0, "{name}: {:?}", result.values);
        between(&name);
        results.push((name, result));
    }
    Ok(results)
}
