//! The target that does nothing, to measure what the loop itself costs.

use super::{Target, TargetError, Until};
use crate::clock::Clock;
use crate::request::{Completion, Tagged};
use crate::units::Nanos;

/// Completes every request as soon as it is asked, on the real clock.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    done: Vec<(u32, u32)>,
}

impl Null {
    /// A null target.
    pub fn new() -> Self {
        Self { clock: Clock::real(), done: Vec::new() }
    }
}

impl Default for Null {
    fn default() -> Self {
        Self::new()
    }
}

impl Target for Null {
    #[inline]
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        self.done.extend(batch.iter().map(|t| (t.slot, t.request.len)));
        Ok(())
    }

    #[inline]
    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.done.is_empty() && until.completions > 0 {
            let wait = until.deadline.since(self.now());
            std::thread::sleep(wait.into());
        }
        let at = self.clock.now();
        out.extend(self.done.drain(..).map(|(slot, len)| Completion { slot, result: Ok(len), at }));
        Ok(())
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }
}
