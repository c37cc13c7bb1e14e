//! From the kernel's names to the disk they meant at that moment.
//!
//! libata says `ata1.00` and never the disk. The number counts ports since boot and grows with
//! every rebind, so the same port is `ata1` before and `ata7` after; a SCSI host number is used
//! again. So the log's own lines from when a device was found come first, in their order, and the
//! device tree of now only for what those lines do not say. What neither says is not guessed.

use super::incident::MappedBy;
use super::learn::port_of;
use super::states::journal;
use seekwell_sys::View;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;

/// The most names of a kind that are kept, against a made-up log.
const MOST: usize = 4096;

/// What the log has shown so far of who is who.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// `ata1` to its driver and to the disks on it by device number.
    ports: HashMap<String, Port>,
    /// SCSI hosts of ATA drivers that wait for the line of their port.
    waiting: VecDeque<u32>,
    /// Ports that got a host since the last line of a host.
    paired: Vec<String>,
    /// Ports whose host turned out to be a guess.
    distrusted: Vec<String>,
    hosts: HashMap<u32, Host>,
    /// `0:0:0:0` to `sda`.
    addresses: HashMap<String, String>,
    /// `0000:01:00.0` to `nvme0`.
    functions: HashMap<String, String>,
    /// `nvme0` to the namespaces seen of it.
    namespaces: HashMap<String, BTreeSet<String>>,
    /// `mmc0` to `mmcblk0`.
    cards: HashMap<String, String>,
    /// A USB device found and not yet taken by a host, with the time.
    usb_found: Vec<(String, Option<i64>)>,
    /// Tied by an I/O error inside error handling.
    together: HashMap<String, String>,
    present: Present,
}

#[derive(Debug, Default)]
struct Port {
    driver: Option<String>,
    disks: Vec<(u32, String)>,
}

#[derive(Debug, Default)]
struct Host {
    driver: String,
    port: Option<String>,
    usb: Option<String>,
}

impl Names {
    /// With the device tree of the machine the log is of, or none.
    pub(crate) fn new(view: Option<&dyn View>) -> Self {
        Self { present: view.map(Present::read).unwrap_or_default(), ..Self::default() }
    }

    /// Forgets what the log showed: a new boot.
    pub(crate) fn reboot(&mut self) {
        let present = std::mem::take(&mut self.present);
        *self = Self { present, ..Self::default() };
    }

    /// `scsi host0: ahci`.
    pub(crate) fn host(&mut self, host: &str, driver: &str, now: Option<i64>) {
        let Some(number) = host.strip_prefix("host").and_then(|n| n.parse::<u32>().ok()) else {
            return;
        };
        if self.hosts.len() >= MOST {
            return;
        }
        let mut words = driver.split_whitespace();
        let name = words.next().unwrap_or_default();
        let usb = match name {
            "usb-storage" => words.next().map(|w| interface_of(w).to_owned()),
            "uas" => self.lone_usb(now),
            _ => None,
        };
        let is_ata = name.starts_with("ahci")
            || name.starts_with("ata_")
            || name.starts_with("sata_")
            || name.starts_with("pata_");
        if is_ata {
            if !self.paired.is_empty() && !self.waiting.is_empty() {
                self.distrust();
            }
            self.paired.clear();
            if self.waiting.len() < MOST {
                self.waiting.push_back(number);
            }
        }
        // The device was there before, under another host that is gone.
        self.hosts.retain(|_, host| usb.is_none() || host.usb != usb);
        let prefix = format!("{number}:");
        self.addresses.retain(|address, _| !address.starts_with(&prefix));
        self.hosts.insert(number, Host { driver: name.to_owned(), port: None, usb });
    }

    /// `usb 2-1: New USB device found`.
    pub(crate) fn usb(&mut self, name: &str, now: Option<i64>) {
        if self.usb_found.len() < MOST {
            self.usb_found.push((name.to_owned(), now));
        }
    }

    /// The one USB device found in the last seconds; several are not guessed among.
    fn lone_usb(&mut self, now: Option<i64>) -> Option<String> {
        let now = now?;
        self.usb_found.retain(|(_, at)| at.is_some_and(|at| now.abs_diff(at) <= 5_000_000));
        match self.usb_found.len() {
            1 => self.usb_found.pop().map(|(name, _)| name),
            _ => None,
        }
    }

    /// `ata1: SATA max …`, or that it is a dummy. Ports are printed in the order of their hosts,
    /// after the last of these.
    pub(crate) fn port(&mut self, name: &str) -> (Option<u32>, Option<String>) {
        let host = self.waiting.pop_front();
        if host.is_none() {
            self.distrust();
        } else if self.paired.len() < MOST {
            self.paired.push(name.to_owned());
        }
        let driver = host.and_then(|h| {
            let host = self.hosts.get_mut(&h)?;
            host.port = Some(name.to_owned());
            Some(host.driver.clone())
        });
        if self.ports.len() < MOST {
            let disks = Vec::new();
            self.ports.insert(name.to_owned(), Port { driver: driver.clone(), disks });
        }
        (host, driver)
    }

    /// Hosts and ports did not come in equal numbers: lines are missing, and which host is whose
    /// is not known for this controller.
    fn distrust(&mut self) {
        self.waiting.clear();
        for host in self.hosts.values_mut() {
            if host.port.as_ref().is_some_and(|p| self.paired.contains(p)) {
                host.port = None;
            }
        }
        self.distrusted.append(&mut self.paired);
    }

    /// The ports whose host is not known after all, once.
    pub(crate) fn distrusted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.distrusted)
    }

    pub(crate) fn driver(&self, ata: &str) -> Option<&str> {
        self.ports.get(port_of(ata))?.driver.as_deref()
    }

    /// `sd 0:0:0:0: [sda]`. Gives the ATA device it is, when that is known.
    pub(crate) fn disk(&mut self, address: &str, disk: &str) -> Option<String> {
        if self.addresses.len() >= MOST {
            return None;
        }
        self.addresses.insert(address.to_owned(), disk.to_owned());
        let mut parts = address.split(':').map(str::parse::<u32>);
        let host = parts.next()?.ok()?;
        let (channel, id) = (parts.next()?.ok()?, parts.next()?.ok()?);
        let name = self.hosts.get(&host)?.port.clone()?;
        // Behind a port multiplier the link is the channel, else the device is the target.
        let device = if id == 0 { channel } else { id };
        let port = self.ports.get_mut(&name)?;
        port.disks.retain(|(d, _)| *d != device);
        port.disks.push((device, disk.to_owned()));
        Some(format!("{name}.{device:02}"))
    }

    /// `nvme nvme0: pci function 0000:01:00.0`.
    pub(crate) fn function(&mut self, controller: &str, address: &str) {
        if self.functions.len() < MOST {
            self.functions.insert(address.to_owned(), controller.to_owned());
        }
    }

    /// A disk was named; a namespace names its controller.
    pub(crate) fn named(&mut self, disk: &str) {
        if let Some(controller) = controller_of(disk)
            && self.namespaces.len() < MOST
        {
            let of = self.namespaces.entry(controller.to_owned()).or_default();
            if of.len() < MOST {
                of.insert(disk.to_owned());
            }
        }
    }

    /// `mmcblk0: mmc0:4567 …`.
    pub(crate) fn card(&mut self, host: &str, disk: &str) {
        if self.cards.len() < MOST {
            self.cards.insert(host.to_owned(), disk.to_owned());
        }
    }

    /// Ties a device to the disk whose I/O failed while it was in error handling, unless the log
    /// ties either elsewhere.
    pub(crate) fn tie(&mut self, subject: &str, disk: &str) -> bool {
        let taken = self.ports.values().any(|p| p.disks.iter().any(|(_, d)| d == disk));
        if taken || self.together.len() >= MOST {
            return false;
        }
        self.together.insert(subject.to_owned(), disk.to_owned());
        true
    }

    /// The disk a name means now, at this place of the log.
    pub(crate) fn disk_of(&self, subject: &str) -> (Option<String>, MappedBy) {
        if let Some(disk) = block_device(subject) {
            return (Some(disk), MappedBy::Named);
        }
        if let Some(disk) = self.probed(subject) {
            return (Some(disk), MappedBy::Probe);
        }
        if let Some(disk) = self.together.get(subject) {
            return (Some(disk.clone()), MappedBy::Together);
        }
        match self.present.disk_of(subject) {
            Some(disk) => (Some(disk), MappedBy::Present),
            None => (None, MappedBy::Unknown),
        }
    }

    fn probed(&self, subject: &str) -> Option<String> {
        if subject.starts_with("ata") {
            let port = self.ports.get(port_of(subject))?;
            return match subject.split_once('.') {
                Some((_, device)) => {
                    let device: u32 = device.parse().ok()?;
                    let found = port.disks.iter().find(|(d, _)| *d == device)?;
                    Some(found.1.clone())
                }
                None => only(port.disks.iter().map(|(_, d)| d)),
            };
        }
        if let Some(disk) = self.addresses.get(subject) {
            return Some(disk.clone());
        }
        if let Some(disk) = self.cards.get(subject) {
            return Some(disk.clone());
        }
        if let Some(of) = self.namespaces.get(subject) {
            return only(of.iter());
        }
        if let Some(controller) = self.functions.get(subject) {
            return only(self.namespaces.get(controller)?.iter());
        }
        let usb = interface_of(subject);
        let on_usb = |h: &&u32| self.hosts[h].usb.as_deref() == Some(usb);
        let host = self.hosts.keys().find(on_usb)?;
        let prefix = format!("{host}:");
        only(self.addresses.iter().filter(|(a, _)| a.starts_with(&prefix)).map(|(_, d)| d))
    }
}

fn only<'a>(mut items: impl Iterator<Item = &'a String>) -> Option<String> {
    let first = items.next()?;
    items.next().is_none().then(|| first.clone())
}

/// `2-1` of `2-1:1.0`.
fn interface_of(usb: &str) -> &str {
    usb.split(':').next().unwrap_or(usb)
}

/// `nvme0` of `nvme0n1`.
pub(crate) fn controller_of(disk: &str) -> Option<&str> {
    let rest = disk.strip_prefix("nvme")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_namespace = digits > 0 && rest[digits..].starts_with('n');
    is_namespace.then(|| &disk[..4 + digits])
}

/// The whole disk that a block device's name means; `None` for what is no such name.
pub(crate) fn block_device(name: &str) -> Option<String> {
    let name = name.strip_prefix("/dev/").unwrap_or(name);
    let name = journal(name);
    let is = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
    };
    let digits_last = name.ends_with(|c: char| c.is_ascii_digit());
    if controller_of(name).is_some() || is("mmcblk") || is("md") || is("loop") || is("nbd") {
        let behind_digit = |p: &usize| name[..*p].ends_with(|c: char| c.is_ascii_digit());
        let cut = name.rfind('p').filter(|p| digits_last && behind_digit(p));
        let tail_is_number = cut.is_some_and(|p| name[p + 1..].bytes().all(|b| b.is_ascii_digit()));
        return Some(name[..cut.filter(|_| tail_is_number).unwrap_or(name.len())].to_owned());
    }
    if is("dm-") || is("zram") || is("ram") || is("sr") || is("bcache") {
        return Some(name.to_owned());
    }
    let letters = ["sd", "vd", "hd", "xvd", "ubd"].iter().find_map(|p| name.strip_prefix(p))?;
    let count = letters.bytes().take_while(u8::is_ascii_lowercase).count();
    let partition = &letters[count..];
    let ok = count > 0 && count <= 4 && partition.bytes().all(|b| b.is_ascii_digit());
    ok.then(|| name[..name.len() - partition.len()].to_owned())
}

/// The disks of now with the folders on the way to each.
#[derive(Debug, Default)]
struct Present {
    disks: Vec<(String, Vec<String>)>,
}

impl Present {
    fn read(view: &dyn View) -> Self {
        let mut disks = Vec::new();
        for folder in ["/sys/block", "/sys/class/block"] {
            for name in view.list(Path::new(folder)).unwrap_or_default() {
                let Ok(path) = view.canonical(&Path::new(folder).join(&name)) else { continue };
                if disks.iter().any(|(n, _)| *n == name) || view.exists(&path.join("partition")) {
                    continue;
                }
                let mut parts: Vec<String> =
                    path.iter().map(|p| p.to_string_lossy().into_owned()).collect();
                // A copy without links. Below a controller, not a subsystem, names agree.
                if path.parent() == Some(Path::new(folder))
                    && view.exists(&path.join("device/cntlid"))
                {
                    let controller = controller_of(&name).map(str::to_owned);
                    parts.splice(parts.len() - 1..parts.len() - 1, controller);
                }
                disks.push((name, parts));
            }
        }
        Self { disks }
    }

    fn disk_of(&self, subject: &str) -> Option<String> {
        let (part, device) = match subject.split_once('.') {
            Some((port, device)) if subject.starts_with("ata") => (port, device.parse().ok()),
            _ if subject.contains('-') => (interface_of(subject), None),
            _ => (subject, None::<u32>),
        };
        let on = |parts: &[String]| {
            let way = parts.split_last().map_or(parts, |(_, way)| way);
            way.iter().any(|p| p == part) && device.is_none_or(|d| device_number(way) == Some(d))
        };
        let found = self.disks.iter().filter(|(_, parts)| on(parts)).map(|(name, _)| name);
        let mut heads: Vec<String> = found.map(|name| head_of(name)).collect();
        heads.sort_unstable();
        heads.dedup();
        match heads.len() {
            1 => heads.pop(),
            _ => None,
        }
    }
}

/// The ATA device number in a SCSI address on the way: the target, or the channel.
fn device_number(way: &[String]) -> Option<u32> {
    let address = way.iter().find(|p| p.split(':').count() == 4 && !p.contains('.'))?;
    let mut parts = address.split(':').skip(1).map(str::parse::<u32>);
    let (channel, id) = (parts.next()?.ok()?, parts.next()?.ok()?);
    Some(if id == 0 { channel } else { id })
}

/// `nvme0n1` of the hidden path `nvme0c1n1`.
fn head_of(name: &str) -> String {
    let Some(rest) = name.strip_prefix("nvme") else { return name.to_owned() };
    match (rest.find('c'), rest.rfind('n')) {
        (Some(c), Some(n)) if c < n => format!("nvme{}{}", &rest[..c], &rest[n..]),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_mean_their_disk_and_other_words_mean_none() {
        for (name, disk) in [
            ("sda", Some("sda")),
            ("sdaa12", Some("sdaa")),
            ("sda1-8", Some("sda")),
            ("/dev/sdb", Some("sdb")),
            ("nvme0n1p2", Some("nvme0n1")),
            ("nvme0n1", Some("nvme0n1")),
            ("mmcblk0p1", Some("mmcblk0")),
            ("mmcblk0", Some("mmcblk0")),
            ("loop0", Some("loop0")),
            ("md0p1", Some("md0")),
            ("dm-3", Some("dm-3")),
            ("dm-3-8", Some("dm-3")),
            ("vda", Some("vda")),
            ("nvme0", None),
            ("ata1", None),
            ("sd", None),
            ("mdadm", None),
            ("0:0:0:0", None),
        ] {
            assert_eq!(block_device(name).as_deref(), disk, "{name}");
        }
    }

    #[test]
    fn a_rebind_gives_new_numbers_and_the_old_ones_still_mean_the_old_disk() {
        let mut names = Names::default();
        for host in ["host0", "host1"] {
            names.host(host, "ahci", None);
        }
        assert_eq!(names.port("ata1"), (Some(0), Some("ahci".into())));
        assert_eq!(names.port("ata2").0, Some(1));
        assert_eq!(names.disk("0:0:0:0", "sda").as_deref(), Some("ata1.00"));
        assert_eq!(names.disk("1:0:0:0", "sdb").as_deref(), Some("ata2.00"));
        // The driver let go and took the controller again; the disks came in the other order.
        for host in ["host0", "host1"] {
            names.host(host, "ahci", None);
        }
        names.port("ata3");
        names.port("ata4");
        names.disk("1:0:0:0", "sda");
        names.disk("0:0:0:0", "sdb");
        let of = |n: &str| names.disk_of(n).0;
        assert_eq!(of("ata1.00").as_deref(), Some("sda"));
        assert_eq!(of("ata2").as_deref(), Some("sdb"));
        assert_eq!(of("ata3.00").as_deref(), Some("sdb"));
        assert_eq!(of("ata4").as_deref(), Some("sda"));
        assert_eq!(names.disk_of("ata5"), (None, MappedBy::Unknown));
        assert_eq!(of("0:0:0:0").as_deref(), Some("sdb"));
    }

    #[test]
    fn a_port_with_two_disks_means_neither() {
        let mut names = Names::default();
        names.host("host0", "ata_piix", None);
        names.port("ata1");
        names.disk("0:0:0:0", "sda");
        names.disk("0:0:1:0", "sdb");
        assert_eq!(names.disk_of("ata1").0, None);
        assert_eq!(names.disk_of("ata1.01").0.as_deref(), Some("sdb"));
    }

    #[test]
    fn hosts_that_are_missing_from_a_wrapped_log_tie_no_port_to_the_wrong_disk() {
        // The line of host0 is overwritten, so that host1 seems to be the host of ata1.
        let mut names = Names::default();
        names.host("host1", "ahci", None);
        names.port("ata1");
        names.port("ata2");
        assert_eq!(names.disk("1:0:0:0", "sdb"), None);
        assert_eq!(names.disk_of("ata1").0, None);
        assert_eq!(names.distrusted(), ["ata1"]);
        assert_eq!(names.driver("ata1"), Some("ahci"));
    }

    #[test]
    fn a_hidden_path_means_its_head() {
        assert_eq!(head_of("nvme0c1n1"), "nvme0n1");
        assert_eq!(head_of("nvme0n1"), "nvme0n1");
    }
}
