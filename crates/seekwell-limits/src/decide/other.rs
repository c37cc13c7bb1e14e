//! Phases that are no closed loop of the device: caches, open loops, replays, suites, jobs.

use super::Said;
use super::known::cpu_share;
use crate::Run;
use crate::point::rates;
use seekwell_io::units::{requests_per_s, whole_percent};
use seekwell_io::workload::{Pace, Workload};
use seekwell_runs::limits::Station;
use seekwell_runs::{Fidelity, Phase, Work};

pub fn answer<'r>(run: &'r Run<'r>, phase: &Phase) -> Said<'r> {
    let Some((requests, _)) = rates(phase) else {
        let why = phase.repeats.iter().find_map(|repeat| repeat.invalid.as_deref());
        return Said::unknown(why.unwrap_or("it gave no rate"), &phase.name);
    };
    if let Some(share) = cpu_share(run, phase).filter(|share| *share >= 0.95) {
        let seen = format!("{} of the CPU time it could use", whole_percent(share));
        return Said::likely(Station::Processor).seen(seen, &phase.name);
    }
    match (phase.workload.plain(), &phase.workload) {
        (Some(workload), _) => plain(phase, workload, requests),
        (None, Work::Replayed(_)) => replayed(run, phase),
        (None, _) => Said::unknown("its requests may be of several sizes and depths", &phase.name),
    }
}

fn plain<'r>(phase: &Phase, workload: &Workload, requests: f64) -> Said<'r> {
    if let Some(share) = phase.median("device_share").filter(|share| *share < 0.9) {
        let seen = format!("{} of its bytes came from the device", whole_percent(share));
        return Said::shown(Station::Memory).seen(seen, &phase.name);
    }
    if let Pace::Open { requests_per_s: asked, .. } = workload.pace {
        let asked = asked * f64::from(workload.threads);
        let seen = format!("{} were asked for", requests_per_s(asked));
        return match requests >= 0.97 * asked {
            true => Said::shown(Station::Pace).seen(seen, &phase.name),
            false => Said::unknown(format!("{seen}, and not reached"), &phase.name),
        };
    }
    let why = match workload.direct {
        true => "it discards",
        false => "it went through the page cache, which hides what limits the device",
    };
    Said::unknown(why, &phase.name)
}

fn replayed<'r>(run: &'r Run<'r>, phase: &Phase) -> Said<'r> {
    let fidelity = phase.repeats.iter().find_map(|repeat| repeat.fidelity.as_ref());
    match fidelity.map(|f: &Fidelity| (f.verdict.as_str(), f)) {
        Some(("kept-up", _)) => {
            Said::shown(Station::Pace).seen("every request left when it was due", &phase.name)
        }
        Some(("device-full", f)) => {
            let seen = format!("{} requests were late, as the device was full", f.late_device);
            match run.rotates {
                Some(true) => Said::likely(Station::Mechanics).seen(seen, &phase.name),
                _ => Said::unknown(seen, &phase.name),
            }
        }
        Some(("program-late", f)) => {
            let seen = format!("{} requests left late by this program", f.late_program);
            Said::likely(Station::Processor).seen(seen, &phase.name)
        }
        _ => Said::unknown("its requests had no times to keep", &phase.name),
    }
}
