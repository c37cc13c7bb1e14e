//! Intervals added up for a scraper.

use super::document::{Disk, Interval};
use seekwell_job::output::Metrics;
use seekwell_trace::stats::document::Span;

/// Adds an interval to counters and histograms, and sets the gauges.
pub fn add_up(metrics: &mut Metrics, interval: &Interval) {
    metrics.count("lost_total", &[], interval.lost_events);
    for disk in &interval.devices {
        let name = [("disk", disk.device.as_str())];
        metrics.add("disk_outstanding_requests", &name, disk.outstanding as f64);
        metrics.count("disk_failed_total", &name, disk.failed);
        for flow in &disk.operations {
            let labels = [name[0], ("op", flow.op.name())];
            metrics.count("disk_requests_total", &labels, flow.requests);
            metrics.count("disk_bytes_total", &labels, flow.bytes);
            let seconds = flow.waited_ns as f64 / 1e9;
            metrics.observe("disk_response_seconds", &labels, &flow.bins, seconds);
        }
        observe(metrics, "disk_queue_seconds", disk, Span::QueueToIssue);
        observe(metrics, "disk_device_seconds", disk, Span::IssueToComplete);
    }
}

fn observe(metrics: &mut Metrics, name: &str, disk: &Disk, span: Span) {
    let bins = disk.histograms.iter().find(|histogram| histogram.span == span);
    if let (Some(bins), Some(latency)) = (bins, disk.latency(span)) {
        let seconds = latency.latency_ns_mean * latency.requests as f64 / 1e9;
        metrics.observe(name, &[("disk", &disk.device)], &bins.bins, seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Source;
    use super::super::ended::{Depth, Ended};
    use super::*;
    use seekwell_io::request::Op;
    use seekwell_io::units::Nanos;

    #[test]
    fn intervals_are_added_up_by_disk_and_operation() {
        let mut ended = Ended::default();
        let read = &mut ended.moved[Op::Read as usize];
        (read.requests, read.bytes) = (3, 12_288);
        read.response.record_many(Nanos(2_000), 3);
        let depth = Depth { outstanding: 2, ..Depth::default() };
        let interval = Interval {
            schema: "seekwell/top/1",
            time: String::new(),
            interval_s: 1.0,
            source: Source::Counts,
            lost_events: 0,
            devices: vec![ended.figures("sda", 1.0, depth)],
        };
        let mut metrics = Metrics::default();
        add_up(&mut metrics, &interval);
        add_up(&mut metrics, &interval);
        let text = metrics.openmetrics();
        for line in [
            "# TYPE seekwell_disk_response_seconds histogram",
            "seekwell_disk_requests_total{disk=\"sda\",op=\"read\"} 6",
            "seekwell_disk_bytes_total{disk=\"sda\",op=\"read\"} 24576",
            "seekwell_disk_outstanding_requests{disk=\"sda\"} 2",
            "seekwell_disk_response_seconds_bucket{disk=\"sda\",op=\"read\",le=\"0.000001024\"} 0",
            "seekwell_disk_response_seconds_bucket{disk=\"sda\",op=\"read\",le=\"0.000002048\"} 6",
            "seekwell_disk_response_seconds_count{disk=\"sda\",op=\"read\"} 6",
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("disk_device_seconds"), "nothing was given to a driver");
    }
}
