//! Numbers for the names of devices and processes, as they appear.

use super::text::Wrong;
use crate::source::{Device, Tables};
use std::collections::HashMap;

/// More devices than any trace has; a file that names more is not the format it seems to be.
const MAX_DEVICES: usize = 1 << 16;
/// Beyond this many, processes are unknown ones.
const MAX_PROCESSES: usize = 1 << 16;
/// No device or process has a longer name.
const MAX_NAME: usize = 256;

/// Remembers which name has which number. The one asked for last is found without hashing.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<Vec<u8>, u32>,
    last: Vec<u8>,
    last_number: u32,
}

impl Names {
    /// The number of a device, given to it now where it is new.
    ///
    /// # Errors
    /// Where the name is too long or there are too many.
    #[inline]
    pub fn device(&mut self, name: &[u8], tables: &mut Tables) -> Result<u32, Wrong> {
        self.device_as(name, tables, |text| text)
    }

    /// The same, for a device that is to be shown under another name than the input gives it.
    ///
    /// # Errors
    /// Where the name is too long or there are too many.
    #[inline]
    pub fn device_as(
        &mut self,
        name: &[u8],
        tables: &mut Tables,
        shown: impl FnOnce(String) -> String,
    ) -> Result<u32, Wrong> {
        if self.last == name && !tables.devices.is_empty() {
            return Ok(self.last_number);
        }
        self.find(name, |text| {
            if tables.devices.len() >= MAX_DEVICES {
                return Err(Wrong::new("at most 65,536 devices", name));
            }
            tables.devices.push(Device { name: shown(text), ..Device::default() });
            Ok(tables.devices.len() as u32 - 1)
        })
    }

    /// The number of a process; 0 for the empty name, and for all that come after 65,536 others.
    ///
    /// # Errors
    /// Where the name is too long.
    #[inline]
    pub fn process(&mut self, name: &[u8], tables: &mut Tables) -> Result<u32, Wrong> {
        if name.is_empty() {
            return Ok(0);
        }
        if self.last == name {
            return Ok(self.last_number);
        }
        if tables.processes.len() >= MAX_PROCESSES && !self.known.contains_key(name) {
            return Ok(0);
        }
        self.find(name, |text| {
            tables.processes.push(text);
            Ok(tables.processes.len() as u32 - 1)
        })
    }

    fn find(
        &mut self,
        name: &[u8],
        add: impl FnOnce(String) -> Result<u32, Wrong>,
    ) -> Result<u32, Wrong> {
        if name.len() > MAX_NAME {
            return Err(Wrong::new("a name of at most 256 bytes", name));
        }
        let number = match self.known.get(name) {
            Some(&number) => number,
            None => {
                let number = add(String::from_utf8_lossy(name).into_owned())?;
                self.known.insert(name.to_vec(), number);
                number
            }
        };
        self.last.clear();
        self.last.extend_from_slice(name);
        self.last_number = number;
        Ok(number)
    }
}
