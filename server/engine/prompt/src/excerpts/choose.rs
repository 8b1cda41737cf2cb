//! Chooses the excerpts of a prompt: excerpts for the question, pinned excerpts, and excerpts of earlier questions,
//! which keep their positions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::excerpts::{
    CandidateFile, DismissedExcerpt, Excerpt, ExcerptBudget, ExcerptCandidate, ExcerptQuery, ExcerptReason,
    LineAges, PassageCache, PastCommit, candidate_files, definition_range, is_self_contained, join_questions,
    worthwhile_token_limit,
};
use strata_code::symbols::{FileRelevance, LexicalIndex, ReferenceGraph, RelevanceQuery, Seeds, SymbolIndex};
use strata_conversation::history::History;
use strata_conversation::selection::{Choice, Extent, LineRange};
use strata_tokens::redaction::placeholders;

use super::current::{CurrentExcerpt, ExcerptSelection, ExcerptStanding, SourceFile};
use crate::assembly::{PromptRequest, Request, excerpt_wrapper};
use crate::layout::{CountFn, ExcerptKey, ExcerptPlace};
use crate::session::Session;
use crate::settings::Settings;

/// Maximum number of files to read for a question.
const MAX_CANDIDATE_FILES: usize = 100;
/// Maximum size of these files together, in bytes: three times that of a hundred large files of real code. Dividing a
/// megabyte into passages and screening it takes 50 ms.
const MAX_TOTAL_READ_BYTES: usize = 16 << 20;
/// Number of later questions for which an excerpt is kept if the budget allows. This covers short messages that name no
/// code, such as a reply to a question from the model.
const EXCERPT_RETENTION_QUESTIONS: u64 = 2;

/// If the last prompt already showed excerpts, the budget for new code is the question's budget divided by this number.
/// Most relevant code was shown before, and content that is new in every prompt is never read from a cache.
const LATER_EXCERPT_BUDGET_DIVISOR: usize = 8;

/// Number of earlier questions whose words are searched too.
const EARLIER_QUESTIONS: usize = 2;

/// Repository data for choosing excerpts and the items of the context frame.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptSources<'a> {
    /// Outlines of the repository's files.
    pub symbols: &'a SymbolIndex,
    pub references: &'a ReferenceGraph,
    /// The relevance of all files to the question, from [`ExcerptQuestion::relevance`]. Without it, no file is searched.
    pub relevance: Option<&'a FileRelevance<'a>>,
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    /// Number of commits since the last change to each file.
    pub recency: &'a BTreeMap<FileKey, u32>,
    /// The ages of the lines of files that changed recently.
    pub line_ages: &'a BTreeMap<FileKey, LineAges>,
    /// The most recent commits, newest first.
    pub past: &'a [PastCommit],
    pub passages: &'a PassageCache,
    /// Files whose text the prompt contains anyway, so that no new excerpts come from them.
    pub quoted: &'a [FileKey],
}

/// A question, with its budget for excerpts.
#[derive(Clone, Debug)]
pub struct ExcerptQuestion<'a> {
    pub text: &'a str,
    /// The questions before, newest first, unless the question says by itself what it is about: "now the same for the
    /// other one" means little alone.
    pub earlier: String,
    /// Token limit for excerpts. Code that the prompt already shows counts too.
    pub budget: usize,
    /// Token limit for the excerpts of a prompt after one without excerpts.
    pub first_budget: usize,
}

impl<'a> ExcerptQuestion<'a> {
    /// Returns the question in `prompt_request`, or `None` if the request contains no text from the user.
    pub fn from_request(
        prompt_request: &'a PromptRequest,
        session: &Session,
        settings: &Settings,
    ) -> Option<Self> {
        let requested = prompt_request.auto_budget;
        let budget = requested.or(session.auto_budget).unwrap_or(settings.context.auto_budget);
        match &prompt_request.request {
            Request::Prompt { text, .. } if !text.trim().is_empty() => {
                let earlier =
                    if is_self_contained(text) { String::new() } else { earlier_questions(session, text) };
                let first_budget = requested.unwrap_or_else(|| worthwhile_token_limit(text, budget));
                Some(Self { text, earlier, budget, first_budget })
            }
            _ => None,
        }
    }

    /// Returns the relevance of all files to the question and the questions before, beginning at open and selected
    /// files.
    pub fn relevance<'l>(
        &self,
        lexical: &'l LexicalIndex,
        references: &ReferenceGraph,
        session: &Session,
        open: &[FileKey],
    ) -> FileRelevance<'l> {
        let open = open_or_selected(session, open);
        let seeds = Seeds { open: &open, ..Seeds::default() };
        FileRelevance::new(
            lexical,
            references,
            &RelevanceQuery { text: &join_questions(self.text, &self.earlier), seeds },
        )
    }
}

/// Returns the last questions that the model sees, newest first, without `text` itself.
fn earlier_questions(session: &Session, text: &str) -> String {
    let questions = session.history.visible_messages().filter(|message| History::begins_exchange(message));
    let texts = questions.rev().map(|message| message.text()).filter(|earlier| earlier != text);
    texts.take(EARLIER_QUESTIONS).collect::<Vec<_>>().join("\n")
}

/// Chooses the excerpts of a prompt. Without a `question`, as for tool results, the last question's excerpts are kept.
/// `read` returns a file's text and outline, or `None` if the file cannot be read. It is called for the files that may
/// be relevant and for those with excerpts in the session, without excluded ones.
///
/// # Errors
/// Returns the first error of `read`.
pub fn choose_excerpts<E>(
    sources: ExcerptSources<'_>,
    session: &Session,
    question: Option<ExcerptQuestion<'_>>,
    read: impl FnMut(&FileKey) -> Result<Option<SourceFile>, E>,
    count: CountFn<'_>,
) -> Result<ExcerptSelection, E> {
    let question = question.as_ref();
    let candidates =
        question.map_or_else(Vec::new, |question| rank_candidate_files(sources, session, question));
    let best_first = candidates.iter().map(|candidate| &candidate.file);
    let (files, not_read) =
        read_files(&session.excerpts.files(), best_first, session, MAX_TOTAL_READ_BYTES, read)?;
    Ok(ExcerptSelection {
        not_read,
        ..choose_from_files(sources, session, question, &candidates, &files, count)
    })
}

/// Reads the files in `remembered`, whose excerpts keep their positions, and `best_first` until all of them have
/// `max_bytes`. Also returns the number of files that were not read for that reason. Omits excluded files.
fn read_files<'a, E>(
    remembered: &BTreeSet<&'a FileKey>,
    best_first: impl Iterator<Item = &'a FileKey>,
    session: &Session,
    max_bytes: usize,
    mut read: impl FnMut(&FileKey) -> Result<Option<SourceFile>, E>,
) -> Result<(BTreeMap<FileKey, SourceFile>, usize), E> {
    let (mut files, mut bytes, mut not_read) = (BTreeMap::new(), 0, 0);
    let best_first = best_first.filter(|key| !remembered.contains(key)).map(|key| (key, false));
    for (key, is_remembered) in remembered.iter().map(|key| (*key, true)).chain(best_first) {
        if session.selection.choice(key) == Choice::Excluded {
            continue;
        }
        if bytes >= max_bytes && !is_remembered {
            not_read += 1;
        } else if let Some(file) = read(key)? {
            bytes += file.file.text.len();
            files.insert(key.clone(), file);
        }
    }
    Ok((files, not_read))
}

/// Ranks the code for a question as for a prompt, best first, but regardless of excerpts that prompts have already shown.
/// `read` is as in [`choose_excerpts`].
///
/// # Errors
/// Returns the first error of `read`.
pub fn rank_excerpts<E>(
    sources: ExcerptSources<'_>,
    session: &Session,
    question: ExcerptQuestion<'_>,
    read: impl FnMut(&FileKey) -> Result<Option<SourceFile>, E>,
    count: CountFn<'_>,
) -> Result<Vec<Excerpt>, E> {
    let candidates = rank_candidate_files(sources, session, &question);
    let best_first = candidates.iter().map(|candidate| &candidate.file);
    let (files, _) = read_files(&BTreeSet::new(), best_first, session, MAX_TOTAL_READ_BYTES, read)?;
    let candidate_texts: Vec<ExcerptCandidate<'_>> =
        candidates.iter().filter_map(|file| to_excerpt_candidate(file, &files)).collect();
    let budget = question.budget.into();
    Ok(rank_passages(sources, session, &question, &candidate_texts, &BTreeMap::new(), budget, count))
}

/// Ranks passages of the files in `texts`, best first. `shown` contains the lines that the prompt already shows.
fn rank_passages(
    sources: ExcerptSources<'_>,
    session: &Session,
    question: &ExcerptQuestion<'_>,
    candidate_texts: &[ExcerptCandidate<'_>],
    shown: &BTreeMap<FileKey, Vec<Range<u32>>>,
    budget: ExcerptBudget,
    count: CountFn<'_>,
) -> Vec<Excerpt> {
    let context = ExcerptContext::new(sources, session);
    let query = context.query(sources, session, question, shown);
    let wrapper = |excerpt: &Excerpt| excerpt_wrapper(&excerpt_key(excerpt));
    strata_code::excerpts::choose(sources.passages, candidate_texts, &query, budget, &wrapper, count)
}

/// Finds the files to read for a question, best first.
fn rank_candidate_files(
    sources: ExcerptSources<'_>,
    session: &Session,
    question: &ExcerptQuestion<'_>,
) -> Vec<CandidateFile> {
    let Some(relevance) = sources.relevance.filter(|_| question.budget > 0) else { return Vec::new() };
    let context = ExcerptContext::new(sources, session);
    let shown = BTreeMap::new();
    let query = context.query(sources, session, question, &shown);
    let mut files = candidate_files(relevance, &query, MAX_CANDIDATE_FILES);
    files.retain(|candidate| !sources.quoted.contains(&candidate.file));
    files
}

/// Chooses the excerpts from `files`: those of the candidates, and of the session, that could be read.
fn choose_from_files(
    sources: ExcerptSources<'_>,
    session: &Session,
    question: Option<&ExcerptQuestion<'_>>,
    candidates: &[CandidateFile],
    files: &BTreeMap<FileKey, SourceFile>,
    count: CountFn<'_>,
) -> ExcerptSelection {
    let memory = &session.excerpts;
    let question_number = memory.questions + u64::from(question.is_some());
    let (budget, first_budget) = question.map_or((0, 0), |question| (question.budget, question.first_budget));
    let new_tokens_left =
        if memory.shown.is_empty() { first_budget } else { first_budget / LATER_EXCERPT_BUDGET_DIVISOR };
    let mut chooser =
        ExcerptChooser { session, files, question_number, new_tokens_left, count, items: BTreeMap::new() };
    let remembered: BTreeSet<&ExcerptKey> = memory.shown_keys().chain(&memory.pinned).collect();
    for key in remembered {
        chooser.add_remembered(key);
    }
    if let Some(question) = question.filter(|question| question.budget > 0) {
        let shown = chooser.shown_lines();
        let candidate_texts: Vec<ExcerptCandidate<'_>> =
            candidates.iter().filter_map(|file| to_excerpt_candidate(file, files)).collect();
        let excerpt_budget = ExcerptBudget { all: budget, new: new_tokens_left };
        let ranked =
            rank_passages(sources, session, question, &candidate_texts, &shown, excerpt_budget, count);
        for (rank, excerpt) in (0..).zip(ranked) {
            chooser.add_chosen(&excerpt, rank);
        }
        chooser.retain_recent_excerpts(budget);
    }
    chooser.finish(budget)
}

fn to_excerpt_candidate<'a>(
    file: &'a CandidateFile,
    files: &'a BTreeMap<FileKey, SourceFile>,
) -> Option<ExcerptCandidate<'a>> {
    let SourceFile { file: read_file, symbols } = files.get(&file.file)?;
    let outline = symbols.as_ref().map(|symbols| &symbols.outline);
    Some(ExcerptCandidate { file, outline, text: &read_file.text })
}

/// Files and excerpts of a session that affect the choice of new excerpts.
struct ExcerptContext {
    /// Open and selected files. Excerpts may be chosen from both, because selected text already counts toward the
    /// budget.
    open_or_selected: Vec<FileKey>,
    dismissed: Vec<DismissedExcerpt>,
}

impl ExcerptContext {
    fn new(sources: ExcerptSources<'_>, session: &Session) -> Self {
        let dismissed = session.excerpts.dismissed.iter().map(|ExcerptKey { file, place }| {
            let (definition, ordinal, lines) = match place {
                ExcerptPlace::Definition { name, ordinal } => (Some(name.to_string()), *ordinal, 0..0),
                ExcerptPlace::Lines(lines) => (None, 0, lines.first() - 1..lines.last()),
            };
            DismissedExcerpt { file: file.clone(), definition, ordinal, lines }
        });
        Self { open_or_selected: open_or_selected(session, sources.open), dismissed: dismissed.collect() }
    }

    fn query<'a>(
        &'a self,
        sources: ExcerptSources<'a>,
        session: &'a Session,
        question: &'a ExcerptQuestion<'a>,
        shown: &'a BTreeMap<FileKey, Vec<Range<u32>>>,
    ) -> ExcerptQuery<'a> {
        ExcerptQuery {
            text: question.text,
            earlier: &question.earlier,
            open: &self.open_or_selected,
            selected: &[],
            excluded: &session.selection.excluded,
            recency: sources.recency,
            line_ages: sources.line_ages,
            past: sources.past,
            dismissed: &self.dismissed,
            shown,
        }
    }
}

/// Returns the open and selected files in key order.
fn open_or_selected(session: &Session, open: &[FileKey]) -> Vec<FileKey> {
    let files: BTreeSet<&FileKey> = session.selection.selected.keys().chain(open).collect();
    files.into_iter().cloned().collect()
}

fn excerpt_key(excerpt: &Excerpt) -> ExcerptKey {
    let place = match &excerpt.definition {
        Some(name) => ExcerptPlace::definition(name, excerpt.ordinal),
        None => place_from_lines(&excerpt.lines),
    };
    ExcerptKey { file: excerpt.file.clone(), place }
}

/// Converts a zero-based line range to an excerpt's position in its file.
fn place_from_lines(lines: &Range<u32>) -> ExcerptPlace {
    let (first, last) = (lines.start + 1, lines.end.max(lines.start + 1));
    LineRange::new(first, last).map_or_else(|| ExcerptPlace::definition("", 0), ExcerptPlace::Lines)
}

/// Excerpts of a prompt while they are being chosen.
struct ExcerptChooser<'a> {
    session: &'a Session,
    files: &'a BTreeMap<FileKey, SourceFile>,
    /// One-based number of the question in the session.
    question_number: u64,
    /// Remaining tokens for new code.
    new_tokens_left: usize,
    count: CountFn<'a>,
    items: BTreeMap<ExcerptKey, CurrentExcerpt>,
}

impl<'a> ExcerptChooser<'a> {
    /// Adds an excerpt that the session remembers, with its current text.
    fn add_remembered(&mut self, key: &ExcerptKey) {
        let memory = &self.session.excerpts;
        let shown = memory.shown.get(key);
        let is_pinned = memory.pinned.contains(key);
        let Some(source) = self.excerpt_source(&key.file) else { return };
        let lines = match (&key.place, shown) {
            (ExcerptPlace::Definition { name, ordinal }, _) => {
                let outline = source.symbols.as_ref().map(|symbols| &symbols.outline);
                outline
                    .and_then(|outline| definition_range(outline, &source.file.text, name, *ordinal))
                    .map(|(lines, _)| lines)
            }
            (ExcerptPlace::Lines(_), Some(shown)) if is_empty_file(&source.file.text, &shown.lines) => {
                Some(0..1)
            }
            (ExcerptPlace::Lines(_), Some(shown)) => {
                shown.anchor.find(&source.file.text, shown.lines.clone())
            }
            (ExcerptPlace::Lines(lines), None) => Some(lines.first() - 1..lines.last()),
        };
        let body = lines.clone().map_or("", |lines| excerpt_body(&source.file.text, &lines));
        // An excerpt that was never shown and is not in the file needs no update.
        if body.is_empty() && shown.is_none() {
            return;
        }
        let question = shown.map_or(0, |shown| shown.question);
        let standing = if body.is_empty() {
            ExcerptStanding::Lingering
        } else if is_pinned {
            ExcerptStanding::Pinned
        } else if question == self.question_number {
            ExcerptStanding::Wanted
        } else {
            ExcerptStanding::Lingering
        };
        let reason = shown.and_then(|shown| shown.reason);
        let rank = shown.map_or(0, |shown| shown.rank);
        let lines = lines.filter(|_| !body.is_empty());
        let item = current_excerpt(key.clone(), source, lines, reason, standing);
        self.items.insert(key.clone(), CurrentExcerpt { question, rank, ..item });
    }

    /// Returns the zero-based line ranges, by file, that the prompt shows before any excerpt is chosen for the
    /// question.
    fn shown_lines(&self) -> BTreeMap<FileKey, Vec<Range<u32>>> {
        let selected = self.session.selection.selected.keys();
        let mut shown: BTreeMap<FileKey, Vec<Range<u32>>> =
            selected.map(|file| (file.clone(), selected_lines(self.session, file))).collect();
        for item in self.items.values() {
            shown.entry(item.key.file.clone()).or_default().extend(item.lines.clone());
        }
        shown
    }

    /// Adds an excerpt chosen for the question, except for lines that are already shown.
    fn add_chosen(&mut self, excerpt: &Excerpt, rank: u32) {
        let Some(source) = self.excerpt_source(&excerpt.file) else { return };
        let same_file = self.items.values_mut().filter(|item| item.key.file == excerpt.file);
        let mut covered = selected_lines(self.session, &excerpt.file);
        for item in same_file {
            let Some(lines) = item.lines.clone().filter(|lines| overlaps(lines, &excerpt.lines)) else {
                continue;
            };
            covered.push(lines);
            item.standing = item.standing.min(ExcerptStanding::Wanted);
            item.question = self.question_number;
            item.rank = rank;
            item.reason = Some(excerpt.reason);
        }
        let uncovered = uncovered_parts(&excerpt.lines, covered);
        let is_entire_excerpt = uncovered.first() == Some(&excerpt.lines);
        for lines in uncovered {
            let text = &source.file.text;
            if excerpt_body(text, &lines).trim().is_empty() && !is_empty_file(text, &lines) {
                continue;
            }
            let place = if is_entire_excerpt { excerpt_key(excerpt).place } else { place_from_lines(&lines) };
            let key = ExcerptKey { file: excerpt.file.clone(), place };
            if self.session.excerpts.dismissed.contains(&key) {
                continue;
            }
            let item = current_excerpt(
                key.clone(),
                source,
                Some(lines),
                Some(excerpt.reason),
                ExcerptStanding::Wanted,
            );
            let tokens = excerpt_tokens(&item, self.count);
            if tokens > self.new_tokens_left {
                continue;
            }
            self.new_tokens_left -= tokens;
            self.items.insert(key, CurrentExcerpt { question: self.question_number, rank, ..item });
        }
    }

    /// Keeps excerpts that were chosen for the previous questions, latest first, as far as the remaining budget allows.
    fn retain_recent_excerpts(&mut self, budget: usize) {
        let count = self.count;
        let excerpt_tokens = |item: &CurrentExcerpt| excerpt_tokens(item, count);
        let chosen_items = self.items.values().filter(|item| item.standing == ExcerptStanding::Wanted);
        let mut tokens_left = budget.saturating_sub(chosen_items.map(excerpt_tokens).sum());
        let question_number = self.question_number;
        let mut earlier: Vec<&mut CurrentExcerpt> = self
            .items
            .values_mut()
            .filter(|item| {
                item.standing == ExcerptStanding::Lingering
                    && item.lines.is_some()
                    && item.question + EXCERPT_RETENTION_QUESTIONS >= question_number
            })
            .collect();
        earlier.sort_by_key(|item| (std::cmp::Reverse(item.question), item.rank));
        for item in earlier {
            let tokens = excerpt_tokens(&*item);
            if tokens <= tokens_left {
                tokens_left -= tokens;
                item.standing = ExcerptStanding::Wanted;
            }
        }
    }

    fn finish(self, allowance: usize) -> ExcerptSelection {
        let mut items: Vec<CurrentExcerpt> = self.items.into_values().collect();
        items.sort_by(|one, other| {
            let order = |item: &CurrentExcerpt| (item.standing, std::cmp::Reverse(item.question), item.rank);
            order(one).cmp(&order(other)).then_with(|| one.key.cmp(&other.key))
        });
        ExcerptSelection { items, question: self.question_number, allowance, not_read: 0 }
    }

    /// Returns a file from which excerpts may be chosen. Returns `None` if the file is selected as a whole, excluded,
    /// or could not be read.
    fn excerpt_source(&self, file: &FileKey) -> Option<&'a SourceFile> {
        let selection = &self.session.selection;
        let is_whole_file = selection.selected.get(file) == Some(&Extent::Whole);
        let is_free = !is_whole_file && selection.choice(file) != Choice::Excluded;
        let files = self.files;
        files.get(file).filter(|_| is_free)
    }
}

/// Counts the tokens that an excerpt adds to a prompt, including its heading and fence.
fn excerpt_tokens(item: &CurrentExcerpt, count: CountFn<'_>) -> usize {
    count(&item.body) + count(&excerpt_wrapper(&item.key))
}

fn current_excerpt(
    key: ExcerptKey,
    source: &SourceFile,
    lines: Option<Range<u32>>,
    reason: Option<ExcerptReason>,
    standing: ExcerptStanding,
) -> CurrentExcerpt {
    let file = &source.file;
    let body: Arc<str> = lines.clone().map_or("", |lines| excerpt_body(&file.text, &lines)).into();
    let redacted = if file.redacted.is_empty() { 0 } else { placeholders(&body).count() };
    CurrentExcerpt {
        key,
        body,
        lines,
        source: file.source.clone(),
        hash: ContentHash::from_text(&file.text),
        redacted,
        reason,
        standing,
        question: 0,
        rank: 0,
    }
}

/// Returns the given zero-based lines of a text, and a blank line for a text that is empty, since an excerpt without text
/// is one that its file no longer contains.
fn excerpt_body<'t>(text: &'t str, lines: &Range<u32>) -> &'t str {
    if is_empty_file(text, lines) {
        return "\n";
    }
    let Some(range) = LineRange::new(lines.start + 1, lines.end) else { return "" };
    crate::assembly::texts_of_line_ranges(text, &[range]).first().copied().unwrap_or_default()
}

/// Whether the lines are those of an excerpt that shows that its file is empty.
fn is_empty_file(text: &str, lines: &Range<u32>) -> bool {
    *lines == (0..1) && text.trim().is_empty()
}

/// Returns the zero-based ranges of a file's selected lines.
fn selected_lines(session: &Session, file: &FileKey) -> Vec<Range<u32>> {
    match session.selection.selected.get(file) {
        Some(Extent::Lines(ranges)) => ranges.iter().map(|range| range.first() - 1..range.last()).collect(),
        Some(Extent::Whole) | None => Vec::new(),
    }
}

fn overlaps(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the parts of `lines` that `covered` does not overlap.
fn uncovered_parts(lines: &Range<u32>, mut covered: Vec<Range<u32>>) -> Vec<Range<u32>> {
    covered.retain(|other| overlaps(other, lines));
    covered.sort_by_key(|range| range.start);
    let mut parts = Vec::new();
    let mut start = lines.start;
    for other in covered {
        if other.start > start {
            parts.push(start..other.start);
        }
        start = start.max(other.end);
    }
    if start < lines.end {
        parts.push(start..lines.end);
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use strata_conversation::history::{NewMessage, Role};

    use super::*;
    use crate::assembly::{FileText, Source};

    #[test]
    fn files_beyond_the_byte_limit_are_not_read() {
        let mut session = Session::new("s");
        let keys = ["a", "b", "c", "d"].map(FileKey::from);
        session.selection.excluded.insert(keys[1].clone());
        let read = |max_bytes: usize| {
            let read = |key: &FileKey| {
                let file = FileText::new("x".repeat(10).into(), Source::Given);
                Ok::<_, Infallible>((key.as_str() != "c").then_some(SourceFile { file, symbols: None }))
            };
            let Ok((files, not_read)) =
                read_files(&session.excerpts.files(), keys.iter(), &session, max_bytes, read);
            (files.keys().map(|key| key.as_str().to_owned()).collect::<Vec<_>>().concat(), not_read)
        };
        assert_eq!(read(11), ("ad".to_owned(), 0));
        assert_eq!(read(10), ("a".to_owned(), 2));
        assert_eq!(read(0), (String::new(), 3));
    }

    #[test]
    fn the_last_two_questions_are_searched_unless_the_question_stands_alone() {
        let mut session = Session::new("s");
        let settings = Settings::default();
        let earlier = |session: &Session, text: &str| {
            ExcerptQuestion::from_request(&PromptRequest::prompt(text), session, &settings).unwrap().earlier
        };
        assert_eq!(earlier(&session, "Do the same there."), "");
        for question in ["Rename the parser.", "Add a lexer.", "Cache the tokens."] {
            session.history.add(NewMessage::text(Role::User, question));
            session.history.add(NewMessage::text(Role::Assistant, "Done."));
        }
        for short in ["Do the same there.", "Look at src/lexer.rs.", "Why is it slow?"] {
            assert_eq!(earlier(&session, short), "Cache the tokens.\nAdd a lexer.");
        }
        assert_eq!(earlier(&session, "Cache the tokens."), "Add a lexer.\nRename the parser.");
        for complete in ["Why is `Lexer` slow?".to_owned(), "It fails with this error. ".repeat(20)] {
            assert_eq!(earlier(&session, &complete), "");
        }
    }

    #[test]
    fn the_kind_of_a_request_without_a_budget_of_its_own_decides_how_much_code_it_gets() {
        let session = Session::new("s");
        let budgets = |text: &str, auto_budget: Option<usize>| {
            let request = PromptRequest { auto_budget, ..PromptRequest::prompt(text) };
            let question = ExcerptQuestion::from_request(&request, &session, &Settings::default()).unwrap();
            (question.budget, question.first_budget)
        };
        assert_eq!(budgets("Where is the cache?", None), (6_000, 3_000));
        assert_eq!(budgets("Where is the cache?", Some(2_000)), (2_000, 2_000));
        assert_eq!(budgets("Add a cache.", None), (6_000, 4_000));
        assert_eq!(budgets(&"It fails with this error. ".repeat(20), None), (6_000, 6_000));
    }

    #[test]
    fn uncovered_parts_exclude_lines_already_shown() {
        let uncovered = |shown: &[(u32, u32)]| -> Vec<(u32, u32)> {
            let shown = shown.iter().map(|(from, to)| *from..*to).collect();
            uncovered_parts(&(3..10), shown).into_iter().map(|lines| (lines.start, lines.end)).collect()
        };
        assert_eq!(uncovered(&[]), [(3, 10)]);
        assert_eq!(uncovered(&[(8, 20), (0, 4), (5, 6)]), [(4, 5), (6, 8)]);
        assert_eq!(uncovered(&[(0, 10)]), []);
        assert_eq!(uncovered(&[(10, 12), (0, 3)]), [(3, 10)]);
    }
}
