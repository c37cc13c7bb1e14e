//! The settings of a request queue, from `/sys/block/*/queue`.

use crate::model::{Fact, Queue};
use crate::reader::{Need, Reader, choice, show};
use std::path::Path;

/// Reads the queue of `disk`; `own` is the device itself, which for a partition is not its disk.
pub(crate) fn read(r: &mut Reader<'_>, disk: &Path, own: &Path) -> Queue {
    let mut queue = Queue::default();
    let dir = disk.join("queue");
    if r.view.exists(&dir) {
        limits(r, &dir, &mut queue);
        scheduling(r, disk, &dir, &mut queue);
    }
    let alignment = own.join("alignment_offset");
    queue.alignment_offset_bytes = match r.hint(&alignment).as_deref() {
        // The kernel's word for limits of stacked devices that cannot be aligned to each other.
        Some("-1") => {
            let reason = "the kernel says -1: the devices below cannot be aligned to each other";
            r.miss("alignment", show(&alignment), reason);
            None
        }
        _ => r.number(&alignment, "alignment", Need::Optional),
    };
    queue
}

fn limits(r: &mut Reader<'_>, dir: &Path, queue: &mut Queue) {
    let at = |name: &str| dir.join(name);
    queue.read_ahead_bytes = r.scaled(&at("read_ahead_kb"), "read-ahead", 1024, Need::Always);
    queue.rotational = r.flag(&at("rotational"), "whether it rotates", Need::Always);
    queue.write_cache = r.text(&at("write_cache"), "write cache", Need::Always);
    queue.fua = r.flag(&at("fua"), "forced unit access", Need::Optional);
    queue.logical_block_bytes =
        r.number(&at("logical_block_size"), "logical block size", Need::Always);
    queue.physical_block_bytes =
        r.number(&at("physical_block_size"), "physical block size", Need::Always);
    queue.max_request_bytes =
        r.scaled(&at("max_sectors_kb"), "largest request", 1024, Need::Always);
    queue.discard_max_bytes = r.number(&at("discard_max_bytes"), "largest discard", Need::Optional);
    queue.iostats = r.flag(&at("iostats"), "whether I/O is counted", Need::Always);
}

fn scheduling(r: &mut Reader<'_>, disk: &Path, dir: &Path, queue: &mut Queue) {
    let hardware = disk.join("mq");
    let is_number = |name: &String| name.parse::<u32>().is_ok();
    let mut numbers: Vec<String> = r.names(&hardware).into_iter().filter(is_number).collect();
    numbers.sort_unstable_by_key(|n| n.parse::<u32>().unwrap_or(u32::MAX));
    // A stacked device passes requests through and has neither scheduler nor tags of its own.
    let need = if numbers.is_empty() { Need::Optional } else { Need::Always };

    if let Some(fact) = r.text(&dir.join("scheduler"), "scheduler", need) {
        let (chosen, all) = choice(&fact.value);
        queue.scheduler = chosen.map(|name| Fact::new(name, fact.from.clone()));
        queue.schedulers = Some(Fact::new(all, fact.from));
    }
    queue.nr_requests = r.number(&dir.join("nr_requests"), "queued requests", need);
    if !numbers.is_empty() {
        queue.hardware_queues = Some(Fact::new(numbers.len() as u64, show(&hardware)));
    }
    let scsi = disk.join("device/queue_depth");
    queue.queue_depth = r.number(&scsi, "queue depth", Need::Optional);
    if queue.queue_depth.is_none()
        && let Some(first) = numbers.first()
    {
        let tags = hardware.join(first).join("nr_tags");
        queue.queue_depth = r.number(&tags, "queue depth", Need::Always);
    }
}
