//! What a SCSI disk says of itself: INQUIRY and its vital product data pages (SPC-5, 7.7).

use crate::model::{Fact, Identity};
use crate::reader::{Need, Reader, clean, show};
use std::path::Path;

pub(super) fn identity(r: &mut Reader<'_>, device: &Path) -> Identity {
    let vendor = r.hint(&device.join("vendor"));
    let model = r.text(&device.join("model"), "model", Need::Always).map(|model| {
        // For a SATA drive the vendor is the word ATA, which names no maker.
        match vendor.filter(|v| v != "ATA") {
            Some(vendor) if !model.value.starts_with(&vendor) => {
                Fact::new(format!("{vendor} {}", model.value), model.from)
            }
            _ => model,
        }
    });
    let serial_page = device.join("vpd_pg80");
    let serial = r.view.read(&serial_page).ok().and_then(|page| unit_serial(&page));
    Identity {
        model,
        serial: serial.map(|s| Fact::new(s, show(&serial_page))),
        wwn: wwn(r, device),
        firmware: r.text(&device.join("rev"), "firmware revision", Need::Optional),
    }
}

fn wwn(r: &Reader<'_>, device: &Path) -> Option<Fact<String>> {
    let path = device.join("wwid");
    let world_wide = |name: &String| ["naa.", "eui."].iter().any(|p| name.starts_with(p));
    if let Some(name) = r.hint(&path).filter(world_wide) {
        return Some(Fact::new(name, show(&path)));
    }
    let path = device.join("vpd_pg83");
    let name = designator(&r.view.read(&path).ok()?)?;
    Some(Fact::new(name, show(&path)))
}

fn unit_serial(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    if page.get(1) != Some(&0x80) {
        return None;
    }
    let end = (4 + length).min(page.len());
    let ascii = page[4..end].iter().all(|b| b.is_ascii_graphic() || matches!(b, b' ' | 0));
    let text = clean(&String::from_utf8_lossy(&page[4..end]));
    (ascii && !text.is_empty()).then_some(text)
}

/// The first NAA or EUI-64 name of the logical unit on page 83h.
fn designator(page: &[u8]) -> Option<String> {
    if page.get(1) != Some(&0x83) {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let mut rest = page.get(4..(4 + length).min(page.len()))?;
    let mut second_choice = None;
    while let [code, kind, _, length, tail @ ..] = rest {
        let value = tail.get(..usize::from(*length))?;
        rest = &tail[usize::from(*length)..];
        let binary = code & 0x0f == 1;
        let of_the_unit = kind & 0x30 == 0;
        let hex = || value.iter().map(|b| format!("{b:02x}")).collect::<String>();
        match kind & 0x0f {
            3 if binary && of_the_unit && !value.is_empty() => {
                return Some(format!("naa.{}", hex()));
            }
            2 if binary && of_the_unit && !value.is_empty() => {
                second_choice.get_or_insert_with(|| format!("eui.{}", hex()));
            }
            _ => {}
        }
    }
    second_choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_serial_is_taken_by_its_length_and_trimmed() {
        let page = [&[0, 0x80, 0, 6][..], b"  AB1 tail"].concat();
        assert_eq!(unit_serial(&page).as_deref(), Some("AB1"));
        let short = [&[0, 0x80, 0xff, 0xff][..], b"CUT"].concat();
        assert_eq!(unit_serial(&short).as_deref(), Some("CUT"));
        assert_eq!(unit_serial(&[0, 0x80, 0, 4, 0x1b, b'[', b'3', b'1']), None);
        assert_eq!(unit_serial(&[0, 0x83, 0, 1, b'A']), None);
        assert_eq!(unit_serial(&[0, 0x80]), None);
    }

    #[test]
    fn the_unit_s_own_name_wins_over_its_port_s() {
        let port = [0x61, 0x93, 0, 2, 0xaa, 0xaa];
        let eui = [0x01, 0x02, 0, 2, 0xbb, 0xbb];
        let naa = [0x01, 0x03, 0, 2, 0x50, 0x01];
        let page = |parts: &[&[u8]]| {
            let body = parts.concat();
            [&[0, 0x83, 0, body.len() as u8][..], &body].concat()
        };
        assert_eq!(designator(&page(&[&port, &eui, &naa])).as_deref(), Some("naa.5001"));
        assert_eq!(designator(&page(&[&port, &eui])).as_deref(), Some("eui.bbbb"));
        assert_eq!(designator(&page(&[&port])), None);
        assert_eq!(designator(&page(&[&[0x01, 0x03, 0, 200, 1]])), None);
        assert_eq!(designator(&[0, 0x83, 0xff, 0xff]), None);
        assert_eq!(designator(&[]), None);
    }
}
