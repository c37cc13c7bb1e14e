//! Announcements and log lines as events for people.

use super::uevent::{Action, Uevent};
use crate::finding::Severity;
use crate::log::KernelEvent;
use crate::log::Record;
use crate::log::catalogue::{Level, classify};
use crate::reader::{Reader, clean};
use crate::stack::Stack;
use crate::target::all_disks;
use seekwell_sys::View;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Repeats of one message within this time are one event.
const TOGETHER: Duration = Duration::from_secs(5);
/// The most messages remembered for that.
const MAX_REMEMBERED: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Added,
    Removed,
    /// A device is there with another size, medium or state.
    Changed,
    /// The kernel says that something is wrong.
    Incident,
    /// Events came faster than they were read: some are not known.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventSource {
    /// The kernel's announcements of devices.
    Devices,
    Log,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    pub event: EventKind,
    pub source: EventSource,
    /// In words: `disk appeared`, the meaning of a log line.
    pub what: String,
    /// The kernel's name of the device: `sdb`, `ata2.00`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// How it speaks: `sata`, `usb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The entry of the catalogue of log messages, `KL-003`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<KernelEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// How often it was said, for repeats that are reported later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The path in sysfs, or the line of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl Event {
    fn new(event: EventKind, source: EventSource, what: impl Into<String>) -> Self {
        Self {
            event,
            source,
            what: what.into(),
            device: None,
            model: None,
            size_bytes: None,
            transport: None,
            id: None,
            severity: None,
            count: None,
            from: None,
        }
    }

    /// Some events were overwritten before they were read.
    pub(super) fn lost(source: EventSource) -> Self {
        let what = match source {
            EventSource::Devices => "device events were lost: they came faster than they were read",
            EventSource::Log => "lines of the kernel log were overwritten before they were read",
        };
        Self::new(EventKind::Lost, source, what)
    }
}

/// What a device was when it was last seen: once it is gone, there is nothing to ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    model: Option<String>,
    size_bytes: Option<u64>,
    transport: Option<String>,
}

/// The devices there are.
#[derive(Debug, Default)]
pub(super) struct Known {
    devices: BTreeMap<String, Seen>,
}

impl Known {
    pub fn new(view: &dyn View) -> Self {
        let mut known = Self::default();
        for disk in all_disks(view) {
            let dir = disk.dev.map(|d| d.sysfs()).and_then(|dir| view.canonical(&dir).ok());
            if let Some(dir) = dir
                && let Some(name) = dir.file_name().map(|n| n.to_string_lossy().into_owned())
            {
                let seen = look(view, &dir);
                known.devices.insert(name, seen);
            }
        }
        known
    }

    /// The event an announcement is; `None` when it is of no interest to a disk's owner.
    pub fn event(&mut self, view: &dyn View, uevent: &Uevent) -> Option<Event> {
        match uevent.get("SUBSYSTEM")? {
            "block" => self.block(view, uevent),
            "nvme" => controller(uevent, "NVMe controller"),
            "pci"
                if uevent.get("PCI_CLASS").is_some_and(|c| c.len() == 5 && c.starts_with('1')) =>
            {
                controller(uevent, "storage controller")
            }
            "usb" if uevent.get("DEVTYPE") == Some("usb_device") => {
                let mut event = controller(uevent, "USB device")?;
                let product = sysfs(uevent).join("product");
                event.model = view.text(&product).ok().map(|t| clean(&t)).filter(|t| !t.is_empty());
                Some(event)
            }
            "scsi" if uevent.action == Action::Change => {
                let news = uevent.properties.keys().find(|k| k.starts_with("SDEV_"))?;
                let what = format!("SCSI device reports {}", news.to_lowercase().replace('_', " "));
                Some(about(EventKind::Changed, what, uevent))
            }
            _ => None,
        }
    }

    fn block(&mut self, view: &dyn View, uevent: &Uevent) -> Option<Event> {
        // udev repeats a change after every program that had the device open for writing.
        if uevent.properties.contains_key("SYNTH_UUID") {
            return None;
        }
        let name = uevent.name().to_owned();
        let before = self.devices.get(&name).cloned();
        let now = match uevent.action {
            Action::Add | Action::Change => look(view, &sysfs(uevent)),
            Action::Remove => self.devices.remove(&name).unwrap_or_default(),
            Action::Other(_) => return None,
        };
        let part = uevent.get("DEVTYPE") == Some("partition");
        let thing = if part { "partition" } else { "disk" };
        let empty = now.size_bytes.is_none_or(|s| s == 0);
        let (kind, what) = match uevent.action {
            Action::Add => (EventKind::Added, format!("{thing} appeared")),
            Action::Remove => (EventKind::Removed, format!("{thing} is gone")),
            _ if before.as_ref() == Some(&now) => {
                (EventKind::Changed, format!("{thing} announced a change"))
            }
            _ if empty => (EventKind::Changed, format!("{thing} holds nothing now")),
            _ => (EventKind::Changed, format!("{thing} has another size or medium")),
        };
        let mut event = about(kind, what, uevent);
        (event.model, event.size_bytes, event.transport) =
            (now.model.clone(), now.size_bytes, now.transport.clone());
        if uevent.action != Action::Remove {
            self.devices.insert(name, now);
        }
        Some(event)
    }
}

fn sysfs(uevent: &Uevent) -> PathBuf {
    PathBuf::from(format!("/sys{}", uevent.devpath))
}

fn about(kind: EventKind, what: String, uevent: &Uevent) -> Event {
    let mut event = Event::new(kind, EventSource::Devices, what);
    event.device = Some(clean(uevent.name()));
    event.from = Some(clean(&sysfs(uevent).display().to_string()));
    event
}

fn controller(uevent: &Uevent, thing: &str) -> Option<Event> {
    let (kind, what) = match uevent.action {
        Action::Add => (EventKind::Added, format!("{thing} appeared")),
        Action::Remove => (EventKind::Removed, format!("{thing} is gone")),
        Action::Change => {
            let news = uevent.get("NVME_EVENT").or_else(|| uevent.get("NVME_AEN"))?;
            (EventKind::Changed, format!("{thing}: {}", clean(news)))
        }
        Action::Other(_) => return None,
    };
    Some(about(kind, what, uevent))
}

fn look(view: &dyn View, dir: &Path) -> Seen {
    let mut reader = Reader::new(view);
    let Some(device) = Stack::new(&[]).device(&mut reader, dir) else { return Seen::default() };
    Seen {
        model: device.model.map(|m| m.value),
        size_bytes: device.size_bytes.map(|s| s.value),
        transport: device.transport.map(|t| t.value),
    }
}

/// Messages reported a moment ago.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    told: BTreeMap<(KernelEvent, String), (Instant, u64, Event)>,
}

impl Repeats {
    /// The event that a log record stands for; `None` for no event, or one reported just now.
    pub fn record(&mut self, line: &[u8], now: Instant) -> Option<Event> {
        let record = Record::parse(line)?;
        let (entry, level) = classify(&record.text)?;
        if level == Level::Info {
            return None;
        }
        let subject = subject(&record.text);
        let key = (entry.id, subject.clone().unwrap_or_default());
        if let Some((_, count, _)) = self.told.get_mut(&key) {
            *count += 1;
            return None;
        }
        let mut event = Event::new(EventKind::Incident, EventSource::Log, entry.meaning);
        event.device = subject;
        event.id = Some(entry.id);
        event.severity = Some(level.severity().0);
        event.from = Some(clean(&record.text));
        if self.told.len() < MAX_REMEMBERED {
            self.told.insert(key, (now, 0, event.clone()));
        }
        Some(event)
    }

    /// What was repeated, of messages reported long enough ago.
    pub fn over(&mut self, now: Instant) -> Vec<Event> {
        let old = |since: &Instant| now.saturating_duration_since(*since) >= TOGETHER;
        let mut repeated = Vec::new();
        self.told.retain(|_, (since, count, event)| {
            if !old(since) {
                return true;
            }
            if *count > 0 {
                let mut event = event.clone();
                event.count = Some(*count);
                repeated.push(event);
            }
            false
        });
        repeated
    }
}

/// What a line is about: the word before its colon, with the device behind a driver's name.
fn subject(text: &str) -> Option<String> {
    let (head, _) = text.split_once(": ")?;
    let name = head.rsplit(' ').next()?.trim_matches(|c| matches!(c, '[' | ']' | '(' | ')'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '_');
    (!name.is_empty() && name.len() <= 32 && name.chars().all(plain)).then(|| name.to_owned())
}
