//! Parameter files of DiskSim, as a drive and as a whole system, all four in one text: parts are
//! separated by a line of dashes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Error, ErrorKind};

const NAMES: [&str; 4] = ["d.parv", "d.diskspecs", "d.model", "d.seek"];

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let files: Vec<&str> = text.split("\n----\n").collect();
    let mut open = |name: &str| {
        let index = NAMES.iter().position(|known| *known == name);
        let found = index.and_then(|index| files.get(index)).or(files.last());
        found.map(|text| (*text).to_owned()).ok_or_else(|| Error::from(ErrorKind::NotFound))
    };
    let _ = seekwell_machine::import("d.parv", &mut open);
    if let Ok(document) = seekwell_machine::disksim::read("d.parv", &mut open) {
        let _ = seekwell_machine::disksim::system(&document, &mut open);
    }
});
