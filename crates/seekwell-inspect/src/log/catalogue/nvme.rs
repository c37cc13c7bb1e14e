//! What the NVMe driver says: entries 43 to 51.

use super::entry::{CatalogueEntry, Family, Level, Seen, table};

pub(super) const ENTRIES: &[CatalogueEntry] = table! {
    NvmeTimeout Errors Lab "nvme/host/pci.c:1459"
        [Error "nvme <nvme>: I/O <*>timeout, aborting",
         Info "nvme <nvme>: Abort status: <hex>"]
        "A command was not answered in time, and the kernel asked the controller to drop it.";
        "Firmware, power states (nvme_core.default_ps_max_latency_us=0), temperature."
    NvmeReset Errors Source "nvme/host/pci.c:1439"
        [Error "nvme <nvme>: I/O <*>timeout, reset controller",
         Error "nvme <nvme>: I/O <*>timeout, disable controller"]
        "A command was not answered even after an abort; the controller was reset.";
        "Firmware, power states, temperature, PCIe link errors beside it."
    NvmePolled Errors Source "nvme/host/pci.c:1404"
        [Warning "nvme <nvme>: I/O <*>timeout, completion polled"]
        "The command completed, but its interrupt never arrived.";
        "Interrupt routing: MSI-X, affinity, IOMMU."
    NvmeDown Errors Source "nvme/host/pci.c:1352"
        [Critical "nvme <nvme>: controller is down; will reset: CSTS=<hex>",
         Critical "nvme <nvme>: Does your device have a faulty power saving mode enabled?"]
        "The controller fell off the bus.";
        "Update its firmware; try nvme_core.default_ps_max_latency_us=0 pcie_aspm=off \
         pcie_port_pm=off on the kernel command line; reseat it. The kernel's hint at power saving \
         is not always the cause."
    NvmeRemoved Errors Source "nvme/host/pci.c:3026"
        [Critical "nvme <nvme>: Removing after probe failure",
         Critical "nvme <nvme>: Device not ready; aborting",
         Critical "nvme <nvme>: Disabling device after reset failure"]
        "The controller could not be started and was removed.";
        "Power off and on (a reboot may not be enough), reseat, update the firmware; else it is \
         dead."
    NvmeNoQueues Errors Source "nvme/host/pci.c:2992"
        [Error "nvme <nvme>: IO queues not created", Error "nvme <nvme>: IO queues lost",
         Error "nvme <nvme>: Could not set queue count (<num>)"]
        "The controller accepts only admin commands; its namespaces are missing.";
        "Read its SMART log with nvme smart-log; often a failed drive in its protected state."
    NvmeQueueCount Statement Lab "nvme/host/pci.c:2503"
        [Info "nvme <nvme>: <num>/<num>/<num> default/read/poll queues"]
        "How many hardware queues there are; fewer than processors means that they share.";
        "Normal for many drives; else look for nvme.write_queues= and for a lack of MSI-X vectors."
    HostMemoryBuffer Alone Source "nvme/host/pci.c:2186"
        [Info "nvme <nvme>: allocated <num> MiB host memory buffer",
         Warning "nvme <nvme>: min host memory (<num> MiB) above limit"]
        "The drive has no DRAM and borrows memory from the host.";
        "If it gets none it is slow: nvme.max_host_mem_size_mb="
    NvmeError Errors Lab "nvme/host/core.c:315"
        [Critical "<nvme>: <*> @ LBA <num>, <num> blocks, <*>(sct 0x2 / sc <hex>",
         Error "<nvme>: <*> @ LBA <num>, <num> blocks, <*>(sct <hex> / sc <hex>"]
        "The drive failed a command; status code type 2 is the medium.";
        "Save the data; look at media errors and percentage used in nvme smart-log."
};
