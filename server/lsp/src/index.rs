//! What is known of the files on disk: the listing of a walk, the outlines, who refers to whom. One value,
//! made by one run and replaced as a whole. Outlining is the engine's; this only brings it the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::key::FileKey;
use strata_engine::outline::{Outline, language_of};
use strata_engine::prompt::{IndexState, Seeds};
use strata_engine::symbols::{FileSymbols, References, SymbolIndex};
use strata_host::disk::{DiskText, ReadLimits, Stamp, read_text};
use strata_host::index::{Batch, IndexOptions, index};
use strata_host::roots::Roots;
use strata_host::walk::{Entry, Walk, WalkOptions, walk, walk_at};

use crate::snapshot::Snapshot;

/// How strongly two files must refer to each other to share a tier: about one name that only the other defines.
const CLUSTER_WEIGHT: f64 = 1.0;

/// What is known of the files on disk. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Index {
    /// What the walk listed, in key order.
    pub entries: Arc<Vec<Entry>>,
    /// The names of those, in key order.
    pub files: Arc<Vec<FileKey>>,
    /// Their outlines.
    pub symbols: SymbolIndex,
    /// Who refers to whom.
    pub references: Arc<References>,
    /// What that means for tiers.
    pub seeds: Arc<Seeds>,
    /// Whether a run was completed.
    pub state: IndexState,
    /// What the walk could not do, in sentences.
    pub notes: Vec<String>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            entries: Arc::default(),
            files: Arc::default(),
            symbols: SymbolIndex::default(),
            references: Arc::default(),
            seeds: Arc::default(),
            state: IndexState::Building,
            notes: Vec::new(),
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files that are done.
    pub done: usize,
    /// Files there are to do.
    pub total: usize,
}

impl Index {
    /// Walks the workspace folders and outlines nothing: enough to say what a folder or a pattern stands for.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn listed(roots: &Roots, options: &WalkOptions, cancel: &Cancel) -> Result<Self, Cancelled> {
        let walked = walk(roots, options, cancel)?;
        let mut index = Self { notes: notes_of(&walked), ..Self::default() };
        index.list(walked.entries);
        Ok(index)
    }

    /// Walks the workspace folders and outlines every file that has a grammar.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn build(
        roots: &Roots,
        options: &WalkOptions,
        cancel: &Cancel,
        mut progress: impl FnMut(Progress),
    ) -> Result<Self, Cancelled> {
        let walked = walk(roots, options, cancel)?;
        let mut symbols = BTreeMap::new();
        let wanted: Vec<FileKey> = outlinable(&walked.entries);
        let limits = ReadLimits { max_bytes: options.max_outline_bytes };
        let how = IndexOptions { limits, ..IndexOptions::default() };
        let work = |key: &FileKey, text: &DiskText| outline(key, &text.text, cancel);
        index(roots, &wanted, how, cancel, work, |batch: Batch<Option<Arc<FileSymbols>>>| {
            progress(Progress { done: batch.done, total: batch.total });
            for file in batch.files {
                if let Some(found) = file.outcome.ok().and_then(|product| product.value) {
                    symbols.insert(file.key, found);
                }
            }
        })?;
        let notes = notes_of(&walked);
        Ok(Self::assembled(walked.entries, symbols.into_iter().collect(), notes))
    }

    /// The same with a new look at some files, whatever happened to them.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag went up.
    pub fn refreshed(
        &self,
        roots: &Roots,
        options: &WalkOptions,
        keys: &BTreeSet<FileKey>,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let mut entries: BTreeMap<FileKey, Entry> =
            self.entries.iter().map(|entry| (entry.key.clone(), entry.clone())).collect();
        let mut symbols = self.symbols.clone();
        let limits = ReadLimits { max_bytes: options.max_outline_bytes };
        for key in keys {
            let below = format!("{key}/");
            let gone: Vec<FileKey> = entries
                .range::<FileKey, _>(key..)
                .map(|(other, _)| other)
                .take_while(|other| *other == key || other.as_str().starts_with(key.as_str()))
                .filter(|other| *other == key || other.as_str().starts_with(&below))
                .cloned()
                .collect();
            for old in gone {
                entries.remove(&old);
                symbols.remove(&old);
            }
            for entry in walk_at(roots, key, options, cancel)?.entries {
                cancel.check()?;
                if entry.name_only.is_none()
                    && let Ok(text) = read_text(roots, &entry.key, limits)
                    && let Some(outlined) = outline(&entry.key, &text.text, cancel)
                {
                    symbols.insert(entry.key.clone(), outlined);
                }
                entries.insert(entry.key.clone(), entry);
            }
        }
        // Looking at some files makes no complete index of one that was stopped.
        let next = Self::assembled(entries.into_values().collect(), symbols, self.notes.clone());
        Ok(Self { state: self.state, ..next })
    }

    /// The metadata of a file when its outline was made.
    pub fn stamp(&self, key: &FileKey) -> Option<Stamp> {
        let at = self.entries.binary_search_by(|entry| entry.key.cmp(key)).ok()?;
        self.entries.get(at).map(|entry| entry.stamp)
    }

    fn assembled(entries: Vec<Entry>, symbols: SymbolIndex, notes: Vec<String>) -> Self {
        let references = References::build(&symbols);
        let seeds = Seeds { referenced: references.rank(&[]), clusters: references.clusters(CLUSTER_WEIGHT) };
        let mut index = Self {
            symbols,
            references: Arc::new(references),
            seeds: Arc::new(seeds),
            state: IndexState::Ready,
            notes,
            ..Self::default()
        };
        index.list(entries);
        index
    }

    fn list(&mut self, entries: Vec<Entry>) {
        self.files = Arc::new(entries.iter().map(|entry| entry.key.clone()).collect());
        self.entries = Arc::new(entries);
    }
}

/// A fresh outline of one file on disk; `None` when it has none, or is gone.
///
/// # Errors
/// [`Cancelled`] when the flag went up.
pub fn outline_of(
    snapshot: &Snapshot,
    key: &FileKey,
    cancel: &Cancel,
) -> Result<Option<Arc<FileSymbols>>, Cancelled> {
    let limits = ReadLimits { max_bytes: snapshot.settings.symbols.max_file_bytes };
    let outlined = match snapshot.disk.text(&snapshot.roots, key, limits) {
        Ok(text) => outline(key, &text.text, cancel),
        Err(_) => None,
    };
    cancel.check()?;
    Ok(outlined)
}

/// How the walk is made under the settings.
pub fn walk_options(settings: &strata_engine::settings::Settings) -> WalkOptions {
    WalkOptions {
        exclude: settings.server.ignore.clone(),
        max_outline_bytes: settings.symbols.max_file_bytes,
        ..WalkOptions::default()
    }
}

fn notes_of(walked: &Walk) -> Vec<String> {
    walked.notes.iter().map(|note| format!("{}: {}", note.place, note.problem)).collect()
}

fn outlinable(entries: &[Entry]) -> Vec<FileKey> {
    // Only a name without an extension leaves it to the first line to say what the file is.
    let may = |entry: &&Entry| {
        let key = &entry.key;
        entry.name_only.is_none() && (language_of(key, "").is_some() || !key.file_name().contains('.'))
    };
    entries.iter().filter(may).map(|entry| entry.key.clone()).collect()
}

fn outline(key: &FileKey, text: &str, cancel: &Cancel) -> Option<Arc<FileSymbols>> {
    let first_line = text.lines().next().unwrap_or_default();
    let language = language_of(key, first_line)?;
    let outline = Outline::read(language, text, cancel).ok()?;
    Some(Arc::new(FileSymbols::new(language, key, outline)))
}
