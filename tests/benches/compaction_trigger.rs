//! What the trigger of `topic` does to recorded conversations: each is played with a weight at which it is compacted, and the
//! table says what its input cost, how often it was compacted, and what of it the model was still shown.
//! `cargo bench -p e2e --bench compaction_trigger -- FILE...`; a file is a message list that `strata sessions import` reads.
//!
//! Cost is the predicted input cost of one conversation, in thousands of tokens of plain input, with the share of what its
//! requests would cost without a cache. Shown are, every tenth turn, the share of the
//! file names of all messages so far, and of the user's messages (their first words), that the request still holds.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::BTreeSet;
use std::env;
use std::fs;

use serde_json::{Value, json};
use strata_app::runtime::headless::HeadlessWorkspace;
use strata_conversation::compaction::ProfileOptions;
use strata_conversation::exchange::import_conversation;
use strata_conversation::history::{ContentBlock, NewMessage, Role};
use strata_prompt::settings::Settings;

/// Windows that conversations are played in, in tokens.
const WINDOWS: [usize; 3] = [32_000, 128_000, 1_000_000];
/// Turns between two looks at what is still shown.
const LOOK_EVERY: usize = 10;
/// Characters of a request that stand for it.
const HEAD: usize = 60;

#[derive(Default)]
struct TriggerStats {
    cost: f64,
    uncached: f64,
    compactions: usize,
    named: f64,
    asked: f64,
    looks: usize,
    left_out: usize,
}

fn main() {
    let files: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let talks: Vec<Vec<NewMessage>> = files
        .iter()
        .map(|file| import_conversation(&fs::read_to_string(file).unwrap()).unwrap().messages)
        .collect();
    println!(
        "{:>9} {:<22} {:>6} {:>5} {:>11} {:>7} {:>9} {:>9}",
        "window", "compacted over", "cost", "share", "compactions", "names", "requests", "left out"
    );
    for window in WINDOWS {
        for over in [16_000, 24_000, 48_000, 96_000, 0] {
            let name = match over {
                0 => "the limit alone".to_owned(),
                over => format!("{over} tokens"),
            };
            let options = ProfileOptions { pays_over: Some(over), ..ProfileOptions::default() };
            let mut figures = TriggerStats::default();
            talks.iter().for_each(|talk| play(talk, window, &options, &mut figures));
            let share = |part: f64| part / figures.looks.max(1) as f64 * 100.0;
            println!(
                "{window:>9} {name:<22} {:>6.0} {:>5.3} {:>11.1} {:>6.1}% {:>8.1}% {:>9}",
                figures.cost / 1_000.0 / talks.len().max(1) as f64,
                figures.cost / figures.uncached,
                figures.compactions as f64 / talks.len().max(1) as f64,
                share(figures.named),
                share(figures.asked),
                figures.left_out,
            );
        }
    }
}

fn play(talk: &[NewMessage], window: usize, options: &ProfileOptions, figures: &mut TriggerStats) {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.compaction.profiles.insert("topic".to_owned(), options.clone());
    let mut workspace = HeadlessWorkspace::open(folder.path(), settings).unwrap();
    workspace.index(|_| ()).unwrap();
    let mut names = BTreeSet::new();
    let mut requests = Vec::new();
    let mut last = Value::Null;
    let turns = talk.chunk_by(|one, next| !(one.role == Role::Assistant && next.role == Role::User));
    for (turn, messages) in turns.enumerate() {
        let said = |role| {
            let blocks =
                messages.iter().filter(|message| message.role == role).flat_map(|message| &message.content);
            let texts = blocks.filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        };
        let (question, answer) = (said(Role::User), said(Role::Assistant));
        if question.trim().is_empty() || answer.trim().is_empty() {
            continue;
        }
        let ask = json!({ "prompt": question, "maxInputTokens": window, "bodyAs": "text" });
        let prompt = workspace.run("strata.prompt.assemble", ask).unwrap();
        let predicted = &prompt["predicted"];
        let tokens = |field: &str| predicted[field].as_u64().unwrap();
        let total = tokens("read") + tokens("written") + tokens("plain");
        figures.cost += predicted["cost"].as_f64().unwrap();
        figures.uncached += total as f64;
        let warnings = prompt["warnings"].as_array().unwrap();
        figures.left_out +=
            usize::from(warnings.iter().any(|warning| warning["code"] == "history_truncated"));
        if turn % LOOK_EVERY == LOOK_EVERY - 1 {
            let body = prompt["body"].as_str().unwrap();
            let shown = |part: &[String]| {
                part.iter().filter(|text| body.contains(text.as_str())).count() as f64
                    / part.len().max(1) as f64
            };
            figures.named += shown(&names.iter().cloned().collect::<Vec<String>>());
            figures.asked += shown(&requests);
            figures.looks += 1;
        }
        let usage = json!({ "input": tokens("plain"), "cacheRead": tokens("read"), "cacheWrite": tokens("written"), "output": 1 });
        let record = json!({ "id": prompt["id"], "response": answer, "usage": usage });
        workspace.run("strata.prompt.record", record).unwrap();
        let now = workspace.run("strata.compaction.status", json!({})).unwrap()["last"].clone();
        figures.compactions += usize::from(now != last);
        last = now;
        names.extend(file_names(&question).chain(file_names(&answer)));
        requests.push(head(&question));
    }
}

/// What looks like the path of a file.
fn file_names(text: &str) -> impl Iterator<Item = String> {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '/' | '.' | '_' | '-');
    text.split(move |char| !is_part(char)).filter_map(|word| {
        let (stem, ending) = word.trim_matches('.').rsplit_once('.')?;
        let known = ["py", "rs", "js", "ts", "c", "h", "html", "md", "txt", "toml", "cfg", "json"];
        (stem.len() > 2 && known.contains(&ending)).then(|| format!("{stem}.{ending}"))
    })
}

/// The first words of a request, as they stand in a JSON text.
fn head(text: &str) -> String {
    let start: String = text.trim().chars().take(HEAD).collect();
    serde_json::to_string(&start).unwrap_or_default().trim_matches('"').to_owned()
}
