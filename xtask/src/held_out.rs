//! `cargo xtask held-out`: drives of R5 are fitted to every second rate of the background, and what
//! they then give at the other rates is put beside what was published.

use crate::Failure;
use seekwell_io::engine::Control;
use seekwell_machine::Model;
use seekwell_machine::library::{MACHINES, Shelf};
use seekwell_reproduce::{How, Reading, Row};
use seekwell_suites::load::{Load, Outcome};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Machines to fit [default: all of R5].
    machines: Vec<String>,
    /// How often each value is varied; 0 shows the machines as they ship, fitted to all rates.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=50))]
    rounds: u32,
}

/// What is fitted, where a description has it.
const KEYS: [&str; 9] = [
    "drive.program_ns",
    "drive.suspend_ns",
    "drive.buffer_bytes",
    "drive.write_gap_ns",
    "drive.write_slots",
    "drive.write_pause.every_ns",
    "drive.write_pause.lasts_ns",
    "drive.moves_at_once.relaxed",
    "drive.moves_at_once.pressed",
];
/// A fit begins this far from what ships, which was fitted to all rates, with every other value
/// above and below it.
const AWAY: f64 = 1.3;
const SEED: u64 = 1;

/// All figures of one rate: the load is the same.
struct Rate {
    load: Load,
    figures: Vec<(Row, Reading)>,
}

/// A machine with some values of its own.
struct Candidate {
    values: Vec<(&'static str, f64)>,
    model: Model,
    loss: f64,
}

/// How many cells of a figure are modelled well.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    cells: usize,
    near: usize,
    /// At most half as much again as the published value, and at least two thirds of it.
    within_half: usize,
}

struct Fitted {
    lines: Vec<String>,
    near: BTreeMap<String, Count>,
}

/// Fits, predicts and prints.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut machines: BTreeMap<&str, Vec<Rate>> = BTreeMap::new();
    for row in seekwell_reproduce::rows().into_iter().filter(|row| row.document == "R5") {
        let How::Load { load, reads, .. } = row.how.clone() else { continue };
        let rates = machines.entry(row.machine).or_default();
        match rates.iter_mut().find(|rate| rate.load == load) {
            Some(rate) => rate.figures.push((row, reads)),
            None => rates.push(Rate { load, figures: vec![(row, reads)] }),
        }
    }
    machines.retain(|name, _| args.machines.is_empty() || args.machines.iter().any(|m| m == name));
    let fitted: Vec<Result<Fitted, String>> = thread::scope(|scope| {
        let threads: Vec<_> = machines
            .iter()
            .map(|(name, rates)| scope.spawn(|| held_out(name, rates, args.rounds)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no fit panics")).collect()
    });
    println!("| test | rate | published, µs | modelled, µs | error |\n|---|---|---:|---:|---:|");
    let mut all: BTreeMap<String, Count> = BTreeMap::new();
    for fitted in fitted {
        let fitted = fitted?;
        fitted.lines.iter().for_each(|line| println!("{line}"));
        for (figure, count) in fitted.near {
            let sum = all.entry(figure).or_default();
            sum.cells += count.cells;
            sum.near += count.near;
            sum.within_half += count.within_half;
        }
    }
    for (figure, Count { cells, near, within_half }) in all {
        println!("{figure}: of {cells} cells {near} near, {within_half} within × 1.5");
    }
    Ok(ExitCode::SUCCESS)
}

fn held_out(name: &str, rates: &[Rate], rounds: u32) -> Result<Fitted, String> {
    let best = if rounds == 0 {
        Candidate { values: Vec::new(), model: model(name, &[])?, loss: 0.0 }
    } else {
        let seen: Vec<&Rate> = rates.iter().step_by(2).collect();
        fit(name, &seen, rounds)?
    };
    let (mut lines, mut near) = (Vec::new(), BTreeMap::new());
    let mut saturated: f64 = 0.0;
    for (index, rate) in rates.iter().enumerate() {
        let outcome = play(rate, &best.model)?;
        saturated = saturated.max(outcome.per_s);
        if rounds > 0 && index % 2 == 0 {
            continue;
        }
        for (row, reads) in &rate.figures {
            let modelled = reads.of(&outcome);
            let error = modelled.map_or(f64::NAN, |modelled| modelled / row.published - 1.0);
            let figure = row.what.rsplit(", ").next().unwrap_or_default().to_owned();
            let count: &mut Count = near.entry(figure).or_default();
            count.cells += 1;
            count.near += usize::from(error.abs() <= reads.near());
            count.within_half += usize::from((1.0 + error).ln().abs() <= 1.5_f64.ln());
            lines.push(format!(
                "| {} | {} | {} | {:.4} | {:+.1} % |",
                row.what,
                row.configuration,
                row.published,
                modelled.unwrap_or(f64::NAN),
                100.0 * error
            ));
        }
    }
    lines.push(format!("| {name}, most writes a second | | | {saturated:.0} | |"));
    let values = best.values.iter().map(|(key, value)| format!("{key} = {value:.0}"));
    if rounds > 0 {
        let values: Vec<String> = values.collect();
        lines.push(format!("| {name}, fitted: {} | | | {:.2} | |", values.join(", "), best.loss));
    }
    Ok(Fitted { lines, near })
}

/// Varies one value after the other, and keeps what lowers the loss.
fn fit(name: &str, seen: &[&Rate], rounds: u32) -> Result<Candidate, String> {
    let shipped = model(name, &[])?;
    let value = |key: &str| -> Option<f64> {
        let parameter = shipped.parameters().iter().find(|parameter| parameter.key == key)?;
        parameter.value.to_string().replace('_', "").parse().ok().filter(|value| *value > 0.0)
    };
    let begin = KEYS.iter().filter_map(|key| Some((*key, value(key)?))).enumerate();
    let away =
        |(index, (key, value))| (key, if index % 2 == 0 { value * AWAY } else { value / AWAY });
    let mut best = candidate(name, begin.map(away).collect(), seen)?;
    let mut steps = vec![1.25_f64; best.values.len()];
    for _ in 0..rounds {
        for (index, step) in steps.iter_mut().enumerate() {
            let mut better = false;
            for factor in [*step, 1.0 / *step] {
                let mut values = best.values.clone();
                let old = values[index].1.round();
                let least = if factor > 1.0 { old + 1.0 } else { old - 1.0 };
                let new = (old * factor).round();
                values[index].1 = if new == old { least } else { new }.max(1.0);
                // Not every combination is a legal drive.
                if let Ok(other) = candidate(name, values, seen)
                    && other.loss < best.loss
                {
                    (best, better) = (other, true);
                    break;
                }
            }
            *step = if better { step.powf(1.3).min(2.0) } else { step.powf(0.55) };
        }
    }
    Ok(best)
}

fn candidate(
    name: &str,
    values: Vec<(&'static str, f64)>,
    seen: &[&Rate],
) -> Result<Candidate, String> {
    let model = model(name, &values)?;
    let mut loss = 0.0;
    for rate in seen {
        let outcome = play(rate, &model)?;
        for (row, reads) in &rate.figures {
            let modelled = reads.of(&outcome).unwrap_or(f64::INFINITY);
            let off = (modelled / row.published).ln().abs() / reads.near().ln_1p();
            // What is far off counts no more than what is four times as far as near is.
            loss += off.powi(2).min(16.0);
        }
    }
    Ok(Candidate { values, model, loss })
}

fn model(name: &str, values: &[(&str, f64)]) -> Result<Model, String> {
    let (_, text) = MACHINES.iter().find(|(known, _)| *known == name).ok_or("no such machine")?;
    let set = |(key, value): &(&str, f64)| ((*key).to_owned(), format!("{value:.0}"));
    let set: Vec<_> = values.iter().map(set).collect();
    Model::read(name, text, &set, &Shelf::default()).map_err(|error| error.to_string())
}

fn play(rate: &Rate, model: &Model) -> Result<Outcome, String> {
    rate.load.play(model, SEED, &Control::default()).map_err(|error| error.to_string())
}
