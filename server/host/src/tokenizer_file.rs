//! Reads tokenizers from files (`tokenizer.json`, the format of Hugging Face) on first use, and keeps them in memory.
//! The caller decides which model uses which tokenizer. Without the feature `tokenizer-files`, no file can be used.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use strata_tokens::counting::CountTokens;

use self::library::Tokenizer;

#[cfg(feature = "tokenizer-files")]
mod library;
#[cfg(not(feature = "tokenizer-files"))]
#[path = "tokenizer_file/no_library.rs"]
mod library;

/// Maximum size of a tokenizer file, in bytes. The largest vocabularies take about 35 MB.
const MAX_TOKENIZER_FILE_BYTES: u64 = 128 << 20;

#[derive(Debug)]
pub struct TokenizerFile {
    path: PathBuf,
    tokenizer: OnceLock<Result<Tokenizer, TokenizerFileError>>,
}

/// Why a tokenizer file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerFileError {
    #[error("cannot read the tokenizer {}: {kind}", .path.display())]
    Io { path: PathBuf, kind: io::ErrorKind },
    /// The path names a directory, a FIFO, a socket or a device, which was not opened.
    #[error("the tokenizer {} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// The file is too large for a tokenizer and was not read.
    #[error("the tokenizer {} has {size} bytes; the limit is {MAX_TOKENIZER_FILE_BYTES}", .path.display())]
    TooLarge { path: PathBuf, size: u64 },
    /// The file does not contain a supported tokenizer.
    #[error("{} has no usable tokenizer: {problem}", .path.display())]
    Unusable { path: PathBuf, problem: String },
}

impl TokenizerFileError {
    /// Returns a warning for users.
    pub fn warning(&self) -> String {
        format!("{self}; tokens are estimated instead, at four characters per token")
    }
}

impl PartialEq for TokenizerFile {
    /// Compares only the paths.
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl TokenizerFile {
    /// Creates a tokenizer whose file is read on first use.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), tokenizer: OnceLock::new() }
    }

    /// Reads the file if it has not been read yet, which takes a few hundred milliseconds.
    ///
    /// # Errors
    /// [`TokenizerFileError`] if the file cannot be used. In this case, `count` returns `None`.
    pub fn check(&self) -> Result<(), TokenizerFileError> {
        self.tokenizer().map(drop).map_err(Clone::clone)
    }

    /// Checks whether this build can read tokenizers and the file may be one, without reading the file.
    ///
    /// # Errors
    /// [`TokenizerFileError`] if the file cannot be used.
    pub fn check_metadata(&self) -> Result<(), TokenizerFileError> {
        check_metadata(&self.path)
    }

    fn tokenizer(&self) -> Result<&Tokenizer, &TokenizerFileError> {
        self.tokenizer.get_or_init(|| read(&self.path)).as_ref()
    }
}

impl CountTokens for TokenizerFile {
    fn count(&self, text: &str) -> Option<usize> {
        library::count(self.tokenizer().ok()?, text)
    }
}

fn read(path: &Path) -> Result<Tokenizer, TokenizerFileError> {
    check_metadata(path)?;
    let content = fs::read(path).map_err(|error| read_error(path, &error))?;
    library::parse(content).map_err(|problem| TokenizerFileError::Unusable { path: path.to_owned(), problem })
}

fn check_metadata(path: &Path) -> Result<(), TokenizerFileError> {
    if let Some(problem) = library::MISSING_LIBRARY_REASON {
        return Err(TokenizerFileError::Unusable { path: path.to_owned(), problem: problem.to_owned() });
    }
    let metadata = fs::metadata(path).map_err(|error| read_error(path, &error))?;
    if !metadata.is_file() {
        return Err(TokenizerFileError::NotRegular(path.to_owned()));
    }
    if metadata.len() > MAX_TOKENIZER_FILE_BYTES {
        return Err(TokenizerFileError::TooLarge { path: path.to_owned(), size: metadata.len() });
    }
    Ok(())
}

fn read_error(path: &Path, error: &io::Error) -> TokenizerFileError {
    TokenizerFileError::Io { path: path.to_owned(), kind: error.kind() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits words at white space; the vocabulary has four entries.
    const WORDS: &str = r#"{
        "version": "1.0",
        "truncation": { "max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
        "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "Whitespace" }, "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "a": 0, "few": 1, "words": 2, "?": 3 }, "unk_token": "?" }
    }"#;

    fn file(content: &str) -> (tempfile::TempDir, TokenizerFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        fs::write(&path, content).unwrap();
        (folder, TokenizerFile::new(path))
    }

    #[cfg(feature = "tokenizer-files")]
    #[test]
    fn a_tokenizer_counts_whole_texts() {
        let (_folder, file) = file(WORDS);
        assert_eq!(file.check(), Ok(()));
        assert_eq!(file.count("a few words, unknown ones"), Some(6));
        assert_eq!(file.count(""), Some(0));
        assert_eq!(file.count(&"words ".repeat(10_000)), Some(10_000));
    }

    #[cfg(not(feature = "tokenizer-files"))]
    #[test]
    fn a_build_without_the_library_says_how_to_get_it() {
        let (_folder, file) = file(WORDS);
        let problem = file.check().unwrap_err().to_string();
        assert!(problem.contains("--features tokenizer-files"), "{problem}");
        assert_eq!(file.check_metadata().unwrap_err().to_string(), problem);
        assert_eq!(file.count("a few words"), None);
    }

    #[cfg(feature = "tokenizer-files")]
    #[test]
    fn unusable_files_are_rejected_with_the_reason() {
        let (folder, broken) = file("{\"model\": 3}");
        assert!(matches!(broken.check(), Err(TokenizerFileError::Unusable { .. })), "{:?}", broken.check());
        assert_eq!(broken.count("text"), None);
        let absent = TokenizerFile::new(folder.path().join("absent.json"));
        assert!(matches!(absent.check(), Err(TokenizerFileError::Io { kind: io::ErrorKind::NotFound, .. })));
        let directory = TokenizerFile::new(folder.path());
        assert!(matches!(directory.check(), Err(TokenizerFileError::NotRegular(_))));
    }
}
