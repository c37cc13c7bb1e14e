//! Figures that are gathered alone are those of all, whatever of the requests is read.

use super::merging::made;
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Device, Tables};
use crate::stats::figure::{Asked, Figure};
use crate::stats::{Options, Policy, Stats, StatsError, of};
use crate::store;
use proptest::prelude::*;
use seekwell_io::units::Nanos;
use serde_json::{Map, Value};
use std::path::Path;

fn written(records: &[Record], path: &Path) {
    let device = |i| Device { name: format!("d{i}"), ..Device::default() };
    let processes = (0..5).map(|i| if i == 0 { String::new() } else { format!("p{i}") });
    let tables = Tables { devices: (0..12).map(device).collect(), processes: processes.collect() };
    let about = About::new("seekwell", Clock::Start, Capture::Both);
    let mut sink = store::create(path, &about, false).expect("begins");
    sink.write(records, &tables).expect("has room");
    sink.finish(&about, &tables).expect("ends");
}

fn gathered(path: &Path, asked: Asked, policies: &[Policy]) -> Stats {
    let options = Options { asked, policies: policies.to_vec(), ..Options::default() };
    let source = store::open(path).expect("opens");
    of(source, "made", &options, 1, |_| true).expect("reads").expect("to the end")
}

fn document(stats: Stats) -> Map<String, Value> {
    let document = serde_json::to_value(stats.finish("made").0).expect("plain structures");
    document.as_object().expect("an object").clone()
}

/// The part of all figures that was asked for.
fn of_all(mut all: Map<String, Value>, asked: Asked) -> Map<String, Value> {
    for figure in Figure::ALL.into_iter().filter(|figure| !asked.has(*figure)) {
        figure.keys().iter().for_each(|key| drop(all.remove(*key).expect("a key")));
    }
    let parties = [(Figure::Order, "sequential_share"), (Figure::Latencies, "latency_ns_mean")];
    for (_, key) in parties.into_iter().filter(|(figure, _)| !asked.has(*figure)) {
        for list in ["devices", "processes"] {
            let parties = all.get_mut(list).and_then(Value::as_array_mut);
            parties.into_iter().flatten().for_each(|party| party[key] = Value::Null);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn some_figures_are_as_those_of_all(
        seed in any::<u64>(), n in 0u64..700, all_queued in any::<bool>(),
        picked in proptest::sample::subsequence(Figure::ALL.to_vec(), 1..=12),
        shared in any::<bool>(),
    ) {
        let mut records = made(seed, n, 5);
        if all_queued {
            for record in &mut records {
                record.queued = record.arrival().or(Stamp::at(Nanos::ZERO));
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("made.parquet");
        written(&records, &path);
        let policies = if shared { &[Policy::Lru][..] } else { &[] };
        let asked = Asked::of(&picked);
        let mut some = gathered(&path, asked, policies);
        let bytes = some.to_bytes();
        let kept = Stats::from_bytes(&bytes).expect("its own form").to_bytes();
        prop_assert_eq!(kept, bytes);
        let (mut some, all) =
            (document(some), document(gathered(&path, Asked::ALL, policies)));
        let mut all = of_all(all, asked);
        for key in ["digest", "sentences"] {
            prop_assert!(some.remove(key).is_some() && all.remove(key).is_some());
        }
        prop_assert_eq!(some, all);
    }
}

#[test]
fn figures_merge_with_the_same_figures_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.parquet");
    written(&made(7, 300, 3), &path);
    let some = || gathered(&path, Asked::of(&[Figure::Counts, Figure::Sizes]), &[]);
    let error = some().merge(gathered(&path, Asked::ALL, &[])).expect_err("refused");
    let told = "one holds counts,sizes and another counts,sizes,arrivals,queue,";
    assert!(error.to_string().starts_with(told), "{error}");
    let mut none = Stats::new(Options { asked: Asked::of(&[]), ..Options::default() });
    assert!(matches!(none.merge(some()), Err(StatsError::Figures { .. })));
    let asked = Asked::of(&[Figure::Sizes, Figure::Counts]);
    let mut more = Stats::new(Options { asked, ..Options::default() });
    more.merge(some()).expect("the same figures");
    assert_eq!(more.digest(), some().digest());
}
