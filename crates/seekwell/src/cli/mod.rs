//! The command line: what can be typed. Help, man pages and completions are made from this alone.

pub mod beyond;
mod compare;
pub mod experiment;
pub mod format;
pub mod machine;
pub mod record;
pub mod replay;
pub mod reproduce;
pub mod serve;
pub mod trace;
pub mod tune;
pub mod values;
pub mod workload;

pub use compare::{Compare, Expect, Trend, expect, margin};

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use seekwell_access::{Consent, Fingerprint};
use std::path::PathBuf;

/// Know why a disk is slow, prove what makes it faster, keep only what helped.
///
/// seekwell finds out how a disk is attached, measures it, and says in sentences what holds it back
/// and how that is known. It never writes to a disk that was not given to be destroyed.
#[derive(Debug, Parser)]
#[command(
    name = "seekwell",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Examples:
  seekwell checkup                       how good is the disk under this directory? (a minute)
  seekwell checkup --quick /srv -o r.html   the same in 15 s, with a page to look at
  seekwell inspect /dev/sda              how is it attached, how is it set up?
  seekwell bench --on . --rw=randread --bs=4k --iodepth=32 --runtime=5s
  seekwell runs list                     what was measured so far

Exit status:
  0 done    1 the claim does not hold    2 usage    3 refused (permission, busy, mounted)
  4 measurement invalid    5 rollback incomplete    130 interrupted, all put back"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Switches that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// Switches that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON document on standard output and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Colour: by default when standard output is a terminal and NO_COLOR is not set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Where runs are kept [default: $XDG_DATA_HOME/seekwell/runs]
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
    /// Takes about a minute. Needs no privileges on a directory: a temporary file of seekwell's own
    /// is measured, sized to leave a tenth of the file system and 1 GiB free, and removed on every
    /// way out. On a block device only reads are made, unless --destroy names it.
    Checkup(Checkup),
    /// Show how disks are attached and set up, and what could not be read
    ///
    /// Reads only what the kernel shows; it has no effect on any disk and needs no privileges.
    Inspect(Inspect),
    /// Say what differs between two machines, or one machine at two times
    ///
    /// Compares how disks are attached and set up: driver, controller mode, interrupts, depth,
    /// link, transfer mode, caches, scheduler, mount options, kernel, firmware. The most important
    /// comes first. Disks are told apart by serial number, for another mode may give them another
    /// name.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Diff),
    /// Run one workload, with fio's option names, or a suite people know
    Bench(Box<Bench>),
    /// Say what differs between two configurations, and whether that is beyond chance
    ///
    /// Prints what else differed in the set-up, the numbers of both, the ratio with its interval
    /// and a verdict in words. Compares kept runs by label, or files that fio, bonnie++ and the
    /// Phoronix Test Suite wrote.
    Compare(Compare),
    /// Change one thing, and find out whether it helps: interleaved runs and one verdict
    ///
    /// Makes runs of A and of B in blocks whose order a coin decides (ABBA or BAAB), puts
    /// everything back before each run, fixes the number of blocks by the noise and not by the
    /// result, and says once: B is faster or slower, there is no difference within the margin, it
    /// is undecided, or the experiment is invalid and why. Kept after every run; `resume` goes on.
    #[command(after_help = experiment::EXAMPLES)]
    Experiment(Box<experiment::Experiment>),
    /// Try settings of a disk: put back by itself unless you keep them
    Tune(tune::Tune),
    /// Watch over a trial; started by `tune try`
    #[command(hide = true)]
    TuneGuard(tune::TuneGuard),
    /// Record the requests that reach a disk, while a command runs or for a time
    ///
    /// Reads the kernel's block events and writes when each request was queued, issued and
    /// completed, by whom, where and how large. Needs root. Events that were lost are counted, and
    /// a trace that lacks any is marked incomplete.
    #[command(after_help = record::EXAMPLES)]
    Record(record::Record),
    /// Play recorded requests back on another disk, and say how faithfully that was done
    ///
    /// Each request is issued at its recorded time against one absolute clock, or as fast as a
    /// depth allows, or as its programs waited. How late requests were, and whether the program or
    /// the disk was to blame, is part of the result.
    #[command(after_help = replay::EXAMPLES)]
    Replay(Box<replay::Replay>),
    /// Look into recorded requests: formats, counts, conversion, parts
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::Trace),
    /// Modelled hardware that answers "what if": list, show and check its descriptions
    ///
    /// A description is a .toml file and can be given wherever a target can. What is measured on a
    /// model is marked as modelled wherever it is shown.
    #[command(after_help = machine::EXAMPLES)]
    Machine(machine::Machine),
    /// Show published figures beside what modelled machines give
    ///
    /// Every numeric figure of five documents on how disks are attached: as published, as modelled,
    /// the error, which parameters were fitted on it (such a row does not count as reproduced), and
    /// for a miss why.
    Reproduce(reproduce::Reproduce),
    /// Write kept runs as one HTML page that works offline
    Report(Report),
    /// List, show and remove kept runs
    Runs(Runs),
    /// Show kept runs in a browser: read-only, on this machine, live while something runs
    Serve(serve::Serve),
}

/// What may be overwritten.
#[derive(Debug, Args)]
pub struct Destroy {
    /// Allow writing to the block device, whose serial number or WWN is SERIAL: all data on it is
    /// lost
    ///
    /// For a loop device SERIAL is the path of its backing file. Refused all the same when the
    /// device is mounted, used as swap, held by LVM, MD or dm-crypt, open for writing elsewhere,
    /// carries a file system or partition table, or holds unknown data where those would be.
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// With --destroy: the unknown data that the refusal named by FINGERPRINT may go as well
    ///
    /// The data is zeroed at once, so this is needed once. It never allows a device that is in use
    /// or carries a known signature, and other data than was seen is refused again.
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
    /// A directory, file or block device, or the .toml description of a modelled machine
    #[arg(default_value = ".", value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// Make a modelled machine different: controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// 15 seconds: fewer depths, fewer repeats
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// 5 minutes: more repeats, longer runs
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
    /// A name for this configuration, to compare with others later
    #[arg(long)]
    pub label: Option<String>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How requests are issued
    #[arg(long, default_value = "auto")]
    pub engine: Engine,
    /// Do not keep the run
    #[arg(long)]
    pub no_keep: bool,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

/// How requests are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// io_uring where the kernel allows it, threads elsewhere
    Auto,
    /// io_uring, or an error
    #[value(name = "io_uring")]
    IoUring,
    /// pread and pwrite from a pool of threads
    Threads,
}

/// `seekwell inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Directories, files or block devices [default: every disk]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub targets: Vec<PathBuf>,
    /// Show where every fact was read
    #[arg(long, short)]
    pub verbose: bool,
    /// Save everything that was read to FILE, to look at it on another machine
    ///
    /// A text file with what inspection read, the sysfs folders of the disks and their controllers,
    /// the tables of /proc and, as root, the kernel log. It holds serial numbers and the names of
    /// machine and mounts; see --mask. Only its owner may read it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Inspect what was saved in FILE, not this machine
    ///
    /// FILE is a file of --save, a folder with sysfs.txt and proc.txt, an unpacked sosreport, or
    /// the text of `lspci -vvnn`. Without TARGETS, those it was made of.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub from: Option<PathBuf>,
    /// Put placeholders for serial numbers, world-wide names, UUIDs, MAC addresses and host names
    ///
    /// Everywhere, the kernel log and the binary answers of disks included. The same value always
    /// gets the same placeholder, made under this machine's own key, so that two snapshots can be
    /// compared. Labels, mount points and names of files stay.
    #[arg(long)]
    pub mask: bool,
    /// Judge error counters by what they have grown since this snapshot of --save
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub since: Option<PathBuf>,
    /// Read this kernel log, not the running kernel's; `-` is standard input
    ///
    /// Records of /dev/kmsg, output of dmesg or journalctl -k, or a syslog file, of any size.
    /// Without TARGETS and --from, the log alone is judged.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub log: Option<PathBuf>,
    /// Beside --from a text of `lspci -vvnn`: the output of `lsmod` of the same machine
    #[arg(long, value_name = "FILE", requires = "from", value_hint = ValueHint::FilePath)]
    pub lsmod: Option<PathBuf>,
    /// Ask ATA disks, as root, whether queued and DMA commands are accepted right now
    ///
    /// sysfs does not know: queue_depth stays 32 after the kernel has given up on queueing. Reads
    /// one sector of each disk, and asks for the power mode first, so that no sleeping disk is
    /// woken.
    #[arg(long, conflicts_with = "from")]
    pub probe: bool,
    /// Explain a finding: what it means, how it is known, why it matters, what to do
    ///
    /// Without ID, list all findings that inspect and every command that measures can report.
    #[arg(
        long,
        value_name = "ID",
        num_args = 0..=1,
        conflicts_with_all = [
            "targets", "verbose", "save", "from", "mask", "log", "lsmod", "probe", "watch",
        ]
    )]
    pub explain: Option<Option<String>>,
    /// Stay, and say in one line each what is plugged in or out and what goes wrong
    ///
    /// First says at which controllers a disk can be plugged in while the machine runs. With
    /// --json, one JSON document a line. Ends with Ctrl-C. The kernel log is followed where this
    /// user may read it.
    #[arg(
        long,
        conflicts_with_all = ["targets", "save", "from", "mask", "verbose", "log", "probe"]
    )]
    pub watch: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  seekwell inspect --save before.txt     then change the mode in the BIOS, start, and
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
    /// Show also names and places that differ, and where every value was read
    #[arg(long, short)]
    pub verbose: bool,
}

/// What a workload does, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rw {
    /// Sequential reads
    Read,
    /// Sequential writes
    Write,
    /// Random reads
    #[value(name = "randread")]
    RandRead,
    /// Random writes
    #[value(name = "randwrite")]
    RandWrite,
    /// Sequential reads and writes
    #[value(name = "rw", alias = "readwrite")]
    ReadWrite,
    /// Random reads and writes
    #[value(name = "randrw")]
    RandRw,
}

/// `seekwell bench`.
#[derive(Debug, Args)]
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
    /// Print the jobs as understood, and where they would write how much; run nothing
    #[arg(long, requires = "jobs", conflicts_with = "json")]
    pub show: bool,
    /// A directory, file or block device, the .toml description of a modelled machine, or `null`
    /// for the cost of the engine itself; for job files, in place of what they name
    #[arg(
        long, value_name = "TARGET", value_hint = ValueHint::AnyPath,
        required_unless_present_any = ["suite", "jobs"]
    )]
    pub on: Option<PathBuf>,
    /// Run a suite people know in place of one workload; `list` says which there are
    ///
    /// A suite works in a directory of its own on the target, removed on every way out, and leaves
    /// a tenth of the file system and 1 GiB free.
    #[arg(
        long, value_name = "NAME",
        conflicts_with_all = [
            "rw", "bs", "iodepth", "numjobs", "runtime", "ramp_time", "size", "offset",
            "rwmixread", "rate_iops", "rate_process", "random_distribution", "fsync", "direct",
            "tags", "engine", "destroy",
        ]
    )]
    pub suite: Option<String>,
    /// The short form of the suite: ends within a minute
    #[arg(long, requires = "suite", conflicts_with = "full")]
    pub quick: bool,
    /// The suite as its definition says; the default
    #[arg(long, requires = "suite")]
    pub full: bool,
    /// Set what can be tuned in the suite, or make a modelled machine different:
    /// controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// How often to measure
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub repeats: u32,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A name for this configuration, to compare with others later
    #[arg(long)]
    pub label: Option<String>,
    /// Do not keep the run
    #[arg(long)]
    pub no_keep: bool,
    /// What it does.
    #[command(flatten)]
    pub workload: workload::Workload,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
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
    /// Identifiers, unique beginnings of them, bundle folders, or `last`
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
    /// List kept runs, newest first
    List {
        /// Only the newest N
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
        /// Only runs with this label
        #[arg(long)]
        label: Option<String>,
    },
    /// Show one run
    Show {
        /// Identifier, unique beginning of one, bundle folder, or `last`
        run: String,
    },
    /// Remove runs
    Remove {
        /// Identifiers, or unique beginnings of them
        #[arg(required = true)]
        runs: Vec<String>,
    },
    /// Show one metric over all kept runs of one configuration, and where it changed
    Trend(Trend),
    /// Make the index anew from the bundles
    Reindex,
}

/// The whole command line, for help, man pages and completions.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
