use super::checks::Check;
use super::*;
use proptest::prelude::*;

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
    recognise(&Window { size_bytes, head: &head, tail: &tail })
}

fn names(found: &[Signature]) -> Vec<&'static str> {
    found.iter().map(|s| s.name).collect()
}

#[test]
fn every_place_of_every_plain_row_is_found_where_it_is() {
    let mut places = 0;
    for row in ROWS.iter().filter(|row| row.check.is_none()) {
        for place in row.places {
            for offset in place.offsets(SIZE) {
                let found = found(&[(offset, row.magic)]);
                let wanted = Signature { name: row.name, offset_bytes: offset };
                assert!(found.contains(&wanted), "{} at {offset}: {found:?}", row.name);
                places += 1;
            }
        }
    }
    assert!(places > 1000, "the table shrank to {places} places");
}

#[test]
fn short_magics_need_the_fields_around_them() {
    let md_0_le = [0xa92b_4efc_u32, 0, 90].map(u32::to_le_bytes).concat();
    let md_0_be = [0xa92b_4efc_u32, 0, 90].map(u32::to_be_bytes).concat();
    let md_1 = [0xa92b_4efc_u32, 1].map(u32::to_le_bytes).concat();
    let fat = b"\xeb\x3cXMYTOOL10\0\x02\x04\x01\0\x02\0\x02\0\0\xf8";
    let cases: &[(&str, Parts<'_>)] = &[
        ("dos", &[(510, b"\x55\xaa")]),
        ("dos", &[(446, b"\x80"), (510, b"\x55\xaa")]),
        ("ext", &[(0x400, b"\x01\0\0\0\x01"), (0x418, b"\x02"), (0x438, b"\x53\xef")]),
        ("vfat", &[(0, &fat[..2]), (11, &fat[11..]), (510, b"\x55\xaa")]),
        ("hfs", &[(0x400, b"BD"), (0x412, b"\x01\0\0\0\x10\0")]),
        ("nilfs2", &[(0x400, b"\x02\0\0\0\0\0\x34\x34\x18\x01")]),
        ("LVM1_member", &[(0, b"HM\x01\0\0\0\0\0\0\x04")]),
        ("apfs", &[(32, b"NXSB\0\x10")]),
        ("linux_raid_member", &[(0, &md_1)]),
        ("linux_raid_member", &[(4096, &md_1)]),
        ("linux_raid_member", &[(SIZE - 8192, &md_1)]),
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
    assert_eq!(only(0x438, b"\x53\xef"), [], "ext");
    assert_eq!(only(0x400, b"BD"), [], "hfs");
    assert_eq!(only(0x406, b"\x34\x34"), [], "nilfs2");
    assert_eq!(only(0, b"HM"), [], "LVM1");
    assert_eq!(only(508, b"\xda\xbe"), [], "sun");
    assert_eq!(found(&[(446, b"\x11"), (510, b"\x55\xaa")]), [], "dos");
}

#[test]
fn a_device_full_of_random_data_is_not_refused_because_two_bytes_happen_to_fit() {
    // Every write benchmark leaves a disk like this, and the next one has to start on it.
    use rand_core::{RngCore, SeedableRng};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let size_bytes = 128 << 10;
    let mut bytes = vec![0; size_bytes as usize];
    let mut refused = 0;
    for _ in 0..200 {
        random.fill_bytes(&mut bytes);
        for row in ROWS.iter().filter(|row| row.magic.len() == 2) {
            for offset in row.places.iter().flat_map(|p| p.offsets(size_bytes)) {
                let at = offset as usize;
                bytes[at..at + 2].copy_from_slice(row.magic);
            }
        }
        refused += recognise(&Window { size_bytes, head: &bytes, tail: &bytes }).len();
    }
    // All six magics were there each time; the fields around them fit once in 500 for the weakest.
    assert!(refused <= 4, "{refused} of 200 devices");
}

#[test]
fn the_backup_of_a_gpt_is_enough() {
    // Zeroing the first megabyte is how people clear a disk; the backup at the end stays.
    for (back, size) in [(512, SIZE), (4096, SIZE), (512, SIZE + 512)] {
        let found = found_on(size, &[(size - back, b"EFI PART")]);
        assert_eq!(names(&found), ["gpt"]);
        assert_eq!(found[0].offset_bytes, size - back);
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
        for found in recognise(&Window { size_bytes: size, head, tail }) {
            prop_assert!(found.offset_bytes < size);
        }
        let nothing = vec![0; size as usize];
        let empty = Window { size_bytes: size, head: &nothing, tail: &nothing };
        prop_assert_eq!(recognise(&empty), vec![]);
    }

    #[test]
    fn checks_survive_a_magic_at_the_very_edge(size in 0u64..70_000, at in 0u64..70_000) {
        let checks: Vec<Check> = ROWS.iter().filter_map(|row| row.check).collect();
        let bytes = vec![0xff; size as usize];
        let window = Window { size_bytes: size, head: &bytes, tail: &bytes };
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
        let places: Vec<u64> = row.places.iter().flat_map(|p| p.offsets(size)).collect();
        let at = places[pick.index(places.len())] as usize;
        bytes[at..at + row.magic.len()].copy_from_slice(row.magic);
        let (head, tail) = (&bytes[..HEAD_BYTES as usize], &bytes[(size - TAIL_BYTES) as usize..]);
        let found = recognise(&Window { size_bytes: size, head, tail });
        prop_assert!(found.iter().any(|s| s.name == row.name), "{} at {}", row.name, at);
    }
}
