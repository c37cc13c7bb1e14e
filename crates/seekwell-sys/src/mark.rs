//! The mark that every sector bears which seekwell wrote to a raw device.
//!
//! A device is overwritten only if nobody needs what is on it. Data of our own is known by this
//! mark, so that a device can be measured again, also after a run that was killed.

/// The unit that is marked: no device writes less at once.
pub const SECTOR: usize = 512;

/// What a sector of ours begins with.
const MARK: [u8; 8] = *b"seekwell";

/// Marks every sector of a buffer that begins at a sector's start.
pub fn put(buffer: &mut [u8]) {
    for sector in buffer.chunks_mut(SECTOR) {
        if let Some(head) = sector.first_chunk_mut() {
            *head = MARK;
        }
    }
}

/// Whether a sector is one that seekwell wrote.
pub fn is_on(sector: &[u8]) -> bool {
    sector.starts_with(&MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sector_is_marked_and_a_rest_too_short_for_it_is_left() {
        let mut buffer = vec![1; 2 * SECTOR + 7];
        put(&mut buffer);
        let sectors: Vec<_> = buffer.chunks(SECTOR).map(is_on).collect();
        assert_eq!(sectors, [true, true, false]);
        assert!(buffer[8..SECTOR].iter().chain(&buffer[2 * SECTOR..]).all(|b| *b == 1));
    }
}
