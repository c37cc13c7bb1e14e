//! Who looks on while something is measured, and what a measurement needs of its process.

use seekwell_checkup::Progress;
use seekwell_inspect::Pages;
use seekwell_io::engine::Control;
use seekwell_runs::StoreError;
use seekwell_sys::{Live, Patient};
use std::sync::Arc;
use std::time::Duration;

/// What a measurement needs of the process it runs in.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// The running system.
    pub view: &'a Patient<Live>,
    /// Set by signals, obeyed by the engine.
    pub control: &'a Arc<Control>,
}

/// The kernel answers from memory; what takes longer than this waits for hardware that hangs.
pub const ANSWER: Duration = Duration::from_secs(2);

impl Host<'_> {
    /// The running system, and its drives asked for their health. Asking wakes no sleeping disk and
    /// touches no medium.
    pub fn drives(&self) -> Patient<Pages<Live>> {
        Patient::new(Pages::new(Live::system()), ANSWER)
    }
}

/// Informed as a measurement progresses; a command line draws it.
pub trait Watcher: Sync {
    /// What is being done, without a known length.
    fn doing(&self, what: &str);

    /// How much of something is done.
    fn part(&self, what: &str, done: u64, whole: u64);

    /// How many requests are made of something whose length in time is not known.
    fn count(&self, what: &str, _requests: u64) {
        self.doing(what);
    }

    /// Where a plan stands.
    fn at(&self, at: &Progress<'_>);

    /// Something worth saying beside the result.
    fn note(&self, text: &str);

    /// From now on the run is measured and not kept.
    fn not_kept(&self, error: &StoreError) {
        self.note(&format!("this run is not kept: {error}"));
    }

    /// The measurement is over.
    fn clear(&self);
}
