use super::*;
use crate::model::SourceKind;
use crate::sources::{bonnie, contents};

/// The two lines of a published comparison: the same disk under ata_piix and under ahci.
const PIIX: &str = "1.96,1.96,kvm,1,1252886317,4G,,439,99,52686,15,27168,5,2039,99,62782,4,228.9,3,\
384,,,,,17299,43,379058,99,777,1,24781,49,522877,100,579,1,48125us,1645ms,1545ms,16144us,137ms,\
863ms,1773ms,169us,18519ms,1403ms,14us,14935ms";
const AHCI: &str = "1.96,1.96,kvm,1,1252887577,4G,,430,98,52639,14,27533,5,2066,99,62991,4,224.5,1,\
384,,,,,28173,56,373407,98,1645,2,31110,61,522376,99,1026,1,50870us,1532ms,1655ms,10203us,\
21423us,953ms,1363ms,157us,12877ms,1216ms,61us,11397ms";

fn bonnie(name: &str, text: &str) -> Side {
    let runs = bonnie::read(text, name).unwrap();
    Side { name: name.into(), source: SourceKind::BonnieCsv, runs }
}

/// Runs of fio with these rates, each its own file.
fn fio(name: &str, depth: u32, iops: &[f64]) -> Side {
    let runs = iops.iter().map(|iops| {
        let text = format!(
            r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"rr","error":0,
            "job options":{{"rw":"randread","iodepth":"{depth}"}},
            "read":{{"iops":{iops},"bw_bytes":{},"runtime":1000,"total_ios":1000,
            "lat_ns":{{"mean":{},"max":1e9,"N":1000}}}}}}]}}"#,
            iops * 4096.0,
            1e9 / iops.max(1.0),
        );
        let found = contents(text.as_bytes(), name).unwrap();
        found.configurations.into_iter().next().unwrap().1.remove(0)
    });
    Side { name: name.into(), source: SourceKind::Fio, runs: runs.collect() }
}

fn only(sides: &[Side], options: &Options) -> Against {
    compare(sides, options).unwrap().against.remove(0)
}

fn metric<'a>(against: &'a Against, name: &str) -> &'a MetricComparison {
    against.metrics.iter().find(|m| m.metric == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn of_two_published_lines_only_create_and_delete_differ_by_more_than_runs_usually_do() {
    let against = only(&[bonnie("piix", PIIX), bonnie("ahci", AHCI)], &Options::default());
    assert_eq!(against.heading, "ahci against piix: bonnie++, one run each");
    assert_eq!(
        against.summary[..3],
        [
            "Only create and delete differ by more than runs usually do.",
            "Create: sequential +63 %, random +26 %.",
            "Delete: sequential +112 %, random +77 %.",
        ]
    );
    assert!(against.summary[3].contains("assumed"), "{:?}", against.summary);
    assert_eq!(against.metrics.len(), 36);
    for metric in &against.metrics {
        assert!(
            matches!(metric.conclusion, Conclusion::OneEach),
            "one run each is never a verdict: {metric:?}"
        );
        assert!(metric.interval95_percent.is_none() && metric.p.is_none());
    }
    assert!(metric(&against, "ran_stat.latency_ns_max").usual.is_none(), "14 us and 61 us");
}

#[test]
fn a_word_that_the_topic_explains_is_not_said_twice() {
    let fewer = AHCI.replace("522376", "261188");
    let against = only(&[bonnie("a", AHCI), bonnie("b", &fewer)], &Options::default());
    assert_eq!(against.summary[1], "Stat: random −50 %.");
}

#[test]
fn two_equal_lines_differ_in_nothing() {
    let against = only(&[bonnie("a", PIIX), bonnie("b", PIIX)], &Options::default());
    assert_eq!(against.summary[0], "Nothing differs by more than runs usually do.");
    assert!(against.metrics.iter().all(|m| m.change_percent == Some(0.0)));
}

#[test]
fn lines_of_another_file_size_are_refused_by_the_field_unless_forced() {
    let sides = [bonnie("a", PIIX), bonnie("b", &AHCI.replace("4G", "8G"))];
    let error = compare(&sides, &Options::default()).unwrap_err();
    let CompareError::DifferentWorkloads { differences, .. } = &error else { panic!("{error}") };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].field, "file_size_bytes");
    assert!(error.to_string().contains("--different-workloads"));
    let forced = only(&sides, &Options { different_workloads: true, ..Options::default() });
    assert_eq!(forced.different_workloads.len(), 1);
    assert!(forced.metrics.iter().all(|m| m.conclusion == Conclusion::Invalid));
}

#[test]
fn several_runs_of_each_get_a_verdict_with_an_interval() {
    let a = fio("a", 1, &[1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0]);
    let b = fio("b", 1, &[1100.0, 1111.0, 1089.0, 1105.0, 1095.0, 1102.0]);
    let against = only(&[a, b], &Options::default());
    assert_eq!(against.design, Design::Separate);
    assert!(against.caveat.contains("not interleaved"));
    let rate = metric(&against, "read.requests_per_s");
    assert_eq!((rate.role, rate.conclusion), (Role::Primary, Conclusion::Faster));
    let interval = rate.interval95_percent.unwrap();
    assert!(interval.low < 10.0 && 10.0 < interval.high && interval.low > 8.0, "{interval:?}");
    assert!(rate.sentence.starts_with("b is faster by 10.0 %"), "{}", rate.sentence);
    let mean = metric(&against, "read.latency_ns_mean");
    assert_eq!((mean.role, mean.conclusion), (Role::Exploratory, Conclusion::Faster));
    let bytes = metric(&against, "read.rate_bytes_per_s");
    assert_eq!(bytes.p_adjusted, None, "an exploratory metric takes no part in the adjustment");
}

#[test]
fn a_verdict_that_does_not_stand_among_its_like_is_taken_back() {
    // Four runs of each, wholly apart: p is 2/70, enough for one metric and not for two.
    let mut sides =
        [fio("a", 1, &[10.0, 11.0, 12.0, 13.0]), fio("b", 1, &[20.0, 21.0, 22.0, 23.0])];
    for side in &mut sides {
        for run in &mut side.runs {
            let mut second = run.groups[0].clone();
            second.name = "second".into();
            second.values.iter_mut().for_each(|v| v.value = 100.0 + v.value / 1e9);
            run.groups.push(second);
        }
    }
    let against = only(&sides, &Options::default());
    let rate = metric(&against, "read.requests_per_s");
    assert_eq!(rate.role, Role::Adjusted);
    assert!(rate.p.unwrap() < 0.05 && rate.p_adjusted.unwrap() > 0.05, "{rate:?}");
    assert_eq!(rate.conclusion, Conclusion::Undecided);
    assert!(rate.sentence.contains("not among 2 metrics"), "{}", rate.sentence);
    let metric_name = Some("rr/read.requests_per_s".to_owned());
    let named = only(&sides, &Options { metric: metric_name, ..Options::default() });
    let rate = metric(&named, "read.requests_per_s");
    assert_eq!((rate.role, rate.conclusion), (Role::Primary, Conclusion::Faster));
}

#[test]
fn a_claim_holds_only_where_the_data_show_it() {
    let slow = fio("a", 1, &[1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0]);
    let fast = fio("b", 1, &[1100.0, 1111.0, 1089.0, 1105.0, 1095.0, 1102.0]);
    let same = fio("c", 1, &[1001.0, 1009.0, 991.0, 1004.0, 996.0, 1003.0]);
    let holds = |a: &Side, b: &Side, claim, margin: Option<f64>| {
        let margin = margin.map(|m| Margin::new(m).unwrap());
        let options = Options { expect: Some(claim), margin, ..Options::default() };
        only(&[a.clone(), b.clone()], &options).expectation.unwrap().holds
    };
    assert!(holds(&slow, &fast, Claim::Faster, None));
    assert!(!holds(&slow, &fast, Claim::Slower, None));
    assert!(!holds(&slow, &fast, Claim::Equivalent, None));
    assert!(holds(&slow, &fast, Claim::Equivalent, Some(0.2)), "10 % is within 20 %");
    assert!(holds(&fast, &slow, Claim::Slower, None));
    assert!(holds(&slow, &same, Claim::Equivalent, None));
    assert!(!holds(&slow, &same, Claim::Faster, None));
    let one = fio("d", 1, &[5000.0]);
    assert!(!holds(&fio("a", 1, &[1.0]), &one, Claim::Faster, None), "one run each shows nothing");
    assert!(!holds(&slow, &one, Claim::Faster, None), "six and one are too few");
}

#[test]
fn a_claim_on_no_metric_on_several_or_on_one_without_a_better_is_refused() {
    let sides = [bonnie("a", PIIX), bonnie("b", AHCI)];
    let refused = |metric: Option<&str>| {
        let metric = metric.map(str::to_owned);
        let expect = Some(Claim::Faster);
        compare(&sides, &Options { metric, expect, ..Options::default() }).unwrap_err()
    };
    assert!(matches!(refused(None), CompareError::NoPrimary { .. }));
    let error = refused(Some("speed"));
    assert!(error.to_string().contains("bonnie++/putc.rate_bytes_per_s"), "{error}");
    let sides = [fio("a", 1, &[1.0]), fio("b", 1, &[2.0])];
    let metric = Some("cpu_percent".to_owned());
    let options = Options { metric, expect: Some(Claim::Faster), ..Options::default() };
    assert!(matches!(compare(&sides, &options), Err(CompareError::NotJudged { .. })));
}

#[test]
fn runs_of_one_side_with_different_workloads_are_refused() {
    let mut a = fio("a", 1, &[1000.0, 1001.0]);
    a.runs.extend(fio("a", 8, &[5000.0]).runs);
    let error = compare(&[a, fio("b", 1, &[1.0])], &Options::default()).unwrap_err();
    assert!(matches!(error, CompareError::MixedWorkloads { .. }), "{error}");
    assert!(error.to_string().contains("iodepth"), "{error}");
}

#[test]
fn workloads_are_paired_by_name_then_by_what_they_are() {
    let mut b = fio("b", 1, &[2.0]);
    b.runs[0].groups[0].name = "another name".into();
    let sides = [fio("a", 1, &[1.0]), b.clone()];
    assert!(compare(&sides, &Options::default()).is_ok(), "one workload under two names");
    let mut extra = b.runs[0].groups[0].clone();
    extra.name = "extra".into();
    extra.identity.insert("bs".into(), "8192".into());
    b.runs[0].groups.push(extra);
    let against = only(&[sides[0].clone(), b.clone()], &Options::default());
    assert_eq!(against.only_in_b, ["extra"]);
    b.runs[0].groups[0].identity.insert("bs".into(), "512".into());
    let error = compare(&[sides[0].clone(), b], &Options::default()).unwrap_err();
    assert!(matches!(error, CompareError::NothingInCommon { .. }), "{error}");
}

#[test]
fn every_side_is_held_against_the_first_and_one_side_is_no_comparison() {
    let sides: Vec<Side> = [10.0, 20.0, 30.0].map(|x| fio(&x.to_string(), 1, &[x])).into();
    let all = compare(&sides, &Options::default()).unwrap();
    let pairs: Vec<_> = all.against.iter().map(|x| (x.a.as_str(), x.b.as_str())).collect();
    assert_eq!(pairs, [("10", "20"), ("10", "30")]);
    assert_eq!(compare(&sides[..1], &Options::default()), Err(CompareError::OneSide));
    assert_eq!(compare(&[], &Options::default()), Err(CompareError::OneSide));
}

#[test]
fn a_failed_run_makes_the_comparison_invalid_and_not_a_number() {
    let mut b = fio("b", 1, &[2.0, 2.0, 2.0, 2.0]);
    b.runs[2].groups[0].invalid = Some("fio stopped with error 5".into());
    let against = only(&[fio("a", 1, &[1.0; 4]), b], &Options::default());
    let rate = metric(&against, "read.requests_per_s");
    assert_eq!(rate.conclusion, Conclusion::Invalid);
    assert_eq!(rate.sentence, "invalid, because fio stopped with error 5");
}

#[test]
fn more_runs_than_can_be_tested_exactly_are_cut_to_the_newest_and_it_is_said() {
    let many: Vec<f64> = (0..MOST_RUNS + 5).map(|i| 1000.0 + i as f64).collect();
    let all = compare(&[fio("a", 1, &many), fio("b", 1, &[1.0])], &Options::default()).unwrap();
    assert_eq!(metric(&all.against[0], "read.requests_per_s").a.n, MOST_RUNS);
    assert_eq!(metric(&all.against[0], "read.requests_per_s").a.low, 1005.0);
    assert_eq!(all.sides[0].left_out[0], "only the newest 50 of 55 runs are compared");
}

#[test]
fn values_of_zero_give_no_ratio_and_no_panic() {
    let against = only(&[fio("a", 1, &[0.0; 5]), fio("b", 1, &[1.0; 5])], &Options::default());
    let rate = metric(&against, "read.requests_per_s");
    assert_eq!((rate.change_percent, rate.conclusion), (None, Conclusion::Invalid));
}

#[test]
fn the_document_can_be_read_again() {
    let b = [1100.0, 1111.0, 1089.0, 1105.0, 1095.0, 1102.0];
    let sides = [fio("a", 1, &[1000.0, 1010.0, 990.0, 1005.0]), fio("b", 1, &b)];
    let all = compare(&sides, &Options::default()).unwrap();
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.starts_with(r#"{"schema":"seekwell/compare/1""#));
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), all);
}

#[test]
fn repeats_that_reach_into_each_other_are_not_beyond_what_runs_usually_do() {
    let mut sides = [fio("a", 1, &[1000.0]), fio("b", 1, &[1500.0])];
    let beyond = |sides: &[Side]| {
        let against = only(sides, &Options::default());
        metric(&against, "read.requests_per_s").usual.as_ref().unwrap().beyond
    };
    assert!(beyond(&sides));
    for side in &mut sides {
        side.runs[0].groups[0].values[0].repeats = Some((900.0, 1600.0));
    }
    assert!(!beyond(&sides));
}

#[test]
fn a_limit_that_moved_is_told_and_one_that_did_not_as_well() {
    let limited = |name: &str, by: &str| {
        let mut side = fio(name, 4, &[100.0, 101.0, 99.0, 100.0]);
        for run in &mut side.runs {
            let workload = run.groups[0].name.clone();
            run.limits.insert(workload, by.to_owned());
        }
        side
    };
    let (slow, fast) = (limited("slow", "the bus"), limited("fast", "the medium"));
    let told = |sides: &[Side]| only(sides, &Options::default()).summary.pop().unwrap();
    let moved = told(&[slow.clone(), fast]);
    assert!(moved.starts_with("The limit moved from the bus to the medium: "), "{moved}");
    let same = told(&[slow.clone(), slow]);
    assert!(same.starts_with("Limited by the bus on both sides: "), "{same}");
}
