//! Options whose values are checked like any other's and then not used: what they ask for is not
//! done here, which the run says.

use super::asked::Asked;
use crate::error::JobError;
use crate::value;

/// 0 or 1.
const FLAGS: &[&str] = &[
    "allrandrepeat",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "disable_bw_measurement",
    "disk_util",
    "error_dump",
    "fixedbufs",
    "registerfiles",
    "stats",
    "thread",
    "trim_verify_zero",
    "unlink",
];

/// Numbers, from the least to the most.
const NUMBERS: &[(&str, u64, u64)] = &[
    ("bwavgtime", 0, u32::MAX as u64),
    ("iodepth_batch", 0, u32::MAX as u64),
    ("iodepth_batch_complete_max", 0, u32::MAX as u64),
    ("iodepth_batch_complete_min", 0, u32::MAX as u64),
    ("iodepth_low", 0, u32::MAX as u64),
    ("iopsavgtime", 0, u32::MAX as u64),
    ("nonvectored", 0, u32::MAX as u64),
    ("prio", 0, 7),
    ("prioclass", 0, 3),
    ("priohint", 0, 1023),
    ("significant_figures", 1, 10),
    ("sqthread_poll_cpu", 0, 4095),
    ("trim_backlog", 0, i64::MAX as u64),
    ("trim_backlog_batch", 0, u32::MAX as u64),
    ("zonecapacity", 0, i64::MAX as u64),
];

/// Numbers for each kind of request, up to the most.
const TRIPLES: &[(&str, u64)] =
    &[("cmdprio", 7), ("cmdprio_class", 3), ("cmdprio_hint", 1023), ("cmdprio_percentage", 100)];

/// One of some words.
const WORDS: &[(&str, &[(&str, ())])] = &[
    ("cmd_type", &[("nvme", ())]),
    ("random_generator", &[("tausworthe", ()), ("tausworthe64", ()), ("lfsr", ())]),
    (
        "unified_rw_reporting",
        &[("none", ()), ("mixed", ()), ("both", ()), ("0", ()), ("1", ()), ("2", ())],
    ),
];

/// Refuses values that these options do not take.
pub(super) fn check(asked: &Asked<'_>) -> Result<(), JobError> {
    FLAGS.iter().try_for_each(|name| asked.flag(name, false).map(drop))?;
    for (name, least, most) in NUMBERS {
        asked.number(name, *least, *most)?;
    }
    for (name, most) in TRIPLES {
        asked.triple(name, 0, *most)?;
    }
    WORDS.iter().try_for_each(|(name, words)| asked.word(name, words, ()))?;
    let nice = asked.parse("nice", value::signed)?.unwrap_or(0);
    if !(-20..=19).contains(&nice) {
        return Err(asked.bad_option("nice", "-20 to 19"));
    }
    // Any text will do.
    for name in ["cmdprio_bssplit", "description"] {
        asked.has(name);
    }
    Ok(())
}
