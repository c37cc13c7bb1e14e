//! A trace's statistics as text, part by part: the same for every renderer.

use crate::text::clean;
use crate::units::{binary, iops, rate, time};
use seekwell_io::request::Op;
use seekwell_trace::stats::document::{Latency, Party, Queue, Space, Span, TraceStats};
use seekwell_trace::stats::{Figure, Policy};
use serde::Serialize;

/// A heading and what stands under it.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Part {
    pub title: &'static str,
    /// What it is and how much.
    pub facts: Vec<(String, String)>,
    pub table: Option<Table>,
    pub note: String,
}

/// Rows of text whose first cell names the row; the others are numbers.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Table {
    pub caption: String,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

const DASH: &str = "—";

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| DASH.to_owned(), |s| format!("{:.2} %", s * 100.0))
}

fn ns(ns: Option<u64>) -> String {
    ns.map_or_else(|| DASH.to_owned(), |ns| time(ns as f64))
}

fn bytes(n: Option<u64>) -> String {
    n.map_or_else(|| DASH.to_owned(), binary)
}

fn count(n: u64) -> String {
    crate::units::grouped(n as f64)
}

fn number(x: Option<f64>) -> String {
    match x {
        None => DASH.to_owned(),
        Some(x) if x >= 1000.0 => crate::units::grouped(x),
        Some(x) => format!("{x:.2}"),
    }
}

/// A share in a narrow column.
fn short_share(share: Option<f64>) -> String {
    share.map_or_else(|| DASH.to_owned(), |s| format!("{:.1} %", s * 100.0))
}

fn fact(term: &str, text: String) -> (String, String) {
    (term.to_owned(), text)
}

/// All parts, in the order in which one asks.
pub(crate) fn parts(stats: &TraceStats) -> Vec<Part> {
    let asked = |figure| stats.asked.has(figure);
    let mut parts = Vec::new();
    parts.extend(asked(Figure::Counts).then(|| requests(stats)));
    parts.extend(asked(Figure::Sizes).then(|| sizes(stats)));
    parts.extend(arrivals(stats));
    parts.extend(queue(stats));
    parts.extend(latencies(&stats.latencies));
    parts.extend(asked(Figure::Order).then(|| order(stats)));
    parts.extend(asked(Figure::Space).then(|| space(stats)));
    parts.extend(reuse(stats));
    parts.extend(policies(stats));
    parts.extend(asked(Figure::Space).then(|| succession(stats)));
    parts.extend(asked(Figure::Alignment).then(|| alignment(stats)));
    parts.extend(idle(stats));
    parts.extend(parties("Devices", &stats.devices));
    parts.extend(parties("Processes", &stats.processes));
    parts
}

/// What fits on a screen and a half: a line on each theme, and how long requests take.
pub(crate) fn brief(stats: &TraceStats) -> Vec<Part> {
    let mut facts = requests(stats).facts;
    let [mean, median] =
        [stats.sizes.mean_bytes.map(|b| b.round() as u64), stats.sizes.median_bytes].map(bytes);
    facts.push(fact("size", format!("{mean} mean, {median} median")));
    if let Some(a) = &stats.arrivals {
        let (mean, p99, variation) =
            (time(a.gap_ns_mean), ns(a.gap_ns_p99), number(a.gap_variation));
        facts.push(fact("gap", format!("{mean} mean, {p99} p99, variation {variation}")));
    }
    for (term, queue) in [("outstanding", &stats.queue), ("at the device", &stats.device_queue)] {
        if let Some(q) = queue {
            let (mean, deepest) = (q.over_time_mean, count(q.deepest));
            facts.push(fact(term, format!("{mean:.2} mean, {deepest} at most")));
        }
    }
    let (order, space) = (&stats.order, &stats.space);
    let window = order.window_requests;
    let continued = share(order.sequential_in_window_share);
    let strict = share(order.sequential_share);
    facts.push(fact(
        "sequential",
        format!("{strict}, {continued} continue one of the last {window}"),
    ));
    let busiest = share(space.busiest_1_percent_share);
    let touched = binary(space.footprint_bytes);
    facts.push(fact(
        "touched",
        format!("{touched}, the busiest 1 % gets {busiest} of the accesses"),
    ));
    if let Some(r) = &stats.reuse {
        facts.push(fact("cache", format!("{} for half of all hits", bytes(r.half_of_hits_bytes))));
    }
    facts.push(fact("aligned to 4 KiB", share(stats.alignment.both_4k_share)));
    if let Some(idle) = stats.idle.as_ref().filter(|idle| idle.from_completions) {
        let (part, longest) = (share(Some(idle.share)), time(idle.longest_ns as f64));
        facts.push(fact("idle", format!("{part} of the time, {longest} at most")));
    }
    facts.extend(busiest_of("devices", &stats.devices));
    facts.extend(busiest_of("processes", &stats.processes));
    // The widest span that is known comes last.
    let widest = stats.latencies.last().map(|l| l.span);
    let latencies_of = stats.latencies.iter().filter(|l| Some(l.span) == widest).cloned();
    let times = latencies(&latencies_of.collect::<Vec<_>>());
    let load = Part { title: "Load", facts, ..Part::default() };
    let times = times.map(|times| Part { note: String::new(), ..times });
    [load].into_iter().chain(times).chain(policies(stats)).collect()
}

fn busiest_of(term: &str, parties: &[Party]) -> Option<(String, String)> {
    const SHOWN: usize = 3;
    let shown = parties.iter().take(SHOWN);
    let shown = shown.map(|p| format!("{} {}", clean(&p.name), short_share(Some(p.share))));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if parties.len() > SHOWN {
        text += &format!(", {} more", parties.len() - SHOWN);
    }
    (!parties.is_empty()).then(|| fact(term, text))
}

fn requests(stats: &TraceStats) -> Part {
    let mut facts = vec![fact("requests", count(stats.requests))];
    if let Some(duration) = stats.duration_ns {
        facts.push(fact("from first to last", format!("{:.3} s", duration as f64 / 1e9)));
    }
    if let (Some(requests), Some(moved)) = (stats.requests_per_s, stats.bytes_per_s) {
        facts.push(fact("a second", format!("{} requests, {} MB", iops(requests), rate(moved))));
    }
    let (reads, read_bytes) = (share(stats.read_share), share(stats.read_bytes_share));
    facts.push(fact("reads", format!("{reads} of reads and writes, {read_bytes} of their bytes")));
    let d = &stats.durability;
    if d.flushes + d.preflushes + d.fua_writes > 0 {
        let per_s = d.flushes_per_s.map_or_else(String::new, |f| format!(", {} a second", iops(f)));
        let flushes = count(d.flushes + d.preflushes);
        let writes =
            d.writes_per_flush.map_or_else(String::new, |w| format!(", {} writes each", iops(w)));
        facts.push(fact("flushes", format!("{flushes}{per_s}{writes}")));
        let fua = format!("{}, {} of writes", count(d.fua_writes), share(d.fua_share));
        facts.push(fact("FUA writes", fua));
    }
    for (what, n) in [
        ("other commands", stats.other_commands),
        ("ended with an error", stats.failed),
        ("out of order", stats.out_of_order),
    ] {
        if n > 0 {
            facts.push(fact(what, count(n)));
        }
    }
    // In groups, which fit into any width.
    let digest: Vec<_> = stats.digest.as_bytes().chunks(16).map(String::from_utf8_lossy).collect();
    facts.push(fact("digest", digest.join(" ")));
    let row = |o: &seekwell_trace::stats::document::Operation| {
        let cells = [share(Some(o.share)), binary(o.bytes), share(Some(o.bytes_share))];
        [vec![o.op.name().to_owned(), count(o.requests)], cells.to_vec()].concat()
    };
    let used = stats.operations.iter().filter(|o| o.requests > 0);
    Part {
        title: "Requests",
        facts,
        table: Some(Table {
            caption: "Operations".into(),
            columns: vec!["operation", "requests", "share", "bytes", "share of bytes"],
            rows: used.map(row).collect(),
        }),
        note: String::new(),
    }
}

fn sizes(stats: &TraceStats) -> Part {
    let sizes = &stats.sizes;
    let all: u64 = sizes.powers_of_two.iter().map(|s| s.reads + s.writes).sum();
    let row = |s: &seekwell_trace::stats::document::Size| {
        let of = (s.reads + s.writes) as f64 / all.max(1) as f64;
        vec![binary(s.bytes), count(s.reads), count(s.writes), share(Some(of))]
    };
    Part {
        title: "Sizes",
        facts: vec![
            fact("mean", bytes(sizes.mean_bytes.map(|b| b.round() as u64))),
            fact("median", bytes(sizes.median_bytes)),
        ],
        table: Some(Table {
            caption: "The most frequent sizes of reads and writes".into(),
            columns: vec!["size", "reads", "writes", "share"],
            rows: sizes.top.iter().map(row).collect(),
        }),
        note: String::new(),
    }
}

fn arrivals(stats: &TraceStats) -> Option<Part> {
    let a = stats.arrivals.as_ref()?;
    let row = |name: &str, w: &seekwell_trace::stats::document::Windows| {
        let cells = [number(w.peak_to_mean), number(w.dispersion), share(w.active_share)];
        [vec![name.to_owned()], cells.to_vec()].concat()
    };
    let windows = [("1 s", &a.per_second), ("1 min", &a.per_minute)];
    let whole = windows.iter().filter(|(_, windows)| windows.windows > 0);
    let rows: Vec<_> = whole.map(|(name, windows)| row(name, windows)).collect();
    Some(Part {
        title: "Arrivals",
        facts: vec![
            fact("gap, mean", time(a.gap_ns_mean)),
            fact("gap, p50 and p99", format!("{}, {}", ns(a.gap_ns_p50), ns(a.gap_ns_p99))),
            fact("gap, coefficient of variation", number(a.gap_variation)),
        ],
        table: (!rows.is_empty()).then(|| Table {
            caption: "Burstiness".into(),
            columns: vec!["windows of", "peak over mean", "index of dispersion", "windows in use"],
            rows,
        }),
        note:
            "Independent arrivals have a variation of 1 and a dispersion of 1; perfectly regular \
             ones have 0, bursts have more."
                .to_owned(),
    })
}

fn queue(stats: &TraceStats) -> Option<Part> {
    let both = [("arrival → complete", &stats.queue), ("issue → complete", &stats.device_queue)];
    let row = |(name, queue): (&str, &Queue)| {
        let [on_arrival, over_time] =
            [queue.seen_mean, queue.over_time_mean].map(|mean| format!("{mean:.3}"));
        vec![name.to_owned(), on_arrival, over_time, count(queue.deepest)]
    };
    let rows: Vec<_> = both.iter().filter_map(|(n, q)| Some(row((n, q.as_ref()?)))).collect();
    (!rows.is_empty()).then(|| Part {
        title: "Queue",
        facts: Vec::new(),
        table: Some(Table {
            caption: "Requests outstanding".into(),
            columns: vec!["between", "on arrival", "over time", "deepest"],
            rows,
        }),
        note: "On arrival: how many others are outstanding when a request arrives. Over time: the \
             mean."
            .to_owned(),
    })
}

fn latencies(latencies: &[Latency]) -> Option<Part> {
    let row = |l: &Latency| {
        let span = match l.span {
            Span::QueueToIssue => "wait",
            Span::IssueToComplete => "device",
            Span::QueueToComplete => "whole",
        };
        let name = format!("{span}, {}", l.op.map_or("all", Op::name));
        let cells = [l.latency_ns_p50, l.latency_ns_p90, l.latency_ns_p99, l.latency_ns_p99_9];
        let cells = cells.map(ns).to_vec();
        let head = vec![name, count(l.requests), time(l.latency_ns_mean)];
        [head, cells, vec![time(l.latency_ns_max as f64)]].concat()
    };
    (!latencies.is_empty()).then(|| Part {
        title: "Latencies",
        facts: Vec::new(),
        table: Some(Table {
            caption: "How long requests take".into(),
            columns: vec!["span", "requests", "mean", "p50", "p90", "p99", "p99.9", "longest"],
            rows: latencies.iter().map(row).collect(),
        }),
        note: "Wait: queue to issue. Device: issue to complete. Whole: queue to complete. A \
               percentile is shown where at least ten requests lie beyond it."
            .to_owned(),
    })
}

fn order(stats: &TraceStats) -> Part {
    let (order, seek) = (&stats.order, &stats.order.seek);
    let (window, far) = (order.window_requests, binary(order.random_beyond_bytes));
    let seeks = format!(
        "{} none, {} forward, {} backward",
        share(seek.none_share),
        share(seek.forward_share),
        share(seek.backward_share)
    );
    let lengths = format!(
        "{} median, {} mean",
        bytes(seek.bytes_p50),
        bytes(seek.bytes_mean.map(|b| b as u64))
    );
    let row = |p: &(u64, u64, u64)| vec![format!("from {}", binary(p.0)), count(p.1), count(p.2)];
    Part {
        title: "Order of addresses",
        facts: vec![
            fact("sequential", share(order.sequential_share)),
            (format!("continue one of the last {window}"), share(order.sequential_in_window_share)),
            (format!("beyond {far} of the last {window}"), share(order.random_share)),
            fact("seeks", seeks),
            fact("seek distance", lengths),
        ],
        table: Some(Table {
            caption: "Seek distances, by powers of two".into(),
            columns: vec!["distance", "forward", "backward"],
            rows: seek.powers_of_two.iter().map(row).collect(),
        }),
        note: "Sequential: starts where the previous request on the same device ended; the other \
               rows look back over requests of the same device."
            .to_owned(),
    }
}

fn estimate(space: &Space) -> String {
    if !space.estimated {
        return "Exact: every block was remembered.".to_owned();
    }
    let one_in = (1.0 / space.sampled_share).round();
    format!("Estimated from one block in {one_in}, chosen by a hash of the address.")
}

fn space(stats: &TraceStats) -> Part {
    let s = &stats.space;
    Part {
        title: "Blocks in use",
        facts: vec![
            fact("touched", binary(s.footprint_bytes)),
            fact("read", binary(s.read_bytes)),
            fact("written", binary(s.written_bytes)),
            fact("read and written", binary(s.read_and_written_bytes)),
            fact("written more than once", binary(s.updated_bytes)),
            fact("update coverage", share(s.update_coverage)),
            fact("accesses to the busiest 1 %", share(s.busiest_1_percent_share)),
            fact("accesses to the busiest 10 %", share(s.busiest_10_percent_share)),
        ],
        table: None,
        note: format!("Blocks of {}. {}", binary(s.block_bytes), estimate(s)),
    }
}

/// A curve of misses, smallest cache first: at most twelve sizes of it. Where it rests on too few
/// samples it says so instead.
fn misses(curve: &[(u64, f64)], errors: &[f64], few_samples: usize) -> Vec<Vec<String>> {
    // Of caches too small for any hit, one is enough.
    let useless = curve.partition_point(|(_, misses)| *misses > 0.99995).saturating_sub(1);
    let row = |(at, (bytes, missed)): (usize, &(u64, f64))| {
        let mut row = vec![binary(*bytes)];
        row.push(if at < few_samples { "too few samples".into() } else { share(Some(*missed)) });
        if let Some(error) = errors.get(at) {
            let told = at >= few_samples;
            row.push(if told { format!("± {}", share(Some(*error))) } else { String::new() });
        }
        row
    };
    let every = curve[useless..].len().div_ceil(12).max(1);
    let rows = curve.iter().enumerate().skip(useless).rev().step_by(every).map(row);
    let mut rows: Vec<_> = rows.collect();
    rows.reverse();
    rows
}

/// The columns of those rows.
fn missed_columns(errors: &[f64]) -> Vec<&'static str> {
    if errors.is_empty() { vec!["cache", "misses"] } else { vec!["cache", "misses", "95 %"] }
}

fn sampled(share: f64) -> String {
    if share < 1.0 {
        format!(
            "Estimated (SHARDS) from one block in {}. The last column is half of the 95 % \
             interval; caches of fewer than 64 sampled blocks tell nothing.",
            (1.0 / share).round()
        )
    } else {
        "Exact.".to_owned()
    }
}

fn reuse(stats: &TraceStats) -> Option<Part> {
    let r = stats.reuse.as_ref()?;
    let rows = misses(&r.miss_ratio, &r.miss_ratio_error, r.few_samples);
    let each = if stats.devices.len() > 1 { " Every device has a cache of its own." } else { "" };
    Some(Part {
        title: "Reuse and cache",
        facts: vec![
            fact("first accesses, which no cache holds", share(Some(r.cold_share))),
            fact("reuse distance, p50", bytes(r.distance_bytes_p50)),
            fact("reuse distance, p90", bytes(r.distance_bytes_p90)),
            fact("cache for half of all possible hits", bytes(r.half_of_hits_bytes)),
        ],
        table: (!rows.is_empty()).then(|| Table {
            caption: "Misses of an LRU cache".into(),
            columns: missed_columns(&r.miss_ratio_error),
            rows,
        }),
        note: sampled(r.sampled_share) + each,
    })
}

/// One cache of all devices, by policy.
fn policies(stats: &TraceStats) -> impl Iterator<Item = Part> {
    let sampled_share = stats.space.sampled_share;
    stats.policies.iter().map(move |curve| Part {
        title: match curve.policy {
            Policy::Lru => "Shared cache: LRU",
            Policy::Fifo => "Shared cache: FIFO",
            Policy::Clock => "Shared cache: CLOCK",
            Policy::S3Fifo => "Shared cache: S3-FIFO",
            Policy::Sieve => "Shared cache: SIEVE",
            Policy::Arc => "Shared cache: ARC",
        },
        table: Some(Table {
            caption: format!("Misses of a shared cache, {}", curve.policy),
            columns: missed_columns(&curve.miss_ratio_error),
            rows: misses(&curve.miss_ratio, &curve.miss_ratio_error, curve.few_samples),
        }),
        note: sampled(sampled_share),
        ..Part::default()
    })
}

fn succession(stats: &TraceStats) -> Part {
    let row = |s: &seekwell_trace::stats::document::Succession| {
        let mean = s.after_ns_mean.map(|m| m as u64);
        let times = [mean, s.after_ns_p50, s.after_ns_p90, s.after_ns_p99].map(ns).to_vec();
        [vec![s.kind.words().to_owned(), count(s.accesses)], times].concat()
    };
    Part {
        title: "Successive accesses to one block",
        facts: Vec::new(),
        table: Some(Table {
            caption: "Time since the access before".into(),
            columns: vec!["kind", "accesses", "mean", "p50", "p90", "p99"],
            rows: stats.succession.iter().map(row).collect(),
        }),
        note: estimate(&stats.space),
    }
}

fn alignment(stats: &TraceStats) -> Part {
    let a = &stats.alignment;
    Part {
        title: "Alignment",
        facts: vec![
            fact("begin and end on 4 KiB", share(a.both_4k_share)),
            fact("begin on 4 KiB", share(a.start_4k_share)),
            fact("writes of part of a 4 KiB block", share(a.partial_writes_share)),
        ],
        ..Part::default()
    }
}

fn idle(stats: &TraceStats) -> Option<Part> {
    let idle = stats.idle.as_ref()?;
    let row = |l: &(u64, u64, f64)| vec![time(l.0 as f64), count(l.1), share(Some(l.2))];
    let mut facts = vec![fact("longest", time(idle.longest_ns as f64))];
    // Between moments there is nothing but gaps.
    if idle.from_completions {
        facts.insert(0, fact("share of the time", share(Some(idle.share))));
    }
    Some(Part {
        title: "Idle periods",
        facts,
        table: Some(Table {
            caption: "Periods of at least this length".into(),
            columns: vec!["at least", "periods", "share of the time"],
            rows: idle.at_least.iter().map(row).collect(),
        }),
        note: match idle.from_completions {
            true => "Idle: nothing is outstanding.",
            false => "Completions are not known: idle is the time between two arrivals.",
        }
        .to_owned(),
    })
}

fn parties(title: &'static str, parties: &[Party]) -> Option<Part> {
    let flushes = parties.iter().any(|p| p.flushes > 0);
    let timed = parties.iter().any(|p| p.latency_ns_mean.is_some());
    let mut columns = vec!["name", "share", "reads", "writes", "read", "written", "in order"];
    columns.extend(flushes.then_some("flushes"));
    columns.extend(timed.then_some("latency"));
    let row = |p: &Party| {
        let mut cells = vec![
            clean(&p.name),
            short_share(Some(p.share)),
            count(p.reads),
            count(p.writes),
            binary(p.read_bytes),
            binary(p.written_bytes),
            short_share(p.sequential_share),
        ];
        cells.extend(flushes.then(|| count(p.flushes)));
        cells.extend(timed.then(|| p.latency_ns_mean.map_or_else(|| DASH.to_owned(), time)));
        cells
    };
    (!parties.is_empty()).then(|| Part {
        title,
        table: Some(Table {
            caption: "The busiest first".into(),
            columns,
            rows: parties.iter().map(row).collect(),
        }),
        note:
            "In order: starts where its previous request on the same device ended. Latency is the \
             mean."
                .to_owned(),
        ..Part::default()
    })
}
