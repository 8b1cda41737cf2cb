//! Tells source files from tests, examples and documents.

use strata_base::key::FileKey;
use strata_grammars::LanguageId;

/// The role of a file in a repository, judged by its path and language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    Source,
    Tests,
    Example,
    Document,
}

impl FileRole {
    /// Returns the role of a file. A file without an outline has no `language`.
    pub(super) fn for_file(key: &FileKey, language: Option<LanguageId>) -> Self {
        let Some(language) = language.filter(|language| !language.is_document()) else {
            return Self::Document;
        };
        if language.is_test_file(key.as_str()) {
            return Self::Tests;
        }
        let is_example = |part: &str| {
            let part = part.to_ascii_lowercase();
            ["example", "examples", "fixtures", "fixture", "docs", "doc", "benches", "bench"]
                .contains(&&*part)
        };
        let directories = key.as_str().rsplit_once('/').map_or("", |(directories, _)| directories);
        if directories.split('/').any(is_example) { Self::Example } else { Self::Source }
    }

    /// Whether `word` in a question asks for files of this role.
    pub(crate) fn is_requested_by(self, word: &str) -> bool {
        match self {
            Self::Source => true,
            Self::Tests => matches!(word, "test" | "spec" | "fixtur" | "bench"),
            Self::Example => matches!(word, "exampl" | "sampl" | "demo" | "bench" | "fixtur" | "doc"),
            Self::Document => matches!(
                word,
                "doc"
                    | "document"
                    | "documentation"
                    | "readm"
                    | "changelog"
                    | "config"
                    | "configuration"
                    | "ci"
                    | "workflow"
                    | "typo"
            ),
        }
    }
}
