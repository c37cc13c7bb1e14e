//! Decoding columns of a file that may be damaged.

use super::files::parquet_error;
use crate::error::{At, TraceError};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The columns of a group, as far as they are read; `None` for a column that is not read.
pub struct Group {
    pub times: Vec<Wanted<Int64Type>>,
    pub offset: Wanted<Int64Type>,
    pub numbers: Vec<Wanted<Int32Type>>,
    /// Requests not read yet.
    pub left: usize,
    /// The file says that each has a time it was queued, and so others are not read.
    pub all_queued: bool,
}

/// A column, where it is looked at.
pub type Wanted<T> = Option<ColumnReaderImpl<T>>;

/// What is wrong with a Parquet file.
pub enum Bad {
    Parquet(ParquetError),
    Value(&'static str),
}

impl Bad {
    pub fn at(self, format: &'static str, record: u64, path: &Path) -> TraceError {
        let at = At::Record(record);
        match self {
            Self::Value(wrong) => TraceError::Malformed { format, at, wrong, found: String::new() },
            Self::Parquet(e) => parquet_error("reading", path, e),
        }
    }
}

/// Decodes what may be damaged on purpose. The Parquet library checks most of what it reads but
/// trusts some widths and lengths, and panics where those are wrong; what it was decoding is not
/// used after that.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, Bad>) -> Result<T, Bad> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or(Err(Bad::Value("columns that can be decoded")))
}

impl From<ParquetError> for Bad {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}

/// Reads exactly `count` rows of a column; fewer than its group promised is an error. One that is
/// not read is blank.
pub fn fetch<T: DataType>(
    reader: &mut Wanted<T>,
    count: usize,
    values: &mut Vec<T::T>,
    levels: Option<&mut Vec<i16>>,
) -> Result<(), Bad> {
    values.clear();
    let has_levels = levels.is_some();
    let mut none = Vec::new();
    let levels = levels.unwrap_or(&mut none);
    levels.clear();
    let Some(reader) = reader else {
        if has_levels {
            levels.resize(count, 0);
        } else {
            values.resize(count, T::T::default());
        }
        return Ok(());
    };
    values.reserve(count);
    let mut got = 0;
    while got < count {
        let wanted = has_levels.then_some(&mut *levels);
        let (records, ..) = reader.read_records(count - got, wanted, None, values)?;
        if records == 0 {
            return Err(Bad::Value("as many values as the group has records"));
        }
        got += records;
    }
    Ok(())
}
