//! Layers between a file and its disk: overlays, FUSE, external journals, XFS on arrays.

use super::fs::each_ext4;
use crate::look::{filesystems, text};
use crate::words::{fact_bytes, quote};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Filesystem};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-LAYER-001",
        about: "overlayfs ignores flushes",
        means: "fsync, sync and O_SYNC do nothing: the overlay is meant to be thrown away.",
        known: "An overlay is mounted with the option volatile.",
        why: "Commits are as fast as memory, and a crash or power loss loses committed data.",
        fix: "mount the overlay without volatile, or measure a directory outside of it",
        tune: None,
        check: Check::Facts(volatile),
    },
    Rule {
        id: "SW-LAYER-002",
        about: "a process serves the file system",
        means: "The file system is FUSE: the kernel hands requests to a process and waits for its \
                answer.",
        known: "The type of the target's file system is fuse, fuseblk or fuse.NAME.",
        why: "Each request that is not served from memory costs two context switches and waits \
              for that process: the figures describe the process as much as the storage below \
              it.",
        fix: "measure the directory or device in which the process keeps its data, and compare",
        tune: None,
        check: Check::Facts(served),
    },
    Rule {
        id: "SW-LAYER-003",
        about: "part of the file system is on another disk",
        means: "Its journal, or its realtime data, is on a separate device.",
        known: "XFS is mounted with logdev= or rtdev=, or the journal thread of an ext4 file \
                system is named after another device.",
        why: "A commit waits for the journal's disk, and that disk's flush is what an fsync costs; \
              the findings on the disk below the file system do not apply to it.",
        fix: "inspect and measure that device too: seekwell inspect DEVICE",
        tune: None,
        check: Check::Facts(elsewhere),
    },
    Rule {
        id: "SW-LAYER-004",
        about: "XFS does not know the stripes of its array",
        means: "XFS aligns data to a different stripe unit than that of the parity array below \
                it, or to none.",
        known: "The mount's sunit, in sectors of 512 bytes, differs from minimum_io_size of the \
                device, above a software RAID of level 4, 5 or 6.",
        why: "A write that does not fill stripes makes the array read old data or parity first. \
              mkfs.xfs asks the device; the two differ after the array was reshaped or the file \
              system was copied.",
        fix: "mount with the array's sunit= and swidth=; new files are then aligned",
        tune: None,
        check: Check::Host(unaligned_to_stripes),
    },
];

fn volatile(input: &Observed<'_>) -> Vec<Found> {
    let is_set = |fs: &&Filesystem| {
        fs.fstype.value == "overlay" && fs.options.value.iter().any(|o| o == "volatile")
    };
    let found = |fs: &Filesystem| {
        Found::error(format!("{}: flushes are ignored", fs.mount_point.value))
            .seen("overlay mounted with volatile", &fs.options.from)
    };
    filesystems(input.inspection).into_iter().filter(is_set).map(found).collect()
}

fn served(input: &Observed<'_>) -> Vec<Found> {
    let found = |fs: &Filesystem| {
        let fuse = fs.fuse.as_ref()?;
        let title = format!("{}: a process serves the file system", fs.mount_point.value);
        Some(
            Found::info(title)
                .fact("file system", &fs.fstype)
                .facts("limit of background requests", fuse.max_background.as_ref())
                .facts("congestion threshold", fuse.congestion_threshold.as_ref()),
        )
    };
    input.inspection.filesystem.iter().filter_map(found).collect()
}

fn elsewhere(input: &Observed<'_>) -> Vec<Found> {
    const PARTS: [(&str, &str); 2] =
        [("logdev=", "commits wait for"), ("rtdev=", "realtime files are on")];
    let xfs = filesystems(input.inspection).into_iter().filter(|fs| fs.fstype.value == "xfs");
    let of_xfs = xfs.flat_map(|fs| {
        PARTS.into_iter().filter_map(move |(prefix, words)| {
            let option = fs.options.value.iter().find(|o| o.starts_with(prefix))?;
            let device = &option[prefix.len()..];
            let title = format!("{}: {words} {device}", fs.mount_point.value);
            let found =
                Found::info(title).seen(format!("xfs mounted with {option}"), &fs.options.from);
            Some(found.remedy(format!("seekwell inspect {}", quote(device))))
        })
    });
    let of_ext4 = each_ext4(input, |fs| {
        let journal = fs.journal.as_ref()?;
        let title = format!("{}: commits wait for /dev/{}", fs.device, journal.value);
        let found = Found::info(title).fact("its journal is on", journal);
        Some(found.remedy(format!("seekwell inspect /dev/{}", journal.value)))
    });
    of_xfs.chain(of_ext4).collect()
}

fn unaligned_to_stripes(input: &Observed<'_>) -> Option<Found> {
    let fs = input.inspection.filesystem.as_ref().filter(|fs| fs.fstype.value == "xfs")?;
    let queue = &input.inspection.device.as_ref()?.detail.queue;
    let (unit, width) = (queue.minimum_io_bytes.as_ref()?, queue.optimal_io_bytes.as_ref()?);
    let has_parity = |d: &&Device| {
        let level = d.detail.md.as_ref().map_or("", |md| text(&md.level));
        ["raid4", "raid5", "raid6"].contains(&level)
    };
    let array = input.devices().into_iter().find(has_parity)?;
    let sunit = fs.options.value.iter().find_map(|o| o.strip_prefix("sunit=")?.parse::<u64>().ok());
    let wanted = unit.value / 512;
    if sunit.unwrap_or(0) == wanted || width.value <= unit.value {
        return None;
    }
    let title =
        format!("{}: XFS does not know the stripes of {}", fs.mount_point.value, array.name);
    let seen = sunit.map_or("no sunit".to_owned(), |sunit| format!("sunit={sunit}"));
    let remedy = format!("mount it with -o sunit={wanted},swidth={}", width.value / 512);
    Some(
        Found::warning(title)
            .seen(format!("mounted with {seen}"), &fs.options.from)
            .evidence([fact_bytes("a chunk", unit), fact_bytes("a stripe's data", width)])
            .remedy(remedy),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, mirror, quiet, sata_hdd};
    use seekwell_inspect::Fact;
    use seekwell_inspect::FuseFacts;
    use seekwell_inspect::facts::Ext4Facts;

    fn kind(fstype: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.fs().fstype.value = fstype.into()
    }

    pub(crate) fn all() -> Vec<Case> {
        let fuse = |m: &mut Machine| {
            let max_background = fact(12, "max_background");
            m.fs().fuse = Some(FuseFacts { max_background, ..FuseFacts::default() });
        };
        let xfs = |option: &'static str| {
            move |m: &mut Machine| {
                kind("xfs")(m);
                m.option(option);
            }
        };
        let journal = |journal: Option<Fact<String>>| {
            let fs = Ext4Facts { device: "sda1".into(), journal, ..Ext4Facts::default() };
            move |m: &mut Machine| m.detail().ext4 = vec![fs.clone()]
        };
        let raid5 = |m: &mut Machine| {
            m.md().level = fact("raid5".into(), "md/level");
            m.detail().queue.minimum_io_bytes = fact(512 << 10, "minimum_io_size");
            m.detail().queue.optimal_io_bytes = fact(1 << 20, "optimal_io_size");
        };
        vec![
            fires("SW-LAYER-001", sata_hdd, kind("overlay")).and(|m| m.option("volatile")).error(),
            quiet("SW-LAYER-001", sata_hdd, kind("overlay")),
            fires("SW-LAYER-002", sata_hdd, kind("fuse.sshfs")).and(fuse).info(),
            quiet("SW-LAYER-002", sata_hdd, kind("virtiofs")),
            fires("SW-LAYER-003", sata_hdd, xfs("logdev=/dev/sdb1")).info(),
            fires("SW-LAYER-003", sata_hdd, xfs("rtdev=/dev/sdb2")).info(),
            fires("SW-LAYER-003", sata_hdd, journal(fact("sdb1".into(), "comm"))).info(),
            quiet("SW-LAYER-003", sata_hdd, journal(None)),
            quiet("SW-LAYER-003", sata_hdd, xfs("logbsize=32k")),
            fires("SW-LAYER-004", mirror, xfs("noquota")).and(raid5).warning(),
            fires("SW-LAYER-004", mirror, xfs("sunit=128")).and(raid5).warning(),
            quiet("SW-LAYER-004", mirror, xfs("sunit=1024")).and(raid5),
            quiet("SW-LAYER-004", mirror, xfs("noquota")),
        ]
    }
}
