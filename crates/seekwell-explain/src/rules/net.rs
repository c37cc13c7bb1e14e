//! File systems over the network, by how they are mounted.

use crate::look::filesystems;
use crate::words::bytes;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, DeviceKind, Filesystem, Severity};

/// The default is 1 MiB. 64 KiB take 52 µs at 10 Gbit/s, about one round trip: a smaller request
/// waits longer than it transfers.
const SMALL: u64 = 64 << 10;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-NET-001",
        about: "NFS transfers data in small requests",
        means: "Each NFS read or write carries little data.",
        known: "rsize or wsize is below 64 KiB. By default client and server agree on up to 1 MiB.",
        why: "Every request waits for a network round trip, so a single stream is limited to the \
              request size per round trip.",
        fix: "remove rsize and wsize from the mount options; if the server sets the limit, raise \
              its max_block_size",
        tune: None,
        check: Check::Facts(small_pieces),
    },
    Rule {
        id: "SW-NET-002",
        about: "a network file system is mounted without caching",
        means: "Attributes, names or data are fetched over the network each time.",
        known: "An NFS mount has noac, actimeo=0 or lookupcache=none, or an SMB mount cache=none.",
        why: "Each open and stat costs a round trip, noac makes every write synchronous as well, \
              and with cache=none every small read goes to the server.",
        fix: "remove the option, unless several clients must see each other's changes at once",
        tune: None,
        check: Check::Facts(uncached),
    },
    Rule {
        id: "SW-NET-003",
        about: "NFS may lose writes when the server does not answer",
        means: "NFS gives up after a timeout and returns an error instead of waiting.",
        known: "A file system mounted read-write has the option soft.",
        why: "A program that does not check its writes continues with data that never arrived.",
        fix: "mount with hard, which is the default, or softerr where programs check for errors",
        tune: None,
        check: Check::Facts(soft),
    },
    Rule {
        id: "SW-NET-004",
        about: "a network file system uses an outdated protocol",
        means: "The mount uses a protocol version that has long been superseded.",
        known: "The mount options say vers=2 or proto=udp (NFS) or vers=1.0 (SMB).",
        why: "NFS version 2 writes synchronously, 8 KiB at a time; over UDP one lost packet loses \
              the whole request; SMB 1 sends small requests one at a time.",
        fix: "mount with vers=4.2 (NFS) or vers=3.1.1 (SMB) and proto=tcp",
        tune: None,
        check: Check::Facts(old_protocol),
    },
    Rule {
        id: "SW-NET-005",
        about: "an NBD device has one connection to its server",
        means: "All requests of the device share one socket.",
        known: "An nbd device has one hardware queue: the driver makes one for each connection \
                (drivers/block/nbd.c), and the machine has several CPUs.",
        why: "Requests and answers take turns on one stream: a small read waits behind a large \
              one.",
        fix: "nbd-client -C 4, where the server allows several connections (nbdkit and qemu-nbd \
              -e do)",
        tune: None,
        check: Check::Device(one_connection),
    },
];

fn each(
    input: &Observed<'_>,
    kinds: &[&str],
    rule: impl Fn(&Filesystem) -> Option<Found>,
) -> Vec<Found> {
    let all = filesystems(input.inspection).into_iter();
    all.filter(|fs| kinds.contains(&fs.fstype.value.as_str())).filter_map(rule).collect()
}

const NFS: [&str; 2] = ["nfs", "nfs4"];
const ALL: [&str; 4] = ["nfs", "nfs4", "cifs", "smb3"];

fn found(fs: &Filesystem, severity: Severity, words: &str, options: &[&str]) -> Option<Found> {
    let in_force = |o: &&String| options.contains(&o.as_str());
    let option = fs.options.value.iter().find(in_force)?;
    let title = format!("{}: {words}", fs.mount_point.value);
    let seen = format!("{} mounted with {option}", fs.fstype.value);
    Some(Found::new(severity, title).seen(seen, &fs.options.from))
}

fn small_pieces(input: &Observed<'_>) -> Vec<Found> {
    each(input, &NFS, |fs| {
        let size = |name: &str| {
            let size = |o: &String| o.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok();
            Some((name.to_owned(), fs.options.value.iter().find_map(size)?))
        };
        let sizes = ["rsize", "wsize"].into_iter().filter_map(size);
        let (name, least) = sizes.min_by_key(|(_, size)| *size).filter(|(_, s)| *s < SMALL)?;
        let title =
            format!("{}: NFS requests carry at most {}", fs.mount_point.value, bytes(least));
        Some(Found::warning(title).seen(format!("{name}={least}"), &fs.options.from))
    })
}

fn uncached(input: &Observed<'_>) -> Vec<Found> {
    let options = ["noac", "actimeo=0", "lookupcache=none", "cache=none"];
    each(input, &ALL, |fs| found(fs, Severity::Warning, "caching is off", &options))
}

fn soft(input: &Observed<'_>) -> Vec<Found> {
    let words = "writes fail when the server does not answer in time";
    each(input, &NFS, |fs| found(fs, Severity::Warning, words, &["soft"]).filter(|_| !fs.read_only))
}

fn old_protocol(input: &Observed<'_>) -> Vec<Found> {
    let options = ["vers=2", "proto=udp", "vers=1.0"];
    each(input, &ALL, |fs| found(fs, Severity::Warning, "an outdated protocol is in use", &options))
}

fn one_connection(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let cpus = input.inspection.host.cpus.as_ref().filter(|cpus| cpus.value > 1)?;
    let queues = d.queue.hardware_queues.as_ref().filter(|queues| queues.value == 1)?;
    (d.kind == DeviceKind::Network && d.name.starts_with("nbd")).then(|| {
        Found::info("all requests share one connection")
            .fact("hardware queues", queues)
            .fact("CPUs", cpus)
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd};
    use seekwell_inspect::DeviceKind;

    fn mounted(kind: &'static str, options: &'static str) -> impl Fn(&mut Machine) {
        move |m| {
            let fs = m.fs();
            fs.fstype.value = kind.into();
            fs.options.value = options.split(',').map(str::to_owned).collect();
        }
    }

    fn nbd(connections: u64) -> impl Fn(&mut Machine) {
        move |m| {
            let disk = m.disk();
            (disk.name, disk.kind) = ("nbd0".into(), DeviceKind::Network);
            disk.queue.hardware_queues = fact(connections, "mq");
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let usual =
            "rw,relatime,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,local_lock=none";
        vec![
            fires("SW-NET-001", sata_hdd, mounted("nfs4", "rw,rsize=1048576,wsize=8192")).warning(),
            quiet("SW-NET-001", sata_hdd, mounted("nfs4", usual)),
            quiet("SW-NET-001", sata_hdd, mounted("cifs", "rw,rsize=16384")),
            fires("SW-NET-002", sata_hdd, mounted("nfs", "rw,noac,hard")).warning(),
            fires("SW-NET-002", sata_hdd, mounted("cifs", "rw,cache=none")).warning(),
            quiet("SW-NET-002", sata_hdd, mounted("nfs4", usual)),
            fires("SW-NET-003", sata_hdd, mounted("nfs4", "rw,soft,proto=tcp")).warning(),
            quiet("SW-NET-003", sata_hdd, mounted("nfs4", "ro,soft,proto=tcp"))
                .and(|m| m.fs().read_only = true),
            quiet("SW-NET-003", sata_hdd, mounted("nfs4", usual)),
            fires("SW-NET-004", sata_hdd, mounted("nfs", "rw,vers=3,proto=udp")).warning(),
            fires("SW-NET-004", sata_hdd, mounted("cifs", "rw,vers=1.0")).warning(),
            quiet("SW-NET-004", sata_hdd, mounted("cifs", "rw,vers=3.1.1")),
            fires("SW-NET-005", sata_hdd, nbd(1)).info(),
            quiet("SW-NET-005", sata_hdd, nbd(4)),
            quiet("SW-NET-005", sata_hdd, nbd(1)).and(|m| {
                m.inspection.host.cpus = fact(1, "cpu/online");
            }),
        ]
    }
}
