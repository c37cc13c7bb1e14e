//! What is said of a sweep, a limit and steady state, and how it is drawn.

use super::*;
use crate::study::plot::{Panel, Unit, beside};
use crate::text::columns;
use crate::{Style, testing};
use proptest::prelude::*;
use seekwell_runs::{
    Limit, LimitOutcome, Point, Preconditioning, Steady, SteadyOutcome, Sweep, Trial,
};

const PLAIN: Style = Style { color: false };

fn with(study: Study) -> RunDocument {
    let (mut document, _) = testing::rich();
    document.findings.clear();
    document.study = Some(study);
    document
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
    let told = study(&document).expect("a study");
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
        study(&with(Study::Limit(limit(Some(LimitOutcome::Found { requests_per_s: 8_000.0 })))))
            .expect("a study");
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
    let said =
        |outcome| study(&with(Study::Limit(limit(outcome)))).expect("told").sentences[0].clone();
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
    let told = study(&document).expect("a study");
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
    assert_eq!(study(&document), None);
    assert_eq!(preconditioning(&document), None);
    document.kind = seekwell_runs::RunKind::Bench;
    let text = crate::terminal(&document, 80, PLAIN).replace("\n  ", " ");
    assert!(
        text.contains("cost: cached-read: 2,600 ns of CPU for a request, 0.0 % reached the device"),
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
