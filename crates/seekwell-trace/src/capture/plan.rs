//! What is to be recorded, and the events that this takes on the running kernel.

use super::error::CaptureError;
use super::format::{EventFormat, Field};
use super::process::Processes;
use super::tracefs::Tracefs;
use crate::pair::{EventKind, Order};
use crate::source::Device;

/// How the events are to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Via {
    /// Programs in the kernel, or else a tracefs instance.
    #[default]
    Auto,
    /// Programs in the kernel (BPF), or an error.
    Bpf,
    /// A tracefs instance, or an error.
    Tracefs,
}

/// A disk to be recorded, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Major number of the whole disk.
    pub major: u32,
    /// Minor number of the whole disk.
    pub minor: u32,
    /// First byte and bytes of the part that is kept; offsets count from there. `None`: all of it.
    pub part: Option<(u64, u64)>,
    /// What the trace says about it.
    pub device: Device,
}

/// What is to be recorded.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The disks.
    pub disks: Vec<Recorded>,
    /// Every other disk too, from its first request on.
    pub others: bool,
    /// Whose requests; judged when they are queued.
    pub processes: Processes,
    /// Size of the kernel's buffer for each CPU.
    pub buffer_bytes_per_cpu: u64,
    /// How the events are to be read.
    pub via: Via,
    /// In which order records are given.
    pub order: Order,
}

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tracepoint {
    /// A bio came in.
    Queue,
    /// A request was given to the driver.
    Issue,
    /// A request is done, or a part of it.
    Complete,
    /// A bio is done, of a driver that has no requests.
    BioComplete,
    /// A bio became part of a request.
    Merge,
    /// A driver gave a request back.
    Requeue,
    /// A bio was cut in two.
    Split,
    /// A task was made.
    Task,
}

impl Tracepoint {
    pub const ALL: [Self; 8] = [
        Self::Queue,
        Self::Issue,
        Self::Complete,
        Self::BioComplete,
        Self::Merge,
        Self::Requeue,
        Self::Split,
        Self::Task,
    ];

    /// What an event of it means; `None` if it is not about a request.
    pub const fn means(self) -> Option<EventKind> {
        match self {
            Self::Queue => Some(EventKind::Queue),
            Self::Issue => Some(EventKind::Issue),
            Self::Complete | Self::BioComplete => Some(EventKind::Complete),
            Self::Merge => Some(EventKind::Merge),
            Self::Requeue => Some(EventKind::Requeue),
            Self::Split => Some(EventKind::Split),
            Self::Task => None,
        }
    }
}

/// Names of the events, and whether nothing can be recorded without them.
const BLOCK: [(&str, Tracepoint, bool); 8] = [
    ("block/block_bio_queue", Tracepoint::Queue, true),
    ("block/block_rq_issue", Tracepoint::Issue, true),
    ("block/block_rq_complete", Tracepoint::Complete, true),
    ("block/block_bio_complete", Tracepoint::BioComplete, false),
    ("block/block_bio_backmerge", Tracepoint::Merge, false),
    ("block/block_bio_frontmerge", Tracepoint::Merge, false),
    ("block/block_rq_requeue", Tracepoint::Requeue, false),
    ("block/block_split", Tracepoint::Split, false),
];
const TASK: &str = "task/task_newtask";

/// The fields of an event that are read; `None` if this kernel's event has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    pub task: Option<Field>,
    pub device: Option<Field>,
    pub sector: Option<Field>,
    pub sectors: Option<Field>,
    pub error: Option<Field>,
    pub letters: Option<Field>,
    pub comm: Option<Field>,
    pub new_sector: Option<Field>,
    pub child: Option<Field>,
    pub clone_flags: Option<Field>,
}

impl Slots {
    fn of(format: &EventFormat) -> Self {
        Self {
            task: format.field("common_pid"),
            device: format.field("dev"),
            sector: format.field("sector"),
            sectors: format.field("nr_sector"),
            error: format.field("error"),
            letters: format.field("rwbs"),
            comm: format.field("comm"),
            new_sector: format.field("new_sector"),
            child: format.field("pid"),
            clone_flags: format.field("clone_flags"),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Event {
    /// Its folder below `events`.
    pub path: String,
    pub kind: Tracepoint,
    /// What the kernel itself keeps out.
    pub filter: Option<String>,
    pub format: EventFormat,
    pub slots: Slots,
}

/// All events that a recording takes.
#[derive(Debug)]
pub(super) struct Events {
    events: Vec<Event>,
    id: Field,
}

impl Events {
    /// Reads the layouts from the running kernel.
    pub fn load(tracefs: &Tracefs, plan: &Plan) -> Result<Self, CaptureError> {
        Self::read(plan, |path| tracefs.read(&format!("events/{path}/format")))
    }

    /// Reads the layouts with `read`, which gives the text of `format` in a folder of `events`.
    pub fn read(
        plan: &Plan,
        read: impl Fn(&str) -> Result<String, CaptureError>,
    ) -> Result<Self, CaptureError> {
        let mut events = Vec::new();
        let task = plan.processes.follows_threads().then_some((TASK, Tracepoint::Task, false));
        for (path, kind, needed) in BLOCK.into_iter().chain(task) {
            let text = match read(path) {
                Ok(text) => text,
                Err(CaptureError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    if needed {
                        let folder = format!("/sys/kernel/tracing/events/{path}").into();
                        return Err(CaptureError::NoEvent { event: path.into(), path: folder });
                    }
                    continue;
                }
                Err(other) => return Err(other),
            };
            let format = EventFormat::parse(&text).map_err(|wrong| CaptureError::Layout {
                path: format!("events/{path}/format").into(),
                wrong,
            })?;
            let filtered = kind != Tracepoint::Task && !plan.others;
            let filter = filtered.then(|| filter(plan));
            let slots = Slots::of(&format);
            events.push(Event { path: path.to_owned(), kind, filter, format, slots });
        }
        let id = events.first().and_then(|event| event.format.field("common_type"));
        let id = id.ok_or_else(|| CaptureError::Layout {
            path: "events/block/block_bio_queue/format".into(),
            wrong: super::error::LayoutError::Missing("common_type"),
        })?;
        Ok(Self { events, id })
    }

    pub fn all(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// The event in these bytes; `None` if it was not asked for.
    pub fn of(&self, bytes: &[u8]) -> Option<&Event> {
        let id = self.id.number(bytes)?;
        self.events.iter().find(|event| u64::from(event.format.id) == id)
    }
}

/// What the kernel shall let through: the devices, in its own numbers.
fn filter(plan: &Plan) -> String {
    let devices = plan.disks.iter().map(|disk| format!("dev == {}", disk.major << 20 | disk.minor));
    devices.collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_names_every_disk_by_the_kernels_own_number() {
        let disk = |major, minor| Recorded { major, minor, part: None, device: Device::default() };
        let plan = Plan { disks: vec![disk(7, 1), disk(259, 3)], ..Plan::default() };
        assert_eq!(filter(&plan), "dev == 7340033 || dev == 271581187");
    }
}
