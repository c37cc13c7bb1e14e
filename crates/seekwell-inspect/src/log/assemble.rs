//! From matching lines to incidents.

use super::catalogue::{self, CatalogueEntry, Family, Hit, Level};
use super::draft::{Draft, same};
use super::event::KernelEvent as E;
use super::facts::{self, LogFacts, Probe};
use super::incident::{DeviceState, Incident, MappedBy};
use super::learn::port_of;
use super::map::Names;
use super::matcher::{Hole, Holes};
use super::record::Record;
use super::stamp::Stamp;
use super::states;

/// Lines of one kind on one device within this many microseconds are one incident.
const WINDOW: u64 = 600_000_000;
/// An I/O error this close to error handling belongs to it.
const TOGETHER: u64 = 1_000_000;
/// The clock of one boot never goes back this far; processors differ by far less.
const BACK: u64 = 10_000_000;
/// The most incidents that are kept, against a made-up log.
const MOST: usize = 2048;
/// How far back an incident is looked for that a line may belong to.
const LOOK_BACK: usize = 256;

/// Reads records in their order and keeps what they add up to.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    names: Names,
    pub facts: LogFacts,
    drafts: Vec<Draft>,
    /// Incidents that were not kept.
    pub left_out: u64,
    /// How often a kernel said that it starts.
    pub boots: u32,
    /// Which boot the lines are of, counted also where a kernel's first line is missing.
    epoch: u32,
    last_boot_us: u64,
    now: Option<i64>,
    /// The device libata last spoke about, for a second line that does not name it.
    last_ata: Option<String>,
}

impl Assembler {
    pub(crate) fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    pub(crate) fn take(&mut self, record: &Record) {
        if let Some(us) = record.time.boot_us {
            if us.saturating_add(BACK) < self.last_boot_us {
                self.reboot();
            }
            self.last_boot_us = us;
        }
        self.now = record.time.order().or(self.now);
        let first = record.text.split('\n').next().unwrap_or_default();
        if let Some((probe, held)) = facts::look_up(first) {
            self.probe(probe, &held, record);
        }
        for line in record.text.split('\n').take(64) {
            if let Some(hit) = catalogue::look_up(line) {
                self.line(hit, record, line);
            }
        }
    }

    /// What was known of devices is of the boot before.
    fn reboot(&mut self) {
        self.settle();
        self.names.reboot();
        self.facts = LogFacts::default();
        self.last_ata = None;
        self.epoch += 1;
    }

    fn probe(&mut self, probe: Probe, held: &Holes<'_>, record: &Record) {
        let ata = held.get(Hole::Ata, 0);
        let any = held.get(Hole::Any, 0).unwrap_or_default();
        match probe {
            Probe::Banner => {
                self.reboot();
                self.boots += 1;
            }
            Probe::ScsiHost => {
                let host = held.get(Hole::Host, 0).unwrap_or_default();
                self.names.host(host, any, self.now);
            }
            Probe::UsbFound => {
                self.names.usb(held.get(Hole::Usb, 0).unwrap_or_default(), self.now);
            }
            Probe::Disk => self.disk(held, record),
            Probe::NvmeFunction => {
                let controller = held.get(Hole::Nvme, 0).unwrap_or_default();
                self.names.function(controller, held.get(Hole::Pci, 0).unwrap_or_default());
            }
            Probe::Card => {
                let disk = held.get(Hole::Dev, 0).unwrap_or_default();
                if disk.starts_with("mmcblk") {
                    self.names.card(held.get(Hole::Mmc, 0).unwrap_or_default(), disk);
                }
            }
            Probe::Identified => self.cleared(ata.unwrap_or_default(), None, record.time),
            Probe::Configured => {
                let mode = held.get(Hole::Word, 0).unwrap_or_default();
                self.configured(ata.unwrap_or_default(), mode);
            }
            Probe::LinkUp => self.each_on(ata.unwrap_or_default(), |d| {
                d.incident.states.retain(|s| *s != DeviceState::LinkDown);
            }),
            Probe::EhComplete => self.each_on(ata.unwrap_or_default(), |d| d.answered(record.time)),
            Probe::NvmeQueues => {
                let controller = held.get(Hole::Nvme, 0).unwrap_or_default();
                self.each_on(controller, |d| d.answered(record.time));
            }
            Probe::LinkRecovered => {
                let address = held.get(Hole::Pci, 0).unwrap_or_default();
                self.each_on(address, |d| d.answered(record.time));
            }
            _ => {}
        }
        let kind = record.text.contains(": PATA max ").then_some("PATA");
        self.facts.learn(probe, held);
        if probe == Probe::Identified {
            let kinds = ["ATAPI", "CFA"];
            let kind = kinds.iter().find(|k| record.text.contains(&format!(": {k}: ")));
            let device = self.facts.devices.iter_mut().find(|d| Some(d.name.as_str()) == ata);
            if let (Some(kind), Some(device)) = (kind, device) {
                device.standard = Some((*kind).to_owned());
            }
        }
        if matches!(probe, Probe::Port | Probe::DummyPort)
            && let Some(name) = ata
        {
            let (host, driver) = self.names.port(name);
            for name in self.names.distrusted() {
                if let Some(port) = self.facts.ports.iter_mut().find(|p| p.name == name) {
                    port.host = None;
                }
            }
            if let Some(port) = self.facts.port(held) {
                port.kind = (probe == Probe::Port).then(|| kind.unwrap_or("SATA").to_owned());
                (port.host, port.driver) = (host, driver);
            }
        }
    }

    /// A SCSI disk was attached: what was switched off for an earlier attachment is over.
    fn disk(&mut self, held: &Holes<'_>, record: &Record) {
        let (Some(address), Some(disk)) = (held.get(Hole::Hctl, 0), held.get(Hole::Dev, 0)) else {
            return;
        };
        // It was not ready when it was found, and is now.
        for draft in self.drafts.iter_mut().rev().take(LOOK_BACK) {
            if draft.lead.2.id == E::NotReady && draft.incident.disk.as_deref() == Some(disk) {
                draft.answered(record.time);
            }
        }
        if let Some(ata) = self.names.disk(address, disk) {
            if let Some(device) = self.facts.devices.iter_mut().find(|d| d.name == ata) {
                device.disk = Some(disk.to_owned());
            }
            self.cleared(&ata, Some(disk), record.time);
        }
    }

    /// A device was detected again. Without a disk: incidents of this very name are over; with one:
    /// those of the same disk under other names.
    fn cleared(&mut self, ata: &str, disk: Option<&str>, time: Stamp) {
        for draft in self.drafts.iter_mut().rev().take(LOOK_BACK) {
            let subject = draft.incident.subject.as_deref().unwrap_or_default();
            let over = match disk {
                None => same(subject, ata),
                Some(disk) => {
                    draft.incident.disk.as_deref() == Some(disk)
                        && subject.starts_with("ata")
                        && port_of(subject) != port_of(ata)
                }
            };
            if over && draft.family == Family::Errors && draft.boot == self.epoch {
                let keeps = |s: &DeviceState| matches!(s, DeviceState::FilesystemStopped { .. });
                draft.incident.states.retain(keeps);
                draft.answered(time);
            }
        }
    }

    /// The mode a device was set to, which corrects what error handling said it would be.
    fn configured(&mut self, ata: &str, mode: &str) {
        let state = states::mode(mode);
        self.each_on(ata, |d| {
            let modes = |s: &&mut DeviceState| {
                matches!(s, DeviceState::DmaMode { .. } | DeviceState::Pio { .. })
            };
            if let Some(old) = d.incident.states.iter_mut().find(modes) {
                *old = state.clone();
            }
        });
    }

    /// Every recent draft of error handling about this device.
    fn each_on(&mut self, subject: &str, mut what: impl FnMut(&mut Draft)) {
        let epoch = self.epoch;
        for draft in self.drafts.iter_mut().rev().take(LOOK_BACK) {
            let theirs = draft.incident.subject.as_deref().unwrap_or_default();
            let joined = matches!(draft.family, Family::Errors | Family::Pcie);
            if joined && draft.boot == epoch && same(theirs, subject) {
                what(draft);
            }
        }
    }

    fn line(&mut self, mut hit: Hit<'_>, record: &Record, line: &str) {
        let (entry, time) = (hit.entry, record.time);
        let subject = self.subject(entry, &hit.held, record.device.as_deref());
        if let Some(device) =
            subject.as_deref().filter(|s| entry.id == E::CapacityChanged && made(s))
            && hit.held.get(Hole::Num, 0) == Some("0")
        {
            self.replaced(device);
        }
        let Some(level) = self.in_context(&hit, subject.as_deref(), line) else { return };
        hit.level = level;
        if let Some(ata) = subject.as_deref().filter(|s| s.starts_with("ata")) {
            self.last_ata = Some(ata.to_owned());
        }
        let (disk, mapped_by) =
            subject.as_deref().map_or((None, MappedBy::Unknown), |s| self.names.disk_of(s));
        if mapped_by == MappedBy::Named
            && let Some(disk) = &disk
        {
            self.names.named(disk);
        }
        let at = self
            .find(entry, subject.as_deref(), disk.as_deref())
            .or_else(|| self.find_by_time(entry, disk.as_deref()))
            .or_else(|| self.start(&hit, time, subject.as_deref()));
        let Some(at) = at else { return };
        let draft = &mut self.drafts[at];
        if draft.incident.disk.is_none() && disk.is_some() {
            (draft.incident.disk, draft.incident.mapped_by) = (disk, mapped_by);
        }
        draft.add(&hit, subject.as_deref(), (time, self.now), line);
        if let Some(state) = states::after(entry.id, &hit.held, line) {
            draft.set(state);
        }
    }

    /// A device that had no size got one: it is another than the one of its name before, which is
    /// gone with everything that was said of it.
    fn replaced(&mut self, device: &str) {
        let theirs = |d: &Draft| {
            let subject = d.incident.subject.as_deref();
            subject == Some(device) || d.incident.disk.as_deref() == Some(device)
        };
        self.drafts.retain(|d| d.boot != self.epoch || !theirs(d));
    }

    /// Whose line it is: what it names, else what the kernel tagged it with.
    fn subject(
        &self,
        entry: &CatalogueEntry,
        held: &Holes<'_>,
        tag: Option<&str>,
    ) -> Option<String> {
        match entry.id {
            E::InterruptDisabled => held.get(Hole::Num, 0).map(|n| format!("irq {n}")),
            E::IommuFault => held.subject().map(|s| match s.split(':').count() {
                2 => format!("0000:{s}"),
                _ => s.to_owned(),
            }),
            _ => match held.subject() {
                Some(subject) => Some(subject.to_owned()),
                None if entry.id == E::AtaMediaError => self.last_ata.clone(),
                None => tag
                    .and_then(|t| t.strip_prefix('+')?.split_once(':'))
                    .filter(|(bus, _)| ["scsi", "pci", "usb"].contains(bus))
                    .map(|(_, name)| name.to_owned()),
            },
        }
    }

    /// How bad the line is where it stands; `None` when it says nothing there.
    fn in_context(&self, hit: &Hit<'_>, subject: Option<&str>, line: &str) -> Option<Level> {
        let Hit { entry, level, held, .. } = hit;
        let subject = subject.unwrap_or_default();
        let port = || self.facts.ports.iter().find(|p| p.name == port_of(subject));
        let applies = match entry.id {
            _ if entry.family == Family::Statement => false,
            // An empty port is no loss; one that had a link is.
            E::LinkDown => {
                let had = |p: &super::facts::AtaPort| {
                    self.facts.devices.iter().any(|d| port_of(&d.name) == p.name)
                };
                port().is_some_and(had)
            }
            // The kernel says so as well when a disk is removed on request.
            E::AtaDisabled if !line.contains("giving up") => {
                let failing = |d: &Draft| {
                    let theirs = d.incident.subject.as_deref().unwrap_or_default();
                    d.family == Family::Errors && !d.quiet && same(theirs, subject)
                };
                self.drafts.iter().rev().take(LOOK_BACK).any(failing)
            }
            E::SataAsIde => {
                let ide = |d: &str| d == "ata_piix" || d == "ata_generic";
                self.names.driver(subject).is_some_and(ide)
            }
            E::CapacityChanged => held.get(Hole::Num, 0) != Some("0") && !made(subject),
            _ => true,
        };
        // Drives for discs, and cards, are made for it.
        let slow = |d: &&super::facts::AtaDevice| {
            d.name == subject && matches!(d.standard.as_deref(), Some("ATAPI" | "CFA"))
        };
        let meant = entry.id == E::ConfiguredForPio && self.facts.devices.iter().any(|d| slow(&d));
        // Every USB device is reset now and then: only a disk's resets are trouble.
        let known = || self.names.disk_of(subject).0.is_some();
        let harmless = entry.id == E::UsbReset && line.starts_with("usb ") && !known();
        applies.then_some(if harmless || meant { Level::Info } else { *level })
    }

    /// The incident the line belongs to by its device.
    fn find(
        &self,
        entry: &CatalogueEntry,
        subject: Option<&str>,
        disk: Option<&str>,
    ) -> Option<usize> {
        let fits = |d: &&Draft| {
            let near = match (self.now, d.last) {
                (Some(now), Some(last)) => now.abs_diff(last) <= WINDOW,
                _ => true,
            };
            let kind = d.family == entry.family
                && (entry.family != Family::Alone || d.lead.2.id == entry.id);
            let theirs = d.incident.subject.as_deref();
            let device = match (subject, theirs) {
                (Some(a), Some(b)) if same(a, b) => true,
                (None, None) => entry.family == Family::Alone,
                // The same disk on another port is another attachment.
                (Some(a), Some(b)) if a.starts_with("ata") && b.starts_with("ata") => false,
                _ => disk.is_some() && d.incident.disk.as_deref() == disk,
            };
            d.boot == self.epoch && near && kind && device
        };
        let found = self.drafts.iter().enumerate().rev().take(LOOK_BACK);
        found.filter(|(_, d)| fits(d)).map(|(i, _)| i).next()
    }

    /// For an I/O error of a disk nothing ties to a port: the one port that was in error handling
    /// in the same second is it.
    fn find_by_time(&mut self, entry: &CatalogueEntry, disk: Option<&str>) -> Option<usize> {
        if !matches!(
            entry.id,
            E::ScsiCommandFailed | E::ScsiMediaError | E::IoError | E::BlockError | E::BufferError
        ) {
            return None;
        }
        let (disk, now) = (disk?, self.now?);
        let open = |d: &Draft| {
            let ata = d.incident.subject.as_deref().is_some_and(|s| s.starts_with("ata"));
            let near = d.last.is_some_and(|last| now.abs_diff(last) <= TOGETHER);
            let kind = d.family == Family::Errors && d.boot == self.epoch;
            ata && near && kind && !d.quiet && d.incident.disk.is_none()
        };
        let mut found = self.drafts.iter().enumerate().rev().take(LOOK_BACK);
        let (at, draft) = found.find(|(_, d)| open(d))?;
        if found.any(|(_, d)| open(d)) {
            return None;
        }
        let subject = draft.incident.subject.clone()?;
        if !self.names.tie(&subject, disk) {
            return None;
        }
        let incident = &mut self.drafts[at].incident;
        incident.disk = Some(disk.to_owned());
        incident.mapped_by = MappedBy::Together;
        Some(at)
    }

    fn start(&mut self, hit: &Hit<'_>, time: Stamp, subject: Option<&str>) -> Option<usize> {
        // The success of an abort is no incident by itself.
        if hit.entry.id == E::NvmeTimeout && hit.level == Level::Info {
            return None;
        }
        if self.drafts.len() >= MOST {
            self.left_out += 1;
            return None;
        }
        self.drafts.push(Draft::new(hit, time, subject, self.epoch));
        Some(self.drafts.len() - 1)
    }

    /// Ties the incidents of a boot that is over to disks their lines came too early for.
    fn settle(&mut self) {
        for draft in self.drafts.iter_mut().filter(|d| d.boot == self.epoch) {
            let incident = &mut draft.incident;
            if incident.disk.is_none()
                && let Some(subject) = &incident.subject
            {
                (incident.disk, incident.mapped_by) = self.names.disk_of(subject);
            }
        }
    }

    /// The incidents, in the order of their first lines.
    pub(crate) fn finish(mut self) -> (Vec<Incident>, LogFacts, u64) {
        self.settle();
        let virtual_machine = self.facts.virtual_machine.is_some();
        let incidents = self.drafts.into_iter().map(|d| d.finish(virtual_machine)).collect();
        (incidents, self.facts, self.left_out)
    }
}

/// Whether a program makes devices of this name out of something else, and others under it later.
fn made(device: &str) -> bool {
    ["loop", "ram", "zram", "nbd"].iter().any(|prefix| device.starts_with(prefix))
}
