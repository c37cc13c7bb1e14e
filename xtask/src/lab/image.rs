//! Disk images: sparse files, blank or with a file system.

use super::disk::{Content, Disk};
use super::parts::{Without, has};
use crate::serve;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const SECTOR: u64 = 512;

/// Makes the image of a disk; `tree` gives the files of a root file system.
pub fn make(
    disk: &Disk,
    path: &Path,
    tree: impl FnOnce() -> Result<TempDir, Without>,
) -> Result<(), Without> {
    let size = disk.size_mib * MIB;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_len(match &disk.machine {
        Some(machine) => serve::model(machine)?.capacity(),
        None => size,
    })?;
    match disk.content {
        Content::Blank => Ok(()),
        Content::Ext4 => ext4(path, 0, size, None),
        Content::Root => ext4(path, 0, size, Some(tree()?.path())),
        Content::PartitionExt4 => {
            file.seek(SeekFrom::Start(446))?;
            file.write_all(&partition(MIB / SECTOR, (size - MIB) / SECTOR))?;
            file.seek(SeekFrom::Start(510))?;
            file.write_all(&[0x55, 0xaa])?;
            ext4(path, MIB, size - MIB, None)
        }
    }
}

/// An entry of a DOS partition table, in sectors; its places in cylinders are those that say "too
/// far for cylinders".
fn partition(start: u64, sectors: u64) -> [u8; 16] {
    let mut entry = [0, 0xfe, 0xff, 0xff, 0x83, 0xfe, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
    entry[8..12].copy_from_slice(&(start as u32).to_le_bytes());
    entry[12..].copy_from_slice(&(sectors as u32).to_le_bytes());
    entry
}

/// A file system, empty or with the files of a folder.
fn ext4(path: &Path, offset: u64, size: u64, tree: Option<&Path>) -> Result<(), Without> {
    if !has("mkfs.ext4") {
        return Err(Without::Machine("missing: mkfs.ext4 (e2fsprogs)".to_owned()));
    }
    let output = Command::new("mkfs.ext4")
        .env("PATH", search())
        .args(["-q", "-F", "-E", &format!("offset={offset},lazy_itable_init=0,root_owner=0:0")])
        .args(tree.iter().flat_map(|tree| [OsStr::new("-d"), tree.as_os_str()]))
        .arg(path)
        .arg(format!("{}k", size / 1024))
        .output()?;
    if output.status.success() {
        Ok(())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Without::Broken(format!("mkfs.ext4: {}", said.trim()).into()))
    }
}

/// The sector of the first block that the journal of an ext4 image logs to.
pub fn journal_sector(image: &Path) -> Result<u64, Without> {
    if !has("debugfs") {
        return Err(Without::Machine("missing: debugfs (e2fsprogs)".to_owned()));
    }
    let mut file = File::open(image)?;
    let mut log_block_size = [0; 4];
    file.seek(SeekFrom::Start(1024 + 24))?;
    file.read_exact(&mut log_block_size)?;
    let sectors = (1024_u64 << u32::from_le_bytes(log_block_size).min(6)) / SECTOR;
    // The journal is inode 8, and its block 0 is its superblock.
    let output = Command::new("debugfs")
        .env("PATH", search())
        .args(["-R", "bmap <8> 1"])
        .arg(image)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let block: u64 = said.trim().parse().map_err(|_| format!("debugfs: {}", said.trim()))?;
    Ok(block * sectors)
}

/// Where tools of the file system are.
fn search() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_is_where_its_file_system_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("disk");
        let disk: Disk =
            toml::from_str("on = \"ahci\"\nsize_mib = 16\ncontent = \"partition-ext4\"").unwrap();
        match make(&disk, &path, || unreachable!()) {
            Err(Without::Machine(why)) => {
                eprintln!("skipped: {why}");
                return;
            }
            done => assert!(done.is_ok()),
        }
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes[510..512], [0x55, 0xaa]);
        let start = u32::from_le_bytes(bytes[454..458].try_into().unwrap());
        assert_eq!(start, 2048);
        // The magic number of ext2 to ext4, in the superblock 1 KiB into the file system.
        let magic = start as usize * 512 + 1024 + 0x38;
        assert_eq!(bytes[magic..magic + 2], [0x53, 0xef]);
    }
}
