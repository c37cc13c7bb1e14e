//! The kernel's announcement of a device (`lib/kobject_uevent.c`): `add@/devices/…` and then
//! `KEY=VALUE`, each ended by a zero byte.

use std::collections::BTreeMap;

/// The longest announcement that is read, in bytes; the kernel's buffer for one has 2 KiB.
pub const MAX_UEVENT: usize = 16 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Add,
    Remove,
    /// Something about it is different.
    Change,
    /// Anything else: bind, unbind, move, online, offline.
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uevent {
    pub action: Action,
    /// The device's path below `/sys`, absolute and without `..`.
    pub devpath: String,
    /// Every property, by its name.
    pub properties: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UeventError {
    #[error("the message is udev's, not the kernel's")]
    Udev,
    /// The head is not `action@/path`.
    #[error("the message begins with {found:?}, not with an action and a path")]
    Head { found: String },
    #[error("the message is cut short")]
    Short,
    #[error("the message says both {head:?} and {property:?}")]
    Contradiction { head: String, property: String },
}

impl Uevent {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// The last part of the path: the kernel's name of the device.
    pub fn name(&self) -> &str {
        self.devpath.rsplit('/').next().unwrap_or("")
    }
}

/// Reads one announcement.
///
/// # Errors
/// [`UeventError`] for what the kernel never sends.
pub fn parse(message: &[u8]) -> Result<Uevent, UeventError> {
    if message.starts_with(b"libudev\0") {
        return Err(UeventError::Udev);
    }
    let body = message.strip_suffix(b"\0").ok_or(UeventError::Short)?;
    let mut parts = body.split(|b| *b == 0).map(String::from_utf8_lossy);
    let head = parts.next().unwrap_or_default();
    let bad = || UeventError::Head { found: head.chars().take(40).collect() };
    let (action, devpath) = head.split_once('@').ok_or_else(bad)?;
    let plain = |part: &str| part != ".." && part != "." && !part.contains(char::is_control);
    let path = devpath.strip_prefix('/').filter(|p| p.split('/').all(plain));
    let word = !action.is_empty() && action.bytes().all(|b| b.is_ascii_lowercase());
    if path.is_none() || !word || devpath.len() > 4096 {
        return Err(bad());
    }
    let properties: BTreeMap<String, String> = parts
        .filter_map(|p| p.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
        .collect();
    for (name, said) in [("ACTION", action), ("DEVPATH", devpath)] {
        if let Some(property) = properties.get(name).filter(|p| *p != said) {
            let (head, property) = (said.to_owned(), property.clone());
            return Err(UeventError::Contradiction { head, property });
        }
    }
    let action = match action {
        "add" => Action::Add,
        "remove" => Action::Remove,
        "change" => Action::Change,
        other => Action::Other(other.to_owned()),
    };
    Ok(Uevent { action, devpath: devpath.to_owned(), properties })
}
