//! The life of items under `ripple`, told as scripts of requests.

use std::collections::BTreeSet;
use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::cost::Prices;
use crate::history::{ContentBlock, MessageId};
use crate::key::FileKey;
use crate::prompt::{Seeds, Tree, Ttl, Weighed};

/// A prompt's content in short: what is there, and what it looks like.
#[derive(Clone, Default, Debug)]
struct Script {
    map: Vec<(&'static str, &'static str)>,
    behind: Vec<&'static str>,
    files: Vec<(&'static str, String)>,
    said: Vec<(u64, String)>,
    seeds: Seeds,
}

static NOTHING: BTreeSet<FileKey> = BTreeSet::new();

fn count(text: &str) -> usize {
    text.len()
}

impl Script {
    fn content(&self) -> Content<'_> {
        let piece = |key, text: &str| Piece::new(key, text, &count);
        let said = |(id, text): &(u64, String)| Said {
            id: MessageId(*id),
            speaker: if id % 2 == 0 { Speaker::User } else { Speaker::Assistant },
            blocks: vec![Weighed { content: ContentBlock::text(text), tokens: text.len() }],
        };
        Content {
            system: "system".into(),
            map: self.map.iter().map(|(path, text)| piece(ItemKey::Symbol((*path).into()), text)).collect(),
            hidden: self.behind.iter().map(|path| FileKey::from(*path)).collect(),
            files: self.files.iter().map(|(path, text)| piece(ItemKey::File((*path).into()), text)).collect(),
            tree: Tree { files: vec!["a".into()], focus: vec![], budget: 100 },
            history: self.said.iter().map(said).collect(),
            request: vec![Weighed { content: ContentBlock::text("prompt"), tokens: 6 }],
            ..Content::empty(&self.seeds, &NOTHING, &count)
        }
    }
}

/// A session that sends one prompt after the other.
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

    fn n(&self, key: &str) -> u32 {
        let TierState::Ripple(state) = &self.state else { panic!("nothing is remembered") };
        state.items()[&serde_json::from_value(key.into()).unwrap()].n
    }
}

/// The prompt as lines: speaker, tier, a mark, the text.
fn drawn(layout: &Layout) -> String {
    let mut out = String::new();
    for message in layout.messages() {
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
    // Active 0, 1, 2; at 3 it graduates. A cached tier only counts when it is rebuilt, and nothing rebuilds L3
    // here, so it stays.
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
    // Each newcomer breaks L3 once and gives its veterans one N; at 6 the first goes up, for L2 was empty.
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
    // `new` graduates on its fourth prompt and breaks L3.
    let mut script = Script { files, ..Script::default() };
    script.files.push(("new", "ddddd".into()));
    for _ in 0..4 {
        play.send(&script);
    }
    assert_eq!((play.n("file:low"), play.n("file:mid")), (3, 4), "anchored");
    assert_eq!(play.tier("file:high"), Tier::L2, "5 + 1 reaches the threshold and L2 was empty");
}

/// A random step of a session.
#[derive(Clone, Debug)]
enum Step {
    Select(usize),
    Deselect(usize),
    Edit(usize),
    Say,
    Clear,
    Send,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..6usize).prop_map(Step::Select),
        1 => (0..6usize).prop_map(Step::Deselect),
        1 => (0..6usize).prop_map(Step::Edit),
        2 => Just(Step::Say),
        1 => Just(Step::Clear),
        6 => Just(Step::Send),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    /// Whatever a session does: everything selected stands in the prompt exactly once with its current text, nothing
    /// else does, the conversation is complete and in order, tiers stand in order, at most four marks, and the same
    /// state gives the same bytes.
    #[test]
    fn every_prompt_is_complete_ordered_and_repeatable(steps in steps(), target in 0..60usize) {
        const PATHS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
        let mut play = Play::new(target);
        let mut selected: BTreeSet<usize> = BTreeSet::new();
        let mut edits = [0; 6];
        let mut said: Vec<(u64, String)> = Vec::new();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Select(at) => { selected.insert(at); }
                Step::Deselect(at) => { selected.remove(&at); }
                Step::Edit(at) => edits[at] += 1,
                Step::Say => { said.push((next, format!("said {next}"))); next += 1; }
                Step::Clear => said.clear(),
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
                        seeds,
                    };
                    let again = Ripple.lay(&play.state, &script.content(), &play.rules);
                    let layout = play.send(&script);
                    prop_assert_eq!(&layout, &again.layout);

                    let shown: Vec<&ItemKey> = layout.blocks().flat_map(|block| &block.items).collect();
                    let once: BTreeSet<&ItemKey> = shown.iter().copied().collect();
                    prop_assert_eq!(shown.len(), once.len(), "an item twice");
                    let present = present(&script.content());
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
