//! A drive that has only part of its mapping at hand.

use super::drives::small;
use crate::fake::closed_loop;
use crate::part::Part;
use crate::ssd::{Fill, Ssd, SsdParams};
use seekwell_io::request::Op;

/// The mapping of 4 MiB is 4 KiB: so much of it is at hand as maps 16 MiB.
fn drive(map_cache_bytes: Option<u64>) -> Ssd {
    let params = SsdParams { map_cache_bytes, read_ahead_bytes: 0, ..small(Fill::Sequential) };
    Ssd::new(params).expect("legal parameters")
}

/// Nanoseconds per read, over many reads at depth 1 spread over this many MiB.
fn read_ns(drive: &mut Ssd, mib: u64) -> u64 {
    const READS: u32 = 400;
    let units = mib << 8;
    assert!(units * 4096 <= drive.capacity());
    let spread = |nth: u32| u64::from(nth) * 7919 % units * 4096;
    let ends = closed_loop(drive, 1, READS, |nth| (Op::Read, spread(nth), 4096));
    ends.last().expect("some").0 / u64::from(READS)
}

#[test]
fn reads_of_a_small_range_hit_and_those_of_a_large_one_sense_twice() {
    let whole = read_ns(&mut drive(None), 32);
    assert_eq!(read_ns(&mut drive(Some(16 << 10)), 16), read_ns(&mut drive(None), 16));
    let missing = read_ns(&mut drive(Some(16 << 10)), 32);
    let sense = u64::from(small(Fill::Sequential).sense_ns[0]);
    // Addresses go up, so that a segment is read for each 4 MiB; half as far apart, none is.
    assert!(missing > whole + sense / 4, "{missing} and {whole}, a sense {sense}");
}

#[test]
fn changed_parts_of_the_mapping_are_written_back() {
    let overhead = |bytes| {
        let mut drive = drive(bytes);
        let spread = |nth: u32| (Op::Write, u64::from(nth) * 7919 % (32 << 8) * 4096, 4096);
        closed_loop(&mut drive, 4, 2000, spread);
        drive.counts().log.overhead
    };
    let (all, part) = (overhead(None), overhead(Some(16 << 10)));
    assert!(part > all + 100, "{part} units beside the host's, {all} where all is at hand");
}
