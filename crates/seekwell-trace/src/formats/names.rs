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

/// Places for recent names, a power of two: requests of thousands of devices alternate in large
/// traces.
const NEAR: usize = 1 << 12;

/// Remembers the number of each name. Recent short names are found without hashing.
#[derive(Debug)]
pub struct Names {
    known: HashMap<Vec<u8>, u32>,
    near: Box<[(Short, u32)]>,
}

impl Default for Names {
    fn default() -> Self {
        Self { known: HashMap::new(), near: vec![Default::default(); NEAR].into() }
    }
}

/// A name of at most 16 bytes as numbers; no two are the same. The empty one is no name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Short {
    low: u64,
    high: u64,
    len: usize,
}

impl Short {
    /// The first and the last bytes, which overlap where there are fewer than both can hold.
    #[inline(always)]
    fn of(name: &[u8]) -> Option<Self> {
        let len = name.len();
        let (low, high) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (Some(first), Some(last)) if len <= 16 => {
                (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
            }
            (Some(_), _) => return None,
            _ => match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
                (Some(first), Some(last)) => {
                    let first = u64::from(u32::from_le_bytes(*first));
                    (first | u64::from(u32::from_le_bytes(*last)) << 32, 0)
                }
                _ => {
                    let [first, last] = [*name.first()?, *name.last()?].map(u64::from);
                    (first | last << 8 | u64::from(name[len / 2]) << 16, 0)
                }
            },
        };
        Some(Self { low, high, len })
    }

    /// Which of the near ones it would be.
    #[inline(always)]
    const fn place(self) -> usize {
        let mixed = (self.low ^ self.high.rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - NEAR.trailing_zeros())) as usize
    }
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
        if let Some(number) = self.near(name) {
            return Ok(number);
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
        if let Some(number) = self.near(name) {
            return Ok(number);
        }
        if tables.processes.len() >= MAX_PROCESSES && !self.known.contains_key(name) {
            return Ok(0);
        }
        self.find(name, |text| {
            tables.processes.push(text);
            Ok(tables.processes.len() as u32 - 1)
        })
    }

    #[inline(always)]
    fn near(&self, name: &[u8]) -> Option<u32> {
        let short = Short::of(name)?;
        let (near, number) = self.near[short.place()];
        (near == short).then_some(number)
    }

    #[inline(never)]
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
        if let Some(short) = Short::of(name) {
            self.near[short.place()] = (short, number);
        }
        Ok(number)
    }
}

/// The numbers of devices in an output that knows numbers only: their own, where the name is one.
pub struct Numbers {
    own: fn(&str) -> Option<u32>,
    /// The first number for those that have none of their own.
    free: u32,
    given: Vec<u32>,
}

impl Numbers {
    /// `own` reads a name that is a number; others are given numbers from `free` on.
    pub const fn new(own: fn(&str) -> Option<u32>, free: u32) -> Self {
        Self { own, free, given: Vec::new() }
    }

    /// The number of a device.
    pub fn of(&mut self, index: u32, tables: &Tables) -> u32 {
        while let Some(device) = tables.devices.get(self.given.len()) {
            let own = (self.own)(&device.name).filter(|own| !self.given.contains(own));
            let number = own.unwrap_or_else(|| self.unused(tables));
            self.given.push(number);
        }
        self.given.get(index as usize).copied().unwrap_or(self.free)
    }

    fn unused(&self, tables: &Tables) -> u32 {
        let is_own = |n| tables.devices.iter().any(|device| (self.own)(&device.name) == Some(n));
        let mut numbers = self.free..=u32::MAX;
        let unused = numbers.find(|n| !self.given.contains(n) && !is_own(*n));
        unused.expect("fewer devices than numbers")
    }

    /// Those whose number is not their name, with what `show` makes of it.
    pub fn renamed(&self, tables: &Tables, show: fn(u32) -> String) -> Vec<(String, String)> {
        let given = tables.devices.iter().map(|device| device.name.as_str()).zip(&self.given);
        let other = given.filter(|(name, number)| (self.own)(name) != Some(**number));
        other.map(|(name, number)| (name.to_owned(), show(*number))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_name_keeps_its_number_however_short_or_alike(
            names in proptest::collection::vec("[ab\0]{0,18}", 1..200),
        ) {
            let mut numbers = Names::default();
            let mut tables = Tables { devices: Vec::new(), processes: vec![String::new()] };
            for name in &names {
                let device = numbers.device(name.as_bytes(), &mut tables).expect("a device");
                prop_assert_eq!(&tables.devices[device as usize].name, name);
            }
            let mut numbers = Names::default();
            for name in &names {
                let process = numbers.process(name.as_bytes(), &mut tables).expect("a process");
                prop_assert_eq!(&tables.processes[process as usize], name);
            }
        }
    }
}
