//! What is said of a sweep, a limit and steady state, and how it is drawn.

use super::*;
use crate::study::plot::{Panel, Unit, beside};
use crate::text::columns;
use crate::{Style, testing};
use proptest::prelude::*;
use seekwell_runs::{
    Limit, LimitOutcome, Measure, Point, Preconditioning, Pts, PtsCell, PtsFound, PtsKind,
    PtsSeries, PtsTest, PtsWindow, Status, Steady, SteadyOutcome, Sweep, Trial,
};

const PLAIN: Style = Style { color: false };

fn with(study: Study) -> RunDocument {
    let (mut document, _) = testing::rich();
    document.findings.clear();
    document.study = Some(study);
    document
}

/// The only part of what is said.
fn told(document: &RunDocument) -> StudyText {
    let [told] = study(document).try_into().expect("one part");
    told
}

fn depths() -> RunDocument {
    let point = |depth: u32| Point {
        phase: format!("rand-read-4k-d{depth}"),
        values: vec![depth.to_string()],
    };
    let points = [1, 2, 4, 8, 16, 32].map(point).into();
    with(Study::Sweep(Sweep { keys: vec!["iodepth".into()], points }))
}

fn trial(per_s: f64, response_ns: f64, holds: bool, confirms: bool) -> Trial {
    Trial {
        phase: format!("try-{per_s}"),
        requests_per_s: per_s,
        completed_per_s: per_s,
        response_ns: Some(response_ns),
        holds,
        confirms,
    }
}

fn limit(outcome: Option<LimitOutcome>) -> Limit {
    Limit {
        metric: "p99_9".into(),
        bound_ns: 2_000_000,
        closed_phase: "closed".into(),
        closed_requests_per_s: Some(10_000.0),
        trials: vec![
            trial(312.5, 250e3, true, false),
            trial(10_000.0, 90e6, false, false),
            trial(8_000.0, 1.9e6, true, false),
            trial(8_000.0, 1.95e6, true, true),
        ],
        outcome,
    }
}

#[test]
fn a_sweep_is_a_row_for_each_point_and_two_plots() {
    let document = depths();
    let told = told(&document);
    assert_eq!(told.rows.len(), 6);
    assert_eq!(told.columns[..5], ["iodepth", "MB/s", "IOPS", "p50", "p99"]);
    assert_eq!(told.rows[5][0], "32");
    let text = crate::terminal(&document, 80, PLAIN);
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    let iops = text.lines().filter(|line| line.contains('●')).count();
    assert!(iops >= 3, "{text}");
    assert!(!text.contains("seq-read-1m"), "the phases are in the sweep's own table:\n{text}");
}

#[test]
fn a_limit_says_the_rate_its_share_of_the_closed_loop_and_every_rate_tried() {
    let told =
        told(&with(Study::Limit(limit(Some(LimitOutcome::Found { requests_per_s: 8_000.0 })))));
    assert_eq!(told.title, "The highest rate with p99.9 ≤ 2.00 ms");
    assert_eq!(
        told.sentences,
        [
            "8,000 requests/s is the highest rate that keeps p99.9 of the response time within \
             2.00 ms (p99.9 1.95 ms); repeats confirmed it.",
            "That is 80 % of what a closed loop gives, 10.0k requests/s."
        ]
    );
    let rates: Vec<&str> = told.rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(rates, ["312", "8,000", "8,000", "10.0k"]);
    assert_eq!(told.rows[2][0], "kept, confirmed");
}

#[test]
fn every_end_of_a_search_has_a_sentence_of_its_own() {
    let said = |outcome| told(&with(Study::Limit(limit(outcome)))).sentences[0].clone();
    let lowest = said(Some(LimitOutcome::NotEvenLowest { requests_per_s: 312.5 }));
    assert!(lowest.starts_with("Not even 312 requests/s"), "{lowest}");
    let never = said(Some(LimitOutcome::NeverExceeded { requests_per_s: 10_000.0 }));
    assert!(never.contains("never exceeds 2.00 ms"), "{never}");
    assert!(said(Some(LimitOutcome::Unsettled)).starts_with("No limit was found"));
    assert!(said(None).contains("stopped before"));
}

#[test]
fn steady_state_says_which_rounds_count_and_what_was_written_before() {
    let rounds_per_s = vec![4000.0, 2000.0, 1000.0, 1010.0, 990.0, 1000.0, 1000.0];
    let outcome = Some(SteadyOutcome::Reached { from: 2, mean_per_s: 1000.0 });
    let phase = "rand-write-4k-d32".into();
    let mut document = with(Study::Steady(Steady { phase, rounds_per_s, outcome }));
    document.preconditioning = Some(Preconditioning {
        sequential_bytes: 2_000_000_000,
        random_bytes: 2_000_000_000,
        took_ns: 12_000_000_000,
    });
    let told = told(&document);
    let said = "Steady from round 3 to 7: 1,000 requests/s on average; the 2 rounds before them do \
                not count.";
    assert_eq!(told.sentences, [said]);
    assert_eq!(told.rows[2], ["3", "steady", "1,000"]);
    let text = crate::terminal(&document, 80, PLAIN);
    let flat = text.replace('\n', " ");
    assert!(flat.contains("2 GB were written sequentially and 2 GB at random, in 12.0 s"));
    assert!(text.contains("rand-write-4k") || text.contains("random write"), "{text}");
    let page = crate::html(&[(document, testing::rich().1)]).expect("a page");
    assert!(page.contains("Steady from round 3 to 7"));
}

#[test]
fn a_run_without_a_question_is_shown_as_ever_and_a_bench_with_its_costs() {
    let (mut document, _) = testing::rich();
    assert_eq!(study(&document), []);
    assert_eq!(preconditioning(&document), None);
    document.kind = seekwell_runs::RunKind::Bench;
    let text = crate::terminal(&document, 80, PLAIN).replace("\n  ", " ");
    assert!(
        text.contains("cost: cached-read: 2,600 ns of CPU for a request, 0 % reached the device"),
        "{text}"
    );
    assert!(text.contains("the engine alone costs 412 ns for a request"), "{text}");
}

fn panel(lines: Vec<(String, Vec<Option<f64>>)>, places: usize) -> Panel {
    let places = (0..places).map(|i| (1u64 << i).to_string()).collect();
    Panel {
        title: "requests/s".into(),
        along: "iodepth".into(),
        places,
        lines,
        unit: Unit::PerSecond,
    }
}

#[test]
fn a_value_twice_as_high_stands_twice_as_high() {
    let drawn = panel(vec![("x".into(), vec![Some(50.0), Some(100.0)])], 2).draw(20);
    assert_eq!(
        drawn,
        [
            "requests/s",
            " 100 ┤            ●",
            "     │",
            "     │",
            "57.1 ┤",
            "     │●",
            "     │",
            "14.3 ┤",
            "   0 ┤",
            "     └─────────────",
            "      1           2",
        ]
    );
}

proptest! {
    #[test]
    fn no_values_draw_outside_the_width(
        values in prop::collection::vec(
            prop::collection::vec(prop::option::of(0.0f64..1e9), 7), 1..14,
        ),
        width in 24usize..120,
    ) {
        let lines = values.into_iter().enumerate().map(|(i, v)| (format!("line {i}"), v)).collect();
        let panel = panel(lines, 7);
        let pair = beside(&[panel.clone(), panel.clone()], width);
        for line in pair.iter().chain(&panel.draw(width)) {
            prop_assert!(columns(line) <= width, "{line:?}");
        }
    }
}

fn pts_test(kind: PtsKind, cells: &[(u8, u32, u32)], finished: bool) -> PtsTest {
    let cell = |(read_percent, block_bytes, depth): &(u8, u32, u32)| PtsCell {
        phase: format!("r{read_percent}-{block_bytes}-{depth}"),
        read_percent: *read_percent,
        block_bytes: *block_bytes,
        threads: 2,
        depth: *depth,
        found: Some(PtsFound {
            requests_per_s: f64::from(*block_bytes + u32::from(*read_percent) + depth),
            rate_bytes_per_s: 1e6 * f64::from(*block_bytes),
            latency_ns_mean: 1e3 * f64::from(*depth),
            latency_ns_p99_999: None,
            latency_ns_max: 5_000_000,
        }),
    };
    let rounds = vec![2000.0, 1000.0, 1010.0, 1000.0, 1010.0, 1000.0];
    let window = PtsWindow {
        from: 1,
        rounds: 5,
        steady: true,
        mean: 1004.0,
        range: 0.01,
        excursion: -0.001,
    };
    let cells = cells.iter().map(cell).collect();
    let (measure, window) = (Measure::RequestsPerS, Some(window));
    let series = vec![PtsSeries { phase: "tracked".into(), measure, rounds, window, cells }];
    PtsTest { kind, written_first_bytes: 1 << 30, series, finished }
}

fn pts(tests: Vec<PtsTest>) -> RunDocument {
    let short = vec!["cells of 1 s in place of 60 s".into()];
    with(Study::Pts(Pts { short, asked: [].into(), tests }))
}

#[test]
fn the_tests_of_the_specification_have_its_tables() {
    let matrix = [(100, 4096, 1), (0, 4096, 1), (100, 512, 1), (0, 512, 1)];
    let demands = [(0, 4096, 32), (0, 4096, 1)];
    let tests = vec![
        pts_test(PtsKind::Iops, &matrix, true),
        pts_test(PtsKind::Latency, &matrix, true),
        pts_test(PtsKind::Dirth, &demands, true),
    ];
    let parts = study(&pts(tests));
    let rows = |part: usize| parts[part].rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>();
    assert_eq!(rows(0)[0], "tracked: IOPS 2 to 6 yes 1,004 1.0 % -0.1 %");
    assert_eq!(parts[1].columns, ["size", "0/100", "100/0"]);
    assert_eq!(rows(1), ["512 B 513 613", "4 KiB 4,097 4,197"], "small ones and writes first");
    assert_eq!(rows(2)[0], "512 B 0/100 1.00 µs — 5.00 ms");
    assert_eq!(rows(3), ["64 2 32 4,128 32.0 µs — 5.00 ms", "2 2 1 4,097 1.00 µs — 5.00 ms"]);
    let headline = "4,197 random reads and 4,097 writes of 4 KiB a second; 1.00 µs for a read and \
                    1.00 µs for a write of 4 KiB alone; 4,128 writes a second with 64 outstanding.";
    assert_eq!(parts[0].sentences[0], headline);
    assert!(parts[0].sentences[1].ends_with("cells of 1 s in place of 60 s."), "{parts:?}");
    let lines = &parts[0].panels[0].lines;
    assert_eq!(lines[1].1[..2], [Some(2000.0), None], "rounds before the window are apart");
}

#[test]
fn a_test_that_was_stopped_says_how_it_goes_on_and_one_that_has_nothing_says_so() {
    let mut document = pts(vec![pts_test(PtsKind::Tp, &[(100, 4096, 1), (0, 4096, 1)], false)]);
    document.status = Status::Interrupted;
    let said = study(&document)[0].sentences.join(" ");
    assert!(said.contains(&format!("--resume {} goes on", document.id)), "{said}");
    document.status = Status::Complete;
    assert!(!study(&document)[0].sentences.join(" ").contains("--resume"));
    let none = study(&pts(Vec::new()));
    assert_eq!((none.len(), none[0].sentences[0].as_str()), (1, "No test has given a number yet."));
}

#[test]
fn a_plot_of_more_places_than_columns_shows_means_of_neighbours() {
    let values: Vec<_> = (0..1000).map(|i| Some(if i < 500 { 100.0 } else { 50.0 })).collect();
    let panel = Panel {
        title: "rate".into(),
        along: "minute".into(),
        places: (1..=1000).map(|i| i.to_string()).collect(),
        lines: vec![("rate".into(), values)],
        unit: Unit::PerSecond,
    };
    let drawn = panel.draw(80);
    assert!(drawn.iter().all(|line| columns(line) <= 80), "{drawn:#?}");
    let marks = |row: usize| drawn[row].matches('●').count();
    assert!(marks(1) > 20 && marks(5) > 20, "{drawn:#?}");
    assert!(drawn.last().unwrap().ends_with("1000"), "{drawn:#?}");
}
