//! How long one prompt takes with 500 files, half of them selected and half in the map, and 280,000 tokens: counts that are known,
//! layout with breakpoints, request body and its validation. Printed beside copying the same bytes once, under each policy.
//! `cargo bench -p e2e --bench layout`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use e2e::Times;
use strata_engine::cancel::Cancel;
use strata_engine::code::symbols::{FileSymbols, References, SymbolIndex};
use strata_engine::conversation::history::ContentBlock;
use strata_engine::key::FileKey;
use strata_engine::prompt::assembly::{
    FileText, IndexState, PreparedPrompt, PromptRequest, PromptServices, Source, SystemContext, Workspace,
    assemble,
};
use strata_engine::prompt::excerpts::ExcerptSelection;
use strata_engine::prompt::layout::Seeds;
use strata_engine::prompt::session::{Outcome, Session, Status};
use strata_engine::prompt::settings::Settings;
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::prompt::trust::Trust;
use strata_engine::prompt::wire::Body;
use strata_engine::tokens::counting::TokenCounter;
use strata_engine::tokens::models::Models;
use strata_grammars::LanguageId;

const FILES: usize = 500;
const TURNS: usize = 60;

fn main() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        run(policy);
    }
}

/// A session of many turns; each changes two files, selects one and deselects one.
fn run(policy: PolicyName) {
    let (models, counter) = (Models::builtin(), TokenCounter::new());
    let mut settings = Settings { model: "claude-opus-5".to_owned(), ..Settings::default() };
    settings.symbols.map_budget = Some(200_000);
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    let mut files: Vec<File> = (0..FILES).map(|at| File::new(path(at), source(at))).collect();
    let mut selected: Vec<usize> = (0..FILES).step_by(2).collect();
    let mut session = Session::new("bench");
    for at in &selected {
        session.selection.select(files[*at].key.clone());
    }
    let (mut times, mut copy_times) = (Vec::new(), Vec::new());
    let mut tokens = 0;
    for turn in 0..TURNS {
        let ask = PromptRequest {
            policy: Some(policy),
            now_ms: turn as u64 * 60_000,
            ..PromptRequest::prompt(format!("Do the next thing, number {turn}."))
        };
        with_workspace(&files, &selected, |workspace| {
            // Counts that a turn adds are made before it is measured, as a server makes them when a file changes.
            assemble(workspace, &session, &ask, services).unwrap();
            let started = Instant::now();
            let prepared = assemble(workspace, &session, &ask, services).unwrap();
            // The first prompt of a session lays everything.
            if turn > 0 {
                times.push(started.elapsed());
                copy_times.push(copy_time(&prepared));
            }
            tokens = prepared.reply.tokens.total;
            let reply = session.keep(prepared);
            let answer = format!("Message {turn} with a text that is as long as such texts are. ").repeat(8);
            let outcome = Outcome {
                error: None,
                status: Status::Complete,
                answer: vec![ContentBlock::text(answer)],
                usage: None,
                time_ms: ask.now_ms,
            };
            session.record(&reply.id.unwrap(), outcome).unwrap();
        });
        for nth in 0..2 {
            let at = selected[(turn * 7 + nth * 13) % selected.len()];
            let text = format!("{}fn added_{turn}_{nth}() {{}}\n", files[at].text);
            files[at] = File::new(path(at), text);
        }
        let leaves = selected.remove((turn * 5) % selected.len());
        session.selection.deselect(&files[leaves].key);
        let joins = (leaves + 1) % FILES;
        session.selection.select(files[joins].key.clone());
        selected.push(joins);
        selected.sort_unstable();
        selected.dedup();
    }
    let [prompt, copy] = [times, copy_times].map(|times| times.into_iter().collect::<Times>());
    println!("{policy:?}: {FILES} files, {tokens} tokens in the last prompt");
    println!("  the prompt, up to its body    {prompt}");
    println!("  copying the body once         {copy}");
}

/// A file with its outline.
struct File {
    key: FileKey,
    text: Arc<str>,
    symbols: Arc<FileSymbols>,
}

impl File {
    fn new(path: String, text: String) -> Self {
        let key = FileKey::new(path);
        let language = LanguageId::by_name("rust").unwrap();
        let symbols = FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
        Self { key, text: text.into(), symbols: symbols.into() }
    }
}

fn with_workspace(files: &[File], selected: &[usize], use_it: impl FnOnce(&Workspace<'_>)) {
    let symbols: SymbolIndex =
        files.iter().map(|file| (file.key.clone(), Arc::clone(&file.symbols))).collect();
    let shown: BTreeSet<usize> = selected.iter().copied().collect();
    let text = |at: usize| {
        let source = Source::Disk { mtime_ms: 0, notice: None };
        (files[at].key.clone(), FileText::new(Arc::clone(&files[at].text), source))
    };
    let mut listing: Vec<FileKey> = files.iter().map(|file| file.key.clone()).collect();
    listing.sort_unstable();
    use_it(&Workspace {
        texts: &shown.into_iter().map(text).collect(),
        unreadable: &BTreeMap::new(),
        symbols: &symbols,
        references: &References::default(),
        context_frame: "",
        seeds: &Seeds::default(),
        listing: &listing,
        open: &[],
        excerpts: &ExcerptSelection::default(),
        index: IndexState::Ready,
        trust: Trust::Trusted,
        standing: &SystemContext::default(),
        session_state: "",
    });
}

fn copy_time(prepared: &PreparedPrompt) -> std::time::Duration {
    let body = match &prepared.reply.body {
        Body::Json(body) => body.to_string(),
        Body::Text(text) => text.clone(),
    };
    let started = Instant::now();
    black_box(black_box(&body).clone());
    started.elapsed()
}

fn path(at: usize) -> String {
    format!("src/part{}/file{at}.rs", at % 12)
}

fn source(at: usize) -> String {
    let lines = 12 + at % 24;
    (0..lines).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "pub fn item_{at}_{line}(value: u64) -> u64 {{ value.wrapping_mul({line}) }}");
        text
    })
}
