//! What written blocks hold, and how they are checked.

use super::asked::Asked;
use crate::error::JobError;
use crate::job::{
    Access, Amount, Blocks, Buffers, By, Checksum, Contents, Dedupe, Pattern, Repeats, Verify,
};
use crate::surroundings::Surroundings;
use crate::value;

/// A pattern; `'file'` in it is read whole.
fn pattern(
    asked: &Asked<'_>,
    name: &'static str,
    offset: bool,
    around: &Surroundings,
) -> Result<Option<Pattern>, JobError> {
    asked.parse(name, |text, _| value::pattern(text, offset, |path| (around.read)(path).ok()))
}

/// How writes repeat data; `least` is the smallest write.
pub(super) fn dedupe(asked: &Asked<'_>, least: u32) -> Result<Option<Dedupe>, JobError> {
    let percent = asked.percent("dedupe_percentage")?.unwrap_or(0);
    let share = asked.percent("dedupe_working_set_percentage")?.unwrap_or(5);
    let shared = asked.flag("dedupe_global", false)?;
    let set = asked.word("dedupe_mode", &[("repeat", false), ("working_set", true)], false)?;
    if percent == 0 {
        return Ok(None);
    }
    let repeats = match (set, asked.amount("size")?) {
        (false, _) => Repeats::Last,
        (true, Some(Amount::Bytes(bytes))) if asked.count("nrfiles", 0, 1)? <= 1 => {
            let bytes = (u128::from(bytes) * u128::from(share) / 100) as u64;
            Repeats::Set { writes: (bytes / u64::from(least.max(1))).max(1), shared }
        }
        (true, _) => return Err(asked.bad_option("dedupe_mode", "a size in bytes, and one file")),
    };
    Ok(Some(Dedupe { percent, repeats }))
}

/// What written blocks hold. What holds where several are given is as in fio.
pub(super) fn buffers(
    asked: &Asked<'_>,
    access: &Access,
    (verified, dedupe): (bool, Option<Dedupe>),
    around: &Surroundings,
) -> Result<Buffers, JobError> {
    let percent = asked.percent("buffer_compress_percentage")?;
    let chunk = asked.count("buffer_compress_chunk", 0, 512)?;
    let zero = asked.flag("zero_buffers", false)?;
    let given = pattern(asked, "buffer_pattern", false, around)?;
    let patterned = given.is_some();
    let last = asked.later("zero_buffers", "buffer_pattern");
    let contents = match given {
        Some(_) if zero && last => Contents::Zero,
        Some(pattern) => Contents::Pattern(pattern),
        None if zero || percent == Some(100) => Contents::Zero,
        None => Contents::Random,
    };
    let compressed = percent.is_some_and(|percent| percent > 0 && percent < 100);
    let refill = compressed || verified || dedupe.is_some() || (patterned && access.kind.reads());
    let scramble = !(patterned || zero && !asked.has("scramble_buffers"));
    Ok(Buffers {
        contents,
        refill: asked.flag("refill_buffers", refill)?,
        scramble: asked.flag("scramble_buffers", true)? && scramble,
        compress_percent: percent.filter(|_| compressed),
        compress_chunk_bytes: if chunk == 0 { 512 } else { chunk },
        dedupe,
    })
}

/// Words of `verify`; none for no verifying.
const SUMS: &[(&str, Option<Checksum>)] = &[
    ("0", None),
    ("md5", Some(Checksum::Md5)),
    ("crc64", Some(Checksum::Crc64)),
    ("crc32", Some(Checksum::Crc32)),
    ("crc32c", Some(Checksum::Crc32c)),
    ("crc32c-intel", Some(Checksum::Crc32c)),
    ("crc16", Some(Checksum::Crc16)),
    ("crc7", Some(Checksum::Crc7)),
    ("sha1", Some(Checksum::Sha1)),
    ("sha256", Some(Checksum::Sha256)),
    ("sha512", Some(Checksum::Sha512)),
    ("sha3-224", Some(Checksum::Sha3_224)),
    ("sha3-256", Some(Checksum::Sha3_256)),
    ("sha3-384", Some(Checksum::Sha3_384)),
    ("sha3-512", Some(Checksum::Sha3_512)),
    ("xxhash", Some(Checksum::Xxhash)),
    ("meta", Some(Checksum::Meta)),
    ("pattern", Some(Checksum::Pattern)),
    ("null", Some(Checksum::Null)),
];

/// How what was written is checked. A pattern alone means its blocks with headers.
pub(super) fn verify(
    asked: &Asked<'_>,
    access: &Access,
    blocks: &By<Blocks>,
    around: &Surroundings,
) -> Result<Option<Verify>, JobError> {
    let pattern = pattern(asked, "verify_pattern", true, around)?;
    let implied = pattern.is_some().then_some(Checksum::Meta);
    let checksum = asked.word("verify", SUMS, implied)?;
    let interval = asked.number("verify_interval", 80, u64::from(u32::MAX))?.map(|i| i as u32);
    let pattern_interval = asked.number("verify_pattern_interval", 0, u64::from(u32::MAX))?;
    let backlog = asked.number("verify_backlog", 0, i64::MAX as u64)?.filter(|n| *n > 0);
    let batch = asked.count("verify_backlog_batch", 0, 0)?;
    let percent = asked.percent("trim_percentage")?.unwrap_or(0);
    let mut verify = Verify {
        checksum: checksum.unwrap_or(Checksum::Null),
        pattern,
        pattern_interval_bytes: pattern_interval.filter(|n| *n > 0).map(|n| n as u32),
        read_back: asked.flag("do_verify", true)?,
        only: asked.flag("verify_only", false)?,
        interval_bytes: None,
        offset_bytes: asked.number("verify_offset", 40, u64::from(u32::MAX))?.unwrap_or(0) as u32,
        sequence: asked.flag("verify_write_sequence", true)?,
        header_seed: asked.flag("verify_header_seed", true)?,
        fatal: asked.flag("verify_fatal", false)?,
        dump: asked.flag("verify_dump", false)?,
        threads: asked.count("verify_async", 0, 0)?,
        backlog,
        backlog_batch: (batch > 0).then_some(u64::from(batch)),
        trim: percent > 0,
    };
    let Some(checksum) = checksum else { return Ok(None) };
    if checksum == Checksum::Pattern && verify.pattern.is_none() {
        return Err(asked.bad_option("verify", "verify_pattern too"));
    }
    let written = if access.kind.writes() { &blocks.write } else { &blocks.read };
    verify.interval_bytes = headers_every(interval, written);
    let room = verify.interval_bytes.unwrap_or(written.min());
    if verify.offset_bytes >= room {
        return Err(asked.bad_option("verify_offset", format!("less than {room}, the interval")));
    }
    Ok(Some(verify))
}

/// How far headers are apart: as asked for where that divides every size, else the largest number
/// that does; `None` if it is the size of every block.
fn headers_every(asked: Option<u32>, blocks: &Blocks) -> Option<u32> {
    let common = match blocks {
        Blocks::Fixed(bytes) => *bytes,
        Blocks::Range { min, max } => divisor(*min, *max),
        Blocks::Split(shares) => shares.iter().map(|s| s.bytes).fold(0, divisor),
    };
    let every = asked.filter(|every| common % every == 0).unwrap_or(common);
    (every != blocks.max()).then_some(every)
}

/// The greatest common divisor (Euclid).
const fn divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
