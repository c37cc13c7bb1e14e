//! What a scenario file says: a machine, what is plugged in, what breaks and when, and what the
//! program must see there.

use super::disk::{self, Board, Disk, On};
use crate::{Failure, root};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// One scenario: a machine, its disks, and what happens to them, over one boot or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The file's stem.
    #[serde(skip)]
    pub name: String,
    pub description: String,
    /// One of those that `make test` boots.
    #[serde(default)]
    pub quick: bool,
    #[serde(default)]
    pub machine: Board,
    #[serde(default = "one")]
    pub cpus: u32,
    #[serde(default = "memory")]
    pub memory_mib: u32,
    /// Kernel arguments; `module.parameter=value` is given to the module as well.
    #[serde(default)]
    pub kernel: Vec<String>,
    /// Modules to load, in order; what they depend on is loaded before them.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Modules the guest may load with `load NAME` in a step.
    #[serde(default)]
    pub later: Vec<String>,
    /// Tools the guest needs besides busybox.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// More arguments of QEMU, as they are.
    #[serde(default)]
    pub qemu: Vec<String>,
    #[serde(default, rename = "disk")]
    pub disks: Vec<Disk>,
    /// Device nodes that must be there before the first step of each boot.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Other machines the same disks can be put into, by name: what each has otherwise.
    #[serde(default)]
    pub boots: BTreeMap<String, Otherwise>,
    /// How often the steps after those of the set-up are played; steps see it as `$ROUND`, from 1.
    #[serde(default = "one")]
    pub rounds: u32,
    /// What happens, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// What the host does when a step says `mark NAME`: monitor commands.
    #[serde(default)]
    pub marks: BTreeMap<String, Vec<String>>,
}

/// What a machine has otherwise than the first; what is left out is as there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otherwise {
    pub machine: Option<Board>,
    pub kernel: Option<Vec<String>>,
    pub modules: Option<Vec<String>>,
    /// What disks are plugged into, by their names.
    #[serde(default)]
    pub on: BTreeMap<String, On>,
}

fn one() -> u32 {
    1
}

fn memory() -> u32 {
    448
}

/// The name of the first machine.
pub const SAME: &str = "same";

/// A tool that the guest needs besides busybox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// bcache-tools: make-bcache.
    #[serde(rename = "make-bcache")]
    Bcache,
    /// btrfs-progs: mkfs.btrfs.
    #[serde(rename = "mkfs-btrfs")]
    Btrfs,
    Dmsetup,
    Fio,
    /// drbd-utils: what writes DRBD's metadata.
    Drbdmeta,
    /// drbd-utils: drbdsetup for DRBD 8.4, which the kernel has.
    #[serde(rename = "drbdsetup-84")]
    Drbdsetup,
    Fuse2fs,
    /// open-iscsi: iscsistart.
    Iscsistart,
    /// e2fsprogs: mkfs.ext4.
    Mkfs,
    /// xfsprogs: mkfs.xfs.
    #[serde(rename = "mkfs-xfs")]
    MkfsXfs,
    #[serde(rename = "nbd-client")]
    NbdClient,
    /// nvme-cli.
    Nvme,
    /// smartmontools.
    Smartctl,
    Sqlite3,
}

impl Tool {
    /// The program's name, and the Debian packages that hold it and its libraries, but for those
    /// that ours needs too. Without packages it is the one installed on this machine, with all that
    /// it is linked with.
    pub const fn packages(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Dmsetup => (
                "dmsetup",
                &["dmsetup", "libdevmapper1.02.1", "libudev1", "libselinux1", "libpcre2-8-0"],
            ),
            Self::Bcache => ("make-bcache", &["bcache-tools", "libblkid1", "libuuid1"]),
            Self::Btrfs => (
                "mkfs.btrfs",
                &[
                    "btrfs-progs",
                    "libblkid1",
                    "libcap2",
                    "liblzo2-2",
                    "libudev1",
                    "libuuid1",
                    "libzstd1",
                    "zlib1g",
                ],
            ),
            // Linked with forty libraries of networks that no job in the lab asks for.
            Self::Fio => ("fio", &[]),
            Self::Drbdmeta => ("drbdmeta", &["drbd-utils"]),
            Self::Drbdsetup => ("drbdsetup-84", &["drbd-utils"]),
            Self::Fuse2fs => (
                "fuse2fs",
                &["fuse2fs", "libfuse2", "libext2fs2", "libcom-err2", "libblkid1", "libuuid1"],
            ),
            Self::Iscsistart => (
                "iscsistart",
                &["open-iscsi", "libopeniscsiusr", "libkmod2", "libssl3", "libzstd1", "liblzma5"],
            ),
            Self::Mkfs => {
                ("mkfs.ext4", &["e2fsprogs", "libext2fs2", "libcom-err2", "libblkid1", "libuuid1"])
            }
            Self::MkfsXfs => {
                ("mkfs.xfs", &["xfsprogs", "libblkid1", "libinih1", "liburcu8", "libuuid1"])
            }
            Self::NbdClient => (
                "nbd-client",
                &[
                    "nbd-client",
                    "libnl-3-200",
                    "libnl-genl-3-200",
                    "libgnutls30",
                    "libp11-kit0",
                    "libidn2-0",
                    "libunistring2",
                    "libtasn1-6",
                    "libnettle8",
                    "libhogweed6",
                    "libgmp10",
                    "libffi8",
                ],
            ),
            // libnvme-mi speaks to controllers over D-Bus, hence the tail.
            Self::Nvme => (
                "nvme",
                &[
                    "nvme-cli",
                    "libnvme1",
                    "libjson-c5",
                    "zlib1g",
                    "libssl3",
                    "libdbus-1-3",
                    "libsystemd0",
                    "libcap2",
                    "libgcrypt20",
                    "libgpg-error0",
                    "liblzma5",
                    "libzstd1",
                    "liblz4-1",
                ],
            ),
            Self::Smartctl => {
                ("smartctl", &["smartmontools", "libstdc++6", "libselinux1", "libpcre2-8-0"])
            }
            Self::Sqlite3 => {
                ("sqlite3", &["sqlite3", "libsqlite3-0", "libreadline8", "libtinfo6", "zlib1g"])
            }
        }
    }
}

/// Something done in the guest or by the host, and what must come of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub name: String,
    /// Before all else, the power is cut (where it is still on) and a machine is started with the
    /// same disks: `same` is the first, others are in `boots`.
    pub boot: Option<String>,
    /// The step ends in a power cut: it says `mark cut`, and the machine is gone at once.
    #[serde(default)]
    pub power_cut: bool,
    #[serde(default)]
    pub run: String,
    /// Monitor commands, before `run`.
    #[serde(default)]
    pub host: Vec<String>,
    /// Part of the state the scenario is about, so it also goes before a command given by hand.
    #[serde(default)]
    pub setup: bool,
    #[serde(default)]
    pub exit: i32,
    /// Words standard output must have.
    #[serde(default)]
    pub stdout: Vec<String>,
    /// Words standard error must have.
    #[serde(default)]
    pub stderr: Vec<String>,
    /// Values in the JSON on standard output, by pointer (`/device/driver/value`; `null`: absent).
    #[serde(default)]
    pub json: BTreeMap<String, Expected>,
    /// What stations of the device's attachment must say, in order: words of kind, name and detail.
    #[serde(default)]
    pub hops: Vec<String>,
    #[serde(default)]
    pub findings_must: Vec<String>,
    /// Findings of severity warning or above that may be there; all others may not.
    #[serde(default)]
    pub findings_allowed: Vec<String>,
}

/// What a value in a JSON document must be.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Expected {
    Condition(Condition),
    Is(Value),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// A text, or one element of a list, contains this.
    Contains(String),
    /// No text and no element contains this.
    Lacks(String),
    /// A number of at least this.
    AtLeast(f64),
    /// A number of at most this.
    AtMost(f64),
    /// It is (or is not) there with a value other than `null`.
    Present(bool),
    /// A list has this many elements.
    Length(usize),
}

pub fn folder() -> PathBuf {
    root().join("lab/scenarios")
}

/// Reads every scenario file, by name.
pub fn all() -> Result<Vec<Scenario>, Failure> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder())? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        out.push(parse(&name, &text).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

fn parse(name: &str, text: &str) -> Result<Scenario, Failure> {
    let scenario = Scenario { name: name.to_owned(), ..toml::from_str(text)? };
    scenario.check()?;
    Ok(scenario)
}

impl Scenario {
    /// The scenario as it is on the machine of this name.
    ///
    /// # Errors
    /// When no machine has this name.
    pub fn on_machine(&self, name: &str) -> Result<Self, String> {
        let mut out = self.clone();
        if name == SAME {
            return Ok(out);
        }
        let other = self.boots.get(name).ok_or_else(|| format!("there is no machine {name:?}"))?;
        out.machine = other.machine.unwrap_or(out.machine);
        out.kernel = other.kernel.clone().unwrap_or(out.kernel);
        out.modules = other.modules.clone().unwrap_or(out.modules);
        let names = disk::names(&self.disks);
        for (disk, on) in &other.on {
            let at = names.iter().position(|n| n == disk);
            let at = at.ok_or_else(|| format!("machine {name:?}: there is no disk {disk:?}"))?;
            out.disks[at].on = *on;
        }
        Ok(out)
    }

    /// An error when the file contradicts itself.
    fn check(&self) -> Result<(), String> {
        let mut powered = true;
        for step in &self.steps {
            if let Some(machine) = &step.boot {
                self.on_machine(machine).map_err(|e| format!("step {:?}: {e}", step.name))?;
            }
            if !powered && step.boot.is_none() {
                return Err(format!("step {:?} has no power: it needs `boot`", step.name));
            }
            powered = !step.power_cut;
            if step.run.is_empty() && step.host.is_empty() && step.boot.is_none() {
                return Err(format!("step {:?} does nothing", step.name));
            }
            if let Some(id) = step.findings_must.iter().find(|id| !id.starts_with("SW-")) {
                return Err(format!("step {:?} wants {id:?}, which is no finding", step.name));
            }
        }
        let marked = |mark: &str| {
            let calls = self.steps.iter().flat_map(|s| s.run.split(['\n', ';', '&']));
            calls.into_iter().any(|c| c.trim().strip_prefix("mark ") == Some(mark))
        };
        match self.marks.keys().find(|mark| !marked(mark)) {
            Some(mark) => Err(format!("no step says `mark {mark}`")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_file_is_understood_and_has_a_name_of_its_own() {
        let all = all().unwrap();
        assert!(all.len() >= 25, "only {} scenarios", all.len());
        let quick = all.iter().filter(|s| s.quick).count();
        assert!((10..=14).contains(&quick), "{quick} quick scenarios: a dozen fit into the gate");
    }

    #[test]
    fn the_page_about_the_lab_names_every_scenario_and_no_other() {
        let page = std::fs::read_to_string(crate::root().join("docs/lab.md")).unwrap();
        let (_, table) = page.split_once("## What is played").unwrap();
        let table = table.split("\n## ").next().unwrap();
        let mut named: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
        named.sort_unstable();
        let all = all().unwrap();
        let mut names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(named, names);
    }

    #[test]
    fn every_scenario_asserts_something_beyond_a_boot() {
        for scenario in all().unwrap() {
            let asserts = |s: &Step| {
                s.exit != 0
                    || !(s.stdout.is_empty() && s.stderr.is_empty() && s.json.is_empty())
                    || !s.findings_must.is_empty()
            };
            assert!(scenario.steps.iter().any(asserts), "{} asserts nothing", scenario.name);
        }
    }

    #[test]
    fn a_mark_that_no_step_makes_is_an_error() {
        let text = "description = \"d\"\n[marks]\nnow = [\"quit\"]\n\
                    [[step]]\nname = \"s\"\nrun = \"sleep 1; mark then\"\n";
        let error = parse("x", text).unwrap_err().to_string();
        assert!(error.contains("mark now"), "{error}");
        assert!(parse("x", &text.replace("mark then", "mark now")).is_ok());
    }

    #[test]
    fn another_machine_has_the_same_disks_elsewhere() {
        let text = "description = \"d\"\nmachine = \"pc\"\nmodules = [\"ata_piix\"]\n\
                    kernel = [\"x.y=1\"]\n[boots.new]\nmachine = \"q35\"\n\
                    modules = [\"ahci\"]\non = { disk0 = \"ahci\" }\n\
                    [[disk]]\non = \"ide\"\n[[step]]\nname = \"s\"\nboot = \"new\"\n";
        let new = parse("x", text).unwrap().on_machine("new").unwrap();
        assert_eq!((new.machine, new.disks[0].on), (Board::Q35, On::Ahci));
        assert_eq!((new.modules, new.kernel), (vec!["ahci".to_owned()], vec!["x.y=1".to_owned()]));
        for (was, is) in [("disk0 =", "disk1 ="), ("boot = \"new\"", "boot = \"newer\"")] {
            let error = parse("x", &text.replace(was, is)).unwrap_err().to_string();
            assert!(error.contains("there is no "), "{error}");
        }
    }

    #[test]
    fn nothing_is_done_between_a_power_cut_and_a_boot() {
        let text = "description = \"d\"\n[[step]]\nname = \"cut\"\npower_cut = true\n\
                    run = \"mark cut\"\n[[step]]\nname = \"then\"\nrun = \"true\"\n";
        let error = parse("x", text).unwrap_err().to_string();
        assert!(error.contains("needs `boot`"), "{error}");
        assert!(parse("x", &format!("{text}boot = \"same\"\n")).is_ok());
    }

    #[test]
    fn a_key_nobody_knows_is_an_error() {
        let text = "description = \"d\"\n[[step]]\nname = \"s\"\nrun = \"true\"\nstdot = [\"x\"]\n";
        let error = parse("x", text).unwrap_err().to_string();
        assert!(error.contains("stdot"), "{error}");
    }

    #[test]
    fn an_expected_value_is_a_value_or_a_condition() {
        let step: Step = toml::from_str(
            "name = \"s\"\n[json]\n\"/a\" = 32\n\"/b\" = { contains = \"x\" }\n\
             \"/c\" = { present = false }\n",
        )
        .unwrap();
        assert_eq!(step.json["/a"], Expected::Is(Value::from(32)));
        assert_eq!(step.json["/b"], Expected::Condition(Condition::Contains("x".to_owned())));
        assert_eq!(step.json["/c"], Expected::Condition(Condition::Present(false)));
    }
}
