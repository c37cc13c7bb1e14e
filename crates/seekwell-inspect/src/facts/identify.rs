//! The words of IDENTIFY DEVICE that say what a drive can do and what it does (ACS-4, 7.13.6).

use crate::identity::Identify;
use serde::{Deserialize, Serialize};

/// What an ATA drive says of itself. A speed is in words, `6.0 Gbps`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdentifyData {
    /// Serial ATA by word 76.
    pub sata: bool,
    /// The fastest link it can do; `None` if it does not say.
    pub link_max: Option<String>,
    /// The link it says it has now; `None` if it does not say.
    pub link_now: Option<String>,
    pub ncq: bool,
    pub ncq_depth: u16,
    pub ncq_priority: bool,
    /// It can start link power saving on its own (DIPM): supported, enabled.
    pub dipm: (bool, bool),
    /// Device sleep: supported, enabled.
    pub device_sleep: (bool, bool),
    pub dma: bool,
    /// The best multiword DMA mode it supports and the one selected.
    pub mwdma: (Option<u8>, Option<u8>),
    /// The best Ultra DMA mode it supports and the one selected.
    pub udma: (Option<u8>, Option<u8>),
    pub pio: Option<u8>,
    /// Sectors per READ MULTIPLE: most, now.
    pub multiple: (u8, u8),
    /// Write cache: supported, enabled.
    pub write_cache: (bool, bool),
    /// Read look-ahead: supported, enabled.
    pub look_ahead: (bool, bool),
    /// SMART: supported, enabled.
    pub smart: (bool, bool),
    /// General purpose logs.
    pub logs: bool,
    /// Advanced power management: supported, enabled.
    pub apm: (bool, bool),
    /// The APM level, 1 (most saving) to 254.
    pub apm_level: Option<u8>,
    /// 48-bit addresses.
    pub lba48: bool,
    /// FLUSH CACHE or FLUSH CACHE EXT.
    pub flush: bool,
    /// Writes that bypass the cache.
    pub fua: bool,
    /// Rotations per minute; `Some(1)` is a solid-state drive, `None` if it does not say.
    pub rotation_rpm: Option<u16>,
    pub trim: bool,
    /// Reads after TRIM are deterministic, and zero.
    pub trim_read: (bool, bool),
    /// Zone model: 0 none, 1 host-aware, 2 managed by the drive.
    pub zoned: u8,
    pub logical_bytes: u64,
    pub physical_bytes: u64,
    /// The offset of the first logical sector in its physical one, in logical sectors.
    pub alignment: u16,
    pub security: Security,
    /// On a parallel cable: 80 wires were seen. `None` on a serial link or where it does not say.
    pub cable_80: Option<bool>,
    /// Word 93 has a parallel reset result, as drives behind a parallel-to-serial bridge have.
    pub parallel_reset_result: bool,
    /// The checksum: right, wrong, or `None` if the drive has none.
    pub checksum: Option<bool>,
}

/// Word 128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Security {
    pub enabled: bool,
    /// Data cannot be read without it.
    pub locked: bool,
    /// The settings cannot be changed until the next power cycle.
    pub frozen: bool,
}

pub(super) fn decode(id: &Identify) -> IdentifyData {
    let word = |at: usize| id.word(at);
    let bit = |at: usize, bit: u32| word(at) & (1 << bit) != 0;
    // Words 83 and 87 hold 01 in their top bits when the words around them mean something.
    let commands = word(83) >> 14 == 1;
    let enabled = word(87) >> 14 == 1;
    let both = |can: (usize, u32), on: (usize, u32)| {
        (commands && bit(can.0, can.1), commands && enabled && bit(on.0, on.1))
    };
    let sata = Some(word(76)).filter(|w| *w != 0 && *w != 0xffff);
    let serial = |b: u32| sata.is_some_and(|w| w & (1 << b) != 0);
    let (link_max, link_now) = id.link_speeds();
    let transfer = word(53) != 0xffff;
    let ultra = transfer && bit(53, 2);
    let apm = both((83, 3), (86, 3));
    let parallel_reset_result = word(93) >> 14 == 1;
    let (logical_bytes, physical_bytes) = sectors(id);
    IdentifyData {
        sata: id.is_sata(),
        link_max: link_max.map(str::to_owned),
        link_now: link_now.map(str::to_owned),
        ncq: serial(8),
        ncq_depth: if serial(8) { (word(75) & 0x1f) + 1 } else { 0 },
        ncq_priority: serial(12),
        dipm: (sata.is_some() && bit(78, 3), sata.is_some() && bit(79, 3)),
        device_sleep: (sata.is_some() && bit(78, 8), sata.is_some() && bit(79, 8)),
        dma: bit(49, 8),
        mwdma: (highest(word(63) & 7), highest((word(63) >> 8) & 7)),
        udma: match ultra {
            true => (highest(word(88) & 0x7f), highest((word(88) >> 8) & 0x7f)),
            false => (None, None),
        },
        pio: (transfer && bit(53, 1)).then(|| highest(word(64) & 3).map(|n| n + 3)).flatten(),
        multiple: (word(47) as u8, if bit(59, 8) { word(59) as u8 } else { 0 }),
        write_cache: both((82, 5), (85, 5)),
        look_ahead: both((82, 6), (85, 6)),
        smart: both((82, 0), (85, 0)),
        logs: word(84) >> 14 == 1 && bit(84, 5),
        apm,
        apm_level: Some(word(91) as u8).filter(|n| apm.1 && (1..=254).contains(n)),
        lba48: commands && bit(83, 10),
        flush: commands && (bit(83, 12) || bit(83, 13)),
        fua: word(84) >> 14 == 1 && bit(84, 6),
        rotation_rpm: Some(word(217)).filter(|w| *w == 1 || (0x401..=0xfffe).contains(w)),
        trim: bit(169, 0) && word(169) != 0xffff,
        trim_read: (bit(69, 14), bit(69, 5)),
        zoned: (word(69) & 3) as u8,
        logical_bytes,
        physical_bytes,
        alignment: if word(209) >> 14 == 1 { word(209) & 0x3fff } else { 0 },
        security: Security { enabled: bit(128, 1), locked: bit(128, 2), frozen: bit(128, 3) },
        cable_80: (parallel_reset_result && !id.is_sata()).then(|| bit(93, 13)),
        parallel_reset_result,
        checksum: (word(255) & 0xff == 0xa5).then(|| id.checksum_is_zero()),
    }
}

/// The number of the highest bit.
fn highest(bits: u16) -> Option<u8> {
    (bits != 0).then(|| 15 - bits.leading_zeros() as u8)
}

fn sectors(id: &Identify) -> (u64, u64) {
    let word = id.word(106);
    if word >> 14 != 1 {
        return (512, 512);
    }
    let words = u64::from(id.word(117)) | u64::from(id.word(118)) << 16;
    let logical = if word & (1 << 12) != 0 && words >= 256 { words * 2 } else { 512 };
    let power = if word & (1 << 13) != 0 { word & 0xf } else { 0 };
    (logical, logical << power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(set: &[(usize, u16)]) -> IdentifyData {
        let mut words = vec![0u16; 256];
        words[0] = 0x40;
        set.iter().for_each(|(at, w)| words[*at] = *w);
        let text: Vec<String> = words.iter().map(|w| format!("{w:04x}")).collect();
        decode(&Identify::from_text(&text.join(" ")).unwrap())
    }

    #[test]
    fn a_modern_drive_is_decoded() {
        let d = drive(&[
            (49, 0x2f00),
            (53, 7),
            (63, 7),
            (64, 3),
            (75, 31),
            (76, 0x850e),
            (77, 0x0086),
            (78, 0x4c),
            (79, 0x48),
            (82, 0x746b),
            (83, 0x7d09),
            (84, 0x4163),
            (85, 0x7469),
            (86, 0xbc01),
            (87, 0x4163),
            (88, 0x407f),
            (106, 0x6003),
            (128, 0x29),
            (169, 1),
            (217, 7200),
            (69, 0x4020),
        ]);
        assert_eq!((d.ncq, d.ncq_depth), (true, 32));
        assert_eq!(
            (d.link_max.as_deref(), d.link_now.as_deref()),
            (Some("6.0 Gbps"), Some("6.0 Gbps"))
        );
        assert_eq!(d.udma, (Some(6), Some(6)));
        assert_eq!((d.mwdma.0, d.pio), (Some(2), Some(4)));
        assert_eq!(d.write_cache, (true, true));
        assert_eq!(d.look_ahead, (true, true));
        assert_eq!((d.logical_bytes, d.physical_bytes), (512, 4096));
        assert_eq!(d.rotation_rpm, Some(7200));
        assert_eq!(d.dipm, (true, true));
        assert!(d.trim && d.trim_read == (true, true) && d.security.frozen && !d.security.locked);
    }

    #[test]
    fn words_that_are_not_valid_are_not_believed() {
        let d = drive(&[(82, 0xffff), (85, 0xffff), (88, 0x203f), (217, 0x0200), (91, 0x80)]);
        assert_eq!(d.write_cache, (false, false), "word 83 does not say that 82 counts");
        assert_eq!(d.udma, (None, None), "word 53 does not say that 88 counts");
        assert_eq!((d.rotation_rpm, d.apm_level), (None, None));
        let all = drive(&(0..256).map(|at| (at, 0xffff)).collect::<Vec<_>>());
        assert!(!all.sata && !all.ncq && !all.trim);
    }

    #[test]
    fn a_4k_native_drive_and_a_wrong_checksum_are_seen() {
        let d = drive(&[(106, 0x5000), (117, 2048), (255, 0x01a5)]);
        assert_eq!((d.logical_bytes, d.physical_bytes), (4096, 4096));
        assert_eq!(d.checksum, Some(false));
        assert_eq!(drive(&[]).checksum, None);
    }
}
