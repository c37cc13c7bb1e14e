//! Every option, in groups of the same fate. Names are those of fio 3.42; other names of an option
//! follow it after `=`.

use super::Takes::{self, Flag, Triple, Value};
use super::Tier::{self, Done, Inert, Refused};

/// Options that are treated alike.
pub(super) struct Group {
    pub(super) takes: Takes,
    pub(super) tier: Tier,
    /// The engines that have them; empty for all.
    pub(super) engines: &'static [&'static str],
    /// Separated by blanks.
    pub(super) names: &'static str,
}

/// Options that are done.
const fn done(takes: Takes, engines: &'static [&'static str], names: &'static str) -> Group {
    Group { takes, tier: Done, engines, names }
}

/// Options that make no difference.
const fn inert(why: &'static str, names: &'static str) -> Group {
    Group { takes: Value, tier: Inert(why), engines: &[], names }
}

/// Options that are refused.
const fn no(why: &'static str, names: &'static str) -> Group {
    Group { takes: Flag, tier: Refused(why), engines: &[], names }
}

/// All of them.
pub(super) const GROUPS: &[Group] = &[
    done(
        Flag,
        &[],
        "bs_unaligned=blocksize_unaligned norandommap time_based exitall exitall_on_error \
         stonewall=wait_for_previous new_group thread group_reporting zero_buffers refill_buffers \
         verify_only",
    ),
    done(
        Value,
        &[],
        "description name wait_for filename directory filename_format rw=readwrite bssplit \
         randrepeat randseed ignore_error rw_sequencer ioengine iodepth \
         iodepth_batch=iodepth_batch_submit iodepth_batch_complete_min=iodepth_batch_complete \
         iodepth_batch_complete_max iodepth_low serialize_overlap size io_size=io_limit \
         fill_device=fill_fs filesize file_append offset=fileoffset offset_increment offset_align \
         number_ios random_generator random_distribution allrandrepeat nrfiles=nr_files \
         file_service_type openfiles fallocate fsync fdatasync direct atomic buffered uncached \
         overwrite loops numjobs startdelay runtime=timeout ramp_time ramp_size mem=iomem \
         zonemode zonesize zonerange zoneskip rwmixread rwmixwrite nice prio prioclass priohint \
         comm thinkcycles thinktime thinktime_spin thinktime_blocks thinktime_blocks_type \
         thinktime_iotime rate_process rate_cycle=ratecycle rate_ignore_thinktime invalidate sync \
         create_serialize create_fsync create_on_open create_only allow_file_create pre_read \
         cpumask cpus_allowed cpus_allowed_policy end_fsync end_syncfs fsync_on_close unlink \
         unlink_each_loop exit_what per_job_logs write_bw_log bwavgtime write_lat_log \
         write_iops_log iopsavgtime log_avg_msec log_hist_msec log_hist_coarseness write_hist_log \
         log_max_value=log_window_value log_offset log_issue_time log_unix_epoch stats \
         scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk \
         clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures \
         disk_util gtod_reduce disable_lat disable_clat disable_slat \
         disable_bw_measurement=disable_bw unified_rw_reporting continue_on_error error_dump \
         kb_base steadystate=ss steadystate_duration=ss_dur steadystate_ramp_time=ss_ramp \
         steadystate_check_interval=ss_interval verify do_verify verify_interval verify_offset \
         verify_pattern verify_pattern_interval verify_fatal verify_dump verify_write_sequence \
         verify_header_seed verify_async verify_backlog verify_backlog_batch dedupe_percentage \
         dedupe_mode dedupe_working_set_percentage dedupe_global sprandom spr_op spr_num_regions \
         trim_percentage trim_verify_zero trim_backlog trim_backlog_batch latency_target \
         latency_window latency_percentile latency_run flow flow_id flow_sleep io_submit_mode \
         log_prio read_iolog replay_no_stall replay_redirect replay_scale replay_align \
         replay_time_scale replay_skip write_iolog random_sequence_stride zonecapacity \
         read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold \
         zone_reset_frequency",
    ),
    done(
        Triple,
        &[],
        "bs=blocksize ba=blockalign bsrange=blocksize_range percentage_random rate \
         rate_min=ratemin rate_iops rate_iops_min max_latency",
    ),
    done(Flag, &["io_uring", "io_uring_cmd", "pvsync2"], "hipri"),
    done(Flag, &["io_uring", "io_uring_cmd"], "fixedbufs registerfiles sqthread_poll"),
    done(Value, &["io_uring", "io_uring_cmd"], "sqthread_poll_cpu nonvectored force_async"),
    done(Value, &["io_uring_cmd"], "cmd_type"),
    done(Value, &["libaio", "io_uring", "pvsync2"], "nowait"),
    done(Value, &["libaio", "io_uring"], "cmdprio_bssplit"),
    done(Triple, &["libaio", "io_uring"], "cmdprio_percentage cmdprio_class cmdprio cmdprio_hint"),
    inert("the safety rules here are not a matter of the job file", "allow_mounted_write"),
    inert("it is for runs over a network", "unique_filename"),
    inert("files are not locked here", "lockfile"),
    inert("every file is looked at before the run, whatever it is said to be", "filetype"),
    inert("results give the start of the run, on the Unix clock", "job_start_clock_id"),
    inert("a failed write to a zone is an error like any other", "recover_zbd_write_error"),
    inert(
        "the rest of a zone that is too short for a request is never written",
        "write_zone_remainder",
    ),
    inert("no map of used blocks is needed here, so it cannot fail", "softrandommap"),
    inert(
        "the clock here is the CPU's counter, or the kernel's where that is not steady",
        "clocksource gtod_cpu",
    ),
    inert(
        "buffers here are always aligned to pages and allocated before the run",
        "hugepage-size thp iomem_align=mem_align",
    ),
    inert("memory of the run is not locked here", "lockmem"),
    inert(
        "threads and buffers are not bound to NUMA nodes here; cpus_allowed binds threads",
        "numa_cpu_nodes numa_mem_policy",
    ),
    inert(
        "no advice is given to the kernel about access or lifetime here",
        "fadvise_hint write_hint",
    ),
    inert("threads that verify run where the job does", "verify_async_cpus"),
    inert(
        "what was written is checked in the same run; no state is kept for a later one",
        "verify_state_save",
    ),
    inert("there is one way of verifying here", "experimental_verify"),
    inert("traces are always read in pieces here", "read_iolog_chunked"),
    inert(
        "how a log is kept in memory or packed on disk cannot be chosen here",
        "log_entries log_compression log_compression_cpus log_store_compressed",
    ),
    inert(
        "log times are relative, or of the Unix clock",
        "log_alternate_epoch log_alternate_epoch_clock_id",
    ),
    inert("results say bytes everywhere", "unit_base"),
    inert("how completions are fetched is not a choice here", "userspace_reap"),
    inert(
        "it belongs to a built-in profile, and no profile is asked for",
        "threads numruns dir block",
    ),
    no("files are named one by one, so that what would be written is known before", "opendir"),
    no("block sizes are given for reads, writes and discards", "bs_is_seq_rand"),
    no("Linux has no barrier writes; use fsync or fdatasync", "write_barrier"),
    no("it makes nothing durable; use fsync or fdatasync", "sync_file_range"),
    no("`seekwell bench --sweep iodepth=…` measures one depth after the other", "iodepth_mode"),
    no("polling is for all requests of a job (hipri)", "hipri_percentage"),
    no(
        "merge traces with `seekwell trace convert` first",
        "merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
    ),
    no(
        "programs named in a job file are not run",
        "exec_prerun exec_postrun arguments program grace_time std_redirect",
    ),
    no("`seekwell tune` changes the scheduler, and puts it back", "ioscheduler"),
    no("fio's built-in profiles are not known here", "profile"),
    no(
        "run seekwell as that user, or in that control group, instead",
        "cgroup cgroup_nodelete cgroup_weight uid gid",
    ),
    no(
        "what was written is checked in the same run; no state is kept for a later one",
        "verify_state_load verify_policy",
    ),
    no("failed discards are counted, not made into a histogram", "block_error_percentiles"),
    no("sprandom does not know of the drive's cache here; leave it out", "spr_cs"),
    no("a discard is of one range", "num_range"),
    no(
        "it belongs to an engine that sends NVMe or SCSI commands",
        "fdp fdp_pli fdp_pli_select plids plid_select dataplacement dp_scheme \
         md_per_io_size pi_act pi_chk apptag apptag_mask write_mode verify_mode deac readfua \
         writefua sg_write_mode stream_id",
    ),
    no("it burns CPU time and does no I/O", "cpuload cpuchunks cpumode exit_on_io_done"),
    no(
        "it belongs to an engine for networks or remote storage",
        "hostname port protocol listen pingpong nodelay interface ttl window_size mss bindname \
         verb uri brick volume pool rbdname clientname clustername busy_poll touch_objects conf \
         nfs_url namenode chunk_size object_class svc cont https http_host http_user http_pass \
         http_mode http_verbose http_s3_key http_s3_keyid http_s3_region http_s3_security_token \
         http_s3_sse_customer_key http_s3_sse_customer_algorithm http_s3_storage_class \
         http_swift_auth_token serverip direct_write_to_pmem busy_wait_polling",
    ),
    no(
        "it belongs to an engine that is not supported",
        "donorname inplace skip_bad stat_type gpu_dev_ids gpu_dev_id cuda_io rocm_io \
         libblkio_driver libblkio_path libblkio_num_entries libblkio_queue_size \
         libblkio_pre_connect_props libblkio_pre_start_props libblkio_vectored libblkio_wait_mode \
         libblkio_write_zeroes_on_trim libblkio_force_enable_completion_eventfd xnvme_async \
         xnvme_sync xnvme_admin xnvme_be xnvme_mem xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec",
    ),
];
