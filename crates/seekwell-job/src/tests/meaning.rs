//! What options come to mean together.

use super::{error, job, jobs};
use crate::job::{
    Amount, Blocks, By, Checksum, Contents, Distribution, EngineKind, Kind, Metric, OpenSync,
    ThinkAt,
};
use seekwell_io::units::Nanos;
use seekwell_io::workload::Law;

#[test]
fn a_job_without_options_is_fios_default() {
    let job = job("size=1m");
    assert_eq!((job.access.kind, job.access.random), (Kind::Read, false));
    assert_eq!(job.blocks, By::all(Blocks::Fixed(4096)));
    assert_eq!((job.engine.kind, job.engine.depth), (EngineKind::Psync, 1));
    assert!(!job.engine.direct && job.files.invalidate && job.random.once_each);
    assert_eq!((job.clones, job.extent.loops, job.files.count), (1, 1, 1));
    for (name, value) in [("rw", "read"), ("bs", "4096"), ("iodepth", "1"), ("numjobs", "1")] {
        assert_eq!(job.options.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn modifiers_of_rw_are_counts_in_random_jobs_and_bytes_in_sequential_ones() {
    assert_eq!(job("rw=randread:8").access.draw_every, 8);
    assert_eq!(job("rw=read:-8k").access.skip_bytes, -8192);
    assert!(error("[a]\nrw=randread:0\n").contains("randread:N"));
    let access = job("rw=randtrimwrite").access;
    assert_eq!((access.kind, access.random), (Kind::TrimWrite, true));
}

#[test]
fn of_the_two_shares_of_a_mix_the_later_holds() {
    assert_eq!(job("rw=rw").access.read_percent, 50);
    assert_eq!(job("rw=rw rwmixread=70").access.read_percent, 70);
    assert_eq!(job("rw=rw rwmixread=70 rwmixwrite=60").access.read_percent, 40);
    assert_eq!(job("rw=rw rwmixwrite=60 rwmixread=70").access.read_percent, 70);
}

#[test]
fn block_sizes_are_split_or_a_range_or_fixed_for_each_kind() {
    let blocks = job("bs=1k,2k,4k").blocks;
    assert_eq!(blocks.map(Blocks::max), By { read: 1024, write: 2048, trim: 4096 });
    let blocks = job("bs=1k bsrange=4k-1k,8k-16k").blocks;
    assert_eq!(blocks.read, Blocks::Range { min: 1024, max: 4096 });
    assert_eq!(blocks.trim, Blocks::Range { min: 8192, max: 16384 });
    let blocks = job("bssplit=4k/10:8k/90,16k bs=1k").blocks;
    assert_eq!((blocks.read.min(), blocks.read.max()), (4096, 8192));
    assert_eq!(blocks.write, Blocks::Fixed(16384));
    assert!(error("[a]\nbs=129m\n").contains("1 to 134217728"));
    let partly = jobs("[global]\nbs=4k\n[a]\nbs=,8k,\n");
    assert_eq!(partly[0].blocks.map(Blocks::max), By { read: 4096, write: 8192, trim: 4096 });
}

#[test]
fn a_synchronous_engine_has_a_depth_of_one() {
    assert_eq!(job("iodepth=32").engine.depth, 1);
    let engine = job("iodepth=32 ioengine=io_uring iodepth_batch=64 iodepth_low=0").engine;
    assert_eq!(engine.depth, 32);
    assert!(job("buffered=0").engine.direct);
    assert!(!job("direct=1 buffered=1").engine.direct);
}

#[test]
fn commands_past_the_block_layer_go_past_the_page_cache_and_are_nvmes() {
    let engine = job("ioengine=io_uring_cmd cmd_type=nvme iodepth=4 hipri=1 fixedbufs=1").engine;
    assert_eq!((engine.kind, engine.depth), (EngineKind::IoUringCmd, 4));
    assert!(engine.direct && engine.flags.polled);
    let other = error("[a]\nfilename=/dev/ng0n1\nioengine=io_uring_cmd\ncmd_type=scsi\n");
    assert!(other.contains("cmd_type") && other.contains("nvme"), "{other}");
}

#[test]
fn only_an_even_draw_of_aligned_blocks_keeps_to_unused_ones() {
    assert!(job("rw=randread").random.once_each);
    assert!(!job("rw=randread norandommap").random.once_each);
    assert!(!job("rw=randread ba=512").random.once_each);
    assert!(!job("rw=randread random_distribution=zipf").random.once_each);
    assert_eq!(job("rw=randread ba=512").align_bytes.read, 512);
    assert_eq!(job("rw=read ba=512").align_bytes.read, 4096, "only random jobs have it");
}

#[test]
fn distributions_have_their_parameters_and_defaults() {
    let law =
        |text: &str| job(&format!("rw=randread random_distribution={text}")).random.distribution;
    assert_eq!(
        law("zipf:1.2:0.25"),
        Distribution::Law(Law::Zipf { theta: 1.2, centre: Some(0.25) })
    );
    assert_eq!(law("pareto"), Distribution::Law(Law::Pareto { power: 0.2, centre: None }));
    assert_eq!(law("normal:10"), Distribution::Law(Law::Normal { deviation: 0.1, centre: 0.5 }));
    assert_eq!(
        law("sequence:2,0,1"),
        Distribution::Sequence { blocks: vec![2, 0, 1], moving: false }
    );
    let Distribution::Zoned(zones) = law("zoned:60/10:40/90") else { panic!("zones") };
    assert_eq!(zones.read[1].size_percent, 90);
    for wrong in ["zipf:1", "zipf:x", "pareto:1", "normal:100", "zipf:1.2:2", "gamma", "zoned:"] {
        assert!(
            error(&format!("[a]\nrandom_distribution={wrong}\n")).contains("needed"),
            "{wrong}"
        );
    }
}

#[test]
fn times_pauses_and_rates_have_their_own_default_units() {
    let job = job("runtime=90 ramp_time=2s startdelay=1-5 thinktime=5 thinktime_spin=9ms \
         thinktime_blocks_type=issue latency_target=500 max_latency=1ms rate=1m,500k \
         rate_process=poisson rate_min=,100k");
    assert_eq!(job.timing.runtime, Nanos::from_millis(90_000));
    assert_eq!(job.group.start_delay.max, Nanos::from_millis(5000));
    let think = job.thinktime.unwrap();
    assert_eq!((think.pause, think.spin), (Nanos::from_micros(5), Nanos::from_micros(5)));
    assert_eq!(think.at, ThinkAt::Issue);
    assert_eq!(job.latency_target.unwrap().target, Nanos::from_micros(500));
    assert_eq!(job.max_latency.trim, Some(Nanos::from_millis(1)));
    assert_eq!(job.rate.bytes_per_s.write, Some(512_000));
    assert_eq!(job.rate.min_bytes_per_s.read, None);
}

#[test]
fn a_new_group_begins_at_a_stonewall_and_wait_for_names_a_job() {
    let jobs = jobs("[a]\nstonewall\n[b]\n[c]\nstonewall\n[d]\nnew_group\nwait_for=b\nexitall\n");
    assert_eq!(jobs.iter().map(|job| job.group.number).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert!(jobs.iter().all(|job| job.exit.all), "one exitall is for the whole run");
}

#[test]
fn zonesize_alone_means_strides() {
    let strided = job("size=1g zonesize=64k zoneskip=1m").strided.unwrap();
    assert_eq!((strided.zone_bytes, strided.range_bytes), (65536, 65536));
    assert_eq!(job("max_open_zones=4").zoned, None);
    let zoned = job("zonemode=zbd zonesize=64m job_max_open_zones=4 zone_reset_frequency=0.1");
    let zoned = zoned.zoned.unwrap();
    assert_eq!((zoned.zone_bytes, zoned.most_open), (Some(64 << 20), None));
    assert_eq!((zoned.most_open_each, zoned.reset_every), (Some(4), Some(10)));
    assert!(error("[a]\nzone_reset_threshold=2\n").contains("0 to 1"));
    assert!(error("[a]\nzonemode=strided\n").contains("zonesize"));
    assert!(error("[a]\nzonemode=none\nzonesize=1m\n").contains("zonemode=strided"));
}

#[test]
fn what_buffers_hold_depends_on_what_comes_last() {
    let buffers = |text: &str| job(&format!("rw=write {text}")).buffers;
    assert_eq!(buffers("").contents, Contents::Random);
    assert!(buffers("").scramble && !buffers("").refill);
    assert_eq!(buffers("buffer_pattern=0xff zero_buffers").contents, Contents::Zero);
    assert!(matches!(buffers("zero_buffers buffer_pattern=0xff").contents, Contents::Pattern(_)));
    assert_eq!(buffers("buffer_compress_percentage=100").contents, Contents::Zero);
    let some = buffers("buffer_compress_percentage=40");
    assert_eq!((some.compress_percent, some.refill), (Some(40), true));
    assert!(buffers("verify=md5").refill && !buffers("verify=md5 refill_buffers=0").refill);
}

#[test]
fn headers_stand_where_they_divide_every_block() {
    let verify = |text: &str| job(&format!("rw=write {text}")).verify;
    assert_eq!(verify(""), None);
    assert_eq!(verify("verify=crc32c-intel").unwrap().checksum, Checksum::Crc32c);
    assert_eq!(verify("verify=md5").unwrap().interval_bytes, None, "one a block");
    assert_eq!(verify("verify=md5 verify_interval=1k").unwrap().interval_bytes, Some(1024));
    assert_eq!(verify("verify=md5 verify_interval=1000").unwrap().interval_bytes, None);
    assert_eq!(verify("verify=md5 bsrange=4k-10k").unwrap().interval_bytes, Some(2048));
    let alone = verify("verify_pattern=0xab%o").unwrap();
    assert_eq!(alone.checksum, Checksum::Meta, "a pattern alone has headers");
    assert!(alone.pattern.unwrap().has_offset());
    assert!(error("[a]\nverify=pattern\n").contains("verify_pattern"));
    assert!(error("[a]\nverify=md5\nverify_offset=4k\n").contains("less than 4096"));
}

#[test]
fn steady_state_errors_and_logs_are_typed() {
    let job = job("ss=bw_slope:0.3% ss_dur=60 ignore_error=EIO:28,ENOSPC continue_on_error=io \
         percentile_list=99.9:50:99 gtod_reduce=1 sync=dsync nice=-5 cpus_allowed=0-1,3");
    let steady = job.steady_state.unwrap();
    assert_eq!((steady.metric, steady.slope, steady.limit), (Metric::Bandwidth, true, 0.3));
    assert!(steady.percent && steady.duration == Nanos::from_millis(60_000));
    assert_eq!((job.errors.ignore.read, job.errors.ignore.write), (vec![5, 28], vec![28]));
    assert!(job.errors.continue_read && !job.errors.continue_verify);
    assert_eq!(job.report.percentile_list, [50.0, 99.0, 99.9]);
    assert!(!job.report.percentiles.clat);
    assert_eq!(job.durability.open, OpenSync::Dsync);
    assert_eq!(job.hints.cpus, [0, 1, 3]);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (text, needed) in [
        ("size=1k\nbs=4k", "at least one block of 4096 bytes"),
        ("offset=8191p\nsize=2p", "below 8 EiB"),
        ("offset_increment=1p\nnumjobs=4000\noffset=5000p", "below 8 EiB"),
        ("rate=1m\nrate_min=2m", "at most rate"),
        ("filesize=0", "at least 1 byte"),
        ("size=10z", "sizes in zones"),
        ("filename=-", "standard input"),
        ("size=101%", "0% to 100%"),
    ] {
        let said = error(&format!("[a]\n{text}\n"));
        assert!(said.contains(needed), "{said}");
    }
    assert_eq!(job("size=50%").extent.size, Some(Amount::Percent(50)));
}
