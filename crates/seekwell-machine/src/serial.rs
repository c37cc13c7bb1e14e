//! Two things every layer needs: something that does one thing at a time, and a table by tag.

use seekwell_io::units::Nanos;

/// Something that does one thing at a time: a wire, a bus, a processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial {
    free: Nanos,
    busy: Nanos,
}

impl Serial {
    /// How long it was, and is booked to be, at work.
    pub const fn busy(&self) -> Nanos {
        self.busy
    }

    /// Does something of length `span` once everything booked is done, and not before `from`.
    /// Returns the beginning.
    pub fn book(&mut self, from: Nanos, span: Nanos) -> Nanos {
        let start = from.max(self.free);
        self.free = start + span;
        self.busy += span;
        start
    }

    /// Does something short at `from` without waiting, between the pieces of what is booked;
    /// whatever is booked from now on comes later by as much. Returns the end of the short thing.
    pub fn slip_in(&mut self, from: Nanos, span: Nanos) -> Nanos {
        self.free = self.free.max(from) + span;
        self.busy += span;
        from + span
    }
}

/// What is remembered of each command, by its tag.
#[derive(Debug, Clone, Default)]
pub struct ByTag<T>(Vec<T>);

impl<T: Copy + Default> ByTag<T> {
    /// Remembers.
    pub fn set(&mut self, tag: u32, value: T) {
        let index = tag as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, T::default());
        }
        self.0[index] = value;
    }

    /// What was last remembered for a tag that was set.
    pub fn get(&self, tag: u32) -> T {
        self.0[tag as usize]
    }
}
