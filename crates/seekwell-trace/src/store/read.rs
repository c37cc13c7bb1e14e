//! Reading the store, a batch at a time across all columns, so that neither the size of the file
//! nor that of a group matters.

use super::columns::Columns;
use super::decode::{Group, Wanted, guarded};
use super::files::{NAME, bytes_of, footer_of, io_error, key, part_of};
use super::schema::{NUMBERS, TIMES, fields, message};
use super::summary::Summary;
use super::sums::{self, GroupSum, unsealed, verify};
use crate::error::{At, TraceError};
use crate::formats;
use crate::formats::mapping::Mapping;
use crate::order::Ordered;
use crate::record::{Fields, Record};
use crate::source::{About, BATCH, Tables, TraceSource};
use bytes::Bytes;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Error, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Devices and processes a file may name; what names more is not one of ours.
const MAX_NAMES: usize = 1 << 17;
/// Records of a group that are held at once.
const MAX_GROUP: i64 = 1 << 20;

/// Opens a store. Where it is not there but a part of it is, or where that is named, it is what a
/// killed recording left, read up to its last whole group.
///
/// # Errors
/// [`TraceError::Io`], or [`TraceError::Damaged`]. A Parquet file of another program is read by the
/// names of its columns.
pub fn open(path: &Path) -> Result<Box<dyn TraceSource + Send>, TraceError> {
    let Some(stored) = Stored::open(path)? else {
        return formats::parquet::open(path, &Mapping::default());
    };
    Ok(if stored.summary.is_disordered { Box::new(Ordered::new(stored)) } else { Box::new(stored) })
}

/// What a store says of itself without being read.
#[derive(Debug)]
pub struct Contents {
    /// What is known of the trace.
    pub about: About,
    /// Names of devices and processes.
    pub tables: Tables,
    /// Counts.
    pub summary: Summary,
    /// Whether damage to it would be noticed; stores of earlier versions carry no checksums.
    pub has_checksums: bool,
}

/// What a store says of itself, without reading its requests; `None` if another program wrote the
/// file.
///
/// # Errors
/// As [`open`].
pub fn contents(path: &Path) -> Result<Option<Contents>, TraceError> {
    let contents = |stored: Stored| {
        let Stored { about, tables, summary, sums, .. } = stored;
        Contents { about, tables, summary, has_checksums: sums.is_some() }
    };
    Ok(Stored::open(path)?.map(contents))
}

/// A store being read, in the order of the file.
pub struct Stored {
    path: PathBuf,
    file: Arc<File>,
    metadata: ParquetMetaData,
    about: About,
    tables: Tables,
    summary: Summary,
    /// Of each group; none in a store of an earlier version.
    sums: Option<Vec<GroupSum>>,
    next_group: usize,
    group: Option<Group>,
    /// What is read a batch at a time.
    batch: Columns,
    records_read: u64,
    /// What is looked at.
    fields: Fields,
}

impl Stored {
    /// `None` if another program wrote the file.
    fn open(path: &Path) -> Result<Option<Self>, TraceError> {
        let part = if path.exists() { None } else { part_of(path) };
        let path = part.unwrap_or_else(|| path.to_owned());
        let found = path.metadata().map_err(|e| io_error("reading", &path, e))?;
        if !found.is_file() {
            return Err(TraceError::Pipe { path });
        }
        let file = File::open(&path).map_err(|e| io_error("reading", &path, e))?;
        let (metadata, is_sealed) = match footer(&file, &path)? {
            Some(whole) => whole,
            None => recovered(&footer_of(&path))?.ok_or_else(|| {
                io_error("reading", &path, Error::other("no Parquet footer at its end"))
            })?,
        };
        let value = |name| listed(metadata.file_metadata(), name);
        let writer = metadata.file_metadata().created_by().unwrap_or_default();
        if !is_sealed && !writer.starts_with(NAME) {
            return Ok(None);
        }
        check_schema(&metadata)?;
        let about: About = parse(value(key::ABOUT), "what is known of the trace")?;
        let tables: Tables = parse(value(key::TABLES), "names of devices and processes")?;
        let summary: Summary = parse(value(key::SUMMARY), "counts of the trace")?;
        if tables.devices.len().max(tables.processes.len()) > MAX_NAMES {
            return Err(wrong(0, "at most 131,072 names"));
        }
        let sums: Option<Vec<GroupSum>> = match value(key::SUMS) {
            Some(_) if !is_sealed => return Err(unsealed(&path)),
            None => None,
            listed => Some(parse(listed, "a checksum of each group")?),
        };
        if sums.as_ref().is_some_and(|sums| sums.len() != metadata.num_row_groups()) {
            return Err(wrong(0, "a checksum of each group"));
        }
        let file = Arc::new(file);
        let (next_group, group, records_read) = (0, None, 0);
        Ok(Some(Self {
            path,
            file,
            metadata,
            about,
            tables,
            summary,
            sums,
            next_group,
            group,
            batch: Columns::default(),
            records_read,
            fields: Fields::ALL,
        }))
    }

    /// Opens a store to be read a group at a time: `None` if that would not give the order of
    /// arrival or would take much memory, or another program wrote the file.
    ///
    /// # Errors
    /// As [`open`].
    pub fn by_group(path: &Path) -> Result<Option<Self>, TraceError> {
        let is_small = |stored: &Self| {
            let mut groups = stored.metadata.row_groups().iter();
            groups.all(|group| (0..=MAX_GROUP).contains(&group.num_rows()))
        };
        Ok(Self::open(path)?.filter(|stored| !stored.summary.is_disordered && is_small(stored)))
    }

    /// How many groups it has.
    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Replaces what is in `columns` by all of a group.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn columns(&mut self, group: usize, columns: &mut Columns) -> Result<(), TraceError> {
        let before = &self.metadata.row_groups()[..group];
        self.records_read = before.iter().map(|group| group.num_rows() as u64).sum();
        self.next_group = group;
        self.open_group()?;
        self.fill(columns, usize::MAX)?;
        Ok(())
    }

    /// Reads up to `most` requests of the open group; returns how many it read.
    fn fill(&mut self, columns: &mut Columns, most: usize) -> Result<usize, TraceError> {
        let group = self.group.as_mut().expect("one was opened");
        let count = group.left.min(most);
        guarded(|| columns.fill(group, count, &self.tables))
            .map_err(|bad| bad.at(NAME, self.records_read, &self.path))?;
        group.left -= count;
        self.records_read += count as u64;
        Ok(count)
    }

    fn column<T: DataType>(
        &self,
        group: &RowGroupMetaData,
        read: &Wanting,
        number: usize,
    ) -> Result<Wanted<T>, ParquetError> {
        if read.columns[number].is_none() {
            return Ok(None);
        }
        let (column, rows) = (group.column(number), group.num_rows() as usize);
        let file = Arc::new(Placed { file: Arc::clone(&self.file), at: 0 });
        let pages = SerializedPageReader::new(file, column, rows, None)?;
        Ok(Some(ColumnReaderImpl::new(column.column_descr_ptr(), Box::new(pages))))
    }

    fn open_group(&mut self) -> Result<bool, TraceError> {
        if self.next_group == self.groups() {
            return Ok(false);
        }
        let metadata = self.metadata.row_group(self.next_group);
        let read = guarded(|| Ok(Wanting::of(self.fields, metadata)));
        let read = read.map_err(|bad| bad.at(NAME, self.records_read, &self.path))?;
        if let Some(sums) = &self.sums {
            verify(&self.file, &self.path, sums, self.next_group, &read.columns)?;
        }
        self.next_group += 1;
        let rows = usize::try_from(metadata.num_rows())
            .map_err(|_| wrong(self.records_read, "a group of zero or more records"))?;
        let columns = guarded(|| {
            let wide = |i| self.column::<Int64Type>(metadata, &read, i);
            let narrow = |i| self.column::<Int32Type>(metadata, &read, i);
            let first_number = TIMES.len() + 1;
            Ok(Group {
                times: (0..TIMES.len()).map(wide).collect::<Result<_, _>>()?,
                offset: wide(TIMES.len())?,
                numbers: (first_number..first_number + NUMBERS.len())
                    .map(narrow)
                    .collect::<Result<_, _>>()?,
                left: rows,
                all_queued: read.all_queued,
            })
        });
        self.group = Some(columns.map_err(|bad| bad.at(NAME, self.records_read, &self.path))?);
        Ok(true)
    }
}

/// What of a group is read.
struct Wanting {
    /// Where each column lies that is.
    columns: Vec<Option<Range<u64>>>,
    /// `issued` is not, because the file says that all were queued.
    all_queued: bool,
}

impl Wanting {
    fn of(asked: Fields, group: &RowGroupMetaData) -> Self {
        let queued = group.column(0).statistics();
        let told = queued.and_then(Statistics::null_count_opt) == Some(0);
        let all_queued = told && asked.has(Fields::ARRIVAL) && !asked.has(Fields::ISSUED);
        let arrival = if all_queued { Fields::QUEUED } else { Fields::QUEUED.and(Fields::ISSUED) };
        let asked = if asked.has(Fields::ARRIVAL) { asked.and(arrival) } else { asked };
        let place = |(field, column)| asked.has(field).then(|| bytes_of(column));
        Self { columns: fields().zip(group.columns()).map(place).collect(), all_queued }
    }
}

impl TraceSource for Stored {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        while self.group.as_ref().is_none_or(|g| g.left == 0) {
            if !self.open_group()? {
                return Ok(());
            }
        }
        let mut batch = std::mem::take(&mut self.batch);
        let filled = self.fill(&mut batch, BATCH);
        if filled.is_ok() {
            out.extend(batch.records());
        }
        self.batch = batch;
        filled.map(|_| ())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn narrow(&mut self, to: Fields) {
        // Of processes without names there is one.
        let unnamed = self.tables.processes.len() < 2;
        self.fields = if unnamed { to.without(Fields::PROCESS) } else { to };
    }
}

/// A file from some place on. Pages are small: each costs a call or two, not five as where the file
/// itself is sought and read.
struct Placed {
    file: Arc<File>,
    at: u64,
}

/// What is read at once where a page begins.
const PAGE_HEAD: usize = 512;

impl Read for Placed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(out, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Placed {
    fn len(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len())
    }
}

impl ChunkReader for Placed {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let placed = Self { file: Arc::clone(&self.file), at: start };
        Ok(BufReader::with_capacity(PAGE_HEAD, placed))
    }

    fn get_bytes(&self, start: u64, len: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::with_capacity(len);
        let placed = Self { file: Arc::clone(&self.file), at: start };
        if placed.take(len as u64).read_to_end(&mut bytes)? < len {
            return Err(ParquetError::EOF("the file ends within a page".to_owned()));
        }
        Ok(bytes.into())
    }
}

/// What of a metadata's pairs stands under a key; of several the last counts.
pub fn listed<'a>(metadata: &'a FileMetaData, key: &str) -> Option<&'a str> {
    let pairs = metadata.key_value_metadata();
    pairs.and_then(|pairs| pairs.iter().rev().find(|pair| pair.key == key)?.value.as_deref())
}

/// The footer at the end of a file, and whether it is sealed; none if absent.
fn footer(file: &File, path: &Path) -> Result<Option<(ParquetMetaData, bool)>, TraceError> {
    let Some((footer, is_sealed)) = sums::footer_of(file, path)? else { return Ok(None) };
    let footer = Bytes::from(footer);
    match guarded(|| Ok(ParquetMetaDataReader::new().parse_and_finish(&footer)?)) {
        Ok(metadata) => Ok(Some((metadata, is_sealed))),
        Err(bad) => Err(bad.at(NAME, 0, path)),
    }
}

/// The footer that a killed recording kept, if there is one.
fn recovered(path: &Path) -> Result<Option<(ParquetMetaData, bool)>, TraceError> {
    match File::open(path) {
        Ok(file) => footer(&file, path),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error("reading", path, e)),
    }
}

fn check_schema(metadata: &ParquetMetaData) -> Result<(), TraceError> {
    let ours = message();
    let theirs = metadata.file_metadata().schema();
    let found = theirs.get_fields();
    let same = |(a, b): (&Arc<_>, &Arc<_>)| same_column(a, b);
    if found.len() == ours.get_fields().len() && ours.get_fields().iter().zip(found).all(same) {
        return Ok(());
    }
    let names: Vec<_> = found.iter().take(4).map(|f| f.name()).collect();
    Err(TraceError::Malformed {
        format: NAME,
        at: At::Byte(0),
        wrong: "a Parquet file with the columns of docs/formats.md",
        found: format!("{}…", names.join(", ")).chars().take(80).collect(),
    })
}

fn same_column(ours: &parquet::schema::types::Type, theirs: &parquet::schema::types::Type) -> bool {
    let (a, b) = (ours.get_basic_info(), theirs.get_basic_info());
    theirs.is_primitive()
        && ours.name() == theirs.name()
        && ours.get_physical_type() == theirs.get_physical_type()
        && b.has_repetition()
        && a.repetition() == b.repetition()
}

fn parse<T: DeserializeOwned>(json: Option<&str>, what: &'static str) -> Result<T, TraceError> {
    let json = json.ok_or_else(|| wrong(0, what))?;
    serde_json::from_str(json).map_err(|e| TraceError::Malformed {
        format: NAME,
        at: At::Byte(0),
        wrong: what,
        found: e.to_string().chars().take(80).collect(),
    })
}

#[cold]
fn wrong(record: u64, wrong: &'static str) -> TraceError {
    TraceError::Malformed { format: NAME, at: At::Record(record), wrong, found: String::new() }
}
