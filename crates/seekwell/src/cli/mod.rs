//! The command line: what can be typed. Help, man pages and completions are made from this alone.

pub mod beyond;
pub mod calibrate;
mod compare;
pub mod experiment;
pub mod fit_for;
pub mod fleet;
pub mod format;
pub mod ledger;
pub mod machine;
pub mod record;
pub mod replay;
pub mod reproduce;
pub mod serve;
pub mod top;
pub mod trace;
pub mod tune;
pub mod values;
pub mod workload;
pub mod zones;

pub use compare::{Compare, Expect, Trend, expect, margin};

use format::{InspectFormat, Textfile};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};
use seekwell_access::{Consent, Fingerprint};
use seekwell_io::target::Engine;
use seekwell_run::jobs::Request;
use std::path::{Path, PathBuf};

/// Know why a disk is slow, prove what makes it faster, keep only what helped.
///
/// seekwell shows how a disk is attached, measures it, and explains in plain sentences what limits
/// it and how that is known. It never overwrites a disk that was not named with --destroy.
#[derive(Debug, Parser)]
#[command(
    name = "seekwell",
    version,
    long_version = env!("SEEKWELL_BUILD"),
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Examples:
  seekwell checkup                       how good is the disk under this directory? (a minute)
  seekwell checkup --quick /srv -o r.html   the same in 15 s, with a page to look at
  seekwell inspect /dev/sda              how is it attached, how is it set up?
  seekwell bench --on . --rw=randread --bs=4k --iodepth=32 --runtime=5s
  seekwell runs list                     list saved runs

Exit status:
  0 done    1 the claim does not hold    2 usage    3 refused (permission, busy, mounted)
  4 measurement invalid    5 rollback incomplete    130 interrupted, all put back"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON document on standard output and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Use colour: by default on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Directory for saved runs [default: $XDG_DATA_HOME/seekwell/runs]
    #[arg(
        long, global = true, value_name = "DIR", env = "SEEKWELL_RUNS",
        value_hint = ValueHint::DirPath
    )]
    pub runs_dir: Option<PathBuf>,
}

/// When to do something that depends on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Inspect, measure and explain the disk under a path: the main job
    ///
    /// Takes 45 to 60 s. On a directory it needs no privileges: it measures a temporary file
    /// that leaves at least 10 % of the file system and 1 GiB free and is always removed; where
    /// there is no room for it, the device below is only read (by root), and the exit status is 3.
    /// A block device is only read, unless --destroy names it.
    ///
    /// Several targets are read one at a time and then all at once, in turn: where they reach less
    /// together than the sum of the parts, the report names what they share (a disk below them, a
    /// PCI Express link, a PCI bus, a controller, a port, a USB hub, the processors). A device is
    /// read itself, a directory through a temporary file. A target that cannot be opened or fails
    /// is left out, and the exit status says so.
    Checkup(Checkup),
    /// Show how disks are attached and set up, and what could not be read
    ///
    /// Reads what the kernel shows and, as root, what each drive says of its health: no effect on
    /// any disk, no privileges needed.
    Inspect(Inspect),
    /// Compare the storage setup of two machines, or of one machine before and after a change
    ///
    /// Compares how disks are attached and set up: driver, controller mode, interrupts, depth,
    /// link, transfer mode, caches, scheduler, mount options, kernel, firmware; most important
    /// first. Disks are matched by serial number, because another mode may rename them.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Diff),
    /// Run a workload with fio's option names, a fio job file, or a standard benchmark suite
    Bench(Box<Bench>),
    /// Decide whether a disk is fast enough for a program: etcd, PostgreSQL, an SD card class …
    ///
    /// Runs the program's load until each of its bounds is decided with 95 % confidence (five runs
    /// that agree decide), and says which bound is kept or not, with how much room, and what limits
    /// it.
    #[command(after_help = fit_for::EXAMPLES)]
    FitFor(fit_for::FitFor),
    /// Prove by a power cut that a disk keeps what it acknowledges as durable
    ///
    /// `write` writes blocks, flushes, and logs each acknowledgement to where the power stays on,
    /// until the disk's power is cut. `check` then says which acknowledged blocks are missing,
    /// torn, damaged or out of order.
    #[command(after_help = ledger::EXAMPLES)]
    FlushLedger(ledger::FlushLedger),
    /// Measure the numbers that other programs need: ScyllaDB, Ceph, systemd, io.cost …
    ///
    /// Runs the program's load in turn until each number is known to ±2.5 % (95 %) on a device that
    /// has settled, and writes what the program reads. Beside it stands what the program's own
    /// method gives, and where they differ, where the rate fell.
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(calibrate::Calibrate),
    /// Compare two configurations, with a statistical verdict
    ///
    /// Prints what else differed in the setup, both sets of numbers, the ratio with its confidence
    /// interval, and a verdict. Compares saved runs by label, or result files of fio, bonnie++ and
    /// the Phoronix Test Suite.
    Compare(Compare),
    /// Test whether one change helps: interleaved runs and a single verdict
    ///
    /// Runs A and B in randomly ordered blocks (ABBA or BAAB), restores every setting before each
    /// run, chooses the number of blocks from the noise and never from the result, and gives one
    /// verdict: faster, slower, no difference within the margin, undecided, or invalid and why.
    /// Saved after every run; `resume` continues it.
    #[command(after_help = experiment::EXAMPLES)]
    Experiment(Box<experiment::Experiment>),
    /// Try disk settings with automatic rollback
    Tune(tune::Tune),
    /// Guard a trial; started by `tune try`
    #[command(hide = true)]
    TuneGuard(tune::TuneGuard),
    /// Record block I/O requests while a command runs or for a given time
    ///
    /// Reads the kernel's block tracepoints and stores when each request was queued, issued and
    /// completed, with offset, length and process. Needs root. Lost events are counted, and a trace
    /// with lost events is marked incomplete.
    #[command(after_help = record::EXAMPLES)]
    Record(record::Record),
    /// Show what disks are doing now: rates, latency, queues and processes, once a second
    ///
    /// Counts in the kernel, and shows for each disk how much is read and written, response times,
    /// the time spent in the queue, how many requests are outstanding, and the processes that move
    /// or wait for most. A request that hangs is shown while it hangs. Where single requests matter
    /// (--min-latency, --pid, --process), it reads every event as `record` does. Needs root.
    #[command(after_help = top::EXAMPLES)]
    Top(top::Top),
    /// Replay a trace on another disk, and report how faithful the replay was
    ///
    /// Requests are issued at their recorded times against one absolute clock, at a fixed queue
    /// depth, or following the recorded dependencies. The result includes how late requests were,
    /// and whether seekwell or the disk was the cause.
    #[command(after_help = replay::EXAMPLES)]
    Replay(Box<replay::Replay>),
    /// Inspect, convert and cut traces
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::Trace),
    /// List, show, check and fit models of storage hardware, for what-if questions
    ///
    /// A machine is described in a .toml file, which can be used wherever a target can. Results
    /// from a model are always marked as modelled.
    #[command(after_help = machine::EXAMPLES)]
    Machine(machine::Machine),
    /// Compare published benchmark results with modelled ones
    ///
    /// Every figure of five published documents: the published value, the modelled value, the
    /// error, which parameters were fitted to it (such rows do not count as reproduced), and the
    /// reason for each miss.
    Reproduce(reproduce::Reproduce),
    /// Write saved runs as one self-contained HTML page
    Report(Report),
    /// List, show and remove saved runs
    Runs(Runs),
    /// Run a command on many hosts over ssh, and compare what they measured
    Fleet(fleet::Fleet),
    /// Serve saved and running measurements to a browser, read-only
    Serve(serve::Serve),
}

/// What may be overwritten.
#[derive(Debug, Args)]
pub struct Destroy {
    /// Allow overwriting the block device with this serial number or WWN; all data on it is lost
    ///
    /// For a loop device SERIAL is the path of its backing file. Still refused when the
    /// device is mounted, used as swap, held by LVM, MD or dm-crypt, open for writing or mapped
    /// elsewhere, carries a file system or partition table, or holds unknown data.
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// With --destroy: also overwrite the unknown data that a refusal reported under FINGERPRINT
    ///
    /// That data is zeroed first where it was seen, so this is needed only once. It never permits a
    /// device that is in use or carries a known signature; if the data has changed since, the
    /// device is refused again.
    #[arg(long, value_name = "FINGERPRINT", requires = "destroy")]
    pub accept_data: Option<Fingerprint>,
}

impl Destroy {
    /// What may be overwritten, if anything may.
    pub fn consent(&self) -> Option<Consent<'_>> {
        let accepted = self.accept_data.as_slice();
        self.destroy.as_deref().map(|serial| Consent { serial, accepted })
    }
}

/// Jobs that run until enough is known.
#[derive(Debug, Args)]
pub struct Repeated {
    /// Change a parameter of a modelled machine: controller.kind=ide
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// The most runs; it ends as soon as enough is known
    #[arg(
        long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub repeats: u32,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How the run is kept.
    #[command(flatten)]
    pub keep: Keep,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

impl Repeated {
    /// A request for the jobs of files on a target.
    pub fn request<'a>(&'a self, files: &'a [PathBuf], on: &'a Path) -> Request<'a> {
        Request {
            files,
            on: Some(on),
            set: &self.set,
            repeats: self.repeats,
            seed: self.seed,
            destroy: self.destroy.consent(),
            replace: false,
            ages: false,
        }
    }
}

/// What is done with an output that exists.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Force {
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// `seekwell checkup`.
#[derive(Debug, Args)]
pub struct Checkup {
    /// Directories, files or block devices, or the .toml description of one modelled machine
    /// [default: .]
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub targets: Vec<PathBuf>,
    /// Every disk of this machine, alone and together
    ///
    /// Whole disks only: no partitions, no arrays or volumes, no loop, ram or zram devices, one
    /// path of each disk. A disk in standby is left out and not woken.
    #[arg(long, conflicts_with = "targets")]
    pub all: bool,
    /// Change a parameter of a modelled machine: controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// 12 to 15 seconds: fewer depths, fewer repeats
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// 4 to 5 minutes: more repeats, longer runs
    #[arg(long)]
    pub thorough: bool,
    /// Size of the temporary file [default: 1 GiB, 256 MiB with --quick, 4 GiB with --thorough]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// Write the page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How requests are issued
    #[arg(long, default_value = "auto", value_parser = values::file_engine())]
    pub engine: Engine,
    /// How the run is kept.
    #[command(flatten)]
    pub keep: Keep,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

/// How a run is kept.
#[derive(Debug, Args)]
pub struct Keep {
    /// Label for this configuration, for later comparison
    #[arg(long, value_parser = values::label)]
    pub label: Option<String>,
    /// Do not save the run
    #[arg(long)]
    pub no_keep: bool,
    /// Where it is sent.
    #[command(flatten)]
    pub push: PushTo,
}

/// Where saved runs are sent.
#[derive(Debug, Args)]
pub struct PushTo {
    /// Send saved runs to this PostgreSQL database, with those that could not be sent before
    ///
    /// postgres://USER@HOST/DATABASE; what is left out comes from the variables of libpq (PGHOST,
    /// PGPASSFILE and so on). When the database cannot be reached, the runs wait to be sent by the
    /// next --push or `seekwell runs push`.
    #[arg(long, value_name = "URL", env = "SEEKWELL_PUSH", hide_env_values = true)]
    push: Option<String>,
}

impl PushTo {
    /// The address of a database, if one is given.
    pub fn url(&self) -> Option<&str> {
        self.push.as_deref().filter(|url| !url.is_empty())
    }
}

/// Where saved runs are read from.
#[derive(Debug, Args)]
pub struct ReadFrom {
    /// Read runs from this PostgreSQL database instead of the directory
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
}

/// `seekwell runs push`.
#[derive(Debug, Args)]
pub struct Push {
    /// postgres://USER@HOST/DATABASE; the variables of libpq (PGHOST, PGPASSFILE and so on) fill in
    /// what is left out
    #[arg(value_name = "URL")]
    pub database: String,
    /// Run IDs, unique prefixes, bundle directories, or `last` [default: every finished run that is
    /// not there]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
}

/// `seekwell inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Directories, files or block devices [default: every disk]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub targets: Vec<PathBuf>,
    /// Show the source of every fact
    #[arg(long, short)]
    pub verbose: bool,
    /// Save a snapshot of everything that was read, for inspection elsewhere
    ///
    /// A text file with what inspection read, the sysfs folders of the disks and their controllers,
    /// the tables of /proc and, as root, the kernel log. It holds serial numbers and the names of
    /// machine and mounts; see --mask. Only its owner may read it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Inspect a saved snapshot instead of this machine
    ///
    /// FILE is a file of --save, a folder with sysfs.txt and proc.txt, an unpacked sosreport, or
    /// the text of `lspci -vvnn`. Without TARGETS, those it was made of.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub from: Option<PathBuf>,
    /// Mask serial numbers, world-wide names, UUIDs, MAC addresses and host names
    ///
    /// Also in the kernel log and in binary pages read from disks. A value is always replaced by
    /// the same placeholder, derived with a key of this machine, so that snapshots stay comparable.
    /// Labels, mount points and file names are kept.
    #[arg(long)]
    pub mask: bool,
    /// Judge error counters by their growth since this snapshot
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub since: Option<PathBuf>,
    /// Read this kernel log, not the running kernel's; `-` is standard input
    ///
    /// Records of /dev/kmsg, output of dmesg or journalctl -k, or a syslog file, of any size.
    /// Without TARGETS and --from, the log alone is judged.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub log: Option<PathBuf>,
    /// With --from and the text of `lspci -vvnn`: the output of `lsmod` on the same machine
    #[arg(long, value_name = "FILE", requires = "from", value_hint = ValueHint::FilePath)]
    pub lsmod: Option<PathBuf>,
    /// Ask ATA disks, as root, whether queued and DMA commands are accepted right now
    ///
    /// sysfs does not know: queue_depth stays 32 after the kernel has given up on queueing. Reads
    /// one sector of each disk, and asks for the power mode first, so that no sleeping disk is
    /// woken.
    #[arg(long, conflicts_with = "from")]
    pub probe: bool,
    /// Print the result in this form, and nothing else, on standard output
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub format: Option<InspectFormat>,
    /// Where metrics go.
    #[command(flatten)]
    pub textfile: Textfile,
    /// Explain a finding: what it means, how it is known, why it matters, what to do
    ///
    /// Without ID, list all findings that inspect and every command that measures can report.
    #[arg(
        long,
        value_name = "ID",
        num_args = 0..=1,
        conflicts_with_all = [
            "targets", "verbose", "save", "from", "mask", "log", "lsmod", "probe", "watch",
            "format", "textfile",
        ]
    )]
    pub explain: Option<Option<String>>,
    /// Watch: print one line per event, such as hot plug or an I/O error
    ///
    /// Starts with the controllers that support hot plug. With --json, one JSON document per line.
    /// Ends with Ctrl-C. Follows the kernel log if this user may read it.
    #[arg(
        long,
        conflicts_with_all = [
            "targets", "save", "from", "mask", "verbose", "log", "probe", "format", "textfile",
        ]
    )]
    pub watch: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  seekwell inspect --save before.txt     then change the mode in the BIOS, reboot, and
  seekwell diff before.txt -             what did that change?
  seekwell diff here.txt there.txt       two machines";

/// `seekwell diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// A file of inspect --save or of inspect --json, a saved folder, a device or directory of
    /// this machine, or `-` for this machine as it is now
    #[arg(value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,
    /// The same
    #[arg(value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,
    /// Also show differing names and locations, and the source of every value
    #[arg(long, short)]
    pub verbose: bool,
}

/// `seekwell bench`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("shown").args(["jobs", "suite"])))]
pub struct Bench {
    /// fio job files, run as they are: files that do not exist are made for the run and removed, a
    /// file of yours is only read, a device is written only with --destroy
    #[arg(
        value_name = "FILE.fio", value_hint = ValueHint::FilePath,
        conflicts_with_all = [
            "suite", "rw", "bs", "iodepth", "numjobs", "runtime", "ramp_time", "size", "offset",
            "rwmixread", "rate_iops", "rate_process", "random_distribution", "fsync", "direct",
            "tags",
        ]
    )]
    pub jobs: Vec<PathBuf>,
    /// Print what job files or a suite would do, without running them
    ///
    /// Of job files the parsed jobs and what they would write where; of a suite its steps, and on a
    /// modelled machine how long each takes in real time.
    #[arg(long, requires = "shown", conflicts_with = "json")]
    pub show: bool,
    /// A directory, file or block device, the .toml description of a modelled machine, or `null`
    /// for the engine's own cost; for job files, overrides the files they name
    #[arg(
        long, value_name = "TARGET", value_hint = ValueHint::AnyPath,
        required_unless_present_any = ["suite", "jobs"]
    )]
    pub on: Option<PathBuf>,
    /// Run a standard benchmark suite; `list` shows them
    ///
    /// A suite works in its own directory on the target, which is always removed, and leaves at
    /// least 10 % of the file system and 1 GiB free. Those that only read take a block device or a
    /// file too. A modelled machine plays what the steps ask of a disk. `sustained`, `wa`
    /// and `pts` write a device (--destroy), a directory or a modelled machine, and take --size
    /// and --engine, the first two --runtime too.
    #[arg(
        long, value_name = "NAME",
        conflicts_with_all = [
            "rw", "bs", "iodepth", "numjobs", "ramp_time", "offset", "rwmixread", "rate_iops",
            "rate_process", "random_distribution", "fsync", "direct", "tags",
        ]
    )]
    pub suite: Option<String>,
    /// Short form of the suite; modelled machines play the steps of recorded suites in full
    #[arg(long, requires = "suite", conflicts_with = "full")]
    pub quick: bool,
    /// Resume a stopped run of --suite pts: its id, a prefix of the id, or `last`
    ///
    /// Repeat all other options of that run. On a modelled machine or in a directory, an unfinished
    /// test starts over; on a device it resumes at the unfinished cell.
    #[arg(long, value_name = "RUN", requires = "suite", conflicts_with = "no_keep")]
    pub resume: Option<String>,
    /// Full form of the suite: the default; with `--suite list` everything about each
    #[arg(long, requires = "suite")]
    pub full: bool,
    /// Set a parameter of the suite or of a modelled machine: controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// Number of repeats
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub repeats: u32,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How the run is kept.
    #[command(flatten)]
    pub keep: Keep,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
    /// What it does.
    #[command(flatten)]
    pub workload: workload::Workload,
    /// How zones are used.
    #[command(flatten)]
    pub zones: zones::Zones,
    /// Questions that take several runs.
    #[command(flatten)]
    pub beyond: beyond::Beyond,
    /// What is printed or written for other programs.
    #[command(flatten)]
    pub results: format::Formats,
}

/// Gaps between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RateProcess {
    /// Even gaps
    Linear,
    /// Exponential gaps
    Poisson,
}

/// `seekwell report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Run IDs, unique prefixes, bundle directories, or `last`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Write the page to this file [default: seekwell-RUN.html]
    #[arg(
        long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with_all = ["format", "output_dir", "write_logs"]
    )]
    pub output: Option<PathBuf>,
    /// Print Markdown on standard output instead
    #[arg(long, conflicts_with_all = ["output", "json", "format", "output_dir", "write_logs"])]
    pub markdown: bool,
    /// What is printed or written for other programs, in place of the page.
    #[command(flatten)]
    pub results: format::Formats,
}

/// `seekwell runs`.
#[derive(Debug, Args)]
pub struct Runs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: RunsCommand,
}

/// What can be done with kept runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List saved runs, newest first
    List {
        /// Only the newest N
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
        /// Only runs with this label
        #[arg(long)]
        label: Option<String>,
        /// Only runs of this host
        #[arg(long)]
        host: Option<String>,
        /// Where runs are read from.
        #[command(flatten)]
        from: ReadFrom,
    },
    /// Show one run
    Show {
        /// Run ID, unique prefix, bundle directory, or `last`
        run: String,
        /// Where runs are read from.
        #[command(flatten)]
        from: ReadFrom,
    },
    /// Remove runs
    Remove {
        /// Run IDs or unique prefixes
        #[arg(required = true)]
        runs: Vec<String>,
    },
    /// Show one metric over all saved runs of a configuration, with change points
    Trend(Trend),
    /// Append finished runs to Parquet tables: runs, disks, metrics, histograms, findings
    ///
    /// Each table is a folder with a partition for each month (TABLE/month=2026-11/*.parquet), as
    /// DuckDB, polars and Spark read them. Runs that are there already are skipped, so several
    /// hosts can export to one folder again and again.
    Export {
        /// Folder of the tables; created if missing
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Send finished runs to a PostgreSQL database: the tables of `export` and whole documents
    ///
    /// The tables are made in the schema `seekwell`. A run that is there is replaced when it is
    /// named, and otherwise skipped.
    Push(Push),
    /// Rebuild the index from the bundles
    Reindex,
}

/// The whole command line, for help, man pages and completions.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
