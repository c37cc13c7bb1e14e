//! The disks of a scenario: the image behind each, and how it is plugged in, as QEMU's arguments.

use super::relay;
use crate::serve;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A board QEMU knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// i440FX and PIIX, 1996.
    Pc,
    /// Q35 and ICH9, 2009.
    #[default]
    Q35,
    /// No PCI: virtio over MMIO.
    Microvm,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    pub on: On,
    /// Which port, target or unit of its controller [default: the next].
    pub port: Option<u32>,
    /// Name in the monitor: the drive's; the device's is `dev-NAME` [default: `disk0` and so on].
    pub name: Option<String>,
    #[serde(default = "size")]
    pub size_mib: u64,
    #[serde(default)]
    pub content: Content,
    pub serial: Option<String>,
    /// More of the device's properties, as QEMU writes them: `rotation_rate=7200`.
    pub options: Option<String>,
    /// More properties of the PCIe port above it (NVMe on q35): `x-speed=8,x-width=4`.
    pub port_options: Option<String>,
    /// More options of the drive, as QEMU writes them: `throttling.bps-read=1048576`.
    pub drive_options: Option<String>,
    pub fault: Option<Fault>,
    /// Every request takes this long, however many are under way, and the disk holds zeroes and
    /// forgets what is written: the one disk here whose speed means something.
    pub latency_us: Option<u64>,
    /// A modelled machine that ships: the disk is served by the program in real time and has its
    /// size; `size_mib` is that of its content.
    pub machine: Option<String>,
    /// More options of `seekwell machine serve`: `["--fault", "power-cut=500writes"]`.
    #[serde(default)]
    pub serve: Vec<String>,
    /// Not plugged in at boot: a step does it.
    #[serde(default)]
    pub unplugged: bool,
}

fn size() -> u64 {
    64
}

/// What a disk is plugged into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// The board's own PIIX IDE (`pc`).
    Ide,
    /// A CD drive without a disc on the same.
    IdeCd,
    /// AHCI: the board's own (`q35`), or a card (`pc`).
    Ahci,
    /// An NVMe controller of its own.
    Nvme,
    /// One NVMe namespace behind two controllers.
    NvmeShared,
    /// A zoned NVMe namespace, host-managed; `options` are the namespace's.
    NvmeZoned,
    /// Virtio block over PCI.
    VirtioBlk,
    /// Virtio block over MMIO (`microvm`).
    VirtioMmio,
    VirtioScsi,
    /// USB attached SCSI, xHCI.
    Uas,
    /// USB bulk-only, xHCI.
    UsbXhci,
    /// USB bulk-only, EHCI.
    UsbEhci,
    /// An SD card in a PCI reader.
    SdCard,
    /// An LSI MegaRAID card.
    Megasas,
    /// An LSI SAS card.
    Mptsas,
    /// A parallel SCSI card.
    Lsi,
    /// Nothing: the guest's own NBD client reaches a modelled machine at 10.0.2.100, port 10809.
    Nbd,
}

/// What is on a disk at boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    #[default]
    Blank,
    Ext4,
    /// A partition table with one partition from 1 MiB on, holding an ext4 file system.
    PartitionExt4,
    /// An ext4 file system with all that the guest runs, to which the initramfs hands over. The
    /// disk needs a serial number.
    Root,
}

/// Requests that fail, by QEMU's blkdebug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    pub fails: Fails,
    /// Only requests that touch this sector of 512 bytes.
    pub sector: Option<u64>,
    /// Only requests that touch the first block an ext4 journal logs to: mounting does not.
    #[serde(default)]
    pub journal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fails {
    Reads,
    Writes,
}

impl Fault {
    /// The configuration file of blkdebug, for this sector or all.
    pub fn config(self, sector: Option<u64>) -> String {
        let kind = match self.fails {
            Fails::Reads => "read",
            Fails::Writes => "write",
        };
        let sector = sector.map_or(String::new(), |s| format!("sector = \"{s}\"\n"));
        format!(
            "[inject-error]\nevent = \"{kind}_aio\"\niotype = \"{kind}\"\nerrno = \"5\"\n\
             {sector}once = \"off\"\n"
        )
    }
}

pub fn names(disks: &[Disk]) -> Vec<String> {
    let named = |(i, d): (usize, &Disk)| d.name.clone().unwrap_or_else(|| format!("disk{i}"));
    disks.iter().enumerate().map(named).collect()
}

/// Where a modelled disk of this name is served.
pub fn socket(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.nbd"))
}

/// QEMU's arguments for all disks, whose images (and blkdebug files) are in `dir` by name.
pub fn arguments(board: Board, disks: &[Disk], dir: &Path) -> Vec<String> {
    let mut out = Plugging { board, args: Vec::new(), made: Vec::new(), used: Vec::new() };
    for (disk, name) in disks.iter().zip(names(disks)) {
        out.drive(disk, &name, dir);
        out.plug(disk, &name, dir);
    }
    out.args
}

struct Plugging {
    board: Board,
    args: Vec<String>,
    made: Vec<&'static str>,
    used: Vec<(On, u32)>,
}

impl Plugging {
    fn device(&mut self, text: String) {
        self.args.extend(["-device".to_owned(), text]);
    }

    /// Adds a controller, once.
    fn controller(&mut self, text: &'static str) {
        if !self.made.contains(&text) {
            self.made.push(text);
            self.device(text.to_owned());
        }
    }

    fn drive(&mut self, disk: &Disk, name: &str, dir: &Path) {
        if [On::IdeCd, On::Nbd].contains(&disk.on) {
            return;
        }
        if let Some(us) = disk.latency_us {
            let bytes = disk.size_mib << 20;
            let made = format!("driver=null-co,size={bytes},latency-ns={us}000,read-zeroes=on");
            self.args.extend(["-drive".to_owned(), format!("id={name},if=none,{made}")]);
            return;
        }
        let image = dir.join(format!("{name}.img")).display().to_string();
        let file = match (&disk.machine, disk.fault) {
            (Some(_), _) => serve::uri(&socket(dir, name)),
            (_, Some(_)) => {
                format!("blkdebug:{}:{image}", dir.join(format!("{name}.cfg")).display())
            }
            (None, None) => image,
        };
        let more = disk.drive_options.as_ref().map_or(String::new(), |o| format!(",{o}"));
        let text = format!("id={name},if=none,format=raw,file={file}{more}");
        self.args.extend(["-drive".to_owned(), text]);
    }

    /// The port asked for, or the next one of its kind.
    fn port(&mut self, disk: &Disk) -> u32 {
        let kind = if disk.on == On::IdeCd { On::Ide } else { disk.on };
        let mine = self.used.iter().filter(|(on, _)| *on == kind).map(|(_, p)| p + 1);
        let port = disk.port.unwrap_or_else(|| mine.max().unwrap_or(0));
        self.used.push((kind, port));
        port
    }

    fn plug(&mut self, disk: &Disk, name: &str, dir: &Path) {
        let port = self.port(disk);
        if disk.unplugged {
            return;
        }
        let serial = disk.serial.as_ref().map_or(String::new(), |s| format!(",serial={s}"));
        let more = disk.options.as_ref().map_or(String::new(), |o| format!(",{o}"));
        let rest = format!("drive={name},id=dev-{name}{serial}{more}");
        match disk.on {
            On::Ide => self.device(format!("ide-hd,bus=ide.{},unit={},{rest}", port / 2, port % 2)),
            On::IdeCd => self.device(format!("ide-cd,bus=ide.{},unit={}", port / 2, port % 2)),
            On::Ahci if self.board == Board::Q35 => {
                self.device(format!("ide-hd,bus=ide.{port},{rest}"));
            }
            On::Ahci => {
                self.controller("ahci,id=ahci0");
                self.device(format!("ide-hd,bus=ahci0.{port},{rest}"));
            }
            On::Nvme | On::NvmeShared | On::NvmeZoned => self.nvme(disk, port, name, &rest),
            On::VirtioBlk => self.device(format!("virtio-blk-pci,{rest}")),
            On::VirtioMmio => self.device(format!("virtio-blk-device,{rest}")),
            On::VirtioScsi => self.scsi("virtio-scsi-pci,id=vscsi0", "vscsi0", port, &rest),
            On::Uas => {
                self.controller("qemu-xhci,id=xhci0");
                self.device(format!("usb-uas,id=uas{port},bus=xhci0.0"));
                self.device(format!("scsi-hd,bus=uas{port}.0,{rest}"));
            }
            On::UsbXhci => {
                self.controller("qemu-xhci,id=xhci0");
                self.device(format!("usb-storage,bus=xhci0.0,{rest}"));
            }
            On::UsbEhci => {
                self.controller("usb-ehci,id=ehci0");
                self.device(format!("usb-storage,bus=ehci0.0,{rest}"));
            }
            On::SdCard => {
                self.controller("sdhci-pci");
                self.device(format!("sd-card,drive={name}"));
            }
            On::Megasas => self.scsi("megasas-gen2,id=mega0", "mega0", port, &rest),
            On::Mptsas => {
                let card = "mptsas1068,id=sas0,sas_address=0x5000c50015ea71a0";
                self.scsi(card, "sas0", port, &rest);
            }
            On::Lsi => self.scsi("lsi53c895a,id=lsi0", "lsi0", port, &rest),
            On::Nbd => self.network(name, dir),
        }
    }

    /// A network card, on which one address is the server's socket and nothing else answers.
    fn network(&mut self, name: &str, dir: &Path) {
        let this = std::env::current_exe().unwrap_or_else(|_| "xtask".into());
        let relay = relay::command(&this, &socket(dir, name));
        let forward = format!("guestfwd=tcp:10.0.2.100:10809-cmd:{relay}");
        let netdev = format!("user,id=net-{name},restrict=on,{forward}");
        self.args.extend(["-netdev".to_owned(), netdev]);
        self.device(format!("virtio-net-pci,netdev=net-{name},romfile="));
    }

    fn scsi(&mut self, controller: &'static str, id: &str, port: u32, rest: &str) {
        self.controller(controller);
        self.device(format!("scsi-hd,bus={id}.0,scsi-id={port},{rest}"));
    }

    fn nvme(&mut self, disk: &Disk, port: u32, name: &str, rest: &str) {
        let above = disk.port_options.as_ref().map_or(String::new(), |o| format!(",{o}"));
        let bus = |this: &mut Self, n: u32| {
            if this.board != Board::Q35 {
                return String::new();
            }
            let n = n + 1;
            this.device(format!("pcie-root-port,id=rp{n},chassis={n},slot={n}{above}"));
            format!(",bus=rp{n}")
        };
        if disk.on == On::Nvme {
            let bus = bus(self, port);
            self.device(format!("nvme,{rest}{bus}"));
            return;
        }
        if disk.on == On::NvmeZoned {
            let bus = bus(self, port);
            let serial = disk.serial.as_deref().unwrap_or("LABZONED");
            self.device(format!("nvme,id=zoned{port},serial={serial}{bus}"));
            let more = disk.options.as_ref().map_or(String::new(), |o| format!(",{o}"));
            self.device(format!("nvme-ns,drive={name},bus=zoned{port},zoned=on{more}"));
            return;
        }
        self.controller("nvme-subsys,id=subsys0,nqn=lab");
        for n in [2 * port, 2 * port + 1] {
            let bus = bus(self, n);
            let serial = disk.serial.as_deref().unwrap_or("LABSHARED");
            self.device(format!("nvme,id=ctrl{n},serial={serial},subsys=subsys0{bus}"));
        }
        let bus = format!("ctrl{}", 2 * port);
        self.device(format!("nvme-ns,drive={name},bus={bus},nsid=1,shared=on"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(text: &str) -> Disk {
        toml::from_str(text).unwrap()
    }

    fn line(board: Board, disks: &[&str]) -> String {
        let disks: Vec<Disk> = disks.iter().map(|d| disk(d)).collect();
        arguments(board, &disks, Path::new("/lab")).join(" ")
    }

    #[test]
    fn two_disks_on_one_kind_of_controller_share_it_and_take_ports_in_turn() {
        let args = line(Board::Pc, &["on = \"ahci\"", "on = \"ahci\""]);
        assert_eq!(args.matches("-device ahci,id=ahci0").count(), 1, "{args}");
        assert!(args.contains("bus=ahci0.0,drive=disk0"), "{args}");
        assert!(args.contains("bus=ahci0.1,drive=disk1"), "{args}");
    }

    #[test]
    fn the_third_ide_unit_is_the_first_of_the_second_channel() {
        let args = line(Board::Pc, &["on = \"ide\"", "on = \"ide\"", "on = \"ide-cd\""]);
        assert!(args.contains("ide-hd,bus=ide.0,unit=1"), "{args}");
        assert!(args.contains("ide-cd,bus=ide.1,unit=0"), "{args}");
    }

    #[test]
    fn a_disk_to_be_plugged_in_later_has_a_drive_but_no_device() {
        let args = line(Board::Q35, &["on = \"virtio-scsi\"\nunplugged = true\nname = \"b\""]);
        assert_eq!(args, "-drive id=b,if=none,format=raw,file=/lab/b.img");
    }

    #[test]
    fn a_disk_of_a_known_latency_has_no_image() {
        let args = line(Board::Q35, &["on = \"ahci\"\nsize_mib = 1\nlatency_us = 5000"]);
        let drive = "-drive id=disk0,if=none,driver=null-co,size=1048576,latency-ns=5000000,";
        assert!(args.contains(drive), "{args}");
    }

    #[test]
    fn two_drives_share_a_throttle_by_the_options_of_both() {
        let text = "on = \"ahci\"\ndrive_options = \"throttling.group=bus\"";
        let args = line(Board::Q35, &[text, text]);
        assert_eq!(args.matches(".img,throttling.group=bus").count(), 2, "{args}");
    }

    #[test]
    fn a_zoned_namespace_has_the_options_and_its_controller_the_serial_number() {
        let text = "on = \"nvme-zoned\"\nserial = \"Z\"\noptions = \"zoned.max_open=4\"";
        let args = line(Board::Q35, &[text]);
        assert!(args.contains("nvme,id=zoned0,serial=Z,bus=rp1 "), "{args}");
        let namespace = "nvme-ns,drive=disk0,bus=zoned0,zoned=on,zoned.max_open=4";
        assert!(args.ends_with(namespace), "{args}");
    }

    #[test]
    fn a_modelled_disk_is_read_over_its_socket() {
        let args = line(Board::Pc, &["on = \"ide\"\nmachine = \"pii350-default\""]);
        assert!(args.contains("file=nbd+unix:///?socket=/lab/disk0.nbd"), "{args}");
    }

    #[test]
    fn a_disk_for_the_guest_s_own_client_is_an_address_and_no_drive() {
        let args = line(Board::Q35, &["on = \"nbd\"\nmachine = \"sata-7200\""]);
        assert!(args.contains("guestfwd=tcp:10.0.2.100:10809-cmd:"), "{args}");
        assert!(args.contains(" lab-relay /lab/disk0.nbd "), "{args}");
        assert!(!args.contains("-drive"), "{args}");
    }

    #[test]
    fn a_failing_disk_reads_through_blkdebug() {
        let text = "on = \"ahci\"\nfault = { fails = \"reads\", sector = 2048 }";
        let args = line(Board::Q35, &[text]);
        assert!(args.contains("file=blkdebug:/lab/disk0.cfg:/lab/disk0.img"), "{args}");
        let config = disk(text).fault.unwrap().config(Some(2048));
        assert!(config.contains("event = \"read_aio\"") && config.contains("sector = \"2048\""));
    }
}
