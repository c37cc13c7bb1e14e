//! The 256 words an ATA drive answers IDENTIFY DEVICE with (ACS-4, 7.13.6).

use crate::model::{Fact, Identity};
use crate::reader::clean;

const WORDS: usize = 256;

/// IDENTIFY DEVICE data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identify {
    words: Vec<u16>,
}

impl Identify {
    /// From libata's `id` attribute: words as four hexadecimal digits. `None` when it is not 256
    /// words, or all of them are zero (an empty position).
    pub fn from_text(text: &str) -> Option<Self> {
        let words = text.split_whitespace().take(WORDS + 1);
        let words: Option<Vec<u16>> =
            words.map(|w| u16::from_str_radix(w, 16).ok().filter(|_| w.len() == 4)).collect();
        Self::from_words(words?)
    }

    /// From VPD page 89h, where the data stands at byte 60, low byte of each word first.
    pub fn from_vpd_page(page: &[u8]) -> Option<Self> {
        if page.get(1) != Some(&0x89) {
            return None;
        }
        let data = page.get(60..60 + 2 * WORDS)?;
        Self::from_words(data.chunks_exact(2).map(|w| u16::from_le_bytes([w[0], w[1]])).collect())
    }

    fn from_words(words: Vec<u16>) -> Option<Self> {
        (words.len() == WORDS && words.iter().any(|w| *w != 0)).then_some(Self { words })
    }

    /// A word; 0 past the end.
    pub fn word(&self, at: usize) -> u16 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// A string field: two characters a word, the first in the high byte.
    fn string(&self, from: usize, to: usize) -> Option<String> {
        let bytes: Vec<u8> = (from..to).flat_map(|at| self.word(at).to_be_bytes()).collect();
        let ascii = |b: &u8| if b.is_ascii_graphic() || *b == b' ' { *b as char } else { '\0' };
        let text = clean(&bytes.iter().map(ascii).collect::<String>());
        (!text.is_empty()).then_some(text)
    }

    fn wwn(&self) -> Option<String> {
        let offered = self.word(87) >> 14 == 1 && self.word(87) & (1 << 8) != 0;
        let words = [self.word(108), self.word(109), self.word(110), self.word(111)];
        let value = words.iter().fold(0u64, |sum, w| sum << 16 | u64::from(*w));
        (offered && value != 0).then(|| format!("0x{value:016x}"))
    }

    /// Whether all its bytes add up to 0, as they do with a checksum in word 255.
    pub fn checksum_is_zero(&self) -> bool {
        let bytes = self.words.iter().flat_map(|w| w.to_le_bytes());
        bytes.fold(0u8, u8::wrapping_add) == 0
    }

    /// Whether the drive says it speaks serial ATA (word 76 holds capabilities).
    pub fn is_sata(&self) -> bool {
        self.sata_capabilities().is_some_and(|c| c & 0b1110 != 0)
    }

    /// Whether the drive says it is on a parallel cable (word 93 holds a reset result).
    pub fn is_parallel(&self) -> bool {
        !self.is_sata() && self.word(93) >> 14 == 1
    }

    fn sata_capabilities(&self) -> Option<u16> {
        Some(self.word(76)).filter(|w| *w != 0 && *w != 0xffff)
    }

    /// The fastest link the drive can do, and the one it says it has, as words.
    pub fn link_speeds(&self) -> (Option<&'static str>, Option<&'static str>) {
        let Some(capable) = self.sata_capabilities() else { return (None, None) };
        let highest = (1..=3).rev().find(|generation| capable & (1 << generation) != 0);
        let current = Some(self.word(77)).filter(|w| *w != 0xffff).map(|w| (w >> 1) & 0b111);
        (highest.and_then(speed), current.and_then(speed))
    }
}

fn speed(generation: u16) -> Option<&'static str> {
    match generation {
        1 => Some("1.5 Gbps"),
        2 => Some("3.0 Gbps"),
        3 => Some("6.0 Gbps"),
        _ => None,
    }
}

pub(super) fn identity(fact: &Fact<Identify>) -> Identity {
    let from = |value: Option<String>| value.map(|v| Fact::new(v, fact.from.clone()));
    Identity {
        model: from(fact.value.string(27, 47)),
        serial: from(fact.value.string(10, 20)),
        wwn: from(fact.value.wwn()),
        firmware: from(fact.value.string(23, 27)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(set: &[(usize, u16)]) -> Identify {
        let mut words = vec![0u16; WORDS];
        set.iter().for_each(|(at, word)| words[*at] = *word);
        words[0] = 0x0040;
        Identify::from_words(words).unwrap()
    }

    #[test]
    fn strings_are_high_byte_first_and_padding_is_dropped() {
        let identify = drive(&[(10, 0x494e), (11, 0x5350), (12, 0x3120), (23, 0x2020)]);
        assert_eq!(identify.string(10, 20).as_deref(), Some("INSP1"));
        assert_eq!(identify.string(23, 27), None);
    }

    #[test]
    fn bytes_that_are_no_characters_do_not_reach_the_terminal() {
        let identify = drive(&[(27, 0x1b5b), (28, 0xff41)]);
        let model = identify.string(27, 47).unwrap();
        assert!(!model.contains('\u{1b}'), "{model:?}");
        assert!(model.contains('[') && model.contains('A'), "{model:?}");
    }

    #[test]
    fn a_world_wide_name_counts_only_when_word_87_offers_it() {
        let name = [(108, 0x5000), (109, 0xc500), (110, 0xa1b2), (111, 0xc3d4)];
        assert_eq!(drive(&name).wwn(), None);
        let offered: Vec<_> = name.iter().copied().chain([(87, 0x4100)]).collect();
        assert_eq!(drive(&offered).wwn().as_deref(), Some("0x5000c500a1b2c3d4"));
        let all_ones: Vec<_> = name.iter().copied().chain([(87, 0xffff)]).collect();
        assert_eq!(drive(&all_ones).wwn(), None);
    }

    #[test]
    fn link_speeds_come_from_words_76_and_77() {
        let gen3 = drive(&[(76, 0x850e), (77, 0x0086)]);
        assert_eq!(gen3.link_speeds(), (Some("6.0 Gbps"), Some("6.0 Gbps")));
        assert!(gen3.is_sata());
        let slowed = drive(&[(76, 0x850e), (77, 0x0082)]);
        assert_eq!(slowed.link_speeds(), (Some("6.0 Gbps"), Some("1.5 Gbps")));
        assert_eq!(drive(&[(76, 0xffff), (77, 0xffff)]).link_speeds(), (None, None));
        assert_eq!(drive(&[(76, 0x0100)]).link_speeds(), (None, None));
        assert!(drive(&[(93, 0x6001)]).is_parallel());
        assert!(!drive(&[(93, 0x6001), (76, 0x850e)]).is_parallel());
    }

    #[test]
    fn truncated_and_garbled_data_is_refused() {
        let good = vec!["0040"; WORDS].join(" ");
        assert!(Identify::from_text(&good).is_some());
        assert!(Identify::from_text(&good[..good.len() - 5]).is_none());
        assert!(Identify::from_text(&format!("{good} 0040")).is_none());
        assert!(Identify::from_text(&good.replacen("0040", "004x", 1)).is_none());
        assert!(Identify::from_text(&vec!["0000"; WORDS].join(" ")).is_none());
        assert!(Identify::from_text("").is_none());

        let mut page = vec![0u8; 60];
        page[1] = 0x89;
        page.extend((0..WORDS).flat_map(|i| (i as u16).to_le_bytes()));
        assert_eq!(Identify::from_vpd_page(&page).unwrap().word(77), 77);
        assert!(Identify::from_vpd_page(&page[..571]).is_none());
        page[1] = 0x83;
        assert!(Identify::from_vpd_page(&page).is_none());
        assert!(Identify::from_vpd_page(&[]).is_none());
    }
}
