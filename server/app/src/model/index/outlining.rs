//! Outlines files: reuses the stored outlines of unchanged files, and parses the others. Collects results to store for
//! the next run.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_base::text::first_line;
use strata_code::outline::{Outline, WorkBudget, language_of, version_hash};
use strata_code::symbols::FileSymbols;
use strata_grammars::LanguageId;
use strata_host::disk::read_text;
use strata_host::outline_cache::{KnownFile, OutlineCache, OutlineKey, OutlineUpdate};
use strata_host::roots::{Root, Roots};
use strata_host::secrets::secret_rule_by_link_target;
use strata_host::walk::WalkEntry;

use super::inputs::IndexInputs;
use crate::model::parse_attempt::attempt_parse;

/// Inputs of an index run that all outlining threads share.
pub(super) struct OutlineRun<'a> {
    inputs: &'a IndexInputs<'a>,
    budget: WorkBudget,
    /// Files with stored outlines, by workspace folder.
    known_files: HashMap<PathBuf, HashMap<Box<str>, KnownFile>>,
}

#[derive(Default)]
pub(super) struct OutlineResult {
    /// Symbols in the file, or `None` if it has no outline.
    pub(super) symbols: Option<Arc<FileSymbols>>,
    pub(super) effort: OutlineEffort,
    known_file: Option<KnownFile>,
    key: Option<OutlineKey>,
}

/// Work done to outline a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OutlineEffort {
    /// The stored outline was used without opening the file.
    #[default]
    Recalled,
    /// The file was read, but not parsed.
    Read,
    /// The file was read and parsed.
    Parsed,
}

/// The work done by an index run. Files with a stored outline need not be read or parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Efforts")]
pub struct OutlineEffortCounts {
    /// Number of files that were read.
    pub read: usize,
    /// Number of files that were parsed, a subset of those read.
    pub parsed: usize,
}

/// The changes that an index run makes to the stored outlines.
#[derive(Debug, Default)]
#[must_use = "a run that keeps nothing makes the next one slow"]
pub struct OutlineUpdates {
    folders: BTreeMap<PathBuf, OutlineUpdate>,
    outlines: usize,
    /// Number of texts given up, which took much work.
    given_up: usize,
}

impl<'a> OutlineRun<'a> {
    /// Creates a run for a few files. Does not load stored data about their folders.
    pub(super) fn for_few_files(inputs: &'a IndexInputs<'a>) -> Self {
        // Files that the user edits are few, and any of them may take all that it needs.
        Self { inputs, budget: WorkBudget::with_shared_work(u64::MAX), known_files: HashMap::new() }
    }

    pub(super) fn for_all_files(inputs: &'a IndexInputs<'a>, files: &[&WalkEntry]) -> Self {
        let known = |root: &Root| (root.real.to_owned(), inputs.cache.known_files(&root.real));
        let bytes = files.iter().map(|entry| entry.stamp.size).sum();
        Self {
            inputs,
            budget: WorkBudget::for_bytes(bytes),
            known_files: inputs.roots.iter().map(known).collect(),
        }
    }

    /// Returns whether a file may have an outline. Includes files without an extension, whose language depends on their
    /// first line.
    pub(super) fn may_outline(entry: &WalkEntry) -> bool {
        let key = &entry.key;
        entry.name_only.is_none() && (language_of(key, "").is_some() || !key.file_name().contains('.'))
    }

    /// Outlines the file that `entry` describes. Uses its stored outline if possible.
    pub(super) fn outline(&self, entry: &WalkEntry) -> OutlineResult {
        self.stored_outline(entry).unwrap_or_else(|| self.read(entry))
    }

    /// Returns the files of each folder that have stored outlines, but are not in `entries`.
    pub(super) fn deleted_files(
        self,
        entries: &[WalkEntry],
    ) -> impl Iterator<Item = (PathBuf, Vec<Box<str>>)> {
        let mut known_files = self.known_files;
        for (root, below) in entries.iter().filter_map(|entry| self.inputs.roots.split(&entry.key)) {
            if let Some(files) = known_files.get_mut(&root.real) {
                files.remove(below);
            }
        }
        known_files.into_iter().map(|(folder, files)| (folder, files.into_keys().collect()))
    }

    /// Returns the stored outline of a file if its metadata is unchanged since it was read.
    fn stored_outline(&self, entry: &WalkEntry) -> Option<OutlineResult> {
        let (root, below) = self.inputs.roots.split(&entry.key)?;
        let known = self.known_files.get(&root.real)?.get(below)?;
        let language = language_of(&entry.key, "")?;
        if known.stamp != entry.stamp {
            return None;
        }
        let key = OutlineKey::new(known.hash, version_hash(language));
        let outline = self.inputs.cache.outline(key)?;
        let symbols = Arc::new(FileSymbols::new(language, &entry.key, outline));
        Some(OutlineResult {
            symbols: Some(symbols),
            effort: OutlineEffort::Recalled,
            known_file: None,
            key: Some(key),
        })
    }

    fn read(&self, entry: &WalkEntry) -> OutlineResult {
        let max_bytes = self.inputs.options.max_outline_bytes;
        // Check before reading the text: once the stamp is settled, any later change produces a different one.
        let is_settled = entry.stamp.is_reliable();
        let without_outline = OutlineResult { effort: OutlineEffort::Read, ..OutlineResult::default() };
        let Ok(text) = read_text(self.inputs.roots, &entry.key, max_bytes) else { return without_outline };
        // The file may have been replaced by a link since the scan.
        if text.stamp != entry.stamp && secret_rule_by_link_target(self.inputs.roots, &entry.key).is_some() {
            return without_outline;
        }
        let Some(language) = language_of(&entry.key, first_line(&text.text)) else { return without_outline };
        let key = OutlineKey::new(text.hash, version_hash(language));
        let (outline, effort) = match self.inputs.cache.outline(key) {
            Some(outline) => (outline, OutlineEffort::Read),
            None => {
                let Self { inputs: IndexInputs { cache, cancel, .. }, budget, .. } = self;
                match read_outline(cache, key, language, &text.text, budget, cancel) {
                    Some(outline) => (outline, OutlineEffort::Parsed),
                    None => return without_outline,
                }
            }
        };
        if outline.unparsed.is_some_and(|reason| !reason.is_permanent()) {
            let symbols = Arc::new(FileSymbols::new(language, &entry.key, outline));
            return OutlineResult { symbols: Some(symbols), ..without_outline };
        }
        let known_file = (is_settled && text.stamp == entry.stamp)
            .then_some(KnownFile { stamp: text.stamp, hash: text.hash });
        let symbols = Arc::new(FileSymbols::new(language, &entry.key, outline));
        OutlineResult { symbols: Some(symbols), effort, known_file, key: Some(key) }
    }
}

/// Outlines the text of a file. Returns `None` if `cancel` is raised.
pub(super) fn read_outline(
    cache: &OutlineCache,
    key: OutlineKey,
    language: LanguageId,
    text: &str,
    budget: &WorkBudget,
    cancel: &Cancel,
) -> Option<Outline> {
    let read = |cancel: &Cancel| Outline::read_within(budget, language, text, cancel);
    let outline = attempt_parse(cache, key, cancel, read).ok()?;
    Some(outline.unwrap_or_else(Outline::unparsed))
}

impl OutlineEffortCounts {
    pub(super) fn count(&mut self, effort: OutlineEffort) {
        match effort {
            OutlineEffort::Recalled => {}
            OutlineEffort::Read => self.read += 1,
            OutlineEffort::Parsed => {
                self.read += 1;
                self.parsed += 1;
            }
        }
    }
}

impl OutlineUpdates {
    /// Records the result of outlining a file.
    pub(super) fn record_outline(&mut self, roots: &Roots, key: &FileKey, outlined: OutlineResult) {
        let OutlineResult { symbols, effort, known_file, key: outline } = outlined;
        let Some((root, below)) = roots.split(key) else { return };
        let update = self.folder(&root.real);
        update.read_files.extend(known_file.map(|known_file| (below.into(), known_file)));
        let Some((outline, symbols)) = outline.zip(symbols) else { return };
        match effort {
            OutlineEffort::Parsed => {
                let is_given_up = symbols.outline.unparsed.is_some();
                update.outlines.push((outline, symbols));
                self.outlines += 1;
                self.given_up += usize::from(is_given_up);
            }
            OutlineEffort::Read | OutlineEffort::Recalled => update.used.push(outline),
        }
    }

    pub(super) fn set_deleted_files(&mut self, folder: &Path, files: Vec<Box<str>>) {
        self.folder(folder).deleted = files;
    }

    /// Returns the number of outlines waiting to be stored.
    pub(super) fn pending_count(&self) -> usize {
        self.outlines
    }

    /// Returns whether losing the waiting outlines would cost much work.
    pub(super) fn is_costly_to_lose(&self) -> bool {
        self.given_up > 0
    }

    /// Writes all changes to the cache, which takes a while.
    pub fn save(self, cache: &OutlineCache) {
        for (folder, findings) in &self.folders {
            cache.save(folder, findings);
        }
    }

    fn folder(&mut self, folder: &Path) -> &mut OutlineUpdate {
        self.folders.entry(folder.to_owned()).or_default()
    }
}
