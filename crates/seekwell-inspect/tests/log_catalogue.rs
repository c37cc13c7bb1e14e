//! Every message of the catalogue is known by a line of its kind, and a line that only looks like
//! it is not.

use seekwell_inspect::log::catalogue::{Level, classify, entries, entry};
use std::collections::BTreeSet;

/// Identifier|a line of it|a line that is nearly one. Lines of entries seen in the lab are from the
/// captured logs; the others follow the kernel's format strings.
const LINES: &str = "\
KL-001|ata2.00: limiting SATA link speed to 1.5 Gbps|ata2.00: SATA link speed to 1.5 Gbps
KL-002|ata1.00: limiting speed to UDMA/66:PIO4|ata1.00: limiting speed to 
KL-003|ata1.00: NCQ disabled due to excessive errors|ata1.00: NCQ disabled
KL-004|ata1.00: exception Emask 0x0 SAct 0x2000000 SErr 0x0 action 0x6 frozen|traps: exception \
Emask 0x0 SAct 0x2000000 SErr 0x0 action 0x6
KL-005|ata1.00: failed command: READ FPDMA QUEUED|ata1.00: command: READ FPDMA QUEUED
KL-006|ata1.00: failed command: READ MULTIPLE|ata1.00: failed command: 
KL-007|ata3.00: error: { UNC }|ata3.00: cmd 60/08:18:00:00:00/00 in res 41/04:01:00 Emask 0x1 \
(device error)
KL-007|         res 41/40:08:00:08:00/00:00:00:00:00/40 Emask 0x409 (media error) <F>|res \
40/00:00:00:00:00/00:00:00:00:00/00 Emask 0x4 (timeout)
KL-008|ata1.00: error: { ICRC ABRT }|ata1.00: error: { ABRT }
KL-009|ata1: SError: { RecovComm Persist 10B8B Dispar BadCRC Handshk }|ata1: SError: { RecovComm \
Persist }
KL-010|ata1: SError: { PHYRdyChg CommWake }|ata1: SError: { RecovData }
KL-011|ata1: irq_stat 0x08000000, interface fatal error|ata1.00: irq_stat 0x40000001
KL-012|ata1: hard resetting link|ata1: resetting link
KL-013|ata1: link is slow to respond, please be patient (ready=0)|ata1: link is slow
KL-014|ata1: COMRESET failed (errno=-16)|ata1: COMRESET failed (errno=
KL-015|ata1.00: disable device|ata1.00: disabling device
KL-015|ata1: reset failed, giving up|ata1: reset failed (errno=-5)
KL-016|ata1.00: qc timeout after 5000 msecs (cmd 0xec)|ata1.00: timeout after 5000 msecs
KL-016|ata1.00: failed to IDENTIFY (I/O error, err_mask=0x4)|failed to IDENTIFY (x)
KL-017|ata1: lost interrupt (Status 0x58)|ata1: lost interrupt
KL-018|ata1.00: configured for PIO4|ata1.00: configured for UDMA/100
KL-019|ata1.00: limited to UDMA/33 due to 40-wire cable|ata1.00: limited to UDMA/33
KL-020|ata1.00: device is on DMA blacklist, disabling DMA|ata1.00: device is on the list
KL-020|ata_piix 0000:00:07.1: 450NX errata present, disabling IDE DMA.|450NX errata
KL-021|ata1.00: applying bridge limits|bridge: applying bridge limits
KL-022|ata1.00: 524288 sectors, multi 16: LBA48 NCQ (not used)|ata1.00: 524288 sectors, multi 16: \
LBA48 NCQ (depth 32)
KL-023|ata1.00: 488397168 sectors, multi 16: LBA48 NCQ (depth 31/32)|ata1.00: 488397168 sectors, \
multi 16: LBA48 NCQ (depth 32), AA
KL-024|ata1: FORCE: PHY spd limit set to 1.5Gbps|ata1: force: PHY spd limit
KL-025|ata1.00: LPM support broken, forcing max_power|usb usb2: We don't know the algorithms for \
LPM for this host, disabling LPM.
KL-026|ahci 0000:00:17.0: Found 1 remapped NVMe devices.|ahci 0000:00:17.0: Found remapped NVMe \
devices.
KL-027|ahci 0000:00:12.0: controller can't do NCQ, turning off CAP_NCQ|ahci 0000:00:12.0: \
controller can do NCQ, turning on CAP_NCQ
KL-028|ata3: SATA link down (SStatus 0 SControl 300)|ata3: SATA link up 1.5 Gbps (SStatus 113 \
SControl 300)
KL-029|ata1.00: HPA detected: current 100, native 200|ata1.00: HPA unlocked: 1 -> 2
KL-030|ata1.00: WARNING: device requires firmware update to be fully functional.|ata1.00: device \
requires firmware update
KL-031|scsi host0: ata_piix|scsi host0: ahci
KL-031|ata1: SATA max UDMA/133 cmd 0x1f0 ctl 0x3f6 bmdma 0xf090 irq 14|ata1: SATA max UDMA/133 \
abar m2048@0xfbed6000 port 0xfbed6100 irq 30
KL-032|sd 0:0:0:0: [sda] Write Protect is on|sd 0:0:0:0: [sda] Write Protect is off
KL-033|sd 0:0:0:0: [sda] Assuming drive cache: write through|sd 0:0:0:0: [sda] Assuming drive \
cache: write back
KL-034|sd 0:0:0:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA|sd \
0:0:0:0: [sda] Write cache: enabled, read cache: enabled, supports DPO and FUA
KL-035|sd 0:0:0:0: [sda] tag#31 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=24s|sd \
0:0:0:0: [sda] tag#31 CDB: Read(10) 28 00 00 00 20 00 00 00 40 00
KL-036|sd 0:0:0:0: [sda] tag#153 Sense Key : Medium Error [current] |sd 0:0:0:0: [sda] tag#31 \
Sense Key : Aborted Command [current] 
KL-037|sd 0:0:0:0: Power-on or device reset occurred|sd 0:0:0:0: Power-on
KL-038|sd 0:0:0:0: rejecting I/O to offline device|sd 0:0:0:0: rejecting I/O
KL-038|sd 0:0:0:0: Device offlined - not ready after error recovery|sd 0:0:0:0: Device offlined
KL-039|sd 0:2:0:0: [sda] Unit Not Ready|sd 0:2:0:0: [sda] Unit Ready
KL-040|I/O error, dev sda, sector 8192 op 0x0:(READ) flags 0x800 phys_seg 7 prio class 2|I/O error \
while writing sector 8192
KL-040|blk_update_request: I/O error, dev sda, sector 8192|end_request: I/O error
KL-041|critical medium error, dev sda, sector 4656 op 0x0:(READ) flags 0x800 phys_seg 1|critical \
error, dev sda, sector 4656
KL-042|Buffer I/O error on dev sda, logical block 1, lost sync page write|Buffer I/O error on sda
KL-043|nvme nvme0: I/O 704 (I/O Cmd) QID 2 timeout, aborting|nvme nvme0: I/O 704 (I/O Cmd) QID 2 \
done
KL-043|nvme nvme0: I/O tag 6 (1006) opcode 0x2 (I/O Cmd) QID 2 timeout, aborting \
req_op:READ(0)|nvme nvme0: aborting
KL-044|nvme nvme0: I/O 24 QID 0 timeout, reset controller|nvme nvme0: reset
KL-045|nvme nvme0: I/O 24 QID 1 timeout, completion polled|nvme nvme0: polled
KL-046|nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff|nvme nvme0: \
controller is up
KL-047|nvme nvme0: Device not ready; aborting initialisation, CSTS=0x0|nvme nvme0: Device ready
KL-047|nvme nvme0: Removing after probe failure status: -19|nvme nvme0: Removing
KL-048|nvme nvme0: IO queues not created|nvme nvme0: IO queues created
KL-049|nvme nvme0: 2/0/0 default/read/poll queues|virtio_blk virtio0: 2/0/0 queues
KL-050|nvme nvme0: allocated 64 MiB host memory buffer.|nvme nvme0: allocated 64 MiB
KL-051|nvme0n1: I/O Cmd(0x2) @ LBA 2048, 8 blocks, I/O Error (sct 0x2 / sc 0x81) |nvme0n1: I/O \
Cmd(0x2) @ LBA 2048, 8 blocks, ok
KL-052|pci 0000:01:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x1 link at \
0000:00:1d.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)|pci 0000:01:00.0: 31.504 Gb/s \
available PCIe bandwidth (8.0 GT/s PCIe x4 link)
KL-053|pcieport 0000:00:1d.0: AER: Corrected error received: 0000:01:00.0|pcieport 0000:00:1d.0: \
AER: enabled with IRQ 122
KL-053|nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer|nvme \
0000:01:00.0: PCIe Bus Error
KL-054|pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction \
Layer, (Requester ID)|pcieport 0000:00:01.0: AER: device recovery successful
KL-055|nvme 0000:01:00.0: not ready 65535ms after FLR; giving up|nvme 0000:01:00.0: ready 1023ms \
after FLR
KL-055|nvme 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible|nvme \
0000:01:00.0: power state changed by ACPI to D3cold
KL-056|sd 0:0:0:0: [sda] tag#3 uas_eh_abort_handler 0 uas-tag 4 inflight: CMD IN |scsi host0: uas
KL-056|usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd|usb 2-1: new SuperSpeed USB \
device number 2 using xhci_hcd
KL-057|usb 2-1: UAS is ignored for this device, using usb-storage instead|usbcore: registered new \
interface driver uas
KL-057|usb-storage 2-1:1.0: Quirks match for vid 152d pid 0578: 800000|usb-storage 2-1:1.0: Quirks \
match for vid 152d pid 0578: 1000000
KL-058|usb 1-2: not running at top speed; connect to a high speed hub|usb 1-2: running at top speed
KL-058|usb usb2-port1: Cannot enable. Maybe the USB cable is bad?|usb usb2-port1: Cannot disable.
KL-059|mmc0: switch to bus width 8 ddr failed|mmc0: switch to bus width 8 done
KL-059|mmc0: tuning execution failed: -5|mmc0: new high speed SD card at address 4567
KL-060|EXT4-fs (sda): barriers disabled|EXT4-fs (sda): barriers enabled
KL-060|BTRFS info (device sda1): turning off barriers|BTRFS info (device sda1): ok
KL-061|EXT4-fs (sda): I/O error while writing superblock|EXT4-fs (sda): mount failed
KL-061|Aborting journal on device sda1-8.|JBD2: recovery on device sda1-8.
KL-061|EXT4-fs (sda1): Remounting filesystem read-only|EXT4-fs (sda1): re-mounted. ro
KL-062|BTRFS error (device sda1): bdev /dev/sdb errs: wr 3, rd 0, flush 0, corrupt 0, gen 0|BTRFS \
error (device sda1): bdev /dev/sdb missing
KL-063|md/raid1:md0: Disk failure on sdb, disabling device.|md/raid1:md0: active with 2 out of 2 \
mirrors
KL-063|md: kicking non-fresh sdb1 from array!|md: kicking sdb1 from array!
KL-064|device-mapper: table: 253:0: adding target device sda1 caused an alignment inconsistency: \
physical_block_size=4096|device-mapper: table: 253:0: adding target device sda1
KL-065|irq 16: nobody cared (try booting with the \"irqpoll\" option)|irq 16: shared
KL-066|INFO: task jbd2/sda1-8:213 blocked for more than 120 seconds.|INFO: rcu_sched self-detected \
stall
KL-067|nvme 0000:01:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x000e address=0x0]|AMD-Vi: \
AMD IOMMUv2 functionality not available on this system - This is not a bug.
KL-067|DMAR: [DMA Read NO_PASID] Request device [01:00.0] fault addr 0xfffff000|DMAR: DRHD base: \
0x000000fed90000 flags: 0x0
KL-068|sd 0:0:0:0: [sda] Optimal transfer size 33553920 bytes not a multiple of physical block \
size (4096 bytes)|sd 0:0:0:0: [sda] Optimal transfer size 524288 bytes
KL-069|sda: detected capacity change from 524288 to 0|sda: detected capacity change
KL-070|nvme nvme0: Ignoring bogus Namespace Identifiers|nvme nvme0: Identifiers
KL-070|nvme nvme0: globally duplicate IDs for nsid 1|nvme nvme0: IDs for nsid 1
";

fn lines() -> impl Iterator<Item = [&'static str; 3]> {
    let cells = |row: &'static str| row.splitn(3, '|').collect::<Vec<_>>().try_into();
    LINES.lines().map(move |row| cells(row).unwrap_or_else(|_| panic!("{row}")))
}

#[test]
fn every_entry_knows_its_line_and_no_line_that_only_looks_like_it() {
    for [id, line, miss] in lines() {
        let found = classify(line).map(|(entry, _)| entry.id.as_str());
        assert_eq!(found, Some(id), "{line}");
        assert_ne!(classify(miss).map(|(entry, _)| entry.id.as_str()), Some(id), "{miss}");
        // A message that only quotes it is another message.
        let quoted = format!("(systemd) {line}");
        assert_ne!(classify(&quoted).map(|(entry, _)| entry.id.as_str()), Some(id), "{quoted}");
    }
    let sampled: BTreeSet<&str> = lines().map(|[id, ..]| id).collect();
    let known: BTreeSet<&str> = entries().map(|e| e.id.as_str()).collect();
    assert_eq!(sampled, known);
}

#[test]
fn the_catalogue_has_seventy_entries_with_everything_said() {
    let ids: Vec<&str> = entries().map(|e| e.id.as_str()).collect();
    let expected: Vec<String> = (1..=70).map(|n| format!("KL-{n:03}")).collect();
    assert_eq!(ids, expected);
    for e in entries() {
        assert!(!e.forms.is_empty() && !e.remedy.is_empty(), "{}", e.id);
        assert!(e.meaning.ends_with('.') && e.printed_at.contains(['.', ':']), "{}", e.id);
        assert!(e.level() >= Level::Info && !e.seen.kernels().is_empty(), "{}", e.id);
        assert_eq!(entry(e.id).id, e.id);
    }
}

#[test]
fn a_form_may_be_less_bad_than_its_entry() {
    let level = |line| classify(line).map(|(_, level)| level);
    assert_eq!(level("nvme nvme0: Ignoring bogus Namespace Identifiers"), Some(Level::Info));
    assert_eq!(level("nvme nvme0: duplicate IDs in subsystem"), Some(Level::Critical));
    let read = "Buffer I/O error on dev sda, logical block 1, async page read";
    assert_eq!(level(read), Some(Level::Error));
    let other = "nvme0n1: Read(0x2) @ LBA 0, 8 blocks, Namespace Not Ready (sct 0x0 / sc 0x82)";
    assert_eq!(level(other), Some(Level::Error));
}
