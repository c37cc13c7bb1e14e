//! Which commands continue where an earlier one ended.

/// As many streams as firmware of the time follows.
pub const STREAMS: usize = 8;

/// The ends of the streams last seen.
#[derive(Debug, Clone)]
pub struct Streams {
    ends: [u64; STREAMS],
    oldest: usize,
}

impl Streams {
    /// None seen.
    pub const fn new() -> Self {
        Self { ends: [u64::MAX; STREAMS], oldest: 0 }
    }

    /// Whether a command begins where a stream ends; in any case a stream ends at its end now.
    pub fn continues(&mut self, offset: u64, len: u32) -> bool {
        let end = offset + u64::from(len);
        if let Some(known) = self.ends.iter_mut().find(|known| **known == offset) {
            *known = end;
            return true;
        }
        self.ends[self.oldest] = end;
        self.oldest = (self.oldest + 1) % STREAMS;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_interleaved_streams_are_both_followed() {
        let mut streams = Streams::new();
        assert!(!streams.continues(0, 4096) && !streams.continues(1 << 30, 8192));
        for step in 1..100_u64 {
            assert!(streams.continues(step * 4096, 4096));
            assert!(streams.continues((1 << 30) + step * 8192, 8192));
        }
        assert!(!streams.continues(77 << 20, 4096));
    }
}
