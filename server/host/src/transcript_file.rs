//! Finds and reads transcripts (recorded sessions of a coding agent). The engine interprets them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use strata_engine::conversation::transcript::{Transcript, parse};

pub(crate) const MAX_TRANSCRIPT_BYTES: u64 = 256 << 20;

/// Maximum number of transcripts in one directory tree.
pub(crate) const MAX_TRANSCRIPTS: usize = 2_000;

/// Maximum depth of the directories to search.
const MAX_DEPTH: usize = 16;

/// Maximum number of directories to search, so that a search from the root of a disk ends.
const MAX_FOLDERS: usize = 100_000;

/// Error for transcripts that could not be found or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct TranscriptFileError {
    pub path: PathBuf,
    #[source]
    pub(crate) problem: TranscriptProblem,
}

/// Why transcripts could not be found or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TranscriptProblem {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The transcript is larger than [`MAX_TRANSCRIPT_BYTES`].
    #[error("longer than {} MiB", MAX_TRANSCRIPT_BYTES >> 20)]
    TooLong,
    /// The directory tree contains too many transcripts or directories.
    #[error("more than {MAX_TRANSCRIPTS} transcripts, or too many directories; choose a smaller directory")]
    TooMany,
}

/// Returns the transcripts (`*.jsonl`) in a directory tree, sorted by path, or only `place` itself if it is a file.
/// Does not follow symbolic links inside the tree.
///
/// # Errors
/// [`TranscriptFileError`] if `place` cannot be read or contains too many transcripts. Unreadable subdirectories are
/// skipped.
pub fn transcripts_at(place: &Path) -> Result<Vec<PathBuf>, TranscriptFileError> {
    let fail = |problem| TranscriptFileError { path: place.to_owned(), problem };
    if fs::metadata(place).map_err(|error| fail(error.into()))?.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    fs::read_dir(place).map_err(|error| fail(error.into()))?;
    let mut found = Vec::new();
    let mut waiting = vec![(place.to_owned(), 0)];
    let mut folders = 0;
    while let Some((folder, depth)) = waiting.pop() {
        folders += 1;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                waiting.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
        if found.len() > MAX_TRANSCRIPTS || folders > MAX_FOLDERS {
            return Err(fail(TranscriptProblem::TooMany));
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a transcript, replacing invalid UTF-8.
///
/// # Errors
/// [`TranscriptFileError`] if the file cannot be read or is too large.
pub fn read_transcript(path: &Path) -> Result<Transcript, TranscriptFileError> {
    read(path, MAX_TRANSCRIPT_BYTES).map_err(|problem| TranscriptFileError { path: path.to_owned(), problem })
}

fn read(path: &Path, limit: u64) -> Result<Transcript, TranscriptProblem> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(TranscriptProblem::TooLong);
    }
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"type":"assistant","message":{"id":"m","model":"x","content":"yes"}}"#;

    #[test]
    fn records_are_found_in_all_folders_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/c.jsonl", "a.jsonl", "b/a.json", "b/d/e.jsonl"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, LINE).unwrap();
        }
        let found = transcripts_at(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a.jsonl", "b/c.jsonl", "b/d/e.jsonl"].map(Path::new));
        assert_eq!(transcripts_at(&found[0]).unwrap(), [found[0].clone()]);
        assert!(transcripts_at(&folder.path().join("none")).is_err());
        assert_eq!(read_transcript(&found[0]).unwrap().turns.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_above_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), LINE).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(transcripts_at(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_record_that_is_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, LINE).unwrap();
        assert!(matches!(read(&path, LINE.len() as u64 - 1), Err(TranscriptProblem::TooLong)));
        assert_eq!(read(&path, LINE.len() as u64).unwrap().turns.len(), 1);
    }
}
