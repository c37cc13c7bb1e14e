//! `status`.

use super::*;

/// A guard that lives answers at once.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who is at work on a disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// No guard lives.
    Nobody,
    /// One waits for its time, or for a word.
    Waits {
        /// Time left, in milliseconds.
        remaining_ms: u64,
    },
    /// One lives and does not answer: it writes to the disk's settings, and perhaps waits for a
    /// queue that is stuck. Who looks at a setting then waits as well.
    Busy,
}

impl Tuner<'_> {
    /// Every trial there is word of: going on, kept, cut off, ended last.
    ///
    /// # Errors
    /// [`TuneError::Journal`].
    pub fn status(&self, disk: Option<&Disk>) -> Result<Vec<Standing>, TuneError> {
        let mut all = Vec::new();
        for place in self.places()? {
            let Some(story) = place.story()? else { continue };
            if disk.is_some_and(|d| d.identity.dev != story.begin.disk.dev) {
                continue;
            }
            let guard = if place.lock()?.is_some() {
                Watch::Nobody
            } else {
                match guard::ask(&place.socket(), Ask::Status, PATIENCE) {
                    Ok(Reply::Status { remaining_ms, .. }) => Watch::Waits { remaining_ms },
                    _ => Watch::Busy,
                }
            };
            for path in place.earlier().iter().rev() {
                if let Some(earlier) = journal::read(path)? {
                    let earlier = self.standing(&earlier, guard);
                    all.push(Standing { guarded: false, remaining_ms: None, ..earlier });
                }
            }
            all.push(self.standing(&story, guard));
        }
        Ok(all)
    }

    fn rivals(&self, story: &Story) -> Vec<Other> {
        let dev = story.begin.disk.dev.parse().ok();
        let Some(Ok(disk)) = dev.map(|dev| Disk::by_number(self.view, dev)) else {
            return Vec::new();
        };
        let keys = story.begin.changes.iter().map(|c| c.key.as_str());
        let found = keys.filter_map(|key| find(self.view, &disk, key, None).ok());
        let mut all: Vec<Other> = found.flat_map(|a| others(self.view, &disk, &a)).collect();
        all.dedup();
        all
    }

    fn standing(&self, story: &Story, guard: Watch) -> Standing {
        let here = Machine::read(self.view);
        let was = &story.begin.machine;
        let mut notes = Vec::new();
        let stale = *was != here;
        if was.machine_id != here.machine_id {
            notes.push("of another machine: left alone".to_owned());
        } else if stale {
            let gone = "of an earlier boot: what it had set was gone with that";
            notes.push(gone.to_owned());
        }
        if story.damaged > 0 {
            notes.push(format!("damaged lines in its journal: {}", story.damaged));
        }
        if story.cut_short {
            notes.push("the last line of its journal was cut short".to_owned());
        }
        let difference = guard::replaced(self.view, &story.begin.disk);
        if let Some(difference) = difference.as_ref().filter(|_| !stale) {
            notes.push(format!("the disk is another one now: {difference}"));
        }
        let look =
            !stale && difference.is_none() && guard != Watch::Busy && story.phase() != Phase::Ended;
        let applier = Applier::new(Arc::new(Sysfs::new()), Limits::default());
        let ours = story.ours();
        let originals: Vec<Original> =
            story.begin.originals.iter().filter(|o| ours.contains(&o.key)).cloned().collect();
        let left = story.outcome().map(Outcome::left_keys).unwrap_or_default();
        Standing {
            disk: story.begin.disk.clone(),
            phase: story.phase(),
            guarded: guard != Watch::Nobody,
            remaining_ms: match guard {
                Watch::Waits { remaining_ms } => Some(remaining_ms),
                Watch::Nobody | Watch::Busy => None,
            },
            changed: if look { applier.differences(&originals) } else { Vec::new() },
            ended_because: story.reason().map(ToString::to_string),
            left: if story.phase() == Phase::Ended && !stale { left } else { Vec::new() },
            rule: story.rule().filter(|r| r.exists()).map(Path::to_path_buf),
            others: if look { self.rivals(story) } else { Vec::new() },
            notes,
        }
    }
}
