//! What came out, beside what was published.

use crate::Failure;
use crate::trace_stats::TraceStats;
use serde_json::Value;
use std::fmt::Write as _;

/// What was published of a trace. Shares are of bytes.
struct Published {
    name: &'static str,
    clients: u32,
    queue: Option<f64>,
    read_share: Option<f64>,
    mb_per_s: Option<f64>,
    queries_per_s: Option<f64>,
}

const fn published(
    name: &'static str,
    clients: u32,
    [queue, read_share, mb_per_s, queries_per_s]: [Option<f64>; 4],
) -> Published {
    Published { name, clients, queue, read_share, mb_per_s, queries_per_s }
}

const PUBLISHED: [Published; 4] = [
    published("web-light", 2, [Some(1.86), Some(0.75), Some(3.3), None]),
    published("web-heavy", 20, [Some(3.5), Some(0.86), Some(35.1), None]),
    published("db-light", 10, [None; 4]),
    published("db-heavy", 50, [None, None, None, Some(500.0)]),
];

/// Share of ab's requests that may be refused: some pictures do not exist.
const REFUSED_AT_MOST: f64 = 0.05;

/// Times a published figure from which on one here counts as above it.
const CLEARLY: f64 = 1.05;
const QUEUE: &str = "All clients but those whose picture is in memory wait for the disk. The \
                     processor and\n  the network of 2004 may have kept the others busy; here both \
                     are much faster than the modelled disks.";
const READS: &str = "The logs written are of about the same size for each picture, and ext4 \
                     notes\n  every access to a file (`strictatime`, as NTFS did), but it writes \
                     inodes together, once every 5 s to the journal\n  and every 30 s to their \
                     place. How often NTFS wrote them is not known.";

/// What answered the requests.
const DISK: &str = include_str!("disk.md");

const PAGE: &str = include_str!("page.md");

#[derive(Debug)]
pub struct Traced {
    pub file: String,
    clients: u32,
    bytes: u64,
    answered_per_s: f64,
    /// Seconds that ab asked.
    pub took_s: f64,
    stats: TraceStats,
    /// Queries that the database server answered.
    pub queries_per_s: Option<f64>,
}

impl Traced {
    /// From what ab printed and `trace stats --json`.
    pub fn new(
        file: String,
        clients: u32,
        ab: &str,
        stats: &Value,
        bytes: u64,
    ) -> Result<Self, Failure> {
        let refused = of_ab(ab, "Non-2xx responses:").unwrap_or(0.0);
        let asked = of_ab(ab, "Complete requests:")?;
        if refused > REFUSED_AT_MOST * asked {
            return Err(format!("{refused} of {asked} requests of {file} were refused").into());
        }
        Ok(Self {
            clients,
            bytes,
            answered_per_s: of_ab(ab, "Requests per second:")?,
            took_s: of_ab(ab, "Time taken for tests:")?,
            stats: TraceStats::read(&file, stats)?,
            queries_per_s: None,
            file,
        })
    }
}

/// A number of what ab prints.
fn of_ab(text: &str, name: &str) -> Result<f64, Failure> {
    let line = text.lines().find_map(|l| l.strip_prefix(name));
    let word = line.and_then(|l| l.split_whitespace().next());
    Ok(word.ok_or_else(|| format!("ab printed no {name:?}"))?.parse()?)
}

/// What a figure is, and the figure.
type Row = (&'static str, fn(&Traced) -> String);

#[derive(Default)]
pub struct Report {
    scale: u32,
    seconds: u32,
    /// Version of the cgroups that limited memory.
    cgroups: u32,
    pub pictures: u32,
    /// Share of the archive in memory when recording began.
    pub warm_share: f64,
    /// Bytes of the site's tables and indexes.
    pub tables_bytes: u64,
    /// Bytes of MariaDB's own cache.
    pub pool_bytes: u64,
    /// In the order they were recorded.
    pub traces: Vec<Traced>,
}

impl Report {
    /// Of a scene of one `scale`-th, `seconds` a trace, under cgroups of a version.
    pub fn new(scale: u32, seconds: u32, cgroups: u32) -> Self {
        Self { scale, seconds, cgroups, ..Self::default() }
    }

    pub fn text(&self) -> String {
        PAGE.replace("{scene}", &self.scene())
            .replace("{published}", &self.beside())
            .replace("{apart}", &self.apart())
            .replace("{disk}", DISK.trim_end())
            .replace("{cgroups}", &self.cgroups.to_string())
            .replace("{more}", &self.more())
    }

    fn traced(&self, published: &Published) -> Option<&Traced> {
        self.traces.iter().find(|t| t.file == format!("{}.parquet", published.name))
    }

    /// What may be why figures of this run are above those published.
    fn apart(&self) -> String {
        let above = |of: fn(&Published) -> Option<f64>, got: fn(&Traced) -> f64| {
            let names = PUBLISHED.iter().filter(move |published| {
                let Some(traced) = self.traced(published) else { return false };
                of(published).is_some_and(|figure| got(traced) > figure * CLEARLY)
            });
            names.map(|published| published.name).collect::<Vec<_>>().join(" and ")
        };
        let queue = above(|p| p.queue, |t| t.stats.queue);
        let reads = above(|p| p.read_share, |t| t.stats.read_bytes_share);
        let mut text = String::new();
        for (names, what, why) in
            [(queue, "the queue is longer", QUEUE), (reads, "more is read", READS)]
        {
            if !names.is_empty() {
                let _ = writeln!(text, "- **In {names} {what} here.** {why}");
            }
        }
        text
    }

    fn scene(&self) -> String {
        format!(
            "This run: one to {}, {} s a trace. {} pictures; {:.0} % of the archive in memory when \
             recording began (64 % in the\ndocument). Tables and indexes of {} MiB (an \
             estimate), of which MariaDB caches {} MiB.",
            self.scale,
            self.seconds,
            self.pictures,
            self.warm_share * 100.0,
            self.tables_bytes >> 20,
            self.pool_bytes >> 20
        )
    }

    fn beside(&self) -> String {
        let mut text = String::from(
            "| trace | clients | queue length | published | read, of bytes | published | MB/s | \
             published | queries/s | published |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        let shown = |value: Option<f64>, digits: usize, unit: &str| {
            value.map_or("–".to_owned(), |v| format!("{v:.digits$}{unit}"))
        };
        for published in &PUBLISHED {
            let Some(t) = self.traced(published) else { continue };
            let percent = |share: f64| share * 100.0;
            // A String takes all that is written.
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} | {} | {:.0} % | {} | {:.1} | {} | {} | {} |",
                published.name,
                published.clients,
                t.stats.queue,
                shown(published.queue, 2, ""),
                percent(t.stats.read_bytes_share),
                shown(published.read_share.map(percent), 0, " %"),
                t.stats.mb_per_s,
                shown(published.mb_per_s, 1, ""),
                shown(t.queries_per_s, 0, ""),
                shown(published.queries_per_s, 0, ""),
            );
        }
        text.trim_end().to_owned()
    }

    fn more(&self) -> String {
        let mut text = String::from("| |");
        let rows: [Row; 13] = [
            ("clients of ab", |t| t.clients.to_string()),
            ("pages or pictures a second", |t| format!("{:.0}", t.answered_per_s)),
            ("block requests", |t| format!("{:.0}", t.stats.requests)),
            ("a second", |t| format!("{:.0}", t.stats.per_s)),
            ("reads, of reads and writes", |t| format!("{:.0} %", t.stats.read_share * 100.0)),
            ("mean size", |t| format!("{:.1} KiB", t.stats.mean_bytes / 1024.0)),
            ("queue length, over time", |t| format!("{:.2}", t.stats.queue)),
            ("others found on arrival", |t| format!("{:.2}", t.stats.queue_seen)),
            ("median latency", |t| format!("{:.2} ms", t.stats.latency_ms_p50)),
            ("99th percentile", |t| format!("{:.1} ms", t.stats.latency_ms_p99)),
            ("strictly sequential", |t| format!("{:.0} %", t.stats.sequential * 100.0)),
            ("random", |t| format!("{:.0} %", t.stats.random * 100.0)),
            ("size of the file", |t| format!("{:.2} MB", t.bytes as f64 / 1e6)),
        ];
        self.traces.iter().for_each(|t| text += &format!(" {} |", t.file));
        text += "\n|---|";
        self.traces.iter().for_each(|_| text += "---:|");
        for (name, cell) in rows {
            let _ = write!(text, "\n| {name} |");
            self.traces.iter().for_each(|t| text += &format!(" {} |", cell(t)));
        }
        text += "\n\nIn words, as `seekwell trace stats` puts them:\n";
        for t in &self.traces {
            let whole =
                if t.stats.complete { "" } else { " Events were lost while it was recorded." };
            let _ = write!(text, "\n- **{}**: {}{whole}", t.file, t.stats.sentences);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_ships_is_made_of_this_template() {
        let ships = std::fs::read_to_string(crate::root().join("docs/storagemark.md")).unwrap();
        for part in PAGE.split("\n\n").flat_map(|text| text.split("\n- ")) {
            assert!(part.contains('{') || ships.contains(part), "{part}");
        }
    }

    #[test]
    fn abs_figures_are_found_and_their_absence_is_told() {
        let text = "Time taken for tests:   60.002 seconds\n\
                    Requests per second:    81.20 [#/sec] (mean)\n";
        assert_eq!(of_ab(text, "Requests per second:").unwrap(), 81.2);
        assert_eq!(of_ab(text, "Time taken for tests:").unwrap(), 60.002);
        assert!(of_ab(text, "Complete requests:").is_err());
    }
}
