//! Reads a repository with the `gix` library: commits along first parents, differences between trees, file contents,
//! and the index. Does not decide which files matter.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::thread;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::diff::tree::visit::{Action, Change};
use gix::diff::tree::{Recorder, State, Visit, recorder};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;
use strata_base::cancel::Cancel;
use strata_prompt::trust::Trust;

use super::closed_tree::TIMESTAMP_GRANULARITY;
use super::error::GitError;
use super::index::GitIndex;
use super::ownership;
use super::ownership::ContainedRepository;
use crate::roots::canonical;

/// Maximum size of the cache for trees and commits, in bytes.
const OBJECT_CACHE_BYTES: usize = 16 << 20;

/// Maximum number of entries to visit when comparing two trees. A few nested trees can describe more files than would
/// fit on a disk.
const MAX_VISITED_ENTRIES: usize = 500_000;

/// Maximum total path length of the visited entries, in bytes.
const MAX_PATHS_BYTES: usize = 64 << 20;

/// Git setting that limits the memory for one object, since a few compressed bytes can expand to any size.
const MAX_OBJECT_MEMORY_SETTING: &str = "gitoxide.objects.allocLimit=64m";

/// Git setting that ignores multi-pack indexes. They name packs by path, so one could name a pack of another
/// repository.
const NO_MULTI_PACK_INDEX: &str = "core.multiPackIndex=false";

/// How often to read a repository that changes while it is read.
const MAX_READ_ATTEMPTS: usize = 4;

/// Maximum length of a path, in bytes. Longer paths come from trees that are nested maliciously.
const MAX_PATH_BYTES: usize = 4096;

/// A repository opened for reading.
pub(super) struct History {
    repository: gix::Repository,
    /// The directory to read, relative to the top of the work tree. Empty for the top itself.
    below: PathBuf,
}

pub(super) struct Head {
    /// The branch name without `refs/heads/`, or `None` for a detached `HEAD`.
    pub(super) branch: Option<String>,
    /// `None` before the first commit.
    pub(super) commit: Option<ObjectId>,
}

/// The fields of a commit that are needed to walk the history.
#[derive(Clone, Copy)]
pub(super) struct Commit {
    pub(super) id: ObjectId,
    /// Tree of the directory that is read. `None` if the directory does not exist in the commit.
    pub(super) tree: Option<ObjectId>,
    /// The first parent; `None` for a root commit.
    pub(super) parent: Option<ObjectId>,
    /// Commit time, in seconds since 1970.
    pub(super) seconds: i64,
}

/// A regular file that differs between two trees. Links and submodules are ignored.
pub(super) struct FileChange {
    /// Path relative to the directory whose history is read, with `/` as the separator.
    pub(super) path: String,
    /// Blob before the change; `None` if the file did not exist.
    pub(super) old: Option<ObjectId>,
    /// Blob after the change; `None` if the file no longer exists.
    pub(super) new: Option<ObjectId>,
}

impl History {
    /// Reads the repository that contains `folder`, which may be the repository itself, with `read`. Returns `None`
    /// outside a repository.
    ///
    /// If the workspace is not trusted, rejects a repository with parts outside its directory before reading any of it.
    /// Discards what was read if the repository changed in the meantime, since a change can lead elsewhere, and tries
    /// again.
    pub(super) fn read<T>(
        folder: &Path,
        trust: Trust,
        mut read: impl FnMut(&Self) -> Result<Option<T>, GitError>,
    ) -> Result<Option<T>, GitError> {
        match trust {
            Trust::Trusted => match Self::from_repository(folder, discover(folder))? {
                Some(history) => read(&history),
                None => Ok(None),
            },
            Trust::Untrusted => Self::read_untrusted(folder, read),
        }
    }

    fn read_untrusted<T>(
        folder: &Path,
        mut read: impl FnMut(&Self) -> Result<Option<T>, GitError>,
    ) -> Result<Option<T>, GitError> {
        let Some(top) = ownership::nearest_repository(folder) else { return Ok(None) };
        for _ in 0..MAX_READ_ATTEMPTS {
            let checked = ContainedRepository::check(&top)
                .map_err(|part| GitError::Elsewhere { path: top.clone(), part })?;
            if !checked.tree.is_settled {
                thread::sleep(TIMESTAMP_GRANULARITY);
                continue;
            }
            let outcome =
                match Self::from_repository(folder, untrusted_open_options().open(checked.entry.as_path())) {
                    Ok(Some(history)) if history.opened_only_checked_paths(&checked, &top) => read(&history),
                    Ok(_) => Ok(None),
                    Err(error) => Err(error),
                };
            if matches!(outcome, Err(GitError::Cancelled(_))) || checked.tree.is_unchanged() {
                return outcome;
            }
        }
        Err(GitError::Changing(top))
    }

    /// Whether the library opened only what was checked, and `top` is the top of the work tree.
    fn opened_only_checked_paths(&self, checked: &ContainedRepository, top: &Path) -> bool {
        let repository = &self.repository;
        let git_dir = repository.git_dir();
        let is_in_git_dir = |section: &gix::config::file::Metadata| {
            section.path.as_deref().is_some_and(|path| path.starts_with(git_dir))
        };
        // The setting is not followed, but it says that the repository is about other files.
        let work_tree = repository.config_snapshot().string_filter("core.worktree", is_in_git_dir);
        let is_top = |path: gix::bstr::BString| {
            let path = gix::path::from_bstring(path).ok()?;
            canonical(&git_dir.join(path)).ok().filter(|path| path == top)
        };
        checked.has_checked_directories(git_dir, repository.common_dir())
            && repository.index_path() == git_dir.join("index")
            && work_tree.is_none_or(|path| is_top(path).is_some())
    }

    fn from_repository(
        folder: &Path,
        opened: Result<gix::ThreadSafeRepository, gix::Error>,
    ) -> Result<Option<Self>, GitError> {
        let repository = match opened {
            Ok(repository) => repository.to_thread_local(),
            Err(error) if is_missing_repository(&error) => return Ok(None),
            Err(error) => return Err(GitError::from_library_error(folder, &error)),
        };
        let top = repository.workdir().unwrap_or_else(|| repository.git_dir());
        let (Ok(top), Ok(folder)) = (canonical(top), canonical(folder)) else { return Ok(None) };
        // The work tree does not contain `folder` if a setting moves it elsewhere, or if `folder` is in a bare
        // repository.
        let Ok(below) = folder.strip_prefix(&top) else { return Ok(None) };
        Ok(Some(Self::new(repository, below)))
    }

    /// Opens the repository at exactly this path, which is the top of a work tree, its `.git`, or a bare repository.
    pub(super) fn open(path: &Path) -> Result<Self, GitError> {
        match trusted_open_options().open(path) {
            Ok(repository) => Ok(Self::new(repository.to_thread_local(), Path::new(""))),
            Err(error) if is_missing_repository(&error) => Err(GitError::NoRepository(path.to_owned())),
            Err(error) => Err(GitError::from_library_error(path, &error)),
        }
    }

    pub(super) fn head(&self) -> Result<Head, GitError> {
        let head = self.repository.head().map_err(|error| self.unreadable_error(error))?;
        let branch = head.referent_name().map(|name| name.shorten().to_string());
        if head.is_unborn() {
            return Ok(Head { branch, commit: None });
        }
        let commit = head.into_peeled_id().map_err(|error| self.unreadable_error(error))?;
        Ok(Head { branch, commit: Some(commit.detach()) })
    }

    /// Reads a commit. Returns `None` if it is missing, for example beyond the end of a shallow clone.
    pub(super) fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError> {
        let object = self.repository.try_find_object(id).map_err(|error| self.unreadable_error(error))?;
        let Some(object) = object else { return Ok(None) };
        let commit = object.try_into_commit().map_err(|error| self.unreadable_error(error))?;
        let top = commit.tree_id().map_err(|error| self.unreadable_error(error))?.detach();
        let parent = commit.parent_ids().next().map(gix::Id::detach);
        let seconds = commit.time().map_or(0, |time| time.seconds);
        Ok(Some(Commit { id, tree: self.folder_tree(top)?, parent, seconds }))
    }

    /// Returns all parents of a commit, with the first parent first.
    pub(super) fn parents(&self, id: ObjectId) -> Result<Vec<ObjectId>, GitError> {
        let commit = self.repository.find_commit(id).map_err(|error| self.unreadable_error(error))?;
        Ok(commit.parent_ids().map(gix::Id::detach).collect())
    }

    /// Returns the message of a commit without leading and trailing whitespace.
    pub(super) fn message(&self, id: ObjectId) -> Result<String, GitError> {
        let commit = self.repository.find_commit(id).map_err(|error| self.unreadable_error(error))?;
        Ok(commit.message_raw_sloppy().to_str_lossy().trim().to_owned())
    }

    /// Returns the files that differ between two trees, sorted by path. `None` stands for an empty tree. A renamed file
    /// appears as one deletion and one addition.
    pub(super) fn changes(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        cancel: &Cancel,
    ) -> Result<Vec<FileChange>, GitError> {
        let records = self.diff_trees(old, new, cancel)?;
        let mut changes: Vec<FileChange> = records.into_iter().filter_map(file_change).collect();
        // Trees are compared level by level, so the changes are not in path order.
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// Returns the paths of all files, links and submodules in a tree.
    pub(super) fn paths(
        &self,
        tree: Option<ObjectId>,
        cancel: &Cancel,
    ) -> Result<BTreeSet<String>, GitError> {
        let path = |record| match record {
            recorder::Change::Addition { path, .. } => String::from_utf8(path.into()).ok(),
            recorder::Change::Deletion { .. } | recorder::Change::Modification { .. } => None,
        };
        Ok(self.diff_trees(None, tree, cancel)?.into_iter().filter_map(path).collect())
    }

    /// Returns the regular files in a tree with their blob ids.
    pub(super) fn files(
        &self,
        tree: Option<ObjectId>,
        cancel: &Cancel,
    ) -> Result<BTreeMap<String, ObjectId>, GitError> {
        let changes = self.changes(None, tree, cancel)?;
        Ok(changes.into_iter().filter_map(|change| Some((change.path, change.new?))).collect())
    }

    /// Reads the part of Git's index that belongs to the directory. The result is empty if the repository has no index
    /// yet, and `None` if it has no work tree.
    pub(super) fn index(&self) -> Result<Option<GitIndex>, GitError> {
        let Some(below) = self.below.to_str().filter(|_| self.repository.workdir().is_some()) else {
            return Ok(None);
        };
        let below = below.replace(MAIN_SEPARATOR, "/");
        let index = self.repository.index_or_empty().map_err(|error| self.unreadable_error(error))?;
        let options = self.repository.stat_options().map_err(|error| self.unreadable_error(error))?;
        Ok(Some(GitIndex::new(&index, &below, options)))
    }

    pub(super) fn hash_kind(&self) -> gix::hash::Kind {
        self.repository.object_hash()
    }

    /// Reads a blob as text. Returns `None` if the blob is larger than `limit` bytes or not UTF-8.
    pub(super) fn blob_text(&self, id: ObjectId, limit: u64) -> Result<Option<String>, GitError> {
        let size = self.repository.find_header(id).map_err(|error| self.unreadable_error(error))?.size();
        if size > limit {
            return Ok(None);
        }
        let mut blob = self.repository.find_blob(id).map_err(|error| self.unreadable_error(error))?;
        Ok(String::from_utf8(blob.take_data()).ok())
    }

    fn new(mut repository: gix::Repository, below: &Path) -> Self {
        repository.object_cache_size(OBJECT_CACHE_BYTES);
        Self { repository, below: below.to_owned() }
    }

    fn diff_trees(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        cancel: &Cancel,
    ) -> Result<Vec<recorder::Change>, GitError> {
        if old == new {
            return Ok(Vec::new());
        }
        let (old, new) = (self.tree_data(old)?, self.tree_data(new)?);
        let kind = self.repository.object_hash();
        let mut recorder = BoundedRecorder {
            inner: Recorder::default(),
            entries_left: MAX_VISITED_ENTRIES,
            bytes_left: MAX_PATHS_BYTES,
            cancel,
        };
        let outcome = gix::diff::tree(
            TreeRefIter::from_bytes(&old, kind),
            TreeRefIter::from_bytes(&new, kind),
            State::default(),
            &self.repository.objects,
            &mut recorder,
        );
        match outcome {
            Ok(()) => Ok(recorder.inner.records),
            Err(gix::diff::tree::Error::Cancelled) => {
                cancel.check()?;
                Err(GitError::TooLarge)
            }
            Err(gix::diff::tree::Error::Failure(error)) => Err(self.unreadable_error(error)),
        }
    }

    fn folder_tree(&self, top: ObjectId) -> Result<Option<ObjectId>, GitError> {
        if self.below.as_os_str().is_empty() {
            return Ok(Some(top));
        }
        let top = self.repository.find_tree(top).map_err(|error| self.unreadable_error(error))?;
        let entry = top.lookup_entry_by_path(&self.below).map_err(|error| self.unreadable_error(error))?;
        Ok(entry.filter(|entry| entry.mode().is_tree()).map(|entry| entry.object_id()))
    }

    fn tree_data(&self, tree: Option<ObjectId>) -> Result<Vec<u8>, GitError> {
        let Some(tree) = tree else { return Ok(Vec::new()) };
        let tree = self.repository.find_tree(tree).map_err(|error| self.unreadable_error(error))?;
        Ok(tree.detach().data)
    }

    fn unreadable_error(&self, error: impl Into<gix::Error>) -> GitError {
        GitError::from_library_error(self.repository.git_dir(), &error.into())
    }
}

/// Collects file changes until a limit is reached or the work is cancelled.
struct BoundedRecorder<'a> {
    inner: Recorder,
    entries_left: usize,
    bytes_left: usize,
    cancel: &'a Cancel,
}

impl Visit for BoundedRecorder<'_> {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.inner.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.inner.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.inner.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.inner.pop_path_component();
    }

    fn visit(&mut self, change: Change) -> Action {
        let path_length = self.inner.path().len();
        let exceeds_limit =
            self.entries_left == 0 || self.bytes_left < path_length || path_length > MAX_PATH_BYTES;
        if exceeds_limit || (self.entries_left.is_multiple_of(1024) && self.cancel.is_cancelled()) {
            return ControlFlow::Break(());
        }
        self.entries_left -= 1;
        self.bytes_left -= path_length;
        match change {
            Change::Addition { entry_mode, .. } | Change::Deletion { entry_mode, .. }
                if entry_mode.is_tree() =>
            {
                ControlFlow::Continue(())
            }
            change => self.inner.visit(change),
        }
    }
}

fn discover(folder: &Path) -> Result<gix::ThreadSafeRepository, gix::Error> {
    let options = gix::discover::upwards::Options::default();
    let trust = gix::sec::trust::Mapping { full: trusted_open_options(), reduced: trusted_open_options() };
    gix::ThreadSafeRepository::discover_opts(folder, options, trust)
}

/// Returns options for opening a repository that use only the repository itself: no user or system settings, no
/// includes, and no environment variables. Ownership is not checked, since files are only read.
fn trusted_open_options() -> gix::open::Options {
    gix::open::Options::isolated().config_overrides([MAX_OBJECT_MEMORY_SETTING])
}

/// Returns options for opening a checked repository of a workspace that is not trusted, at exactly its path. The
/// repository's settings cannot name files: the library has settings for the paths of the index, the work tree and
/// others.
fn untrusted_open_options() -> gix::open::Options {
    gix::open::Options::isolated()
        .config_overrides([MAX_OBJECT_MEMORY_SETTING, NO_MULTI_PACK_INDEX])
        .open_path_as_is(true)
        .with(gix::sec::Trust::Reduced)
        .filter_config_section(|section| section.source.kind() != gix::config::source::Kind::Repository)
}

fn is_missing_repository(error: &gix::Error) -> bool {
    use gix::discover::upwards::Error as Absence;
    match error.downcast_any_ref::<Absence>() {
        Some(absence) => matches!(
            absence,
            Absence::NoGitRepository { .. }
                | Absence::NoGitRepositoryWithinCeiling { .. }
                | Absence::NoGitRepositoryWithinFs { .. }
        ),
        None => error.is_not_found(),
    }
}

fn file_change(record: recorder::Change) -> Option<FileChange> {
    let file = |mode: EntryMode, id: ObjectId| mode.is_blob().then_some(id);
    let (path, old, new) = match record {
        recorder::Change::Addition { entry_mode, oid, path, .. } => (path, None, file(entry_mode, oid)),
        recorder::Change::Deletion { entry_mode, oid, path, .. } => (path, file(entry_mode, oid), None),
        recorder::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
            (path, file(previous_entry_mode, previous_oid), file(entry_mode, oid))
        }
    };
    // File keys are UTF-8, so a path in another encoding has no key.
    let path = String::from_utf8(path.into()).ok()?;
    (old.is_some() || new.is_some()).then_some(FileChange { path, old, new })
}
