//! Comparisons as they are printed, from the two published lines and from made-up fio runs.

use super::*;
use crate::terminal::Style;
use crate::testing::questions::{AHCI, PIIX, fio, side};
use seekwell_compare::{Better, Change, Claim, Comparison, Options, Point, Trend, Unit, compare};

const PLAIN: Style = Style { color: false };

fn bonnie() -> Comparison {
    let sides = [side("piix", &[PIIX.to_owned()]), side("ahci", &[AHCI.to_owned()])];
    compare(&sides, &Options::default()).unwrap()
}

fn several() -> Comparison {
    let a = fio("psync", "psync", 1, &[1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0]);
    let b = fio("libaio", "libaio", 1, &[1100.0, 1111.0, 1089.0, 1105.0, 1095.0, 1102.0]);
    let expect = Some(Claim::Faster);
    compare(&[a, b], &Options { expect, ..Options::default() }).unwrap()
}

fn widest(text: &str) -> usize {
    text.lines().map(crate::text::columns).max().unwrap_or(0)
}

#[test]
fn the_two_published_lines_in_a_terminal() {
    insta::assert_snapshot!(comparison(&bonnie(), false, 80, PLAIN), @r"
    ahci against piix: bonnie++, one run each
    one run each: how far two runs of one setting lie apart is not known

    What else differed
      how the disks were attached is not known: these files do not record it

                                           piix       ahci    change
    sequential output, per character  0.45 MB/s  0.44 MB/s    −2.1 %
    sequential output, block          54.0 MB/s  53.9 MB/s    −0.1 %
    rewrite                           27.8 MB/s  28.2 MB/s    +1.3 %
    sequential input, per character   2.09 MB/s  2.12 MB/s    +1.3 %
    sequential input, block           64.3 MB/s  64.5 MB/s    +0.3 %
    random seeks                        228.9/s    224.5/s    −1.9 %
    sequential create                  17,299/s   28,173/s   +62.9 %  unusual
    sequential read (stat)            379,058/s  373,407/s    −1.5 %
    sequential delete                   777.0/s    1,645/s  +111.7 %  unusual
    random create                      24,781/s   31,110/s   +25.5 %  unusual
    random read (stat)                522,877/s  522,376/s    −0.1 %
    random delete                       579.0/s    1,026/s   +77.2 %  unusual
    unusual: a larger change than runs usually show; MB/s: 10^6 bytes a second

    Only create and delete differ by more than runs usually do.
    Create: sequential +63 %, random +26 %.
    Delete: sequential +112 %, random +77 %.
    How far runs usually lie apart is assumed, not measured on this disk: rates
      ±10 %, file operations ±20 %. Longest requests and CPU shares have no usual
      distance.
    ");
}

#[test]
fn several_runs_in_a_terminal() {
    insta::assert_snapshot!(comparison(&several(), false, 80, PLAIN), @r#"
    libaio against psync: rr, 6 runs each
    not interleaved: whatever else changed between the runs is part of the
    difference

    What else differed
      ioengine: psync → libaio
      how the disks were attached is not known: these files do not record it

                           psync   libaio                change
    read requests        1,001/s  1,101/s  +10.0 % (+8.9…+11.1)  faster
    read completion p99  2.00 ms  1.82 ms   −9.1 % (−10.0…−8.2)  (faster)
    medians of the runs; change with its 95 % interval; in brackets: exploratory,
    not adjusted for the number of metrics

    rr: read requests: libaio is faster by 10.0 % (95 % CI 8.9…11.1 %), 6 runs each.

    ✓ The claim "faster" on rr/read.requests_per_s holds.
    "#);
}

#[test]
fn several_runs_as_markdown() {
    insta::assert_snapshot!(comparison_markdown(&several(), false), @r#"
    # libaio against psync: rr, 6 runs each

    rr: read requests: libaio is faster by 10.0 % (95 % CI 8.9…11.1 %), 6 runs each.

    ✓ The claim "faster" on rr/read.requests\_per\_s holds.

    ## What else differed

    - ioengine: psync → libaio
    - how the disks were attached is not known: these files do not record it

    ## Numbers

    | metric | psync | libaio | change | verdict |
    |---|---:|---:|---:|---|
    | read requests | 1,001/s | 1,101/s | +10.0 % (+8.9…+11.1) | faster |
    | read completion p99 | 2.00 ms | 1.82 ms | −9.1 % (−10.0…−8.2) | (faster) |

    not interleaved: whatever else changed between the runs is part of the difference; medians of the runs; change with its 95 % interval; in brackets: exploratory, not adjusted for the number of metrics.
    "#);
}

#[test]
fn different_workloads_are_marked_before_any_number() {
    let sides = [fio("a", "a", 1, &[1000.0]), fio("b", "b", 8, &[4000.0])];
    let forced =
        compare(&sides, &Options { different_workloads: true, ..Options::default() }).unwrap();
    let text = comparison(&forced, false, 80, PLAIN);
    let banner = text.find("✕ DIFFERENT WORKLOADS").expect("a banner");
    assert!(banner < text.find("4,000/s").expect("the number"), "{text}");
    assert!(comparison_markdown(&forced, false).contains("**✕ DIFFERENT WORKLOADS:**"));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_colour_is_written_unasked() {
    for document in [bonnie(), several()] {
        for width in [24, 30, 40, 60, 80, 120] {
            for all in [false, true] {
                let text = comparison(&document, all, width, PLAIN);
                assert!(widest(&text) <= width, "{width}: {text}");
                assert!(!text.contains('\u{1b}'));
            }
        }
        assert!(comparison(&document, false, 80, Style { color: true }).contains('\u{1b}'));
    }
}

#[test]
fn all_shows_the_metrics_and_differences_that_are_left_out_otherwise() {
    let document = bonnie();
    let (some, all) =
        (comparison(&document, false, 80, PLAIN), comparison(&document, true, 80, PLAIN));
    assert!(!some.contains("longest  ") && !some.contains("CPU  "), "{some}");
    assert_eq!(all.matches(", CPU").count(), 12);
}

#[test]
fn names_from_a_file_are_shown_and_not_obeyed() {
    let evil = PIIX.replace("kvm", "\u{1b}[2J\u{202e}evil|`<b>");
    let mut sides = [side("piix", &[PIIX.to_owned()]), side("\u{1b}[31mx", &[evil])];
    sides[1].runs[0].left_out.push("\u{1b}]0;title\u{7}".into());
    let document = compare(&sides, &Options::default()).unwrap();
    let text = comparison(&document, true, 80, PLAIN);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains('\u{202e}'));
    let markdown = comparison_markdown(&document, true);
    assert!(!markdown.contains("<b>") && !markdown.contains('\u{1b}'), "{markdown}");
}

fn history(changes: Vec<Change>, values: &[f64]) -> Trend {
    Trend {
        schema: Trend::SCHEMA.into(),
        method: "m".into(),
        phase: "rand-read-4k-d32".into(),
        phase_title: "random read 4 KiB, depth 32".into(),
        metric: "read.requests_per_s".into(),
        title: "read requests".into(),
        unit: Unit::PerSecond,
        better: Better::Higher,
        label: Some("nightly".into()),
        target: "/srv".into(),
        points: values
            .iter()
            .enumerate()
            .map(|(i, v)| Point {
                run: format!("20261101-0000{i:02}-bench-0a1b"),
                started_at: format!("2026-11-01T00:00:{i:02}Z"),
                value: *v,
                low: v - 1.0,
                high: v + 1.0,
            })
            .collect(),
        changes,
        other_configurations: 2,
        rule: "a rule".into(),
    }
}

#[test]
fn a_history_with_a_change_in_a_terminal() {
    let values = [100.0, 101.0, 99.0, 100.0, 80.0, 81.0, 79.0, 80.0];
    let change = Change {
        run: "20261101-000004-bench-0a1b".into(),
        index: 4,
        before: 100.0,
        after: 80.0,
        percent: -20.0,
        p: 1.2e-7,
        setup: vec!["queue depth (sda): 32 → 1".into()],
    };
    let found = history(vec![change], &values);
    insta::assert_snapshot!(trend(&found, 80, PLAIN), @r"
    random read 4 KiB, depth 32: read requests over 8 runs
    /srv · label nightly · 2026-11-01 00:00:00 UTC to 2026-11-01 00:00:07 UTC · 2
      runs of other configurations left out

    ████▁▁▁▁
    ▁ 79.0/s, █ 101.0/s

    Worse since 20261101-000004-bench-0a1b: 100.0/s → 80.0/s (−20.0 %, p 1.2e-7).
    With that run differed: queue depth (sda): 32 → 1.

    run                         median   lowest – highest
    20261101-000000-bench-0a1b  100.0/s  99.0/s – 101.0/s
    20261101-000001-bench-0a1b  101.0/s  100.0/s – 102.0/s
    20261101-000002-bench-0a1b  99.0/s   98.0/s – 100.0/s
    20261101-000003-bench-0a1b  100.0/s  99.0/s – 101.0/s
    20261101-000004-bench-0a1b  80.0/s   79.0/s – 81.0/s    ← −20.0 %
    20261101-000005-bench-0a1b  81.0/s   80.0/s – 82.0/s
    20261101-000006-bench-0a1b  79.0/s   78.0/s – 80.0/s
    20261101-000007-bench-0a1b  80.0/s   79.0/s – 81.0/s
    ");
    assert!(trend_markdown(&found).contains("| ← −20.0 % |"));
}

#[test]
fn a_history_keeps_to_the_width_and_says_when_there_is_too_little_of_it() {
    let many: Vec<f64> = (0..200).map(f64::from).collect();
    for (values, words) in [(&many[..3], "Too few runs"), (&many[..], "No change was found")] {
        for width in [24, 80] {
            let text = trend(&history(Vec::new(), values), width, PLAIN);
            assert!(widest(&text) <= width, "{width}: {text}");
        }
        assert!(trend(&history(Vec::new(), values), 80, PLAIN).contains(words));
    }
    let one = trend(&history(Vec::new(), &[5.0]), 80, PLAIN);
    assert!(one.contains("over one run") && one.contains('▅'), "{one}");
}
