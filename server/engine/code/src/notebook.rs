//! Notebooks: a document of cells, and the text that a model sees of it. Outputs are left out. Follows the format of
//! Jupyter, nbformat 4. Does not read files or follow an editor's edits.

use std::fmt::Write as _;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;

/// Extension of the names of notebooks.
const EXTENSION: &str = ".ipynb";

/// A notebook without its outputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notebook {
    pub cells: Vec<Cell>,
}

/// A cell of a notebook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Name of the cell in its notebook, if it has one.
    pub name: Option<String>,
    pub kind: CellKind,
    pub text: String,
}

/// What the text of a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    Code,
    Markdown,
    Raw,
}

/// A notebook file. Fields that are not listed, such as outputs, are skipped.
#[derive(Deserialize)]
struct NotebookFile {
    cells: Vec<CellInFile>,
    #[serde(rename = "nbformat")]
    _format: IgnoredAny,
}

#[derive(Deserialize)]
struct CellInFile {
    id: Option<String>,
    cell_type: CellKind,
    source: CellSource,
}

/// The text of a cell, in one piece or as a list of pieces that contain their line endings.
#[derive(Deserialize)]
#[serde(untagged)]
enum CellSource {
    Whole(String),
    Pieces(Vec<String>),
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

impl Notebook {
    /// Reads a notebook file. Returns `None` if the text is not that of a notebook.
    pub fn parse(text: &str) -> Option<Self> {
        let file: NotebookFile = serde_json::from_str(text).ok()?;
        let cell = |CellInFile { id, cell_type: kind, source }: CellInFile| {
            let text = match source {
                CellSource::Whole(text) => text,
                CellSource::Pieces(pieces) => pieces.concat(),
            };
            Cell { name: id, kind, text }
        };
        Some(Self { cells: file.cells.into_iter().map(cell).collect() })
    }

    /// Returns the text of all cells, each after a line `# %% [kind] cell number`, as editors write notebooks as
    /// scripts.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, cell) in (1..).zip(&self.cells) {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "# %% [{}] cell {number}", cell.kind.name());
            text.push_str(&cell.text);
            if !cell.text.is_empty() && !cell.text.ends_with('\n') {
                text.push('\n');
            }
        }
        text
    }

    /// Returns the cell with this name, or the one that `cell3` counts, from 1.
    pub fn cell(&self, name: &str) -> Option<&Cell> {
        let named = self.cells.iter().find(|cell| cell.name.as_deref() == Some(name));
        named.or_else(|| {
            let number: usize = name.strip_prefix("cell")?.parse().ok()?;
            self.cells.get(number.checked_sub(1)?)
        })
    }
}

/// Whether a file is a notebook, according to its name.
pub fn is_notebook(key: &FileKey) -> bool {
    key.as_str().ends_with(EXTENSION)
}

/// Splits the key of a cell (`a.ipynb#cell`) into the key of its notebook and the name of the cell. Returns `None` for
/// all other keys.
pub fn split_cell(key: &FileKey) -> Option<(FileKey, &str)> {
    let (notebook, cell) = split_cell_path(key.as_str())?;
    Some((FileKey::new(notebook), cell))
}

/// Like [`split_cell`], for a path.
pub fn split_cell_path(path: &str) -> Option<(&str, &str)> {
    let at = path.find(".ipynb#")? + EXTENSION.len();
    Some((path.get(..at)?, path.get(at + 1..)?))
}

/// Returns the key of a cell.
pub fn cell_key(notebook: &FileKey, cell: &str) -> FileKey {
    FileKey::new(format!("{}#{cell}", notebook.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"{
        "nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}},
        "cells": [
            {"id": "intro", "cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "Text"]},
            {"cell_type": "code", "metadata": {}, "execution_count": 3, "source": "x = 1\n",
             "outputs": [{"output_type": "display_data", "data": {"image/png": "AAAA"}}]},
            {"cell_type": "raw", "metadata": {}, "source": []}
        ]
    }"##;

    #[test]
    fn a_notebook_is_its_cells_without_outputs() {
        let notebook = Notebook::parse(FILE).unwrap();
        let expected =
            "# %% [markdown] cell 1\n# Title\nText\n\n# %% [code] cell 2\nx = 1\n\n# %% [raw] cell 3\n";
        assert_eq!(notebook.text(), expected);
        assert_eq!(notebook.cell("intro"), notebook.cells.first());
        assert_eq!(notebook.cell("cell2"), notebook.cells.get(1));
        assert_eq!(["cell0", "cell4", "cell", "other"].map(|name| notebook.cell(name)), [None; 4]);
    }

    #[test]
    fn other_files_are_not_notebooks() {
        for text in
            ["", "{}", "[]", r#"{"cells": []}"#, r#"{"nbformat": 4}"#, r#"{"nbformat": 4, "cells": [{}]}"#]
        {
            assert_eq!(Notebook::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_cell_is_named_after_its_notebook() {
        let (notebook, cell) = (FileKey::from("a/n.ipynb"), FileKey::from("a/n.ipynb#W0s#1"));
        assert_eq!(cell_key(&notebook, "W0s#1"), cell);
        assert_eq!(split_cell(&cell), Some((notebook.clone(), "W0s#1")));
        assert_eq!(split_cell(&notebook), None);
        assert!(is_notebook(&notebook) && !is_notebook(&cell));
    }
}
