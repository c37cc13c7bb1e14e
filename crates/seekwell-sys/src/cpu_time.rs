//! What all processors did since boot, and how much of it other programs did.

use crate::View;
use std::path::Path;

/// Time of all CPUs together, in clock ticks since boot (proc(5), the first line of `/proc/stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    all: u64,
    idle: u64,
    /// In programs, the kernel's work for them left out.
    user: u64,
    own: u64,
}

impl CpuTime {
    /// As of now.
    pub fn read(view: &dyn View) -> Option<Self> {
        let own = view.text(Path::new("/proc/self/stat")).ok();
        Self::parse(
            &view.text(Path::new("/proc/stat")).ok()?,
            own.as_deref().and_then(own_user).unwrap_or(0),
        )
    }

    fn parse(text: &str, own: u64) -> Option<Self> {
        let fields = text.strip_prefix("cpu ")?.lines().next()?.split_ascii_whitespace();
        // Guest time, the ninth and tenth, is counted in user time already.
        let ticks: Vec<u64> = fields.take(8).map_while(|f| f.parse().ok()).collect();
        // Idle, and idle while something waits for a disk.
        (ticks.len() >= 5).then(|| Self {
            all: ticks.iter().sum(),
            idle: ticks[3] + ticks[4],
            user: ticks[0] + ticks[1],
            own,
        })
    }

    fn all_since(self, before: Self) -> f64 {
        self.all.saturating_sub(before.all).max(1) as f64
    }

    /// The share of all processors that was busy, 0 to 1.
    pub fn busy_since(self, before: Self) -> f64 {
        1.0 - (self.idle.saturating_sub(before.idle) as f64 / self.all_since(before)).min(1.0)
    }

    /// The share of all processors that other programs had, 0 to 1. The kernel's own work is left
    /// out: it may have been for this program.
    pub fn others_since(self, before: Self) -> f64 {
        let user = self.user.saturating_sub(before.user);
        let own = self.own.saturating_sub(before.own);
        (user.saturating_sub(own) as f64 / self.all_since(before)).min(1.0)
    }
}

/// The user time of a process, the fourteenth field of its `stat`; the name before may hold
/// anything.
fn own_user(stat: &str) -> Option<u64> {
    stat.rsplit_once(") ")?.1.split(' ').nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Live;

    #[test]
    fn idle_and_waiting_for_a_disk_are_not_busy_and_guests_are_not_counted_twice() {
        let before = CpuTime::parse("cpu  10 0 10 100 20 0 0 0 5 0\ncpu0 1 2\n", 4).unwrap();
        let after = CpuTime::parse("cpu  30 0 20 150 40 0 0 0 25 0\n", 14).unwrap();
        assert!((after.busy_since(before) - 0.3).abs() < 1e-9);
        assert!((after.others_since(before) - 0.1).abs() < 1e-9);
        assert_eq!(CpuTime::parse("cpu  1 2 3\n", 0), None);
        assert!(CpuTime::read(&Live::system()).is_some());
    }

    #[test]
    fn the_user_time_is_found_behind_any_name() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 100 0 0 0 42 7 0 0 20 0 1";
        assert_eq!(own_user(stat), Some(42));
        assert_eq!(own_user("7 (x"), None);
    }
}
