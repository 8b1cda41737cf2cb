//! The repository during the replay of a trace: files, outlines, references, and the selection of each turn.
//! Independent of layouts.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::PassageCache;
use strata_code::outline::{Outline, language_of};
use strata_code::symbols::{
    self, FileRelevance, FileSymbols, LexicalIndex, MapMember, ReferenceGraph, SymbolIndex,
};
use strata_conversation::selection::{Extent, Selection};
use strata_conversation::trace::{Trace, TraceTurn};
use strata_prompt::assembly::{
    self, FileText, IndexState, PromptRequest, PromptServices, Source, SystemContext, Workspace,
};
use strata_prompt::excerpts::{
    ExcerptQuestion, ExcerptSelection, ExcerptSources, SourceFile, choose_excerpts,
};
use strata_prompt::layout::TierSeeds;
use strata_prompt::session::Session;
use strata_prompt::trust::Trust;

use crate::bound::{CostBound, NeededTokens};

/// Minimum weight of the references between two files for them to share a tier. A reference to one name that only the
/// other file defines has a weight of about 1.
const MIN_CLUSTER_WEIGHT: f64 = 1.0;
/// Maximum number of files that the session state lists as read (`docs/prompt.md`).
const MAX_LISTED_READ_FILES: usize = 20;

/// Parts to include in the prompts of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IncludedParts {
    /// System prompt, map, files and history: the content that the table in `docs/tiers.md` is based on.
    Table,
    /// The parts of `Table`, plus the repository file list and a session state.
    Everything,
    /// The parts of `Table`, without any selected file.
    NothingSelected,
}

/// The repository at one turn of a trace.
pub(crate) struct Scenario<'a> {
    trace: &'a Trace,
    parts: IncludedParts,
    turn: usize,
    /// Current texts of the files.
    pub(crate) files: BTreeMap<FileKey, Arc<str>>,
    symbols: SymbolIndex,
    references: ReferenceGraph,
    seeds: TierSeeds,
    listing: Vec<FileKey>,
    /// Files selected in this turn, in key order.
    pub(crate) selected: BTreeSet<FileKey>,
    session_state: String,
    read: Vec<FileKey>,
    /// Word index of the files, built for the first question that needs it.
    lexical: OnceLock<LexicalIndex>,
    recency: BTreeMap<FileKey, u32>,
    passages: PassageCache,
}

impl<'a> Scenario<'a> {
    /// Creates the repository as it is before the first turn.
    pub(crate) fn new(trace: &'a Trace, parts: IncludedParts) -> Self {
        let recency = trace.recency.iter().map(|(path, age)| (FileKey::from(path.as_str()), *age)).collect();
        let mut scenario = Self {
            trace,
            parts,
            turn: 0,
            files: BTreeMap::new(),
            symbols: SymbolIndex::default(),
            references: ReferenceGraph::default(),
            seeds: TierSeeds::default(),
            listing: Vec::new(),
            selected: BTreeSet::new(),
            session_state: String::new(),
            read: Vec::new(),
            lexical: OnceLock::new(),
            recency: BTreeMap::new(),
            passages: PassageCache::default(),
        };
        for (path, text) in &trace.files0 {
            scenario.write(path, Some(text));
        }
        scenario.recency = recency;
        scenario.update_derived_data();
        scenario
    }

    /// Returns the turn to play next, or `None` after the last one.
    pub(crate) fn current_turn(&self) -> Option<&'a TraceTurn> {
        self.trace.turns.get(self.turn)
    }

    /// Applies the changes that the turn makes inside and outside of the session.
    pub(crate) fn advance_turn(&mut self) {
        if let Some(turn) = self.current_turn() {
            for (path, text) in turn.edits.iter().chain(&turn.ext) {
                self.write(path, text.as_deref());
            }
            self.turn += 1;
            self.update_derived_data();
        }
    }

    /// Applies changes from outside the trace. A file whose text is `None` is deleted.
    #[cfg(test)]
    pub(crate) fn change<'t>(&mut self, changes: impl IntoIterator<Item = (&'t str, Option<&'t str>)>) {
        for (path, text) in changes {
            self.write(path, text);
        }
        self.update_derived_data();
    }

    /// Changes `selection` to that of the turn, with as few changes as a user would make.
    pub(crate) fn apply_selection(&self, selection: &mut Selection) {
        let before: Vec<FileKey> = selection.selected.keys().cloned().collect();
        for key in before.iter().filter(|key| !self.selected.contains(*key)) {
            selection.deselect(key);
        }
        for key in &self.selected {
            if !selection.selected.contains_key(key) {
                selection.select(key.clone());
            }
        }
    }

    /// Calls `use_it` with the repository as a [`Workspace`].
    pub(crate) fn with_workspace<R>(
        &self,
        session: &Session,
        request: &PromptRequest,
        services: PromptServices<'_>,
        use_it: impl FnOnce(&Workspace<'_>) -> R,
    ) -> R {
        let selection = &session.selection;
        let text = |key: &FileKey| {
            let source = Source::Disk { mtime_ms: 0, notice: None, out_of_step: None };
            Some((key.clone(), FileText::new(Arc::clone(self.files.get(key)?), source)))
        };
        let texts: BTreeMap<FileKey, FileText> = selection.selected.keys().filter_map(text).collect();
        let missing = selection.selected.keys().filter(|key| !texts.contains_key(*key));
        let unreadable = missing.map(|key| (key.clone(), "the file no longer exists".to_owned())).collect();
        let question = ExcerptQuestion::from_request(request, session, services.settings);
        let relevance = question
            .as_ref()
            .map(|question| question.relevance(self.lexical_index(), &self.references, session, &[]));
        let sources = self.sources(relevance.as_ref());
        let excerpts = self.excerpts(sources, session, request, question.clone(), services);
        use_it(&Workspace {
            texts: &texts,
            unreadable: &unreadable,
            symbols: &self.symbols,
            references: &self.references,
            relevance: relevance.as_ref(),
            context_frame: &self.context_frame(sources, session, question, services, &excerpts),
            seeds: &self.seeds,
            listing: if self.parts == IncludedParts::Everything { &self.listing } else { &[] },
            open: &[],
            excerpts: &excerpts,
            index: IndexState::Ready,
            trust: Trust::Trusted,
            system_context: &SystemContext::default(),
            session_state: &self.session_state,
        })
    }

    /// Builds the context frame. It is empty unless prompts include every part.
    fn context_frame(
        &self,
        sources: ExcerptSources<'_>,
        session: &Session,
        question: Option<ExcerptQuestion<'_>>,
        services: PromptServices<'_>,
        excerpts: &ExcerptSelection,
    ) -> String {
        let settings = &services.settings.context_frame;
        let is_wanted = settings.inject && self.parts == IncludedParts::Everything;
        let Some(ExcerptQuestion { text, .. }) = question.filter(|_| is_wanted) else { return String::new() };
        assembly::context_frame(sources, session, excerpts, text, settings, |key| self.source(key))
    }

    fn sources<'s>(&'s self, relevance: Option<&'s FileRelevance<'s>>) -> ExcerptSources<'s> {
        ExcerptSources {
            symbols: &self.symbols,
            references: &self.references,
            relevance,
            open: &[],
            recency: &self.recency,
            line_ages: const { &BTreeMap::new() },
            past: &[],
            passages: &self.passages,
            quoted: &[],
        }
    }

    fn lexical_index(&self) -> &LexicalIndex {
        self.lexical.get_or_init(|| LexicalIndex::build(&self.symbols, &self.listing))
    }

    fn source(&self, key: &FileKey) -> Option<SourceFile> {
        let source = Source::Disk { mtime_ms: 0, notice: None, out_of_step: None };
        let file = FileText::new(Arc::clone(self.files.get(key)?), source);
        Some(SourceFile { file, symbols: self.symbols.get(key).cloned() })
    }

    /// Chooses the excerpts of a prompt.
    fn excerpts(
        &self,
        sources: ExcerptSources<'_>,
        session: &Session,
        request: &PromptRequest,
        question: Option<ExcerptQuestion<'_>>,
        services: PromptServices<'_>,
    ) -> ExcerptSelection {
        if question.as_ref().is_none_or(|question| question.budget == 0) && session.excerpts.is_empty() {
            return ExcerptSelection::default();
        }
        let count = assembly::token_counter(request.model.as_deref(), services);
        let read = |key: &FileKey| Ok::<_, Infallible>(self.source(key));
        let Ok(chosen) = choose_excerpts(sources, session, question, read, &count);
        chosen
    }

    /// Adds what the turn needs to `bound`: the messages, the selected files, and the map blocks of `members` that are
    /// not selected.
    pub(crate) fn add_turn_needs(
        &self,
        bound: &mut CostBound<String>,
        members: &[MapMember],
        message_tokens: &[(String, usize)],
        services: PromptServices<'_>,
    ) {
        let count = assembly::token_counter(None, services);
        let file = |key: &FileKey| {
            let file = FileText::new(Arc::clone(self.files.get(key)?), Source::Given);
            let tokens = assembly::count_file_tokens(key, &file, &Extent::Whole, services);
            Some((format!("file:{}", key.as_str()), NeededTokens::AnyVersion(tokens)))
        };
        let block = |member: &MapMember| {
            let text = member.current_block_text(&self.symbols)?;
            Some((format!("symbol:{}", member.path.as_str()), NeededTokens::AnyVersion(count(&text))))
        };
        let files = self.selected.iter().filter_map(file);
        let blocks = members.iter().filter(|member| !self.selected.contains(&member.path)).filter_map(block);
        let messages =
            message_tokens.iter().map(|(name, tokens)| (name.clone(), NeededTokens::Exact(*tokens)));
        bound.add_turn(files.chain(blocks).chain(messages).collect::<Vec<_>>());
    }

    fn write(&mut self, path: &str, text: Option<&str>) {
        let key = FileKey::from(path);
        self.recency.insert(key.clone(), 0);
        let Some(text) = text else {
            self.files.remove(&key);
            self.symbols.remove(&key);
            return;
        };
        let outlined = language_of(&key, "")
            .and_then(|language| Some((language, Outline::read(language, text, &Cancel::new()).ok()?)));
        match outlined {
            Some((language, outline)) => {
                let symbols = FileSymbols::new(language, &key, outline);
                self.symbols.extend([(key.clone(), Arc::new(symbols))]);
            }
            None => {
                self.symbols.remove(&key);
            }
        }
        self.files.insert(key, text.into());
    }

    /// Updates the data derived from the files, and the selection of the next turn.
    fn update_derived_data(&mut self) {
        self.references = ReferenceGraph::build(&self.symbols, &Arc::default());
        self.seeds = TierSeeds {
            referenced: self.references.rank(&symbols::Seeds::default()).files.to_vec(),
            clusters: self.references.clusters(MIN_CLUSTER_WEIGHT),
        };
        self.lexical = OnceLock::new();
        self.listing = self.files.keys().cloned().collect();
        let first = match self.trace.sel.window_turns() {
            None => 0,
            Some(window) => self.turn.saturating_sub(window as usize),
        };
        let turns = self.trace.turns.get(first..=self.turn).unwrap_or_default();
        let touched = turns.iter().flat_map(|turn| &turn.touched).map(|path| FileKey::from(path.as_str()));
        let is_selected =
            |key: &FileKey| self.parts != IncludedParts::NothingSelected && self.files.contains_key(key);
        self.selected = touched.filter(is_selected).collect();
        if self.parts == IncludedParts::Everything {
            self.read.retain(|key| !self.selected.contains(key));
            self.read.extend(self.selected.iter().cloned());
            let read =
                self.read.iter().rev().take(MAX_LISTED_READ_FILES).map(|key| format!("- {}\n", key.notice()));
            self.session_state = format!(
                "# Session\n\nRepository: {}, turn {}. Files already read, not to be read again:\n{}",
                self.trace.name,
                self.turn + 1,
                read.collect::<String>()
            );
        }
    }
}
