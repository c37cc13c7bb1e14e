//! An interval as lines of text, for any width and height.

use crate::screen::HEAD;
use seekwell_io::request::Op;
use seekwell_io::units::{Nanos, iops, rate, three_digits, whole_percent};
use seekwell_report::{clean, columns};
use seekwell_run::top::{Disk, Interval, Process, Seen, Source};
use seekwell_runs::limits::Station;
use seekwell_trace::stats::document::Span;

/// Processes of a block that is printed.
const PROCESSES: usize = 5;
/// A request that has been outstanding for this long is worth a word.
const LONG: Nanos = Nanos(1_000_000_000);
/// The narrowest column of names.
const NAME: usize = 9;

/// A column: its head, its width with a gap, and how soon it goes when there is no room.
struct Column {
    head: &'static str,
    width: usize,
    rank: usize,
    cell: fn(&Disk) -> String,
}

const fn column(
    head: &'static str,
    width: usize,
    rank: usize,
    cell: fn(&Disk) -> String,
) -> Column {
    Column { head, width, rank, cell }
}

const COLUMNS: [Column; 12] = [
    column("seen", 5, 6, |disk| match disk.seen {
        Some(Seen::Requests) => "req".to_owned(),
        Some(Seen::Bios) => "bio".to_owned(),
        None => "-".to_owned(),
    }),
    column("req/s", 6, 0, |disk| or_none(disk.requests_per_s, iops)),
    column("read", 6, 3, |disk| moved(disk, Op::Read)),
    column("write", 6, 4, |disk| moved(disk, Op::Write)),
    column("p50", 7, 7, |disk| quantile(disk, |latency| latency.latency_ns_p50)),
    column("p99", 7, 2, |disk| quantile(disk, |latency| latency.latency_ns_p99)),
    column("p99.9", 7, 11, |disk| quantile(disk, |latency| latency.latency_ns_p99_9)),
    column("max", 7, 5, |disk| quantile(disk, |latency| Some(latency.latency_ns_max))),
    column("queue", 7, 8, |disk| {
        let queue = disk.latency(Span::QueueToIssue);
        short(queue.map(|queue| queue.latency_ns_mean.round() as u64))
    }),
    column("depth", 6, 1, |disk| or_none(disk.depth_mean, three_digits)),
    column("most", 6, 10, |disk| {
        disk.depth_max.map_or_else(|| "-".to_owned(), |most| most.to_string())
    }),
    column("limit", 9, 9, |disk| {
        let known = disk.limit.as_ref().filter(|limit| limit.by != Station::Unknown);
        // `transfer_mode` is wider than the column: its first word will do.
        let word = known.and_then(|limit| limit.by.name().split('_').next());
        word.unwrap_or("-").to_owned()
    }),
];

fn or_none(value: f64, text: fn(f64) -> String) -> String {
    if value > 0.0 { text(value) } else { "0".to_owned() }
}

fn moved(disk: &Disk, op: Op) -> String {
    disk.flow(op).map_or_else(|| "-".to_owned(), |flow| rate(flow.bytes_per_s).replace(',', ""))
}

fn quantile(
    disk: &Disk,
    of: fn(&seekwell_trace::stats::document::Latency) -> Option<u64>,
) -> String {
    short(disk.latency(Span::QueueToComplete).and_then(of))
}

/// `72.1µs`.
fn short(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| Nanos(ns).to_string().replace(' ', ""))
}

/// The interval in lines of at most `width` columns; on a terminal no more than its `height`, and
/// with heads marked.
pub fn lines(interval: &Interval, width: usize, height: Option<usize>) -> Vec<String> {
    let on_screen = height.is_some();
    let head = |text: String| if on_screen { format!("{HEAD}{text}") } else { text };
    let mut lines = vec![title(interval, on_screen)];
    if interval.lost_events > 0 {
        let lost = interval.lost_events;
        lines.push(match interval.source {
            Source::Counts => format!("{lost} events were not counted: the figures are too low"),
            Source::Events => {
                format!("{lost} events were lost: the figures are too low (--buffer SIZE)")
            }
        });
    }
    if interval.devices.is_empty() {
        lines.push("no requests".to_owned());
    } else {
        let longest = interval.devices.iter().map(|disk| columns(&clean(&disk.device))).max();
        let fixed: usize = COLUMNS.iter().map(|column| column.width).sum();
        let spare = width.saturating_sub(1 + fixed).max(NAME);
        let name = longest.unwrap_or(0).clamp(NAME, spare);
        let shown = fitting(width.saturating_sub(1 + name));
        let heads = shown.iter().map(|column| right(column.head, column.width));
        lines.push(head(format!("{}{}", left("disk", name), heads.collect::<String>())));
        for disk in &interval.devices {
            let cells = shown.iter().map(|column| right(&(column.cell)(disk), column.width));
            lines.push(format!("{}{}", left(&disk.device, name), cells.collect::<String>()));
            lines.extend(notable(disk).map(|note| format!("  {note}")));
        }
    }
    let room = height.map_or(PROCESSES, |height| height.saturating_sub(lines.len() + 2));
    let processes = processes(interval, room);
    if !processes.is_empty() && room > 0 {
        lines.push(String::new());
        lines
            .push(head(process_line(["process", "pid", "disk", "req/s", "MB/s", "wait", "share"])));
        lines.extend(processes);
    }
    if let Some(height) = height {
        lines.truncate(height);
    }
    let widest = width.saturating_sub(1).max(1);
    lines.iter().map(|line| cut(line, widest)).collect()
}

fn title(interval: &Interval, on_screen: bool) -> String {
    let time = interval.time.get(..19).unwrap_or(&interval.time).replace('T', " ");
    let quit = if on_screen { "  q quits" } else { "" };
    format!("{time} UTC  {:.2} s  read and write in MB/s{quit}", interval.interval_s)
}

/// The columns that there is room for.
fn fitting(room: usize) -> Vec<&'static Column> {
    let mut shown: Vec<&Column> = COLUMNS.iter().collect();
    while shown.len() > 1 && shown.iter().map(|column| column.width).sum::<usize>() > room {
        let last = shown.iter().map(|column| column.rank).max();
        shown.retain(|column| Some(column.rank) != last);
    }
    shown
}

/// What a row has no column for.
fn notable(disk: &Disk) -> Option<String> {
    let mut words = Vec::new();
    if let Some((limit, share)) = disk.limit.as_ref().and_then(|l| Some((l, l.share?))) {
        words.push(format!("{} carries {}", limit.name, whole_percent(share)));
    }
    if let Some(oldest) = disk.oldest_ns.map(Nanos).filter(|oldest| *oldest >= LONG) {
        words.push(format!("{} outstanding, the oldest for {oldest}", disk.outstanding));
    }
    if disk.failed > 0 {
        words.push(format!("{} failed", disk.failed));
    }
    for (op, name) in [(Op::Flush, "flushes"), (Op::Discard, "discards")] {
        words.extend(disk.flow(op).map(|flow| format!("{} {name}/s", iops(flow.requests_per_s))));
    }
    if let Some(at_device) = disk.requests_at_device
        && at_device.abs_diff(disk.requests) * 50 > disk.requests
        && disk.requests > 0
    {
        let what = if at_device < disk.requests { "merged" } else { "split" };
        let per_s = disk.requests_per_s * at_device as f64 / disk.requests as f64;
        words.push(format!("{what} into {}/s at the device", iops(per_s)));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// The first of those that moved most or waited longest.
fn processes(interval: &Interval, most: usize) -> Vec<String> {
    let of = |disk| move |process| (disk, process);
    let all = interval.devices.iter().flat_map(|disk: &Disk| disk.processes.iter().map(of(disk)));
    let mut all: Vec<(&Disk, &Process)> = all.collect();
    let mut ranked = Vec::new();
    for key in [|process: &Process| process.bytes, |process: &Process| process.waited_ns] {
        all.sort_by_key(|(_, process)| std::cmp::Reverse(key(process)));
        ranked.push(all.clone());
    }
    let mut chosen: Vec<(&Disk, &Process)> = Vec::new();
    for (by_bytes, by_time) in ranked[0].iter().zip(&ranked[1]) {
        for one in [by_bytes, by_time] {
            if chosen.len() < most && !chosen.iter().any(|known| std::ptr::eq(known.1, one.1)) {
                chosen.push(*one);
            }
        }
    }
    let seconds = interval.interval_s;
    let waited: u64 = interval.devices.iter().flat_map(|d| &d.processes).map(|p| p.waited_ns).sum();
    let row = |(disk, process): (&Disk, &Process)| {
        process_line([
            if process.process.is_empty() { "?" } else { &process.process },
            &process.pid.to_string(),
            &disk.device,
            &iops(process.requests as f64 / seconds),
            &rate(process.bytes as f64 / seconds),
            &short(process.waited_ns.checked_div(process.requests)),
            &whole_percent(process.waited_ns as f64 / waited.max(1) as f64),
        ])
    };
    chosen.into_iter().map(row).collect()
}

fn process_line([name, pid, disk, requests, bytes, wait, share]: [&str; 7]) -> String {
    let numbers = [right(requests, 7), right(bytes, 8), right(wait, 8), right(share, 7)];
    format!("{}{}  {}{}", left(name, 16), right(pid, 8), left(disk, 12), numbers.concat())
}

/// Exactly so wide, the text at its right end.
fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Exactly so wide, the text at its left end and cut if it is longer.
fn left(text: &str, width: usize) -> String {
    let text = clean(text);
    let text = if columns(&text) > width {
        format!("{}…", cut(&text, width.saturating_sub(1)))
    } else {
        text
    };
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(&text))))
}

/// As much of it as there is room for.
fn cut(text: &str, width: usize) -> String {
    let (mark, text) = text.strip_prefix(HEAD).map_or(("", text), |rest| (HEAD, rest));
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if columns(&kept) > width {
            kept.pop();
            break;
        }
    }
    format!("{mark}{}", kept.trim_end())
}

#[cfg(test)]
mod tests;
