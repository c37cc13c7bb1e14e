//! `cargo xtask bench-machine`: how fast modelled machines run, drive by drive on one core, whether
//! a sweep of one trace over many machines scales with cores and stays the same, and how close
//! drives come to measured times.

mod demerits;

use crate::Failure;
use crate::bench::{Dice, cpu_s};
use crate::report::{Page, Row, Unit, Wanted};
use rustix::time::ClockId;
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;
use seekwell_machine::library::{MACHINES, Shelf};
use seekwell_machine::sweep::sweep;
use seekwell_machine::{Command, Model, Part};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-machine.md].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How often each drive is measured; the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Requests of a drive's round.
    #[arg(long, default_value_t = 4_000_000)]
    requests: u64,
    /// Requests of the sweep's trace.
    #[arg(long, default_value_t = 10_000_000)]
    trace: u64,
    /// Machines of the sweep.
    #[arg(long, default_value_t = 50)]
    machines: usize,
    /// Folder of DiskSim's validation set: parameter files and traces of its drives.
    #[arg(long, value_name = "FOLDER")]
    disksim: Option<PathBuf>,
}

const DEPTH: u32 = 32;

/// A drive that ships and what it does.
struct Case {
    what: &'static str,
    part: &'static str,
    set: &'static [(&'static str, &'static str)],
    read_percent: u64,
    /// The least that is promised, in requests a second of one core.
    at_least: Option<f64>,
}

const fn case(
    what: &'static str,
    part: &'static str,
    set: &'static [(&'static str, &'static str)],
    read_percent: u64,
    at_least: Option<f64>,
) -> Case {
    Case { what, part, set, read_percent, at_least }
}

/// What brings an SSD into its steady state.
const FULL: &[(&str, &str)] = &[("drive.fill", "random")];

const CASES: [Case; 6] = [
    case(
        "hard drive, random reads, 32 tags, order by arm and rotation",
        "st2000dm006",
        &[],
        100,
        Some(1.5e6),
    ),
    case("NVMe SSD, random reads", "ssd-nvme-1tb", &[], 100, Some(5e6)),
    case("NVMe SSD in its steady state, random writes", "ssd-nvme-1tb", FULL, 0, Some(5e6)),
    case("the same, 70 % reads", "ssd-nvme-1tb", FULL, 70, None),
    case("SATA SSD without its link, random reads", "ssd-sata-1tb", &[], 100, Some(5e6)),
    case("SSD of 2010 in its steady state, random writes", "c300-256", FULL, 0, None),
];

/// Measures, prints the page and writes it. Fails where a promise is not kept.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    if cfg!(debug_assertions) {
        return Err("measure what is shipped: cargo run --release -p xtask -- bench-machine".into());
    }
    let mut page = Page::new("DiskSim")?;
    for case in &CASES {
        let rates = (1..=u64::from(args.rounds)).map(|seed| drive(case, seed, args.requests));
        let rates = rates.collect::<Result<_, _>>()?;
        let wanted = case.at_least.map_or(Wanted::Nothing, Wanted::AtLeast);
        page.rows.push(Row::new(case.what, Unit::Named("requests/s of CPU"), rates, wanted));
    }
    page.rows.extend(swept(args)?);
    match &args.disksim {
        Some(folder) => page.rows.extend(demerits::rows(folder)?),
        None => page.missing("demerits of drives", "no --disksim FOLDER"),
    }
    page.finish(args.out.as_deref(), "machine", "Modelled machines", &how())
}

fn how() -> String {
    format!(
        "Made by `cargo run --release -p xtask -- bench-machine`: {}. Each drive by itself, with \
         {DEPTH} requests of 4 KiB outstanding, on one thread; rates are per second of that \
         thread's CPU time, so that other load on the machine counts little, but for the caches it \
         shares. The sweep plays one trace to many whole machines by `seekwell_machine::sweep`. \
         Demerits (Ruemmler and Wilkes, 1994) are of 10,000 measured requests a drive, every value \
         from the drive's own DiskSim file. Leave-one-out: what such a file does not say, {}, is \
         fitted to the other five drives.",
        asked().join(" "),
        demerits::UNTOLD.map(|(name, _)| name).join(" or "),
    )
}

fn asked() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(2).collect();
    if given.is_empty() { vec!["no options".to_owned()] } else { given }
}

fn model(name: &str, text: &str, set: &[(&str, &str)]) -> Result<Model, Failure> {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Ok(Model::read(name, text, &set, &Shelf::default())?)
}

fn drive(case: &Case, seed: u64, requests: u64) -> Result<f64, Failure> {
    let text = format!("[drive]\npart = \"{}\"\n", case.part);
    let model = model(case.part, &text, case.set)?;
    let blocks = model.capacity() / 4096;
    let mut part = model.part(seed);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut draw = |tag| {
        let offset = ((u128::from(dice.next()) * u128::from(blocks)) >> 64) as u64 * 4096;
        let read = dice.next() % 100 < case.read_percent;
        let op = if read { Op::Read } else { Op::Write };
        Command { tag, op, offset, len: 4096, durable: false }
    };
    let begun = cpu_s(ClockId::ThreadCPUTime);
    for tag in 0..DEPTH {
        part.submit(draw(tag), Nanos::ZERO);
    }
    let (mut ended, mut done) = (0, Vec::new());
    while ended < requests {
        let now = part.next();
        part.advance(now, &mut done);
        for d in done.drain(..) {
            ended += 1;
            part.submit(draw(d.tag), d.at);
        }
    }
    Ok(ended as f64 / (cpu_s(ClockId::ThreadCPUTime) - begun))
}

/// The sweep on one thread and on all, and whether both gave the same.
fn swept(args: &Args) -> Result<Vec<Row>, Failure> {
    let models = MACHINES
        .iter()
        .map(|(name, text)| model(name, text, &[]))
        .collect::<Result<Vec<_>, _>>()?;
    let machines: Vec<(&Model, u64)> = models.iter().cycle().zip(1..).take(args.machines).collect();
    let mut dice = Dice(1);
    let trace: Vec<Request> = (0..args.trace)
        .map(|_| Request {
            op: if dice.next() % 10 < 7 { Op::Read } else { Op::Write },
            offset: dice.next() % (1 << 37) / 4096 * 4096,
            len: 4096,
            wanted: None,
            id: 0,
            durable: false,
            queue: 0,
        })
        .collect();
    let cores = std::thread::available_parallelism()?.get();
    let (mut took, mut results) = (Vec::new(), Vec::new());
    for threads in [1, cores] {
        let (begun, before) = (Instant::now(), cpu_s(ClockId::ProcessCPUTime));
        let measured = sweep(&machines, &trace, DEPTH, threads);
        let busy = cpu_s(ClockId::ProcessCPUTime) - before;
        took.push((begun.elapsed().as_secs_f64(), busy));
        let mut told = Vec::new();
        for m in measured {
            let m = m?;
            told.push((m.elapsed, m.ops.map(|op| (op.requests, op.bytes, op.service.sparse()))));
        }
        results.push(told);
    }
    let same = results[0] == results[1];
    let all = args.trace as f64 * args.machines as f64;
    let sweep = format!("sweep of {} requests over {} machines", args.trace, args.machines);
    let row = |what: &str, unit, value, wanted| {
        Row::new(format!("{sweep}, {what}"), unit, vec![value], wanted)
    };
    let mut rows = Vec::new();
    for (threads, (wall, busy)) in [1, cores].into_iter().zip(&took) {
        let row = |what: &str, unit, value| {
            row(&format!("{threads} threads: {what}"), unit, value, Wanted::Nothing)
        };
        rows.push(row("rate", Unit::PerSecond, all / wall));
        rows.push(row("wall time", Unit::Ns, wall * 1e9));
        rows.push(row("CPUs busy", Unit::Named("CPUs"), busy / wall));
    }
    let faster = took[0].0 / took[1].0;
    rows.push(row(&format!("gain of {cores} threads"), Unit::Named("×"), faster, Wanted::Nothing));
    let what = format!("the same to the bit on 1 and on {cores} threads (1 is yes)");
    let same = f64::from(u8::from(same));
    rows.push(row(&what, Unit::Named(""), same, Wanted::AtLeast(1.0)));
    Ok(rows)
}
