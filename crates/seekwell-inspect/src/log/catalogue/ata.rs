//! What libata says: entries 1 to 31.

use super::entry::{CatalogueEntry, Family, Level, Seen, table};

pub(super) const ENTRIES: &[CatalogueEntry] = table! {
    SataSpeedLimited Errors Source "libata-core.c:3295"
        [Error "<ata>: limiting SATA link speed to <num> Gbps"]
        "After repeated bus errors or time-outs the kernel holds the SATA link at a lower speed.";
        "Replace the cable, use another port, or check backplane and power supply; then detach and \
         rescan the disk or reboot, because the limit stays until then. If only this board needs \
         it: kernel argument libata.force=<port>:3.0"
    TransferModeLowered Errors Lab "libata-core.c:3434"
        [Error "<ata>: limiting speed to <word>"]
        "After repeated errors the kernel lowered the transfer mode of the disk.";
        "Find the cause first (cable, port, power, the disk itself; on parallel ATA an 80-wire \
         cable), then detach and rescan the disk or reboot: the mode stays lowered until then."
    NcqDisabled Errors Lab "libata-eh.c:1863"
        [Error "<ata>: NCQ disabled due to excessive errors"]
        "The kernel switched native command queueing off for this disk; queue_depth does not show \
         it.";
        "Find the cause (time-outs: cable, power, link power management; refusals: drive \
         firmware). Detach and rescan or reboot to get it back; to keep it off on purpose: \
         libata.force=<port>:noncq"
    AtaException Errors Lab "libata-eh.c:2299"
        [Error "<ata>: exception Emask <hex> SAct <hex> SErr <hex> action <hex>"]
        "Error handling started on this port; all commands to it waited.";
        "Read the lines after it: they name the failed command and why."
    QueuedCommandFailed Errors Lab "libata-eh.c:2398"
        [Error "<ata>: failed command: READ FPDMA QUEUED",
         Error "<ata>: failed command: WRITE FPDMA QUEUED",
         Error "<ata>: failed command: SEND FPDMA QUEUED",
         Error "<ata>: failed command: NCQ NON-DATA"]
        "A queued command failed.";
        "With Emask 0x4 (timeout): power, link power management, cable. With Emask 0x10 (ATA bus \
         error): cable. With UNC: the medium."
    CommandFailed Errors Lab "libata-eh.c:2398"
        [Error "<ata>: failed command: <word>"]
        "A command that is not queued failed; READ or WRITE MULTIPLE means that the disk runs \
         without DMA.";
        "As for a queued command: the reason is in the Emask of the next line."
    AtaMediaError Errors Source "libata-eh.c:2435"
        [Critical "<ata>: error: { <*>UNC", Critical "         res <*>(media error)",
         Critical "<ata>: cmd <*>(media error)"]
        "The disk could not read a sector.";
        "Save the data, look at the SMART attributes for pending and reallocated sectors, and \
         replace the disk when they grow. A rewritten sector is replaced by a spare one."
    InterfaceCrc Errors Source "libata-eh.c:2435"
        [Error "<ata>: error: { <*>ICRC"]
        "Data was damaged on the cable and the transfer refused.";
        "Replace the cable or reseat its connectors; watch whether SMART attribute 199 grows."
    LinkNoise Errors Source "libata-eh.c:2317"
        [Error "<ata>: SError: { <*>BadCRC", Error "<ata>: SError: { <*>Handshk",
         Error "<ata>: SError: { <*>10B8B", Error "<ata>: SError: { <*>Dispar"]
        "The link carries noise.";
        "Replace the cable, use another port or backplane slot."
    LinkLost Errors Source "libata-eh.c:2317"
        [Warning "<ata>: SError: { <*>PHYRdyChg", Warning "<ata>: SError: { <*>CommWake",
         Warning "<ata>: SError: { <*>DevExch", Warning "<ata>: SError: { <*>LinkSeq"]
        "The link went away and came back: a plug, a dip of the supply, or power management.";
        "Check connector and supply; set link_power_management_policy to max_performance and see \
         whether it stops."
    InterfaceFatal Errors Source "libahci.c:1854"
        [Error "<ata>: irq_stat <hex>, interface fatal error",
         Error "<ata>: irq_stat <hex>, connection status changed",
         Error "<ata>: irq_stat <hex>, PHY RDY changed"]
        "The controller reported a broken transfer or a changed connection.";
        "Cable, connector, port; see the SError line beside it."
    LinkReset Errors Lab "libata-eh.c:2631"
        [Warning "<ata>: hard resetting link", Warning "<ata>: soft resetting link"]
        "The link was reset to get the disk back.";
        "Count them: more than a few an hour means cable, power or a failing disk."
    SlowToRespond Errors Lab "libata-core.c:3704"
        [Warning "<ata>: link is slow to respond, please be patient"]
        "The disk needed more than five seconds after a reset.";
        "Normal once while it spins up; otherwise power supply or a failing disk."
    ResetFailed Errors Source "libata-sata.c:622"
        [Error "<ata>: COMRESET failed (errno=<num>)", Error "<ata>: softreset failed",
         Error "<ata>: SRST failed (errno=<num>)", Error "<ata>: hardreset failed"]
        "The disk does not answer a reset.";
        "Power and cable of the disk, then another port; else the disk is dead."
    AtaDisabled Errors Source "libata-eh.c:3686"
        [Critical "<ata>: reset failed, giving up", Critical "<ata>: disable device",
         Critical "<ata>: disabled"]
        "The kernel gave up on the disk.";
        "Secure other copies of the data; check power and cable, then rescan the host or reboot."
    IdentifyTimeout Errors Source "libata-core.c:1581"
        [Error "<ata>: qc timeout ", Error "<ata>: failed to IDENTIFY (",
         Error "<ata>: revalidation failed (errno=<num>)"]
        "The disk did not answer while it was being found or reset.";
        "Power, cable, port multiplier; else the disk."
    AtaLostInterrupt Errors Lab "libata-sff.c:1656"
        [Error "<ata>: lost interrupt (Status <hex>)"]
        "In IDE mode: the command completed, but its interrupt never arrived.";
        "Set the BIOS to AHCI mode; check the routing of the legacy interrupt."
    ConfiguredForPio Errors Lab "libata-core.c:3515"
        [Error "<ata>: configured for PIO"]
        "DMA is off: every byte goes through the CPU.";
        "Look for libata.dma= and libata.force= on the kernel command line; let the controller's \
         own driver take it instead of ata_generic; set the BIOS to AHCI mode."
    FortyWireCable Alone Source "libata-core.c:4450"
        [Warning "<ata>: limited to <word> due to 40-wire cable"]
        "The cable has, or seems to have, 40 wires: no mode above UDMA/33.";
        "Use an 80-wire cable; if it is one, libata.force=<port>:80c"
    DmaBlocked Alone Source "libata-core.c:4422"
        [Warning "<ata>: device is on DMA blacklist, disabling DMA",
         Warning "<ata>: simplex DMA is claimed by other device, disabling DMA",
         Warning "<word> <pci>: 450NX errata present, disabling IDE DMA"]
        "DMA is off because this disk or controller is known to handle it badly.";
        "Use another port or controller."
    BridgeLimits Alone Lab "libata-core.c:2919"
        [Warning "<ata>: applying bridge limits"]
        "The disk looks like parallel ATA behind a bridge: UDMA/100 and 128 KiB a command at most.";
        "Replace the bridge. In a virtual machine it means nothing."
    NcqNotUsed Alone Lab "libata-core.c:2306"
        [Warning "<ata>: <*>NCQ (not used)"]
        "The disk can queue commands, and the kernel does not use it.";
        "Look for libata.force=noncq on the kernel command line; else the disk is on the kernel's \
         list of disks that get it wrong."
    NcqDepth Statement Source "libata-core.c:2341"
        [Info "<ata>: <*>NCQ (depth <num>/<num>)"]
        "The controller takes fewer commands at once than the disk could.";
        "Nothing: normal on some controllers."
    ForcedSetting Alone Lab "libata-core.c:384"
        [Info "<ata>: FORCE: "]
        "A libata setting is forced on the kernel command line.";
        "Remove libata.force= from the kernel command line if it is no longer needed."
    LpmBroken Alone Lab "libata-core.c:2740"
        [Warning "<ata>: LPM support broken, forcing max_power",
         Warning "<word> <pci>: BIOS update required for Link Power Management support",
         Warning "<ata>: disabling LPM on the link"]
        "Link power management does not work with this disk or board.";
        "Update the firmware; nothing is lost but power."
    RemappedNvme Alone Source "ahci.c:1641"
        [Warning "<word> <pci>: Found <num> remapped NVMe devices."]
        "The chipset's RAID mode hides NVMe drives behind the SATA controller.";
        "Set the SATA controller from RAID to AHCI in the BIOS."
    ControllerQuirk Alone Source "libahci.c:485"
        [Warning "<word> <pci>: controller can't do NCQ, turning off CAP_NCQ",
         Warning "<word> <pci>: controller can't do 64bit DMA, forcing 32bit"]
        "A feature that this controller is known to handle badly was switched off.";
        "Use another controller for disks that need it."
    LinkDown Errors Source "libata-core.c:3198"
        [Warning "<ata>: SATA link down (SStatus <hex> SControl <hex>)"]
        "A port that had a disk no longer has one.";
        "Pulled on purpose, or power and cable."
    HiddenArea Alone Source "libata-core.c:1305"
        [Warning "<ata>: HPA detected: current <num>, native <num>"]
        "A part of the disk is hidden in a host protected area.";
        "libata.ignore_hpa=1 shows it, if it is meant to be used."
    FirmwareWarning Alone Source "libata-core.c:2960"
        [Warning "<ata>: WARNING: device requires firmware update",
         Warning "<ata>: Drive reports diagnostics failure"]
        "The disk itself reports a fault.";
        "Update the firmware from the vendor; with a diagnostics failure, replace the disk."
    SataAsIde Alone Lab "ata_piix.c"
        [Warning "<ata>: SATA max <word> cmd <hex> ctl <hex> bmdma <hex> irq <num>",
         Info "scsi <host>: ata_piix"]
        "A SATA port is run as parallel IDE: no command queueing, no hot plug, no link power \
         management.";
        "Set the SATA mode to AHCI in the BIOS; first see that the boot image holds the ahci \
         driver."
};
