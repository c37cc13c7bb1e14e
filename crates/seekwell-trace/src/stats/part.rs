//! Statistics as a file: a part, to be merged with others.
//!
//! ```text
//! "SKWSTAT1", length of the figures (8 bytes, little-endian)
//! figures: options, sums, sampled accesses        what the digest is of
//! what is known of the traces and shards, as JSON
//! SHA-256 of all before
//! ```

use super::blocks::Sample;
use super::error::StatsError;
use super::figure::Asked;
use super::policy::Policy;
use super::sum::{Max, Wire};
use super::which::{self, Shard};
use super::{Options, Stats};
use crate::source::About;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"SKWSTAT1";
const SUM_LEN: usize = 32;
/// No lower rate is of any use.
const LOWEST_RATE: u64 = 32;

/// What no figure depends on.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    #[serde(flatten)]
    about: Option<About>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shards: Vec<Shard>,
}

impl Stats {
    /// SHA-256 of the figures, in hexadecimal. Names of files and hosts are not part of it.
    pub fn digest(&mut self) -> String {
        let sum = Sha256::digest(self.figures());
        sum.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The one form of all that is known, for [`Self::from_bytes`].
    pub fn to_bytes(&mut self) -> Vec<u8> {
        let figures = self.figures();
        let known = Known { about: self.before.clone(), shards: self.shards.clone() };
        let about = serde_json::to_vec(&known).expect("plain structures");
        let len = (figures.len() as u64).to_le_bytes();
        let mut out = [&MAGIC[..], &len, &figures, &about].concat();
        let sum = Sha256::digest(&out);
        out.extend_from_slice(&sum);
        out
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`StatsError::Part`] of anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StatsError> {
        let wrong = |what| StatsError::Part { what };
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            wrong("no statistics to merge: `trace stats -o NAME.stats` writes those")
        })?;
        let damaged = || wrong("damaged or cut short: make it again");
        let (whole, sum) = bytes
            .split_at_checked(bytes.len() - SUM_LEN.min(bytes.len()))
            .filter(|(whole, _)| whole.len() >= MAGIC.len() + 8)
            .ok_or_else(damaged)?;
        if Sha256::digest(whole)[..] != *sum {
            return Err(damaged());
        }
        let (len, rest) = body[..body.len() - SUM_LEN].split_at(8);
        let len = u64::from_le_bytes(len.try_into().expect("eight bytes"));
        let split = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
        let (figures, about) = split.ok_or_else(damaged)?;
        let known: Option<Known> = serde_json::from_slice(about).map_err(|_| damaged())?;
        let mut stats = Self::take_figures(figures).ok_or_else(damaged)?;
        let Known { about, mut shards } = known.unwrap_or_default();
        which::complete(&mut shards);
        if shards.iter().any(|shard| !shard.is_valid()) {
            return Err(damaged());
        }
        (stats.before, stats.shards) = (about, shards);
        Ok(stats)
    }

    fn figures(&mut self) -> Vec<u8> {
        self.end();
        let mut out = Vec::new();
        u64::from(self.options.rate_log2).put(&mut out);
        self.options.asked.code().put(&mut out);
        (self.options.policies.len() as u64).put(&mut out);
        self.options.policies.iter().for_each(|policy| (*policy as u64).put(&mut out));
        self.fleet.put(&mut out);
        (self.samples.len() as u64).put(&mut out);
        for Sample { at, seed, number, hash } in &self.samples {
            [*at, *seed, *number, *hash].map(Max).put(&mut out);
        }
        out
    }

    fn take_figures(figures: &[u8]) -> Option<Self> {
        let from = &mut &figures[..];
        let rate_log2 = u64::take(from).filter(|rate| *rate <= LOWEST_RATE)? as u32;
        let asked = Asked::of_code(u64::take(from)?)?;
        let n = u64::take(from).filter(|n| *n <= Policy::ALL.len() as u64)?;
        let policy = |_| Policy::ALL.get(u64::take(from)? as usize).copied();
        let policies = (0..n).map(policy).collect::<Option<_>>()?;
        let options = Options { asked, rate_log2, policies, ..Options::default() };
        let mut stats = Self::new(options);
        stats.fleet = Wire::take(from)?;
        stats.blocks_ended = stats.fleet.touched.blocks;
        let n = u64::take(from)?;
        let sample = |_| {
            let [at, seed, number, hash] = <[Max; 4]>::take(from)?.map(|value| value.0);
            (hash <= super::entry::bound(rate_log2)).then_some(Sample { at, seed, number, hash })
        };
        stats.samples = (0..n).map(sample).collect::<Option<_>>()?;
        // There is one form only, and nothing after it.
        (stats.figures() == figures).then_some(stats)
    }
}
