//! How offsets are drawn, how fast requests come, and hints.

use super::asked::Asked;
use crate::error::JobError;
use crate::job::{
    Access, Blocks, By, Distribution, Flow, Hints, Kind, Precondition, Process, Random, Rate,
    ThinkAt, Thinktime,
};
use crate::value::{self, Bare};
use seekwell_io::units::Nanos;
use seekwell_io::value::law;
use seekwell_io::workload::Law;

/// How offsets are drawn.
pub(super) fn random(
    asked: &Asked<'_>,
    (access, blocks): (&Access, &By<Blocks>),
    align: &By<u64>,
) -> Result<Random, JobError> {
    let distribution = distribution(asked)?;
    let uniform = distribution == Distribution::Law(Law::Uniform);
    let own = |align: u64, blocks: &Blocks| align == u64::from(blocks.min());
    // fio keeps no map either where offsets are not multiples of the smallest block.
    let aligned = own(align.read, &blocks.read)
        && own(align.write, &blocks.write)
        && own(align.trim, &blocks.trim);
    let repeat = asked.flag("randrepeat", true)?;
    let seed = asked.number("randseed", 0, i64::MAX as u64)?;
    let precondition = precondition(asked, access, &blocks.write)?;
    let once_each = !asked.flag("norandommap", false)? && uniform && aligned;
    Ok(Random {
        distribution,
        once_each: once_each && precondition.is_none(),
        precondition,
        repeat: repeat && seed.is_none(),
        seed,
    })
}

/// `sprandom` and its parameters.
fn precondition(
    asked: &Asked<'_>,
    access: &Access,
    writes: &Blocks,
) -> Result<Option<Precondition>, JobError> {
    let spare = asked.parse("spr_op", |text, _| {
        value::float(text).ok().filter(|op| *op > 0.0 && *op < 1.0).ok_or("above 0 and below 1")
    })?;
    let regions = asked.count("spr_num_regions", 1, 100)?;
    if !asked.flag("sprandom", false)? {
        return Ok(None);
    }
    let single = |name| Ok::<_, JobError>(asked.count(name, 0, 1)? <= 1);
    let power = matches!(writes, Blocks::Fixed(bytes) if bytes.is_power_of_two());
    let needed = [
        (access.kind == Kind::Write && access.random, "rw=randwrite"),
        (power, "one bs, a power of two"),
        (single("numjobs")? && single("nrfiles")?, "one job on one file"),
        (!asked.has("random_distribution"), "no random_distribution"),
        (!asked.has("zonemode"), "no zonemode"),
        (!asked.has("verify"), "no verify: blocks are written twice"),
        (asked.flag("norandommap", true)?, "norandommap=1, for blocks are written twice"),
    ];
    match needed.iter().find(|(holds, _)| !holds) {
        Some((_, needed)) => Err(asked.bad_option("sprandom", *needed)),
        None => Ok(Some(Precondition { spare: spare.unwrap_or(0.15), regions })),
    }
}

/// `random_distribution`: a word, its parameter and, after another colon, its centre.
fn distribution(asked: &Asked<'_>) -> Result<Distribution, JobError> {
    let moving = asked.count("random_sequence_stride", 0, 0)? > 0;
    let Some(given) = asked.given("random_distribution") else {
        return Ok(Distribution::Law(Law::Uniform));
    };
    let text = given.value.trim();
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let bad = |needed: &str| asked.bad(given, needed.to_owned());
    if word == "zoned" || word == "zoned_abs" {
        let zones = value::zones(rest, word == "zoned_abs", asked.reading(given)).map_err(bad)?;
        if zones.iter().all(|zones| zones.is_empty()) {
            return Err(bad("zones such as zoned:60/10:40/90"));
        }
        return Ok(Distribution::Zoned(zones));
    }
    if word == "sequence" {
        let list = rest.split(',').map(|n| n.trim().parse::<u64>()).collect::<Result<Vec<_>, _>>();
        let blocks = list.map_err(|_| bad("numbers of blocks such as sequence:2,0,1"))?;
        return Ok(Distribution::Sequence { blocks, moving });
    }
    let law = law(text).map_err(bad)?;
    if matches!(law, Law::Zipf { theta: 1.0, .. }) {
        return Err(bad("zipf:THETA, above 0, at most 10, and not 1"));
    }
    Ok(Distribution::Law(law))
}

/// Bounds a second.
pub(super) fn rate(asked: &Asked<'_>) -> Result<Rate, JobError> {
    let bounds = |name, most| {
        let values = asked.triple(name, 0, most)?;
        Ok::<_, JobError>(values.map(|value| value.filter(|value| *value > 0)))
    };
    let (bytes, counts) = (i64::MAX as u64, u64::from(u32::MAX));
    let (rate, least) = (bounds("rate", bytes)?, bounds("rate_min", bytes)?);
    let (iops, least_iops) = (bounds("rate_iops", counts)?, bounds("rate_iops_min", counts)?);
    let any = |values: &By<Option<u64>>| values.iter().any(Option::is_some);
    if any(&rate) && any(&iops) {
        return Err(asked.bad_option("rate_iops", "either rate or rate_iops"));
    }
    if any(&least) && any(&least_iops) {
        return Err(asked.bad_option("rate_iops_min", "either rate_min or rate_iops_min"));
    }
    let above = |least: &By<Option<u64>>, most: &By<Option<u64>>| {
        let mut pairs = least.iter().zip(most.iter());
        pairs.any(|(least, most)| most.is_some() && least > most)
    };
    if above(&least, &rate) {
        return Err(asked.bad_option("rate_min", "at most rate"));
    }
    if above(&least_iops, &iops) {
        return Err(asked.bad_option("rate_iops_min", "at most rate_iops"));
    }
    let count = |values: By<Option<u64>>| values.map(|value| value.map(|value| value as u32));
    let process = [("linear", Process::Linear), ("poisson", Process::Poisson)];
    Ok(Rate {
        bytes_per_s: rate,
        iops: count(iops),
        min_bytes_per_s: least,
        min_iops: count(least_iops),
        process: asked.word("rate_process", &process, Process::Linear)?,
        cycle: asked.millis("rate_cycle", 1000)?,
        ignore_thinktime: asked.flag("rate_ignore_thinktime", false)?,
    })
}

/// Pauses between requests.
pub(super) fn thinktime(asked: &Asked<'_>) -> Result<Option<Thinktime>, JobError> {
    let pause = asked.time("thinktime", Bare::Micros)?;
    let think = Thinktime {
        pause,
        spin: asked.time("thinktime_spin", Bare::Micros)?.min(pause),
        every: asked.count("thinktime_blocks", 0, 1)?.max(1),
        at: asked.word(
            "thinktime_blocks_type",
            &[("complete", ThinkAt::Complete), ("issue", ThinkAt::Issue)],
            ThinkAt::Complete,
        )?,
        io_time: asked.time("thinktime_iotime", Bare::Seconds)?,
    };
    Ok((pause > Nanos::ZERO).then_some(think))
}

/// A share against other jobs.
pub(super) fn flow(asked: &Asked<'_>) -> Result<Option<Flow>, JobError> {
    let weight = asked.number("flow", 0, 1000)?.unwrap_or(0) as u32;
    let flow = Flow {
        id: asked.count("flow_id", 0, 0)?,
        weight,
        sleep: Nanos::from_micros(u64::from(asked.count("flow_sleep", 0, 0)?)),
    };
    Ok((weight > 0).then_some(flow))
}

/// Hints.
pub(super) fn hints(asked: &Asked<'_>) -> Result<Hints, JobError> {
    let listed = asked.parse("cpus_allowed", |text, _| value::cpus(text))?;
    let mask = asked.number("cpumask", 0, u64::from(u32::MAX))?;
    let masked = mask.map(|mask| (0..32).filter(|cpu| mask >> cpu & 1 == 1).collect::<Vec<u32>>());
    let cpus = if asked.later("cpumask", "cpus_allowed") { masked } else { listed.or(masked) };
    let memory = [
        ("malloc", false),
        ("shm", false),
        ("shmhuge", true),
        ("mmap", false),
        ("mmapshared", false),
        ("mmaphuge", true),
    ];
    let huge_pages = match asked.given("mem") {
        Some(given) => {
            let word = given.value.split(':').next().unwrap_or_default();
            asked.pick(given, word.trim(), &memory)?
        }
        None => false,
    };
    Ok(Hints {
        sq_poll: asked.flag("sqthread_poll", false)?,
        force_async: asked.count("force_async", 0, 0)?,
        nowait: asked.flag("nowait", false)?,
        comm: asked.text("comm"),
        cpus: cpus.unwrap_or_default(),
        cpus_split: asked.word(
            "cpus_allowed_policy",
            &[("shared", false), ("split", true)],
            false,
        )?,
        huge_pages,
    })
}
