//! What fio's logs are made of, noted while a clone runs: each request, or windows of them.

use super::address::Address;
use crate::job::Logs;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;

/// Requests that are noted one by one, over all clones of a run: half a gigabyte of them.
pub const MOST: usize = 1 << 24;
/// Requests for which room is made at once, so that none waits while gigabytes are moved.
const CHUNK: usize = 1 << 14;
/// The kinds of request that have a direction in fio's logs, in the order of its numbers.
pub const DIRECTIONS: [Op; 3] = [Op::Read, Op::Write, Op::Discard];

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it was done, since measuring began.
    pub at: Nanos,
    /// Submission to completion.
    pub latency: Nanos,
    /// Its first byte in its file.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
    /// Number of its direction.
    pub direction: u8,
}

/// The requests of one direction in one window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When it ended, since measuring began.
    pub end: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// Number of its direction.
    pub direction: u8,
    /// Requests done.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Sum of their latencies in nanoseconds.
    pub latency_ns_sum: u64,
    /// The longest of them.
    pub latency_max: Nanos,
}

/// The latencies of one direction in one window of time (`log_hist_msec`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bins {
    /// When the window ended, since measuring began.
    pub end: Nanos,
    /// Number of the direction.
    pub direction: u8,
    /// Length of its last request in bytes.
    pub len: u32,
    /// Numbers of bins of a [`Histogram`] and how many requests fell in each.
    pub bins: Vec<(u32, u64)>,
}

/// What a clone's logs are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Requests or windows.
    pub lines: Lines,
    /// Latencies, in the order of time and direction.
    pub histograms: Vec<Bins>,
}

/// What the lines of a clone's logs are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    /// None: no log has lines.
    None,
    /// Each request.
    Requests {
        /// In the order they were done.
        samples: Vec<Vec<Sample>>,
        /// Requests after these, for which there was no room.
        left_out: u64,
    },
    /// Windows (`log_avg_msec`), in the order of time and direction.
    Windows(Vec<Window>),
}

/// The windows of a histogram log.
#[derive(Debug)]
struct Histograms {
    /// Length of a window.
    every: Nanos,
    /// Number of the current window.
    number: u64,
    /// What was done in it, by direction: latencies, and the length of the last request.
    current: [(Histogram, u32); 3],
    done: Vec<Bins>,
}

impl Histograms {
    fn completed(&mut self, direction: usize, len: u32, latency: Nanos, at: Nanos) {
        let number = at.0 / self.every.0;
        if number > self.number {
            self.close(Nanos((self.number + 1).saturating_mul(self.every.0)));
            self.number = number;
        }
        let (latencies, last) = &mut self.current[direction];
        latencies.record(latency);
        *last = len;
    }

    /// Ends the current window.
    fn close(&mut self, end: Nanos) {
        for (direction, (latencies, len)) in (0..).zip(&mut self.current) {
            if latencies.count() > 0 {
                let bins = std::mem::take(latencies).sparse();
                self.done.push(Bins { end, direction, len: *len, bins });
            }
        }
    }
}

/// Notes requests.
#[derive(Debug)]
pub struct Recorder {
    address: Address,
    lines: Lines,
    histograms: Option<Histograms>,
    room: usize,
    /// Length of a window; zero for each request.
    average: Nanos,
    /// Number of the current window.
    number: u64,
    /// What was done in it, by direction.
    current: [(u64, u64, u64, u64); 3],
    last: Nanos,
}

impl Recorder {
    /// For the logs of one clone; `None` if it has none. At most `room` requests are kept one by
    /// one.
    pub fn new(logs: &Logs, address: Address, room: usize) -> Option<Self> {
        if !logs.any() {
            return None;
        }
        let wanted = [&logs.bandwidth, &logs.latency, &logs.iops];
        let lines = match logs.average {
            _ if wanted.iter().all(|log| log.is_none()) => Lines::None,
            Nanos::ZERO => Lines::Requests { samples: Vec::new(), left_out: 0 },
            _ => Lines::Windows(Vec::new()),
        };
        let every = logs.histogram_every;
        let histograms = (logs.histogram.is_some() && every > Nanos::ZERO).then(|| Histograms {
            every,
            number: 0,
            current: Default::default(),
            done: Vec::new(),
        });
        let (average, current, last) = (logs.average, [(0, 0, 0, 0); 3], Nanos::ZERO);
        Some(Self { address, lines, histograms, room, average, number: 0, current, last })
    }

    /// A request was done whole at `at` after measuring began.
    pub fn completed(&mut self, request: &Request, latency: Nanos, at: Nanos) {
        let Some(direction) = DIRECTIONS.iter().position(|op| *op == request.op) else { return };
        self.last = self.last.max(at);
        if let Some(histograms) = &mut self.histograms {
            histograms.completed(direction, request.len, latency, at);
        }
        match &mut self.lines {
            Lines::None => {}
            Lines::Requests { left_out, .. } if self.room == 0 => *left_out += 1,
            Lines::Requests { samples, .. } => {
                self.room -= 1;
                if samples.last().is_none_or(|chunk| chunk.len() == CHUNK) {
                    samples.push(Vec::with_capacity(CHUNK));
                }
                let (_, offset) = self.address.split(request.offset);
                let (len, direction) = (request.len, direction as u8);
                let sample = Sample { at, latency, offset, len, direction };
                samples.last_mut().expect("a chunk was just made").push(sample);
            }
            Lines::Windows(_) => {
                let number = at.0 / self.average.0;
                if number > self.number {
                    self.close(Nanos((self.number + 1).saturating_mul(self.average.0)));
                    self.number = number;
                }
                let (requests, bytes, sum, max) = &mut self.current[direction];
                (*requests, *bytes) = (*requests + 1, *bytes + u64::from(request.len));
                (*sum, *max) = (*sum + latency.0, (*max).max(latency.0));
            }
        }
    }

    /// Ends the current window.
    fn close(&mut self, end: Nanos) {
        let Lines::Windows(windows) = &mut self.lines else { return };
        let begin = Nanos(self.number * self.average.0);
        for (direction, counted) in self.current.iter_mut().enumerate() {
            let (requests, bytes, latency_ns_sum, longest) = std::mem::take(counted);
            if requests > 0 {
                windows.push(Window {
                    end,
                    length: end.since(begin),
                    direction: direction as u8,
                    requests,
                    bytes,
                    latency_ns_sum,
                    latency_max: Nanos(longest),
                });
            }
        }
    }

    /// What was noted. The last window ends with the last request.
    pub fn finish(mut self) -> Recorded {
        let whole = Nanos((self.number + 1).saturating_mul(self.average.0));
        self.close(self.last.min(whole));
        let mut histograms = Vec::new();
        if let Some(mut all) = self.histograms {
            all.close(self.last);
            histograms = all.done;
        }
        Recorded { lines: self.lines, histograms }
    }
}
