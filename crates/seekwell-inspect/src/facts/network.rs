//! The network path to the server that holds the data: NFS, SMB, NVMe over fabrics, iSCSI.
//!
//! The interface is that of the route the kernel would choose: the longest prefix, then the lowest
//! metric. Sources: Documentation/networking/proc_net_tcp.rst and `fib_route_seq_show` in
//! net/ipv4/fib_trie.c; `rt6_print` in net/ipv6/route.c;
//! Documentation/ABI/testing/sysfs-class-net.

use crate::inspection::Device;
use crate::model::{Fact, Filesystem};
use crate::reader::{Reader, show};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// The network path to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPath {
    /// Its address.
    pub server: String,
    /// The outgoing interface: `eth0`.
    pub interface: String,
    /// The speed of the interface in Mbit/s; `None` if it reports none, like most virtual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub megabits_per_s: Option<u64>,
}

impl NetworkPath {
    /// The speed for display: `10 Gbit/s`.
    pub fn rate(&self) -> Option<String> {
        Some(match self.megabits_per_s? {
            mbps if mbps < 1000 => format!("{mbps} Mbit/s"),
            mbps => format!("{} Gbit/s", mbps as f64 / 1e3),
        })
    }
}

/// The path to the server of a network file system, or of a network disk.
pub(crate) fn path(
    r: &Reader<'_>,
    filesystem: Option<&Filesystem>,
    disk: Option<&Device>,
) -> Option<Fact<NetworkPath>> {
    let server = match (filesystem, disk) {
        (Some(fs), None) => of_filesystem(fs),
        (_, Some(disk)) => of_fabrics(r, disk).or_else(|| of_iscsi(r, disk)),
        (None, None) => None,
    }?;
    let interface = route(r, server).filter(|name| name != "lo")?;
    let speed = Path::new("/sys/class/net").join(&interface).join("speed");
    // -1 if there is no link.
    let megabits_per_s = r.parsed::<u64>(&speed).map(|f| f.value).filter(|mbps| *mbps > 0);
    let server = server.to_string();
    Some(Fact::new(NetworkPath { server, interface, megabits_per_s }, show(&speed)))
}

fn of_filesystem(fs: &Filesystem) -> Option<IpAddr> {
    let is_remote = ["nfs", "nfs4", "cifs", "smb3"].contains(&fs.fstype.value.as_str());
    let address = fs.options.value.iter().find_map(|o| o.strip_prefix("addr="));
    address.filter(|_| is_remote)?.parse().ok()
}

/// `traddr=10.0.0.1,trsvcid=4420`.
fn of_fabrics(r: &Reader<'_>, disk: &Device) -> Option<IpAddr> {
    let nvme = disk.detail.nvme.as_ref()?;
    let address = r.hint(&Path::new("/sys/class/nvme").join(&nvme.controller).join("address"))?;
    address.split(',').find_map(|part| part.strip_prefix("traddr="))?.parse().ok()
}

fn of_iscsi(r: &Reader<'_>, disk: &Device) -> Option<IpAddr> {
    let dir = r.view.canonical(&Path::new("/sys/block").join(&disk.name)).ok()?;
    let names = dir.iter().filter_map(|name| name.to_str());
    let session = names
        .filter_map(|name| name.strip_prefix("session"))
        .find(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))?;
    let connection = format!("/sys/class/iscsi_connection/connection{session}:0/address");
    r.hint(Path::new(&connection))?.parse().ok()
}

/// The interface of the best route to an address; `None` if there is no route, or if the address
/// belongs to this machine.
fn route(r: &Reader<'_>, to: IpAddr) -> Option<String> {
    match to {
        IpAddr::V4(to) => {
            let table = r.view.text(Path::new("/proc/net/route")).ok()?;
            let own = r.view.text(Path::new("/proc/net/fib_trie")).unwrap_or_default();
            (!to.is_loopback() && !is_own(&own, to)).then(|| best(&table, |l| route4(l, to)))?
        }
        IpAddr::V6(to) => {
            let table = r.view.text(Path::new("/proc/net/ipv6_route")).ok()?;
            best(&table, |l| route6(l, to))
        }
    }
}

/// The prefix length, metric and interface of a matching route.
type Route<'l> = (u32, u32, &'l str);

fn best<'l>(table: &'l str, fits: impl Fn(&'l str) -> Option<Route<'l>>) -> Option<String> {
    let routes = table.lines().filter_map(fits);
    let best = routes.max_by_key(|(prefix, metric, _)| (*prefix, std::cmp::Reverse(*metric)))?;
    Some(best.2.to_owned())
}

/// The route is up.
const UP: u32 = 1;
/// The route rejects packets.
const REJECT: u32 = 0x200;

fn usable(flags: u32) -> bool {
    flags & UP != 0 && flags & REJECT == 0
}

/// `eth0 0000A8C0 00000000 0001 0 0 100 00FFFFFF …`: hexadecimal, addresses in network byte
/// order.
fn route4(line: &str, to: Ipv4Addr) -> Option<Route<'_>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [name, destination, _, flags, _, _, metric, mask, ..] = fields[..] else { return None };
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let (destination, mask) = (hex(destination)?, hex(mask)?);
    let here = u32::from_ne_bytes(to.octets()) & mask == destination;
    (here && usable(hex(flags)?)).then_some((mask.count_ones(), metric.parse().ok()?, name))
}

/// `fd00… 40 0000… 00 0000… 00000100 00000001 00000000 00000001 eth0`.
fn route6(line: &str, to: Ipv6Addr) -> Option<Route<'_>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [destination, prefix, _, _, _, metric, _, _, flags, name] = fields[..] else { return None };
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let prefix = hex(prefix).filter(|bits| *bits <= 128)?;
    let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    let here = to.to_bits() & mask == u128::from_str_radix(destination, 16).ok()?;
    (here && usable(hex(flags)?)).then_some((prefix, hex(metric)?, name))
}

/// Whether an address is one of this machine's: `|-- 10.0.0.5` above `/32 host LOCAL`.
fn is_own(trie: &str, address: Ipv4Addr) -> bool {
    let leaf = format!("|-- {address}");
    let mut lines = trie.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line == leaf && lines.next().is_some_and(|below| below.ends_with("host LOCAL")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    const ROUTES: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n\
        eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
        eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n\
        ib0\t0000A8C0\t00000000\t0001\t0\t0\t50\t00FFFFFF\t0\t0\t0\n\
        down0\t0200A8C0\t00000000\t0000\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n";
    const ROUTES6: &str = "\
        fd000000000000000000000000000000 40 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000100 00000001 00000000 00000001 eth1\n\
        fd000000000000000000000000000005 80 00000000000000000000000000000000 00 \
        00000000000000000000000000000000 00000000 00000001 00000000 80200001 lo\n";

    fn host() -> Fake {
        Fake::new()
            .file("/proc/net/route", ROUTES)
            .file("/proc/net/ipv6_route", ROUTES6)
            .file("/proc/net/fib_trie", "Main:\n  |-- 192.168.0.5\n     /32 host LOCAL\n")
            .file("/sys/class/net/eth0/speed", "10000\n")
            .file("/sys/class/net/eth1/speed", "-1\n")
            .file("/sys/class/net/ib0/speed", "100000\n")
    }

    fn to(address: &str) -> Option<String> {
        let fake = host();
        route(&Reader::new(&fake), address.parse().expect("an address"))
    }

    #[test]
    fn the_longest_prefix_and_then_the_lowest_metric_lead_there() {
        assert_eq!(to("192.168.0.2").as_deref(), Some("ib0"));
        assert_eq!(to("10.1.2.3").as_deref(), Some("eth0"), "by the default route");
        assert_eq!(to("fd00::7").as_deref(), Some("eth1"));
        assert_eq!(to("fe80::1"), None);
        for own in ["127.0.0.1", "192.168.0.5"] {
            assert_eq!(to(own), None, "{own}");
        }
        assert_eq!(to("fd00::5").as_deref(), Some("lo"), "this machine");
    }

    #[test]
    fn lines_that_are_no_routes_are_passed_over() {
        for line in ["", "eth0", "eth0 zz 0 0001 0 0 0 00000000", "eth0 0 0 0001 0 0 x 0"] {
            assert_eq!(route4(line, Ipv4Addr::LOCALHOST), None, "{line}");
        }
        assert_eq!(route6("fd00 81 0 0 0 0 0 0 1 eth0", Ipv6Addr::LOCALHOST), None);
    }

    #[test]
    fn a_disk_of_nvme_over_tcp_or_iscsi_is_reached_through_an_interface() {
        let fake = host()
            .file("/sys/class/nvme/nvme0/address", "traddr=10.1.2.3,trsvcid=4420\n")
            .symlink("/sys/block/sdb", "/sys/devices/platform/host3/session7/target3:0:0/sdb")
            .file("/sys/devices/platform/host3/session7/target3:0:0/sdb/dev", "8:16\n")
            .file("/sys/class/iscsi_connection/connection7:0/address", "fd00::7\n");
        let found = |disk: &Device| path(&Reader::new(&fake), None, Some(disk));
        let mut disk = Device::new("nvme0n1", "259:0", crate::DeviceKind::Disk);
        disk.detail.nvme = Some(crate::facts::NvmeFacts {
            controller: "nvme0".to_owned(),
            ..crate::facts::NvmeFacts::default()
        });
        let tcp = found(&disk).expect("a way");
        assert_eq!(tcp.from, "/sys/class/net/eth0/speed");
        assert_eq!(
            (tcp.value.server.as_str(), tcp.value.megabits_per_s),
            ("10.1.2.3", Some(10_000))
        );
        let iscsi = found(&Device::new("sdb", "8:16", crate::DeviceKind::Disk)).expect("a way");
        assert_eq!((iscsi.value.interface.as_str(), iscsi.value.megabits_per_s), ("eth1", None));
        assert_eq!(found(&Device::new("sda", "8:0", crate::DeviceKind::Disk)), None);
    }

    #[test]
    fn a_network_file_system_says_its_server() {
        let fake = host();
        let mut fs = crate::mount::filesystem(
            &seekwell_sys::parse_mountinfo(
                "30 1 0:40 / /srv rw - nfs4 filer:/srv rw,vers=4.2,addr=192.168.0.2\n",
                Path::new("/proc/self/mountinfo"),
            )
            .expect("a mount")[0],
            None,
        );
        let found = |fs: &Filesystem| path(&Reader::new(&fake), Some(fs), None);
        assert_eq!(found(&fs).map(|f| f.value.interface).as_deref(), Some("ib0"));
        fs.fstype.value = "ext4".into();
        assert_eq!(found(&fs), None);
    }
}
