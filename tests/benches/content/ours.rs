//! Strata's excerpts, as a prompt asks for them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use strata_code::excerpts::{
    CandidateFile, Excerpt, ExcerptCandidate, ExcerptQuery, PassageCache, candidate_files, choose,
};
use strata_code::symbols::{FileRelevance, RelevanceQuery};

use super::history::{Past, Tree};
use super::{ShownLines, heading, tokens};

/// How many files are read for a question.
pub(crate) const FILES: usize = 100;

#[derive(Default)]
pub(crate) struct Excerpts {
    passages: PassageCache,
}

/// The files that were read for a question.
pub(crate) struct Question<'a> {
    tree: &'a Tree,
    excerpts: &'a Excerpts,
    subject: &'a str,
    past: &'a Past,
    files: Vec<CandidateFile>,
    /// How long ranking took, with the passages of files known.
    pub(crate) time: Duration,
}

impl Excerpts {
    pub(crate) fn rank<'a>(&'a self, tree: &'a Tree, subject: &'a str, past: &'a Past) -> Question<'a> {
        let mut question =
            Question { tree, excerpts: self, subject, past, files: Vec::new(), time: Duration::ZERO };
        question.with_query(|query| candidate_files(&relevance(tree, query), query, FILES));
        let timer = Instant::now();
        question.files = question.with_query(|query| candidate_files(&relevance(tree, query), query, FILES));
        let naming = timer.elapsed();
        question.shown(8_000);
        let timer = Instant::now();
        question.shown(8_000);
        question.time = naming + timer.elapsed();
        question
    }
}

fn relevance<'a>(tree: &'a Tree, query: &ExcerptQuery<'_>) -> FileRelevance<'a> {
    FileRelevance::new(
        &tree.lexical,
        &tree.references,
        &RelevanceQuery { text: query.text, ..RelevanceQuery::default() },
    )
}

impl Question<'_> {
    /// What is chosen within a budget.
    pub(crate) fn shown(&self, budget: usize) -> ShownLines {
        let candidates: Vec<ExcerptCandidate<'_>> = self
            .files
            .iter()
            .filter_map(|file| {
                let text = self.tree.texts.get(file.file.as_str())?;
                let outline = self.tree.symbols.get(&file.file).map(|symbols| &symbols.outline);
                Some(ExcerptCandidate { file, outline, text })
            })
            .collect();
        let heading = |excerpt: &Excerpt| heading(excerpt.file.as_str(), &excerpt.lines);
        let chosen = self.with_query(|query| {
            choose(&self.excerpts.passages, &candidates, query, budget.into(), &heading, &tokens)
        });
        let mut shown = ShownLines::default();
        chosen.into_iter().for_each(|excerpt| shown.add(excerpt.file.as_str(), excerpt.lines));
        shown
    }

    fn with_query<T>(&self, run: impl FnOnce(&ExcerptQuery<'_>) -> T) -> T {
        run(&ExcerptQuery {
            text: self.subject,
            earlier: "",
            open: &[],
            selected: &[],
            excluded: &BTreeSet::new(),
            recency: &self.past.recency,
            line_ages: &self.past.line_ages,
            past: &self.past.commits,
            dismissed: &[],
            shown: &BTreeMap::new(),
        })
    }
}
