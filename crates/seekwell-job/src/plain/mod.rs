//! A plain job: what needs no job file to be said.

mod keys;

pub use keys::{PlainError, canonical, names};

use crate::job::JobFile;
use crate::{JobError, Surroundings, parse_arguments};
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::request::{Flags, Op};
use seekwell_io::target::Engine;
use seekwell_io::units::{Nanos, exact, size_option, time_option};
use seekwell_io::workload::{Discards, Pace, Pattern, Rw, SizeShare, Workload};
use serde::{Deserialize, Serialize};

/// One pattern of requests over one region for a time, and how they are issued: what `seekwell
/// bench` takes as arguments, and arms, sweeps and searches as `KEY=VALUE`.
///
/// A rate is that of reads and writes together, threads start spread over the region, and random
/// offsets are drawn with repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlainJob {
    /// Direction and order.
    pub rw: Rw,
    /// Size of a request.
    pub block_bytes: u32,
    /// Requests each thread keeps outstanding.
    pub iodepth: u32,
    /// Threads, each with its own depth.
    pub numjobs: u32,
    /// Past the page cache.
    pub direct: bool,
    /// What requests ask of the kernel; those that are uncached go through the page cache.
    #[serde(default, skip_serializing_if = "Flags::is_none")]
    pub flags: Flags,
    /// How requests are issued.
    pub engine: Engine,
    /// At most this many outstanding in all.
    pub tags: Option<u32>,
    /// Which waiting request gets a free tag; of no meaning without `tags`.
    #[serde(default = "shared")]
    pub tag_policy: TagPolicy,
    /// Share of reads of a mix, per cent.
    pub mix_read_percent: u8,
    /// Arrivals a second in each thread; `None` is a closed loop.
    pub rate_iops: Option<f64>,
    /// Random gaps between arrivals in place of even ones.
    pub poisson: bool,
    /// Where random requests go.
    pub distribution: Pattern,
    /// A flush after every N writes.
    pub fsync: u32,
    /// First byte used.
    pub offset_bytes: u64,
    /// Measured time of a run.
    pub runtime_ns: Nanos,
    /// Time run before measuring.
    pub ramp_ns: Nanos,
}

impl Default for PlainJob {
    fn default() -> Self {
        Self {
            rw: Rw::RandRead,
            block_bytes: 4096,
            iodepth: 1,
            numjobs: 1,
            direct: true,
            flags: Flags::NONE,
            engine: Engine::Auto,
            tags: None,
            tag_policy: TagPolicy::Shared,
            mix_read_percent: 50,
            rate_iops: None,
            poisson: false,
            distribution: Pattern::Random,
            fsync: 0,
            offset_bytes: 0,
            runtime_ns: Nanos::from_millis(5000),
            ramp_ns: Nanos::ZERO,
        }
    }
}

const fn shared() -> TagPolicy {
    TagPolicy::Shared
}

impl PlainJob {
    /// The rule over tags, if there is one.
    pub fn tags(&self) -> Option<(TagPolicy, u32)> {
        self.tags.map(|tags| (self.tag_policy, tags))
    }

    /// A short name, by which a phase can be typed: `randread-4096-d32`.
    pub fn name(&self) -> String {
        let tags = self.tags().map(|(policy, tags)| format!("-{}-{tags}", policy.name()));
        let (rw, bytes, depth) = (self.rw.name(), self.block_bytes, self.iodepth);
        format!("{rw}-{bytes}-d{depth}{}", tags.unwrap_or_default())
    }

    /// What it does, in words: `random read 4 KiB, depth 32`.
    pub fn title(&self) -> String {
        let mixed = self.mix_read_percent;
        let what = match self.rw {
            Rw::Read => "sequential read".to_owned(),
            Rw::Write => "sequential write".to_owned(),
            Rw::RandRead => "random read".to_owned(),
            Rw::RandWrite => "random write".to_owned(),
            Rw::Trim => "sequential discard".to_owned(),
            Rw::RandTrim => "random discard".to_owned(),
            Rw::TrimWrite => "sequential discard and write".to_owned(),
            Rw::RandTrimWrite => "random discard and write".to_owned(),
            Rw::ReadWrite => format!("sequential mix, {mixed} % reads,"),
            Rw::RandRw => format!("random mix, {mixed} % reads,"),
        };
        let size = exact(self.block_bytes.into());
        let threads = match self.numjobs {
            1 => String::new(),
            jobs => format!(", {jobs} threads"),
        };
        let tags = match self.tags() {
            None => String::new(),
            Some((policy, tags)) => format!(", {tags} tags {}", policy.name()),
        };
        let flags = [
            (self.flags.atomic, ", atomic"),
            (self.flags.uncached, ", uncached"),
            (self.flags.polled, ", polled"),
        ];
        let flags: String = flags.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        format!("{what} {size}, depth {}{threads}{tags}{flags}", self.iodepth)
    }

    /// Measured and unmeasured time of a run.
    pub fn run_time(&self) -> Nanos {
        self.runtime_ns + self.ramp_ns
    }

    /// Share of reads, per cent.
    pub fn read_percent(&self) -> u8 {
        match self.rw {
            Rw::Read | Rw::RandRead => 100,
            Rw::ReadWrite | Rw::RandRw => self.mix_read_percent,
            _ => 0,
        }
    }

    /// What most of its requests do, as in the names of metrics.
    pub fn main_op(&self) -> &'static str {
        match self.rw.discards() {
            Discards::All => Op::Discard.name(),
            _ if self.read_percent() > 0 => Op::Read.name(),
            _ => Op::Write.name(),
        }
    }

    /// Whether it changes what the target holds.
    pub fn writes(&self) -> bool {
        self.read_percent() < 100 || !self.rw.discards().is_none()
    }

    /// The workload over `region_bytes` from the offset on, with this seed. `direct` is whether the
    /// target can be driven past the page cache.
    pub fn workload(&self, region_bytes: u64, direct: bool, seed: u64) -> Workload {
        let depth = self.iodepth;
        Workload {
            pattern: if self.rw.is_random() { self.distribution } else { Pattern::Sequential },
            read_percent: self.read_percent(),
            discards: self.rw.discards(),
            sizes: vec![SizeShare { bytes: self.block_bytes, weight: 1 }],
            align_bytes: 0,
            pace: match self.rate_iops {
                None => Pace::Closed { depth },
                Some(requests_per_s) => Pace::Open { requests_per_s, poisson: self.poisson, depth },
            },
            flush_every: self.fsync,
            offset_bytes: self.offset_bytes,
            region_bytes,
            threads: self.numjobs,
            direct: self.direct && direct && !self.flags.uncached,
            flags: self.flags,
            runtime_ns: self.runtime_ns,
            ramp_ns: self.ramp_ns,
            requests: 0,
            seed,
        }
    }

    /// The same workload as a job that follows the write pointers of a zoned device, with `more`
    /// options of jobs. Tags are not supported, and a rate applies to reads and writes separately.
    ///
    /// # Errors
    /// [`JobError`] for an option that does not fit.
    pub fn on_zones(
        &self,
        more: &[(&str, String)],
        around: &Surroundings,
    ) -> Result<JobFile, JobError> {
        let alone = self.iodepth == 1 && self.engine != Engine::IoUring;
        // Options that a job does not have, or names differently.
        let own = |key: &str| {
            ["engine", "tags", "tag-policy"].contains(&key) || (alone && key == "iodepth")
        };
        let words = self.words().into_iter().filter(|(key, _)| !own(key));
        let engine = if alone { "psync" } else { "io_uring" };
        let fixed =
            [("name", self.name()), ("zonemode", "zbd".into()), ("ioengine", engine.into())];
        let mut arguments: Vec<String> = fixed
            .into_iter()
            .chain(words)
            .chain(more.iter().cloned())
            .map(|(key, value)| format!("--{key}={value}"))
            .collect();
        arguments.push("--time_based".to_owned());
        if self.rw.is_random() {
            arguments.push("--norandommap".to_owned());
        }
        parse_arguments(&arguments, around)
    }

    /// Every option as typed on the command line, defaults that change nothing left out.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![
            ("rw", self.rw.name().to_owned()),
            ("bs", size_option(u64::from(self.block_bytes))),
            ("iodepth", self.iodepth.to_string()),
            ("numjobs", self.numjobs.to_string()),
            ("direct", u8::from(self.direct && !self.flags.uncached).to_string()),
            ("engine", self.engine.name().to_owned()),
        ];
        let mut add = |key, value: Option<String>| words.extend(value.map(|v| (key, v)));
        let flag = |set: bool| set.then(|| "1".to_owned());
        add("atomic", flag(self.flags.atomic));
        add("uncached", flag(self.flags.uncached));
        add("hipri", flag(self.flags.polled));
        add("tags", self.tags.map(|t| t.to_string()));
        let ruled = self.tags().filter(|(policy, _)| *policy != TagPolicy::Shared);
        add("tag-policy", ruled.map(|(policy, _)| policy.name().to_owned()));
        let mixed = matches!(self.rw, Rw::ReadWrite | Rw::RandRw);
        add("rwmixread", mixed.then(|| self.mix_read_percent.to_string()));
        add("rate_iops", self.rate_iops.map(|r| r.to_string()));
        add("rate_process", self.poisson.then(|| "poisson".to_owned()));
        add("random_distribution", self.distribution.distribution());
        add("fsync", (self.fsync > 0).then(|| self.fsync.to_string()));
        add("offset", (self.offset_bytes > 0).then(|| size_option(self.offset_bytes)));
        add("runtime", Some(time_option(self.runtime_ns)));
        let ramp = self.ramp_ns > Nanos::ZERO;
        add("ramp_time", ramp.then(|| time_option(self.ramp_ns)));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{EngineKind, Kind};

    #[test]
    fn a_plain_job_on_zones_is_a_job_of_the_same_options() {
        let plain = |word| PlainJob::parse(word).unwrap();
        let read = |plain: &PlainJob| {
            let more = [("max_open_zones", "3".to_owned())];
            let file = plain.on_zones(&more, &Surroundings::fixed()).unwrap();
            assert!(file.warnings.is_empty(), "{:?}", file.warnings);
            file.jobs.into_iter().next().unwrap()
        };
        let job = read(&plain("randwrite,bs=64k,iodepth=4,numjobs=2"));
        assert!(job.access.random && job.access.kind == Kind::Write && job.engine.direct);
        assert_eq!((job.engine.depth, job.clones, job.max_block()), (4, 2, 65536));
        assert!(job.timing.time_based && !job.random.once_each);
        assert_eq!(job.zoned.unwrap().most_open, Some(3));
        assert_eq!(read(&plain("write")).engine.kind, EngineKind::Psync);
    }
}
