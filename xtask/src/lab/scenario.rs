//! What a scenario file says: a machine, what is plugged in, what breaks and when, and what the
//! program must see there.

use super::disk::Disk;
use crate::{Failure, root};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// One scenario: one boot.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The file's stem.
    #[serde(skip)]
    pub name: String,
    /// One sentence.
    pub description: String,
    /// One of those that `make test` boots.
    #[serde(default)]
    pub quick: bool,
    /// The board.
    #[serde(default)]
    pub machine: Board,
    /// CPUs of the guest.
    #[serde(default = "one")]
    pub cpus: u32,
    /// Memory of the guest.
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
    /// The disks.
    #[serde(default, rename = "disk")]
    pub disks: Vec<Disk>,
    /// Device nodes that must be there before the first step.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// What happens, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// What the host does when a step says `mark NAME`: monitor commands.
    #[serde(default)]
    pub marks: BTreeMap<String, Vec<String>>,
}

fn one() -> u32 {
    1
}

fn memory() -> u32 {
    448
}

/// A board QEMU knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// i440FX and PIIX, 1996.
    Pc,
    /// Q35 and ICH9, 2009.
    #[default]
    Q35,
    /// No PCI: virtio over MMIO.
    Microvm,
}

/// A tool that the guest needs besides busybox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// `dmsetup`.
    Dmsetup,
}

/// Something done in the guest or by the host, and what must come of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it is called in the log.
    pub name: String,
    /// Commands for the guest's shell.
    #[serde(default)]
    pub run: String,
    /// Monitor commands, before `run`.
    #[serde(default)]
    pub host: Vec<String>,
    /// Part of the state the scenario is about, so it also goes before a command given by hand.
    #[serde(default)]
    pub setup: bool,
    /// The exit status it must have.
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
    /// Findings that must be there.
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
    /// A condition.
    Condition(Condition),
    /// This value.
    Is(Value),
}

/// A condition on a value in a JSON document.
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

/// Where the scenario files are.
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
    /// An error when the file contradicts itself.
    fn check(&self) -> Result<(), String> {
        for step in &self.steps {
            if step.run.is_empty() && step.host.is_empty() {
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
