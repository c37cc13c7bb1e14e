//! A drive's IDENTIFY data, where a serial number stands with its bytes swapped and in words.

use super::Mask;
use std::path::Path;

const WORDS: usize = 256;
/// Where the data begins on VPD page 89h.
const ON_PAGE: usize = 60;
/// The serial number, and the one of a removable medium.
const SERIALS: [(usize, usize); 2] = [(10, 20), (176, 206)];
const WWN: (usize, usize) = (108, 112);

/// The serial numbers and the world-wide name in a file that holds IDENTIFY data.
pub(super) fn secrets(at: &Path, bytes: &[u8]) -> (Vec<String>, Option<String>) {
    let Some(words) = words_of(at, bytes) else { return (Vec::new(), None) };
    let serials = SERIALS.iter().filter_map(|(from, to)| serial(&words[*from..*to])).collect();
    (serials, Some(wwn(&words)))
}

/// The file with both masked; `None` when it holds no IDENTIFY data.
pub(super) fn masked(at: &Path, bytes: &[u8], mask: &mut Mask) -> Option<Vec<u8>> {
    let mut words = words_of(at, bytes)?;
    let before = words.clone();
    for (from, to) in SERIALS {
        let Some(serial) = serial(&words[from..to]) else { continue };
        let placeholder = mask.placeholder(&serial);
        let text = characters(&words[from..to]).replacen(&serial, &placeholder, 1);
        for (word, pair) in words[from..to].iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *word = u16::from_be_bytes([pair[0], pair[1]]);
        }
    }
    let name = wwn(&words);
    if name.bytes().any(|b| b != b'0') {
        let placeholder = mask.placeholder_digits(&name);
        for (i, word) in words[WWN.0..WWN.1].iter_mut().enumerate() {
            *word = u16::from_str_radix(&placeholder[4 * i..4 * i + 4], 16).unwrap_or(0);
        }
    }
    checksum(&mut words);
    Some(written(at, bytes, &before, &words))
}

/// The last byte makes the sum of all zero, where the byte before it says so (ACS-4, 7.13.6.103).
fn checksum(words: &mut [u16]) {
    if words[255] & 0xff != 0xa5 {
        return;
    }
    let sum = words[..255].iter().flat_map(|w| w.to_le_bytes()).fold(0xa5u8, u8::wrapping_add);
    words[255] = u16::from_be_bytes([sum.wrapping_neg(), 0xa5]);
}

fn is_page(at: &Path) -> bool {
    at.ends_with("vpd_pg89")
}

fn words_of(at: &Path, bytes: &[u8]) -> Option<Vec<u16>> {
    let words: Option<Vec<u16>> = if is_page(at) {
        let data = bytes.get(ON_PAGE..ON_PAGE + 2 * WORDS)?;
        Some(data.chunks_exact(2).map(|w| u16::from_le_bytes([w[0], w[1]])).collect())
    } else if at.ends_with("id") && at.components().any(|c| c.as_os_str() == "ata_device") {
        let text = std::str::from_utf8(bytes).ok()?;
        text.split_whitespace().map(|w| u16::from_str_radix(w, 16).ok()).collect()
    } else {
        None
    };
    words.filter(|w| w.len() == WORDS)
}

/// The file as it was, with the words that changed put in their places.
fn written(at: &Path, bytes: &[u8], before: &[u16], words: &[u16]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if is_page(at) {
        for (i, word) in words.iter().enumerate() {
            let place = ON_PAGE + 2 * i;
            out[place..place + 2].copy_from_slice(&word.to_le_bytes());
        }
        return out;
    }
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|i| !bytes[*i].is_ascii_whitespace())
        .filter(|i| *i == 0 || bytes[*i - 1].is_ascii_whitespace())
        .collect();
    for (start, (old, new)) in starts.iter().zip(before.iter().zip(words)) {
        let text = format!("{new:04x}");
        if old != new && out.get(*start..*start + 4).is_some() {
            out[*start..*start + 4].copy_from_slice(text.as_bytes());
        }
    }
    out
}

/// The characters of words, the first in the high byte; always two a word.
fn characters(words: &[u16]) -> String {
    let plain = |b: u8| if b.is_ascii_graphic() { char::from(b) } else { ' ' };
    words.iter().flat_map(|w| w.to_be_bytes()).map(plain).collect()
}

fn serial(words: &[u16]) -> Option<String> {
    let text = characters(words).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn wwn(words: &[u16]) -> String {
    words[WWN.0..WWN.1].iter().map(|w| format!("{w:04x}")).collect()
}
