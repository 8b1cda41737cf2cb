//! Writes prompts and answers to Markdown files, for editors that can only display files. Each session has one file for
//! its prompt and one for its answer, in the cache directory and readable only by the user. The caller provides the
//! text.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::store::paths::{create_private_file, ensure_private_directory, ensure_private_top};
use crate::store::{SessionId, StoreError};

/// How long previews are kept after they were last written. The time is limited because previews contain source code.
const PREVIEW_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Name of the preview directory inside the cache directory.
const PREVIEW_DIRECTORY: &str = "preview";

#[derive(Debug, Clone, Default)]
pub struct PreviewFiles {
    /// The cache directory, or `None` if its location is unknown.
    cache: Option<PathBuf>,
}

/// Why a preview was not written.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    #[error("no cache directory is known; set STRATA_CACHE_DIR to an absolute path")]
    NoCacheDirectory,
    /// The session's name is not a valid file name, or the directory cannot be created.
    #[error(transparent)]
    Place(#[from] StoreError),
    #[error("cannot write `{}`: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl PreviewFiles {
    /// Stores previews in the subdirectory `preview` of a cache directory (see
    /// [`cache_directory`](crate::outline_cache::cache_directory)).
    pub fn in_cache(cache: Option<PathBuf>) -> Self {
        Self { cache }
    }

    /// Whether a path is directly inside the preview directory. Checks only the path, not the file system.
    pub fn contains(&self, path: &Path) -> bool {
        self.cache.as_deref().is_some_and(|cache| path.parent() == Some(&cache.join(PREVIEW_DIRECTORY)))
    }

    /// Replaces the prompt preview of a session atomically, and returns its absolute path.
    ///
    /// # Errors
    /// [`PreviewError`]. The previous preview remains unchanged.
    pub fn write(&self, session: &str, text: &str) -> Result<PathBuf, PreviewError> {
        self.write_preview(session, "", text)
    }

    /// Replaces the preview of a session's last answer, and returns its absolute path.
    ///
    /// # Errors
    /// [`PreviewError`]. The previous preview remains unchanged.
    pub fn write_answer(&self, session: &str, text: &str) -> Result<PathBuf, PreviewError> {
        self.write_preview(session, ".answer", text)
    }

    fn write_preview(&self, session: &str, kind: &str, text: &str) -> Result<PathBuf, PreviewError> {
        let cache = self.cache.as_deref().ok_or(PreviewError::NoCacheDirectory)?;
        let session: SessionId = session.parse()?;
        let folder = &cache.join(PREVIEW_DIRECTORY);
        ensure_private_top(cache)?;
        ensure_private_directory(folder)?;
        let path = folder.join(format!("{session}{kind}.md"));
        let temporary = folder.join(format!("{session}{kind}.{}.half", std::process::id()));
        // Remove a file left by a process with the same id that died while writing.
        let _ = fs::remove_file(&temporary);
        let written = create_private_file(&temporary).and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written.and_then(|()| fs::rename(&temporary, &path)) {
            let _ = fs::remove_file(&temporary);
            return Err(PreviewError::Io { path, error });
        }
        remove_old_previews(folder);
        Ok(path)
    }
}

/// Deletes old previews. The next call retries failed deletions.
fn remove_old_previews(folder: &Path) {
    let Some(limit) = SystemTime::now().checked_sub(PREVIEW_LIFETIME) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        if written.is_ok_and(|written| written < limit) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, PreviewFiles) {
        let cache = tempfile::tempdir().unwrap();
        let files = PreviewFiles::in_cache(Some(cache.path().to_owned()));
        (cache, files)
    }

    #[test]
    fn the_last_prompt_and_answer_of_each_session_are_stored() {
        let (cache, files) = files();
        let first = files.write("s-1", "first").unwrap();
        let second = files.write("s-2", "another").unwrap();
        assert_eq!(files.write("s-1", "second").unwrap(), first);
        assert_eq!(fs::read_to_string(&first).unwrap(), "second");
        assert_eq!(fs::read_to_string(&second).unwrap(), "another");
        assert_eq!(fs::read_dir(cache.path().join("preview")).unwrap().count(), 2, "nothing else is left");
        assert!(files.contains(&first) && !files.contains(cache.path()));
        let answer = files.write_answer("s-1", "an answer").unwrap();
        assert_eq!(fs::read_to_string(&answer).unwrap(), "an answer");
        assert_eq!(fs::read_to_string(&first).unwrap(), "second");
        assert!(files.contains(&answer));
    }

    #[cfg(unix)]
    #[test]
    fn a_preview_is_private_and_replaces_a_link() {
        use std::os::unix::fs::{MetadataExt as _, symlink};
        let (cache, files) = files();
        let path = files.write("s-1", "first").unwrap();
        let elsewhere = cache.path().join("elsewhere");
        fs::write(&elsewhere, "untouched").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        files.write("s-1", "second").unwrap();
        assert_eq!(fs::symlink_metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), "untouched");
    }

    #[test]
    fn previews_are_deleted_after_a_week() {
        let (_cache, files) = files();
        let old = files.write("s-1", "old").unwrap();
        let days = |days: u64| SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        let set_age = |path: &Path, time| fs::File::options().write(true).open(path)?.set_modified(time);
        set_age(&old, days(6)).unwrap();
        files.write("s-2", "new").unwrap();
        assert!(old.exists());
        set_age(&old, days(8)).unwrap();
        files.write("s-2", "newer").unwrap();
        assert!(!old.exists());
    }

    #[test]
    fn a_session_name_with_a_path_is_rejected() {
        let (_cache, files) = files();
        assert!(matches!(files.write("../s-1", "x"), Err(PreviewError::Place(_))));
        let nowhere = PreviewFiles::default();
        assert!(matches!(nowhere.write("s-1", "x"), Err(PreviewError::NoCacheDirectory)));
    }
}
