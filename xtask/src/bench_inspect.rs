//! `cargo xtask bench-inspect`: how long inspection takes, beside the tools people use for it.
//!
//! All run in turn, each round beginning with another one, so that drift of the machine hits all
//! alike. A tool that is not installed stands in the table with that. Machines with a hundred disks
//! are rare, so one is made: the files of one real disk a hundred times, each at an address of its
//! own, once as a saved machine for the program and once as real files for the library.

use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process, root};
use seekwell_inspect::{all_disks, inspect};
use seekwell_sys::{Live, Snapshot, View};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const DISKS: usize = 100;

/// What every inspection among several holds once.
const INSPECTION: &str = "\"seekwell/inspect/1\"";

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// How often each tool runs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// What is inspected.
    #[arg(long, default_value = ".", value_name = "TARGET")]
    target: PathBuf,
    /// A saved machine with one SATA disk, sda, of which a hundred are made.
    #[arg(long, default_value = "../shared/fixtures/ahci", value_name = "FOLDER")]
    machine: PathBuf,
}

/// Something whose wall time is measured.
struct Contender<'a> {
    run: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
    row: Row,
}

impl<'a> Contender<'a> {
    fn new(what: impl Into<String>, run: impl FnMut() -> Result<(), Failure> + 'a) -> Self {
        let row = Row::new(what, Unit::Ns, Vec::new(), Wanted::Nothing);
        Self { run: Box::new(run), row }
    }

    fn at_most_ms(mut self, ms: f64) -> Self {
        self.row.wanted = Wanted::AtMost(ms * 1e6);
        self
    }
}

/// Runs everything, prints the table and writes it.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let seekwell = args.common.program()?;
    let made = tempfile::tempdir()?;
    let hundred = hundred(&root().join(&args.machine), made.path());
    let mut page = Page::of(&seekwell, "rival")?;
    page.fact("lsblk", process::first_line(Command::new("lsblk").arg("--version")));
    let mut contenders = vec![ours(&seekwell, &args.target)];
    rivals(&seekwell, &args.target, &mut contenders, &mut page);
    match &hundred {
        Ok(machine) => contenders.extend(machine.contenders(&seekwell)),
        Err(error) => page.missing(format!("{DISKS} disks"), error),
    }
    measure(&mut contenders, args.rounds)?;
    page.rows = contenders.into_iter().map(|c| c.row).collect();
    let how = how(args.rounds);
    page.finish(args.common.out.as_deref(), "inspect", "Inspection beside other tools", &how)
}

fn measure(contenders: &mut [Contender<'_>], rounds: u32) -> Result<(), Failure> {
    // The first reads find a cold cache and do not count.
    for contender in contenders.iter_mut() {
        (contender.run)()?;
    }
    let count = contenders.len();
    for round in 0..rounds as usize {
        for turn in 0..count {
            let contender = &mut contenders[(round + turn) % count];
            let begun = Instant::now();
            (contender.run)()?;
            contender.row.ours.push(begun.elapsed().as_nanos() as f64);
        }
    }
    Ok(())
}

fn ours<'a>(seekwell: &Path, target: &Path) -> Contender<'a> {
    let (seekwell, target) = (seekwell.to_owned(), target.to_owned());
    let run = move || {
        let mut command = Command::new(&seekwell);
        process::output(command.args(["inspect", "--json"]).arg(&target)).map(drop)
    };
    Contender::new("seekwell inspect TARGET --json", run).at_most_ms(50.0)
}

fn rivals(seekwell: &Path, target: &Path, contenders: &mut Vec<Contender<'_>>, page: &mut Page) {
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
                page.missing(program, error);
                continue;
            }
        };
        let mut what = format!("{program} {}", arguments.join(" "));
        // The exit status of smartctl is the state of the disk.
        let statuses: Vec<i32> = if program == "smartctl" { (0..256).collect() } else { vec![0] };
        match Command::new(program).args(&arguments).stdin(Stdio::null()).output() {
            Err(error) => {
                page.missing(program, format!("cannot be started: {error}"));
                continue;
            }
            // The first two bits: the disk could not be opened, or did not answer.
            Ok(output)
                if program == "smartctl" && output.status.code().is_none_or(|c| c & 3 != 0) =>
            {
                what += ", which cannot read this disk";
            }
            Ok(_) => {}
        }
        let run =
            move || process::output_of(Command::new(program).args(&arguments), &statuses).map(drop);
        contenders.push(Contender::new(what, run));
    }
}

/// The disk under a target, as the program sees it.
fn disk_of(seekwell: &Path, target: &Path) -> Result<String, Failure> {
    let text = process::output(Command::new(seekwell).args(["inspect", "--json"]).arg(target))?;
    let document: Value = serde_json::from_slice(&text)?;
    let mut device = &document["device"];
    while device["below"][0].is_object() {
        device = &device["below"][0];
    }
    let name = device["name"].as_str().ok_or("there is no disk under the target")?;
    Ok(name.to_owned())
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
            let text = process::output(command.args(["inspect", "--json", "--from"]).arg(&saved))?;
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
            Contender::new(format!("inspect() of {DISKS} disks as files"), library).at_most_ms(1e3),
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

fn how(rounds: u32) -> String {
    let profile = if cfg!(debug_assertions) { "a debug build" } else { "a release build" };
    format!(
        "Made by `cargo xtask bench-inspect`. Wall time of whole processes, {rounds} rounds, all \
         in turn, each round beginning with another one; medians, in brackets the smallest and the \
         largest. One round before that is not counted. seekwell applies its rules and reads the \
         kernel log too. The {DISKS} disks are one emulated SATA disk, multiplied, each behind a \
         controller of its own: once as text that the program takes apart first, which is most of \
         its time, so that the promise for inspecting {DISKS} disks is not held against it; once \
         as files on a temporary file system, read by the library in {profile}, without process \
         and output. Files of a real sysfs take the kernel longer."
    )
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
    fn what_is_unpacked_is_read_as_before() {
        let mut snapshot = Snapshot::new();
        snapshot.listing("x", ONE).unwrap();
        let place = tempfile::tempdir().unwrap();
        unpack(&snapshot, Path::new("/sys"), place.path()).unwrap();
        let size = Path::new("/sys/block/sda/size");
        assert_eq!(Live::rooted(place.path()).number(size), Ok(2048));
    }
}
