//! hdparm's switches, which were made for the drivers of 2000.
//!
//! libata, which drives every ATA disk since about 2010, answers most of them with an error, some
//! with success and no effect. What still has an effect is mapped to the setting that has it; the
//! rest is refused with the true reason.

use super::request::{Request, Switch};
use crate::disk::Disk;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{switch}: {why}")]
pub struct Refused {
    pub switch: String,
    pub why: Why,
}

/// The true reason a switch is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("this is no ATA disk, and the switch is for those")]
    NotAta,
    /// `-d`.
    #[error(
        "libata chooses DMA itself and answers HDIO_SET_DMA with ENOTTY; to change it, boot with \
         libata.dma=0 (off) or without it (on)"
    )]
    Dma,
    /// `-u`.
    #[error(
        "libata never masks other interrupts while it serves one and answers HDIO_SET_UNMASKINTR \
         with ENOTTY; there is nothing left to switch on"
    )]
    Unmask,
    /// `-k`.
    #[error(
        "libata sets the drive up again after every reset and answers HDIO_SET_KEEPSETTINGS with \
         ENOTTY"
    )]
    KeepSettings,
    /// `-m`.
    #[error(
        "READ MULTIPLE is used in PIO mode only, and libata picks its size at probing; setting it \
         behind libata's back can hang the drive, which is why hdparm itself asks for a danger flag"
    )]
    Multcount,
    /// `-X`.
    #[error(
        "libata rejects SET FEATURES–XFER MODE from programs (hdparm prints sense data and exits 0 \
         as if it had worked); the mode is negotiated at probing, and libata.force=PORT:udma5 at \
         boot lowers it"
    )]
    TransferMode,
    /// `-c` on a controller that moves data by itself.
    #[error(
        "the controller moves the data itself, so there is no width to choose; the kernel takes \
         only the value it has"
    )]
    NoPio,
    /// `-S`.
    #[error(
        "no command reads the standby timer a drive has, so what it was could not be put back; \
         hdparm -S sets it until the next power cycle"
    )]
    StandbyTimer,
    #[error("takes {0}")]
    Value(&'static str),
}

/// The setting a switch stands for on this disk.
///
/// # Errors
/// [`Refused`] with the true reason.
pub fn translate(switch: &Switch, disk: &Disk) -> Result<Request, Refused> {
    let refuse = |why| Err(Refused { switch: switch.to_string(), why });
    let set = |key: &str, value: String| Ok(Request::Set { key: key.to_owned(), value });
    // What the block layer does, it does for every disk.
    match switch.letter {
        'a' => {
            return match switch.value.parse::<u32>() {
                Ok(sectors) if sectors % 8 == 0 => set("read_ahead_kb", (sectors / 2).to_string()),
                _ => refuse(Why::Value("a number of 512-byte sectors that is a multiple of 8")),
            };
        }
        'r' => return set("read_only", switch.value.clone()),
        'Q' => return set("queue_depth", switch.value.clone()),
        _ if disk.ata_port.is_none() => return refuse(Why::NotAta),
        _ => {}
    }
    match switch.letter {
        'W' => match switch.value.as_str() {
            "0" => set("cache_type", "write through".to_owned()),
            "1" => set("cache_type", "write back".to_owned()),
            _ => refuse(Why::Value("0 or 1")),
        },
        'd' => refuse(Why::Dma),
        'u' => refuse(Why::Unmask),
        'k' => refuse(Why::KeepSettings),
        'm' => refuse(Why::Multcount),
        'X' => refuse(Why::TransferMode),
        // 3 asks for a sequence of old chips before each transfer, which libata does not know.
        'c' if disk.has_pio() && switch.value == "3" => refuse(Why::Value("0 or 1")),
        'c' if disk.has_pio() => set("io_32bit", switch.value.clone()),
        'c' => refuse(Why::NoPio),
        'A' => set("look_ahead", switch.value.clone()),
        'B' => set("apm", switch.value.clone()),
        'M' => set("acoustic", switch.value.clone()),
        _ => refuse(Why::StandbyTimer),
    }
}
