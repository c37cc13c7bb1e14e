//! PCI functions: mode, link, interrupts, errors.

use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::{is_pci_function, name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PciFunction {
    /// `0000:00:1f.2`.
    pub address: String,
    /// Base class, subclass and programming interface, `0x010601`.
    pub class: Option<Fact<u64>>,
    /// `vendor:device` in hexadecimal.
    pub id: Option<Fact<String>>,
    /// `vendor:device` of the board it is on.
    pub subsystem: Option<Fact<String>>,
    pub driver: Option<Fact<String>>,
    /// `msi`, `msix` or `intx`.
    pub interrupt: Option<Fact<String>>,
    /// Message vectors in use.
    pub vectors: u64,
    /// CPUs that these vectors interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_cpus: Option<Fact<u64>>,
    /// The memory node it is on; `None` if the machine has one or does not say.
    pub numa_node: Option<Fact<u64>>,
    /// The CPUs of this memory node, as a list such as `0-3,8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_cpus: Option<Fact<String>>,
    pub link: Option<Fact<PcieLink>>,
    /// The best its side of the link can do.
    pub link_max: Option<Fact<PcieLink>>,
    /// `on` or `auto`: whether it may be powered down while idle.
    pub power_control: Option<Fact<String>>,
    /// Link power states in use: `l1_aspm` …
    pub aspm: Vec<Fact<String>>,
    pub aer: Option<AerCounts>,
    /// How the IOMMU maps its memory: `DMA` (each mapping is undone at once), `DMA-FQ` (later, many
    /// together), `identity` (not at all); absent without an IOMMU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iommu: Option<Fact<String>>,
    /// NVMe drives that Intel's RAID mode hides behind this controller.
    pub remapped_nvme: Option<Fact<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PcieLink {
    /// Gigatransfers a second of a lane: 2.5, 5, 8, 16, 32, 64.
    pub gts: f64,
    pub width: u32,
}

impl PcieLink {
    /// Gigabytes a second after line coding.
    pub fn gigabytes_per_s(self) -> f64 {
        let coding = if self.gts < 8.0 { 0.8 } else { 128.0 / 130.0 };
        self.gts * coding / 8.0 * f64::from(self.width)
    }

    /// What two sides can do together.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self { gts: self.gts.min(other.gts), width: self.width.min(other.width) }
    }
}

impl std::fmt::Display for PcieLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} GT/s x{}", self.gts, self.width)
    }
}

/// Errors by advanced error reporting, since boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AerCounts {
    /// Repaired by the link itself.
    pub correctable: Fact<u64>,
    /// A transaction was lost.
    pub nonfatal: Fact<u64>,
    /// The link was lost.
    pub fatal: Fact<u64>,
}

impl PciFunction {
    /// The class code with its programming interface.
    pub fn class_code(&self) -> Option<u32> {
        self.class.as_ref().and_then(|c| u32::try_from(c.value).ok())
    }

    /// Class in words, with the mode of an IDE interface.
    pub fn words(&self) -> String {
        match self.class_code() {
            Some(code) if code >> 8 == 0x0101 => ide_words(code & 0xff),
            Some(code) => crate::attach::class_in_words(code),
            None => "PCI device".to_owned(),
        }
    }

    /// An IDE interface, whatever drives are behind it.
    pub fn is_ide(&self) -> bool {
        self.class_code().is_some_and(|c| c >> 8 == 0x0101)
    }
}

/// The programming interface of an IDE interface in words. Bits 0 and 2: the two channels in
/// native mode; bit 7: bus-master DMA.
pub fn ide_words(interface: u32) -> String {
    let mode = match (interface & 1 != 0, interface & 4 != 0) {
        (false, false) => "compatible mode",
        (true, true) => "native mode",
        _ => "one channel native, one compatible",
    };
    let dma = if interface & 0x80 == 0 { "no bus-master DMA" } else { "bus-master DMA" };
    format!("IDE, {mode}, {dma}")
}

pub(super) fn read(r: &mut Reader<'_>, stations: &[PathBuf]) -> Vec<PciFunction> {
    let functions = stations.iter().rev().filter(|s| is_pci_function(name(s)));
    functions.map(|at| function(r, at)).collect()
}

fn function(r: &mut Reader<'_>, at: &Path) -> PciFunction {
    let pair = |r: &Reader<'_>, vendor: &str, device: &str| {
        let id = |file: &str| r.hex(&at.join(file)).map(|f| format!("{:04x}", f.value));
        Some(Fact::new(format!("{}:{}", id(vendor)?, id(device)?), show(&at.join(vendor))))
    };
    let (interrupt, vectors) = interrupts(r, at);
    let numa_node: Option<Fact<u64>> = r.parsed(&at.join("numa_node"));
    // Without a node the kernel lists all CPUs.
    let local_cpus = match numa_node {
        Some(_) => r.optional(&at.join("local_cpulist"), "CPUs of its memory node"),
        None => None,
    };
    PciFunction {
        address: name(at).to_owned(),
        class: r.hex(&at.join("class")),
        id: pair(r, "vendor", "device"),
        subsystem: pair(r, "subsystem_vendor", "subsystem_device"),
        driver: r.driver(at),
        interrupt,
        vectors,
        vector_cpus: vector_cpus(r, at),
        numa_node,
        local_cpus,
        link: link(r, at, "current"),
        link_max: link(r, at, "max"),
        power_control: r.optional(&at.join("power/control"), "power control"),
        aspm: aspm(r, &at.join("link")),
        aer: aer(r, at),
        iommu: r.optional(&at.join("iommu_group/type"), "mode of the IOMMU"),
        remapped_nvme: r.parsed(&at.join("remapped_nvme")),
    }
}

fn interrupts(r: &Reader<'_>, at: &Path) -> (Option<Fact<String>>, u64) {
    let folder = at.join("msi_irqs");
    let vectors = r.names(&folder);
    if let Some(kind) = vectors.first().and_then(|n| r.hint(&folder.join(n))) {
        return (Some(Fact::new(kind, show(&folder))), vectors.len() as u64);
    }
    let irq = at.join("irq");
    // 0 is a function that was given none.
    let line = r.hint(&irq).filter(|n| n != "0" && n.parse::<u32>().is_ok());
    (line.map(|_| Fact::new("intx".to_owned(), show(&irq))), 0)
}

/// Each vector interrupts one CPU; of a list its first is taken.
fn vector_cpus(r: &Reader<'_>, at: &Path) -> Option<Fact<u64>> {
    const MOST: usize = 256;
    let vectors = r.names(&at.join("msi_irqs"));
    let target = |n: &String| {
        let list = r.hint(&Path::new("/proc/irq").join(n).join("effective_affinity_list"))?;
        list.split([',', '-']).next()?.parse::<u32>().ok()
    };
    let cpus: BTreeSet<u32> = vectors.iter().take(MOST).filter_map(target).collect();
    let from = "/proc/irq/*/effective_affinity_list";
    (!cpus.is_empty()).then(|| Fact::new(cpus.len() as u64, from))
}

fn link(r: &Reader<'_>, at: &Path, which: &str) -> Option<Fact<PcieLink>> {
    let path = at.join(format!("{which}_link_speed"));
    let speed = r.hint(&path)?;
    let gts: f64 = speed.split_once(" GT/s")?.0.trim().parse().ok()?;
    let width: u32 = r.hint(&at.join(format!("{which}_link_width")))?.parse().ok()?;
    // Unknown, x0 and x255 are what a function without a link answers.
    let sane = (1.0..=1000.0).contains(&gts) && (1..=32).contains(&width);
    sane.then(|| Fact::new(PcieLink { gts, width }, show(&path)))
}

fn aspm(r: &Reader<'_>, folder: &Path) -> Vec<Fact<String>> {
    let names = r.names(folder).into_iter().filter(|n| n.ends_with("_aspm") || n == "clkpm");
    let on = names.filter(|n| r.hint(&folder.join(n)).is_some_and(|v| v == "1"));
    on.map(|n| Fact::new(n.clone(), show(&folder.join(&n)))).collect()
}

/// Each file is a table of counters that ends in a total.
fn aer(r: &Reader<'_>, at: &Path) -> Option<AerCounts> {
    let total = |file: &str, word: &str| {
        let path = at.join(file);
        let text = r.view.text(&path).ok()?;
        let line = text.lines().find_map(|l| l.strip_prefix(word))?;
        Some(Fact::new(line.trim().parse().ok()?, show(&path)))
    };
    Some(AerCounts {
        correctable: total("aer_dev_correctable", "TOTAL_ERR_COR")?,
        nonfatal: total("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL")?,
        fatal: total("aer_dev_fatal", "TOTAL_ERR_FATAL")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn ide_modes_are_said_with_their_dma() {
        assert_eq!(ide_words(0x8a), "IDE, compatible mode, bus-master DMA");
        assert_eq!(ide_words(0x80), "IDE, compatible mode, bus-master DMA");
        assert_eq!(ide_words(0x8f), "IDE, native mode, bus-master DMA");
        assert_eq!(ide_words(0x00), "IDE, compatible mode, no bus-master DMA");
        assert_eq!(ide_words(0x81), "IDE, one channel native, one compatible, bus-master DMA");
    }

    #[test]
    fn vectors_are_counted_by_the_cpus_they_interrupt() {
        let at = "/sys/devices/pci0000:00/0000:01:00.0";
        let with = |lists: [&str; 3]| {
            let one = |fake: Fake, (n, list): (usize, &str)| {
                fake.file(format!("{at}/msi_irqs/{n}"), "msix\n")
                    .file(format!("/proc/irq/{n}/effective_affinity_list"), format!("{list}\n"))
            };
            let fake = lists.into_iter().enumerate().fold(Fake::new(), one);
            vector_cpus(&Reader::new(&fake), Path::new(at)).map(|f| f.value)
        };
        assert_eq!(with(["3", "3", "3"]), Some(1));
        assert_eq!(with(["0", "1-3", "7,8"]), Some(3));
        assert_eq!(with(["", "none", ""]), None);
        assert_eq!(vector_cpus(&Reader::new(&Fake::new()), Path::new(at)), None);
    }

    #[test]
    fn links_are_compared_by_what_they_carry() {
        let link = |gts, width| PcieLink { gts, width };
        assert!((link(8.0, 4).gigabytes_per_s() - 3.94).abs() < 0.01);
        assert!((link(2.5, 1).gigabytes_per_s() - 0.25).abs() < 1e-9);
        assert_eq!(link(8.0, 4).common(link(2.5, 16)), link(2.5, 4));
        assert_eq!(link(8.0, 4).to_string(), "8.0 GT/s x4");
    }
}
