//! Write amplification: rounds of even and of skewed writes.

use super::text::StudyText;
use crate::rows::NONE;
use crate::units::{binary, iops};
use seekwell_runs::{Amplification, AmplificationOf, SteadyOutcome};

pub(super) fn text(study: &Amplification) -> StudyText {
    let rows = study.workloads.iter().flat_map(|of| {
        let rates = of.steady.rounds_per_s.iter().map(|rate| iops(*rate));
        let known = of.rounds.iter().zip(rates).enumerate();
        known.map(|(i, (ratio, rate))| {
            let ratio = ratio.map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.3}"));
            vec![of.steady.phase.clone(), (i + 1).to_string(), rate, ratio]
        })
    });
    let columns = ["writes", "round", "requests/s", "write amplification"];
    StudyText {
        title: "Write amplification".to_owned(),
        sentences: study.workloads.iter().map(sentence).collect(),
        columns: columns.map(String::from).into(),
        words: 1,
        spare: 0,
        rows: rows.collect(),
        panels: Vec::new(),
    }
}

fn sentence(of: &AmplificationOf) -> String {
    let when = match of.steady.outcome {
        Some(SteadyOutcome::Reached { from, .. }) => format!("steady from round {}", from + 1),
        Some(SteadyOutcome::NotReached) => "the rate did not settle".to_owned(),
        None => "stopped before the rate had settled".to_owned(),
    };
    let phase = &of.steady.phase;
    match of.write_amplification {
        Some(ratio) => format!(
            "{phase}: {ratio:.3} bytes written to flash for each of the host's ({} for {}), \
             {when}.",
            binary(of.media_written_bytes),
            binary(of.host_written_bytes)
        ),
        None => format!("{phase}: the drive reported too little, {when}."),
    }
}
