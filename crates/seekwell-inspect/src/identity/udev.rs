//! The udev database, `/run/udev/data/b8:0`: what was learned as root when the disk appeared,
//! readable by everyone.

use crate::model::{Fact, Identity};
use crate::reader::{Reader, clean, show};
use seekwell_sys::DevId;
use std::path::PathBuf;

/// The database's entry for a block device.
pub(crate) struct Properties {
    text: String,
    from: String,
}

impl Properties {
    /// `None` if there is no entry: udev does not run, or does not know the device.
    pub fn of(r: &Reader<'_>, dev: DevId) -> Option<Self> {
        let path = PathBuf::from(format!("/run/udev/data/b{dev}"));
        Some(Self { text: r.view.text(&path).ok()?, from: show(&path) })
    }

    /// A property that is not empty.
    pub fn get(&self, name: &str) -> Option<Fact<String>> {
        let entry = |line: &str| Some(clean(line.strip_prefix("E:")?.strip_prefix(name)?));
        let values = self.text.lines().filter_map(entry);
        let value = values
            .filter_map(|v| Some(v.strip_prefix('=')?.trim().to_owned()))
            .find(|v| !v.is_empty());
        Some(Fact::new(value?, self.from.clone()))
    }

    /// A property with udev's escapes decoded.
    pub fn unescaped(&self, name: &str) -> Option<Fact<String>> {
        let escaped = self.get(name)?;
        let value = clean(&unescape(&escaped.value));
        (!value.is_empty()).then(|| Fact::new(value, escaped.from))
    }
}

pub(super) fn identity(r: &Reader<'_>, dev: DevId) -> Identity {
    let Some(known) = Properties::of(r, dev) else { return Identity::default() };
    Identity {
        model: known.unescaped("ID_MODEL_ENC").or_else(|| known.get("ID_MODEL")),
        serial: known.get("ID_SERIAL_SHORT"),
        wwn: known.get("ID_WWN_WITH_EXTENSION").or_else(|| known.get("ID_WWN")),
        firmware: known.get("ID_REVISION"),
    }
}

/// udev writes bytes it does not like as `\x20`.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 2..at + 4);
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                out.push(char::from(byte));
                rest = &rest[at + 4..];
            }
            _ => {
                out.push_str("\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn properties_are_read_and_unescaped() {
        let text = "S:disk/by-id/x\nI:123\nE:ID_MODEL=Some_Disk\n\
                    E:ID_MODEL_ENC=Some\\x20Disk\\x20\n\
                    E:ID_SERIAL=Some_Disk_S1\nE:ID_SERIAL_SHORT=S1\nE:ID_WWN=0x5000\n\
                    E:ID_WWN_WITH_EXTENSION=0x50001\nE:ID_REVISION=\n";
        let fake = Fake::new().file("/run/udev/data/b8:0", text);
        let identity = identity(&Reader::new(&fake), DevId { major: 8, minor: 0 });
        let value = |f: Option<Fact<String>>| f.map(|f| f.value);
        assert_eq!(value(identity.model).as_deref(), Some("Some Disk"));
        assert_eq!(value(identity.serial).as_deref(), Some("S1"));
        assert_eq!(value(identity.wwn).as_deref(), Some("0x50001"));
        assert_eq!(value(identity.firmware), None);
    }

    #[test]
    fn broken_escapes_are_left_as_they_are() {
        assert_eq!(unescape("a\\xzzb\\x2"), "a\\xzzb\\x2");
        assert_eq!(unescape("\\x2é"), "\\x2é");
        assert_eq!(unescape("\\xff"), "\\xff");
    }
}
