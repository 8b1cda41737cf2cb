//! Reads the files that may be relevant to a question, and passes them to the engine, which chooses excerpts.

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::excerpts::Excerpt;
use strata_code::symbols::{FileRelevance, SymbolIndex};
use strata_prompt::assembly::{self, PromptRequest, SystemContext};
use strata_prompt::excerpts::{
    ExcerptQuestion, ExcerptSelection, ExcerptSources, SourceFile, choose_excerpts, rank_excerpts,
};
use strata_prompt::session::Session;

use crate::model::snapshot::Snapshot;

impl Snapshot {
    /// Returns what the engine searches for relevant code. `symbols` must be the current outlines, and `open` the open
    /// files.
    fn excerpt_sources<'a>(
        &'a self,
        symbols: &'a SymbolIndex,
        relevance: Option<&'a FileRelevance<'a>>,
        open: &'a [FileKey],
    ) -> ExcerptSources<'a> {
        ExcerptSources {
            symbols,
            references: &self.index.references,
            relevance,
            open,
            recency: &self.index.recency,
            line_ages: &self.index.line_ages,
            past: &self.index.past,
            passages: &self.passages,
            quoted: &[],
        }
    }

    /// Returns the relevance of all files to the question in `prompt_request`, or `None` without a question.
    pub(crate) fn relevance(
        &self,
        session: &Session,
        prompt_request: &PromptRequest,
    ) -> Option<FileRelevance<'_>> {
        let question = ExcerptQuestion::from_request(prompt_request, session, &self.settings)?;
        Some(self.relevance_to(&question, session))
    }

    fn relevance_to(&self, question: &ExcerptQuestion<'_>, session: &Session) -> FileRelevance<'_> {
        let open: Vec<FileKey> = self.documents.keys().cloned().collect();
        question.relevance(self.index.lexical(), &self.index.references, session, &open)
    }

    /// Returns the context frame for the prompt of `prompt_request`, if the settings enable it: names, with line
    /// numbers, of relevant code that is not in `excerpts`.
    pub(crate) fn context_frame(
        &self,
        session: &Session,
        prompt_request: &PromptRequest,
        symbols: &SymbolIndex,
        relevance: Option<&FileRelevance<'_>>,
        excerpts: &ExcerptSelection,
    ) -> String {
        let settings = &self.settings.context_frame;
        let question = ExcerptQuestion::from_request(prompt_request, session, &self.settings)
            .filter(|_| settings.inject);
        let Some(ExcerptQuestion { text, .. }) = question else { return String::new() };
        let open: Vec<FileKey> = self.documents.keys().cloned().collect();
        let read = |key: &FileKey| self.read_source(key, session, symbols, &Cancel::new()).ok().flatten();
        assembly::context_frame(
            self.excerpt_sources(symbols, relevance, &open),
            session,
            excerpts,
            text,
            settings,
            read,
        )
    }

    /// Selects excerpts for the prompt of `prompt_request`. `symbols` must be the current outlines, and `relevance` the
    /// result of [`Self::relevance`].
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub(crate) fn excerpts(
        &self,
        session: &Session,
        prompt_request: &PromptRequest,
        symbols: &SymbolIndex,
        relevance: Option<&FileRelevance<'_>>,
        system_context: &SystemContext,
        cancel: &Cancel,
    ) -> Result<ExcerptSelection, Cancelled> {
        let question = ExcerptQuestion::from_request(prompt_request, session, &self.settings);
        if question.as_ref().is_none_or(|question| question.budget == 0) && session.excerpts.is_empty() {
            return Ok(ExcerptSelection::default());
        }
        let open: Vec<FileKey> = self.documents.keys().cloned().collect();
        // The prompt already contains these files.
        let SystemContext { rules, scoped_rules, memory, .. } = system_context;
        let quoted = rules.iter().chain(scoped_rules).chain(memory);
        let quoted: Vec<FileKey> = quoted.map(|text| text.path.clone()).collect();
        let sources = ExcerptSources { quoted: &quoted, ..self.excerpt_sources(symbols, relevance, &open) };
        let read = |key: &FileKey| self.read_source(key, session, symbols, cancel);
        let count = assembly::token_counter(prompt_request.model.as_deref(), self.prompt_services());
        choose_excerpts(sources, session, question, read, &count)
    }

    /// Ranks the code that is relevant to a text like the excerpts of prompts, best first. The excerpts have at most
    /// `budget` tokens together.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the operation is cancelled.
    pub(crate) fn relevant_excerpts(
        &self,
        session: &Session,
        text: &str,
        budget: usize,
        cancel: &Cancel,
    ) -> Result<Vec<Excerpt>, Cancelled> {
        let symbols = self.symbols(cancel)?;
        let open: Vec<FileKey> = self.documents.keys().cloned().collect();
        let read = |key: &FileKey| self.read_source(key, session, &symbols, cancel);
        let count = assembly::token_counter(None, self.prompt_services());
        let question = ExcerptQuestion { text, earlier: String::new(), budget, first_budget: budget };
        let relevance = self.relevance_to(&question, session);
        rank_excerpts(
            self.excerpt_sources(&symbols, Some(&relevance), &open),
            session,
            question,
            read,
            &count,
        )
    }

    /// Reads a file. Skips unreadable files without a warning, because the user did not ask for them.
    fn read_source(
        &self,
        key: &FileKey,
        session: &Session,
        symbols: &SymbolIndex,
        cancel: &Cancel,
    ) -> Result<Option<SourceFile>, Cancelled> {
        cancel.check()?;
        let file = self.text(key, &session.selection).ok();
        Ok(file.map(|file| SourceFile { file, symbols: symbols.get(key).cloned() }))
    }
}
