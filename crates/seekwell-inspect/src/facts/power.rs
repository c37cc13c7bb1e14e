//! Power management of the processors (Documentation/admin-guide/pm/cpuidle.rst and cpufreq.rst).
//! It matters most at depth 1, where a sleeping processor has to wake for each completion.

use crate::model::Fact;
use crate::reader::Reader;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Power management, read from the first processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerFacts {
    /// The frequency governor: `performance`, `powersave`, `schedutil` …
    pub governor: Option<Fact<String>>,
    /// The frequency driver: `intel_pstate`, `acpi-cpufreq` …
    pub driver: Option<Fact<String>>,
    /// The deepest idle state that is not disabled: `C6`.
    pub idle_state: Option<Fact<String>>,
    /// Its exit latency, in microseconds.
    pub idle_exit_us: Option<Fact<u64>>,
}

impl PowerFacts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn read(r: &mut Reader<'_>) -> PowerFacts {
    let processor = Path::new("/sys/devices/system/cpu/cpu0");
    let of = |name: &str| processor.join("cpufreq").join(name);
    let deepest = deepest(r, &processor.join("cpuidle"));
    let name =
        deepest.as_ref().and_then(|(state, _)| r.optional(&state.join("name"), "idle state"));
    PowerFacts {
        governor: r.optional(&of("scaling_governor"), "frequency governor"),
        driver: r.optional(&of("scaling_driver"), "frequency driver"),
        idle_state: name,
        idle_exit_us: deepest.map(|(_, exit)| exit),
    }
}

/// The enabled idle state with the longest exit latency, and that latency.
fn deepest(r: &Reader<'_>, states: &Path) -> Option<(PathBuf, Fact<u64>)> {
    let state = |name: String| {
        let state = states.join(name);
        let is_off = r.parsed::<u64>(&state.join("disable")).is_some_and(|off| off.value != 0);
        let exit = r.parsed::<u64>(&state.join("latency")).filter(|_| !is_off)?;
        Some((state, exit))
    };
    r.names(states).into_iter().filter_map(state).max_by_key(|(_, exit)| exit.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    const CPU: &str = "/sys/devices/system/cpu/cpu0";

    fn state(fake: Fake, number: u32, name: &str, latency: &str, disabled: &str) -> Fake {
        let at = format!("{CPU}/cpuidle/state{number}");
        fake.file(format!("{at}/name"), name)
            .file(format!("{at}/latency"), latency)
            .file(format!("{at}/disable"), disabled)
    }

    #[test]
    fn the_deepest_state_that_is_not_disabled_counts() {
        let fake = Fake::new()
            .file(format!("{CPU}/cpufreq/scaling_governor"), "powersave\n")
            .file(format!("{CPU}/cpufreq/scaling_driver"), "acpi-cpufreq\n");
        let fake = state(fake, 0, "POLL\n", "0\n", "0\n");
        let fake = state(fake, 1, "C1E\n", "10\n", "0\n");
        let fake = state(fake, 2, "C6\n", "133\n", "0\n");
        let fake = state(fake, 3, "C10\n", "900\n", "1\n");
        let power = read(&mut Reader::new(&fake));
        assert_eq!(power.governor.unwrap().value, "powersave");
        assert_eq!(power.driver.unwrap().value, "acpi-cpufreq");
        assert_eq!(power.idle_state.unwrap().value, "C6");
        let exit = power.idle_exit_us.unwrap();
        assert_eq!((exit.value, exit.from), (133, format!("{CPU}/cpuidle/state2/latency")));
    }

    #[test]
    fn a_guest_without_idle_states_and_nonsense_give_nothing() {
        assert!(read(&mut Reader::new(&Fake::new())).is_empty());
        let nonsense = state(Fake::new(), 0, "\n", "soon\n", "\n");
        assert!(read(&mut Reader::new(&nonsense)).is_empty());
    }
}
