//! One number for a file of a clone and a place in it: what a request carries as its offset.

/// How many of the upper bits name the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    shift: u32,
}

impl Address {
    /// For `files` files, at least one.
    pub const fn new(files: usize) -> Self {
        let bits = usize::BITS - files.saturating_sub(1).leading_zeros();
        Self { shift: u64::BITS - if bits == 0 { 1 } else { bits } }
    }

    /// The first offset that no file may reach.
    pub const fn limit(self) -> u64 {
        1 << self.shift
    }

    /// The lowest bit that names the file.
    pub const fn shift(self) -> u32 {
        self.shift
    }

    /// The number of a place in a file.
    #[inline]
    pub const fn join(self, file: u32, offset: u64) -> u64 {
        (file as u64) << self.shift | offset
    }

    /// The file and the offset in it.
    #[inline]
    pub const fn split(self, address: u64) -> (u32, u64) {
        ((address >> self.shift) as u32, address & ((1 << self.shift) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_place_is_read_back_as_it_was_written(
            files in 1usize..100_000, pick in 0.0..1.0, share in 0.0..1.0,
        ) {
            let address = Address::new(files);
            let file = (files as f64 * pick) as u32;
            let offset = (address.limit() as f64 * share) as u64 & (address.limit() - 1);
            prop_assert_eq!(address.split(address.join(file, offset)), (file, offset));
        }
    }

    #[test]
    fn a_clone_of_one_file_reaches_half_of_all_offsets_and_of_a_thousand_16_pib() {
        assert_eq!(Address::new(1).limit(), 1 << 63);
        assert_eq!(Address::new(1000).limit(), 1 << 54);
    }
}
