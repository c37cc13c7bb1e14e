//! Neither cache ever serves what was written over.
//!
//! Both are given drives that note what they are asked, and pages are read and written at random
//! with looks, evictions and copies in between. A page that is served from the SSD must have got
//! there after the last write of it was given, and by a copy whose source was read after that write
//! too (or by the write itself).

use super::*;
use crate::fake::{FakeDrive, command};
use crate::part::{Command, Done, Part};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::sync::{Arc, Mutex};

/// Which of the two, and what it was asked.
type Log = Arc<Mutex<Vec<(bool, Command)>>>;

/// A drive that notes what it is asked, in one order with another.
#[derive(Debug)]
struct Noted {
    drive: FakeDrive,
    capacity: u64,
    is_fast: bool,
    log: Log,
}

impl Noted {
    fn new(is_fast: bool, capacity: u64, service_ns: u64, log: &Log) -> Self {
        // So many at once that nothing waits: what is asked for is noted at once.
        let drive = FakeDrive::new(4096, service_ns);
        Self { drive, capacity, is_fast, log: Arc::clone(log) }
    }
}

impl Part for Noted {
    fn capacity(&self) -> u64 {
        self.capacity
    }
    fn depth(&self) -> u32 {
        self.drive.depth
    }
    fn submit(&mut self, command: Command, now: Nanos) {
        self.log.lock().expect("one thread").push((self.is_fast, command));
        self.drive.submit(command, now);
    }
    fn next(&self) -> Nanos {
        self.drive.next()
    }
    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        self.drive.advance(now, done);
    }
}

const PAGE: u64 = 4096;
const PAGES: u64 = 96;

/// One step: a read or a write of a page, after a pause.
#[derive(Debug, Clone, Copy)]
struct Step {
    op: Op,
    page: u64,
    pause: Nanos,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let op = prop_oneof![3 => Just(Op::Read), 1 => Just(Op::Write), 1 => Just(Op::Discard)];
    // From within the time of a request to beyond the next look of the kernel's thread.
    let pause =
        prop_oneof![4 => 0_u64..3_000_000, 2 => 3_000_000_u64..20_000_000, 1 => Just(110_000_000)];
    let page = prop_oneof![2 => 0_u64..8, 1 => 0..PAGES];
    let step =
        (op, page, pause).prop_map(|(op, page, pause)| Step { op, page, pause: Nanos(pause) });
    prop::collection::vec(step, 1..400)
}

fn covers(command: &Command, offset: u64) -> bool {
    (command.offset..command.offset + u64::from(command.len)).contains(&offset)
}

/// Where a page on the SSD may be from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sources {
    /// Memory, which a read or a write of the page filled.
    Memory,
    /// A read of the slow part.
    Slow,
    /// That, or a write that went to both.
    SlowOrThrough,
}

impl Sources {
    /// Whether a command had the page's data, as of when it was given.
    fn holds(self, is_fast: bool, command: &Command, offset: u64) -> bool {
        let through = is_fast && command.op == Op::Write && command.len == PAGE as u32;
        let slow = !is_fast && covers(command, offset);
        match self {
            Self::Memory => slow,
            Self::Slow => slow && command.op == Op::Read,
            Self::SlowOrThrough => through || (slow && command.op == Op::Read),
        }
    }
}

/// Does the steps; returns how often the SSD answered.
fn never_stale<P: Part>(
    cache: &mut P,
    log: &Log,
    steps: &[Step],
    sources: Sources,
) -> Result<u32, TestCaseError> {
    let len = || log.lock().expect("one thread").len();
    let mut written = vec![0; PAGES as usize];
    let (mut now, mut done, mut served) = (Nanos::ZERO, Vec::new(), 0);
    for (tag, step) in steps.iter().enumerate() {
        let until = now + step.pause;
        while cache.next() <= until {
            now = cache.next();
            cache.advance(now, &mut done);
        }
        now = until;
        cache.advance(now, &mut done);
        let before = len();
        let offset = step.page * PAGE;
        cache.submit(command(tag as u32, step.op, offset, PAGE as u32), now);
        if step.op != Op::Read {
            written[step.page as usize] = before;
            continue;
        }
        let log = log.lock().expect("one thread");
        let own = log[before..].iter().find(|(fast, c)| *fast && c.op == Op::Read);
        let Some((_, asked)) = own else { continue };
        served += 1;
        let since = written[step.page as usize];
        let copied = log[..before]
            .iter()
            .rposition(|(fast, c)| *fast && c.op == Op::Write && covers(c, asked.offset));
        prop_assert!(
            copied.is_some_and(|at| at >= since),
            "step {tag}: page {} was written at {since} and copied at {copied:?}",
            step.page
        );
        let mut since_then = log[since..].iter().take(copied.unwrap_or(since) + 1 - since);
        let source = since_then.any(|(fast, c)| sources.holds(*fast, c, offset));
        prop_assert!(source, "step {tag}: page {} was copied from before {since}", step.page);
    }
    Ok(served)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_swapcache_never_serves_what_was_written_over(steps in steps(), slots in 16_u64..64) {
        let log = Log::default();
        let params = SwapcacheParams {
            rate_bytes_per_s: 100_000_000,
            burst_bytes: 100_000_000,
            max_burst_bytes: 10_000_000,
            min_burst_bytes: 4096,
            hysteresis_pages: 1,
            ..SwapcacheParams::defaults(16 * PAGE)
        };
        let fast = Noted::new(true, slots * PAGE, 2_000_000, &log);
        let slow = Noted::new(false, PAGES * PAGE, 5_000_000, &log);
        let mut cache = Swapcache::new(params, fast, slow).expect("legal");
        never_stale(&mut cache, &log, &steps, Sources::Memory)?;
    }

    #[test]
    fn a_read_cache_never_serves_what_was_written_over(
        steps in steps(),
        slots in 2_u64..24,
        block_pages in 1_u32..5,
        promote_at_miss in 1_u32..3,
        through: bool,
        fifo: bool,
    ) {
        let log = Log::default();
        let params = ReadCacheParams {
            block_bytes: block_pages * PAGE as u32,
            eviction: if fifo { Eviction::Fifo } else { Eviction::Lru },
            promote_at_miss,
            writes: if through { Writes::Through } else { Writes::Around },
        };
        let bytes = slots * u64::from(params.block_bytes);
        let fast = Noted::new(true, bytes, 2_000_000, &log);
        let slow = Noted::new(false, PAGES * PAGE, 5_000_000, &log);
        let mut cache = ReadCache::new(params, fast, slow).expect("legal");
        let sources = if through { Sources::SlowOrThrough } else { Sources::Slow };
        never_stale(&mut cache, &log, &steps, sources)?;
    }
}

#[test]
fn the_ssd_answers_when_nothing_was_written_over() {
    let step = |page: u64| Step { op: Op::Read, page, pause: Nanos(150_000_000) };
    let steps: Vec<Step> = (0..200).map(|n| step(n % 32)).collect();
    let log = Log::default();
    let params = ReadCacheParams {
        block_bytes: PAGE as u32,
        eviction: Eviction::Lru,
        promote_at_miss: 1,
        writes: Writes::Around,
    };
    let fast = Noted::new(true, 64 * PAGE, 2_000_000, &log);
    let slow = Noted::new(false, PAGES * PAGE, 5_000_000, &log);
    let mut cache = ReadCache::new(params, fast, slow).expect("legal");
    let served = never_stale(&mut cache, &log, &steps, Sources::Slow);
    assert_eq!(served.expect("nothing is stale"), 200 - 32);
    let log = Log::default();
    let params = SwapcacheParams { hysteresis_pages: 1, ..SwapcacheParams::defaults(16 * PAGE) };
    let fast = Noted::new(true, 64 * PAGE, 2_000_000, &log);
    let slow = Noted::new(false, PAGES * PAGE, 5_000_000, &log);
    let mut cache = Swapcache::new(params, fast, slow).expect("legal");
    let served = never_stale(&mut cache, &log, &steps, Sources::Memory);
    assert!(served.expect("nothing is stale") > 100);
}
