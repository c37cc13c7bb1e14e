//! What a target on the command line is: a path of this machine, `null`, or the description of a
//! modelled machine.

use crate::RunError;
use seekwell_inspect::{Device, DeviceKind, Fact, InspectError, Inspection, Target, inspect};
use seekwell_machine::{Model, library};
use seekwell_sys::{MAX_TEXT, View, read_text, text_path};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether a target is described and not there: a description is a `.toml` file, and a built-in one
/// goes by its bare name too, unless a path has that name.
pub fn is_modelled(target: &Path) -> bool {
    let is_built_in = || target.to_str().is_some_and(|name| library::machine(name).is_some());
    target.extension().is_some_and(|e| e == "toml")
        || is_built_in() && target.symlink_metadata().is_err()
}

/// Looks at a target as it is now.
///
/// # Errors
/// When it is not there.
pub fn look(view: &dyn View, target: &Path) -> Result<Inspection, RunError> {
    if target == Path::new("null") {
        return Ok(Inspection::null());
    }
    if is_modelled(target) {
        return Ok(Inspection::modelled(&target.display().to_string()));
    }
    let resolved = Target::resolve(view, target).map_err(|error| match error {
        InspectError::NotFound { given, mut near } => {
            near.extend(library::near(&given));
            InspectError::NotFound { given, near }
        }
        error => error,
    });
    let mut found = inspect(view, &resolved?);
    if let Some(device) = &mut found.device {
        device.detail.unwritten_bytes = unwritten(view, device);
    }
    Ok(found)
}

/// How much of a loop device's file or of a zram device was never written: reads of that never
/// leave memory.
fn unwritten(view: &dyn View, device: &Device) -> Option<Fact<u64>> {
    let size = device.size_bytes.as_ref()?.value;
    let (written, from) = match device.kind {
        DeviceKind::Loop => {
            let file = &device.role.as_ref()?.value;
            (std::fs::metadata(text_path(file)).ok()?.blocks() * 512, format!("stat({file})"))
        }
        DeviceKind::Zram => {
            let path = format!("/sys/block/{}/mm_stat", device.name);
            let counts = view.text(Path::new(&path)).ok()?;
            (counts.split_ascii_whitespace().next()?.parse().ok()?, path)
        }
        _ => return None,
    };
    // A file system's own blocks make a file a little larger or smaller.
    (written < size / 100 * 99).then(|| Fact::new(size - written, from))
}

/// The model that a `.toml` file describes, or the built-in one of that name if there is no such
/// file.
///
/// # Errors
/// When there is neither, or the description is wrong.
pub fn model(target: &Path, set: &[(String, String)]) -> Result<Model, RunError> {
    let stem = target.file_stem().unwrap_or_default().to_string_lossy();
    let file = target.display().to_string();
    let read = read_text(target, MAX_TEXT);
    let text = match (read, library::machine(&stem)) {
        (Ok(text), _) => text,
        (Err(e), Some(shipped)) if e.kind() == std::io::ErrorKind::NotFound => shipped.to_owned(),
        (Err(source), None) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(RunError::NoMachine { file, near: library::near(&stem) });
        }
        (Err(source), _) => return Err(RunError::Read { path: target.to_path_buf(), source }),
    };
    let parts = library::Shelf::beside(target);
    Ok(Model::read(&file, &text, set, &parts)?)
}
