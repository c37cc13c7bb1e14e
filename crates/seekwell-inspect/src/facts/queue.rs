//! Limits and switches of a request queue beyond those every report shows.

use crate::model::Fact;
use crate::reader::{Need, Reader};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Further settings and limits, from `/sys/block/*/queue`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueFacts {
    pub max_hardware_request_bytes: Option<Fact<u64>>,
    /// The size below which requests are slow, in bytes (a stripe's chunk).
    pub minimum_io_bytes: Option<Fact<u64>>,
    /// The size the device likes best, in bytes; 0 means it does not say.
    pub optimal_io_bytes: Option<Fact<u64>>,
    /// The largest discard the hardware takes, in bytes; 0 means none.
    pub discard_max_hardware_bytes: Option<Fact<u64>>,
    /// 0: requests are merged; 1: only simple merges; 2: none.
    pub nomerges: Option<Fact<u64>>,
    /// 0: complete anywhere; 1: on the same core group; 2: on the same CPU.
    pub rq_affinity: Option<Fact<u64>>,
    /// The latency write-back throttling aims at, in microseconds; 0 means off.
    pub wbt_lat_us: Option<Fact<u64>>,
    /// How long a request may take before error handling starts, in milliseconds.
    pub io_timeout_ms: Option<Fact<u64>>,
    /// `none`, `host-aware` or `host-managed`.
    pub zoned: Option<Fact<String>>,
    /// Of a device that has zones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneFacts>,
}

/// What the zones of a device are like, from `/sys/block/*/queue`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneFacts {
    /// Length of a zone, in bytes.
    pub zone_bytes: Option<Fact<u64>>,
    /// The most zones that can be open at once; 0 means any number.
    pub max_open: Option<Fact<u64>>,
    /// The most zones that can be open or closed, which is neither empty nor full; 0 means any
    /// number.
    pub max_active: Option<Fact<u64>>,
}

pub(super) fn read(r: &mut Reader<'_>, disk: &Path) -> QueueFacts {
    let at = |name: &str| disk.join("queue").join(name);
    let zoned = r.optional(&at("zoned"), "zone model");
    let zones = zoned.as_ref().filter(|model| model.value != "none").map(|_| ZoneFacts {
        zone_bytes: r.scaled(&at("chunk_sectors"), "zone size", 512, Need::Optional),
        max_open: r.count(&at("max_open_zones"), "most open zones"),
        max_active: r.count(&at("max_active_zones"), "most active zones"),
    });
    QueueFacts {
        max_hardware_request_bytes: r.scaled(
            &at("max_hw_sectors_kb"),
            "largest request of the hardware",
            1024,
            Need::Optional,
        ),
        minimum_io_bytes: r.count(&at("minimum_io_size"), "smallest efficient request"),
        optimal_io_bytes: r.count(&at("optimal_io_size"), "best request size"),
        discard_max_hardware_bytes: r.count(&at("discard_max_hw_bytes"), "largest discard"),
        nomerges: r.count(&at("nomerges"), "whether requests are merged"),
        rq_affinity: r.count(&at("rq_affinity"), "where requests complete"),
        // A queue without throttling returns an error, which is no loss.
        wbt_lat_us: r.parsed(&at("wbt_lat_usec")),
        io_timeout_ms: r.count(&at("io_timeout"), "request timeout"),
        zoned,
        zones,
    }
}
