//! What the SCSI and block layers say: entries 32 to 42.

use super::entry::{CatalogueEntry, Family, Level, Seen, table};

pub(super) const ENTRIES: &[CatalogueEntry] = table! {
    WriteProtected Alone Lab "sd.c:2714"
        [Error "sd <hctl>: [<dev>] Write Protect is on"]
        "The medium takes no writes.";
        "Switch or jumper; an SSD or card at the end of its life does this too."
    CacheUnknown Alone Source "sd.c:2883"
        [Warning "sd <hctl>: [<dev>] Asking for cache data failed",
         Warning "sd <hctl>: [<dev>] Assuming drive cache: write through"]
        "The device does not report whether it caches writes, so the kernel sends it no flushes.";
        "Do not trust it with a database; if it is known to cache, say so: write \"write back\" to \
         scsi_disk/*/cache_type"
    WriteCacheReport Statement Lab "sd.c:2866"
        [Info "sd <hctl>: [<dev>] Write cache: <word>, read cache: <word>, doesn't support DPO"]
        "The write cache as found, without forced unit access: such writes cost a flush.";
        "Nothing: normal."
    ScsiCommandFailed Errors Lab "scsi_lib.c:687"
        [Error "sd <hctl>: [<dev>] <*>FAILED Result: hostbyte=<word>",
         Error "sd <hctl>: <*>timing out command, waited <num>s"]
        "The SCSI layer gave up on a command.";
        "hostbyte says who failed: DID_TIME_OUT and DID_NO_CONNECT the way to it, DID_OK the \
         device, whose reason is in the sense lines."
    ScsiMediaError Errors Lab "scsi_logging.c:275"
        [Critical "sd <hctl>: [<dev>] <*>Sense Key : Medium Error",
         Critical "sd <hctl>: [<dev>] <*>Add. Sense: Unrecovered read error",
         Critical "sd <hctl>: [<dev>] <*>Add. Sense: Write error"]
        "The device could not read or write a sector.";
        "Save the data and replace the device; look at its error counters first."
    ScsiReset Alone Lab "scsi_error.c:514"
        [Warning "sd <hctl>: Power-on or device reset occurred",
         Warning "sd <hctl>: [<dev>] <*>Power-on or device reset occurred"]
        "The device restarted.";
        "Once when it is attached is normal; again and again means power, backplane or firmware."
    ScsiOffline Errors Source "scsi_error.c:1816"
        [Critical "<word> <hctl>: Device offlined - not ready after error recovery",
         Critical "<word> <hctl>: [<dev>] <*>rejecting I/O to offline device",
         Critical "<word> <hctl>: rejecting I/O to offline device"]
        "The SCSI layer took the disk offline; every request to it fails.";
        "Find the cause; only then write running to the device's state file in sysfs."
    NotReady Alone Lab "sd.c:2253"
        [Warning "sd <hctl>: [<dev>] Unit Not Ready", Info "sd <hctl>: [<dev>] Spinning up disk"]
        "The disk was not ready when it was found.";
        "Normal while it spins up; otherwise the controller or the disk has a fault."
    IoError Errors Lab "blk-mq.c:799"
        [Error "I/O error, dev <dev>, sector <num>",
         Error "<word>: I/O error, dev <dev>, sector <num>"]
        "A request failed, and its caller was told so.";
        "Look at the lines before it for the cause; find the file that owns the sector before \
         writing over it."
    BlockError Errors Lab "blk-core.c"
        [Critical "critical medium error, dev <dev>",
         Critical "<word>: critical medium error, dev <dev>",
         Error "critical target error, dev <dev>", Error "<word>: critical target error, dev <dev>",
         Error "timeout error, dev <dev>", Error "<word>: timeout error, dev <dev>",
         Error "recoverable transport error, dev <dev>",
         Error "<word>: recoverable transport error, dev <dev>",
         Critical "protection error, dev <dev>", Critical "<word>: protection error, dev <dev>",
         Critical "device offline error, dev <dev>",
         Critical "<word>: device offline error, dev <dev>",
         Error "critical space allocation error, dev <dev>",
         Error "critical nexus error, dev <dev>", Error "reservation conflict error, dev <dev>"]
        "A request failed, and its class names the reason: medium, target, transport, time.";
        "Medium: save the data and replace the device. Transport and timeout: cable, power, path. \
         Target: the device refused the command."
    BufferError Errors Lab "fs/buffer.c:130"
        [Critical "Buffer I/O error on dev <dev>, logical block <num>, lost <word> page write",
         Error "Buffer I/O error on dev <dev>, logical block <num>",
         Error "Buffer I/O error on device <dev>, logical block <num>",
         Critical "lost page write due to <*>I/O error on <dev>"]
        "A block could not be read, or a block in memory could not be written and is lost.";
        "Treat files changed lately as damaged; check the file system once the disk works again."
};
