//! The workspace at one moment: an immutable, shared value with everything that a command may read. The main loop
//! creates it, or the command line, which has no main loop. Reads files for commands, but decides nothing about them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use strata_base::cancel::Cancel;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::document::{DocumentSync, OutOfStep};
use strata_code::excerpts::PassageCache;
use strata_code::notebook::{cell_key, is_notebook, split_cell, split_cell_path};
use strata_code::references::FileScopesCache;
use strata_conversation::providers::Format;
use strata_conversation::selection::{Choice, Extent, Selection};
use strata_conversation::urls::Page;
use strata_host::disk::{ReadError, TextCache, check_text, quick_stamp, read_notebook};
pub use strata_host::outline_cache::delete_parse_records;
use strata_host::outline_cache::{OutlineCache, cache_directory};
use strata_host::roots::{PathError, Roots};
use strata_host::secrets::{secret_rule_by_link_target, secret_rule_by_name};
use strata_host::tokenizer_file::TokenizerFile;
use strata_host::uri;
use strata_prompt::assembly::{self, FileText, PromptServices, Source};
use strata_prompt::session::Session;
use strata_prompt::settings::Settings;
use strata_prompt::trust::Trust;
use strata_tokens::counting::{CountTokens, TokenCounter};
use strata_tokens::models::Models;
use strata_tokens::redaction::SecretRedactor;

use crate::format;
use crate::model::change_log::ChangeLog;
use crate::model::documents::key_of;
use crate::model::index::{Index, IndexInputs, walk_options};
use crate::model::lost_messages::LostEditorMessages;
use crate::model::open_documents::OpenDocuments;
use crate::model::path_reference::PathReference;
use crate::model::recent_documents::RecentDocuments;
use crate::model::redaction::user_secret_redactor;
use crate::model::settings::{Configuration, build_models, models_with_tokenizers};

/// Maximum memory for the cached contents of closed files, in bytes.
const TEXT_CACHE_BYTES: usize = 64 << 20;

/// The workspace at one moment. Cheap to clone.
#[derive(Clone)]
pub struct Snapshot {
    pub roots: Arc<Roots>,
    pub documents: Arc<OpenDocuments>,
    /// Messages of the editor that were lost, which may have been about any file.
    pub lost: Arc<LostEditorMessages>,
    /// Documents that the client mentioned recently.
    pub recent_documents: Arc<RecentDocuments>,
    pub index: Arc<Index>,
    pub settings: Arc<Settings>,
    pub configuration: Arc<Configuration>,
    pub models: Arc<Models>,
    pub counter: Arc<TokenCounter>,
    pub disk: Arc<TextCache>,
    /// Passages of files, cached for selecting excerpts.
    pub passages: PassageCache,
    /// Names of files, for searches for references.
    pub names: FileScopesCache,
    /// Screen that replaces secrets with placeholders.
    pub screen: Arc<SecretRedactor>,
    /// Cached outlines of earlier runs.
    pub outlines: Arc<OutlineCache>,
    /// States of the files at which clients asked for changes.
    pub changes: Arc<ChangeLog>,
    pub trust: Trust,
}

/// Returns the outline cache of the user who runs this process. The cache stores nothing if no cache directory is
/// known.
pub fn user_outline_cache() -> OutlineCache {
    let directory = cache_directory(|name| std::env::var_os(name));
    directory.map_or_else(OutlineCache::default, OutlineCache::in_directory)
}

impl Default for Snapshot {
    /// Creates a workspace without folders, buffers or files.
    fn default() -> Self {
        Self {
            roots: Arc::default(),
            documents: Arc::default(),
            lost: Arc::default(),
            recent_documents: Arc::default(),
            index: Arc::default(),
            settings: Arc::default(),
            configuration: Arc::default(),
            models: Arc::new(Models::builtin()),
            counter: Arc::new(TokenCounter::default()),
            disk: Arc::new(TextCache::new(TEXT_CACHE_BYTES)),
            passages: PassageCache::default(),
            names: FileScopesCache::default(),
            screen: Arc::new(user_secret_redactor()),
            outlines: Arc::default(),
            changes: Arc::default(),
            trust: Trust::default(),
        }
    }
}

/// Prints no content, which is large and may be secret.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Applies new settings. Returns the tokenizer files that are needed now and were not before.
    pub fn apply_configuration(&mut self, configuration: Configuration) -> Vec<Arc<TokenizerFile>> {
        if self.settings.redaction != configuration.settings().redaction {
            self.screen = Arc::new(self.screen.with_settings(&configuration.settings().redaction));
        }
        let new_settings = Arc::new(self.without_secrets(configuration.settings()));
        let old_settings = std::mem::replace(&mut self.settings, Arc::clone(&new_settings));
        self.configuration = Arc::new(configuration);
        if (&old_settings.models, &old_settings.tokenizers)
            == (&new_settings.models, &new_settings.tokenizers)
        {
            return Vec::new();
        }
        // Both calls succeed for all accepted settings.
        let Ok((models, files)) =
            build_models(&new_settings).and_then(|models| models_with_tokenizers(&new_settings, &models))
        else {
            return Vec::new();
        };
        self.models = Arc::new(models);
        let given_counters = files.iter().map(|file| Arc::clone(file) as Arc<dyn CountTokens>);
        self.counter = Arc::new(self.counter.with_custom_tokenizers(given_counters));
        files
    }

    /// Replaces secrets in those settings that become part of prompts.
    fn without_secrets(&self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        let prompt = &mut settings.prompt;
        for text in [&mut prompt.system, &mut prompt.tool_guidelines, &mut prompt.system_extra] {
            *text = self.screen.redact_text(text).into_owned();
        }
        settings
    }

    pub(crate) fn prompt_services(&self) -> PromptServices<'_> {
        PromptServices { models: &self.models, counter: &self.counter, settings: &self.settings }
    }

    /// Resolves the name that a client uses for a file: that of an open document, a notebook cell, or a path in a
    /// workspace folder.
    ///
    /// # Errors
    /// Returns a [`PathError`] with the reason why the name cannot be resolved.
    pub(crate) fn resolve(&self, text: &str) -> Result<FileKey, PathError> {
        // A path that does not exist may be a name for something new.
        let path = self.existing_reference(text).map_or_else(|| text.to_owned(), |reference| reference.path);
        match self.find_document(&path) {
            Some(key) => Ok(key),
            None => self.roots.resolve(&path),
        }
    }

    /// Parses a path with an optional part of its file, in any form that Strata prints.
    pub(crate) fn path_reference(&self, text: &str) -> PathReference {
        self.existing_reference(text).unwrap_or_else(|| PathReference::parse_missing_path(text))
    }

    fn existing_reference(&self, text: &str) -> Option<PathReference> {
        let exists = |path: &str| {
            self.is_indexed_file(path) || self.find_document(path).is_some() || self.roots.exists(path)
        };
        PathReference::parse(text, exists)
    }

    /// Finds the open document or the notebook cell with this name or URI. Untitled buffers and cells have no path.
    pub(crate) fn find_document(&self, text: &str) -> Option<FileKey> {
        self.documents.find(text).or_else(|| {
            let (notebook, cell) = split_cell_path(text)?;
            let is_path = self.roots.resolve(text).is_ok_and(|key| quick_stamp(&self.roots, &key).is_some());
            if is_path {
                return None;
            }
            match self.roots.resolve(notebook) {
                Ok(notebook) => Some(cell_key(&notebook, cell)),
                Err(_) => key_of(text, &self.roots),
            }
        })
    }

    /// Returns the key of a document by its URI, whether it is open or not. Returns `None` if it is not tracked.
    pub fn key_of(&self, uri: &str) -> Option<FileKey> {
        let open = self.documents.key_at(uri).cloned();
        open.or_else(|| key_of(uri, &self.roots))
    }

    /// Returns whether the index contains a file with exactly this name.
    pub(crate) fn is_indexed_file(&self, text: &str) -> bool {
        self.index.files.binary_search_by(|key| key.as_str().cmp(text)).is_ok()
    }

    /// Returns the URI of a file for editors, or `None` if no editor could open it.
    pub fn editor_uri(&self, key: &FileKey) -> Option<String> {
        if let Some(uri) = self.documents.uri_of(key) {
            return Some(uri.to_owned());
        }
        if let Some((notebook, _)) = split_cell(key) {
            return self.editor_uri(&notebook);
        }
        if key.is_untitled() {
            Some(key.as_str().to_owned())
        } else {
            uri::file_uri(&self.roots.path_of(key).ok()?)
        }
    }

    /// Returns the current text of a file as a model may see it. Placeholders replace secrets, unless the user
    /// confirmed the file when selecting it. A file whose name suggests secrets requires that confirmation.
    ///
    /// # Errors
    /// Returns [`ReadError::Secret`] if the file needs confirmation, and another [`ReadError`] if it cannot be read
    /// from disk.
    pub(crate) fn text(&self, key: &FileKey, selection: &Selection) -> Result<FileText, ReadError> {
        if selection.confirmed.contains(key) {
            return self.unscreened_text(key, selection);
        }
        // Content added by the client need not be that of the file with this name.
        if !selection.given.contains_key(key)
            && let Some(rule) = secret_rule_by_link_target(&self.roots, key)
        {
            return Err(ReadError::Secret { key: key.clone(), rule });
        }
        Ok(self.unscreened_text(key, selection)?.redact_secrets(&self.screen))
    }

    /// Returns the screened text of a file if its raw text satisfies `is_wanted`, and `None` otherwise. Screens the
    /// text only in the first case, which saves time.
    ///
    /// # Errors
    /// Returns the same errors as [`text`](Self::text).
    pub(crate) fn text_if(
        &self,
        key: &FileKey,
        selection: &Selection,
        is_wanted: impl FnOnce(&str) -> bool,
    ) -> Result<Option<FileText>, ReadError> {
        if !selection.confirmed.contains(key)
            && !selection.given.contains_key(key)
            && let Some(rule) = secret_rule_by_link_target(&self.roots, key)
        {
            return Err(ReadError::Secret { key: key.clone(), rule });
        }
        let file = self.unscreened_text(key, selection)?;
        if !is_wanted(&file.text) {
            return Ok(None);
        }
        Ok(Some(if selection.confirmed.contains(key) { file } else { file.redact_secrets(&self.screen) }))
    }

    /// Returns the hash of the text of a file, in an editor or on disk. `None` if it cannot be read.
    pub(crate) fn text_hash(&self, key: &FileKey) -> Option<ContentHash> {
        let file = self.unscreened_text(key, &Selection::default()).ok()?;
        Some(ContentHash::from_text(&file.text))
    }

    /// Returns the current text of a file including secrets: the client's content, the open buffer, or the file on
    /// disk. The text must never be sent to a model.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be read from disk, or if its text is too large or binary.
    pub fn unscreened_text(&self, key: &FileKey, selection: &Selection) -> Result<FileText, ReadError> {
        if let Some(text) = selection.given.get(key) {
            return Ok(FileText::new(text.clone(), Source::Given));
        }
        let max_bytes = self.settings.files.max_bytes;
        if let Some(mut file) = self.documents.text(key) {
            if let Source::Buffer { sync: sync @ DocumentSync::InStep, .. } = &mut file.source
                && let Some(reason) = self.lost.reason(key, &self.roots).cloned()
            {
                // The file may be open under another URI as well.
                *sync = DocumentSync::OutOfStep { reason };
            }
            check_text(key, &file.text, max_bytes)?;
            return Ok(file);
        }
        let read = match (self.disk.text(&self.roots, key, max_bytes), split_cell(key)) {
            (Err(ReadError::NotFound(_)), Some((notebook, cell))) => {
                return self.cell_text(&notebook, cell, max_bytes);
            }
            (read, _) => read?,
        };
        let out_of_step = self.out_of_step_on_disk(key);
        let stale =
            out_of_step.as_ref().map(|_| "the editor did not report all changes to this file".to_owned());
        let notice = stale.or_else(|| read.notice.map(|notice| notice.to_string()));
        let mtime_ms = read.stamp.mtime_ns / 1_000_000;
        Ok(FileText::new(read.text, Source::Disk { mtime_ms, notice, out_of_step }))
    }

    /// Returns why the editor may show other text for a file than the disk.
    fn out_of_step_on_disk(&self, key: &FileKey) -> Option<OutOfStep> {
        if self.documents.uri_of(key).is_some() {
            return self.documents.out_of_step(key);
        }
        let is_stray = is_notebook(key) && self.documents.has_stray_cells(key);
        is_stray.then_some(OutOfStep::StrayCells).or_else(|| self.lost.reason(key, &self.roots).cloned())
    }

    /// Returns the text of one cell of a notebook that is open or on disk.
    fn cell_text(&self, notebook: &FileKey, cell: &str, max_bytes: u64) -> Result<FileText, ReadError> {
        let source = self.unscreened_text(notebook, &Selection::default())?.source;
        let content = match (&source, self.documents.notebook_content_of(notebook)) {
            (Source::Buffer { .. }, Some(content)) => content,
            _ => read_notebook(&self.roots, notebook, max_bytes)?,
        };
        match content.cell(cell) {
            Some(cell) => Ok(FileText::new(cell.text.as_str().into(), source)),
            None => Err(ReadError::NoCell { notebook: notebook.clone(), cell: cell.to_owned() }),
        }
    }

    /// Returns a session whose selected lines are those of the current texts. Lines follow edits above them.
    pub fn with_relocated_lines<'s>(&self, session: &'s Session) -> Cow<'s, Session> {
        let files: Vec<&FileKey> = session.selection.files_with_lines().collect();
        if files.is_empty() {
            return Cow::Borrowed(session);
        }
        let mut current = session.clone();
        for key in files {
            // The prompt says why it cannot show an unreadable file.
            if let Ok(file) = self.text(key, &session.selection) {
                current.selection.relocate_lines(key, &file.text);
            }
        }
        Cow::Owned(current)
    }

    /// Returns the inputs of an index run over this workspace, with its settings.
    pub fn index_inputs<'a>(&'a self, cancel: &'a Cancel) -> IndexInputs<'a> {
        let inputs = IndexInputs::new(&self.roots, &self.outlines, cancel);
        IndexInputs { options: walk_options(&self.settings, self.trust), trust: self.trust, ..inputs }
    }

    /// Describes how a document is included in the context of a session, for its user: `in full, 1,204 tokens`,
    /// `outline only`.
    pub fn describe_inclusion(&self, key: &FileKey, session: &Session) -> String {
        let selection = &session.selection;
        match (selection.choice(key), selection.selected.get(key)) {
            (Choice::Selected, Some(extent)) => match self.text(key, selection) {
                Ok(file) => {
                    let tokens = self.count_file_tokens(key, &file, extent);
                    format!("{}, {}", format::extent(extent), format::tokens(tokens))
                }
                Err(error) => error.to_string(),
            },
            (Choice::Excluded, _) => "excluded".to_owned(),
            _ if self.has_outline(key) => "outline only".to_owned(),
            _ if self.is_indexed_file(key.as_str()) => "name only".to_owned(),
            _ => "not included".to_owned(),
        }
    }

    fn has_outline(&self, key: &FileKey) -> bool {
        let has_buffer_outline =
            self.documents.buffer(key).is_some_and(|buffer| buffer.last_parse().is_some());
        (has_buffer_outline || self.index.symbols.get(key).is_some()) && secret_rule_by_name(key).is_none()
    }

    /// Counts the tokens of the selected part of a file for the current model.
    pub(crate) fn count_file_tokens(&self, key: &FileKey, file: &FileText, extent: &Extent) -> usize {
        assembly::count_file_tokens(key, file, extent, self.prompt_services())
    }

    /// Counts the tokens of a web page for the current model.
    pub(crate) fn count_page_tokens(&self, page: &Page) -> usize {
        assembly::count_page_tokens(page, self.prompt_services())
    }

    /// Returns the format of a request body: the given one, that of the settings, or else that of the model.
    pub(crate) fn format(&self, format: Option<Format>, model: Option<&str>) -> Format {
        let resolved = self.models.resolve(model.unwrap_or(&self.settings.model));
        self.settings.format_for(format, &resolved.model)
    }

    /// Counts the tokens in `text`. Also returns the name of the model whose tokenizer was used.
    pub fn count_text_tokens(&self, text: &str, model: Option<&str>) -> (String, usize) {
        let resolved = self.models.resolve(model.unwrap_or(&self.settings.model));
        let tokens = self.counter.count(resolved.model.tokenizer, text);
        (resolved.model.id.clone(), tokens)
    }

    /// Returns the token limit for a map that is not part of a prompt, under the current settings.
    pub(crate) fn standalone_map_budget(&self) -> usize {
        assembly::standalone_map_budget(self.prompt_services())
    }
}
