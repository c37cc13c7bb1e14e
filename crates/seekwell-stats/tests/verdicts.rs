//! What is said, and that it is said only when the data allow it.

use seekwell_stats::{
    Better, Design, Gate, Margin, Order, Pair, Sample, Verdict, blocks_needed, compare_groups,
    estimate, more_blocks, verdict,
};

const MARGIN: Margin = Margin::THROUGHPUT;

/// Logarithms of ratios given as changes in per cent.
fn changes(percent: &[f64]) -> Vec<f64> {
    percent.iter().map(|x| (x / 100.0).ln_1p()).collect()
}

fn said(percent: &[f64], better: Better) -> String {
    verdict(&changes(percent), MARGIN, better).to_string()
}

#[test]
fn a_rate_that_rose_is_faster_with_its_interval() {
    let d = [4.0, 4.5, 5.0, 5.5, 6.0, 4.8, 5.2, 5.1];
    assert_eq!(said(&d, Better::Higher), "B is faster by 5.0 % (95 % CI 4.5…5.5 %), 8 blocks");
    assert_eq!(said(&d, Better::Lower), "B is slower: 5.0 % higher (95 % CI 4.5…5.5 %), 8 blocks");
}

#[test]
fn a_latency_that_fell_is_faster_and_says_lower() {
    let d = [-20.0; 8];
    assert_eq!(
        said(&d, Better::Lower),
        "B is faster: 20.0 % lower (95 % CI 20.0…20.0 %), 8 blocks"
    );
    assert_eq!(said(&d, Better::Higher), "B is slower by 20.0 % (95 % CI 20.0…20.0 %), 8 blocks");
}

#[test]
fn a_difference_inside_the_margin_is_real_but_below_it() {
    let d = [0.5, 0.6, 0.7, 0.5, 0.6, 0.7, 0.6, 0.6];
    assert_eq!(
        said(&d, Better::Higher),
        "B is faster by 0.60 % (95 % CI 0.55…0.65 %), 8 blocks - real, but below the margin of ±2 %"
    );
}

#[test]
fn no_difference_is_said_only_with_the_ninety_per_cent_interval_inside_the_margin() {
    let d = [-0.5, 0.4, -0.3, 0.6, -0.6, 0.3, 0.1, -0.1, 0.2, -0.2];
    assert_eq!(
        said(&d, Better::Higher),
        "no difference within ±2 % (90 % CI −0.3…+0.2 %), 10 blocks"
    );
}

/// The two one-sided tests are a 90 % interval. Asking for the 95 % interval inside the margin
/// would demand 2.5 % of each test and call this undecided.
#[test]
fn equivalence_is_judged_by_the_ninety_per_cent_interval() {
    let d = [-0.7, -0.2, 0.8, 0.1, 2.9, -1.0, 4.0, -1.2];
    let wide = estimate(&changes(&d)).expect("eight").interval95.expect("an interval");
    assert!(!wide.within(MARGIN.log()), "{wide:?}");
    assert!(said(&d, Better::Higher).starts_with("no difference within ±2 %"));
}

#[test]
fn wide_data_are_undecided_and_say_how_much_more_it_takes() {
    let d = [-3.0, 2.5, -1.5, 3.5, -2.5, 3.0, 1.0, -1.0, 2.0, -0.5];
    let text = said(&d, Better::Higher);
    assert_eq!(
        text,
        "undecided after 10 blocks: the data allow −1.5…+2.2 %; about 26 more blocks would settle \
         ±2 %"
    );
    let wild: Vec<f64> = d.iter().map(|x| 10.0 * x).collect();
    assert!(said(&wild, Better::Higher).contains("above the cap of 40"));
}

#[test]
fn seven_blocks_never_get_a_verdict_however_clear_they_look() {
    let few = verdict(&changes(&[50.0; 7]), MARGIN, Better::Higher);
    assert!(!few.is_decided());
    assert_eq!(few.to_string(), "no verdict: 7 blocks, it takes 8 blocks");
}

#[test]
fn identical_runs_are_no_difference_and_not_an_error() {
    assert!(matches!(
        verdict(&[0.0; 10], MARGIN, Better::Higher),
        Verdict::Equivalent { low90: 0.0, high90: 0.0, .. }
    ));
}

#[test]
fn a_value_that_is_no_number_invalidates_instead_of_being_left_out() {
    let mut d = vec![0.1; 10];
    d[3] = f64::NAN;
    let said = verdict(&d, MARGIN, Better::Higher);
    assert_eq!(said, Verdict::Invalid { gate: Gate::NotANumber { index: 3 } });
    assert!(said.to_string().starts_with("invalid, because "));
    assert_eq!(estimate(&d), None);
}

#[test]
fn six_blocks_have_a_95_per_cent_interval_and_five_have_not() {
    let d = changes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert!(estimate(&d[..5]).expect("five").interval95.is_none());
    let six = estimate(&d).expect("six").interval95.expect("an interval").percent();
    // With six blocks nothing but the whole range has 95 %.
    assert!((six.low - 1.0).abs() < 1e-9 && (six.high - 6.0).abs() < 1e-9, "{six:?}");
}

#[test]
fn a_burst_in_one_arm_is_told_as_typical_and_mean() {
    let mut d: Vec<f64> = (0..20).map(|i| 0.02 + 0.0001 * f64::from(i % 5 - 2)).collect();
    assert_eq!(estimate(&d).expect("twenty").skew, None);
    // The ends are apart by 0.23 and 1.47 half-widths (SciPy's t interval).
    d[4] = 0.0195;
    assert_eq!(estimate(&d).expect("twenty").skew, None);
    d[4] = 0.0188;
    assert!(estimate(&d).expect("twenty").skew.is_some());
    d[4] = -0.2;
    let skew = estimate(&d).expect("ten").skew.expect("skewed");
    assert_eq!(skew.to_string(), "skewed: typical block +2.0 %, mean +0.9 %");
}

#[test]
fn a_pair_and_a_block_of_equal_runs_have_one_value() {
    let pair = Pair { order: Order::Baab, a: 100.0, b: 110.0 };
    assert!((pair.value().expect("positive") - 1.1_f64.ln()).abs() < 1e-12);
    assert_eq!(Pair { b: 0.0, ..pair }.value(), None);
}

#[test]
fn the_number_of_blocks_follows_from_the_pilots_width() {
    // s = 0.02, h = ln 1.02 / 2: (2.2 · 0.02 / 0.0099)² = 19.7.
    let pilot: Vec<f64> = (0..8)
        .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 } * 0.02 * (7.0_f64 / 8.0).sqrt())
        .collect();
    assert_eq!(blocks_needed(&pilot, MARGIN), 20);
    assert_eq!(blocks_needed(&[0.0; 8], MARGIN), 10);
    assert_eq!(blocks_needed(&[0.3, -0.3], MARGIN), 40);
    assert_eq!(blocks_needed(&[0.3], MARGIN), 40);
    // Twice too wide takes four times as many, three times as many more.
    assert_eq!(more_blocks(10, MARGIN.log(), MARGIN), 30);
}

#[test]
fn one_run_each_never_gets_a_verdict() {
    let pair = compare_groups(&[100.0], &[300.0], MARGIN, Better::Higher).expect("values");
    assert_eq!(pair.design, Design::OneEach);
    assert_eq!(pair.verdict.to_string(), "no verdict: one run each");
    assert_eq!((pair.interval95, pair.p), (None, None));
    assert!((pair.percent.expect("a change") - 200.0).abs() < 1e-9);
    assert!(pair.design.caveat().is_some());
}

#[test]
fn three_runs_each_cannot_show_anything_and_four_can() {
    let (a, b) = ([100.0, 101.0, 102.0, 103.0], [200.0, 202.0, 204.0, 206.0]);
    let three = compare_groups(&a[..3], &b[..3], MARGIN, Better::Higher).expect("values");
    assert_eq!(three.verdict.to_string(), "no verdict: 3 runs each, it takes 4 runs each");
    let four = compare_groups(&a, &b, MARGIN, Better::Higher).expect("values");
    assert_eq!(
        four.verdict.to_string(),
        "B is faster by 100.0 % (95 % CI 94.2…106.0 %), 4 runs each"
    );
    assert_eq!(four.design, Design::Separate);
    assert!(four.design.caveat().expect("a caveat").contains("not interleaved"));
    assert_eq!(Design::Interleaved.caveat(), None);
}

#[test]
fn a_run_of_zero_in_a_stored_configuration_is_named() {
    let zero = compare_groups(&[100.0, 0.0], &[100.0; 4], MARGIN, Better::Higher).expect("values");
    assert_eq!(zero.verdict, Verdict::Invalid { gate: Gate::NotANumber { index: 1 } });
    assert_eq!(compare_groups(&[], &[1.0], MARGIN, Better::Higher), None);
}

#[test]
fn a_margin_is_a_fraction_and_reads_as_one() {
    assert_eq!(Margin::new(0.07).expect("a margin").to_string(), "±7 %");
    assert_eq!(Margin::new(0.005).expect("a margin").to_string(), "±0.5 %");
    for bad in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY] {
        assert!(Margin::new(bad).is_err(), "{bad}");
    }
    assert!(serde_json::from_str::<Margin>("2").is_err());
}

#[test]
fn a_stored_verdict_reads_back_as_it_was() {
    let all = [
        verdict(&changes(&[5.0; 8]), MARGIN, Better::Higher),
        verdict(&changes(&[-5.0; 8]), MARGIN, Better::Higher),
        verdict(&[0.0; 8], MARGIN, Better::Higher),
        verdict(&changes(&[9.0, -9.0, 9.0, -9.0, 9.0, -9.0, 9.0, -9.0]), MARGIN, Better::Higher),
        verdict(&[], MARGIN, Better::Higher),
        Verdict::Invalid { gate: Gate::Autocorrelated { lag_one: 0.6 } },
        Verdict::TooFew { have: Sample::Runs { a: 1, b: 2 }, need: Sample::Runs { a: 4, b: 4 } },
    ];
    for verdict in all {
        let text = serde_json::to_string(&verdict).expect("serialises");
        assert_eq!(serde_json::from_str::<Verdict>(&text).expect("reads"), verdict, "{text}");
    }
}
