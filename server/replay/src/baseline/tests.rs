//! The baselines contain the same text as the flat prompt, with their own marks.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use strata_conversation::history::ContentBlock;
use strata_prompt::layout::{Tier, block_spans};
use strata_tokens::models::Ttl;

use super::*;

/// A provider with a lookback from its breakpoints, like most providers.
const LOOKS_BACK: CacheKind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 };

fn block(part: Part, text: &str, mark: Option<Ttl>) -> LayoutBlock {
    let content = match text {
        "thought" => ContentBlock::Thinking { text: text.into(), signature: None },
        _ => ContentBlock::text(text),
    };
    LayoutBlock { content, part, items: vec![], tier: Tier::Active, tokens: text.len(), mark }
}

fn flat(blocks: &[(Speaker, Part, &str)]) -> Layout {
    let mut layout = Layout::default();
    for &(speaker, part, text) in blocks {
        layout.push(speaker, block(part, text, None));
    }
    layout
}

/// Creates a prompt in the order of policy `flat`.
fn prompt() -> Layout {
    flat(&[
        (Speaker::System, Part::System, "rules"),
        (Speaker::System, Part::Map, "legend"),
        (Speaker::System, Part::Map, "map"),
        (Speaker::User, Part::FileList, "list"),
        (Speaker::Assistant, Part::FileList, "ok"),
        (Speaker::User, Part::Urls, "page"),
        (Speaker::Assistant, Part::Urls, "ok"),
        (Speaker::User, Part::Files, "file"),
        (Speaker::Assistant, Part::Files, "ok"),
        (Speaker::User, Part::History, "question"),
        (Speaker::Assistant, Part::History, "thought"),
        (Speaker::Assistant, Part::History, "answer"),
        (Speaker::User, Part::Prompt, "more"),
    ])
}

#[track_caller]
fn assert_laid(baseline: LayoutColumn, layout: &Layout, expected: Expect) {
    let text = |hash| {
        let mut said = layout.messages.iter().flat_map(|m| m.blocks.iter().map(move |b| (m.speaker, b)));
        let (_, block) = said.find(|(s, b)| block_spans([(*s, *b)], 0)[0].hash == hash).unwrap();
        match &block.content {
            ContentBlock::Text { text } | ContentBlock::Thinking { text, .. } => text.clone(),
            other => format!("{other:?}"),
        }
    };
    let words = baseline.spans(layout, LOOKS_BACK, 0).into_iter().map(|span| match span.mark {
        CacheMarker::None => text(span.hash),
        CacheMarker::Lookup => text(span.hash) + " ?",
        CacheMarker::Breakpoint(_) => text(span.hash) + " |",
    });
    expected.assert_eq(&words.collect::<Vec<_>>().join(" "));
}

#[test]
fn one_mark_stands_at_the_end_or_behind_the_system_message() {
    assert_laid(
        LayoutColumn::None,
        &prompt(),
        expect!["rules legend map list ok page ok file ok question thought answer more"],
    );
    assert_laid(
        LayoutColumn::Automatic,
        &prompt(),
        expect!["rules legend map list ok page ok file ok question thought answer more |"],
    );
    assert_laid(
        LayoutColumn::Flat,
        &prompt(),
        expect!["rules legend map | list ok page ok file ok question thought answer more"],
    );
}

#[test]
fn the_fixed_order_puts_files_behind_the_history_and_marks_three_chunks() {
    assert_laid(
        LayoutColumn::Fixed,
        &prompt(),
        expect!["rules list ok | legend map | page ok question thought answer file ok | more"],
    );
}

#[test]
fn a_chunk_that_is_missing_is_not_marked() {
    let layout = flat(&[(Speaker::System, Part::System, "rules"), (Speaker::User, Part::Prompt, "hello")]);
    assert_laid(LayoutColumn::Fixed, &layout, expect!["rules | hello"]);
    assert_eq!(LayoutColumn::Fixed.spans(&Layout::default(), LOOKS_BACK, 3), []);
}

#[test]
fn no_mark_stands_where_a_provider_refuses_one() {
    let layout = flat(&[
        (Speaker::System, Part::System, "rules"),
        (Speaker::System, Part::System, "  "),
        (Speaker::Assistant, Part::History, "thought"),
    ]);
    for baseline in [LayoutColumn::Automatic, LayoutColumn::Flat, LayoutColumn::Fixed] {
        assert_laid(baseline, &layout, expect!["rules |    thought"]);
    }
}

fn layout() -> impl Strategy<Value = Layout> {
    let speaker = prop::sample::select(vec![Speaker::System, Speaker::User, Speaker::Assistant]);
    let part = prop::sample::select(vec![
        Part::System,
        Part::Map,
        Part::Files,
        Part::FileList,
        Part::Urls,
        Part::History,
        Part::Tools,
        Part::Prompt,
        Part::Structure,
    ]);
    let text = prop::sample::select(vec!["", "thought", "a", "bb", "ccc"]);
    let mark = prop::sample::select(vec![None, Some(Ttl::OneHour)]);
    prop::collection::vec((speaker, part, text, mark), 0..30).prop_map(|blocks| {
        let mut layout = Layout::default();
        for (speaker, part, text, mark) in blocks {
            layout.push(speaker, block(part, text, mark));
        }
        layout
    })
}

proptest! {
    #[test]
    fn the_same_is_said_and_only_the_fixed_order_moves_it(layout in layout(), framing in 0..9_usize) {
        let blocks = layout.messages.iter();
        let blocks = blocks.flat_map(|said| said.blocks.iter().map(|block| (said.speaker, block)));
        let flat: Vec<_> = block_spans(blocks, framing).iter().map(|span| (span.hash, span.tokens)).collect();
        for baseline in LayoutColumn::BASELINES {
            let laid = baseline.spans(&layout, LOOKS_BACK, framing);
            let marks = laid.iter().filter(|span| span.mark.breakpoint().is_some()).count();
            let allowed = match baseline {
                LayoutColumn::None | LayoutColumn::Ripple | LayoutColumn::Ledger => 0,
                LayoutColumn::Automatic | LayoutColumn::Flat => 1,
                LayoutColumn::Fixed => 3,
            };
            prop_assert!(marks <= allowed);
            let mut said: Vec<_> = laid.iter().map(|span| (span.hash, span.tokens)).collect();
            let mut expected = flat.clone();
            if baseline == LayoutColumn::Fixed {
                said.sort_unstable();
                expected.sort_unstable();
            }
            prop_assert_eq!(said, expected);
        }
    }
}
