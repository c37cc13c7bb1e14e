//! `cargo xtask bench-limits`: what a run's statements name, held against the truth that models
//! have: each station made 10 % faster in turn.

use crate::report::{Page, Row, Unit, Wanted, table};
use crate::{Failure, bench, process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// Only machines whose names begin with this.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// What the settings are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A setting: keys that change together, and the values that are drawn from.
type Setting = (&'static [&'static str], &'static [&'static str]);

/// A machine, how often it is drawn, and its settings.
struct Draw(&'static str, usize, &'static [Setting]);

const LINK: Setting = (&["link.speed"], &["1.5Gbps", "3.0Gbps", "6.0Gbps"]);
const NCQ: Setting = (&["controller.ncq"], &["true", "true", "false"]);
const DIES: Setting = (&["drive.dies_per_channel"], &["1", "2", "4"]);
const CHANNELS: Setting = (&["drive.channels"], &["2", "4", "8"]);
const CHANNEL_RATE: Setting =
    (&["drive.channel_bytes_per_s"], &["200000000", "400000000", "800000000"]);
const FIRMWARE: Setting =
    (&["drive.firmware.read_ns", "drive.firmware.write_ns"], &["1000", "4000", "20000"]);
const IOPS: Setting = (
    &["throttle.requests.per_s", "throttle.requests.most_per_s"],
    &["500", "1000", "3000", "7000", "16000"],
);
const BYTES: Setting = (
    &["throttle.bytes.per_s", "throttle.bytes.most_per_s"],
    &["60000000", "131072000", "500000000"],
);
const LATENCY: Setting = (&["throttle.latency_ns"], &["200000", "400000", "1500000"]);
const WRITE_BACK: Setting = (&["drive.write.write_back"], &["true", "false"]);
const SCSI: Setting = (&["scsi.bytes_per_s"], &["40000000", "80000000", "160000000"]);
const LEVEL: Setting = (&["array.level"], &["raid5", "raid0"]);

const DRAWS: [Draw; 17] = [
    Draw("sata-ssd", 7, &[LINK, NCQ, DIES, CHANNELS, FIRMWARE]),
    Draw("870-evo-1tb", 4, &[LINK, DIES, CHANNEL_RATE]),
    Draw("sata-7200", 4, &[LINK, NCQ, WRITE_BACK]),
    Draw("exos-x18", 2, &[LINK]),
    Draw("nvme-ssd", 6, &[DIES, CHANNELS, CHANNEL_RATE, FIRMWARE]),
    Draw("qlc-ssd", 2, &[DIES, CHANNELS]),
    Draw("pm9a3-960", 1, &[]),
    Draw("p3-plus-1tb", 1, &[]),
    Draw("volume-gp3", 7, &[IOPS, BYTES, LATENCY]),
    Draw("volume-io2", 3, &[IOPS, LATENCY]),
    Draw("p4sbe-ich8-ahci", 1, &[]),
    Draw("p4sbe-ich8-piix", 1, &[]),
    Draw("pii350-udma2", 1, &[]),
    Draw("pii350-default", 1, &[]),
    Draw("x8dtl-ahci-intel", 1, &[]),
    Draw("megaraid1600-pci32-33-load", 3, &[SCSI, LEVEL]),
    Draw("acceleraid600-pci64-66", 2, &[SCSI]),
];

/// A statement beside the truth.
struct Case {
    machine: String,
    phase: String,
    named: String,
    confidence: String,
    /// The station whose speed the rate follows most.
    truth: String,
    /// How much it follows that one, and the one that was named.
    most: f64,
    got: f64,
    /// How many times as fast the statement says that it could be, and how many times it is.
    gain: Option<(f64, f64)>,
}

impl Case {
    fn is_right(&self) -> bool {
        self.got >= 0.9 * self.most
    }
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let program = args.common.program()?;
    let mut dice = args.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut cases = Vec::new();
    let mut without_truth = 0;
    for Draw(machine, times, settings) in DRAWS {
        let wanted = args.machine.as_deref().is_none_or(|name| machine.starts_with(name));
        for _ in 0..times {
            let set = draw(settings, &mut dice);
            if wanted {
                without_truth += measure(&program, machine, &set, &mut cases)?;
            }
        }
    }
    report(args, &program, &cases, without_truth)
}

fn draw(settings: &[Setting], dice: &mut u64) -> Vec<String> {
    let mut set = Vec::new();
    for (keys, values) in settings {
        // xorshift64.
        *dice ^= *dice << 13;
        *dice ^= *dice >> 7;
        *dice ^= *dice << 17;
        let value = values[(*dice >> 33) as usize % values.len()];
        set.extend(keys.iter().map(|key| format!("{key}={value}")));
    }
    set
}

/// What `machine limits` says with these words.
type Ask<'a> = dyn Fn(&[&str]) -> Result<Value, Failure> + 'a;

/// Adds the phases of one machine; gives how many have no truth, since no station matters more than
/// chance does.
fn measure(
    program: &Path,
    machine: &str,
    set: &[String],
    cases: &mut Vec<Case>,
) -> Result<usize, Failure> {
    let ask = |command: &[&str]| -> Result<Value, Failure> {
        let mut run = Command::new(program);
        run.args(command).args(set.iter().flat_map(|s| ["--set", s]));
        Ok(serde_json::from_slice(&process::output(&mut run)?)?)
    };
    let run = ask(&["checkup", machine, "--no-keep", "--json"])?;
    let limits = |words: &[&str]| ask(&[&["machine", "limits", machine, "--json"], words].concat());
    let truth = limits(&[])?;
    let mut without = 0;
    for phase in truth["phases"].as_array().into_iter().flatten() {
        let name = phase["phase"].as_str().unwrap_or_default();
        let said = run["limits"].as_array().into_iter().flatten();
        let Some(said) = said.into_iter().find(|limit| limit["phase"] == name) else { continue };
        let gains = phase["gains"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |station: &str| {
            let gain = gains.iter().find(|gain| gain["station"] == station);
            gain.and_then(|gain| gain["elasticity"].as_f64()).unwrap_or(0.0)
        };
        let Some(limit) = phase["limit"].as_str() else {
            without += 1;
            continue;
        };
        let by = said["by"].as_str().unwrap_or_default();
        // What parity costs is what the members spend on it.
        let got = if by == "parity" { of(by).max(of("mechanics")) } else { of(by) };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let gain = match said["next"]["gain"].as_f64() {
            Some(gain) => Some((gain, simulated(&run, said, gain, &limits)?)),
            None => None,
        };
        cases.push(Case {
            machine: format!("{machine} {}", set.join(" ")),
            phase: name.to_owned(),
            named: by.to_owned(),
            confidence: text(&said["confidence"]),
            truth: limit.to_owned(),
            most: of(limit),
            got,
            gain,
        });
    }
    Ok(without)
}

/// How many times as fast a phase is where what limits it is gone: at the depth at which the run
/// was fastest, or with a link or a bus that many times as fast.
fn simulated(run: &Value, said: &Value, gain: f64, ask: &Ask<'_>) -> Result<f64, Failure> {
    let phases = || run["phases"].as_array().into_iter().flatten();
    let mine = phases().find(|phase| phase["name"] == said["phase"]).ok_or("no such phase")?;
    let work = &mine["workload"];
    let of = |words: &[&str], work: &Value| -> Result<Value, Failure> {
        let mut answer = ask(&[words, &[job(work).as_str()]].concat())?;
        Ok(answer["phases"][0].take())
    };
    if said["by"] != "latency" {
        let found = of(&["--faster", &gain.to_string()], work)?;
        let gains = found["gains"].as_array().into_iter().flatten();
        let of_station = gains.into_iter().find(|gain| gain["station"] == said["by"]);
        return Ok(of_station.and_then(|gain| gain["rate_gain"].as_f64()).unwrap_or(1.0));
    }
    let rate = |phase: &&Value| {
        let of = |op: &str| phase["metrics"][op]["median"].as_f64().unwrap_or(0.0);
        of("read.requests_per_s") + of("write.requests_per_s")
    };
    let like = |phase: &&Value| {
        ["pattern", "read_percent", "sizes", "flush_every"]
            .iter()
            .all(|key| phase["workload"][key] == work[key])
    };
    let fastest = phases().filter(like).max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let fastest = fastest.ok_or("no such phase")?;
    let rate = |work: &Value| Ok::<_, Failure>(of(&[], work)?["requests_per_s"].as_f64());
    let (deep, one) = (rate(&fastest["workload"])?, rate(work)?);
    Ok(deep.zip(one).map_or(0.0, |(deep, one)| deep / one))
}

/// A workload as a job in one word.
fn job(work: &Value) -> String {
    let random = if work["pattern"]["kind"] == "random" { "rand" } else { "" };
    let reads = work["read_percent"].as_u64().unwrap_or(100);
    let rw = match reads {
        0 => "write",
        100 => "read",
        _ => "rw",
    };
    let mix = if rw == "rw" { format!(",rwmixread={reads}") } else { String::new() };
    let (bytes, depth) = (&work["sizes"][0]["bytes"], &work["pace"]["depth"]);
    let flush = match work["flush_every"].as_u64().unwrap_or(0) {
        0 => String::new(),
        every => format!(",fsync={every}"),
    };
    format!("{random}{rw},bs={bytes},iodepth={depth}{mix}{flush}")
}

const HOW: &str = "Settings are drawn over the built-in machines; each is measured by a checkup, \
    whose statements see what they would see of a real disk, and by `seekwell machine limits`, \
    which makes each station 10 % faster in turn, twice the tags, twice the depth. A statement is \
    right where the rate follows the station that it names by at least 90 % of what it follows the \
    one it follows most; `unknown` is not right. What parity costs is what the members spend on \
    it, so `parity` counts as they do. A gain that a statement predicts is held against the model \
    at the depth that it is promised at, or with a link or bus that many times as fast.";

fn report(
    args: &Args,
    program: &Path,
    cases: &[Case],
    without_truth: usize,
) -> Result<ExitCode, Failure> {
    let mut page = Page::of(program, "")?;
    let share = |right: usize, of: usize| 100.0 * right as f64 / of.max(1) as f64;
    let right = cases.iter().filter(|case| case.is_right()).count();
    let named: Vec<&Case> = cases.iter().filter(|case| case.named != "unknown").collect();
    let named_right = named.iter().filter(|case| case.is_right()).count();
    let shown = |case: &&&Case| case.confidence == "shown";
    let wrong = named.iter().filter(shown).filter(|case| !case.is_right()).count();
    let gains: Vec<(f64, f64)> = cases.iter().filter_map(|case| case.gain).collect();
    let near = share(gains.iter().filter(|gain| is_near(**gain)).count(), gains.len());
    let percent = Unit::Named("%");
    let (all, surely) = (cases.len(), named.iter().filter(shown).count());
    page.rows = vec![
        Row::new("statements", Unit::Named(""), vec![all as f64], Wanted::AtLeast(300.0)),
        Row::new("right", percent, vec![share(right, all)], Wanted::AtLeast(95.0)),
        Row::new(
            "right of those that name one",
            percent,
            vec![share(named_right, named.len())],
            Wanted::Nothing,
        ),
        Row::new("shown", Unit::Named(""), vec![surely as f64], Wanted::Nothing),
        Row::new("wrong and shown", Unit::Named(""), vec![wrong as f64], Wanted::AtMost(0.0)),
        Row::new("gains predicted", Unit::Named(""), vec![gains.len() as f64], Wanted::Nothing),
        Row::new("gains within 25 %", percent, vec![near], Wanted::AtLeast(80.0)),
        Row::new(
            "no station matters more than chance: left out",
            Unit::Named(""),
            vec![without_truth as f64],
            Wanted::Nothing,
        ),
    ];
    let how = format!(
        "Made by `cargo xtask bench-limits --seed {}`. {HOW}\n\nNamed, over the truth:\n\n{}\n\
         Wrong:\n\n{}\nGains that differ by more than 25 %:\n\n{}",
        args.seed,
        confusion(cases),
        mistakes(cases),
        far(cases)
    );
    page.finish(args.common.out.as_deref(), "limits", "What limits modelled machines", &how)
}

/// A row for each truth, a column for each station that was named.
fn confusion(cases: &[Case]) -> String {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut names: Vec<&str> = cases.iter().map(|case| case.named.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for case in cases {
        *counts.entry(&case.truth).or_default().entry(&case.named).or_default() += 1;
    }
    let heads: Vec<&str> = std::iter::once("truth").chain(names.iter().copied()).collect();
    let rows = counts.iter().map(|(truth, of)| {
        let count = |name: &&str| of.get(name).map_or_else(String::new, usize::to_string);
        std::iter::once((*truth).to_owned()).chain(names.iter().map(count)).collect()
    });
    table(&heads, rows)
}

fn mistakes(cases: &[Case]) -> String {
    let wrong = cases.iter().filter(|case| !case.is_right());
    let rows = wrong.map(|case| {
        vec![
            case.machine.trim().to_owned(),
            case.phase.clone(),
            format!("{} ({})", case.named, case.confidence),
            format!("{:.2}", case.got),
            case.truth.clone(),
            format!("{:.2}", case.most),
        ]
    });
    table(&["machine", "phase", "named", "follows it", "truth", "follows it"], rows)
}

fn is_near((said, is): (f64, f64)) -> bool {
    (0.8..=1.25).contains(&(said / is))
}

fn far(cases: &[Case]) -> String {
    let rows = cases.iter().filter_map(|case| {
        let (said, is) = case.gain.filter(|gain| !is_near(*gain))?;
        let (machine, phase) = (case.machine.trim().to_owned(), case.phase.clone());
        Some(vec![machine, phase, case.named.clone(), format!("{said:.2}"), format!("{is:.2}")])
    });
    table(&["machine", "phase", "limit", "said", "is"], rows)
}
