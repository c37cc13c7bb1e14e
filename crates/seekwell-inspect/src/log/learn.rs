//! Taking probe lines over into facts.

use super::facts::{AhciBanner, AtaDevice, AtaPort, Link, LogFacts, Ncq, Probe, Queues};
use super::matcher::{Hole, Holes};
use super::record::clean;

/// The most of each kind that is kept: beyond any machine, and a bound for a made-up log.
const MOST: usize = 2048;

impl LogFacts {
    /// Takes over what one line says.
    pub(crate) fn learn(&mut self, probe: Probe, held: &Holes<'_>) {
        let first = |hole| held.get(hole, 0).map(str::to_owned);
        let number = |n| held.get(Hole::Num, n).and_then(|t| t.parse::<u32>().ok());
        match probe {
            Probe::Banner => self.kernel = first(Hole::Name),
            Probe::Hypervisor => self.virtual_machine = first(Hole::Word),
            Probe::Board => {
                let board = held.get(Hole::Any, 0).unwrap_or_default();
                let maker = ["QEMU", "VMware", "VirtualBox", "innotek", "Bochs", "Xen"];
                if let Some(maker) = maker.iter().find(|m| board.contains(**m)) {
                    self.virtual_machine.get_or_insert_with(|| (*maker).to_owned());
                }
            }
            Probe::Cpus => self.cpus = number(1),
            Probe::AhciBanner | Probe::AhciVersion | Probe::AhciPorts | Probe::AhciFlags => {
                self.learn_ahci(probe, held);
            }
            Probe::Port | Probe::DummyPort => self.learn_port(held),
            Probe::LinkUp | Probe::LinkDown => self.learn_link(probe, held),
            Probe::Limited => {
                let speed = held.get(Hole::Num, 0).map(|s| format!("{s} Gbps"));
                if let Some(port) = self.port(held) {
                    port.limited_to = speed;
                }
            }
            Probe::Forced if self.forced.len() < MOST => {
                let (ata, text) = (held.get(Hole::Ata, 0), held.get(Hole::Any, 0));
                self.forced.push(format!("{}: {}", ata.unwrap_or("?"), text.unwrap_or_default()));
            }
            Probe::Identified | Probe::Sectors | Probe::Configured => {
                self.learn_device(probe, held);
            }
            Probe::NvmeQueues | Probe::VirtioQueues => self.learn_queues(probe, held),
            _ => {}
        }
    }

    fn learn_ahci(&mut self, probe: Probe, held: &Holes<'_>) {
        let Some(address) = held.get(Hole::Pci, 0) else { return };
        let known = self.ahci.iter().position(|b| b.address == address);
        let banner = probe == Probe::AhciBanner || probe == Probe::AhciVersion;
        let at = match known {
            Some(at) => at,
            None if banner && self.ahci.len() < MOST => {
                let address = address.to_owned();
                self.ahci.push(AhciBanner { address, ..Default::default() });
                self.ahci.len() - 1
            }
            None => return,
        };
        let number = |n| held.get(Hole::Num, n).and_then(|t| t.parse().ok()).unwrap_or_default();
        let ahci = &mut self.ahci[at];
        if banner {
            ahci.version = held.get(Hole::Num, 0).unwrap_or_default().to_owned();
            ahci.slots = number(1);
            ahci.speed = format!("{} Gbps", held.get(Hole::Any, 0).unwrap_or("?"));
            ahci.mode = held.get(Hole::Word, 1).unwrap_or_default().to_owned();
        }
        match probe {
            Probe::AhciBanner => ahci.ports = number(2),
            Probe::AhciPorts => ahci.ports = number(1),
            Probe::AhciFlags => {
                let flags = held.get(Hole::Any, 0).unwrap_or_default();
                ahci.flags = flags.split_whitespace().take(64).map(str::to_owned).collect();
            }
            _ => {}
        }
    }

    /// The port a line is about, made when the line is the first about it.
    pub(crate) fn port(&mut self, held: &Holes<'_>) -> Option<&mut AtaPort> {
        let name = port_of(held.get(Hole::Ata, 0)?);
        let at = match self.ports.iter().position(|p| p.name == name) {
            Some(at) => at,
            None if self.ports.len() < MOST => {
                self.ports.push(AtaPort { name: name.to_owned(), ..Default::default() });
                self.ports.len() - 1
            }
            None => return None,
        };
        self.ports.get_mut(at)
    }

    fn learn_port(&mut self, held: &Holes<'_>) {
        let Some(port) = self.port(held) else { return };
        let Some(resources) = held.get(Hole::Any, 0) else { return };
        port.max_mode = held.get(Hole::Word, 0).map(str::to_owned);
        let irq = resources.split(" irq ").nth(1);
        port.irq = irq.and_then(|t| t.split_whitespace().next()?.parse().ok());
        port.resources = Some(clean(resources, 200));
    }

    fn learn_link(&mut self, probe: Probe, held: &Holes<'_>) {
        let speed = held.get(Hole::Num, 0).filter(|_| probe == Probe::LinkUp);
        let link = Link {
            speed: speed.map(|s| format!("{s} Gbps")),
            sstatus: held.get(Hole::Hex, 0).unwrap_or_default().to_owned(),
            scontrol: held.get(Hole::Hex, 1).unwrap_or_default().to_owned(),
        };
        if let Some(port) = self.port(held) {
            port.kind.get_or_insert_with(|| "SATA".to_owned());
            port.link = Some(link);
        }
    }

    fn learn_device(&mut self, probe: Probe, held: &Holes<'_>) {
        let Some(name) = held.get(Hole::Ata, 0) else { return };
        let at = match self.devices.iter().position(|d| d.name == name) {
            Some(at) => at,
            None if self.devices.len() < MOST => {
                self.devices.push(AtaDevice { name: name.to_owned(), ..Default::default() });
                self.devices.len() - 1
            }
            None => return,
        };
        let device = &mut self.devices[at];
        let text = |hole, n| held.get(hole, n).map(|t| clean(t, 100));
        match probe {
            Probe::Identified => {
                // The word after `ATA-`, when there are two words.
                let words = (held.get(Hole::Word, 0), held.get(Hole::Word, 1));
                device.standard = match words {
                    (Some(standard), Some(_)) => Some(format!("ATA-{standard}")),
                    _ => None,
                };
                device.max_mode = words.1.or(words.0).map(str::to_owned);
                device.model = text(Hole::Any, 0);
            }
            Probe::Sectors => {
                device.sectors = held.get(Hole::Num, 0).and_then(|t| t.parse().ok());
                device.ncq = Some(ncq(held.get(Hole::Any, 1).unwrap_or_default()));
            }
            _ => device.configured = text(Hole::Word, 0),
        }
    }

    fn learn_queues(&mut self, probe: Probe, held: &Holes<'_>) {
        let hole = if probe == Probe::NvmeQueues { Hole::Nvme } else { Hole::Word };
        let Some(device) = held.get(hole, 0) else { return };
        let number = |n| held.get(Hole::Num, n).and_then(|t| t.parse().ok()).unwrap_or_default();
        self.queues.retain(|q| q.device != device);
        if self.queues.len() < MOST {
            let device = device.to_owned();
            self.queues.push(Queues {
                device,
                default: number(0),
                read: number(1),
                poll: number(2),
            });
        }
    }
}

/// `LBA48 NCQ (depth 31/32), AA`.
fn ncq(text: &str) -> Ncq {
    let Some(inside) = text.split("NCQ (").nth(1).and_then(|t| t.split(')').next()) else {
        return Ncq::None;
    };
    let Some(depth) = inside.strip_prefix("depth ") else { return Ncq::NotUsed };
    let (host, device) = match depth.split_once('/') {
        Some((host, device)) => (host.parse().ok(), device),
        None => (None, depth),
    };
    device.parse().map_or(Ncq::None, |device| Ncq::Depth { host, device })
}

/// `ata1` of `ata1.00`.
pub(crate) fn port_of(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
