//! bcache.

use crate::words::{bytes, percent};
use crate::{Check, Found, Rule};
use seekwell_inspect::Device;
use seekwell_inspect::facts::BcacheFacts;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-BCACHE-001",
        about: "the device has no working cache",
        means: "bcache runs without its cache device, or with one that does not match.",
        known: "bcache/state reads \"no cache\" or \"inconsistent\", or cache_mode is set to \
                \"none\".",
        why: "Everything runs at the rate of the slow disk below. Data that was only in the cache \
              is missing.",
        fix: "attach the cache again: write its set's UUID to bcache/attach; cat bcache/state",
        tune: None,
        check: Check::Bcache(uncached),
    },
    Rule {
        id: "SW-BCACHE-002",
        about: "most requests bypass the cache",
        means: "bcache treated most requests as sequential, or its cache device as congested.",
        known: "Over half of at least 10,000 requests in stats_total are counted as bypassed.",
        why: "They run at the rate of the slow disk. A sequential benchmark is bypassed by design: \
              its figure is the slow disk's, not the cache's.",
        fix: "write 0 to bcache/sequential_cutoff to cache sequential requests too, and to the \
              cache set's congested_read_threshold_us and congested_write_threshold_us",
        tune: None,
        check: Check::Bcache(bypassed),
    },
];

fn uncached(_: &Device, bcache: &BcacheFacts) -> Option<Found> {
    let broken = |s: &str| ["no cache", "inconsistent"].contains(&s);
    let state = bcache.state.as_ref().filter(|s| broken(&s.value));
    let mode = bcache.mode.as_ref().filter(|m| m.value == "none");
    if state.is_none() && mode.is_none() {
        return None;
    }
    let words = state.map_or("its cache is off", |s| match s.value.as_str() {
        "no cache" => "it has no cache",
        _ => "its cache does not match it",
    });
    let found = match state.is_some_and(|s| s.value == "inconsistent") {
        true => Found::error(words),
        false => Found::warning(words),
    };
    Some(found.facts("state", bcache.state.as_ref()).facts("cache mode", bcache.mode.as_ref()))
}

fn bypassed(_: &Device, bcache: &BcacheFacts) -> Option<Found> {
    const ENOUGH: u64 = 10_000;
    let past = bcache.bypassed.as_ref()?;
    let (hits, misses) = (bcache.hits.as_ref()?.value, bcache.misses.as_ref()?.value);
    let all = past.value.saturating_add(hits).saturating_add(misses);
    if all < ENOUGH || past.value <= all / 2 {
        return None;
    }
    let share = percent(past.value as f64 / all as f64);
    let found = Found::info(format!("{share} of requests bypass the cache"))
        .seen(format!("bypassed: {} of {all} requests", past.value), &past.from);
    let cutoff = bcache.sequential_cutoff_bytes.as_ref();
    Some(match cutoff {
        Some(cutoff) => {
            found.seen(format!("sequential cutoff: {}", bytes(cutoff.value)), &cutoff.from)
        }
        None => found,
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, mapper, quiet};
    use seekwell_inspect::facts::BcacheFacts;

    fn bcache(change: impl Fn(&mut BcacheFacts)) -> impl Fn(&mut Machine) {
        move |m| {
            let mut facts = BcacheFacts {
                mode: fact("writeback".to_owned(), "cache_mode"),
                state: fact("clean".to_owned(), "state"),
                sequential_cutoff_bytes: fact(4 << 20, "sequential_cutoff"),
                hits: fact(9_000, "cache_hits"),
                misses: fact(1_000, "cache_misses"),
                bypassed: fact(5_000, "cache_bypass_hits"),
                ..BcacheFacts::default()
            };
            change(&mut facts);
            m.detail().bcache = Some(facts);
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let state = |s: &'static str| bcache(move |b| b.state = fact(s.to_owned(), "state"));
        let off = bcache(|b| b.mode = fact("none".to_owned(), "cache_mode"));
        let past = |n: u64| bcache(move |b| b.bypassed = fact(n, "cache_bypass_hits"));
        let few = past(20);
        vec![
            fires("SW-BCACHE-001", mapper, state("no cache")).warning(),
            fires("SW-BCACHE-001", mapper, state("inconsistent")).error(),
            fires("SW-BCACHE-001", mapper, off).warning(),
            quiet("SW-BCACHE-001", mapper, state("dirty")),
            fires("SW-BCACHE-002", mapper, past(90_000)).info(),
            quiet("SW-BCACHE-002", mapper, past(9_000)),
            quiet("SW-BCACHE-002", mapper, few)
                .and(|m| m.detail().bcache.as_mut().unwrap().hits = fact(1, "cache_hits"))
                .and(|m| m.detail().bcache.as_mut().unwrap().misses = fact(1, "cache_misses")),
        ]
    }
}
