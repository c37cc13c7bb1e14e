//! How faithfully a trace was played back: the verdict as a sentence, and the numbers under it.

use crate::text::clean;
use crate::units::{grouped, time};
use seekwell_runs::{Fidelity, Latency, Phase, Repeat, RunDocument};
use seekwell_stats::signed;
use serde::Serialize;

/// What stands if nothing is known.
const NONE: &str = "—";

/// What lateness does not show.
const HANDED_OVER: &str =
    " Other threads took the requests to the device: lateness ends at the hand-over to them.";

/// One replayed phase. All text is clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Faith {
    pub title: String,
    /// `kept-up`, `device-full`, `program-late` or `untimed`: of the repeat that is worst.
    pub verdict: String,
    /// Who kept the pace and who did not.
    pub sentence: String,
    /// A number's name and its value in each repeat.
    pub rows: Vec<(String, Vec<String>)>,
}

impl Faith {
    /// How much the verdict takes from what was measured: the higher, the more.
    pub(crate) fn badness(&self) -> u32 {
        badness(&self.verdict)
    }
}

/// The replayed phases of a run, in its order.
pub fn fidelity(document: &RunDocument) -> Vec<Faith> {
    document.phases.iter().filter_map(faith).collect()
}

fn faith(phase: &Phase) -> Option<Faith> {
    let all: Vec<&Fidelity> = phase.repeats.iter().filter_map(|r| r.fidelity.as_ref()).collect();
    let worst = all.iter().max_by_key(|f| badness(&f.verdict))?;
    Some(Faith {
        title: clean(&phase.title),
        verdict: clean(&worst.verdict),
        sentence: sentence(worst) + if worst.handed_over { HANDED_OVER } else { "" },
        rows: rows(&phase.repeats.iter().filter(|r| r.fidelity.is_some()).collect::<Vec<_>>()),
    })
}

fn badness(verdict: &str) -> u32 {
    ["untimed", "kept-up", "device-full", "program-late"]
        .iter()
        .position(|known| *known == verdict)
        .map_or(0, |at| at as u32)
}

/// The verdict in words.
fn sentence(f: &Fidelity) -> String {
    let late = f.late_device + f.late_program;
    let timed = f.issued.max(1);
    let share = format!("{:.1} %", 100.0 * late as f64 / timed as f64);
    let bound = time(f.late_bound_ns.0 as f64);
    match f.verdict.as_str() {
        "kept-up" => {
            let p99 = f.lateness.as_ref().and_then(|l| l.ns_p99);
            let within = p99.map_or_else(String::new, |ns| {
                format!(
                    ": 99 % of requests were issued within {} of their due time",
                    time(ns as f64)
                )
            });
            format!("Program and device kept up{within}.")
        }
        "device-full" => format!(
            "The device was saturated: {share} of requests were more than {bound} late because it \
             already had as many as it accepts. It cannot serve this load at this rate, which is a \
             valid result."
        ),
        "program-late" => format!(
            "The program was late: {share} of requests were issued more than {bound} after they \
             were due although the device had room. The latencies say nothing about the device."
        ),
        _ => "Requests had no due time, so none could be late.".to_owned(),
    }
}

/// A number by name.
type Number = (&'static str, fn(&Fidelity) -> String);

fn rows(repeats: &[&Repeat]) -> Vec<(String, Vec<String>)> {
    const NUMBERS: [Number; 17] = [
        ("requests issued", |f| count(f.issued)),
        ("lateness p50", |f| late(f, |l| l.ns_p50)),
        ("lateness p99", |f| late(f, |l| l.ns_p99)),
        ("lateness p99.9", |f| late(f, |l| l.ns_p99_9)),
        ("lateness, longest", |f| late(f, |l| Some(l.ns_max))),
        ("late, the device was full", |f| timed(f, f.late_device)),
        ("late, the program was", |f| timed(f, f.late_program)),
        ("drift", |f| or_none(f.drift_percent, |d| format!("{} %", signed(d, 3)))),
        ("gaps off, 0 to 1", |f| or_none(f.gap_distance, |d| format!("{d:.3}"))),
        ("time taken, of the recorded", |f| or_none(f.time_ratio, |x| format!("{x:.3}"))),
        ("independent tasks", |f| f.tasks.map_or_else(|| NONE.to_owned(), count)),
        ("in flight, recorded", |f| or_none(f.in_flight_recorded, |n| format!("{n:.2}"))),
        ("in flight, replayed", |f| or_none(f.in_flight, |n| format!("{n:.2}"))),
        ("out of order", |f| count(f.reordered)),
        ("left out, not reads", |f| left_out(f)),
        ("left out, not playable", |f| count(f.skipped_other)),
        ("moved or cut / split parts", |f| format!("{} / {}", count(f.altered), count(f.parts))),
    ];
    let of = |write: fn(&Fidelity) -> String| {
        repeats.iter().filter_map(|r| r.fidelity.as_ref()).map(write).collect::<Vec<_>>()
    };
    let all = NUMBERS.into_iter().map(|(name, write)| (name.to_owned(), of(write)));
    all.filter(|(_, values)| values.iter().any(|v| v != NONE)).collect()
}

fn count(n: u64) -> String {
    grouped(n as f64)
}

fn late(f: &Fidelity, pick: fn(&Latency) -> Option<u64>) -> String {
    let found = f.lateness.as_ref().and_then(pick);
    found.map_or_else(|| NONE.to_owned(), |ns| time(ns as f64))
}

fn timed(f: &Fidelity, n: u64) -> String {
    if f.lateness.is_some() { count(n) } else { NONE.to_owned() }
}

fn or_none(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), write)
}

fn left_out(f: &Fidelity) -> String {
    if f.skipped.is_empty() {
        return "0".to_owned();
    }
    let each = f.skipped.iter().map(|(op, n)| format!("{} {}", count(*n), clean(op)));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, markdown, sentence as headline, terminal, testing};
    use seekwell_io::units::Nanos;
    use seekwell_runs::{Replay, ReplayMode, Work};
    use std::collections::BTreeMap;

    fn noted(verdict: &str) -> Fidelity {
        Fidelity {
            verdict: verdict.into(),
            late_bound_ns: Nanos::from_millis(1),
            issued: 12_000,
            lateness: Some(Latency {
                ns_min: 20,
                ns_mean: 900.0,
                ns_p50: Some(63),
                ns_p90: Some(8_000),
                ns_p99: Some(30_600),
                ns_max: 3_250_000,
                ..Latency::default()
            }),
            late_device: 600,
            drift_percent: Some(0.0042),
            in_flight_recorded: Some(1.86),
            in_flight: Some(1.9),
            in_flight_error: Some(0.3),
            skipped: BTreeMap::from([("write".into(), 4000), ("flush".into(), 20)]),
            altered: 3,
            parts: 1,
            ..Fidelity::default()
        }
    }

    /// A run of one replay, played as often as there are verdicts.
    fn replayed(verdicts: &[&str]) -> RunDocument {
        let (mut document, _) = testing::rich();
        document.phases.truncate(1);
        document.findings.clear();
        let phase = &mut document.phases[0];
        phase.title = "replay db.parquet at its recorded times".into();
        phase.workload = Work::Replayed(Replay {
            trace: "db.parquet".into(),
            format: "seekwell".into(),
            complete: true,
            recorded_device: None,
            requests: BTreeMap::new(),
            span_ns: Nanos::from_millis(60_000),
            mode: ReplayMode::Timed,
            times: "queue".into(),
            speed: 1.0,
            depth: 256,
            recorded_depth: false,
            tags: None,
            tag_policy: None,
            fit: "fail".into(),
            writes: false,
        });
        phase.repeats.truncate(verdicts.len());
        for (repeat, verdict) in phase.repeats.iter_mut().zip(verdicts) {
            repeat.fidelity = Some(noted(verdict));
        }
        document
    }

    #[test]
    fn the_worst_repeat_gives_the_verdict_and_every_repeat_its_numbers() {
        let all = fidelity(&replayed(&["kept-up", "program-late", "device-full"]));
        assert_eq!((all.len(), all[0].verdict.as_str()), (1, "program-late"));
        assert!(all[0].rows.iter().all(|(_, values)| values.len() == 3));
        let row = |name: &str| all[0].rows.iter().find(|r| r.0 == name).map(|r| r.1[0].as_str());
        assert_eq!(row("lateness p99"), Some("30.6 µs"));
        assert_eq!(row("drift"), Some("+0.004 %"));
        assert_eq!(row("left out, not reads"), Some("20 flush, 4,000 write"));
        assert_eq!(row("lateness p99.9"), None, "too few requests for it");
        assert!(fidelity(&testing::rich().0).is_empty());
    }

    #[test]
    fn a_full_device_is_a_result_and_a_late_program_is_no_evidence() {
        insta::assert_snapshot!(headline(&replayed(&["device-full"])), @"The device was saturated: 5.0 % of requests were more than 1.00 ms late because it already had as many as it accepts. It cannot serve this load at this rate, which is a valid result.");
        insta::assert_snapshot!(headline(&replayed(&["kept-up"])), @"Program and device kept up: 99 % of requests were issued within 30.6 µs of their due time.");
        let late = headline(&replayed(&["program-late"]));
        assert!(late.contains("say nothing about the device"), "{late}");
    }

    #[test]
    fn all_readers_show_the_fidelity_of_a_replay() {
        let document = replayed(&["kept-up", "kept-up"]);
        let shown = terminal(&document, 80, Style { color: false });
        assert!(shown.contains("Program and device kept up"), "{shown}");
        assert!(shown.contains("lateness p99                30.6 µs  30.6 µs"), "{shown}");
        assert!(shown.lines().all(|l| crate::text::columns(l) <= 80));
        let text = markdown(&document);
        assert!(text.contains("| lateness p99 | 30.6 µs | 30.6 µs |"), "{text}");
        assert!(crate::page::body(&[&document]).contains("<h2>Fidelity</h2>"));
        let narrow = terminal(&document, 30, Style { color: false });
        assert!(narrow.lines().all(|l| crate::text::columns(l) <= 30), "{narrow}");
    }
}
