//! `seekwell inspect --save`, `--from` and `--mask`: machines in files.

use super::begin_asked;
use crate::cli::Inspect;
use crate::context::Context;
use crate::exit::CommandError;
use seekwell_inspect::log::LogReport;
use seekwell_inspect::saved::{self, About, MAX_LOG, SavedError};
use seekwell_inspect::{Device, InspectError, Inspection, Target, all_disks};
use seekwell_sys::{Bundle, KMSG, Mask, View, read_kmsg};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// A number of this installation that is not for others to see (machine-id(5)).
const MACHINE_ID: &str = "/etc/machine-id";

/// Inspects what the switches ask for, on `opened` or on this machine, saves it if they say so, and
/// returns what is to be shown, with what its kernel log says.
pub fn look(
    args: &Inspect,
    opened: Option<Bundle>,
    context: &Context,
) -> Result<(Vec<Inspection>, Option<LogReport>), CommandError> {
    let output = begin_asked(args.save.as_deref(), args.replace, context)?;
    let (bundle, found) = match opened {
        Some(bundle) => chosen(bundle, args)?,
        None => live(args, context)?,
    };
    let (bundle, found) =
        if args.mask { masked(&bundle, &found, context) } else { (bundle, found) };
    if let Some(output) = output {
        let path = output.path().to_owned();
        let mut output = output.filled(|out| bundle.write(out).map(drop))?;
        let bytes = output.file().metadata().map_or(0, |data| data.len());
        output.finish_private()?;
        let private = if args.mask { "" } else { "; it holds serial numbers, --mask hides them" };
        let size = seekwell_report::units::binary(bytes);
        context.note(&format!("saved {} ({size}){private}", path.display()));
    }
    Ok((found, saved::log(&bundle)))
}

/// Names what lies in a folder of a saved machine and was not used.
pub fn note_unused(folder: &Path, context: &Context) {
    let unused = saved::unused(folder);
    if !unused.is_empty() {
        let names = unused.join(", ");
        context.note(&format!("{}: not used: {names}", folder.display()));
    }
}

fn chosen(bundle: Bundle, args: &Inspect) -> Result<(Bundle, Vec<Inspection>), SavedError> {
    if args.targets.is_empty() {
        let found = saved::inspections(&bundle);
        return Ok((bundle, found));
    }
    let given = args.targets.iter().map(|path| path.to_string_lossy());
    let targets: Vec<Target> =
        given.map(|given| saved::target_in(&bundle, &given)).collect::<Result<_, _>>()?;
    let header = |name: &str| bundle.fields(name).next().unwrap_or_default().to_owned();
    let log = bundle.snapshot.read(Path::new(KMSG)).ok();
    let about = About { tool: header("tool"), date: header("date"), log };
    Ok(saved::capture(&bundle.snapshot, &targets, &about))
}

fn live(args: &Inspect, context: &Context) -> Result<(Bundle, Vec<Inspection>), CommandError> {
    let targets = targets(&args.targets, context)?;
    let log = match read_kmsg(Path::new(KMSG), MAX_LOG) {
        Ok(log) => Some(log),
        Err(error) => {
            context.note(&format!("the snapshot is without the kernel log: {KMSG}: {error}"));
            None
        }
    };
    let tool = format!("seekwell {}", env!("CARGO_PKG_VERSION"));
    let about = About { tool, date: jiff::Timestamp::now().to_string(), log };
    Ok(saved::capture(&context.host().drives(), &targets, &about))
}

/// The targets of the running system with these paths; every disk if there are none.
///
/// # Errors
/// For the first path that is no target.
pub fn targets(paths: &[PathBuf], context: &Context) -> Result<Vec<Target>, InspectError> {
    let view = &context.view;
    if paths.is_empty() {
        return Ok(all_disks(view));
    }
    paths.iter().map(|path| Target::resolve(view, path)).collect()
}

fn masked(bundle: &Bundle, found: &[Inspection], context: &Context) -> (Bundle, Vec<Inspection>) {
    let machine = context.view.text(Path::new(MACHINE_ID)).ok();
    let mut mask = Mask::new(machine.as_deref().and_then(key_of).unwrap_or_else(any_key));
    machine.iter().for_each(|id| mask.secret(id));
    mask.host(&rustix::system::uname().nodename().to_string_lossy());
    found.iter().filter_map(|i| i.device.as_ref()).for_each(|device| names(device, &mut mask));
    let mut bundle = bundle.clone();
    bundle.field("masked", "serial numbers, world-wide names, UUIDs, MAC addresses, host names");
    let bundle = mask.bundle(&bundle);
    let found = saved::inspections(&bundle);
    (bundle, found)
}

fn names(device: &Device, mask: &mut Mask) {
    device.serial.iter().chain(&device.wwn).for_each(|name| mask.secret(&name.value));
    device.below.iter().for_each(|d| names(d, mask));
}

/// 32 hexadecimal digits.
fn key_of(machine: &str) -> Option<[u8; 16]> {
    let number = (machine.len() == 32).then(|| u128::from_str_radix(machine, 16).ok())??;
    Some(number.to_be_bytes())
}

fn any_key() -> [u8; 16] {
    let random = || u128::from(RandomState::new().hash_one(()));
    (random() << 64 | random()).to_be_bytes()
}
