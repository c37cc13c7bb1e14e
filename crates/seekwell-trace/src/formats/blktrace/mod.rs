//! `blktrace`'s binary records, version 7 and 8, read; version 7 written.
//!
//! Layout (include/uapi/linux/blktrace_api.h), in the byte order of the machine that recorded,
//! each followed by `pdu_len` bytes of payload:
//!
//! ```text
//!        v7 (48 bytes)                 v8 (64 bytes, Linux 6.19)
//!  0 u32 0x65617400 + version          the same
//!  4 u32 sequence                      the same
//!  8 u64 time, ns                      the same
//! 16 u64 sector of 512 bytes           the same
//! 24 u32 bytes                         the same
//! 28 u32 action                        u32 pid
//! 32 u32 pid                           u64 action
//! 36 u32 device, major << 20 | minor      …
//! 40 u32 cpu                           u32 device
//! 44 u16 error, u16 pdu_len            u32 cpu
//! 48                                   u16 error, u16 pdu_len, 12 bytes of nothing
//! ```
//!
//! An action is what happened (low 8 bits), whether the payload begins with the number of a cgroup
//! (bit 8), and what kind of request it happened to (from bit 16 on).

mod read;
#[cfg(test)]
mod tests;
mod wire;
mod write;

use super::format::{Certainty, Create, Format, Holds, Reader, Sample, Writer};

/// The format.
pub const FORMAT: Format = Format {
    name: wire::NAME,
    description: "blktrace binary, version 7 or 8, merged or one file per CPU",
    holds: Holds::EVERYTHING,
    reader: Reader::Stream(read::open),
    writer: Some(Writer { create: Create::Stream(write::create), leaves_out: &[] }),
    ending: None,
    looks_like,
    locate: Some(read::first_of),
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    Certainty::Header.when(sample.bytes.first_chunk().copied().and_then(wire::magic).is_some())
}
