//! `seekwell machine limits`: what limits loads on a machine, station by station.

use crate::Ended;
use crate::cli::machine::Limits;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_io::units::{iops, whole_percent};
use seekwell_job::PlainJob;
use seekwell_machine::what_if::{DEEPER, Gain};
use seekwell_machine::{Model, Station};
use seekwell_report::wrap;
use seekwell_run::{AskedLoad, LimitedPhase, limited, model};
use serde_json::{Value, json};

/// Columns that fit beside the names of stations.
const PHASES_A_TABLE: usize = 9;

pub fn run(args: &Limits, context: &Context) -> Ended {
    let model = model(&args.machine.machine, &args.machine.set)?;
    let loads = loads(args, &model)?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found = limited(&model, &loads, args.faster, args.seed, threads);
    let named = |(load, found): (&AskedLoad, Result<_, _>)| {
        found.map_err(|error| CommandError::NotPlanned { machine: load.phase.clone(), error })
    };
    let phases = loads.iter().zip(found).map(named).collect::<Result<Vec<_>, _>>()?;
    if context.json {
        context.print_json(&document(args, &model, &phases))?;
    } else {
        context.print(&text(args, &model, &phases, context.width))?;
    }
    Ok(Exit::Done)
}

/// The jobs asked about, or what a checkup runs.
fn loads(args: &Limits, model: &Model) -> Result<Vec<AskedLoad>, CommandError> {
    if args.jobs.is_empty() {
        return Ok(AskedLoad::checkup(model, args.seed));
    }
    let load = |word: &String| Ok(AskedLoad::of(&PlainJob::parse(word)?, args.seed));
    args.jobs.iter().map(load).collect()
}

fn document(args: &Limits, model: &Model, phases: &[LimitedPhase]) -> Value {
    let set = args.machine.set.iter().map(|(key, value)| format!("{key}={value}"));
    let phases = phases.iter().map(|phase| {
        let mut value = json!(phase);
        value["limit"] = json!(phase.found.limit().map(|gain| gain.station));
        value
    });
    json!({
        "schema": "seekwell/machine-limits/1",
        "modelled": true,
        "machine": args.machine.machine,
        "title": model.title(),
        "set": set.collect::<Vec<_>>(),
        "seed": args.seed,
        "phases": phases.collect::<Vec<_>>(),
    })
}

fn text(args: &Limits, model: &Model, phases: &[LimitedPhase], width: usize) -> String {
    let set = args.machine.set.iter().map(|(key, value)| format!(", {key}={value}"));
    let mut out = format!("{} (modelled){}\n", model.title(), set.collect::<String>());
    let stations: Vec<Station> = Station::ALL
        .into_iter()
        .filter(|station| phases.iter().any(|phase| gain(phase, *station).is_some()))
        .collect();
    let (followed, idle): (Vec<_>, Vec<_>) = stations
        .into_iter()
        .partition(|station| phases.iter().any(|phase| gain(phase, *station).is_some_and(matters)));
    let faster = match args.faster < 2.0 {
        true => format!("{} faster", whole_percent(args.faster - 1.0)),
        false => format!("{} times as fast", args.faster),
    };
    let rate = format!(
        "Each station {faster} in turn, then twice the tags, then twice as deep: how \
         much of that the rate follows (1: all of it; ◆: the most of its phase)"
    );
    let tail = "By how many percent p99 is shorter (−: longer)";
    for shown in phases.chunks(PHASES_A_TABLE) {
        let followed_most = |phase: &LimitedPhase, station| {
            let Some(gain) = gain(phase, station) else { return "–".to_owned() };
            let most = phase.found.limit().is_some_and(|limit| limit.station == station);
            format!("{}{}", decimal(gain.elasticity), if most { "◆" } else { "" })
        };
        out += &section(&rate, shown, &followed, width, true, followed_most);
        out += &section(tail, shown, &followed, width, false, |phase, station| {
            let gain = gain(phase, station).and_then(|gain| gain.p99_gain);
            gain.map_or_else(|| "–".to_owned(), |gain| whole(100.0 * (1.0 - 1.0 / gain)))
        });
    }
    if !idle.is_empty() {
        let names: Vec<String> = idle.into_iter().map(name).collect();
        let nothing = format!("Without effect: {}", names.join(", "));
        out += &format!("\n{}", wrapped(&nothing, width));
    }
    out
}

/// A table with a row for each station and a column for each phase.
fn section(
    heading: &str,
    phases: &[LimitedPhase],
    stations: &[Station],
    width: usize,
    with_rate: bool,
    cell: impl Fn(&LimitedPhase, Station) -> String,
) -> String {
    let heads = phases.iter().map(|phase| head(&phase.phase));
    let header: Vec<String> = std::iter::once(String::new()).chain(heads).collect();
    let rates = phases.iter().map(|phase| iops(phase.found.requests_per_s));
    let rates = std::iter::once("a second".to_owned()).chain(rates).collect();
    let rows = stations.iter().map(|station| {
        let cells = phases.iter().map(|phase| cell(phase, *station));
        std::iter::once(name(*station)).chain(cells).collect()
    });
    let chance = phases.iter().map(|phase| decimal(phase.found.chance));
    let chance = std::iter::once("by chance ±".to_owned()).chain(chance).collect();
    let rows =
        with_rate.then_some(rates).into_iter().chain(rows).chain(with_rate.then_some(chance));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let table = seekwell_report::table(&header, rows, width);
    format!("\n{}\n{table}", wrapped(heading, width))
}

fn wrapped(text: &str, width: usize) -> String {
    wrap(text, width, "", "").iter().map(|line| format!("{line}\n")).collect()
}

fn gain(phase: &LimitedPhase, station: Station) -> Option<&Gain> {
    phase.found.gains.iter().find(|gain| gain.station == station)
}

/// Whether it can be seen in the table.
fn matters(gain: &Gain) -> bool {
    let tail = gain.p99_gain.is_some_and(|gain| (1.0 - 1.0 / gain).abs() >= 0.005);
    tail || gain.elasticity.abs() >= 0.005
}

/// `rand-read-4k-d32` in a narrow column.
fn head(phase: &str) -> String {
    phase.replace('-', "\n")
}

fn name(station: Station) -> String {
    match station {
        Station::Tags => format!("tags × {DEEPER}"),
        Station::Latency => format!("depth × {DEEPER}"),
        _ => station.name().replace('_', " "),
    }
}

fn decimal(elasticity: f64) -> String {
    if elasticity.abs() < 0.005 {
        return "0".to_owned();
    }
    format!("{elasticity:.2}").replace('-', "−")
}

fn whole(percent: f64) -> String {
    if percent.abs() < 0.5 { "0".to_owned() } else { format!("{percent:.0}").replace('-', "−") }
}
