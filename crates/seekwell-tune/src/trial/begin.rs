//! `try`: everything that is asked before anything is changed, and the start of the guard.

use super::{Begun, TrialRequest, Tuner, changed};
use crate::apply::{Applier, Change, Original, current};
use crate::conflict::{Other, others};
use crate::disk::{Disk, Machine};
use crate::error::TuneError;
use crate::guard::{self, Report, Started};
use crate::journal::{Begin, Journal, JournalError, JournalState, Phase, TrialFiles, VERSION};
use crate::plan::pio_mode;
use crate::reason::Reason;
use crate::setting::{
    Attribute, Request, Risk, Scope, SettingError, Values, attributes, find, hdparm, parse,
};
use crate::writer::{Sysfs, Writer};
use seekwell_sys::View;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a guard looks at the disk's health.
const WATCH: Duration = Duration::from_secs(1);

/// A read of the guard's own that takes longer means trouble.
const CANARY: Duration = Duration::from_secs(5);

/// No setting is tried on a disk with an error this recent.
const RECENT: Duration = Duration::from_secs(600);

/// How often and after what time a lock is tried again.
const LOOKS: usize = 10;
const LOOK: Duration = Duration::from_millis(20);

impl Tuner<'_> {
    /// Begins a trial. Everything is applied when this returns, and a guard puts it back unless
    /// [`Tuner::keep`] is called in time.
    ///
    /// # Errors
    /// [`TuneError`]; nothing is changed then, but for what [`TuneError::incomplete`] names.
    pub fn begin(&self, disk: &Disk, request: &TrialRequest) -> Result<Begun, TuneError> {
        let changes = self.wanted(disk, &request.words)?;
        self.allow(disk, request, &changes)?;
        self.well(disk, &changes)?;
        let (changes, attributes): (Vec<Change>, Vec<Attribute>) = changes.into_iter().unzip();
        let mut conflicts: Vec<Other> =
            attributes.iter().flat_map(|a| others(self.view, disk, a)).collect();
        conflicts.dedup();
        let begin = self.first_line(disk, request, changes, &attributes);
        if let Some(change) = begin.changes.iter().find(|c| !begin.can_undo(c)) {
            let (key, present) = (change.key.clone(), "not readable".to_owned());
            let why = "its value must be known before it is changed".to_owned();
            return Err(SettingError::NotReversible { key, present, why }.into());
        }
        let files = TrialFiles::new(&self.run_dir, &disk.identity.dev);
        TrialFiles::make_dir(&self.run_dir)
            .map_err(|source| TuneError::RunDir { path: self.run_dir.clone(), source })?;
        let busy = || TuneError::Busy { disk: disk.identity.name.clone() };
        let lock = self.lock(&files)?.ok_or_else(busy)?;
        self.make_room(&files, disk)?;
        let slots = 2 * begin.changes.len() as u64 + begin.originals.len() as u64;
        let longest = Duration::from_millis(
            (begin.limits.plain_ms + begin.limits.freezing_ms).saturating_mul(slots + 2),
        );
        let journal = Journal::begin(&files, begin.clone())?;
        drop(journal);
        let started = guard::start(&self.program, &files.journal(), &lock, longest);
        let report = match started {
            Err(error) => {
                // Nothing was changed, and the next must not think so.
                let _ = std::fs::remove_file(files.journal());
                return Err(TuneError::Guard(error));
            }
            Ok(Started::Silent(error)) => return Err(TuneError::Silent(error)),
            Ok(Started::Lost) => return Err(self.lost(&files)?),
            Ok(Started::Told(report)) => report,
        };
        match report {
            Report::Failed { key, why, outcome } => {
                Err(TuneError::NotApplied { key, why, left: outcome.left_keys() })
            }
            Report::Applied { side_effects, blind } => {
                let state =
                    JournalState { begin, entries: Vec::new(), cut_short: false, damaged: 0 };
                Ok(Begun {
                    schema: "seekwell/tune-try/1".to_owned(),
                    disk: disk.identity.clone(),
                    changed: changed(&state),
                    side_effects,
                    for_ms: state.begin.for_ms,
                    blind,
                    others: conflicts,
                })
            }
        }
    }

    /// The disk's lock. One who only looks has it for a moment.
    fn lock(&self, files: &TrialFiles) -> Result<Option<std::fs::File>, JournalError> {
        for _ in 0..LOOKS {
            if let Some(lock) = files.lock()? {
                return Ok(Some(lock));
            }
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }

    /// The guard is dead; this program does its work. The lock is still ours.
    fn lost(&self, files: &TrialFiles) -> Result<TuneError, TuneError> {
        let Some(state) = files.state()?.filter(JournalState::unfinished) else {
            return Ok(TuneError::GuardLost { left: Vec::new() });
        };
        let applier = Applier::new(Arc::new(Sysfs::new()), state.begin.limits);
        let outcome = guard::recover(&files.journal(), &state, &applier, Reason::Recovered)?;
        Ok(TuneError::GuardLost { left: outcome.left_keys() })
    }

    /// Puts the journal of what came before out of the way; refuses when that is not settled.
    fn make_room(&self, files: &TrialFiles, disk: &Disk) -> Result<(), TuneError> {
        let Some(state) = files.state()? else { return Ok(()) };
        if state.begin.machine != Machine::read(self.view) {
            // Of a boot that is over: its settings are gone with it.
            return Ok(());
        }
        if state.unfinished() {
            return Err(TuneError::Unfinished { disk: disk.identity.name.clone() });
        }
        if state.phase() == Phase::Kept {
            files.set_aside()?;
        }
        Ok(())
    }

    /// What was typed, as changes in the order in which they are made.
    fn wanted(
        &self,
        disk: &Disk,
        words: &[String],
    ) -> Result<Vec<(Change, Attribute)>, SettingError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for word in words {
            let mut request = parse(word)?;
            if let Request::Classic(switch) = &request {
                request = hdparm::translate(switch, disk)?;
            }
            let Request::Set { key, value } = request else { continue };
            if pairs.iter().any(|(k, _)| *k == key) {
                return Err(SettingError::Twice { key });
            }
            pairs.push((key, value));
        }
        let scheduler = pairs.iter().find(|(k, _)| k == "scheduler").map(|(_, v)| v.clone());
        let now = self.view.text(&disk.at("queue/scheduler")).map(|t| current(&t)).ok();
        let later = scheduler.filter(|s| Some(s) != now.as_ref());
        let mut changes = Vec::new();
        for (key, value) in pairs {
            changes.push(self.one_change(disk, &key, &value, later.as_deref())?);
        }
        changes.sort_by_key(|(change, _)| change.stage);
        Ok(changes)
    }

    fn one_change(
        &self,
        disk: &Disk,
        key: &str,
        value: &str,
        later: Option<&str>,
    ) -> Result<(Change, Attribute), SettingError> {
        let attribute = find(self.view, disk, key, later)?;
        let setting = attribute.setting;
        let key = attribute.key.clone();
        let values = (setting.values)(self.view, disk, &attribute.path);
        // The limits of the new scheduler are known only once it is set.
        let new_limits = later.is_some() && key == "nr_requests";
        let checked = match new_limits {
            true => Values::at_least(4).check(value),
            false => values.check(value),
        };
        let value = checked.map_err(|problem| SettingError::Value {
            key: key.clone(),
            value: value.to_owned(),
            problem,
        })?;
        let risk = (setting.risk)(&value);
        let present = self.view.text(&attribute.path).map(|t| current(&t)).ok();
        if let Some(present) = &present {
            self.writable(&attribute, present)?;
            if let Err(problem) = values.check(present).map_err(|p| p.to_string())
                && !setting.key.starts_with("vm.")
            {
                let (key, present) = (key.clone(), present.clone());
                return Err(SettingError::NotReversible { key, present, why: problem });
            }
        }
        let change = Change {
            key,
            path: attribute.path.clone(),
            stage: setting.stage,
            freezes: setting.freezes,
            prove: present.is_some() && risk < Risk::C,
            value,
        };
        Ok((change, attribute))
    }

    fn writable(&self, attribute: &Attribute, present: &str) -> Result<(), SettingError> {
        let (key, path) = (attribute.key.clone(), attribute.path.clone());
        if let Ok(false) = Sysfs::new().writable(&path) {
            return Err(SettingError::ReadOnly { key, path });
        }
        // Of a setting that is no file of its own, the node or file above it.
        let file = path.ancestors().find(|p| p.exists()).unwrap_or(&path);
        let access = rustix::fs::access(file, rustix::fs::Access::WRITE_OK);
        if access == Err(rustix::io::Errno::ACCESS) {
            return Err(SettingError::Denied { key, present: present.to_owned() });
        }
        Ok(())
    }

    /// Refuses what is too risky, and what may lose data if there is data to lose.
    fn allow(
        &self,
        disk: &Disk,
        request: &TrialRequest,
        changes: &[(Change, Attribute)],
    ) -> Result<(), TuneError> {
        for (change, attribute) in changes {
            let risk = (attribute.setting.risk)(&change.value);
            let (key, value) = (change.key.clone(), change.value.clone());
            if risk > Risk::B && risk > request.allow {
                return Err(TuneError::Risk { key, value, risk });
            }
            if risk == Risk::D
                && let Some(by) = disk.in_use(self.view)?
            {
                return Err(TuneError::InUse { key, by });
            }
        }
        Ok(())
    }

    /// Refuses a disk that is in trouble.
    fn well(&self, disk: &Disk, changes: &[(Change, Attribute)]) -> Result<(), TuneError> {
        let unwell = |why: String| Err(TuneError::Unwell { disk: disk.identity.name.clone(), why });
        if let Ok(state) = self.view.text(&disk.at("device/state"))
            && !["running", "live"].contains(&state.as_str())
        {
            return unwell(format!("its state is {state}, not running"));
        }
        if let Some(error) = recent_error(disk, self.view) {
            return unwell(format!(
                "its error ring shows {error} within the last {} minutes",
                RECENT.as_secs() / 60
            ));
        }
        if changes.iter().any(|(c, _)| c.key == "queue_depth") {
            if let Some(mode) = pio_mode(self.view, disk) {
                return unwell(format!(
                    "it transfers in {mode}, where queue_depth once lowered cannot be raised again"
                ));
            }
            if ncq_off(self.view, disk) {
                return unwell(
                    "the kernel switched NCQ off after errors, and writing queue_depth would \
                     switch it on again behind its back"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn first_line(
        &self,
        disk: &Disk,
        request: &TrialRequest,
        changes: Vec<Change>,
        chosen: &[Attribute],
    ) -> Begin {
        // The machine's own settings are looked after only where one of them is changed.
        let machine = chosen.iter().any(|a| a.setting.scope == Scope::Machine);
        let all = attributes(self.view, disk);
        let mine = all.iter().filter(|a| machine || a.setting.scope != Scope::Machine);
        let originals: Vec<Original> = mine
            .filter_map(|a| {
                let value = current(&self.view.text(&a.path).ok()?);
                let (stage, freezes) = (a.setting.stage, a.setting.freezes);
                Some(Original { key: a.key.clone(), path: a.path.clone(), value, stage, freezes })
            })
            .collect();
        let reset = |key: &str| {
            chosen
                .iter()
                .flat_map(|a| a.setting.resets)
                .any(|r| *r == key || r.strip_suffix('*').is_some_and(|stem| key.starts_with(stem)))
        };
        let resets: BTreeSet<String> =
            originals.iter().filter(|o| reset(&o.key)).map(|o| o.key.clone()).collect();
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Begin {
            version: VERSION,
            machine: Machine::read(self.view),
            disk: disk.identity.clone(),
            dir: disk.dir.clone(),
            started_unix_s: since.as_secs(),
            for_ms: ms(request.time),
            changes,
            resets,
            originals,
            limits: request.limits,
            canary_ms: request.canary.then(|| ms(CANARY)),
            owner: request.owned.then(std::process::id),
            watch_ms: ms(WATCH.min(request.time / 4).max(Duration::from_millis(20))),
        }
    }
}

fn recent_error(disk: &Disk, view: &dyn View) -> Option<String> {
    use seekwell_inspect::facts::AtaErrorClass;
    let errors = disk.device.detail.ata.as_ref()?.errors.as_ref()?;
    let uptime = view.text(Path::new("/proc/uptime")).ok()?;
    let now: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    // One of class unknown is left by probing.
    let bad = errors.value.iter().filter(|e| e.class != AtaErrorClass::Unknown);
    let recent = bad.filter_map(|e| Some((e.at_s?, e.class)));
    let mut recent = recent.filter(|(at, _)| now - at < RECENT.as_secs_f64());
    let (at, class) = recent.next()?;
    Some(format!("an error of kind {class:?} {:.0} s ago", (now - at).max(0.0)))
}

/// Whether the kernel's log says that it switched command queueing off on this disk.
fn ncq_off(view: &dyn View, disk: &Disk) -> bool {
    use seekwell_inspect::log::{Collector, DeviceState};
    if disk.ata_port.is_none() {
        return false;
    }
    let path = Path::new(seekwell_sys::KMSG);
    let Ok(log) = seekwell_sys::read_kmsg(path, 4 << 20) else { return false };
    let mut collector = Collector::new(Some(view));
    collector.push(&log);
    let ours = |name: &Option<String>| name.as_deref() == Some(disk.identity.name.as_str());
    let report = collector.report("the kernel log");
    report.incidents.iter().any(|i| ours(&i.disk) && i.states.contains(&DeviceState::NcqOff))
}
