//! A repository in memory, a session over it, and functions to assemble and inspect prompts.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::PassageCache;
use strata_code::outline::{Outline, language_of};
use strata_code::symbols::{FileSymbols, LexicalIndex, ReferenceGraph, SymbolIndex};
use strata_conversation::compaction::ProfileOptions;
use strata_conversation::history::{ContentBlock, NewMessage, Role};
use strata_conversation::providers::{self, Format};
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::assembly::assemble::{assemble_with_rules, check_request};
use crate::assembly::{
    AssembleError, AssembledPrompt, FileText, IndexState, PreparedPrompt, PromptRequest, PromptServices,
    Request, Source, SystemContext, Workspace, assemble_allowing_empty, context_frame, token_counter,
};
use crate::excerpts::{ExcerptQuestion, ExcerptSources, SourceFile, choose_excerpts};
use crate::layout::TierSeeds;
use crate::session::{RecordResult, RequestOutcome, RequestStatus, Session};
use crate::settings::Settings;
use crate::tiers::{LayoutRules, PolicyName};
use crate::trust::Trust;
use crate::wire::Body;
use crate::wire::tests::pieces::pieces;

pub(super) struct Bench {
    pub(super) files: BTreeMap<FileKey, String>,
    pub(super) session: Session,
    pub(super) settings: Settings,
    pub(super) models: Models,
    pub(super) counter: TokenCounter,
    pub(super) index: IndexState,
    pub(super) state: String,
    pub(super) system_context: SystemContext,
    pub(super) trust: Trust,
    /// Whether prompts include a context frame, built with the current settings.
    pub(super) has_frame: bool,
    /// Changes the rules for laying out prompts.
    pub(super) adjust_rules: fn(&mut LayoutRules),
}

impl Bench {
    /// Creates a repository without automatic code from `//- path` lines, each followed by the file's text.
    pub(super) fn new(fixture: &str) -> Self {
        let mut files: BTreeMap<FileKey, String> = BTreeMap::new();
        let mut current = None;
        for line in fixture.lines() {
            if let Some(path) = line.trim_start().strip_prefix("//- ") {
                current = Some(FileKey::from(path));
                files.insert(FileKey::from(path), String::new());
            } else if let Some(text) = current.as_ref().and_then(|key| files.get_mut(key)) {
                text.push_str(line.trim_start_matches("    "));
                text.push('\n');
            }
        }
        let mut settings = Settings::default();
        // Tests of excerpts set a budget of their own.
        settings.context.auto_budget = 0;
        Self {
            files,
            session: Session::new("test"),
            settings,
            models: Models::builtin(),
            counter: TokenCounter::default(),
            index: IndexState::Ready,
            state: String::new(),
            system_context: SystemContext::default(),
            trust: Trust::Trusted,
            has_frame: false,
            adjust_rules: |_| (),
        }
    }

    pub(super) fn policy(mut self, policy: PolicyName) -> Self {
        self.settings.cache.policy = Some(policy);
        self
    }

    pub(super) fn services(&self) -> PromptServices<'_> {
        PromptServices { models: &self.models, counter: &self.counter, settings: &self.settings }
    }

    pub(super) fn with_workspace<R>(&self, action: impl FnOnce(&Workspace<'_>) -> R) -> R {
        self.with_workspace_for(&PromptRequest::new(Request::Nothing), action)
    }

    /// Calls `action` with the workspace, including the excerpts for `prompt_request`.
    fn with_workspace_for<R>(
        &self,
        prompt_request: &PromptRequest,
        action: impl FnOnce(&Workspace<'_>) -> R,
    ) -> R {
        let mut symbols = SymbolIndex::default();
        for (key, text) in &self.files {
            if let Some(language) = language_of(key, "") {
                let outline = Outline::read(language, text, &Cancel::new()).unwrap();
                symbols.extend([(key.clone(), FileSymbols::new(language, key, outline).into())]);
            }
        }
        let references = ReferenceGraph::build(&symbols, &std::sync::Arc::default());
        let seeds = TierSeeds {
            referenced: references.rank(&strata_code::symbols::Seeds::default()).files.to_vec(),
            clusters: references.clusters(1.0),
        };
        let selected = self.session.selection.selected.keys();
        let text = |key: &FileKey| match self.session.selection.given.get(key) {
            Some(given) => Some(FileText::new(given.clone(), Source::Given)),
            None => {
                let text = self.files.get(key)?.as_str().into();
                Some(FileText::new(text, Source::Disk { mtime_ms: 0, notice: None, out_of_step: None }))
            }
        };
        let texts = selected.clone().filter_map(|key| Some((key.clone(), text(key)?))).collect();
        let unreadable =
            selected.filter(|key| text(key).is_none()).map(|key| (key.clone(), "it is gone".to_owned()));
        let listing: Vec<FileKey> = self.files.keys().cloned().collect();
        let lexical = LexicalIndex::build(&symbols, &listing);
        let question = ExcerptQuestion::from_request(prompt_request, &self.session, &self.settings);
        let relevance =
            question.as_ref().map(|question| question.relevance(&lexical, &references, &self.session, &[]));
        let sources = ExcerptSources {
            symbols: &symbols,
            references: &references,
            relevance: relevance.as_ref(),
            open: &[],
            recency: &BTreeMap::new(),
            line_ages: &BTreeMap::new(),
            past: &[],
            passages: &PassageCache::default(),
            quoted: &[],
        };
        let read = |key: &FileKey| {
            let text = self.files.get(key)?.as_str().into();
            let file = FileText::new(text, Source::Disk { mtime_ms: 0, notice: None, out_of_step: None });
            Some(SourceFile { file, symbols: symbols.get(key).cloned() })
        };
        let count = token_counter(None, self.services());
        let Ok(excerpts) = choose_excerpts(
            sources,
            &self.session,
            question.clone(),
            |key| Ok::<_, Infallible>(read(key)),
            &count,
        );
        let frame_settings = &self.settings.context_frame;
        let framed_question = question.filter(|_| self.has_frame && frame_settings.inject);
        let frame = framed_question.map_or_else(String::new, |ExcerptQuestion { text, .. }| {
            context_frame(sources, &self.session, &excerpts, text, frame_settings, |_| None)
        });
        let workspace = Workspace {
            texts: &texts,
            unreadable: &unreadable.collect(),
            symbols: &symbols,
            references: &references,
            relevance: relevance.as_ref(),
            context_frame: &frame,
            seeds: &seeds,
            listing: &listing,
            open: &[],
            excerpts: &excerpts,
            index: self.index,
            trust: self.trust,
            system_context: &self.system_context,
            session_state: &self.state,
        };
        action(&workspace)
    }

    pub(super) fn select(&mut self, key: &str) {
        self.session.selection.select(key.into());
        self.session.mark_changed();
    }

    pub(super) fn deselect(&mut self, key: &str) {
        self.session.selection.deselect(&key.into());
        self.session.mark_changed();
    }

    pub(super) fn add_exchange(&mut self, user: &str, assistant: &str) {
        self.session.history.add(NewMessage::text(Role::User, user));
        self.session.history.add(NewMessage::text(Role::Assistant, assistant));
        self.session.mark_changed();
    }

    /// Makes the profile compact when the conversation exceeds this many tokens.
    pub(super) fn compact_over(&mut self, tokens: usize) {
        let options = ProfileOptions { history_over: Some(tokens), ..ProfileOptions::default() };
        self.settings.compaction.profiles.insert("topic".to_owned(), options);
    }

    pub(super) fn assemble(&self, prompt_request: &PromptRequest) -> Result<PreparedPrompt, AssembleError> {
        self.with_workspace_for(prompt_request, |workspace| {
            check_request(&prompt_request.request)?;
            assemble_with_rules(workspace, &self.session, prompt_request, self.services(), self.adjust_rules)
        })
    }

    /// Measures the next request without a prompt.
    pub(super) fn assemble_without_message(&self) -> Result<PreparedPrompt, AssembleError> {
        self.with_workspace(|workspace| {
            assemble_allowing_empty(
                workspace,
                &self.session,
                &PromptRequest::new(Request::Nothing),
                self.services(),
            )
        })
    }

    pub(super) fn budget(&self) -> crate::budget::BudgetReport {
        let prompt_request = PromptRequest::new(Request::Nothing);
        self.with_workspace(|workspace| {
            crate::budget::measure_budget(workspace, &self.session, &prompt_request, self.services())
        })
        .unwrap()
    }

    pub(super) fn prompt(&self, text: &str) -> AssembledPrompt {
        self.assemble(&PromptRequest::prompt(text)).unwrap().reply
    }

    /// Runs a whole turn: assembles a prompt, answers it and records it.
    pub(super) fn turn(&mut self, text: &str, answer: &str) -> (AssembledPrompt, RecordResult) {
        let prepared = self.assemble(&PromptRequest::prompt(text)).unwrap();
        let reply = self.session.add_pending_prompt(prepared);
        let outcome = RequestOutcome {
            error: None,
            status: RequestStatus::Complete,
            answer: vec![ContentBlock::text(answer)],
            usage: None,
            time_ms: 0,
        };
        let id = reply.id.clone().unwrap();
        let recorded = self.session.record(&id, outcome).unwrap();
        (reply, recorded)
    }
}

/// Formats a request, message by message: the role, then the first line of each text, with `|` after a breakpoint.
pub(super) fn prompt_summary(reply: &AssembledPrompt) -> String {
    let body = json(reply);
    let mut out = String::new();
    let mut write_message = |role: &str, content: &Value| {
        let _ = write!(out, "{role}:");
        match content {
            Value::String(text) => {
                let _ = writeln!(out, " {:?}", first_line(text));
            }
            blocks => {
                let _ = writeln!(out);
                for block in blocks.as_array().unwrap() {
                    let mark = if block.get("cache_control").is_some() { " |" } else { "" };
                    let text =
                        block["text"].as_str().map_or_else(|| format!("({})", block["type"]), first_line);
                    let _ = writeln!(out, "    {text:?}{mark}");
                }
            }
        }
    };
    if let Some(system) = body.get("system") {
        write_message("system", system);
    }
    for message in body["messages"].as_array().unwrap() {
        write_message(message["role"].as_str().unwrap(), &message["content"]);
    }
    out
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    // The version of a file is a hash of its text and does not matter here.
    line.split(" (version").next().unwrap_or_default().to_owned()
}

pub(super) fn json(reply: &AssembledPrompt) -> &Value {
    match &reply.body {
        Body::Json(body) => body,
        Body::Text(_) => panic!("no request"),
    }
}

pub(super) fn all_text(prepared: &PreparedPrompt) -> String {
    let texts = prepared.layout.blocks().filter_map(|block| match &block.content {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Counts every text and image of the finished body again, and compares the result with the reply.
pub(super) fn recount(bench: &Bench, reply: &AssembledPrompt, format: Format) {
    let model = bench.models.resolve(&reply.model).model;
    let body = json(reply);
    let texts: usize = pieces(format, body)
        .into_iter()
        .map(|piece| match piece {
            providers::TextOrImage::Text(text) => bench.counter.count(model.tokenizer, &text),
            providers::TextOrImage::Picture(_) => panic!("no pictures here"),
        })
        .sum();
    let structure = reply.tokens.parts[&crate::layout::Part::Structure];
    let parts: usize = reply.tokens.parts.values().sum();
    assert_eq!(texts + structure, reply.tokens.total);
    assert_eq!(parts, reply.tokens.total);
    let messages = body["messages"].as_array().unwrap().len() + usize::from(body.get("system").is_some());
    assert_eq!(structure, messages * model.overheads.message + model.overheads.reply);
}
