//! How long it takes to compact a conversation of 160,000 tokens without a model, by each profile: from the messages to the
//! committed conversation, with every weight known from before and with none. `cargo bench -p e2e --bench compaction`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::{Duration, Instant};

use e2e::Times;
use serde_json::json;
use strata_conversation::compaction::{BuiltinProfile, CompactionRun, Profile, Summariser};
use strata_conversation::history::{
    ContentBlock, History, MessageKind, NewMessage, ResultPart, Role, ToolOutcome,
};
use strata_prompt::assembly::{PromptServices, with_token_counters};
use strata_prompt::session::Session;
use strata_prompt::settings::Settings;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

const TOKENS: usize = 160_000;
const RUNS: usize = 5;

/// Which weights are known before a compaction.
#[derive(Clone, Copy)]
enum TokenCounts {
    Known,
    Unknown,
}

fn main() {
    let (models, settings) = (Models::builtin(), Settings::default());
    let counter = TokenCounter::default();
    let means = PromptServices { models: &models, counter: &counter, settings: &settings };
    let tokenizer = models.resolve(&settings.model).model.tokenizer;
    let mut history = History::default();
    let mut tokens = 0;
    for step in 0.. {
        if tokens >= TOKENS {
            break;
        }
        let next = exchange(step);
        tokens += next.iter().map(|message| counter.count(tokenizer, &weighed(message))).sum::<usize>();
        for message in next {
            history.add(message);
        }
    }
    println!("{} messages, about {tokens} tokens; median of {RUNS} and slowest", history.messages().len());
    println!("profile          weights known         weights unknown");
    for builtin in BuiltinProfile::ALL {
        let known = times(&history, builtin, means, TokenCounts::Known);
        let unknown = times(&history, builtin, means, TokenCounts::Unknown);
        println!("{:<14}{known}  {unknown}", builtin.name());
    }
}

fn times(
    history: &History,
    builtin: BuiltinProfile,
    means: PromptServices<'_>,
    counts: TokenCounts,
) -> String {
    let profile = builtin.profile();
    let taken: Times = (0..RUNS)
        .map(|_| {
            let empty = TokenCounter::default();
            let counter = match counts {
                TokenCounts::Known => means.counter,
                TokenCounts::Unknown => &empty,
            };
            compact(history, &profile, PromptServices { counter, ..means })
        })
        .collect();
    let ms = |share: usize| taken.percentile(share).as_secs_f64() * 1_000.0;
    format!("{:8.2} ms {:8.2} ms", ms(50), ms(100))
}

/// Compacts the conversation, whether that is due or not, and says how long it took.
fn compact(history: &History, profile: &Profile, means: PromptServices<'_>) -> Duration {
    let tools = &means.settings.tools;
    let started = Instant::now();
    let mut session = Session::new("bench");
    session.history = history.clone();
    let pressure = session.pressure(None, means, 0);
    let draft = with_token_counters(means, |scales| {
        let (history, summariser) = (&session.history, Summariser::Extractive);
        CompactionRun::new(history, profile.clone(), pressure, summariser, tools.clone(), scales)?
            .finish(scales)
    });
    let compacted = draft.map(|draft| session.compact(draft, profile, tools, 0).map(drop));
    let taken = started.elapsed();
    assert!(matches!(compacted, Ok(Ok(()))), "{}: {compacted:?}", profile.name);
    taken
}

/// A request of the user, and an agent that reads a file, edits it and runs the tests.
fn exchange(step: usize) -> Vec<NewMessage> {
    let file = format!("/home/me/project/src/part{}/module{step}.rs", step % 9);
    let source: String = (0..60)
        .map(|line| format!("pub fn item_{step}_{line}(value: u64) -> u64 {{ value.rotate_left({line}) }}\n"))
        .collect();
    let asked = format!("Please make `module{step}` faster and do not change what it gives for step {step}.");
    let told =
        format!("I will read {file} first. The loop in item_{step}_3 allocates; we decided to keep it.");
    vec![
        NewMessage::text(Role::User, asked),
        call(step, "Read", &told, json!({ "file_path": file })),
        result(step, "Read", &source, ToolOutcome::Ok),
        call(step, "Edit", "", json!({ "file_path": file, "old_string": "value", "new_string": "number" })),
        result(step, "Edit", "The file has been updated.", ToolOutcome::Ok),
        call(step, "Bash", "Now the tests.", json!({ "command": format!("cargo test module{step}") })),
        result(
            step,
            "Bash",
            &format!("error: test step_{step} failed: left 4, right {step}"),
            ToolOutcome::Error,
        ),
        NewMessage::text(Role::Assistant, format!("Step {step} is done but its test still fails.")),
    ]
}

fn call(step: usize, tool: &str, said: &str, input: serde_json::Value) -> NewMessage {
    let call = ContentBlock::ToolCall { id: format!("{tool}_{step}"), name: tool.to_owned(), input };
    let said = (!said.is_empty()).then(|| ContentBlock::text(said));
    NewMessage::new(Role::Assistant, said.into_iter().chain([call]).collect())
}

fn result(step: usize, tool: &str, text: &str, outcome: ToolOutcome) -> NewMessage {
    let content = vec![ResultPart::Text { text: text.to_owned() }];
    let result = ContentBlock::ToolResult { call_id: format!("{tool}_{step}"), content, outcome };
    NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![result]) }
}

/// Everything in a message that has weight.
fn weighed(message: &NewMessage) -> String {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::ToolCall { name, input, .. } => format!("{name}{input}"),
        ContentBlock::ToolResult { content, .. } => {
            let text = |part: &ResultPart| match part {
                ResultPart::Text { text } => text.clone(),
                _ => String::new(),
            };
            content.iter().map(text).collect()
        }
        _ => String::new(),
    };
    message.content.iter().map(text).collect()
}
