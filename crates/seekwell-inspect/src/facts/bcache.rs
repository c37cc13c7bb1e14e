//! A disk behind bcache (`Documentation/admin-guide/bcache.rst` of the kernel).

use crate::model::Fact;
use crate::reader::{Reader, choice, show};
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BcacheFacts {
    /// `writethrough`, `writeback`, `writearound`, `none`.
    pub mode: Option<Fact<String>>,
    /// `clean`, `dirty`, `inconsistent`; `no cache` of one that has none.
    pub state: Option<Fact<String>>,
    /// Requests of a sequential stream longer than this go past the cache, in bytes; 0: none does.
    pub sequential_cutoff_bytes: Option<Fact<u64>>,
    /// What is only in the cache, in bytes.
    pub dirty_bytes: Option<Fact<u64>>,
    pub hits: Option<Fact<u64>>,
    pub misses: Option<Fact<u64>>,
    /// Requests that went past the cache: sequential ones, and all while the cache is congested.
    pub bypassed: Option<Fact<u64>>,
}

pub(super) fn read(r: &mut Reader<'_>, dir: &Path) -> Option<BcacheFacts> {
    let bcache = dir.join("bcache");
    if !r.view.exists(&bcache) {
        return None;
    }
    let at = |file: &str| bcache.join(file);
    let of_all = |file: &str| at("stats_total").join(file);
    let mode = r.optional(&at("cache_mode"), "cache mode");
    let sum = |r: &mut Reader<'_>, files: [&str; 2], what: &str| {
        let [a, b] = files.map(|file| r.count(&of_all(file), what));
        let (a, b) = (a?, b?);
        Some(Fact::new(a.value.saturating_add(b.value), a.from))
    };
    Some(BcacheFacts {
        mode: mode.and_then(|all| Some(Fact::new(choice(&all.value).0?, all.from))),
        state: r.optional(&at("state"), "state of the cache"),
        sequential_cutoff_bytes: size(r, &at("sequential_cutoff")),
        dirty_bytes: size(r, &at("dirty_data")),
        hits: r.count(&of_all("cache_hits"), "cache hits"),
        misses: r.count(&of_all("cache_misses"), "cache misses"),
        bypassed: sum(r, ["cache_bypass_hits", "cache_bypass_misses"], "requests past the cache"),
    })
}

/// A size as bcache writes it: `4.0M`, `0.3k`, `512`; powers of 1024.
fn size(r: &Reader<'_>, path: &Path) -> Option<Fact<u64>> {
    let text = r.hint(path)?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 0,
        unit => ["k", "M", "G", "T", "P", "E", "Z", "Y"].iter().position(|u| *u == unit)? + 1,
    };
    let number: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    Some(Fact::new((number * 1024_f64.powi(unit as i32)) as u64, show(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn mode_state_and_counts_are_read() {
        let at = "/sys/devices/virtual/block/bcache0/bcache";
        let fake = Fake::new()
            .file(format!("{at}/cache_mode"), "writethrough [writeback] writearound none\n")
            .file(format!("{at}/state"), "dirty\n")
            .file(format!("{at}/sequential_cutoff"), "4.0M\n")
            .file(format!("{at}/dirty_data"), "1.5k\n")
            .file(format!("{at}/stats_total/cache_hits"), "70\n")
            .file(format!("{at}/stats_total/cache_misses"), "30\n")
            .file(format!("{at}/stats_total/cache_bypass_hits"), "5\n")
            .file(format!("{at}/stats_total/cache_bypass_misses"), "900\n");
        let dir = Path::new("/sys/devices/virtual/block/bcache0");
        let facts = read(&mut Reader::new(&fake), dir).unwrap();
        assert_eq!(facts.mode.unwrap().value, "writeback");
        assert_eq!(facts.sequential_cutoff_bytes.unwrap().value, 4 << 20);
        assert_eq!(facts.dirty_bytes.unwrap().value, 1536);
        assert_eq!((facts.hits.unwrap().value, facts.bypassed.unwrap().value), (70, 905));
        assert_eq!(read(&mut Reader::new(&Fake::new()), dir), None);
    }

    #[test]
    fn nonsense_is_no_size() {
        let of = |text: &str| {
            let fake = Fake::new().file("/x", text);
            size(&Reader::new(&fake), Path::new("/x")).map(|f| f.value)
        };
        assert_eq!((of("0"), of("512"), of("1k")), (Some(0), Some(512), Some(1024)));
        for text in ["", "k", "-1", "1.0q", "1kM", "nan", "é"] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(of("99999999Y"), Some(u64::MAX));
    }
}
