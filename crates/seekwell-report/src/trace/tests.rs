use super::{trace_stats, trace_stats_markdown};
use crate::html_trace_stats;
use crate::terminal::Style;
use crate::text::columns;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{About, Capture, Clock, Device, Tables};
use seekwell_trace::stats::{Drawing, Options, Stats, TraceStats};

const HOSTILE: &str = "<script>x</script>\u{1b}[2J|`a`";

/// A small trace with everything in it, and untrusted names.
fn sample() -> (TraceStats, Drawing) {
    let mut stats = Stats::new(Options::default());
    let at = |ns| Stamp::at(Nanos(ns));
    let one = |i: u64| {
        let from = i * 700_000 + i % 7 * 11_000;
        let op = if i % 50 == 9 { Op::Flush } else { Op::ALL[usize::from(i.is_multiple_of(3))] };
        let len = if op == Op::Flush { 0 } else { 4096 };
        Record {
            queued: at(from),
            issued: at(from + 3000),
            completed: at(from + 90_000 + i % 13 * 100_000),
            process: 1,
            ..Record::new(op, i * 7919 % 4000 * 4096, len)
        }
    };
    let mut about = About::new("blktrace", Clock::Start, Capture::Both);
    about.losses.lost_events = 3;
    let device = Device { name: HOSTILE.to_owned(), ..Device::default() };
    let processes = vec![String::new(), HOSTILE.to_owned()];
    let tables = Tables { devices: vec![device], processes };
    let records: Vec<_> = (0..4000).map(one).collect();
    stats.update(&records, &about, &tables).expect("there is room");
    stats.finish(HOSTILE)
}

#[test]
fn all_readers_tell_every_part_and_that_events_were_lost() {
    let (stats, drawing) = sample();
    let terminal = trace_stats(&stats, true, 100, Style { color: false });
    let markdown = trace_stats_markdown(&stats);
    let page = html_trace_stats(&stats, &drawing).expect("a page");
    for text in [&terminal, &markdown, &page] {
        for part in super::parts(&stats) {
            assert!(text.contains(part.title), "{}: {text}", part.title);
        }
        assert!(text.contains("INCOMPLETE") && text.contains("3 events were lost"));
        assert!(text.contains("mostly reads"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
    assert!(!markdown.contains("<script>x") && !page.contains("<script>x"));
    assert_eq!(super::parts(&stats).len(), 13);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (stats, _) = sample();
    for width in [60, 80, 120] {
        let told = [true, false].map(|all| trace_stats(&stats, all, width, Style { color: false }));
        for line in told.iter().flat_map(|text| text.lines()) {
            assert!(columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn tables_of_markdown_have_as_many_cells_in_every_row() {
    let (stats, _) = sample();
    let mut expected = 0;
    for line in trace_stats_markdown(&stats).lines() {
        let bars = line.replace("\\|", "").matches('|').count();
        if line.starts_with('|') && expected > 0 {
            assert_eq!(bars, expected, "{line}");
        }
        expected = if line.starts_with('|') { bars } else { 0 };
    }
}
