//! One row for each phase and metric, as RFC 4180 has it but for the line ends, which are those of
//! Unix.

use seekwell_runs::RunDocument;
use std::borrow::Cow;

/// The first line.
const HEADER: &str =
    "run,started_at,label,target,modelled,phase,title,metric,median,low,high,repeats\n";

/// The metrics of some runs. Names of metrics carry their unit; `repeats` is the number of repeats
/// the value is over. A phase without a valid repeat has no rows.
pub fn csv(runs: &[&RunDocument]) -> String {
    let mut out = HEADER.to_owned();
    for run in runs {
        for phase in &run.phases {
            for (metric, spread) in &phase.metrics {
                let row = [
                    field(&run.id),
                    field(&run.started_at),
                    field(run.label.as_deref().unwrap_or_default()),
                    field(&run.inspection.path),
                    run.modelled.to_string().into(),
                    field(&phase.name),
                    field(&phase.title),
                    field(metric),
                    spread.median.to_string().into(),
                    spread.low.to_string().into(),
                    spread.high.to_string().into(),
                    spread.n.to_string().into(),
                ];
                out += &row.join(",");
                out.push('\n');
            }
        }
    }
    out
}

/// A text as one field, in quotes if it has to be.
fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}
