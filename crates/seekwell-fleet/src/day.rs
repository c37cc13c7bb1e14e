/// A metric of one model's disks on one day.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// Its beginning, RFC 3339, UTC.
    pub at: String,
    /// Of the runs' medians.
    pub median: f64,
    /// Lowest of them.
    pub low: f64,
    /// Highest of them.
    pub high: f64,
    /// Hosts that were measured.
    pub hosts: u64,
    /// Host of the newest run.
    pub host: String,
    /// Its id.
    pub run: String,
}
