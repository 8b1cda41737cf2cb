//! Reads a finished prompt block by block in order, as a model does, and checks what `docs/tiers.md` promises of every
//! prompt. Independent of the policies: depends on their wording, but not on their state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::Speaker;
use strata_conversation::selection::{Choice, Extent};
use strata_prompt::assembly::{
    PreparedPrompt, PromptRequest, PromptServices, WarningCode, Workspace, map_budget, texts_of_line_ranges,
};
use strata_prompt::diff;
use strata_prompt::excerpts::ExcerptSelection;
use strata_prompt::layout::{ItemKey, LayoutBlock, Part, inline_code};
use strata_prompt::session::Session;
use strata_prompt::tiers::edits_in_answer_block;
use strata_prompt::wire::Body;
use strata_tokens::cost::Charge;
use strata_tokens::models::CacheKind;

/// A promise that a prompt breaks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum BrokenPromise {
    /// Reading the prompt in order does not lead to the current text of a selected file.
    Stale(ItemKey),
    /// A diff does not apply to the text before it.
    Diff(ItemKey),
    /// The prompt shows text of a file that is not selected.
    NotSelected(ItemKey),
    /// The prompt mentions an excluded file.
    Excluded(FileKey),
    /// A file has more than one map block.
    TwoBlocks(FileKey),
    /// The current map block of a file is missing.
    Outline(FileKey),
    /// The conversation is incomplete or out of order, or the request does not follow it.
    History,
    /// There are more breakpoints than the provider accepts.
    TooManyMarks(usize),
    /// A breakpoint is on a block that cannot carry one.
    Mark(Part),
    /// The body has a different number of breakpoints than the layout.
    UnwrittenMarks { laid: usize, written: usize },
    /// The provider reads fewer tokens from the cache than the policy relied on.
    Kept { relied_on: usize, read: usize },
    /// The provider's charge differs from the prediction.
    Predicted { predicted: Charge, charged: Charge },
    /// Assembling the prompt again from the same state gave different bytes.
    NotDeterministic,
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(key) => {
                write!(f, "the prompt does not show the current text of {}", key.notice_text())
            }
            Self::Diff(key) => {
                write!(f, "an update of {} does not apply to the text before it", key.notice_text())
            }
            Self::NotSelected(key) => write!(f, "{} is shown, but it is not selected", key.notice_text()),
            Self::Excluded(key) => write!(f, "{} is mentioned, but it is excluded", key.notice()),
            Self::TwoBlocks(key) => write!(f, "{} has two map blocks", key.notice()),
            Self::Outline(key) => write!(f, "the current map block of {} is missing", key.notice()),
            Self::History => write!(f, "the conversation is incomplete or out of order"),
            Self::TooManyMarks(marks) => write!(f, "too many breakpoints: {marks}"),
            Self::Mark(part) => write!(f, "a breakpoint is on a {part} block that cannot have one"),
            Self::UnwrittenMarks { laid, written } => {
                write!(f, "the layout has {laid} breakpoints, but the body has {written}")
            }
            Self::Kept { relied_on, read } => {
                write!(f, "{relied_on} tokens were expected from the cache, but {read} were read")
            }
            Self::Predicted { predicted, charged } => {
                write!(f, "predicted {predicted:?}, but charged {charged:?}")
            }
            Self::NotDeterministic => write!(f, "the same state produced different bytes"),
        }
    }
}

/// Returns the promises that a prompt breaks.
pub(crate) fn broken_promises(
    prepared: &PreparedPrompt,
    session: &Session,
    ask: &PromptRequest,
    workspace: &Workspace<'_>,
    services: PromptServices<'_>,
) -> Vec<BrokenPromise> {
    let cache = &services.settings.cache;
    let takes_edits = cache.deltas && cache.history_deltas;
    let mut reader = PromptChecker {
        session,
        excerpts: workspace.excerpts,
        broken: Vec::new(),
        files: BTreeMap::new(),
        symbols: BTreeMap::new(),
    };
    for message in &prepared.layout.messages {
        for block in &message.blocks {
            reader.read(block);
            if takes_edits && message.speaker == Speaker::Assistant {
                reader.read_proposed_edits(block);
            }
        }
    }
    reader.check_current_versions(prepared);
    reader.check_files(prepared, workspace);
    if has_whole_map(prepared, services) {
        reader.check_symbols(prepared, workspace);
    }
    reader.check_history(prepared, ask);
    reader.check_breakpoints(prepared);
    reader.broken
}

/// Whether the map could use its full budget. If the budget was reduced for this prompt alone, the prompt can lack
/// blocks of the session's map members.
pub(crate) fn has_whole_map(prepared: &PreparedPrompt, services: PromptServices<'_>) -> bool {
    prepared.reply.coverage.map_budget >= map_budget(services)
}

/// The text of a file as a model knows it at some point of the prompt.
struct KnownFileText {
    now: String,
    /// The last full text.
    full: String,
    /// Text after all of the model's own edits to `now`, which later content says were applied or not; `None` if one of
    /// them does not apply.
    edited: Option<String>,
}

impl KnownFileText {
    fn from_full_text(text: &str) -> Self {
        Self { now: text.to_owned(), full: text.to_owned(), edited: Some(text.to_owned()) }
    }
}

struct PromptChecker<'a> {
    session: &'a Session,
    excerpts: &'a ExcerptSelection,
    broken: Vec<BrokenPromise>,
    files: BTreeMap<ItemKey, KnownFileText>,
    /// For each file, the text of the last block that shows its outline.
    symbols: BTreeMap<FileKey, String>,
}

impl PromptChecker<'_> {
    fn read(&mut self, block: &LayoutBlock) {
        let ContentBlock::Text { text } = &block.content else { return };
        if block.part == Part::FileList || block.part == Part::Updates {
            for path in &self.session.selection.excluded {
                if lists_file(text, path) {
                    self.broken.push(BrokenPromise::Excluded(path.clone()));
                }
            }
        }
        for key in &block.items {
            match key {
                ItemKey::File(path) | ItemKey::Lines(path, _) => {
                    if self.session.selection.choice(path) != Choice::Selected {
                        self.broken.push(BrokenPromise::NotSelected(key.clone()));
                    }
                    self.read_file_block(key, text);
                }
                ItemKey::Excerpt(excerpt) => {
                    let is_behind_its_file =
                        self.session.selection.selected.get(&excerpt.file) == Some(&Extent::Whole);
                    let is_current = self.excerpts.items.iter().any(|item| item.key == *excerpt);
                    let is_dismissed = self.session.excerpts.dismissed.contains(excerpt);
                    if !(is_current || is_behind_its_file) || is_dismissed {
                        self.broken.push(BrokenPromise::NotSelected(key.clone()));
                    }
                    if self.session.selection.choice(&excerpt.file) == Choice::Excluded {
                        self.broken.push(BrokenPromise::Excluded(excerpt.file.clone()));
                    }
                    self.read_file_block(key, text);
                }
                ItemKey::Symbol(path) => {
                    if self.session.selection.choice(path) == Choice::Excluded {
                        self.broken.push(BrokenPromise::Excluded(path.clone()));
                    }
                    let before = self.symbols.insert(path.clone(), text.clone());
                    if before.is_some() && block.part == Part::Map {
                        self.broken.push(BrokenPromise::TwoBlocks(path.clone()));
                    }
                }
                ItemKey::System | ItemKey::History(_) | ItemKey::Url(_) => {}
            }
        }
    }

    /// Reads a full text, a diff from the last version, or a diff from the last full text.
    fn read_file_block(&mut self, key: &ItemKey, text: &str) {
        let Some(FencedText { heading, body }) = parse_fenced(text) else {
            self.broken.push(BrokenPromise::Diff(key.clone()));
            return;
        };
        let (from_full, diff) = (heading.starts_with("## All updates of "), heading.contains(": version "));
        if !diff {
            // The closing fence needs a line break before it, which the text itself may lack.
            let version = heading.rsplit("(version ").next().map_or("", |rest| rest.trim_end_matches(')'));
            let bare = body.strip_suffix('\n').unwrap_or(body);
            let text = if ContentHash::from_text(body).short() == version { body } else { bare };
            self.files.insert(key.clone(), KnownFileText::from_full_text(text));
            return;
        }
        let versions =
            heading.rsplit_once(": version ").and_then(|(_, versions)| versions.split_once(" to "));
        let changed = self.files.get_mut(key).zip(versions).and_then(|(known, (from, to))| {
            let base = match (from_full, heading.contains(" after your edits: version ")) {
                (true, _) => &known.full,
                (false, true) => known.edited.as_ref()?,
                (false, false) => &known.now,
            };
            let after = diff::apply(base, body).filter(|_| ContentHash::from_text(base).short() == from)?;
            known.now = Some(after).filter(|after| ContentHash::from_text(after).short() == to)?;
            known.edited = Some(known.now.clone());
            Some(())
        });
        if changed.is_none() {
            self.broken.push(BrokenPromise::Diff(key.clone()));
        }
    }

    /// Reads the edits that the model wrote in its own messages.
    fn read_proposed_edits(&mut self, block: &LayoutBlock) {
        for edit in edits_in_answer_block(&block.content) {
            let Some(known) = self.files.get_mut(&ItemKey::File(edit.path.as_str().into())) else { continue };
            known.edited = known.edited.as_deref().and_then(|text| edit.apply_to(text));
        }
    }

    /// Reads the lines at the end of the prompt that give the current version of each file.
    fn check_current_versions(&mut self, prepared: &PreparedPrompt) {
        let told =
            prepared.layout.blocks().filter(|block| block.part == Part::Updates && block.items.is_empty());
        for block in told {
            let ContentBlock::Text { text } = &block.content else { continue };
            for (key, known) in &mut self.files {
                let ItemKey::File(path) = key else { continue };
                let named = format!("- {}: version ", inline_code(path.as_str()));
                let Some(line) = text.lines().find_map(|line| line.strip_prefix(named.as_str())) else {
                    continue;
                };
                let are_applied = line.contains("were applied") && !line.contains("were not applied");
                let text = known.edited.clone().filter(|_| are_applied).unwrap_or_else(|| known.now.clone());
                match line.get(..8) {
                    Some(label) if ContentHash::from_text(&text).short() == label => known.now = text,
                    _ => self.broken.push(BrokenPromise::Stale(key.clone())),
                }
            }
        }
    }

    /// Checks that a model that reads the prompt in order arrives at the current text of every selected file and
    /// excerpt that it contains.
    fn check_files(&mut self, prepared: &PreparedPrompt, workspace: &Workspace<'_>) {
        for item in &workspace.excerpts.items {
            let key = ItemKey::Excerpt(item.key.clone());
            if self.files.get(&key).is_some_and(|known| known.now != *item.body) {
                self.broken.push(BrokenPromise::Stale(key));
            }
        }
        let shed: BTreeSet<&FileKey> = prepared.reply.shed.iter().collect();
        for (path, extent) in &self.session.selection.selected {
            let Some(file) = workspace.texts.get(path).filter(|_| !shed.contains(path)) else { continue };
            let wanted: Vec<(ItemKey, &str)> = match extent {
                Extent::Whole => vec![(ItemKey::File(path.clone()), &*file.text)],
                Extent::Lines(ranges) => {
                    let keys = ranges.iter().map(|range| ItemKey::Lines(path.clone(), *range));
                    keys.zip(texts_of_line_ranges(&file.text, ranges)).collect()
                }
            };
            for (key, text) in wanted {
                if self.files.get(&key).is_none_or(|known| known.now != text) {
                    self.broken.push(BrokenPromise::Stale(key));
                }
            }
        }
    }

    /// Checks that the prompt has the current block of every map member whose file is not shown in full.
    fn check_symbols(&mut self, prepared: &PreparedPrompt, workspace: &Workspace<'_>) {
        let shed: BTreeSet<&FileKey> = prepared.reply.shed.iter().collect();
        for member in &prepared.members {
            let path = &member.path;
            let in_full = workspace.texts.contains_key(path)
                && self.session.selection.choice(path) == Choice::Selected
                && !shed.contains(path);
            let Some(now) = member.current_block_text(workspace.symbols).filter(|_| !in_full) else {
                continue;
            };
            if self.symbols.get(path).is_none_or(|text| !text.contains(&*now)) {
                self.broken.push(BrokenPromise::Outline(path.clone()));
            }
        }
    }

    fn check_history(&mut self, prepared: &PreparedPrompt, ask: &PromptRequest) {
        let truncated =
            prepared.reply.warnings.iter().any(|warning| warning.code == WarningCode::HistoryTruncated);
        if truncated {
            return;
        }
        let request = ask.request.message().map_or(Vec::new(), |message| message.content);
        let recipient = prepared.reply.format.foreign_provider();
        let wanted = self.session.history.projected_blocks(&request, recipient);
        let said =
            prepared.layout.blocks().filter(|block| matches!(block.part, Part::History | Part::Prompt));
        if !said.map(|block| &block.content).eq(&wanted) {
            self.broken.push(BrokenPromise::History);
        }
    }

    fn check_breakpoints(&mut self, prepared: &PreparedPrompt) {
        let marked = || prepared.layout.blocks().filter(|block| block.mark.is_some());
        let kind = prepared.sent.prices.kind;
        if matches!(kind, CacheKind::Explicit { .. }) && marked().count() > kind.max_markers() {
            self.broken.push(BrokenPromise::TooManyMarks(marked().count()));
        }
        let format = prepared.reply.format;
        for message in &prepared.layout.messages {
            let marked = message.blocks.iter().filter(|block| block.mark.is_some());
            for block in marked.filter(|block| !format.can_carry_breakpoint(message.speaker, &block.content))
            {
                self.broken.push(BrokenPromise::Mark(block.part));
            }
        }
        if let (Body::Json(body), CacheKind::Explicit { .. }) =
            (&prepared.reply.body, prepared.sent.prices.kind)
            && count_breakpoints(body) != marked().count()
        {
            self.broken.push(BrokenPromise::UnwrittenMarks {
                laid: marked().count(),
                written: count_breakpoints(body),
            });
        }
        let read = prepared.reply.predicted.read;
        if let Some(relied_on) = prepared.expected_cached.filter(|relied_on| *relied_on > read) {
            self.broken.push(BrokenPromise::Kept { relied_on, read });
        }
    }
}

/// Counts the breakpoints of a body in any dialect.
fn count_breakpoints(body: &Value) -> usize {
    match body {
        Value::Object(fields) => {
            let is_mark = |field: &str| matches!(field, "cache_control" | "prompt_cache_breakpoint");
            let own = fields.keys().filter(|field| is_mark(field)).count();
            own + fields.values().map(count_breakpoints).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_breakpoints).sum(),
        _ => 0,
    }
}

/// Whether a list names a file, on its own line or in a note.
fn lists_file(list: &str, path: &FileKey) -> bool {
    let inline = inline_code(path.as_str());
    list.lines().any(|line| line == path.as_str() || line == inline || line.get(2..) == Some(&*inline))
}

struct FencedText<'a> {
    heading: &'a str,
    body: &'a str,
}

/// Parses a text inside a fence, with the heading above it.
fn parse_fenced(text: &str) -> Option<FencedText<'_>> {
    let heading = text.lines().next()?;
    let open = text.match_indices("\n```").next()?.0 + 1;
    let ticks = text[open..].bytes().take_while(|byte| *byte == b'`').count();
    let body = open + text[open..].find('\n')? + 1;
    let close = text.len().checked_sub(ticks)?;
    (body <= close && text[close..].bytes().all(|byte| byte == b'`'))
        .then(|| FencedText { heading, body: &text[body..close] })
}
