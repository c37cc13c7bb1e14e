//! Writing the store.

use super::columns::Columns;
use super::files::{NAME, VERSION, bytes_of, footer_of, io_error, key, parquet_error};
use super::schema::{OFFSET, TIMES, message};
use super::summary::Summary;
use super::sums::{GroupSum, Summed, seal};
use crate::error::TraceError;
use crate::record::Record;
use crate::source::{About, Sink, Tables, Written};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use seekwell_access::OutputFile;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a store is cut into groups.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Records of a full group. More compress better, and are lost together.
    pub group_records: usize,
    /// A group is closed after this long even when it is not full.
    pub group_time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { group_records: 1 << 18, group_time: Duration::from_secs(10) }
    }
}

/// Begins a store with the usual [`Options`]; `force` allows replacing a file that is there.
///
/// # Errors
/// As [`create_with`].
pub fn create(path: &Path, about: &About, force: bool) -> Result<Box<dyn Sink + Send>, TraceError> {
    create_with(OutputFile::create_part(path, force)?, about, Options::default())
}

/// Begins a store. `about` is what a killed recording will be known by.
///
/// # Errors
/// [`TraceError::Io`].
pub fn create_with(
    output: OutputFile,
    about: &About,
    options: Options,
) -> Result<Box<dyn Sink + Send>, TraceError> {
    assert!(options.group_records > 0, "a group holds records");
    let part = output.temporary();
    let file = SerializedFileWriter::new(Summed::new(output), message(), properties().into())
        .map_err(|e| parquet_error("writing", &part, e))?;
    let about = About { cut_short: true, ..about.clone() };
    Ok(Box::new(Store {
        part,
        file,
        held: Vec::new(),
        options,
        group_begun: Instant::now(),
        about,
        summary: Summary::default(),
    }))
}

fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(3).expect("a level that zstd has");
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("seekwell ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for name in TIMES.iter().map(|t| t.name).chain([OFFSET]) {
        builder = builder
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

struct Store {
    part: PathBuf,
    file: SerializedFileWriter<Summed>,
    held: Vec<Record>,
    options: Options,
    group_begun: Instant,
    /// What the recovered file will say, cut short.
    about: About,
    summary: Summary,
}

impl Store {
    fn failed(&self, error: ParquetError) -> TraceError {
        parquet_error("writing", &self.part, error)
    }

    /// Closes a group of the first `count` records held and makes it recoverable.
    fn close_group(&mut self, count: usize, tables: &Tables) -> Result<(), TraceError> {
        assert!(0 < count && count <= self.held.len(), "a group of {count} records");
        let (held, records_before) = (self.held.len(), self.summary.records());
        let records = &self.held[..count];
        let written = self.file.next_row_group().and_then(|mut group| {
            write_group(&mut group, records)?;
            group.close().map(|_| ())
        });
        written.map_err(|e| self.failed(e))?;
        self.summary.add(&self.held[..count]);
        self.held.drain(..count);
        assert_eq!(self.held.len() + count, held, "what is written is no longer held");
        assert_eq!(self.summary.records(), records_before + count as u64, "and is counted once");
        self.group_begun = Instant::now();
        self.file.flush().map_err(|e| io_error("writing", &self.part, e))?;
        let written = self.file.flushed_row_groups().last().expect("a group was written").clone();
        let columns = written.columns().iter().map(bytes_of);
        let ended = self.file.inner_mut().end_group(columns);
        ended.map_err(|e| io_error("writing", &self.part, e))?;
        let footer = self.footer(&self.about, tables)?;
        let output = OutputFile::create(&footer_of(&self.part), true)?;
        output.filled(|out| out.write_all(&footer))?.finish_unsynced()?;
        // From the first group on there is something to recover.
        self.keep_unfinished(true);
        Ok(())
    }

    fn keep_unfinished(&mut self, keep: bool) {
        if let Some(file) = &mut self.file.inner_mut().file {
            file.keep_unfinished(keep);
        }
    }

    /// The sealed footer of the groups so far.
    fn footer(&self, about: &About, tables: &Tables) -> Result<Vec<u8>, TraceError> {
        let groups = self.file.flushed_row_groups().to_vec();
        let rows = groups.iter().map(|g| g.num_rows()).sum();
        assert_eq!(rows, self.summary.records() as i64, "the summary counts the rows of the file");
        let properties = self.file.properties();
        let file = FileMetaData::new(
            properties.writer_version().as_num(),
            rows,
            Some(properties.created_by().to_owned()),
            Some(metadata(about, tables, &self.summary, &self.file.inner().groups)),
            std::sync::Arc::new(self.file.schema_descr().clone()),
            None,
        );
        let mut footer: Vec<u8> = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &ParquetMetaData::new(file, groups))
            .finish()
            .map_err(|e| self.failed(e))?;
        Ok([&seal(&footer)[..], &footer].concat())
    }
}

impl Sink for Store {
    fn write(&mut self, records: &[Record], tables: &Tables) -> Result<(), TraceError> {
        for record in records {
            check(record, tables)?;
        }
        if self.held.is_empty() {
            self.group_begun = Instant::now();
        }
        self.held.extend_from_slice(records);
        while self.held.len() >= self.options.group_records {
            self.close_group(self.options.group_records, tables)?;
        }
        if !self.held.is_empty() && self.group_begun.elapsed() >= self.options.group_time {
            self.close_group(self.held.len(), tables)?;
        }
        assert!(self.held.len() < self.options.group_records, "a full group is written");
        Ok(())
    }

    fn finish(mut self: Box<Self>, about: &About, tables: &Tables) -> Result<Written, TraceError> {
        if !self.held.is_empty() {
            self.close_group(self.held.len(), tables)?;
        }
        assert!(self.held.is_empty(), "every record is in a group");
        let footer = self.footer(about, tables)?;
        let failed = |e| io_error("writing", &self.part, e);
        self.file.write_all(&footer).and_then(|()| self.file.flush()).map_err(failed)?;
        let summed = self.file.inner_mut();
        summed.write_held().map_err(failed)?;
        summed.file.take().expect("a store is finished once").finish()?;
        let _ = fs::remove_file(footer_of(&self.part));
        Ok(Written { records: self.summary.records(), ..Written::default() })
    }

    fn discard(mut self: Box<Self>) {
        self.keep_unfinished(false);
        let _ = fs::remove_file(footer_of(&self.part));
    }
}

/// Refuses what the columns have no place for.
fn check(r: &Record, tables: &Tables) -> Result<(), TraceError> {
    let inexpressible = |what| Err(TraceError::Inexpressible { format: NAME, what });
    for time in &TIMES {
        let at = (time.of)(r).get().map_or(0, |at| at.0);
        if i64::try_from(at).is_err() {
            return inexpressible(format!("a time of {at} ns; the last is 2^63 - 1"));
        }
    }
    if i64::try_from(r.offset).is_err() {
        return inexpressible(format!("an offset of {} bytes; the last is 2^63 - 1", r.offset));
    }
    if r.device as usize >= tables.devices.len() {
        return inexpressible(format!("device {}, which has no name", r.device));
    }
    Ok(())
}

fn metadata(about: &About, tables: &Tables, summary: &Summary, sums: &[GroupSum]) -> Vec<KeyValue> {
    let json = |value: Result<String, serde_json::Error>| value.expect("plain structures");
    vec![
        KeyValue::new(key::VERSION.to_owned(), VERSION.to_owned()),
        KeyValue::new(key::ABOUT.to_owned(), json(serde_json::to_string(about))),
        KeyValue::new(key::TABLES.to_owned(), json(serde_json::to_string(tables))),
        KeyValue::new(key::SUMMARY.to_owned(), json(serde_json::to_string(summary))),
        KeyValue::new(key::SUMS.to_owned(), json(serde_json::to_string(sums))),
    ]
}

fn write_group<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    records: &[Record],
) -> Result<(), ParquetError> {
    let columns = Columns::from(records);
    for times in &columns.times {
        let mut column = next(group)?;
        column.typed::<Int64Type>().write_batch(&times.known, Some(&times.levels), None)?;
        column.close()?;
    }
    let mut column = next(group)?;
    column.typed::<Int64Type>().write_batch(&columns.offset, None, None)?;
    column.close()?;
    for number in &columns.numbers {
        let mut column = next(group)?;
        column.typed::<Int32Type>().write_batch(number, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn next<'a, W: Write + Send>(
    group: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Result<parquet::file::writer::SerializedColumnWriter<'a>, ParquetError> {
    group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))
}
