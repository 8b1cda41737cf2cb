//! The lifecycle of items under `ripple`, in scripted sequences of requests.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, MessageId, Outcome};
use strata_tokens::cost::Prices;
use strata_tokens::models::Ttl;

use super::*;
use crate::layout::{Seeds, Tree, WeighedBlock};
use crate::trust::Trust;

/// Abbreviated content of a prompt: the items and their texts.
#[derive(Clone, Default, Debug)]
struct Script {
    map: Vec<(&'static str, &'static str)>,
    behind: Vec<&'static str>,
    files: Vec<(&'static str, String)>,
    said: Vec<(u64, String)>,
    pages: Vec<(&'static str, &'static str)>,
    seeds: Seeds,
}

static NOTHING: BTreeSet<FileKey> = BTreeSet::new();

fn count(text: &str) -> usize {
    text.len()
}

impl Script {
    fn content(&self) -> Content<'_> {
        let piece = |key, text: &str| Piece::new(key, text, &count);
        let said = |(id, text): &(u64, String)| SentMessage {
            id: MessageId(*id),
            speaker: if id % 2 == 0 { Speaker::User } else { Speaker::Assistant },
            blocks: vec![WeighedBlock { content: ContentBlock::text(text), tokens: text.len() }],
        };
        Content {
            system: "system".into(),
            map: self.map.iter().map(|(path, text)| piece(ItemKey::Symbol((*path).into()), text)).collect(),
            hidden: self.behind.iter().map(|path| (FileKey::from(*path), ContentHash::NONE)).collect(),
            files: self.files.iter().map(|(path, text)| piece(ItemKey::File((*path).into()), text)).collect(),
            urls: self.pages.iter().map(|(address, text)| piece(page(address), text)).collect(),
            tree: Tree { files: vec!["a".into()], outlined: vec![], focus: vec![], budget: 100 },
            history: self.said.iter().map(said).collect(),
            request: vec![WeighedBlock { content: ContentBlock::text("prompt"), tokens: 6 }],
            trust: Trust::Trusted,
            ..Content::empty(&self.seeds, &NOTHING, &count)
        }
    }
}

fn page(address: &str) -> ItemKey {
    ItemKey::Url(strata_base::hash::ContentHash::of(address))
}

/// A session that sends a sequence of prompts.
struct Play {
    state: TierState,
    rules: Rules,
}

impl Play {
    fn new(target: usize) -> Self {
        Self { state: TierState::default(), rules: Rules::new(target, Ttl::FiveMinutes, Prices::uncached()) }
    }

    /// Sends a prompt and records it.
    fn send(&mut self, script: &Script) -> Layout {
        let laid = Ripple.lay(&self.state, &script.content(), &self.rules);
        self.state = laid.recorded;
        laid.layout
    }

    fn tier(&self, key: &str) -> Tier {
        self.state.tier_of(&serde_json::from_value(key.into()).unwrap())
    }

    /// Creates a session whose state contains these items.
    fn remembering(target: usize, items: impl IntoIterator<Item = (ItemKey, Tracked)>) -> Self {
        Self { state: TierState::Ripple(State::from_items(items)), ..Self::new(target) }
    }

    fn n(&self, key: &str) -> u32 {
        let TierState::Ripple(state) = &self.state else { panic!("nothing is remembered") };
        state.items()[&serde_json::from_value(key.into()).unwrap()].n
    }
}

/// Formats the prompt as lines: speaker, tier, breakpoint, text.
fn drawn(layout: &Layout) -> String {
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
    expected.assert_eq(&drawn(layout));
}

fn file(text: &str) -> Script {
    Script { files: vec![("a", text.to_owned())], ..Script::default() }
}

#[test]
fn an_unchanged_file_graduates_at_three_and_rises_every_three() {
    let mut play = Play::new(0);
    let mut tiers = Vec::new();
    for _ in 0..14 {
        play.send(&file("x"));
        tiers.push((play.tier("file:a"), play.n("file:a")));
    }
    // N counts 0, 1, 2 while active; at 3 the item graduates. N in a cached tier only grows when the tier is rebuilt,
    // and nothing rebuilds L3 here, so it stays 3.
    assert_eq!(tiers[..4], [(Tier::Active, 0), (Tier::Active, 1), (Tier::Active, 2), (Tier::L3, 3)]);
    assert_eq!(tiers[4..], [(Tier::L3, 3); 10]);
}

#[test]
fn veterans_rise_when_newcomers_break_their_tier_and_wait_below_a_stable_one() {
    let mut play = Play::new(0);
    let mut script = file("x");
    for name in ["b", "c", "d", "e", "f", "g"] {
        for _ in 0..4 {
            play.send(&script);
        }
        script.files.push((name, "y".into()));
    }
    // Each new item breaks L3 once, so that the N of existing items is incremented. At 6, the first one is promoted,
    // because L2 is empty.
    assert_eq!((play.tier("file:a"), play.n("file:a")), (Tier::L2, 6));
    assert_eq!((play.tier("file:b"), play.n("file:b")), (Tier::L3, 6), "L2 is stable, so it waits");
    script.files.remove(0);
    play.send(&script);
    assert_eq!(play.tier("file:b"), Tier::L3, "L3 itself was not rebuilt");
    for _ in 0..3 {
        play.send(&script);
    }
    assert_eq!((play.tier("file:b"), play.n("file:b")), (Tier::L2, 6), "L2 was empty when L3 was rebuilt");
}

#[test]
fn a_changed_file_falls_back_to_active_and_starts_over() {
    let mut play = Play::new(0);
    for _ in 0..4 {
        play.send(&file("x"));
    }
    assert_eq!(play.tier("file:a"), Tier::L3);
    let layout = play.send(&file("changed"));
    assert!(
        drawn(&layout).contains("User active  changed"),
        "shown outside the cache at once: {}",
        drawn(&layout)
    );
    assert_eq!((play.tier("file:a"), play.n("file:a")), (Tier::Active, 0));
}

#[test]
fn deselecting_takes_the_file_out_of_the_next_prompt_and_keeps_its_symbol_in_place() {
    let mut play = Play::new(0);
    let seeds = Seeds { referenced: vec!["b".into()], clusters: vec![] };
    let whole = Script { map: vec![("a", "map a"), ("b", "map b")], seeds, ..Script::default() };
    play.send(&whole);
    let before = play.tier("symbol:a");
    let selected = Script {
        map: vec![("b", "map b")],
        behind: vec!["a"],
        files: vec![("a", "full a".into())],
        seeds: whole.seeds.clone(),
        ..Script::default()
    };
    for _ in 0..5 {
        let drawn = drawn(&play.send(&selected));
        assert!(drawn.contains("full a") && !drawn.contains("map a"), "{drawn}");
    }
    assert_eq!(play.tier("file:a"), Tier::L3);
    let drawn = drawn(&play.send(&whole));
    assert!(!drawn.contains("full a") && drawn.contains("map a"), "{drawn}");
    assert_eq!(play.tier("symbol:a"), before);
    assert_eq!(play.tier("file:a"), Tier::Active, "forgotten");
}

#[test]
fn excluding_forgets_both_entries() {
    let mut play = Play::new(0);
    let script = Script { map: vec![("a", "map a"), ("b", "map b")], ..Script::default() };
    play.send(&script);
    assert_ne!(play.tier("symbol:a"), Tier::Active);
    let drawn = drawn(&play.send(&Script { map: vec![("b", "map b")], ..Script::default() }));
    assert!(!drawn.contains("map a"), "{drawn}");
    assert_eq!(play.tier("symbol:a"), Tier::Active, "forgotten");
}

#[test]
fn the_first_placement_seeds_l0_and_packs_clusters_together() {
    let mut play = Play::new(10);
    let map = vec![
        ("a", "aaaaaaaaaa"),
        ("b", "bbbbbbbbbb"),
        ("c", "cccccccccc"),
        ("d", "dddddddddd"),
        ("e", "eeeeeeeeee"),
    ];
    let seeds =
        Seeds { referenced: vec!["c".into(), "a".into()], clusters: vec![vec!["b".into(), "e".into()]] };
    let script = Script { map, seeds, ..Script::default() };
    let layout = play.send(&script);
    assert_eq!(play.tier("symbol:c"), Tier::L0, "the most referenced, up to the target");
    assert_eq!(play.tier("symbol:b"), play.tier("symbol:e"), "one cluster, one tier");
    assert_eq!((play.n("symbol:c"), play.n("symbol:b")), (12, 9));
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
fn of_a_workspace_that_is_not_trusted_nothing_stands_in_the_system_message() {
    let script = Script {
        map: vec![("a", "map a"), ("b", "map b")],
        files: vec![("c", "file c".to_owned()), ("d", "file d".to_owned())],
        said: vec![(0, "question".into()), (1, "answer".into())],
        ..Script::default()
    };
    let in_tier = |tier| Tracked { tier, n: 12, hash: None, tokens: 6 };
    let items = [
        (ItemKey::Symbol("a".into()), Tier::L0),
        (ItemKey::Symbol("b".into()), Tier::L1),
        (ItemKey::File("c".into()), Tier::L0),
        (ItemKey::History(MessageId(0)), Tier::L0),
        (ItemKey::History(MessageId(1)), Tier::L0),
    ];
    let state = TierState::Ripple(State::from_items(items.map(|(key, tier)| (key, in_tier(tier)))));
    let rules = Rules::new(10, Ttl::FiveMinutes, Prices::uncached());
    let lay = |trust| Ripple.lay(&state, &Content { trust, ..script.content() }, &rules).layout;
    let (trusted, layout) = (lay(Trust::Trusted), lay(Trust::Untrusted));
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
    assert_eq!(drawn(&trusted).matches("System").count(), 5, "{}", drawn(&trusted));
}

#[test]
fn history_graduates_for_free_when_l3_is_rebuilt() {
    let mut play = Play::new(1_000);
    let mut script = Script { said: vec![(0, "q".into()), (1, "a".into())], ..Script::default() };
    for _ in 0..6 {
        play.send(&script);
    }
    assert_eq!(play.tier("history:0"), Tier::Active, "less than a target's worth stays");
    script.files.push(("f", "text".into()));
    for _ in 0..4 {
        play.send(&script);
    }
    assert_eq!((play.tier("file:f"), play.tier("history:0")), (Tier::L3, Tier::L3));
}

#[test]
fn history_over_the_target_graduates_oldest_first_and_keeps_the_recent_targets_worth() {
    let mut play = Play::new(10);
    let said = (0..6).map(|id| (id, "12345".to_owned())).collect();
    let script = Script { said, ..Script::default() };
    for _ in 0..4 {
        play.send(&script);
    }
    let tiers: Vec<Tier> = (0..6).map(|id| play.tier(&format!("history:{id}"))).collect();
    assert_eq!(tiers, [Tier::L3, Tier::L3, Tier::L3, Tier::L3, Tier::Active, Tier::Active]);
}

#[test]
fn what_belongs_together_is_one_run() {
    let call = || ContentBlock::ToolCall { id: "a".into(), name: "read".into(), input: json!({}) };
    let result =
        || ContentBlock::ToolResult { call_id: "a".into(), content: Vec::new(), outcome: Outcome::Ok };
    let text = || ContentBlock::text("text");
    let (user, model) = (Speaker::User, Speaker::Assistant);
    let lengths = |said: &[(Speaker, ContentBlock)]| -> Vec<usize> {
        let history: Vec<SentMessage> = (1..)
            .zip(said)
            .map(|(id, (speaker, content))| SentMessage {
                id: MessageId(id),
                speaker: *speaker,
                blocks: vec![WeighedBlock { content: content.clone(), tokens: 1 }],
            })
            .collect();
        runs(&history).map(<[SentMessage]>::len).collect()
    };
    assert_eq!(lengths(&[(user, text()), (model, text()), (user, text()), (user, text())]), [1, 1, 1, 1]);
    assert_eq!(lengths(&[(model, call()), (user, result()), (model, text())]), [2, 1]);
    // A result is expected directly after the assistant's messages.
    assert_eq!(lengths(&[(model, call()), (model, text()), (user, result()), (user, text())]), [3, 1]);
    assert_eq!(lengths(&[(model, call()), (user, result()), (model, text()), (user, result())]), [2, 1, 1]);
}

#[test]
fn history_never_graduates_without_a_target() {
    let mut play = Play::new(0);
    let script = Script {
        said: vec![(0, "q".into()), (1, "a".into())],
        files: vec![("f", "text".into())],
        ..Script::default()
    };
    for _ in 0..8 {
        play.send(&script);
    }
    assert_eq!((play.tier("file:f"), play.tier("history:0")), (Tier::L3, Tier::Active));
}

#[test]
fn an_underfilled_middle_tier_goes_down_one_level() {
    let mut state = State::default();
    let tracked = |tier, n| Tracked { tier, n, hash: None, tokens: 5 };
    state.items.insert(ItemKey::Symbol("a".into()), tracked(Tier::L1, 9));
    state.items.insert(ItemKey::Symbol("b".into()), tracked(Tier::L2, 6));
    state.seeded = state::Seeded::Done;
    let script = Script { map: vec![("a", "aaaaa"), ("b", "bbbbb")], ..Script::default() };
    let mut play = Play::new(10);
    play.state = TierState::Ripple(state);
    play.send(&script);
    assert_eq!((play.tier("symbol:b"), play.tier("symbol:a")), (Tier::L3, Tier::L2));
}

#[test]
fn the_lowest_n_anchor_a_tier_that_holds_more_than_the_target() {
    let mut state = State::default();
    let tracked = |n| Tracked { tier: Tier::L3, n, hash: None, tokens: 5 };
    state.items.insert(ItemKey::File("low".into()), tracked(3));
    state.items.insert(ItemKey::File("mid".into()), tracked(4));
    state.items.insert(ItemKey::File("high".into()), tracked(5));
    let files = vec![("low", "aaaaa".into()), ("mid", "bbbbb".into()), ("high", "ccccc".into())];
    let mut play = Play::new(10);
    play.state = TierState::Ripple(state);
    // `new` graduates with its fourth prompt and breaks L3.
    let mut script = Script { files, ..Script::default() };
    script.files.push(("new", "ddddd".into()));
    for _ in 0..4 {
        play.send(&script);
    }
    assert_eq!((play.n("file:low"), play.n("file:mid")), (3, 4), "anchored");
    assert_eq!(play.tier("file:high"), Tier::L2, "5 + 1 reaches the threshold and L2 was empty");
}

fn tracked(tier: Tier, n: u32, tokens: usize) -> Tracked {
    Tracked { tier, n, hash: None, tokens }
}

#[test]
fn orphans_are_packed_too_the_heaviest_first_into_the_lightest_tier() {
    let mut play = Play::new(1);
    let seeds = Seeds { referenced: vec!["a".into()], clusters: vec![vec!["b".into(), "c".into()]] };
    let map = vec![("a", "aa"), ("b", "bbbb"), ("c", "cccc"), ("d", "ddddddd"), ("e", "eeeee"), ("f", "f")];
    play.send(&Script { map, seeds, ..Script::default() });
    let tiers = ["a", "b", "c", "d", "e", "f"].map(|path| play.tier(&format!("symbol:{path}")));
    // The cluster has 8 tokens, `d` has 7 and `e` has 5, so each gets its own tier. `f` joins the smallest tier.
    assert_eq!(tiers, [Tier::L0, Tier::L1, Tier::L1, Tier::L2, Tier::L3, Tier::L3]);
}

#[test]
fn tiers_that_stay_under_the_target_are_merged_at_the_start() {
    let mut play = Play::new(10);
    let map = vec![("a", "aaaa"), ("b", "bbbb"), ("c", "cccc")];
    play.send(&Script { map, ..Script::default() });
    let tiers: BTreeSet<Tier> =
        ["a", "b", "c"].into_iter().map(|path| play.tier(&format!("symbol:{path}"))).collect();
    assert_eq!(tiers.len(), 1, "{tiers:?}: none of them alone is worth a breakpoint");
}

#[test]
fn a_web_page_enters_at_l1_in_the_prompt_that_shows_it_first() {
    let mut play = Play::new(0);
    play.send(&Script::default());
    let script = Script { pages: vec![("https://a", "page")], ..Script::default() };
    let drawn = drawn(&play.send(&script));
    assert!(drawn.contains("User L1  # URL Context\nUser L1  page\nAssistant L1| Ok.\n"), "{drawn}");
    let key = page("https://a").spelling();
    assert_eq!((play.tier(&key), play.n(&key)), (Tier::L1, 9));
    let changed = Script { pages: vec![("https://a", "another")], ..Script::default() };
    play.send(&changed);
    assert_eq!((play.tier(&key), play.n(&key)), (Tier::Active, 0), "a change counts as any other does");
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
    let mut play = Play::remembering(10, items);
    let map = vec![("a", "aaaa"), ("b", "bbbbbb"), ("c", "cccccc"), ("d", "dddddd")];
    let script = Script { map, ..Script::default() };
    play.send(&script);
    assert_eq!(play.tier("symbol:d"), Tier::L1, "nothing broke L1");
    let fewer =
        Script { map: script.map.iter().filter(|(path, _)| *path != "c").copied().collect(), ..script };
    play.send(&fewer);
    assert_eq!(play.tier("symbol:d"), Tier::L0, "the most lasting one goes up");
    assert_eq!(play.tier("symbol:b"), Tier::L1, "and no more than the target needs");
}

#[test]
fn what_goes_down_a_level_takes_the_n_of_newcomers_there() {
    let mut play = Play::remembering(
        10,
        [
            (ItemKey::Symbol("a".into()), tracked(Tier::L1, 11, 5)),
            (ItemKey::Symbol("b".into()), tracked(Tier::L2, 8, 20)),
        ],
    );
    play.send(&Script { map: vec![("a", "aaaaa"), ("b", "bbbbbbbbbbbbbbbbbbbb")], ..Script::default() });
    assert_eq!((play.tier("symbol:a"), play.n("symbol:a")), (Tier::L2, 6));
    assert_eq!((play.tier("symbol:b"), play.n("symbol:b")), (Tier::L2, 8), "who was there stays as it was");
}

#[test]
fn a_veteran_waits_at_the_threshold_while_the_tier_above_is_stable() {
    let mut play = Play::remembering(
        0,
        [
            (ItemKey::File("a".into()), tracked(Tier::L3, 5, 1)),
            (ItemKey::File("b".into()), tracked(Tier::L3, 4, 1)),
            (ItemKey::File("c".into()), tracked(Tier::L2, 6, 1)),
        ],
    );
    let mut script =
        Script { files: ["a", "b", "c"].map(|path| (path, "x".to_owned())).to_vec(), ..Script::default() };
    // A change of `b` breaks L3, which `b` then leaves.
    script.files[1].1 = "y".into();
    let TierState::Ripple(state) = &mut play.state else { panic!() };
    state.items.get_mut(&ItemKey::File("b".into())).unwrap().hash =
        Some(strata_base::hash::ContentHash::of("x"));
    play.send(&script);
    assert_eq!((play.tier("file:a"), play.n("file:a")), (Tier::L3, 6), "at the threshold, L2 is stable");
}

#[test]
fn a_rebuild_places_everything_anew_with_selected_files_among_their_neighbours() {
    let mut play = Play::new(10);
    let seeds =
        Seeds { referenced: vec!["a".into(), "b".into()], clusters: vec![vec!["b".into(), "c".into()]] };
    let script = Script {
        map: vec![("a", "aaaaaaaaaa"), ("b", "bbbbbbbbbb"), ("d", "dddddddddddd"), ("e", "eeeeeeeeeee")],
        behind: vec!["c"],
        files: vec![("c", "cc".into())],
        said: (0..6).map(|id| (id, "12345".to_owned())).collect(),
        seeds,
        ..Script::default()
    };
    play.send(&script);
    assert_eq!((play.tier("file:c"), play.n("file:c")), (Tier::Active, 0), "a session starts with it active");
    play.state.rebuild();
    let layout = play.send(&script);
    assert_eq!(play.tier("symbol:a"), Tier::L0);
    assert_eq!((play.tier("file:c"), play.tier("symbol:b")), (Tier::L1, Tier::L1), "{}", drawn(&layout));
    assert_eq!(play.n("file:c"), 9);
    let history = (0..6).map(|id| play.tier(&format!("history:{id}")));
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
    let again = play.send(&script);
    assert_eq!(drawn(&again), drawn(&layout), "a rebuild happens once");
}

#[test]
fn a_rebuild_keeps_the_places_of_cached_messages_and_of_outlines_behind_full_texts() {
    let mut play = Play::remembering(
        10,
        [
            (ItemKey::History(MessageId(0)), tracked(Tier::L1, 9, 1)),
            (ItemKey::Symbol("a".into()), tracked(Tier::L2, 7, 20)),
            (ItemKey::File("a".into()), tracked(Tier::L3, 4, 1)),
            (ItemKey::File("gone".into()), tracked(Tier::L3, 4, 1)),
        ],
    );
    play.state.rebuild();
    let script = Script {
        behind: vec!["a"],
        files: vec![("a", "aaaaaaaaaaa".into())],
        said: vec![(0, "q".into())],
        ..Script::default()
    };
    play.send(&script);
    assert_eq!((play.tier("history:0"), play.tier("symbol:a")), (Tier::L1, Tier::L2));
    assert_eq!(play.tier("file:a"), Tier::L1);
}

#[test]
fn a_rebuild_graduates_no_message_without_a_target() {
    let mut play = Play::new(0);
    let said = (0..9).map(|id| (id, "12345".to_owned())).collect();
    let script = Script { map: vec![("a", "map")], said, ..Script::default() };
    play.send(&script);
    play.state.rebuild();
    play.send(&script);
    assert!((0..9).all(|id| play.tier(&format!("history:{id}")) == Tier::Active));
}

#[test]
fn figures_say_how_far_an_item_is() {
    let (a, said) = (ItemKey::File("a".into()), ItemKey::History(MessageId(0)));
    let state =
        State::from_items([(a.clone(), tracked(Tier::L2, 8, 1)), (said.clone(), tracked(Tier::L3, 5, 1))]);
    let figures = |key: &ItemKey, tier| {
        let ItemStats { n, threshold } = state.figures(key, tier);
        (n, threshold)
    };
    assert_eq!(figures(&a, Tier::L2), (8, Some(9)));
    assert_eq!(figures(&a, Tier::Active), (0, Some(3)), "changed, so it starts over");
    assert_eq!(figures(&said, Tier::Active), (5, Some(3)), "held back by an older one");
    assert_eq!(figures(&ItemKey::File("new".into()), Tier::L0), (12, None));
}

/// A random step of a session.
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
        let mut play = Play::new(target);
        let mut selected: BTreeSet<usize> = BTreeSet::new();
        let mut edits = [0; 6];
        let mut said: Vec<(u64, String)> = Vec::new();
        let mut next = 0;
        let mut pages: Vec<(&str, &str)> = Vec::new();
        let mut fetched = 0;
        for step in steps {
            match step {
                Step::Select(at) => { selected.insert(at); }
                Step::Deselect(at) => { selected.remove(&at); }
                Step::Edit(at) => edits[at] += 1,
                Step::Say => { said.push((next, format!("said {next}"))); next += 1; }
                Step::Clear => said.clear(),
                Step::Fetch => {
                    fetched += 1;
                    pages = vec![("https://a", ["one", "two", "three"][fetched % 3])];
                }
                Step::Rebuild => play.state.rebuild(),
                Step::Send => {
                    let seeds = Seeds { referenced: vec!["b".into(), "f".into()], clusters: vec![vec!["a".into(), "c".into()]] };
                    let unselected: Vec<usize> = (0..6).filter(|at| !selected.contains(at)).collect();
                    let map: Vec<String> = (0..6).map(|at| format!("map {} of {}", edits[at] / 2, PATHS[at])).collect();
                    let map = unselected.iter().map(|&at| (PATHS[at], &*map[at].clone().leak())).collect();
                    let script = Script {
                        map,
                        behind: selected.iter().map(|&at| PATHS[at]).collect(),
                        files: selected.iter().map(|&at| (PATHS[at], format!("text {} of {}", edits[at], PATHS[at]))).collect(),
                        said: said.clone(),
                        pages: pages.clone(),
                        seeds,
                    };
                    let again = Ripple.lay(&play.state, &script.content(), &play.rules);
                    let layout = play.send(&script);
                    prop_assert_eq!(&layout, &again.layout);

                    let shown: Vec<&ItemKey> = layout.blocks().flat_map(|block| &block.items).collect();
                    let once: BTreeSet<&ItemKey> = shown.iter().copied().collect();
                    prop_assert_eq!(shown.len(), once.len(), "an item twice");
                    let present = state::present(&script.content());
                    let hidden: BTreeSet<ItemKey> = script.behind.iter().map(|path| ItemKey::Symbol((*path).into())).collect();
                    let mut expected: BTreeSet<ItemKey> = present.difference(&hidden).cloned().collect();
                    expected.insert(ItemKey::System);
                    prop_assert_eq!(once.into_iter().cloned().collect::<BTreeSet<_>>(), expected);

                    let history: Vec<&ItemKey> = shown.iter().copied().filter(|key| matches!(key, ItemKey::History(_))).collect();
                    let in_order: Vec<ItemKey> = said.iter().map(|(id, _)| ItemKey::History(MessageId(*id))).collect();
                    prop_assert_eq!(history, in_order.iter().collect::<Vec<_>>());

                    let tiers: Vec<Tier> = layout.blocks().map(|block| block.tier).collect();
                    prop_assert!(tiers.is_sorted(), "{:?}", tiers);
                    prop_assert!(layout.blocks().filter(|block| block.mark.is_some()).count() <= 4);
                    let all: String = layout.blocks().map(|block| match &block.content {
                        ContentBlock::Text { text } => text.clone(),
                        _ => String::new(),
                    }).collect::<Vec<_>>().join("\n");
                    for (path, text) in &script.files {
                        prop_assert!(all.contains(text.as_str()), "{} is not current", path);
                    }
                }
            }
        }
    }
}
