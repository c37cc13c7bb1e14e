//! `status`.

use super::{TrialStatus, Tuner};
use crate::apply::{Applier, Limits, Original, RestoreOutcome};
use crate::conflict::{Other, others};
use crate::disk::{Disk, Machine};
use crate::error::TuneError;
use crate::guard::{self, Ask, Reply};
use crate::journal::{self, JournalState, Phase};
use crate::setting::find;
use crate::writer::Sysfs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A live guard answers at once.
const STATUS_TIMEOUT: Duration = Duration::from_secs(3);

/// The guard of a disk, as seen from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// No guard is running.
    Nobody,
    /// It waits for its timer or a request.
    Waits {
        /// Time left, in milliseconds.
        remaining_ms: u64,
    },
    /// It does not answer: it is writing settings, and perhaps waits for a stuck queue. Reading a
    /// setting would wait as well.
    Busy,
}

impl Tuner<'_> {
    /// Every known trial: running, kept, cut off, and the last to end.
    ///
    /// # Errors
    /// [`TuneError::Journal`].
    pub fn status(&self, disk: Option<&Disk>) -> Result<Vec<TrialStatus>, TuneError> {
        let mut all = Vec::new();
        for files in self.all_files()? {
            let Some(state) = files.state()? else { continue };
            if disk.is_some_and(|d| d.identity.dev != state.begin.disk.dev) {
                continue;
            }
            let guard = if files.lock()?.is_some() {
                Watch::Nobody
            } else {
                match guard::ask(&files.socket(), Ask::Status, STATUS_TIMEOUT) {
                    Ok(Reply::Status { remaining_ms, .. }) => Watch::Waits { remaining_ms },
                    _ => Watch::Busy,
                }
            };
            for path in files.earlier().iter().rev() {
                if let Some(earlier) = journal::read(path)? {
                    let earlier = self.trial_status(&earlier, guard);
                    all.push(TrialStatus { guarded: false, remaining_ms: None, ..earlier });
                }
            }
            all.push(self.trial_status(&state, guard));
        }
        Ok(all)
    }

    fn rivals(&self, state: &JournalState) -> Vec<Other> {
        let dev = state.begin.disk.dev.parse().ok();
        let Some(Ok(disk)) = dev.map(|dev| Disk::by_number(self.view, dev)) else {
            return Vec::new();
        };
        let keys = state.begin.changes.iter().map(|c| c.key.as_str());
        let found = keys.filter_map(|key| find(self.view, &disk, key, None).ok());
        let mut all: Vec<Other> = found.flat_map(|a| others(self.view, &disk, &a)).collect();
        all.dedup();
        all
    }

    fn trial_status(&self, state: &JournalState, guard: Watch) -> TrialStatus {
        let here = Machine::read(self.view);
        let was = &state.begin.machine;
        let mut notes = Vec::new();
        let stale = *was != here;
        if was.machine_id != here.machine_id {
            notes.push("belongs to another machine: left alone".to_owned());
        } else if stale {
            let gone = "of an earlier boot, which ended what it had set";
            notes.push(gone.to_owned());
        }
        if state.damaged > 0 {
            notes.push(format!("damaged lines in its journal: {}", state.damaged));
        }
        if state.cut_short {
            notes.push("the last line of its journal was cut short".to_owned());
        }
        let difference = guard::replaced(self.view, &state.begin.disk);
        let gone = !stale && guard::is_gone(self.view, &state.begin.disk);
        if let Some(difference) = difference.as_ref().filter(|_| !stale && !gone) {
            notes.push(format!("the disk has been replaced: {difference}"));
        }
        let look =
            !stale && difference.is_none() && guard != Watch::Busy && state.phase() != Phase::Ended;
        let applier = Applier::new(Arc::new(Sysfs::new()), Limits::default());
        let ours = state.ours();
        let originals: Vec<Original> =
            state.begin.originals.iter().filter(|o| ours.contains(&o.key)).cloned().collect();
        let left = state.outcome().map(RestoreOutcome::left_keys).unwrap_or_default();
        TrialStatus {
            disk: state.begin.disk.clone(),
            phase: state.phase(),
            guarded: guard != Watch::Nobody,
            remaining_ms: match guard {
                Watch::Waits { remaining_ms } => Some(remaining_ms),
                Watch::Nobody | Watch::Busy => None,
            },
            changed: if look { applier.differences(&originals) } else { Vec::new() },
            ended_because: state.reason().map(ToString::to_string),
            left: if state.phase() == Phase::Ended && !stale { left } else { Vec::new() },
            rule: state.rule().filter(|r| r.exists()).map(Path::to_path_buf),
            others: if look { self.rivals(state) } else { Vec::new() },
            gone,
            notes,
        }
    }
}
