//! A Git repository for a test, created with the library, so that the tests do not need Git.

use std::fs;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::BStr;
use gix::objs::tree::EntryKind;

/// A modification time that is older than any Git index.
const LONG_AGO: std::time::SystemTime = std::time::SystemTime::UNIX_EPOCH;

/// A repository in a temporary directory. Dropping it deletes the directory.
pub(super) struct TestRepo {
    _directory: tempfile::TempDir,
    top: PathBuf,
    repository: gix::Repository,
    /// Parent of the next commit. `None` before the first commit.
    newest: Option<ObjectId>,
}

/// State of a path in a commit.
pub(super) enum FileState<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    Program(&'a str),
    Link(&'a str),
    Submodule,
    Deleted,
}

impl TestRepo {
    /// Creates a repository without commits. Its empty work tree is at `top/work`.
    pub(super) fn new() -> Self {
        Self::with_kind("work", gix::create::Kind::WithWorktree)
    }

    /// Creates a repository without commits and without a work tree, at `top/bare.git`.
    pub(super) fn new_bare() -> Self {
        Self::with_kind("bare.git", gix::create::Kind::Bare)
    }

    /// Commits files on top of the last commit.
    pub(super) fn commit(&mut self, message: &str, texts: &[(&str, &str)]) -> ObjectId {
        let states: Vec<(&str, FileState<'_>)> =
            texts.iter().map(|&(path, text)| (path, FileState::Text(text))).collect();
        self.commit_changes(message, &states)
    }

    pub(super) fn commit_changes(&mut self, message: &str, changes: &[(&str, FileState<'_>)]) -> ObjectId {
        let changes = changes.iter().map(|(path, state)| (BStr::new(path), state));
        let tree = self.write_tree(self.newest, changes);
        let newest = self.newest;
        self.commit_tree(message, tree, newest)
    }

    /// Commits one file whose name need not be UTF-8.
    pub(super) fn commit_raw_path(&mut self, path: &[u8], text: &str) {
        let tree = self.write_tree(self.newest, [(BStr::new(path), &FileState::Text(text))]);
        let newest = self.newest;
        self.commit_tree("bytes", tree, newest);
    }

    /// Merges a branch that makes these changes to `base`.
    pub(super) fn merge(&mut self, message: &str, base: ObjectId, texts: &[(&str, &str)]) -> ObjectId {
        let states: Vec<(&str, FileState<'_>)> =
            texts.iter().map(|&(path, text)| (path, FileState::Text(text))).collect();
        let changes = || states.iter().map(|(path, state)| (BStr::new(path), state));
        let side_tree = self.write_tree(Some(base), changes());
        let side = self.write_commit("side", side_tree, &[base]);
        let tree = self.write_tree(self.newest, changes());
        let first = self.newest.unwrap();
        let merge = self.write_commit(message, tree, &[first, side]);
        self.set_branch_tip(merge);
        merge
    }

    pub(super) fn commit_tree(
        &mut self,
        message: &str,
        tree: ObjectId,
        parent: Option<ObjectId>,
    ) -> ObjectId {
        let commit = self.write_commit(message, tree, parent.as_slice());
        self.set_branch_tip(commit);
        commit
    }

    /// Writes the files of the newest commit to disk and to Git's index, with modification times that predate the
    /// index.
    pub(super) fn check_out(&self) {
        let tree = self.tree_at(self.newest.unwrap());
        let mut index = self.repository.index_from_tree(&tree).unwrap();
        let objects = &self.repository;
        for (entry, path) in index.entries_mut_with_paths() {
            let file = self.folder().join(gix::path::from_bstr(path).unwrap());
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            if entry.mode == gix::index::entry::Mode::COMMIT {
                fs::create_dir_all(file).unwrap();
                continue;
            }
            fs::write(&file, &objects.find_blob(entry.id).unwrap().data).unwrap();
            fs::File::options().write(true).open(&file).unwrap().set_modified(LONG_AGO).unwrap();
            let metadata = gix::index::fs::Metadata::from_path_no_follow(&file).unwrap();
            entry.stat = gix::index::entry::Stat::from_fs(&metadata).unwrap();
        }
        self.write_index(index);
    }

    /// Changes an entry in Git's index.
    pub(super) fn change_index(&self, path: &str, change: impl FnOnce(&mut gix::index::Entry)) {
        let mut index = self.repository.open_index().unwrap();
        let position = index.entry_index_by_path(path.into()).unwrap();
        change(&mut index.entries_mut()[position]);
        index.remove_tree();
        self.write_index(index);
    }

    /// Removes a file from Git's index.
    pub(super) fn remove_from_index(&self, path: &str) {
        let mut index = self.repository.open_index().unwrap();
        index.remove_entries(|_, name, _| name == path);
        index.remove_tree();
        self.write_index(index);
    }

    /// Adds an entry for a file with the content `text` to Git's index. The path need not be valid, and the file need
    /// not exist.
    pub(super) fn add_index_entry(&self, path: &str, text: &str) {
        use gix::index::entry::{Flags, Mode, Stat};
        let mut index = self.repository.open_index().unwrap();
        let id =
            gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, text.as_bytes()).unwrap();
        index.dangerously_push_entry(Stat::default(), id, Flags::empty(), Mode::FILE, path.into());
        index.sort_entries();
        index.remove_tree();
        self.write_index(index);
    }

    fn write_index(&self, mut index: gix::index::File) {
        index.write(gix::index::write::Options::default()).unwrap();
    }

    /// Creates a tree that contains the same subtree under each of `names`.
    pub(super) fn tree_with_subtrees(&self, subtree: ObjectId, names: &[&str]) -> ObjectId {
        let entry = |name: &&str| gix::objs::tree::Entry {
            mode: EntryKind::Tree.into(),
            filename: (*name).into(),
            oid: subtree,
        };
        let tree = gix::objs::Tree { entries: names.iter().map(entry).collect() };
        self.repository.write_object(&tree).unwrap().detach()
    }

    pub(super) fn tree_at(&self, commit: ObjectId) -> ObjectId {
        self.repository.find_commit(commit).unwrap().tree_id().unwrap().detach()
    }

    #[cfg(unix)]
    pub(super) fn newest_tree(&self) -> ObjectId {
        self.tree_at(self.newest.unwrap())
    }

    pub(super) fn detach_head(&self) {
        self.write_in_git_dir("HEAD", &format!("{}\n", self.newest.unwrap()));
    }

    /// Deletes an object, as if it had never been fetched.
    pub(super) fn delete_object(&self, id: ObjectId) {
        let hex = id.to_string();
        fs::remove_file(self.git_dir().join("objects").join(&hex[..2]).join(&hex[2..])).unwrap();
    }

    /// Writes a file in the Git directory.
    pub(super) fn write_in_git_dir(&self, path: &str, text: &str) {
        let path = self.git_dir().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn git_dir(&self) -> &Path {
        self.repository.git_dir()
    }

    /// Returns the top of the work tree, or the bare repository.
    pub(super) fn folder(&self) -> &Path {
        self.repository.workdir().unwrap_or_else(|| self.repository.git_dir())
    }

    /// Creates a directory next to the repository.
    pub(super) fn create_sibling(&self, name: &str) -> PathBuf {
        let path = self.top.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn with_kind(name: &str, kind: gix::create::Kind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = crate::roots::canonical(directory.path()).unwrap();
        let repository = gix::ThreadSafeRepository::init_opts(
            top.join(name),
            kind,
            gix::create::Options::default(),
            gix::open::Options::isolated(),
        );
        let repository = repository.unwrap().to_thread_local();
        Self { _directory: directory, top, repository, newest: None }
    }

    fn write_tree<'a>(
        &self,
        base: Option<ObjectId>,
        changes: impl IntoIterator<Item = (&'a BStr, &'a FileState<'a>)>,
    ) -> ObjectId {
        let base =
            base.map_or_else(|| ObjectId::empty_tree(gix::hash::Kind::Sha1), |base| self.tree_at(base));
        let mut editor = self.repository.edit_tree(base).unwrap();
        for (path, state) in changes {
            let blob = |bytes: &[u8]| self.repository.write_blob(bytes).unwrap().detach();
            let (kind, id) = match state {
                FileState::Text(text) => (EntryKind::Blob, blob(text.as_bytes())),
                FileState::Bytes(bytes) => (EntryKind::Blob, blob(bytes)),
                FileState::Program(text) => (EntryKind::BlobExecutable, blob(text.as_bytes())),
                FileState::Link(target) => (EntryKind::Link, blob(target.as_bytes())),
                FileState::Submodule => (EntryKind::Commit, self.newest.unwrap()),
                FileState::Deleted => {
                    editor.remove(path).unwrap();
                    continue;
                }
            };
            editor.upsert(path, kind, id).unwrap();
        }
        editor.write().unwrap().detach()
    }

    fn write_commit(&self, message: &str, tree: ObjectId, parents: &[ObjectId]) -> ObjectId {
        let signature = gix::actor::Signature {
            name: "Nobody".into(),
            email: "nobody@example.com".into(),
            time: gix::date::Time::new(1_700_000_000, 0),
        };
        let commit = gix::objs::Commit {
            tree,
            parents: parents.iter().copied().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message.into(),
            extra_headers: Vec::new(),
        };
        self.repository.write_object(&commit).unwrap().detach()
    }

    fn set_branch_tip(&mut self, commit: ObjectId) {
        self.write_in_git_dir("refs/heads/main", &format!("{commit}\n"));
        self.newest = Some(commit);
    }
}
