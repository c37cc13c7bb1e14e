//! Features of an NVMe controller by Get Features and Set Features, without the bit that would
//! make them survive a power cycle.
//!
//! A feature holds several fields, so one is changed by reading the whole, replacing its bits and
//! writing the whole back. Autonomous power state transitions have a table beside, which goes with
//! every write.
//!
//! Sources: NVM Express Base Specification 1.4, §5.9, §5.15.2 (figure 247) and §5.21;
//! `linux/nvme_ioctl.h`.

use super::knobs::{Knobs, not_offered, number};
use seekwell_inspect::probe::NvmeNode;
use seekwell_sys::nvme::AdminCommand;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const IDENTIFY: u8 = 0x06;
const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0a;
/// CNS of the controller's own identify data.
const CONTROLLER: u32 = 1;

/// The table of autonomous power state transitions: 32 entries of 8 bytes.
const APST_TABLE: usize = 256;
const APST: u8 = 0x0c;

/// Where the identify data say what there is.
const NPSS: usize = 263;
const APSTA: usize = 265;
const VWC: usize = 525;

#[derive(Debug, Clone, Copy)]
struct Field {
    feature: u8,
    shift: u32,
    bits: u32,
    /// The byte of the identify data whose bit 0 says that the feature is there.
    offered: Option<usize>,
}

impl Field {
    fn of(knob: &str) -> Option<Self> {
        let field = |feature, shift, bits, offered| Some(Self { feature, shift, bits, offered });
        match knob {
            "arbitration_burst" => field(0x01, 0, 3, None),
            "power_state" => field(0x02, 0, 5, None),
            "write_cache" => field(0x06, 0, 1, Some(VWC)),
            "coalesce_threshold" => field(0x08, 0, 8, None),
            "coalesce_time" => field(0x08, 8, 8, None),
            "apst" => field(APST, 0, 1, Some(APSTA)),
            _ => None,
        }
    }

    const fn highest(self) -> u32 {
        (1 << self.bits) - 1
    }
}

/// Sends admin commands. Real controllers through an ioctl, anything else in tests.
pub trait Admin: Send {
    /// Sends one and gives the first double word of its completion.
    ///
    /// # Errors
    /// As the kernel answers; a status of the controller's is an error with it in words.
    fn admin(&mut self, opcode: u8, cdw10: u32, cdw11: u32, data: &mut [u8]) -> io::Result<u32>;
}

pub struct Nvme {
    controller: Mutex<Box<dyn Admin>>,
}

impl std::fmt::Debug for Nvme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nvme").finish_non_exhaustive()
    }
}

impl Nvme {
    pub fn open(node: &Path) -> io::Result<Self> {
        Ok(Self::over(NvmeNode::open(node)?))
    }

    /// Over anything that takes commands.
    pub fn over(controller: impl Admin + 'static) -> Self {
        Self { controller: Mutex::new(Box::new(controller)) }
    }

    fn send(&self, opcode: u8, cdw10: u32, cdw11: u32, data: &mut [u8]) -> io::Result<u32> {
        let mut controller = self.controller.lock().unwrap_or_else(PoisonError::into_inner);
        controller.admin(opcode, cdw10, cdw11, data)
    }

    fn identify(&self) -> io::Result<Vec<u8>> {
        let mut data = vec![0; 4096];
        self.send(IDENTIFY, CONTROLLER, 0, &mut data)?;
        Ok(data)
    }

    /// The feature as it is, with its table if it has one.
    fn feature(&self, field: Field) -> io::Result<(u32, Vec<u8>)> {
        if let Some(byte) = field.offered
            && self.identify()?[byte] & 1 == 0
        {
            return Err(not_offered());
        }
        let mut table = vec![0; if field.feature == APST { APST_TABLE } else { 0 }];
        let value = self.send(GET_FEATURES, u32::from(field.feature), 0, &mut table)?;
        Ok((value, table))
    }
}

impl Knobs for Nvme {
    fn read(&self, knob: &str) -> io::Result<String> {
        if knob == "highest_power_state" {
            return Ok(self.identify()?[NPSS].to_string());
        }
        let field = Field::of(knob).ok_or_else(not_offered)?;
        let (value, _) = self.feature(field)?;
        Ok((value >> field.shift & field.highest()).to_string())
    }

    fn write(&self, knob: &str, text: &str) -> io::Result<()> {
        let field = Field::of(knob).ok_or_else(not_offered)?;
        let wanted = number(text, 0, field.highest())?;
        let (value, mut table) = self.feature(field)?;
        let others = value & !(field.highest() << field.shift);
        let value = others | wanted << field.shift;
        self.send(SET_FEATURES, u32::from(field.feature), value, &mut table).map(drop)
    }
}

impl Admin for NvmeNode {
    fn admin(&mut self, opcode: u8, cdw10: u32, cdw11: u32, data: &mut [u8]) -> io::Result<u32> {
        let command = AdminCommand { opcode, cdw10, cdw11, ..AdminCommand::default() };
        self.issue(command, data)
    }
}
