//! What written blocks hold, and how it is checked.

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The block's offset in the file: eight bytes, little-endian (`%o`).
    Offset,
}

/// Bytes that fill a block over and over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Its parts in order; never empty.
    pub parts: Vec<PatternPart>,
}

impl Pattern {
    /// How many bytes it has before it repeats.
    pub fn len(&self) -> usize {
        let len = |part: &PatternPart| match part {
            PatternPart::Bytes(bytes) => bytes.len(),
            PatternPart::Offset => 8,
        };
        self.parts.iter().map(len).sum()
    }

    /// Whether it has no bytes; never so in a parsed job.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether blocks at different offsets differ.
    pub fn has_offset(&self) -> bool {
        self.parts.contains(&PatternPart::Offset)
    }

    /// Fills `block`, which is written at `offset`.
    pub fn fill(&self, block: &mut [u8], offset: u64) {
        let mut rest = block;
        while !rest.is_empty() && !self.is_empty() {
            for part in &self.parts {
                let place = offset.to_le_bytes();
                let bytes: &[u8] = match part {
                    PatternPart::Bytes(bytes) => bytes,
                    PatternPart::Offset => &place,
                };
                let n = bytes.len().min(rest.len());
                let (now, later) = rest.split_at_mut(n);
                now.copy_from_slice(&bytes[..n]);
                rest = later;
            }
        }
    }
}

/// What written blocks are filled with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Random bytes.
    Random,
    /// Zeroes.
    Zero,
    /// A pattern.
    Pattern(Pattern),
}

/// What a write that repeats another's data repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// The last data that were new.
    Last,
    /// Any of the first data that were new.
    Set {
        /// How many.
        writes: u64,
        /// They are those of all jobs that say so, in equal parts (`dedupe_global`).
        shared: bool,
    },
}

/// Data that are written again (`dedupe_percentage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dedupe {
    /// Share of the writes, of 100, that hold what another write held.
    pub percent: u8,
    /// Which.
    pub repeats: Repeats,
}

impl Dedupe {
    /// Whether jobs share what they repeat.
    pub const fn is_shared(self) -> bool {
        matches!(self.repeats, Repeats::Set { shared: true, .. })
    }
}

/// What written blocks hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffers {
    /// With what they are filled.
    pub contents: Contents,
    /// Refilled for each request, else once.
    pub refill: bool,
    /// A few bytes change for each request.
    pub scramble: bool,
    /// Share of each chunk, of 100, that is zeroes or the pattern, so that it can be compressed;
    /// none leaves `contents` as they are.
    pub compress_percent: Option<u8>,
    /// Length of a chunk in bytes.
    pub compress_chunk_bytes: u32,
    /// Writes that repeat data; none for none.
    pub dedupe: Option<Dedupe>,
}

/// How a block is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// CRC-32C.
    Crc32c,
    /// CRC-32 of IEEE 802.3.
    Crc32,
    /// CRC-64.
    Crc64,
    /// CRC-16.
    Crc16,
    /// CRC-7.
    Crc7,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// xxHash, 32 bits.
    Xxhash,
    /// Only the header with offset, number and time.
    Meta,
    /// Only the pattern, without a header.
    Pattern,
    /// A header, and nothing is compared.
    Null,
}

/// Checking what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// What each header holds.
    pub checksum: Checksum,
    /// What blocks are filled with; none for random bytes.
    pub pattern: Option<Pattern>,
    /// The pattern starts over at intervals of this many bytes, with the offset of each; none for
    /// once a request.
    pub pattern_interval_bytes: Option<u32>,
    /// Blocks are read back after the writes (`do_verify`).
    pub read_back: bool,
    /// Nothing is written: what an earlier run wrote is checked (`verify_only`).
    pub only: bool,
    /// A header for each this many bytes; none for one a block.
    pub interval_bytes: Option<u32>,
    /// Where in the interval the header is, in bytes.
    pub offset_bytes: u32,
    /// A block that carries the number of another write than its last is wrong; off where several
    /// jobs write the same blocks (`verify_write_sequence`).
    pub sequence: bool,
    /// A header that holds another seed than its block was made from is wrong
    /// (`verify_header_seed`).
    pub header_seed: bool,
    /// The first difference ends the job.
    pub fatal: bool,
    /// What was expected and what was found are written to files.
    pub dump: bool,
    /// Threads that check; 0 for the job itself.
    pub threads: u32,
    /// Blocks are read back after this many writes in place of at the end; none for the end.
    pub backlog: Option<u64>,
    /// Read back together; none for as many as `backlog`.
    pub backlog_batch: Option<u64>,
    /// Discards in between are asked for (`trim_percentage`).
    pub trim: bool,
}

impl Verify {
    /// Fills `buffer`, which is written at `offset`, with a pattern of this job.
    pub fn fill(&self, pattern: &Pattern, buffer: &mut [u8], offset: u64) {
        let step = self.pattern_interval_bytes.map_or(buffer.len(), |bytes| bytes as usize).max(1);
        for (number, part) in (0..).zip(buffer.chunks_mut(step)) {
            pattern.fill(part, offset + number * step as u64);
        }
    }
}
