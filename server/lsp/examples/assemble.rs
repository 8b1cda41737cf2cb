//! Measures `prompt.assemble` on a repository, cold and warm, and the memory of the process: `cargo run --release -p
//! strata-lsp --example assemble -- DIR [SELECTED..]`.
//!
//! Warm measurements repeat the same question, and run the turns of a conversation, recording each turn before the
//! next. The tokens of the last request are counted again from its body. Memory is measured from the start of the
//! process (Linux only).
#![expect(clippy::print_stdout, reason = "prints its measurements")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strata_app::runtime::headless::{HeadlessWorkspace, Settings};
use strata_tokens::counting::TokenCounter;

type Anything = Box<dyn std::error::Error>;

/// Number of times each prompt is assembled and measured.
const ASSEMBLY_ROUNDS: usize = 30;

fn main() -> Result<(), Anything> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        return Err("usage: assemble DIR [SELECTED..]".into());
    };
    let selected: Vec<String> = arguments.collect();

    let start = Instant::now();
    let mut headless = HeadlessWorkspace::open(&folder, Settings::default())?;
    headless.index(|_| ())?;
    let index = &headless.snapshot().index;
    println!("index of {} files, {} outlined: {:?}", index.files.len(), index.symbols.len(), start.elapsed());
    println!("memory after indexing: {}", peak_memory());
    headless.run("strata.files.select", json!({ "paths": selected }))?;

    let arguments = json!({ "prompt": "What does this do?", "dryRun": true });
    let (first, _) = timed(&mut headless, "strata.prompt.assemble", &arguments)?;
    println!("first prompt: {first:?}");
    let mut again = Vec::new();
    for _ in 0..ASSEMBLY_ROUNDS {
        again.push(timed(&mut headless, "strata.prompt.assemble", &arguments)?.0);
    }
    print_times("the same question again", again);

    let mut turns = Vec::new();
    let mut last = Value::Null;
    for turn in 0..ASSEMBLY_ROUNDS {
        let arguments = json!({ "prompt": format!("Question {turn}: what does this do?") });
        let (time, reply) = timed(&mut headless, "strata.prompt.assemble", &arguments)?;
        let answer = json!({ "id": reply["id"], "response": format!("Answer {turn}.") });
        headless.run("strata.prompt.record", answer)?;
        turns.push(time);
        last = reply;
    }
    print_times("turns of a conversation", turns);
    println!("memory at the end: {}", peak_memory());
    println!("last request: {} bytes, {}", last["body"].to_string().len(), last["coverage"]);
    let (texts, parts) = (recount(&headless, &last), &last["tokens"]["parts"]);
    println!("tokens: {} = {parts}; texts recounted: {texts}", last["tokens"]["total"]);
    Ok(())
}

fn timed(
    headless: &mut HeadlessWorkspace,
    command: &str,
    arguments: &Value,
) -> Result<(Duration, Value), Anything> {
    let arguments = arguments.clone();
    let start = Instant::now();
    let reply = headless.run(command, arguments)?;
    Ok((start.elapsed(), reply))
}

/// Counts the tokens of all texts in a request again, without a cache. Omits the tokens that the reply reports as
/// `structure`.
fn recount(headless: &HeadlessWorkspace, reply: &Value) -> usize {
    let model = headless.snapshot().models.resolve(&headless.snapshot().settings.model).model;
    let count_tokens = |text: String| TokenCounter::default().count(model.tokenizer, &text);
    let messages = reply["body"]["messages"].as_array().into_iter().flatten();
    let contents =
        std::iter::once(&reply["body"]["system"]).chain(messages.map(|message| &message["content"]));
    contents.flat_map(texts).map(count_tokens).sum()
}

/// Returns the texts of a message's content, and of the calls and results in it.
fn texts(content: &Value) -> Vec<String> {
    let text = content.as_str().map(str::to_owned);
    let blocks = content.as_array().into_iter().flatten().flat_map(|block| {
        let called = [block["name"].as_str().map(str::to_owned), block.get("input").map(Value::to_string)];
        let block_text = block["text"].as_str().map(str::to_owned);
        block_text.into_iter().chain(called.into_iter().flatten()).chain(texts(&block["content"]))
    });
    text.into_iter().chain(blocks).collect()
}

fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let (Some(least), Some(median), Some(most)) = (times.first(), times.get(times.len() / 2), times.last())
    else {
        return;
    };
    println!("{name}, {} times: {least:?} to {most:?}, median {median:?}", times.len());
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("unknown on this system".to_owned(), |peak| peak.trim().to_owned())
}
