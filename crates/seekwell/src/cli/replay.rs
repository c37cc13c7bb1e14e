//! `seekwell replay`.

use super::Keep;
use super::trace::Reading;
use super::values;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use seekwell_access::Fingerprint;
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_runs::ReplayMode;
use seekwell_trace::replay::{Fit, Moment};
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell replay db-heavy --on /srv                    writes too, on a temporary file there
  seekwell replay db-heavy --on /dev/sdb                reads only, at their recorded times
  seekwell replay db-heavy --on /dev/sdb --destroy S3Z8NB0K   all of it; the disk is lost
  seekwell replay db-heavy --on . --mode dependent      as fast as its programs could have gone on
  seekwell replay web-heavy --on . --size 1g --fit modulo
  seekwell replay two.parquet --map sda=/srv --map sdb=/dev/sdc --destroy none --destroy S3Z8NB0K

In timed mode a request that is handed over later than --late after its time is late. Where more
than one in a hundred are, the verdict says who is to blame. All tags taken: the device was full,
which is a result about the device (exit status 0). Otherwise the program was late: what was
measured is no evidence about the device, it is left out of the numbers, and the exit status is 4.";

/// `seekwell replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The trace: a file in any format of `trace list`, or the name of a built-in one
    #[arg(value_hint = ValueHint::FilePath)]
    pub trace: PathBuf,
    /// A directory, file or block device, or `null` for the cost of the engine itself
    #[arg(
        long, value_name = "TARGET", required_unless_present = "map", conflicts_with = "map",
        value_hint = ValueHint::AnyPath
    )]
    pub on: Option<PathBuf>,
    /// Change a parameter of a modelled machine: controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// Replay only this recorded device, by its name in `trace info`
    #[arg(long, value_name = "NAME", conflicts_with = "map")]
    pub device: Option<String>,
    /// Replay one recorded device on one target; repeat it to replay several on one clock
    #[arg(long, value_name = "RECORDED=TARGET", value_parser = mapping)]
    pub map: Vec<(String, PathBuf)>,
    /// When requests are issued
    #[arg(
        long, value_name = "MODE", default_value = "timed",
        value_parser = values::one_of(MODES, ReplayMode::name)
    )]
    pub mode: ReplayMode,
    /// Replay this many times as fast; think times shrink accordingly
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// The most requests outstanding [default: 256, or less where requests are long; with --mode
    /// depth as many as in the recording]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depth: Option<u32>,
    /// What to do where the recorded disk was larger than the target
    #[arg(
        long, value_name = "HOW", default_value = "fail",
        value_parser = values::one_of(FITS, Fit::name)
    )]
    pub fit: Fit,
    /// The recorded time that counts
    #[arg(
        long, value_name = "WHICH", default_value = "queue",
        value_parser = values::one_of(MOMENTS, Moment::name)
    )]
    pub times: Moment,
    /// Requests issued later than this count as late
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = values::duration)]
    pub late: Nanos,
    /// How it is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Size of the temporary file, or of the part of the target used [default: what the trace
    /// reaches]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// Number of repeats
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub repeats: u32,
    /// Let at most N requests be outstanding, whatever the depth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub tags: Option<u32>,
    /// Which waiting request gets a free tag
    #[arg(
        long, value_name = "POLICY", default_value = "shared", requires = "tags",
        value_parser = tag_policy()
    )]
    pub tag_policy: TagPolicy,
    /// How requests are issued
    #[arg(long, default_value = "auto", value_parser = values::file_engine())]
    pub engine: Engine,
    /// How the run is kept.
    #[command(flatten)]
    pub keep: Keep,
    /// Allow overwriting the block device with this serial number or WWN; all data on it is lost
    ///
    /// Without it writes, discards and flushes are left out on devices and files, and counted; a
    /// directory gets a temporary file, on which all of the trace is played. With several --map
    /// give it once for each, in their order; `none` for one that is not to be written to. For a
    /// loop device SERIAL is the path of its backing file. Refused all the same when the device is
    /// mounted, used as swap, held by LVM, MD or dm-crypt, open for writing elsewhere, carries a
    /// file system or partition table, or holds unknown data.
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// With --destroy: also overwrite the unknown data that a refusal reported under FINGERPRINT
    ///
    /// The data is zeroed at once, so this is needed once; give it for each device that needs it,
    /// in any order. It never allows a device that is in use or carries a known signature, and
    /// other data than was seen is refused again.
    #[arg(long, value_name = "FINGERPRINT", requires = "destroy")]
    pub accept_data: Vec<Fingerprint>,
}

/// When requests are issued.
const MODES: [(ReplayMode, &str); 3] = [
    (ReplayMode::Timed, "Each at its recorded time, whether or not the target keeps up"),
    (
        ReplayMode::Depth,
        "As soon as fewer than --depth are outstanding, or than were in the recording",
    ),
    (ReplayMode::Dependent, "After the requests it depended on, plus its think time"),
];

/// What to do where the recorded disk was larger than the target.
const FITS: [(Fit, &str); 3] = [
    (Fit::Fail, "Refuse it"),
    (Fit::Modulo, "Wrap addresses: distances are kept, locations overlap"),
    (Fit::Scale, "Scale addresses: order is kept, distances change"),
];

/// The recorded time that counts.
const MOMENTS: [(Moment, &str); 2] = [
    (Moment::Queue, "When requests were made, or issued where they were merged or split"),
    (Moment::Issue, "When the device got them"),
];

/// Names of tag policies.
pub fn tag_policy() -> impl TypedValueParser<Value = TagPolicy> {
    PossibleValuesParser::new(TagPolicy::ALL.map(TagPolicy::name)).map(|name| {
        let policy = TagPolicy::ALL.into_iter().find(|p| p.name() == name);
        policy.expect("one of the names")
    })
}

fn mapping(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((recorded, target)) if !recorded.is_empty() && !target.is_empty() => {
            Ok((recorded.to_owned(), PathBuf::from(target)))
        }
        _ => Err("write it like sda=/dev/sdb or sda=/srv".to_owned()),
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|s: &f64| (0.001..=1000.0).contains(s));
    speed.ok_or_else(|| "a number from 0.001 to 1000 is needed; 2 plays twice as fast".to_owned())
}
