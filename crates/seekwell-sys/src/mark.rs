//! The mark that every sector bears which seekwell wrote to a raw device.
//!
//! A device is overwritten only if its data is not needed. Data of our own is known by this
//! mark, so that a device can be measured again, also after a run that was killed. It holds for the
//! whole sector, because eight bytes at its start may stand before anything:
//!
//! ```text
//! byte 0       8          16         24                    512
//!      | mark  | stamp    | balance  | anything             |
//! ```
//!
//! As little-endian words of 64 bits, the sector adds up to zero.

/// The unit that is marked: no device writes less at once.
pub const SECTOR: usize = 512;

/// What a sector of ours begins with.
const MARK: [u8; 8] = *b"seekwell";
/// As far as mark, stamp and balance reach.
const HEAD: usize = 24;

/// Marks every sector of a buffer that begins at a sector's start.
pub fn put(buffer: &mut [u8]) {
    for sector in buffer.chunks_exact_mut(SECTOR) {
        sector[..8].copy_from_slice(&MARK);
        sector[16..HEAD].fill(0);
        let balance = sum(sector).wrapping_neg();
        sector[16..HEAD].copy_from_slice(&balance.to_le_bytes());
    }
}

/// Gives a marked sector another stamp. Data too short for a mark gets as much of it as fits.
#[inline]
pub fn stamp(data: &mut [u8], stamp: u64) {
    if let Some(head) = data.first_chunk_mut::<HEAD>() {
        let total = word(&head[8..16]).wrapping_add(word(&head[16..]));
        head[8..16].copy_from_slice(&stamp.to_le_bytes());
        head[16..].copy_from_slice(&total.wrapping_sub(stamp).to_le_bytes());
    } else if let Some(place) = data.get_mut(8..16) {
        place.copy_from_slice(&stamp.to_le_bytes());
    }
}

/// Whether a sector is one that seekwell wrote, in this version or an earlier one.
pub fn is_on(sector: &[u8]) -> bool {
    sector.len() == SECTOR && sector.starts_with(&MARK) && (sum(sector) == 0 || is_older(sector))
}

/// Versions before the balance wrote random bytes behind mark and stamp, or what their buffer had
/// read: nothing, where the device was blank. Random bytes have about 219 of the 256 values, with a
/// standard deviation of 5; text, tables and programs have far fewer.
fn is_older(sector: &[u8]) -> bool {
    let mut seen = [false; 256];
    sector[16..].iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let values = seen.iter().filter(|seen| **seen).count();
    values >= 190 || sector[16..].iter().all(|byte| *byte == 0)
}

fn sum(sector: &[u8]) -> u64 {
    sector.chunks_exact(8).map(word).fold(0, u64::wrapping_add)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as random as those of a hash.
    fn random(len: usize) -> Vec<u8> {
        (0..len as u64).map(|i| crate::sip::hash([7; 16], &i.to_le_bytes()) as u8).collect()
    }

    #[test]
    fn every_sector_is_marked_and_a_rest_too_short_for_it_is_left() {
        let mut buffer = vec![1; 2 * SECTOR + 7];
        put(&mut buffer);
        let sectors: Vec<_> = buffer.chunks(SECTOR).map(is_on).collect();
        assert_eq!(sectors, [true, true, false]);
        assert!(buffer[HEAD..SECTOR].iter().chain(&buffer[2 * SECTOR..]).all(|b| *b == 1));
    }

    #[test]
    fn a_sector_with_another_stamp_or_marked_again_is_still_marked() {
        let mut sector = random(SECTOR);
        put(&mut sector);
        let before = sector.clone();
        put(&mut sector);
        assert_eq!(sector, before);
        for value in [0, 1, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
            stamp(&mut sector, value);
            assert!(is_on(&sector), "{value:x}");
            assert_eq!(word(&sector[8..16]), value);
        }
        let mut short = [0; 20];
        stamp(&mut short, 0x0101_0101_0101_0101);
        assert_eq!(short[4..], [[0; 4], [1; 4], [1; 4], [0; 4]].concat());
    }

    #[test]
    fn a_mark_before_data_of_somebody_else_is_not_ours() {
        // Eight bytes were taken for the whole sector: a file that began with the program's name
        // was overwritten without a question.
        let text: Vec<u8> = b"seekwell is a program for disks. ".repeat(16)[..SECTOR].to_vec();
        assert!(!is_on(&text));
        let mut table = vec![0; SECTOR];
        table[..8].copy_from_slice(&MARK);
        table[100] = 1;
        assert!(!is_on(&table));
        // One bit of what this version wrote is enough, if it does not look random.
        let mut ours = text;
        put(&mut ours);
        assert!(is_on(&ours));
        ours[300] ^= 1;
        assert!(!is_on(&ours));
    }

    #[test]
    fn what_earlier_versions_wrote_is_known_as_far_as_it_can_be() {
        let mut older = random(SECTOR);
        older[..8].copy_from_slice(&MARK);
        assert!(is_on(&older), "random bytes behind the mark");
        older[16..].fill(0);
        assert!(is_on(&older), "what a read of a blank device had left in the buffer");
    }
}
