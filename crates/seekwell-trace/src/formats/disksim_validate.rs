//! DiskSim's validation traces, measured on real drives: `R|W Hit|Miss block blocks service_µs
//! think_µs`, with `Doub` and `Trip` beside `Hit` and `Miss` in one of them. Where every line says
//! `Hit`, the column says nothing. One request at a time: the next is issued the think time after
//! the completion.

use super::input::Input;
use super::text::{Fields, LineFormat, TextSource, Wrong, blocks, flag_empty, length};
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Device, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let about = About::new(Validate::NAME, Clock::Start, Capture::Issue);
    Box::new(TextSource::new(input, Validate::default(), about))
}

#[derive(Default)]
struct Validate {
    next_issue_ns: u64,
}

impl LineFormat for Validate {
    const NAME: &'static str = "disksim-validate";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let mut fields = Fields::blank(line);
        let op = match fields.text() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            other => return Err(Wrong::new("R or W", other)),
        };
        let flags = match fields.text() {
            b"Hit" => Flags::CACHE_HIT,
            // Requests that needed two and three seeks, in traces of HP drives.
            b"Miss" | b"Doub" | b"Trip" => Flags::default(),
            other => return Err(Wrong::new("Hit, Miss, Doub or Trip", other)),
        };
        let offset = blocks(fields.number("a block of 512 bytes")?, "a block")?;
        let len = length(blocks(fields.number("a number of blocks")?, "a number of blocks")?)?;
        let service = fields.scaled("a service time in microseconds", 3)?;
        let think = fields.scaled("a think time in microseconds", 3)?;
        let issued = self.next_issue_ns;
        let completed = issued.checked_add(service);
        let next = completed.and_then(|c| c.checked_add(think));
        let (Some(completed), Some(next)) = (completed, next) else {
            return Err(Wrong::new("shorter times", line));
        };
        self.next_issue_ns = next;
        if tables.devices.is_empty() {
            tables.devices.push(Device { name: "drive".to_owned(), ..Device::default() });
        }
        let mut record = Record::new(op, offset, len);
        record.issued = Stamp::at(Nanos(issued));
        record.completed = Stamp::at(Nanos(completed));
        record.flags = flags;
        out.push(flag_empty(record));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;

    #[test]
    fn the_next_request_is_issued_its_think_time_after_the_completion() {
        let text = b"W Hit    4583176   4    663.00000  45422.00000\nR Miss 8 2 607.5 1\n";
        let (records, ..) = read_all(open, text);
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.issued.get(), w.completed.get()), (Some(Nanos(0)), Some(Nanos(663_000))));
        assert_eq!(r.issued.get(), Some(Nanos(46_085_000)));
        assert_eq!(r.completed.get(), Some(Nanos(46_692_500)));
        assert_eq!(w.queued, Stamp::NONE, "only the drive was watched");
        assert!(w.flags.has(Flags::CACHE_HIT) && !r.flags.has(Flags::CACHE_HIT));
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 4_583_176 * 512, 2048));
    }
}
