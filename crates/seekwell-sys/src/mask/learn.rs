//! Where values that name one disk or machine are known to stand.

use super::{Mask, identify};
use crate::filler::LSPCI;
use crate::tree::{Node, Tree};
use std::path::Path;

/// Attributes whose whole value is a serial number.
const SERIALS: [&str; 8] = [
    "serial",
    "serial_number",
    "product_serial",
    "board_serial",
    "chassis_serial",
    "product_uuid",
    "cid",
    "unique_id",
];
/// Attributes whose value is or holds a world-wide name or a UUID.
const NAMES: [&str; 12] = [
    "wwid",
    "wwn",
    "sas_address",
    "port_name",
    "node_name",
    "nguid",
    "eui",
    "uuid",
    "array_uuid",
    "hostid",
    "hostnqn",
    "lovol_uuid",
];

pub(super) fn from_tree(mask: &mut Mask, tree: &Tree) {
    for (path, node) in tree.iter() {
        if let Some(text) = path.file_name().and_then(|n| n.to_str()) {
            from_text(mask, text);
        }
        match node {
            Node::File(bytes) => from_file(mask, path, bytes),
            Node::Link(to) => from_text(mask, &to.to_string_lossy()),
            Node::Dir | Node::Error(_) => {}
        }
    }
}

/// The value of an attribute that is nothing but a serial number or a name.
pub(super) fn whole_value<'b>(path: &Path, bytes: &'b [u8]) -> Option<&'b str> {
    let name = path.file_name()?.to_str()?;
    let known = SERIALS.contains(&name) || NAMES.contains(&name) || host_file(path);
    let value = std::str::from_utf8(bytes).ok()?.trim();
    (known && !value.is_empty()).then_some(value)
}

fn host_file(path: &Path) -> bool {
    path == Path::new("/proc/sys/kernel/hostname") || path == Path::new("/etc/hostname")
}

fn from_file(mask: &mut Mask, path: &Path, bytes: &[u8]) {
    let (serials, wwn) = identify::secrets(path, bytes);
    serials.iter().for_each(|s| mask.secret(s));
    wwn.iter().for_each(|w| mask.digits(w));
    match path.file_name().and_then(|n| n.to_str()) {
        Some("vpd_pg80") => {
            let text = bytes.get(4..).map(String::from_utf8_lossy).unwrap_or_default();
            mask.secret(&text);
        }
        Some("vpd_pg83") => designators(mask, bytes),
        _ => {}
    }
    if let Some(value) = whole_value(path, bytes) {
        if host_file(path) {
            mask.host(value);
        } else {
            named(mask, path, value);
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    from_text(mask, text);
    if path.starts_with("/run/udev/data") {
        text.lines().filter_map(|l| l.strip_prefix("E:")).for_each(|line| property(mask, line));
    } else if path.ends_with("mountinfo") || path.ends_with("mounts") {
        text.lines().for_each(|line| servers(mask, line));
    } else if path == Path::new(LSPCI) {
        let numbers = text.lines().filter_map(|l| Some(l.split_once("Device Serial Number ")?.1));
        numbers.for_each(|number| mask.secret(number));
    } else if path.starts_with("/dev") || path == Path::new("/proc/cmdline") {
        text.lines().for_each(|line| logged(mask, line));
    }
}

fn named(mask: &mut Mask, path: &Path, value: &str) {
    let serial = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| SERIALS.contains(&n));
    if let Some(words) = value.strip_prefix("t10.") {
        // Vendor, model and serial number, the last the last.
        words.split_whitespace().next_back().into_iter().for_each(|w| mask.secret(w));
    } else if let Some(rest) = value.strip_prefix("nvme.") {
        // Vendor, serial number, model, namespace.
        rest.split('-').nth(1).into_iter().for_each(|serial| mask.digits(serial));
    } else if value.starts_with("nqn.") {
        value.rsplit(':').next().into_iter().for_each(|w| mask.secret(w));
    } else if serial || !value.contains('-') {
        mask.secret(value);
    } else if let Some((maker, rest)) = value.split_once('-') {
        // LVM-…, CRYPT-LUKS2-…-name, mpath-…
        let digits = rest.split('-').find(|part| part.len() >= 16);
        let letters = maker.bytes().all(|b| b.is_ascii_alphabetic());
        mask.secret(digits.filter(|_| letters).unwrap_or(value));
    }
}

/// One property of the udev database.
fn property(mask: &mut Mask, line: &str) {
    let Some((key, value)) = line.split_once('=') else { return };
    // Its whole is model and serial number; the latter is there by itself.
    let mixed = key == "ID_SERIAL" && value.contains('_');
    let names = ["SERIAL", "WWN", "UUID", "NAA", "EUI64"];
    if !mixed && names.iter().any(|part| key.contains(part)) && !key.ends_with("_TYPE") {
        mask.secret(value);
    }
}

/// The machines whose shares are mounted: `server:/export`, `//server/share`.
fn servers(mask: &mut Mask, line: &str) {
    for word in line.split([' ', ',']) {
        let word = word.rsplit('=').next().unwrap_or(word);
        let host = word.strip_prefix("//").and_then(|w| w.split('/').next());
        let host = host.or_else(|| word.split_once(":/").map(|(host, _)| host));
        let host = host.filter(|h| !h.is_empty() && !h.contains(['/', '\\', '[']));
        host.into_iter().for_each(|h| mask.host(h.rsplit('@').next().unwrap_or(h)));
    }
}

/// What the kernel's log and command line say of serial numbers and identifiers.
fn logged(mask: &mut Mask, line: &str) {
    for label in ["SerialNumber: ", "Serial Number: ", "Hostname set to <"] {
        if let Some((_, rest)) = line.split_once(label) {
            let value = rest.split([' ', '>']).next().unwrap_or_default();
            if label.starts_with("Host") { mask.host(value) } else { mask.secret(value) }
        }
    }
    for word in line.split_whitespace() {
        for label in ["UUID=", "PARTUUID=", "machine_id=", "hostname="] {
            if let Some((_, value)) = word.split_once(label) {
                // A partition of an MBR: the disk's number, then the partition's.
                let value = value.split('-').next().filter(|v| v.len() == 8).unwrap_or(value);
                if label == "hostname=" { mask.host(value) } else { mask.secret(value) }
            }
        }
    }
}

/// The names on VPD page 83h (SPC-5, 7.7.6): binary ones as digits, texts by their last word.
fn designators(mask: &mut Mask, page: &[u8]) {
    let mut rest = page.get(4..).unwrap_or_default();
    while let [code, _, _, length, tail @ ..] = rest {
        let Some(value) = tail.get(..usize::from(*length)) else { return };
        rest = &tail[usize::from(*length)..];
        if code & 0x0f == 1 && value.len() >= 8 {
            mask.digits(&value.iter().map(|b| format!("{b:02x}")).collect::<String>());
        } else if code & 0x0f >= 2 {
            let text = String::from_utf8_lossy(value);
            let last =
                text.split(|c: char| c.is_whitespace() || c == '\0').rfind(|w| !w.is_empty());
            last.into_iter().for_each(|w| mask.secret(w));
        }
    }
}

/// UUIDs, MAC addresses, world-wide names and iSCSI names, wherever they stand.
pub(super) fn from_text(mask: &mut Mask, text: &str) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let found = match byte {
            b'-' => at.checked_sub(8).and_then(|from| uuid(bytes, from)),
            b':' => at.checked_sub(2).and_then(|from| address(bytes, from)),
            _ => None,
        };
        found.iter().for_each(|digits| mask.digits(digits));
    }
    let mut at = 0;
    for run in text.split(|c: char| !c.is_ascii_hexdigit()) {
        let before = &text[..at];
        let labelled = ["naa.", "eui.", "wwn-0x"].iter().any(|l| before.ends_with(l));
        let named = run.len() == 16 && (run.starts_with('5') || labelled);
        if run.len() == 32 || named {
            mask.digits(run);
        }
        at += run.len() + text[at + run.len()..].chars().next().map_or(0, char::len_utf8);
    }
    for (at, _) in text.match_indices("iqn.") {
        let name = text[at..].split([' ', '\n', ',', '/']).next().unwrap_or_default();
        if name.contains(':') || name.len() > 12 {
            mask.secret(name);
        }
    }
}

fn hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

fn beside(bytes: &[u8], from: usize, to: usize) -> bool {
    let touches = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_hexdigit() || *b == b':');
    touches(from.checked_sub(1).map(|i| &bytes[i])) || touches(bytes.get(to))
}

/// The digits of the UUID that begins here.
fn uuid(bytes: &[u8], from: usize) -> Option<String> {
    let text = bytes.get(from..from + 36)?;
    let dashes = [8, 13, 18, 23];
    let shape = |(i, b): (usize, &u8)| match dashes.contains(&i) {
        true => *b == b'-',
        false => b.is_ascii_hexdigit(),
    };
    let whole = text.iter().enumerate().all(shape) && !beside(bytes, from, from + 36);
    whole.then(|| text.iter().filter(|b| **b != b'-').map(|b| char::from(*b)).collect())
}

/// The digits of the six or eight pairs that begin here.
fn address(bytes: &[u8], from: usize) -> Option<String> {
    [17, 23].into_iter().find_map(|len| {
        let text = bytes.get(from..from + len)?;
        let pair = |p: &[u8]| hex(&p[..2]) && p.get(2).is_none_or(|c| *c == b':');
        let whole = text.chunks(3).all(pair) && !beside(bytes, from, from + len);
        whole.then(|| text.iter().filter(|b| **b != b':').map(|b| char::from(*b)).collect())
    })
}
