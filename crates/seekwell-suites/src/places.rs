//! Every suite on file systems it cannot work on.

use crate::error::SuiteError;
use crate::frame::Stage;
use crate::settings::Level;
use crate::suite::{On, Suite};
use crate::suites;
use crate::testing::SmallFs;
use seekwell_sys::{Class, Classified};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Values with which a suite needs more room than the small file systems here have.
fn large(suite: &Suite) -> &'static [(&'static str, &'static str)] {
    match suite.name {
        "fs" => &[("char_size", "8k")],
        "sqlite" => &[("journals", "wal"), ("threads", "1"), ("seconds", "1"), ("scale", "10")],
        "commit" => &[("record", "1m")],
        _ => &[],
    }
}

/// The suites that have steps.
fn stepped() -> impl Iterator<Item = &'static Suite> {
    suites().into_iter().filter(|suite| suite.on != On::Destroyed)
}

/// The error with which the first step that cannot be done ends.
fn refusal(suite: &'static Suite, path: &Path) -> SuiteError {
    let set: Vec<_> =
        large(suite).iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let settings = suite.settings(Level::Quick, &set).unwrap();
    let stop = AtomicBool::new(false);
    let stage = Stage { path, opened: None, seed: 1, stop: &stop, progress: &|_| (), device: None };
    let mut steps = (suite.steps)(&settings);
    let refused = steps.iter_mut().find_map(|step| (step.run)(&stage).err());
    let refused = refused.unwrap_or_else(|| panic!("{} was run to its end", suite.name));
    assert_eq!(refused.to_string().lines().count(), 1, "{refused}");
    assert_eq!(refused.class(), Class::Refused, "{}: {refused:?}", suite.name);
    refused
}

#[test]
fn every_suite_says_that_the_file_system_filled_up() {
    for suite in stepped() {
        let Some(small) = SmallFs::ext4(24 << 20, 8192) else { return };
        let refused = refusal(suite, &small.path());
        assert!(matches!(refused, SuiteError::Full { .. }), "{}: {refused:?}", suite.name);
    }
}

#[test]
fn every_suite_says_that_no_inodes_are_left() {
    for suite in stepped() {
        let Some(small) = SmallFs::ext4(16 << 20, 32) else { return };
        let mut made = 0;
        while File::create_new(small.path().join(format!("file-{made}"))).is_ok() {
            made += 1;
        }
        let refused = refusal(suite, &small.path());
        assert!(matches!(refused, SuiteError::NoInodes { .. }), "{}: {refused:?}", suite.name);
    }
}

#[test]
fn every_suite_says_that_the_file_system_is_read_only() {
    for suite in stepped() {
        let Some(small) = SmallFs::ext4(4 << 20, 64) else { return };
        small.only_read();
        let refused = refusal(suite, &small.path());
        assert!(matches!(refused, SuiteError::ReadOnly { .. }), "{}: {refused:?}", suite.name);
    }
}
