//! Requests as columns, decoded and checked: records and Arrow tables are made of them.

use super::decode::{Bad, Group, fetch};
use super::schema::{NUMBERS, NumberColumn, TIMES};
use crate::record::{Flags, Record, Stamp};
use crate::source::Tables;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// One of the times of some requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Those that are known, none negative.
    pub known: Vec<i64>,
    /// For each request 1 where its time is known, and otherwise 0.
    pub levels: Vec<i16>,
}

impl Times {
    fn stamps(&self) -> impl Iterator<Item = Stamp> {
        let mut known = self.known.iter();
        let mut next = move || known.next().map(|ns| Nanos(ns.cast_unsigned()));
        self.levels.iter().map(move |level| if *level == 0 { None } else { next() }.into())
    }
}

/// Some requests, column by column.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Queued, issued and completed.
    pub times: [Times; 3],
    /// First bytes, none negative.
    pub offset: Vec<i64>,
    /// Length, place in [`Op::ALL`], flags, device, pid, process, CPU and error. Each is a `u32`
    /// that its field of [`Record`] has room for; devices and processes are in the tables.
    pub numbers: [Vec<i32>; 8],
}

/// What no column has room for becomes the largest that it has.
impl From<&[Record]> for Columns {
    fn from(records: &[Record]) -> Self {
        let signed = |value| i64::try_from(value).unwrap_or(i64::MAX);
        let times = TIMES.map(|time| {
            let stamps = || records.iter().map(|record| (time.of)(record).get());
            Times {
                known: stamps().flatten().map(|at| signed(at.0)).collect(),
                levels: stamps().map(|at| i16::from(at.is_some())).collect(),
            }
        });
        let number = |column: NumberColumn| {
            records.iter().map(|record| (column.of)(record).cast_signed()).collect()
        };
        let offset = records.iter().map(|record| signed(record.offset)).collect();
        Self { times, offset, numbers: NUMBERS.map(number) }
    }
}

impl Columns {
    /// Replaces what is here by the next `count` requests of a group. What is not read of them is
    /// blank.
    pub(super) fn fill(
        &mut self,
        group: &mut Group,
        count: usize,
        tables: &Tables,
    ) -> Result<(), Bad> {
        for (reader, Times { known, levels }) in group.times.iter_mut().zip(&mut self.times) {
            levels.clear();
            fetch(reader, count, known, Some(levels))?;
            if known.iter().any(|ns| *ns < 0) {
                return Err(Bad::Value("a time of zero or more"));
            }
        }
        if group.all_queued && self.times[0].known.len() < count {
            return Err(Bad::Value("a time for each request, as its group says"));
        }
        fetch(&mut group.offset, count, &mut self.offset, None)?;
        if self.offset.iter().any(|offset| *offset < 0) {
            return Err(Bad::Value("an offset of zero or more"));
        }
        let columns = group.numbers.iter_mut().zip(&mut self.numbers);
        for ((reader, values), column) in columns.zip(&NUMBERS) {
            fetch(reader, count, values, None)?;
            if most(values) > column.most {
                return Err(Bad::Value(column.name));
            }
        }
        let [_, _, _, device, _, process, ..] = &mut self.numbers;
        if count > 0 && most(device) as usize >= tables.devices.len() {
            return Err(Bad::Value("a device that the file names"));
        }
        let processes = tables.processes.len();
        for unknown in process.iter_mut().filter(|number| **number as u32 as usize >= processes) {
            *unknown = 0;
        }
        Ok(())
    }

    /// The same requests as records.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let [queued, issued, completed] = &self.times;
        let [len, op, flags, device, pid, process, cpu, error] = &self.numbers;
        let times = queued.stamps().zip(issued.stamps()).zip(completed.stamps());
        times.zip(&self.offset).enumerate().map(
            move |(i, (((queued, issued), completed), offset))| Record {
                queued,
                issued,
                completed,
                offset: offset.cast_unsigned(),
                len: len[i].cast_unsigned(),
                device: device[i].cast_unsigned(),
                pid: pid[i].cast_unsigned(),
                process: process[i].cast_unsigned(),
                cpu: cpu[i] as u16,
                error: error[i] as u16,
                flags: Flags(flags[i] as u16),
                op: Op::ALL[op[i] as usize],
            },
        )
    }
}

fn most(values: &[i32]) -> u32 {
    values.iter().fold(0, |most, value| most.max(value.cast_unsigned()))
}
