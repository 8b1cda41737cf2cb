//! Runs every command once in a conversation with the real server, and records the examples for
//! `docs/PROTOCOL.md`. Replaces everything that differs between runs: times, session ids and directories.

use std::collections::BTreeMap;

use e2e::{Dialect, Editor, ModelServer, Reply, Repo, Setup, sse};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::protocol_page::cut;

/// Replacement for every time, in milliseconds since 1970.
const SOME_TIME: u64 = 1_790_000_000_000;

/// A message with its reply.
pub(crate) struct Example {
    /// The parameters that were sent.
    pub(crate) params: Value,
    /// The reply, if the message has one.
    pub(crate) reply: Option<Value>,
}

const FIXTURE: &str = "
    //- README.md
    # Meal planner

    Plans meals for a week.
    //- src/lib.rs
    //! Plans meals.
    mod week;

    pub use week::Week;

    /// Plans a week of this many meals a day.
    pub fn plan(meals: usize) -> Week {
        Week::new(meals)
    }
    //- src/week.rs
    //! A week of meals.

    /// Seven days.
    pub struct Week {
        meals: usize,
    }

    impl Week {
        /// A week with this many meals a day.
        pub fn new(meals: usize) -> Self {
            Self { meals }
        }
    }
    //- notes.txt
    Ask Ada about Thursday.
";

/// Runs all commands, and returns the first example of each.
pub(crate) fn record() -> BTreeMap<String, Example> {
    let repo = Repo::new(FIXTURE);
    let mut talk = Talk::new(&repo);
    files(&mut talk);
    prompts(&mut talk);
    tiers(&mut talk);
    history(&mut talk);
    tool_outputs(&mut talk);
    iterations(&mut talk);
    memory(&mut talk);
    excerpts(&mut talk);
    pages_and_symbols(&mut talk);
    compaction(&mut talk);
    redaction(&mut talk);
    sessions(&mut talk);
    here(&mut talk);
    sending(&mut talk);
    server(&mut talk);
    talk.finish()
}

fn files(talk: &mut Talk) {
    talk.say("files.select", json!({ "paths": ["src/lib.rs", "src/week.rs#L3-6"] }));
    talk.say("files.list", json!({}));
    talk.say("files.find", json!({ "query": "wk" }));
    talk.say("files.has", json!({ "path": "src/lib.rs" }));
    talk.say("files.read", json!({ "path": "notes.txt" }));
    talk.say("files.grep", json!({ "pattern": "fn \\w+", "paths": ["src/week.rs"] }));
    talk.say("files.changed", json!({}));
    talk.say("prompt.rules", json!({ "paths": ["src/lib.rs"] }));
    talk.say("files.markRead", json!({ "paths": ["notes.txt"] }));
    talk.say("files.exclude", json!({ "paths": ["*.txt"] }));
    talk.say("files.include", json!({ "paths": ["notes.txt"] }));
    talk.say("files.add", json!({ "path": "scratch/plan.md", "content": "First the lunches.\n" }));
    talk.say("files.rename", json!({ "files": [{ "from": "src/lib.rs", "to": "src/planner.rs" }] }));
    talk.say("files.deselect", json!({ "paths": ["src"] }));
    talk.say("files.clear", json!({}));
    talk.say("files.set", json!({ "paths": ["src/**/*.rs"] }));
}

fn prompts(talk: &mut Talk) {
    talk.say("prompt.estimate", json!({ "text": "Plan a week of meals.", "model": "gpt-4o" }));
    talk.say("prompt.preview", json!({ "prompt": "Add a day of rest." }));
    let earlier = talk.say("prompt.preview", json!({ "policy": "flat" }));
    talk.say("prompt.changes", json!({ "since": earlier["text"], "policy": "flat" }));
    let prompt =
        talk.say("prompt.assemble", json!({ "prompt": "Add a day of rest.", "format": "anthropic" }));
    let usage = json!({ "input": 12, "output": 40, "cacheRead": 0, "cacheWrite": 900 });
    let answer = "Give `Week` a field `rest: Day`.";
    talk.say("prompt.record", json!({ "id": prompt["id"], "response": answer, "usage": usage }));
    let prompt = talk.say("prompt.assemble", json!({ "prompt": "Which day?" }));
    talk.say("prompt.discard", json!({ "id": prompt["id"] }));
}

fn tiers(talk: &mut Talk) {
    talk.say("tiers.report", json!({}));
    talk.say("tiers.explainBreak", json!({}));
    talk.say("tiers.forecast", json!({ "pauseSeconds": 900, "model": "gpt-4o" }));
    talk.say("tiers.policy", json!({ "policy": "ledger" }));
    talk.say("tiers.rebuild", json!({}));
    talk.say("budget.report", json!({}));
    talk.say("budget.set", json!({ "maxInputTokens": 120_000 }));
}

fn history(talk: &mut Talk) {
    talk.say("history.add", json!({ "role": "user", "content": "Sunday, then." }));
    talk.say("history.addExchange", json!({ "user": "Is Sunday free?", "assistant": "It is." }));
    talk.say("history.get", json!({}));
    talk.say("history.count", json!({}));
    talk.say("history.edit", json!({ "id": 2, "content": "Sunday, of course." }));
    talk.say("history.pin", json!({ "id": 2 }));
    talk.say("history.hide", json!({ "id": 2, "user": "hidden" }));
    talk.say("history.truncate", json!({ "from": 4 }));
    let recorded =
        r#"[{"role": "user", "content": "And lunch?"}, {"role": "assistant", "content": "At noon."}]"#;
    talk.say("history.import", json!({ "text": recorded }));
    talk.say("history.clear", json!({}));
    let call =
        json!({ "type": "tool_call", "id": "call-1", "name": "bash", "input": { "command": "cargo test" } });
    let messages =
        json!([{ "role": "user", "content": "Run the tests." }, { "role": "assistant", "content": [call] }]);
    talk.say("history.set", json!({ "messages": messages }));
}

fn tool_outputs(talk: &mut Talk) {
    let output = "running 2 tests\ntest plan ... ok\ntest rest ... FAILED\n";
    let added =
        talk.say("toolOutput.add", json!({ "content": output, "callId": "call-1", "outcome": "error" }));
    talk.say("toolOutput.read", json!({ "id": added["id"], "from": 2, "count": 2 }));
    talk.say("session.steps", json!({}));
}

fn iterations(talk: &mut Talk) {
    let iteration =
        json!({ "prompt": "Make the tests pass.", "output": "One left. <progress>plan works</progress>" });
    talk.say("iteration.add", json!({ "goal": "All tests pass.", "iteration": iteration }));
    talk.say("iteration.prompt", json!({}));
    talk.say("iteration.status", json!({}));
}

fn memory(talk: &mut Talk) {
    let note = talk.say("memory.add", json!({ "text": "Ada eats no fish.", "tags": ["people"] }));
    talk.say("memory.search", json!({ "query": "fish" }));
    talk.say("memory.list", json!({}));
    talk.say("memory.remove", json!({ "id": note["id"] }));
}

fn excerpts(talk: &mut Talk) {
    talk.say("context.auto", json!({ "budget": 2_000 }));
    talk.say("context.list", json!({ "prompt": "how many meals does a week have" }));
    talk.say("context.pin", json!({ "excerpts": ["src/week.rs#Week"] }));
    talk.say("context.unpin", json!({ "excerpts": ["src/week.rs#Week"] }));
    talk.say("context.dismiss", json!({ "excerpts": ["src/week.rs#Week"] }));
    talk.say("context.restore", json!({}));
    talk.say("context.auto", json!({ "budget": 0 }));
}

fn pages_and_symbols(talk: &mut Talk) {
    let page = json!({ "url": "https://example.org/soup", "title": "Soup", "content": "Boil water." });
    talk.say("url.add", page);
    talk.say("url.list", json!({}));
    talk.say("url.remove", json!({ "url": "https://example.org/soup" }));
    talk.say("symbols.map", json!({ "focus": ["src/lib.rs"] }));
    talk.say("symbols.file", json!({ "path": "src/week.rs" }));
    talk.say("symbols.references", json!({ "name": "Week" }));
    talk.say("symbols.dependents", json!({ "path": "src/week.rs" }));
    talk.say("symbols.find", json!({ "query": "wk" }));
    talk.say("symbols.relevant", json!({ "query": "how many meals does a week have" }));
}

fn redaction(talk: &mut Talk) {
    talk.say("redaction.list", json!({}));
    talk.say("redaction.restore", json!({ "text": "TOKEN = \"[secret:github-token:0123456789ab]\"" }));
}

fn compaction(talk: &mut Talk) {
    let long = |word: &str| format!("{word} ").repeat(400);
    let messages: Vec<Value> = (0..20)
        .flat_map(|day| [("user", format!("Day {day}: {}", long("why"))), ("assistant", long("because"))])
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect();
    talk.say("history.set", json!({ "messages": messages }));
    talk.say("compaction.status", json!({}));
    talk.say("compaction.run", json!({ "profile": "checkpoint" }));
    talk.say("compaction.undo", json!({}));
    talk.say("compaction.contextLimitExceeded", json!({}));
}

fn sessions(talk: &mut Talk) {
    talk.say("history.set", json!({ "messages": [{ "role": "user", "content": "Plan the soups." }] }));
    talk.say("session.rename", json!({ "name": "soups" }));
    let exported = talk.say("session.export", json!({ "format": "jsonl" }));
    talk.say("session.import", json!({ "text": exported["text"] }));
    talk.say("session.list", json!({}));
    let first = talk.say("session.fork", json!({ "name": "soups, but cold" }));
    talk.say("session.reset", json!({}));
    talk.say("session.new", json!({}));
    talk.say("session.load", json!({ "id": first["id"] }));
    talk.say("session.delete", json!({}));
}

fn here(talk: &mut Talk) {
    let uri = format!("file://{}/src/lib.rs", talk.folder);
    let marked = json!({ "start": { "line": 5, "character": 0 }, "end": { "line": 8, "character": 1 } });
    talk.say("here.select", json!({ "uri": uri, "range": marked }));
    talk.say("here.deselect", json!({ "uri": uri }));
    talk.say("here.toggle", json!({ "uri": uri }));
    talk.say("here.exclude", json!({ "uri": uri }));
    talk.say("here.include", json!({ "uri": uri }));
    talk.say("here.status", json!({}));
    talk.say("here.preview", json!({}));
    // These commands also show messages to the user.
    while talk.editor.server.asked("window/showDocument").is_empty() {
        talk.editor.run("server.status", json!({}));
    }
    assert_eq!(talk.editor.server.heard("window/showMessage").len(), 8);
}

fn sending(talk: &mut Talk) {
    let answer = sse::answer("Two soups: pumpkin and leek.", &[]);
    let provider = ModelServer::start(Dialect::Anthropic, vec![Reply::Body("text/event-stream", answer)]);
    talk.editor.configure(json!({ "provider": { "name": "anthropic", "base_url": provider.base_url() } }));
    talk.say("prompt.send", json!({ "prompt": "Which soups?", "stream": "answer-1", "tools": "read" }));
    let messages = json!([{ "role": "user", "content": "Which soups?" }]);
    talk.say("model.send", json!({ "system": "Be brief.", "messages": messages, "stream": "answer-2" }));
    let comment = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    talk.say("here.ask", json!({ "uri": format!("file://{}/src/lib.rs", talk.folder), "range": comment }));
    talk.editor.configure(Value::Null);
}

fn server(talk: &mut Talk) {
    talk.say("cost.report", json!({ "by": "model" }));
    talk.say("pack.make", json!({ "paths": ["notes.txt"], "question": "Who is Ada?" }));
    // The text contains the name of the temporary directory.
    if let Some(reply) = talk.examples.get_mut("strata.pack.make").and_then(|example| example.reply.as_mut())
    {
        reply["tokens"] = json!(54);
    }
    talk.say("server.status", json!({}));
    talk.say("server.models", json!({}));
    talk.say("server.settings", json!({}));
    talk.say("server.reindex", json!({}));
}

/// The conversation with the server.
struct Talk {
    editor: Editor,
    folder: String,
    /// The server's cache directory.
    cache: String,
    /// Contains the cache directory.
    _state: TempDir,
    /// Session ids in the order in which they first occurred.
    sessions: Vec<String>,
    examples: BTreeMap<String, Example>,
}

impl Talk {
    fn new(repo: &Repo) -> Self {
        let state = tempfile::tempdir().unwrap();
        let editor = Setup::new(repo).state(state.path()).variable("ANTHROPIC_API_KEY", "a key").start();
        let folder = repo.root().display().to_string();
        let cache = state.path().join("cache").display().to_string();
        Self { editor, folder, cache, _state: state, sessions: Vec::new(), examples: BTreeMap::new() }
    }

    /// Runs a command, records it as an example, and returns the unmodified reply.
    fn say(&mut self, command: &str, arguments: Value) -> Value {
        let name = format!("strata.{command}");
        let fault = e2e::contract::fault_of_arguments(&name, &arguments);
        assert_eq!(fault, None, "the schema of {name} rejects valid arguments: {arguments}");
        let mut reply = self.editor.run(command, arguments.clone());
        let whole = reply.clone();
        // The page describes this field once for all commands.
        reply.as_object_mut().unwrap().shift_remove("stateVersion");
        if !self.examples.contains_key(&name) {
            let params = cut(&self.masked("", &arguments));
            let reply = Some(cut(&self.masked("", &reply)));
            self.examples.insert(name, Example { params, reply });
        }
        whole
    }

    fn masked(&mut self, field: &str, value: &Value) -> Value {
        match value {
            // Numeric fields ending in `Ms` are times.
            Value::Number(_) if field.ends_with("Ms") => SOME_TIME.into(),
            // The state of all files begins with the time at which the server started.
            Value::String(text) if field == "state" && text.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{SOME_TIME}-1").into()
            }
            Value::String(text) if is_session(text) => self.session(text).into(),
            Value::String(text) => {
                let text = text.replace(&self.cache, "/home/me/.cache/strata");
                let mut text = text.replace(&self.folder, "/home/me/meals");
                let name = self.folder.rsplit('/').next().filter(|name| !name.is_empty());
                if let Some(name) = name {
                    text = text.replace(name, "meals");
                }
                let words = text.clone();
                for word in words
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                    .filter(|word| is_session(word))
                {
                    text = text.replace(word, &self.session(word));
                }
                without_times(&text).into()
            }
            Value::Array(items) => items.iter().map(|item| self.masked(field, item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, field)| (name.clone(), self.masked(name, field))).collect()
            }
            other => other.clone(),
        }
    }

    /// Returns a replacement for a session id, always the same for the same id.
    fn session(&mut self, name: &str) -> String {
        if !self.sessions.iter().any(|known| known == name) {
            self.sessions.push(name.to_owned());
        }
        let number = self.sessions.iter().position(|known| known == name).unwrap_or_default();
        format!("s-000000000000000{}", number + 1)
    }

    fn finish(mut self) -> BTreeMap<String, Example> {
        let mut status = self.editor.server.wait_for("strata/status", |status| status["index"] == "ready");
        // This notification was sent at some point of the conversation, which depends on how busy the machine is.
        if let Value::Object(status) = &mut status {
            status.retain(|name, _| !matches!(name.as_str(), "cachedTokens" | "cacheExpiresMs" | "dollars"));
            let plain = [
                ("tokens", json!(748)),
                ("percent", json!(0.1)),
                ("compactionPercent", json!(0.0)),
                ("stateVersion", json!(12)),
                ("session", json!(self.sessions[0])),
                ("model", json!("claude-sonnet-5-5")),
                ("window", json!(1_000_000)),
                ("shed", json!(0)),
                ("redacted", json!(0)),
            ];
            status.extend(plain.map(|(name, value)| (name.to_owned(), value)));
            status.insert("cachedPercent".to_owned(), Value::Null);
        }
        let params = cut(&self.masked("", &status));
        self.examples.insert("strata/status".to_owned(), Example { params, reply: None });
        let delta = self.editor.server.wait_for("strata/delta", |delta| delta["text"].is_string());
        let params = cut(&self.masked("", &delta));
        self.examples.insert("strata/delta".to_owned(), Example { params, reply: None });
        let news = self.editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
        let params = cut(&self.masked("", &news));
        self.examples.insert("strata/compaction".to_owned(), Example { params, reply: None });
        self.examples
    }
}

fn is_session(text: &str) -> bool {
    text.strip_prefix("s-")
        .is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Replaces the times in JSON text.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Ms\":") {
        let (before, after) = rest.split_at(at + 4);
        out.push_str(before);
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            out.push_str(&SOME_TIME.to_string());
        }
        rest = &after[digits..];
    }
    out.push_str(rest);
    out
}
