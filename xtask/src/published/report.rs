//! What was recorded, and its page.

use crate::Failure;
use crate::trace_stats::TraceStats;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

const PAGE: &str = include_str!("page.md");

/// What answered the requests.
const DISK: &str = include_str!("disk.md");

/// What a program did while it was recorded.
#[derive(Debug)]
pub struct Ran {
    /// Its command line, or its settings.
    pub program: String,
    /// How many of `unit` it made.
    pub count: u64,
    pub unit: &'static str,
    pub seconds: f64,
    pub cpu_s: f64,
}

#[derive(Debug)]
pub struct Traced {
    /// Its file's name without the extension.
    pub name: String,
    pub bytes: u64,
    ran: Ran,
    stats: TraceStats,
}

impl Traced {
    /// From what the program did and `trace stats --json`.
    pub fn new(name: &str, ran: Ran, stats: &Value, bytes: u64) -> Result<Self, Failure> {
        Ok(Self { name: name.to_owned(), bytes, ran, stats: TraceStats::read(name, stats)? })
    }
}

/// A phase that was not recorded, for the page cache answered it.
#[derive(Debug)]
struct Cached {
    name: String,
    ran: Ran,
    /// Reads and writes of the drive meanwhile.
    served: [u64; 2],
}

pub struct Report {
    /// The traces, in the order of the page.
    pub traces: Vec<Traced>,
    cached: Vec<Cached>,
    load_before: String,
}

impl Report {
    /// An empty one; notes how busy the machine is.
    pub fn new() -> Result<Self, Failure> {
        let load = fs::read_to_string("/proc/loadavg")?;
        let load_before = load.split_whitespace().take(3).collect::<Vec<_>>().join(", ");
        Ok(Self { traces: Vec::new(), cached: Vec::new(), load_before })
    }

    /// A phase that was not recorded, with what the drive had served before and after it.
    pub fn cached(&mut self, name: &str, ran: Ran, before: [u64; 2], after: [u64; 2]) {
        let served = [after[0] - before[0], after[1] - before[1]];
        self.cached.push(Cached { name: name.to_owned(), ran, served });
    }

    pub fn text(&self) -> String {
        PAGE.replace("{load}", &self.load_before)
            .replace("{ran}", &self.ran())
            .replace("{traces}", &self.traces())
            .replace("{cached}", &self.cached_phases())
            .replace("{words}", &self.words())
            .replace("{disk}", DISK.trim_end())
    }

    fn ran(&self) -> String {
        let mut text = String::from(
            "| trace | program | counted | took | a second | its CPU time |\n\
             |---|---|---:|---:|---:|---:|",
        );
        for Traced { name, ran, .. } in &self.traces {
            text += &format!("\n| {name} | {} |", ran.program);
            text += &figures(ran);
        }
        text
    }

    fn traces(&self) -> String {
        let mut text = String::from(
            "| trace | requests | from first to last | moved | read, of requests | of bytes | \
             flushes | mean size | queue | at the device | median latency | 99th percentile | \
             sequential | file |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        );
        for t in &self.traces {
            let _ = write!(
                text,
                "\n| {} | {:.0} | {:.1} s | {:.1} MB | {:.0} % | {:.0} % | {:.0} | {:.1} KiB | \
                 {:.2} | {:.2} | {:.2} ms | {:.1} ms | {:.0} % | {:.2} MB |",
                t.name,
                t.stats.requests,
                t.stats.seconds,
                t.stats.mb_per_s * t.stats.seconds,
                t.stats.read_share * 100.0,
                t.stats.read_bytes_share * 100.0,
                t.stats.flushes,
                t.stats.mean_bytes / 1024.0,
                t.stats.queue,
                t.stats.device_queue,
                t.stats.latency_ms_p50,
                t.stats.latency_ms_p99,
                t.stats.sequential * 100.0,
                t.bytes as f64 / 1e6
            );
        }
        text
    }

    fn cached_phases(&self) -> String {
        let mut text = String::from(
            "| phase | counted | took | a second | its CPU time | reads of the drive | writes |\n\
             |---|---:|---:|---:|---:|---:|---:|",
        );
        for Cached { name, ran, served } in &self.cached {
            let _ = write!(text, "\n| {name} |{} {} | {} |", figures(ran), served[0], served[1]);
        }
        text
    }

    fn words(&self) -> String {
        let line =
            |t: &Traced| format!("- **{}** ({}): {}", t.name, t.stats.processes, t.stats.sentences);
        self.traces.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Count, time, rate and CPU time as cells of a row.
fn figures(ran: &Ran) -> String {
    let (count, unit, seconds) = (ran.count, ran.unit, ran.seconds);
    let rate = count as f64 / seconds;
    format!(" {count} {unit} | {seconds:.2} s | {rate:.1} | {:.2} s |", ran.cpu_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_ships_is_made_of_this_template() {
        let ships = fs::read_to_string(crate::root().join("docs/published-traces.md")).unwrap();
        for part in PAGE.split("\n\n") {
            assert!(part.contains('{') || ships.contains(part.trim_end()), "{part}");
        }
    }

    #[test]
    fn a_figure_is_a_count_divided_by_a_time() {
        let ran = Ran { program: "p".into(), count: 30, unit: "files", seconds: 1.5, cpu_s: 0.25 };
        assert_eq!(figures(&ran), " 30 files | 1.50 s | 20.0 | 0.25 s |");
    }
}
