//! Chooses the excerpts of a prompt: excerpts for the question, pinned excerpts, and excerpts of earlier questions,
//! which keep their positions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::excerpts::{
    Candidate, CandidateFile, DismissedExcerpt, Excerpt, ExcerptBudget, ExcerptQuery, ExcerptReason,
    LineAges, PassageCache, PastCommit, candidate_files, definition_range, stands_alone,
};
use strata_code::symbols::{LexicalIndex, References, SymbolIndex};
use strata_conversation::history::History;
use strata_conversation::selection::{Choice, Extent, LineRange};
use strata_tokens::redaction::placeholders;

use super::current::{CurrentExcerpt, ExcerptSelection, ExcerptStanding, SourceFile};
use crate::assembly::{PromptRequest, Request, excerpt_dress};
use crate::layout::{Count, ExcerptKey, ExcerptPlace};
use crate::session::Session;
use crate::settings::Settings;

/// Maximum number of files to read for a question.
const MAX_CANDIDATES: usize = 100;
/// Maximum size of these files together, in bytes: three times that of a hundred large files of real code. Dividing a
/// megabyte into passages and screening it takes 50 ms.
const MAX_READ: usize = 16 << 20;
/// Number of later questions for which an excerpt is kept if the budget allows. This covers short messages that name no
/// code, such as a reply to a question from the model.
const KEPT_FOR: u64 = 2;

/// If the last prompt already showed excerpts, the budget for new code is the question's budget divided by this number.
/// Most relevant code was shown before, and content that is new in every prompt is never read from a cache.
const LATER: usize = 8;

/// Number of earlier questions whose words are searched too.
const EARLIER: usize = 2;

/// Repository data for choosing excerpts and the items of the context frame.
#[derive(Clone, Copy, Debug)]
pub struct ExcerptSources<'a> {
    /// Outlines of the repository's files.
    pub symbols: &'a SymbolIndex,
    pub references: &'a References,
    /// The word index of all files.
    pub lexical: &'a LexicalIndex,
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
pub struct Question<'a> {
    pub text: &'a str,
    /// The questions before, newest first, unless the question says by itself what it is about: "now the same for the
    /// other one" means little alone.
    pub earlier: String,
    /// Token limit for excerpts. Code that the prompt already shows counts too.
    pub budget: usize,
}

impl<'a> Question<'a> {
    /// Returns the question in `ask`, or `None` if the request contains no text from the user.
    pub fn of(ask: &'a PromptRequest, session: &Session, settings: &Settings) -> Option<Self> {
        let budget = ask.auto_budget.or(session.auto_budget).unwrap_or(settings.context.auto_budget);
        match &ask.request {
            Request::Prompt { text, .. } if !text.trim().is_empty() => {
                let earlier =
                    if stands_alone(text) { String::new() } else { earlier_questions(session, text) };
                Some(Self { text, earlier, budget })
            }
            _ => None,
        }
    }
}

/// Returns the last questions that the model sees, newest first, without `text` itself.
fn earlier_questions(session: &Session, text: &str) -> String {
    let questions = session.history.visible().filter(|message| History::begins_exchange(message));
    let texts = questions.rev().map(|message| message.text()).filter(|earlier| earlier != text);
    texts.take(EARLIER).collect::<Vec<_>>().join("\n")
}

/// Chooses the excerpts of a prompt. Without a `question`, as for tool results, the last question's excerpts are kept.
/// `read` returns a file's text and outline, or `None` if the file cannot be read. It is called for the files that may
/// be relevant and for those with excerpts in the session, without excluded ones.
///
/// # Errors
/// Returns the first error of `read`.
pub fn choose<E>(
    known: ExcerptSources<'_>,
    session: &Session,
    question: Option<Question<'_>>,
    read: impl FnMut(&FileKey) -> Result<Option<SourceFile>, E>,
    count: Count<'_>,
) -> Result<ExcerptSelection, E> {
    let question = question.as_ref();
    let candidates = question.map_or_else(Vec::new, |question| candidates(known, session, question));
    let best_first = candidates.iter().map(|candidate| &candidate.file);
    let (files, not_read) = read_files(&session.excerpts.files(), best_first, session, MAX_READ, read)?;
    Ok(ExcerptSelection { not_read, ..chosen_from(known, session, question, &candidates, &files, count) })
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
/// `read` is as in [`choose`].
///
/// # Errors
/// Returns the first error of `read`.
pub fn rank<E>(
    known: ExcerptSources<'_>,
    session: &Session,
    question: Question<'_>,
    read: impl FnMut(&FileKey) -> Result<Option<SourceFile>, E>,
    count: Count<'_>,
) -> Result<Vec<Excerpt>, E> {
    let candidates = candidates(known, session, &question);
    let best_first = candidates.iter().map(|candidate| &candidate.file);
    let (files, _) = read_files(&BTreeSet::new(), best_first, session, MAX_READ, read)?;
    let texts: Vec<Candidate<'_>> = candidates.iter().filter_map(|file| candidate(file, &files)).collect();
    let budget = question.budget.into();
    Ok(ranked(known, session, &question, &texts, &BTreeMap::new(), budget, count))
}

/// Ranks passages of the files in `texts`, best first. `shown` contains the lines that the prompt already shows.
fn ranked(
    known: ExcerptSources<'_>,
    session: &Session,
    question: &Question<'_>,
    texts: &[Candidate<'_>],
    shown: &BTreeMap<FileKey, Vec<Range<u32>>>,
    budget: ExcerptBudget,
    count: Count<'_>,
) -> Vec<Excerpt> {
    let interest = Interest::of(known, session);
    let query = interest.query(known, session, question, shown);
    let dress = |excerpt: &Excerpt| excerpt_dress(&key_of(excerpt));
    strata_code::excerpts::choose(known.passages, texts, &query, budget, &dress, count)
}

/// Finds the files to read for a question, best first.
fn candidates(known: ExcerptSources<'_>, session: &Session, question: &Question<'_>) -> Vec<CandidateFile> {
    if question.budget == 0 || question.text.trim().is_empty() {
        return Vec::new();
    }
    let interest = Interest::of(known, session);
    let shown = BTreeMap::new();
    let query = interest.query(known, session, question, &shown);
    let mut files = candidate_files(known.symbols, known.lexical, known.references, &query, MAX_CANDIDATES);
    files.retain(|candidate| !known.quoted.contains(&candidate.file));
    files
}

/// Chooses the excerpts from `files`: those of the candidates, and of the session, that could be read.
fn chosen_from(
    known: ExcerptSources<'_>,
    session: &Session,
    question: Option<&Question<'_>>,
    candidates: &[CandidateFile],
    files: &BTreeMap<FileKey, SourceFile>,
    count: Count<'_>,
) -> ExcerptSelection {
    let memory = &session.excerpts;
    let number = memory.questions + u64::from(question.is_some());
    let budget = question.map_or(0, |question| question.budget);
    let room = if memory.shown.is_empty() { budget } else { budget / LATER };
    let mut chosen = Chosen { session, files, number, room, count, items: BTreeMap::new() };
    let remembered: BTreeSet<&ExcerptKey> = memory.shown().chain(&memory.pinned).collect();
    for key in remembered {
        chosen.remember(key);
    }
    if let Some(question) = question.filter(|question| question.budget > 0) {
        let shown = chosen.shown_lines();
        let texts: Vec<Candidate<'_>> = candidates.iter().filter_map(|file| candidate(file, files)).collect();
        let kept = ExcerptBudget { all: budget, new: room };
        let ranked = ranked(known, session, question, &texts, &shown, kept, count);
        for (rank, excerpt) in (0..).zip(ranked) {
            chosen.take(&excerpt, rank);
        }
        chosen.keep_last(budget);
    }
    chosen.finish(budget)
}

fn candidate<'a>(file: &'a CandidateFile, files: &'a BTreeMap<FileKey, SourceFile>) -> Option<Candidate<'a>> {
    let SourceFile { file: read, symbols } = files.get(&file.file)?;
    let outline = symbols.as_ref().map(|symbols| &symbols.outline);
    Some(Candidate { file, outline, text: &read.text })
}

/// Files and excerpts of a session that affect the choice of new excerpts.
struct Interest {
    /// Open and selected files. Excerpts may be chosen from both, because selected text already counts toward the
    /// budget.
    near: Vec<FileKey>,
    dismissed: Vec<DismissedExcerpt>,
}

impl Interest {
    fn of(known: ExcerptSources<'_>, session: &Session) -> Self {
        let near: BTreeSet<FileKey> = session.selection.selected.keys().chain(known.open).cloned().collect();
        let dismissed = session.excerpts.dismissed.iter().map(|ExcerptKey { file, place }| {
            let (definition, ordinal, lines) = match place {
                ExcerptPlace::Definition { name, ordinal } => (Some(name.to_string()), *ordinal, 0..0),
                ExcerptPlace::Lines(lines) => (None, 0, lines.first() - 1..lines.last()),
            };
            DismissedExcerpt { file: file.clone(), definition, ordinal, lines }
        });
        Self { near: near.into_iter().collect(), dismissed: dismissed.collect() }
    }

    fn query<'a>(
        &'a self,
        known: ExcerptSources<'a>,
        session: &'a Session,
        question: &'a Question<'a>,
        shown: &'a BTreeMap<FileKey, Vec<Range<u32>>>,
    ) -> ExcerptQuery<'a> {
        ExcerptQuery {
            text: question.text,
            earlier: &question.earlier,
            open: &self.near,
            selected: &[],
            excluded: &session.selection.excluded,
            recency: known.recency,
            line_ages: known.line_ages,
            past: known.past,
            dismissed: &self.dismissed,
            shown,
        }
    }
}

fn key_of(excerpt: &Excerpt) -> ExcerptKey {
    let place = match &excerpt.definition {
        Some(name) => ExcerptPlace::definition(name, excerpt.ordinal),
        None => lines_of(&excerpt.lines),
    };
    ExcerptKey { file: excerpt.file.clone(), place }
}

/// Converts a zero-based line range to an excerpt's position in its file.
fn lines_of(lines: &Range<u32>) -> ExcerptPlace {
    let (first, last) = (lines.start + 1, lines.end.max(lines.start + 1));
    LineRange::new(first, last).map_or_else(|| ExcerptPlace::definition("", 0), ExcerptPlace::Lines)
}

/// Excerpts of a prompt while they are being chosen.
struct Chosen<'a> {
    session: &'a Session,
    files: &'a BTreeMap<FileKey, SourceFile>,
    /// One-based number of the question in the session.
    number: u64,
    /// Remaining tokens for new code.
    room: usize,
    count: Count<'a>,
    items: BTreeMap<ExcerptKey, CurrentExcerpt>,
}

impl<'a> Chosen<'a> {
    /// Adds an excerpt that the session remembers, with its current text.
    fn remember(&mut self, key: &ExcerptKey) {
        let memory = &self.session.excerpts;
        let shown = memory.shown.get(key);
        let is_pinned = memory.pinned.contains(key);
        let Some(source) = self.source(&key.file) else { return };
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
        let body = lines.clone().map_or("", |lines| body_of(&source.file.text, &lines));
        // An excerpt that was never shown and is not in the file needs no update.
        if body.is_empty() && shown.is_none() {
            return;
        }
        let question = shown.map_or(0, |shown| shown.question);
        let standing = if body.is_empty() {
            ExcerptStanding::Lingering
        } else if is_pinned {
            ExcerptStanding::Pinned
        } else if question == self.number {
            ExcerptStanding::Wanted
        } else {
            ExcerptStanding::Lingering
        };
        let reason = shown.and_then(|shown| shown.reason);
        let rank = shown.map_or(0, |shown| shown.rank);
        let lines = lines.filter(|_| !body.is_empty());
        let item = item(key.clone(), source, lines, reason, standing);
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
    fn take(&mut self, excerpt: &Excerpt, rank: u32) {
        let Some(source) = self.source(&excerpt.file) else { return };
        let touched = self.items.values_mut().filter(|item| item.key.file == excerpt.file);
        let mut covered = selected_lines(self.session, &excerpt.file);
        for item in touched {
            let Some(lines) = item.lines.clone().filter(|lines| overlap(lines, &excerpt.lines)) else {
                continue;
            };
            covered.push(lines);
            item.standing = item.standing.min(ExcerptStanding::Wanted);
            item.question = self.number;
            item.rank = rank;
            item.reason = Some(excerpt.reason);
        }
        let free = without(&excerpt.lines, covered);
        let is_whole = free.first() == Some(&excerpt.lines);
        for lines in free {
            let text = &source.file.text;
            if body_of(text, &lines).trim().is_empty() && !is_empty_file(text, &lines) {
                continue;
            }
            let place = if is_whole { key_of(excerpt).place } else { lines_of(&lines) };
            let key = ExcerptKey { file: excerpt.file.clone(), place };
            if self.session.excerpts.dismissed.contains(&key) {
                continue;
            }
            let item = item(key.clone(), source, Some(lines), Some(excerpt.reason), ExcerptStanding::Wanted);
            let tokens = weight(&item, self.count);
            if tokens > self.room {
                continue;
            }
            self.room -= tokens;
            self.items.insert(key, CurrentExcerpt { question: self.number, rank, ..item });
        }
    }

    /// Keeps excerpts that were chosen for the previous questions, latest first, as far as the remaining budget allows.
    fn keep_last(&mut self, budget: usize) {
        let count = self.count;
        let weight = |item: &CurrentExcerpt| weight(item, count);
        let wanted = self.items.values().filter(|item| item.standing == ExcerptStanding::Wanted);
        let mut left = budget.saturating_sub(wanted.map(weight).sum());
        let number = self.number;
        let mut earlier: Vec<&mut CurrentExcerpt> = self
            .items
            .values_mut()
            .filter(|item| {
                item.standing == ExcerptStanding::Lingering
                    && item.lines.is_some()
                    && item.question + KEPT_FOR >= number
            })
            .collect();
        earlier.sort_by_key(|item| (std::cmp::Reverse(item.question), item.rank));
        for item in earlier {
            let tokens = weight(&*item);
            if tokens <= left {
                left -= tokens;
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
        ExcerptSelection { items, question: self.number, allowance, not_read: 0 }
    }

    /// Returns a file from which excerpts may be chosen. Returns `None` if the file is selected as a whole, excluded,
    /// or could not be read.
    fn source(&self, file: &FileKey) -> Option<&'a SourceFile> {
        let selection = &self.session.selection;
        let is_whole = selection.selected.get(file) == Some(&Extent::Whole);
        let is_free = !is_whole && selection.choice(file) != Choice::Excluded;
        let files = self.files;
        files.get(file).filter(|_| is_free)
    }
}

/// Counts the tokens that an excerpt adds to a prompt, including its heading and fence.
fn weight(item: &CurrentExcerpt, count: Count<'_>) -> usize {
    count(&item.body) + count(&excerpt_dress(&item.key))
}

fn item(
    key: ExcerptKey,
    source: &SourceFile,
    lines: Option<Range<u32>>,
    reason: Option<ExcerptReason>,
    standing: ExcerptStanding,
) -> CurrentExcerpt {
    let file = &source.file;
    let body: Arc<str> = lines.clone().map_or("", |lines| body_of(&file.text, &lines)).into();
    let redacted = if file.redacted.is_empty() { 0 } else { placeholders(&body).count() };
    CurrentExcerpt {
        key,
        body,
        lines,
        source: file.source.clone(),
        hash: ContentHash::of(&file.text),
        redacted,
        reason,
        standing,
        question: 0,
        rank: 0,
    }
}

/// Returns the given zero-based lines of a text, and a blank line for a text that is empty, since an excerpt without text
/// is one that its file no longer contains.
fn body_of<'t>(text: &'t str, lines: &Range<u32>) -> &'t str {
    if is_empty_file(text, lines) {
        return "\n";
    }
    let Some(range) = LineRange::new(lines.start + 1, lines.end) else { return "" };
    crate::assembly::lines(text, &[range]).first().copied().unwrap_or_default()
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

fn overlap(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the parts of `lines` that `covered` does not overlap.
fn without(lines: &Range<u32>, mut covered: Vec<Range<u32>>) -> Vec<Range<u32>> {
    covered.retain(|other| overlap(other, lines));
    covered.sort_by_key(|range| range.start);
    let mut free = Vec::new();
    let mut start = lines.start;
    for other in covered {
        if other.start > start {
            free.push(start..other.start);
        }
        start = start.max(other.end);
    }
    if start < lines.end {
        free.push(start..lines.end);
    }
    free
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use strata_conversation::history::{NewMessage, Role};

    use super::*;
    use crate::assembly::{FileText, Source};

    #[test]
    fn large_files_leave_out_the_less_relevant_ones() {
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
    fn the_two_questions_before_count_unless_the_question_stands_alone() {
        let mut session = Session::new("s");
        let settings = Settings::default();
        let earlier = |session: &Session, text: &str| {
            Question::of(&PromptRequest::prompt(text), session, &settings).unwrap().earlier
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
    fn only_what_is_not_shown_is_left() {
        let left = |shown: &[(u32, u32)]| -> Vec<(u32, u32)> {
            let shown = shown.iter().map(|(from, to)| *from..*to).collect();
            without(&(3..10), shown).into_iter().map(|lines| (lines.start, lines.end)).collect()
        };
        assert_eq!(left(&[]), [(3, 10)]);
        assert_eq!(left(&[(8, 20), (0, 4), (5, 6)]), [(4, 5), (6, 8)]);
        assert_eq!(left(&[(0, 10)]), []);
        assert_eq!(left(&[(10, 12), (0, 3)]), [(3, 10)]);
    }
}
