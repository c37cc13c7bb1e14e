//! What a table is.

/// What a column holds. Any value but a list may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// 64 bits, signed.
    Int,
    /// A double.
    Real,
    /// True or false.
    Bool,
    /// Microseconds since 1970, UTC.
    Time,
    /// A list of 64-bit numbers, none of them missing.
    Ints,
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name, with the unit if it has one.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// One table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The first columns, which no two rows share.
    pub key: usize,
    /// All columns.
    pub columns: &'static [Column],
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not known.
    Missing,
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::Real`].
    Real(f64),
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Time`].
    Time(i64),
    /// Of [`Kind::Ints`].
    Ints(Vec<i64>),
}

/// A value for each column.
pub type Row = Vec<Cell>;

impl Cell {
    /// Whether a column of this kind can hold it.
    pub fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Missing => kind != Kind::Ints,
            Self::Text(_) => kind == Kind::Text,
            Self::Int(_) => kind == Kind::Int,
            Self::Real(_) => kind == Kind::Real,
            Self::Bool(_) => kind == Kind::Bool,
            Self::Time(_) => kind == Kind::Time,
            Self::Ints(_) => kind == Kind::Ints,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

/// What does not fit is missing: no disk has 8 EiB.
impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Missing, Self::Int)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}
