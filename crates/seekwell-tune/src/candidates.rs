//! What is worth measuring: values that can be put back at once and could matter to a workload.
//!
//! [`plan()`](crate::plan()) proposes what stands out by itself; here alternatives are only listed,
//! for an experiment to judge. What cannot matter is left out, because every candidate costs
//! measuring time and makes a lucky one more likely: read-ahead where requests go past the page
//! cache, the length of a queue that the workload does not fill.

use crate::apply::current;
use crate::disk::Disk;
use crate::error::TuneError;
use crate::plan::plan;
use crate::setting::{Request, Risk, Scope, SettingError, Values, attributes, find, hdparm, parse};
use seekwell_sys::View;
use serde::{Deserialize, Serialize};

/// What of a workload decides which settings can matter to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub reads: bool,
    pub writes: bool,
    /// It goes through the target in order.
    pub sequential: bool,
    /// It goes past the page cache.
    pub direct: bool,
    pub request_bytes: u64,
    pub outstanding: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub key: String,
    pub value: String,
    pub was: String,
}

impl Candidate {
    /// A candidate as it was typed; whether the kernel takes the value is found out by setting it.
    ///
    /// # Errors
    /// [`TuneError`] for a word that is not a setting of this disk, or a value that it cannot have.
    pub fn parse(view: &dyn View, disk: &Disk, word: &str) -> Result<Self, TuneError> {
        let mut request = parse(word).map_err(SettingError::from)?;
        if let Request::Classic(switch) = &request {
            request = hdparm::translate(switch, disk).map_err(SettingError::from)?;
        }
        let Request::Set { key, value } = request else {
            return Err(TuneError::NoTrial { disk: None });
        };
        let attribute = find(view, disk, &key, None)?;
        let takes = (attribute.setting.values)(view, disk, &attribute.path);
        let value = takes.check(&value).map_err(|problem| SettingError::Value {
            key: key.clone(),
            value: value.clone(),
            problem,
        })?;
        let was = current(&view.text(&attribute.path).unwrap_or_default());
        Ok(Self { key: attribute.key, value, was })
    }
}

/// Proposals that are no question of speed, or act only through the beliefs of others.
const NOT_MEASURED: [&str; 2] = ["iostats", "rotational"];

/// How deeply CPUs and controller may sleep: at depth 1, each request may have to wake both.
const SLEEP: [&str; 2] = ["cpu.idle_latency", "nvme.latency_tolerance"];

/// The values worth measuring on this disk under this load: of risk A and B alone, of settings
/// that concern this disk alone, that [`plan()`](crate::plan()) proposes, or of how deeply it and
/// the CPUs may sleep.
///
/// # Errors
/// As for [`plan()`](crate::plan()).
pub fn candidates(view: &dyn View, disk: &Disk, load: &Load) -> Result<Vec<Candidate>, TuneError> {
    let proposals = plan(view, disk)?.proposals.into_iter();
    let mut all: Vec<Candidate> = proposals
        .filter(|p| p.risk <= Risk::B && !NOT_MEASURED.contains(&p.key.as_str()))
        .filter(|p| p.key != "read_ahead_kb" || matters_read_ahead(load))
        .map(|p| Candidate { key: p.key, value: p.proposed, was: p.current })
        .collect();
    for attribute in attributes(view, disk) {
        let setting = attribute.setting;
        let Ok(text) = view.text(&attribute.path) else { continue };
        let was = current(&text);
        let takes = (setting.values)(view, disk, &attribute.path);
        // What it has now must be a value that can be put back.
        let concerns = setting.scope == Scope::Disk || SLEEP.contains(&setting.key);
        if !concerns || takes.check(&was).is_err() {
            continue;
        }
        for value in alternatives(&attribute.key, &was, &text, &takes, load) {
            let known = all.iter().any(|c| c.key == attribute.key && c.value == value);
            let fits = value != was && takes.check(&value).is_ok();
            if !known && fits && (setting.risk)(&value) <= Risk::B {
                let (key, was) = (attribute.key.clone(), was.clone());
                all.push(Candidate { key, value, was });
            }
        }
    }
    Ok(all)
}

const fn matters_read_ahead(load: &Load) -> bool {
    load.reads && load.sequential && !load.direct
}

/// Values of one setting that could matter under this load. `text` is the attribute as it reads.
fn alternatives(key: &str, was: &str, text: &str, takes: &Values, load: &Load) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    let now: u64 = was.parse().unwrap_or(0);
    match key {
        "scheduler" => {
            text.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect()
        }
        "nr_requests" if load.outstanding > now / 2 => {
            vec![(now / 2).to_string(), (now * 2).to_string()]
        }
        "queue_depth" if load.outstanding > 1 => match takes {
            Values::Number { least, most: Some(most), .. } => {
                vec![least.to_string(), most.to_string()]
            }
            _ => words(&["1"]),
        },
        "read_ahead_kb" if matters_read_ahead(load) => words(&["128", "512", "2048"]),
        "rq_affinity" => words(&["0", "1", "2"]),
        "nomerges" if load.sequential => words(&["0"]),
        "nomerges" => words(&["0", "2"]),
        "wbt_lat_usec" if load.writes && !load.direct => words(&["0"]),
        "max_sectors_kb" if load.request_bytes / 1024 > now => {
            vec![(load.request_bytes / 1024).to_string()]
        }
        "add_random" => words(&["0"]),
        "look_ahead" if load.reads => words(&["0", "1"]),
        "apm" => words(&["254"]),
        "cpu.idle_latency" if load.outstanding == 1 => words(&["n/a"]),
        "nvme.latency_tolerance" if load.outstanding == 1 => words(&["0"]),
        "acoustic" if now != 0 => words(&["254"]),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Commanded;
    use crate::setting::tests::{ahci, disk};

    const RANDOM: Load = Load {
        reads: true,
        writes: false,
        sequential: false,
        direct: true,
        request_bytes: 4096,
        outstanding: 64,
    };

    fn words(load: &Load) -> Vec<String> {
        let view = Commanded::new(ahci());
        let all = candidates(&view, &disk(&view), load).unwrap();
        all.into_iter().map(|c| format!("{}={}", c.key, c.value)).collect()
    }

    #[test]
    fn what_could_matter_to_the_load_is_listed_and_nothing_of_risk_c_or_d() {
        let expected = [
            "link_power=max_performance",
            "scheduler=bfq",
            "scheduler=none",
            "nr_requests=32",
            "nr_requests=128",
            "rq_affinity=0",
            "rq_affinity=2",
            "queue_depth=1",
        ];
        assert_eq!(words(&RANDOM), expected);
    }

    #[test]
    fn what_the_load_never_meets_is_left_out() {
        let one = words(&Load { outstanding: 1, ..RANDOM });
        let met = |word: &String| word.starts_with("nr_requests") || word.starts_with("queue_d");
        assert!(!one.iter().any(met), "{one:?}");
        assert!(one.iter().any(|word| word == "cpu.idle_latency=n/a"), "{one:?}");
        let sequential = Load { sequential: true, request_bytes: 1 << 20, ..RANDOM };
        let past_the_cache = words(&sequential);
        assert!(!past_the_cache.iter().any(|w| w.starts_with("read_ahead")), "{past_the_cache:?}");
        let through = words(&Load { direct: false, ..sequential });
        for word in ["read_ahead_kb=1024", "read_ahead_kb=512", "read_ahead_kb=2048"] {
            assert!(through.iter().any(|w| w == word), "{through:?}");
        }
    }
}
