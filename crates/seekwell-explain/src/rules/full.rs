//! A file system with next to no room left.

use crate::words::{bytes, evidence, measure_device, percent, quote};
use crate::{Check, Found, Observed, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: FULL,
        about: "the file system is nearly full",
        means: "Less than a tenth of the file system is left.",
        known: "Available over total space is under 10 %, on a file system that can be written. \
                Images that are always full (squashfs, ISO 9660) are not judged.",
        why: "flash needs free blocks to erase ahead, allocators need room to keep files together, \
              and copy-on-write file systems slow down from 80 to 90 % on",
        fix: "free some space; on flash, give it back to the drive with fstrim",
        tune: None,
        check: Check::Run(nearly_full),
    },
    Rule {
        id: READ_ONLY,
        about: "the file system is mounted read-only",
        means: "Nothing can be written, so no temporary file can be measured here.",
        known: "The mount is read-only. Images that are always so (squashfs, ISO 9660) are not \
                judged.",
        why: "a file system that was not meant to be read-only became so after an error, which \
              the kernel log then tells",
        fix: "look in the kernel log for the reason, then mount -o remount,rw; or measure the \
              device itself, which is only read",
        tune: None,
        check: Check::Run(read_only),
    },
];
const READ_ONLY: &str = "SW-FULL-002";
const FULL: &str = "SW-FULL-001";

/// Flash needs free blocks to erase ahead, and allocators room to keep files together; ext4 itself
/// keeps 5 % back for that, and copy-on-write file systems slow down from about 80 to 90 % on.
const FREE_SHARE: f64 = 0.10;
const COPY_ON_WRITE: [&str; 4] = ["btrfs", "zfs", "bcachefs", "f2fs"];
/// File systems that are full by nature.
const IMAGES: [&str; 5] = ["squashfs", "erofs", "iso9660", "udf", "cramfs"];

fn nearly_full(input: &Observed<'_>) -> Option<Found> {
    let fs = input.inspection.filesystem.as_ref()?;
    let fstype = fs.fstype.value.as_str();
    let (size, left) = (fs.size_bytes.as_ref()?, fs.available_bytes.as_ref()?);
    if fs.read_only || IMAGES.contains(&fstype) || size.value == 0 {
        return None;
    }
    let share = left.value as f64 / size.value as f64;
    if share >= FREE_SHARE {
        return None;
    }
    let mount = &fs.mount_point.value;
    let mut seen = vec![
        evidence(
            format!("{} of {} left ({})", bytes(left.value), bytes(size.value), percent(share)),
            &left.from,
        ),
        evidence(format!("file system: {fstype}"), &fs.fstype.from),
    ];
    let rotating = input.disk().and_then(|d| input.rotates(d));
    let why = match rotating {
        _ if COPY_ON_WRITE.contains(&fstype) => {
            "a copy-on-write file system needs free space for every change; nearly full, it \
             searches for it, scatters files and may refuse even to delete"
        }
        Some(true) => {
            "the last free space of a rotating disk is fragmented and lies on its slow inner \
             tracks; the disk was faster than this when it was empty"
        }
        _ => {
            "a flash drive that is nearly full has few erased blocks left and must copy data \
             around before it can write; latencies grow and the drive wears faster"
        }
    };
    let host_disk = input.disk().and_then(|d| d.queue.discard_max_bytes.as_ref());
    let trims = host_disk.is_some_and(|d| d.value > 0) && rotating != Some(true);
    if let Some(d) = host_disk.filter(|_| trims) {
        seen.push(evidence("the disk supports discards", &d.from));
    }
    let quoted = quote(mount);
    let clean = format!("free some space: du -xh {quoted} | sort -h | tail shows where it is");
    let remedy = if trims {
        format!("{clean}; then give it back to the drive: sudo fstrim -v {quoted}")
    } else {
        clean
    };
    let title = format!("{mount} is {} full: {} left", percent(1.0 - share), percent(share));
    Some(Found::warning(title).evidence(seen).why(why).remedy(remedy))
}

fn read_only(input: &Observed<'_>) -> Option<Found> {
    let fs = input.inspection.filesystem.as_ref().filter(|fs| fs.read_only)?;
    if IMAGES.contains(&fs.fstype.value.as_str()) {
        return None;
    }
    let mount = &fs.mount_point.value;
    let remedy = format!(
        "sudo dmesg | grep -i 'remount' tells whether an error did it; then sudo mount -o \
         remount,rw {}; or measure the device itself, read only: {}",
        quote(mount),
        measure_device(input.inspection)
    );
    let found = Found::warning(format!("{mount} is mounted read-only"));
    Some(
        found
            .seen(format!("options: {}", fs.options.value.join(",")), &fs.options.from)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::Filesystem;

    fn on(case: Case, change: impl FnOnce(&mut Filesystem)) -> Case {
        case.with(|c| change(c.inspection.filesystem.as_mut().expect("a file system")))
    }

    fn left(gib: u64) -> impl FnOnce(&mut Filesystem) {
        move |f| f.available_bytes = fact(gib << 30, "statvfs(/srv)")
    }

    #[test]
    fn a_file_system_with_a_twentieth_left_is_a_finding_that_fits_its_disk() {
        let f = on(Case::nvme(), left(51)).finding(FULL);
        assert!(f.title.ends_with("5 % left"), "{f:?}");
        assert!(f.remedy.contains("fstrim -v /srv"), "{f:?}");
        let f = on(Case::hdd(), left(51)).finding(FULL);
        assert!(f.why.contains("inner tracks") && !f.remedy.contains("fstrim"), "{f:?}");
        let btrfs = |f: &mut Filesystem| f.fstype.value = "btrfs".into();
        let f = on(on(Case::nvme(), left(51)), btrfs).finding(FULL);
        assert!(f.why.contains("copy-on-write"), "{f:?}");
    }

    #[test]
    fn a_tenth_left_is_enough_and_an_image_is_full_by_nature() {
        on(Case::nvme(), left(103)).quiet(FULL);
        let image = |f: &mut Filesystem| f.fstype.value = "squashfs".into();
        on(on(Case::nvme(), left(0)), image).quiet(FULL);
        let read_only = on(on(Case::nvme(), left(0)), |f| f.read_only = true);
        read_only.quiet(FULL);
        assert_eq!(read_only.finding(READ_ONLY).title, "/srv is mounted read-only");
        Case::nvme().quiet(READ_ONLY);
    }
}
