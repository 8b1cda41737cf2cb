//! Converts notebooks from the protocol: their cells, and changes to the list of cells. Does not read cells' texts.

use std::sync::Arc;

use strata_app::model::open_documents::{OpenCell, OpenNotebook};
use strata_code::document::OutOfStep;
use strata_code::notebook::CellKind;
use tower_lsp::ls_types::{NotebookCell, NotebookCellArrayChange, NotebookCellKind};

pub(crate) fn convert_cell(cell: &NotebookCell) -> OpenCell {
    let kind = if cell.kind == NotebookCellKind::MARKUP { CellKind::Markdown } else { CellKind::Code };
    OpenCell { kind, uri: Arc::from(cell.document.as_str()) }
}

/// Replaces a cell, whose kind may have changed.
pub(crate) fn replace_cell(notebook: &mut OpenNotebook, new_cell: &NotebookCell) {
    let new_cell = convert_cell(new_cell);
    for cell in notebook.cells.iter_mut().filter(|cell| cell.uri == new_cell.uri) {
        *cell = new_cell.clone();
    }
}

/// Applies a change to the list of cells of a notebook.
///
/// # Errors
/// [`OutOfStep::InvalidRange`] if the notebook does not have the cells to replace. The change is then applied to those
/// that it has.
pub(crate) fn splice_cells(
    notebook: &mut OpenNotebook,
    change: &NotebookCellArrayChange,
) -> Result<(), OutOfStep> {
    let count = notebook.cells.len();
    let (start, deleted) = (change.start as usize, change.delete_count as usize);
    let end = start.saturating_add(deleted);
    let new = change.cells.iter().flatten().map(convert_cell);
    notebook.cells.splice(start.min(count)..end.min(count), new);
    if end <= count {
        return Ok(());
    }
    Err(OutOfStep::InvalidRange {
        detail: format!("cells {start} to {end} do not exist; the notebook has {count} cells"),
    })
}
