//! What `seekwell trace stats --json` says of a recorded scene.

use crate::Failure;
use serde_json::Value;

/// Figures of a trace. Those that an empty trace has none of are not numbers.
#[derive(Debug)]
pub struct TraceStats {
    pub requests: f64,
    pub seconds: f64,
    pub per_s: f64,
    pub mb_per_s: f64,
    pub read_share: f64,
    pub read_bytes_share: f64,
    pub flushes: f64,
    pub mean_bytes: f64,
    /// Mean over time, of requests between arrival and completion.
    pub queue: f64,
    pub queue_seen: f64,
    pub device_queue: f64,
    pub latency_ms_p50: f64,
    pub latency_ms_p99: f64,
    pub sequential: f64,
    pub random: f64,
    /// The four that made most requests, with their shares.
    pub processes: String,
    pub sentences: String,
    /// No event was lost.
    pub complete: bool,
}

impl TraceStats {
    pub fn read(name: &str, stats: &Value) -> Result<Self, Failure> {
        let number = |pointer: &str| {
            let value = stats.pointer(pointer).and_then(Value::as_f64);
            let none = (stats["requests"] == 0).then_some(f64::NAN);
            value.or(none).ok_or_else(|| format!("the statistics of {name} lack {pointer}"))
        };
        let list = |key: &str| stats[key].as_array().map_or(&[][..], Vec::as_slice);
        let latency = list("latencies")
            .iter()
            .find(|l| l["span"] == "queue-to-complete" && l["op"].is_null());
        let ms = |key: &str| latency.and_then(|l| l[key].as_f64()).map_or(f64::NAN, |ns| ns / 1e6);
        let sentences: Vec<_> = list("sentences").iter().filter_map(Value::as_str).collect();
        let processes = list("processes").iter().take(4).map(|p| {
            let share = p["share"].as_f64().unwrap_or_default() * 100.0;
            format!("{} {share:.0} %", p["name"].as_str().unwrap_or_default())
        });
        Ok(Self {
            requests: number("/requests")?,
            seconds: number("/duration_ns")? / 1e9,
            per_s: number("/requests_per_s")?,
            mb_per_s: number("/bytes_per_s")? / 1e6,
            read_share: number("/read_share")?,
            read_bytes_share: number("/read_bytes_share")?,
            flushes: number("/durability/flushes")? + number("/durability/preflushes")?,
            mean_bytes: number("/sizes/mean_bytes")?,
            queue: number("/queue/over_time_mean")?,
            queue_seen: number("/queue/seen_mean")?,
            device_queue: number("/device_queue/over_time_mean")?,
            latency_ms_p50: ms("latency_ns_p50"),
            latency_ms_p99: ms("latency_ns_p99"),
            sequential: number("/order/sequential_share")?,
            random: number("/order/random_share")?,
            processes: processes.collect::<Vec<_>>().join(", "),
            sentences: sentences.join(" "),
            complete: stats.pointer("/about/losses/lost_events") == Some(&Value::from(0)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_that_lack_a_figure_are_an_error_that_names_it() {
        let stats = serde_json::json!({"duration_ns": 1});
        let error = TraceStats::read("one", &stats).unwrap_err().to_string();
        assert_eq!(error, "the statistics of one lack /requests");
        let empty = serde_json::json!({"requests": 0});
        assert!(TraceStats::read("one", &empty).unwrap().queue.is_nan());
    }
}
