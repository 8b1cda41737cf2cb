//! Selects the files that are worth reading for a question.

use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::excerpt::ExcerptQuery;
use crate::outline::Outline;
use crate::symbols::{LexicalIndex, Query, References, Seeds, SymbolIndex, scores};

/// Maximum bonus for a recently changed file. It affects whether the file is read, but not the scores of its
/// passages.
const RECENCY_BONUS: f64 = 0.3;
/// Bonus for an open file. It affects whether the file is read, but not the scores of its passages.
const OPEN_BONUS: f64 = 0.3;
/// Number of commits after which the bonus for recency is halved.
const RECENCY_HALF_LIFE: f64 = 7.5;
/// Factor for the score of a file in a role, such as tests, that the question does not ask for.
const UNREQUESTED_ROLE_FACTOR: f64 = 0.25;

/// A file that is worth reading for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateFile {
    pub file: FileKey,
    /// Relevance to the question, judged by path, names and references, between 0 and 1.
    pub relevance: f64,
    /// The file's role, if the question does not ask for files of that role; otherwise `None`.
    pub(super) unrequested_role: Option<FileRole>,
    /// Whether the question contains the file's path.
    pub(super) is_named: bool,
}

/// A file that may contribute excerpts, with its current text.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub file: &'a CandidateFile,
    pub outline: Option<&'a Outline>,
    pub text: &'a str,
}

/// The role of a file in a repository, judged by its path and language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRole {
    Source,
    Tests,
    Example,
    Document,
}

/// Returns at most `limit` files to read for a question, best first.
pub fn candidate_files(
    index: &SymbolIndex,
    lexical: &LexicalIndex,
    references: &References,
    query: &ExcerptQuery<'_>,
    limit: usize,
) -> Vec<CandidateFile> {
    let parsed_query = query.parse();
    let seeds = Seeds { open: query.open, selected: query.selected, ..Seeds::default() };
    let Some(scores) = scores(lexical, references, &parsed_query, &Query { text: query.text, seeds }) else {
        return Vec::new();
    };
    let named_files = parsed_query.named_files(lexical);
    let is_requested = |role: FileRole| parsed_query.words.iter().any(|(word, _)| role.is_requested_by(word));
    let unrequested_roles: Vec<FileRole> = [FileRole::Tests, FileRole::Example, FileRole::Document]
        .into_iter()
        .filter(|role| !is_requested(*role))
        .collect();
    let mut ranked: Vec<(f64, CandidateFile)> = Vec::new();
    for ((number, file), mut relevance) in lexical.files().zip(scores) {
        let key = &file.key;
        if query.selected.contains(key) || query.excluded.contains(key) {
            continue;
        }
        let role = FileRole::for_file(key, index.get(key).map(|symbols| symbols.language));
        let is_named = named_files.binary_search(&number).is_ok();
        let is_unrequested = unrequested_roles.contains(&role) && !is_named;
        if is_unrequested {
            relevance *= UNREQUESTED_ROLE_FACTOR;
        }
        let open_bonus = if query.open.contains(key) { OPEN_BONUS } else { 0.0 };
        let score = relevance
            + open_bonus
            + if is_unrequested {
                0.0
            } else {
                RECENCY_BONUS * recency_score(query.recency.get(key).copied())
            };
        if score > 0.0 {
            let unrequested_role = is_unrequested.then_some(role);
            ranked.push((score, CandidateFile { file: key.clone(), relevance, unrequested_role, is_named }));
        }
    }
    ranked.sort_by(|(a, a_file), (b, b_file)| b.total_cmp(a).then_with(|| a_file.file.cmp(&b_file.file)));
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, file)| file).collect()
}

/// Returns the recency of a file's last change, between 0 and 1. `age` is the number of commits since then; without
/// it, the recency is 0.
pub(super) fn recency_score(age: Option<u32>) -> f64 {
    age.map_or(0.0, |age| RECENCY_HALF_LIFE / (RECENCY_HALF_LIFE + f64::from(age)))
}

impl FileRole {
    fn for_file(key: &FileKey, language: Option<LanguageId>) -> Self {
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
    pub(super) fn is_requested_by(self, word: &str) -> bool {
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
