//! The pure part: prompts made by the engine from hostile files, pages, messages and results, beside the same from harmless ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use e2e::is_long;
use serde_json::{Value, json};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::PassageCache;
use strata_code::outline::{Outline, language_of};
use strata_code::symbols::{
    self, FileRelevance, FileSymbols, LexicalIndex, ReferenceGraph, RelevanceQuery, SymbolIndex,
};
use strata_conversation::history::{ContentBlock, NewMessage, Role};
use strata_conversation::providers::Format;
use strata_conversation::urls::Page;
use strata_prompt::assembly::{
    FileText, IndexState, PromptRequest, PromptServices, Request, Source, SystemContext, Workspace, assemble,
    context_frame,
};
use strata_prompt::excerpts::{ExcerptSelection, ExcerptSources};
use strata_prompt::layout::{TierSeeds, inline_code};
use strata_prompt::session::{RequestOutcome, RequestStatus, Session};
use strata_prompt::settings::Settings;
use strata_prompt::tiers::PolicyName;
use strata_prompt::trust::Trust;
use strata_prompt::wire::Body;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use super::attacks::{Attack, attacks};
use super::shape::{furniture, shape, system};

/// A session about three files, with a conversation, a page, and a tool that was called.
struct Bench<'a> {
    files: BTreeMap<FileKey, String>,
    session: Session,
    settings: Settings,
    models: Models,
    counter: &'a TokenCounter,
    trust: Trust,
    state: String,
}

impl<'a> Bench<'a> {
    fn new(attack: &Attack, trust: Trust, counter: &'a TokenCounter) -> Self {
        let Attack { name, text } = attack;
        let shown = FileKey::new(format!("shown/{name}"));
        let files = [
            (shown.clone(), around(text)),
            (FileKey::new(name.as_str()), text.clone()),
            // Without an outline: two map blocks share a content block or not, as their weights have them stand.
            ("z/fixed.txt".into(), "fixed\n".to_owned()),
        ];
        let mut session = Session::new("test");
        session.selection.select(shown);
        session.pages.add(Page {
            address: format!("https://example.org/{name}").into(),
            title: Some(name.as_str().into()),
            text: text.as_str().into(),
        });
        let say = |role, text: &str| NewMessage::text(role, text);
        session.history.add(say(Role::User, &format!("Look at {text}")));
        session.history.add(say(Role::Assistant, &format!("I saw {text}")));
        let mut settings = Settings::default();
        settings.context_frame.inject = true;
        Self {
            files: files.into(),
            session,
            settings,
            models: Models::builtin(),
            counter,
            trust,
            state: format!("# Session State\n\nBranch: {}", inline_code(name)),
        }
    }

    fn with<R>(&self, use_it: impl FnOnce(&Workspace<'_>, PromptServices<'_>) -> R) -> R {
        let mut symbols = SymbolIndex::default();
        for (key, text) in &self.files {
            if let Some(language) = language_of(key, text.lines().next().unwrap_or_default()) {
                let outline = Outline::read(language, text, &Cancel::new()).unwrap();
                symbols.extend([(key.clone(), FileSymbols::new(language, key, outline).into())]);
            }
        }
        let references = ReferenceGraph::build(&symbols, &Arc::default());
        let seeds = TierSeeds {
            referenced: references.rank(&symbols::Seeds::default()).files.to_vec(),
            clusters: references.clusters(1.0),
        };
        let text = |key: &FileKey| {
            FileText::new(
                self.files[key].as_str().into(),
                Source::Disk { mtime_ms: 0, notice: None, out_of_step: None },
            )
        };
        let texts = self.session.selection.selected.keys().map(|key| (key.clone(), text(key))).collect();
        let listing: Vec<FileKey> = self.files.keys().cloned().collect();
        let lexical = LexicalIndex::build(&symbols, &listing);
        let question = "What does fixed do?";
        let query = RelevanceQuery { text: question, ..RelevanceQuery::default() };
        let relevance = FileRelevance::new(&lexical, &references, &query);
        let known = ExcerptSources {
            symbols: &symbols,
            references: &references,
            relevance: Some(&relevance),
            open: &[],
            recency: &BTreeMap::new(),
            line_ages: &BTreeMap::new(),
            past: &[],
            passages: &PassageCache::default(),
            quoted: &[],
        };
        let frame_settings = &self.settings.context_frame;
        let excerpts = ExcerptSelection::default();
        let frame = context_frame(known, &self.session, &excerpts, question, frame_settings, |_| None);
        let workspace = Workspace {
            texts: &texts,
            unreadable: &BTreeMap::new(),
            symbols: &symbols,
            references: &references,
            relevance: Some(&relevance),
            context_frame: &frame,
            seeds: &seeds,
            listing: &listing,
            open: &[],
            excerpts: &excerpts,
            index: IndexState::Ready,
            trust: self.trust,
            system_context: &SystemContext::default(),
            session_state: &self.state,
        };
        use_it(
            &workspace,
            PromptServices { models: &self.models, counter: self.counter, settings: &self.settings },
        )
    }

    /// Four requests: a question, the results of a tool, the same after the file has changed, and one when all has settled.
    fn requests(&mut self, attack: &Attack, policy: PolicyName, format: Format) -> Vec<Value> {
        let mut bodies = Vec::new();
        let Attack { name, text } = attack;
        for turn in 0..4 {
            let request = match turn {
                1 => {
                    let result =
                        json!([{ "callId": "call_1", "content": [{ "type": "text", "text": text }] }]);
                    Request::ToolResults(serde_json::from_value(result).unwrap())
                }
                _ => Request::Prompt { text: "What does fixed do?".into(), images: Vec::new() },
            };
            let ask =
                PromptRequest { policy: Some(policy), format: Some(format), ..PromptRequest::new(request) };
            let prepared =
                self.with(|workspace, means| assemble(workspace, &self.session, &ask, means)).unwrap();
            let Body::Json(body) = prepared.reply.body.clone() else { panic!("no request") };
            bodies.push(body);
            let reply = self.session.add_pending_prompt(prepared);
            let answer = match turn {
                0 => vec![
                    ContentBlock::text(format!("I read {text}.")),
                    ContentBlock::ToolCall {
                        id: "call_1".into(),
                        name: "read".into(),
                        input: json!({ "path": name }),
                    },
                ],
                _ => vec![ContentBlock::text("Done.")],
            };
            let outcome = RequestOutcome {
                error: None,
                status: RequestStatus::Complete,
                answer,
                usage: None,
                time_ms: 0,
            };
            self.session.record(&reply.id.unwrap(), outcome).unwrap();
            if turn == 1 {
                let shown = FileKey::new(format!("shown/{name}"));
                // What changes is next to the attack, so that a diff shows it, unless that would be most of the file.
                let changed = match text.len() {
                    0..2_000 => around(&format!("{text}\nlast\n")),
                    _ => around(text).replacen("line 7 ", "line seven ", 1),
                };
                self.files.insert(shown, changed);
            }
        }
        bodies
    }
}

/// A text among so much else that what is laid where does not hang on its weight.
fn around(text: &str) -> String {
    let lines = |from: usize| -> String {
        (from..from + 150).map(|n| format!("// line {n} of the file\n")).collect()
    };
    format!("{}{text}\n{}", lines(0), lines(150))
}

/// The harmless one that has what the attack has: the ending, and an outline or none.
fn control(attack: &Attack) -> Attack {
    let ending = attack.name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let (name, defining) = match ending {
        "rs" => ("harmless.rs", "fn harmless() {}\n"),
        "py" => ("harmless.py", "def harmless():\n    pass\n"),
        "md" => ("harmless.md", "# Harmless\n"),
        "ts" => ("harmless.ts", "export function harmless() {}\n"),
        "json" => ("harmless.json", "{\"harmless\": 1}\n"),
        "html" => ("harmless.html", "<h1>Harmless</h1>\n"),
        "toml" => ("harmless.toml", "harmless = 1\n"),
        "yaml" => ("harmless.yaml", "harmless: words\n"),
        "txt" => ("harmless.txt", ""),
        _ => ("harmless", ""),
    };
    let text = if has_outline(attack) { defining } else { "\n" };
    Attack { name: name.to_owned(), text: text.to_owned() }
}

/// Whether the map tells anything of the file.
fn has_outline(Attack { name, text }: &Attack) -> bool {
    let key = FileKey::new(name.as_str());
    let language = language_of(&key, text.lines().next().unwrap_or_default());
    language.is_some_and(|language| !Outline::read(language, text, &Cancel::new()).unwrap().is_empty())
}

/// Every way to lay a request out.
fn ways() -> Vec<(PolicyName, Format, Trust)> {
    let mut ways = Vec::new();
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        for format in [Format::Anthropic, Format::OpenAi] {
            ways.extend([Trust::Untrusted, Trust::Trusted].map(|trust| (policy, format, trust)));
        }
    }
    ways
}

/// Each attack is laid out in one of the twelve ways in turn; with `STRATA_LONG=1` in all.
fn ways_of(at: usize) -> Vec<(PolicyName, Format, Trust)> {
    let chosen = |(way, _): &(usize, _)| is_long() || *way == at % ways().len();
    ways().into_iter().enumerate().filter(chosen).map(|(_, way)| way).collect()
}

#[test]
fn hostile_names_and_texts_change_neither_messages_nor_blocks_nor_speakers() {
    let attacks = attacks();
    assert!(attacks.len() >= 500);
    let counter = TokenCounter::default();
    let (mut requests, mut others) = (0, Vec::new());
    let mut controls: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (at, attack) in attacks.iter().enumerate() {
        let control = control(attack);
        assert_eq!(has_outline(attack), has_outline(&control), "{attack:?}");
        for (policy, format, trust) in ways_of(at) {
            let of = |attack: &Attack| Bench::new(attack, trust, &counter).requests(attack, policy, format);
            let case = format!("{control:?} {policy:?} {format:?} {trust:?}");
            let expected = controls.entry(case.clone()).or_insert_with(|| of(&control));
            for (turn, (body, harmless)) in of(attack).iter().zip(&*expected).enumerate() {
                let place = format!("{case}, request {turn}, {at}: {:.300}", format!("{attack:?}"));
                let mut same = |what: &str, seen: String, expected: String| {
                    if seen != expected {
                        others.push(format!("{place}\n{what} {seen}\nnot {expected}"));
                    }
                };
                same("shape", shape(body).join("\n"), shape(harmless).join("\n"));
                if trust == Trust::Untrusted {
                    same("system", system(body), system(harmless));
                }
                let of_ours = |body: &Value, text: &str| {
                    // A conversation says what it says; everything else is put down by us.
                    let is_said = |said: &str| {
                        said == text
                            || ["Look at ", "I saw ", "I read "].iter().any(|start| said.starts_with(start))
                    };
                    format!("{:?}", furniture(body, |said| !is_said(said)))
                };
                same("furniture", of_ours(body, &attack.text), of_ours(harmless, &control.text));
                requests += 1;
            }
        }
    }
    let few: Vec<&String> = others.iter().take(5).collect();
    assert!(others.is_empty(), "{} of {requests} are others:\n{few:#?}", others.len());
    eprintln!(
        "{} attacks, {requests} requests: the shape of harmless ones, the system message untouched",
        attacks.len()
    );
}
