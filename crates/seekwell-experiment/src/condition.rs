//! The machine's own condition around a run: heat, held-back processors, counts of errors.
//!
//! A disk or processor that has become too hot makes itself slow, and then the numbers show the
//! cooling and not of the setting. The kernel shows this in passing: temperatures with the limits
//! their owners state (hwmon, thermal zones), how often a processor was held back
//! (`thermal_throttle`), and how fast it may run (`cpufreq`). Whoever knows how to ask a disk for
//! its own counts of errors adds them to [`Condition::counts`].

use seekwell_sys::View;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CPUS: &str = "/sys/devices/system/cpu";
const ZONES: &str = "/sys/class/thermal";

/// What was seen just before or just after a run. What the machine does not show is not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Counts that grow only when something goes wrong, by what they count.
    pub counts: BTreeMap<String, u64>,
    /// Temperatures of the disk and of the machine.
    pub temperatures: Vec<Temperature>,
    /// How fast the processors may run, in kHz: the mean over all of them.
    pub cpu_limit_khz: Option<u64>,
    /// The share of all processors that other programs had during the run; absent of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_programs_percent: Option<f64>,
    /// Why the run before this says nothing of what was to be measured.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// Of what: `nvme Composite`, `drivetemp`, `x86_pkg_temp`.
    pub what: String,
    pub celsius: f64,
    /// From where on its owner makes itself slower, degrees Celsius.
    pub limit_celsius: Option<f64>,
    /// Its owner says that it is too high.
    pub alarm: bool,
}

impl Condition {
    /// Reads what the kernel shows of the machine and of the disk whose folder in sysfs is `disk`
    /// (with its links resolved).
    pub fn read(view: &dyn View, disk: Option<&Path>) -> Self {
        let mut temperatures = disk.map_or_else(Vec::new, |dir| of_disk(view, dir));
        temperatures.extend(of_machine(view));
        Self {
            counts: held_back(view),
            temperatures,
            cpu_limit_khz: cpu_limit(view),
            other_programs_percent: None,
            trouble: None,
        }
    }

    /// Whether there is nothing to judge by.
    pub fn is_blind(&self) -> bool {
        self.counts.is_empty() && self.temperatures.is_empty() && self.cpu_limit_khz.is_none()
    }

    /// What happened between this and `after`, or was already so, that makes the run in between
    /// say nothing of the setting.
    pub fn trouble(&self, after: &Self) -> Option<String> {
        let grown = self.counts.iter().find_map(|(what, was)| {
            let is = after.counts.get(what).filter(|is| *is > was)?;
            Some(format!("{what} grew from {was} to {is}"))
        });
        let all = after.temperatures.iter().chain(&self.temperatures);
        let hot = || all.clone().find_map(Temperature::too_high);
        let slower = || match (self.cpu_limit_khz, after.cpu_limit_khz) {
            (Some(was), Some(is)) if is < was => {
                let ghz = |khz: u64| khz as f64 / 1e6;
                let (was, is) = (ghz(was), ghz(is));
                Some(format!("the processors' limit fell from {was:.2} to {is:.2} GHz"))
            }
            _ => None,
        };
        grown.or_else(hot).or_else(slower)
    }
}

impl Temperature {
    fn too_high(&self) -> Option<String> {
        let Self { what, celsius, .. } = self;
        match self.limit_celsius {
            Some(limit) if *celsius >= limit => {
                Some(format!("{what} is at {celsius:.0} °C, and its limit is {limit:.0} °C"))
            }
            _ if self.alarm => Some(format!("{what} reports an alarm at {celsius:.0} °C")),
            _ => None,
        }
    }
}

/// Thousandths of a degree, where they can be true: what is not set is zero, -273 or a huge number.
fn celsius(view: &dyn View, path: &Path) -> Option<f64> {
    let thousandths: f64 = view.text(path).ok()?.trim().parse().ok()?;
    Some(thousandths / 1e3).filter(|c| (1.0..200.0).contains(c))
}

/// The sensors of a disk: those of its own folder and of those above, up to its PCI function.
fn of_disk(view: &dyn View, dir: &Path) -> Vec<Temperature> {
    let mut found = Vec::new();
    for above in dir.ancestors().take_while(|p| p.starts_with("/sys/devices")) {
        for folder in [above.to_path_buf(), above.join("hwmon")] {
            let chips = numbered(view, &folder, "hwmon");
            found.extend(chips.iter().flat_map(|chip| sensors(view, chip)));
        }
        let pci_function = view.exists(&above.join("subsystem_device"));
        if pci_function {
            break;
        }
    }
    found
}

/// The temperatures of one hwmon chip (Documentation/hwmon/sysfs-interface.rst).
fn sensors(view: &dyn View, chip: &Path) -> Vec<Temperature> {
    let name = view.text(&chip.join("name")).unwrap_or_default();
    let inputs = view.list(chip).unwrap_or_default();
    let stems = inputs.iter().filter_map(|f| f.strip_suffix("_input"));
    stems
        .filter(|stem| stem.starts_with("temp"))
        .filter_map(|stem| {
            let at = |what: &str| chip.join(format!("{stem}_{what}"));
            let label = view.text(&at("label")).unwrap_or_default();
            let limit = celsius(view, &at("max")).or_else(|| celsius(view, &at("crit")));
            Some(Temperature {
                what: format!("{} {}", name.trim(), label.trim()).trim().to_owned(),
                celsius: celsius(view, &at("input"))?,
                limit_celsius: limit,
                alarm: view.text(&at("alarm")).is_ok_and(|t| t.trim() == "1"),
            })
        })
        .collect()
}

/// The thermal zones. The limit is the lowest temperature from which on the kernel does something
/// about it other than turn a fan (Documentation/driver-api/thermal/sysfs-api.rst).
fn of_machine(view: &dyn View) -> Vec<Temperature> {
    let zones = numbered(view, Path::new(ZONES), "thermal_zone");
    zones.iter().filter_map(|zone| one_zone(view, zone)).collect()
}

fn one_zone(view: &dyn View, zone: &Path) -> Option<Temperature> {
    let files = view.list(zone).unwrap_or_default();
    let trips = files.iter().filter_map(|f| f.strip_prefix("trip_point_")?.strip_suffix("_type"));
    let limit = trips
        .filter(|n| {
            let kind = view.text(&zone.join(format!("trip_point_{n}_type")));
            kind.is_ok_and(|k| ["passive", "hot", "critical"].contains(&k.trim()))
        })
        .filter_map(|n| celsius(view, &zone.join(format!("trip_point_{n}_temp"))))
        .reduce(f64::min);
    Some(Temperature {
        what: view.text(&zone.join("type")).ok()?.trim().to_owned(),
        celsius: celsius(view, &zone.join("temp"))?,
        limit_celsius: limit,
        alarm: false,
    })
}

/// What in a folder has a name of this stem and a number.
fn numbered(view: &dyn View, dir: &Path, stem: &str) -> Vec<PathBuf> {
    let names = view.list(dir).unwrap_or_default();
    let fits = |n: &&String| {
        n.strip_prefix(stem).is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    names.iter().filter(fits).map(|n| dir.join(n)).collect()
}

/// How often processors were held back for their heat, over all of them.
fn held_back(view: &dyn View) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for cpu in numbered(view, Path::new(CPUS), "cpu") {
        for kind in ["core", "package"] {
            let path = cpu.join(format!("thermal_throttle/{kind}_throttle_count"));
            if let Ok(count) = view.number(&path) {
                let what = format!("throttling of a processor {kind}");
                *counts.entry(what).or_default() += count;
            }
        }
    }
    counts
}

fn cpu_limit(view: &dyn View) -> Option<u64> {
    let policies = numbered(view, &Path::new(CPUS).join("cpufreq"), "policy");
    let limits = policies.iter().map(|p| view.number(&p.join("scaling_max_freq")).ok());
    let limits: Vec<u64> = limits.flatten().collect();
    (!limits.is_empty()).then(|| limits.iter().sum::<u64>() / limits.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    const CONTROLLER: &str = "/sys/devices/pci0000:00/0000:00:04.0/0000:01:00.0/nvme/nvme0";

    fn nvme(thousandths: u64) -> Fake {
        let chip = format!("{CONTROLLER}/hwmon3");
        Fake::new()
            .dir(format!("{CONTROLLER}/nvme0n1"))
            .file(format!("{chip}/name"), "nvme\n")
            .file(format!("{chip}/temp1_label"), "Composite\n")
            .file(format!("{chip}/temp1_input"), format!("{thousandths}\n"))
            .file(format!("{chip}/temp1_max"), "81850\n")
            .file(format!("{chip}/temp2_input"), "40000\n")
            .file(format!("{chip}/temp2_max"), "65261850\n")
    }

    fn seen(view: &Fake) -> Condition {
        Condition::read(view, Some(&PathBuf::from(format!("{CONTROLLER}/nvme0n1"))))
    }

    #[test]
    fn a_disk_at_its_own_limit_was_not_measured_and_one_below_it_was() {
        let (cool, hot) = (seen(&nvme(60_000)), seen(&nvme(82_850)));
        assert_eq!(cool.temperatures.len(), 2);
        assert_eq!(cool.temperatures[1].limit_celsius, None, "65 261 °C is no limit");
        assert_eq!(cool.trouble(&cool), None);
        let why = "nvme Composite is at 83 °C, and its limit is 82 °C";
        assert_eq!(cool.trouble(&hot).as_deref(), Some(why));
        assert_eq!(hot.trouble(&cool).as_deref(), Some(why), "it was so before the run");
    }

    #[test]
    fn sata_disks_have_their_sensor_in_a_folder_of_its_own() {
        let dir = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
        let chip = format!("{dir}/hwmon/hwmon0");
        let view = Fake::new()
            .dir(format!("{dir}/block/sda"))
            .file(format!("{chip}/name"), "drivetemp\n")
            .file(format!("{chip}/temp1_input"), "41000\n")
            .file(format!("{chip}/temp1_alarm"), "1\n");
        let now = Condition::read(&view, Some(&PathBuf::from(format!("{dir}/block/sda"))));
        let why = "drivetemp reports an alarm at 41 °C";
        assert_eq!(now.trouble(&now).as_deref(), Some(why));
    }

    #[test]
    fn a_zone_is_too_hot_where_the_kernel_acts_and_not_where_a_fan_turns() {
        let zone = |thousandths: &str| {
            Fake::new()
                .file(format!("{ZONES}/thermal_zone0/type"), "x86_pkg_temp\n")
                .file(format!("{ZONES}/thermal_zone0/temp"), thousandths)
                .file(format!("{ZONES}/thermal_zone0/trip_point_0_type"), "active\n")
                .file(format!("{ZONES}/thermal_zone0/trip_point_0_temp"), "50000\n")
                .file(format!("{ZONES}/thermal_zone0/trip_point_1_type"), "passive\n")
                .file(format!("{ZONES}/thermal_zone0/trip_point_1_temp"), "0\n")
                .file(format!("{ZONES}/thermal_zone0/trip_point_2_type"), "hot\n")
                .file(format!("{ZONES}/thermal_zone0/trip_point_2_temp"), "95000\n")
        };
        let read = |t: &str| Condition::read(&zone(t), None);
        assert_eq!(read("70000\n").trouble(&read("94000\n")), None);
        assert!(read("70000\n").trouble(&read("95000\n")).is_some());
    }

    #[test]
    fn a_processor_that_was_held_back_or_may_run_no_longer_as_fast_spoils_a_run() {
        let cpus = |throttled: u32, limit: u32| {
            let count = "thermal_throttle/core_throttle_count";
            let view = Fake::new()
                .file(format!("{CPUS}/cpu0/{count}"), "7\n")
                .file(format!("{CPUS}/cpu1/{count}"), format!("{throttled}\n"))
                .file(format!("{CPUS}/cpufreq/policy0/scaling_max_freq"), "3400000\n")
                .file(format!("{CPUS}/cpufreq/policy1/scaling_max_freq"), format!("{limit}\n"));
            Condition::read(&view, None)
        };
        let before = cpus(1, 3_400_000);
        assert_eq!(before.trouble(&before), None);
        let why = "throttling of a processor core grew from 8 to 9";
        assert_eq!(before.trouble(&cpus(2, 3_400_000)).as_deref(), Some(why));
        let why = "the processors' limit fell from 3.40 to 2.40 GHz";
        assert_eq!(before.trouble(&cpus(1, 1_400_000)).as_deref(), Some(why));
        assert_eq!(cpus(1, 1_400_000).trouble(&before), None, "faster is an end of trouble");
    }

    #[test]
    fn a_machine_that_shows_nothing_is_not_judged() {
        assert!(Condition::read(&Fake::new(), None).is_blind());
    }
}
