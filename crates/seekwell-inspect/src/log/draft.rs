//! One incident being put together from its lines.

use super::catalogue::{CatalogueEntry, Family, Hit, Level};
use super::event::KernelEvent as E;
use super::incident::{DeviceState, Incident, MappedBy};
use super::record::clean;
use super::stamp::Stamp;
use super::{map, states};
use crate::finding::Severity;
use std::collections::BTreeMap;

/// Sample lines that are kept of an incident, one of each entry first.
const SAMPLES: usize = 8;

#[derive(Debug)]
pub(crate) struct Draft {
    pub incident: Incident,
    pub family: Family,
    pub boot: u32,
    pub last: Option<i64>,
    /// The entry that leads, with how much it says.
    pub lead: (Level, u8, &'static CatalogueEntry),
    pub forms: BTreeMap<usize, u64>,
    /// The port answered again and nothing failed since.
    pub quiet: bool,
}

impl Draft {
    pub fn new(hit: &Hit<'_>, time: Stamp, subject: Option<&str>, boot: u32) -> Self {
        let (entry, level) = (hit.entry, hit.level);
        let incident = Incident {
            id: entry.id,
            counts: BTreeMap::new(),
            meaning: String::new(),
            remedy: String::new(),
            subject: subject.map(str::to_owned),
            disk: None,
            mapped_by: MappedBy::Unknown,
            count: 0,
            first: time,
            last: time,
            per_hour: None,
            states: Vec::new(),
            severity: Severity::Info,
            critical: false,
            recovered: None,
            samples: Vec::new(),
        };
        let lead = (level, states::weight(entry.id), entry);
        let forms = BTreeMap::new();
        Self { incident, family: entry.family, boot, last: None, lead, forms, quiet: false }
    }

    /// Takes a line in, with its stamp and the time by the log's clock.
    pub fn add(
        &mut self,
        hit: &Hit<'_>,
        subject: Option<&str>,
        (time, now): (Stamp, Option<i64>),
        line: &str,
    ) {
        let (entry, level) = (hit.entry, hit.level);
        let incident = &mut self.incident;
        let lines = incident.counts.entry(entry.id).or_default();
        *lines += 1;
        let fresh = *lines == 1;
        if fresh && incident.samples.len() < SAMPLES || incident.samples.len() < SAMPLES / 2 {
            incident.samples.push(clean(line, 300));
        }
        if now.is_some() {
            (self.last, incident.last) = (now, time);
        }
        // libata's own name says most, and that of a device more than that of its port.
        if let Some(new) = subject
            && incident.subject.as_deref().is_none_or(|old| {
                new.len() > old.len() && same(new, old)
                    || new.starts_with("ata") && !old.starts_with("ata")
            })
        {
            incident.subject = Some(new.to_owned());
        }
        if entry.id == E::NvmeTimeout && level == Level::Info {
            if line.ends_with(" 0x0") {
                self.answered(time);
            }
            return;
        }
        *self.forms.entry(hit.form).or_default() += 1;
        let rank = (level, states::weight(entry.id), entry);
        if (rank.0, rank.1) > (self.lead.0, self.lead.1) {
            self.lead = rank;
        }
        // What callers get comes last, after the device answered.
        if !matches!(
            entry.id,
            E::ScsiCommandFailed | E::ScsiMediaError | E::IoError | E::BlockError | E::BufferError
        ) {
            self.quiet = false;
            self.incident.recovered = None;
        }
    }

    pub fn set(&mut self, state: DeviceState) {
        self.incident.states.retain(|s| !state.replaces(s));
        self.incident.states.push(state);
    }

    /// A later line showed the device answering.
    pub fn answered(&mut self, time: Stamp) {
        let gone = |s: &DeviceState| {
            matches!(
                s,
                DeviceState::Disabled
                    | DeviceState::Offline
                    | DeviceState::ControllerGone
                    | DeviceState::LinkDown
            )
        };
        if !self.incident.states.iter().any(gone) {
            self.quiet = true;
            self.incident.recovered.get_or_insert(time);
        }
    }

    pub fn finish(self, virtual_machine: bool) -> Incident {
        let mut incident = self.incident;
        let (mut level, _, entry) = self.lead;
        incident.count = self.forms.values().copied().max().unwrap_or(1);
        let once = entry.id == E::ScsiReset && incident.count < 2;
        let attached = entry.id == E::NotReady && incident.recovered.is_some();
        if once || attached || (entry.id == E::BridgeLimits && virtual_machine) {
            level = Level::Info;
        }
        (incident.severity, incident.critical) = level.severity();
        incident.id = entry.id;
        entry.meaning.clone_into(&mut incident.meaning);
        entry.remedy.clone_into(&mut incident.remedy);
        if let (Some(first), Some(last)) = (incident.first.order(), incident.last.order())
            && incident.count > 1
        {
            let hours = last.saturating_sub(first) as f64 / 3.6e9;
            incident.per_hour = Some(incident.count as f64 / hours.max(1.0));
        }
        incident
    }
}

/// Whether two of the kernel's names can be one device: the same, a port and its device, or a
/// controller and its namespace.
pub(crate) fn same(a: &str, b: &str) -> bool {
    if a == b {
        return !a.is_empty();
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.starts_with("ata") {
        return long.strip_prefix(short).is_some_and(|r| r.starts_with('.'));
    }
    short.starts_with("nvme") && map::controller_of(long) == Some(short)
}
