//! What has no declared rate, and shows by the shape of what was measured.

use super::Said;
use crate::Run;
use crate::curve::{best, best_large, curve, gain, near};
use crate::decide::known::full_link;
use crate::point::{Op, Point};
use crate::words::command;
use seekwell_io::units::{bytes_per_s, percent, requests_per_s, time, whole_percent};
use seekwell_runs::limits::{Confidence, Station, Unit};

/// Arm and rotation: a hard drive that is asked for one place after the other.
pub fn mechanics<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let rotates = run.rotates == Some(true);
    if !rotates || point.sequential && !point.flushes || run.level().is_some() {
        return None;
    }
    if gain(run, point).is_some_and(|gain| gain.is_latency() && point.depth > 1) {
        return None;
    }
    let one = run.points.iter().find(|p| p.is_random_read(1));
    // Far more writes than an arm can reach places for went to a cache.
    if let Some(one) = one.filter(|one| point.op == Op::Write && is_cached(one, point)) {
        let seen = format!(
            "{} where reads reach {}",
            requests_per_s(point.requests_per_s),
            requests_per_s(one.requests_per_s)
        );
        let said = Said::likely(Station::WriteCache).seen(seen, &one.phase.name);
        return Some(said.or(Station::Mechanics, command(run, "--suite sustained")));
    }
    let each = 1e9 / point.requests_per_s;
    let seen = format!("{} for each request of a disk that rotates", time(each));
    let sure = match each >= 1e6 {
        true if run.is_virtual => Confidence::Likely,
        true => Confidence::Shown,
        false => Confidence::Possible,
    };
    let sure = if point.op == Op::Read { sure } else { sure.min(Confidence::Likely) };
    Some(Said::new(Station::Mechanics, sure).seen(seen, &point.phase.name))
}

/// Whether a cache took the writes, and did not have to wait until it had room.
fn is_cached(one: &Point<'_>, writes: &Point<'_>) -> bool {
    let of = |what: &str| writes.phase.median(&format!("write.latency_ns_{what}"));
    let stalls = of("mean").zip(of("p50")).is_some_and(|(mean, p50)| mean > 2.0 * p50);
    writes.requests_per_s > 20.0 * one.requests_per_s && !stalls
}

/// One commit after the other: its write, and the flush that it waits for.
pub fn commit<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let of = |metric| point.phase.median(metric);
    let flush = of("flush.latency_ns_p50").or_else(|| of("flush.latency_ns_mean"));
    let flush = flush.filter(|_| point.flushes && point.depth == 1)?;
    // The cache of an array's controller answers, in the time that it takes for each command.
    let by = match (run.level(), run.rotates) {
        (Some(_), _) if run.document.modelled => Station::Controller,
        (None, Some(false)) => Station::Flash,
        _ => Station::Latency,
    };
    let seen = format!("each write waits for its flush, which takes {}", time(flush));
    // A cap counts the flushes too.
    let cap = run.points.iter().filter(|p| p.op == Op::Write && !p.is_large() && !p.flushes);
    let cap = cap.max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s));
    let capped = cap.filter(|cap| point.requests_per_s > 0.4 * cap.requests_per_s);
    if let Some(said) = capped.and_then(|cap| throttle(run, cap)) {
        let said = Said { confidence: Confidence::Possible, or: vec![Station::Latency], ..said };
        return Some(said.seen(seen, &point.phase.name));
    }
    let said = Said::likely(by).named("the flush of each write");
    Some(said.seen(seen, &point.phase.name))
}

/// Reads among writes, at the station that stops each of them alone.
pub fn mix<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    if point.op != Op::Mixed {
        return None;
    }
    let of = |op| {
        let like = |p: &&Point<'_>| {
            let same = p.op == op && p.sequential == point.sequential && !p.flushes;
            same && near(p.bytes, point.bytes, 0.05)
        };
        let those = run.points.iter().filter(like);
        those.max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))
    };
    let (read, write) = (of(Op::Read)?, of(Op::Write)?);
    let reads = point.phase.median("read.requests_per_s")? / point.requests_per_s;
    // What it takes where one station serves both in turn.
    let together = 1.0 / (reads / read.requests_per_s + (1.0 - reads) / write.requests_per_s);
    let share = point.requests_per_s / together;
    if share < 0.85 && run.rotates == Some(false) {
        let seen = format!("{} of what reads and writes reach alone", whole_percent(share));
        let said = Said::possible(Station::Flash).seen(seen, &point.phase.name);
        return Some(said.or(Station::Controller, command(run, "--rwmixread=50,90")));
    }
    let slower = if reads / read.requests_per_s >= (1.0 - reads) / write.requests_per_s {
        read
    } else {
        write
    };
    let said = super::answer(run, slower);
    if !(0.85..1.15).contains(&share) || matches!(said.by, Station::Latency | Station::Unknown) {
        return None;
    }
    let seen = format!("{} of what reads and writes reach alone", whole_percent(share));
    let confidence = said.confidence.min(Confidence::Likely);
    Some(Said { confidence, ..said }.seen(seen, &slower.phase.name))
}

/// At the knee the rate grows with depth, but less than in proportion: what is left over is the
/// share of the station that stops deeper queues.
pub fn knee<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let gain = gain(run, point)?;
    let most = best(run, point).filter(|most| most.phase.name != point.phase.name)?;
    let seen = format!("twice the depth gives {:.2} times as many", gain.times);
    let full = super::answer(run, most);
    let tell = command(run, "--depths");
    if matches!(full.by, Station::Unknown | Station::Latency) {
        return None;
    }
    let said = match gain.times.log2() > 0.5 {
        true => Said::possible(Station::Latency).or(full.by, tell),
        false => {
            let name = full.name.clone();
            let (ceiling, by) = (full.ceiling, full.by);
            Said { ceiling, name, ..Said::possible(by).or(Station::Latency, tell) }
        }
    };
    Some(said.seen(seen, &point.phase.name))
}

/// Each request waits for the one before; or for a tag.
pub fn tags_or_latency<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let gain = gain(run, point)?;
    let from = &point.phase.name;
    if gain.is_latency() {
        let sure = if gain.measured { Confidence::Shown } else { Confidence::Likely };
        let seen = format!("twice the depth gives {:.2} times as many", gain.times);
        return Some(Said::new(Station::Latency, sure).seen(seen, from));
    }
    let tags = run.tags()?;
    if tags.value == 1 && point.depth == 1 && gain.is_flat() && run.rotates != Some(true) {
        let said = Said::likely(Station::Latency);
        return Some(said.seen("the disk takes one command at a time", &tags.from));
    }
    if tags.value >= u64::from(point.depth) {
        return None;
    }
    // As fast as one at a time, times the tags: the disk takes no longer for each.
    let one = curve(run, point).into_iter().find(|p| p.depth == 1)?;
    let linear = point.requests_per_s / (one.requests_per_s * tags.value as f64);
    if !gain.is_flat() || !(0.85..1.15).contains(&linear) || run.rotates == Some(true) {
        return None;
    }
    let seen = format!("{} times the rate of depth 1, at {} tags", tags.value, tags.value);
    let said = Said::likely(Station::Tags).seen(seen, from);
    Some(said.seen(format!("commands at once: {}", tags.value), &tags.from))
}

/// Smaller requests at a station that is full of bytes at larger ones.
pub fn share_of_bytes<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let most = best_large(run, point)?;
    let at = full_link(run, most)?;
    let share = point.bytes_per_s / most.bytes_per_s;
    let flat = point.is_large() || gain(run, point)?.is_flat();
    if share < 0.5 || !flat || run.rotates == Some(true) {
        return None;
    }
    let seen = format!("{} of what large requests reach", whole_percent(share));
    let tell = command(run, "--bs=512,4k");
    Some(
        match share {
            0.85.. => Said { ceiling: at.ceiling, ..Said::likely(at.by) },
            0.7.. => {
                Said { ceiling: at.ceiling, ..Said::likely(at.by) }.or(Station::Controller, tell)
            }
            _ => Said::possible(Station::Controller).or(at.by, tell),
        }
        .seen(seen, &most.phase.name),
    )
}

/// A rate that somebody set: the same for reads and writes, or whatever the size.
pub fn throttle<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    /// Of two phases at one cap: each begins with what was saved up.
    const SAME: f64 = 0.03;
    if !run.is_unseen() || updates_parity(run, point) {
        return None;
    }
    let flat = |p: &Point<'_>| gain(run, p).map(|gain| gain.is_flat());
    let mine = flat(point);
    let agrees = |other: &Point<'_>| {
        let is_other_kind = (other.op, other.sequential) != (point.op, point.sequential);
        if near(other.bytes, point.bytes, 0.05) && !is_other_kind {
            return None;
        }
        let theirs = flat(other);
        // Where depth makes no difference, sizes far apart hardly reach the same by chance.
        let across = !near(other.bytes, point.bytes, 0.5)
            && [mine, theirs].contains(&Some(true))
            && ![mine, theirs].contains(&Some(false));
        let both_large = point.is_large() && other.is_large() && mine != Some(false);
        let both_small = !point.is_large() && !other.is_large();
        let both_small = both_small && [mine, theirs].contains(&Some(true));
        let bytes = near(other.bytes_per_s, point.bytes_per_s, SAME);
        let requests = near(other.requests_per_s, point.requests_per_s, SAME);
        let of_bytes = (across || both_large) && bytes;
        let of_requests = (across || both_small) && requests;
        of_bytes.then_some(Unit::BytesPerS).or(of_requests.then_some(Unit::RequestsPerS))
    };
    let same = run.points.iter().find_map(|other| Some((other, agrees(other)?)));
    let Some((same, unit)) = same else { return of_host(run, point) };
    let words = |p: &Point<'_>| match unit {
        Unit::BytesPerS => bytes_per_s(p.bytes_per_s),
        _ => requests_per_s(p.requests_per_s),
    };
    let said = Said::likely(Station::Throttle).named(format!("a cap of {}", words(point)));
    let said = said.seen(format!("{}, the same", words(same)), &same.phase.name);
    Some(said.or(Station::Medium, command(run, "--runtime=120s")))
}

/// What another host does: its cache takes large writes faster than anything can be read, and a
/// rate that does not vary was set.
fn of_host<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let op = Op::other(point.op)?;
    let other = best_large(run, &Point { op, ..*point }).filter(|_| point.is_large());
    if let Some(other) = other.filter(|_| point.op == Op::Write)
        && point.bytes_per_s > 2.0 * other.bytes_per_s
    {
        let seen = format!("reads reach {}", bytes_per_s(other.bytes_per_s));
        let said = Said::possible(Station::WriteCache).named("a cache of the host");
        let said = said.seen(seen, &other.phase.name);
        return Some(said.or(Station::Medium, command(run, "--suite sustained")));
    }
    let (rate, seen) = steady(run, point)?;
    let said = Said::possible(Station::Throttle).named(format!("a cap of {rate}"));
    let said = said.seen(seen, &point.phase.name);
    Some(said.or(Station::Medium, command(run, "--runtime=120s")))
}

/// A rate that varies less than a medium's, between repeats or between depths, and how little.
fn steady(run: &Run<'_>, point: &Point<'_>) -> Option<(String, String)> {
    const REPEATS: f64 = 0.02;
    const DEPTHS: f64 = 0.01;
    if point.is_large() {
        let spread = point.phase.metrics.get(&format!("{}.rate_bytes_per_s", point.op.name()?))?;
        let seen = format!("{} between repeats", percent(spread.relative()));
        let is_steady = spread.n > 1 && spread.relative() < REPEATS;
        return is_steady.then(|| (bytes_per_s(point.bytes_per_s), seen));
    }
    let same = |p: &&&Point<'_>| near(p.requests_per_s, point.requests_per_s, DEPTHS);
    let depths: Vec<u32> = curve(run, point).iter().filter(same).map(|p| p.depth).collect();
    let (first, last) = (*depths.first()?, *depths.last()?);
    let seen = format!("the same within 1 % at depths {first} to {last}");
    let is_steady = depths.len() > 2 && gain(run, point)?.is_flat();
    is_steady.then(|| (requests_per_s(point.requests_per_s), seen))
}

/// The medium, as far as the shape shows.
pub fn medium<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let from = &point.phase.name;
    match (run.level(), run.rotates) {
        (Some(level), _) => of_array(run, point, level),
        (None, Some(true)) => {
            let seen = format!("one after the other at {}", bytes_per_s(point.bytes_per_s));
            let said = Said::likely(Station::Medium).named("the rate of the platters");
            Some(said.seen(seen, from))
        }
        (None, Some(false)) => of_flash(run, point),
        (None, None) => None,
    }
}

/// Dies and channels, or what takes a time for each command.
fn of_flash<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let from = &point.phase.name;
    let has_link = run.declared.iter().any(|c| c.by == Station::Link);
    if point.is_large() {
        let other = run.points.iter().find(|other| {
            let same = other.op == point.op && other.phase.name != point.phase.name;
            same && other.is_large() && near(other.bytes_per_s, point.bytes_per_s, 0.1)
        });
        let is_alone = run.points.iter().filter(|p| p.is_large()).count() < 2;
        let Some(other) = other else {
            if is_alone {
                return None;
            }
            let seen = "large requests, and no link that is full";
            let said = Said::possible(Station::Flash).seen(seen, from);
            return Some(said.or(Station::Latency, command(run, "--bs=1m --iodepth=32")));
        };
        let seen = format!("{} whatever the pattern", bytes_per_s(other.bytes_per_s));
        return Some(match has_link {
            true => Said::likely(Station::Flash).seen(seen, &other.phase.name),
            false => {
                let said = Said::possible(Station::Flash).seen(seen, &other.phase.name);
                said.or(Station::Link, "sudo lspci -vv | grep LnkSta".into())
            }
        });
    }
    if !gain(run, point)?.is_flat() {
        return None;
    }
    let twin = Op::other(point.op).and_then(|op| {
        let like = |p: &&Point<'_>| p.op == op && !p.is_large() && near(p.bytes, point.bytes, 0.05);
        let twins = run.points.iter().filter(like);
        twins.max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))
    });
    if let Some(twin) = twin.filter(|t| near(t.requests_per_s, point.requests_per_s, 0.02)) {
        let seen = format!("{} the same", requests_per_s(twin.requests_per_s));
        let said = Said::likely(Station::Controller).seen(seen, &twin.phase.name);
        return Some(said.named("the controller or the drive's firmware"));
    }
    let (by, or) = match point.op {
        Op::Write if !fills_flash(run, point) => (Station::Controller, Station::Flash),
        Op::Read | Op::Write | Op::Mixed => (Station::Flash, Station::Controller),
    };
    let said = Said::possible(by).seen("the rate does not grow with depth", from);
    Some(said.or(or, command(run, "--bs=512,4k,16k")))
}

/// Whether small writes wait for flash. They go to a buffer first, each in the same time, and wait
/// only where that is full: some of them long, or as many bytes as large ones bring.
fn fills_flash(run: &Run<'_>, point: &Point<'_>) -> bool {
    let of = |what: &str| point.phase.median(&format!("write.latency_ns_{what}"));
    let (Some(mean), Some(p50), Some(p99)) = (of("mean"), of("p50"), of("p99")) else {
        return false;
    };
    let is_even = near(mean, p50, 0.02) && near(p99, p50, 0.02);
    let most = best_large(run, point).map(|most| point.bytes_per_s / most.bytes_per_s);
    let as_large = most.is_some_and(|share| (0.85..1.05).contains(&share));
    p99 > 3.0 * p50 || as_large && !(is_even && point.depth == 1)
}

/// Whether the disks under an array do several requests for each that is asked for.
fn updates_parity(run: &Run<'_>, point: &Point<'_>) -> bool {
    let has_parity = |level| ["raid4", "raid5", "raid6"].contains(&level);
    point.op == Op::Write && !point.sequential && run.level().is_some_and(has_parity)
}

/// Members that seek, and parity that is read and written beside the data.
fn of_array<'r>(run: &'r Run<'r>, point: &Point<'_>, level: &str) -> Option<Said<'r>> {
    let from = &point.phase.name;
    if updates_parity(run, point) {
        let seen = format!("writes of less than a stripe on {level}");
        let said = Said::likely(Station::Parity).seen(seen, from);
        return Some(said.or(Station::Mechanics, command(run, "--rw=randread")));
    }
    let rotates = run.rotates.unwrap_or(!run.is_virtual);
    let reads = run.points.iter().find(|p| p.is_random_read(1));
    let is_fast = reads.is_some_and(|reads| point.requests_per_s > 3.0 * reads.requests_per_s);
    if point.op == Op::Write && !point.sequential && is_fast && gain(run, point)?.is_flat() {
        let said = Said::possible(Station::Controller).seen("no faster with depth", from);
        return Some(said.or(Station::Mechanics, command(run, "--suite sustained")));
    }
    if !point.sequential && rotates {
        let seen = format!("{} of random requests", requests_per_s(point.requests_per_s));
        return Some(Said::likely(Station::Mechanics).seen(seen, from));
    }
    let bus = run.declared.iter().find(|c| c.by == Station::Bus)?;
    let twin = Op::other(point.op)
        .and_then(|op| run.points.iter().find(|p| p.op == op && p.sequential == point.sequential));
    let twin = twin?;
    let seen = bytes_per_s(twin.bytes_per_s);
    if near(twin.bytes_per_s, point.bytes_per_s, 0.03) {
        let seen = format!("{seen}, the same");
        return Some(Said::likely(Station::Bus).at(bus).seen(seen, &twin.phase.name));
    }
    if point.op == Op::Write && point.bytes_per_s > 1.05 * bus.rate {
        let said = Said::possible(Station::WriteCache).named("the cache of the array");
        let said = said.seen(format!("more than {} carries", bus.name), &bus.from);
        return Some(said.or(Station::Bus, command(run, "--suite sustained")));
    }
    let is_near = point.is_large() && (0.35..1.05).contains(&(point.bytes_per_s / bus.rate));
    let said = Said::possible(Station::Bus).at(bus).seen(seen, &twin.phase.name);
    is_near.then(|| said.or(Station::Medium, command(run, "--rw=read --iodepth=32")))
}
