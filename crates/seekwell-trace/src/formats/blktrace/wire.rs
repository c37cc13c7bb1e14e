//! One record as bytes.

pub(super) const NAME: &str = "blktrace";
/// Upper three bytes of what each record begins with; the lowest is the version.
pub(super) const MAGIC: u32 = 0x6561_7400;
/// Bytes of a record of version 7, without payload.
pub(super) const LEN_V7: usize = 48;
/// Bytes of a record of version 8, without payload.
pub(super) const LEN_V8: usize = 64;

/// What happened (`enum blktrace_act`).
pub(super) mod act {
    pub const QUEUE: u8 = 1;
    pub const BACK_MERGE: u8 = 2;
    pub const FRONT_MERGE: u8 = 3;
    pub const REQUEUE: u8 = 6;
    pub const ISSUE: u8 = 7;
    pub const COMPLETE: u8 = 8;
    pub const SPLIT: u8 = 13;
    /// Set where the payload begins with a cgroup's number.
    pub const HAS_CGROUP: u64 = 1 << 8;
}

/// Messages of the tracer itself (`enum blktrace_notify`).
pub(super) mod note {
    pub const PROCESS: u8 = 0;
    pub const TIMESTAMP: u8 = 1;
}

/// What it happened to (`enum blktrace_cat`), where an action has it.
pub(super) mod category {
    pub const READ: u64 = 1 << 16;
    pub const WRITE: u64 = 1 << 17;
    pub const FLUSH: u64 = 1 << 18;
    pub const SYNC: u64 = 1 << 19;
    pub const QUEUE: u64 = 1 << 20;
    pub const ISSUE: u64 = 1 << 22;
    pub const COMPLETE: u64 = 1 << 23;
    pub const FS: u64 = 1 << 24;
    pub const COMMAND: u64 = 1 << 25;
    pub const NOTIFY: u64 = 1 << 26;
    pub const AHEAD: u64 = 1 << 27;
    pub const META: u64 = 1 << 28;
    pub const DISCARD: u64 = 1 << 29;
    pub const FUA: u64 = 1 << 31;
    /// Zone operations, which only version 8 has room for.
    pub const ZONED: u64 = 0x3f << 32;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let b = [bytes[at], bytes[at + 1]];
        if self == Self::Little { u16::from_le_bytes(b) } else { u16::from_be_bytes(b) }
    }

    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let b: [u8; 4] = std::array::from_fn(|i| bytes[at + i]);
        if self == Self::Little { u32::from_le_bytes(b) } else { u32::from_be_bytes(b) }
    }

    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let b: [u8; 8] = std::array::from_fn(|i| bytes[at + i]);
        if self == Self::Little { u64::from_le_bytes(b) } else { u64::from_be_bytes(b) }
    }
}

/// The byte order and version that these four bytes begin a record of.
pub(super) fn magic(bytes: [u8; 4]) -> Option<(Order, u8)> {
    let of = |value: u32| (value & 0xffff_ff00 == MAGIC).then_some(value as u8);
    let little = of(u32::from_le_bytes(bytes)).map(|version| (Order::Little, version));
    little.or_else(|| of(u32::from_be_bytes(bytes)).map(|version| (Order::Big, version)))
}

/// A record's fields, of either version.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Raw {
    pub sequence: u32,
    pub time: u64,
    pub sector: u64,
    pub bytes: u32,
    pub action: u64,
    pub pid: u32,
    pub device: u32,
    pub cpu: u32,
    pub error: u16,
    pub pdu_len: u16,
}

impl Raw {
    /// From [`LEN_V7`] bytes.
    pub fn v7(order: Order, b: &[u8]) -> Self {
        Self {
            action: u64::from(order.u32(b, 28)),
            pid: order.u32(b, 32),
            device: order.u32(b, 36),
            cpu: order.u32(b, 40),
            error: order.u16(b, 44),
            pdu_len: order.u16(b, 46),
            ..Self::common(order, b)
        }
    }

    /// From [`LEN_V8`] bytes.
    pub fn v8(order: Order, b: &[u8]) -> Self {
        Self {
            pid: order.u32(b, 28),
            action: order.u64(b, 32),
            device: order.u32(b, 40),
            cpu: order.u32(b, 44),
            error: order.u16(b, 48),
            pdu_len: order.u16(b, 50),
            ..Self::common(order, b)
        }
    }

    fn common(order: Order, b: &[u8]) -> Self {
        Self {
            sequence: order.u32(b, 4),
            time: order.u64(b, 8),
            sector: order.u64(b, 16),
            bytes: order.u32(b, 24),
            ..Self::default()
        }
    }

    /// Appends it as version 7 in this machine's byte order.
    pub fn put_v7(&self, out: &mut Vec<u8>) {
        for word in [MAGIC | 7, self.sequence] {
            out.extend_from_slice(&word.to_ne_bytes());
        }
        for word in [self.time, self.sector] {
            out.extend_from_slice(&word.to_ne_bytes());
        }
        for word in [self.bytes, self.action as u32, self.pid, self.device, self.cpu] {
            out.extend_from_slice(&word.to_ne_bytes());
        }
        for half in [self.error, self.pdu_len] {
            out.extend_from_slice(&half.to_ne_bytes());
        }
    }

    /// What happened.
    pub const fn act(&self) -> u8 {
        self.action as u8
    }

    /// Whether it happened to such a request.
    pub const fn is(&self, category: u64) -> bool {
        self.action & category != 0
    }
}
