use super::checks::Check;
use super::*;
use crate::labels::{HEAD_BYTES, TAIL_BYTES, signatures_of};
use proptest::prelude::*;
use std::os::unix::fs::FileExt;

const SIZE: u64 = 64 << 20;

/// What is on a device: where, and which bytes.
type Parts<'a> = &'a [(u64, &'a [u8])];

/// A device of [`SIZE`] bytes with these bytes on it and zeros elsewhere.
fn found(parts: Parts<'_>) -> Vec<Signature> {
    found_on(SIZE, parts)
}

fn found_on(size_bytes: u64, parts: Parts<'_>) -> Vec<Signature> {
    let mut head = vec![0; size_bytes.min(HEAD_BYTES) as usize];
    let mut tail = vec![0; size_bytes.min(TAIL_BYTES) as usize];
    let tail_at = size_bytes - tail.len() as u64;
    for (offset, bytes) in parts {
        let mut placed = false;
        for (i, byte) in bytes.iter().enumerate() {
            let at = offset + i as u64;
            if let Some(cell) = head.get_mut(at as usize) {
                *cell = *byte;
                placed = true;
            }
            if at >= tail_at {
                tail[(at - tail_at) as usize] = *byte;
                placed = true;
            }
        }
        assert!(placed, "{offset} is in neither window");
    }
    recognise(&window(size_bytes, &head, &tail))
}

fn window<'a>(size_bytes: u64, head: &'a [u8], tail: &'a [u8]) -> Window<'a> {
    Window { size_bytes, block_bytes: 512, head, tail }
}

/// Every place of a row on a device of this size.
fn places(row: &Row, size_bytes: u64) -> Vec<u64> {
    row.places.iter().flat_map(|place| place.offsets(&window(size_bytes, &[], &[]))).collect()
}

fn names(found: &[Signature]) -> Vec<&'static str> {
    found.iter().map(|s| s.name).collect()
}

#[test]
fn every_place_of_every_plain_row_is_found_where_it_is() {
    let mut tried = 0;
    for row in ROWS.iter().filter(|row| row.check.is_none()) {
        for offset in places(row, SIZE) {
            let found = found(&[(offset, row.magic)]);
            let wanted = Signature { name: row.name, offset_bytes: offset };
            assert!(found.contains(&wanted), "{} at {offset}: {found:?}", row.name);
            tried += 1;
        }
    }
    assert!(tried > 1000, "the table shrank to {tried} places");
}

#[test]
fn short_magics_need_the_fields_around_them() {
    let md_0_le = [0xa92b_4efc_u32, 0, 90].map(u32::to_le_bytes).concat();
    let md_0_be = [0xa92b_4efc_u32, 0, 90].map(u32::to_be_bytes).concat();
    let md_1 = [0xa92b_4efc_u32, 1].map(u32::to_le_bytes).concat();
    let here = |offset: u64| (offset / 512).to_le_bytes();
    let log = [0xfeed_babe_u32, 1, 2, 512].map(u32::to_be_bytes).concat();
    let fat = b"\xeb\x3cXMYTOOL10\0\x02\x04\x01\0\x02\0\x02\0\0\xf8";
    let cases: &[(&str, Parts<'_>)] = &[
        ("dos", &[(510, b"\x55\xaa")]),
        ("dos", &[(446, b"\x80"), (510, b"\x55\xaa")]),
        ("ext", &[(0x400, b"\x01\0\0\0\x01"), (0x418, b"\x02"), (0x438, b"\x53\xef")]),
        ("ext", &[(0x418, b"\xff\xff\xff\xff"), (0x438, b"\x53\xef")]),
        ("jbd", &[(0x438, b"\x53\xef"), (0x460, b"\x08")]),
        ("xfs_external_log", &[(0, &log), (300, b"\0\0\0\x01")]),
        ("xfs_external_log", &[(511 * 512, &log), (511 * 512 + 300, b"\0\0\0\x01")]),
        ("mac", &[(0, b"ER\x02\0"), (512, b"PM\0\0")]),
        ("minix", &[(0x404, b"\x01\0\x01\0"), (0x410, b"\x8f\x13")]),
        ("minix", &[(0x406, b"\0\x01\0\x01"), (0x418, b"\x4d\x5a")]),
        ("hpfs", &[(0x2000, b"\x49\xe8\x95\xf9"), (0x2200, b"\x49\x18\x91\xf9")]),
        ("via_raid_member", &[(SIZE - 512, b"\x55\xaa"), (SIZE - 462, b"\xff")]),
        ("silicon_medley_raid_member", &[(SIZE - 416, b"\0\0\0\x2f"), (SIZE - 194, b"\0\xd1")]),
        ("jmicron_raid_member", &[(SIZE - 512, b"JM"), (SIZE - 508, b"\xb6\xb2")]),
        ("vfat", &[(0, &fat[..2]), (11, &fat[11..]), (510, b"\x55\xaa")]),
        ("hfs", &[(0x400, b"BD"), (0x412, b"\x01\0\0\0\x10\0")]),
        ("nilfs2", &[(0x400, b"\x02\0\0\0\0\0\x34\x34\x18\x01")]),
        ("LVM1_member", &[(0, b"HM\x01\0\0\0\0\0\0\x04")]),
        ("apfs", &[(32, b"NXSB\0\x10")]),
        ("linux_raid_member", &[(0, &md_1), (144, &here(0))]),
        ("linux_raid_member", &[(4096, &md_1), (4096 + 144, &here(4096))]),
        ("linux_raid_member", &[(SIZE - 8192, &md_1), (SIZE - 8192 + 144, &here(SIZE - 8192))]),
        ("linux_raid_member", &[(SIZE - 65536, &md_0_le)]),
        ("linux_raid_member", &[(SIZE - 65536, &md_0_be)]),
        ("sun", &[(0, b"\xda\xbe"), (508, b"\xda\xbe")]),
    ];
    for (name, parts) in cases {
        assert!(names(&found(parts)).contains(name), "{name}: {:?}", found(parts));
        let magic = ROWS.iter().filter(|r| r.name == *name && r.check.is_some());
        assert!(magic.count() > 0, "{name} has no checked row");
    }
}

#[test]
fn a_short_magic_alone_is_not_a_signature() {
    let only = |offset, bytes: &[u8]| found(&[(offset, bytes)]);
    assert_eq!(only(0x400, b"BD"), [], "hfs");
    assert_eq!(only(0x406, b"\x34\x34"), [], "nilfs2");
    assert_eq!(only(0x410, b"\x8f\x13"), [], "minix");
    assert_eq!(only(0, b"HM"), [], "LVM1");
    assert_eq!(only(0, b"ER"), [], "mac");
    assert_eq!(only(508, b"\xda\xbe"), [], "sun");
    assert_eq!(only(SIZE - 512, b"JM\x01"), [], "jmicron");
    assert_eq!(found(&[(446, b"\x11"), (510, b"\x55\xaa")]), [], "dos");
}

#[test]
fn random_data_of_our_own_holds_no_signature_although_two_bytes_of_it_fit() {
    // Every write benchmark leaves a disk like this, and the next one has to start on it.
    use rand_core::{RngCore, SeedableRng};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let size_bytes = 128 << 10;
    let mut bytes = vec![0; size_bytes as usize];
    for _ in 0..100 {
        random.fill_bytes(&mut bytes);
        for row in ROWS.iter().filter(|row| row.magic.len() == 2) {
            for at in places(row, size_bytes) {
                bytes[at as usize..at as usize + 2].copy_from_slice(row.magic);
            }
        }
        seekwell_sys::mark::put(&mut bytes);
        assert_eq!(recognise(&window(size_bytes, &bytes, &bytes)), []);
    }
}

#[test]
fn the_backup_of_a_gpt_is_enough() {
    // Zeroing the first megabyte is how people clear a disk; the backup at the end stays.
    for (block_bytes, size_bytes) in [(512, SIZE), (4096, SIZE), (512, SIZE + 512)] {
        let mut tail = vec![0; TAIL_BYTES as usize];
        let at = tail.len() - block_bytes;
        tail[at..at + 8].copy_from_slice(b"EFI PART");
        let block_bytes = block_bytes as u64;
        let found = recognise(&Window { size_bytes, block_bytes, head: &[], tail: &tail });
        assert_eq!(names(&found), ["gpt"]);
        assert_eq!(found[0].offset_bytes, size_bytes - block_bytes);
    }
}

#[test]
fn zfs_labels_of_a_size_that_is_no_multiple_are_found_at_the_end() {
    let size = SIZE + 300 * 512;
    let label = size - size % (256 << 10) - (256 << 10);
    let found = found_on(size, &[(label + (128 << 10) + 5120, b"\x0c\xb1\xba\0\0\0\0\0")]);
    assert_eq!(names(&found), ["zfs_member"]);
    assert_eq!(found[0].clear_command("/dev/sdx"), "zpool labelclear -f /dev/sdx");
}

#[test]
fn zeros_of_any_size_have_no_signature() {
    for size in [0, 1, 511, 512, 4096, 65535, 1 << 20, HEAD_BYTES, HEAD_BYTES + 1, SIZE] {
        assert_eq!(found_on(size, &[]), [], "{size} bytes");
    }
}

#[test]
fn a_file_is_read_at_both_ends() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE).unwrap();
    assert_eq!(signatures_of(&file, SIZE).unwrap(), []);
    file.write_all_at(b"_BHRfS_M", 0x10040).unwrap();
    file.write_all_at(b"NVIDIA", SIZE - 1024).unwrap();
    assert_eq!(names(&signatures_of(&file, SIZE).unwrap()), ["btrfs", "nvidia_raid_member"]);
    assert!(signatures_of(&file, SIZE + 1).is_err(), "a short read is not an empty device");
}

proptest! {
    #[test]
    fn no_buffer_makes_it_panic(
        size in 0u64..200_000,
        seed in proptest::collection::vec(any::<u8>(), 1..4096),
        head_cut in 0usize..5000,
        tail_cut in 0usize..5000,
    ) {
        let mut bytes = seed.repeat(size as usize / seed.len() + 1);
        bytes.truncate(size as usize);
        let head = &bytes[..bytes.len().saturating_sub(head_cut)];
        let tail = &bytes[bytes.len().min(tail_cut)..];
        for found in recognise(&window(size, head, tail)) {
            prop_assert!(found.offset_bytes < size);
        }
        let nothing = vec![0; size as usize];
        let empty = window(size, &nothing, &nothing);
        prop_assert_eq!(recognise(&empty), vec![]);
    }

    #[test]
    fn checks_survive_a_magic_at_the_very_edge(size in 0u64..70_000, at in 0u64..70_000) {
        let checks: Vec<Check> = ROWS.iter().filter_map(|row| row.check).collect();
        let bytes = vec![0xff; size as usize];
        let window = window(size, &bytes, &bytes);
        for check in checks {
            if let Some(answer) = check(&window, at) {
                prop_assert!(!answer || at < size);
            }
        }
    }

    #[test]
    fn a_magic_in_random_data_is_found(
        row in 0..ROWS.len(),
        pick: prop::sample::Index,
        noise in proptest::collection::vec(1u8..=254, 1024),
    ) {
        let row = &ROWS[row];
        prop_assume!(row.check.is_none());
        let size = 8u64 << 20;
        let mut bytes = noise.repeat(size as usize / noise.len());
        let places = places(row, size);
        let at = places[pick.index(places.len())] as usize;
        bytes[at..at + row.magic.len()].copy_from_slice(row.magic);
        let (head, tail) = (&bytes[..HEAD_BYTES as usize], &bytes[(size - TAIL_BYTES) as usize..]);
        let found = recognise(&window(size, head, tail));
        prop_assert!(found.iter().any(|s| s.name == row.name), "{} at {}", row.name, at);
    }
}
