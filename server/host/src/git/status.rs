//! Determines the uncommitted changes in a directory by comparing its files with the newest commit. Uses Git's index
//! only to avoid reading unchanged files, and never writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::index::fs::Metadata;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_prompt::trust::Trust;

use super::error::GitError;
use super::history::History;
use super::index::TrackedFile;
use crate::disk::read_bytes;
use crate::roots::canonical;
use crate::roots::{PathError, Roots};

/// Maximum number of files and submodules to compare. The comparison takes a few microseconds for each of them, and
/// runs before every prompt.
const MAX_COMPARED_FILES: usize = 50_000;
/// Maximum bytes to read from files whose state Git's index does not determine.
const MAX_READ_BYTES: u64 = 16 << 20;

/// How a file differs from the newest commit, most important to the user first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileStatus {
    /// The file has unresolved merge conflicts.
    Conflicted,
    /// The content differs from the committed content.
    Modified,
    /// The file is not in the newest commit.
    New,
    /// The file is in the newest commit but not on disk.
    Deleted,
}

/// Returns the uncommitted changes in a directory, by path with `/` as the separator. `files` lists the existing files
/// that are not ignored, because Git's index does not contain new files. Returns `None` outside a repository, without a
/// work tree, or if there are too many files to compare. Links and submodules are ignored.
///
/// A file whose line endings or content Git converts on checkout counts as modified unless the index says otherwise,
/// because Strata never runs conversion programs.
///
/// # Errors
/// [`GitError::Unreadable`], [`GitError::Elsewhere`], [`GitError::Changing`] or [`GitError::Cancelled`].
pub fn status<'a>(
    folder: &Path,
    files: impl Iterator<Item = &'a str> + Clone,
    trust: Trust,
    cancel: &Cancel,
) -> Result<Option<BTreeMap<String, FileStatus>>, GitError> {
    status_with_limit(folder, files, trust, cancel, MAX_COMPARED_FILES)
}

/// Like [`status`], but compares at most `max_files` files and submodules.
fn status_with_limit<'a>(
    folder: &Path,
    files: impl Iterator<Item = &'a str> + Clone,
    trust: Trust,
    cancel: &Cancel,
    max_files: usize,
) -> Result<Option<BTreeMap<String, FileStatus>>, GitError> {
    History::read(folder, trust, |history| {
        compare_with_head(history, folder, files.clone(), cancel, max_files)
    })
}

fn compare_with_head<'a>(
    history: &History,
    folder: &Path,
    files: impl Iterator<Item = &'a str>,
    cancel: &Cancel,
    max_files: usize,
) -> Result<Option<BTreeMap<String, FileStatus>>, GitError> {
    let Some(index) = history.index()? else { return Ok(None) };
    if index.count > max_files {
        return Ok(None);
    }
    let newest_tree = match history.head()?.commit {
        Some(id) => history.commit(id)?.and_then(|commit| commit.tree),
        None => None,
    };
    // `None` means that the index is known to match the commit.
    let committed = match newest_tree {
        Some(newest_tree) if index.tree == Some(newest_tree) => None,
        newest_tree => Some(history.files(newest_tree, cancel)?),
    };
    let committed_id = |path: &str, tracked: &TrackedFile| match &committed {
        Some(committed) => committed.get(path).copied(),
        None => Some(tracked.id),
    };

    let Ok(mut work_tree) = BlobHasher::new(folder, history.hash_kind()) else { return Ok(None) };
    let mut statuses = BTreeMap::new();
    for (path, file) in &index.files {
        cancel.check()?;
        let status = if file.is_conflicted {
            Some(FileStatus::Conflicted)
        } else if file.is_assumed {
            None
        } else {
            match work_tree.blob_id(path, Some(file)) {
                Ok(id) => compare_blobs(committed_id(path, file), id),
                Err(ReadLimitReached) => return Ok(None),
            }
        };
        if let Some(status) = status {
            statuses.insert(path.clone(), status);
        }
    }
    for path in files.filter(|path| !index.files.contains_key(*path) && !index.is_inside_submodule(path)) {
        cancel.check()?;
        if work_tree.exists(path) {
            statuses.insert(path.to_owned(), FileStatus::New);
        }
    }
    // Files removed from the index, which are either deleted or still on disk but untracked.
    for (path, &id) in committed.iter().flatten().filter(|(path, _)| !index.files.contains_key(*path)) {
        cancel.check()?;
        let Ok(current) = work_tree.blob_id(path, None) else { return Ok(None) };
        match compare_blobs(Some(id), current) {
            Some(status) => statuses.insert(path.clone(), status),
            None => statuses.remove(path),
        };
    }
    Ok(Some(statuses))
}

/// Error for a comparison that would have to read more than [`MAX_READ_BYTES`] bytes.
struct ReadLimitReached;

/// Computes the blob ids of files on disk. Paths in an index or a commit may be crafted, so each must resolve inside
/// the directory, and links are not followed.
struct BlobHasher {
    roots: Roots,
    kind: gix::hash::Kind,
    bytes_left: u64,
    /// The directory checked most recently, and whether its path is free of links.
    last_folder: Option<(PathBuf, bool)>,
}

impl BlobHasher {
    fn new(folder: &Path, kind: gix::hash::Kind) -> Result<Self, PathError> {
        Ok(Self { roots: Roots::single(folder)?, kind, bytes_left: MAX_READ_BYTES, last_folder: None })
    }

    fn exists(&mut self, path: &str) -> bool {
        self.path_on_disk(path).is_some_and(|path| fs::symlink_metadata(path).is_ok())
    }

    /// Returns the blob id of a file's content, or `None` if the file does not exist.
    fn blob_id(
        &mut self,
        path: &str,
        tracked: Option<&TrackedFile>,
    ) -> Result<Option<ObjectId>, ReadLimitReached> {
        let Some(path_on_disk) = self.path_on_disk(path) else { return Ok(None) };
        let Ok(metadata) = Metadata::from_path_no_follow(&path_on_disk) else { return Ok(None) };
        if !metadata.is_file() {
            return Ok(None);
        }
        if let Some(tracked) = tracked.filter(|tracked| tracked.is_unchanged(&metadata)) {
            return Ok(Some(tracked.id));
        }
        self.bytes_left = self.bytes_left.checked_sub(metadata.len()).ok_or(ReadLimitReached)?;
        // A file that has grown since its size was read fails here. The next comparison reads it.
        let Ok(bytes) = read_bytes(&self.roots, &FileKey::new(path), metadata.len()) else { return Ok(None) };
        Ok(gix::objs::compute_hash(self.kind, gix::objs::Kind::Blob, &bytes).ok())
    }

    /// Returns the absolute path of a file, or `None` if a directory in the path is a link.
    fn path_on_disk(&mut self, path: &str) -> Option<PathBuf> {
        let path = self.roots.path_of(&FileKey::new(path)).ok()?;
        let folder = path.parent()?;
        if self.last_folder.as_ref().is_none_or(|(last_folder, _)| last_folder != folder) {
            let is_real = canonical(folder).is_ok_and(|real| real == folder);
            self.last_folder = Some((folder.to_owned(), is_real));
        }
        self.last_folder.as_ref().is_some_and(|(_, is_real)| *is_real).then_some(path)
    }
}

fn compare_blobs(committed: Option<ObjectId>, current: Option<ObjectId>) -> Option<FileStatus> {
    match (committed, current) {
        (None, Some(_)) => Some(FileStatus::New),
        (Some(_), None) => Some(FileStatus::Deleted),
        (Some(committed), Some(current)) if committed != current => Some(FileStatus::Modified),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gix::index::entry::{Flags, Mode};

    use super::super::testing::{FileState, TestRepo};
    use super::*;

    fn check(repo: &TestRepo, files: &[&str], expected: &[(&str, FileStatus)]) {
        check_in(repo.folder(), files, expected);
    }

    fn check_in(folder: &Path, files: &[&str], expected: &[(&str, FileStatus)]) {
        let statuses =
            status(folder, files.iter().copied(), Trust::Trusted, &Cancel::new()).unwrap().unwrap();
        let expected: BTreeMap<String, FileStatus> =
            expected.iter().map(|&(path, status)| (path.to_owned(), status)).collect();
        assert_eq!(statuses, expected);
    }

    fn checked_out() -> TestRepo {
        let mut repo = TestRepo::new();
        let texts = [
            ("a.py", FileState::Text("1\n")),
            ("b/c.py", FileState::Text("2\n")),
            ("b/d.py", FileState::Text("3\n")),
        ];
        repo.commit_changes("first", &texts);
        repo.commit_changes("second", &[("link", FileState::Link("a.py")), ("module", FileState::Submodule)]);
        repo.check_out();
        repo
    }

    fn write(repo: &TestRepo, path: &str, text: &str) {
        fs::write(repo.folder().join(path), text).unwrap();
    }

    #[test]
    fn files_are_compared_with_the_newest_commit() {
        let repo = checked_out();
        check(&repo, &["a.py", "b/c.py", "b/d.py"], &[]);
        write(&repo, "a.py", "changed\n");
        write(&repo, "new.py", "");
        fs::remove_file(repo.folder().join("b/c.py")).unwrap();
        let changes =
            [("a.py", FileStatus::Modified), ("b/c.py", FileStatus::Deleted), ("new.py", FileStatus::New)];
        // The list of files may be outdated: it contains a deleted file and one inside a submodule.
        check(&repo, &["a.py", "b/c.py", "b/d.py", "gone.py", "new.py", "module/theirs.py"], &changes);
        check_in(&repo.folder().join("b"), &["c.py", "d.py"], &[("c.py", FileStatus::Deleted)]);
    }

    /// All of these paths exist on disk.
    #[test]
    fn files_in_submodules_are_not_new_but_files_with_similar_names_are() {
        let mut repo = checked_out();
        repo.commit_changes("third", &[("b/module", FileState::Submodule)]);
        repo.check_out();
        // An index can list one submodule inside another.
        repo.add_index_entry("module/inner", "");
        repo.change_index("module/inner", |entry| entry.mode = Mode::COMMIT);
        let inside = [
            "b/module/deep/er/new.py",
            "b/module/new.py",
            "module/a.py",
            "module/deep/er/new.py",
            "module/inner/new.py",
            "module/z.py",
        ];
        let outside =
            ["b/modul", "b/module-other/new.py", "deep/module/new.py", "module-other/new.py", "module.py"];
        let files: Vec<&str> = inside.iter().chain(&outside).copied().collect();
        for path in &files {
            fs::create_dir_all(repo.folder().join(path).parent().unwrap()).unwrap();
            write(&repo, path, "");
        }
        check(&repo, &files, &outside.map(|path| (path, FileStatus::New)));
        let new = [("modul", FileStatus::New), ("module-other/new.py", FileStatus::New)];
        let files = ["modul", "module/deep/er/new.py", "module/new.py", "module-other/new.py"];
        check_in(&repo.folder().join("b"), &files, &new);
    }

    #[test]
    fn submodules_count_towards_the_limit() {
        let repo = checked_out();
        let status_with_limit = |max_files| {
            status_with_limit(repo.folder(), ["a.py"].into_iter(), Trust::Trusted, &Cancel::new(), max_files)
                .unwrap()
        };
        // Three files and a submodule; links do not count.
        assert_eq!(status_with_limit(4), Some(BTreeMap::new()));
        assert_eq!(status_with_limit(3), None);
    }

    #[test]
    fn only_a_changed_content_counts_as_modified() {
        let repo = checked_out();
        write(&repo, "a.py", "1\n");
        check(&repo, &["a.py"], &[]);
        // Same size, written after the index.
        write(&repo, "a.py", "7\n");
        check(&repo, &["a.py"], &[("a.py", FileStatus::Modified)]);
    }

    #[test]
    fn a_file_is_not_read_if_its_metadata_matches_the_index() {
        let repo = checked_out();
        // Different content with the modification time, size and inode recorded in the index.
        let file = fs::File::options().write(true).open(repo.folder().join("a.py")).unwrap();
        let before = file.metadata().unwrap().modified().unwrap();
        write(&repo, "a.py", "7\n");
        file.set_modified(before).unwrap();
        repo.change_index("a.py", |entry| {
            let now = gix::index::fs::Metadata::from_path_no_follow(&repo.folder().join("a.py")).unwrap();
            entry.stat = gix::index::entry::Stat::from_fs(&now).unwrap();
        });
        check(&repo, &["a.py"], &[]);
    }

    /// Following the path would reveal whether a file outside the repository has the content that the index claims.
    #[cfg(unix)]
    #[test]
    fn an_invented_index_path_does_not_lead_out_of_the_directory() {
        let repo = checked_out();
        let outside = repo.create_sibling("outside");
        fs::write(outside.join("secret"), "secret\n").unwrap();
        std::os::unix::fs::symlink(&outside, repo.folder().join("linked")).unwrap();
        std::os::unix::fs::symlink("b", repo.folder().join("inside")).unwrap();
        let absolute = outside.join("secret").display().to_string();
        for path in ["../outside/secret", "linked/secret", "b/../../outside/secret", &absolute] {
            repo.add_index_entry(path, "secret\n");
        }
        // Git does not follow links either.
        repo.add_index_entry("inside/c.py", "2\n");
        repo.add_index_entry("b/new.py", "new\n");
        write(&repo, "b/new.py", "new\n");
        check(&repo, &["a.py"], &[("b/new.py", FileStatus::New)]);
    }

    #[test]
    fn staged_changes_are_not_committed() {
        let repo = checked_out();
        write(&repo, "a.py", "changed\n");
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, b"changed\n").unwrap();
        repo.change_index("a.py", |entry| entry.id = id);
        repo.remove_from_index("b/c.py");
        repo.remove_from_index("b/d.py");
        fs::remove_file(repo.folder().join("b/d.py")).unwrap();
        let changes = [("a.py", FileStatus::Modified), ("b/d.py", FileStatus::Deleted)];
        check(&repo, &["a.py", "b/c.py"], &changes);
    }

    #[test]
    fn conflicts_are_reported_and_assumed_files_are_not_compared() {
        let repo = checked_out();
        repo.change_index("a.py", |entry| entry.flags |= Flags::from_stage(gix::index::entry::Stage::Ours));
        repo.change_index("b/c.py", |entry| entry.flags |= Flags::ASSUME_VALID);
        write(&repo, "b/c.py", "changed\n");
        check(&repo, &["a.py", "b/c.py"], &[("a.py", FileStatus::Conflicted)]);
    }

    #[test]
    fn repositories_without_a_commit_an_index_or_a_work_tree_are_compared_as_far_as_possible() {
        let repo = TestRepo::new();
        write(&repo, "a.py", "1\n");
        check(&repo, &["a.py"], &[("a.py", FileStatus::New)]);
        let bare = TestRepo::new_bare();
        assert_eq!(status(bare.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(status(nowhere.path(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
    }

    #[test]
    fn an_invalid_index_is_an_error() {
        let repo = checked_out();
        repo.write_in_git_dir("index", "not an index");
        assert!(matches!(
            status(repo.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()),
            Err(GitError::Unreadable { .. })
        ));
    }

    #[test]
    fn nothing_is_compared_if_too_much_would_have_to_be_read() {
        let repo = checked_out();
        let file = fs::File::create(repo.folder().join("a.py")).unwrap();
        file.set_len(MAX_READ_BYTES + 1).unwrap();
        assert_eq!(status(repo.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
    }
}
