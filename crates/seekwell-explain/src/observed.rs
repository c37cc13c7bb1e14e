//! Everything the rules may look at.

use crate::Found;
use crate::look::text;
use seekwell_inspect::facts::{AtaFacts, IdentifyData, ScsiFacts};
use seekwell_inspect::log::LogReport;
use seekwell_inspect::{Device, Fact, Inspection};

/// Everything the rules may look at.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The target as it is.
    pub inspection: &'a Inspection,
    /// The kernel log, where it could be read.
    pub log: Option<&'a LogReport>,
    /// The same target some time before: error counters are judged by what they grew.
    pub earlier: Option<&'a Inspection>,
}

impl<'a> Observed<'a> {
    /// An inspection alone.
    pub fn new(inspection: &'a Inspection) -> Self {
        Self { inspection, log: None, earlier: None }
    }
}

impl<'a> Observed<'a> {
    /// The target's device and everything below it, each name once.
    pub(crate) fn devices(&self) -> Vec<&'a Device> {
        let mut out = Vec::new();
        self.inspection.device.iter().for_each(|d| walk(d, &mut out));
        out
    }

    /// A finding of each device.
    pub(crate) fn each(&self, rule: impl Fn(&'a Device) -> Option<Found>) -> Vec<Found> {
        self.devices().into_iter().filter_map(rule).collect()
    }

    /// A finding of each ATA disk on a libata port.
    pub(crate) fn each_ata(
        &self,
        rule: impl Fn(&'a Device, &'a AtaFacts) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.ata.as_ref().filter(|a| !is_atapi(a))?))
    }

    /// A finding of each drive with IDENTIFY data, wherever it is attached.
    pub(crate) fn each_drive(
        &self,
        rule: impl Fn(&'a Device, &'a Fact<IdentifyData>) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.identify.as_ref()?))
    }

    /// A finding of each SCSI disk.
    pub(crate) fn each_scsi(
        &self,
        rule: impl Fn(&'a Device, &'a ScsiFacts) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.scsi.as_ref()?))
    }

    /// The same device in the earlier inspection: same serial number, or same name where neither
    /// gives one.
    pub(crate) fn before(&self, device: &Device) -> Option<&'a Device> {
        let serial = |d: &Device| d.serial.as_ref().map(|s| s.value.clone());
        let mut all = Vec::new();
        self.earlier?.device.iter().for_each(|d| walk(d, &mut all));
        all.into_iter().find(|d| serial(d) == serial(device) && d.name == device.name).or_else(
            || {
                let mut all = Vec::new();
                self.earlier?.device.iter().for_each(|d| walk(d, &mut all));
                all.into_iter().find(|d| serial(d).is_some() && serial(d) == serial(device))
            },
        )
    }

    /// Whether a device is a virtual machine's, whose figures are what the host pretends.
    pub(crate) fn is_virtual(&self, device: &Device) -> bool {
        let model = text(&device.model);
        self.inspection.host.virtualization.is_some()
            || ["QEMU", "VMware", "VBOX", "Virtual"].iter().any(|m| model.contains(m))
            || device.detail.pci.iter().any(|f| {
                let board = text(&f.subsystem);
                ["1af4:", "15ad:", "80ee:", "1b36:"].iter().any(|v| board.starts_with(v))
            })
    }

    /// A word of the kernel's command line that starts with `prefix`.
    pub(crate) fn boot_option(&self, prefix: &str) -> Option<Fact<String>> {
        let line = self.inspection.host.vm.command_line.as_ref()?;
        let word = line.value.split_whitespace().find(|w| w.starts_with(prefix))?;
        Some(Fact::new(word.to_owned(), line.from.clone()))
    }
}

pub(crate) fn walk<'a>(device: &'a Device, out: &mut Vec<&'a Device>) {
    if out.iter().all(|d| d.name != device.name) {
        out.push(device);
    }
    device.below.iter().for_each(|d| walk(d, out));
}

fn is_atapi(ata: &AtaFacts) -> bool {
    ata.class.as_ref().is_some_and(|c| c.value != "ata")
}
