//! Whether the answers are right.

use super::*;
use crate::{Checked, Claim, Decision};
use seekwell_stats::Verdict;

fn whole(seed: u64, machine: &mut Virtual) -> Document {
    let mut document = document(seed);
    session(&mut document, machine, &mut Nowhere);
    document
}

fn verdict(document: &Document) -> &Verdict {
    let conclusion = document.conclusion.as_ref().expect("it has ended");
    conclusion.verdict.as_ref().unwrap_or_else(|| panic!("{}", conclusion.sentence))
}

/// Of 200 experiments on two arms that are the same, those that say they differ. 5 % is 10 of 200;
/// 20 or more has a chance of 0.3 %, and the seeds are fixed.
fn false_alarms(noise: f64, drift: f64) -> u32 {
    let differ = |seed: u64| {
        let document = whole(seed, &mut Virtual::new(1.0, noise, drift));
        let verdict = &document.conclusion.expect("it has ended").verdict;
        u32::from(matches!(verdict, Some(Verdict::Faster { .. } | Verdict::Slower { .. })))
    };
    (0..200).map(differ).sum()
}

#[test]
fn of_two_arms_that_are_the_same_one_in_twenty_comes_out_different_and_no_more() {
    let alarms = false_alarms(0.02, 1.0);
    assert!((1..20).contains(&alarms), "{alarms} of 200");
}

#[test]
fn a_disk_that_becomes_slower_all_the_time_makes_no_arm_the_winner() {
    let alarms = false_alarms(0.005, 0.998);
    assert!(alarms < 20, "{alarms} of 200");
}

#[test]
fn five_per_cent_are_found_and_told_as_five_per_cent() {
    // A gate of level 1 % closes by chance now and then.
    let (mut covered, mut invalid) = (0, 0);
    for seed in 0..60 {
        let document = whole(seed, &mut Virtual::new(1.05, 0.01, 0.999));
        match document.conclusion.as_ref().and_then(|c| c.verdict.as_ref()) {
            Some(Verdict::Faster { low, high, .. }) => {
                covered += u32::from((*low..=*high).contains(&5.0));
            }
            None => invalid += 1,
            Some(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(invalid <= 3, "{invalid} of 60 invalid");
    assert!(covered >= 51, "the interval held the truth {covered} times of 60");
}

#[test]
fn a_self_test_never_says_that_one_arm_is_faster() {
    let mut failed = 0;
    for seed in 0..200 {
        let mut document = document(seed);
        document.design.aa = true;
        document.b = document.a.clone();
        session(&mut document, &mut Virtual::new(1.0, 0.02, 1.0), &mut Nowhere);
        let conclusion = document.conclusion.expect("it has ended");
        let said = &conclusion.sentence;
        assert!(!said.contains("faster") && !said.contains("slower"), "{said}");
        failed += u32::from(said.contains("came out"));
    }
    assert!(failed < 20, "{failed} of 200 self-tests failed on a sound machine");
}

#[test]
fn a_self_test_on_a_machine_that_favours_an_arm_fails() {
    let mut document = document(3);
    document.design.aa = true;
    session(&mut document, &mut Virtual::new(1.1, 0.01, 1.0), &mut Nowhere);
    let conclusion = document.conclusion.expect("it has ended");
    assert_eq!(conclusion.decision, Decision::Invalid);
    assert!(conclusion.sentence.contains("came out +1"), "{}", conclusion.sentence);
}

#[test]
fn the_number_of_blocks_follows_from_the_noise_and_not_from_the_effect() {
    for effect in [1.0, 1.03, 1.5] {
        let blocks = |noise: f64| whole(7, &mut Virtual::new(effect, noise, 1.0)).planned_blocks;
        assert_eq!(blocks(0.001), Some(10), "effect {effect}");
        let middle = blocks(0.018).expect("planned");
        assert!((11..40).contains(&middle), "effect {effect}: {middle}");
        assert_eq!(blocks(0.1), Some(40), "effect {effect}");
    }
}

#[test]
fn a_number_of_blocks_that_was_fixed_is_made_whatever_the_noise() {
    let mut document = document(7);
    document.design.blocks = Some(9);
    session(&mut document, &mut Virtual::new(1.0, 0.1, 1.0), &mut Nowhere);
    assert_eq!((document.complete_blocks(), document.runs.len()), (9, 36));
    assert_eq!(document.conclusion.expect("it has ended").decision, Decision::Undecided);
}

#[test]
fn pairs_take_half_the_runs_and_find_the_same() {
    let mut document = document(11);
    document.design.shape = Shape::Pairs;
    session(&mut document, &mut Virtual::new(1.05, 0.003, 1.0), &mut Nowhere);
    assert_eq!(document.runs.len(), 20);
    assert!(matches!(verdict(&document), Verdict::Faster { .. }));
}

#[test]
fn a_claim_is_held_against_the_verdict() {
    for (claim, holds) in
        [(Claim::Faster, true), (Claim::Slower, false), (Claim::Equivalent, false)]
    {
        let mut document = document(5);
        document.expect = Some(claim);
        session(&mut document, &mut Virtual::new(1.2, 0.01, 1.0), &mut Nowhere);
        assert_eq!(document.conclusion.expect("ended").claim_holds, Some(holds), "{claim:?}");
    }
}

#[test]
fn a_run_that_fails_ends_the_experiment_without_a_verdict_and_everything_is_put_back() {
    let mut machine = Virtual::new(1.5, 0.01, 1.0);
    machine.fails_at = Some(21);
    let mut document = document(1);
    let setting = Setting { key: "scheduler".to_owned(), value: "none".to_owned() };
    document.a.settings.push(setting.clone());
    document.b.settings.push(setting);
    session(&mut document, &mut machine, &mut Nowhere);
    assert_eq!((document.status, document.runs.len()), (Status::Invalid, 22));
    assert_eq!(machine.settings, machine.original);
    let conclusion = document.conclusion.expect("it has ended");
    assert_eq!((conclusion.decision, conclusion.verdict), (Decision::Invalid, None));
    let said = conclusion.sentence;
    assert!(said.starts_with("invalid, because run 22 (") && said.contains("8192"), "{said}");
}

#[test]
fn a_setting_that_is_refused_ends_the_experiment_and_is_named() {
    let mut machine = Virtual::new(1.0, 0.01, 1.0);
    machine.refuses = Some("bfq");
    let mut document = document(1);
    document.b.settings = vec![Setting { key: "scheduler".to_owned(), value: "bfq".to_owned() }];
    session(&mut document, &mut machine, &mut Nowhere);
    let said = document.conclusion.expect("it has ended").sentence;
    assert!(said.contains("scheduler=bfq was not set: refused"), "{said}");
}

#[test]
fn a_metric_that_the_runs_do_not_give_ends_it_with_those_they_give() {
    let mut document = document(1);
    document.design.metric = "write.requests_per_s".to_owned();
    session(&mut document, &mut Virtual::new(1.0, 0.01, 1.0), &mut Nowhere);
    assert_eq!(document.runs.len(), 1);
    let said = document.conclusion.expect("it has ended").sentence;
    assert!(said.contains("it gives read.rate_bytes_per_s, read.requests_per_s"), "{said}");
}

#[test]
fn another_kernel_setting_after_the_runs_closes_the_gate() {
    let mut machine = Virtual::new(1.5, 0.01, 1.0);
    machine.later = Some((1, other_kernel("9.9.9-other")));
    let document = whole(1, &mut machine);
    let conclusion = document.conclusion.expect("it has ended");
    assert_eq!((conclusion.decision, conclusion.verdict), (Decision::Invalid, None));
    assert!(conclusion.sentence.contains("9.9.9-other"), "{}", conclusion.sentence);
}

#[test]
fn runs_that_lose_speed_half_way_are_no_steady_state() {
    // A write cache that is full after half of each run.
    let mut machine = Virtual::new(1.0, 0.01, 1.0);
    machine.course = [vec![1.6; 5], vec![0.4; 5]].concat();
    let mut document = document(1);
    document.a.job.runtime_ns = Nanos::from_millis(10_000);
    document.b.job.runtime_ns = Nanos::from_millis(10_000);
    let steady = |document: &Document| {
        let checks = &document.conclusion.as_ref().expect("it has ended").checks;
        checks.iter().find(|c| c.name == "steady").expect("it is checked").checked
    };
    let mut flat = document.clone();
    session(&mut document, &mut machine, &mut Nowhere);
    assert_eq!(steady(&document), Checked::Failed);
    machine = Virtual::new(1.0, 0.01, 1.0);
    machine.course = vec![1.0; 10];
    session(&mut flat, &mut machine, &mut Nowhere);
    assert_eq!(steady(&flat), Checked::Passed);
}

#[test]
fn other_programs_on_the_processors_are_a_warning_and_a_model_has_none() {
    let check = |others: Option<f64>| {
        let mut document = document(3);
        let mut machine = Virtual::new(1.5, 0.01, 1.0);
        machine.others = others;
        session(&mut document, &mut machine, &mut Nowhere);
        let percent = document.runs[0].condition.other_programs_percent;
        assert_eq!(percent, others.map(|share| 100.0 * share));
        let conclusion = document.conclusion.expect("it has ended");
        assert_eq!(conclusion.decision, Decision::Decided);
        conclusion.checks.into_iter().find(|c| c.name == "other-programs")
    };
    let busy = check(Some(0.5)).expect("it is checked");
    assert_eq!(busy.checked, Checked::Warning);
    let said = "up to 50 % of all processors (run 1), on average 50 % in runs of A and 50 %";
    assert!(busy.text.contains(said), "{}", busy.text);
    assert_eq!(check(Some(0.125)).expect("it is checked").checked, Checked::Passed);
    assert_eq!(check(None), None);
}

#[test]
fn a_disk_that_gets_too_hot_ends_the_experiment_and_no_verdict_is_given() {
    let mut document = document(3);
    let mut machine = Virtual::new(1.5, 0.01, 1.0);
    machine.hot_at = Some(9);
    session(&mut document, &mut machine, &mut Nowhere);
    assert_eq!((document.status, document.runs.len()), (Status::Invalid, 10));
    let conclusion = document.conclusion.unwrap();
    assert_eq!(conclusion.decision, Decision::Invalid);
    let why = "the disk is at 85 °C, and its limit is 84 °C";
    assert!(conclusion.sentence.contains(why), "{}", conclusion.sentence);
    let check = conclusion.checks.iter().find(|c| c.name == "condition").unwrap();
    assert_eq!(check.checked, Checked::Failed);
    assert!(check.text.contains("run 10, the disk is at 85"), "{}", check.text);
    let errors = conclusion.checks.iter().find(|c| c.name == "errors").unwrap();
    assert_eq!(errors.checked, Checked::Passed, "no request failed");
}
