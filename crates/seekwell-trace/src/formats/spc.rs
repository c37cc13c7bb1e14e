//! Storage Performance Council trace file, revision 1.0.1 (2002; UMass Financial and WebSearch):
//! `ASU,LBA,Size,Opcode,Timestamp`, more fields allowed; blocks of 512 bytes, size in bytes, R or W
//! in any case, seconds from the start.

use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, TextSource, Wrong, blocks, flag_empty, length};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let about = About::new(Spc::NAME, Clock::Start, Capture::Queue);
    Box::new(TextSource::new(input, Spc::default(), about))
}

#[derive(Default)]
struct Spc {
    names: Names,
}

impl LineFormat for Spc {
    const NAME: &'static str = "spc";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let mut fields = Fields::comma(line);
        let device = self.names.device(fields.text(), tables)?;
        let offset = blocks(fields.number("a block of 512 bytes")?, "a block")?;
        let len = length(fields.number("a size in bytes")?)?;
        let op = match fields.text() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            other => return Err(Wrong::new("R or W", other)),
        };
        let at = fields.scaled("a time in seconds", 9)?;
        let mut record = Record::new(op, offset, len);
        record.device = device;
        record.queued = Stamp::at(Nanos(at));
        out.push(flag_empty(record));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;

    #[test]
    fn the_place_is_in_blocks_while_the_size_is_in_bytes() {
        let (records, _, tables) =
            read_all(open, b"0,20941264,8192,W,0.551706\n1, 3 ,512, r ,0.554041,extra\n");
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 20_941_264 * 512, 8192));
        assert_eq!((r.op, r.offset, r.len), (Op::Read, 1536, 512));
        assert_eq!(w.queued.get(), Some(Nanos(551_706_000)));
        assert_eq!(tables.devices.len(), 2);
    }
}
