//! What kind of load it is, in two sentences made by rules, each if its figures were asked for.
//!
//! First sentence, what is asked for and how it comes:
//! - reads of all reads and writes: from 0.98 "reads only" (0.02 "writes only"), from 0.65 "mostly
//!   reads" (0.35 "mostly writes"), else "reads and writes";
//! - median size: below 16 KiB "small", from 128 KiB on "large";
//! - pace, by the dispersion of arrivals in a second: above 3 "in bursts", below 0.3 "evenly".
//!
//! Second sentence, how far from random. Uniformly random requests over much data begin far from
//! all 32 before them (random share near 1), none continues another, and each hundredth of the
//! blocks gets a hundredth of the accesses. The random share decides, or, where more continue one
//! of the 32 before than lie apart, that share: from 0.7 "sequential", from 0.4 "partly
//! sequential"; else random share from 0.9 "random in space", from 0.6 "mostly random in space",
//! from 0.3 "partly random in space", else "local". The busiest hundredth of blocks with a
//! fifth of the accesses or more is "a hot spot", with less than 0.03 "no hot spot".

use super::document::TraceStats;
use super::figure::{Asked, Figure};
use seekwell_io::units::{binary as bytes, count as number, percent};

/// The sentences.
pub(super) fn sentences(stats: &TraceStats) -> Vec<String> {
    let asked = |figures: &[Figure]| stats.asked.has_all(Asked::of(figures));
    if asked(&[Figure::Counts]) && stats.requests == 0 {
        return vec!["The trace holds no requests.".to_owned()];
    }
    let load = asked(&[Figure::Counts, Figure::Sizes, Figure::Arrivals]).then(|| load(stats));
    let randomness = asked(&[Figure::Order, Figure::Space]).then(|| randomness(stats));
    load.into_iter().chain(randomness.flatten()).chain(merging(stats)).collect()
}

fn load(stats: &TraceStats) -> String {
    let Some(reads) = stats.read_share else {
        return "No data is read or written: flushes and discards only.".to_owned();
    };
    let mix = match reads {
        x if x >= 0.98 => "reads only".to_owned(),
        x if x >= 0.65 => format!("mostly reads ({})", percent(x)),
        x if x > 0.35 => format!("reads ({}) and writes", percent(x)),
        x if x > 0.02 => format!("mostly writes ({} reads)", percent(x)),
        _ => "writes only".to_owned(),
    };
    let median = stats.sizes.median_bytes.unwrap_or(0);
    let size = match median {
        x if x < 16 << 10 => "small",
        x if x < 128 << 10 => "middle-sized",
        _ => "large",
    };
    let mut out = format!("A load of {size} requests (median {}), {mix}", bytes(median));
    if let (Some(pace), Some(arrivals)) = (stats.requests_per_s, &stats.arrivals) {
        let manner = match arrivals.per_second.dispersion {
            Some(x) if x > 3.0 => " in bursts",
            Some(x) if x < 0.3 => " evenly",
            _ => "",
        };
        out += &format!(", coming{manner} at {} a second", number(pace));
        if let Some(peak) = arrivals.per_second.peak_to_mean.filter(|p| *p >= 2.0) {
            out += &format!(" (the busiest second has {} times the mean)", number(peak));
        }
    }
    out + "."
}

fn merging(stats: &TraceStats) -> Option<String> {
    let (asked, got) = (stats.queue.as_ref()?.requests, stats.device_queue.as_ref()?.requests);
    let how = if got < asked { "merged" } else { "split" };
    (got != asked).then(|| format!("The block layer {how} {asked} requests into {got}."))
}

fn randomness(stats: &TraceStats) -> Option<String> {
    let (order, space) = (&stats.order, &stats.space);
    let random = order.random_share?;
    let continued = order.sequential_in_window_share?;
    let kind = match (continued, random) {
        (c, r) if c >= 0.7 && c > r => "sequential",
        (c, r) if c >= 0.4 && c > r => "partly sequential",
        (_, r) if r >= 0.9 => "random in space",
        (_, r) if r >= 0.6 => "mostly random in space",
        (_, r) if r >= 0.3 => "partly random in space",
        _ => "local",
    };
    let mut out = format!(
        "It is {kind}: {} of the requests begin more than {} from all {} before them, {} continue \
         one of those",
        percent(random),
        bytes(order.random_beyond_bytes),
        order.window_requests,
        percent(continued),
    );
    if let Some(busy) = space.busiest_1_percent_share {
        out += match busy {
            x if x >= 0.2 => "; it has a hot spot",
            x if x < 0.03 => "; it has no hot spot",
            _ => "; it prefers some blocks",
        };
        let some = if space.estimated { "about " } else { "" };
        out += &format!(
            ", for the busiest 1 % of the {some}{} touched gets {} of the accesses",
            bytes(space.footprint_bytes),
            percent(busy)
        );
    }
    Some(out + ".")
}
