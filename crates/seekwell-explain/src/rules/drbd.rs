//! Disks mirrored over the network by DRBD.

use crate::words::bytes;
use crate::{Check, Found, Rule};
use seekwell_inspect::facts::DrbdState;
use seekwell_inspect::{Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-DRBD-001",
        about: "every write waits for the peer's disk",
        means: "A write is complete only once it is on both disks.",
        known: "The mirror is connected with protocol C.",
        why: "Each write and flush takes at least a network round trip and the peer's own write: \
              commits measured here are those of both machines and of the network between them.",
        fix: "nothing, if both copies must survive; protocol A or B waits less and may lose the \
              last writes when a machine fails",
        tune: None,
        check: Check::Drbd(synchronous),
    },
    Rule {
        id: "SW-DRBD-002",
        about: "the mirror is degraded",
        means: "The peer is not connected, or one of the two disks is not up to date.",
        known: "/proc/drbd: cs is not Connected, or ds is not UpToDate/UpToDate.",
        why: "One copy is left until the peer has caught up, and while it does, the \
              resynchronisation shares disks and network with everything else. Without a disk \
              here, reads come from the peer.",
        fix: "drbdadm status; drbdadm connect if it is StandAlone, otherwise wait for the \
              resynchronisation",
        tune: None,
        check: Check::Drbd(apart),
    },
];

fn is_whole(state: &DrbdState) -> bool {
    let at_work = ["Connected", "VerifyS", "VerifyT"].contains(&state.connection.as_str());
    at_work && state.disk == "UpToDate" && state.peer_disk == "UpToDate"
}

fn synchronous(state: &Fact<DrbdState>) -> Option<Found> {
    (is_whole(&state.value) && state.value.protocol == "C").then(|| {
        Found::info("every write waits for the peer's disk").seen("protocol C", &state.from)
    })
}

fn apart(fact: &Fact<DrbdState>) -> Option<Found> {
    let state = &fact.value;
    if is_whole(state) {
        return None;
    }
    let catches_up = ["Sync", "PausedSync"].iter().any(|word| state.connection.starts_with(word));
    let (severity, title) = match (catches_up, state.disk.as_str()) {
        (true, _) => (Severity::Warning, "the mirror is resynchronising"),
        (false, "Diskless") => (Severity::Error, "it has no disk here: reads come from the peer"),
        (false, _) => (Severity::Error, "only one copy is left"),
    };
    let found = Found::new(severity, title);
    Some(
        found
            .seen(format!("connection: {}", state.connection), &fact.from)
            .seen(format!("disks: {} here, {} there", state.disk, state.peer_disk), &fact.from)
            .seen(format!("out of sync: {}", bytes(state.out_of_sync_bytes)), &fact.from),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, mapper, quiet};
    use seekwell_inspect::facts::DrbdState;

    fn drbd(connection: &str, disks: &str, protocol: &str) -> impl Fn(&mut Machine) {
        let (disk, peer_disk) = disks.split_once('/').unwrap();
        let state = DrbdState {
            connection: connection.into(),
            role: "Primary".into(),
            disk: disk.into(),
            peer_disk: peer_disk.into(),
            protocol: protocol.into(),
            out_of_sync_bytes: 4096,
        };
        move |m| m.detail().drbd = fact(state.clone(), "/proc/drbd")
    }

    pub(crate) fn all() -> Vec<Case> {
        let whole = "UpToDate/UpToDate";
        vec![
            fires("SW-DRBD-001", mapper, drbd("Connected", whole, "C")).info(),
            quiet("SW-DRBD-001", mapper, drbd("Connected", whole, "A")),
            quiet("SW-DRBD-001", mapper, drbd("WFConnection", "UpToDate/DUnknown", "C")),
            fires("SW-DRBD-002", mapper, drbd("WFConnection", "UpToDate/DUnknown", "C")).error(),
            fires("SW-DRBD-002", mapper, drbd("Connected", "Diskless/UpToDate", "C")).error(),
            fires("SW-DRBD-002", mapper, drbd("SyncSource", "UpToDate/Inconsistent", "C"))
                .warning(),
            quiet("SW-DRBD-002", mapper, drbd("Connected", whole, "C")),
            quiet("SW-DRBD-002", mapper, drbd("VerifyS", whole, "C")),
        ]
    }
}
