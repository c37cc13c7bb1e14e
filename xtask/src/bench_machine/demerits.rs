//! How close drives read from DiskSim's files come to the measured times of its validation set.

use crate::Failure;
use crate::report::{Row, Unit, Wanted};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_machine::disksim;
use seekwell_machine::hdd::{Hdd, Params};
use seekwell_machine::validate::{Measured, validate};
use std::path::Path;

/// The drives and the demerit figures in nanoseconds that DiskSim 4 names for them.
const DRIVES: [(&str, f64); 6] = [
    ("atlas10k", 268e3),
    ("barracuda", 349e3),
    ("cheetah4LP", 318e3),
    ("ibm18es", 135e3),
    ("hp_c2247a", 90e3),
    ("hp_c2490a", 254e3),
];

/// A time of a drive that DiskSim's files do not have.
type Untold = fn(&mut Params) -> &mut Nanos;

/// Such times, which are zero in an import.
pub const UNTOLD: [(&str, Untold); 3] = [
    ("the turnaround between commands", |params| &mut params.overhead.turnaround),
    ("the cost of a range written back", |params| &mut params.write.destage_overhead),
    ("the rest before writing back", |params| &mut params.write.idle_delay),
];

/// Values that are tried, in microseconds; the first is what an import has.
const TRIED_US: [u64; 5] = [0, 50, 100, 200, 500];

/// A row for each drive beside DiskSim's figure, and one with an untold time fitted to the others.
pub fn rows(folder: &Path) -> Result<Vec<Row>, Failure> {
    let tried = || UNTOLD.iter().flat_map(|(_, time)| TRIED_US.map(|us| (*time, Nanos(us * 1000))));
    let mut demerits: Vec<Vec<f64>> = Vec::new();
    for (name, _) in DRIVES {
        let mut open = |file: &str| std::fs::read_to_string(folder.join(file));
        let document = disksim::read(&format!("{name}.parv"), &mut open)?;
        let params = disksim::drive(&document, None, &mut open)?.params;
        let requests = requests(&std::fs::read_to_string(folder.join(format!("{name}.trace")))?)?;
        let demerit = |(time, value): (Untold, Nanos)| {
            let mut params = params.clone();
            *time(&mut params) = value;
            let mut drive = Hdd::new(params, 1)?;
            Ok::<_, Failure>(validate(&mut drive, requests.iter().copied()).demerit_ms() * 1e6)
        };
        demerits.push(tried().map(demerit).collect::<Result<_, _>>()?);
    }
    let mut rows = Vec::new();
    for (index, (name, theirs)) in DRIVES.into_iter().enumerate() {
        // What is least, relative to DiskSim's, summed over the others.
        let of_others = |fit: usize| {
            let all = demerits.iter().zip(DRIVES).enumerate().filter(|(other, _)| *other != index);
            all.map(|(_, (demerits, (_, theirs)))| demerits[fit] / theirs).sum::<f64>()
        };
        let fits = 0..demerits[index].len();
        let fitted = fits.min_by(|a, b| of_others(*a).total_cmp(&of_others(*b))).unwrap_or(0);
        let row = |what: &str, ours: f64, wanted| {
            let what = format!("demerit of {name}{what}");
            Row::beside(what, Unit::Ns, (vec![ours], vec![theirs]), wanted)
        };
        rows.push(row("", demerits[index][0], Wanted::RatioAtMost(1.0)));
        rows.push(row(", leave-one-out", demerits[index][fitted], Wanted::Nothing));
    }
    Ok(rows)
}

/// `R|W hit block blocks service-µs think-µs`, a request a line.
fn requests(text: &str) -> Result<Vec<Measured>, Failure> {
    let one = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [op, _, block, blocks, service, think] = fields[..] else {
            return Err(Failure::from(format!("{line:?} is no request")));
        };
        let ns = |us: &str| Ok::<_, Failure>((us.parse::<f64>()? * 1e3).round() as u64);
        Ok(Measured {
            op: if op == "R" { Op::Read } else { Op::Write },
            offset: block.parse::<u64>()? * 512,
            len: blocks.parse::<u32>()? * 512,
            service_ns: ns(service)?,
            think_ns: ns(think)?,
        })
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    fn each_drive_has_a_demerit_of_its_own_file_and_one_of_the_others() {
        let folder = crate::root().join("../shared/data/disksim");
        if !folder.join("atlas10k.parv").is_file() {
            return eprintln!("skipped: no DiskSim files in {}", folder.display());
        }
        let rows = rows(&folder).unwrap();
        assert_eq!(rows.len(), 2 * DRIVES.len());
        for pair in rows.chunks(2) {
            let [own, others] = [&pair[0], &pair[1]].map(|row| row.ours[0]);
            eprintln!("{}: {own:.0} ns, leave-one-out {others:.0} ns", pair[0].what);
            let theirs = pair[0].theirs.as_ref().unwrap()[0];
            assert!(own < 1.01 * theirs, "{}: {own}", pair[0].what);
        }
    }
}
