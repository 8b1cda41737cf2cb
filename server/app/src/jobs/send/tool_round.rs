//! Runs the tools that the model calls while it answers. All of them are read-only: they edit no files and run no
//! programs.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::Format;
use strata_engine::conversation::history::{ContentBlock, Outcome};

use super::connection::show;
use super::delta::{Delta, DeltaToolResult};
use super::host::SendHost;
use crate::commands::{CommandError, SendJob, SendReply, ToolAccess, ToolUse};
use crate::jobs::tools::{Schemas, Tool, ToolHost, call};

/// Tools offered to the model, in the order of their declaration.
const OFFERED: [&str; 10] = [
    "map",
    "context",
    "symbols",
    "outline",
    "references",
    "dependents",
    "files_find",
    "files_read",
    "grep",
    "memory_search",
];

/// Tool that reads the remainder of a truncated result.
const READ_ON: &str = "tool_output_read";

/// Maximum number of characters of a tool result that are shown to the client.
const SHOWN: usize = 2_000;

/// Result of a call in an answer to a question without tools.
const NOT_ALLOWED: &str = "no tools may be used for this question; answer with what you know";

/// Maximum number of tool calls in one answer that are run. Models make up to a dozen.
const MAX_CALLS: usize = 64;
/// Maximum size of the results of one answer together, in bytes. A result has at most 4,000 tokens unless the model asks
/// for more.
const MAX_RESULTS: usize = 1 << 20;

/// The content of the next request to the model.
pub(super) enum Asked {
    Question,
    /// Tool results, as `toolResults` of `strata.prompt.assemble`.
    Results(Value),
}

pub(super) struct ToolCall<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a Value,
}

/// Returns the declarations of the offered tools for `strata.prompt.assemble`. They are always identical, so that they
/// stay cached.
pub(super) fn declarations() -> &'static Value {
    static DECLARATIONS: LazyLock<Value> = LazyLock::new(|| {
        let schemas = Schemas::new();
        let declared = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "input_schema": schemas.input(tool) });
        OFFERED.iter().chain([&READ_ON]).filter_map(|name| Tool::named(name)).map(declared).collect()
    });
    &DECLARATIONS
}

/// Whether a request that forbids calls finds the cache of one that allows them. With Anthropic, a change of
/// `tool_choice` invalidates the cached messages
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-use-with-prompt-caching>), and Bedrock cannot
/// forbid calls. There, calls are answered with an error instead.
pub(super) const fn is_choice_free(format: Format) -> bool {
    matches!(format, Format::OpenAi | Format::Responses | Format::Gemini)
}

pub(super) fn calls(content: &[ContentBlock]) -> Vec<ToolCall<'_>> {
    let mut calls = Vec::new();
    for block in content {
        if let ContentBlock::ToolCall { id, name, input } = block {
            calls.push(ToolCall { id, name, input });
        }
    }
    calls
}

impl SendJob {
    /// Whether requests declare Strata's tools. They also do if the model may not use them now, but the last request
    /// declared them, because the provider's cache begins with the declarations.
    pub(super) fn declares_tools(&self) -> bool {
        let are_declared =
            || serde_json::to_value(&self.last_tools).is_ok_and(|tools| tools == *declarations());
        self.tools == ToolAccess::Read || are_declared()
    }

    /// Runs the tool calls of one round, and returns their results.
    pub(super) fn answer_calls(
        &self,
        calls: &[ToolCall<'_>],
        reply: &mut SendReply,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> Result<Value, CommandError> {
        let is_last = self.tools == ToolAccess::Read && reply.rounds == self.tool_rounds;
        let mut results = Vec::new();
        let mut bytes = 0;
        for (number, call) in (1..).zip(calls) {
            cancel.check()?;
            let answered = match not_run(number, bytes) {
                _ if self.tools == ToolAccess::None => Err(CommandError::failed(NOT_ALLOWED.to_owned())),
                Some(reason) => {
                    reply
                        .warn(["the model made more tool calls than one answer may; some were not run"
                            .to_owned()]);
                    Err(CommandError::failed(reason))
                }
                None => {
                    host.progress(&format!("running the tool {}", call.name));
                    answer(call, host)
                }
            };
            let (mut text, outcome) = match answered {
                Ok(text) => (text, Outcome::Ok),
                Err(CommandError::Cancelled) => return Err(CommandError::Cancelled),
                Err(error) => (error.to_string(), Outcome::Error),
            };
            if is_last && number == calls.len() {
                text.push_str("\n(No more tool calls are possible. Answer with what you know.)");
            }
            bytes += text.len();
            let ToolCall { id, name, input } = *call;
            let failed = outcome == Outcome::Error;
            reply.tools.push(ToolUse { name: name.to_owned(), input: input.clone(), failed });
            let (id, name) = (id.to_owned(), name.to_owned());
            let shown = DeltaToolResult { id: id.clone(), name, outcome, text: clipped(&text) };
            show(&self.connection, host, |delta| Delta { tool_result: Some(shown), ..delta });
            results.push(
                json!({ "callId": id, "content": [{ "type": "text", "text": text }], "outcome": outcome }),
            );
        }
        Ok(results.into())
    }
}

/// Returns why a call is not run: its number, counted from 1, or the size of the earlier results in bytes.
fn not_run(number: usize, bytes: usize) -> Option<String> {
    if number > MAX_CALLS {
        Some(format!(
            "not run, because the answer contains more than {MAX_CALLS} tool calls; repeat it if you need it"
        ))
    } else if bytes > MAX_RESULTS {
        Some(format!(
            "not run, because the results of the earlier calls have more than {MAX_RESULTS} bytes; repeat it if you need it"
        ))
    } else {
        None
    }
}

fn answer(asked: &ToolCall<'_>, host: &mut dyn ToolHost) -> Result<String, CommandError> {
    let offered = || OFFERED.iter().copied().chain([READ_ON]);
    // Models trained on the tools of other assistants omit the `files_` prefix.
    let named = |name: &&str| *name == asked.name || name.strip_prefix("files_") == Some(asked.name);
    let tool = offered().find(named).and_then(Tool::named).ok_or_else(|| {
        let names: Vec<&str> = offered().collect();
        CommandError::failed(format!("unknown tool `{}`; available: {}", asked.name, names.join(", ")))
    })?;
    let input = match asked.input {
        Value::Object(input) => input.clone(),
        Value::Null => Map::new(),
        _ => return Err(CommandError::invalid("", "expected one JSON object")),
    };
    Ok(call(tool, input, host)?.text)
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
