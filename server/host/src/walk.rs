//! Lists the files of a workspace by scanning the roots. Applies ignore rules (see `ignore_rules`), even outside Git
//! repositories. The list is sorted. It omits generated directories and lock
//! files (see `skipped_folders`) and symbolic links, since their targets are listed under their own paths. Classifies files by
//! name and size without reading them.

mod ignore_rules;
mod note;
mod repository;
mod rule_file;
mod skipped_folders;
mod unlisted;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use ignore::{DirEntry, WalkBuilder, WalkState};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::outline::MAX_OUTLINE_BYTES;
use strata_prompt::trust::Trust;

pub use self::ignore_rules::IGNORE_FILE;
pub use self::note::ScanProblem;
pub use self::unlisted::UnlistedReason;
pub(crate) use self::unlisted::why_unlisted;

use self::ignore_rules::IgnoreRules;
use self::skipped_folders::{is_generated_folder, is_lock_or_autosave, is_never_walked};
use crate::disk::{RealFolder, Stamp, max_file_bytes, stamp_from_metadata};
use crate::roots::{ResolvedPath, Roots, is_system_path, slash_path};
use crate::secrets::secret_rule_by_name;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// Additional `.gitignore` patterns from the user, relative to each root.
    pub exclude: Vec<String>,
    /// Maximum size of a file in bytes. Larger files are listed with `NameOnlyReason::TooLarge`.
    pub max_outline_bytes: u64,
    /// Whether the user trusts the workspace. If not, the settings of its repositories are not followed to ignore files.
    pub trust: Trust,
    /// Maximum number of files. The scan stops at this number and sets `Walk::cut_short`.
    pub max_files: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    pub key: FileKey,
    /// Metadata of the file at the time of the scan.
    pub stamp: Stamp,
    /// Why only the name of the file may be used, unless the user requests the file. `None` if there is no restriction.
    pub name_only: Option<NameOnlyReason>,
}

/// Why only the name of a file may be used unless the user requests the file explicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameOnlyReason {
    /// The name matches this secrets rule. Selecting the file requires a confirmation.
    #[error("its name suggests secrets ({0})")]
    Secret(&'static str),
    /// A component of the path begins with a dot.
    #[error("it is hidden")]
    Hidden,
    /// The file is larger than [`WalkOptions::max_outline_bytes`].
    #[error("it is too large to outline")]
    TooLarge,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walk {
    /// The files, sorted by key and without duplicates.
    pub entries: Vec<WalkEntry>,
    /// Real paths of the scanned directories, including the roots.
    pub folders: BTreeSet<PathBuf>,
    /// Sorted problems: unreadable directories, invalid ignore files, names that are not UTF-8, or a scan that was cut
    /// short.
    pub notes: Vec<ScanProblem>,
    /// Whether the scan stopped at the maximum number of files, so that some files are missing.
    pub cut_short: bool,
}

/// Maximum number of threads. Additional threads would only wait for the disk and for each other.
const MAX_THREADS: usize = 4;
/// Maximum depth of directories below a root. Limited because some work is done for each component of a key.
const MAX_FOLDER_DEPTH: usize = 128;

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            exclude: Vec::new(),
            max_outline_bytes: MAX_OUTLINE_BYTES,
            trust: Trust::default(),
            max_files: 500_000,
        }
    }
}

/// Scans all roots and returns the listed files.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised.
pub fn walk(roots: &Roots, options: &WalkOptions, cancel: &Cancel) -> Result<Walk, Cancelled> {
    let mut results = Walk::default();
    for index in 0..roots.len() {
        walk_root(roots, index, None, options, cancel, &mut results)?;
    }
    Ok(results.sorted())
}

/// Scans a single file or directory tree after a file watcher event. Returns the part of the result of [`walk`] at or
/// below `key`, which is empty for ignored or missing paths.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised.
pub fn walk_subtree(
    roots: &Roots,
    key: &FileKey,
    options: &WalkOptions,
    cancel: &Cancel,
) -> Result<Walk, Cancelled> {
    let mut results = Walk::default();
    let resolved = roots.path_of(key).ok().and_then(|path| roots.locate_absolute(&path).ok());
    if let Some(ResolvedPath { root, real, exists: true, .. }) = resolved {
        walk_root(roots, root, Some(real), options, cancel, &mut results)?;
    }
    Ok(results.sorted())
}

/// Scans the directory tree at a place.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised.
pub(crate) fn walk_below(
    roots: &Roots,
    resolved: &ResolvedPath,
    options: &WalkOptions,
    cancel: &Cancel,
) -> Result<Walk, Cancelled> {
    let mut results = Walk::default();
    let subtree = (!resolved.below.is_empty()).then(|| resolved.real.clone());
    walk_root(roots, resolved.root, subtree, options, cancel, &mut results)?;
    Ok(results.sorted())
}

impl Walk {
    /// Extracts the result of [`walk_subtree`] from a scan of all roots. Returns `None` if the scan was cut short, or
    /// if
    /// `key` resolves to a path that no key can represent.
    pub fn extract_subtree(&self, roots: &Roots, key: &FileKey) -> Option<Self> {
        if self.cut_short {
            return None;
        }
        let resolved = roots.path_of(key).ok().and_then(|path| roots.locate_absolute(&path).ok());
        let Some(resolved) = resolved.filter(|resolved| resolved.exists) else {
            return Some(Self::default());
        };
        let key = roots.key_at(&resolved)?;
        let prefix = format!("{}/", key.as_str());
        let entry = self.entries.binary_search_by(|entry| entry.key.cmp(&key)).ok();
        let first = self.entries.partition_point(|entry| entry.key.as_str() < prefix.as_str());
        let entries_below = self.entries.iter().skip(first);
        let entries_below = entries_below.take_while(|entry| entry.key.as_str().starts_with(&prefix));
        let entries = entry
            .and_then(|index| self.entries.get(index))
            .into_iter()
            .chain(entries_below)
            .cloned()
            .collect();
        let folders = self.folders.range::<Path, _>((Bound::Included(&*resolved.real), Bound::Unbounded));
        let folders = folders.take_while(|folder| folder.starts_with(&resolved.real)).cloned().collect();
        Some(Self { entries, folders, ..Self::default() })
    }

    fn sorted(mut self) -> Self {
        self.entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        self.entries.dedup_by(|a, b| a.key == b.key);
        self.notes.sort_unstable();
        self.notes.dedup();
        self
    }

    fn record_problem(&mut self, place: impl Into<String>, problem: &dyn fmt::Display) {
        self.notes.push(ScanProblem { place: place.into(), problem: problem.to_string() });
    }
}

fn walk_root(
    roots: &Roots,
    index: usize,
    subtree: Option<PathBuf>,
    options: &WalkOptions,
    cancel: &Cancel,
    results: &mut Walk,
) -> Result<(), Cancelled> {
    let Some(root) = roots.get(index) else { return Ok(()) };
    let mut builder = WalkBuilder::new(&root.real);
    builder
        .standard_filters(false)
        .follow_links(false)
        .threads(available_parallelism().map_or(1, usize::from).min(MAX_THREADS));
    let notes = Arc::new(Mutex::new(Vec::new()));
    let top = subtree.clone().unwrap_or_else(|| root.real.to_owned());
    let filter = WalkFilter {
        root: root.real.to_owned(),
        other_roots: roots
            .iter()
            .map(|other| other.real.clone())
            .filter(|other| *other != root.real)
            .collect(),
        subtree,
        rules: IgnoreRules::for_root(&root.real, &options.exclude, options.trust, &notes),
        notes: Arc::clone(&notes),
    };
    builder.filter_entry(move |entry| filter.includes(entry));

    let shared = Mutex::new(results);
    builder.build_parallel().run(|| {
        let mut parent = ParentFolder::default();
        let (top, shared) = (&top, &shared);
        Box::new(move |result| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let folder =
                result.as_ref().ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
            let folder = folder.map(|entry| entry.path().to_owned()).filter(|path| path.starts_with(top));
            if result.as_ref().is_ok_and(|entry| !parent.contains(&root.real, entry)) {
                return WalkState::Skip;
            }
            let entry = list_entry(roots, index, &root.real, result, options);
            let mut results = shared.lock().unwrap_or_else(PoisonError::into_inner);
            results.folders.extend(folder);
            match entry {
                Ok(None) => {}
                Ok(Some(_)) if results.entries.len() >= options.max_files => {
                    let limit = options.max_files;
                    results.cut_short = true;
                    results.record_problem(
                        &root.name,
                        &format!("has more than {limit} files; the others are ignored"),
                    );
                    return WalkState::Quit;
                }
                Ok(Some(entry)) => results.entries.push(entry),
                Err(note) => results.notes.push(note),
            }
            WalkState::Continue
        })
    });
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    shared.into_inner().unwrap_or_else(PoisonError::into_inner).notes.append(&mut notes);
    cancel.check()
}

/// The directory being scanned, used to reject entries from elsewhere. The scanner works with paths, so it may follow a
/// link that replaced the directory during the scan.
#[derive(Default)]
struct ParentFolder {
    path: PathBuf,
    /// The open directory. `None` if it is no longer a directory inside the root.
    real: Option<RealFolder>,
}

impl ParentFolder {
    /// Whether a scanned entry is actually inside the root.
    fn contains(&mut self, root: &Path, entry: &DirEntry) -> bool {
        let (Some(parent), 1..) = (entry.path().parent(), entry.depth()) else { return true };
        if self.real.is_none() || self.path != parent {
            let below = parent.strip_prefix(root).ok();
            self.real = below.and_then(|below| RealFolder::open(root, below).ok());
            parent.clone_into(&mut self.path);
        }
        let metadata = entry.metadata().ok();
        self.real
            .as_ref()
            .zip(metadata)
            .is_some_and(|(real, metadata)| real.contains(entry.file_name(), &metadata))
    }
}

/// Converts one result of the scanner to a file. Returns `None` for a directory, link or special file, and an error for
/// a problem to report.
fn list_entry(
    roots: &Roots,
    index: usize,
    root: &Path,
    result: Result<DirEntry, ignore::Error>,
    options: &WalkOptions,
) -> Result<Option<WalkEntry>, ScanProblem> {
    let note = |path: &Path, problem: String| {
        let key = roots.key_of(path).map(|key| key.as_str().to_owned());
        ScanProblem { place: key.unwrap_or_else(|| path.to_string_lossy().into_owned()), problem }
    };
    let entry = result.map_err(|error| note(error_path(&error).unwrap_or(root), error_message(&error)))?;
    if let Some(error) = entry.error() {
        return Err(note(entry.path(), error_message(error)));
    }
    if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        return Ok(None);
    }
    // On Windows, the directory's copy of the metadata is outdated while a program has the file open.
    let metadata =
        if cfg!(windows) { entry.path().symlink_metadata().map_err(Into::into) } else { entry.metadata() };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(_) if !entry.path().exists() => return Ok(None),
        Err(error) => return Err(note(entry.path(), error.to_string())),
    };
    let below = entry.path().strip_prefix(root).ok().and_then(slash_path);
    let Some(key) = below.as_deref().and_then(|below| roots.key(index, below)) else {
        return Err(note(entry.path(), "its name is not valid UTF-8, or begins with `untitled:`".to_owned()));
    };
    let stamp = stamp_from_metadata(&metadata);
    let is_hidden = below.is_some_and(|below| below.split('/').any(|part| part.starts_with('.')));
    let name_only = match secret_rule_by_name(&key) {
        Some(rule) => Some(NameOnlyReason::Secret(rule)),
        None if is_hidden => Some(NameOnlyReason::Hidden),
        None if stamp.size > max_file_bytes(&key, options.max_outline_bytes) => {
            Some(NameOnlyReason::TooLarge)
        }
        None => None,
    };
    Ok(Some(WalkEntry { key, stamp, name_only }))
}

/// Exclusions that do not come from ignore files.
struct WalkFilter {
    root: PathBuf,
    /// The other roots. A root inside this one lists its own files.
    other_roots: Vec<PathBuf>,
    /// The file or directory to which the scan is limited.
    subtree: Option<PathBuf>,
    rules: IgnoreRules,
    /// Problems with ignore files and skipped directories.
    notes: Arc<Mutex<Vec<ScanProblem>>>,
}

impl WalkFilter {
    fn includes(&self, entry: &DirEntry) -> bool {
        let path = entry.path();
        if entry.depth() == 0 {
            return true;
        }
        if self
            .subtree
            .as_ref()
            .is_some_and(|subtree| !path.starts_with(subtree) && !subtree.starts_with(path))
        {
            return false;
        }
        if is_never_walked(entry.file_name()) {
            return false;
        }
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return !is_lock_or_autosave(entry.file_name()) && !self.rules.hides_file(path);
        }
        !self.other_roots.iter().any(|other| other == path)
            && (!is_system_path(path) || is_system_path(&self.root))
            && !is_generated_folder(path, entry.depth())
            && self.is_within_depth_limit(path, entry.depth())
            && !self.rules.hides_folder(path)
    }

    fn is_within_depth_limit(&self, folder: &Path, depth: usize) -> bool {
        if depth > MAX_FOLDER_DEPTH {
            self.record_problem(
                folder,
                format!("is not scanned: it is more than {MAX_FOLDER_DEPTH} directories deep"),
            );
        }
        depth <= MAX_FOLDER_DEPTH
    }

    fn record_problem(&self, folder: &Path, problem: String) {
        let below = folder.strip_prefix(&self.root).ok().and_then(slash_path);
        let place = below.unwrap_or_else(|| folder.to_string_lossy().into_owned());
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(ScanProblem { place, problem });
    }
}

/// Returns the path that an error of the scanner is about.
fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::Partial(errors) => errors.iter().find_map(error_path),
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } => error_path(err),
        _ => None,
    }
}

/// Formats an error of the scanner without the path, which the note names.
fn error_message(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Partial(errors) => errors.iter().map(error_message).collect::<Vec<_>>().join("; "),
        ignore::Error::WithPath { err, .. } | ignore::Error::WithDepth { err, .. } => error_message(err),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
