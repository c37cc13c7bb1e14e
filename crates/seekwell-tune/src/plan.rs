//! What could be changed, what of it may be worth a try, and what only a boot or the BIOS changes.
//!
//! A proposal is a guess with a reason, never a promise: only measuring shows whether it helps.

use crate::apply::current;
use crate::conflict::{Other, others};
use crate::disk::{Disk, DiskError, Identity};
use crate::setting::{Attribute, Risk, Scope, attributes};
use seekwell_inspect::DeviceKind;
use seekwell_sys::View;
use serde::{Deserialize, Serialize};

/// The document `seekwell/tune-plan/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// `seekwell/tune-plan/1`.
    pub schema: String,
    pub disk: Identity,
    /// What uses it; `None` when nothing does.
    pub in_use: Option<String>,
    /// What may be worth a try.
    pub proposals: Vec<Proposal>,
    pub settings: Vec<Item>,
    /// What only a boot or the BIOS changes.
    pub advice: Vec<Advice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub key: String,
    pub current: String,
    pub proposed: String,
    pub why: String,
    pub risk: Risk,
    /// Who else sets it.
    pub others: Vec<Other>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub key: String,
    /// The value now; `None` when it cannot be read.
    pub current: Option<String>,
    /// What it takes, in words.
    pub takes: String,
    pub what: String,
    /// What can go wrong when its present value is written again.
    pub risk: Risk,
    pub scope: Scope,
    pub freezes: bool,
    pub put_back: String,
    pub path: String,
    /// Who else sets it.
    pub others: Vec<Other>,
}

/// What only a boot or the BIOS changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do, in a sentence.
    pub title: String,
    pub why: String,
    /// The exact text to type or enter.
    pub exactly: String,
}

impl Plan {
    pub const SCHEMA: &str = "seekwell/tune-plan/1";
}

/// Plans for one disk.
///
/// # Errors
/// [`DiskError::Unsure`] when it is unknown whether the disk is in use.
pub fn plan(view: &dyn View, disk: &Disk) -> Result<Plan, DiskError> {
    let present = attributes(view, disk);
    let known = Known { view, disk, present: &present };
    Ok(Plan {
        schema: Plan::SCHEMA.to_owned(),
        disk: disk.identity.clone(),
        in_use: disk.in_use(view)?,
        proposals: known.proposals(),
        settings: present.iter().map(|a| known.item(a)).collect(),
        advice: known.advice(),
    })
}

struct Known<'a> {
    view: &'a dyn View,
    disk: &'a Disk,
    present: &'a [Attribute],
}

impl Known<'_> {
    fn attribute(&self, key: &str) -> Option<&Attribute> {
        self.present.iter().find(|a| a.key == key)
    }

    fn value(&self, attribute: &Attribute) -> Option<String> {
        self.view.text(&attribute.path).ok().map(|t| current(&t))
    }

    fn now(&self, key: &str) -> Option<String> {
        self.attribute(key).and_then(|a| self.value(a))
    }

    fn is(&self, key: &str, value: &str) -> bool {
        self.now(key).as_deref() == Some(value)
    }

    fn item(&self, attribute: &Attribute) -> Item {
        let setting = attribute.setting;
        let current = self.value(attribute);
        let resets = match setting.resets {
            [] => String::new(),
            keys => format!("; {} with it, as needed", keys.join(", ")),
        };
        let put_back = match setting.residue {
            None => format!("by writing the old value{resets}; gone by itself at a reboot"),
            Some(residue) => format!("by writing the old value{resets}; but {residue}"),
        };
        Item {
            key: attribute.key.clone(),
            takes: (setting.values)(self.view, self.disk, &attribute.path).to_string(),
            what: setting.what.to_owned(),
            risk: (setting.risk)(current.as_deref().unwrap_or_default()),
            scope: setting.scope,
            freezes: setting.freezes,
            put_back,
            path: attribute.path.display().to_string(),
            others: others(self.view, self.disk, attribute),
            current,
        }
    }

    fn proposals(&self) -> Vec<Proposal> {
        let virtual_disk = matches!(self.transport(), Some("virtio-blk" | "virtio-scsi"));
        // Of what stands on another device, that one's own settings count.
        let real = self.disk.device.kind == DeviceKind::Disk;
        let spins = real && self.is("rotational", "1") && !virtual_disk;
        let mut all = Vec::new();
        let mut propose =
            |key: &str, value: &str, why: &str| all.extend(self.proposal(key, value, why));
        if virtual_disk && self.is("rotational", "1") {
            let why = "a virtual disk does not rotate; the kernel believes so by default, and file \
                       systems and schedulers act on it";
            propose("rotational", "0", why);
        }
        if spins {
            let why = "a disk that rotates gains from sorting and merging its requests";
            if self.is("scheduler", "none") {
                propose("scheduler", "mq-deadline", why);
            }
            if self
                .now("read_ahead_kb")
                .and_then(|v| v.parse::<u64>().ok())
                .is_some_and(|v| v < 1024)
            {
                let why = "sequential reading gains from more read-ahead; it costs memory";
                propose("read_ahead_kb", "1024", why);
            }
        } else if real && !self.is("scheduler", "none") {
            let why = "a disk without moving parts needs no sorting; a scheduler costs CPU time on \
                       every request, though it can help latency under mixed load";
            propose("scheduler", "none", why);
        }
        if !spins && self.is("add_random", "1") {
            propose(
                "add_random",
                "0",
                "its timing holds no randomness, and collecting it costs time",
            );
        }
        if self.is("iostats", "0") {
            propose("iostats", "1", "without counting, every monitor shows an idle disk");
        }
        if self.now("link_power").is_some_and(|p| p != "max_performance") {
            let why = "a link that sleeps answers late, and some drives drop off while it wakes";
            propose("link_power", "max_performance", why);
        }
        if self.is("pm", "auto") {
            propose(
                "pm",
                "on",
                "a controller that is suspended while idle answers the next request late",
            );
        }
        self.depth(&mut propose);
        all
    }

    fn depth(&self, propose: &mut impl FnMut(&str, &str, &str)) {
        let can = self
            .attribute("queue_depth")
            .map(|a| (a.setting.values)(self.view, self.disk, &a.path));
        if let Some(crate::setting::Values::Number { most: Some(most), .. }) = can
            && most > 1
            && self.is("queue_depth", "1")
            && pio_mode(self.view, self.disk).is_none()
        {
            let why = "one command at a time keeps the disk from ordering them; if someone set it \
                       to 1 because the drive misbehaves, leave it";
            propose("queue_depth", &most.to_string(), why);
        }
    }

    fn proposal(&self, key: &str, value: &str, why: &str) -> Option<Proposal> {
        let attribute = self.attribute(key)?;
        let current = self.value(attribute).filter(|now| now != value)?;
        (attribute.setting.values)(self.view, self.disk, &attribute.path).check(value).ok()?;
        Some(Proposal {
            key: key.to_owned(),
            current,
            proposed: value.to_owned(),
            why: why.to_owned(),
            risk: (attribute.setting.risk)(value),
            others: others(self.view, self.disk, attribute),
        })
    }

    fn transport(&self) -> Option<&str> {
        self.disk.device.transport.as_ref().map(|t| t.value.as_str())
    }

    fn advice(&self) -> Vec<Advice> {
        let mut all = Vec::new();
        let driver = self.disk.device.driver.as_ref().map(|d| d.value.as_str());
        if matches!(driver, Some("ata_piix" | "ata_generic")) {
            all.push(Advice {
                title: "Set the SATA mode to AHCI in the BIOS, if the disk is a SATA disk"
                    .to_owned(),
                why: "in IDE mode there is no NCQ, no hot plug and one command at a time"
                    .to_owned(),
                exactly: "first make sure that the next boot finds its disk: `grep -w ahci \
                          /lib/modules/$(uname -r)/modules.builtin || lsinitramfs \
                          /boot/initrd.img-$(uname -r) | grep ahci`; without it: `echo ahci >> \
                          /etc/initramfs-tools/modules && update-initramfs -u`"
                    .to_owned(),
            });
        }
        if let Some(mode) = pio_mode(self.view, self.disk) {
            all.push(Advice {
                title: format!("The disk transfers in {mode}, by the CPU: find out why"),
                why: "the kernel falls back to it after errors, or was told to at boot; it stays \
                      until the disk is detached or the machine rebooted"
                    .to_owned(),
                exactly: "look for `libata.dma=0` or `libata.force=pio` in /proc/cmdline, and at \
                          the cable; then reboot"
                    .to_owned(),
            });
        }
        let link = self.disk.ata_link(self.view);
        let limit = link.and_then(|l| self.view.text(&l.join("sata_spd_limit")).ok());
        if let Some(limit) = limit.filter(|l| l.contains("Gbps")) {
            all.push(Advice {
                title: format!("The SATA link is held at {limit}"),
                why: "the kernel lowers it after errors on the cable and does not raise it again"
                    .to_owned(),
                exactly: "see to cable, backplane and power, look for `libata.force=` in \
                          /proc/cmdline, then reboot"
                    .to_owned(),
            });
        }
        all
    }
}

/// The transfer mode, when the CPU moves the data.
pub(crate) fn pio_mode(view: &dyn View, disk: &Disk) -> Option<String> {
    let mode = view.text(&disk.ata_device(view)?.join("xfer_mode")).ok()?;
    mode.contains("PIO").then_some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::tests::{ahci, disk};

    #[test]
    fn what_stands_out_is_proposed_with_its_reason_and_what_does_not_is_left() {
        let view = ahci();
        let plan = plan(&view, &disk(&view)).unwrap();
        let proposed: Vec<(&str, &str, Risk)> =
            plan.proposals.iter().map(|p| (p.key.as_str(), p.proposed.as_str(), p.risk)).collect();
        let expected =
            [("read_ahead_kb", "1024", Risk::A), ("link_power", "max_performance", Risk::A)];
        assert_eq!(proposed, expected);
        assert!(plan.advice.is_empty(), "{:?}", plan.advice);
        let scheduler = plan.settings.iter().find(|s| s.key == "scheduler").unwrap();
        assert_eq!(scheduler.current.as_deref(), Some("mq-deadline"));
        assert!(scheduler.freezes && scheduler.put_back.contains("nr_requests"));
    }

    #[test]
    fn a_disk_without_moving_parts_is_not_told_to_sort_its_requests() {
        let queue = disk(&ahci()).at("queue");
        let view =
            ahci().file(queue.join("rotational"), "0\n").file(queue.join("add_random"), "1\n");
        let plan = plan(&view, &disk(&view)).unwrap();
        let keys: Vec<&str> = plan.proposals.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["scheduler", "add_random", "link_power"]);
    }

    #[test]
    fn a_disk_in_pio_mode_is_advised_on_and_its_depth_is_left_alone() {
        let port = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/link1/dev1.0/ata_device/dev1.0";
        let view = ahci()
            .symlink("/sys/class/ata_device/dev1.0", port)
            .file(format!("{port}/class"), "ata\n")
            .file(format!("{port}/xfer_mode"), "XFER_PIO_4\n")
            .file(disk(&ahci()).at("device/queue_depth"), "1\n");
        let plan = plan(&view, &disk(&view)).unwrap();
        assert!(plan.advice.iter().any(|a| a.title.contains("XFER_PIO_4")), "{:?}", plan.advice);
        assert!(plan.proposals.iter().all(|p| p.key != "queue_depth"));
    }
}
