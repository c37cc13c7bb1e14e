//! Finding tracefs, and the instances of it that recordings make and must not leave behind.
//!
//! An instance has buffers, events and filters of its own, so a recording does not disturb other
//! tracing. It is a directory; the process that made it removes it on every way out. What a killed
//! process left names that process, and the next recording removes it. The kernel refuses to remove
//! an instance that is in use.

use super::error::CaptureError;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use seekwell_access::{by_descriptor, is_left_behind, owned_name};
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Where the kernel shows how far it is locked down.
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// A mounted tracefs.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// A mount of our own that no name leads to; it is gone with the last descriptor.
    _own: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds where tracefs is mounted; if it is not, makes a mount that only this process sees.
    ///
    /// # Errors
    /// [`CaptureError`] says what is missing and what would help.
    pub fn find() -> Result<Self, CaptureError> {
        if let Some(root) = mounted() {
            return Ok(Self { root, _own: None });
        }
        let own = mount_unseen().map_err(|errno| {
            let source = io::Error::from(errno);
            match source.kind() {
                io::ErrorKind::PermissionDenied => refused("mounting tracefs", source),
                _ => CaptureError::NotMounted { source },
            }
        })?;
        let root = by_descriptor(&own);
        Ok(Self { root, _own: Some(own) })
    }

    /// Its top.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads a file below the top.
    ///
    /// # Errors
    /// [`CaptureError::Denied`], [`CaptureError::LockedDown`] or [`CaptureError::Io`].
    pub fn read(&self, name: &str) -> Result<String, CaptureError> {
        let path = self.root.join(name);
        read(&path).map_err(|source| failed("reading", &path, source))
    }

    /// Removes the instances of processes that are no more. Gives their names.
    pub fn remove_leftovers(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("instances")) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let dead = names.filter(|name| is_left_behind(name));
        let place = self.root.join("instances");
        dead.filter(|name| fs::remove_dir(place.join(name)).is_ok()).collect()
    }

    /// Makes the instance of this process.
    ///
    /// # Errors
    /// [`CaptureError`] as for [`Tracefs::read`].
    pub fn instance(&self) -> Result<Instance, CaptureError> {
        let place = self.root.join("instances");
        let name = owned_name().map_err(|error| CaptureError::Io {
            what: "naming an instance in",
            path: place.clone(),
            source: io::Error::other(error),
        })?;
        let path = place.join(name);
        fs::create_dir(&path).map_err(|source| failed("making", &path, source))?;
        Ok(Instance { path, guard: None })
    }
}

/// An instance; removed when dropped.
#[derive(Debug)]
pub struct Instance {
    path: PathBuf,
    /// Held open: the kernel frees the buffers when it is closed, whatever ended the process.
    guard: Option<fs::File>,
}

impl Instance {
    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file in it.
    ///
    /// # Errors
    /// [`CaptureError`] as for [`Tracefs::read`].
    pub fn write(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        let path = self.path.join(name);
        fs::write(&path, value).map_err(|source| failed("writing", &path, source))
    }

    /// Lets the kernel stop tracing and free the buffers once this process is gone.
    pub fn guard(&mut self) {
        // Kernels that lack either keep the buffers until the next start removes the instance.
        let _ = self.write("options/disable_on_free", "1");
        self.guard = fs::OpenOptions::new().write(true).open(self.path.join("free_buffer")).ok();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.guard = None;
        // A failure cannot be reported here; the next start tries again.
        let _ = fs::write(self.path.join("tracing_on"), "0");
        let _ = remove(&self.path);
    }
}

/// Reads a file in as few calls as can be: the kernel hands out `events/header_page` to the first
/// call only, and the standard library's begins with 32 bytes.
fn read(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut bytes = vec![0; 64 << 10];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    bytes.truncate(filled);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Removes what killed recordings left in tracefs, mounted or not. Gives their names.
///
/// Costs a look at the table of mounts and at one directory; without the right to look it does
/// nothing.
pub fn remove_leftovers() -> Vec<String> {
    Tracefs::find().map_or_else(|_| Vec::new(), |tracefs| tracefs.remove_leftovers())
}

/// Removes an instance. Readers that were just closed may hold it for a moment longer.
fn remove(path: &Path) -> io::Result<()> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match fs::remove_dir(path) {
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            done => return done,
        }
    }
    fs::remove_dir(path)
}

/// Where tracefs is mounted, its usual place first.
fn mounted() -> Option<PathBuf> {
    let table = fs::read("/proc/self/mounts").ok()?;
    let table = String::from_utf8_lossy(&table).into_owned();
    let mut places: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (place, kind) = (words.next()?, words.next()?);
            (kind == "tracefs").then(|| PathBuf::from(place.replace("\\040", " ")))
        })
        .collect();
    places.sort_by_key(|place| place != Path::new("/sys/kernel/tracing"));
    places.into_iter().next()
}

fn mount_unseen() -> rustix::io::Result<OwnedFd> {
    let context = rustix::mount::fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_create(&context)?;
    let mount = rustix::mount::fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )?;
    Ok(mount)
}

/// Files an error of a file of tracefs under what a person can do about it.
pub(super) fn failed(what: &'static str, path: &Path, source: io::Error) -> CaptureError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => refused("using tracefs", source),
        _ => CaptureError::Io { what, path: path.to_path_buf(), source },
    }
}

/// Whether the kernel refuses every user, or this one.
fn refused(what: &'static str, source: io::Error) -> CaptureError {
    refused_under(&fs::read_to_string(LOCKDOWN).unwrap_or_default(), what, source)
}

/// The same for the content of the kernel's file on lockdown, in which the mode is in brackets.
fn refused_under(mode: &str, what: &'static str, source: io::Error) -> CaptureError {
    if mode.contains("[confidentiality]") {
        return CaptureError::LockedDown { mode: mode.trim().to_owned() };
    }
    CaptureError::Denied { uid: rustix::process::geteuid().as_raw(), what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lockdown_is_blamed_on_lockdown() {
        let refused = |mode| {
            refused_under(mode, "using tracefs", io::ErrorKind::PermissionDenied.into()).to_string()
        };
        let said = refused("none integrity [confidentiality]\n");
        assert!(said.starts_with(
            "the kernel is locked down (none integrity [confidentiality]) and refuses tracing"
        ));
        assert!(said.contains("`lockdown=integrity`") && !said.contains("sudo"), "{said}");
        for mode in ["none [integrity] confidentiality\n", "[none] integrity confidentiality", ""] {
            assert!(refused(mode).contains("may not (using tracefs"), "{mode}");
        }
    }

    #[test]
    fn the_description_of_pages_is_read_whole() {
        // The first read of it gave 32 bytes, and the next ones nothing.
        let Ok(tracefs) = Tracefs::find() else {
            crate::capture::tests::skip("no tracefs here");
            return;
        };
        assert!(tracefs.read("events/header_page").unwrap().contains("data;"));
    }

    #[test]
    fn a_mount_that_no_name_leads_to_is_a_whole_tracefs() {
        let mounts = || fs::read_to_string("/proc/self/mounts").unwrap();
        let before = mounts();
        let own = match mount_unseen() {
            Ok(own) => own,
            Err(errno) => {
                crate::capture::tests::skip(&format!("no mount of tracefs here: {errno}"));
                return;
            }
        };
        let root = by_descriptor(&own);
        assert!(root.join("instances").is_dir());
        assert_eq!(mounts(), before);
    }
}
