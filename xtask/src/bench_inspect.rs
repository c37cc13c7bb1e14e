//! `cargo xtask bench-inspect`: how long inspection takes, beside the tools people use for it.
//!
//! All run in turn, each round beginning with another one, so that drift of the machine hits all
//! alike. A tool that is not installed stands in the table with that. Machines with a hundred disks
//! are rare, so one is made: the files of one real disk a hundred times, each at an address of its
//! own, once as a saved machine for the program and once as real files for the library.

use crate::{Failure, bench_engine, root};
use seekwell_inspect::{all_disks, inspect};
use seekwell_sys::{Live, Snapshot, View};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Disks of the machine that is made.
const DISKS: usize = 100;

/// What every inspection among several holds once.
const INSPECTION: &str = "\"seekwell/inspect/1\"";

/// Options of `bench-inspect`.
#[derive(clap::Args)]
pub struct Args {
    /// File to write [default: docs/bench/DATE-inspect.md].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How often each tool runs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// What is inspected.
    #[arg(long, default_value = ".", value_name = "TARGET")]
    target: PathBuf,
    /// The program to measure [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
    /// A saved machine with one SATA disk, sda, of which a hundred are made.
    #[arg(long, default_value = "../shared/fixtures/ahci", value_name = "FOLDER")]
    machine: PathBuf,
}

/// Something whose wall time is measured.
struct Contender<'a> {
    what: String,
    /// Most milliseconds it may take, where there is such a promise.
    most_ms: Option<f64>,
    run: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
    took_ms: Vec<f64>,
}

impl<'a> Contender<'a> {
    fn new(what: impl Into<String>, run: impl FnMut() -> Result<(), Failure> + 'a) -> Self {
        Self { what: what.into(), most_ms: None, run: Box::new(run), took_ms: Vec::new() }
    }

    fn at_most(mut self, ms: f64) -> Self {
        self.most_ms = Some(ms);
        self
    }

    /// Smallest, middle and largest.
    fn spread(&self) -> (f64, f64, f64) {
        let mut all = self.took_ms.clone();
        all.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (all.first(), all.last()) else { return (0.0, 0.0, 0.0) };
        let half = all.len() / 2;
        let middle =
            if all.len().is_multiple_of(2) { (all[half - 1] + all[half]) / 2.0 } else { all[half] };
        (*low, middle, *high)
    }

    fn line(&self) -> String {
        let (low, median, high) = self.spread();
        let (wanted, met) = match self.most_ms {
            Some(most) if median <= most => (format!("≤ {most:.0} ms"), "yes"),
            Some(most) => (format!("≤ {most:.0} ms"), "**no**"),
            None => ("–".to_owned(), "–"),
        };
        format!("| {} | {median:.1} ms | {low:.1} … {high:.1} ms | {wanted} | {met} |", self.what)
    }
}

/// Runs everything, prints the table and writes it.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let seekwell = bench_engine::program(args.seekwell.as_deref())?;
    let made = tempfile::tempdir()?;
    let hundred = hundred(&root().join(&args.machine), made.path());
    let mut missing = Vec::new();
    let mut contenders = vec![ours(&seekwell, &args.target)];
    rivals(&seekwell, &args.target, &mut contenders, &mut missing);
    match &hundred {
        Ok(machine) => contenders.extend(machine.contenders(&seekwell)),
        Err(error) => missing.push((format!("{DISKS} disks"), error.to_string())),
    }
    measure(&mut contenders, args.rounds)?;
    let mut table = String::from("| | median | range | wanted | met |\n|---|---|---|---|---|\n");
    for contender in &contenders {
        writeln!(table, "{}", contender.line())?;
    }
    for (what, why) in &missing {
        writeln!(table, "| {what} | not measured: {why} | | | – |")?;
    }
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let page = page(&today, args.rounds, &table, &contenders, &seekwell)?;
    let out =
        args.out.clone().unwrap_or_else(|| root().join(format!("docs/bench/{today}-inspect.md")));
    out.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&out, page)?;
    println!("{table}");
    println!("Written to {}.", out.display());
    let lost = contenders.iter().any(|c| c.most_ms.is_some_and(|most| c.spread().1 > most));
    Ok(if lost { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn measure(contenders: &mut [Contender<'_>], rounds: u32) -> Result<(), Failure> {
    // The first reads find a cold cache, which is nobody's merit.
    for contender in contenders.iter_mut() {
        (contender.run)()?;
    }
    let count = contenders.len();
    for round in 0..rounds as usize {
        for turn in 0..count {
            let contender = &mut contenders[(round + turn) % count];
            let begun = Instant::now();
            (contender.run)()?;
            contender.took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(())
}

fn ours<'a>(seekwell: &Path, target: &Path) -> Contender<'a> {
    let (seekwell, target) = (seekwell.to_owned(), target.to_owned());
    let run = move || {
        let mut command = Command::new(&seekwell);
        finish(command.args(["inspect", "--json"]).arg(&target), true).map(drop)
    };
    Contender::new("seekwell inspect TARGET --json", run).at_most(50.0)
}

fn rivals(
    seekwell: &Path,
    target: &Path,
    contenders: &mut Vec<Contender<'_>>,
    missing: &mut Vec<(String, String)>,
) {
    let disk = disk_of(seekwell, target);
    let smartctl = disk.map(|disk| vec!["-a".to_owned(), format!("/dev/{disk}")]);
    let fixed = |words: &[&str]| Ok(words.iter().map(|w| (*w).to_owned()).collect());
    for (program, arguments) in [
        ("lsblk", fixed(&["-O", "-J"])),
        ("smartctl", smartctl),
        ("lshw", fixed(&["-quiet", "-c", "disk"])),
    ] {
        let arguments: Vec<String> = match arguments {
            Ok(arguments) => arguments,
            Err(error) => {
                missing.push((program.to_owned(), error.to_string()));
                continue;
            }
        };
        if finish(Command::new(program).arg("--version"), false).is_err() {
            missing.push((program.to_owned(), "it is not installed".to_owned()));
            continue;
        }
        // The exit status of smartctl says how the disk is.
        let strict = program != "smartctl";
        let mut what = format!("{program} {}", arguments.join(" "));
        if !strict && refuses(program, &arguments) {
            what += ", which cannot read this disk";
        }
        let run = move || finish(Command::new(program).args(&arguments), strict).map(drop);
        contenders.push(Contender::new(what, run));
    }
}

/// Whether smartctl could not open the disk or get an answer: the first two bits of its status.
fn refuses(program: &str, arguments: &[String]) -> bool {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    output.is_ok_and(|o| o.status.code().is_none_or(|code| code & 3 != 0))
}

/// The disk under a target, as the program sees it.
fn disk_of(seekwell: &Path, target: &Path) -> Result<String, Failure> {
    let text = finish(Command::new(seekwell).args(["inspect", "--json"]).arg(target), true)?;
    let document: Value = serde_json::from_slice(&text)?;
    let mut device = &document["device"];
    while device["below"][0].is_object() {
        device = &device["below"][0];
    }
    let name = device["name"].as_str().ok_or("there is no disk under the target")?;
    Ok(name.to_owned())
}

/// Runs a command to its end and gives what it printed; its complaints are not shown.
fn finish(command: &mut Command, strict: bool) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{name} could not be started: {e}"))?;
    if strict && !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{name} failed ({}): {words}", output.status).into());
    }
    Ok(output.stdout)
}

/// A machine with a hundred disks, as a saved one and as files.
struct Hundred {
    saved: PathBuf,
    files: Live,
}

impl Hundred {
    fn contenders(&self, seekwell: &Path) -> Vec<Contender<'_>> {
        let (seekwell, saved) = (seekwell.to_owned(), self.saved.clone());
        let program = move || {
            let mut command = Command::new(&seekwell);
            let text = finish(command.args(["inspect", "--json", "--from"]).arg(&saved), true)?;
            let seen = String::from_utf8_lossy(&text).matches(INSPECTION).count();
            if seen == DISKS { Ok(()) } else { Err(format!("{seen} disks were shown").into()) }
        };
        let library = || {
            let targets = all_disks(&self.files);
            let seen = targets.iter().filter(|target| {
                let device = inspect(&self.files, target).device;
                device.is_some_and(|d| d.serial.is_some() && d.detail.ata.is_some())
            });
            let seen = seen.count();
            if seen == DISKS { Ok(()) } else { Err(format!("{seen} disks were whole").into()) }
        };
        vec![
            Contender::new(format!("seekwell inspect --from, {DISKS} disks"), program),
            Contender::new(format!("inspect() of {DISKS} disks as files"), library).at_most(1e3),
        ]
    }
}

/// Makes the machine in `place` from the saved one in `folder`.
fn hundred(folder: &Path, place: &Path) -> Result<Hundred, Failure> {
    let file = folder.join("sysfs.txt");
    let one = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let text: String = (0..DISKS).map(|i| copy(&one, i)).collect();
    let saved = place.join("saved");
    fs::create_dir(&saved)?;
    fs::write(saved.join("sysfs.txt"), &text)?;
    let mut snapshot = Snapshot::new();
    snapshot.listing("sysfs.txt", &text)?;
    let files = place.join("files");
    unpack(&snapshot, Path::new("/sys"), &files)?;
    Ok(Hundred { saved, files: Live::rooted(files) })
}

/// The listing of one machine with its disk and controller at addresses of their own.
fn copy(listing: &str, number: usize) -> String {
    let disk = format!("/{}", disk_name(number));
    let controller = format!("0000:00:{:02x}.{}", number / 8, number % 8);
    let (major, minor) = (8 + number / 16, number % 16 * 16);
    let mut text = String::new();
    for line in listing.lines() {
        let mut line = line.replace("0000:00:1f.2", &controller);
        for end in ["/", ":", " "] {
            line = line.replace(&format!("/sda{end}"), &format!("{disk}{end}"));
        }
        if let Some(before) = line.strip_suffix("/sda") {
            line = format!("{before}{disk}");
        }
        if line.ends_with("/dev: 8:0") {
            line = line.replace(": 8:0", &format!(": {major}:{minor}"));
        }
        for folder in ["/sys/dev/block/", "/sys/class/bdi/", "/virtual/bdi/"] {
            line = line.replace(&format!("{folder}8:0"), &format!("{folder}{major}:{minor}"));
        }
        for (from, to) in [("/0:0:0:0", ":0:0:0"), ("/target0:0:0", ":0:0"), ("/host0", "")] {
            let word = from.split('0').next().unwrap_or_default();
            line = line.replace(from, &format!("{word}{number}{to}"));
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// `sda` to `sdz`, `sdaa` and on.
fn disk_name(number: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    match number / 26 {
        0 => format!("sd{}", letter(number)),
        tens => format!("sd{}{}", letter(tens - 1), letter(number)),
    }
}

/// Writes what a view holds below `path` as real files, folders and links below `to`.
fn unpack(view: &dyn View, path: &Path, to: &Path) -> Result<(), Failure> {
    let here = to.join(path.strip_prefix("/")?);
    if let Ok(target) = view.link(path) {
        std::os::unix::fs::symlink(target, here)?;
    } else if let Ok(names) = view.list(path) {
        fs::create_dir_all(&here)?;
        names.iter().try_for_each(|name| unpack(view, &path.join(name), to))?;
    } else if let Ok(bytes) = view.read(path) {
        fs::write(here, bytes)?;
    }
    Ok(())
}

fn page(
    date: &str,
    rounds: u32,
    table: &str,
    contenders: &[Contender<'_>],
    seekwell: &Path,
) -> Result<String, Failure> {
    let version = |program: &mut Command| {
        let text = finish(program.arg("--version"), false).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.lines().next().unwrap_or("not known").to_owned()
    };
    let cpu = fs::read_to_string("/proc/cpuinfo")?;
    let cpu = cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    let mut out = format!("# Inspection beside other tools, {date}\n\n");
    writeln!(out, "- CPU: {}", cpu.map_or(std::env::consts::ARCH, |(_, name)| name))?;
    writeln!(out, "- CPUs online: {}", std::thread::available_parallelism()?)?;
    writeln!(out, "- kernel: {}", fs::read_to_string("/proc/sys/kernel/osrelease")?.trim())?;
    writeln!(out, "- seekwell: {}", version(&mut Command::new(seekwell)))?;
    writeln!(out, "- lsblk: {}", version(&mut Command::new("lsblk")))?;
    let profile = if cfg!(debug_assertions) { "a debug build" } else { "a release build" };
    write!(
        out,
        "\nMade by `cargo xtask bench-inspect`. Wall time of whole processes, {rounds} rounds, all \
         in turn, each round beginning with another one; medians and ranges. One round before \
         that is not counted. seekwell applies its rules and reads the kernel log too. The {DISKS} \
         disks are one emulated SATA disk, multiplied, each behind a controller of its own: once \
         as text that the program takes apart first, which is most of its time, so that the \
         promise for inspecting {DISKS} disks is not held against it; once as files on a \
         temporary file system, read by the library in {profile}, without process and output. \
         Files of a real sysfs take the kernel longer.\n\n{table}\n\
         ## Raw values\n\n```csv\nwhat,ms in order of rounds\n"
    )?;
    for contender in contenders {
        let values: Vec<String> = contender.took_ms.iter().map(|v| format!("{v:.2}")).collect();
        writeln!(out, "\"{}\",{}", contender.what, values.join(","))?;
    }
    out.push_str("```\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "\
/sys/block/sda -> ../devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda
/sys/dev/block/8:0 -> ../../devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda
/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda/dev: 8:0
/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda/size: 2048
";

    #[test]
    fn every_copy_is_a_disk_of_its_own() {
        let text: String = (0..DISKS).map(|i| copy(ONE, i)).collect();
        let mut snapshot = Snapshot::new();
        snapshot.listing("x", &text).unwrap();
        let disks = all_disks(&snapshot);
        assert_eq!(disks.len(), DISKS);
        let paths: Vec<_> = disks
            .iter()
            .filter_map(|disk| inspect(&snapshot, disk).device?.pci)
            .map(|pci| pci.value)
            .collect();
        let unique: std::collections::BTreeSet<_> = paths.iter().collect();
        assert_eq!((paths.len(), unique.len()), (DISKS, DISKS), "{paths:?}");
        assert_eq!((disk_name(0), disk_name(26), disk_name(99)), names("sda", "sdaa", "sdcv"));
    }

    fn names(a: &str, b: &str, c: &str) -> (String, String, String) {
        (a.into(), b.into(), c.into())
    }

    #[test]
    fn a_promise_that_is_not_kept_says_no() {
        let mut slow = Contender::new("x", || Ok(())).at_most(50.0);
        slow.took_ms = vec![40.0, 60.0, 80.0, 70.0];
        assert_eq!(slow.line(), "| x | 65.0 ms | 40.0 … 80.0 ms | ≤ 50 ms | **no** |");
        slow.took_ms = vec![40.0, 60.0, 41.0];
        assert!(slow.line().ends_with("| yes |"));
    }

    #[test]
    fn what_is_unpacked_is_read_as_before() {
        let mut snapshot = Snapshot::new();
        snapshot.listing("x", ONE).unwrap();
        let place = tempfile::tempdir().unwrap();
        unpack(&snapshot, Path::new("/sys"), place.path()).unwrap();
        let size = Path::new("/sys/block/sda/size");
        assert_eq!(Live::rooted(place.path()).number(size), Ok(2048));
    }
}
