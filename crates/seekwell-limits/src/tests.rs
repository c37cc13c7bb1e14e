use crate::judge;
use crate::testing::{Case, SMALL};
use proptest::prelude::*;
use seekwell_inspect::facts::{
    AtaFacts, CryptTarget, MapperFacts, MapperTarget, NetworkPath, PciFunction, PcieLink,
};
use seekwell_inspect::{Fact, IoLimit};
use seekwell_io::workload::{Pace, Pattern, Workload};
use seekwell_runs::Repeat;
use seekwell_runs::limits::{Confidence, Known, Station};

fn ssd(link: &str, mb: f64) -> Case {
    let curve = [(1, 9e3), (2, 18e3), (4, 35e3), (8, 60e3), (16, 62e3), (32, 62e3)];
    Case::disk(Some(false)).sata(link).small(100, &curve).large(100, mb, mb).large(0, mb, mb)
}

#[test]
fn a_full_link_is_shown_by_what_all_large_transfers_reach() {
    let case = ssd("1.5 Gbps", 139.0);
    let limit = case.of("rseq");
    assert_eq!((limit.by, limit.confidence), (Station::Link, Confidence::Shown));
    assert_eq!(limit.name, "the SATA link at 1.5 Gbps");
    assert_eq!(limit.ceiling, Some(150e6));
    let said = case.judge().summary;
    assert!(said[0].starts_with("Large reads and writes stop at 139 MB/s"), "{said:?}");
    assert_eq!(ssd("6.0 Gbps", 300.0).of("rseq").by, Station::Flash);
}

#[test]
fn a_rate_that_doubles_with_the_depth_waits_for_nothing() {
    let case = ssd("6.0 Gbps", 300.0);
    let limit = case.of("r2");
    assert_eq!((limit.by, limit.confidence), (Station::Latency, Confidence::Shown));
    let next = limit.next.expect("what stops depth 16");
    assert!((next.gain.expect("a gain") - 62.0 / 18.0).abs() < 0.01, "{next:?}");
    assert_ne!(case.of("r32").by, Station::Latency);
}

#[test]
fn a_hard_drive_seeks_and_its_platters_pass() {
    let curve = [(1, 60.0), (8, 78.0), (32, 94.0)];
    let case = Case::disk(Some(true)).sata("6.0 Gbps").small(100, &curve).large(100, 190.0, 9.5);
    assert_eq!(case.of("r1").by, Station::Mechanics);
    assert_eq!(case.of("r32").confidence, Confidence::Shown);
    assert_eq!(case.of("rseq").by, Station::Medium);
    assert_eq!(case.of("r128k").by, Station::Mechanics);
}

#[test]
fn the_same_rate_for_reads_and_writes_of_what_cannot_be_seen_is_a_cap() {
    let curve = [(1, 1e3), (4, 3e3), (8, 3e3), (32, 3e3)];
    let case = Case::disk(None).small(100, &curve).small(0, &curve).large(100, 131.0, 131.0);
    assert_eq!(case.of("r8").by, Station::Throttle);
    assert!(case.of("w32").name.contains("3,000 requests/s"), "{:?}", case.of("w32"));
    assert_eq!(case.of("r1").by, Station::Latency);
    let found = case.judge().ceilings;
    assert!(found.iter().any(|c| c.by == Station::Throttle && c.known == Known::Inferred));
}

#[test]
fn a_full_network_link_is_the_limit_of_a_disk_behind_it() {
    let mut case = Case::disk(None).large(100, 1150.0, 1140.0);
    let path = NetworkPath {
        server: "192.168.0.2".into(),
        interface: "eth0".into(),
        megabits_per_s: Some(10_000),
    };
    case.0.inspection.network = Some(Fact::new(path, "speed"));
    let limit = case.of("rseq");
    assert_eq!(
        (limit.by, limit.name.as_str()),
        (Station::Link, "the network link eth0 at 10 Gbit/s")
    );
    case.0.phases.clear();
    assert_ne!(case.large(100, 400.0, 390.0).of("rseq").by, Station::Link);
}

#[test]
fn encryption_that_takes_all_processors_is_the_limit() {
    let crypt = |d: &mut seekwell_inspect::Device| {
        let target = MapperTarget::Crypt(CryptTarget {
            cipher: "aes-xts-plain64".into(),
            sector_bytes: 512,
            discards: false,
            no_read_workqueue: false,
            no_write_workqueue: false,
            same_cpu: false,
        });
        let targets = vec![Fact::new(target, "table")];
        d.detail.mapper = Some(MapperFacts { targets, ..MapperFacts::default() });
    };
    let busy = |case: Case, others: f64| {
        let mut case = case.small(100, &[(32, 5e4)]).metric("cpu_percent", 10.0);
        let values = &mut case.0.phases[0].repeats[0].values;
        values.insert(Repeat::BUSY.into(), 97.0);
        values.insert(Repeat::OTHERS.into(), others);
        case.of("r32")
    };
    let limit = busy(Case::disk(Some(false)).with(crypt), 5.0);
    assert_eq!((limit.by, limit.confidence), (Station::Processor, Confidence::Likely));
    assert!(limit.name.contains("dm-crypt"), "{limit:?}");
    assert_ne!(busy(Case::disk(Some(false)), 5.0).by, Station::Processor);
    let limit = busy(Case::disk(Some(false)).with(crypt), 90.0);
    assert_ne!(limit.by, Station::Processor, "other programs have them, which wait for nobody");
}

#[test]
fn bytes_or_requests_that_no_size_changes_are_a_cap() {
    let curve = [(1, 3e3), (8, 4.2e3), (16, 4.095e3), (32, 4.092e3)];
    let of_bytes = Case::disk(None).small(100, &curve).large(100, 16.5, 16.7);
    assert_eq!((of_bytes.of("r32").by, of_bytes.of("rseq").by), [Station::Throttle; 2].into());
    assert_eq!(of_bytes.of("r32").name, "a cap of 16.8 MB/s");
    let curve = [(1, 300.0), (8, 300.0), (32, 300.0)];
    let of_requests = Case::disk(None).small(100, &curve).large(100, 306.0, 39.3);
    assert_eq!(of_requests.of("rseq").name, "a cap of 292 requests/s");
    let alone = Case::disk(None).small(100, &curve);
    assert_eq!(alone.of("r8").confidence, Confidence::Possible);
    assert_eq!(alone.of("r8").by, Station::Throttle);
    let grows = Case::disk(None).small(100, &[(1, 1e3), (32, 4e3)]).large(100, 16.4, 16.4);
    assert_ne!(grows.of("r1").by, Station::Throttle);
}

#[test]
fn a_limit_of_a_control_group_is_declared() {
    let mut case = Case::disk(Some(false)).small(100, &[(8, 1990.0)]);
    let limit = IoLimit { dev: "8:0".into(), writes: false, bytes: false, per_s: 2000 };
    case.0.inspection.host.io_limits = vec![Fact::new(limit, "io.max")];
    let limit = case.of("r8");
    assert_eq!((limit.by, limit.confidence), (Station::Throttle, Confidence::Shown));
    assert!(limit.evidence.iter().any(|e| e.from == "io.max"), "{limit:?}");
}

#[test]
fn a_volume_that_counts_its_time_above_a_limit_names_that_limit() {
    let case = |percent: f64| {
        let case = Case::disk(None).small(100, &[(32, 3000.0)]);
        case.metric("volume_rate_exceeded_percent", 20.0)
            .metric("volume_iops_exceeded_percent", percent)
    };
    let limit = case(96.0).of("r32");
    assert_eq!((limit.by, limit.confidence), (Station::Throttle, Confidence::Shown));
    assert_eq!(limit.name, "the volume's IOPS limit");
    assert!(limit.evidence[0].seen.contains("96 % of the time"), "{limit:?}");
    assert_ne!(case(30.0).of("r32").confidence, Confidence::Shown);
}

#[test]
fn a_thin_pool_whose_metadata_is_hardly_ever_idle_is_limited_by_it() {
    let case = |percent: f64| {
        let case = Case::disk(None).small(100, &[(32, 3000.0)]);
        case.metric("pool_metadata_busy_percent", percent)
    };
    let limit = case(93.0).of("r32");
    assert_eq!((limit.by, limit.confidence), (Station::Medium, Confidence::Likely));
    assert_eq!(limit.name, "the thin pool's metadata device");
    assert_ne!(case(40.0).of("r32").name, "the thin pool's metadata device");
}

#[test]
fn a_busy_thread_a_cache_and_a_load_that_asks_for_less_are_no_fault_of_the_disk() {
    let case = Case::disk(Some(false)).small(100, &[(32, 5e5)]).metric("cpu_percent", 99.0);
    assert_eq!(case.of("r32").by, Station::Processor);
    let mut case = Case::disk(Some(false)).small(100, &[(32, 5e5)]).metric("cpu_percent", 80.0);
    assert_ne!(case.of("r32").by, Station::Processor);
    // Other programs use three of the four CPUs.
    case.0.phases[0].repeats[0].values.insert(Repeat::OTHERS.into(), 75.0);
    let limit = case.of("r32");
    assert_eq!((limit.by, limit.confidence), (Station::Processor, Confidence::Likely));
    let case = case.metric("cpu_percent", 20.0);
    assert_ne!(case.of("r32").by, Station::Processor, "a load that needs little CPU time gets it");
    let case = Case::disk(Some(false)).small(100, &[(32, 5e5)]).metric("device_share", 0.3);
    assert_eq!(case.of("r32").by, Station::Memory);
    let mut open = Workload::closed(Pattern::Random, 100, SMALL, 8, 1 << 30);
    open.pace = Pace::Open { requests_per_s: 100.0, poisson: false, depth: 8 };
    assert_eq!(Case::disk(None).phase("open", open, 100.0).of("open").by, Station::Pace);
}

#[test]
fn a_mode_on_a_parallel_cable_and_tags_that_are_out_are_named() {
    let ata = |d: &mut seekwell_inspect::Device| {
        let transfer_mode = Some(Fact::new("XFER_UDMA_2".to_owned(), "xfer_mode"));
        d.detail.ata = Some(AtaFacts { transfer_mode, ..AtaFacts::default() });
    };
    let case = Case::disk(Some(true)).with(ata).large(100, 29.0, 5.0);
    assert_eq!(case.of("rseq").by, Station::TransferMode);
    let tags = |d: &mut seekwell_inspect::Device| {
        d.queue.queue_depth = Some(Fact::new(4, "queue_depth"));
    };
    let curve = [(1, 1e4), (2, 2e4), (4, 4e4), (8, 4e4), (16, 4e4)];
    assert_eq!(Case::disk(Some(false)).with(tags).small(100, &curve).of("r16").by, Station::Tags);
}

#[test]
fn a_pcie_link_is_not_shown_where_flash_may_be_as_fast_by_chance() {
    let of = |megabytes: f64| {
        let pci = |d: &mut seekwell_inspect::Device| {
            let link = Some(Fact::new(PcieLink { gts: 8.0, width: 4 }, "current_link_speed"));
            d.detail.pci = vec![PciFunction { link, ..PciFunction::default() }];
        };
        Case::disk(Some(false)).with(pci).large(100, megabytes, megabytes).of("rseq")
    };
    let (full, near) = (of(3550.0), of(3200.0));
    assert_eq!((full.by, full.confidence), (Station::Link, Confidence::Shown));
    assert_eq!((near.by, near.confidence), (Station::Link, Confidence::Likely));
    assert_eq!(near.or, [Station::Flash]);
}

#[test]
fn what_nothing_tells_is_unknown_with_the_reason() {
    let limit = Case::disk(Some(false)).small(100, &[(8, 5e4)]).of("r8");
    assert_eq!((limit.by, limit.confidence), (Station::Unknown, Confidence::Possible));
    assert!(!limit.evidence.is_empty() && limit.tell.is_some(), "{limit:?}");
    let mut short = Case::disk(None).small(100, &[(8, 1.0)]);
    short.0.phases[0].metrics.clear();
    assert_eq!(short.of("r8").by, Station::Unknown);
    short.0.phases.clear();
    assert_eq!(short.judge(), crate::Judged::default());
}

proptest! {
    #[test]
    fn every_phase_gets_one_statement_whatever_its_numbers_are(
        rotates in any::<Option<bool>>(),
        rates in prop::collection::vec((1u32..300, 0u8..=100, 0f64..1e12), 0..12),
        link in prop::sample::select(vec!["1.5 Gbps", "6.0 Gbps", "fast", ""]),
    ) {
        let mut case = Case::disk(rotates).sata(link);
        for (i, (depth, reads, rate)) in rates.iter().enumerate() {
            let size = if i % 2 == 0 { SMALL } else { 1 << 20 };
            let work = Workload::closed(Pattern::Random, *reads, size, *depth, 1 << 30);
            case = case.phase(&format!("p{i}"), work, *rate);
        }
        let judged = judge(&case.0);
        prop_assert_eq!(judged.limits.len(), rates.len());
        for limit in &judged.limits {
            prop_assert!(!limit.evidence.is_empty(), "{:?}", limit);
            prop_assert!(limit.share.is_none_or(f64::is_finite));
        }
        prop_assert!(judged.ceilings.iter().all(|c| c.rate > 0.0));
    }
}
