//! Gathers what a prompt needs from a snapshot: the texts of selected files, current outlines, rules and session state.
//! Does not decide what goes into the prompt.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::notebook::split_cell;
use strata_code::outline::MAX_OUTLINE_BYTES;
use strata_code::symbols::{FileSymbols, MapMember, SymbolIndex};
use strata_conversation::selection::Choice;
use strata_host::disk::quick_stamp;
use strata_host::index::{index_threads, run_on_threads};
use strata_host::secrets::secret_rule_by_link_target;
use strata_prompt::assembly::{PromptRequest, PromptServices, Workspace};
use strata_prompt::session::Session;

use crate::model::index::outline_if_not_stored;
use crate::model::snapshot::Snapshot;
use crate::model::workspace_context::{scoped_rules, session_state, system_context};

/// Maximum number of files to check for changes before the first prompt of a session. Checking a file takes a few
/// microseconds.
const MAX_FILES_CHECKED_AT_START: usize = 5_000;
/// Number of files from which on the checks are divided among threads. Starting a thread takes as long as
/// checking some ten files.
const MIN_FILES_FOR_PARALLEL_CHECK: usize = 500;

impl Snapshot {
    /// Returns the current outlines. Those of open buffers replace those of files on disk.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub fn symbols(&self, cancel: &Cancel) -> Result<SymbolIndex, Cancelled> {
        let mut symbols = self.index.symbols.clone();
        for (key, buffer) in self.documents.buffers() {
            // A file that the scan does not outline because of its name must not enter the map when it is open.
            if secret_rule_by_link_target(&self.roots, key).is_some() {
                replace_outline(&mut symbols, key, None);
                continue;
            }
            replace_outline(&mut symbols, key, self.buffer_symbols(key, buffer, cancel)?);
        }
        Ok(symbols)
    }

    /// Gathers the workspace data for the prompt of `prompt_request` in `session`, and passes it to `build`.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub(crate) fn with_workspace<R>(
        &self,
        session: &Session,
        prompt_request: &PromptRequest,
        cancel: &Cancel,
        build: impl FnOnce(&Workspace<'_>, PromptServices<'_>) -> R,
    ) -> Result<R, Cancelled> {
        let mut texts = BTreeMap::new();
        let mut unreadable = BTreeMap::new();
        for key in session.selection.selected.keys() {
            cancel.check()?;
            match self.text(key, &session.selection) {
                Ok(text) => {
                    texts.insert(key.clone(), text);
                }
                Err(error) => {
                    unreadable.insert(key.clone(), error.to_string());
                }
            }
        }
        let mut symbols = self.symbols(cancel)?;
        self.refresh_members(&mut symbols, &session.map_members, cancel)?;
        let open: Vec<FileKey> = self.documents.keys().cloned().collect();
        // A notebook that is selected or excluded decides for its cells.
        let is_decided = |notebook: &FileKey| session.selection.choice(notebook) != Choice::Deselected;
        for cell in
            open.iter().filter(|key| split_cell(key).is_some_and(|(notebook, _)| is_decided(&notebook)))
        {
            symbols.remove(cell);
        }
        let mut system = system_context(self, session);
        let relevance = self.relevance(session, prompt_request);
        let excerpts =
            self.excerpts(session, prompt_request, &symbols, relevance.as_ref(), &system, cancel)?;
        let excerpted = excerpts.items.iter().map(|excerpt| excerpt.key.file.clone());
        system.scoped_rules = scoped_rules(self, session, &system.rules, excerpted);
        let frame = self.context_frame(session, prompt_request, &symbols, relevance.as_ref(), &excerpts);
        let state_parts = [system.scoped_rules_text(), session_state(self, session, cancel)?];
        let state_parts: Vec<String> = state_parts.into_iter().filter(|part| !part.is_empty()).collect();
        let state_parts = state_parts.join("\n\n");
        let workspace = Workspace {
            texts: &texts,
            unreadable: &unreadable,
            symbols: &symbols,
            references: &self.index.references,
            relevance: relevance.as_ref(),
            context_frame: &frame,
            seeds: &self.index.seeds,
            listing: &self.index.files,
            open: &open,
            excerpts: &excerpts,
            index: self.index.state,
            trust: self.trust,
            system_context: &system,
            session_state: &self.screen.redact_text(&state_parts),
        };
        Ok(build(&workspace, self.prompt_services()))
    }

    /// Refreshes the outlines of closed files that changed on disk, because file watchers can miss changes. Checks
    /// every file that has a block in the map, or may get one in the first prompt.
    fn refresh_members(
        &self,
        symbols: &mut SymbolIndex,
        members: &[MapMember],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let keys: Vec<&FileKey> = match members {
            [] => self.index.symbols.keys().take(MAX_FILES_CHECKED_AT_START).collect(),
            _ => members.iter().map(|member| &member.path).collect(),
        };
        let has_changed = |key: &FileKey| {
            let known = self.index.stamp(key).filter(|_| !self.documents.contains(key));
            known.is_some_and(|known| quick_stamp(&self.roots, key) != Some(known))
        };
        let threads = match keys.len() {
            ..MIN_FILES_FOR_PARALLEL_CHECK => NonZeroUsize::MIN,
            _ => index_threads(),
        };
        let changed = run_on_threads(threads, |part, parts| {
            let keys = keys.chunks(keys.len().div_ceil(parts).max(1)).nth(part).unwrap_or_default();
            let keys = keys.iter().take_while(|_| cancel.check().is_ok());
            keys.copied().filter(|key| has_changed(key)).cloned().collect::<Vec<FileKey>>()
        });
        cancel.check()?;
        for key in changed.into_iter().flatten() {
            let outline = self.outline_on_disk(&key, cancel)?;
            replace_outline(symbols, &key, outline);
        }
        Ok(())
    }

    /// Outlines one file on disk. Returns `None` if it has no outline or no longer exists.
    fn outline_on_disk(&self, key: &FileKey, cancel: &Cancel) -> Result<Option<Arc<FileSymbols>>, Cancelled> {
        // The file may have been replaced by a link since the scan.
        let outlined = match secret_rule_by_link_target(&self.roots, key) {
            Some(_) => None,
            None => {
                let text = self.disk.text(&self.roots, key, MAX_OUTLINE_BYTES).ok();
                text.and_then(|text| outline_if_not_stored(&self.outlines, key, &text.text, cancel))
            }
        };
        cancel.check()?;
        Ok(outlined)
    }
}

/// Replaces the outline of a file, or removes it if `outline` is `None`.
fn replace_outline(symbols: &mut SymbolIndex, key: &FileKey, outline: Option<Arc<FileSymbols>>) {
    match outline {
        // Any change copies the table of all files, so skip an equal outline.
        Some(outline) if symbols.get(key) == Some(&outline) => {}
        Some(outline) => symbols.extend([(key.clone(), outline)]),
        None => {
            symbols.remove(key);
        }
    }
}
