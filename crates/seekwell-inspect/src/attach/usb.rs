//! USB: hubs, bridges and the protocol spoken over them.

use super::name;
use crate::model::Hop;
use crate::reader::{Need, Reader, show};
use std::path::Path;

/// `2-1` or `2-1.4.3`.
pub(crate) fn is_device(name: &str) -> bool {
    let Some((bus, ports)) = name.split_once('-') else { return false };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    number(bus) && ports.split('.').all(number)
}

/// `2-1:1.0`.
pub(crate) fn is_interface(name: &str) -> bool {
    let Some((device, interface)) = name.split_once(':') else { return false };
    is_device(device) && interface.contains('.')
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usb_names_are_told_apart() {
        assert!(is_device("2-1") && is_device("1-1.4.3"));
        assert!(is_interface("2-1:1.0"));
        for other in ["usb2", "end_device-1", "2-1:1.0", "port-0", "-1", "2-"] {
            assert!(!is_device(other), "{other}");
        }
        assert!(!is_interface("0:0:0:0") && !is_interface("0000:00:1f.2"));
    }
}
