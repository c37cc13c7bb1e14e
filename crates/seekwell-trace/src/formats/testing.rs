//! Reading and writing from memory, for the tests of the formats.

use super::format::{Create, Format, Reader};
use super::{Input, Output};
use crate::error::TraceError;
use crate::record::Record;
use crate::source::{About, Tables};
use std::io::Cursor;
use std::path::Path;

pub fn input(data: &[u8]) -> Input {
    let reader = Box::new(Cursor::new(data.to_vec()));
    Input::from_reader(Path::new("test"), reader).expect("memory reads")
}

pub fn try_read(format: &Format, data: &[u8]) -> Result<(Vec<Record>, About, Tables), TraceError> {
    let Reader::Stream(open) = format.reader else { panic!("it is read from a file") };
    let mut source = open(input(data))?;
    let mut records = Vec::new();
    loop {
        let before = records.len();
        source.read(&mut records)?;
        if records.len() == before {
            return Ok((records, source.about().clone(), source.tables().clone()));
        }
    }
}

pub fn read_all(format: &Format, data: &[u8]) -> (Vec<Record>, About, Tables) {
    try_read(format, data).expect("reads")
}

pub fn read_error(format: &Format, data: &[u8]) -> String {
    try_read(format, data).expect_err("is refused").to_string()
}

/// Reads and writes again; also how many records were left out.
pub fn write_bytes(format: &Format, data: &[u8]) -> (Vec<u8>, u64) {
    let (records, about, tables) = read_all(format, data);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let sink = match format.writer.as_ref().expect("it is written").create {
        Create::Stream(create) => create(Output::create(&path, false).expect("creates"), &about),
        Create::File(create) => create(&path, &about, false),
    };
    let mut sink = sink.expect("creates");
    sink.write(&records, &tables).expect("writes");
    let written = sink.finish(&about, &tables).expect("finishes");
    assert_eq!(written.records + written.left_out, records.len() as u64);
    (std::fs::read(&path).expect("reads"), written.left_out)
}

/// The same for text.
pub fn write_all(format: &Format, data: &[u8]) -> (String, u64) {
    let (bytes, left_out) = write_bytes(format, data);
    (String::from_utf8(bytes).expect("text"), left_out)
}
