//! Writes until the rate settles: where it fell, and what rests gave back.

use super::plot::{Panel, Unit};
use super::text::StudyText;
use crate::units::{binary, bytes_per_s, time, whole_percent};
use seekwell_runs::{FastCause, FastRegion, Recovery, Sustained, SustainedEnd};

/// Points of a plot of text.
const POINTS: usize = 48;

pub(super) fn text(study: &Sustained) -> StudyText {
    let back = study
        .fast
        .iter()
        .flat_map(|fast| study.recoveries.iter().map(move |rest| recovered(rest, fast)));
    let row = |(number, s): (usize, &seekwell_runs::Stretch)| {
        let range = match s.from_bytes {
            0 => String::new(),
            _ => format!("{} … {}", binary(s.from_low_bytes), binary(s.from_high_bytes)),
        };
        let spread =
            format!("{} … {}", bytes_per_s(s.low_bytes_per_s), bytes_per_s(s.high_bytes_per_s));
        let from = binary(s.from_bytes);
        vec![(number + 1).to_string(), from, bytes_per_s(s.rate_bytes_per_s), spread, range]
    };
    let columns = ["stretch", "from", "rate", "of its parts", "where it begins"];
    StudyText {
        title: "Sustained writes".to_owned(),
        sentences: std::iter::once(found(study)).chain([ended(study)]).chain(back).collect(),
        columns: columns.map(String::from).into(),
        words: 1,
        spare: 2,
        rows: study.stretches.iter().enumerate().map(row).collect(),
        panels: vec![panel(study)],
    }
}

fn found(study: &Sustained) -> String {
    let Some(fast) = &study.fast else {
        return match study.stretches.first() {
            Some(only) => format!(
                "No cliff within {}: the write rate stayed at {}.",
                binary(study.written_bytes),
                bytes_per_s(only.rate_bytes_per_s)
            ),
            None => "Too little was written to tell whether the rate falls.".to_owned(),
        };
    };
    let looks = match study.cause {
        FastCause::Unknown => String::new(),
        cause => format!(" (it looks like {})", cause.words()),
    };
    format!(
        "The fast region{looks} holds {} ({} to {}): writes fall from {} to {}.",
        binary(fast.bytes),
        binary(fast.low_bytes),
        binary(fast.high_bytes),
        bytes_per_s(fast.before_bytes_per_s),
        bytes_per_s(fast.after_bytes_per_s),
    )
}

fn ended(study: &Sustained) -> String {
    let written = binary(study.written_bytes);
    match study.ended {
        SustainedEnd::Settled => format!("The rate had settled after {written}."),
        SustainedEnd::Size => format!("All {written} that were to be written were."),
        SustainedEnd::Runtime => {
            format!("Its time was over after {written} of {}.", binary(study.most_bytes))
        }
        SustainedEnd::Stopped => {
            format!("It was stopped after {written} of {}.", binary(study.most_bytes))
        }
    }
}

fn recovered(rest: &Recovery, fast: &FastRegion) -> String {
    let share = rest.bytes as f64 / fast.bytes.max(1) as f64;
    let (idle, bytes) = (time(rest.idle_ns as f64), binary(rest.bytes));
    format!("After {idle} of rest, {bytes} ({}) were fast again.", whole_percent(share.min(1.0)))
}

fn panel(study: &Sustained) -> Panel {
    let rates = &study.rates_bytes_per_s;
    let each = rates.len().div_ceil(POINTS).max(1);
    let of = |chunk: &[f64]| {
        let time: f64 = chunk.iter().map(|rate| 1.0 / rate.max(1.0)).sum();
        Some(chunk.len() as f64 / time)
    };
    let values: Vec<_> = rates.chunks(each).map(of).collect();
    let place = |i: usize| binary(((i + 1) * each) as u64 * study.part_bytes);
    Panel {
        title: "write rate over bytes written".to_owned(),
        along: "written".into(),
        places: (0..values.len()).map(place).collect(),
        lines: vec![("rate".into(), values)],
        unit: Unit::BytesPerSecond,
    }
}
