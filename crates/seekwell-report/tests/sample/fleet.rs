//! A fleet of thirty hosts, one of which negotiated half of the link speed.

use seekwell_compare::Unit;
use seekwell_fleet::{
    Attempt, Deviation, Difference, Fleet, Group, Headline, Limits, Member, Outlier, Test, Value,
};
use seekwell_stats::Margin;
use std::collections::BTreeMap;

const SLOW: usize = 17;

fn headline(phase: &str, title: &str, unit: Unit, median: f64, slow: f64) -> Headline {
    let percent = |member: usize| match member {
        SLOW => slow,
        member => (member * 7 % 11) as f64 / 5.0 - 1.0,
    };
    let value = |member| {
        let percent = percent(member);
        Value { member, value: median * (1.0 + percent / 100.0), percent }
    };
    Headline {
        phase: phase.to_owned(),
        metric: "read.requests_per_s".to_owned(),
        title: title.to_owned(),
        unit,
        n: 30,
        median,
        spread_percent: 0.9,
        limits: Some(Limits { low_percent: -12.0, high_percent: 13.6 }),
        values: (0..30).map(value).collect(),
    }
}

pub fn fleet() -> Fleet {
    let link = |n| if n == SLOW { "3.0 Gbps" } else { "6.0 Gbps" };
    let member = |n: usize| Member {
        host: format!("web{n:02}"),
        target: "/srv".to_owned(),
        run: format!("20261120-2315{n:02}-checkup-5f3a"),
        started_at: format!("2026-11-20T23:15:{n:02}Z"),
        model: Some("EXAMPLE SSD 960".to_owned()),
        firmware: Some("X1".to_owned()),
        serial: Some(format!("S{n:04}")),
        facts: BTreeMap::from([("link".to_owned(), link(n).to_owned())]),
        findings: BTreeMap::new(),
    };
    let metrics = vec![
        headline("rand-read-4k-d32", "read requests", Unit::PerSecond, 91_250.0, -31.4),
        headline("seq-read-1m-d4", "read rate", Unit::BytesPerSecond, 541e6, -48.1),
        headline("commit-4k", "write requests", Unit::PerSecond, 812.0, 0.3),
    ];
    let deviation = |metric: usize| {
        let Value { value, percent, .. } = metrics[metric].values[SLOW];
        Deviation { metric, value, percent }
    };
    Fleet {
        schema: Fleet::SCHEMA.to_owned(),
        label: None,
        since: None,
        test: Test {
            method: "seekwell-outliers/1".to_owned(),
            false_alarm_rate: 0.05,
            comparisons: metrics.len(),
            fewest: 6,
            margin: Margin::THROUGHPUT,
        },
        members: (0..30).map(member).collect(),
        outliers: vec![Outlier {
            member: SLOW,
            group: 0,
            deviations: vec![deviation(1), deviation(0)],
            differences: vec![Difference {
                fact: "link".to_owned(),
                value: Some("3.0 Gbps".to_owned()),
                hosts: 1,
                of: 30,
                others: vec![("6.0 Gbps".to_owned(), 29)],
                sentence: "link: the only one of 30 at 3.0 Gbps; the others: 6.0 Gbps".to_owned(),
            }],
        }],
        failed: vec![Attempt {
            host: "web30".to_owned(),
            target: "/srv".to_owned(),
            run: "20261120-231559-checkup-0001".to_owned(),
            started_at: "2026-11-20T23:15:59Z".to_owned(),
            state: "interrupted".to_owned(),
        }],
        groups: vec![Group {
            model: Some("EXAMPLE SSD 960".to_owned()),
            firmware: Some("X1".to_owned()),
            members: (0..30).collect(),
            metrics,
        }],
    }
}
