//! The documents and notebooks that are open in the editor, by their normalized URIs. An editor may open a file under
//! several URIs, since links lead to it; each has its own buffer, and the one edited last counts. Does not access the
//! disk: the caller resolves each URI to a key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_base::key::FileKey;
use strata_base::text::without_byte_order_mark;
use strata_code::buffer::Buffer;
use strata_code::document::{Document, DocumentSync, OutOfStep};
use strata_code::notebook::{Cell, CellKind, Notebook, cell_key};
use strata_host::uri;
use strata_prompt::assembly::{FileText, Source};

use crate::clock::now_ms;

#[derive(Clone, Debug)]
pub(crate) struct OpenDocument {
    pub(crate) key: FileKey,
    pub(crate) buffer: Arc<Buffer>,
    /// When the document was last edited. 0 if it was only opened.
    pub(crate) edited_at: u64,
    /// When the document was opened or last saved.
    pub(crate) saved_at: u64,
    /// URI of the notebook that contains the document, if it is a cell.
    pub(crate) notebook: Option<Arc<str>>,
}

/// A cell of an open notebook. Its text is in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCell {
    pub kind: CellKind,
    /// URI of the document with the text of the cell.
    pub uri: Arc<str>,
}

#[derive(Clone, Debug)]
pub struct OpenNotebook {
    pub key: FileKey,
    pub version: i32,
    pub cells: Vec<OpenCell>,
    /// Whether the list of cells matches the editor's.
    pub sync: DocumentSync,
    /// When the notebook was last edited, except for the texts of its cells. 0 if it was only opened.
    edited_at: u64,
    /// When the notebook was opened or last saved.
    pub(crate) saved_at: u64,
}

impl OpenNotebook {
    /// Records that the cells may differ from the editor's. Only the first reason is kept.
    pub fn mark_out_of_step(&mut self, reason: OutOfStep) {
        if self.sync == DocumentSync::InStep {
            self.sync = DocumentSync::OutOfStep { reason };
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct OpenDocuments {
    documents: BTreeMap<Arc<str>, OpenDocument>,
    /// The URIs of each open file.
    files: BTreeMap<FileKey, BTreeSet<Arc<str>>>,
    /// Time of the last change, in milliseconds since 1970. Every change has a time of its own, so changes that follow
    /// each other quickly are a little ahead of the clock. Thus all changes have an order, also those of other processes.
    time: u64,
    notebooks: BTreeMap<Arc<str>, OpenNotebook>,
}

impl OpenDocuments {
    /// Returns the buffer of a file that was edited last.
    pub fn buffer(&self, key: &FileKey) -> Option<&Arc<Buffer>> {
        self.last_edited_document(key).map(|document| &document.buffer)
    }

    /// Returns the buffer that is open under a URI.
    pub fn buffer_at(&self, uri: &str) -> Option<&Arc<Buffer>> {
        self.documents.get(uri).map(|document| &document.buffer)
    }

    pub fn contains(&self, key: &FileKey) -> bool {
        self.files.contains_key(key)
    }

    /// Returns the files and cells that have a buffer, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &FileKey> {
        self.files.keys()
    }

    /// Returns the keys of what the user sees as a document: notebooks instead of their cells.
    pub fn document_keys(&self) -> impl Iterator<Item = &FileKey> {
        let is_cell = |key: &&FileKey| {
            self.last_edited_document(key).is_some_and(|document| document.notebook.is_some())
        };
        let files = self.files.keys().filter(move |key| !is_cell(key));
        files.chain(self.notebooks.values().map(|notebook| &notebook.key))
    }

    /// Returns the buffer to use for each file, sorted by key.
    pub fn buffers(&self) -> impl Iterator<Item = (&FileKey, &Arc<Buffer>)> {
        self.files.keys().filter_map(|key| Some((key, self.buffer(key)?)))
    }

    /// Returns the number of open files and cells.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.notebooks.is_empty()
    }

    /// Returns the key of the document or notebook that is open under a URI.
    pub fn key_at(&self, uri: &str) -> Option<&FileKey> {
        let document = self.documents.get(uri).map(|document| &document.key);
        document.or_else(|| self.notebooks.get(uri).map(|notebook| &notebook.key))
    }

    /// Returns the URI under which the editor has a file or notebook open.
    pub fn uri_of(&self, key: &FileKey) -> Option<&str> {
        let document = self.last_edited_entry(key).map(|(uri, _)| uri);
        document.or_else(|| self.notebook(key).map(|(uri, _)| uri)).map(|uri| &**uri)
    }

    /// Returns the open document or notebook that a text names by its key or its URI.
    pub fn find(&self, text: &str) -> Option<FileKey> {
        let file = || self.files.get_key_value(text).map(|(key, _)| key);
        let notebook =
            || self.notebooks.values().map(|notebook| &notebook.key).find(|key| key.as_str() == text);
        file().or_else(notebook).or_else(|| self.key_at(&uri::normalize_uri(text))).cloned()
    }

    /// Returns the text of an open file, cell or notebook. Returns `None` if it is not open, or its text is unknown.
    pub fn text(&self, key: &FileKey) -> Option<FileText> {
        if let Some((_, notebook)) = self.notebook(key) {
            let sync = self.notebook_sync(notebook);
            if sync == (DocumentSync::OutOfStep { reason: OutOfStep::NeverOpened }) {
                return None;
            }
            let source = Source::Buffer { version: notebook.version, sync };
            return Some(FileText::new(self.notebook_content(notebook).text().into(), source));
        }
        let document = self.last_edited_document(key)?;
        let open = document.buffer.document();
        if !open.is_text_known() {
            return None;
        }
        let mut file = FileText::from_buffer(open);
        if let (Source::Buffer { sync: sync @ DocumentSync::InStep, .. }, Some(other)) =
            (&mut file.source, self.conflicting_buffer_uri(key))
        {
            *sync = DocumentSync::OutOfStep { reason: OutOfStep::OpenTwice { other } };
        }
        Some(file)
    }

    /// Returns why the text of an open file, cell or notebook may differ from the editor's. Returns `None` if it does not
    /// differ, or is not open.
    pub fn out_of_step(&self, key: &FileKey) -> Option<OutOfStep> {
        let sync = match self.notebook(key) {
            Some((_, notebook)) => self.notebook_sync(notebook),
            None => self.buffer(key)?.document().sync.clone(),
        };
        match sync {
            DocumentSync::InStep => None,
            DocumentSync::OutOfStep { reason } => Some(reason),
        }
    }

    /// Returns the cells of an open notebook with their current texts.
    pub fn notebook_content_of(&self, key: &FileKey) -> Option<Notebook> {
        self.notebook(key).map(|(_, notebook)| self.notebook_content(notebook))
    }

    /// Returns whether cells of a notebook are open that the editor did not report as part of the notebook. Their place
    /// in the notebook is unknown.
    pub fn has_stray_cells(&self, notebook: &FileKey) -> bool {
        let first = cell_key(notebook, "");
        let mut after = self.files.range(first.clone()..);
        after.next().is_some_and(|(key, _)| key.as_str().starts_with(first.as_str()))
    }

    /// Returns all documents by URI, including those that do not count.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        self.documents.iter().map(|(uri, document)| (&**uri, document))
    }

    /// Returns all notebooks by URI.
    pub(crate) fn notebooks(&self) -> impl Iterator<Item = (&str, &OpenNotebook)> {
        self.notebooks.iter().map(|(uri, notebook)| (&**uri, notebook))
    }

    /// Returns a number that identifies the text of an open file, cell or notebook.
    pub(crate) fn generation(&self, key: &FileKey) -> Option<u64> {
        let notebook = self.notebook(key).map(|(_, notebook)| self.notebook_edited_at(notebook));
        notebook.or_else(|| self.buffer(key).map(|buffer| buffer.generation()))
    }

    /// Returns when a notebook or one of its cells was last edited. 0 if it was only opened.
    pub(crate) fn notebook_edited_at(&self, notebook: &OpenNotebook) -> u64 {
        let cells = notebook.cells.iter().filter_map(|cell| self.documents.get(&cell.uri));
        cells.map(|cell| cell.edited_at).fold(notebook.edited_at, u64::max)
    }

    /// Opens a document, or opens it again. Returns its key, which is that of a cell if the document belongs to an open
    /// notebook. Another buffer of the same file that was edited still counts.
    pub fn open(&mut self, uri: &str, key: FileKey, document: Document) -> FileKey {
        let before = self.documents.get(uri).filter(|before| before.notebook.is_some());
        let (key, notebook) = before.map_or((key, None), |cell| (cell.key.clone(), cell.notebook.clone()));
        self.insert(uri, key.clone(), Buffer::new(&key, document), notebook);
        key
    }

    /// Opens a document as a cell of a notebook. Returns its key, or `None` if the notebook is not open.
    pub fn open_cell(&mut self, notebook: &str, uri: &str, document: Document) -> Option<FileKey> {
        let (notebook, open_notebook) = self.notebooks.get_key_value(notebook)?;
        let key = cell_key(&open_notebook.key, cell_name(uri));
        let notebook = Some(Arc::clone(notebook));
        self.insert(uri, key.clone(), Buffer::new(&key, document), notebook);
        Some(key)
    }

    /// Replaces the buffer of a document after a change, or opens it. It counts from now on, unless the change edited
    /// nothing.
    pub fn replace_buffer(&mut self, uri: &str, key: FileKey, buffer: Buffer) {
        let is_new = !self.documents.contains_key(uri);
        if is_new {
            self.insert(uri, key, buffer.clone(), None);
        }
        let time = self.next_change_time();
        if let Some(document) = self.documents.get_mut(uri) {
            let state = |buffer: &Buffer| (buffer.generation(), buffer.document().is_in_step());
            if is_new || state(&document.buffer) != state(&buffer) {
                document.edited_at = time;
            }
            document.buffer = Arc::new(buffer);
        }
    }

    /// Records that the editor saved a document or a notebook.
    pub fn mark_saved(&mut self, uri: &str) {
        let time = self.next_change_time();
        if let Some(document) = self.documents.get_mut(uri) {
            document.saved_at = time;
        }
        if let Some(notebook) = self.notebooks.get_mut(uri) {
            notebook.saved_at = time;
        }
    }

    /// Replaces the buffer to use for a file with the same text and a newer parse.
    pub fn replace_parse(&mut self, key: &FileKey, buffer: Buffer) {
        let uri = self.last_edited_entry(key).map(|(uri, _)| Arc::clone(uri));
        if let Some(document) = uri.and_then(|uri| self.documents.get_mut(&uri)) {
            document.buffer = Arc::new(buffer);
        }
    }

    /// Closes a document. Returns its key.
    pub fn close(&mut self, uri: &str) -> Option<FileKey> {
        let document = self.documents.remove(uri)?;
        if let Some(uris) = self.files.get_mut(&document.key) {
            uris.remove(uri);
            if uris.is_empty() {
                self.files.remove(&document.key);
            }
        }
        Some(document.key)
    }

    /// Opens a notebook, or opens it again. The documents of its cells are opened separately.
    pub fn open_notebook(&mut self, uri: &str, key: FileKey, version: i32, cells: Vec<OpenCell>) {
        self.close(uri);
        self.close_notebook(uri);
        let (edited_at, saved_at) = (0, self.next_change_time());
        let notebook = OpenNotebook { key, version, cells, sync: DocumentSync::InStep, edited_at, saved_at };
        self.notebooks.insert(uri.into(), notebook);
    }

    pub fn has_notebook(&self, uri: &str) -> bool {
        self.notebooks.contains_key(uri)
    }

    pub fn notebook_mut(&mut self, uri: &str) -> Option<&mut OpenNotebook> {
        let time = self.next_change_time();
        let notebook = self.notebooks.get_mut(uri)?;
        notebook.edited_at = time;
        Some(notebook)
    }

    /// Closes a notebook and its cells. Returns its key.
    pub fn close_notebook(&mut self, uri: &str) -> Option<FileKey> {
        let notebook = self.notebooks.remove(uri)?;
        let cells = self.documents.iter().filter(|(_, document)| document.notebook.as_deref() == Some(uri));
        let cells: Vec<Arc<str>> = cells.map(|(uri, _)| Arc::clone(uri)).collect();
        for cell in cells {
            self.close(&cell);
        }
        Some(notebook.key)
    }

    /// Records that all documents and notebooks may differ from the editor's. Returns whether any of them was in step.
    pub fn mark_all_out_of_step(&mut self, reason: &OutOfStep) -> bool {
        let mut any = false;
        for document in self.documents.values_mut().filter(|document| document.buffer.document().is_in_step())
        {
            any = true;
            Arc::make_mut(&mut document.buffer).mark_out_of_step(reason.clone());
        }
        for notebook in self.notebooks.values_mut() {
            any |= notebook.sync == DocumentSync::InStep;
            notebook.mark_out_of_step(reason.clone());
        }
        any
    }

    /// Whether `key_of` returns another key for the URI of any document.
    pub fn has_outdated_keys(&self, key_of: impl Fn(&str) -> Option<FileKey>) -> bool {
        let documents = self.documents.iter().filter(|(_, document)| document.notebook.is_none());
        let documents = documents.map(|(uri, document)| (uri, &document.key));
        let notebooks = self.notebooks.iter().map(|(uri, notebook)| (uri, &notebook.key));
        documents.chain(notebooks).any(|(uri, key)| key_of(uri).as_ref() != Some(key))
    }

    /// Gives each document the key that `key_of` returns for its URI, and closes those without one.
    pub fn update_keys(&mut self, key_of: impl Fn(&str) -> Option<FileKey>) {
        let before = std::mem::take(self);
        self.time = before.time;
        for (uri, mut notebook) in before.notebooks {
            if let Some(key) = key_of(&uri) {
                notebook.key = key;
                self.notebooks.insert(uri, notebook);
            }
        }
        for (uri, mut document) in before.documents {
            let key = match &document.notebook {
                Some(notebook) => {
                    let notebook = self.notebooks.get(notebook);
                    notebook.map(|notebook| cell_key(&notebook.key, cell_name(&uri)))
                }
                None => key_of(&uri),
            };
            if let Some(key) = key {
                document.key = key.clone();
                self.files.entry(key).or_default().insert(Arc::clone(&uri));
                self.documents.insert(uri, document);
            }
        }
    }

    fn last_edited_document(&self, key: &FileKey) -> Option<&OpenDocument> {
        self.last_edited_entry(key).map(|(_, document)| document)
    }

    fn last_edited_entry(&self, key: &FileKey) -> Option<(&Arc<str>, &OpenDocument)> {
        let documents = self.files.get(key)?.iter().filter_map(|uri| self.documents.get_key_value(uri));
        documents.max_by_key(|(_, document)| document.edited_at)
    }

    fn notebook(&self, key: &FileKey) -> Option<(&Arc<str>, &OpenNotebook)> {
        self.notebooks.iter().find(|(_, notebook)| notebook.key == *key)
    }

    /// Adds or replaces a document.
    fn insert(&mut self, uri: &str, key: FileKey, buffer: Buffer, notebook: Option<Arc<str>>) {
        let edited_at = self.documents.get(uri).map_or(0, |before| before.edited_at);
        let saved_at = self.next_change_time();
        self.close(uri);
        let uri: Arc<str> = uri.into();
        self.files.entry(key.clone()).or_default().insert(Arc::clone(&uri));
        self.documents
            .insert(uri, OpenDocument { key, buffer: Arc::new(buffer), edited_at, saved_at, notebook });
    }

    /// Returns the time of a new change.
    fn next_change_time(&mut self) -> u64 {
        self.time = now_ms().max(self.time + 1);
        self.time
    }

    /// Returns another buffer of the same file whose text differs or may differ, as its URI.
    fn conflicting_buffer_uri(&self, key: &FileKey) -> Option<String> {
        let (current, document) = self.last_edited_entry(key)?;
        let text = &document.buffer.document().rope;
        let differs = |uri: &&Arc<str>| {
            let other = self.documents.get(*uri).map(|other| other.buffer.document());
            *uri != current && other.is_some_and(|other| other.rope != *text || !other.is_in_step())
        };
        self.files.get(key)?.iter().find(differs).map(ToString::to_string)
    }

    fn notebook_content(&self, notebook: &OpenNotebook) -> Notebook {
        let cell = |cell: &OpenCell| {
            let document = self.documents.get(&cell.uri);
            let text = document.map(|document| document.buffer.document().text()).unwrap_or_default();
            let name = Some(cell_name(&cell.uri).to_owned());
            Cell { name, kind: cell.kind, text: without_byte_order_mark(&text).to_owned() }
        };
        Notebook { cells: notebook.cells.iter().map(cell).collect() }
    }

    /// Returns whether a notebook and all of its cells match the editor's.
    fn notebook_sync(&self, notebook: &OpenNotebook) -> DocumentSync {
        let cells = notebook.cells.iter().map(|cell| {
            let document = self.documents.get(&cell.uri);
            document.map_or_else(
                || DocumentSync::OutOfStep { reason: OutOfStep::MissingCell },
                |document| document.buffer.document().sync.clone(),
            )
        });
        let mut all = std::iter::once(notebook.sync.clone()).chain(cells);
        all.find(|sync| *sync != DocumentSync::InStep).unwrap_or(DocumentSync::InStep)
    }
}

/// Returns the name of a cell in its notebook: the fragment of its URI, or the whole URI if it has none. In the
/// normalized URI of a file, the fragment belongs to the path.
fn cell_name(uri: &str) -> &str {
    let fragment = uri.rsplit_once('#').or_else(|| uri.rsplit_once("%23"));
    fragment.map_or(uri, |(_, name)| name)
}
