//! How requests were issued.

use crate::words::evidence;
use crate::{Check, Found, Observed, Rule};

pub(super) const RULES: &[Rule] = &[Rule {
    id: THREADS,
    about: "io_uring could not be used",
    means: "A pool of threads issued the requests instead of io_uring.",
    known: "The engine is the thread pool, which reports why io_uring was not available: the \
            sysctl kernel.io_uring_disabled, a seccomp filter, the limit on locked memory or an \
            old kernel.",
    why: "a thread for every outstanding request costs several times the CPU time, so that the \
          highest rates and the shortest latencies are the pool's and not the disk's",
    fix: "allow io_uring: sudo sysctl kernel.io_uring_disabled=0, or a container profile that \
          permits its system calls",
    tune: None,
    check: Check::Run(no_io_uring),
}];
const THREADS: &str = "SW-ENGINE-001";
const SYSCTL: &str = "/proc/sys/kernel/io_uring_disabled";

fn no_io_uring(input: &Observed<'_>) -> Option<Found> {
    let engine = input.engine.filter(|e| e.name == "threads")?;
    let notice = engine.notice.as_deref()?;
    let mut proof = vec![evidence(format!("engine threads: {notice}"), "io_uring_setup(2)")];
    let value = input.io_uring_disabled.filter(|v| v.value > 0);
    proof.extend(
        value.map(|v| evidence(format!("kernel.io_uring_disabled is {}", v.value), &v.from)),
    );
    let container = input.inspection.host.container.as_ref();
    if let Some(c) = container {
        proof.push(evidence(format!("in a container: {}", c.value), &c.from));
    }
    let remedy = match (value, container) {
        (Some(v), _) if v.value == 1 => format!(
            "run as root, or allow it for all: sudo sysctl kernel.io_uring_disabled=0 ({SYSCTL})"
        ),
        (Some(_), _) => format!("sudo sysctl kernel.io_uring_disabled=0 ({SYSCTL})"),
        (None, Some(_)) => "start the container with --security-opt seccomp=unconfined, or with a \
                            profile that allows io_uring_setup, io_uring_enter and \
                            io_uring_register"
            .into(),
        (None, None) => format!(
            "see what prevents it: ulimit -l (1024 or more is needed); cat {SYSCTL}; grep Seccomp \
             /proc/self/status; io_uring needs Linux 5.1 or later: uname -r"
        ),
    };
    Some(
        Found::info("io_uring could not be used; a pool of threads measured instead")
            .evidence(proof)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_runs::Engine;

    fn threads(notice: Option<&str>) -> Case {
        let notice = notice.map(String::from);
        Case::nvme().with(|c| {
            let name = "threads".into();
            c.engine = Some(Engine { name, notice, cost_ns_per_request: None });
        })
    }

    #[test]
    fn forbidden_io_uring_is_told_with_the_sysctl_that_forbids_it() {
        let case = threads(Some("io_uring is forbidden here"));
        let f = case.clone().with(|c| c.io_uring_disabled = fact(2, SYSCTL)).finding(THREADS);
        assert!(f.evidence.iter().any(|e| e.seen == "kernel.io_uring_disabled is 2"), "{f:?}");
        assert!(f.remedy.starts_with("sudo sysctl kernel.io_uring_disabled=0"), "{f:?}");
        let docker = |c: &mut Case| {
            c.inspection.host.container = fact("docker".into(), "/.dockerenv");
        };
        let f = case.with(docker).finding(THREADS);
        assert!(f.remedy.contains("seccomp"), "{f:?}");
    }

    #[test]
    fn threads_that_were_asked_for_and_io_uring_itself_are_none() {
        threads(None).quiet(THREADS);
        Case::nvme().quiet(THREADS);
    }
}
