//! The index of files on disk: listing, outlines, references, and Git history. Each run builds an immutable value that
//! replaces the previous one as a whole. The engine makes the outlines from the texts that this module provides.

mod inputs;
mod outlining;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_base::text::first_line;
use strata_code::excerpts::{LineAges, PastCommit};
use strata_code::outline::{WorkBudget, language_of, version_hash};
use strata_code::symbols::{
    self, ATTRIBUTES, FileSymbols, LexicalIndex, Manifests, ReferenceGraph, SymbolIndex,
};
use strata_host::disk::{Stamp, read_text};
use strata_host::git::{GitError, git_facts};
use strata_host::index::{Batch, for_each_parallel};
use strata_host::outline_cache::{OutlineCache, OutlineKey};
use strata_host::pool::catch_panic;
use strata_host::roots::Roots;
use strata_host::secrets::secret_rule_by_link_target;
use strata_host::walk::{Walk, WalkEntry, WalkOptions, walk, walk_subtree};
use strata_prompt::assembly::IndexState;
use strata_prompt::layout::TierSeeds;
use strata_prompt::trust::Trust;

pub use inputs::IndexInputs;
pub(crate) use inputs::walk_options;
pub use outlining::{OutlineEffortCounts, OutlineUpdates};
use outlining::{OutlineResult, OutlineRun};

/// Number of new outlines after which an index run stores them, so that not all work is lost if the process is killed.
/// The remaining outlines are stored at the end, when no caller waits.
const MIN_OUTLINES_TO_STORE: usize = 8_192;

/// Maximum size of a project file, in bytes. Larger files are usually generated.
const MAX_MANIFEST_BYTES: u64 = 256 << 10;
/// Maximum number of project files to read. Large repositories with many packages have a few thousand.
const MAX_MANIFESTS: usize = 5_000;

/// Maximum number of files without an outline to name in notes.
const MAX_LISTED_UNPARSED: usize = 50;

/// Number of changed files above which building a new index is faster than refreshing each file.
const REBUILD_FILE_THRESHOLD: usize = 1_000;
/// All roots are scanned if the number of changed paths exceeds this number, and also the number of files divided by
/// `FULL_SCAN_DIVISOR`. Checking one path descends from the root and reads the ignore files on the way, whereas a
/// scan queries every file on disk.
const FULL_SCAN_THRESHOLD: usize = 64;
const FULL_SCAN_DIVISOR: usize = 500;

/// Minimum weight of the mutual references that put two files in the same group when initial tiers are formed. A
/// reference to one name that only the other file defines weighs about this much.
const MIN_CLUSTER_WEIGHT: f64 = 1.0;

/// The index of files on disk. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Listed files, sorted by key.
    pub entries: Arc<Vec<WalkEntry>>,
    /// Keys of the listed files, sorted.
    pub files: Arc<Vec<FileKey>>,
    /// Folders that the scan descended into.
    pub folders: Arc<BTreeSet<PathBuf>>,
    pub symbols: SymbolIndex,
    pub references: Arc<ReferenceGraph>,
    /// Whether outlines have changed since `references` was built. [`Index::with_fresh_references`] updates it.
    pub is_stale: bool,
    /// Import mappings from project files.
    manifests: Arc<Manifests>,
    /// Word index of all files, built on first use.
    lexical: Arc<OnceLock<LexicalIndex>>,
    /// Data for assigning files to their initial tiers.
    pub seeds: Arc<TierSeeds>,
    /// Number of first-parent commits since each file was last changed, as of the last full index run. 0 for files that
    /// are unknown to Git or were created after that run. Omits files outside any repository, and files that none of
    /// the commits read by [`git_facts`] changes.
    pub recency: Arc<BTreeMap<FileKey, u32>>,
    /// The ages of the lines of files that changed recently, as of the last full index run.
    pub line_ages: Arc<BTreeMap<FileKey, LineAges>>,
    /// Most recent commits of each folder, newest first.
    pub past: Arc<Vec<PastCommit>>,
    /// Whether the files have been listed. Before that, no statement about them is possible.
    is_listed: bool,
    /// Whether the index is complete or still being built.
    pub state: IndexState,
    /// Work done by the last full index run.
    pub efforts: OutlineEffortCounts,
    /// Problems found while scanning the workspace and reading its Git history, as sentences.
    pub notes: Vec<String>,
}

/// Why a command cannot say anything about the files of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    #[error(
        "the list of workspace files is not ready; try again in a moment, or run strata.server.reindex if the scan was stopped"
    )]
    Files,
    #[error(
        "the index of the workspace is not ready; try again in a moment, or run strata.server.reindex if indexing was stopped"
    )]
    Outlines,
}

/// An intermediate result of a full index run.
#[derive(Debug)]
pub enum BuildProgress {
    /// All files have been listed, but not outlined. Directories and patterns can be resolved from now on.
    Listed(Box<Index>),
    /// More files have been outlined.
    Outlined(OutlineProgress),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineProgress {
    pub done: usize,
    /// Number of files to process.
    pub total: usize,
}

impl Index {
    /// Lists the files of the workspace folders without outlining them, which is enough to resolve directories and
    /// patterns.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub(crate) fn list_files(
        roots: &Roots,
        options: &WalkOptions,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let walked = walk(roots, options, cancel)?;
        Ok(Self { notes: scan_notes(&walked), ..Self::default() }.with_entries(walked.entries))
    }

    /// Scans the workspace folders, outlines every file with a grammar, and reads the Git history of all files.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub fn build(
        inputs: &IndexInputs<'_>,
        mut report: impl FnMut(BuildProgress),
    ) -> Result<(Self, OutlineUpdates), Cancelled> {
        let IndexInputs { roots, ref options, cache, trust, threads, cancel } = *inputs;
        let walked = walk(roots, options, cancel)?;
        let notes = scan_notes(&walked);
        let folders = Arc::new(walked.folders);
        let listed = Self { notes: notes.clone(), folders, ..Self::default() }.with_entries(walked.entries);
        let entries = Arc::clone(&listed.entries);
        report(BuildProgress::Listed(Box::new(listed.clone())));

        let mut to_outline: Vec<&WalkEntry> =
            entries.iter().filter(|entry| OutlineRun::may_outline(entry)).collect();
        let run = OutlineRun::for_all_files(inputs, &to_outline);
        to_outline.sort_by_key(|entry| Reverse(entry.stamp.size));
        let mut symbols = Vec::with_capacity(to_outline.len());
        let mut updates = OutlineUpdates::default();
        let mut efforts = OutlineEffortCounts::default();
        let outline = |entry: &&WalkEntry| {
            // A file that makes a parser panic gets no outline.
            (entry.key.clone(), catch_panic(|| run.outline(entry)).unwrap_or_default())
        };
        for_each_parallel(
            &to_outline,
            threads,
            cancel,
            outline,
            |batch: Batch<(FileKey, OutlineResult)>| {
                report(BuildProgress::Outlined(OutlineProgress { done: batch.done, total: batch.total }));
                for (key, outlined) in batch.files {
                    efforts.count(outlined.effort);
                    symbols.extend(outlined.symbols.clone().map(|file_symbols| (key.clone(), file_symbols)));
                    updates.record_outline(roots, &key, outlined);
                }
                if updates.pending_count() >= MIN_OUTLINES_TO_STORE || updates.is_costly_to_lose() {
                    std::mem::take(&mut updates).save(cache);
                }
            },
        )?;
        for (folder, files) in run.deleted_files(&entries) {
            updates.set_deleted_files(&folder, files);
        }
        let history = GitHistory::read(roots, &entries, trust, cancel)?;
        let notes = notes.into_iter().chain(history.notes).collect();
        let manifests = Arc::new(read_manifests(roots, &listed.files, cancel)?);
        let (recency, past) = (Arc::new(history.recency), Arc::new(history.past));
        let line_ages = Arc::new(history.line_ages);
        let symbols = symbols.into_iter().collect();
        // A question about the list of files may have built its word index, which has no definitions.
        let (lexical, state) = (Arc::default(), IndexState::Ready);
        let outlined =
            Self { symbols, efforts, notes, manifests, recency, line_ages, past, lexical, state, ..listed };
        Ok((outlined.with_fresh_references(), updates))
    }

    /// Updates the entries and outlines of files that were created, changed or deleted. Does not update references: the
    /// result is [stale](Self::is_stale) if an outline changed.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub fn refresh(
        &self,
        keys: &BTreeSet<FileKey>,
        inputs: &IndexInputs<'_>,
    ) -> Result<(Self, OutlineUpdates), Cancelled> {
        let many = keys.len() > FULL_SCAN_THRESHOLD.max(self.entries.len() / FULL_SCAN_DIVISOR);
        let all = many.then(|| walk(inputs.roots, &inputs.options, inputs.cancel)).transpose()?;
        self.refresh_with_scan(all.as_ref(), keys, inputs)
    }

    /// Like `refreshed`, but reuses a scan of all roots if one is given.
    fn refresh_with_scan(
        &self,
        all: Option<&Walk>,
        keys: &BTreeSet<FileKey>,
        inputs: &IndexInputs<'_>,
    ) -> Result<(Self, OutlineUpdates), Cancelled> {
        let IndexInputs { roots, ref options, cancel, .. } = *inputs;
        let run = OutlineRun::for_few_files(inputs);
        let mut updates = OutlineUpdates::default();
        let mut folders = Arc::clone(&self.folders);
        let mut entries: BTreeMap<FileKey, WalkEntry> = BTreeMap::new();
        let mut outlined_files = BTreeMap::new();
        for key in keys {
            let walked = match all.and_then(|all| all.extract_subtree(roots, key)) {
                Some(walked) => walked,
                None => walk_subtree(roots, key, options, cancel)?,
            };
            if let Ok(path) = roots.path_of(key) {
                // Compare only the folders below this path, and copy the set only if they differ.
                let from = (Bound::Included(path.as_path()), Bound::Unbounded);
                let known = || self.folders.range::<Path, _>(from).take_while(|at| at.starts_with(&path));
                if !known().eq(&walked.folders) {
                    let deleted: Vec<PathBuf> = known().cloned().collect();
                    let folders = Arc::make_mut(&mut folders);
                    for folder in &deleted {
                        folders.remove(folder);
                    }
                    folders.extend(walked.folders);
                }
            }
            for entry in walked.entries {
                cancel.check()?;
                if OutlineRun::may_outline(&entry) {
                    let outlined = run.outline(&entry);
                    outlined_files
                        .extend(outlined.symbols.clone().map(|symbols| (entry.key.clone(), symbols)));
                    updates.record_outline(roots, &entry.key, outlined);
                }
                entries.insert(entry.key.clone(), entry);
            }
        }
        let mut symbols = self.symbols.clone();
        let mut is_stale = self.is_stale;
        let is_checked = |key: &FileKey| contains_key_or_parent(keys, key);
        for known_entry in self.entries.iter().filter(|entry| is_checked(&entry.key)) {
            if !outlined_files.contains_key(&known_entry.key) && symbols.remove(&known_entry.key) {
                is_stale = true;
            }
        }
        for (key, file_symbols) in outlined_files {
            if symbols.get(&key).is_none_or(|before| before.outline != file_symbols.outline) {
                is_stale = true;
            }
            symbols.extend([(key, file_symbols)]);
        }
        let is_new = |key: &&FileKey| self.stamp(key).is_none();
        let is_deleted = |known_entry: &&WalkEntry| {
            is_checked(&known_entry.key) && !entries.contains_key(&known_entry.key)
        };
        let mut recency = self.recency.clone();
        // Change the table only if needed, because any change copies the table of all files.
        for deleted in
            self.entries.iter().filter(is_deleted).filter(|deleted| self.recency.contains_key(&deleted.key))
        {
            Arc::make_mut(&mut recency).remove(&deleted.key);
        }
        for created in entries.keys().filter(is_new) {
            Arc::make_mut(&mut recency).insert(created.clone(), 0);
        }
        let untouched = self.entries.iter().filter(|entry| !is_checked(&entry.key)).cloned();
        let mut all: Vec<WalkEntry> = untouched.chain(entries.into_values()).collect();
        // Both halves are already sorted, so sorting costs little more than a comparison pass.
        all.sort_by(|one, other| one.key.cmp(&other.key));
        let lexical = Arc::default();
        let mut next =
            Self { folders, recency, symbols, is_stale, lexical, ..self.clone() }.with_entries(all);
        // A key may be a folder that was created or deleted with its contents.
        let listed = |files: &[FileKey]| files.iter().filter(|key| Manifests::is_manifest(key)).count();
        if keys.iter().any(Manifests::is_manifest) || listed(&self.files) != listed(&next.files) {
            next.manifests = Arc::new(read_manifests(roots, &next.files, cancel)?);
            next.is_stale = true;
        }
        Ok((next, updates))
    }

    /// Scans again, and refreshes only the files that changed on disk. Returns `None` if no file or folder changed.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub fn rescan(&self, inputs: &IndexInputs<'_>) -> Result<Option<(Self, OutlineUpdates)>, Cancelled> {
        let walked = walk(inputs.roots, &inputs.options, inputs.cancel)?;
        let stamps: BTreeMap<&FileKey, Stamp> =
            walked.entries.iter().map(|entry| (&entry.key, entry.stamp)).collect();
        let differs = |entry: &&WalkEntry| self.stamp(&entry.key) != Some(entry.stamp);
        let mut keys: BTreeSet<FileKey> =
            walked.entries.iter().filter(differs).map(|entry| entry.key.clone()).collect();
        keys.extend(
            self.entries
                .iter()
                .filter(|entry| !stamps.contains_key(&entry.key))
                .map(|entry| entry.key.clone()),
        );
        if keys.is_empty() && walked.folders == *self.folders {
            return Ok(None);
        }
        if keys.len() > REBUILD_FILE_THRESHOLD {
            return Self::build(inputs, |_| ()).map(Some);
        }
        let folders = Arc::new(walked.folders.clone());
        Self { folders, ..self.clone() }.refresh_with_scan(Some(&walked), &keys, inputs).map(Some)
    }

    /// Returns the number of files with an outline.
    pub(crate) fn count_outlined(&self) -> usize {
        self.symbols.values().filter(|file| file.outline.unparsed.is_none()).count()
    }

    /// Returns the notes of the scan, and one for each file with a grammar and no outline.
    pub(crate) fn all_notes(&self) -> impl Iterator<Item = String> {
        let unparsed =
            |(key, file): (&FileKey, &Arc<FileSymbols>)| Some((key.clone(), file.outline.unparsed?));
        let mut unparsed = self.symbols.iter().filter_map(unparsed);
        let named: Vec<String> = unparsed
            .by_ref()
            .take(MAX_LISTED_UNPARSED)
            .map(|(key, reason)| format!("{} has no outline: {reason}", key.notice()))
            .collect();
        let others = match unparsed.count() {
            0 => None,
            others => Some(format!("{others} more files have no outline; the symbol map says why")),
        };
        self.notes.iter().cloned().chain(named).chain(others)
    }

    /// Computes in advance what the first question after a change needs.
    pub fn prepare_for_questions(&self) {
        self.lexical();
        self.references.prepare_for_questions();
    }

    /// Returns the word index of all files, which is built on first use.
    pub(crate) fn lexical(&self) -> &LexicalIndex {
        self.lexical.get_or_init(|| LexicalIndex::build(&self.symbols, &self.files))
    }

    /// Returns the metadata that a file had when it was outlined.
    pub(crate) fn stamp(&self, key: &FileKey) -> Option<Stamp> {
        let at = self.entries.binary_search_by(|entry| entry.key.cmp(key)).ok()?;
        self.entries.get(at).map(|entry| entry.stamp)
    }

    /// Returns the index with up-to-date references. Takes seconds for hundreds of thousands of files.
    pub fn with_fresh_references(self) -> Self {
        let references = ReferenceGraph::build(&self.symbols, &self.manifests);
        let ranking = references.rank(&symbols::Seeds::default());
        let seeds = TierSeeds {
            referenced: ranking.files.to_vec(),
            clusters: references.clusters(MIN_CLUSTER_WEIGHT),
        };
        Self { references: Arc::new(references), seeds: Arc::new(seeds), is_stale: false, ..self }
    }

    /// Returns the listed files.
    ///
    /// # Errors
    /// Returns [`NotReady::Files`] if the files have not been listed yet.
    pub fn listed_entries(&self) -> Result<&[WalkEntry], NotReady> {
        if self.is_listed { Ok(&self.entries) } else { Err(NotReady::Files) }
    }

    /// Checks that all files have been outlined.
    ///
    /// # Errors
    /// Returns [`NotReady::Outlines`] if they have not.
    pub(crate) fn check_outlines(&self) -> Result<(), NotReady> {
        match self.state {
            IndexState::Ready => Ok(()),
            IndexState::Building => Err(NotReady::Outlines),
        }
    }

    /// Replaces the listed files.
    fn with_entries(self, entries: Vec<WalkEntry>) -> Self {
        let files = Arc::new(entries.iter().map(|entry| entry.key.clone()).collect());
        Self { files, entries: Arc::new(entries), is_listed: true, ..self }
    }
}

#[derive(Default)]
struct GitHistory {
    recency: BTreeMap<FileKey, u32>,
    line_ages: BTreeMap<FileKey, LineAges>,
    past: Vec<PastCommit>,
    notes: Vec<String>,
}

impl GitHistory {
    /// Reads the Git history. If the history is unreadable, only adds a note, because everything works without it.
    fn read(roots: &Roots, entries: &[WalkEntry], trust: Trust, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut history = Self::default();
        let mut committed = BTreeSet::new();
        let mut listed = Vec::new();
        for root in roots.iter() {
            let facts = match git_facts(&root.real, trust, cancel) {
                Ok(Some(facts)) => facts,
                Ok(None) => continue,
                Err(GitError::Cancelled(cancelled)) => return Err(cancelled),
                Err(error) => {
                    history.notes.push(format!("{}: {error}", root.name));
                    continue;
                }
            };
            // Resolve by path, because workspace folders may be nested and a file has only one key.
            let key = |path: &str| roots.key_of(&root.real.join(path));
            history.recency.extend(facts.recency.iter().filter_map(|(path, age)| Some((key(path)?, *age))));
            let ages = facts.line_ages.into_iter();
            history.line_ages.extend(ages.filter_map(|(path, ages)| Some((key(&path)?, ages))));
            history.past.extend(facts.commits.into_iter().map(|commit| PastCommit {
                subject: commit.subject,
                files: commit.paths.iter().filter_map(|path| key(path)).collect(),
            }));
            if let Some(paths) = facts.committed {
                committed.extend(paths.iter().filter_map(|path| key(path)));
                listed.push(&root.real);
            }
        }
        for entry in entries {
            let in_history = || {
                let path = roots.path_of(&entry.key).ok();
                path.is_some_and(|path| listed.iter().any(|root| path.starts_with(root)))
            };
            if !contains_key_or_parent(&committed, &entry.key) && in_history() {
                history.recency.insert(entry.key.clone(), 0);
            }
        }
        Ok(history)
    }
}

/// Returns whether `committed` contains `key` or an entry above it, such as the directory of a submodule.
fn contains_key_or_parent(committed: &BTreeSet<FileKey>, key: &FileKey) -> bool {
    let key = key.as_str();
    let folders = key.match_indices('/').map(|(at, _)| &key[..at]);
    folders.chain([key]).any(|path| committed.contains(path))
}

/// Reads the project files among `files`.
fn read_manifests(roots: &Roots, files: &[FileKey], cancel: &Cancel) -> Result<Manifests, Cancelled> {
    let hidden: Vec<FileKey> = (0..roots.len())
        .map(|root| FileKey::new(format!("{}{ATTRIBUTES}", roots.key_prefix(root))))
        .collect();
    let mut texts = Vec::new();
    let listed = files.iter().filter(|key| Manifests::is_manifest(key)).take(MAX_MANIFESTS);
    for key in listed.chain(&hidden) {
        cancel.check()?;
        // Skip files that became links since the scan, or that cannot be read.
        if secret_rule_by_link_target(roots, key).is_some() {
            continue;
        }
        texts.extend(read_text(roots, key, MAX_MANIFEST_BYTES).ok().map(|text| (key, text.text)));
    }
    Ok(Manifests::read(texts.iter().map(|(key, text)| (*key, &**text))))
}

fn scan_notes(walked: &Walk) -> Vec<String> {
    walked.notes.iter().map(|note| format!("{}: {}", note.place, note.problem)).collect()
}

/// Outlines the text of one file, unless its outline is stored. Returns `None` if it has no outline.
pub(crate) fn outline_if_not_stored(
    cache: &OutlineCache,
    key: &FileKey,
    text: &str,
    cancel: &Cancel,
) -> Option<Arc<FileSymbols>> {
    let language = language_of(key, first_line(text))?;
    let hash = OutlineKey::new(ContentHash::from_text(text), version_hash(language));
    let outline = match cache.outline(hash) {
        Some(outline) => outline,
        None => outlining::read_outline(
            cache,
            hash,
            language,
            text,
            &WorkBudget::for_bytes(text.len() as u64),
            cancel,
        )?,
    };
    Some(Arc::new(FileSymbols::new(language, key, outline)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use strata_code::symbols::{FileRelevance, RelevanceQuery, Seeds, rank_files_for_question};
    use strata_host::roots::RootFolder;

    use super::*;

    /// Creates a repository with one commit per list of files. Each file contains the number of its commit.
    fn repository(top: &Path, commits: &[&[&str]]) {
        let repository = gix::init(top).unwrap();
        let mut tree = gix::ObjectId::empty_tree(gix::hash::Kind::Sha1);
        let mut parent = None;
        for (number, files) in commits.iter().enumerate() {
            let mut editor = repository.edit_tree(tree).unwrap();
            for file in *files {
                let path = top.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, number.to_string()).unwrap();
                let blob = repository.write_blob(number.to_string()).unwrap();
                editor.upsert(*file, gix::objs::tree::EntryKind::Blob, blob).unwrap();
            }
            let submodule = gix::ObjectId::from_hex(&[b'1'; 40]).unwrap();
            editor.upsert("module", gix::objs::tree::EntryKind::Commit, submodule).unwrap();
            tree = editor.write().unwrap().detach();
            let signature = gix::actor::Signature::default();
            let commit = gix::objs::Commit {
                tree,
                parents: parent.into_iter().collect(),
                author: signature.clone(),
                committer: signature,
                encoding: None,
                message: "message".into(),
                extra_headers: Vec::new(),
            };
            let commit = repository.write_object(&commit).unwrap().detach();
            fs::write(top.join(".git/HEAD"), "ref: refs/heads/topic\n").unwrap();
            fs::write(top.join(".git/refs/heads/topic"), format!("{commit}\n")).unwrap();
            parent = Some(commit);
        }
    }

    fn build_index(folders: &[&Path]) -> (Roots, Index) {
        let folders =
            folders.iter().map(|path| RootFolder { name: None, path: path.canonicalize().unwrap() });
        let roots = Roots::new(folders).unwrap();
        let cache = OutlineCache::default();
        let cancel = Cancel::new();
        let (index, _) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), |_| {}).unwrap();
        (roots, index)
    }

    #[test]
    fn a_word_index_built_before_outlining_is_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        for (file, name) in [("a.py", "other"), ("b.py", "unusual_name")] {
            fs::write(folder.path().join(file), format!("def {name}(): ...\n")).unwrap();
        }
        let roots = Roots::single(folder.path().canonicalize().unwrap()).unwrap();
        let (cache, cancel) = (OutlineCache::default(), Cancel::new());
        let build_word_index = |step| {
            if let BuildProgress::Listed(listed) = step {
                listed.lexical();
            }
        };
        let (index, _) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), build_word_index).unwrap();
        let query = RelevanceQuery { text: "unusual name", ..RelevanceQuery::default() };
        let relevance = FileRelevance::new(index.lexical(), &index.references, &query);
        let ranking = rank_files_for_question(&relevance, &index.references, &Seeds::default());
        assert_eq!(ranking.files[0], FileKey::from("b.py"));
    }

    fn recency(index: &Index) -> Vec<(&str, u32)> {
        index.recency.iter().map(|(key, commits)| (key.as_str(), *commits)).collect()
    }

    #[test]
    fn a_refresh_keeps_the_commit_ages_of_files() {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path(), &[&["a.py", "src/b.py"], &["a.py"]]);
        fs::write(folder.path().join("new.py"), "").unwrap();
        fs::create_dir(folder.path().join("module")).unwrap();
        fs::write(folder.path().join("module/of_another_repository.py"), "").unwrap();
        let (roots, index) = build_index(&[folder.path()]);
        assert_eq!(recency(&index), [("a.py", 0), ("new.py", 0), ("src/b.py", 1)]);
        let past: Vec<Vec<&str>> =
            index.past.iter().map(|commit| commit.files.iter().map(FileKey::as_str).collect()).collect();
        assert_eq!(past, [vec!["a.py"], vec!["a.py", "src/b.py"]]);
        assert!(index.notes.is_empty(), "{:?}", index.notes);
        fs::write(folder.path().join("later.py"), "").unwrap();
        fs::write(folder.path().join("src/b.py"), "2").unwrap();
        let keys = ["later.py", "src/b.py"].map(FileKey::from).into();
        let cache = OutlineCache::default();
        let cancel = Cancel::new();
        let (refreshed, _) = index.refresh(&keys, &IndexInputs::new(&roots, &cache, &cancel)).unwrap();
        assert_eq!(recency(&refreshed), [("a.py", 0), ("later.py", 0), ("new.py", 0), ("src/b.py", 1)]);
        fs::remove_file(folder.path().join("later.py")).unwrap();
        let inputs = IndexInputs::new(&roots, &cache, &cancel);
        let (without, _) = refreshed.refresh(&BTreeSet::from(["later.py".into()]), &inputs).unwrap();
        assert_eq!(recency(&without), recency(&index), "what comes and goes leaves nothing behind");
    }

    #[test]
    fn refreshing_files_together_or_one_by_one_gives_the_same_index() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let names: Vec<String> = (0..3 * FULL_SCAN_THRESHOLD).map(|n| format!("{}/f{n}.py", n % 5)).collect();
        for name in &names {
            write(name, "def old(): pass\n");
        }
        let (roots, index) = build_index(&[folder.path()]);
        for name in names.iter().skip(FULL_SCAN_THRESHOLD) {
            write(name, "def new_one(): pass\n");
        }
        fs::remove_dir_all(folder.path().join("0")).unwrap();
        write("5/added.py", "def added(): pass\n");
        let keys: BTreeSet<FileKey> =
            names.iter().map(String::as_str).chain(["0", "5", "none"]).map(FileKey::from).collect();
        let cache = OutlineCache::default();
        let cancel = Cancel::new();
        let inputs = IndexInputs::new(&roots, &cache, &cancel);
        let shown = |index: &Index| {
            let symbols: Vec<_> =
                index.symbols.iter().map(|(key, file)| (key.clone(), file.outline.clone())).collect();
            (Arc::clone(&index.files), Arc::clone(&index.folders), symbols)
        };
        let (together, _) = index.refresh(&keys, &inputs).unwrap();
        let one_by_one = keys
            .iter()
            .fold(index, |index, key| index.refresh(&BTreeSet::from([key.clone()]), &inputs).unwrap().0);
        assert_eq!(shown(&together), shown(&one_by_one));
        assert_eq!(shown(&together), shown(&build_index(&[folder.path()]).1));
    }

    #[test]
    fn keys_begin_with_the_folder_name_if_there_are_several_folders() {
        let folder = tempfile::tempdir().unwrap();
        let [web, tools, plain] = ["web", "tools", "plain"].map(|name| folder.path().join(name));
        fs::create_dir_all(&plain).unwrap();
        fs::write(plain.join("c.py"), "").unwrap();
        repository(&web, &[&["a.py", "src/b.py"], &["a.py"]]);
        repository(&tools, &[&["a.py"]]);
        let (_, index) = build_index(&[&web, &tools, &plain]);
        assert_eq!(recency(&index), [("tools/a.py", 0), ("web/a.py", 0), ("web/src/b.py", 1)]);
        // With nested folders, each file has the key of the inner folder.
        let (_, index) = build_index(&[&web, &web.join("src")]);
        assert_eq!(recency(&index), [("src/b.py", 1), ("web/a.py", 0)]);
    }

    #[test]
    fn an_unreadable_git_history_is_reported_as_a_note() {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path(), &[&["a.py"]]);
        fs::write(folder.path().join(".git/refs/heads/topic"), "no id\n").unwrap();
        let (_, index) = build_index(&[folder.path()]);
        assert_eq!(index.files.len(), 1);
        assert_eq!(recency(&index), []);
        let [note] = index.notes.as_slice() else { panic!("{:?}", index.notes) };
        assert!(note.contains("cannot read the git repository"), "{note}");
    }
}
