//! Who else sets it: a setting that is put back by a daemon an hour later was not kept.
//!
//! Only configuration is read; daemons are not queried.

use crate::disk::Disk;
use crate::setting::{Attribute, Udev};
use seekwell_sys::View;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Something else that sets a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Who: `udev`, `tuned`, `TLP`, `power-profiles-daemon`, `hdparm.conf`, `irqbalance`, `sysctl`.
    pub who: String,
    pub from: String,
    /// The line, or what it means.
    pub says: String,
}

/// Where udev looks for rules, the first first.
const RULES: [&str; 4] =
    ["/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"];

/// Everything else that sets this attribute, as far as configuration shows.
pub fn others(view: &dyn View, disk: &Disk, attribute: &Attribute) -> Vec<Other> {
    let mut found = udev(view, disk, attribute);
    found.extend(tuned(view, attribute));
    found.extend(tlp(view, attribute));
    found.extend(hdparm_conf(view, disk, attribute));
    found.extend(daemons(view, attribute));
    found.extend(sysctl(view, attribute));
    found
}

fn other(who: &str, from: &Path, says: &str) -> Other {
    let says: String = says.trim().chars().take(160).collect();
    Other { who: who.to_owned(), from: from.display().to_string(), says }
}

/// The lines of a file without comments; a line that ends in a backslash goes on in the next.
fn lines(view: &dyn View, path: &Path) -> Vec<String> {
    let text = view.text(path).unwrap_or_default().replace("\\\n", " ");
    let bare = |l: &str| l.split('#').next().unwrap_or_default().trim().to_owned();
    text.lines().map(bare).filter(|l| !l.is_empty()).collect()
}

/// The files of a folder with this ending, in the order they are read.
fn files(view: &dyn View, dir: &str, ending: &str) -> Vec<PathBuf> {
    let names = view.list(Path::new(dir)).unwrap_or_default();
    names.into_iter().filter(|n| n.ends_with(ending)).map(|n| Path::new(dir).join(n)).collect()
}

/// The attribute a rule would name, without what stands for a number in it.
fn rule_name(attribute: &Attribute) -> Option<String> {
    match (attribute.setting.udev)(&attribute.key) {
        Udev::Disk(name) | Udev::Pci(name) | Udev::Line(name) => Some(name),
        Udev::Not(_) => match attribute.key.as_str() {
            "write_cache" => Some("queue/write_cache".to_owned()),
            key @ ("cache_type" | "provisioning_mode") => Some(key.to_owned()),
            _ => None,
        },
    }
}

fn udev(view: &dyn View, disk: &Disk, attribute: &Attribute) -> Vec<Other> {
    let Some(name) = rule_name(attribute) else { return Vec::new() };
    let last = name.rsplit('/').next().unwrap_or(&name);
    let line_of_disk = matches!((attribute.setting.udev)(&attribute.key), Udev::Line(_));
    // systemd ships models of some drives, and a rule that writes what its database has of a disk.
    let known = view.text(Path::new(&format!("/run/udev/data/b{}", disk.identity.dev)));
    let shipped = known.is_ok_and(|db| db.contains("E:IOCOST_SOLUTIONS="));
    let runs = |line: &str| {
        line_of_disk && (line.contains(&name) || shipped && line.contains("iocost apply"))
    };
    let mut seen: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for path in RULES.iter().flat_map(|dir| files(view, dir, ".rules")) {
        let file = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        // A file hides those of its name in the folders after; this program's own is known.
        if seen.contains(&file) || file.starts_with("61-seekwell-") {
            continue;
        }
        seen.push(file);
        for line in lines(view, &path) {
            if (assigns(&line, &name, last) || runs(&line)) && may_match(view, disk, &line) {
                found.push(other("udev", &path, &line));
            }
        }
    }
    found
}

/// Whether a rule's comparisons of the disk's own attributes let it apply, as far as they are plain
/// words; what else it asks is not known here.
fn may_match(view: &dyn View, disk: &Disk, line: &str) -> bool {
    line.match_indices("ATTR{").all(|(at, _)| {
        let rest = &line[at + 5..];
        let Some((named, after)) = rest.split_once('}') else { return true };
        let Some((wanted, _)) = after.strip_prefix("==\"").and_then(|a| a.split_once('"')) else {
            return true;
        };
        let plain = !wanted.contains(['*', '?', '[']);
        match view.text(&disk.at(named)) {
            Ok(is) if plain => wanted.split('|').any(|w| w == is),
            _ => true,
        }
    })
}

/// Whether a rule assigns the attribute: `ATTR{queue/scheduler}="x"`, and not `==`.
fn assigns(line: &str, name: &str, last: &str) -> bool {
    line.match_indices("ATTR{").any(|(at, _)| {
        let rest = &line[at + 5..];
        let Some((named, after)) = rest.split_once('}') else { return false };
        let ours = named == name || (name.contains('*') && named.ends_with(last));
        let after = after.trim_start();
        ours && (after.starts_with("=\"") || after.starts_with(":="))
    })
}

fn tuned(view: &dyn View, attribute: &Attribute) -> Vec<Other> {
    let active = view.text(Path::new("/etc/tuned/active_profile")).unwrap_or_default();
    let mut found = Vec::new();
    let words: &[&str] = match attribute.key.as_str() {
        "scheduler" => &["elevator"],
        "read_ahead_kb" => &["readahead"],
        "link_power" => &["alpm"],
        key => &[key],
    };
    let sysctl = attribute.key.strip_prefix("vm.").map(|_| attribute.key.as_str());
    let mut todo: Vec<String> = active.split_whitespace().map(str::to_owned).collect();
    let mut seen = Vec::new();
    while let Some(profile) = todo.pop() {
        if seen.contains(&profile) || profile.contains('/') {
            continue;
        }
        let dirs =
            ["/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"];
        let paths = dirs.iter().map(|d| Path::new(d).join(&profile).join("tuned.conf"));
        seen.push(profile.clone());
        let Some(path) = paths.into_iter().find(|p| view.exists(p)) else { continue };
        for line in lines(view, &path) {
            let Some((key, value)) = line.split_once('=') else { continue };
            let key = key.trim();
            if key == "include" {
                todo.extend(value.split(',').map(|p| p.trim().to_owned()));
            }
            let named = words.contains(&key) || sysctl == Some(key);
            let path_of = key.starts_with("/sys/") && words.iter().any(|w| key.ends_with(*w));
            if named || path_of {
                found.push(other("tuned", &path, &line));
            }
        }
    }
    found
}

fn tlp(view: &dyn View, attribute: &Attribute) -> Vec<Other> {
    let stem = match attribute.key.as_str() {
        "scheduler" => "DISK_IOSCHED",
        "apm" => "DISK_APM_LEVEL_ON_",
        "link_power" => "SATA_LINKPWR_ON_",
        "pm" => "AHCI_RUNTIME_PM_ON_",
        key if key.starts_with("aspm.") => "PCIE_ASPM_ON_",
        "vm.laptop_mode" => "DISK_IDLE_SECS_ON_",
        "vm.dirty_expire_centisecs" | "vm.dirty_writeback_centisecs" => "MAX_LOST_WORK_SECS_ON_",
        _ => return Vec::new(),
    };
    let mut paths = files(view, "/etc/tlp.d", ".conf");
    paths.push(PathBuf::from("/etc/tlp.conf"));
    let mut found = Vec::new();
    for path in paths {
        let said = lines(view, &path).into_iter().filter(|l| l.starts_with(stem));
        found.extend(said.map(|line| other("TLP", &path, &line)));
    }
    found
}

/// Debian's boot-time settings, for all drives or for those a block names.
fn hdparm_conf(view: &dyn View, disk: &Disk, attribute: &Attribute) -> Vec<Other> {
    let word = match attribute.key.as_str() {
        "read_ahead_kb" => "read_ahead_sect",
        "cache_type" | "write_cache" => "write_cache",
        "look_ahead" => "lookahead",
        "apm" => "apm",
        "acoustic" => "acoustic_management",
        "io_32bit" => "io32_support",
        "read_only" => "read_only",
        _ => return Vec::new(),
    };
    let path = Path::new("/etc/hdparm.conf");
    let mut inside: Option<bool> = None;
    let mut found = Vec::new();
    for line in lines(view, path) {
        if let Some(node) = line.strip_suffix('{') {
            let node = node.trim();
            let real = view.canonical(Path::new(node)).unwrap_or_else(|_| PathBuf::from(node));
            inside = Some(real == disk.node());
        } else if line == "}" {
            inside = None;
        } else if line.starts_with(word) && inside != Some(false) {
            found.push(other("hdparm.conf", path, &line));
        }
    }
    found
}

fn daemons(view: &dyn View, attribute: &Attribute) -> Vec<Other> {
    let enabled = |unit: &str| {
        let wants = ["multi-user.target.wants", "graphical.target.wants", "basic.target.wants"];
        let paths = wants.iter().map(|w| format!("/etc/systemd/system/{w}/{unit}"));
        paths.map(PathBuf::from).find(|p| view.exists(p))
    };
    let mut found = Vec::new();
    if attribute.key.starts_with("irq_affinity")
        && let Some(unit) = enabled("irqbalance.service")
    {
        found.push(other("irqbalance", &unit, "moves interrupts between CPUs while it runs"));
    }
    let power =
        matches!(attribute.key.as_str(), "link_power" | "pm") || attribute.key.starts_with("aspm.");
    if power && let Some(unit) = enabled("power-profiles-daemon.service") {
        let says = "may change power settings whenever the profile is switched";
        found.push(other("power-profiles-daemon", &unit, says));
    }
    found
}

fn sysctl(view: &dyn View, attribute: &Attribute) -> Vec<Other> {
    if !attribute.key.starts_with("vm.") {
        return Vec::new();
    }
    let dirs = ["/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d"];
    let mut paths: Vec<PathBuf> = dirs.iter().flat_map(|d| files(view, d, ".conf")).collect();
    paths.push(PathBuf::from("/etc/sysctl.conf"));
    let mut found = Vec::new();
    for path in paths {
        for line in lines(view, &path) {
            let key = line.split('=').next().unwrap_or_default().trim().trim_start_matches('-');
            if key.replace('/', ".") == attribute.key {
                found.push(other("sysctl", &path, &line));
            }
        }
    }
    found
}
