//! `keep` and `undo`.

use super::{Kept, Tuner, Undone, changed};
use crate::apply::{Applier, Limits, Original, RestoreOutcome};
use crate::disk::{Disk, DiskError, Machine};
use crate::error::TuneError;
use crate::guard::{self, Ask, Reply};
use crate::journal::{self, Journal, JournalEntry, JournalError, JournalState, Phase, TrialFiles};
use crate::persist::{self, Rule, Verified};
use crate::reason::Reason;
use crate::setting::attributes;
use crate::writer::Sysfs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a guard may take to roll back before it counts as silent.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(180);

/// How long a guard that does not answer may take to exit.
const EXIT_GRACE: Duration = Duration::from_secs(5);

impl Tuner<'_> {
    /// The given disk, or the only one with a trial that fits.
    fn files(
        &self,
        disk: Option<&Disk>,
        fits: impl Fn(&TrialFiles, &JournalState) -> bool,
    ) -> Result<(TrialFiles, JournalState), TuneError> {
        let here = Machine::read(self.view);
        let all_files = match disk {
            Some(disk) => vec![TrialFiles::new(&self.run_dir, &disk.identity.dev)],
            None => self.all_files()?,
        };
        let mut found = Vec::new();
        for files in all_files {
            let Some(state) = files.state()? else { continue };
            if state.begin.machine.machine_id != here.machine_id {
                // Asked about by name it is an error; among all it is passed over.
                match disk {
                    Some(_) => return Err(TuneError::OtherMachine { path: files.journal() }),
                    None => continue,
                }
            }
            if fits(&files, &state) && state.begin.machine == here {
                found.push((files, state));
            }
        }
        match found.len() {
            0 => Err(TuneError::NoTrial { disk: disk.map(|d| d.identity.name.clone()) }),
            1 => Ok(found.swap_remove(0)),
            _ => Err(TuneError::Which {
                disks: found.iter().map(|(_, s)| s.begin.disk.name.clone()).collect(),
            }),
        }
    }

    /// Keeps a trial until the next boot, and with `persist` after every boot.
    ///
    /// # Errors
    /// [`TuneError`]. With [`TuneError::Persist`] of a rule that could not be made, the trial goes
    /// on as before.
    pub fn keep(&self, disk: Option<&Disk>, persist: bool) -> Result<Kept, TuneError> {
        // What was kept until the next boot may be made to last.
        let lasts = |s: &JournalState| persist && s.phase() == Phase::Kept && s.rule().is_none();
        let (files, state) = match self.files(disk, |_, s| s.phase() == Phase::Trying) {
            Err(TuneError::NoTrial { disk: name }) => {
                self.files(disk, |_, s| lasts(s)).map_err(|_| self.too_late(disk, name))?
            }
            found => found?,
        };
        let was = &state.begin.disk;
        if let Some(difference) = guard::replaced(self.view, was) {
            return Err(TuneError::Replaced { disk: was.name.clone(), difference });
        }
        let rule = if persist { Some(self.rule_for(&state)?) } else { None };
        let prepared = rule.as_ref().map(persist::prepare).transpose()?;
        let asked = match lasts(&state) {
            true => Ok(Reply::Kept),
            false => guard::ask(&files.socket(), Ask::Keep, ROLLBACK_TIMEOUT),
        };
        match asked {
            Ok(Reply::Kept) => {}
            Ok(Reply::Refused { why }) => return Err(TuneError::Told(why)),
            Ok(_) => return Err(TuneError::Told("its reply does not match the request".into())),
            Err(_) if files.lock()?.is_some() => {
                return Err(TuneError::Unfinished { disk: was.name.clone() });
            }
            Err(error) => return Err(TuneError::Silent(error)),
        }
        let mut kept = Kept {
            schema: "seekwell/tune-keep/1".to_owned(),
            disk: was.clone(),
            changed: changed(&state),
            rule: None,
            not_verified: None,
            others: Vec::new(),
        };
        if let (Some(rule), Some(prepared)) = (rule, prepared) {
            // Noted first, so that `undo` knows of it whatever happens in between.
            let mut journal = Journal::resume(&files.journal())?;
            if journal.phase() != Some(Phase::Kept) {
                // Somebody has undone it since.
                return Err(self.too_late(disk, Some(was.name.clone())));
            }
            journal.append(&JournalEntry::Persisting { rule: rule.path.clone() })?;
            if let Verified::No { why } = &prepared.verified {
                kept.not_verified = Some(why.clone());
            }
            prepared.write()?;
            kept.rule = Some(rule.path);
            kept.others = rule.conflicts;
        }
        Ok(kept)
    }

    /// Restarts a trial's timer and returns the time left.
    ///
    /// # Errors
    /// [`TuneError::Over`] when it was put back before, and [`TuneError`] otherwise.
    pub fn heartbeat(&self, disk: &Disk) -> Result<Duration, TuneError> {
        let disk = Some(disk);
        let (files, _) = match self.files(disk, |_, s| s.phase() == Phase::Trying) {
            Err(TuneError::NoTrial { disk: name }) => return Err(self.too_late(disk, name)),
            found => found?,
        };
        match guard::ask(&files.socket(), Ask::Heartbeat, ROLLBACK_TIMEOUT) {
            Ok(Reply::Status { remaining_ms, .. }) => Ok(Duration::from_millis(remaining_ms)),
            Ok(Reply::Refused { why }) => Err(TuneError::Told(why)),
            Ok(_) => Err(TuneError::Told("its reply does not match the request".into())),
            Err(error) => match self.too_late(disk, None) {
                over @ TuneError::Over { .. } => Err(over),
                _ => Err(TuneError::Silent(error)),
            },
        }
    }

    /// Why there is nothing to keep: mostly because it was put back already.
    fn too_late(&self, disk: Option<&Disk>, name: Option<String>) -> TuneError {
        match self.files(disk, |_, s| s.reason().is_some()) {
            Ok((_, state)) => TuneError::Over {
                disk: state.begin.disk.name.clone(),
                reason: state.reason().map(ToString::to_string).unwrap_or_default(),
            },
            Err(_) => TuneError::NoTrial { disk: name },
        }
    }

    fn rule_for(&self, state: &JournalState) -> Result<Rule, TuneError> {
        let was = &state.begin.disk;
        let gone = || DiskError::NoDisk { given: was.name.clone(), why: "it is gone".to_owned() };
        let disk = Disk::by_number(self.view, was.dev.parse().map_err(|()| gone())?)?;
        let changed = changed(state);
        Ok(persist::rule(self.view, &disk, &state.begin.changes, &changed, &self.rules_dir)?)
    }

    /// Puts back what a trial changed; of a disk without one, what was kept; and removes its rule.
    ///
    /// # Errors
    /// [`TuneError`]. What could not be put back is in the outcome, not an error.
    pub fn undo(&self, disk: Option<&Disk>) -> Result<Undone, TuneError> {
        let settled = |s: &JournalState| s.phase() == Phase::Ended && !s.unfinished();
        let found = self.files(disk, |p, s| !settled(s) || !p.earlier().is_empty());
        let (files, state) = match (found, disk) {
            (Err(TuneError::NoTrial { .. }), Some(disk)) => return self.undo_rule(disk),
            (Err(TuneError::Journal(error @ JournalError::Damaged { .. })), _) => {
                return self.undo_by_guard(error);
            }
            (found, _) => found?,
        };
        let mut undone = Undone {
            schema: "seekwell/tune-undo/1".to_owned(),
            disk: state.begin.disk.clone(),
            outcome: RestoreOutcome::default(),
            gone: false,
            rule_removed: None,
            notes: Vec::new(),
        };
        let only_earlier = settled(&state);
        let gone = || guard::is_gone(self.view, &state.begin.disk);
        let begun = Instant::now();
        let _lock = loop {
            if let Some(lock) = files.lock()? {
                break lock;
            }
            // One that was just killed holds its lock and its socket for a moment more, and one
            // that has ended its lock: it knows nothing of what was kept before it.
            let dying = begun.elapsed() < EXIT_GRACE;
            match self.ask_guard(&files, undone.clone()) {
                Err(TuneError::Silent(_)) if dying => {}
                Ok(_) if only_earlier && dying => {}
                // The guard is done; what it could not put back is forgotten below.
                Ok(told) if dying && !told.outcome.complete() && gone() => {}
                told => return told,
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        // Between the first look and the lock the guard may have done it.
        let Some(state) = files.state()? else { return Ok(undone) };
        if settled(&state) && !only_earlier {
            undone.outcome = state.outcome().cloned().unwrap_or_default();
            undone.notes.extend(state.reason().map(|r| format!("already put back: {r}")));
            return Ok(undone);
        }
        if let Some(difference) = guard::replaced(self.view, &state.begin.disk) {
            return self.forget(&files, &state, undone, difference);
        }
        if settled(&state) {
            return self.undo_kept(&files, undone);
        }
        undone.rule_removed = state.rule().filter(|r| r.exists()).map(Path::to_path_buf);
        let applier = Applier::new(Arc::new(Sysfs::new()), state.begin.limits);
        let reason = if state.phase() == Phase::Kept { Reason::Asked } else { Reason::Recovered };
        undone.outcome = guard::recover(&files.journal(), &state, &applier, reason)?;
        self.undo_kept(&files, undone)
    }

    /// A journal that cannot be understood: a guard that lives knows what was in it.
    fn undo_by_guard(&self, damaged: JournalError) -> Result<Undone, TuneError> {
        let JournalError::Damaged { path, .. } = &damaged else { return Err(damaged.into()) };
        let Some(files) = TrialFiles::of(path) else { return Err(damaged.into()) };
        let disk = files.dev().parse().ok().and_then(|dev| Disk::by_number(self.view, dev).ok());
        let Some(disk) = disk else { return Err(damaged.into()) };
        let Ok(Reply::Undone { outcome }) =
            guard::ask(&files.socket(), Ask::Undo, ROLLBACK_TIMEOUT)
        else {
            return Err(damaged.into());
        };
        let (schema, notes) = ("seekwell/tune-undo/1".to_owned(), vec![damaged.to_string()]);
        Ok(Undone { schema, disk: disk.identity, outcome, gone: false, rule_removed: None, notes })
    }

    /// What was kept before the last trial, the newest first. The disk's lock must be held.
    fn undo_kept(&self, files: &TrialFiles, mut undone: Undone) -> Result<Undone, TuneError> {
        if let Some(difference) = guard::replaced(self.view, &undone.disk) {
            let disk = undone.disk.name;
            return Err(TuneError::Replaced { disk, difference });
        }
        let applier = Applier::new(Arc::new(Sysfs::new()), Limits::default());
        for path in files.earlier() {
            self.undo_earlier(&path, Some(&applier), &mut undone)?;
        }
        Ok(undone)
    }

    fn ask_guard(&self, files: &TrialFiles, mut undone: Undone) -> Result<Undone, TuneError> {
        match guard::ask(&files.socket(), Ask::Undo, ROLLBACK_TIMEOUT) {
            Ok(Reply::Undone { outcome }) => {
                undone.outcome = outcome;
                Ok(undone)
            }
            Ok(Reply::Refused { why }) => Err(TuneError::Told(why)),
            Ok(_) => Err(TuneError::Told("its reply does not match the request".into())),
            // It may have ended, by itself or not, while it was asked.
            Err(error) => match files.state()? {
                Some(state) if state.phase() == Phase::Ended => {
                    undone.outcome = state.outcome().cloned().unwrap_or_default();
                    undone.notes.extend(state.reason().map(|r| format!("already put back: {r}")));
                    Ok(undone)
                }
                _ => Err(TuneError::Silent(error)),
            },
        }
    }

    /// A kept trial from before the one that was undone; without an applier its disk is gone.
    fn undo_earlier(
        &self,
        path: &Path,
        applier: Option<&Applier>,
        undone: &mut Undone,
    ) -> Result<(), TuneError> {
        if let Some(state) = journal::read(path)?
            && state.begin.machine == Machine::read(self.view)
            && state.begin.disk == undone.disk
        {
            if let Some(applier) = applier {
                let outcome = applier.restore(&state.begin.originals, &state.ours());
                undone.outcome.restored.extend(outcome.restored);
                undone.outcome.left.extend(outcome.left);
            }
            if let Some(rule) = state.rule().filter(|r| persist::remove(r)) {
                undone.rule_removed = Some(rule.to_path_buf());
            }
        }
        if undone.outcome.complete() {
            std::fs::remove_file(path)
                .map_err(|source| JournalError::Io { path: path.to_path_buf(), source })?;
        }
        Ok(())
    }

    /// The disk is gone or another one now: nothing is written to it.
    fn forget(
        &self,
        files: &TrialFiles,
        state: &JournalState,
        mut undone: Undone,
        difference: String,
    ) -> Result<Undone, TuneError> {
        let mut journal = Journal::resume(&files.journal())?;
        journal.append(&JournalEntry::Forgotten { why: difference.clone() })?;
        undone.gone = guard::is_gone(self.view, &undone.disk);
        if !undone.gone {
            return Err(TuneError::Replaced { disk: undone.disk.name, difference });
        }
        undone.rule_removed = state.rule().filter(|r| persist::remove(r)).map(Path::to_path_buf);
        for path in files.earlier() {
            self.undo_earlier(&path, None, &mut undone)?;
        }
        Ok(undone)
    }

    /// After a reboot there is no journal, but the rule says what was before.
    fn undo_rule(&self, disk: &Disk) -> Result<Undone, TuneError> {
        let no_trial = || TuneError::NoTrial { disk: Some(disk.identity.name.clone()) };
        let path = persist::path_for(self.view, disk, &self.rules_dir).ok_or_else(no_trial)?;
        let before = persist::originals_in(&path).ok_or_else(no_trial)?;
        let present = attributes(self.view, disk);
        let originals: Vec<Original> = before
            .into_iter()
            .filter_map(|(key, value)| {
                let found = present.iter().find(|a| a.key == key)?;
                let (stage, freezes) = (found.setting.stage, found.setting.freezes);
                Some(Original { key, path: found.path.clone(), value, stage, freezes })
            })
            .collect();
        if !persist::remove(&path) {
            return Err(no_trial());
        }
        let applier = Applier::new(Arc::new(Sysfs::new()), Limits::default());
        let ours = originals.iter().map(|o| o.key.clone()).collect();
        Ok(Undone {
            schema: "seekwell/tune-undo/1".to_owned(),
            disk: disk.identity.clone(),
            outcome: applier.restore(&originals, &ours),
            gone: false,
            rule_removed: Some(path),
            notes: Vec::new(),
        })
    }
}
