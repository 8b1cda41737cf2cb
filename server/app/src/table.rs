//! Formats rows of short texts in aligned columns. Each row is one line, without trailing spaces: cells may contain text
//! from outside, whose invisible characters are escaped.

use std::fmt::Write as _;

use strata_base::external::ExternalText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A plain-text table with `N` aligned columns.
#[derive(Debug)]
pub struct Table<const N: usize> {
    columns: [Align; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub fn new(columns: [Align; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub fn add_row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| ExternalText::new(&cell).line().to_string()));
    }

    /// Renders the table, one line per row.
    pub fn render(&self) -> String {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            let start = text.len();
            for ((cell, width), align) in row.iter().zip(widths).zip(self.columns) {
                let gap = if text.len() == start { "" } else { "  " };
                // Writing to a string cannot fail.
                let _ = match align {
                    Align::Left => write!(text, "{gap}{cell:<width$}"),
                    Align::Right => write!(text, "{gap}{cell:>width$}"),
                };
            }
            text.truncate(text.trim_end_matches(' ').len().max(start));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_blank_ends() {
        let mut table = Table::new([Align::Left, Align::Right, Align::Left]);
        table.add_row(["part".into(), "tokens".into(), String::new()]);
        table.add_row(["symbol map".into(), "12".into(), "L0".into()]);
        table.add_row([String::new(), String::new(), String::new()]);
        assert_eq!(table.render(), "part        tokens\nsymbol map      12  L0\n\n");
    }

    #[test]
    fn a_cell_cannot_add_a_row() {
        let mut table = Table::new([Align::Left, Align::Right]);
        table.add_row(["a\nwarning: b".into(), "1".into()]);
        table.add_row(["c".into(), "2".into()]);
        assert_eq!(table.render(), "a\\u{a}warning: b  1\nc                 2\n");
    }
}
