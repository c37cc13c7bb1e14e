use super::*;
use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
use crate::part::Part;
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Much faster than the slow one and of a size of its own.
#[derive(Debug)]
struct Sized(FakeDrive, u64);

impl Part for Sized {
    fn capacity(&self) -> u64 {
        self.1
    }
    fn depth(&self) -> u32 {
        self.0.depth
    }
    fn submit(&mut self, command: crate::Command, now: Nanos) {
        assert!(command.offset + u64::from(command.len) <= self.1, "beyond the end");
        self.0.submit(command, now);
    }
    fn next(&self) -> Nanos {
        self.0.next()
    }
    fn advance(&mut self, now: Nanos, done: &mut Vec<crate::Done>) {
        self.0.advance(now, done);
    }
}

fn fast(capacity: u64) -> Sized {
    Sized(FakeDrive::new(8, 50_000), capacity)
}

fn slow(capacity: u64) -> Sized {
    Sized(FakeDrive::new(32, 5_000_000), capacity)
}

const MIB: u64 = 1 << 20;

fn small_swapcache(ssd: u64) -> Swapcache<Sized, Sized> {
    let params = SwapcacheParams {
        rate_bytes_per_s: 1_000_000,
        burst_bytes: 100_000_000,
        max_burst_bytes: 10_000_000,
        min_burst_bytes: 100_000,
        hysteresis_pages: 16,
        ..SwapcacheParams::defaults(MIB)
    };
    Swapcache::new(params, fast(ssd), slow(64 * MIB)).expect("legal parameters")
}

/// Reads pages one after the other with a pause after each, and lets the thread look.
fn read_pages<P: Part>(part: &mut P, now: &mut Nanos, pages: impl Iterator<Item = u64>) {
    let mut done = Vec::new();
    for page in pages {
        part.advance(*now, &mut done);
        part.submit(command(0, Op::Read, page * 4096, 4096), *now);
        done.clear();
        while done.is_empty() {
            *now = part.next();
            part.advance(*now, &mut done);
        }
        *now += Nanos::from_millis(1);
        while part.next() <= *now {
            let at = part.next();
            part.advance(at, &mut done);
        }
    }
}

#[test]
fn what_memory_gave_up_is_read_from_the_ssd_and_what_it_holds_from_memory() {
    let mut cache = small_swapcache(16 * MIB);
    let mut now = Nanos::ZERO;
    read_pages(&mut cache, &mut now, 0..1024);
    let first = cache.counts();
    assert_eq!((first.misses, first.ssd_hits, first.memory_hits), (1024, 0, 0));
    // Half the memory is active; what left it went to the SSD, but for the last few.
    assert!(first.held >= 1024 - 128 - 32, "{first:?}");
    read_pages(&mut cache, &mut now, 0..512);
    let second = cache.counts();
    assert_eq!(second.ssd_hits, 512, "{second:?}");
    read_pages(&mut cache, &mut now, 500..512);
    assert_eq!(cache.counts().memory_hits, 12);
}

#[test]
fn the_ssd_is_cleaned_to_seventy_percent_when_three_quarters_are_used() {
    let mut cache = small_swapcache(MIB);
    let slots = cache.counts().slots;
    let mut now = Nanos::ZERO;
    let mut most = 0;
    for page in 0..2000 {
        read_pages(&mut cache, &mut now, page..page + 1);
        most = most.max(cache.counts().held);
    }
    let counts = cache.counts();
    assert!(most * 4 <= slots * 3 + 4, "{most} of {slots} slots");
    assert!(counts.cleaned > 100 && counts.held * 100 >= slots * 69, "{counts:?}");
}

#[test]
fn a_written_page_is_not_served_from_before_the_write() {
    let mut cache = small_swapcache(16 * MIB);
    let mut now = Nanos::ZERO;
    read_pages(&mut cache, &mut now, 0..1024);
    let before = cache.counts();
    cache.advance(now, &mut Vec::new());
    cache.submit(command(1, Op::Write, 0, 8192), now);
    cache.submit(command(2, Op::Read, 0, 8192), now);
    drain(&mut cache);
    let after = cache.counts();
    assert_eq!((after.voided - before.voided, after.ssd_hits), (2, before.ssd_hits));
    assert_eq!(after.misses - before.misses, 2, "the read goes to the slow part");
}

#[test]
fn an_empty_bucket_stops_filling_until_it_holds_the_least_again() {
    let params = SwapcacheParams {
        rate_bytes_per_s: 40_960,
        burst_bytes: 64 * 4096,
        max_burst_bytes: 64 * 4096,
        min_burst_bytes: 32 * 4096,
        hysteresis_pages: 8,
        ..SwapcacheParams::defaults(MIB)
    };
    let mut cache = Swapcache::new(params, fast(64 * MIB), slow(64 * MIB)).expect("legal");
    let mut now = Nanos::ZERO;
    for page in 0..4000_u64 {
        read_pages(&mut cache, &mut now, page..page + 1);
        let filled = cache.counts().filled_bytes as f64;
        let most = 64.0 * 4096.0 + 40_960.0 * now.as_secs_f64();
        assert!(filled <= most + 1.0, "{filled} of at most {most} bytes at {now}");
    }
    // 24 s at 10 pages a second, of which the bucket loses none.
    let filled = cache.counts().filled_bytes / 4096;
    assert!((64 + 180..=64 + 245).contains(&filled), "{filled} pages filled by {now}");
}

fn read_cache(promote_at_miss: u32, writes: Writes, ssd: u64) -> ReadCache<Sized, Sized> {
    let params =
        ReadCacheParams { block_bytes: 65_536, eviction: Eviction::Lru, promote_at_miss, writes };
    ReadCache::new(params, fast(ssd), slow(64 * MIB)).expect("legal parameters")
}

#[test]
fn a_block_is_on_the_ssd_after_the_miss_that_promotes_it() {
    let mut cache = read_cache(2, Writes::Through, 16 * MIB);
    let mut now = Nanos::ZERO;
    read_pages(&mut cache, &mut now, [0, 1, 2, 3].into_iter());
    let counts = cache.counts();
    assert_eq!((counts.misses, counts.hits, counts.filled_bytes), (2, 2, 65_536));
    let reads: Vec<u32> = cache.slow().0.given.iter().map(|(_, given)| given.len).collect();
    assert_eq!(reads, [4096, 65_536], "the second miss reads the whole block");
}

#[test]
fn a_write_around_gives_the_block_up_and_a_write_through_keeps_it() {
    for (writes, hits) in [(Writes::Around, 0), (Writes::Through, 1)] {
        let mut cache = read_cache(1, writes, 16 * MIB);
        let mut now = Nanos::ZERO;
        read_pages(&mut cache, &mut now, [0].into_iter());
        cache.submit(command(0, Op::Write, 4096, 4096), now);
        drain(&mut cache);
        now += Nanos::from_millis(50);
        read_pages(&mut cache, &mut now, [1].into_iter());
        assert_eq!(cache.counts().hits, hits, "{writes:?}");
    }
}

#[test]
fn the_least_recently_read_block_goes_first() {
    let mut cache = read_cache(1, Writes::Through, 2 * 65_536);
    let mut now = Nanos::ZERO;
    read_pages(&mut cache, &mut now, [0, 16, 0, 32, 0, 16].into_iter());
    // 0 is hit twice; 32 took the place of 16, which is missed again.
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.evicted), (2, 4, 2));
}

#[test]
fn a_hot_region_is_served_at_the_rate_of_the_ssd() {
    let mut cache = read_cache(1, Writes::Through, 16 * MIB);
    let ends = closed_loop(&mut cache, 8, 4000, |n| {
        (Op::Read, u64::from(n.wrapping_mul(2_654_435_761) % 1024) * 4096, 4096)
    });
    let warm = ends[3999].since(ends[2000]);
    // 2,000 reads, eight at once, 50 µs each.
    assert!(warm <= Nanos::from_micros(2000 / 8 * 55), "{warm}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_swapcache_does_everything_once_in_order_of_time(
        arrivals in arrivals(),
        most in 1_u32..32,
    ) {
        lawful(&mut small_swapcache(MIB), most, &arrivals);
    }

    #[test]
    fn a_read_cache_does_everything_once_in_order_of_time(
        arrivals in arrivals(),
        most in 1_u32..32,
        promote in 1_u32..3,
        through in any::<bool>(),
    ) {
        let writes = if through { Writes::Through } else { Writes::Around };
        lawful(&mut read_cache(promote, writes, MIB), most, &arrivals);
    }
}
