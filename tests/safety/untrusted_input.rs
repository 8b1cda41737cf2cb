//! What comes from outside, made up: bytes, messages, commands, documents, files, replies of models. Each module has one kind of input and says what
//! must hold whatever comes; here they are given what is said in `docs/PROTOCOL.md`, changed in some ways. `tests/fuzz` gives
//! the same modules to libFuzzer, which looks for inputs that reach new code.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]
#![expect(clippy::print_stderr, reason = "figures of a run")]

mod commands;
mod documents;
mod files;
mod frames;
mod messages;
mod replies;

use std::env;
use std::fs;
use std::path::Path;

use e2e::mutation::mutated;
use e2e::{Dialect, is_long};
use serde_json::{Value, json};

/// Checks the seeds, then so many texts made from them; a hundred times as many with `STRATA_LONG=1`. With
/// `STRATA_FUZZ_SEEDS` the seeds are written there, for `tests/fuzz/run`.
fn check(what: &str, seeds: &[String], inputs: u64, check: impl Fn(&[u8])) {
    let inputs = if is_long() { 100 * inputs } else { inputs };
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    assert!(!seeds.is_empty());
    if let Some(folder) = env::var_os("STRATA_FUZZ_SEEDS") {
        let folder = Path::new(&folder).join(what);
        fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
    }
    for seed in &seeds {
        check(seed.as_bytes());
    }
    for number in 0..inputs {
        check(mutated(&seeds, number).as_bytes());
    }
    eprintln!("{what}: {inputs} inputs from {} seeds", seeds.len());
}

/// The commands of `docs/PROTOCOL.md`, each with the arguments of its example.
fn examples() -> Vec<(String, Value)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/PROTOCOL.md");
    let page = fs::read_to_string(page).unwrap();
    let sections = page.split("\n### ").filter(|section| section.starts_with("strata."));
    let examples = sections.filter_map(|section| {
        let name = section.lines().next()?;
        let arguments = section.split("```json\n").nth(1)?.split("```").next()?;
        Some((name.to_owned(), serde_json::from_str(arguments).ok()?))
    });
    let examples: Vec<_> = examples.collect();
    assert!(examples.len() > 40, "{}", examples.len());
    examples
}

/// The seeds of commands, one line each.
fn commands() -> Vec<String> {
    examples().into_iter().map(|(name, arguments)| format!("{name} {arguments}\n")).collect()
}

/// What editors send.
fn messages() -> Vec<String> {
    let document = json!({ "uri": "~/a.rs", "languageId": "rust", "version": 1, "text": "fn a() {}\n" });
    let place = json!({ "line": 0, "character": 4 });
    let change = json!({ "range": { "start": place, "end": place }, "text": "é🦀\r\n" });
    let named = json!({ "uri": "~/a.rs" });
    let notifications = [
        ("textDocument/didOpen", json!({ "textDocument": document })),
        (
            "textDocument/didChange",
            json!({ "textDocument": { "uri": "~/a.rs", "version": 2 }, "contentChanges": [change] }),
        ),
        ("textDocument/didSave", json!({ "textDocument": named, "text": "fn b() {}\n" })),
        ("textDocument/didClose", json!({ "textDocument": named })),
        ("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": "~/b.py", "type": 2 }] })),
        ("workspace/didChangeConfiguration", json!({ "settings": { "strata": { "model": "gpt-5" } } })),
        (
            "workspace/didChangeWorkspaceFolders",
            json!({ "event": { "added": [{ "uri": "~", "name": "x" }], "removed": [] } }),
        ),
        ("$/cancelRequest", json!({ "id": 1 })),
        ("$/setTrace", json!({ "value": "verbose" })),
    ];
    let requests = [
        ("textDocument/documentSymbol", json!({ "textDocument": named })),
        ("textDocument/hover", json!({ "textDocument": named, "position": place })),
        ("textDocument/definition", json!({ "textDocument": named, "position": place })),
        (
            "textDocument/references",
            json!({ "textDocument": named, "position": place, "context": { "includeDeclaration": true } }),
        ),
        ("workspace/symbol", json!({ "query": "a" })),
        ("textDocument/codeLens", json!({ "textDocument": named })),
    ];
    let said =
        notifications.map(|(method, params)| json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    let asked = requests
        .map(|(method, params)| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    let run = examples().into_iter().map(|(name, arguments)| {
        let params = json!({ "command": name, "arguments": [arguments] });
        json!({ "jsonrpc": "2.0", "id": "x", "method": "workspace/executeCommand", "params": params })
    });
    let all: Vec<Value> = said.into_iter().chain(asked).chain(run).collect();
    // Two and two, since most are about what another one has brought about.
    all.windows(2).map(|two| format!("{}\n{}\n", two[0], two[1])).collect()
}

fn recordings() -> Vec<String> {
    let messages = json!([
        { "role": "user", "content": "Why?" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "read", "input": { "path": "a.rs" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "fn a() {}" }] },
        { "role": "assistant", "content": "So." },
    ]);
    let openai = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "assistant", "tool_calls": [{ "id": "t", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "t", "content": "x" },
    ]);
    let record = json!({ "type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
        "message": { "role": "user", "content": "Why?" } });
    let settings = "model = \"gpt-5\"\n[compaction]\nprofile = \"agent\"\n[prompt]\nsystem = \"Be brief.\"\n";
    let header = json!({ "strataSession": 1, "id": "a", "name": "One", "createdMs": 1 });
    let said = json!({ "id": 3, "role": "assistant", "content": [{ "type": "text", "text": "So." }] });
    let contents = [
        messages.to_string(),
        openai.to_string(),
        format!("{record}\n{record}\n"),
        settings.to_owned(),
        format!("{header}\n{said}\n"),
        "STRATA_MODEL=gpt-5\nSTRATA_FILES_LIST_BUDGET=0\nSTRATA_PROMPT_RULES=a,[\"b\"]\n".to_owned(),
    ];
    contents.iter().flat_map(|content| ('0'..='8').map(move |kind| format!("{kind}{content}"))).collect()
}

/// What providers answer, streamed and whole, with calls and thoughts.
fn replies() -> Vec<String> {
    let calls = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2VhbA=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"path\": "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "\"a.rs\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "read", "arguments": "{"}}]}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}, "finish_reason": "tool_calls"}]}),
        json!({"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "t", "name": "read", "arguments": "{}"}}),
        json!({"type": "response.output_item.done", "item": {"type": "reasoning", "encrypted_content": "c2VhbA=="}}),
        json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "c2VhbA=="}]}}]}),
    ];
    let calls: String = calls.iter().map(|event| format!("data: {event}\n\n")).collect();
    let of_dialect = |dialect: Dialect| {
        let stream = dialect.stream("So, déjà vu.").concat();
        let (begin, end) = stream.split_at(1);
        [
            stream.concat(),
            [begin.concat(), calls.clone(), end.concat()].concat(),
            dialect.answer("So.").to_string(),
            dialect.error(429, "Slow down").to_string(),
        ]
    };
    let replies = Dialect::ALL.into_iter().flat_map(of_dialect);
    replies.flat_map(|reply| ['\u{1}', '\u{7}'].map(|size| format!("{size}{reply}"))).collect()
}

#[test]
fn replies_in_any_pieces_say_the_same() {
    check("replies", &replies(), 1_000, replies::check);
}

#[test]
fn bytes_in_any_pieces_leave_the_next_message_found() {
    let seeds: Vec<String> =
        messages().iter().map(|text| format!("\u{5}Content-Length: {}\r\n\r\n{text}", text.len())).collect();
    check("frames", &seeds, 2_000, frames::check);
}

#[test]
fn messages_of_any_kind_leave_the_next_request_answered() {
    check("messages", &messages(), 30, messages::check);
}

#[test]
fn commands_that_fail_change_nothing() {
    check("commands", &commands(), 300, commands::check);
}

#[test]
fn edits_of_any_kind_leave_the_next_text_right() {
    let seeds: Vec<String> = messages();
    check("documents", &seeds, 200, documents::check);
}

#[test]
fn files_of_any_kind_are_taken_or_refused() {
    check("files", &recordings(), 300, files::check);
}
