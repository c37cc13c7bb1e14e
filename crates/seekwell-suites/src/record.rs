//! What a step gave, as the run document holds it.

use crate::frame::{Step, StepResult};
use crate::settings::Settings;
use crate::suite::Suite;
use seekwell_checkup::{detail, metrics, summarize, too_short};
use seekwell_io::measurement::Stopped;
use seekwell_io::request::Op;
use seekwell_runs::{DeviceCount, Phase, Repeat, RepeatDetail, Skipped, SuiteStep, Work};

/// A phase that has not been run.
pub fn phase(suite: &Suite, step: &Step, settings: &Settings) -> Phase {
    let work = Work::Suite(SuiteStep {
        suite: suite.name.into(),
        step: step.name.clone(),
        tunables: settings.values.clone(),
        primary: step.primary.clone(),
    });
    let name = format!("{}-{}", suite.name, step.name);
    Phase { skipped: Some(Skipped::NotReached), ..Phase::new(name, step.title.clone(), work) }
}

/// Adds what a step gave to its phase; the detail is to be kept beside the document.
pub fn keep(phase: &mut Phase, result: &StepResult, seed: u64) -> Option<RepeatDetail> {
    let m = &result.measurement;
    let number = phase.repeats.len() as u32;
    let detail = (m.requests() > 0).then(|| detail(&phase.name, number, m));
    push(phase, repeat(result, seed));
    detail
}

/// Adds a repeat that gave nothing, and why.
pub fn keep_failure(phase: &mut Phase, why: &str, stopped: Stopped, seed: u64) {
    push(phase, Repeat { invalid: Some(why.into()), ..Repeat::new(seed, stopped) });
}

fn push(phase: &mut Phase, repeat: Repeat) {
    phase.skipped = None;
    phase.repeats.push(repeat);
    phase.metrics = metrics(&phase.repeats);
}

fn repeat(result: &StepResult, seed: u64) -> Repeat {
    let m = &result.measurement;
    let asked = m.op(Op::Read).bytes + m.op(Op::Write).bytes;
    let device = result.device.filter(|_| asked > 0).map(|counted| DeviceCount {
        read_bytes: counted.read_bytes,
        written_bytes: counted.written_bytes,
        flushes: counted.flushes,
        share: ((counted.read_bytes + counted.written_bytes) as f64 / asked as f64).min(1.0),
    });
    let mut values = result.values.clone();
    if let Some(counted) = &result.device {
        let busy = 100.0 * counted.busy_ms as f64 * 1e6 / m.elapsed.0.max(1) as f64;
        values.extend([
            ("device_read_bytes_count".to_owned(), counted.read_bytes as f64),
            ("device_written_bytes_count".to_owned(), counted.written_bytes as f64),
            ("device_flush_count".to_owned(), counted.flushes as f64),
            ("device_busy_percent".to_owned(), busy.min(100.0)),
        ]);
    }
    Repeat {
        values,
        notes: result.notes.clone(),
        invalid: too_short(m.elapsed).filter(|_| !result.modelled),
        ..summarize(m, device, seed)
    }
}
