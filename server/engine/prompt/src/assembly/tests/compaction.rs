//! When a conversation is compacted to save money.

use strata_conversation::compaction::{CompactionRun, Summariser};

use super::fixture::Bench;
use crate::assembly::with_token_counters;

/// Compacts the conversation without a model if that is due at time 0, and returns whether it was.
fn compacted(bench: &mut Bench) -> bool {
    let settings = &bench.settings;
    let profile = settings.compaction.active_profile(&settings.tool_output);
    let pressure = bench.session.pressure(None, bench.services(), 0);
    if profile.due_reading(&pressure).is_none() {
        return false;
    }
    let draft = with_token_counters(bench.services(), |scales| {
        let (history, tools) = (&bench.session.history, settings.tools.clone());
        CompactionRun::new(history, profile.clone(), pressure, Summariser::Extractive, tools, scales)?
            .finish(scales)
    });
    bench.session.compact(draft.unwrap(), &profile, &settings.tools, 0).unwrap();
    true
}

/// Asks 24 questions with answers of this many words, and returns the turns after which the conversation was compacted.
fn compactions(words: usize) -> Vec<usize> {
    let mut bench = Bench::new("//- a.rs\nfn a() {}");
    let answer = "word ".repeat(words);
    let mut turns = Vec::new();
    for turn in 0..24 {
        bench.turn("And now?", &answer);
        if compacted(&mut bench) {
            turns.push(turn);
        }
    }
    turns
}

#[test]
fn a_conversation_of_long_answers_is_not_compacted_after_each_of_them() {
    // The two exchanges that are kept take up all of the 24,000 tokens above which a compaction can pay.
    let turns = compactions(8_000);
    assert!((2..=8).contains(&turns.len()), "{turns:?}");
    assert!(turns.windows(2).all(|pair| matches!(pair, [one, next] if next - one >= 2)), "{turns:?}");
}

#[test]
fn a_conversation_of_short_answers_is_compacted_soon_after_it_is_long_enough() {
    let turns = compactions(1_500);
    // Eleven answers exceed the 24,000 tokens.
    assert_eq!(turns.first(), Some(&10), "{turns:?}");
}
