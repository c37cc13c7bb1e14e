//! Drives that are not there: registers behind the commands.

use super::nvme::Admin;
use super::*;
use crate::writer::{Sysfs, Writer};
use seekwell_inspect::probe::{Passthrough, ProbeError, Reply};
use seekwell_sys::Live;
use std::sync::Mutex;

/// An ATA drive with look-ahead, APM and acoustics, or without.
#[derive(Debug, Clone, Default)]
struct Drive {
    words: Arc<Mutex<Vec<u16>>>,
    sent: Arc<Mutex<Vec<(u8, u8)>>>,
    refuses: bool,
}

impl Drive {
    fn new(supported: bool) -> Self {
        let drive = Self::default();
        {
            let mut words = drive.words.lock().unwrap();
            words.resize(256, 0);
            words[83] = 1 << 14;
            if supported {
                words[82] = 1 << 6;
                words[83] |= 1 << 3 | 1 << 9;
                words[85] = 1 << 6;
                words[86] = 1 << 3;
                // In the upper bytes stands something else.
                words[91] = 0x4080;
                words[94] = 0xfe80;
            }
        }
        drive
    }

    fn sent(&self) -> Vec<(u8, u8)> {
        self.sent.lock().unwrap().clone()
    }
}

impl Passthrough for Drive {
    fn send(&mut self, cdb: [u8; 16], data: &mut [u8]) -> Result<Reply, ProbeError> {
        assert_eq!(cdb[0], 0x85, "only ATA PASS-THROUGH(16) is sent");
        let mut words = self.words.lock().unwrap();
        if cdb[14] == 0xec {
            assert_eq!((cdb[1], cdb[2], cdb[6], data.len()), (4 << 1, 0x0e, 1, 512));
            for (bytes, word) in data.chunks_exact_mut(2).zip(words.iter()) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            return Ok(Reply::default());
        }
        assert_eq!((cdb[14], cdb[1], data.len()), (0xef, 3 << 1, 0), "SET FEATURES, no data");
        if self.refuses {
            let sense = vec![0x72, 0x0b, 0, 0];
            return Ok(Reply { status: 2, host: 0, sense });
        }
        self.sent.lock().unwrap().push((cdb[4], cdb[6]));
        match cdb[4] {
            0xaa => words[85] |= 1 << 6,
            0x55 => words[85] &= !(1 << 6),
            0x05 => {
                words[86] |= 1 << 3;
                words[91] = words[91] & 0xff00 | u16::from(cdb[6]);
            }
            0x85 => words[86] &= !(1 << 3),
            0x42 => {
                words[86] |= 1 << 9;
                words[94] = words[94] & 0xff00 | u16::from(cdb[6]);
            }
            0xc2 => words[86] &= !(1 << 9),
            other => panic!("subcommand {other:#x} is never sent"),
        }
        Ok(Reply::default())
    }
}

#[test]
fn an_ata_drive_s_features_are_set_and_read_back_from_what_it_says_of_itself() {
    let drive = Drive::new(true);
    let ata = ata::Ata::over(drive.clone());
    let now = |knob: &str| ata.read(knob).unwrap();
    assert_eq!([now("look_ahead"), now("apm"), now("acoustic")], ["1", "128", "0"]);
    for (knob, value) in
        [("look_ahead", "0"), ("look_ahead", "1"), ("apm", "254"), ("apm", "255"), ("apm", "1")]
    {
        ata.write(knob, value).unwrap();
        assert_eq!(now(knob), value, "{knob}");
    }
    ata.write("acoustic", "254").unwrap();
    assert_eq!(now("acoustic"), "254");
    ata.write("acoustic", "0").unwrap();
    assert_eq!(now("acoustic"), "0");
    let expected =
        [(0x55, 0), (0xaa, 0), (0x05, 254), (0x85, 0), (0x05, 1), (0x42, 254), (0xc2, 0)];
    assert_eq!(drive.sent(), expected);
}

#[test]
fn nothing_is_sent_for_a_value_that_is_none_and_a_refusal_is_told() {
    let drive = Drive::new(true);
    let ata = ata::Ata::over(drive.clone());
    for (knob, value) in [("look_ahead", "2"), ("apm", "0"), ("apm", "256"), ("acoustic", "127")] {
        let error = ata.write(knob, value).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{knob}={value}");
    }
    assert_eq!(drive.sent(), []);
    let stubborn = ata::Ata::over(Drive { refuses: true, ..Drive::new(true) });
    let error = stubborn.write("apm", "128").unwrap_err();
    assert!(error.to_string().contains("the drive aborts"), "{error}");
}

#[test]
fn a_drive_without_a_feature_has_no_such_setting() {
    let ata = ata::Ata::over(Drive::new(false));
    for knob in ["look_ahead", "apm", "acoustic", "standby"] {
        assert_eq!(ata.read(knob).unwrap_err().kind(), io::ErrorKind::NotFound, "{knob}");
    }
}

/// An NVMe controller: identify data and features.
#[derive(Debug, Clone)]
struct Controller {
    features: Arc<Mutex<[u32; 16]>>,
    table: Arc<Mutex<Vec<u8>>>,
    cache: bool,
}

impl Controller {
    fn new() -> Self {
        let mut features = [0; 16];
        features[0x01] = 0x0102_0303;
        features[0x06] = 1;
        features[0x08] = 0x0a05;
        features[0x0c] = 1;
        let table = (0..=255).collect();
        Self {
            features: Arc::new(Mutex::new(features)),
            table: Arc::new(Mutex::new(table)),
            cache: true,
        }
    }
}

impl Admin for Controller {
    fn admin(&mut self, opcode: u8, cdw10: u32, cdw11: u32, data: &mut [u8]) -> io::Result<u32> {
        let mut features = self.features.lock().unwrap();
        match opcode {
            0x06 => {
                assert_eq!((cdw10, data.len()), (1, 4096));
                (data[263], data[265], data[525]) = (4, 1, u8::from(self.cache));
                Ok(0)
            }
            0x09 => {
                assert_eq!(cdw10 >> 8, 0, "the bit that survives a power cycle is never set");
                features[cdw10 as usize] = cdw11;
                if cdw10 == 0x0c {
                    assert_eq!(data, &self.table.lock().unwrap()[..], "the table goes with it");
                }
                Ok(0)
            }
            0x0a => {
                if cdw10 == 0x0c {
                    data.copy_from_slice(&self.table.lock().unwrap());
                }
                Ok(features[cdw10 as usize])
            }
            other => panic!("opcode {other:#x} is never sent"),
        }
    }
}

#[test]
fn a_field_of_an_nvme_feature_is_set_and_its_neighbours_stay() {
    let controller = Controller::new();
    let nvme = nvme::Nvme::over(controller.clone());
    let now = |knob: &str| nvme.read(knob).unwrap();
    assert_eq!([now("coalesce_threshold"), now("coalesce_time")], ["5", "10"]);
    assert_eq!([now("arbitration_burst"), now("power_state")], ["3", "0"]);
    assert_eq!([now("write_cache"), now("apst"), now("highest_power_state")], ["1", "1", "4"]);
    for (knob, value) in [
        ("coalesce_time", "255"),
        ("arbitration_burst", "7"),
        ("power_state", "2"),
        ("write_cache", "0"),
        ("apst", "0"),
        ("apst", "1"),
    ] {
        nvme.write(knob, value).unwrap();
        assert_eq!(now(knob), value, "{knob}");
    }
    let features = controller.features.lock().unwrap();
    assert_eq!((features[0x08], features[0x01]), (0xff05, 0x0102_0307));
    drop(features);
    for (knob, value) in [("coalesce_time", "256"), ("arbitration_burst", "8"), ("apst", "on")] {
        let error = nvme.write(knob, value).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{knob}={value}");
    }
}

#[test]
fn a_controller_without_a_cache_has_no_write_cache_to_set() {
    let nvme = nvme::Nvme::over(Controller { cache: false, ..Controller::new() });
    assert_eq!(nvme.read("write_cache").unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(nvme.write("write_cache", "0").unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn only_names_below_a_node_are_commands() {
    let split = |path: &'static str| split(Path::new(path));
    assert_eq!(split("/dev/sda/ata/apm"), Some((Kind::Command, Path::new("/dev/sda/ata"), "apm")));
    assert_eq!(split("/dev/cciss/c0d0/block/read_only").unwrap().2, "read_only");
    for path in ["/dev/sda", "/dev/ata/x", "/sys/block/sda/block/x", "/dev/disk/by-id/x", "/"] {
        assert_eq!(split(path), None, "{path}");
    }
}

#[test]
fn a_node_that_takes_no_such_command_has_no_such_setting() {
    let all = ["/dev/null/ata/apm", "/dev/null/nvme/apst", "/dev/null/block/read_only"];
    for path in all.map(Path::new) {
        let (kind, folder, knob) = split(path).unwrap();
        let error = open(kind, folder).and_then(|o| o.read(knob)).unwrap_err();
        let known = [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied];
        assert!(known.contains(&error.kind()), "{}: {error}", path.display());
    }
    let gone = Path::new("/dev/no-such-disk/ata");
    assert_eq!(open(Kind::Command, gone).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn every_cpu_gets_the_one_value_and_those_that_differed_get_their_own_back() {
    let dir = tempfile::tempdir().unwrap();
    let at = |cpu: u32| dir.path().join(format!("cpu{cpu}/cpufreq/scaling_governor"));
    let values = ["powersave", "performance", "powersave"];
    // CPU 3 is offline and has none.
    for (cpu, value) in [0, 2, 10].into_iter().zip(values) {
        std::fs::create_dir_all(at(cpu).parent().unwrap()).unwrap();
        std::fs::write(at(cpu), format!("{value}\n")).unwrap();
    }
    std::fs::create_dir_all(dir.path().join("cpu3")).unwrap();
    std::fs::create_dir_all(dir.path().join("cpufreq")).unwrap();
    let every = dir.path().join("cpu*/cpufreq/scaling_governor");
    let view = Commanded::new(Live::system());
    let mut writer = Sysfs::new();
    writer.hold(&every);
    let was = writer.read(&every).unwrap();
    assert_eq!(was, values.join(" "));
    assert_eq!(view.text(&every).unwrap(), was);
    // Ordinary files keep the end of what is longer.
    let empty = || [0, 2, 10].map(|cpu| std::fs::write(at(cpu), "").unwrap());
    empty();
    writer.write(&every, "schedutil").unwrap();
    assert_eq!(writer.read(&every).unwrap(), "schedutil");
    assert_eq!(view.text(&every).unwrap(), "schedutil");
    empty();
    writer.write(&every, &was).unwrap();
    assert_eq!(std::fs::read_to_string(at(2)).unwrap(), "performance\n");
    assert_eq!(writer.read(&every).unwrap(), was);
    let error = writer.write(&every, "powersave performance").unwrap_err();
    assert_eq!(error.to_string(), "2 values for 3 CPUs");
    assert!(view.exists(&every) && !view.exists(&every.with_file_name("scaling_driver")));
}
