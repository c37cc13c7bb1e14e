//! What a recording says of itself: `seekwell/record/1` and the same in words.

use super::Wanted;
use seekwell_io::request::Op;
use seekwell_io::units;
use seekwell_trace::capture::{Recording, Via};
use seekwell_trace::record;
use seekwell_trace::source::{Device, TraceSource, Written};
use serde::Serialize;
use std::time::Duration;

/// Sums over the records.
#[derive(Debug, Default)]
pub(super) struct Totals {
    requests: [u64; 4],
    bytes: [u64; 4],
    at_device: u64,
    /// From the first moment to the last.
    pub(super) took: Duration,
}

impl Totals {
    /// Counts records.
    pub(super) fn add(&mut self, records: &[record::Record]) {
        for record in records {
            self.at_device += u64::from(record.reached_device());
            if !record.was_asked_for() {
                continue;
            }
            self.requests[record.op as usize] += 1;
            self.bytes[record.op as usize] += u64::from(record.len);
        }
    }
}

/// The command that ran.
#[derive(Debug, Serialize)]
struct Ran {
    line: String,
    /// As a shell gives it.
    status: u8,
}

/// `seekwell/record/1`: the recording in numbers.
#[derive(Debug, Serialize)]
pub struct Document {
    schema: &'static str,
    file: String,
    format: &'static str,
    devices: Vec<Device>,
    via: &'static str,
    duration_s: f64,
    requests: u64,
    requests_at_device: u64,
    refused: u64,
    reads: u64,
    writes: u64,
    flushes: u64,
    discards: u64,
    read_bytes: u64,
    written_bytes: u64,
    requests_per_s: f64,
    recording_cost_ns_per_request: Option<u64>,
    /// Whether nothing is known to be missing.
    pub complete: bool,
    lost_events: u64,
    unfinished: u64,
    orphans: u64,
    left_out: u64,
    command: Option<Ran>,
}

impl Document {
    pub(super) fn new(
        wanted: &Wanted<'_>,
        recording: &Recording,
        totals: &Totals,
        written: &Written,
        command: Option<(String, u8)>,
    ) -> Self {
        let about = recording.about();
        let count = |op: Op| totals.requests[op as usize];
        let requests = totals.requests.iter().sum();
        let duration_s = totals.took.as_secs_f64();
        Self {
            schema: "seekwell/record/1",
            file: wanted.output.display().to_string(),
            format: wanted.format.name,
            devices: recording.tables().devices.clone(),
            via: if recording.via() == Via::Bpf { "bpf" } else { "tracefs" },
            duration_s,
            requests,
            requests_at_device: totals.at_device,
            refused: recording.refused(),
            reads: count(Op::Read),
            writes: count(Op::Write),
            flushes: count(Op::Flush),
            discards: count(Op::Discard),
            read_bytes: totals.bytes[Op::Read as usize],
            written_bytes: totals.bytes[Op::Write as usize],
            requests_per_s: if duration_s > 0.0 { requests as f64 / duration_s } else { 0.0 },
            recording_cost_ns_per_request: about.recording_cost_ns_per_request,
            complete: about.complete(),
            lost_events: about.losses.lost_events,
            unfinished: about.losses.unfinished,
            orphans: about.losses.orphans,
            left_out: written.left_out,
            command: command.map(|(line, status)| Ran { line, status }),
        }
    }

    /// What is missing, and what helps.
    pub fn losses(&self) -> Option<String> {
        if self.complete {
            return None;
        }
        Some(if self.lost_events > 0 {
            format!(
                "{} events were lost, so the trace is incomplete and says so: requests or their \
                 times are missing; record again with a larger --buffer",
                self.lost_events
            )
        } else {
            format!(
                "{} of {} requests have no end, so the trace is incomplete and says so: record \
                 again, and end the recording once the load has ended",
                self.unfinished, self.requests
            )
        })
    }

    /// In words.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|device| device.name.as_str()).collect();
        let mut text = format!(
            "{} requests to {} in {:.1} s ({:.0}/s): {} reads of {}, {} writes of {}, {} flushes, \
             {} discards",
            self.requests,
            names.join(", "),
            self.duration_s,
            self.requests_per_s,
            self.reads,
            units::binary(self.read_bytes),
            self.writes,
            units::binary(self.written_bytes),
            self.flushes,
            self.discards,
        );
        if self.requests_at_device != self.requests {
            let of = if self.requests_at_device < self.requests { "merged" } else { "split" };
            text += &format!("\n{of} into {} at the device", self.requests_at_device);
        }
        if self.refused > 0 {
            text += &format!(
                "\n{} attempts were refused for want of a tag (EAGAIN) and made again; each \
                 request is counted once",
                self.refused
            );
        }
        if self.unfinished > 0 {
            text += &format!("\n{} were still under way at the end", self.unfinished);
        }
        if self.left_out > 0 {
            text +=
                &format!("\n{} have no place in {} and were left out", self.left_out, self.format);
        }
        if let Some(cost) = self.recording_cost_ns_per_request {
            text += &format!("\nrecording cost {cost} ns of CPU time a request");
        }
        text + &format!("\nwritten to {}", self.file)
    }
}
