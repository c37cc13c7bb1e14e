//! What replaying a trace and playing it as a job have in common: how long requests may be, how
//! exactly they are timed, and how far they were from the recording.

use seekwell_checkup::latency;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::{Fidelity, Invalid};
use seekwell_trace::replay::{self, Skipped, Verdict};

/// A request that is wanted within this time is watched for and not slept for.
pub const SPIN: Nanos = Nanos::from_micros(60);
/// Requests outstanding at most, where nothing else is asked for.
pub const DEPTH: u32 = 256;
/// Longer requests are split.
const LONGEST: u32 = 4 << 20;
/// Buffers of one target take no more.
const BUFFERS: u32 = 256 << 20;

/// How many requests may be outstanding, and how long each may be, so that buffers stay small.
/// Placing may make a request longer by a block at each end.
pub fn bounds(longest: u32, block: u32, depth: Option<u32>) -> (u32, u32) {
    let block = block.max(1);
    let whole = |bytes: u32| (bytes / block * block).max(block);
    let needed = longest.min(LONGEST).saturating_add(2 * block - 1);
    let longest = whole(needed.min(LONGEST));
    match depth {
        Some(depth) => (depth, whole(longest.min(BUFFERS / depth / 4096 * 4096))),
        None => ((BUFFERS / longest.next_multiple_of(4096)).clamp(1, DEPTH), longest),
    }
}

/// Why latencies say nothing about a target, where the program was late.
pub fn judged(fidelity: &replay::Fidelity, target: &str) -> Option<Invalid> {
    (fidelity.verdict() == Verdict::ProgramLate).then(|| {
        format!(
            "the program was late: {} of {} requests were handed over more than {} after their \
             time while {target} had room for them, so their latencies say nothing about it",
            fidelity.late_program,
            fidelity.lateness.count(),
            fidelity.bound,
        )
        .into()
    })
}

/// How far a replay was from its recording, for the document.
pub fn fidelity(from: &replay::Fidelity, skipped: &Skipped) -> Fidelity {
    let by_op = Op::ALL.into_iter().zip(skipped.by_op).filter(|(_, n)| *n > 0);
    let means = from.in_flight_means();
    Fidelity {
        verdict: from.verdict().name().into(),
        late_bound_ns: from.bound,
        issued: from.issued,
        lateness: latency(&from.lateness),
        late_device: from.late_device,
        late_program: from.late_program,
        drift_percent: from.drift().map(|d| 100.0 * d),
        gap_distance: from.gap_distance(),
        in_flight_recorded: means.map(|m| m.0),
        in_flight: means.map(|m| m.1),
        in_flight_error: from.in_flight_error(),
        reordered: from.reordered,
        skipped: by_op.map(|(op, n)| (op.name().to_owned(), n)).collect(),
        skipped_other: skipped.other,
        altered: skipped.altered,
        parts: skipped.parts,
        backwards: skipped.backwards,
    }
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn buffers_stay_below_a_quarter_of_a_gigabyte_whatever_is_asked_for() {
        for longest in [1, 512, 4096, 65_536, 1 << 20, (4 << 20) + 1, u32::MAX] {
            for block in [1, 512, 4096] {
                for depth in [None, Some(1), Some(256), Some(4096)] {
                    let (tags, bytes) = bounds(longest, block, depth);
                    let taken = u64::from(tags) * u64::from(bytes.next_multiple_of(4096));
                    assert!(taken <= 256 << 20, "{longest} {block} {depth:?}: {tags} x {bytes}");
                    assert!(bytes % block == 0 && bytes > 0);
                    assert!(depth.is_none_or(|depth| depth == tags));
                }
            }
        }
        assert_eq!(bounds(4096, 512, None), (256, 4608));
        assert_eq!(bounds(4 << 20, 512, None).0, 64);
    }
}
