//! Memory that the kernel accepts for direct requests.

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
    fn a_buffer_is_aligned_and_has_its_length() {
        for len in [1, 512, 4096, 1 << 20] {
            let mut buffer = Aligned::new(len);
            assert_eq!(buffer.get().as_ptr().addr() % ALIGN, 0);
            assert_eq!(buffer.get_mut().len(), len);
        }
    }
}
