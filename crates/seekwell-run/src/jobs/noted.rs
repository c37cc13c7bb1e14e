//! What a clone notes of its requests for the logs that its job asks for.

use seekwell_io::clock::Clock;
use seekwell_io::units::Nanos;
use seekwell_job::job::Job;
use seekwell_job::layout::{Layout, Member};
use seekwell_job::play::address::Address;
use seekwell_job::play::log::{MOST, Recorded, Recorder};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a clone noted for its logs, and when its measuring began on the Unix clock.
pub struct Noted {
    /// What was noted.
    pub recorded: Recorded,
    /// Milliseconds since 1970.
    pub epoch_ms: u64,
}

/// What notes the requests of one clone, where its job asks for logs.
pub fn recorder(jobs: &[Job], layout: &Layout, member: &Member) -> Option<Recorder> {
    let logging = |m: &&Member| jobs[m.job].logs.any();
    let clones = layout.members.iter().filter(logging).count().max(1);
    let address = Address::new(member.uses.len());
    Recorder::new(&jobs[member.job].logs, address, MOST / clones)
}

/// When measuring began on the Unix clock, from when it began on the engine's.
pub fn epoch_ms(started: Nanos) -> u64 {
    let ago = Clock::real().now().since(started);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_millis() as u64).saturating_sub(ago.0 / 1_000_000)
}
