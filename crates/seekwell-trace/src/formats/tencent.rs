//! Tencent CBS, 2018 (SNIA IOTTA 27917): `Timestamp,Offset,Size,IOType,VolumeID`; seconds since
//! 1970, blocks of 512 bytes, 0 reads and 1 writes (the other way round than DiskSim).

use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, TextSource, Wrong, blocks, flag_empty, length};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let mut about = About::new(Tencent::NAME, Clock::Unix, Capture::Queue);
    about.unix_ns_at_zero = Some(0);
    about.time_step_ns = Some(1_000_000_000);
    Box::new(TextSource::new(input, Tencent::default(), about))
}

#[derive(Default)]
struct Tencent {
    names: Names,
}

impl LineFormat for Tencent {
    const NAME: &'static str = "tencent";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if out.is_empty() && line.starts_with(b"Timestamp") {
            return Ok(());
        }
        let mut fields = Fields::comma(line);
        let at = fields.scaled("a time in seconds since 1970", 9)?;
        let offset = blocks(fields.number("an offset in blocks of 512 bytes")?, "an offset")?;
        let len = length(blocks(fields.number("a size in blocks of 512 bytes")?, "a size")?)?;
        let op = match fields.text() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            other => return Err(Wrong::new("0 (read) or 1 (write)", other)),
        };
        let device = self.names.device(fields.text(), tables)?;
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
    fn zero_reads_one_writes_and_offsets_are_blocks() {
        let (records, _, tables) =
            read_all(open, b"1538323200,3904,8,1,1283\n1538323200,16,1,0,1283\n");
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 3904 * 512, 4096));
        assert_eq!((r.op, r.offset, r.len), (Op::Read, 8192, 512));
        assert_eq!(w.queued.get(), Some(Nanos(1_538_323_200_000_000_000)));
        assert_eq!(tables.devices.len(), 1);
    }

    #[test]
    fn that_times_step_by_whole_seconds_is_said() {
        let (_, about, _) = read_all(open, b"1538323200,3904,8,1,1283\n");
        assert_eq!(about.time_step_ns, Some(1_000_000_000));
    }
}
