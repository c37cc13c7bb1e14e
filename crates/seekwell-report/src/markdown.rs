//! A run as Markdown, for an issue, a wiki or a pull request.

use crate::describe::{headings, not_a_disk, sentence};
use crate::fidelity::fidelity;
use crate::figures::figures;
use crate::limits;
use crate::rows::{NONE, Row, rows};
use crate::study::{preconditioning, study};
use crate::suite::{StepRow, steps};
use crate::terminal::worst_first;
use crate::text::{clean_lines, escape_markdown as escape, markdown_row, when};
use seekwell_inspect::{Finding, Severity};
use seekwell_runs::{RunDocument, Status};
use std::fmt::Write;

/// The summary of a run in GitHub-flavoured Markdown. Ends with a line end.
pub fn markdown(document: &RunDocument) -> String {
    let mut out = format!("# {}\n\n", escape(&headings(document)));
    if let Some((mark, said)) = not_a_disk(document) {
        out += &format!("**{mark}**: {}.\n\n", escape(&said));
    }
    for why in &document.invalid {
        out += &format!("**✕ INVALID**: {}\n\n", escape(why));
    }
    if document.status != Status::Complete {
        out += "**▲ INCOMPLETE**: this run did not finish; finished phases are shown.\n\n";
    }
    for said in &document.summary {
        out += &format!("{}\n\n", escape(said));
    }
    out += &format!("{}\n\n", escape(&sentence(document)));
    write_figures(&mut out, document);
    write_study(&mut out, document);
    write_rows(&mut out, &rows(document));
    write_steps(&mut out, &steps(document));
    write_limits(&mut out, document);
    write_fidelity(&mut out, document);
    match (document.findings.is_empty(), document.summary.is_empty()) {
        (true, true) => out += "## Findings\n\nNo problems were found.\n\n",
        (true, false) => {}
        (false, _) => out += "## Findings\n\n",
    }
    for finding in worst_first(&document.findings) {
        write_finding(&mut out, finding);
    }
    write_about(&mut out, document);
    out
}

fn write_figures(out: &mut String, document: &RunDocument) {
    let figures = figures(document);
    if figures.is_empty() {
        return;
    }
    out.push_str("| figure | median | lowest – highest | repeats |\n|---|---:|---:|---:|\n");
    for f in figures {
        let range = f.range.as_deref().unwrap_or("—");
        *out += &markdown_row([f.label.as_str(), &f.with_unit(), range, &f.repeats.to_string()]);
    }
    out.push('\n');
}

fn write_rows(out: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("## Phases\n\n");
    out.push_str(
        "| phase | operation | MB/s | IOPS | p50 | p99 | p99.9 | spread | CPU ns/request | ",
    );
    let amplified = rows.iter().any(|row| row.amplification != NONE);
    let column = if amplified { [" write amplification |", "---:|"] } else { [""; 2] };
    let _ = writeln!(out, "requests/call | reached the device |{}", column[0]);
    let _ = writeln!(out, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|{}", column[1]);
    for r in rows {
        let title = match &r.remark {
            Some(why) => format!("{} ({why})", r.title),
            None => r.title.clone(),
        };
        let cells = [
            &title,
            &r.op,
            &r.rate,
            &r.iops,
            &r.p50,
            &r.p99,
            &r.p99_9,
            &r.spread,
            &r.cpu,
            &r.calls,
            &r.device_share,
            &r.amplification,
        ];
        *out += &markdown_row(&cells[..cells.len() - usize::from(!amplified)]);
    }
    out.push_str(
        "\nMB/s: 10^6 bytes a second. Medians of the valid repeats; spread: highest less ",
    );
    out.push_str("lowest repeat, over the median.\n\n");
}

fn write_study(out: &mut String, document: &RunDocument) {
    if let Some(said) = preconditioning(document) {
        let _ = writeln!(out, "{}\n", escape(&said));
    }
    for (part, told) in study(document).iter().enumerate() {
        let _ = writeln!(out, "## {}\n", escape(&told.title));
        // The first sentence heads the report.
        told.sentences.iter().skip(usize::from(part == 0)).for_each(|said| {
            let _ = writeln!(out, "{}\n", escape(said));
        });
        let kinds = (0..told.columns.len()).map(|i| if i < told.words { "---|" } else { "---:|" });
        let _ = writeln!(out, "{}|{}", markdown_row(&told.columns), kinds.collect::<String>());
        out.extend(told.rows.iter().map(markdown_row));
        out.push('\n');
    }
}

fn write_steps(out: &mut String, steps: &[StepRow]) {
    if steps.is_empty() {
        return;
    }
    out.push_str("## Steps\n\n| step | result | CPU | longest | spread | and |\n");
    out.push_str("|---|---:|---:|---:|---:|---|\n");
    for s in steps {
        let others: Vec<String> = s.others.iter().map(|(n, v)| format!("{n} {v}")).collect();
        let said = s.notes.iter().chain(&s.remark).cloned();
        let rest: Vec<String> = others.into_iter().chain(said).collect();
        let rest = rest.join("; ");
        let cells = [&s.title, &s.result, &s.cpu, &s.longest, &s.spread, &rest];
        *out += &markdown_row(cells);
    }
    out.push('\n');
}

fn write_limits(out: &mut String, document: &RunDocument) {
    let rows = limits::limits(document);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {}\n", limits::TITLE);
    *out += &markdown_row(limits::COLUMNS);
    out.push_str("|---|---|---|---|---|\n");
    out.extend(rows.iter().map(|row| markdown_row(row.cells())));
    out.push('\n');
}

fn write_fidelity(out: &mut String, document: &RunDocument) {
    for faith in fidelity(document) {
        let _ = writeln!(out, "## Fidelity of {}\n", escape(&faith.title));
        let _ = writeln!(out, "{}\n", escape(&faith.sentence));
        let n = faith.rows.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let head: String = (1..=n).map(|i| format!(" repeat {i} |")).collect();
        let _ = writeln!(out, "| |{head}\n|---|{}", "---:|".repeat(n));
        for (name, values) in &faith.rows {
            *out += &markdown_row([name].into_iter().chain(values));
        }
        out.push('\n');
    }
}

fn write_finding(out: &mut String, finding: &Finding) {
    let word = match finding.severity {
        Severity::Error => "✕ Error",
        Severity::Warning => "▲ Warning",
        Severity::Info => "● Note",
    };
    let _ = writeln!(out, "### {word}: {}\n", escape(&finding.title));
    let _ = writeln!(out, "{}\n", escape(&finding.why));
    for e in &finding.evidence {
        let _ = writeln!(out, "- seen: {} ({})", escape(&e.seen), escape(&e.from));
    }
    let lines = clean_lines(&finding.remedy);
    let longest = lines.iter().map(|l| longest_run_of_backticks(l)).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let _ = writeln!(out, "\n{fence}\n{}\n{fence}\n", lines.join("\n"));
    let _ = writeln!(out, "{}\n", escape(&finding.id));
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn write_about(out: &mut String, document: &RunDocument) {
    out.push_str("## About this run\n\n");
    let kernel = document.inspection.host.kernel.as_ref();
    let about = [
        ("run", Some(document.id.clone())),
        ("label", document.label.clone()),
        ("target", Some(document.inspection.target.clone())),
        ("started", Some(when(&document.started_at))),
        ("kernel", kernel.map(|k| k.value.clone())),
        ("seekwell", Some(document.tool.version.clone())),
        ("engine", Some(document.engine.name.clone())),
    ];
    for (name, value) in about {
        if let Some(value) = value {
            let _ = writeln!(out, "- {name}: {}", escape(&value));
        }
    }
    for m in &document.inspection.missing {
        let (what, why, from) = (escape(&m.what), escape(&m.reason), escape(&m.from));
        let _ = writeln!(out, "- could not be read: {what}: {why} ({from})");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_rich_run_as_markdown() {
        insta::assert_snapshot!(markdown(&testing::rich().0), @r"
        # Example NV-1000 Pro (nvme0n1), 1 TB, nvme (nvme at 0000:01:00.0), ext4 at /home

        It reads 3,423 MB/s and writes 2,723 MB/s in sequence, answers 13.4k random reads a second at depth 1 and 339k at depth 128, and makes 1,409 writes a second durable.

        | figure | median | lowest – highest | repeats |
        |---|---:|---:|---:|
        | sequential read | 3,423 MB/s | 3,418 – 3,454 | 3 |
        | sequential write | 2,723 MB/s | 2,696 – 2,764 | 3 |
        | random read 4 KiB, depth 1 | 13.4k IOPS | 13.2k – 13.4k | 3 |
        | random read 4 KiB, depth 128 | 339k IOPS | 338k – 344k | 3 |
        | commits (write and flush) | 1,409 /s | p99 1.70 ms | 3 |

        ## Phases

        | phase | operation | MB/s | IOPS | p50 | p99 | p99.9 | spread | CPU ns/request | requests/call | reached the device |
        |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        | cached read 1 MiB, depth 1 (page cache, as hdparm -T) | read | 10,450 | 9,966 | 99.8 µs | 109 µs | — | 1.6 % | 2,600 | — | 0 % |
        | sequential read 1 MiB, depth 4 | read | 3,423 | 3,264 | 1.19 ms | 1.45 ms | — | 1.0 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 1 | read | 54.9 | 13.4k | 72.2 µs | 106 µs | 334 µs | 1.6 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 2 | read | 107 | 26.2k | 73.2 µs | 109 µs | 342 µs | 0.9 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 4 | read | 210 | 51.3k | 74.2 µs | 110 µs | 346 µs | 1.4 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 8 | read | 391 | 95.3k | 79.4 µs | 118 µs | 362 µs | 2.6 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 16 | read | 711 | 174k | 88.6 µs | 132 µs | 428 µs | 2.0 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 32 | read | 1,062 | 259k | 118 µs | 175 µs | 537 µs | 3.6 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 64 | read | 1,364 | 333k | 183 µs | 272 µs | 815 µs | 2.2 % | 2,600 | — | 100 % |
        | random read 4 KiB, depth 128 | read | 1,390 | 339k | 367 µs | 545 µs | 1.71 ms | 1.6 % | 2,600 | — | 100 % |
        | sequential write 1 MiB, depth 4 | write | 2,723 | 2,597 | 1.48 ms | 3.16 ms | — | 2.5 % | 2,600 | — | 100 % |
        | random write 4 KiB, depth 1 | write | 168 | 41.1k | 21.4 µs | 40.2 µs | 105 µs | 2.3 % | 2,600 | — | 100 % |
        | random write 4 KiB, depth 32 | write | 941 | 230k | 131 µs | 241 µs | 618 µs | 1.5 % | 2,600 | — | 100 % |
        | 70 % reads, 30 % writes, random 4 KiB, depth 32 | read | 390 | 95.3k | 232 µs | 684 µs | 1.20 ms | 1.7 % | 2,600 | — | 100 % |
        | 70 % reads, 30 % writes, random 4 KiB, depth 32 | write | 167 | 40.7k | 148 µs | 395 µs | 766 µs | 1.7 % | 2,600 | — | 100 % |
        | commit: write 4 KiB and flush, depth 1 | write | 5.77 | 1,409 | 22.1 µs | 36.1 µs | — | 4.3 % | 2,600 | — | 100 % |
        | commit: write 4 KiB and flush, depth 1 | commit | — | 1,409 | 684 µs | 1.70 ms | — | 4.3 % | 2,600 | — | 100 % |

        MB/s: 10^6 bytes a second. Medians of the valid repeats; spread: highest less lowest repeat, over the median.

        ## Findings

        ### ▲ Warning: The disk's PCIe link runs at 2 lanes of 4.

        At this width the link carries half of what the disk can give, so sequential rates end at the link and not at the disk.

        - seen: current link width 2 (/sys/bus/pci/devices/0000:01:00.0/current\_link\_width)
        - seen: largest link width 4 (/sys/bus/pci/devices/0000:01:00.0/max\_link\_width)
        - seen: sequential read 3,423 MB/s (seq-read-1m)

        ```
        Move the disk to the slot nearest the CPU, then look again:
        seekwell inspect /dev/nvme0n1
        ```

        SW-LINK-001

        ### ● Note: Requests are not merged by a scheduler, as is right for this disk.

        A disk this fast gains nothing from sorting requests, and sorting costs CPU time.

        - seen: scheduler none (/sys/block/nvme0n1/queue/scheduler)

        ```
        Nothing: leave it as it is.
        ```

        SW-QUEUE-003

        ## About this run

        - run: 20261120-231502-checkup-5f3a
        - target: /home/anna
        - started: 2026-11-20 23:15:02 UTC
        - kernel: 6.18.2-amd64
        - seekwell: 0.1.0
        - engine: io\_uring
        - could not be read: temperature and media errors: permission denied; sudo seekwell inspect /home/anna reads it (/dev/nvme0)
        ");
    }

    #[test]
    fn a_degraded_run_with_hostile_names_as_markdown() {
        insta::assert_snapshot!(markdown(&testing::degraded().0), @r"
        # ␛\[2J␛\]0;owned␇\<script\>alert(1)\</script\>\</template\>\|\`x\` (sdz), fuse.\<b\> at /mnt/long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-

        **✕ INVALID**: the disk was hot: \<img src=x onerror=alert(1)\> 71 °C

        **▲ INCOMPLETE**: this run did not finish; finished phases are shown.

        It answers 414 random reads a second at depth 1.

        | figure | median | lowest – highest | repeats |
        |---|---:|---:|---:|
        | random read 4 KiB, depth 1 | 414 IOPS | — | 1 |

        ## Phases

        | phase | operation | MB/s | IOPS | p50 | p99 | p99.9 | spread | CPU ns/request | requests/call | reached the device |
        |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        | random read 4 KiB, depth 1 | read | 1.70 | 414 | 2.34 ms | — | — | one run | — | — | — |
        | sequential read 1 MiB, depth 4 (repeat 1 left out: served by a cache) | — | — | — | — | — | — | — | — | — | — |
        | sequential write 1 MiB, depth 4 (not run: the target is only read: writing would destroy what it holds) | — | — | — | — | — | — | — | — | — | — |
        | random write 4 KiB, depth 1 (not run: the target is only read: writing would destroy what it holds) | — | — | — | — | — | — | — | — | — | — |

        MB/s: 10^6 bytes a second. Medians of the valid repeats; spread: highest less lowest repeat, over the median.

        ## Findings

        ### ✕ Error: Model ␛\[2J␛\]0;owned␇\<script\>alert(1)\</script\>\</template\>\|\`x\` is not what it says

        Because \<script\>alert(2)\</script\> \| pipes and \`ticks\` occur.

        - seen: a␛\[31mred␛\[0m value (/sys/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component/very-long-component//model)

        ```
        echo '</pre><script>alert(3)</script>' > /dev/null
        ␛[5msecond line
        ```

        SW-TEST-001

        ## About this run

        - run: 20261120-231502-checkup-5f3a
        - label: \<b\>label\</b\>�
        - target: /mnt/long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-long-name-
        - started: 2026-11-20 23:15:02 UTC
        - seekwell: 0.1.0
        - engine: threads
        - could not be read: the kernel's name: \<i\>refused\</i\> (uname(2)␛\[1A)
        ");
    }

    #[test]
    fn a_remedy_with_backticks_stays_inside_its_fence() {
        let (mut document, _) = testing::degraded();
        document.findings[0].remedy = "a\n````\nb".into();
        assert!(markdown(&document).contains("\n`````\na\n````\nb\n`````\n"));
    }

    #[test]
    fn what_limits_a_run_as_markdown() {
        let shown = markdown(&testing::limited().0);
        let (head, _) = shown.split_once("\n\nIt reads").expect("the sentence follows");
        let summary =
            "\n\nSequential reads reach 98 % of the PCIe link, which runs at 2 lanes of 4.";
        assert!(head.contains(summary), "{head}");
        assert!(!shown.contains("## Findings") && !shown.contains("No problems"), "{shown}");
        let (_, table) = shown.split_once("## What limits each phase\n\n").expect("a table");
        let (table, _) = table.split_once("\n\n").expect("an end");
        insta::assert_snapshot!(table, @r"
        | phase | limited by | share | how sure | next |
        |---|---|---|---|---|
        | sequential read 1 MiB, depth 4 | the PCIe link at 2 lanes of 4 | 98 % of 3,500 MB/s | shown | then the flash, up to ×2.0 |
        | random read 4 KiB, depth 1 | each request waits for the one before it | — | likely | then the link, up to ×64 |
        | random read 4 KiB, depth 2 | each request waits for the one before it | — | likely | then the link, up to ×33 |
        | random read 4 KiB, depth 128 | the queue of 128 | 99 % of 128 commands | shown | then the flash |
        | sequential write 1 MiB, depth 4 | the flash (or the link or the write cache; to tell: seekwell bench --rw write --bs 1m --sustained /dev/nvme0n1) | — | likely | — |
        | commit: write 4 KiB and flush, depth 1 | not known | — | possible | — |
        ");
    }
}
