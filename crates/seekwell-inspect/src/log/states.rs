//! What a line says that the kernel switched off, and how much a line says of an incident.

use super::event::KernelEvent as E;
use super::incident::DeviceState;
use super::matcher::{Hole, Holes};

/// The state a line of this entry leaves its device in.
pub(crate) fn after(id: E, held: &Holes<'_>, line: &str) -> Option<DeviceState> {
    let device = || held.get(Hole::Dev, 0).unwrap_or_default().to_owned();
    Some(match id {
        E::SataSpeedLimited => {
            DeviceState::LinkLimited { speed: format!("{} Gbps", held.get(Hole::Num, 0)?) }
        }
        E::TransferModeLowered => mode(held.get(Hole::Word, 0)?),
        E::NcqDisabled => DeviceState::NcqOff,
        E::AtaDisabled => DeviceState::Disabled,
        E::ConfiguredForPio => mode(line.rsplit(' ').next().unwrap_or("PIO")),
        E::LinkDown => DeviceState::LinkDown,
        E::WriteProtected => DeviceState::WriteProtected,
        E::ScsiOffline => DeviceState::Offline,
        E::NvmeRemoved | E::NvmeNoQueues => DeviceState::ControllerGone,
        E::UasIgnored => DeviceState::UasOff,
        E::BarriersDisabled => DeviceState::FlushesOff { device: device() },
        E::FilesystemStopped if stopped(line) => {
            DeviceState::FilesystemStopped { device: journal(&device()).to_owned() }
        }
        E::ArrayMemberLost => DeviceState::ArrayDegraded {
            array: held.get(Hole::Word, 1).unwrap_or_default().to_owned(),
        },
        E::InterruptDisabled => {
            DeviceState::InterruptOff { irq: held.get(Hole::Num, 0)?.parse().ok()? }
        }
        _ => return None,
    })
}

/// A transfer mode as libata prints it.
pub(crate) fn mode(text: &str) -> DeviceState {
    let mode = text.to_owned();
    if text.starts_with("PIO") { DeviceState::Pio { mode } } else { DeviceState::DmaMode { mode } }
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
pub(crate) fn weight(id: E) -> u8 {
    match id {
        E::SataSpeedLimited | E::TransferModeLowered | E::NcqDisabled | E::ConfiguredForPio => 4,
        E::AtaMediaError | E::AtaDisabled | E::ScsiOffline | E::NvmeDown | E::NvmeRemoved => 3,
        E::InterfaceCrc
        | E::LinkNoise
        | E::LinkLost
        | E::InterfaceFatal
        | E::ResetFailed
        | E::IdentifyTimeout
        | E::AtaLostInterrupt
        | E::BlockError
        | E::NvmeError
        | E::UsbReset => 2,
        E::AtaException | E::LinkReset | E::ScsiCommandFailed | E::IoError => 0,
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
