//! What a comparison says, in rows and lines of text.

use crate::rows::BESIDE_HDPARM;
use crate::text::clean;
use crate::units::{grouped, percent, rate, time};
use seekwell_compare::{
    Against, Comparison, Conclusion, MetricComparison, Rank, Role, SideSummary, Unit, in_words,
};
use seekwell_io::units::three_digits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// The ones a workload is about.
    Main,
    All,
}

/// One metric. All text is clean.
pub(super) struct Row {
    /// The workload, if it is not that of the row before and not the only one.
    pub(super) group: Option<String>,
    pub(super) title: String,
    pub(super) a: String,
    pub(super) b: String,
    pub(super) change: String,
    pub(super) word: String,
    /// Whether the change is worth a second look.
    pub(super) strong: bool,
}

pub(super) fn rows(against: &Against, shown: Shown) -> Vec<Row> {
    let wanted = |m: &&MetricComparison| {
        shown == Shown::All || m.rank != Rank::Detail || m.role == Role::Primary || changed(m)
    };
    let metrics: Vec<&MetricComparison> = against.metrics.iter().filter(wanted).collect();
    let several = metrics.iter().any(|m| m.group != metrics[0].group);
    let mut before: Option<&str> = None;
    let mut out = Vec::new();
    for metric in metrics {
        let new = before != Some(metric.group.as_str());
        before = Some(&metric.group);
        let bare = metric.title.is_empty();
        out.push(Row {
            group: (several && new && !bare).then(|| clean(&metric.group_title)),
            title: clean(if bare { &metric.group_title } else { &metric.title }),
            a: value(metric.a.median, &metric.unit),
            b: value(metric.b.median, &metric.unit),
            change: change(metric),
            word: word(metric),
            strong: metric.usual.as_ref().is_some_and(|u| u.beyond)
                || matches!(metric.conclusion, Conclusion::Faster | Conclusion::Slower),
        });
    }
    out
}

/// Mean latency and processor time, which are shown where they changed.
fn changed(metric: &MetricComparison) -> bool {
    const PERCENT: f64 = 5.0;
    let name = metric.metric.as_str();
    (name.ends_with(".latency_ns_mean") || name == "cpu_ns_per_request")
        && metric.change_percent.is_some_and(|percent| percent.abs() >= PERCENT)
}

pub(crate) fn value(value: f64, unit: &Unit) -> String {
    match unit {
        Unit::BytesPerSecond => format!("{} MB/s", rate(value)),
        Unit::PerSecond if value < 999.95 => format!("{value:.1}/s"),
        Unit::PerSecond => format!("{}/s", grouped(value)),
        Unit::Nanoseconds => time(value),
        Unit::Percent => format!("{value:.0} %"),
        Unit::Share => percent(value),
        Unit::Count => three_digits(value),
        Unit::Other(unit) => format!("{} {}", three_digits(value), clean(unit)),
    }
}

/// A change in percent with its sign, or as a factor where percents would be hard to read.
pub(crate) fn signed(percent: f64) -> String {
    match percent {
        p if p >= 999.5 => format!("×{}", three_digits(1.0 + p / 100.0)),
        p => format!("{} %", seekwell_stats::signed(p, 1)),
    }
}

pub(super) fn change(metric: &MetricComparison) -> String {
    let Some(percent) = metric.change_percent else { return crate::rows::NONE.to_owned() };
    change_text(percent, metric.interval95_percent.map(|i| (i.low, i.high)))
}

pub(super) fn word(metric: &MetricComparison) -> String {
    let word = match metric.conclusion {
        Conclusion::Faster => "faster",
        Conclusion::Slower => "slower",
        Conclusion::Equivalent => "no difference",
        Conclusion::Undecided => "undecided",
        Conclusion::TooFew => "too few runs",
        Conclusion::Invalid => return "invalid".to_owned(),
        Conclusion::OneEach if metric.usual.as_ref().is_some_and(|u| u.beyond) => {
            return "unusual".to_owned();
        }
        Conclusion::OneEach | Conclusion::NotJudged => return String::new(),
    };
    match metric.role {
        Role::Exploratory => format!("({word})"),
        _ => word.to_owned(),
    }
}

/// Text under the table: what its words mean, as far as they occur.
pub(super) fn legend(against: &Against, rows: &[Row]) -> String {
    let mut parts = Vec::new();
    if against.metrics.iter().any(|m| m.a.n > 1 || m.b.n > 1) {
        parts.push("medians of the runs; change with its 95 % interval");
    }
    if rows.iter().any(|r| r.word.starts_with('(')) {
        parts.push("in brackets: exploratory, not adjusted for the number of metrics");
    }
    if rows.iter().any(|r| r.word == "unusual") {
        parts.push("unusual: a larger change than runs usually show");
    }
    if rows.iter().any(|r| r.a.ends_with("MB/s")) {
        parts.push("MB/s: 10^6 bytes a second");
        let named = |m: &MetricComparison| {
            m.group.starts_with("hdparm") || m.group_title.contains("hdparm")
        };
        if against.metrics.iter().any(named) {
            parts.push(BESIDE_HDPARM);
        }
    }
    parts.join("; ")
}

/// What else differed, one line each; with `all` also what cannot change how fast a disk is.
pub(super) fn setup(against: &Against, shown: Shown) -> Vec<String> {
    let (matter, rest): (Vec<_>, Vec<_>) = against.setup.iter().partition(|d| d.matters);
    let mut lines: Vec<String> = matter.into_iter().map(|d| clean(&in_words(d))).collect();
    match shown {
        Shown::All => lines.extend(rest.into_iter().map(|d| clean(&in_words(d)))),
        Shown::Main if !rest.is_empty() => {
            lines.push(format!("and {} that cannot make a disk faster or slower", rest.len()));
        }
        Shown::Main => {}
    }
    match (against.setup_known, lines.is_empty()) {
        (true, true) => lines.push("nothing that could be read".to_owned()),
        (false, _) => lines.push(
            "how the disks were attached is not known: these files do not record it".to_owned(),
        ),
        (true, false) => {}
    }
    lines
}

/// What stands in the way of the numbers, most serious first.
pub(super) fn warnings(comparison: &Comparison, against: &Against) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if !against.different_workloads.is_empty() {
        let told = against.different_workloads.iter().map(|d| {
            let side = |v: &Option<String>| v.clone().unwrap_or_else(|| "not set".into());
            format!("{} of {}: {} and {}", d.field, d.group, side(&d.a), side(&d.b))
        });
        let told = told.collect::<Vec<_>>().join("; ");
        out.push(("✕ DIFFERENT WORKLOADS:", format!("nothing follows from these numbers. {told}")));
    }
    for side in sides(comparison, against) {
        let name = &side.name;
        if side.modelled {
            out.push(("◇ MODELLED:", format!("{name} is a model and not a disk")));
        }
        for what in &side.not_one_setup {
            out.push(("▲ NOT ONE SET-UP:", format!("the runs of {name} differ in {what}")));
        }
    }
    out.into_iter().map(|(mark, text)| (mark, clean(&text))).collect()
}

pub(super) fn notes(comparison: &Comparison, against: &Against) -> Vec<String> {
    let mut out = Vec::new();
    for (name, only) in [(&against.a, &against.only_in_a), (&against.b, &against.only_in_b)] {
        if !only.is_empty() {
            out.push(format!("only in {name}: {}", only.join(", ")));
        }
    }
    let all = sides(comparison, against);
    for (i, side) in all.iter().enumerate() {
        for why in side.left_out.iter().take(5) {
            let both = all.len() == 2 && all.iter().all(|s| s.left_out.contains(why));
            match (both, i) {
                (true, 0) => out.push(format!("both: {why}")),
                (true, _) => {}
                (false, _) => out.push(format!("{}: {why}", side.name)),
            }
        }
        if side.left_out.len() > 5 {
            out.push(format!("{}: and {} more left out", side.name, side.left_out.len() - 5));
        }
    }
    out.iter().map(|note| clean(note)).collect()
}

pub(super) fn sides<'a>(comparison: &'a Comparison, against: &'a Against) -> Vec<&'a SideSummary> {
    let named = |side: &&SideSummary| side.name == against.a || side.name == against.b;
    comparison.sides.iter().filter(named).collect()
}

/// Names of the two columns, and a line that explains them if they are letters.
pub(super) fn columns(against: &Against) -> ([String; 2], Option<String>) {
    let (a, b) = (clean(&against.a), clean(&against.b));
    let fits = |name: &str| crate::text::columns(name) <= 14;
    if fits(&a) && fits(&b) && a != b {
        return ([a, b], None);
    }
    (["A".into(), "B".into()], Some(format!("A: {a}; B: {b}")))
}

/// A change as an experiment writes it, in the words of a comparison.
pub(crate) fn change_text(percent: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) if low.abs() < 1000.0 && high.abs() < 1000.0 => {
            let (low, high) = (seekwell_stats::signed(low, 1), seekwell_stats::signed(high, 1));
            format!("{} ({low}…{high})", signed(percent))
        }
        _ => signed(percent),
    }
}

/// A value of an experiment's metric, which is named by its unit.
pub(crate) fn metric_value(metric: &str, number: f64) -> String {
    let unit = match metric.rsplit('.').next().unwrap_or(metric) {
        last if last.contains("_ns") || last.starts_with("ns_") => Unit::Nanoseconds,
        last if last.ends_with("bytes_per_s") => Unit::BytesPerSecond,
        last if last.ends_with("_per_s") => Unit::PerSecond,
        last if last.ends_with("percent") => Unit::Percent,
        _ => Unit::Count,
    };
    value(number, &unit)
}
