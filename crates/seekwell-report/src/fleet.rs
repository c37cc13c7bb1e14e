//! Many hosts side by side: terminal and page of one document `seekwell/fleet/1`.

use crate::compare::{signed, value};
use crate::page::table as html_table;
use crate::rows::NONE;
use crate::sheet::Banner;
use crate::terminal::{BOLD, DIM, Page, Style, table};
use crate::text::{clean, escape_html, when};
use anstyle::{AnsiColor, Style as Paint};
use seekwell_fleet::{Fleet, Group, Headline, Member, Outlier};
use serde::Serialize;
use std::collections::BTreeSet;

/// Roughly the most hosts drawn for a metric; every outlier is drawn.
const MOST_DOTS: usize = 500;

/// What the page gets of a fleet: text that is clean, and numbers to draw.
#[derive(Serialize)]
pub(crate) struct Shown {
    pub heading: String,
    /// The answer, then how it was found.
    sentences: Vec<String>,
    banners: Vec<Banner>,
    outliers: Vec<Card>,
    groups: Vec<Block>,
    hosts: Table,
}

/// An outlier, and what is different about it.
#[derive(Serialize)]
struct Card {
    title: String,
    about: String,
    deviations: Vec<String>,
    differences: Vec<String>,
}

/// A group with its metrics.
#[derive(Serialize)]
struct Block {
    title: String,
    note: String,
    table: Table,
    strips: Vec<Strip>,
    /// Each member's values.
    values: Table,
}

/// A metric of all members of a group, to be drawn.
#[derive(Serialize)]
struct Strip {
    title: String,
    median: String,
    /// Members' differences from the median in percent, their names and values, and whether each
    /// is an outlier.
    points: Vec<(f64, String, bool)>,
    /// An outlier lies beyond these, in percent.
    limits: Option<(f64, f64)>,
}

/// Rows of text; the first columns are words, the others numbers.
#[derive(Serialize)]
struct Table {
    caption: String,
    columns: Vec<String>,
    words: usize,
    rows: Vec<Vec<String>>,
}

pub(crate) fn shown(fleet: &Fleet) -> Shown {
    let view = View::new(fleet);
    Shown {
        heading: heading(fleet),
        sentences: view.sentences(),
        banners: banners(fleet),
        outliers: fleet.outliers.iter().map(|outlier| view.card(outlier)).collect(),
        groups: fleet.groups.iter().map(|group| view.block(group)).collect(),
        hosts: hosts(fleet),
    }
}

fn heading(fleet: &Fleet) -> String {
    let label = fleet.label.as_deref().map(|l| format!(", label {}", clean(l))).unwrap_or_default();
    format!("Fleet of {}{label}", counted(fleet.members.iter()))
}

/// How many hosts, and where some have several, how many targets.
fn counted<'a>(members: impl Iterator<Item = &'a Member> + Clone) -> String {
    let targets = members.clone().count();
    let hosts = members.map(|member| member.host.as_str()).collect::<BTreeSet<_>>().len();
    let several = if targets > hosts { format!(", {targets} targets") } else { String::new() };
    format!("{hosts} host{}{several}", if hosts == 1 { "" } else { "s" })
}

/// A fleet, and what its members are called.
struct View<'a> {
    fleet: &'a Fleet,
    /// The host, with its target if it has several.
    names: Vec<String>,
}

impl<'a> View<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        let members = &fleet.members;
        // They are sorted by host.
        let same =
            |at: usize, other: Option<&Member>| other.is_some_and(|o| o.host == members[at].host);
        let name = |(at, member): (usize, &Member)| {
            let before = at.checked_sub(1).and_then(|before| members.get(before));
            let host = clean(&member.host);
            if same(at, before) || same(at, members.get(at + 1)) {
                format!("{host} {}", clean(&member.target))
            } else {
                host
            }
        };
        Self { fleet, names: members.iter().enumerate().map(name).collect() }
    }

    fn sentences(&self) -> Vec<String> {
        let test = &self.fleet.test;
        let answer = match (self.fleet.outliers.as_slice(), test.comparisons) {
            (_, 0) => format!(
                "No verdict: at least {} hosts with disks of one model and firmware are needed.",
                test.fewest
            ),
            ([], _) => "No outliers.".to_owned(),
            ([one], _) => format!("1 outlier: {}.", self.names[one.member]),
            (several, _) => format!("{} outliers.", several.len()),
        };
        let what = if self.fleet.label.is_some() { "run" } else { "checkup" };
        let starts = || self.fleet.members.iter().map(|member| member.started_at.as_str());
        let (first, last) =
            (starts().min().unwrap_or_default(), starts().max().unwrap_or_default());
        let runs = format!(
            "The newest {what} of each host and target, {} to {}.",
            when(first),
            when(last)
        );
        let over = match test.comparisons {
            1 => "in its one comparison".to_owned(),
            several => format!("over all {several} comparisons together"),
        };
        let how = format!(
            "Equal hosts would give a report with any outlier in at most {:.0} % of cases, {over}; \
             differences within {} of the median never count.",
            test.false_alarm_rate * 100.0,
            test.margin
        );
        let how = (test.comparisons > 0).then_some(how);
        [answer, runs].into_iter().chain(how).collect()
    }

    fn card(&self, outlier: &Outlier) -> Card {
        let (member, group) =
            (&self.fleet.members[outlier.member], &self.fleet.groups[outlier.group]);
        let deviation = |deviation: &seekwell_fleet::Deviation| {
            let metric = &group.metrics[deviation.metric];
            format!(
                "{}: {}, {} from the median of {}",
                label(group, metric),
                value(deviation.value, &metric.unit),
                signed(deviation.percent),
                value(metric.median, &metric.unit)
            )
        };
        let serial = member.serial.as_deref().map(|s| format!(", serial {}", clean(s)));
        Card {
            title: self.names[outlier.member].clone(),
            about: format!(
                "{}{}; {} on {}",
                group_name(group),
                serial.unwrap_or_default(),
                clean(&member.run),
                clean(&member.target)
            ),
            deviations: outlier.deviations.iter().map(deviation).collect(),
            differences: match outlier.differences.as_slice() {
                [] => vec!["Nothing known about it differs from most of its group.".to_owned()],
                several => several.iter().map(|d| clean(&d.sentence)).collect(),
            },
        }
    }

    fn block(&self, group: &Group) -> Block {
        let members = group.members.iter().map(|member| &self.fleet.members[*member]);
        let note = match group.members.len() < self.fleet.test.fewest {
            true => format!(
                "Too few hosts for a verdict; at least {} are needed.",
                self.fleet.test.fewest
            ),
            false => String::new(),
        };
        Block {
            title: format!("{}: {}", group_name(group), counted(members)),
            note,
            table: Table {
                caption: "Medians over the hosts, with the lowest and the highest".to_owned(),
                columns: [
                    "phase",
                    "hosts",
                    "median",
                    "spread",
                    "outlier below",
                    "lowest",
                    "highest",
                ]
                .map(str::to_owned)
                .to_vec(),
                words: 1,
                rows: group.metrics.iter().map(|metric| self.row(group, metric)).collect(),
            },
            strips: group.metrics.iter().map(|metric| self.strip(group, metric)).collect(),
            values: self.values(group),
        }
    }

    fn row(&self, group: &Group, metric: &Headline) -> Vec<String> {
        let by_value =
            |a: &&seekwell_fleet::Value, b: &&seekwell_fleet::Value| a.value.total_cmp(&b.value);
        let said = |found: Option<&seekwell_fleet::Value>| {
            found.map_or_else(String::new, |v| {
                format!("{} {}", self.names[v.member], signed(v.percent))
            })
        };
        let below = |limits: seekwell_fleet::Limits| signed(limits.low_percent);
        vec![
            label(group, metric),
            metric.n.to_string(),
            value(metric.median, &metric.unit),
            format!("±{:.1} %", metric.spread_percent),
            metric.limits.map_or_else(|| NONE.to_owned(), below),
            said(metric.values.iter().min_by(by_value)),
            said(metric.values.iter().max_by(by_value)),
        ]
    }

    fn strip(&self, group: &Group, metric: &Headline) -> Strip {
        let beyond = |percent| metric.limits.is_some_and(|limits| limits.exclude(percent));
        let mut values: Vec<&seekwell_fleet::Value> = metric.values.iter().collect();
        values.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        let every = values.len().div_ceil(MOST_DOTS).max(1);
        let last = values.len().saturating_sub(1);
        let drawn = values
            .into_iter()
            .enumerate()
            .filter(|(at, v)| at % every == 0 || *at == last || beyond(v.percent));
        let point = |(_, v): (usize, &seekwell_fleet::Value)| {
            let text = format!("{}: {}", self.names[v.member], value(v.value, &metric.unit));
            (v.percent, text, beyond(v.percent))
        };
        Strip {
            title: label(group, metric),
            median: value(metric.median, &metric.unit),
            points: drawn.map(point).collect(),
            limits: metric.limits.map(|limits| (limits.low_percent, limits.high_percent)),
        }
    }

    /// A row for each member of a group.
    fn values(&self, group: &Group) -> Table {
        let of = |member: usize, metric: &Headline| {
            let found = metric.values.binary_search_by_key(&member, |v| v.member);
            let said = |at: usize| value(metric.values[at].value, &metric.unit);
            found.map_or_else(|_| NONE.to_owned(), said)
        };
        let row = |member: &usize| {
            let name = self.names[*member].clone();
            std::iter::once(name).chain(group.metrics.iter().map(|m| of(*member, m))).collect()
        };
        let metrics = group.metrics.iter().map(|metric| label(group, metric));
        Table {
            caption: "What each host measured".to_owned(),
            columns: std::iter::once("host".to_owned()).chain(metrics).collect(),
            words: 1,
            rows: group.members.iter().map(row).collect(),
        }
    }
}

fn banners(fleet: &Fleet) -> Vec<Banner> {
    let banner = |attempt: &seekwell_fleet::Attempt| Banner {
        kind: "warning",
        mark: format!("▲ {}", attempt.state.to_uppercase()),
        text: format!(
            "The newest run of {} on {}, {} at {}, does not count.",
            clean(&attempt.host),
            clean(&attempt.target),
            clean(&attempt.run),
            when(&attempt.started_at)
        ),
    };
    fleet.failed.iter().map(banner).collect()
}

fn group_name(group: &Group) -> String {
    let model = group.model.as_deref().map_or_else(|| "Disks of unknown model".into(), clean);
    match &group.firmware {
        Some(firmware) => format!("{model}, firmware {}", clean(firmware)),
        None => model,
    }
}

/// What a metric is called in its group.
fn label(group: &Group, metric: &Headline) -> String {
    let alone = group.metrics.iter().filter(|other| other.phase == metric.phase).count() == 1;
    let phase = clean(&metric.phase);
    if alone { phase } else { format!("{phase}, {}", clean(&metric.title)) }
}

fn hosts(fleet: &Fleet) -> Table {
    let row = |member: &Member| {
        let text = |text: Option<&String>| text.map_or_else(|| NONE.to_owned(), |t| clean(t));
        vec![
            clean(&member.host),
            clean(&member.target),
            text(member.model.as_ref()),
            text(member.serial.as_ref()),
            text(member.facts.get("link")),
            text(member.facts.get("kernel")),
            match member.findings.is_empty() {
                true => NONE.to_owned(),
                false => clean(&member.findings.keys().cloned().collect::<Vec<_>>().join(", ")),
            },
            when(&member.started_at),
            clean(&member.run),
        ]
    };
    let columns =
        ["host", "target", "model", "serial", "link", "kernel", "findings", "measured", "run"];
    Table {
        caption: "The newest run that counts of each host and target".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        words: columns.len(),
        rows: fleet.members.iter().map(row).collect(),
    }
}

/// The report in a terminal, at most `width` columns wide (24 at least). Ends with a line end.
pub fn fleet(fleet: &Fleet, width: usize, style: Style) -> String {
    let shown = shown(fleet);
    let mut page = Page::new(width, style);
    let yellow = Paint::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    page.text(&shown.heading, "", "  ", BOLD);
    for (at, sentence) in shown.sentences.iter().enumerate() {
        page.text(sentence, "", "  ", if at == 0 { Paint::new() } else { DIM });
    }
    for banner in &shown.banners {
        page.marked(&banner.mark, &banner.text, "  ", yellow);
    }
    for outlier in &shown.outliers {
        page.blank();
        page.marked("▲ OUTLIER", &format!("{}: {}", outlier.title, outlier.about), "  ", yellow);
        for text in outlier.deviations.iter().chain(&outlier.differences) {
            page.text(text, "  ", "    ", Paint::new());
        }
    }
    for group in &shown.groups {
        page.heading(&group.title);
        if !group.note.is_empty() {
            page.text(&group.note, "  ", "  ", DIM);
        }
        // All but the number of hosts and the limits, for which a terminal has no room.
        let pick = |cells: &[String]| [0, 2, 3, 5, 6].map(|at: usize| cells[at].clone()).to_vec();
        let header = pick(&group.table.columns);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows = group.table.rows.iter().map(|row| pick(row));
        let lines = table(&header, rows, page.width - 2);
        page.lines.extend(lines.lines().map(|line| format!("  {line}").trim_end().to_owned()));
    }
    page.finish()
}

/// What remains of the page where scripts do not run.
pub(crate) fn body(shown: &Shown) -> String {
    let paragraph =
        |class: &str, text: &str| format!("<p class=\"{class}\">{}</p>\n", escape_html(text));
    let mut out = format!("<h1>{}</h1>\n", escape_html(&shown.heading));
    out.extend(shown.sentences.iter().map(|text| paragraph("sentence", text)));
    for banner in &shown.banners {
        out += &paragraph("banner warning", &format!("{} {}", banner.mark, banner.text));
    }
    for outlier in &shown.outliers {
        out += &format!("<h2>Outlier {}</h2>\n", escape_html(&outlier.title));
        out += &paragraph("hint", &outlier.about);
        let said = outlier.deviations.iter().chain(&outlier.differences);
        out.extend(said.map(|text| paragraph("", text)));
    }
    for group in &shown.groups {
        out += &format!("<h2>{}</h2>\n", escape_html(&group.title));
        if !group.note.is_empty() {
            out += &paragraph("hint", &group.note);
        }
        [&group.table, &group.values].into_iter().for_each(|table| out += &static_table(table));
    }
    out + "<h2>Hosts</h2>\n" + &static_table(&shown.hosts)
}

fn static_table(table: &Table) -> String {
    let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    html_table(&table.caption, &columns, table.words, &table.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fleet::fleet as sample;

    #[test]
    fn a_terminal_of_80_columns_has_outliers_with_their_facts_and_each_group() {
        insta::assert_snapshot!(fleet(&sample(), 80, Style { color: false }), @r"
        Fleet of 30 hosts
        1 outlier: web17.
        The newest checkup of each host and target, 2026-11-20 23:15:00 UTC to
          2026-11-20 23:15:29 UTC.
        Equal hosts would give a report with any outlier in at most 5 % of cases, over
          all 3 comparisons together; differences within ±2 % of the median never count.
        ▲ INTERRUPTED The newest run of web30 on /srv, 20261120-231559-checkup-0001 at
          2026-11-20 23:15:59 UTC, does not count.

        ▲ OUTLIER web17: EXAMPLE SSD 960, firmware X1, serial S0017;
          20261120-231517-checkup-5f3a on /srv
          seq-read-1m-d4: 281 MB/s, −48.1 % from the median of 541 MB/s
          rand-read-4k-d32: 62,597/s, −31.4 % from the median of 91,250/s
          link: the only one of 30 at 3.0 Gbps; the others: 6.0 Gbps

        EXAMPLE SSD 960, firmware X1: 30 hosts
          phase             median    spread  lowest         highest
          rand-read-4k-d32  91,250/s  ±0.9 %  web17 −31.4 %  web25 +1.0 %
          seq-read-1m-d4    541 MB/s  ±0.9 %  web17 −48.1 %  web25 +1.0 %
          commit-4k         812.0/s   ±0.9 %  web00 −1.0 %   web25 +1.0 %
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_hosts_with_two_targets_are_named_by_both() {
        let mut two = sample();
        two.members[3].host = "web02".to_owned();
        two.members[3].target = "/var/lib/\u{1b}[31m".to_owned();
        for width in [40, 60, 80, 120] {
            let text = fleet(&two, width, Style { color: false });
            let widest = text.lines().map(crate::text::columns).max();
            assert!(widest <= Some(width), "{width}: {text}");
        }
        let shown = shown(&two);
        assert_eq!(shown.groups[0].values.rows[2][0], "web02 /srv");
        assert_eq!(shown.groups[0].values.rows[3][0], "web02 /var/lib/␛[31m");
        assert!(!body(&shown).contains('\u{1b}'));
    }

    #[test]
    fn a_fleet_without_a_group_that_is_large_enough_has_no_verdict() {
        let mut few = sample();
        (few.outliers, few.failed, few.test.comparisons) = (Vec::new(), Vec::new(), 0);
        few.groups[0].members.truncate(3);
        let text = fleet(&few, 80, Style { color: false });
        assert!(text.contains("No verdict: at least 6 hosts with disks of one model"), "{text}");
        assert!(text.contains("Too few hosts for a verdict; at least 6 are needed."), "{text}");
        assert!(!text.contains("% of cases"), "{text}");
    }

    #[test]
    fn of_very_many_hosts_some_are_drawn_the_outlier_and_both_ends_among_them() {
        let mut many = sample();
        let equal = many.groups[0].metrics[0].values[0];
        many.groups[0].metrics[0].values.extend([equal; 5000]);
        let shown = shown(&many);
        let points = &shown.groups[0].strips[0].points;
        assert!((MOST_DOTS / 2..=MOST_DOTS + 2).contains(&points.len()), "{}", points.len());
        assert_eq!(points.iter().filter(|(_, _, outlier)| *outlier).count(), 1);
        assert_eq!(points.last().map(|point| point.0), Some(1.0));
    }
}
