//! Pages of drives, of the device mapper and of file systems, beside the kernel's files.
//!
//! A page gets a name below the node that is asked, where no file can be, and reading that name
//! sends the command that asks for it. Every command only reads, none touches the medium, and the
//! drivers give up on each after a few seconds. What names the drive is blanked out: sysfs tells
//! it, and a snapshot has to be able to hide it.
//!
//! | name | command |
//! |---|---|
//! | `identify-CNS-NSID` | NVMe Identify |
//! | `log-LID-BYTES`, `log-LID-BYTES-UUID` | NVMe Get Log Page, of the whole controller |
//! | `log-ns-NSID-LID-BYTES` | the same of one namespace |
//! | `ata-power` | CHECK POWER MODE: the count register |
//! | `smart-data`, `smart-thresholds` | SMART READ DATA, READ THRESHOLDS |
//! | `smart-status` | SMART RETURN STATUS: the middle and the high byte of the address |
//! | `log-ext-LOG-PAGE` | READ LOG EXT |
//! | `scsi-sense` | REQUEST SENSE |
//! | `log-sense-PAGE` | LOG SENSE, current cumulative values |
//! | `ext4-groups` | block groups of a mounted ext4, and those with an uninitialised inode table |
//! | `table-MAJOR:MINOR`, `status-MAJOR:MINOR` | a mapped device, from `/dev/mapper/control` |

mod ext4;
mod mapper;

pub use ext4::{BlockGroups, ext4_groups};

use crate::probe::{CHECK_POWER_MODE, NvmeNode, Passthrough, ProbeError, Registers, SgIo};
use ext4::group_counts;
use mapper::{Ask, ask};
use seekwell_sys::nvme::AdminCommand;
use seekwell_sys::{DevId, View, ViewError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

const FOLDER: &str = "page";
/// The longest page that is asked for.
const LONGEST: usize = 4096;
const SECTOR: usize = 512;
const NAMESPACE_NAMES: Range<usize> = 104..128;

/// Where a page of a node below `/dev` is read.
pub(crate) fn page(node: &str, name: &str) -> PathBuf {
    Path::new("/dev").join(node).join(FOLDER).join(name)
}

/// Another view, and the pages of what is there now: drives, mapped devices, file systems.
#[derive(Debug, Clone)]
pub struct Pages<V> {
    files: V,
}

impl<V: View> Pages<V> {
    /// Over the running system's files.
    pub const fn new(files: V) -> Self {
        Self { files }
    }
}

impl<V: View> View for Pages<V> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ViewError> {
        match split(path) {
            Some((node, command)) => {
                command.send(node).map_err(|error| ViewError::from_io(path, &error))
            }
            None => self.files.read(path),
        }
    }

    seekwell_sys::forward_view!(files);
}

fn split(path: &Path) -> Option<(&Path, Command)> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let node = folder.parent()?;
    let below_dev = node.starts_with("/dev") && node != Path::new("/dev");
    if !below_dev || !folder.ends_with(FOLDER) {
        return None;
    }
    Some((node, Command::of(name)?))
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Identify {
        cns: u8,
        namespace: u32,
    },
    Log {
        id: u8,
        bytes: usize,
        uuid: u8,
        namespace: u32,
    },
    AtaPower,
    /// A subcommand of SMART that gives a sector.
    SmartSector(u8),
    SmartStatus,
    LogExt {
        log: u8,
        page: u8,
    },
    RequestSense,
    LogSense(u8),
    /// What the device mapper knows of a device.
    Mapped(Ask, DevId),
    Ext4Groups,
}

impl Command {
    fn of(name: &str) -> Option<Self> {
        let hex = |text: &str| u8::from_str_radix(text, 16).ok();
        let fits = |n: &usize| (4..=LONGEST).contains(n) && n.is_multiple_of(4);
        let length = |text: &str| text.parse().ok().filter(fits);
        let parts: Vec<&str> = name.split('-').collect();
        Some(match parts[..] {
            ["identify", cns, nsid] => {
                Self::Identify { cns: hex(cns)?, namespace: nsid.parse().ok()? }
            }
            ["log", "ext", log, page] => Self::LogExt { log: hex(log)?, page: hex(page)? },
            ["log", "sense", page] => Self::LogSense(hex(page).filter(|p| *p < 0x40)?),
            ["log", "ns", nsid, id, bytes] => {
                let namespace = nsid.parse().ok()?;
                Self::Log { id: hex(id)?, bytes: length(bytes)?, uuid: 0, namespace }
            }
            ["log", id, bytes, ref uuid @ ..] if uuid.len() < 2 => {
                let uuid = uuid.first().map_or(Some(0), |u| u.parse().ok())?;
                Self::Log { id: hex(id)?, bytes: length(bytes)?, uuid, namespace: u32::MAX }
            }
            ["ata", "power"] => Self::AtaPower,
            ["smart", "data"] => Self::SmartSector(0xd0),
            ["smart", "thresholds"] => Self::SmartSector(0xd1),
            ["smart", "status"] => Self::SmartStatus,
            ["scsi", "sense"] => Self::RequestSense,
            ["ext4", "groups"] => Self::Ext4Groups,
            ["table", dev] => Self::Mapped(Ask::Table, dev.parse().ok()?),
            ["status", dev] => Self::Mapped(Ask::Status, dev.parse().ok()?),
            _ => return None,
        })
    }

    fn send(self, node: &Path) -> io::Result<Vec<u8>> {
        match self {
            Self::Identify { .. } | Self::Log { .. } => self.admin(&NvmeNode::open(node)?),
            Self::Mapped(what, dev) => ask(node, dev, what),
            Self::Ext4Groups => group_counts(node),
            _ => {
                let path = node.to_str().ok_or(io::ErrorKind::InvalidInput)?;
                self.pass(&mut SgIo::open(path).map_err(of_probe)?)
            }
        }
    }

    fn admin(self, controller: &NvmeNode) -> io::Result<Vec<u8>> {
        let (command, bytes) = self.nvme();
        let mut data = vec![0; bytes];
        controller.issue(command, &mut data)?;
        for name in self.names() {
            data[name.clone()].fill(0);
        }
        Ok(data)
    }

    fn nvme(self) -> (AdminCommand, usize) {
        match self {
            Self::Log { id, bytes, uuid, namespace } => {
                let words = (bytes / 4 - 1) as u32;
                let command = AdminCommand {
                    opcode: 0x02,
                    nsid: namespace,
                    cdw10: words << 16 | u32::from(id),
                    cdw14: u32::from(uuid & 0x7f),
                    ..AdminCommand::default()
                };
                (command, bytes)
            }
            Self::Identify { cns, namespace } => {
                let command = AdminCommand {
                    opcode: 0x06,
                    nsid: namespace,
                    cdw10: u32::from(cns),
                    ..AdminCommand::default()
                };
                (command, LONGEST)
            }
            _ => (AdminCommand::default(), 0),
        }
    }

    /// Where identify data name the drive: serial number, FRU and subsystem of a controller; NGUID
    /// and EUI-64 of a namespace.
    const fn names(self) -> &'static [Range<usize>] {
        match self {
            Self::Identify { cns: 0, .. } => &[NAMESPACE_NAMES],
            Self::Identify { cns: 1, .. } => &[4..24, 112..128, 768..1024],
            _ => &[],
        }
    }

    fn pass(self, disk: &mut dyn Passthrough) -> io::Result<Vec<u8>> {
        let (cdb, bytes) = self.cdb();
        let mut data = vec![0; bytes];
        let reply = disk.send(cdb, &mut data).map_err(of_probe)?;
        let registers = || Registers::of(&reply.sense).ok_or(io::ErrorKind::NotFound);
        match self {
            Self::AtaPower => return Ok(vec![registers()?.count]),
            Self::SmartStatus => {
                return registers().map(|r| vec![r.middle, r.high]).map_err(Into::into);
            }
            _ => {}
        }
        match (reply.host, reply.status) {
            (0, 0) => Ok(data),
            // Not known, refused, or aborted by the drive: it does not have that page.
            (0, 2) if matches!(reply.codes()[0], 0x05 | 0x0b) => {
                Err(io::ErrorKind::NotFound.into())
            }
            // DID_TIME_OUT of scsi/scsi_status.h.
            (3, _) => Err(io::ErrorKind::TimedOut.into()),
            _ => Err(io::Error::other("the command failed")),
        }
    }

    /// The command, and how much it reads.
    fn cdb(self) -> ([u8; 16], usize) {
        const PIO_IN: u8 = 4 << 1;
        const NON_DATA: u8 = 3 << 1;
        const FROM_DEVICE: u8 = 0x0e;
        const CHECK_CONDITION: u8 = 0x20;
        let mut cdb = [0; 16];
        // SMART wants this in the middle and the high byte of the address.
        let smart = |cdb: &mut [u8; 16], subcommand| {
            (cdb[0], cdb[4], cdb[10], cdb[12], cdb[14]) = (0x85, subcommand, 0x4f, 0xc2, 0xb0);
        };
        match self {
            Self::Identify { .. } | Self::Log { .. } | Self::Mapped(..) | Self::Ext4Groups => {
                (cdb, 0)
            }
            Self::AtaPower => (CHECK_POWER_MODE, 0),
            Self::SmartSector(subcommand) => {
                smart(&mut cdb, subcommand);
                (cdb[1], cdb[2], cdb[6]) = (PIO_IN, FROM_DEVICE, 1);
                (cdb, SECTOR)
            }
            Self::SmartStatus => {
                smart(&mut cdb, 0xda);
                (cdb[1], cdb[2]) = (NON_DATA, CHECK_CONDITION);
                (cdb, 0)
            }
            Self::LogExt { log, page } => {
                (cdb[0], cdb[1], cdb[2]) = (0x85, PIO_IN | 1, FROM_DEVICE);
                (cdb[6], cdb[8], cdb[10], cdb[14]) = (1, log, page, 0x2f);
                (cdb, SECTOR)
            }
            Self::RequestSense => {
                let bytes = 96;
                (cdb[0], cdb[4]) = (0x03, bytes);
                (cdb, usize::from(bytes))
            }
            Self::LogSense(page) => {
                let [high, low] = (LONGEST as u16).to_be_bytes();
                (cdb[0], cdb[2], cdb[7], cdb[8]) = (0x4d, 1 << 6 | page, high, low);
                (cdb, LONGEST)
            }
        }
    }
}

fn of_probe(error: ProbeError) -> io::Error {
    match error {
        ProbeError::Denied => io::ErrorKind::PermissionDenied.into(),
        ProbeError::Open { errno, .. } => io::Error::from_raw_os_error(errno),
        ProbeError::NotScsi { .. } => io::ErrorKind::NotFound.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Reply;
    use seekwell_sys::fake::Fake;

    #[test]
    fn names_stand_for_commands_and_everything_else_is_a_file() {
        let of = |path: &str| split(Path::new(path)).map(|(_, command)| command);
        let log = Command::Log { id: 0xc0, bytes: 512, uuid: 2, namespace: u32::MAX };
        assert_eq!(of("/dev/nvme0/page/log-c0-512-2"), Some(log));
        let log = Command::Log { id: 2, bytes: 512, uuid: 0, namespace: u32::MAX };
        assert_eq!(of("/dev/nvme0/page/log-02-512"), Some(log));
        assert_eq!(of("/dev/sda/page/log-ext-04-01"), Some(Command::LogExt { log: 4, page: 1 }));
        assert_eq!(of("/dev/sda/page/log-sense-2f"), Some(Command::LogSense(0x2f)));
        let table = Command::Mapped(Ask::Table, DevId { major: 253, minor: 1 });
        assert_eq!(of("/dev/mapper/control/page/table-253:1"), Some(table));
        for none in [
            "/dev/page/ata-power",
            "/sys/sda/page/ata-power",
            "/dev/sda/ata/apm",
            "/dev/sda/page/log-02-5",
            "/dev/sda/page/log-02-999999",
            "/dev/sda/page/log-zz-512",
            "/dev/sda/page/smart-offline",
            "/dev/sda/page/log-sense-4d",
            "/dev/mapper/control/page/table-x",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        let view = Pages::new(Fake::new().file("/sys/x", "7"));
        assert_eq!(view.number(Path::new("/sys/x")), Ok(7));
        let absent = view.read(Path::new("/dev/no-such-drive/page/ata-power"));
        assert!(matches!(absent, Err(ViewError::Absent { .. })), "{absent:?}");
    }

    /// Opcodes and, for NVMe and SMART, subcommands that change nothing.
    #[test]
    fn every_command_only_reads() {
        let names = [
            "ata-power",
            "smart-data",
            "smart-thresholds",
            "smart-status",
            "log-ext-04-01",
            "scsi-sense",
            "log-sense-0d",
        ];
        for name in names {
            let (cdb, bytes) = Command::of(name).unwrap().cdb();
            let ata = [(0xe5, 0), (0xb0, 0xd0), (0xb0, 0xd1), (0xb0, 0xda), (0x2f, 0)];
            match cdb[0] {
                0x85 => assert!(ata.contains(&(cdb[14], cdb[4])), "{name}: {cdb:02x?}"),
                opcode => assert!([0x03, 0x4d].contains(&opcode), "{name}"),
            }
            assert!(bytes <= LONGEST);
        }
        for name in ["identify-01-0", "log-02-512"] {
            let (command, _) = Command::of(name).unwrap().nvme();
            assert!([0x02, 0x06].contains(&command.opcode), "{name}");
        }
    }

    struct Answers(Reply);

    impl Passthrough for Answers {
        fn send(&mut self, _: [u8; 16], _: &mut [u8]) -> Result<Reply, ProbeError> {
            Ok(self.0.clone())
        }
    }

    #[test]
    fn a_refused_page_is_not_there_and_one_that_takes_too_long_timed_out() {
        let ask = |status, host, sense: &[u8]| {
            let reply = Reply { status, host, sense: sense.to_vec() };
            Command::LogSense(2).pass(&mut Answers(reply)).map_err(|error| error.kind())
        };
        assert!(ask(0, 0, &[]).is_ok());
        assert_eq!(ask(2, 0, &[0x72, 5, 0x20, 0]), Err(io::ErrorKind::NotFound));
        assert_eq!(ask(2, 0, &[0x72, 3, 0x11, 0]), Err(io::ErrorKind::Other));
        assert_eq!(ask(0, 3, &[]), Err(io::ErrorKind::TimedOut));
    }

    #[test]
    fn the_status_of_smart_comes_back_in_registers() {
        let mut sense = vec![0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12];
        sense.extend([0, 0, 0, 0xff, 0, 0, 0, 0xf4, 0, 0x2c, 0, 0x50]);
        let reply = Reply { status: 2, host: 0, sense };
        let page = Command::SmartStatus.pass(&mut Answers(reply.clone())).unwrap();
        assert_eq!(page, [0xf4, 0x2c]);
        assert_eq!(Command::AtaPower.pass(&mut Answers(reply)).unwrap(), [0xff]);
        assert!(Command::SmartStatus.pass(&mut Answers(Reply::default())).is_err());
    }
}
