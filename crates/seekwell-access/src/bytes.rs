//! Byte counts for people, and memory the kernel accepts for direct requests.

use std::fmt;

/// Prints a byte count in binary units with one digit, exact counts below 1 KiB.
pub(crate) struct Human(pub u64);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} bytes", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

/// The alignment in memory that every Linux block driver accepts.
pub(crate) const ALIGN: usize = 4096;

/// A buffer whose first byte is at a multiple of [`ALIGN`]. It over-allocates and starts where the
/// alignment falls, which needs no unsafe code; the vector is never grown, so it never moves.
#[derive(Debug)]
pub(crate) struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// A zeroed buffer of `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGN];
        let start = bytes.as_ptr().align_offset(ALIGN);
        assert!(start < ALIGN, "an allocation of bytes can always be aligned");
        Self { bytes, start, len }
    }

    pub(crate) fn get(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }

    pub(crate) fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_read_like_words() {
        assert_eq!(Human(512).to_string(), "512 bytes");
        assert_eq!(Human(1536).to_string(), "1.5 KiB");
        assert_eq!(Human(10 << 30).to_string(), "10.0 GiB");
        assert_eq!(Human(u64::MAX).to_string(), "16.0 EiB");
    }

    #[test]
    fn a_buffer_is_aligned_and_has_its_length() {
        for len in [1, 512, 4096, 1 << 20] {
            let mut buffer = Aligned::new(len);
            assert_eq!(buffer.get().as_ptr().addr() % ALIGN, 0);
            assert_eq!(buffer.get_mut().len(), len);
        }
    }
}
