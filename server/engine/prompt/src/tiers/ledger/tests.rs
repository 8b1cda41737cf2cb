//! The behavior of `ledger` that users see, in sessions of a few turns. Random sessions test its invariants
//! (`server/replay/src/tests/random_sessions.rs`).

mod expiry;
mod lifetimes;
mod reference_cost;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, MessageId, ResultPart};
use strata_conversation::providers::{self, BreakpointMode, BreakpointTargets, Envelope, Format, Speaker};
use strata_tokens::cost::{BilledInput, Prices, SimulatedProvider};
use strata_tokens::models::{CacheKind, Ttl};

use super::*;
use crate::layout::{
    CountedBlock, FileListCoverage, FileListInput, ItemKey, LayoutBlock, Part, PromptPiece, SentMessage,
    TierSeeds, spans,
};
use crate::tiers::{DeltaMode, LayoutReuse, TierState};
use crate::wire::{self, Body};

fn count(text: &str) -> usize {
    text.len().div_ceil(4)
}

fn counted(content: ContentBlock) -> CountedBlock {
    let tokens = match &content {
        ContentBlock::Text { text } => count(text),
        _ => 10,
    };
    CountedBlock { content, tokens }
}

/// A session with a repository of numbered files.
struct Session {
    texts: BTreeMap<FileKey, String>,
    selected: BTreeSet<FileKey>,
    excluded: BTreeSet<FileKey>,
    messages: Vec<SentMessage>,
    rules: LayoutRules,
    state: TierState,
    list_budget: usize,
}

fn prices() -> Prices {
    Prices {
        read: 0.1,
        write: 1.25,
        seconds: 300,
        extended: None,
        min_tokens: 1,
        kind: CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 },
        long_context: None,
        list: None,
    }
}

/// Returns a text of `count` distinct lines.
fn lines(name: &str, count: usize) -> String {
    (0..count).map(|line| format!("line {line} of {name}\n")).collect()
}

impl Session {
    fn new(files: &[(&str, usize)]) -> Self {
        Self {
            texts: files.iter().map(|(name, count)| (FileKey::from(*name), lines(name, *count))).collect(),
            selected: BTreeSet::new(),
            excluded: BTreeSet::new(),
            messages: Vec::new(),
            rules: LayoutRules::new(0, Ttl::FiveMinutes, prices()),
            state: TierState::default(),
            list_budget: 0,
        }
    }

    fn select(&mut self, name: &str) {
        self.selected.insert(name.into());
    }

    fn deselect(&mut self, name: &str) {
        self.selected.remove(name);
    }

    fn exclude(&mut self, name: &str) {
        self.selected.remove(name);
        self.excluded.insert(name.into());
    }

    fn edit(&mut self, name: &str, line: usize, text: &str) {
        let file = self.texts.get_mut(name).unwrap();
        let mut lines: Vec<&str> = file.lines().collect();
        lines[line] = text;
        *file = lines.iter().map(|line| format!("{line}\n")).collect();
    }

    fn lay_out(&self, request: Vec<CountedBlock>) -> PolicyOutput {
        let block = |key: &FileKey, text: &String| {
            let first = text.lines().next().unwrap_or_default();
            PromptPiece::new(ItemKey::Symbol(key.clone()), format!("{}:\n {first}", key.as_str()), &count)
        };
        let shown = |key: &FileKey| self.selected.contains(key);
        let included_files = || self.texts.iter().filter(|(key, _)| !self.excluded.contains(*key));
        let full = |key: &FileKey, text: &String| {
            let version = ContentHash::from_text(text).short();
            let shown = format!("## `{}` (version {version})\n\n```\n{text}```", key.as_str());
            PromptPiece {
                body: text.as_str().into(),
                ..PromptPiece::new(ItemKey::File(key.clone()), shown, &count)
            }
        };
        let seeds = TierSeeds::default();
        let content = LayoutContent {
            system: "Be brief.".into(),
            map: included_files()
                .filter(|(key, _)| !shown(key))
                .map(|(key, text)| block(key, text))
                .collect(),
            hidden: included_files()
                .filter(|(key, _)| shown(key))
                .map(|(key, _)| (key.clone(), ContentHash::NONE))
                .collect(),
            files: included_files()
                .filter(|(key, _)| shown(key))
                .map(|(key, text)| full(key, text))
                .collect(),
            tree: FileListInput {
                outlined: vec![],
                files: included_files().map(|(key, _)| key.clone()).collect(),
                budget: self.list_budget,
                ..FileListInput::default()
            },
            history: self.messages.clone(),
            request,
            ..LayoutContent::empty(&seeds, &self.excluded, &count)
        };
        LedgerPolicy.lay_out(&self.state, &content, &self.rules)
    }

    /// Sends a prompt and its answer, then advances the clock by a minute.
    fn turn(&mut self, prompt: &str, answer: &str) -> Layout {
        self.exchange(vec![counted(ContentBlock::text(prompt))], vec![counted(ContentBlock::text(answer))])
    }

    fn exchange(&mut self, request: Vec<CountedBlock>, answer: Vec<CountedBlock>) -> Layout {
        let output = self.lay_out(request.clone());
        self.state = output.new_state;
        for (speaker, blocks) in [(Speaker::User, request), (Speaker::Assistant, answer)] {
            let id = MessageId(self.messages.len() as u64);
            self.messages.push(SentMessage { id, speaker, blocks });
        }
        self.rules.now_ms += 60_000;
        output.layout
    }

    fn cached_tokens(&self) -> usize {
        let output = self.lay_out(vec![counted(ContentBlock::text("next"))]);
        output.expected_cached.unwrap()
    }
}

/// Formats the blocks in order, one line each: the items, the first words, and whether a breakpoint follows.
fn prompt_summary(layout: &Layout) -> String {
    let line = |(speaker, block): (Speaker, &LayoutBlock)| {
        let text = match &block.content {
            ContentBlock::Text { text } => text.lines().next().unwrap_or_default().to_owned(),
            ContentBlock::ToolCall { .. } => "(call)".to_owned(),
            ContentBlock::ToolResult { .. } => "(result)".to_owned(),
            _ => "(other)".to_owned(),
        };
        let speaker = match speaker {
            Speaker::System => "sys ",
            Speaker::User => "user",
            Speaker::Assistant => "asst",
        };
        let mark = if block.mark.is_some() { " |" } else { "" };
        let text: String = text.chars().take(76).collect();
        format!("{:<6} {speaker} {text}{mark}\n", block.tier.to_string())
    };
    let messages = layout.messages.iter();
    messages
        .flat_map(|message| message.blocks.iter().map(move |block| line((message.speaker, block))))
        .collect()
}

fn check(layout: &Layout, expected: Expect) {
    expected.assert_eq(&prompt_summary(layout));
}

/// Returns the text of the first block that starts with `beginning`.
fn text_of(layout: &Layout, beginning: &str) -> String {
    let mut texts = layout.blocks().filter_map(|block| match &block.content {
        ContentBlock::Text { text } => Some(text),
        _ => None,
    });
    texts.find(|text| text.starts_with(beginning)).cloned().unwrap_or_default()
}

/// Files of the repository, with their numbers of lines.
const REPOSITORY: &[(&str, usize)] = &[("a.py", 40), ("b.py", 60), ("c.py", 5), ("d.py", 30)];

#[test]
fn the_first_prompt_places_large_and_stable_items_first() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    session.select("b.py");
    session.list_budget = 100;
    check(
        &session.turn("do", "done"),
        expect![[r#"
        L0     sys  Be brief.
        L0     sys  # How to read what follows
        L0     user # Repository Structure |
        L1     user ## `b.py` (version f8b7e07f) |
        L2     user ## `a.py` (version d52e1c4c) |
        L3     user # Repository Files
        L3     user do |
    "#]],
    );
}

#[test]
fn an_edited_file_is_updated_after_the_conversation() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    session.select("b.py");
    session.turn("first", "done");
    session.edit("a.py", 20, "changed");
    let layout = session.turn("second", "done");
    check(
        &layout,
        expect![[r#"
        L0     sys  Be brief.
        L0     sys  # How to read what follows
        L0     user # Repository Structure |
        L1     user ## `b.py` (version f8b7e07f) |
        L2     user ## `a.py` (version d52e1c4c)
        L2     user first
        L2     asst done |
        L3     user ## Update of `a.py`: version d52e1c4c to d140805e
        L3     user second |
        active user # Current versions of updated files
    "#]],
    );
    expect![[r#"
        ## Update of `a.py`: version d52e1c4c to d140805e

        ```diff
        @@ -19,5 +19,5 @@
         line 18 of a.py
         line 19 of a.py
        -line 20 of a.py
        +changed
         line 21 of a.py
         line 22 of a.py
        ```"#]]
    .assert_eq(&text_of(&layout, "## Update of `a.py`"));
    expect![[r#"
        # Current versions of updated files

        - `a.py`: version d140805e, 1 update above"#]]
    .assert_eq(&text_of(&layout, "# Current versions"));
}

#[test]
fn the_fourth_change_becomes_one_diff_from_the_full_text() {
    let mut session = Session::new(&[("b.py", 200)]);
    session.select("b.py");
    session.turn("0", "done");
    for change in 1..=4 {
        session.edit("b.py", 10 * change, "changed");
        session.turn(&change.to_string(), "done");
    }
    let layout = session.turn("5", "done");
    let updates: Vec<String> = prompt_summary(&layout)
        .lines()
        .filter(|line| line.contains("pdate"))
        .map(|line| line.split("since").next().unwrap().trim().to_owned())
        .collect();
    assert_eq!(updates.iter().filter(|line| line.contains("## Update of")).count(), 3, "{updates:?}");
    assert_eq!(updates.iter().filter(|line| line.contains("## All updates of")).count(), 1, "{updates:?}");
    let net = text_of(&layout, "## All updates of");
    assert_eq!(net.matches("\n+changed").count(), 4, "{net}");
    assert!(text_of(&layout, "# Current versions").contains("1 update above"));
}

/// Counts how often the remembered log contains a text, in any form.
fn count_in_log(session: &Session, text: &str) -> usize {
    let TierState::Ledger(state) = &session.state else { panic!("no log") };
    format!("{:?}", state.log).matches(text).count()
}

#[test]
fn updates_do_not_copy_the_text_of_a_file() {
    let mut session = Session::new(&[("b.py", 600)]);
    session.select("b.py");
    session.turn("0", "done");
    let before = count_in_log(&session, "line 599 of b.py");
    for change in 1..=10 {
        session.edit("b.py", 10 * change, "changed");
        session.turn(&change.to_string(), "done");
    }
    assert!(count_in_log(&session, "pdate") >= 10);
    assert_eq!(count_in_log(&session, "line 599 of b.py"), before);
}

#[test]
fn list_changes_do_not_copy_the_file_list() {
    let mut session = Session::new(REPOSITORY);
    session.list_budget = 1_000;
    session.turn("0", "done");
    let before = count_in_log(&session, "d.py");
    for change in 0..10 {
        session.texts.insert(format!("new{change}").as_str().into(), String::new());
        session.turn(&change.to_string(), "done");
    }
    let layout = session.turn("last", "done");
    let notes = prompt_summary(&layout).matches("# Repository Files: changes since the list above").count();
    assert_eq!(notes, 10);
    assert_eq!(count_in_log(&session, "d.py"), before);
}

proptest! {
    #[test]
    fn a_file_list_with_its_changes_gives_the_current_list(
        before in prop::collection::btree_set("[a-d]{1,2}", 0..8),
        between in prop::collection::btree_set("[a-d]{1,2}", 0..8),
        now in prop::collection::btree_set("[a-d]{1,2}", 0..8),
    ) {
        let [before, between, now] = [before, between, now]
            .map(|names| names.iter().map(|name| FileKey::from(name.as_str())).collect::<Vec<_>>());
        let mut tree = log_contents::LoggedFileList::new(listing::ListedFiles { files: before.clone(), listed: FileListCoverage::default() }.into());
        tree.apply_changes(&fixups::compare_file_lists(&before, &between));
        prop_assert_eq!(&*tree.files(), &*between);
        tree.apply_changes(&fixups::compare_file_lists(&between, &now));
        prop_assert_eq!(&*tree.files(), &*now);
    }
}

#[test]
fn a_large_diff_is_replaced_by_the_full_text() {
    let mut session = Session::new(REPOSITORY);
    session.select("b.py");
    session.turn("first", "done");
    session.texts.insert("b.py".into(), lines("something else", 60));
    let layout = session.turn("second", "done");
    assert_eq!(prompt_summary(&layout).matches("## `b.py` (version").count(), 2);
    assert_eq!(text_of(&layout, "# Current versions"), "");
}

#[test]
fn a_reverted_change_is_stated_in_the_update() {
    let mut session = Session::new(REPOSITORY);
    session.select("b.py");
    session.turn("0", "done");
    for text in ["one", "two", "three", "line 7 of b.py"] {
        session.edit("b.py", 7, text);
        session.turn(text, "done");
    }
    let layout = session.turn("last", "done");
    assert!(text_of(&layout, "## All updates of `b.py`").contains("The text is unchanged since then"));
}

#[test]
fn deselecting_a_file_keeps_the_prefix_before_it() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    session.select("b.py");
    session.select("d.py");
    let first = session.turn("first", "done");
    session.deselect("d.py");
    let layout = session.turn("second", "done");
    assert_eq!(text_of(&layout, "## `d.py`"), "");
    let same = first.blocks().zip(layout.blocks()).take_while(|(old, new)| old.content == new.content);
    let place =
        |name: &str| first.blocks().position(|block| block.items.contains(&ItemKey::File(name.into())));
    assert!(same.count() <= place("d.py").unwrap());
    // The map block of the file is shown again, and the conversation moved before the rebuilt part.
    check(
        &layout,
        expect![[r#"
        L0     sys  Be brief.
        L0     sys  # How to read what follows
        L0     user # Repository Structure |
        L1     user ## `b.py` (version f8b7e07f) |
        L2     user ## `a.py` (version d52e1c4c)
        L2     user first
        L2     asst done |
        L3     user # Repository Structure
        L3     user second |
    "#]],
    );
}

#[test]
fn a_map_block_of_a_selected_file_stays_until_the_log_is_rebuilt() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    session.turn("first", "done");
    session.select("c.py");
    let blocks = |layout: &Layout, part: Part| {
        let of_c = |block: &&LayoutBlock| {
            block.part == part
                && block.items.iter().any(|key| key.path().is_some_and(|path| path == &"c.py".into()))
        };
        layout.blocks().filter(of_c).count()
    };
    let layout = session.turn("second", "done");
    assert_eq!((blocks(&layout, Part::Map), blocks(&layout, Part::Files)), (1, 1));
    session.rules.reuse = LayoutReuse::None;
    let layout = session.turn("third", "done");
    assert_eq!((blocks(&layout, Part::Map), blocks(&layout, Part::Files)), (0, 1));
}

#[test]
fn a_changed_outline_is_updated_and_an_excluded_file_is_removed() {
    let mut session = Session::new(REPOSITORY);
    session.list_budget = 100;
    session.turn("first", "done");
    session.edit("c.py", 0, "def new()");
    let layout = session.turn("second", "done");
    expect![[r#"
        ## Outline of `c.py`, replacing the one above

        c.py:
         def new()"#]]
    .assert_eq(&text_of(&layout, "## Outline of `c.py`"));
    session.exclude("c.py");
    let layout = session.turn("third", "done");
    assert!(!format!("{layout:?}").contains("c.py"));
}

#[test]
fn added_files_are_listed_after_the_file_list() {
    let mut session = Session::new(REPOSITORY);
    session.list_budget = 100;
    session.turn("first", "done");
    session.texts.insert("e.py".into(), lines("e", 3));
    let layout = session.turn("second", "done");
    expect![[r#"
        # Repository Files: changes since the list above

        + `e.py`
    "#]]
    .assert_eq(&text_of(&layout, "# Repository Files: changes"));
    assert!(prompt_summary(&layout).contains("user # Repository Files\n"));
}

#[test]
fn a_file_list_without_budget_still_gets_its_changes() {
    let mut session = Session::new(REPOSITORY);
    session.list_budget = 100;
    session.turn("first", "done");
    session.list_budget = 1;
    for number in 0..40 {
        session.texts.insert(format!("new{number}.py").as_str().into(), lines("new", 1));
    }
    let layout = session.turn("second", "done");
    assert!(text_of(&layout, "# Repository Files: changes").contains("+ `new39.py`"));
}

#[test]
fn tool_results_directly_follow_their_calls() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    let call = |id: &str| {
        counted(ContentBlock::ToolCall { id: id.into(), name: "run".into(), input: serde_json::json!({}) })
    };
    session.exchange(vec![counted(ContentBlock::text("go"))], vec![call("1")]);
    session.select("b.py");
    session.edit("a.py", 3, "changed");
    let result = ContentBlock::ToolResult {
        call_id: "1".into(),
        content: vec![ResultPart::Text { text: "ok".into() }],
        outcome: Default::default(),
    };
    let layout = session.exchange(vec![counted(result)], vec![counted(ContentBlock::text("done"))]);
    check(
        &layout,
        expect![[r#"
        L0     sys  Be brief.
        L0     sys  # How to read what follows
        L0     user # Repository Structure |
        L1     user ## `a.py` (version d52e1c4c)
        L1     user go
        L1     asst (call)
        L1     user (result) |
        L2     user ## `b.py` (version f8b7e07f) |
        L3     user ## Update of `a.py`: version d52e1c4c to 4c3a3aba |
        active user # Current versions of updated files
    "#]],
    );
    let kept_blocks: Vec<LayoutBlock> =
        layout.blocks().filter(|block| block.part != Part::Updates).cloned().collect();
    let next = session.turn("thanks", "welcome");
    assert!(kept_blocks.iter().all(|block| next.blocks().any(|other| other.content == block.content)));
}

#[test]
fn an_expired_cache_is_not_expected_to_be_read() {
    let mut session = Session::new(REPOSITORY);
    session.select("b.py");
    session.turn("first", "done");
    assert!(session.cached_tokens() > 0);
    session.rules.now_ms += 240_000 + 1;
    assert_eq!(session.cached_tokens(), 0);
    // A longer lifetime that is set later does not restore the entry.
    session.rules.prices.seconds = 3_600;
    assert_eq!(session.cached_tokens(), 0);
    session.turn("second", "done");
    session.rules.now_ms += 3_000_000;
    assert!(session.cached_tokens() > 0);
}

#[test]
fn another_model_starts_a_new_log() {
    let mut session = Session::new(REPOSITORY);
    session.turn("first", "done");
    assert!(session.cached_tokens() > 0);
    session.rules.identity = ContentHash::from_text("another model");
    assert_eq!(session.cached_tokens(), 0);
}

#[test]
fn a_cache_miss_leaves_only_entries_written_by_that_request() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    session.select("b.py");
    session.turn("first", "done");
    session.turn("second", "done");
    let TierState::Ledger(mut before) = session.state.clone() else { panic!("no log") };
    let full = session.cached_tokens();
    session.state.learn(BilledInput { read: 0, total: 1_000 });
    assert!(session.cached_tokens() > 0, "the last request wrote what it marked");
    let after = session.cached_tokens();
    assert!(after <= full);
    // A report that matches the expectation changes nothing. Neither does one about a request that relied on nothing.
    let same = Arc::make_mut(&mut before);
    same.compare_with_billed_reads(BilledInput { read: 990, total: 1_000 });
    session.state = TierState::Ledger(before);
    assert_eq!(session.cached_tokens(), full);
}

#[test]
fn breakpoints_respect_the_limits_of_the_provider() {
    let mut session = Session::new(REPOSITORY);
    session.select("a.py");
    let marks = |layout: &Layout| layout.blocks().filter(|block| block.mark.is_some()).count();
    session.select("b.py");
    session.select("d.py");
    assert_eq!(marks(&session.turn("first", "done")), 4);
    session.rules.prices.kind = CacheKind::Explicit { max_breakpoints: 1, max_matched: 0, lookback: 20 };
    assert_eq!(marks(&session.turn("second", "done")), 1);
    session.rules.prices.kind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 };
    session.rules.prices.min_tokens = 1_000_000;
    assert_eq!(marks(&session.turn("third", "done")), 0);
    session.rules.prices = Prices { kind: CacheKind::Automatic { granularity: 1 }, ..prices() };
    assert_eq!(marks(&session.turn("fourth", "done")), 0);
}

#[test]
fn a_breakpoint_finds_the_kept_prefix_within_its_lookback() {
    for messages in 10..40 {
        let mut session = Session::new(REPOSITORY);
        // Select so many files that no breakpoint is spare.
        ["a.py", "b.py", "d.py"].iter().for_each(|name| session.select(name));
        session.turn("first", "done");
        let cached_tokens = session.cached_tokens();
        // Messages are added from outside.
        for number in 0..messages {
            let speaker = if number % 2 == 0 { Speaker::User } else { Speaker::Assistant };
            let id = MessageId(session.messages.len() as u64);
            let blocks = vec![counted(ContentBlock::text(format!("message {number}")))];
            session.messages.push(SentMessage { id, speaker, blocks });
        }
        let layout = session.lay_out(vec![counted(ContentBlock::text("next"))]).layout;
        let mut prefix = 0;
        let boundary = layout.blocks().position(|block| {
            prefix += block.tokens;
            prefix == cached_tokens
        });
        let boundary = boundary.expect("the kept prefix is still there");
        let mut marked = layout.blocks().enumerate().filter(|(_, block)| block.mark.is_some());
        assert!(marked.any(|(at, _)| (boundary..boundary + 20).contains(&at)), "{messages}");
    }
}

#[test]
fn outdated_text_is_dropped_when_that_saves_money() {
    let session = |later_price, kind| {
        let mut session = Session::new(REPOSITORY);
        session.rules.later_price = later_price;
        session.rules.prices.kind = kind;
        session.select("a.py");
        session.select("b.py");
        let mut tokens = 0;
        for turn in 0..30 {
            session.edit(["a.py", "b.py"][turn % 2], (turn * 7) % 40, &format!("changed in turn {turn}"));
            tokens = session.turn("go", "ok").tokens();
        }
        tokens
    };
    for kind in [prices().kind, CacheKind::Automatic { granularity: 1 }] {
        let [worth_most, worth_some, worth_nothing, unlimited] =
            [Some(1_000.0), Some(2.0), Some(0.0), None].map(|later_price| session(later_price, kind));
        assert!(worth_most.max(worth_some) * 2 < worth_nothing, "{worth_most} {worth_some} {worth_nothing}");
        assert!(worth_nothing <= unlimited, "{worth_nothing} {unlimited}");
    }
}

#[test]
fn the_file_list_does_not_count_as_outdated() {
    let names: Vec<String> = (0..60).map(|file| format!("folder/with/a/long/name/f{file}.py")).collect();
    let files: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let mut session = Session::new(&files);
    (session.list_budget, session.rules.later_price) = (1_000, Some(1_000.0));
    let layout = session.turn("first", "done");
    let list_tokens: usize =
        layout.blocks().filter(|block| block.part == Part::FileList).map(|block| block.tokens).sum();
    assert!(list_tokens * 10 > layout.tokens(), "{list_tokens} of {}", layout.tokens());
    assert_eq!(session.cached_tokens(), layout.tokens());
}

#[test]
fn without_deltas_a_changed_file_is_written_again() {
    let mut session = Session::new(REPOSITORY);
    session.rules.deltas = DeltaMode::Never;
    session.select("b.py");
    session.turn("first", "done");
    session.edit("b.py", 3, "changed");
    let layout = session.turn("second", "done");
    assert_eq!(prompt_summary(&layout).matches("## `b.py` (version").count(), 1);
    assert!(!prompt_summary(&layout).contains("## Update of"));
}

#[test]
fn applied_edits_of_the_model_need_no_update() {
    let mut session = Session::new(REPOSITORY);
    session.rules.deltas = DeltaMode::FromHistory;
    session.select("b.py");
    let before = session.texts["b.py"].clone();
    session.edit("b.py", 30, "changed");
    let after = std::mem::replace(session.texts.get_mut("b.py").unwrap(), before.clone());
    let diff = crate::diff::unified_diff(&before, &after, 2);
    session.turn("first", &format!("Like this:\n--- a/b.py\n+++ b/b.py\n{diff}"));
    session.texts.insert("b.py".into(), after);
    let layout = session.turn("second", "done");
    assert!(!prompt_summary(&layout).contains("## Update of"));
    expect![[r#"
        # Current versions of updated files

        - `b.py`: version 7508fe58, your edits above were applied"#]]
    .assert_eq(&text_of(&layout, "# Current versions"));
    // A change by someone else is shown as a diff from the version that the model knows.
    session.edit("b.py", 50, "changed by hand");
    let layout = session.turn("third", "done");
    assert_eq!(prompt_summary(&layout).matches("## Update of").count(), 1);
    assert!(text_of(&layout, "# Current versions").contains("1 update above, and your edits were applied"));
}

/// A session with a file and two independent edits of it: the text after the first, after both, and their diffs.
struct Edited {
    session: Session,
    one: (String, String),
    both: (String, String),
}

impl Edited {
    fn new() -> Self {
        let mut session = Session::new(REPOSITORY);
        session.rules.deltas = DeltaMode::FromHistory;
        session.select("b.py");
        let before = session.texts["b.py"].clone();
        let mut edit = |line: usize| {
            let from = session.texts["b.py"].clone();
            session.edit("b.py", line, &format!("changed line {line}"));
            let to = session.texts["b.py"].clone();
            let diff = crate::diff::unified_diff(&from, &to, 2);
            (to, format!("Like this:\n--- a/b.py\n+++ b/b.py\n{diff}"))
        };
        let (one, both) = (edit(10), edit(40));
        session.texts.insert("b.py".into(), before);
        Self { session, one, both }
    }

    fn answer(&mut self, diff: &str) -> Layout {
        let diff = diff.to_owned();
        self.session.turn("go on", &diff)
    }

    fn set_text(&mut self, text: &str) {
        self.session.texts.insert("b.py".into(), text.to_owned());
    }

    /// Returns the headings of the updates in the next prompt, and its line about the file's version.
    fn next(&self) -> (Vec<String>, String) {
        let layout = self.session.lay_out(vec![counted(ContentBlock::text("next"))]).layout;
        let updates = prompt_summary(&layout);
        let updates =
            updates.lines().filter_map(|line| Some(line.get(12..)?.trim_end_matches(" |").to_owned()));
        let updates = updates.filter(|line| line.contains(" of `b.py`")).collect();
        (updates, text_of(&layout, "# Current versions").lines().skip(2).collect())
    }
}

#[test]
fn an_edit_that_was_not_applied_is_reported() {
    let Edited { one, both, .. } = Edited::new();
    let mut edited = Edited::new();
    edited.answer(&one.1);
    let (updates, line) = edited.next();
    assert_eq!(updates, [""; 0]);
    assert!(line.ends_with("; your edits since then were not applied"), "{line}");
    // Applying it later needs no update.
    edited.answer("Do it.");
    edited.set_text(&one.0);
    let (updates, line) = edited.next();
    assert_eq!(updates, [""; 0]);
    assert!(line.ends_with(", your edits above were applied"), "{line}");
    // If only the first of two edits was applied, the model cannot know which of them led to the text.
    edited.answer(&both.1);
    let (updates, line) = edited.next();
    let net = "## All updates of `b.py` since its last full text: version ";
    assert!(updates.len() == 1 && updates[0].starts_with(net), "{updates:?}");
    assert!(line.ends_with(", 1 update above"), "{line}");
}

#[test]
fn an_edit_that_does_not_apply_makes_the_others_unclear() {
    let Edited { one, both, .. } = Edited::new();
    let missing = "b.py\n<<<<<<< SEARCH\nno such line\n=======\nnew\n>>>>>>> REPLACE\n".to_owned();
    for (first, second) in [(&one.1, &one.1), (&both.1, &one.1), (&missing, &one.1)] {
        let mut edited = Edited::new();
        edited.answer(&format!("{first}\n{second}"));
        edited.set_text(&one.0);
        let (updates, line) = edited.next();
        assert!(updates.len() == 1 && updates[0].starts_with("## Update of `b.py`: version "), "{updates:?}");
        assert!(line.ends_with(", 1 update above"), "{line}");
    }
}

#[test]
fn an_ambiguous_edit_is_not_recognized() {
    let mut edited = Edited::new();
    let text = edited.session.texts["b.py"].clone();
    let twice = text.replacen("line 20 of", "line 21 of", 1);
    edited.set_text(&twice);
    edited.answer("b.py\n<<<<<<< SEARCH\nline 21 of b.py\n=======\nnew\n>>>>>>> REPLACE\n");
    edited.set_text(&twice.replacen("line 21 of b.py", "new", 1));
    assert_eq!(edited.next().0.len(), 1);
}

#[test]
fn an_update_after_the_models_edits_mentions_them() {
    let Edited { one, both, .. } = Edited::new();
    let mut edited = Edited::new();
    edited.answer(&one.1);
    edited.set_text(&one.0);
    edited.answer("done");
    edited.set_text(&both.0);
    let (updates, line) = edited.next();
    assert!(updates.len() == 1 && updates[0].starts_with("## Update of `b.py` after your edits: version "));
    assert!(line.ends_with(", 1 update above, and your edits were applied"), "{line}");
}

#[test]
fn applied_edits_never_need_a_diff() {
    let mut edited = Edited::new();
    for line in 0..8 {
        let before = edited.session.texts["b.py"].clone();
        edited.session.edit("b.py", line % 4, &format!("edit {line}"));
        let after = edited.session.texts["b.py"].clone();
        edited.set_text(&before);
        let diff = crate::diff::unified_diff(&before, &after, 2);
        edited.answer(&format!("--- a/b.py\n+++ b/b.py\n{diff}"));
        edited.set_text(&after);
        assert_eq!(edited.next().0, [""; 0]);
    }
    edited.answer("done");
    // Three diffs may follow, and then one from the full text.
    for (number, heading) in ["## Update", "## Update", "## Update", "## All updates"].iter().enumerate() {
        edited.session.edit("b.py", 10, &format!("by hand {number}"));
        let (updates, _) = edited.next();
        assert!(updates.last().unwrap().starts_with(heading), "{number}: {updates:?}");
        edited.answer("done");
    }
}

#[test]
fn an_edit_of_a_deleted_message_is_shown_as_an_update() {
    let Edited { one, .. } = Edited::new();
    let drop_all: fn(&mut Vec<SentMessage>) = Vec::clear;
    let drop_answer: fn(&mut Vec<SentMessage>) = |messages| drop(messages.remove(1));
    let change: fn(&mut Vec<SentMessage>) =
        |messages| messages[1].blocks = vec![counted(ContentBlock::text("done"))];
    for leave in [drop_all, drop_answer, change] {
        let mut edited = Edited::new();
        // The file is in the kept prefix, before the conversation.
        edited.answer(&one.1);
        edited.set_text(&one.0);
        edited.answer("done");
        assert_eq!(edited.next().0, [""; 0]);
        leave(&mut edited.session.messages);
        let text = edited.session.texts["b.py"].clone();
        let layout = edited.session.lay_out(vec![counted(ContentBlock::text("next"))]).layout;
        let (updates, _) = edited.next();
        let shows_text =
            !text_of(&layout, &format!("## `b.py` (version {}", ContentHash::from_text(&text).short()))
                .is_empty();
        assert!(shows_text || updates.len() == 1, "{}", prompt_summary(&layout));
    }
}

/// Sets up a provider that finds a cache entry only by a breakpoint exactly at its end, and that accepts no breakpoints
/// on assistant messages.
fn without_lookback(session: &mut Session) {
    session.rules.prices.kind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 80, lookback: 1 };
    session.rules.prices.min_tokens = 20;
    session.rules.carriers = BreakpointTargets::Input;
}

fn openai_messages(layout: &Layout) -> Vec<serde_json::Value> {
    let breakpoints = BreakpointMode::Explicit;
    let envelope = Envelope {
        model: "gpt-5.6-sol",
        tools: &[],
        tool_choice: strata_conversation::providers::ToolChoice::Auto,
        cache_key: None,
        breakpoints,
    };
    let Body::Json(body) = wire::render(layout, Format::OpenAi, &envelope).body else { panic!("JSON") };
    assert_eq!(providers::check(Format::OpenAi, &body), [], "{body:#}");
    let mut messages = body["messages"].as_array().cloned().unwrap();
    for part in messages.iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten() {
        part.as_object_mut().unwrap().remove("prompt_cache_breakpoint");
    }
    messages
}

fn call_and_result(number: usize) -> (CountedBlock, CountedBlock) {
    let id = format!("call_{number}");
    let input = serde_json::json!({"path": "c.py"});
    let content = vec![ResultPart::Text { text: format!("result {number}") }];
    let call = ContentBlock::ToolCall { id: id.clone(), name: "read".into(), input };
    let result = ContentBlock::ToolResult {
        call_id: id,
        content,
        outcome: strata_conversation::history::ToolOutcome::Ok,
    };
    (counted(call), counted(result))
}

#[test]
fn without_a_lookback_sent_messages_do_not_change() {
    let mut session = Session::new(REPOSITORY);
    without_lookback(&mut session);
    session.select("a.py");
    session.select("b.py");
    session.select("d.py");
    let mut provider = SimulatedProvider::new(session.rules.prices);
    let mut before: Vec<serde_json::Value> = Vec::new();
    let (mut read, mut all) = (0, 0);
    for turn in 0..20 {
        session.edit(["a.py", "b.py", "d.py"][turn % 3], turn, &format!("changed in turn {turn}"));
        let ask = counted(ContentBlock::text(format!("question {turn}")));
        let (call, result) = call_and_result(turn);
        let exchanges = match turn % 4 {
            // A change during the tool call is shown after the result.
            3 => vec![(vec![ask], vec![call]), (vec![result], vec![counted(ContentBlock::text("done"))])],
            _ => vec![(vec![ask], vec![counted(ContentBlock::text("done"))])],
        };
        for (number, (request, answer)) in exchanges.into_iter().enumerate() {
            if number == 1 {
                session.edit("a.py", 30, &format!("changed by the tool in turn {turn}"));
            }
            let now_ms = session.rules.now_ms;
            let layout = session.exchange(request, answer);
            let charge = provider.charge(&spans(&layout, 0), now_ms).unwrap();
            (read, all) = (read + charge.read, all + charge.total());
            let mut messages = openai_messages(&layout);
            assert_eq!(messages[..before.len()], before, "turn {turn}");
            // The current versions are in a separate message at the end, which belongs to this prompt only.
            let has_volatile_end = layout.messages.last().is_some_and(|last| last.volatile > 0);
            assert_eq!(has_volatile_end, turn > 0);
            messages.truncate(messages.len() - usize::from(has_volatile_end));
            let asks = messages.last().is_some_and(|last| last["role"] != "assistant");
            assert!(asks, "the request does not share a message with them: {messages:#?}");
            before = messages;
        }
    }
    assert!(read * 100 > all * 80, "{read} of {all} tokens were read");
}

/// A session in which files come and go costs less if the provider compares more breakpoints than it writes entries.
#[test]
fn repeating_earlier_breakpoints_lowers_the_cost() {
    let names = ["a.py", "b.py", "c.py", "d.py"];
    let cost = |max_matched: usize| {
        let (mut cost, mut most) = (0.0, 0);
        for seed in 1..20_u64 {
            let mut session = Session::new(REPOSITORY);
            without_lookback(&mut session);
            session.rules.prices.kind = CacheKind::Explicit { max_breakpoints: 4, max_matched, lookback: 1 };
            let mut provider = SimulatedProvider::new(session.rules.prices);
            let mut random = seed;
            for number in 0..40 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let name = names[(random >> 40) as usize % names.len()];
                match (random >> 50) % 4 {
                    0 => session.select(name),
                    1 => session.deselect(name),
                    _ => {}
                }
                let now_ms = session.rules.now_ms;
                let question = vec![counted(ContentBlock::text(lines("question", 5 + number)))];
                let layout = session.exchange(question, vec![counted(ContentBlock::text("done"))]);
                most = layout.blocks().filter(|block| block.mark.is_some()).count().max(most);
                cost += provider.charge(&spans(&layout, 0), now_ms).unwrap().cost;
            }
        }
        (cost, most)
    };
    let ((few, four), (many, more)) = (cost(0), cost(80));
    assert!(many < few, "{many} with many breakpoints, {few} with four");
    assert!(four <= 4 && more > 4, "{four} and {more} breakpoints");
}

#[test]
fn assistant_messages_carry_breakpoints_only_if_the_provider_accepts_them() {
    let marked_answers = |carriers| {
        let mut session = Session::new(REPOSITORY);
        session.rules.carriers = carriers;
        session.select("a.py");
        session.select("b.py");
        for (number, speaker) in [Speaker::User, Speaker::Assistant].into_iter().enumerate() {
            let blocks = vec![counted(ContentBlock::text(lines("what was said elsewhere", 50)))];
            session.messages.push(SentMessage { id: MessageId(number as u64), speaker, blocks });
        }
        let layout = session.turn("first", "done");
        let answers = layout.messages.iter().filter(|message| message.speaker == Speaker::Assistant);
        answers.flat_map(|message| &message.blocks).filter(|block| block.mark.is_some()).count()
    };
    assert_eq!((marked_answers(BreakpointTargets::Any), marked_answers(BreakpointTargets::Input)), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// After any sequence of actions, the provider reads the prefix that a prompt relies on, and every breakpoint is on
    /// input.
    #[test]
    fn without_a_lookback_expected_tokens_are_read(
        actions in prop::collection::vec((0..6_u8, 0..4_usize, 0..5_usize), 1..40),
    ) {
        let names = ["a.py", "b.py", "c.py", "d.py"];
        let mut session = Session::new(REPOSITORY);
        without_lookback(&mut session);
        let mut provider = SimulatedProvider::new(session.rules.prices);
        for (number, (action, file, line)) in actions.into_iter().enumerate() {
            match action {
                0 | 1 => session.edit(names[file], line, &format!("deed {number}")),
                2 => session.select(names[file]),
                3 => session.deselect(names[file]),
                4 => session.rules.now_ms += 100_000 * line as u64,
                _ => {}
            }
            let request = vec![counted(ContentBlock::text(format!("question {number}")))];
            let expected_cached = session.lay_out(request.clone()).expected_cached.unwrap();
            let now_ms = session.rules.now_ms;
            let layout = session.exchange(request, vec![counted(ContentBlock::text("done"))]);
            let charge = provider.charge(&spans(&layout, 0), now_ms).unwrap();
            prop_assert!(charge.read >= expected_cached, "turn {}: {} of {}", number, charge.read, expected_cached);
            for message in &layout.messages {
                for block in message.blocks.iter().filter(|block| block.mark.is_some()) {
                    prop_assert!(BreakpointTargets::Input.can_carry_breakpoint(message.speaker, &block.content), "{:?}", block);
                }
            }
            openai_messages(&layout);
        }
    }
}
