//! `lspci -vvnn`, and `-k` and `-D` with it.
//!
//! A function starts at the left margin; everything it says of itself is indented. Names and
//! wording differ between versions, so only what all of them share is looked for: the class code
//! and identifiers in square brackets, the programming interface, and lines with fixed beginnings.

use super::lsmod::Module;
use crate::facts::{PciFunction, PcieLink, ide_words};
use crate::model::Fact;
use crate::reader::clean;
use crate::sysfs::is_pci_function;
use seekwell_sys::units::parse_size;

/// The most functions kept of one text.
const MOST: usize = 4096;
/// The most regions and capabilities kept of one function.
const MOST_LINES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PciRegion {
    pub number: u8,
    /// Memory; otherwise I/O ports.
    pub memory: bool,
    /// Its size in bytes, where the text says it.
    pub size: Option<u64>,
}

/// One function as `lspci` prints it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PciText {
    /// `00:1f.2`, or `0000:00:1f.2`.
    pub address: String,
    /// Base class and subclass, `0x0106`.
    pub class: u32,
    pub class_words: String,
    /// Maker and product in words.
    pub product: Option<String>,
    /// `8086:2824`.
    pub id: Option<String>,
    /// The board's `vendor:device`.
    pub subsystem: Option<String>,
    pub interface: Option<u32>,
    /// The programming interface in words, `AHCI 1.0`.
    pub interface_words: Option<String>,
    pub irq: Option<u32>,
    /// `msi` or `msix`, when it is switched on.
    pub message_interrupt: Option<&'static str>,
    /// Message vectors in use (`Count=1/16` of MSI); `lspci` does not say it of MSI-X.
    pub vectors: u64,
    /// It has the capability of message-signalled interrupts.
    pub can_message: bool,
    pub regions: Vec<PciRegion>,
    pub capabilities: Vec<String>,
    /// The link's best and its state.
    pub link_max: Option<PcieLink>,
    pub link: Option<PcieLink>,
    /// The numbers of the buses below a bridge, first and last.
    pub buses: Option<(u8, u8)>,
    pub driver: Option<String>,
}

/// The functions in a text; anything else is skipped.
pub fn parse_lspci(text: &str) -> Vec<PciText> {
    let mut functions: Vec<PciText> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let indented = line.starts_with([' ', '\t']);
        if let Some(function) = head(line).filter(|_| !indented) {
            if functions.len() == MOST {
                break;
            }
            functions.push(function);
            open = true;
        } else if !indented && line.trim().is_empty() {
            open = false;
        } else if let (true, true, Some(function)) = (indented, open, functions.last_mut()) {
            detail(line.trim(), function);
        }
    }
    functions
}

/// `00:1f.2 SATA controller [0106]: Intel … [8086:2824] (rev 02) (prog-if 01 [AHCI 1.0])`
fn head(line: &str) -> Option<PciText> {
    let (address, rest) = line.trim_end().split_once(' ')?;
    let whole = if address.matches(':').count() == 1 {
        format!("0000:{address}")
    } else {
        address.to_owned()
    };
    if address.len() > 16 || !is_pci_function(&whole) {
        return None;
    }
    let (class_words, rest) = rest.split_once(" [")?;
    let (class, rest) = rest.split_once("]: ")?;
    let class = u32::from_str_radix(class, 16).ok().filter(|c| *c <= 0xffff)?;
    let mut function =
        PciText { address: whole, class, class_words: clean(class_words), ..PciText::default() };
    let (names, tail) = match rest.split_once(" (prog-if ") {
        Some((names, tail)) => (names, Some(tail)),
        None => (rest, None),
    };
    let names = names.split(" (rev ").next().unwrap_or(names);
    (function.product, function.id) = match bracketed_id(names) {
        Some((product, id)) => (Some(clean(product)).filter(|p| !p.is_empty()), Some(id)),
        None => (Some(clean(names)).filter(|p| !p.is_empty()), None),
    };
    if let Some(tail) = tail {
        let code = tail.split([' ', ')']).next().unwrap_or("");
        function.interface = u32::from_str_radix(code, 16).ok().filter(|c| *c <= 0xff);
        let words =
            tail.split_once('[').and_then(|(_, t)| t.rsplit_once(']')).map(|(w, _)| clean(w));
        function.interface_words = words;
    }
    Some(function)
}

/// The text before the last `[8086:2824]`, and it.
fn bracketed_id(text: &str) -> Option<(&str, String)> {
    let (before, rest) = text.rsplit_once('[')?;
    let id = rest.split(']').next()?;
    let (vendor, device) = id.split_once(':')?;
    let hex = |t: &str| t.len() == 4 && t.bytes().all(|b| b.is_ascii_hexdigit());
    (hex(vendor) && hex(device)).then(|| (before.trim_end(), id.to_ascii_lowercase()))
}

fn detail(line: &str, function: &mut PciText) {
    if let Some(rest) = line.strip_prefix("Subsystem: ") {
        function.subsystem = bracketed_id(rest).map(|(_, id)| id);
    } else if let Some(rest) = line.strip_prefix("Interrupt: ") {
        let irq = rest.split("IRQ ").nth(1).and_then(|t| t.split_whitespace().next());
        function.irq = irq.and_then(|n| n.parse().ok());
    } else if let Some(rest) = line.strip_prefix("Region ") {
        if function.regions.len() < MOST_LINES {
            function.regions.extend(region(rest));
        }
    } else if let Some(rest) = line.strip_prefix("Bus: ") {
        function.buses = buses(rest);
    } else if let Some(rest) = line.strip_prefix("Capabilities: [") {
        capability(rest, function);
    } else if let Some(rest) = line.strip_prefix("LnkCap:") {
        function.link_max = link(rest).or(function.link_max);
    } else if let Some(rest) = line.strip_prefix("LnkSta:") {
        function.link = link(rest).or(function.link);
    } else if let Some(rest) = line.strip_prefix("Kernel driver in use: ") {
        function.driver = Some(clean(rest)).filter(|d| !d.is_empty() && d.len() <= 64);
    }
}

/// `5: Memory at d0404000 (32-bit, non-prefetchable) [size=2K]`
fn region(text: &str) -> Option<PciRegion> {
    let (number, rest) = text.split_once(": ")?;
    let size = rest
        .split_once("[size=")
        .and_then(|(_, t)| t.split_once(']'))
        .and_then(|(s, _)| parse_size(s));
    let memory = rest.contains("Memory at");
    (memory || rest.contains("I/O ports at"))
        .then(|| Some(PciRegion { number: number.trim().parse().ok()?, memory, size }))?
}

/// `primary=00, secondary=01, subordinate=01, sec-latency=0`
fn buses(text: &str) -> Option<(u8, u8)> {
    let of = |name: &str| {
        let value = text.split(", ").find_map(|p| p.strip_prefix(name))?;
        u8::from_str_radix(value.trim(), 16).ok()
    };
    Some((of("secondary=")?, of("subordinate=")?))
}

/// `80] MSI: Enable+ Count=1/16 Maskable- 64bit-`
fn capability(text: &str, function: &mut PciText) {
    let Some((_, words)) = text.split_once("] ") else { return };
    let on = words.contains("Enable+");
    if words.starts_with("MSI-X: ") || words.starts_with("MSI: ") {
        function.can_message = true;
        if on {
            let kind = if words.starts_with("MSI-X") { "msix" } else { "msi" };
            function.message_interrupt = Some(kind);
            // Of MSI-X it is the size of the table and not how much of it is used.
            let count = words.strip_prefix("MSI: ").and_then(|w| w.split_once("Count="));
            let count = count.map_or("", |(_, rest)| rest);
            let digits = count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len());
            function.vectors = count[..digits].parse().unwrap_or(0);
        }
    }
    if function.capabilities.len() < MOST_LINES {
        let name = words.split(':').next().unwrap_or(words);
        function.capabilities.push(clean(name));
    }
}

/// `Port #0, Speed 8GT/s (ok), Width x4 (downgraded), …`
fn link(text: &str) -> Option<PcieLink> {
    let after = |word: &str| text.split_once(word).map(|(_, t)| t);
    let gts: f64 = after("Speed ")?.split_once("GT/s")?.0.trim().parse().ok()?;
    let width = after("Width x")?;
    let end = width.find(|c: char| !c.is_ascii_digit()).unwrap_or(width.len());
    let width: u32 = width[..end].parse().ok()?;
    ((1.0..=1000.0).contains(&gts) && (1..=32).contains(&width)).then_some(PcieLink { gts, width })
}

impl PciText {
    pub fn is_storage(&self) -> bool {
        self.class >> 8 == 1
    }

    /// The class code with the programming interface. One that is 0 is often not printed; of an
    /// IDE interface, where 0 is a mode of its own, it always is.
    fn code(&self) -> Option<u64> {
        let interface = self.interface.or((self.class != 0x0101).then_some(0))?;
        Some(u64::from(self.class << 8 | interface))
    }

    /// Whether it is a bridge with this address behind it.
    pub fn leads_to(&self, address: &str) -> bool {
        let domain = |a: &str| a.split(':').next().map(str::to_owned);
        let bus = address.split(':').nth(1).and_then(|b| u8::from_str_radix(b, 16).ok());
        let below = |(first, last): (u8, u8)| bus.is_some_and(|b| (first..=last).contains(&b));
        self.buses.is_some_and(below) && domain(&self.address) == domain(address)
    }

    /// What it is and how it interrupts: `AHCI 1.0, MSI`, `IDE, compatible mode, bus-master DMA,
    /// line interrupt 17`.
    pub fn words(&self) -> String {
        let mut words = match (self.class, self.interface, &self.interface_words) {
            (0x0101, Some(interface), _) => ide_words(interface),
            (_, _, Some(words)) => words.clone(),
            (_, Some(interface), None) => {
                crate::attach::class_in_words(self.class << 8 | interface)
            }
            _ => self.class_words.clone(),
        };
        words += &match (self.message_interrupt, self.irq) {
            (Some("msix"), _) => ", MSI-X".to_owned(),
            (Some(_), _) => ", MSI".to_owned(),
            (None, Some(irq)) => format!(", line interrupt {irq}"),
            (None, None) => String::new(),
        };
        if let Some(driver) = &self.driver {
            words += &format!(", driver {driver}");
        }
        words
    }

    /// The driver among the loaded modules that takes this kind of function.
    pub(super) fn likely_driver(&self, modules: &[Module]) -> Option<&'static str> {
        let candidates: &[&'static str] = match self.class {
            0x0101 => &["ata_piix", "pata_amd", "pata_via", "pata_atiixp", "ata_generic"],
            0x0106 => &["ahci"],
            0x0108 => &["nvme"],
            0x0104 => &["megaraid_sas", "smartpqi", "hpsa", "aacraid", "ahci"],
            0x0107 => &["mpt3sas", "mpi3mr", "pm80xx", "isci"],
            0x0100 => &["virtio_scsi", "virtio_blk", "mptspi", "sym53c8xx", "vmw_pvscsi"],
            _ => &[],
        };
        let loaded = |name: &&str| modules.iter().any(|m| m.name == **name);
        let mut found = candidates.iter().copied().filter(loaded);
        // If several are loaded, it is unknown which is in use.
        found.next().filter(|_| found.next().is_none())
    }

    /// The same facts that the device tree gives. `name` is the text's.
    pub(super) fn facts(&self, name: &str) -> PciFunction {
        let from = format!("{name}, {}", self.address);
        let fact = |value: String| Fact::new(value, from.clone());
        let interrupt = match (self.message_interrupt, self.irq) {
            (Some(kind), _) => Some(kind),
            (None, Some(irq)) if irq > 0 => Some("intx"),
            _ => None,
        };
        PciFunction {
            address: self.address.clone(),
            class: self.code().map(|code| Fact::new(code, from.clone())),
            id: self.id.clone().map(fact),
            subsystem: self.subsystem.clone().map(fact),
            driver: self.driver.clone().map(fact),
            interrupt: interrupt.map(|kind| fact(kind.to_owned())),
            vectors: self.vectors,
            link: self.link.map(|l| Fact::new(l, from.clone())),
            link_max: self.link_max.map(|l| Fact::new(l, from.clone())),
            ..PciFunction::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHCI: &str = "\
00:1f.2 SATA controller [0106]: Intel Corporation 82801HB (ICH8) 4 port \
SATA AHCI Controller [8086:2824] (rev 02) (prog-if 01 [AHCI 1.0])
\tSubsystem: Super Micro Computer Inc Device [15d9:8780]
\tInterrupt: pin B routed to IRQ 28
\tRegion 0: I/O ports at 3410 [size=8]
\tRegion 5: Memory at d0404000 (32-bit, non-prefetchable) [size=2K]
\tCapabilities: [80] MSI: Enable+ Count=1/16 Maskable- 64bit-
\t\tAddress: fee0300c  Data: 4181
\tCapabilities: [a8] SATA HBA <?>
\tKernel driver in use: ahci
";

    #[test]
    fn a_function_is_read_whole() {
        let all = parse_lspci(AHCI);
        let f = &all[0];
        assert_eq!((f.address.as_str(), f.class, f.interface), ("0000:00:1f.2", 0x0106, Some(1)));
        assert_eq!(f.id.as_deref(), Some("8086:2824"));
        assert_eq!(f.subsystem.as_deref(), Some("15d9:8780"));
        assert_eq!((f.irq, f.message_interrupt, f.vectors), (Some(28), Some("msi"), 1));
        assert_eq!(f.regions[1], PciRegion { number: 5, memory: true, size: Some(2048) });
        assert_eq!(f.capabilities, ["MSI", "SATA HBA <?>"]);
        assert_eq!(f.words(), "AHCI 1.0, MSI, driver ahci");
        assert!(f.product.as_ref().unwrap().ends_with("4 port SATA AHCI Controller"));
    }

    #[test]
    fn every_prefix_of_a_text_is_read_without_panic() {
        for end in 0..AHCI.len() {
            assert!(parse_lspci(&AHCI[..end]).len() <= 1);
        }
        let lines: Vec<&str> = AHCI.lines().collect();
        for skip in 0..lines.len() {
            let rest: Vec<&str> = lines.iter().copied().skip(skip).collect();
            parse_lspci(&rest.join("\n"));
        }
    }

    #[test]
    fn hostile_text_gives_bounded_and_plain_facts() {
        let evil = "00:1f.2 \u{1b}[31m [0106]: x\u{7} [8086:2824] (prog-if zz [\u{1b}])\n\
                    \tRegion 99999: Memory at 0 [size=99999999999999999999T]\n\
                    \tLnkSta: Speed NaNGT/s, Width x4294967296\n\
                    \tKernel driver in use: \u{1b}\n";
        let f = &parse_lspci(evil)[0];
        assert!(!format!("{}{:?}", f.words(), f.product).contains('\u{1b}'));
        assert_eq!((f.regions.len(), f.link, f.interface), (0, None, None));
        let many = "00:00.0 X [0100]: y [0000:0000]\n".repeat(MOST + 50);
        assert_eq!(parse_lspci(&many).len(), MOST);
        let regions = format!("{AHCI}{}", "\tRegion 1: Memory at 0 [size=4]\n".repeat(500));
        assert!(parse_lspci(&regions)[0].regions.len() <= MOST_LINES);
        for line in ["é:1f.2 X [0106]: y", "00:1f.2", "[0106]:", "00:1f.2 [", "::: [0106]: x"] {
            assert!(parse_lspci(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn links_and_bridges_are_read() {
        let text = "\
00:01.0 PCI bridge [0604]: Red Hat, Inc. QEMU PCIe \
Root port [1b36:000c] (prog-if 00 [Normal decode])
\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x32, ASPM L0s
\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x1 (downgraded)
";
        let f = &parse_lspci(text)[0];
        assert_eq!(f.link_max, Some(PcieLink { gts: 16.0, width: 32 }));
        assert_eq!(f.link, Some(PcieLink { gts: 2.5, width: 1 }));
        assert!(f.leads_to("0000:01:00.0") && !f.leads_to("0000:02:00.0"));
        assert!(!f.leads_to("10000:01:00.0"));
    }
}
