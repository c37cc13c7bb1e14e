//! Drives that are not there: the pages they would return.

use super::*;
use crate::facts::{IdentifyData, NvmeFacts, ScsiFacts};
use proptest::prelude::*;
use seekwell_sys::fake::Fake;

fn nvme() -> Device {
    let mut device = Device::new("nvme0n1", "259:0", DeviceKind::Disk);
    device.detail.nvme = Some(NvmeFacts { controller: "nvme0".to_owned(), ..NvmeFacts::default() });
    device
}

fn scsi() -> Device {
    let mut device = Device::new("sda", "8:0", DeviceKind::Disk);
    device.transport = Some(Fact::new("sas".to_owned(), "end_device"));
    device.detail.scsi = Some(ScsiFacts::default());
    device
}

fn ata() -> Device {
    let mut device = scsi();
    let id = IdentifyData { smart: (true, true), logs: true, ..IdentifyData::default() };
    device.detail.identify = Some(Fact::new(id, "id"));
    device
}

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

fn page(bytes: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut page = vec![0; bytes];
    fields.iter().for_each(|(at, field)| put(&mut page, *at, field));
    page
}

/// A page whose bytes add up to zero.
fn summed(mut page: Vec<u8>) -> Vec<u8> {
    let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    *page.last_mut().unwrap() = sum.wrapping_neg();
    page
}

fn drive(node: &str, pages: &[(&str, Vec<u8>)]) -> Fake {
    let put = |fake: Fake, (name, bytes): &(&str, Vec<u8>)| {
        fake.bytes(format!("/dev/{node}/page/{name}"), bytes.clone())
    };
    pages.iter().fold(Fake::new().file("/sys/block/nvme0n1/nsid", "1"), put)
}

fn value(health: &Health, measure: Measure) -> Option<i64> {
    health.get(measure).map(|f| f.value)
}

fn full_nvme() -> Vec<(&'static str, Vec<u8>)> {
    let ocp_uuid = 0xc194_d55b_e094_4794_a21d_2999_8f56_be6f_u128.to_be_bytes();
    let guid = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5_u128.to_le_bytes();
    vec![
        (
            "identify-01-0",
            page(
                4096,
                &[
                    (77, &[5]),
                    (96, &[0, 2]),
                    (256, &[1 << 4]),
                    (262, &[3]),
                    (263, &[4, 0, 1]),
                    (266, &343_u16.to_le_bytes()),
                ],
            ),
        ),
        ("identify-17-0", page(4096, &[(64 + 16, &ocp_uuid)])),
        (
            "log-02-512",
            page(
                512,
                &[
                    (0, &[0b1_0001]),
                    (1, &314_u16.to_le_bytes()),
                    (3, &[9, 10, 3]),
                    (48, &2_000_u128.to_le_bytes()),
                    (128, &8760_u128.to_le_bytes()),
                    (160, &2_u128.to_le_bytes()),
                    (216, &7_u32.to_le_bytes()),
                ],
            ),
        ),
        ("log-01-256", page(256, &[(0, &[40]), (12, &[0x05, 0x40]), (16, &[0xff; 8])])),
        ("log-06-564", page(564, &[(4, &[0x27, 0, 2]), (8, &[100]), (20, &[77])])),
        (
            "log-c0-512-2",
            page(
                512,
                &[
                    (0, &2_048_000_000_u128.to_le_bytes()),
                    (97, &[2]),
                    (128, &[0xff, 0xff]),
                    (496, &guid),
                ],
            ),
        ),
        (
            "identify-00-1",
            page(
                4096,
                &[(24, &[1 << 4, 1, 1]), (64, &[7]), (128, &[0, 0, 9, 2]), (132, &[0, 0, 12, 0])],
            ),
        ),
    ]
}

#[test]
fn every_page_of_an_nvme_drive_is_decoded() {
    let view = drive("nvme0", &full_nvme());
    let found = health(&view, &nvme()).unwrap();
    let warnings = found.warnings.as_ref().unwrap();
    assert_eq!(warnings.value, [Warning::SpareLow, Warning::BackupFailed]);
    assert_eq!(warnings.from, "/dev/nvme0/page/log-02-512");
    use Measure as M;
    for (measure, expected) in [
        (M::Temperature, 41),
        (M::Spare, 9),
        (M::SpareThreshold, 10),
        (M::PercentUsed, 3),
        (M::Written, 1_024_000_000),
        (M::PowerOnHours, 8760),
        (M::MediaErrors, 2),
        (M::LightThrottles, 7),
        (M::TemperatureWarning, 70),
        (M::MaxTransfer, 128 << 10),
        (M::PowerStates, 5),
        (M::AutonomousPower, 1),
        (M::MediaWritten, 2_048_000_000),
        (M::ThrottleLevel, 2),
        (M::WriteGranularity, 32 << 10),
    ] {
        assert_eq!(value(&found, measure), Some(expected), "{measure:?}");
    }
    assert_eq!(value(&found, M::CapacitorHealth), None, "all ones: there is no capacitor");
    assert_eq!(found.write_amplification(), Some(2.0));
    let error = LoggedError { count: 40, status: 0x2002, lba: None };
    assert_eq!(found.errors.as_ref().unwrap().value, [error]);
    let test = found.last_test().unwrap();
    assert_eq!((test.outcome, test.extended, test.hours), (Outcome::Failed, true, 100));
    assert_eq!(test.failed_lba, Some(77));
    let formats: Vec<_> = found.formats.iter().flat_map(|f| &f.value).collect();
    let (small, large) = (formats[0], formats[1]);
    assert_eq!((small.data_bytes, small.performance, small.in_use), (512, 2, false));
    assert_eq!((large.data_bytes, large.performance, large.in_use), (4096, 0, true));
}

#[test]
fn vendor_pages_are_only_asked_of_drives_that_list_them_and_must_say_what_they_are() {
    let mut pages = full_nvme();
    pages[0].1[97] = 0;
    let found = health(&drive("nvme0", &pages), &nvme()).unwrap();
    assert_eq!(value(&found, Measure::MediaWritten), None, "no list of UUIDs, no page C0h");
    let mut pages = full_nvme();
    let ocp = pages.iter_mut().find(|p| p.0 == "log-c0-512-2").unwrap();
    ocp.1[500] ^= 1;
    let found = health(&drive("nvme0", &pages), &nvme()).unwrap();
    assert_eq!(value(&found, Measure::MediaWritten), None, "another maker's page");
}

#[test]
fn a_cloud_volume_says_how_long_it_was_above_each_limit() {
    let identify = page(4096, &[(24, b"Amazon Elastic Block Store              ")]);
    let counts: Vec<u8> =
        [7_000_000_u64, 0, 0, 40].iter().flat_map(|us| us.to_le_bytes()).collect();
    let log = page(4096, &[(0, &0x3c23_b510_u32.to_le_bytes()), (56, &counts)]);
    let mut pages = [("identify-01-0", identify), ("log-ns-1-d0-4096", log)];
    let found = health(&drive("nvme0", &pages), &nvme()).unwrap();
    let of = |measure| value(&found, measure);
    assert_eq!(of(Measure::VolumeIopsExceeded), Some(7_000_000));
    assert_eq!(of(Measure::VolumeRateExceeded), Some(0));
    assert_eq!(of(Measure::InstanceRateExceeded), Some(40));
    assert_eq!(Measure::VolumeIopsExceeded.text(7_040_000), "7.0 s");
    // Other makers use this number for pages of their own.
    pages[0].1[24] = b'B';
    let found = health(&drive("nvme0", &pages), &nvme()).unwrap();
    assert_eq!(value(&found, Measure::VolumeIopsExceeded), None);
}

#[test]
fn counters_that_no_drive_can_have_reached_are_left_out() {
    let log = page(512, &[(48, &[0xff; 16]), (160, &[0xff; 16]), (128, &[9])]);
    let pages = [("identify-01-0", page(4096, &[])), ("log-02-512", log)];
    let found = health(&drive("nvme0", &pages), &nvme()).unwrap();
    let of = |measure| value(&found, measure);
    assert_eq!((of(Measure::Written), of(Measure::MediaErrors)), (None, None));
    assert_eq!(of(Measure::PowerOnHours), Some(9));
}

fn statistic(value: u64, bytes: usize) -> Vec<u8> {
    let mut field = value.to_le_bytes();
    field[bytes..].fill(0);
    field[7] = 0xc0;
    field.to_vec()
}

fn full_ata() -> Vec<(&'static str, Vec<u8>)> {
    let entry = |id: u8, flags: u8, value: u8, raw: u32| {
        let mut entry = [0; 12];
        (entry[0], entry[1], entry[3], entry[4]) = (id, flags, value, value);
        entry[5..9].copy_from_slice(&raw.to_le_bytes());
        entry
    };
    let data = [(2, &entry(5, 1, 36, 8)[..]), (14, &entry(9, 0, 90, 0x0100_2000)[..])];
    let limits = [(2, &[5, 36][..]), (14, &[9, 0][..])];
    let general = page(
        512,
        &[
            (2, &[1]),
            (8, &statistic(55, 4)),
            (16, &statistic(8190, 4)),
            (24, &statistic(1_000_000, 6)),
            (40, &[1, 0, 0, 0, 0, 0, 0, 0x80]),
        ],
    );
    vec![
        ("ata-power", vec![0xff]),
        ("smart-data", summed(page(512, &data))),
        ("smart-thresholds", summed(page(512, &limits))),
        ("smart-status", vec![0xf4, 0x2c]),
        ("log-ext-00-00", page(512, &[(6, &[1, 0, 8, 0]), (14, &[1])])),
        ("log-ext-04-00", page(512, &[(8, &[3, 0, 1, 7])])),
        ("log-ext-04-01", general),
        ("log-ext-04-07", page(512, &[(2, &[7]), (8, &statistic(101, 1))])),
        ("log-ext-03-00", page(512, &[(500, &[4, 0])])),
        // The newest stands second: a failed extended test; the first, a short one, passed.
        (
            "log-ext-07-00",
            page(
                512,
                &[(2, &[2]), (4, &[1, 0, 90]), (30, &[2, 0x70, 100, 0, 0, 9, 0, 0, 0, 0, 0])],
            ),
        ),
    ]
}

#[test]
fn every_page_of_an_ata_drive_is_decoded() {
    let found = health(&drive("sda", &full_ata()), &ata()).unwrap();
    use Measure as M;
    for (measure, expected) in [
        (M::ReallocatedSectors, 8),
        (M::PowerCycles, 55),
        (M::PowerOnHours, 8190),
        (M::Written, 512_000_000),
        (M::PercentUsed, 101),
        (M::LoggedErrors, 4),
    ] {
        assert_eq!(value(&found, measure), Some(expected), "{measure:?}");
    }
    assert_eq!(value(&found, M::Read), None, "supported, but not valid");
    assert_eq!(found.warnings.as_ref().unwrap().value, [Warning::Failing]);
    let table = &found.attributes.as_ref().unwrap().value;
    assert_eq!((table.len(), table[0].threshold, table[0].raw), (2, Some(36), 8));
    assert!(table[0].has_failed() && !table[1].has_failed());
    let test = found.last_test().unwrap();
    assert_eq!((test.outcome, test.extended, test.hours), (Outcome::Failed, true, 100));
    assert_eq!((test.failed_lba, found.self_tests.as_ref().unwrap().value.len()), (Some(9), 2));
}

#[test]
fn commands_that_the_kernel_counts_as_failed_are_sent_only_where_nothing_else_tells() {
    // Each look at a healthy SATA disk added two to ioerr_cnt, which read as failing commands.
    let (sent, _) = asked(drive("sda", &full_ata()), &ata());
    assert!(!sent.contains(&"smart-status".to_owned()), "{sent:?}");
    assert_eq!(health(&drive("sda", &full_ata()), &ata()).unwrap().provoked, 1, "the power mode");
    let mut old = full_ata();
    old.retain(|(name, _)| *name != "smart-thresholds");
    let found = health(&drive("sda", &old), &ata()).unwrap();
    assert_eq!((found.warnings.unwrap().value, found.provoked), (vec![Warning::Failing], 2));
}

#[test]
fn a_table_of_attributes_that_did_not_arrive_whole_is_reported_and_not_used() {
    let mut pages = full_ata();
    pages[1].1[100] ^= 1;
    let view = drive("sda", &pages);
    let mut r = Reader::new(&view);
    let found = read(&mut r, &ata()).unwrap();
    assert_eq!((&found.attributes, value(&found, Measure::ReallocatedSectors)), (&None, None));
    let missing = r.into_missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].reason, "its checksum is wrong");
}

/// Answers with pages, and remembers which were asked for.
struct Asked(Fake, std::sync::Mutex<Vec<String>>);

impl View for Asked {
    fn read(&self, path: &Path) -> Result<Vec<u8>, seekwell_sys::ViewError> {
        if path.starts_with("/dev") {
            self.1.lock().unwrap().push(crate::sysfs::name(path).to_owned());
        }
        self.0.read(path)
    }

    seekwell_sys::forward_view!(0);
}

fn asked(fake: Fake, device: &Device) -> (Vec<String>, Vec<String>) {
    let view = Asked(fake, std::sync::Mutex::default());
    let mut r = Reader::new(&view);
    read(&mut r, device);
    let reasons = r.into_missing().into_iter().map(|m| m.reason).collect();
    (view.1.into_inner().unwrap(), reasons)
}

#[test]
fn a_disk_that_sleeps_is_asked_nothing_that_would_wake_it() {
    let mut pages = full_ata();
    pages[0].1 = vec![0];
    let (sent, missing) = asked(drive("sda", &pages), &ata());
    assert_eq!(sent, ["ata-power"]);
    assert_eq!(missing, ["the disk is in standby, and asking would wake it"]);
    assert!(is_asleep(&drive("sda", &pages), &ata()));
    assert!(!is_asleep(&drive("sda", &full_ata()), &ata()));
    let stopped = page(18, &[(0, &[0x70, 0, 2]), (12, &[4, 2])]);
    let stopped = || drive("sda", &[("scsi-sense", stopped.clone())]);
    let (sent, _) = asked(stopped(), &scsi());
    assert_eq!(sent, ["scsi-sense"]);
    assert!(is_asleep(&stopped(), &scsi()));
    let suspended = || {
        drive("sda", &full_ata()).file("/sys/block/sda/device/power/runtime_status", "suspended")
    };
    assert!(is_asleep(&suspended(), &ata()));
    let (sent, missing) = asked(suspended(), &ata());
    assert_eq!(sent, Vec::<String>::new(), "opening it would resume it");
    assert_eq!(missing, ["the disk sleeps, and asking would wake it"]);
}

#[test]
fn a_drive_is_asked_for_nothing_it_does_not_offer() {
    let mut plain = ata();
    plain.detail.identify.as_mut().unwrap().value.logs = false;
    plain.detail.identify.as_mut().unwrap().value.smart = (true, false);
    assert_eq!(asked(drive("sda", &full_ata()), &plain).0, ["ata-power"]);
    let mut flash = plain.clone();
    flash.detail.identify.as_mut().unwrap().value.rotation_rpm = Some(1);
    assert_eq!(asked(drive("sda", &full_ata()), &flash).0, Vec::<String>::new());
    let mut bridge = scsi();
    bridge.transport.as_mut().unwrap().value = "usb".to_owned();
    assert_eq!(asked(drive("sda", &full_scsi()), &bridge).0, Vec::<String>::new());
    let list = [("scsi-sense", vec![0; 18]), ("log-sense-00", vec![0, 0, 0, 2, 0, 0x0d])];
    assert_eq!(
        asked(drive("sda", &list), &scsi()).0,
        ["scsi-sense", "log-sense-00", "log-sense-0d"]
    );
}

#[test]
fn a_page_that_hangs_is_named_and_the_next_is_asked_for() {
    let kind = std::io::ErrorKind::TimedOut;
    let hung = drive("sda", &full_ata()).error("/dev/sda/page/log-ext-04-01", kind);
    let (sent, missing) = asked(hung, &ata());
    assert!(sent.contains(&"smart-thresholds".to_owned()), "{sent:?}");
    assert_eq!(missing, ["the kernel answered: timed out"]);
}

#[test]
fn a_user_who_may_not_ask_hears_it_once_for_a_disk() {
    let closed = Fake::new().denied("/dev/nvme0/page/identify-01-0");
    let (sent, missing) = asked(closed, &nvme());
    assert_eq!((sent.len(), missing), (1, vec!["permission denied: it needs root".to_owned()]));
    assert_eq!(asked(Fake::new(), &nvme()).1, Vec::<String>::new(), "a view without drives");
}

fn log_page(number: u8, parameters: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (code, value) in parameters {
        body.extend(code.to_be_bytes());
        body.extend([0, value.len() as u8]);
        body.extend(*value);
    }
    [&[number, 0][..], &(body.len() as u16).to_be_bytes(), &body].concat()
}

fn full_scsi() -> Vec<(&'static str, Vec<u8>)> {
    let failed_test = [0x47, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0];
    vec![
        ("scsi-sense", vec![0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("log-sense-00", vec![0, 0, 0, 8, 0, 2, 3, 0x0d, 0x10, 0x11, 0x2f, 0x30]),
        ("log-sense-02", log_page(2, &[(5, &[0, 0, 1, 0]), (6, &[2])])),
        ("log-sense-03", log_page(3, &[(5, &[1, 0]), (6, &[0, 3])])),
        ("log-sense-0d", log_page(0x0d, &[(0, &[0, 38]), (1, &[0, 255])])),
        ("log-sense-10", log_page(0x10, &[(1, &failed_test), (2, &[0; 16])])),
        ("log-sense-11", log_page(0x11, &[(1, &[0, 0, 0, 12])])),
        ("log-sense-2f", log_page(0x2f, &[(0, &[0x5d, 0x10, 38])])),
    ]
}

#[test]
fn every_page_of_a_scsi_disk_is_decoded() {
    let found = health(&drive("sda", &full_scsi()), &scsi()).unwrap();
    use Measure as M;
    for (measure, expected) in [
        (M::Written, 256),
        (M::Read, 256),
        (M::MediaErrors, 5),
        (M::Temperature, 38),
        (M::PercentUsed, 12),
    ] {
        assert_eq!(value(&found, measure), Some(expected), "{measure:?}");
    }
    assert_eq!(value(&found, M::TemperatureWarning), None, "255 is no temperature");
    assert_eq!(found.warnings.as_ref().unwrap().value, [Warning::Failing]);
    let tests = &found.self_tests.as_ref().unwrap().value;
    assert_eq!((tests.len(), tests[0].outcome, tests[0].hours), (1, Outcome::Failed, 100));
    assert_eq!((tests[0].extended, tests[0].failed_lba), (true, Some(9)));
}

#[test]
fn a_document_with_every_part_of_health_is_read_back_the_same() {
    let drives = [
        (drive("nvme0", &full_nvme()), nvme()),
        (drive("sda", &full_ata()), ata()),
        (drive("sda", &full_scsi()), scsi()),
    ];
    for (view, device) in drives {
        let found = health(&view, &device).unwrap();
        let value = serde_json::to_value(&found).unwrap();
        assert_eq!(serde_json::from_value::<Health>(value).unwrap(), found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_page_makes_it_panic(
        which in 0..3usize,
        garbage in prop::collection::vec(any::<u8>(), 0..600),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (node, device, mut pages) = match which {
            0 => ("nvme0", nvme(), full_nvme()),
            1 => ("sda", ata(), full_ata()),
            _ => ("sda", scsi(), full_scsi()),
        };
        let page = at.get_mut(&mut pages);
        let kept = cut.index(page.1.len() + 1);
        page.1.truncate(kept);
        page.1.extend(&garbage);
        health(&drive(node, &pages), &device);
        page_of(&mut pages, at).fill(0xff);
        health(&drive(node, &pages), &device);
    }
}

fn page_of<'p>(
    pages: &'p mut [(&'static str, Vec<u8>)],
    at: prop::sample::Index,
) -> &'p mut Vec<u8> {
    &mut at.get_mut(pages).1
}
