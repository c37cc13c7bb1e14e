//! Reading and writing from memory, for the tests of the formats.

use super::{Input, Output};
use crate::error::TraceError;
use crate::record::Record;
use crate::source::{About, Sink, Source, Tables};
use std::io::Cursor;
use std::path::Path;

type Opened = Result<Box<dyn Source + Send>, TraceError>;

pub fn input(data: &[u8]) -> Input {
    let reader = Box::new(Cursor::new(data.to_vec()));
    Input::from_reader(Path::new("test"), reader).expect("memory reads")
}

pub fn try_read(
    open: impl FnOnce(Input) -> Opened,
    data: &[u8],
) -> Result<(Vec<Record>, About, Tables), TraceError> {
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

pub fn read_with(open: impl FnOnce(Input) -> Opened, data: &[u8]) -> (Vec<Record>, About, Tables) {
    try_read(open, data).expect("reads")
}

pub fn read_all(
    open: impl FnOnce(Input) -> Box<dyn Source + Send>,
    data: &[u8],
) -> (Vec<Record>, About, Tables) {
    read_with(|i| Ok(open(i)), data)
}

pub fn read_error(open: impl FnOnce(Input) -> Box<dyn Source + Send>, data: &[u8]) -> String {
    try_read(|i| Ok(open(i)), data).expect_err("is refused").to_string()
}

/// Reads and writes again; also how many records were left out.
pub fn write_bytes(
    open: impl FnOnce(Input) -> Box<dyn Source + Send>,
    data: &[u8],
    create: impl FnOnce(Output, &About) -> Result<Box<dyn Sink + Send>, TraceError>,
) -> (Vec<u8>, u64) {
    let (records, about, tables) = read_all(open, data);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let output = Output::create(&path, false).expect("creates");
    let mut sink = create(output, &about).expect("creates");
    sink.write(&records, &tables).expect("writes");
    let written = sink.finish(&about, &tables).expect("finishes");
    assert_eq!(written.records + written.left_out, records.len() as u64);
    (std::fs::read(&path).expect("reads"), written.left_out)
}

/// The same for text.
pub fn write_all(
    open: impl FnOnce(Input) -> Box<dyn Source + Send>,
    data: &[u8],
    create: impl FnOnce(Output, &About) -> Result<Box<dyn Sink + Send>, TraceError>,
) -> (String, u64) {
    let (bytes, left_out) = write_bytes(open, data, create);
    (String::from_utf8(bytes).expect("text"), left_out)
}
