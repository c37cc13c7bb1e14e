//! Jobs that do what one plain workload says.

use super::stage::stages;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_job::job::{Blocks, Job, Kind, OpenSync};

/// The plain workload that a job is; `None` if none says all of what it does: it paces or replays,
/// has blocks of several sizes, or runs beside other jobs.
pub fn plain(jobs: &[Job], number: usize) -> Option<Workload> {
    let job = &jobs[number];
    let is_alone = stages(jobs).iter().any(|stage| *stage == [number]);
    let is_paced = job.rate.limits() || job.thinktime.is_some() || job.thinkcycles > 0;
    let is_special = job.replay.is_some()
        || job.strided.is_some()
        || job.zoned.is_some()
        || job.latency_target.is_some()
        || job.remembers()
        || job.durability.open != OpenSync::None;
    let access = &job.access;
    let is_mixed = access.draw_every != 1 || access.skip_bytes != 0 || access.identical;
    if !is_alone || is_paced || is_special || is_mixed {
        return None;
    }
    let read_percent = match access.kind {
        Kind::Read => 100,
        Kind::Write => 0,
        Kind::ReadWrite => access.read_percent,
        Kind::Trim | Kind::TrimWrite => return None,
    };
    let mut sizes = job.used_blocks().map(|blocks| match blocks {
        Blocks::Fixed(bytes) => Some(*bytes),
        Blocks::Range { .. } | Blocks::Split(_) => None,
    });
    let bytes = sizes.next()??;
    if sizes.any(|size| size != Some(bytes)) {
        return None;
    }
    let pattern = if access.random { Pattern::Random } else { Pattern::Sequential };
    let mut workload = Workload::closed(pattern, read_percent, bytes, job.engine.depth, u64::MAX);
    workload.threads = job.clones;
    workload.direct = job.engine.direct;
    workload.flags = job.engine.flags;
    let durability = &job.durability;
    workload.flush_every = match (durability.fsync_every, durability.fdatasync_every) {
        (0, every) | (every, 0) => every,
        (fsync, fdatasync) => fsync.min(fdatasync),
    };
    Some(workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_job::{Surroundings, parse_text};
    use std::path::Path;

    fn jobs(text: &str) -> Vec<Job> {
        parse_text(text, Path::new("test.fio"), &Surroundings::here()).unwrap().jobs
    }

    #[test]
    fn a_job_alone_with_blocks_of_one_size_is_a_plain_workload() {
        let wal = jobs("[wal]\nrw=write\nbs=2300\nfdatasync=1\nsize=1m\n");
        let found = plain(&wal, 0).unwrap();
        assert_eq!((found.read_percent, found.max_bytes(), found.flush_every), (0, 2300, 1));
        assert!(!found.direct && found.pace.depth() == 1);
        let mix = "[mix]\nrw=randrw\nrwmixread=70\nbs=4k\nioengine=libaio\niodepth=8\ndirect=1\n";
        let found = plain(&jobs(&format!("{mix}size=1m\nnumjobs=2\n")), 0).unwrap();
        assert_eq!((found.read_percent, found.threads, found.pace.depth()), (70, 2, 8));
    }

    #[test]
    fn what_a_plain_workload_cannot_say_is_none() {
        for option in [
            "rate_iops=10",
            "thinktime=1ms",
            "bssplit=4k/50:8k/50",
            "bs=4k,8k",
            "sync=1",
            "rw=randread:8",
            "zonemode=strided\nzonesize=1m\nzonerange=1m",
            "rw=trim",
        ] {
            let text = format!("[a]\nrw=randrw\nsize=1m\n{option}\n");
            assert_eq!(plain(&jobs(&text), 0), None, "{option}");
        }
        // Beside another job.
        let two = jobs("[global]\nsize=1m\n[a]\nrw=read\n[b]\nrw=read\n[c]\nstonewall\nrw=read\n");
        assert!(plain(&two, 0).is_none() && plain(&two, 1).is_none() && plain(&two, 2).is_some());
    }
}
