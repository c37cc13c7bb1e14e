//! The tables of [`tables()`] in PostgreSQL, beside them each run's document, and a version.

use crate::table::{Cell, Column, Kind, Row, Table};
use crate::tables::tables;
use jiff::Timestamp;
use std::fmt::Write;

/// Raised whenever a table gets a column: what a database lacks is then added to it.
pub const VERSION: i32 = 2;

/// Makes the tables, or adds what they lack.
pub fn statements() -> String {
    let mut sql = "CREATE SCHEMA IF NOT EXISTS seekwell;
        CREATE TABLE IF NOT EXISTS seekwell.version (version int NOT NULL);
        CREATE TABLE IF NOT EXISTS seekwell.documents (host text, run text, target text NOT NULL,
          started_at text NOT NULL, ended_at text, document json NOT NULL, detail json NOT NULL,
          PRIMARY KEY (host, run));\n"
        .to_owned();
    for table in tables() {
        let columns: Vec<String> =
            table.columns.iter().map(|c| format!("\"{}\" {}", c.name, type_of(c.kind))).collect();
        let (key, others) = columns.split_at(table.key);
        let _ = writeln!(
            sql,
            "CREATE TABLE IF NOT EXISTS seekwell.{} ({}, PRIMARY KEY ({}));",
            table.name,
            key.join(", "),
            names(&table, table.key)
        );
        let added: Vec<String> =
            others.iter().map(|column| format!("ADD COLUMN IF NOT EXISTS {column}")).collect();
        let _ = writeln!(sql, "ALTER TABLE seekwell.{} {};", table.name, added.join(", "));
    }
    let _ = writeln!(
        sql,
        "CREATE INDEX IF NOT EXISTS metrics_by_name ON seekwell.metrics (metric, phase);
        DELETE FROM seekwell.version;
        INSERT INTO seekwell.version VALUES ({VERSION});"
    );
    sql
}

const fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Int => "bigint",
        Kind::Real => "double precision",
        Kind::Bool => "boolean",
        Kind::Time => "timestamptz",
        Kind::Ints => "bigint[]",
    }
}

/// The first columns of a table.
pub fn names(table: &Table, first: usize) -> String {
    let names: Vec<String> =
        table.columns[..first].iter().map(|column| format!("\"{}\"", column.name)).collect();
    names.join(", ")
}

/// Copies rows into a table.
pub fn copy(table: &Table) -> String {
    format!("COPY seekwell.{} ({}) FROM STDIN", table.name, names(table, table.columns.len()))
}

/// All columns of a table, as [`cells`] reads them.
pub fn selected(table: &Table) -> String {
    let read = |c: &Column| match c.kind {
        Kind::Time => format!("(extract(epoch FROM \"{}\") * 1e6)::bigint", c.name),
        _ => format!("\"{}\"", c.name),
    };
    table.columns.iter().map(read).collect::<Vec<_>>().join(", ")
}

/// A row of what [`selected`] asked for.
pub fn cells(table: &Table, row: &postgres::Row) -> Row {
    let cell = |(at, c): (usize, &Column)| match c.kind {
        Kind::Text => row.get::<_, Option<String>>(at).into(),
        Kind::Int => row.get::<_, Option<i64>>(at).map_or(Cell::Missing, Cell::Int),
        Kind::Real => row.get::<_, Option<f64>>(at).into(),
        Kind::Bool => row.get::<_, Option<bool>>(at).into(),
        Kind::Time => row.get::<_, Option<i64>>(at).map_or(Cell::Missing, Cell::Time),
        Kind::Ints => Cell::Ints(row.get::<_, Option<Vec<i64>>>(at).unwrap_or_default()),
    };
    table.columns.iter().enumerate().map(cell).collect()
}

/// Rows as `COPY` reads them.
pub fn lines(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            text.push_str(if at > 0 { "\t" } else { "" });
            write_cell(&mut text, cell);
        }
        text.push('\n');
    }
    text
}

fn write_cell(text: &mut String, cell: &Cell) {
    let written = match cell {
        Cell::Missing => write!(text, "\\N"),
        Cell::Text(value) => {
            for c in value.chars() {
                match c {
                    '\\' => text.push_str("\\\\"),
                    '\t' => text.push_str("\\t"),
                    '\n' => text.push_str("\\n"),
                    '\r' => text.push_str("\\r"),
                    c => text.push(storable(c)),
                }
            }
            Ok(())
        }
        Cell::Int(number) => write!(text, "{number}"),
        Cell::Real(number) => write!(text, "{number}"),
        Cell::Bool(value) => write!(text, "{value}"),
        Cell::Time(at) => match Timestamp::from_microsecond(*at) {
            Ok(at) => write!(text, "{at}"),
            Err(_) => write!(text, "\\N"),
        },
        Cell::Ints(numbers) => {
            text.push('{');
            for (at, number) in numbers.iter().enumerate() {
                let _ = write!(text, "{}{number}", if at > 0 { "," } else { "" });
            }
            text.push('}');
            Ok(())
        }
    };
    written.expect("a string can be written to");
}

/// The character, or what stands for the one that PostgreSQL's text cannot hold.
pub const fn storable(c: char) -> char {
    if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }
}
