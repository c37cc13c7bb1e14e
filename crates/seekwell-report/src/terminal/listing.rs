//! A plain list with a header, such as that of the kept runs.

use crate::text::clean;
use comfy_table::{ContentArrangement, Table, presets};

/// What is longer is cut: wrapping a word takes time that grows with the square of its length.
const LONGEST_CELL: usize = 1024;

/// Rows under a header, at most `width` columns wide, cells wrapped where they must be. Text is
/// made safe for a terminal. Ends with a line end; of no rows there is only the header.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| match cell.char_indices().nth(LONGEST_CELL) {
            Some((end, _)) => clean(&cell[..end]) + "…",
            None => clean(cell),
        }));
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A label of 400 kB took 17 s.
    #[test]
    fn a_cell_of_any_length_is_a_few_lines() {
        let text = table(&["run", "label"], [vec!["one".to_owned(), "é".repeat(4 << 20)]], 80);
        let shown = text.chars().filter(|c| *c == 'é').count();
        assert_eq!((shown, text.contains('…')), (LONGEST_CELL, true));
    }
}
