//! Jobs that amount to a plain workload.

use super::stage::stages;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_job::job::{Blocks, Job, Kind, OpenSync};

/// The plain workload that a job on files of `region_bytes` amounts to; `None` if it does anything
/// else: it is paced, replays a trace, has blocks of several sizes, or runs beside other jobs.
pub fn plain(jobs: &[Job], number: usize, region_bytes: u64, seed: u64) -> Option<Workload> {
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
    let mut workload =
        Workload::closed(pattern, read_percent, bytes, job.engine.depth, region_bytes);
    workload.threads = job.clones;
    workload.direct = job.engine.direct;
    workload.flags = job.engine.flags;
    (workload.runtime_ns, workload.ramp_ns) = (job.timing.runtime, job.timing.ramp);
    (workload.requests, workload.seed) = (job.extent.number_ios.unwrap_or(0), seed);
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
    use seekwell_io::units::Nanos;
    use seekwell_job::{Surroundings, parse_text};
    use std::path::Path;

    fn jobs(text: &str) -> Vec<Job> {
        parse_text(text, Path::new("test.fio"), &Surroundings::here()).unwrap().jobs
    }

    #[test]
    fn a_job_alone_with_blocks_of_one_size_is_a_plain_workload() {
        let wal = jobs("[wal]\nrw=write\nbs=2300\nfdatasync=1\nsize=1m\nruntime=2\nnumber_ios=7\n");
        let found = plain(&wal, 0, 1 << 20, 1).unwrap();
        assert_eq!((found.read_percent, found.max_bytes(), found.flush_every), (0, 2300, 1));
        assert!(!found.direct && found.pace.depth() == 1 && found.region_bytes == 1 << 20);
        assert_eq!((found.runtime_ns, found.requests), (Nanos(2_000_000_000), 7));
        let mix = "[mix]\nrw=randrw\nrwmixread=70\nbs=4k\nioengine=libaio\niodepth=8\ndirect=1\n";
        let found = plain(&jobs(&format!("{mix}size=1m\nnumjobs=2\n")), 0, 2 << 20, 1).unwrap();
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
            assert_eq!(plain(&jobs(&text), 0, 1 << 20, 1), None, "{option}");
        }
        // Beside another job.
        let two = jobs("[global]\nsize=1m\n[a]\nrw=read\n[b]\nrw=read\n[c]\nstonewall\nrw=read\n");
        let found = [0, 1, 2].map(|number| plain(&two, number, 1 << 20, 1).is_some());
        assert_eq!(found, [false, false, true]);
    }
}
