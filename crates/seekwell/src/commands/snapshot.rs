//! `seekwell inspect --save`, `--from` and `--mask`: machines in files.

use super::folder_of;
use crate::cli::Inspect;
use crate::context::Context;
use crate::exit::CommandError;
use seekwell_inspect::log::LogReport;
use seekwell_inspect::saved::{self, About, MAX_LOG};
use seekwell_inspect::{Device, Inspection, Target};
use seekwell_sys::{Bundle, KMSG, Mask, View, read_kmsg};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A number of this installation that is not for others to see (machine-id(5)).
const MACHINE_ID: &str = "/etc/machine-id";

/// Inspects what the switches say, saves it where they say so, and gives what is to be shown, with
/// what the kernel log in it says.
pub fn look(
    args: &Inspect,
    context: &Context,
) -> Result<(Vec<Inspection>, Option<LogReport>), CommandError> {
    let (bundle, found) = match &args.from {
        Some(file) => from(file, args)?,
        None => live(args, context)?,
    };
    let (bundle, found) =
        if args.mask { masked(&bundle, &found, context) } else { (bundle, found) };
    if let Some(path) = &args.save {
        let bytes = save(path, &bundle)?;
        let private = if args.mask { "" } else { "; it holds serial numbers, --mask hides them" };
        let size = seekwell_report::units::binary(bytes);
        context.note(&format!("saved {} ({size}){private}", path.display()));
    }
    Ok((found, saved::log(&bundle)))
}

fn from(file: &Path, args: &Inspect) -> Result<(Bundle, Vec<Inspection>), CommandError> {
    let bundle = saved::open(file)?;
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
    let targets = super::inspect::targets(&args.targets, context)?;
    let log = match read_kmsg(Path::new(KMSG), MAX_LOG) {
        Ok(log) => Some(log),
        Err(error) => {
            context.note(&format!("the snapshot is without the kernel log: {KMSG}: {error}"));
            None
        }
    };
    let tool = format!("seekwell {}", env!("CARGO_PKG_VERSION"));
    let about = About { tool, date: jiff::Timestamp::now().to_string(), log };
    Ok(saved::capture(&context.view, &targets, &about))
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

/// Writes the snapshot whole or not at all, and gives its size in bytes.
fn save(path: &Path, bundle: &Bundle) -> Result<u64, CommandError> {
    let fail = |source| CommandError::Write { path: path.to_path_buf(), source };
    // A file takes the place of what is there, and that must not be a device.
    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return Err(fail(io::Error::other("something is there that is not a file")));
    }
    let file = tempfile::Builder::new()
        .prefix(".seekwell-snapshot-")
        .permissions(PermissionsExt::from_mode(0o600))
        .tempfile_in(folder_of(path))
        .map_err(fail)?;
    let mut out = BufWriter::new(file);
    bundle.write(&mut out).and_then(|_| out.flush()).map_err(fail)?;
    let file = out.into_inner().map_err(|e| fail(e.into_error()))?;
    file.as_file().sync_all().map_err(fail)?;
    let bytes = file.as_file().metadata().map_err(fail)?.len();
    file.persist(path).map_err(|e| fail(e.error))?;
    Ok(bytes)
}
