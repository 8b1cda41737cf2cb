//! A trace under `ledger` with the content and the counts of an independent implementation, so that both can be
//! compared: a quarter token per character, a map of signature lines, three tokens for each content block. Of the
//! engine, only the policy takes part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::layout::{
    CountedBlock, FileListInput, ItemKey, LayoutContent, PromptPiece, SentMessage, TierSeeds, spans,
};
use crate::tiers::{LayoutRules, PolicyName, TierState};
use regex::Regex;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, MessageId};
use strata_conversation::providers::Speaker;
use strata_conversation::trace::{SelectionRule, Trace, TraceTurn};
use strata_tokens::cost::{Prices, SimulatedProvider};
use strata_tokens::models::{CacheKind, Ttl};

use super::super::wording::legend;

/// Tokens of the system prompt and the legend together.
const SYSTEM: usize = 2_200;
/// Overhead of a content block beyond its text, in tokens.
const FRAMING: usize = 3;

/// Tokens of a line about a file with updates.
const PENDING: usize = 12;
/// Overhead of a diff beyond its hunks, in tokens: that of a line about a file, and four for a header of two lines.
const DIFF: usize = 12 + 4;

/// A line that begins a definition in most languages.
static SIGNATURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^\s*(?:export\s+|pub(?:\([^)]*\))?\s+|async\s+|static\s+|local\s+|unsafe\s+|default\s+)*",
        r"(?:def|class|fn|struct|enum|trait|impl|mod|type|function|interface|macro_rules!)\b.*",
        r"|^\s*(?:exports|module\.exports|[A-Z]\w*\.prototype|\w+)\.\w+\s*=\s*(?:async\s+)?function.*",
        r"|^M\.\w+\s*=.*|^[A-Z_]{3,}\s*=.*",
    ))
    .expect("a valid pattern")
});

/// Cost of one trace, in tokens of uncached input.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    ledger: f64,
    /// The same content in one block each, without breakpoints.
    no_cache: usize,
}

fn cost_of(trace: &Trace) -> Cost {
    let prices = Prices {
        read: 0.1,
        write: 1.25,
        seconds: u32::MAX,
        extended: None,
        min_tokens: 1_024,
        kind: CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 },
        long_context: None,
        list: None,
    };
    let rules = LayoutRules::new(0, Ttl::FiveMinutes, prices);
    let (seeds, excluded) = (TierSeeds::default(), BTreeSet::new());
    let legend = count(legend());
    // One block there, two here.
    let system = "s".repeat(4 * (SYSTEM - FRAMING).saturating_sub(legend));
    let mut files: BTreeMap<&str, &str> =
        trace.files0.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut history: Vec<SentMessage> = Vec::new();
    let mut provider = SimulatedProvider::new(prices);
    let mut state = TierState::default();
    let mut cost = Cost::default();
    for (at, turn) in trace.turns.iter().enumerate() {
        let first = trace.sel.window_turns().map_or(0, |window| at.saturating_sub(window as usize));
        let touched = trace.turns.get(first..=at).unwrap_or_default().iter().flat_map(|turn| &turn.touched);
        let selected: BTreeSet<&str> =
            touched.map(String::as_str).filter(|path| files.contains_key(path)).collect();
        let request = counted(format!("<user {at}> {}\n", turn.prompt));
        let content = LayoutContent {
            system: system.as_str().into(),
            map: files
                .iter()
                .filter(|(path, _)| !selected.contains(*path))
                .map(|(path, text)| {
                    let text = format!("{}\n", map_block(path, text));
                    PromptPiece::new(ItemKey::Symbol((*path).into()), text, &count)
                })
                .collect(),
            hidden: selected.iter().map(|path| (FileKey::from(*path), ContentHash::NONE)).collect(),
            files: selected.iter().filter_map(|path| Some(file(path, files.get(path)?))).collect(),
            tree: FileListInput {
                files: files.keys().map(|path| FileKey::from(*path)).collect(),
                ..FileListInput::default()
            },
            history: history.clone(),
            request: vec![request.clone()],
            framing: FRAMING,
            ..LayoutContent::empty(&seeds, &excluded, &count)
        };
        cost.no_cache += uncached_tokens(&content) + SYSTEM + FRAMING;
        let output = PolicyName::Ledger.policy().lay_out(&state, &content, &rules);
        state = output.new_state;
        let charge = provider.charge(&spans(&output.layout, FRAMING), at as u64).unwrap_or_default();
        cost.ledger += charge.cost;

        let sent_message =
            |id, speaker, block| SentMessage { id: MessageId(id), speaker, blocks: vec![block] };
        let answer = counted(format!("<assistant {at}> {}\n", turn.answer));
        history.push(sent_message(2 * at as u64, Speaker::User, request));
        history.push(sent_message(2 * at as u64 + 1, Speaker::Assistant, answer));
        for (path, text) in &turn.edits {
            match text {
                Some(text) => drop(files.insert(path, text)),
                None => drop(files.remove(path.as_str())),
            }
        }
    }
    cost
}

/// Counts the tokens of the content without a cache: all map blocks in one content block, and one content block for each
/// other item. Excludes the system prompt.
fn uncached_tokens(content: &LayoutContent<'_>) -> usize {
    let map: usize = content.map.iter().map(|piece| piece.tokens).sum();
    let map = (map > 0).then_some(map);
    let files = content.files.iter().map(|piece| piece.tokens);
    let messages = content.history.iter().map(SentMessage::tokens);
    let request = content.request.iter().map(|block| block.tokens);
    map.into_iter().chain(files).chain(messages).chain(request).map(|tokens| tokens + FRAMING).sum()
}

/// Counts a quarter token per character. Wording that Strata adds counts as much as in the other implementation.
fn count(text: &str) -> usize {
    let quarter = |text: &str| text.chars().count().div_ceil(4);
    if let Some(blocks) = text.strip_prefix("# Repository Structure\n") {
        return blocks.split("\n\n").map(|block| quarter(block.trim_start_matches('\n'))).sum();
    }
    if let Some((_, block)) = text.split_once("\n\n").filter(|_| text.starts_with("## Outline of ")) {
        return quarter(block);
    }
    if text.starts_with("# Current versions") {
        return PENDING * text.matches("\n- ").count();
    }
    let is_update = text.starts_with("## Update of ") || text.starts_with("## All updates of ");
    match text.split_once("diff\n").filter(|_| is_update) {
        Some((_, diff)) => quarter(diff.trim_end_matches('`')) + DIFF,
        None => quarter(text),
    }
}

fn counted(text: String) -> CountedBlock {
    CountedBlock { tokens: count(&text), content: ContentBlock::text(text) }
}

fn file(path: &str, text: &str) -> PromptPiece {
    let shown = format!("{path}\n```\n{text}\n```\n");
    PromptPiece { body: text.into(), ..PromptPiece::new(ItemKey::File(path.into()), shown, &count) }
}

/// The signature lines of a file, cut to 110 characters each and to some 1,600 together.
fn map_block(path: &str, text: &str) -> String {
    let mut block = format!("{path}:");
    let mut length = path.chars().count();
    for line in text.split(is_line_end).filter(|line| SIGNATURE.is_match(line)) {
        let line: String = line.trim().chars().take(110).collect();
        length += line.chars().count() + 2;
        if length > 1_600 {
            break;
        }
        block.push_str("\n ");
        block.push_str(&line);
    }
    block
}

/// Where Python's `str.splitlines` ends a line; the empty line inside CRLF matches no signature.
fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\x0B' | '\x0C' | '\x1C'..='\x1E' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A made-up session of sixteen turns over nine files. An independent implementation of the same rules and prices, run
/// with the same counts, charges 26,453.55 for it, and 62,954 without a cache.
#[test]
fn the_cost_matches_an_independent_implementation() {
    let trace = serde_json::from_str(include_str!("reference_cost/made_up.json")).unwrap();
    let cost = cost_of(&trace);
    assert_eq!(cost.no_cache, 62_954);
    let ratio = cost.ledger / 26_453.55;
    assert!((0.99..=1.01).contains(&ratio), "{ratio}");
}

#[test]
fn the_log_costs_less_than_no_cache() {
    let text = |at: usize| format!("def f(x):\n    return {at}\n{}", "    # as it was before\n".repeat(60));
    let turn = |at: usize| TraceTurn {
        prompt: format!("Change number {at}"),
        edits: [(format!("m{}.py", at % 3), Some(text(at)))].into(),
        touched: vec![format!("m{}.py", at % 3)],
        ..TraceTurn::default()
    };
    for sel in [SelectionRule::Window(3), SelectionRule::Window(5), SelectionRule::Grow] {
        let trace = Trace {
            name: "project".to_owned(),
            files0: (0..3).map(|at| (format!("m{at}.py"), text(at))).collect(),
            recency: BTreeMap::new(),
            sel,
            turns: (0..12).map(turn).collect(),
        };
        let cost = cost_of(&trace);
        assert!(cost.ledger > 0.0 && cost.ledger < cost.no_cache as f64, "{sel}: {cost:?}");
    }
}

#[test]
fn map_blocks_contain_signature_lines() {
    let text =
        "import x\nclass A:\n    def f(self):\n        pass\r\nMAX = 3\nx.y = function() {}\nM.z = 1\n";
    assert_eq!(
        map_block("a.py", text),
        "a.py:\n class A:\n def f(self):\n MAX = 3\n x.y = function() {}\n M.z = 1"
    );
}
