//! How long ranking takes on a large tree.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use strata_app::model::index::{Index, IndexInputs};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::{
    Excerpt, ExcerptCandidate, ExcerptQuery, PassageCache, PastCommit, candidate_files, choose,
};
use strata_code::symbols::{FileRelevance, LexicalIndex, RelevanceQuery};
use strata_host::outline_cache::OutlineCache;
use strata_host::roots::Roots;

use super::ours::FILES;
use super::{heading, tokens};

const BUDGET: usize = 8_000;
/// Questions as people ask them, about Django.
const QUESTIONS: [&str; 10] = [
    "Fix the queryset iterator when prefetch_related is used with chunk_size",
    "Admin changelist loses filters after an action",
    "Session cookies should be renewed when the password changes",
    "Make the migration autodetector keep the order of index operations",
    "Forms: DateField ignores the localized input format",
    "Prevent a crash of the template engine on recursive includes",
    "Cached static files manifest misses hashed import paths in CSS",
    "Add support for JSON functions in the Oracle backend",
    "Email attachments with non-ASCII names are broken",
    "runserver does not reload when a translation file changes",
];

pub(crate) fn measure(directory: &Path) {
    let Ok(roots) = Roots::single(directory) else {
        eprintln!("{}: no folder", directory.display());
        return;
    };
    let Ok(cache) = tempfile::tempdir() else { return };
    let cancel = Cancel::new();
    let cache = OutlineCache::in_directory(cache.path().to_owned());
    let Ok((index, _)) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), |_| ()) else {
        return;
    };
    let files = &index.files;
    let lexical = LexicalIndex::build(&index.symbols, files);
    let passages = PassageCache::default();
    let subjects = QUESTIONS.iter().cycle().zip(files.chunks(3)).take(400);
    let past: Vec<PastCommit> = subjects
        .map(|(subject, files)| PastCommit { subject: (*subject).to_owned(), files: files.to_vec() })
        .collect();
    let recency: BTreeMap<FileKey, u32> =
        files.iter().step_by(7).zip(0..).map(|(key, age)| (key.clone(), age)).collect();
    for round in ["first time", "again"] {
        let (mut naming, mut choosing) = (Vec::new(), Vec::new());
        for question in QUESTIONS {
            let (named, chosen) = ask(directory, &index, &lexical, &passages, &recency, &past, question);
            naming.push(named);
            choosing.push(chosen);
        }
        let both = naming.iter().zip(&choosing).map(|(a, b)| *a + *b);
        let p50 = |times: Vec<Duration>| times.into_iter().collect::<e2e::Times>().percentile(50);
        println!(
            "{} files, {BUDGET} tokens, {round}: {:.1?} a question (p50), of that {:.1?} to name {FILES} files, {:.1?} to choose",
            files.len(),
            p50(both.collect()),
            p50(naming.clone()),
            p50(choosing),
        );
    }
}

/// How long the two steps take; reading files in between does not count.
fn ask(
    directory: &Path,
    index: &Index,
    lexical: &LexicalIndex,
    passages: &PassageCache,
    recency: &BTreeMap<FileKey, u32>,
    past: &[PastCommit],
    text: &str,
) -> (Duration, Duration) {
    let excluded = std::collections::BTreeSet::new();
    let query = ExcerptQuery {
        text,
        earlier: "",
        open: &[],
        selected: &[],
        excluded: &excluded,
        recency,
        line_ages: &BTreeMap::new(),
        past,
        dismissed: &[],
        shown: &BTreeMap::new(),
    };
    let timer = Instant::now();
    let relevance =
        FileRelevance::new(lexical, &index.references, &RelevanceQuery { text, ..RelevanceQuery::default() });
    let files = candidate_files(&relevance, &query, FILES);
    let named = timer.elapsed();
    let texts: Vec<String> = files
        .iter()
        .map(|file| fs::read_to_string(directory.join(file.file.as_str())).unwrap_or_default())
        .collect();
    let outline = |key: &FileKey| index.symbols.get(key).map(|symbols| &symbols.outline);
    let candidates: Vec<ExcerptCandidate<'_>> = files
        .iter()
        .zip(&texts)
        .map(|(file, text)| ExcerptCandidate { file, outline: outline(&file.file), text })
        .collect();
    let heading = |excerpt: &Excerpt| heading(excerpt.file.as_str(), &excerpt.lines);
    let timer = Instant::now();
    choose(passages, &candidates, &query, BUDGET.into(), &heading, &tokens);
    (named, timer.elapsed())
}
