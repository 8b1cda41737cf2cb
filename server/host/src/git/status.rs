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
use super::index::TrackedPaths;
use crate::disk::read_bytes;
use crate::roots::canonical;
use crate::roots::{PathError, Roots};

/// Maximum number of files and submodules to compare. The comparison takes a few microseconds for each of them, and
/// runs before every prompt.
const MAX_FILES: usize = 50_000;
/// Maximum bytes to read from files whose state Git's index does not determine.
const MAX_READ: u64 = 16 << 20;

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
    compared(folder, files, trust, cancel, MAX_FILES)
}

/// Like [`status`], but compares at most `most` files and submodules.
fn compared<'a>(
    folder: &Path,
    files: impl Iterator<Item = &'a str> + Clone,
    trust: Trust,
    cancel: &Cancel,
    most: usize,
) -> Result<Option<BTreeMap<String, FileStatus>>, GitError> {
    History::read(folder, trust, |history| compared_with(history, folder, files.clone(), cancel, most))
}

fn compared_with<'a>(
    history: &History,
    folder: &Path,
    files: impl Iterator<Item = &'a str>,
    cancel: &Cancel,
    most: usize,
) -> Result<Option<BTreeMap<String, FileStatus>>, GitError> {
    let Some(index) = history.index()? else { return Ok(None) };
    if index.count > most {
        return Ok(None);
    }
    let newest = match history.head()?.commit {
        Some(id) => history.commit(id)?.and_then(|commit| commit.tree),
        None => None,
    };
    // `None` means that the index is known to match the commit.
    let committed = match newest {
        Some(newest) if index.tree == Some(newest) => None,
        newest => Some(history.files(newest, cancel)?),
    };
    let committed_id = |path: &str, tracked: &TrackedPaths| match &committed {
        Some(committed) => committed.get(path).copied(),
        None => Some(tracked.id),
    };

    let Ok(mut disk) = WorkTree::new(folder, history.hash_kind()) else { return Ok(None) };
    let mut found = BTreeMap::new();
    for (path, file) in &index.files {
        cancel.check()?;
        let now = if file.conflicted {
            Some(FileStatus::Conflicted)
        } else if file.is_assumed {
            None
        } else {
            match disk.id(path, Some(file)) {
                Ok(id) => difference(committed_id(path, file), id),
                Err(ReadLimitReached) => return Ok(None),
            }
        };
        if let Some(now) = now {
            found.insert(path.clone(), now);
        }
    }
    for path in files.filter(|path| !index.files.contains_key(*path) && !index.is_inside_submodule(path)) {
        cancel.check()?;
        if disk.has(path) {
            found.insert(path.to_owned(), FileStatus::New);
        }
    }
    // Files removed from the index, which are either deleted or still on disk but untracked.
    for (path, &id) in committed.iter().flatten().filter(|(path, _)| !index.files.contains_key(*path)) {
        cancel.check()?;
        let Ok(now) = disk.id(path, None) else { return Ok(None) };
        match difference(Some(id), now) {
            Some(now) => found.insert(path.clone(), now),
            None => found.remove(path),
        };
    }
    Ok(Some(found))
}

/// Error for a comparison that would have to read more than [`MAX_READ`] bytes.
struct ReadLimitReached;

/// Computes the blob ids of files on disk. Paths in an index or a commit may be crafted, so each must resolve inside
/// the directory, and links are not followed.
struct WorkTree {
    roots: Roots,
    kind: gix::hash::Kind,
    left: u64,
    /// The directory checked most recently, and whether its path is free of links.
    last: Option<(PathBuf, bool)>,
}

impl WorkTree {
    fn new(folder: &Path, kind: gix::hash::Kind) -> Result<Self, PathError> {
        Ok(Self { roots: Roots::single(folder)?, kind, left: MAX_READ, last: None })
    }

    fn has(&mut self, path: &str) -> bool {
        self.place(path).is_some_and(|place| fs::symlink_metadata(place).is_ok())
    }

    /// Returns the blob id of a file's content, or `None` if the file does not exist.
    fn id(&mut self, path: &str, known: Option<&TrackedPaths>) -> Result<Option<ObjectId>, ReadLimitReached> {
        let Some(place) = self.place(path) else { return Ok(None) };
        let Ok(metadata) = Metadata::from_path_no_follow(&place) else { return Ok(None) };
        if !metadata.is_file() {
            return Ok(None);
        }
        if let Some(known) = known.filter(|known| known.is_as_seen(&metadata)) {
            return Ok(Some(known.id));
        }
        self.left = self.left.checked_sub(metadata.len()).ok_or(ReadLimitReached)?;
        // A file that has grown since its size was read fails here. The next comparison reads it.
        let Ok(bytes) = read_bytes(&self.roots, &FileKey::new(path), metadata.len()) else { return Ok(None) };
        Ok(gix::objs::compute_hash(self.kind, gix::objs::Kind::Blob, &bytes).ok())
    }

    /// Returns the absolute path of a file, or `None` if a directory in the path is a link.
    fn place(&mut self, path: &str) -> Option<PathBuf> {
        let place = self.roots.path_of(&FileKey::new(path)).ok()?;
        let folder = place.parent()?;
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            let is_real = canonical(folder).is_ok_and(|real| real == folder);
            self.last = Some((folder.to_owned(), is_real));
        }
        self.last.as_ref().is_some_and(|(_, is_real)| *is_real).then_some(place)
    }
}

fn difference(committed: Option<ObjectId>, now: Option<ObjectId>) -> Option<FileStatus> {
    match (committed, now) {
        (None, Some(_)) => Some(FileStatus::New),
        (Some(_), None) => Some(FileStatus::Deleted),
        (Some(committed), Some(now)) if committed != now => Some(FileStatus::Modified),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gix::index::entry::{Flags, Mode};

    use super::super::testing::{Now, Repo};
    use super::*;

    fn check(repo: &Repo, files: &[&str], expected: &[(&str, FileStatus)]) {
        check_in(repo.folder(), files, expected);
    }

    fn check_in(folder: &Path, files: &[&str], expected: &[(&str, FileStatus)]) {
        let found = status(folder, files.iter().copied(), Trust::Trusted, &Cancel::new()).unwrap().unwrap();
        let expected: BTreeMap<String, FileStatus> =
            expected.iter().map(|&(path, status)| (path.to_owned(), status)).collect();
        assert_eq!(found, expected);
    }

    fn checked_out() -> Repo {
        let mut repo = Repo::new();
        let texts = [("a.py", Now::Text("1\n")), ("b/c.py", Now::Text("2\n")), ("b/d.py", Now::Text("3\n"))];
        repo.commit_all("first", &texts);
        repo.commit_all("second", &[("link", Now::Link("a.py")), ("module", Now::Submodule)]);
        repo.check_out();
        repo
    }

    fn write(repo: &Repo, path: &str, text: &str) {
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
    fn what_a_submodule_holds_is_not_new_and_what_only_shares_its_name_is() {
        let mut repo = checked_out();
        repo.commit_all("third", &[("b/module", Now::Submodule)]);
        repo.check_out();
        // An index can list one submodule inside another.
        repo.invent("module/inner", "");
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
    fn submodules_count_as_files_do() {
        let repo = checked_out();
        let compared = |most| {
            compared(repo.folder(), ["a.py"].into_iter(), Trust::Trusted, &Cancel::new(), most).unwrap()
        };
        // Three files and a submodule; links do not count.
        assert_eq!(compared(4), Some(BTreeMap::new()));
        assert_eq!(compared(3), None);
    }

    #[test]
    fn only_the_text_counts() {
        let repo = checked_out();
        write(&repo, "a.py", "1\n");
        check(&repo, &["a.py"], &[]);
        // Same size, written after the index.
        write(&repo, "a.py", "7\n");
        check(&repo, &["a.py"], &[("a.py", FileStatus::Modified)]);
    }

    #[test]
    fn a_text_is_not_read_when_the_index_can_speak_for_it() {
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
    fn a_path_that_an_index_invents_is_no_way_out() {
        let repo = checked_out();
        let outside = repo.beside("outside");
        fs::write(outside.join("secret"), "secret\n").unwrap();
        std::os::unix::fs::symlink(&outside, repo.folder().join("linked")).unwrap();
        std::os::unix::fs::symlink("b", repo.folder().join("inside")).unwrap();
        let absolute = outside.join("secret").display().to_string();
        for path in ["../outside/secret", "linked/secret", "b/../../outside/secret", &absolute] {
            repo.invent(path, "secret\n");
        }
        // Git does not follow links either.
        repo.invent("inside/c.py", "2\n");
        repo.invent("b/new.py", "new\n");
        write(&repo, "b/new.py", "new\n");
        check(&repo, &["a.py"], &[("b/new.py", FileStatus::New)]);
    }

    #[test]
    fn what_was_added_is_not_committed() {
        let repo = checked_out();
        write(&repo, "a.py", "changed\n");
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, b"changed\n").unwrap();
        repo.change_index("a.py", |entry| entry.id = id);
        repo.take_out("b/c.py");
        repo.take_out("b/d.py");
        fs::remove_file(repo.folder().join("b/d.py")).unwrap();
        let changes = [("a.py", FileStatus::Modified), ("b/d.py", FileStatus::Deleted)];
        check(&repo, &["a.py", "b/c.py"], &changes);
    }

    #[test]
    fn conflicts_and_files_that_git_shall_not_look_at() {
        let repo = checked_out();
        repo.change_index("a.py", |entry| entry.flags |= Flags::from_stage(gix::index::entry::Stage::Ours));
        repo.change_index("b/c.py", |entry| entry.flags |= Flags::ASSUME_VALID);
        write(&repo, "b/c.py", "changed\n");
        check(&repo, &["a.py", "b/c.py"], &[("a.py", FileStatus::Conflicted)]);
    }

    #[test]
    fn without_a_commit_an_index_or_a_work_tree() {
        let repo = Repo::new();
        write(&repo, "a.py", "1\n");
        check(&repo, &["a.py"], &[("a.py", FileStatus::New)]);
        let bare = Repo::bare();
        assert_eq!(status(bare.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(status(nowhere.path(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
    }

    #[test]
    fn an_index_that_is_garbage_is_an_error_and_no_status() {
        let repo = checked_out();
        repo.write("index", "not an index");
        assert!(matches!(
            status(repo.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()),
            Err(GitError::Unreadable { .. })
        ));
    }

    #[test]
    fn more_than_can_be_read_before_every_prompt_is_not_compared() {
        let repo = checked_out();
        let file = fs::File::create(repo.folder().join("a.py")).unwrap();
        file.set_len(MAX_READ + 1).unwrap();
        assert_eq!(status(repo.folder(), [].into_iter(), Trust::Trusted, &Cancel::new()).unwrap(), None);
    }
}
