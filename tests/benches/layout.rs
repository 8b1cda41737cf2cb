//! How long one turn of policy `ledger` takes with 500 files, half of them selected and half in the map, and 200,000 tokens:
//! layout with breakpoints, and the request body. Printed beside copying the same bytes once and beside policy `flat`.
//! `cargo bench -p e2e --bench layout`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use e2e::Times;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, MessageId};
use strata_conversation::providers::{BreakpointMode, Envelope, Format, Speaker, ToolChoice};
use strata_conversation::tool_result_archival::expected_turns;
use strata_prompt::layout::{
    CountedBlock, FileListInput, ItemKey, LayoutContent, PromptPiece, SentMessage, TierSeeds,
};
use strata_prompt::tiers::{LayoutRules, PolicyName, TierState};
use strata_prompt::wire;
use strata_tokens::cost::{Prices, expected_reuse_price};
use strata_tokens::counting::{TokenCounter, Tokenizer};
use strata_tokens::models::{Models, Ttl};

const FILES: usize = 500;
const TURNS: usize = 60;

fn main() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        run(policy);
    }
}

/// A session of many turns; each changes two files, selects one and deselects one.
fn run(policy: PolicyName) {
    let counter = TokenCounter::default();
    let count = |text: &str| counter.count(Tokenizer::O200k, text);
    let (seeds, excluded) = (TierSeeds::default(), BTreeSet::new());
    let model = Models::builtin().resolve("claude-sonnet-4-5").model;
    let mut texts: Vec<String> = (0..FILES).map(source).collect();
    let mut selected: Vec<usize> = (0..FILES).step_by(2).collect();
    let mut history: Vec<SentMessage> = Vec::new();
    let mut state = TierState::default();
    let (mut layout_times, mut render_times, mut copy_times) = (Vec::new(), Vec::new(), Vec::new());
    let mut tokens = 0;
    for turn in 0..TURNS {
        let shown: BTreeSet<usize> = selected.iter().copied().collect();
        let (map, files) = (0..FILES).fold((vec![], vec![]), |(mut map, mut files), at| {
            let key = FileKey::from(path(at).as_str());
            if shown.contains(&at) {
                let text = format!("## `{}`\n\n```rs\n{}```", key.as_str(), texts[at]);
                let piece = PromptPiece::new(ItemKey::File(key), text, &count);
                files.push(PromptPiece { body: texts[at].as_str().into(), ..piece });
            } else {
                map.push(PromptPiece::new(ItemKey::Symbol(key), outline(at), &count));
            }
            (map, files)
        });
        let content = LayoutContent {
            system: "You are a software engineer.".into(),
            hidden: shown
                .iter()
                .map(|at| (FileKey::from(path(*at).as_str()), ContentHash::from_text("")))
                .collect(),
            map,
            files,
            tree: FileListInput::default(),
            history: history.clone(),
            request: vec![said_block(&format!("Do the next thing, number {turn}."), &count)],
            ..LayoutContent::empty(&seeds, &excluded, &count)
        };
        let prices = Prices::for_model(&model, Ttl::FiveMinutes.into());
        let rules = LayoutRules {
            later_price: Some(expected_reuse_price(&[], &prices) * expected_turns(turn)),
            now_ms: turn as u64 * 60_000,
            ..LayoutRules::new(1_127, Ttl::FiveMinutes, prices)
        };
        let started = Instant::now();
        let laid = policy.policy().lay_out(&state, &content, &rules);
        let laid_in = started.elapsed();
        let envelope = Envelope {
            model: "claude-sonnet-4-5",
            tools: &[],
            tool_choice: ToolChoice::Auto,
            cache_key: None,
            breakpoints: BreakpointMode::Automatic,
        };
        let rendered = wire::render(&laid.layout, Format::Anthropic, &envelope);
        let body = match rendered.body {
            wire::Body::Json(body) => body.to_string(),
            wire::Body::Text(text) => text,
        };
        let rendered_in = started.elapsed();
        let started = Instant::now();
        black_box(black_box(&body).clone());
        let copied_in = started.elapsed();
        tokens = laid.layout.tokens();
        state = laid.new_state;
        // The first prompt of a session lays everything.
        if turn > 0 {
            layout_times.push(laid_in);
            render_times.push(rendered_in);
            copy_times.push(copied_in);
        }
        for (n, speaker) in [Speaker::User, Speaker::Assistant].into_iter().enumerate() {
            let id = MessageId((2 * turn + n) as u64);
            let text = format!("Message {turn} with a text that is as long as such texts are. ").repeat(8);
            history.push(SentMessage { id, speaker, blocks: vec![said_block(&text, &count)] });
        }
        for nth in 0..2 {
            let at = selected[(turn * 7 + nth * 13) % selected.len()];
            let _ = writeln!(texts[at], "fn added_{turn}_{nth}() {{}}");
        }
        let leaves = selected.remove((turn * 5) % selected.len());
        selected.push((leaves + 1) % FILES);
        selected.sort_unstable();
        selected.dedup();
    }
    let [layout, render, copy] =
        [layout_times, render_times, copy_times].map(|times| times.into_iter().collect::<Times>());
    println!("{policy:?}: {FILES} files, {tokens} tokens in the last prompt");
    println!("  layout and breakpoints        {layout}");
    println!("  with the request body         {render}");
    println!("  copying the body once         {copy}");
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

fn outline(at: usize) -> String {
    (0..10).fold(format!("{}:", path(at)), |mut text, line| {
        let _ = write!(text, "\n pub fn item_{at}_{line}(value: u64) -> u64");
        text
    })
}

fn said_block(text: &str, count: &dyn Fn(&str) -> usize) -> CountedBlock {
    CountedBlock { tokens: count(text), content: ContentBlock::text(text) }
}
