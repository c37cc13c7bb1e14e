use super::*;
use crate::table::{Cell, Row, Table};
use crate::tables::{DISKS, FINDINGS, METRICS, RUNS, tables};
use seekwell_runs::{Detail, Listing, Measured, RunDocument, RunEntry, RunState, Runs, StoreError};

/// Made-up runs, each with its rows.
#[derive(Default)]
struct Made {
    runs: Vec<RunEntry>,
    rows: [Vec<Row>; 5],
}

impl Runs for Made {
    fn list(&self, _: &Filter) -> Result<Listing, StoreError> {
        Ok(Listing { runs: self.runs.clone(), unreadable: Vec::new() })
    }

    fn load(&self, _: &str) -> Result<(RunDocument, Detail), StoreError> {
        unreachable!("a report reads rows")
    }

    fn each(&self, _: &[&RunEntry], _: &mut dyn FnMut(RunDocument)) -> Result<(), StoreError> {
        unreachable!("a report reads rows")
    }

    fn history(&self, _: &str, _: Option<&str>) -> Result<Vec<Measured>, StoreError> {
        unreachable!("a report reads rows")
    }
}

impl Survey for Made {
    fn rows(&self, _: &[&RunEntry]) -> Result<[Vec<Row>; 5], StoreError> {
        Ok(self.rows.clone())
    }
}

impl Made {
    fn row(&mut self, table: Table, host: &str, cells: &[(&str, Cell)]) {
        let cell = |name: &str| match name {
            "host" => host.into(),
            "run" => format!("run-of-{host}").into(),
            name => cells.iter().find(|(of, _)| *of == name).map_or(Cell::Missing, |c| c.1.clone()),
        };
        let at = tables().iter().position(|t| *t == table).unwrap();
        self.rows[at].push(table.columns.iter().map(|column| cell(column.name)).collect());
    }

    /// A run of a host whose disk has this link speed and read rate.
    fn host(&mut self, host: &str, link: &str, reads: f64) {
        self.runs.push(RunEntry {
            id: format!("run-of-{host}"),
            host: host.to_owned(),
            kind: RunKind::Checkup,
            state: RunState::Complete,
            label: None,
            modelled: false,
            target: "/srv".into(),
            device_model: None,
            device_serial: None,
            kernel: None,
            tool_version: "0.1.0".into(),
            started_at: "2026-11-20T10:00:00Z".into(),
            ended_at: None,
            invalid: false,
            path: None,
        });
        let disk = [("model", "MODEL A".into()), ("firmware", "1".into()), ("link", link.into())];
        self.row(DISKS, host, &disk);
        self.row(RUNS, host, &[("kernel", "6.12".into()), ("cpus", Cell::Int(8))]);
        for (phase, block) in [("rand", 4096.0), ("seq", 1048576.0)] {
            for (metric, value) in
                [("read.requests_per_s", reads), ("read.rate_bytes_per_s", reads * block)]
            {
                let names = [("phase", phase.into()), ("metric", metric.into())];
                self.row(METRICS, host, &[&names[..], &[("median", value.into())]].concat());
            }
        }
    }

    fn report(&self) -> Fleet {
        fleet(self, &Scope::default()).unwrap()
    }
}

/// Equal hosts but for a percent or two.
fn equal(hosts: usize) -> Made {
    let mut made = Made::default();
    for n in 0..hosts {
        made.host(&format!("web{n:02}"), "6.0 Gbps", 1000.0 + (n * 7 % 11) as f64 * 4.0);
    }
    made
}

#[test]
fn the_one_host_of_thirty_at_half_the_link_speed_is_found_with_what_is_different_about_it() {
    let mut made = equal(29);
    made.host("web99", "3.0 Gbps", 510.0);
    let finding = [("finding", "SW-LINK-001".into()), ("title", "The link is slow".into())];
    made.row(FINDINGS, "web99", &finding);
    let report = made.report();
    let [outlier] = report.outliers.as_slice() else { panic!("{:#?}", report.outliers) };
    assert_eq!(report.members[outlier.member].host, "web99");
    assert_eq!(outlier.deviations.len(), 2, "both phases");
    assert!((-51.0..-49.0).contains(&outlier.deviations[0].percent));
    let sentences: Vec<&str> = outlier.differences.iter().map(|d| d.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "link: the only one of 30 at 3.0 Gbps; the others: 6.0 Gbps",
            "finding SW-LINK-001, The link is slow: the only one of 30",
        ]
    );
    let [group] = report.groups.as_slice() else { panic!("{:#?}", report.groups) };
    let told: Vec<_> = group.metrics.iter().map(|m| (&*m.phase, &*m.title, m.n)).collect();
    assert_eq!(told, [("rand", "read requests", 30), ("seq", "read rate", 30)]);
    assert_eq!(report.test.comparisons, 2);
    let json = serde_json::to_string(&report).unwrap();
    let read: Fleet = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

#[test]
fn groups_of_few_hosts_get_no_verdict_and_other_models_are_groups_of_their_own() {
    let mut made = equal(OUTLIER_FLOOR - 2);
    made.host("slow", "6.0 Gbps", 100.0);
    let report = made.report();
    assert_eq!((report.outliers.len(), report.test.comparisons), (0, 0));
    assert!(report.groups[0].metrics.iter().all(|metric| metric.limits.is_none()));
    made.host("another", "6.0 Gbps", 1000.0);
    assert_eq!(made.report().outliers.len(), 1, "as many as it takes");
    let model = DISKS.columns.iter().position(|c| c.name == "model").unwrap();
    made.rows[0][2][model] = "MODEL B".into();
    let report = made.report();
    let sizes: Vec<_> =
        report.groups.iter().map(|g| (g.model.as_deref(), g.members.len())).collect();
    assert_eq!(sizes, [(Some("MODEL A"), 5), (Some("MODEL B"), 1)]);
    assert!(report.outliers.is_empty());
}

#[test]
fn one_host_and_two_hosts_are_reported_and_none_is_refused() {
    for hosts in [1, 2] {
        let report = equal(hosts).report();
        assert_eq!((report.members.len(), report.outliers.len()), (hosts, 0));
        assert_eq!(report.groups[0].metrics[0].n, hosts);
    }
    let refused = fleet(&Made::default(), &Scope::default()).unwrap_err();
    assert!(refused.to_string().contains("no finished checkup"), "{refused}");
    let scope = Scope { label: Some("weekly".into()), since: None };
    let refused = fleet(&Made::default(), &scope).unwrap_err();
    assert!(refused.to_string().contains("the label \"weekly\""), "{refused}");
}

#[test]
fn equal_values_but_for_one_have_that_outlier_and_numbers_that_are_none_are_left_out() {
    let mut made = Made::default();
    for n in 0..12 {
        let reads = match n {
            3 => 700.0,
            4 => f64::NAN,
            5 => 0.0,
            6 => 1010.0,
            _ => 1000.0,
        };
        made.host(&format!("db{n:02}"), "6.0 Gbps", reads);
    }
    let report = made.report();
    assert_eq!(report.groups[0].metrics[0].n, 10);
    let hosts: Vec<_> = report.outliers.iter().map(|o| &report.members[o.member].host).collect();
    assert_eq!(hosts, ["db03"], "1 % more is within the margin");
    assert_eq!(report.groups[0].metrics[0].spread_percent, 0.0);
}

#[test]
fn a_newest_run_that_failed_is_told_beside_the_one_that_counts_and_models_are_left_out() {
    let mut made = equal(8);
    let failed = |host: &str, at: &str, state, invalid| RunEntry {
        id: format!("failed-{host}"),
        state,
        invalid,
        started_at: at.to_owned(),
        host: host.to_owned(),
        ..made.runs[0].clone()
    };
    let later = "2026-11-21T10:00:00Z";
    let runs = [
        failed("web01", later, RunState::Killed, false),
        failed("web02", later, RunState::Complete, true),
        failed("web03", "2026-11-19T10:00:00Z", RunState::Failed, false),
        failed("web90", later, RunState::Interrupted, false),
    ];
    let modelled = RunEntry { modelled: true, ..failed("model", later, RunState::Complete, false) };
    made.runs.extend(runs.into_iter().chain([modelled]));
    let report = made.report();
    let told: Vec<_> = report.failed.iter().map(|f| (&*f.host, &*f.state)).collect();
    assert_eq!(told, [("web01", "killed"), ("web02", "invalid"), ("web90", "interrupted")]);
    assert_eq!(report.members.len(), 8);
}

#[test]
fn what_most_of_a_group_do_not_share_is_no_difference() {
    let mut made = equal(6);
    made.host("slow1", "3.0 Gbps", 300.0);
    made.host("slow2", "3.0 Gbps", 300.0);
    let kernel = RUNS.columns.iter().position(|c| c.name == "kernel").unwrap();
    for (n, row) in made.rows[4].iter_mut().enumerate() {
        row[kernel] = format!("6.12.{n}").into();
    }
    let report = made.report();
    assert_eq!(report.outliers.len(), 2);
    for outlier in &report.outliers {
        let facts: Vec<_> = outlier.differences.iter().map(|d| (&*d.fact, d.hosts, d.of)).collect();
        assert_eq!(facts, [("link", 2, 8)]);
    }
}
