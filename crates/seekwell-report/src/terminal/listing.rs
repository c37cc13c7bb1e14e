//! A plain list with a header, such as that of the kept runs.

use crate::text::clean;
use comfy_table::{ContentArrangement, Table, presets};

/// Rows under a header, at most `width` columns wide, cells wrapped where they must be. Text is
/// made safe for a terminal. Ends with a line end; of no rows there is only the header.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| clean(cell)));
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
