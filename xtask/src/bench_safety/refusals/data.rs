//! Someone's data without a label: beyond the places where labels lie, and behind what
//! looks like our own mark.

use super::{Target, drop_cache, each};
use crate::Failure;
use crate::bench_safety::Section;
use crate::bench_safety::rig::{MIB, Rig, tool};
use crate::devices::Loop;
use seekwell_sys::mark;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Programs that make a file system of which more than both ends is left: name, program, words,
/// size in MiB.
const WIPED: &[(&str, &str, &[&str], u64)] = &[
    ("ext2, 1 KiB blocks", "mke2fs", &["-q", "-F", "-t", "ext2", "-b", "1024"], 64),
    ("ext4, 1 KiB blocks", "mke2fs", &["-q", "-F", "-t", "ext4", "-b", "1024"], 64),
    ("ext4, 2 KiB blocks", "mke2fs", &["-q", "-F", "-t", "ext4", "-b", "2048"], 160),
    ("ext4, 4 KiB blocks", "mke2fs", &["-q", "-F", "-t", "ext4", "-b", "4096"], 600),
    ("xfs", "mkfs.xfs", &["-q", "-f"], 320),
    ("xfs of 8 groups", "mkfs.xfs", &["-q", "-f", "-d", "agcount=8"], 900),
    ("btrfs", "mkfs.btrfs", &["-q", "-f"], 256),
    ("f2fs", "mkfs.f2fs", &["-q", "-f"], 128),
    ("ntfs", "mkfs.ntfs", &["-Q", "-F"], 64),
];

type Sector = (&'static str, fn(&mut [u8]));

/// Sectors that begin with the mark and are not ours.
const LOOKALIKES: &[Sector] = &[
    ("a text", |sector| {
        sector.copy_from_slice(&b"seekwell writes to disks.\r\n".repeat(19)[..512])
    }),
    ("one byte behind it", |sector| sector[500] = 1),
    ("a table", |sector| (24..512).for_each(|i| sector[i] = (i / 8) as u8)),
    ("one of ours with a bit changed", |sector| {
        sector[24..].fill(b'x');
        mark::put(sector);
        sector[300] ^= 1;
    }),
];

/// Devices with data of somebody's that carries no signature.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let sizes: &[u64] = if rig.quick { &[80] } else { &[80, 333, 4096, 1 << 20] };
    for size in sizes {
        let bytes = size * MIB;
        let mut places =
            vec![5 * MIB, 64 * MIB, 65 * MIB + 512, bytes / 2, bytes / 4 * 3, bytes - 3 * MIB];
        places.extend((0..3).map(|_| 5 * MIB + rig.below(bytes - 8 * MIB) / 512 * 512));
        for at in places.into_iter().step_by(if rig.quick { 3 } else { 1 }) {
            each(rig, section, &format!("data at byte {at} of {size} MiB"), |_, dir| {
                let disk = Loop::sparse(dir, "image", bytes)?;
                let file = File::options().write(true).open(&disk.backing)?;
                file.write_all_at(b"row 1 of somebody's table", at)?;
                Ok(Target::disk(disk))
            })?;
        }
    }
    for (name, program, words, size) in WIPED {
        for offset in [0, 8 * MIB] {
            each(
                rig,
                section,
                &format!("{name} with both ends wiped, from {offset} on"),
                |_, dir| {
                    let whole = Loop::sparse(dir, "image", size * MIB)?;
                    tool(program, words.iter().copied().chain([whole.name()]))?;
                    drop_cache(&whole)?;
                    let (file, end) = (File::options().write(true).open(&whole.backing)?, 12 * MIB);
                    file.write_all_at(&vec![0; end as usize], 0)?;
                    file.write_all_at(&vec![0; end as usize], size * MIB - end)?;
                    let backing = whole.backing.clone();
                    drop(whole);
                    let how = format!("--offset={offset}");
                    Ok(Target::disk(Loop::over(&backing, &[&how])?))
                },
            )?;
            if rig.quick {
                break;
            }
        }
    }
    for (name, make) in LOOKALIKES {
        for at in [0, 4096, 20 * MIB, 64 * MIB - 512] {
            each(rig, section, &format!("the mark before {name}, at byte {at}"), |_, dir| {
                let disk = Loop::sparse(dir, "image", 64 * MIB)?;
                let mut sector = vec![0; mark::SECTOR];
                sector[..8].copy_from_slice(b"seekwell");
                make(&mut sector);
                File::options().write(true).open(&disk.backing)?.write_all_at(&sector, at)?;
                Ok(Target::disk(disk))
            })?;
            if rig.quick {
                break;
            }
        }
    }
    // A loop device over another has no file of its own to be asked for holes.
    let spots = [(64, 33, 1), (4096, 1024, 64), (900, 450, 2), (6000, 2000, 1500)];
    for (size, at, len) in spots.into_iter().take(if rig.quick { 2 } else { 4 }) {
        each(
            rig,
            section,
            &format!("{len} MiB of data on {size} MiB without a file"),
            |_, dir| {
                let below = Loop::sparse(dir, "image", size * MIB)?;
                let file = File::options().write(true).open(&below.backing)?;
                for i in 0..len {
                    file.write_all_at(&vec![0xd7; 4096], (at + i) * MIB)?;
                }
                if len > 2 {
                    // Enough of it that none of 4,096 samples in a row misses it.
                    file.write_all_at(&vec![0xd7; 32 * MIB as usize], at * MIB)?;
                }
                let above = Loop::over(&below.node, &[])?;
                let (path, watched) = (above.node.clone(), vec![below.backing.clone()]);
                let target =
                    Target { path, serial: below.node.clone(), watched, _held: Vec::new() };
                Ok(target.holding(below).holding(above))
            },
        )?;
    }
    Ok(())
}
