//! A machine diagnosed from the text someone pasted into a page or a mail.
#![allow(clippy::print_stderr)]

#[path = "../../seekwell-inspect/src/testing.rs"]
mod testing;

use seekwell_explain::{Observed, findings};
use seekwell_inspect::log::{LogSource, read};
use seekwell_inspect::text::{inspections, parse_lspci};
use seekwell_inspect::{Finding, Inspection, Severity};
use testing::corpus;

/// As `lspci -vvnn` printed it on one board, before and after a switch in its firmware setup.
const PIIX: &str = "\
00:1f.2 IDE interface [0101]: Intel Corporation 82801H (ICH8 Family) 4 port \
SATA IDE Controller [8086:2820] (rev 02) (prog-if 8a [Master SecP PriP])
\tSubsystem: Super Micro Computer Inc Device [15d9:8780]
\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- \
FastB2B- DisINTx-
\tLatency: 0
\tInterrupt: pin B routed to IRQ 17
\tRegion 0: I/O ports at 01f0 [size=8]
\tRegion 1: I/O ports at 03f4 [size=1]
\tRegion 2: I/O ports at 0170 [size=8]
\tRegion 3: I/O ports at 0374 [size=1]
\tRegion 4: I/O ports at 30d0 [size=16]
\tRegion 5: I/O ports at 30c0 [size=16]
\tCapabilities: [70] Power Management version 3
\t\tStatus: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-
\tKernel driver in use: ata_piix
";
const AHCI: &str = "\
00:1f.2 SATA controller [0106]: Intel Corporation 82801HB (ICH8) 4 port \
SATA AHCI Controller [8086:2824] (rev 02) (prog-if 01 [AHCI 1.0])
\tSubsystem: Super Micro Computer Inc Device [15d9:8780]
\tInterrupt: pin B routed to IRQ 28
\tRegion 0: I/O ports at 3410 [size=8]
\tRegion 5: Memory at d0404000 (32-bit, non-prefetchable) [size=2K]
\tCapabilities: [80] MSI: Enable+ Count=1/16 Maskable- 64bit-
\t\tAddress: fee0300c  Data: 4181
\tCapabilities: [70] Power Management version 3
\tCapabilities: [a8] SATA HBA <?>
\tKernel driver in use: ahci
";

fn judged(inspection: &Inspection) -> Vec<Finding> {
    findings(&Observed::new(inspection))
}

#[test]
fn the_controller_in_ide_mode_is_diagnosed_from_its_text() {
    let all = inspections("lspci.txt", PIIX, None);
    let found = judged(&all[0]);
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!((finding.id.as_str(), finding.severity), ("SW-AHCI-001", Severity::Warning));
    assert!(
        finding
            .title
            .ends_with("IDE interface, compatible mode, ata_piix: no NCQ, no hot plug, no LPM"),
        "{}",
        finding.title
    );
    assert!(finding.why.contains("777 to 1645"));
    assert_eq!(finding.evidence[0].from, "lspci.txt, 0000:00:1f.2");
    let regions = &parse_lspci(PIIX)[0].regions;
    assert!(regions.len() == 6 && regions.iter().all(|r| !r.memory), "{regions:?}");
}

#[test]
fn the_same_controller_in_ahci_mode_has_nothing_to_say() {
    let all = inspections("lspci.txt", AHCI, None);
    assert_eq!(all[0].device.as_ref().unwrap().attachment[0].detail, "AHCI 1.0, MSI, driver ahci");
    assert_eq!(judged(&all[0]), []);
}

#[test]
fn the_driver_is_told_by_lsmod_where_lspci_has_none() {
    let without = PIIX.replace("\tKernel driver in use: ata_piix\n", "");
    let modules = "Module Size Used by\nata_piix 36864 2\nlibata 409600 1 ata_piix\n";
    let all = inspections("lspci.txt", &without, Some(modules));
    assert!(judged(&all[0])[0].title.contains("ata_piix"));
    let none = inspections("lspci.txt", &without, Some("Module Size Used by\nahci 1 0\n"));
    assert!(!judged(&none[0])[0].title.contains("ahci,"));
}

#[test]
fn a_drive_on_too_few_lanes_is_diagnosed_from_text() {
    let text = "\
00:1b.0 PCI bridge [0604]: Intel Corporation Port [8086:a340] (prog-if 00 [Normal decode])
\tBus: primary=00, secondary=02, subordinate=02, sec-latency=0
\t\tLnkCap:\tPort #21, Speed 8GT/s, Width x4, ASPM L1
\t\tLnkSta:\tSpeed 8GT/s, Width x1
\tKernel driver in use: pcieport

02:00.0 Non-Volatile memory controller [0108]: Maker SSD [144d:a808] (prog-if 02 [NVM Express])
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x4, ASPM L1
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x1 (downgraded)
\tCapabilities: [b0] MSI-X: Enable+ Count=33 Masked-
\tKernel driver in use: nvme
";
    let all = inspections("lspci.txt", text, None);
    assert_eq!(all.len(), 1);
    let ids: Vec<_> = judged(&all[0]).into_iter().map(|f| f.id).collect();
    assert_eq!(ids, ["SW-PCIE-001"]);
}

#[test]
fn a_link_held_at_its_lowest_speed_is_diagnosed_from_one_line_of_a_log() {
    let mut log = "[  100.000000] ata2.00: limiting SATA link speed to 1.5 Gbps\n".as_bytes();
    let report = read(LogSource::Stream("dmesg.txt", &mut log), None).unwrap();
    let mut inspection = inspections("lspci.txt", AHCI, None).remove(0);
    inspection.device = None;
    let input = Observed { log: Some(&report), ..Observed::new(&inspection) };
    let found: Vec<_> =
        findings(&input).into_iter().filter(|f| f.severity == Severity::Error).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].id, "SW-LOG-002");
    assert!(found[0].title.contains("1.5 Gbps") && found[0].why.contains("795 s"));
}

#[test]
fn the_text_of_saved_machines_names_the_same_controllers_as_their_device_tree() {
    let Some(corpus) = corpus() else { return };
    for (fixture, words, ids) in [
        ("ahci", "AHCI 1.0, MSI, driver ahci", &[][..]),
        ("piix", "IDE, compatible mode, bus-master DMA, driver ata_piix", &["SW-AHCI-001"]),
        ("nvme", "NVM Express, MSI-X, driver nvme", &[]),
        ("megaraid", "RAID bus controller", &["SW-RAID-001"]),
    ] {
        let text = std::fs::read(corpus.join(fixture).join("lspci-vvnnk.txt")).unwrap();
        let all = inspections(fixture, &String::from_utf8_lossy(&text), None);
        // Some of these machines have a second controller on their board that nothing is on.
        let said = |i: &&Inspection| {
            i.device.as_ref().is_some_and(|d| d.attachment[0].detail.starts_with(words))
        };
        let one = all.iter().find(said).unwrap_or_else(|| panic!("{fixture}: {all:#?}"));
        let found: Vec<_> = judged(one).into_iter().map(|f| f.id).collect();
        assert_eq!(found, ids, "{fixture}");
    }
}

proptest::proptest! {
    #[test]
    fn text_with_anything_put_into_it_is_judged_without_panic(
        at in 0usize..700,
        cut in 0usize..40,
        put in ".{0,12}",
        lines in proptest::collection::vec(
            "[ \\t]{0,2}(LnkSta:|Bus: |Region |Capabilities: \\[)?.{0,30}",
            0..6,
        ),
    ) {
        let mut text: Vec<char> = format!("{PIIX}\n{AHCI}").chars().collect();
        let at = at.min(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, put.chars());
        let text = format!("{}\n{}", text.into_iter().collect::<String>(), lines.join("\n"));
        for inspection in inspections("text", &text, Some(&text)) {
            for finding in judged(&inspection) {
                proptest::prop_assert!(!finding.evidence.is_empty());
                proptest::prop_assert!(!finding.title.contains(char::is_control));
            }
        }
    }
}
