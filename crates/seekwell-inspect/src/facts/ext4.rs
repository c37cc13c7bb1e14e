//! What ext4 remembers of its own errors (Documentation/ABI/testing/sysfs-fs-ext4).
//!
//! A file system whose journal was aborted may still be called writable in the table of mounts, and
//! the lines about it leave the kernel log. The count of errors stays in the superblock
//! until the file system is checked.

use crate::model::Fact;
use crate::mount::MOUNTINFO;
use crate::pages::{BlockGroups, page};
use crate::reader::{Need, Reader, show};
use crate::sysfs::name;
use seekwell_sys::{DevId, Mount};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The length at which a thread's name was cut (`TASK_COMM_LEN` of `include/linux/sched.h`).
const CUT: usize = 15;

/// A mounted ext4 file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ext4Facts {
    /// The block device it is on, `sda1`.
    pub device: String,
    /// The kernel refuses writes to it, whatever was asked for.
    pub read_only: Option<Fact<bool>>,
    pub mounted_writable: Option<Fact<bool>>,
    /// What it does at an error: `continue`, `remount-ro`, `panic`.
    pub at_error: Option<Fact<String>>,
    /// Errors since it was last checked.
    pub error_count: Option<Fact<u64>>,
    /// When the first of them was, RFC 3339.
    pub first_error_at: Option<Fact<String>>,
    /// When the last of them was, RFC 3339.
    pub last_error_at: Option<Fact<String>>,
    pub last_error_function: Option<Fact<String>>,
    /// The device of its journal (`sdb1`), if the journal is external.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<Fact<String>>,
    /// Absent where the kernel will not initialise inode tables (`noinit_itable`, mounted
    /// read-only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_groups: Option<Fact<BlockGroups>>,
}

/// Of the devices at these folders those that an ext4 is mounted from.
pub(crate) fn ext4(r: &mut Reader<'_>, dirs: &[PathBuf], mounts: &[Mount]) -> Vec<Ext4Facts> {
    dirs.iter().filter_map(|dir| one(r, dir, mounts)).collect()
}

fn one(r: &mut Reader<'_>, dir: &Path, mounts: &[Mount]) -> Option<Ext4Facts> {
    let device = name(dir);
    let state = Path::new("/sys/fs/ext4").join(device);
    let options = Path::new("/proc/fs/ext4").join(device).join("options");
    let in_force = r.view.text(&options).ok();
    let error_count =
        r.number(&state.join("errors_count"), "errors of the file system", Need::Optional);
    if error_count.is_none() && in_force.is_none() {
        return None;
    }
    let in_force = in_force.unwrap_or_default();
    let line = |found: &dyn Fn(&str) -> Option<String>| {
        in_force.lines().find_map(|l| found(l.trim())).map(|v| Fact::new(v, show(&options)))
    };
    let dev: Option<DevId> = r.hint(&dir.join("dev")).and_then(|d| d.parse().ok());
    let own: Vec<&Mount> = mounts.iter().filter(|m| Some(m.dev) == dev).collect();
    // Of a file system that was made read-only the options of the mount itself still say rw.
    let writable = own.iter().any(|m| m.options.iter().any(|o| o == "rw"));
    let read_only = in_force.lines().map(str::trim).find(|l| ["ro", "rw"].contains(l));
    Some(Ext4Facts {
        device: device.to_owned(),
        read_only: read_only.map(|l| Fact::new(l == "ro", show(&options))),
        mounted_writable: (!own.is_empty()).then(|| Fact::new(writable, MOUNTINFO)),
        at_error: line(&|l| l.strip_prefix("errors=").map(crate::reader::clean)),
        error_count,
        first_error_at: time(r, &state.join("first_error_time")),
        last_error_at: time(r, &state.join("last_error_time")),
        last_error_function: r.optional(&state.join("last_error_func"), "where it met an error"),
        journal: journal(r, device, &state),
        block_groups: match read_only == Some("rw") && line(&is_lazy_off).is_none() {
            true => block_groups(r, device),
            false => None,
        },
    })
}

fn is_lazy_off(line: &str) -> Option<String> {
    (line == "noinit_itable").then(|| line.to_owned())
}

fn block_groups(r: &Reader<'_>, device: &str) -> Option<Fact<BlockGroups>> {
    let page = page(&device.replace('!', "/"), "ext4-groups");
    let text = r.hint(&page)?;
    let (total, left) = text.split_once(' ')?;
    let groups = BlockGroups { total: total.parse().ok()?, uninitialised: left.parse().ok()? };
    Some(Fact::new(groups, show(&page)))
}

/// The device of an external journal. Its thread is called `jbd2/DEVICE`, that of a journal inside
/// the file system `jbd2/DEVICE-INODE` (`fs/jbd2/journal.c`). Kernels before 5.17 truncate the
/// name; the folders in `/proc/fs/jbd2` have it in full.
fn journal(r: &Reader<'_>, device: &str, state: &Path) -> Option<Fact<String>> {
    let task = r.hint(&state.join("journal_task"))?;
    let comm = Path::new("/proc").join(task).join("comm");
    let thread = r.hint(&comm)?;
    let of_thread = |name: &String| {
        let whole = format!("jbd2/{name}");
        whole == thread || (thread.len() == CUT && whole.starts_with(&thread))
    };
    let inside = |name: &String| name.starts_with(&format!("{device}-"));
    let mut names = r.names(Path::new("/proc/fs/jbd2")).into_iter().filter(of_thread);
    match (names.next(), names.next()) {
        (Some(name), None) if !inside(&name) => Some(Fact::new(name, show(&comm))),
        _ => None,
    }
}

/// Seconds since 1970; 0 is never.
fn time(r: &Reader<'_>, path: &Path) -> Option<Fact<String>> {
    let seconds = r.view.number(path).ok().filter(|s| *s > 0)?;
    let at = jiff::Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(Fact::new(at.to_string(), show(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    fn read(fake: &Fake) -> Vec<Ext4Facts> {
        let mut r = Reader::new(fake);
        let mounts = crate::mount::read(&mut r, Need::Optional);
        ext4(&mut r, &["/x/sda".into(), "/x/sda/sda1".into()], &mounts)
    }

    #[test]
    fn errors_are_read_with_their_times_and_what_is_done_about_them() {
        let state = "/sys/fs/ext4/sda1";
        let fake = Fake::new()
            .file(format!("{state}/errors_count"), "3\n")
            .file(format!("{state}/first_error_time"), "1794830401\n")
            .file(format!("{state}/last_error_time"), "1794830402\n")
            .file(format!("{state}/last_error_func"), "ext4_journal_check_start\n")
            .file("/proc/fs/ext4/sda1/options", "ro\nbsddf\nerrors=remount-ro\ncommit=5\n");
        // What the table of mounts said on kernel 6.1 after an abort.
        let fake = fake
            .file("/x/sda/sda1/dev", "8:1\n")
            .file(MOUNTINFO, "21 1 8:1 / /srv rw,relatime - ext4 /dev/sda1 ro,errors=remount-ro\n");
        let all = read(&fake);
        let [facts] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(facts.device, "sda1");
        assert_eq!(facts.error_count.as_ref().map(|f| f.value), Some(3));
        assert_eq!(facts.first_error_at.as_ref().unwrap().value, "2026-11-16T12:00:01Z");
        assert_eq!(facts.read_only.as_ref().map(|f| f.value), Some(true));
        assert_eq!(facts.mounted_writable.as_ref().map(|f| f.value), Some(true));
        assert_eq!(facts.at_error.as_ref().unwrap().value, "remount-ro");
    }

    #[test]
    fn a_journal_on_another_device_is_told_from_one_inside() {
        let journal = |thread: &str, journals: &[&str]| {
            let fake = Fake::new()
                .file("/sys/fs/ext4/sda1/errors_count", "0\n")
                .file("/sys/fs/ext4/sda1/journal_task", "412\n")
                .file("/proc/412/comm", format!("{thread}\n"));
            let fake = journals.iter().fold(fake, |f, j| f.dir(format!("/proc/fs/jbd2/{j}")));
            read(&fake)[0].journal.as_ref().map(|f| f.value.clone())
        };
        assert_eq!(journal("jbd2/sda1-8", &["sda1-8", "sdb1"]), None);
        assert_eq!(journal("jbd2/sdb1", &["sda2-8", "sdb1"]).as_deref(), Some("sdb1"));
        assert_eq!(journal("jbd2/sdb1", &["sdb1", "sdb10-8"]).as_deref(), Some("sdb1"));
        let cut = journal("jbd2/nvme10n1p1", &["nvme10n1p12", "sda1-8"]);
        assert_eq!(cut.as_deref(), Some("nvme10n1p12"));
        let two = journal("jbd2/nvme10n1p1", &["nvme10n1p1", "nvme10n1p12"]);
        assert_eq!(two, None, "either of two");
        assert_eq!(journal("jbd2/sdb1", &[]), None);
    }

    #[test]
    fn nonsense_and_silence_are_no_errors() {
        let state = "/sys/fs/ext4/sda1";
        let healthy = Fake::new()
            .file(format!("{state}/errors_count"), "0\n")
            .file(format!("{state}/last_error_time"), "0\n")
            .file(format!("{state}/last_error_func"), "\n");
        let asked = healthy
            .file("/x/sda/sda1/dev", "8:1\n")
            .file(MOUNTINFO, "21 1 8:1 / /srv ro,relatime - ext4 /dev/sda1 ro\n");
        let facts = &read(&asked)[0];
        assert_eq!(facts.mounted_writable.as_ref().map(|f| f.value), Some(false));
        assert!(facts.last_error_at.is_none() && facts.last_error_function.is_none());
        let nonsense = Fake::new()
            .garbage(format!("{state}/errors_count"))
            .file(format!("{state}/last_error_time"), "18446744073709551615\n")
            .garbage("/proc/fs/ext4/sda1/options");
        let facts = &read(&nonsense)[0];
        assert_eq!((&facts.error_count, &facts.read_only), (&None, &None));
        assert_eq!(facts.last_error_at, None);
        assert!(read(&Fake::new()).is_empty());
    }
}
