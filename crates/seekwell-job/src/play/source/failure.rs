//! What a failed request means to its job.

use crate::job::Errors;
use seekwell_io::measurement::{Failure, FailureKind};
use seekwell_io::request::Op;

/// What a block that does not hold what it should is reported as (EILSEQ, as fio does).
pub const MISMATCH: i32 = rustix::io::Errno::ILSEQ.raw_os_error();

/// Whether a job goes on after a failure.
pub fn tolerates(errors: &Errors, failure: &Failure) -> bool {
    is_ignored(errors, failure)
        || match (failure.kind, failure.op) {
            (FailureKind::Errno { errno: MISMATCH }, Op::Read) => errors.continue_verify,
            (_, Op::Read) => errors.continue_read,
            (_, _) => errors.continue_write,
        }
}

/// Whether a failure is one that the job does not count.
pub fn is_ignored(errors: &Errors, failure: &Failure) -> bool {
    let FailureKind::Errno { errno } = failure.kind else { return false };
    let list = match (errno, failure.op) {
        (MISMATCH, Op::Read) => &errors.ignore.trim,
        (_, Op::Read) => &errors.ignore.read,
        (_, _) => &errors.ignore.write,
    };
    list.contains(&errno)
}
