use super::*;
use crate::driver::{Policy, QueueParams};
use crate::fake::{FakeDrive, command, drain};
use proptest::prelude::*;

/// Two lines of 8 sectors before a drive that takes 100 ns, for one command at a time.
fn cache(scheme: WriteScheme) -> MemoryCache<FakeDrive> {
    let params = MemoryParams {
        lines: 2,
        line_sectors: 8,
        scheme,
        cluster_lines: 1,
        fetch_lines: 0,
        sector_ns: 0,
        depth: 1,
        queue: QueueParams { policy: Policy::CLook, ..QueueParams::PLAIN },
        pending: 1,
    };
    MemoryCache::new(params, FakeDrive::new(1, 100)).expect("legal")
}

/// When a command given at `now` is done, all else being at rest.
fn took(cache: &mut MemoryCache<FakeDrive>, op: Op, sector: u64, sectors: u32, now: u64) -> u64 {
    cache.submit(command(0, op, sector * 512, sectors * 512), Nanos(now));
    let done = drain(cache);
    assert_eq!(done.len(), 1);
    done[0].at.0 - now
}

/// Operations at the drive and the sectors they are of.
fn given(cache: &MemoryCache<FakeDrive>) -> Vec<(Op, u64, u32)> {
    let given = cache.drive.part().given.iter();
    given.map(|(_, c)| (c.op, c.offset / 512, c.len / 512)).collect()
}

#[test]
fn what_is_in_memory_is_not_read_again() {
    let mut cache = cache(WriteScheme::Back);
    assert_eq!(took(&mut cache, Op::Read, 2, 4, 0), 100);
    assert_eq!(took(&mut cache, Op::Read, 3, 2, 1000), 0);
    // The rest of the line was not fetched with it, and nothing is fetched twice.
    assert_eq!(took(&mut cache, Op::Read, 0, 8, 2000), 200);
    assert_eq!(given(&cache), [(Op::Read, 2, 4), (Op::Read, 0, 2), (Op::Read, 6, 2)]);
}

#[test]
fn a_line_that_must_go_is_written_first() {
    let mut cache = cache(WriteScheme::Back);
    assert_eq!(took(&mut cache, Op::Write, 0, 8, 0), 0);
    assert_eq!(took(&mut cache, Op::Write, 8, 4, 100), 0);
    assert_eq!(given(&cache), []);
    assert_eq!(took(&mut cache, Op::Read, 64, 2, 200), 200, "written, then read");
    assert_eq!(given(&cache), [(Op::Write, 0, 8), (Op::Read, 64, 2)]);
    // A clean line goes without.
    assert_eq!(took(&mut cache, Op::Read, 8, 2, 1000), 0);
    assert_eq!(took(&mut cache, Op::Read, 96, 2, 1100), 100);
}

#[test]
fn dirty_lines_that_adjoin_are_written_together() {
    let params = MemoryParams { lines: 3, cluster_lines: 2, ..cache(WriteScheme::Back).params };
    let mut cache = MemoryCache::new(params, FakeDrive::new(1, 100)).expect("legal");
    for line in [1, 0, 2] {
        took(&mut cache, Op::Write, line * 8, 8, line);
    }
    took(&mut cache, Op::Read, 64, 1, 1000);
    // The one of no use for longest with one neighbour: two lines are the most.
    assert_eq!(given(&cache)[0], (Op::Write, 0, 16));
}

#[test]
fn a_write_is_done_when_its_scheme_says() {
    for (scheme, expected) in [(WriteScheme::Synchronous, 100), (WriteScheme::Through, 0)] {
        let mut cache = cache(scheme);
        assert_eq!(took(&mut cache, Op::Write, 0, 4, 0), expected);
        assert_eq!(given(&cache), [(Op::Write, 0, 4)]);
        // And the line can be had again.
        assert_eq!(took(&mut cache, Op::Read, 0, 4, 1000), 0);
    }
}

#[test]
fn a_command_larger_than_the_memory_goes_past_it() {
    let mut cache = cache(WriteScheme::Back);
    assert_eq!(took(&mut cache, Op::Read, 0, 24, 0), 100);
    assert_eq!(took(&mut cache, Op::Read, 0, 8, 1000), 100);
}

#[test]
fn memory_that_cannot_be_is_refused() {
    let params = MemoryParams { lines: 1, ..cache(WriteScheme::Back).params };
    let refused = MemoryCache::new(params, FakeDrive::new(1, 100));
    assert_eq!(refused.expect_err("too few").field, "lines");
}

proptest! {
    /// Whatever comes, two at once, all of it ends, and nothing is left behind.
    #[test]
    fn every_command_ends(
        scheme in prop::sample::select(vec![
            WriteScheme::Synchronous, WriteScheme::Through, WriteScheme::Back,
        ]),
        commands in prop::collection::vec((any::<bool>(), 0u64..40, 1u32..16), 1..40),
    ) {
        let params = MemoryParams { lines: 6, depth: 2, cluster_lines: 3, ..cache(scheme).params };
        let mut cache = MemoryCache::new(params, FakeDrive::new(1, 100)).expect("legal");
        let mut waiting: VecDeque<Command> = commands
            .iter()
            .enumerate()
            .map(|(tag, (reads, sector, sectors))| {
                let op = if *reads { Op::Read } else { Op::Write };
                command(tag as u32, op, sector * 512, sectors * 512)
            })
            .collect();
        let (mut now, mut inside, mut ended) = (Nanos::ZERO, 0, Vec::new());
        while ended.len() < commands.len() {
            while inside < 2 && let Some(command) = waiting.pop_front() {
                cache.submit(command, now);
                inside += 1;
            }
            let before = ended.len();
            prop_assert!(cache.next() < Nanos::MAX, "{} of {} ended", before, commands.len());
            now = cache.next();
            cache.advance(now, &mut ended);
            inside -= ended.len() - before;
        }
        drain(&mut cache);
        prop_assert!(cache.jobs.iter().all(Option::is_none) && cache.purposes.is_empty());
    }
}
