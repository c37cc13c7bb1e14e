//! `cargo xtask bench-machine`: how fast modelled machines run, drive by drive on one core, and
//! whether a sweep of one trace over many machines scales with cores and stays the same.

use crate::Failure;
use crate::bench::cpu_s;
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

const CASES: [Case; 6] = [
    Case {
        what: "hard drive, random reads, 32 tags, order by arm and rotation",
        part: "st2000dm006",
        set: &[],
        read_percent: 100,
        at_least: Some(1.5e6),
    },
    Case {
        what: "NVMe SSD, random reads",
        part: "ssd-nvme-1tb",
        set: &[],
        read_percent: 100,
        at_least: Some(5e6),
    },
    Case {
        what: "NVMe SSD in its steady state, random writes",
        part: "ssd-nvme-1tb",
        set: &[("drive.fill", "random")],
        read_percent: 0,
        at_least: Some(5e6),
    },
    Case {
        what: "the same, 70 % reads",
        part: "ssd-nvme-1tb",
        set: &[("drive.fill", "random")],
        read_percent: 70,
        at_least: None,
    },
    Case {
        what: "SATA SSD without its link, random reads",
        part: "ssd-sata-1tb",
        set: &[],
        read_percent: 100,
        at_least: Some(5e6),
    },
    Case {
        what: "SSD of 2010 in its steady state, random writes",
        part: "c300-256",
        set: &[("drive.fill", "random")],
        read_percent: 0,
        at_least: None,
    },
];

/// Measures, prints the page and writes it. Fails where a promise is not kept.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    if cfg!(debug_assertions) {
        return Err("measure what is shipped: cargo run --release -p xtask -- bench-machine".into());
    }
    let mut page = Page::new("")?;
    for case in &CASES {
        let rates = (1..=u64::from(args.rounds)).map(|seed| drive(case, seed, args.requests));
        let rates = rates.collect::<Result<_, _>>()?;
        let wanted = case.at_least.map_or(Wanted::Nothing, Wanted::AtLeast);
        page.rows.push(Row::new(case.what, Unit::Named("requests/s of CPU"), rates, wanted));
    }
    page.rows.extend(swept(args)?);
    page.write(args.out.as_deref(), "machine", "Modelled machines", &how())?;
    Ok(if page.all_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn how() -> String {
    format!(
        "Made by `cargo run --release -p xtask -- bench-machine`: {}. Each drive by itself, with \
         {DEPTH} requests of 4 KiB outstanding, on one thread; rates are per second of that \
         thread's CPU time, so that other load on the machine counts little, but for the caches it \
         shares. The sweep plays one trace to many whole machines by `seekwell_machine::sweep`.",
        asked().join(" "),
    )
}

fn asked() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(2).collect();
    if given.is_empty() { vec!["no options".to_owned()] } else { given }
}

/// Even numbers (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
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
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
    let mut draw = |tag| {
        let offset = ((u128::from(next(&mut state)) * u128::from(blocks)) >> 64) as u64 * 4096;
        let read = next(&mut state) % 100 < case.read_percent;
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
    let mut state = 1;
    let trace: Vec<Request> = (0..args.trace)
        .map(|_| Request {
            op: if next(&mut state) % 10 < 7 { Op::Read } else { Op::Write },
            offset: next(&mut state) % (1 << 37) / 4096 * 4096,
            len: 4096,
            wanted: None,
            id: 0,
            durable: false,
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
