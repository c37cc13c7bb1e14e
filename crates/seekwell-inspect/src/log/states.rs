//! What a line says that the kernel switched off, and how much a line says of an incident.

use super::incident::State;
use super::matcher::{Hole, Holes};

/// The state a line of this entry leaves its device in.
pub(crate) fn after(id: &str, held: &Holes<'_>, line: &str) -> Option<State> {
    let device = || held.get(Hole::Dev, 0).unwrap_or_default().to_owned();
    Some(match id {
        "KL-001" => State::LinkLimited { speed: format!("{} Gbps", held.get(Hole::Num, 0)?) },
        "KL-002" => mode(held.get(Hole::Word, 0)?),
        "KL-003" => State::NcqOff,
        "KL-015" => State::Disabled,
        "KL-018" => mode(line.rsplit(' ').next().unwrap_or("PIO")),
        "KL-028" => State::LinkDown,
        "KL-032" => State::WriteProtected,
        "KL-038" => State::Offline,
        "KL-047" | "KL-048" => State::ControllerGone,
        "KL-057" => State::UasOff,
        "KL-060" => State::FlushesOff { device: device() },
        "KL-061" if stopped(line) => {
            State::FilesystemStopped { device: journal(&device()).to_owned() }
        }
        "KL-063" => {
            State::ArrayDegraded { array: held.get(Hole::Word, 1).unwrap_or_default().to_owned() }
        }
        "KL-065" => State::InterruptOff { irq: held.get(Hole::Num, 0)?.parse().ok()? },
        _ => return None,
    })
}

/// A transfer mode as libata prints it.
pub(crate) fn mode(text: &str) -> State {
    let mode = text.to_owned();
    if text.starts_with("PIO") { State::Pio { mode } } else { State::DmaMode { mode } }
}

/// Whether the file system takes no writes after this line.
fn stopped(line: &str) -> bool {
    ["Remounting", "Aborting journal", "shut down", "Shutting down", "forced readonly"]
        .iter()
        .any(|w| line.contains(w))
}

/// The device in the name a journal gives itself, which ends in its inode: `sda1` of `sda1-8`.
pub(crate) fn journal(device: &str) -> &str {
    let inode = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match device.rsplit_once('-') {
        Some((name, after)) if name != "dm" && inode(after) => name,
        _ => device,
    }
}

/// How much an entry says of an incident among others as bad: what the kernel switched off says
/// most, then the cause, then that something failed at all.
pub(crate) fn weight(id: &str) -> u8 {
    match id {
        "KL-001" | "KL-002" | "KL-003" | "KL-018" => 4,
        "KL-007" | "KL-015" | "KL-038" | "KL-046" | "KL-047" => 3,
        "KL-008" | "KL-009" | "KL-010" | "KL-011" | "KL-014" | "KL-016" | "KL-017" | "KL-041"
        | "KL-051" | "KL-056" => 2,
        "KL-004" | "KL-012" | "KL-035" | "KL-040" => 0,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_names_its_device_without_the_inode() {
        assert_eq!(journal("sda1-8"), "sda1");
        assert_eq!(journal("dm-0-8"), "dm-0");
        assert_eq!(journal("dm-0"), "dm-0");
    }
}
