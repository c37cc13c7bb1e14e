use super::*;
use proptest::prelude::*;

fn op(law: Law, alone_ns: f64, each_ns: f64) -> OpParams {
    let (depths, sizes, variation) = (Vec::new(), Vec::new(), Vec::new());
    OpParams { law, alone_ns, each_ns, byte_ns: 0.5, depths, sizes, variation }
}

fn params() -> FlowParams {
    FlowParams {
        capacity_bytes: 1 << 30,
        depth: 256,
        read: op(Law::Balanced, 80_000.0, 2_000.0),
        write: op(Law::Bottleneck, 20_000.0, 4_000.0),
        mixed: 1.0,
        flush_ns: 500_000,
    }
}

fn command(tag: u32, op: Op, len: u32) -> Command {
    Command { tag, op, offset: 0, len, durable: false }
}

/// Keeps `depth` commands outstanding, the kind of each by its number; the time of `count` of them
/// and when each was done.
fn closed(drive: &mut Flow, depth: u32, count: u64, of: impl Fn(u64) -> Op, len: u32) -> u64 {
    let mut given = 0;
    for tag in 0..depth {
        drive.submit(command(tag, of(given), len), Nanos::ZERO);
        given += 1;
    }
    let (mut done, mut ended, mut last) = (Vec::new(), 0, Nanos::ZERO);
    while ended < count {
        let now = drive.next();
        assert!(now < Nanos::MAX && now >= last, "time stands still or goes back");
        last = now;
        drive.advance(now, &mut done);
        for d in done.drain(..) {
            ended += 1;
            drive.submit(command(d.tag, of(given), len), d.at);
            given += 1;
        }
    }
    last.0
}

proptest! {
    #[test]
    fn a_closed_loop_gets_the_rate_of_the_law_at_every_depth_however_times_vary(
        depth in 1_u32..200,
        alone in 1_000_u32..200_000,
        each in 100_u32..50_000,
        bottleneck: bool,
        long in 2.0_f64..20.0,
        seed: u64,
    ) {
        let law = if bottleneck { Law::Bottleneck } else { Law::Balanced };
        let mut read = op(law, f64::from(alone), f64::from(each));
        read.depths = vec![(4, 0.9), (64, 1.2)];
        let distribution = vec![(0.0, 0.5), (0.9, 1.0), (1.0, long)];
        read.variation = vec![(1, distribution.clone()), (300, distribution)];
        let expected = f64::from(depth) / read.time_ns(depth);
        let params = FlowParams { read, ..params() };
        let mut drive = Flow::new(params, seed).unwrap();
        let count = 20_000;
        let took = closed(&mut drive, depth, count, |_| Op::Read, 4096);
        let rate = count as f64 / took as f64;
        // Times are between 0.5 and 1 in nine of ten cases and up to `long` in the tenth: six
        // standard errors of their mean, and the start, at which nothing is under way.
        let mean = 0.9 * 0.75 + 0.1 * (1.0 + long) / 2.0;
        let square = 0.9 * 1.75 / 3.0 + 0.1 * (1.0 + long + long * long) / 3.0;
        let error = (square / (mean * mean) - 1.0).sqrt() / (count as f64).sqrt();
        let bound = 6.0 * error + f64::from(depth) / count as f64 + 0.005;
        prop_assert!((rate / expected - 1.0).abs() < bound, "{rate} for {expected}, {bound}");
    }

    #[test]
    fn reads_and_writes_together_take_the_time_each_takes_alone(share in 1_u64..10) {
        let params = params();
        let times = (params.read.time_ns(32), params.write.time_ns(32));
        let mut drive = Flow::new(params, 1).unwrap();
        let of = |n: u64| if n.wrapping_mul(7) % 10 < share { Op::Write } else { Op::Read };
        let took = closed(&mut drive, 32, 20_000, of, 4096);
        let part = share as f64 / 10.0;
        let expected = 32.0 / (part * times.1 + (1.0 - part) * times.0);
        let rate = 20_000.0 / took as f64;
        prop_assert!((rate / expected - 1.0).abs() < 0.05, "{rate} for {expected}");
    }
}

#[test]
fn one_at_a_time_a_read_takes_its_own_time_and_its_bytes() {
    let mut drive = Flow::new(params(), 1).unwrap();
    assert_eq!(closed(&mut drive, 1, 10, |_| Op::Read, 4096), 10 * 82_000);
    let mut drive = Flow::new(params(), 1).unwrap();
    let bytes = (1 << 20) - 4096;
    assert_eq!(closed(&mut drive, 1, 1, |_| Op::Read, 1 << 20), 82_000 + bytes / 2);
}

#[test]
fn bytes_of_several_requests_share_one_wire() {
    let mut drive = Flow::new(params(), 1).unwrap();
    let count = 400;
    let took = closed(&mut drive, 4, count, |_| Op::Read, 1 << 20) as f64;
    let params = params();
    let each = params.read.time_ns(4) / 4.0 + 0.5 * f64::from((1 << 20) - 4096);
    assert!((took / (each * count as f64) - 1.0).abs() < 0.02, "{took}");
}

#[test]
fn a_flush_takes_its_time_and_a_durable_write_both() {
    let mut drive = Flow::new(params(), 1).unwrap();
    drive.submit(command(7, Op::Flush, 0), Nanos::ZERO);
    assert_eq!(drive.next(), Nanos(500_000));
    let mut done = Vec::new();
    drive.advance(Nanos(500_000), &mut done);
    let write = Command { durable: true, ..command(8, Op::Write, 4096) };
    drive.submit(write, Nanos(500_000));
    while done.len() < 2 {
        drive.advance(drive.next(), &mut done);
    }
    let ends: Vec<_> = done.iter().map(|d| (d.tag, d.at.0)).collect();
    assert_eq!(ends, [(7, 500_000), (8, 1_020_000)]);
    assert_eq!(drive.next(), Nanos::MAX);
}

#[test]
fn a_drive_that_cannot_be_is_refused() {
    let refused = |change: fn(&mut FlowParams)| {
        let mut params = params();
        change(&mut params);
        params.check().expect_err("cannot be").field
    };
    assert_eq!(refused(|p| p.depth = 0), "depth");
    assert_eq!(refused(|p| p.mixed = 0.0), "mixed (thousandths)");
    assert_eq!(refused(|p| p.read.alone_ns = f64::NAN), "read.alone_ns");
    assert_eq!(refused(|p| p.write.each_ns = -1.0), "write.each_ns");
    let uneven = "read.variation ascends, each from share 0 to share 1";
    assert_eq!(refused(|p| p.read.variation = vec![(1, vec![(0.5, 1.0), (1.0, 2.0)])]), uneven);
    assert_eq!(refused(|p| p.read.variation = vec![(1, vec![(0.0, 2.0), (1.0, 1.0)])]), uneven);
    assert_eq!(refused(|p| p.read.variation = vec![(1, vec![(0.0, 2.0)])]), uneven);
    let depths = "write.depths ascend from 1, factors from 0.001 to 1000";
    assert_eq!(refused(|p| p.write.depths = vec![(0, 1.0)]), depths);
    assert_eq!(refused(|p| p.write.depths = vec![(8, 1.0), (4, 1.0)]), depths);
    assert_eq!(refused(|p| p.write.depths = vec![(8, f64::NAN)]), depths);
}

#[test]
fn bytes_of_each_size_take_their_own_time() {
    let mut read = params().read;
    read.sizes = vec![(1 << 17, 0.5), (1 << 20, 1.0)];
    let alone = |len: u32| {
        let params = FlowParams { read: read.clone(), ..params() };
        closed(&mut Flow::new(params, 1).unwrap(), 1, 1, |_| Op::Read, len)
    };
    assert_eq!(alone(1 << 17), 82_000 + ((1 << 17) - 4096) / 4);
    assert_eq!(alone(1 << 14), 82_000 + ((1 << 14) - 4096) / 4);
    assert_eq!(alone(1 << 20), 82_000 + ((1 << 20) - 4096) / 2);
}

#[test]
fn a_mix_is_faster_the_more_even_it_is_and_one_kind_alone_is_as_fast_as_ever() {
    let same = op(Law::Balanced, 80_000.0, 2_000.0);
    let time = |mixed: f64, reads_of_ten: u64| {
        let params = FlowParams { read: same.clone(), write: same.clone(), mixed, ..params() };
        let kind = |n: u64| if n % 10 < reads_of_ten { Op::Read } else { Op::Write };
        closed(&mut Flow::new(params, 1).expect("legal"), 20, 20_000, kind, 4096) as f64
    };
    let gain = |reads_of_ten| time(1.0, reads_of_ten) / time(2.0, reads_of_ten);
    let [alone, few, even] = [10, 9, 5].map(gain);
    assert_eq!(alone, 1.0);
    // 4 · 0.9 · 0.1 of what the factor adds to the speed.
    assert!((few - 1.36).abs() < 0.05, "{few}");
    assert!((even - 2.0).abs() < 0.05, "{even}");
}
