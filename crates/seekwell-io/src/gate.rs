//! Where threads that are to begin together wait for each other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads come here once they are set up; then all of them begin, or none.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    is_open: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Tickets that are still out.
    expected: usize,
    /// A thread could not be set up.
    is_broken: bool,
    /// No more tickets: somebody has passed.
    is_closed: bool,
}

/// A thread's promise to come to its gate. Dropped instead, by an error or a panic, it calls the
/// others off.
#[derive(Debug)]
pub struct Ticket<'g> {
    gate: &'g Gate,
    is_ready: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ticket for one thread. All are given out before the first is used.
    pub fn ticket(&self) -> Ticket<'_> {
        let mut state = self.state();
        assert!(!state.is_closed, "a gate that somebody has passed takes nobody else");
        state.expected += 1;
        Ticket { gate: self, is_ready: false }
    }
}

impl Ticket<'_> {
    /// Waits until every ticket is used or dropped: true where all were used, and all may begin.
    pub fn pass(mut self) -> bool {
        self.is_ready = true;
        let gate = self.gate;
        drop(self);
        let mut state = gate.state();
        while state.expected > 0 {
            state = gate.is_open.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_broken
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        debug_assert!(state.expected > 0, "each ticket is counted once");
        state.expected = state.expected.saturating_sub(1);
        state.is_broken |= !self.is_ready;
        state.is_closed |= state.expected == 0;
        self.gate.is_open.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_begin_or_none_does() {
        for fails in [None, Some(0), Some(2)] {
            let gate = Gate::default();
            let tickets: Vec<_> = (0..3).map(|_| gate.ticket()).collect();
            let begun = std::thread::scope(|scope| {
                let one = |(n, ticket): (usize, Ticket<'_>)| fails != Some(n) && ticket.pass();
                let threads: Vec<_> =
                    tickets.into_iter().enumerate().map(|t| scope.spawn(move || one(t))).collect();
                threads.into_iter().filter_map(|t| t.join().ok()).filter(|begun| *begun).count()
            });
            assert_eq!(begun, if fails.is_none() { 3 } else { 0 });
        }
    }
}
