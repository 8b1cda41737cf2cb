//! The documents and notebooks that are open in the editor. An editor may open a file under several addresses, since
//! links lead to it; each address has its own buffer, and the one edited last counts. Does not access the disk: the
//! caller resolves each address to a key.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use strata_engine::code::buffer::Buffer;
use strata_engine::code::document::{Document, OutOfStep, Sync};
use strata_engine::code::notebook::{Cell, CellKind, Notebook, cell_key};
use strata_engine::key::FileKey;
use strata_engine::prompt::assembly::{FileText, Source};
use strata_engine::text::without_byte_order_mark;
use strata_host::uri;

/// The address of a document, which is the same for every spelling of its URI.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Address {
    /// Path of a file as written. Links are not followed.
    Path(PathBuf),
    /// URI of a document that is not a file.
    Uri(Arc<str>),
}

impl Address {
    pub fn new(uri: &str) -> Self {
        uri::to_path(uri).map_or_else(|_| Self::Uri(uri.into()), Self::Path)
    }
}

/// An open document.
#[derive(Clone, Debug)]
struct OpenDocument {
    /// URI as the editor spelled it when it opened the document.
    uri: Arc<str>,
    key: FileKey,
    buffer: Arc<Buffer>,
    /// The notebook that contains the document, if it is a cell.
    notebook: Option<Address>,
}

/// A cell of an open notebook. Its text is in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCell {
    pub kind: CellKind,
    /// URI of the document with the text of the cell.
    pub uri: Arc<str>,
}

/// An open notebook.
#[derive(Clone, Debug)]
pub struct OpenNotebook {
    uri: Arc<str>,
    pub key: FileKey,
    pub version: i32,
    pub cells: Vec<OpenCell>,
    /// Whether the list of cells matches the editor's.
    pub sync: Sync,
}

impl OpenNotebook {
    /// Records that the cells may differ from the editor's. Only the first reason is kept.
    pub fn lose_step(&mut self, reason: OutOfStep) {
        if self.sync == Sync::InStep {
            self.sync = Sync::OutOfStep { reason };
        }
    }
}

/// All open documents.
#[derive(Clone, Debug, Default)]
pub struct OpenDocuments {
    documents: BTreeMap<Address, OpenDocument>,
    /// The addresses of each open file. The one edited last is last.
    files: BTreeMap<FileKey, Vec<Address>>,
    notebooks: BTreeMap<Address, OpenNotebook>,
}

impl OpenDocuments {
    /// Returns the buffer of a file that was edited last.
    pub fn buffer(&self, key: &FileKey) -> Option<&Arc<Buffer>> {
        self.current(key).map(|document| &document.buffer)
    }

    pub fn contains(&self, key: &FileKey) -> bool {
        self.files.contains_key(key)
    }

    /// Returns the files and cells that have a buffer, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &FileKey> {
        self.files.keys()
    }

    /// Returns the keys of what the user sees as a document: notebooks instead of their cells.
    pub fn whole_documents(&self) -> impl Iterator<Item = &FileKey> {
        let is_cell = |key: &&FileKey| self.current(key).is_some_and(|document| document.notebook.is_some());
        let files = self.files.keys().filter(move |key| !is_cell(key));
        files.chain(self.notebooks.values().map(|notebook| &notebook.key))
    }

    /// Returns the buffer that counts of each file, sorted by key.
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

    /// Returns the key of the document or notebook that is open under an address.
    pub fn key_at(&self, address: &Address) -> Option<&FileKey> {
        let document = self.documents.get(address).map(|document| &document.key);
        document.or_else(|| self.notebooks.get(address).map(|notebook| &notebook.key))
    }

    /// Returns the address of the buffer that counts of a file.
    pub fn address_of(&self, key: &FileKey) -> Option<&Address> {
        self.files.get(key)?.last()
    }

    /// Returns the URI under which the editor has a file or notebook open.
    pub fn uri_of(&self, key: &FileKey) -> Option<&str> {
        let document = self.current(key).map(|document| &*document.uri);
        document.or_else(|| self.notebook(key).map(|notebook| &*notebook.uri))
    }

    /// Returns the open document or notebook that a text names by its key or its URI.
    pub fn named(&self, text: &str) -> Option<FileKey> {
        let by_key = self.files.get_key_value(text).map(|(key, _)| key);
        let by_key = by_key.or_else(|| {
            self.notebooks.values().map(|notebook| &notebook.key).find(|key| key.as_str() == text)
        });
        by_key.or_else(|| self.key_at(&Address::new(text))).cloned()
    }

    /// Returns the text of an open file, cell or notebook. Returns `None` if it is not open, or its text is unknown.
    pub fn text(&self, key: &FileKey) -> Option<FileText> {
        if let Some(notebook) = self.notebook(key) {
            if notebook.sync == (Sync::OutOfStep { reason: OutOfStep::NeverOpened }) {
                return None;
            }
            let source = Source::Buffer { version: notebook.version, sync: self.sync_of(notebook) };
            return Some(FileText::new(self.content(notebook).text().into(), source));
        }
        let document = self.current(key)?;
        let open = document.buffer.document();
        if !open.is_known() {
            return None;
        }
        let mut file = FileText::of_buffer(open);
        if let (Source::Buffer { sync: sync @ Sync::InStep, .. }, Some(other)) =
            (&mut file.source, self.rival(key))
        {
            *sync = Sync::OutOfStep { reason: OutOfStep::OpenTwice { other } };
        }
        Some(file)
    }

    /// Returns the cells of an open notebook with their current texts.
    pub fn content_of(&self, key: &FileKey) -> Option<Notebook> {
        self.notebook(key).map(|notebook| self.content(notebook))
    }

    /// Returns whether cells of a notebook are open that the editor did not report as part of the notebook. Their place
    /// in the notebook is unknown.
    pub fn has_stray_cells(&self, notebook: &FileKey) -> bool {
        let first = cell_key(notebook, "");
        let mut after = self.files.range(first.clone()..);
        after.next().is_some_and(|(key, _)| key.as_str().starts_with(first.as_str()))
    }

    /// Opens a document, or opens it again. Another buffer of the same file still counts. Returns its key, which is that
    /// of a cell if the document belongs to an open notebook.
    pub fn open(&mut self, uri: &str, key: FileKey, document: Document) -> FileKey {
        let address = Address::new(uri);
        let before = self.documents.get(&address).filter(|before| before.notebook.is_some());
        let (key, notebook) = before.map_or((key, None), |cell| (cell.key.clone(), cell.notebook.clone()));
        let buffer = Arc::new(Buffer::new(&key, document));
        self.insert(address, OpenDocument { uri: uri.into(), key: key.clone(), buffer, notebook });
        key
    }

    /// Opens a document as a cell of a notebook. Returns its key, or `None` if the notebook is not open.
    pub fn open_cell(&mut self, notebook: &Address, uri: &str, document: Document) -> Option<FileKey> {
        let key = cell_key(&self.notebooks.get(notebook)?.key, cell_name(uri));
        let buffer = Arc::new(Buffer::new(&key, document));
        let notebook = Some(notebook.clone());
        self.insert(Address::new(uri), OpenDocument { uri: uri.into(), key: key.clone(), buffer, notebook });
        Some(key)
    }

    /// Replaces the buffer at an address after an edit, or opens it. It counts from now on.
    pub fn put(&mut self, address: &Address, uri: &str, key: FileKey, buffer: Buffer) {
        let buffer = Arc::new(buffer);
        let key = match self.documents.get_mut(address) {
            Some(document) => {
                document.buffer = buffer;
                document.key.clone()
            }
            None => {
                let document = OpenDocument { uri: uri.into(), key: key.clone(), buffer, notebook: None };
                self.insert(address.clone(), document);
                key
            }
        };
        if let Some(addresses) = self.files.get_mut(&key)
            && addresses.last() != Some(address)
        {
            addresses.retain(|other| other != address);
            addresses.push(address.clone());
        }
    }

    /// Replaces the buffer that counts of a file by the same text with a newer parse.
    pub fn parsed(&mut self, key: &FileKey, buffer: Buffer) {
        let Some(address) = self.address_of(key).cloned() else { return };
        if let Some(document) = self.documents.get_mut(&address) {
            document.buffer = Arc::new(buffer);
        }
    }

    /// Closes a document. Returns its key.
    pub fn close(&mut self, address: &Address) -> Option<FileKey> {
        let document = self.documents.remove(address)?;
        self.forget(&document.key, address);
        Some(document.key)
    }

    /// Returns the buffer that is open under an address.
    pub fn buffer_at(&self, address: &Address) -> Option<&Arc<Buffer>> {
        self.documents.get(address).map(|document| &document.buffer)
    }

    /// Opens a notebook without cells, or opens it again.
    pub fn open_notebook(&mut self, uri: &str, key: FileKey, version: i32) -> Address {
        let address = Address::new(uri);
        self.close(&address);
        self.close_notebook(&address);
        let notebook = OpenNotebook { uri: uri.into(), key, version, cells: Vec::new(), sync: Sync::InStep };
        self.notebooks.insert(address.clone(), notebook);
        address
    }

    pub fn has_notebook(&self, address: &Address) -> bool {
        self.notebooks.contains_key(address)
    }

    pub fn notebook_mut(&mut self, address: &Address) -> Option<&mut OpenNotebook> {
        self.notebooks.get_mut(address)
    }

    /// Closes a notebook and its cells. Returns its key.
    pub fn close_notebook(&mut self, address: &Address) -> Option<FileKey> {
        let notebook = self.notebooks.remove(address)?;
        let cells = self.documents.iter().filter(|(_, document)| document.notebook.as_ref() == Some(address));
        let cells: Vec<Address> = cells.map(|(address, _)| address.clone()).collect();
        for cell in cells {
            self.close(&cell);
        }
        Some(notebook.key)
    }

    /// Whether `key_of` returns another key for the URI of any document.
    pub fn are_outdated(&self, key_of: impl Fn(&str) -> Option<FileKey>) -> bool {
        let documents = self.documents.values().filter(|document| document.notebook.is_none());
        let documents = documents.map(|document| (&document.uri, &document.key));
        let notebooks = self.notebooks.values().map(|notebook| (&notebook.uri, &notebook.key));
        documents.chain(notebooks).any(|(uri, key)| key_of(uri).as_ref() != Some(key))
    }

    /// Gives each document the key that `key_of` returns for its URI, and closes those without one. Returns the keys
    /// that are new.
    pub fn rename(&mut self, key_of: impl Fn(&str) -> Option<FileKey>) -> Vec<FileKey> {
        let before = std::mem::take(self);
        for (address, mut notebook) in before.notebooks {
            if let Some(key) = key_of(&notebook.uri) {
                notebook.key = key;
                self.notebooks.insert(address, notebook);
            }
        }
        let mut documents = before.documents;
        // Each document is inserted before those of the same file that were edited later.
        for address in before.files.values().flat_map(|addresses| addresses.iter().rev()) {
            let Some(mut document) = documents.remove(address) else { continue };
            let key = match &document.notebook {
                Some(notebook) => {
                    let notebook = self.notebooks.get(notebook);
                    notebook.map(|notebook| cell_key(&notebook.key, cell_name(&document.uri)))
                }
                None => key_of(&document.uri),
            };
            if let Some(key) = key {
                document.key = key;
                self.insert(address.clone(), document);
            }
        }
        self.files.keys().filter(|key| !before.files.contains_key(*key)).cloned().collect()
    }

    fn current(&self, key: &FileKey) -> Option<&OpenDocument> {
        self.documents.get(self.files.get(key)?.last()?)
    }

    fn notebook(&self, key: &FileKey) -> Option<&OpenNotebook> {
        self.notebooks.values().find(|notebook| notebook.key == *key)
    }

    /// Adds or replaces a document. A new one counts only if its file has no other buffer.
    fn insert(&mut self, address: Address, document: OpenDocument) {
        let key = document.key.clone();
        if let Some(before) = self.documents.insert(address.clone(), document)
            && before.key != key
        {
            self.forget(&before.key, &address);
        }
        let addresses = self.files.entry(key).or_default();
        if !addresses.contains(&address) {
            addresses.insert(0, address);
        }
    }

    fn forget(&mut self, key: &FileKey, address: &Address) {
        let Some(addresses) = self.files.get_mut(key) else { return };
        addresses.retain(|other| other != address);
        if addresses.is_empty() {
            self.files.remove(key);
        }
    }

    /// Returns another buffer of the same file with different text, as its URI.
    fn rival(&self, key: &FileKey) -> Option<String> {
        let (last, others) = self.files.get(key)?.split_last()?;
        let text = &self.documents.get(last)?.buffer.document().rope;
        let others = others.iter().rev().filter_map(|address| self.documents.get(address));
        let mut different = others.filter(|other| other.buffer.document().rope != *text);
        different.next().map(|other| other.uri.to_string())
    }

    fn content(&self, notebook: &OpenNotebook) -> Notebook {
        let cell = |cell: &OpenCell| {
            let document = self.documents.get(&Address::new(&cell.uri));
            let text = document.map(|document| document.buffer.document().text()).unwrap_or_default();
            let name = Some(cell_name(&cell.uri).to_owned());
            Cell { name, kind: cell.kind, text: without_byte_order_mark(&text).to_owned() }
        };
        Notebook { cells: notebook.cells.iter().map(cell).collect() }
    }

    /// Returns whether a notebook and all of its cells match the editor's.
    fn sync_of(&self, notebook: &OpenNotebook) -> Sync {
        let missing = OutOfStep::Misread { detail: "the text of a cell is missing".to_owned() };
        let cells = notebook.cells.iter().map(|cell| {
            let document = self.documents.get(&Address::new(&cell.uri));
            document.map_or_else(
                || Sync::OutOfStep { reason: missing.clone() },
                |document| document.buffer.document().sync.clone(),
            )
        });
        let mut all = std::iter::once(notebook.sync.clone()).chain(cells);
        all.find(|sync| *sync != Sync::InStep).unwrap_or(Sync::InStep)
    }
}

/// Returns the name of a cell in its notebook: the fragment of its URI, or the whole URI if it has none.
fn cell_name(uri: &str) -> &str {
    uri.rsplit_once('#').map_or(uri, |(_, name)| name)
}
