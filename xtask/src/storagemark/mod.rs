//! `cargo xtask storagemark`: the four traces of StorageMark 2004, re-recorded.
//!
//! The originals were taken with Intel's IPEAK on a picture server and a database server and were
//! never published; only some figures of them were. Here the scene is built again from what Debian
//! packs, smaller in proportion, on a model of the document's array ([`mod@disk`]), and recorded
//! with `seekwell record`. What comes out stands beside the published figures in
//! `docs/storagemark.md`.

mod apache;
pub mod confine;
mod database;
pub mod disk;
pub mod place;
mod report;
mod web;

use crate::{Failure, bench, devices, process, root};
use apache::Apache;
use database::{Database, Site};
use place::{EXT4, Layout, TestBed};
use report::{Report, Traced};
use seekwell_machine::Model;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bytes of a trace that ships.
const LARGEST: u64 = 4_000_000;
/// Requests that ab is asked for at most; its time ends it first.
const MANY: &str = "1000000";

#[derive(clap::Args)]
pub struct Args {
    /// Build a scene of a sixteenth and record 15 s each: to see that it works.
    #[arg(long)]
    quick: bool,
    /// Folder for traces and page [default: traces and docs of the working tree].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder on a disk for the scene while it runs.
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    work: PathBuf,
    /// How many times smaller than the document's the scene is: archive, tables and memory.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=32))]
    scale: u32,
    /// Seconds of each trace.
    #[arg(long, default_value_t = 45, value_parser = clap::value_parser!(u32).range(5..=600))]
    seconds: u32,
    /// The program that records [default: built now, release profile].
    #[arg(long, value_name = "FILE")]
    seekwell: Option<PathBuf>,
}

struct Scene {
    seekwell: PathBuf,
    scale: u32,
    seconds: u32,
    place: TestBed,
    interrupted: Arc<AtomicBool>,
}

/// Builds the scene, records, and writes traces and page.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    devices::need_root()?;
    let seekwell = bench::program(args.seekwell.as_deref())?;
    let interrupted = bench::stop_flag()?;
    let (scale, seconds) = if args.quick { (16, 15) } else { (args.scale, args.seconds) };
    let layout = Layout {
        size: size(scale),
        model: disk()?,
        stretch: u64::from(scale),
        mkfs: EXT4,
        // The document's NTFS noted each access to a file; strictatime is ext4's way to.
        mount: "strictatime",
    };
    let place = TestBed::new(&args.work.canonicalize()?, layout)?;
    let mut scene = Scene { seekwell, scale, seconds, place, interrupted };
    let mut report = Report::new(scale, seconds, scene.place.confine.version());
    scene.web(&mut report)?;
    scene.database(&mut report)?;
    let (traces, page) = match &args.out {
        Some(dir) => (dir.clone(), dir.join("storagemark.md")),
        None => (root().join("traces"), root().join("docs/storagemark.md")),
    };
    fs::create_dir_all(&traces)?;
    for traced in &report.traces {
        fs::copy(scene.place.aside().join(&traced.file), traces.join(&traced.file))?;
    }
    let text = report.text();
    fs::write(&page, &text)?;
    println!("{text}\nWritten to {} and {}.", traces.display(), page.display());
    Ok(ExitCode::SUCCESS)
}

/// The document's disk: four Atlas 15K in RAID 10 at a Mylex AcceleRAID 600.
fn disk() -> Result<Model, Failure> {
    disk::model("acceleraid600-pci64-66", &[("array.level", "raid10")])
}

/// Bytes of the file system.
fn size(scale: u32) -> u64 {
    (8 << 30) / u64::from(scale) + (512 << 20)
}

impl Scene {
    #[expect(clippy::print_stderr, reason = "it takes minutes")]
    fn step(&self, what: &str) -> Result<(), Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err("interrupted; nothing was written".into());
        }
        eprintln!("{what}");
        Ok(())
    }

    /// The picture server, light and heavy.
    fn web(&mut self, report: &mut Report) -> Result<(), Failure> {
        self.step("writing the picture archive")?;
        let archive = web::ARCHIVE / u64::from(self.scale);
        report.pictures = web::fill(&self.place.root(), self.place.aside(), archive)?;
        self.place.forget()?;
        let apache = web::serve(&self.place)?;
        self.step("filling the cache")?;
        report.warm_share = self.warm(&apache, archive)?;
        self.place.disk.pace(true);
        let url = apache.url("/picture");
        for (name, clients) in [("web-light", 2), ("web-heavy", 20)] {
            let traced = self.record(name, clients, &url)?;
            report.traces.push(traced);
        }
        self.place.disk.pace(false);
        Ok(())
    }

    /// Asks for pictures until as large a share of the archive is in memory as in the document, and
    /// lets no more be. Returns the share.
    fn warm(&self, apache: &Apache, archive: u64) -> Result<f64, Failure> {
        let want = web::WARM / u64::from(self.scale);
        for _ in 0..200 {
            let (cache, rest) = self.place.confine.used()?;
            // What holds the names of files grows with the cache and comes on top.
            self.place.confine.limit(want + rest + want / 100)?;
            if cache * 100 >= want * 98 {
                break;
            }
            self.step(&format!("  {} of {} MiB are in memory", cache >> 20, want >> 20))?;
            process::text(&mut ab(&["-n", "3000", "-c", "4"], &apache.url("/picture")))?;
        }
        Ok(self.place.confine.used()?.0 as f64 / archive as f64)
    }

    /// The database server, light and heavy.
    fn database(&mut self, report: &mut Report) -> Result<(), Failure> {
        self.step("filling the tables")?;
        self.place.confine.limit(4 << 30)?;
        Database::install(&self.place)?;
        let database = Database::start(&self.place, self.scale, 0)?;
        database.fill(&self.place, self.scale)?;
        report.tables_bytes = database.bytes()?;
        report.pool_bytes = database::pool(self.scale);
        database.stop()?;
        self.place.forget()?;
        let database = Database::start(&self.place, self.scale, 1)?;
        let site = Site::start(&self.place, &database, self.scale)?;
        let url = site.apache.url("/random.php");
        self.step("opening pages until the server's cache is full")?;
        process::text(&mut ab(&["-t", "10", "-n", MANY, "-c", "10"], &url))?;
        self.place.disk.pace(true);
        for (name, clients) in [("db-light", 10), ("db-heavy", 50)] {
            let before = database.queries()?;
            let mut traced = self.record(name, clients, &url)?;
            let queries = database.queries()?.saturating_sub(before);
            traced.queries_per_s = Some(queries as f64 / traced.took_s);
            report.traces.push(traced);
        }
        self.place.disk.pace(false);
        drop(site);
        database.stop()
    }

    /// Records while ab asks for `url`, `clients` at once.
    fn record(&self, name: &str, clients: u32, url: &str) -> Result<Traced, Failure> {
        self.step(&format!("recording {name}"))?;
        let file = format!("{name}.parquet");
        let path = self.place.aside().join(&file);
        let seconds = self.seconds.to_string();
        let load = ab(&["-t", &seconds, "-n", MANY, "-c", &clients.to_string()], url);
        let mut record = Command::new(&self.seekwell);
        record.args(["record", "--force", "-o"]).arg(&path).arg(self.place.device()).arg("--");
        let text = process::text(record.arg(load.get_program()).args(load.get_args()))?;
        self.fit(&path)?;
        let stats = process::text(
            Command::new(&self.seekwell).args(["trace", "stats", "--json"]).arg(&path),
        )?;
        Traced::new(
            file,
            clients,
            &text,
            &serde_json::from_str(&stats)?,
            fs::metadata(&path)?.len(),
        )
    }

    /// Cuts the end of a trace off until it is small enough to ship.
    fn fit(&self, path: &Path) -> Result<(), Failure> {
        let cut = self.place.aside().join("cut.parquet");
        let mut seconds = f64::from(self.seconds);
        while fs::metadata(path)?.len() > LARGEST {
            seconds *= 0.98 * LARGEST as f64 / fs::metadata(path)?.len() as f64;
            let end = format!("{}ms", (seconds * 1e3) as u64);
            process::text(
                Command::new(&self.seekwell)
                    .args(["trace", "cut", "--force", "--end", &end])
                    .arg(path)
                    .arg(&cut),
            )?;
            fs::rename(&cut, path)?;
        }
        Ok(())
    }
}

fn ab(words: &[&str], url: &str) -> Command {
    let mut command = Command::new("ab");
    // -r: a broken connection is counted and does not end it; -q: no progress.
    command.args(["-q", "-r"]).args(words).arg(url);
    command
}
