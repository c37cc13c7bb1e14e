//! The suite `blog` beside what the kernel counted for its process.

use super::{Bench, Figures};
use crate::Failure;
use crate::report::{Page, Row, Unit, Wanted};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes read and written, as the suite says and as the kernel counted them. The kernel counts what
/// the program reads and writes beside its blogs too: about a megabyte.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let set = [("intervals", bench.choose("3", "10").to_owned()), ("size", "1g".to_owned())];
    let mut all = Vec::new();
    for _ in 0..bench.rounds {
        all.push(one(bench, &set)?);
        crate::bench::go_on(&bench.stop)?;
    }
    for (name, what) in [("read", "bytes read"), ("written", "bytes written")] {
        let values = |of: fn(&(Figures, Figures)) -> &Figures| {
            all.iter().map(|pair| of(pair).get(name).copied().unwrap_or(f64::NAN)).collect()
        };
        let what = format!("blog: {what}, beside the kernel's count");
        let both = (values(|pair| &pair.0), values(|pair| &pair.1));
        page.rows.push(Row::beside(what, Unit::Bytes, both, Wanted::RatioWithin(0.05)));
    }
    Ok(())
}

/// Runs it once: what it says, and what the kernel counted.
fn one(bench: &Bench, set: &[(&str, String)]) -> Result<(Figures, Figures), Failure> {
    let mut command = bench.command(Command::new(&bench.seekwell), "blog", bench.place.dir(), set);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut text = Vec::new();
    child.stdout.take().ok_or("no stdout")?.read_to_end(&mut text)?;
    // Ended, but not yet waited for: its counts are still there.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended)?;
    let counted = std::fs::read_to_string(format!("/proc/{}/io", child.id()))?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("the suite blog ended with {status}").into());
    }
    let field = |name: &str| {
        let line = counted.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse::<f64>().ok()).ok_or("the kernel counts no bytes")
    };
    let kernel = [("read", field("rchar:")?), ("written", field("wchar:")?)];
    let run = seekwell_runs::read::run(&text, Path::new("seekwell bench --json"))?;
    let repeat = run.phases.first().and_then(|phase| phase.repeats.first());
    let ops = &repeat.ok_or("the suite blog measured nothing")?.ops;
    let bytes = |op: &str| ops.get(op).map_or(f64::NAN, |op| op.bytes as f64);
    let said = [("read", bytes("read")), ("written", bytes("write"))];
    let own = |pairs: [(&str, f64); 2]| pairs.map(|(name, v)| (name.to_owned(), v)).into();
    Ok((own(said), own(kernel)))
}
