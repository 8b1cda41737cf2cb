//! Recorded conversations under `ledger`, compared with one automatic breakpoint.

use strata_conversation::history::ResultPart;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use super::*;
use crate::rng::Rng;
use crate::tests::settings_for;

/// Replays a whole record.
fn play(transcript: &Transcript, model: &str) -> ConversationStats {
    let (models, counter) = (Models::builtin(), TokenCounter::default());
    let settings = settings_for(model);
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    let stats = ConversationStats::play("talk", transcript, services, &|| ());
    assert_eq!((stats.turns, stats.cut_short, &stats.problem), (transcript.turns.len(), 0, &None));
    stats
}

fn ratio(stats: &ConversationStats) -> f64 {
    stats.columns[&LayoutColumn::Ledger].share / stats.columns[&LayoutColumn::Automatic].share
}

/// Creates text of mostly few words, and sometimes many.
fn words(rng: &mut Rng, most: usize) -> String {
    let most = if rng.next_below(5) == 0 { most } else { most / 8 + 1 };
    (0..=rng.next_below(most)).map(|word| format!("word{} ", word * 7 % 13)).collect()
}

/// Creates a chat of prompts and answers, some of which call tools.
fn chat(seed: u64, turns: usize, most: usize, calls: usize) -> Transcript {
    let mut rng = Rng::new(seed);
    let mut open: Vec<String> = Vec::new();
    let mut transcript = Transcript::default();
    for turn in 0..turns {
        let result = |call_id, text| ContentBlock::ToolResult {
            call_id,
            content: vec![ResultPart::Text { text }],
            outcome: strata_conversation::history::ToolOutcome::Ok,
        };
        let mut request: Vec<ContentBlock> =
            open.drain(..).map(|id| result(id, words(&mut rng, most))).collect();
        if request.is_empty() || rng.next_below(9) == 0 {
            request.push(ContentBlock::text(format!("{turn}: {}", words(&mut rng, most))));
        }
        let mut answer = vec![ContentBlock::text(words(&mut rng, most))];
        for call in 0..rng.next_below(calls + 1) {
            let id = format!("call{turn}x{call}");
            answer.push(ContentBlock::ToolCall {
                id: id.clone(),
                name: "run".into(),
                input: serde_json::json!({}),
            });
            open.push(id);
        }
        transcript.turns.push(TranscriptTurn { request, answer, ..TranscriptTurn::default() });
    }
    transcript
}

#[test]
fn on_a_chat_ledger_costs_no_more_than_one_breakpoint_at_the_end() {
    // These models cache prefixes of at least 1,024, 512 and 4,096 tokens.
    for (seed, model) in (0..).zip(["claude-sonnet-4-5", "claude-sonnet-5-5", "claude-haiku-4-5"]) {
        for (most, calls) in [(60, 0), (120, 3)] {
            let ratio = ratio(&play(&chat(seed, 60, most, calls), model));
            assert!(ratio <= 1.01, "seed {seed}, {most} words, {calls} calls, {model}: {ratio:.4}");
        }
    }
}

#[test]
fn a_turn_of_more_blocks_than_a_provider_looks_back_costs_no_more_either() {
    let ratio = ratio(&play(&chat(1, 20, 200, 40), "claude-sonnet-4-5"));
    assert!(ratio <= 1.01, "{ratio:.4}");
}

/// Repeats the text of every tool result.
fn with_long_results(mut transcript: Transcript, times: usize) -> Transcript {
    for block in transcript.turns.iter_mut().flat_map(|turn| &mut turn.request) {
        if let ContentBlock::ToolResult { content, .. } = block {
            for part in content {
                if let ResultPart::Text { text } = part {
                    *text = text.repeat(times);
                }
            }
        }
    }
    transcript
}

#[test]
fn archiving_old_tool_results_is_cheaper_than_keeping_them() {
    for seed in [0, 2] {
        let stats = play(&with_long_results(chat(seed, 60, 40, 3), 80), "claude-sonnet-5-5");
        let (archival, automatic) =
            (stats.with_archival.unwrap(), stats.columns[&LayoutColumn::Automatic].share);
        assert!(archival < 0.9 * automatic, "{seed}: {archival:.3}, automatic breakpoint {automatic:.3}");
    }
}

#[test]
fn a_file_that_comes_late_leaves_the_conversation_cached() {
    let (models, counter) = (Models::builtin(), TokenCounter::default());
    let settings = settings_for("claude-sonnet-4-5");
    let services = PromptServices { models: &models, counter: &counter, settings: &settings };
    let mut scenario = Scenario::new(&EMPTY_REPOSITORY, IncludedParts::Table);
    let mut runner = Runner::new(PolicyName::Ledger, model_prices(services));
    let turn = |scenario: &Scenario<'_>, runner: &mut Runner| {
        let ask = PromptRequest {
            policy: Some(PolicyName::Ledger),
            ..PromptRequest::prompt("word ".repeat(2_000))
        };
        let play = runner.play(scenario, &ask, vec![ContentBlock::text("ok")], services).unwrap();
        play.charges[0].1
    };
    let before = turn(&scenario, &mut runner);
    scenario.change([("a.py", Some("def f():\n    return 1\n"))]);
    runner.session.selection.select("a.py".into());
    let after = turn(&scenario, &mut runner);
    assert_eq!(after.read, before.total());
}

#[test]
fn a_pause_and_a_compaction_empty_the_cache() {
    let mut transcript = chat(3, 12, 400, 0);
    let read = |transcript: &Transcript| {
        play(transcript, "claude-sonnet-4-5").columns[&LayoutColumn::Ledger].totals.read
    };
    for (number, turn) in transcript.turns.iter_mut().enumerate() {
        turn.time_ms = Some(1_000_000 + number as u64 * 60_000);
    }
    let undisturbed = read(&transcript);
    let mut summarised = transcript.clone();
    summarised.turns[6].past = PriorHistoryForm::Summarised;
    assert!(read(&summarised) < undisturbed);
    for (number, turn) in transcript.turns.iter_mut().enumerate() {
        turn.time_ms = Some(1_000_000 + number as u64 * 600_000);
    }
    assert_eq!(read(&transcript), 0);
}

#[test]
fn results_that_come_with_a_prompt_are_told_first() {
    let result = |id: &str| ContentBlock::ToolResult {
        call_id: id.to_owned(),
        content: vec![],
        outcome: strata_conversation::history::ToolOutcome::Ok,
    };
    let (results, request) = split_request(&[ContentBlock::text("a"), result("1"), ContentBlock::text("b")]);
    assert_eq!(results, [result("1")]);
    assert_eq!(request, Request::Prompt { text: "a\n\nb".to_owned(), images: vec![] });
    let (results, request) = split_request(&[result("1"), ContentBlock::text(" ")]);
    assert!(results.is_empty() && matches!(request, Request::ToolResults(results) if results.len() == 1));
    let (_, request) = split_request(&[]);
    assert_eq!(request, Request::Prompt { text: CONTINUE_REQUEST.to_owned(), images: vec![] });
}

#[test]
fn what_was_billed_is_a_share_of_what_it_would_have_cost() {
    let mut transcript = chat(1, 2, 10, 0);
    assert_eq!(billed_cost_ratio(&transcript), None);
    transcript.turns[0].billed = Some(Usage { input: 100, output: 7, cache_read: 0, cache_write: 400 });
    transcript.turns[1].billed = Some(Usage { input: 0, output: 7, cache_read: 500, cache_write: 0 });
    assert_eq!(billed_cost_ratio(&transcript), Some(0.65));
}
