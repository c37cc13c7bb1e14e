//! From what inspection saw to what is wrong: the kernel log and the rules.

use seekwell_explain::{Observed, findings, incidents};
use seekwell_inspect::log::{Incident, LogReport, LogSource, read};
use seekwell_inspect::{Finding, Inspection, Missing};
use seekwell_sys::{KMSG, View};
use serde::Serialize;

/// An inspection with what follows from it.
#[derive(Serialize)]
pub struct Judged {
    /// The facts.
    #[serde(flatten)]
    pub inspection: Inspection,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What the kernel log says happened to the disks below the target.
    pub incidents: Vec<Incident>,
}

/// Applies the rules to an inspection, the log of its machine, and the same targets `before`,
/// against which error counters are judged.
pub fn judge(inspection: Inspection, log: Option<&LogReport>, before: &[Inspection]) -> Judged {
    let disk = |i: &Inspection| i.device.as_ref().map(|d| (d.serial.clone(), d.name.clone()));
    let same = |earlier: &&Inspection| match (disk(&inspection), disk(earlier)) {
        (Some((Some(now), _)), Some((Some(then), _))) => now.value == then.value,
        (Some((None, now)), Some((None, then))) => now == then,
        _ => false,
    };
    let earlier = before.iter().find(same);
    let input = Observed { log, earlier, ..Observed::new(&inspection) };
    let findings = findings(&input);
    let incidents = incidents(&input).into_iter().cloned().collect();
    Judged { inspection, findings, incidents }
}

/// The running kernel's log; if it cannot be read, `missing` hears why.
pub fn live_log(view: &dyn View, missing: &mut Vec<Missing>) -> Option<LogReport> {
    match read(LogSource::Live, Some(view)) {
        Ok(report) => Some(report),
        Err(error) => {
            missing.push(Missing {
                what: "what the kernel said of the disk".into(),
                from: KMSG.into(),
                reason: error.to_string(),
            });
            None
        }
    }
}
