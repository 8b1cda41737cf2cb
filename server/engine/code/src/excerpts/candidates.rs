//! Selects the files that are worth reading for a question.

use strata_base::key::FileKey;

use super::excerpt::ExcerptQuery;
use crate::outline::Outline;
use crate::symbols::{FileRelevance, FileRole, sort_and_truncate};

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
pub struct ExcerptCandidate<'a> {
    pub file: &'a CandidateFile,
    pub outline: Option<&'a Outline>,
    pub text: &'a str,
}

/// Returns at most `limit` files to read for a question, best first.
pub fn candidate_files(
    file_relevance: &FileRelevance<'_>,
    query: &ExcerptQuery<'_>,
    limit: usize,
) -> Vec<CandidateFile> {
    let parsed_query = &file_relevance.query;
    let named_files = parsed_query.named_files(file_relevance.lexical());
    let is_requested = |role: FileRole| parsed_query.words.iter().any(|(word, _)| role.is_requested_by(word));
    let unrequested_roles: Vec<FileRole> = [FileRole::Tests, FileRole::Example, FileRole::Document]
        .into_iter()
        .filter(|role| !is_requested(*role))
        .collect();
    let mut ranked: Vec<(f64, CandidateFile)> = Vec::new();
    for (number, file, mut relevance) in file_relevance.files() {
        let (key, role) = (&file.key, file.role);
        if query.selected.contains(key) || query.excluded.contains(key) {
            continue;
        }
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
    let best_first = |(a, a_file): &(f64, CandidateFile), (b, b_file): &(f64, CandidateFile)| {
        b.total_cmp(a).then_with(|| a_file.file.cmp(&b_file.file))
    };
    sort_and_truncate(&mut ranked, limit, best_first);
    ranked.into_iter().map(|(_, file)| file).collect()
}

/// Returns the recency of a file's last change, between 0 and 1. `age` is the number of commits since then; without
/// it, the recency is 0.
pub(super) fn recency_score(age: Option<u32>) -> f64 {
    age.map_or(0.0, |age| RECENCY_HALF_LIFE / (RECENCY_HALF_LIFE + f64::from(age)))
}
