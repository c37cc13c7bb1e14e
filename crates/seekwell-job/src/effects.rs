//! Options that were accepted and can make no difference to their job, each with the reason.

use crate::job::{Amount, Blocks, Contents, Distribution, EngineKind, Job, Kind, Repeats, Warning};
use seekwell_io::workload::Law;

/// Options, when they make no difference, and why.
struct Rule {
    /// Canonical names, separated by blanks.
    options: &'static str,
    /// Whether they make none in this job.
    idle: fn(&Job) -> bool,
    /// Why, as half a sentence.
    why: &'static str,
}

impl Rule {
    /// The names of its options.
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.options.split_ascii_whitespace()
    }
}

/// Names that are options of the job.
fn given(job: &Job, name: &str) -> bool {
    job.options.contains_key(name)
}

/// Whether what the option says was to be switched off anyway.
fn off(job: &Job, name: &str) -> bool {
    job.options.get(name).is_some_and(|value| value.trim() == "0")
}

/// Whether blocks of one size are written and read.
fn fixed(job: &Job) -> bool {
    job.blocks.iter().all(|blocks| matches!(blocks, Blocks::Fixed(_)))
}

/// Whether the work has an end of its own.
fn ends(job: &Job) -> bool {
    job.extent.size.is_some()
        || job.extent.io_size.is_some()
        || job.extent.number_ios.is_some()
        || job.files.file_bytes.is_some()
}

/// Every rule. The first that holds for an option gives the reason.
const RULES: &[Rule] = &[
    Rule {
        options: "bs bsrange bssplit ba size io_size filesize filename nrfiles offset \
                  offset_increment rwmixread rwmixwrite norandommap random_distribution \
                  percentage_random fsync fdatasync file_service_type",
        idle: |job| job.replay.is_some(),
        why: "the requests come from read_iolog",
    },
    Rule {
        options: "iodepth iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max \
                  iodepth_low serialize_overlap",
        idle: |job| job.engine.kind.synchronous() && !job.engine.offload,
        why: "the engine is synchronous: one request is outstanding in each clone",
    },
    Rule {
        options: "serialize_overlap",
        idle: |job| !job.destroys() || job.engine.depth == 1,
        why: "no writes are outstanding together",
    },
    Rule {
        options: "time_based",
        idle: |job| job.timing.runtime.0 == 0,
        why: "there is no runtime",
    },
    Rule {
        options: "runtime",
        idle: |job| job.timing.runtime.0 > 0 && !job.timing.time_based && ends(job),
        why: "without time_based the job also ends when its size is done, which may be sooner",
    },
    Rule {
        options: "rwmixread rwmixwrite",
        idle: |job| job.access.kind != Kind::ReadWrite,
        why: "the job does not mix reads and writes",
    },
    Rule {
        options: "rwmixread",
        idle: |job| given(job, "rwmixwrite") && mix(job, "rwmixread") != job.access.read_percent,
        why: "rwmixwrite comes later",
    },
    Rule {
        options: "rwmixwrite",
        idle: |job| {
            given(job, "rwmixread")
                && 100_u8.saturating_sub(mix(job, "rwmixwrite")) != job.access.read_percent
        },
        why: "rwmixread comes later",
    },
    Rule {
        options: "norandommap random_distribution random_generator percentage_random ba",
        idle: |job| !job.access.random,
        why: "the job is sequential",
    },
    Rule {
        options: "norandommap",
        idle: |job| {
            job.random.distribution != Distribution::Law(Law::Uniform) && !off(job, "norandommap")
        },
        why: "a distribution that is not even never keeps to blocks not yet used",
    },
    Rule {
        options: "rw_sequencer",
        idle: |job| job.access.draw_every <= 1,
        why: "each request has an offset of its own; it takes rw=randread:N",
    },
    Rule {
        options: "bs",
        idle: |job| given(job, "bssplit") || given(job, "bsrange"),
        why: "bsrange or bssplit says the sizes",
    },
    Rule { options: "bsrange", idle: |job| given(job, "bssplit"), why: "bssplit says the sizes" },
    Rule { options: "bs_unaligned", idle: fixed, why: "all blocks have the same size" },
    Rule {
        options: "fsync fdatasync end_fsync end_syncfs fsync_on_close sync overwrite",
        idle: |job| !job.access.kind.writes(),
        why: "the job writes nothing",
    },
    Rule {
        options: "zero_buffers refill_buffers scramble_buffers buffer_pattern \
                  buffer_compress_percentage buffer_compress_chunk dedupe_percentage fill_device \
                  atomic",
        idle: |job| !job.access.kind.writes(),
        why: "the job writes nothing",
    },
    Rule {
        options: "dedupe_percentage",
        idle: |job| job.verify.is_some(),
        why: "verify says what blocks hold",
    },
    Rule {
        options: "dedupe_mode dedupe_working_set_percentage dedupe_global",
        idle: |job| job.buffers.dedupe.is_none(),
        why: "there is no dedupe_percentage",
    },
    Rule {
        options: "dedupe_working_set_percentage dedupe_global",
        idle: |job| job.buffers.dedupe.is_some_and(|dedupe| dedupe.repeats == Repeats::Last),
        why: "there is no dedupe_mode=working_set",
    },
    Rule {
        options: "spr_op spr_num_regions",
        idle: |job| job.random.precondition.is_none(),
        why: "there is no sprandom",
    },
    Rule {
        options: "io_size loops",
        idle: |job| job.random.precondition.is_some(),
        why: "sprandom says how much is written",
    },
    Rule {
        options: "buffer_compress_chunk",
        idle: |job| job.buffers.compress_percent.is_none(),
        why: "there is no buffer_compress_percentage between 0 and 100",
    },
    Rule {
        options: "scramble_buffers",
        idle: |job| matches!(job.buffers.contents, Contents::Pattern(_)),
        why: "a pattern is written as it is",
    },
    Rule {
        options: "do_verify verify_only verify_interval verify_offset verify_fatal verify_dump \
                  verify_write_sequence verify_header_seed verify_async verify_backlog \
                  verify_backlog_batch trim_percentage trim_verify_zero trim_backlog \
                  trim_backlog_batch",
        idle: |job| job.verify.is_none(),
        why: "there is no verify",
    },
    Rule {
        options: "verify_header_seed",
        idle: |job| !job.remembers() && !off(job, "verify_header_seed"),
        why: "the seeds of what another run wrote are not known",
    },
    Rule {
        options: "verify_pattern_interval",
        idle: |job| {
            let pattern = job.verify.as_ref().and_then(|verify| verify.pattern.as_ref());
            pattern.is_none_or(|pattern| !pattern.has_offset())
        },
        why: "there is no verify_pattern with %o",
    },
    Rule {
        options: "verify_backlog_batch",
        idle: |job| job.verify.as_ref().is_some_and(|v| v.backlog.is_none()),
        why: "there is no verify_backlog",
    },
    Rule {
        options: "trim_verify_zero trim_backlog trim_backlog_batch",
        idle: |job| job.verify.as_ref().is_some_and(|v| !v.trim),
        why: "there is no trim_percentage",
    },
    Rule {
        options: "verify do_verify",
        idle: |job| {
            job.access.kind == Kind::Write
                && job.timing.time_based
                && job.verify.as_ref().is_some_and(|v| v.read_back && v.backlog.is_none())
        },
        why: "writing takes the whole runtime; set verify_backlog, or leave out time_based",
    },
    Rule {
        options: "thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime",
        idle: |job| job.thinktime.is_none(),
        why: "there is no thinktime",
    },
    Rule {
        options: "rate_process rate_ignore_thinktime",
        idle: |job| !job.rate.limits(),
        why: "there is no rate or rate_iops",
    },
    Rule {
        options: "rate_ignore_thinktime",
        idle: |job| job.thinktime.is_none(),
        why: "there is no thinktime",
    },
    Rule {
        options: "rate_cycle",
        idle: |job| {
            job.rate.min_bytes_per_s.iter().all(Option::is_none)
                && job.rate.min_iops.iter().all(Option::is_none)
        },
        why: "there is no rate_min or rate_iops_min",
    },
    Rule {
        options: "latency_window latency_percentile latency_run",
        idle: |job| job.latency_target.is_none(),
        why: "there is no latency_target",
    },
    Rule { options: "flow_id flow_sleep", idle: |job| job.flow.is_none(), why: "there is no flow" },
    Rule {
        options: "steadystate steadystate_ramp_time steadystate_check_interval",
        idle: |job| job.steady_state.is_none(),
        why: "there is no steadystate_duration",
    },
    Rule {
        options: "log_avg_msec log_max_value log_issue_time log_offset log_prio log_unix_epoch \
                  per_job_logs",
        idle: |job| !job.logs.any(),
        why: "no log is written",
    },
    Rule {
        options: "log_hist_msec log_hist_coarseness",
        idle: |job| job.logs.histogram.is_none(),
        why: "there is no write_hist_log",
    },
    Rule {
        options: "write_hist_log",
        idle: |job| job.logs.histogram_every.0 == 0,
        why: "there is no log_hist_msec: the log stays empty",
    },
    Rule {
        options: "log_max_value",
        idle: |job| job.logs.average.0 == 0 && !off(job, "log_max_value"),
        why: "there is no log_avg_msec: each request has a line of its own",
    },
    Rule {
        options: "bwavgtime",
        idle: |job| job.logs.bandwidth.is_none(),
        why: "there is no write_bw_log",
    },
    Rule {
        options: "iopsavgtime",
        idle: |job| job.logs.iops.is_none(),
        why: "there is no write_iops_log",
    },
    Rule {
        options: "zonerange",
        idle: |job| job.strided.is_none(),
        why: "there is no zonemode=strided",
    },
    Rule {
        options: "zoneskip",
        idle: |job| job.zoned.is_some(),
        why: "zones of a zoned device cannot be skipped; use offset and size",
    },
    Rule {
        options: "zoneskip",
        idle: |job| job.strided.is_none(),
        why: "there is no zonemode=strided",
    },
    Rule {
        options: "zonecapacity read_beyond_wp max_open_zones job_max_open_zones \
                  ignore_zone_limits zone_reset_threshold zone_reset_frequency",
        idle: |job| job.zoned.is_none(),
        why: "there is no zonemode=zbd",
    },
    Rule {
        options: "zonecapacity",
        idle: |job| job.zoned.is_some(),
        why: "the device reports the capacity of its zones",
    },
    Rule {
        options: "read_beyond_wp",
        idle: |job| !job.access.kind.reads(),
        why: "the job reads nothing",
    },
    Rule {
        options: "max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold \
                  zone_reset_frequency",
        idle: |job| !job.access.kind.writes(),
        why: "the job writes nothing",
    },
    Rule {
        options: "zone_reset_threshold",
        idle: |job| job.zoned.is_some_and(|zoned| zoned.reset_every.is_none()),
        why: "there is no zone_reset_frequency above 0",
    },
    Rule {
        options: "random_sequence_stride",
        idle: |job| !matches!(job.random.distribution, Distribution::Sequence { .. }),
        why: "there is no random_distribution=sequence",
    },
    Rule {
        options: "openfiles file_service_type",
        idle: |job| job.files.count == 1,
        why: "the job has one file",
    },
    Rule {
        options: "nrfiles filename_format",
        idle: |job| !job.files.names.is_empty(),
        why: "filename names the files",
    },
    Rule { options: "offset_increment", idle: |job| job.clones == 1, why: "the job has one clone" },
    Rule {
        options: "offset_align",
        idle: |job| {
            let percent = |amount| matches!(amount, Amount::Percent(_));
            !percent(job.extent.offset) && !percent(job.extent.offset_increment)
        },
        why: "no offset is given in percent",
    },
    Rule {
        options: "size",
        idle: |job| job.files.file_bytes.is_some() && job.extent.io_size.is_some(),
        why: "filesize and io_size say how much",
    },
    Rule {
        options: "exit_what",
        idle: |job| !given(job, "exitall") && !job.exit.all_on_error,
        why: "there is no exitall or exitall_on_error in this job",
    },
    Rule {
        options: "percentile_list",
        idle: |job| {
            let wanted = job.report.percentiles;
            !(wanted.slat || wanted.clat || wanted.lat)
        },
        why: "no latency gets percentiles",
    },
    Rule {
        options: "cpus_allowed_policy",
        idle: |job| job.hints.cpus.is_empty(),
        why: "there is no cpus_allowed",
    },
    Rule {
        options: "replay_no_stall replay_redirect replay_scale replay_align replay_time_scale \
                  replay_skip",
        idle: |job| job.replay.is_none(),
        why: "there is no read_iolog",
    },
    Rule {
        options: "replay_time_scale",
        idle: |job| job.replay.as_ref().is_some_and(|replay| replay.no_stall),
        why: "replay_no_stall leaves recorded times out",
    },
    Rule {
        options: "write_iolog",
        idle: |job| job.replay.is_some(),
        why: "the requests come from read_iolog",
    },
    Rule {
        options: "direct buffered atomic sync invalidate fallocate",
        idle: |job| job.engine.kind == EngineKind::Null,
        why: "the null engine opens no file",
    },
    Rule {
        options: "sqthread_poll_cpu",
        idle: |job| !job.hints.sq_poll,
        why: "there is no sqthread_poll",
    },
];

/// A share as it was given.
fn mix(job: &Job, name: &str) -> u8 {
    job.options.get(name).and_then(|value| value.trim().parse().ok()).unwrap_or(50)
}

/// Warnings for the options of a job, in the order of their names; `known` are those options, and
/// the warnings that the table of options alone gives.
pub(crate) fn of(job: &Job, known: &[(&'static str, Option<Warning>)]) -> Vec<Warning> {
    let rule =
        |name: &str| RULES.iter().find(|rule| rule.names().any(|n| n == name) && (rule.idle)(job));
    let one = |(name, warning): &(&'static str, Option<Warning>)| {
        let by_rule = || {
            let why = rule(name)?.why.to_owned();
            Some(Warning { job: job.name.clone(), option: (*name).to_owned(), why })
        };
        warning.clone().or_else(by_rule)
    };
    known.iter().filter_map(one).collect()
}

/// Every option that some rule knows.
#[cfg(test)]
pub(crate) fn ruled() -> impl Iterator<Item = &'static str> {
    RULES.iter().flat_map(Rule::names)
}
