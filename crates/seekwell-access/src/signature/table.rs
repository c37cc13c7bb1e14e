//! Where each kind of data keeps its magic number.
//!
//! The offsets and numbers are facts of the formats. They are the ones `libblkid` of util-linux
//! looks for (its `superblocks` and `partitions` sources), cross-read with the kernel's headers
//! (`include/uapi/linux/magic.h`, `raid/md_p.h`), the UEFI specification for GPT, the LUKS2 and
//! LVM2 on-disk format papers, and the SNIA DDF and ECMA-167/119 standards.

use super::Window;
use super::checks::{self, Check};

pub(super) const CLEAR_LVM: &str = "LVM2_member";
pub(super) const CLEAR_MD: &str = "linux_raid_member";
pub(super) const CLEAR_ZFS: &str = "zfs_member";

pub(super) struct Row {
    pub name: &'static str,
    pub magic: &'static [u8],
    pub places: &'static [Offsets],
    pub check: Option<Check>,
}

/// One place, or a series of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Offsets {
    At(u64),
    /// `count` places from `first` on, `step` bytes apart.
    Series {
        first: u64,
        step: u64,
        count: u64,
    },
    /// The size rounded down to `align`, less `back`, plus each of a series.
    FromEnd {
        align: u64,
        back: u64,
        step: u64,
        count: u64,
    },
    /// Logical block 1.
    SecondBlock,
    LastBlock,
}

impl Offsets {
    /// Its offsets on a device of this size; those that fall before the start are left out.
    pub(super) fn offsets(self, window: &Window<'_>) -> impl Iterator<Item = u64> + use<> {
        let &Window { size_bytes, block_bytes, .. } = window;
        let (first, step, count) = match self {
            Self::At(offset) => (Some(offset), 0, 1),
            Self::Series { first, step, count } => (Some(first), step, count),
            Self::FromEnd { align, back, step, count } => {
                ((size_bytes - size_bytes % align).checked_sub(back), step, count)
            }
            Self::SecondBlock => (Some(block_bytes), 0, 1),
            Self::LastBlock => (size_bytes.checked_sub(block_bytes), 0, 1),
        };
        first.into_iter().flat_map(move |first| (0..count).map(move |i| first + i * step))
    }
}

const fn end(align: u64, back: u64) -> Offsets {
    Offsets::FromEnd { align, back, step: 0, count: 1 }
}

const fn row(name: &'static str, magic: &'static [u8], places: &'static [Offsets]) -> Row {
    Row { name, magic, places, check: None }
}

const fn checked(
    name: &'static str,
    magic: &'static [u8],
    places: &'static [Offsets],
    check: Check,
) -> Row {
    Row { name, magic, places, check: Some(check) }
}

use Offsets::{At, LastBlock, SecondBlock, Series};

const KIB: u64 = 1024;

/// The last ten bytes of the first page, for pages of 4 to 64 KiB.
const PAGE_ENDS: &[Offsets] = &[At(0xff6), At(0x1ff6), At(0x3ff6), At(0x7ff6), At(0xfff6)];

/// The uberblock arrays of the four labels of 256 KiB, two at each end: 128 slots of 1 KiB.
const UBERBLOCKS: &[Offsets] = &[
    Series { first: 128 * KIB, step: KIB, count: 128 },
    Series { first: 384 * KIB, step: KIB, count: 128 },
    Offsets::FromEnd { align: 256 * KIB, back: 384 * KIB, step: KIB, count: 128 },
    Offsets::FromEnd { align: 256 * KIB, back: 128 * KIB, step: KIB, count: 128 },
];

/// The first descriptor of the volume recognition sequence, behind its type.
const VOLUME_SEQUENCE: &[Offsets] = &[At(32 * KIB + 1)];

/// The magic is 504 bytes into the second sector of one of four places.
const SYSV: &[Offsets] = &[At(0x3f8), At(0x27f8), At(0x3ff8), At(0x4bf8)];

/// The magic is 1372 bytes into a superblock at 0, 8, 64 or 256 KiB.
const UFS: &[Offsets] = &[At(0x55c), At(0x255c), At(0x1055c), At(0x4055c)];

/// Sectors from the end where Promise controllers put their mark.
const PROMISE: &[Offsets] = &[
    end(512, 63 * 512),
    end(512, 255 * 512),
    end(512, 256 * 512),
    end(512, 16 * 512),
    end(512, 399 * 512),
    end(512, 591 * 512),
    end(512, 675 * 512),
    end(512, 735 * 512),
    end(512, 911 * 512),
    end(512, 974 * 512),
    end(512, 991 * 512),
    end(512, 951 * 512),
    end(512, 3087 * 512),
];

pub(super) const ROWS: &[Row] = &[
    // Partition tables. A GPT has its backup in the last block.
    row("gpt", b"EFI PART", &[SecondBlock, LastBlock]),
    checked("dos", b"\x55\xaa", &[At(510)], checks::mbr),
    checked("mac", b"ER", &[At(0)], checks::mac),
    checked("sun", b"\xda\xbe", &[At(508)], checks::sun),
    row("sgi", b"\x0b\xe5\xa9\x41", &[At(0)]),
    row("bsd", b"\x57\x45\x56\x82", &[At(64), At(128), At(512)]),
    row("aix", b"\xc9\xc2\xd4\xc1", &[At(0)]),
    row("ultrix", b"\x57\x29\x03\0\x01\0\0\0", &[At(16 * KIB - 72)]),
    // File systems.
    checked("ext", b"\x53\xef", &[At(0x438)], |w, magic| checks::journal(w, magic).map(|j| !j)),
    checked("jbd", b"\x53\xef", &[At(0x438)], checks::journal),
    row("xfs", b"XFSB", &[At(0)]),
    // The log begins anywhere in the first 512 sectors: the next record may be the oldest.
    checked(
        "xfs_external_log",
        b"\xfe\xed\xba\xbe",
        &[Series { first: 0, step: 512, count: 512 }],
        checks::xfs_log,
    ),
    row("exfs", b"EXFS", &[At(0)]),
    row("btrfs", b"_BHRfS_M", &[At(0x10040)]),
    row("f2fs", b"\x10\x20\xf5\xf2", &[At(0x400)]),
    row("ntfs", b"NTFS    ", &[At(3)]),
    row("ReFS", b"\0\0\0ReFS\0", &[At(0)]),
    row("exfat", b"EXFAT   ", &[At(3)]),
    row("vfat", b"FAT32   ", &[At(0x52)]),
    row("vfat", b"MSWIN", &[At(0x52)]),
    row("vfat", b"FAT16   ", &[At(0x36)]),
    row("vfat", b"FAT12   ", &[At(0x36)]),
    row("vfat", b"FAT     ", &[At(0x36)]),
    row("vfat", b"MSDOS", &[At(0x36)]),
    checked("vfat", b"\x55\xaa", &[At(510)], checks::fat),
    row("jfs", b"JFS1", &[At(32 * KIB)]),
    row("reiserfs", b"ReIsEr", &[At(8 * KIB + 0x34), At(64 * KIB + 0x34)]),
    row("reiser4", b"ReIsEr4", &[At(64 * KIB)]),
    checked("nilfs2", b"\x34\x34", &[At(0x406), end(512, 4096 - 6)], checks::nilfs),
    row("ocfs", b"OracleCFS", &[At(8 * KIB)]),
    row("ocfs2", b"OCFSV2", &[At(KIB), At(2 * KIB), At(4 * KIB), At(8 * KIB)]),
    row("gfs2", b"\x01\x16\x19\x70\0\0\0\x01", &[At(64 * KIB)]),
    row("ufs", b"\x54\x19\x01\x00", UFS),
    row("ufs", b"\x00\x01\x19\x54", UFS),
    row("ufs", b"\x19\x01\x54\x19", UFS),
    row("ufs", b"\x19\x54\x01\x19", UFS),
    row("hfsplus", b"H+\0\x04", &[At(KIB)]),
    row("hfsplus", b"HX\0\x05", &[At(KIB)]),
    checked("hfs", b"BD", &[At(KIB)], checks::hfs),
    checked("apfs", b"NXSB", &[At(32)], checks::apfs),
    row(
        "bcachefs",
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        &[At(0x1018)],
    ),
    row("iso9660", b"CD001", &[At(32 * KIB + 1)]),
    row("udf", b"BEA01", VOLUME_SEQUENCE),
    row("iso9660", b"CDROM", &[At(32 * KIB + 9)]),
    row("udf", b"NSR02", VOLUME_SEQUENCE),
    row("udf", b"NSR03", VOLUME_SEQUENCE),
    row("udf", b"BOOT2", VOLUME_SEQUENCE),
    row("udf", b"CDW02", VOLUME_SEQUENCE),
    row("udf", b"TEA01", VOLUME_SEQUENCE),
    row("squashfs", b"hsqs", &[At(0)]),
    row("squashfs3", b"sqsh", &[At(0)]),
    row("erofs", b"\xe2\xe1\xf5\xe0", &[At(KIB)]),
    row("cramfs", b"\x45\x3d\xcd\x28", &[At(0)]),
    row("cramfs", b"\x28\xcd\x3d\x45", &[At(0)]),
    row("romfs", b"-rom1fs-", &[At(0)]),
    row("ubi", b"UBI#", &[At(0)]),
    row("ubifs", b"\x31\x18\x10\x06", &[At(0)]),
    row("bfs", b"\xce\xfa\xad\x1b", &[At(0)]),
    row("befs", b"BFS1", &[At(0x20), At(0x220)]),
    row("befs", b"1SFB", &[At(0x20), At(0x220)]),
    // Minix 1, 2 (16 bytes in) and 3 (24), in either byte order; names of 14 and 30 characters.
    checked("minix", b"\x7f\x13", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x8f\x13", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x68\x24", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x78\x24", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x5a\x4d", &[At(KIB + 24)], checks::minix),
    checked("minix", b"\x13\x7f", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x13\x8f", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x24\x68", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x24\x78", &[At(KIB + 16)], checks::minix),
    checked("minix", b"\x4d\x5a", &[At(KIB + 24)], checks::minix),
    row("sysv", b"\x20\x7e\x18\xfd", SYSV),
    row("sysv", b"\xfd\x18\x7e\x20", SYSV),
    row("xenix", b"\x2b\x55\x44", &[At(2 * KIB)]),
    row("xenix", b"\x44\x55\x2b", &[At(2 * KIB)]),
    row("vxfs", b"\xf5\xfc\x01\xa5", &[At(KIB)]),
    row("vxfs", b"\xa5\x01\xfc\xf5", &[At(8 * KIB)]),
    checked("hpfs", b"\x49\xe8\x95\xf9", &[At(8 * KIB)], checks::hpfs),
    row("nss", b"SPB5", &[At(4 * KIB)]),
    row("mpool", b"mpoolDev", &[At(0)]),
    row("zonefs", b"SFOZ", &[At(0)]),
    row("VMFS", b"\x5e\xf1\xab\x2f", &[At(2 << 20)]),
    row("VMFS_volume_member", b"\x0d\xd0\x01\xc0", &[At(1 << 20)]),
    // Volume managers and software RAID.
    // `wipefs` removes the type of a label, 24 bytes into it, and leaves its LABELONE alone.
    row(CLEAR_LVM, b"LVM2 001", &[Series { first: 24, step: 512, count: 4 }]),
    checked("LVM1_member", b"HM", &[At(0)], checks::lvm_1),
    checked(
        CLEAR_MD,
        b"\xfc\x4e\x2b\xa9",
        &[At(0), At(4 * KIB), end(4 * KIB, 8 * KIB)],
        checks::md_1,
    ),
    checked(CLEAR_MD, b"\xfc\x4e\x2b\xa9", &[end(64 * KIB, 64 * KIB)], checks::md_0),
    checked(CLEAR_MD, b"\xa9\x2b\x4e\xfc", &[end(64 * KIB, 64 * KIB)], checks::md_0),
    row(CLEAR_ZFS, b"\x0c\xb1\xba\0\0\0\0\0", UBERBLOCKS),
    row(CLEAR_ZFS, b"\0\0\0\0\0\xba\xb1\x0c", UBERBLOCKS),
    row(
        "bcache",
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
        &[At(0x1018)],
    ),
    row("stratis", b"!Stra0tis\x86\xff\x02^\x41rh", &[At(512 + 4), At(9 * 512 + 4)]),
    row("vdo", b"dmvdo001", &[At(0)]),
    row("drbd", b"\x83\x74\x02\x6b", &[end(1, 4096 - 60)]),
    row("drbd", b"\x83\x74\x02\x6c", &[end(1, 4096 - 60)]),
    row("drbd", b"\x83\x74\x02\x6d", &[end(1, 4096 - 60)]),
    row("drbdmanage_control_volume", b"$DRBDmgr=q", &[At(0)]),
    row("drbdproxy_datalog", b"DRBDdlh*", &[At(16)]),
    row("ceph_bluestore", b"bluestore block device", &[At(0)]),
    row("oracleasm", b"ORCLDISK", &[At(32)]),
    row("DM_snapshot_cow", b"SnAp", &[At(0)]),
    row("DM_verity_hash", b"verity\0\0", &[At(0)]),
    row("DM_integrity", b"integrt\0", &[At(0)]),
    // Controllers that keep their configuration on the disks.
    row("isw_raid_member", b"Intel Raid ISM Cfg Sig. ", &[end(512, 2 * 512)]),
    row("ddf_raid_member", b"\xde\x11\xde\x11", &[end(512, 512), end(512, 257 * 512)]),
    row("ddf_raid_member", b"\x11\xde\x11\xde", &[end(512, 512), end(512, 257 * 512)]),
    row("nvidia_raid_member", b"NVIDIA", &[end(512, 2 * 512)]),
    row("lsi_mega_raid_member", b"$XIDE$", &[end(512, 512)]),
    row("promise_fasttrack_raid_member", b"Promise Technology, Inc.", PROMISE),
    row("hpt45x_raid_member", b"\xf3\x16\x78\x5a", &[end(512, 11 * 512)]),
    row("hpt45x_raid_member", b"\xfd\x16\x78\x5a", &[end(512, 11 * 512)]),
    row("hpt37x_raid_member", b"\xf0\x16\x78\x5a", &[At(9 * 512 + 32)]),
    row("hpt37x_raid_member", b"\xfd\x16\x78\x5a", &[At(9 * 512 + 32)]),
    checked("via_raid_member", b"\x55\xaa", &[end(512, 512)], checks::via),
    checked("silicon_medley_raid_member", b"\0\0\0\x2f", &[end(512, 416)], checks::silicon),
    row("adaptec_raid_member", b"\x37\xfc\x4d\x1e", &[end(512, 512)]),
    checked("jmicron_raid_member", b"JM", &[end(512, 512)], checks::jmicron),
    // Encryption. The secondary LUKS2 header is at one of nine sizes of the first.
    row("crypto_LUKS", b"LUKS\xba\xbe", &[At(0)]),
    row(
        "crypto_LUKS",
        b"SKUL\xba\xbe",
        &[
            At(0x4000),
            At(0x8000),
            At(0x1_0000),
            At(0x2_0000),
            At(0x4_0000),
            At(0x8_0000),
            At(0x10_0000),
            At(0x20_0000),
            At(0x40_0000),
        ],
    ),
    row("BitLocker", b"-FVE-FS-", &[At(3)]),
    row("BitLocker", b"\xeb\x58\x90MSWIN4.1", &[At(0)]),
    // Swap, and memory images of a suspended system on swap.
    row("swap", b"SWAPSPACE2", PAGE_ENDS),
    row("swap", b"SWAP-SPACE", PAGE_ENDS),
    row("swsuspend", b"S1SUSPEND", PAGE_ENDS),
    row("swsuspend", b"S2SUSPEND", PAGE_ENDS),
    row("swsuspend", b"ULSUSPEND", PAGE_ENDS),
    row("swsuspend", b"LINHIB0001", PAGE_ENDS),
    row("swsuspend", b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c", &[At(0)]),
];
