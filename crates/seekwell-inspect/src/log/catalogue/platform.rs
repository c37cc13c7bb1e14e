//! What the buses, file systems and arrays around a disk say: entries 52 to 70.

use super::entry::{CatalogueEntry, Family, Level, Seen, table};

pub(super) const ENTRIES: &[CatalogueEntry] = table! {
    PcieBandwidth Alone Source "pci/pci.c:6305"
        [Warning "<word> <pci>: <num> Gb/s available PCIe bandwidth, limited by "]
        "A slot or bridge on the way is slower than the device; the line names it.";
        "Move the card to a slot with more lanes; look at riser and bifurcation."
    PcieCorrected Pcie Source "pci/pcie/aer.c:723"
        [Warning "<word> <pci>: AER: Corrected error ",
         Warning "<word> <pci>: AER: Correctable error ",
         Warning "<word> <pci>: AER: Multiple Corrected error ",
         Warning "<word> <pci>: AER: Multiple Correctable error ",
         Warning "<word> <pci>: PCIe Bus Error: severity=Correct"]
        "The PCIe link repeats damaged packets.";
        "Reseat the card, replace the riser, or force a lower PCIe generation in the BIOS."
    PcieUncorrected Pcie Lab "pci/pcie/aer.c:723"
        [Error "<word> <pci>: AER: Uncorrect", Error "<word> <pci>: AER: Multiple Uncorrect",
         Error "<word> <pci>: PCIe Bus Error: severity=Uncorrect",
         Critical "<word> <pci>: DPC: containment event"]
        "A PCIe transfer was lost.";
        "Reseat the card, check its power, update firmware; with CmpltTO the device did not answer."
    PcieNotReady Pcie Source "pci/pci.c:1240"
        [Error "<word> <pci>: not ready <num>ms after ",
         Error "<word> <pci>: Unable to change power state from D3cold"]
        "The device did not come back from a reset or from sleep.";
        "Write on to its power/control and 0 to d3cold_allowed in sysfs; update firmware."
    UsbReset Errors Lab "uas.c:731"
        [Error "<word> <hctl>: [<dev>] <*>uas_eh_abort_handler",
         Error "<word> <hctl>: <*>uas_eh_abort_handler",
         Warning "usb <usb>: reset <*> USB device number <num>"]
        "The USB bridge hung, or its supply dipped, and it was reset.";
        "Power first: another port, a powered hub, a shorter cable. Then the bridge's firmware. \
         Last: usb-storage.quirks=VID:PID:u, which gives up command queueing."
    UasIgnored Alone Source "uas-detect.h:136"
        [Warning "usb <usb>: UAS is ignored for this device, using usb-storage instead",
         Warning "usb-storage <usb>: Quirks match for vid <hex> pid <hex>: 800000"]
        "USB attached SCSI is blocked for this bridge: one command at a time and no TRIM.";
        "Look for usb-storage.quirks= set by hand; else the bridge is on the kernel's list."
    UsbSlow Alone Source "usb/core/hub.c:5210"
        [Warning "usb <usb>: not running at top speed; connect to a high speed hub",
         Error "usb <name>: Cannot enable. Maybe the USB cable is bad?",
         Error "usb <name>: over-current condition",
         Error "hub <usb>: over-current condition"]
        "A USB port is slower than the device, does not come up, or was switched off for drawing \
         too much.";
        "Another port or cable; a powered hub."
    MmcDegraded Alone Source "mmc/core/mmc.c:1065"
        [Warning "<mmc>: switch to bus width <num> <*>failed",
         Warning "<mmc>: switch to <word> failed", Warning "<mmc>: mmc_select_<word> failed",
         Warning "<mmc>: tuning execution failed", Warning "<mmc>: <*>performance might suffer",
         Error "<mmc>: Timeout waiting for hardware interrupt"]
        "The card or the eMMC runs in a lower mode than it could, or does not answer.";
        "Clean or replace the card; another slot or reader."
    BarriersDisabled Alone Lab "ext4/super.c:6002"
        [Error "EXT4-fs (<dev>): barriers disabled",
         Error "BTRFS <word> (device <dev><*>): turning off barriers"]
        "The file system is mounted without flushes: a power cut can destroy it.";
        "Remove nobarrier or barrier=0 from the mount options and remount."
    FilesystemStopped Filesystem Lab "jbd2/journal.c:2649"
        [Critical "Aborting journal on device <dev>",
         Critical "EXT4-fs (<dev>): Remounting filesystem read-only",
         Critical "EXT4-fs (<dev>): I/O error while writing superblock",
         Critical "XFS (<dev>): metadata I/O error", Critical "XFS (<dev>): log I/O error",
         Critical "XFS (<dev>): Filesystem has been shut down",
         Critical "XFS (<dev>): <*>Shutting down filesystem",
         Critical "BTRFS <word> (device <dev>): forced readonly",
         Critical "BTRFS: error (device <dev>)<*>forced readonly"]
        "The file system could not write to the disk and gave up.";
        "Fix the disk first; then unmount and check the file system."
    BtrfsErrors Filesystem Source "btrfs/volumes.c:8239"
        [Error "BTRFS <word> (device <*>): bdev /dev/<dev> errs: wr <num>, rd <num>"]
        "Btrfs counts failed transfers on this device since the counters were last cleared.";
        "btrfs device stats -z clears them; if they grow again, cable or disk."
    ArrayMemberLost Alone Source "md/raid1.c:1676"
        [Critical "md/<word>:<word>: Disk failure on <dev>, disabling device",
         Critical "md: kicking non-fresh <dev> from array"]
        "An array lost a member: the next failure loses data.";
        "Find out why the disk failed, replace it and add it again with mdadm --add."
    Misaligned Alone Source "md/dm-table.c:422"
        [Warning "device-mapper: <*>adding target device <dev> caused an alignment inconsistency",
         Warning "<dev>: Warning: Device <dev> is misaligned"]
        "A layer does not start at a multiple of the disk's physical block: writes become \
         read-modify-write.";
        "Repartition on 1 MiB boundaries."
    InterruptDisabled Alone Source "kernel/irq/spurious.c:202"
        [Error "irq <num>: nobody cared"]
        "An interrupt nobody owned came so often that the kernel switched the line off; what is on \
         it is polled.";
        "Use MSI or MSI-X; check routing options such as irqpoll and pci=nomsi on the command line."
    TaskBlocked Alone Source "kernel/hung_task.c:133"
        [Error "INFO: task <*> blocked for more than <num> seconds"]
        "A task has waited minutes, mostly for I/O.";
        "Look for errors of the disk it uses at the same time."
    IommuFault Pcie Source "iommu/amd/iommu.c:580"
        [Error "<word> <pci>: AMD-Vi: Event logged [IO_PAGE_FAULT",
         Error "AMD-Vi: Event logged [IO_PAGE_FAULT device=<name>",
         Error "DMAR: [DMA <*>Request device [<name>] fault"]
        "A device accessed memory it may not touch.";
        "Firmware of the device and the board; try iommu=pt to see whether it makes a difference."
    InvalidOptimalSize Alone Source "sd.c:3264"
        [Warning "sd <hctl>: [<dev>] Optimal transfer size <num> <*>not a multiple of physical",
         Warning "sd <hctl>: [<dev>] Optimal transfer size <num> <*> > dev_max",
         Warning "sd <hctl>: [<dev>] Optimal transfer size <num> <*> > sd driver limit",
         Warning "sd <hctl>: [<dev>] Optimal transfer size <num> bytes < PAGE_SIZE"]
        "The device names an optimal transfer size that makes no sense; it is ignored.";
        "Nothing, but do not align to optimal_io_size of this device."
    CapacityChanged Alone Source "block/genhd.c:91"
        [Warning "<dev>: detected capacity change from <num> to <num>"]
        "The size of the device changed while it was there.";
        "A changed medium or a grown volume is fine; anything else means a failing device."
    DuplicateIdentifiers Alone Lab "nvme/host/core.c:4257"
        [Info "nvme <nvme>: Ignoring bogus Namespace Identifiers",
         Critical "nvme <nvme>: <*>duplicate IDs",
         Critical "nvme <nvme>: use of /dev/disk/by-id/ may cause data corruption"]
        "The drive's identifiers are not unique: names under /dev/disk/by-id can mean another \
         drive.";
        "Update the firmware; address it by its serial number or by file system UUID."
};
