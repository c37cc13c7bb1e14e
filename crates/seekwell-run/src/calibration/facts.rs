//! Facts of the target that a text may use.

use seekwell_inspect::Inspection;

/// Facts beside the numbers. An unknown one stays in the text as its name in capitals.
pub(super) const FACTS: &[&str] = &["class", "device", "firmware", "model", "mount", "path"];

/// A fact of a target, if it is known.
pub(super) fn fact(name: &str, target: &Inspection) -> Option<String> {
    let disk = target.disk().or(target.device.as_ref());
    let text = match name {
        "class" => match disk?.queue.rotational.as_ref()?.value {
            true => "hdd".to_owned(),
            false => "ssd".to_owned(),
        },
        "device" => disk?.dev.clone(),
        "firmware" => disk?.firmware.as_ref()?.value.clone(),
        "model" => disk?.model.as_ref()?.value.clone(),
        "mount" => target.filesystem.as_ref()?.mount_point.value.clone(),
        "path" => target.path.clone(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}
