//! The lifecycle of items under `ripple`, in scripted sequences of requests.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, MessageId, ToolOutcome};
use strata_tokens::cost::Prices;
use strata_tokens::models::Ttl;

use super::*;
use crate::layout::{CountedBlock, FileListInput, TierSeeds};
use crate::trust::Trust;

/// Abbreviated content of a prompt: the items and their texts.
#[derive(Clone, Default, Debug)]
struct PromptContent {
    map: Vec<(&'static str, &'static str)>,
    hidden: Vec<&'static str>,
    files: Vec<(&'static str, String)>,
    messages: Vec<(u64, String)>,
    pages: Vec<(&'static str, &'static str)>,
    seeds: TierSeeds,
}

static NOTHING: BTreeSet<FileKey> = BTreeSet::new();

fn count(text: &str) -> usize {
    text.len()
}

impl PromptContent {
    fn content(&self) -> LayoutContent<'_> {
        let piece = |key, text: &str| PromptPiece::new(key, text, &count);
        let sent_message = |(id, text): &(u64, String)| SentMessage {
            id: MessageId(*id),
            speaker: if id % 2 == 0 { Speaker::User } else { Speaker::Assistant },
            blocks: vec![CountedBlock { content: ContentBlock::text(text), tokens: text.len() }],
        };
        LayoutContent {
            system: "system".into(),
            map: self.map.iter().map(|(path, text)| piece(ItemKey::Symbol((*path).into()), text)).collect(),
            hidden: self.hidden.iter().map(|path| (FileKey::from(*path), ContentHash::NONE)).collect(),
            files: self.files.iter().map(|(path, text)| piece(ItemKey::File((*path).into()), text)).collect(),
            urls: self.pages.iter().map(|(address, text)| piece(page(address), text)).collect(),
            tree: FileListInput { files: vec!["a".into()], outlined: vec![], focus: vec![], budget: 100 },
            history: self.messages.iter().map(sent_message).collect(),
            request: vec![CountedBlock { content: ContentBlock::text("prompt"), tokens: 6 }],
            trust: Trust::Trusted,
            ..LayoutContent::empty(&self.seeds, &NOTHING, &count)
        }
    }
}

fn page(address: &str) -> ItemKey {
    ItemKey::Url(strata_base::hash::ContentHash::from_text(address))
}

/// A session that sends a sequence of prompts.
struct RippleSession {
    state: TierState,
    rules: LayoutRules,
}

impl RippleSession {
    fn new(target: usize) -> Self {
        Self {
            state: TierState::default(),
            rules: LayoutRules::new(target, Ttl::FiveMinutes, Prices::uncached()),
        }
    }

    fn send(&mut self, prompt: &PromptContent) -> Layout {
        let output = RipplePolicy.lay_out(&self.state, &prompt.content(), &self.rules);
        self.state = output.new_state;
        output.layout
    }

    fn tier(&self, key: &str) -> Tier {
        self.state.tier_of(&serde_json::from_value(key.into()).unwrap())
    }

    /// Creates a session whose state contains these items.
    fn with_items(target: usize, items: impl IntoIterator<Item = (ItemKey, TrackedItem)>) -> Self {
        Self { state: TierState::Ripple(RippleState::from_items(items)), ..Self::new(target) }
    }

    fn n(&self, key: &str) -> u32 {
        let TierState::Ripple(state) = &self.state else { panic!("nothing is remembered") };
        state.items()[&serde_json::from_value(key.into()).unwrap()].n
    }
}

/// Formats the prompt as lines: speaker, tier, breakpoint, text.
fn prompt_summary(layout: &Layout) -> String {
    let mut out = String::new();
    for message in &layout.messages {
        for block in &message.blocks {
            let ContentBlock::Text { text } = &block.content else { continue };
            let mark = if block.mark.is_some() { "|" } else { " " };
            let first = text.lines().next().unwrap_or_default();
            let _ = writeln!(out, "{:?} {}{mark} {first}", message.speaker, block.tier);
        }
    }
    out
}

fn check(layout: &Layout, expected: &Expect) {
    expected.assert_eq(&prompt_summary(layout));
}

fn file_content(text: &str) -> PromptContent {
    PromptContent { files: vec![("a", text.to_owned())], ..PromptContent::default() }
}

#[test]
fn an_unchanged_file_enters_l3_after_three_requests() {
    let mut session = RippleSession::new(0);
    let mut tiers = Vec::new();
    for _ in 0..14 {
        session.send(&file_content("x"));
        tiers.push((session.tier("file:a"), session.n("file:a")));
    }
    // N counts 0, 1, 2 while active; at 3 the item graduates. N in a cached tier only grows when the tier is rebuilt,
    // and nothing rebuilds L3 here, so it stays 3.
    assert_eq!(tiers[..4], [(Tier::Active, 0), (Tier::Active, 1), (Tier::Active, 2), (Tier::L3, 3)]);
    assert_eq!(tiers[4..], [(Tier::L3, 3); 10]);
}

#[test]
fn items_are_promoted_only_when_their_tier_is_rebuilt_and_the_next_one_may_change() {
    let mut session = RippleSession::new(0);
    let mut prompt = file_content("x");
    for name in ["b", "c", "d", "e", "f", "g"] {
        for _ in 0..4 {
            session.send(&prompt);
        }
        prompt.files.push((name, "y".into()));
    }
    // Each new item breaks L3 once, so that the N of existing items is incremented. At 6, the first one is promoted,
    // because L2 is empty.
    assert_eq!((session.tier("file:a"), session.n("file:a")), (Tier::L2, 6));
    assert_eq!((session.tier("file:b"), session.n("file:b")), (Tier::L3, 6), "L2 is stable, so it waits");
    prompt.files.remove(0);
    session.send(&prompt);
    assert_eq!(session.tier("file:b"), Tier::L3, "L3 itself was not rebuilt");
    for _ in 0..3 {
        session.send(&prompt);
    }
    assert_eq!(
        (session.tier("file:b"), session.n("file:b")),
        (Tier::L2, 6),
        "L2 was empty when L3 was rebuilt"
    );
}

#[test]
fn a_changed_file_becomes_active_with_a_counter_of_zero() {
    let mut session = RippleSession::new(0);
    for _ in 0..4 {
        session.send(&file_content("x"));
    }
    assert_eq!(session.tier("file:a"), Tier::L3);
    let layout = session.send(&file_content("changed"));
    assert!(
        prompt_summary(&layout).contains("User active  changed"),
        "shown outside the cache at once: {}",
        prompt_summary(&layout)
    );
    assert_eq!((session.tier("file:a"), session.n("file:a")), (Tier::Active, 0));
}

#[test]
fn deselecting_removes_the_file_and_restores_its_outline_in_place() {
    let mut session = RippleSession::new(0);
    let seeds = TierSeeds { referenced: vec!["b".into()], clusters: vec![] };
    let unselected =
        PromptContent { map: vec![("a", "map a"), ("b", "map b")], seeds, ..PromptContent::default() };
    session.send(&unselected);
    let before = session.tier("symbol:a");
    let selected = PromptContent {
        map: vec![("b", "map b")],
        hidden: vec!["a"],
        files: vec![("a", "full a".into())],
        seeds: unselected.seeds.clone(),
        ..PromptContent::default()
    };
    for _ in 0..5 {
        let prompt_summary = prompt_summary(&session.send(&selected));
        assert!(prompt_summary.contains("full a") && !prompt_summary.contains("map a"), "{prompt_summary}");
    }
    assert_eq!(session.tier("file:a"), Tier::L3);
    let prompt_summary = prompt_summary(&session.send(&unselected));
    assert!(!prompt_summary.contains("full a") && prompt_summary.contains("map a"), "{prompt_summary}");
    assert_eq!(session.tier("symbol:a"), before);
    assert_eq!(session.tier("file:a"), Tier::Active, "forgotten");
}

#[test]
fn excluding_a_file_forgets_its_outline() {
    let mut session = RippleSession::new(0);
    let prompt = PromptContent { map: vec![("a", "map a"), ("b", "map b")], ..PromptContent::default() };
    session.send(&prompt);
    assert_ne!(session.tier("symbol:a"), Tier::Active);
    let prompt_summary = prompt_summary(
        &session.send(&PromptContent { map: vec![("b", "map b")], ..PromptContent::default() }),
    );
    assert!(!prompt_summary.contains("map a"), "{prompt_summary}");
    assert_eq!(session.tier("symbol:a"), Tier::Active, "forgotten");
}

#[test]
fn the_first_prompt_fills_l0_and_keeps_clusters_together() {
    let mut session = RippleSession::new(10);
    let map = vec![
        ("a", "aaaaaaaaaa"),
        ("b", "bbbbbbbbbb"),
        ("c", "cccccccccc"),
        ("d", "dddddddddd"),
        ("e", "eeeeeeeeee"),
    ];
    let seeds =
        TierSeeds { referenced: vec!["c".into(), "a".into()], clusters: vec![vec!["b".into(), "e".into()]] };
    let prompt = PromptContent { map, seeds, ..PromptContent::default() };
    let layout = session.send(&prompt);
    assert_eq!(session.tier("symbol:c"), Tier::L0, "the most referenced, up to the target");
    assert_eq!(session.tier("symbol:b"), session.tier("symbol:e"), "one cluster, one tier");
    assert_eq!((session.n("symbol:c"), session.n("symbol:b")), (12, 9));
    check(
        &layout,
        &expect![[r#"
            System L0  system
            System L0  # Repository Structure
            System L0| cccccccccc
            User L1  # Repository Structure (continued)
            User L1  bbbbbbbbbb
            Assistant L1| Ok.
            User L2  # Repository Structure (continued)
            User L2  aaaaaaaaaa
            Assistant L2| Ok.
            User L3  # Repository Structure (continued)
            User L3  dddddddddd
            Assistant L3| Ok.
            User active  # Repository Files
            Assistant active  Ok.
            User active  prompt
        "#]],
    );
}

#[test]
fn ripple_puts_nothing_of_an_untrusted_workspace_in_the_system_message() {
    let prompt = PromptContent {
        map: vec![("a", "map a"), ("b", "map b")],
        files: vec![("c", "file c".to_owned()), ("d", "file d".to_owned())],
        messages: vec![(0, "question".into()), (1, "answer".into())],
        ..PromptContent::default()
    };
    let in_tier = |tier| TrackedItem { tier, n: 12, hash: None, tokens: 6 };
    let items = [
        (ItemKey::Symbol("a".into()), Tier::L0),
        (ItemKey::Symbol("b".into()), Tier::L1),
        (ItemKey::File("c".into()), Tier::L0),
        (ItemKey::History(MessageId(0)), Tier::L0),
        (ItemKey::History(MessageId(1)), Tier::L0),
    ];
    let state = TierState::Ripple(RippleState::from_items(items.map(|(key, tier)| (key, in_tier(tier)))));
    let rules = LayoutRules::new(10, Ttl::FiveMinutes, Prices::uncached());
    let lay_out =
        |trust| RipplePolicy.lay_out(&state, &LayoutContent { trust, ..prompt.content() }, &rules).layout;
    let (trusted, layout) = (lay_out(Trust::Trusted), lay_out(Trust::Untrusted));
    check(
        &layout,
        &expect![[r#"
            System L0  system
            User L0  # Repository Structure
            User L0  map a
            User L0  # Reference Files (Stable)
            User L0  file c
            User L0  question
            Assistant L0| answer
            User L1  # Repository Structure (continued)
            User L1  map b
            Assistant L1| Ok.
            User active  # Repository Files
            Assistant active  Ok.
            User active  # Working Files
            User active  file d
            Assistant active  Ok.
            User active  prompt
        "#]],
    );
    // The cost depends on blocks, their tokens and breakpoints, but not on the speaker.
    let blocks = |layout: &Layout| layout.blocks().cloned().collect::<Vec<_>>();
    assert_eq!(blocks(&layout), blocks(&trusted));
    assert_eq!(layout.messages.len(), trusted.messages.len());
    assert_eq!(prompt_summary(&trusted).matches("System").count(), 5, "{}", prompt_summary(&trusted));
}

#[test]
fn all_eligible_messages_enter_l3_when_it_is_rebuilt() {
    let mut session = RippleSession::new(1_000);
    let mut prompt =
        PromptContent { messages: vec![(0, "q".into()), (1, "a".into())], ..PromptContent::default() };
    for _ in 0..6 {
        session.send(&prompt);
    }
    assert_eq!(session.tier("history:0"), Tier::Active, "less than a target's worth stays");
    prompt.files.push(("f", "text".into()));
    for _ in 0..4 {
        session.send(&prompt);
    }
    assert_eq!((session.tier("file:f"), session.tier("history:0")), (Tier::L3, Tier::L3));
}

#[test]
fn messages_beyond_the_target_enter_l3_oldest_first() {
    let mut session = RippleSession::new(10);
    let messages = (0..6).map(|id| (id, "12345".to_owned())).collect();
    let prompt = PromptContent { messages, ..PromptContent::default() };
    for _ in 0..4 {
        session.send(&prompt);
    }
    let tiers: Vec<Tier> = (0..6).map(|id| session.tier(&format!("history:{id}"))).collect();
    assert_eq!(tiers, [Tier::L3, Tier::L3, Tier::L3, Tier::L3, Tier::Active, Tier::Active]);
}

#[test]
fn calls_and_their_results_form_one_run() {
    let call = || ContentBlock::ToolCall { id: "a".into(), name: "read".into(), input: json!({}) };
    let result =
        || ContentBlock::ToolResult { call_id: "a".into(), content: Vec::new(), outcome: ToolOutcome::Ok };
    let text = || ContentBlock::text("text");
    let (user, model) = (Speaker::User, Speaker::Assistant);
    let lengths = |messages: &[(Speaker, ContentBlock)]| -> Vec<usize> {
        let history: Vec<SentMessage> = (1..)
            .zip(messages)
            .map(|(id, (speaker, content))| SentMessage {
                id: MessageId(id),
                speaker: *speaker,
                blocks: vec![CountedBlock { content: content.clone(), tokens: 1 }],
            })
            .collect();
        indivisible_runs(&history).map(<[SentMessage]>::len).collect()
    };
    assert_eq!(lengths(&[(user, text()), (model, text()), (user, text()), (user, text())]), [1, 1, 1, 1]);
    assert_eq!(lengths(&[(model, call()), (user, result()), (model, text())]), [2, 1]);
    // A result is expected directly after the assistant's messages.
    assert_eq!(lengths(&[(model, call()), (model, text()), (user, result()), (user, text())]), [3, 1]);
    assert_eq!(lengths(&[(model, call()), (user, result()), (model, text()), (user, result())]), [2, 1, 1]);
}

#[test]
fn the_target_is_a_tenth_over_the_larger_minimum() {
    assert_eq!((tier_target(512), tier_target(1_024), tier_target(2_000)), (1_127, 1_127, 2_200));
    assert!(tier_target(usize::MAX) >= usize::MAX / 10);
}

#[test]
fn items_of_an_underfilled_tier_are_demoted_by_one_tier() {
    let mut state = RippleState::default();
    let tracked = |tier, n| TrackedItem { tier, n, hash: None, tokens: 5 };
    state.items.insert(ItemKey::Symbol("a".into()), tracked(Tier::L1, 9));
    state.items.insert(ItemKey::Symbol("b".into()), tracked(Tier::L2, 6));
    state.seeded = state::PlacementState::Done;
    let prompt = PromptContent { map: vec![("a", "aaaaa"), ("b", "bbbbb")], ..PromptContent::default() };
    let mut session = RippleSession::new(10);
    session.state = TierState::Ripple(state);
    session.send(&prompt);
    assert_eq!((session.tier("symbol:b"), session.tier("symbol:a")), (Tier::L3, Tier::L2));
}

#[test]
fn items_with_the_lowest_counters_anchor_an_overfull_tier() {
    let mut state = RippleState::default();
    let tracked = |n| TrackedItem { tier: Tier::L3, n, hash: None, tokens: 5 };
    state.items.insert(ItemKey::File("low".into()), tracked(3));
    state.items.insert(ItemKey::File("mid".into()), tracked(4));
    state.items.insert(ItemKey::File("high".into()), tracked(5));
    let files = vec![("low", "aaaaa".into()), ("mid", "bbbbb".into()), ("high", "ccccc".into())];
    let mut session = RippleSession::new(10);
    session.state = TierState::Ripple(state);
    // `new` graduates with its fourth prompt and breaks L3.
    let mut prompt = PromptContent { files, ..PromptContent::default() };
    prompt.files.push(("new", "ddddd".into()));
    for _ in 0..4 {
        session.send(&prompt);
    }
    assert_eq!((session.n("file:low"), session.n("file:mid")), (3, 4), "anchored");
    assert_eq!(session.tier("file:high"), Tier::L2, "5 + 1 reaches the threshold and L2 was empty");
}

fn tracked(tier: Tier, n: u32, tokens: usize) -> TrackedItem {
    TrackedItem { tier, n, hash: None, tokens }
}

#[test]
fn files_outside_clusters_go_to_the_smallest_tier_largest_first() {
    let mut session = RippleSession::new(1);
    let seeds = TierSeeds { referenced: vec!["a".into()], clusters: vec![vec!["b".into(), "c".into()]] };
    let map = vec![("a", "aa"), ("b", "bbbb"), ("c", "cccc"), ("d", "ddddddd"), ("e", "eeeee"), ("f", "f")];
    session.send(&PromptContent { map, seeds, ..PromptContent::default() });
    let tiers = ["a", "b", "c", "d", "e", "f"].map(|path| session.tier(&format!("symbol:{path}")));
    // The cluster has 8 tokens, `d` has 7 and `e` has 5, so each gets its own tier. `f` joins the smallest tier.
    assert_eq!(tiers, [Tier::L0, Tier::L1, Tier::L1, Tier::L2, Tier::L3, Tier::L3]);
}

#[test]
fn underfilled_tiers_are_merged_in_the_first_prompt() {
    let mut session = RippleSession::new(10);
    let map = vec![("a", "aaaa"), ("b", "bbbb"), ("c", "cccc")];
    session.send(&PromptContent { map, ..PromptContent::default() });
    let tiers: BTreeSet<Tier> =
        ["a", "b", "c"].into_iter().map(|path| session.tier(&format!("symbol:{path}"))).collect();
    assert_eq!(tiers.len(), 1, "{tiers:?}: none of them alone is worth a breakpoint");
}

#[test]
fn a_new_web_page_is_in_l1() {
    let mut session = RippleSession::new(0);
    session.send(&PromptContent::default());
    let prompt = PromptContent { pages: vec![("https://a", "page")], ..PromptContent::default() };
    let prompt_summary = prompt_summary(&session.send(&prompt));
    assert!(
        prompt_summary.contains("User L1  # URL Context\nUser L1  page\nAssistant L1| Ok.\n"),
        "{prompt_summary}"
    );
    let key = page("https://a").to_wire_string();
    assert_eq!((session.tier(&key), session.n(&key)), (Tier::L1, 9));
    let changed = PromptContent { pages: vec![("https://a", "another")], ..PromptContent::default() };
    session.send(&changed);
    assert_eq!((session.tier(&key), session.n(&key)), (Tier::Active, 0), "a change counts as any other does");
}

#[test]
fn l0_under_the_target_is_refilled_only_when_l1_is_broken_anyway() {
    let symbol = |path: &str| ItemKey::Symbol(path.into());
    let items = [
        (symbol("a"), tracked(Tier::L0, 12, 4)),
        (symbol("b"), tracked(Tier::L1, 10, 6)),
        (symbol("c"), tracked(Tier::L1, 9, 6)),
        (symbol("d"), tracked(Tier::L1, 11, 6)),
    ];
    let mut session = RippleSession::with_items(10, items);
    let map = vec![("a", "aaaa"), ("b", "bbbbbb"), ("c", "cccccc"), ("d", "dddddd")];
    let prompt = PromptContent { map, ..PromptContent::default() };
    session.send(&prompt);
    assert_eq!(session.tier("symbol:d"), Tier::L1, "nothing broke L1");
    let fewer = PromptContent {
        map: prompt.map.iter().filter(|(path, _)| *path != "c").copied().collect(),
        ..prompt
    };
    session.send(&fewer);
    assert_eq!(session.tier("symbol:d"), Tier::L0, "the most lasting one goes up");
    assert_eq!(session.tier("symbol:b"), Tier::L1, "and no more than the target needs");
}

#[test]
fn demoted_items_get_the_entry_count_of_their_new_tier() {
    let mut session = RippleSession::with_items(
        10,
        [
            (ItemKey::Symbol("a".into()), tracked(Tier::L1, 11, 5)),
            (ItemKey::Symbol("b".into()), tracked(Tier::L2, 8, 20)),
        ],
    );
    session.send(&PromptContent {
        map: vec![("a", "aaaaa"), ("b", "bbbbbbbbbbbbbbbbbbbb")],
        ..PromptContent::default()
    });
    assert_eq!((session.tier("symbol:a"), session.n("symbol:a")), (Tier::L2, 6));
    assert_eq!(
        (session.tier("symbol:b"), session.n("symbol:b")),
        (Tier::L2, 8),
        "who was there stays as it was"
    );
}

#[test]
fn an_item_stays_at_the_threshold_while_the_tier_above_is_stable() {
    let mut session = RippleSession::with_items(
        0,
        [
            (ItemKey::File("a".into()), tracked(Tier::L3, 5, 1)),
            (ItemKey::File("b".into()), tracked(Tier::L3, 4, 1)),
            (ItemKey::File("c".into()), tracked(Tier::L2, 6, 1)),
        ],
    );
    let mut prompt = PromptContent {
        files: ["a", "b", "c"].map(|path| (path, "x".to_owned())).to_vec(),
        ..PromptContent::default()
    };
    // A change of `b` breaks L3, which `b` then leaves.
    prompt.files[1].1 = "y".into();
    let TierState::Ripple(state) = &mut session.state else { panic!() };
    state.items.get_mut(&ItemKey::File("b".into())).unwrap().hash =
        Some(strata_base::hash::ContentHash::from_text("x"));
    session.send(&prompt);
    assert_eq!(
        (session.tier("file:a"), session.n("file:a")),
        (Tier::L3, 6),
        "at the threshold, L2 is stable"
    );
}

#[test]
fn a_rebuild_places_selected_files_with_their_clusters() {
    let mut session = RippleSession::new(10);
    let seeds =
        TierSeeds { referenced: vec!["a".into(), "b".into()], clusters: vec![vec!["b".into(), "c".into()]] };
    let prompt = PromptContent {
        map: vec![("a", "aaaaaaaaaa"), ("b", "bbbbbbbbbb"), ("d", "dddddddddddd"), ("e", "eeeeeeeeeee")],
        hidden: vec!["c"],
        files: vec![("c", "cc".into())],
        messages: (0..6).map(|id| (id, "12345".to_owned())).collect(),
        seeds,
        ..PromptContent::default()
    };
    session.send(&prompt);
    assert_eq!(
        (session.tier("file:c"), session.n("file:c")),
        (Tier::Active, 0),
        "a session starts with it active"
    );
    session.state.reset_tiers();
    let layout = session.send(&prompt);
    assert_eq!(session.tier("symbol:a"), Tier::L0);
    assert_eq!(
        (session.tier("file:c"), session.tier("symbol:b")),
        (Tier::L1, Tier::L1),
        "{}",
        prompt_summary(&layout)
    );
    assert_eq!(session.n("file:c"), 9);
    let history = (0..6).map(|id| session.tier(&format!("history:{id}")));
    let expected = [Tier::L3, Tier::L3, Tier::L3, Tier::L3, Tier::Active, Tier::Active];
    assert_eq!(history.collect::<Vec<_>>(), expected, "the newest target's worth stays active");
    check(
        &layout,
        &expect![[r#"
            System L0  system
            System L0  # Repository Structure
            System L0| aaaaaaaaaa
            User L1  # Repository Structure (continued)
            User L1  bbbbbbbbbb
            User L1  # Reference Files
            User L1  cc
            Assistant L1| Ok.
            User L2  # Repository Structure (continued)
            User L2  dddddddddddd
            Assistant L2| Ok.
            User L3  # Repository Structure (continued)
            User L3  eeeeeeeeeee
            Assistant L3  Ok.
            User L3  12345
            Assistant L3  12345
            User L3  12345
            Assistant L3| 12345
            User active  # Repository Files
            Assistant active  Ok.
            User active  12345
            Assistant active  12345
            User active  prompt
        "#]],
    );
    let again = session.send(&prompt);
    assert_eq!(prompt_summary(&again), prompt_summary(&layout), "a rebuild happens once");
}

#[test]
fn a_rebuild_keeps_the_tiers_of_messages_and_hidden_outlines() {
    let mut session = RippleSession::with_items(
        10,
        [
            (ItemKey::History(MessageId(0)), tracked(Tier::L1, 9, 1)),
            (ItemKey::Symbol("a".into()), tracked(Tier::L2, 7, 20)),
            (ItemKey::File("a".into()), tracked(Tier::L3, 4, 1)),
            (ItemKey::File("gone".into()), tracked(Tier::L3, 4, 1)),
        ],
    );
    session.state.reset_tiers();
    let prompt = PromptContent {
        hidden: vec!["a"],
        files: vec![("a", "aaaaaaaaaaa".into())],
        messages: vec![(0, "q".into())],
        ..PromptContent::default()
    };
    session.send(&prompt);
    assert_eq!((session.tier("history:0"), session.tier("symbol:a")), (Tier::L1, Tier::L2));
    assert_eq!(session.tier("file:a"), Tier::L1);
}

#[test]
fn item_stats_give_the_counter_and_the_threshold() {
    let (a, message) = (ItemKey::File("a".into()), ItemKey::History(MessageId(0)));
    let state = RippleState::from_items([
        (a.clone(), tracked(Tier::L2, 8, 1)),
        (message.clone(), tracked(Tier::L3, 5, 1)),
    ]);
    let item_stats = |key: &ItemKey, tier| {
        let RippleItemStats { n, threshold } = state.item_stats(key, tier);
        (n, threshold)
    };
    assert_eq!(item_stats(&a, Tier::L2), (8, Some(9)));
    assert_eq!(item_stats(&a, Tier::Active), (0, Some(3)), "changed, so it starts over");
    assert_eq!(item_stats(&message, Tier::Active), (5, Some(3)), "held back by an older one");
    assert_eq!(item_stats(&ItemKey::File("new".into()), Tier::L0), (12, None));
}

#[derive(Clone, Debug)]
enum Step {
    Select(usize),
    Deselect(usize),
    Edit(usize),
    Say,
    Clear,
    Fetch,
    Rebuild,
    Send,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..6usize).prop_map(Step::Select),
        1 => (0..6usize).prop_map(Step::Deselect),
        1 => (0..6usize).prop_map(Step::Edit),
        2 => Just(Step::Say),
        1 => Just(Step::Clear),
        1 => Just(Step::Fetch),
        1 => Just(Step::Rebuild),
        6 => Just(Step::Send),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    /// In any session, everything selected is in the prompt exactly once with its current text, and nothing else is;
    /// the conversation is complete and in order; tiers are in order; at most four breakpoints are set; and the same
    /// state gives the same bytes.
    #[test]
    fn every_prompt_is_complete_ordered_and_repeatable(steps in steps(), target in 0..60usize) {
        const PATHS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        let mut session = RippleSession::new(target);
        let mut selected: BTreeSet<usize> = BTreeSet::new();
        let mut edits = [0; 6];
        let mut messages: Vec<(u64, String)> = Vec::new();
        let mut next = 0;
        let mut pages: Vec<(&str, &str)> = Vec::new();
        let mut fetched = 0;
        for step in steps {
            match step {
                Step::Select(at) => { selected.insert(at); }
                Step::Deselect(at) => { selected.remove(&at); }
                Step::Edit(at) => edits[at] += 1,
                Step::Say => { messages.push((next, format!("said {next}"))); next += 1; }
                Step::Clear => messages.clear(),
                Step::Fetch => {
                    fetched += 1;
                    pages = vec![("https://a", ["one", "two", "three"][fetched % 3])];
                }
                Step::Rebuild => session.state.reset_tiers(),
                Step::Send => {
                    let seeds = TierSeeds { referenced: vec!["b".into(), "f".into()], clusters: vec![vec!["a".into(), "c".into()]] };
                    let unselected_files: Vec<usize> = (0..6).filter(|at| !selected.contains(at)).collect();
                    let map: Vec<String> = (0..6).map(|at| format!("map {} of {}", edits[at] / 2, PATHS[at])).collect();
                    let map = unselected_files.iter().map(|&at| (PATHS[at], &*map[at].clone().leak())).collect();
                    let prompt = PromptContent {
                        map,
                        hidden: selected.iter().map(|&at| PATHS[at]).collect(),
                        files: selected.iter().map(|&at| (PATHS[at], format!("text {} of {}", edits[at], PATHS[at]))).collect(),
                        messages: messages.clone(),
                        pages: pages.clone(),
                        seeds,
                    };
                    let again = RipplePolicy.lay_out(&session.state, &prompt.content(), &session.rules);
                    let layout = session.send(&prompt);
                    prop_assert_eq!(&layout, &again.layout);

                    let shown: Vec<&ItemKey> = layout.blocks().flat_map(|block| &block.items).collect();
                    let distinct: BTreeSet<&ItemKey> = shown.iter().copied().collect();
                    prop_assert_eq!(shown.len(), distinct.len(), "an item twice");
                    let item_keys = state::item_keys(&prompt.content());
                    let hidden: BTreeSet<ItemKey> = prompt.hidden.iter().map(|path| ItemKey::Symbol((*path).into())).collect();
                    let mut expected: BTreeSet<ItemKey> = item_keys.difference(&hidden).cloned().collect();
                    expected.insert(ItemKey::System);
                    prop_assert_eq!(distinct.into_iter().cloned().collect::<BTreeSet<_>>(), expected);

                    let history: Vec<&ItemKey> = shown.iter().copied().filter(|key| matches!(key, ItemKey::History(_))).collect();
                    let in_order: Vec<ItemKey> = messages.iter().map(|(id, _)| ItemKey::History(MessageId(*id))).collect();
                    prop_assert_eq!(history, in_order.iter().collect::<Vec<_>>());

                    let tiers: Vec<Tier> = layout.blocks().map(|block| block.tier).collect();
                    prop_assert!(tiers.is_sorted(), "{:?}", tiers);
                    prop_assert!(layout.blocks().filter(|block| block.mark.is_some()).count() <= 4);
                    let all: String = layout.blocks().map(|block| match &block.content {
                        ContentBlock::Text { text } => text.clone(),
                        _ => String::new(),
                    }).collect::<Vec<_>>().join("\n");
                    for (path, text) in &prompt.files {
                        prop_assert!(all.contains(text.as_str()), "{} is not current", path);
                    }
                }
            }
        }
    }
}
