//! USB: hubs, bridges and the protocol spoken over them.

use crate::model::Hop;
use crate::reader::{Need, Reader, show};
use crate::sysfs::name;
use std::path::Path;

pub(super) fn root_hub(r: &mut Reader<'_>, at: &Path) -> Hop {
    let (speed, from) = speed(r, at);
    Hop {
        kind: "hub".to_owned(),
        name: name(at).to_owned(),
        detail: format!("root hub{speed}"),
        from,
    }
}

/// A hub or a disk's bridge: class 09 is a hub.
pub(super) fn device(r: &mut Reader<'_>, at: &Path) -> Hop {
    let hub = r.hint(&at.join("bDeviceClass")).is_some_and(|class| class == "09");
    let product = r.hint(&at.join("product"));
    let (speed, from) = speed(r, at);
    let what = product.unwrap_or_else(|| if hub { "hub" } else { "USB device" }.to_owned());
    Hop {
        kind: if hub { "hub" } else { "port" }.to_owned(),
        name: format!("usb {}", name(at)),
        detail: format!("{what}{speed}"),
        from,
    }
}

/// Mass storage as UAS (queued commands) or bulk-only (one command at a time).
pub(super) fn interface(r: &mut Reader<'_>, at: &Path) -> Option<Hop> {
    let driver = r.driver(at)?;
    let detail = match driver.value.as_str() {
        "uas" => "USB Attached SCSI, driver uas: queued commands".to_owned(),
        "usb-storage" => {
            "bulk-only transport, driver usb-storage: one command at a time".to_owned()
        }
        other => format!("driver {other}"),
    };
    Some(Hop { kind: "link".to_owned(), name: name(at).to_owned(), detail, from: driver.from })
}

/// The speed in words, with a leading comma, and where it was read.
fn speed(r: &mut Reader<'_>, at: &Path) -> (String, String) {
    let path = at.join("speed");
    let Some(speed) = r.text(&path, "USB speed", Need::Always) else {
        return (String::new(), show(at));
    };
    let words = match speed.value.as_str() {
        "1.5" => "1.5 Mb/s (USB 1, low speed)".to_owned(),
        "12" => "12 Mb/s (USB 1, full speed)".to_owned(),
        "480" => "480 Mb/s (USB 2)".to_owned(),
        "5000" => "5 Gb/s (USB 3)".to_owned(),
        "10000" => "10 Gb/s (USB 3.1)".to_owned(),
        "20000" => "20 Gb/s (USB 3.2)".to_owned(),
        other => format!("{other} Mb/s"),
    };
    (format!(", {words}"), speed.from)
}
