//! What holds for every input.

use super::super::distribution::{by_middle, classes, deviation, percentiles};
use super::super::prometheus::escape;
use super::super::samples::{Samples, spans};
use super::super::{csv, prometheus};
use super::run;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use seekwell_io::histogram::{BINS, Histogram};
use seekwell_io::measurement::{Interval, Series};
use seekwell_io::units::Nanos;
use seekwell_runs::Spread;
use std::iter::Peekable;
use std::str::Chars;

/// Bins as they may stand in a file, numbers out of range too.
fn bins() -> impl Strategy<Value = Vec<(u32, u64)>> {
    let number = prop_oneof![9 => 0..BINS as u32, 1 => any::<u32>()];
    btree_map(number, 1..5_000_u64, 0..40).prop_map(|bins| bins.into_iter().collect())
}

/// A quoted value as a reader of the format takes it, to the closing quote.
fn unquoted(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut out = String::new();
    if chars.next()? != '"' {
        return None;
    }
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\n' => return None,
            '\\' => out.push(match chars.next()? {
                '\\' => '\\',
                '"' => '"',
                'n' => '\n',
                _ => return None,
            }),
            c => out.push(c),
        }
    }
}

/// The letters of a name of a metric or label.
fn name(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut out = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        out.push(c);
    }
    (!out.is_empty() && !out.starts_with(|c: char| c.is_ascii_digit())).then_some(out)
}

/// A metric's name with its labels.
type Sample = (String, Vec<(String, String)>);

/// One line `NAME{LABEL="VALUE",…} NUMBER`; `None` if it is not one.
fn sample(line: &str) -> Option<Sample> {
    let mut chars = line.chars().peekable();
    let metric = name(&mut chars)?;
    let mut labels = Vec::new();
    if chars.next_if_eq(&'{').is_some() {
        loop {
            let label = name(&mut chars)?;
            chars.next_if_eq(&'=')?;
            labels.push((label, unquoted(&mut chars)?));
            match chars.next()? {
                ',' => {}
                '}' => break,
                _ => return None,
            }
        }
    }
    chars.next_if_eq(&' ')?;
    let value: String = chars.collect();
    value.parse::<f64>().is_ok().then_some((metric, labels))
}

/// Whether a text is in the exposition format, each family in one piece behind its HELP and TYPE,
/// and no sample twice.
fn well_formed(text: &str) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut family = String::new();
    for line in text.strip_suffix('\n').ok_or("no line end at the end")?.split('\n') {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            family = rest.split_once(' ').ok_or("no help")?.0.to_owned();
            if !seen.insert(family.clone()) {
                return Err(format!("{family} in two pieces"));
            }
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            if rest != format!("{family} gauge") {
                return Err(format!("type of another: {line}"));
            }
        } else {
            let (metric, labels) = sample(line).ok_or_else(|| format!("bad: {line}"))?;
            if metric != family || !seen.insert(format!("{metric}{labels:?}")) {
                return Err(format!("out of place or twice: {line}"));
            }
        }
    }
    Ok(())
}

/// A reader of CSV after RFC 4180.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

#[test]
fn the_grammar_knows_bad_lines() {
    for bad in
        ["a{b=\"c} 1\n", "a{b=\"\\x\"} 1\n", "# HELP a b\n# TYPE a gauge\na 1\na 1\n", "1a 1\n"]
    {
        assert!(well_formed(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn a_label_is_read_back_as_it_was(text in any::<String>()) {
        let quoted = format!("\"{}\" rest", escape(&text));
        prop_assert!(!quoted.contains('\n'));
        prop_assert_eq!(unquoted(&mut quoted.chars().peekable()), Some(text));
    }

    #[test]
    fn whatever_a_run_is_called_the_forms_of_text_stay_whole(
        label in any::<String>(), phase in any::<String>(), metric in "[ -~]{1,20}",
        median in any::<f64>().prop_filter("as documents have them", |v| v.is_finite())
    ) {
        let (mut document, _) = run(1);
        document.label = Some(label.clone());
        document.phases[0].name.clone_from(&phase);
        let spread = Spread { median, low: median, high: median, n: 1 };
        document.phases[0].metrics.insert(metric.clone(), spread);
        prop_assert_eq!(well_formed(&prometheus(&[&document])), Ok(()));
        let rows = rows(&csv(&[&document]));
        prop_assert!(rows.iter().all(|row| row.len() == 12));
        let row = rows.iter().find(|row| row[7] == metric).expect("a row for each metric");
        prop_assert_eq!((&row[2], &row[5]), (&label, &phase));
        prop_assert_eq!(row[8].parse::<f64>().unwrap(), median);
    }

    #[test]
    fn percentiles_rise_and_have_at_least_their_share_at_or_below_them(bins in bins()) {
        let total: u64 = bins.iter().map(|(_, n)| n).sum();
        let found = percentiles(&bins);
        let mut last = 0;
        for (key, value) in &found.0 {
            let share = key.parse::<f64>().unwrap() / 100.0;
            prop_assert!(*value >= last);
            last = *value;
            let up_to = |limit: u64, strictly: bool| -> u64 {
                let below = |(bin, _): &&(u32, u64)| {
                    let middle = Histogram::middle_of((*bin as usize).min(BINS - 1));
                    if strictly { middle < limit } else { middle <= limit }
                };
                bins.iter().filter(below).map(|(_, n)| n).sum()
            };
            prop_assert!(up_to(*value, false) as f64 >= share * total as f64);
            prop_assert!((up_to(*value, true) as f64) < share * total as f64);
            prop_assert!(total as f64 * share.min(1.0 - share) >= 9.99);
        }
        prop_assert_eq!(found.0.len() == 17, total >= 100_000);
    }

    #[test]
    fn classes_hold_every_request_once(bins in bins()) {
        let found = classes([bins.as_slice()].into_iter());
        let all = [&found.ns, &found.us, &found.ms];
        let sum: f64 = all.iter().flat_map(|c| &c.0).map(|(_, share)| share).sum();
        let expected = if bins.is_empty() { 0.0 } else { 100.0 };
        prop_assert!((sum - expected).abs() < 1e-6, "{}", sum);
    }

    #[test]
    fn the_deviation_of_bins_is_near_that_of_the_values(values in vec(1..1_u64 << 33, 2..200)) {
        let mut histogram = Histogram::default();
        values.iter().for_each(|ns| histogram.record(Nanos(*ns)));
        let mean = histogram.mean_ns().unwrap();
        let squares: f64 = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
        let exact = (squares / (values.len() - 1) as f64).sqrt();
        let largest = *values.iter().max().unwrap() as f64;
        prop_assert!((deviation(&histogram.sparse()) - exact).abs() <= largest / 64.0);
        let counted: u64 = by_middle(&histogram.sparse()).0.iter().map(|(_, n)| n).sum();
        prop_assert_eq!(counted, values.len() as u64);
    }

    #[test]
    fn spans_follow_each_other_and_hold_no_request_twice(
        counts in vec(0..1_000_u64, 0..50), step in 0..300_u64, elapsed in any::<u64>(),
        at_least in 1..1_000_u64
    ) {
        let mut series = Series::new(Nanos(1));
        series.step_ns = Nanos(step);
        let interval = |n: &u64| Interval { requests: [*n, 0, 0, 0], ..Interval::default() };
        series.steps = counts.iter().map(interval).collect();
        let elapsed = Nanos(elapsed % (60 * step.max(1)));
        let spans = spans(&series, elapsed, Nanos(at_least));
        let mut before = 0;
        for span in &spans {
            let length = span.end.0 - before;
            prop_assert!((span.seconds - Nanos(length).as_secs_f64()).abs() < 1e-12);
            prop_assert!(length * 2 >= at_least && span.end <= elapsed);
            before = span.end.0;
        }
        let held: u64 = spans.iter().map(|s| s.sum.requests[0]).sum();
        prop_assert!(held <= counts.iter().sum());
        let samples = Samples::of(&spans.iter().map(|s| s.seconds).collect::<Vec<_>>());
        prop_assert_eq!(samples.count, spans.len());
        prop_assert!(samples.min as f64 <= samples.mean && samples.mean.is_finite());
    }
}
