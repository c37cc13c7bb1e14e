//! The options that make no difference here, and those that are refused, each with the reason.

use super::Spec;
use super::Takes::{self, Flag, Value};
use super::Tier::{Inert, Refused};

/// An option that makes no difference.
const fn inert(name: &'static str, takes: Takes, why: &'static str) -> Spec {
    Spec { name, aliases: &[], takes, tier: Inert(why), engines: &[] }
}

/// An option that is refused.
const fn no(name: &'static str, why: &'static str) -> Spec {
    Spec { name, aliases: &[], takes: Flag, tier: Refused(why), engines: &[] }
}

/// Why the clock cannot be chosen.
const CLOCK: &str = "the clock here is the CPU's counter, or the kernel's where that is not steady";
/// Why buffers cannot be chosen.
const BUFFERS: &str = "buffers here are always aligned to pages and allocated before the run";
/// Why nodes cannot be chosen.
const NUMA: &str =
    "threads and buffers are not bound to NUMA nodes here; cpus_allowed binds threads";
/// Why how logs are kept does not matter.
const LOGS: &str = "how a log is kept in memory or packed on disk cannot be chosen here";
/// Why advice does not matter.
const ADVICE: &str = "no advice is given to the kernel about access or lifetime here";
/// Why profile options do not matter.
const PROFILE: &str = "it belongs to a built-in profile, and no profile is asked for";
/// Why verify's state is not kept.
const STATE: &str = "what was written is checked in the same run; no state is kept for a later one";

/// Why options of zoned devices do not matter.
const ZONES: &str = "write pointers of zoned devices are not followed here";

/// Options that make no difference.
pub(super) const INERT: &[Spec] = &[
    inert("allow_mounted_write", Value, "the safety rules here are not a matter of the job file"),
    inert("unique_filename", Value, "it is for runs over a network"),
    inert("lockfile", Value, "files are not locked here"),
    inert("filetype", Value, "every file is looked at before the run, whatever it is said to be"),
    inert("job_start_clock_id", Value, "results give the start of the run, on the Unix clock"),
    inert("recover_zbd_write_error", Value, ZONES),
    inert("write_zone_remainder", Value, ZONES),
    inert("softrandommap", Value, "no map of used blocks is needed here, so it cannot fail"),
    inert("clocksource", Value, CLOCK),
    inert("gtod_cpu", Value, CLOCK),
    Spec {
        name: "iomem_align",
        aliases: &["mem_align"],
        takes: Value,
        tier: Inert(BUFFERS),
        engines: &[],
    },
    inert("hugepage-size", Value, BUFFERS),
    inert("lockmem", Value, "memory of the run is not locked here"),
    inert("thp", Value, BUFFERS),
    inert("numa_cpu_nodes", Value, NUMA),
    inert("numa_mem_policy", Value, NUMA),
    inert("fadvise_hint", Value, ADVICE),
    inert("write_hint", Value, ADVICE),
    inert("verify_async_cpus", Value, "threads that verify run where the job does"),
    inert("verify_state_save", Value, STATE),
    inert("experimental_verify", Value, "there is one way of verifying here"),
    inert("read_iolog_chunked", Value, "traces are always read in pieces here"),
    inert("log_entries", Value, LOGS),
    inert("log_compression", Value, LOGS),
    inert("log_compression_cpus", Value, LOGS),
    inert("log_store_compressed", Value, LOGS),
    inert("log_alternate_epoch", Value, "log times are relative, or of the Unix clock"),
    inert("log_alternate_epoch_clock_id", Value, "log times are relative, or of the Unix clock"),
    inert("unit_base", Value, "results say bytes everywhere"),
    inert("userspace_reap", Value, "how completions are fetched is not a choice here"),
    inert("threads", Value, PROFILE),
    inert("numruns", Value, PROFILE),
    inert("dir", Value, PROFILE),
    inert("block", Value, PROFILE),
];

/// Why programs are not run.
const PROGRAMS: &str = "programs named in a job file are not run";
/// Why nobody else's identity is taken.
const IDENTITY: &str = "run seekwell as that user, or in that control group, instead";
/// Why network options are refused.
const NETWORK: &str = "it belongs to an engine for networks or remote storage";
/// Why options of passthrough engines are refused.
const COMMANDS: &str = "it belongs to an engine that sends NVMe or SCSI commands";
/// Why options of other engines are refused.
const ENGINE: &str = "it belongs to an engine that is not supported";

/// Options that are refused.
pub(super) const REFUSED: &[Spec] = &[
    no("opendir", "files are named one by one, so that what would be written is known before"),
    no("bs_is_seq_rand", "block sizes are given for reads, writes and discards"),
    no("write_barrier", "Linux has no barrier writes; use fsync or fdatasync"),
    no("sync_file_range", "it makes nothing durable; use fsync or fdatasync"),
    no("uncached", "buffered reads and writes go through the page cache"),
    no("iodepth_mode", "`seekwell bench --sweep iodepth=…` measures one depth after the other"),
    no("hipri_percentage", "polling is for all requests of a job (hipri)"),
    no("merge_blktrace_file", "merge traces with `seekwell trace convert` first"),
    no("merge_blktrace_scalars", "merge traces with `seekwell trace convert` first"),
    no("merge_blktrace_iters", "merge traces with `seekwell trace convert` first"),
    no("exec_prerun", PROGRAMS),
    no("exec_postrun", PROGRAMS),
    no("ioscheduler", "`seekwell tune` changes the scheduler, and puts it back"),
    no("profile", "the built-in profiles are not"),
    no("cgroup", IDENTITY),
    no("cgroup_nodelete", IDENTITY),
    no("cgroup_weight", IDENTITY),
    no("uid", IDENTITY),
    no("gid", IDENTITY),
    no("verify_state_load", STATE),
    no("verify_policy", STATE),
    no("block_error_percentiles", "failed discards are counted, not made into a histogram"),
    no("spr_cs", "sprandom does not know of the drive's cache here; leave it out"),
    no("num_range", "several ranges in one discard are not"),
    no("fdp", COMMANDS),
    no("fdp_pli", COMMANDS),
    no("fdp_pli_select", COMMANDS),
    no("plids", COMMANDS),
    no("plid_select", COMMANDS),
    no("dataplacement", COMMANDS),
    no("dp_scheme", COMMANDS),
    no("cmd_type", COMMANDS),
    no("md_per_io_size", COMMANDS),
    no("pi_act", COMMANDS),
    no("pi_chk", COMMANDS),
    no("apptag", COMMANDS),
    no("apptag_mask", COMMANDS),
    no("write_mode", COMMANDS),
    no("verify_mode", COMMANDS),
    no("deac", COMMANDS),
    no("readfua", COMMANDS),
    no("writefua", COMMANDS),
    no("sg_write_mode", COMMANDS),
    no("stream_id", COMMANDS),
    no("cpuload", "it burns CPU time and does no I/O"),
    no("cpuchunks", "it burns CPU time and does no I/O"),
    no("cpumode", "it burns CPU time and does no I/O"),
    no("exit_on_io_done", "it burns CPU time and does no I/O"),
    no("arguments", PROGRAMS),
    no("program", PROGRAMS),
    no("grace_time", PROGRAMS),
    no("std_redirect", PROGRAMS),
    no("hostname", NETWORK),
    no("port", NETWORK),
    no("protocol", NETWORK),
    no("listen", NETWORK),
    no("pingpong", NETWORK),
    no("nodelay", NETWORK),
    no("interface", NETWORK),
    no("ttl", NETWORK),
    no("window_size", NETWORK),
    no("mss", NETWORK),
    no("bindname", NETWORK),
    no("verb", NETWORK),
    no("uri", NETWORK),
    no("brick", NETWORK),
    no("volume", NETWORK),
    no("pool", NETWORK),
    no("rbdname", NETWORK),
    no("clientname", NETWORK),
    no("clustername", NETWORK),
    no("busy_poll", NETWORK),
    no("touch_objects", NETWORK),
    no("conf", NETWORK),
    no("nfs_url", NETWORK),
    no("namenode", NETWORK),
    no("chunk_size", NETWORK),
    no("object_class", NETWORK),
    no("svc", NETWORK),
    no("cont", NETWORK),
    no("https", NETWORK),
    no("http_host", NETWORK),
    no("http_user", NETWORK),
    no("http_pass", NETWORK),
    no("http_mode", NETWORK),
    no("http_verbose", NETWORK),
    no("http_s3_key", NETWORK),
    no("http_s3_keyid", NETWORK),
    no("http_s3_region", NETWORK),
    no("http_s3_security_token", NETWORK),
    no("http_s3_sse_customer_key", NETWORK),
    no("http_s3_sse_customer_algorithm", NETWORK),
    no("http_s3_storage_class", NETWORK),
    no("http_swift_auth_token", NETWORK),
    no("serverip", NETWORK),
    no("direct_write_to_pmem", NETWORK),
    no("busy_wait_polling", NETWORK),
    no("donorname", ENGINE),
    no("inplace", ENGINE),
    no("skip_bad", ENGINE),
    no("stat_type", ENGINE),
    no("gpu_dev_ids", ENGINE),
    no("gpu_dev_id", ENGINE),
    no("cuda_io", ENGINE),
    no("rocm_io", ENGINE),
    no("libblkio_driver", ENGINE),
    no("libblkio_path", ENGINE),
    no("xnvme_async", ENGINE),
    no("xnvme_sync", ENGINE),
    no("xnvme_admin", ENGINE),
    no("xnvme_be", ENGINE),
    no("xnvme_mem", ENGINE),
    no("xnvme_dev_nsid", ENGINE),
    no("xnvme_dev_subnqn", ENGINE),
    no("xnvme_iovec", ENGINE),
];
