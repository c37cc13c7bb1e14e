//! Records as accumulators see them: a field that an accumulator does not name beforehand may not
//! have been read, and reading it does not compile.

use crate::record::{Fields, Flags, Record, Stamp};
use seekwell_io::request::Op;
use std::marker::PhantomData;

/// Something that reads records.
pub(super) trait Reads {
    /// What it reads of them beside [`ALWAYS`].
    const FIELDS: Fields;
}

/// What all read: which requests count, and where.
pub(super) const ALWAYS: Fields = Fields::OP.and(Fields::FLAGS).and(Fields::DEVICE);

/// A record as `R` sees it.
pub(super) struct Seen<'a, R> {
    record: &'a Record,
    by: PhantomData<R>,
}

macro_rules! readable {
    ($($field:ident, $name:ident: $type:ty = $read:expr;)*) => {
        $(
            #[inline]
            pub fn $name(&self) -> $type {
                const { assert!(R::FIELDS.has(Fields::$field), "a field that was not named") };
                let read: fn(&Record) -> $type = $read;
                read(self.record)
            }
        )*
    };
}

impl<'a, R: Reads> Seen<'a, R> {
    #[inline]
    pub const fn of(record: &'a Record) -> Self {
        Self { record, by: PhantomData }
    }

    #[inline]
    pub const fn op(&self) -> Op {
        self.record.op
    }

    #[inline]
    pub const fn flags(&self) -> Flags {
        self.record.flags
    }

    #[inline]
    pub const fn device(&self) -> usize {
        self.record.device as usize
    }

    /// Whether the device got it in this form.
    #[inline]
    pub const fn reached_device(&self) -> bool {
        self.record.reached_device()
    }

    /// First byte after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset().saturating_add(u64::from(self.len()))
    }

    readable! {
        QUEUED, queued: Stamp = |r| r.queued;
        ISSUED, issued: Stamp = |r| r.issued;
        COMPLETED, completed: Stamp = |r| r.completed;
        ARRIVAL, arrival: Stamp = Record::arrival;
        OFFSET, offset: u64 = |r| r.offset;
        LENGTH, len: u32 = |r| r.len;
        PROCESS, process: u32 = |r| r.process;
        ERROR, error: u16 = |r| r.error;
    }
}
