//! R2: blogs that grow beyond the memory while they are read.

use super::report::{Ran, Report};
use super::stage::Stage;
use crate::Failure;

/// Seconds that are recorded, in intervals of ten.
const SECONDS: u64 = 100;
/// With `--quick`.
const FEW: u64 = 10;

pub fn run(stage: &Stage, report: &mut Report) -> Result<(), Failure> {
    let seconds = if stage.quick { FEW } else { SECONDS };
    let intervals = (seconds / 10).to_string();
    let settings = [("intervals", intervals.as_str()), ("seconds", "10"), ("size", "4g")];
    stage.place.disk.pace(true);
    let recorder = stage.record("blog")?;
    let (program, (seconds, cpu_s), said) = stage.suite("blog", &settings)?;
    let values = &said["phases"][0]["repeats"][0]["values"];
    let written = values["write_score_count"].as_f64().ok_or("the suite gave no score")?;
    let ran = Ran { program, count: written as u64, unit: "blogs", seconds, cpu_s };
    stage.recorded(recorder, "blog", ran, report)
}
