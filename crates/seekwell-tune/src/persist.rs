//! A kept state that survives the next boot: a udev rule for this very disk.
//!
//! A rule is applied whenever the disk appears, whatever its name is then. It is matched by serial
//! number or WWN; its assignments stand in the order in which the settings reset each other; its
//! file is numbered after the rules that find the serial out (60) and before the one that gives
//! zoned disks their scheduler (64). The file is written whole or not at all.

use crate::apply::{Change, Difference};
use crate::conflict::{Other, others};
use crate::disk::Disk;
use crate::setting::{Scope, Stage, Udev, find};
use seekwell_sys::{MAX_TEXT, View, read_text};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where rules of this machine's own are.
pub const RULES_DIR: &str = "/etc/udev/rules.d";

/// The first line of every rule file of this program; a file without it is someone else's.
const HEAD: &str = "# Written by `seekwell tune keep --persist`";

/// Names of rules that are being written.
const PREFIX: &str = ".seekwell-";
const SUFFIX: &str = ".tmp";

/// A rule takes no longer than this to be written.
const STALE: Duration = Duration::from_secs(600);

/// Why the state cannot be made to survive a reboot.
#[derive(Debug, thiserror::Error)]
pub enum PersistError {
    /// Nothing about the disk stays the same over a reboot.
    #[error("{disk} has neither serial number nor WWN, so no rule could know it again")]
    NoIdentity { disk: String },
    /// A setting that is not for rules.
    #[error("{key} cannot be made to survive a reboot by a rule: {why}")]
    NotForRules { key: String, why: &'static str },
    #[error("{what} {value:?} cannot stand in a udev rule")]
    Quoting {
        /// What it is.
        what: &'static str,
        value: String,
    },
    /// A file of this name is not this program's.
    #[error("{} was not written by seekwell, and is left alone", path.display())]
    NotOurs { path: PathBuf },
    /// udev does not accept the rule.
    #[error("udevadm verify does not accept the rule: {said}")]
    Unsound {
        /// What it said.
        said: String,
    },
    #[error("{} cannot be written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// A rule that could be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub path: PathBuf,
    pub text: String,
    /// Rules and daemons that set the same.
    pub conflicts: Vec<Other>,
}

/// Whether udev was asked about a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// It was, and accepts it.
    Yes,
    /// It could not be.
    No { why: String },
}

/// The match that finds the disk again, and a short name for it.
fn identity(view: &dyn View, disk: &Disk) -> Option<(String, String)> {
    let known = &disk.identity;
    let db = view.text(Path::new(&format!("/run/udev/data/b{}", known.dev))).unwrap_or_default();
    let property = |key: &str| {
        let line = db.lines().find_map(|l| l.strip_prefix("E:")?.strip_prefix(key));
        line.and_then(|l| l.strip_prefix('=')).map(str::to_owned)
    };
    for key in ["ID_SERIAL", "ID_WWN_WITH_EXTENSION", "ID_WWN"] {
        if let Some(value) = property(key) {
            return Some((format!("ENV{{{key}}}==\"{value}\""), value));
        }
    }
    for attribute in ["wwid", "device/wwid", "serial", "loop/backing_file"] {
        if let Some(value) = view.text(&disk.at(attribute)).ok().filter(|v| !v.is_empty()) {
            return Some((format!("ATTR{{{attribute}}}==\"{value}\""), value));
        }
    }
    let serial = known.serial.clone()?;
    Some((format!("ENV{{ID_SERIAL_SHORT}}==\"{serial}\""), serial))
}

/// The name of the rule's file, from what identifies the disk.
fn file_name(id: &str) -> String {
    let mut crc = flate2::Crc::new();
    crc.update(id.as_bytes());
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let short: String =
        id.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().map(keep).collect();
    // What was replaced or cut off still distinguishes two disks.
    format!("61-seekwell-{}-{:08x}.rules", short.trim_matches('_'), crc.sum())
}

fn quotable(what: &'static str, value: &str) -> Result<(), PersistError> {
    let bad = |c: char| c == '"' || c == '\\' || c.is_control() || "*?[]|$%".contains(c);
    if value.chars().any(bad) {
        return Err(PersistError::Quoting { what, value: value.to_owned() });
    }
    Ok(())
}

/// The file a rule for this disk has or would have.
pub fn path_for(view: &dyn View, disk: &Disk, dir: &Path) -> Option<PathBuf> {
    identity(view, disk).map(|(_, id)| dir.join(file_name(&id)))
}

/// The rule that sets `changes` whenever the disk appears. `originals` are noted in it, so that
/// they are known after a reboot too.
///
/// # Errors
/// [`PersistError`] but for those of writing.
pub fn rule(
    view: &dyn View,
    disk: &Disk,
    changes: &[Change],
    originals: &[Difference],
    dir: &Path,
) -> Result<Rule, PersistError> {
    let (matched, id) = identity(view, disk)
        .ok_or_else(|| PersistError::NoIdentity { disk: disk.identity.name.clone() })?;
    quotable("the identity", &id)?;
    let mut order: Vec<&Change> = changes.iter().collect();
    order.sort_by_key(|c| c.stage);
    let (mut on_disk, mut on_pci, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
    for change in order {
        quotable("the value", &change.value)?;
        let scheduler = (change.stage == Stage::Iosched).then_some("");
        let Ok(attribute) = find(view, disk, &change.key, None)
            .or_else(|_| find(view, disk, &change.key, scheduler))
        else {
            let why = "it is not there now";
            return Err(PersistError::NotForRules { key: change.key.clone(), why });
        };
        if attribute.setting.scope == Scope::Machine {
            let why = "it is the machine's, not the disk's: put it in /etc/sysctl.d";
            return Err(PersistError::NotForRules { key: change.key.clone(), why });
        }
        match (attribute.setting.udev)(&change.key) {
            Udev::Disk(name) => on_disk.push(format!("ATTR{{{name}}}=\"{}\"", change.value)),
            Udev::Pci(name) => on_pci.push(format!("ATTR{{{name}}}=\"{}\"", change.value)),
            // As systemd's own rule for io.cost does: udev's sandbox may write there.
            Udev::Line(name) => {
                let file =
                    attribute.path.parent().unwrap_or(Path::new(&name)).display().to_string();
                let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
                if !file.chars().all(plain) {
                    return Err(PersistError::Quoting { what: "the path", value: file });
                }
                let said = format!("echo $major:$minor {} >{file}", change.value);
                on_disk.push(format!("RUN+=\"/bin/sh -c '{said}'\""));
            }
            Udev::Not(why) => {
                return Err(PersistError::NotForRules { key: change.key.clone(), why });
            }
        }
        conflicts.extend(others(view, disk, &attribute));
    }
    let mut text = format!("{HEAD}; `seekwell tune undo` removes it.\n");
    for original in originals {
        let _ = writeln!(text, "# was: {}={}", original.key, original.was);
    }
    if !on_disk.is_empty() {
        let head = "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\"";
        let _ = writeln!(text, "{head}, {matched}, {}", on_disk.join(", "));
    }
    if let (false, Some(pci)) = (on_pci.is_empty(), &disk.pci) {
        let kernel = pci.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let head = format!("ACTION==\"add|change\", SUBSYSTEM==\"pci\", KERNEL==\"{kernel}\"");
        let _ = writeln!(text, "{head}, {}", on_pci.join(", "));
    }
    Ok(Rule { path: dir.join(file_name(&id)), text, conflicts })
}

/// What a rule file of this program says was set before: keys and values. `None` when there is no
/// such file, or it is someone else's.
pub fn originals_in(path: &Path) -> Option<Vec<(String, String)>> {
    let text = read_text(path, MAX_TEXT).ok()?;
    let mut lines = text.lines();
    if !lines.next()?.starts_with(HEAD) {
        return None;
    }
    let was = lines.filter_map(|l| l.strip_prefix("# was: ")?.split_once('='));
    Some(was.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// A rule that lies, whole and synced, beside the place it is for.
#[derive(Debug)]
pub struct Prepared {
    file: tempfile::NamedTempFile,
    path: PathBuf,
    /// Whether udev was asked about it.
    pub verified: Verified,
}

impl Prepared {
    /// Puts it in its place. It is there whole, or not at all.
    ///
    /// # Errors
    /// [`PersistError::Io`].
    pub fn write(self) -> Result<(), PersistError> {
        let Self { file, path, .. } = self;
        let fail = |source| PersistError::Io { path: path.clone(), source };
        file.persist(&path).map_err(|e| fail(e.error))?;
        let dir = path.parent().unwrap_or(Path::new("/"));
        File::open(dir).and_then(|d| d.sync_all()).map_err(fail)
    }
}

/// Does all that can fail about writing a rule, and asks udev about it where it can be asked.
///
/// # Errors
/// [`PersistError`]; the folder is as before then.
pub fn prepare(rule: &Rule) -> Result<Prepared, PersistError> {
    if rule.path.exists() && originals_in(&rule.path).is_none() {
        return Err(PersistError::NotOurs { path: rule.path.clone() });
    }
    let verified = verify(&rule.text)?;
    let fail = |source| PersistError::Io { path: rule.path.clone(), source };
    let dir = rule.path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(dir).map_err(fail)?;
    sweep(dir, SUFFIX);
    let mut file = tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .permissions(std::fs::Permissions::from_mode(0o644))
        .tempfile_in(dir)
        .map_err(fail)?;
    file.write_all(rule.text.as_bytes()).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    Ok(Prepared { file, path: rule.path.clone(), verified })
}

/// Removes what writers that were killed left behind in a folder: nothing that udev reads.
fn sweep(dir: &Path, suffix: &str) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(suffix));
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if ours && age.is_some_and(|age| age > STALE) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Every rule file of this program in a folder.
pub fn rules_in(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = |p: &PathBuf| {
        let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.starts_with("61-seekwell-") && name.ends_with(".rules")
    };
    let mut all: Vec<PathBuf> = entries.map(|e| e.path()).filter(named).collect();
    all.retain(|p| originals_in(p).is_some());
    all.sort();
    all
}

/// Removes a rule file of this program. Whether there was one.
pub fn remove(path: &Path) -> bool {
    originals_in(path).is_some() && std::fs::remove_file(path).is_ok()
}

fn verify(text: &str) -> Result<Verified, PersistError> {
    let no = |why: String| Ok(Verified::No { why });
    // udevadm knows a file of rules by its suffix.
    let suffix = ".rules";
    sweep(&std::env::temp_dir(), suffix);
    let Ok(mut file) = tempfile::Builder::new().prefix(PREFIX).suffix(suffix).tempfile() else {
        return no("no temporary file could be made".to_owned());
    };
    if let Err(error) = file.write_all(text.as_bytes()) {
        return no(error.to_string());
    }
    let asked = Command::new("udevadm").arg("verify").arg(file.path()).output();
    let output = match asked {
        Ok(output) => output,
        Err(error) => return no(format!("udevadm cannot be run: {error}")),
    };
    if output.status.success() {
        return Ok(Verified::Yes);
    }
    if output.status.code().is_none() {
        return no(format!("udevadm ended by itself: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    // systemd before 254 has no such verb.
    if said.contains("Unknown command verb") {
        return no("this udevadm cannot verify rules (systemd 254 and later can)".to_owned());
    }
    Err(PersistError::Unsound { said })
}

#[cfg(test)]
mod tests;
