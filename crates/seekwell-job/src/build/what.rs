//! What a job does: kinds and sizes of requests, engine, order and time.

use super::asked::Asked;
use crate::error::JobError;
use crate::job::{
    Access, BlockShare, Blocks, By, Durability, Engine, EngineKind, Exit, ExitWhat, FixedRange,
    Group, Kind, OpenSync, Timing,
};
use crate::options::{self, Found};
use crate::value::{self, Bare};
use seekwell_io::request::Flags;

/// The largest request, in bytes. Every clone holds a buffer of it for each request outstanding.
const MOST_BLOCK: u64 = 128 << 20;

/// `rw` and what goes with it.
pub(super) fn access(asked: &Asked<'_>) -> Result<Access, JobError> {
    let words = [
        ("read", (Kind::Read, false)),
        ("write", (Kind::Write, false)),
        ("trim", (Kind::Trim, false)),
        ("randread", (Kind::Read, true)),
        ("randwrite", (Kind::Write, true)),
        ("randtrim", (Kind::Trim, true)),
        ("rw", (Kind::ReadWrite, false)),
        ("readwrite", (Kind::ReadWrite, false)),
        ("randrw", (Kind::ReadWrite, true)),
        ("trimwrite", (Kind::TrimWrite, false)),
        ("randtrimwrite", (Kind::TrimWrite, true)),
    ];
    let ((mut kind, mut random), mut draw_every, mut skip_bytes) = ((Kind::Read, false), 1, 0);
    if let Some(given) = asked.given("rw") {
        let (word, modifier) = match given.value.split_once(':') {
            Some((word, modifier)) => (word.trim(), Some(modifier.trim())),
            None => (given.value.trim(), None),
        };
        (kind, random) = asked.pick(given, word, &words)?;
        let needed = if random { "randread:N, N from 1" } else { "read:BYTES" };
        let number = modifier.map(|m| value::signed(m, asked.reading(given))).transpose();
        match number.map_err(|_| asked.bad(given, needed))? {
            Some(n) if random => {
                draw_every = u32::try_from(n)
                    .ok()
                    .filter(|n| *n > 0)
                    .ok_or_else(|| asked.bad(given, needed))?;
            }
            Some(bytes) => skip_bytes = bytes,
            None => {}
        }
    }
    let mix = match asked.later("rwmixwrite", "rwmixread") {
        true => asked.percent("rwmixwrite")?.map(|writes| 100 - writes),
        false => asked.percent("rwmixread")?,
    };
    // Both are read, so that a wrong value is reported even if the other one applies.
    let (_, _) = (asked.percent("rwmixwrite")?, asked.percent("rwmixread")?);
    let random_share = asked.triple("percentage_random", 0, 100)?;
    let identical =
        asked.word("rw_sequencer", &[("sequential", false), ("identical", true)], false)?;
    Ok(Access {
        kind,
        random,
        read_percent: mix.unwrap_or(50),
        draw_every,
        skip_bytes,
        identical,
        percent_random: random_share.map(|share| match share {
            Some(share) if random => *share as u8,
            _ if random => 100,
            _ => 0,
        }),
    })
}

/// `bs`, `bsrange`, `bssplit`: the last of these three that is there at all holds, whatever their
/// order in the file.
pub(super) fn blocks(asked: &Asked<'_>) -> Result<By<Blocks>, JobError> {
    let fixed = asked.triple("bs", 1, MOST_BLOCK)?;
    let range = |text: &str, how| {
        let text = text.replace('/', ",");
        value::triple(&text, |one| {
            let range = value::range(one, |bytes| value::number(bytes, how))?;
            let fits = range.min > 0 && range.max <= MOST_BLOCK && one.contains(['-', ':']);
            if fits { Ok(range) } else { Err("ranges such as 1k-4k, from 1 byte to 128 MiB") }
        })
    };
    let range: By<Option<FixedRange<u64>>> = asked.parse("bsrange", range)?.unwrap_or_default();
    let split = asked.parse("bssplit", value::bssplit)?.unwrap_or_default();
    let largest = split.iter().flatten().map(|share: &BlockShare| share.bytes).max();
    if largest.is_some_and(|bytes| u64::from(bytes) > MOST_BLOCK) {
        return Err(asked.bad_option("bssplit", "sizes of at most 128 MiB"));
    }
    let one = |fixed: Option<u64>, range: Option<FixedRange<u64>>, split: &Vec<BlockShare>| match (
        split.as_slice(),
        range,
    ) {
        ([], None) => Blocks::Fixed(fixed.unwrap_or(4096) as u32),
        ([], Some(FixedRange { min, max })) if min == max => Blocks::Fixed(min as u32),
        ([], Some(FixedRange { min, max })) => Blocks::Range { min: min as u32, max: max as u32 },
        ([only], _) => Blocks::Fixed(only.bytes),
        _ => Blocks::Split(split.clone()),
    };
    Ok(By {
        read: one(fixed.read, range.read, &split.read),
        write: one(fixed.write, range.write, &split.write),
        trim: one(fixed.trim, range.trim, &split.trim),
    })
}

/// Block sizes as `bs` would say them.
pub(super) fn blocks_told(blocks: &By<Blocks>) -> String {
    let one = |blocks: &Blocks| match (blocks.min(), blocks.max()) {
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min}-{max}"),
    };
    let By { read, write, trim } = blocks.map(one);
    if read == write && write == trim { read } else { format!("{read},{write},{trim}") }
}

/// `ba`, which counts in random jobs; else offsets are multiples of the smallest block.
pub(super) fn alignment(
    asked: &Asked<'_>,
    access: &Access,
    blocks: &By<Blocks>,
) -> Result<By<u64>, JobError> {
    let given = asked.triple("ba", 1, i64::MAX as u64)?;
    let one = |given: Option<u64>, blocks: &Blocks| {
        given.filter(|_| access.random).unwrap_or(u64::from(blocks.min()))
    };
    Ok(By {
        read: one(given.read, &blocks.read),
        write: one(given.write, &blocks.write),
        trim: one(given.trim, &blocks.trim),
    })
}

/// `ioengine`, `iodepth` and how requests are batched.
pub(super) fn engine(asked: &Asked<'_>) -> Result<Engine, JobError> {
    let mut kind = EngineKind::Psync;
    if let Some(given) = asked.given("ioengine") {
        kind = match options::engine(given.value.trim()) {
            Found::Kind(kind) => kind,
            Found::Refused(why) => return Err(asked.refuse(given, why)),
            Found::Unknown(near) => {
                let near = if near.is_empty() { String::new() } else { near.join(", ") + ", or " };
                let needed = format!("{near}another of fio's engines for files and block devices");
                return Err(asked.bad(given, needed));
            }
        };
    }
    let wanted = asked.count("iodepth", 1, 1)?;
    let depth = if kind.synchronous() { 1 } else { wanted };
    let direct = if asked.later("buffered", "direct") {
        !asked.flag("buffered", true)?
    } else {
        asked.flag("buffered", true)?;
        asked.flag("direct", false)?
    };
    let hipri = asked.flag("hipri", false)?;
    let flags = Flags {
        atomic: asked.flag("atomic", false)?,
        uncached: asked.flag("uncached", false)?,
        polled: hipri && matches!(kind, EngineKind::IoUring | EngineKind::IoUringCmd),
    };
    Ok(Engine {
        kind,
        depth,
        serialize_overlap: asked.flag("serialize_overlap", false)?,
        offload: asked.word("io_submit_mode", &[("inline", false), ("offload", true)], false)?,
        direct: direct || flags.atomic || kind == EngineKind::IoUringCmd,
        flags,
    })
}

/// When a job starts, and with which it is reported.
pub(super) fn group(asked: &Asked<'_>) -> Result<Group, JobError> {
    let delay = |text: &str, how| value::range(text, |one| value::time(one, Bare::Seconds, how));
    Ok(Group {
        number: 0,
        stonewall: asked.flag("stonewall", false)?,
        new_group: asked.flag("new_group", false)?,
        reporting: asked.flag("group_reporting", false)?,
        wait_for: asked.text("wait_for"),
        start_delay: asked.parse("startdelay", delay)?.unwrap_or_default(),
    })
}

/// How long it runs.
pub(super) fn timing(asked: &Asked<'_>) -> Result<Timing, JobError> {
    let runtime = asked.time("runtime", Bare::Seconds)?;
    let time_based = asked.flag("time_based", false)? && runtime.0 > 0;
    Ok(Timing {
        runtime,
        time_based,
        ramp: asked.time("ramp_time", Bare::Seconds)?,
        ramp_bytes: asked.number("ramp_size", 0, i64::MAX as u64)?.unwrap_or(0),
    })
}

/// What makes writes durable.
pub(super) fn durability(asked: &Asked<'_>) -> Result<Durability, JobError> {
    let words = [
        ("none", OpenSync::None),
        ("0", OpenSync::None),
        ("sync", OpenSync::Sync),
        ("1", OpenSync::Sync),
        ("dsync", OpenSync::Dsync),
    ];
    Ok(Durability {
        open: asked.word("sync", &words, OpenSync::None)?,
        fsync_every: asked.count("fsync", 0, 0)?,
        fdatasync_every: asked.count("fdatasync", 0, 0)?,
        end_fsync: asked.flag("end_fsync", false)?,
        end_syncfs: asked.flag("end_syncfs", false)?,
        fsync_on_close: asked.flag("fsync_on_close", false)?,
    })
}

/// Which jobs its end ends.
pub(super) fn exit(asked: &Asked<'_>) -> Result<Exit, JobError> {
    let words =
        [("group", ExitWhat::Group), ("stonewall", ExitWhat::Stonewall), ("all", ExitWhat::All)];
    Ok(Exit {
        all: asked.flag("exitall", false)?,
        all_on_error: asked.flag("exitall_on_error", false)?,
        what: asked.word("exit_what", &words, ExitWhat::Group)?,
    })
}
